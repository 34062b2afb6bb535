/*
 * methods.c - translates methods and array indexes.
 *
 * Methods are those of the Java objects that MAT would have in this place: of Strings, of lists, of MAT's own classes.
 * Other methods are refused with a hint to an alternative. Lengths and offsets in texts count characters, where Java
 * counts 16-bit units.
 */
#include "oql/members.h"

#include <stdio.h>

/* ---- arguments ---- */

bool hdx_oql_takes(oql *o, const oql_node *n, unsigned least, unsigned most)
{
    if (n->number >= least && n->number <= most)
        return true;
    hdx_oql_refuse(o, n->at, NULL, "%.60s() needs %s%u value%s, not %u", n->text, least < most ? "up to " : "", most,
                   most == 1 ? "" : "s", n->number);
    return false;
}

/* Returns argument i as SQL; as a text: for an object its text, for a character the character. */
const oql_node *hdx_oql_argument(const oql_node *n, unsigned i)
{
    const oql_node *a = n->list;
    while (i-- > 0)
        a = a->next;
    return a;
}

const char *hdx_oql_text_argument(oql *o, const oql_node *n, unsigned i, oql_scope *s)
{
    const oql_node *a = hdx_oql_argument(n, i);
    return hdx_oql_text_of(o, a->at, hdx_oql_value(o, a, s));
}

static const char *scalar_argument(oql *o, const oql_node *n, unsigned i, oql_scope *s)
{
    return hdx_oql_scalar(o, hdx_oql_argument(n, i), s, BINDS_PLUS);
}

/* ---- methods ---- */

/* Makes a GLOB pattern 'text*', with GLOB's special characters in brackets. */
static const char *glob(oql *o, const char *before, const char *text, const char *after)
{
    char *out = hdx_oql_get(o, 3 * strlen(text) + 1), *at = out;
    if (out == NULL)
        return NULL;
    for (; *text != '\0'; text++)
        if (strchr("*?[", *text) != NULL)
            at += sprintf(at, "[%c]", *text);
        else
            *at++ = *text;
    *at = '\0';
    return hdx_oql_literal(o, hdx_oql_format(o, "%s%s%s", before, out, after));
}

/* Translates methods of java.lang.String. *known false: not one of these. x binds most tightly. */
static value text_method(oql *o, const oql_node *n, const char *x, oql_scope *s, bool *known)
{
    static const struct {
        const char *name;
        unsigned    least, most;
        value_kind  kind;
        binding     binds;
        const char *format; /* x, then the arguments as texts */
    } methods[] = {
        { "length", 0, 0, VALUE_NUMBER, BINDS_ALL, "length(%s)" },
        { "isEmpty", 0, 0, VALUE_BOOL, BINDS_EQUAL, "%s=''" },
        { "toString", 0, 0, VALUE_TEXT, BINDS_ALL, "%s" },
        { "intern", 0, 0, VALUE_TEXT, BINDS_ALL, "%s" },
        { "toLowerCase", 0, 0, VALUE_TEXT, BINDS_ALL, "lower(%s)" },
        { "toUpperCase", 0, 0, VALUE_TEXT, BINDS_ALL, "upper(%s)" },
        { "trim", 0, 0, VALUE_TEXT, BINDS_ALL, "trim(%s)" },
        { "indexOf", 1, 1, VALUE_NUMBER, BINDS_PLUS, "instr(%s,%s) - 1" },
        { "contains", 1, 1, VALUE_BOOL, BINDS_LESS, "instr(%s,%s)>0" },
        { "equals", 1, 1, VALUE_BOOL, BINDS_EQUAL, "%s=%s" },
        { "equalsIgnoreCase", 1, 1, VALUE_BOOL, BINDS_EQUAL, "lower(%s)=lower(%s)" },
        { "concat", 1, 1, VALUE_TEXT, BINDS_JOIN, "%s||%s" },
        { "replace", 2, 2, VALUE_TEXT, BINDS_ALL, "replace(%s,%s,%s)" },
    };
    *known = true;
    for (unsigned i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(n->text, methods[i].name) == 0) {
            if (!hdx_oql_takes(o, n, methods[i].least, methods[i].most))
                return nothing();
            const char *a = n->number > 0 ? hdx_oql_text_argument(o, n, 0, s) : "";
            const char *b = n->number > 1 ? hdx_oql_text_argument(o, n, 1, s) : "";
            return nullable(
                hdx_oql_value_of(methods[i].kind, methods[i].binds, hdx_oql_format(o, methods[i].format, x, a, b)));
        }
    const bool starts = strcmp(n->text, "startsWith") == 0;
    if (starts || strcmp(n->text, "endsWith") == 0) {
        if (!hdx_oql_takes(o, n, 1, 1))
            return nothing();
        if (n->list->kind == OQL_IS_STRING || n->list->kind == OQL_IS_CHAR) /* the index speeds up a prefix */
            return nullable(hdx_oql_value_of(
                VALUE_BOOL, BINDS_EQUAL,
                hdx_oql_format(o, "%s GLOB %s", x, glob(o, starts ? "" : "*", n->list->text, starts ? "*" : ""))));
        const char *a = hdx_oql_text_argument(o, n, 0, s);
        return nullable(hdx_oql_value_of(
            VALUE_BOOL, BINDS_EQUAL,
            hdx_oql_format(o, starts ? "substr(%s,1,length(%s))=%s" : "substr(%s,-length(%s))=%s", x, a, a)));
    }
    if (strcmp(n->text, "substring") == 0) {
        if (!hdx_oql_takes(o, n, 1, 2))
            return nothing();
        const char *a = hdx_oql_scalar(o, n->list, s, BINDS_TIMES);
        return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL,
                                         n->number == 1
                                             ? hdx_oql_format(o, "substr(%s,%s + 1)", x, a)
                                             : hdx_oql_format(o, "substr(%s,%s + 1,%s - %s)", x, a,
                                                              hdx_oql_scalar(o, n->list->next, s, BINDS_TIMES), a)));
    }
    if (strcmp(n->text, "charAt") == 0) {
        if (!hdx_oql_takes(o, n, 1, 1))
            return nothing();
        return nullable(
            hdx_oql_value_of(VALUE_TEXT, BINDS_ALL,
                             hdx_oql_format(o, "substr(%s,%s + 1,1)", x, hdx_oql_scalar(o, n->list, s, BINDS_TIMES))));
    }
    if (strcmp(n->text, "matches") == 0) {
        if (!hdx_oql_takes(o, n, 1, 1))
            return nothing();
        if (n->list->kind != OQL_IS_STRING) {
            hdx_oql_refuse(o, n->list->at, NULL, "matches() needs a pattern in quotes");
            return nothing();
        }
        return nullable(hdx_oql_value_of(
            VALUE_BOOL, BINDS_EQUAL,
            hdx_oql_format(o, "%s REGEXP %s", x, hdx_oql_literal(o, hdx_oql_regex(o, n->list->at, n->list->text)))));
    }
    *known = false;
    return nothing();
}

static void no_method(oql *o, const oql_node *n)
{
    static const struct {
        const char *name, *hint;
    } others[] = {
        { "hashCode", "SQL has no hash code; compare the texts" },
        { "lastIndexOf", "use LIKE with a pattern to find the last one" },
        { "replaceAll", "replace() needs texts" },
        { "split", "use LIKE with a pattern to find parts" },
        { "getRetainedSet", "use SELECT AS RETAINED SET, or retained_set(group_ids(id)) in SQL" },
        { "getMinRetainedSet", "use SELECT AS RETAINED SET, or retained_set(group_ids(id)) in SQL" },
        { "getPathsFromGCRoots", "use heapdex path, or the SQL function path(id) for the shortest one" },
        { "getHistogram", "use heapdex histogram, or the SQL function histogram()" },
        { "getThreadStack", "use heapdex threads, or the SQL table frames" },
        { "getFields", "use the SQL function fields(id)" },
        { "getStaticFields", "use the SQL table statics" },
        { "getFieldDescriptors", "use the SQL table fields_of_class" },
        { "getOutboundReferences", "use outbounds(s), or the SQL table named_refs" },
        { "entrySet", "use the SQL function entries(id) for keys and values" },
        { "keySet", "use the SQL function entries(id) for keys and values" },
        { "values", "use the SQL function entries(id) for keys and values" },
        { "getKey", "use the SQL function entries(id) for keys and values; a node of a map has fields key and value" },
        { "getValue",
          "use the SQL function entries(id) for keys and values; a node of a map has fields key and value" },
        { "stream", "supported aggregates: COUNT, SUM, AVG, MIN, MAX, MEDIAN, PERCENTILE" },
    };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(n->text, others[i].name) == 0) {
            hdx_oql_refuse(o, n->at, others[i].hint, "%.60s() is not supported", n->text);
            return;
        }
    hdx_oql_refuse(o, n->at,
                   "write fields and attributes without (); for others use tables and functions of heapdex sql",
                   "unknown method %.60s()", n->text);
}

const char *hdx_oql_quoted_argument(oql *o, const oql_node *n, unsigned i)
{
    const oql_node *a = hdx_oql_argument(n, i);
    if (a->kind == OQL_IS_STRING || a->kind == OQL_IS_CHAR)
        return a->text;
    return hdx_oql_refuse(o, a->at, NULL, "%.60s() needs a name in quotes", n->text);
}

/* Resolves "a.b.c", field by field. */
value hdx_oql_resolved(oql *o, const oql_node *n, value of, const char *path, oql_scope *s)
{
    char *copy = hdx_oql_get(o, strlen(path) + 1), *rest = copy, *part;
    if (copy == NULL)
        return nothing();
    memcpy(copy, path, strlen(path));
    unsigned depth = 0;
    while ((part = strsep(&rest, ".")) != NULL) {
        const oql_node step = { .kind = OQL_IS_MEMBER, .at = n->at, .end = n->end, .text = part };
        if (++depth > HDX_OQL_DEPTH) {
            hdx_oql_fail(o, HDX_LIMIT, n->at, NULL, "a chain has more than %u fields", HDX_OQL_DEPTH);
            return nothing();
        }
        of = hdx_oql_member(o, &step, of, s);
    }
    return of;
}

typedef enum snapshot_method_kind {
    GET_OBJECT,
    GET_CLASS,
    GET_DOMINATOR,
    GET_DOMINATED,
    GET_INBOUND,
    GET_OUTBOUND,
    GET_SHALLOW,
    GET_RETAINED,
    GET_ADDRESS,
    GET_ROOTS,
    IS_ROOT,
    IS_CLASS,
    IS_ARRAY
} snapshot_method_kind;

static const struct {
    const char          *name;
    snapshot_method_kind is;
} of_objects[] = {
    { "getObject", GET_OBJECT },
    { "getClassOf", GET_CLASS },
    { "getImmediateDominatorId", GET_DOMINATOR },
    { "getImmediateDominatedIds", GET_DOMINATED },
    { "getInboundRefererIds", GET_INBOUND },
    { "getOutboundReferentIds", GET_OUTBOUND },
    { "getHeapSize", GET_SHALLOW },
    { "getRetainedHeapSize", GET_RETAINED },
    { "mapIdToAddress", GET_ADDRESS },
    { "getGCRootInfo", GET_ROOTS },
    { "isGCRoot", IS_ROOT },
    { "isClass", IS_CLASS },
    { "isArray", IS_ARRAY },
};

/* Translates methods of the snapshot for one object. */
static value snapshot_of(oql *o, const oql_node *n, snapshot_method_kind is, oql_scope *s)
{
    const oql_node *a = n->list;
    value           v = nothing();
    const char     *id = NULL;
    if (a->kind == OQL_IS_NUMBER)
        hdx_oql_refuse(o, a->at, "name objects by FROM OBJECTS 0x7f3a10",
                       "object ids are specific to MAT and to each index");
    else
        id = hdx_oql_object_of(o, a->at, v = hdx_oql_value(o, a, s));
    if (o->code != HDX_OK)
        return nothing();
    switch (is) {
    case GET_OBJECT: return v;
    case GET_CLASS: return hdx_oql_class_of(o, n->at, v);
    case GET_DOMINATOR: return hdx_oql_column_value(o, n->at, v, VALUE_OBJECT, ROW_DOMINATOR);
    case GET_DOMINATED: return hdx_oql_list_of(o, LIST_DOMINATED, id);
    case GET_INBOUND: return hdx_oql_list_of(o, LIST_INBOUND, id);
    case GET_OUTBOUND: return hdx_oql_list_of(o, LIST_OUTBOUND, id);
    case GET_SHALLOW: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_SHALLOW);
    case GET_RETAINED: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_RETAINED);
    case GET_ADDRESS: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_ADDRESS);
    case IS_CLASS:
        return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL, hdx_oql_format(o, "%s IN (SELECT object FROM classes)", id));
    case IS_ARRAY:
        return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL,
                                hdx_oql_format(o, "%s IS NOT NULL", hdx_oql_object_column(o, n->at, v, ROW_LENGTH)));
    case IS_ROOT:
        return hdx_oql_value_of(VALUE_BOOL, BINDS_ALL,
                                hdx_oql_format(o, "EXISTS (SELECT 1 FROM roots WHERE id=%s AND thread IS NULL)", id));
    case GET_ROOTS: break;
    }
    return hdx_oql_roots_of(id);
}

static value snapshot_method(oql *o, const oql_node *n, oql_scope *s)
{
    if (strcmp(n->text, "getClassesByName") == 0) {
        const char *name;
        if (!hdx_oql_takes(o, n, 1, 2) || (name = hdx_oql_literal(o, hdx_oql_quoted_argument(o, n, 0))) == NULL)
            return nothing();
        if (n->number == 1 || n->list->next->kind != OQL_IS_BOOL || n->list->next->number == 0)
            return hdx_oql_classes_where(o, hdx_oql_format(o, "name=%s", name));
        return hdx_oql_classes_where(
            o, hdx_oql_format(o, "class_id IN (SELECT class_id FROM classes WHERE instanceof(class_id,%s))", name));
    }
    if (strcmp(n->text, "getClasses") == 0 || strcmp(n->text, "getGCRoots") == 0)
        return hdx_oql_takes(o, n, 0, 0) ? hdx_oql_snapshot_attribute(o, n, n->text + strlen("get")) : nothing();
    if (strcmp(n->text, "mapAddressToId") == 0)
        return !hdx_oql_takes(o, n, 1, 1)
                   ? nothing()
                   : nullable(hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL,
                                               hdx_oql_format(o, "(SELECT id FROM objects WHERE address=%s)",
                                                              hdx_oql_scalar(o, n->list, s, BINDS_LESS))));
    for (unsigned i = 0; i < sizeof of_objects / sizeof *of_objects; i++)
        if (strcmp(n->text, of_objects[i].name) == 0)
            return hdx_oql_takes(o, n, 1, 1) ? snapshot_of(o, n, of_objects[i].is, s) : nothing();
    no_method(o, n);
    return nothing();
}

static value list_method(oql *o, const oql_node *n, value of, oql_scope *s)
{
    if (strcmp(n->text, "size") == 0 || strcmp(n->text, "length") == 0 || strcmp(n->text, "getLength") == 0)
        return hdx_oql_takes(o, n, 0, 0) ? hdx_oql_count(o, of) : nothing();
    if (strcmp(n->text, "isEmpty") == 0)
        return hdx_oql_takes(o, n, 0, 0)
                   ? hdx_oql_value_of(VALUE_BOOL, BINDS_NOT, hdx_oql_format(o, "NOT %s", hdx_oql_count(o, of).exists))
                   : nothing();
    if (strcmp(n->text, "get") == 0)
        return hdx_oql_takes(o, n, 1, 1) ? hdx_oql_nth(o, of, scalar_argument(o, n, 0, s)) : nothing();
    if (strcmp(n->text, "contains") == 0)
        return hdx_oql_takes(o, n, 1, 1)
                   ? hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL,
                                      hdx_oql_in_list(o, hdx_oql_scalar(o, n->list, s, BINDS_LESS), of))
                   : nothing();
    no_method(o, n);
    return nothing();
}

/* Returns whether the value is known to be an array and no collection. */
static bool is_array(value v)
{
    return v.kind == VALUE_ARRAY ||
           (v.row != NULL && v.row->class_name != NULL && strchr(v.row->class_name, '[') != NULL);
}

static bool is_collection(value v) { return v.row != NULL && v.row->class_name != NULL && !is_array(v); }

/* Returns the number of elements: of an array its length, of a collection its size. */
const char *hdx_oql_size_of(oql *o, uint32_t at, value v)
{
    const char *length = hdx_oql_object_column(o, at, v, ROW_LENGTH), *id = hdx_oql_object_of(o, at, v);
    if (is_array(v))
        return length;
    if (is_collection(v))
        return hdx_oql_format(o, "(SELECT count(*) FROM entries(%s))", id);
    return hdx_oql_format(o, "coalesce(%s,(SELECT count(*) FROM entries(%s)))", length, id);
}

static value element_of(oql *o, uint32_t at, value v, const char *i)
{
    const char *id = hdx_oql_object_of(o, at, v);
    const char *entry = hdx_oql_format(o, "(SELECT value FROM entries(%s) WHERE i=%s)", id, i);
    const char *sql = is_collection(v) ? entry : hdx_oql_format(o, "element(%s,%s)", id, i);
    return nullable(hdx_oql_value_of(VALUE_ANY, BINDS_ALL, sql));
}

static bool is_of_entry(const oql_node *n)
{
    return strcmp(n->text, "getKey") == 0 || strcmp(n->text, "getValue") == 0;
}

static value object_method(oql *o, const oql_node *n, value of, oql_scope *s)
{
    bool        known;
    const char *name;
    if (strcmp(n->text, "getField") == 0 || strcmp(n->text, "resolveValue") == 0) {
        if (!hdx_oql_takes(o, n, 1, 1) || (name = hdx_oql_quoted_argument(o, n, 0)) == NULL)
            return nothing();
        return hdx_oql_resolved(o, n, of, name, s);
    }
    if (strcmp(n->text, "toString") == 0)
        return hdx_oql_takes(o, n, 0, 0)
                   ? nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_text_of(o, n->at, of)))
                   : nothing();
    if (strcmp(n->text, "size") == 0 || strcmp(n->text, "getSize") == 0)
        return hdx_oql_takes(o, n, 0, 0)
                   ? nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, hdx_oql_size_of(o, n->at, of)))
                   : nothing();
    if (strcmp(n->text, "isEmpty") == 0 && hdx_oql_takes(o, n, 0, 0))
        return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL, hdx_oql_format(o, "%s=0", hdx_oql_size_of(o, n->at, of)));
    if (strcmp(n->text, "get") == 0 || strcmp(n->text, "getValueAt") == 0)
        return hdx_oql_takes(o, n, 1, 1) ? element_of(o, n->at, of, scalar_argument(o, n, 0, s)) : nothing();
    if (strcmp(n->text, "doesExtend") == 0) {
        if (!hdx_oql_takes(o, n, 1, 1) || (name = hdx_oql_literal(o, hdx_oql_quoted_argument(o, n, 0))) == NULL)
            return nothing();
        return hdx_oql_value_of(VALUE_BOOL, BINDS_ALL,
                                hdx_oql_format(o, "instanceof(%s,%s)", hdx_oql_class_number(o, n->at, of), name));
    }
    if (strcmp(n->text, "equals") == 0 && hdx_oql_takes(o, n, 1, 1)) {
        value other = hdx_oql_value(o, n->list, s);
        if (other.kind != VALUE_TEXT && o->code == HDX_OK)
            return hdx_oql_value_of(VALUE_BOOL, BINDS_EQUAL,
                                    hdx_oql_format(o, "%s=%s", hdx_oql_object_of(o, n->at, of),
                                                   hdx_oql_scalar_of(o, n->list->at, other, BINDS_LESS)));
    }
    if (strncmp(n->text, "get", 3) == 0 && n->text[3] >= 'A' && n->text[3] <= 'Z' && n->number == 0 && !is_of_entry(n))
        return hdx_oql_attribute(o, n, of, n->text + 3, s); /* names of attributes ignore case */
    if (strcmp(n->text, "isArrayType") == 0)
        return hdx_oql_attribute(o, n, of, n->text, s);
    /* methods of its text, as in hprof-analyzer */
    value v = text_method(o, n, hdx_oql_text_of(o, n->at, of), s, &known);
    if (!known)
        no_method(o, n);
    return v;
}

static value number_method(oql *o, const oql_node *n, value of)
{
    static const char *const same[] = { "intValue",    "longValue",  "shortValue",  "byteValue",
                                        "doubleValue", "floatValue", "booleanValue" };
    for (unsigned i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(n->text, same[i]) == 0 && n->number == 0) {
            if (i < 4)
                of.sql = hdx_oql_format(o, "CAST(%s AS INTEGER)", of.sql);
            of.binds = i < 4 ? BINDS_ALL : of.binds;
            of.plain = false;
            return of;
        }
    if (strcmp(n->text, "toString") == 0 && n->number == 0)
        return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_text_of(o, n->at, of)));
    no_method(o, n);
    return nothing();
}

/*
 * Translates h[i].getKey() and h[i].getValue() for entries of a map, which need not be objects. *known false: not one
 * of these.
 */
static value entry_method(oql *o, const oql_node *n, oql_scope *s, bool *known)
{
    const oql_node *entry = n->a;
    *known = false;
    if (!is_of_entry(n) || n->number != 0 || entry->kind != OQL_IS_INDEX)
        return nothing();
    const value map = hdx_oql_value(o, entry->a, s);
    if (o->code != HDX_OK || !is_collection(map))
        return nothing();
    *known = true;
    return nullable(hdx_oql_value_of(
        VALUE_ANY, BINDS_ALL,
        hdx_oql_format(o, "(SELECT %s FROM entries(%s) WHERE i=%s)", strcmp(n->text, "getKey") == 0 ? "key" : "value",
                       hdx_oql_object_of(o, n->at, map), hdx_oql_scalar(o, entry->b, s, BINDS_LESS))));
}

value hdx_oql_method(oql *o, const oql_node *n, oql_scope *s)
{
    bool  known;
    value of = entry_method(o, n, s, &known);
    if (known)
        return of;
    of = hdx_oql_asked(o, n->a, s);
    if (o->code != HDX_OK)
        return nothing();
    switch (of.kind) {
    case VALUE_SNAPSHOT: return snapshot_method(o, n, s);
    case VALUE_LIST: return list_method(o, n, of, s);
    case VALUE_NUMBER:
    case VALUE_BOOL: return number_method(o, n, of);
    case VALUE_TEXT:
    case VALUE_CHAR: {
        value v = text_method(o, n, hdx_oql_text_of(o, n->at, of), s, &known);
        if (!known)
            no_method(o, n);
        return v;
    }
    case VALUE_OBJECT:
    case VALUE_ARRAY:
    case VALUE_CLASS:
    case VALUE_ANY: return object_method(o, n, of, s);
    case VALUE_ROOTS:
    case VALUE_NULL: break;
    }
    no_method(o, n);
    return nothing();
}

/* ---- s[i], s[a:b] ---- */

/* [0:-1] */
static bool is_all(const oql_node *n)
{
    return n->b->kind == OQL_IS_NUMBER && strcmp(n->b->text, "0") == 0 && n->c->kind == OQL_IS_MINUS &&
           n->c->a->kind == OQL_IS_NUMBER && strcmp(n->c->a->text, "1") == 0;
}

static value slice(oql *o, const oql_node *n, value of, oql_scope *s)
{
    const char *id = hdx_oql_object_of(o, n->at, of), *from = hdx_oql_scalar(o, n->b, s, BINDS_TIMES);
    const char *to = hdx_oql_scalar(o, n->c, s, BINDS_TIMES), *length = hdx_oql_size_of(o, n->at, of);
    value       v = hdx_oql_value_of(VALUE_LIST, BINDS_ALL, NULL);
    const char *t = hdx_oql_table_name(o);
    if (o->code != HDX_OK)
        return nothing();
    v.list = LIST_OTHER;
    v.nullable = true;
    if (is_collection(of)) {
        v.from = hdx_oql_format(o, "entries(%s) %s", id, t);
        v.column = hdx_oql_format(o, "%s.value", t);
    } else {
        v.from = hdx_oql_format(o, "elements(%s) %s", id, t);
        v.column = hdx_oql_format(o, "coalesce(%s.ref,%s.value)", t, t);
        v.ref = hdx_oql_format(o, "%s.ref", t);
    }
    const bool from_end = n->b->kind == OQL_IS_MINUS, to_end = n->c->kind == OQL_IS_MINUS; /* -1: the last one */
    if (!is_all(n))
        v.where = hdx_oql_format(o, "%s.i BETWEEN %s%s%s AND %s%s%s", t, from_end ? length : "", from_end ? " + " : "",
                                 from, to_end ? length : "", to_end ? " + " : "", to);
    return v;
}

value hdx_oql_index(oql *o, const oql_node *n, value of, oql_scope *s)
{
    if (o->code != HDX_OK)
        return nothing();
    if (n->kind == OQL_IS_INDEX && (n->b->kind == OQL_IS_STRING || n->b->kind == OQL_IS_CHAR)) { /* mat-calcite */
        if (n->b->text[0] == '@')
            return hdx_oql_attribute(o, n, of, n->b->text + 1, s);
        return hdx_oql_resolved(o, n, of, n->b->text, s);
    }
    if (of.kind == VALUE_LIST) {
        if (n->kind == OQL_IS_INDEX)
            return hdx_oql_nth(o, of, hdx_oql_scalar(o, n->b, s, BINDS_LESS));
        if (is_all(n))
            return of;
        hdx_oql_refuse(o, n->at, "use [0:-1] for all elements, .get(0) for one, .size() for the count",
                       "a part of a list is not supported");
        return nothing();
    } else if (is_id(of))
        return n->kind == OQL_IS_INDEX ? element_of(o, n->at, of, hdx_oql_scalar(o, n->b, s, BINDS_LESS))
                                       : slice(o, n, of, s);
    hdx_oql_refuse(o, n->at, NULL, "this is not an array");
    return nothing();
}
