/*
 * verify_tree.c - checks that dominators and nearest parents are trees, and the right ones (INDEX I11 to I13).
 *
 * In:  parents of live objects, references between them.
 * Out: HDX_OK, or the first object that violates an invariant.
 * A tree in which every reference u -> v is inside of the subtree of the parent of v has only dominators as parents
 * (the parent property of Georgiadis and Tarjan). Neither this nor retained sizes show that they are the immediate
 * ones, so siblings are not compared. A tree of references is one of shortest paths if no reference leads down by more
 * than one level.
 * Cost: 12 to 24 bytes an object and two passes over all references. No recursion: leaves are removed until none is
 *       left; remaining nodes form cycles.
 */
#include "graph/verify.h"

#include <assert.h>

/* n numbers up to a limit known in advance: 4 bytes each if the limit allows. */
typedef struct numbers {
    void    *at;
    uint64_t n;
    bool     wide;
} numbers;

static bool numbers_get(numbers *a, uint64_t n, uint64_t limit)
{
    *a = (numbers){ .n = n, .wide = limit > UINT32_MAX };
    a->at = hdx_mem_array(NULL, n, a->wide ? 8 : 4);
    return a->at != NULL;
}

static void numbers_free(numbers *a)
{
    hdx_mem_put(NULL, a->at, a->n * (a->wide ? 8 : 4));
    a->at = NULL;
}

static inline uint64_t get(const numbers *a, uint64_t i)
{
    return a->wide ? ((const uint64_t *)a->at)[i] : ((const uint32_t *)a->at)[i];
}
static inline void put(numbers *a, uint64_t i, uint64_t value)
{
    assert(i < a->n && (a->wide || value <= UINT32_MAX)); /* at most the limit given to numbers_get */
    if (a->wide)
        ((uint64_t *)a->at)[i] = value;
    else
        ((uint32_t *)a->at)[i] = (uint32_t)value;
}

/* Node `objects` is the virtual root; `parent` of a garbage object is itself and has no meaning. */
typedef struct tree {
    numbers  parent;
    numbers  order; /* live objects, every one after all its descendants */
    uint64_t live, root;
} tree;

static void tree_free(tree *t)
{
    numbers_free(&t->parent);
    numbers_free(&t->order);
}

/* Leaves first: a node follows its last child. */
static hdx_code peel(hdx_verifier *v, tree *t, const char *where)
{
    numbers  children;
    uint64_t objects = v->g->objects, head = 0, tail = 0;
    if (!numbers_get(&children, objects + 1, objects + 1))
        return hdx_no_memory(v->err, "a tree", objects * 4);
    for (uint64_t id = 0; id < objects; id++)
        if (hdx_bits_test(v->live, id))
            put(&children, get(&t->parent, id), get(&children, get(&t->parent, id)) + 1);
    for (uint64_t id = 0; id < objects; id++)
        if (hdx_bits_test(v->live, id) && get(&children, id) == 0)
            put(&t->order, tail++, id);
    while (head < tail) {
        uint64_t up = get(&t->parent, get(&t->order, head++)), left = get(&children, up) - 1;
        put(&children, up, left);
        if (left == 0 && up != t->root)
            put(&t->order, tail++, up);
    }
    numbers_free(&children);
    return tail == t->live
               ? HDX_OK
               : HDX_WRONG(v, where, "parents form a cycle among %llu objects", (unsigned long long)(t->live - tail));
}

static hdx_code tree_make(hdx_verifier *v, tree *t, bool nearest, const char *where)
{
    uint64_t objects = v->g->objects;
    *t = (tree){ .live = v->g->m->live_objects, .root = objects };
    if (!numbers_get(&t->parent, objects + 1, objects + 1) || !numbers_get(&t->order, t->live, objects + 1))
        return hdx_no_memory(v->err, "a tree", objects * 8);
    for (uint64_t id = 0; id < objects; id++) {
        if (!hdx_bits_test(v->live, id))
            continue;
        hdx_id up = nearest ? hdx_graph_nearest(v->g, id) : hdx_graph_dominator(v->g, id);
        if (up == HDX_VIRTUAL_ROOT || (nearest && up == id))
            up = t->root;
        else if (up >= objects || !hdx_bits_test(v->live, up))
            return HDX_WRONG(v, where, "object %llu is live but has no live parent", (unsigned long long)id);
        put(&t->parent, id, up);
    }
    return peel(v, t, where);
}

typedef hdx_code visit_edge(hdx_verifier *v, void *context, uint64_t from, uint64_t to);

/* Visits every reference between live objects, including those to classes. */
static hdx_code each_edge(hdx_verifier *v, visit_edge *visit, void *context)
{
    hdx_refs refs;
    hdx_id   to;
    for (uint64_t from = 0; from < v->g->objects; from++) {
        if (!hdx_bits_test(v->live, from))
            continue;
        hdx_graph_outbound(v->g, from, HDX_ALL, &refs);
        while (hdx_refs_next(&refs, &to)) {
            hdx_code code = visit(v, context, from, to);
            if (code != HDX_OK)
                return code;
        }
    }
    return HDX_OK;
}

/* ---- dominators ---- */

/* Bottom up: an object retains its own size and what its children retain (MAT 6.3). */
static hdx_code check_retained(hdx_verifier *v, const tree *t)
{
    hdx_graph *g = v->g;
    hdx_code   code = HDX_OK;
    uint64_t   bytes = (g->objects + 1) * 8, *below = hdx_mem_get(NULL, bytes);
    if (below == NULL)
        return hdx_no_memory(v->err, "retained sizes", bytes);
    for (uint64_t i = 0; i < t->live && code == HDX_OK; i++) {
        uint64_t id = get(&t->order, i), retained = hdx_graph_retained(g, id);
        if (retained != below[id] + hdx_graph_shallow(g, id))
            code = HDX_WRONG(v, "retained",
                             "object %llu retains %llu bytes; with the objects that it dominates it is %llu",
                             (unsigned long long)id, (unsigned long long)retained,
                             (unsigned long long)(below[id] + hdx_graph_shallow(g, id)));
        below[get(&t->parent, id)] += retained;
    }
    for (uint64_t id = 0; id < g->objects && code == HDX_OK; id++)
        if (!hdx_bits_test(v->live, id) && hdx_graph_retained(g, id) != 0)
            code = HDX_WRONG(v, "retained", "object %llu is garbage but has a retained size", (unsigned long long)id);
    if (code == HDX_OK && below[t->root] != g->m->live_bytes)
        code = HDX_WRONG(v, "retained", "the roots retain %llu bytes; the heap has %llu",
                         (unsigned long long)below[t->root], (unsigned long long)g->m->live_bytes);
    hdx_mem_put(NULL, below, bytes);
    return code;
}

typedef struct spans { /* the subtree of a node has the numbers pre .. pre + size - 1 */
    const tree *t;
    numbers     pre, size;
} spans;

static hdx_code make_spans(hdx_verifier *v, const tree *t, spans *s)
{
    uint64_t objects = v->g->objects;
    numbers  next;
    *s = (spans){ .t = t };
    if (!numbers_get(&s->pre, objects + 1, objects + 2) || !numbers_get(&s->size, objects + 1, objects + 2) ||
        !numbers_get(&next, objects + 1, objects + 2))
        return hdx_no_memory(v->err, "a tree", objects * 12);
    for (uint64_t i = 0; i < t->live; i++) {
        uint64_t id = get(&t->order, i), up = get(&t->parent, id);
        put(&s->size, id, get(&s->size, id) + 1);
        put(&s->size, up, get(&s->size, up) + get(&s->size, id));
    }
    put(&next, t->root, 1);
    for (uint64_t i = t->live; i-- > 0;) { /* parents come before children */
        uint64_t id = get(&t->order, i), up = get(&t->parent, id), at = get(&next, up);
        put(&s->pre, id, at);
        put(&next, id, at + 1);
        put(&next, up, at + get(&s->size, id));
    }
    numbers_free(&next);
    return HDX_OK;
}

static hdx_code stays_inside(hdx_verifier *v, void *context, uint64_t from, uint64_t to)
{
    const spans *s = context;
    uint64_t     up = get(&s->t->parent, to);
    if (up == s->t->root || get(&s->pre, from) - get(&s->pre, up) < get(&s->size, up))
        return HDX_OK;
    return HDX_WRONG(v, "dominator", "object %llu refers to %llu but is not below its dominator %llu",
                     (unsigned long long)from, (unsigned long long)to, (unsigned long long)up);
}

hdx_code hdx_verify_dominators(hdx_verifier *v)
{
    tree     t;
    spans    s = { 0 };
    uint64_t garbage = v->g->objects - v->g->m->live_objects;
    hdx_code code = tree_make(v, &t, false, "dominator");
    if (code == HDX_OK && v->dominated != v->g->m->specials - garbage)
        code = HDX_WRONG(v, "dominated", "all lists have %llu objects; expected %llu", (unsigned long long)v->dominated,
                         (unsigned long long)(v->g->m->specials - garbage));
    if (code == HDX_OK)
        code = check_retained(v, &t);
    if (code == HDX_OK)
        code = make_spans(v, &t, &s);
    if (code == HDX_OK)
        code = each_edge(v, stays_inside, &s);
    numbers_free(&s.pre);
    numbers_free(&s.size);
    tree_free(&t);
    return code;
}

/* ---- nearest parents ---- */

typedef struct levels {
    const tree *t;
    numbers     depth;
    uint64_t   *referred; /* bit set: objects to which their parent refers */
} levels;

static hdx_code one_level(hdx_verifier *v, void *context, uint64_t from, uint64_t to)
{
    levels *l = context;
    if (get(&l->t->parent, to) == from)
        hdx_bits_put(l->referred, to);
    if (get(&l->depth, to) <= get(&l->depth, from) + 1)
        return HDX_OK;
    return HDX_WRONG(v, "nearest", "object %llu has a shorter path through %llu", (unsigned long long)to,
                     (unsigned long long)from);
}

static hdx_code check_levels(hdx_verifier *v, levels *l)
{
    const tree *t = l->t;
    for (uint64_t i = t->live; i-- > 0;) {
        uint64_t id = get(&t->order, i), up = get(&t->parent, id);
        put(&l->depth, id, up == t->root ? 0 : get(&l->depth, up) + 1);
        if (up == t->root)
            hdx_bits_put(l->referred, id);
    }
    hdx_code code = each_edge(v, one_level, l);
    for (uint64_t id = 0; id < v->g->objects && code == HDX_OK; id++)
        if (hdx_bits_test(v->live, id) && !hdx_bits_test(l->referred, id))
            code = HDX_WRONG(v, "nearest", "the parent of object %llu does not refer to it", (unsigned long long)id);
    return code;
}

hdx_code hdx_verify_nearest(hdx_verifier *v)
{
    tree     t;
    levels   l = { 0 };
    uint64_t objects = v->g->objects, roots = 0, bytes = hdx_bits_words(objects) * 8;
    hdx_code code = tree_make(v, &t, true, "nearest");
    for (uint64_t id = 0; id < objects && code == HDX_OK; id++)
        roots += hdx_bits_test(v->live, id) && get(&t.parent, id) == t.root;
    if (code == HDX_OK && roots != v->g->m->gc_roots)
        code = HDX_WRONG(v, "nearest", "%llu objects are their own roots; expected %llu", (unsigned long long)roots,
                         (unsigned long long)v->g->m->gc_roots);
    l.t = &t;
    if (code == HDX_OK &&
        (!numbers_get(&l.depth, objects + 1, objects + 1) || (l.referred = hdx_mem_get(NULL, bytes)) == NULL))
        code = hdx_no_memory(v->err, "levels", objects * 4);
    if (code == HDX_OK)
        code = check_levels(v, &l);
    numbers_free(&l.depth);
    hdx_mem_put(NULL, l.referred, bytes);
    tree_free(&t);
    return code;
}
