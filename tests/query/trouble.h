/* trouble.h - the heap of trouble_dump.h, indexed and open. */
#ifndef HDX_TESTS_QUERY_TROUBLE_H
#define HDX_TESTS_QUERY_TROUBLE_H

#include "heap.h"
#include "query/trouble_dump.h"

static inline void trouble_make(heap *h) { heap_open(h, trouble_dump()); }

#endif
