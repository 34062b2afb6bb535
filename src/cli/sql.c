/*
 * sql.c - the command sql: runs statements from the command line, a file or standard input; without a statement on a
 * terminal it starts the shell (shell.c).
 */
#include "cli/sql.h"

#include <unistd.h>

/* ---- dumps ---- */

hdx_code cli_sql_attach(cli_run *run, hdx_error *err)
{
    const cli_call *c = run->call;
    const char    **names = hdx_arena_get(&run->arena, (c->argument_count + 1) * sizeof *names);
    if (names == NULL)
        return hdx_no_memory(err, "names of dumps", 0);
    run->names = names;
    for (size_t i = 0; i < c->argument_count; i++) {
        if (strcmp(c->arguments[i].name, "attach") != 0)
            continue;
        const char *value = c->arguments[i].value, *equals = strchr(value, '=');
        if (equals == NULL || equals == value || equals[1] == '\0')
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--attach '%.100s': expected NAME=DUMP", value),
                            "--attach old=yesterday.hprof adds the tables old.objects, old.classes ...");
        names[run->name_count] = hdx_arena_copy(&run->arena, value, (size_t)(equals - value));
        if (names[run->name_count++] == NULL)
            return hdx_no_memory(err, "names of dumps", 0);
        const hdx_code code = hdx_session_add(run->session, equals + 1, err);
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

static hdx_code run_text(cli_run *run, hdx_sql *sql, const char *name, const char *text, hdx_error *err)
{
    const char   *next = text;
    cli_sql_shape shape = { .format = run->call->format, .limit = cli_given_number(run->call, "limit") };
    hdx_code      code = HDX_OK;
    while (code == HDX_OK && *next != '\0') {
        const char *rest = next;
        hdx_rows   *rows = NULL;
        if ((code = hdx_sql_run(sql, next, &rest, &rows, err)) == HDX_OK && rows != NULL) {
            code = cli_sql_put(run, &rows, &shape, err);
            shape.apart = true;
        }
        hdx_rows_close(rows);
        if (code == HDX_USAGE)
            cli_sql_place(run, name, text, (size_t)(next - text), err);
        next = rest;
    }
    return code;
}

hdx_code cli_sql(cli_run *run, hdx_error *err)
{
    const cli_call *c = run->call;
    const char     *word = c->word_count > 0 ? c->words[0] : NULL, *file = cli_given(c, "file");
    const bool      input = word != NULL && strcmp(word, "-") == 0;
    hdx_buffer      text = hdx_buffer_of(NULL);
    hdx_sql        *sql = NULL;
    hdx_code        code = HDX_OK;
    if (word != NULL && file != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a statement and --file cannot be used together");
    if (word == NULL && file == NULL && c->output == NULL && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) {
        code = cli_sql_open(run, &sql, err);
        cli_building(false);
        cli_console_erase(run->console);
        if (code == HDX_OK)
            code = cli_shell(run, sql, err);
        hdx_sql_close(sql);
        return code;
    }
    if (word == NULL || input) {
        file = input ? "-" : file;
        code = cli_sql_read(file, &text, err);
    } else
        hdx_buffer_text(&text, word);
    if (code == HDX_OK && text.failed)
        code = hdx_no_memory(err, "the statements", text.len);
    if (code == HDX_OK)
        code = cli_sql_open(run, &sql, err);
    cli_building(false);
    cli_console_erase(run->console);
    if (code == HDX_OK) {
        const char *name = file != NULL && strcmp(file, "-") != 0 ? file
                           : word != NULL && !input               ? NULL
                                                                  : "standard input";
        code = run_text(run, sql, name, text.at != NULL ? text.at : "", err);
    }
    if (code == HDX_OK)
        code = cli_sql_check(run, err);
    hdx_sql_close(sql);
    hdx_buffer_free(&text);
    if (code != HDX_OK && run->output->path == NULL) { /* the answers of earlier statements are written */
        hdx_error ignored;
        (void)cli_output_commit(run->output, &ignored);
    }
    return code;
}
