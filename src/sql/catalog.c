/*
 * catalog.c - the content of the small tables: classes and their fields, packages, loaders, roots, threads, the dump
 * itself.
 *
 * In:  the graph; the dump for values of statics and names of threads and loaders.
 * Out: all rows of a table at once.
 * Tables have the scope of the connection: a class is in a table if its class object or an instance of it is in scope.
 * Counts have two columns, one of all objects and one of live ones.
 */
#include "query/objects.h"
#include "query/common/origin.h"
#include "query/histogram/histogram.h"
#include "query/common/thread_facts.h"
#include "query/runtime/loaders.h"
#include "sql/held.h"

#include "model/model.h"

#include <stdlib.h>

static bool wants(const sql_heap *heap, hdx_id id)
{
    return heap->query.scope == HDX_ALL || hdx_graph_live(heap->g, id) == (heap->query.scope == HDX_LIVE);
}

/* ---- classes ---- */

static bool wants_class(const sql_heap *heap, const hdx_class *c)
{
    return wants(heap, c->id) || (heap->query.scope == HDX_GARBAGE && c->instances > c->live_instances);
}

static hdx_id loader_of(const hdx_graph *g, const hdx_class *c)
{
    hdx_id id;
    return hdx_graph_find(g, c->loader, &id) ? id : HDX_NO_ID;
}

enum {
    CLASS_ID,
    CLASS_NAME,
    CLASS_PACKAGE,
    CLASS_OBJECT,
    CLASS_SUPER,
    CLASS_LOADER,
    CLASS_KIND,
    CLASS_ELEMENT_TYPE,
    CLASS_INSTANCES,
    CLASS_BYTES,
    CLASS_LIVE_INSTANCES,
    CLASS_LIVE_BYTES,
    CLASS_INSTANCE_SIZE,
    CLASS_SHALLOW,
    CLASS_FIELDS,
    CLASS_STATICS,
    CLASS_ADDRESS,
    CLASS_FLAGS,
    CLASS_ORIGIN,
    CLASS_COLUMNS
};
static const sql_held_column class_columns[CLASS_COLUMNS] = {
    [CLASS_ID] = { "class_id", "INTEGER", SQL_UNIQUE },
    [CLASS_NAME] = { "name", "TEXT", 0 },
    [CLASS_PACKAGE] = { "package", "TEXT", 0 },
    [CLASS_OBJECT] = { "object", "INTEGER", SQL_UNIQUE },
    [CLASS_SUPER] = { "super", "INTEGER", 0 },
    [CLASS_LOADER] = { "loader", "INTEGER", 0 },
    [CLASS_KIND] = { "kind", "TEXT", 0 },
    [CLASS_ELEMENT_TYPE] = { "element_type", "TEXT", 0 },
    [CLASS_INSTANCES] = { "instances", "COUNT", 0 },
    [CLASS_BYTES] = { "bytes", "SIZE", 0 },
    [CLASS_LIVE_INSTANCES] = { "live_instances", "COUNT", 0 },
    [CLASS_LIVE_BYTES] = { "live_bytes", "SIZE", 0 },
    [CLASS_INSTANCE_SIZE] = { "instance_size", "SIZE", 0 },
    [CLASS_SHALLOW] = { "class_shallow", "SIZE", 0 },
    [CLASS_FIELDS] = { "fields", "COUNT", 0 },
    [CLASS_STATICS] = { "statics", "COUNT", 0 },
    [CLASS_ADDRESS] = { "address", "ADDRESS", 0 },
    [CLASS_FLAGS] = { "flags", "INTEGER", 0 },
    [CLASS_ORIGIN] = { "origin", "TEXT", 0 },
};

static void put_class(sql_held *h, uint64_t row, const hdx_origins *origins, const hdx_class *c)
{
    sql_held_number(h, CLASS_ID, row, c->number);
    sql_held_text(h, CLASS_NAME, row, c->name);
    sql_held_text(h, CLASS_PACKAGE, row, hdx_package_of(c->name));
    sql_held_id(h, CLASS_OBJECT, row, c->id);
    if (c->super != HDX_NO_CLASS)
        sql_held_number(h, CLASS_SUPER, row, c->super);
    sql_held_id(h, CLASS_LOADER, row, loader_of(h->heap->g, c));
    sql_held_string(h, CLASS_KIND, row, hdx_object_kind_name(c->kind));
    sql_held_string(h, CLASS_ELEMENT_TYPE, row, hdx_type_name(c->element_type));
    sql_held_number(h, CLASS_INSTANCES, row, c->instances);
    sql_held_number(h, CLASS_BYTES, row, c->bytes);
    sql_held_number(h, CLASS_LIVE_INSTANCES, row, c->live_instances);
    sql_held_number(h, CLASS_LIVE_BYTES, row, c->live_bytes);
    sql_held_number(h, CLASS_INSTANCE_SIZE, row, c->instance_size);
    sql_held_number(h, CLASS_SHALLOW, row, c->class_shallow);
    sql_held_number(h, CLASS_FIELDS, row, c->field_count);
    sql_held_number(h, CLASS_STATICS, row, c->static_count);
    sql_held_number(h, CLASS_ADDRESS, row, c->address);
    sql_held_number(h, CLASS_FLAGS, row, c->flags);
    sql_held_string(h, CLASS_ORIGIN, row, hdx_origin_name(hdx_origin_of(origins, c)));
}

static hdx_code make_classes(sql_held *h, hdx_error *err)
{
    uint32_t          count = 0;
    const hdx_class  *classes = hdx_graph_classes(h->heap->g, &count);
    const hdx_origins origins = hdx_origins_of(h->heap->g);
    hdx_code          code = HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && i < count; i++)
        if (wants_class(h->heap, &classes[i]) && (code = hdx_sql_held_add(h, err)) == HDX_OK)
            put_class(h, h->rows - 1, &origins, &classes[i]);
    return code;
}

/* ---- fields of classes, in the order of an instance: own fields, then those of superclasses; then statics ---- */

enum { FIELD_CLASS, FIELD_OWNER, FIELD_POSITION, FIELD_NAME, FIELD_TYPE, FIELD_STATIC, FIELD_COLUMNS };
static const sql_held_column field_columns[FIELD_COLUMNS] = {
    [FIELD_CLASS] = { "class_id", "INTEGER", 0 },
    [FIELD_OWNER] = { "owner", "INTEGER", 0 },
    [FIELD_POSITION] = { "position", "INTEGER", 0 },
    [FIELD_NAME] = { "name", "TEXT", 0 },
    [FIELD_TYPE] = { "type", "TEXT", 0 },
    [FIELD_STATIC] = { "static", "INTEGER", 0 },
};

static hdx_code put_field(sql_held *h, const hdx_class *of, const hdx_class *owner, uint64_t position,
                          const hdx_field *f, bool is_static, hdx_error *err)
{
    const hdx_code code = hdx_sql_held_add(h, err);
    if (code != HDX_OK)
        return code;
    const uint64_t row = h->rows - 1;
    sql_held_number(h, FIELD_CLASS, row, of->number);
    sql_held_number(h, FIELD_OWNER, row, owner->number);
    sql_held_number(h, FIELD_POSITION, row, position);
    sql_held_text(h, FIELD_NAME, row, f->name);
    sql_held_string(h, FIELD_TYPE, row, hdx_type_name(f->type));
    sql_held_number(h, FIELD_STATIC, row, is_static);
    return HDX_OK;
}

/*
 * Returns for each class the nearest class with fields, itself or a superclass, because a dump can have chains of any
 * length of classes without fields. NULL: no memory.
 */
static uint32_t *find_owners(const sql_held *h, const hdx_class *classes, uint32_t count)
{
    uint32_t *owner = hdx_mem_raw(h->mem, count + 1ull, sizeof *owner);
    for (uint32_t i = 0; owner != NULL && i < count; i++)
        owner[i] = classes[i].field_count > 0 ? i : UINT32_MAX;
    for (uint32_t i = 0; owner != NULL && i < count; i++) {
        uint32_t at = i, steps = 0; /* a damaged index may contain a cycle */
        while (at < count && owner[at] == UINT32_MAX && steps++ < count)
            at = classes[at].super;
        const uint32_t found = at < count && owner[at] != UINT32_MAX ? owner[at] : count;
        for (at = i; at < count && owner[at] == UINT32_MAX; at = classes[at].super)
            owner[at] = found;
    }
    return owner;
}

static hdx_code make_fields(sql_held *h, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(h->heap->g, &count);
    uint32_t        *owner = find_owners(h, classes, count);
    hdx_code         code = owner != NULL ? HDX_OK : hdx_no_memory(err, "fields of classes", count * sizeof *owner);
    for (uint32_t i = 0; code == HDX_OK && i < count; i++) {
        uint64_t position = 0;
        uint32_t steps = 0; /* a damaged index may contain a cycle */
        if (!wants_class(h->heap, &classes[i]))
            continue;
        for (uint32_t at = owner[i]; code == HDX_OK && at < count && steps < count; steps++) {
            for (uint32_t f = 0; code == HDX_OK && f < classes[at].field_count; f++)
                code = put_field(h, &classes[i], &classes[at], position++, &classes[at].fields[f], false, err);
            at = classes[at].super < count ? owner[classes[at].super] : count;
        }
        for (uint32_t f = 0; code == HDX_OK && f < classes[i].static_count; f++)
            code = put_field(h, &classes[i], &classes[i], f, &classes[i].statics[f], true, err);
    }
    hdx_mem_put(h->mem, owner, (count + 1ull) * sizeof *owner);
    return code;
}

/* ---- statics ---- */

enum { STATIC_CLASS, STATIC_NAME, STATIC_TYPE, STATIC_VALUE, STATIC_REF, STATIC_COLUMNS };
static const sql_held_column static_columns[STATIC_COLUMNS] = {
    [STATIC_CLASS] = { "class_id", "INTEGER", 0 }, [STATIC_NAME] = { "name", "TEXT", 0 },
    [STATIC_TYPE] = { "type", "TEXT", 0 },         [STATIC_VALUE] = { "value", "", 0 },
    [STATIC_REF] = { "ref", "INTEGER", 0 },
};

/* The value of a reference is the address. */
static hdx_code put_statics(sql_held *h, const hdx_class *c, hdx_values *v, hdx_error *err)
{
    hdx_code code = hdx_graph_statics(h->heap->g, c->id, v, err);
    for (uint64_t i = 0; code == HDX_OK && i < v->count; i++) {
        const hdx_value *value = &v->at[i].value;
        hdx_id           id;
        if ((code = hdx_sql_held_add(h, err)) != HDX_OK)
            return code;
        const uint64_t row = h->rows - 1;
        sql_held_number(h, STATIC_CLASS, row, c->number);
        sql_held_text(h, STATIC_NAME, row, i < c->static_count ? c->statics[i].name : v->at[i].name);
        sql_held_string(h, STATIC_TYPE, row, hdx_type_name(value->type));
        h->columns[STATIC_VALUE].cells[row] =
            value->type == 5 && !value->absent ? hdx_cell_int(value->as.character) : hdx_value_cell(&h->arena, value);
        if (value->type == 2 && !value->absent && value->as.address != 0 &&
            hdx_graph_find(h->heap->g, value->as.address, &id))
            sql_held_id(h, STATIC_REF, row, id);
    }
    return code;
}

/* Reads in the order of the dump, in which the records of classes are adjacent. */
static hdx_code make_statics(sql_held *h, hdx_error *err)
{
    uint32_t         count = 0;
    uint64_t         n = 0;
    hdx_values       v = { 0 };
    hdx_code         code = HDX_OK;
    const hdx_class *classes = hdx_graph_classes(h->heap->g, &count);
    hdx_pair        *order = hdx_mem_raw(h->mem, count, sizeof *order);
    if (order == NULL)
        return hdx_no_memory(err, "statics", count * sizeof *order);
    for (uint32_t i = 0; i < count; i++) {
        hdx_pos at;
        if (classes[i].static_count > 0 && wants(h->heap, classes[i].id) &&
            hdx_graph_position(h->heap->g, classes[i].id, &at))
            order[n++] = (hdx_pair){ at, i };
    }
    hdx_sort_pairs(h->mem, order, n);
    struct hdx_near *near = hdx_graph_near_begin(h->heap->g);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        code = put_statics(h, &classes[order[i].second], &v, err);
    hdx_graph_near_end(near);
    hdx_values_free(&v);
    hdx_mem_put(h->mem, order, count * sizeof *order);
    return code;
}

/* ---- packages ---- */

enum {
    PACKAGE_NAME,
    PACKAGE_CLASSES,
    PACKAGE_INSTANCES,
    PACKAGE_BYTES,
    PACKAGE_LIVE_CLASSES,
    PACKAGE_LIVE_INSTANCES,
    PACKAGE_LIVE_BYTES,
    PACKAGE_RETAINED,
    PACKAGE_COLUMNS
};
static const sql_held_column package_columns[PACKAGE_COLUMNS] = {
    [PACKAGE_NAME] = { "name", "TEXT", SQL_UNIQUE },
    [PACKAGE_CLASSES] = { "classes", "COUNT", 0 },
    [PACKAGE_INSTANCES] = { "instances", "COUNT", 0 },
    [PACKAGE_BYTES] = { "bytes", "SIZE", 0 },
    [PACKAGE_LIVE_CLASSES] = { "live_classes", "COUNT", 0 }, /* with live instances, as in a histogram */
    [PACKAGE_LIVE_INSTANCES] = { "live_instances", "COUNT", 0 },
    [PACKAGE_LIVE_BYTES] = { "live_bytes", "SIZE", 0 },
    [PACKAGE_RETAINED] = { "retained", "SIZE", SQL_LATE },
};

static void grow_number(sql_held *h, unsigned column, uint64_t row, uint64_t more)
{
    sql_held_number(h, column, row, (uint64_t)h->columns[column].numbers[row] + more);
}

static void count_class(sql_held *h, uint64_t row, const hdx_class *c)
{
    grow_number(h, PACKAGE_CLASSES, row, 1);
    grow_number(h, PACKAGE_INSTANCES, row, c->instances);
    grow_number(h, PACKAGE_BYTES, row, c->bytes);
    grow_number(h, PACKAGE_LIVE_CLASSES, row, c->live_instances > 0);
    grow_number(h, PACKAGE_LIVE_INSTANCES, row, c->live_instances);
    grow_number(h, PACKAGE_LIVE_BYTES, row, c->live_bytes);
}

typedef struct packaged {
    hdx_text         package;
    const hdx_class *c;
} packaged;

static int by_package(const void *a, const void *b)
{
    const packaged *x = a, *y = b;
    const int       d = hdx_text_order(x->package, y->package);
    return d != 0 ? d : (x->c->number > y->c->number) - (x->c->number < y->c->number);
}

static hdx_code make_packages(sql_held *h, hdx_error *err)
{
    uint32_t         count = 0;
    uint64_t         n = 0;
    hdx_code         code = HDX_OK;
    const hdx_class *classes = hdx_graph_classes(h->heap->g, &count);
    packaged        *at = hdx_mem_raw(h->mem, count, sizeof *at);
    if (at == NULL)
        return hdx_no_memory(err, "packages", count * sizeof *at);
    for (uint32_t i = 0; i < count; i++)
        if (wants_class(h->heap, &classes[i]))
            at[n++] = (packaged){ hdx_package_of(classes[i].name), &classes[i] };
    if (n > 0)
        qsort(at, n, sizeof *at, by_package);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++) {
        if ((i == 0 || hdx_text_order(at[i].package, at[i - 1].package) != 0) &&
            (code = hdx_sql_held_add(h, err)) == HDX_OK)
            sql_held_text(h, PACKAGE_NAME, h->rows - 1, at[i].package);
        if (code == HDX_OK)
            count_class(h, h->rows - 1, at[i].c);
    }
    hdx_mem_put(h->mem, at, count * sizeof *at);
    return code;
}

static bool name_before(const void *held, uint64_t row, const void *name)
{
    return hdx_text_order(((const sql_held *)held)->columns[PACKAGE_NAME].texts[row], *(const hdx_text *)name) < 0;
}

static unsigned column_named(const hdx_rows *rows, const char *name)
{
    unsigned          count, i = 0;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    while (i < count && strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}

/* Computes retained sizes as in the histogram; packages are sorted by name. */
static hdx_code make_retained(sql_held *h, hdx_error *err)
{
    hdx_query       q = h->heap->query;
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    q.scope = HDX_LIVE;
    hdx_code code = hdx_query_histogram(&q, HDX_BY_PACKAGE, NULL, true, &rows, err);
    if (code != HDX_OK)
        return code;
    const unsigned name = column_named(rows, "package"), retained = column_named(rows, "retained");
    while (hdx_rows_next(rows, &cells)) {
        const uint64_t row = hdx_partition(h, 0, h->rows, &cells[name].as.text, name_before);
        if (row < h->rows && hdx_text_order(h->columns[PACKAGE_NAME].texts[row], cells[name].as.text) == 0 &&
            cells[retained].kind == HDX_CELL_UINT)
            sql_held_number(h, PACKAGE_RETAINED, row, cells[retained].as.natural);
    }
    code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

/* ---- loaders ---- */

enum {
    LOADER_ID,
    LOADER_NAME,
    LOADER_CLASSES,
    LOADER_INSTANCES,
    LOADER_BYTES,
    LOADER_LIVE_CLASSES,
    LOADER_LIVE_INSTANCES,
    LOADER_LIVE_BYTES,
    LOADER_RETAINED,
    LOADER_COLUMNS
};
static const sql_held_column loader_columns[LOADER_COLUMNS] = {
    [LOADER_ID] = { "id", "INTEGER", SQL_UNIQUE },
    [LOADER_NAME] = { "name", "TEXT", SQL_LATE },
    [LOADER_CLASSES] = { "classes", "COUNT", 0 },
    [LOADER_INSTANCES] = { "instances", "COUNT", 0 },
    [LOADER_BYTES] = { "bytes", "SIZE", 0 },
    [LOADER_LIVE_CLASSES] = { "live_classes", "COUNT", 0 },
    [LOADER_LIVE_INSTANCES] = { "live_instances", "COUNT", 0 },
    [LOADER_LIVE_BYTES] = { "live_bytes", "SIZE", 0 },
    [LOADER_RETAINED] = { "retained", "SIZE", 0 },
};

static hdx_code add_loader(sql_held *h, hdx_id id, hdx_error *err)
{
    const hdx_code code = hdx_sql_held_add(h, err);
    if (code != HDX_OK)
        return code;
    sql_held_number(h, LOADER_ID, h->rows - 1, id);
    for (unsigned i = LOADER_CLASSES; i <= LOADER_LIVE_BYTES; i++)
        sql_held_number(h, i, h->rows - 1, 0);
    if (hdx_graph_live(h->heap->g, id))
        sql_held_number(h, LOADER_RETAINED, h->rows - 1, hdx_graph_retained(h->heap->g, id));
    return HDX_OK;
}

static void count_loaded(sql_held *h, uint64_t row, const hdx_class *c)
{
    grow_number(h, LOADER_CLASSES, row, 1);
    grow_number(h, LOADER_INSTANCES, row, c->instances);
    grow_number(h, LOADER_BYTES, row, c->bytes);
    if (hdx_graph_live(h->heap->g, c->id)) {
        grow_number(h, LOADER_LIVE_CLASSES, row, 1);
        grow_number(h, LOADER_LIVE_INSTANCES, row, c->live_instances);
        grow_number(h, LOADER_LIVE_BYTES, row, c->live_bytes);
    }
}

#define LOADS_NOTHING UINT64_MAX

/* Lists live loaders, and those that defined a class, by id. */
static hdx_code list_loaders(sql_held *h, const hdx_loaders *live, hdx_pair *at, uint64_t *n, hdx_error *err)
{
    uint32_t         count = 0;
    hdx_code         code = HDX_OK;
    const hdx_class *classes = hdx_graph_classes(h->heap->g, &count);
    *n = 0;
    for (uint64_t i = 0; i < live->count; i++)
        at[(*n)++] = (hdx_pair){ live->at[i].id, LOADS_NOTHING };
    for (uint32_t i = 0; i < count; i++) {
        const hdx_id id = wants_class(h->heap, &classes[i]) ? loader_of(h->heap->g, &classes[i]) : HDX_NO_ID;
        if (id != HDX_NO_ID)
            at[(*n)++] = (hdx_pair){ id, i };
    }
    hdx_sort_pairs(h->mem, at, *n);
    for (uint64_t i = 0; code == HDX_OK && i < *n; i++) {
        if (!wants(h->heap, at[i].first))
            continue;
        if (i == 0 || at[i].first != at[i - 1].first)
            code = add_loader(h, at[i].first, err);
        if (code == HDX_OK && at[i].second != LOADS_NOTHING)
            count_loaded(h, h->rows - 1, &classes[at[i].second]);
    }
    return code;
}

static hdx_code live_loaders(const sql_held *h, hdx_ask *ask, hdx_loaders *out, hdx_error *err)
{
    *out = (hdx_loaders){ NULL, 0, 0 };
    const hdx_code code = hdx_ask_begin(&h->heap->query, ask, err);
    return code == HDX_OK ? hdx_loaders_list(ask, out, err) : code;
}

static hdx_code make_loaders(sql_held *h, hdx_error *err)
{
    hdx_ask     ask;
    hdx_loaders live;
    uint32_t    count = 0;
    uint64_t    n;
    hdx_code    code = live_loaders(h, &ask, &live, err);
    (void)hdx_graph_classes(h->heap->g, &count);
    const uint64_t room = live.count + count;
    hdx_pair      *at = hdx_mem_raw(h->mem, room, sizeof *at);
    if (at == NULL && code == HDX_OK)
        code = hdx_no_memory(err, "loaders", room * sizeof *at);
    if (code == HDX_OK)
        code = list_loaders(h, &live, at, &n, err);
    hdx_mem_put(h->mem, at, room * sizeof *at);
    hdx_loaders_drop(&live, h->mem);
    return code;
}

static hdx_code name_loaders(sql_held *h, hdx_error *err)
{
    hdx_ask     ask;
    hdx_loaders live;
    hdx_code    code = live_loaders(h, &ask, &live, err);
    for (uint64_t row = 0; code == HDX_OK && row < h->rows; row++) {
        const hdx_id      id = (hdx_id)h->columns[LOADER_ID].numbers[row];
        const hdx_loader *l = hdx_loaders_find(&live, id);
        const hdx_loader  dead = { .id = id, .address = hdx_graph_address(h->heap->g, id), .module = HDX_NO_ID };
        hdx_cell          name = hdx_cell_null();
        code = hdx_loader_name_cell(&h->heap->query, l != NULL ? l : &dead, &h->arena, &name, err);
        if (name.kind == HDX_CELL_TEXT)
            sql_held_text(h, LOADER_NAME, row, name.as.text);
        if (code == HDX_OK)
            code = sql_turn(h->heap->db, err);
    }
    hdx_loaders_drop(&live, h->mem);
    return code;
}

/* ---- roots ---- */

enum { ROOT_ID, ROOT_TYPE, ROOT_THREAD, ROOT_FRAME, ROOT_DESCRIPTION, ROOT_COLUMNS };
static const sql_held_column root_columns[ROOT_COLUMNS] = {
    [ROOT_ID] = { "id", "INTEGER", 0 },
    [ROOT_TYPE] = { "type", "TEXT", 0 },
    [ROOT_THREAD] = { "thread", "INTEGER", 0 },
    [ROOT_FRAME] = { "frame", "INTEGER", 0 },
    [ROOT_DESCRIPTION] = { "description", "TEXT", 0 },
};

static int by_root(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread + 1 < y->thread + 1 ? -1 : 1; /* HDX_NO_ID first */
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static hdx_code put_root(sql_held *h, const hdx_root *root, hdx_error *err)
{
    const hdx_code code = hdx_sql_held_add(h, err);
    if (code != HDX_OK)
        return code;
    const uint64_t row = h->rows - 1;
    const char    *type = hdx_root_type_name(root->type);
    sql_held_number(h, ROOT_ID, row, root->object);
    sql_held_string(h, ROOT_TYPE, row, type);
    sql_held_string(h, ROOT_DESCRIPTION, row, hdx_root_type_description(type, strlen(type)));
    sql_held_id(h, ROOT_THREAD, row, root->thread);
    if (root->frame >= 0)
        sql_held_number(h, ROOT_FRAME, row, (uint64_t)root->frame);
    return HDX_OK;
}

/* Lists each distinct root once. */
static hdx_code make_roots(sql_held *h, hdx_error *err)
{
    uint64_t        count = 0;
    hdx_code        code = HDX_OK;
    const hdx_root *roots = hdx_graph_roots(h->heap->g, &count);
    hdx_root       *at = hdx_mem_raw(h->mem, roots == NULL ? 0 : count, sizeof *at);
    if (at == NULL)
        return hdx_no_memory(err, "roots", count * sizeof *at);
    count = roots == NULL ? 0 : count;
    if (count > 0) {
        memcpy(at, roots, count * sizeof *at);
        hdx_sort(h->mem, at, count, sizeof *at, offsetof(hdx_root, object), by_root);
    }
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        if (i == 0 || by_root(&at[i], &at[i - 1]) != 0)
            code = put_root(h, &at[i], err);
    hdx_mem_put(h->mem, at, count * sizeof *at);
    return code;
}

/* ---- threads and frames ---- */

enum { THREAD_ID, THREAD_NAME, THREAD_SERIAL, THREAD_FRAMES, THREAD_RETAINED, THREAD_LOCALS, THREAD_COLUMNS };
static const sql_held_column thread_columns[THREAD_COLUMNS] = {
    [THREAD_ID] = { "id", "INTEGER", SQL_UNIQUE }, [THREAD_NAME] = { "name", "TEXT", SQL_LATE },
    [THREAD_SERIAL] = { "serial", "INTEGER", 0 },  [THREAD_FRAMES] = { "frames", "COUNT", 0 },
    [THREAD_RETAINED] = { "retained", "SIZE", 0 }, [THREAD_LOCALS] = { "locals", "COUNT", 0 },
};

static hdx_code put_thread(sql_held *h, hdx_id id, hdx_error *err)
{
    const hdx_code code = hdx_sql_held_add(h, err);
    if (code != HDX_OK)
        return code;
    const uint64_t    row = h->rows - 1;
    const hdx_thread *thread = hdx_graph_thread_of(h->heap->g, id);
    sql_held_number(h, THREAD_ID, row, id);
    if (thread != NULL)
        sql_held_number(h, THREAD_SERIAL, row, thread->serial);
    sql_held_number(h, THREAD_FRAMES, row, thread == NULL ? 0 : thread->frame_count);
    if (hdx_graph_live(h->heap->g, id))
        sql_held_number(h, THREAD_RETAINED, row, hdx_graph_retained(h->heap->g, id));
    sql_held_number(h, THREAD_LOCALS, row, 0);
    return HDX_OK;
}

static bool thread_before(const void *held, uint64_t row, const void *id)
{
    return (hdx_id)((const sql_held *)held)->columns[THREAD_ID].numbers[row] < *(const hdx_id *)id;
}

/* Counts the distinct objects that the frames of each thread hold; threads are sorted by id. */
static hdx_code count_locals(sql_held *h, hdx_error *err)
{
    uint64_t        count = 0, n = 0;
    const hdx_root *roots = hdx_graph_roots(h->heap->g, &count);
    count = roots == NULL ? 0 : count;
    hdx_pair *at = hdx_mem_raw(h->mem, count, sizeof *at);
    if (at == NULL)
        return hdx_no_memory(err, "locals", count * sizeof *at);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread != HDX_NO_ID)
            at[n++] = (hdx_pair){ roots[i].thread, roots[i].object };
    hdx_sort_pairs(h->mem, at, n);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = hdx_partition(h, 0, h->rows, &at[i].first, thread_before);
        if (row < h->rows && (hdx_id)h->columns[THREAD_ID].numbers[row] == at[i].first &&
            (i == 0 || at[i].first != at[i - 1].first || at[i].second != at[i - 1].second))
            grow_number(h, THREAD_LOCALS, row, 1);
    }
    hdx_mem_put(h->mem, at, count * sizeof *at);
    return HDX_OK;
}

static hdx_code make_threads(sql_held *h, hdx_error *err)
{
    hdx_ask  ask;
    hdx_ids  ids = hdx_ids_of(h->mem);
    hdx_code code = hdx_ask_begin(&h->heap->query, &ask, err);
    if (code == HDX_OK)
        code = hdx_threads_of(&ask, &ids, err);
    for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++)
        code = put_thread(h, ids.at[i], err);
    hdx_ids_drop(&ids);
    return code == HDX_OK ? count_locals(h, err) : code;
}

static hdx_code name_threads(sql_held *h, hdx_error *err)
{
    hdx_thread_reader reader;
    hdx_thread_facts  facts;
    hdx_code          code = hdx_thread_reader_open(&h->heap->query, &reader, err);
    for (uint64_t row = 0; code == HDX_OK && row < h->rows; row++) {
        code = hdx_thread_read(&reader, (hdx_id)h->columns[THREAD_ID].numbers[row], &h->arena, &facts, err);
        if (code == HDX_OK && facts.name.kind == HDX_CELL_TEXT)
            sql_held_text(h, THREAD_NAME, row, facts.name.as.text);
        if (code == HDX_OK)
            code = sql_turn(h->heap->db, err);
    }
    hdx_thread_reader_close(&reader);
    return code;
}

enum {
    FRAME_THREAD,
    FRAME_NUMBER,
    FRAME_CLASS,
    FRAME_METHOD,
    FRAME_SIGNATURE,
    FRAME_SOURCE,
    FRAME_LINE,
    FRAME_COLUMNS
};
static const sql_held_column frame_columns[FRAME_COLUMNS] = {
    [FRAME_THREAD] = { "thread", "INTEGER", 0 },    [FRAME_NUMBER] = { "frame", "INTEGER", 0 },
    [FRAME_CLASS] = { "class", "TEXT", 0 },         [FRAME_METHOD] = { "method", "TEXT", 0 },
    [FRAME_SIGNATURE] = { "signature", "TEXT", 0 }, [FRAME_SOURCE] = { "source", "TEXT", 0 },
    [FRAME_LINE] = { "line", "INTEGER", 0 },
};

static hdx_code put_frame(sql_held *h, hdx_id thread, uint32_t number, const hdx_frame *f, hdx_error *err)
{
    const hdx_code code = hdx_sql_held_add(h, err);
    if (code != HDX_OK)
        return code;
    const uint64_t row = h->rows - 1;
    sql_held_number(h, FRAME_THREAD, row, thread);
    sql_held_number(h, FRAME_NUMBER, row, number);
    sql_held_text(h, FRAME_CLASS, row, f->class_name);
    sql_held_text(h, FRAME_METHOD, row, f->method);
    sql_held_text(h, FRAME_SIGNATURE, row, f->signature);
    if (f->source.len > 0)
        sql_held_text(h, FRAME_SOURCE, row, f->source);
    if (f->line > 0)
        sql_held_number(h, FRAME_LINE, row, (uint64_t)f->line);
    return HDX_OK;
}

static hdx_code make_frames(sql_held *h, hdx_error *err)
{
    uint64_t          count = 0;
    hdx_code          code = HDX_OK;
    const hdx_thread *threads = hdx_graph_threads(h->heap->g, &count);
    for (uint64_t i = 0; threads != NULL && i < count; i++)
        for (uint32_t f = 0; code == HDX_OK && f < threads[i].frame_count; f++)
            code = put_frame(h, threads[i].object, f, &threads[i].frames[f], err);
    return code;
}

/* ---- the dump ---- */

enum { HEAP_NUMBER, HEAP_NAME, HEAP_OBJECTS, HEAP_BYTES, HEAP_LIVE_OBJECTS, HEAP_LIVE_BYTES, HEAP_COLUMNS };
static const sql_held_column heap_columns[HEAP_COLUMNS] = {
    [HEAP_NUMBER] = { "number", "INTEGER", SQL_UNIQUE },  [HEAP_NAME] = { "name", "TEXT", 0 },
    [HEAP_OBJECTS] = { "objects", "COUNT", 0 },           [HEAP_BYTES] = { "bytes", "SIZE", 0 },
    [HEAP_LIVE_OBJECTS] = { "live_objects", "COUNT", 0 }, [HEAP_LIVE_BYTES] = { "live_bytes", "SIZE", 0 },
};

static hdx_code make_heaps(sql_held *h, hdx_error *err)
{
    uint64_t              count = 0;
    hdx_code              code = HDX_OK;
    const hdx_heap_space *heaps = hdx_graph_heaps(h->heap->g, &count);
    for (uint64_t i = 0; heaps != NULL && i < count && (code = hdx_sql_held_add(h, err)) == HDX_OK; i++) {
        sql_held_number(h, HEAP_NUMBER, i, heaps[i].number);
        sql_held_text(h, HEAP_NAME, i, heaps[i].name);
        sql_held_number(h, HEAP_OBJECTS, i, heaps[i].objects);
        sql_held_number(h, HEAP_BYTES, i, heaps[i].bytes);
        sql_held_number(h, HEAP_LIVE_OBJECTS, i, heaps[i].live_objects);
        sql_held_number(h, HEAP_LIVE_BYTES, i, heaps[i].live_bytes);
    }
    return code;
}

enum { DUMP_KEY, DUMP_VALUE, DUMP_COLUMNS };
static const sql_held_column dump_columns[DUMP_COLUMNS] = { { "key", "TEXT", 0 }, { "value", "", 0 } };

/* Copies the rows of the query `info`. */
static hdx_code make_dump(sql_held *h, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_code        code = hdx_query_info(&h->heap->query, &rows, err);
    if (code != HDX_OK)
        return code;
    const unsigned key = column_named(rows, "key"), value = column_named(rows, "value");
    while (code == HDX_OK && hdx_rows_next(rows, &cells) && (code = hdx_sql_held_add(h, err)) == HDX_OK) {
        const uint64_t row = h->rows - 1;
        sql_held_text(h, DUMP_KEY, row, hdx_text_cell(&h->arena, cells[key].as.text).as.text);
        h->columns[DUMP_VALUE].cells[row] =
            cells[value].kind == HDX_CELL_TEXT ? hdx_text_cell(&h->arena, cells[value].as.text) : cells[value];
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

enum {
    DAMAGE_NUMBER,
    DAMAGE_KIND,
    DAMAGE_OFFSET,
    DAMAGE_RECORD,
    DAMAGE_EXPECTED,
    DAMAGE_KEPT,
    DAMAGE_LOST,
    DAMAGE_COLUMNS
};
static const sql_held_column damage_columns[DAMAGE_COLUMNS] = {
    [DAMAGE_NUMBER] = { "number", "INTEGER", SQL_UNIQUE }, [DAMAGE_KIND] = { "kind", "TEXT", 0 },
    [DAMAGE_OFFSET] = { "offset", "INTEGER", 0 },          [DAMAGE_RECORD] = { "record", "TEXT", 0 },
    [DAMAGE_EXPECTED] = { "expected", "TEXT", 0 },         [DAMAGE_KEPT] = { "kept_objects", "COUNT", 0 },
    [DAMAGE_LOST] = { "lost_bytes", "SIZE", 0 },
};

static hdx_code make_damage(sql_held *h, hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(h->heap->g);
    hdx_code                 code = HDX_OK;
    for (uint64_t i = 0; i < s->damage_count && (code = hdx_sql_held_add(h, err)) == HDX_OK; i++) {
        sql_held_number(h, DAMAGE_NUMBER, i, i + 1);
        sql_held_string(h, DAMAGE_KIND, i, hdx_damage_name(s->damage[i].kind));
        sql_held_number(h, DAMAGE_OFFSET, i, s->damage[i].offset);
        sql_held_string(h, DAMAGE_RECORD, i, s->damage[i].record);
        sql_held_string(h, DAMAGE_EXPECTED, i, s->damage[i].expected);
        sql_held_number(h, DAMAGE_KEPT, i, s->damage[i].kept_objects);
        sql_held_number(h, DAMAGE_LOST, i, s->damage[i].lost_bytes);
    }
    return code;
}

/* ---- all tables ---- */

const sql_held_table hdx_sql_held_tables[SQL_HELD_TABLES] = {
    { "classes", class_columns, CLASS_COLUMNS, false, make_classes, NULL, false },
    { "fields_of_class", field_columns, FIELD_COLUMNS, false, make_fields, NULL, true },
    { "statics", static_columns, STATIC_COLUMNS, true, make_statics, NULL, false },
    { "packages", package_columns, PACKAGE_COLUMNS, false, make_packages, make_retained, false },
    { "loaders", loader_columns, LOADER_COLUMNS, true, make_loaders, name_loaders, false },
    { "roots", root_columns, ROOT_COLUMNS, false, make_roots, NULL, false },
    { "threads", thread_columns, THREAD_COLUMNS, false, make_threads, name_threads, false },
    { "frames", frame_columns, FRAME_COLUMNS, false, make_frames, NULL, false },
    { "heaps", heap_columns, HEAP_COLUMNS, false, make_heaps, NULL, false },
    { "dump", dump_columns, DUMP_COLUMNS, false, make_dump, NULL, false },
    { "damage", damage_columns, DAMAGE_COLUMNS, false, make_damage, NULL, false },
};
