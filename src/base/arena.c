/* arena.c - a chain of blocks, each filled from the front. */
#include "base/arena.h"
#include "base/bytes.h"

#define BLOCK (64u << 10)

struct hdx_arena_block {
    hdx_arena_block *before;
    uint64_t         size; /* of the block, including this head */
    uint64_t         used;
    uint64_t         unused_; /* aligns the first allocation to 16 */
};

void *hdx_arena_get(hdx_arena *arena, uint64_t bytes)
{
    uint64_t         need = bytes > UINT64_MAX / 4 ? UINT64_MAX : hdx_round_up(bytes == 0 ? 1 : bytes, 16);
    hdx_arena_block *b = arena->last;
    if (need == UINT64_MAX) {
        arena->refused = true;
        return NULL;
    }
    if (b == NULL || b->size - b->used < need) {
        uint64_t         size = sizeof *b + need > BLOCK ? sizeof *b + need : BLOCK;
        hdx_arena_block *fresh = hdx_mem_get(arena->mem, size);
        if (fresh == NULL) {
            arena->refused = true;
            return NULL;
        }
        arena->size += size;
        fresh->size = size;
        fresh->used = sizeof *fresh;
        /*
         * An allocation larger than a block is inserted after the current block, so that the current one is filled
         * further.
         */
        if (b != NULL && size > BLOCK) {
            fresh->before = b->before;
            b->before = fresh;
        } else {
            fresh->before = b;
            arena->last = fresh;
        }
        b = fresh;
    }
    void *p = (uint8_t *)b + b->used;
    b->used += need;
    return p;
}

char *hdx_arena_copy(hdx_arena *arena, const void *bytes, uint64_t len)
{
    char *p = len == UINT64_MAX ? NULL : hdx_arena_get(arena, len + 1);
    if (p != NULL && len > 0)
        memcpy(p, bytes, (size_t)len);
    return p;
}

void hdx_arena_join(hdx_arena *to, hdx_arena *from)
{
    hdx_arena_block **first = &from->last;
    while (*first != NULL)
        first = &(*first)->before;
    *first = to->last;
    if (from->last != NULL)
        to->last = from->last;
    to->size += from->size;
    to->refused = to->refused || from->refused;
    from->last = NULL;
    from->size = 0;
    from->refused = false;
}

void hdx_arena_empty(hdx_arena *arena)
{
    hdx_arena_block *reused = arena->last;
    if (reused == NULL)
        return;
    arena->last = reused->before;
    hdx_arena_free(arena);
    if (reused->size > BLOCK) { /* made for one large allocation */
        hdx_mem_put(arena->mem, reused, reused->size);
        return;
    }
    memset((uint8_t *)reused + sizeof *reused, 0, (size_t)(reused->used - sizeof *reused));
    reused->used = sizeof *reused;
    reused->before = NULL;
    arena->last = reused;
    arena->size = reused->size;
}

void hdx_arena_free(hdx_arena *arena)
{
    for (hdx_arena_block *b = arena->last, *before; b != NULL; b = before) {
        before = b->before;
        hdx_mem_put(arena->mem, b, b->size);
    }
    arena->last = NULL;
    arena->size = 0;
    arena->refused = false;
}
