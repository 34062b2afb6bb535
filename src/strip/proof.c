/*
 * proof.c - proves that redaction changed only contents (STRIP 7.5).
 *
 * The hash includes every byte of a dump except those that redaction may change: contents of primitive arrays, values
 * of boxes, texts of STRING records that are not names (with mapped names: of names, too). Equal hashes before and
 * after therefore mean equal ids, classes, references, counts, sizes, roots, heaps and framing. It is computed from the
 * file as written, not from what was meant to be written.
 */
#include "strip/inside.h"

static uint64_t mix(uint64_t h, const void *bytes, size_t n) { return hdx_hash_bytes(h, bytes, n); }

/* Returns the first bytes of [from, end), at most one block. */
static hdx_code block(reader *r, hdx_pos from, hdx_pos end, const uint8_t **at, uint64_t *n, hdx_error *err)
{
    size_t         have;
    const uint64_t left = end - from;
    *n = left < 8192 ? left : 8192;
    hdx_code code = hdx_strip_reader_at(r, from, *n, at, &have, err);
    if (code == HDX_OK && have < *n)
        code = hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(r->source), from, "the file ends inside a record");
    return code;
}

/* Adds everything in [from, end) to the hash in blocks that do not depend on the reader's buffer. */
static hdx_code take(reader *r, hdx_pos from, hdx_pos end, uint64_t *h, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (from < end) {
        const uint8_t *at;
        uint64_t       n;
        if ((code = block(r, from, end, &at, &n, err)) != HDX_OK)
            break;
        *h = mix(*h, at, (size_t)n);
        from += n;
    }
    return code;
}

static hdx_code uneven(reader *r, const entry *e, uint32_t width, bool *yes, hdx_error *err)
{
    const hdx_pos begin = e->pos + e->head, end = begin + e->body;
    uint8_t       first[8];
    hdx_code      code = HDX_OK;
    *yes = false;
    for (hdx_pos p = begin; p < end && !*yes;) {
        const uint8_t *at;
        uint64_t       n;
        if ((code = block(r, p, end, &at, &n, err)) != HDX_OK)
            break;
        if (p == begin)
            memcpy(first, at, width);
        for (uint64_t k = 0; k < n && !*yes; k += width)
            *yes = memcmp(at + k, first, width) != 0;
        p += n;
    }
    return code;
}

static hdx_code entry_proof(reader *r, const choice *c, const entry *e, proof *out, hdx_error *err)
{
    const entry    it = *e;
    const uint64_t value = it.tag == HDX_SUB_INSTANCE ? choice_class(c, it.class_id) / CLASS_WRAPPER : 0;
    const bool     keeps = it.tag == HDX_SUB_PRIMITIVE_ARRAY ? (c->keep_types >> it.type & 1) != 0
                                                             : (choice_class(c, it.class_id) & CLASS_KEEP) != 0;
    hdx_code       code = take(r, it.pos, it.pos + it.head, &out->graph, err);
    bool           odd;
    out->entries++;
    if (code != HDX_OK)
        return code;
    if (it.tag == HDX_SUB_PRIMITIVE_ARRAY && !keeps) {
        code = uneven(r, &it, hdx_type_size(it.type, c->id_size), &odd, err);
        out->uneven += odd;
        return code;
    }
    const uint64_t skipped = keeps ? 0 : value < it.body ? value : it.body;
    return take(r, it.pos + it.head + skipped, it.pos + it.head + it.body, &out->graph, err);
}

hdx_code hdx_strip_proof_of(hdx_source *source, const choice *c, hdx_ticker *tick, proof *out, hdx_error *err)
{
    reader   r = hdx_strip_reader_of(source, false, 256u << 10, c->mem, tick);
    hdx_pos  p = 31;
    top      t;
    bool     more;
    hdx_code code;
    *out = (proof){ 0 };
    code = take(&r, 0, 31, &out->graph, err);
    while (code == HDX_OK && (code = hdx_strip_top_at(&r, c->id_size, p, &t, &more, err)) == HDX_OK && more) {
        if ((code = take(&r, p, p + TOP_HEAD, &out->graph, err)) != HDX_OK)
            break;
        p = t.end;
        if (t.tag == HDX_TOP_STRING) {
            const uint64_t n = t.stated < c->id_size ? t.stated : c->id_size;
            code = take(&r, t.pos + TOP_HEAD, t.pos + TOP_HEAD + n, &out->graph, err);
            continue;
        }
        if (!top_is_heap(&t)) {
            code = take(&r, t.pos + TOP_HEAD, t.end, &out->graph, err);
            continue;
        }
        frame      f = hdx_strip_frame_of(&r, c->id_size, t.pos + TOP_HEAD, t.end - t.pos - TOP_HEAD, FRAME_PLAIN);
        entry      e;
        frame_step step;
        while ((code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY)
            if ((code = entry_proof(&r, c, &e, out, err)) != HDX_OK)
                break;
        if (code == HDX_OK && step == FRAME_BROKEN)
            code = hdx_strip_entry_broken(&r, &f, err);
    }
    hdx_strip_reader_free(&r);
    return code;
}

/* ---- names ---- */

static bool is_letter(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80; }
static bool is_part(uint8_t c) { return is_letter(c) || (c >= '0' && c <= '9'); }

/*
 * Renames one word: a short one by a shift, so that two different ones stay different (R8 has a, b, c ...); others by
 * their hash.
 */
static void rename_word(uint8_t *word, size_t len)
{
    uint64_t h = hdx_hash_bytes(0x6e616d6573ull, word, len);
    for (size_t k = 0; k < len; k++) {
        const uint8_t was = word[k];
        const bool    upper = was >= 'A' && was <= 'Z', lower = was >= 'a' && was <= 'z';
        if (len < 4) {
            if (upper || lower)
                word[k] = (uint8_t)((was - (upper ? 'A' : 'a') + 11) % 26 + (upper ? 'A' : 'a'));
            continue;
        }
        word[k] = (uint8_t)((upper ? 'A' : 'a') + h % 26);
        h = hdx_mix64(h);
    }
}

void hdx_strip_proof_rename(uint8_t *text, size_t len)
{
    bool descriptor = false; /* "(ILcom/acme/A;)V", "[Lcom.acme.A;": only the text between L and ; is a name */
    for (size_t k = 0; k < len; k++)
        descriptor = descriptor || text[k] == '(' || text[k] == ';';
    for (size_t k = 0; k < len;) {
        if (descriptor) {
            while (k < len && text[k] != 'L')
                k++;
            k++;
        }
        size_t end = k;
        while (end < len && !(descriptor && text[end] == ';'))
            end++;
        while (k < end) {
            size_t n = 0;
            while (k + n < end && is_part(text[k + n]))
                n++;
            if (n > 0 && is_letter(text[k]))
                rename_word(text + k, n);
            k += n > 0 ? n : 1;
        }
    }
}
