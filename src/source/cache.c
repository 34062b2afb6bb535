/*
 * cache.c - random access to a compressed dump: inflates the slice around a position and caches it for nearby reads.
 *
 * In:  positions, from any thread.
 * Out: bytes; at most source->pieces pieces of 1 MiB stay inflated, and the least recently used one is replaced first.
 * Cost: a hit is a copy; a miss inflates a complete slice (so that its checksum can be compared), at most 1 MiB unless
 *       the points were thinned. After the last known point the decoder continues and records further points.
 */
#include "source/inner.h"

#define IDLE 4u /* decoders that stay where they stopped: ascending reads continue without a seek point */
#define BUSY 32u

typedef struct piece {
    hdx_pos  from;
    size_t   len;
    uint8_t *block; /* HDX_HISTORY bytes of room for the decoder, then the bytes */
    uint64_t used;  /* time of the last use, in reads */
} piece;

struct hdx_cache {
    hdx_source     *source;
    pthread_mutex_t lock;
    pthread_cond_t  loaded;
    piece          *pieces;
    unsigned        count, loading; /* blocks in `pieces`; blocks being filled */
    uint64_t        clock;
    hdx_decoder    *idle[IDLE];
    unsigned        idle_count;
    hdx_pos         busy[BUSY]; /* points whose slices are being inflated; other threads wait for the result */
    unsigned        busy_count;
};

#define BLOCK_SIZE ((uint64_t)HDX_HISTORY + HDX_SLICE)

hdx_cache *hdx_cache_new(hdx_source *source)
{
    hdx_cache *cache = hdx_mem_get(source->mem, sizeof *cache);
    if (cache == NULL)
        return NULL;
    if ((cache->pieces = hdx_mem_array(source->mem, source->pieces, sizeof *cache->pieces)) == NULL) {
        hdx_mem_put(source->mem, cache, sizeof *cache);
        return NULL;
    }
    cache->source = source;
    (void)pthread_mutex_init(&cache->lock, NULL);
    (void)pthread_cond_init(&cache->loaded, NULL);
    return cache;
}

void hdx_cache_free(hdx_cache *cache)
{
    if (cache == NULL)
        return;
    for (unsigned i = 0; i < cache->count; i++)
        hdx_mem_put(cache->source->mem, cache->pieces[i].block, BLOCK_SIZE);
    hdx_mem_put(cache->source->mem, cache->pieces, cache->source->pieces * sizeof *cache->pieces);
    for (unsigned i = 0; i < cache->idle_count; i++)
        hdx_decoder_free(cache->idle[i]);
    (void)pthread_cond_destroy(&cache->loaded);
    (void)pthread_mutex_destroy(&cache->lock);
    hdx_mem_put(cache->source->mem, cache, sizeof *cache);
}

/* ---- under the lock ---- */

static piece *find(hdx_cache *cache, hdx_pos at)
{
    for (unsigned i = 0; i < cache->count; i++)
        if (at >= cache->pieces[i].from && at - cache->pieces[i].from < cache->pieces[i].len)
            return &cache->pieces[i];
    return NULL;
}

/* Removes the least recently used piece. REQUIRES: there is one. */
static uint8_t *evict(hdx_cache *cache)
{
    piece *old = &cache->pieces[0];
    for (unsigned i = 1; i < cache->count; i++)
        if (cache->pieces[i].used < old->used)
            old = &cache->pieces[i];
    uint8_t *block = old->block;
    *old = cache->pieces[--cache->count];
    return block;
}

/*
 * Returns a block to fill: a new one while there is room, otherwise that of the least recently used piece. NULL: no
 * memory.
 */
static uint8_t *block_get(hdx_cache *cache)
{
    uint8_t *block = NULL;
    if (cache->count + cache->loading < cache->source->pieces)
        block = hdx_mem_get(cache->source->mem, BLOCK_SIZE);
    if (block == NULL && cache->count > 0) /* also if memory is short: a smaller cache is still useful */
        block = evict(cache);
    if (block == NULL) /* other threads are filling all of them */
        block = hdx_mem_get(cache->source->mem, BLOCK_SIZE);
    if (block != NULL)
        cache->loading++;
    return block;
}

/*
 * Adds a filled block (len > 0) to the cache, or takes back an unused one. `at` is the position for which it was
 * filled.
 */
static void block_put(hdx_cache *cache, uint8_t *block, hdx_pos at, hdx_pos from, size_t len)
{
    cache->loading--;
    if (len > 0 && find(cache, at) == NULL) {
        if (cache->count == cache->source->pieces) { /* more threads than blocks were loading */
            uint8_t *old = evict(cache);
            hdx_mem_put(cache->source->mem, old, BLOCK_SIZE);
        }
        cache->pieces[cache->count++] = (piece){ from, len, block, ++cache->clock };
    } else {
        hdx_mem_put(cache->source->mem, block, BLOCK_SIZE);
    }
}

/*
 * Returns the nearest idle decoder before `at` that is not before the point, otherwise any other, or NULL. *placed: no
 * seek is needed.
 */
static hdx_decoder *idle_get(hdx_cache *cache, hdx_pos point, hdx_pos at, bool *placed)
{
    unsigned best = 0;
    *placed = false;
    if (cache->idle_count == 0)
        return NULL;
    for (unsigned i = 0; i < cache->idle_count; i++) {
        hdx_pos out = cache->idle[i]->out;
        if (out >= point && out <= at && (!*placed || out > cache->idle[best]->out)) {
            best = i;
            *placed = true;
        }
    }
    hdx_decoder *d = cache->idle[best];
    cache->idle_count--;
    memmove(&cache->idle[best], &cache->idle[best + 1], (cache->idle_count - best) * sizeof *cache->idle);
    return d;
}

static bool busy(const hdx_cache *cache, hdx_pos point)
{
    for (unsigned i = 0; i < cache->busy_count; i++)
        if (cache->busy[i] == point)
            return true;
    return false;
}

static void busy_end(hdx_cache *cache, hdx_pos point)
{
    for (unsigned i = 0; i < cache->busy_count; i++)
        if (cache->busy[i] == point) {
            cache->busy[i] = cache->busy[--cache->busy_count];
            break;
        }
    (void)pthread_cond_broadcast(&cache->loaded);
}

/* ---- loading ---- */

/*
 * Inflates from the decoder's position until the piece that contains `at` is in the block; *len 0: the data end before
 * it.
 */
static hdx_code inflate_to(hdx_decoder *d, hdx_pos at, uint8_t *block, hdx_pos *from, size_t *len, hdx_error *err)
{
    hdx_code code;
    do {
        *from = d->out;
        if ((code = hdx_decoder_run(d, block + HDX_HISTORY, HDX_SLICE, true, len, err)) != HDX_OK)
            *len = 0;
        while (code == HDX_OK && hdx_points_pack_one(&d->source->points))
            ;
    } while (code == HDX_OK && *len > 0 && at - *from >= *len);
    return code;
}

/* Called and left with the lock held. Afterwards `at` is cached, or *end is true, or it failed. */
static hdx_code load(hdx_cache *cache, hdx_pos at, hdx_pos point, bool *end, hdx_error *err)
{
    bool         placed, listed = cache->busy_count < BUSY;
    hdx_pos      from = 0;
    size_t       len = 0;
    hdx_code     code = HDX_OK;
    hdx_decoder *d = idle_get(cache, point, at, &placed);
    uint8_t     *block = block_get(cache);
    if (listed)
        cache->busy[cache->busy_count++] = point;
    (void)pthread_mutex_unlock(&cache->lock);

    if (d == NULL)
        d = hdx_decoder_new(cache->source, NULL);
    if (d == NULL || block == NULL)
        code = hdx_no_memory(err, "inflating a slice", BLOCK_SIZE);
    else if (!placed)
        code = hdx_decoder_seek(d, at, err);
    if (code == HDX_OK)
        code = inflate_to(d, at, block, &from, &len, err);
    *end = code == HDX_OK && len == 0;

    (void)pthread_mutex_lock(&cache->lock);
    if (block != NULL)
        block_put(cache, block, at, from, len);
    if (code == HDX_OK && d->step != HDX_DECODE_END && cache->idle_count < IDLE) {
        cache->idle[cache->idle_count++] = d;
        d = NULL;
    }
    if (listed)
        busy_end(cache, point);
    hdx_decoder_free(d);
    return code;
}

hdx_code hdx_cache_read(hdx_cache *cache, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_pos  size;
    bool     end = hdx_points_size(&cache->source->points, &size) && at >= size;
    *got = 0;
    (void)pthread_mutex_lock(&cache->lock);
    while (code == HDX_OK && *got < want && !end) {
        hdx_pos point, here;
        piece  *hit;
        if (!hdx_add(at, *got, &here))
            break;
        if ((hit = find(cache, here)) != NULL) {
            size_t skip = (size_t)(here - hit->from), n = hit->len - skip;
            if (n > want - *got)
                n = want - *got;
            memcpy((uint8_t *)to + *got, hit->block + HDX_HISTORY + skip, n);
            hit->used = ++cache->clock;
            *got += n;
            continue;
        }
        point = hdx_points_floor(&cache->source->points, here);
        if (busy(cache, point))
            (void)pthread_cond_wait(&cache->loaded, &cache->lock);
        else
            code = load(cache, here, point, &end, err);
    }
    (void)pthread_mutex_unlock(&cache->lock);
    return code;
}
