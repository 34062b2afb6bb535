/*
 * range.c - the range of integers that satisfies a comparison with a value of any type.
 *
 * In:  an operator, and a value of any type, before SQLite applies an affinity to it.
 * Out: a range of 64-bit integers, which may be empty or all.
 * SQLite orders numbers before texts before blobs, and null equals nothing. A text that looks like a number is compared
 * as one with a column of numbers (https://www.sqlite.org/datatype3.html, 4.2).
 */
#include "sql/sql.h"

#include <math.h>

static const sql_range nothing = { INT64_MAX, INT64_MIN };

static void cut(sql_range *range, int64_t least, int64_t most)
{
    range->least = least > range->least ? least : range->least;
    range->most = most < range->most ? most : range->most;
}

static void cut_integer(sql_range *range, int op, int64_t value)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: cut(range, value, value); break;
    case SQLITE_INDEX_CONSTRAINT_GE: cut(range, value, INT64_MAX); break;
    case SQLITE_INDEX_CONSTRAINT_LE: cut(range, INT64_MIN, value); break;
    case SQLITE_INDEX_CONSTRAINT_GT:
        if (value == INT64_MAX)
            *range = nothing;
        else
            cut(range, value + 1, INT64_MAX);
        break;
    default:
        if (value == INT64_MIN)
            *range = nothing;
        else
            cut(range, INT64_MIN, value - 1);
    }
}

static bool wants_greater(int op) { return op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT; }

/* Handles a value that is greater than every integer (all_less), or less than every one. */
static void cut_beyond(sql_range *range, int op, bool all_less)
{
    if (op == SQLITE_INDEX_CONSTRAINT_EQ || wants_greater(op) == all_less)
        *range = nothing;
}

static void cut_real(sql_range *range, int op, double value)
{
    const double down = floor(value);
    if (isnan(value)) { /* NaN is null in SQL */
        *range = nothing;
    } else if (value >= 9223372036854775808.0) {
        cut_beyond(range, op, true);
    } else if (value < -9223372036854775808.0) {
        cut_beyond(range, op, false);
    } else if (down == value) {
        cut_integer(range, op, (int64_t)value);
    } else if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
        *range = nothing;
    } else { /* between two integers: the lower one is less, the upper one greater, neither is equal */
        cut_integer(range, wants_greater(op) ? SQLITE_INDEX_CONSTRAINT_GT : SQLITE_INDEX_CONSTRAINT_LE, (int64_t)down);
    }
}

void hdx_sql_range_cut(sql_range *range, int op, sqlite3_value *value)
{
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: cut_integer(range, op, sqlite3_value_int64(value)); break;
    case SQLITE_FLOAT: cut_real(range, op, sqlite3_value_double(value)); break;
    case SQLITE_NULL: *range = nothing; break;
    default: cut_beyond(range, op, true); /* numbers are less than texts and blobs */
    }
}
