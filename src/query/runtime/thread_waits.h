/* thread_waits.h - what threads wait for, which thread owns it, and which threads deadlock. */
#ifndef HDX_QUERY_RUNTIME_THREAD_WAITS_H
#define HDX_QUERY_RUNTIME_THREAD_WAITS_H

#include "query/common/thread_facts.h"

typedef struct hdx_thread_wait {
    hdx_id   blocker;  /* the synchronizer at which it is parked; HDX_NO_ID: none */
    hdx_id   owner;    /* the thread that owns it or must complete it; HDX_NO_ID: unknown */
    uint32_t deadlock; /* number of its cycle of waiting threads, from 1; 0: none */
} hdx_thread_wait;
typedef struct hdx_thread_waits {
    hdx_thread_wait *at; /* one per thread, in the order of the ids */
    uint32_t         deadlocks;
} hdx_thread_waits;
/* Finds the waits of threads (ascending ids). Overwrites the last result of the reader. Memory is the query's. */
hdx_code hdx_thread_waits_find(hdx_ask *ask, hdx_thread_reader *reader, const hdx_ids *threads, hdx_thread_waits *out,
                               hdx_error *err);
/* Appends one line per deadlock: "Deadlock: "a" waits for "b", which waits for "a"". */
hdx_code hdx_thread_waits_say(const hdx_query *q, const hdx_ids *threads, const hdx_thread_waits *w, hdx_buffer *text,
                              hdx_error *err);

#endif
