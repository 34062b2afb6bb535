/*
 * functions.c - functions: MAT's, mat-calcite's, VisualVM's, and aggregates.
 */
#include "oql/members.h"

static value aggregate(oql *o, const oql_node *n, oql_scope *s, const char *name)
{
    const bool percentile = strcmp(name, "percentile") == 0;
    if (!hdx_oql_takes(o, n, percentile ? 2 : 1, percentile ? 2 : 1))
        return nothing();
    if (s != NULL)
        s->aggregated = true;
    if (n->list->kind == OQL_IS_STAR) {
        if (strcmp(name, "count") != 0)
            hdx_oql_refuse(o, n->at, NULL, "%s(*) is not valid; only COUNT accepts *", n->text);
        return hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, "count(*)");
    }
    const char *x = hdx_oql_scalar(o, n->list, s, BINDS_OR);
    if (percentile)
        return nullable(
            hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL,
                             hdx_oql_format(o, "percentile(%s,%s)", x, hdx_oql_scalar(o, n->list->next, s, BINDS_OR))));
    return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL,
                                     hdx_oql_format(o, "%s(%s%s)", name, n->distinct ? "DISTINCT " : "", x)));
}

typedef enum function {
    TO_HEX,
    TO_STRING,
    DOMINATORS,
    DOMINATOR_OF,
    INBOUNDS,
    OUTBOUNDS,
    CLASS_OF,
    EVAL,
    ID,
    ADDRESS,
    TYPE,
    SHALLOW,
    RETAINED,
    LENGTH,
    SIZE,
    FIELD,
    BY_KEY,
    REACHABLE,
    RETAINED_SET,
    VALUES,
    SCALAR
} function;

static const struct {
    const char *name;
    function    is;
    unsigned    least, most;
} functions[] = {
    { "toHex", TO_HEX, 1, 1 },
    { "toString", TO_STRING, 1, 1 },
    { "dominators", DOMINATORS, 1, 1 },
    { "dominatorof", DOMINATOR_OF, 1, 1 },
    { "inbounds", INBOUNDS, 1, 1 },
    { "outbounds", OUTBOUNDS, 1, 1 },
    { "classof", CLASS_OF, 1, 1 },
    { "eval", EVAL, 1, 1 },
    /* mat-calcite */
    { "getId", ID, 1, 1 },
    { "getAddress", ADDRESS, 1, 1 },
    { "getType", TYPE, 1, 1 },
    { "shallowSize", SHALLOW, 1, 1 },
    { "retainedSize", RETAINED, 1, 1 },
    { "length", LENGTH, 1, 1 },
    { "getSize", SIZE, 1, 1 },
    { "getField", FIELD, 2, 2 },
    { "getStringContent", TO_STRING, 1, 1 },
    { "getByKey", BY_KEY, 2, 2 },
    { "getDominator", DOMINATOR_OF, 1, 1 },
    { "getOutboundReferences", OUTBOUNDS, 1, 1 },
    { "getInboundReferences", INBOUNDS, 1, 1 },
    { "getRetainedSet", RETAINED_SET, 1, 1 },
    { "getValues", VALUES, 1, 1 },
    /* VisualVM */
    { "sizeof", SHALLOW, 1, 1 },
    { "rsizeof", RETAINED, 1, 1 },
    { "referrers", INBOUNDS, 1, 1 },
    { "referees", OUTBOUNDS, 1, 1 },
    { "reachables", REACHABLE, 1, 1 },
    { "objectid", ADDRESS, 1, 1 },
    /* SQL's own */
    { "lower", SCALAR, 1, 1 },
    { "upper", SCALAR, 1, 1 },
    { "abs", SCALAR, 1, 1 },
    { "round", SCALAR, 1, 2 },
    { "coalesce", SCALAR, 2, 8 },
};

static value rows_of(oql *o, const char *function_name, const char *id, const char *column)
{
    return hdx_oql_list_from(o, hdx_oql_format(o, "%s(%s)", function_name, id), column, NULL);
}

static value scalar_function(oql *o, const oql_node *n, oql_scope *s, const char *name)
{
    const bool  text = strcmp(name, "lower") == 0 || strcmp(name, "upper") == 0;
    const char *all = "";
    for (unsigned i = 0; i < n->number; i++) {
        const char *x =
            text ? hdx_oql_text_argument(o, n, i, s) : hdx_oql_scalar(o, hdx_oql_argument(n, i), s, BINDS_OR);
        all = hdx_oql_format(o, "%s%s%s", all, i == 0 ? "" : ",", x);
    }
    return nullable(
        hdx_oql_value_of(text ? VALUE_TEXT : VALUE_NUMBER, BINDS_ALL, hdx_oql_format(o, "%s(%s)", name, all)));
}

/* v: the first argument, translated by the caller, because this large stack frame must not nest. */
__attribute__((noinline)) static value apply_function(oql *o, const oql_node *n, oql_scope *s, function is, value v)
{
    const char *id;
    switch (is) {
    case TO_HEX: /* for an object its address */
        if (v.kind == VALUE_OBJECT)
            v = hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_ADDRESS);
        return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL,
                                         hdx_oql_format(o, "addr(%s)", hdx_oql_scalar_of(o, n->at, v, BINDS_OR))));
    case TO_STRING: return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_text_of(o, n->at, v)));
    case CLASS_OF: return hdx_oql_class_of(o, n->at, v);
    case EVAL: return v;
    case LENGTH:
        if (v.kind == VALUE_TEXT)
            return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, hdx_oql_format(o, "length(%s)", v.sql)));
        return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_LENGTH);
    case ADDRESS: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_ADDRESS);
    case TYPE: return hdx_oql_column_value(o, n->at, v, VALUE_TEXT, ROW_CLASS);
    case SHALLOW: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_SHALLOW);
    case RETAINED: return hdx_oql_column_value(o, n->at, v, VALUE_NUMBER, ROW_RETAINED);
    case DOMINATOR_OF: return hdx_oql_column_value(o, n->at, v, VALUE_OBJECT, ROW_DOMINATOR);
    case SIZE: return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, hdx_oql_size_of(o, n->at, v)));
    case FIELD: {
        const char *field = hdx_oql_quoted_argument(o, n, 1);
        return field == NULL ? nothing() : hdx_oql_resolved(o, n, v, field, s);
    }
    default: break;
    }
    if ((id = hdx_oql_object_of(o, n->list->at, v)) == NULL)
        return nothing();
    switch (is) {
    case DOMINATORS: return hdx_oql_list_of(o, LIST_DOMINATED, id);
    case INBOUNDS: return hdx_oql_list_of(o, LIST_INBOUND, id);
    case OUTBOUNDS: return hdx_oql_list_of(o, LIST_OUTBOUND, id);
    case REACHABLE: return rows_of(o, "reach", id, "id");
    case VALUES: return rows_of(o, "entries", id, "value");
    case RETAINED_SET: return rows_of(o, "subtree", id, "id"); /* for one object: what it dominates, itself included */
    case ID: {
        value out = hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL, id);
        out.row = v.row;
        out.plain = v.row != NULL;
        return out;
    }
    case BY_KEY:
        return nullable(hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL,
                                         hdx_oql_format(o, "(SELECT value FROM entries(%s) WHERE key_text=%s)", id,
                                                        hdx_oql_text_argument(o, n, 1, s))));
    default: return nothing();
    }
}

value hdx_oql_call(oql *o, const oql_node *n, oql_scope *s)
{
    static const char *const aggregates[] = { "count", "sum", "avg", "min", "max", "median", "percentile" };
    for (unsigned i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
        if (hdx_oql_same(n->text, aggregates[i]))
            return aggregate(o, n, s, aggregates[i]);
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        if (hdx_oql_same(n->text, functions[i].name)) {
            if (!hdx_oql_takes(o, n, functions[i].least, functions[i].most))
                return nothing();
            if (functions[i].is == SCALAR)
                return scalar_function(o, n, s, functions[i].name);
            const value v = hdx_oql_value(o, n->list, s);
            return o->code == HDX_OK ? apply_function(o, n, s, functions[i].is, v) : nothing();
        }
    hdx_oql_refuse(
        o, n->at,
        "OQL has toHex, toString, dominators, dominatorof, inbounds, outbounds, classof; SQL has more: heapdex "
        "sql",
        "unknown function %.60s()", n->text);
    return nothing();
}
