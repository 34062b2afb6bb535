/*
 * objects.c - what the index knows about one object: address, class, size, position in the dump, dominator.
 *
 * In:  the index files, opened on first use.
 * Out: numbers; the neutral values of <heapdex/graph.h> for ids out of range and for damage.
 * The dominator and nearest-root files omit what follows from the inbound list (INDEX I10).
 * Cost: one page look-up each, some tens of nanoseconds (fewer after hdx_graph_ahead); dominator and nearest parent up
 *       to three.
 */
#include "graph/inside.h"

#include <assert.h>

uint64_t hdx_graph_objects(const hdx_graph *g) { return g->objects; }
bool     hdx_graph_all_live(const hdx_graph *g) { return g->m->unreachable_objects == 0 && g->summary.complete; }

static uint64_t number_of(const hdx_graph *g, hdx_kind kind, hdx_id id)
{
    const hdx_ints *ints = id < g->objects ? hdx_graph_use(g, kind) : NULL;
    return ints != NULL ? hdx_ints_get(ints, id) : 0;
}

bool hdx_graph_find(const hdx_graph *g, hdx_addr address, hdx_id *id)
{
    const hdx_addresses *set = hdx_graph_use(g, HDX_KIND_ADDRESS);
    hdx_id               found = set != NULL ? hdx_addresses_find(set, address) : HDX_NO_ID;
    if (found >= g->objects)
        return false;
    *id = found;
    return true;
}

hdx_addr hdx_graph_address(const hdx_graph *g, hdx_id id)
{
    const hdx_addresses *set = id < g->objects ? hdx_graph_use(g, HDX_KIND_ADDRESS) : NULL;
    return set != NULL ? hdx_addresses_at(set, id) : 0;
}

uint32_t hdx_graph_class_of(const hdx_graph *g, hdx_id id)
{
    const hdx_ints *ints = id < g->objects ? hdx_graph_use(g, HDX_KIND_CLASS) : NULL;
    uint64_t        number = ints != NULL ? hdx_ints_get(ints, id) : HDX_NO_CLASS;
    return number < g->m->classes ? (uint32_t)number : HDX_NO_CLASS; /* classes < HDX_NO_CLASS: checked at opening */
}

static const hdx_class *class_at(const hdx_graph *g, hdx_id id, const hdx_class_table **table)
{
    *table = hdx_graph_class_table(g);
    uint32_t number = *table != NULL ? hdx_graph_class_of(g, id) : HDX_NO_CLASS;
    assert(number == HDX_NO_CLASS || number < (*table)->count); /* G3 */
    return number != HDX_NO_CLASS ? &(*table)->at[number] : NULL;
}

hdx_object_kind hdx_graph_kind(const hdx_graph *g, hdx_id id)
{
    const hdx_class_table *t;
    const hdx_class       *c = class_at(g, id, &t);
    if (c == NULL)
        return HDX_INSTANCE;
    /* int.class and other primitive types are instances of java.lang.Class, but not class objects (MAT 1.4). */
    if (t->mirror[c->number] && hdx_class_of_object(t, id) != NULL)
        return HDX_CLASS_OBJECT;
    return c->kind;
}

uint64_t hdx_graph_shallow(const hdx_graph *g, hdx_id id)
{
    const hdx_class_table *t;
    const hdx_class       *c = class_at(g, id, &t), *own;
    if (c == NULL)
        return 0;
    const uint64_t length =
        c->kind != HDX_INSTANCE || (c->flags & HDX_CLASS_OF_ARRAYS) != 0 ? number_of(g, HDX_KIND_SIZE, id) : 0;
    if (c->kind == HDX_OBJECT_ARRAY || length >= HDX_LENGTH_ODD)
        return hdx_object_array_size(&g->sizing, (uint32_t)length);
    if (c->kind == HDX_PRIMITIVE_ARRAY)
        return hdx_primitive_array_size(&g->sizing, c->element_type, length);
    if (t->mirror[c->number] && (own = hdx_class_of_object(t, id)) != NULL)
        return own->class_shallow;
    return c->instance_size;
}

uint64_t hdx_graph_stored_length(const hdx_graph *g, hdx_id id) { return (uint32_t)number_of(g, HDX_KIND_SIZE, id); }

uint64_t hdx_graph_length(const hdx_graph *g, hdx_id id)
{
    const uint64_t         stored = hdx_graph_stored_length(g, id);
    const hdx_class_table *t = stored > 0 ? hdx_graph_class_table(g) : NULL;
    const hdx_class       *c = t != NULL && t->flat ? class_at(g, id, &t) : NULL;
    return c != NULL && (c->flags & HDX_CLASS_FLAT) != 0 ? stored / c->stated_size : stored;
}

int hdx_graph_heap(const hdx_graph *g, hdx_id id)
{
    int32_t place = -1;
    hdx_graph_read_heaps(g, id, 1, &place);
    return place;
}

bool hdx_graph_position(const hdx_graph *g, hdx_id id, hdx_pos *pos)
{
    uint64_t next = number_of(g, HDX_KIND_POSITION, id);
    if (next == 0)
        return false;
    *pos = next - 1;
    return true;
}

uint64_t hdx_graph_retained(const hdx_graph *g, hdx_id id) { return number_of(g, HDX_KIND_RETAINED, id); }

/*
 * Returns whether the object is in `special`. Then *value is its value in the file of `kind`: 0 unreachable, 1 the
 * root, id + 2.
 */
static bool special(const hdx_graph *g, hdx_kind kind, hdx_id id, uint64_t *value)
{
    const hdx_ranks *ranks = id < g->objects ? hdx_graph_use(g, HDX_KIND_SPECIAL) : NULL;
    const hdx_ints  *ints = ranks != NULL ? hdx_graph_use(g, kind) : NULL;
    uint64_t         rank;
    *value = 0;
    if (ints == NULL)
        return true;
    if (!hdx_ranks_find(ranks, id, &rank))
        return false;
    if (rank < g->m->specials)
        *value = hdx_ints_get(ints, rank);
    return true;
}

bool hdx_graph_live(const hdx_graph *g, hdx_id id)
{
    uint64_t value;
    return !special(g, HDX_KIND_DOMINATOR, id, &value) || value != 0;
}

hdx_id hdx_graph_only_referrer(const hdx_graph *g, hdx_id id)
{
    const hdx_one_to_n *inbound = hdx_graph_use(g, HDX_KIND_INBOUND);
    uint64_t            first, length;
    if (inbound == NULL)
        return HDX_NO_ID;
    hdx_one_to_n_list(inbound, id, &first, &length);
    if (length != 1) {
        hdx_graph_damage(g, "special", "the only referrer of an object is missing", id);
        return HDX_NO_ID;
    }
    return hdx_one_to_n_get(inbound, id, first); /* always an object: the file has no other values */
}

hdx_id hdx_graph_dominator(const hdx_graph *g, hdx_id id)
{
    uint64_t value;
    if (!special(g, HDX_KIND_DOMINATOR, id, &value))
        return hdx_graph_only_referrer(g, id);
    return value - 2 < g->objects ? value - 2 : value == 1 ? HDX_VIRTUAL_ROOT : HDX_NO_ID;
}

hdx_id hdx_graph_nearest(const hdx_graph *g, hdx_id id)
{
    uint64_t value;
    if (!special(g, HDX_KIND_NEAREST, id, &value))
        return hdx_graph_only_referrer(g, id);
    return value - 2 < g->objects ? value - 2 : value == 1 ? id : HDX_NO_ID;
}
