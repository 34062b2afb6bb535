/* arena.h - many small things that die together. Not thread-safe: one arena, one thread at a time. */
#ifndef HDX_BASE_ARENA_H
#define HDX_BASE_ARENA_H

#include "base/mem.h"

typedef struct hdx_arena_block hdx_arena_block;
typedef struct hdx_arena {
    hdx_mem         *mem; /* may be NULL */
    hdx_arena_block *last;
    uint64_t         size;    /* of its blocks */
    bool             refused; /* something was, since it was made or freed: what should be in it may not be */
} hdx_arena;

static inline hdx_arena hdx_arena_of(hdx_mem *mem) { return (hdx_arena){ .mem = mem }; }
/* bytes zeroed, aligned to 16; NULL when refused. They live until hdx_arena_free. */
void *hdx_arena_get(hdx_arena *arena, uint64_t bytes);
/* A copy of the bytes with a NUL after it; NULL when refused. */
char *hdx_arena_copy(hdx_arena *arena, const void *bytes, uint64_t len);
/* Everything of `from`, of the same hdx_mem, lives as long as `to` from now on; `from` is empty. */
void hdx_arena_join(hdx_arena *to, hdx_arena *from);
void hdx_arena_free(hdx_arena *arena);
/*
 * The same, but a block stays for what comes: costs what was used of it, where freeing and getting again clears 64 KiB
 * each time.
 */
void hdx_arena_empty(hdx_arena *arena);

#endif
