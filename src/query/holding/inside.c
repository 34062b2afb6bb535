/*
 * inside.c - the first objects of each group of children in the dominator tree, and by class what each of them
 * immediately dominates (inside.h).
 *
 * In:  the children of an object, or of the virtual root, and the group of each.
 * Out: a cell for each group: its K objects that retain most, each with the sums of its children by class.
 * Cost: one walk over the children, unless enough of them are saved, and one over the children of each object that is
 *       shown: linear, because no object has two dominators. Memory for K objects of each group and for a sum of each
 *       class.
 */
#include "query/holding/inside.h"
#include "query/common/columns.h"
#include "query/holding/drop.h"

static const hdx_column keeps_members[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of objects that the object immediately dominates"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of these objects"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "bytes that would be freed without these objects"),
};
#define ADDRESS HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the object")
#define OTHERS                                                                                                         \
    HDX_SHALLOW_COLUMN(0),                                                                                             \
        HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "retained size: bytes that would be freed without the object"),     \
        HDX_COLUMN("children", UNSIGNED, COUNT, 0, "objects that it immediately dominates"),                           \
        HDX_NESTED("keeps", LIST, 0, "these objects by class, most retained bytes first, at most 5 classes",           \
                   keeps_members),                                                                                     \
        HDX_COLUMN("more_classes", UNSIGNED, COUNT, 0, "classes of these objects that are not listed")
const hdx_column hdx_inside_members[HDX_INSIDE_MEMBERS] = { ADDRESS, OTHERS };
const hdx_column hdx_inside_class_members[HDX_INSIDE_MEMBERS + 1] = { ADDRESS, HDX_CLASS_COLUMN(0), OTHERS };
enum { KEEPS_MEMBERS = HDX_COUNT(keeps_members) };

/* ---- the first objects of each group ---- */

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Returns whether the first `each` objects of every class are among those that are saved. */
static bool has_enough(const hdx_children *saved, uint64_t each)
{
    bool enough = saved != NULL && saved->saved;
    for (uint64_t i = 0; enough && i < saved->sum_count; i++)
        enough = saved->each >= smaller(saved->sums[i].objects, each);
    return enough;
}

static void take_saved(hdx_inside *s, const hdx_inside_wanted *wanted, const hdx_children *saved)
{
    const hdx_id *first = saved->first;
    for (uint64_t i = 0; i < saved->sum_count; i++) {
        const hdx_children_sum *sum = &saved->sums[i];
        const uint32_t          group = sum->number < wanted->numbers ? wanted->group_of[sum->number] : UINT32_MAX;
        const uint64_t          count = smaller(sum->objects, saved->each);
        for (uint64_t k = 0; group < s->groups && k < count; k++) {
            const hdx_child c = { first[k], hdx_graph_retained(s->ask->g, first[k]) };
            hdx_child_keep(&s->at[s->start[group]], &s->count[group], s->start[group + 1] - s->start[group], &c);
        }
        first += count;
    }
}

static hdx_code walk(hdx_inside *s, hdx_id of, const hdx_inside_wanted *wanted, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_dominated(s->ask->g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const hdx_child c = { id, hdx_graph_retained(s->ask->g, id) };
        const uint32_t  number = wanted->number_of(wanted->context, id);
        const uint32_t  group = number < wanted->numbers ? wanted->group_of[number] : UINT32_MAX;
        if (group < s->groups)
            hdx_child_keep(&s->at[s->start[group]], &s->count[group], s->start[group + 1] - s->start[group], &c);
        code = hdx_count_child(s->ask, &s->seen, err);
    }
    return code;
}

hdx_code hdx_inside_open(hdx_inside *s, hdx_ask *ask, hdx_id of, const hdx_inside_wanted *wanted,
                         const hdx_children *saved, hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    hdx_code code = HDX_OK;
    s->ask = ask;
    s->mixed = wanted->mixed;
    s->groups = wanted->groups;
    (void)hdx_graph_classes(ask->g, &s->classes);
    s->start = hdx_mem_array(mem, s->groups + 1, sizeof *s->start);
    s->count = hdx_mem_array(mem, s->groups, sizeof *s->count);
    s->sums = hdx_mem_array(mem, s->classes, sizeof *s->sums);
    s->used = hdx_mem_array(mem, s->classes, sizeof *s->used);
    if (s->start == NULL || s->count == NULL || s->sums == NULL || s->used == NULL)
        return hdx_no_memory(err, "the objects of groups", s->groups * sizeof *s->start);
    for (uint64_t i = 0; i < s->groups; i++)
        s->start[i + 1] = s->start[i] + smaller(wanted->objects[i], wanted->each);
    if ((s->at = hdx_mem_array(mem, s->start[s->groups], sizeof *s->at)) == NULL)
        return hdx_no_memory(err, "the objects of groups", s->start[s->groups] * sizeof *s->at);
    if (has_enough(saved, wanted->each))
        take_saved(s, wanted, saved);
    else
        code = walk(s, of, wanted, err);
    for (uint64_t i = 0; code == HDX_OK && i < s->groups; i++)
        hdx_children_sort(&s->at[s->start[i]], s->count[i]);
    return code;
}

void hdx_inside_close(hdx_inside *s)
{
    if (s->ask == NULL)
        return;
    hdx_mem *mem = s->ask->q.mem;
    if (s->start != NULL)
        hdx_mem_put(mem, s->at, s->start[s->groups] * sizeof *s->at);
    hdx_mem_put(mem, s->start, (s->groups + 1) * sizeof *s->start);
    hdx_mem_put(mem, s->count, s->groups * sizeof *s->count);
    hdx_mem_put(mem, s->sums, s->classes * sizeof *s->sums);
    hdx_mem_put(mem, s->used, s->classes * sizeof *s->used);
    *s = (hdx_inside){ .ask = NULL };
}

/* ---- what an object dominates ---- */

static bool precedes(const hdx_children_sum *a, const hdx_children_sum *b)
{
    return a->retained != b->retained ? a->retained > b->retained
           : a->objects != b->objects ? a->objects > b->objects
                                      : a->number < b->number;
}

/* Sums the children of an object by class. Children without a class are only counted. */
static hdx_code sum_children(hdx_inside *s, hdx_id of, uint64_t *children, hdx_error *err)
{
    const uint64_t before = s->seen;
    hdx_code       code = HDX_OK;
    hdx_refs       refs;
    hdx_id         id;
    hdx_graph_dominated(s->ask->g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const uint32_t number = hdx_graph_class_of(s->ask->g, id);
        if (number < s->classes) {
            hdx_children_sum *sum = &s->sums[number];
            if (sum->objects++ == 0)
                s->used[s->used_count++] = number;
            sum->number = number;
            sum->retained += hdx_graph_retained(s->ask->g, id);
        }
        code = hdx_count_child(s->ask, &s->seen, err);
    }
    *children = s->seen - before;
    return code;
}

/* Moves the sums to `top`, those with most bytes; all are zero again. *classes: number of all. */
static uint32_t take_sums(hdx_inside *s, hdx_children_sum top[HDX_INSIDE_KEEPS], uint32_t *classes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->used_count; i++) {
        hdx_children_sum *one = &s->sums[s->used[i]];
        uint32_t          at = count < HDX_INSIDE_KEEPS ? count++ : HDX_INSIDE_KEEPS;
        for (; at > 0 && precedes(one, &top[at - 1]); at--)
            if (at < HDX_INSIDE_KEEPS)
                top[at] = top[at - 1];
        if (at < HDX_INSIDE_KEEPS)
            top[at] = *one;
        *one = (hdx_children_sum){ .objects = 0 };
    }
    *classes = s->used_count;
    s->used_count = 0;
    return count;
}

static bool keeps_cell(const hdx_inside *s, const hdx_children_sum *top, uint32_t count, hdx_arena *arena,
                       hdx_cell *out)
{
    hdx_cell   *cells = hdx_arena_get(arena, count * sizeof *cells);
    hdx_member *m = hdx_arena_get(arena, (uint64_t)count * KEEPS_MEMBERS * sizeof *m);
    if (cells == NULL || m == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++, m += KEEPS_MEMBERS) {
        m[0] = (hdx_member){ keeps_members[0].name, hdx_class_cell(s->ask->g, top[i].number) };
        m[1] = (hdx_member){ keeps_members[1].name, hdx_cell_uint(top[i].objects) };
        m[2] = (hdx_member){ keeps_members[2].name, hdx_cell_uint(top[i].retained) };
        cells[i] = hdx_cell_object(m, KEEPS_MEMBERS);
    }
    *out = hdx_cell_list(cells, count);
    return true;
}

static hdx_code object_cell(hdx_inside *s, const hdx_child *c, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_column *columns = s->mixed ? hdx_inside_class_members : hdx_inside_members;
    const uint32_t    members = HDX_INSIDE_MEMBERS + (s->mixed ? 1 : 0);
    hdx_children_sum  top[HDX_INSIDE_KEEPS];
    hdx_member       *m = hdx_arena_get(arena, members * sizeof *m);
    hdx_cell          keeps;
    uint64_t          children;
    uint32_t          classes, n = 0;
    const hdx_code    code = sum_children(s, c->id, &children, err);
    const uint32_t    count = take_sums(s, top, &classes);
    if (code != HDX_OK)
        return code;
    if (m == NULL || !keeps_cell(s, top, count, arena, &keeps))
        return hdx_no_memory(err, "the objects of a group", members * sizeof *m);
    m[n++].value = hdx_id_cell(s->ask->g, c->id);
    if (s->mixed)
        m[n++].value = hdx_class_of_cell(s->ask->g, c->id);
    m[n++].value = hdx_cell_uint(hdx_graph_shallow(s->ask->g, c->id));
    m[n++].value = hdx_cell_uint(c->retained);
    m[n++].value = hdx_cell_uint(children);
    m[n++].value = keeps;
    m[n++].value = hdx_cell_uint(classes - count);
    for (uint32_t i = 0; i < members; i++)
        m[i].key = columns[i].name;
    *out = hdx_cell_object(m, members);
    return HDX_OK;
}

hdx_code hdx_inside_cell(hdx_inside *s, uint64_t group, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const uint64_t count = s->count[group];
    hdx_cell      *cells = hdx_arena_get(arena, count * sizeof *cells);
    hdx_code       code = HDX_OK;
    if (cells == NULL)
        return hdx_no_memory(err, "the objects of a group", count * sizeof *cells);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        code = object_cell(s, &s->at[s->start[group] + i], arena, &cells[i], err);
    *out = hdx_cell_list(cells, count);
    return code;
}
