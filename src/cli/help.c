/*
 * help.c - --help of everything and of one command, at most 80 columns wide: options out of the table, columns and
 * words out of the answers.
 */
#include "cli/cli.h"

#include <stdio.h>

enum { WIDTH = 79, OPTION_COLUMN = 29, COLUMN_COLUMN = 24 };

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
    const hdx_parameter *p = o->is;
    char                 head[64], text[512];
    int                  len = o->letter != 0 ? snprintf(head, sizeof head, "  -%c, --%s", o->letter, p->name)
                                              : snprintf(head, sizeof head, "  --%s", p->name);
    if (p->value != NULL)
        len += snprintf(head + len, sizeof head - (size_t)len, " %s", p->value);
    hdx_buffer_put(out, head, (uint64_t)len);
    if (len + 2 > OPTION_COLUMN)
        hdx_buffer_format(out, "\n%*s", OPTION_COLUMN, "");
    else
        hdx_buffer_format(out, "%*s", OPTION_COLUMN - len, "");
    size_t at = 0;
    for (const char *c = p->choices; c != NULL && *c != '\0' && at + 3 < sizeof text; c++) { /* "a b" reads "a, b: " */
        if (*c == ' ')
            text[at++] = ',';
        text[at++] = *c;
    }
    (void)snprintf(text + at, sizeof text - at, "%s%s", p->choices != NULL ? ": " : "", p->sentence);
    wrapped(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

static void options_of(hdx_buffer *out, const hdx_answer *answer, bool everywhere)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(answer, options);
    bool         any = everywhere;
    for (size_t i = 0; i < count; i++)
        any |= options[i].everywhere == everywhere;
    if (any)
        hdx_buffer_text(out, everywhere ? "\noptions of every command:\n" : "\noptions of this command:\n");
    for (size_t i = 0; i < count; i++)
        if (options[i].everywhere == everywhere)
            option_line(out, &options[i]);
}

static void columns_of(hdx_buffer *out, const hdx_column *columns, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char text[400];
        hdx_buffer_format(out, "  %-*s", COLUMN_COLUMN - 2, columns[i].name);
        if (strlen(columns[i].name) + 3 > COLUMN_COLUMN)
            hdx_buffer_format(out, "\n%*s", COLUMN_COLUMN, "");
        const bool may_be_null =
            (columns[i].flags & HDX_COLUMN_NULLABLE) != 0 && strstr(columns[i].sentence, "null") == NULL;
        (void)snprintf(text, sizeof text, "%s%s%s", columns[i].sentence, may_be_null ? "; may be null" : "",
                       columns[i].flags & HDX_COLUMN_WIDE ? "; not in tables" : "");
        wrapped(out, text, COLUMN_COLUMN, COLUMN_COLUMN);
    }
}

/* What --columns, --where and --sort can name. */
static void columns_of_answer(hdx_buffer *out, const hdx_answer *a)
{
    size_t                   count;
    const hdx_answer *const *tables = hdx_tables(&count);
    if (a->flags & HDX_ANSWER_PLAIN) { /* a table each */
        for (size_t i = 0; i < count; i++) {
            hdx_buffer_format(out, "\ncolumns of --table %s:\n", tables[i]->name);
            columns_of(out, tables[i]->forms[0].columns, tables[i]->forms[0].column_count);
        }
        return;
    }
    for (unsigned i = a->form_count; i-- > 0;) { /* the usual one stands last */
        const hdx_form *f = &a->forms[i];
        if (f->parameter == NULL)
            hdx_buffer_text(out, "\ncolumns:\n");
        else
            hdx_buffer_format(out, "\ncolumns with --%s%s%s:\n", f->parameter, strcmp(f->is, "true") == 0 ? "" : " ",
                              strcmp(f->is, "true") == 0 ? "" : f->is);
        columns_of(out, f->columns, f->column_count);
    }
}

static void help_of_command(hdx_buffer *out, const hdx_answer *a)
{
    hdx_buffer_format(out, "heapdex %s - ", a->name);
    wrapped(out, a->sentence, 11 + strlen(a->name), 4);
    hdx_buffer_format(out, "\nusage: heapdex %s [OPTIONS] ", a->name);
    cli_put_usage(out, a);
    hdx_buffer_text(out, "\n\n");
    wrapped(out, a->more, 0, 0);
    columns_of_answer(out, a);
    options_of(out, a, false);
    options_of(out, a, true);
    hdx_buffer_format(out, "\nexamples:\n  %s\n  %s\n", a->examples[0], a->examples[1]);
}

void cli_help(hdx_buffer *out, const hdx_answer *answer)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    if (answer != NULL) {
        help_of_command(out, answer);
        return;
    }
    hdx_buffer_text(out, "heapdex - questions about JVM and Android heap dumps, answered from an index\n\n"
                         "usage: heapdex COMMAND [OPTIONS] DUMP [ARGUMENTS]\n\n");
    wrapped(out,
            "DUMP is a heap dump (.hprof, .hprof.gz) or an index folder. The first question builds the index, every "
            "later one is answered at once. "
            "Options may stand anywhere; -- ends them.",
            0, 0);
    hdx_buffer_text(out, "\ncommands:\n");
    for (size_t i = 0; i < count; i++) {
        hdx_buffer_format(out, "  %-12s", all[i]->name);
        wrapped(out, all[i]->sentence, 14, 14);
    }
    options_of(out, NULL, true);
    hdx_buffer_text(out, "\nexit codes:\n"
                         "  0 done          1 a stated condition holds    2 the call is wrong\n"
                         "  3 unusable dump 4 not in the dump             5 the index is damaged\n"
                         "  6 does not fit  7 input or output failed      75 interrupted, goes on\n"
                         "  76 busy, later  130 Ctrl-C\n\n"
                         "examples:\n"
                         "  heapdex info app.hprof\n"
                         "  heapdex histogram app.hprof --limit 10\n"
                         "  heapdex COMMAND --help shows its columns and two examples\n");
}
