/*
 * ranks.c - a set of ids with ranks: membership, number of members before an id, and the member with a given rank.
 *
 * Lines of 64 bytes: the number of members before the line, then 448 bits. A find needs one cache line. A sample of the
 * line of every 512th member bounds the search for the member of a rank. README.md documents the bytes.
 */
#include "indexes/container/container.h"
#include "indexes/ints/pack.h"

#include <assert.h>

#define LINE      64u
#define LINE_BITS 448u
#define SAMPLE    512u /* members */

enum { LINES = 0, SAMPLES = 1 };

struct hdx_ranks {
    hdx_container file;
    uint64_t      size, count, lines;
};

static uint64_t lines_of(uint64_t size) { return size / LINE_BITS + (size % LINE_BITS != 0); }
static uint64_t samples_of(uint64_t count) { return count / SAMPLE + (count % SAMPLE != 0); }

/* Returns 64 bits from bit `at` on; bits at `size` and beyond are 0, whatever the caller's last word contains. */
static uint64_t word_at(const uint64_t *words, uint64_t size, uint64_t at)
{
    if (at >= size)
        return 0;
    uint64_t x = words[at >> 6]; /* 448 is a multiple of 64, so words are not split */
    return size - at >= 64 ? x : x & hdx_pack_mask((unsigned)(size - at));
}

hdx_code hdx_ranks_write(const hdx_index_place *place, hdx_kind kind, uint64_t size, const uint64_t *words,
                         hdx_index_file *out, hdx_error *err)
{
    hdx_container_writer w;
    uint64_t             lines = lines_of(size), count = 0, rank = 0, next_sample = 0, counts[3];
    uint8_t              line[LINE], number[8];
    hdx_code             code;
    for (uint64_t at = 0; at < size; at += 64)
        count += (uint64_t)__builtin_popcountll(word_at(words, size, at));
    counts[0] = size, counts[1] = count, counts[2] = 0;
    if ((code = hdx_container_create(&w, place, kind, counts, err)) != HDX_OK ||
        (code = hdx_container_section(&w, lines * LINE, err)) != HDX_OK ||
        (code = hdx_container_section(&w, samples_of(count) * 8, err)) != HDX_OK)
        goto out;
    for (uint64_t l = 0; l < lines; l++) {
        hdx_put64(line, rank);
        for (unsigned i = 0; i < 7; i++) {
            uint64_t x = word_at(words, size, l * LINE_BITS + 64 * i);
            hdx_put64(line + 8 + 8 * (size_t)i, x);
            rank += (uint64_t)__builtin_popcountll(x);
        }
        if ((code = hdx_container_put(&w, LINES, line, LINE, err)) != HDX_OK)
            goto out;
        for (; next_sample < rank; next_sample += SAMPLE) {
            hdx_put64(number, l);
            if ((code = hdx_container_put(&w, SAMPLES, number, 8, err)) != HDX_OK)
                goto out;
        }
        if (l % 65536 == 65535 && hdx_tick(place->tick, 65536ull * LINE_BITS)) {
            code = hdx_tick_stop(err);
            goto out;
        }
    }
    assert(rank == count && next_sample / SAMPLE == samples_of(count)); /* each member once, one sample for every 512 */
    code = hdx_container_finish(&w, out, err);
out:
    hdx_container_drop(&w);
    return code;
}

hdx_code hdx_ranks_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t size,
                        hdx_damage_note *note, hdx_ranks **out, hdx_error *err)
{
    hdx_ranks *r = hdx_mem_get(place->mem, sizeof *r);
    hdx_code   code;
    *out = NULL;
    if (r == NULL)
        return hdx_no_memory(err, "an index handle", sizeof *r);
    if ((code = hdx_container_open(&r->file, place, kind, file, 2, note, err)) != HDX_OK) {
        hdx_mem_put(place->mem, r, sizeof *r);
        return code;
    }
    r->size = size;
    r->count = r->file.counts[1];
    r->lines = lines_of(size);
    const hdx_section *s = r->file.section;
    if (r->file.counts[0] != size || s[LINES].bytes / LINE != r->lines || s[LINES].bytes % LINE != 0 ||
        r->count > size || s[SAMPLES].bytes != samples_of(r->count) * 8) {
        code = hdx_container_damaged(&r->file, err, "the size of the set differs from the manifest");
        hdx_ranks_close(r);
        return code;
    }
    *out = r;
    return HDX_OK;
}

void hdx_ranks_close(hdx_ranks *r)
{
    if (r == NULL)
        return;
    hdx_mem *mem = r->file.mem;
    hdx_container_close(&r->file);
    hdx_mem_put(mem, r, sizeof *r);
}

uint64_t hdx_ranks_count(const hdx_ranks *r) { return r->count; }

bool hdx_ranks_find(const hdx_ranks *r, uint64_t i, uint64_t *rank)
{
    uint64_t line = i / LINE_BITS;
    unsigned bit = (unsigned)(i - line * LINE_BITS);
    *rank = 0;
    if (i >= r->size) {
        hdx_container_note(&r->file, LINES, 0, "id out of range: two files of the index disagree");
        return false;
    }
    if (!hdx_touch(&r->file, LINES, line * LINE, LINE))
        return false;
    const uint8_t *p = r->file.section[LINES].at + line * LINE;
    uint64_t       x = hdx_le64(p + 8 + 8 * (size_t)(bit >> 6)), before = hdx_le64(p);
    if ((x >> (bit & 63) & 1) == 0)
        return false;
    for (unsigned w = 0; w < bit >> 6; w++)
        before += (uint64_t)__builtin_popcountll(hdx_le64(p + 8 + 8 * (size_t)w));
    before += (uint64_t)__builtin_popcountll(x & hdx_pack_mask(bit & 63));
    if (before >= r->count) {
        hdx_container_note(&r->file, LINES, line * LINE, "a rank exceeds the number of members");
        return false;
    }
    *rank = before;
    return true;
}

/* Returns word w of the set. REQUIRES: the caller has touched its line. */
static uint64_t word_of(const hdx_ranks *r, uint64_t w)
{
    return hdx_le64(r->file.section[LINES].at + w / 7 * LINE + 8 + 8 * (w % 7));
}

void hdx_ranks_read(const hdx_ranks *r, uint64_t first, uint32_t n, uint64_t *out, uint64_t *rank)
{
    const uint64_t words = ((uint64_t)n + 63) / 64, line = first / LINE_BITS;
    const unsigned shift = first % 64;
    uint64_t       members = 0;
    memset(out, 0, words * sizeof *out);
    *rank = 0;
    if (n == 0)
        return;
    if (first >= r->size || n > r->size - first) {
        hdx_container_note(&r->file, LINES, 0, "id out of range: two files of the index disagree");
        return;
    }
    const uint64_t last = (first + n - 1) / 64; /* word */
    if (!hdx_touch(&r->file, LINES, line * LINE, ((first + n - 1) / LINE_BITS - line + 1) * LINE))
        return;
    for (uint64_t i = 0, w = first / 64; i < words; i++, w++) {
        out[i] = word_of(r, w) >> shift;
        if (shift != 0 && w < last)
            out[i] |= word_of(r, w + 1) << (64 - shift);
        if (i + 1 == words && n % 64 != 0)
            out[i] &= hdx_pack_mask(n % 64);
        members += (uint64_t)__builtin_popcountll(out[i]);
    }
    uint64_t before = hdx_le64(r->file.section[LINES].at + line * LINE);
    for (uint64_t w = line * 7; w < first / 64; w++)
        before += (uint64_t)__builtin_popcountll(word_of(r, w));
    before += (uint64_t)__builtin_popcountll(word_of(r, first / 64) & hdx_pack_mask(shift));
    if (before <= r->count && members <= r->count - before) {
        *rank = before;
        return;
    }
    hdx_container_note(&r->file, LINES, line * LINE, "a rank exceeds the number of members");
    memset(out, 0, words * sizeof *out);
}

void hdx_ranks_ahead(const hdx_ranks *r, const uint64_t *keys, size_t n, size_t i, hdx_pace pace)
{
    for (hdx_round k = hdx_round_of(n, i, pace, 1); k.at < k.end; k.at++)
        hdx_fetch(&r->file, LINES, keys[k.at] / LINE_BITS * LINE);
}

static bool line_rank(const hdx_ranks *r, uint64_t line, uint64_t *rank)
{
    if (!hdx_touch(&r->file, LINES, line * LINE, 8))
        return false;
    *rank = hdx_le64(r->file.section[LINES].at + line * LINE);
    return true;
}

/* Returns the lines that may contain the member of that rank, from the samples: [*from, *to]. */
static bool line_range(const hdx_ranks *r, uint64_t rank, uint64_t *from, uint64_t *to)
{
    uint64_t sample = rank / SAMPLE, last = samples_of(r->count) - 1;
    if (!hdx_touch(&r->file, SAMPLES, sample * 8, sample < last ? 16 : 8))
        return false;
    const uint8_t *p = r->file.section[SAMPLES].at + sample * 8;
    *from = hdx_le64(p);
    *to = sample < last ? hdx_le64(p + 8) : r->lines - 1;
    if (*from <= *to && *to < r->lines)
        return true;
    hdx_container_note(&r->file, SAMPLES, sample * 8, "a sample refers to no line");
    return false;
}

uint64_t hdx_ranks_at(const hdx_ranks *r, uint64_t rank)
{
    uint64_t from, to, before;
    if (rank >= r->count) {
        hdx_container_note(&r->file, LINES, 0, "rank out of range: two files of the index disagree");
        return 0;
    }
    if (!line_range(r, rank, &from, &to))
        return 0;
    while (from < to) { /* the last line with at most `rank` members before it */
        uint64_t middle = to - (to - from) / 2;
        if (!line_rank(r, middle, &before))
            return 0;
        if (before <= rank)
            from = middle;
        else
            to = middle - 1;
    }
    assert(from == to && from < r->lines); /* whatever the samples and the lines contain */
    if (!hdx_touch(&r->file, LINES, from * LINE, LINE))
        return 0;
    const uint8_t *p = r->file.section[LINES].at + from * LINE;
    before = hdx_le64(p);
    for (unsigned w = 0; w < 7 && before <= rank; w++) {
        uint64_t x = hdx_le64(p + 8 + 8 * (size_t)w), ones = (uint64_t)__builtin_popcountll(x);
        uint64_t i = from * LINE_BITS + 64 * w;
        if (rank - before < ones && (i += hdx_select64(x, (unsigned)(rank - before))) < r->size)
            return i;
        before += ones;
    }
    hdx_container_note(&r->file, LINES, from * LINE, "a line has fewer members than the next one states");
    return 0;
}
