/*
 * test_screens.c - many more screens than those of tests/cli/sessions, by their checksums: narrow and wide ones, those
 * of a locale without UTF-8, with colours, and what goes into a pipe.
 *
 *     37 0123abcd 40 ascii heapdex path odd.hprof 0x1a0
 *
 * are the bytes and the checksum of what that command shows on 40 columns. Ways: plain, ascii, colours (on a terminal),
 * pipe (standard output, then standard error, then the exit code). screens.txt has them (support/checksums.h).
 */
#include "cli/leaky.h"
#include "cli/odd.h"
#include "cli/terminal.h"
#include "query/library_dump.h"
#include "query/sample_dump.h"

#define CHECKSUMS_EACH 3u
#include "support/checksums.h"

/* "built 2026-11-24 08:29:32 UTC in 0.07 s": what is another time each time. */
static void put_calm(hdx_buffer *b, const char *text)
{
    for (const char *from = text; *from != '\0';) {
        if (strncmp(from, "built 20", 8) == 0) {
            hdx_buffer_text(b, "built ...");
            from += strcspn(from, "\n");
        } else {
            hdx_buffer_put(b, from++, 1);
        }
    }
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char     way[8], script[1024];
    unsigned columns;
    int      at = 0;
    (void)context;
    cr_assert(sscanf(ask, "%u %7s %n", &columns, way, &at) == 2, "%s", ask);
    (void)snprintf(
        script, sizeof script,
        "exec </dev/null; export LC_ALL=%s TERM=xterm HEAPDEX_PAGER=cat COLUMNS=%u; unset NO_COLOR; %s heapdex() { "
        "\"$H\" \"$@\"; }; %s",
        strcmp(way, "ascii") == 0 ? "C" : "C.UTF-8", columns, strcmp(way, "colours") == 0 ? "" : "export NO_COLOR=1;",
        ask + at);
    if (strcmp(way, "pipe") == 0) {
        ran r = tool_sh(script);
        put_calm(b, r.out);
        hdx_buffer_text(b, "--- standard error\n");
        put_calm(b, r.err);
        hdx_buffer_format(b, "--- %d\n", r.code);
        ran_free(&r);
    } else {
        terminal *t = terminal_start(columns, script);
        const int code = terminal_end(t);
        put_calm(b, t->shown);
        hdx_buffer_format(b, "--- %d\n", code);
        free(t);
    }
    return b->len;
}

Test(screens, are_what_they_were, .timeout = 300)
{
    char *folder = tool_enter_sql(); /* some of them are answers of SQL */
    tool_copy_bookshop("bookshop.hprof.gz");
    leaky_make("leaky.hprof", true);
    leaky_make("before.hprof", false);
    odd_make("odd.hprof");
    dump_maker *sample = sample_dump(8, 0, 0);
    dump_maker_save(sample, "town.hprof");
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(sample, &len);
    dump_maker_save_bytes("cut.hprof", bytes, len * 3 / 4);
    dump_maker_free(sample);
    dump_maker *library = library_dump(8, 301);
    dump_maker_save(library, "library.hprof");
    dump_maker_free(library);
    ran r = tool_sh(
        "for d in bookshop.hprof.gz leaky.hprof before.hprof odd.hprof town.hprof cut.hprof library.hprof; do \"$H\" "
        "index $d --threads 1 -o "
        "/dev/null || exit; done");
    cr_assert_eq(r.code, 0, "%s", r.err);
    ran_free(&r);
    checksums_check(HDX_TREE "/tests/cli/screens.txt", text_of, NULL);
    tool_leave(folder);
}
