/*
 * dump_only.h - objects that are in the heap only because of how the dump was made.
 *
 * `am dumpheap -b png|jpg|webp` (Android 15 and later) calls android.graphics.Bitmap.dumpAll() before the heap is
 * written, which stores one compressed picture for each Bitmap in the static Bitmap.dumpData (square/leakcanary PR
 * 2908, google/perfetto PR 5581). The program never had these objects, so no question about memory may blame them.
 */
#ifndef HDX_QUERY_COMMON_DUMP_ONLY_H
#define HDX_QUERY_COMMON_DUMP_ONLY_H

#include "query/query.h"

typedef struct hdx_dump_only {
    hdx_id   object; /* the Bitmap$DumpData; HDX_NO_ID: none */
    hdx_id   top;    /* the object itself, or its topmost dominator below the GC roots */
    uint64_t bytes;  /* that it retains */
} hdx_dump_only;
hdx_dump_only hdx_dump_only_of(hdx_graph *g);
/* Reports to `notice` that these objects exist in the dump only. */
void hdx_dump_only_report(const hdx_query *q);

#endif
