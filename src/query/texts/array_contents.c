/*
 * array_contents.c - primitive arrays and the Strings that use them, read in one pass over the dump.
 *
 * In:  the graph, and what hdx_graph_contents reads.
 * Out: by place of an array: how many Strings use it, and flags of its content; its sum goes to the caller.
 * Strings and their arrays are read in any order and on any thread, so each stores its result at the place of the
 * array.
 * Cost: 13 bytes for each array (17 with zeros), 1/8 byte for each object, 56 for each String that uses a part.
 */
#include "query/texts/array_contents.h"

#include <assert.h>

typedef struct array_state { /* one worker's state at the current array */
    hdx_sum               sum;
    uint64_t              zeros; /* bytes, at the end of what was read so far */
    uint8_t               first[8];
    bool                  constant, narrow;
    hdx_text_counts       counts;
    HDX_LIST(hdx_part_of) parts;
    uint64_t              next; /* index of the next entry of c->parts, or of its ends */
    hdx_sum               at;   /* sum of the content so far */
    char                  apart[HDX_APART];
} array_state;

typedef struct reading {
    hdx_array_contents *c;
    hdx_array_visit    *visit;
    void               *context;
    bool                again;
    array_state        *workers;
    struct end         *ends;
} reading;

/* ---- places ---- */

bool hdx_array_contents_place(const hdx_array_contents *c, hdx_id array, uint64_t *place)
{
    if (array >= c->objects || !hdx_bits_test(c->bits, array))
        return false;
    const uint64_t word = array >> 6;
    uint64_t       n = c->before[word >> 3];
    for (uint64_t w = word & ~7ull; w < word; w++)
        n += (uint64_t)__builtin_popcountll(c->bits[w]);
    *place = n + (uint64_t)__builtin_popcountll(c->bits[word] & ((1ull << (array & 63)) - 1));
    return true;
}

/* If garbage is requested, a garbage String may use a live array. */
static hdx_refs_scope scope_of_arrays(const hdx_array_contents *c)
{
    return c->ask.q.scope == HDX_LIVE ? HDX_LIVE : HDX_ALL;
}

static hdx_code find_places(hdx_array_contents *c, hdx_error *err)
{
    uint32_t         count, numbers[HDX_RUN];
    uint64_t         live[HDX_RUN / 64];
    const hdx_class *classes = hdx_graph_classes(c->ask.g, &count);
    hdx_code         code = HDX_OK;
    for (hdx_id first = 0; first < c->objects && code == HDX_OK; first += HDX_RUN) {
        const uint32_t n = (uint32_t)(c->objects - first < HDX_RUN ? c->objects - first : HDX_RUN);
        hdx_graph_read_classes(c->ask.g, first, n, numbers);
        hdx_graph_read_live(c->ask.g, first, n, live);
        for (uint32_t i = 0; i < n; i++)
            if (numbers[i] < count && classes[numbers[i]].kind == HDX_PRIMITIVE_ARRAY &&
                (classes[numbers[i]].flags & HDX_CLASS_FLAT) == 0 &&
                (c->types >> classes[numbers[i]].element_type & 1) != 0 &&
                (scope_of_arrays(c) == HDX_ALL || hdx_bits_test(live, i)))
                hdx_bits_put(c->bits, first + i);
        code = hdx_ask_check_cancel(&c->ask, err);
    }
    for (uint64_t w = 0; w < hdx_bits_words(c->objects); w++) {
        if ((w & 7) == 0)
            c->before[w >> 3] = c->places;
        c->places += (uint64_t)__builtin_popcountll(c->bits[w]);
    }
    return code;
}

hdx_code hdx_array_contents_open(const hdx_query *q, unsigned types, bool zeros, hdx_array_contents *out,
                                 hdx_error *err)
{
    *out = (hdx_array_contents){ .types = types };
    hdx_code code = hdx_ask_begin(q, &out->ask, err);
    if (code != HDX_OK)
        return code;
    hdx_mem *mem = out->ask.q.mem;
    out->threads = hdx_ask_threads(&out->ask.q);
    out->objects = hdx_graph_objects(out->ask.g);
    hdx_sum_key_make(&out->key);
    const uint64_t words = hdx_bits_words(out->objects);
    out->bits = hdx_mem_array(mem, words, 8);
    out->before = hdx_mem_array(mem, words / 8 + 1, 8);
    if (out->bits == NULL || out->before == NULL)
        return hdx_no_memory(err, "places of arrays", words * 8);
    if ((code = find_places(out, err)) != HDX_OK)
        return code;
    out->strings = hdx_mem_array(mem, out->places, sizeof *out->strings);
    out->first = hdx_mem_array(mem, out->places, sizeof *out->first);
    out->flags = hdx_mem_array(mem, out->places, sizeof *out->flags);
    out->zeros = zeros ? hdx_mem_array(mem, out->places, sizeof *out->zeros) : NULL;
    if (out->strings == NULL || out->first == NULL || out->flags == NULL || (zeros && out->zeros == NULL))
        return hdx_no_memory(err, "arrays", out->places * (sizeof *out->strings + sizeof *out->first + 1));
    return HDX_OK;
}

void hdx_array_contents_close(hdx_array_contents *c)
{
    hdx_mem       *mem = c->ask.q.mem;
    const uint64_t words = hdx_bits_words(c->objects);
    hdx_mem_put(mem, c->parts, c->part_capacity * sizeof *c->parts);
    hdx_mem_put(mem, c->zeros, c->places * sizeof *c->zeros);
    hdx_mem_put(mem, c->flags, c->places * sizeof *c->flags);
    hdx_mem_put(mem, c->first, c->places * sizeof *c->first);
    hdx_mem_put(mem, c->strings, c->places * sizeof *c->strings);
    hdx_mem_put(mem, c->before, (words / 8 + 1) * 8);
    hdx_mem_put(mem, c->bits, words * 8);
    *c = (hdx_array_contents){ .objects = 0 };
}

/* ---- Strings ---- */

static void mark(hdx_array_contents *c, uint64_t place, unsigned flag)
{
    if ((__atomic_load_n(&c->flags[place], __ATOMIC_RELAXED) & flag) != flag)
        (void)__atomic_fetch_or(&c->flags[place], (uint8_t)flag, __ATOMIC_RELAXED);
}

static void least(hdx_id *at, hdx_id id)
{
    hdx_id old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (id < old && !__atomic_compare_exchange_n(at, &old, id, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static hdx_code see_text(void *context, unsigned n, const hdx_text_at *t, hdx_error *err)
{
    static const unsigned of_coding[] = { [HDX_CHARS_BE] = HDX_ARRAY_CHARS,
                                          [HDX_LATIN1] = HDX_ARRAY_LATIN1,
                                          [HDX_UTF16_LE] = HDX_ARRAY_UTF16,
                                          [HDX_UTF16_BE] = HDX_ARRAY_UTF16 };
    reading              *r = context;
    array_state          *l = &r->workers[n];
    uint64_t              place;
    l->counts.strings++;
    l->counts.absent += t->state == HDX_TEXT_ABSENT;
    l->counts.none += t->state == HDX_TEXT_NONE;
    l->counts.unknown += t->state == HDX_TEXT_UNKNOWN;
    if (t->state != HDX_TEXT_THERE)
        return HDX_OK;
    if (!hdx_array_contents_place(r->c, t->array, &place)) {
        l->counts.unknown++;
        return HDX_OK;
    }
    if (t->whole) {
        (void)__atomic_fetch_add(&r->c->strings[place], 1, __ATOMIC_RELAXED);
        least(&r->c->first[place], t->string);
        mark(r->c, place, of_coding[t->coding]);
        return HDX_OK;
    }
    if (t->coding != HDX_CHARS_BE) { /* no JDK uses parts of a byte[] */
        l->counts.unknown++;
        return HDX_OK;
    }
    mark(r->c, place, HDX_ARRAY_PARTLY);
    if (!hdx_list_room(r->c->ask.q.mem, HDX_LIST_REF(&l->parts)))
        return hdx_no_memory(err, "Strings that use a part of their array", l->parts.count * sizeof *l->parts.at);
    l->parts.at[l->parts.count++] = (hdx_part_of){ t->array, t->string, t->first, t->units, { { 0, 0 } } };
    return HDX_OK;
}

/* ---- arrays ---- */

static const unsigned bytes_of[] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };

static bool all_as_first(const hdx_array_part *p, const uint8_t *first, unsigned size)
{
    /* Compared with itself shifted by one element, because memcmp uses the widest registers. */
    return p->len == 0 ||
           (memcmp(p->bytes, first, size) == 0 && memcmp(p->bytes, p->bytes + size, (size_t)(p->len - size)) == 0);
}

static uint64_t zeros_at_end(const hdx_array_part *p)
{
    uint64_t n = 0;
    while (n < p->len && p->bytes[p->len - 1 - n] == 0)
        n++;
    return n;
}

/* Returns whether all high bytes are zero when read as UTF-16. Their position in a byte[] depends on this JVM. */
static bool is_narrow(const hdx_array_part *p, hdx_coding coding)
{
    uint8_t any = 0;
    for (uint64_t i = coding == HDX_UTF16_LE ? 1 : 0; i < p->len; i += 2)
        any |= p->bytes[i];
    return any == 0;
}

static void update_state(array_state *l, const hdx_array_part *p, unsigned size, hdx_coding utf16, bool zeros)
{
    if (p->from == 0 && p->len > 0)
        memcpy(l->first, p->bytes, size);
    l->constant = l->constant && all_as_first(p, l->first, size);
    if (zeros) {
        const uint64_t n = zeros_at_end(p);
        l->zeros = n == p->len ? l->zeros + n : n;
        l->narrow = l->narrow && (p->type == 5 || p->type == 8) && is_narrow(p, p->type == 5 ? HDX_CHARS_BE : utf16);
    }
}

static hdx_code see_part(void *context, unsigned n, const hdx_array_part *p, hdx_error *err)
{
    reading       *r = context;
    array_state   *l = &r->workers[n];
    const unsigned size = bytes_of[p->type];
    hdx_coding     utf16 = HDX_UTF16_LE;
    uint64_t       place;
    hdx_code       code;
    if (!hdx_array_contents_place(r->c, p->id, &place))
        return HDX_OK;
    if (p->absent) {
        mark(r->c, place, HDX_ARRAY_ABSENT);
        return HDX_OK;
    }
    if (p->from == 0) {
        l->sum = (hdx_sum){ { 0, 0 } };
        l->zeros = 0;
        l->constant = p->length > 1;
        l->narrow = p->length > 0;
    }
    if (!r->again && r->c->zeros != NULL) {
        if ((code = hdx_graph_utf16(r->c->ask.g, &utf16, err)) != HDX_OK)
            return code;
        update_state(l, p, size, utf16, true);
        if (p->last) {
            mark(r->c, place, (l->constant ? HDX_ARRAY_CONSTANT : 0u) | (l->narrow ? HDX_ARRAY_NARROW : 0u));
            r->c->zeros[place] = (uint32_t)(l->zeros / size);
        }
    }
    if (r->visit == NULL)
        return HDX_OK;
    hdx_sum_add(&r->c->key, &l->sum, p->type == 5 ? 2 : 4, p->bytes, p->len);
    if (!p->last)
        return HDX_OK;
    hdx_sum_number(&r->c->key, &l->sum, p->length);
    hdx_sum_number(&r->c->key, &l->sum, p->type);
    return r->visit(r->context, n, p->id, &l->sum, err);
}

/* ---- parts of arrays ---- */

/* The beginning or the end of a part in its array. */
typedef struct end {
    hdx_id   array;
    uint64_t at;
    uint64_t part; /* 2 * index of the part; + 1: its end */
} end;

static int by_array(const void *a, const void *b)
{
    const hdx_part_of *x = a, *y = b;
    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->units != y->units)
        return x->units < y->units ? -1 : 1;
    return (x->string > y->string) - (x->string < y->string);
}

static int by_end(const void *a, const void *b)
{
    const end *x = a, *y = b;
    if (x->array != y->array)
        return x->array < y->array ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/*
 * The sums at all beginnings and ends of parts are computed in one pass through the array, however many parts there are
 * and however they overlap. A part stores the sum at its beginning until it ends.
 */
static hdx_code see_ends(void *context, unsigned n, const hdx_array_part *p, hdx_error *err)
{
    reading       *r = context;
    array_state   *l = &r->workers[n];
    const uint64_t ends = 2 * r->c->part_count;
    uint64_t       done = 0;
    (void)err;
    if (p->absent)
        return HDX_OK;
    if (p->from == 0) {
        l->at = (hdx_sum){ { 0, 0 } };
        l->next = hdx_lower_bound(HDX_KEYS(r->ends, ends, array), p->id);
    }
    for (; l->next < ends && r->ends[l->next].array == p->id; l->next++) {
        const end     *e = &r->ends[l->next];
        const uint64_t at = 2 * e->at - p->from; /* bytes; ends are sorted, so none is before this piece */
        if (at > p->len)
            break;
        hdx_sum_add(&r->c->key, &l->at, 2, p->bytes + done, at - done);
        done = at;
        hdx_part_of *part = &r->c->parts[e->part / 2];
        if ((e->part & 1) == 0) {
            part->sum = l->at;
            continue;
        }
        part->sum = hdx_sum_between(&r->c->key, &part->sum, &l->at, part->units);
        hdx_sum_number(&r->c->key, &part->sum, (uint32_t)part->units);
        hdx_sum_number(&r->c->key, &part->sum, 5);
    }
    if (p->len > done)
        hdx_sum_add(&r->c->key, &l->at, 2, p->bytes + done, p->len - done);
    return HDX_OK;
}

static hdx_code gather_parts(reading *r, hdx_error *err)
{
    hdx_array_contents *c = r->c;
    hdx_mem            *mem = c->ask.q.mem;
    hdx_mem_put(mem, c->parts, c->part_capacity * sizeof *c->parts);
    c->parts = NULL;
    c->part_count = c->part_capacity = 0;
    for (unsigned i = 0; i < c->threads; i++)
        c->part_capacity += r->workers[i].parts.count;
    if (c->part_capacity == 0)
        return HDX_OK;
    if ((c->parts = hdx_mem_array(mem, c->part_capacity, sizeof *c->parts)) == NULL) {
        const uint64_t bytes = c->part_capacity * sizeof *c->parts;
        c->part_capacity = 0;
        return hdx_no_memory(err, "Strings that use a part of their array", bytes);
    }
    for (unsigned i = 0; i < c->threads; i++) {
        if (r->workers[i].parts.count > 0)
            memcpy(c->parts + c->part_count, r->workers[i].parts.at, r->workers[i].parts.count * sizeof *c->parts);
        c->part_count += r->workers[i].parts.count;
    }
    hdx_sort(mem, c->parts, c->part_count, sizeof *c->parts, offsetof(hdx_part_of, array), by_array);
    return HDX_OK;
}

static hdx_code sum_parts(reading *r, hdx_ticker *tick, hdx_error *err)
{
    hdx_array_contents *c = r->c;
    hdx_mem            *mem = c->ask.q.mem;
    const uint64_t      ends = 2 * c->part_count, words = hdx_bits_words(c->objects);
    uint64_t           *only = hdx_mem_array(mem, words, 8);
    hdx_code            code = HDX_OK;
    r->ends = hdx_mem_array(mem, ends, sizeof *r->ends);
    if (r->ends == NULL || only == NULL)
        code = hdx_no_memory(err, "ends of parts of arrays", ends * sizeof *r->ends);
    for (uint64_t i = 0; i < c->part_count && code == HDX_OK; i++) {
        r->ends[2 * i] = (end){ c->parts[i].array, c->parts[i].first, 2 * i };
        r->ends[2 * i + 1] = (end){ c->parts[i].array, c->parts[i].first + c->parts[i].units, 2 * i + 1 };
        hdx_bits_put(only, c->parts[i].array);
    }
    if (code == HDX_OK) {
        const hdx_contents_reader reader = {
            .context = r, .arrays = scope_of_arrays(c), .types = 1u << 5, .only = only, .part = see_ends
        };
        hdx_sort(mem, r->ends, ends, sizeof *r->ends, offsetof(end, array), by_end);
        code = hdx_graph_contents(c->ask.g, c->threads, &reader, mem, tick, err);
    }
    hdx_mem_put(mem, only, words * 8);
    hdx_mem_put(mem, r->ends, ends * sizeof *r->ends);
    r->ends = NULL;
    return code;
}

/* ---- reading ---- */

static void reset_results(hdx_array_contents *c)
{
    memset(&c->counts, 0, sizeof c->counts);
    if (c->places == 0)
        return;
    memset(c->strings, 0, (size_t)c->places * sizeof *c->strings);
    memset(c->first, 0xff, (size_t)c->places * sizeof *c->first);
    memset(c->flags, 0, (size_t)c->places);
}

static void add_counts(hdx_text_counts *to, const hdx_text_counts *more)
{
    to->strings += more->strings;
    to->absent += more->absent;
    to->unknown += more->unknown;
    to->none += more->none;
}

/* Without the dump all contents are absent, which is no error. */
static void all_absent(hdx_array_contents *c)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(c->ask.g, &count);
    reset_results(c);
    for (uint32_t i = 0; i < count; i++)
        if (hdx_class_of_strings(&classes[i])) {
            const uint64_t live = classes[i].live_instances, all = classes[i].instances;
            c->counts.strings += c->ask.q.scope == HDX_ALL ? all : c->ask.q.scope == HDX_LIVE ? live : all - live;
        }
    c->counts.absent = c->counts.strings;
    if (c->places > 0)
        memset(c->flags, HDX_ARRAY_ABSENT, (size_t)c->places);
}

hdx_code hdx_array_contents_read(hdx_array_contents *c, bool again, hdx_array_visit *visit, void *context,
                                 hdx_error *err)
{
    hdx_mem                  *mem = c->ask.q.mem;
    reading                   r = { .c = c, .visit = visit, .context = context, .again = again };
    const hdx_contents_reader reader = { .context = &r,
                                         .scope = c->ask.q.scope,
                                         .arrays = scope_of_arrays(c),
                                         .strings = !again,
                                         .types = c->types,
                                         .text = see_text,
                                         .part = see_part };
    hdx_ticker                tick;
    const uint64_t            bytes = hdx_graph_summary_of(c->ask.g)->dump_size;
    if ((r.workers = hdx_mem_array(mem, c->threads, sizeof *r.workers)) == NULL)
        return hdx_no_memory(err, "contents", c->threads * sizeof *r.workers);
    if (!again)
        reset_results(c);
    hdx_ticker_init(&tick, c->ask.q.progress, 1);
    hdx_ticker_step(&tick, "contents", bytes, "bytes");
    hdx_code code = hdx_graph_contents(c->ask.g, c->threads, &reader, mem, &tick, err);
    for (unsigned i = 0; i < c->threads; i++)
        add_counts(&c->counts, &r.workers[i].counts);
    if (code == HDX_OK && !again)
        code = gather_parts(&r, err);
    if (code == HDX_OK && !again && c->part_count > 0)
        code = sum_parts(&r, &tick, err);
    hdx_ticker_free(&tick);
    for (unsigned i = 0; i < c->threads; i++)
        hdx_list_free(mem, HDX_LIST_REF(&r.workers[i].parts));
    hdx_mem_put(mem, r.workers, c->threads * sizeof *r.workers);
    if (code != HDX_BAD_DUMP || !hdx_graph_lacks_dump(c->ask.g))
        return code;
    all_absent(c);
    return HDX_OK;
}
