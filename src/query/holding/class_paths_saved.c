/*
 * class_paths_saved.c - the merged dominator trees of the whole heap, saved next to the index once one was asked for.
 *
 * In:  key, direction, least size.
 * Out: the tree, from the note HDX_NOTE_PATHS_... of the index (graph.h) if it has all nodes of that size.
 * Cost: some hundred KB read and checked; otherwise that of class_paths.c. A folder that cannot be written costs that
 *       each time.
 *
 *     offset size   little-endian
 *          0    8   version of this format
 *          8        the tree, then the reversed tree:
 *                   8 bytes least size, 8 bytes number of nodes, the top, the nodes
 *     of a node: above, key, level, rest_nodes (4 bytes each), objects, shallow, retained, rest_objects, rest_retained
 *     (8 bytes each)
 */
#include "graph/graph.h"
#include "query/holding/class_paths.h"

#define VERSION    1u
#define NODE_BYTES 56u
#define TREE_HEAD  (16u + NODE_BYTES)
#define SHARE      10000u /* a saved tree has the nodes that retain this part of the heap */
#define NODES_MOST 8192u  /* of a saved tree */

static hdx_note note_of(hdx_by by)
{
    return by == HDX_BY_PACKAGE  ? HDX_NOTE_PATHS_PACKAGE
           : by == HDX_BY_LOADER ? HDX_NOTE_PATHS_LOADER
                                 : HDX_NOTE_PATHS_CLASS;
}

/* ---- bytes ---- */

static uint8_t *put_node(uint8_t *at, const hdx_class_node *n)
{
    const uint32_t numbers[] = { n->above, n->key, n->level, n->rest_nodes };
    const uint64_t sums[] = { n->objects, n->shallow, n->retained, n->rest_objects, n->rest_retained };
    for (size_t i = 0; i < HDX_COUNT(numbers); i++, at += 4)
        hdx_put32(at, numbers[i]);
    for (size_t i = 0; i < HDX_COUNT(sums); i++, at += 8)
        hdx_put64(at, sums[i]);
    return at;
}

static hdx_class_node node_at(const uint8_t *at)
{
    return (hdx_class_node){ .above = hdx_le32(at),
                             .key = hdx_le32(at + 4),
                             .level = hdx_le32(at + 8),
                             .rest_nodes = hdx_le32(at + 12),
                             .objects = hdx_le64(at + 16),
                             .shallow = hdx_le64(at + 24),
                             .retained = hdx_le64(at + 32),
                             .rest_objects = hdx_le64(at + 40),
                             .rest_retained = hdx_le64(at + 48) };
}

static uint8_t *put_tree(uint8_t *at, const hdx_class_tree *t)
{
    hdx_put64(at, t->least);
    hdx_put64(at + 8, t->nodes.count);
    at = put_node(at + 16, &t->top);
    for (uint64_t i = 0; i < t->nodes.count; i++)
        at = put_node(at, &t->nodes.at[i]);
    return at;
}

/* Is each node directly below the one above it, and are sums and keys possible? The bytes may be anything. */
static bool is_sound(const hdx_class_tree *t, uint32_t classes, uint64_t live)
{
    uint32_t last[HDX_CLASS_PATH_LEVELS + 2]; /* the last node of each level */
    uint32_t level = 0;
    if (t->top.retained != live || (t->top.rest_retained > 0 && t->top.rest_nodes == 0) ||
        t->top.above != HDX_CLASS_PATH_TOP)
        return false;
    for (uint64_t i = 0; i < t->nodes.count; i++) {
        const hdx_class_node *n = &t->nodes.at[i];
        if ((n->rest_retained > 0 && n->rest_nodes == 0) || n->level == 0 || n->level > level + 1 ||
            n->level >= HDX_COUNT(last) || n->retained < t->least || (n->key >= classes && n->key != HDX_NO_CLASS) ||
            n->above != (n->level == 1 ? HDX_CLASS_PATH_TOP : last[n->level - 1]))
            return false;
        level = n->level;
        last[level] = (uint32_t)i;
    }
    return true;
}

/* What a node has beyond what its children, its rest and its own objects have; each node's must be 0. */
static bool adds_up(const hdx_class_tree *t, hdx_mem *mem)
{
    const uint64_t count = t->nodes.count;
    uint64_t      *left = hdx_mem_array(mem, count + 1, sizeof *left);
    bool           good = left != NULL;
    for (uint64_t i = 0; good && i <= count; i++) {
        const hdx_class_node *n = i < count ? &t->nodes.at[i] : &t->top;
        left[i] = n->retained - n->shallow - n->rest_retained;
    }
    for (uint64_t i = 0; good && i < count; i++)
        left[t->nodes.at[i].above == HDX_CLASS_PATH_TOP ? count : t->nodes.at[i].above] -= t->nodes.at[i].retained;
    for (uint64_t i = 0; good && i <= count; i++)
        good = left[i] == 0;
    hdx_mem_put(mem, left, (count + 1) * sizeof *left);
    return good;
}

/* Reads the tree at *at, and moves *at after it. False: it is not one of this index. */
static bool read_tree(hdx_ask *ask, const uint8_t **at, const uint8_t *end, hdx_class_tree *t)
{
    uint32_t classes;
    *t = (hdx_class_tree){ 0 };
    if ((size_t)(end - *at) < TREE_HEAD)
        return false;
    const uint64_t count = hdx_le64(*at + 8);
    if (count > NODES_MOST || (size_t)(end - *at) < TREE_HEAD + count * NODE_BYTES)
        return false;
    t->least = hdx_le64(*at);
    t->top = node_at(*at + 16);
    if ((t->nodes.at = hdx_mem_array(ask->q.mem, count, sizeof *t->nodes.at)) == NULL)
        return false;
    t->nodes.count = t->nodes.capacity = count;
    *at += TREE_HEAD;
    for (uint64_t i = 0; i < count; i++, *at += NODE_BYTES)
        t->nodes.at[i] = node_at(*at);
    (void)hdx_graph_classes(ask->g, &classes);
    if (is_sound(t, classes, hdx_graph_summary_of(ask->g)->live_bytes) && adds_up(t, ask->q.mem))
        return true;
    hdx_class_tree_free(t, ask->q.mem);
    return false;
}

/* Reads both saved trees; *there is false if there are none that can be used. */
static void recall(hdx_ask *ask, hdx_by by, hdx_class_tree trees[2], bool *there)
{
    hdx_remembered r = hdx_graph_recall(ask->g, note_of(by));
    const uint8_t *at = r.at + 8, *end = r.at + r.size;
    *there = r.at != NULL && r.size >= 8 && hdx_le64(r.at) == VERSION && read_tree(ask, &at, end, &trees[0]);
    if (*there && (!read_tree(ask, &at, end, &trees[1]) || at != end)) {
        hdx_class_tree_free(&trees[0], ask->q.mem);
        *there = false;
    }
    hdx_mem_put(NULL, r.at, r.size);
}

static void save(hdx_ask *ask, hdx_by by, const hdx_class_tree trees[2])
{
    const uint64_t bytes = 8 + 2 * TREE_HEAD + (trees[0].nodes.count + trees[1].nodes.count) * NODE_BYTES;
    uint8_t       *at = hdx_mem_array(ask->q.mem, bytes, 1);
    if (at == NULL)
        return;
    hdx_put64(at, VERSION);
    (void)put_tree(put_tree(at + 8, &trees[0]), &trees[1]);
    (void)hdx_graph_remember(ask->g, note_of(by), at, bytes);
    hdx_mem_put(ask->q.mem, at, bytes);
}

/* ---- the tree that is asked for ---- */

static hdx_code compute_saved(hdx_ask *ask, const hdx_class_paths *p, hdx_class_tree trees[2], hdx_error *err)
{
    const uint64_t least = hdx_graph_summary_of(ask->g)->live_bytes / SHARE;
    hdx_code       code = hdx_class_tree_of(p, false, least, NODES_MOST, ask, &trees[0], err);
    if (code == HDX_OK)
        code = hdx_class_tree_of(p, true, least, NODES_MOST, ask, &trees[1], err);
    return code;
}

hdx_code hdx_class_tree_of_heap(hdx_ask *ask, hdx_by by, bool reverse, uint64_t least, hdx_class_tree *out,
                                hdx_error *err)
{
    hdx_class_tree  trees[2] = { { .least = 0 } };
    hdx_class_paths p = { .mem = ask->q.mem };
    hdx_code        code = HDX_OK;
    bool            there;
    *out = (hdx_class_tree){ 0 };
    recall(ask, by, trees, &there);
    if (!there || trees[reverse].least > least) {
        code = hdx_class_paths_open(ask, by, HDX_VIRTUAL_ROOT, &p, err);
        if (code == HDX_OK && !there && (code = compute_saved(ask, &p, trees, err)) == HDX_OK)
            save(ask, by, trees);
    }
    if (code == HDX_OK && trees[reverse].least > least) {
        code = hdx_class_tree_of(&p, reverse, least, HDX_CLASS_NODES_MOST, ask, out, err);
    } else if (code == HDX_OK) {
        *out = trees[reverse];
        trees[reverse] = (hdx_class_tree){ 0 };
        code = hdx_class_tree_cut(out, least, ask->q.mem, err);
    }
    for (unsigned i = 0; i < 2; i++)
        hdx_class_tree_free(&trees[i], ask->q.mem);
    hdx_class_paths_close(&p);
    return code;
}

static bool same_trees(const hdx_class_tree *a, const hdx_class_tree *b)
{
    return a->least == b->least && a->nodes.count == b->nodes.count && memcmp(&a->top, &b->top, sizeof a->top) == 0 &&
           (a->nodes.count == 0 || memcmp(a->nodes.at, b->nodes.at, a->nodes.count * sizeof *a->nodes.at) == 0);
}

hdx_code hdx_class_trees_verify(const hdx_query *q, hdx_error *err)
{
    static const hdx_by keys[] = { HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER };
    hdx_ask             ask;
    hdx_code            code = hdx_ask_begin(q, &ask, err);
    for (unsigned k = 0; code == HDX_OK && k < HDX_COUNT(keys); k++) {
        hdx_class_tree  was[2] = { { .least = 0 } }, is[2] = { { .least = 0 } };
        hdx_class_paths p = { .mem = ask.q.mem };
        bool            there;
        recall(&ask, keys[k], was, &there);
        if (there && (code = hdx_class_paths_open(&ask, keys[k], HDX_VIRTUAL_ROOT, &p, err)) == HDX_OK)
            code = compute_saved(&ask, &p, is, err);
        if (there && code == HDX_OK && (!same_trees(&was[0], &is[0]) || !same_trees(&was[1], &is[1])))
            code = hdx_hint(err,
                            hdx_fail(err, HDX_DAMAGED, hdx_graph_saved_name(note_of(keys[k])), HDX_NOWHERE,
                                     "stored dominator tree by class path differs from the dominator tree"),
                            "it is safe to delete");
        for (unsigned i = 0; i < 2; i++) {
            hdx_class_tree_free(&was[i], ask.q.mem);
            hdx_class_tree_free(&is[i], ask.q.mem);
        }
        hdx_class_paths_close(&p);
    }
    return code;
}
