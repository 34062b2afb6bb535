/*
 * walk.h - visits cells and everything nested in them, in the order in which a document is written. The depth of an
 * answer depends on the heap, so the walk uses an array as its stack instead of recursion.
 *
 *     hdx_walk walk;
 *     hdx_walk_begin(&walk, cells, count);
 *     while ((step = hdx_walk_next(&walk, &at)) != HDX_WALK_END) ...
 *     hdx_walk_end(&walk);
 */
#ifndef HDX_ROWS_WALK_H
#define HDX_ROWS_WALK_H

#include "base/base.h"
#include <heapdex/rows.h>

#define HDX_WALK_SMALL 16u

typedef enum hdx_walk_step {
    HDX_WALK_CELL, /* at.cell contains no other cells */
    HDX_WALK_IN,   /* at.cell is a list or an object; its content follows */
    HDX_WALK_OUT,  /* the list or object at.cell ends */
    HDX_WALK_END,
    HDX_WALK_NO_MEMORY
} hdx_walk_step;

typedef struct hdx_walk_at {
    const hdx_cell *cell;
    const char     *key;   /* of a member; NULL in lists and at the top */
    bool            first; /* of its list or object */
    bool            empty; /* for IN: it has no content */
} hdx_walk_at;

typedef struct hdx_walk_level {
    const hdx_cell   *whole;   /* the list or object; NULL at the top */
    const hdx_cell   *cells;   /* content of a list, or */
    const hdx_member *members; /* content of an object */
    uint64_t          index, count;
} hdx_walk_level;

typedef struct hdx_walk {
    hdx_walk_level  small[HDX_WALK_SMALL];
    hdx_walk_level *levels;
    uint64_t        depth, capacity;
} hdx_walk;

void          hdx_walk_begin(hdx_walk *w, const hdx_cell *cells, uint64_t count);
hdx_walk_step hdx_walk_next(hdx_walk *w, hdx_walk_at *at);
void          hdx_walk_end(hdx_walk *w); /* may be called at any time */

#endif
