/*
 * collection_holders.c - finds the field that holds a collection, directly or through other collections.
 *
 * In:  a collection; the index for its referrers, the record of one object for the field.
 * Out: a number for each field, by which collections are summed, and its name.
 */
#include "query/common/labels.h"
#include "query/common/contents.h"

#include "graph/graph.h"

#define CLIMB 1000u /* references from a collection to its holder */
#define MANY  4096u /* static fields of a class that are compared */

/*
 * The holder is the nearest object on the shortest path from a GC root (for garbage: by first referrers) that is not
 * part of a collection. Its number is class << 32 | index of the field among those that the class itself declares, or
 * of the static. ROOT: no object holds the collection.
 */
#define ROOT      UINT64_MAX
#define STATIC    0x80000000u
#define SOMEWHERE 0x7fffffffu /* an element, or the field could not be read */

/* Returns whether the class is in a package of collections, their nodes and other parts. */
static bool is_of_collections(hdx_text name)
{
    static const char *const packages[] = {
        "java.util.",
        "com.carrotsearch.hppc.",
        "com.github.benmanes.caffeine.cache.",
        "com.google.common.cache.",
        "com.google.common.collect.",
        "gnu.trove.",
        "io.vavr.collection.",
        "it.unimi.dsi.fastutil.",
        "kotlin.collections.",
        "kotlinx.collections.immutable.",
        "net.sf.ehcache.",
        "org.agrona.collections.",
        "org.apache.commons.collections.",
        "org.apache.commons.collections4.",
        "org.eclipse.collections.impl.",
        "org.ehcache.impl.internal.",
        "scala.collection.",
    };
    for (unsigned i = 0; i < HDX_COUNT(packages); i++) {
        const size_t len = strlen(packages[i]);
        if (name.len > len && memcmp(name.at, packages[i], len) == 0)
            return true;
    }
    return false;
}

static bool is_inner(hdx_graph *g, const hdx_bound_layouts *known, hdx_id id)
{
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    if (c == NULL || hdx_graph_kind(g, id) == HDX_CLASS_OBJECT)
        return false;
    return c->kind != HDX_INSTANCE || is_of_collections(c->name) ||
           (c->number < known->classes && known->of[c->number].layout != NULL && !known->of[c->number].guessed);
}

/* Finds the field in the object's class or a superclass that refers to `wanted`. */
static hdx_code place_in_object(hdx_graph *g, hdx_id holder, hdx_addr wanted, uint64_t *out, hdx_error *err)
{
    const uint32_t id_size = hdx_graph_summary_of(g)->id_size;
    uint8_t        bytes[1024];
    uint64_t       got = 0, from = 0;
    hdx_code       code = hdx_graph_record_bytes(g, holder, 0, bytes, sizeof bytes, &got, err);
    for (const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, holder)); code == HDX_OK && c != NULL;
         c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super)) {
        if ((c->flags & HDX_CLASS_OPAQUE) != 0)
            break;
        for (uint32_t f = 0; f < c->field_count; f++) {
            const unsigned size = hdx_type_size(c->fields[f].type, id_size);
            if (from + size > got)
                return HDX_OK;
            if (c->fields[f].type == 2 && hdx_graph_value_of(g, 2, bytes + from).as.address == wanted) {
                *out = (uint64_t)c->number << 32 | f;
                return HDX_OK;
            }
            from += size;
        }
    }
    return code;
}

static hdx_code place_in_statics(hdx_graph *g, hdx_id holder, hdx_addr wanted, uint64_t *out, hdx_error *err)
{
    const hdx_class *c = hdx_graph_class_object(g, holder);
    hdx_values       v = { 0 };
    if (c == NULL || c->static_count > MANY)
        return HDX_OK;
    hdx_code code = hdx_graph_statics(g, holder, &v, err);
    for (uint64_t i = 0; code == HDX_OK && i < v.count; i++)
        if (v.at[i].value.type == 2 && !v.at[i].value.absent && v.at[i].value.as.address == wanted) {
            *out = (uint64_t)c->number << 32 | STATIC | i;
            break;
        }
    hdx_values_free(&v);
    return code;
}

static hdx_id referrer(hdx_graph *g, hdx_id id)
{
    hdx_refs refs;
    hdx_id   from;
    if (hdx_graph_live(g, id)) {
        from = hdx_graph_nearest(g, id);
        return from == id ? HDX_NO_ID : from;
    }
    hdx_graph_inbound(g, id, HDX_ALL, &refs);
    return hdx_refs_next(&refs, &from) ? from : HDX_NO_ID;
}

/* Finds the field of an object, or the static of a class, that refers to `held`. */
static hdx_code place_in(hdx_graph *g, hdx_id holder, hdx_id held, uint64_t *out, hdx_error *err)
{
    hdx_error        mine;
    hdx_code         code = HDX_OK;
    const hdx_class *own = hdx_graph_kind(g, holder) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, holder) : NULL;
    *out = (uint64_t)(own != NULL ? own->number : hdx_graph_class_of(g, holder)) << 32 | SOMEWHERE;
    if (own != NULL)
        code = place_in_statics(g, holder, hdx_graph_address(g, held), out, &mine);
    else if (hdx_graph_kind(g, holder) == HDX_INSTANCE)
        code = place_in_object(g, holder, hdx_graph_address(g, held), out, &mine);
    return hdx_label_allow_missing_dump(g, code, &mine, err);
}

/*
 * Reference.referent: the holder of the reference holds the collection. For other fields of a reference, the reference
 * is the holder.
 */
static bool is_referent(hdx_graph *g, uint64_t at)
{
    const hdx_class *c = hdx_graph_class(g, (uint32_t)(at >> 32));
    const uint32_t   field = (uint32_t)at;
    return c != NULL && hdx_text_is(c->name, "java.lang.ref.Reference") && field < c->field_count &&
           hdx_text_is(c->fields[field].name, "referent");
}

hdx_code hdx_collection_holder(hdx_graph *g, const hdx_bound_layouts *known, hdx_id id, uint64_t *out, hdx_error *err)
{
    hdx_id   held = id, holder = referrer(g, id);
    hdx_code code = HDX_OK;
    for (unsigned i = 0; i < CLIMB && holder != HDX_NO_ID; i++) {
        if (!is_inner(g, known, holder) &&
            ((code = place_in(g, holder, held, out, err)) != HDX_OK || !is_referent(g, *out)))
            return code;
        held = holder;
        holder = referrer(g, held);
    }
    *out = ROOT;
    return holder == HDX_NO_ID ? HDX_OK : place_in(g, holder, held, out, err);
}

hdx_code hdx_collection_holder_cell(hdx_graph *g, uint64_t holder, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_class *c = holder == ROOT ? NULL : hdx_graph_class(g, (uint32_t)(holder >> 32));
    const uint32_t   place = (uint32_t)holder;
    hdx_text         name = { "", 0 };
    if (c == NULL) {
        *out = holder == ROOT ? hdx_cell_string("GC root") : hdx_cell_null();
        return HDX_OK;
    }
    const hdx_text of = c->name;
    if ((place & STATIC) != 0 && (place & ~STATIC) < c->static_count)
        name = c->statics[place & ~STATIC].name;
    else if (place < c->field_count)
        name = c->fields[place].name;
    const uint64_t len = (uint64_t)of.len + 1 + name.len;
    char          *text = hdx_arena_get(arena, len);
    if (text == NULL || len > UINT32_MAX)
        return hdx_no_memory(err, "a holder", len);
    memcpy(text, of.at, of.len);
    text[of.len] = '.';
    memcpy(text + of.len + 1, name.at, name.len);
    *out = hdx_cell_text((hdx_text){ text, (uint32_t)(name.len == 0 ? of.len : len) });
    return HDX_OK;
}
