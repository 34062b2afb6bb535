/*
 * batch.h - reads columns of some thousand objects at a time from the index, for tables of objects.
 *
 * A batch has slots: a run of ids, or ids from a list. Conditions choose some of them. A column is read when it is
 * first used: for all slots in runs of the index if most are chosen, otherwise for one object.
 */
#ifndef HDX_SQL_BATCH_H
#define HDX_SQL_BATCH_H

#include "sql/sql.h"

typedef enum sql_column { /* of the table objects */
                          SQL_ID,
                          SQL_ADDRESS,
                          SQL_CLASS,
                          SQL_CLASS_ID,
                          SQL_KIND,
                          SQL_SHALLOW,
                          SQL_RETAINED,
                          SQL_LENGTH,
                          SQL_DOMINATOR,
                          SQL_NEAREST,
                          SQL_OUTBOUND,
                          SQL_INBOUND,
                          SQL_LIVE,
                          SQL_HEAP,
                          SQL_POSITION,
                          SQL_INSTANCEOF,
                          SQL_COLUMNS
} sql_column;

#define SQL_BATCH 2048u
#define SQL_NULL  INT64_MIN /* null in columns that may be null: no size, id, count or index has this value */

typedef struct sql_batch {
    sql_heap *heap;
    uint32_t  count;
    bool      dense; /* ids are first, first + 1, ... */
    hdx_id    first;
    hdx_id   *ids;    /* of the slots, unless they are dense */
    uint32_t  loaded; /* bit of a column: all slots are loaded */
    int64_t  *columns[SQL_COLUMNS];
    uint16_t *chosen;
    uint32_t  chosen_count, at; /* the current row is chosen[at] */
    uint32_t  untouched;        /* the first ones of `chosen` that equal their own index */
} sql_batch;

void hdx_sql_batch_open(sql_batch *b, sql_heap *heap);
void hdx_sql_batch_close(sql_batch *b);
/*
 * Start a batch: a run, or room for `count` ids that the caller then writes to b->ids. All slots are chosen. HDX_LIMIT:
 * no memory.
 */
hdx_code hdx_sql_batch_run(sql_batch *b, hdx_id first, uint32_t count, hdx_error *err);
hdx_code hdx_sql_batch_list(sql_batch *b, uint32_t count, hdx_error *err);
/*
 * Keep of the chosen slots those in a range (never null), of these classes, of these kinds (one bit each), in a scope.
 */
void hdx_sql_batch_keep_range(sql_batch *b, sql_column column, sql_range range);
void hdx_sql_batch_keep_classes(sql_batch *b, const sql_classes *set);
void hdx_sql_batch_keep_kinds(sql_batch *b, unsigned kinds);
void hdx_sql_batch_keep_scope(sql_batch *b, hdx_refs_scope scope);

/* Sets the number of chosen slots, after the caller has packed `chosen`. */
void hdx_sql_batch_leave(sql_batch *b, uint32_t count);

static inline hdx_id sql_batch_id(const sql_batch *b, uint32_t slot)
{
    return b->dense ? b->first + slot : b->ids[slot];
}
int64_t               hdx_sql_batch_read(sql_batch *b, sql_column column, uint32_t slot); /* REQUIRES: not loaded yet */
static inline int64_t sql_batch_value(sql_batch *b, sql_column column, uint32_t slot)
{
    return b->loaded >> column & 1 ? b->columns[column][slot] : hdx_sql_batch_read(b, column, slot);
}
/* Returns the value of a column of the row to SQLite. */
void hdx_sql_batch_result(sql_batch *b, sql_column column, uint32_t slot, sqlite3_context *context);

#endif
