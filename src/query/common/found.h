/*
 * found.h - the entries that the finder of a question yields, of whatever type, and the question that they are of.
 */
#ifndef HDX_QUERY_COMMON_FOUND_H
#define HDX_QUERY_COMMON_FOUND_H

#include "query/query.h"

typedef struct hdx_found {
    hdx_ask              ask;
    const hdx_arguments *arguments; /* of the question; gone when its rows are asked for */
    const char          *what;      /* plural: "cleaners" */
    void                *at;
    uint64_t             count, capacity, entry; /* entry: bytes of one */
} hdx_found;

/* A copy of the entry; asks now and then whether to stop. */
hdx_code hdx_found_add(hdx_found *f, const void *entry, hdx_error *err);
void     hdx_found_drop(hdx_found *f);
/* By qsort's comparator; equal ones in no order. */
void hdx_found_sort(hdx_found *f, int (*order)(const void *entry, const void *other));

/* static functions of an entry: a number of it, and whether something holds of it. */
#define HDX_ENTRY_NUMBER(name, type, number)                                                                           \
    static uint64_t name(const void *entry) { return ((const type *)entry)->number; }
#define HDX_ENTRY_IS(name, type, holds)                                                                                \
    static bool name(const void *entry) { return ((const type *)entry)->holds; }

static inline const void *hdx_found_entry(const hdx_found *f, uint64_t i) { return (const char *)f->at + i * f->entry; }

#endif
