/*
 * args.c - words to a cli_call. Options may stand anywhere, --opt=value and --opt value are the same, -- ends options.
 *
 * Two passes, because the command may stand behind options: the first one only tells options, values and plain words apart (a name
 * takes a value for all commands or for none), the second knows the command and reads values.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct given { /* an option as it was written */
    const char *dashes;
    const char *name;
    size_t      len;
    const char *value; /* NULL: none given */
} given;

static hdx_code usage(hdx_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
static hdx_code unknown_option(const given *g, unsigned command, hdx_error *err);
static hdx_code unknown_command(const char *word, hdx_error *err);
static hdx_code take(const cli_option *o, const char *value, cli_call *call, hdx_error *err);
static hdx_code finish(cli_call *call, hdx_error *err);

static hdx_code split(int argc, const char *const *argv, given *options, size_t *option_count, const char **words, size_t *word_count, hdx_error *err)
{
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        const char *w = argv[i];
        if (ended || w[0] != '-' || w[1] == '\0') { /* "-" alone is a word: standard input */
            words[(*word_count)++] = w;
            continue;
        }
        if (strcmp(w, "--") == 0) {
            ended = true;
            continue;
        }
        given *g = &options[*option_count];
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
        const cli_option *o = cli_option_named(g->name, g->len, CLI_COMMANDS);
        (*option_count)++;
        if (o == NULL || o->value == NULL || g->value != NULL)
            continue; /* an unknown one is told of when the command is known */
        if (i + 1 >= argc)
            return usage(err, "option '%s' needs a value: %s", w, o->value);
        g->value = argv[++i];
    }
    return HDX_OK;
}

hdx_code cli_parse(int argc, const char *const *argv, hdx_arena *arena, cli_call *call, hdx_error *err)
{
    size_t       room = argc > 0 ? (size_t)argc + 1 : 1, option_count = 0, word_count = 0;
    given       *options = hdx_arena_get(arena, room * sizeof *options);
    const char **words = hdx_arena_get(arena, room * sizeof *words);
    hdx_code     code;
    *call = (cli_call){ .id = CLI_COMMANDS, .format = HDX_FORMAT_TABLE, .depth = 1, .elements = 100, .dump_number = 1 };
    call->where = hdx_arena_get(arena, room * sizeof *call->where);
    call->classes = hdx_arena_get(arena, room * sizeof *call->classes);
    call->exclude_fields = hdx_arena_get(arena, room * sizeof *call->exclude_fields);
    call->keep_classes = hdx_arena_get(arena, room * sizeof *call->keep_classes);
    call->drop_classes = hdx_arena_get(arena, room * sizeof *call->drop_classes);
    if (options == NULL || words == NULL || call->where == NULL || call->exclude_fields == NULL || call->classes == NULL || call->keep_classes == NULL ||
        call->drop_classes == NULL)
        return hdx_no_memory(err, "the command line", room);
    if ((code = split(argc, argv, options, &option_count, words, &word_count, err)) != HDX_OK)
        return code;
    if (word_count > 0 && strcmp(words[0], "help") == 0) { /* a habit from other tools */
        call->wants = CLI_WANTS_HELP;
        words++;
        word_count--;
    }
    for (unsigned i = 0; word_count > 0 && i < CLI_COMMANDS; i++)
        if (strcmp(words[0], cli_commands[i].name) == 0) {
            call->id = (cli_command_id)i;
            call->command = &cli_commands[i];
        }
    if (word_count > 0 && call->command == NULL)
        return unknown_command(words[0], err);
    if (call->id == CLI_EXPORT)
        call->format = HDX_FORMAT_CSV;
    for (size_t i = 0; i < option_count; i++) {
        const cli_option *o = cli_option_named(options[i].name, options[i].len, call->id);
        if (o == NULL)
            return unknown_option(&options[i], call->id, err);
        if (o->value == NULL && options[i].value != NULL)
            return usage(err, "option '--%s' takes no value, and '%s' was given", o->name, options[i].value);
        if ((code = take(o, options[i].value, call, err)) != HDX_OK)
            return code;
    }
    if (call->wants != CLI_WANTS_ANSWER)
        return HDX_OK;
    if (call->command == NULL)
        return hdx_hint(err, usage(err, "no command is given"), "heapdex --help lists them; heapdex info app.hprof is a beginning");
    if (word_count < 2)
        return hdx_hint(err, usage(err, "'%s' needs a heap dump: heapdex %s %s", call->command->name, call->command->name, call->command->words),
                        "heapdex %s --help shows examples", call->command->name);
    call->dump = words[1];
    call->words = words + 2;
    call->word_count = word_count - 2;
    return finish(call, err);
}

/* What no single option can tell. */
static hdx_code finish(cli_call *call, hdx_error *err)
{
    const cli_command *c = call->command;
    if (*call->dump == '\0')
        return hdx_hint(err, usage(err, "the name of the heap dump is empty"), "is a variable of the shell unset?");
    if (call->id == CLI_RETAINED && (call->class_pattern != NULL) == (call->word_count > 0))
        return usage(err, "'retained' takes objects or --class PATTERN, %s", call->class_pattern != NULL ? "not both" : "and got neither");
    if (call->word_count < c->min)
        return hdx_hint(err, usage(err, "'%s' needs an object: heapdex %s %s", c->name, c->name, c->words),
                        "an object is 0x7f3a10, '#1234', class:com.acme.Cache, thread:main, or - for names on standard input");
    if (call->word_count > c->max)
        return usage(err, "'%s' takes one heap dump and %s; '%s' is too much", c->name, c->max == 0 ? "nothing else" : "one object", call->words[c->max]);
    if (call->id == CLI_OBJECTS && call->class_pattern == NULL)
        return hdx_hint(err, usage(err, "'objects' needs --class PATTERN"), "heapdex histogram %s lists the classes", call->dump);
    if (call->id == CLI_EXPORT && call->table == NULL)
        return hdx_hint(err, usage(err, "'export' needs --table TABLE"), "tables: %s", cli_option_named("table", 5, CLI_EXPORT)->choices);
    if (call->id == CLI_STRIP && call->policy == HDX_STRIP_NONE)
        return hdx_hint(err, usage(err, "'strip' needs --policy POLICY"), "policies: %s", cli_option_named("policy", 6, CLI_STRIP)->choices);
    if ((call->id == CLI_STRIP || call->id == CLI_RESTORE) && (call->output == NULL || strcmp(call->output, "-") == 0))
        return usage(err, "'%s' needs -o FILE: the dump to write", c->name);
    if (call->scan && call->retained)
        return usage(err, "--scan knows no retained sizes: leave --retained or --scan out");
    if (call->scan && call->by == HDX_BY_HEAP)
        return usage(err, "--scan does not count by heap: leave --scan out");
    if (call->scan && call->scope == HDX_GARBAGE)
        return usage(err, "--scan does not know what is garbage: leave --scan out");
    if (call->in && call->out)
        return usage(err, "--in and --out exclude each other");
    if (call->force && call->no_build)
        return usage(err, "--force and --no-build exclude each other");
    if (call->id == CLI_LEAKS && (call->finder == HDX_LEAKS_CLASSES) != (call->class_count > 0))
        return usage(err, "--finder classes and --class PATTERN go together");
    if (call->key != NULL && call->finder != HDX_LEAKS_WATCHED)
        return usage(err, "--key names a watched object: leave --finder out");
    if (call->id == CLI_LEAKS && call->word_count > 0 && call->index_dir != NULL)
        return usage(err, "--index-dir names one index, and there are %zu dumps", call->word_count + 1);
    if (call->subclasses && call->class_pattern == NULL)
        return usage(err, "--subclasses needs --class PATTERN");
    return HDX_OK;
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

/* ---- values ---- */

static bool number(const char *text, uint64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false; /* strtoull takes signs and blanks */
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

bool cli_size(const char *text, uint64_t *bytes)
{
    static const char suffixes[] = "KMGT";
    char             *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10), unit = 1;
    if (errno != 0)
        return false;
    if (*end != '\0') {
        const char *s = strchr(suffixes, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);
        if (s != NULL && *s != '\0') {
            unit = (uint64_t)1 << (10 * (s - suffixes + 1));
            end++;
            if (*end == 'i')
                end++;
        }
        if (*end == 'B' || *end == 'b')
            end++;
    }
    return *end == '\0' && hdx_mul(n, unit, bytes);
}

static hdx_code bounded(const cli_option *o, const char *value, uint64_t least, uint64_t most, uint64_t *out, hdx_error *err)
{
    if (!number(value, out) || *out < least || *out > most) {
        if (most == UINT64_MAX)
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s '%s': a whole number from %llu on is expected", o->name, value,
                            (unsigned long long)least);
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s '%s': a whole number from %llu to %llu is expected", o->name, value,
                        (unsigned long long)least, (unsigned long long)most);
    }
    return HDX_OK;
}

static hdx_code sized(const cli_option *o, const char *value, uint64_t *out, hdx_error *err)
{
    if (!cli_size(value, out))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s '%s': a size is expected, such as 768M, 4G or 1048576", o->name, value);
    return HDX_OK;
}

/* Offers each of the words of `choices` to n. `copies` keeps the words: candidates must outlive the call. */
static void offer_words(cli_nearest *n, const char *choices, char (*copies)[40], size_t most)
{
    for (size_t i = 0; *choices != '\0' && i < most; i++) {
        size_t len = strcspn(choices, " ");
        (void)snprintf(copies[i], sizeof copies[i], "%.*s", (int)len, choices);
        cli_nearest_offer(n, copies[i]);
        choices += len;
        choices += *choices == ' ';
    }
}

static hdx_code bad_choice(const char *option, const char *value, const char *choices, hdx_error *err)
{
    char        words[16][40];
    cli_nearest near = { .wanted = value };
    offer_words(&near, choices, words, 16);
    hdx_code code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--%s '%s' is none of: %s", option, value, choices);
    return near.best != NULL ? hdx_hint(err, code, "did you mean '%s'?", near.best) : code;
}

static hdx_code excluded(const char *value, unsigned *set, hdx_error *err)
{
    static const char kinds[] = "weak soft phantom finalizer";
    char              word[40];
    for (const char *p = value;;) {
        size_t len = strcspn(p, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word), p);
        int place = cli_choice(kinds, word);
        if (place < 0)
            return bad_choice("exclude", word, kinds, err);
        *set |= 1u << place; /* HDX_EXCLUDE_WEAK, SOFT, PHANTOM, FINALIZER are 1, 2, 4, 8 */
        if (p[len] == '\0')
            return HDX_OK;
        p += len + 1;
    }
}

static hdx_code take_sort(const char *value, cli_call *call, hdx_error *err)
{
    const char *colon = strrchr(value, ':');
    if (*value == '\0' || colon == value)
        return usage(err, "--sort '%s': a column is expected, such as retained:desc", value);
    if (colon != NULL && strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0)
        return usage(err, "--sort '%s': behind the column comes :asc or :desc", value);
    call->sort = value;
    return HDX_OK;
}

static hdx_code take(const cli_option *o, const char *value, cli_call *call, hdx_error *err)
{
    static const hdx_format formats[] = { HDX_FORMAT_TABLE, HDX_FORMAT_JSON, HDX_FORMAT_JSONL, HDX_FORMAT_CSV, HDX_FORMAT_TSV };
    static const char       format_names[] = "table json jsonl csv tsv";
    static const char       by_names[] = "class package loader superclass heap object type";
    static const hdx_by     bys[] = { HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER, HDX_BY_SUPERCLASS, HDX_BY_HEAP, HDX_BY_OBJECT, HDX_BY_TYPE };
    uint64_t                n = 0;
    hdx_code                code = HDX_OK;
    int                     place = 0;
    if (value != NULL && o->choices != NULL && (place = cli_choice(o->choices, value)) < 0)
        return bad_choice(o->name, value, o->choices, err);
    switch (o->id) {
    case CLI_OPT_HELP:
        call->wants = CLI_WANTS_HELP;
        break;
    case CLI_OPT_VERSION:
        call->wants = CLI_WANTS_VERSION;
        break;
    case CLI_OPT_FORMAT:
        call->format = formats[cli_choice(format_names, value)];
        break;
    case CLI_OPT_OUTPUT:
        call->output = value;
        if (*value == '\0')
            code = usage(err, "option '--output' needs a file name");
        break;
    case CLI_OPT_COLUMNS:
        call->columns = value;
        break;
    case CLI_OPT_SORT:
        code = take_sort(value, call, err);
        break;
    case CLI_OPT_LIMIT:
        call->limited = true;
        code = bounded(o, value, 0, UINT64_MAX, &call->limit, err);
        break;
    case CLI_OPT_WHERE:
        call->where[call->where_count++] = value;
        break;
    case CLI_OPT_REACHABLE:
        call->scope = (hdx_refs_scope)place; /* HDX_LIVE, HDX_ALL, HDX_GARBAGE in this order */
        break;
    case CLI_OPT_UNITS:
        call->bytes = place == 0;
        break;
    case CLI_OPT_THREADS:
        code = bounded(o, value, 0, HDX_WORKERS_MAX, &n, err);
        call->threads = (unsigned)n;
        break;
    case CLI_OPT_MEMORY:
        code = sized(o, value, &call->memory, err);
        break;
    case CLI_OPT_MAX_UNCOMPRESSED:
        code = sized(o, value, &call->max_uncompressed, err);
        break;
    case CLI_OPT_DUMP_NUMBER:
        code = bounded(o, value, 1, UINT32_MAX, &n, err);
        call->dump_number = (uint32_t)n;
        break;
    case CLI_OPT_INDEX_DIR:
        call->index_dir = value;
        if (*value == '\0')
            code = usage(err, "option '--index-dir' needs a folder");
        break;
    case CLI_OPT_NO_BUILD:
        call->no_build = true;
        break;
    case CLI_OPT_NO_WAIT:
        call->no_wait = true;
        break;
    case CLI_OPT_PROGRESS:
        call->progress = (cli_when)(place == 3 ? CLI_AS_JSON : place);
        break;
    case CLI_OPT_COLOR:
        call->color = (cli_when)place;
        break;
    case CLI_OPT_QUIET:
        call->quiet = true;
        break;
    case CLI_OPT_VERBOSE:
        call->verbose = true;
        break;
    case CLI_OPT_FORCE:
        call->force = true;
        break;
    case CLI_OPT_UNTIL:
        call->until = (hdx_step)(HDX_STEP_OBJECTS + place);
        break;
    case CLI_OPT_BY:
        call->by = bys[cli_choice(by_names, value)];
        break;
    case CLI_OPT_CLASS:
        if (call->id == CLI_LEAKS) {
            call->classes[call->class_count++] = value;
            break;
        }
        if (call->class_pattern != NULL)
            return usage(err, "--class is given twice, '%s' and '%s'; a glob or /regular expression/ takes several", call->class_pattern, value);
        call->class_pattern = value;
        break;
    case CLI_OPT_SUBCLASSES:
        call->subclasses = true;
        break;
    case CLI_OPT_RETAINED:
        call->retained = true;
        break;
    case CLI_OPT_SCAN:
        call->scan = true;
        break;
    case CLI_OPT_DEPTH:
        code = bounded(o, value, 1, UINT_MAX, &n, err);
        call->depth = (unsigned)n;
        break;
    case CLI_OPT_ELEMENTS:
        code = bounded(o, value, 0, UINT64_MAX, &call->elements, err);
        break;
    case CLI_OPT_OUT:
        call->out = true;
        break;
    case CLI_OPT_IN:
        call->in = true;
        break;
    case CLI_OPT_EXCLUDE:
        code = excluded(value, &call->exclude, err);
        break;
    case CLI_OPT_EXCLUDE_FIELD:
        call->exclude_fields[call->exclude_field_count++] = value;
        if (strchr(value, '#') == NULL)
            code = usage(err, "--exclude-field '%s': CLASS#FIELD is expected", value);
        break;
    case CLI_OPT_PATHS:
        code = bounded(o, value, 1, UINT_MAX, &n, err);
        call->paths = (unsigned)n;
        break;
    case CLI_OPT_MERGE:
        call->merge = true;
        break;
    case CLI_OPT_STACKS:
        call->stacks = true;
        break;
    case CLI_OPT_LOCALS:
        call->locals = true;
        break;
    case CLI_OPT_TABLE:
        call->table = value;
        break;
    case CLI_OPT_FULL:
        call->full = true;
        break;
    case CLI_OPT_FINDER:
        call->finder = (hdx_leak_finder)place;
        break;
    case CLI_OPT_MATCHERS:
        call->matchers = value;
        break;
    case CLI_OPT_FILTERS:
        call->filters = value;
        break;
    case CLI_OPT_MAPPING:
        call->mapping = value;
        break;
    case CLI_OPT_NO_RETAINED:
        call->no_retained = true;
        break;
    case CLI_OPT_KEY:
        call->key = value;
        break;
    case CLI_OPT_MIN_WATCH:
        code = bounded(o, value, 0, UINT64_MAX / 1000, &call->min_watch, err);
        break;
    case CLI_OPT_JUNIT:
        call->junit = value;
        if (*value == '\0')
            code = usage(err, "option '--junit' needs a file name");
        break;
    case CLI_OPT_FAIL_ON:
        call->fail_on = (cli_fail)(CLI_FAIL_APPLICATION + place);
        break;
    case CLI_OPT_POLICY: {
        static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_KOOM, HDX_STRIP_TAILOR, HDX_STRIP_SHARK, HDX_STRIP_REDACTED };
        call->policy = policies[place];
        break;
    }
    case CLI_OPT_PLAIN:
        call->plain = true;
        break;
    case CLI_OPT_KEEP_BITMAPS:
        call->keep_bitmaps = true;
        break;
    case CLI_OPT_MAP_NAMES:
        call->map_names = true;
        break;
    case CLI_OPT_KEEP_CLASS:
        call->keep_classes[call->keep_class_count++] = value;
        break;
    case CLI_OPT_DROP_CLASS:
        call->drop_classes[call->drop_class_count++] = value;
        break;
    case CLI_OPTIONS:
        break;
    }
    return code;
}

/* ---- errors ---- */

static hdx_code usage(hdx_error *err, const char *format, ...)
{
    va_list args;
    (void)hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s", "");
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return HDX_USAGE;
}

static hdx_code unknown_command(const char *word, hdx_error *err)
{
    cli_nearest near = { .wanted = word };
    for (unsigned i = 0; i < CLI_COMMANDS; i++)
        cli_nearest_offer(&near, cli_commands[i].name);
    hdx_code code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "there is no command '%s'", word);
    return near.best != NULL ? hdx_hint(err, code, "did you mean '%s'?", near.best) : hdx_hint(err, code, "heapdex --help lists the commands");
}

static hdx_code unknown_option(const given *g, unsigned command, hdx_error *err)
{
    char        word[64];
    const char *of = command < CLI_COMMANDS ? cli_commands[command].name : "heapdex";
    cli_nearest near = { .wanted = word };
    (void)snprintf(word, sizeof word, "%.*s", (int)(g->len < sizeof word ? g->len : sizeof word), g->name);
    if (cli_option_named(g->name, g->len, CLI_COMMANDS) != NULL) {
        char   who[128] = "";
        size_t len = 0;
        for (unsigned i = 0; i < CLI_COMMANDS; i++)
            if (cli_option_named(g->name, g->len, i) != NULL && len < sizeof who)
                len += (size_t)snprintf(who + len, sizeof who - len, "%s%s", len > 0 ? ", " : "", cli_commands[i].name);
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' has no option '--%s'", of, word), "it belongs to: %s", who);
    }
    for (size_t i = 0; i < cli_option_count; i++)
        if (command == CLI_COMMANDS || (cli_options[i].commands & CLI_IN(command)))
            cli_nearest_offer(&near, cli_options[i].name);
    hdx_code code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' has no option '%s%s'", of, g->dashes, word);
    if (near.best != NULL)
        return hdx_hint(err, code, "did you mean '--%s'?", near.best);
    return hdx_hint(err, code, "heapdex%s%s --help lists the options", command < CLI_COMMANDS ? " " : "", command < CLI_COMMANDS ? of : "");
}
