/*
 * holder_groups.c - determines which holders form a group.
 *
 * Each thread of a pool refers to what the pool shares, and none alone keeps it alive; the same is true of the fields
 * that one class has for one purpose, and of the roots of native code. Users regard them as one holder: the pool (names
 * that differ in digits only, as in `threads --by pool`), the class, the type of root.
 *
 * In:  the holders of flow.c, in which the fields of a class are adjacent.
 * Cost: 4 bytes per holder; 40 bytes and the name of each thread.
 */
#include "query/holding/holder_groups.h"
#include "query/common/labels.h"
#include "query/runtime/threads.h"
#include "graph/graph.h"

#include <stdlib.h>

typedef struct pool_member {
    uint64_t holder;
    uint32_t class_number; /* if the thread has no name */
    hdx_text pool;
} pool_member;

typedef struct grouping {
    hdx_ask              *ask;
    const hdx_holder     *holders;
    uint64_t              count;
    hdx_holder_groups    *out;
    uint64_t              room; /* capacity of `names` */
    hdx_arena             texts;
    HDX_LIST(pool_member) threads;
} grouping;

static hdx_code new_group(grouping *g, hdx_text name, hdx_error *err)
{
    if (!hdx_mem_room(g->ask->q.mem, (void **)&g->out->names, &g->room, g->out->count, sizeof *g->out->names))
        return hdx_no_memory(err, "groups of holders", g->out->count * sizeof *g->out->names);
    g->out->names[g->out->count++] = name;
    return HDX_OK;
}

/* ---- fields and roots ---- */

static hdx_code add_fields(grouping *g, hdx_error *err)
{
    const hdx_text nothing = { "", 0 };
    hdx_code       code = HDX_OK;
    for (uint64_t i = 1; code == HDX_OK && i < g->count; i++) {
        if (g->holders[i].kind != HDX_HOLDER_STATIC)
            continue;
        if (g->holders[i - 1].kind != HDX_HOLDER_STATIC || g->holders[i - 1].from != g->holders[i].from)
            code = new_group(g, nothing, err);
        g->out->of[i] = g->out->count - 1;
    }
    return code;
}

/* An object that is a root several times has the type of its first root in the dump. */
static hdx_code add_roots(grouping *g, hdx_error *err)
{
    uint32_t        group_of[HDX_ROOT_TYPES] = { 0 };
    hdx_map         types = hdx_map_of(g->ask->q.mem);
    uint64_t        count = 0;
    bool            fresh;
    const hdx_root *roots = hdx_graph_roots(g->ask->g, &count);
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; roots != NULL && i < count; i++) {
        if (roots[i].thread != HDX_NO_ID)
            continue;
        uint64_t *type = hdx_map_put(&types, roots[i].object, &fresh);
        if (type == NULL)
            return hdx_no_memory(err, "types of roots", types.count * sizeof(hdx_map_slot));
        if (fresh)
            *type = (uint64_t)roots[i].type;
    }
    for (uint64_t i = 1; code == HDX_OK && i < g->count; i++) {
        const uint64_t *known = g->holders[i].kind == HDX_HOLDER_ROOT ? hdx_map_get(&types, g->holders[i].from) : NULL;
        const uint64_t  type = known == NULL || *known >= HDX_ROOT_TYPES ? HDX_ROOT_UNKNOWN : *known;
        if (g->holders[i].kind != HDX_HOLDER_ROOT)
            continue;
        if (group_of[type] == 0) {
            const char *name = hdx_root_type_name((hdx_root_type)type),
                       *words = hdx_root_type_words(name, strlen(name));
            words = words != NULL ? words : name;
            group_of[type] = g->out->count;
            code = new_group(g, (hdx_text){ words, (uint32_t)strlen(words) }, err);
        }
        g->out->of[i] = group_of[type];
    }
    hdx_map_free(&types);
    return code;
}

/* ---- threads ---- */

static hdx_code read_thread(grouping *g, uint64_t holder, hdx_arena *arena, hdx_error *err)
{
    hdx_cell    label = hdx_cell_null();
    pool_member m = { .holder = holder };
    hdx_code    code = hdx_label_cell(&g->ask->q, g->holders[holder].from, arena, &label, err);
    if (code != HDX_OK)
        return code;
    if (arena->refused || !hdx_thread_pool_name(&label, &g->texts, &m.pool) ||
        !hdx_list_room(g->ask->q.mem, HDX_LIST_REF(&g->threads)))
        return hdx_no_memory(err, "names of threads", g->texts.size + g->threads.count * sizeof m);
    if (m.pool.len == 0)
        m.class_number = hdx_graph_class_of(g->ask->g, g->holders[holder].from);
    g->threads.at[g->threads.count++] = m;
    return hdx_ask_check_cancel(g->ask, err);
}

static int compare_pools(const pool_member *x, const pool_member *y)
{
    const int order = hdx_text_order(x->pool, y->pool);
    return order != 0 ? order : hdx_order(x->class_number, y->class_number);
}

static int by_pool(const void *a, const void *b)
{
    const pool_member *x = a, *y = b;
    const int          order = compare_pools(x, y);
    return order != 0 ? order : (x->holder > y->holder) - (x->holder < y->holder);
}

static hdx_code add_threads(grouping *g, hdx_error *err)
{
    hdx_arena        arena = hdx_arena_of(g->ask->q.mem);
    struct hdx_near *near = hdx_graph_near_begin(g->ask->g);
    hdx_code         code = HDX_OK;
    for (uint64_t i = 1; code == HDX_OK && i < g->count; i++) {
        hdx_arena_empty(&arena);
        if (g->holders[i].kind == HDX_HOLDER_THREAD)
            code = read_thread(g, i, &arena, err);
    }
    hdx_graph_near_end(near);
    if (code == HDX_OK && g->threads.count > 0)
        qsort(g->threads.at, (size_t)g->threads.count, sizeof *g->threads.at, by_pool);
    for (uint64_t i = 0; code == HDX_OK && i < g->threads.count; i++) {
        const pool_member *m = &g->threads.at[i];
        if (i == 0 || compare_pools(m, m - 1) != 0)
            code = new_group(g, m->pool, err);
        g->out->of[m->holder] = g->out->count - 1;
    }
    return code;
}

hdx_code hdx_holder_groups_find(hdx_ask *ask, const hdx_holder *holders, uint64_t count, hdx_holder_groups *out,
                                hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    grouping g = { .ask = ask, .holders = holders, .count = count, .out = out, .texts = hdx_arena_of(mem) };
    *out = (hdx_holder_groups){ .of = hdx_mem_array(mem, count, sizeof *out->of) };
    if (out->of == NULL)
        return hdx_no_memory(err, "groups of holders", count * sizeof *out->of);
    hdx_code code = new_group(&g, (hdx_text){ "", 0 }, err); /* group of holder 0 */
    if (code == HDX_OK && (code = add_fields(&g, err)) == HDX_OK && (code = add_threads(&g, err)) == HDX_OK)
        code = add_roots(&g, err);
    return code;
}
