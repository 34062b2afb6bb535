/*
 * class_paths_cut.c - the nodes that retain enough, in the order in which a tree is drawn.
 *
 * In:  nodes with their own objects (class_paths.c).
 * Out: each node with what it retains, directly before its children, these by falling retained size; what was cut is
 *      summed in the node above it.
 * Cost: a pass over the nodes from the last to the first; reversed, a pass for each level over the nodes whose groups
 *       are large enough.
 */
#include "query/holding/class_paths.h"

#include <stdlib.h>

#define LEVELS_REVERSED 100u /* of the reversed tree; keepers above are summed as cut */

void hdx_class_tree_free(hdx_class_tree *tree, hdx_mem *mem) { hdx_list_free(mem, HDX_LIST_REF(&tree->nodes)); }

static hdx_class_node *above_of(hdx_class_tree *t, const hdx_class_node *n)
{
    return n->above == HDX_CLASS_PATH_TOP ? &t->top : &t->nodes.at[n->above];
}

/* ---- cutting and order ---- */

static int by_place(const void *a, const void *b)
{
    const hdx_class_node *x = a, *y = b;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* The nodes come in an order in which each is after the one above it, with sums; they are cut and ordered in place. */
static hdx_code cut(hdx_class_tree *t, uint64_t least, hdx_mem *mem, hdx_error *err)
{
    const uint64_t  count = t->nodes.count;
    hdx_class_node *nodes = t->nodes.at;
    uint32_t       *place = hdx_mem_array(mem, count, sizeof *place), kept = 0;
    if (place == NULL)
        return hdx_no_memory(err, "class paths", count * sizeof *place);
    for (uint64_t i = 0; i < count; i++) {
        hdx_class_node n = nodes[i];
        const bool     above_kept = n.above == HDX_CLASS_PATH_TOP || place[n.above] != HDX_CLASS_PATH_TOP;
        place[i] = HDX_CLASS_PATH_TOP;
        if (!above_kept)
            continue;
        n.above = n.above == HDX_CLASS_PATH_TOP ? n.above : place[n.above];
        if (n.retained >= least) {
            place[i] = kept;
            nodes[kept++] = n;
        } else {
            hdx_class_node *above = above_of(t, &n);
            above->rest_nodes++;
            above->rest_objects += n.objects;
            above->rest_retained += n.retained;
        }
    }
    hdx_mem_put(mem, place, count * sizeof *place);
    t->nodes.count = kept;
    t->least = least;
    return HDX_OK;
}

typedef struct sorted {
    hdx_class_node node;
    uint32_t       was, now;
} sorted;

/* Puts each node directly before its children. */
static hdx_code order(hdx_class_tree *t, hdx_mem *mem, hdx_error *err)
{
    const uint64_t  count = t->nodes.count;
    uint64_t        depth = 0, made = 0;
    sorted         *s = hdx_mem_array(mem, count, sizeof *s);
    uint32_t       *first = hdx_mem_array(mem, count + 1, sizeof *first); /* children of a node; of the top: the last */
    uint32_t       *stack = hdx_mem_array(mem, count + 1, sizeof *stack);
    hdx_class_node *nodes = hdx_mem_array(mem, count, sizeof *nodes);
    hdx_code        code = HDX_OK;
    if (s == NULL || first == NULL || stack == NULL || nodes == NULL)
        code = hdx_no_memory(err, "class paths", count * sizeof *s);
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        s[i] = (sorted){ .node = t->nodes.at[i], .was = (uint32_t)i };
        first[i] = HDX_CLASS_PATH_TOP;
    }
    if (code == HDX_OK) {
        qsort(s, count, sizeof *s, by_place); /* a sorted begins with its node */
        first[count] = HDX_CLASS_PATH_TOP;
    }
    for (uint64_t i = count; code == HDX_OK && i-- > 0;)
        first[s[i].node.above == HDX_CLASS_PATH_TOP ? count : s[i].node.above] = (uint32_t)i;
    if (code == HDX_OK && count > 0)
        stack[depth++] = first[count];
    while (depth > 0) {
        const uint32_t at = stack[--depth];
        sorted        *n = &s[at];
        if (at + 1ull < count && s[at + 1].node.above == n->node.above)
            stack[depth++] = at + 1; /* the next child of the same node */
        if (first[n->was] != HDX_CLASS_PATH_TOP)
            stack[depth++] = first[n->was];
        n->now = (uint32_t)made;
        nodes[made++] = n->node;
    }
    /* numbers of the nodes above are those of before: the place of each in s is found by its old number */
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        stack[s[i].was] = s[i].now;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        if (nodes[i].above != HDX_CLASS_PATH_TOP)
            nodes[i].above = stack[nodes[i].above];
        t->nodes.at[i] = nodes[i];
    }
    hdx_mem_put(mem, s, count * sizeof *s);
    hdx_mem_put(mem, first, (count + 1) * sizeof *first);
    hdx_mem_put(mem, stack, (count + 1) * sizeof *stack);
    hdx_mem_put(mem, nodes, count * sizeof *nodes);
    return code;
}

hdx_code hdx_class_tree_cut(hdx_class_tree *tree, uint64_t least, hdx_mem *mem, hdx_error *err)
{
    return least <= tree->least ? HDX_OK : cut(tree, least, mem, err);
}

/* ---- what nodes retain ---- */

static hdx_code retained_nodes(const hdx_class_paths *p, hdx_class_tree *t, hdx_mem *mem, hdx_error *err)
{
    const uint64_t count = p->nodes.count;
    t->nodes.at = hdx_mem_array(mem, count, sizeof *t->nodes.at);
    if (t->nodes.at == NULL)
        return hdx_no_memory(err, "class paths", count * sizeof *t->nodes.at);
    t->nodes.count = t->nodes.capacity = count;
    for (uint64_t i = 0; i < count; i++) {
        const hdx_class_path *n = &p->nodes.at[i];
        t->nodes.at[i] = (hdx_class_node){ .above = n->above,
                                           .key = n->key,
                                           .level = n->level,
                                           .objects = n->objects,
                                           .shallow = n->shallow,
                                           .retained = n->shallow };
    }
    for (uint64_t i = count; i-- > 0;) {
        hdx_class_node *above = above_of(t, &t->nodes.at[i]);
        above->retained += t->nodes.at[i].retained;
        if (above == &t->top)
            t->top.objects += t->nodes.at[i].objects;
    }
    return HDX_OK;
}

/* ---- reversed ---- */

/* Objects of one node of the paths, on their way up: `at` is the node whose class comes next. */
typedef struct climber {
    uint64_t objects, shallow;
    uint32_t at, group; /* group: node of the reversed tree that they belong to */
} climber;

typedef struct reversed {
    const hdx_class_paths *p;
    hdx_class_tree        *t;
    climber               *climbers;
    uint64_t               count;
    hdx_map                groups; /* group << 32 | key: index of the node, + 0 */
    hdx_mem               *mem;
} reversed;

/* Puts every climber into the group of its next class. */
static hdx_code climb(reversed *r, uint32_t level, hdx_error *err)
{
    for (uint64_t i = 0; i < r->count; i++) {
        climber              *c = &r->climbers[i];
        const hdx_class_path *n = &r->p->nodes.at[c->at];
        bool                  fresh;
        uint64_t             *at = hdx_map_put(&r->groups, (uint64_t)c->group << 32 | n->key, &fresh);
        if (at == NULL || r->t->nodes.count >= HDX_CLASS_PATH_TOP - 1 ||
            (fresh && !hdx_list_room(r->mem, HDX_LIST_REF(&r->t->nodes))))
            return hdx_no_memory(err, "class paths", r->t->nodes.count * sizeof *r->t->nodes.at);
        if (fresh) {
            *at = r->t->nodes.count;
            r->t->nodes.at[r->t->nodes.count++] = (hdx_class_node){ .above = c->group, .key = n->key, .level = level };
        }
        hdx_class_node *group = &r->t->nodes.at[*at];
        group->objects += c->objects;
        group->retained += c->shallow;
        if (n->above == HDX_CLASS_PATH_TOP)
            group->shallow += c->shallow;
        c->group = (uint32_t)*at;
        c->at = n->above;
    }
    return HDX_OK;
}

/* Leaves out those that have arrived, and those in groups that will be cut. */
static void thin(reversed *r, uint64_t least, bool last)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        const climber   c = r->climbers[i];
        hdx_class_node *group = &r->t->nodes.at[c.group];
        if (c.at == HDX_CLASS_PATH_TOP || group->retained < least)
            continue;
        if (!last) {
            r->climbers[kept++] = c;
            continue;
        }
        group->rest_nodes = 1;
        group->rest_objects += c.objects;
        group->rest_retained += c.shallow;
    }
    r->count = kept;
}

static hdx_code reversed_nodes(const hdx_class_paths *p, uint64_t least, hdx_class_tree *t, hdx_ask *ask,
                               hdx_error *err)
{
    hdx_mem       *mem = ask->q.mem;
    const uint64_t count = p->nodes.count;
    reversed       r = { .p = p, .t = t, .mem = mem, .groups = hdx_map_of(mem) };
    hdx_code       code = HDX_OK;
    if ((r.climbers = hdx_mem_array(mem, count, sizeof *r.climbers)) == NULL)
        return hdx_no_memory(err, "class paths", count * sizeof *r.climbers);
    for (uint64_t i = 0; i < count; i++) {
        const hdx_class_path *n = &p->nodes.at[i];
        r.climbers[r.count++] = (climber){ n->objects, n->shallow, (uint32_t)i, HDX_CLASS_PATH_TOP };
        t->top.objects += n->objects;
        t->top.retained += n->shallow;
    }
    for (uint32_t level = 1; code == HDX_OK && r.count > 0 && level <= LEVELS_REVERSED; level++) {
        code = climb(&r, level, err);
        if (code == HDX_OK)
            thin(&r, least, level == LEVELS_REVERSED);
        if (code == HDX_OK)
            code = hdx_ask_stopped(&ask->q, err);
    }
    hdx_map_free(&r.groups);
    hdx_mem_put(mem, r.climbers, count * sizeof *r.climbers);
    return code;
}

static int falling(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The least size that leaves at most `most` nodes. */
static hdx_code raise(const hdx_class_tree *t, uint64_t most, uint64_t *least, hdx_mem *mem, hdx_error *err)
{
    if (t->nodes.count <= most)
        return HDX_OK;
    uint64_t *sizes = hdx_mem_array(mem, t->nodes.count, sizeof *sizes);
    if (sizes == NULL)
        return hdx_no_memory(err, "class paths", t->nodes.count * sizeof *sizes);
    for (uint64_t i = 0; i < t->nodes.count; i++)
        sizes[i] = t->nodes.at[i].retained;
    qsort(sizes, t->nodes.count, sizeof *sizes, falling);
    if (sizes[most] >= *least)
        *least = sizes[most] + 1;
    hdx_mem_put(mem, sizes, t->nodes.count * sizeof *sizes);
    return HDX_OK;
}

hdx_code hdx_class_tree_of(const hdx_class_paths *p, bool reverse, uint64_t least, uint64_t most, hdx_ask *ask,
                           hdx_class_tree *out, hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    *out = (hdx_class_tree){ .top = { .above = HDX_CLASS_PATH_TOP, .key = HDX_NO_CLASS } };
    hdx_code code = reverse ? reversed_nodes(p, least, out, ask, err) : retained_nodes(p, out, mem, err);
    if (code == HDX_OK)
        code = cut(out, least, mem, err);
    if (code == HDX_OK && (code = raise(out, most, &least, mem, err)) == HDX_OK && least > out->least)
        code = cut(out, least, mem, err);
    return code != HDX_OK ? code : order(out, mem, err);
}
