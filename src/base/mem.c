/* mem.c - memory with accounting, huge pages and scopes. */
#include "base/mem.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/workers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MAPPED       (1u << 20) /* blocks from this size on are separate mappings */
#define HUGE_PAGE    (2u << 20)
#define SMALL_PAGE   4096u
#define SCOPE_BLOCKS 32u /* blocks for which a scope has room at first */

hdx_mem *hdx_mem_counter(hdx_mem *mem)
{
    while (mem != NULL && mem->block_capacity > 0)
        mem = mem->of;
    return mem;
}

static bool count(hdx_mem *mem, uint64_t bytes)
{
    mem = hdx_mem_counter(mem);
    if (mem == NULL)
        return true;
    if (mem->refuse != NULL && mem->refuse(mem->context, bytes)) {
        atomic_store(&mem->refused, bytes);
        return false;
    }
    uint64_t now = atomic_fetch_add(&mem->used, bytes) + bytes;
    if (mem->limit != 0 && now > mem->limit) {
        atomic_fetch_sub(&mem->used, bytes);
        atomic_store(&mem->refused, bytes);
        return false;
    }
    uint64_t peak = atomic_load(&mem->peak);
    while (now > peak && !atomic_compare_exchange_weak(&mem->peak, &peak, now))
        ;
    return true;
}

static void uncount(hdx_mem *mem, uint64_t bytes)
{
    mem = hdx_mem_counter(mem);
    if (mem != NULL)
        atomic_fetch_sub(&mem->used, bytes);
}

static uint64_t whole(uint64_t bytes) { return hdx_round_up(bytes, HUGE_PAGE); }

static bool is_huge(uint64_t bytes) { return bytes >= HUGE_PAGE; }

/* Returns the accounted size of a block: huge pages are resident completely. */
static uint64_t charge(uint64_t bytes) { return is_huge(bytes) ? whole(bytes) : bytes; }

/*
 * Creates a mapping at a multiple of the huge page size, so that the kernel can use huge pages, and single ones can be
 * moved.
 */
static void *map_aligned(uint64_t size)
{
    uint8_t *p = mmap(NULL, (size_t)(size + HUGE_PAGE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    uint64_t before = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
    if (before > 0)
        (void)munmap(p, (size_t)before);
    (void)munmap(p + before + size, (size_t)(HUGE_PAGE - before));
    (void)madvise(p + before, (size_t)size, MADV_HUGEPAGE);
    return p + before;
}

static void *pool_take(hdx_mem *mem)
{
    void *page = NULL;
    (void)pthread_mutex_lock(&mem->lock);
    if (mem->pooled > 0)
        page = mem->pool[--mem->pooled];
    (void)pthread_cond_signal(&mem->taken);
    (void)pthread_mutex_unlock(&mem->lock);
    return page;
}

static bool move(void *page, void *to)
{
    return mremap(page, HUGE_PAGE, HUGE_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

/* Moves pages of the pool into a new mapping, from `from` on, until the mapping is full or the pool is empty. */
static void fill_from_pool(hdx_mem *mem, uint8_t *at, uint64_t from, uint64_t size, bool clear)
{
    for (uint64_t i = from; mem != NULL && mem->keep && i < size; i += HUGE_PAGE) {
        void *page = pool_take(mem);
        if (page == NULL)
            return;
        if (!move(page, at + i)) {
            (void)munmap(page, HUGE_PAGE);
            return;
        }
        if (clear)
            memset(at + i, 0, HUGE_PAGE);
    }
}

static void *map(hdx_mem *mem, uint64_t bytes, bool clear)
{
    if (!is_huge(bytes)) {
        void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return p == MAP_FAILED ? NULL : p;
    }
    uint8_t *at = map_aligned(whole(bytes));
    if (at != NULL)
        fill_from_pool(mem, at, 0, whole(bytes), clear);
    return at;
}

/* Adds the huge pages from `at` on to the pool; false: its list is full, and none was added. */
static bool pool_put(hdx_mem *mem, uint8_t *at, uint64_t size)
{
    (void)pthread_mutex_lock(&mem->lock);
    const uint64_t then = mem->pooled + size / HUGE_PAGE;
    if (then > mem->pool_capacity) {
        void *pool = realloc(mem->pool, (size_t)then * 2 * sizeof *mem->pool);
        if (pool != NULL) {
            mem->pool = pool;
            mem->pool_capacity = 2 * then;
        }
    }
    const bool fits = then <= mem->pool_capacity;
    for (uint64_t i = 0; fits && i < size; i += HUGE_PAGE)
        mem->pool[mem->pooled++] = at + i;
    (void)pthread_mutex_unlock(&mem->lock);
    return fits;
}

static void unmap(hdx_mem *mem, uint8_t *at, uint64_t bytes)
{
    const uint64_t size = is_huge(bytes) ? whole(bytes) : bytes;
    if (!is_huge(bytes) || mem == NULL || !mem->keep || !pool_put(mem, at, size))
        (void)munmap(at, (size_t)size);
}

/*
 * Touches a huge page in the middle of reserved address space, so that no mapping of other threads is merged with it:
 * they need not wait while the kernel clears it, which takes 5 ms if memory is cold. The first page of a mapping is
 * touched under a lock that all threads share, so a small page precedes it. MADV_POPULATE_WRITE would hold that lock
 * all the time.
 */
static bool touch_apart(uint8_t *at)
{
    volatile uint8_t *small = at - SMALL_PAGE;
    if (mmap(at - SMALL_PAGE, SMALL_PAGE + HUGE_PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    (void)madvise(at - SMALL_PAGE, SMALL_PAGE + HUGE_PAGE, MADV_HUGEPAGE);
    small[0] = 0;
    small[SMALL_PAGE] = 0;
    return true;
}

/* False: no more memory is available. */
static bool make_ready(hdx_mem *mem, uint64_t pages)
{
    const uint64_t size = (2 * pages + 2) * HUGE_PAGE; /* every second one is used */
    uint8_t       *space = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return false;
    uint8_t *gap = space, *end = space + size;
    uint8_t *page = space + (2 * HUGE_PAGE - (uintptr_t)space % HUGE_PAGE);
    uint64_t made = 0;
    bool     more = true;
    while (made < pages && !atomic_load(&mem->stop) &&
           (more = touch_apart(page + 2 * made * HUGE_PAGE) && pool_put(mem, page + 2 * made * HUGE_PAGE, HUGE_PAGE)))
        made++;
    for (uint64_t i = 0; i < made; i++) { /* a thread that got a page has moved it, or will */
        uint8_t *at = page + 2 * i * HUGE_PAGE;
        (void)munmap(gap, (size_t)(at - gap));
        gap = at + HUGE_PAGE;
    }
    (void)munmap(gap, (size_t)(end - gap));
    return more;
}

static void *prepare(void *context)
{
    hdx_mem *mem = context;
    if (make_ready(mem, mem->prepare / HUGE_PAGE))
        hdx_mem_help(mem, true);
    return NULL;
}

void hdx_mem_prepare(hdx_mem *mem, uint64_t bytes)
{
    mem->prepare = bytes / HUGE_PAGE * HUGE_PAGE;
    if (mem->prepare > 0 && hdx_workers_start(&mem->preparing, prepare, mem) != 0)
        mem->prepare = 0;
}

void hdx_mem_want(hdx_mem *mem, uint64_t bytes)
{
    (void)pthread_mutex_lock(&mem->lock);
    mem->wanted = mem->keep ? bytes / HUGE_PAGE : 0;
    (void)pthread_cond_broadcast(&mem->taken);
    (void)pthread_mutex_unlock(&mem->lock);
}

void hdx_mem_help(hdx_mem *mem, bool on)
{
    uint64_t pages;
    do {
        (void)pthread_mutex_lock(&mem->lock);
        while (on && mem->wanted > 0 && mem->pooled >= mem->wanted)
            (void)pthread_cond_wait(&mem->taken, &mem->lock);
        pages = mem->wanted > mem->pooled ? mem->wanted - mem->pooled : 0;
        (void)pthread_mutex_unlock(&mem->lock);
    } while (pages > 0 && make_ready(mem, pages) && on);
}

void hdx_mem_close(hdx_mem *mem)
{
    atomic_store(&mem->stop, true);
    hdx_mem_want(mem, 0);
    if (mem->prepare > 0)
        (void)pthread_join(mem->preparing, NULL);
    mem->prepare = 0;
    for (uint64_t i = 0; i < mem->pooled; i++)
        (void)munmap(mem->pool[i], HUGE_PAGE);
    free(mem->pool);
    mem->pool = NULL;
    mem->pooled = mem->pool_capacity = 0;
}

/* ---- blocks of a scope ---- */

static bool is_scope(const hdx_mem *mem) { return mem != NULL && mem->block_capacity > 0; }

static uint64_t slot_of(const hdx_mem *scope, const void *p)
{
    return hdx_mix64((uintptr_t)p) & (scope->block_capacity - 1);
}

static void place_block(hdx_mem *scope, void *p, uint64_t bytes)
{
    uint64_t i = slot_of(scope, p);
    while (scope->blocks[i].at != NULL)
        i = (i + 1) & (scope->block_capacity - 1);
    scope->blocks[i].at = p;
    scope->blocks[i].bytes = bytes;
}

static bool grow_blocks(hdx_mem *scope)
{
    hdx_mem larger = { .block_capacity = 2 * scope->block_capacity };
    if ((larger.blocks = calloc((size_t)larger.block_capacity, sizeof *larger.blocks)) == NULL)
        return false;
    for (uint64_t i = 0; i < scope->block_capacity; i++)
        if (scope->blocks[i].at != NULL)
            place_block(&larger, scope->blocks[i].at, scope->blocks[i].bytes);
    free(scope->blocks);
    scope->blocks = larger.blocks;
    scope->block_capacity = larger.block_capacity;
    return true;
}

/* False: no memory for the list of blocks. */
static bool remember(hdx_mem *mem, void *p, uint64_t bytes)
{
    if (!is_scope(mem))
        return true;
    (void)pthread_mutex_lock(&mem->lock);
    const bool room = 2 * mem->block_count < mem->block_capacity || grow_blocks(mem);
    if (room) {
        place_block(mem, p, bytes);
        mem->block_count++;
    }
    (void)pthread_mutex_unlock(&mem->lock);
    return room;
}

/* Moves blocks after the free slot to where look-ups expect them. */
static void close_gap(hdx_mem *scope, uint64_t gap)
{
    const uint64_t mask = scope->block_capacity - 1;
    for (uint64_t i = (gap + 1) & mask; scope->blocks[i].at != NULL; i = (i + 1) & mask)
        if (((i - slot_of(scope, scope->blocks[i].at)) & mask) >= ((i - gap) & mask)) {
            scope->blocks[gap] = scope->blocks[i];
            scope->blocks[i].at = NULL;
            gap = i;
        }
}

static void forget(hdx_mem *mem, const void *p, uint64_t bytes)
{
    if (!is_scope(mem))
        return;
    (void)pthread_mutex_lock(&mem->lock);
    uint64_t i = slot_of(mem, p);
    while (mem->blocks[i].at != p && mem->blocks[i].at != NULL)
        i = (i + 1) & (mem->block_capacity - 1);
    assert(mem->blocks[i].at == p && mem->blocks[i].bytes == bytes);
    (void)bytes;
    mem->blocks[i].at = NULL;
    mem->block_count--;
    close_gap(mem, i);
    (void)pthread_mutex_unlock(&mem->lock);
}

hdx_mem *hdx_mem_scope(hdx_mem *of)
{
    hdx_mem *scope = calloc(1, sizeof *scope);
    if (scope == NULL || (scope->blocks = calloc(SCOPE_BLOCKS, sizeof *scope->blocks)) == NULL) {
        free(scope);
        return NULL;
    }
    (void)pthread_mutex_init(&scope->lock, NULL);
    scope->of = of;
    scope->block_capacity = SCOPE_BLOCKS;
    return scope;
}

static void release(hdx_mem *mem, void *p, uint64_t bytes)
{
    if (bytes >= MAPPED)
        unmap(mem, p, bytes);
    else
        free(p);
    uncount(mem, charge(bytes));
}

void hdx_mem_scope_close(hdx_mem *scope)
{
    if (scope == NULL)
        return;
    for (uint64_t i = 0; i < scope->block_capacity; i++)
        if (scope->blocks[i].at != NULL)
            release(scope, scope->blocks[i].at, scope->blocks[i].bytes);
    (void)pthread_mutex_destroy(&scope->lock);
    free(scope->blocks);
    free(scope);
}

/* ---- blocks ---- */

static void *get(hdx_mem *mem, uint64_t bytes, bool clear)
{
    if (bytes > SIZE_MAX / 2 || !count(mem, charge(bytes)))
        return NULL;
    void *p = bytes >= MAPPED ? map(mem, bytes, clear) : calloc(1, bytes == 0 ? 1 : (size_t)bytes);
    if (p != NULL && remember(mem, p, bytes))
        return p;
    if (p != NULL)
        release(mem, p, bytes);
    else
        uncount(mem, charge(bytes));
    return NULL;
}

void *hdx_mem_get(hdx_mem *mem, uint64_t bytes) { return get(mem, bytes, true); }

void *hdx_mem_array(hdx_mem *mem, uint64_t n, uint64_t size)
{
    uint64_t bytes;
    return hdx_mul(n, size, &bytes) ? hdx_mem_get(mem, bytes) : NULL;
}

void *hdx_mem_raw(hdx_mem *mem, uint64_t n, uint64_t size)
{
    uint64_t bytes;
    void    *p = hdx_mul(n, size, &bytes) ? get(mem, bytes, false) : NULL;
#ifndef NDEBUG
    if (p != NULL && bytes > 0)
        memset(p, 0xa5, (size_t)bytes);
#endif
    return p;
}

void *hdx_mem_resize(hdx_mem *mem, void *p, uint64_t old_bytes, uint64_t new_bytes)
{
    void *q;
    if (p == NULL)
        return hdx_mem_get(mem, new_bytes);
    if (new_bytes > SIZE_MAX / 2) /* whole() of it might be 0 */
        return NULL;
    if (is_huge(old_bytes) && is_huge(new_bytes) && whole(old_bytes) >= whole(new_bytes)) {
        /*
         * In place: the pages after the new end are released, and the remainder of the last one is cleared for a later
         * growth.
         */
        forget(mem, p, old_bytes);
        (void)remember(mem, p, new_bytes); /* there is room */
        uncount(mem, whole(old_bytes) - whole(new_bytes));
        if (whole(old_bytes) > whole(new_bytes))
            unmap(mem, (uint8_t *)p + whole(new_bytes), whole(old_bytes) - whole(new_bytes));
        if (new_bytes < old_bytes)
            memset((uint8_t *)p + new_bytes, 0,
                   (size_t)((old_bytes < whole(new_bytes) ? old_bytes : whole(new_bytes)) - new_bytes));
        return p;
    }
    if (is_huge(old_bytes) && is_huge(new_bytes)) { /* moves the pages: both blocks never exist together */
        if (!count(mem, whole(new_bytes) - whole(old_bytes)))
            return NULL;
        uint8_t *at = map_aligned(whole(new_bytes));
        if (at == NULL) {
            uncount(mem, whole(new_bytes) - whole(old_bytes));
            return NULL;
        }
        forget(mem, p, old_bytes);
        (void)remember(mem, at, new_bytes); /* there is room */
        for (uint64_t i = 0; i < whole(old_bytes); i += HUGE_PAGE)
            if (!move((uint8_t *)p + i, at + i)) {
                memcpy(at + i, (uint8_t *)p + i, HUGE_PAGE);
                (void)munmap((uint8_t *)p + i, HUGE_PAGE);
            }
        fill_from_pool(mem, at, whole(old_bytes), whole(new_bytes), true);
        return at;
    }
    q = hdx_mem_get(mem, new_bytes);
    if (q == NULL)
        return NULL;
    memcpy(q, p, (size_t)(old_bytes < new_bytes ? old_bytes : new_bytes));
    hdx_mem_put(mem, p, old_bytes);
    return q;
}

void hdx_mem_put(hdx_mem *mem, void *p, uint64_t bytes)
{
    if (p == NULL)
        return;
    forget(mem, p, bytes);
    release(mem, p, bytes);
}

void hdx_mem_disown(hdx_mem *mem, const void *p, uint64_t bytes)
{
    forget(mem, p, bytes);
    uncount(mem, charge(bytes));
}

bool hdx_mem_span(hdx_mem *mem, uint64_t count_of, uint64_t size, hdx_span *out)
{
    uint64_t bytes;
    *out = (hdx_span){ 0 };
    if (!hdx_mul(count_of, size, &bytes) || bytes > SIZE_MAX / 2)
        return false;
    if (is_huge(bytes))
        out->from = whole(bytes);
    out->bytes = bytes;
    out->at = is_huge(bytes) ? map_aligned(whole(bytes)) : hdx_mem_raw(mem, 1, bytes);
    return out->at != NULL;
}

bool hdx_mem_span_reach(hdx_mem *mem, hdx_span *s, uint64_t from)
{
    while (s->from > from) {
        if (!count(mem, HUGE_PAGE))
            return false;
        s->from -= HUGE_PAGE;
        fill_from_pool(mem, s->at, s->from, s->from + HUGE_PAGE, false);
    }
    return true;
}

void hdx_mem_span_put(hdx_mem *mem, hdx_span *s)
{
    if (s->at != NULL && is_huge(s->bytes)) {
        const uint64_t there = whole(s->bytes) - s->from;
        if (s->from > 0)
            (void)munmap(s->at, (size_t)s->from);
        if (there > 0)
            unmap(mem, s->at + s->from, there);
        uncount(mem, there);
    } else {
        hdx_mem_put(mem, s->at, s->bytes);
    }
    *s = (hdx_span){ 0 };
}

bool hdx_mem_charge(hdx_mem *mem, uint64_t bytes) { return count(mem, bytes); }
void hdx_mem_discharge(hdx_mem *mem, uint64_t bytes) { uncount(mem, bytes); }

hdx_code hdx_mem_explain(hdx_mem *mem, hdx_code code, hdx_error *err)
{
    static const char words[] = "no memory for "; /* of hdx_no_memory */
    mem = hdx_mem_counter(mem);
    if (code != HDX_LIMIT || mem == NULL || mem->limit == 0 || err == NULL || err->hint[0] != '\0' ||
        atomic_load(&mem->refused) == 0 || strncmp(err->message, words, sizeof words - 1) != 0)
        return code;
    char        *had = strrchr(err->message, '('); /* "(65536 bytes)" is the limit, or the whole request */
    const size_t len = had != NULL ? (size_t)(had - err->message) - 1 : strlen(err->message);
    (void)snprintf(err->message + len, sizeof err->message - len,
                   ": %llu more bytes exceed the limit of %llu for queries",
                   (unsigned long long)atomic_load(&mem->refused), (unsigned long long)mem->limit);
    return hdx_hint(err, code, "raise the limit with --memory");
}

bool hdx_mem_room(hdx_mem *mem, void **array, uint64_t *capacity, uint64_t n, uint64_t size)
{
    if (n < *capacity)
        return true;
    uint64_t more = *capacity == 0 ? 16 : *capacity, next, bytes;
    if (!hdx_add(*capacity, more, &next) || !hdx_mul(next, size, &bytes))
        return false;
    void *p = hdx_mem_resize(mem, *array, *capacity * size, bytes);
    if (p == NULL)
        return false;
    *array = p;
    *capacity = next;
    return true;
}

uint64_t hdx_peak_rss(void)
{
    struct rusage use;
    return getrusage(RUSAGE_SELF, &use) == 0 ? (uint64_t)use.ru_maxrss * 1024u : 0;
}
