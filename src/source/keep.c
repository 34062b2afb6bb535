/*
 * keep.c - seek points that outlive their reader: takes them from a source that was read to its end, and loads them
 * into one that was just opened.
 *
 * In:  the points of a source; stored points, whose numbers the caller has checked (indexes/seek/seek.h).
 * Out: the same in the other direction.
 * Numbers of members and their running sums are not needed later: trailers were checked when the points were made, and
 * every slice has a sum of its own (P6).
 */
#include "source/inner.h"

void hdx_source_keep_windows(hdx_source *source, const hdx_source_windows *windows)
{
    source->points.windows = *windows;
}

/* Counts points whose slice has bytes: that of an empty member at the end has none. */
static uint64_t used(const hdx_points *p)
{
    uint64_t n = p->count;
    while (n > 1 && p->list[n - 1].out >= p->end)
        n--;
    return n;
}

hdx_code hdx_source_points(hdx_source *source, uint64_t *points, uint64_t *windows, hdx_error *err)
{
    hdx_points *p = &source->points;
    *points = *windows = 0;
    while (hdx_points_pack_one(p))
        ;
    (void)pthread_mutex_lock(&p->lock);
    bool whole = p->end_known;
    *points = used(p);
    for (uint64_t i = 0; i < *points; i++) {
        whole = whole && (p->list[i].slice_known || p->end == 0);
        *windows += p->list[i].kind != HDX_POINT_MEMBER;
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (whole)
        return HDX_OK;
    return hdx_fail(err, HDX_BAD_DUMP, source->path, HDX_NOWHERE, "its end was not reached");
}

hdx_code hdx_source_point_at(hdx_source *source, uint64_t i, hdx_source_point *out, uint8_t *window, hdx_error *err)
{
    hdx_point point;
    hdx_code  code = hdx_points_stored(&source->points, i, &point, window, err);
    *out = (hdx_source_point){ .out = point.out,
                               .bit = point.bit,
                               .header_bit = point.header_bit,
                               .window_at = point.window_at,
                               .window_size = point.window_size,
                               .window_len = point.window_len,
                               .sum = point.slice_crc,
                               .kind = point.kind };
    return code;
}

hdx_code hdx_source_load_points(hdx_source *source, uint64_t size, bool (*next)(void *context, hdx_source_point *point),
                                void *context, const hdx_source_windows *windows, hdx_error *err)
{
    hdx_points      *p = &source->points;
    hdx_source_point in;
    source->points.windows = *windows;
    (void)pthread_mutex_lock(&p->lock);
    bool room = true;
    while (room && next(context, &in)) {
        const hdx_point point = { .out = in.out,
                                  .bit = in.bit,
                                  .header_bit = in.header_bit,
                                  .window_at = in.window_at,
                                  .window_size = in.window_size,
                                  .window_len = in.window_len,
                                  .slice_crc = in.sum,
                                  .slice_known = size > 0,
                                  .packed = in.window_size<in.window_len, .spilled = in.window_size> 0,
                                  .kind = (uint8_t)in.kind,
                                  .member_at = in.bit / 8,
                                  .member = in.kind == HDX_POINT_MEMBER &&
                                            in.out > 0 }; /* only whether it is the first one matters */
        room = hdx_points_load(p, &point);
    }
    p->end = size;
    p->end_known = true;
    (void)pthread_mutex_unlock(&p->lock);
    return room ? HDX_OK : hdx_no_memory(err, "seek points", p->count * sizeof *p->list);
}
