/* sort.h - sorting by a number that elements hold. */
#ifndef HDX_BASE_SORT_H
#define HDX_BASE_SORT_H

#include "base/mem.h"

/*
 * Sorts by the uint64_t at `key_offset` of an element, and elements with the same one by `compare`, which must put
 * those of different numbers in the order of the numbers. In order already: one look at each. Else the numbers are
 * sorted digit by digit in 32 bytes an element, and then the elements move; where that memory is refused, qsort does
 * it.
 */
void hdx_sort(hdx_mem *mem, void *array, uint64_t count, size_t size, size_t key_offset,
              int (*compare)(const void *, const void *));

/* By the first number, then the second; 16 bytes a pair besides, or qsort. */
typedef struct hdx_pair {
    uint64_t first, second;
} hdx_pair;
void hdx_sort_pairs(hdx_mem *mem, hdx_pair *pairs, uint64_t count);

#endif
