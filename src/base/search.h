/*
 * search.h - binary search.
 *
 *     first = hdx_lower_bound(HDX_KEYS(roots, count, object), id);       the first root whose object is not below id
 *     for (; first < count && roots[first].object == id; first++) ...    all roots of that object
 *     block = hdx_upper_bound(HDX_NUMBERS(before, blocks), value) - 1;   the last block that begins at or before value
 *
 * For keys that are not numbers or not in an array, hdx_partition calls a function. All calls are inlined for the given
 * key type: no function calls, no run-time widths.
 */
#ifndef HDX_BASE_SEARCH_H
#define HDX_BASE_SEARCH_H

#include "base/inline.h"

#include <assert.h>
#include <heapdex/types.h>
#include <stddef.h>
#include <string.h>

/* Numbers in ascending order, possibly equal: `width` bytes, 4 or 8, at `offset` in each of `count` elements. */
typedef struct hdx_keys {
    const void *array; /* borrowed; may be NULL if count is 0 */
    uint64_t    count;
    size_t      size, offset, width;
} hdx_keys;

/*
 * HDX_KEYS selects the unsigned field by which an array of structs is sorted; HDX_NUMBERS an array of unsigned numbers.
 */
#define HDX_KEYS(array, count, field)                                                                                  \
    ((hdx_keys){ (array), (count), sizeof *(array), offsetof(__typeof__(*(array)), field), sizeof(array)->field })
#define HDX_NUMBERS(array, count) ((hdx_keys){ (array), (count), sizeof *(array), 0, sizeof *(array) })

/*
 * Returns the first place in [from, end) for which before(in, place, wanted) is false; `end` if it is true for all.
 * REQUIRES: it is false for all places after the first one for which it is false.
 */
HDX_INLINE uint64_t hdx_partition(const void *in, uint64_t from, uint64_t end, const void *wanted,
                                  bool (*before)(const void *in, uint64_t place, const void *wanted))
{
    while (from < end) {
        const uint64_t middle = from + (end - from) / 2;
        if (before(in, middle, wanted))
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

HDX_INLINE uint64_t hdx_key_at(const hdx_keys *keys, uint64_t place)
{
    const char *at = (const char *)keys->array + place * keys->size + keys->offset;
    uint32_t    narrow;
    uint64_t    wide;
    assert(keys->width == sizeof narrow || keys->width == sizeof wide);
    if (keys->width == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

HDX_INLINE bool hdx_key_below(const void *keys, uint64_t place, const void *wanted)
{
    return hdx_key_at(keys, place) < *(const uint64_t *)wanted;
}

HDX_INLINE bool hdx_key_not_above(const void *keys, uint64_t place, const void *wanted)
{
    return hdx_key_at(keys, place) <= *(const uint64_t *)wanted;
}

/* Returns the first place whose number is not less than `wanted`; the count if there is none. */
HDX_INLINE uint64_t hdx_lower_bound(hdx_keys keys, uint64_t wanted)
{
    return hdx_partition(&keys, 0, keys.count, &wanted, hdx_key_below);
}

/* Returns the first place whose number is greater than `wanted`; the count if there is none. */
HDX_INLINE uint64_t hdx_upper_bound(hdx_keys keys, uint64_t wanted)
{
    return hdx_partition(&keys, 0, keys.count, &wanted, hdx_key_not_above);
}

#endif
