/*
 * overlay_names.c - corrects the lengths of names that Matrix cut (STRIP M1).
 *
 *     file      01 time 0000000c id "r\303\251s"      the text had 6 bytes and 4 characters: 4 bytes of it exist, the
 * record states 6 overlay   01 time 00000008 id "r\303\251s"
 *
 * Positions are those of the file: only the four bytes of a length change.
 */
#include "strip/inside.h"

hdx_code hdx_strip_overlay_names(overlay *v, reader *r, bool first, spot *s, token *t, hdx_error *err)
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
    if (s->mode == OVERLAY_RAW)
        return hdx_strip_overlay_raw(r, s, t, err);
    t->copy_from = s->in;
    while (t->copy_len < OVERLAY_RUN) {
        if ((code = hdx_strip_reader_at(r, s->in, TOP_HEAD, &at, &have, err)) != HDX_OK)
            return code;
        if (have == 0) {
            s->mode = OVERLAY_END;
            return HDX_OK;
        }
        uint8_t head[TOP_HEAD];
        memcpy(head, at, sizeof head);
        const uint32_t stated = hdx_be32(head + 5);
        if (have < TOP_HEAD || hdx_top_name(head[0]) == NULL) {
            s->mode = OVERLAY_RAW;
            s->end = EVERYTHING;
            return HDX_OK;
        }
        bool     cut = false;
        uint32_t present = stated; /* smaller for a name that was cut */
        if (head[0] == HDX_TOP_STRING && first) {
            if ((code = hdx_strip_frame_cut_name(r, v->id_size, s->in, stated, &present, &cut, err)) != HDX_OK)
                return code;
        } else if (head[0] == HDX_TOP_STRING) {
            const overlay_note *note = hdx_strip_overlay_note_at(v, s->in);
            cut = note != NULL;
            if (cut)
                present = (uint32_t)note->length;
        }
        if (cut) {
            if (t->copy_len > 0)
                return HDX_OK; /* a separate token */
            if (first) {
                if (v->stats.cut_names++ == 0)
                    v->stats.first_cut = s->out;
                v->stats.lost_bytes += stated - v->id_size - present;
                if ((code = hdx_strip_overlay_note_add(v, &(overlay_note){ .in = s->in, .length = present }, err)) !=
                    HDX_OK)
                    return code;
            }
            const uint32_t length = v->id_size + present;
            memcpy(t->head, head, sizeof head);
            for (unsigned k = 0; k < 4; k++)
                t->head[5 + k] = (uint8_t)(length >> (24 - 8 * k));
            t->head_len = TOP_HEAD;
            t->copy_from = s->in + TOP_HEAD;
            t->copy_len = length;
            s->in += TOP_HEAD + length;
            return HDX_OK;
        }
        const uint64_t n = TOP_HEAD + (uint64_t)stated;
        if ((code = hdx_strip_reader_reaches(r, s->in + n, &there, err)) != HDX_OK)
            return code;
        if (!there) {
            s->mode = OVERLAY_RAW;
            s->end = EVERYTHING;
            return HDX_OK;
        }
        t->copy_len += n;
        s->in += n;
    }
    return HDX_OK;
}
