/*
 * order.c - compares two cells. Integers and reals are compared by value, without rounding an integer to a real:
 * 2^63 + 1 and 2^63 as a real are different numbers.
 */
#include "rows/cursor.h"

#include <math.h>

unsigned hdx_cell_rank(const hdx_cell *c)
{
    switch (c->kind) {
    case HDX_CELL_INT:
    case HDX_CELL_UINT:
    case HDX_CELL_BOOL:
    case HDX_CELL_ADDRESS: return 0;
    case HDX_CELL_REAL: return isnan(c->as.real) ? 2 : 0;
    case HDX_CELL_TEXT: return 1;
    case HDX_CELL_NULL: return 3;
    default: return 2;
    }
}

/* Splits an integer into sign and magnitude; returns false for reals. */
static bool whole(const hdx_cell *c, bool *negative, uint64_t *size)
{
    *negative = c->kind == HDX_CELL_INT && c->as.integer < 0;
    *size = 0;
    switch (c->kind) {
    case HDX_CELL_INT: *size = *negative ? 0 - (uint64_t)c->as.integer : (uint64_t)c->as.integer; return true;
    case HDX_CELL_UINT: *size = c->as.natural; return true;
    case HDX_CELL_ADDRESS: *size = c->as.address; return true;
    case HDX_CELL_BOOL: *size = c->as.boolean; return true;
    default: return false;
    }
}

static int compare_whole(bool a_negative, uint64_t a, bool b_negative, uint64_t b)
{
    if (a_negative != b_negative)
        return a_negative ? -1 : 1;
    int sizes = (a > b) - (a < b);
    return a_negative ? -sizes : sizes;
}

static int compare_real(bool negative, uint64_t size, double real)
{
    if (real >= 18446744073709551616.0)
        return -1;
    if (real <= -18446744073709551616.0)
        return 1;
    uint64_t real_size = (uint64_t)(real < 0 ? -real : real); /* truncated towards 0 */
    double   whole_part = real < 0 ? -(double)real_size : (double)real_size;
    int      wholes = compare_whole(negative, size, real < 0 && real_size > 0, real_size);
    return wholes != 0 ? wholes
                       : (real < whole_part) - (real > whole_part); /* the fraction decides: 3 < 3.5, -3 > -3.5 */
}

int hdx_cell_compare_numbers(const hdx_cell *a, const hdx_cell *b)
{
    bool     a_negative, b_negative;
    uint64_t a_size, b_size;
    bool     a_whole = whole(a, &a_negative, &a_size), b_whole = whole(b, &b_negative, &b_size);
    if (a_whole && b_whole)
        return compare_whole(a_negative, a_size, b_negative, b_size);
    if (a_whole)
        return compare_real(a_negative, a_size, b->as.real);
    if (b_whole)
        return -compare_real(b_negative, b_size, a->as.real);
    return (a->as.real > b->as.real) - (a->as.real < b->as.real);
}

int hdx_cell_order(const hdx_cell *a, const hdx_cell *b, bool descending)
{
    int order;
    if (a->kind == HDX_CELL_UINT && b->kind == HDX_CELL_UINT) /* nearly every comparison of a sort */
        order = (a->as.natural > b->as.natural) - (a->as.natural < b->as.natural);
    else {
        unsigned a_rank = hdx_cell_rank(a), b_rank = hdx_cell_rank(b);
        if (a_rank != b_rank)
            return a_rank < b_rank ? -1 : 1;
        order = a_rank == 0 ? hdx_cell_compare_numbers(a, b) : a_rank == 1 ? hdx_text_order(a->as.text, b->as.text) : 0;
    }
    return descending ? -order : order;
}
