/*
 * test_mat.c - numbers that Eclipse MAT's own tests of OQL expect on a golden dump (mat.txt), by the SQL that the
 * queries become.
 */
#include "base/base.h"
#include "query/heap.h"
#include "support/folder.h"
#include "support/golden.h"
#include <heapdex/heapdex.h>
#include <heapdex/oql.h>
#include <heapdex/sql.h>

#include <unistd.h>

#define DUMP    GOLDEN_DUMPS "/sun_jdk5_64bit.hprof.gz"
#define NUMBERS HDX_TREE "/tests/oql/mat.txt"

/* "492" rows, or "=little", the first cell of the one there is; or what went wrong. */
static void answer(hdx_graph *g, hdx_sql *db, const char *oql, bool value, hdx_buffer *out)
{
    const hdx_cell *cells;
    hdx_rows       *rows = NULL;
    hdx_error       err;
    char           *sql = NULL;
    uint64_t        count = 0;
    hdx_code        code = hdx_oql_translate(g, oql, &sql, &err);
    if (code == HDX_OK)
        code = hdx_sql_run(db, sql, NULL, &rows, &err);
    hdx_buffer_clear(out);
    hdx_buffer_text(out, value ? "=" : "");
    if (code == HDX_OK) {
        while (hdx_rows_next(rows, &cells))
            if (count++ == 0 && value)
                put_cell(out, &cells[0]);
        code = hdx_rows_end(rows, &err);
    }
    if (code != HDX_OK)
        hdx_buffer_text(out, err.message);
    else if (!value)
        hdx_buffer_format(out, "%llu", (unsigned long long)count);
    hdx_rows_close(rows);
    hdx_text_free(sql);
}

Test(mat, queries_have_the_numbers_that_its_tests_expect, .timeout = 120)
{
    char         folder[TEST_FOLDER], line[512];
    hdx_session *session;
    hdx_graph   *g;
    hdx_sql     *db;
    hdx_error    err;
    unsigned     count = 0;
    hdx_buffer   has = hdx_buffer_of(NULL);
    if (access(DUMP, R_OK) != 0)
        cr_skip("the reference collection is not beside this tree");
    test_folder_make(folder, "oql");
    const hdx_index_options options = { .dump = DUMP, .index_dir = folder };
    cr_assert(eq(int, hdx_session_open(&options, &session, &err), HDX_OK), "%s", err.message);
    if (hdx_sql_open(session, NULL, &db, &err) != HDX_OK && strstr(err.message, "built without SQLite") != NULL) {
        hdx_session_close(session);
        test_folder_remove(folder);
        cr_skip("%s", err.message);
    }
    cr_assert(eq(int, hdx_session_graph(session, 0, &g, &err), HDX_OK), "%s", err.message);
    FILE *f = fopen(NUMBERS, "r");
    cr_assert(ne(ptr, f, NULL));
    while (fgets(line, sizeof line, f) != NULL) {
        char *oql = strchr(line, '|');
        if (line[0] == '#' || oql == NULL)
            continue;
        *oql++ = '\0';
        oql[strcspn(oql, "\n")] = '\0';
        answer(g, db, oql, line[0] == '=', &has);
        cr_expect_str_eq(has.at, line, "%s: want %s, has %s", oql, line, has.at);
        count++;
    }
    cr_expect(gt(u32, count, 40));
    (void)fclose(f);
    hdx_buffer_free(&has);
    hdx_sql_close(db);
    hdx_session_close(session);
    test_folder_remove(folder);
}
