/*
 * objects_search.c - the objects that satisfy the conditions of a plan, batch by batch.
 *
 * Conditions on columns are evaluated on batches before SQLite sees a row (batch.h). A search by class reads the
 * instances of one class after the other, one for the first k in the order of a column reads all objects first and then
 * lists those k.
 */
#include "sql/objects.h"

#include <stdlib.h>

void hdx_sql_search_forget(sql_search *c)
{
    hdx_mem *mem = c->heap->query.mem;
    hdx_sql_classes_drop(&c->set);
    hdx_mem_put(mem, c->ids, c->id_capacity * sizeof *c->ids);
    hdx_mem_put(mem, c->best, c->best_capacity * sizeof *c->best);
    c->ids = NULL;
    c->best = NULL;
    c->id_count = c->id_capacity = c->id_at = c->best_count = c->best_capacity = 0;
}

hdx_code hdx_sql_search_push(sql_search *c, hdx_id id, hdx_error *err)
{
    if (!hdx_mem_room(c->heap->query.mem, (void **)&c->ids, &c->id_capacity, c->id_count, sizeof *c->ids))
        return hdx_no_memory(err, "a list of objects", c->id_count * sizeof *c->ids);
    c->ids[c->id_count++] = id;
    return HDX_OK;
}

uint64_t hdx_sql_search_instances(const sql_search *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->set.count; i++)
        if (hdx_bits_test(c->set.bits, i))
            n += hdx_graph_class(c->heap->g, i)->instances;
    return n;
}

/* ---- filling batches ---- */

static int id_order(const void *a, const void *b)
{
    const hdx_id x = *(const hdx_id *)a, y = *(const hdx_id *)b;
    return (x > y) - (x < y);
}

/* Sorts a list in the wanted order and removes duplicates. */
static void sort_list(sql_search *c)
{
    uint64_t n = 0;
    hdx_sort(c->heap->query.mem, c->ids, c->id_count, sizeof *c->ids, 0, id_order);
    for (uint64_t i = 0; i < c->id_count; i++)
        if (i == 0 || c->ids[i] != c->ids[i - 1])
            c->ids[n++] = c->ids[i];
    c->id_count = n;
    for (uint64_t i = 0; c->ordered && c->order == SQL_ID && c->descending && i < n / 2; i++) {
        const hdx_id id = c->ids[i];
        c->ids[i] = c->ids[n - 1 - i];
        c->ids[n - 1 - i] = id;
    }
}

/* Applies the conditions on class_id to the set of classes. */
static hdx_code cut_classes(sql_search *c, hdx_error *err)
{
    const hdx_code code = c->set.bits == NULL ? hdx_sql_classes_all(c->heap, &c->set, err) : HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && (c->ranged >> SQL_CLASS_ID & 1) != 0 && i < c->set.count; i++)
        if (!sql_in_range(c->ranges[SQL_CLASS_ID], i))
            hdx_bits_clear(c->set.bits, i);
    c->ranged &= ~(1u << SQL_CLASS_ID);
    return code;
}

/* Instances by class are not in the order of ids: few are collected and sorted, otherwise every object is tested. */
static hdx_code begin_by_class(sql_search *c, hdx_error *err)
{
    hdx_code code = cut_classes(c, err);
    if (code != HDX_OK)
        return code;
    if (c->ordered && !c->top && c->order == SQL_CLASS)
        return hdx_sql_classes_by_name(c->heap, &c->classes, &c->class_count, err);
    (void)hdx_graph_classes(c->heap->g, &c->class_count);
    if (c->ordered && !c->top && c->order == SQL_CLASS_ID)
        return HDX_OK;
    const uint64_t some = hdx_sql_search_instances(c);
    if (some > hdx_graph_objects(c->heap->g) / 4) {
        c->way = SQL_ALL;
    } else if (c->ordered && !c->top) {
        for (uint32_t i = 0; code == HDX_OK && i < c->class_count; i++) {
            hdx_id id;
            if (!hdx_bits_test(c->set.bits, i))
                continue;
            hdx_graph_instances(c->heap->g, i, HDX_ALL, &c->refs);
            while (code == HDX_OK && hdx_refs_next(&c->refs, &id))
                if ((code = hdx_sql_search_push(c, id, err)) == HDX_OK)
                    code = sql_turn(c->t->db, err);
        }
        c->way = SQL_BY_ID;
        sort_list(c);
    }
    return code;
}

static hdx_code fill_all(sql_search *c, hdx_error *err)
{
    const uint32_t n = (uint32_t)hdx_least(c->until - c->from, c->size);
    const hdx_id   first = c->descending && c->ordered && !c->top ? c->until - n : c->from;
    if (first == c->from)
        c->from += n;
    else
        c->until -= n;
    return hdx_sql_batch_run(&c->batch, first, n, err);
}

static hdx_code fill_list(sql_search *c, hdx_error *err)
{
    const uint32_t n = (uint32_t)hdx_least(c->id_count - c->id_at, c->size);
    const hdx_code code = hdx_sql_batch_list(&c->batch, n, err);
    if (code == HDX_OK && n > 0)
        memcpy(c->batch.ids, c->ids + c->id_at, n * sizeof *c->ids);
    c->id_at += n;
    return code;
}

static uint32_t class_at(const sql_search *c, uint32_t place)
{
    const uint32_t i = c->descending && c->ordered && !c->top ? c->class_count - 1 - place : place;
    return c->classes != NULL ? c->classes[i] : i;
}

/* A batch has instances of one class only, so that GROUP BY class can skip the rest of it. */
static hdx_code fill_by_class(sql_search *c, hdx_error *err)
{
    uint32_t n = 0;
    hdx_code code = hdx_sql_batch_list(&c->batch, 0, err);
    while (code == HDX_OK && n == 0) {
        if (!c->in_class) {
            if (c->class_at >= c->class_count)
                break;
            const uint32_t number = class_at(c, c->class_at++);
            if (!hdx_bits_test(c->set.bits, number))
                continue;
            hdx_graph_instances(c->heap->g, number, c->heap->query.scope, &c->refs);
            c->in_class = true;
        }
        while (n < c->size && hdx_refs_next(&c->refs, &c->batch.ids[n]))
            n++;
        c->in_class = n == c->size;
    }
    return code == HDX_OK ? hdx_sql_batch_list(&c->batch, n, err) : code;
}

static void apply_to_batch(sql_search *c)
{
    sql_batch *b = &c->batch;
    if (c->top && c->worth.least != INT64_MIN) /* otherwise null may be among them */
        hdx_sql_batch_keep_range(b, c->order, c->worth);
    for (unsigned left = c->ranged; left != 0; left &= left - 1)
        hdx_sql_batch_keep_range(b, (sql_column)__builtin_ctz(left), c->ranges[__builtin_ctz(left)]);
    if (c->set.bits != NULL && c->way != SQL_BY_CLASS)
        hdx_sql_batch_keep_classes(b, &c->set);
    if (c->kinds != 15)
        hdx_sql_batch_keep_kinds(b, c->kinds);
    if (c->way != SQL_BY_CLASS)
        hdx_sql_batch_keep_scope(b, c->heap->query.scope);
}

/*
 * Reads the next batch with a chosen row; c->end if there is none. plain: a list that already satisfies all conditions.
 */
static hdx_code refill(sql_search *c, bool plain, hdx_error *err)
{
    hdx_code code = HDX_OK;
    c->batch.chosen_count = 0;
    while (code == HDX_OK) {
        code = c->way == SQL_ALL        ? fill_all(c, err)
               : c->way == SQL_BY_CLASS ? fill_by_class(c, err)
                                        : fill_list(c, err);
        if (code == HDX_OK && c->batch.count == 0) {
            c->end = true;
            return hdx_graph_check(c->heap->g, err);
        }
        if (code == HDX_OK && !plain)
            apply_to_batch(c);
        if (c->size < SQL_BATCH)
            c->size = c->size * 4 < SQL_BATCH ? c->size * 4 : SQL_BATCH;
        if (code == HDX_OK && c->batch.chosen_count > 0)
            return HDX_OK;
        if (code == HDX_OK)
            code = hdx_sql_stopped(c->t->db, err);
    }
    return code;
}

/* ---- the first k in the order of a column ---- */

static int rising(const void *a, const void *b)
{
    const sql_candidate *x = a, *y = b;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}
static int falling(const void *a, const void *b)
{
    const sql_candidate *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static void keep_best(sql_search *c)
{
    if (c->best_count > 1)
        qsort(c->best, c->best_count, sizeof *c->best, c->descending ? falling : rising);
    c->best_count = hdx_least(c->best_count, c->most);
}

/* Excludes values that are no better than the last of the first k, and equal ones if ids ascend. */
static void tighten(sql_search *c)
{
    keep_best(c);
    const int64_t last = c->best[c->best_count - 1].value;
    const bool    rise = c->way == SQL_ALL;
    if (c->descending)
        c->worth.least = rise && last < INT64_MAX ? last + 1 : last;
    else
        c->worth.most = rise && last > INT64_MIN ? last - 1 : last;
}

static hdx_code add_candidates(sql_search *c, hdx_error *err)
{
    sql_batch     *b = &c->batch;
    const uint64_t room = c->most < UINT64_MAX / 4 ? 2 * c->most + 4096 : UINT64_MAX;
    for (uint32_t i = 0; i < b->chosen_count; i++) {
        const uint16_t      slot = b->chosen[i];
        const sql_candidate f = { sql_batch_value(b, c->order, slot), sql_batch_id(b, slot) };
        if (!sql_in_range(c->worth, f.value))
            continue;
        if (!hdx_mem_room(c->heap->query.mem, (void **)&c->best, &c->best_capacity, c->best_count, sizeof *c->best))
            return hdx_no_memory(err, "the first rows of an order", c->best_count * sizeof *c->best);
        c->best[c->best_count++] = f;
        if (c->best_count == room)
            tighten(c);
    }
    return HDX_OK;
}

static hdx_code find_top(sql_search *c, hdx_error *err)
{
    hdx_code code = HDX_OK;
    c->size = SQL_BATCH;
    c->worth = SQL_ANY;
    while (code == HDX_OK && c->most > 0 && (code = refill(c, false, err)) == HDX_OK && !c->end)
        if ((code = add_candidates(c, err)) == HDX_OK)
            code = sql_turn(c->t->db, err);
    if (code != HDX_OK)
        return code;
    keep_best(c);
    c->id_count = c->id_at = 0;
    for (uint64_t i = 0; code == HDX_OK && i < c->best_count; i++)
        code = hdx_sql_search_push(c, c->best[i].id, err);
    c->way = SQL_BY_ID;
    c->end = false;
    return code;
}

/* ---- reading on ---- */

hdx_code hdx_sql_search_start(sql_search *c, sql_way way, const char *plan, sqlite3_value **values, hdx_error *err)
{
    hdx_sql_search_forget(c);
    c->way = way;
    c->ranged = 0;
    c->kinds = 15;
    c->ordered = c->descending = c->distinct = c->top = c->end = c->in_class = c->named = false;
    c->most = 0;
    c->classes = NULL;
    c->class_at = c->class_count = 0;
    c->from = 0;
    c->until = hdx_graph_objects(c->heap->g);
    c->size = 64;
    hdx_code code = hdx_sql_plan_read(c, plan, values, err);
    if (code == HDX_OK && c->way == SQL_BY_CLASS)
        code = begin_by_class(c, err);
    else if (code == HDX_OK && c->way != SQL_ALL)
        sort_list(c);
    if (c->ranged >> SQL_ID & 1) { /* the table is in the order of ids */
        const sql_range r = c->ranges[SQL_ID];
        c->from = r.least > 0 ? (hdx_id)r.least : 0;
        c->until = r.most < 0 ? 0 : hdx_least(c->until, (uint64_t)r.most + 1);
        c->from = hdx_least(c->from, c->until);
        if (c->way == SQL_ALL)
            c->ranged &= ~(1u << SQL_ID);
    }
    if (c->ranged >> SQL_LIVE & 1 && c->heap->query.scope != HDX_ALL) { /* the same value in all rows of the table */
        c->end = !sql_in_range(c->ranges[SQL_LIVE], c->heap->query.scope == HDX_LIVE);
        c->ranged &= ~(1u << SQL_LIVE);
    }
    if (c->end)
        return code;
    if (code == HDX_OK && c->top)
        code = find_top(c, err);
    if (code == HDX_OK)
        code = refill(c, c->top, err);
    return code;
}

hdx_code hdx_sql_search_next(sql_search *c, hdx_error *err)
{
    const hdx_code code = sql_turn(c->t->db, err);
    return code == HDX_OK ? refill(c, c->top, err) : code;
}

void hdx_sql_search_skip_class(sql_search *c)
{
    const hdx_class *now = hdx_graph_class(c->heap->g, class_at(c, c->class_at - 1));
    c->batch.at = c->batch.chosen_count;
    c->in_class = false;
    while (c->order == SQL_CLASS && c->class_at < c->class_count) {
        const hdx_class *next = hdx_graph_class(c->heap->g, class_at(c, c->class_at));
        if (!hdx_text_same(next->name, now->name))
            return;
        c->class_at++;
    }
}
