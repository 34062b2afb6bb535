/*
 * sample_heap.h - the heap of sample_dump.h, indexed and open.
 */
#ifndef HDX_TESTS_QUERY_SAMPLE_HEAP_H
#define HDX_TESTS_QUERY_SAMPLE_HEAP_H

#include "heap.h"
#include "query/sample_dump.h"

static inline void sample_heap_make(heap *h) { heap_open(h, sample_dump(8, 0, 0)); }

#endif
