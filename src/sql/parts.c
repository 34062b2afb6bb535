/*
 * parts.c - the parts of one object: fields, elements, entries of a collection.
 *
 * In:  an object, whose record is read from the dump.
 * Out: a row for each part. References are ids in the column `ref`, and addresses in `value`, which may refer to no
 *      object; a part that is missing from the dump is null.
 */
#include "model/model.h"
#include "query/common/labels.h"
#include "query/common/contents.h"
#include "sql/made.h"

#define PIECE 4096u

static void result_value(sqlite3_context *context, const hdx_value *v)
{
    if (!v->absent && v->type == 2 && v->as.address != 0)
        sqlite3_result_int64(context, (sqlite3_int64)v->as.address);
    else if (v->type != 2)
        hdx_sql_result_value(context, NULL, v);
}

static void result_ref(sqlite3_context *context, const sql_heap *heap, const hdx_value *v)
{
    if (v->type == 2)
        hdx_sql_result_value(context, heap, v);
}

/* ---- fields ---- */

typedef struct parts_cursor {
    hdx_values v;
    uint64_t   at;
    hdx_id     of;
    uint64_t   from, end; /* of elements: v begins at `from`; the last one requested is before `end` */
} parts_cursor;

static void listed_end(sql_call *c) { hdx_values_free(&((parts_cursor *)c->state)->v); }

/* Reads fields, for a class object its statics. */
static hdx_code fields_begin(sql_call *c, bool *more, hdx_error *err)
{
    parts_cursor *l = c->state;
    *more = false;
    l->at = 0;
    if (!sql_argument_id(c, 0, &l->of))
        return HDX_OK;
    const hdx_code code = hdx_graph_kind(c->heap->g, l->of) == HDX_CLASS_OBJECT
                              ? hdx_graph_statics(c->heap->g, l->of, &l->v, err)
                              : hdx_graph_fields(c->heap->g, l->of, &l->v, err);
    *more = code == HDX_OK && l->v.count > 0;
    return code;
}

static hdx_code fields_next(sql_call *c, bool *more, hdx_error *err)
{
    parts_cursor *l = c->state;
    (void)err;
    *more = ++l->at < l->v.count;
    return HDX_OK;
}

static hdx_code fields_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const parts_cursor    *l = c->state;
    const hdx_field_value *f = &l->v.at[l->at];
    (void)err;
    switch (column) {
    case 0: sql_result_text(context, f->name); break;
    case 1: sqlite3_result_text(context, hdx_type_name(f->value.type), -1, SQLITE_STATIC); break;
    case 2: result_value(context, &f->value); break;
    case 3: result_ref(context, c->heap, &f->value); break;
    default:
        if (f->owner != HDX_NO_CLASS)
            sqlite3_result_int64(context, f->owner);
    }
    return HDX_OK;
}

/* ---- elements ---- */

static hdx_code elements_read(sql_call *c, bool *more, hdx_error *err)
{
    parts_cursor  *l = c->state;
    const uint64_t n = l->end - l->from < PIECE ? l->end - l->from : PIECE;
    hdx_code       code = HDX_OK;
    l->at = l->v.count = 0;
    if (n > 0)
        code = hdx_graph_elements(c->heap->g, l->of, l->from, n, &l->v, err);
    *more = code == HDX_OK && l->v.count > 0;
    return code;
}

/* Reads a number from 0 up; `preset` if it is not given. False: it is not one. */
static bool natural(const sql_call *c, unsigned argument, uint64_t preset, uint64_t *out)
{
    sqlite3_value *value = c->arguments[argument];
    *out = preset;
    if (value == NULL)
        return true;
    if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER || sqlite3_value_int64(value) < 0)
        return false;
    *out = (uint64_t)sqlite3_value_int64(value);
    return true;
}

/* Reads `n` elements from `first`. */
static hdx_code elements_begin(sql_call *c, bool *more, hdx_error *err)
{
    parts_cursor *l = c->state;
    uint64_t      n;
    *more = false;
    if (!sql_argument_id(c, 0, &l->of) || !natural(c, 1, 0, &l->from) || !natural(c, 2, UINT64_MAX, &n))
        return HDX_OK;
    const uint64_t length = hdx_graph_length(c->heap->g, l->of);
    if (l->from >= length)
        return HDX_OK;
    l->end = n < length - l->from ? l->from + n : length;
    return elements_read(c, more, err);
}

static hdx_code elements_next(sql_call *c, bool *more, hdx_error *err)
{
    parts_cursor *l = c->state;
    *more = ++l->at < l->v.count;
    if (*more)
        return HDX_OK;
    l->from += l->v.count;
    return elements_read(c, more, err);
}

static hdx_code elements_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const parts_cursor *l = c->state;
    const hdx_value    *v = &l->v.at[l->at].value;
    (void)err;
    switch (column) {
    case 0: sqlite3_result_int64(context, (sqlite3_int64)(l->from + l->at)); break;
    case 1: sqlite3_result_text(context, hdx_type_name(v->type), -1, SQLITE_STATIC); break;
    case 2: result_value(context, v); break;
    default: result_ref(context, c->heap, v);
    }
    return HDX_OK;
}

/* ---- entries ---- */

typedef struct known { /* collections with a known layout, shared by all cursors */
    sql_heap         *heap;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    bool              ready;
} known;

typedef struct entries {
    hdx_contents   contents;
    hdx_entry_walk walk;
    hdx_entry      entry;
    hdx_arena      arena;
    bool           open, walking;
} entries;

static void known_forget(void *shared)
{
    known *k = shared;
    if (k->heap == NULL)
        return;
    hdx_layouts_unbind(&k->bound);
    hdx_layouts_free(&k->layouts);
    *k = (known){ .heap = NULL };
}

static hdx_code known_ready(known *k, sql_heap *heap, hdx_error *err)
{
    hdx_ask  ask;
    hdx_code code = k->ready ? HDX_OK : hdx_ask_begin(&heap->query, &ask, err);
    if (k->ready || code != HDX_OK)
        return code;
    k->heap = heap;
    k->layouts.mem = heap->query.mem;
    if ((code = hdx_layouts_open(&k->layouts, NULL, NULL, heap->query.mem, err)) == HDX_OK)
        code = hdx_layouts_bind(&k->layouts, &ask, &k->bound, err);
    k->ready = code == HDX_OK;
    if (code != HDX_OK)
        known_forget(k);
    return code;
}

static void entries_end(sql_call *c)
{
    entries *e = c->state;
    if (e->walking)
        hdx_entry_walk_end(&e->walk);
    if (e->open) {
        hdx_contents_close(&e->contents);
        hdx_arena_free(&e->arena);
    }
    e->open = e->walking = false;
}

static hdx_code entries_next(sql_call *c, bool *more, hdx_error *err)
{
    entries *e = c->state;
    return hdx_entry_walk_next(&e->walk, &e->entry, more, err);
}

/* An object with an unknown layout has no entries. */
static hdx_code entries_begin(sql_call *c, bool *more, hdx_error *err)
{
    entries *e = c->state;
    known   *k = c->shared;
    hdx_id   id;
    hdx_code code = known_ready(k, c->heap, err);
    *more = false;
    if (code == HDX_OK && !e->open) {
        e->open = true;
        e->arena = hdx_arena_of(c->heap->query.mem);
        code = hdx_contents_open(&e->contents, c->heap->g, &k->bound, c->heap->query.mem, err);
    }
    if (e->walking)
        hdx_entry_walk_end(&e->walk);
    e->walking = false;
    if (code != HDX_OK || !sql_argument_id(c, 0, &id) || hdx_contents_layout(&e->contents, id) == NULL)
        return code;
    e->walking = true;
    code = hdx_entry_walk_begin(&e->walk, &e->contents, id, hdx_contents_steps(c->heap->g), err);
    return code == HDX_OK ? entries_next(c, more, err) : code;
}

/* Returns a reference as an id, any other value as it is. */
static void result_part(sqlite3_context *context, const sql_heap *heap, bool there, const hdx_value *v)
{
    if (there)
        hdx_sql_result_value(context, heap, v);
}

static hdx_code result_label(sql_call *c, sqlite3_context *context, bool there, const hdx_value *v, hdx_error *err)
{
    entries *e = c->state;
    hdx_cell cell = hdx_cell_null();
    hdx_id   id;
    if (!there || v->absent || v->type != 2 || v->as.address == 0 || !hdx_graph_find(c->heap->g, v->as.address, &id))
        return HDX_OK;
    hdx_arena_empty(&e->arena);
    const hdx_code code = hdx_label_cell(&c->heap->query, id, &e->arena, &cell, err);
    if (code == HDX_OK)
        hdx_sql_result(context, &cell);
    return code;
}

static hdx_code entries_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const entries   *e = c->state;
    const hdx_entry *x = &e->entry;
    switch (column) {
    case 0: sqlite3_result_int64(context, (sqlite3_int64)x->index); break;
    case 1: result_part(context, c->heap, x->has_key, &x->key); break;
    case 2: result_part(context, c->heap, x->has_value, &x->value); break;
    case 3: return result_label(c, context, x->has_key, &x->key, err);
    default: return result_label(c, context, x->has_value, &x->value, err);
    }
    return HDX_OK;
}

/* ---- all tables ---- */

const sql_made_table hdx_sql_parts[] = {
    { "fields",
      "fields(id)",
      "name TEXT, type TEXT, value, ref INTEGER, owner INTEGER",
      5,
      { "of" },
      1,
      1,
      8,
      false,
      sizeof(parts_cursor),
      0,
      fields_begin,
      fields_next,
      fields_column,
      listed_end,
      NULL },
    { "elements",
      "elements(id [, first [, n]])",
      "i INTEGER, type TEXT, value, ref INTEGER",
      4,
      { "of", "first", "n" },
      1,
      3,
      100,
      true,
      sizeof(parts_cursor),
      0,
      elements_begin,
      elements_next,
      elements_column,
      listed_end,
      NULL },
    { "entries",
      "entries(id)",
      "i INTEGER, key, value, key_text TEXT, value_text TEXT",
      5,
      { "of" },
      1,
      1,
      20,
      true,
      sizeof(entries),
      sizeof(known),
      entries_begin,
      entries_next,
      entries_column,
      entries_end,
      known_forget },
    { .name = NULL },
};
