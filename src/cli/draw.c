/*
 * draw.c - rows in a format that other programs draw, a profile, a treemap or a graph; and an answer as a page.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

static const char *const names[] = { [HDX_PICTURE_FOLDED] = "folded",
                                     [HDX_PICTURE_SPEEDSCOPE] = "speedscope",
                                     [HDX_PICTURE_PPROF] = "pprof",
                                     [HDX_PICTURE_SVG] = "svg",
                                     [HDX_PICTURE_DOT] = "dot" };

bool cli_draw_named(const char *format, hdx_picture_format *out)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], format) == 0) {
            *out = (hdx_picture_format)i;
            return true;
        }
    return false;
}

/* Some rows would not add up to the whole, and columns are read by their names. */
static hdx_code check_rows(const cli_call *c, const char *format, hdx_error *err)
{
    static const char *const refused[] = { "columns", "where", "sort", "limit", "after" };
    const bool               graph = c->picture == HDX_PICTURE_DOT;
    for (size_t i = 0; i < (graph ? 1 : sizeof refused / sizeof *refused); i++)
        if (cli_given(c, refused[i]) != NULL)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--format %s and --%s cannot be used together", format,
                            refused[i]);
    return HDX_OK;
}

hdx_code cli_draw_check(const cli_call *c, hdx_error *err)
{
    if (!c->draws)
        return HDX_OK;
    if (c->picture != HDX_PICTURE_DOT && cli_given(c, "merge") == NULL)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--format %s draws the merged dominator tree",
                                 names[c->picture]),
                        "add --merge");
    if (c->picture == HDX_PICTURE_DOT && cli_is(c, "refs") && cli_given(c, "by") != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--format dot and --by cannot be used together");
    if (c->picture == HDX_PICTURE_PPROF && c->output == NULL && isatty(STDOUT_FILENO) == 1)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--format pprof cannot be written to a terminal"),
                        "-o FILE writes it to a file");
    return check_rows(c, names[c->picture], err);
}

/* A profile has a frame for each class, and more of the tree than a table for people. */
void cli_draw_arguments(cli_call *c)
{
    if (!c->draws || c->picture == HDX_PICTURE_DOT)
        return;
    if (cli_given(c, "least") == NULL)
        c->arguments[c->argument_count++] = (hdx_argument){ "least", "0.1%" };
    if (cli_given(c, "chains") == NULL && c->picture != HDX_PICTURE_SVG)
        c->arguments[c->argument_count++] = (hdx_argument){ "chains", "split" };
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

hdx_code cli_draw(cli_run *run, const cli_call *c, hdx_rows *rows, hdx_error *err)
{
    const hdx_sink      sink = cli_output_sink(run->output);
    char                title[512];
    hdx_picture_options options = { .format = c->picture, .title = title, .inbound = cli_given(c, "in") != NULL };
    const hdx_argument  object = { "object", cli_given(c, "object") };
    hdx_code            code = HDX_OK;
    (void)snprintf(title, sizeof title, "%s: %s", file_name(c->index.dump),
                   c->picture != HDX_PICTURE_DOT ? "dominator tree by class path"
                   : cli_is(c, "path")           ? "paths from GC roots"
                   : options.inbound             ? "references to the object"
                                                 : "references of the object");
    if (cli_is(c, "refs"))
        code = hdx_answer_run(run->session, "object", &object, 1, &options.subject, err);
    if (code == HDX_OK)
        code = hdx_picture_write(rows, &options, &sink, err);
    hdx_rows_close(options.subject);
    return code;
}

/* ---- pages ---- */

bool cli_page_named(const char *format, hdx_report_format *out)
{
    *out = strcmp(format, "md") == 0 ? HDX_REPORT_MARKDOWN : HDX_REPORT_HTML;
    return strcmp(format, "html") == 0 || strcmp(format, "md") == 0;
}

static void put_dump(hdx_buffer *out, const char *dump)
{
    hdx_buffer_text(out, *dump == '-' ? " ./" : " ");
    cli_put_shell_word(out, dump, strlen(dump));
}

/* Writes the call that gives the rows, without --limit, which the page adds. */
static void put_call(hdx_buffer *out, const cli_call *c)
{
    hdx_buffer_text(out, c->answer->name);
    put_dump(out, c->index.dump);
    for (size_t i = 0; i < c->word_count; i++)
        put_dump(out, c->words[i]);
    if (c->index.dump_number != 1)
        hdx_buffer_format(out, " --dump-number %llu", (unsigned long long)c->index.dump_number);
    if (c->index.index_dir != NULL) {
        hdx_buffer_text(out, " --index-dir ");
        cli_put_shell_word(out, c->index.index_dir, strlen(c->index.index_dir));
    }
    for (size_t i = 0; i < c->argument_count; i++) {
        const hdx_argument *argument = &c->arguments[i];
        if (strcmp(argument->name, "limit") == 0)
            continue;
        hdx_buffer_format(out, " --%s", argument->name);
        if (argument->value != NULL) {
            hdx_buffer_text(out, " ");
            cli_put_shell_word(out, argument->value, strlen(argument->value));
        }
    }
}

hdx_code cli_put_page(cli_run *run, hdx_rows *rows, hdx_error *err)
{
    const cli_call  *c = run->call;
    const hdx_sink   sink = cli_output_sink(run->output);
    hdx_buffer       call = hdx_buffer_of(NULL);
    hdx_page_options options = { .format = c->page_format, .bytes = c->bytes };
    put_call(&call, c);
    options.command = call.failed ? NULL : call.at;
    const hdx_code code =
        call.failed ? hdx_no_memory(err, "a command", call.len) : hdx_page_write(rows, &options, &sink, err);
    hdx_buffer_free(&call);
    return code;
}
