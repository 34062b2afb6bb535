/*
 * table.c - whole tables for export: every object and every reference.
 *
 * Objects come in runs of HDX_RUN through the columns of the index; class names are borrowed from the table of classes,
 * so a row of the tens of millions copies no text. Scope decides which objects are rows and which referrers count.
 */
#include "graph/graph.h"
#include "query/query.h"

#include <stdlib.h>

/* ---- runs of objects in scope ---- */

typedef struct run {
    hdx_ask  ask;
    hdx_id   first; /* of the run that is loaded */
    uint32_t count, next;
    uint64_t live[HDX_RUN / 64];
} run;

static bool run_load(run *r, hdx_id first)
{
    uint64_t n = hdx_graph_objects(r->ask.g);
    if (first >= n)
        return false;
    r->first = first;
    r->count = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
    r->next = 0;
    hdx_graph_read_live(r->ask.g, first, r->count, r->live);
    return true;
}

/* Place in the run of the next object in scope; *fresh: the run was just loaded. False: none is left. */
static bool run_next(run *r, uint32_t *place, bool *fresh)
{
    *fresh = false;
    for (;;) {
        while (r->next < r->count) {
            uint32_t i = r->next++;
            if (r->ask.q.scope == HDX_ALL || hdx_bits_test(r->live, i) == (r->ask.q.scope == HDX_LIVE)) {
                *place = i;
                return true;
            }
        }
        if (!run_load(r, r->count == 0 ? 0 : r->first + r->count))
            return false;
        *fresh = true;
    }
}

/* ---- objects ---- */

enum {
    ID,
    ADDRESS,
    CLASS,
    CLASS_ADDRESS,
    KIND,
    SHALLOW,
    RETAINED,
    DOMINATOR,
    OUTBOUND,
    INBOUND,
    REACHABLE,
    HEAP,
    POSITION,
    LENGTH,
    COLUMNS
};

static const hdx_column object_columns[COLUMNS] = {
    [ID] = HDX_COLUMN("id", UNSIGNED, NONE, 0, "number of the object in the index, in the order of addresses"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "its address"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE, "its class"),
    [CLASS_ADDRESS] = HDX_COLUMN("class_address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "the class object of that class"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0, "instance, object_array, primitive_array or class"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "its own size, without what it refers to"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "bytes that would be free if it were gone; null for garbage"),
    [DOMINATOR] = HDX_COLUMN("dominator", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                             "immediate dominator; null where nothing but the GC roots dominates, and for garbage"),
    [OUTBOUND] = HDX_COLUMN("outbound", UNSIGNED, COUNT, 0, "distinct objects that it refers to, its class included"),
    [INBOUND] = HDX_COLUMN("inbound", UNSIGNED, COUNT, 0, "distinct objects that refer to it"),
    [REACHABLE] = HDX_COLUMN("reachable", UNSIGNED, NONE, 0, "1 where a GC root reaches it, else 0"),
    [HEAP] =
        HDX_COLUMN("heap", TEXT, NONE, HDX_COLUMN_NULLABLE, "heap of an Android dump that it lies in; null elsewhere"),
    [POSITION] = HDX_COLUMN("position", UNSIGNED, NONE, HDX_COLUMN_NULLABLE,
                            "where its record begins in the uncompressed dump; null without a record"),
    [LENGTH] =
        HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "elements of an array; null for what is none"),
};

typedef struct object_rows {
    run                   run;
    const hdx_heap_space *heaps;
    uint64_t              heap_count;
    hdx_refs_scope        counted; /* scope for counting references */
    hdx_addr              addresses[HDX_RUN];
    uint32_t              classes[HDX_RUN];
    uint8_t               kinds[HDX_RUN];
    uint64_t              shallow[HDX_RUN], retained[HDX_RUN], positions[HDX_RUN], lengths[HDX_RUN];
    int32_t               heap[HDX_RUN];
    hdx_id                dominators[HDX_RUN];
    uint64_t              outbound[HDX_RUN], inbound[HDX_RUN];
} object_rows;

static void read_columns(object_rows *o)
{
    hdx_graph *g = o->run.ask.g;
    hdx_graph_read_addresses(g, o->run.first, o->run.count, o->addresses);
    hdx_graph_read_classes(g, o->run.first, o->run.count, o->classes);
    hdx_graph_read_kinds(g, o->run.first, o->run.count, o->kinds);
    hdx_graph_read_shallow(g, o->run.first, o->run.count, o->shallow);
    hdx_graph_read_retained(g, o->run.first, o->run.count, o->retained);
    hdx_graph_read_dominators(g, o->run.first, o->run.count, o->dominators);
    hdx_graph_read_positions(g, o->run.first, o->run.count, o->positions);
    hdx_graph_read_lengths(g, o->run.first, o->run.count, o->lengths);
    hdx_graph_read_counts(g, o->counted, o->run.first, o->run.count, o->outbound, o->inbound);
    if (o->heap_count > 0)
        hdx_graph_read_heaps(g, o->run.first, o->run.count, o->heap);
}

static hdx_code object_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    object_rows *o = state;
    hdx_graph   *g = o->run.ask.g;
    uint32_t     i;
    bool         fresh;
    hdx_code     code = hdx_ask_turn(&o->run.ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (!run_next(&o->run, &i, &fresh))
        return hdx_ask_end(&o->run.ask, more, err);
    if (fresh)
        read_columns(o);
    hdx_id           id = o->run.first + i;
    bool             live = hdx_bits_test(o->run.live, i);
    const hdx_class *c = hdx_graph_class(g, o->classes[i]);
    hdx_object_kind  kind = (hdx_object_kind)o->kinds[i];
    cells[ID] = hdx_cell_uint(id);
    cells[ADDRESS] = hdx_cell_address(o->addresses[i]);
    cells[CLASS] = c == NULL ? hdx_cell_null() : hdx_cell_text(c->name);
    cells[CLASS_ADDRESS] = c == NULL ? hdx_cell_null() : hdx_cell_address(c->address);
    cells[KIND] = hdx_cell_string(hdx_object_kind_name(kind));
    cells[SHALLOW] = hdx_cell_uint(o->shallow[i]);
    cells[RETAINED] = live ? hdx_cell_uint(o->retained[i]) : hdx_cell_null();
    cells[DOMINATOR] = live ? hdx_id_cell(g, o->dominators[i]) : hdx_cell_null();
    cells[OUTBOUND] = hdx_cell_uint(o->outbound[i]);
    cells[INBOUND] = hdx_cell_uint(o->inbound[i]);
    cells[REACHABLE] = hdx_cell_uint(live);
    cells[HEAP] = o->heap_count > 0 && o->heap[i] >= 0 && (uint64_t)o->heap[i] < o->heap_count
                      ? hdx_cell_text(o->heaps[o->heap[i]].name)
                      : hdx_cell_null();
    cells[POSITION] = o->positions[i] > 0 ? hdx_cell_uint(o->positions[i] - 1) : hdx_cell_null();
    cells[LENGTH] =
        kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY ? hdx_cell_uint(o->lengths[i]) : hdx_cell_null();
    *more = true;
    return HDX_OK;
}

static uint64_t rows_in_scope(const hdx_query *q)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(q->graph);
    return q->scope == HDX_LIVE ? s->live_objects : q->scope == HDX_ALL ? s->objects : s->unreachable_objects;
}

static hdx_code open_objects(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    (void)a;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    object_rows *o = calloc(1, sizeof *o);
    if (o == NULL)
        return hdx_no_memory(err, "the table of objects", sizeof *o);
    o->run.ask = ask;
    o->heaps = hdx_graph_heaps(q->graph, &o->heap_count);
    if (o->heaps == NULL)
        o->heap_count = 0;
    o->counted = hdx_graph_all_live(q->graph) && q->scope == HDX_LIVE ? HDX_ALL : q->scope;
    hdx_rows_maker maker = { object_columns, COLUMNS, o, object_next, free, rows_in_scope(q) };
    return hdx_rows_make(&maker, out, err);
}

static const hdx_form objects_form = { NULL, NULL, object_columns, COLUMNS };

const hdx_question hdx_table_of_objects = {
    .declared = { .name = "objects", .sentence = "every object", .more = "", .forms = &objects_form, .form_count = 1 },
    .open = open_objects,
};

/* ---- references ---- */

#define PAIR 2u /* columns of a pair of objects; a name has all */
static const hdx_column reference_columns[] = {
    HDX_COLUMN("src", ADDRESS, NONE, 0, "the object that refers"),
    HDX_COLUMN("dst", ADDRESS, NONE, 0, "what it refers to"),
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the reference: a field, [i], <class>"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "field, static, element, class, super, loader, local, signers or domain"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that declares the field; null for what is no field"),
};

typedef struct reference_rows {
    run            run;
    bool           open; /* refs or names belong to `source` */
    hdx_id         source;
    hdx_cell       address;
    hdx_refs_scope targets;
    hdx_refs       refs;
    hdx_named_list names; /* named references only */
    uint64_t       at;
} reference_rows;

static void references_close(void *state)
{
    reference_rows *r = state;
    hdx_named_drop(&r->names);
    free(r);
}

static bool next_source(reference_rows *r)
{
    uint32_t i;
    bool     fresh;
    r->open = run_next(&r->run, &i, &fresh);
    if (r->open) {
        r->source = r->run.first + i;
        r->address = hdx_id_cell(r->run.ask.g, r->source);
    }
    return r->open;
}

static hdx_code reference_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    reference_rows *r = state;
    hdx_id          target;
    hdx_code        code = hdx_ask_turn(&r->run.ask, err);
    (void)arena;
    while (code == HDX_OK && !(r->open && hdx_refs_next(&r->refs, &target))) {
        if (!next_source(r))
            return hdx_ask_end(&r->run.ask, more, err);
        hdx_graph_outbound(r->run.ask.g, r->source, r->targets, &r->refs);
        code = hdx_ask_turn(&r->run.ask, err);
    }
    if (code != HDX_OK)
        return code;
    cells[0] = r->address;
    cells[1] = hdx_id_cell(r->run.ask.g, target);
    *more = true;
    return HDX_OK;
}

static hdx_code named_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    reference_rows *r = state;
    hdx_code        code = hdx_ask_turn(&r->run.ask, err);
    (void)arena;
    while (code == HDX_OK && r->at == r->names.count) {
        if (!next_source(r))
            return hdx_ask_end(&r->run.ask, more, err);
        r->at = 0;
        code = hdx_named_collect(&r->names, r->run.ask.g, r->source, HDX_NO_ID, err);
        if (code == HDX_OK)
            code = hdx_ask_turn(&r->run.ask, err);
    }
    if (code != HDX_OK)
        return code;
    const hdx_named *n = &r->names.at[r->at++];
    cells[0] = r->address;
    cells[1] = hdx_cell_address(n->address);
    cells[2] = hdx_cell_string(n->name);
    cells[3] = hdx_cell_string(hdx_ref_kind_name(n->kind));
    cells[4] = hdx_class_cell(r->run.ask.g, n->owner);
    *more = true;
    return HDX_OK;
}

static hdx_code make_references(const hdx_query *q, bool named, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    reference_rows *r = calloc(1, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "the table of references", sizeof *r);
    r->run.ask = ask;
    r->targets = q->scope == HDX_LIVE ? HDX_ALL : q->scope; /* what a live object refers to is live */
    hdx_rows_maker maker = { reference_columns,
                             named ? HDX_COUNT(reference_columns) : PAIR,
                             r,
                             named ? named_next : reference_next,
                             references_close,
                             0 };
    if (!named && q->scope == HDX_LIVE)
        maker.total = hdx_graph_summary_of(q->graph)->references;
    return hdx_rows_make(&maker, out, err);
}

static hdx_code open_references(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return make_references(q, false, out, err);
}

static hdx_code open_named(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return make_references(q, true, out, err);
}

static const hdx_form references_form = { NULL, NULL, reference_columns, PAIR };

const hdx_question hdx_table_of_references = {
    .declared = { .name = "references",
                  .sentence = "which object refers to which, each pair once",
                  .more = "",
                  .forms = &references_form,
                  .form_count = 1 },
    .open = open_references,
};

static const hdx_form named_form = { NULL, NULL, reference_columns, HDX_COUNT(reference_columns) };

const hdx_question hdx_table_of_named_references = {
    .declared = { .name = "named_references",
                  .sentence = "every reference by name, as the dump has it",
                  .more = "",
                  .forms = &named_form,
                  .form_count = 1 },
    .open = open_named,
};
