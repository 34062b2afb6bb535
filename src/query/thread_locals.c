/*
 * thread_locals.c - values that threads keep for themselves, by thread, by class and by the ThreadLocal they are of.
 *
 * In:  Thread.threadLocals and inheritableThreadLocals, a table of entries that refer weakly to the ThreadLocal and
 *      have the value (JDK 5 to 25, ART); Dalvik's localValues, a table of key and value in turn (HPROF 6).
 * Out: a row a value, or sums. A key that was collected leaves its value behind until the thread cleans up: it is
 *      stale.
 * A table is looked at once, whatever refers to it, so that the work is that of the tables there are.
 * Cost: a record a thread, a table and an entry; 40 bytes a value.
 */
#include "query/query.h"

#include "base/map.h"
#include "graph/graph.h"
#include <stdlib.h>

#define PIECE 1024u /* elements at a time */
#define MAP   "java.lang.ThreadLocal$ThreadLocalMap"

enum { ADDRESS, CLASS, LABEL, SHALLOW, RETAINED, THREAD, NAME, INHERITED, KEY, KEY_CLASS, FIELD, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "the value"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "what it says of itself: a text, a name; null for most objects"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "its size, without what it refers to"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "bytes that would be free without it"),
    [THREAD] = HDX_COLUMN("thread", ADDRESS, NONE, HDX_COLUMN_SPARE, "the thread that keeps it"),
    [NAME] = HDX_COLUMN("thread_name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread"),
    [INHERITED] = HDX_COLUMN("inherited", BOOL, NONE, HDX_COLUMN_SPARE, "threads that it starts get it, too"),
    [KEY] = HDX_COLUMN("key", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                       "the ThreadLocal; null: it was collected, and the value is left over"),
    [KEY_CLASS] = HDX_COLUMN("key_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "class of the key"),
    [FIELD] =
        HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "CLASS#FIELD that holds the key"),
};
#define SUMS                                                                                                           \
    HDX_COLUMN("values", UNSIGNED, COUNT, 0, "distinct values"),                                                       \
        HDX_COLUMN("stale", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "values left over: their keys were collected"),         \
        HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "size of the values"),                                \
        HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of what the values retain")
#define THREADS HDX_COLUMN("threads", UNSIGNED, COUNT, 0, "threads that have one")
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the values"),
    THREADS,
    SUMS,
};
static const hdx_column thread_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "the thread"),
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE, "its name"),
    SUMS,
};
static const hdx_column key_columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "the ThreadLocal; null: all that were collected"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "its class"),
    HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "CLASS#FIELD that holds it"),
    THREADS,
    SUMS,
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { "by", "thread", thread_columns, HDX_COUNT(thread_columns) },
    { "by", "key", key_columns, HDX_COUNT(key_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef struct kept {
    hdx_id   thread, key, value; /* key HDX_NO_ID: it was collected */
    uint64_t group;              /* of a sum */
    bool     inherited;
} kept;

typedef struct locals {
    hdx_ask        ask;
    hdx_fields     thread, map, entry;
    hdx_values     elements;
    hdx_map        seen; /* maps and tables */
    HDX_LIST(kept) found;
    uint64_t       next;
} locals;

static void locals_close(void *state)
{
    locals *l = state;
    hdx_fields_close(&l->thread);
    hdx_fields_close(&l->map);
    hdx_fields_close(&l->entry);
    hdx_values_free(&l->elements);
    hdx_map_free(&l->seen);
    hdx_list_free(l->ask.q.mem, HDX_LIST_REF(&l->found));
    free(l);
}

/* ---- finding ---- */

static hdx_code keep(locals *l, hdx_id thread, hdx_id key, hdx_id value, bool inherited, hdx_error *err)
{
    if (value == HDX_NO_ID) /* null keeps nothing alive */
        return hdx_ask_turn(&l->ask, err);
    if (!hdx_list_room(l->ask.q.mem, HDX_LIST_REF(&l->found)))
        return hdx_no_memory(err, "thread locals", (l->found.count + 1) * sizeof(kept));
    l->found.at[l->found.count++] = (kept){ thread, key, value, 0, inherited };
    return hdx_ask_turn(&l->ask, err);
}

static hdx_id element(const locals *l, uint64_t i)
{
    const hdx_value *v = &l->elements.at[i].value;
    hdx_id           id;
    return v->type == 2 && !v->absent && v->as.address != 0 && hdx_graph_find(l->ask.g, v->as.address, &id) ? id
                                                                                                            : HDX_NO_ID;
}

static hdx_code look_at_entry(locals *l, hdx_id thread, hdx_id entry, bool inherited, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&l->entry, l->ask.g, entry, err);
    if (code != HDX_OK || hdx_fields_value(&l->entry, MAP "$Entry", "value") == NULL)
        return code; /* no entry, or a layout that nobody knows */
    return keep(l, thread, hdx_fields_ref(&l->entry, "java.lang.ref.Reference", "referent"),
                hdx_fields_ref(&l->entry, MAP "$Entry", "value"), inherited, err);
}

/* Dalvik: the reference by which a ThreadLocal knows itself, or a tombstone, and the value after it. */
static hdx_code look_at_pair(locals *l, hdx_id thread, hdx_id reference, hdx_id value, bool inherited, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&l->entry, l->ask.g, reference, err);
    if (code != HDX_OK || hdx_fields_value(&l->entry, "java.lang.ref.Reference", "referent") == NULL)
        return code;
    return keep(l, thread, hdx_fields_ref(&l->entry, "java.lang.ref.Reference", "referent"), value, inherited, err);
}

static hdx_code see(locals *l, hdx_id id, bool *fresh, hdx_error *err)
{
    *fresh = false;
    if (id == HDX_NO_ID || hdx_map_put(&l->seen, id, fresh) != NULL)
        return HDX_OK;
    return hdx_no_memory(err, "thread locals", l->seen.count * sizeof(hdx_map_slot));
}

static hdx_code look_at_table(locals *l, hdx_id thread, hdx_id table, bool pairs, bool inherited, hdx_error *err)
{
    hdx_graph     *g = l->ask.g;
    hdx_error      mine;
    const uint64_t length = hdx_graph_kind(g, table) == HDX_OBJECT_ARRAY ? hdx_graph_length(g, table) : 0;
    hdx_code       code = HDX_OK;
    for (uint64_t first = 0; code == HDX_OK && first < length; first += PIECE) {
        l->elements.count = 0;
        code = hdx_label_without_dump(g, hdx_graph_elements(g, table, first, PIECE, &l->elements, &mine), &mine, err);
        if (l->elements.count == 0)
            break;
        for (uint64_t i = 0; code == HDX_OK && i + pairs < l->elements.count; i += 1 + pairs) {
            const hdx_id at = element(l, i);
            if (at != HDX_NO_ID)
                code = pairs ? look_at_pair(l, thread, at, element(l, i + 1), inherited, err)
                             : look_at_entry(l, thread, at, inherited, err);
        }
        if (code == HDX_OK)
            code = hdx_ask_stopped(&l->ask.q, err);
    }
    return code;
}

static hdx_code look_at_map(locals *l, hdx_id thread, const char *field, bool pairs, bool inherited, hdx_error *err)
{
    const hdx_id map = hdx_fields_ref(&l->thread, "java.lang.Thread", field);
    bool         fresh;
    hdx_code     code = see(l, map, &fresh, err);
    if (code != HDX_OK || !fresh || (code = hdx_fields_read(&l->map, l->ask.g, map, err)) != HDX_OK)
        return code;
    const hdx_id table = hdx_fields_ref(&l->map, pairs ? "java.lang.ThreadLocal$Values" : MAP, "table");
    code = see(l, table, &fresh, err);
    return code == HDX_OK && fresh ? look_at_table(l, thread, table, pairs, inherited, err) : code;
}

static hdx_code find(locals *l, hdx_error *err)
{
    hdx_ids          threads = hdx_ids_of(l->ask.q.mem);
    struct hdx_near *near = hdx_graph_near_begin(l->ask.g);
    hdx_code         code = hdx_threads_of(&l->ask, &threads, err);
    for (uint64_t i = 0; code == HDX_OK && i < threads.count; i++)
        if ((code = hdx_fields_read(&l->thread, l->ask.g, threads.at[i], err)) == HDX_OK &&
            (code = look_at_map(l, threads.at[i], "threadLocals", false, false, err)) == HDX_OK &&
            (code = look_at_map(l, threads.at[i], "inheritableThreadLocals", false, true, err)) == HDX_OK &&
            (code = look_at_map(l, threads.at[i], "localValues", true, false, err)) == HDX_OK &&
            (code = look_at_map(l, threads.at[i], "inheritableValues", true, true, err)) == HDX_OK)
            code = hdx_ask_turn(&l->ask, err);
    hdx_graph_near_end(near);
    hdx_ids_drop(&threads);
    return code;
}

/* ---- values one by one ---- */

static hdx_code rows_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    locals          *l = state;
    hdx_code         code = hdx_ask_turn(&l->ask, err);
    const hdx_query *q = &l->ask.q;
    if (code != HDX_OK)
        return code;
    if (l->next == l->found.count)
        return hdx_ask_end(&l->ask, more, err);
    const kept *k = &l->found.at[l->next++];
    for (unsigned i = 0; i < COLUMNS; i++)
        cells[i] = hdx_cell_null();
    cells[ADDRESS] = hdx_id_cell(l->ask.g, k->value);
    cells[CLASS] = hdx_class_of_cell(l->ask.g, k->value);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(l->ask.g, k->value));
    cells[RETAINED] = hdx_retained_cell(l->ask.g, k->value);
    cells[THREAD] = hdx_id_cell(l->ask.g, k->thread);
    cells[INHERITED] = hdx_cell_bool(k->inherited);
    if (hdx_column_wanted(q, NAME))
        code = hdx_label_cell(q, k->thread, arena, &cells[NAME], err);
    if (k->key != HDX_NO_ID) {
        cells[KEY] = hdx_id_cell(l->ask.g, k->key);
        cells[KEY_CLASS] = hdx_class_of_cell(l->ask.g, k->key);
    }
    *more = true;
    return code;
}

/* ---- sums ---- */

typedef enum grouping { BY_CLASS, BY_THREAD, BY_KEY } grouping;

typedef struct sum {
    uint64_t group, threads, values, stale, shallow, retained;
} sum;

static int in_groups(const void *a, const void *b)
{
    const kept *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static int heaviest_first(const void *a, const void *b)
{
    const sum *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static hdx_code group_cells(const locals *l, grouping by, uint64_t group, hdx_arena *arena, hdx_cell *cells,
                            unsigned *n, hdx_error *err)
{
    const hdx_query *q = &l->ask.q;
    if (by == BY_CLASS) {
        cells[(*n)++] = hdx_class_cell(l->ask.g, (uint32_t)group);
        return HDX_OK;
    }
    cells[0] = hdx_id_cell(l->ask.g, group);
    if (by == BY_THREAD) {
        *n = 2;
        return hdx_label_cell(q, group, arena, &cells[1], err);
    }
    *n = 3;
    cells[1] = cells[2] = hdx_cell_null();
    if (group == HDX_NO_ID)
        return HDX_OK;
    cells[1] = hdx_class_of_cell(l->ask.g, group);
    return hdx_held_in_cell(q, group, arena, &cells[2], err);
}

/* A value that several threads have counts once; a thread once for each group. */
static hdx_code sum_up(locals *l, grouping by, hdx_mem *mem, hdx_table *table, hdx_error *err)
{
    HDX_LIST(sum) sums = { NULL, 0, 0 };
    hdx_map       threads = hdx_map_of(mem); /* group's number << 40 ^ thread */
    hdx_code      code = HDX_OK;
    for (uint64_t i = 0; i < l->found.count; i++) {
        kept *k = &l->found.at[i];
        k->group = by == BY_THREAD ? k->thread : by == BY_KEY ? k->key : hdx_graph_class_of(l->ask.g, k->value);
    }
    if (l->found.count > 0)
        qsort(l->found.at, (size_t)l->found.count, sizeof(kept), in_groups);
    for (uint64_t i = 0; code == HDX_OK && i < l->found.count; i++) {
        const kept *k = &l->found.at[i];
        const bool  fresh = i == 0 || k->group != k[-1].group;
        bool        unseen = false;
        if (fresh && !hdx_list_room(mem, HDX_LIST_REF(&sums)))
            code = hdx_no_memory(err, "thread locals", (sums.count + 1) * sizeof(sum));
        else if (fresh)
            sums.at[sums.count++] = (sum){ .group = k->group };
        if (fresh)
            hdx_map_free(&threads);
        if (code == HDX_OK && hdx_map_put(&threads, k->thread, &unseen) == NULL)
            code = hdx_no_memory(err, "thread locals", threads.count * sizeof(hdx_map_slot));
        if (code != HDX_OK)
            break;
        sum *s = &sums.at[sums.count - 1];
        s->threads += unseen;
        s->stale += k->key == HDX_NO_ID;
        if (fresh || k->value != k[-1].value) {
            s->values++;
            s->shallow += hdx_graph_shallow(l->ask.g, k->value);
            s->retained += hdx_graph_retained(l->ask.g, k->value);
        }
        code = hdx_ask_turn(&l->ask, err);
    }
    hdx_map_free(&threads);
    if (sums.count > 0)
        qsort(sums.at, (size_t)sums.count, sizeof(sum), heaviest_first);
    for (uint64_t i = 0; code == HDX_OK && i < sums.count; i++) {
        const sum *s = &sums.at[i];
        hdx_cell   cells[8];
        unsigned   n = 0;
        code = group_cells(l, by, s->group, hdx_table_arena(table), cells, &n, err);
        if (by != BY_THREAD)
            cells[n++] = hdx_cell_uint(s->threads);
        cells[n++] = hdx_cell_uint(s->values);
        cells[n++] = hdx_cell_uint(s->stale);
        cells[n++] = hdx_cell_uint(s->shallow);
        cells[n++] = hdx_cell_uint(s->retained);
        if (code == HDX_OK && (code = hdx_table_add(table, cells, err)) == HDX_OK)
            code = hdx_ask_turn(&l->ask, err);
    }
    hdx_list_free(mem, HDX_LIST_REF(&sums));
    return code;
}

/* ---- asking ---- */

static hdx_code open_sums(locals *l, int by, hdx_rows **out, hdx_error *err)
{
    hdx_table     *table = NULL;
    hdx_mem       *mem = l->ask.q.mem;
    const unsigned count = forms[by].column_count;
    hdx_code       code = hdx_table_in(mem, forms[by].columns, count, &table, err);
    if (code == HDX_OK && (code = sum_up(l, (grouping)by, mem, table, err)) == HDX_OK)
        code = hdx_graph_check(l->ask.g, err);
    locals_close(l);
    if (code == HDX_OK)
        return hdx_table_rows(table, out, err);
    hdx_table_free(table);
    return code;
}

static hdx_code open_thread_locals(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask   ask;
    const int by = hdx_argument_choice(a, "by");
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    locals *l = calloc(1, sizeof *l);
    if (l == NULL)
        return hdx_no_memory(err, "thread locals", sizeof *l);
    l->ask = ask;
    l->seen = hdx_map_of(q->mem);
    code = find(l, err);
    hdx_map_free(&l->seen);
    if (code == HDX_OK)
        code = hdx_graph_check(ask.g, err);
    if (code != HDX_OK) {
        locals_close(l);
        return code;
    }
    if (by >= 0) {
        code = open_sums(l, by, out, err);
    } else {
        hdx_rows_maker maker = { columns, COLUMNS, l, rows_next, locals_close, l->found.count };
        code = hdx_rows_make_in(q->mem, &maker, out, err);
        if (code == HDX_OK && hdx_column_wanted(q, LABEL))
            code = hdx_query_labels(q, false, out, err);
        if (code == HDX_OK && hdx_column_wanted(q, FIELD))
            code = hdx_query_fields(q, out, err);
    }
    return hdx_say_nothing(code, out, err, "%s",
                           hdx_graph_lacks_dump(q->graph) ? "what they are is in the dump, which is not at hand"
                                                          : "no thread has thread locals");
}

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
        .sentence = "values that threads keep for themselves",
        .more = "A row is a value of one thread, with the field that holds its ThreadLocal. --by class, thread or key "
                "sums them over all threads. Where the ThreadLocal was collected its value is left over until the "
                "thread cleans up: key is null, and sums count it as stale.",
        .examples = { "heapdex thread-locals app.hprof --by key",
                      "heapdex thread-locals app.hprof --sort retained --where 'thread_name ~ ^http'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_thread_locals,
};
