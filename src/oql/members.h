/* members.h - objects, classes and lists as SQL, and what a name or method of them means. */
#ifndef HDX_OQL_MEMBERS_H
#define HDX_OQL_MEMBERS_H

#include "oql/oql.h"

static inline value nullable(value v)
{
    v.nullable = true;
    return v;
}
static inline value plain(value v)
{
    v.plain = true;
    return v;
}
static inline bool  is_id(value v) { return v.kind == VALUE_OBJECT || v.kind == VALUE_ARRAY || v.kind == VALUE_ANY; }
static inline value nothing(void) { return (value){ .kind = VALUE_NULL, .binds = BINDS_ALL }; } /* after a failure */

/* ---- objects (members.c) ---- */
typedef enum row_column {
    ROW_ID,
    ROW_ADDRESS,
    ROW_CLASS,
    ROW_CLASS_ID,
    ROW_SHALLOW,
    ROW_RETAINED,
    ROW_LENGTH,
    ROW_DOMINATOR
} row_column;
const char *hdx_oql_row(oql *o, const oql_scope *s, row_column column);             /* of the object of a row */
const char *hdx_oql_object_column(oql *o, uint32_t at, value v, row_column column); /* of any object */
value       hdx_oql_column_value(oql *o, uint32_t at, value v, value_kind kind, row_column column);
value       hdx_oql_value_of(value_kind kind, binding binds, const char *sql);
value       hdx_oql_row_value(oql *o, oql_scope *s);
value       hdx_oql_class_of(oql *o, uint32_t at, value v);
const char *hdx_oql_class_number(oql *o, uint32_t at, value v); /* of the class that an object represents, or a value */
value       hdx_oql_roots_of(const char *id);

/* ---- lists ---- */
value hdx_oql_list_of(oql *o, list_kind kind, const char *of);
/* A table with ids in a column. where: the condition after its name and a dot, or NULL. */
value hdx_oql_list_from(oql *o, const char *table, const char *column, const char *where);
value hdx_oql_classes_where(oql *o, const char *where);
value hdx_oql_nth(oql *o, value list, const char *n); /* NULL if there are fewer */

/* ---- fields and attributes; n is the node that uses them ---- */
value hdx_oql_member(oql *o, const oql_node *n, value of, oql_scope *s);
value hdx_oql_field_of_row(oql *o, uint32_t at, const char *name, oql_scope *s);
value hdx_oql_resolved(oql *o, const oql_node *n, value of, const char *path, oql_scope *s); /* "a.b.c" */
value hdx_oql_attribute(oql *o, const oql_node *n, value of, const char *name, oql_scope *s);
value hdx_oql_snapshot_attribute(oql *o, const oql_node *n, const char *name);

/* ---- methods (methods.c), functions (functions.c) ---- */
value       hdx_oql_method(oql *o, const oql_node *n, oql_scope *s);
value       hdx_oql_index(oql *o, const oql_node *n, value of, oql_scope *s);
value       hdx_oql_call(oql *o, const oql_node *n, oql_scope *s);
const char *hdx_oql_size_of(oql *o, uint32_t at, value v); /* elements of an array, or of a collection */
/* Check and return arguments of n: whether their number is allowed; one of them; its text; its quoted string. */
bool            hdx_oql_takes(oql *o, const oql_node *n, unsigned least, unsigned most);
const oql_node *hdx_oql_argument(const oql_node *n, unsigned i);
const char     *hdx_oql_text_argument(oql *o, const oql_node *n, unsigned i, oql_scope *s);
const char     *hdx_oql_quoted_argument(oql *o, const oql_node *n, unsigned i);

#endif
