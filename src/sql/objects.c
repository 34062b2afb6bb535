/*
 * objects.c - the table of objects.
 *
 * In:  SQLite's view of a statement: conditions, order, limit.
 * Out: the objects that satisfy them, with as few reads of the index as possible:
 *
 *     by-id, by-address, dominated-by     the objects named, or the children of a dominator
 *     by-class                            instances of some classes, one class after the other
 *     all                                 every object, in the order of ids
 *     top                                 one of these, but only the first k in the order of a column
 *
 * Conditions on columns are evaluated on batches before SQLite sees a row (batch.h). A plan is a text that EXPLAIN
 * QUERY PLAN shows and sql_objects_filter parses: the way, then "column=?" for each value that comes with it. The table
 * is in the order of GROUP BY class and class_id, because SQLite's sorter takes as long as reading ten columns.
 */
#include "sql/batch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct table {
    sqlite3_vtab base;
    sql_db      *db;
    sql_heap    *heap;
    char         last_unknown[64]; /* the last class that was reported as unknown */
} table;

/* ---- columns ---- */

static const char *const names[SQL_COLUMNS] = {
    [SQL_ID] = "id",
    [SQL_ADDRESS] = "address",
    [SQL_CLASS] = "class",
    [SQL_CLASS_ID] = "class_id",
    [SQL_KIND] = "kind",
    [SQL_SHALLOW] = "shallow",
    [SQL_RETAINED] = "retained",
    [SQL_LENGTH] = "length",
    [SQL_DOMINATOR] = "dominator",
    [SQL_NEAREST] = "nearest",
    [SQL_OUTBOUND] = "outbound",
    [SQL_INBOUND] = "inbound",
    [SQL_LIVE] = "live",
    [SQL_HEAP] = "heap",
    [SQL_POSITION] = "position",
    [SQL_INSTANCEOF] = "instanceof",
};
static const char declaration[] =
    "CREATE TABLE objects(id INTEGER, address ADDRESS, class TEXT, class_id INTEGER, kind TEXT, shallow SIZE, "
    "retained SIZE, length COUNT, dominator INTEGER, nearest INTEGER, outbound COUNT, inbound COUNT, live INTEGER, "
    "heap TEXT, position INTEGER, \"instanceof\" TEXT HIDDEN)";

static bool is_number(sql_column column)
{
    return column != SQL_CLASS && column != SQL_KIND && column != SQL_HEAP && column != SQL_INSTANCEOF;
}

/* ---- table ---- */

static int objects_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                           char **message)
{
    sql_heap *heap = argc < 3 ? NULL : hdx_sql_heap_of(aux, argv[1]);
    table    *t = heap == NULL ? NULL : sqlite3_malloc64(sizeof *t);
    int       rc = SQLITE_NOMEM;
    if (heap == NULL) {
        *message = sqlite3_mprintf("no dump has the schema %s", argc < 2 ? "" : argv[1]);
        return SQLITE_ERROR;
    }
    if (t == NULL || (rc = sqlite3_declare_vtab(db, declaration)) != SQLITE_OK) {
        sqlite3_free(t);
        return rc;
    }
    *t = (table){ .db = aux, .heap = heap };
    *out = &t->base;
    return SQLITE_OK;
}

static int objects_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return objects_connect(db, aux, argc, argv, out, message);
}

static int objects_disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* ---- planning ---- */

typedef enum way { ALL, BY_CLASS, DOMINATED_BY, BY_ADDRESS, BY_ID } way;
static const char *const ways[] = { "all", "by-class", "dominated-by", "by-address", "by-id" };

typedef struct planning {
    sqlite3_index_info *info;
    table              *t;
    hdx_buffer          text;
    int                 arguments;
    way                 way;
    int                 lead;  /* the condition that names the objects; -1: none does */
    bool                whole; /* every condition is evaluated here */
    double              rows;  /* estimate of the rows that remain */
} planning;

static const char *operator_of(int op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return "=";
    case SQLITE_INDEX_CONSTRAINT_GT: return ">";
    case SQLITE_INDEX_CONSTRAINT_LE: return "<=";
    case SQLITE_INDEX_CONSTRAINT_LT: return "<";
    case SQLITE_INDEX_CONSTRAINT_GE: return ">=";
    case SQLITE_INDEX_CONSTRAINT_LIKE: return "-like-";
    case SQLITE_INDEX_CONSTRAINT_GLOB: return "-glob-";
    case SQLITE_INDEX_CONSTRAINT_REGEXP: return "-regexp-";
    case SQLITE_INDEX_CONSTRAINT_FUNCTION: return "-instanceof-";
    default: return NULL;
    }
}

/*
 * Returns whether LIKE ignores case. A pragma makes it case-sensitive, and functions of the host replace it: then
 * SQLite evaluates it.
 */
static bool like_folds_cases(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    const bool    folds =
        sqlite3_prepare_v2(db, "SELECT 'aB' LIKE 'Ab' AND NOT 'a' LIKE 'b'", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 1;
    (void)sqlite3_finalize(stmt);
    return folds;
}

/* Returns whether a condition can be evaluated here. *several: IN, all values at once. */
static bool decides(const planning *p, int i, bool *several)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[i];
    const sql_column                       column = c->iColumn < 0 ? SQL_ID : (sql_column)c->iColumn;
    const bool                             equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ;
    *several = false;
    if (!c->usable || column >= SQL_COLUMNS || operator_of(c->op) == NULL)
        return false;
    if (c->op == SQLITE_INDEX_CONSTRAINT_FUNCTION)
        return column == SQL_CLASS_ID;
    if (c->op == SQLITE_INDEX_CONSTRAINT_LIKE && !like_folds_cases(p->t->db->db))
        return false;
    if (is_number(column)) {
        *several = i == p->lead && sqlite3_vtab_in(p->info, i, 0);
        return c->op < SQLITE_INDEX_CONSTRAINT_MATCH;
    }
    if (column == SQL_INSTANCEOF)
        return equal;
    if (column == SQL_HEAP || (equal && sqlite3_stricmp(sqlite3_vtab_collation(p->info, i), "BINARY") != 0))
        return false;
    *several = equal && sqlite3_vtab_in(p->info, i, 0);
    return equal || (column == SQL_CLASS && c->op > SQLITE_INDEX_CONSTRAINT_MATCH);
}

/* Finds the condition that names objects: by id, by address, or as children of a dominator. */
static int find_lead(const sqlite3_index_info *info)
{
    static const sql_column best[] = { SQL_ID, SQL_ADDRESS, SQL_DOMINATOR };
    for (size_t k = 0; k < sizeof best / sizeof *best; k++)
        for (int i = 0; i < info->nConstraint; i++) {
            const struct sqlite3_index_constraint *c = &info->aConstraint[i];
            if (c->usable && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
                (c->iColumn < 0 ? SQL_ID : (sql_column)c->iColumn) == best[k])
                return i;
        }
    return -1;
}

static double instances_of(sql_heap *heap, bool heirs, int op, sqlite3_value *value)
{
    sql_classes set = { 0 };
    double      n = 0;
    if (hdx_sql_classes_all(heap, &set, NULL) == HDX_OK &&
        (heirs ? hdx_sql_classes_heirs(heap, &set, value, NULL) : hdx_sql_classes_named(heap, &set, op, value, NULL)) ==
            HDX_OK)
        for (uint32_t i = 0; i < set.count; i++)
            if (hdx_bits_test(set.bits, i))
                n += (double)hdx_graph_class(heap->g, i)->instances;
    hdx_sql_classes_drop(&set);
    return n;
}

/* Adds a condition to the plan; it may change the way and the estimate of rows. */
static void add_condition(planning *p, int i, bool several)
{
    const struct sqlite3_index_constraint *c = &p->info->aConstraint[i];
    const sql_column                       column = c->iColumn < 0 ? SQL_ID : (sql_column)c->iColumn;
    const bool equal = c->op == SQLITE_INDEX_CONSTRAINT_EQ, function = c->op == SQLITE_INDEX_CONSTRAINT_FUNCTION;
    const bool heirs = function || column == SQL_INSTANCEOF;
    way        to = ALL;
    double     rows = p->rows * (equal ? 0.01 : 0.25);
    if (several)
        sqlite3_vtab_in(p->info, i, 1);
    if (column == SQL_CLASS || column == SQL_CLASS_ID || column == SQL_INSTANCEOF) {
        sqlite3_value *value = NULL;
        uint32_t       count;
        (void)hdx_graph_classes(p->t->heap->g, &count);
        to = equal || function || !is_number(column) ? BY_CLASS : ALL;
        if ((column == SQL_CLASS || heirs) && !several && sqlite3_vtab_rhs_value(p->info, i, &value) == SQLITE_OK)
            rows = instances_of(p->t->heap, heirs, c->op, value);
        else
            rows = p->rows / (count == 0 ? 1 : count) * (equal && !several ? 1 : 8);
    } else if (i == p->lead && column == SQL_ID) {
        to = BY_ID, rows = several ? 25 : 1;
    } else if (i == p->lead && column == SQL_ADDRESS) {
        to = BY_ADDRESS, rows = several ? 25 : 1;
    } else if (i == p->lead) {
        to = DOMINATED_BY, rows = several ? 100 : 8;
    }
    p->way = to > p->way ? to : p->way;
    p->rows = rows < p->rows ? rows : p->rows;
    p->info->aConstraintUsage[i].argvIndex = ++p->arguments;
    p->info->aConstraintUsage[i].omit = 1;
    hdx_buffer_format(&p->text, " %s%s%s?", names[column], several ? "-in" : "", operator_of(c->op));
}

/* Finds the limit and the offset among the conditions; -1: none. */
static void find_limit(const sqlite3_index_info *info, int *limit, int *offset)
{
    *limit = *offset = -1;
    for (int i = 0; i < info->nConstraint; i++)
        if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIMIT)
            *limit = i;
        else if (info->aConstraint[i].usable && info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_OFFSET)
            *offset = i;
}

/* Signed addresses are in the order of ids if the last one is below 2^63. */
static bool ordered_as_ids(const planning *p, sql_column column)
{
    hdx_graph *g = p->t->heap->g;
    return column == SQL_ID ||
           (column == SQL_ADDRESS &&
            (int64_t)hdx_graph_address(g, hdx_graph_objects(g) == 0 ? 0 : hdx_graph_objects(g) - 1) >= 0);
}

static void plan_order(planning *p)
{
    sqlite3_index_info *info = p->info;
    int                 limit, offset;
    if (info->nOrderBy == 0)
        return;
    const struct sqlite3_index_orderby *by = info->aOrderBy;
    const sql_column                    column = by->iColumn < 0 ? SQL_ID : (sql_column)by->iColumn;
    const char *const                   word = by->desc ? "desc" : "asc";
    if (column >= SQL_COLUMNS)
        return;
    find_limit(info, &limit, &offset);
    if (info->nOrderBy == 1 && (column == SQL_CLASS || column == SQL_CLASS_ID) && p->way <= BY_CLASS) {
        const uint64_t own = 1ull << SQL_CLASS | 1ull << SQL_CLASS_ID;
        p->way = BY_CLASS;
        hdx_buffer_format(&p->text, " order:%s:%s", names[column], word);
        /* one row of each class is enough if no other column of it is used */
        if (sqlite3_vtab_distinct(info) >= 2 && p->whole &&
            (info->colUsed & ~(column == SQL_CLASS ? 1ull << SQL_CLASS : own)) == 0)
            hdx_buffer_text(&p->text, " distinct");
        info->orderByConsumed = 1;
    } else if (info->nOrderBy == 1 && ordered_as_ids(p, column)) {
        hdx_buffer_format(&p->text, " order:id:%s", word);
        info->orderByConsumed = 1;
    } else if (limit >= 0 && p->whole && is_number(column) &&
               (info->nOrderBy == 1 || (info->nOrderBy == 2 && by[1].iColumn <= SQL_ID && !by[1].desc))) {
        hdx_buffer_format(&p->text, " top:%s:%s first?", names[column], word);
        info->aConstraintUsage[limit].argvIndex = ++p->arguments;
        if (offset >= 0) {
            hdx_buffer_text(&p->text, " offset?");
            info->aConstraintUsage[offset].argvIndex = ++p->arguments;
        }
        p->rows = p->rows < 1000 ? p->rows : 1000;
        info->orderByConsumed = 1;
    }
}

static int objects_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    table                   *t = (table *)base;
    const hdx_graph_summary *s = hdx_graph_summary_of(t->heap->g);
    planning                 p = { .info = info, .t = t, .text = hdx_buffer_of(NULL), .whole = true };
    const double             all = (double)s->objects + 1;
    bool                     heirs = false; /* the condition on the hidden column is evaluated here */
    p.rows = all;
    p.lead = find_lead(info);
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        bool                                   several;
        if (c->op == SQLITE_INDEX_CONSTRAINT_LIMIT || c->op == SQLITE_INDEX_CONSTRAINT_OFFSET)
            continue;
        if (decides(&p, i, &several)) {
            heirs = heirs || c->iColumn == SQL_INSTANCEOF;
            add_condition(&p, i, several);
        } else if (c->iColumn == SQL_INSTANCEOF) { /* the hidden column has no value in a row */
            hdx_buffer_free(&p.text);
            return SQLITE_CONSTRAINT;
        } else {
            p.whole = false;
        }
    }
    const double looked_at = p.way >= DOMINATED_BY ? p.rows : p.way == BY_CLASS ? p.rows * 1.2 : all * 0.2;
    plan_order(&p);
    info->estimatedRows = p.rows < 1 ? 1 : (sqlite3_int64)p.rows;
    info->estimatedCost = looked_at + p.rows + 1;
    /* OR passes its conditions one by one, which does not work here */
    if ((info->colUsed >> SQL_INSTANCEOF & 1) != 0 && !heirs)
        info->estimatedCost = 1e30;
    if (p.way == BY_ID && info->nOrderBy == 0 && p.rows <= 1)
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    info->idxNum = (int)p.way;
    info->idxStr = p.text.failed ? NULL : sqlite3_mprintf("%s%s", ways[p.way], p.text.len == 0 ? "" : p.text.at);
    info->needToFreeIdxStr = 1;
    hdx_buffer_free(&p.text);
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- a search ---- */

typedef struct candidate { /* a candidate of a top search */
    int64_t value;
    hdx_id  id;
} candidate;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    table              *t;
    sql_heap           *heap;
    sql_batch           batch;
    uint32_t            size; /* of the next batch: small at first, for statements that need one row */
    bool                end;
    /* conditions */
    way         way;
    sql_range   ranges[SQL_COLUMNS];
    unsigned    ranged; /* one bit per column */
    unsigned    kinds;  /* one bit per kind */
    sql_classes set;    /* bits NULL: all */
    /* order */
    sql_column order;
    bool       ordered, descending, distinct, top;
    uint64_t   most;  /* of a top search */
    sql_range  worth; /* values that can still be among them */
    /* position */
    hdx_id          from, until; /* all: ids that remain */
    hdx_id         *ids;         /* of a list */
    uint64_t        id_count, id_capacity, id_at;
    bool            named;   /* the condition that names them was applied */
    const uint32_t *classes; /* by class: their order; NULL: by number */
    uint32_t        class_count, class_at;
    bool            in_class; /* `refs` yields instances of the class before class_at */
    hdx_refs        refs;
    /* of a top search */
    candidate *best;
    uint64_t   best_count, best_capacity;
} cursor;

static int objects_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->t = (table *)base;
    c->heap = c->t->heap;
    hdx_sql_batch_open(&c->batch, c->heap);
    *out = &c->base;
    return SQLITE_OK;
}

static void forget_search(cursor *c)
{
    hdx_mem *mem = c->heap->query.mem;
    hdx_sql_classes_drop(&c->set);
    hdx_mem_put(mem, c->ids, c->id_capacity * sizeof *c->ids);
    hdx_mem_put(mem, c->best, c->best_capacity * sizeof *c->best);
    c->ids = NULL;
    c->best = NULL;
    c->id_count = c->id_capacity = c->id_at = c->best_count = c->best_capacity = 0;
}

static int objects_close(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    forget_search(c);
    hdx_sql_batch_close(&c->batch);
    free(c);
    return SQLITE_OK;
}

static int objects_status(cursor *c, const hdx_error *err)
{
    return err->code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(&c->t->base, c->t->db, err);
}

/* ---- parsing a plan ---- */

static hdx_code push(cursor *c, hdx_id id, hdx_error *err)
{
    if (!hdx_mem_room(c->heap->query.mem, (void **)&c->ids, &c->id_capacity, c->id_count, sizeof *c->ids))
        return hdx_no_memory(err, "a list of objects", c->id_count * sizeof *c->ids);
    c->ids[c->id_count++] = id;
    return HDX_OK;
}

/* Adds the objects that a number names, as an id, an address, or a dominator. */
static hdx_code push_named(cursor *c, sql_column column, sqlite3_value *value, hdx_error *err)
{
    hdx_graph *g = c->heap->g;
    sql_range  range = SQL_ANY;
    hdx_refs   refs;
    hdx_id     id;
    hdx_code   code = HDX_OK;
    hdx_sql_range_cut(&range, SQLITE_INDEX_CONSTRAINT_EQ, value);
    if (range.least > range.most)
        return HDX_OK;
    if (column == SQL_ADDRESS)
        return hdx_graph_find(g, (hdx_addr)range.least, &id) ? push(c, id, err) : HDX_OK;
    if (range.least < 0 || (uint64_t)range.least >= hdx_graph_objects(g))
        return HDX_OK;
    if (column == SQL_ID)
        return push(c, (hdx_id)range.least, err);
    hdx_graph_dominated(g, (hdx_id)range.least, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id))
        if ((code = push(c, id, err)) == HDX_OK)
            code = sql_turn(c->t->db, err);
    return code;
}

static unsigned kinds_named(sqlite3_value *value)
{
    unsigned kinds = 0;
    for (unsigned kind = HDX_INSTANCE; kind <= HDX_CLASS_OBJECT; kind++) {
        const char *name = hdx_object_kind_name((hdx_object_kind)kind);
        if (hdx_sql_text_is(value, (hdx_text){ name, (uint32_t)strlen(name) }))
            kinds |= 1u << kind;
    }
    return kinds;
}

/* The first condition on its column chooses the objects; later ones only filter. */
static bool names_objects(const cursor *c, sql_column column)
{
    return !c->named && ((c->way == BY_ID && column == SQL_ID) || (c->way == BY_ADDRESS && column == SQL_ADDRESS) ||
                         (c->way == DOMINATED_BY && column == SQL_DOMINATOR));
}

static hdx_code apply_list(cursor *c, sql_column column, sqlite3_value *list, hdx_error *err)
{
    sqlite3_value *value;
    unsigned       kinds = 0;
    hdx_code       code = HDX_OK;
    if (column == SQL_CLASS)
        return c->set.bits == NULL && (code = hdx_sql_classes_all(c->heap, &c->set, err)) != HDX_OK
                   ? code
                   : hdx_sql_classes_among(c->heap, &c->set, list, err);
    c->named = c->named || column != SQL_KIND;
    for (int rc = sqlite3_vtab_in_first(list, &value); code == HDX_OK && rc == SQLITE_OK;
         rc = sqlite3_vtab_in_next(list, &value)) {
        if (column == SQL_KIND)
            kinds |= kinds_named(value);
        else
            code = push_named(c, column, value, err);
    }
    if (column == SQL_KIND)
        c->kinds &= kinds;
    return code;
}

static uint64_t instances_left(const cursor *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->set.count; i++)
        if (hdx_bits_test(c->set.bits, i))
            n += hdx_graph_class(c->heap->g, i)->instances;
    return n;
}

/*
 * An unknown class is only a notice, because interfaces such as java.util.Map are not in dumps. Consecutive notices of
 * one name are reported once, because joins repeat them.
 */
static void report_unknown(cursor *c, sqlite3_value *value)
{
    char             line[200];
    const hdx_query *q = &c->heap->query;
    const char      *name = (const char *)sqlite3_value_text(value);
    if (instances_left(c) > 0 || q->notice == NULL || name == NULL ||
        strncmp(c->t->last_unknown, name, sizeof c->t->last_unknown - 1) == 0 ||
        instances_of(c->heap, true, 0, value) > 0)
        return;
    (void)snprintf(c->t->last_unknown, sizeof c->t->last_unknown, "%s", name);
    (void)snprintf(line, sizeof line,
                   "unknown class %.60s: dumps do not record interfaces; name a class such as java.util.AbstractMap",
                   name);
    q->notice(q->notice_context, line);
}

static hdx_code apply_condition(cursor *c, sql_column column, int op, sqlite3_value *value, hdx_error *err)
{
    const bool heirs = column == SQL_INSTANCEOF || op == SQLITE_INDEX_CONSTRAINT_FUNCTION;
    hdx_code   code = HDX_OK;
    if (column == SQL_KIND) {
        c->kinds &= kinds_named(value);
    } else if (heirs || !is_number(column)) {
        if (c->set.bits == NULL && (code = hdx_sql_classes_all(c->heap, &c->set, err)) != HDX_OK)
            return code;
        if (!heirs)
            return hdx_sql_classes_named(c->heap, &c->set, op, value, err);
        code = hdx_sql_classes_heirs(c->heap, &c->set, value, err);
        if (code == HDX_OK)
            report_unknown(c, value);
        return code;
    } else if (op == SQLITE_INDEX_CONSTRAINT_EQ && names_objects(c, column)) {
        c->named = true;
        code = push_named(c, column, value, err);
    } else {
        if ((c->ranged >> column & 1) == 0)
            c->ranges[column] = SQL_ANY;
        c->ranged |= 1u << column;
        hdx_sql_range_cut(&c->ranges[column], op, value);
    }
    return code;
}

static sql_column column_named(const char *at, size_t len)
{
    sql_column column = SQL_ID;
    while (column < SQL_COLUMNS && (strlen(names[column]) != len || memcmp(names[column], at, len) != 0))
        column++;
    return column;
}

/* Applies one word of a plan, and the value that comes with it if it ends with "?". */
static hdx_code read_word(cursor *c, const char *at, size_t len, sqlite3_value *value, hdx_error *err)
{
    static const int ops[] = { SQLITE_INDEX_CONSTRAINT_EQ,      SQLITE_INDEX_CONSTRAINT_GE,
                               SQLITE_INDEX_CONSTRAINT_LE,      SQLITE_INDEX_CONSTRAINT_GT,
                               SQLITE_INDEX_CONSTRAINT_LT,      SQLITE_INDEX_CONSTRAINT_LIKE,
                               SQLITE_INDEX_CONSTRAINT_GLOB,    SQLITE_INDEX_CONSTRAINT_REGEXP,
                               SQLITE_INDEX_CONSTRAINT_FUNCTION };
    const size_t     name = strspn(at, "abcdefghijklmnopqrstuvwxyz_");
    if (at[name] == ':') { /* order:COLUMN:asc, top:COLUMN:desc */
        const char *of = at + name + 1, *colon = memchr(of, ':', len - name - 1);
        c->order = column_named(of, (size_t)(colon - of));
        c->descending = colon[1] == 'd';
        c->ordered = true;
        c->top = *at == 't';
    } else if (len == 8 && memcmp(at, "distinct", 8) == 0) {
        c->distinct = true;
    } else if (strncmp(at, "first?", 6) == 0 || strncmp(at, "offset?", 7) == 0) {
        const int64_t n = sqlite3_value_int64(value);
        if (*at == 'f' && n < 0) /* any number */
            c->most = UINT64_MAX;
        else if (n > 0 && c->most != UINT64_MAX)
            c->most += (uint64_t)n;
    } else if (at[len - 1] == '?') {
        const bool several = strncmp(at + name, "-in=", 4) == 0;
        if (several)
            return apply_list(c, column_named(at, name), value, err);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            const char *word = operator_of(ops[i]);
            if (strlen(word) == len - 1 - name && memcmp(at + name, word, len - 1 - name) == 0)
                return apply_condition(c, column_named(at, name), ops[i], value, err);
        }
    }
    return HDX_OK;
}

static hdx_code read_plan(cursor *c, const char *text, sqlite3_value **values, hdx_error *err)
{
    hdx_code code = HDX_OK;
    unsigned next = 0;
    for (const char *at = strchr(text, ' '); code == HDX_OK && at != NULL; at = strchr(at + 1, ' ')) {
        const size_t len = strcspn(at + 1, " ");
        const bool   takes = at[len] == '?';
        code = read_word(c, at + 1, len, takes ? values[next] : NULL, err);
        next += takes;
    }
    return code;
}

/* ---- filling batches ---- */

static int id_order(const void *a, const void *b)
{
    const hdx_id x = *(const hdx_id *)a, y = *(const hdx_id *)b;
    return (x > y) - (x < y);
}

/* Sorts a list in the wanted order and removes duplicates. */
static void sort_list(cursor *c)
{
    uint64_t n = 0;
    hdx_sort(c->heap->query.mem, c->ids, c->id_count, sizeof *c->ids, 0, id_order);
    for (uint64_t i = 0; i < c->id_count; i++)
        if (i == 0 || c->ids[i] != c->ids[i - 1])
            c->ids[n++] = c->ids[i];
    c->id_count = n;
    for (uint64_t i = 0; c->ordered && c->order == SQL_ID && c->descending && i < n / 2; i++) {
        const hdx_id id = c->ids[i];
        c->ids[i] = c->ids[n - 1 - i];
        c->ids[n - 1 - i] = id;
    }
}

/* Applies the conditions on class_id to the set of classes. */
static hdx_code cut_classes(cursor *c, hdx_error *err)
{
    const hdx_code code = c->set.bits == NULL ? hdx_sql_classes_all(c->heap, &c->set, err) : HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && (c->ranged >> SQL_CLASS_ID & 1) != 0 && i < c->set.count; i++)
        if (!sql_in_range(c->ranges[SQL_CLASS_ID], i))
            hdx_bits_clear(c->set.bits, i);
    c->ranged &= ~(1u << SQL_CLASS_ID);
    return code;
}

/* Instances by class are not in the order of ids: few are collected and sorted, otherwise every object is tested. */
static hdx_code begin_by_class(cursor *c, hdx_error *err)
{
    hdx_code code = cut_classes(c, err);
    if (code != HDX_OK)
        return code;
    if (c->ordered && !c->top && c->order == SQL_CLASS)
        return hdx_sql_classes_by_name(c->heap, &c->classes, &c->class_count, err);
    (void)hdx_graph_classes(c->heap->g, &c->class_count);
    if (c->ordered && !c->top && c->order == SQL_CLASS_ID)
        return HDX_OK;
    const uint64_t some = instances_left(c);
    if (some > hdx_graph_objects(c->heap->g) / 4) {
        c->way = ALL;
    } else if (c->ordered && !c->top) {
        for (uint32_t i = 0; code == HDX_OK && i < c->class_count; i++) {
            hdx_id id;
            if (!hdx_bits_test(c->set.bits, i))
                continue;
            hdx_graph_instances(c->heap->g, i, HDX_ALL, &c->refs);
            while (code == HDX_OK && hdx_refs_next(&c->refs, &id))
                if ((code = push(c, id, err)) == HDX_OK)
                    code = sql_turn(c->t->db, err);
        }
        c->way = BY_ID;
        sort_list(c);
    }
    return code;
}

static hdx_code fill_all(cursor *c, hdx_error *err)
{
    const uint32_t n = (uint32_t)hdx_least(c->until - c->from, c->size);
    const hdx_id   first = c->descending && c->ordered && !c->top ? c->until - n : c->from;
    if (first == c->from)
        c->from += n;
    else
        c->until -= n;
    return hdx_sql_batch_run(&c->batch, first, n, err);
}

static hdx_code fill_list(cursor *c, hdx_error *err)
{
    const uint32_t n = (uint32_t)hdx_least(c->id_count - c->id_at, c->size);
    const hdx_code code = hdx_sql_batch_list(&c->batch, n, err);
    if (code == HDX_OK && n > 0)
        memcpy(c->batch.ids, c->ids + c->id_at, n * sizeof *c->ids);
    c->id_at += n;
    return code;
}

static uint32_t class_at(const cursor *c, uint32_t place)
{
    const uint32_t i = c->descending && c->ordered && !c->top ? c->class_count - 1 - place : place;
    return c->classes != NULL ? c->classes[i] : i;
}

/* A batch has instances of one class only, so that GROUP BY class can skip the rest of it. */
static hdx_code fill_by_class(cursor *c, hdx_error *err)
{
    uint32_t n = 0;
    hdx_code code = hdx_sql_batch_list(&c->batch, 0, err);
    while (code == HDX_OK && n == 0) {
        if (!c->in_class) {
            if (c->class_at >= c->class_count)
                break;
            const uint32_t number = class_at(c, c->class_at++);
            if (!hdx_bits_test(c->set.bits, number))
                continue;
            hdx_graph_instances(c->heap->g, number, c->heap->query.scope, &c->refs);
            c->in_class = true;
        }
        while (n < c->size && hdx_refs_next(&c->refs, &c->batch.ids[n]))
            n++;
        c->in_class = n == c->size;
    }
    return code == HDX_OK ? hdx_sql_batch_list(&c->batch, n, err) : code;
}

static void apply_to_batch(cursor *c)
{
    sql_batch *b = &c->batch;
    if (c->top && c->worth.least != INT64_MIN) /* otherwise null may be among them */
        hdx_sql_batch_keep_range(b, c->order, c->worth);
    for (unsigned left = c->ranged; left != 0; left &= left - 1)
        hdx_sql_batch_keep_range(b, (sql_column)__builtin_ctz(left), c->ranges[__builtin_ctz(left)]);
    if (c->set.bits != NULL && c->way != BY_CLASS)
        hdx_sql_batch_keep_classes(b, &c->set);
    if (c->kinds != 15)
        hdx_sql_batch_keep_kinds(b, c->kinds);
    if (c->way != BY_CLASS)
        hdx_sql_batch_keep_scope(b, c->heap->query.scope);
}

/*
 * Reads the next batch with a chosen row; c->end if there is none. plain: a list that already satisfies all conditions.
 */
static hdx_code refill(cursor *c, bool plain, hdx_error *err)
{
    hdx_code code = HDX_OK;
    c->batch.chosen_count = 0;
    while (code == HDX_OK) {
        code = c->way == ALL ? fill_all(c, err) : c->way == BY_CLASS ? fill_by_class(c, err) : fill_list(c, err);
        if (code == HDX_OK && c->batch.count == 0) {
            c->end = true;
            return hdx_graph_check(c->heap->g, err);
        }
        if (code == HDX_OK && !plain)
            apply_to_batch(c);
        if (c->size < SQL_BATCH)
            c->size = c->size * 4 < SQL_BATCH ? c->size * 4 : SQL_BATCH;
        if (code == HDX_OK && c->batch.chosen_count > 0)
            return HDX_OK;
        if (code == HDX_OK)
            code = hdx_sql_stopped(c->t->db, err);
    }
    return code;
}

/* ---- the first k in the order of a column ---- */

static int rising(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}
static int falling(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static void keep_best(cursor *c)
{
    if (c->best_count > 1)
        qsort(c->best, c->best_count, sizeof *c->best, c->descending ? falling : rising);
    c->best_count = hdx_least(c->best_count, c->most);
}

/* Excludes values that are no better than the last of the first k, and equal ones if ids ascend. */
static void tighten(cursor *c)
{
    keep_best(c);
    const int64_t last = c->best[c->best_count - 1].value;
    const bool    rise = c->way == ALL;
    if (c->descending)
        c->worth.least = rise && last < INT64_MAX ? last + 1 : last;
    else
        c->worth.most = rise && last > INT64_MIN ? last - 1 : last;
}

static hdx_code add_candidates(cursor *c, hdx_error *err)
{
    sql_batch     *b = &c->batch;
    const uint64_t room = c->most < UINT64_MAX / 4 ? 2 * c->most + 4096 : UINT64_MAX;
    for (uint32_t i = 0; i < b->chosen_count; i++) {
        const uint16_t  slot = b->chosen[i];
        const candidate f = { sql_batch_value(b, c->order, slot), sql_batch_id(b, slot) };
        if (!sql_in_range(c->worth, f.value))
            continue;
        if (!hdx_mem_room(c->heap->query.mem, (void **)&c->best, &c->best_capacity, c->best_count, sizeof *c->best))
            return hdx_no_memory(err, "the first rows of an order", c->best_count * sizeof *c->best);
        c->best[c->best_count++] = f;
        if (c->best_count == room)
            tighten(c);
    }
    return HDX_OK;
}

static hdx_code find_top(cursor *c, hdx_error *err)
{
    hdx_code code = HDX_OK;
    c->size = SQL_BATCH;
    c->worth = SQL_ANY;
    while (code == HDX_OK && c->most > 0 && (code = refill(c, false, err)) == HDX_OK && !c->end)
        if ((code = add_candidates(c, err)) == HDX_OK)
            code = sql_turn(c->t->db, err);
    if (code != HDX_OK)
        return code;
    keep_best(c);
    c->id_count = c->id_at = 0;
    for (uint64_t i = 0; code == HDX_OK && i < c->best_count; i++)
        code = push(c, c->best[i].id, err);
    c->way = BY_ID;
    c->end = false;
    return code;
}

static int objects_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
    cursor   *c = (cursor *)base;
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    (void)count;
    forget_search(c);
    c->way = (way)number;
    c->ranged = 0;
    c->kinds = 15;
    c->ordered = c->descending = c->distinct = c->top = c->end = c->in_class = c->named = false;
    c->most = 0;
    c->classes = NULL;
    c->class_at = c->class_count = 0;
    c->from = 0;
    c->until = hdx_graph_objects(c->heap->g);
    c->size = 64;
    hdx_code code = read_plan(c, plan, values, &err);
    if (code == HDX_OK && c->way == BY_CLASS)
        code = begin_by_class(c, &err);
    else if (code == HDX_OK && c->way != ALL)
        sort_list(c);
    if (c->ranged >> SQL_ID & 1) { /* the table is in the order of ids */
        const sql_range r = c->ranges[SQL_ID];
        c->from = r.least > 0 ? (hdx_id)r.least : 0;
        c->until = r.most < 0 ? 0 : hdx_least(c->until, (uint64_t)r.most + 1);
        c->from = hdx_least(c->from, c->until);
        if (c->way == ALL)
            c->ranged &= ~(1u << SQL_ID);
    }
    if (c->ranged >> SQL_LIVE & 1 && c->heap->query.scope != HDX_ALL) { /* the same value in all rows of the table */
        c->end = !sql_in_range(c->ranges[SQL_LIVE], c->heap->query.scope == HDX_LIVE);
        c->ranged &= ~(1u << SQL_LIVE);
    }
    if (c->end)
        return objects_status(c, code == HDX_OK ? &(hdx_error){ .code = HDX_OK } : &err);
    if (code == HDX_OK && c->top)
        code = find_top(c, &err);
    if (code == HDX_OK)
        code = refill(c, c->top, &err);
    return objects_status(c, code == HDX_OK ? &(hdx_error){ .code = HDX_OK } : &err);
}

/* ---- rows ---- */

static uint32_t slot_of(const cursor *c)
{
    const bool backwards = c->batch.dense && c->ordered && c->descending;
    return c->batch.chosen[backwards ? c->batch.chosen_count - 1 - c->batch.at : c->batch.at];
}

/* Skips the other objects of this class, or of all classes with its name. */
static void skip_class(cursor *c)
{
    const hdx_class *now = hdx_graph_class(c->heap->g, class_at(c, c->class_at - 1));
    c->batch.at = c->batch.chosen_count;
    c->in_class = false;
    while (c->order == SQL_CLASS && c->class_at < c->class_count) {
        const hdx_class *next = hdx_graph_class(c->heap->g, class_at(c, c->class_at));
        if (next->name.len != now->name.len || memcmp(next->name.at, now->name.at, now->name.len) != 0)
            return;
        c->class_at++;
    }
}

/*
 * Not inlined, like its counterparts in other tables: clearing an error of some hundred bytes for each row would be
 * slow.
 */
static __attribute__((noinline)) int next_batch(cursor *c)
{
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    hdx_code  code = sql_turn(c->t->db, &err);
    if (code == HDX_OK)
        code = refill(c, c->top, &err);
    return code == HDX_OK ? SQLITE_OK : objects_status(c, &err);
}

static int objects_next(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    if (c->distinct)
        skip_class(c);
    else
        c->batch.at++;
    return c->batch.at < c->batch.chosen_count ? SQLITE_OK : next_batch(c);
}

static int objects_eof(sqlite3_vtab_cursor *base) { return ((cursor *)base)->end; }

static int objects_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
    cursor *c = (cursor *)base;
    if (i == SQL_INSTANCEOF)
        sqlite3_result_error(context,
                             "use the column only as a condition, objects.instanceof = 'java.util.AbstractMap'; "
                             "elsewhere use instanceof(class_id, 'java.util.AbstractMap')",
                             -1);
    else
        hdx_sql_batch_result(&c->batch, (sql_column)i, slot_of(c), context);
    return SQLITE_OK;
}

static int objects_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    cursor *c = (cursor *)base;
    *out = (sqlite3_int64)sql_batch_id(&c->batch, slot_of(c));
    return SQLITE_OK;
}

/*
 * instanceof(class_id, NAME) is a condition on classes, and elsewhere an ordinary function. Its numbers are those of
 * the first dump; for another dump it is left to SQLite.
 */
static int objects_find_function(sqlite3_vtab *base, int count, const char *name,
                                 void (**function)(sqlite3_context *, int, sqlite3_value **), void **own)
{
    const table *t = (table *)base;
    if (count != 2 || sqlite3_stricmp(name, "instanceof") != 0 || t->heap != hdx_sql_heap_of(t->db, NULL))
        return 0;
    *function = hdx_sql_instanceof;
    *own = t->db->tools;
    return SQLITE_INDEX_CONSTRAINT_FUNCTION;
}

static const sqlite3_module module = {
    .xCreate = objects_create,
    .xConnect = objects_connect,
    .xBestIndex = objects_best_index,
    .xDisconnect = objects_disconnect,
    .xDestroy = objects_disconnect,
    .xOpen = objects_open,
    .xClose = objects_close,
    .xFilter = objects_filter,
    .xNext = objects_next,
    .xEof = objects_eof,
    .xColumn = objects_column,
    .xRowid = objects_rowid,
    .xFindFunction = objects_find_function,
};
static const char *const tables[] = { "objects", NULL };
const sql_module         hdx_sql_objects = { "heapdex_objects", &module, tables };
