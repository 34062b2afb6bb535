/*
 * named.c - collects the named references of one object in a list.
 *
 * References to no object of the dump (HeapDumpSample has 2,980) are listed last, with their address only. They are
 * searched only in dumps that have some.
 */
#include "graph/graph.h"
#include "query/common/named.h"
#include "query/query.h"

#include <stdio.h>

#define PIECE 4096u /* elements at a time */

static bool add_reference(hdx_named_list *list, hdx_id target, hdx_addr address, hdx_ref_kind kind, uint32_t owner,
                          hdx_text name)
{
    char *copy = hdx_arena_copy(&list->names, name.at, name.len);
    if (copy == NULL ||
        !hdx_mem_room(list->names.mem, (void **)&list->at, &list->capacity, list->count, sizeof *list->at)) {
        list->refused = true;
        return false;
    }
    list->at[list->count++] = (hdx_named){ target, address, kind, owner, copy };
    return true;
}

typedef struct collector {
    hdx_named_list *list;
    hdx_graph      *g;
} collector;

static bool visit(void *context, const hdx_named_ref *ref)
{
    collector *c = context;
    return add_reference(c->list, ref->target, hdx_graph_address(c->g, ref->target), ref->kind, ref->owner,
                         (hdx_text){ ref->name, (uint32_t)strlen(ref->name) });
}

/* Adds the values that are addresses of no object. */
static bool add_dangling_values(hdx_named_list *list, hdx_graph *g, const hdx_values *values, hdx_ref_kind kind,
                                uint64_t first)
{
    for (uint64_t i = 0; i < values->count; i++) {
        const hdx_field_value *f = &values->at[i];
        char                   number[32];
        hdx_text               name = f->name;
        hdx_id                 id;
        if (f->value.type != 2 || f->value.absent || hdx_graph_find(g, f->value.as.address, &id))
            continue; /* null is found, too, as the address of object 0 */
        if (kind == HDX_REF_ELEMENT)
            name = (hdx_text){ number,
                               (uint32_t)snprintf(number, sizeof number, "[%llu]", (unsigned long long)(first + i)) };
        if (!add_reference(list, HDX_NO_ID, f->value.as.address, kind,
                           kind == HDX_REF_ELEMENT ? HDX_NO_CLASS : f->owner, name))
            return false;
    }
    return true;
}

static hdx_code add_dangling(hdx_named_list *list, hdx_graph *g, hdx_id id, hdx_error *err)
{
    hdx_values values = { 0 };
    hdx_pos    pos;
    hdx_code   code = HDX_OK;
    uint64_t   length;
    switch (hdx_graph_kind(g, id)) {
    case HDX_CLASS_OBJECT:
        if ((code = hdx_graph_statics(g, id, &values, err)) == HDX_OK)
            (void)add_dangling_values(list, g, &values, HDX_REF_STATIC, 0);
        break;
    case HDX_INSTANCE:
        if (hdx_graph_position(g, id, &pos) && (code = hdx_graph_fields_present(g, id, &values, err)) == HDX_OK)
            (void)add_dangling_values(list, g, &values, HDX_REF_FIELD, 0);
        break;
    case HDX_OBJECT_ARRAY:
        length = hdx_graph_length(g, id);
        for (uint64_t first = 0; first < length; first += PIECE)
            if ((code = hdx_graph_elements(g, id, first, PIECE, &values, err)) != HDX_OK || values.count == 0 ||
                !add_dangling_values(list, g, &values, HDX_REF_ELEMENT, first))
                break; /* the index may have an array whose record is missing */
        break;
    default: break;
    }
    hdx_values_free(&values);
    return code;
}

hdx_code hdx_named_collect(hdx_named_list *list, hdx_graph *g, hdx_id id, hdx_id only_target, hdx_error *err)
{
    collector c = { list, g };
    hdx_arena_empty(&list->names); /* called once per object of a heap: reuse the memory */
    list->count = 0;
    list->refused = false;
    hdx_code code = hdx_graph_named_refs(g, id, only_target, visit, &c, err);
    if (code == HDX_OK && !list->refused && only_target == HDX_NO_ID &&
        hdx_graph_summary_of(g)->dangling_references > 0)
        code = add_dangling(list, g, id, err);
    return code == HDX_OK && list->refused ? hdx_no_memory(err, "references", list->count * sizeof *list->at) : code;
}

void hdx_named_drop(hdx_named_list *list)
{
    hdx_arena_free(&list->names);
    hdx_mem_put(list->names.mem, list->at, list->capacity * sizeof *list->at);
    list->at = NULL;
    list->count = list->capacity = 0;
}
