/*
 * found.h - a growing array of the entries that the finder of a question adds, and the query it answers.
 */
#ifndef HDX_QUERY_COMMON_FOUND_H
#define HDX_QUERY_COMMON_FOUND_H

#include "query/query.h"

typedef struct hdx_found {
    hdx_ask              ask;
    const hdx_arguments *arguments; /* of the question; only valid while the finder runs */
    const char          *what;      /* plural: "cleaners" */
    void                *at;
    uint64_t             count, capacity, entry; /* entry: bytes per entry */
} hdx_found;

/* Appends a copy of the entry. Checks for cancellation. */
hdx_code hdx_found_add(hdx_found *f, const void *entry, hdx_error *err);
/* Sorts with a comparator of qsort; not stable. */
void hdx_found_sort(hdx_found *f, int (*order)(const void *entry, const void *other));

/* Define a static function that returns a number of an entry, or whether a condition holds for it. */
#define HDX_ENTRY_NUMBER(name, type, number)                                                                           \
    static uint64_t name(const void *entry) { return ((const type *)entry)->number; }
#define HDX_ENTRY_IS(name, type, holds)                                                                                \
    static bool name(const void *entry) { return ((const type *)entry)->holds; }

static inline const void *hdx_found_entry(const hdx_found *f, uint64_t i) { return (const char *)f->at + i * f->entry; }

#endif
