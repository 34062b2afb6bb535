/*
 * statements.c - functions that the command sql, its shell and the command oql share: a connection, texts of
 * statements, errors with their position, and output of rows.
 */
#include "cli/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define MOST_TEXT (64u << 20)

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
    do /* opening a named pipe waits for a writer */
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
        code = hdx_fail(err, HDX_USAGE, name, HDX_NOWHERE, "contains a NUL byte, which a statement cannot have");
    return code;
}

/* Writes the part of the line around a byte of the text, and a mark below the byte. */
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
    hdx_render_options options = cli_render_options(c);
    hdx_code           code;
    if (run->output->path != NULL) { /* the file of .output */
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
        return hdx_fail(err, HDX_IO, NULL, HDX_NOWHERE, "cannot write the output");
    return hdx_render(*rows, &options, &sink, err);
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
