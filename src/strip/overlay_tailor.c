/*
 * overlay_tailor.c - Tailor's container as the dump from which it was made (STRIP 2, 3.2).
 *
 *     file      "JAVA PROFILE 6.0.1" | 01 u2 id text | 02 class name | 1c entries ... | 2c
 *     overlay   "JAVA PROFILE 1.0.3" 0 ids time | 01 time u4 id text | 02 time 16 serial class trace name | 1c time u4
 *            entries ... | 2c time 0
 *
 * Numbers that the container lacks are 0, contents of byte[] and char[] are zeros (absent). Its segments have no
 * length: each is walked once before its head is returned. A segment that restores to more than 4 GiB is split, and its
 * heap is named again. Segments without entries are omitted, as in the tool's own decoder.
 */
#include "strip/inside.h"

#define TOKEN_HEAD 18u         /* the mark */
#define CLASS_AT   23u         /* count of the constant pool in a class entry */
#define NOTED      (16u << 10) /* later passes do not walk a longer segment again */

static void be16(token *t, uint32_t v)
{
    t->head[t->head_len++] = (uint8_t)(v >> 8);
    t->head[t->head_len++] = (uint8_t)v;
}
static void be32(token *t, uint64_t v)
{
    be16(t, (uint32_t)(v >> 16) & 0xffff);
    be16(t, (uint32_t)v & 0xffff);
}
static void bytes(token *t, const uint8_t *at, uint32_t n)
{
    memcpy(t->head + t->head_len, at, n);
    t->head_len += n;
}

typedef enum found { FOUND_ENTRY, FOUND_OTHER, FOUND_SHORT } found; /* OTHER: the segment ends; SHORT: the file ends */

/* A class entry is all head, except for its tables, which are copied. */
static hdx_code class_entry(reader *r, hdx_pos p, token *t, uint64_t *used, found *what, hdx_error *err)
{
    uint64_t want = 256;
    for (;;) {
        const uint8_t *at;
        size_t         have;
        class_shape    shape = { 0 };
        hdx_code       code = hdx_strip_reader_at(r, p, want, &at, &have, err);
        if (code != HDX_OK)
            return code;
        const entry_state state = hdx_strip_class_shape_of(at, have, 4, CLASS_AT, &shape);
        if (state == ENTRY_SHORT && have >= want) {
            want *= 2;
            continue;
        }
        *what = state == ENTRY_WHOLE ? FOUND_ENTRY : state == ENTRY_SHORT ? FOUND_SHORT : FOUND_OTHER;
        if (state == ENTRY_WHOLE) {
            bytes(t, at, 5);
            be32(t, 0);
            bytes(t, at + 5, 16);
            memset(t->head + t->head_len, 0, 10); /* two reserved ids and the high half of the instance size */
            t->head_len += 10;
            t->copy_from = p + 21;
            t->copy_len = shape.size - 21;
            *used = shape.size;
        }
        return HDX_OK;
    }
}

/* Returns one entry of a segment as a token, and its number of bytes in the file. */
static hdx_code entry_token(reader *r, hdx_pos p, token *t, uint64_t *used, found *what, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    uint64_t       head = 0, zeros = 0;
    hdx_code       code = hdx_strip_reader_at(r, p, 16, &at, &have, err);
    *t = (token){ 0 };
    *used = 0;
    *what = FOUND_SHORT;
    if (code != HDX_OK || have == 0)
        return code;
    switch (at[0]) {
    case HDX_SUB_CLASS: return class_entry(r, p, t, used, what, err);
    case HDX_SUB_ROOT_JNI_GLOBAL:
    case HDX_SUB_HEAP_DUMP_INFO: head = 9; break;
    case HDX_SUB_ROOT_JNI_LOCAL:
    case HDX_SUB_ROOT_JAVA_FRAME:
    case HDX_SUB_ROOT_THREAD_OBJECT:
    case HDX_SUB_ROOT_JNI_MONITOR:
        head = 5;
        zeros = 8;
        break;
    case HDX_SUB_ROOT_NATIVE_STACK:
    case HDX_SUB_ROOT_THREAD_BLOCK:
        head = 5;
        zeros = 4;
        break;
    case HDX_SUB_INSTANCE:
    case HDX_SUB_OBJECT_ARRAY: head = 13; break;
    case HDX_SUB_PRIMITIVE_ARRAY: head = 10; break;
    case HDX_SUB_UNREACHABLE: *what = FOUND_OTHER; return HDX_OK;
    default:
        if (!hdx_strip_entry_is_root(at[0])) {
            *what = FOUND_OTHER;
            return HDX_OK;
        }
        head = 5;
        break;
    }
    if (have < head)
        return HDX_OK;
    *what = FOUND_ENTRY;
    if (head < 10) {
        bytes(t, at, (uint32_t)head);
        memset(t->head + t->head_len, 0, (size_t)zeros); /* thread serial and frame number */
        t->head_len += (uint32_t)zeros;
    } else { /* the stack serial is inserted after the id */
        bytes(t, at, 5);
        be32(t, 0);
        bytes(t, at + 5, (uint32_t)head - 5);
        t->copy_from = p + head;
        if (at[0] == HDX_SUB_INSTANCE)
            t->copy_len = hdx_be32(at + 9);
        else if (at[0] == HDX_SUB_OBJECT_ARRAY)
            t->copy_len = 4 * (uint64_t)hdx_be32(at + 5);
        else if (hdx_type_size(at[9], 4) == 0 || at[9] == 2)
            *what = FOUND_OTHER;
        else if (at[9] == 5 || at[9] == 8)
            t->zeros = (uint64_t)hdx_be32(at + 5) * hdx_type_size(at[9], 4);
        else
            t->copy_len = (uint64_t)hdx_be32(at + 5) * hdx_type_size(at[9], 4);
    }
    *used = head + t->copy_len;
    return HDX_OK;
}

/*
 * Returns the restored length of the segment whose entries begin at p; `again`: a heap entry is inserted before them.
 */
static hdx_code measure(overlay *v, reader *r, bool first, hdx_pos p, bool again, overlay_note *note, hdx_error *err)
{
    hdx_pos  q = p;
    uint64_t length = again ? 9 : 0, used, entries = 0;
    token    t;
    found    what = FOUND_ENTRY;
    bool     there = true;
    hdx_code code;
    note->mode = OVERLAY_RECORD;
    for (;;) {
        if ((code = entry_token(r, q, &t, &used, &what, err)) != HDX_OK)
            return code;
        if (what != FOUND_ENTRY)
            break;
        if (length + hdx_strip_token_len(&t) > UINT32_MAX) {
            note->mode = OVERLAY_GOES_ON;
            break;
        }
        length += hdx_strip_token_len(&t);
        q += used;
        entries++;
    }
    /* Contents are skipped without reading, so it must be checked that they exist. */
    if (what == FOUND_SHORT && (code = hdx_strip_reader_reaches(r, q, &there, err)) != HDX_OK)
        return code;
    if (!there) { /* the file ends in an entry: repeat, up to that entry */
        length = again ? 9 : 0;
        entries = 0;
        for (q = p, there = true;;) {
            if ((code = entry_token(r, q, &t, &used, &what, err)) != HDX_OK || what != FOUND_ENTRY ||
                (code = hdx_strip_reader_reaches(r, q + used, &there, err)) != HDX_OK || !there)
                break;
            length += hdx_strip_token_len(&t);
            q += used;
            entries++;
        }
        if (code != HDX_OK)
            return code;
        note->mode = OVERLAY_END;
    } else if (what == FOUND_SHORT) {
        const uint8_t *at;
        size_t         have;
        if ((code = hdx_strip_reader_at(r, q, 1, &at, &have, err)) != HDX_OK)
            return code;
        if (have > 0)
            note->mode = OVERLAY_END;
    }
    note->length = entries == 0 ? 0 : length;
    note->end = q;
    if (first) {
        v->stats.records_in += entries;
        v->stats.records_out += entries;
        v->stats.truncated = v->stats.truncated || note->mode == OVERLAY_END;
    }
    return HDX_OK;
}

/* Nothing of the container after here can be read. */
static hdx_code broken(overlay *v, bool first, spot *s, bool ends)
{
    s->mode = OVERLAY_END;
    if (!first)
        return HDX_OK;
    if (ends)
        v->stats.truncated = true;
    else if (v->stats.broken++ == 0)
        v->stats.first_broken = s->in;
    return HDX_OK;
}

/* Returns the head of a segment whose entries begin at p. */
static hdx_code begin_segment(overlay *v, reader *r, bool first, hdx_pos p, bool again, spot *s, token *t,
                              hdx_error *err)
{
    const overlay_note *noted = first ? NULL : hdx_strip_overlay_note_at(v, p);
    overlay_note        note = { .in = p };
    hdx_code            code = HDX_OK;
    again = again && s->heap_name != 0;
    if (noted != NULL)
        note = *noted;
    else if ((code = measure(v, r, first, p, again, &note, err)) != HDX_OK)
        return code;
    else if (first && note.end - p > NOTED && (code = hdx_strip_overlay_note_add(v, &note, err)) != HDX_OK)
        return code;
    s->in = p;
    if (note.mode == OVERLAY_GOES_ON && note.length == 0)
        return broken(v, first, s, false); /* one entry of more than 4 GiB: no record can contain it */
    s->left = note.length;
    s->mode = note.length > 0 ? OVERLAY_RECORD : note.mode == OVERLAY_END ? OVERLAY_END : OVERLAY_TOP;
    s->cut = note.mode == OVERLAY_GOES_ON; /* what follows this segment */
    s->way = note.mode == OVERLAY_END ? FRAME_MIXED : FRAME_PLAIN;
    if (note.length == 0)
        return HDX_OK;
    if (first)
        v->stats.records_out++;
    t->head[t->head_len++] = HDX_TOP_HEAP_DUMP_SEGMENT;
    be32(t, 0);
    be32(t, note.length);
    if (again) {
        t->head[t->head_len++] = HDX_SUB_HEAP_DUMP_INFO;
        be32(t, s->heap);
        be32(t, s->heap_name);
        s->left -= 9;
    }
    return HDX_OK;
}

static hdx_code next_entry(overlay *v, reader *r, spot *s, token *t, hdx_error *err)
{
    uint64_t used;
    found    what;
    hdx_code code = entry_token(r, s->in, t, &used, &what, err);
    if (code != HDX_OK)
        return code;
    if (what != FOUND_ENTRY || hdx_strip_token_len(t) > s->left)
        return hdx_strip_overlay_changed(v, s->in, err);
    if (t->head[0] == HDX_SUB_HEAP_DUMP_INFO) {
        s->heap = hdx_be32(t->head + 1);
        s->heap_name = hdx_be32(t->head + 5);
    }
    s->in += used;
    s->left -= hdx_strip_token_len(t);
    if (s->left == 0)
        s->mode = s->way == FRAME_MIXED ? OVERLAY_END : s->cut ? OVERLAY_GOES_ON : OVERLAY_TOP;
    return HDX_OK;
}

hdx_code hdx_strip_overlay_tailor(overlay *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    bool           there;
    hdx_code       code;
    if (s->in == 0) {
        bytes(t, (const uint8_t *)"JAVA PROFILE 1.0.3", 19);
        be32(t, 4);
        be32(t, 0);
        be32(t, 0);
        s->in = TOKEN_HEAD;
        return HDX_OK;
    }
    if (s->mode == OVERLAY_RECORD)
        return next_entry(v, r, s, t, err);
    if (s->mode == OVERLAY_GOES_ON)
        return begin_segment(v, r, first, s->in, true, s, t, err);
    if ((code = hdx_strip_reader_at(r, s->in, 12, &at, &have, err)) != HDX_OK)
        return code;
    if (have == 0) { /* A dump of one heap record has no end record; its segment, as it is presented, needs one. */
        if (!v->restoring && !s->ended) {
            t->head[t->head_len++] = HDX_TOP_HEAP_DUMP_END;
            be32(t, 0);
            be32(t, 0);
        }
        s->mode = OVERLAY_END;
        return HDX_OK;
    }
    if (first)
        v->stats.records_in++;
    s->ended = at[0] == HDX_TOP_HEAP_DUMP_END;
    switch (at[0]) {
    case HDX_TOP_STRING: {
        const uint32_t n = hdx_be16(at + 1);
        if (have < 3)
            return broken(v, first, s, true);
        if (n < 4)
            return broken(v, first, s, false);
        t->head[t->head_len++] = HDX_TOP_STRING;
        be32(t, 0);
        be32(t, n);
        t->copy_from = s->in + 3;
        t->copy_len = n;
        if ((code = hdx_strip_reader_reaches(r, s->in + 3 + n, &there, err)) != HDX_OK)
            return code;
        if (!there) {
            *t = (token){ 0 };
            return broken(v, first, s, true);
        }
        s->in += 3 + n;
        break;
    }
    case HDX_TOP_LOAD_CLASS:
        if (have < 9)
            return broken(v, first, s, true);
        t->head[t->head_len++] = HDX_TOP_LOAD_CLASS;
        be32(t, 0);
        be32(t, 16);
        be32(t, 0);
        bytes(t, at + 1, 4);
        be32(t, 0);
        bytes(t, at + 5, 4);
        s->in += 9;
        break;
    case HDX_TOP_HEAP_DUMP:
    case HDX_TOP_HEAP_DUMP_SEGMENT: s->heap_name = 0; return begin_segment(v, r, first, s->in + 1, false, s, t, err);
    case HDX_TOP_HEAP_DUMP_END:
        t->head[t->head_len++] = HDX_TOP_HEAP_DUMP_END;
        be32(t, 0);
        be32(t, 0);
        s->in += 1;
        break;
    default: return broken(v, first, s, false);
    }
    if (first)
        v->stats.records_out++;
    return HDX_OK;
}
