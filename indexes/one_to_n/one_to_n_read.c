/*
 * one_to_n_read.c - lists out of a mapped file: the range of a key, one value, a run of values of a key; lengths and first values of
 * runs of keys.
 */
#include "indexes/one_to_n/one_to_n.h"

enum { OFFSETS = 0, VALUES = 2 }; /* sections of the two directories */

struct hdx_one_to_n {
    hdx_container file;
    uint64_t      keys, values;
    uint64_t      greatest; /* allowed value */
};

hdx_code hdx_one_to_n_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t keys, uint64_t below,
                           hdx_damage_note *note, hdx_one_to_n **out, hdx_error *err)
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
    if (lists->file.counts[0] != keys || !hdx_slices_fit(&lists->file, OFFSETS, keys) || !hdx_slices_fit(&lists->file, VALUES, lists->values)) {
        code = hdx_container_damaged(&lists->file, err, "the number of lists is not the manifest's");
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

void hdx_one_to_n_forget(const hdx_one_to_n *lists) { lists->file.io->forget(lists->file.io, lists->file.map, lists->file.map_bytes); }

uint64_t hdx_one_to_n_values(const hdx_one_to_n *lists) { return lists->values; }

static bool bad(const hdx_one_to_n *lists, unsigned directory, uint64_t page, const char *what)
{
    hdx_container_note(&lists->file, directory, page * HDX_ENTRY, what);
    return false;
}

static unsigned page_count(uint64_t all, uint64_t page)
{
    return all - page * HDX_PAGE < HDX_PAGE ? (unsigned)(all - page * HDX_PAGE) : HDX_PAGE;
}

/* Where the values of key number k of this page begin, as if all its lists were equally long; `values` of the file: nowhere. */
static uint64_t guess_of(const hdx_one_to_n *lists, const hdx_page *p, uint64_t k)
{
    uint64_t many = p->next - p->first;
    if (p->first > lists->values || many > lists->values - p->first)
        return lists->values;
    return p->first + many / HDX_PAGE * k + many % HDX_PAGE * k / HDX_PAGE;
}

static void fetch_values(const hdx_one_to_n *lists, uint64_t guess)
{
    hdx_page p;
    if (guess < lists->values && hdx_page_peek(&lists->file, VALUES, guess / HDX_PAGE, &p))
        hdx_values_fetch(&p, page_count(lists->values, guess / HDX_PAGE), guess % HDX_PAGE);
}

/*
 * Rounds: the entry of the offsets; their page, and the entry of the values; the page of the values. Where a list begins is not decoded for
 * that but guessed, as if all lists of the page were equally long: that is some values off, seldom more than the lines asked
 * for, and a wrong guess costs only the wait that it should have saved.
 */
void hdx_one_to_n_ahead(const hdx_one_to_n *lists, const uint64_t *keys, size_t n, unsigned round)
{
    hdx_page p;
    for (size_t i = 0; i < n; i++) {
        const uint64_t page = keys[i] / HDX_PAGE;
        if (round == 0) {
            hdx_page_fetch_entry(&lists->file, OFFSETS, page);
            continue;
        }
        if (keys[i] >= lists->keys || !hdx_page_peek(&lists->file, OFFSETS, page, &p))
            continue;
        const uint64_t guess = guess_of(lists, &p, keys[i] % HDX_PAGE);
        if (round == 1) {
            hdx_page_fetch_entry(&lists->file, VALUES, guess / HDX_PAGE);
            __builtin_prefetch(p.at); /* most have 30 to 110 bytes; no loop, whose end could not be guessed */
            __builtin_prefetch(p.at + (p.len > 64 ? 64 : 0));
            __builtin_prefetch(p.at + (p.len > 0 ? (p.len - 1 < 128 ? p.len - 1 : 128) : 0));
        } else {
            fetch_values(lists, guess);
        }
    }
}

void hdx_one_to_n_list(const hdx_one_to_n *lists, uint64_t key, uint64_t *first, uint64_t *length)
{
    uint64_t page = key / HDX_PAGE, from, to;
    hdx_page p;
    *first = *length = 0;
    if (key >= lists->keys) {
        (void)bad(lists, OFFSETS, 0, "asked for a list beyond the last: two files of the index disagree");
        return;
    }
    if (!hdx_page_find(&lists->file, OFFSETS, page, &p))
        return;
    if (!hdx_offsets_find(&p, page_count(lists->keys, page), key % HDX_PAGE, &from, &to) || from > to || p.first > lists->values ||
        to > lists->values - p.first) {
        (void)bad(lists, OFFSETS, page, "a page of offsets contradicts itself");
        return;
    }
    *first = p.first + from;
    *length = to - from;
}

static bool read_run(const hdx_one_to_n *lists, uint64_t page, uint64_t key, unsigned k, unsigned n, uint64_t *out)
{
    hdx_page p;
    uint64_t greatest = 0;
    if (!hdx_page_find(&lists->file, VALUES, page, &p))
        return false;
    if (!hdx_values_decode(&p, page_count(lists->values, page), key, k, n, out))
        return bad(lists, VALUES, page, "a page of values contradicts itself");
    for (unsigned i = 0; i < n; i++)
        greatest = out[i] > greatest ? out[i] : greatest;
    return greatest <= lists->greatest || bad(lists, VALUES, page, "a value beyond its bound");
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
        (void)bad(lists, VALUES, 0, "asked for a value beyond the last: two files of the index disagree");
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

/* Lengths of the lists of keys that lie in one page of offsets; where the first of them begins. False: noted, and all are empty. */
static bool read_degrees(const hdx_one_to_n *lists, uint64_t key, unsigned n, uint64_t *begin, uint64_t *degrees)
{
    uint64_t page = key / HDX_PAGE, before, at;
    hdx_page p;
    bool     fine = false;
    if (hdx_page_find(&lists->file, OFFSETS, page, &p)) {
        fine = hdx_offsets_decode(&p, page_count(lists->keys, page), key % HDX_PAGE, n, &before, degrees) && p.first <= lists->values &&
               before <= lists->values - p.first;
        at = *begin = fine ? p.first + before : 0;
        for (unsigned i = 0; i < n && fine; i++) {
            fine = degrees[i] <= lists->values - at;
            at += degrees[i];
        }
        if (!fine)
            (void)bad(lists, OFFSETS, page, "a page of offsets contradicts itself");
    }
    if (!fine)
        memset(degrees, 0, n * sizeof *degrees);
    return fine;
}

/* First values of those keys' lists. All values of short lists are decoded on the way: cheaper than to pick. */
static void read_firsts(const hdx_one_to_n *lists, uint64_t key, unsigned n, uint64_t at, const uint64_t *degrees, uint64_t *values)
{
    uint64_t keys[HDX_PAGE], decoded[HDX_PAGE];
    uint16_t place[HDX_PAGE]; /* of a key's first value among the decoded */
    for (unsigned i = 0, end; i < n; i = end) {
        const uint64_t page = at / HDX_PAGE;
        const unsigned k = at % HDX_PAGE;
        unsigned       m = 0;
        uint64_t       greatest = 0;
        hdx_page       p;
        for (end = i; end < n && at / HDX_PAGE == page; at += degrees[end++]) {
            unsigned take = degrees[end] <= HDX_PAGE - k - m ? (unsigned)degrees[end] : 1; /* the last: of a longer one its first will do */
            place[end] = (uint16_t)m;
            for (unsigned t = 0; t < take; t++)
                keys[m++] = key + end;
        }
        bool fine = m == 0 || hdx_page_find(&lists->file, VALUES, page, &p);
        if (fine && m > 0 && !(fine = hdx_values_decode_all(&p, page_count(lists->values, page), keys, k, m, decoded)))
            (void)bad(lists, VALUES, page, "a page of values contradicts itself");
        for (unsigned j = i; j < end; j++) {
            values[j] = fine && degrees[j] > 0 ? decoded[place[j]] : 0;
            greatest = values[j] > greatest ? values[j] : greatest;
        }
        if (greatest > lists->greatest) {
            (void)bad(lists, VALUES, page, "a value beyond its bound");
            memset(values + i, 0, (end - i) * sizeof *values);
        }
    }
}

static void read_keys(const hdx_one_to_n *lists, uint64_t key, uint32_t n, uint64_t *degrees, uint64_t *values)
{
    if (key > lists->keys || n > lists->keys - key) {
        memset(degrees, 0, n * sizeof *degrees);
        if (values != NULL)
            memset(values, 0, n * sizeof *values);
        (void)bad(lists, OFFSETS, 0, "asked for a list beyond the last: two files of the index disagree");
        return;
    }
    for (uint32_t done = 0, part; done < n; done += part) {
        unsigned room = HDX_PAGE - (unsigned)((key + done) % HDX_PAGE);
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
