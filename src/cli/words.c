/*
 * words.c - completes a statement: words of SQL, tables, columns, functions and classes.
 *
 * In:  a statement up to the cursor.
 * Out: the words that are valid at the cursor.
 * An incomplete statement cannot be parsed, so the text before the cursor is split into tokens, and the names after
 * FROM and JOIN are the tables. All names are queried from SQLite.
 */
#include "cli/offers.h"
#include "cli/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const char keywords[] =
    "ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CREATE CROSS DELETE DESC DISTINCT DROP ELSE END ESCAPE EXCEPT EXISTS "
    "EXPLAIN FILTER FROM GLOB GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT MATERIALIZED NATURAL "
    "NOT NULL NULLS OFFSET ON OR ORDER OVER PARTITION PLAN PRAGMA QUERY RECURSIVE REGEXP SELECT SET TABLE TEMP THEN "
    "UNION UPDATE USING VALUES VIEW WHEN WHERE WITH";
/* The other words that must be quoted if they are names. */
static const char reserved[] =
    "ADD ALTER AUTOINCREMENT CHECK COMMIT CONSTRAINT DEFAULT DEFERRABLE FOREIGN INDEX ISNULL NOTHING NOTNULL PRIMARY "
    "RAISE REFERENCES RETURNING TO TRANSACTION UNIQUE";

/* ---- a list of words ---- */

static void add(cli_words *w, const char *text, size_t len, const char *suffix)
{
    const size_t after = strlen(suffix);
    const size_t quote = text[0] == '"' && w->wanted[0] != '"'; /* a quoted name may be typed without quotes */
    const char  *name = text + quote;
    if (len - quote + after < w->len ||
        (w->exact ? strncmp(name, w->wanted, w->len) : strncasecmp(name, w->wanted, w->len)))
        return;
    if (w->count == w->room) {
        const size_t room = w->room == 0 ? 256 : 2 * w->room;
        const char **more = hdx_arena_get(&w->arena, room * sizeof *more);
        if (more == NULL)
            return;
        if (w->count > 0)
            memcpy(more, w->at, w->count * sizeof *more);
        w->at = more;
        w->room = room;
    }
    char *copy = hdx_arena_get(&w->arena, len + after + 1);
    if (copy == NULL)
        return;
    memcpy(copy, text, len);
    memcpy(copy + len, suffix, after + 1);
    for (size_t i = 0; i < len + after; i++)
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
            return; /* would control the terminal */
    w->at[w->count++] = copy;
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    const int          order = strcasecmp(*x, *y);
    return order != 0 ? order : strcmp(*x, *y);
}

static void sort(cli_words *w)
{
    size_t unique = 0;
    if (w->count > 0)
        qsort(w->at, w->count, sizeof *w->at, by_name);
    for (size_t i = 0; i < w->count; i++)
        if (unique == 0 || strcmp(w->at[i], w->at[unique - 1]) != 0)
            w->at[unique++] = w->at[i];
    w->count = unique;
}

static cli_words words_of(const char *wanted)
{
    return (cli_words){ .arena = hdx_arena_of(NULL), .wanted = wanted, .len = strlen(wanted) };
}

void cli_words_free(cli_words *w) { hdx_arena_free(&w->arena); }

void cli_words_among(cli_words *w, const char *text, const char *list)
{
    *w = words_of(text);
    for (size_t len; *list != '\0'; list += len + (list[len] == ' ')) {
        len = strcspn(list, " ");
        add(w, list, len, "");
    }
    sort(w);
}

size_t cli_words_common(const cli_words *w)
{
    size_t len = w->count == 0 ? 0 : strlen(w->at[0]);
    for (size_t i = 1; i < w->count; i++) {
        size_t same = 0;
        while (same < len && strncasecmp(w->at[0] + same, w->at[i] + same, 1) == 0)
            same++;
        len = same;
    }
    while (len > 0 && (w->at[0][len] & 0xc0) == 0x80) /* not within a UTF-8 sequence */
        len--;
    return len;
}

void cli_words_put(hdx_buffer *out, const char *const *at, size_t count, unsigned width)
{
    size_t widest = 1, columns, lines;
    for (size_t i = 0; i < count; i++)
        widest = strlen(at[i]) > widest ? strlen(at[i]) : widest;
    columns = width > widest + 2 ? (width - 1) / (widest + 2) : 1;
    lines = (count + columns - 1) / columns;
    for (size_t i = 0; i < lines; i++) {
        for (size_t k = i; k < count; k += lines) {
            cli_put_plain(out, at[k], strlen(at[k]));
            if (k + lines < count)
                hdx_buffer_format(out, "%*s", (int)(widest + 2 - strlen(at[k])), "");
        }
        hdx_buffer_text(out, "\n");
    }
}

/* ---- queries on the connection ---- */

static const char *text_of(hdx_buffer *to, const hdx_cell *cell)
{
    hdx_buffer_clear(to);
    hdx_buffer_text(to, "");
    if (cell->kind == HDX_CELL_TEXT)
        hdx_buffer_put(to, cell->as.text.at, cell->as.text.len);
    else if (cell->kind == HDX_CELL_INT)
        hdx_buffer_format(to, "%lld", (long long)cell->as.integer);
    return to->at != NULL && !to->failed ? to->at : "";
}

void cli_sql_each(hdx_sql *sql, const char *statement, cli_sql_take *take, void *context)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    unsigned        columns = 0;
    hdx_buffer      first = hdx_buffer_of(NULL), second = hdx_buffer_of(NULL);
    hdx_error       ignored;
    if (hdx_sql_run(sql, statement, NULL, &rows, &ignored) == HDX_OK && rows != NULL) {
        (void)hdx_rows_columns(rows, &columns);
        while (hdx_rows_next(rows, &cells))
            take(context, text_of(&first, &cells[0]), columns > 1 ? text_of(&second, &cells[1]) : "");
    }
    hdx_rows_close(rows);
    hdx_buffer_free(&first);
    hdx_buffer_free(&second);
}

static bool is_among(const char *words, const char *name, size_t len)
{
    for (const char *w = words; *w != '\0'; w += strcspn(w, " ") + (w[strcspn(w, " ")] == ' '))
        if (strcspn(w, " ") == len && strncasecmp(w, name, len) == 0)
            return true;
    return false;
}

static bool is_plain(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t      len = strlen(name);
    return len > 0 && !(name[0] >= '0' && name[0] <= '9') && name[strspn(name, letters)] == '\0' &&
           !is_among(keywords, name, len) && !is_among(reserved, name, len);
}

void cli_put_name(hdx_buffer *out, const char *name)
{
    if (is_plain(name)) {
        hdx_buffer_text(out, name);
        return;
    }
    hdx_buffer_text(out, "\"");
    for (; *name != '\0'; name++)
        hdx_buffer_put(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    hdx_buffer_text(out, "\"");
}

/* Appends a text in single quotes. */
static void put_text(hdx_buffer *out, const char *text)
{
    hdx_buffer_text(out, "'");
    for (; *text != '\0'; text++)
        hdx_buffer_put(out, *text == '\'' ? "''" : text, *text == '\'' ? 2 : 1);
    hdx_buffer_text(out, "'");
}

/* ---- the tokens of a statement ---- */

typedef enum token_kind { WORD, NAME, TEXT, OPEN_NAME, OPEN_TEXT, DOT, OTHER } token_kind;
typedef struct token {
    token_kind  kind;
    const char *at; /* without its quotes; a copy that ends in a NUL */
} token;
typedef struct tokens {
    token *at;
    size_t count;
    bool   touches; /* the last one reaches the cursor */
} tokens;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static const char *quoted(hdx_arena *arena, const char **text, token_kind *kind)
{
    const char  quote = **text;
    const char *p = *text + 1, *from = p;
    while (*p != '\0' && *p != quote)
        p++;
    *kind = *p == quote ? (quote == '\'' ? TEXT : NAME) : quote == '\'' ? OPEN_TEXT : OPEN_NAME;
    *text = *p == quote ? p + 1 : p;
    return hdx_arena_copy(arena, from, (size_t)(p - from));
}

static tokens tokens_of(hdx_arena *arena, const char *text)
{
    tokens t = { .at = hdx_arena_get(arena, (strlen(text) + 1) * sizeof *t.at) };
    while (t.at != NULL && *text != '\0') {
        const char *from = text;
        token      *next = &t.at[t.count];
        t.touches = false;
        if (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r') {
            text++;
            continue;
        }
        if (text[0] == '-' && text[1] == '-') {
            text += strcspn(text, "\n");
            continue;
        }
        t.touches = true;
        if (*text == '\'' || *text == '"') {
            next->at = quoted(arena, &text, &next->kind);
        } else if (is_letter(*text)) {
            while (is_letter(*text))
                text++;
            *next = (token){ WORD, hdx_arena_copy(arena, from, (size_t)(text - from)) };
        } else {
            *next = (token){ *text == '.' ? DOT : OTHER, hdx_arena_copy(arena, text, 1) };
            text++;
        }
        if (next->at == NULL)
            break;
        t.count++;
    }
    return t;
}

static bool is_word(const tokens *t, size_t i, const char *word)
{
    return i < t->count && t->at[i].kind == WORD && strcasecmp(t->at[i].at, word) == 0;
}

static bool is_name(const tokens *t, size_t i)
{
    return i < t->count && (t->at[i].kind == NAME || t->at[i].kind == WORD);
}

/* ---- tables and their columns ---- */

typedef struct name_target { /* where and how names are added */
    cli_words  *words;
    const char *schema; /* NULL or "": none */
    const char *suffix;
    hdx_buffer  text;
} name_target;

static void add_name(void *context, const char *text, const char *more)
{
    name_target *n = context;
    (void)more;
    hdx_buffer_clear(&n->text);
    if (n->schema != NULL && *n->schema != '\0') {
        cli_put_name(&n->text, n->schema);
        hdx_buffer_text(&n->text, ".");
    }
    cli_put_name(&n->text, text);
    if (!n->text.failed)
        add(n->words, n->text.at, (size_t)n->text.len, n->suffix);
}

static void add_names(cli_words *w, hdx_sql *sql, const char *statement, const char *schema, const char *suffix)
{
    name_target n = { w, schema, suffix, hdx_buffer_of(NULL) };
    cli_sql_each(sql, statement, add_name, &n);
    hdx_buffer_free(&n.text);
}

/* Adds the tables of a schema, except those of classes: these are too many and are only offered after a quote. */
static void add_tables(cli_words *w, hdx_sql *sql, const char *schema, bool with_schema)
{
    hdx_buffer statement = hdx_buffer_of(NULL);
    hdx_buffer_text(&statement, "SELECT name FROM ");
    cli_put_name(&statement, schema);
    hdx_buffer_text(&statement, ".sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE "
                                "'\\' AND sql NOT LIKE '%USING heapdex_class%'");
    if (!statement.failed)
        add_names(w, sql, statement.at, with_schema ? schema : NULL, "");
    hdx_buffer_free(&statement);
}

typedef struct schemas {
    hdx_arena   arena;
    const char *at[16];
    size_t      count;
} schemas;

static void add_schema(void *context, const char *text, const char *more)
{
    schemas *s = context;
    (void)more;
    if (s->count < sizeof s->at / sizeof *s->at && (s->at[s->count] = hdx_arena_copy(&s->arena, text, strlen(text))))
        s->count++;
}

static void add_all_tables(cli_words *w, hdx_sql *sql)
{
    schemas s = { .arena = hdx_arena_of(NULL) };
    cli_sql_each(sql, "SELECT name FROM pragma_database_list", add_schema, &s);
    for (size_t i = 0; i < s.count; i++)
        add_tables(w, sql, s.at[i], strcmp(s.at[i], "main") != 0 && strcmp(s.at[i], "temp") != 0);
    add_tables(w, sql, "temp", false); /* the list lacks it until its first table exists */
    hdx_arena_free(&s.arena);
}

void cli_words_tables(cli_words *w, hdx_sql *sql, const char *text)
{
    *w = words_of(text);
    add_all_tables(w, sql);
    sort(w);
}

static void add_columns(cli_words *w, hdx_sql *sql, const char *schema, const char *table)
{
    hdx_buffer statement = hdx_buffer_of(NULL);
    hdx_rows  *rows = NULL;
    hdx_error  ignored;
    hdx_buffer_text(&statement, "SELECT 1 FROM ");
    if (schema != NULL) {
        cli_put_name(&statement, schema);
        hdx_buffer_text(&statement, ".");
    }
    cli_put_name(&statement, table);
    hdx_buffer_text(&statement, " LIMIT 0"); /* creates the table of a class if it is one */
    if (!statement.failed)
        (void)hdx_sql_run(sql, statement.at, NULL, &rows, &ignored);
    hdx_rows_close(rows);
    hdx_buffer_clear(&statement);
    hdx_buffer_text(&statement, "SELECT name FROM pragma_table_xinfo(");
    put_text(&statement, table);
    if (schema != NULL) {
        hdx_buffer_text(&statement, ", ");
        put_text(&statement, schema);
    }
    hdx_buffer_text(&statement, ")");
    if (!statement.failed)
        add_names(w, sql, statement.at, NULL, "");
    hdx_buffer_free(&statement);
}

/* Adds the columns of the table whose name ends at token i, after its schema. */
static void add_columns_at(cli_words *w, hdx_sql *sql, const tokens *t, size_t i)
{
    const char *schema = i >= 2 && t->at[i - 1].kind == DOT && is_name(t, i - 2) ? t->at[i - 2].at : NULL;
    add_columns(w, sql, schema, t->at[i].at);
}

static bool begins_table(const tokens *t, size_t i)
{
    return is_word(t, i, "FROM") || is_word(t, i, "JOIN") || is_word(t, i, "UPDATE") || is_word(t, i, "INTO");
}

/* Returns the token at which the name of the table after FROM or JOIN ends. */
static size_t table_after(const tokens *t, size_t i)
{
    i++;
    return i + 2 < t->count && t->at[i + 1].kind == DOT && is_name(t, i + 2) ? i + 2 : i;
}

/* Adds the columns of the table or alias before a dot. */
static void add_columns_of_alias(cli_words *w, hdx_sql *sql, const tokens *t, const char *alias)
{
    for (size_t i = 0; i < t->count; i++) {
        const size_t table = table_after(t, i);
        if (!begins_table(t, i) || !is_name(t, table))
            continue;
        const size_t other = is_word(t, table + 1, "AS") ? table + 2 : table + 1;
        if (strcasecmp(t->at[table].at, alias) == 0 || (is_name(t, other) && strcasecmp(t->at[other].at, alias) == 0)) {
            add_columns_at(w, sql, t, table);
            return;
        }
    }
    add_columns(w, sql, NULL, alias); /* the statement has no FROM yet */
}

/* ---- at the cursor ---- */

/* Adds names of classes after an open quote, as tables or as texts. */
static void add_classes_at(cli_words *w, cli_run *run, const tokens *t, const char *quote)
{
    static const char instance_of[] = "instanceof ";
    const size_t      last = t->count - 1;
    const char *schema = last >= 2 && t->at[last - 1].kind == DOT && is_name(t, last - 2) ? t->at[last - 2].at : "main";
    hdx_graph  *g = cli_sql_graph(run, schema);
    const bool  with = strncmp(w->wanted, instance_of, sizeof instance_of - 1) == 0;
    cli_offers  o = { .arena = hdx_arena_of(NULL), .wanted = w->wanted };
    w->exact = true;
    if (g != NULL)
        cli_offer_classes_of(&o, g, with ? instance_of : "", w->wanted + (with ? sizeof instance_of - 1 : 0), quote);
    for (size_t i = 0; i < o.count; i++)
        add(w, o.at[i].text, strlen(o.at[i].text), "");
    if (*quote == '"')
        add(w, instance_of, sizeof instance_of - 1, "");
    cli_offers_free(&o);
}

static void add_keywords(cli_words *w)
{
    for (const char *k = keywords; *k != '\0'; k += strcspn(k, " ") + (k[strcspn(k, " ")] == ' ')) {
        char         word[16];
        const size_t len = strcspn(k, " ");
        for (size_t i = 0; i < len; i++)
            word[i] = (char)(w->lower ? k[i] | 0x20 : k[i]);
        add(w, word, len, "");
    }
}

static void add_anything(cli_words *w, hdx_sql *sql, const tokens *t, size_t end)
{
    bool any = false;
    if (end > 0 && begins_table(t, end - 1)) {
        add_all_tables(w, sql);
        add_names(w, sql, "SELECT name FROM pragma_database_list WHERE seq > 1", NULL, ".");
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        if (begins_table(t, i) && is_name(t, table_after(t, i))) {
            add_columns_at(w, sql, t, table_after(t, i));
            any = true;
        }
    if (w->len == 0)
        return;
    if (!any)
        add_columns(w, sql, "main", "objects");
    add_all_tables(w, sql);
    add_keywords(w);
    add_names(w, sql,
              "SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z]*' AND name NOT LIKE 'sqlite%'",
              NULL, "(");
}

void cli_words_at(cli_words *w, cli_run *run, hdx_sql *sql, const char *text)
{
    *w = words_of("");
    const tokens t = tokens_of(&w->arena, text);
    const token *last = t.count > 0 && t.touches ? &t.at[t.count - 1] : NULL;
    if (last != NULL && (last->kind == OPEN_NAME || last->kind == OPEN_TEXT || last->kind == WORD)) {
        w->wanted = last->at;
        w->len = strlen(last->at);
    }
    w->lower = w->len > 0 && w->wanted[0] >= 'a' && w->wanted[0] <= 'z';
    const size_t end = w->len > 0 || (last != NULL && last->kind != DOT && last->kind != OTHER) ? t.count - 1 : t.count;
    if (last != NULL && (last->kind == OPEN_NAME || last->kind == OPEN_TEXT))
        add_classes_at(w, run, &t, last->kind == OPEN_NAME ? "\"" : "'");
    else if (end >= 2 && t.at[end - 1].kind == DOT && is_name(&t, end - 2) &&
             (cli_sql_graph(run, t.at[end - 2].at) != NULL || is_word(&t, end - 2, "temp")))
        add_tables(w, sql, t.at[end - 2].at, false);
    else if (end >= 2 && t.at[end - 1].kind == DOT && is_name(&t, end - 2))
        add_columns_of_alias(w, sql, &t, t.at[end - 2].at);
    else if (last == NULL || last->kind != NAME)
        add_anything(w, sql, &t, end);
    sort(w);
}
