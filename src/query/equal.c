/*
 * equal.c - groups of equal contents: of Strings, and of primitive arrays that no String shows.
 *
 * In:  sums of arrays as they are read (array_contents.c).
 * Out: groups, those that waste most first, and totals.
 * Sums fall into buckets by their upper bits. When all is read, workers take bucket by bucket: sort it, and each run of
 * one sum is a group. Where memory is refused, the dump is read once for every quarter of the buckets, then for every
 * sixteenth, and so on: what a group is and in which order they come does not depend on it.
 * Cost: 24 bytes for each array in the range at hand, of which an array that doubles may have twice as many, and 64 for
 * each group.
 */
#include "query/array_contents.h"

#include <stdlib.h>

#define BUCKETS 256u /* by the upper 8 of 61 bits */

/* What is one: the id of an array, or the place of a part; kind and this in one number. */
typedef struct entry {
    uint64_t a, b;
    uint64_t what;
} entry;
#define KIND_SHIFT 60u
#define PART       (1ull << 59)
#define WHAT(e)    ((e)->what & (PART - 1))
#define KIND(e)    ((unsigned)((e)->what >> KIND_SHIFT))

typedef HDX_LIST(entry) entry_list;

typedef struct equal_worker {
    entry_list          buckets[BUCKETS];
    HDX_LIST(hdx_equal) groups;
    hdx_equal_totals    strings, arrays;
    char                apart[HDX_APART];
} equal_worker;

typedef struct equals {
    hdx_array_contents *c;
    bool                texts, all;
    unsigned            from, end; /* buckets of this range */
    equal_worker       *workers;
    atomic_uint         next;
    hdx_first_error     fault;
} equals;

/* ---- reading ---- */

static hdx_code put(equals *q, unsigned n, const hdx_sum *sum, uint64_t what, hdx_error *err)
{
    const unsigned bucket = (unsigned)(sum->at[0] >> 53) & (BUCKETS - 1);
    if (bucket < q->from || bucket >= q->end)
        return HDX_OK;
    entry_list *list = &q->workers[n].buckets[bucket];
    if (!hdx_list_room(q->c->ask.q.mem, HDX_LIST_REF(list)))
        return hdx_no_memory(err, "sums of arrays", list->count * sizeof *list->at);
    list->at[list->count++] = (entry){ sum->at[0], sum->at[1], what };
    return HDX_OK;
}

static hdx_code see_array(void *context, unsigned n, hdx_id array, const hdx_sum *sum, hdx_error *err)
{
    return put(context, n, sum, array, err);
}

static hdx_code put_parts(equals *q, hdx_error *err)
{
    const hdx_array_contents *c = q->c;
    uint64_t                  place;
    hdx_code                  code = HDX_OK;
    for (uint64_t i = 0; i < c->part_count && code == HDX_OK; i++)
        if (hdx_array_contents_place(c, c->parts[i].array, &place) && (c->flags[place] & HDX_ARRAY_ABSENT) == 0)
            code = put(q, 0, &c->parts[i].sum, PART | (uint64_t)HDX_EQUAL_CHARS << KIND_SHIFT | i, err);
    return code;
}

/* ---- one bucket ---- */

static int by_sum(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* False: it is in no group. That of Strings is known now that all are read. */
static bool set_kind(const equals *q, entry *e)
{
    const hdx_array_contents *c = q->c;
    uint64_t                  place;
    if ((e->what & PART) != 0)
        return true;
    if (!hdx_array_contents_place(c, e->what, &place))
        return false;
    const uint8_t flags = c->flags[place];
    if (c->strings[place] == 0)
        return !q->texts && (flags & HDX_ARRAY_PARTLY) == 0 && hdx_ask_wants(&c->ask, e->what);
    e->what |= (uint64_t)hdx_equal_kind_of(flags) << KIND_SHIFT;
    return true;
}

void hdx_equal_sizes(const hdx_array_contents *c, const hdx_equal *e, uint64_t *object, uint64_t *array)
{
    *object = hdx_graph_shallow(c->ask.g, e->id);
    *array = e->kind == HDX_EQUAL_ARRAYS
                 ? 0
                 : hdx_graph_size_of_array(c->ask.g, e->type, e->kind == HDX_EQUAL_UTF16 ? 2 * e->length : e->length);
}

static void count(const equals *q, hdx_equal_totals *t, hdx_equal *e)
{
    uint64_t object, array;
    hdx_equal_sizes(q->c, e, &object, &array);
    const uint64_t shared = e->arrays > 1 ? (e->arrays - 1) * array : 0;
    e->wasted = (e->objects - 1) * object + shared;
    t->values++;
    t->objects += e->objects;
    t->bytes += e->objects * object + e->arrays * array;
    t->duplicates += e->objects - 1;
    t->wasted += e->wasted;
    t->shared += shared;
}

static void add_member(const equals *q, hdx_equal *e, const entry *m)
{
    const hdx_array_contents *c = q->c;
    hdx_id                    id = WHAT(m);
    uint64_t                  place = 0;
    if ((m->what & PART) != 0) {
        id = c->parts[WHAT(m)].string;
        e->objects++;
    } else if (e->kind == HDX_EQUAL_ARRAYS) {
        e->objects++;
    } else if (hdx_array_contents_place(c, id, &place)) {
        /* Of an array that some String shows a part of nothing is free when another holds this text. */
        e->arrays += (c->flags[place] & HDX_ARRAY_PARTLY) == 0 && hdx_ask_wants(&c->ask, id);
        e->objects += c->strings[place];
        id = c->first[place];
    }
    e->id = id < e->id ? id : e->id;
}

static hdx_code make_group(equals *q, equal_worker *w, const entry *at, uint64_t n, hdx_error *err)
{
    const hdx_array_contents *c = q->c;
    hdx_equal                 e = { .sum = { { at->a, at->b } }, .id = HDX_NO_ID, .kind = (uint8_t)KIND(at) };
    const hdx_id              array = (at->what & PART) != 0 ? c->parts[WHAT(at)].array : WHAT(at);
    const hdx_class *class = hdx_graph_class(c->ask.g, hdx_graph_class_of(c->ask.g, array));
    e.type = class == NULL ? 8 : class->element_type;
    e.length = (at->what & PART) != 0 ? c->parts[WHAT(at)].units : hdx_graph_length(c->ask.g, array);
    if (e.kind == HDX_EQUAL_UTF16)
        e.length /= 2;
    for (uint64_t i = 0; i < n; i++)
        add_member(q, &e, &at[i]);
    count(q, e.kind == HDX_EQUAL_ARRAYS ? &w->arrays : &w->strings, &e);
    if (!q->all && e.objects < 2)
        return HDX_OK;
    if (!hdx_list_room(c->ask.q.mem, HDX_LIST_REF(&w->groups)))
        return hdx_no_memory(err, "groups of equal contents", w->groups.count * sizeof e);
    w->groups.at[w->groups.count++] = e;
    return HDX_OK;
}

static hdx_code make_groups(equals *q, equal_worker *w, unsigned bucket, hdx_error *err)
{
    hdx_mem   *mem = q->c->ask.q.mem;
    entry_list one = { NULL, 0, 0 };
    hdx_code   code = HDX_OK;
    for (unsigned i = 0; i < q->c->threads; i++)
        one.capacity += q->workers[i].buckets[bucket].count;
    if (one.capacity == 0)
        return HDX_OK;
    if ((one.at = hdx_mem_raw(mem, one.capacity, sizeof *one.at)) == NULL)
        return hdx_no_memory(err, "sums of arrays", one.capacity * sizeof *one.at);
    for (unsigned i = 0; i < q->c->threads; i++) {
        entry_list *from = &q->workers[i].buckets[bucket];
        for (uint64_t k = 0; k < from->count; k++)
            if (set_kind(q, &from->at[k]))
                one.at[one.count++] = from->at[k];
        hdx_list_free(mem, HDX_LIST_REF(from));
    }
    hdx_sort(mem, one.at, one.count, sizeof *one.at, offsetof(entry, a), by_sum);
    for (uint64_t i = 0, end; i < one.count && code == HDX_OK; i = end) {
        for (end = i + 1; end < one.count && one.at[end].a == one.at[i].a && one.at[end].b == one.at[i].b &&
                          KIND(&one.at[end]) == KIND(&one.at[i]);
             end++)
            ;
        code = make_group(q, w, &one.at[i], end - i, err);
    }
    hdx_list_free(mem, HDX_LIST_REF(&one));
    return code != HDX_OK ? code : hdx_ask_stopped(&q->c->ask.q, err);
}

static void group(void *context, unsigned n)
{
    equals   *q = context;
    hdx_error err = { .offset = HDX_NOWHERE };
    unsigned  bucket;
    while (!hdx_first_error_any(&q->fault) && (bucket = atomic_fetch_add(&q->next, 1)) < q->end)
        hdx_first_error_put(&q->fault, make_groups(q, &q->workers[n], bucket, &err), &err);
}

/* ---- ranges ---- */

static int by_wasted(const void *a, const void *b)
{
    const hdx_equal *x = a, *y = b;
    if (x->wasted != y->wasted)
        return x->wasted > y->wasted ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->length > y->length) - (x->length < y->length);
}

static void add_totals(hdx_equal_totals *to, const hdx_equal_totals *more)
{
    to->values += more->values;
    to->objects += more->objects;
    to->bytes += more->bytes;
    to->duplicates += more->duplicates;
    to->wasted += more->wasted;
    to->shared += more->shared;
}

static hdx_code one_range(equals *q, hdx_error *err)
{
    hdx_code code = hdx_array_contents_read(q->c, q->from > 0, see_array, q, err);
    if (code == HDX_OK)
        code = put_parts(q, err);
    if (code != HDX_OK)
        return code;
    atomic_store(&q->next, q->from);
    hdx_workers_run(q->c->threads, group, q);
    return hdx_first_error_take(&q->fault, err);
}

static void forget(equals *q)
{
    hdx_mem *mem = q->c->ask.q.mem;
    for (unsigned i = 0; q->workers != NULL && i < q->c->threads; i++) {
        for (unsigned b = 0; b < BUCKETS; b++)
            hdx_list_free(mem, HDX_LIST_REF(&q->workers[i].buckets[b]));
        hdx_list_free(mem, HDX_LIST_REF(&q->workers[i].groups));
    }
    hdx_mem_put(mem, q->workers, q->c->threads * sizeof *q->workers);
    q->workers = NULL;
}

/* All groups, in order; those of one worker stay where they are. */
static hdx_code collect(equals *q, hdx_equals *out, hdx_error *err)
{
    hdx_mem *mem = q->c->ask.q.mem;
    *out = (hdx_equals){ .at = NULL };
    for (unsigned i = 0; i < q->c->threads; i++) {
        out->capacity += q->workers[i].groups.count;
        add_totals(&out->strings, &q->workers[i].strings);
        add_totals(&out->arrays, &q->workers[i].arrays);
    }
    if ((out->at = hdx_mem_array(mem, out->capacity, sizeof *out->at)) == NULL)
        return hdx_no_memory(err, "groups of equal contents", out->capacity * sizeof *out->at);
    for (unsigned i = 0; i < q->c->threads; i++) {
        if (q->workers[i].groups.count > 0)
            memcpy(out->at + out->count, q->workers[i].groups.at, q->workers[i].groups.count * sizeof *out->at);
        out->count += q->workers[i].groups.count;
        hdx_list_free(mem, HDX_LIST_REF(&q->workers[i].groups));
    }
    if (out->count > 0)
        qsort(out->at, (size_t)out->count, sizeof *out->at, by_wasted);
    return HDX_OK;
}

static hdx_code find_in(equals *q, unsigned ranges, hdx_equals *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    q->fault = (hdx_first_error){ 0 };
    if ((q->workers = hdx_mem_array(q->c->ask.q.mem, q->c->threads, sizeof *q->workers)) == NULL)
        return hdx_no_memory(err, "sums of arrays", q->c->threads * sizeof *q->workers);
    for (unsigned i = 0; i < ranges && code == HDX_OK; i++) {
        q->from = i * (BUCKETS / ranges);
        q->end = q->from + BUCKETS / ranges;
        code = one_range(q, err);
    }
    if (code == HDX_OK)
        code = collect(q, out, err);
    forget(q);
    return code;
}

hdx_code hdx_equals_find(hdx_array_contents *c, bool texts, bool all, hdx_equals *out, hdx_error *err)
{
    equals   q = { .c = c, .texts = texts, .all = all };
    hdx_code code = HDX_LIMIT;
    *out = (hdx_equals){ .at = NULL };
    for (unsigned ranges = 1; ranges <= BUCKETS && code == HDX_LIMIT; ranges *= 4) {
        hdx_mem_put(c->ask.q.mem, out->at, out->capacity * sizeof *out->at);
        code = find_in(&q, ranges, out, err);
        if (c->ask.q.mem == NULL)
            break; /* nobody counts: there is no more memory to be had */
    }
    return code;
}
