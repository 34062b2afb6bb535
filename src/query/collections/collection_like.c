/*
 * collection_like.c - finds classes that are collections although no table has their layout.
 *
 * In:  names of classes; references of a few instances of each. Only the index is read.
 * Out: a layout of unknown size for each such class, so that its objects are counted.
 * A dump does not have the interfaces of a class. A class therefore counts as a collection if its name, or that of a
 * superclass, ends in a word such as Map or Queue, and one of its instances refers to an array, to a collection, or to
 * a node: an object that refers to another one of its class, or of a class nested in the collection.
 * Views (a class nested in a collection that refers to one) are not collections, nor are classes of java.lang: the JVM
 * itself fills ReferenceQueue and ThreadLocalMap.
 */
#include "query/common/contents.h"

#include "graph/graph.h"
#include "model/model.h"
#include <string.h>

#define INSTANCES_MOST 64u /* instances of a class that are examined */
#define REFERENCES     64u /* references of an instance, and of its targets, that are examined */
#define SUPERS_MOST    64u

static const hdx_layout guesses[] = {
    [HDX_COLLECTION_LIST] = { .kind = HDX_COLLECTION_LIST, .unknown = true },
    [HDX_COLLECTION_MAP] = { .kind = HDX_COLLECTION_MAP, .unknown = true },
    [HDX_COLLECTION_SET] = { .kind = HDX_COLLECTION_SET, .unknown = true },
    [HDX_COLLECTION_QUEUE] = { .kind = HDX_COLLECTION_QUEUE, .unknown = true },
};
static const struct {
    const char         *word;
    hdx_collection_kind kind;
} words[] = {
    { "Map", HDX_COLLECTION_MAP },         { "Multimap", HDX_COLLECTION_MAP },   { "Table", HDX_COLLECTION_MAP },
    { "Hashtable", HDX_COLLECTION_MAP },   { "Dictionary", HDX_COLLECTION_MAP }, { "Trie", HDX_COLLECTION_MAP },
    { "Cache", HDX_COLLECTION_MAP },       { "Set", HDX_COLLECTION_SET },        { "Multiset", HDX_COLLECTION_SET },
    { "Queue", HDX_COLLECTION_QUEUE },     { "Deque", HDX_COLLECTION_QUEUE },    { "List", HDX_COLLECTION_LIST },
    { "Collection", HDX_COLLECTION_LIST }, { "Vector", HDX_COLLECTION_LIST },    { "Stack", HDX_COLLECTION_LIST },
    { "Bag", HDX_COLLECTION_LIST },
};

static bool begins(hdx_text name, const char *with)
{
    const size_t len = strlen(with);
    return name.len >= len && memcmp(name.at, with, len) == 0;
}

static bool ends(hdx_text name, const char *with)
{
    const size_t len = strlen(with);
    return name.len >= len && memcmp(name.at + name.len - len, with, len) == 0;
}

/* Ignores "Impl" and the number of a variant: EconomicMapImpl, Map4. NULL: not the name of a collection. */
static const hdx_layout *guess_by_name(hdx_text name)
{
    while (name.len > 0 && name.at[name.len - 1] >= '0' && name.at[name.len - 1] <= '9')
        name.len--;
    if (ends(name, "Impl"))
        name.len -= 4;
    for (unsigned i = 0; i < HDX_COUNT(words); i++)
        if (ends(name, words[i].word))
            return &guesses[words[i].kind];
    return NULL;
}

static const hdx_layout *guess(hdx_graph *g, const hdx_class *c)
{
    for (unsigned i = 0; c != NULL && i < SUPERS_MOST; i++) {
        const hdx_layout *by_name = begins(c->name, "java.lang.") ? NULL : guess_by_name(c->name);
        if (by_name != NULL)
            return by_name;
        c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super);
    }
    return NULL;
}

static bool is_inside(hdx_text name, hdx_text outer)
{
    return name.len > outer.len && memcmp(name.at, outer.at, outer.len) == 0 && name.at[outer.len] == '$';
}

/* Returns whether it refers to another object of its own class. */
static bool is_linked(hdx_graph *g, hdx_id id)
{
    const uint32_t class = hdx_graph_class_of(g, id);
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(g, id, HDX_ALL, &refs);
    for (unsigned i = 0; i < REFERENCES && hdx_refs_next(&refs, &to); i++)
        if (to != id && hdx_graph_kind(g, to) == HDX_INSTANCE && hdx_graph_class_of(g, to) == class)
            return true;
    return false;
}

typedef enum shape { SHAPE_NONE, SHAPE_COLLECTION, SHAPE_VIEW } shape;

/* Classifies the reference from an object of class c to `to`. */
static shape shape_by(hdx_graph *g, const hdx_bound_layouts *bound, const hdx_class *c, hdx_id to)
{
    const hdx_object_kind kind = hdx_graph_kind(g, to);
    const hdx_class      *of = hdx_graph_class(g, hdx_graph_class_of(g, to));
    if (kind == HDX_OBJECT_ARRAY || kind == HDX_PRIMITIVE_ARRAY)
        return SHAPE_COLLECTION;
    if (kind != HDX_INSTANCE || of == NULL || of->number >= bound->classes)
        return SHAPE_NONE;
    const hdx_layout *layout = bound->of[of->number].layout;
    if (is_inside(c->name, of->name) && (layout != NULL || guess(g, of) != NULL))
        return SHAPE_VIEW;
    if (layout != NULL && !bound->of[of->number].guessed)
        return layout->hidden ? SHAPE_NONE : SHAPE_COLLECTION;
    return is_inside(of->name, c->name) || is_linked(g, to) ? SHAPE_COLLECTION : SHAPE_NONE;
}

static shape shape_of(hdx_graph *g, const hdx_bound_layouts *bound, const hdx_class *c)
{
    hdx_refs instances, refs;
    hdx_id   id, to;
    shape    found = SHAPE_NONE;
    hdx_graph_instances(g, c->number, HDX_ALL, &instances);
    for (unsigned i = 0; i < INSTANCES_MOST && found == SHAPE_NONE && hdx_refs_next(&instances, &id); i++) {
        hdx_graph_outbound(g, id, HDX_ALL, &refs);
        for (unsigned k = 0; k < REFERENCES && found != SHAPE_VIEW && hdx_refs_next(&refs, &to); k++) {
            const shape by = to == id ? SHAPE_NONE : shape_by(g, bound, c, to);
            found = by != SHAPE_NONE ? by : found;
        }
    }
    return found;
}

hdx_code hdx_collections_like(hdx_ask *ask, hdx_bound_layouts *bound, hdx_error *err)
{
    hdx_graph       *g = ask->g;
    uint32_t         count;
    hdx_code         code = HDX_OK;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    for (uint32_t i = 0; code == HDX_OK && i < count && i < bound->classes; i++) {
        const hdx_class *c = &classes[i];
        if (c->kind != HDX_INSTANCE || bound->of[i].layout != NULL)
            continue;
        const hdx_layout *layout = guess(g, c);
        if (layout == NULL || (code = hdx_ask_check_cancel(ask, err)) != HDX_OK ||
            shape_of(g, bound, c) != SHAPE_COLLECTION)
            continue;
        bound->of[i] = (hdx_layout_of_class){ .layout = layout, .class = HDX_NO_CLASS, .guessed = true };
    }
    return code;
}
