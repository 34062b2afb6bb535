/*
 * out.h - the buffer between rendered text and the sink, and functions that write to it. For this room only.
 *
 * A failed write is recorded in `failed`, so that single calls need no checks.
 */
#ifndef HDX_RENDER_OUT_H
#define HDX_RENDER_OUT_H

#include "render/render.h"

#define HDX_OUT_ROOM (256u << 10)

typedef struct hdx_out {
    const hdx_sink *sink;
    char           *at;
    size_t          len, room;
    bool            failed;    /* the sink failed */
    bool            no_memory; /* memory was too small for the nesting of a document */
} hdx_out;

void hdx_out_flush(hdx_out *out);
void hdx_out_long(hdx_out *out, const char *bytes, size_t len); /* bytes that exceed the free space */
void hdx_out_uint(hdx_out *out, uint64_t v);
void hdx_out_int(hdx_out *out, int64_t v);
void hdx_out_address(hdx_out *out, hdx_addr v);
/* Writes the shortest decimal that is read back as the same number; "NaN", "Infinity", "-Infinity". */
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
 * Returns the length of the well-formed UTF-8 sequence at p (RFC 3629: no overlong forms, no surrogates), with its code
 * point in *point; 0: there is none.
 */
unsigned hdx_utf8(const uint8_t *p, size_t len, uint32_t *point);
/*
 * Returns 3, with the surrogate in *point, for an unpaired surrogate as texts of a heap contain it; otherwise 0. No
 * format may output its bytes.
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
