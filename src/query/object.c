/*
 * object.c - everything known of one object, as a document.
 *
 * Values come from the dump; where the dump is not at hand they are "absent", and the rest is answered from the index.
 */
#include "query/query.h"

#include "model/model.h"
#include <stdlib.h>

#define ELEMENTS_DEFAULT 100u

enum { ADDRESS, ID, CLASS, KIND, SHALLOW, RETAINED, DOMINATOR, HEAP, ROOTS, REACHABLE, LENGTH, LABEL, FIELDS, ELEMENTS, STATICS, COLUMNS };

typedef struct documents {
    hdx_ask    ask;
    hdx_id    *ids;
    size_t     count, at;
    uint64_t   elements;
    hdx_values values;
} documents;

static void documents_close(void *state)
{
    documents *d = state;
    hdx_values_free(&d->values);
    hdx_mem_put(NULL, d->ids, d->count * sizeof *d->ids);
    free(d);
}

/* [{name, type, owner, value}] */
static hdx_code fields_cell(documents *d, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_values *v = &d->values;
    hdx_cell         *cells;
    uint64_t          bytes;
    if (!hdx_mul(v->count, sizeof *cells + 4 * sizeof(hdx_member), &bytes) || (cells = hdx_arena_get(arena, bytes)) == NULL)
        return hdx_no_memory(err, "fields", v->count * sizeof *cells);
    hdx_member *members = (hdx_member *)(void *)(cells + v->count);
    for (uint64_t i = 0; i < v->count; i++, members += 4) {
        members[0] = (hdx_member){ "name", hdx_cell_text(v->at[i].name) };
        members[1] = (hdx_member){ "type", hdx_cell_string(hdx_type_name(v->at[i].value.type)) };
        members[2] = (hdx_member){ "owner", hdx_class_cell(d->ask.g, v->at[i].owner) };
        members[3] = (hdx_member){ "value", hdx_value_cell(arena, &v->at[i].value) };
        cells[i] = hdx_cell_object(members, 4);
    }
    *out = hdx_cell_list(cells, v->count);
    return HDX_OK;
}

static hdx_code elements_cell(documents *d, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_cell *cells = d->values.count > UINT64_MAX / sizeof *cells ? NULL : hdx_arena_get(arena, d->values.count * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "elements", d->values.count * sizeof *cells);
    for (uint64_t i = 0; i < d->values.count; i++)
        cells[i] = hdx_value_cell(arena, &d->values.at[i].value);
    *out = hdx_cell_list(cells, d->values.count);
    return HDX_OK;
}

/* Fields, elements or statics by kind; the other two stay null. */
static hdx_code content(documents *d, hdx_id id, hdx_object_kind kind, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_error mine;
    hdx_pos   pos;
    hdx_code  code;
    unsigned  column;
    cells[FIELDS] = cells[ELEMENTS] = cells[STATICS] = hdx_cell_null();
    d->values.count = 0;
    if (kind == HDX_CLASS_OBJECT) {
        column = STATICS;
        code = hdx_graph_statics(d->ask.g, id, &d->values, &mine);
    } else if (kind == HDX_INSTANCE) {
        column = FIELDS;
        code = hdx_graph_position(d->ask.g, id, &pos) ? hdx_graph_fields(d->ask.g, id, &d->values, &mine) : HDX_OK; /* object 0 has no record */
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
    return column == ELEMENTS ? elements_cell(d, arena, &cells[column], err) : fields_cell(d, arena, &cells[column], err);
}

static hdx_cell dominator_cell(const hdx_graph *g, hdx_id id)
{
    hdx_id d = hdx_graph_dominator(g, id);
    return d == HDX_VIRTUAL_ROOT ? hdx_cell_string("root") : hdx_id_cell(g, d);
}

static hdx_cell heap_cell(hdx_graph *g, hdx_id id)
{
    uint64_t              count = 0;
    int                   heap = hdx_graph_heap(g, id);
    const hdx_heap_space *heaps = heap < 0 ? NULL : hdx_graph_heaps(g, &count);
    return heaps == NULL || (uint64_t)heap >= count ? hdx_cell_null() : hdx_cell_text(heaps[heap].name);
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
    cells[DOMINATOR] = dominator_cell(g, id);
    cells[HEAP] = heap_cell(g, id);
    cells[REACHABLE] = hdx_cell_bool(hdx_graph_live(g, id));
    const uint64_t length = hdx_graph_length(g, id);
    cells[LENGTH] = array || length > 0 ? hdx_cell_uint(length) : hdx_cell_null();
    if ((code = hdx_root_types_cell(g, id, true, arena, &cells[ROOTS], err)) != HDX_OK ||
        (code = hdx_label_cell(g, id, arena, &cells[LABEL], err)) != HDX_OK || (code = content(d, id, kind, arena, cells, err)) != HDX_OK)
        return code;
    *more = true;
    return HDX_OK;
}

hdx_code hdx_query_object(const hdx_query *q, const hdx_id *ids, size_t count, uint64_t elements, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[COLUMNS] = {
        [ADDRESS] = { "address", HDX_UNIT_NONE, false },     [ID] = { "id", HDX_UNIT_NONE, false },
        [CLASS] = { "class", HDX_UNIT_NONE, false },         [KIND] = { "kind", HDX_UNIT_NONE, false },
        [SHALLOW] = { "shallow", HDX_UNIT_BYTES, false },    [RETAINED] = { "retained", HDX_UNIT_BYTES, false },
        [DOMINATOR] = { "dominator", HDX_UNIT_NONE, false }, [HEAP] = { "heap", HDX_UNIT_NONE, false },
        [ROOTS] = { "roots", HDX_UNIT_NONE, false },         [REACHABLE] = { "reachable", HDX_UNIT_NONE, false },
        [LENGTH] = { "length", HDX_UNIT_COUNT, false },      [LABEL] = { "label", HDX_UNIT_NONE, false },
        [FIELDS] = { "fields", HDX_UNIT_NONE, true },        [ELEMENTS] = { "elements", HDX_UNIT_NONE, true },
        [STATICS] = { "statics", HDX_UNIT_NONE, true },
    };
    hdx_ask    ask;
    documents *d;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= hdx_graph_objects(q->graph))
            return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu", (unsigned long long)ids[i]);
    if ((d = calloc(1, sizeof *d)) == NULL)
        return hdx_no_memory(err, "documents", sizeof *d);
    d->ask = ask;
    d->elements = elements == 0 ? ELEMENTS_DEFAULT : elements;
    if ((d->ids = hdx_mem_array(NULL, count, sizeof *d->ids)) == NULL) {
        documents_close(d);
        return hdx_no_memory(err, "documents", count * sizeof *d->ids);
    }
    d->count = count;
    if (count > 0)
        memcpy(d->ids, ids, count * sizeof *ids);
    hdx_rows_maker maker = { columns, COLUMNS, d, documents_next, documents_close, count };
    return hdx_rows_make(&maker, out, err);
}
