/*
 * mem.h - the memory door. Every working set that can grow with the dump comes through an hdx_mem: it counts, it knows
 * the peak, it can refuse (a limit, or a test that refuses the n-th request), and it never aborts.
 *
 * Large blocks are mapped alone and ask for huge pages, small ones come from malloc; all of them are zero but raw ones.
 * With `keep`, the huge pages of a block that is given back go into a pool, and the next block is put together from
 * them: a page that the kernel hands out for the first time costs far more than one that is cleared again. The pool
 * never raises the peak: fresh pages are taken only when it is empty. hdx_mem_prepare fills it ahead. Memory that is
 * read before it is written to comes twice: whoever does so clears it first.
 */
#ifndef HDX_BASE_MEM_H
#define HDX_BASE_MEM_H

#include <heapdex/error.h>
#include <heapdex/types.h>
#include <pthread.h>
#include <stdatomic.h>

typedef struct hdx_mem {
    _Atomic uint64_t used; /* bytes handed out now; large blocks as whole huge pages */
    _Atomic uint64_t peak;
    uint64_t         limit;                        /* 0: none */
    bool (*refuse)(void *context, uint64_t bytes); /* tests: true makes this request fail */
    void            *context;
    _Atomic uint64_t refused; /* bytes of the request that was refused last, by the limit or by `refuse` */
    bool             keep;    /* pool pages; hdx_mem_close must end it */
    pthread_mutex_t  lock;    /* guards the pool; all zero is its initial state */
    void           **pool;    /* huge pages, each a mapping of its own */
    uint64_t         pooled, pool_capacity;
    pthread_t        preparing;
    uint64_t         prepare; /* bytes, for that thread; 0: there is none */
    atomic_bool      stop;    /* that thread is to */
    pthread_cond_t   taken;   /* a page was, from the pool, or `wanted` is another */
    uint64_t         wanted;  /* pages */
    struct hdx_mem  *of;      /* a scope: the hdx_mem in which its blocks count, or NULL */
    struct {
        void    *at;
        uint64_t bytes;
    } * blocks;                           /* a scope: what it has handed out, hashed by address; `lock` guards it */
    uint64_t block_count, block_capacity; /* capacity: a power of two; 0: it is no scope */
} hdx_mem;

/*
 * A scope is an hdx_mem that counts in another one and knows its blocks: hdx_mem_scope_close gives back those that were
 * not put before. What is got, grown and put in it is as everywhere else; it has no spans.
 * of: NULL if its memory is not counted anywhere. Returns NULL if there is no memory.
 */
hdx_mem *hdx_mem_scope(hdx_mem *of);
void     hdx_mem_scope_close(hdx_mem *scope); /* NULL: nothing */
/* Where its blocks count: of a scope the hdx_mem that is none; NULL: nowhere. */
hdx_mem *hdx_mem_counter(hdx_mem *mem);

/* Unmaps the pool. What was got and not put stays. */
void hdx_mem_close(hdx_mem *mem);

/*
 * With `keep`: another thread puts pages into the pool, so many bytes of them, that are about to be asked for anyway,
 * while the caller's is the only one that has work to do; then it helps (hdx_mem_help) as long as more are wanted.
 * Once; where there is no thread or memory, nothing.
 */
void hdx_mem_prepare(hdx_mem *mem, uint64_t bytes);
/*
 * With `keep`: a thread that nobody can help says that it takes page after page, and that so many bytes of them in the
 * pool are welcome; 0: it is over. Others who have nothing more urgent to do call hdx_mem_help, which makes those that
 * are missing, and, `on`, goes on with it until it is over.
 */
void hdx_mem_want(hdx_mem *mem, uint64_t bytes);
void hdx_mem_help(hdx_mem *mem, bool on);

/* bytes zeroed bytes, or NULL when refused; 0 bytes give a valid pointer. Thread-safe. */
void *hdx_mem_get(hdx_mem *mem, uint64_t bytes);
/* count * size with the product checked. */
void *hdx_mem_array(hdx_mem *mem, uint64_t count, uint64_t size);
/* The same, but holding anything: for arrays that are written before they are read. */
void *hdx_mem_raw(hdx_mem *mem, uint64_t count, uint64_t size);
/* Resizes; the tail that is new is zero. On refusal NULL, and the old block stays. p NULL: as hdx_mem_get. */
void *hdx_mem_resize(hdx_mem *mem, void *p, uint64_t old_bytes, uint64_t new_bytes);
/* Gives a block back; bytes as it was got. p NULL: nothing. */
void hdx_mem_put(hdx_mem *mem, void *p, uint64_t bytes);

/* A block leaves: it counts no more, and hdx_mem_put of no hdx_mem (NULL) gives it back, on any thread. */
void hdx_mem_disown(hdx_mem *mem, const void *p, uint64_t bytes);

/* Counts bytes that come from elsewhere, while they are held; false: refused, and nothing is counted. */
bool hdx_mem_charge(hdx_mem *mem, uint64_t bytes);
void hdx_mem_discharge(hdx_mem *mem, uint64_t bytes);

/*
 * Of an error that a refused request may have led to: adds which bound refused it, and how to raise it. Any other
 * error, and one that has a hint, stays. Returns `code`.
 */
hdx_code hdx_mem_explain(hdx_mem *mem, hdx_code code, hdx_error *err);

/*
 * A block that is written from its end to its beginning, with memory where that was reached alone: what others give
 * back meanwhile is used for the rest. Holds anything. False: refused; the span stays as it was. Once got, put it: all
 * zero is nothing.
 */
typedef struct hdx_span {
    uint8_t *at;
    uint64_t bytes;
    uint64_t from; /* memory is there from here on */
} hdx_span;
bool hdx_mem_span(hdx_mem *mem, uint64_t count, uint64_t size, hdx_span *out);
bool hdx_mem_span_reach(hdx_mem *mem, hdx_span *span, uint64_t from);
void hdx_mem_span_put(hdx_mem *mem, hdx_span *span);

/*
 * Room for one more element in an array that doubles: makes *capacity > count, or returns false and changes nothing.
 *     if (!hdx_mem_room(mem, (void **)&list, &capacity, count, sizeof *list)) return hdx_no_memory(...);
 */
bool hdx_mem_room(hdx_mem *mem, void **array, uint64_t *capacity, uint64_t count, uint64_t size);

/* Resident memory of this process at its peak, in bytes (getrusage). */
uint64_t hdx_peak_rss(void);

#endif
