/*
 * cut_fields.c - determines, for many instances, the references that remain when rules about fields (exclude.c) ignore
 * some of them.
 *
 * In:  rules, instances in any order.
 * Out: a bit for each reference of an instance, except for that to its class, in the order of hdx_graph_outbound.
 * The class alone decides if the rules match none of its reference fields, or all of them. Otherwise the fields are
 * read, many instances at a time. A target to which a field that is not ignored also refers remains.
 * Cost: for each class its fields once; for each instance that is read hdx_instances_read, the look-up of an address
 * per ignored field, and its list.
 */
#include "query/sets/exclude.h"
#include "query/sets/cut_fields.h"

#include <assert.h>

#define CHAIN_MOST 64u  /* length of a chain of superclasses; instances of longer ones are read one by one */
#define WIDTH_MOST 512u /* bytes of fields of an instance that are read */

/* ---- by class ---- */

/* Fills the reference as the graph names it (graph/names.c); false: the graph would change the name. */
static bool named(const hdx_field *f, uint32_t owner, hdx_named_ref *out)
{
    if (f->name.len == 0 || f->name.len >= sizeof out->name || memchr(f->name.at, '\0', f->name.len) != NULL)
        return false;
    out->kind = HDX_REF_FIELD;
    out->owner = owner;
    memcpy(out->name, f->name.at, f->name.len);
    out->name[f->name.len] = '\0';
    return true;
}

static bool add_field(hdx_cut_fields *c, uint64_t offset, bool cut)
{
    if (!hdx_mem_room(c->mem, (void **)&c->fields, &c->capacity, c->count, sizeof *c->fields))
        return false;
    c->fields[c->count++] = (hdx_cut_field){ .offset = (uint16_t)offset, .cut = cut };
    return true;
}

/* Collects the reference fields of the class and its superclasses, with the decision of the rules. */
static hdx_code read_class(hdx_cut_fields *c, uint32_t number, hdx_error *err)
{
    const unsigned id_size = hdx_graph_summary_of(c->g)->id_size;
    const uint64_t first = c->count;
    uint64_t       offset = 0, end = 0, cut = 0;
    hdx_named_ref  ref = { .target = HDX_NO_ID };
    unsigned       steps = 0;
    c->way[number] = HDX_CUT_ASK;
    for (uint32_t n = number; n != HDX_NO_CLASS; steps++) {
        const hdx_class *at = hdx_graph_class(c->g, n);
        if (at == NULL || steps == CHAIN_MOST || (at->flags & HDX_CLASS_OPAQUE) != 0)
            goto ask;
        for (uint32_t f = 0; f < at->field_count; f++) {
            const unsigned size = hdx_type_size(at->fields[f].type, id_size);
            if (at->fields[f].type == 2) {
                end = offset + size;
                if (end > WIDTH_MOST || c->count - first == HDX_CUT_MOST || !named(&at->fields[f], n, &ref))
                    goto ask;
                const bool is_cut = hdx_excludes_ref(c->rules, c->rules->of_class[number], &ref);
                if (!add_field(c, offset, is_cut))
                    return hdx_no_memory(err, "ignored fields", c->capacity * sizeof *c->fields);
                cut += is_cut;
            }
            offset += size;
        }
        n = at->super;
    }
    const uint64_t count = c->count - first;
    c->way[number] = cut == 0 ? HDX_CUT_NOTHING : cut == count ? HDX_CUT_ALL : HDX_CUT_SOME;
    if (c->way[number] == HDX_CUT_SOME) {
        c->first[number] = (uint32_t)first;
        c->fields[c->count - 1].last = true;
        c->width = end > c->width ? (uint32_t)end : c->width;
        c->most = count > c->most ? (unsigned)count : c->most;
        return HDX_OK;
    }
ask:
    c->count = first; /* these are not needed */
    return HDX_OK;
}

/* Only the graph names references other than fields, such as statics of classes and locals of threads. */
static void leave_to_graph(hdx_cut_fields *c)
{
    uint32_t         classes;
    uint64_t         roots = 0;
    const hdx_class *all = hdx_graph_classes(c->g, &classes);
    const hdx_root  *root = hdx_graph_roots(c->g, &roots);
    for (uint32_t i = 0; i < classes && i < c->classes; i++) {
        const uint32_t of = hdx_graph_class_of(c->g, all[i].id);
        if (of < c->classes)
            c->way[of] = HDX_CUT_ASK;
    }
    for (uint64_t i = 0; root != NULL && i < roots; i++) {
        const uint32_t of = root[i].thread == HDX_NO_ID ? HDX_NO_CLASS : hdx_graph_class_of(c->g, root[i].thread);
        if (of < c->classes)
            c->way[of] = HDX_CUT_ASK;
    }
}

hdx_code hdx_cut_fields_open(hdx_ask *ask, const hdx_excludes *rules, hdx_cut_fields *out, hdx_error *err)
{
    const bool stripped = hdx_graph_summary_of(ask->g)->stripping->policy != HDX_STRIP_NONE;
    hdx_code   code = HDX_OK;
    *out = (hdx_cut_fields){ .g = ask->g, .mem = ask->q.mem, .rules = rules, .classes = rules->classes };
    out->way = hdx_mem_array(out->mem, out->classes, sizeof *out->way);
    out->first = hdx_mem_array(out->mem, out->classes, sizeof *out->first);
    if (out->way == NULL || out->first == NULL)
        return hdx_no_memory(err, "ignored fields", out->classes * sizeof *out->first);
    for (uint32_t i = 0; code == HDX_OK && i < out->classes; i++) {
        const hdx_class *c = rules->of_class[i] == 0 ? NULL : hdx_graph_class(ask->g, i);
        if (c == NULL || c->kind == HDX_PRIMITIVE_ARRAY)
            continue;
        if (c->kind != HDX_INSTANCE || stripped) /* only the graph knows which values a stripped dump has */
            out->way[i] = HDX_CUT_ASK;
        else if ((code = read_class(out, i, err)) == HDX_OK)
            code = hdx_ask_check_cancel(ask, err);
    }
    leave_to_graph(out);
    return code;
}

void hdx_cut_fields_close(hdx_cut_fields *c)
{
    hdx_mem_put(c->mem, c->way, c->classes * sizeof *c->way);
    hdx_mem_put(c->mem, c->first, c->classes * sizeof *c->first);
    hdx_mem_put(c->mem, c->fields, c->capacity * sizeof *c->fields);
    *c = (hdx_cut_fields){ .mem = c->mem };
}

/* ---- by instance ---- */

#define FOUND_MOST (2 * HDX_RUN) /* references that are looked up together */

hdx_code hdx_cut_reader_open(const hdx_cut_fields *c, hdx_cut_reader *out, hdx_error *err)
{
    *out = (hdx_cut_reader){ .c = c };
    out->bytes = hdx_mem_raw(c->mem, HDX_RUN, c->width);
    out->have = hdx_mem_raw(c->mem, HDX_RUN, sizeof *out->have);
    out->addresses = hdx_mem_raw(c->mem, FOUND_MOST, sizeof *out->addresses);
    out->targets = hdx_mem_raw(c->mem, FOUND_MOST, sizeof *out->targets);
    out->places = hdx_mem_raw(c->mem, FOUND_MOST, sizeof *out->places);
    if (out->bytes == NULL || out->have == NULL || out->addresses == NULL || out->targets == NULL ||
        out->places == NULL)
        return hdx_no_memory(err, "reading fields", HDX_RUN * (uint64_t)c->width);
    return hdx_instances_open(c->g, &out->records, err);
}

void hdx_cut_reader_close(hdx_cut_reader *r)
{
    hdx_mem *mem = r->c == NULL ? NULL : r->c->mem;
    if (r->c == NULL)
        return;
    hdx_instances_close(r->records);
    hdx_mem_put(mem, r->bytes, HDX_RUN * (uint64_t)r->c->width);
    hdx_mem_put(mem, r->have, HDX_RUN * sizeof *r->have);
    hdx_mem_put(mem, r->addresses, FOUND_MOST * sizeof *r->addresses);
    hdx_mem_put(mem, r->targets, FOUND_MOST * sizeof *r->targets);
    hdx_mem_put(mem, r->places, FOUND_MOST * sizeof *r->places);
    *r = (hdx_cut_reader){ .c = NULL };
}

/* Sets the bit of the target, unless it is the reference to the class. */
static void mark_target(hdx_graph *g, hdx_id id, hdx_id target, uint64_t *mask)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(g, id, HDX_ALL, &refs);
    (void)hdx_refs_next(&refs, &to); /* skip the class */
    for (unsigned k = 0; k < HDX_CUT_MOST && hdx_refs_next(&refs, &to); k++)
        if (to == target) {
            *mask |= 1ull << k;
            return;
        }
}

static void mark_targets(hdx_cut_reader *r, const hdx_id *ids, uint64_t *masks)
{
    hdx_graph_find_many(r->c->g, r->addresses, r->found, r->targets);
    for (size_t i = 0; i < r->found; i++)
        if (r->targets[i] != HDX_NO_ID)
            mark_target(r->c->g, ids[r->places[i]], r->targets[i], &masks[r->places[i]]);
    r->found = 0;
}

static hdx_addr address_at(const uint8_t *p, unsigned id_size) { return id_size == 4 ? hdx_be32(p) : hdx_be64(p); }

/* Finds addresses to which only ignored fields refer. */
static void find_ignored(hdx_cut_reader *r, uint32_t place, uint32_t number)
{
    const unsigned       id_size = hdx_graph_summary_of(r->c->g)->id_size;
    const hdx_cut_field *first = &r->c->fields[r->c->first[number]];
    const uint8_t       *bytes = r->bytes + (uint64_t)place * r->c->width;
    hdx_addr             values[HDX_CUT_MOST];
    unsigned             count = 0;
    do {
        const bool there = first[count].offset + id_size <= r->have[place];
        values[count] = there ? address_at(bytes + first[count].offset, id_size) : 0;
    } while (!first[count++].last);
    for (unsigned i = 0; i < count; i++) {
        bool stays = !first[i].cut || values[i] == 0;
        for (unsigned k = 0; k < count && !stays; k++)
            stays = values[k] == values[i] && (!first[k].cut || k < i);
        if (!stays) {
            r->addresses[r->found] = values[i];
            r->places[r->found++] = place;
        }
    }
}

hdx_code hdx_cut_reader_read(hdx_cut_reader *r, const hdx_id *ids, size_t n, uint64_t *masks, hdx_error *err)
{
    uint32_t       classes[HDX_RUN];
    const hdx_code code = hdx_instances_read(r->records, ids, n, r->c->width, r->bytes, r->have, err);
    assert(n <= HDX_RUN);
    memset(masks, 0, n * sizeof *masks);
    if (code != HDX_OK)
        return code;
    for (size_t i = 0; i < n; i++)
        classes[i] = hdx_graph_class_of(r->c->g, ids[i]);
    r->found = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (r->found + HDX_CUT_MOST > FOUND_MOST)
            mark_targets(r, ids, masks);
        if (classes[i] < r->c->classes && r->c->way[classes[i]] == HDX_CUT_SOME)
            find_ignored(r, i, classes[i]);
    }
    mark_targets(r, ids, masks);
    return HDX_OK;
}
