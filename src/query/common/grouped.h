/*
 * grouped.h - sums of entries by a key, as a table with one row per key. Keys and sums are declared:
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

enum { HDX_GROUPED_KEYS = 4, HDX_GROUPED_SUMS = 8, HDX_GROUPED_ONCE = 2 }; /* at most; of different `once` */

typedef struct hdx_sum {
    uint64_t (*value)(const void *entry); /* what is added; NULL: 1 */
    bool (*only)(const void *entry);      /* counts entries for which this is true; NULL: all */
    uint64_t (*once)(const void *entry);  /* of entries with the same, in a group, the first alone; NULL: of all */
} hdx_sum;

typedef struct hdx_grouping {
    uint64_t (*key)(const void *entry);
    /* The first `keys` cells of a row, null before; the sums follow them. */
    hdx_code (*key_cells)(const hdx_ask *ask, uint64_t key, hdx_arena *arena, hdx_cell *cells, hdx_error *err);
    unsigned       keys, sum_count;
    const hdx_sum *sums;
    unsigned       most, then; /* numbers of sums, from 1; 0: none. Rows: the most of the first, of equals the most of
                                  the second, of equals by key */
} hdx_grouping;

typedef struct hdx_group {
    uint64_t key, rank[2], sums[HDX_GROUPED_SUMS]; /* rank: sums `most` and `then` */
} hdx_group;

typedef struct hdx_grouped {
    const hdx_grouping *by;
    hdx_ask             ask;
    const char         *what;   /* plural: "cleaners" */
    hdx_map             places; /* of a key in `groups` */
    HDX_LIST(hdx_group) groups;
    uint64_t            last; /* group of the last entry; the next one often has the same key */
    struct {
        uint64_t (*of)(const void *entry);
        hdx_map numbers; /* of what it was of, from 0 */
        hdx_map seen;    /* group << 32 | that number */
    } once[HDX_GROUPED_ONCE];
} hdx_grouped;

hdx_grouped hdx_grouped_of(const hdx_grouping *by, const hdx_ask *ask, const char *what);
hdx_code    hdx_grouped_add(hdx_grouped *g, const void *entry, hdx_error *err);
/* Makes the table: one row per group. */
hdx_code hdx_grouped_rows(hdx_grouped *g, const hdx_form *form, hdx_rows **out, hdx_error *err);
uint64_t hdx_grouped_total(const hdx_grouped *g, unsigned sum); /* over all groups; sum: from 1 */
void     hdx_grouped_drop(hdx_grouped *g);

/* ---- keys that several questions share ---- */

hdx_code hdx_class_key_cells(const hdx_ask *ask, uint64_t number, hdx_arena *arena, hdx_cell *cells, hdx_error *err);

#endif
