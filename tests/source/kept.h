/*
 * kept.h - the points of a source that was read to its end, kept in memory, and given to another source of the same
 * file.
 */
#ifndef TESTS_SOURCE_KEPT_H
#define TESTS_SOURCE_KEPT_H

#include "support/gzip_maker.h"
#include "source/inner.h"

#include <stdlib.h>

typedef struct kept {
    hdx_source_point *at;
    uint64_t          count, windows, next;
    gm_bytes          bytes; /* of all windows */
    uint64_t          size;
} kept;

static inline hdx_code kept_get(void *context, uint64_t at, uint8_t *to, uint32_t len, hdx_error *err)
{
    const kept *k = context;
    if (at > k->bytes.len || len > k->bytes.len - at)
        return hdx_fail(err, HDX_DAMAGED, "kept", at, "no window there");
    memcpy(to, k->bytes.at + at, len);
    return HDX_OK;
}

static inline bool kept_next(void *context, hdx_source_point *out)
{
    kept *k = context;
    if (k->next == k->count)
        return false;
    *out = k->at[k->next++];
    return true;
}

static inline hdx_code kept_from(hdx_source *source, kept *k, hdx_error *err)
{
    uint8_t window[HDX_SOURCE_WINDOW];
    *k = (kept){ 0 };
    hdx_code code = hdx_source_points(source, &k->count, &k->windows, err);
    if (code != HDX_OK)
        return code;
    k->at = calloc(k->count, sizeof *k->at);
    for (uint64_t i = 0; i < k->count && code == HDX_OK; i++) {
        code = hdx_source_point_at(source, i, &k->at[i], window, err);
        k->at[i].window_at = k->bytes.len;
        gm_put(&k->bytes, window, k->at[i].window_size);
    }
    (void)hdx_source_size(source, &k->size);
    return code;
}

static inline hdx_code kept_load(kept *k, hdx_source *source, hdx_error *err)
{
    k->next = 0;
    return hdx_source_load_points(source, k->size, kept_next, k, &(hdx_source_windows){ k, NULL, kept_get }, err);
}

/* Bytes an index has for them (indexes/seek/README.md), without its sums. */
static inline uint64_t kept_bytes(const kept *k) { return 20 * k->count + 20 * k->windows + k->bytes.len; }

static inline void kept_free(kept *k)
{
    free(k->at);
    gm_free(&k->bytes);
}

#endif
