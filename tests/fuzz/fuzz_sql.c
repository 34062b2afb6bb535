/*
 * fuzz_sql.c - any text as SQL: statements are refused or answered, limits end those that would not end, nothing is
 * written but temporary tables, and the connection answers the next statement as before.
 */
#include "fuzz/folder.h"
#include "support/dump_maker.h"

#include <heapdex/answer.h>
#include <heapdex/sql.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST_STATEMENTS 20u
#define MOST_ROWS       1000u

static void must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s: %s\n", what, hdx_code_name(err->code), err->where, err->message);
    abort();
}

static hdx_session *open_session(void)
{
    static char  dump[FOLDER_PATH];
    hdx_session *s;
    hdx_error    err = { .code = HDX_OK };
    folder_path(dump, "a.hprof");
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L name:L count:I");
    const uint64_t text = dump_maker_string(m, string, "some text");
    uint64_t       next = 0;
    for (uint64_t i = 0; i < 40; i++)
        next = dump_maker_instance(m, node, DUMP_VALUES(next, text, i));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, next, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .threads = 1 };
    must(hdx_session_open(&options, &s, &err) == HDX_OK, "session", &err);
    return s;
}

static uint64_t objects(hdx_sql *sql)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_error       err = { .code = HDX_OK };
    uint64_t        n = 0;
    must(hdx_sql_run(sql, "SELECT count(*) FROM main.objects", NULL, &rows, &err) == HDX_OK && rows != NULL, "count",
         &err);
    if (hdx_rows_next(rows, &cells))
        n = (uint64_t)cells[0].as.integer;
    must(hdx_rows_end(rows, &err) == HDX_OK, "count", &err);
    hdx_rows_close(rows);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static hdx_session   *session;
    static uint64_t       count;
    const hdx_sql_options options = { .rows = MOST_ROWS, .seconds = 1, .memory = 64u << 20 };
    hdx_sql              *sql;
    hdx_error             err = { .code = HDX_OK };
    char                 *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (session == NULL)
        session = open_session();
    must(hdx_sql_open(session, &options, &sql, &err) == HDX_OK, "open", &err);
    if (count == 0)
        count = objects(sql);
    const char *next = text;
    for (unsigned i = 0; i < MOST_STATEMENTS && *next != '\0'; i++) {
        const char     *rest = next;
        hdx_rows       *rows = NULL;
        const hdx_cell *cells;
        const hdx_code  code = hdx_sql_run(sql, next, &rest, &rows, &err);
        must(code == HDX_OK || code == HDX_USAGE || code == HDX_LIMIT || code == HDX_NOT_FOUND, "statement", &err);
        while (rows != NULL && hdx_rows_next(rows, &cells))
            ;
        hdx_rows_close(rows);
        if (rest <= next)
            break;
        next = rest;
    }
    must(objects(sql) == count, "another count of objects afterwards", &err);
    hdx_sql_close(sql);
    free(text);
    return 0;
}
