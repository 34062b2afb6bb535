/*
 * held.h - small tables that are completely in memory: shared by held.c (the SQLite tables), catalog.c (their content)
 * and held_values.c (their columns).
 *
 * A table is computed when a statement first needs it, column by column: numbers are 64 bits and a bit for "not null",
 * texts are borrowed from the graph or from the table's arena. A column in which a statement searches, or by which it
 * sorts, has a list of the rows in its order.
 */
#ifndef HDX_SQL_HELD_H
#define HDX_SQL_HELD_H

#include "sql/sql.h"

typedef enum sql_column_flag {
    SQL_UNIQUE = 1, /* no two rows have the same value */
    SQL_LATE = 2    /* needs a read of the dump or a search: computed when a statement uses it */
} sql_column_flag;

typedef struct sql_held_column {
    const char *name;
    const char *type; /* INTEGER, ADDRESS, SIZE, COUNT: numbers; TEXT; "": any type, compared by SQLite */
    unsigned    flags;
} sql_held_column;

typedef struct sql_held_values { /* of one column */
    int64_t  *numbers;
    uint64_t *present; /* one bit for each number */
    hdx_text *texts;   /* at NULL: null */
    hdx_cell *cells;
    uint64_t  capacity, bits_capacity; /* rows */
    uint32_t *order;                   /* rows, least value first, null before all; NULL: not needed so far */
    uint64_t  nulls;                   /* number of rows at the beginning of `order` that are null */
    uint64_t  distinct;
} sql_held_values;

typedef struct sql_held_table sql_held_table;
typedef struct sql_held {
    const sql_held_table *table;
    sql_heap             *heap;
    hdx_mem              *mem;
    hdx_arena             arena;
    uint64_t              rows;
    bool                  late; /* late columns are computed */
    sql_held_values       columns[];
} sql_held;

struct sql_held_table {
    const char            *name;
    const sql_held_column *columns;
    unsigned               column_count;
    bool                   reads_dump; /* computing it reads the dump: not while a statement is only prepared */
    hdx_code (*make)(sql_held *h, hdx_error *err);
    hdx_code (*make_late)(sql_held *h, hdx_error *err); /* NULL: it has no late columns */
    bool product; /* one row per class and superclass: there may be more of them than the dump has bytes */
};
extern const sql_held_table hdx_sql_held_tables[SQL_HELD_TABLES];

/* ---- held_values.c ---- */
static inline bool sql_is_text(const sql_held_column *c) { return strcmp(c->type, "TEXT") == 0; }
static inline bool sql_is_number(const sql_held_column *c) { return c->type[0] != '\0' && !sql_is_text(c); }
/* Adds a row of nulls. */
hdx_code hdx_sql_held_add(sql_held *h, hdx_error *err);
void     hdx_sql_held_free(sql_held *h); /* NULL is allowed */
/* Computes the order of a column of numbers or texts. */
hdx_code hdx_sql_held_order(sql_held *h, unsigned column, hdx_error *err);
typedef struct sql_span { /* range of indexes in an order */
    uint64_t first, end;
} sql_span;
/* Returns the range, in the order of the column, that satisfies the comparisons. REQUIRES: hdx_sql_held_order. */
sql_span hdx_sql_held_search(const sql_held *h, unsigned column, unsigned count, const int *ops,
                             sqlite3_value **values);

/* ---- values of an existing row ---- */
static inline void sql_held_number(sql_held *h, unsigned column, uint64_t row, uint64_t value)
{
    h->columns[column].numbers[row] = (int64_t)value;
    hdx_bits_put(h->columns[column].present, row);
}
static inline void sql_held_id(sql_held *h, unsigned column, uint64_t row, hdx_id id) /* null for what is none */
{
    if (id < HDX_VIRTUAL_ROOT)
        sql_held_number(h, column, row, id);
}
static inline void sql_held_text(sql_held *h, unsigned column, uint64_t row, hdx_text text)
{
    h->columns[column].texts[row] = (hdx_text){ text.len == 0 ? "" : text.at, text.len };
}
static inline void sql_held_string(sql_held *h, unsigned column, uint64_t row, const char *text) /* NULL: null */
{
    if (text != NULL)
        sql_held_text(h, column, row, (hdx_text){ text, (uint32_t)strlen(text) });
}
static inline bool sql_held_has_number(const sql_held *h, unsigned column, uint64_t row)
{
    return hdx_bits_test(h->columns[column].present, row);
}

#endif
