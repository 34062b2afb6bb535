/* thread_facts.h - reads the fields of threads. */
#ifndef HDX_QUERY_COMMON_THREAD_FACTS_H
#define HDX_QUERY_COMMON_THREAD_FACTS_H

#include "query/query.h"
#include "query/common/fields.h"

typedef struct hdx_thread_facts { /* fields of a thread object; null cells if the dump lacks them */
    hdx_cell name, daemon, priority, state, carrier, context_class_loader;
    bool     is_virtual;
} hdx_thread_facts;
typedef struct hdx_thread_reader { /* reads many threads (thread_facts.c) */
    hdx_query  q;
    hdx_fields thread, holder;
    uint32_t   virtuals; /* class number of virtual threads; HDX_NO_CLASS: the dump has no such class */
    unsigned   state_count;
    struct {
        int64_t     value; /* of VirtualThread.state, from the constants of its class */
        const char *state; /* name in java.lang.Thread.State */
    } states[24];
} hdx_thread_reader;
/* Opens a reader. The caller closes it in any case. */
hdx_code hdx_thread_reader_open(const hdx_query *q, hdx_thread_reader *out, hdx_error *err);
void     hdx_thread_reader_close(hdx_thread_reader *r);
bool     hdx_thread_is_virtual(const hdx_thread_reader *r, hdx_id thread);
hdx_code hdx_thread_read(hdx_thread_reader *r, hdx_id thread, hdx_arena *arena, hdx_thread_facts *out, hdx_error *err);

#endif
