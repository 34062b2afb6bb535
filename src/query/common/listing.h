/*
 * listing.h - a question whose answer is a list: a finder looks for entries, each of which is a row, or with --by they
 * are summed (grouped.h). The question itself is its finder, what the cells of a row are, and tables:
 *
 *     typedef struct cleaners {
 *         hdx_found  found;          must come first
 *         hdx_fields fields;
 *     } cleaners;
 *     static hdx_code find(void *of, hdx_error *err) { ... hdx_found_add(&c->found, &entry, err) ... }
 *     static const hdx_listing listing = { .what = "cleaners", .state = sizeof(cleaners), .entry = sizeof(cleaner), ...
 * }; const hdx_question hdx_question_cleaners = { .declared = { ... }, .listing = &listing };
 */
#ifndef HDX_QUERY_COMMON_LISTING_H
#define HDX_QUERY_COMMON_LISTING_H

#include "query/common/found.h"
#include "query/common/grouped.h"

struct hdx_listing {
    const char *what;         /* plural, for errors of memory: "cleaners" */
    size_t      state, entry; /* bytes; a state is zero but for its hdx_found, with which it begins */
    /* As in the declaration: with --by one for each of its choices, in their order, then that of the list itself. */
    const hdx_form     *forms;
    const hdx_grouping *groupings; /* for each choice of --by; NULL: `sums` answers it */
    hdx_code (*sums)(void *state, int by, hdx_rows **out, hdx_error *err);
    unsigned label, field; /* columns that are filled for the rows that go out alone; 0: there is none */
    hdx_code (*find)(void *state, hdx_error *err);
    int (*order)(const void *entry, const void *other); /* of rows; NULL: as they were found */
    /* All cells are null before. */
    hdx_code (*cells)(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err);
    hdx_code (*beside)(void *state, hdx_rows **rows, hdx_error *err); /* beside.h; NULL: nothing */
    const char *(*nothing)(const void *state);                        /* why there are no rows */
    void (*close)(void *state); /* of what the finder opened and is no memory of the question's scope; NULL: nothing */
};

#endif
