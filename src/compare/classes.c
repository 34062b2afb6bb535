/*
 * classes.c - measures one heap by class, package or loader.
 *
 * In:  the table of classes.
 * Out: a thing for each name, with the live objects of its classes, their size, and their retained size: the bytes that
 *      would be freed with these class objects and all their instances, as in the histogram.
 * Classes of one name from two loaders are one thing, and so are two loaders with the same class and name.
 * Cost: independent of the heap's size except for retained sizes, which need one walk over it
 *       (query/histogram/groups.c).
 */
#include "query/histogram/histogram.h"
#include "query/runtime/loaders.h"
#include "compare/compare.h"

uint32_t hdx_compare_class_name(hdx_ledger *l, hdx_text name, const char *before, hdx_buffer *scratch)
{
    const hdx_text is = hdx_class_key(name, scratch);
    if (scratch->failed)
        return HDX_LEDGER_NONE;
    if (*before == '\0')
        return hdx_ledger_name(l, is);
    hdx_buffer whole = hdx_buffer_of(l->mem);
    hdx_buffer_text(&whole, before);
    hdx_buffer_put(&whole, is.at, is.len);
    const uint32_t n = whole.failed ? HDX_LEDGER_NONE : hdx_ledger_name(l, (hdx_text){ whole.at, (uint32_t)whole.len });
    hdx_buffer_free(&whole);
    return n;
}

typedef struct grouping {
    hdx_ask          ask;
    hdx_compare_by   by;
    hdx_ledger      *l;
    size_t           column;
    const hdx_class *classes;
    uint32_t         class_count;
    uint32_t        *at, *set; /* as in hdx_class_sets: each live class is in one set */
    uint32_t        *thing;    /* of a set */
    uint32_t         set_count;
    hdx_map          set_of;    /* thing -> set */
    hdx_map          loader_of; /* address -> set */
    hdx_id          *more;      /* loaders */
    uint32_t        *more_set;
    uint32_t         more_count;
    uint64_t         more_capacity, more_set_capacity;
    hdx_buffer       scratch;
} grouping;

/*
 * A loader is named by its class and name; by its class alone if it has no name, because addresses differ between
 * dumps.
 */
static hdx_code loader_name(grouping *g, hdx_addr loader, uint32_t *name, hdx_error *err)
{
    hdx_arena      arena = hdx_arena_of(g->l->mem);
    hdx_cell       cell;
    const hdx_code code = hdx_loader_cell(&g->ask.q, loader, &arena, &cell, err);
    if (code == HDX_OK) {
        hdx_text    text = cell.as.text;
        const char *address = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
        hdx_id      id;
        if (address != NULL && text.len - (size_t)(address - text.at) > 3 && memcmp(address, " 0x", 3) == 0 &&
            hdx_graph_find(g->ask.g, loader, &id))
            text.len = (uint32_t)(address - text.at);
        *name = hdx_ledger_name(g->l, text);
    }
    hdx_arena_free(&arena);
    return code;
}

static bool add_loader(grouping *g, hdx_id id, uint32_t set)
{
    if (!hdx_mem_room(g->l->mem, (void **)&g->more, &g->more_capacity, g->more_count, sizeof *g->more) ||
        !hdx_mem_room(g->l->mem, (void **)&g->more_set, &g->more_set_capacity, g->more_count, sizeof *g->more_set))
        return false;
    g->more[g->more_count] = id;
    g->more_set[g->more_count++] = set;
    return true;
}

/* Returns the set of a thing, and creates it if necessary. */
static uint32_t set_of(grouping *g, uint32_t name)
{
    bool           fresh;
    const uint32_t thing = hdx_ledger_thing_of(g->l, HDX_LEDGER_TOP, name);
    uint64_t      *at = thing == HDX_LEDGER_NONE ? NULL : hdx_map_put(&g->set_of, thing, &fresh);
    if (at == NULL)
        return HDX_LEDGER_NONE;
    if (fresh) {
        *at = g->set_count;
        g->thing[g->set_count++] = thing;
    }
    return (uint32_t)*at;
}

static hdx_code set_of_loader(grouping *g, hdx_addr loader, uint32_t *set, hdx_error *err)
{
    bool      fresh;
    uint64_t *at = hdx_map_put(&g->loader_of, loader, &fresh);
    uint32_t  name = HDX_LEDGER_NONE;
    hdx_id    id;
    hdx_code  code = HDX_OK;
    *set = HDX_LEDGER_NONE;
    if (at == NULL)
        return hdx_ledger_refused(g->l, err);
    if (fresh) {
        if ((code = loader_name(g, loader, &name, err)) != HDX_OK)
            return code;
        *at = set_of(g, name);
        if (*at != HDX_LEDGER_NONE && hdx_graph_find(g->ask.g, loader, &id) && !add_loader(g, id, (uint32_t)*at))
            *at = HDX_LEDGER_NONE;
    }
    *set = (uint32_t)*at;
    return *set != HDX_LEDGER_NONE ? HDX_OK : hdx_ledger_refused(g->l, err);
}

static hdx_code group(grouping *g, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint32_t used = 0;
    for (uint32_t i = 0; code == HDX_OK && i < g->class_count; i++) {
        const hdx_class *c = &g->classes[i];
        uint32_t         set;
        g->at[i] = used;
        if (c->live_instances == 0 && !hdx_graph_live(g->ask.g, c->id))
            continue;
        if (g->by == HDX_COMPARE_LOADER) {
            code = set_of_loader(g, c->loader, &set, err);
        } else {
            set = set_of(g, g->by == HDX_COMPARE_PACKAGE ? hdx_ledger_name(g->l, hdx_package_of(c->name))
                                                         : hdx_compare_class_name(g->l, c->name, "", &g->scratch));
            code = set != HDX_LEDGER_NONE ? HDX_OK : hdx_ledger_refused(g->l, err);
        }
        if (code != HDX_OK)
            break;
        g->set[used++] = set;
        hdx_ledger_sum *sum = hdx_ledger_sum_of(g->l, g->column, g->thing[set]);
        if (sum == NULL)
            return hdx_ledger_refused(g->l, err);
        sum->objects += c->live_instances;
        sum->shallow += c->live_bytes;
        code = hdx_ask_check_cancel(&g->ask, err);
    }
    g->at[g->class_count] = used;
    return code;
}

static hdx_code retain(grouping *g, hdx_error *err)
{
    const hdx_class_sets sets = { .count = g->set_count,
                                  .classes = g->class_count,
                                  .at = g->at,
                                  .set = g->set,
                                  .more_count = g->more_count,
                                  .more = g->more,
                                  .more_set = g->more_set };
    uint64_t            *bytes = hdx_mem_array(g->l->mem, g->set_count, sizeof *bytes);
    hdx_code             code = bytes == NULL ? hdx_ledger_refused(g->l, err) : HDX_OK;
    if (code == HDX_OK)
        code = hdx_class_sets_retained(&g->ask.q, &sets, bytes, err);
    for (uint32_t i = 0; code == HDX_OK && i < g->set_count; i++) {
        hdx_ledger_sum *sum = hdx_ledger_sum_of(g->l, g->column, g->thing[i]);
        if (sum != NULL)
            sum->retained = bytes[i];
    }
    hdx_mem_put(g->l->mem, bytes, g->set_count * sizeof *bytes);
    return code;
}

hdx_code hdx_compare_classes(const hdx_query *q, hdx_compare_by by, bool retained, hdx_ledger *l, size_t column,
                             hdx_error *err)
{
    grouping g = { .by = by,
                   .l = l,
                   .column = column,
                   .set_of = hdx_map_of(l->mem),
                   .loader_of = hdx_map_of(l->mem),
                   .scratch = hdx_buffer_of(l->mem) };
    hdx_code code = hdx_ask_begin(q, &g.ask, err);
    if (code != HDX_OK)
        return code;
    g.classes = hdx_graph_classes(q->graph, &g.class_count);
    const uint64_t n = (uint64_t)g.class_count + 1;
    g.at = hdx_mem_array(l->mem, n, sizeof *g.at);
    g.set = hdx_mem_array(l->mem, n, sizeof *g.set);
    g.thing = hdx_mem_array(l->mem, n, sizeof *g.thing);
    if (g.at == NULL || g.set == NULL || g.thing == NULL)
        code = hdx_no_memory(err, "classes", 3 * n * sizeof *g.at);
    if (code == HDX_OK && (code = group(&g, err)) == HDX_OK && retained)
        code = retain(&g, err);
    if (code == HDX_OK)
        code = hdx_graph_check(q->graph, err);
    hdx_mem_put(l->mem, g.at, n * sizeof *g.at);
    hdx_mem_put(l->mem, g.set, n * sizeof *g.set);
    hdx_mem_put(l->mem, g.thing, n * sizeof *g.thing);
    hdx_mem_put(l->mem, g.more, g.more_capacity * sizeof *g.more);
    hdx_mem_put(l->mem, g.more_set, g.more_set_capacity * sizeof *g.more_set);
    hdx_map_free(&g.set_of);
    hdx_map_free(&g.loader_of);
    hdx_buffer_free(&g.scratch);
    return code;
}
