/*
 * contents_entries.c - iterates over the entries of one collection.
 *
 * In:  layouts bound to the classes of a dump, values from the dump.
 * Out: entries, or a note why some are missing.
 * Chains and trees may contain cycles. Nothing recurses: trees use a stack in the memory budget, wrappers and chains
 * are followed step by step.
 * Cost: one record for the collection and one per node.
 */
#include "query/common/contents_read.h"

#include "graph/graph.h"
#include <string.h>

#define STATICS_MOST 4u
#define MANY_STATICS 4096u /* static fields of a class with a sentinel object */

/* ---- entries ---- */

static bool sentinels(hdx_contents *c, const hdx_static_name *name, hdx_addr out[STATICS_MOST])
{
    hdx_values v = { 0 };
    unsigned   n = 0;
    uint32_t   count = 0;
    memset(out, 0, STATICS_MOST * sizeof *out);
    if (name->class_name == NULL)
        return true;
    const hdx_class *classes = hdx_graph_classes(c->g, &count);
    for (uint32_t i = 0; i < count && n < STATICS_MOST; i++) { /* several class loaders may define the class */
        if (!hdx_text_is(classes[i].name, name->class_name) || classes[i].static_count > MANY_STATICS)
            continue;
        hdx_error mine;
        hdx_code  code = hdx_graph_statics(c->g, classes[i].id, &v, &mine);
        if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(c->g))
            break;
        if (code != HDX_OK) {
            hdx_values_free(&v);
            if (c->err != NULL)
                *c->err = mine;
            return hdx_contents_fail(c, code);
        }
        for (uint64_t k = 0; k < v.count && n < STATICS_MOST; k++)
            if (v.at[k].name.len == name->field.len && v.at[k].value.type == 2 && !v.at[k].value.absent &&
                v.at[k].value.as.address != 0 && memcmp(v.at[k].name.at, name->field.at, name->field.len) == 0)
                out[n++] = v.at[k].value.as.address;
    }
    hdx_values_free(&v);
    return true;
}

static bool is_one_of(const hdx_value *v, const hdx_addr at[STATICS_MOST])
{
    if (v->type != 2 || v->as.address == 0)
        return false;
    for (unsigned i = 0; i < STATICS_MOST && at[i] != 0; i++)
        if (at[i] == v->as.address)
            return true;
    return false;
}

static hdx_object_as walked_object(const hdx_entry_walk *w)
{
    return (hdx_object_as){ w->id, w->of.class, w->of.skip };
}

/* Reads the fields of the collection that limit the range of its elements. */
static bool read_bounds(hdx_entry_walk *w)
{
    hdx_contents       *c = w->c;
    const hdx_layout   *l = w->of.layout;
    const hdx_object_as o = walked_object(w);
    hdx_value           v;
    bool                null;
    hdx_id              id;
    if (l->way != HDX_WAY_OF && l->from.count > 0 &&
        (!hdx_contents_value(c, o, &l->from, 0, &v, &null) || null || !hdx_contents_number(c, &v, &w->from)))
        return false;
    if (l == &hdx_layout_of_arrays) {
        w->sized = w->bounded = true;
        w->size = w->limit = hdx_graph_length(c->g, w->id);
        return hdx_contents_open_array(c, w->id, &w->slots);
    }
    switch (l->way) {
    case HDX_WAY_CHAIN: return hdx_contents_object(c, o, &l->source.at[0], &w->node);
    case HDX_WAY_TREE: return hdx_contents_object(c, o, &l->source.at[0], &w->node);
    case HDX_WAY_COLUMNS:
        if (l->values.count > 0 &&
            (!hdx_contents_object(c, o, &l->values.at[0], &id) || !hdx_contents_open_array(c, id, &w->parallel)))
            return false;
        return true;
    default: return true;
    }
}

/* Adds a wrapper that changes keys or values. */
static bool add_wrapper(hdx_entry_walk *w, const hdx_layout *l)
{
    if (l->value.count == 0 && l->unwrap_count == 0)
        return true;
    if (w->wrappers == HDX_WRAPPERS_MOST)
        return hdx_contents_give_up(w->c, HDX_NOTE_UNKNOWN);
    w->wrapper[w->wrappers++] = l;
    return true;
}

static bool begin_walk(hdx_entry_walk *w, hdx_id id)
{
    hdx_contents *c = w->c;
    w->of = hdx_contents_layout_of(c, id);
    for (;;) {
        const hdx_layout *l = w->of.layout;
        uint64_t          size, from = 0;
        w->id = id;
        if (l == NULL || w->of.class == HDX_NO_CLASS || l->unknown)
            return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
        const hdx_object_as o = walked_object(w);
        const bool          sized = l->term_count > 0 && hdx_contents_size_of(c, o, l, &size);
        if (l->term_count > 0 && !sized && !hdx_contents_size_is_lost(c, l))
            return false;
        /*
         * A view limits what is visible of the inner collection. The size of a multimap does not: it exceeds that of
         * its map.
         */
        if (sized && (l->way != HDX_WAY_OF || l->from.count > 0)) {
            w->size = w->sized && w->size < size ? w->size : size;
            w->sized = true;
            w->bounded = w->bounded || l->way == HDX_WAY_OF || l->way == HDX_WAY_NONE || l->way == HDX_WAY_SLOTS ||
                         l->way == HDX_WAY_FIELDS || l->free == HDX_FREE_NONE;
        }
        if (l->way != HDX_WAY_OF)
            break;
        hdx_value v;
        bool      null;
        if (!add_wrapper(w, l))
            return false;
        if (l->from.count > 0 &&
            (!hdx_contents_value(c, o, &l->from, 0, &v, &null) || null || !hdx_contents_number(c, &v, &from)))
            return false;
        w->skip = from > UINT64_MAX - w->skip ? UINT64_MAX : w->skip + from;
        w->take = w->take == HDX_TAKE_ALL ? l->take : w->take;
        if (!hdx_contents_step(c, 1) || !hdx_contents_object(c, o, &l->source.at[0], &id))
            return false;
        if (id == HDX_NO_ID)
            return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
        w->of = hdx_contents_layout_of(c, id);
    }
    const hdx_layout *l = w->of.layout;
    if (l->way == HDX_WAY_NONE && !(w->sized && w->size == 0))
        return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
    return sentinels(c, &l->nothing, w->nothing) && sentinels(c, &l->null, w->null) &&
           sentinels(c, &l->chain, w->chain) && read_bounds(w);
}

hdx_code hdx_entry_walk_begin(hdx_entry_walk *w, hdx_contents *c, hdx_id id, uint64_t most, hdx_error *err)
{
    *w = (hdx_entry_walk){ .c = c, .path = hdx_ids_of(c->mem), .node = HDX_NO_ID };
    w->slots.array = w->parallel.array = w->chained.array = HDX_NO_ID;
    hdx_contents_begin(c, most, err);
    if (!begin_walk(w, id)) {
        w->ended = true;
        w->note = c->note;
    }
    return c->code;
}

void hdx_entry_walk_end(hdx_entry_walk *w) { hdx_ids_drop(&w->path); }

/* Reads the first of several paths that the object's class has; the layout is unknown if it has none. */
static bool part_of_node(hdx_contents *c, hdx_id node, const hdx_field_paths *p, hdx_value *out)
{
    const hdx_object_as o = hdx_object_seen(c, node);
    bool                null;
    for (unsigned i = 0; i < p->count; i++) {
        if (hdx_contents_place(c, o.class, p->at[i].step[0]) == HDX_NO_PLACE)
            continue;
        if (!hdx_contents_value(c, o, &p->at[i], 0, out, &null))
            return false;
        if (null)
            *out = (hdx_value){ .type = 2 };
        return true;
    }
    return hdx_contents_give_up(c, HDX_NOTE_UNKNOWN);
}

/* Reads key and value of a node. *is: the node contains an entry. */
static bool entry_of_node(hdx_entry_walk *w, hdx_id node, hdx_entry *e, bool *is)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    e->has_key = l->key.count > 0;
    e->has_value = l->value.count > 0;
    if ((e->has_key && !part_of_node(c, node, &l->key, &e->key)) ||
        (e->has_value && !part_of_node(c, node, &l->value, &e->value)))
        return false;
    *is = !(l->free == HDX_FREE_KEY && hdx_contents_is_zero(&e->key)) &&
          !(l->free == HDX_FREE_VALUE && hdx_contents_is_zero(&e->value));
    return true;
}

/* Moves to the next node of a chain. A node that refers to itself was removed from a queue and ends the chain. */
static bool next_node(hdx_entry_walk *w, hdx_id node, hdx_id *out)
{
    hdx_contents *c = w->c;
    if (!hdx_contents_step(c, 1) || !hdx_contents_object(c, hdx_object_seen(c, node), &w->of.layout->next, out))
        return false;
    if (*out == node)
        *out = HDX_NO_ID;
    return true;
}

/* Replaces a bin (a node that represents several nodes) by its first node. */
static bool out_of_bin(hdx_entry_walk *w, hdx_id *node)
{
    hdx_contents         *c = w->c;
    const hdx_field_path *bin = &w->of.layout->bin;
    const hdx_object_as   o = hdx_object_seen(c, *node);
    if (bin->count == 0 || hdx_contents_place(c, o.class, bin->step[0]) == HDX_NO_PLACE)
        return true;
    return hdx_contents_object(c, o, bin, node);
}

/* Opens the next array; *end: no further array. */
static bool next_slots(hdx_entry_walk *w, bool *end)
{
    hdx_id id;
    if (!hdx_contents_next_array(w->c, walked_object(w), &w->of.layout->source, &w->arrays, &id))
        return false;
    *end = id == HDX_NO_ID;
    w->next = 0;
    return *end || (hdx_contents_step(w->c, 1) && hdx_contents_open_array(w->c, id, &w->slots));
}

/* Finds the range of used elements in the open array: all, or those between the two ends of a ring buffer. */
static bool find_range(hdx_entry_walk *w)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    hdx_value         v;
    uint64_t          to;
    bool              null;
    w->start = 0;
    w->limit = w->slots.length;
    if (l->from.count == 0 && l->to.count == 0)
        return true;
    if (w->slots.length == 0)
        return true;
    if (w->from >= w->slots.length)
        return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
    w->start = w->from;
    if (l->to.count == 0)
        return true;
    if (!hdx_contents_value(c, walked_object(w), &l->to, 0, &v, &null) || null || !hdx_contents_number(c, &v, &to))
        return false;
    if (to > w->slots.length)
        return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
    w->limit = to >= w->from ? to - w->from : to + w->slots.length - w->from;
    return true;
}

bool hdx_entry_walk_span(hdx_entry_walk *w, uint64_t *count)
{
    bool end = true;
    if (!next_slots(w, &end) || (!end && !find_range(w)))
        return false;
    *count = end ? 0 : w->limit;
    return true;
}

static bool bit_set(hdx_entry_walk *w, uint64_t i, bool *set)
{
    hdx_contents *c = w->c;
    hdx_value     v;
    hdx_id        id;
    bool          null;
    uint64_t      word;
    *set = false;
    if (!hdx_contents_value(c, walked_object(w), &w->of.layout->bits, 0, &v, &null))
        return false;
    if (!null && v.type == 2) {
        if (!hdx_contents_referred(c, &v, &id) ||
            (w->parallel.array != id && !hdx_contents_open_array(c, id, &w->parallel)))
            return false;
        null = i / 64 >= w->parallel.length;
        if (!null && !hdx_contents_element(c, &w->parallel, i / 64, &v))
            return false;
    } else {
        null = null || i >= 64;
    }
    if (null)
        return true;
    if (!hdx_contents_number(c, &v, &word))
        return false;
    *set = (word >> (i % 64) & 1) != 0;
    return true;
}

/* Reads an element of a list, or key and value of a node. */
static bool entry_of_element(hdx_entry_walk *w, const hdx_value *v, hdx_entry *e, bool *is)
{
    const hdx_layout *l = w->of.layout;
    hdx_id            node;
    if (l->key.count == 0 && l->value.count == 0) {
        *e = (hdx_entry){ .has_value = true, .value = *v };
        *is = true;
        return true;
    }
    if (!hdx_contents_referred(w->c, v, &node))
        return false;
    if (node == HDX_NO_ID) {
        *is = false;
        return true;
    }
    return entry_of_node(w, node, e, is);
}

/* Sets *is if the slot has an entry although its key is null: the last slot, if a field says so. */
static bool null_in_last(hdx_entry_walk *w, uint64_t i, bool *is)
{
    const hdx_layout *l = w->of.layout;
    hdx_value         last;
    bool              null;
    *is = false;
    if (l->last.count == 0 || i + 1 != w->slots.length)
        return true;
    if (!hdx_contents_value(w->c, walked_object(w), &l->last, 0, &last, &null))
        return false;
    *is = !null && last.type == 4 && last.as.boolean;
    return true;
}

static bool next_slot(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    hdx_value         v;
    *is = false;
    while (w->slots.array == HDX_NO_ID || w->next == w->limit) {
        if (!next_slots(w, end))
            return false;
        if (*end)
            return true;
        if (!find_range(w))
            return false;
    }
    const uint64_t i = (w->start + w->next++) % w->slots.length;
    *is = true;
    if (l->bits.count > 0 && !bit_set(w, i, is))
        return false;
    if (!*is)
        return true;
    if (!hdx_contents_element(c, &w->slots, i, &v)) {
        if (l != &hdx_layout_of_arrays || c->note != HDX_NOTE_ABSENT)
            return false;
        v = (hdx_value){ .type = w->slots.type, .absent = true };
    }
    if (l->way == HDX_WAY_SPARSE && hdx_contents_is_zero(&v) && !null_in_last(w, i, is))
        return false;
    return !*is || entry_of_element(w, &v, e, is);
}

static bool next_pair(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents       *c = w->c;
    const hdx_layout   *l = w->of.layout;
    const bool          inside = w->chained.array != HDX_NO_ID;
    hdx_element_reader *r = inside ? &w->chained : &w->slots;
    uint64_t           *next = inside ? &w->chained_next : &w->next;
    hdx_id              id;
    *is = false;
    if (r->array == HDX_NO_ID || *next + 1 >= r->length) {
        if (inside) {
            w->chained.array = HDX_NO_ID;
            return true;
        }
        return next_slots(w, end);
    }
    *e = (hdx_entry){ .has_key = true, .has_value = true };
    if (!hdx_contents_element(c, r, *next, &e->key) || !hdx_contents_element(c, r, *next + 1, &e->value))
        return false;
    *next += 2;
    if (!inside && is_one_of(&e->key, w->chain)) {
        w->chained_next = 0;
        return hdx_contents_referred(c, &e->value, &id) && hdx_contents_open_array(c, id, &w->chained);
    }
    *is = l->free == HDX_FREE_NONE || !hdx_contents_is_zero(l->free == HDX_FREE_VALUE ? &e->value : &e->key);
    return true;
}

static bool next_column(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    *is = false;
    if (w->slots.array == HDX_NO_ID || w->next == w->slots.length)
        return next_slots(w, end);
    const uint64_t i = w->next++;
    *e = (hdx_entry){ .has_key = true, .has_value = w->parallel.array != HDX_NO_ID };
    if (e->has_value && i >= w->parallel.length)
        return hdx_contents_give_up(c, HDX_NOTE_DAMAGED);
    if (!hdx_contents_element(c, &w->slots, i, &e->key) ||
        (e->has_value && !hdx_contents_element(c, &w->parallel, i, &e->value)))
        return false;
    *is = l->free == HDX_FREE_NONE || !hdx_contents_is_zero(l->free == HDX_FREE_VALUE ? &e->value : &e->key);
    return *is || null_in_last(w, i, is);
}

static bool next_in_buckets(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_value v;
    *is = false;
    if (w->node != HDX_NO_ID)
        return entry_of_node(w, w->node, e, is) && next_node(w, w->node, &w->node);
    if (w->slots.array == HDX_NO_ID || w->next == w->slots.length)
        return next_slots(w, end);
    return hdx_contents_element(w->c, &w->slots, w->next++, &v) && hdx_contents_referred(w->c, &v, &w->node) &&
           (w->node == HDX_NO_ID || out_of_bin(w, &w->node));
}

static bool link_of_chain(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    const hdx_layout   *l = w->of.layout;
    const hdx_object_as o = hdx_object_seen(w->c, w->node);
    /* A chain may end with an object of another class, such as the empty list of Scala. */
    if (hdx_contents_place(w->c, o.class, l->next.step[0]) == HDX_NO_PLACE) {
        if (w->given == 0 && !(w->sized && w->size == 0))
            return hdx_contents_give_up(w->c, HDX_NOTE_UNKNOWN);
        *end = true;
        return true;
    }
    return entry_of_node(w, w->node, e, is) && next_node(w, w->node, &w->node);
}

static bool next_in_chain(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    *is = false;
    *end = w->node == HDX_NO_ID;
    return *end || link_of_chain(w, e, is, end);
}

/* In-order traversal; `path` contains the nodes whose left subtrees are done. */
static bool next_in_tree(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    *is = false;
    while (w->node != HDX_NO_ID) {
        hdx_code code = hdx_ids_push(&w->path, w->node, c->err);
        if (code != HDX_OK)
            return hdx_contents_fail(c, code);
        if (!hdx_contents_step(c, 1) || !hdx_contents_object(c, hdx_object_seen(c, w->node), &l->left, &w->node))
            return false;
    }
    *end = w->path.count == 0;
    if (*end)
        return true;
    const hdx_id node = w->path.at[--w->path.count];
    return entry_of_node(w, node, e, is) && hdx_contents_object(c, hdx_object_seen(c, node), &l->right, &w->node);
}

static bool next_field(hdx_entry_walk *w, hdx_entry *e, bool *is, bool *end)
{
    hdx_contents     *c = w->c;
    const hdx_layout *l = w->of.layout;
    const bool        pairs = l->kind == HDX_COLLECTION_MAP;
    bool              null;
    *is = false;
    *end = w->next >= l->source.count;
    if (*end)
        return true;
    *e = (hdx_entry){ .has_key = pairs, .has_value = true };
    if (pairs && (!hdx_contents_value(c, walked_object(w), &l->source.at[w->next++], 0, &e->key, &null) || null))
        return false;
    if (!hdx_contents_value(c, walked_object(w), &l->source.at[w->next++], 0, &e->value, &null) || null)
        return false;
    *is = w->sized || pairs || !hdx_contents_is_zero(&e->value);
    return true;
}

/* Returns the next entry of the inner collection, including those that precede a view. */
static bool next_entry(hdx_entry_walk *w, hdx_entry *e, bool *end)
{
    static bool (*const ways[])(hdx_entry_walk *, hdx_entry *, bool *, bool *) = {
        [HDX_WAY_SLOTS] = next_slot,     [HDX_WAY_SPARSE] = next_slot,        [HDX_WAY_PAIRS] = next_pair,
        [HDX_WAY_COLUMNS] = next_column, [HDX_WAY_BUCKETS] = next_in_buckets, [HDX_WAY_CHAIN] = next_in_chain,
        [HDX_WAY_TREE] = next_in_tree,   [HDX_WAY_FIELDS] = next_field,
    };
    bool is = false;
    *end = w->bounded && w->given - (w->given < w->skip ? w->given : w->skip) >= w->size;
    while (!*end && !is) {
        if (!ways[w->of.layout->way](w, e, &is, end))
            return false;
        is = is && !*end && !(e->has_value && is_one_of(&e->value, w->nothing)) &&
             !(e->has_key && is_one_of(&e->key, w->nothing));
    }
    return true;
}

static void make_null(hdx_entry_walk *w, hdx_value *v)
{
    if (is_one_of(v, w->null))
        v->as.address = 0;
}

/* ---- objects that represent a key or value ---- */

#define SUPERS_MOST 64u /* superclasses of an object that represents a key or value */

static bool is_called(const hdx_contents *c, uint32_t class, hdx_text name)
{
    const hdx_class *at = hdx_graph_class(c->g, class);
    for (unsigned i = 0; at != NULL && i < SUPERS_MOST; i++) {
        if (hdx_glob_match(name, at->name))
            return true;
        at = at->super == HDX_NO_CLASS ? NULL : hdx_graph_class(c->g, at->super);
    }
    return false;
}

/* A cleared reference represents null; a future without a result is its own value. */
static bool unwrap(hdx_entry_walk *w, const hdx_layout *l, hdx_value *v)
{
    hdx_contents *c = w->c;
    for (unsigned i = 0; i < l->unwrap_count; i++) {
        hdx_value            inside;
        hdx_id               id;
        bool                 null;
        const hdx_field_path path = { .count = 1, .step = { l->unwrap[i].field } };
        if (v->type != 2 || v->absent || v->as.address == 0 || !hdx_graph_find(c->g, v->as.address, &id))
            return true;
        const hdx_object_as o = hdx_object_seen(c, id);
        if (hdx_graph_kind(c->g, id) != HDX_INSTANCE || !is_called(c, o.class, l->unwrap[i].class_name) ||
            hdx_contents_place(c, o.class, l->unwrap[i].field) == HDX_NO_PLACE)
            continue;
        if (!hdx_contents_value(c, o, &path, 0, &inside, &null))
            return false;
        if (l->unwrap[i].reference || !hdx_contents_is_zero(&inside))
            *v = inside;
    }
    return true;
}

/* The values of such a wrapper are in nodes. */
static bool out_of_node(hdx_entry_walk *w, const hdx_layout *l, hdx_value *v)
{
    hdx_id node;
    if (l->value.count == 0)
        return true;
    return hdx_contents_referred(w->c, v, &node) &&
           (node == HDX_NO_ID || (hdx_contents_step(w->c, 1) && part_of_node(w->c, node, &l->value, v)));
}

/* Converts an entry of the inner collection through all wrappers, up to the outermost. */
static bool unwrap_entry(hdx_entry_walk *w, hdx_entry *e)
{
    const hdx_layout *own = w->of.layout;
    if ((e->has_key && !unwrap(w, own, &e->key)) || (e->has_value && !unwrap(w, own, &e->value)))
        return false;
    for (unsigned i = w->wrappers; i-- > 0;) {
        const hdx_layout *l = w->wrapper[i];
        if ((e->has_key && !unwrap(w, l, &e->key)) ||
            (e->has_value && (!out_of_node(w, l, &e->value) || !unwrap(w, l, &e->value))))
            return false;
    }
    return true;
}

/*
 * Called after the last entry, because a subclass may store its elements in another collection than the one that was
 * read.
 */
static hdx_code check_empty(hdx_entry_walk *w)
{
    bool elsewhere = false;
    if (w->given > 0 || w->counts)
        return HDX_OK;
    if (!hdx_contents_stored_elsewhere(w->c, w->id, &elsewhere))
        w->note = w->c->note;
    else if (elsewhere)
        w->note = HDX_NOTE_UNKNOWN;
    return w->c->code;
}

hdx_code hdx_entry_walk_next(hdx_entry_walk *w, hdx_entry *out, bool *more, hdx_error *err)
{
    hdx_contents *c = w->c;
    *more = false;
    if (w->ended)
        return HDX_OK;
    c->err = err;
    c->note = HDX_NOTE_NONE;
    do {
        bool end;
        *out = (hdx_entry){ 0 };
        if (!next_entry(w, out, &end)) {
            w->ended = true;
            w->note = c->note;
            return c->code;
        }
        if (end) {
            w->ended = true;
            return check_empty(w);
        }
    } while (w->given++ < w->skip);
    out->index = w->given - 1 - w->skip;
    if (out->has_key)
        make_null(w, &out->key);
    if (out->has_value)
        make_null(w, &out->value);
    if (!unwrap_entry(w, out)) {
        w->ended = true;
        w->note = c->note;
        return c->code;
    }
    if (w->take == HDX_TAKE_KEYS ||
        (w->take == HDX_TAKE_ALL && out->has_key && !out->has_value && w->of.layout->kind != HDX_COLLECTION_MAP)) {
        out->value = out->key;
        out->has_value = out->has_key;
    }
    if (w->take != HDX_TAKE_ALL || w->of.layout->kind != HDX_COLLECTION_MAP)
        out->has_key = false;
    *more = true;
    return HDX_OK;
}
