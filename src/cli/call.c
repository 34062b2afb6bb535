/* call.c - accessors of a parsed call. */
#include "cli/cli.h"

#include <stdlib.h>
#include <unistd.h>

const char *cli_given(const cli_call *call, const char *name)
{
    for (size_t i = call->argument_count; i-- > 0;)
        if (strcmp(call->arguments[i].name, name) == 0)
            return call->arguments[i].value != NULL ? call->arguments[i].value : "true";
    return NULL;
}

uint64_t cli_given_number(const cli_call *call, const char *name)
{
    const char *value = cli_given(call, name);
    uint64_t    number;
    return value != NULL && hdx_size_of(value, &number) ? number : 0;
}

bool cli_is(const cli_call *call, const char *answer) { return strcmp(call->answer->name, answer) == 0; }

bool cli_is_folder(const cli_call *call)
{
    const char *tables = cli_is(call, "export") && !call->sqlite ? cli_given(call, "table") : NULL;
    return tables != NULL && strchr(tables, ',') != NULL;
}

unsigned cli_reports_shown(const cli_call *call)
{
    const char *const files[] = { call->junit, call->sarif, call->markdown };
    unsigned          shown = 0;
    for (size_t i = 0; cli_is(call, "check") && i < sizeof files / sizeof *files; i++)
        shown += files[i] != NULL && strcmp(files[i], "-") == 0;
    return shown;
}

static bool colored(const cli_call *c)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (c->color != CLI_AUTO)
        return c->color == CLI_ALWAYS;
    return (none == NULL || *none == '\0') && term != NULL && strcmp(term, "dumb") != 0 && c->output == NULL &&
           isatty(STDOUT_FILENO) == 1;
}

hdx_render_options cli_render_options(const cli_call *c)
{
    return (hdx_render_options){ .format = c->format,
                                 .human_sizes = !c->bytes,
                                 .raw = c->raw,
                                 .full_text = c->full_text,
                                 .color = colored(c),
                                 .ascii = c->output == NULL && cli_ascii(STDOUT_FILENO),
                                 .width = c->output == NULL ? cli_terminal_width(STDOUT_FILENO) : 0 };
}
