/*
 * named.c - the named references of one object as a list: what a stream of rows keeps between two objects.
 *
 * References that lead to no object of the dump (HeapDumpSample has 2,980) are listed too, after the others: what an
 * object refers to is asked for, and the address is all that is known. They are searched for only in dumps that have
 * any.
 */
#include "graph/graph.h"
#include "query/common/named.h"
#include "query/query.h"

#include <stdio.h>

#define PIECE 4096u /* elements at a time */

static bool keep(hdx_named_list *list, hdx_id target, hdx_addr address, hdx_ref_kind kind, uint32_t owner,
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
    return keep(c->list, ref->target, hdx_graph_address(c->g, ref->target), ref->kind, ref->owner,
                (hdx_text){ ref->name, (uint32_t)strlen(ref->name) });
}

/* Values that are addresses of nothing. */
static bool keep_dangling(hdx_named_list *list, hdx_graph *g, const hdx_values *values, hdx_ref_kind kind,
                          uint64_t first)
{
    for (uint64_t i = 0; i < values->count; i++) {
        const hdx_field_value *f = &values->at[i];
        char                   number[32];
        hdx_text               name = f->name;
        hdx_id                 id;
        if (f->value.type != 2 || f->value.absent || hdx_graph_find(g, f->value.as.address, &id))
            continue; /* null too is the address of an object: of object 0 */
        if (kind == HDX_REF_ELEMENT)
            name = (hdx_text){ number,
                               (uint32_t)snprintf(number, sizeof number, "[%llu]", (unsigned long long)(first + i)) };
        if (!keep(list, HDX_NO_ID, f->value.as.address, kind, kind == HDX_REF_ELEMENT ? HDX_NO_CLASS : f->owner, name))
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
            (void)keep_dangling(list, g, &values, HDX_REF_STATIC, 0);
        break;
    case HDX_INSTANCE:
        if (hdx_graph_position(g, id, &pos) && (code = hdx_graph_fields_there(g, id, &values, err)) == HDX_OK)
            (void)keep_dangling(list, g, &values, HDX_REF_FIELD, 0);
        break;
    case HDX_OBJECT_ARRAY:
        length = hdx_graph_length(g, id);
        for (uint64_t first = 0; first < length; first += PIECE)
            if ((code = hdx_graph_elements(g, id, first, PIECE, &values, err)) != HDX_OK || values.count == 0 ||
                !keep_dangling(list, g, &values, HDX_REF_ELEMENT, first))
                break; /* an array without a record has none, whatever the index says */
        break;
    default: break;
    }
    hdx_values_free(&values);
    return code;
}

hdx_code hdx_named_collect(hdx_named_list *list, hdx_graph *g, hdx_id id, hdx_id only_target, hdx_error *err)
{
    collector c = { list, g };
    hdx_arena_empty(&list->names); /* once for each object of a heap */
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
