/*
 * objects_plan.c - plans of the table of objects.
 *
 * In:  SQLite's view of a statement: conditions, order, limit.
 * Out: the way to the objects with the fewest reads of the index, and what is evaluated here rather than by SQLite.
 *
 * A plan is a text that EXPLAIN QUERY PLAN shows and that hdx_sql_plan_read reads into a search: the way, then
 * "column=?" for each value that comes with it.
 */
#include "sql/objects.h"

#include <stdio.h>

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

static bool is_number(sql_column column)
{
    return column != SQL_CLASS && column != SQL_KIND && column != SQL_HEAP && column != SQL_INSTANCEOF;
}

static const char *const ways[] = { "all", "by-class", "dominated-by", "by-address", "by-id" };

/* ---- choosing ---- */

typedef struct planning {
    sqlite3_index_info *info;
    sql_objects        *t;
    hdx_buffer          text;
    int                 arguments;
    sql_way             way;
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
    sql_way    to = SQL_ALL;
    double     rows = p->rows * (equal ? 0.01 : 0.25);
    if (several)
        sqlite3_vtab_in(p->info, i, 1);
    if (column == SQL_CLASS || column == SQL_CLASS_ID || column == SQL_INSTANCEOF) {
        sqlite3_value *value = NULL;
        uint32_t       count;
        (void)hdx_graph_classes(p->t->heap->g, &count);
        to = equal || function || !is_number(column) ? SQL_BY_CLASS : SQL_ALL;
        if ((column == SQL_CLASS || heirs) && !several && sqlite3_vtab_rhs_value(p->info, i, &value) == SQLITE_OK)
            rows = instances_of(p->t->heap, heirs, c->op, value);
        else
            rows = p->rows / (count == 0 ? 1 : count) * (equal && !several ? 1 : 8);
    } else if (i == p->lead && column == SQL_ID) {
        to = SQL_BY_ID, rows = several ? 25 : 1;
    } else if (i == p->lead && column == SQL_ADDRESS) {
        to = SQL_BY_ADDRESS, rows = several ? 25 : 1;
    } else if (i == p->lead) {
        to = SQL_DOMINATED_BY, rows = several ? 100 : 8;
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
    if (info->nOrderBy == 1 && (column == SQL_CLASS || column == SQL_CLASS_ID) && p->way <= SQL_BY_CLASS) {
        const uint64_t own = 1ull << SQL_CLASS | 1ull << SQL_CLASS_ID;
        p->way = SQL_BY_CLASS;
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

int hdx_sql_objects_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    sql_objects             *t = (sql_objects *)base;
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
    const double looked_at = p.way >= SQL_DOMINATED_BY ? p.rows : p.way == SQL_BY_CLASS ? p.rows * 1.2 : all * 0.2;
    plan_order(&p);
    info->estimatedRows = p.rows < 1 ? 1 : (sqlite3_int64)p.rows;
    info->estimatedCost = looked_at + p.rows + 1;
    /* OR passes its conditions one by one, which does not work here */
    if ((info->colUsed >> SQL_INSTANCEOF & 1) != 0 && !heirs)
        info->estimatedCost = 1e30;
    if (p.way == SQL_BY_ID && info->nOrderBy == 0 && p.rows <= 1)
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    info->idxNum = (int)p.way;
    info->idxStr = p.text.failed ? NULL : sqlite3_mprintf("%s%s", ways[p.way], p.text.len == 0 ? "" : p.text.at);
    info->needToFreeIdxStr = 1;
    hdx_buffer_free(&p.text);
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- reading ---- */

/* Adds the objects that a number names, as an id, an address, or a dominator. */
static hdx_code push_named(sql_search *c, sql_column column, sqlite3_value *value, hdx_error *err)
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
        return hdx_graph_find(g, (hdx_addr)range.least, &id) ? hdx_sql_search_push(c, id, err) : HDX_OK;
    if (range.least < 0 || (uint64_t)range.least >= hdx_graph_objects(g))
        return HDX_OK;
    if (column == SQL_ID)
        return hdx_sql_search_push(c, (hdx_id)range.least, err);
    hdx_graph_dominated(g, (hdx_id)range.least, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id))
        if ((code = hdx_sql_search_push(c, id, err)) == HDX_OK)
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
static bool names_objects(const sql_search *c, sql_column column)
{
    return !c->named &&
           ((c->way == SQL_BY_ID && column == SQL_ID) || (c->way == SQL_BY_ADDRESS && column == SQL_ADDRESS) ||
            (c->way == SQL_DOMINATED_BY && column == SQL_DOMINATOR));
}

static hdx_code apply_list(sql_search *c, sql_column column, sqlite3_value *list, hdx_error *err)
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

/*
 * An unknown class is only a notice, because interfaces such as java.util.Map are not in dumps. Consecutive notices of
 * one name are reported once, because joins repeat them.
 */
static void report_unknown(sql_search *c, sqlite3_value *value)
{
    char             line[200];
    const hdx_query *q = &c->heap->query;
    const char      *name = (const char *)sqlite3_value_text(value);
    if (hdx_sql_search_instances(c) > 0 || q->notice == NULL || name == NULL ||
        strncmp(c->t->last_unknown, name, sizeof c->t->last_unknown - 1) == 0 ||
        instances_of(c->heap, true, 0, value) > 0)
        return;
    (void)snprintf(c->t->last_unknown, sizeof c->t->last_unknown, "%s", name);
    (void)snprintf(line, sizeof line,
                   "unknown class %.60s: dumps do not record interfaces; name a class such as java.util.AbstractMap",
                   name);
    q->notice(q->notice_context, line);
}

static hdx_code apply_condition(sql_search *c, sql_column column, int op, sqlite3_value *value, hdx_error *err)
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
static hdx_code read_word(sql_search *c, const char *at, size_t len, sqlite3_value *value, hdx_error *err)
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

hdx_code hdx_sql_plan_read(sql_search *c, const char *text, sqlite3_value **values, hdx_error *err)
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
