/*
 * shell.c - the interactive SQL shell.
 *
 * In:  lines (line.h), joined until a statement is complete; lines that begin with a dot are commands of the shell.
 * Out: rows in the format of .mode, to the terminal or the file of .output.
 * Ctrl-C ends a statement or discards its lines; Ctrl-D quits. Tables show 25 rows, or the number that .limit sets, and
 * the number of omitted rows if it can be counted quickly.
 */
#include "base/nearest.h"
#include "base/pattern.h"
#include "cli/line.h"
#include "cli/sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_MS 300

typedef struct shell {
    cli_run      *run;
    hdx_sql      *sql;
    cli_line     *line;
    hdx_buffer    pending; /* lines of an incomplete statement */
    char          within;  /* open construct at its end: a quote, '[', '*' (a comment); 0: none */
    bool          ended;   /* its last byte is a semicolon, apart from blanks and comments */
    hdx_buffer    offer;   /* the text that the last completion inserted */
    cli_sql_shape shape;
    bool          limited; /* .limit or --limit was given */
    bool          timer, left;
    hdx_code      code; /* the error that ended the shell */
} shell;

/* ---- output ---- */

/* Writes and frees a text. Errors are reported by the next flush. */
static void put_buffer(shell *s, hdx_buffer *text)
{
    if (!text->failed && text->len > 0)
        (void)cli_output_write(s->run->output, text->at, (size_t)text->len);
    hdx_buffer_free(text);
}

/* Flushes the terminal. A file is only committed when .output changes. */
static void flush(shell *s, hdx_error *err)
{
    cli_output *o = s->run->output;
    if (o->path != NULL && o->failed == 0)
        return;
    const hdx_code code = cli_output_commit(o, err);
    if (code != HDX_OK && !o->interrupted) {
        s->left = true;
        s->code = code;
    }
}

static void report_error(shell *s, hdx_code code, hdx_error *err)
{
    (void)cli_report(s->run->console, code, err, false);
    hdx_buffer_clear(&s->run->console->below);
}

/* ---- statements ---- */

static void put_time(shell *s, uint64_t wall_ns, uint64_t cpu_ns)
{
    hdx_buffer line = hdx_buffer_of(NULL);
    hdx_buffer_format(&line, "%.3f s, %.3f s of CPU\n", (double)wall_ns / 1e9, (double)cpu_ns / 1e9);
    put_buffer(s, &line);
}

static hdx_code run_one(shell *s, const char *next, const char **rest, hdx_error *err)
{
    hdx_rows      *rows = NULL;
    const uint64_t wall = hdx_now_ns(), cpu = hdx_cpu_ns();
    cli_sql_shape  shape = s->shape;
    cli_console_begin(s->run->console);
    hdx_code code = hdx_sql_run(s->sql, next, rest, &rows, err);
    cli_console_erase(s->run->console);
    if (shape.format != HDX_FORMAT_TABLE && !s->limited)
        shape.limit = 0;
    const bool any = rows != NULL;
    if (code == HDX_OK && any)
        code = cli_sql_put(s->run, &rows, &shape, err);
    hdx_rows_close(rows);
    if (code == HDX_OK)
        code = cli_sql_check(s->run, err);
    if (s->timer && any)
        put_time(s, hdx_now_ns() - wall, hdx_cpu_ns() - cpu);
    return code;
}

static void run_text(shell *s, const char *text)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    hdx_code  code = HDX_OK;
    for (const char *next = text, *rest = text; code == HDX_OK && *next != '\0' && !s->left; next = rest) {
        rest = next;
        code = run_one(s, next, &rest, &err);
        if (code == HDX_USAGE)
            cli_sql_place(s->run, NULL, text, (size_t)(next - text), &err);
        if (s->run->output->failed == 0)
            s->run->output->interrupted = false;
        hdx_error written = { .offset = HDX_NOWHERE };
        flush(s, &written);
        s->shape.apart = s->run->output->path != NULL;
    }
    (void)cli_shell_interrupted(); /* the interrupt ended the statement, not the shell */
    if (code != HDX_OK && !s->left)
        report_error(s, code, &err);
    if (code == HDX_DAMAGED || cli_signal() != 0) {
        s->left = true;
        s->code = cli_signal() != 0 ? HDX_CANCELLED : code;
    }
}

/* ---- commands that begin with a dot ---- */

/* Returns whether a name, without its quotes, matches. */
static bool words_match(hdx_pattern *pattern, const char *name)
{
    const size_t len = strlen(name), quote = len > 1 && name[0] == '"';
    bool         yes = false;
    hdx_error    ignored;
    return hdx_pattern_look(pattern, (hdx_text){ name + quote, (uint32_t)(len - 2 * quote) }, &yes, &ignored) ==
               HDX_OK &&
           yes;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Writes the names of class tables, quoted as in a statement. */
static void put_classes(hdx_buffer *out, shell *s, hdx_pattern *pattern, hdx_arena *arena, unsigned width)
{
    uint32_t         count = 0;
    size_t           n = 0, once = 0;
    hdx_graph       *g = cli_sql_graph(s->run, "main");
    const hdx_class *classes = g != NULL ? hdx_graph_classes(g, &count) : NULL;
    const char     **at = hdx_arena_get(arena, (count + 1) * sizeof *at);
    hdx_buffer       quoted = hdx_buffer_of(NULL);
    for (uint32_t i = 0; classes != NULL && at != NULL && i < count; i++) {
        const char *name = hdx_arena_copy(arena, classes[i].name.at, classes[i].name.len);
        if (name == NULL || strlen(name) != classes[i].name.len || !words_match(pattern, name))
            continue;
        hdx_buffer_clear(&quoted);
        cli_put_name(&quoted, name);
        if (!quoted.failed && (at[n] = hdx_arena_copy(arena, quoted.at, (size_t)quoted.len)) != NULL)
            n++;
    }
    if (n > 0)
        qsort(at, n, sizeof *at, by_name);
    for (size_t i = 0; i < n; i++)
        if (once == 0 || strcmp(at[i], at[once - 1]) != 0)
            at[once++] = at[i];
    if (once > 0)
        cli_words_put(out, at, once, width);
    hdx_buffer_free(&quoted);
}

static void dot_tables(shell *s, const char *argument, hdx_error *err)
{
    cli_words      words;
    hdx_buffer     text = hdx_buffer_of(NULL);
    const unsigned terminal = cli_terminal_width(STDOUT_FILENO), width = terminal != 0 ? terminal : 80;
    hdx_pattern    pattern;
    size_t         n = 0;
    cli_words_tables(&words, s->sql, "");
    if (*argument == '\0') {
        cli_words_put(&text, words.at, words.count, width);
        hdx_buffer_text(&text,
                        "and one for each class, \"java.util.HashMap\", or with its "
                        "subclasses,\n\"instanceof java.util.AbstractMap\"; .tables java.util.* lists some of them\n");
    } else {
        s->code = hdx_pattern_open(&pattern, argument, NULL, NULL, err);
        for (size_t i = 0; s->code == HDX_OK && i < words.count; i++)
            if (words_match(&pattern, words.at[i]))
                words.at[n++] = words.at[i];
        if (n > 0)
            cli_words_put(&text, words.at, n, width);
        if (s->code == HDX_OK)
            put_classes(&text, s, &pattern, &words.arena, width);
        hdx_pattern_close(&pattern);
    }
    put_buffer(s, &text);
    cli_words_free(&words);
}

static void put_column(void *context, const char *name, const char *more)
{
    hdx_buffer line = hdx_buffer_of(NULL), quoted = hdx_buffer_of(NULL);
    cli_put_name(&quoted, name);
    hdx_buffer_text(&line, "  ");
    if (!quoted.failed)
        cli_put_plain(&line, quoted.at, (size_t)quoted.len);
    hdx_buffer_format(&line, "%*s%s\n", quoted.len < 22 ? (int)(24 - quoted.len) : 2, "", more);
    hdx_buffer_free(&quoted);
    put_buffer(context, &line);
}

static void put_quoted(hdx_buffer *out, const char *text)
{
    hdx_buffer_text(out, "'");
    for (; *text != '\0'; text++)
        hdx_buffer_put(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    hdx_buffer_text(out, "'");
}

/* Splits a name, quoted or not, from the schema before it. */
static void split_name(char *name, const char **schema, char **table)
{
    char *dot = *name == '"' ? NULL : strchr(name, '.');
    *schema = NULL;
    *table = name;
    if (dot != NULL && (dot[1] == '"' || strchr(dot + 1, '.') == NULL)) {
        *dot = '\0';
        *schema = name;
        *table = dot + 1;
    }
    const size_t len = strlen(*table);
    if (len >= 2 && (*table)[0] == '"' && (*table)[len - 1] == '"') {
        (*table)[len - 1] = '\0';
        ++*table;
    }
}

static void describe(shell *s, const char *schema, const char *table)
{
    hdx_buffer name = hdx_buffer_of(NULL), statement = hdx_buffer_of(NULL);
    hdx_rows  *rows = NULL;
    hdx_error  err = { .offset = HDX_NOWHERE };
    if (schema != NULL) {
        cli_put_name(&name, schema);
        hdx_buffer_text(&name, ".");
    }
    cli_put_name(&name, table);
    hdx_buffer_format(&statement, "SELECT 1 FROM %s LIMIT 0", name.at != NULL ? name.at : "");
    const hdx_code code = name.failed || statement.failed ? hdx_no_memory(&err, "a name", 0)
                                                          : hdx_sql_run(s->sql, statement.at, NULL, &rows, &err);
    hdx_rows_close(rows);
    if (code != HDX_OK) {
        err.offset = HDX_NOWHERE;
        report_error(s, code, &err);
    } else {
        hdx_buffer head = hdx_buffer_of(NULL);
        cli_put_plain(&head, name.at, (size_t)name.len);
        hdx_buffer_text(&head, "\n");
        put_buffer(s, &head);
        hdx_buffer_clear(&statement);
        hdx_buffer_text(&statement,
                        "SELECT name, ltrim(lower(type) || iif(hidden, ' (not in *)', '')) FROM pragma_table_xinfo(");
        put_quoted(&statement, table);
        if (schema != NULL) {
            hdx_buffer_text(&statement, ", ");
            put_quoted(&statement, schema);
        }
        hdx_buffer_text(&statement, ")");
        if (!statement.failed)
            cli_sql_each(s->sql, statement.at, put_column, s);
    }
    hdx_buffer_free(&name);
    hdx_buffer_free(&statement);
}

static void dot_schema(shell *s, const char *argument, hdx_error *err)
{
    cli_words words;
    (void)err;
    cli_words_tables(&words, s->sql, "");
    for (size_t i = 0; i < (*argument != '\0' ? 1 : words.count); i++) {
        const char *text = *argument != '\0' ? argument : words.at[i], *schema;
        char       *copy = hdx_arena_copy(&words.arena, text, strlen(text)), *table;
        if (copy == NULL)
            break;
        split_name(copy, &schema, &table);
        if (*argument != '\0' || schema == NULL)
            describe(s, schema, table);
    }
    cli_words_free(&words);
}

static void wrong_argument(shell *s, hdx_error *err, const char *format, const char *what)
{
    char message[200];
    (void)snprintf(message, sizeof message, format, what);
    s->code = hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%s", message);
}

static void dot_timer(shell *s, const char *argument, hdx_error *err)
{
    const bool on = strcmp(argument, "on") == 0;
    if (!on && strcmp(argument, "off") != 0)
        wrong_argument(s, err, ".timer on, or .timer off%s", "");
    else
        s->timer = on;
}

static const char *const modes[] = { "table", "json", "jsonl", "csv", "tsv" };

static void dot_mode(shell *s, const char *argument, hdx_error *err)
{
    static const hdx_format formats[] = { HDX_FORMAT_TABLE, HDX_FORMAT_JSON, HDX_FORMAT_JSONL, HDX_FORMAT_CSV,
                                          HDX_FORMAT_TSV };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argument, modes[i]) == 0) {
            s->shape.format = formats[i];
            return;
        }
    wrong_argument(s, err, ".mode '%.60s': expected table, json, jsonl, csv or tsv", argument);
}

static void dot_limit(shell *s, const char *argument, hdx_error *err)
{
    char          *end;
    const uint64_t n = strtoull(argument, &end, 10);
    if (*argument < '0' || *argument > '9' || *end != '\0') {
        wrong_argument(s, err, ".limit '%.60s': expected a number; 0 shows all", argument);
        return;
    }
    s->shape.limit = n;
    s->limited = true;
}

/* Commits the current output and opens another file, or the terminal. */
static void dot_output(shell *s, const char *argument, hdx_error *err)
{
    cli_output *o = s->run->output;
    s->code = cli_output_commit(o, err);
    cli_output_drop(o);
    if (s->code == HDX_OK)
        s->code = cli_output_open(o, *argument != '\0' ? argument : NULL, &s->run->inputs, err);
    if (s->code != HDX_OK) {
        hdx_error ignored;
        cli_output_drop(o);
        (void)cli_output_open(o, NULL, &s->run->inputs, &ignored);
    }
    cli_pager none = { .command = NULL };
    cli_output_show(o, s->run->console, &none);
    s->shape.apart = false;
}

static void dot_quit(shell *s, const char *argument, hdx_error *err)
{
    (void)argument;
    (void)err;
    s->left = true;
}

static void dot_help(shell *s, const char *argument, hdx_error *err);

static const struct dot {
    const char *name, *argument;
    void (*run)(shell *s, const char *argument, hdx_error *err);
    const char *sentence;
} dots[] = {
    { ".help", "", dot_help, "this" },
    { ".tables", "[PATTERN]", dot_tables, "list tables; a pattern (java.util.*) adds those of classes" },
    { ".schema", "[TABLE]", dot_schema, "list the columns of a table, or of all tables" },
    { ".mode", "FORMAT", dot_mode, "set the format: table, json, jsonl, csv or tsv" },
    { ".limit", "N", dot_limit, "set the number of rows to show; 0 shows all" },
    { ".output", "[FILE]", dot_output, "write to a file; without a name, to the terminal again" },
    { ".timer", "on|off", dot_timer, "show the time that each statement takes" },
    { ".quit", "", dot_quit, "leave the shell; Ctrl-D does the same" },
};
#define DOTS (sizeof dots / sizeof *dots)

static void dot_help(shell *s, const char *argument, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    (void)argument;
    (void)err;
    for (size_t i = 0; i < DOTS; i++)
        hdx_buffer_format(&text, "  %-8s %-10s %s\n", dots[i].name, dots[i].argument, dots[i].sentence);
    hdx_buffer_text(&text, "A statement ends with a semicolon. Tab completes, Ctrl-C ends a statement.\n"
                           "  SELECT name, live_instances, live_bytes FROM classes ORDER BY 3 DESC LIMIT 9;\n"
                           "  SELECT id, class, retained FROM objects ORDER BY retained DESC LIMIT 9;\n"
                           "  SELECT count(*), sum(\"@shallow\") FROM \"java.util.ArrayList\" WHERE size = 0;\n");
    put_buffer(s, &text);
}

static void run_dot(shell *s, char *line)
{
    hdx_error    err = { .offset = HDX_NOWHERE };
    const size_t name = strcspn(line, " \t");
    char        *argument = line + name + strspn(line + name, " \t");
    size_t       len = strlen(argument);
    while (len > 0 && (argument[len - 1] == ' ' || argument[len - 1] == '\t' || argument[len - 1] == ';'))
        argument[--len] = '\0';
    hdx_nearest near = { .wanted = line };
    line[name] = '\0';
    s->code = HDX_OK;
    for (size_t i = 0; i < DOTS; i++) {
        hdx_nearest_offer(&near, dots[i].name);
        if (strcmp(line, dots[i].name) != 0)
            continue;
        if (dots[i].argument[0] == '\0' && *argument != '\0')
            wrong_argument(s, &err, "%s takes no argument", dots[i].name);
        else
            dots[i].run(s, argument, &err);
        if (s->code != HDX_OK)
            report_error(s, s->code, &err);
        s->code = HDX_OK;
        flush(s, &err);
        return;
    }
    if (strcmp(line, ".exit") == 0) {
        s->left = true;
        return;
    }
    wrong_argument(s, &err, "unknown command %.60s", line);
    (void)hdx_hint(&err, s->code, near.best != NULL ? "did you mean %s?" : ".help lists the commands", near.best);
    report_error(s, s->code, &err);
    s->code = HDX_OK;
}

/* ---- completion ---- */

static void words_at(shell *s, cli_words *w, const char *before, size_t len)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    if (s->pending.len > 0)
        hdx_buffer_put(&text, s->pending.at, s->pending.len);
    hdx_buffer_put(&text, before, len);
    const char  *line = text.failed || text.at == NULL ? "" : text.at;
    const size_t name = strcspn(line, " ");
    if (line[0] != '.') {
        cli_words_at(w, s->run, s->sql, line);
    } else if (line[name] == '\0') {
        char list[128] = "";
        for (size_t i = 0; i < DOTS; i++)
            (void)snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i > 0 ? " " : "", dots[i].name);
        cli_words_among(w, line, list);
    } else {
        const char *argument = line + name + strspn(line + name, " ");
        if (strncmp(line, ".mode ", 6) == 0)
            cli_words_among(w, argument, "table json jsonl csv tsv");
        else if (strncmp(line, ".timer ", 7) == 0)
            cli_words_among(w, argument, "on off");
        else if (strncmp(line, ".schema ", 8) == 0 && *argument != '"')
            cli_words_tables(w, s->sql, argument);
        else if (strncmp(line, ".schema ", 8) == 0)
            cli_words_at(w, s->run, s->sql, argument);
        else
            cli_words_among(w, argument, "");
    }
    w->wanted = hdx_arena_copy(&w->arena, w->wanted, w->len); /* the line is freed */
    hdx_buffer_free(&text);
}

static bool complete(void *context, const char *before, size_t len, cli_line_more *more)
{
    shell         *s = context;
    cli_words      w;
    const unsigned width = cli_terminal_width(STDOUT_FILENO);
    bool           any = false;
    words_at(s, &w, before, len);
    const size_t common = cli_words_common(&w);
    hdx_buffer_clear(&s->offer);
    if (w.wanted != NULL && w.count > 0 && (common > w.len || w.count == 1)) {
        const char last = common > 0 ? w.at[0][common - 1] : '\0';
        hdx_buffer_put(&s->offer, w.at[0], common);
        if (w.count == 1 && strchr(".( \"'", last) == NULL)
            hdx_buffer_text(&s->offer, " ");
        for (size_t i = 0; i < w.len; i++)
            more->drop += (w.wanted[i] & 0xc0) != 0x80;
        more->insert = s->offer.failed ? NULL : s->offer.at;
        any = more->insert != NULL;
    } else if (w.count > 1) {
        hdx_buffer text = hdx_buffer_of(NULL);
        hdx_buffer_text(&text, "\n");
        cli_words_put(&text, w.at, w.count, width != 0 ? width : 80);
        if (!text.failed)
            (void)!write(STDOUT_FILENO, text.at, (size_t)text.len);
        hdx_buffer_free(&text);
        any = true;
    }
    cli_words_free(&w);
    return any;
}

/* ---- the loop ---- */

/* Returns a path in the user's state folder, which is created if it is missing; NULL: none. */
static const char *history_path(hdx_arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const bool  own = state != NULL && state[0] == '/';
    char        path[4096];
    if (!own && (home == NULL || home[0] != '/'))
        return NULL;
    const int len =
        snprintf(path, sizeof path, "%s%s/heapdex/sql_history", own ? state : home, own ? "" : "/.local/state");
    if (len < 0 || (size_t)len >= sizeof path)
        return NULL;
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            return NULL;
        *slash = '/';
    }
    return hdx_arena_copy(arena, path, (size_t)len);
}

static void put_greeting(shell *s)
{
    hdx_graph               *g = cli_sql_graph(s->run, "main");
    const hdx_graph_summary *sum = g != NULL ? hdx_graph_summary_of(g) : NULL;
    const hdx_render_options options = { .human_sizes = true };
    hdx_buffer               text = hdx_buffer_of(NULL);
    hdx_buffer_text(&text, "SQL over ");
    cli_put_plain(&text, s->run->call->index.dump, strlen(s->run->call->index.dump));
    if (sum != NULL) {
        const hdx_cell objects = { .kind = HDX_CELL_UINT, .as.natural = sum->live_objects },
                       classes = { .kind = HDX_CELL_UINT, .as.natural = sum->live_classes };
        hdx_buffer_text(&text, "\n");
        cli_put_value(&text, &objects, HDX_UNIT_COUNT, &options);
        hdx_buffer_text(&text, " live objects of ");
        cli_put_value(&text, &classes, HDX_UNIT_COUNT, &options);
        hdx_buffer_text(&text, " classes");
    }
    hdx_buffer_text(&text, "\nEnd a statement with a semicolon; .help shows more, Ctrl-D leaves.\n");
    put_buffer(s, &text);
}

static void forget_pending(shell *s)
{
    hdx_buffer_clear(&s->pending);
    s->within = '\0';
    s->ended = false;
}

/* Updates `within` and `ended` for a new line without reading earlier lines again. */
static void scan_line(shell *s, const char *line)
{
    for (const char *p = line; *p != '\0'; p++) {
        if (s->within == '*') {
            if (p[0] == '*' && p[1] == '/') {
                s->within = '\0';
                p++;
            }
        } else if (s->within != '\0') {
            s->within = *p == (s->within == '[' ? ']' : s->within) ? '\0' : s->within;
        } else if (p[0] == '-' && p[1] == '-') {
            return;
        } else if (p[0] == '/' && p[1] == '*') {
            s->within = '*';
            p++;
        } else if (strchr(" \t\r\n\f", *p) == NULL) {
            s->ended = *p == ';';
            s->within = strchr("'\"`[", *p) != NULL ? *p : '\0';
        }
    }
}

/* Adds the statement to the history, as one line unless a comment ends at a line end. */
static void remember(shell *s)
{
    char *text = s->pending.at;
    while (s->pending.len > 0 && text[s->pending.len - 1] == '\n')
        text[--s->pending.len] = '\0';
    const bool comments = strstr(text, "--") != NULL;
    for (char *p = text; !comments && *p != '\0'; p++)
        if (*p == '\n')
            *p = ' ';
    cli_line_remember(s->line, text);
}

static void handle_line(shell *s, hdx_buffer *line)
{
    static const char *const habits[][2] = { { "help", ".help" }, { "quit", ".quit" }, { "exit", ".quit" } };
    char                    *text = line->at != NULL ? line->at : "";
    if (s->pending.len == 0 && text[strspn(text, " \t")] == '\0')
        return;
    for (size_t i = 0; s->pending.len == 0 && i < sizeof habits / sizeof *habits; i++)
        if (strcmp(text, habits[i][0]) == 0) {
            char dot[8];
            (void)snprintf(dot, sizeof dot, "%s", habits[i][1]);
            run_dot(s, dot);
            return;
        }
    if (s->pending.len == 0 && text[0] == '.') {
        cli_line_remember(s->line, text);
        run_dot(s, text);
        return;
    }
    hdx_buffer_put(&s->pending, text, line->len);
    hdx_buffer_text(&s->pending, "\n");
    scan_line(s, text);
    if (s->pending.failed || !s->ended || s->within != '\0' || !hdx_sql_complete(s->pending.at))
        return;
    run_text(s, s->pending.at);
    remember(s);
    forget_pending(s);
}

static void loop(shell *s)
{
    hdx_buffer line = hdx_buffer_of(NULL);
    while (!s->left && !s->pending.failed && !line.failed) {
        hdx_buffer_clear(&line);
        const cli_line_end end = cli_line_read(s->line, s->pending.len == 0 ? "heapdex> " : "    ...> ", &line);
        if (end == CLI_LINE_WHOLE) {
            handle_line(s, &line);
            continue;
        }
        (void)!write(STDOUT_FILENO, "\n", 1);
        forget_pending(s);
        s->left = end == CLI_LINE_OVER;
    }
    if (cli_signal() != 0)
        s->code = HDX_CANCELLED;
    hdx_buffer_free(&line);
}

hdx_code cli_shell(cli_run *run, hdx_sql *sql, hdx_error *err)
{
    const bool limited = cli_given(run->call, "limit") != NULL;
    shell      s = { .run = run,
                     .sql = sql,
                     .pending = hdx_buffer_of(NULL),
                     .offer = hdx_buffer_of(NULL),
                     .limited = limited,
                     .shape = { .format = run->call->format,
                                .limit = limited ? cli_given_number(run->call, "limit") : CLI_TABLE_ROWS,
                                .patience_ms = PATIENCE_MS,
                                .rest = ".limit 0 shows all" } };
    run->output->pager = NULL; /* the shell reads the keys */
    s.line = cli_line_open(history_path(&run->arena), complete, &s);
    if (s.line == NULL)
        return hdx_no_memory(err, "a shell", sizeof s);
    cli_set_shell_sql(sql);
    put_greeting(&s);
    flush(&s, err);
    loop(&s);
    cli_set_shell_sql(NULL);
    cli_line_close(s.line);
    hdx_buffer_free(&s.pending);
    hdx_buffer_free(&s.offer);
    if (s.code == HDX_CANCELLED)
        return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "interrupted");
    return s.code;
}
