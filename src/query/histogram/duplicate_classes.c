/*
 * duplicate_classes.c - classes with one name that several class loaders define: the same library in many plugins, or
 * a plugin that was loaded again while its first loader still exists.
 *
 *      classes  instances  shallow  class          loaders
 *            6          6    192 B  gen.Same       Classes$Loader (6)
 *            2      1,204  37.6 KB  app.Settings   AppClassLoader "app", app.PluginLoader "shop-1.2"
 *
 * Arrays are omitted: their loader is that of their elements. Retained sizes are those of all classes with one name and
 * their instances together; they read the whole heap (groups.c), so they are computed only if requested.
 */
#include "query/histogram/histogram.h"
#include "query/runtime/loaders.h"
#include "query/common/columns.h"
#include "query/common/listing.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAMED_MOST 3u /* loaders that a row names individually */

enum { CLASS, CLASSES, LOADERS, INSTANCES, SHALLOW, RETAINED, LOADED_BY, DEFINED, COLUMNS };
static const hdx_column defined_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "the class object"),
    HDX_COLUMN("loader", ADDRESS, NONE, 0, "class loader that defined the class; 0x0 is the boot loader"),
    HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class and name of the class loader"),
    HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "live instances of the class"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size of these instances"),
};
static const hdx_column columns[COLUMNS] = {
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class name that the classes share"),
    [CLASSES] = HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "live classes with this name"),
    [LOADERS] = HDX_COLUMN("loaders", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "class loaders that defined them"),
    [INSTANCES] = HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "live instances of all these classes"),
    [SHALLOW] = HDX_SHALLOWS_COLUMN,
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "bytes that would be freed without all these classes and their instances; null unless "
                            "requested"),
    [LOADED_BY] = HDX_COLUMN("loaded_by", TEXT, NONE, 0,
                             "the class loaders by name, or if there are many, the number of loaders of each class"),
    [DEFINED] = HDX_NESTED("defined", LIST, HDX_COLUMN_WIDE, "the classes with this name", defined_members),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

typedef struct shared_name { /* several loaders define a class with this name */
    uint64_t first, end;     /* its classes: indexes into `at` */
} shared_name;

typedef struct duplicates {
    hdx_found         found;
    const hdx_class **at;    /* by name, then loader */
    uint64_t         *sizes; /* retained size of each name, in the order found; NULL: not requested */
    uint64_t          room, class_count;
} duplicates;

static int by_name(const void *a, const void *b)
{
    const hdx_class *x = *(const hdx_class *const *)a, *y = *(const hdx_class *const *)b;
    const int        c = hdx_text_order(x->name, y->name);
    if (c != 0)
        return c;
    if (x->loader != y->loader)
        return x->loader < y->loader ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t end_of(const duplicates *d, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < d->class_count && hdx_text_order(d->at[end]->name, d->at[first]->name) == 0)
        end++;
    return end;
}

/* Sorts by number of classes, largest first, then by name. */
static int most_first(const void *a, const void *b)
{
    const shared_name *x = a, *y = b;
    const uint64_t     m = x->end - x->first, n = y->end - y->first;
    if (m != n)
        return m > n ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static hdx_code find_names(duplicates *d, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(d->found.ask.g, &count);
    hdx_code         code = HDX_OK;
    d->room = count;
    if ((d->at = hdx_mem_array(d->found.ask.q.mem, count, sizeof *d->at)) == NULL)
        return hdx_no_memory(err, "classes", count * sizeof *d->at);
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].kind == HDX_INSTANCE && hdx_graph_live(d->found.ask.g, classes[i].id))
            d->at[d->class_count++] = &classes[i];
    if (d->class_count > 0)
        qsort(d->at, d->class_count, sizeof *d->at, by_name);
    for (uint64_t i = 0, end; code == HDX_OK && i < d->class_count; i = end) {
        const shared_name n = { i, end = end_of(d, i) };
        code = d->at[i]->loader != d->at[end - 1]->loader ? hdx_found_add(&d->found, &n, err)
                                                          : hdx_ask_check_cancel(&d->found.ask, err);
    }
    hdx_found_sort(&d->found, most_first);
    return code;
}

static hdx_code compute_retained(duplicates *d, hdx_error *err)
{
    const shared_name *names = d->found.at;
    hdx_mem           *mem = d->found.ask.q.mem;
    const uint64_t     room = d->room + 1;
    uint32_t          *at = hdx_mem_array(mem, room, sizeof *at), *set = hdx_mem_array(mem, d->room, sizeof *set);
    uint32_t           used = 0;
    d->sizes = hdx_mem_array(mem, d->found.count, sizeof *d->sizes);
    if (at == NULL || set == NULL || d->sizes == NULL)
        return hdx_no_memory(err, "retained sizes", room * 8);
    for (uint64_t n = 0; n < d->found.count; n++) /* one set for each class whose name is duplicated */
        for (uint64_t i = names[n].first; i < names[n].end; i++)
            at[d->at[i]->number + 1] = (uint32_t)n + 1;
    for (uint64_t i = 1; i < room; i++) {
        if (at[i] != 0)
            set[used++] = at[i] - 1;
        at[i] = used;
    }
    const hdx_class_sets sets = {
        .count = (uint32_t)d->found.count, .classes = (uint32_t)d->room, .at = at, .set = set
    };
    return hdx_class_sets_retained(&d->found.ask.q, &sets, d->sizes, err);
}

static hdx_code find_duplicates(void *state, hdx_error *err)
{
    duplicates *d = state;
    const bool  retained =
        hdx_argument_flag(d->found.arguments, "retained") || hdx_column_named(&d->found.ask.q, RETAINED);
    const hdx_code code = find_names(d, err);
    return code == HDX_OK && d->found.count > 0 && retained ? compute_retained(d, err) : code;
}

/* ---- rows ---- */

static hdx_code defined_cell(duplicates *d, uint64_t first, uint64_t end, hdx_arena *arena, hdx_cell *out,
                             hdx_error *err)
{
    hdx_cell *list = hdx_arena_get(arena, (end - first) * sizeof *list);
    hdx_code  code = HDX_OK;
    if (list == NULL)
        return hdx_no_memory(err, "classes of one name", (end - first) * sizeof *list);
    for (uint64_t i = first; code == HDX_OK && i < end; i++) {
        const hdx_class *c = d->at[i];
        hdx_member      *m = hdx_arena_get(arena, 5 * sizeof *m);
        if (m == NULL)
            return hdx_no_memory(err, "classes of one name", 5 * sizeof *m);
        m[0] = (hdx_member){ "address", hdx_cell_address(c->address) };
        m[1] = (hdx_member){ "loader", hdx_cell_address(c->loader) };
        m[2].key = "loader_name";
        m[3] = (hdx_member){ "instances", hdx_cell_uint(c->live_instances) };
        m[4] = (hdx_member){ "shallow", hdx_cell_uint(c->live_bytes) };
        if ((code = hdx_loader_cell(&d->found.ask.q, c->loader, arena, &m[2].value, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&d->found.ask, err);
        list[i - first] = hdx_cell_object(m, 5);
    }
    *out = hdx_cell_list(list, end - first);
    return code;
}

static void put_text(hdx_buffer *b, hdx_text text)
{
    hdx_buffer_text(b, b->len > 0 ? ", " : "");
    hdx_buffer_put(b, text.at, text.len);
}

/* Returns the class number of a loader, if the dump has it; rows are sorted by it. */
static uint32_t loader_class(const duplicates *d, hdx_addr loader)
{
    hdx_id id;
    return loader != 0 && hdx_graph_find(d->found.ask.g, loader, &id) ? hdx_graph_class_of(d->found.ask.g, id)
                                                                      : HDX_NO_CLASS;
}

/* "app.PluginLoader (12), boot loader (1)": counts loaders by class, the most frequent first. */
static hdx_code put_counts(duplicates *d, uint64_t first, uint64_t end, hdx_buffer *b, hdx_error *err)
{
    const uint64_t n = end - first;
    hdx_pair      *of = hdx_mem_array(d->found.ask.q.mem, n, sizeof *of);
    uint64_t       groups = 0;
    if (of == NULL)
        return hdx_no_memory(err, "loaders", n * sizeof *of);
    for (uint64_t i = 0; i < n; i++)
        of[i] = (hdx_pair){ loader_class(d, d->at[first + i]->loader), 0 };
    hdx_sort_pairs(d->found.ask.q.mem, of, n);
    for (uint64_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && of[j].first == of[i].first; j++)
            ;
        of[groups++] = (hdx_pair){ UINT64_MAX - (j - i), of[i].first };
    }
    hdx_sort_pairs(d->found.ask.q.mem, of, groups);
    for (uint64_t i = 0; i < groups && i < NAMED_MOST; i++) {
        const hdx_class *c = hdx_graph_class(d->found.ask.g, (uint32_t)of[i].second);
        put_text(b, c != NULL ? c->name : (hdx_text){ "boot loader", 11 });
        hdx_buffer_format(b, " (%" PRIu64 ")", UINT64_MAX - of[i].first);
    }
    if (groups > NAMED_MOST)
        hdx_buffer_text(b, ", ...");
    hdx_mem_put(d->found.ask.q.mem, of, n * sizeof *of);
    return HDX_OK;
}

static hdx_code loaded_by_cell(duplicates *d, uint64_t first, uint64_t end, hdx_arena *arena, hdx_cell *out,
                               hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(d->found.ask.q.mem);
    hdx_code   code = HDX_OK;
    if (end - first > NAMED_MOST)
        code = put_counts(d, first, end, &b, err);
    for (uint64_t i = first; code == HDX_OK && end - first <= NAMED_MOST && i < end; i++) {
        hdx_cell name;
        if ((code = hdx_loader_cell(&d->found.ask.q, d->at[i]->loader, arena, &name, err)) == HDX_OK)
            put_text(&b, name.as.text);
    }
    if (code == HDX_OK && b.failed)
        code = hdx_no_memory(err, "loaders", b.len);
    if (code == HDX_OK)
        *out = hdx_text_cell(arena, (hdx_text){ b.at, (uint32_t)b.len });
    hdx_buffer_free(&b);
    return code;
}

static hdx_code duplicate_cells(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    duplicates        *d = state;
    const shared_name *n = entry;
    const uint64_t     first = n->first, end = n->end;
    uint64_t           loaders = 0, instances = 0, shallow = 0;
    for (uint64_t i = first; i < end; i++) {
        loaders += i == first || d->at[i]->loader != d->at[i - 1]->loader;
        instances += d->at[i]->live_instances;
        shallow += d->at[i]->live_bytes;
    }
    cells[CLASS] = hdx_cell_text(d->at[first]->name);
    cells[CLASSES] = hdx_cell_uint(end - first);
    cells[LOADERS] = hdx_cell_uint(loaders);
    cells[INSTANCES] = hdx_cell_uint(instances);
    cells[SHALLOW] = hdx_cell_uint(shallow);
    if (d->sizes != NULL)
        cells[RETAINED] = hdx_cell_uint(d->sizes[n - (const shared_name *)d->found.at]);
    const hdx_code code = loaded_by_cell(d, first, end, arena, &cells[LOADED_BY], err);
    return code != HDX_OK ? code : defined_cell(d, first, end, arena, &cells[DEFINED], err);
}

static const char *no_duplicates(const void *state)
{
    (void)state;
    return "no class name is defined by several class loaders";
}

static const hdx_listing listing = { .what = "classes",
                                     .state = sizeof(duplicates),
                                     .entry = sizeof(shared_name),
                                     .forms = &form,
                                     .find = find_duplicates,
                                     .cells = duplicate_cells,
                                     .nothing = no_duplicates };

static const hdx_parameter parameters[] = {
    { .name = "retained",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "fill the column retained: exact retained sizes of the classes of each name (takes longer)" },
};

const hdx_question hdx_question_duplicate_classes = {
    .declared = {
        .name = "duplicate-classes",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "classes with the same name from several class loaders",
        .more = "Each row is a class name with the class loaders that define it, names with most classes first; JSON "
                "lists each class. The column retained is filled with --retained, or if --sort, --where or --columns "
                "names it. Array classes are omitted because they follow their element classes.",
        .examples = { "heapdex duplicate-classes app.hprof", "heapdex duplicate-classes app.hprof --retained --sort "
                                                             "retained" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .listing = &listing,
};
