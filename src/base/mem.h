/*
 * mem.h - memory accounting. Every working set that can grow with the dump is allocated through an hdx_mem. It counts
 * bytes, records the peak, can refuse a request (a limit, or a test that refuses the n-th request), and never aborts.
 *
 * Large blocks are separate mappings that request huge pages; small ones come from malloc. All are zeroed, except raw
 * ones. With `keep`, the huge pages of a freed block go into a pool from which later blocks are assembled: a page that
 * the kernel supplies for the first time costs far more than one that is cleared again. The pool never raises the peak,
 * because new pages are only requested when it is empty; hdx_mem_prepare fills it in advance. A page that is read
 * before it is written costs two page faults: code that does so clears it first.
 */
#ifndef HDX_BASE_MEM_H
#define HDX_BASE_MEM_H

#include <heapdex/error.h>
#include <heapdex/types.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct hdx_mem {
    _Atomic uint64_t used; /* bytes allocated now; large blocks count as whole huge pages */
    _Atomic uint64_t peak;
    uint64_t         limit;                        /* in bytes; 0: no limit */
    bool (*refuse)(void *context, uint64_t bytes); /* for tests: true refuses this request */
    void            *context;
    _Atomic uint64_t refused; /* bytes of the last request that the limit or `refuse` refused */
    bool             keep;    /* pool freed pages; hdx_mem_close must be called */
    pthread_mutex_t  lock;    /* guards the pool; all zero is its initial state */
    void           **pool;    /* huge pages, each a separate mapping */
    uint64_t         pooled, pool_capacity;
    pthread_t        preparing;
    uint64_t         prepare; /* bytes that this thread adds to the pool; 0: there is no such thread */
    atomic_bool      stop;    /* asks that thread to end */
    pthread_cond_t   taken;   /* signals that a page was taken from the pool, or that `wanted` changed */
    uint64_t         wanted;  /* in pages */
    struct hdx_mem  *of;      /* of a scope: the hdx_mem that counts its blocks, or NULL */
    struct {
        void    *at;
        uint64_t bytes;
    } * blocks;                           /* of a scope: its allocated blocks, hashed by address; `lock` guards them */
    uint64_t block_count, block_capacity; /* block_capacity: a power of two; 0: not a scope */
} hdx_mem;

/*
 * Creates a scope: an hdx_mem that counts in `of` (NULL: not counted) and knows its blocks. hdx_mem_scope_close frees
 * those that are still allocated. All calls accept a scope, except for those of spans. Returns NULL if there is no
 * memory.
 */
hdx_mem *hdx_mem_scope(hdx_mem *of);
void     hdx_mem_scope_close(hdx_mem *scope); /* NULL is allowed */
/* Returns the hdx_mem that counts the blocks of a scope, or `mem` if it is not a scope; NULL: not counted. */
hdx_mem *hdx_mem_counter(hdx_mem *mem);

/* Unmaps the pool. Allocated blocks are not freed. */
void hdx_mem_close(hdx_mem *mem);

/*
 * Starts a thread that adds `bytes` bytes of pages to the pool, for requests that are expected soon, while only the
 * calling thread has work. Afterwards that thread helps (hdx_mem_help) as long as more pages are wanted. REQUIRES:
 * `keep`; call it once. Without a thread or memory it has no effect.
 */
void hdx_mem_prepare(hdx_mem *mem, uint64_t bytes);
/*
 * hdx_mem_want announces that a thread which cannot be helped otherwise needs page after page, and that `bytes` bytes
 * of them in the pool are useful; 0 ends that. Threads without more urgent work call hdx_mem_help, which adds the
 * missing pages; with `on` it continues until the need ends. REQUIRES: `keep`.
 */
void hdx_mem_want(hdx_mem *mem, uint64_t bytes);
void hdx_mem_help(hdx_mem *mem, bool on);

/* Returns `bytes` zeroed bytes, or NULL if refused. 0 bytes return a valid pointer. Any thread may call it. */
void *hdx_mem_get(hdx_mem *mem, uint64_t bytes);
/* Same for count * size bytes, with an overflow check. */
void *hdx_mem_array(hdx_mem *mem, uint64_t count, uint64_t size);
/* Same without zeroing, for arrays that are written before they are read. */
void *hdx_mem_raw(hdx_mem *mem, uint64_t count, uint64_t size);
/*
 * Resizes a block; the new part is zero. If refused, returns NULL, and the old block is unchanged. p NULL: as
 * hdx_mem_get.
 */
void *hdx_mem_resize(hdx_mem *mem, void *p, uint64_t old_bytes, uint64_t new_bytes);
/* Frees a block of `bytes` bytes, as requested. p NULL: no effect. */
void hdx_mem_put(hdx_mem *mem, void *p, uint64_t bytes);

/* Transfers a block to the caller: it is no longer counted, and hdx_mem_put(NULL, ...) frees it on any thread. */
void hdx_mem_disown(hdx_mem *mem, const void *p, uint64_t bytes);

/* Counts memory that was allocated elsewhere, until hdx_mem_discharge. False: refused, and nothing is counted. */
bool hdx_mem_charge(hdx_mem *mem, uint64_t bytes);
void hdx_mem_discharge(hdx_mem *mem, uint64_t bytes);

/*
 * Adds to an error of a refused request which limit refused it, and how to raise that limit. Other errors, and those
 * with a hint, are unchanged. Returns `code`.
 */
hdx_code hdx_mem_explain(hdx_mem *mem, hdx_code code, hdx_error *err);

/*
 * A block that is written from its end to its beginning and has memory only for the part that was reached; the other
 * part can use memory that is freed in the meantime. Its bytes are undefined at first. hdx_mem_span and
 * hdx_mem_span_reach return false if refused; the span is then unchanged. Free it with hdx_mem_span_put; all zero is
 * allowed.
 */
typedef struct hdx_span {
    uint8_t *at;
    uint64_t bytes;
    uint64_t from; /* memory exists from here on */
} hdx_span;
bool hdx_mem_span(hdx_mem *mem, uint64_t count, uint64_t size, hdx_span *out);
bool hdx_mem_span_reach(hdx_mem *mem, hdx_span *span, uint64_t from);
void hdx_mem_span_put(hdx_mem *mem, hdx_span *span);

/*
 * Makes room for one more element in an array that doubles: *capacity > count. Returns false, and changes nothing, if
 * refused.
 *     if (!hdx_mem_room(mem, (void **)&list, &capacity, count, sizeof *list)) return hdx_no_memory(...);
 */
bool hdx_mem_room(hdx_mem *mem, void **array, uint64_t *capacity, uint64_t count, uint64_t size);

/* Returns the peak resident memory of this process in bytes (getrusage). */
uint64_t hdx_peak_rss(void);

#endif
