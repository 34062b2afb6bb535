/*
 * cleaners.c - actions that run after an object is freed: java.lang.ref.Cleaner (since JDK 9), sun.misc.Cleaner,
 * jdk.internal.ref.Cleaner.
 *
 * In:  phantom references with an action: PhantomCleanable and its subclasses, Cleaner with its thunk. One that has run
 *      is removed from its list (`next` is the object itself), or was cleared.
 * Out: a row per cleaner, with the object that it waits for and the class of its action; the heaviest actions first.
 */
#include "query/common/fields.h"
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/runtime/strength.h"

#include "graph/graph.h"

enum { ADDRESS, CLASS, LABEL, STATE, ACTION, ACTION_CLASS, ACTION_RETAINED, CLEANER, CLEANER_CLASS, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                           "object that the cleaner waits for; null if it was collected"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [STATE] = HDX_COLUMN("state", TEXT, NONE, 0,
                         "registered; due: the object was collected; done: the cleaner was run before"),
    [ACTION] = HDX_COLUMN("action", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                          "object that performs the cleanup; null if the cleaner itself does"),
    [ACTION_CLASS] =
        HDX_COLUMN("action_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the action"),
    [ACTION_RETAINED] = HDX_COLUMN("action_retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                                   "bytes that the action holds; an action that leads back to the object prevents its "
                                   "collection"),
    [CLEANER] = HDX_COLUMN("cleaner", ADDRESS, NONE, HDX_COLUMN_SPARE, "address of the cleaner"),
    [CLEANER_CLASS] =
        HDX_COLUMN("cleaner_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "class of the cleaner"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the action, or of the cleaner if it performs the cleanup itself"),
    HDX_COLUMN("cleaners", UNSIGNED, COUNT, 0, "cleaners with such an action"),
    HDX_COLUMN("registered", UNSIGNED, COUNT, 0, "cleaners whose object still exists"),
    HDX_COLUMN("due", UNSIGNED, COUNT, 0, "cleaners whose object was collected and that have not run yet"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of the bytes that the actions retain"),
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef enum cleaner_state { REGISTERED, DUE, DONE, STATES } cleaner_state;
static const char *const state_names[STATES] = { "registered", "due", "done" };

typedef struct cleaner {
    hdx_id        id, object, action; /* HDX_NO_ID: none */
    cleaner_state is;
    uint64_t      retained;
    uint32_t class; /* of the action, otherwise of the cleaner */
} cleaner;

typedef struct cleaners {
    hdx_found  found;
    hdx_fields fields;
    bool       readable;
} cleaners;

static void close_fields(void *of) { hdx_fields_close(&((cleaners *)of)->fields); }

/* Fields with the action and with the list of waiting cleaners, for each kind. */
static const struct {
    const char *class_name, *action, *next;
} kinds[] = {
    { "jdk.internal.ref.PhantomCleanable", NULL, "next" },
    { "jdk.internal.ref.Cleaner", "thunk", "next" },
    { "sun.misc.Cleaner", "thunk", "next" },
};

static hdx_id action_of(const hdx_fields *f, unsigned kind)
{
    return kinds[kind].action != NULL ? hdx_fields_ref(f, kinds[kind].class_name, kinds[kind].action)
                                      : hdx_fields_ref(f, NULL, "action");
}

static hdx_code read_cleaner(cleaners *c, hdx_id id, unsigned kind, hdx_error *err)
{
    hdx_graph *g = c->found.ask.g;
    hdx_code   code = hdx_fields_read(&c->fields, g, id, err);
    if (code != HDX_OK)
        return code;
    const hdx_value *referent = hdx_fields_value(&c->fields, NULL, "referent");
    const hdx_value *action = hdx_fields_value(&c->fields, NULL, "action");
    const hdx_id     next = hdx_fields_ref(&c->fields, kinds[kind].class_name, kinds[kind].next);
    cleaner          at = { .id = id, .object = HDX_NO_ID, .action = action_of(&c->fields, kind) };
    c->readable = c->readable || referent != NULL;
    if (referent != NULL && referent->type == 2 && referent->as.address != 0)
        (void)hdx_graph_find(g, referent->as.address, &at.object);
    if (at.object == HDX_NO_ID && action != NULL && action->type == 2 && action->as.address == 0)
        return HDX_OK; /* the head of a list is no cleaner */
    at.is = next == id ? DONE : at.object == HDX_NO_ID ? DUE : REGISTERED;
    at.class = hdx_graph_class_of(g, at.action != HDX_NO_ID ? at.action : id);
    at.retained = at.action == HDX_NO_ID ? 0 : hdx_graph_retained(g, at.action);
    return hdx_found_add(&c->found, &at, err);
}

static int heaviest_first(const void *a, const void *b)
{
    const cleaner *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code cleaners_find(void *of, hdx_error *err)
{
    cleaners        *c = of;
    hdx_ids          ids = hdx_ids_of(c->found.ask.q.mem);
    struct hdx_near *near = hdx_graph_near_begin(c->found.ask.g);
    hdx_code         code = HDX_OK;
    uint64_t         all = 0;
    for (unsigned kind = 0; code == HDX_OK && kind < sizeof kinds / sizeof *kinds; kind++) {
        ids.count = 0;
        code = hdx_instances_below(&c->found.ask, kinds[kind].class_name, &ids, err);
        all += ids.count;
        for (uint64_t i = 0; code == HDX_OK && i < ids.count; i++)
            code = read_cleaner(c, ids.at[i], kind, err);
    }
    c->readable = c->readable || all == 0;
    hdx_graph_near_end(near);
    return code;
}

static hdx_code cleaners_cells(void *of, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const cleaner *at = entry;
    hdx_graph     *g = ((cleaners *)of)->found.ask.g;
    (void)arena;
    (void)err;
    if (at->object != HDX_NO_ID) {
        cells[ADDRESS] = hdx_id_cell(g, at->object);
        cells[CLASS] = hdx_class_of_cell(g, at->object);
    }
    cells[STATE] = hdx_cell_string(state_names[at->is]);
    if (at->action != HDX_NO_ID) {
        cells[ACTION] = hdx_id_cell(g, at->action);
        cells[ACTION_CLASS] = hdx_class_of_cell(g, at->action);
        cells[ACTION_RETAINED] = hdx_cell_uint(at->retained);
    }
    cells[CLEANER] = hdx_id_cell(g, at->id);
    cells[CLEANER_CLASS] = hdx_class_of_cell(g, at->id);
    return HDX_OK;
}

static const char *no_cleaners(const void *of)
{
    return ((const cleaners *)of)->readable ? "no cleaners found" : "referents of cleaners are missing from this dump";
}

/* ---- sums ---- */

HDX_ENTRY_NUMBER(class_of, cleaner, class)
HDX_ENTRY_NUMBER(retained_of, cleaner, retained)
HDX_ENTRY_IS(is_registered, cleaner, is == REGISTERED)
HDX_ENTRY_IS(is_due, cleaner, is == DUE)

static const hdx_sum      sums[] = { { 0 }, { .only = is_registered }, { .only = is_due }, { .value = retained_of } };
static const hdx_grouping groupings[] = {
    { .key = class_of, .key_cells = hdx_class_key_cells, .keys = 1, .sums = sums, .sum_count = 4, .most = 1 },
};

/* ---- the question ---- */

static const hdx_listing listing = { .what = "cleaners",
                                     .state = sizeof(cleaners),
                                     .entry = sizeof(cleaner),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .find = cleaners_find,
                                     .order = heaviest_first,
                                     .cells = cleaners_cells,
                                     .nothing = no_cleaners,
                                     .close = close_fields };

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class",
      .sentence = "one row per class of the action" },
};

const hdx_question hdx_question_cleaners = {
    .declared = {
        .name = "cleaners",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "actions that run after an object was collected",
        .more = "Each row is a cleaner (of java.lang.ref or internal to the JDK) with the object that it waits for "
                "and the action that it then runs; actions that retain most come first. --by class sums by class of "
                "the action.",
        .examples = { "heapdex cleaners app.hprof --by class", "heapdex cleaners app.hprof --where 'state = due'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
