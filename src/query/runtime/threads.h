/* threads.h - locals of threads, and threads by pool. */
#ifndef HDX_QUERY_RUNTIME_THREADS_H
#define HDX_QUERY_RUNTIME_THREADS_H

#include "query/query.h"

/* Sums of threads by their names without numbers (thread_pools.c). */
enum { HDX_THREAD_POOL_COLUMNS = 11 };
extern const hdx_column hdx_thread_pool_columns[HDX_THREAD_POOL_COLUMNS];
hdx_code                hdx_thread_pools(const hdx_query *q, hdx_rows **out, hdx_error *err);
/*
 * Returns the pool of a thread: its name with '#' for each run of digits. *out is in the arena, and empty if the name
 * is not a text; false: no memory.
 */
bool hdx_thread_pool_name(const hdx_cell *name, hdx_arena *arena, hdx_text *out);
typedef struct hdx_frame_local { /* a local of a thread */
    hdx_id  thread;
    int32_t frame;
    hdx_id  object;
} hdx_frame_local;
/* Returns all locals sorted by thread, frame and object, each once; allocated by hdx_mem_array(mem, *capacity, ...). */
hdx_code hdx_locals_of(hdx_mem *mem, hdx_graph *g, hdx_frame_local **out, uint64_t *count, uint64_t *capacity,
                       hdx_error *err);
/* Returns the index of the first local that does not precede this thread and frame. */
uint64_t hdx_locals_first(const hdx_frame_local *locals, uint64_t count, hdx_id thread, int32_t frame);

hdx_code hdx_query_roots(const hdx_query *q, hdx_by by, hdx_rows **out, hdx_error *err);
hdx_code hdx_query_threads(const hdx_query *q, bool stacks, bool locals, hdx_rows **out, hdx_error *err);

#endif
