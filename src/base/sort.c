/* sort.c - a radix sort of keys and indices; afterwards the elements are moved. */
#include "base/sort.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT 11u
#define FEW   64u /* fewer elements are sorted faster by qsort */

typedef hdx_pair keyed; /* the key and its index */
#define PIECE sizeof(keyed)

static bool is_sorted(const uint8_t *at, uint64_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (uint64_t i = 1; i < count; i++)
        if (compare(at + (i - 1) * size, at + i * size) > 0)
            return false;
    return true;
}

static inline uint64_t number_of(const keyed *k, bool second) { return second ? k->second : k->first; }

/*
 * Stable sort by one of the two numbers, from the least significant digit on, skipping digits that do not differ.
 * Returns the array with the result.
 */
static keyed *sort_keys(keyed *from, keyed *to, uint64_t count, uint64_t differ, bool second)
{
    for (unsigned shift = 0; shift < 64 && differ >> shift != 0; shift += DIGIT) {
        uint64_t start[1u << DIGIT] = { 0 }, sum = 0;
        if ((differ >> shift & ((1u << DIGIT) - 1)) == 0)
            continue;
        for (uint64_t i = 0; i < count; i++)
            start[number_of(&from[i], second) >> shift & ((1u << DIGIT) - 1)]++;
        for (unsigned d = 0; d < 1u << DIGIT; d++) {
            const uint64_t n = start[d];
            start[d] = sum;
            sum += n;
        }
        for (uint64_t i = 0; i < count; i++)
            to[start[number_of(&from[i], second) >> shift & ((1u << DIGIT) - 1)]++] = from[i];
        keyed *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/*
 * Element i comes from sorted[i].second. Sixteen bytes of each element at a time are gathered in `spare`, which has
 * room for that, and copied back in order: the random reads then do not wait for each other, as they would if elements
 * were moved along cycles.
 */
static void move_all(uint8_t *at, const keyed *sorted, uint8_t *spare, uint64_t count, size_t size)
{
    for (size_t done = 0; done < size; done += PIECE) {
        if (size - done >= PIECE) {
            for (uint64_t i = 0; i < count; i++)
                memcpy(spare + i * PIECE, at + sorted[i].second * size + done, PIECE);
            for (uint64_t i = 0; i < count; i++)
                memcpy(at + i * size + done, spare + i * PIECE, PIECE);
        } else {
            for (uint64_t i = 0; i < count; i++)
                memcpy(spare + i * PIECE, at + sorted[i].second * size + done, size - done);
            for (uint64_t i = 0; i < count; i++)
                memcpy(at + i * size + done, spare + i * PIECE, size - done);
        }
    }
}

static uint64_t key_of(const uint8_t *element, size_t key_offset)
{
    uint64_t key;
    memcpy(&key, element + key_offset, sizeof key);
    return key;
}

void hdx_sort(hdx_mem *mem, void *array, uint64_t count, size_t size, size_t key_offset,
              int (*compare)(const void *, const void *))
{
    uint8_t *at = array;
    keyed   *keys = NULL;
    uint64_t differ = 0;
    if (count < 2 || is_sorted(at, count, size, compare))
        return;
    if (count < FEW || (keys = hdx_mem_array(mem, count, 2 * sizeof *keys)) == NULL) {
        qsort(at, (size_t)count, size, compare);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        keys[i] = (keyed){ key_of(at + i * size, key_offset), i };
        differ |= keys[i].first ^ keys[0].first;
    }
    keyed *sorted = sort_keys(keys, keys + count, count, differ, false);
    move_all(at, sorted, (uint8_t *)(sorted == keys ? keys + count : keys), count, size);
    for (uint64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].first == sorted[i].first; end++)
            ;
        if (!is_sorted(at + i * size, end - i, size, compare))
            qsort(at + i * size, (size_t)(end - i), size, compare);
    }
    hdx_mem_put(mem, keys, count * 2 * sizeof *keys);
}

static int rising(const void *a, const void *b)
{
    const hdx_pair *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

void hdx_sort_pairs(hdx_mem *mem, hdx_pair *pairs, uint64_t count)
{
    uint64_t  differ[2] = { 0, 0 };
    hdx_pair *spare = NULL;
    if (count < 2 || is_sorted((const uint8_t *)pairs, count, sizeof *pairs, rising))
        return;
    if (count < FEW || (spare = hdx_mem_array(mem, count, sizeof *spare)) == NULL) {
        qsort(pairs, (size_t)count, sizeof *pairs, rising);
        return;
    }
    bool rise = true; /* whether the second numbers ascend: usually indices */
    for (uint64_t i = 1; i < count; i++) {
        differ[0] |= pairs[i].first ^ pairs[0].first;
        differ[1] |= pairs[i].second ^ pairs[0].second;
        rise = rise && pairs[i - 1].second <= pairs[i].second;
    }
    hdx_pair *sorted = rise ? pairs : sort_keys(pairs, spare, count, differ[1], true);
    sorted = sort_keys(sorted, sorted == pairs ? spare : pairs, count, differ[0], false);
    if (sorted != pairs)
        memcpy(pairs, sorted, count * sizeof *pairs);
    hdx_mem_put(mem, spare, count * sizeof *spare);
}
