/*
 * town.h - the heap of town_dump.h, indexed and open.
 */
#ifndef HDX_TESTS_QUERY_TOWN_H
#define HDX_TESTS_QUERY_TOWN_H

#include "heap.h"
#include "query/town_dump.h"

static inline void town_make(heap *h) { heap_open(h, town_dump(8, 0, 0)); }

#endif
