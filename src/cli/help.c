/*
 * help.c - general help and help on a command or a topic, at most 80 columns wide. Options are read from the table of
 * options, columns and words from the answers. Options of every command are only described in `help options`.
 */
#include "cli/cli.h"

#include <stdio.h>

enum { WIDTH = 79, OPTION_COLUMN = 29, COLUMN_COLUMN = 24, USAGE_INDENT = 9 };

/* Writes words from `column` on, with lines that end before WIDTH and continue at `indent`. */
static void put_wrapped(hdx_buffer *out, const char *text, size_t column, size_t indent)
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

static void put_option_line(hdx_buffer *out, const cli_option *o)
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
    for (const char *c = p->choices; c != NULL && *c != '\0' && at + 3 < sizeof text;
         c++) { /* "a b" becomes "a, b: " */
        if (*c == ' ')
            text[at++] = ',';
        text[at++] = *c;
    }
    (void)snprintf(text + at, sizeof text - at, "%s%s", p->choices != NULL ? ": " : "", p->sentence);
    put_wrapped(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

static void put_options(hdx_buffer *out, const hdx_answer *answer)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(answer, options);
    bool         any = false;
    for (size_t i = 0; i < count; i++)
        any |= !options[i].everywhere;
    if (any)
        hdx_buffer_text(out, "\noptions of this command:\n");
    for (size_t i = 0; i < count; i++)
        if (!options[i].everywhere)
            put_option_line(out, &options[i]);
    hdx_buffer_format(out, "\nand --format, %s-o and others: heapdex help options\n",
                      answer != NULL && cli_has_language(answer) ? "" : "--where, --sort, --limit, ");
}

static void put_column_line(hdx_buffer *out, const hdx_column *c)
{
    char       text[400];
    const bool may_be_null = (c->flags & HDX_COLUMN_NULLABLE) != 0 && strstr(c->sentence, "null") == NULL;
    hdx_buffer_format(out, "  %-*s", COLUMN_COLUMN - 2, c->name);
    if (strlen(c->name) + 3 > COLUMN_COLUMN)
        hdx_buffer_format(out, "\n%*s", COLUMN_COLUMN, "");
    (void)snprintf(text, sizeof text, "%s%s%s", c->sentence, may_be_null ? "; may be null" : "",
                   c->flags & HDX_COLUMN_WIDE ? "; not in tables" : "");
    put_wrapped(out, text, COLUMN_COLUMN, COLUMN_COLUMN);
}

/* Returns whether the form has this column with the same sentence. */
static bool has_column(const hdx_form *f, const hdx_column *c)
{
    for (unsigned i = 0; i < f->column_count; i++)
        if (strcmp(f->columns[i].name, c->name) == 0)
            return strcmp(f->columns[i].sentence, c->sentence) == 0 && f->columns[i].flags == c->flags;
    return false;
}

/* Lists columns that `below`, the form listed next, does not repeat; below NULL: all. */
static void put_columns_of_form(hdx_buffer *out, const hdx_form *f, const hdx_form *below)
{
    const char *is = f->parameter != NULL && strcmp(f->is, "true") != 0 ? f->is : "";
    unsigned    shared = 0;
    for (unsigned i = 0; i < f->column_count && below != NULL; i++)
        shared += has_column(below, &f->columns[i]);
    hdx_buffer_text(out, "\ncolumns");
    if (f->parameter != NULL)
        hdx_buffer_format(out, " with --%s%s%s", f->parameter, *is != '\0' ? " " : "", is);
    hdx_buffer_text(out, shared == 0                ? ":\n"
                         : shared < f->column_count ? " (other columns are listed below):\n"
                                                    : ": the same as below\n");
    for (unsigned i = 0; i < f->column_count; i++)
        if (shared == 0 || !has_column(below, &f->columns[i]))
            put_column_line(out, &f->columns[i]);
}

/* Lists the columns for --columns, --where and --sort; those of the usual form are last, next to the options. */
static void put_columns(hdx_buffer *out, const hdx_answer *a)
{
    size_t                   count;
    const hdx_answer *const *tables = hdx_tables(&count);
    const hdx_form          *usual = NULL;
    if (a->flags & HDX_ANSWER_PLAIN) { /* each form is a table */
        for (size_t i = 0; i < count; i++) {
            hdx_buffer_format(out, "\ncolumns of --table %s:\n", tables[i]->name);
            for (unsigned k = 0; k < tables[i]->forms[0].column_count; k++)
                put_column_line(out, &tables[i]->forms[0].columns[k]);
        }
        return;
    }
    for (unsigned i = 0; i < a->form_count; i++)
        if (a->forms[i].column_count > 0 && (usual == NULL || a->forms[i].parameter == NULL))
            usual = &a->forms[i];
    for (unsigned i = a->form_count; i-- > 0;)
        if (a->forms[i].column_count > 0 && &a->forms[i] != usual) /* the columns of other forms depend on the query */
            put_columns_of_form(out, &a->forms[i], usual);
    if (usual != NULL)
        put_columns_of_form(out, usual, NULL);
}

/* If a command has many alternative parameters, the line breaks after one of them. */
static void put_usage(hdx_buffer *out, const hdx_answer *a)
{
    hdx_buffer usage = hdx_buffer_of(NULL);
    size_t     column = 0;
    hdx_buffer_format(&usage, "usage: heapdex %s [OPTIONS] ", a->name);
    cli_put_usage(&usage, a);
    for (size_t at = 0, len; at < usage.len; at += len, column += len) {
        const char *bar = memchr(usage.at + at, '|', usage.len - at);
        len = bar != NULL ? (size_t)(bar - usage.at) + 1 - at : usage.len - at;
        if (at > 0 && column + len > WIDTH) {
            hdx_buffer_format(out, "\n%*s", USAGE_INDENT, "");
            column = USAGE_INDENT;
        }
        hdx_buffer_put(out, usage.at + at, len);
    }
    hdx_buffer_text(out, "\n\n");
    hdx_buffer_free(&usage);
}

static void put_command_help(hdx_buffer *out, const hdx_answer *a)
{
    hdx_buffer_format(out, "heapdex %s - ", a->name);
    put_wrapped(out, a->sentence, 11 + strlen(a->name), 4);
    hdx_buffer_text(out, "\n");
    put_usage(out, a);
    put_wrapped(out, a->more, 0, 0);
    put_columns(out, a);
    put_options(out, a);
    hdx_buffer_format(out, "\nexamples:\n  %s\n  %s\n", a->examples[0], a->examples[1]);
}

void cli_put_help_line(hdx_buffer *out, const char *name, const char *sentence)
{
    hdx_buffer_format(out, "  %-*s", CLI_HELP_COLUMN - 2, name);
    if (strlen(name) + 3 > CLI_HELP_COLUMN)
        hdx_buffer_format(out, "\n%*s", CLI_HELP_COLUMN, "");
    put_wrapped(out, sentence, CLI_HELP_COLUMN, CLI_HELP_COLUMN);
}

void cli_help(hdx_buffer *out, const hdx_answer *answer)
{
    if (answer != NULL) {
        put_command_help(out, answer);
        return;
    }
    hdx_buffer_text(out, "heapdex - questions about JVM and Android heap dumps, answered from an index\n\n"
                         "usage: heapdex DUMP                                  a first look\n"
                         "       heapdex COMMAND [OPTIONS] DUMP [ARGUMENTS]\n\n");
    put_wrapped(out,
                "DUMP is a heap dump (.hprof, .hprof.gz) or an index folder. The first command builds the index; later "
                "commands use it and answer at once. Options may appear anywhere; -- ends them.",
                0, 0);
    cli_help_groups(out);
    hdx_buffer_text(out, "\nmore help:\n"
                         "  heapdex help COMMAND   options, columns and examples of a command\n"
                         "  heapdex help options   options of every command: --format, --limit, -o ...\n"
                         "  heapdex help objects   how to name an object, a class, a thread\n"
                         "  heapdex help columns   how to select and sort: --columns, --where, --sort\n"
                         "  heapdex help rules     how to write rules for heapdex check\n"
                         "\nexit codes:\n"
                         "  0 done          1 a stated condition is true  2 usage error\n"
                         "  3 unusable dump 4 not in the dump             5 the index is damaged\n"
                         "  6 over a limit  7 input or output failed      75 interrupted, can resume\n"
                         "  76 busy, retry  130 Ctrl-C\n\n"
                         "examples:\n"
                         "  heapdex app.hprof\n"
                         "  heapdex histogram app.hprof --limit 10\n");
}

/* ---- topics ---- */

static void put_all_options(hdx_buffer *out)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(NULL, options);
    hdx_buffer_text(out, "common options:\n");
    for (size_t i = 0; i < count; i++)
        put_option_line(out, &options[i]);
    hdx_buffer_text(out, "\n--opt value and --opt=value are the same. Options may appear anywhere; -- ends\nthem. "
                         "Unknown options are errors.\n\nexamples:\n  heapdex histogram app.hprof --format csv -o "
                         "classes.csv\n  heapdex dominators app.hprof --limit 0 --units bytes\n");
}

static void put_objects_topic(hdx_buffer *out)
{
    hdx_buffer_text(out, "how to name an object:\n"
                         "  0x7f3a10                  its address, as answers show it\n"
                         "  '#1234'                   its id: the rank of its address, counted from 0\n"
                         "  com.acme.Cache@0x7f3a10   its address; the class is checked\n"
                         "  class:com.acme.Cache      the class object (all, if several loaders define it)\n"
                         "  thread:main               the thread with that name\n"
                         "  -                         names from standard input, such as earlier output\n"
                         "\nhow to name classes (PATTERN):\n"
                         "  com.acme.Outer$Inner      one class; byte[] is also a name\n"
                         "  com.acme.*                * is any text, ? any character\n"
                         "  /Cache|Pool/              a regular expression (PCRE2) that matches anywhere\n"
                         "\nQuote names with #, $ or * for the shell: '#1234', 'com.acme.*'.\n"
                         "\nexamples:\n"
                         "  heapdex object app.hprof '#1234' thread:main\n"
                         "  heapdex objects app.hprof --class '*Map' | heapdex path app.hprof -\n");
    hdx_buffer_text(out, "\n----\n\n"); /* a command has the same name */
    put_command_help(out, hdx_answer_named("objects"));
}

static void put_choices_topic(hdx_buffer *out)
{
    hdx_buffer_text(out, "Rows are filtered (--where), sorted (--sort) and limited (--limit); --columns\n"
                         "selects the columns. heapdex help COMMAND lists the columns of a command.\n"
                         "\n--columns A,B,C          show these, in this order, even if not in tables\n"
                         "--sort COL[:asc|desc]    default: sizes and counts descend, others ascend\n"
                         "--limit N                0 shows all; path counts paths\n"
                         "--after CURSOR           the next page: \"cut\".\"cursor\" of the JSON document\n"
                         "--where 'COL OP VALUE'   several conditions must all be true\n"
                         "\nOP is = != < <= > >= or ~ (a regular expression that matches anywhere).\n"
                         "\nVALUE is\n"
                         "  12  -3  1.5  0x7f      a number\n"
                         "  10K  5M  2GB  10%      a number with a suffix (powers of 1024)\n"
                         "  true  false  null      null matches only = null and !=\n"
                         "  text  'text'           compared byte by byte\n"
                         "\nexamples:\n"
                         "  heapdex histogram app.hprof --where 'class ~ ^com\\.acme' --sort shallow\n"
                         "  heapdex threads app.hprof --where 'retained > 1M' --columns name,retained\n");
}

static void put_rules_topic(hdx_buffer *out)
{
    hdx_buffer_text(out, "Rules of heapdex check: one per line in a file (--rules FILE), or --rule 'RULE'.\n"
                         "--max, --min and --growth replace the first word of a rule:\n"
                         "\n  max MEASURE [PATTERN] VALUE            at most this value\n"
                         "  min MEASURE [PATTERN] VALUE            at least this value\n"
                         "  growth [MEASURE] [PATTERN] VALUE       no class grew by more since --baseline\n"
                         "  no leaks application|library|all       no leak of that kind\n"
                         "  no suspects 30%                        nothing retains more of the heap\n"
                         "  no damage                              the dump is not damaged\n"
                         "\nMEASURE is one of\n"
                         "  objects, shallow, retained PATTERN     of instances of classes; PATTERN+\n"
                         "                                         includes subclasses\n"
                         "  live, unreachable, classes, loaders    of the whole heap\n"
                         "  threads, duplicate-classes, open-files, direct-buffers [PATTERN]\n"
                         "  waste strings|collections|arrays\n"
                         "\nVALUE is 200 or 10k (powers of 1000), 50M or 1.5G of bytes (powers of 1024), or\n"
                         "a share of the heap: 20%. A name may come before a rule (sessions: max ...), a\n"
                         "reason after it (... because each holds a connection). # begins a comment.\n"
                         "\nexamples:\n"
                         "  heapdex check app.hprof --max 'retained com.acme.* 20%' --no-damage\n"
                         "  heapdex check app.hprof --baseline old.hprof --growth 'com.acme.* 10%'\n");
}

static const struct {
    const char *name;
    void (*write)(hdx_buffer *out);
} topics[] = {
    { "options", put_all_options },
    { "objects", put_objects_topic },
    { "columns", put_choices_topic },
    { "rules", put_rules_topic },
};
#define TOPICS (sizeof topics / sizeof *topics)

const char *cli_help_topic_name(size_t i) { return i < TOPICS ? topics[i].name : cli_group_name(i - TOPICS); }

void cli_help_topic(hdx_buffer *out, const char *topic)
{
    const char *name;
    for (size_t i = 0; (name = cli_help_topic_name(i)) != NULL; i++) {
        if (strcmp(name, topic) != 0)
            continue;
        if (i < TOPICS)
            topics[i].write(out);
        else
            cli_help_group(out, i - TOPICS);
    }
}
