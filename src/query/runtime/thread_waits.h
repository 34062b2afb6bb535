/* thread_waits.h - what threads wait for, who has it, and which of them wait for each other. */
#ifndef HDX_QUERY_RUNTIME_THREAD_WAITS_H
#define HDX_QUERY_RUNTIME_THREAD_WAITS_H

#include "query/common/thread_facts.h"

typedef struct hdx_thread_wait {
    hdx_id   blocker;  /* the synchronizer that it is parked at; HDX_NO_ID: none */
    hdx_id   owner;    /* the thread that has it, or has to finish it; HDX_NO_ID: not known */
    uint32_t deadlock; /* number of the circle of threads that it is in, from 1; 0: none */
} hdx_thread_wait;
typedef struct hdx_thread_waits {
    hdx_thread_wait *at; /* of each thread, in the order of the ids */
    uint32_t         deadlocks;
} hdx_thread_waits;
/* threads: ids, ascending. The reader is used up to the next read. Memory is the query's. */
hdx_code hdx_thread_waits_find(hdx_ask *ask, hdx_thread_reader *reader, const hdx_ids *threads, hdx_thread_waits *out,
                               hdx_error *err);
/* "Deadlock: "a" waits for "b", which waits for "a"", a line for each circle; nothing where there is none. */
hdx_code hdx_thread_waits_say(const hdx_query *q, const hdx_ids *threads, const hdx_thread_waits *w, hdx_buffer *text,
                              hdx_error *err);

#endif
