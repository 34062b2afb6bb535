/*
 * oql.c - the command oql: translates an OQL query of Eclipse MAT to SQL (heapdex/oql.h) and runs it.
 */
#include "cli/sql.h"

#include <heapdex/oql.h>

#include <string.h>

/* Writes the SQL as a statement that returns it as a row with one value, for formats that consist of rows. */
static hdx_code as_row(const char *statement, hdx_buffer *out)
{
    hdx_buffer_text(out, "SELECT '");
    for (const char *s = statement; *s != '\0'; s++)
        hdx_buffer_put(out, *s == '\'' ? "''" : s, *s == '\'' ? 2 : 1);
    hdx_buffer_text(out, "' AS sql");
    return out->failed ? HDX_LIMIT : HDX_OK;
}

static hdx_code answer(cli_run *run, const char *statement, hdx_error *err)
{
    const cli_call     *c = run->call;
    const cli_sql_shape shape = { .format = c->format, .limit = cli_given_number(c, "limit") };
    hdx_buffer          text = hdx_buffer_of(NULL);
    hdx_sql            *sql = NULL;
    hdx_rows           *rows = NULL;
    hdx_code            code = HDX_OK;
    if (cli_given(c, "explain") != NULL) {
        if (c->format == HDX_FORMAT_TABLE)
            return cli_output_write(run->output, statement, strlen(statement)) && cli_output_write(run->output, "\n", 1)
                       ? HDX_OK
                       : hdx_fail(err, HDX_IO, NULL, HDX_NOWHERE, "cannot write the output");
        if (as_row(statement, &text) != HDX_OK)
            code = hdx_no_memory(err, "the SQL", text.len);
        statement = text.at;
    }
    if (code == HDX_OK && (code = cli_sql_open(run, &sql, err)) == HDX_OK &&
        (code = hdx_sql_run(sql, statement, NULL, &rows, err)) == HDX_OK)
        code = cli_sql_put(run, &rows, &shape, err);
    hdx_rows_close(rows);
    if (code == HDX_OK)
        code = cli_sql_check(run, err);
    hdx_sql_close(sql);
    hdx_buffer_free(&text);
    return code;
}

hdx_code cli_oql(cli_run *run, hdx_error *err)
{
    const cli_call *c = run->call;
    const char     *word = c->word_count > 0 ? c->words[0] : NULL, *file = cli_given(c, "file");
    const bool      input = (word != NULL && strcmp(word, "-") == 0) || (word == NULL && file == NULL);
    hdx_buffer      text = hdx_buffer_of(NULL);
    hdx_graph      *g = NULL;
    char           *statement = NULL;
    hdx_code        code = HDX_OK;
    if (word != NULL && file != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a query and --file cannot be used together");
    hdx_buffer_text(&text, "");
    if (input || file != NULL)
        code = cli_sql_read(input ? "-" : file, &text, err);
    else
        hdx_buffer_text(&text, word);
    if (code == HDX_OK && text.failed)
        code = hdx_no_memory(err, "the query", text.len);
    if (code == HDX_OK)
        code = hdx_session_view(run->session, 0, cli_given(c, "view"), &g, err);
    cli_building(false);
    cli_console_erase(run->console);
    if (code == HDX_OK && (code = hdx_oql_translate(g, text.at, &statement, err)) != HDX_OK)
        cli_sql_place(run,
                      file != NULL && strcmp(file, "-") != 0 ? file
                      : input || file != NULL                ? "standard input"
                                                             : NULL,
                      text.at, 0, err);
    if (code == HDX_OK)
        code = answer(run, statement, err);
    hdx_text_free(statement);
    hdx_buffer_free(&text);
    return code;
}
