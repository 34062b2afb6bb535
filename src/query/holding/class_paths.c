/*
 * class_paths.c - the nodes of the dominator tree merged by class path.
 *
 * In:  dominator and class of every object; or, below one object, the objects that each dominates.
 * Out: the nodes, with objects and shallow sizes.
 * Cost: of the whole heap a sequential reading of both columns on all workers, then one walk up from each object to the
 *       first whose node is known; 6 to 8 bytes for each object (twice that from 2^31 objects on), and 72 for each
 * node. Below an object a visit of each object of the subtree, and 16 bytes for those that wait.
 *
 * The walk up needs no stack: it turns each link round, and turns it back on the way down. A link that leads to where
 * the walk began is a cycle, which only a damaged index has.
 */
#include "query/holding/class_paths.h"
#include "query/common/sweep.h"

#include <stdlib.h>

/* ---- keys ---- */

typedef struct keyed {
    hdx_text package;
    hdx_addr loader;
    uint32_t number;
} keyed;

static int by_package(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    const int    d = hdx_text_order(x->package, y->package);
    return d != 0 ? d : hdx_order(x->number, y->number);
}

static int by_loader(const void *a, const void *b)
{
    const keyed *x = a, *y = b;
    if (x->loader != y->loader)
        return x->loader < y->loader ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool same_key(hdx_by by, const keyed *x, const keyed *y)
{
    return by == HDX_BY_LOADER ? x->loader == y->loader : hdx_text_same(x->package, y->package);
}

static hdx_code number_keys(hdx_class_paths *p, const hdx_class *classes, hdx_error *err)
{
    keyed *keys = hdx_mem_array(p->mem, p->classes, sizeof *keys);
    p->key_of = hdx_mem_array(p->mem, p->classes, sizeof *p->key_of);
    if (keys == NULL || p->key_of == NULL) {
        hdx_mem_put(p->mem, keys, p->classes * sizeof *keys);
        return hdx_no_memory(err, "keys of classes", p->classes * sizeof *keys);
    }
    for (uint32_t i = 0; i < p->classes; i++)
        keys[i] = (keyed){ p->by == HDX_BY_PACKAGE ? hdx_package_of(classes[i].name) : (hdx_text){ "", 0 },
                           classes[i].loader, i };
    if (p->by != HDX_BY_CLASS && p->classes > 0)
        qsort(keys, p->classes, sizeof *keys, p->by == HDX_BY_LOADER ? by_loader : by_package);
    for (uint32_t i = 0, first = 0; i < p->classes; i++) {
        if (p->by == HDX_BY_CLASS || !same_key(p->by, &keys[i], &keys[first]))
            first = i;
        p->key_of[keys[i].number] = keys[first].number;
    }
    hdx_mem_put(p->mem, keys, p->classes * sizeof *keys);
    return HDX_OK;
}

/* ---- nodes ---- */

#define KNOWN 1024u /* a power of two */

typedef struct finder {
    hdx_ask         *ask;
    hdx_class_paths *p;
    hdx_map          children; /* above << 32 | key: index of the node, + 1 */
    struct known {
        uint64_t pair;
        uint32_t node; /* HDX_CLASS_PATH_TOP: none */
    } known[KNOWN];    /* pairs that were looked up lately */

    /* the whole heap */
    uint64_t  objects;
    uint32_t *link; /* of an object: see LINK_...; narrow */
    uint64_t *wide_link;
    uint16_t *class; /* number of its class; or wide_class */
    uint32_t *wide_class;
    struct sums {
        uint64_t objects, shallow;
    } * *sums; /* of each worker, by node */
    unsigned workers;
} finder;

/* A link is the id of the dominator, a node, or one of these; the top bit tells nodes from ids. */
enum { LINK_ROOT = 1, LINK_GARBAGE, LINK_END, LINKS };

static hdx_code child_of(finder *f, uint32_t above, uint32_t class, uint32_t *node, hdx_error *err)
{
    hdx_class_paths *p = f->p;
    uint32_t         level = above == HDX_CLASS_PATH_TOP ? 1 : p->nodes.at[above].level + 1;
    bool             fresh;
    if (level > HDX_CLASS_PATH_LEVELS + 1) {
        above = p->nodes.at[above].above;
        level--;
    }
    const uint32_t key = class < p->classes ? p->key_of[class] : class;
    const uint64_t pair = (uint64_t)above << 32 | key;
    struct known  *known = &f->known[(above * 31u ^ key) & (KNOWN - 1)];
    if (known->node != HDX_CLASS_PATH_TOP && pair == known->pair) {
        *node = known->node;
        return HDX_OK;
    }
    uint64_t *at = hdx_map_put(&f->children, pair, &fresh);
    if (at == NULL || p->nodes.count >= HDX_CLASS_PATH_TOP - 1 ||
        (fresh && !hdx_list_room(p->mem, HDX_LIST_REF(&p->nodes))))
        return hdx_no_memory(err, "class paths", p->nodes.count * sizeof *p->nodes.at);
    if (fresh) {
        *at = p->nodes.count;
        p->nodes.at[p->nodes.count++] = (hdx_class_path){ .above = above, .key = key, .level = level };
    }
    *node = (uint32_t)*at;
    *known = (struct known){ pair, *node };
    return HDX_OK;
}

/* By package and loader a class object counts as its class; otherwise all class objects would be java.lang's. */
static uint32_t class_for(const finder *f, hdx_id id, uint32_t class)
{
    if (f->p->by != HDX_BY_CLASS && hdx_graph_kind(f->ask->g, id) == HDX_CLASS_OBJECT) {
        const hdx_class *own = hdx_graph_class_object(f->ask->g, id);
        return own != NULL ? own->number : class;
    }
    return class;
}

/* ---- the whole heap ---- */

static uint64_t node_bit(const finder *f) { return f->link != NULL ? 1ull << 31 : 1ull << 63; }
static uint64_t code_of(const finder *f, unsigned which) { return node_bit(f) - which; }
static uint64_t get_link(const finder *f, uint64_t i) { return f->link != NULL ? f->link[i] : f->wide_link[i]; }
static void     set_link(finder *f, uint64_t i, uint64_t to)
{
    if (f->link != NULL)
        f->link[i] = (uint32_t)to;
    else
        f->wide_link[i] = to;
}

static uint32_t get_class(const finder *f, uint64_t i)
{
    if (f->class == NULL)
        return f->wide_class[i];
    return f->class[i] == UINT16_MAX ? HDX_NO_CLASS : f->class[i];
}

static hdx_code read_columns(void *of, uint64_t from, uint64_t to, unsigned worker, hdx_error *err)
{
    finder        *f = of;
    const uint32_t n = (uint32_t)(to - from);
    hdx_id         dominators[HDX_RUN];
    uint32_t       classes[HDX_RUN];
    (void)worker;
    (void)err;
    hdx_graph_read_dominators(f->ask->g, from, n, dominators);
    hdx_graph_read_classes(f->ask->g, from, n, classes);
    for (uint32_t i = 0; i < n; i++) {
        const hdx_id d = dominators[i];
        set_link(f, from + i,
                 d == HDX_VIRTUAL_ROOT ? code_of(f, LINK_ROOT)
                 : d >= f->objects     ? code_of(f, LINK_GARBAGE)
                                       : d);
        if (f->class != NULL)
            f->class[from + i] = classes[i] < UINT16_MAX ? (uint16_t)classes[i] : UINT16_MAX;
        else
            f->wide_class[from + i] = classes[i];
    }
    return HDX_OK;
}

/* Finds the node of an object: goes up to a root or to an object whose node is known, and down again. */
static hdx_code resolve(finder *f, uint64_t id, hdx_error *err)
{
    const uint64_t end = code_of(f, LINK_END), is_node = node_bit(f);
    uint64_t       below = end, at = id, up;
    uint32_t       node = HDX_CLASS_PATH_TOP;
    hdx_code       code = HDX_OK;
    while ((up = get_link(f, at)) < f->objects) {
        set_link(f, at, below);
        below = at;
        at = up;
    }
    if (up == end)
        return hdx_ask_unsound(f->ask, "dominator", "objects dominate each other", err);
    if (up == code_of(f, LINK_GARBAGE) && below != end)
        return hdx_ask_unsound(f->ask, "dominator", "an object has a dominator that is unreachable", err);
    if (up == code_of(f, LINK_ROOT)) {
        code = child_of(f, HDX_CLASS_PATH_TOP, class_for(f, at, get_class(f, at)), &node, err);
        set_link(f, at, is_node | node);
    } else if ((up & is_node) != 0) {
        node = (uint32_t)(up & ~is_node);
    }
    while (code == HDX_OK && below != end) {
        at = below;
        below = get_link(f, at);
        code = child_of(f, node, class_for(f, at, get_class(f, at)), &node, err);
        set_link(f, at, is_node | node);
    }
    return code;
}

static hdx_code add_sizes(void *of, uint64_t from, uint64_t to, unsigned worker, hdx_error *err)
{
    finder        *f = of;
    const uint32_t n = (uint32_t)(to - from);
    const uint64_t is_node = node_bit(f);
    uint64_t       sizes[HDX_RUN];
    struct sums   *sums = f->sums[worker];
    (void)err;
    hdx_graph_read_shallow(f->ask->g, from, n, sizes);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t link = get_link(f, from + i);
        if ((link & is_node) != 0) {
            sums[link & ~is_node].objects++;
            sums[link & ~is_node].shallow += sizes[i];
        }
    }
    return HDX_OK;
}

#define SUMS_MOST (64ull << 20) /* bytes of the sums of all workers */

static hdx_code add_up(finder *f, hdx_error *err)
{
    const uint64_t nodes = f->p->nodes.count, bytes = nodes * sizeof **f->sums;
    hdx_code       code = HDX_OK;
    f->workers = nodes > 0 && f->workers > SUMS_MOST / bytes ? (unsigned)(SUMS_MOST / bytes) : f->workers;
    f->workers = f->workers == 0 ? 1 : f->workers;
    f->sums = hdx_mem_array(f->p->mem, f->workers, sizeof *f->sums);
    for (unsigned w = 0; f->sums != NULL && w < f->workers; w++)
        if ((f->sums[w] = hdx_mem_array(f->p->mem, nodes, sizeof **f->sums)) == NULL)
            code = hdx_no_memory(err, "class paths", bytes);
    if (f->sums == NULL)
        code = hdx_no_memory(err, "class paths", f->workers * sizeof *f->sums);
    const hdx_sweep_range all = { .count = f->objects, .piece = HDX_RUN, .workers = f->workers };
    if (code == HDX_OK)
        code = hdx_sweep(&f->ask->q, &all, add_sizes, f, err);
    for (unsigned w = 0; f->sums != NULL && w < f->workers; w++) {
        for (uint64_t i = 0; code == HDX_OK && i < nodes; i++) {
            f->p->nodes.at[i].objects += f->sums[w][i].objects;
            f->p->nodes.at[i].shallow += f->sums[w][i].shallow;
        }
        hdx_mem_put(f->p->mem, f->sums[w], bytes);
    }
    hdx_mem_put(f->p->mem, f->sums, f->workers * sizeof *f->sums);
    f->sums = NULL;
    return code;
}

static hdx_code find_in_heap(finder *f, hdx_error *err)
{
    hdx_mem   *mem = f->p->mem;
    const bool narrow = f->objects < (1ull << 31) - LINKS, few = f->p->classes < UINT16_MAX;
    hdx_code   code = HDX_OK;
    f->workers = hdx_ask_threads(&f->ask->q);
    if (narrow)
        f->link = hdx_mem_raw(mem, f->objects, sizeof *f->link);
    else
        f->wide_link = hdx_mem_raw(mem, f->objects, sizeof *f->wide_link);
    if (few)
        f->class = hdx_mem_raw(mem, f->objects, sizeof *f->class);
    else
        f->wide_class = hdx_mem_raw(mem, f->objects, sizeof *f->wide_class);
    if ((f->link == NULL && f->wide_link == NULL) || (f->class == NULL && f->wide_class == NULL))
        code = hdx_no_memory(err, "class paths", f->objects * 6);
    const hdx_sweep_range all = { .count = f->objects, .piece = HDX_RUN, .workers = f->workers };
    if (code == HDX_OK)
        code = hdx_sweep(&f->ask->q, &all, read_columns, f, err);
    for (uint64_t i = 0; code == HDX_OK && i < f->objects; i++) {
        const uint64_t link = get_link(f, i);
        if (link < f->objects || link == code_of(f, LINK_ROOT))
            code = resolve(f, i, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
    }
    if (code == HDX_OK)
        code = add_up(f, err);
    hdx_mem_put(mem, f->link, f->objects * sizeof *f->link);
    hdx_mem_put(mem, f->wide_link, f->objects * sizeof *f->wide_link);
    hdx_mem_put(mem, f->class, f->objects * sizeof *f->class);
    hdx_mem_put(mem, f->wide_class, f->objects * sizeof *f->wide_class);
    return code;
}

/* ---- below one object ---- */

typedef struct waiting {
    hdx_id   id;
    uint32_t node;
} waiting;

static hdx_code find_below(finder *f, hdx_id of, hdx_error *err)
{
    HDX_LIST(waiting) list = { 0 };
    hdx_graph        *g = f->ask->g;
    uint64_t          visited = 0;
    hdx_code          code = HDX_OK;
    waiting           at = { of, HDX_CLASS_PATH_TOP };
    for (;;) {
        hdx_refs refs;
        hdx_id   id;
        hdx_graph_dominated(g, at.id, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
            uint32_t node;
            if (++visited > f->objects)
                code = hdx_ask_unsound(f->ask, "dominated", "object has more than one dominator", err);
            else
                code = child_of(f, at.node, class_for(f, id, hdx_graph_class_of(g, id)), &node, err);
            if (code != HDX_OK)
                break;
            f->p->nodes.at[node].objects++;
            f->p->nodes.at[node].shallow += hdx_graph_shallow(g, id);
            if (hdx_graph_kind(g, id) != HDX_PRIMITIVE_ARRAY) {
                if (!hdx_list_room(f->p->mem, HDX_LIST_REF(&list)))
                    code = hdx_no_memory(err, "class paths", list.count * sizeof *list.at);
                else
                    list.at[list.count++] = (waiting){ id, node };
            }
        }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
        if (code != HDX_OK || list.count == 0)
            break;
        at = list.at[--list.count];
    }
    hdx_list_free(f->p->mem, HDX_LIST_REF(&list));
    return code;
}

hdx_code hdx_class_paths_open(hdx_ask *ask, hdx_by by, hdx_id of, hdx_class_paths *out, hdx_error *err)
{
    *out = (hdx_class_paths){ .by = by, .mem = ask->q.mem };
    const hdx_class *classes = hdx_graph_classes(ask->g, &out->classes);
    finder          *f = hdx_mem_get(ask->q.mem, sizeof *f);
    if (f == NULL)
        return hdx_no_memory(err, "class paths", sizeof *f);
    *f = (finder){ .ask = ask, .p = out, .children = hdx_map_of(ask->q.mem), .objects = hdx_graph_objects(ask->g) };
    for (unsigned i = 0; i < KNOWN; i++)
        f->known[i].node = HDX_CLASS_PATH_TOP;
    hdx_code code = number_keys(out, classes, err);
    if (code == HDX_OK)
        code = of == HDX_VIRTUAL_ROOT ? find_in_heap(f, err) : find_below(f, of, err);
    hdx_map_free(&f->children);
    hdx_mem_put(ask->q.mem, f, sizeof *f);
    return code != HDX_OK ? code : hdx_graph_check(ask->g, err);
}

void hdx_class_paths_close(hdx_class_paths *p)
{
    hdx_list_free(p->mem, HDX_LIST_REF(&p->nodes));
    hdx_mem_put(p->mem, p->key_of, p->classes * sizeof *p->key_of);
    p->key_of = NULL;
}
