/*
 * collections.c - collections of the whole heap: fill ratio of each, sums by class or holder; keys of maps
 * (map_keys.c).
 *
 * Objects are processed in windows: those whose class has a layout are collected in id order, threads examine pieces of
 * them in dump order, and rows or sums are made of the results, in id order again. So only records of collections and
 * those that their sizes need are read, and memory is limited to one window. Collections that need many steps (a queue
 * without a size, a long table) are examined after the others, one by one, with a common limit of steps.
 */
#include "query/common/labels.h"
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/common/grouped.h"
#include "query/common/sweep.h"
#include "query/common/contents.h"

#include "base/bits.h"
#include "graph/graph.h"
#include "model/model.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW     32768u
#define PIECE      512u
#define FEW_STEPS  2048u /* for one collection in a thread */
#define ARRAY_READ 4096u

enum { ADDRESS, CLASS, KIND, SIZE, CAPACITY, USED, FILL, COLLISIONS, WASTE, SHALLOW, RETAINED, BACKING, NOTE, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "address of the collection"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_SPARE, "list, map, set, queue or array"),
    [SIZE] = HDX_COLUMN("size", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "elements, or entries of a map; null if unknown"),
    [CAPACITY] = HDX_COLUMN("capacity", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                            "capacity of its array in elements, entries or buckets; null without an array"),
    [USED] = HDX_COLUMN("used", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                        "slots or buckets in use; null if another collection stores the elements"),
    [FILL] = HDX_COLUMN("fill", REAL, NONE, HDX_COLUMN_NULLABLE, "size divided by capacity; null without a capacity"),
    [COLLISIONS] = HDX_COLUMN("collisions", REAL, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                              "share of entries that are not the first in their bucket; null without buckets"),
    [WASTE] = HDX_COLUMN("waste", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                         "bytes of empty slots in its array; null if another collection stores the elements"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE,
                           "shallow size of the collection, without its array and elements"),
    [RETAINED] = HDX_RETAINED_IF_LIVE_COLUMN(0),
    [BACKING] = HDX_COLUMN("backing", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                           "collection that stores the elements, as the HashMap of a HashSet; null if it stores them "
                           "itself"),
    [NOTE] = HDX_COLUMN("note", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                        "why the size is unknown: unknown layout, values absent, damaged, too many steps"),
};

#define SUMS                                                                                                           \
    HDX_COLUMN("collections", UNSIGNED, COUNT, 0, "number of collections"),                                            \
        HDX_COLUMN("empty", UNSIGNED, COUNT, 0, "collections without elements"),                                       \
        HDX_COLUMN("single", UNSIGNED, COUNT, 0, "collections with one element"),                                      \
        HDX_COLUMN("size", UNSIGNED, COUNT, 0, "total number of elements or entries"),                                 \
        HDX_COLUMN("capacity", UNSIGNED, COUNT, 0, "total capacity of their arrays"),                                  \
        HDX_COLUMN("waste", UNSIGNED, BYTES, 0, "bytes of empty slots in their arrays"),                               \
        HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size, without arrays and elements"),                  \
        HDX_COLUMN("unknown", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "collections of unknown size")
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the collections"),
    SUMS,
};
static const hdx_column holder_columns[] = {
    HDX_COLUMN("holder", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "CLASS.FIELD on the shortest path from a root that holds them, directly or through other objects"),
    SUMS,
};
static const hdx_column key_columns[HDX_MAP_KEY_COLUMNS] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "the key, or the first of several keys with the same class and label"),
    HDX_CLASS_COLUMN(0),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
               "label of the key, such as its text or number"),
    HDX_COLUMN("maps", UNSIGNED, COUNT, 0, "maps that contain the key"),
    HDX_COLUMN("keys", UNSIGNED, COUNT, 0, "distinct key objects"),
};
static const hdx_column total_members[] = {
    HDX_COLUMN("collections", UNSIGNED, COUNT, 0, "collections in all rows"),
    HDX_COLUMN("waste", UNSIGNED, BYTES, 0, "bytes of empty slots in their arrays"),
    HDX_COLUMN("unknown", UNSIGNED, COUNT, 0, "collections of unknown size"),
};
static const hdx_column document[] = { HDX_NESTED(
    "total", OBJECT, HDX_COLUMN_OPTIONAL,
    "totals over all rows, before conditions and limit are applied; only with --by", total_members) };

static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { "by", "holder", holder_columns, HDX_COUNT(holder_columns) },
    { NULL, NULL, columns, COLUMNS },
};

/* ---- collecting ---- */

typedef struct found {
    hdx_id               id;
    hdx_pos              at;
    uint64_t             holder; /* hdx_collection_holder */
    bool                 later;  /* needs more than FEW_STEPS */
    hdx_collection_facts facts;
} found;

typedef enum grouping { BY_NONE, BY_CLASS, BY_HOLDER, BY_KEY } grouping;

typedef struct survey {
    hdx_ask           ask;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    uint8_t          *wanted; /* by class number */
    uint32_t          classes;
    bool              arrays, scan;
    grouping          by;
    int               kind; /* -1: all */
    uint64_t          least, most;
    hdx_id            at, end; /* next object to examine */
    found            *window;
    uint64_t          count, given; /* in the window */
    unsigned          workers;
    hdx_contents     *readers; /* one per worker */
    hdx_ids          *keys;    /* keys of maps, found by each worker in this window */
    uint64_t          steps;   /* left for collections that need many */
    uint64_t          unknown; /* collections whose size is unknown because they have no layout */
    hdx_map           maps;    /* id of a key -> number of maps with that key */
} survey;

/* Fills the window with the next collections. */
static hdx_code fill_window(survey *s, hdx_error *err)
{
    uint32_t classes[HDX_RUN];
    uint64_t live[HDX_RUN / 64];
    hdx_code code = HDX_OK;
    s->count = s->given = 0;
    while (code == HDX_OK && s->at < s->end && s->count + HDX_RUN <= WINDOW) {
        const uint32_t n = (uint32_t)(s->end - s->at < HDX_RUN ? s->end - s->at : HDX_RUN);
        hdx_graph_read_classes(s->ask.g, s->at, n, classes);
        hdx_graph_read_live(s->ask.g, s->at, n, live);
        for (uint32_t i = 0; i < n; i++) {
            if (classes[i] >= s->classes || !s->wanted[classes[i]])
                continue;
            if (s->ask.q.scope != HDX_ALL && (live[i / 64] >> (i % 64) & 1) != (s->ask.q.scope == HDX_LIVE))
                continue;
            if (hdx_graph_kind(s->ask.g, s->at + i) == HDX_CLASS_OBJECT)
                continue;
            s->window[s->count] = (found){ .id = s->at + i };
            s->count++;
        }
        s->at += n;
        code = hdx_ask_stopped(&s->ask.q, err);
    }
    return code;
}

/* ---- examining ---- */

/* Counts the elements of an object array that are not null. */
static hdx_code array_facts(survey *s, hdx_id id, hdx_collection_facts *f, hdx_error *err)
{
    hdx_graph     *g = s->ask.g;
    const uint32_t id_size = hdx_graph_summary_of(g)->id_size;
    uint8_t        bytes[ARRAY_READ];
    const uint64_t length = hdx_graph_length(g, id);
    uint64_t       used = 0, got = 0;
    hdx_error      mine;
    *f = (hdx_collection_facts){ .backing = HDX_NO_ID, .arrays = true, .capacity = length };
    for (uint64_t i = 0; i < length; i += got / id_size) {
        const uint64_t left = (length - i) * id_size;
        hdx_code       code =
            hdx_graph_record_bytes(g, id, i * id_size, bytes, left < sizeof bytes ? left : sizeof bytes, &got, &mine);
        if (code != HDX_OK && (code = hdx_label_allow_missing_dump(g, code, &mine, err)) != HDX_OK)
            return code;
        if (got < id_size) {
            f->note = HDX_NOTE_ABSENT;
            return HDX_OK;
        }
        for (uint64_t k = 0; k + id_size <= got; k += id_size)
            used += hdx_graph_value_of(g, 2, bytes + k).as.address != 0;
    }
    f->sized = f->scanned = true;
    f->size = f->used = used;
    f->waste = (length - used) * hdx_graph_summary_of(g)->reference_size;
    return HDX_OK;
}

static int by_place(const void *a, const void *b)
{
    const found *x = *(const found *const *)a, *y = *(const found *const *)b;
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->id > y->id) - (x->id < y->id);
}

/* Collects the keys of a map that is not a wrapper; those of a wrapper are in the map inside. */
static hdx_code keys_of(survey *s, hdx_contents *c, const found *f, hdx_ids *keys, hdx_error *err)
{
    hdx_entry_walk w;
    hdx_entry      e;
    hdx_id         id;
    bool           more = false;
    const bool     sized = f->facts.sized && f->facts.size > 0 && f->facts.size <= s->most;
    if (!sized || f->facts.backing != HDX_NO_ID || f->facts.layout == NULL ||
        f->facts.layout->kind != HDX_COLLECTION_MAP) /* NULL: a damaged index has no class */
        return HDX_OK;
    hdx_code code = hdx_entry_walk_begin(&w, c, f->id, 4 * f->facts.size + FEW_STEPS, err);
    while (code == HDX_OK && (code = hdx_entry_walk_next(&w, &e, &more, err)) == HDX_OK && more)
        if (e.has_key && e.key.type == 2 && e.key.as.address != 0 && hdx_graph_find(s->ask.g, e.key.as.address, &id))
            code = hdx_ids_push(keys, id, err);
    hdx_entry_walk_end(&w);
    return code;
}

static hdx_code examine(survey *s, unsigned worker, found *f, hdx_error *err)
{
    hdx_contents *c = &s->readers[worker];
    hdx_code      code = s->arrays ? array_facts(s, f->id, &f->facts, err)
                                   : hdx_contents_facts(c, f->id, s->scan, FEW_STEPS, &f->facts, err);
    f->later = !s->arrays && f->facts.note == HDX_NOTE_LONG;
    if (code == HDX_OK && s->by == BY_HOLDER)
        code = hdx_collection_holder(s->ask.g, &s->bound, f->id, &f->holder, err);
    if (code == HDX_OK && s->by == BY_KEY && !f->later)
        code = keys_of(s, c, f, &s->keys[worker], err);
    return code;
}

static hdx_code examine_piece(void *context, uint64_t from, uint64_t end, unsigned worker, hdx_error *err)
{
    survey  *s = context;
    found   *order[PIECE];
    hdx_code code = HDX_OK;
    for (uint64_t i = from; i < end; i++) {
        order[i - from] = &s->window[i];
        (void)hdx_graph_position(s->ask.g, s->window[i].id, &s->window[i].at);
    }
    qsort(order, end - from, sizeof *order, by_place);
    for (uint64_t i = 0; code == HDX_OK && i < end - from; i++)
        code = examine(s, worker, order[i], err);
    return code;
}

/* Fills the window and examines it; count 0: no further collections. */
static hdx_code next_window(survey *s, hdx_error *err)
{
    hdx_code code = fill_window(s, err);
    if (code != HDX_OK || s->count == 0)
        return code;
    const hdx_sweep_range window = {
        .count = s->count, .piece = PIECE, .workers = s->count > 2 * PIECE ? s->workers : 1, .near = true
    };
    if ((code = hdx_sweep(&s->ask.q, &window, examine_piece, s, err)) != HDX_OK)
        return code;
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++) {
        found *f = &s->window[i];
        if (f->later) {
            code = hdx_contents_facts(&s->readers[0], f->id, s->scan, s->steps, &f->facts, err);
            s->steps -= s->readers[0].steps < s->steps ? s->readers[0].steps : s->steps;
            if (code == HDX_OK)
                code = hdx_ask_stopped(&s->ask.q, err);
        }
        s->unknown += f->facts.note == HDX_NOTE_UNKNOWN;
    }
    return code;
}

static bool in_bounds(const survey *s, const found *f)
{
    if (s->least == 0 && s->most == UINT64_MAX)
        return true;
    return f->facts.sized && f->facts.size >= s->least && f->facts.size <= s->most;
}

/* ---- rows ---- */

static hdx_code report_unknown(const survey *s)
{
    char line[160];
    if (s->unknown == 0 || s->ask.q.notice == NULL)
        return HDX_OK;
    (void)snprintf(line, sizeof line,
                   "%" PRIu64 " collections have an unknown layout (--by class --where 'unknown > 0')", s->unknown);
    s->ask.q.notice(s->ask.q.notice_context, line);
    return HDX_OK;
}

static hdx_code collections_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    survey *s = state;
    found  *f;
    (void)arena;
    hdx_code code = hdx_ask_check_cancel(&s->ask, err);
    if (code != HDX_OK)
        return code;
    do {
        if (s->given == s->count && (code = next_window(s, err)) != HDX_OK)
            return code;
        if (s->count == 0) {
            (void)report_unknown(s);
            return hdx_ask_end(&s->ask, more, err);
        }
        f = &s->window[s->given++];
    } while (!in_bounds(s, f));
    const hdx_collection_facts *c = &f->facts;
    const char *kind = s->arrays ? "array" : hdx_collection_kind_name(c->layout == NULL ? 0 : c->layout->kind);
    for (unsigned i = 0; i < COLUMNS; i++)
        cells[i] = hdx_cell_null();
    cells[ADDRESS] = hdx_id_cell(s->ask.g, f->id);
    cells[CLASS] = hdx_class_of_cell(s->ask.g, f->id);
    cells[KIND] = hdx_cell_string(kind);
    if (c->sized)
        cells[SIZE] = hdx_cell_uint(c->size);
    if (c->arrays)
        cells[CAPACITY] = hdx_cell_uint(c->capacity);
    if (c->scanned) {
        cells[USED] = hdx_cell_uint(c->used);
        cells[WASTE] = hdx_cell_uint(c->waste);
    }
    if (c->sized && c->arrays && c->capacity > 0)
        cells[FILL] = hdx_cell_real((double)c->size / (double)c->capacity);
    if (c->sized && c->scanned && c->hashed)
        cells[COLLISIONS] =
            hdx_cell_real(c->size == 0 || c->size < c->used ? 0 : (double)(c->size - c->used) / (double)c->size);
    if (hdx_column_wanted(&s->ask.q, SHALLOW))
        cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(s->ask.g, f->id));
    if (hdx_column_wanted(&s->ask.q, RETAINED))
        cells[RETAINED] = hdx_retained_cell(s->ask.g, f->id);
    cells[BACKING] = hdx_id_cell(s->ask.g, c->backing);
    cells[NOTE] = hdx_cell_string(hdx_collection_note_name(c->note));
    *more = true;
    return HDX_OK;
}

/* ---- sums ---- */

typedef struct counted {
    uint64_t                    key, shallow;
    const hdx_collection_facts *facts;
} counted;

static uint64_t key_of(const void *entry) { return ((const counted *)entry)->key; }
static uint64_t shallow_of(const void *entry) { return ((const counted *)entry)->shallow; }
static uint64_t waste_of(const void *entry) { return ((const counted *)entry)->facts->waste; }
static bool     is_unknown(const void *entry) { return !((const counted *)entry)->facts->sized; }

static uint64_t size_of(const void *entry)
{
    const hdx_collection_facts *f = ((const counted *)entry)->facts;
    return f->sized ? f->size : 0;
}

/* If the elements are in another collection, they count there. */
static uint64_t capacity_of(const void *entry)
{
    const hdx_collection_facts *f = ((const counted *)entry)->facts;
    return f->arrays && f->backing == HDX_NO_ID ? f->capacity : 0;
}

static bool is_empty(const void *entry) { return !is_unknown(entry) && size_of(entry) == 0; }
static bool has_one(const void *entry) { return !is_unknown(entry) && size_of(entry) == 1; }

static hdx_code holder_cells(const hdx_ask *ask, uint64_t holder, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    return hdx_collection_holder_cell(ask->g, holder, arena, &cells[0], err);
}

enum { COLLECTIONS_SUM = 1, WASTE_SUM = 6, UNKNOWN_SUM = 8 };
static const hdx_sum      sums[] = { { 0 },
                                     { .only = is_empty },
                                     { .only = has_one },
                                     { .value = size_of },
                                     { .value = capacity_of },
                                     { .value = waste_of },
                                     { .value = shallow_of },
                                     { .only = is_unknown } };
static const hdx_grouping groupings[] = {
    { key_of, hdx_class_key_cells, 1, HDX_COUNT(sums), sums, WASTE_SUM, COLLECTIONS_SUM },
    { key_of, holder_cells, 1, HDX_COUNT(sums), sums, WASTE_SUM, COLLECTIONS_SUM },
};

static hdx_code sum_by(survey *s, hdx_grouped *g, hdx_error *err)
{
    hdx_code code;
    do {
        code = next_window(s, err);
        for (uint64_t i = 0; code == HDX_OK && i < s->count; i++) {
            const found  *f = &s->window[i];
            const counted at = { s->by == BY_HOLDER ? f->holder : hdx_graph_class_of(s->ask.g, f->id),
                                 hdx_graph_shallow(s->ask.g, f->id), &f->facts };
            if (in_bounds(s, f))
                code = hdx_grouped_add(g, &at, err);
        }
    } while (code == HDX_OK && s->count > 0);
    return code;
}

static hdx_code sum_rows(survey *s, int by, hdx_rows **out, hdx_error *err)
{
    hdx_grouped    g = hdx_grouped_of(&groupings[by], &s->ask, "sums of collections");
    const unsigned wanted[] = { COLLECTIONS_SUM, WASTE_SUM, UNKNOWN_SUM };
    hdx_code       code = sum_by(s, &g, err);
    if (code == HDX_OK && (code = hdx_grouped_rows(&g, &forms[by], out, err)) == HDX_OK) {
        uint64_t numbers[HDX_COUNT(wanted)];
        for (unsigned i = 0; i < HDX_COUNT(wanted); i++)
            numbers[i] = hdx_grouped_total(&g, wanted[i]);
        code = hdx_extras_add_numbers(code, out, "total", total_members, HDX_COUNT(wanted), numbers, err);
        (void)report_unknown(s);
    }
    return code;
}

/* ---- keys of maps ---- */

#define AHEAD 8u /* keys whose map slots are prefetched */

/* Counts, in s->maps, the maps that have each key. */
static hdx_code count_keys(survey *s, hdx_error *err)
{
    for (unsigned w = 0; w < s->workers; w++) {
        for (uint64_t i = 0; i < s->keys[w].count; i++) {
            hdx_map_ahead(&s->maps, s->keys[w].at[hdx_least(i + AHEAD, s->keys[w].count - 1)]);
            uint64_t *maps = hdx_map_put(&s->maps, s->keys[w].at[i], NULL);
            if (maps == NULL)
                return hdx_no_memory(err, "keys of maps", s->maps.count * sizeof(hdx_map_slot));
            ++*maps;
        }
        s->keys[w].count = 0;
    }
    return HDX_OK;
}

static hdx_code key_rows(survey *s, hdx_rows **out, hdx_error *err)
{
    hdx_code code;
    while ((code = next_window(s, err)) == HDX_OK && s->count > 0)
        if ((code = count_keys(s, err)) != HDX_OK)
            break;
    return code == HDX_OK ? hdx_map_keys_rows(&s->ask, &s->maps, key_columns, out, err) : code;
}

/* ---- opening ---- */

/* Selects the classes: those with a layout that is not a view, of the requested kind and name. */
static hdx_code select_classes(survey *s, const hdx_arguments *a, hdx_error *err)
{
    const char      *pattern = hdx_argument_text(a, "class");
    const hdx_class *classes = hdx_graph_classes(s->ask.g, &s->classes);
    uint32_t        *numbers = NULL;
    size_t           count = 0;
    hdx_code         code = HDX_OK;
    if ((s->wanted = hdx_mem_get(s->ask.q.mem, s->classes)) == NULL)
        return hdx_no_memory(err, "classes of collections", s->classes);
    if (pattern != NULL)
        code = hdx_query_classes_named(&s->ask.q, pattern, hdx_argument_flag(a, "subclasses"), &numbers, &count, err);
    for (size_t i = 0; i < count; i++)
        s->wanted[numbers[i]] = 1;
    for (uint32_t c = 0; code == HDX_OK && c < s->classes; c++) {
        const hdx_layout *l = s->bound.of[c].layout;
        const bool        named = pattern == NULL || s->wanted[c];
        s->wanted[c] = named && (s->arrays ? classes[c].kind == HDX_OBJECT_ARRAY
                                           : l != NULL && !l->hidden && (s->kind < 0 || (int)l->kind == s->kind));
    }
    hdx_numbers_free(numbers);
    return code;
}

static hdx_code open_survey(survey *s, const hdx_arguments *a, hdx_error *err)
{
    hdx_mem *mem = s->ask.q.mem;
    hdx_code code = hdx_layouts_open(&s->layouts, hdx_argument_text(a, "layouts"), s->ask.q.progress, mem, err);
    if (code != HDX_OK || (code = hdx_layouts_bind(&s->layouts, &s->ask, &s->bound, err)) != HDX_OK ||
        (s->by != BY_KEY && !s->arrays && (code = hdx_collections_like(&s->ask, &s->bound, err)) != HDX_OK) ||
        (code = select_classes(s, a, err)) != HDX_OK)
        return code;
    s->end = hdx_graph_objects(s->ask.g);
    s->steps = hdx_contents_steps(s->ask.g);
    s->window = hdx_mem_array(mem, WINDOW, sizeof *s->window);
    s->workers = hdx_ask_threads(&s->ask.q);
    s->readers = hdx_mem_array(mem, s->workers, sizeof *s->readers);
    s->keys = hdx_mem_array(mem, s->workers, sizeof *s->keys);
    if (s->window == NULL || s->readers == NULL || s->keys == NULL)
        return hdx_no_memory(err, "collections", WINDOW * sizeof *s->window);
    for (unsigned i = 0; i < s->workers; i++)
        s->keys[i] = hdx_ids_of(mem);
    for (unsigned i = 0; code == HDX_OK && i < s->workers; i++)
        code = hdx_contents_open(&s->readers[i], s->ask.g, &s->bound, mem, err);
    return code;
}

/* NULL: refused, or out of memory. */
static survey *survey_new(const hdx_query *q, hdx_error *err)
{
    hdx_ask ask;
    survey *s = NULL;
    if (hdx_ask_begin(q, &ask, err) != HDX_OK)
        return NULL;
    if ((s = hdx_mem_get(q->mem, sizeof *s)) == NULL) {
        (void)hdx_no_memory(err, "collections", sizeof *s);
        return NULL;
    }
    s->ask = ask;
    s->maps = hdx_map_of(q->mem);
    s->layouts.mem = q->mem;
    return s;
}

static hdx_code open_collections(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    static const grouping keys[] = { BY_CLASS, BY_HOLDER };
    hdx_error             mine;
    survey               *s = survey_new(q, err = err == NULL ? &mine : err);
    *out = NULL;
    if (s == NULL)
        return err->code;
    const int by = hdx_argument_choice(a, "by");
    s->by = by < 0 ? BY_NONE : keys[by];
    s->arrays = hdx_argument_flag(a, "arrays");
    s->kind = hdx_argument_choice(a, "kind");
    s->least = hdx_argument_number(a, "min-size");
    s->most = hdx_argument_text(a, "max-size") == NULL ? UINT64_MAX : hdx_argument_number(a, "max-size");
    s->scan = s->by != BY_NONE || hdx_column_wanted(q, USED) || hdx_column_wanted(q, COLLISIONS) ||
              hdx_column_wanted(q, WASTE);
    hdx_code code = open_survey(s, a, err);
    if (code == HDX_OK && s->by != BY_NONE)
        code = sum_rows(s, by, out, err);
    if (code != HDX_OK || s->by != BY_NONE)
        return hdx_rows_explain_empty(code, out, err, "no collections found");
    hdx_rows_maker maker = { columns, COLUMNS, s, collections_next, NULL, 0 };
    if ((code = hdx_rows_make_in(q->mem, &maker, out, err)) == HDX_OK)
        hdx_rows_set_wanted(*out, q->wanted.columns);
    return hdx_rows_explain_empty(code, out, err, "no collections found");
}

static hdx_code open_keys(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_error mine;
    survey   *s = survey_new(q, err = err == NULL ? &mine : err);
    *out = NULL;
    if (s == NULL)
        return err->code;
    s->by = BY_KEY;
    s->kind = HDX_COLLECTION_MAP;
    s->most = hdx_argument_number(a, "max-size");
    hdx_code code = open_survey(s, a, err);
    if (code == HDX_OK)
        code = key_rows(s, out, err);
    return hdx_rows_explain_empty(code, out, err, "no key is in more than one map");
}

#define SUBCLASSES                                                                                                     \
    {                                                                                                                  \
        .name = "subclasses", .kind = HDX_PARAMETER_FLAG, .needs = "class", .sentence = "include subclasses"           \
    }
#define LAYOUTS(without)                                                                                               \
    {                                                                                                                  \
        .name = "layouts", .kind = HDX_PARAMETER_FILE, .value = "FILE", .excludes = without,                           \
        .sentence = "table of further layouts: where classes store size and elements"                                  \
    }
static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class holder",
      .sentence = "totals by class or by the field that holds the collections" },
    HDX_PARAMETER_OF_CLASS(0, "only collections of these classes"),
    SUBCLASSES,
    { .name = "kind",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KIND",
      .choices = "list map set queue",
      .excludes = "arrays",
      .sentence = "only collections of this kind" },
    { .name = "min-size",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .sentence = "only collections with at least N elements" },
    { .name = "max-size",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .sentence = "only collections with at most N elements" },
    { .name = "arrays",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "object arrays instead of collections: how many elements are not null" },
    LAYOUTS("arrays"),
};

const hdx_question hdx_question_collections = {
    .declared = {
        .name = "collections",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "size, capacity and waste of collections, one by one or by class or holder",
        .more = "Known are collections of Java, Android, Kotlin, Scala, Clojure, Guava, commons-collections, "
                "fastutil, Eclipse Collections, HPPC, Trove, Agrona, vavr, Netty and Graal, and caches of Caffeine, "
                "Guava, Ehcache, Infinispan, Spring and Hibernate; FILE adds others. Collections with an unknown "
                "layout are counted without a size: classes that extend a collection, or that have the name of one "
                "and refer to arrays, nodes or collections. A HashSet stores its elements in a HashMap, which has its "
                "own row; waste is counted there only, so totals never count a byte twice.",
        .examples = { "heapdex collections app.hprof --by class", "heapdex collections app.hprof --by holder "
                                                                  "--max-size 0" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .order = "waste",
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_collections,
};

static const hdx_parameter key_parameters[] = {
    { .name = "max-size",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "64",
      .least = 1,
      .most = UINT32_MAX,
      .sentence = "only maps with at most N entries; 64 by default" },
    HDX_PARAMETER_OF_CLASS(0, "only maps of these classes"),
    SUBCLASSES,
    LAYOUTS(NULL),
};
static const hdx_form key_form = { NULL, NULL, key_columns, HDX_COUNT(key_columns) };

const hdx_question hdx_question_map_keys = {
    .declared = {
        .name = "map-keys",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "keys that many small maps have in common",
        .more = "A key that occurs in thousands of small maps suggests that a class with fields should replace the "
                "maps. Keys with the same class and label, such as equal texts, share a row; keys in a single map are "
                "omitted.",
        .examples = { "heapdex map-keys app.hprof --limit 10", "heapdex map-keys app.hprof --max-size 8 --where "
                                                               "'maps > 1000'" },
        .forms = &key_form,
        .form_count = 1,
        .parameters = key_parameters,
        .parameter_count = HDX_COUNT(key_parameters),
    },
    .open = open_keys,
};
