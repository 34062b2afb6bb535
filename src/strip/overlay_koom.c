/*
 * overlay_koom.c - restores the dump from which KOOM cut the contents of arrays (STRIP 1.2, 3.1).
 *
 *     file      1c time length | entries ... 23 id .. count type | entries ...          length includes missing
 * contents overlay   1c time length | entries ... 23 id .. count type 000..0 | entries ...
 *
 * A record that fits only with its contents (a write during which KOOM's walk failed, K2) is passed on unchanged; one
 * in which only some contents are cut is read that way. If neither reading fits, the entries before the invalid one are
 * returned, under the length that they have, and everything up to the next record that fits is skipped and counted.
 */
#include "strip/inside.h"

/* The file ends inside of this record, or no reading fits: uses the valid entries. */
static hdx_code odd_record(overlay *v, reader *r, hdx_pos p, uint64_t stated, overlay_note *note, hdx_error *err)
{
    const hdx_pos body = p + TOP_HEAD;
    frame_part    part[2];
    bool          found = false;
    hdx_code      code;
    for (frame_way way = FRAME_PLAIN; way <= FRAME_CUT; way++)
        if ((code = hdx_strip_frame_whole_part(r, v->id_size, body, stated, way, &part[way], err)) != HDX_OK)
            return code;
    /* Cut, unless only the plain reading reaches the end of the file. */
    const frame_way way = part[FRAME_PLAIN].at_end && !part[FRAME_CUT].at_end ? FRAME_PLAIN : FRAME_CUT;
    *note =
        (overlay_note){ .in = p, .mode = OVERLAY_RECORD, .way = way, .length = part[way].accounted, .end = EVERYTHING };
    v->stats.records_in += part[way].entries;
    hdx_strip_frame_spend(&v->patience, part[FRAME_PLAIN].entries + part[FRAME_CUT].entries);
    if (part[way].at_end) {
        v->stats.truncated = true;
        return HDX_OK;
    }
    if (v->stats.broken++ == 0)
        v->stats.first_broken = part[way].end;
    code = hdx_strip_frame_resume(r, v->id_size, part[way].end, &v->patience, &note->end, &found, err);
    if (!found)
        note->end = HDX_NOWHERE;
    else
        v->stats.lost_bytes += note->end - part[way].end;
    return code;
}

/* Decides how the heap record at p is read; the result is noted, unless it is the usual one. */
static hdx_code decide(overlay *v, reader *r, hdx_pos p, uint64_t stated, overlay_note *note, hdx_error *err)
{
    static const frame_way ways[] = { FRAME_CUT, FRAME_MIXED, FRAME_PLAIN };
    frame_fit              fit = { 0 };
    hdx_code               code = HDX_OK;
    unsigned               k = 0;
    for (; k < 3; k++) {
        if ((code = hdx_strip_frame_try(r, v->id_size, p + TOP_HEAD, stated, ways[k], EVERYTHING, NULL, &fit, err)) !=
            HDX_OK)
            return code;
        if (fit.fits) {
            v->stats.records_in += fit.entries;
            v->patience += fit.entries;
            break;
        }
        hdx_strip_frame_spend(&v->patience, fit.entries); /* T3: records that fit pay for those that do not */
    }
    if (v->patience == 0) { /* crafted to be slow: nothing after here is read */
        if (v->stats.broken++ == 0)
            v->stats.first_broken = p;
        *note = (overlay_note){ .in = p, .mode = OVERLAY_RECORD, .way = FRAME_CUT, .end = HDX_NOWHERE };
        return hdx_strip_overlay_note_add(v, note, err);
    }
    if (k < 3)
        *note = (overlay_note){ .in = p, .mode = OVERLAY_RECORD, .way = ways[k], .length = stated };
    else if ((code = odd_record(v, r, p, stated, note, err)) != HDX_OK)
        return code;
    return k > 0 ? hdx_strip_overlay_note_add(v, note, err) : HDX_OK;
}

static hdx_code heap_record(overlay *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code = hdx_strip_reader_at(r, s->in, TOP_HEAD, &at, &have, err);
    if (code != HDX_OK)
        return code;
    uint8_t head[TOP_HEAD];
    memcpy(head, at, sizeof head);
    const uint32_t      stated = hdx_be32(head + 5);
    overlay_note        note = { .mode = OVERLAY_RECORD, .way = FRAME_CUT, .length = stated };
    const overlay_note *noted = first ? NULL : hdx_strip_overlay_note_at(v, s->in);
    if (noted != NULL)
        note = *noted;
    else if (first && (code = decide(v, r, s->in, stated, &note, err)) != HDX_OK)
        return code;
    memcpy(t->head, head, sizeof head);
    t->head_len = TOP_HEAD;
    if (note.length < stated &&
        (v->restoring || note.end != EVERYTHING)) /* readers get the stated length of a record in which the file ends */
        for (unsigned k = 0; k < 4; k++)
            t->head[5 + k] = (uint8_t)(note.length >> (24 - 8 * k));
    s->mode = OVERLAY_RECORD;
    s->in += TOP_HEAD;
    s->left = note.length;
    s->end = note.end;
    s->way = note.way;
    s->cut = note.way != FRAME_PLAIN;
    return HDX_OK;
}

/* After the last entry of a record: continues with the next one, or with the remainder of a damaged file. */
static void leave_record(const overlay *v, spot *s)
{
    s->mode = OVERLAY_TOP;
    if (s->end == HDX_NOWHERE)
        s->mode = OVERLAY_END;
    else if (s->end == EVERYTHING) /* the file ends here: restoring omits the last piece, a reader gets it */
        s->mode = v->restoring ? OVERLAY_END : OVERLAY_RAW;
    else if (s->end != 0)
        s->in = s->end;
}

/* Returns a run of entries, up to the next content that was cut. */
static hdx_code entries(overlay *v, reader *r, spot *s, token *t, hdx_error *err)
{
    frame      f = { .r = r, .id_size = v->id_size, .way = s->way, .cut = s->cut, .pos = s->in, .left = s->left };
    entry      e;
    frame_step step = FRAME_ENTRY;
    hdx_code   code = HDX_OK;
    t->copy_from = s->in;
    while (t->copy_len < OVERLAY_RUN && t->zeros == 0 && (code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK &&
           step == FRAME_ENTRY) {
        t->copy_len = f.pos - s->in;
        t->zeros = f.missing;
    }
    if (code == HDX_OK && step == FRAME_BROKEN)
        code = hdx_strip_overlay_changed(v, f.pos, err);
    s->in = f.pos;
    s->left = f.left;
    s->cut = f.cut;
    return code;
}

hdx_code hdx_strip_overlay_koom(overlay *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    bool           there;
    hdx_code       code;
    if (s->in == 0) {
        *t = (token){ .copy_from = 0, .copy_len = 31 };
        s->in = 31;
        return HDX_OK;
    }
    if (s->mode == OVERLAY_RECORD && s->left > 0)
        return entries(v, r, s, t, err);
    if (s->mode == OVERLAY_RECORD) {
        leave_record(v, s);
        return HDX_OK;
    }
    if (s->mode == OVERLAY_RAW)
        return hdx_strip_overlay_raw(r, s, t, err);
    t->copy_from = s->in;
    while (t->copy_len < OVERLAY_RUN) { /* tables, unchanged */
        if ((code = hdx_strip_reader_at(r, s->in, TOP_HEAD, &at, &have, err)) != HDX_OK)
            return code;
        const uint8_t  tag = at[0];
        const uint64_t n = TOP_HEAD + (uint64_t)hdx_be32(at + 5);
        if (have == 0) {
            s->mode = OVERLAY_END;
            return HDX_OK;
        }
        if (have >= TOP_HEAD && (tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT)) {
            if (t->copy_len > 0)
                return HDX_OK;
            v->stats.records_in += first;
            return heap_record(v, r, first, s, t, err);
        }
        if (hdx_top_name(tag) == NULL)
            there = false;
        else if ((code = hdx_strip_reader_reaches(r, s->in + n, &there, err)) != HDX_OK)
            return code;
        if (!there) {
            if (first) {
                v->stats.truncated = v->stats.truncated || have < TOP_HEAD || hdx_top_name(tag) != NULL;
                if (v->restoring && have >= TOP_HEAD && hdx_top_name(tag) == NULL && v->stats.broken++ == 0)
                    v->stats.first_broken = s->in;
            }
            s->mode = v->restoring ? OVERLAY_END : OVERLAY_RAW; /* the reader above reports it */
            s->end = EVERYTHING;
            return HDX_OK;
        }
        v->stats.records_in += first;
        t->copy_len += n;
        s->in += n;
    }
    return HDX_OK;
}
