/*
 * near.c - answers small reads that are near each other from blocks that a thread caches.
 *
 * In:  reads of a source, mostly at ascending positions.
 * Out: the same bytes as without it.
 * A block is read when a second read falls into it, so that random reads cost no more than before.
 * Cost: 1 MB while it is in use; a read of a cached block is a copy instead of a system call.
 */
#include "source/inner.h"

#include <stdlib.h>

#define BLOCK  (64u << 10)
#define BLOCKS 16u
#define MISSES 64u
#define LARGE  4096u /* larger reads go directly to the file */

struct hdx_near {
    hdx_source *source;
    uint64_t    number[BLOCKS]; /* number of the block at this place, from 1; 0: none */
    size_t      len[BLOCKS];
    uint64_t    missed[MISSES]; /* numbers of blocks into which one read fell */
    uint8_t    *bytes;
};

static _Thread_local hdx_near *at_hand;

hdx_near *hdx_near_begin(hdx_source *source)
{
    hdx_near *n = at_hand == NULL ? calloc(1, sizeof *n) : NULL;
    if (n == NULL)
        return NULL;
    if ((n->bytes = malloc((size_t)BLOCK * BLOCKS)) == NULL) {
        free(n);
        return NULL;
    }
    n->source = source;
    return at_hand = n;
}

void hdx_near_end(hdx_near *n)
{
    if (n == NULL)
        return;
    at_hand = NULL;
    free(n->bytes);
    free(n);
}

/* Returns the block's bytes; NULL if reading it is not worthwhile, or fails. */
static const uint8_t *block_of(hdx_near *n, uint64_t number, size_t *len)
{
    const unsigned place = (unsigned)(number % BLOCKS);
    uint64_t      *missed = &n->missed[number % MISSES];
    uint8_t       *bytes = n->bytes + (size_t)place * BLOCK;
    if (n->number[place] != number + 1) {
        if (*missed != number + 1) {
            *missed = number + 1;
            return NULL;
        }
        n->number[place] = 0;
        if (hdx_source_read_straight(n->source, number * BLOCK, bytes, BLOCK, &n->len[place], NULL) != HDX_OK)
            return NULL; /* a direct read reports the problem if it concerns its bytes */
        n->number[place] = number + 1;
    }
    *len = n->len[place];
    return bytes;
}

bool hdx_source_near(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got)
{
    hdx_near *n = at_hand;
    if (n == NULL || n->source != source || want > LARGE)
        return false;
    for (*got = 0; *got < want;) {
        size_t         len;
        const uint64_t from = at + *got;
        const uint8_t *block = block_of(n, from / BLOCK, &len);
        const size_t   in = (size_t)(from % BLOCK);
        if (block == NULL)
            return false;
        if (in >= len)
            return true; /* the dump ends */
        const size_t part = want - *got < len - in ? want - *got : len - in;
        memcpy((uint8_t *)to + *got, block + in, part);
        *got += part;
        if (len < BLOCK)
            return true;
    }
    return true;
}
