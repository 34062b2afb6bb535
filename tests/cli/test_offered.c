/*
 * test_offered.c - what completions offer: of the command line, of statements in the shell of `heapdex sql`; text as
 * bash reads it; lines of progress. offered.txt has the checksums (support/checksums.h).
 *
 *     words WORD ...     the last one stands at the cursor; '' is none
 *     sql TEXT           up to the cursor
 *     among TEXT         of a list
 *     bash TEXT          a line up to the cursor
 *     put TEXT           as bash reads it back
 *     page TEXT          words as columns of pages
 *     progress N         draws
 */
#include "rows/rows.h"
#include "cli/offers.h"
#include "cli/sql.h"
#include "query/library_dump.h"
#include "query/sample_dump.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static cli_run  run;
static hdx_sql *sql;

static void put_words(hdx_buffer *b, char *text)
{
    const char *words[32];
    size_t      count = 0;
    for (char *word = strtok(text, " "); word != NULL && count < HDX_COUNT(words); word = strtok(NULL, " "))
        words[count++] = strcmp(word, "''") == 0 ? "" : word;
    cli_offers o = { .arena = hdx_arena_of(NULL) };
    cli_offer_words(&o, words, count);
    hdx_buffer_format(b, "%zu %zu %s %s\n", o.count, o.words, o.wanted, o.files != NULL ? o.files : "-");
    for (size_t i = 0; i < (o.files != NULL ? o.words : o.count); i++)
        hdx_buffer_format(b, "%s\t%s\n", o.at[i].text, o.at[i].about != NULL ? o.at[i].about : "-");
    for (size_t round = 0; o.files != NULL && round < o.count; round++) { /* files come as the folder has them */
        const char *least = NULL;
        for (size_t i = o.words; i < o.count; i++)
            if (o.at[i].text != NULL && (least == NULL || strcmp(o.at[i].text, least) < 0))
                least = o.at[i].text;
        for (size_t i = o.words; i < o.count; i++)
            if (least != NULL && o.at[i].text == least) {
                hdx_buffer_format(b, "%s\n", least);
                o.at[i].text = NULL;
            }
    }
    cli_offers_free(&o);
}

static void put_names(hdx_buffer *b, cli_words *w)
{
    hdx_buffer_format(b, "%zu %zu %.*s %d %d\n", w->count, cli_words_common(w), (int)w->len, w->wanted, w->exact,
                      w->lower);
    for (size_t i = 0; i < w->count; i++)
        hdx_buffer_format(b, "%s\n", w->at[i]);
    cli_words_free(w);
}

static void put_bash(hdx_buffer *b, const char *line)
{
    static const char *const breaks[] = { " \t\n\"'><=;|&(:", " ", "" };
    for (size_t i = 0; i < HDX_COUNT(breaks); i++) {
        hdx_arena          arena = hdx_arena_of(NULL);
        size_t             count = 0, from = 0;
        char               quote = 0;
        const char *const *words = cli_bash_words(&arena, line, breaks[i], &count, &from, &quote);
        hdx_buffer_format(b, "%zu %d", from, quote);
        for (size_t k = 0; k < count; k++)
            hdx_buffer_format(b, " <%s>", words[k]);
        hdx_buffer_text(b, "\n");
        hdx_arena_free(&arena);
    }
}

static void put_back(hdx_buffer *b, const char *text)
{
    static const char quotes[] = { 0, '"', '\'' };
    for (size_t i = 0; i < HDX_COUNT(quotes); i++)
        for (int start = 0; start < 2; start++) {
            cli_put_bash(b, text, quotes[i], start);
            hdx_buffer_text(b, "\n");
        }
}

static void put_page(hdx_buffer *b, char *text)
{
    const char *words[64];
    size_t      count = 0;
    for (char *word = strtok(text, " "); word != NULL && count < HDX_COUNT(words); word = strtok(NULL, " "))
        words[count++] = word;
    for (unsigned width = 0; width < 100; width += 9)
        cli_words_put(b, words, count, width);
}

static void put_progress(hdx_buffer *b, unsigned n)
{
    static const char *const units[] = { NULL, "bytes", "objects" }, *const steps[] = { "scan", "columns", NULL };
    static const uint64_t sizes[] = { 0, 1, 7, 999, 1000, 4096, 1000000, 123456789, 1ull << 40 };
    static const uint64_t times[] = { 0, 1, 199999999, 200000000, 1500000000, 60000000000ull, 1ull << 50 };
    for (size_t i = 0; i < HDX_COUNT(times); i++)
        for (size_t k = 0; k < HDX_COUNT(sizes); k++) {
            const hdx_progress_report r = { .step = steps[n % 3],
                                            .number = 1 + n % 4,
                                            .steps = 9,
                                            .done = sizes[k],
                                            .total = sizes[(k + n) % HDX_COUNT(sizes)],
                                            .unit = units[n / 3 % 3] };
            char                      line[120];
            for (unsigned width = n % 5 == 0 ? 12 : 80; width < 90; width += 40) {
                cli_progress_line(line, n % 7 == 0 ? 30 : sizeof line, width, &r, times[i]);
                hdx_buffer_format(b, "%s\n", line);
            }
        }
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char copy[512], *text = strchr(strncpy(copy, ask, sizeof copy - 1), ' ');
    (void)context;
    copy[sizeof copy - 1] = '\0';
    text = text != NULL ? text + 1 : copy + strlen(copy);
    cli_words w;
    if (strncmp(ask, "words", 5) == 0)
        put_words(b, text);
    else if (strncmp(ask, "sql", 3) == 0) {
        cli_words_at(&w, &run, sql, text);
        put_names(b, &w);
    } else if (strncmp(ask, "among", 5) == 0) {
        cli_words_among(&w, text, "read schema tables timer .quit Report read");
        put_names(b, &w);
    } else if (strncmp(ask, "tables", 6) == 0) {
        cli_words_tables(&w, sql, text);
        put_names(b, &w);
    } else if (strncmp(ask, "bash", 4) == 0)
        put_bash(b, text);
    else if (strncmp(ask, "put", 3) == 0)
        put_back(b, text);
    else if (strncmp(ask, "page", 4) == 0)
        put_page(b, text);
    else
        put_progress(b, (unsigned)strtoul(text, NULL, 10));
    return b->len;
}

/* 250 classes of one package, some of packages below it. */
static void make_many(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned i = 0; i < 250; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, i % 10 == 0 ? "com.acme.app.below.C%u" : "com.acme.app.C%u", i);
        const uint64_t c = dump_maker_class(m, name, object, "");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, c, NULL), 0, 0);
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void build(const char *dump)
{
    hdx_index_report        report;
    hdx_error               err;
    const hdx_index_options options = { .dump = dump, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
}

Test(offered, is_what_it_was, .timeout = 120)
{
    static const char *const names[] = { "old" };
    const cli_call           call = { .word_count = 0 };
    hdx_error                err;
    char                     folder[TEST_FOLDER], command[300];
    test_folder_make_fast(folder, "offered");
    cr_assert(chdir(folder) == 0 && setenv("XDG_CACHE_HOME", folder, 1) == 0 && setenv("HOME", folder, 1) == 0);
    (void)snprintf(command, sizeof command, "cp '%s' app.hprof.gz", HDX_TREE "/examples/bookshop.hprof.gz");
    cr_assert(system(command) == 0 && mkdir("more", 0700) == 0 && mkdir("other.hdx", 0700) == 0 &&
              system("touch notes.txt old.bin .hidden.hprof more/b.hprof more/c 'a b.hprof'") == 0);
    dump_maker *m = sample_dump(8, 0, 0);
    dump_maker_save(m, "town.hprof");
    dump_maker_free(m);
    m = library_dump(8, 3);
    dump_maker_save(m, "library.hprof");
    dump_maker_free(m);
    make_many("many.hprof");
    build("many.hprof");
    build("town.hprof");
    build("library.hprof");
    build("app.hprof.gz");
    const hdx_index_options options = { .dump = "town.hprof", .threads = 1 };
    cr_assert(hdx_session_open(&options, &run.session, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_session_add(run.session, "library.hprof", &err) == HDX_OK, "%s", err.message);
    run.call = &call;
    run.names = (const char **)(uintptr_t)names;
    run.name_count = 1;
    cr_assert(cli_sql_open(&run, &sql, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/cli/offered.txt", text_of, NULL);
    hdx_sql_close(sql);
    hdx_session_close(run.session);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
