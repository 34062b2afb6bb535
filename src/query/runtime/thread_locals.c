/*
 * thread_locals.c - thread-local values, by thread, by class and by their ThreadLocal.
 *
 * In:  Thread.threadLocals and inheritableThreadLocals, a table of entries with a weak reference to the ThreadLocal and
 *      a value (JDK 5 to 25, ART); Dalvik's localValues, a table of alternating keys and values (HPROF 6).
 * Out: a row per value, or sums. If a key was collected, its value stays until the thread cleans up: it is stale.
 * A table is read once, even if several threads refer to it, so the work is bounded by the tables.
 * Cost: a record per thread, table and entry; 64 bytes per value.
 */
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/common/thread_facts.h"
#include "query/common/columns.h"
#include "query/common/listing.h"

#include "base/map.h"
#include "graph/graph.h"

#define PIECE 1024u /* elements per read */
#define MAP   "java.lang.ThreadLocal$ThreadLocalMap"

enum { ADDRESS, CLASS, LABEL, SHALLOW, RETAINED, THREAD, NAME, INHERITED, KEY, KEY_CLASS, FIELD, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the value"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "shallow size of the value"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "retained size: bytes that would be freed without the value"),
    [THREAD] = HDX_COLUMN("thread", ADDRESS, NONE, HDX_COLUMN_SPARE, "thread that holds the value"),
    [NAME] = HDX_COLUMN("thread_name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread"),
    [INHERITED] = HDX_COLUMN("inherited", BOOL, NONE, HDX_COLUMN_SPARE,
                             "true if threads that this thread starts inherit the value"),
    [KEY] = HDX_COLUMN("key", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                       "address of the ThreadLocal; null if it was collected, which leaves a stale value"),
    [KEY_CLASS] = HDX_COLUMN("key_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "class of the key"),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                         "CLASS#FIELD that holds the ThreadLocal"),
};
#define SUMS                                                                                                           \
    HDX_COLUMN("values", UNSIGNED, COUNT, 0, "distinct values"),                                                       \
        HDX_COLUMN("stale", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "stale values: their ThreadLocals were collected"),     \
        HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "total shallow size of the values"),                  \
        HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of the bytes that the values retain")
#define THREADS HDX_COLUMN("threads", UNSIGNED, COUNT, 0, "threads with a value")
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the values"),
    THREADS,
    SUMS,
};
static const hdx_column thread_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the thread"),
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread"),
    SUMS,
};
static const hdx_column key_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
               "address of the ThreadLocal; null for all that were collected"),
    HDX_CLASS_COLUMN(0),
    HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "CLASS#FIELD that holds the ThreadLocal"),
    THREADS,
    SUMS,
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { "by", "thread", thread_columns, HDX_COUNT(thread_columns) },
    { "by", "key", key_columns, HDX_COUNT(key_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef struct local_value {
    hdx_id   thread, key, value; /* key HDX_NO_ID: it was collected */
    uint64_t shallow, retained;
    uint32_t class;
    bool inherited;
} local_value;

typedef struct locals {
    hdx_found  found;
    hdx_fields thread, map, entry;
    hdx_values elements;
    hdx_map    seen; /* maps and tables read so far */
} locals;

static void close_locals(void *state)
{
    locals *l = state;
    hdx_fields_close(&l->thread);
    hdx_fields_close(&l->map);
    hdx_fields_close(&l->entry);
    hdx_values_free(&l->elements);
}

/* ---- tables of threads ---- */

static hdx_code add_value(locals *l, hdx_id thread, hdx_id key, hdx_id value, bool inherited, hdx_error *err)
{
    hdx_graph *g = l->found.ask.g;
    if (value == HDX_NO_ID) /* null keeps nothing alive */
        return hdx_ask_check_cancel(&l->found.ask, err);
    const local_value k = { .thread = thread,
                            .key = key,
                            .value = value,
                            .shallow = hdx_graph_shallow(g, value),
                            .retained = hdx_graph_retained(g, value),
                            .class = hdx_graph_class_of(g, value),
                            .inherited = inherited };
    return hdx_found_add(&l->found, &k, err);
}

static hdx_id element(const locals *l, uint64_t i)
{
    const hdx_value *v = &l->elements.at[i].value;
    hdx_id           id;
    return v->type == 2 && !v->absent && v->as.address != 0 && hdx_graph_find(l->found.ask.g, v->as.address, &id)
               ? id
               : HDX_NO_ID;
}

static hdx_code read_entry(locals *l, hdx_id thread, hdx_id entry, bool inherited, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&l->entry, l->found.ask.g, entry, err);
    if (code != HDX_OK || hdx_fields_value(&l->entry, MAP "$Entry", "value") == NULL)
        return code; /* no entry, or an unknown layout */
    return add_value(l, thread, hdx_fields_ref(&l->entry, "java.lang.ref.Reference", "referent"),
                     hdx_fields_ref(&l->entry, MAP "$Entry", "value"), inherited, err);
}

/* Dalvik: the key is the weak reference of a ThreadLocal to itself, or a tombstone; the value follows it. */
static hdx_code read_pair(locals *l, hdx_id thread, hdx_id reference, hdx_id value, bool inherited, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&l->entry, l->found.ask.g, reference, err);
    if (code != HDX_OK || hdx_fields_value(&l->entry, "java.lang.ref.Reference", "referent") == NULL)
        return code;
    return add_value(l, thread, hdx_fields_ref(&l->entry, "java.lang.ref.Reference", "referent"), value, inherited,
                     err);
}

static hdx_code mark_seen(locals *l, hdx_id id, bool *fresh, hdx_error *err)
{
    *fresh = false;
    if (id == HDX_NO_ID || hdx_map_put(&l->seen, id, fresh) != NULL)
        return HDX_OK;
    return hdx_no_memory(err, "thread locals", l->seen.count * sizeof(hdx_map_slot));
}

static hdx_code read_table(locals *l, hdx_id thread, hdx_id table, bool pairs, bool inherited, hdx_error *err)
{
    hdx_graph     *g = l->found.ask.g;
    hdx_error      mine;
    const uint64_t length = hdx_graph_kind(g, table) == HDX_OBJECT_ARRAY ? hdx_graph_length(g, table) : 0;
    hdx_code       code = HDX_OK;
    for (uint64_t first = 0; code == HDX_OK && first < length; first += PIECE) {
        l->elements.count = 0;
        code = hdx_label_allow_missing_dump(g, hdx_graph_elements(g, table, first, PIECE, &l->elements, &mine), &mine,
                                            err);
        if (l->elements.count == 0)
            break;
        for (uint64_t i = 0; code == HDX_OK && i + pairs < l->elements.count; i += 1 + pairs) {
            const hdx_id at = element(l, i);
            if (at != HDX_NO_ID)
                code = pairs ? read_pair(l, thread, at, element(l, i + 1), inherited, err)
                             : read_entry(l, thread, at, inherited, err);
        }
        if (code == HDX_OK)
            code = hdx_ask_stopped(&l->found.ask.q, err);
    }
    return code;
}

static hdx_code read_map(locals *l, hdx_id thread, const char *field, bool pairs, bool inherited, hdx_error *err)
{
    const hdx_id map = hdx_fields_ref(&l->thread, "java.lang.Thread", field);
    bool         fresh;
    hdx_code     code = mark_seen(l, map, &fresh, err);
    if (code != HDX_OK || !fresh || (code = hdx_fields_read(&l->map, l->found.ask.g, map, err)) != HDX_OK)
        return code;
    const hdx_id table = hdx_fields_ref(&l->map, pairs ? "java.lang.ThreadLocal$Values" : MAP, "table");
    code = mark_seen(l, table, &fresh, err);
    return code == HDX_OK && fresh ? read_table(l, thread, table, pairs, inherited, err) : code;
}

static hdx_code locals_find(void *state, hdx_error *err)
{
    locals          *l = state;
    hdx_ids          threads = hdx_ids_of(l->found.ask.q.mem);
    struct hdx_near *near = hdx_graph_near_begin(l->found.ask.g);
    l->seen = hdx_map_of(l->found.ask.q.mem);
    hdx_code code = hdx_threads_of(&l->found.ask, &threads, err);
    for (uint64_t i = 0; code == HDX_OK && i < threads.count; i++)
        if ((code = hdx_fields_read(&l->thread, l->found.ask.g, threads.at[i], err)) == HDX_OK &&
            (code = read_map(l, threads.at[i], "threadLocals", false, false, err)) == HDX_OK &&
            (code = read_map(l, threads.at[i], "inheritableThreadLocals", false, true, err)) == HDX_OK &&
            (code = read_map(l, threads.at[i], "localValues", true, false, err)) == HDX_OK &&
            (code = read_map(l, threads.at[i], "inheritableValues", true, true, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&l->found.ask, err);
    hdx_graph_near_end(near);
    return code;
}

/* ---- rows ---- */

static hdx_code locals_cells(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const hdx_query   *q = &((locals *)state)->found.ask.q;
    const local_value *k = entry;
    cells[ADDRESS] = hdx_id_cell(q->graph, k->value);
    cells[CLASS] = hdx_class_of_cell(q->graph, k->value);
    cells[SHALLOW] = hdx_cell_uint(k->shallow);
    cells[RETAINED] = hdx_retained_cell(q->graph, k->value);
    cells[THREAD] = hdx_id_cell(q->graph, k->thread);
    cells[INHERITED] = hdx_cell_bool(k->inherited);
    if (k->key != HDX_NO_ID) {
        cells[KEY] = hdx_id_cell(q->graph, k->key);
        cells[KEY_CLASS] = hdx_class_of_cell(q->graph, k->key);
    }
    return hdx_column_wanted(q, NAME) ? hdx_label_cell(q, k->thread, arena, &cells[NAME], err) : HDX_OK;
}

static const char *no_locals(const void *state)
{
    return hdx_graph_lacks_dump(((const locals *)state)->found.ask.g)
               ? "thread locals are only in the dump, which is not available"
               : "no thread has thread locals";
}

/* ---- sums ---- */

HDX_ENTRY_NUMBER(class_of, local_value, class)
HDX_ENTRY_NUMBER(thread_of, local_value, thread)
HDX_ENTRY_NUMBER(key_of, local_value, key)
HDX_ENTRY_NUMBER(value_of, local_value, value)
HDX_ENTRY_NUMBER(shallow_of, local_value, shallow)
HDX_ENTRY_NUMBER(retained_of, local_value, retained)
HDX_ENTRY_IS(is_stale, local_value, key == HDX_NO_ID)

static hdx_code thread_cells(const hdx_ask *ask, uint64_t thread, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    cells[0] = hdx_id_cell(ask->g, thread);
    return hdx_label_cell(&ask->q, thread, arena, &cells[1], err);
}

static hdx_code key_cells(const hdx_ask *ask, uint64_t key, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    if (key == HDX_NO_ID)
        return HDX_OK;
    cells[0] = hdx_id_cell(ask->g, key);
    cells[1] = hdx_class_of_cell(ask->g, key);
    return hdx_held_in_cell(&ask->q, key, arena, &cells[2], err);
}

/* A value of several threads counts once, and a thread once in each group. */
static const hdx_sum sums[] = {
    { .once = thread_of },
    { .once = value_of },
    { .only = is_stale },
    { .value = shallow_of, .once = value_of },
    { .value = retained_of, .once = value_of },
};
static const hdx_grouping groupings[] = {
    { .key = class_of, .key_cells = hdx_class_key_cells, .keys = 1, .sums = sums, .sum_count = 5, .most = 5 },
    { .key = thread_of, .key_cells = thread_cells, .keys = 2, .sums = sums + 1, .sum_count = 4, .most = 4 },
    { .key = key_of, .key_cells = key_cells, .keys = 3, .sums = sums, .sum_count = 5, .most = 5 },
};

/* ---- the question ---- */

static const hdx_listing listing = { .what = "thread locals",
                                     .state = sizeof(locals),
                                     .entry = sizeof(local_value),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .field = FIELD,
                                     .find = locals_find,
                                     .cells = locals_cells,
                                     .nothing = no_locals,
                                     .close = close_locals };

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class thread key",
      .sentence = "one row per class of the values, thread or ThreadLocal" },
};

const hdx_question hdx_question_thread_locals = {
    .declared = {
        .name = "thread-locals",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "values of ThreadLocals, by thread",
        .more = "Each row is a value of one thread, with the field that holds its ThreadLocal. --by class, thread or "
                "key sums values over all threads. If the ThreadLocal was collected, its value stays until the thread "
                "cleans up; key is then null, and sums count the value as stale.",
        .examples = { "heapdex thread-locals app.hprof --by key",
                      "heapdex thread-locals app.hprof --sort retained --where 'thread_name ~ ^http'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .order = "retained",
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
