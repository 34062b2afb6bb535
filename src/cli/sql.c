/*
 * sql.c - the command sql: statements from the command line, a file or standard input, answered one after the other;
 * the shell (shell.c) where a person sits before a terminal and gave none.
 */
#include "cli/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define MOST_TEXT (64u << 20)

/* ---- what it takes ---- */

static const hdx_parameter parameters[] = {
    { "statement", HDX_PARAMETER_TEXT, HDX_PARAMETER_WORD, "'SELECT ...'", NULL, NULL, NULL, NULL, 0, 0,
      "one or several, a semicolon between two" },
    { "file", HDX_PARAMETER_FILE, 0, "FILE", NULL, NULL, NULL, NULL, 0, 0,
      "statements out of FILE; - is standard input" },
    { "attach", HDX_PARAMETER_TEXT, HDX_PARAMETER_REPEATED, "NAME=DUMP", NULL, NULL, NULL, NULL, 0, 0,
      "another dump, whose tables are NAME.objects and so on; may be repeated" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0,
      "rows to show of each statement; all by default, and 25 in the shell; 0 is all" },
    { "max-rows", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, INT64_MAX,
      "a statement that gives more ends with exit code 6" },
    { "max-seconds", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 1, UINT32_MAX,
      "a statement that works longer ends with exit code 6" },
};
static const hdx_form form = { NULL, NULL, NULL, 0 };

const hdx_answer cli_sql_command = {
    .name = "sql",
    .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED | HDX_ANSWER_VALUES,
    .sentence = "SQL over the heap: every question that has no command of its own",
    .more = "Objects, references, classes, roots, threads and every class are tables, answers and functions of objects "
            "too; doc/sql.md has them. The columns are those of the statement. On a terminal and without a statement "
            "it is a shell: .help. SQLite is the language, and nothing is written but temporary tables.",
    .examples = { "heapdex sql app.hprof 'SELECT * FROM objects ORDER BY retained DESC LIMIT 9'",
                  "echo 'SELECT count(*) FROM objects' | heapdex sql app.hprof --format csv" },
    .forms = &form,
    .form_count = 1,
    .parameters = parameters,
    .parameter_count = sizeof parameters / sizeof *parameters,
};

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
            return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--attach '%.100s': NAME=DUMP", value),
                            "--attach old=yesterday.hprof gives the tables old.objects, old.classes ...");
        names[run->name_count] = hdx_arena_copy(&run->arena, value, (size_t)(equals - value));
        if (names[run->name_count++] == NULL)
            return hdx_no_memory(err, "names of dumps", 0);
        const hdx_code code = hdx_session_add(run->session, equals + 1, err);
        if (code != HDX_OK)
            return code;
    }
    return HDX_OK;
}

hdx_code cli_sql_open(cli_run *run, hdx_sql **sql, hdx_error *err)
{
    const cli_call       *c = run->call;
    const char           *scope = cli_given(c, "reachable");
    const hdx_sql_options options = { .scope = scope == NULL || strcmp(scope, "live") == 0 ? HDX_LIVE
                                               : strcmp(scope, "all") == 0                 ? HDX_ALL
                                                                                           : HDX_GARBAGE,
                                      .rows = cli_given_number(c, "max-rows"),
                                      .seconds = cli_given_number(c, "max-seconds"),
                                      .memory = c->index.memory,
                                      .view = cli_given(c, "view"),
                                      .names = run->names,
                                      .name_count = run->name_count };
    return hdx_sql_open(run->session, &options, sql, err);
}

/* ---- texts ---- */

hdx_code cli_sql_read(const char *path, hdx_buffer *text, hdx_error *err)
{
    const bool  input = path == NULL || strcmp(path, "-") == 0;
    const char *name = input ? "standard input" : path;
    int         fd = STDIN_FILENO;
    do /* opening a named pipe waits for its writer */
        fd = input ? fd : cli_signal() == 0 ? open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
    while (fd < 0 && errno == EINTR && cli_signal() == 0);
    if (fd < 0 && cli_signal() != 0)
        return hdx_fail(err, HDX_CANCELLED, path, HDX_NOWHERE, "interrupted");
    if (fd < 0)
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "cannot be read: %s", strerror(errno));
    hdx_code code = cli_read_all(fd, name, MOST_TEXT, text, err);
    if (!input)
        (void)close(fd);
    if (code == HDX_OK && text->len > 0 && memchr(text->at, '\0', text->len) != NULL)
        code = hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE, "holds a NUL, which no statement has");
    return code;
}

/* The line of the text that holds the byte, and a mark below it; what is far from the byte is left out. */
static void show_place(hdx_buffer *out, const char *text, size_t at)
{
    enum { BEFORE = 46, AFTER = 24 };
    size_t from = at, to = at;
    while (from > 0 && text[from - 1] != '\n' && (at - from < BEFORE || (text[from] & 0xc0) == 0x80))
        from--;
    while (text[to] != '\0' && text[to] != '\n' && (to - at < AFTER || (text[to] & 0xc0) == 0x80))
        to++;
    hdx_buffer_text(out, from > 0 && text[from - 1] != '\n' ? "  ..." : "  ");
    cli_put_plain(out, text + from, at - from);
    const uint32_t column = out->failed ? 0 : hdx_render_columns(out->at, out->len);
    cli_put_plain(out, text + at, to - at);
    hdx_buffer_format(out, "%s\n%*s^\n", text[to] != '\0' && text[to] != '\n' ? "..." : "", (int)column, "");
}

static unsigned line_of(const char *text, size_t at)
{
    unsigned line = 1;
    for (size_t i = 0; i < at && text[i] != '\0'; i++)
        line += text[i] == '\n';
    return line;
}

void cli_sql_place(cli_run *run, const char *name, const char *text, size_t begin, hdx_error *err)
{
    char message[sizeof err->message];
    if (err->offset == HDX_NOWHERE || err->where[0] != '\0')
        return;
    err->offset += begin;
    show_place(&run->console->below, text, (size_t)err->offset);
    if (name == NULL)
        return;
    (void)snprintf(err->where, sizeof err->where, "%s", name);
    (void)snprintf(message, sizeof message, "line %u: %.200s", line_of(text, (size_t)err->offset), err->message);
    memcpy(err->message, message, sizeof message);
}

/* ---- answers ---- */

hdx_code cli_sql_put(cli_run *run, hdx_rows **rows, const cli_sql_shape *shape, hdx_error *err)
{
    const cli_call    *c = run->call;
    hdx_sink           sink = cli_output_sink(run->output);
    hdx_render_options options = cli_render_options(run);
    hdx_code           code;
    if (run->output->path != NULL) { /* of .output */
        options.color = options.color && c->color == CLI_ALWAYS;
        options.ascii = false;
        options.width = 0;
    }
    options.format = shape->format;
    options.rest = shape->rest;
    options.raw = c->raw && (shape->format == HDX_FORMAT_CSV || shape->format == HDX_FORMAT_TSV);
    if (shape->limit != 0 && (code = hdx_rows_limit_counted(rows, shape->limit, shape->patience_ms, err)) != HDX_OK)
        return code;
    if (shape->apart && shape->format != HDX_FORMAT_JSON && shape->format != HDX_FORMAT_JSONL &&
        !cli_output_write(run->output, "\n", 1))
        return hdx_fail(err, HDX_IO, NULL, HDX_NOWHERE, "the output was refused");
    return hdx_render(*rows, &options, &sink, err);
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

static hdx_code graph_of(cli_run *run, size_t place, hdx_graph **g, hdx_error *err)
{
    return hdx_session_view(run->session, place, place == 0 ? cli_given(run->call, "view") : NULL, g, err);
}

hdx_code cli_sql_check(cli_run *run, hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i <= run->name_count; i++)
        if ((code = graph_of(run, i, &g, err)) == HDX_OK)
            code = hdx_graph_check(g, err);
    return code;
}

hdx_graph *cli_sql_graph(cli_run *run, const char *schema)
{
    hdx_graph *g = NULL;
    hdx_error  ignored;
    size_t     place = strcasecmp(schema, "main") == 0 ? 0 : SIZE_MAX;
    for (size_t i = 0; place == SIZE_MAX && i < run->name_count; i++)
        if (strcasecmp(schema, run->names[i]) == 0)
            place = i + 1;
    return place != SIZE_MAX && graph_of(run, place, &g, &ignored) == HDX_OK ? g : NULL;
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
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a statement and --file exclude each other");
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
    if (code != HDX_OK && run->output->path == NULL) { /* statements before it have their answers */
        hdx_error ignored;
        (void)cli_output_commit(run->output, &ignored);
    }
    return code;
}
