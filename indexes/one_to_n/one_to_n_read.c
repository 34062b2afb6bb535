/*
 * one_to_n_read.c - reads lists from a mapped file: the range of a key, one value, a run of values of a key; lengths
 * and first values of runs of keys.
 */
#include "indexes/one_to_n/one_to_n.h"

#include <assert.h>

enum { OFFSETS = 0, FAR = 1, VALUES = 2 }; /* sections: lines, what does not fit in them, directory of the values */

struct hdx_one_to_n {
    hdx_container file;
    uint64_t      keys, values;
    uint64_t      greatest; /* largest allowed value */
};

hdx_code hdx_one_to_n_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t keys,
                           uint64_t below, hdx_damage_note *note, hdx_one_to_n **out, hdx_error *err)
{
    hdx_one_to_n *lists = hdx_mem_get(place->mem, sizeof *lists);
    hdx_code      code;
    *out = NULL;
    if (lists == NULL)
        return hdx_no_memory(err, "an index handle", sizeof *lists);
    if ((code = hdx_container_open(&lists->file, place, kind, file, 4, note, err)) != HDX_OK) {
        hdx_mem_put(place->mem, lists, sizeof *lists);
        return code;
    }
    lists->keys = keys;
    lists->values = lists->file.counts[1];
    lists->greatest = below - 1; /* below 0: no bound */
    if (lists->file.counts[0] != keys || !hdx_slices_fit(&lists->file, OFFSETS, keys, HDX_LINES) ||
        !hdx_slices_fit(&lists->file, VALUES, lists->values, HDX_SHAPE)) {
        code = hdx_container_damaged(&lists->file, err, "the number of lists differs from the manifest");
        hdx_one_to_n_close(lists);
        return code;
    }
    *out = lists;
    return HDX_OK;
}

void hdx_one_to_n_close(hdx_one_to_n *lists)
{
    if (lists == NULL)
        return;
    hdx_mem *mem = lists->file.mem;
    hdx_container_close(&lists->file);
    hdx_mem_put(mem, lists, sizeof *lists);
}

void hdx_one_to_n_forget(const hdx_one_to_n *lists)
{
    lists->file.io->forget(lists->file.io, lists->file.map, lists->file.map_bytes);
}

uint64_t hdx_one_to_n_values(const hdx_one_to_n *lists) { return lists->values; }

static bool bad_line(const hdx_one_to_n *lists, uint64_t key, const char *what)
{
    hdx_container_note(&lists->file, OFFSETS, key / HDX_LINE_KEYS * HDX_LINE, what);
    return false;
}
static bool bad(const hdx_one_to_n *lists, uint64_t page, const char *what)
{
    hdx_container_note(&lists->file, VALUES, page * HDX_ENTRY, what);
    return false;
}

static unsigned page_count(uint64_t all, uint64_t page)
{
    assert(page * HDX_PAGE < all); /* values were compared with their number before */
    return all - page * HDX_PAGE < HDX_PAGE ? (unsigned)(all - page * HDX_PAGE) : HDX_PAGE;
}

/* Returns the line of an existing key unchecked, with its sums in section 1 only if those are in the file. */
static inline hdx_offsets line_of(const hdx_one_to_n *lists, uint64_t key)
{
    const hdx_section *s = &lists->file.section[OFFSETS];
    const uint8_t     *at = s->at + key / HDX_LINE_KEYS * HDX_LINE;
    hdx_offsets        o = { .head = hdx_le64(at), .line = at };
    if (__builtin_expect(hdx_offsets_are_far(&o), 0)) {
        const uint64_t word = hdx_le64(at + 8), place = word & ((1ull << HDX_OFFSET_BITS) - 1),
                       bytes = word >> HDX_OFFSET_BITS;
        if (bytes > 0 && bytes <= HDX_PAGE_BYTES && place <= s[FAR].bytes && bytes <= s[FAR].bytes - place) {
            o.page = s[FAR].at + place;
            o.page_bytes = (uint32_t)bytes;
        }
    }
    return o;
}

/* Finds the line of this key, and its sums. False: it cannot be used, which is noted. */
static inline bool find_line(const hdx_one_to_n *lists, uint64_t key, hdx_offsets *o)
{
    const hdx_section *s = &lists->file.section[OFFSETS];
    if (!hdx_proved(s) && !hdx_touch(&lists->file, OFFSETS, key / HDX_LINE_KEYS * HDX_LINE, HDX_LINE))
        return false;
    *o = line_of(lists, key);
    return o->page == NULL || hdx_touch(&lists->file, FAR, (uint64_t)(o->page - s[FAR].at), o->page_bytes);
}

/* Rounds: the line; the entry of the values; their page. Sums of long lists are few bytes, which stay in a cache. */
void hdx_one_to_n_ahead(const hdx_one_to_n *lists, const uint64_t *keys, size_t n, size_t i, hdx_pace pace)
{
    for (hdx_round r = hdx_round_of(n, i, pace, 3); r.at < r.end; r.at++)
        hdx_fetch(&lists->file, OFFSETS, keys[r.at] / HDX_LINE_KEYS * HDX_LINE);
    for (unsigned before = 2; before > 0; before--)
        for (hdx_round r = hdx_round_of(n, i, pace, before); r.at < r.end; r.at++) {
            uint64_t from, to;
            hdx_page p;
            if (keys[r.at] >= lists->keys)
                continue;
            const hdx_offsets o = line_of(lists, keys[r.at]);
            if (!hdx_offsets_find(&o, keys[r.at] % HDX_LINE_KEYS, &from, &to))
                continue;
            from += hdx_offsets_first(&o);
            if (before == 2)
                hdx_page_fetch_entry(&lists->file, VALUES, from / HDX_PAGE);
            else if (from < lists->values && hdx_page_peek(&lists->file, VALUES, from / HDX_PAGE, &p))
                hdx_values_fetch(&p, from % HDX_PAGE);
        }
}

void hdx_one_to_n_list(const hdx_one_to_n *lists, uint64_t key, uint64_t *first, uint64_t *length)
{
    uint64_t    from, to, before;
    hdx_offsets o;
    *first = *length = 0;
    if (key >= lists->keys) {
        (void)bad_line(lists, 0, "list out of range: two files of the index disagree");
        return;
    }
    if (!find_line(lists, key, &o))
        return;
    before = hdx_offsets_first(&o);
    if (!hdx_offsets_find(&o, key % HDX_LINE_KEYS, &from, &to) || from > to || before > lists->values ||
        to > lists->values - before) {
        (void)bad_line(lists, key, "a line of offsets contradicts itself");
        return;
    }
    *first = before + from;
    *length = to - from;
    assert(*first <= lists->values && *length <= lists->values - *first); /* callers rely on it */
}

static bool read_run(const hdx_one_to_n *lists, uint64_t page, uint64_t key, unsigned k, unsigned n, uint64_t *out)
{
    hdx_page p;
    uint64_t greatest;
    if (!hdx_page_find(&lists->file, VALUES, page, &p))
        return false;
    if (!hdx_values_decode(&p, page_count(lists->values, page), key, k, n, out, &greatest))
        return bad(lists, page, "a page of values contradicts itself");
    return greatest <= lists->greatest || bad(lists, page, "a value exceeds its bound");
}

uint64_t hdx_one_to_n_get(const hdx_one_to_n *lists, uint64_t key, uint64_t i)
{
    uint64_t value;
    hdx_one_to_n_read(lists, key, i, 1, &value);
    return value;
}

void hdx_one_to_n_read(const hdx_one_to_n *lists, uint64_t key, uint64_t first, uint32_t n, uint64_t *out)
{
    if (first > lists->values || n > lists->values - first) {
        memset(out, 0, n * sizeof *out);
        (void)bad(lists, 0, "value out of range: two files of the index disagree");
        return;
    }
    while (n > 0) {
        unsigned k = first % HDX_PAGE, part = HDX_PAGE - k < n ? HDX_PAGE - k : n;
        if (!read_run(lists, first / HDX_PAGE, key, k, part, out))
            memset(out, 0, part * sizeof *out);
        first += part;
        out += part;
        n -= part;
    }
}

/* Returns lengths of the lists of keys of one line, and the beginning of the first. False: noted, and all are empty. */
static bool read_degrees(const hdx_one_to_n *lists, uint64_t key, unsigned n, uint64_t *begin, uint64_t *degrees)
{
    uint64_t    before, at, first;
    hdx_offsets o;
    bool        fine = false;
    if (find_line(lists, key, &o)) {
        first = hdx_offsets_first(&o);
        fine = hdx_offsets_decode(&o, key % HDX_LINE_KEYS, n, &before, degrees) && first <= lists->values &&
               before <= lists->values - first;
        at = *begin = fine ? first + before : 0;
        for (unsigned i = 0; i < n && fine; i++) {
            fine = degrees[i] <= lists->values - at;
            at += degrees[i];
        }
        if (!fine)
            (void)bad_line(lists, key, "a line of offsets contradicts itself");
    }
    if (!fine)
        memset(degrees, 0, n * sizeof *degrees);
    return fine;
}

/*
 * Returns the first values of those keys' lists. All values of short lists are decoded on the way, which is faster than
 * selecting.
 */
static void read_firsts(const hdx_one_to_n *lists, uint64_t key, unsigned n, uint64_t at, const uint64_t *degrees,
                        uint64_t *values)
{
    uint64_t keys[HDX_PAGE], decoded[HDX_PAGE];
    uint16_t place[HDX_PAGE]; /* of a key's first value among the decoded ones */
    for (unsigned i = 0, end; i < n; i = end) {
        const uint64_t page = at / HDX_PAGE;
        const unsigned k = at % HDX_PAGE;
        unsigned       m = 0;
        uint64_t       greatest = 0;
        hdx_page       p;
        for (end = i; end < n && at / HDX_PAGE == page; at += degrees[end++]) {
            unsigned take = degrees[end] <= HDX_PAGE - k - m ? (unsigned)degrees[end]
                                                             : 1; /* of a longer list the first is enough */
            place[end] = (uint16_t)m;
            for (unsigned t = 0; t < take; t++)
                keys[m++] = key + end;
        }
        assert(m <= HDX_PAGE - k && end > i);
        bool fine = m == 0 || hdx_page_find(&lists->file, VALUES, page, &p);
        if (fine && m > 0 &&
            !(fine = hdx_values_decode_all(&p, page_count(lists->values, page), keys, k, m, decoded, &greatest)))
            (void)bad(lists, page, "a page of values contradicts itself");
        if (fine && !(fine = greatest <= lists->greatest))
            (void)bad(lists, page, "a value exceeds its bound");
        for (unsigned j = i; j < end; j++)
            values[j] = fine && degrees[j] > 0 ? decoded[place[j]] : 0;
    }
}

static void read_keys(const hdx_one_to_n *lists, uint64_t key, uint32_t n, uint64_t *degrees, uint64_t *values)
{
    if (key > lists->keys || n > lists->keys - key) {
        memset(degrees, 0, n * sizeof *degrees);
        if (values != NULL)
            memset(values, 0, n * sizeof *values);
        (void)bad_line(lists, 0, "list out of range: two files of the index disagree");
        return;
    }
    for (uint32_t done = 0, part; done < n; done += part) {
        unsigned room = HDX_LINE_KEYS - (unsigned)((key + done) % HDX_LINE_KEYS);
        uint64_t begin = 0;
        part = n - done < room ? n - done : room;
        (void)read_degrees(lists, key + done, part, &begin, degrees + done);
        if (values != NULL)
            read_firsts(lists, key + done, part, begin, degrees + done, values + done);
    }
}

void hdx_one_to_n_degrees(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees)
{
    read_keys(lists, first_key, n, degrees, NULL);
}

void hdx_one_to_n_firsts(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees, uint64_t *values)
{
    read_keys(lists, first_key, n, degrees, values);
}

/* Returns the key of each value of a run, some at a time: the list of the next value, and how many it has left. */
typedef struct owners {
    const uint64_t *degrees;
    uint64_t        key, left;
    uint32_t        i, n;
} owners;

static void next_owners(owners *o, unsigned n, uint64_t *keys)
{
    for (unsigned k = 0; k < n;) {
        while (o->left == 0 && o->i + 1 < o->n)
            o->left = o->degrees[++o->i];
        const unsigned part = o->left < n - k ? (unsigned)o->left : n - k;
        for (unsigned t = 0; t < part; t++)
            keys[k + t] = o->key + o->i;
        o->left -= part;
        k += part;
        assert(part > 0); /* there are as many values as the sum of degrees */
    }
}

void hdx_one_to_n_run(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, const uint64_t *degrees, uint64_t *out)
{
    uint64_t at = 0, length = 0, all = 0, keys[HDX_PAGE];
    for (uint32_t i = 0; i < n; i++)
        all += degrees[i];
    if (all == 0)
        return;
    owners o = { .degrees = degrees, .key = first_key, .left = degrees[0], .n = n };
    hdx_one_to_n_list(lists, first_key, &at, &length);
    if (length != degrees[0] || all > lists->values - at) { /* noted, or a line changed after the degrees were read */
        memset(out, 0, all * sizeof *out);
        (void)bad_line(lists, first_key, "a line of offsets contradicts itself");
        return;
    }
    for (uint64_t done = 0; done < all;) {
        const uint64_t page = at / HDX_PAGE, left = all - done;
        const unsigned k = at % HDX_PAGE, part = left < HDX_PAGE - k ? (unsigned)left : HDX_PAGE - k;
        uint64_t       greatest = 0;
        hdx_page       p;
        next_owners(&o, part, keys);
        bool fine = hdx_page_find(&lists->file, VALUES, page, &p);
        if (fine &&
            !(fine = hdx_values_decode_all(&p, page_count(lists->values, page), keys, k, part, out + done, &greatest)))
            (void)bad(lists, page, "a page of values contradicts itself");
        if (fine && !(fine = greatest <= lists->greatest))
            (void)bad(lists, page, "a value exceeds its bound");
        if (!fine)
            memset(out + done, 0, part * sizeof *out);
        done += part;
        at += part;
    }
}
