/*
 * test_told.c - many statements on a small heap with odd names (cli/odd.h), and on one of classes that questions know
 * (query/library_dump.h): how each is planned, and its rows or what refuses it. told.txt and told_library.txt have them
 * (support/checksums.h).
 */
#include "cli/odd.h"
#include "query/library_dump.h"
#include "sql/statements.h"
#include "support/checksums.h"

static uint64_t text_of(void *context, const char *statement, hdx_buffer *b)
{
    dump_test *t = context;
    hdx_buffer_text(b, plan_of(t, statement));
    hdx_buffer_text(b, "\n");
    const char *rows = run(t, statement);
    hdx_buffer_text(b, rows);
    uint64_t n = 0;
    for (; *rows != '\0'; rows++)
        n += *rows == '\n';
    return n;
}

static void open_made(dump_test *t, bool library)
{
    memset(t, 0, sizeof *t);
    test_folder_make_fast(t->folder, "sql");
    (void)snprintf(t->dump, sizeof t->dump, "%s/odd.hprof", t->folder);
    if (library) {
        dump_maker *m = library_dump(8, 301);
        dump_maker_save(m, t->dump);
        dump_maker_free(m);
    } else {
        odd_make(t->dump);
    }
    open_path(t, t->dump, HDX_LIVE);
}

Test(told, statements_are_planned_and_answered_as_they_were, .timeout = 120)
{
    dump_test t;
    open_made(&t, false);
    checksums_check(HDX_TREE "/tests/sql/told.txt", text_of, &t);
    close_dump(&t);
}

Test(told, statements_on_classes_that_questions_know_are_answered_as_they_were, .timeout = 120)
{
    dump_test t;
    open_made(&t, true);
    checksums_check(HDX_TREE "/tests/sql/told_library.txt", text_of, &t);
    close_dump(&t);
}
