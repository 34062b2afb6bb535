/* sort.h - sorts elements by a number that they contain. */
#ifndef HDX_BASE_SORT_H
#define HDX_BASE_SORT_H

#include "base/mem.h"

/*
 * Sorts by the uint64_t at `key_offset` of each element, and elements with equal numbers by `compare`. REQUIRES:
 * `compare` orders elements with different numbers by these numbers. An array that is already sorted costs one pass.
 * Otherwise the numbers are radix-sorted in 32 bytes per element, and then the elements are moved; if that memory is
 * refused, qsort is used.
 */
void hdx_sort(hdx_mem *mem, void *array, uint64_t count, size_t size, size_t key_offset,
              int (*compare)(const void *, const void *));

/* Sorts pairs by the first number, then by the second. Uses 16 bytes per pair, or qsort if they are refused. */
typedef struct hdx_pair {
    uint64_t first, second;
} hdx_pair;
void hdx_sort_pairs(hdx_mem *mem, hdx_pair *pairs, uint64_t count);

#endif
