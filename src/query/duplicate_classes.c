/*
 * duplicate_classes.c - classes of one name that several class loaders define: the same library in many plugins, or
 * the plugin that was loaded again while its first loader is still there.
 *
 *      classes  instances  shallow  class          loaders
 *            6          6    192 B  gen.Same       Classes$Loader (6)
 *            2      1,204  37.6 KB  app.Settings   AppClassLoader "app", app.PluginLoader "shop-1.2"
 *
 * Arrays are left out: they follow their elements. Retained sizes are those of all classes of the name with their
 * instances together, and take a look at the whole heap (groups.c), so they are computed where they are asked for.
 */
#include "query/questions.h"

#include <inttypes.h>
#include <stdlib.h>

#define NAMED_MOST 3u /* loaders that a line names one by one */

enum { CLASS, CLASSES, LOADERS, INSTANCES, SHALLOW, RETAINED, LOADED_BY, DEFINED, COLUMNS };
static const hdx_column defined_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "the class object"),
    HDX_COLUMN("loader", ADDRESS, NONE, 0, "class loader that defined it; 0x0 is the boot loader"),
    HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "class and name of that loader"),
    HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "live instances of it"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "their own size"),
};
static const hdx_column columns[COLUMNS] = {
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "the name that all of them have"),
    [CLASSES] = HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "live classes of the name"),
    [LOADERS] = HDX_COLUMN("loaders", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "loaders that define them"),
    [INSTANCES] = HDX_COLUMN("instances", UNSIGNED, COUNT, 0, "live instances of all of them"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "their own size, without what they refer to"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "bytes that would be free if all these classes and their instances were gone; null unless "
                            "asked for"),
    [LOADED_BY] = HDX_COLUMN("loaded_by", TEXT, NONE, 0,
                             "the loaders: each with its name, or where there are many, how many of each class"),
    [DEFINED] = HDX_NESTED("defined", LIST, HDX_COLUMN_WIDE, "each of the classes", defined_members),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

typedef struct duplicates {
    hdx_ask           ask;
    const hdx_class **at;              /* by name, then loader */
    hdx_pair         *names;           /* that have several loaders; second: place of the first class */
    uint64_t         *sizes;           /* retained of each name; NULL: not asked for */
    uint64_t          room, all, next; /* classes, names */
    uint64_t          class_count;
} duplicates;

static void duplicates_close(void *state)
{
    duplicates *d = state;
    hdx_mem_put(d->ask.q.mem, d->at, d->room * sizeof *d->at);
    hdx_mem_put(d->ask.q.mem, d->names, d->room * sizeof *d->names);
    hdx_mem_put(d->ask.q.mem, d->sizes, d->all * sizeof *d->sizes);
    free(d);
}

static int compare(hdx_text a, hdx_text b)
{
    const uint32_t n = a.len < b.len ? a.len : b.len;
    const int      c = n == 0 ? 0 : memcmp(a.at, b.at, n);
    return c != 0 ? c : (a.len > b.len) - (a.len < b.len);
}

static int by_name(const void *a, const void *b)
{
    const hdx_class *x = *(const hdx_class *const *)a, *y = *(const hdx_class *const *)b;
    const int        c = compare(x->name, y->name);
    if (c != 0)
        return c;
    if (x->loader != y->loader)
        return x->loader < y->loader ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static uint64_t end_of(const duplicates *d, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < d->class_count && compare(d->at[end]->name, d->at[first]->name) == 0)
        end++;
    return end;
}

static hdx_code find(duplicates *d, hdx_error *err)
{
    uint32_t         count = 0;
    const hdx_class *classes = hdx_graph_classes(d->ask.g, &count);
    hdx_code         code = HDX_OK;
    d->room = count;
    d->at = hdx_mem_array(d->ask.q.mem, count, sizeof *d->at);
    d->names = hdx_mem_array(d->ask.q.mem, count, sizeof *d->names);
    if (d->at == NULL || d->names == NULL)
        return hdx_no_memory(err, "classes", count * sizeof *d->at);
    for (uint32_t i = 0; i < count; i++)
        if (classes[i].kind == HDX_INSTANCE && hdx_graph_live(d->ask.g, classes[i].id))
            d->at[d->class_count++] = &classes[i];
    if (d->class_count > 0)
        qsort(d->at, d->class_count, sizeof *d->at, by_name);
    for (uint64_t i = 0, end; code == HDX_OK && i < d->class_count; i = end) {
        end = end_of(d, i);
        if (d->at[i]->loader != d->at[end - 1]->loader)
            d->names[d->all++] = (hdx_pair){ UINT64_MAX - (end - i), i };
        code = hdx_ask_turn(&d->ask, err);
    }
    hdx_sort_pairs(d->ask.q.mem, d->names, d->all); /* most classes first, then by name */
    return code;
}

static hdx_code retain(duplicates *d, hdx_error *err)
{
    hdx_mem       *mem = d->ask.q.mem;
    const uint64_t room = d->room + 1;
    uint32_t      *at = hdx_mem_array(mem, room, sizeof *at), *set = hdx_mem_array(mem, d->room, sizeof *set);
    hdx_code       code = HDX_OK;
    d->sizes = hdx_mem_array(mem, d->all, sizeof *d->sizes);
    if (at == NULL || set == NULL || d->sizes == NULL)
        code = hdx_no_memory(err, "retained sizes", room * 8);
    for (uint64_t n = 0; code == HDX_OK && n < d->all; n++) /* one set for each class that is in one */
        for (uint64_t i = d->names[n].second, end = end_of(d, i); i < end; i++)
            at[d->at[i]->number + 1] = (uint32_t)n + 1;
    if (code == HDX_OK) {
        uint32_t used = 0;
        for (uint64_t i = 1; i < room; i++) {
            if (at[i] != 0)
                set[used++] = at[i] - 1;
            at[i] = used;
        }
        const hdx_class_sets sets = { .count = (uint32_t)d->all, .classes = (uint32_t)d->room, .at = at, .set = set };
        code = hdx_class_sets_retained(&d->ask.q, &sets, d->sizes, err);
    }
    hdx_mem_put(mem, set, d->room * sizeof *set);
    hdx_mem_put(mem, at, room * sizeof *at);
    return code;
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
        if ((code = hdx_loader_cell(&d->ask.q, c->loader, arena, &m[2].value, err)) == HDX_OK)
            code = hdx_ask_turn(&d->ask, err);
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

/* Class of a loader, as far as the dump has it; the number of the class sorts. */
static uint32_t loader_class(const duplicates *d, hdx_addr loader)
{
    hdx_id id;
    return loader != 0 && hdx_graph_find(d->ask.g, loader, &id) ? hdx_graph_class_of(d->ask.g, id) : HDX_NO_CLASS;
}

/* "app.PluginLoader (12), boot loader (1)": by class, the most first. */
static hdx_code put_counts(duplicates *d, uint64_t first, uint64_t end, hdx_buffer *b, hdx_error *err)
{
    const uint64_t n = end - first;
    hdx_pair      *of = hdx_mem_array(d->ask.q.mem, n, sizeof *of);
    uint64_t       groups = 0;
    if (of == NULL)
        return hdx_no_memory(err, "loaders", n * sizeof *of);
    for (uint64_t i = 0; i < n; i++)
        of[i] = (hdx_pair){ loader_class(d, d->at[first + i]->loader), 0 };
    hdx_sort_pairs(d->ask.q.mem, of, n);
    for (uint64_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && of[j].first == of[i].first; j++)
            ;
        of[groups++] = (hdx_pair){ UINT64_MAX - (j - i), of[i].first };
    }
    hdx_sort_pairs(d->ask.q.mem, of, groups);
    for (uint64_t i = 0; i < groups && i < NAMED_MOST; i++) {
        const hdx_class *c = hdx_graph_class(d->ask.g, (uint32_t)of[i].second);
        put_text(b, c != NULL ? c->name : (hdx_text){ "boot loader", 11 });
        hdx_buffer_format(b, " (%" PRIu64 ")", UINT64_MAX - of[i].first);
    }
    if (groups > NAMED_MOST)
        hdx_buffer_text(b, ", ...");
    hdx_mem_put(d->ask.q.mem, of, n * sizeof *of);
    return HDX_OK;
}

static hdx_code loaded_by_cell(duplicates *d, uint64_t first, uint64_t end, hdx_arena *arena, hdx_cell *out,
                               hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(d->ask.q.mem);
    hdx_code   code = HDX_OK;
    if (end - first > NAMED_MOST)
        code = put_counts(d, first, end, &b, err);
    for (uint64_t i = first; code == HDX_OK && end - first <= NAMED_MOST && i < end; i++) {
        hdx_cell name;
        if ((code = hdx_loader_cell(&d->ask.q, d->at[i]->loader, arena, &name, err)) == HDX_OK)
            put_text(&b, name.as.text);
    }
    if (code == HDX_OK && b.failed)
        code = hdx_no_memory(err, "loaders", b.len);
    if (code == HDX_OK)
        *out = hdx_text_cell(arena, (hdx_text){ b.at, (uint32_t)b.len });
    hdx_buffer_free(&b);
    return code;
}

static hdx_code duplicates_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    duplicates *d = state;
    hdx_code    code = hdx_ask_turn(&d->ask, err);
    if (code != HDX_OK)
        return code;
    if (d->next == d->all)
        return hdx_ask_end(&d->ask, more, err);
    const uint64_t n = d->next++, first = d->names[n].second, end = end_of(d, first);
    uint64_t       loaders = 0, instances = 0, shallow = 0;
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
    cells[RETAINED] = d->sizes == NULL ? hdx_cell_null() : hdx_cell_uint(d->sizes[n]);
    *more = true;
    code = loaded_by_cell(d, first, end, arena, &cells[LOADED_BY], err);
    return code != HDX_OK ? code : defined_cell(d, first, end, arena, &cells[DEFINED], err);
}

static const hdx_parameter parameters[] = {
    { .name = "retained",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "exact retained sizes of the classes of each name (takes longer)" },
};

static hdx_code open_duplicates(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    duplicates *d = calloc(1, sizeof *d);
    if (d == NULL)
        return hdx_no_memory(err, "classes", sizeof *d);
    d->ask = ask;
    if ((code = find(d, err)) == HDX_OK && d->all > 0 &&
        (hdx_argument_flag(a, "retained") || hdx_column_named(q, RETAINED)))
        code = retain(d, err);
    if (code != HDX_OK) {
        duplicates_close(d);
        return code;
    }
    hdx_rows_maker maker = { columns, COLUMNS, d, duplicates_next, duplicates_close, d->all };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    return hdx_say_nothing(code, out, err, "no name has classes of several loaders");
}

const hdx_question hdx_question_duplicate_classes = {
    .declared = {
        .name = "duplicate-classes",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "classes of one name that several class loaders define",
        .more = "Rows are names, most classes first, with the loaders that define them; JSON lists each class. The "
                "column retained is filled with --retained, or where --sort, --where or --columns names it. Arrays "
                "are left out: they follow their elements.",
        .examples = { "heapdex duplicate-classes app.hprof", "heapdex duplicate-classes app.hprof --retained --sort "
                                                             "retained" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_duplicates,
};
