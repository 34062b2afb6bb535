/*
 * layouts_bind.c - finds the layout line that applies to each class of a dump.
 *
 * In:  layouts, classes of a dump.
 * Out: for each class its line, and the class to which the line refers.
 * A class of a dump may have the name of a collection and other fields; the line does not apply then.
 */
#include "query/common/layouts.h"

#include "base/pattern.h"
#include "model/model.h"
#include <string.h>

bool hdx_layout_field(hdx_graph *g, uint32_t class, hdx_text name, uint64_t *offset, uint8_t *type)
{
    const uint32_t id_size = hdx_graph_summary_of(g)->id_size;
    uint64_t       from = 0;
    for (const hdx_class *c = hdx_graph_class(g, class); c != NULL;
         c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super)) {
        if ((c->flags & HDX_CLASS_OPAQUE) != 0)
            return false;
        for (uint32_t f = 0; f < c->field_count; f++) {
            if (c->fields[f].name.len == name.len && memcmp(c->fields[f].name.at, name.at, name.len) == 0) {
                *offset = from;
                *type = c->fields[f].type;
                return true;
            }
            from += hdx_type_size(c->fields[f].type, id_size);
        }
    }
    return false;
}

static bool starts_with_field(const hdx_layouts *l, hdx_graph *g, uint32_t class, const hdx_field_path *p)
{
    uint64_t offset;
    uint8_t  type;
    return p->count == 0 || hdx_text_is(l->names.at[p->step[0]], "this") ||
           hdx_layout_field(g, class, l->names.at[p->step[0]], &offset, &type);
}

/* Returns whether the class has the fields that the line names in the collection; fields of nodes are checked later. */
static bool fits(const hdx_layouts *l, hdx_graph *g, uint32_t class, const hdx_layout *line)
{
    bool all = starts_with_field(l, g, class, &line->from) && starts_with_field(l, g, class, &line->to) &&
               starts_with_field(l, g, class, &line->bits) && starts_with_field(l, g, class, &line->last);
    for (unsigned i = 0; all && i < line->term_count; i++)
        all = starts_with_field(l, g, class, &line->term[i].path);
    for (unsigned i = 0; all && i < line->source.count; i++)
        all = starts_with_field(l, g, class, &line->source.at[i]);
    for (unsigned i = 0; all && i < line->values.count; i++)
        all = starts_with_field(l, g, class, &line->values.at[i]);
    return all;
}

/* Finds the lines that may apply to a class: by hash for exact names, by trying each of the few globs. */
typedef struct line_index {
    hdx_map exact; /* hash of a name -> the first line with it */
    hdx_ids globs; /* numbers of lines */
} line_index;

/* Returns whether the line names this class itself, not a superclass. */
static bool is_for(const hdx_layout *line, hdx_text name)
{
    return line->glob ? hdx_glob_match(line->class_name, name)
                      : line->class_name.len == name.len && memcmp(line->class_name.at, name.at, name.len) == 0;
}

/*
 * Returns the first line that names this class and fits it. *seen: a line that names it and does not fit, which still
 * determines the kind of collection.
 */
static const hdx_layout *line_for(const hdx_layouts *l, const line_index *index, hdx_graph *g, const hdx_class *c,
                                  const hdx_layout **seen)
{
    const uint64_t *first = hdx_map_get(&index->exact, hdx_hash_bytes(2, c->name.at, c->name.len));
    uint64_t        exact = first == NULL ? l->lines.count : *first, k = 0;
    while (exact < l->lines.count || k < index->globs.count) {
        const bool        glob = k < index->globs.count && index->globs.at[k] <= exact;
        const uint64_t    place = glob ? index->globs.at[k] : exact;
        const hdx_layout *line = &l->lines.at[place];
        k += glob;
        exact += place == exact;
        if (!is_for(line, c->name))
            continue;
        if (fits(l, g, c->number, line))
            return line;
        *seen = line;
    }
    return NULL;
}

static hdx_code make_index(const hdx_layouts *l, line_index *index, hdx_error *err)
{
    for (uint64_t i = 0; i < l->lines.count; i++) {
        const hdx_layout *line = &l->lines.at[i];
        bool              fresh;
        if (line->glob) {
            const hdx_code code = hdx_ids_push(&index->globs, i, err);
            if (code != HDX_OK)
                return code;
            continue;
        }
        uint64_t *at = hdx_map_put(&index->exact, hdx_hash_bytes(2, line->class_name.at, line->class_name.len), &fresh);
        if (at == NULL)
            return hdx_no_memory(err, "layouts", 16 * l->lines.count);
        if (fresh)
            *at = i;
    }
    return HDX_OK;
}

static uint64_t own_bytes(hdx_graph *g, const hdx_class *c)
{
    uint64_t bytes = 0;
    for (uint32_t f = 0; f < c->field_count; f++)
        bytes += hdx_type_size(c->fields[f].type, hdx_graph_summary_of(g)->id_size);
    return bytes;
}

/*
 * A class without a line of its own inherits that of its superclass. Each chain of superclasses is processed from the
 * top down, so that every class is processed once.
 */
static hdx_code bind_chain(const hdx_layouts *l, const line_index *index, hdx_graph *g, hdx_bound_layouts *out,
                           uint8_t *done, hdx_ids *chain, uint32_t class, hdx_error *err)
{
    chain->count = 0;
    for (uint32_t c = class; c != HDX_NO_CLASS && !done[c]; c = hdx_graph_class(g, c)->super) {
        hdx_code code = hdx_ids_push(chain, c, err);
        if (code != HDX_OK)
            return code;
    }
    while (chain->count > 0) {
        const uint32_t       number = (uint32_t)chain->at[--chain->count];
        const hdx_class     *c = hdx_graph_class(g, number);
        hdx_layout_of_class *of = &out->of[number];
        const hdx_layout    *seen = NULL;
        done[number] = 1;
        if (c->kind != HDX_INSTANCE)
            continue;
        const hdx_layout *line = line_for(l, index, g, c, &seen);
        if (line != NULL) {
            *of = (hdx_layout_of_class){ .layout = line, .class = number };
        } else if (c->super != HDX_NO_CLASS && (c->flags & HDX_CLASS_OPAQUE) == 0) {
            *of = out->of[c->super];
            of->skip += own_bytes(g, c);
        }
        if (line == NULL && seen != NULL && (of->layout == NULL || of->layout->unknown))
            *of = (hdx_layout_of_class){ .layout = seen, .class = HDX_NO_CLASS }; /* no class: the line does not fit */
    }
    return HDX_OK;
}

hdx_code hdx_layouts_bind(const hdx_layouts *l, hdx_ask *ask, hdx_bound_layouts *out, hdx_error *err)
{
    line_index index = { .exact = hdx_map_of(l->mem), .globs = hdx_ids_of(l->mem) };
    hdx_ids    chain = hdx_ids_of(l->mem);
    uint32_t   count = 0;
    (void)hdx_graph_classes(ask->g, &count);
    uint8_t *done = hdx_mem_get(l->mem, count);
    *out = (hdx_bound_layouts){ l, hdx_mem_array(l->mem, count, sizeof *out->of), count };
    hdx_code code = done == NULL || out->of == NULL ? hdx_no_memory(err, "layouts of classes", count * sizeof *out->of)
                                                    : make_index(l, &index, err);
    for (uint32_t c = 0; code == HDX_OK && c < count; c++)
        if ((code = hdx_ask_check_cancel(ask, err)) == HDX_OK)
            code = bind_chain(l, &index, ask->g, out, done, &chain, c, err);
    hdx_ids_drop(&chain);
    hdx_ids_drop(&index.globs);
    hdx_map_free(&index.exact);
    hdx_mem_put(l->mem, done, count);
    if (code != HDX_OK)
        hdx_layouts_unbind(out);
    return code;
}

void hdx_layouts_unbind(hdx_bound_layouts *b)
{
    if (b->layouts != NULL)
        hdx_mem_put(b->layouts->mem, b->of, b->classes * sizeof *b->of);
    *b = (hdx_bound_layouts){ 0 };
}
