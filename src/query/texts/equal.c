/*
 * equal.c - groups of equal contents: of Strings, and of primitive arrays that no String uses.
 *
 * In:  sums of arrays as they are read (array_contents.c).
 * Out: groups, the most wasteful first, and totals.
 * Sums are put into buckets by their upper bits. When all are read, workers sort one bucket after the other, and each
 * run of equal sums is a group. If memory is refused, the dump is read once for every quarter of the buckets, then for
 * every sixteenth, and so on: groups and their order stay the same.
 * Data of arrays and groups is then at random places in memory, so independent look-ups are batched to wait for memory
 * together.
 * Cost: 24 bytes for each array in the current range (twice that while a list grows), and 64 for each group.
 */
#include "query/texts/array_contents.h"

#define BUCKETS 256u /* by the upper 8 of 61 bits */

/* `what`: the id of an array, or the index of a part, combined with the kind. */
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
    unsigned            from, end; /* buckets of the current range */
    equal_worker       *workers;
    atomic_uint         next;
    hdx_first_error     fault;
} equals;

/* ---- reading ---- */

static hdx_code entry_add(equals *q, unsigned n, const hdx_sum *sum, uint64_t what, hdx_error *err)
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
    return entry_add(context, n, sum, array, err);
}

static hdx_code put_parts(equals *q, hdx_error *err)
{
    const hdx_array_contents *c = q->c;
    uint64_t                  place;
    hdx_code                  code = HDX_OK;
    for (uint64_t i = 0; i < c->part_count && code == HDX_OK; i++)
        if (hdx_array_contents_place(c, c->parts[i].array, &place) && (c->flags[place] & HDX_ARRAY_ABSENT) == 0)
            code = entry_add(q, 0, &c->parts[i].sum, PART | (uint64_t)HDX_EQUAL_CHARS << KIND_SHIFT | i, err);
    return code;
}

/* ---- groups of one bucket ---- */

#define NO_PLACE UINT64_MAX
#define BLOCK    256u /* entries that are looked up together */
#define BATCH    128u /* groups */

/* Looks up the places of all entries that are arrays, and prefetches their data. */
static void find_places(const hdx_array_contents *c, const entry *at, size_t n, uint64_t *places)
{
    for (size_t i = 0; i < n; i++)
        if ((at[i].what & PART) == 0)
            __builtin_prefetch(&c->bits[WHAT(&at[i]) >> 6]);
    for (size_t i = 0; i < n; i++) {
        if ((at[i].what & PART) != 0 || !hdx_array_contents_place(c, WHAT(&at[i]), &places[i])) {
            places[i] = NO_PLACE;
            continue;
        }
        __builtin_prefetch(&c->flags[places[i]]);
        __builtin_prefetch(&c->strings[places[i]]);
        __builtin_prefetch(&c->first[places[i]]);
    }
}

/* Unless only garbage is requested, every array with a place is in scope (array_contents.c). */
static bool is_in_scope(const hdx_array_contents *c, hdx_id array)
{
    return c->ask.q.scope != HDX_GARBAGE || hdx_ask_wants(&c->ask, array);
}

static int by_sum(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    if (a->b != b->b)
        return a->b < b->b ? -1 : 1;
    return (a->what > b->what) - (a->what < b->what);
}

/* Sets the kind of an entry, which is known after all Strings are read. False: it is in no group. */
static bool set_kind(const equals *q, entry *e, uint64_t place)
{
    const hdx_array_contents *c = q->c;
    if ((e->what & PART) != 0)
        return true;
    if (place == NO_PLACE)
        return false;
    const uint8_t flags = c->flags[place];
    if (c->strings[place] == 0)
        return !q->texts && (flags & HDX_ARRAY_PARTLY) == 0 && is_in_scope(c, e->what);
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

static void add_to_totals(const equals *q, hdx_equal_totals *t, hdx_equal *e)
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

static void add_member(const equals *q, hdx_equal *e, const entry *m, uint64_t place)
{
    const hdx_array_contents *c = q->c;
    hdx_id                    id = WHAT(m);
    if ((m->what & PART) != 0) {
        id = c->parts[WHAT(m)].string;
        e->objects++;
    } else if (e->kind == HDX_EQUAL_ARRAYS) {
        e->objects++;
    } else if (place != NO_PLACE) {
        /* An array of which some String uses a part would not be freed if another array replaced it for this text. */
        e->arrays += (c->flags[place] & HDX_ARRAY_PARTLY) == 0 && is_in_scope(c, id);
        e->objects += c->strings[place];
        id = c->first[place];
    }
    e->id = id < e->id ? id : e->id;
}

typedef struct batch {
    size_t       count;
    hdx_equal    groups[BATCH];
    const entry *heads[BATCH]; /* the first member of each group */
} batch;

static hdx_id array_of(const equals *q, const entry *e)
{
    return (e->what & PART) != 0 ? q->c->parts[WHAT(e)].array : WHAT(e);
}

/* Completes groups that have all their members. */
static hdx_code finish_groups(equals *q, equal_worker *w, batch *b, hdx_error *err)
{
    const hdx_array_contents *c = q->c;
    hdx_id                    ids[BATCH];
    for (size_t i = 0; i < b->count; i++)
        ids[i] = array_of(q, b->heads[i]);
    for (size_t i = 0; i < b->count; i++) {
        hdx_equal   *e = &b->groups[i];
        const entry *head = b->heads[i];
        hdx_graph_ahead(c->ask.g, HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH, ids, b->count, i);
        const hdx_class *class = hdx_graph_class(c->ask.g, hdx_graph_class_of(c->ask.g, ids[i]));
        e->type = class == NULL ? 8 : class->element_type;
        e->length = (head->what & PART) != 0 ? c->parts[WHAT(head)].units : hdx_graph_length(c->ask.g, ids[i]);
        if (e->kind == HDX_EQUAL_UTF16)
            e->length /= 2;
    }
    for (size_t i = 0; i < b->count; i++)
        ids[i] = b->groups[i].id;
    for (size_t i = 0; i < b->count; i++) {
        hdx_equal *e = &b->groups[i];
        hdx_graph_ahead(c->ask.g, HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH, ids, b->count, i);
        add_to_totals(q, e->kind == HDX_EQUAL_ARRAYS ? &w->arrays : &w->strings, e);
        if (!q->all && e->objects < 2)
            continue;
        if (!hdx_list_room(c->ask.q.mem, HDX_LIST_REF(&w->groups)))
            return hdx_no_memory(err, "groups of equal contents", w->groups.count * sizeof *e);
        w->groups.at[w->groups.count++] = *e;
    }
    b->count = 0;
    return HDX_OK;
}

/* Makes groups from sorted entries, in which members of a group are adjacent. */
static hdx_code make_groups_of(equals *q, equal_worker *w, const entry_list *one, hdx_error *err)
{
    batch    b = { .count = 0 };
    uint64_t places[BLOCK];
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < one->count && code == HDX_OK; i++) {
        const entry *e = &one->at[i];
        if (i % BLOCK == 0)
            find_places(q->c, e, (size_t)hdx_least(one->count - i, BLOCK), places);
        if (i == 0 || e->a != e[-1].a || e->b != e[-1].b || KIND(e) != KIND(&e[-1])) {
            if (b.count == BATCH && (code = finish_groups(q, w, &b, err)) != HDX_OK)
                break;
            b.heads[b.count] = e;
            b.groups[b.count++] = (hdx_equal){ .sum = { { e->a, e->b } }, .id = HDX_NO_ID, .kind = (uint8_t)KIND(e) };
        }
        add_member(q, &b.groups[b.count - 1], e, places[i % BLOCK]);
    }
    return code == HDX_OK ? finish_groups(q, w, &b, err) : code;
}

static hdx_code make_groups(equals *q, equal_worker *w, unsigned bucket, hdx_error *err)
{
    hdx_mem   *mem = q->c->ask.q.mem;
    entry_list one = { NULL, 0, 0 };
    uint64_t   places[BLOCK];
    hdx_code   code = HDX_OK;
    for (unsigned i = 0; i < q->c->threads; i++)
        one.capacity += q->workers[i].buckets[bucket].count;
    if (one.capacity == 0)
        return HDX_OK;
    if ((one.at = hdx_mem_raw(mem, one.capacity, sizeof *one.at)) == NULL)
        return hdx_no_memory(err, "sums of arrays", one.capacity * sizeof *one.at);
    for (unsigned i = 0; i < q->c->threads; i++) {
        entry_list *from = &q->workers[i].buckets[bucket];
        for (uint64_t k = 0; k < from->count; k++) {
            if (k % BLOCK == 0)
                find_places(q->c, &from->at[k], (size_t)hdx_least(from->count - k, BLOCK), places);
            if (set_kind(q, &from->at[k], places[k % BLOCK]))
                one.at[one.count++] = from->at[k];
        }
        hdx_list_free(mem, HDX_LIST_REF(from));
    }
    hdx_sort(mem, one.at, one.count, sizeof *one.at, offsetof(entry, a), by_sum);
    code = make_groups_of(q, w, &one, err);
    hdx_list_free(mem, HDX_LIST_REF(&one));
    return code != HDX_OK ? code : hdx_ask_stopped(&q->c->ask.q, err);
}

static void make_all_groups(void *context, unsigned n)
{
    equals   *q = context;
    hdx_error err = { .offset = HDX_NOWHERE };
    unsigned  bucket;
    while (!hdx_first_error_any(&q->fault) && (bucket = atomic_fetch_add(&q->next, 1)) < q->end)
        hdx_first_error_put(&q->fault, make_groups(q, &q->workers[n], bucket, &err), &err);
}

/* ---- ranges ---- */

static int by_id(const void *a, const void *b)
{
    const hdx_equal *x = a, *y = b;
    return x->id != y->id ? hdx_order(x->id, y->id) : hdx_order(x->length, y->length);
}

/* `wasted` is negated while groups are sorted, so that the most wasteful comes first. */
static int by_wasted(const void *a, const void *b)
{
    const hdx_equal *x = a, *y = b;
    return x->wasted != y->wasted ? hdx_order(x->wasted, y->wasted) : by_id(a, b);
}

/*
 * Sorted by id first, because this is faster: most texts are unique and waste nothing, and groups of equal waste are
 * then already in order.
 */
static void sort_groups(hdx_mem *mem, hdx_equals *groups)
{
    hdx_sort(mem, groups->at, groups->count, sizeof *groups->at, offsetof(hdx_equal, id), by_id);
    for (uint64_t i = 0; i < groups->count; i++)
        groups->at[i].wasted = ~groups->at[i].wasted;
    hdx_sort(mem, groups->at, groups->count, sizeof *groups->at, offsetof(hdx_equal, wasted), by_wasted);
    for (uint64_t i = 0; i < groups->count; i++)
        groups->at[i].wasted = ~groups->at[i].wasted;
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
    hdx_workers_run(q->c->threads, make_all_groups, q);
    return hdx_first_error_take(&q->fault, err);
}

static void free_workers(equals *q)
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

/* Collects all groups in order. The first worker's list receives the others, so that few are in memory twice. */
static hdx_code collect(equals *q, hdx_equals *out, hdx_error *err)
{
    hdx_mem   *mem = q->c->ask.q.mem;
    uint64_t   count = 0;
    hdx_equal *more;
    *out = (hdx_equals){ .at = q->workers[0].groups.at, .capacity = q->workers[0].groups.capacity };
    q->workers[0].groups.at = NULL;
    q->workers[0].groups.capacity = 0;
    for (unsigned i = 0; i < q->c->threads; i++) {
        count += q->workers[i].groups.count;
        add_totals(&out->strings, &q->workers[i].strings);
        add_totals(&out->arrays, &q->workers[i].arrays);
    }
    if (count > out->capacity) {
        if ((more = hdx_mem_resize(mem, out->at, out->capacity * sizeof *more, count * sizeof *more)) == NULL) {
            hdx_mem_put(mem, out->at, out->capacity * sizeof *more);
            *out = (hdx_equals){ .at = NULL };
            return hdx_no_memory(err, "groups of equal contents", count * sizeof *more);
        }
        out->at = more;
        out->capacity = count;
    }
    out->count = q->workers[0].groups.count;
    for (unsigned i = 1; i < q->c->threads; i++) {
        if (q->workers[i].groups.count > 0)
            memcpy(out->at + out->count, q->workers[i].groups.at, q->workers[i].groups.count * sizeof *out->at);
        out->count += q->workers[i].groups.count;
        hdx_list_free(mem, HDX_LIST_REF(&q->workers[i].groups));
    }
    sort_groups(mem, out);
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
    free_workers(q);
    return code;
}

/*
 * Returns whether more ranges can reduce memory enough. Ranges divide the sums; if the sums are a small part of the
 * memory, the groups need the rest. Four ranges are always tried, because the distribution over buckets varies with the
 * random key of the sums.
 */
static bool more_ranges_help(const hdx_array_contents *c, unsigned ranges)
{
    const hdx_mem *mem = hdx_mem_counter(c->ask.q.mem);
    const uint64_t used = atomic_load(&mem->used), free = mem->limit > used ? mem->limit - used : 0;
    return ranges == 1 || (ranges < BUCKETS && c->places * sizeof(entry) / ranges > free / 8);
}

hdx_code hdx_equals_find(hdx_array_contents *c, bool texts, bool all, hdx_equals *out, hdx_error *err)
{
    equals   q = { .c = c, .texts = texts, .all = all };
    unsigned ranges = 1;
    hdx_code code;
    *out = (hdx_equals){ .at = NULL };
    /* without a memory account a refusal means that there is no more memory */
    while ((code = find_in(&q, ranges, out, err)) == HDX_LIMIT && hdx_mem_counter(c->ask.q.mem) != NULL &&
           more_ranges_help(c, ranges))
        ranges *= 4;
    return code;
}
