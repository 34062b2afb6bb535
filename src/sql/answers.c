/*
 * answers.c - every declared answer about a heap as a table.
 *
 *     SELECT class, kept FROM collections('size') WHERE ...
 *
 * In:  the declaration of an answer: the columns of all its forms, its parameters.
 * Out: a table with the name of the answer, _ for -; NAME_answer if another table has that name. Parameters are hidden
 *      columns in declared order, so that they can be given in parentheses or in WHERE; a parameter with the name of a
 *      column has a _ after its name. Parameters that name files are omitted, because a statement opens no files.
 * Each search of the table runs the answer once, with the columns that the statement uses. Lists and objects in its
 * rows become JSON.
 */
#include "answer/answer.h"
#include "sql/held.h"
#include "sql/made.h"

#include <stdlib.h>

#define PARAMETERS_MAX 28u /* bits of idxNum */

typedef struct answers_vtab {
    sqlite3_vtab          base;
    sql_heap             *heap;
    const hdx_answer     *answer;
    const hdx_column    **columns; /* of all forms, each name once */
    const hdx_parameter **parameters;
    unsigned              column_count, parameter_count;
    char                  name[SQL_ANSWER_NAME];
} answers_vtab;

/* ---- names ---- */

static bool taken(const char *name)
{
    static const char *const other[] = { "objects", "refs", "named_refs" };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(other[i], name) == 0)
            return true;
    for (unsigned i = 0; i < SQL_HELD_TABLES && hdx_sql_held_tables[i].name != NULL; i++)
        if (strcmp(hdx_sql_held_tables[i].name, name) == 0)
            return true;
    return hdx_sql_made_named(name) != NULL;
}

static void table_name_of(const hdx_answer *answer, char name[SQL_ANSWER_NAME])
{
    (void)sqlite3_snprintf((int)SQL_ANSWER_NAME, name, "%s", answer->name);
    for (char *at = name; *at != '\0'; at++)
        *at = *at == '-' ? '_' : *at;
    const size_t len = strlen(name);
    if (taken(name))
        (void)sqlite3_snprintf((int)(SQL_ANSWER_NAME - len), name + len, "_answer");
}

/* Returns an answer about one heap that declares its columns. */
static const hdx_answer *answer_at(size_t place)
{
    size_t                   count;
    const hdx_answer *const *all = hdx_answers(&count);
    for (size_t i = 0; i < count; i++)
        if ((all[i]->flags & (HDX_ANSWER_HEAP | HDX_ANSWER_TOGETHER)) == HDX_ANSWER_HEAP &&
            all[i]->forms[0].column_count > 0 && place-- == 0)
            return all[i];
    return NULL;
}

bool hdx_sql_answer_table(size_t i, char name[SQL_ANSWER_NAME])
{
    const hdx_answer *answer = answer_at(i);
    if (answer != NULL)
        table_name_of(answer, name);
    return answer != NULL;
}

/* ---- columns ---- */

static const char *type_of(const hdx_column *c)
{
    switch (c->type) {
    case HDX_TYPE_ADDRESS: return "ADDRESS";
    case HDX_TYPE_REAL: return "REAL";
    case HDX_TYPE_BOOL: return "INTEGER";
    case HDX_TYPE_UNSIGNED:
    case HDX_TYPE_SIGNED: return c->unit == HDX_UNIT_BYTES ? "SIZE" : c->unit == HDX_UNIT_COUNT ? "COUNT" : "INTEGER";
    case HDX_TYPE_ANY: return "";
    default: return "TEXT";
    }
}

static unsigned column_named(const answers_vtab *t, const char *name)
{
    unsigned i = 0;
    while (i < t->column_count && sqlite3_stricmp(t->columns[i]->name, name) != 0)
        i++;
    return i;
}

static bool collect(answers_vtab *t)
{
    const hdx_answer *a = t->answer;
    unsigned          most = 0;
    for (unsigned f = 0; f < a->form_count; f++)
        most += a->forms[f].column_count;
    t->columns = calloc(most + 1, sizeof(hdx_column *));
    t->parameters = calloc(a->parameter_count + 1, sizeof(hdx_parameter *));
    if (t->columns == NULL || t->parameters == NULL)
        return false;
    /* the last form applies without arguments: its columns come first */
    for (unsigned f = a->form_count; f-- > 0;)
        for (unsigned i = 0; i < a->forms[f].column_count; i++)
            if (column_named(t, a->forms[f].columns[i].name) == t->column_count)
                t->columns[t->column_count++] = &a->forms[f].columns[i];
    for (unsigned i = 0; i < a->parameter_count && t->parameter_count < PARAMETERS_MAX; i++)
        if (a->parameters[i].kind != HDX_PARAMETER_FILE)
            t->parameters[t->parameter_count++] = &a->parameters[i];
    return true;
}

static int declare(sqlite3 *db, const answers_vtab *t)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_text(&text, "CREATE TABLE answer(");
    for (unsigned i = 0; i < t->column_count; i++)
        hdx_buffer_format(&text, "%s\"%s\" %s", i == 0 ? "" : ", ", t->columns[i]->name, type_of(t->columns[i]));
    for (unsigned i = 0; i < t->parameter_count; i++) {
        char name[SQL_ANSWER_NAME];
        (void)sqlite3_snprintf((int)sizeof name, name, "%s", t->parameters[i]->name);
        for (char *at = name; *at != '\0'; at++)
            *at = *at == '-' ? '_' : *at;
        hdx_buffer_format(&text, ", \"%s%s\" HIDDEN", name, column_named(t, name) < t->column_count ? "_" : "");
    }
    hdx_buffer_text(&text, ")");
    const int rc = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text.at);
    hdx_buffer_free(&text);
    return rc;
}

/* ---- tables ---- */

static int answers_disconnect(sqlite3_vtab *vtab)
{
    answers_vtab *t = (answers_vtab *)vtab;
    free(t->columns);
    free(t->parameters);
    free(t);
    return SQLITE_OK;
}

static int answers_connect(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out,
                           char **message)
{
    sql_heap     *heap = count > 2 ? hdx_sql_heap_of(own, words[1]) : NULL;
    answers_vtab *t = calloc(1, sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    for (size_t i = 0; heap != NULL && hdx_sql_answer_table(i, t->name); i++)
        if (sqlite3_stricmp(t->name, words[2]) == 0) {
            t->answer = answer_at(i);
            break;
        }
    t->heap = heap;
    if (t->answer == NULL)
        *message = sqlite3_mprintf("unknown table");
    const int rc = t->answer == NULL ? SQLITE_ERROR : collect(t) ? declare(db, t) : SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        *out = &t->base;
    else
        (void)answers_disconnect(&t->base);
    return rc;
}

static int answers_create(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out,
                          char **message)
{
    return answers_connect(db, own, count, words, out, message);
}

/* ---- plans: "collections(by, class), columns 3f" ---- */

static char *in_words(const answers_vtab *t, int given, sqlite3_uint64 used)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    bool       some = false;
    hdx_buffer_text(&text, t->name);
    for (unsigned i = 0; i < t->parameter_count; i++)
        if (given >> i & 1) {
            hdx_buffer_format(&text, "%s%s", some ? ", " : "(", t->parameters[i]->name);
            some = true;
        }
    if (t->column_count < 63) /* SQLite has one bit for all later columns */
        used &= (1ull << t->column_count) - 1;
    hdx_buffer_format(&text, "%s, columns %llx", some ? ")" : "", used);
    char *words = text.failed ? NULL : sqlite3_mprintf("%s", text.at);
    hdx_buffer_free(&text);
    return words;
}

static int answers_best(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const answers_vtab *t = (const answers_vtab *)vtab;
    int                 at[PARAMETERS_MAX], given = 0, later = 0, place = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const int                              parameter = c->iColumn - (int)t->column_count;
        if (parameter < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!c->usable) {
            later |= 1 << parameter;
        } else if ((given >> parameter & 1) == 0) {
            given |= 1 << parameter;
            at[parameter] = i;
        }
    }
    if ((later & ~given) != 0)
        return SQLITE_CONSTRAINT;
    for (unsigned i = 0; i < t->parameter_count; i++)
        if (given >> i & 1) {
            info->aConstraintUsage[at[i]].argvIndex = ++place;
            info->aConstraintUsage[at[i]].omit = 1;
        }
    info->idxNum = given;
    info->idxStr = in_words(t, given, info->colUsed);
    info->needToFreeIdxStr = 1;
    info->estimatedRows = 1000;
    info->estimatedCost = 1000000; /* the answer must not run for each row of another table */
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- cursors ---- */

typedef struct answers_cursor {
    sqlite3_vtab_cursor base;
    hdx_rows           *rows;
    const hdx_cell     *cells; /* NULL: after the last row */
    /* index in the rows for each column of the table; at least the rows' column count: not in the rows */
    unsigned       *place;
    unsigned        row_columns;
    sqlite3_int64   row;
    sqlite3_value **given; /* values of hidden columns */
} answers_cursor;

static void ask_end(answers_cursor *c)
{
    const answers_vtab *t = (const answers_vtab *)c->base.pVtab;
    hdx_rows_close(c->rows);
    c->rows = NULL;
    c->cells = NULL;
    for (unsigned i = 0; i < t->parameter_count; i++) {
        sqlite3_value_free(c->given[i]);
        c->given[i] = NULL;
    }
}

static int answers_close(sqlite3_vtab_cursor *cursor)
{
    answers_cursor *c = (answers_cursor *)cursor;
    if (c->given != NULL)
        ask_end(c);
    free(c->given);
    free(c->place);
    free(c);
    return SQLITE_OK;
}

static int answers_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    const answers_vtab *t = (const answers_vtab *)vtab;
    answers_cursor     *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->base.pVtab = vtab; /* SQLite sets it, but later */
    c->given = calloc(t->parameter_count + 1, sizeof *c->given);
    c->place = calloc(t->column_count + 1, sizeof *c->place);
    if (c->given == NULL || c->place == NULL) {
        (void)answers_close(&c->base);
        return SQLITE_NOMEM;
    }
    *out = &c->base;
    return SQLITE_OK;
}

/* Converts a value to the text of a command line argument. An object may be given by its id. */
static hdx_code text_of(const hdx_parameter *p, sqlite3_value *value, hdx_arena *arena, const char **out,
                        hdx_error *err)
{
    const char *text = (const char *)sqlite3_value_text(value);
    const bool  number = sqlite3_value_type(value) == SQLITE_INTEGER;
    *out = NULL;
    if (text == NULL)
        return hdx_no_memory(err, "an argument", 0);
    if (number && p->kind == HDX_PARAMETER_FLAG)
        text = sqlite3_value_int64(value) != 0 ? "true" : "false";
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_format(&b, "%s%s", number && p->kind == HDX_PARAMETER_OBJECTS ? "#" : "", text);
    if (!b.failed)
        *out = hdx_arena_copy(arena, b.at, b.len);
    hdx_buffer_free(&b);
    return *out == NULL ? hdx_no_memory(err, "an argument", strlen(text)) : HDX_OK;
}

/* Returns which columns of the form are used. */
static hdx_wanted wanted_of(const answers_vtab *t, const hdx_form *form, uint64_t used)
{
    hdx_wanted w = { 0 };
    if (form->column_count > 64)
        return w;
    for (unsigned i = 0; i < form->column_count; i++) {
        const unsigned column = column_named(t, form->columns[i].name);
        if (used >> (column < 63 ? column : 63) & 1)
            w.columns |= 1ull << i;
    }
    w.columns |= w.columns == 0; /* an empty set would mean all columns */
    w.named = w.columns;         /* a null in place of a column that was not computed would be a wrong result */
    return w;
}

static void find_places(answers_cursor *c, const answers_vtab *t)
{
    const hdx_column *columns = hdx_rows_columns(c->rows, &c->row_columns);
    for (unsigned i = 0; i < t->column_count; i++) {
        unsigned at = 0;
        while (at < c->row_columns && sqlite3_stricmp(columns[at].name, t->columns[i]->name) != 0)
            at++;
        c->place[i] = at;
    }
}

static hdx_code open_rows(answers_cursor *c, const answers_vtab *t, uint64_t used, const hdx_argument *arguments,
                          size_t count, hdx_error *err)
{
    hdx_query           q = t->heap->query;
    const hdx_arguments a = { t->answer, arguments, count };
    q.wanted = wanted_of(t, hdx_arguments_form(&a), used);
    if ((t->answer->flags & HDX_ANSWER_SCOPED) == 0)
        q.scope = HDX_LIVE; /* the answer supports no other scope */
    const hdx_code code = hdx_answer_open(t->heap->db->session, t->answer, &q, arguments, count, &c->rows, err);
    if (code == HDX_OK && c->rows != NULL) {
        hdx_rows_set_progress(c->rows, q.progress);
        find_places(c, t);
    }
    return code;
}

static hdx_code step(answers_cursor *c, hdx_error *err)
{
    if (c->rows == NULL || hdx_rows_next(c->rows, &c->cells))
        return HDX_OK;
    c->cells = NULL;
    return hdx_rows_end(c->rows, err);
}

static int answers_filter(sqlite3_vtab_cursor *cursor, int number, const char *words, int count, sqlite3_value **values)
{
    answers_cursor     *c = (answers_cursor *)cursor;
    const answers_vtab *t = (const answers_vtab *)cursor->pVtab;
    const char         *used = strstr(words, ", columns ");
    hdx_argument        arguments[PARAMETERS_MAX + 1] = { { "document", "false" } };
    size_t              given = 1;
    hdx_arena           arena = hdx_arena_of(NULL);
    hdx_error           err;
    hdx_code            code = HDX_OK;
    int                 place = 0;
    ask_end(c);
    c->row = 0;
    for (unsigned i = 0; code == HDX_OK && i < t->parameter_count; i++) {
        sqlite3_value *value = number >> i & 1 && place < count ? values[place++] : NULL;
        if (value == NULL)
            continue;
        if ((c->given[i] = sqlite3_value_dup(value)) == NULL)
            code = hdx_no_memory(&err, "an argument", 0);
        else if (sqlite3_value_type(value) != SQLITE_NULL) {
            arguments[given].name = t->parameters[i]->name;
            code = text_of(t->parameters[i], value, &arena, &arguments[given++].value, &err);
        }
    }
    if (code == HDX_OK)
        code = open_rows(c, t, used == NULL ? UINT64_MAX : strtoull(used + 10, NULL, 16), arguments, given, &err);
    hdx_arena_free(&arena);
    if (code == HDX_OK)
        code = step(c, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
}

static int answers_next(sqlite3_vtab_cursor *cursor)
{
    answers_cursor     *c = (answers_cursor *)cursor;
    const answers_vtab *t = (const answers_vtab *)cursor->pVtab;
    hdx_error           err;
    c->row++;
    hdx_code code = sql_turn(t->heap->db, &err);
    if (code == HDX_OK)
        code = step(c, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
}

static int answers_eof(sqlite3_vtab_cursor *cursor) { return ((const answers_cursor *)cursor)->cells == NULL; }

static int answers_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const answers_cursor *c = (const answers_cursor *)cursor;
    const answers_vtab   *t = (const answers_vtab *)cursor->pVtab;
    if (column >= (int)t->column_count) {
        if (c->given[column - (int)t->column_count] != NULL)
            sqlite3_result_value(context, c->given[column - (int)t->column_count]);
    } else if (c->place[column] < c->row_columns) {
        hdx_sql_result(context, &c->cells[c->place[column]]);
    }
    return SQLITE_OK; /* the answer's form lacks the column: null */
}

static int answers_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
    *row = ((const answers_cursor *)cursor)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = answers_create,
    .xConnect = answers_connect,
    .xBestIndex = answers_best,
    .xDisconnect = answers_disconnect,
    .xDestroy = answers_disconnect,
    .xOpen = answers_open,
    .xClose = answers_close,
    .xFilter = answers_filter,
    .xNext = answers_next,
    .xEof = answers_eof,
    .xColumn = answers_column,
    .xRowid = answers_rowid,
};

const sql_module hdx_sql_answers_module = { "heapdex_answer", &module, NULL };
