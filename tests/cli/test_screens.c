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
#include "support/golden.h"

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
        terminal_drop_progress(t, 0);
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

/* Lines that are wider than the terminal, which would break them anywhere; commands to copy are whole. */
static void expect_whole_lines(const char *dump, const char *command)
{
    char script[1024];
    (void)snprintf(script, sizeof script,
                   "exec </dev/null 2>/dev/null; export LC_ALL=C.UTF-8 TERM=xterm NO_COLOR=1 HEAPDEX_PAGER=cat "
                   "COLUMNS=80; d='%s'; \"$H\" %s",
                   dump, command);
    terminal  *t = terminal_start(80, script);
    const char unit[] = "%KMGB";
    cr_expect(eq(int, terminal_end(t), 0), "%s: %s", dump, command);
    terminal_drop_progress(t, 0);
    for (char *line = strtok(t->shown, "\r\n"), *before = NULL; line != NULL; line = strtok(NULL, "\r\n")) {
        unsigned width = 0;
        for (const char *c = line; *c != '\0'; c++)
            width += ((unsigned char)*c & 0xc0) != 0x80;
        cr_expect(width <= 80 || strncmp(line, "  heapdex ", 10) == 0, "%s: %s: %s", dump, command, line);
        const char *first = line + strspn(line, " ");
        cr_expect(before == NULL || strchr("0123456789", before[strlen(before) - 1]) == NULL ||
                      strchr(unit, *first) == NULL || *first == '\0' || (*first != '%' && first[1] != 'B'),
                  "%s: %s: %s / %s", dump, command, before, line);
        before = line;
    }
    free(t);
}

Test(screens, of_eighty_columns_break_no_address_and_no_number, .timeout = 300)
{
    static const char *const commands[] = {
        "$d",
        "dominators $d",
        "histogram $d",
        "histogram $d --retained",
        "suspects $d",
        "path $d class:java.lang.System",
        "threads $d",
        "threads $d --by pool",
        "loaders $d",
        "collections $d",
        "thread-locals $d",
        "statics $d",
    };
    static const char *const golden[] = { "zoo-jdk21-g1", "dialer", "threads-jdk25-serial" };
    char                    *folder = tool_enter();
    tool_copy_bookshop("bookshop.hprof.gz");
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        expect_whole_lines("bookshop.hprof.gz", commands[k]);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        char path[512], copy[64];
        (void)snprintf(path, sizeof path, "%s/%s.hprof.gz", GOLDEN_DUMPS, golden[i]);
        (void)snprintf(copy, sizeof copy, "%s.hprof.gz", golden[i]);
        if (access(path, R_OK) != 0 || symlink(path, copy) != 0)
            continue;
        for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
            expect_whole_lines(copy, commands[k]);
    }
    tool_leave(folder);
}
