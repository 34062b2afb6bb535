/*
 * points.c - the list of seek points.
 *
 * In:  points and windows from decoders that read a compressed dump for the first time.
 * Out: the nearest point before a position; CRCs of slices, recorded once and always compared afterwards.
 * Windows are packed here; decoder.c finds and uses points.
 * Cost: some 10 KiB for a point inside of a member, 100 bytes for one at its start.
 */
#include "source/points.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/search.h"

#include <stdlib.h>
#include <zlib.h>

/* 12 % smaller than at level 1 for a quarter more time; level 6 takes three times as long for 7 % more. */
#define PACK_LEVEL 4
#define RAW_MAX    64u /* most windows that wait to be packed: 2 MiB */

bool hdx_points_init(hdx_points *points, hdx_mem *mem, uint32_t first_check)
{
    *points = (hdx_points){ .mem = mem, .spacing = HDX_POINT_SPACING, .bytes_max = HDX_POINTS_BYTES };
    if (!hdx_mem_room(mem, (void **)&points->list, &points->capacity, points->count, sizeof *points->list))
        return false;
    points->list[0] = (hdx_point){ .kind = HDX_POINT_MEMBER, .check = first_check };
    points->count = 1;
    (void)pthread_mutex_init(&points->lock, NULL);
    return true;
}

void hdx_points_free(hdx_points *points)
{
    if (points->list == NULL)
        return;
    assert(points->loaded || (points->list[0].out == 0 && points->list[0].kind == HDX_POINT_MEMBER)); /* P1 */
    for (uint64_t i = 0; i < points->count; i++) {
        const hdx_point *p = &points->list[i];
        assert(i == 0 || points->loaded || p[-1].out < p->out); /* P1 */
        points->bytes -= p->window == NULL ? 0 : p->window_size;
        hdx_mem_put(points->mem, p->window, p->window_size);
    }
    assert(points->bytes == 0); /* P3: what they contain was counted */
    hdx_mem_put(points->mem, points->list, points->capacity * sizeof *points->list);
    (void)pthread_mutex_destroy(&points->lock);
    points->list = NULL;
}

/* Returns the index of the last point that is not after `at`; point 0 never is (P1). */
static uint64_t floor_index(const hdx_points *points, hdx_pos at)
{
    return hdx_upper_bound(HDX_KEYS(points->list, points->count, out), at) - 1;
}

uint64_t hdx_points_around(hdx_points *points, hdx_pos at, hdx_pos *next, hdx_pos *last)
{
    (void)pthread_mutex_lock(&points->lock);
    *last = points->list[points->count - 1].out;
    *next = *last > at                              ? points->list[floor_index(points, at) + 1].out
            : points->end_known && points->end > at ? points->end
                                                    : HDX_NOWHERE;
    uint64_t spacing = points->spacing;
    (void)pthread_mutex_unlock(&points->lock);
    return spacing;
}

hdx_pos hdx_points_floor(hdx_points *points, hdx_pos at)
{
    (void)pthread_mutex_lock(&points->lock);
    hdx_pos out = points->list[floor_index(points, at)].out;
    (void)pthread_mutex_unlock(&points->lock);
    return out;
}

static bool unpack(const uint8_t *packed, uint32_t size, uint8_t *window, uint32_t len)
{
    z_stream z = { 0 };
    if (inflateInit2(&z, -15) != Z_OK)
        return false;
    z.next_in = (Bytef *)(uintptr_t)packed;
    z.avail_in = size;
    z.next_out = window;
    z.avail_out = len;
    int rc = inflate(&z, Z_FINISH);
    (void)inflateEnd(&z);
    return rc == Z_STREAM_END && z.avail_out == 0;
}

hdx_code hdx_points_get(hdx_points *points, hdx_pos at, hdx_point *point, uint8_t *window, hdx_error *err)
{
    uint8_t *stored = malloc(HDX_WINDOW);
    hdx_code code = HDX_OK;
    if (stored == NULL)
        return hdx_no_memory(err, "a window", HDX_WINDOW);
    (void)pthread_mutex_lock(&points->lock);
    *point = points->list[floor_index(points, at)];
    if (point->window_size > 0 && !point->spilled)
        memcpy(point->packed ? stored : window, point->window, point->window_size);
    (void)pthread_mutex_unlock(&points->lock);
    point->window = NULL; /* it may be freed at any time: nothing borrows it */
    if (point->spilled)
        code = points->windows.get(points->windows.context, point->window_at, point->packed ? stored : window,
                                   point->window_size, err);
    if (code == HDX_OK && point->packed && !unpack(stored, point->window_size, window, point->window_len))
        code = hdx_fail(err, HDX_DAMAGED, "seek points", HDX_NOWHERE,
                        "the window of the point at %llu cannot be unpacked", (unsigned long long)point->out);
    free(stored);
    return code;
}

hdx_code hdx_points_stored(hdx_points *points, uint64_t i, hdx_point *point, uint8_t *window, hdx_error *err)
{
    (void)pthread_mutex_lock(&points->lock);
    *point = points->list[i];
    if (point->window_size > 0 && !point->spilled)
        memcpy(window, point->window, point->window_size);
    (void)pthread_mutex_unlock(&points->lock);
    point->window = NULL;
    return point->spilled
               ? points->windows.get(points->windows.context, point->window_at, window, point->window_size, err)
               : HDX_OK;
}

bool hdx_points_load(hdx_points *points, const hdx_point *point)
{
    if (!points->loaded)
        points->count = 0;
    if (!hdx_mem_room(points->mem, (void **)&points->list, &points->capacity, points->count, sizeof *points->list))
        return false;
    points->list[points->count++] = *point;
    points->packed_to = points->count;
    points->loaded = true;
    return true;
}

/*
 * Packs len bytes into `packed` (len bytes of room); 0 if they do not become smaller or memory is short: then the raw
 * window is used.
 */
static uint32_t pack(const uint8_t *window, uint32_t len, uint8_t *packed)
{
    z_stream z = { 0 };
    uint32_t size = 0;
    if (deflateInit2(&z, PACK_LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_in = (Bytef *)(uintptr_t)window;
    z.avail_in = len;
    z.next_out = packed;
    z.avail_out = len;
    if (deflate(&z, Z_FINISH) == Z_STREAM_END)
        size = (uint32_t)z.total_out;
    (void)deflateEnd(&z);
    return size;
}

/* `window` and `packed` have room for HDX_WINDOW bytes. */
static bool pack_one(hdx_points *points, uint8_t *window, uint8_t *packed)
{
    (void)pthread_mutex_lock(&points->lock);
    /* The newest one may be dropped again (hdx_points_drop): in dumps of JDKs nearly all are. */
    const uint64_t ready = points->end_known ? points->count : points->count - 1;
    while (points->packed_to < ready && points->list[points->packed_to].window == NULL)
        points->packed_to++;
    if (points->packed_to >= ready) {
        (void)pthread_mutex_unlock(&points->lock);
        return false;
    }
    hdx_point *point = &points->list[points->packed_to++]; /* no other thread packs it */
    hdx_pos    out = point->out;
    uint32_t   len = point->window_len;
    memcpy(window, point->window, len);
    (void)pthread_mutex_unlock(&points->lock);

    uint32_t size = pack(window, len, packed);
    bool     small = size > 0 && size < len;
    if (!small)
        size = len;
    uint64_t at = 0;
    uint8_t *kept = NULL;
    /*
     * A file that cannot be written is not an error here: the window stays in memory, and the owner of the file will
     * find the same problem.
     */
    bool spilled = points->windows.put != NULL &&
                   points->windows.put(points->windows.context, small ? packed : window, size, &at, NULL) == HDX_OK;
    if (!spilled) {
        kept = small ? hdx_mem_get(points->mem, size) : NULL;
        if (kept == NULL)
            return true; /* stays raw, which is only larger */
        memcpy(kept, packed, size);
    }

    (void)pthread_mutex_lock(&points->lock);
    point = &points->list[floor_index(points, out)]; /* the list may have moved or been thinned meanwhile */
    if (point->out == out && point->window != NULL && !point->packed) {
        hdx_mem_put(points->mem, point->window, len);
        points->bytes -= spilled ? len : len - size;
        point->window = kept;
        point->window_size = size;
        point->window_at = at;
        point->packed = small;
        point->spilled = spilled;
        kept = NULL;
    }
    (void)pthread_mutex_unlock(&points->lock);
    hdx_mem_put(points->mem, kept, size);
    return true;
}

bool hdx_points_pack_one(hdx_points *points)
{
    uint8_t   *room = malloc(2 * HDX_WINDOW); /* too large for the stack of a thread */
    const bool more = room != NULL && pack_one(points, room, room + HDX_WINDOW);
    free(room);
    return more;
}

/* P3. The slice of a dropped point is merged with the one before, and so are their CRCs. */
static void thin(hdx_points *points)
{
    uint64_t kept = 0, packed_to = 0;
    for (uint64_t i = 0; i < points->count; i += 2) {
        hdx_point point = points->list[i];
        if (i + 1 < points->count) {
            const hdx_point *gone = &points->list[i + 1];
            bool             last = i + 2 == points->count;
            point.slice_known = point.slice_known && gone->slice_known && (!last || points->end_known);
            if (point.slice_known) {
                hdx_pos end = last ? points->end : points->list[i + 2].out;
                point.slice_crc = (uint32_t)crc32_combine(point.slice_crc, gone->slice_crc, (z_off_t)(end - gone->out));
            }
            points->bytes -= gone->window == NULL ? 0 : gone->window_size;
            hdx_mem_put(points->mem, gone->window, gone->window_size);
        }
        if (i < points->packed_to)
            packed_to = kept + 1;
        points->list[kept++] = point;
    }
    points->count = kept;
    points->packed_to = packed_to;
    points->spacing *= 2;
}

hdx_code hdx_points_add(hdx_points *points, const hdx_point *point, const uint8_t *window, bool *added, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint8_t *copy = NULL;
    *added = false;
    (void)pthread_mutex_lock(&points->lock);
    if (points->loaded || points->end_known || point->out < points->decided ||
        point->out < points->list[points->count - 1].out + points->spacing / 3)
        goto out;
    if (points->windows.put == NULL && points->count > 2 &&
        points->bytes + points->count * sizeof *point + point->window_len > points->bytes_max)
        thin(points);
    if (point->window_len > 0 && (copy = hdx_mem_get(points->mem, point->window_len)) == NULL) {
        code = hdx_no_memory(err, "a seek point", point->window_len);
        goto out;
    }
    if (!hdx_mem_room(points->mem, (void **)&points->list, &points->capacity, points->count, sizeof *points->list)) {
        hdx_mem_put(points->mem, copy, point->window_len);
        code = hdx_no_memory(err, "seek points", points->count * sizeof *points->list);
        goto out;
    }
    hdx_point *place = &points->list[points->count++];
    *place = *point;
    place->window = copy;
    place->window_size = point->window_len;
    place->packed = place->slice_known = place->spilled = false;
    if (copy != NULL)
        memcpy(copy, window, point->window_len);
    points->bytes += point->window_len;
    *added = true;
out:;
    bool flood = points->count > points->packed_to + RAW_MAX;
    (void)pthread_mutex_unlock(&points->lock);
    if (flood)
        (void)hdx_points_pack_one(points);
    return code;
}

bool hdx_points_drop(hdx_points *points, hdx_pos inside, hdx_pos at, hdx_pos member_out, hdx_pos *from, uint32_t *crc)
{
    bool drop = false;
    (void)pthread_mutex_lock(&points->lock);
    if (points->count >= 2 && !points->end_known) {
        hdx_point *gone = &points->list[points->count - 1], *before = gone - 1;
        drop = gone->out == inside && gone->kind != HDX_POINT_MEMBER && before->out == member_out &&
               before->slice_known && at - before->out <= HDX_SLICE_MAX;
        if (drop) {
            *from = before->out;
            *crc = before->slice_crc;
            before->slice_known = false;
            points->decided = at;
            points->bytes -= gone->window == NULL ? 0 : gone->window_size;
            hdx_mem_put(points->mem, gone->window, gone->window_size);
            points->count--;
            if (points->packed_to > points->count)
                points->packed_to = points->count;
        }
    }
    (void)pthread_mutex_unlock(&points->lock);
    return drop;
}

hdx_passed hdx_points_passed(hdx_points *points, hdx_pos from, hdx_pos to, uint32_t crc)
{
    hdx_passed passed = HDX_PASSED_NOTHING;
    (void)pthread_mutex_lock(&points->lock);
    uint64_t   at = floor_index(points, to);
    bool       end = points->end_known && to == points->end;
    hdx_point *slice = NULL;
    if (points->list[at].out == to) {
        passed = HDX_PASSED_POINT;
        slice = at > 0 ? &points->list[at - 1] : NULL;
    }
    if (end && (slice == NULL || from == points->list[at].out)) {
        passed = HDX_PASSED_POINT;
        slice = &points->list[at];
    }
    if (slice != NULL && slice->out == from) {
        if (slice->slice_known && slice->slice_crc != crc)
            passed = HDX_PASSED_CHANGED;
        slice->slice_known = true;
        if (passed != HDX_PASSED_CHANGED)
            slice->slice_crc = crc;
    }
    (void)pthread_mutex_unlock(&points->lock);
    return passed;
}

bool hdx_points_end(hdx_points *points, hdx_pos end)
{
    (void)pthread_mutex_lock(&points->lock);
    bool fits = points->end_known ? points->end == end : points->list[points->count - 1].out <= end;
    if (fits) {
        points->end = end;
        points->end_known = true;
    }
    (void)pthread_mutex_unlock(&points->lock);
    return fits;
}

bool hdx_points_size(hdx_points *points, hdx_pos *end)
{
    (void)pthread_mutex_lock(&points->lock);
    bool known = points->end_known;
    *end = points->end;
    (void)pthread_mutex_unlock(&points->lock);
    return known;
}
