/*
 * listing.h - a question whose answer is a list: a finder adds entries, and each is a row, or with --by they are summed
 * (grouped.h). A question consists of its finder, a function that fills the cells of a row, and tables:
 *
 *     typedef struct cleaners {
 *         hdx_found  found;          must be first
 *         hdx_fields fields;
 *     } cleaners;
 *     static hdx_code find(void *of, hdx_error *err) { ... hdx_found_add(&c->found, &entry, err) ... }
 *     static const hdx_listing listing = { .what = "cleaners", .state = sizeof(cleaners), .entry = sizeof(cleaner),
 *                                          .find = find, ... };
 *     const hdx_question hdx_question_cleaners = { .declared = { ... }, .listing = &listing };
 */
#ifndef HDX_QUERY_COMMON_LISTING_H
#define HDX_QUERY_COMMON_LISTING_H

#include "query/common/found.h"
#include "query/common/grouped.h"

struct hdx_listing {
    const char *what;         /* plural, for messages about memory: "cleaners" */
    size_t      state, entry; /* sizes in bytes; a state is zeroed, except for its hdx_found, which is first */
    /* As declared: with --by one for each choice, in their order, then that of the list itself. */
    const hdx_form     *forms;
    const hdx_grouping *groupings; /* for each choice of --by; NULL: `sums` computes them */
    hdx_code (*sums)(void *state, int by, hdx_rows **out, hdx_error *err);
    unsigned label, field; /* columns that are filled only for rows that are returned; 0: none */
    hdx_code (*find)(void *state, hdx_error *err);
    int (*order)(const void *entry, const void *other); /* order of the rows; NULL: as found */
    /* Fills the cells of a row, which are null before. */
    hdx_code (*cells)(void *state, const void *entry, hdx_arena *arena, hdx_cell *cells, hdx_error *err);
    /* adds to the document (extras.h); NULL: nothing */
    hdx_code (*beside)(void *state, hdx_rows **rows, hdx_error *err);
    const char *(*nothing)(const void *state); /* returns why there are no rows */
    /* closes what the finder opened, other than memory of the question's scope; NULL: nothing */
    void (*close)(void *state);
};

#endif
