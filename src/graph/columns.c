/*
 * columns.c - whole columns in runs, for queries that read every object; prefetching, for queries that read objects at
 * random positions.
 *
 * In:  runs of ids.
 * Out: the same values as the getters of objects.c.
 * Values are read in runs of at most PART, into arrays on the stack.
 * Cost: 2 to 5 ns an object and column; some 10 to 20 ns for dominators, nearest parents and counts of references,
 *       which need lists.
 */
#include "graph/inside.h"

#include <assert.h>

#define PART 512u

/* How many of n ids from `first` on are objects. */
static uint32_t objects_among(const hdx_graph *g, hdx_id first, uint32_t n)
{
    return first >= g->objects ? 0 : (uint32_t)hdx_least(g->objects - first, n);
}

/* Values of an ints file for ids first .. first + n - 1; 0 past the end and where the file is not there. */
static void numbers(const hdx_graph *g, hdx_kind kind, hdx_id first, uint32_t n, uint64_t *out)
{
    const hdx_ints *ints = hdx_graph_use(g, kind);
    const uint32_t  there = ints == NULL ? 0 : objects_among(g, first, n);
    if (there > 0)
        hdx_ints_read(ints, first, there, out);
    memset(out + there, 0, (size_t)(n - there) * sizeof *out);
}

void hdx_graph_read_addresses(const hdx_graph *g, hdx_id first, uint32_t n, hdx_addr *out)
{
    const hdx_addresses *set = hdx_graph_use(g, HDX_KIND_ADDRESS);
    const uint32_t       there = set == NULL ? 0 : objects_among(g, first, n);
    if (there > 0)
        hdx_addresses_read(set, first, there, out);
    memset(out + there, 0, (size_t)(n - there) * sizeof *out);
}

void hdx_graph_find_many(const hdx_graph *g, const hdx_addr *addresses, size_t n, hdx_id *ids)
{
    const hdx_addresses *set = hdx_graph_use(g, HDX_KIND_ADDRESS);
    if (set != NULL)
        hdx_addresses_find_many(set, addresses, n, ids);
    for (size_t i = 0; i < n; i++)
        if (set == NULL || ids[i] >= g->objects)
            ids[i] = HDX_NO_ID;
}

static bool address_below(const void *graph, hdx_id id, const void *wanted)
{
    return hdx_graph_address(graph, id) < *(const hdx_addr *)wanted;
}

hdx_id hdx_graph_first_at(const hdx_graph *g, hdx_addr address)
{
    return hdx_partition(g, 0, g->objects, &address, address_below);
}

/*
 * How many keys before its use a value is prefetched (away), and how many keys are prefetched at a time (step). A cache
 * line arrives within the time of one or two look-ups. At larger distances the entries of the processor's first-level
 * TLB (about 70 pages) are evicted before use: a number needs two pages, an address three, an outbound list five.
 * Measured: 184 and 160 ns a list with these values, 215 ns at twice the distance; 35 ns an address, 50 ns with a step
 * of 8.
 */
static const hdx_pace of_numbers = { 8, 8 }, of_addresses = { 8, 4 }, of_lists = { 3, 3 };

void hdx_graph_ahead(const hdx_graph *g, unsigned what, const hdx_id *ids, size_t n, size_t i)
{
    static const hdx_kind kinds[] = {
        /* in the order of the bits of hdx_ahead */
        HDX_KIND_ADDRESS,  HDX_KIND_CLASS,   HDX_KIND_SIZE,     HDX_KIND_POSITION,
        HDX_KIND_RETAINED, HDX_KIND_SPECIAL, HDX_KIND_OUTBOUND, HDX_KIND_INBOUND,
    };
    const bool  lists = (what & (HDX_AHEAD_OUTBOUND | HDX_AHEAD_INBOUND)) != 0; /* the slowest sets the pace */
    const void *file;
    assert(of_numbers.step % of_addresses.step == 0); /* otherwise rounds of numbers would be skipped */
    if (i >= n || i % (lists ? of_lists.step : of_addresses.step) != 0) /* of_numbers.step is a multiple of it */
        return;
    for (what &= (1u << (sizeof kinds / sizeof kinds[0])) - 1; what != 0; what &= what - 1) {
        const hdx_kind kind = kinds[__builtin_ctz(what)];
        const hdx_pace pace = lists ? of_lists : kind == HDX_KIND_ADDRESS ? of_addresses : of_numbers;
        if (i % pace.step != 0 || (file = hdx_graph_use(g, kind)) == NULL)
            continue;
        if (kind == HDX_KIND_OUTBOUND || kind == HDX_KIND_INBOUND)
            hdx_one_to_n_ahead(file, ids, n, i, pace);
        else if (kind == HDX_KIND_ADDRESS)
            hdx_addresses_ahead_at(file, ids, n, i, pace);
        else if (kind == HDX_KIND_SPECIAL)
            hdx_ranks_ahead(file, ids, n, i, pace);
        else
            hdx_ints_ahead(file, ids, n, i, pace);
    }
}

void hdx_graph_ahead_find(const hdx_graph *g, const hdx_addr *addresses, size_t n, size_t i)
{
    const hdx_addresses *set = hdx_graph_use(g, HDX_KIND_ADDRESS);
    if (set != NULL && i < n && i % of_numbers.step == 0)
        hdx_addresses_ahead(set, addresses, n, i, of_numbers);
}

void hdx_graph_read_stored_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    numbers(g, HDX_KIND_SIZE, first, n, out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint32_t)out[i]; /* without HDX_LENGTH_ODD */
}

void hdx_graph_read_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    uint32_t               classes[PART];
    const hdx_class_table *t = hdx_graph_class_table(g);
    hdx_graph_read_stored_lengths(g, first, n, out);
    for (uint32_t done = 0, now; t != NULL && t->flat && done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        hdx_graph_read_classes(g, first + done, now, classes);
        for (uint32_t i = 0; i < now; i++)
            if (classes[i] != HDX_NO_CLASS && (t->at[classes[i]].flags & HDX_CLASS_FLAT) != 0)
                out[done + i] /= t->at[classes[i]].stated_size;
    }
}

void hdx_graph_read_retained(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    numbers(g, HDX_KIND_RETAINED, first, n, out);
}
void hdx_graph_read_positions(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    numbers(g, HDX_KIND_POSITION, first, n, out);
}

void hdx_graph_read_classes(const hdx_graph *g, hdx_id first, uint32_t n, uint32_t *out)
{
    uint64_t part[PART];
    bool     readable = hdx_graph_use(g, HDX_KIND_CLASS) != NULL;
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        numbers(g, HDX_KIND_CLASS, first + done, now, part);
        for (uint32_t i = 0; i < now; i++) {
            const bool known = readable && first + done + i < g->objects && part[i] < g->m->classes;
            out[done + i] = known ? (uint32_t)part[i] : HDX_NO_CLASS;
        }
    }
}

void hdx_graph_read_kinds(const hdx_graph *g, hdx_id first, uint32_t n, uint8_t *out)
{
    uint32_t               part[PART];
    const hdx_class_table *t = hdx_graph_class_table(g);
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        hdx_graph_read_classes(g, first + done, now, part);
        for (uint32_t i = 0; i < now; i++) {
            if (t == NULL || part[i] == HDX_NO_CLASS)
                out[done + i] = HDX_INSTANCE;
            else if (t->mirror[part[i]] && hdx_class_of_object(t, first + done + i) != NULL)
                out[done + i] = HDX_CLASS_OBJECT;
            else
                out[done + i] = (uint8_t)t->at[part[i]].kind;
        }
    }
}

static uint64_t shallow_of(const hdx_graph *g, const hdx_class_table *t, hdx_id id, uint32_t number, uint64_t length)
{
    assert(number < t->count); /* G3 */
    const hdx_class *c = &t->at[number], *own;
    if (c->kind == HDX_OBJECT_ARRAY || length >= HDX_LENGTH_ODD)
        return hdx_object_array_size(&g->sizing, (uint32_t)length);
    if (c->kind == HDX_PRIMITIVE_ARRAY)
        return hdx_primitive_array_size(&g->sizing, c->element_type, length);
    if (t->mirror[number] && (own = hdx_class_of_object(t, id)) != NULL)
        return own->class_shallow;
    return c->instance_size;
}

void hdx_graph_read_shallow(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    uint32_t               classes[PART];
    const hdx_class_table *t = hdx_graph_class_table(g);
    numbers(g, HDX_KIND_SIZE, first, n, out); /* lengths first, each replaced by its size */
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        hdx_graph_read_classes(g, first + done, now, classes);
        for (uint32_t i = 0; i < now; i++)
            out[done + i] = t == NULL || classes[i] == HDX_NO_CLASS
                                ? 0
                                : shallow_of(g, t, first + done + i, classes[i], out[done + i]);
    }
}

void hdx_graph_read_heaps(const hdx_graph *g, hdx_id first, uint32_t n, int32_t *out)
{
    uint64_t part[PART], count = 0;
    if (hdx_graph_use(g, HDX_KIND_HEAP) != NULL)
        (void)hdx_graph_heaps((hdx_graph *)g, &count);
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        numbers(g, HDX_KIND_HEAP, first + done, now, part);
        for (uint32_t i = 0; i < now; i++) /* heap index + 1; 0: in no heap */
            out[done + i] = part[i] != 0 && part[i] <= count ? (int32_t)(part[i] - 1) : -1;
    }
}

/*
 * Reads `kind` for at most PART ids: sets the bits of the ids in `special` in `members` and stores their values one
 * after the other. Ranks ascend with ids, so the values of a run of ids are consecutive in the file. Returns their
 * number.
 */
static uint32_t specials(const hdx_graph *g, hdx_kind kind, hdx_id first, uint32_t n, uint64_t *members,
                         uint64_t *values)
{
    const hdx_ranks *ranks = hdx_graph_use(g, HDX_KIND_SPECIAL);
    const hdx_ints  *ints = ranks != NULL ? hdx_graph_use(g, kind) : NULL;
    const uint32_t   there = ints == NULL ? 0 : objects_among(g, first, n);
    uint64_t         from = 0, count = 0;
    assert(n <= PART); /* G5 */
    memset(members, 0, (size_t)hdx_bits_words(n) * sizeof *members);
    if (there > 0)
        hdx_ranks_read(ranks, first, there, members, &from);
    count = hdx_bits_count(members, hdx_bits_words(n));
    assert(count <= n); /* G5: there is room for them */
    if (count > 0)      /* reads 0 past the end of the file and records the damage */
        hdx_ints_read(ints, from, (uint32_t)count, values);
    for (uint32_t i = there; i < n; i++) { /* ids past the last object count as garbage */
        hdx_bits_put(members, i);
        values[count++] = 0;
    }
    return (uint32_t)count;
}

void hdx_graph_read_live(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out)
{
    uint64_t members[PART / 64], values[PART];
    for (uint32_t done = 0, now; done < n; done += now) { /* PART is a multiple of 64 */
        now = (uint32_t)hdx_least(n - done, PART);
        (void)specials(g, HDX_KIND_DOMINATOR, first + done, now, members, values);
        uint64_t *live = out + done / 64;
        uint32_t  k = 0;
        for (uint32_t w = 0; w < hdx_bits_words(now); w++) {
            const uint64_t here = now - 64 * w >= 64 ? UINT64_MAX : (1ull << (now - 64 * w)) - 1;
            uint64_t       dead = 0;
            for (uint64_t left = members[w]; left != 0; left &= left - 1)
                dead |= values[k++] == 0 ? left & -left : 0;
            live[w] = here & ~dead;
        }
    }
}

size_t hdx_graph_garbage(const hdx_graph *g, hdx_id *from, hdx_id *ids, size_t n)
{
    uint64_t live[PART / 64];
    size_t   found = 0;
    if (hdx_graph_all_live(g))
        *from = g->objects;
    while (found < n && *from < g->objects) {
        const uint32_t now = (uint32_t)hdx_least(g->objects - *from, PART);
        hdx_graph_read_live(g, *from, now, live);
        uint32_t i = 0;
        for (; i < now && found < n; i++)
            if (!hdx_bits_test(live, i))
                ids[found++] = *from + i;
        *from += i;
    }
    return found;
}

/*
 * Reads the lengths of the lists of a run of ids and, if `firsts` is given, their first values; 0 past the end and if
 * the file is missing.
 */
static void lists_of(const hdx_graph *g, hdx_kind kind, hdx_id first, uint32_t n, uint64_t *degrees, uint64_t *firsts)
{
    assert(n <= PART); /* G5 */
    const hdx_one_to_n *lists = hdx_graph_use(g, kind);
    const uint32_t      there = lists == NULL ? 0 : objects_among(g, first, n);
    if (there > 0 && firsts != NULL)
        hdx_one_to_n_firsts(lists, first, there, degrees, firsts);
    else if (there > 0)
        hdx_one_to_n_degrees(lists, first, there, degrees);
    memset(degrees + there, 0, (size_t)(n - there) * sizeof *degrees);
    if (firsts != NULL)
        memset(firsts + there, 0, (size_t)(n - there) * sizeof *firsts);
}

uint32_t hdx_graph_read_outbound(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *lengths, hdx_id *out,
                                 uint64_t room)
{
    const hdx_one_to_n *lists = hdx_graph_use(g, HDX_KIND_OUTBOUND);
    uint64_t            sum = 0;
    uint32_t            fit = 0;
    n = (uint32_t)hdx_least(objects_among(g, first, n), PART);
    if (g->m->cut_from != 0 || lists == NULL)
        return 0;
    lists_of(g, HDX_KIND_OUTBOUND, first, n, lengths, NULL);
    for (; fit < n && lengths[fit] <= room - sum; fit++)
        sum += lengths[fit];
    if (fit > 0)
        hdx_one_to_n_run(lists, first, fit, lengths, out);
    return fit;
}

/* `one`: the meaning of the value 1; HDX_NO_ID: the id itself. */
static void parents(const hdx_graph *g, hdx_kind kind, hdx_id one, hdx_id first, uint32_t n, hdx_id *out)
{
    uint64_t members[PART / 64], values[PART], degrees[PART], referrers[PART];
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        (void)specials(g, kind, first + done, now, members, values);
        lists_of(g, HDX_KIND_INBOUND, first + done, now, degrees, referrers);
        for (uint32_t i = 0, k = 0; i < now; i++) {
            hdx_id id = first + done + i;
            if (!hdx_bits_test(members,
                               i)) /* its only referrer, if it has one; otherwise the getter reports the damage */
                out[done + i] = degrees[i] == 1 ? referrers[i] : hdx_graph_only_referrer(g, id);
            else if (values[k++] == 1)
                out[done + i] = one == HDX_NO_ID ? id : one;
            else
                out[done + i] = values[k - 1] - 2 < g->objects ? values[k - 1] - 2 : HDX_NO_ID;
        }
    }
}

void hdx_graph_read_dominators(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out)
{
    parents(g, HDX_KIND_DOMINATOR, HDX_VIRTUAL_ROOT, first, n, out);
}

void hdx_graph_read_nearest(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out)
{
    parents(g, HDX_KIND_NEAREST, HDX_NO_ID, first, n, out);
}

/*
 * Outbound: the list plus the class object; both are live if the object is. Inbound: the list, if all of it is in
 * scope: a live object that is not special has one referrer, which is live. All other objects (garbage and its
 * neighbours, class objects) are counted one by one.
 */
void hdx_graph_read_counts(hdx_graph *g, hdx_refs_scope scope, hdx_id first, uint32_t n, uint64_t *outbound,
                           uint64_t *inbound)
{
    uint64_t               members[PART / 64], values[PART];
    uint32_t               classes[PART];
    const hdx_class_table *t = hdx_graph_class_table(g);
    const bool             all = scope == HDX_ALL || (scope == HDX_LIVE && hdx_graph_all_live(g));
    for (uint32_t done = 0, now; done < n; done += now) {
        now = (uint32_t)hdx_least(n - done, PART);
        hdx_graph_read_classes(g, first + done, now, classes);
        lists_of(g, HDX_KIND_OUTBOUND, first + done, now, outbound + done, NULL);
        lists_of(g, HDX_KIND_INBOUND, first + done, now, inbound + done, NULL);
        if (!all)
            (void)specials(g, HDX_KIND_DOMINATOR, first + done, now, members, values);
        for (uint32_t i = 0, k = 0, at = done; i < now; i++, at++) {
            bool class = t != NULL && classes[i] != HDX_NO_CLASS, special = !all && hdx_bits_test(members, i);
            bool live = all || (scope == HDX_LIVE && (!special || values[k] != 0));
            k += special;
            if (live)
                outbound[at] += class && t->at[classes[i]].id != HDX_NO_ID;
            else
                outbound[at] = hdx_graph_outbound_count(g, first + at, scope);
            if (!live || special || (class && t->mirror[classes[i]]))
                inbound[at] = hdx_graph_inbound_count(g, first + at, scope);
            if (g->m->cut_from == 0)
                continue;
            const hdx_cut_list of = hdx_graph_cut_of(g, first + at, false), to = hdx_graph_cut_of(g, first + at, true);
            if (of.at < of.end)
                outbound[at] = hdx_graph_outbound_count(g, first + at, scope);
            if (to.at < to.end)
                inbound[at] = hdx_graph_inbound_count(g, first + at, scope);
        }
    }
}
