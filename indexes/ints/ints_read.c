/*
 * ints_read.c - reads numbers from a mapped file: one by its key, or a run.
 *
 * A look-up reads the directory entry and the page: two cache misses if the blocks are verified.
 */
#include "base/clones.h"
#include "indexes/ints/ints.h"

#include <assert.h>

struct hdx_ints {
    hdx_container file;
    uint64_t      count;
    uint64_t      greatest; /* largest allowed value */
};

hdx_code hdx_ints_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                       uint64_t below, hdx_damage_note *note, hdx_ints **out, hdx_error *err)
{
    hdx_ints *ints = hdx_mem_get(place->mem, sizeof *ints);
    hdx_code  code;
    *out = NULL;
    if (ints == NULL)
        return hdx_no_memory(err, "an index handle", sizeof *ints);
    if ((code = hdx_container_open(&ints->file, place, kind, file, 2, note, err)) != HDX_OK) {
        hdx_mem_put(place->mem, ints, sizeof *ints);
        return code;
    }
    ints->count = count;
    ints->greatest = below - 1; /* below 0: no bound */
    if (ints->file.counts[0] != count || !hdx_slices_fit(&ints->file, 0, count, HDX_SHAPE)) {
        code = hdx_container_damaged(&ints->file, err, "the number of values differs from the manifest");
        hdx_ints_close(ints);
        return code;
    }
    *out = ints;
    return HDX_OK;
}

void hdx_ints_close(hdx_ints *ints)
{
    if (ints == NULL)
        return;
    hdx_mem *mem = ints->file.mem;
    hdx_container_close(&ints->file);
    hdx_mem_put(mem, ints, sizeof *ints);
}

void hdx_ints_forget(const hdx_ints *ints)
{
    ints->file.io->forget(ints->file.io, ints->file.map, ints->file.map_bytes);
}

static uint64_t bad(const hdx_ints *ints, uint64_t page, const char *what)
{
    hdx_container_note(&ints->file, 0, page * HDX_ENTRY, what);
    return 0;
}

static unsigned page_count(const hdx_ints *ints, uint64_t page)
{
    assert(page * HDX_PAGE < ints->count); /* keys were compared with the count before */
    return ints->count - page * HDX_PAGE < HDX_PAGE ? (unsigned)(ints->count - page * HDX_PAGE) : HDX_PAGE;
}

/*
 * A field of all ones in a window: returns the exception for it or, with fields of no bits, perhaps the value itself.
 */
static bool exception(const hdx_page *p, unsigned count, unsigned k, unsigned w, unsigned shift, uint64_t *value)
{
    hdx_page_window_tail tail;
    if (!hdx_page_window_tail_of(p->at, p->len, count, w, p->second >> 53 & 255, &tail))
        return false;
    const uint8_t *place = memchr(tail.places, (int)k, tail.exceptions);
    if (place == NULL) {
        *value = p->first;
        return w == 0;
    }
    uint64_t low = hdx_pack_get(tail.values, 0, tail.w),
             odd = hdx_pack_get(tail.values, (uint64_t)(place - tail.places) + 1, tail.w);
    *value = p->first + ((odd - low) << shift);
    return true;
}

/* Masks of fields by width; 0 for unknown widths, and for width 0. */
static const uint64_t masks[128] = {
#define M(w) [w] = UINT64_MAX >> (64 - (w))
    M(1),  M(2),  M(3),  M(4),  M(5),  M(6),  M(7),  M(8),  M(9),  M(10), M(11), M(12), M(13), M(14), M(15),
    M(16), M(17), M(18), M(19), M(20), M(21), M(22), M(23), M(24), M(25), M(26), M(27), M(28), M(29), M(30),
    M(31), M(32), M(33), M(34), M(35), M(36), M(37), M(38), M(39), M(40), M(41), M(42), M(43), M(44), M(45),
    M(46), M(47), M(48), M(49), M(50), M(51), M(52), M(53), M(54), M(55), M(56), M(64),
#undef M
};

/* Checks everything and reports damage. */
static uint64_t get_carefully(const hdx_ints *ints, uint64_t i)
{
    uint64_t page = i / HDX_PAGE, value;
    unsigned k = i % HDX_PAGE;
    hdx_page p;
    if (i >= ints->count)
        return bad(ints, 0, "key out of range: two files of the index disagree");
    if (!hdx_page_find(&ints->file, 0, page, &p))
        return 0;
    unsigned      w = p.second >> 40 & 127, form = (unsigned)(p.second >> 61);
    hdx_ints_line l = hdx_ints_line_of(p.first, p.second);
    if (!hdx_pack_known(w) || form >= HDX_INTS_FORMS)
        return bad(ints, page, "a page has an unknown form");
    if (hdx_pack_bytes(k + 1u, w) > p.len)
        return bad(ints, page, "a page is too short for its values");
    uint64_t field = w == 0 ? 0 : hdx_pack_get(p.at, k, w);
    value = l.base + (field << l.shift) + (l.slope * k >> 16);
    if (form == HDX_INTS_WINDOW && field == hdx_pack_mask(w) &&
        !exception(&p, page_count(ints, page), k, w, (unsigned)l.shift, &value))
        return bad(ints, page, "a page contradicts itself");
    if (value > ints->greatest)
        return bad(ints, page, "a value exceeds its bound");
    return value;
}

/*
 * Takes few instructions, and branches only on conditions that nearly always have the same result in a file: a
 * misprediction would cost the whole wait for the page, while the processor runs independent look-ups at the same
 * time. A field of no bits is read from the entry, whose line is in the cache. All other cases (unverified
 * blocks, exceptions, damage) are read again with all checks.
 */
uint64_t hdx_ints_get(const hdx_ints *ints, uint64_t i)
{
    const hdx_section *directory = &ints->file.section[0], *pages = directory + 1;
    if (__builtin_expect((i >= ints->count) | !hdx_proved(directory) | !hdx_proved(pages), 0))
        return get_carefully(ints, i);
    const uint8_t *entry = directory->at + i / HDX_PAGE * HDX_ENTRY;
    const uint64_t first = hdx_le64(entry), second = hdx_le64(entry + 8), low = (1ull << HDX_OFFSET_BITS) - 1;
    const uint64_t k = i % HDX_PAGE, w = second >> 40 & 127, bit = k * w, mask = masks[w], form = second >> 61;
    const uint64_t offset = second & low, end = hdx_le64(entry + 24) & low;
    if (__builtin_expect((offset + ((bit + w + 7) >> 3) > end) | (end > pages->bytes) | ((mask == 0) & (w != 0)), 0))
        return get_carefully(ints, i);
    const uint64_t to_field = (uint64_t)(pages->at - entry) + offset + (bit >> 3);
    const uint64_t field = hdx_le64(entry + (to_field & (0 - (uint64_t)(w != 0)))) >> (bit & 7) & mask;
    uint64_t       value = first + (field << (second >> 47 & 63));
    bool           plain = (form == HDX_INTS_PLAIN) | ((form == HDX_INTS_WINDOW) & (field != mask));
    if (form == HDX_INTS_LINEAR) {
        const hdx_ints_line l = hdx_ints_line_of(first, second);
        value = l.base + (l.slope * k >> 16) + field;
        plain = true;
    }
    return __builtin_expect(plain & (value <= ints->greatest), 1) ? value : get_carefully(ints, i);
}

void hdx_ints_ahead(const hdx_ints *ints, const uint64_t *keys, size_t n, size_t i, hdx_pace pace)
{
    const uint8_t *entries = ints->file.section[0].at;
    for (hdx_round r = hdx_round_of(n, i, pace, 2); r.at < r.end; r.at++)
        hdx_page_fetch_entry(&ints->file, 0, keys[r.at] / HDX_PAGE);
    for (hdx_round r = hdx_round_of(n, i, pace, 1); r.at < r.end; r.at++) {
        const uint64_t key = keys[r.at],
                       second = key < ints->count ? hdx_le64(entries + key / HDX_PAGE * HDX_ENTRY + 8) : 0;
        hdx_fetch(&ints->file, 1,
                  (second & ((1ull << HDX_OFFSET_BITS) - 1)) + (key % HDX_PAGE * (second >> 40 & 127) >> 3));
    }
}

HDX_CLONES void hdx_ints_read(const hdx_ints *ints, uint64_t first, uint32_t n, uint64_t *out)
{
    if (first > ints->count || n > ints->count - first) {
        memset(out, 0, n * sizeof *out);
        (void)bad(ints, 0, "key out of range: two files of the index disagree");
        return;
    }
    while (n > 0) {
        uint64_t page = first / HDX_PAGE, greatest = 0;
        unsigned k = first % HDX_PAGE, part = HDX_PAGE - k < n ? HDX_PAGE - k : n;
        hdx_page p;
        bool     fine = hdx_page_find(&ints->file, 0, page, &p);
        if (fine && !(fine = hdx_ints_decode(&p, page_count(ints, page), k, part, out)))
            (void)bad(ints, page, "a page contradicts itself");
        if (fine) {
            for (unsigned i = 0; i < part; i++)
                greatest = out[i] > greatest ? out[i] : greatest;
            if (!(fine = greatest <= ints->greatest))
                (void)bad(ints, page, "a value exceeds its bound");
        }
        if (!fine)
            memset(out, 0, part * sizeof *out);
        first += part;
        out += part;
        n -= part;
    }
}
