/*
 * view_koom.c - what KOOM wrote, as it was before the contents of arrays were cut (STRIP 1.2, 3.1).
 *
 *     file   1c time length | entries ... 23 id .. count type | entries ...          length counts contents that are not there
 *     view   1c time length | entries ... 23 id .. count type 000..0 | entries ...
 *
 * A record that comes out even only with its contents (a write that KOOM's walk died in, K2) is handed on as it is; one that is half and half
 * is read so. Where nothing comes out even the bytes are handed on unchanged up to the next record that does: the reader above has
 * the rules for damage.
 */
#include "strip/inside.h"

/* Entries of a record as far as the file has them whole: *stated bytes of it, the last of them ends at *end. *short_: the file ends there. */
static hdx_code whole_part(view *v, reader *r, hdx_pos body, uint64_t stated, frame_way way, uint64_t *accounted, hdx_pos *end, bool *ends, hdx_error *err)
{
    frame      f = frame_of(r, v->id_size, body, stated, way);
    entry      e;
    frame_step step = FRAME_ENTRY;
    bool       there = true;
    hdx_code   code;
    *accounted = 0;
    *end = body;
    for (;;) {
        if ((code = frame_next(&f, &e, &step, err)) != HDX_OK || step != FRAME_ENTRY)
            break;
        if ((code = reader_reaches(r, f.pos, &there, err)) != HDX_OK || !there)
            break;
        *accounted = stated - f.left;
        *end = f.pos;
    }
    *ends = !there;
    if (code == HDX_OK && there && step == FRAME_BROKEN) { /* is it the data that end, inside a head? */
        const uint8_t *at;
        size_t         have;
        entry_state    state;
        if ((code = entry_at(r, v->id_size, f.pos, &e, &state, err)) == HDX_OK && (code = reader_at(r, f.pos, 1, &at, &have, err)) == HDX_OK)
            *ends = state == ENTRY_SHORT;
    }
    return code;
}

/* The file ends inside this record, or nothing fits. */
static hdx_code odd_record(view *v, reader *r, hdx_pos p, uint64_t stated, view_note *note, hdx_error *err)
{
    const hdx_pos body = p + TOP_HEAD;
    hdx_pos       end[2];
    uint64_t      accounted[2];
    bool          ends[2], found = false;
    hdx_code      code;
    for (frame_way way = FRAME_PLAIN; way <= FRAME_CUT; way++)
        if ((code = whole_part(v, r, body, stated, way, &accounted[way], &end[way], &ends[way], err)) != HDX_OK)
            return code;
    /* cut, unless only the plain reading gets to the end of the file */
    const frame_way way = ends[FRAME_PLAIN] && !ends[FRAME_CUT] ? FRAME_PLAIN : FRAME_CUT;
    if (ends[way]) {
        v->stats.truncated = true;
        *note = (view_note){ .in = p, .mode = VIEW_RECORD, .way = way, .length = accounted[way] };
        return HDX_OK;
    }
    if (v->stats.broken++ == 0)
        v->stats.first_broken = p;
    *note = (view_note){ .in = p, .mode = VIEW_RAW, .end = EVERYTHING };
    code = frame_resume(r, v->id_size, body, &v->patience, &note->end, &found, err);
    if (!found)
        note->end = EVERYTHING;
    return code;
}

/* How is the heap record at p to be read? Noted, unless it is as nearly all are. */
static hdx_code decide(view *v, reader *r, hdx_pos p, uint64_t stated, view_note *note, hdx_error *err)
{
    static const frame_way ways[] = { FRAME_CUT, FRAME_MIXED, FRAME_PLAIN };
    frame_fit              fit = { 0 };
    hdx_code               code = HDX_OK;
    unsigned               k = 0;
    for (; k < 3; k++) {
        if ((code = frame_try(r, v->id_size, p + TOP_HEAD, stated, ways[k], EVERYTHING, &fit, err)) != HDX_OK)
            return code;
        v->stats.records_in += fit.fits ? fit.entries : 0;
        if (fit.fits)
            break;
    }
    if (k < 3)
        *note = (view_note){ .in = p, .mode = VIEW_RECORD, .way = ways[k], .length = stated };
    else if ((code = odd_record(v, r, p, stated, note, err)) != HDX_OK)
        return code;
    return k > 0 ? view_note_add(v, note, err) : HDX_OK;
}

static hdx_code heap_record(view *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code = reader_at(r, s->in, TOP_HEAD, &at, &have, err);
    if (code != HDX_OK)
        return code;
    uint8_t         head[TOP_HEAD];
    memcpy(head, at, sizeof head);
    const uint32_t  stated = hdx_be32(head + 5);
    view_note       note = { .mode = VIEW_RECORD, .way = FRAME_CUT, .length = stated };
    const view_note *noted = first ? NULL : view_note_at(v, s->in);
    if (noted != NULL)
        note = *noted;
    else if (first && (code = decide(v, r, s->in, stated, &note, err)) != HDX_OK)
        return code;
    s->mode = note.mode;
    if (note.mode == VIEW_RAW) {
        s->end = note.end;
        return view_raw(r, s, t, err);
    }
    memcpy(t->head, head, sizeof head);
    t->head_len = TOP_HEAD;
    if (v->restoring && note.length < stated)
        for (unsigned k = 0; k < 4; k++)
            t->head[5 + k] = (uint8_t)(note.length >> (24 - 8 * k));
    s->in += TOP_HEAD;
    s->left = note.length;
    s->way = note.way;
    s->cut = note.way != FRAME_PLAIN;
    if (note.length < stated) { /* the file ends in this record: restoring leaves out the last piece, a reader is shown it */
        s->end = EVERYTHING;
        s->heap = 1;
    } else {
        s->heap = 0;
    }
    return HDX_OK;
}

/* A run of entries, up to the next content that was cut. */
static hdx_code entries(view *v, reader *r, spot *s, token *t, hdx_error *err)
{
    frame      f = { .r = r, .id_size = v->id_size, .way = s->way, .cut = s->cut, .pos = s->in, .left = s->left };
    entry      e;
    frame_step step = FRAME_ENTRY;
    hdx_code   code = HDX_OK;
    t->copy_from = s->in;
    while (t->copy_len < VIEW_RUN && t->zeros == 0 && (code = frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY) {
        t->copy_len = f.pos - s->in;
        t->zeros = f.missing;
    }
    if (code == HDX_OK && step == FRAME_BROKEN)
        code = view_changed(v, f.pos, err);
    s->in = f.pos;
    s->left = f.left;
    s->cut = f.cut;
    return code;
}

hdx_code view_koom(view *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
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
    if (s->mode == VIEW_RECORD && s->left > 0)
        return entries(v, r, s, t, err);
    if (s->mode == VIEW_RECORD && s->heap == 1) {
        s->mode = v->restoring ? VIEW_END : VIEW_RAW;
        s->heap = 0;
        return HDX_OK;
    }
    if (s->mode == VIEW_RAW && s->in < s->end)
        return view_raw(r, s, t, err);
    s->mode = VIEW_TOP;
    t->copy_from = s->in;
    while (t->copy_len < VIEW_RUN) { /* tables, as they are */
        if ((code = reader_at(r, s->in, TOP_HEAD, &at, &have, err)) != HDX_OK)
            return code;
        const uint8_t  tag = at[0];
        const uint64_t n = TOP_HEAD + (uint64_t)hdx_be32(at + 5);
        if (have == 0) {
            s->mode = VIEW_END;
            return HDX_OK;
        }
        if (have >= TOP_HEAD && (tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT)) {
            if (t->copy_len > 0)
                return HDX_OK;
            v->stats.records_in += first;
            return heap_record(v, r, first, s, t, err);
        }
        if (have < TOP_HEAD || hdx_top_name(tag) == NULL)
            there = false;
        else if ((code = reader_reaches(r, s->in + n, &there, err)) != HDX_OK)
            return code;
        if (!there) {
            if (first) {
                v->stats.truncated = v->stats.truncated || have < TOP_HEAD || hdx_top_name(tag) != NULL;
                if (have >= TOP_HEAD && hdx_top_name(tag) == NULL && v->stats.broken++ == 0)
                    v->stats.first_broken = s->in;
            }
            s->mode = v->restoring ? VIEW_END : VIEW_RAW; /* for the reader above to say */
            s->end = EVERYTHING;
            return HDX_OK;
        }
        v->stats.records_in += first;
        t->copy_len += n;
        s->in += n;
    }
    return HDX_OK;
}
