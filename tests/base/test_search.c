/* test_search.c - halving what is in order, against looking at every element. */
#include "base/search.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#define MOST 40

typedef struct wide_element {
    uint8_t  before;
    uint64_t key;
} wide_element;

typedef struct narrow_element {
    uint64_t before;
    uint32_t key;
    uint8_t  after;
} narrow_element;

static uint64_t least(const uint64_t *keys, uint64_t count, uint64_t wanted)
{
    uint64_t i = 0;
    while (i < count && keys[i] < wanted)
        i++;
    return i;
}

static uint64_t next(const uint64_t *keys, uint64_t count, uint64_t wanted)
{
    uint64_t i = 0;
    while (i < count && keys[i] <= wanted)
        i++;
    return i;
}

/* Every number from one below the least key to one above the greatest, in arrays of all forms. */
static void check(const uint64_t *keys, uint64_t count, uint64_t end)
{
    wide_element   wide[MOST];
    narrow_element narrow[MOST];
    uint32_t       numbers[MOST];
    for (uint64_t i = 0; i < count; i++) {
        wide[i] = (wide_element){ 0xff, keys[i] };
        narrow[i] = (narrow_element){ UINT64_MAX, (uint32_t)keys[i], 0xff };
        numbers[i] = (uint32_t)keys[i];
    }
    for (uint64_t wanted = 0; wanted < end; wanted++) {
        const uint64_t first = least(keys, count, wanted), after = next(keys, count, wanted);
        cr_assert(eq(u64, hdx_lower_bound(HDX_NUMBERS(keys, count), wanted), first));
        cr_assert(eq(u64, hdx_upper_bound(HDX_NUMBERS(keys, count), wanted), after));
        cr_assert(eq(u64, hdx_lower_bound(HDX_NUMBERS(numbers, count), wanted), first));
        cr_assert(eq(u64, hdx_upper_bound(HDX_NUMBERS(numbers, count), wanted), after));
        cr_assert(eq(u64, hdx_lower_bound(HDX_KEYS(wide, count, key), wanted), first));
        cr_assert(eq(u64, hdx_upper_bound(HDX_KEYS(wide, count, key), wanted), after));
        cr_assert(eq(u64, hdx_lower_bound(HDX_KEYS(narrow, count, key), wanted), first));
        cr_assert(eq(u64, hdx_upper_bound(HDX_KEYS(narrow, count, key), wanted), after));
    }
}

Test(search, finds_the_bounds_of_every_number_in_every_length)
{
    uint64_t keys[MOST];
    srand(7);
    for (uint64_t count = 0; count <= MOST; count++)
        for (unsigned round = 0; round < 8; round++) {
            uint64_t key = 1; /* steps of 0 to 2: runs of equals, and gaps */
            for (uint64_t i = 0; i < count; i++)
                keys[i] = key += (uint64_t)rand() % 3;
            check(keys, count, key + 2);
        }
}

Test(search, knows_no_signs)
{
    const uint64_t wide[] = { 1, 1ull << 63, UINT64_MAX - 1, UINT64_MAX };
    const uint32_t narrow[] = { 1, 1u << 31, UINT32_MAX };
    cr_expect(eq(u64, hdx_lower_bound(HDX_NUMBERS(wide, 4), 2), 1));
    cr_expect(eq(u64, hdx_upper_bound(HDX_NUMBERS(wide, 4), 1ull << 63), 2));
    cr_expect(eq(u64, hdx_lower_bound(HDX_NUMBERS(wide, 4), UINT64_MAX), 3));
    cr_expect(eq(u64, hdx_upper_bound(HDX_NUMBERS(wide, 4), UINT64_MAX), 4));
    cr_expect(eq(u64, hdx_lower_bound(HDX_NUMBERS(narrow, 3), 1u << 31), 1));
    cr_expect(eq(u64, hdx_lower_bound(HDX_NUMBERS(narrow, 3), 1ull << 32), 3), "above all that 4 bytes hold");
}

Test(search, of_nothing_needs_no_array)
{
    const wide_element *none = NULL;
    cr_expect(eq(u64, hdx_lower_bound(HDX_KEYS(none, 0, key), 5), 0));
    cr_expect(eq(u64, hdx_upper_bound(HDX_KEYS(none, 0, key), 5), 0));
}

typedef struct asking {
    uint64_t from, end, steps;
} asking;

static bool square_below(const void *in, uint64_t place, const void *wanted)
{
    asking *a = *(asking *const *)in;
    cr_assert(place >= a->from && place < a->end, "%llu is outside", (unsigned long long)place);
    a->steps++;
    return place * place < *(const uint64_t *)wanted;
}

Test(search, asks_inside_the_range_alone_and_few_times)
{
    asking         a = { 3, 1003, 0 };
    asking        *in = &a;
    const uint64_t inside = 500 * 500, below = 2, above = 2000 * 2000;
    cr_expect(eq(u64, hdx_partition(&in, a.from, a.end, &inside, square_below), 500));
    cr_expect(le(u64, a.steps, 10), "a thousand places are halved ten times");
    cr_expect(eq(u64, hdx_partition(&in, a.from, a.end, &below, square_below), 3));
    cr_expect(eq(u64, hdx_partition(&in, a.from, a.end, &above, square_below), 1003));
    a.steps = 0;
    cr_expect(eq(u64, hdx_partition(&in, 9, 9, &inside, square_below), 9));
    cr_expect(eq(u64, a.steps, 0));
}
