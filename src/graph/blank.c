/*
 * blank.c - recognizes contents that a stripped dump has lost: contents that were cut out, and contents that a tool
 * overwrote with a constant.
 *
 * For cut contents the source supplies zeros and knows at which positions. Overwritten contents are recognized by the
 * stripping policy, because the file only shows the constant. Arrays without elements have lost nothing.
 */
#include "graph/inside.h"

#define ELEMENTS 64u /* an overwritten array is recognized by its first elements */

/*
 * Tools spare some contents: arrays of certain types, names of threads. Content that differs from the constant was not
 * overwritten.
 */
static bool overwritten(const hdx_graph *g, hdx_source *source, const hdx_event *array, hdx_pos content)
{
    const hdx_stripping *s = &g->m->stripping;
    uint8_t              bytes[2 * ELEMENTS];
    size_t               got = 0;
    if (!s->detailed)
        return true;
    if ((s->kept >> array->type & 1) != 0)
        return false;
    if (array->type != 5 && array->type != 8)
        return true;
    const unsigned size = array->type == 5 ? 2 : 1;
    const uint64_t want = size * hdx_least(array->count, ELEMENTS);
    if (hdx_source_read_at(source, content, bytes, (size_t)want, &got, NULL) != HDX_OK)
        return true;
    for (size_t i = 0; i + size <= got; i += size)
        if ((size == 2 ? hdx_be16(bytes + i) : bytes[i]) != s->fill[size - 1])
            return false;
    return true;
}

uint64_t hdx_graph_limit_of_array(const hdx_graph *g, const hdx_event *array)
{
    const hdx_stripping *s = &g->m->stripping;
    if (s->policy != HDX_STRIP_LIMITED || array->tag != HDX_SUB_PRIMITIVE_ARRAY)
        return UINT64_MAX;
    const uint32_t limit = s->limit[array->type == 5 || array->type == 8 ? 0 : 1];
    return limit == 0 || array->count <= limit ? UINT64_MAX : limit;
}

bool hdx_graph_blank_array(const hdx_graph *g, hdx_source *source, const hdx_event *array, hdx_pos content)
{
    if (array->tag != HDX_SUB_PRIMITIVE_ARRAY || array->count == 0)
        return false;
    switch (g->m->stripping.policy) {
    case HDX_STRIP_SHARK: return true;
    case HDX_STRIP_REDACTED: return overwritten(g, source, array, content);
    case HDX_STRIP_KOOM: /* without an overlay the dump was restored by another tool, with zeros */
        return g->m->stripping.overlay == HDX_OVERLAY_NONE || hdx_source_absent(source, content);
    case HDX_STRIP_TAILOR: return array->type == 5 || array->type == 8;
    default: return false;
    }
}

static bool is_zero(const hdx_value *value)
{
    switch (value->type) {
    case 4: return !value->as.boolean;
    case 5: return value->as.character == 0;
    case 6: return value->as.single == 0;
    case 7: return value->as.real == 0;
    default: return value->as.integer == 0;
    }
}

bool hdx_graph_wiped(const hdx_graph *g, const hdx_value *value)
{
    const hdx_stripping *s = &g->m->stripping;
    return s->fields && value->type != 2 &&
           (is_zero(value) || (value->type == 5 && value->as.character == s->fill[1]) ||
            (value->type == 8 && (uint8_t)value->as.integer == s->fill[0]));
}

bool hdx_graph_blank_value(const hdx_graph *g, const hdx_class *owner, const hdx_value *value)
{
    static const struct {
        const char *name;
        uint8_t     type;
    } boxes[] = {
        { "java.lang.Boolean", 4 },  { "java.lang.Character", 5 }, { "java.lang.Float", 6 },
        { "java.lang.Double", 7 },   { "java.lang.Byte", 8 },      { "java.lang.Short", 9 },
        { "java.lang.Integer", 10 }, { "java.lang.Long", 11 },
    };
    const hdx_stripping *s = &g->m->stripping;
    if ((s->policy != HDX_STRIP_SHARK && s->policy != HDX_STRIP_REDACTED) || value->type == 2)
        return false;
    if (hdx_graph_wiped(g, value))
        return true;
    if ((s->detailed && s->kept != 0) || !is_zero(value)) /* older versions of Shark do not overwrite boxes */
        return false;
    for (unsigned i = 0; i < sizeof boxes / sizeof *boxes; i++)
        if (value->type == boxes[i].type && hdx_text_is(owner->name, boxes[i].name))
            return true;
    return false;
}

/* Returns the address in a reference field; 0 if it is null, missing or cannot be read. */
static hdx_addr reference(hdx_graph *g, hdx_id id, const char *class, const char *field)
{
    hdx_value v;
    bool      found;
    (void)hdx_graph_field(g, id, class, field, &v, &found, NULL);
    return found && !v.absent && v.type == 2 ? v.as.address : 0;
}

/* Returns whether the dump lacks the array of a String, or the content of that array. */
static bool string_absent(hdx_graph *g, hdx_id id)
{
    hdx_record     r;
    hdx_id         array;
    bool           there;
    const hdx_addr value = reference(g, id, "java.lang.String", "value");
    if (value == 0)
        return false;
    if (!hdx_graph_find(g, value, &array))
        return true;
    return hdx_graph_length(g, array) > 0 && hdx_graph_record(g, array, &r, &there, NULL) == HDX_OK && there &&
           r.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA;
}

bool hdx_graph_text_absent(hdx_graph *g, hdx_id id)
{
    hdx_record       r;
    hdx_id           name;
    bool             there;
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id)), *thread;
    if (g->m->stripping.policy == HDX_STRIP_NONE || c == NULL)
        return false;
    if (hdx_text_is(c->name, "java.lang.String"))
        return string_absent(g, id);
    if (c->kind == HDX_PRIMITIVE_ARRAY && c->element_type == 5)
        return hdx_graph_length(g, id) > 0 && hdx_graph_record(g, id, &r, &there, NULL) == HDX_OK && there &&
               r.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA;
    if ((thread = hdx_graph_class_named(g, "java.lang.Thread")) == NULL ||
        !hdx_class_extends(g, c->number, thread->number))
        return false;
    const hdx_addr at = reference(g, id, "java.lang.Thread", "name");
    return at != 0 && (!hdx_graph_find(g, at, &name) || string_absent(g, name));
}
