/*
 * biggest_arrays.c - arrays of objects and of primitive types, the largest first, with the field that holds each.
 *
 * In:  class and size of every object in scope.
 * Out: a row per array, or with --by class their sums; only arrays of a minimum size, so that the list is a small part
 *      of the heap.
 * Cost: the columns class and size of all objects, on all workers; 48 bytes for each array that is large enough.
 */
#include "query/common/columns.h"
#include "query/common/listing.h"
#include "query/common/sweep.h"

#include <pthread.h>
#include <stdio.h>

#define LEAST "1K" /* default minimum size of an array */

enum { ADDRESS, CLASS, LABEL, LENGTH, SHALLOW, RETAINED, FIELD, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "address of the array"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_LABEL_COLUMN,
    [LENGTH] = HDX_COLUMN("length", UNSIGNED, COUNT, 0, "number of elements"),
    [SHALLOW] = HDX_SHALLOW_COLUMN(0),
    [RETAINED] = HDX_RETAINED_IF_LIVE_COLUMN(0),
    [FIELD] = HDX_COLUMN("field", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME | HDX_COLUMN_LATE,
                         "CLASS#FIELD that holds the array, directly or through collections"),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the arrays"),
    HDX_COLUMN("arrays", UNSIGNED, COUNT, 0, "arrays of the minimum size or larger"),
    HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "total number of elements"),
    HDX_SHALLOWS_COLUMN,
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0,
               "sum of their retained sizes; bytes that several of them retain count repeatedly"),
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, columns, COLUMNS },
};

typedef struct array {
    hdx_id   id;
    uint64_t length, shallow, retained;
    uint32_t class;
} array;

typedef struct arrays {
    hdx_found       found;
    uint64_t        least; /* bytes */
    pthread_mutex_t lock;  /* of `found` */
} arrays;

static hdx_code array_add(arrays *a, hdx_id id, uint32_t class, uint64_t shallow, hdx_error *err)
{
    hdx_graph  *g = a->found.ask.g;
    const array at = { id, hdx_graph_length(g, id), shallow, hdx_graph_retained(g, id), class };
    (void)pthread_mutex_lock(&a->lock);
    const hdx_code code = hdx_found_add(&a->found, &at, err);
    (void)pthread_mutex_unlock(&a->lock);
    return code;
}

static hdx_code scan_run(void *of, hdx_id from, hdx_id to, unsigned worker, hdx_error *err)
{
    arrays          *a = of;
    hdx_graph       *g = a->found.ask.g;
    const uint32_t   n = (uint32_t)(to - from);
    uint32_t         classes[HDX_RUN], count;
    uint64_t         sizes[HDX_RUN];
    hdx_code         code = HDX_OK;
    const hdx_class *all = hdx_graph_classes(g, &count);
    (void)worker;
    hdx_graph_read_classes(g, from, n, classes);
    hdx_graph_read_shallow(g, from, n, sizes);
    for (uint32_t i = 0; code == HDX_OK && i < n; i++)
        if (sizes[i] >= a->least && classes[i] < count && all[classes[i]].kind != HDX_INSTANCE &&
            hdx_ask_wants(&a->found.ask, from + i))
            code = array_add(a, from + i, classes[i], sizes[i], err);
    return code;
}

static hdx_code arrays_find(void *of, hdx_error *err)
{
    arrays               *a = of;
    const hdx_query      *q = &a->found.ask.q;
    const hdx_sweep_range objects = { .count = hdx_graph_objects(a->found.ask.g),
                                      .piece = HDX_RUN,
                                      .workers = hdx_ask_threads(q) };
    a->least = hdx_argument_number(a->found.arguments, "least");
    (void)pthread_mutex_init(&a->lock, NULL);
    const hdx_code code = hdx_sweep(q, &objects, scan_run, a, err);
    (void)pthread_mutex_destroy(&a->lock);
    return code;
}

static int largest_first(const void *a, const void *b)
{
    const array *x = a, *y = b;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static hdx_code arrays_cells(void *of, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    const array *at = entry;
    hdx_graph   *g = ((arrays *)of)->found.ask.g;
    (void)arena;
    (void)err;
    cells[ADDRESS] = hdx_id_cell(g, at->id);
    cells[CLASS] = hdx_class_cell(g, at->class);
    cells[LENGTH] = hdx_cell_uint(at->length);
    cells[SHALLOW] = hdx_cell_uint(at->shallow);
    cells[RETAINED] = hdx_retained_cell(g, at->id);
    return HDX_OK;
}

static const char *no_arrays(const void *of)
{
    (void)of;
    return "no array is large enough; --least sets the minimum size";
}

HDX_ENTRY_NUMBER(class_of, array, class)
HDX_ENTRY_NUMBER(length_of, array, length)
HDX_ENTRY_NUMBER(shallow_of, array, shallow)
HDX_ENTRY_NUMBER(retained_of, array, retained)

static const hdx_sum      sums[] = { { 0 }, { .value = length_of }, { .value = shallow_of }, { .value = retained_of } };
static const hdx_grouping groupings[] = {
    { .key = class_of, .key_cells = hdx_class_key_cells, .keys = 1, .sums = sums, .sum_count = 4, .most = 3 },
};

static const hdx_listing listing = { .what = "arrays",
                                     .state = sizeof(arrays),
                                     .entry = sizeof(array),
                                     .forms = forms,
                                     .groupings = groupings,
                                     .label = LABEL,
                                     .field = FIELD,
                                     .find = arrays_find,
                                     .order = largest_first,
                                     .cells = arrays_cells,
                                     .nothing = no_arrays };

static const hdx_parameter parameters[] = {
    { .name = "least",
      .kind = HDX_PARAMETER_SIZE,
      .value = "SIZE",
      .preset = LEAST,
      .sentence = "minimum size of an array; " LEAST " by default" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class",
      .sentence = "one row per class of the arrays" },
};

const hdx_question hdx_question_biggest_arrays = {
    .declared = {
        .name = "biggest-arrays",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "arrays by size, with the fields that hold them",
        .more = "Each row is an array of objects or of a primitive type, the largest first, with its retained size "
                "and the field that holds it, directly or through collections. --by class sums by class. The question "
                "arrays reports waste in arrays.",
        .examples = { "heapdex biggest-arrays app.hprof --limit 10",
                      "heapdex biggest-arrays app.hprof --least 1M --by class" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
