/*
 * pages.c - writes the man pages: one for each command, from its declaration and the prose in src/cli/man/NAME.roff,
 * and the pages in src/cli/man with placeholders, which it fills.
 *
 *     man_pages SOURCE FOLDER
 *
 * The build runs it; `cmake --install` installs the pages.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const char *path)
{
    perror(path);
    exit(1);
}

/* Writes a text so that roff prints it unchanged. */
static void put_text(hdx_buffer *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        hdx_buffer_text(out, "\\&");
    for (; *text != '\0'; text++)
        if (*text == '\\')
            hdx_buffer_text(out, "\\e");
        else if (*text == '-')
            hdx_buffer_text(out, "\\-");
        else
            hdx_buffer_put(out, text, 1);
}

static void put_option(hdx_buffer *out, const cli_option *o)
{
    hdx_buffer_text(out, ".TP\n\\fB");
    if (o->letter != 0)
        hdx_buffer_format(out, "\\-%c\\fR, \\fB", o->letter);
    hdx_buffer_text(out, "\\-\\-");
    put_text(out, o->is->name);
    hdx_buffer_text(out, "\\fR");
    if (o->is->value != NULL) {
        hdx_buffer_text(out, " \\fI");
        put_text(out, o->is->value);
        hdx_buffer_text(out, "\\fR");
    }
    hdx_buffer_text(out, "\n");
    if (o->is->choices != NULL) {
        put_text(out, o->is->choices);
        hdx_buffer_text(out, ":\n");
    }
    put_text(out, o->is->sentence);
    hdx_buffer_text(out, "\n");
}

/* Writes the options of a command; NULL: those of all commands. */
static void put_options(hdx_buffer *out, const hdx_answer *a)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(a, options);
    bool         any = false;
    for (size_t i = 0; i < count; i++) {
        if (a != NULL && options[i].everywhere)
            continue;
        if (!any && a != NULL)
            hdx_buffer_text(out, ".SH OPTIONS\n");
        any = true;
        put_option(out, &options[i]);
    }
}

static void put_columns(hdx_buffer *out, const hdx_answer *a)
{
    bool any = false;
    for (unsigned i = 0; i < a->form_count; i++) {
        const hdx_form *f = &a->forms[i];
        if (f->column_count == 0)
            continue;
        if (!any)
            hdx_buffer_text(out, ".SH COLUMNS\n");
        any = true;
        if (f->parameter != NULL) {
            hdx_buffer_text(out, ".SS With \\-\\-");
            put_text(out, f->parameter);
            if (strcmp(f->is, "true") != 0) {
                hdx_buffer_text(out, " ");
                put_text(out, f->is);
            }
            hdx_buffer_text(out, "\n");
        }
        for (unsigned k = 0; k < f->column_count; k++) {
            hdx_buffer_text(out, ".TP\n.B ");
            put_text(out, f->columns[k].name);
            hdx_buffer_text(out, "\n");
            put_text(out, f->columns[k].sentence);
            hdx_buffer_text(out, (f->columns[k].flags & HDX_COLUMN_WIDE) != 0 ? " (not in tables)\n" : "\n");
        }
    }
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long  size = -1;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
        fail(path);
    text = calloc(1, (size_t)size + 1);
    if (text == NULL || fread(text, 1, (size_t)size, f) != (size_t)size)
        fail(path);
    (void)fclose(f);
    return text;
}

static void write_file(const char *path, hdx_buffer *text)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || text->failed || fwrite(text->at, 1, (size_t)text->len, f) != text->len || fclose(f) != 0)
        fail(path);
    hdx_buffer_free(text);
}

static void put_page(hdx_buffer *out, const hdx_answer *a, const char *prose)
{
    hdx_buffer usage = hdx_buffer_of(NULL);
    hdx_buffer_text(out, "'\\\" t\n.TH HEAPDEX\\-");
    for (const char *c = a->name; *c != '\0'; c++)
        hdx_buffer_format(out, "%s", *c == '-' ? "\\-" : (char[]){ (char)(*c - ('a' <= *c && *c <= 'z') * 32), '\0' });
    hdx_buffer_text(out, " 1 \"\" \"heapdex " HEAPDEX_VERSION "\" \"User commands\"\n.SH NAME\nheapdex\\-");
    put_text(out, a->name);
    hdx_buffer_text(out, " \\- ");
    put_text(out, a->sentence);
    hdx_buffer_text(out, "\n.SH SYNOPSIS\n.B heapdex ");
    put_text(out, a->name);
    hdx_buffer_text(out, "\n[\\fIOPTIONS\\fR] ");
    cli_put_usage(&usage, a);
    put_text(out, usage.at);
    hdx_buffer_text(out, "\n.SH DESCRIPTION\n");
    put_text(out, a->more);
    hdx_buffer_format(out, "\n.SH DETAILS\n%s", prose);
    put_options(out, a);
    hdx_buffer_text(out, ".PP\nOptions of every command are in\n.BR heapdex (1).\n");
    put_columns(out, a);
    hdx_buffer_text(out, ".SH EXAMPLES\n.nf\n");
    for (size_t e = 0; e < 2; e++) {
        put_text(out, a->examples[e]);
        hdx_buffer_text(out, "\n");
    }
    hdx_buffer_text(out, ".fi\n.SH SEE ALSO\n.BR heapdex (1),\n.BR heapdex (7)\n");
    out->failed = out->failed || usage.failed;
    hdx_buffer_free(&usage);
}

static void put_groups(hdx_buffer *out)
{
    const char *command, *when;
    for (size_t g = 0; cli_group_name(g) != NULL; g++) {
        hdx_buffer_text(out, ".SS ");
        put_text(out, cli_group_title(g));
        hdx_buffer_text(out, "\n");
        for (size_t i = 0; (command = cli_group_command(g, i, &when)) != NULL; i++) {
            hdx_buffer_text(out, ".TP\n.B ");
            put_text(out, command);
            hdx_buffer_text(out, "\n");
            put_text(out, when);
            hdx_buffer_text(out, "\n");
        }
    }
}

/* Fills a page with the placeholder @VERSION@ and the lines @COMMANDS@ and @OPTIONS@. */
static void fill(hdx_buffer *out, const char *text)
{
    while (*text != '\0') {
        const char *at = strchr(text, '@');
        if (at == NULL)
            at = text + strlen(text);
        hdx_buffer_put(out, text, (uint64_t)(at - text));
        text = at;
        if (strncmp(at, "@VERSION@", 9) == 0) {
            hdx_buffer_text(out, HEAPDEX_VERSION);
            text = at + 9;
        } else if (strncmp(at, "@COMMANDS@\n", 11) == 0) {
            put_groups(out);
            text = at + 11;
        } else if (strncmp(at, "@OPTIONS@\n", 10) == 0) {
            put_options(out, NULL);
            text = at + 10;
        } else if (*at == '@') {
            hdx_buffer_text(out, "@");
            text = at + 1;
        }
    }
}

int main(int argc, char **argv)
{
    static const char *const pages[] = { "heapdex.1", "heapdex.7", "heapdex-index.5" };
    char                     path[4096];
    if (argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        hdx_buffer out = hdx_buffer_of(NULL);
        (void)snprintf(path, sizeof path, "%s/src/cli/man/%s", argv[1], pages[i]);
        char *text = read_file(path);
        fill(&out, text);
        free(text);
        (void)snprintf(path, sizeof path, "%s/%s", argv[2], pages[i]);
        write_file(path, &out);
    }
    for (size_t i = 0; i < cli_command_count(); i++) {
        const hdx_answer *a = cli_command_at(i);
        hdx_buffer        out = hdx_buffer_of(NULL);
        (void)snprintf(path, sizeof path, "%s/src/cli/man/%s.roff", argv[1], a->name);
        char *text = read_file(path);
        put_page(&out, a, text);
        free(text);
        (void)snprintf(path, sizeof path, "%s/heapdex-%s.1", argv[2], a->name);
        write_file(path, &out);
    }
    return 0;
}
