/*
 * flat_arrays.c - FLAT_ARRAYS of the JVM of Valhalla: which byte[] of the dump are arrays of value objects.
 *
 * It has a sub-record for each such array of the heap, so it may be longer than any other record that is passed on
 * completely: it is passed in parts of whole sub-records. Layout and tag: openjdk/valhalla, pull request 686 (2022),
 * and heapDumper.cpp there.
 */
#include "hprof/inside.h"

#define PART 16384u /* sub-records passed at a time */

hdx_code hdx_flat_arrays_give(hdx_window *w, hdx_pos pos, uint32_t length, uint32_t id_size,
                              const hdx_survey_sink *sink, bool *there, hdx_error *err)
{
    const uint32_t size = 1 + 2 * id_size;
    const hdx_pos  end = pos + HDX_TOP_HEAD + length;
    hdx_code       code = HDX_OK;
    *there = true;
    for (hdx_pos at = pos + HDX_TOP_HEAD; at < end && *there && code == HDX_OK;) {
        const uint64_t want = end - at < (uint64_t)PART * size ? end - at : (uint64_t)PART * size;
        const uint8_t *bytes;
        size_t         have;
        if ((code = hdx_window_at(w, at, want, &bytes, &have, err)) != HDX_OK)
            return code;
        *there = have >= want;
        const uint32_t count = (uint32_t)((*there ? want : have) / size);
        const hdx_top  part = {
             .pos = pos, .tag = HDX_TOP_FLAT_ARRAYS, .count = count, .body = { bytes, (size_t)count * size }
        };
        if (count > 0)
            code = sink->top(sink->context, &part, err);
        at += want;
    }
    return code;
}
