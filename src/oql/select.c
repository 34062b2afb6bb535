/*
 * select.c - translates a SELECT: the source of its rows, its condition, its columns.
 *
 *     FROM C s               objects s WHERE s.class='C', or, if one of its fields is used, the table "C" s
 *     FROM INSTANCEOF C s    objects s WHERE s.instanceof='C', or "instanceof C" s
 *     FROM OBJECTS C c       objects c that are class objects of C
 *     FROM (SELECT ...) s    of class objects: their instances; of a table: its rows
 *     FROM OBJECTS (...) s   those objects
 *
 * SELECT * and SELECT OBJECTS show objects, as MAT does: id, address, class, label and both sizes. In a sub-select they
 * show ids only.
 */
#include "oql/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Returns a table name that the query does not use. */
const char *hdx_oql_table_name(oql *o)
{
    char name[16];
    for (;;) {
        if (o->tables++ == 0)
            (void)snprintf(name, sizeof name, "o");
        else
            (void)snprintf(name, sizeof name, "o%u", o->tables);
        bool taken = false;
        for (uint32_t i = 0; i < o->token_count && !taken; i++)
            taken =
                o->tokens[i].len == strlen(name) && strncasecmp(o->text + o->tokens[i].at, name, o->tokens[i].len) == 0;
        if (!taken)
            return hdx_oql_format(o, "%s", name);
    }
}

/* ---- FROM ---- */

static bool names_row(const oql_node *n, const char *alias)
{
    return n->kind == OQL_IS_ROW || (n->kind == OQL_IS_NAME &&
                                     (hdx_oql_same(n->text, "this") || (alias != NULL && strcmp(n->text, alias) == 0)));
}

/*
 * Returns whether the SELECT uses a field that is a column of the class's table. This affects speed only: both ways
 * give the same rows.
 */
static bool wants_columns(oql *o, const oql_select *s, const char *class_name)
{
    uint8_t type;
    if (!hdx_oql_class_has_table(o, class_name))
        return false;
    for (const oql_node *n = s->made_last; n != NULL && n != s->made_before; n = n->made) {
        const bool member = n->kind == OQL_IS_MEMBER && names_row(n->a, s->alias);
        const bool bare = n->kind == OQL_IS_NAME && !names_row(n, s->alias);
        if ((member || bare) && hdx_oql_class_has_column(o, class_name, n->text, &type))
            return true;
    }
    return false;
}

static bool of_class(oql *o, const oql_select *s, oql_scope *out, const char *name, bool heirs)
{
    if (!hdx_oql_class_there(o, name))
        return hdx_oql_no_class(o, s->from_at, name) != NULL;
    if (s->of_objects) {
        out->classes = true;
        out->where = hdx_oql_format(o,
                                    heirs ? "%s.id IN (SELECT object FROM classes WHERE instanceof(class_id,%s))"
                                          : "%s.id IN (SELECT object FROM classes WHERE name=%s)",
                                    out->alias, hdx_oql_literal(o, name));
        return out->where != NULL;
    }
    if (heirs && hdx_oql_is_interface(o, name))
        return hdx_oql_no_heirs(o, s->from_at, name) != NULL;
    out->class_name = name;
    out->heirs = heirs;
    out->classes = strcmp(name, "java.lang.Class") == 0;
    if (!out->classes && wants_columns(o, s, name)) {
        out->table = SCOPE_CLASS;
        out->from = hdx_oql_format(o, "%s %s", hdx_oql_class_table(o, name, heirs), out->alias);
    } else
        out->where =
            hdx_oql_format(o, "%s.%s=%s", out->alias, heirs ? "instanceof" : "class", hdx_oql_literal(o, name));
    return o->code == HDX_OK;
}

/* Selects classes that satisfy a condition on `classes`, and their subclasses. */
static const char *class_ids(oql *o, bool heirs, const char *where)
{
    if (!heirs)
        return hdx_oql_format(o, "SELECT class_id FROM classes WHERE %s", where);
    const char *t = hdx_oql_table_name(o);
    return hdx_oql_format(
        o,
        "WITH RECURSIVE %s(n) AS (SELECT class_id FROM classes WHERE %s UNION SELECT c.class_id FROM %s JOIN "
        "classes c ON c.super=%s.n) SELECT n FROM %s",
        t, where, t, t, t);
}

/* Selects classes by a condition on `classes`, as class objects or as their instances. */
static bool of_classes(oql *o, const oql_select *s, oql_scope *out, const char *where)
{
    out->classes = s->of_objects;
    if (s->of_objects && !s->of_heirs)
        out->where = hdx_oql_format(o, "%s.id IN (SELECT object FROM classes WHERE %s)", out->alias, where);
    else if (s->of_objects)
        out->where = hdx_oql_format(o, "%s.id IN (SELECT object FROM classes WHERE class_id IN (%s))", out->alias,
                                    class_ids(o, true, where));
    else
        out->where = hdx_oql_format(o, "%s.class_id IN (%s)", out->alias, class_ids(o, s->of_heirs, where));
    return out->where != NULL;
}

static bool of_pattern(oql *o, const oql_select *s, oql_scope *out)
{
    if (o->g != NULL && hdx_graph_class_named(o->g, s->name) != NULL) /* a name in quotes, as in mat-calcite */
        return of_class(o, s, out, s->name, s->of_heirs);
    const char *pattern = hdx_oql_literal(o, hdx_oql_regex(o, s->from_at, s->name));
    if (s->of_objects || s->of_heirs)
        return of_classes(o, s, out, hdx_oql_format(o, "name REGEXP %s", pattern));
    out->where = hdx_oql_format(o, "%s.class REGEXP %s", out->alias, pattern);
    return out->where != NULL;
}

static bool of_addresses(oql *o, const oql_select *s, oql_scope *out)
{
    const char *list = NULL;
    hdx_buffer  b = hdx_buffer_of(NULL);
    for (const oql_node *n = s->from; n != NULL; n = n->next)
        hdx_buffer_format(&b, "%s%s", n == s->from ? "" : ",", n->text);
    list = b.failed ? hdx_oql_fail(o, HDX_LIMIT, s->from_at, NULL, "no memory for addresses")
                    : hdx_oql_format(o, "%s", b.at);
    hdx_buffer_free(&b);
    const char *where =
        s->from->next == NULL ? hdx_oql_format(o, "address=%s", list) : hdx_oql_format(o, "address IN (%s)", list);
    if (!s->of_objects || s->of_heirs)
        return of_classes(o, s, out, where);
    out->where = hdx_oql_format(o, "%s.%s", out->alias, where);
    return out->where != NULL;
}

/* Returns whether rows of this SELECT are class objects. */
static bool gives_classes(oql *o, const oql_select *s)
{
    const oql_node *v = s->items == NULL ? NULL : s->items->value;
    if (v != NULL &&
        ((v->kind == OQL_IS_CALL && hdx_oql_same(v->text, "classof")) ||
         (v->kind == OQL_IS_ATTRIBUTE && (hdx_oql_same(v->text, "clazz") || hdx_oql_same(v->text, "class")))))
        return true;
    switch (s->source) {
    case OQL_OF_CLASS: return s->of_objects || strcmp(s->name, "java.lang.Class") == 0;
    case OQL_OF_PATTERN:
    case OQL_OF_PATH: return s->of_objects;
    case OQL_OF_ADDRESS: {
        hdx_id id;
        return s->of_objects && (s->of_heirs || o->g == NULL ||
                                 (hdx_graph_find(o->g, strtoull(s->from->text, NULL, 0), &id) &&
                                  hdx_graph_class_object(o->g, id) != NULL));
    }
    case OQL_OF_SELECT: return s->of_objects && gives_classes(o, s->inner);
    }
    return false;
}

bool hdx_oql_gives_objects(const oql_select *s)
{
    const oql_item *i = s->items;
    if (s->objects || s->retained)
        return true;
    if (s->source == OQL_OF_SELECT && !hdx_oql_gives_objects(s->inner)) /* the source is a table */
        return false;
    return s->star || (i->next == NULL && i->name == NULL && s->group == NULL && names_row(i->value, s->alias));
}

static bool of_select(oql *o, const oql_select *s, oql_scope *out)
{
    if (!hdx_oql_gives_objects(s->inner)) {
        if (s->of_heirs)
            return hdx_oql_refuse(o, s->from_at, "use SELECT OBJECTS classof(s) for classes",
                                  "INSTANCEOF needs classes, but this SELECT returns a table") != NULL;
        out->table = SCOPE_DERIVED;
        out->from = hdx_oql_format(o, "(%s) %s", hdx_oql_statement(o, s->inner, out->outer, WANT_TABLE), out->alias);
        return out->from != NULL;
    }
    const char *ids = hdx_oql_statement(o, s->inner, out->outer, WANT_IDS);
    if (s->of_objects && !s->of_heirs) {
        out->classes = gives_classes(o, s->inner);
        out->where = hdx_oql_format(o, "%s.id IN (%s)", out->alias, ids);
        return out->where != NULL;
    }
    if (!gives_classes(o, s->inner))
        return hdx_oql_refuse(o, s->from_at, "use FROM OBJECTS (SELECT ...) for the objects themselves",
                              "FROM (SELECT ...) needs class objects") != NULL;
    return of_classes(o, s, out, hdx_oql_format(o, "object IN (%s)", ids));
}

static bool of_path(oql *o, const oql_select *s, oql_scope *out)
{
    const oql_node *n = s->from, *name = n->kind == OQL_IS_METHOD ? n->list : NULL;
    if (!s->of_objects && name != NULL && n->a->kind == OQL_IS_SNAPSHOT && strcmp(n->text, "getClassesByName") == 0 &&
        name->kind == OQL_IS_STRING && n->number == 2 && name->next->kind == OQL_IS_BOOL)
        return of_class(o, s, out, name->text, s->of_heirs || name->next->number != 0);
    value v = hdx_oql_value(o, s->from, out->outer);
    if (v.kind == VALUE_SNAPSHOT)
        return hdx_oql_refuse(o, s->from_at, "use ${snapshot}.getClasses() or ${snapshot}.@GCRoots",
                              "the snapshot itself has no rows") != NULL;
    if (v.kind == VALUE_ROOTS)
        return hdx_oql_refuse(o, s->from_at, "use the SQL table roots: id, type, thread, frame",
                              "GC root information is not an object") != NULL;
    const char *column = s->of_objects && !s->of_heirs ? hdx_oql_format(o, "%s.id", out->alias) : "object";
    const char *where = v.kind == VALUE_LIST ? hdx_oql_ids_in_list(o, column, v)
                                             : hdx_oql_format(o, "%s=%s", column, hdx_oql_object_of(o, s->from_at, v));
    if (s->of_objects && !s->of_heirs) {
        out->classes = v.kind == VALUE_CLASS || v.classes;
        out->where = where;
        return where != NULL;
    }
    if (v.kind == VALUE_LIST && !v.classes && v.list != LIST_SELECT)
        return hdx_oql_refuse(o, s->from_at, "write FROM OBJECTS before the objects",
                              "FROM needs classes, but these are objects") != NULL;
    return of_classes(o, s, out, where);
}

static bool open_scope(oql *o, const oql_select *s, oql_scope *outer, oql_scope *out)
{
    *out = (oql_scope){ .outer = outer, .select = s, .table = SCOPE_OBJECTS, .grouped = s->group != NULL };
    out->alias =
        s->alias == NULL || hdx_oql_reserved(s->alias) ? hdx_oql_table_name(o) : hdx_oql_identifier(o, s->alias);
    out->from = hdx_oql_format(o, "objects %s", out->alias);
    if (out->from == NULL)
        return false;
    switch (s->source) {
    case OQL_OF_CLASS: return of_class(o, s, out, s->name, s->of_heirs);
    case OQL_OF_PATTERN: return of_pattern(o, s, out);
    case OQL_OF_ADDRESS: return of_addresses(o, s, out);
    case OQL_OF_SELECT: return of_select(o, s, out);
    case OQL_OF_PATH: return of_path(o, s, out);
    }
    return false;
}

/* ---- columns ---- */

typedef struct shown {
    const char *columns;
    const char *join;     /* " JOIN ..." or "" */
    const char *where;    /* an additional condition; NULL: none */
    bool        distinct; /* the rows may repeat without DISTINCT */
} shown;

/* Returns the columns of a table that has the columns of `objects`. */
static const char *object_columns(oql *o, const char *t)
{
    return hdx_oql_format(o, "%s.id, %s.address, %s.class, label(%s.id) AS label, %s.shallow, %s.retained", t, t, t, t,
                          t, t);
}

static const char *row_columns(oql *o, const oql_scope *s)
{
    if (s->table == SCOPE_OBJECTS)
        return object_columns(o, s->alias);
    const char *t = s->alias;
    return hdx_oql_format(o,
                          "%s.this AS id, %s.\"@address\" AS address, %s.class, label(%s.this) AS label, "
                          "%s.\"@shallow\" AS shallow, %s.\"@retained\" AS retained",
                          t, t, t, t, t, t);
}

static bool show_row(oql *o, const oql_scope *scope, oql_want want, shown *out)
{
    if (scope->table == SCOPE_DERIVED) {
        if (want == WANT_IDS)
            return hdx_oql_refuse(o, scope->select->at, "name the column that contains objects",
                                  "this SELECT returns a table, not objects") != NULL;
        out->columns = hdx_oql_format(o, "%s.*", scope->alias);
    } else if (want == WANT_IDS || want == WANT_VALUE)
        out->columns = hdx_oql_row(o, scope, ROW_ID);
    else
        out->columns = row_columns(o, scope);
    return out->columns != NULL;
}

/* Selects the objects of a value without NULLs: as a join, so that each row has its own objects. */
static bool show_objects(oql *o, const oql_node *n, oql_scope *scope, oql_want want, shown *out)
{
    value       v = hdx_oql_value(o, n, scope);
    const bool  ids = want != WANT_ROWS && want != WANT_TABLE;
    const char *t;
    out->distinct = true;
    if (o->code != HDX_OK)
        return false;
    if (v.row == scope && v.kind == VALUE_OBJECT && scope->table != SCOPE_DERIVED) {
        out->distinct = false;
        return show_row(o, scope, want, out);
    }
    if (v.kind == VALUE_ARRAY) /* means its elements */
        v = hdx_oql_list_of(o, LIST_ELEMENTS, v.sql);
    if (o->code != HDX_OK)
        return false;
    if (v.kind == VALUE_LIST && v.list == LIST_SELECT) {
        t = hdx_oql_table_name(o);
        out->join = hdx_oql_format(o, " JOIN objects %s ON %s.id IN (%s)", t, t, v.select);
        out->columns = ids ? hdx_oql_format(o, "%s.id", t) : object_columns(o, t);
    } else if (v.kind == VALUE_LIST) {
        out->join = hdx_oql_format(o, " JOIN %s ON %s", v.from, v.where == NULL ? "1" : v.where);
        if (ids) /* without NULLs: an element may be null */
            out->where = v.ref == NULL ? NULL : hdx_oql_format(o, "%s IS NOT NULL", v.ref);
        if (ids)
            out->columns = v.ref == NULL ? v.column : v.ref;
        else if (v.objects)
            out->columns =
                object_columns(o, hdx_oql_format(o, "%.*s", (int)(strrchr(v.column, '.') - v.column), v.column));
        else {
            t = hdx_oql_table_name(o);
            out->join =
                hdx_oql_format(o, "%s JOIN objects %s ON %s.id=%s", out->join, t, t, v.ref == NULL ? v.column : v.ref);
            out->columns = object_columns(o, t);
        }
    } else {
        const char *id = hdx_oql_object_of(o, n->at, v);
        if (ids) {
            out->columns = id;
            out->where = v.nullable ? hdx_oql_format(o, "%s IS NOT NULL", id) : NULL;
        } else {
            t = hdx_oql_table_name(o);
            out->join = hdx_oql_format(o, " JOIN objects %s ON %s.id=%s", t, t, id);
            out->columns = object_columns(o, t);
        }
    }
    return o->code == HDX_OK;
}

#define HEADING_MOST 80u

static bool is_shown_as_text(value v)
{
    return v.kind == VALUE_TEXT || v.kind == VALUE_CHAR || v.kind == VALUE_CLASS || v.kind == VALUE_ROOTS;
}

/* Returns one column. Its heading is the text in the query, as in MAT, unless it is a column's plain name. */
static const char *column(oql *o, oql_item *item, oql_scope *scope, oql_want want)
{
    const oql_node *n = item->value;
    value           v = hdx_oql_value(o, n, scope);
    const char     *sql;
    if (o->code != HDX_OK)
        return NULL;
    item->shown = v.kind == VALUE_LIST && v.list == LIST_SELECT && !v.objects ? SHOWN_VALUES
                  : v.kind == VALUE_LIST                                      ? SHOWN_IDS
                  : is_shown_as_text(v)                                       ? SHOWN_TEXT
                                                                              : SHOWN_ANY;
    if (v.kind == VALUE_LIST && v.sql != NULL) /* a column of a sub-select, where it is already a text */
        sql = v.sql;
    else if (v.kind == VALUE_LIST && v.list == LIST_SELECT)
        sql = hdx_oql_format(o, "(WITH l(v) AS (%s) SELECT group_concat(v) FROM l)", v.select);
    else if (v.kind == VALUE_LIST)
        sql = hdx_oql_format(o,
                             want == WANT_TABLE && v.ref != NULL /* an element may be null, and counts in a list */
                                 ? "(SELECT group_concat(coalesce(%s,'null')) FROM %s%s)"
                                 : "(SELECT group_concat(%s) FROM %s%s)",
                             v.column, v.from, hdx_oql_list_where(o, v, NULL));
    else if (v.kind == VALUE_CLASS)
        sql = v.name;
    else if (v.kind == VALUE_CHAR)
        sql = v.text;
    else
        sql = hdx_oql_scalar_of(o, n->at, v, BINDS_OR);
    if (item->name != NULL)
        return hdx_oql_format(o, "%s AS %s", sql, hdx_oql_identifier(o, item->name));
    if (v.plain || n->end - n->at > HEADING_MOST)
        return sql;
    return hdx_oql_format(o, "%s AS %s", sql,
                          hdx_oql_identifier(o, hdx_oql_format(o, "%.*s", (int)(n->end - n->at), o->text + n->at)));
}

static bool show_items(oql *o, const oql_select *s, oql_scope *scope, oql_want want, shown *out)
{
    if (want == WANT_VALUE) {
        if (s->items->next != NULL)
            return hdx_oql_refuse(o, s->at, "select one value, or use a join in heapdex sql",
                                  "a SELECT with several columns is not a value") != NULL;
        value v = hdx_oql_value(o, s->items->value, scope);
        if (o->code == HDX_OK && v.kind == VALUE_LIST)
            return hdx_oql_refuse(o, s->items->value->at, "use SELECT OBJECTS for each of its objects",
                                  "a list is not a single value") != NULL;
        out->columns = v.kind == VALUE_CLASS ? v.name : hdx_oql_scalar_of(o, s->items->value->at, v, BINDS_OR);
        out->distinct = true;
        return out->columns != NULL;
    }
    hdx_buffer b = hdx_buffer_of(NULL);
    for (oql_item *i = s->items; i != NULL && o->code == HDX_OK && !b.failed && b.len <= SQL_MOST; i = i->next) {
        const char *sql = column(o, i, scope, want);
        hdx_buffer_format(&b, "%s%s", i == s->items ? "" : ", ", sql == NULL ? "" : sql);
    }
    out->columns =
        b.failed ? hdx_oql_fail(o, HDX_LIMIT, s->at, NULL, "no memory for a list") : hdx_oql_format(o, "%s", b.at);
    out->distinct = true;
    hdx_buffer_free(&b);
    return out->columns != NULL;
}

static bool show(oql *o, const oql_select *s, oql_scope *scope, oql_want want, shown *out)
{
    *out = (shown){ .join = "" };
    if (s->star) {
        if (s->group != NULL)
            return hdx_oql_refuse(o, s->at, "select the grouping columns and aggregates such as COUNT(*)",
                                  "SELECT * cannot be grouped") != NULL;
        return show_row(o, scope, want, out);
    }
    if (s->objects || want == WANT_IDS) {
        if (s->items->next != NULL)
            return hdx_oql_refuse(o, s->items->next->value->at, "remove OBJECTS for a table, or use UNION",
                                  "SELECT OBJECTS needs one value") != NULL;
        return show_objects(o, s->items->value, scope, want, out);
    }
    return show_items(o, s, scope, want, out);
}

/* ---- the statement ---- */

/* Returns " GROUP BY a, b". */
static const char *list(oql *o, const char *word, const oql_node *first, oql_scope *scope)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_buffer_text(&b, "");
    for (const oql_node *n = first; n != NULL && o->code == HDX_OK && b.len <= SQL_MOST; n = n->next) {
        value       v = hdx_oql_value(o, n, scope);
        const char *sql = v.kind == VALUE_CLASS ? v.name : hdx_oql_scalar_of(o, n->at, v, BINDS_OR);
        hdx_buffer_format(&b, "%s%s%s", n == first ? word : ", ", sql == NULL ? "" : sql, n->descending ? " DESC" : "");
    }
    const char *out =
        b.failed ? hdx_oql_fail(o, HDX_LIMIT, 0, NULL, "no memory for a list") : hdx_oql_format(o, "%s", b.at);
    hdx_buffer_free(&b);
    return out;
}

static const char *whole_number(oql *o, const oql_node *n)
{
    return n->text[strspn(n->text, "0123456789")] == '\0'
               ? n->text
               : hdx_oql_refuse(o, n->at, NULL, "%.20s is not a whole number", n->text);
}

static const char *limits(oql *o, const oql_select *s)
{
    if (s->limit == NULL && s->offset == NULL)
        return "";
    const char *limit = s->limit == NULL ? "-1" : whole_number(o, s->limit);
    if (s->offset == NULL)
        return hdx_oql_format(o, " LIMIT %s", limit);
    return hdx_oql_format(o, " LIMIT %s OFFSET %s", limit, whole_number(o, s->offset));
}

/* Returns one SELECT without its UNIONs. group_ids: its ids become an argument of group_ids(). */
static const char *single_select(oql *o, const oql_select *s, oql_scope *outer, oql_want want, bool group_ids)
{
    oql_scope scope;
    shown     out;
    if (!open_scope(o, s, outer, &scope))
        return NULL;
    const char *where = scope.where;
    if (s->where != NULL) {
        const char *more = hdx_oql_condition(o, s->where, &scope, where == NULL ? BINDS_OR : BINDS_AND);
        where = where == NULL ? more : hdx_oql_format(o, "%s AND %s", where, more);
    }
    if (o->code != HDX_OK || !show(o, s, &scope, want, &out))
        return NULL;
    if (out.where != NULL)
        where = where == NULL ? out.where : hdx_oql_format(o, "%s AND %s", where, out.where);
    if (s->having != NULL && s->group == NULL && !scope.aggregated)
        return hdx_oql_refuse(o, s->having->at, "put conditions on single objects in WHERE", "HAVING needs groups");
    scope.named = true;
    const char *group = list(o, " GROUP BY ", s->group, &scope);
    const char *having =
        s->having == NULL ? "" : hdx_oql_format(o, " HAVING %s", hdx_oql_condition(o, s->having, &scope, BINDS_OR));
    const char *order = list(o, " ORDER BY ", s->order, &scope);
    if (group_ids)
        out.columns = hdx_oql_format(o, "group_ids(%s)", out.columns);
    return hdx_oql_format(o, "SELECT %s%s FROM %s%s%s%s%s%s%s%s", s->distinct && out.distinct ? "DISTINCT " : "",
                          out.columns, scope.from, out.join, where == NULL ? "" : " WHERE ", where == NULL ? "" : where,
                          group, having, order, limits(o, s));
}

/* Translates AS RETAINED SET: everything that would be freed with the objects of the SELECT. */
static const char *retained(oql *o, const oql_select *s, oql_scope *outer, oql_want want)
{
    if (s->group != NULL || s->having != NULL)
        return hdx_oql_refuse(o, s->at, "for groups use retained_set_size(id) in SQL",
                              "a retained set cannot be grouped");
    const bool  simple = s->order == NULL && s->limit == NULL && s->offset == NULL;
    const char *ids = single_select(o, s, outer, WANT_IDS, simple);
    if (!simple)
        ids = hdx_oql_format(o, "WITH l(v) AS (%s) SELECT group_ids(v) FROM l", ids);
    const char *r = hdx_oql_table_name(o);
    if (want == WANT_IDS || want == WANT_VALUE)
        return hdx_oql_format(o, "SELECT %s.id FROM retained_set((%s)) %s", r, ids, r);
    const char *t = hdx_oql_table_name(o);
    return hdx_oql_format(o, "SELECT %s FROM retained_set((%s)) %s JOIN objects %s ON %s.id=%s.id",
                          object_columns(o, t), ids, r, t, t, r);
}

/* Returns the number of columns of a SELECT. */
static unsigned column_count(const oql_select *s)
{
    unsigned n = 0;
    while (!s->objects && !s->retained && s->star && s->source == OQL_OF_SELECT && !hdx_oql_gives_objects(s->inner))
        s = s->inner;
    if (s->star || s->objects || s->retained)
        return 6;
    for (const oql_item *i = s->items; i != NULL; i = i->next)
        n++;
    return n;
}

const char *hdx_oql_statement(oql *o, const oql_select *s, oql_scope *outer, oql_want want)
{
    const bool  several = s->more != NULL, columns = want == WANT_ROWS || want == WANT_TABLE;
    hdx_buffer  b = hdx_buffer_of(NULL);
    const char *all = NULL;
    for (const oql_select *part = s; part != NULL && o->code == HDX_OK && b.len <= SQL_MOST; part = part->more) {
        if (columns && column_count(part) != column_count(s)) {
            hdx_oql_refuse(o, part->at, "SELECT * and SELECT OBJECTS have 6 columns",
                           "%u columns, but the previous SELECT has %u", column_count(part), column_count(s));
            break;
        }
        const char *sql = part->retained ? retained(o, part, outer, want) : single_select(o, part, outer, want, false);
        if (!several)
            return sql;
        const bool ordered = part->order != NULL || part->limit != NULL || part->offset != NULL;
        hdx_buffer_format(&b, "%s%s%s%s", part == s ? "" : " UNION ALL ", ordered ? "SELECT * FROM (" : "",
                          sql == NULL ? "" : sql, ordered ? ")" : "");
    }
    all = b.failed ? hdx_oql_fail(o, HDX_LIMIT, s->at, NULL, "no memory for a UNION") : hdx_oql_format(o, "%s", b.at);
    hdx_buffer_free(&b);
    return all;
}
