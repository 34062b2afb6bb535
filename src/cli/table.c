/*
 * table.c - every option, once: those of the command line itself are here, the others are parameters of answers
 * (<heapdex/answer.h>). Parsing, help, completions and the tests of the man page read them from here.
 *
 * Names and meanings are a contract with scripts: rows may be added, none changed.
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

#define NO_INDEX "detect strip restore" /* what needs no index */
#define NO_BUILD NO_INDEX " remove"

static const struct own {
    cli_option_id id;
    char          letter;
    const char   *only; /* the commands it belongs to; NULL: every one */
    const char * not ;  /* commands that would do nothing with it; NULL: none */
    hdx_parameter is;
} own[] = {
    { CLI_OPT_JUNIT, 0, "leaks check", NULL, TEXT("junit", FILE, "FILE", "write what is found as JUnit XML, too") },
    { CLI_OPT_SARIF, 0, "check", NULL, TEXT("sarif", FILE, "FILE", "write what is found as SARIF 2.1.0, too") },
    { CLI_OPT_MARKDOWN, 0, "check", NULL,
      TEXT("markdown", FILE, "FILE", "write a summary in Markdown, too, for a pull request") },
    { CLI_OPT_FAIL_ON, 0, "leaks", NULL,
      CHOICE("fail-on", "KIND", "application library any", "exit 1 when there is such a leak") },
    { CLI_OPT_TEXT, 0, "object", NULL,
      FLAG("text", "what a String, an array of primitives or an Android bitmap (as PNG) holds, as it is; with -o to a "
                   "file") },
    { CLI_OPT_FORMAT, 0, "export", NULL, CHOICE("format", "FORMAT", "csv tsv jsonl parquet sqlite", "csv by default") },
    { CLI_OPT_FORMAT, 0, NULL, NULL,
      CHOICE("format", "FORMAT", "table json jsonl csv tsv parquet", "how rows are written; table by default") },
    { CLI_OPT_OUTPUT, 'o', NULL, NULL,
      TEXT("output", FILE, "FILE", "write to FILE, whole or not at all; - is standard output") },
    { CLI_OPT_ANSWER, 0, NULL, NULL, FLAG(NULL, NULL) }, /* here come the parameters that all answers take */
    { CLI_OPT_UNITS, 0, NULL, NULL, CHOICE("units", "UNITS", "bytes human", "sizes in tables; human by default") },
    { CLI_OPT_FULL_TEXT, 0, NULL, "leaks check", FLAG("full-text", "long texts as they are, in tables, too") },
    { CLI_OPT_RAW, 0, NULL, NULL,
      FLAG("raw", "csv, tsv: texts as they are, even those that a spreadsheet takes for formulas") },
    { CLI_OPT_ENCODING, 0, NULL, NULL,
      CHOICE("encoding", "ENCODING", "delta plain",
             "parquet: numbers as differences where that is shorter, or as readers before 2021 know them; delta by "
             "default") },
    { CLI_OPT_THREADS, 0, NULL, NO_BUILD,
      NUMBER("threads", "N", 0, HDX_WORKERS_MAX, "workers; as many as processors by default") },
    { CLI_OPT_MEMORY, 0, NULL, NO_BUILD,
      TEXT("memory", SIZE, "SIZE", "the most memory a build or a question may take: 768M, 4G") },
    { CLI_OPT_MAX_UNCOMPRESSED, 0, NULL, "remove",
      TEXT("max-uncompressed", SIZE, "SIZE", "refuse dumps that inflate to more") },
    { CLI_OPT_DUMP_NUMBER, 0, NULL, NO_INDEX " batch",
      NUMBER("dump-number", "N", 1, UINT32_MAX, "which heap of a file that holds several; 1 by default") },
    { CLI_OPT_INDEX_DIR, 0, NULL, NO_INDEX " estimate", TEXT("index-dir", TEXT, "DIR", "the index folder itself") },
    { CLI_OPT_NO_BUILD, 0, NULL, NO_BUILD " estimate batch",
      FLAG("no-build", "answer from an existing index, or exit with 3") },
    { CLI_OPT_NO_WAIT, 0, NULL, NO_INDEX " estimate",
      FLAG("no-wait", "do not wait for another builder: exit with 76") },
    { CLI_OPT_PROGRESS, 0, NULL, NULL,
      CHOICE("progress", "WHEN", "auto always never json", "progress on standard error") },
    { CLI_OPT_COLOR, 0, NULL, NULL,
      CHOICE("color", "WHEN", "auto always never", "colours in tables; NO_COLOR is honoured") },
    { CLI_OPT_NO_PAGER, 0, NULL, NULL,
      FLAG("no-pager", "do not put what goes to a terminal into a pager (HEAPDEX_PAGER, PAGER, less)") },
    { CLI_OPT_QUIET, 0, NULL, NULL, FLAG("quiet", "no warnings on standard error") },
    { CLI_OPT_VERBOSE, 0, NULL, NULL, FLAG("verbose", "say what is read and written") },
    { CLI_OPT_SCHEMA, 0, NULL, NULL, FLAG("schema", "the JSON Schema of this command's answer; needs no dump") },
    { CLI_OPT_HELP, 'h', NULL, NULL, FLAG("help", "this text; heapdex COMMAND --help for a command") },
    { CLI_OPT_VERSION, 0, NULL, NULL, FLAG("version", "the version of heapdex") },
};

/* Does the answer take it as one of its own? Then a general one of that name is left out. */
static bool takes(const hdx_answer *answer, const char *name)
{
    for (unsigned i = 0; answer != NULL && i < answer->parameter_count; i++)
        if (strcmp(answer->parameters[i].name, name) == 0)
            return true;
    return false;
}

/* Is the word among those with blanks between? */
static bool among(const char *words, const char *word)
{
    for (size_t len; *words != '\0'; words += len + (words[len] == ' '))
        if ((len = strcspn(words, " ")) == strlen(word) && memcmp(words, word, len) == 0)
            return true;
    return false;
}

/* What a statement says by itself. */
static bool shapes(const char *name)
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
            if (strcmp(common[k].name, "document") != 0 && /* they follow from --format */
                strcmp(common[k].name, "texts") != 0 && strcmp(common[k].name, "sizes") != 0 &&
                !takes(answer, common[k].name) &&
                !(answer != NULL && cli_has_language(answer) && shapes(common[k].name)) &&
                (answer == NULL || (answer->flags & HDX_ANSWER_HEAP) != 0 ||
                 (strcmp(common[k].name, "reachable") != 0 && strcmp(common[k].name, "view") != 0)) &&
                (answer == NULL || (answer->flags & HDX_ANSWER_NO_VIEWS) == 0 || strcmp(common[k].name, "view") != 0))
                options[n++] = (cli_option){ CLI_OPT_ANSWER, '\0', true, &common[k] };
        if (o->is.name == NULL || (o->only != NULL && (answer == NULL || !among(o->only, answer->name))) ||
            (o->id == CLI_OPT_FULL_TEXT && answer != NULL && (answer->flags & HDX_ANSWER_VALUES) == 0) ||
            (o->not != NULL && answer != NULL && among(o->not, answer->name)) || takes(answer, o->is.name) ||
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
