/*
 * histogram.c - objects and bytes by class, package, loader, superclass, heap or origin.
 *
 * Counts come from the table of classes, so the cost of an answer does not depend on the size of the heap; only
 * --retained (groups.c) and a heap of an Android dump together with a class pattern read objects. A table of classes
 * without a graph (counts.h) is enough. Class objects count as instances of java.lang.Class in it (MAT 5.2).
 */
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "query/common/origin.h"
#include "query/histogram/histogram.h"
#include "query/runtime/loaders.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdlib.h>

#define NO_LINE   UINT32_MAX
#define PAIRS_MAX (1u << 26) /* pairs of class and superclass; only an artificial chain of classes comes near */

typedef struct line {
    hdx_text name;   /* class, package or heap */
    uint32_t number; /* class, or HDX_NO_CLASS */
    hdx_addr loader;
    uint64_t classes, objects, shallow, retained;
    bool     twin; /* another class has the same name */
    bool     many; /* its classes have several loaders */
} line;

typedef struct histogram {
    hdx_ask          ask; /* g NULL: only the classes are known */
    hdx_by           by;
    bool             has_retained;
    bool             fold;  /* classes created at run time share a line */
    hdx_arena        names; /* names of such lines */
    hdx_origins      origins;
    const hdx_class *classes;
    uint32_t         class_count;
    uint32_t        *chosen; /* class numbers */
    size_t           chosen_count;
    line            *lines;
    uint64_t         count, capacity, at;
    uint64_t         whole;   /* bytes of all objects in scope */
    uint32_t        *line_of; /* index in `chosen` -> line; not for superclasses */
} histogram;

static void histogram_close(void *state)
{
    histogram *h = state;
    hdx_mem_put(h->ask.q.mem, h->lines, h->capacity * sizeof *h->lines);
    hdx_mem_put(h->ask.q.mem, h->line_of, h->chosen_count * sizeof *h->line_of);
    hdx_numbers_free(h->chosen);
    hdx_arena_free(&h->names);
    free(h);
}

static void in_scope(const histogram *h, const hdx_class *c, uint64_t *objects, uint64_t *bytes)
{
    bool live = h->ask.q.scope == HDX_LIVE, all = h->ask.q.scope == HDX_ALL;
    *objects = live ? c->live_instances : all ? c->instances : c->instances - c->live_instances;
    *bytes = live ? c->live_bytes : all ? c->bytes : c->bytes - c->live_bytes;
}

static hdx_code add_line(histogram *h, const line *l, hdx_error *err)
{
    if (!hdx_mem_room(h->ask.q.mem, (void **)&h->lines, &h->capacity, h->count, sizeof *h->lines))
        return hdx_no_memory(err, "a histogram", h->count * sizeof *h->lines);
    h->lines[h->count++] = *l;
    return HDX_OK;
}

/* ---- grouping ---- */

typedef struct keyed {
    hdx_text text;
    uint64_t number;
    uint32_t place; /* index in `chosen` */
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int          d = hdx_text_order(x->text, y->text);
    if (d != 0)
        return d;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

#define FOLDED UINT64_MAX /* number of such a key; no class has it */

/* Sets the shared name of a class that was created at run time as its key. */
static hdx_code fold_class(histogram *h, hdx_text name, hdx_buffer *shared, keyed *key, hdx_error *err)
{
    if (!hdx_hidden_name(name, shared))
        return HDX_OK;
    const char *copy = shared->failed ? NULL : hdx_arena_copy(&h->names, shared->at, shared->len);
    if (copy == NULL)
        return hdx_no_memory(err, "a histogram", name.len);
    key->text = (hdx_text){ copy, (uint32_t)shared->len };
    key->number = FOLDED;
    return HDX_OK;
}

static hdx_text text_of(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

/* Combines classes with equal keys into one line. By class, every class has its own key unless it is folded. */
static hdx_code group_by_key(histogram *h, hdx_error *err)
{
    hdx_code   code = HDX_OK;
    hdx_buffer shared = hdx_buffer_of(h->ask.q.mem);
    keyed     *keys = hdx_mem_array(h->ask.q.mem, h->chosen_count, sizeof *keys);
    if (keys == NULL)
        return hdx_no_memory(err, "a histogram", h->chosen_count * sizeof *keys);
    for (uint32_t i = 0; code == HDX_OK && i < h->chosen_count; i++) {
        const hdx_class *c = &h->classes[h->chosen[i]];
        keys[i] = (keyed){ { "", 0 }, 0, i };
        if (h->by == HDX_BY_PACKAGE)
            keys[i].text = hdx_package_of(c->name);
        else if (h->by == HDX_BY_ORIGIN)
            keys[i].number = hdx_origin_of(&h->origins, c);
        else
            keys[i].number = h->by == HDX_BY_LOADER ? c->loader : c->number;
        if (h->fold)
            code = fold_class(h, c->name, &shared, &keys[i], err);
    }
    hdx_buffer_free(&shared);
    if (code == HDX_OK)
        qsort(keys, h->chosen_count, sizeof *keys, by_key);
    for (uint32_t i = 0; code == HDX_OK && i < h->chosen_count; i++) {
        const hdx_class *c = &h->classes[h->chosen[keys[i].place]];
        uint64_t         objects, bytes;
        if (i == 0 || keys[i].number != keys[i - 1].number || hdx_text_order(keys[i].text, keys[i - 1].text) != 0) {
            line l = { .name = h->by == HDX_BY_PACKAGE || keys[i].number == FOLDED ? keys[i].text
                               : h->by == HDX_BY_ORIGIN ? text_of(hdx_origin_name((hdx_origin)keys[i].number))
                                                        : c->name,
                       .number = c->number,
                       .loader = c->loader };
            if ((code = add_line(h, &l, err)) != HDX_OK)
                break;
        }
        in_scope(h, c, &objects, &bytes);
        h->lines[h->count - 1].objects += objects;
        h->lines[h->count - 1].shallow += bytes;
        h->lines[h->count - 1].classes += objects > 0;
        h->lines[h->count - 1].many |= c->loader != h->lines[h->count - 1].loader;
        h->line_of[keys[i].place] = (uint32_t)(h->count - 1);
    }
    hdx_mem_put(h->ask.q.mem, keys, h->chosen_count * sizeof *keys);
    return code;
}

typedef struct sums {
    uint64_t objects, shallow, classes;
    uint32_t subclasses; /* direct subclasses that are not added yet */
} sums;

/*
 * Sums each class with all its subclasses: leaves first, each added to its superclass once. Classes that were not
 * chosen have no line.
 */
static hdx_code cumulate(histogram *h, hdx_error *err)
{
    uint64_t  head = 0, tail = 0, n = h->class_count;
    hdx_code  code = HDX_OK;
    sums     *sum = hdx_mem_array(h->ask.q.mem, n, sizeof *sum);
    uint32_t *order = hdx_mem_array(h->ask.q.mem, n, sizeof *order);
    if (sum == NULL || order == NULL)
        code = hdx_no_memory(err, "a histogram", n * sizeof *sum);
    for (uint32_t i = 0; code == HDX_OK && i < n; i++) {
        in_scope(h, &h->classes[i], &sum[i].objects, &sum[i].shallow);
        sum[i].classes = sum[i].objects > 0;
        if (h->classes[i].super < n)
            sum[h->classes[i].super].subclasses++;
    }
    for (uint32_t i = 0; code == HDX_OK && i < n; i++)
        if (sum[i].subclasses == 0)
            order[tail++] = i;
    for (; code == HDX_OK && head < tail; head++) {
        const sums *below = &sum[order[head]];
        uint32_t    super = h->classes[order[head]].super;
        if (super >= n)
            continue;
        sum[super].objects += below->objects;
        sum[super].shallow += below->shallow;
        sum[super].classes += below->classes;
        if (--sum[super].subclasses == 0 && tail < n)
            order[tail++] = super;
    }
    for (size_t i = 0; code == HDX_OK && i < h->chosen_count; i++) {
        const hdx_class *c = &h->classes[h->chosen[i]];
        const sums      *s = &sum[h->chosen[i]];
        line             l = { .name = c->name,
                               .number = c->number,
                               .loader = c->loader,
                               .classes = s->classes,
                               .objects = s->objects,
                               .shallow = s->shallow };
        h->line_of[i] = (uint32_t)h->count;
        code = add_line(h, &l, err);
    }
    hdx_mem_put(h->ask.q.mem, order, n * sizeof *order);
    hdx_mem_put(h->ask.q.mem, sum, n * sizeof *sum);
    return code;
}

static hdx_code by_heap(histogram *h, const char *pattern, hdx_error *err)
{
    uint64_t              count = 0;
    const hdx_heap_space *heaps = hdx_graph_heaps(h->ask.g, &count);
    hdx_refs_scope        scope = h->ask.q.scope;
    hdx_code              code = HDX_OK;
    for (uint64_t i = 0; heaps != NULL && code == HDX_OK && i < count; i++) {
        line l = { .name = heaps[i].name, .number = HDX_NO_CLASS };
        if (pattern == NULL) {
            l.objects = scope == HDX_LIVE  ? heaps[i].live_objects
                        : scope == HDX_ALL ? heaps[i].objects
                                           : heaps[i].objects - heaps[i].live_objects;
            l.shallow = scope == HDX_LIVE  ? heaps[i].live_bytes
                        : scope == HDX_ALL ? heaps[i].bytes
                                           : heaps[i].bytes - heaps[i].live_bytes;
        }
        code = add_line(h, &l, err);
    }
    for (size_t i = 0; pattern != NULL && code == HDX_OK && i < h->chosen_count; i++) {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_instances(h->ask.g, h->chosen[i], scope, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            int heap = hdx_graph_heap(h->ask.g, id);
            if (heap >= 0 && (uint64_t)heap < h->count) {
                h->lines[heap].objects++;
                h->lines[heap].shallow += hdx_graph_shallow(h->ask.g, id);
            }
            code = hdx_ask_check_cancel(&h->ask, err);
        }
    }
    return code;
}

/* ---- retained ---- */

/*
 * The sets of a class are its lines: one, or for superclasses its own and those of all chosen superclasses. Loaders
 * belong to their own line.
 */
static hdx_code compute_retained(histogram *h, hdx_error *err)
{
    uint64_t  total = 0, pairs = 0, room = h->class_count + 1ull;
    hdx_code  code = HDX_OK;
    uint32_t *at = hdx_mem_array(h->ask.q.mem, room, sizeof *at),
             *line_of = hdx_mem_array(h->ask.q.mem, room, sizeof *line_of), *set = NULL, *more_set = NULL;
    hdx_id   *more = NULL;
    uint64_t *bytes = hdx_mem_array(h->ask.q.mem, h->count, sizeof *bytes);
    if (at == NULL || line_of == NULL || bytes == NULL) {
        code = hdx_no_memory(err, "retained sets", room * sizeof *at);
        goto out;
    }
    for (size_t i = 0; i < h->chosen_count; i++)
        line_of[h->chosen[i]] = h->line_of[i] == NO_LINE ? 0 : h->line_of[i] + 1;
    for (int fill = 0; fill < 2; fill++) { /* count, then fill */
        total = 0;
        for (uint32_t i = 0; i < h->class_count; i++) {
            uint32_t steps = 0;
            at[i] = (uint32_t)total;
            for (uint32_t c = i; c < h->class_count && steps++ < h->class_count;
                 c = h->by == HDX_BY_SUPERCLASS ? h->classes[c].super : HDX_NO_CLASS)
                if (line_of[c] != 0) {
                    if (fill)
                        set[total] = line_of[c] - 1;
                    if (++total > PAIRS_MAX) {
                        code = hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than %u pairs of class and superclass",
                                        PAIRS_MAX);
                        goto out;
                    }
                }
        }
        at[h->class_count] = (uint32_t)total;
        pairs = total;
        if (!fill && (set = hdx_mem_array(h->ask.q.mem, pairs, sizeof *set)) == NULL) {
            code = hdx_no_memory(err, "retained sets", total * sizeof *set);
            goto out;
        }
    }
    hdx_class_sets sets = { .count = (uint32_t)h->count, .classes = h->class_count, .at = at, .set = set };
    if (h->by == HDX_BY_LOADER) {
        more = hdx_mem_array(h->ask.q.mem, h->count, sizeof *more);
        more_set = hdx_mem_array(h->ask.q.mem, h->count, sizeof *more_set);
        if (more == NULL || more_set == NULL) {
            code = hdx_no_memory(err, "retained sets", h->count * sizeof *more);
            goto out;
        }
        for (uint32_t i = 0; i < h->count; i++)
            if (hdx_graph_find(h->ask.g, h->lines[i].loader, &more[sets.more_count]))
                more_set[sets.more_count++] = i;
        sets.more = more;
        sets.more_set = more_set;
    }
    if ((code = hdx_class_sets_retained(&h->ask.q, &sets, bytes, err)) == HDX_OK)
        for (uint64_t i = 0; i < h->count; i++)
            h->lines[i].retained = bytes[i];
out:
    hdx_mem_put(h->ask.q.mem, more_set, h->count * sizeof *more_set);
    hdx_mem_put(h->ask.q.mem, more, h->count * sizeof *more);
    hdx_mem_put(h->ask.q.mem, set, pairs * sizeof *set);
    hdx_mem_put(h->ask.q.mem, bytes, h->count * sizeof *bytes);
    hdx_mem_put(h->ask.q.mem, line_of, room * sizeof *line_of);
    hdx_mem_put(h->ask.q.mem, at, room * sizeof *at);
    return code;
}

/*
 * Sets retained sizes from an earlier answer; false: some are missing. A size below the line's own or above the heap's
 * is not plausible and counts as missing.
 */
static bool use_saved(histogram *h, const uint64_t *saved)
{
    const uint64_t most = hdx_graph_summary_of(h->ask.g)->live_bytes;
    for (uint64_t i = 0; i < h->count; i++) {
        const line *l = &h->lines[i];
        if (saved[l->number] > most || (h->ask.q.scope == HDX_LIVE && saved[l->number] < l->shallow))
            return false;
        h->lines[i].retained = saved[l->number];
    }
    return true;
}

/*
 * With a pattern, a package or loader contains only the chosen classes. Such results are not saved, because they are
 * rarely requested again; those by class do not depend on the pattern. Those by origin are few.
 */
static hdx_code retained_or_saved(histogram *h, const char *pattern, bool recompute, hdx_error *err)
{
    if (h->fold || h->by == HDX_BY_ORIGIN || (pattern != NULL && h->by != HDX_BY_CLASS))
        return compute_retained(h, err);
    uint64_t *saved = hdx_saved_retained(h->ask.q.mem, h->ask.g, h->by, h->class_count);
    if (saved == NULL)
        return hdx_no_memory(err, "retained sizes", 8ull * h->class_count);
    hdx_code code = HDX_OK;
    if (recompute || !use_saved(h, saved)) {
        code = compute_retained(h, err);
        for (uint64_t i = 0; code == HDX_OK && i < h->count; i++)
            saved[h->lines[i].number] = h->lines[i].retained;
        if (code == HDX_OK && !recompute && h->count > 0 && (code = hdx_graph_check(h->ask.g, err)) == HDX_OK)
            hdx_save_retained(h->ask.q.mem, h->ask.g, h->by, saved, h->class_count);
    }
    hdx_mem_put(h->ask.q.mem, saved, 8ull * h->class_count);
    return code;
}

/* ---- rows ---- */

#define PERCENT                                                                                                        \
    HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SPARE,                                                             \
               "share of the heap: of shallow sizes, or of retained ones with --retained")
#define NUMBERS(of, sum)                                                                                               \
    HDX_COLUMN("objects", UNSIGNED, COUNT, sum, "objects of " of), HDX_SHALLOWS_COLUMN,                                \
        HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,                                                   \
                   "bytes that would be freed without " of "; null unless requested"),                                 \
        PERCENT
#define ORIGIN(sentence) HDX_ORIGIN_COLUMN(HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, sentence)
#define OF_CLASS(of, sum)                                                                                              \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME, "name of the class"),                                       \
        HDX_COLUMN("loader", ADDRESS, NONE, HDX_COLUMN_WIDE,                                                           \
                   "class loader that defined the class; 0x0 is the boot loader"),                                     \
        NUMBERS(of, sum),                                                                                              \
        HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,                             \
                   "class and name of the class loader if several classes have this name, else null"),                 \
        ORIGIN("origin of the class: application, platform, generated or array; null: needs an index")
static const hdx_column class_columns[] = { OF_CLASS("the class", HDX_COLUMN_SUM) };
static const hdx_column folded_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_CLASS_NAME,
               "name of the class, or the pattern that all classes of the row match"),
    HDX_COLUMN("loader", ADDRESS, NONE, HDX_COLUMN_WIDE | HDX_COLUMN_NULLABLE,
               "class loader that defined the class; 0x0 is the boot loader; null if there are several"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "classes of the row that have objects"),
    NUMBERS("the classes", HDX_COLUMN_SUM),
    HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class and name of the class loader if several classes have this name, else null"),
    ORIGIN("origin of the classes: application, platform, generated or array; null: needs an index"),
};
static const hdx_column superclass_columns[] = { OF_CLASS("the class and its subclasses", 0) };
static const hdx_column package_columns[] = {
    HDX_COLUMN("package", TEXT, NONE, 0, "name of the package; arrays belong to the package of their elements"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "classes of the package that have objects"),
    NUMBERS("the package", HDX_COLUMN_SUM),
};
static const hdx_column loader_columns[] = {
    HDX_COLUMN("loader", ADDRESS, NONE, 0, "the class loader; 0x0 is the boot loader"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
               "class of the class loader; null if no object of the dump has its address"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "classes with objects that it defined"),
    NUMBERS("classes of the class loader", HDX_COLUMN_SUM),
    HDX_COLUMN("loader_name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class and name of the class loader; null without an index"),
};
static const hdx_column origin_columns[] = {
    HDX_ORIGIN_COLUMN(0, "origin of the classes: application, platform, generated (at run time) or array"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "classes of this origin that have objects"),
    NUMBERS("the classes", HDX_COLUMN_SUM),
};
static const hdx_column heap_columns[] = {
    HDX_COLUMN("heap", TEXT, NONE, 0, "heap of an Android dump: app, zygote, image"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "objects in the heap"),
    HDX_SHALLOWS_COLUMN,
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
               "always null: retained sizes of heaps are not computed"),
    PERCENT,
};
static const hdx_column total_members[] = {
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects in all rows"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, 0, "total shallow size of these objects"),
};
static const hdx_column document[] = { HDX_NESTED(
    "total", OBJECT, HDX_COLUMN_OPTIONAL,
    "totals over all rows, before conditions and limit are applied; not with --by superclass", total_members) };
static const hdx_form   forms[] = {
      { "by", "superclass", superclass_columns, HDX_COUNT(superclass_columns) },
      { "by", "package", package_columns, HDX_COUNT(package_columns) },
      { "by", "loader", loader_columns, HDX_COUNT(loader_columns) },
      { "by", "heap", heap_columns, HDX_COUNT(heap_columns) },
      { "by", "origin", origin_columns, HDX_COUNT(origin_columns) },
      { "hidden", "fold", folded_columns, HDX_COUNT(folded_columns) },
      { NULL, NULL, class_columns, HDX_COUNT(class_columns) },
};

static int by_name(const void *a, const void *b)
{
    return hdx_text_order(((const line *)a)->name, ((const line *)b)->name);
}

static int by_shallow(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    int d = hdx_text_order(x->name, y->name);
    if (d != 0)
        return d;
    return (x->loader > y->loader) - (x->loader < y->loader);
}

static hdx_code histogram_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    histogram *h = state;
    hdx_code   code;
    if (h->at == h->count && h->ask.g == NULL) {
        *more = false;
        return HDX_OK;
    }
    if (h->at == h->count)
        return hdx_ask_end(&h->ask, more, err);
    const line      *l = &h->lines[h->at++];
    unsigned         n = 0;
    hdx_id           loader;
    bool             named = false;   /* its loader */
    const hdx_class *of_class = NULL; /* the first class of a line of classes */
    switch (h->by) {
    case HDX_BY_ORIGIN:
    case HDX_BY_PACKAGE:
        cells[n++] = hdx_cell_text(l->name);
        cells[n++] = hdx_cell_uint(l->classes);
        break;
    case HDX_BY_LOADER:
        cells[n++] = hdx_cell_address(l->loader);
        cells[n++] = h->ask.g != NULL && hdx_graph_find(h->ask.g, l->loader, &loader)
                         ? hdx_class_of_cell(h->ask.g, loader)
                         : hdx_cell_null();
        cells[n++] = hdx_cell_uint(l->classes);
        named = true;
        break;
    case HDX_BY_HEAP: cells[n++] = hdx_cell_text(l->name); break;
    default:
        of_class = &h->classes[l->number];
        cells[n++] = hdx_cell_text(l->name);
        cells[n++] = l->many ? hdx_cell_null() : hdx_cell_address(l->loader);
        if (h->fold)
            cells[n++] = hdx_cell_uint(l->classes);
        named = l->twin && !l->many;
        break;
    }
    const uint64_t bytes = h->has_retained ? l->retained : l->shallow;
    cells[n++] = hdx_cell_uint(l->objects);
    cells[n++] = hdx_cell_uint(l->shallow);
    cells[n++] = h->has_retained ? hdx_cell_uint(l->retained) : hdx_cell_null();
    cells[n++] = hdx_cell_real(h->whole == 0 ? 0 : 100.0 * (double)bytes / (double)h->whole);
    if (named && h->ask.g != NULL && hdx_column_wanted(&h->ask.q, n) &&
        (code = hdx_loader_cell(&h->ask.q, l->loader, arena, &cells[n], err)) != HDX_OK)
        return code;
    if (of_class != NULL && hdx_origin_known(&h->origins, of_class))
        cells[n + 1] = hdx_cell_string(hdx_origin_name(hdx_origin_of(&h->origins, of_class)));
    *more = true;
    return HDX_OK;
}

/* Drops lines without objects before retained sets are computed, because most classes of a dump have none. */
static hdx_code drop_empty(histogram *h, hdx_error *err)
{
    uint64_t  left = 0, lines = h->count;
    uint32_t *moved = hdx_mem_array(h->ask.q.mem, lines, sizeof *moved);
    if (moved == NULL)
        return hdx_no_memory(err, "a histogram", lines * sizeof *moved);
    for (uint64_t i = 0; i < lines; i++) {
        moved[i] = h->lines[i].objects > 0 ? (uint32_t)left : NO_LINE;
        if (h->lines[i].objects > 0)
            h->lines[left++] = h->lines[i];
    }
    for (size_t i = 0; i < h->chosen_count; i++)
        h->line_of[i] = moved[h->line_of[i]];
    h->count = left;
    hdx_mem_put(h->ask.q.mem, moved, lines * sizeof *moved);
    return HDX_OK;
}

static hdx_code choose_classes(histogram *h, const char *pattern, hdx_error *err)
{
    if (pattern != NULL)
        return h->ask.g == NULL ? hdx_classes_named(h->classes, h->class_count, pattern, false, NULL, h->ask.q.mem,
                                                    &h->chosen, &h->chosen_count, err)
                                : hdx_query_classes_named(&h->ask.q, pattern, false, &h->chosen, &h->chosen_count, err);
    if ((h->chosen = hdx_listed_get(h->ask.q.mem, h->class_count, sizeof *h->chosen)) == NULL)
        return hdx_no_memory(err, "a histogram", h->class_count * sizeof *h->chosen);
    for (uint32_t i = 0; i < h->class_count; i++)
        h->chosen[h->chosen_count++] = i;
    return HDX_OK;
}

static hdx_code fill_lines(histogram *h, const char *pattern, bool retained, bool recompute, hdx_error *err)
{
    hdx_code code = choose_classes(h, pattern, err);
    if (code != HDX_OK)
        return code;
    if ((h->line_of = hdx_mem_array(h->ask.q.mem, h->chosen_count, sizeof *h->line_of)) == NULL)
        return hdx_no_memory(err, "a histogram", h->chosen_count * sizeof *h->line_of);
    code = h->by == HDX_BY_HEAP         ? by_heap(h, pattern, err)
           : h->by == HDX_BY_SUPERCLASS ? cumulate(h, err)
                                        : group_by_key(h, err);
    if (code != HDX_OK)
        return code;
    if (h->by != HDX_BY_HEAP && (code = drop_empty(h, err)) != HDX_OK)
        return code;
    h->has_retained = retained && h->by != HDX_BY_HEAP && h->ask.q.scope != HDX_GARBAGE;
    if (h->has_retained && (code = retained_or_saved(h, pattern, recompute, err)) != HDX_OK)
        return code;
    for (uint32_t i = 0; i < h->class_count; i++) {
        uint64_t objects, bytes;
        in_scope(h, &h->classes[i], &objects, &bytes);
        h->whole += bytes;
    }
    if (h->count > 0)
        qsort(h->lines, h->count, sizeof *h->lines, by_name);
    for (uint64_t i = 1; i < h->count; i++)
        if (hdx_text_order(h->lines[i - 1].name, h->lines[i].name) == 0)
            h->lines[i - 1].twin = h->lines[i].twin = true;
    if (h->count > 0)
        qsort(h->lines, h->count, sizeof *h->lines, by_shallow);
    return h->ask.g == NULL ? HDX_OK : hdx_graph_check(h->ask.g, err);
}

/* Counts objects of the chosen classes in any scope, to explain an empty answer. */
static uint64_t out_of_scope(const histogram *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < h->chosen_count; i++)
        sum += h->classes[h->chosen[i]].instances;
    return sum;
}

/* Adds sums of all rows, unless an object may be in several of them. */
static hdx_code add_total(const histogram *h, hdx_rows **out, hdx_error *err)
{
    uint64_t numbers[2] = { 0, 0 };
    for (uint64_t i = 0; i < h->count; i++) {
        numbers[0] += h->lines[i].objects;
        numbers[1] += h->lines[i].shallow;
    }
    hdx_rows_set_sums(*out, numbers[0], 0);
    return h->by == HDX_BY_SUPERCLASS ? HDX_OK
                                      : hdx_extras_add_numbers(HDX_OK, out, "total", total_members, 2, numbers, err);
}

/* q NULL: uses a table of classes instead; memory is taken from `mem`. */
static bool is_named(const hdx_query *q, const hdx_column *columns, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return hdx_column_named(q, i);
    return false;
}

static hdx_code make_histogram(const hdx_query *q, hdx_mem *mem, const hdx_class *classes, uint32_t class_count,
                               hdx_by by, const char *class_pattern, bool retained, bool folded, hdx_rows **out,
                               hdx_error *err)
{
    static const char *const titles[] = { "Histogram of live objects", "Histogram of all objects",
                                          "Histogram of unreachable objects" };
    hdx_rows_maker           maker = { .next = histogram_next, .close = histogram_close };
    hdx_code                 code;
    *out = NULL;
    histogram *h = calloc(1, sizeof *h);
    if (h == NULL)
        return hdx_no_memory(err, "a histogram", sizeof *h);
    h->by = by == HDX_BY_NONE ? HDX_BY_CLASS : by;
    switch (h->by) {
    case HDX_BY_CLASS:
        maker.columns = folded ? folded_columns : class_columns;
        maker.column_count = folded ? HDX_COUNT(folded_columns) : HDX_COUNT(class_columns);
        h->fold = folded;
        break;
    case HDX_BY_SUPERCLASS:
        maker.columns = superclass_columns;
        maker.column_count = HDX_COUNT(superclass_columns);
        break;
    case HDX_BY_PACKAGE:
        maker.columns = package_columns;
        maker.column_count = HDX_COUNT(package_columns);
        break;
    case HDX_BY_LOADER:
        maker.columns = loader_columns;
        maker.column_count = HDX_COUNT(loader_columns);
        break;
    case HDX_BY_HEAP:
        maker.columns = heap_columns;
        maker.column_count = HDX_COUNT(heap_columns);
        break;
    case HDX_BY_ORIGIN:
        maker.columns = origin_columns;
        maker.column_count = HDX_COUNT(origin_columns);
        break;
    default:
        free(h);
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "histogram keys are class, package, loader, superclass, heap and origin");
    }
    h->names = hdx_arena_of(q == NULL ? mem : q->mem);
    if (q == NULL) {
        h->ask.q.scope = HDX_ALL;
        h->ask.q.mem = mem;
        h->classes = classes;
        h->class_count = class_count;
        h->origins = hdx_origins_of_classes(classes, class_count);
        code = h->by == HDX_BY_HEAP     ? hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                                                   "histogram by heap needs an index, which stores the heaps")
               : h->by == HDX_BY_ORIGIN ? hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                                                   "histogram by origin needs an index, which has the class loaders")
                                        : fill_lines(h, class_pattern, false, false, err);
    } else if ((code = hdx_ask_begin(q, &h->ask, err)) == HDX_OK) {
        h->classes = hdx_graph_classes(q->graph, &h->class_count);
        /* an answer about all objects, which may come before the index is complete, must not depend on that */
        h->origins =
            q->scope == HDX_ALL && by != HDX_BY_ORIGIN && !is_named(q, maker.columns, maker.column_count, "origin")
                ? hdx_origins_of_classes(h->classes, h->class_count)
                : hdx_origins_of(q->graph);
        code = fill_lines(h, class_pattern, retained, false, err);
    }
    if (code != HDX_OK) {
        histogram_close(h);
        return code;
    }
    maker.state = h;
    maker.total = h->count;
    const unsigned scope = (unsigned)h->ask.q.scope;
    const bool     one_heap = h->by == HDX_BY_HEAP && h->count == 0;
    const uint64_t others = h->count == 0 ? out_of_scope(h) : 0;
    if ((code = hdx_rows_make_in(h->ask.q.mem, &maker, out, err)) == HDX_OK &&
        (code = add_total(h, out, err)) == HDX_OK && scope > 0 && scope < 3 &&
        (code = hdx_rows_set_title(*out, titles[scope], err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    if (one_heap)
        return hdx_rows_explain_empty(code, out, err, "a JVM dump has one heap");
    return others == 0
               ? code
               : hdx_rows_explain_empty(code, out, err, "%" PRIu64 " %s object%s not shown; use --reachable all",
                                        others, scope == HDX_LIVE ? "unreachable" : "reachable",
                                        others == 1 ? "" : "s");
}

hdx_code hdx_query_histogram(const hdx_query *q, hdx_by by, const char *class_pattern, bool retained, hdx_rows **out,
                             hdx_error *err)
{
    hdx_ask none;
    *out = NULL;
    return q == NULL ? hdx_ask_begin(q, &none, err)
                     : make_histogram(q, NULL, NULL, 0, by, class_pattern, retained, false, out, err);
}

hdx_code hdx_query_histogram_of(const hdx_class *classes, uint32_t count, hdx_by by, const char *class_pattern,
                                hdx_rows **out, hdx_error *err)
{
    return make_histogram(NULL, NULL, classes, count, by, class_pattern, false, false, out, err);
}

hdx_code hdx_query_saved_verify(const hdx_query *q, hdx_error *err)
{
    static const struct {
        hdx_by      by;
        const char *name;
    } kinds[] = { { HDX_BY_CLASS, "retained-class" },
                  { HDX_BY_PACKAGE, "retained-package" },
                  { HDX_BY_LOADER, "retained-loader" },
                  { HDX_BY_SUPERCLASS, "retained-superclass" } };
    hdx_code code = HDX_OK;
    for (unsigned k = 0; code == HDX_OK && k < HDX_COUNT(kinds); k++) {
        histogram *h = calloc(1, sizeof *h);
        uint64_t  *saved = NULL, known = 0;
        if (h == NULL)
            return hdx_no_memory(err, "a histogram", sizeof *h);
        if ((code = hdx_ask_begin(q, &h->ask, err)) == HDX_OK) {
            h->by = kinds[k].by;
            h->ask.q.scope = HDX_ALL;
            h->classes = hdx_graph_classes(q->graph, &h->class_count);
            if ((saved = hdx_saved_retained(h->ask.q.mem, q->graph, h->by, h->class_count)) == NULL)
                code = hdx_no_memory(err, "retained sizes", 8ull * h->class_count);
            for (uint32_t i = 0; code == HDX_OK && i < h->class_count; i++)
                known += saved[i] != HDX_RETAINED_UNKNOWN;
            if (known > 0)
                code = fill_lines(h, NULL, true, true, err);
        }
        for (uint64_t i = 0; code == HDX_OK && known > 0 && i < h->count; i++) {
            const uint64_t was = saved[h->lines[i].number];
            if (was != HDX_RETAINED_UNKNOWN && was != h->lines[i].retained)
                code = hdx_hint(err,
                                hdx_fail(err, HDX_DAMAGED, kinds[k].name, HDX_NOWHERE,
                                         "stored retained size of %llu bytes for %.*s differs from its retained size "
                                         "of %llu",
                                         (unsigned long long)was, (int)h->lines[i].name.len, h->lines[i].name.at,
                                         (unsigned long long)h->lines[i].retained),
                                "it is safe to delete");
        }
        hdx_mem_put(h->ask.q.mem, saved, 8ull * h->class_count);
        histogram_close(h);
    }
    return code;
}

/* ---- declared ---- */

static const hdx_parameter parameters[] = {
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "class package loader superclass heap origin",
      .preset = "class",
      .sentence = "meaning of a row; class by default" },
    HDX_PARAMETER_OF_CLASS(0, "class name, glob (* and ?) or /regular expression/"),
    { .name = "retained",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "fill the column retained: exact retained sizes of classes (takes longer)" },
    { .name = "hidden",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "HOW",
      .choices = "none fold",
      .preset = "none",
      .sentence = "fold: one row for lambdas, hidden classes, proxies and reflection accessors that share a name" },
    { .name = "scan",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "retained",
      .sentence = "one pass over the dump without an index: all objects, reachable or not" },
};

hdx_by hdx_histogram_by(const hdx_arguments *a)
{
    static const hdx_by keys[] = { HDX_BY_CLASS,      HDX_BY_PACKAGE, HDX_BY_LOADER,
                                   HDX_BY_SUPERCLASS, HDX_BY_HEAP,    HDX_BY_ORIGIN }; /* choices of `by` */
    const int           by = hdx_argument_choice(a, "by");
    return by < 0 ? HDX_BY_CLASS : keys[by];
}

static bool folds(const hdx_arguments *a) { return hdx_argument_choice(a, "hidden") == 1; }

bool hdx_histogram_retains(const hdx_query *q, const hdx_arguments *a)
{
    const hdx_form *form = hdx_arguments_form(a);
    return hdx_argument_flag(a, "retained") || is_named(q, form->columns, form->column_count, "retained");
}

bool hdx_histogram_names_origins(const hdx_query *q, const hdx_arguments *a)
{
    const hdx_form *form = hdx_arguments_form(a);
    return is_named(q, form->columns, form->column_count, "origin");
}

hdx_code hdx_histogram_check(const hdx_query *q, const hdx_arguments *a, hdx_error *err)
{
    if (folds(a) && hdx_histogram_by(a) != HDX_BY_CLASS)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--hidden fold works with classes only: omit --by");
    if (!hdx_histogram_retains(q, a))
        return HDX_OK;
    if (hdx_histogram_by(a) == HDX_BY_HEAP)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "retained sizes by heap are not available: omit `retained`");
    if (q->scope == HDX_GARBAGE)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "unreachable objects retain nothing: omit `retained`");
    if (hdx_argument_flag(a, "scan"))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--scan cannot compute retained sizes: omit --scan");
    return HDX_OK;
}

hdx_code hdx_histogram_of(hdx_mem *mem, const hdx_class *classes, uint32_t count, const hdx_arguments *a,
                          hdx_rows **out, hdx_error *err)
{
    return make_histogram(NULL, mem, classes, count, hdx_histogram_by(a), hdx_argument_text(a, "class"), false,
                          folds(a), out, err);
}

/* A dump without an index is handled by the caller, which opens graphs. */
static hdx_code open_histogram(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask none;
    *out = NULL;
    return q == NULL ? hdx_ask_begin(q, &none, err)
                     : make_histogram(q, NULL, NULL, 0, hdx_histogram_by(a), hdx_argument_text(a, "class"),
                                      hdx_histogram_retains(q, a), folds(a), out, err);
}

const hdx_question hdx_question_histogram = {
    .declared = {
        .name = "histogram",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
        .sentence = "number and size of objects by class, package, loader, superclass or heap",
        .more = "The column retained is filled with --retained, or if --sort, --where or --columns names it. It is "
                "the number of bytes that would be freed without the class object and all instances of the class. "
                "Computing it takes some seconds on a large heap; the result is saved next to the index and later "
                "read from there. --scan reads the dump once and writes nothing; it counts all objects, because it "
                "cannot know which are reachable. --hidden fold groups lambdas, hidden classes, method handle forms, "
                "dynamic proxies and reflection accessors under a shared name such as app.Shop$$Lambda*, with the "
                "number of classes; --class accepts such a name as a pattern.",
        .examples = { "heapdex histogram app.hprof --scan --limit 10", "heapdex histogram app.hprof --class "
                                                                       "'java.util.*' --retained --sort retained" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_histogram,
};

static hdx_code open_packages(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return hdx_query_histogram(q, HDX_BY_PACKAGE, NULL, false, out, err);
}

static const hdx_form packages_form = { NULL, NULL, package_columns, HDX_COUNT(package_columns) };

const hdx_question hdx_table_of_packages = {
    .declared = { .name = "packages",
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED,
                  .sentence = "number and size of objects by package",
                  .more = "",
                  .forms = &packages_form,
                  .form_count = 1,
                  .document = document,
                  .document_count = HDX_COUNT(document) },
    .open = open_packages,
};
