/* threads.h - locals of threads, and threads by pool. */
#ifndef HDX_QUERY_RUNTIME_THREADS_H
#define HDX_QUERY_RUNTIME_THREADS_H

#include "query/query.h"

/* Summed by names without their numbers (thread_pools.c). */
enum { HDX_THREAD_POOL_COLUMNS = 11 };
extern const hdx_column hdx_thread_pool_columns[HDX_THREAD_POOL_COLUMNS];
hdx_code                hdx_thread_pools(const hdx_query *q, hdx_rows **out, hdx_error *err);
/*
 * The pool of a thread by its name: each run of digits is one '#'. Sets *out to a text in the arena, which is empty for
 * a name that is no text; false: no memory.
 */
bool hdx_thread_pool_name(const hdx_cell *name, hdx_arena *arena, hdx_text *out);
typedef struct hdx_frame_local { /* a root entry that belongs to a thread */
    hdx_id  thread;
    int32_t frame;
    hdx_id  object;
} hdx_frame_local;
/* All locals by thread, frame, object, each once; from hdx_mem_array(mem, *capacity, ). */
hdx_code hdx_locals_of(hdx_mem *mem, hdx_graph *g, hdx_frame_local **out, uint64_t *count, uint64_t *capacity,
                       hdx_error *err);
uint64_t hdx_locals_first(const hdx_frame_local *locals, uint64_t count, hdx_id thread,
                          int32_t frame); /* place of the first not before */

hdx_code hdx_query_roots(const hdx_query *q, hdx_by by, hdx_rows **out, hdx_error *err);
hdx_code hdx_query_threads(const hdx_query *q, bool stacks, bool locals, hdx_rows **out, hdx_error *err);

#endif
