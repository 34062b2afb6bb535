/*
 * out.h - where rendered text gathers before it goes to the sink, and the few ways of writing into it. Inside of this
 * room alone.
 *
 * A refused write is remembered in `failed`; calls need no checks in between.
 */
#ifndef HDX_RENDER_OUT_H
#define HDX_RENDER_OUT_H

#include "render/render.h"

#define HDX_OUT_ROOM (256u << 10)

typedef struct hdx_out {
    const hdx_sink *sink;
    char           *at;
    size_t          len, room;
    bool            failed;    /* the sink refused */
    bool            no_memory; /* a document nested too deep for the memory there is */
} hdx_out;

void hdx_out_flush(hdx_out *out);
void hdx_out_long(hdx_out *out, const char *bytes, size_t len); /* what does not fit after what is there */
void hdx_out_uint(hdx_out *out, uint64_t v);
void hdx_out_int(hdx_out *out, int64_t v);
void hdx_out_address(hdx_out *out, hdx_addr v);
/* The shortest decimal that reads back as the same number; "NaN", "Infinity", "-Infinity". */
void hdx_out_real(hdx_out *out, double v);

static inline void hdx_out_byte(hdx_out *out, char c)
{
    if (out->len == out->room)
        hdx_out_flush(out);
    out->at[out->len++] = c;
}
static inline void hdx_out_bytes(hdx_out *out, const void *bytes, size_t len)
{
    if (len > out->room - out->len) {
        hdx_out_long(out, bytes, len);
        return;
    }
    if (len > 0)
        memcpy(out->at + out->len, bytes, len);
    out->len += len;
}
static inline void hdx_out_string(hdx_out *out, const char *s) { hdx_out_bytes(out, s, strlen(s)); }

/*
 * Length of the well-formed UTF-8 sequence at p (RFC 3629: no overlong forms, no surrogates), its code point in *point;
 * 0: none begins here.
 */
unsigned hdx_utf8(const uint8_t *p, size_t len, uint32_t *point);
/*
 * Half of a surrogate pair, as texts of a heap hold it: 3 and the half in *point; else 0. No format may pass its bytes
 * on.
 */
unsigned hdx_utf8_half(const uint8_t *p, size_t len, uint32_t *point);

/* ---- json.c ---- */
void hdx_json_cell(hdx_out *out, const hdx_cell *cell);
void hdx_json_text(hdx_out *out, const char *at, size_t len); /* in quotes */
/* ---- the formats ---- */
hdx_code hdx_render_table(hdx_rows *rows, const hdx_cell *first, const hdx_render_options *options, hdx_out *out,
                          hdx_error *err);
hdx_code hdx_render_json(hdx_rows *rows, const hdx_cell *first, hdx_out *out, hdx_error *err);
hdx_code hdx_render_jsonl(hdx_rows *rows, const hdx_cell *first, hdx_out *out, hdx_error *err);
hdx_code hdx_render_separated(hdx_rows *rows, const hdx_cell *first, bool tsv, bool raw, hdx_out *out, hdx_error *err);

#endif
