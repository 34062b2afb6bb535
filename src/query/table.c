/*
 * table.c - whole tables for export: every object, every reference, and the small ones by name.
 *
 * Objects come in runs of HDX_RUN through the columns of the index; class names are borrowed from the table of classes, so a row of the
 * tens of millions copies no text. Scope decides which objects are rows and which referrers count.
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

enum { ID, ADDRESS, CLASS, CLASS_ADDRESS, KIND, SHALLOW, RETAINED, DOMINATOR, OUTBOUND, INBOUND, REACHABLE, HEAP, POSITION, LENGTH, COLUMNS };

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
    cells[HEAP] = o->heap_count > 0 && o->heap[i] >= 0 && (uint64_t)o->heap[i] < o->heap_count ? hdx_cell_text(o->heaps[o->heap[i]].name) : hdx_cell_null();
    cells[POSITION] = o->positions[i] > 0 ? hdx_cell_uint(o->positions[i] - 1) : hdx_cell_null();
    cells[LENGTH] = kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY ? hdx_cell_uint(o->lengths[i]) : hdx_cell_null();
    *more = true;
    return HDX_OK;
}

static uint64_t rows_in_scope(const hdx_query *q)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(q->graph);
    return q->scope == HDX_LIVE ? s->live_objects : q->scope == HDX_ALL ? s->objects : s->unreachable_objects;
}

hdx_code hdx_table_objects(const hdx_query *q, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[COLUMNS] = {
        [ID] = { "id", HDX_UNIT_NONE, false },                       [ADDRESS] = { "address", HDX_UNIT_NONE, false },
        [CLASS] = { "class", HDX_UNIT_NONE, false },                 [CLASS_ADDRESS] = { "class_address", HDX_UNIT_NONE, false },
        [KIND] = { "kind", HDX_UNIT_NONE, false },                   [SHALLOW] = { "shallow", HDX_UNIT_BYTES, false },
        [RETAINED] = { "retained", HDX_UNIT_BYTES, false },          [DOMINATOR] = { "dominator", HDX_UNIT_NONE, false },
        [OUTBOUND] = { "outbound", HDX_UNIT_COUNT, false },          [INBOUND] = { "inbound", HDX_UNIT_COUNT, false },
        [REACHABLE] = { "reachable", HDX_UNIT_NONE, false },         [HEAP] = { "heap", HDX_UNIT_NONE, false },
        [POSITION] = { "position", HDX_UNIT_NONE, false },           [LENGTH] = { "length", HDX_UNIT_COUNT, false },
    };
    hdx_ask ask;
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
    hdx_rows_maker maker = { columns, COLUMNS, o, object_next, free, rows_in_scope(q) };
    return hdx_rows_make(&maker, out, err);
}

/* ---- references ---- */

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
    static const hdx_column columns[] = { { "src", HDX_UNIT_NONE, false }, { "dst", HDX_UNIT_NONE, false }, { "name", HDX_UNIT_NONE, false },
                                          { "kind", HDX_UNIT_NONE, false }, { "owner", HDX_UNIT_NONE, false } };
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
    hdx_rows_maker maker = { columns, named ? 5 : 2, r, named ? named_next : reference_next, references_close, 0 };
    if (!named && q->scope == HDX_LIVE)
        maker.total = hdx_graph_summary_of(q->graph)->references;
    return hdx_rows_make(&maker, out, err);
}

hdx_code hdx_table_references(const hdx_query *q, hdx_rows **out, hdx_error *err) { return make_references(q, false, out, err); }
hdx_code hdx_table_named(const hdx_query *q, hdx_rows **out, hdx_error *err) { return make_references(q, true, out, err); }

/* ---- by name ---- */

static hdx_code packages(const hdx_query *q, hdx_rows **out, hdx_error *err) { return hdx_query_histogram(q, HDX_BY_PACKAGE, NULL, false, out, err); }

hdx_code hdx_query_table(const hdx_query *q, const char *table, hdx_rows **out, hdx_error *err)
{
    static const struct {
        const char *name;
        hdx_code (*make)(const hdx_query *q, hdx_rows **out, hdx_error *err);
    } tables[] = {
        { "objects", hdx_table_objects }, { "references", hdx_table_references }, { "named_references", hdx_table_named },
        { "classes", hdx_table_classes }, { "loaders", hdx_table_loaders },       { "roots", hdx_table_roots },
        { "threads", hdx_table_threads }, { "packages", packages },               { "dump", hdx_query_info },
    };
    *out = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(table, tables[i].name) == 0)
            return tables[i].make(q, out, err);
    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "there is no table %.60s", table);
    return hdx_hint(err, HDX_USAGE, "tables are objects, references, named_references, classes, loaders, roots, threads, packages, dump");
}
