/*
 * ints_read.c - numbers out of a mapped file: one by its key, or a run.
 *
 * A get is a look at the directory entry and one at the page: two cache misses where the blocks were checked before.
 */
#include "indexes/ints/ints.h"

struct hdx_ints {
    hdx_container file;
    uint64_t      count;
    uint64_t      greatest; /* allowed value */
};

hdx_code hdx_ints_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count, uint64_t below,
                       hdx_damage_note *note, hdx_ints **out, hdx_error *err)
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
    if (ints->file.counts[0] != count || !hdx_slices_fit(&ints->file, 0, count)) {
        code = hdx_container_damaged(&ints->file, err, "the number of values is not the manifest's");
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

void hdx_ints_forget(const hdx_ints *ints) { ints->file.io->forget(ints->file.io, ints->file.map, ints->file.map_bytes); }

static uint64_t bad(const hdx_ints *ints, uint64_t page, const char *what)
{
    hdx_container_note(&ints->file, 0, page * HDX_ENTRY, what);
    return 0;
}

static unsigned page_count(const hdx_ints *ints, uint64_t page)
{
    return ints->count - page * HDX_PAGE < HDX_PAGE ? (unsigned)(ints->count - page * HDX_PAGE) : HDX_PAGE;
}

/* A field of all ones in a window: the exception that stands for it, or with fields of no bits perhaps the value itself. */
static bool exception(const hdx_page *p, unsigned count, unsigned k, unsigned w, unsigned shift, uint64_t *value)
{
    hdx_window_tail tail;
    if (!hdx_window_tail_of(p->at, p->len, count, w, p->second >> 53 & 255, &tail))
        return false;
    const uint8_t *place = memchr(tail.places, (int)k, tail.exceptions);
    if (place == NULL) {
        *value = p->first;
        return w == 0;
    }
    uint64_t low = hdx_pack_get(tail.values, 0, tail.w), odd = hdx_pack_get(tail.values, (uint64_t)(place - tail.places) + 1, tail.w);
    *value = p->first + ((odd - low) << shift);
    return true;
}

/*
 * One computation for all forms, without a branch between them: a wrong guess would cost the whole wait for the page, some 200 ns, while
 * look-ups that do not wait for each other overlap theirs. A field of no bits is read from the entry, whose line is there.
 */
uint64_t hdx_ints_get(const hdx_ints *ints, uint64_t i)
{
    uint64_t page = i / HDX_PAGE, value;
    unsigned k = i % HDX_PAGE;
    hdx_page p;
    if (i >= ints->count)
        return bad(ints, 0, "asked for a key beyond the last: two files of the index disagree");
    if (!hdx_page_find(&ints->file, 0, page, &p))
        return 0;
    unsigned      w = p.second >> 40 & 127, form = (unsigned)(p.second >> 61);
    hdx_ints_line l = hdx_ints_line_of(p.first, p.second);
    if (!hdx_pack_known(w) || form >= HDX_INTS_FORMS)
        return bad(ints, page, "a page of no known form");
    if (hdx_pack_bytes(k + 1u, w) > p.len)
        return bad(ints, page, "a page is too short for its values");
    const uint8_t *entry = ints->file.section[0].at + page * HDX_ENTRY;
    uint64_t       bit = (uint64_t)k * w, mask = hdx_pack_mask(w);
    uint64_t       field = hdx_le64(entry + ((p.at + (bit >> 3) - entry) & -(int64_t)(w != 0))) >> (bit & 7) & mask;
    value = l.base + (field << l.shift) + (l.slope * k >> 16);
    if (form == HDX_INTS_WINDOW && field == mask && !exception(&p, page_count(ints, page), k, w, (unsigned)l.shift, &value))
        return bad(ints, page, "a page contradicts itself");
    if (value > ints->greatest)
        return bad(ints, page, "a value beyond its bound");
    return value;
}

void hdx_ints_ahead(const hdx_ints *ints, const uint64_t *keys, unsigned n)
{
    hdx_page p;
    for (unsigned i = 0; i < n; i++)
        hdx_page_fetch_entry(&ints->file, 0, keys[i] / HDX_PAGE);
    for (unsigned i = 0; i < n; i++)
        if (hdx_page_peek(&ints->file, 0, keys[i] / HDX_PAGE, &p)) {
            uint64_t at = keys[i] % HDX_PAGE * (p.second >> 40 & 127) >> 3;
            __builtin_prefetch(p.at + (at < p.len ? at : 0));
        }
}

void hdx_ints_read(const hdx_ints *ints, uint64_t first, uint32_t n, uint64_t *out)
{
    if (first > ints->count || n > ints->count - first) {
        memset(out, 0, n * sizeof *out);
        (void)bad(ints, 0, "asked for a key beyond the last: two files of the index disagree");
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
                (void)bad(ints, page, "a value beyond its bound");
        }
        if (!fine)
            memset(out, 0, part * sizeof *out);
        first += part;
        out += part;
        n -= part;
    }
}
