/*
 * table.c - whole tables for export: every object and every reference.
 *
 * Objects are read in runs of HDX_RUN through the columns of the index; class names are borrowed from the table of
 * classes, so that no row copies text. The scope determines which objects are rows and which referrers count.
 */
#include "query/common/columns.h"
#include "graph/graph.h"
#include "query/common/named.h"
#include "query/query.h"

#include <assert.h>
#include <stdlib.h>

/* ---- runs of objects in scope ---- */

#define MOST_CLASSES 16u /* for at most this many classes, only their instances are read; otherwise every object */

typedef struct run {
    hdx_ask   ask;
    hdx_id    from, end; /* ids that rows can have */
    hdx_id    first;     /* first id of the loaded run */
    uint32_t  count, next;
    unsigned  class_count; /* 0: objects of all classes */
    uint32_t  numbers[MOST_CLASSES];
    hdx_id    instance[MOST_CLASSES]; /* the next instance of each class; HDX_NO_ID: none */
    hdx_refs *instances;              /* the instances after these */
    bool      none;                   /* no row can match the bounds */
    uint64_t  live[HDX_RUN / 64];
    uint32_t  classes[HDX_RUN]; /* of the run, if only some classes are requested */
} run;

static void narrow(run *r, hdx_id from, hdx_id end)
{
    r->from = from > r->from ? from : r->from;
    r->end = end < r->end ? end : r->end;
}

/* Restricts rows to objects whose addresses are in the bound of the column. */
static void narrow_addresses(run *r, unsigned column)
{
    const hdx_bound *b = hdx_column_bound(&r->ask.q, column);
    if (b == NULL || b->text != NULL)
        return;
    narrow(r, hdx_graph_first_at(r->ask.g, b->least),
           b->most == UINT64_MAX ? r->end : hdx_graph_first_at(r->ask.g, b->most + 1));
    r->none = r->none || b->least > b->most;
}

/* Restricts rows to instances of the classes with that name, or with that class object. */
static hdx_code follow_classes(run *r, const hdx_bound *b, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(r->ask.g, &count);
    unsigned         found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (b->text != NULL ? !hdx_text_is(classes[i].name, b->text)
                            : classes[i].address < b->least || classes[i].address > b->most)
            continue;
        if (found == MOST_CLASSES)
            return HDX_OK;
        r->numbers[found++] = i;
    }
    r->none = r->none || found == 0;
    r->instances = hdx_mem_array(r->ask.q.mem, MOST_CLASSES, sizeof *r->instances);
    if (r->instances == NULL)
        return hdx_no_memory(err, "instances of classes", MOST_CLASSES * sizeof *r->instances);
    for (unsigned i = 0; i < found; i++) {
        hdx_graph_instances(r->ask.g, r->numbers[i], r->ask.q.scope, &r->instances[i]);
        if (!hdx_refs_next(&r->instances[i], &r->instance[i]))
            r->instance[i] = HDX_NO_ID;
    }
    r->class_count = found;
    return HDX_OK;
}

/* Returns the first instance with an id of at least *from. */
static bool next_instance(run *r, hdx_id *from)
{
    hdx_id least = HDX_NO_ID;
    for (unsigned i = 0; i < r->class_count; i++) {
        while (r->instance[i] != HDX_NO_ID && r->instance[i] < *from)
            if (!hdx_refs_next(&r->instances[i], &r->instance[i]))
                r->instance[i] = HDX_NO_ID;
        if (r->instance[i] != HDX_NO_ID && (least == HDX_NO_ID || r->instance[i] < least))
            least = r->instance[i];
    }
    *from = least;
    return least != HDX_NO_ID;
}

static bool run_load(run *r, hdx_id first)
{
    if (r->none || (r->class_count > 0 && !next_instance(r, &first)) || first >= r->end)
        return false;
    r->first = first;
    r->count = (uint32_t)(r->end - first < HDX_RUN ? r->end - first : HDX_RUN);
    r->next = 0;
    hdx_graph_read_live(r->ask.g, first, r->count, r->live);
    if (r->class_count > 0)
        hdx_graph_read_classes(r->ask.g, first, r->count, r->classes);
    return true;
}

static bool of_classes(const run *r, uint32_t i)
{
    unsigned k = 0;
    while (k < r->class_count && r->numbers[k] != r->classes[i])
        k++;
    return r->class_count == 0 || k < r->class_count;
}

static bool in_scope(const run *r, uint32_t i)
{
    return (r->ask.q.scope == HDX_ALL || hdx_bits_test(r->live, i) == (r->ask.q.scope == HDX_LIVE)) && of_classes(r, i);
}

static bool run_follows(run *r) { return run_load(r, r->count == 0 ? r->from : r->first + r->count); }

/*
 * Returns the index in the run of the next object in scope; *fresh: the run was just loaded. False: no further object.
 */
static bool run_next(run *r, uint32_t *place, bool *fresh)
{
    *fresh = false;
    for (;;) {
        while (r->next < r->count) {
            uint32_t i = r->next++;
            if (in_scope(r, i)) {
                *place = i;
                return true;
            }
        }
        if (!run_follows(r))
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
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "address of the object"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_FEW,
                         "class of the object"),
    [CLASS_ADDRESS] = HDX_COLUMN("class_address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the class object"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_FEW, "instance, object_array, primitive_array or class"),
    [SHALLOW] = HDX_SHALLOW_COLUMN(0),
    [RETAINED] = HDX_RETAINED_IF_LIVE_COLUMN(0),
    [DOMINATOR] = HDX_COLUMN("dominator", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                             "immediate dominator; null if only GC roots dominate the object or it is unreachable"),
    [OUTBOUND] =
        HDX_COLUMN("outbound", UNSIGNED, COUNT, 0, "number of distinct objects that it refers to, including its class"),
    [INBOUND] = HDX_COLUMN("inbound", UNSIGNED, COUNT, 0, "number of distinct objects that refer to it"),
    [REACHABLE] = HDX_COLUMN("reachable", UNSIGNED, NONE, 0, "1 if the object is reachable from a GC root, else 0"),
    [HEAP] = HDX_COLUMN("heap", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_FEW,
                        "heap of an Android dump that contains the object; null for other dumps"),
    [POSITION] = HDX_COLUMN("position", UNSIGNED, NONE, HDX_COLUMN_NULLABLE,
                            "offset of its record in the uncompressed dump; null without a record"),
    [LENGTH] = HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                          "number of elements of an array; null for other objects"),
};

typedef struct object_rows {
    run                    run;
    uint64_t               objects; /* of the heap */
    struct object_vectors *vectors; /* NULL: no run was requested */
    const hdx_heap_space  *heaps;
    uint64_t               heap_count;
    hdx_refs_scope         counted; /* scope for counting references */
    hdx_addr               addresses[HDX_RUN];
    uint32_t               classes[HDX_RUN];
    uint8_t                kinds[HDX_RUN];
    uint64_t               shallow[HDX_RUN], retained[HDX_RUN], positions[HDX_RUN], lengths[HDX_RUN];
    int32_t                heap[HDX_RUN];
    hdx_id                 dominators[HDX_RUN];
    uint64_t               outbound[HDX_RUN], inbound[HDX_RUN];
} object_rows;

static bool wanted(const object_rows *o, unsigned column) { return hdx_column_wanted(&o->run.ask.q, column); }

static void read_columns(object_rows *o)
{
    hdx_graph     *g = o->run.ask.g;
    const hdx_id   first = o->run.first;
    const uint32_t n = o->run.count;
    if (wanted(o, ADDRESS))
        hdx_graph_read_addresses(g, first, n, o->addresses);
    if (wanted(o, CLASS) || wanted(o, CLASS_ADDRESS))
        hdx_graph_read_classes(g, first, n, o->classes);
    if (wanted(o, KIND) || wanted(o, LENGTH))
        hdx_graph_read_kinds(g, first, n, o->kinds);
    if (wanted(o, SHALLOW))
        hdx_graph_read_shallow(g, first, n, o->shallow);
    if (wanted(o, RETAINED))
        hdx_graph_read_retained(g, first, n, o->retained);
    if (wanted(o, DOMINATOR))
        hdx_graph_read_dominators(g, first, n, o->dominators);
    if (wanted(o, POSITION))
        hdx_graph_read_positions(g, first, n, o->positions);
    if (wanted(o, LENGTH))
        hdx_graph_read_lengths(g, first, n, o->lengths);
    if (wanted(o, OUTBOUND) || wanted(o, INBOUND))
        hdx_graph_read_counts(g, o->counted, first, n, o->outbound, o->inbound);
    if (wanted(o, HEAP) && o->heap_count > 0)
        hdx_graph_read_heaps(g, first, n, o->heap);
}

static hdx_cell object_cell(const object_rows *o, unsigned column, uint32_t i)
{
    hdx_graph       *g = o->run.ask.g;
    const bool       live = hdx_bits_test(o->run.live, i);
    const hdx_class *c = column == CLASS || column == CLASS_ADDRESS ? hdx_graph_class(g, o->classes[i]) : NULL;
    switch (column) {
    case ID: return hdx_cell_uint(o->run.first + i);
    case ADDRESS: return hdx_cell_address(o->addresses[i]);
    case CLASS: return c == NULL ? hdx_cell_null() : hdx_cell_text(c->name);
    case CLASS_ADDRESS: return c == NULL ? hdx_cell_null() : hdx_cell_address(c->address);
    case KIND: return hdx_cell_string(hdx_object_kind_name((hdx_object_kind)o->kinds[i]));
    case SHALLOW: return hdx_cell_uint(o->shallow[i]);
    case RETAINED: return live ? hdx_cell_uint(o->retained[i]) : hdx_cell_null();
    case DOMINATOR: return live ? hdx_id_cell(g, o->dominators[i]) : hdx_cell_null();
    case OUTBOUND: return hdx_cell_uint(o->outbound[i]);
    case INBOUND: return hdx_cell_uint(o->inbound[i]);
    case REACHABLE: return hdx_cell_uint(live);
    case HEAP:
        return o->heap_count > 0 && o->heap[i] >= 0 && (uint64_t)o->heap[i] < o->heap_count
                   ? hdx_cell_text(o->heaps[o->heap[i]].name)
                   : hdx_cell_null();
    case POSITION: return o->positions[i] > 0 ? hdx_cell_uint(o->positions[i] - 1) : hdx_cell_null();
    default:
        return o->kinds[i] == HDX_OBJECT_ARRAY || o->kinds[i] == HDX_PRIMITIVE_ARRAY ? hdx_cell_uint(o->lengths[i])
                                                                                     : hdx_cell_null();
    }
}

static hdx_code object_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    object_rows *o = state;
    uint32_t     i;
    bool         fresh;
    hdx_code     code = hdx_ask_check_cancel(&o->run.ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (!run_next(&o->run, &i, &fresh))
        return hdx_ask_end(&o->run.ask, more, err);
    if (fresh)
        read_columns(o);
    for (unsigned column = 0; column < COLUMNS; column++)
        cells[column] = wanted(o, column) ? object_cell(o, column, i) : hdx_cell_null();
    *more = true;
    return HDX_OK;
}

/* ---- objects in runs ---- */

typedef struct object_vectors { /* for readers that request rows in runs */
    uint32_t  place[HDX_RUN];
    uint64_t  numbers[COLUMNS][HDX_RUN], present[COLUMNS][HDX_RUN / 64];
    hdx_text *names, *heaps; /* names by class number; names of heaps */
    uint32_t  class_count;
} object_vectors;

static const hdx_text kind_names[] = {
    { "instance", 8 }, { "object_array", 12 }, { "primitive_array", 15 }, { "class", 5 }
};

static hdx_code open_vectors(object_rows *o, hdx_error *err)
{
    hdx_mem         *mem = o->run.ask.q.mem;
    const hdx_class *classes;
    object_vectors  *v = o->vectors = hdx_mem_get(mem, sizeof *v);
    if (v == NULL)
        return hdx_no_memory(err, "runs of objects", sizeof *v);
    for (unsigned i = 0; i < HDX_COUNT(kind_names); i++)
        assert(hdx_text_is(kind_names[i], hdx_object_kind_name((hdx_object_kind)i)));
    classes = hdx_graph_classes(o->run.ask.g, &v->class_count);
    v->names = hdx_mem_array(mem, v->class_count, sizeof *v->names);
    v->heaps = hdx_mem_array(mem, o->heap_count, sizeof *v->heaps);
    if (v->names == NULL || v->heaps == NULL)
        return hdx_no_memory(err, "names of classes", v->class_count * sizeof *v->names);
    for (uint32_t i = 0; i < v->class_count; i++)
        v->names[i] = classes[i].name;
    for (uint64_t i = 0; i < o->heap_count; i++)
        v->heaps[i] = o->heaps[i].name;
    return HDX_OK;
}

/* Fills the addresses of ids, 0 for none; consecutive objects often share a dominator. */
static void addresses_of(const hdx_graph *g, const hdx_id *ids, uint32_t n, uint64_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        hdx_graph_ahead(g, HDX_AHEAD_ADDRESS, ids, n, i);
        out[i] = i > 0 && ids[i] == ids[i - 1] ? out[i - 1] : hdx_graph_address(g, ids[i]);
    }
}

/* Returns bits for the rows that have a value in the column; NULL: all have. */
static const uint64_t *present_of(object_rows *o, unsigned column, uint32_t n)
{
    object_vectors *v = o->vectors;
    uint64_t       *present = v->present[column];
    memset(present, 0, (size_t)hdx_bits_words(n) * sizeof *present);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t i = v->place[k];
        const uint8_t  kind = o->kinds[i];
        bool           has = true;
        switch (column) {
        case CLASS:
        case CLASS_ADDRESS: has = o->classes[i] < v->class_count; break;
        case RETAINED: has = hdx_bits_test(o->run.live, i); break;
        case DOMINATOR: has = hdx_bits_test(o->run.live, i) && o->dominators[i] < o->objects; break;
        case HEAP: has = o->heap_count > 0 && o->heap[i] >= 0 && (uint64_t)o->heap[i] < o->heap_count; break;
        case POSITION: has = o->positions[i] > 0; break;
        default: has = kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY; break; /* LENGTH */
        }
        present[k >> 6] |= (uint64_t)has << (k & 63);
    }
    return present;
}

#define GATHER(values)                                                                                                 \
    for (uint32_t k = 0; k < n; k++)                                                                                   \
    to[k] = values

static void fill_vector(object_rows *o, unsigned column, uint32_t n, hdx_vector *out)
{
    object_vectors *v = o->vectors;
    hdx_graph      *g = o->run.ask.g;
    uint64_t       *to = v->numbers[column];
    const uint32_t *at = v->place;
    *out = (hdx_vector){ .numbers = to };
    if ((object_columns[column].flags & HDX_COLUMN_NULLABLE) != 0)
        out->present = present_of(o, column, n);
    switch (column) {
    case ID: GATHER(o->run.first + at[k]); break;
    case ADDRESS: GATHER(o->addresses[at[k]]); break;
    case CLASS:
        out->texts = v->names;
        out->text_count = v->class_count;
        GATHER(o->classes[at[k]] < v->class_count ? o->classes[at[k]] : 0);
        break;
    case CLASS_ADDRESS:
        GATHER(o->classes[at[k]] < v->class_count ? hdx_graph_class(g, o->classes[at[k]])->address : 0);
        break;
    case KIND:
        out->texts = kind_names;
        out->text_count = HDX_COUNT(kind_names);
        GATHER(o->kinds[at[k]]);
        break;
    case SHALLOW: GATHER(o->shallow[at[k]]); break;
    case RETAINED: GATHER(o->retained[at[k]]); break;
    case DOMINATOR: {
        hdx_id ids[HDX_RUN];
        for (uint32_t k = 0; k < n; k++)
            ids[k] = o->dominators[at[k]];
        addresses_of(g, ids, n, to);
        break;
    }
    case OUTBOUND: GATHER(o->outbound[at[k]]); break;
    case INBOUND: GATHER(o->inbound[at[k]]); break;
    case REACHABLE: GATHER(hdx_bits_test(o->run.live, at[k])); break;
    case HEAP:
        out->texts = v->heaps;
        out->text_count = (uint32_t)o->heap_count;
        GATHER(hdx_bits_test(out->present, k) ? (uint64_t)o->heap[at[k]] : 0);
        break;
    case POSITION: GATHER(o->positions[at[k]] - (o->positions[at[k]] > 0)); break;
    default: GATHER(o->lengths[at[k]]); break;
    }
}

static hdx_code object_run(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    object_rows *o = state;
    run         *r = &o->run;
    bool         more;
    hdx_code     code = o->vectors == NULL ? open_vectors(o, err) : HDX_OK;
    while (code == HDX_OK && (code = hdx_ask_stopped(&r->ask.q, err)) == HDX_OK) {
        for (; r->next < r->count && *count < most; r->next++)
            if (in_scope(r, r->next))
                o->vectors->place[(*count)++] = r->next;
        if (*count > 0 || !run_follows(r)) /* rows of two runs are never combined */
            break;
        read_columns(o);
    }
    if (code != HDX_OK)
        return code;
    for (unsigned column = 0; *count > 0 && column < COLUMNS; column++)
        if (wanted(o, column))
            fill_vector(o, column, *count, &out[column]);
    return *count == 0 ? hdx_ask_end(&o->run.ask, &more, err) : HDX_OK;
}

/* Restricts the objects that rows can have by the bounds of the query. */
static hdx_code narrow_objects(object_rows *o, hdx_error *err)
{
    run             *r = &o->run;
    const hdx_bound *id = hdx_column_bound(&r->ask.q, ID), *name = hdx_column_bound(&r->ask.q, CLASS),
                    *address = hdx_column_bound(&r->ask.q, CLASS_ADDRESS), *class = name != NULL ? name : address;
    if (id != NULL) {
        narrow(r, id->least, id->most == UINT64_MAX ? r->end : id->most + 1);
        r->none = id->least > id->most;
    }
    narrow_addresses(r, ADDRESS);
    return class != NULL ? follow_classes(r, class, err) : HDX_OK;
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
    object_rows *o = hdx_mem_get(q->mem, sizeof *o);
    if (o == NULL)
        return hdx_no_memory(err, "the table of objects", sizeof *o);
    o->run.ask = ask;
    o->run.end = o->objects = hdx_graph_objects(q->graph);
    o->heaps = hdx_graph_heaps(q->graph, &o->heap_count);
    if (o->heaps == NULL)
        o->heap_count = 0;
    o->counted = hdx_graph_all_live(q->graph) && q->scope == HDX_LIVE ? HDX_ALL : q->scope;
    if ((code = narrow_objects(o, err)) != HDX_OK)
        return code;
    const uint64_t total = q->wanted.bound_count == 0 ? rows_in_scope(q) : 0;
    hdx_rows_maker maker = { object_columns, COLUMNS, o, object_next, NULL, total };
    if ((code = hdx_rows_make_in(q->mem, &maker, out, err)) == HDX_OK) {
        hdx_rows_set_wanted(*out, q->wanted.columns);
        hdx_rows_set_run(*out, object_run);
    }
    return code;
}

static const hdx_form objects_form = { NULL, NULL, object_columns, COLUMNS };

const hdx_question hdx_table_of_objects = {
    .declared = { .name = "objects",
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
                  .sentence = "all objects",
                  .more = "",
                  .forms = &objects_form,
                  .form_count = 1 },
    .open = open_objects,
};

/* ---- references ---- */

enum { SRC, DST };
#define PAIR 2u /* columns of a pair of objects; named references have all */
static const hdx_column reference_columns[] = {
    HDX_COLUMN("src", ADDRESS, NONE, 0, "address of the referring object"),
    HDX_COLUMN("dst", ADDRESS, NONE, 0, "address of the object that it refers to"),
    HDX_COLUMN("name", TEXT, NONE, 0, "name of the reference: a field, [i], <class>"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "field, static, element, class, super, loader, local, signers or domain"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that declares the field; null for other references"),
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
    hdx_id         target;  /* target of all rows; HDX_NO_ID: any */
    hdx_id        *sources; /* referrers of `target`, ascending */
    uint64_t       source_count, next_source;
    uint64_t      *pairs; /* columns of a run, sources before targets; NULL: no run was requested */
    bool           ended; /* the last run was returned */
} reference_rows;

static bool next_source(reference_rows *r)
{
    uint32_t i = 0;
    bool     fresh;
    if (r->target != HDX_NO_ID) {
        while (r->next_source < r->source_count && r->sources[r->next_source] < r->run.from)
            r->next_source++;
        r->open = r->next_source < r->source_count && r->sources[r->next_source] < r->run.end;
    } else {
        r->open = run_next(&r->run, &i, &fresh);
    }
    if (r->open) {
        r->source = r->target != HDX_NO_ID ? r->sources[r->next_source++] : r->run.first + i;
        r->address = hdx_id_cell(r->run.ask.g, r->source);
    }
    return r->open;
}

/* Returns the next pair, r->source and *target; *more false: no further pair. */
static hdx_code next_pair(reference_rows *r, hdx_id *target, bool *more, hdx_error *err)
{
    hdx_code code = hdx_ask_check_cancel(&r->run.ask, err);
    while (code == HDX_OK && r->target == HDX_NO_ID && !(r->open && hdx_refs_next(&r->refs, target))) {
        if (!next_source(r))
            return hdx_ask_end(&r->run.ask, more, err);
        hdx_graph_outbound(r->run.ask.g, r->source, r->targets, &r->refs);
        code = hdx_ask_check_cancel(&r->run.ask, err);
    }
    if (code != HDX_OK)
        return code;
    if (r->target != HDX_NO_ID) {
        if (!next_source(r))
            return hdx_ask_end(&r->run.ask, more, err);
        *target = r->target;
    }
    *more = true;
    return HDX_OK;
}

static hdx_code reference_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    reference_rows *r = state;
    hdx_id          target = HDX_NO_ID;
    (void)arena;
    const hdx_code code = next_pair(r, &target, more, err);
    if (code != HDX_OK || !*more)
        return code;
    cells[SRC] = r->address;
    cells[DST] = hdx_id_cell(r->run.ask.g, target);
    return HDX_OK;
}

static hdx_code reference_run(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    reference_rows *r = state;
    hdx_mem        *mem = r->run.ask.q.mem;
    hdx_id          ids[HDX_RUN];
    bool            more = true;
    hdx_code        code = HDX_OK;
    if (r->ended)
        return HDX_OK;
    if (r->pairs == NULL && (r->pairs = hdx_mem_raw(mem, PAIR * HDX_RUN, sizeof *r->pairs)) == NULL)
        return hdx_no_memory(err, "runs of references", PAIR * HDX_RUN * sizeof *r->pairs);
    while (*count < hdx_least(most, HDX_RUN) && (code = next_pair(r, &ids[*count], &more, err)) == HDX_OK && more)
        r->pairs[(*count)++] = r->address.as.address;
    r->ended = !more;
    addresses_of(r->run.ask.g, ids, *count, r->pairs + HDX_RUN);
    out[SRC].numbers = r->pairs;
    out[DST].numbers = r->pairs + HDX_RUN;
    return code;
}

static hdx_code named_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    reference_rows *r = state;
    hdx_code        code = hdx_ask_check_cancel(&r->run.ask, err);
    (void)arena;
    while (code == HDX_OK && r->at == r->names.count) {
        if (!next_source(r))
            return hdx_ask_end(&r->run.ask, more, err);
        r->at = 0;
        code = hdx_named_collect(&r->names, r->run.ask.g, r->source, r->target, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&r->run.ask, err);
    }
    if (code != HDX_OK)
        return code;
    const hdx_named *n = &r->names.at[r->at++];
    cells[SRC] = r->address;
    cells[DST] = hdx_cell_address(n->address);
    cells[2] = hdx_cell_string(n->name);
    cells[3] = hdx_cell_string(hdx_ref_kind_name(n->kind));
    cells[4] = hdx_class_cell(r->run.ask.g, n->owner);
    *more = true;
    return HDX_OK;
}

static int ascending(const void *a, const void *b)
{
    const hdx_id x = *(const hdx_id *)a, y = *(const hdx_id *)b;
    return (x > y) - (x < y);
}

/*
 * References to one object are found through its inbound list. References to no object are only in the dump, with their
 * names, so every object is read for them.
 */
static hdx_code from_inbound(reference_rows *r, bool named, hdx_error *err)
{
    const hdx_bound *b = hdx_column_bound(&r->run.ask.q, DST);
    hdx_graph       *g = r->run.ask.g;
    hdx_refs         refs;
    hdx_id           id, target;
    if (b == NULL || b->least != b->most)
        return HDX_OK;
    if (!hdx_graph_find(g, b->least, &target)) {
        r->run.none = !named;
        return HDX_OK;
    }
    const uint64_t most = hdx_graph_inbound_count(g, target, r->run.ask.q.scope);
    if (!named && r->targets != HDX_ALL && hdx_graph_live(g, target) != (r->targets == HDX_LIVE)) {
        r->run.none = true;
        return HDX_OK;
    }
    r->target = target;
    if (most == 0)
        return HDX_OK;
    if ((r->sources = hdx_mem_array(r->run.ask.q.mem, most, sizeof *r->sources)) == NULL)
        return hdx_no_memory(err, "referrers", most * sizeof *r->sources);
    hdx_graph_inbound(g, target, r->run.ask.q.scope, &refs);
    uint64_t n = 0;
    while (n < most && hdx_refs_next(&refs, &id))
        r->sources[n++] = id;
    r->source_count = n;
    qsort(r->sources, n, sizeof *r->sources, ascending);
    return HDX_OK;
}

static hdx_code make_references(const hdx_query *q, bool named, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    reference_rows *r = hdx_mem_get(q->mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "the table of references", sizeof *r);
    r->run.ask = ask;
    r->names.names = hdx_arena_of(q->mem);
    r->targets = q->scope == HDX_LIVE ? HDX_ALL : q->scope; /* live objects refer to live objects only */
    r->run.end = hdx_graph_objects(q->graph);
    r->target = HDX_NO_ID;
    narrow_addresses(&r->run, SRC);
    if ((code = from_inbound(r, named, err)) != HDX_OK)
        return code;
    hdx_rows_maker maker = {
        reference_columns, named ? HDX_COUNT(reference_columns) : PAIR, r, named ? named_next : reference_next, NULL, 0
    };
    if (!named && q->scope == HDX_LIVE && q->wanted.bound_count == 0)
        maker.total = hdx_graph_summary_of(q->graph)->references;
    if ((code = hdx_rows_make_in(q->mem, &maker, out, err)) == HDX_OK && !named)
        hdx_rows_set_run(*out, reference_run);
    return code;
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
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
                  .sentence = "references between objects, each pair once",
                  .more = "",
                  .forms = &references_form,
                  .form_count = 1 },
    .open = open_references,
};

static const hdx_form named_form = { NULL, NULL, reference_columns, HDX_COUNT(reference_columns) };

const hdx_question hdx_table_of_named_references = {
    .declared = { .name = "named_references",
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
                  .sentence = "all references by name, as in the dump",
                  .more = "",
                  .forms = &named_form,
                  .form_count = 1 },
    .open = open_named,
};
