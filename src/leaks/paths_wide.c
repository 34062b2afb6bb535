/*
 * paths_wide.c - makes paths with named references from the parents that the search recorded (SHARK 4.1).
 *
 * In:  the parents of a finished search, the leaks found.
 * Out: paths of the outermost leaks; leaks without a path.
 * Knows which reference of the parent must have enqueued an object (SHARK 3.3), and how references are named (SHARK
 * 3.6). Does not know statuses.
 * Cost: the length of the paths; each object on them is expanded once more, whatever the number of paths through it.
 */
#include "leaks/wide.h"

#include <stdlib.h>

typedef struct pair {
    NID       from, to;
    leak_hop *hop;
} pair;
static int by_from(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * Of nested leaks only the outermost is reported (SHARK 4.1). The path to a leak extends the path to its parent, so one
 * leak among its ancestors is enough. Results for visited objects are cached in `clean` and `below`; otherwise many
 * leaks at the end of a long list would walk that list again and again.
 */
static bool has_leak_above(const search *k, NID id, uint64_t *clean, uint64_t *below)
{
    NID  at = id;
    bool above = hdx_bits_test(below, id);
    while (!above && k->from[at] != at && !hdx_bits_test(clean, at)) {
        at = k->from[at];
        above = hdx_bits_test(k->wanted, at) || hdx_bits_test(below, at);
    }
    for (NID v = id; v != at; v = k->from[v])
        hdx_bits_put(above ? below : clean, v);
    return above;
}

static hdx_code collect(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    uint64_t    *clean = hdx_mem_array(k->s->mem, hdx_bits_words(k->st->objects), sizeof *clean);
    s->paths = hdx_arena_get(&s->arena, k->found_count * sizeof *s->paths);
    if (clean == NULL || s->paths == NULL) {
        hdx_mem_put(k->s->mem, clean, clean != NULL ? hdx_bits_words(k->st->objects) * sizeof *clean : 0);
        return hdx_no_memory(err, "paths", k->found_count * sizeof *s->paths);
    }
    hdx_code code = HDX_OK;
    memset(k->seen, 0, (size_t)(hdx_bits_words(k->st->objects) * sizeof *k->seen));
    for (uint64_t i = 0; code == HDX_OK && i < k->found_count; i++) {
        if (has_leak_above(k, k->found[i], clean, k->seen))
            continue;
        leak_path *p = &s->paths[s->path_count++];
        NID        at = k->found[i];
        for (p->count = 1; k->from[at] != at; at = k->from[at])
            p->count++;
        const uint64_t *root = hdx_map_get(&k->root_of, at);
        p->root = root != NULL ? &k->roots[*root] : NULL;
        p->objects = hdx_arena_get(&s->arena, p->count * sizeof *p->objects);
        p->hops = hdx_arena_get(&s->arena, p->count * sizeof *p->hops);
        if (p->objects == NULL || p->hops == NULL || p->root == NULL)
            code = hdx_no_memory(err, "paths", p->count * sizeof *p->hops);
        at = k->found[i];
        for (uint64_t j = p->count; code == HDX_OK && j-- > 0; at = k->from[at])
            p->objects[j] = at;
    }
    hdx_mem_put(k->s->mem, clean, hdx_bits_words(k->st->objects) * sizeof *clean);
    return code;
}

/*
 * The order of results: depth first over the tree formed by all paths, branches in the order in which the search found
 * them (SHARK 4.1). No stack is needed: a node knows its sibling and its parent.
 */
typedef struct branch {
    uint64_t up, child, last_child, next; /* places + 1; 0: none */
    uint64_t path;                        /* path + 1, for a leaf */
} branch;
typedef struct branches {
    branch  *at; /* at[0] is the parent of all roots */
    uint64_t count, capacity;
    hdx_map  of;
} branches;

static uint64_t add_branch(branches *b, hdx_id id, bool *fresh)
{
    uint64_t *place = hdx_map_put(&b->of, id, fresh);
    if (place == NULL || (*fresh && !hdx_mem_room(b->of.mem, (void **)&b->at, &b->capacity, b->count, sizeof *b->at)))
        return 0;
    if (*fresh) {
        b->at[b->count] = (branch){ .up = 0 };
        *place = ++b->count;
    }
    return *place;
}

static void attach_branch(branches *b, uint64_t child, uint64_t up)
{
    branch *parent = &b->at[up - 1];
    b->at[child - 1].up = up;
    if (parent->last_child != 0)
        b->at[parent->last_child - 1].next = child;
    else
        parent->child = child;
    parent->last_child = child;
}

/* Adds a path from the leaf upwards, until it meets a branch that exists. */
static bool grow_branch(branches *b, const leak_path *p, uint64_t number)
{
    bool     fresh = true;
    uint64_t below = add_branch(b, p->objects[p->count - 1], &fresh);
    if (below == 0)
        return false;
    b->at[below - 1].path = number + 1;
    for (uint64_t j = p->count - 1; j-- > 0 && fresh;) {
        const uint64_t up = add_branch(b, p->objects[j], &fresh);
        if (up == 0)
            return false;
        attach_branch(b, below, up);
        below = up;
    }
    if (fresh)
        attach_branch(b, below, 1);
    return true;
}

static hdx_code sort_paths(leak_search *s, hdx_error *err)
{
    branches   b = { .of = hdx_map_of(s->mem) };
    leak_path *sorted = hdx_arena_get(&s->arena, s->path_count * sizeof *sorted);
    bool       good = sorted != NULL && hdx_mem_room(s->mem, (void **)&b.at, &b.capacity, 0, sizeof *b.at);
    uint64_t   n = 0;
    if (good)
        b.at[b.count++] = (branch){ .up = 0 };
    for (uint64_t i = 0; good && i < s->path_count; i++)
        good = grow_branch(&b, &s->paths[i], i);
    for (uint64_t at = good ? b.at[0].child : 0; at != 0;) {
        if (b.at[at - 1].path != 0 && n < s->path_count)
            sorted[n++] = s->paths[b.at[at - 1].path - 1];
        if (b.at[at - 1].child != 0) {
            at = b.at[at - 1].child;
            continue;
        }
        while (at > 1 && b.at[at - 1].next == 0)
            at = b.at[at - 1].up;
        at = at > 1 ? b.at[at - 1].next : 0;
    }
    hdx_map_free(&b.of);
    hdx_mem_put(s->mem, b.at, b.capacity * sizeof *b.at);
    if (!good)
        return hdx_no_memory(err, "paths", s->path_count * sizeof *sorted);
    s->paths = sorted; /* every path ends in a leaf of the tree, because leaks do not nest */
    s->path_count = n;
    return HDX_OK;
}

static void name_hop(search *k, const edge *e, NID from, leak_hop *hop)
{
    leak_heap       *h = k->st->h;
    const uint32_t   number = look(k->st, from).number;
    const leak_plan *p = &k->plans[number];
    const char      *text = NULL;
    *hop = (leak_hop){ .from = from,
                       .to = e->to,
                       .kind = HDX_LEAK_REF_ARRAY_ENTRY,
                       .key = HDX_NO_ID,
                       .owner = number,
                       .matcher = e->matcher,
                       .low = e->low };
    switch ((leak_how)e->how) {
    case BY_FIELD:
        hop->kind = HDX_LEAK_REF_INSTANCE_FIELD;
        hop->name = p->slots[e->n].name;
        hop->owner = p->slots[e->n].owner;
        return;
    case BY_STATIC:
        hop->kind = HDX_LEAK_REF_STATIC_FIELD;
        hop->name = p->statics[e->n].name;
        return;
    case BY_LOCAL:
        hop->kind = HDX_LEAK_REF_LOCAL;
        text = "";
        break;
    case BY_ELEMENT:
    case BY_INDEX: text = hdx_leak_print(h, "%u", e->n); break;
    case BY_KEY: text = "key()"; break;
    case BY_MEMBER: text = "element()"; break;
    case BY_VALUE:
        if (e->key == NONE)
            text = "null";
        else if ((text = hdx_leak_text(h, e->key)) != NULL)
            text = hdx_leak_print(h, "\"%s\"", text);
        else
            hop->key = e->key;
        break;
    case BY_TARGET:
    case BY_NEW_ACTIVITIES:
        hop->kind = HDX_LEAK_REF_INSTANCE_FIELD;
        text = e->how == BY_TARGET ? "mTarget" : "mNewActivities";
        break;
    }
    if (text != NULL)
        hop->name = (hdx_text){ text, (uint32_t)strlen(text) };
}

/*
 * Names the first reference that may have enqueued `to`. Until the first queue was empty, a plain reference precedes
 * one of low priority (SHARK 3.3).
 */
static void name_targets(search *k, NID from, pair *at, uint64_t count)
{
    const bool   late = hdx_bits_test(k->late, from);
    const object o = look(k->st, from);
    if (walks_elements(k, &o)) {
        uint32_t n = 0; /* the index counts only non-null elements (SHARK 3.5) */
        for (uint64_t i = 0; i < o.count; i++) {
            const NID to = slot(k->st, &o, i);
            if (to == NONE)
                continue;
            const pair wanted = { from, to, NULL };
            pair      *p = bsearch(&wanted, at, (size_t)count, sizeof *at, by_from);
            if (p != NULL && p->hop->to == HDX_NO_ID) {
                const edge e = { .to = to, .key = NONE, .n = n, .how = BY_ELEMENT };
                name_hop(k, &e, from, p->hop);
            }
            n++;
        }
        return;
    }
    WIDE(hdx_leak_expand_object)(k, from, &o);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < k->edge_count; i++) {
            const edge *e = &k->edges[i];
            if (pass == 0 && !late && e->low)
                continue;
            const pair wanted = { from, e->to, NULL };
            pair      *p = bsearch(&wanted, at, (size_t)count, sizeof *at, by_from);
            if (p != NULL && p->hop->to == HDX_NO_ID)
                name_hop(k, e, from, p->hop);
        }
}

/*
 * Visits every reference of every path once, grouped by its source, so that an array of a million elements is scanned
 * once for all its leaks.
 */
static hdx_code name_paths(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    uint64_t     n = 0, count = 0;
    for (uint64_t i = 0; i < s->path_count; i++)
        n += s->paths[i].count - 1;
    pair *pairs = hdx_mem_array(k->s->mem, n, sizeof *pairs);
    if (pairs == NULL)
        return hdx_no_memory(err, "paths", n * sizeof *pairs);
    for (uint64_t i = 0; i < s->path_count; i++)
        for (uint64_t j = 0; j + 1 < s->paths[i].count; j++)
            pairs[count++] =
                (pair){ (NID)s->paths[i].objects[j], (NID)s->paths[i].objects[j + 1], &s->paths[i].hops[j] };
    if (n > 1)
        qsort(pairs, (size_t)n, sizeof *pairs, by_from);
    hdx_code code = HDX_OK;
    uint64_t distinct_count = 0; /* equal pairs are adjacent: the first is named, the others copy its name afterwards */
    pair    *distinct = hdx_mem_array(k->s->mem, n, sizeof *distinct);
    if (distinct == NULL)
        code = hdx_no_memory(err, "paths", n * sizeof *distinct);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        if (i == 0 || by_from(&pairs[i - 1], &pairs[i]) != 0) {
            pairs[i].hop->to = HDX_NO_ID;
            distinct[distinct_count++] = pairs[i];
        }
    k->naming = true;
    for (uint64_t i = 0, end; code == HDX_OK && i < distinct_count; i = end) {
        for (end = i; end < distinct_count && distinct[end].from == distinct[i].from; end++)
            ;
        name_targets(k, distinct[i].from, distinct + i, end - i);
    }
    for (uint64_t i = 1; code == HDX_OK && i < n; i++)
        if (by_from(&pairs[i - 1], &pairs[i]) == 0)
            *pairs[i].hop = *pairs[i - 1].hop;
    hdx_mem_put(k->s->mem, pairs, n * sizeof *pairs);
    hdx_mem_put(k->s->mem, distinct, distinct != NULL ? n * sizeof *distinct : 0);
    return code == HDX_OK && k->out_of_memory ? WIDE(hdx_leak_ended)(k, err) : code;
}

static hdx_code find_unreached(search *k, hdx_error *err)
{
    leak_search *s = k->s;
    for (uint64_t i = 0; i < k->found_count; i++)
        hdx_bits_clear(k->wanted, k->found[i]);
    if ((s->lost = hdx_arena_get(&s->arena, s->leaking_count * sizeof *s->lost)) == NULL)
        return hdx_no_memory(err, "leaks without a path", s->leaking_count * sizeof *s->lost);
    for (uint64_t i = 0; i < s->leaking_count; i++)
        if (hdx_bits_test(k->wanted, s->leaking[i]))
            s->lost[s->lost_count++] = s->leaking[i];
    return HDX_OK;
}

hdx_code WIDE(hdx_leak_paths)(search *k, hdx_error *err)
{
    hdx_code code = collect(k, err);
    if (code == HDX_OK)
        code = sort_paths(k->s, err);
    if (code == HDX_OK)
        code = name_paths(k, err);
    return code == HDX_OK ? find_unreached(k, err) : code;
}
