/*
 * batch.c - columns of some thousand objects at a time.
 *
 * In:  ids.
 * Out: columns as signed numbers, and the objects that satisfy the conditions.
 * Cost: 3 to 15 ns an object and column in runs, 10 to 60 one by one.
 */
#include "sql/batch.h"

#include <assert.h>
#include <stdlib.h>

#define MOSTLY 8u /* a column is read for all slots if at least one in this many is chosen */

void hdx_sql_batch_open(sql_batch *b, sql_heap *heap) { *b = (sql_batch){ .heap = heap }; }

void hdx_sql_batch_close(sql_batch *b)
{
    for (unsigned i = 0; i < SQL_COLUMNS; i++)
        free(b->columns[i]);
    free(b->ids);
    free(b->chosen);
}

static hdx_code choose_all(sql_batch *b, uint32_t count, hdx_error *err)
{
    assert(count <= SQL_BATCH);
    if (b->chosen == NULL && (b->chosen = malloc(SQL_BATCH * sizeof *b->chosen)) == NULL)
        return hdx_no_memory(err, "a batch of objects", SQL_BATCH * sizeof *b->chosen);
    for (; b->untouched < count; b->untouched++)
        b->chosen[b->untouched] = (uint16_t)b->untouched;
    b->count = b->chosen_count = count;
    b->at = 0;
    b->loaded = 0;
    return HDX_OK;
}

hdx_code hdx_sql_batch_run(sql_batch *b, hdx_id first, uint32_t count, hdx_error *err)
{
    b->dense = true;
    b->first = first;
    return choose_all(b, count, err);
}

hdx_code hdx_sql_batch_list(sql_batch *b, uint32_t count, hdx_error *err)
{
    b->dense = false;
    if (b->ids == NULL && (b->ids = malloc(SQL_BATCH * sizeof *b->ids)) == NULL)
        return hdx_no_memory(err, "a batch of objects", SQL_BATCH * sizeof *b->ids);
    return choose_all(b, count, err);
}

/* ---- one object ---- */

static int64_t id_or_null(hdx_id id) { return id >= HDX_VIRTUAL_ROOT ? SQL_NULL : (int64_t)id; }

static bool is_array(hdx_graph *g, uint32_t number)
{
    const hdx_class *c = hdx_graph_class(g, number);
    return c != NULL && c->kind != HDX_INSTANCE;
}

static int64_t value_of(const sql_batch *b, sql_column column, hdx_id id)
{
    hdx_graph           *g = b->heap->g;
    const hdx_refs_scope scope = b->heap->query.scope;
    hdx_pos              position;
    switch (column) {
    case SQL_ID: return (int64_t)id;
    case SQL_ADDRESS: return (int64_t)hdx_graph_address(g, id);
    case SQL_CLASS:
    case SQL_CLASS_ID: return hdx_graph_class_of(g, id);
    case SQL_KIND: return hdx_graph_kind(g, id);
    case SQL_SHALLOW: return (int64_t)hdx_graph_shallow(g, id);
    case SQL_RETAINED: return hdx_graph_live(g, id) ? (int64_t)hdx_graph_retained(g, id) : SQL_NULL;
    case SQL_LENGTH: return is_array(g, hdx_graph_class_of(g, id)) ? (int64_t)hdx_graph_length(g, id) : SQL_NULL;
    case SQL_DOMINATOR: return id_or_null(hdx_graph_dominator(g, id));
    case SQL_NEAREST: return id_or_null(hdx_graph_nearest(g, id));
    case SQL_OUTBOUND: return (int64_t)hdx_graph_outbound_count(g, id, scope);
    case SQL_INBOUND: return (int64_t)hdx_graph_inbound_count(g, id, scope);
    case SQL_LIVE: return hdx_graph_live(g, id);
    case SQL_HEAP: return hdx_graph_heap(g, id);
    default: return hdx_graph_position(g, id, &position) ? (int64_t)position : SQL_NULL;
    }
}

/* ---- a run ---- */

static void load_live(sql_batch *b, int64_t *out)
{
    uint64_t live[SQL_BATCH / 64];
    hdx_graph_read_live(b->heap->g, b->first, b->count, live);
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = hdx_bits_test(live, i);
}

static void load_retained(sql_batch *b, int64_t *out)
{
    uint64_t live[SQL_BATCH / 64];
    hdx_graph_read_retained(b->heap->g, b->first, b->count, (uint64_t *)out);
    if (b->heap->query.scope == HDX_LIVE || hdx_graph_all_live(b->heap->g))
        return; /* garbage is not in the scope, so its values are never used */
    hdx_graph_read_live(b->heap->g, b->first, b->count, live);
    for (uint32_t i = 0; i < b->count; i++)
        if (!hdx_bits_test(live, i))
            out[i] = SQL_NULL;
}

static void load_classes(sql_batch *b, int64_t *out)
{
    uint32_t classes[SQL_BATCH];
    hdx_graph_read_classes(b->heap->g, b->first, b->count, classes);
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = classes[i];
}

static void load_lengths(sql_batch *b, int64_t *out)
{
    uint32_t classes[SQL_BATCH];
    hdx_graph_read_classes(b->heap->g, b->first, b->count, classes);
    hdx_graph_read_lengths(b->heap->g, b->first, b->count, (uint64_t *)out);
    for (uint32_t i = 0; i < b->count; i++)
        if (!is_array(b->heap->g, classes[i]))
            out[i] = SQL_NULL;
}

static void load_kinds(sql_batch *b, int64_t *out)
{
    uint8_t kinds[SQL_BATCH];
    hdx_graph_read_kinds(b->heap->g, b->first, b->count, kinds);
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = kinds[i];
}

static void load_heaps(sql_batch *b, int64_t *out)
{
    int32_t heaps[SQL_BATCH];
    hdx_graph_read_heaps(b->heap->g, b->first, b->count, heaps);
    for (uint32_t i = 0; i < b->count; i++)
        out[i] = heaps[i];
}

static void load_counts(sql_batch *b, sql_column column, int64_t *out)
{
    uint64_t other[SQL_BATCH], *wanted = (uint64_t *)out;
    hdx_graph_read_counts(b->heap->g, b->heap->query.scope, b->first, b->count, column == SQL_OUTBOUND ? wanted : other,
                          column == SQL_OUTBOUND ? other : wanted);
}

static void load_run(sql_batch *b, sql_column column, int64_t *out)
{
    hdx_graph     *g = b->heap->g;
    const hdx_id   first = b->first;
    const uint32_t n = b->count;
    uint64_t      *wide = (uint64_t *)out;
    switch (column) {
    case SQL_ADDRESS: hdx_graph_read_addresses(g, first, n, wide); return;
    case SQL_CLASS:
    case SQL_CLASS_ID: load_classes(b, out); return;
    case SQL_KIND: load_kinds(b, out); return;
    case SQL_SHALLOW: hdx_graph_read_shallow(g, first, n, wide); return;
    case SQL_RETAINED: load_retained(b, out); return;
    case SQL_LENGTH: load_lengths(b, out); return;
    case SQL_DOMINATOR: hdx_graph_read_dominators(g, first, n, wide); break;
    case SQL_NEAREST: hdx_graph_read_nearest(g, first, n, wide); break;
    case SQL_OUTBOUND:
    case SQL_INBOUND: load_counts(b, column, out); return;
    case SQL_LIVE: load_live(b, out); return;
    case SQL_HEAP: load_heaps(b, out); return;
    case SQL_POSITION: hdx_graph_read_positions(g, first, n, wide); break;
    default:
        for (uint32_t i = 0; i < n; i++)
            out[i] = (int64_t)(first + i);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        out[i] = column != SQL_POSITION ? id_or_null(wide[i]) : wide[i] > 0 ? out[i] - 1 : SQL_NULL;
}

/* ---- ids of a list ---- */

static unsigned ahead_of(sql_column column)
{
    switch (column) {
    case SQL_ADDRESS: return HDX_AHEAD_ADDRESS;
    case SQL_CLASS:
    case SQL_CLASS_ID:
    case SQL_KIND: return HDX_AHEAD_CLASS;
    case SQL_SHALLOW:
    case SQL_LENGTH: return HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH;
    case SQL_RETAINED: return HDX_AHEAD_RETAINED | HDX_AHEAD_LIVE;
    case SQL_DOMINATOR:
    case SQL_NEAREST: return HDX_AHEAD_LIVE | HDX_AHEAD_INBOUND;
    case SQL_OUTBOUND: return HDX_AHEAD_OUTBOUND;
    case SQL_INBOUND: return HDX_AHEAD_INBOUND;
    case SQL_LIVE: return HDX_AHEAD_LIVE;
    case SQL_POSITION: return HDX_AHEAD_POSITION;
    default: return 0;
    }
}

static void load_list(sql_batch *b, sql_column column, int64_t *out)
{
    const unsigned ahead = ahead_of(column);
    for (uint32_t i = 0; i < b->count; i++) {
        hdx_graph_ahead(b->heap->g, ahead, b->ids, b->count, i);
        out[i] = value_of(b, column, b->ids[i]);
    }
}

static bool load(sql_batch *b, sql_column column)
{
    if (b->loaded >> column & 1)
        return true;
    if (b->columns[column] == NULL && (b->columns[column] = malloc(SQL_BATCH * sizeof *b->columns[column])) == NULL)
        return false; /* the caller then reads one by one */
    if (b->dense)
        load_run(b, column, b->columns[column]);
    else
        load_list(b, column, b->columns[column]);
    b->loaded |= 1u << column;
    return true;
}

int64_t hdx_sql_batch_read(sql_batch *b, sql_column column, uint32_t slot)
{
    const bool whole = b->count > 4 && b->chosen_count * MOSTLY >= b->count;
    return whole && load(b, column) ? b->columns[column][slot] : value_of(b, column, sql_batch_id(b, slot));
}

/* ---- conditions ---- */

void hdx_sql_batch_leave(sql_batch *b, uint32_t count)
{
    b->untouched = count == b->chosen_count ? b->untouched : 0;
    b->chosen_count = count;
}

/* Returns whether the first n bits are all set. */
static bool all_set(const uint64_t *words, uint32_t n)
{
    uint64_t all = UINT64_MAX;
    for (uint32_t i = 0; i < n / 64; i++)
        all &= words[i];
    return all == UINT64_MAX && (n % 64 == 0 || words[n / 64] == (1ull << n % 64) - 1);
}

void hdx_sql_batch_keep_range(sql_batch *b, sql_column column, sql_range range)
{
    const bool whole = b->chosen_count * MOSTLY >= b->count && load(b, column);
    uint32_t   k = 0;
    if (column != SQL_ADDRESS && range.least == SQL_NULL)
        range.least++; /* null is in no range */
    if (whole) {
        const int64_t *values = b->columns[column];
        for (uint32_t i = 0; i < b->chosen_count; i++) {
            const uint16_t slot = b->chosen[i];
            b->chosen[k] = slot;
            k += sql_in_range(range, values[slot]);
        }
    } else {
        for (uint32_t i = 0; i < b->chosen_count; i++) {
            const uint16_t slot = b->chosen[i];
            b->chosen[k] = slot;
            k += sql_in_range(range, value_of(b, column, sql_batch_id(b, slot)));
        }
    }
    hdx_sql_batch_leave(b, k);
}

void hdx_sql_batch_keep_classes(sql_batch *b, const sql_classes *set)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < b->chosen_count; i++) {
        const uint16_t slot = b->chosen[i];
        const int64_t  number = sql_batch_value(b, SQL_CLASS_ID, slot);
        b->chosen[k] = slot;
        k += number < set->count && hdx_bits_test(set->bits, (uint64_t)number);
    }
    hdx_sql_batch_leave(b, k);
}

void hdx_sql_batch_keep_kinds(sql_batch *b, unsigned kinds)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < b->chosen_count; i++) {
        const uint16_t slot = b->chosen[i];
        b->chosen[k] = slot;
        k += kinds >> sql_batch_value(b, SQL_KIND, slot) & 1;
    }
    hdx_sql_batch_leave(b, k);
}

void hdx_sql_batch_keep_scope(sql_batch *b, hdx_refs_scope scope)
{
    hdx_graph *g = b->heap->g;
    uint64_t   live[SQL_BATCH / 64];
    uint32_t   k = 0;
    if (scope == HDX_ALL || (scope == HDX_LIVE && hdx_graph_all_live(g)))
        return;
    const bool runs = b->dense && b->chosen_count * MOSTLY >= b->count;
    if (runs)
        hdx_graph_read_live(g, b->first, b->count, live);
    if (runs && scope == HDX_LIVE && all_set(live, b->count))
        return;
    for (uint32_t i = 0; i < b->chosen_count; i++) {
        const uint16_t slot = b->chosen[i];
        const bool     lives = runs ? hdx_bits_test(live, slot) : hdx_graph_live(g, sql_batch_id(b, slot));
        b->chosen[k] = slot;
        k += lives == (scope == HDX_LIVE);
    }
    hdx_sql_batch_leave(b, k);
}

/* ---- results ---- */

void hdx_sql_batch_result(sql_batch *b, sql_column column, uint32_t slot, sqlite3_context *context)
{
    const int64_t    value = sql_batch_value(b, column, slot);
    const hdx_class *c;
    uint64_t         count;
    switch (column) {
    case SQL_CLASS:
        if ((c = hdx_graph_class(b->heap->g, (uint32_t)value)) != NULL)
            sql_result_text(context, c->name);
        return;
    case SQL_KIND:
        sqlite3_result_text(context, hdx_object_kind_name((hdx_object_kind)value), -1, SQLITE_STATIC);
        return;
    case SQL_HEAP: {
        const hdx_heap_space *heaps = hdx_graph_heaps(b->heap->g, &count);
        if (heaps != NULL && value >= 0 && (uint64_t)value < count)
            sql_result_text(context, heaps[value].name);
        return;
    }
    case SQL_CLASS_ID:
        if (value != HDX_NO_CLASS)
            sqlite3_result_int64(context, value);
        return;
    default:
        if (value != SQL_NULL || column == SQL_ADDRESS)
            sqlite3_result_int64(context, value);
    }
}
