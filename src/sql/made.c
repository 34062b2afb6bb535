/*
 * made.c - connects tables whose rows are computed from arguments (made.h) to SQLite.
 *
 * Arguments are hidden columns that must be compared for equality: path(17) is path WHERE of = 17. In a join the values
 * come from earlier tables; a plan in which one is not available yet is refused, and a statement that never gives one
 * gets an error instead of all possible rows.
 */
#include "sql/made.h"

#define MISSING 8 /* in addition to a bit for each given argument */

typedef struct made_vtab {
    sqlite3_vtab          base;
    sql_heap             *heap;
    const sql_made_table *table;
    void                 *shared;
} made_vtab;

typedef struct made_cursor {
    sqlite3_vtab_cursor base;
    sql_call            call;
    sqlite3_value      *given[SQL_ARGUMENTS]; /* copies: the values of hidden columns */
    bool                more;
} made_cursor;

/* ---- tables ---- */

const sql_made_table *hdx_sql_made_named(const char *name)
{
    const sql_made_table *const lists[] = { hdx_sql_walks, hdx_sql_parts };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const sql_made_table *t = lists[i]; t->name != NULL; t++)
            if (sqlite3_stricmp(t->name, name) == 0)
                return t;
    return NULL;
}

static int declare(sqlite3 *db, const sql_made_table *table)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_format(&text, "CREATE TABLE made(%s", table->columns);
    for (unsigned i = 0; i < table->argument_count; i++)
        hdx_buffer_format(&text, ", \"%s\" HIDDEN", table->arguments[i]);
    hdx_buffer_text(&text, ")");
    const int rc = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text.at);
    hdx_buffer_free(&text);
    return rc;
}

static int made_connect(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out, char **message)
{
    const sql_made_table *table = count > 2 ? hdx_sql_made_named(words[2]) : NULL;
    sql_heap             *heap = count > 2 ? hdx_sql_heap_of(own, words[1]) : NULL;
    if (table == NULL || heap == NULL) {
        *message = sqlite3_mprintf("unknown table");
        return SQLITE_ERROR;
    }
    const int  rc = declare(db, table);
    made_vtab *t = rc == SQLITE_OK ? sqlite3_malloc64(sizeof *t + table->shared_size) : NULL;
    if (t == NULL)
        return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
    memset(t, 0, sizeof *t + table->shared_size);
    t->heap = heap;
    t->table = table;
    t->shared = t + 1;
    *out = &t->base;
    return SQLITE_OK;
}

static int made_create(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out, char **message)
{
    return made_connect(db, own, count, words, out, message);
}

static int made_disconnect(sqlite3_vtab *vtab)
{
    made_vtab *t = (made_vtab *)vtab;
    if (t->table->forget != NULL)
        t->table->forget(t->shared);
    sqlite3_free(t);
    return SQLITE_OK;
}

/* ---- plans ---- */

static int made_best(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const sql_made_table *table = ((made_vtab *)vtab)->table;
    int                   at[SQL_ARGUMENTS], given = 0, later = 0, place = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const int                              argument = c->iColumn - (int)table->column_count;
        if (argument < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!c->usable) {
            later |= 1 << argument;
        } else if ((given >> argument & 1) == 0) {
            given |= 1 << argument;
            at[argument] = i;
        }
    }
    if ((later & ~given) != 0)
        return SQLITE_CONSTRAINT;
    for (unsigned i = 0; i < table->argument_count; i++)
        if (given >> i & 1) {
            info->aConstraintUsage[at[i]].argvIndex = ++place;
            info->aConstraintUsage[at[i]].omit = 1;
        } else if (i < table->required) {
            given |= MISSING;
        }
    info->idxNum = given;
    info->idxStr = (char *)(uintptr_t)table->usage; /* static, must not be freed */
    info->estimatedRows = (sqlite3_int64)table->rows;
    info->estimatedCost = table->rows + 10;
    info->orderByConsumed =
        table->ordered && info->nOrderBy == 1 && info->aOrderBy[0].iColumn == 0 && !info->aOrderBy[0].desc;
    return SQLITE_OK;
}

/* ---- cursors ---- */

static int made_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    const made_vtab *t = (const made_vtab *)vtab;
    made_cursor     *c = sqlite3_malloc64(sizeof *c + t->table->size);
    if (c == NULL)
        return SQLITE_NOMEM;
    memset(c, 0, sizeof *c + t->table->size);
    c->call = (sql_call){ .heap = t->heap, .state = c + 1, .shared = t->shared };
    *out = &c->base;
    return SQLITE_OK;
}

static void drop_given(made_cursor *c)
{
    for (unsigned i = 0; i < SQL_ARGUMENTS; i++) {
        sqlite3_value_free(c->given[i]);
        c->given[i] = NULL;
    }
}

static int made_close(sqlite3_vtab_cursor *cursor)
{
    made_cursor     *c = (made_cursor *)cursor;
    const made_vtab *t = (const made_vtab *)cursor->pVtab;
    if (t->table->end != NULL)
        t->table->end(&c->call);
    drop_given(c);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int made_filter(sqlite3_vtab_cursor *cursor, int number, const char *words, int count, sqlite3_value **values)
{
    made_cursor     *c = (made_cursor *)cursor;
    const made_vtab *t = (const made_vtab *)cursor->pVtab;
    hdx_error        err;
    hdx_code         code = HDX_OK;
    int              place = 0;
    (void)words;
    drop_given(c);
    c->more = false;
    c->call.row = 0;
    for (unsigned i = 0; i < SQL_ARGUMENTS; i++) {
        c->call.arguments[i] = number >> i & 1 && place < count ? values[place++] : NULL;
        if (c->call.arguments[i] != NULL && (c->given[i] = sqlite3_value_dup(c->call.arguments[i])) == NULL)
            return SQLITE_NOMEM;
    }
    if (number & MISSING)
        code = hdx_fail(&err, HDX_USAGE, "", HDX_NOWHERE, "an argument is missing: %s", t->table->usage);
    if (code == HDX_OK)
        code = t->table->begin(&c->call, &c->more, &err);
    memset(c->call.arguments, 0, sizeof c->call.arguments);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
}

/* When the rows end, verifies that the data they were read from is sound. */
static int made_next(sqlite3_vtab_cursor *cursor)
{
    made_cursor     *c = (made_cursor *)cursor;
    const made_vtab *t = (const made_vtab *)cursor->pVtab;
    hdx_error        err;
    hdx_code         code = sql_turn(t->heap->db, &err);
    c->call.row++;
    if (code == HDX_OK)
        code = t->table->next(&c->call, &c->more, &err);
    if (code == HDX_OK && !c->more)
        code = hdx_graph_check(t->heap->g, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
}

static int made_eof(sqlite3_vtab_cursor *cursor) { return !((const made_cursor *)cursor)->more; }

static int made_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    made_cursor     *c = (made_cursor *)cursor;
    const made_vtab *t = (const made_vtab *)cursor->pVtab;
    hdx_error        err;
    if (column >= (int)t->table->column_count) {
        sqlite3_value *given = c->given[column - (int)t->table->column_count];
        if (given != NULL)
            sqlite3_result_value(context, given);
        return SQLITE_OK;
    }
    const hdx_code code = t->table->column(&c->call, context, (unsigned)column, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
}

static int made_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((const made_cursor *)cursor)->call.row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = made_create,
    .xConnect = made_connect,
    .xBestIndex = made_best,
    .xDisconnect = made_disconnect,
    .xDestroy = made_disconnect,
    .xOpen = made_open,
    .xClose = made_close,
    .xFilter = made_filter,
    .xNext = made_next,
    .xEof = made_eof,
    .xColumn = made_column,
    .xRowid = made_rowid,
};

static const char *const tables[] = { "path",         "dominators", "subtree",  "dominated", "reach", "reachable_by",
                                      "retained_set", "fields",     "elements", "entries",   NULL };
const sql_module         hdx_sql_made_module = { "heapdex_made", &module, tables };
