/*
 * dominators.c - measures one heap by paths down its dominator tree: the classes of the objects from the top.
 *
 *     class app.Registry > java.util.HashMap > java.util.HashMap$Node[]
 *
 * In:  the dominator tree.
 * Out: a thing for each such path, with its objects, their shallow size, and their retained size. Objects of one path
 *      are never below each other, so the retained size is a plain sum.
 * A class object is "class NAME": objects that static fields keep alive are below the class that has the fields.
 * Cost: a look-up for each object of the requested levels; objects that keep nothing else alive are not entered.
 */
#include "compare/compare.h"

#define AT_ONCE 64u

typedef struct level {
    hdx_refs refs;
    hdx_id   ids[AT_ONCE];
    size_t   at, count;
    uint32_t thing;
} level;

typedef struct descent {
    hdx_ask     ask;
    hdx_ledger *l;
    size_t      column;
    unsigned    deepest;
    /* by class, index + 1: of its instances, of its class object; 0: not looked up yet */
    uint32_t  *names, *own_names;
    uint32_t   classes;
    uint32_t   unknown;
    level      levels[HDX_COMPARE_DEPTH];
    hdx_buffer scratch;
} descent;

static uint32_t name_of(descent *d, hdx_id id)
{
    const bool       is_class = hdx_graph_kind(d->ask.g, id) == HDX_CLASS_OBJECT;
    const hdx_class *c =
        is_class ? hdx_graph_class_object(d->ask.g, id) : hdx_graph_class(d->ask.g, hdx_graph_class_of(d->ask.g, id));
    if (c == NULL || c->number >= d->classes)
        return d->unknown;
    uint32_t *known = is_class ? &d->own_names[c->number] : &d->names[c->number];
    if (*known == 0) {
        const uint32_t name = hdx_compare_class_name(d->l, c->name, is_class ? "class " : "", &d->scratch);
        if (name == HDX_LEDGER_NONE)
            return name;
        *known = name + 1;
    }
    return *known - 1;
}

static void enter(descent *d, unsigned depth, hdx_id id, uint32_t thing)
{
    level *v = &d->levels[depth];
    hdx_graph_dominated(d->ask.g, id, &v->refs);
    v->at = v->count = 0;
    v->thing = thing;
}

static hdx_code descend(descent *d, hdx_error *err)
{
    hdx_code code = HDX_OK;
    unsigned depth = 0;
    enter(d, 0, HDX_VIRTUAL_ROOT, HDX_LEDGER_TOP);
    for (;;) {
        level *v = &d->levels[depth];
        if (v->at == v->count) {
            v->at = 0;
            if ((v->count = hdx_refs_take(&v->refs, v->ids, AT_ONCE)) == 0) {
                if (depth-- == 0)
                    return HDX_OK;
                continue;
            }
        }
        hdx_graph_ahead(d->ask.g, HDX_AHEAD_CLASS | HDX_AHEAD_RETAINED | HDX_AHEAD_LENGTH, v->ids, v->count, v->at);
        const hdx_id    id = v->ids[v->at++];
        const uint32_t  thing = hdx_ledger_thing_of(d->l, v->thing, name_of(d, id));
        hdx_ledger_sum *sum = hdx_ledger_sum_of(d->l, d->column, thing);
        const uint64_t  shallow = hdx_graph_shallow(d->ask.g, id), retained = hdx_graph_retained(d->ask.g, id);
        if (sum == NULL)
            return hdx_ledger_refused(d->l, err);
        sum->objects++;
        sum->shallow += shallow;
        sum->retained += retained;
        if (retained > shallow && depth + 1 < d->deepest)
            enter(d, ++depth, id, thing);
        if ((code = hdx_ask_check_cancel(&d->ask, err)) != HDX_OK)
            return code;
    }
}

hdx_code hdx_compare_dominators(const hdx_query *q, unsigned depth, hdx_ledger *l, size_t column, hdx_error *err)
{
    descent *d = hdx_mem_get(l->mem, sizeof *d);
    if (d == NULL)
        return hdx_no_memory(err, "the dominator tree", sizeof *d);
    d->l = l;
    d->column = column;
    d->deepest = depth;
    d->scratch = hdx_buffer_of(l->mem);
    hdx_code code = hdx_ask_begin(q, &d->ask, err);
    if (code == HDX_OK) {
        (void)hdx_graph_classes(q->graph, &d->classes);
        d->names = hdx_mem_array(l->mem, d->classes, sizeof *d->names);
        d->own_names = hdx_mem_array(l->mem, d->classes, sizeof *d->own_names);
        d->unknown = hdx_ledger_name(l, (hdx_text){ "?", 1 });
        if (d->names == NULL || d->own_names == NULL || d->unknown == HDX_LEDGER_NONE)
            code = hdx_no_memory(err, "classes", 2ull * d->classes * sizeof *d->names);
    }
    if (code == HDX_OK && (code = descend(d, err)) == HDX_OK)
        code = hdx_graph_check(q->graph, err);
    hdx_mem_put(l->mem, d->names, d->classes * sizeof *d->names);
    hdx_mem_put(l->mem, d->own_names, d->classes * sizeof *d->own_names);
    hdx_buffer_free(&d->scratch);
    hdx_mem_put(l->mem, d, sizeof *d);
    return code;
}
