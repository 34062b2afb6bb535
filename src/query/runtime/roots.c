/*
 * roots.c - GC roots and the locals of threads, by object, or summed by type.
 *
 * An object has a row for each distinct type and thread. A local is not a root itself but a reference of its thread
 * (MAT 4.2), and is listed with that thread. Only independent roots have an empty thread. On Android a row names the
 * heap of the object: ART writes a root (VM_INTERNAL) for every object of zygote and image, and the heap distinguishes
 * these from the app's roots.
 */
#include "query/runtime/threads.h"
#include "query/common/columns.h"
#include "query/common/found.h"
#include "query/common/grouped.h"

#include <stdlib.h>

#define TYPE HDX_COLUMN("type", TEXT, NONE, 0, "type of GC root, such as SYSTEM_CLASS or THREAD_OBJ")
#define DESCRIPTION                                                                                                    \
    HDX_COLUMN("description", TEXT, NONE, HDX_COLUMN_WIDE | HDX_COLUMN_FEW,                                            \
               "the type in words, such as 'a running thread'")
#define THREAD                                                                                                         \
    HDX_COLUMN("thread", ADDRESS, NONE, HDX_COLUMN_NULLABLE,                                                           \
               "thread whose frame holds the object; null for other roots")
#define HEAP                                                                                                           \
    HDX_COLUMN("heap", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL,                                          \
               "heap that contains the object; only in Android dumps with heaps")
#define LABEL 2u
static const hdx_column columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object that the root holds"),
    HDX_CLASS_COLUMN(0),
    HDX_LABEL_COLUMN,
    TYPE,
    THREAD,
    DESCRIPTION,
    HEAP,
};
static const hdx_column table_columns[] = { HDX_COLUMN("address", ADDRESS, NONE, 0, "object that the root holds"), TYPE,
                                            THREAD, HEAP };
static const hdx_column type_columns[] = {
    TYPE,
    DESCRIPTION,
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "distinct objects that roots of this type hold"),
    HDX_COLUMN("roots", UNSIGNED, COUNT, 0, "roots of this type; a local counts once per thread"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size of these objects"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "sum of the retained sizes of these objects"),
};
static const hdx_form forms[] = {
    { "by", "type", type_columns, HDX_COUNT(type_columns) },
    { NULL, NULL, columns, HDX_COUNT(columns) },
};
static const hdx_form table_form = { NULL, NULL, table_columns, HDX_COUNT(table_columns) };

typedef struct root_rows {
    hdx_ask               ask;
    hdx_root             *at;
    uint64_t              count, next, capacity;
    bool                  labels; /* all columns; false: the export table */
    const hdx_heap_space *heaps;
    uint64_t              heap_count; /* 0: no column for them */
} root_rows;

static hdx_cell description_cell(hdx_root_type type)
{
    const char *name = hdx_root_type_name(type);
    return hdx_cell_string(hdx_root_type_description(name, strlen(name)));
}

static int in_order(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->thread + 1 > y->thread + 1) - (x->thread + 1 < y->thread + 1); /* HDX_NO_ID first */
}

static void roots_close(void *state)
{
    root_rows *r = state;
    hdx_mem_put(r->ask.q.mem, r->at, r->capacity * sizeof *r->at);
    free(r);
}

static hdx_code roots_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    root_rows *r = state;
    unsigned   n = 0;
    hdx_code   code = hdx_ask_check_cancel(&r->ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (r->next == r->count)
        return hdx_ask_end(&r->ask, more, err);
    const hdx_root *root = &r->at[r->next++];
    cells[n++] = hdx_id_cell(r->ask.g, root->object);
    if (r->labels) {
        cells[n++] = hdx_class_of_cell(r->ask.g, root->object);
        cells[n++] = hdx_cell_null();
    }
    cells[n++] = hdx_cell_string(hdx_root_type_name(root->type));
    cells[n++] = hdx_id_cell(r->ask.g, root->thread);
    if (r->labels)
        cells[n++] = description_cell(root->type);
    if (r->heap_count > 0) {
        const int heap = hdx_graph_heap(r->ask.g, root->object);
        cells[n++] = heap < 0 || (uint64_t)heap >= r->heap_count ? hdx_cell_null() : hdx_cell_text(r->heaps[heap].name);
    }
    *more = true;
    return HDX_OK;
}

/* Copies the roots, sorted, each distinct one once. */
static hdx_code load_roots(const hdx_ask *ask, root_rows *r, hdx_error *err)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(ask->g, &count);
    if (roots == NULL)
        count = 0;
    if ((r->at = hdx_mem_array(ask->q.mem, count, sizeof *r->at)) == NULL)
        return hdx_no_memory(err, "roots", count * sizeof *r->at);
    r->capacity = count;
    if (count > 0) {
        memcpy(r->at, roots, count * sizeof *roots);
        qsort(r->at, count, sizeof *r->at, in_order);
    }
    for (uint64_t i = 0; i < count; i++)
        if (r->count == 0 || in_order(&r->at[i], &r->at[r->count - 1]) != 0)
            r->at[r->count++] = r->at[i];
    return hdx_graph_check(ask->g, err);
}

static hdx_code each(const hdx_ask *ask, bool labels, hdx_rows **out, hdx_error *err)
{
    root_rows *r = calloc(1, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "roots", sizeof *r);
    r->ask = *ask;
    r->labels = labels;
    r->heaps = hdx_graph_heaps(ask->g, &r->heap_count);
    hdx_code code = load_roots(ask, r, err);
    if (code != HDX_OK) {
        roots_close(r);
        return code;
    }
    hdx_rows_maker maker = { labels ? columns : table_columns,
                             (labels ? HDX_COUNT(columns) : HDX_COUNT(table_columns)) - (r->heap_count == 0),
                             r,
                             roots_next,
                             roots_close,
                             r->count };
    code = hdx_rows_make_in(ask->q.mem, &maker, out, err);
    return code != HDX_OK || !labels || !hdx_column_wanted(&ask->q, LABEL) ? code
                                                                           : hdx_query_labels(&ask->q, false, out, err);
}

typedef struct counted {
    const hdx_root *root;
    uint64_t        shallow, retained;
} counted;

HDX_ENTRY_NUMBER(type_of, counted, root->type)
HDX_ENTRY_NUMBER(object_of, counted, root->object)
HDX_ENTRY_NUMBER(shallow_of, counted, shallow)
HDX_ENTRY_NUMBER(retained_of, counted, retained)

static hdx_code type_cells(const hdx_ask *ask, uint64_t type, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    (void)ask;
    (void)arena;
    (void)err;
    cells[0] = hdx_cell_string(hdx_root_type_name((hdx_root_type)type));
    cells[1] = description_cell((hdx_root_type)type);
    return HDX_OK;
}

/* Objects are distinct per type; an object with two types counts in both rows. */
static const hdx_sum sums[] = {
    { .once = object_of },
    { 0 },
    { .value = shallow_of, .once = object_of },
    { .value = retained_of, .once = object_of },
};
static const hdx_grouping of_type = {
    .key = type_of, .key_cells = type_cells, .keys = 2, .sums = sums, .sum_count = HDX_COUNT(sums)
};

static hdx_code by_type(const hdx_ask *ask, hdx_rows **out, hdx_error *err)
{
    hdx_grouped g = hdx_grouped_of(&of_type, ask, "roots");
    root_rows   r = { .labels = true };
    hdx_code    code = load_roots(ask, &r, err);
    for (uint64_t i = 0; code == HDX_OK && i < r.count; i++) {
        const hdx_id  object = r.at[i].object;
        const counted at = { &r.at[i], hdx_graph_shallow(ask->g, object), hdx_graph_retained(ask->g, object) };
        if ((unsigned)r.at[i].type < HDX_ROOT_TYPES)
            code = hdx_grouped_add(&g, &at, err);
    }
    hdx_mem_put(ask->q.mem, r.at, r.capacity * sizeof *r.at);
    if (code == HDX_OK)
        code = hdx_grouped_rows(&g, &forms[0], out, err);
    hdx_grouped_drop(&g);
    return code;
}

hdx_code hdx_query_roots(const hdx_query *q, hdx_by by, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    if (by != HDX_BY_NONE && by != HDX_BY_OBJECT && by != HDX_BY_TYPE)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "root keys are object and type");
    code = by == HDX_BY_TYPE ? by_type(&ask, out, err) : each(&ask, true, out, err);
    return hdx_rows_explain_empty(code, out, err, "the dump has no GC roots");
}

static hdx_code open_table(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    (void)a;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    return code == HDX_OK ? each(&ask, false, out, err) : code;
}

static hdx_code open_roots(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    return hdx_query_roots(q, hdx_argument_choice(a, "by") == 0 ? HDX_BY_TYPE : HDX_BY_NONE, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "type",
      .sentence = "one row per type of root" },
};

const hdx_question hdx_question_roots = {
    .declared = {
        .name = "roots",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "GC roots, one row per object and type; locals include their thread",
        .more = "--by type counts roots by type.",
        .examples = { "heapdex roots app.hprof --by type", "heapdex roots app.hprof --where 'type = THREAD_OBJ'" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_roots,
};

const hdx_question hdx_table_of_roots = {
    .declared = {
        .name = "roots", .flags = HDX_ANSWER_HEAP,
        .sentence = "GC roots, one row per object, type and thread; locals include their thread",
        .more = "",
        .forms = &table_form,
        .form_count = 1,
    },
    .open = open_table,
};
