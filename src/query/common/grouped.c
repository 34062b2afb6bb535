/*
 * grouped.c - groups and sums entries for all questions, like GROUP BY in SQL.
 *
 * A map leads from a key to its group, whose sums grow with each entry. What counts once per group (hdx_sum, `once`) is
 * numbered when first seen, and a set contains the pairs of group and number that were seen.
 * Cost: 16 to 32 bytes per key, 88 per group, and 16 to 32 per pair.
 */
#include "query/common/grouped.h"

#include "graph/graph.h"
#include <assert.h>
#include <stdlib.h>

hdx_grouped hdx_grouped_of(const hdx_grouping *by, const hdx_ask *ask, const char *what)
{
    hdx_grouped g = { .by = by, .ask = *ask, .what = what, .places = hdx_map_of(ask->q.mem) };
    assert(by->keys <= HDX_GROUPED_KEYS && by->sum_count <= HDX_GROUPED_SUMS);
    for (unsigned i = 0; i < HDX_GROUPED_ONCE; i++)
        g.once[i].numbers = g.once[i].seen = hdx_map_of(ask->q.mem);
    for (unsigned k = 0, n; k < by->sum_count; k++) {
        for (n = 0; by->sums[k].once != NULL && g.once[n].of != NULL && g.once[n].of != by->sums[k].once;)
            n++;
        assert(n < HDX_GROUPED_ONCE);
        if (by->sums[k].once != NULL)
            g.once[n].of = by->sums[k].once;
    }
    return g;
}

void hdx_grouped_drop(hdx_grouped *g)
{
    hdx_map_free(&g->places);
    for (unsigned i = 0; i < HDX_GROUPED_ONCE; i++) {
        hdx_map_free(&g->once[i].numbers);
        hdx_map_free(&g->once[i].seen);
    }
    hdx_list_free(g->ask.q.mem, HDX_LIST_REF(&g->groups));
}

static hdx_code no_memory(const hdx_grouped *g, hdx_error *err)
{
    return hdx_no_memory(err, g->what, (g->groups.count + 1) * sizeof(hdx_group));
}

static hdx_code group_of(hdx_grouped *g, const void *entry, uint64_t *out, hdx_error *err)
{
    const uint64_t key = g->by->key(entry);
    bool           fresh;
    *out = g->last;
    if (g->groups.count > 0 && g->groups.at[g->last].key == key)
        return HDX_OK;
    uint64_t *place = hdx_map_put(&g->places, key, &fresh);
    if (place == NULL || (fresh && !hdx_list_room(g->ask.q.mem, HDX_LIST_REF(&g->groups))))
        return no_memory(g, err);
    if (fresh) {
        *place = g->groups.count;
        g->groups.at[g->groups.count++] = (hdx_group){ .key = key };
    }
    *out = g->last = *place;
    return HDX_OK;
}

/* Returns whether the entry is the first of its group for the n-th `once`. */
static hdx_code is_first(hdx_grouped *g, unsigned n, uint64_t group, const void *entry, bool *first, hdx_error *err)
{
    bool      fresh;
    uint64_t *number = hdx_map_put(&g->once[n].numbers, g->once[n].of(entry), &fresh);
    if (number != NULL && fresh)
        *number = g->once[n].numbers.count - 1;
    if (number != NULL && (*number > UINT32_MAX || group > UINT32_MAX))
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "more than 4,294,967,296 groups of %s", g->what);
    return number != NULL && hdx_map_put(&g->once[n].seen, group << 32 | *number, first) != NULL ? HDX_OK
                                                                                                 : no_memory(g, err);
}

static void add_where(hdx_grouped *g, uint64_t group, const void *entry, uint64_t (*once)(const void *))
{
    for (unsigned k = 0; k < g->by->sum_count; k++) {
        const hdx_sum *s = &g->by->sums[k];
        if (s->once == once && (s->only == NULL || s->only(entry)))
            g->groups.at[group].sums[k] += s->value == NULL ? 1 : s->value(entry);
    }
}

hdx_code hdx_grouped_add(hdx_grouped *g, const void *entry, hdx_error *err)
{
    uint64_t group = 0;
    hdx_code code = group_of(g, entry, &group, err);
    if (code != HDX_OK)
        return code;
    add_where(g, group, entry, NULL);
    for (unsigned n = 0; n < HDX_GROUPED_ONCE && g->once[n].of != NULL; n++) {
        bool first;
        if ((code = is_first(g, n, group, entry, &first, err)) != HDX_OK)
            return code;
        if (first)
            add_where(g, group, entry, g->once[n].of);
    }
    return hdx_ask_check_cancel(&g->ask, err);
}

static int most_first(const void *a, const void *b)
{
    const hdx_group *x = a, *y = b;
    for (unsigned i = 0; i < 2; i++)
        if (x->rank[i] != y->rank[i])
            return x->rank[i] > y->rank[i] ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

static void sort_groups(hdx_grouped *g)
{
    for (uint64_t i = 0; i < g->groups.count; i++) {
        hdx_group *at = &g->groups.at[i];
        at->rank[0] = g->by->most == 0 ? 0 : at->sums[g->by->most - 1];
        at->rank[1] = g->by->then == 0 ? 0 : at->sums[g->by->then - 1];
    }
    if (g->groups.count > 1)
        qsort(g->groups.at, (size_t)g->groups.count, sizeof(hdx_group), most_first);
}

static hdx_code add_row(hdx_grouped *g, const hdx_group *group, hdx_table *table, hdx_error *err)
{
    hdx_cell       cells[HDX_GROUPED_KEYS + HDX_GROUPED_SUMS];
    const unsigned keys = g->by->keys;
    for (unsigned k = 0; k < keys; k++)
        cells[k] = hdx_cell_null();
    for (unsigned k = 0; k < g->by->sum_count; k++)
        cells[keys + k] = hdx_cell_uint(group->sums[k]);
    hdx_code code = g->by->key_cells(&g->ask, group->key, hdx_table_arena(table), cells, err);
    if (code == HDX_OK && (code = hdx_table_add(table, cells, err)) == HDX_OK)
        code = hdx_ask_check_cancel(&g->ask, err);
    return code;
}

hdx_code hdx_grouped_rows(hdx_grouped *g, const hdx_form *form, hdx_rows **out, hdx_error *err)
{
    hdx_table *table = NULL;
    assert(g->by->keys + g->by->sum_count == form->column_count);
    hdx_code code = hdx_table_in(g->ask.q.mem, form->columns, form->column_count, &table, err);
    sort_groups(g);
    for (uint64_t i = 0; code == HDX_OK && i < g->groups.count; i++)
        code = add_row(g, &g->groups.at[i], table, err);
    if (code == HDX_OK && (code = hdx_graph_check(g->ask.g, err)) == HDX_OK)
        return hdx_table_rows(table, out, err);
    hdx_table_free(table);
    return code;
}

uint64_t hdx_grouped_total(const hdx_grouped *g, unsigned sum)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < g->groups.count; i++)
        total += g->groups.at[i].sums[sum - 1];
    return total;
}

hdx_code hdx_class_key_cells(const hdx_ask *ask, uint64_t number, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    (void)arena;
    (void)err;
    cells[0] = hdx_class_cell(ask->g, (uint32_t)number);
    return HDX_OK;
}
