/* help.c - --help of everything and of one command, at most 80 columns wide; out of the table. */
#include "cli/cli.h"

#include <stdio.h>

enum { WIDTH = 79, OPTION_COLUMN = 29 };

/* Puts words from `column` on, broken before WIDTH and continued at `indent`. */
static void wrapped(hdx_buffer *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        if (!first && column + 1 + len > WIDTH) {
            hdx_buffer_format(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        if (!first) {
            hdx_buffer_text(out, " ");
            column++;
        }
        hdx_buffer_put(out, text, len);
        column += len;
        first = false;
        text += len;
        text += strspn(text, " ");
    }
    hdx_buffer_text(out, "\n");
}

static void option_line(hdx_buffer *out, const cli_option *o)
{
    char head[64], text[512];
    int  len = o->letter != 0 ? snprintf(head, sizeof head, "  -%c, --%s", o->letter, o->name) : snprintf(head, sizeof head, "  --%s", o->name);
    if (o->value != NULL)
        len += snprintf(head + len, sizeof head - (size_t)len, " %s", o->value);
    hdx_buffer_put(out, head, (uint64_t)len);
    if (len + 2 > OPTION_COLUMN) {
        hdx_buffer_format(out, "\n%*s", OPTION_COLUMN, "");
    } else {
        hdx_buffer_format(out, "%*s", OPTION_COLUMN - len, "");
    }
    size_t at = 0;
    for (const char *p = o->choices; p != NULL && *p != '\0' && at + 3 < sizeof text; p++) { /* "a b" reads "a, b: " */
        if (*p == ' ')
            text[at++] = ',';
        text[at++] = *p;
    }
    (void)snprintf(text + at, sizeof text - at, "%s%s", o->choices != NULL ? ": " : "", o->help);
    wrapped(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

static void options_of(hdx_buffer *out, unsigned command, bool common)
{
    for (size_t i = 0; i < cli_option_count; i++) {
        const cli_option *o = &cli_options[i];
        bool everywhere = (o->commands | CLI_IN(CLI_EXPORT)) == CLI_EVERY; /* --format has a row of its own for export */
        if (command == CLI_COMMANDS ? everywhere : (o->commands & CLI_IN(command)) && everywhere == common)
            option_line(out, o);
    }
}

static void help_of_command(hdx_buffer *out, const cli_command *c)
{
    unsigned id = (unsigned)(c - cli_commands);
    hdx_buffer_format(out, "heapdex %s - ", c->name);
    wrapped(out, c->help, 11 + strlen(c->name), 4);
    hdx_buffer_format(out, "\nusage: heapdex %s [OPTIONS] %s\n\n", c->name, c->words);
    wrapped(out, c->more, 0, 0);
    bool own = false;
    for (size_t i = 0; i < cli_option_count; i++)
        own |= (cli_options[i].commands & CLI_IN(id)) && (cli_options[i].commands | CLI_IN(CLI_EXPORT)) != CLI_EVERY;
    if (own) {
        hdx_buffer_text(out, "\noptions of this command:\n");
        options_of(out, id, false);
    }
    hdx_buffer_text(out, "\noptions of every command:\n");
    options_of(out, id, true);
    hdx_buffer_format(out, "\nexamples:\n  %s\n  %s\n", c->examples[0], c->examples[1]);
}

void cli_help(hdx_buffer *out, const cli_command *command)
{
    if (command != NULL) {
        help_of_command(out, command);
        return;
    }
    hdx_buffer_text(out, "heapdex - questions about JVM and Android heap dumps, answered from an index\n\n"
                         "usage: heapdex COMMAND [OPTIONS] DUMP [ARGUMENTS]\n\n");
    wrapped(out, "DUMP is a heap dump (.hprof, .hprof.gz) or an index folder. The first question builds the index, every later one is answered at once. "
                 "Options may stand anywhere; -- ends them.", 0, 0);
    hdx_buffer_text(out, "\ncommands:\n");
    for (size_t i = 0; i < CLI_COMMANDS; i++) {
        hdx_buffer_format(out, "  %-12s", cli_commands[i].name);
        wrapped(out, cli_commands[i].help, 14, 14);
    }
    hdx_buffer_text(out, "\noptions of every command:\n");
    options_of(out, CLI_COMMANDS, true);
    hdx_buffer_text(out, "\nexit codes:\n"
                         "  0 done          1 a stated condition holds    2 the call is wrong\n"
                         "  3 unusable dump 4 not in the dump             5 the index is damaged\n"
                         "  6 does not fit  7 input or output failed      75 interrupted, goes on\n"
                         "  76 busy, later  130 Ctrl-C\n\n"
                         "examples:\n"
                         "  heapdex info app.hprof\n"
                         "  heapdex histogram app.hprof --limit 10\n"
                         "  heapdex COMMAND --help shows two examples of each command\n");
}
