/*
 * dominator_groups.c - the objects at one level of the dominator tree, grouped by class, package, loader, owner or
 * origin (dominators --by).
 *
 * In:  the children of an object, or of the virtual root: their sums by class, saved (children.h) or from a walk.
 * Out: a row for each group, the one that retains most first, if requested with its first objects (inside.h).
 * Cost: a walk over the children, unless their sums are saved; a few numbers for each class.
 */
#include "query/holding/dominator_groups.h"
#include "query/common/columns.h"
#include "query/common/origin.h"
#include "query/holding/inside.h"

#include <stdlib.h>

/* ---- columns ---- */

#define NUMBERS                                                                                                        \
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "objects at this level of the tree"), HDX_SHALLOWS_COLUMN,  \
        HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_SUM, "bytes that would be freed without these objects"),    \
        HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SHARE, "share of all live bytes, in percent")
#define INSIDE(members)                                                                                                \
    HDX_NESTED("inside", LIST, HDX_COLUMN_OPTIONAL | HDX_COLUMN_WIDE,                                                  \
               "the objects of the row that retain most, each with what it keeps; only with --inside", members)
#define CLASS                                                                                                          \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the dominating objects")
const hdx_column hdx_dominated_class_columns[HDX_DOMINATED_CLASS_COLUMNS] = { CLASS, NUMBERS };
const hdx_column hdx_dominator_class_columns[HDX_DOMINATOR_GROUP_COLUMNS] = { CLASS, NUMBERS,
                                                                              INSIDE(hdx_inside_members) };
const hdx_column hdx_dominator_owner_columns[HDX_DOMINATOR_OWNER_COLUMNS] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the dominating objects; for a class object, the class that it represents"),
    NUMBERS,
    HDX_COLUMN("statics", BOOL, NONE, 0, "true if the row is a class object: what static fields of the class hold"),
    INSIDE(hdx_inside_members),
};
const hdx_column hdx_dominator_package_columns[HDX_DOMINATOR_GROUP_COLUMNS] = {
    HDX_COLUMN("package", TEXT, NONE, HDX_COLUMN_NULLABLE, "package of the dominating objects"),
    NUMBERS,
    INSIDE(hdx_inside_class_members),
};
const hdx_column hdx_dominator_loader_columns[HDX_DOMINATOR_GROUP_COLUMNS] = {
    HDX_COLUMN("loader", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "class loader of their classes; 0x0 is the boot loader"),
    NUMBERS,
    INSIDE(hdx_inside_class_members),
};
const hdx_column hdx_dominator_origin_columns[HDX_DOMINATOR_GROUP_COLUMNS] = {
    HDX_ORIGIN_COLUMN(HDX_COLUMN_NULLABLE,
                      "origin of the classes: application, platform, generated (at run time) or array"),
    NUMBERS,
    INSIDE(hdx_inside_class_members),
};

/* ---- groups ---- */

typedef struct group {
    /* the class that represents the key; by owner, numbers of class objects follow all class numbers */
    uint32_t number;
    uint64_t objects, shallow, retained;
} group;

typedef struct groups {
    hdx_ask     ask;
    hdx_by      by;
    uint32_t    classes;
    hdx_origins origins;
    double      total;
    group      *at;
    uint64_t    count, capacity, next;
    unsigned    each;   /* first objects of a group that are shown; 0: none */
    hdx_inside  inside; /* these */
} groups;

static unsigned inside_column(const groups *s)
{
    return (s->by == HDX_BY_OWNER ? HDX_DOMINATOR_OWNER_COLUMNS : HDX_DOMINATOR_GROUP_COLUMNS) - 1;
}

static void groups_close(void *state)
{
    groups *s = state;
    hdx_inside_close(&s->inside);
    hdx_mem_put(s->ask.q.mem, s->at, s->capacity * sizeof *s->at);
    free(s);
}

static hdx_cell key_cell(const groups *s, uint32_t number)
{
    const hdx_class *c = hdx_graph_class(s->ask.g, number < s->classes ? number : number - s->classes);
    if (c == NULL)
        return hdx_cell_null();
    return s->by == HDX_BY_PACKAGE  ? hdx_cell_text(hdx_package_of(c->name))
           : s->by == HDX_BY_LOADER ? hdx_cell_address(c->loader)
           : s->by == HDX_BY_ORIGIN ? hdx_cell_string(hdx_origin_name(hdx_origin_of(&s->origins, c)))
                                    : hdx_cell_text(c->name);
}

static hdx_code groups_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    groups *s = state;
    if (s->next == s->count)
        return hdx_ask_end(&s->ask, more, err);
    const group *g = &s->at[s->next++];
    cells[0] = key_cell(s, g->number);
    cells[1] = hdx_cell_uint(g->objects);
    cells[2] = hdx_cell_uint(g->shallow);
    cells[3] = hdx_cell_uint(g->retained);
    cells[4] = hdx_dominated_percent(g->retained, s->total);
    if (s->by == HDX_BY_OWNER)
        cells[5] = hdx_cell_bool(g->number >= s->classes);
    *more = true;
    return s->inside.ask == NULL ? HDX_OK
                                 : hdx_inside_cell(&s->inside, s->next - 1, arena, &cells[inside_column(s)], err);
}

/*
 * By package, loader and origin, a class object counts under the class that it represents, because otherwise all of
 * them would count under java.lang; by class it is a java.lang.Class, by owner it has its own group.
 */
static uint32_t class_for(const groups *s, hdx_id id)
{
    if (s->by != HDX_BY_CLASS && hdx_graph_kind(s->ask.g, id) == HDX_CLASS_OBJECT) {
        const hdx_class *own = hdx_graph_class_object(s->ask.g, id);
        if (own != NULL)
            return own->number + (s->by == HDX_BY_OWNER ? s->classes : 0);
    }
    return hdx_graph_class_of(s->ask.g, id);
}

static int compare_keys(const hdx_cell *a, const hdx_cell *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == HDX_CELL_ADDRESS)
        return (a->as.address > b->as.address) - (a->as.address < b->as.address);
    if (a->kind != HDX_CELL_TEXT)
        return 0;
    return hdx_text_order(a->as.text, b->as.text);
}

typedef struct keyed {
    hdx_cell key;
    group    sum;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    int          d = compare_keys(&x->key, &y->key);
    return d != 0 ? d : (x->sum.number > y->sum.number) - (x->sum.number < y->sum.number);
}

static int by_group_retained(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hdx_code sum_children(groups *s, hdx_id of, keyed *sums, uint32_t classes, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    hdx_graph_dominated(s->ask.g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        uint32_t c = class_for(s, id);
        if (c < classes) {
            sums[c].sum.objects++;
            sums[c].sum.shallow += hdx_graph_shallow(s->ask.g, id);
            sums[c].sum.retained += hdx_graph_retained(s->ask.g, id);
        }
        code = hdx_ask_check_cancel(&s->ask, err);
    }
    return code;
}

/* What is saved counts class objects under java.lang.Class: they are moved to the class that they represent. */
static hdx_code sum_saved(groups *s, hdx_id of, const hdx_children *saved, keyed *sums, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < saved->sum_count; i++) {
        const hdx_children_sum *k = &saved->sums[i];
        sums[k->number].sum = (group){ 0, k->objects, k->shallow, k->retained };
    }
    for (uint32_t c = 0; code == HDX_OK && s->by != HDX_BY_CLASS && c < s->classes; c++) {
        hdx_id           id;
        const hdx_class *own = hdx_graph_class(s->ask.g, c);
        code = hdx_ask_check_cancel(&s->ask, err);
        if (own == NULL || !hdx_graph_find(s->ask.g, own->address, &id) || hdx_graph_dominator(s->ask.g, id) != of ||
            hdx_graph_class_object(s->ask.g, id) != own)
            continue;
        const uint32_t from = hdx_graph_class_of(s->ask.g, id), to = class_for(s, id);
        const uint64_t shallow = hdx_graph_shallow(s->ask.g, id), retained = hdx_graph_retained(s->ask.g, id);
        if (from >= s->classes || from == to)
            continue;
        sums[from].sum.objects--;
        sums[from].sum.shallow -= shallow;
        sums[from].sum.retained -= retained;
        sums[to].sum.objects++;
        sums[to].sum.shallow += shallow;
        sums[to].sum.retained += retained;
    }
    return code;
}

/*
 * Combines sums by number into groups with equal keys. *of_number: one more than the number that represents the group;
 * may be NULL.
 */
static hdx_code combine(groups *s, keyed *sums, uint32_t numbers, uint32_t *of_number, hdx_error *err)
{
    const bool each = s->by == HDX_BY_CLASS || s->by == HDX_BY_OWNER; /* with these, every class has its own key */
    uint32_t   used = 0;
    for (uint32_t c = 0; c < numbers; c++)
        if (sums[c].sum.objects > 0) {
            sums[used] = sums[c];
            sums[used].sum.number = c;
            sums[used].key = each ? hdx_cell_uint(c) : key_cell(s, c);
            used++;
        }
    if (used > 0)
        qsort(sums, used, sizeof *sums, by_key);
    for (uint32_t i = 0; i < used; i++) {
        if (i > 0 && !each && compare_keys(&sums[i].key, &sums[i - 1].key) == 0) {
            group *last = &s->at[s->count - 1];
            last->objects += sums[i].sum.objects;
            last->shallow += sums[i].sum.shallow;
            last->retained += sums[i].sum.retained;
        } else if (hdx_mem_room(s->ask.q.mem, (void **)&s->at, &s->capacity, s->count, sizeof *s->at)) {
            s->at[s->count++] = sums[i].sum;
        } else {
            return hdx_no_memory(err, "groups", s->count * sizeof *s->at);
        }
        if (of_number != NULL)
            of_number[sums[i].sum.number] = s->at[s->count - 1].number + 1;
    }
    if (s->count > 0)
        qsort(s->at, s->count, sizeof *s->at, by_group_retained);
    return HDX_OK;
}

static uint32_t number_of(const void *context, hdx_id id) { return class_for(context, id); }

/* Finds the first objects of each group. `of_number`: as combine sets it; afterwards the group of each number. */
static hdx_code find_inside(groups *s, hdx_id of, uint32_t *of_number, uint32_t numbers, const hdx_children *saved,
                            hdx_error *err)
{
    hdx_mem  *mem = s->ask.q.mem;
    uint32_t *place = hdx_mem_array(mem, numbers, sizeof *place);
    uint64_t *objects = hdx_mem_array(mem, s->count, sizeof *objects);
    hdx_code  code = HDX_OK;
    if (place == NULL || objects == NULL)
        code = hdx_no_memory(err, "groups", numbers * sizeof *place);
    for (uint32_t i = 0; code == HDX_OK && i < s->count; i++) { /* no more groups than numbers */
        place[s->at[i].number] = i;
        objects[i] = s->at[i].objects;
    }
    for (uint32_t i = 0; code == HDX_OK && i < numbers; i++)
        of_number[i] = of_number[i] == 0 ? UINT32_MAX : place[of_number[i] - 1];
    const hdx_inside_wanted wanted = {
        .each = s->each,
        .groups = s->count,
        .objects = objects,
        .group_of = of_number,
        .numbers = numbers,
        .mixed = s->by != HDX_BY_CLASS && s->by != HDX_BY_OWNER,
        .number_of = number_of,
        .context = s,
    };
    if (code == HDX_OK)
        code = hdx_inside_open(&s->inside, &s->ask, of, &wanted, saved, err);
    hdx_mem_put(mem, objects, s->count * sizeof *objects);
    hdx_mem_put(mem, place, numbers * sizeof *place);
    return code;
}

/* Sums per class first (an array by class number), then combines classes with equal keys. */
static hdx_code sum_up(groups *s, hdx_id of, const hdx_children_bounds *bounds, hdx_error *err)
{
    /* what is saved counts class objects under java.lang.Class, as only the key `class` does */
    const uint32_t *firsts = s->each > 0 && s->by == HDX_BY_CLASS ? &(uint32_t){ HDX_CHILDREN_OF_EACH } : NULL;
    hdx_mem        *mem = s->ask.q.mem;
    hdx_children    children = { .saved = false };
    (void)hdx_graph_classes(s->ask.g, &s->classes);
    const uint32_t numbers = s->by == HDX_BY_OWNER ? 2 * s->classes : s->classes; /* there are fewer than 2^31 */
    keyed         *sums = hdx_mem_array(mem, numbers, sizeof *sums);
    uint32_t      *of_number = s->each > 0 ? hdx_mem_array(mem, numbers, sizeof *of_number) : NULL;
    hdx_code       code = sums == NULL || (s->each > 0 && of_number == NULL)
                              ? hdx_no_memory(err, "groups", numbers * sizeof *sums)
                              : hdx_children_open(&s->ask, of, bounds, firsts, &children, err);
    if (code == HDX_OK)
        code = children.saved ? sum_saved(s, of, &children, sums, err) : sum_children(s, of, sums, numbers, err);
    if (code == HDX_OK)
        code = combine(s, sums, numbers, of_number, err);
    if (code == HDX_OK && s->each > 0)
        code = find_inside(s, of, of_number, numbers, &children, err);
    hdx_children_close(&children, &s->ask);
    hdx_mem_put(mem, of_number, s->each > 0 ? numbers * sizeof *of_number : 0);
    hdx_mem_put(mem, sums, numbers * sizeof *sums);
    return code;
}

hdx_code hdx_dominator_groups(const hdx_ask *ask, hdx_id of, const hdx_dominators_options *options, double total,
                              hdx_rows **out, hdx_error *err)
{
    const hdx_by by = options->by;
    groups      *s = calloc(1, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "groups", sizeof *s);
    *s = (groups){ .ask = *ask, .by = by, .origins = hdx_origins_of(ask->g), .total = total };
    s->each = options->inside > 0 && hdx_column_wanted(&ask->q, inside_column(s)) ? options->inside : 0;
    hdx_code code = sum_up(s, of, options->bounds, err);
    if (code != HDX_OK) {
        groups_close(s);
        return code;
    }
    hdx_rows_maker maker = { by == HDX_BY_PACKAGE  ? hdx_dominator_package_columns
                             : by == HDX_BY_LOADER ? hdx_dominator_loader_columns
                             : by == HDX_BY_ORIGIN ? hdx_dominator_origin_columns
                             : by == HDX_BY_OWNER  ? hdx_dominator_owner_columns
                                                   : hdx_dominator_class_columns,
                             inside_column(s) + (options->inside > 0 ? 1 : 0),
                             s,
                             groups_next,
                             groups_close,
                             s->count };
    uint64_t objects = 0, retained = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        objects += s->at[i].objects;
        retained += s->at[i].retained;
    }
    code = hdx_rows_make_in(ask->q.mem, &maker, out, err);
    if (code == HDX_OK)
        hdx_rows_set_sums(*out, objects, retained);
    return code;
}
