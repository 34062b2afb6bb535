/*
 * test_told.c - many statements on a small heap with odd names (cli/odd.h): how each is planned, and its rows or what
 * refuses it. told.txt has the checksums (support/checksums.h).
 */
#include "cli/odd.h"
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

Test(told, statements_are_planned_and_answered_as_they_were, .timeout = 120)
{
    dump_test t;
    memset(&t, 0, sizeof t);
    test_folder_make_fast(t.folder, "sql");
    (void)snprintf(t.dump, sizeof t.dump, "%s/odd.hprof", t.folder);
    odd_make(t.dump);
    open_path(&t, t.dump, HDX_LIVE);
    checksums_check(HDX_TREE "/tests/sql/told.txt", text_of, &t);
    close_dump(&t);
}
