/*
 * ask.c - helpers that every question uses: the caller's query, cells for objects and classes, cancellation,
 * references.
 *
 * A question that lacks only the dump (HDX_BAD_DUMP from a label or value, and hdx_graph_lacks_dump) is answered
 * without it, because an index may be used on a machine that does not have the dump.
 */
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/query.h"

#include <stdarg.h>
#include <stdio.h>

hdx_code hdx_ask_begin(const hdx_query *q, hdx_ask *out, hdx_error *err)
{
    if (q == NULL || q->graph == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "question needs an open graph");
    *out = (hdx_ask){ .q = *q, .g = q->graph };
    if (!hdx_graph_summary_of(q->graph)->complete) {
        hdx_fail(err, HDX_BAD_DUMP, "", HDX_NOWHERE, "the index stops before the dominators");
        return hdx_hint(err, HDX_BAD_DUMP, "finish it with: heapdex index DUMP");
    }
    return hdx_ask_stopped(q, err);
}

hdx_code hdx_ask_stopped(const hdx_query *q, hdx_error *err)
{
    const hdx_progress *p = q->progress;
    return p != NULL && p->cancelled != NULL && p->cancelled(p->context) ? hdx_tick_stop(err) : HDX_OK;
}

hdx_code hdx_ask_check_cancel(hdx_ask *a, hdx_error *err)
{
    return (++a->rounds & 255) == 0 ? hdx_ask_stopped(&a->q, err) : HDX_OK;
}

hdx_code hdx_ask_unsound(hdx_ask *a, const char *where, const char *what, hdx_error *err)
{
    const hdx_code code = hdx_graph_check(a->g, err);
    return code != HDX_OK ? code : hdx_fail(err, HDX_DAMAGED, where, HDX_NOWHERE, "%s", what);
}

hdx_code hdx_ask_end(hdx_ask *a, bool *more, hdx_error *err)
{
    *more = false;
    return hdx_graph_check(a->g, err);
}

unsigned hdx_ask_threads(const hdx_query *q)
{
    unsigned n = q->threads == 0 ? hdx_workers_default() : q->threads;
    return n > HDX_WORKERS_MAX ? HDX_WORKERS_MAX : n;
}

hdx_cell hdx_class_cell(hdx_graph *g, uint32_t number)
{
    const hdx_class *c = number == HDX_NO_CLASS ? NULL : hdx_graph_class(g, number);
    return c == NULL ? hdx_cell_null() : hdx_cell_text(c->name);
}

hdx_cell hdx_class_of_cell(hdx_graph *g, hdx_id id) { return hdx_class_cell(g, hdx_graph_class_of(g, id)); }

hdx_cell hdx_id_cell(const hdx_graph *g, hdx_id id)
{
    return id == HDX_NO_ID || id == HDX_VIRTUAL_ROOT ? hdx_cell_null() : hdx_cell_address(hdx_graph_address(g, id));
}

hdx_cell hdx_retained_cell(const hdx_graph *g, hdx_id id)
{
    return hdx_graph_live(g, id) ? hdx_cell_uint(hdx_graph_retained(g, id)) : hdx_cell_null();
}

#define ROOTS 64u /* GC roots of one object that are examined; few objects are locals of more threads */

/* A thread refers to its locals, and one of its fields may refer to the same object. */
static hdx_code is_local_of(hdx_graph *g, hdx_id id, hdx_id thread, bool *yes, hdx_error *err)
{
    hdx_root roots[ROOTS];
    uint64_t count = 0;
    *yes = false;
    const hdx_code code = hdx_graph_roots_of(g, id, roots, ROOTS, &count, err);
    for (uint64_t i = 0; code == HDX_OK && !*yes && i < count && i < ROOTS; i++)
        *yes = roots[i].thread == thread;
    return code;
}

/* Returns how a class object refers to `to`. */
static hdx_ref_kind kind_of_class(const hdx_class *own, hdx_addr to)
{
    return own->super_address == to ? HDX_REF_SUPER
           : own->loader == to      ? HDX_REF_LOADER
           : own->signers == to     ? HDX_REF_SIGNERS
           : own->domain == to      ? HDX_REF_DOMAIN
                                    : HDX_REF_STATIC;
}

hdx_code hdx_reference_kind(hdx_graph *g, hdx_id from, hdx_id to, hdx_ref_kind *out, hdx_error *err)
{
    bool             local = false;
    const hdx_class *of = hdx_graph_class(g, hdx_graph_class_of(g, from)), *own = hdx_graph_class_object(g, from);
    *out = of != NULL && of->id == to                    ? HDX_REF_CLASS
           : hdx_graph_kind(g, from) == HDX_OBJECT_ARRAY ? HDX_REF_ELEMENT
           : own != NULL                                 ? kind_of_class(own, hdx_graph_address(g, to))
                                                         : HDX_REF_FIELD;
    if (own != NULL || *out != HDX_REF_FIELD)
        return HDX_OK;
    const hdx_code code = is_local_of(g, to, from, &local, err);
    *out = local ? HDX_REF_LOCAL : HDX_REF_FIELD;
    return code;
}

bool hdx_column_wanted(const hdx_query *q, unsigned column)
{
    return q->wanted.columns == 0 || (q->wanted.columns >> column & 1) != 0;
}

hdx_code hdx_rows_explain_empty(hdx_code code, hdx_rows **rows, hdx_error *err, const char *format, ...)
{
    char    line[160];
    va_list list;
    if (code != HDX_OK)
        return code;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if ((code = hdx_rows_set_nothing(*rows, line, err)) != HDX_OK) {
        hdx_rows_close(*rows);
        *rows = NULL;
    }
    return code;
}

bool hdx_column_named(const hdx_query *q, unsigned column) { return (q->wanted.named >> column & 1) != 0; }

const hdx_bound *hdx_column_bound(const hdx_query *q, unsigned column)
{
    for (unsigned i = 0; i < q->wanted.bound_count; i++)
        if (q->wanted.bounds[i].column == column)
            return &q->wanted.bounds[i];
    return NULL;
}

/* "class java.lang.System": MAT has no label for class objects, and the class of all of them is java.lang.Class. */
static hdx_code class_label(hdx_graph *g, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    static const char word[] = "class ";
    const size_t      len = sizeof word - 1;
    const hdx_class  *c = hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, id) : NULL;
    if (c == NULL)
        return HDX_OK;
    if (c->name.len >= HDX_LONG_NAME) {
        hdx_text       label = { NULL, 0 };
        const hdx_code code = hdx_graph_class_label(g, c, &label, err);
        *out = code == HDX_OK ? hdx_cell_text(label) : hdx_cell_null();
        return code;
    }
    char *text = hdx_arena_get(arena, len + (uint64_t)c->name.len);
    if (text == NULL)
        return hdx_no_memory(err, "a label", len + (uint64_t)c->name.len);
    memcpy(text, word, len);
    memcpy(text + len, c->name.at, c->name.len);
    *out = hdx_cell_text((hdx_text){ text, (uint32_t)len + c->name.len });
    return HDX_OK;
}

/* Decodes the NULs (0xc0 0x80) of a text in place, because cells may contain NUL, and returns the new length. */
static uint64_t with_nuls(char *text, uint64_t len)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < len; i++)
        if ((uint8_t)text[i] == 0xc0 && i + 1 < len && (uint8_t)text[i + 1] == 0x80) {
            text[n++] = '\0';
            i++;
        } else {
            text[n++] = text[i];
        }
    return n;
}

hdx_code hdx_label_whole(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(q->mem);
    hdx_error  mine;
    bool       some;
    hdx_code   code = hdx_label_allow_missing_dump(
          q->graph, hdx_graph_whole_label(q->graph, id, q->whole, q->progress, &text, &some, &mine), &mine, err);
    if (code == HDX_OK && some) {
        char *copy = hdx_arena_copy(arena, text.at, text.len);
        if (copy == NULL)
            code = hdx_no_memory(err, "a label", text.len);
        else
            *out = hdx_cell_text((hdx_text){ copy, (uint32_t)with_nuls(copy, text.len) }); /* HDX_LABEL_WHOLE */
    }
    hdx_buffer_free(&text);
    return code;
}

/* `text` is the text that the graph returned; it is freed. */
hdx_code hdx_label_of_text(hdx_graph *g, hdx_id id, char *text, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    *out = hdx_cell_null();
    if (text == NULL && hdx_graph_text_absent(g, id)) {
        *out = (hdx_cell){ .kind = HDX_CELL_ABSENT };
        return HDX_OK;
    }
    if (text == NULL) /* the index has the name of a class */
        return class_label(g, id, arena, out, err);
    size_t len = strlen(text);
    char  *copy = hdx_arena_copy(arena, text, len);
    hdx_text_free(text);
    if (copy == NULL)
        return hdx_no_memory(err, "a label", len);
    *out = hdx_cell_text((hdx_text){ copy, (uint32_t)with_nuls(copy, len) }); /* truncated far below 4 GiB (MAT 10.4) */
    return HDX_OK;
}

/* A missing dump is no error; a dump that changed since it was indexed is one. */
hdx_code hdx_label_allow_missing_dump(hdx_graph *g, hdx_code code, const hdx_error *mine, hdx_error *err)
{
    if (code == HDX_OK || (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(g)))
        return HDX_OK;
    if (err != NULL)
        *err = *mine;
    return code;
}

hdx_code hdx_label_cell(const hdx_query *q, hdx_id id, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_error mine;
    char     *text = NULL;
    *out = hdx_cell_null();
    hdx_code code = hdx_label_allow_missing_dump(q->graph, hdx_graph_label(q->graph, id, &text, &mine), &mine, err);
    if (code != HDX_OK)
        return code;
    if (q->whole != HDX_CUT && text != NULL && strlen(text) >= HDX_CUT_LABEL) {
        hdx_text_free(text);
        return hdx_label_whole(q, id, arena, out, err);
    }
    return hdx_label_of_text(q->graph, id, text, arena, out, err);
}

hdx_cell hdx_text_cell(hdx_arena *arena, hdx_text text)
{
    char *copy = hdx_arena_copy(arena, text.at, text.len);
    return copy == NULL ? hdx_cell_null() : hdx_cell_text((hdx_text){ copy, text.len });
}

/* A char becomes a text of one character; a half of a surrogate pair is not a character and remains a number. */
static hdx_cell char_cell(hdx_arena *arena, uint16_t c)
{
    if (c >= 0xd800 && c <= 0xdfff)
        return hdx_cell_uint(c);
    char    *p = hdx_arena_get(arena, 4);
    uint32_t n = 0;
    if (p == NULL)
        return hdx_cell_uint(c);
    if (c < 0x80) {
        p[n++] = (char)c;
    } else if (c < 0x800) {
        p[n++] = (char)(0xc0 | c >> 6);
        p[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        p[n++] = (char)(0xe0 | c >> 12);
        p[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        p[n++] = (char)(0x80 | (c & 0x3f));
    }
    return hdx_cell_text((hdx_text){ p, n });
}

hdx_cell hdx_value_cell(hdx_arena *arena, const hdx_value *value)
{
    if (value->absent)
        return (hdx_cell){ .kind = HDX_CELL_ABSENT };
    switch (value->type) {
    case 2: return value->as.address == 0 ? hdx_cell_null() : hdx_cell_address(value->as.address);
    case 4: return hdx_cell_bool(value->as.boolean);
    case 5: return char_cell(arena, value->as.character);
    case 6: return hdx_cell_real((double)value->as.single);
    case 7: return hdx_cell_real(value->as.real);
    default: return hdx_cell_int(value->as.integer);
    }
}

hdx_code hdx_root_types_cell(hdx_graph *g, hdx_id id, bool locals, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    uint64_t        count = 0;
    uint32_t        types = 0, n = 0; /* a bit per type */
    const hdx_root *roots = hdx_graph_roots(g, &count);
    if (roots == NULL)
        count = 0;
    for (uint64_t i = hdx_lower_bound(HDX_KEYS(roots, count, object), id); i < count && roots[i].object == id; i++)
        if ((locals || roots[i].thread == HDX_NO_ID) && (unsigned)roots[i].type < HDX_ROOT_TYPES)
            types |= 1u << roots[i].type;
    hdx_cell *cells = hdx_arena_get(arena, HDX_ROOT_TYPES * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "types of roots", HDX_ROOT_TYPES * sizeof *cells);
    for (unsigned t = 0; t < HDX_ROOT_TYPES; t++)
        if (types >> t & 1)
            cells[n++] = hdx_cell_string(hdx_root_type_name((hdx_root_type)t));
    *out = hdx_cell_list(cells, n);
    return HDX_OK;
}

hdx_code hdx_root_descriptions_cell(hdx_arena *arena, const hdx_cell *types, hdx_cell *out, hdx_error *err)
{
    const uint64_t n = types->as.list.count;
    hdx_cell      *cells = hdx_arena_get(arena, n * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "types of roots", n * sizeof *cells);
    for (uint64_t i = 0; i < n; i++)
        cells[i] = hdx_cell_string(
            hdx_root_type_description(types->as.list.at[i].as.text.at, types->as.list.at[i].as.text.len));
    *out = hdx_cell_list(cells, n);
    return HDX_OK;
}

hdx_code hdx_ids_push(hdx_ids *ids, hdx_id id, hdx_error *err)
{
    if (!hdx_mem_room(ids->mem, (void **)&ids->at, &ids->capacity, ids->count, sizeof *ids->at))
        return hdx_no_memory(err, "a list of objects", (ids->count + 1) * sizeof *ids->at);
    ids->at[ids->count++] = id;
    return HDX_OK;
}

void hdx_ids_drop(hdx_ids *ids)
{
    hdx_mem_put(ids->mem, ids->at, ids->capacity * sizeof *ids->at);
    *ids = hdx_ids_of(ids->mem);
}
