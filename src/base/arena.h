/* arena.h - allocates many small blocks that are freed together. One thread at a time may use an arena. */
#ifndef HDX_BASE_ARENA_H
#define HDX_BASE_ARENA_H

#include "base/mem.h"

typedef struct hdx_arena_block hdx_arena_block;
typedef struct hdx_arena {
    hdx_mem         *mem; /* may be NULL */
    hdx_arena_block *last;
    uint64_t         size; /* of its blocks, in bytes */
    /* a request was refused since the arena was created or freed, so content may be missing */
    bool refused;
} hdx_arena;

static inline hdx_arena hdx_arena_of(hdx_mem *mem) { return (hdx_arena){ .mem = mem }; }
/* Returns `bytes` zeroed bytes, aligned to 16; NULL if refused. They are valid until hdx_arena_free. */
void *hdx_arena_get(hdx_arena *arena, uint64_t bytes);
/* Returns a copy of the bytes with a final NUL; NULL if refused. */
char *hdx_arena_copy(hdx_arena *arena, const void *bytes, uint64_t len);
/* Moves all blocks of `from` to `to`, which frees them. `from` is then empty. REQUIRES: both use the same hdx_mem. */
void hdx_arena_join(hdx_arena *to, hdx_arena *from);
void hdx_arena_free(hdx_arena *arena);
/*
 * Same as hdx_arena_free, but keeps one block for later requests. The cost is proportional to the bytes that were used
 * of it; freeing and allocating it again would clear 64 KiB each time.
 */
void hdx_arena_empty(hdx_arena *arena);

#endif
