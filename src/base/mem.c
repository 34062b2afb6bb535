/* mem.c - the memory door. */
#include "base/mem.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define MAPPED (1u << 20) /* from here on a block is a mapping of its own */
#define HUGE_PAGE (2u << 20)

static bool count(hdx_mem *mem, uint64_t bytes)
{
    if (mem == NULL)
        return true;
    if (mem->refuse != NULL && mem->refuse(mem->context, bytes))
        return false;
    uint64_t now = atomic_fetch_add(&mem->used, bytes) + bytes;
    if (mem->limit != 0 && now > mem->limit) {
        atomic_fetch_sub(&mem->used, bytes);
        return false;
    }
    uint64_t peak = atomic_load(&mem->peak);
    while (now > peak && !atomic_compare_exchange_weak(&mem->peak, &peak, now))
        ;
    return true;
}

static void uncount(hdx_mem *mem, uint64_t bytes)
{
    if (mem != NULL)
        atomic_fetch_sub(&mem->used, bytes);
}

static void *map(uint64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= 2 * HUGE_PAGE)
        (void)madvise(p, (size_t)bytes, MADV_HUGEPAGE);
    return p;
}

void *hdx_mem_get(hdx_mem *mem, uint64_t bytes)
{
    if (bytes > SIZE_MAX / 2 || !count(mem, bytes))
        return NULL;
    void *p = bytes >= MAPPED ? map(bytes) : calloc(1, bytes == 0 ? 1 : (size_t)bytes);
    if (p == NULL)
        uncount(mem, bytes);
    return p;
}

void *hdx_mem_array(hdx_mem *mem, uint64_t n, uint64_t size)
{
    uint64_t bytes;
    return hdx_mul(n, size, &bytes) ? hdx_mem_get(mem, bytes) : NULL;
}

void *hdx_mem_resize(hdx_mem *mem, void *p, uint64_t old_bytes, uint64_t new_bytes)
{
    void *q;
    if (p == NULL)
        return hdx_mem_get(mem, new_bytes);
    if (old_bytes >= MAPPED && new_bytes >= MAPPED) {
        if (new_bytes > old_bytes && !count(mem, new_bytes - old_bytes))
            return NULL;
        q = new_bytes > SIZE_MAX / 2 ? MAP_FAILED : mremap(p, (size_t)old_bytes, (size_t)new_bytes, MREMAP_MAYMOVE);
        if (q == MAP_FAILED) {
            if (new_bytes > old_bytes)
                uncount(mem, new_bytes - old_bytes);
            return NULL;
        }
        if (new_bytes < old_bytes)
            uncount(mem, old_bytes - new_bytes);
        else /* the tail of the last old page was never handed out as zero only if it was written; clear it */
            memset((char *)q + old_bytes, 0, (size_t)(hdx_round_up(old_bytes, 4096) < new_bytes ? hdx_round_up(old_bytes, 4096) - old_bytes : new_bytes - old_bytes));
        return q;
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
    if (bytes >= MAPPED)
        (void)munmap(p, (size_t)bytes);
    else
        free(p);
    uncount(mem, bytes);
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
