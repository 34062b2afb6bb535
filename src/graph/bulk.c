/*
 * bulk.c - references and elements of many objects, read in the order of the dump; subclasses and superclasses.
 *
 * In:  ids, in any order.
 * Out: for each id the same as the call for one object.
 * Small records that are near each other are read together, in blocks (hdx_near_begin).
 */
#include "graph/inside.h"
#include "graph/graph.h"

#include <stdlib.h>

typedef struct walk {
    hdx_graph *g;
    hdx_pair  *places; /* position of the record, index into the ids; ids without a record come last */
    size_t     count;
    hdx_near  *near;
} walk;

static hdx_code walk_begin(walk *w, hdx_graph *g, const hdx_id *ids, size_t n, hdx_error *err)
{
    hdx_source *source;
    *w = (walk){ .g = g, .places = calloc(n + 1, sizeof *w->places), .count = n };
    if (w->places == NULL)
        return hdx_no_memory(err, "places of objects", n * sizeof *w->places);
    for (size_t i = 0; i < n; i++) {
        hdx_pos pos;
        hdx_graph_ahead(g, HDX_AHEAD_POSITION, ids, n, i);
        w->places[i] = (hdx_pair){ hdx_graph_position(g, ids[i], &pos) ? pos : UINT64_MAX, i };
    }
    hdx_sort_pairs(NULL, w->places, n);
    if (hdx_graph_source(g, &source, NULL) == HDX_OK)
        w->near = hdx_near_begin(source);
    return HDX_OK;
}

static void walk_end(walk *w)
{
    hdx_near_end(w->near);
    free(w->places);
}

typedef struct naming {
    bool (*visit)(void *context, size_t place, const hdx_named_ref *ref);
    void  *context;
    size_t place;
    bool   stopped;
} naming;

static bool pass_on(void *context, const hdx_named_ref *ref)
{
    naming *n = context;
    n->stopped = !n->visit(n->context, n->place, ref);
    return !n->stopped;
}

hdx_code hdx_graph_named_refs_of(hdx_graph *g, const hdx_id *ids, size_t n,
                                 bool (*visit)(void *context, size_t place, const hdx_named_ref *ref), void *context,
                                 hdx_error *err)
{
    walk     w;
    naming   names = { visit, context, 0, false };
    hdx_code code = walk_begin(&w, g, ids, n, err);
    for (size_t k = 0; code == HDX_OK && !names.stopped && k < n; k++) {
        names.place = (size_t)w.places[k].second;
        code = hdx_graph_named_refs(g, ids[names.place], HDX_NO_ID, pass_on, &names, err);
    }
    walk_end(&w);
    return code;
}

hdx_code hdx_graph_elements_of(hdx_graph *g, const hdx_id *ids, size_t n,
                               bool (*visit)(void *context, size_t place, const hdx_values *values), void *context,
                               hdx_error *err)
{
    walk       w;
    hdx_values values = { 0 };
    bool       more = true;
    hdx_code   code = walk_begin(&w, g, ids, n, err);
    for (size_t k = 0; code == HDX_OK && more && k < n; k++) {
        const size_t place = (size_t)w.places[k].second;
        code = hdx_graph_elements(g, ids[place], 0, UINT64_MAX, &values, err);
        more = code == HDX_OK && visit(context, place, &values);
    }
    hdx_values_free(&values);
    walk_end(&w);
    return code;
}

hdx_code hdx_graph_strings_of(hdx_graph *g, const hdx_id *ids, size_t n, uint64_t max,
                              bool (*visit)(void *context, size_t place, hdx_text text, bool whole), void *context,
                              hdx_error *err)
{
    walk       w;
    hdx_buffer text = hdx_buffer_of(NULL);
    bool       more = true, whole, is_string;
    hdx_code   code = walk_begin(&w, g, ids, n, err);
    hdx_buffer_text(&text, "");
    for (size_t k = 0; code == HDX_OK && more && k < n; k++) {
        const size_t place = (size_t)w.places[k].second;
        hdx_buffer_clear(&text);
        code = hdx_graph_put_string(g, ids[place], max, &text, &whole, &is_string, err);
        if (code == HDX_OK && text.failed)
            code = hdx_no_memory(err, "a text", text.len);
        if (code == HDX_OK)
            more = visit(context, place, is_string ? (hdx_text){ text.at, (uint32_t)text.len } : (hdx_text){ NULL, 0 },
                         is_string && whole);
    }
    hdx_buffer_free(&text);
    walk_end(&w);
    return code;
}

/* ---- classes ---- */

/* A chain of superclasses is at most as long as the number of classes: a damaged catalog may contain a cycle. */
void hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits)
{
    uint32_t count;
    (void)hdx_graph_classes(g, &count);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_class_extends(g, i, number))
            hdx_bits_put(bits, i);
}

hdx_field_walk hdx_field_walk_of(hdx_graph *g, uint32_t number)
{
    return (hdx_field_walk){ .graph = g, .owner = number };
}

bool hdx_field_walk_next(hdx_field_walk *l, hdx_field_place *out)
{
    const hdx_class *c = hdx_graph_class(l->graph, l->owner);
    uint32_t         count;
    (void)hdx_graph_classes(l->graph, &count);
    while (c != NULL && l->next >= c->field_count) {
        l->owner = l->steps++ < count ? c->super : HDX_NO_CLASS;
        l->next = 0;
        c = hdx_graph_class(l->graph, l->owner);
    }
    if (c == NULL)
        return false;
    const hdx_field *f = &c->fields[l->next++];
    *out = (hdx_field_place){ f->name, f->type, l->owner, l->offset };
    l->offset += hdx_type_size(f->type, l->graph->m->id_size);
    return true;
}
