/*
 * heap.c - the heap as inspectors read it: names after the mapping, fields by declaring class and name, texts.
 *
 * In:  an open graph with its dump.
 * Out: values. A missing class, field, object or value (of a stripped dump) gives an empty result. The first failure
 *      (memory, input) stays in h->code, which is checked once before returning to the caller.
 * Cost: one record per object; the fields of the last LEAK_RECENT objects are cached. Not thread-safe: each search has
 *       its own heap.
 */
#include "leaks/leaks.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_MOST 4096u /* UTF-16 units of a text in a note */
#define KNOWN     (1ull << 63)

void hdx_leak_fail(leak_heap *h, hdx_code code, const hdx_error *err)
{
    if (h->code == HDX_OK && code != HDX_OK) {
        h->code = code;
        h->err = *err;
    }
}

hdx_code hdx_leak_heap_open(hdx_graph *g, const leak_mapping *mapping, leak_heap *h, hdx_error *err)
{
    const hdx_graph_summary *sum = hdx_graph_summary_of(g);
    *h = (leak_heap){ .g = g, .mapping = mapping, .objects = hdx_graph_objects(g), .id_size = sum->id_size };
    h->arena = hdx_arena_of(NULL);
    h->classes = hdx_graph_classes(g, &h->class_count);
    if (h->classes == NULL)
        return hdx_graph_check(g, err);
    h->names = hdx_mem_array(NULL, h->class_count, sizeof *h->names);
    h->is_a = hdx_mem_array(NULL, h->class_count, sizeof *h->is_a);
    h->climbed = hdx_mem_array(NULL, h->class_count, sizeof *h->climbed);
    if (h->names == NULL || h->is_a == NULL || h->climbed == NULL)
        return hdx_no_memory(err, "names of classes", (uint64_t)h->class_count * sizeof *h->names);
    for (uint32_t c = 0; c < h->class_count; c++)
        h->names[c] = hdx_leak_mapping_class(mapping, h->classes[c].name, &h->arena);
    h->android = strcmp(sum->version, "1.0.3") == 0 || hdx_graph_class_named(g, "android.os.Build") != NULL;
    return HDX_OK;
}

void hdx_leak_heap_close(leak_heap *h)
{
    for (unsigned i = 0; i < LEAK_RECENT; i++)
        hdx_values_free(&h->recent[i].values);
    hdx_mem_put(NULL, h->names, (uint64_t)h->class_count * sizeof *h->names);
    hdx_mem_put(NULL, h->is_a, (uint64_t)h->class_count * sizeof *h->is_a);
    for (unsigned i = 0; i < LEAK_EXTENDED && h->extended[i].name != NULL; i++)
        hdx_mem_put(NULL, h->extended[i].of, h->class_count);
    hdx_mem_put(NULL, h->climbed, (uint64_t)h->class_count * sizeof *h->climbed);
    hdx_arena_free(&h->arena);
}

/* ---- names ---- */

hdx_text hdx_leak_name(const leak_heap *h, uint32_t number)
{
    return number < h->class_count ? h->names[number] : (hdx_text){ "", 0 };
}

hdx_text hdx_leak_field_name(const leak_heap *h, uint32_t owner, hdx_text raw)
{
    return h->mapping == NULL || owner >= h->class_count
               ? raw
               : hdx_leak_mapping_field(h->mapping, h->classes[owner].name, raw);
}

hdx_text hdx_leak_name_of(leak_heap *h, hdx_id id)
{
    const hdx_class *own = hdx_graph_class_object(h->g, id);
    return hdx_leak_name(h, own != NULL ? own->number : hdx_graph_class_of(h->g, id));
}

hdx_leak_what hdx_leak_what_of(leak_heap *h, hdx_id id)
{
    const hdx_object_kind kind = hdx_graph_kind(h->g, id);
    return kind == HDX_CLASS_OBJECT ? HDX_LEAK_IS_CLASS
           : kind == HDX_INSTANCE   ? HDX_LEAK_IS_INSTANCE
                                    : HDX_LEAK_IS_ARRAY;
}

bool hdx_leak_is_instance(leak_heap *h, hdx_id id)
{
    return id < h->objects && hdx_graph_kind(h->g, id) == HDX_INSTANCE;
}

uint64_t hdx_leak_bits(leak_heap *h, uint32_t number)
{
    uint64_t bits = KNOWN;
    uint32_t c = number, count = 0;
    if (number >= h->class_count)
        return 0;
    for (; c != HDX_NO_CLASS && (h->is_a[c] & KNOWN) == 0; c = h->classes[c].super)
        h->climbed[count++] = c;
    if (c != HDX_NO_CLASS)
        bits = h->is_a[c];
    while (count > 0) { /* stored for all of them, so that each class is examined once */
        c = h->climbed[--count];
        for (unsigned k = 0; k < LC_CLASSES; k++)
            if (hdx_text_is(h->names[c], hdx_leak_class_names[k]))
                bits |= 1ull << k;
        h->is_a[c] = bits;
    }
    return bits;
}

bool hdx_leak_isa(leak_heap *h, hdx_id id, leak_class c)
{
    return hdx_leak_is_instance(h, id) && (hdx_leak_bits(h, hdx_graph_class_of(h->g, id)) >> c & 1) != 0;
}

/*
 * Returns the cache by class number for classes that extend the named one: 0 unknown, 1 it does, 2 it does not. NULL:
 * too many names for the cache, or no memory.
 */
static uint8_t *extends_cache(leak_heap *h, const char *name)
{
    unsigned n = 0;
    while (n < LEAK_EXTENDED && h->extended[n].name != name && h->extended[n].name != NULL)
        n++;
    if (n == LEAK_EXTENDED)
        return NULL;
    if (h->extended[n].name == NULL && (h->extended[n].of = hdx_mem_array(NULL, h->class_count, 1)) != NULL)
        h->extended[n].name = name;
    return h->extended[n].of;
}

bool hdx_leak_extends(leak_heap *h, uint32_t number, const char *name)
{
    uint8_t *known = extends_cache(h, name);
    uint32_t c = number;
    while (c < h->class_count && (known == NULL || known[c] == 0) && !hdx_text_is(h->names[c], name))
        c = h->classes[c].super;
    const bool yes = c < h->class_count && (known == NULL || known[c] != 2);
    for (uint32_t end = c; known != NULL && number < h->class_count && (known[number] == 0);
         number = h->classes[number].super) {
        known[number] = yes ? 1 : 2;
        if (number == end)
            break;
    }
    return yes;
}

/*
 * Of several classes with the name returns one that is a sticky root, in the order of roots; otherwise the one whose
 * record is the last in the dump (SHARK 1.6).
 */
const hdx_class *hdx_leak_class_raw(leak_heap *h, const char *name)
{
    const hdx_class *first = hdx_graph_class_named(h->g, name), *last = NULL;
    hdx_pos          at, best = 0;
    unsigned         count = 0;
    if (first == NULL)
        return NULL;
    for (uint64_t i = 0; i < h->sticky_count; i++)
        if (hdx_text_same(h->classes[h->sticky[i]].name, first->name))
            return &h->classes[h->sticky[i]];
    for (uint32_t c = 0; c < h->class_count; c++) {
        if (!hdx_text_same(h->classes[c].name, first->name))
            continue;
        count++;
        if (hdx_graph_position(h->g, h->classes[c].id, &at) && (last == NULL || at > best)) {
            best = at;
            last = &h->classes[c];
        }
    }
    return count > 1 && last != NULL ? last : first;
}

/* ---- fields ---- */

hdx_id hdx_leak_object_at(const leak_heap *h, hdx_addr address)
{
    hdx_id id;
    return address != 0 && hdx_graph_find(h->g, address, &id) ? id : HDX_NO_ID;
}

const hdx_values *hdx_leak_fields(leak_heap *h, hdx_id id)
{
    static const hdx_values none = { 0 };
    hdx_error               err = { .code = HDX_OK };
    if (id >= h->objects)
        return &none;
    for (unsigned i = 0; i < LEAK_RECENT; i++)
        if (h->recent[i].id == id && h->recent[i].values.count > 0)
            return &h->recent[i].values;
    h->next = (h->next + 1) % LEAK_RECENT;
    h->recent[h->next].id = id;
    hdx_code code = hdx_graph_fields(h->g, id, &h->recent[h->next].values, &err);
    if (code != HDX_OK) {
        h->recent[h->next].values.count = 0;
        hdx_leak_fail(h, code, &err);
    }
    return &h->recent[h->next].values;
}

bool hdx_leak_get(leak_heap *h, hdx_id id, const char *owner, const char *field, hdx_value *out)
{
    const hdx_values *v = hdx_leak_fields(h, id);
    for (uint64_t i = 0; i < v->count; i++) {
        const hdx_field_value *f = &v->at[i];
        if (hdx_text_is(hdx_leak_field_name(h, f->owner, f->name), field) &&
            hdx_text_is(hdx_leak_name(h, f->owner), owner)) {
            *out = f->value;
            return !f->value.absent;
        }
    }
    return false;
}

hdx_id hdx_leak_get_object(leak_heap *h, hdx_id id, const char *owner, const char *field)
{
    hdx_value v;
    return hdx_leak_get(h, id, owner, field, &v) && v.type == 2 ? hdx_leak_object_at(h, v.as.address) : HDX_NO_ID;
}

bool hdx_leak_get_bool(leak_heap *h, hdx_id id, const char *owner, const char *field, bool *there)
{
    hdx_value v;
    bool      found = hdx_leak_get(h, id, owner, field, &v) && v.type == 4;
    if (there != NULL)
        *there = found;
    return found && v.as.boolean;
}

static bool whole_number(const hdx_value *v, int64_t *out)
{
    if (v->absent || v->type < 8 || v->type > 11)
        return false;
    *out = v->as.integer;
    return true;
}

int64_t hdx_leak_get_int(leak_heap *h, hdx_id id, const char *owner, const char *field, int64_t otherwise)
{
    hdx_value v;
    int64_t   n;
    return hdx_leak_get(h, id, owner, field, &v) && whole_number(&v, &n) ? n : otherwise;
}

bool hdx_leak_static(leak_heap *h, const hdx_class *c, const char *field, hdx_value *out)
{
    hdx_values values = { 0 };
    hdx_error  err = { .code = HDX_OK };
    bool       found = false;
    if (c == NULL)
        return false;
    hdx_code code = hdx_graph_statics(h->g, c->id, &values, &err);
    hdx_leak_fail(h, code, &err);
    for (uint64_t i = 0; code == HDX_OK && !found && i < values.count; i++)
        if (hdx_text_is(hdx_leak_field_name(h, c->number, values.at[i].name), field) && !values.at[i].value.absent) {
            *out = values.at[i].value;
            found = true;
        }
    hdx_values_free(&values);
    return found;
}

hdx_id hdx_leak_static_object(leak_heap *h, const hdx_class *c, const char *field)
{
    hdx_value v;
    return hdx_leak_static(h, c, field, &v) && v.type == 2 ? hdx_leak_object_at(h, v.as.address) : HDX_NO_ID;
}

hdx_id *hdx_leak_elements(leak_heap *h, hdx_id array, uint64_t most, uint64_t *count)
{
    hdx_values v = { 0 };
    hdx_error  err = { .code = HDX_OK };
    *count = 0;
    if (array >= h->objects || hdx_graph_kind(h->g, array) != HDX_OBJECT_ARRAY)
        return NULL;
    hdx_code code = hdx_graph_elements(h->g, array, 0, most, &v, &err);
    hdx_id  *out = code == HDX_OK ? hdx_mem_array(NULL, v.count, sizeof *out) : NULL;
    if (code == HDX_OK && out == NULL)
        code = hdx_no_memory(&err, "elements", v.count * sizeof *out);
    hdx_leak_fail(h, code, &err);
    for (uint64_t i = 0; out != NULL && i < v.count; i++)
        out[i] = v.at[i].value.absent ? HDX_NO_ID : hdx_leak_object_at(h, v.at[i].value.as.address);
    *count = out != NULL ? v.count : 0;
    hdx_values_free(&v);
    return out;
}

/* ---- texts ---- */

const char *hdx_leak_print(leak_heap *h, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int   len = vsnprintf(NULL, 0, format, args);
    char *text = len < 0 ? NULL : hdx_arena_get(&h->arena, (uint64_t)len + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    if (text == NULL) {
        hdx_error err = { .code = HDX_OK };
        hdx_leak_fail(h, hdx_no_memory(&err, "texts", 0), &err);
        return "";
    }
    return text;
}

const char *hdx_leak_keep(leak_heap *h, hdx_buffer *b)
{
    const char *text = b->failed ? NULL : hdx_arena_copy(&h->arena, b->len > 0 ? b->at : "", b->len);
    if (text == NULL) {
        hdx_error err = { .code = HDX_OK };
        hdx_leak_fail(h, hdx_no_memory(&err, "texts", b->len), &err);
        text = "";
    }
    hdx_buffer_free(b);
    return text;
}

/* A String whose `count` is 0 is "" whatever its array holds (SHARK 1.9). */
const char *hdx_leak_text(leak_heap *h, hdx_id id)
{
    char     *text;
    size_t    len;
    bool      whole, is_string;
    hdx_error err = { .code = HDX_OK };
    if (id >= h->objects)
        return NULL;
    hdx_code code = hdx_graph_string(h->g, id, TEXT_MOST, &text, &len, &whole, &is_string, &err);
    hdx_leak_fail(h, code, &err);
    if (code != HDX_OK || !is_string)
        return NULL;
    const char *copy = hdx_leak_print(h, "%s", text);
    hdx_text_free(text);
    return copy;
}

const char *hdx_leak_get_text(leak_heap *h, hdx_id id, const char *owner, const char *field)
{
    return hdx_leak_text(h, hdx_leak_get_object(h, id, owner, field));
}
