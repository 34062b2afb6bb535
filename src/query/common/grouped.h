/*
 * grouped.h - sums entries by a key, as a table with one row per key. Keys and sums are declared:
 *
 *     static const hdx_sum sums[] = {
 *         { 0 },                                          how many
 *         { .only = is_queued },                          how many of these
 *         { .value = retained_of },                       the sum of a number
 *         { .once = thread_of },                          how many different threads
 *         { .value = shallow_of, .once = value_of },      the sum, with each value counted once
 *     };
 *     static const hdx_grouping groupings[] = { { .key = class_of, .key_cells = hdx_class_key_cells, .keys = 1,
 *                                                 .sums = sums, .sum_count = HDX_COUNT(sums), .most = 1 } };
 */
#ifndef HDX_QUERY_COMMON_GROUPED_H
#define HDX_QUERY_COMMON_GROUPED_H

#include "query/query.h"

#include "base/list.h"
#include "base/map.h"

/* Limits. HDX_GROUPED_ONCE: number of different `once` functions. */
enum { HDX_GROUPED_KEYS = 4, HDX_GROUPED_SUMS = 8, HDX_GROUPED_ONCE = 2 };

typedef struct hdx_sum {
    uint64_t (*value)(const void *entry); /* the number to add; NULL: 1 */
    bool (*only)(const void *entry);      /* sums only entries for which this is true; NULL: all */
    /* of the entries of a group with equal results, only the first is summed; NULL: all are */
    uint64_t (*once)(const void *entry);
} hdx_sum;

typedef struct hdx_grouping {
    uint64_t (*key)(const void *entry);
    /* Fills the first `keys` cells of a row, which are null before; the sums follow them. */
    hdx_code (*key_cells)(const hdx_ask *ask, uint64_t key, hdx_arena *arena, hdx_cell *cells, hdx_error *err);
    unsigned       keys, sum_count;
    const hdx_sum *sums;
    /*
     * Numbers of sums, from 1; 0: none. Rows are in descending order of the sum `most`, then of the sum `then`, then by
     * key.
     */
    unsigned most, then;
} hdx_grouping;

typedef struct hdx_group {
    uint64_t key, rank[2], sums[HDX_GROUPED_SUMS]; /* rank: the sums `most` and `then` */
} hdx_group;

typedef struct hdx_grouped {
    const hdx_grouping *by;
    hdx_ask             ask;
    const char         *what;   /* plural: "cleaners" */
    hdx_map             places; /* index of a key in `groups` */
    HDX_LIST(hdx_group) groups;
    uint64_t            last; /* group of the last entry, because the next one often has the same key */
    struct {
        uint64_t (*of)(const void *entry);
        hdx_map numbers; /* number of each result, from 0 */
        hdx_map seen;    /* group << 32 | that number */
    } once[HDX_GROUPED_ONCE];
} hdx_grouped;

hdx_grouped hdx_grouped_of(const hdx_grouping *by, const hdx_ask *ask, const char *what);
hdx_code    hdx_grouped_add(hdx_grouped *g, const void *entry, hdx_error *err);
/* Creates the table with one row per group. */
hdx_code hdx_grouped_rows(hdx_grouped *g, const hdx_form *form, hdx_rows **out, hdx_error *err);
uint64_t hdx_grouped_total(const hdx_grouped *g, unsigned sum); /* sum over all groups; sum: its number, from 1 */
void     hdx_grouped_drop(hdx_grouped *g);

/* ---- keys that several questions share ---- */

hdx_code hdx_class_key_cells(const hdx_ask *ask, uint64_t number, hdx_arena *arena, hdx_cell *cells, hdx_error *err);

#endif
