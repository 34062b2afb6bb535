/*
 * object.c - all information about one object, as a document.
 *
 * Values are read from the dump; without it they are "absent", and the other facts are read from the index.
 */
#include "query/common/columns.h"
#include "query/common/labels.h"
#include "query/common/unreached.h"
#include "query/object_parts.h"
#include "query/objects.h"
#include "query/query.h"

#include "model/model.h"
#include <stdlib.h>

#define ELEMENTS_DEFAULT 100u
#define PART_ROWS        20u /* of each part that --with adds */

enum {
    ADDRESS,
    ID,
    CLASS,
    KIND,
    SHALLOW,
    RETAINED,
    DOMINATOR,
    BY_ROOT,
    HEAP,
    ROOTS,
    REACHABLE,
    RESERVATION,
    LENGTH,
    LABEL,
    FIELDS,
    ELEMENTS,
    STATICS,
    OBJECTS,
    ROOT_DESCRIPTIONS,
    INBOUND,
    OUTBOUND,
    PARTS,
    COLUMNS = PARTS + HDX_OBJECT_PARTS
};

static const hdx_column root_item[] = { HDX_ITEM(TEXT, "type of GC root, such as THREAD_OBJ") };
static const hdx_column description_item[] = { HDX_ITEM(TEXT, "type of GC root in words, such as 'a running thread'") };
static const hdx_column field_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the field"),
    HDX_COLUMN("type", TEXT, NONE, 0, "type such as int, long or boolean; ref for references"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that declares the field"),
    HDX_COLUMN("value", ANY, NONE, HDX_COLUMN_NULLABLE,
               "number, boolean, character or address; null for the null reference"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "class of the object that it refers to; null if there is none"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE, "label of the object that it refers to"),
    HDX_RETAINED_COLUMN(0),
};
static const hdx_column object_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the element; null for the null reference"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE, "class of the object; null if no object has the address"),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE, "label of the object"),
    HDX_RETAINED_COLUMN(0),
};
static const hdx_column element_item[] = {
    HDX_COLUMN(NULL, ANY, NONE, HDX_COLUMN_NULLABLE,
               "number, boolean, character or address; null for the null reference"),
};
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the object"),
    [ID] = HDX_COLUMN("id", UNSIGNED, NONE, 0, "number of the object in the index, in the order of addresses"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0, "instance, object_array, primitive_array or class"),
    [SHALLOW] = HDX_SHALLOW_COLUMN(0),
    [RETAINED] = HDX_RETAINED_IF_LIVE_COLUMN(0),
    [DOMINATOR] =
        HDX_COLUMN("dominator", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                   "address of its immediate dominator; null if only GC roots dominate it or it is unreachable"),
    [BY_ROOT] = HDX_COLUMN("dominated_by_root", BOOL, NONE, 0, "true if only GC roots dominate the object"),
    [HEAP] = HDX_COLUMN("heap", TEXT, NONE, HDX_COLUMN_NULLABLE,
                        "heap of an Android dump that contains the object; null for other dumps"),
    [ROOTS] = HDX_NESTED("roots", LIST, 0, "types of GC root of the object, including locals of threads", root_item),
    [REACHABLE] = HDX_COLUMN("reachable", BOOL, NONE, 0, "true if the object is reachable from a GC root"),
    [RESERVATION] = HDX_COLUMN("reservation", TEXT, NONE, HDX_COLUMN_NULLABLE,
                               "for an unreachable object, what may hold it although the dump does not show it; null "
                               "if nothing is known"),
    [LENGTH] = HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                          "number of elements of an array; null for other objects"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
                         "label of the object, such as its text or name; null if it has none"),
    [FIELDS] = HDX_NESTED("fields", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                          "fields of an instance, those of its own class first; null for other objects", field_members),
    [ELEMENTS] = HDX_NESTED("elements", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                            "first elements of an array, 100 or the number set with --elements; null for other objects",
                            element_item),
    [STATICS] = HDX_NESTED("statics", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                           "static fields of a class object; null for other objects", field_members),
    [OBJECTS] = HDX_NESTED("element_objects", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                           "objects that the listed elements refer to; null unless the object is an array of "
                           "references",
                           object_members),
    [ROOT_DESCRIPTIONS] =
        HDX_NESTED("root_descriptions", LIST, HDX_COLUMN_WIDE,
                   "types of GC root of the object in words, in the order of `roots`", description_item),
    [INBOUND] = HDX_COLUMN("inbound", UNSIGNED, COUNT, HDX_COLUMN_WIDE,
                           "distinct reachable objects that refer to the object, as `refs --in` lists them"),
    [OUTBOUND] = HDX_COLUMN("outbound", UNSIGNED, COUNT, HDX_COLUMN_WIDE,
                            "distinct objects that the object refers to, its class included"),
    [PARTS] = HDX_OBJECT_PART_COLUMNS,
};

typedef struct documents {
    hdx_ask                 ask;
    hdx_id                 *ids;
    size_t                  count, at;
    uint64_t                elements;
    hdx_column              columns[COLUMNS]; /* those of parts that are not read are missing */
    unsigned                column_count;
    hdx_object_parts_reader parts;
    hdx_values              values;
    bool                    has_unreached; /* `unreached` is valid */
    hdx_unreached           unreached;
} documents;

static void documents_close(void *state)
{
    documents *d = state;
    hdx_values_free(&d->values);
    hdx_unreached_close(&d->unreached);
    hdx_object_parts_done(&d->parts);
    hdx_mem_put(d->ask.q.mem, d->ids, d->count * sizeof *d->ids);
    free(d);
}

/*
 * Fills class, label and retained size of the object to which a value refers, as the last three of `members`; null for
 * other values.
 */
static hdx_code target_of(documents *d, const hdx_value *value, hdx_arena *arena, hdx_member members[3], hdx_error *err)
{
    hdx_graph *g = d->ask.g;
    hdx_id     id;
    members[0] = (hdx_member){ "class", hdx_cell_null() };
    members[1] = (hdx_member){ "label", hdx_cell_null() };
    members[2] = (hdx_member){ "retained", hdx_cell_null() };
    if (value->type != 2 || value->absent || value->as.address == 0 || !hdx_graph_find(g, value->as.address, &id))
        return HDX_OK;
    members[0].value = hdx_class_of_cell(g, id);
    members[2].value = hdx_retained_cell(g, id);
    hdx_code code = hdx_label_cell(&d->ask.q, id, arena, &members[1].value, err);
    return code == HDX_OK ? hdx_ask_check_cancel(&d->ask, err) : code;
}

/* Allocates `count` lists of members, and a cell for each. */
static hdx_cell *room_for(hdx_arena *arena, uint64_t count, uint64_t members)
{
    uint64_t bytes;
    return hdx_mul(count, sizeof(hdx_cell) + members * sizeof(hdx_member), &bytes) ? hdx_arena_get(arena, bytes) : NULL;
}

/* [{name, type, owner, value, class, label, retained}] */
static hdx_code fields_cell(documents *d, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    enum { MEMBERS = 7 };
    const hdx_values *v = &d->values;
    hdx_cell         *cells = room_for(arena, v->count, MEMBERS);
    hdx_code          code = HDX_OK;
    if (cells == NULL)
        return hdx_no_memory(err, "fields", v->count * sizeof *cells);
    hdx_member *members = (hdx_member *)(void *)(cells + v->count);
    for (uint64_t i = 0; code == HDX_OK && i < v->count; i++, members += MEMBERS) {
        members[0] = (hdx_member){ "name", hdx_cell_text(v->at[i].name) };
        members[1] = (hdx_member){ "type", hdx_cell_string(hdx_type_name(v->at[i].value.type)) };
        members[2] = (hdx_member){ "owner", hdx_class_cell(d->ask.g, v->at[i].owner) };
        members[3] = (hdx_member){ "value", hdx_value_cell(arena, &v->at[i].value) };
        cells[i] = hdx_cell_object(members, MEMBERS);
        code = target_of(d, &v->at[i].value, arena, members + 4, err);
    }
    *out = hdx_cell_list(cells, v->count);
    return code;
}

/* [{address, class, label, retained}] */
static hdx_code objects_cell(documents *d, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    enum { MEMBERS = 4 };
    const hdx_values *v = &d->values;
    hdx_cell         *cells = room_for(arena, v->count, MEMBERS);
    hdx_code          code = HDX_OK;
    if (cells == NULL)
        return hdx_no_memory(err, "elements", v->count * sizeof *cells);
    hdx_member *members = (hdx_member *)(void *)(cells + v->count);
    for (uint64_t i = 0; code == HDX_OK && i < v->count; i++, members += MEMBERS) {
        members[0] = (hdx_member){ "address", hdx_value_cell(arena, &v->at[i].value) };
        cells[i] = hdx_cell_object(members, MEMBERS);
        code = target_of(d, &v->at[i].value, arena, members + 1, err);
    }
    *out = hdx_cell_list(cells, v->count);
    return code;
}

static hdx_code elements_cell(documents *d, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_cell *cells =
        d->values.count > UINT64_MAX / sizeof *cells ? NULL : hdx_arena_get(arena, d->values.count * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "elements", d->values.count * sizeof *cells);
    for (uint64_t i = 0; i < d->values.count; i++)
        cells[i] = hdx_value_cell(arena, &d->values.at[i].value);
    *out = hdx_cell_list(cells, d->values.count);
    return HDX_OK;
}

/* Fills the fields, elements or statics of the object, depending on its kind; other cells remain null. */
static hdx_code content_cells(documents *d, hdx_id id, hdx_object_kind kind, hdx_arena *arena, hdx_cell *cells,
                              hdx_error *err)
{
    hdx_error mine;
    hdx_pos   pos;
    hdx_code  code;
    unsigned  column;
    cells[FIELDS] = cells[ELEMENTS] = cells[STATICS] = cells[OBJECTS] = hdx_cell_null();
    d->values.count = 0;
    if (kind == HDX_CLASS_OBJECT) {
        column = STATICS;
        code = hdx_graph_statics(d->ask.g, id, &d->values, &mine);
    } else if (kind == HDX_INSTANCE) {
        column = FIELDS;
        code = hdx_graph_position(d->ask.g, id, &pos) ? hdx_graph_fields(d->ask.g, id, &d->values, &mine)
                                                      : HDX_OK; /* object 0 has no record */
    } else {
        column = ELEMENTS;
        code = hdx_graph_elements(d->ask.g, id, 0, d->elements, &d->values, &mine);
    }
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(d->ask.g)) {
        cells[column] = (hdx_cell){ .kind = HDX_CELL_ABSENT };
        return HDX_OK;
    }
    if (code != HDX_OK) {
        if (err != NULL)
            *err = mine;
        return code;
    }
    if (column != ELEMENTS)
        return fields_cell(d, arena, &cells[column], err);
    if ((code = elements_cell(d, arena, &cells[ELEMENTS], err)) == HDX_OK && kind == HDX_OBJECT_ARRAY &&
        hdx_column_wanted(&d->ask.q, OBJECTS))
        code = objects_cell(d, arena, &cells[OBJECTS], err);
    return code;
}

static hdx_cell heap_cell(hdx_graph *g, hdx_id id)
{
    uint64_t              count = 0;
    int                   heap = hdx_graph_heap(g, id);
    const hdx_heap_space *heaps = heap < 0 ? NULL : hdx_graph_heaps(g, &count);
    return heaps == NULL || (uint64_t)heap >= count ? hdx_cell_null() : hdx_cell_text(heaps[heap].name);
}

static hdx_code reservation_cell(documents *d, hdx_id id, hdx_cell *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *out = hdx_cell_null();
    if (hdx_graph_live(d->ask.g, id))
        return HDX_OK;
    if (!d->has_unreached && (code = hdx_unreached_open(&d->ask, &d->unreached, err)) == HDX_OK)
        d->has_unreached = true;
    if (code == HDX_OK)
        *out = hdx_cell_string(
            hdx_unreached_reservation(hdx_graph_summary_of(d->ask.g), hdx_unreached_kind_of(&d->unreached, id)));
    return code;
}

/* Fills the cells of the parts that are read; they have the last columns. */
static hdx_code part_cells(documents *d, hdx_id id, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_cell       parts[HDX_OBJECT_PARTS];
    const hdx_code code = hdx_object_parts_read(&d->parts, id, arena, parts, err);
    unsigned       column = PARTS;
    for (unsigned i = 0; code == HDX_OK && i < HDX_OBJECT_PARTS; i++)
        if ((d->parts.which >> i & 1) != 0)
            cells[column++] = parts[i];
    return code;
}

static hdx_code documents_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    documents *d = state;
    hdx_graph *g = d->ask.g;
    hdx_code   code = hdx_ask_stopped(&d->ask.q, err);
    if (code != HDX_OK)
        return code;
    if (d->at == d->count)
        return hdx_ask_end(&d->ask, more, err);
    hdx_id          id = d->ids[d->at++];
    hdx_object_kind kind = hdx_graph_kind(g, id);
    bool            array = kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY;
    cells[ADDRESS] = hdx_id_cell(g, id);
    cells[ID] = hdx_cell_uint(id);
    cells[CLASS] = hdx_class_of_cell(g, id);
    cells[KIND] = hdx_cell_string(hdx_object_kind_name(kind));
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, id));
    cells[RETAINED] = hdx_retained_cell(g, id);
    cells[DOMINATOR] = hdx_id_cell(g, hdx_graph_dominator(g, id));
    cells[BY_ROOT] = hdx_cell_bool(hdx_graph_dominator(g, id) == HDX_VIRTUAL_ROOT);
    cells[HEAP] = heap_cell(g, id);
    cells[REACHABLE] = hdx_cell_bool(hdx_graph_live(g, id));
    cells[INBOUND] = hdx_cell_uint(hdx_graph_inbound_count(g, id, d->ask.q.scope));
    cells[OUTBOUND] = hdx_cell_uint(hdx_graph_outbound_count(g, id, HDX_ALL));
    const uint64_t length = hdx_graph_length(g, id);
    cells[LENGTH] = array || length > 0 ? hdx_cell_uint(length) : hdx_cell_null();
    if ((code = hdx_root_types_cell(g, id, true, arena, &cells[ROOTS], err)) != HDX_OK ||
        (code = hdx_root_descriptions_cell(arena, &cells[ROOTS], &cells[ROOT_DESCRIPTIONS], err)) != HDX_OK ||
        (code = reservation_cell(d, id, &cells[RESERVATION], err)) != HDX_OK ||
        (code = hdx_label_cell(&d->ask.q, id, arena, &cells[LABEL], err)) != HDX_OK ||
        (code = content_cells(d, id, kind, arena, cells, err)) != HDX_OK ||
        (code = part_cells(d, id, arena, cells, err)) != HDX_OK)
        return code;
    *more = true;
    return HDX_OK;
}

/* `parts`: bit i is part i (object_parts.h); `most`: rows of a part. */
static hdx_code open_documents(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t elements, unsigned parts,
                               uint64_t most, hdx_rows **out, hdx_error *err)
{
    hdx_ask    ask;
    documents *d;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= hdx_graph_objects(q->graph))
            return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu",
                            (unsigned long long)ids[i]);
    if ((d = calloc(1, sizeof *d)) == NULL)
        return hdx_no_memory(err, "documents", sizeof *d);
    d->ask = ask;
    d->parts = (hdx_object_parts_reader){ .q = &d->ask.q, .which = parts, .most = most };
    for (unsigned i = 0; i < COLUMNS; i++)
        if (i < PARTS || (parts >> (i - PARTS) & 1) != 0)
            d->columns[d->column_count++] = columns[i];
    d->elements = elements == 0 ? ELEMENTS_DEFAULT : elements;
    if ((d->ids = hdx_mem_array(q->mem, count, sizeof *d->ids)) == NULL) {
        documents_close(d);
        return hdx_no_memory(err, "documents", count * sizeof *d->ids);
    }
    d->count = count;
    if (count > 0)
        memcpy(d->ids, ids, count * sizeof *ids);
    hdx_rows_maker maker = { d->columns, d->column_count, d, documents_next, documents_close, count };
    return hdx_rows_make_in(q->mem, &maker, out, err);
}

hdx_code hdx_query_object(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t elements, hdx_rows **out,
                          hdx_error *err)
{
    return open_documents(q, ids, count, elements, 0, 0, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REQUIRED | HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD,
      .value = "OBJECT",
      .sentence = "objects to show" },
    { .name = "elements",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "100",
      .least = 1,
      .most = UINT32_MAX,
      .sentence = "number of array elements to show; 100 by default" },
    { .name = "with",
      .kind = HDX_PARAMETER_CHOICES,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "PARTS",
      .choices = "path in out keeps",
      .sentence = "add its path, referrers, references, what it keeps by class; several separated by commas" },
};
static const hdx_form form = { NULL, NULL, columns, HDX_COUNT(columns) };

/*
 * Returns how many rows a part may have: --limit, which also limits the objects, as that of every answer limits its
 * rows. Without it, a part is short enough for a page about an object.
 */
static uint64_t rows_of_parts(const hdx_arguments *a)
{
    uint64_t most = PART_ROWS;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->at[i].name, "limit") == 0 && !hdx_size_of(a->at[i].value, &most))
            most = PART_ROWS;
    return most;
}

static hdx_code open_object(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code = hdx_argument_objects(q, a, &ids, &count, err);
    *out = NULL;
    if (code != HDX_OK)
        return code;
    return open_documents(q, ids, count, hdx_argument_number(a, "elements"), hdx_argument_choices(a, "with"),
                          rows_of_parts(a), out, err);
}

const hdx_question hdx_question_object = {
    .declared = {
        .name = "object",
        .flags = HDX_ANSWER_PAGES | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "everything about single objects: fields, elements, sizes, dominator",
        .more = "Objects are named as 0x7f3a10 (address), #1234 (id), com.acme.Cache@0x7f3a10 (class is checked), "
                "class:com.acme.Cache (the class object) or thread:main; - reads names from standard input, one per "
                "line, for example earlier output. --with path,in,out,keeps adds what `path`, `refs --in`, `refs "
                "--out` and `dominators OBJECT --by class` answer, the first 20 rows of each, or as many as "
                "--limit says.",
        .examples = { "heapdex object app.hprof '#1234' --with path,in,keeps",
                      "heapdex object app.hprof class:java.lang.String thread:main" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_object,
};
