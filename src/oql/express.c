/*
 * express.c - translates expressions: names, operators, comparisons.
 *
 * SQL's NULL is not Java's null. In Java `a != b` is true if one of them is null, and NOT LIKE and NOT IN are, too; in
 * SQL they are NULL. So != of values that may be NULL becomes IS NOT, and the other two are compared with 1. True in
 * OQL are numbers other than 0, and all objects that are not null.
 */
#include "oql/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* Keeps a function's locals out of the frame of hdx_oql_value, which a nested query calls at each level. */
#define LEVEL __attribute__((noinline))

value hdx_oql_value_of(value_kind kind, binding binds, const char *sql)
{
    return (value){ .kind = kind, .binds = binds, .sql = sql };
}

static const char *wrap(oql *o, const char *sql, binding binds, binding least)
{
    return binds >= least ? sql : hdx_oql_format(o, "(%s)", sql);
}

/* ---- lists ---- */

const char *hdx_oql_list_where(oql *o, value l, const char *and_also)
{
    if (l.where == NULL && and_also == NULL)
        return "";
    if (l.where == NULL || and_also == NULL)
        return hdx_oql_format(o, " WHERE %s", l.where == NULL ? and_also : l.where);
    return hdx_oql_format(o, " WHERE %s AND %s", l.where, and_also);
}

static const char *exists(oql *o, value l)
{
    if (l.list == LIST_SELECT)
        return hdx_oql_format(o, "EXISTS (%s)", l.select);
    return hdx_oql_format(o, "EXISTS (SELECT 1 FROM %s%s)", l.from, hdx_oql_list_where(o, l, NULL));
}

value hdx_oql_count(oql *o, value l)
{
    value v = hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL,
                               l.list == LIST_SELECT ? hdx_oql_format(o, "(SELECT count(*) FROM (%s))", l.select)
                                                     : hdx_oql_format(o, "(SELECT count(*) FROM %s%s)", l.from,
                                                                      hdx_oql_list_where(o, l, NULL)));
    v.exists = exists(o, l);
    return v;
}

const char *hdx_oql_ids_in_list(oql *o, const char *id, value l)
{
    if (l.list == LIST_SELECT)
        return hdx_oql_format(o, "%s IN (%s)", id, l.select);
    return hdx_oql_format(o, "%s IN (SELECT %s FROM %s%s)", id, l.column, l.from, hdx_oql_list_where(o, l, NULL));
}

/* Chooses the fast direction: one look-up of the object's dominator instead of all objects that another dominates. */
const char *hdx_oql_in_list(oql *o, const char *id, value l)
{
    switch (l.list) {
    case LIST_DOMINATED: return hdx_oql_format(o, "(SELECT dominator FROM objects WHERE id=%s)=%s", id, l.of);
    case LIST_INBOUND: return hdx_oql_format(o, "EXISTS (SELECT 1 FROM refs WHERE src=%s AND dst=%s)", id, l.of);
    case LIST_OUTBOUND: return hdx_oql_format(o, "EXISTS (SELECT 1 FROM refs WHERE src=%s AND dst=%s)", l.of, id);
    case LIST_SELECT:
    case LIST_ELEMENTS:
    case LIST_OTHER: break;
    }
    return hdx_oql_ids_in_list(o, id, l);
}

/* ---- values as SQL ---- */

static const char *first_of(oql *o, value list)
{
    if (list.list == LIST_SELECT)
        return hdx_oql_format(o, "(%s)", list.select);
    return hdx_oql_format(o, "(SELECT %s FROM %s%s)", list.column, list.from, hdx_oql_list_where(o, list, NULL));
}

const char *hdx_oql_scalar_of(oql *o, uint32_t at, value v, binding least)
{
    if (o->code != HDX_OK)
        return NULL;
    switch (v.kind) {
    case VALUE_SNAPSHOT:
        return hdx_oql_refuse(o, at,
                              "${snapshot}.getClasses(), .@GCRoots, .getClassesByName(\"C\", true) are translated",
                              "the snapshot itself is not a value");
    case VALUE_LIST: return v.sql != NULL ? v.sql : first_of(o, v);
    case VALUE_ROOTS:
        return hdx_oql_format(o, "(SELECT group_concat(DISTINCT type) FROM roots WHERE id=%s AND thread IS NULL)",
                              v.of);
    default: break;
    }
    if (v.sql == NULL)
        return hdx_oql_refuse(o, at, "name one of its columns", "a row of a SELECT in FROM is not an object");
    return wrap(o, v.sql, v.binds, least);
}

const char *hdx_oql_scalar(oql *o, const oql_node *n, oql_scope *s, binding least)
{
    return hdx_oql_scalar_of(o, n->at, hdx_oql_value(o, n, s), least);
}

/* Returns the id of an object. */
const char *hdx_oql_object_of(oql *o, uint32_t at, value v)
{
    switch (v.kind) {
    case VALUE_OBJECT:
    case VALUE_ARRAY:
    case VALUE_CLASS:
    case VALUE_ANY: return hdx_oql_scalar_of(o, at, v, BINDS_ALL);
    case VALUE_LIST: return o->code != HDX_OK ? NULL : first_of(o, v);
    case VALUE_NUMBER:
        if (v.sql != NULL && v.plain) /* a column of a sub-select may be an id */
            return v.sql;
        break;
    default: break;
    }
    return hdx_oql_refuse(o, at, "name objects with FROM OBJECTS 0x7f3a10", "this is not an object");
}

const char *hdx_oql_text_of(oql *o, uint32_t at, value v)
{
    const char *id;
    switch (v.kind) {
    case VALUE_TEXT: return hdx_oql_scalar_of(o, at, v, BINDS_ALL);
    case VALUE_CHAR: return v.text;
    case VALUE_CLASS: return v.name;
    case VALUE_ROOTS: return hdx_oql_scalar_of(o, at, v, BINDS_ALL);
    case VALUE_BOOL: return hdx_oql_format(o, "iif(%s,'true','false')", v.sql);
    case VALUE_NULL: return "NULL";
    case VALUE_NUMBER: return hdx_oql_format(o, "CAST(%s AS TEXT)", v.sql);
    case VALUE_OBJECT:
    case VALUE_ARRAY:
    case VALUE_ANY:
        id = hdx_oql_scalar_of(o, at, v, BINDS_OR);
        if (v.row != NULL && v.row->class_name != NULL) /* its class is known, and String has no subclasses */
            return hdx_oql_format(o, strcmp(v.row->class_name, "java.lang.String") == 0 ? "string(%s)" : "label(%s)",
                                  id);
        if (v.text != NULL) /* the array of a String: its characters are the String's */
            return hdx_oql_format(o, "coalesce(string(%s),label(%s))", v.text, id);
        return hdx_oql_format(o, "coalesce(string(%s),label(%s))", id, id);
    case VALUE_LIST:
        if (v.list == LIST_SELECT)
            return hdx_oql_format(o, "(%s)", v.select);
        break;
    case VALUE_SNAPSHOT: break;
    }
    return hdx_oql_refuse(o, at, "use one object or the count: .get(0), .size()", "a list of objects is not a text");
}

static const char *truth(oql *o, uint32_t at, value v, binding least)
{
    if (o->code != HDX_OK)
        return NULL;
    switch (v.kind) {
    case VALUE_OBJECT:
    case VALUE_ARRAY:
    case VALUE_TEXT:
    case VALUE_CLASS:
        return wrap(o, hdx_oql_format(o, "%s IS NOT NULL", hdx_oql_scalar_of(o, at, v, BINDS_LESS)), BINDS_EQUAL,
                    least);
    case VALUE_LIST: return exists(o, v);
    case VALUE_ROOTS: return hdx_oql_format(o, "EXISTS (SELECT 1 FROM roots WHERE id=%s AND thread IS NULL)", v.of);
    default: return hdx_oql_scalar_of(o, at, v, least);
    }
}

const char *hdx_oql_condition(oql *o, const oql_node *n, oql_scope *s, binding least)
{
    return truth(o, n->at, hdx_oql_value(o, n, s), least);
}

/* ---- operators ---- */

static LEVEL value junction(oql *o, const oql_node *n, oql_scope *s)
{
    const bool    is_or = n->kind == OQL_IS_OR;
    const binding binds = is_or ? BINDS_OR : BINDS_AND;
    hdx_buffer    b = hdx_buffer_of(NULL);
    for (const oql_node *part = n->list; part != NULL && o->code == HDX_OK && b.len <= SQL_MOST; part = part->next) {
        const char *sql = hdx_oql_condition(o, part, s, binds);
        hdx_buffer_format(&b, "%s%s", part == n->list ? "" : is_or ? " OR " : " AND ", sql == NULL ? "" : sql);
    }
    const char *all =
        b.failed ? hdx_oql_fail(o, HDX_LIMIT, n->at, NULL, "no memory for a condition") : hdx_oql_format(o, "%s", b.at);
    hdx_buffer_free(&b);
    return hdx_oql_value_of(VALUE_BOOL, binds, all);
}

static bool is_text(value v) { return v.kind == VALUE_TEXT; }
static bool is_object(value v) { return v.kind == VALUE_OBJECT || v.kind == VALUE_ARRAY; }

static value with_null(oql *o, uint32_t at, value v, bool equal)
{
    if (v.kind == VALUE_LIST || v.kind == VALUE_ROOTS) {
        const char *there = truth(o, at, v, BINDS_ALL);
        return hdx_oql_value_of(VALUE_BOOL, equal ? BINDS_NOT : BINDS_ALL,
                                equal ? hdx_oql_format(o, "NOT %s", there) : there);
    }
    return hdx_oql_value_of(
        VALUE_BOOL, BINDS_EQUAL,
        hdx_oql_format(o, "%s IS %sNULL", hdx_oql_scalar_of(o, at, v, BINDS_LESS), equal ? "" : "NOT "));
}

static value compare(oql *o, const oql_node *n, oql_scope *s)
{
    value      l = hdx_oql_value(o, n->a, s), r = hdx_oql_value(o, n->b, s);
    const bool equal = n->op[0] == '=', unequal = n->op[0] == '!';
    if (o->code != HDX_OK)
        return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, NULL);
    if ((equal || unequal) && (l.kind == VALUE_NULL || r.kind == VALUE_NULL))
        return with_null(o, n->at, l.kind == VALUE_NULL ? r : l, equal);
    /* for a comparison with 0 it suffices whether there are any */
    if (l.exists != NULL && r.sql != NULL && strcmp(r.sql, "0") == 0 && (equal || unequal || strcmp(n->op, ">") == 0))
        return equal ? hdx_oql_value_of(VALUE_BOOL, BINDS_NOT, hdx_oql_format(o, "NOT %s", l.exists))
                     : hdx_oql_value_of(VALUE_BOOL, BINDS_ALL, l.exists);
    if (l.kind == VALUE_CLASS && r.kind == VALUE_CLASS) {
        l.sql = l.number;
        r.sql = r.number;
    }
    const bool    order = !equal && !unequal, nullable = l.nullable || r.nullable;
    const binding binds = order ? BINDS_LESS : BINDS_EQUAL, above = (binding)(binds + 1);
    const char   *a, *b;
    /* A text is compared with the text of an object, a character with that of a text, a class by its name. */
    const bool texts =
        is_text(l) || is_text(r) || ((l.kind == VALUE_CHAR || r.kind == VALUE_CHAR) && (is_object(l) || is_object(r)));
    const bool number =
        l.kind == VALUE_NUMBER || r.kind == VALUE_NUMBER || l.kind == VALUE_BOOL || r.kind == VALUE_BOOL;
    if (texts && !number) {
        a = hdx_oql_text_of(o, n->a->at, l);
        b = hdx_oql_text_of(o, n->b->at, r);
    } else {
        a = hdx_oql_scalar_of(o, n->a->at, l, above);
        b = hdx_oql_scalar_of(o, n->b->at, r, above);
    }
    return hdx_oql_value_of(VALUE_BOOL, binds,
                            hdx_oql_format(o, "%s%s%s", a, unequal ? nullable ? " IS NOT " : "<>" : n->op, b));
}

static value arithmetic(oql *o, const oql_node *n, oql_scope *s)
{
    value         l = hdx_oql_value(o, n->a, s), r = hdx_oql_value(o, n->b, s);
    const binding binds = n->op[0] == '+' || n->op[0] == '-' ? BINDS_PLUS : BINDS_TIMES;
    value         out;
    if (o->code != HDX_OK)
        return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, NULL);
    if (n->op[0] == '+' && (is_text(l) || is_text(r))) {
        out = hdx_oql_value_of(
            VALUE_TEXT, BINDS_JOIN,
            hdx_oql_format(o, "%s||%s", hdx_oql_text_of(o, n->a->at, l), hdx_oql_text_of(o, n->b->at, r)));
        out.nullable = l.nullable || r.nullable;
        return out;
    }
    out = hdx_oql_value_of(VALUE_NUMBER, binds,
                           hdx_oql_format(o, "%s %s %s", hdx_oql_scalar_of(o, n->a->at, l, binds), n->op,
                                          hdx_oql_scalar_of(o, n->b->at, r, (binding)(binds + 1))));
    out.nullable = true; /* a division by 0 is NULL */
    return out;
}

static LEVEL value binary(oql *o, const oql_node *n, oql_scope *s)
{
    return strchr("+-*/%", n->op[0]) != NULL ? arithmetic(o, n, s) : compare(o, n, s);
}

/* Converts a pattern of SQL's LIKE to one of GLOB, which is case-sensitive like LIKE in mat-calcite. */
static const char *glob_of_like(oql *o, const char *pattern)
{
    char *out = hdx_oql_get(o, 3 * strlen(pattern) + 1), *at = out;
    if (out == NULL)
        return NULL;
    for (; *pattern != '\0'; pattern++)
        if (*pattern == '%' || *pattern == '_')
            *at++ = *pattern == '%' ? '*' : '?';
        else if (strchr("*?[", *pattern) != NULL)
            at += sprintf(at, "[%c]", *pattern);
        else
            *at++ = *pattern;
    *at = '\0';
    return out;
}

static LEVEL value like(oql *o, const oql_node *n, oql_scope *s)
{
    value       v = hdx_oql_value(o, n->a, s);
    const char *text = o->code != HDX_OK ? NULL : hdx_oql_text_of(o, n->a->at, v);
    const char *pattern = n->number != 0 ? glob_of_like(o, n->text) : hdx_oql_regex(o, n->b->at, n->text);
    const char *sql = o->code != HDX_OK ? NULL
                                        : hdx_oql_format(o, "%s %s %s", text, n->number != 0 ? "GLOB" : "REGEXP",
                                                         hdx_oql_literal(o, pattern));
    return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL, n->negated ? hdx_oql_format(o, "(%s) IS NOT 1", sql) : sql);
}

static LEVEL value in(oql *o, const oql_node *n, oql_scope *s)
{
    value       l = hdx_oql_value(o, n->a, s), r;
    const char *sql;
    if (n->b->kind == OQL_IS_LIST && (n->b->list == NULL || n->b->list->next == NULL)) {
        if (n->b->list == NULL)
            goto no_list;
        r = hdx_oql_asked(o, n->b->list, s);
    } else if (n->b->kind != OQL_IS_LIST)
        r = hdx_oql_asked(o, n->b, s);
    else
        r = hdx_oql_value_of(VALUE_NULL, BINDS_ALL, NULL);
    if (o->code != HDX_OK)
        return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, NULL);
    if (r.kind == VALUE_LIST)
        sql = hdx_oql_in_list(o, hdx_oql_scalar_of(o, n->a->at, l, BINDS_LESS), r);
    else if (is_object(r) || r.kind == VALUE_ANY) {
        value elements = hdx_oql_list_of(o, LIST_ELEMENTS, hdx_oql_object_of(o, n->b->at, r));
        sql = hdx_oql_in_list(o, hdx_oql_scalar_of(o, n->a->at, l, BINDS_LESS), elements);
    } else if (n->b->kind == OQL_IS_LIST) {
        hdx_buffer b = hdx_buffer_of(NULL);
        bool       texts = false;
        hdx_buffer_text(&b, "");
        for (const oql_node *e = n->b->list; e != NULL && o->code == HDX_OK && b.len <= SQL_MOST; e = e->next) {
            value       v = hdx_oql_value(o, e, s);
            const bool  text = is_text(v) || (v.kind == VALUE_CHAR && (is_text(l) || is_object(l)));
            const char *one = text ? hdx_oql_text_of(o, e->at, v) : hdx_oql_scalar_of(o, e->at, v, BINDS_OR);
            texts |= text;
            hdx_buffer_format(&b, "%s%s", e == n->b->list ? "" : ",", one == NULL ? "" : one);
        }
        const char *all =
            b.failed ? hdx_oql_fail(o, HDX_LIMIT, n->at, NULL, "no memory for a list") : hdx_oql_format(o, "%s", b.at);
        hdx_buffer_free(&b);
        sql = hdx_oql_format(o, "%s IN (%s)",
                             texts ? hdx_oql_text_of(o, n->a->at, l) : hdx_oql_scalar_of(o, n->a->at, l, BINDS_LESS),
                             all);
    } else
        goto no_list;
    /* EXISTS (...) and a IN (...) bind at least as tightly as = */
    return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL, n->negated ? hdx_oql_format(o, "(%s) IS NOT 1", sql) : sql);
no_list:
    return hdx_oql_value_of(VALUE_NULL, BINDS_ALL,
                            hdx_oql_refuse(o, n->b->at,
                                           "dominators(s), outbounds(s), (SELECT ...) and (1, 2) are lists",
                                           "IN needs a list"));
}

/* MAT's way to select objects by their kind. Other classes of MAT say nothing about the heap. */
static value implements(oql *o, const oql_node *n, oql_scope *s)
{
    static const struct {
        const char *name, *kind;
    } kinds[] = { { "IInstance", "instance" },
                  { "IObjectArray", "object_array" },
                  { "IPrimitiveArray", "primitive_array" } };
    const char *dot = strrchr(n->text, '.'), *name = dot == NULL ? n->text : dot + 1;
    value       v = hdx_oql_value(o, n->a, s);
    const char *id = o->code != HDX_OK ? NULL : hdx_oql_object_of(o, n->a->at, v);
    const char *sql = NULL;
    if (o->code == HDX_OK && strcmp(name, "IClass") == 0)
        sql = hdx_oql_format(o, "%s IN (SELECT object FROM classes)", id);
    else if (o->code == HDX_OK && strcmp(name, "IArray") == 0)
        sql = hdx_oql_format(o, "%s IN (SELECT id FROM objects WHERE length IS NOT NULL)", id);
    else if (o->code == HDX_OK && strcmp(name, "IClassLoader") == 0)
        sql = hdx_oql_format(o, "%s IN (SELECT id FROM objects WHERE instanceof='java.lang.ClassLoader')", id);
    else if (o->code == HDX_OK) {
        for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (strcmp(name, kinds[i].name) == 0)
                sql = v.row != NULL && v.row->table == SCOPE_OBJECTS
                          ? hdx_oql_format(o, "%s.kind='%s'", v.row->alias, kinds[i].kind)
                          : hdx_oql_format(o, "(SELECT kind FROM objects WHERE id=%s)='%s'", id, kinds[i].kind);
        if (sql == NULL)
            sql = hdx_oql_refuse(o, n->at, "for classes of the dump: FROM INSTANCEOF C",
                                 "IMPLEMENTS supports MAT's IClass, IArray, IInstance, IClassLoader");
    }
    return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL, sql);
}

/* ---- names ---- */

/* Returns the select item with this name, which can be used after WHERE. NULL: none. */
static const oql_node *item_called(const oql_scope *s, const char *called)
{
    for (const oql_item *i = s->select->items; i != NULL; i = i->next)
        if (i->name != NULL && strcmp(i->name, called) == 0)
            return i->value;
    return NULL;
}

static value name(oql *o, const oql_node *n, oql_scope *s)
{
    const oql_node *item;
    for (oql_scope *k = s; k != NULL; k = k->outer)
        if (k->select->alias != NULL && strcmp(k->select->alias, n->text) == 0)
            return hdx_oql_row_value(o, k);
    if (s == NULL)
        return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, hdx_oql_refuse(o, n->at, NULL, "unknown name %.60s", n->text));
    /* The item's expression is repeated, because SQL would prefer a column with its name. It cannot use item names. */
    if (s->named && (item = item_called(s, n->text)) != NULL) {
        s->named = false;
        const value v = hdx_oql_value(o, item, s);
        s->named = true;
        return v;
    }
    if (hdx_oql_same(n->text, "this"))
        return hdx_oql_row_value(o, s);
    return hdx_oql_field_of_row(o, n->at, n->text, s);
}

static value character(oql *o, const oql_node *n)
{
    const unsigned char *t = (const unsigned char *)n->text;
    uint32_t             code = 0;
    unsigned             len = t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : t[0] >= 0xc0 ? 2 : t[0] != 0 ? 1 : 0;
    value                v = hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_literal(o, n->text));
    if (len == 0 || strlen(n->text) != len || len == 4) /* a text in SQL's quotes, or two Java chars */
        return v;
    code = len == 1 ? t[0] : len == 2 ? (t[0] & 0x1fu) << 6 : (t[0] & 0xfu) << 12 | (t[1] & 0x3fu) << 6;
    if (len > 1)
        code |= t[len - 1] & 0x3fu;
    v.kind = VALUE_CHAR;
    v.text = v.sql;
    v.sql = hdx_oql_format(o, "%u", code);
    return v;
}

static LEVEL value select_value(oql *o, const oql_node *n, oql_scope *s)
{
    value v = hdx_oql_value_of(VALUE_LIST, BINDS_ALL, NULL);
    v.list = LIST_SELECT;
    v.nullable = true;
    v.objects = hdx_oql_gives_objects(n->select);
    v.select = hdx_oql_statement(o, n->select, s, v.objects ? WANT_IDS : WANT_VALUE);
    return v;
}

LEVEL value hdx_oql_asked(oql *o, const oql_node *n, oql_scope *s)
{
    const value v = hdx_oql_value(o, n, s);
    if (o->code == HDX_OK && v.joined)
        hdx_oql_refuse(o, n->at, "use it on the list inside the SELECT in FROM, and name the result there",
                       "a list of values in a SELECT is a text outside it");
    return v;
}

value hdx_oql_value(oql *o, const oql_node *n, oql_scope *s)
{
    value v = hdx_oql_value_of(VALUE_NULL, BINDS_ALL, "NULL");
    if (o->code != HDX_OK)
        return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, NULL);
    switch (n->kind) {
    case OQL_IS_NUMBER: return hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, n->text);
    case OQL_IS_STRING: return hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_literal(o, n->text));
    case OQL_IS_CHAR: return character(o, n);
    case OQL_IS_NULL: return v;
    case OQL_IS_BOOL: return hdx_oql_value_of(VALUE_BOOL, BINDS_ALL, n->number != 0 ? "1" : "0");
    case OQL_IS_NAME: return name(o, n, s);
    case OQL_IS_ROW:
        if (s != NULL)
            return hdx_oql_row_value(o, s);
        break;
    case OQL_IS_SNAPSHOT: return hdx_oql_value_of(VALUE_SNAPSHOT, BINDS_ALL, NULL);
    case OQL_IS_STAR: break;
    case OQL_IS_MEMBER: return hdx_oql_member(o, n, hdx_oql_asked(o, n->a, s), s);
    case OQL_IS_ATTRIBUTE: return hdx_oql_attribute(o, n, hdx_oql_asked(o, n->a, s), n->text, s);
    case OQL_IS_METHOD: return hdx_oql_method(o, n, s);
    case OQL_IS_CALL: return hdx_oql_call(o, n, s);
    case OQL_IS_INDEX:
    case OQL_IS_RANGE: return hdx_oql_index(o, n, hdx_oql_asked(o, n->a, s), s);
    case OQL_IS_SELECT: return select_value(o, n, s);
    case OQL_IS_LIST: break;
    case OQL_IS_NOT:
        return hdx_oql_value_of(VALUE_BOOL, BINDS_NOT,
                                hdx_oql_format(o, "NOT %s", hdx_oql_condition(o, n->a, s, BINDS_NOT)));
    case OQL_IS_MINUS: /* two of them would begin a comment */
        return hdx_oql_value_of(
            VALUE_NUMBER, BINDS_ALL,
            hdx_oql_format(o, n->a->kind == OQL_IS_MINUS ? "-(%s)" : "-%s", hdx_oql_scalar(o, n->a, s, BINDS_ALL)));
    case OQL_IS_AND:
    case OQL_IS_OR: return junction(o, n, s);
    case OQL_IS_BINARY: return binary(o, n, s);
    case OQL_IS_LIKE: return like(o, n, s);
    case OQL_IS_IN: return in(o, n, s);
    case OQL_IS_IMPLEMENTS: return implements(o, n, s);
    }
    return hdx_oql_value_of(VALUE_NULL, BINDS_ALL, hdx_oql_refuse(o, n->at, NULL, "this is not a value"));
}
