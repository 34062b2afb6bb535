/*
 * offers.c - completions for a place of the command line (offers.h).
 *
 * Options, their values and columns are read from the tables of the parser and the help; names of classes and threads
 * from an existing index. Nothing is built or waited for, and an error yields no offers and no message. If there are
 * too many names, they are cut at the next dot, as folders are, so that the common prefix of the offers is never longer
 * than that of all names.
 */
#include "cli/offers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define PATIENCE_NS 60000000u /* time limit for names that have to be read from the dump */

/* ---- offering ---- */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool is_printable(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static void offer(cli_offers *o, const char *text, const char *about)
{
    if (text == NULL || !begins(text, o->wanted) || !is_printable(text))
        return;
    if (o->count == o->room) {
        const size_t room = o->room == 0 ? 64 : 2 * o->room;
        cli_offer   *more = hdx_arena_get(&o->arena, room * sizeof *more);
        if (more == NULL)
            return;
        if (o->count > 0)
            memcpy(more, o->at, o->count * sizeof *more);
        o->at = more;
        o->room = room;
    }
    o->at[o->count++] = (cli_offer){ text, about };
}

/* Returns a, the first `len` bytes of b, and c joined; c may be NULL. NULL: no memory. */
static const char *joined(cli_offers *o, const char *a, const char *b, size_t len, const char *c)
{
    const size_t before = strlen(a), after = c != NULL ? strlen(c) : 0;
    char        *text = hdx_arena_get(&o->arena, before + len + after + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, a, before);
    memcpy(text + before, b, len);
    if (after > 0)
        memcpy(text + before + len, c, after);
    text[before + len + after] = '\0';
    return text;
}

static void offer_joined(cli_offers *o, const char *a, const char *b, const char *c, const char *about)
{
    offer(o, joined(o, a, b, strlen(b), c), about);
}

void cli_offers_free(cli_offers *o) { hdx_arena_free(&o->arena); }

/* ---- the line so far ---- */

typedef struct line {
    const hdx_answer *answer; /* NULL: no command yet */
    const char      **plain;  /* words that are not options; the command is the first */
    size_t            plain_count;
    hdx_argument     *given; /* options by name; value NULL: a flag */
    size_t            given_count;
    cli_option        open; /* the option whose value is at the cursor; is NULL: none */
    bool              ended;
} line;

static bool read_line(cli_offers *o, line *l, const char *const *words, size_t count)
{
    *l = (line){ .plain = hdx_arena_get(&o->arena, (count + 1) * sizeof *l->plain),
                 .given = hdx_arena_get(&o->arena, (count + 1) * sizeof *l->given) };
    if (l->plain == NULL || l->given == NULL)
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        const char *w = words[i];
        cli_option  option;
        if (l->ended || w[0] != '-' || w[1] == '\0') {
            l->plain[l->plain_count++] = w;
        } else if (strcmp(w, "--") == 0) {
            l->ended = true;
        } else {
            const char  *name = w[1] == '-' ? w + 2 : w + 1;
            const size_t len = w[1] == '-' ? strcspn(name, "=") : 1;
            const char  *value = name[len] == '=' && w[1] == '-' ? name + len + 1 : w[1] != '-' && w[2] ? w + 2 : NULL;
            const hdx_answer *command = l->plain_count > 0 ? cli_command_named(l->plain[0]) : NULL;
            if (!(command != NULL && cli_option_named(command, name, len, &option)) &&
                !cli_option_anywhere(name, len, &option))
                continue;
            if (option.is->value != NULL && value == NULL) {
                if (i + 2 == count) {
                    l->open = option;
                    continue;
                }
                value = words[++i];
            }
            l->given[l->given_count++] = (hdx_argument){ option.is->name, value };
        }
    }
    if (l->plain_count > 0)
        l->answer = cli_command_named(l->plain[0]);
    if (l->open.is != NULL) /* the command may have its own option of that name */
        (void)cli_option_named(l->answer, l->open.is->name, strlen(l->open.is->name), &l->open);
    return true;
}

static const char *given(const line *l, const char *name)
{
    for (size_t i = l->given_count; i-- > 0;)
        if (strcmp(l->given[i].name, name) == 0)
            return l->given[i].value != NULL ? l->given[i].value : "true";
    return NULL;
}

/* ---- files ---- */

/* Returns the path with ~ replaced as the shell does. */
static const char *expanded(cli_offers *o, const char *path)
{
    const char *home = getenv("HOME");
    return path[0] == '~' && path[1] == '/' && home != NULL ? joined(o, home, path + 1, strlen(path + 1), NULL) : path;
}

static bool ends(const char *name, const char *with)
{
    const size_t len = strlen(name), tail = strlen(with);
    return len >= tail && strcmp(name + len - tail, with) == 0;
}

static bool is_dump(const char *name)
{
    static const char *const suffixes[] = { ".hprof", ".hprof.gz", ".bin", ".hdx" };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends(name, suffixes[i]))
            return true;
    return false;
}

static void offer_files(cli_offers *o, const char *before, const char *kind)
{
    const char  *path = o->wanted + strlen(before), *slash = strrchr(path, '/');
    const size_t folder_len = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    const char  *folder = joined(o, "", path, folder_len, NULL), *name = path + folder_len;
    const char  *real = folder != NULL ? expanded(o, folder) : NULL;
    DIR         *d = real != NULL ? opendir(*real != '\0' ? real : ".") : NULL;
    o->files = kind;
    o->words = o->count;
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct stat there;
        const char *whole = joined(o, real, e->d_name, strlen(e->d_name), NULL);
        if (!begins(e->d_name, name) || (e->d_name[0] == '.' && name[0] != '.') || strcmp(e->d_name, ".") == 0 ||
            strcmp(e->d_name, "..") == 0 || whole == NULL || stat(whole, &there) != 0)
            continue;
        const bool is_folder = S_ISDIR(there.st_mode), is_index = is_folder && ends(e->d_name, ".hdx");
        if (!is_folder && (strcmp(kind, "folders") == 0 || (strcmp(kind, "dumps") == 0 && !is_dump(e->d_name))))
            continue;
        const char *offered = joined(o, before, folder, folder_len, NULL);
        if (offered != NULL)
            offer_joined(o, offered, e->d_name, is_folder && !(is_index && strcmp(kind, "dumps") == 0) ? "/" : NULL,
                         NULL);
    }
    if (d != NULL)
        (void)closedir(d);
}

/* ---- names from an index ---- */

static uint64_t deadline;
static bool     too_late(void *context)
{
    (void)context;
    return hdx_now_ns() > deadline;
}

static hdx_session *open_index(cli_offers *o, const line *l, const char *dump)
{
    const char       *number = given(l, "dump-number");
    hdx_session      *s = NULL;
    hdx_index_options options = { .dump = expanded(o, dump),
                                  .index_dir = given(l, "index-dir"),
                                  .dump_number = number != NULL ? (uint32_t)strtoul(number, NULL, 10) : 1,
                                  .no_build = true,
                                  .no_wait = true,
                                  .threads = 1,
                                  .progress = { .cancelled = too_late } };
    if (options.index_dir != NULL)
        options.index_dir = expanded(o, options.index_dir);
    deadline = hdx_now_ns() + 10u * PATIENCE_NS;
    hdx_error ignored;
    return options.dump != NULL && hdx_session_open(&options, &s, &ignored) == HDX_OK ? s : NULL;
}

static int by_bytes(const void *a, const void *b)
{
    const hdx_text *x = a, *y = b;
    const uint32_t  least = x->len < y->len ? x->len : y->len;
    const int       order = least > 0 ? memcmp(x->at, y->at, least) : 0;
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/* Cuts sorted names after the first dot that follows their first `len` bytes, and removes duplicates. */
static size_t cut_at_dots(hdx_text *names, size_t count, size_t len)
{
    size_t unique = 0;
    for (size_t i = 0; i < count; i++) {
        const char *dot = memchr(names[i].at + len, '.', names[i].len - len);
        const char *dollar = memchr(names[i].at + len, '$', names[i].len - len);
        if (dot != NULL && (dollar == NULL || dot < dollar))
            names[i].len = (uint32_t)(dot + 1 - names[i].at);
        if (unique == 0 || by_bytes(&names[i], &names[unique - 1]) != 0)
            names[unique++] = names[i];
    }
    return unique;
}

/*
 * Offers names that share a prefix of `len` bytes. Too many names are cut at dots; if that is not enough, only the
 * first ones and the last one are offered.
 */
static void offer_names(cli_offers *o, const char *before, hdx_text *names, size_t count, size_t len,
                        const char *suffix)
{
    bool   cut = false;
    size_t once = 0;
    if (count > 0)
        qsort(names, count, sizeof *names, by_bytes);
    for (size_t i = 0; i < count; i++) /* classes of several loaders may have the same name */
        if (once == 0 || by_bytes(&names[i], &names[once - 1]) != 0)
            names[once++] = names[i];
    count = once;
    while (count > CLI_OFFERS_MOST) {
        hdx_text *parts = hdx_arena_get(&o->arena, count * sizeof *parts);
        if (parts == NULL)
            return;
        memcpy(parts, names, count * sizeof *parts);
        const size_t unique = cut_at_dots(parts, count, len);
        if (unique == 1 && parts[0].len > len && parts[0].at[parts[0].len - 1] == '.') {
            len = parts[0].len; /* all names are in this package: offer its content */
            continue;
        }
        names = parts;
        cut = true;
        count = unique;
        if (count > CLI_OFFERS_MOST) { /* omitted names share the common prefix of the first and the last */
            names[CLI_OFFERS_MOST - 1] = names[count - 1];
            count = CLI_OFFERS_MOST;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const bool part = cut && names[i].len > 0 && names[i].at[names[i].len - 1] == '.';
        offer(o, joined(o, before, names[i].at, names[i].len, part ? NULL : suffix), NULL);
    }
}

void cli_offer_classes_of(cli_offers *o, hdx_graph *g, const char *before, const char *prefix, const char *suffix)
{
    uint32_t         count = 0;
    size_t           n = 0;
    const size_t     len = strlen(prefix);
    const hdx_class *classes = hdx_graph_classes(g, &count);
    hdx_text        *names = classes != NULL ? hdx_arena_get(&o->arena, (count + 1u) * sizeof *names) : NULL;
    for (uint32_t i = 0; names != NULL && i < count; i++)
        if (classes[i].name.len >= len && memcmp(classes[i].name.at, prefix, len) == 0 &&
            memchr(classes[i].name.at, '\0', classes[i].name.len) == NULL)
            names[n++] = classes[i].name;
    if (names != NULL)
        offer_names(o, before, names, n, len, suffix);
}

static void offer_classes(cli_offers *o, const line *l, const char *dump, const char *before, const char *prefix,
                          const char *suffix)
{
    hdx_session *s = open_index(o, l, dump);
    hdx_graph   *g = NULL;
    hdx_error    ignored;
    if (s != NULL && hdx_session_graph(s, 0, &g, &ignored) == HDX_OK)
        cli_offer_classes_of(o, g, before, prefix, suffix);
    hdx_session_close(s);
}

static void offer_threads(cli_offers *o, const line *l, const char *dump, const char *before, const char *prefix)
{
    static const hdx_argument arguments[] = { { "columns", "name" }, { "document", "false" } };
    hdx_session              *s = open_index(o, l, dump);
    hdx_rows                 *rows = NULL;
    const hdx_cell           *cells;
    hdx_text                  names[CLI_OFFERS_MOST];
    size_t                    n = 0;
    const size_t              len = strlen(prefix);
    hdx_graph                *g = NULL;
    hdx_error                 ignored;
    if (s != NULL && hdx_session_graph(s, 0, &g, &ignored) == HDX_OK &&
        hdx_answer_run(s, "threads", arguments, 2, &rows, &ignored) == HDX_OK) {
        const uint64_t until = hdx_now_ns() + PATIENCE_NS;
        while (n < CLI_OFFERS_MOST && hdx_now_ns() < until && hdx_rows_next(rows, &cells)) {
            if (cells[0].kind != HDX_CELL_TEXT || cells[0].as.text.len < len ||
                memcmp(cells[0].as.text.at, prefix, len) != 0)
                continue;
            names[n].at = hdx_arena_copy(&o->arena, cells[0].as.text.at, cells[0].as.text.len);
            names[n].len = cells[0].as.text.len;
            n += names[n].at != NULL;
        }
        if (n > 0)
            qsort(names, n, sizeof *names, by_bytes);
        for (size_t i = 0; i < n; i++)
            if (i == 0 || by_bytes(&names[i], &names[i - 1]) != 0)
                offer(o, joined(o, before, names[i].at, names[i].len, NULL), NULL);
    }
    hdx_rows_close(rows);
    hdx_session_close(s);
}

static void offer_views(cli_offers *o, const line *l, const char *dump, const char *before)
{
    hdx_session   *s = open_index(o, l, dump);
    hdx_graph     *g = NULL;
    hdx_graph_view view;
    hdx_error      ignored;
    if (s != NULL && hdx_session_graph(s, 0, &g, &ignored) == HDX_OK)
        for (unsigned i = 0; i < CLI_OFFERS_MOST && hdx_graph_view_at(g, i, &view); i++) {
            const char *spec = hdx_arena_copy(&o->arena, view.spec, strlen(view.spec));
            offer(o, joined(o, before, view.name, strlen(view.name), NULL), spec);
        }
    hdx_session_close(s);
}

void cli_offer_classes(cli_offers *o, const char *dump, const char *prefix)
{
    const line nothing = { .answer = NULL };
    offer_classes(o, &nothing, dump, "", prefix, NULL);
}

/* ---- values of options ---- */

/* Returns the word at the cursor up to and including its last comma; `before` if it has none. */
static const char *list_start(cli_offers *o, const char *before)
{
    const char *value = o->wanted + strlen(before), *comma = strrchr(value, ',');
    return comma == NULL ? before : joined(o, "", o->wanted, (size_t)(comma + 1 - o->wanted), NULL);
}

static void offer_choices(cli_offers *o, const char *before, const char *choices)
{
    for (size_t len; *choices != '\0'; choices += len + (choices[len] == ' ')) {
        len = strcspn(choices, " ");
        offer(o, joined(o, before, choices, len, NULL), NULL);
    }
}

/* Offers the columns that the answer has with the given arguments. */
static void offer_columns(cli_offers *o, const line *l, const char *before, const char *option)
{
    static const char *const operators[] = { "= ", "!= ", "< ", "<= ", "> ", ">= ", "~ " };
    hdx_argument            *own = hdx_arena_get(&o->arena, (l->given_count + 1) * sizeof *own);
    size_t                   n = 0;
    if (l->answer == NULL || own == NULL || before == NULL)
        return;
    for (size_t i = 0; i < l->given_count; i++)
        for (unsigned k = 0; k < l->answer->parameter_count; k++)
            if (strcmp(l->answer->parameters[k].name, l->given[i].name) == 0)
                own[n++] = l->given[i];
    const hdx_form *form = hdx_answer_form(l->answer, own, n);
    for (unsigned i = 0; form != NULL && i < form->column_count; i++) {
        const hdx_column *c = &form->columns[i];
        const char       *with = joined(o, before, c->name, strlen(c->name), NULL);
        if (with == NULL)
            return;
        if (strcmp(option, "columns") == 0)
            offer(o, with, c->sentence);
        else if (strcmp(option, "where") == 0 && strlen(o->wanted) <= strlen(with))
            offer_joined(o, with, " ", NULL, c->sentence);
        for (size_t k = 0; strcmp(option, "where") == 0 && k < sizeof operators / sizeof *operators; k++)
            if (strlen(o->wanted) > strlen(with))
                offer_joined(o, with, " ", operators[k], NULL);
        if (strcmp(option, "sort") == 0 && strlen(o->wanted) <= strlen(with))
            offer(o, with, c->sentence);
        if (strcmp(option, "sort") == 0 && strlen(o->wanted) > strlen(with)) {
            offer_joined(o, with, ":asc", NULL, "least first");
            offer_joined(o, with, ":desc", NULL, "most first");
        }
    }
}

static const char *dump_of(const line *l) { return l->answer != NULL && l->plain_count > 1 ? l->plain[1] : NULL; }

/* Offers values of an option. `before`: "" or "--option=". */
static void offer_values(cli_offers *o, const line *l, const cli_option *option, const char *before)
{
    const hdx_parameter *p = option->is;
    const char          *dump = dump_of(l), *value = o->wanted + strlen(before);
    if (p->kind == HDX_PARAMETER_CHOICES && p->choices != NULL && list_start(o, before) != NULL)
        offer_choices(o, list_start(o, before), p->choices);
    else if (p->choices != NULL)
        offer_choices(o, before, p->choices);
    else if (strcmp(p->name, "columns") == 0)
        offer_columns(o, l, list_start(o, before), p->name);
    else if (strcmp(p->name, "sort") == 0 || strcmp(p->name, "where") == 0)
        offer_columns(o, l, before, p->name);
    else if (strcmp(p->name, "view") == 0 && dump != NULL)
        offer_views(o, l, dump, before);
    else if (p->kind == HDX_PARAMETER_FILE)
        offer_files(o, before, "files");
    else if (strcmp(p->name, "attach") == 0 && strchr(value, '=') != NULL)
        offer_files(o, joined(o, "", o->wanted, (size_t)(strchr(value, '=') + 1 - o->wanted), NULL), "dumps");
    else if (option->id == CLI_OPT_INDEX_DIR)
        offer_files(o, before, "folders");
    else if (p->kind == HDX_PARAMETER_CLASSES && dump != NULL)
        offer_classes(o, l, dump, before, value, NULL);
    else if (p->kind == HDX_PARAMETER_FIELD && dump != NULL && strchr(value, '#') == NULL)
        offer_classes(o, l, dump, before, value, "#");
}

/* ---- words ---- */

static void offer_options(cli_offers *o, const line *l)
{
    cli_option   options[CLI_OPTIONS_MAX];
    const size_t count = cli_options_of(l->answer, options);
    for (size_t i = 0; i < count; i++)
        if ((options[i].is->flags & HDX_PARAMETER_REPEATED) != 0 || given(l, options[i].is->name) == NULL)
            offer_joined(o, "--", options[i].is->name, NULL, options[i].is->sentence);
}

static void offer_commands(cli_offers *o)
{
    for (size_t i = 0; i < cli_command_count(); i++)
        offer(o, cli_command_at(i)->name, cli_command_at(i)->sentence);
}

static void offer_objects(cli_offers *o, const line *l)
{
    const char *word = o->wanted;
    if (begins(word, "class:"))
        offer_classes(o, l, dump_of(l), "class:", word + 6, NULL);
    else if (begins(word, "thread:"))
        offer_threads(o, l, dump_of(l), "thread:", word + 7);
    offer(o, strlen(word) < 6 ? "class:" : NULL, "the class object of a class");
    offer(o, strlen(word) < 7 ? "thread:" : NULL, "a thread by its name");
}

void cli_offer_words(cli_offers *o, const char *const *words, size_t count)
{
    line        l;
    const char *word = count > 0 ? words[count - 1] : "";
    *o = (cli_offers){ .arena = hdx_arena_of(NULL), .wanted = word };
    if (!read_line(o, &l, words, count))
        return;
    if (l.open.is != NULL) {
        offer_values(o, &l, &l.open, "");
        return;
    }
    if (!l.ended && word[0] == '-') {
        const size_t name = begins(word, "--") ? strcspn(word + 2, "=") : 0;
        cli_option   option;
        if (name == 0 || word[2 + name] != '=')
            offer_options(o, &l);
        else if (cli_option_named(l.answer, word + 2, name, &option) && option.is->value != NULL)
            offer_values(o, &l, &option, joined(o, "", word, name + 3, NULL));
        return;
    }
    if (l.plain_count == 0) {
        offer_commands(o);
        offer(o, "help", "help on a command or a topic");
        offer_files(o, "", "dumps");
    } else if (l.plain_count == 1 && strcmp(l.plain[0], "help") == 0) {
        offer_commands(o);
        for (size_t i = 0; cli_help_topic_name(i) != NULL; i++)
            offer(o, cli_command_named(cli_help_topic_name(i)) == NULL ? cli_help_topic_name(i) : NULL, NULL);
    } else if (l.answer != NULL && (l.plain_count == 1 || (l.answer->flags & HDX_ANSWER_DUMPS) != 0)) {
        offer_files(o, "", "dumps");
    } else if (l.answer != NULL && cli_word_of(l.answer) != NULL &&
               cli_word_of(l.answer)->kind == HDX_PARAMETER_OBJECTS) {
        offer_objects(o, &l);
    }
}

/* ---- bash ---- */

const char *const *cli_bash_words(hdx_arena *arena, const char *text, const char *breaks, size_t *count, size_t *from,
                                  char *quote)
{
    const size_t len = strlen(text);
    const char **words = hdx_arena_get(arena, (len / 2 + 2) * sizeof *words);
    char        *to = hdx_arena_get(arena, 2 * len + 2), *word = to;
    bool         inside = false;
    *count = *from = 0;
    *quote = '\0';
    if (words == NULL || to == NULL)
        return NULL;
    for (const char *p = text; *p != '\0'; p++) {
        const bool blank = *p == ' ' || *p == '\t' || *p == '\n';
        if (*quote == '\0' && blank) {
            if (inside) {
                *to++ = '\0';
                words[(*count)++] = word;
                word = to;
            }
            inside = false;
            *from = 0;
            continue;
        }
        inside = true;
        if (*quote != '\0' && *p == *quote) {
            *quote = '\0';
            *from = (size_t)(to - word);
        } else if (*quote == '\0' && (*p == '\'' || *p == '"')) {
            *quote = *p;
            *from = (size_t)(to - word);
        } else if (*p == '\\' &&
                   (*quote == '\0' || (*quote == '"' && p[1] != '\0' && strchr("$`\"\\", p[1]) != NULL))) {
            if (p[1] != '\0')
                *to++ = *++p;
        } else {
            *to++ = *p;
            if (*quote == '\0' && strchr(breaks, *p) != NULL)
                *from = (size_t)(to - word);
        }
    }
    *to = '\0';
    words[(*count)++] = word; /* the word at the cursor, which may be empty */
    return words;
}

void cli_put_bash(hdx_buffer *out, const char *text, char quote, bool start)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,=";
    if (start && quote == '\0' && begins(text, "~/"))
        hdx_buffer_text(out, *text++ == '~' ? "~" : "");
    for (; *text != '\0'; text++)
        if (quote == '\'' && *text == '\'')
            hdx_buffer_text(out, "'\\''");
        else if (quote == '"' ? strchr("$`\"\\", *text) != NULL
                              : quote == '\0' && (unsigned char)*text < 0x80 && strchr(plain, *text) == NULL)
            hdx_buffer_format(out, "\\%c", *text);
        else
            hdx_buffer_put(out, text, 1);
}
