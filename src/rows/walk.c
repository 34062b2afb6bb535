/* walk.c - a stack of levels. The first sixteen are part of hdx_walk, so that ordinary answers allocate nothing. */
#include "rows/walk.h"

void hdx_walk_begin(hdx_walk *w, const hdx_cell *cells, uint64_t count)
{
    w->levels = w->small;
    w->capacity = HDX_WALK_SMALL;
    w->depth = 1;
    w->small[0] = (hdx_walk_level){ NULL, cells, NULL, 0, count };
}

void hdx_walk_end(hdx_walk *w)
{
    if (w->levels != w->small)
        hdx_mem_put(NULL, w->levels, w->capacity * sizeof *w->levels);
    w->levels = w->small;
    w->depth = 0;
}

static bool deeper(hdx_walk *w)
{
    hdx_walk_level *levels;
    if (w->depth < w->capacity)
        return true;
    if (w->levels == w->small) {
        if ((levels = hdx_mem_array(NULL, 2 * HDX_WALK_SMALL, sizeof *levels)) == NULL)
            return false;
        memcpy(levels, w->small, sizeof w->small);
    } else if ((levels = hdx_mem_resize(NULL, w->levels, w->capacity * sizeof *levels,
                                        2 * w->capacity * sizeof *levels)) == NULL)
        return false;
    w->levels = levels;
    w->capacity *= 2;
    return true;
}

hdx_walk_step hdx_walk_next(hdx_walk *w, hdx_walk_at *at)
{
    if (w->depth == 0)
        return HDX_WALK_END;
    hdx_walk_level *top = &w->levels[w->depth - 1];
    if (top->index == top->count) {
        w->depth--;
        if (top->whole == NULL)
            return HDX_WALK_END;
        *at = (hdx_walk_at){ top->whole, NULL, false, top->count == 0 };
        return HDX_WALK_OUT;
    }
    const hdx_member *member = top->members == NULL ? NULL : &top->members[top->index];
    const hdx_cell   *cell = member == NULL ? &top->cells[top->index] : &member->value;
    *at = (hdx_walk_at){ cell, member == NULL ? NULL : member->key, top->index == 0, false };
    top->index++;
    if (cell->kind != HDX_CELL_LIST && cell->kind != HDX_CELL_OBJECT)
        return HDX_WALK_CELL;
    if (!deeper(w))
        return HDX_WALK_NO_MEMORY;
    if (cell->kind == HDX_CELL_LIST)
        w->levels[w->depth++] = (hdx_walk_level){ cell, cell->as.list.at, NULL, 0, cell->as.list.count };
    else
        w->levels[w->depth++] = (hdx_walk_level){ cell, NULL, cell->as.object.at, 0, cell->as.object.count };
    at->empty = w->levels[w->depth - 1].count == 0;
    return HDX_WALK_IN;
}
