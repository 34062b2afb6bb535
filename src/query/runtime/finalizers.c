/*
 * finalizers.c - objects with a finalizer: which one runs, which are queued and in what order, which are alive.
 *
 * In:  java.lang.ref.Finalizer and its queue, since JDK 5; FinalizerReference and the daemon of Android.
 * Out: a row per object: running, queued (in the order in which the thread will take them), pending (until JDK 8: not
 *      in the queue yet), registered; or sums by class.
 * A running Finalizer is a local of a frame of Finalizer.runFinalizer; Android has it in a field. A queue ends at an
 * entry that is its own next one (ReferenceQueue.enqueue); in a damaged dump at an entry that was visited before.
 */
#include "query/common/fields.h"
#include "query/runtime/threads.h"
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/runtime/strength.h"

#include "graph/graph.h"

#define FINALIZER "java.lang.ref.Finalizer"
#define ANDROIDS  "java.lang.ref.FinalizerReference"

enum { ADDRESS, CLASS, LABEL, STATE, PLACE, SHALLOW, RETAINED, REFERENCE, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "object to be finalized"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [STATE] = HDX_COLUMN("state", TEXT, NONE, 0,
                         "running, queued, pending (to be queued soon) or registered (live, or not yet found "
                         "unreachable)"),
    [PLACE] = HDX_COLUMN("place", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                         "position in the queue, from 1; null if it is not in the queue"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the object"),
    [RETAINED] = HDX_RETAINED_COLUMN(0),
    [REFERENCE] = HDX_COLUMN("reference", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                             "address of the Finalizer of the object; null for the running finalizer on Android"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the objects"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects whose finalizer has not completed"),
    HDX_COLUMN("running", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "objects whose finalizer is running"),
    HDX_COLUMN("queued", UNSIGNED, COUNT, 0, "objects that wait for their finalizer, including pending ones"),
    HDX_COLUMN("queued_retained", UNSIGNED, BYTES, HDX_COLUMN_SPARE,
               "sum of the bytes that running and queued objects retain"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of the bytes that all these objects retain"),
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef enum finalizer_state { RUNNING, QUEUED, PENDING, REGISTERED, STATES } finalizer_state;
static const char *const state_names[STATES] = { "running", "queued", "pending", "registered" };

typedef struct finalizer {
    hdx_id          object, reference; /* reference HDX_NO_ID: none */
    finalizer_state is;
    uint64_t        place, retained;
    uint32_t class;
} finalizer;

typedef struct finalizers {
    hdx_found  found;
    hdx_fields fields;
    hdx_map    states; /* id of a reference -> state << 56 | place */
    bool       readable;
} finalizers;

static void close_fields(void *of) { hdx_fields_close(&((finalizers *)of)->fields); }

/* ---- lists of references ---- */

/* Stores the state of a reference unless it has one; *fresh: it had none. */
static hdx_code put_state(finalizers *f, hdx_id reference, finalizer_state is, uint64_t place, bool *fresh,
                          hdx_error *err)
{
    uint64_t *at = hdx_map_put(&f->states, reference, fresh);
    if (at == NULL)
        return hdx_no_memory(err, "finalizers", f->states.count * sizeof(hdx_map_slot));
    if (*fresh)
        *at = (uint64_t)is << 56 | place;
    return hdx_ask_check_cancel(&f->found.ask, err);
}

/* Follows references until one is its own next, there is no next, or one was visited before. */
static hdx_code walk_list(finalizers *f, hdx_id from, const char *const links[2], finalizer_state is, hdx_error *err)
{
    bool     fresh = true;
    uint64_t place = 0;
    hdx_code code = HDX_OK;
    for (hdx_id at = from; code == HDX_OK && at != HDX_NO_ID && fresh;) {
        if ((code = put_state(f, at, is, ++place, &fresh, err)) != HDX_OK || !fresh ||
            (code = hdx_fields_read(&f->fields, f->found.ask.g, at, err)) != HDX_OK)
            break;
        at = hdx_fields_ref(&f->fields, "java.lang.ref.Reference", links[0]);
        if (at == HDX_NO_ID)
            at = hdx_fields_ref(&f->fields, "java.lang.ref.Reference", links[1]);
    }
    return code;
}

static hdx_code walk_queue(finalizers *f, const char *class_name, hdx_error *err)
{
    static const char *const links[2] = { "next", "queueNext" };
    hdx_code                 code = hdx_fields_statics(&f->fields, f->found.ask.g, class_name, err);
    if (code == HDX_OK)
        code = hdx_fields_read(&f->fields, f->found.ask.g, hdx_fields_ref(&f->fields, NULL, "queue"), err);
    return code == HDX_OK
               ? walk_list(f, hdx_fields_ref(&f->fields, "java.lang.ref.ReferenceQueue", "head"), links, QUEUED, err)
               : code;
}

static hdx_code walk_pending(finalizers *f, hdx_error *err)
{
    static const char *const links[2] = { "discovered", "next" };
    const hdx_code           code = hdx_fields_statics(&f->fields, f->found.ask.g, "java.lang.ref.Reference", err);
    return code == HDX_OK ? walk_list(f, hdx_fields_ref(&f->fields, NULL, "pending"), links, PENDING, err) : code;
}

/* ---- the running finalizer ---- */

static bool runs_finalizer(const hdx_frame *frame)
{
    return hdx_text_is(frame->class_name, FINALIZER) && hdx_text_is(frame->method, "runFinalizer");
}

static hdx_code find_running(finalizers *f, hdx_error *err)
{
    hdx_graph        *g = f->found.ask.g;
    const hdx_class  *c = hdx_graph_class_named(g, FINALIZER);
    uint64_t          count = 0, locals = 0, capacity = 0;
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    hdx_frame_local  *at = NULL;
    bool              fresh;
    if (c == NULL || threads == NULL)
        return HDX_OK;
    hdx_code code = hdx_locals_of(f->found.ask.q.mem, g, &at, &locals, &capacity, err);
    for (uint64_t t = 0; code == HDX_OK && t < count; t++)
        for (uint32_t k = 0; code == HDX_OK && k < threads[t].frame_count && k <= INT32_MAX; k++) {
            if (!runs_finalizer(&threads[t].frames[k]))
                continue;
            for (uint64_t i = hdx_locals_first(at, locals, threads[t].object, (int32_t)k);
                 code == HDX_OK && i < locals && at[i].thread == threads[t].object && at[i].frame == (int32_t)k; i++)
                if (hdx_class_extends(g, hdx_graph_class_of(g, at[i].object), c->number))
                    code = put_state(f, at[i].object, RUNNING, 0, &fresh, err);
        }
    return code;
}

static hdx_code add(finalizers *f, hdx_id object, hdx_id reference, finalizer_state is, uint64_t place, hdx_error *err)
{
    const finalizer e = { object,
                          reference,
                          is,
                          place,
                          hdx_graph_retained(f->found.ask.g, object),
                          hdx_graph_class_of(f->found.ask.g, object) };
    return hdx_found_add(&f->found, &e, err);
}

/* Android's thread has it in a field. */
static hdx_code find_running_on_android(finalizers *f, hdx_error *err)
{
    hdx_ids  daemons = hdx_ids_of(f->found.ask.q.mem);
    hdx_code code = hdx_instances_below(&f->found.ask, "java.lang.Daemons$FinalizerDaemon", &daemons, err);
    for (uint64_t i = 0; code == HDX_OK && i < daemons.count; i++) {
        if ((code = hdx_fields_read(&f->fields, f->found.ask.g, daemons.at[i], err)) != HDX_OK)
            break;
        const hdx_id object = hdx_fields_ref(&f->fields, NULL, "finalizingObject");
        if (object != HDX_NO_ID)
            code = add(f, object, HDX_NO_ID, RUNNING, 0, err);
    }
    return code;
}

/* ---- all finalizers ---- */

static int in_order(const void *a, const void *b)
{
    const finalizer *x = a, *y = b;
    if (x->is != y->is)
        return x->is < y->is ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->reference > y->reference) - (x->reference < y->reference);
}

static hdx_code finalizers_find(void *of, hdx_error *err)
{
    finalizers   *f = of;
    hdx_strengths s;
    uint64_t      unknown = 0, all = 0;
    f->states = hdx_map_of(f->found.ask.q.mem);
    hdx_code code = hdx_references_open(&f->found.ask, &s, err);
    if (code == HDX_OK && (code = find_running(f, err)) == HDX_OK && (code = walk_queue(f, FINALIZER, err)) == HDX_OK &&
        (code = walk_queue(f, ANDROIDS, err)) == HDX_OK && (code = walk_pending(f, err)) == HDX_OK)
        code = find_running_on_android(f, err);
    for (uint64_t i = 0; code == HDX_OK && i < s.count; i++) {
        const hdx_reference *r = &s.at[i];
        const uint64_t      *at = hdx_map_get(&f->states, r->id);
        all += r->kind == HDX_FINAL;
        unknown += r->kind == HDX_FINAL && r->unknown;
        if (r->kind == HDX_FINAL && r->referent != HDX_NO_ID)
            code = add(f, r->referent, r->id, at == NULL ? REGISTERED : (finalizer_state)(*at >> 56),
                       at == NULL ? 0 : *at & UINT64_MAX >> 8, err);
    }
    f->readable = all == 0 || unknown < all;
    hdx_strengths_close(&s);
    return code;
}

static hdx_code finalizers_cells(void *of, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const finalizer *e = entry;
    hdx_graph       *g = ((finalizers *)of)->found.ask.g;
    (void)arena;
    (void)err;
    cells[ADDRESS] = hdx_id_cell(g, e->object);
    cells[CLASS] = hdx_class_of_cell(g, e->object);
    cells[STATE] = hdx_cell_string(state_names[e->is]);
    if (e->is == QUEUED)
        cells[PLACE] = hdx_cell_uint(e->place);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, e->object));
    cells[RETAINED] = hdx_retained_cell(g, e->object);
    cells[REFERENCE] = hdx_id_cell(g, e->reference);
    return HDX_OK;
}

static const char *no_finalizers(const void *of)
{
    return ((const finalizers *)of)->readable ? "no object has a finalizer that has not run"
                                              : "referents of Finalizers are missing from this dump";
}

/* ---- sums ---- */

HDX_ENTRY_NUMBER(class_of, finalizer, class)
HDX_ENTRY_NUMBER(retained_of, finalizer, retained)
HDX_ENTRY_IS(is_running, finalizer, is == RUNNING)
static bool is_queued(const void *entry)
{
    const finalizer *e = entry;
    return e->is == QUEUED || e->is == PENDING;
}

HDX_ENTRY_IS(is_waiting, finalizer, is != REGISTERED)

static const hdx_sum      sums[] = { { 0 },
                                     { .only = is_running },
                                     { .only = is_queued },
                                     { .value = retained_of, .only = is_waiting },
                                     { .value = retained_of } };
static const hdx_grouping groupings[] = {
    { .key = class_of, .key_cells = hdx_class_key_cells, .keys = 1, .sums = sums, .sum_count = 5, .most = 5 },
};

/* ---- the question ---- */

static const hdx_listing listing = { .what = "finalizers",
                                     .state = sizeof(finalizers),
                                     .entry = sizeof(finalizer),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .find = finalizers_find,
                                     .order = in_order,
                                     .cells = finalizers_cells,
                                     .nothing = no_finalizers,
                                     .close = close_fields };

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class",
      .sentence = "one row per class of the objects" },
};

const hdx_question hdx_question_finalizers = {
    .declared = {
        .name = "finalizers",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "objects with finalizers: running, queued, registered",
        .more = "The object whose finalizer is running comes first, then the queue in its order, then registered "
                "objects. A long queue after a finalizer that does not return is a leak. --by class sums by class.",
        .examples = { "heapdex finalizers app.hprof --where 'state != registered'",
                      "heapdex finalizers app.hprof --by class" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
