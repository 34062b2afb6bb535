/*
 * dump_only.h - what is in the heap only because of how the dump was made.
 *
 * `am dumpheap -b png|jpg|webp` (Android 15 on) makes android.graphics.Bitmap.dumpAll() put one compressed picture for
 * each Bitmap below the static Bitmap.dumpData before the heap is written (square/leakcanary PR 2908, google/perfetto
 * PR 5581). The program never had these objects, so no question about memory may blame them.
 */
#ifndef HDX_QUERY_COMMON_DUMP_ONLY_H
#define HDX_QUERY_COMMON_DUMP_ONLY_H

#include "query/query.h"

typedef struct hdx_dump_only {
    hdx_id   object; /* the Bitmap$DumpData; HDX_NO_ID: there is none */
    hdx_id   top;    /* itself, or what dominates it and is dominated by the GC roots alone */
    uint64_t bytes;  /* that it keeps */
} hdx_dump_only;
hdx_dump_only hdx_dump_only_of(hdx_graph *g);
/* Tells the caller of the question that these objects are of the dump. */
void hdx_dump_only_tell(const hdx_query *q);

#endif
