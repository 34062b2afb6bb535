/* told.h - reports, detections, views and restored files as text, for checksums. */
#ifndef HDX_TESTS_STRIP_TOLD_H
#define HDX_TESTS_STRIP_TOLD_H

#include "android_dump.h"

typedef unsigned long long ull;

static inline void put_report(hdx_buffer *b, const hdx_strip_report *r)
{
    hdx_buffer_format(b, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %d %llu %llu %llu %d\n", (ull)r->records_in,
                      (ull)r->records_out, (ull)r->bytes_in, (ull)r->bytes_out, (ull)r->plain_in, (ull)r->plain_out,
                      (ull)r->dropped_shared, (ull)r->merged, (ull)r->absent_bytes, r->truncated, (ull)r->damage_at,
                      (ull)r->graph_in, (ull)r->graph_out, (int)r->policy);
    for (unsigned i = 0; i < r->kind_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu %llu\n", r->kinds[i].record, (ull)r->kinds[i].in,
                          (ull)r->kinds[i].dropped, (ull)r->kinds[i].bytes_in, (ull)r->kinds[i].bytes_out);
}

static inline uint64_t put_file(hdx_buffer *b, const char *path)
{
    bytes          all = slurp(path);
    const uint64_t len = all.len;
    hdx_buffer_put(b, all.at, all.len);
    free(all.at);
    return len;
}

static inline void put_detected(hdx_buffer *b, const char *path)
{
    for (unsigned full = 0; full < 2; full++) {
        const hdx_detect_options options = { .full = full == 1 };
        hdx_detected             d = { .id_size = 0 };
        hdx_error                err = { .offset = 0 };
        const hdx_code           code = hdx_strip_detect(path, &options, &d, &err);
        hdx_buffer_format(b, "%d %llu %s %d %u %u %s %u %llu\n", (int)code, (ull)(code == HDX_OK ? 0 : err.offset),
                          hdx_strip_name(d.what.policy), (int)d.what.overlay, d.what.confidence, d.what.evidence_count,
                          d.format, d.id_size, (ull)d.what.bytes_read);
        for (unsigned i = 0; i < d.what.evidence_count; i++)
            hdx_buffer_format(b, "%s\n", d.what.evidence[i]);
    }
}

/* The whole of it as the library reads it, and which bytes are made up. */
static inline void put_overlay(hdx_buffer *b, const char *path)
{
    hdx_source   *source;
    hdx_stripping what;
    hdx_error     err;
    uint8_t       got[1024];
    size_t        n = 0;
    if (hdx_source_open(path, NULL, &source, &err) != HDX_OK)
        return;
    if (hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, &err) == HDX_OK &&
        hdx_strip_overlay_set(source, what.overlay, &err) == HDX_OK) {
        for (uint64_t at = 0; hdx_source_read_at(source, at, got, sizeof got, &n, &err) == HDX_OK && n > 0; at += n) {
            hdx_buffer_put(b, got, n);
            for (uint64_t k = at; k < at + n; k += 5)
                hdx_buffer_text(b, hdx_source_absent(source, k) ? "!" : ".");
        }
        hdx_buffer_format(b, "%d\n", (int)what.policy);
    }
    hdx_source_close(source);
}

/* What was refused, in full; of paths the last part. */
static inline void put_refusal(hdx_buffer *b, hdx_code code, const hdx_error *err)
{
    const char *slash = strrchr(err->where, '/');
    if (code == HDX_OK)
        hdx_buffer_text(b, "ok\n");
    else
        hdx_buffer_format(b, "%d '%s' %llu %s %s\n", (int)code, slash != NULL ? slash + 1 : err->where,
                          (ull)err->offset, err->message, err->hint);
}

static inline void put_restored(hdx_buffer *b, const char *stripped, const char *back)
{
    hdx_strip_report r = { .policy = HDX_STRIP_NONE };
    hdx_error        err = { .offset = 0 };
    const hdx_code   code = restore_to(stripped, back, &r, &err);
    put_refusal(b, code, &err);
    cr_expect((access(back, F_OK) == 0) == (code == HDX_OK));
    if (code != HDX_OK)
        return;
    put_report(b, &r);
    (void)put_file(b, back);
    (void)unlink(back);
}

#endif
