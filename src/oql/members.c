/*
 * members.c - translates objects, classes and lists to SQL, and what follows a dot: fields and attributes.
 *
 * Attributes are the getters of MAT's objects: @retainedHeapSize is getRetainedHeapSize().
 */
#include "oql/members.h"

/* ---- rows ---- */

const char *hdx_oql_row(oql *o, const oql_scope *s, row_column column)
{
    static const char *const of_objects[] = { "id",      "address",  "class",  "class_id",
                                              "shallow", "retained", "length", "dominator" };
    static const char *const of_class[] = { "this",         "\"@address\"",  "class", NULL,
                                            "\"@shallow\"", "\"@retained\"", NULL,    NULL };
    if (s->table == SCOPE_DERIVED)
        return hdx_oql_refuse(o, s->select->from_at, "name one of its columns",
                              "a row of this SELECT is not an object");
    if (s->table == SCOPE_OBJECTS)
        return hdx_oql_format(o, "%s.%s", s->alias, of_objects[column]);
    if (of_class[column] != NULL)
        return hdx_oql_format(o, "%s.%s", s->alias, of_class[column]);
    return hdx_oql_format(o, "(SELECT %s FROM objects WHERE id=%s.this)", of_objects[column], s->alias);
}

value hdx_oql_row_value(oql *o, oql_scope *s)
{
    value v = hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL, NULL);
    if (s->table != SCOPE_DERIVED)
        v.sql = hdx_oql_row(o, s, ROW_ID);
    v.row = s;
    return v;
}

const char *hdx_oql_object_column(oql *o, uint32_t at, value v, row_column column)
{
    static const char *const formats[] = { "%s",
                                           "(SELECT address FROM objects WHERE id=%s)",
                                           "class_of(%s)",
                                           "(SELECT class_id FROM objects WHERE id=%s)",
                                           "shallow_of(%s)",
                                           "retained_of(%s)",
                                           "(SELECT length FROM objects WHERE id=%s)",
                                           "(SELECT dominator FROM objects WHERE id=%s)" };
    if (v.row != NULL)
        return hdx_oql_row(o, v.row, column);
    const char *id = hdx_oql_object_of(o, at, v);
    return id == NULL ? NULL : hdx_oql_format(o, formats[column], id);
}

value hdx_oql_roots_of(const char *id)
{
    value v = hdx_oql_value_of(VALUE_ROOTS, BINDS_ALL, NULL);
    v.of = id;
    return nullable(v);
}

value hdx_oql_column_value(oql *o, uint32_t at, value v, value_kind kind, row_column column)
{
    value out = hdx_oql_value_of(kind, BINDS_ALL, hdx_oql_object_column(o, at, v, column));
    out.plain = v.row != NULL && out.sql != NULL && out.sql[0] != '(';
    out.nullable = v.row == NULL || column >= ROW_RETAINED;
    return out;
}

/* ---- classes ---- */

static value class_numbered(oql *o, const char *number, const char *name)
{
    value v = hdx_oql_value_of(VALUE_CLASS, BINDS_ALL,
                               hdx_oql_format(o, "(SELECT object FROM classes WHERE class_id=%s)", number));
    v.number = number;
    v.name = name != NULL ? name : hdx_oql_format(o, "(SELECT name FROM classes WHERE class_id=%s)", number);
    return nullable(v);
}

value hdx_oql_class_of(oql *o, uint32_t at, value v)
{
    if (v.kind == VALUE_CLASS) /* the class of a class is java.lang.Class */
        v = hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL, v.sql);
    const char *number = hdx_oql_object_column(o, at, v, ROW_CLASS_ID);
    return class_numbered(o, number, hdx_oql_object_column(o, at, v, ROW_CLASS));
}

/* Returns a column of `classes`: of the class of an object, or of a class itself. */
static const char *class_column(oql *o, uint32_t at, value v, const char *column)
{
    if (v.kind == VALUE_CLASS)
        return hdx_oql_format(o, "(SELECT %s FROM classes WHERE class_id=%s)", column, v.number);
    return hdx_oql_format(o, "(SELECT %s FROM classes WHERE object=%s)", column, hdx_oql_object_of(o, at, v));
}

const char *hdx_oql_class_number(oql *o, uint32_t at, value v)
{
    return v.kind == VALUE_CLASS ? v.number : class_column(o, at, v, "class_id");
}

/* ---- lists ---- */

value hdx_oql_list_of(oql *o, list_kind kind, const char *of)
{
    value       v = hdx_oql_value_of(VALUE_LIST, BINDS_ALL, NULL);
    const char *t = hdx_oql_table_name(o);
    v.list = kind;
    v.of = of;
    v.nullable = true;
    if (of == NULL || t == NULL)
        return v;
    switch (kind) {
    case LIST_DOMINATED:
        v.objects = true;
        v.from = hdx_oql_format(o, "objects %s", t);
        v.column = hdx_oql_format(o, "%s.id", t);
        v.where = hdx_oql_format(o, "%s.dominator=%s", t, of);
        break;
    case LIST_INBOUND:
        v.from = hdx_oql_format(o, "refs %s", t);
        v.column = hdx_oql_format(o, "%s.src", t);
        v.where = hdx_oql_format(o, "%s.dst=%s", t, of);
        break;
    case LIST_OUTBOUND:
        v.from = hdx_oql_format(o, "refs %s", t);
        v.column = hdx_oql_format(o, "%s.dst", t);
        v.where = hdx_oql_format(o, "%s.src=%s", t, of);
        break;
    case LIST_ELEMENTS:
        v.from = hdx_oql_format(o, "elements(%s) %s", of, t);
        v.column = hdx_oql_format(o, "coalesce(%s.ref,%s.value)", t, t);
        v.ref = hdx_oql_format(o, "%s.ref", t);
        break;
    case LIST_OTHER:
    case LIST_SELECT: break;
    }
    return v;
}

/* Makes a list of a table with ids in a column. where: the condition after its name and a dot; NULL: none. */
value hdx_oql_list_from(oql *o, const char *table, const char *column, const char *where)
{
    value       v = hdx_oql_value_of(VALUE_LIST, BINDS_ALL, NULL);
    const char *t = hdx_oql_table_name(o);
    v.list = LIST_OTHER;
    v.from = hdx_oql_format(o, "%s %s", table, t);
    v.column = hdx_oql_format(o, "%s.%s", t, column);
    v.where = where == NULL ? NULL : hdx_oql_format(o, "%s.%s", t, where);
    return v;
}

value hdx_oql_classes_where(oql *o, const char *where)
{
    value v = hdx_oql_list_from(o, "classes", "object", where);
    v.classes = true;
    return v;
}

/* Returns the n-th element, NULL if there are fewer. */
value hdx_oql_nth(oql *o, value list, const char *n)
{
    value v = hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL, NULL);
    if (list.list == LIST_ELEMENTS)
        v = hdx_oql_value_of(VALUE_ANY, BINDS_ALL, hdx_oql_format(o, "element(%s,%s)", list.of, n));
    else if (list.list == LIST_SELECT)
        v.sql = hdx_oql_format(o, "(SELECT * FROM (%s) LIMIT 1 OFFSET %s)", list.select, n);
    else
        v.sql = hdx_oql_format(o, "(SELECT %s FROM %s%s LIMIT 1 OFFSET %s)", list.column, list.from,
                               hdx_oql_list_where(o, list, NULL), n);
    return nullable(v);
}

/* ---- fields ---- */

static value of_types(int types, const char *sql)
{
    value v = hdx_oql_value_of(types == OQL_REFERENCES ? VALUE_OBJECT
                               : types == OQL_NUMBERS  ? VALUE_NUMBER
                                                       : VALUE_ANY,
                               BINDS_ALL, sql);
    v.plain = types == OQL_NUMBERS; /* may be an id, which depends on the dump */
    return nullable(v);
}

/* Returns a static of a class object. */
static value static_of(oql *o, const char *object, const char *name)
{
    return nullable(
        hdx_oql_value_of(VALUE_ANY, BINDS_ALL, hdx_oql_format(o, "field(%s,%s)", object, hdx_oql_literal(o, name))));
}

/* Finds the column of this name in the SELECT in FROM; NULL: none. */
static const oql_item *derived_item(const oql_select *inner, const char *name, unsigned *place)
{
    *place = 0;
    for (const oql_item *i = inner->items; i != NULL; i = i->next, ++*place) {
        const oql_node *n = i->value;
        const char     *called = i->name != NULL                                      ? i->name
                                 : n->kind == OQL_IS_MEMBER || n->kind == OQL_IS_NAME ? n->text
                                                                                      : NULL;
        if (called != NULL && strcmp(called, name) == 0)
            return i;
    }
    return NULL;
}

/* A sub-select returns a list as a text of ids, "1,2,3", which json_each splits again. */
static value derived_list(oql *o, const char *column)
{
    value v = hdx_oql_list_from(o, hdx_oql_format(o, "json_each('['||%s||']')", column), "value", NULL);
    v.sql = column;
    v.ref = v.column;
    return nullable(plain(v));
}

/*
 * Uses what is known of the sub-select's column: a list stays a list, of any length; a text is no object. All SELECTs
 * of a UNION must agree.
 */
static value derived_column(oql *o, uint32_t at, const char *name, oql_scope *s)
{
    const oql_select *inner = s->select->inner;
    unsigned          place;
    const oql_item   *item = derived_item(inner, name, &place);
    if (item == NULL) {
        hdx_oql_refuse(o, at, "name the column there: SELECT s.count AS n", "the SELECT in FROM has no column %.60s",
                       name);
        return nothing();
    }
    for (const oql_select *part = inner->more; part != NULL; part = part->more) {
        const oql_item *other = part->items;
        for (unsigned i = 0; other != NULL && i < place; i++)
            other = other->next;
        if ((other == NULL ? SHOWN_ANY : other->shown) == item->shown)
            continue;
        hdx_oql_refuse(o, at, "use the same kind of value in each SELECT of the UNION",
                       "column %.60s is a list or a text in only one SELECT of the UNION", name);
        return nothing();
    }
    const char *column = hdx_oql_format(o, "%s.%s", s->alias, hdx_oql_identifier(o, name));
    if (item->shown == SHOWN_IDS)
        return derived_list(o, column);
    value v = hdx_oql_value_of(item->shown == SHOWN_ANY ? VALUE_ANY : VALUE_TEXT, BINDS_ALL, column);
    v.joined = item->shown == SHOWN_VALUES;
    return nullable(plain(v));
}

value hdx_oql_field_of_row(oql *o, uint32_t at, const char *name, oql_scope *s)
{
    uint8_t type;
    value   v;
    if (s->table == SCOPE_DERIVED)
        return derived_column(o, at, name, s);
    if (hdx_oql_same(name, "this"))
        return hdx_oql_row_value(o, s);
    if (s->classes)
        return static_of(o, hdx_oql_row(o, s, ROW_ID), name);
    if (s->table == SCOPE_CLASS && hdx_oql_class_has_column(o, s->class_name, name, &type)) {
        v = hdx_oql_value_of(type == 2   ? VALUE_OBJECT
                             : type == 4 ? VALUE_BOOL
                                         : VALUE_NUMBER,
                             BINDS_ALL, hdx_oql_format(o, "%s.%s", s->alias, hdx_oql_identifier(o, name)));
        v.nullable = type == 2;
        return plain(v);
    }
    v = of_types(hdx_oql_field_types(o, s->class_name, name),
                 hdx_oql_format(o, "field(%s,%s)", hdx_oql_row(o, s, ROW_ID), hdx_oql_literal(o, name)));
    v.plain = false;
    return v;
}

value hdx_oql_member(oql *o, const oql_node *n, value of, oql_scope *s)
{
    (void)s;
    if (o->code != HDX_OK)
        return nothing();
    if (of.row != NULL &&
        !(hdx_oql_same(n->text, "length") && of.row->class_name != NULL && strchr(of.row->class_name, '[') != NULL))
        return hdx_oql_field_of_row(o, n->at, n->text, of.row);
    if (of.kind == VALUE_LIST && hdx_oql_same(n->text, "length"))
        return hdx_oql_count(o, of);
    if (of.kind == VALUE_CLASS && hdx_oql_same(n->text, "name")) /* VisualVM */
        return hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, of.name);
    if (of.kind == VALUE_CLASS)
        return static_of(o, of.sql, n->text);
    if (of.kind == VALUE_TEXT && hdx_oql_same(n->text, "length"))
        return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, hdx_oql_format(o, "length(%s)", of.sql)));
    if (!is_id(of) && of.kind != VALUE_LIST) {
        hdx_oql_refuse(o, n->at, "write attributes with @, methods with ()", "this value has no field %.60s", n->text);
        return nothing();
    }
    const char *id = hdx_oql_object_of(o, n->at, of);
    if (hdx_oql_same(n->text, "length")) { /* of an array, as in JavaScript, unless it is a field */
        const char *length = hdx_oql_object_column(o, n->at, of, ROW_LENGTH);
        if (of.kind == VALUE_ARRAY || hdx_oql_field_types(o, NULL, n->text) == OQL_NO_FIELD)
            return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, length));
        return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL,
                                         hdx_oql_format(o, "coalesce(field(%s,'length'),%s)", id, length)));
    }
    value v = of_types(hdx_oql_field_types(o, NULL, n->text),
                       hdx_oql_format(o, "field(%s,%s)", id, hdx_oql_literal(o, n->text)));
    v.plain = false;
    v.text = strcmp(n->text, "value") == 0 ? id : NULL;
    return v;
}

/* ---- attributes ---- */

static const char *display_name(oql *o, uint32_t at, value v, bool label)
{
    const char *more = label ? "||coalesce('  '||label(%s),'')" : "";
    const char *class = hdx_oql_object_column(o, at, v, ROW_CLASS),
               *address = hdx_oql_object_column(o, at, v, ROW_ADDRESS);
    const char *id = hdx_oql_object_of(o, at, v);
    if (o->code != HDX_OK)
        return NULL;
    return hdx_oql_format(o, "%s||' @ '||addr(%s)%s", class, address, label ? hdx_oql_format(o, more, id) : "");
}

value hdx_oql_snapshot_attribute(oql *o, const oql_node *n, const char *name)
{
    if (hdx_oql_same(name, "GCRoots")) {
        value v = hdx_oql_list_from(o, "(SELECT DISTINCT id FROM roots WHERE thread IS NULL)", "id", NULL);
        return v;
    }
    if (hdx_oql_same(name, "classes"))
        return hdx_oql_classes_where(o, NULL);
    if (hdx_oql_same(name, "snapshotInfo"))
        hdx_oql_refuse(o, n->at, "use heapdex info, or the SQL table dump", "@snapshotInfo is not an object");
    else
        hdx_oql_refuse(o, n->at, "use @GCRoots or @classes, or the tables of heapdex sql",
                       "the snapshot's @%.60s is not supported", name);
    return nothing();
}

static value list_attribute(oql *o, const oql_node *n, value of, const char *name)
{
    if (hdx_oql_same(name, "length") || hdx_oql_same(name, "size"))
        return hdx_oql_count(o, of);
    hdx_oql_refuse(o, n->at, "use one object, or SELECT ... FROM OBJECTS (SELECT ...)",
                   "a list has no attribute @%.60s", name);
    return nothing();
}

/* Translates attributes of class objects, and of the class of an object. *known false: not one of these. */
static value class_attribute(oql *o, const oql_node *n, value of, const char *name, bool *known)
{
    static const struct {
        const char *name, *column;
        value_kind  kind;
    } columns[] = {
        { "numberOfObjects", "live_instances", VALUE_NUMBER },
        { "heapSizePerInstance", "instance_size", VALUE_NUMBER },
        { "totalSize", "live_bytes", VALUE_NUMBER },
        { "classLoaderId", "loader", VALUE_OBJECT },
        { "superClassId", "(SELECT p.object FROM classes p WHERE p.class_id=classes.super)", VALUE_OBJECT },
        { "arrayType", "kind<>'instance'", VALUE_BOOL },
        { "isArrayType", "kind<>'instance'", VALUE_BOOL },
    };
    *known = true;
    if (hdx_oql_same(name, "name"))
        return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL,
                                         of.kind == VALUE_CLASS ? of.name : class_column(o, n->at, of, "name")));
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        if (hdx_oql_same(name, columns[i].name))
            return nullable(
                hdx_oql_value_of(columns[i].kind, BINDS_ALL, class_column(o, n->at, of, columns[i].column)));
    if (hdx_oql_same(name, "superClass"))
        return class_numbered(o, class_column(o, n->at, of, "super"), NULL);
    if (hdx_oql_same(name, "classLoaderAddress"))
        return nullable(hdx_oql_value_of(
            VALUE_NUMBER, BINDS_ALL,
            hdx_oql_format(o, "(SELECT address FROM objects WHERE id=%s)", class_column(o, n->at, of, "loader"))));
    if (hdx_oql_same(name, "subclasses"))
        return hdx_oql_classes_where(o, hdx_oql_format(o, "super=%s", hdx_oql_class_number(o, n->at, of)));
    if (hdx_oql_same(name, "objectIds")) {
        value v =
            hdx_oql_list_from(o, "objects", "id", hdx_oql_format(o, "class_id=%s", hdx_oql_class_number(o, n->at, of)));
        v.objects = true;
        return v;
    }
    *known = false;
    return nothing();
}

static void no_attribute(oql *o, const oql_node *n, const char *name)
{
    static const struct {
        const char *name, *hint;
    } others[] = {
        { "allSubclasses", "use FROM OBJECTS INSTANCEOF C for a class and its subclasses" },
        { "fieldDescriptors", "use the SQL table fields_of_class" },
        { "fields", "use the SQL function fields(id)" },
        { "staticFields", "use the SQL table statics" },
        { "stackFrames", "use the SQL table frames" },
        { "definedClasses", "use SQL: SELECT * FROM classes WHERE loader=..." },
    };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (hdx_oql_same(name, others[i].name)) {
            hdx_oql_refuse(o, n->at, others[i].hint, "@%.60s is not supported", name);
            return;
        }
    hdx_oql_refuse(o, n->at,
                   "objects have @objectId, @objectAddress, @clazz, @usedHeapSize, @retainedHeapSize, @length, "
                   "@displayName, @GCRootInfo; class objects @name, @superClass",
                   "unknown attribute @%.60s", name);
}

value hdx_oql_attribute(oql *o, const oql_node *n, value of, const char *name, oql_scope *s)
{
    value v;
    bool  known;
    if (o->code != HDX_OK)
        return nothing();
    if (of.kind == VALUE_SNAPSHOT)
        return hdx_oql_snapshot_attribute(o, n, name);
    if (of.kind == VALUE_LIST && of.list != LIST_SELECT)
        return list_attribute(o, n, of, name);
    if (of.kind == VALUE_LIST && (hdx_oql_same(name, "length") || hdx_oql_same(name, "size")))
        return list_attribute(o, n, of, name);
    if (of.kind == VALUE_TEXT && hdx_oql_same(name, "length"))
        return nullable(hdx_oql_value_of(VALUE_NUMBER, BINDS_ALL, hdx_oql_format(o, "length(%s)", of.sql)));
    if (hdx_oql_same(name, "objectId") || hdx_oql_same(name, "id")) {
        v = hdx_oql_value_of(VALUE_OBJECT, BINDS_ALL, hdx_oql_object_of(o, n->at, of));
        v.row = of.row;
        v.plain = of.row != NULL;
        return v;
    }
    if (hdx_oql_same(name, "objectAddress") || hdx_oql_same(name, "address"))
        return hdx_oql_column_value(o, n->at, of, VALUE_NUMBER, ROW_ADDRESS);
    if (hdx_oql_same(name, "usedHeapSize") || hdx_oql_same(name, "shallow"))
        return hdx_oql_column_value(o, n->at, of, VALUE_NUMBER, ROW_SHALLOW);
    if (hdx_oql_same(name, "retainedHeapSize") || hdx_oql_same(name, "retained"))
        return hdx_oql_column_value(o, n->at, of, VALUE_NUMBER, ROW_RETAINED);
    if (hdx_oql_same(name, "length"))
        return hdx_oql_column_value(o, n->at, of, VALUE_NUMBER, ROW_LENGTH);
    if (hdx_oql_same(name, "clazz") || hdx_oql_same(name, "class"))
        return hdx_oql_class_of(o, n->at, of);
    /* a group of equal names is known by the name alone */
    if (hdx_oql_same(name, "className") || (hdx_oql_same(name, "displayName") && s != NULL && s->grouped))
        return hdx_oql_column_value(o, n->at, of, VALUE_TEXT, ROW_CLASS);
    if (hdx_oql_same(name, "displayName") || hdx_oql_same(name, "technicalName"))
        return nullable(
            hdx_oql_value_of(VALUE_TEXT, BINDS_JOIN, display_name(o, n->at, of, hdx_oql_same(name, "displayName"))));
    if (hdx_oql_same(name, "classSpecificName"))
        return nullable(hdx_oql_value_of(VALUE_TEXT, BINDS_ALL, hdx_oql_text_of(o, n->at, of)));
    if (hdx_oql_same(name, "GCRootInfo"))
        return hdx_oql_roots_of(hdx_oql_object_of(o, n->at, of));
    if (hdx_oql_same(name, "outboundReferences"))
        return hdx_oql_list_from(o, "named_refs", "dst", hdx_oql_format(o, "src=%s", hdx_oql_object_of(o, n->at, of)));
    if (hdx_oql_same(name, "valueArray") || hdx_oql_same(name, "referenceArray")) {
        v = hdx_oql_value_of(VALUE_ARRAY, BINDS_ALL, hdx_oql_object_of(o, n->at, of));
        v.row = of.row;
        return v;
    }
    v = class_attribute(o, n, of, name, &known);
    if (!known)
        no_attribute(o, n, name);
    return v;
}
