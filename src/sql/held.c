/*
 * held.c - small tables, completely in memory and searchable in the order of every column.
 *
 * In:  the tables that catalog.c makes.
 * Out: equality and ranges on any column, and ascending and descending order by any column, without SQLite's sorter.
 * Only one column is searched, the one that leaves the fewest rows; SQLite evaluates the other conditions. A plan is a
 * readable text, because EXPLAIN QUERY PLAN shows it: "classes by name", "roots in order of id".
 */
#include "sql/held.h"

#include <stdlib.h>

#define NO_COLUMN 31u
#define OPS_MAX   4u

/* ---- the tables of a heap ---- */

void hdx_sql_heap_forget(sql_heap *heap)
{
    for (unsigned i = 0; i < SQL_HELD_TABLES; i++) {
        hdx_sql_held_free(heap->held[i]);
        heap->held[i] = NULL;
    }
}

/* Returns the table for that heap, and makes it on first use. */
static hdx_code held_of(sql_heap *heap, const sql_held_table *table, sql_held **out, hdx_error *err)
{
    const size_t place = (size_t)(table - hdx_sql_held_tables);
    sql_held    *h = *out = heap->held[place];
    if (h != NULL)
        return HDX_OK;
    if ((h = calloc(1, sizeof *h + table->column_count * sizeof *h->columns)) == NULL)
        return hdx_no_memory(err, table->name, sizeof *h);
    h->table = table;
    h->heap = heap;
    h->mem = heap->query.mem;
    h->arena = hdx_arena_of(h->mem);
    hdx_code code = table->make(h, err);
    if (code == HDX_OK && h->arena.refused)
        code = hdx_no_memory(err, table->name, h->arena.size);
    if (code == HDX_OK)
        code = hdx_graph_check(heap->g, err);
    if (code != HDX_OK) {
        hdx_sql_held_free(h);
        return code;
    }
    *out = heap->held[place] = h;
    return HDX_OK;
}

static hdx_code make_late(sql_held *h, hdx_error *err)
{
    if (h->late || h->table->make_late == NULL)
        return HDX_OK;
    hdx_code code = h->table->make_late(h, err);
    if (code == HDX_OK && h->arena.refused)
        code = hdx_no_memory(err, h->table->name, h->arena.size);
    h->late = code == HDX_OK;
    return code;
}

/* ---- plans ---- */

typedef struct plan {         /* idxNum has five bits for each column, then the rest */
    unsigned sought, ordered; /* columns; NO_COLUMN: none */
    bool     falling, late;
    unsigned count; /* of comparisons with the searched column */
    int      ops[OPS_MAX];
} plan;

static const int op_codes[] = { SQLITE_INDEX_CONSTRAINT_EQ, SQLITE_INDEX_CONSTRAINT_GT, SQLITE_INDEX_CONSTRAINT_GE,
                                SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE };

static unsigned code_of_op(int op)
{
    unsigned i = 0;
    while (i < HDX_COUNT(op_codes) && op_codes[i] != op)
        i++;
    return i;
}

static int pack(const plan *p)
{
    unsigned n = p->sought | p->ordered << 5 | (unsigned)p->falling << 10 | (unsigned)p->late << 11 | p->count << 12;
    for (unsigned i = 0; i < p->count; i++)
        n |= code_of_op(p->ops[i]) << (15 + 3 * i);
    return (int)n;
}

static plan unpack(int packed)
{
    const unsigned n = (unsigned)packed;
    plan           p = { n & 31, n >> 5 & 31, n >> 10 & 1, n >> 11 & 1, n >> 12 & 7, { 0 } };
    for (unsigned i = 0; i < p.count; i++)
        p.ops[i] = op_codes[n >> (15 + 3 * i) & 7];
    return p;
}

typedef struct held_vtab {
    sqlite3_vtab          base;
    sql_heap             *heap;
    const sql_held_table *table;
} held_vtab;

typedef struct candidate { /* a column that could be searched */
    plan     p;
    double   rows;
    int      at[OPS_MAX]; /* constraints */
    bool     equal;
    unsigned column;
} candidate;

/* Returns whether the order of its column decides the constraint. */
static bool usable(const held_vtab *t, sqlite3_index_info *info, int i, sqlite3_value **value)
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    *value = NULL;
    if (!c->usable || c->iColumn < 0 || code_of_op(c->op) == HDX_COUNT(op_codes))
        return false;
    const sql_held_column *column = &t->table->columns[c->iColumn];
    const char            *collation = sqlite3_vtab_collation(info, i);
    if (column->type[0] == '\0' ||
        (sql_is_text(column) && (collation == NULL || sqlite3_stricmp(collation, "BINARY") != 0)))
        return false;
    if (sqlite3_vtab_rhs_value(info, i, value) != SQLITE_OK)
        *value = NULL;
    /* a value that is compared as a number would order texts differently; known values are texts */
    return sql_is_number(column) || c->op == SQLITE_INDEX_CONSTRAINT_EQ ||
           (*value != NULL && sqlite3_value_type(*value) == SQLITE_TEXT);
}

/* Estimates how many rows a comparison leaves: exact if the value is known, otherwise the average per value. */
static hdx_code estimate(const held_vtab *t, sql_held *h, unsigned column, int op, sqlite3_value *value, double *rows,
                         hdx_error *err)
{
    const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ, unique = t->table->columns[column].flags & SQL_UNIQUE;
    *rows = equal && unique ? 1 : h == NULL ? (equal ? 10 : 100) : (double)h->rows / (equal ? 10 : 3);
    if (h == NULL || (t->table->columns[column].flags & SQL_LATE && !h->late))
        return HDX_OK;
    const hdx_code code = hdx_sql_held_order(h, column, err);
    if (code == HDX_OK && value != NULL) {
        const sql_span s = hdx_sql_held_search(h, column, 1, &op, &value);
        *rows = (double)(s.end - s.first);
    } else if (code == HDX_OK && equal) {
        *rows = h->columns[column].distinct == 0 ? 0 : (double)h->rows / (double)h->columns[column].distinct;
    }
    return code;
}

/* Chooses the column that leaves the fewest rows, and its comparisons: equality with one value, or bounds. */
static hdx_code choose(const held_vtab *t, sql_held *h, sqlite3_index_info *info, candidate *best, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (unsigned column = 0; code == HDX_OK && column < t->table->column_count; column++) {
        candidate c = { .p = { column, NO_COLUMN, false, false, 0, { 0 } }, .column = column };
        for (int i = 0; code == HDX_OK && i < info->nConstraint; i++) {
            double         rows;
            sqlite3_value *value;
            if (info->aConstraint[i].iColumn != (int)column || !usable(t, info, i, &value))
                continue;
            const int  op = info->aConstraint[i].op;
            const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
            code = estimate(t, h, column, op, value, &rows, err);
            if (c.equal || (!equal && c.p.count == OPS_MAX))
                continue;
            if (equal || c.p.count == 0)
                c.rows = rows;
            else /* two bounds */
                c.rows = h != NULL && c.rows + rows > (double)h->rows ? c.rows + rows - (double)h->rows
                                                                      : (rows < c.rows ? rows : c.rows);
            c.equal = equal;
            c.p.count = equal ? 0 : c.p.count;
            c.at[c.p.count] = i;
            c.p.ops[c.p.count++] = op;
        }
        if (c.p.count > 0 && (best->p.count == 0 || c.rows < best->rows))
            *best = c;
    }
    return code;
}

static bool by_order(const held_vtab *t, const sqlite3_index_info *info, unsigned *column)
{
    if (info->nOrderBy == 0 || info->aOrderBy[0].iColumn < 0)
        return false;
    const sql_held_column *c = &t->table->columns[info->aOrderBy[0].iColumn];
    *column = (unsigned)info->aOrderBy[0].iColumn;
    return c->type[0] != '\0' && (info->nOrderBy == 1 || c->flags & SQL_UNIQUE);
}

/* Describes the plan: "classes by name", "classes by instances from .. to .., falling". */
static char *in_words(const held_vtab *t, const plan *p, bool equal)
{
    const sql_held_column *c = t->table->columns;
    const char            *by = p->sought == NO_COLUMN ? ""
                                : equal                ? " by "
                                                       : " by range of ",
               *in = p->ordered == NO_COLUMN ? "" : " in order of ";
    return sqlite3_mprintf("%s%s%s%s%s%s", t->table->name, by, p->sought == NO_COLUMN ? "" : c[p->sought].name, in,
                           p->ordered == NO_COLUMN ? "" : c[p->ordered].name, p->falling ? ", falling" : "");
}

static bool uses_late(const held_vtab *t, const sqlite3_index_info *info)
{
    for (unsigned i = 0; i < t->table->column_count; i++)
        if (t->table->columns[i].flags & SQL_LATE && info->colUsed >> i & 1)
            return true;
    return false;
}

static int held_best(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    const held_vtab *t = (const held_vtab *)vtab;
    sql_held        *h = t->heap->held[t->table - hdx_sql_held_tables];
    candidate        best = { .p = { NO_COLUMN, NO_COLUMN, false, false, 0, { 0 } } };
    unsigned         ordered;
    hdx_error        err;
    /* a host can stop a running statement, but not the planning of one */
    const bool later = t->table->reads_dump || (t->table->product && t->heap->db->owned);
    hdx_code   code = h != NULL || later ? HDX_OK : held_of(t->heap, t->table, &h, &err);
    if (code == HDX_OK)
        code = choose(t, h, info, &best, &err);
    if (code != HDX_OK)
        return hdx_sql_table_failed(vtab, t->heap->db, &err);
    const double all = h != NULL ? (double)h->rows : 1000;
    plan        *p = &best.p;
    if (by_order(t, info, &ordered)) {
        /* a sort costs more than scanning all rows */
        if (p->sought != ordered && p->sought != NO_COLUMN && best.rows * 4 > all)
            p->sought = NO_COLUMN, p->count = 0;
        if (p->sought == NO_COLUMN || p->sought == ordered) {
            p->ordered = ordered;
            p->falling = info->aOrderBy[0].desc;
            info->orderByConsumed = 1;
        }
    }
    for (unsigned i = 0; i < p->count; i++) {
        info->aConstraintUsage[best.at[i]].argvIndex = (int)i + 1;
        info->aConstraintUsage[best.at[i]].omit = sql_is_number(&t->table->columns[p->sought]);
    }
    const bool   equal = p->count > 0 && best.equal;
    const double rows = p->sought == NO_COLUMN ? all : best.rows;
    p->late = uses_late(t, info);
    if (equal && t->table->columns[p->sought].flags & SQL_UNIQUE)
        info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedRows = rows < 1 ? 1 : (sqlite3_int64)rows;
    info->estimatedCost = rows + (p->sought == NO_COLUMN ? 1 : 2);
    info->idxNum = pack(p);
    info->idxStr = in_words(t, p, equal);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- cursors ---- */

typedef struct held_cursor {
    sqlite3_vtab_cursor base;
    const sql_held     *h;
    const uint32_t     *order; /* NULL: rows in stored order */
    sql_span            places;
    uint64_t            row;
    bool                falling;
} held_cursor;

static void set_row(held_cursor *c)
{
    if (c->places.first < c->places.end) {
        const uint64_t place = c->falling ? c->places.end - 1 : c->places.first;
        c->row = c->order == NULL ? place : c->order[place];
    }
}

static int held_filter(sqlite3_vtab_cursor *cursor, int number, const char *words, int count, sqlite3_value **values)
{
    held_cursor *c = (held_cursor *)cursor;
    held_vtab   *t = (held_vtab *)cursor->pVtab;
    const plan   p = unpack(number);
    sql_held    *h = NULL;
    hdx_error    err;
    hdx_code     code = held_of(t->heap, t->table, &h, &err);
    (void)words;
    if (code == HDX_OK && p.late)
        code = make_late(h, &err);
    if (code == HDX_OK && p.sought != NO_COLUMN)
        code = hdx_sql_held_order(h, p.sought, &err);
    if (code == HDX_OK && p.ordered != NO_COLUMN)
        code = hdx_sql_held_order(h, p.ordered, &err);
    if (code != HDX_OK)
        return hdx_sql_table_failed(cursor->pVtab, t->heap->db, &err);
    const unsigned by = p.sought != NO_COLUMN ? p.sought : p.ordered;
    c->h = h;
    c->order = by == NO_COLUMN ? NULL : h->columns[by].order;
    c->falling = p.falling;
    c->places = p.sought == NO_COLUMN ? (sql_span){ 0, h->rows }
                                      : hdx_sql_held_search(h, p.sought, (unsigned)count, p.ops, values);
    set_row(c);
    return SQLITE_OK;
}

static int held_next(sqlite3_vtab_cursor *cursor)
{
    held_cursor *c = (held_cursor *)cursor;
    if (c->falling)
        c->places.end--;
    else
        c->places.first++;
    set_row(c);
    return SQLITE_OK;
}

static int held_eof(sqlite3_vtab_cursor *cursor)
{
    const held_cursor *c = (const held_cursor *)cursor;
    return c->places.first >= c->places.end;
}

static int held_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const held_cursor     *c = (const held_cursor *)cursor;
    const sql_held_values *v = &c->h->columns[column];
    if (v->cells != NULL)
        hdx_sql_result(context, &v->cells[c->row]);
    else if (v->texts != NULL && v->texts[c->row].at != NULL)
        sql_result_text(context, v->texts[c->row]);
    else if (v->numbers != NULL && hdx_bits_test(v->present, c->row))
        sqlite3_result_int64(context, v->numbers[c->row]);
    return SQLITE_OK; /* otherwise the value stays null */
}

static int held_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((const held_cursor *)cursor)->row + 1;
    return SQLITE_OK;
}

static int held_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    held_cursor *c = sqlite3_malloc64(sizeof *c);
    (void)vtab;
    if (c == NULL)
        return SQLITE_NOMEM;
    memset(c, 0, sizeof *c);
    *out = &c->base;
    return SQLITE_OK;
}

static int held_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* ---- tables ---- */

static int declare(sqlite3 *db, const sql_held_table *table)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_text(&text, "CREATE TABLE held(");
    for (unsigned i = 0; i < table->column_count; i++)
        hdx_buffer_format(&text, "%s\"%s\" %s", i == 0 ? "" : ", ", table->columns[i].name, table->columns[i].type);
    hdx_buffer_put(&text, ")", 2);
    const int rc = text.failed ? SQLITE_NOMEM : sqlite3_declare_vtab(db, text.at);
    hdx_buffer_free(&text);
    return rc;
}

static int held_connect(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out, char **message)
{
    const sql_held_table *table = NULL;
    sql_heap             *heap = count > 2 ? hdx_sql_heap_of(own, words[1]) : NULL;
    for (unsigned i = 0; count > 2 && i < SQL_HELD_TABLES && hdx_sql_held_tables[i].name != NULL; i++)
        if (sqlite3_stricmp(hdx_sql_held_tables[i].name, words[2]) == 0)
            table = &hdx_sql_held_tables[i];
    if (table == NULL || heap == NULL) {
        *message = sqlite3_mprintf("unknown table");
        return SQLITE_ERROR;
    }
    int rc = declare(db, table);
    if (rc == SQLITE_OK)
        rc = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
    held_vtab *t = rc == SQLITE_OK ? sqlite3_malloc64(sizeof *t) : NULL;
    if (t == NULL)
        return rc == SQLITE_OK ? SQLITE_NOMEM : rc;
    *t = (held_vtab){ .heap = heap, .table = table };
    *out = &t->base;
    return SQLITE_OK;
}

static int held_create(sqlite3 *db, void *own, int count, const char *const *words, sqlite3_vtab **out, char **message)
{
    return held_connect(db, own, count, words, out, message);
}

static int held_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = held_create,
    .xConnect = held_connect,
    .xBestIndex = held_best,
    .xDisconnect = held_disconnect,
    .xDestroy = held_disconnect,
    .xOpen = held_open,
    .xClose = held_close,
    .xFilter = held_filter,
    .xNext = held_next,
    .xEof = held_eof,
    .xColumn = held_column,
    .xRowid = held_rowid,
};

static const char *const tables[] = { "classes", "fields_of_class", "statics", "packages", "loaders", "roots",
                                      "threads", "frames",          "heaps",   "dump",     "damage",  NULL };
const sql_module         hdx_sql_held_module = { "heapdex_held", &module, tables };
