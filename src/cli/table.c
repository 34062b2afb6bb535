/*
 * table.c - the table of options. It has the options of the command line itself; others are parameters of answers
 * (<heapdex/answer.h>). Parsing, help, completions and the tests of the man page read options from here.
 *
 * Names and meanings are a contract with scripts: rows may be added but not changed.
 */
#include "cli/cli.h"

#define NUMBER(name, value, least, most, help)                                                                         \
    {                                                                                                                  \
        name, HDX_PARAMETER_NUMBER, 0, value, NULL, NULL, NULL, NULL, least, most, help                                \
    }
#define TEXT(name, kind, value, help)                                                                                  \
    {                                                                                                                  \
        name, HDX_PARAMETER_##kind, 0, value, NULL, NULL, NULL, NULL, 0, 0, help                                       \
    }
#define CHOICE(name, value, choices, help)                                                                             \
    {                                                                                                                  \
        name, HDX_PARAMETER_CHOICE, 0, value, choices, NULL, NULL, NULL, 0, 0, help                                    \
    }
#define FLAG(name, help)                                                                                               \
    {                                                                                                                  \
        name, HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, help                                          \
    }

#define NO_INDEX "detect strip restore" /* commands that need no index */
#define NO_BUILD NO_INDEX " remove"

#define ROW_FORMATS "table json jsonl csv tsv parquet"

static const struct own {
    cli_option_id id;
    char          letter;
    const char   *only; /* the commands that have it; NULL: all */
    const char * not ;  /* commands on which it would have no effect; NULL: none */
    hdx_parameter is;
} own[] = {
    { CLI_OPT_JUNIT, 0, "leaks check", NULL, TEXT("junit", FILE, "FILE", "also write the findings as JUnit XML") },
    { CLI_OPT_SARIF, 0, "check", NULL, TEXT("sarif", FILE, "FILE", "also write the findings as SARIF 2.1.0") },
    { CLI_OPT_MARKDOWN, 0, "check", NULL,
      TEXT("markdown", FILE, "FILE", "also write a Markdown summary, for a pull request") },
    { CLI_OPT_FAIL_ON, 0, "leaks", NULL,
      CHOICE("fail-on", "KIND", "application library any", "exit 1 if a leak of this kind exists") },
    { CLI_OPT_TEXT, 0, "object", NULL,
      FLAG("text", "print the raw content of a String, a primitive array or an Android bitmap (as PNG); -o writes it "
                   "to a file") },
    { CLI_OPT_FORMAT, 0, "export", NULL,
      CHOICE("format", "FORMAT", "csv tsv jsonl parquet sqlite", "output format; default: csv") },
    { CLI_OPT_FORMAT, 0, "dominators", NULL,
      CHOICE("format", "FORMAT", ROW_FORMATS " folded speedscope pprof svg",
             "output format; default: table. With --merge also a profile for flamegraph.pl, speedscope or pprof, and a "
             "treemap") },
    { CLI_OPT_FORMAT, 0, "check diff leaks trend", NULL,
      CHOICE("format", "FORMAT", ROW_FORMATS " html md",
             "output format; default: table. html: a page without scripts; md: Markdown of at most 64 KiB, for a "
             "ticket") },
    { CLI_OPT_FORMAT, 0, "path refs", NULL,
      CHOICE("format", "FORMAT", ROW_FORMATS " dot", "output format; default: table. dot: a graph for Graphviz") },
    { CLI_OPT_FORMAT, 0, NULL, NULL, CHOICE("format", "FORMAT", ROW_FORMATS, "output format; default: table") },
    { CLI_OPT_OUTPUT, 'o', NULL, NULL,
      TEXT("output", FILE, "FILE", "write to FILE, completely or not at all; - is standard output") },
    { CLI_OPT_ANSWER, 0, NULL, NULL, FLAG(NULL, NULL) }, /* replaced by the parameters that all answers accept */
    { CLI_OPT_UNITS, 0, NULL, NULL,
      CHOICE("units", "UNITS", "bytes human", "unit of sizes in tables; default: human") },
    { CLI_OPT_FULL_TEXT, 0, NULL, "leaks check", FLAG("full-text", "show long texts in full in tables") },
    { CLI_OPT_RAW, 0, NULL, NULL,
      FLAG("raw", "csv, tsv: write texts unchanged, even if a spreadsheet would read them as formulas") },
    { CLI_OPT_ENCODING, 0, NULL, NULL,
      CHOICE("encoding", "ENCODING", "delta plain",
             "parquet: delta stores differences where shorter; plain suits readers older than 2021; default: delta") },
    { CLI_OPT_THREADS, 0, NULL, NO_BUILD,
      NUMBER("threads", "N", 0, HDX_WORKERS_MAX, "number of threads; default: one for each processor") },
    { CLI_OPT_MEMORY, 0, NULL, NO_BUILD, TEXT("memory", SIZE, "SIZE", "memory limit of a build or a query: 768M, 4G") },
    { CLI_OPT_MAX_UNCOMPRESSED, 0, NULL, "remove",
      TEXT("max-uncompressed", SIZE, "SIZE", "refuse dumps that are larger when uncompressed") },
    { CLI_OPT_DUMP_NUMBER, 0, NULL, NO_INDEX " batch",
      NUMBER("dump-number", "N", 1, UINT32_MAX, "heap to read from a file with several heaps; default: 1") },
    { CLI_OPT_INDEX_DIR, 0, NULL, NO_INDEX " estimate", TEXT("index-dir", TEXT, "DIR", "index folder to use") },
    { CLI_OPT_NO_BUILD, 0, NULL, NO_BUILD " estimate batch",
      FLAG("no-build", "use only an existing index; exit with 3 if there is none") },
    { CLI_OPT_NO_WAIT, 0, NULL, NO_INDEX " estimate",
      FLAG("no-wait", "exit with 76 and do not wait for another builder") },
    { CLI_OPT_PROGRESS, 0, NULL, NULL,
      CHOICE("progress", "WHEN", "auto always never json", "show progress on standard error") },
    { CLI_OPT_COLOR, 0, NULL, NULL,
      CHOICE("color", "WHEN", "auto always never", "use colours in tables; NO_COLOR disables them") },
    { CLI_OPT_NO_PAGER, 0, NULL, NULL,
      FLAG("no-pager", "do not use a pager on a terminal (HEAPDEX_PAGER, PAGER, less)") },
    { CLI_OPT_QUIET, 0, NULL, NULL, FLAG("quiet", "print no warnings") },
    { CLI_OPT_VERBOSE, 0, NULL, NULL, FLAG("verbose", "report files that are read and written") },
    { CLI_OPT_SCHEMA, 0, NULL, NULL, FLAG("schema", "print the JSON Schema of this command's answer; needs no dump") },
    { CLI_OPT_HELP, 'h', NULL, NULL, FLAG("help", "show this help; heapdex COMMAND --help describes a command") },
    { CLI_OPT_VERSION, 0, NULL, NULL, FLAG("version", "show the version of heapdex") },
};

/* Returns whether the answer has its own parameter of that name; a common one is then omitted. */
static bool has_own(const hdx_answer *answer, const char *name)
{
    for (unsigned i = 0; answer != NULL && i < answer->parameter_count; i++)
        if (strcmp(answer->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* Returns whether a word is in a list separated by blanks. */
static bool among(const char *words, const char *word)
{
    for (size_t len; *words != '\0'; words += len + (words[len] == ' '))
        if ((len = strcspn(words, " ")) == strlen(word) && memcmp(words, word, len) == 0)
            return true;
    return false;
}

/* Returns whether a query language already determines what the option sets. */
static bool shapes_rows(const char *name)
{
    return strcmp(name, "columns") == 0 || strcmp(name, "sort") == 0 || strcmp(name, "where") == 0;
}

static char letter_of(const char *name)
{
    return strcmp(name, "output") == 0 ? 'o' : strcmp(name, "file") == 0 ? 'f' : '\0';
}

static bool has(const cli_option *at, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(at[i].is->name, name) == 0)
            return true;
    return false;
}

size_t cli_options_of(const hdx_answer *answer, cli_option options[CLI_OPTIONS_MAX])
{
    size_t               n = 0, common_count;
    const hdx_parameter *common = hdx_answer_common(&common_count);
    for (unsigned i = 0; answer != NULL && i < answer->parameter_count; i++)
        if ((answer->parameters[i].flags & HDX_PARAMETER_WORD) == 0)
            options[n++] =
                (cli_option){ CLI_OPT_ANSWER, letter_of(answer->parameters[i].name), false, &answer->parameters[i] };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        const struct own *o = &own[i];
        for (size_t k = 0; o->is.name == NULL && k < common_count; k++)
            if (strcmp(common[k].name, "document") != 0 && /* set by --format */
                strcmp(common[k].name, "texts") != 0 && strcmp(common[k].name, "sizes") != 0 &&
                !has_own(answer, common[k].name) &&
                (strcmp(common[k].name, "after") != 0 || !has_own(answer, "limit")) && /* its rows have no pages */
                !(answer != NULL && cli_has_language(answer) && shapes_rows(common[k].name)) &&
                (answer == NULL || (answer->flags & HDX_ANSWER_HEAP) != 0 ||
                 (strcmp(common[k].name, "reachable") != 0 && strcmp(common[k].name, "view") != 0)) &&
                (answer == NULL || (answer->flags & HDX_ANSWER_NO_VIEWS) == 0 || strcmp(common[k].name, "view") != 0))
                options[n++] = (cli_option){ CLI_OPT_ANSWER, '\0', true, &common[k] };
        if (o->is.name == NULL || (o->only != NULL && (answer == NULL || !among(o->only, answer->name))) ||
            (o->id == CLI_OPT_FULL_TEXT && answer != NULL && (answer->flags & HDX_ANSWER_VALUES) == 0) ||
            (o->not != NULL && answer != NULL && among(o->not, answer->name)) || has_own(answer, o->is.name) ||
            has(options, n, o->is.name))
            continue;
        options[n++] = (cli_option){ o->id, o->letter, o->only == NULL, &o->is };
    }
    return n;
}

static bool is_named(const cli_option *o, const char *name, size_t len)
{
    return (strlen(o->is->name) == len && memcmp(o->is->name, name, len) == 0) ||
           (len == 1 && o->letter != 0 && o->letter == *name);
}

bool cli_option_named(const hdx_answer *answer, const char *name, size_t len, cli_option *out)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(answer, options);
    for (size_t i = 0; i < count; i++)
        if (is_named(&options[i], name, len)) {
            *out = options[i];
            return true;
        }
    return false;
}

bool cli_option_anywhere(const char *name, size_t len, cli_option *out)
{
    if (cli_option_named(NULL, name, len, out))
        return true;
    for (size_t i = 0; i < cli_command_count(); i++)
        if (cli_option_named(cli_command_at(i), name, len, out))
            return true;
    return false;
}

const hdx_parameter *cli_word_of(const hdx_answer *answer)
{
    for (unsigned i = 0; i < answer->parameter_count; i++)
        if (answer->parameters[i].flags & HDX_PARAMETER_WORD)
            return &answer->parameters[i];
    return NULL;
}

void cli_put_usage(hdx_buffer *out, const hdx_answer *answer)
{
    const hdx_parameter *word = cli_word_of(answer);
    hdx_buffer_format(out, "DUMP%s", answer->flags & HDX_ANSWER_DUMPS ? "..." : "");
    if (word != NULL) {
        const bool either = (word->flags & HDX_PARAMETER_EITHER) != 0,
                   optional = !either && (word->flags & HDX_PARAMETER_REQUIRED) == 0;
        hdx_buffer_format(out, " %s%s%s%s", optional ? "[" : "", word->value,
                          word->flags & HDX_PARAMETER_REPEATED ? "..." : "", optional ? "]" : "");
        for (unsigned i = 0; either && i < answer->parameter_count; i++)
            if ((answer->parameters[i].flags & HDX_PARAMETER_EITHER) && &answer->parameters[i] != word)
                hdx_buffer_format(out, "|--%s %s", answer->parameters[i].name, answer->parameters[i].value);
    }
    for (unsigned i = 0; i < answer->parameter_count; i++) {
        const hdx_parameter *p = &answer->parameters[i];
        if (p == word || (p->flags & HDX_PARAMETER_REQUIRED) == 0)
            continue;
        if (strcmp(p->name, "output") == 0)
            hdx_buffer_text(out, " -o OUT");
        else
            hdx_buffer_format(out, " --%s %s", p->name, p->value);
    }
}
