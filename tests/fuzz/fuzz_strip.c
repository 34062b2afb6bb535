/*
 * fuzz_strip.c - any bytes as a stripped dump: recognised, and read through every overlay, which must give the same
 * bytes from any place as from the start, and the same as restoring would write; then surveyed like any other dump. The
 * first byte says which overlay; 0: the one that was recognised.
 */
#include "hprof/hprof.h"
#include "strip/strip.h"
#include "support/gzip_maker.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (1u << 20)

static void must(bool ok)
{
    if (!ok)
        abort();
}

static hdx_code heap(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    (void)worker;
    (void)err;
    for (size_t k = 0; k < n && k < 4; k++) /* a few: every question goes back to a point */
        (void)hdx_source_absent(context, events[k].pos + 14);
    return HDX_OK;
}
static hdx_code top(void *context, const hdx_top *record, hdx_error *err)
{
    return (void)context, (void)record, (void)err, HDX_OK;
}
static hdx_code restart(void *context, hdx_error *err) { return (void)context, (void)err, HDX_OK; }

/* From the start, in steps, and from places in no order: the same bytes. */
static void read_twice(hdx_source *source)
{
    uint64_t size = 0;
    uint8_t *once = malloc(MOST), again[257];
    size_t   len = 0, got = 0;
    must(once != NULL);
    if (hdx_source_size(source, &size) && hdx_source_read_at(source, 0, once, MOST, &len, NULL) == HDX_OK) {
        must(len == (size < MOST ? size : MOST));
        for (uint64_t k = 0, at = len; k < 64 && len > 0; k++) {
            at = (at * 2654435761u + 12345u) % len;
            const size_t n = (size_t)(at % sizeof again);
            must(hdx_source_read_at(source, at, again, n, &got, NULL) == HDX_OK);
            must(got == (len - at < n && len < MOST ? len - at : n));
            must(memcmp(again, once + at, len - at < got ? len - at : got) == 0);
        }
    }
    free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    gm_bytes                 bytes = { (uint8_t *)(uintptr_t)(data + 1), size - 1, size - 1 };
    gm_file                  door = gm_file_of(&bytes);
    hdx_source              *source;
    hdx_stripping            what;
    hdx_survey               survey;
    hdx_overlay_stats        stats;
    const hdx_source_options limits = { .max_uncompressed = 64u << 20 };
    if (hdx_source_open_io(&door.io, "fuzz", &limits, &source, NULL) != HDX_OK)
        return 0;
    if (hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, NULL) == HDX_OK) {
        const hdx_overlay_form form =
            data[0] % HDX_OVERLAY_FORMS == 0 ? what.overlay : (hdx_overlay_form)(data[0] % HDX_OVERLAY_FORMS);
        must(what.evidence_count <= HDX_EVIDENCE_MAX && (what.policy == HDX_STRIP_NONE) == (what.evidence_count == 0));
        if (form != HDX_OVERLAY_NONE && hdx_strip_overlay_set(source, form, NULL) == HDX_OK) {
            const hdx_survey_options options = { .threads = 1 };
            const hdx_survey_sink    sink = { source, heap, top, restart };
            read_twice(source);
            (void)hdx_strip_overlay_stats(source, &stats, NULL);
            if (hdx_hprof_survey(source, &options, &sink, &survey, NULL) == HDX_OK)
                hdx_survey_free(&survey);
        }
    }
    hdx_source_close(source);
    return 0;
}
