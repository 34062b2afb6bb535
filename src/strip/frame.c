/*
 * frame.c - walks a heap record whose arrays have their contents, lack them, or may have either (STRIP 1.2, 5.2, 5.3),
 * and finds names that were cut short (STRIP M1).
 *
 * KOOM drops the contents of arrays but not their bytes from the stated length. So a record can be read in two ways,
 * and it is certain which of them ends where the record ends and another record begins. A mark is only trusted if a
 * complete record confirms it.
 */
#include "strip/inside.h"

#define RESUME_MOST (1u << 20)
#define NAME_MOST   (3u * 65535u) /* longest modified UTF-8 text that Java can write, in bytes */

hdx_code hdx_strip_frame_next(frame *f, entry *e, frame_step *step, hdx_error *err)
{
    entry_state state;
    *step = FRAME_END;
    if (f->left == 0)
        return HDX_OK;
    hdx_code code = hdx_strip_entry_at(f->r, f->id_size, f->pos, e, &state, err);
    *step = FRAME_BROKEN;
    if (code != HDX_OK || state != ENTRY_WHOLE || e->head > f->left || e->body > f->left - e->head)
        return code;
    *step = FRAME_ENTRY;
    f->missing = f->cut && e->tag == HDX_SUB_PRIMITIVE_ARRAY ? e->body : 0;
    f->left -= e->head + e->body;
    f->pos += e->head + e->body - f->missing;
    if (f->way == FRAME_MIXED && (e->tag == HDX_SUB_ROOT_FINALIZING || e->tag == HDX_SUB_ROOT_REFERENCE_CLEANUP ||
                                  e->tag == HDX_SUB_UNREACHABLE || e->tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA))
        f->cut = false; /* K2: the tool's own walk failed here */
    return HDX_OK;
}

hdx_code hdx_strip_frame_plausible(reader *r, uint32_t id_size, hdx_pos pos, bool *yes, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code = hdx_strip_reader_at(r, pos, TOP_HEAD, &at, &have, err);
    *yes = false;
    if (code != HDX_OK)
        return code;
    if (have == 0)
        return hdx_strip_reader_reaches(r, pos, yes, err);
    if (have < TOP_HEAD || hdx_top_name(at[0]) == NULL)
        return HDX_OK;
    const uint32_t n = hdx_be32(at + 5);
    switch (at[0]) {
    case HDX_TOP_HEAP_DUMP:
    case HDX_TOP_HEAP_DUMP_SEGMENT: *yes = true; return HDX_OK;
    case HDX_TOP_HEAP_DUMP_END: *yes = n == 0; return HDX_OK;
    case HDX_TOP_LOAD_CLASS:
        if (n != 8 + 2 * id_size)
            return HDX_OK;
        break;
    default: break;
    }
    return hdx_strip_reader_reaches(r, pos + TOP_HEAD + n, yes, err);
}

hdx_code hdx_strip_frame_try(reader *r, uint32_t id_size, hdx_pos body, uint64_t stated, frame_way way, uint64_t limit,
                             signs *of, frame_fit *out, hdx_error *err)
{
    frame      f = hdx_strip_frame_of(r, id_size, body, stated, way);
    entry      e;
    frame_step step = FRAME_ENTRY;
    hdx_code   code = HDX_OK;
    *out = (frame_fit){ .end = body };
    if (of != NULL)
        hdx_strip_signs_segment(of);
    while (code == HDX_OK && step == FRAME_ENTRY && stated - f.left < limit) {
        if ((code = hdx_strip_frame_next(&f, &e, &step, err)) != HDX_OK || step != FRAME_ENTRY)
            break;
        out->entries++;
        out->arrays += e.tag == HDX_SUB_PRIMITIVE_ARRAY && e.count > 0;
        if (of != NULL)
            code = hdx_strip_signs_entry(of, r, &e, f.missing == 0, err);
    }
    out->end = f.pos;
    out->stated = stated - f.left;
    out->whole = f.left == 0;
    if (code != HDX_OK || step == FRAME_BROKEN)
        return code;
    return out->whole ? hdx_strip_frame_plausible(r, id_size, f.pos, &out->fits, err)
                      : hdx_strip_reader_reaches(r, f.pos, &out->fits, err);
}

hdx_code hdx_strip_frame_whole_part(reader *r, uint32_t id_size, hdx_pos body, uint64_t stated, frame_way way,
                                    frame_part *out, hdx_error *err)
{
    frame      f = hdx_strip_frame_of(r, id_size, body, stated, way);
    entry      e;
    frame_step step = FRAME_ENTRY;
    bool       there = true;
    hdx_code   code;
    *out = (frame_part){ .end = body };
    while ((code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY &&
           (code = hdx_strip_reader_reaches(r, f.pos, &there, err)) == HDX_OK && there) {
        out->accounted = stated - f.left;
        out->end = f.pos;
        out->entries++;
        out->arrays += e.tag == HDX_SUB_PRIMITIVE_ARRAY && e.count > 0;
    }
    out->at_end = !there;
    if (code == HDX_OK && step == FRAME_BROKEN) { /* tests whether the data end inside of a head */
        entry_state state;
        code = hdx_strip_entry_at(r, id_size, f.pos, &e, &state, err);
        out->at_end = state == ENTRY_SHORT;
    }
    return code;
}

void hdx_strip_frame_spend(uint64_t *patience, uint64_t entries)
{
    const uint64_t cost = entries + 1, left = *patience;
    *patience -= cost < left ? cost : left;
}

/* Returns in *yes whether this is the head of a heap record whose entries all fit, or an end record. */
static hdx_code begins(reader *r, uint32_t id_size, hdx_pos pos, const uint8_t head[TOP_HEAD], uint64_t *patience,
                       bool *yes, hdx_error *err)
{
    const uint32_t stated = hdx_be32(head + 5);
    hdx_code       code = HDX_OK;
    *yes = false;
    if (hdx_be32(head + 1) != 0)
        return HDX_OK;
    if (head[0] == HDX_TOP_HEAP_DUMP_END)
        return stated == 0 ? hdx_strip_frame_plausible(r, id_size, pos + TOP_HEAD, yes, err) : HDX_OK;
    for (frame_way way = FRAME_PLAIN; stated > 0 && way <= FRAME_CUT && code == HDX_OK && !*yes && *patience > 0;
         way++) {
        frame_fit fit;
        if ((code = hdx_strip_frame_try(r, id_size, pos + TOP_HEAD, stated, way, EVERYTHING, NULL, &fit, err)) !=
            HDX_OK)
            break;
        *yes = fit.fits;
        hdx_strip_frame_spend(patience, fit.entries);
    }
    return code;
}

hdx_code hdx_strip_frame_resume(reader *r, uint32_t id_size, hdx_pos from, uint64_t *patience, hdx_pos *at, bool *found,
                                hdx_error *err)
{
    hdx_code code = HDX_OK;
    *found = false;
    for (hdx_pos p = from; p - from<RESUME_MOST && * patience> 0 && code == HDX_OK && !*found; p++) {
        const uint8_t *bytes;
        size_t         have;
        uint8_t        head[TOP_HEAD];
        if ((code = hdx_strip_reader_at(r, p, TOP_HEAD, &bytes, &have, err)) != HDX_OK || have < TOP_HEAD)
            return code;
        if (bytes[0] != HDX_TOP_HEAP_DUMP_SEGMENT && bytes[0] != HDX_TOP_HEAP_DUMP_END)
            continue;
        memcpy(head, bytes, sizeof head);
        code = begins(r, id_size, p, head, patience, found, err);
        *at = p;
    }
    return code;
}

/* Returns whether this is a record head that may follow a STRING: same time, valid kind and length. */
static bool follows(const uint8_t *head, const uint8_t *time, uint32_t id_size)
{
    const uint32_t n = hdx_be32(head + 5);
    if (memcmp(head + 1, time, 4) != 0)
        return false;
    switch (head[0]) {
    case HDX_TOP_STRING: return n >= id_size && n <= NAME_MOST + id_size;
    case HDX_TOP_LOAD_CLASS: return n == 8 + 2 * id_size;
    case HDX_TOP_FRAME: return n == 8 + 4 * id_size;
    case HDX_TOP_TRACE: return n >= 12 && n % id_size == 12 % id_size;
    case HDX_TOP_HEAP_DUMP:
    case HDX_TOP_HEAP_DUMP_SEGMENT: return true;
    case HDX_TOP_HEAP_DUMP_END: return n == 0;
    default: return false;
    }
}

/*
 * Returns the number of bytes, by eights and the last few, that are ASCII without NUL: most names consist of those. May
 * read seven bytes more.
 */
static uint32_t plain_part(const uint8_t *text, size_t n)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    for (uint32_t k = 0; k < n; k += 8) {
        const uint64_t behind = n - k < 8 ? ~0ull << 8 * (n - k) : 0,
                       x = (hdx_le64(text + k) & ~behind) | (behind & ones);
        if ((((x - ones) | x) & highs) != 0)
            return k;
    }
    return (uint32_t)n;
}

/*
 * Detects a text of b bytes and c characters that was cut to its first c bytes while its record states b. It then
 * contains bytes over 0x7f, c is between b / 3 and b, and the next record's head, which no text contains (times are 0,
 * and a text has no NUL byte), is inside of the stated length.
 */
hdx_code hdx_strip_frame_cut_name(reader *r, uint32_t id_size, hdx_pos pos, uint32_t stated, uint32_t *kept, bool *cut,
                                  hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    bool           wide = false;
    hdx_code       code;
    *cut = false;
    const uint32_t bytes = stated - id_size;
    if (bytes > NAME_MOST) /* or less than an id */
        return HDX_OK;
    if ((code = hdx_strip_reader_at(r, pos, TOP_HEAD + (uint64_t)stated + TOP_HEAD, &at, &have, err)) != HDX_OK)
        return code;
    const uint8_t *text = at + TOP_HEAD + id_size;
    if (have < TOP_HEAD + (uint64_t)id_size)
        return HDX_OK;
    const size_t there = have - TOP_HEAD - id_size;
    for (uint32_t k = plain_part(text, bytes < there ? bytes : there); k < bytes && k < there; k++) {
        wide = wide || text[k] >= 0x80;
        if (!wide && text[k] == 0)
            return HDX_OK; /* not a name, or not cut: only ASCII before the next head */
        if (wide && k >= (bytes + 2) / 3 && there - k >= TOP_HEAD && follows(text + k, at + 1, id_size)) {
            *kept = k;
            *cut = true;
            return HDX_OK;
        }
    }
    return HDX_OK;
}
