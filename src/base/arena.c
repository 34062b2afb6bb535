/* arena.c - blocks in a chain, filled from the front. */
#include "base/arena.h"
#include "base/bytes.h"

#define BLOCK (64u << 10)

struct hdx_arena_block {
    hdx_arena_block *before;
    uint64_t         size; /* of the block, this head included */
    uint64_t         used;
    uint64_t         unused_; /* keeps the first thing aligned to 16 */
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
        /* a thing larger than a block goes after the open block, so that the open one is filled further */
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
    hdx_arena_block *kept = arena->last;
    if (kept == NULL)
        return;
    arena->last = kept->before;
    hdx_arena_free(arena);
    if (kept->size > BLOCK) { /* made for one large thing */
        hdx_mem_put(arena->mem, kept, kept->size);
        return;
    }
    memset((uint8_t *)kept + sizeof *kept, 0, (size_t)(kept->used - sizeof *kept));
    kept->used = sizeof *kept;
    kept->before = NULL;
    arena->last = kept;
    arena->size = kept->size;
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
