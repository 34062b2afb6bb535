/*
 * args.c - parses words into a cli_call. Options are accepted at any place, --opt=value and --opt value are equivalent,
 * and -- ends the options.
 *
 * There are two passes, because options may come before the command: the first pass separates options, values and plain
 * words, the second one knows the command. The library checks the values of parameters; options of the command line
 * itself are checked as parameters of a temporary answer.
 */
#include "cli/cli.h"
#include "base/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct given { /* an option as written */
    const char *dashes;
    const char *name;
    size_t      len;
    const char *value; /* NULL: none given */
} given;

static hdx_code usage(hdx_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
static hdx_code usage(hdx_error *err, const char *format, ...)
{
    char    message[256];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s", message);
}

/* ---- suggestions ---- */

typedef struct other_name { /* the name in other tools, and here */
    const char *theirs, *ours;
} other_name;

static const other_name other_commands[] = {
    { "class-histogram", "histogram" },
    { "deadlock", "threads" },
    { "deadlocks", "threads" },
    { "dominator-tree", "dominators" },
    { "gc-roots", "roots" },
    { "jstack", "threads --stacks" },
    { "leak-suspects", "suspects" },
    { "locks", "threads" },
    { "merge-shortest-paths", "path --merge" },
    { "native", "direct-buffers" },
    { "off-heap", "direct-buffers" },
    { "offheap", "direct-buffers" },
    { "path-to-gc-roots", "path" },
    { "stacks", "threads --stacks" },
    { "summary", "info" },
    { "thread-dump", "threads --stacks" },
    { "waste", "duplicates, collections and arrays" },
};
static const other_name other_options[] = {
    { "count", "--limit N" },
    { "csv", "--format csv" },
    { "json", "--format json" },
    { "max", "--limit N" },
    { "n", "--limit N" },
    { "num", "--limit N" },
    { "rows", "--limit N" },
    { "order-by", "--sort COLUMN" },
    { "top", "--limit N" },
    { "filter", "--where CONDITION" },
    { "package", "--class 'PACKAGE.*'" },
};

static const char *our_name(const other_name *of, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(of[i].theirs, word) == 0)
            return of[i].ours;
    return NULL;
}

static hdx_code unknown_command(const char *word, hdx_error *err)
{
    const char *ours = our_name(other_commands, sizeof other_commands / sizeof *other_commands, word);
    char        file[4096];
    hdx_nearest near = { .wanted = word };
    for (size_t i = 0; i < cli_command_count(); i++)
        hdx_nearest_offer(&near, cli_command_at(i)->name);
    hdx_code code = strpbrk(word, "./") == NULL ? usage(err, "unknown command '%.100s'", word)
                                                : usage(err, "no command or file named '%.100s'", word);
    if (ours != NULL)
        return hdx_hint(err, code, "heapdex calls this: %s", ours);
    if (near.best != NULL)
        return hdx_hint(err, code, "did you mean '%s'?", near.best);
    if (strpbrk(word, "./") != NULL && hdx_nearest_file(word, file, sizeof file))
        return hdx_hint(err, code, "did you mean %s?", file);
    return hdx_hint(err, code, "heapdex --help lists the commands");
}

/* The error for a topic that `heapdex help` does not have. */
static hdx_code unknown_topic(const char *word, hdx_error *err)
{
    hdx_nearest near = { .wanted = word };
    for (size_t i = 0; i < cli_command_count(); i++)
        hdx_nearest_offer(&near, cli_command_at(i)->name);
    for (size_t i = 0; cli_help_topic_name(i) != NULL; i++)
        hdx_nearest_offer(&near, cli_help_topic_name(i));
    hdx_code code = usage(err, "no help on '%.100s'", word);
    return near.best != NULL ? hdx_hint(err, code, "did you mean 'heapdex help %s'?", near.best)
                             : hdx_hint(err, code, "heapdex help lists commands and topics");
}

static bool is_topic(const char *word)
{
    for (size_t i = 0; cli_help_topic_name(i) != NULL; i++)
        if (strcmp(cli_help_topic_name(i), word) == 0)
            return true;
    return false;
}

/* A file or an index folder. Another folder does not count: its name may be a mistyped command. */
static bool is_dump(const char *word)
{
    char        catalog[4096];
    struct stat there;
    if (stat(word, &there) != 0)
        return false;
    const int len = snprintf(catalog, sizeof catalog, "%s/catalog.mdb", word);
    return !S_ISDIR(there.st_mode) || (len > 0 && (size_t)len < sizeof catalog && access(catalog, F_OK) == 0);
}

/* A dump without a command gets an overview; options that need a command are refused. */
static hdx_code check_look(const cli_call *call, const char *const *words, size_t word_count, hdx_error *err)
{
    static const char *const rows[] = { "columns", "sort", "where", "limit", "after", "reachable" };
    const char              *dump = words[0];
    if (call->wants == CLI_WANTS_SCHEMA || call->format != HDX_FORMAT_TABLE)
        return hdx_hint(err,
                        usage(err, "%s needs a command",
                              call->wants == CLI_WANTS_SCHEMA ? "--schema" : "a --format other than table"),
                        "heapdex info %s --format json; heapdex --help lists the commands", dump);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_given(call, rows[i]) != NULL)
            return hdx_hint(err, usage(err, "--%s needs a command", rows[i]),
                            "for example heapdex histogram %s; heapdex --help lists the commands", dump);
    if (call->raw)
        return usage(err, "--raw requires --format csv or tsv");
    if (word_count > 1 && cli_command_named(words[1]) != NULL)
        return hdx_hint(err, usage(err, "the command must come before the dump"), "heapdex %s %s", words[1], dump);
    if (word_count > 1)
        return hdx_hint(err, usage(err, "a command is missing before '%.100s'", dump),
                        "heapdex --help lists the commands");
    return HDX_OK;
}

static hdx_code unknown_option(const given *g, const hdx_answer *answer, hdx_error *err)
{
    size_t     options;
    cli_option of[CLI_OPTIONS_MAX], found;
    char       word[64], owners[160] = "";
    (void)snprintf(word, sizeof word, "%.*s", (int)(g->len < sizeof word ? g->len : sizeof word - 1), g->name);
    hdx_code code = answer != NULL ? usage(err, "'%s' has no option '%s%s'", answer->name, g->dashes, word)
                                   : usage(err, "unknown option '%s%s'", g->dashes, word);
    for (size_t i = 0; i < cli_command_count(); i++) {
        const char  *owner = cli_command_at(i)->name;
        const size_t len = strlen(owners);
        if (!cli_option_named(cli_command_at(i), g->name, g->len, &found))
            continue;
        if (len + strlen(owner) + 8 > sizeof owners) {
            (void)snprintf(owners + len, sizeof owners - len, ", ...");
            break;
        }
        (void)snprintf(owners + len, sizeof owners - len, "%s%s", len > 0 ? ", " : "", owner);
    }
    if (answer != NULL && cli_has_language(answer) && cli_option_named(NULL, g->name, g->len, &found))
        return hdx_hint(err, code, "the statement selects and orders the columns and rows");
    if (owners[0] != '\0')
        return hdx_hint(err, code, "commands with this option: %s", owners);
    hdx_nearest near = { .wanted = word };
    const char *ours = our_name(other_options, sizeof other_options / sizeof *other_options, word);
    if (ours != NULL)
        return hdx_hint(err, code, "heapdex calls this: %s", ours);
    options = cli_options_of(answer, of);
    for (size_t i = 0; i < options; i++)
        hdx_nearest_offer(&near, of[i].is->name);
    if (near.best != NULL)
        return hdx_hint(err, code, "did you mean '--%s'?", near.best);
    return answer != NULL ? hdx_hint(err, code, "heapdex %s --help lists the options", answer->name)
                          : hdx_hint(err, code, "heapdex --help lists the options");
}

/* ---- words and options ---- */

static hdx_code split(int argc, const char *const *argv, given *options, size_t *option_count, const char **words,
                      size_t *word_count, hdx_error *err)
{
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        cli_option  o;
        if (ended || w[0] != '-' || w[1] == '\0') { /* "-" alone is a word: standard input */
            words[(*word_count)++] = w;
            continue;
        }
        if (strcmp(w, "--") == 0) {
            ended = true;
            continue;
        }
        given *g = &options[(*option_count)++];
        if (w[1] == '-') {
            g->dashes = "--";
            g->name = w + 2;
            g->len = strcspn(g->name, "=");
            g->value = g->name[g->len] == '=' ? g->name + g->len + 1 : NULL;
        } else { /* -o FILE, -oFILE */
            g->dashes = "-";
            g->name = w + 1;
            g->len = 1;
            g->value = w[2] != '\0' ? w + 2 : NULL;
        }
        /* the same name may be a flag of one command and take a value in another */
        const hdx_answer *command = *word_count > 0 ? cli_command_named(words[0]) : NULL;
        if (!((command != NULL && cli_option_named(command, g->name, g->len, &o)) ||
              cli_option_anywhere(g->name, g->len, &o)) ||
            o.is->value == NULL || g->value != NULL)
            continue; /* unknown options are reported when the command is known */
        if (i + 1 >= argc)
            return usage(err, "option '%s' needs a value: %s", w, o.is->value);
        g->value = argv[++i];
    }
    return HDX_OK;
}

static uint64_t number(const char *value)
{
    uint64_t n = 0;
    return hdx_size_of(value, &n) ? n : 0;
}

/* Returns the index of a word in a list separated by blanks. */
static unsigned word_index(const char *words, const char *value)
{
    unsigned n = 0;
    for (size_t len; (len = strcspn(words, " ")) != strlen(value) || memcmp(words, value, len) != 0;
         words += len + 1, n++)
        if (words[len] == '\0')
            break;
    return n;
}

static void store_format(const char *value, cli_call *call)
{
    static const struct {
        const char *name;
        hdx_format  format;
    } of_rows[] = { { "table", HDX_FORMAT_TABLE },
                    { "json", HDX_FORMAT_JSON },
                    { "jsonl", HDX_FORMAT_JSONL },
                    { "csv", HDX_FORMAT_CSV },
                    { "tsv", HDX_FORMAT_TSV } };
    call->format = HDX_FORMAT_JSONL; /* for the others: the values of rows are not made for people */
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
        if (strcmp(of_rows[i].name, value) == 0)
            call->format = of_rows[i].format;
    call->parquet = strcmp(value, "parquet") == 0;
    call->sqlite = strcmp(value, "sqlite") == 0;
    call->draws = cli_draw_named(value, &call->picture);
    call->page = cli_page_named(value, &call->page_format);
}

/* Stores an option in the call. REQUIRES: check_value accepted the value. */
static void store_option(const cli_option *o, const char *value, cli_call *call)
{
    static const cli_when colors[] = { CLI_AUTO, CLI_ALWAYS, CLI_NEVER };
    switch (o->id) {
    case CLI_OPT_ANSWER: call->arguments[call->argument_count++] = (hdx_argument){ o->is->name, value }; break;
    case CLI_OPT_HELP: call->wants = CLI_WANTS_HELP; break;
    case CLI_OPT_VERSION: call->wants = CLI_WANTS_VERSION; break;
    case CLI_OPT_SCHEMA: call->wants = CLI_WANTS_SCHEMA; break;
    case CLI_OPT_FORMAT: store_format(value, call); break;
    case CLI_OPT_ENCODING: call->encoding = value; break;
    case CLI_OPT_OUTPUT: call->output = value; break;
    case CLI_OPT_RAW: call->raw = true; break;
    case CLI_OPT_TEXT: call->text = true; break;
    case CLI_OPT_FULL_TEXT: call->full_text = true; break;
    case CLI_OPT_UNITS: call->bytes = strcmp(value, "bytes") == 0; break;
    case CLI_OPT_THREADS: call->index.threads = (unsigned)number(value); break;
    case CLI_OPT_MEMORY: call->index.memory = number(value); break;
    case CLI_OPT_MAX_UNCOMPRESSED: call->index.max_uncompressed = number(value); break;
    case CLI_OPT_DUMP_NUMBER: call->index.dump_number = (uint32_t)number(value); break;
    case CLI_OPT_INDEX_DIR: call->index.index_dir = value; break;
    case CLI_OPT_NO_BUILD: call->index.no_build = true; break;
    case CLI_OPT_NO_WAIT: call->index.no_wait = true; break;
    case CLI_OPT_PROGRESS:
        call->progress =
            (cli_when[]){ CLI_AUTO, CLI_ALWAYS, CLI_NEVER, CLI_AS_JSON }[word_index(o->is->choices, value)];
        break;
    case CLI_OPT_COLOR: call->color = colors[word_index(o->is->choices, value)]; break;
    case CLI_OPT_NO_PAGER: call->no_pager = true; break;
    case CLI_OPT_QUIET: call->quiet = true; break;
    case CLI_OPT_VERBOSE: call->verbose = true; break;
    case CLI_OPT_JUNIT: call->junit = value; break;
    case CLI_OPT_SARIF: call->sarif = value; break;
    case CLI_OPT_MARKDOWN: call->markdown = value; break;
    case CLI_OPT_FAIL_ON: call->fail_on = (cli_fail)word_index(o->is->choices, value); break;
    }
}

/* Checks the value of one option alone. */
static hdx_code check_value(const cli_option *o, const char *value, hdx_error *err)
{
    hdx_parameter      alone = *o->is;
    const hdx_argument argument = { alone.name, value };
    alone.excludes = alone.needs = NULL; /* combinations are checked later, with all arguments */
    const hdx_answer only = {
        .name = alone.name, .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED, .parameters = &alone, .parameter_count = 1
    };
    if (o->is->value == NULL && value != NULL)
        return usage(err, "option '--%s' takes no value, but got '%.100s'", alone.name, value);
    if (o->is->kind == HDX_PARAMETER_FILE && value != NULL && *value == '\0')
        return usage(err, "option '--%s' needs a file name", alone.name);
    return hdx_answer_check(&only, &argument, 1, "--", err);
}

/* Options of rows and formats, which --text excludes: raw content has neither. */
static bool is_of_rows(const cli_option *o)
{
    return o->id == CLI_OPT_ANSWER || o->id == CLI_OPT_FORMAT || o->id == CLI_OPT_UNITS || o->id == CLI_OPT_RAW ||
           o->id == CLI_OPT_FULL_TEXT || o->id == CLI_OPT_SCHEMA;
}

static hdx_code check_text(const cli_call *call, const given *options, size_t count, hdx_error *err)
{
    cli_option o;
    for (size_t i = 0; call->text && i < count; i++)
        if (cli_option_named(call->answer, options[i].name, options[i].len, &o) && is_of_rows(&o))
            return usage(err, "--text and --%s cannot be used together", o.is->name);
    return HDX_OK;
}

/* An unexpected word that is not a file is probably a class, which is named with an option: the hint says so. */
static hdx_code too_many_words(const cli_call *call, const hdx_parameter *word, hdx_error *err)
{
    const hdx_answer *a = call->answer;
    const char       *extra = call->words[word != NULL];
    cli_option        by_class;
    const hdx_code    code = usage(err, "'%s' takes one heap dump and %s; unexpected argument '%.100s'", a->name,
                                word == NULL                          ? "nothing else"
                                   : word->kind == HDX_PARAMETER_OBJECTS ? "one object"
                                                                         : "one statement",
                                   extra);
    return word == NULL && access(extra, F_OK) != 0 && cli_option_named(a, "class", 5, &by_class) &&
                   by_class.is->value != NULL
               ? hdx_hint(err, code, "classes are named with an option: --class '%.100s'", extra)
               : code;
}

/* Checks combinations of options, and of options and words. */
static hdx_code check_call(cli_call *call, hdx_error *err)
{
    const hdx_answer    *a = call->answer;
    const hdx_parameter *word = cli_word_of(a);
    const size_t         most = word == NULL                           ? 0
                                : word->flags & HDX_PARAMETER_REPEATED ? SIZE_MAX
                                                                       : 1,
                 words = call->word_count;
    hdx_buffer how = hdx_buffer_of(NULL);
    hdx_code   code = HDX_OK;
    cli_put_usage(&how, a);
    if (*call->index.dump == '\0')
        code = hdx_hint(err, usage(err, "the name of the heap dump is empty"), "check for an unset shell variable");
    else if (word != NULL && (word->flags & HDX_PARAMETER_REQUIRED) && words == 0 &&
             word->kind != HDX_PARAMETER_OBJECTS)
        code = usage(err, "'%s' needs %s: heapdex %s %s", a->name, word->value, a->name, how.at != NULL ? how.at : "");
    else if (word != NULL && (word->flags & HDX_PARAMETER_REQUIRED) && words == 0)
        code = hdx_hint(
            err, usage(err, "'%s' needs an object: heapdex %s %s", a->name, a->name, how.at != NULL ? how.at : ""),
            "write an object as 0x7f3a10, '#1234', class:com.acme.Cache or thread:main; - reads names from standard "
            "input");
    else if ((a->flags & HDX_ANSWER_DUMPS) == 0 && words > most)
        code = too_many_words(call, word, err);
    else if (call->index.no_build && cli_given(call, "force") != NULL)
        code = usage(err, "--force and --no-build cannot be used together");
    else if (cli_given(call, "attach") != NULL && call->index.index_dir != NULL)
        code = usage(err, "--index-dir names a single index and cannot be used with --attach");
    else if ((a->flags & HDX_ANSWER_DUMPS) && words > 0 && call->index.index_dir != NULL)
        code = usage(err, "--index-dir names a single index, but there are %zu dumps", words + 1);
    else if (cli_reports_shown(call) > 1)
        code = usage(err, "only one report can be written to standard output");
    else if (cli_is(call, "report") &&
             (cli_given(call, "where") || cli_given(call, "sort") || cli_given(call, "columns") ||
              cli_given(call, "limit") || cli_given(call, "after") || cli_given(call, "reachable")))
        code = usage(err, "'report' has no rows to select or sort");
    else if (call->raw && call->format != HDX_FORMAT_CSV && call->format != HDX_FORMAT_TSV)
        code = usage(err, "--raw requires --format csv or tsv");
    else if (call->encoding != NULL && !call->parquet)
        code = usage(err, "--encoding requires --format parquet");
    else if (call->sqlite && (call->output == NULL || strcmp(call->output, "-") == 0))
        code = hdx_hint(err, usage(err, "--format sqlite needs an output file"), "-o FILE");
    else if (cli_is_folder(call) && (call->output == NULL || strcmp(call->output, "-") == 0))
        code = hdx_hint(err, usage(err, "several tables need an output folder"),
                        "add -o FOLDER; a missing folder is created");
    else if (call->parquet && call->output == NULL && isatty(STDOUT_FILENO) == 1)
        code = hdx_hint(err, usage(err, "--format parquet cannot be written to a terminal"),
                        "-o FILE writes it to a file");
    else
        code = cli_draw_check(call, err);
    hdx_buffer_free(&how);
    if (code != HDX_OK && cli_is(call, "check") && words > most && err->hint[0] == '\0')
        return hdx_hint(err, code, "quote a rule as one argument: --max 'retained com.acme.* 50M'");
    if (code != HDX_OK)
        return code;
    /* words are checked as arguments; the objects that - stands for are read from standard input later */
    for (size_t i = 0; word != NULL && i < words; i++)
        call->arguments[call->argument_count + i] = (hdx_argument){ word->name, call->words[i] };
    code = hdx_answer_check(a, call->arguments, call->argument_count + (word != NULL ? words : 0), "--", err);
    if (code == HDX_USAGE && cli_is(call, "objects") && err->hint[0] == '\0' && cli_given(call, "class") == NULL)
        return hdx_hint(err, code, "heapdex histogram %s lists the classes", call->index.dump);
    return code;
}

hdx_code cli_parse(int argc, const char *const *argv, hdx_arena *arena, cli_call *call, hdx_error *err)
{
    size_t       room = argc > 0 ? (size_t)argc + 1 : 1, option_count = 0, word_count = 0;
    given       *options = hdx_arena_get(arena, room * sizeof *options);
    const char **words = hdx_arena_get(arena, room * sizeof *words);
    cli_option   o;
    hdx_code     code;
    *call = (cli_call){
        .format = HDX_FORMAT_TABLE, .fail_on = CLI_FAIL_NEVER, .index = { .dump_number = 1 }, .argument_room = room + 8
    };
    call->arguments = hdx_arena_get(arena, call->argument_room * sizeof *call->arguments);
    if (options == NULL || words == NULL || call->arguments == NULL)
        return hdx_no_memory(err, "the command line", room);
    if ((code = split(argc, argv, options, &option_count, words, &word_count, err)) != HDX_OK)
        return code;
    if (word_count > 0 && strcmp(words[0], "help") == 0) { /* `heapdex help`, as in other tools */
        call->wants = CLI_WANTS_HELP;
        words++;
        word_count--;
        if (word_count > 0 && is_topic(words[0])) {
            call->topic = words[0];
            word_count = 0;
        } else if (word_count > 0 && cli_command_named(words[0]) == NULL) {
            return unknown_topic(words[0], err);
        }
    }
    const bool look = word_count > 0 && cli_command_named(words[0]) == NULL && is_dump(words[0]);
    if (word_count > 0 && !look && (call->answer = cli_command_named(words[0])) == NULL)
        return unknown_command(words[0], err);
    if (call->answer != NULL && (call->answer->flags & HDX_ANSWER_PLAIN))
        call->format = HDX_FORMAT_CSV;
    for (size_t i = 0; i < option_count; i++) {
        if (!cli_option_named(call->answer, options[i].name, options[i].len, &o))
            return unknown_option(&options[i], call->answer, err);
        if ((code = check_value(&o, options[i].value, err)) != HDX_OK)
            return code;
        store_option(&o, options[i].value, call);
    }
    if (call->wants == CLI_WANTS_HELP || call->wants == CLI_WANTS_VERSION)
        return HDX_OK;
    if ((code = check_text(call, options, option_count, err)) != HDX_OK)
        return code;
    if (look) {
        if ((code = check_look(call, words, word_count, err)) != HDX_OK)
            return code;
        call->wants = CLI_WANTS_LOOK;
        call->answer = hdx_answer_named("info");
        call->index.dump = words[0];
        return HDX_OK;
    }
    if (call->answer == NULL)
        return hdx_hint(err, usage(err, "missing command"),
                        "heapdex --help lists the commands; start with heapdex app.hprof");
    if (call->wants == CLI_WANTS_SCHEMA)
        return HDX_OK;
    if (word_count < 2) {
        hdx_buffer how = hdx_buffer_of(NULL);
        cli_put_usage(&how, call->answer);
        code = hdx_hint(err,
                        usage(err, "'%s' needs a heap dump: heapdex %s %s", call->answer->name, call->answer->name,
                              how.at != NULL ? how.at : ""),
                        "heapdex %s --help shows examples", call->answer->name);
        hdx_buffer_free(&how);
        return code;
    }
    call->index.dump = words[1];
    call->words = words + 2;
    call->word_count = word_count - 2;
    return check_call(call, err);
}

bool cli_asks_json(int argc, const char *const *argv)
{
    bool json = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strncmp(argv[i], "--format=", 9) == 0)
            json = strcmp(argv[i] + 9, "json") == 0;
        else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
            json = strcmp(argv[i + 1], "json") == 0;
    return json;
}
