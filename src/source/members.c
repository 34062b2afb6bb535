/*
 * members.c - inflates gzip members in parallel, ahead of a decoder that reads the file in order.
 *
 * In:  the file; the position of the decoder.
 * Out: the bytes of the member whose header is there, if it is complete and correct; otherwise nothing.
 * The decoder alone decides about points, damage and positions in the dump, and inflates every member itself that is
 * not available here.
 * Cost: workers threads, 2 workers + 2 members of at most 1 MiB.
 *
 *     file   ....|member|member| 1f 8b in data |member| ...
 *                 ^ decoder      ^ candidate    ^ candidate        bytes that look like a header are a candidate; it
 *                                                                  is a member only if the decoder's own member ends
 *                                                                  right there
 *
 * Nothing marks the beginning of the next member (GZIP 1.2, 3.8): a wrong candidate costs one wasted inflate, usually a
 * short one.
 */
#include "source/inner.h"
#include "base/workers.h"

#include <signal.h>

#define MEMBER_MAX  HDX_SLICE_MAX
#define PACKED_MAX  (2u << 20) /* a flood of empty blocks is left to the decoder */
#define WORKERS_MAX 16u
#define READ        (128u << 10)

typedef enum entry_state { BUSY, GOOD, BAD } entry_state;

typedef struct entry {
    uint64_t    at, end; /* positions in the file */
    uint8_t    *bytes;   /* MEMBER_MAX bytes, reused for the next candidate; NULL: not yet allocated */
    size_t      len;
    uint32_t    crc;
    entry_state state;
} entry;

struct hdx_gz_members {
    hdx_source *source;
    unsigned    workers, started;
    pthread_t   threads[WORKERS_MAX];
    pthread_mutex_t
        lock; /* guards what follows; an entry's bytes belong to its worker while BUSY, then to the decoder */
    pthread_cond_t moved;
    entry          entries[2 * WORKERS_MAX + 2]; /* a ring, in the order of the file */
    unsigned       room;
    uint64_t       head, tail; /* only incremented */
    uint64_t       from;       /* earlier candidates are useless */
    uint64_t       scanned;    /* the file was searched up to here */
    bool           scanning;   /* a worker is searching */
    bool           stop;
};

/* ---- one candidate ---- */

/* What a worker needs to inflate a member. */
typedef struct tool {
    z_stream  z;
    hdx_isal *isal; /* may be NULL */
    uint8_t   in[HDX_BEFORE + READ];
} tool;

static bool more(const hdx_gz_members *m, tool *t, uint64_t *next)
{
    size_t got;
    if (t->z.avail_in > 0)
        return true;
    memmove(t->in, t->z.next_in - HDX_BEFORE, HDX_BEFORE);
    t->z.next_in = t->in + HDX_BEFORE;
    if (hdx_source_file_read(m->source, *next, t->in + HDX_BEFORE, READ, &got, NULL) != HDX_OK || got == 0)
        return false;
    t->z.avail_in = (uInt)got;
    *next += got;
    return true;
}

static bool header(const hdx_gz_members *m, tool *t, uint64_t *next)
{
    hdx_head       head;
    hdx_head_state state = HDX_HEAD_MORE;
    uint64_t       from = *next;
    size_t         used;
    hdx_head_begin(&head);
    while (state == HDX_HEAD_MORE && *next - from <= PACKED_MAX && more(m, t, next)) {
        state = hdx_head_feed(&head, t->z.next_in, t->z.avail_in, &used);
        t->z.next_in += used;
        t->z.avail_in -= (uInt)used;
    }
    return state == HDX_HEAD_DONE && !head.bad_sum;
}

/* Moves to the data of the member at e->at. */
static bool begin(const hdx_gz_members *m, tool *t, entry *e, uint64_t *next)
{
    *next = e->at;
    e->crc = 0;
    t->z.avail_in = 0;
    t->z.next_out = e->bytes;
    t->z.avail_out = MEMBER_MAX;
    return header(m, t, next) && inflateReset(&t->z) == Z_OK;
}

static bool by_zlib(const hdx_gz_members *m, tool *t, entry *e, uint64_t *next)
{
    int rc = Z_OK;
    while (rc == Z_OK && *next - e->at <= PACKED_MAX && more(m, t, next)) {
        const uint8_t *before = t->z.next_out;
        rc = inflate(&t->z, Z_NO_FLUSH);
        e->crc = hdx_crc32(e->crc, before, (size_t)(t->z.next_out - before));
    }
    return rc == Z_STREAM_END;
}

/* Inflates block by block; *unsure: zlib must decide. */
static bool by_isal(const hdx_gz_members *m, tool *t, entry *e, uint64_t *next, bool *unsure)
{
    unsigned      odd = 0;
    hdx_isal_step step = HDX_ISAL_BLOCK;
    *unsure = true;
    while (step != HDX_ISAL_LAST) {
        const uint8_t *before = t->z.next_out;
        if (*next - e->at > PACKED_MAX || !more(m, t, next) ||
            (step == HDX_ISAL_BLOCK && !hdx_isal_begin(t->isal, &t->z, odd, before, (size_t)(before - e->bytes))))
            return false;
        const bool full = t->z.avail_out == 0;
        step = hdx_isal_run(t->isal, &t->z, &odd);
        if (step == HDX_ISAL_UNSURE)
            return false;
        *unsure = !(full && step == HDX_ISAL_MORE && t->z.avail_in > 0); /* too large for any thread */
        if (!*unsure)
            return false;
        e->crc = hdx_crc32(e->crc, before, (size_t)(t->z.next_out - before));
    }
    return true;
}

/* Returns whether there is a complete member at e->at, of at most MEMBER_MAX bytes, with the right sum and length. */
static bool inflate_member(const hdx_gz_members *m, tool *t, entry *e)
{
    uint64_t next;
    uint8_t  trailer[8];
    bool     unsure = true;
    if (!begin(m, t, e, &next))
        return false;
    if (!by_isal(m, t, e, &next, &unsure) && (!unsure || !begin(m, t, e, &next) || !by_zlib(m, t, e, &next)))
        return false;
    e->len = MEMBER_MAX - t->z.avail_out;
    for (unsigned i = 0; i < sizeof trailer; i++) {
        if (!more(m, t, &next))
            return false;
        trailer[i] = *t->z.next_in++;
        t->z.avail_in--;
    }
    e->end = next - t->z.avail_in;
    return hdx_le32(trailer) == e->crc && hdx_le32(trailer + 4) == (uint32_t)e->len;
}

/* ---- the search ---- */

/*
 * Returns the first position from `at` on, before `limit`, where a header could be; UINT64_MAX: none, and *at is how
 * far it searched.
 */
static uint64_t search(const hdx_gz_members *m, tool *t, uint64_t *at, uint64_t limit)
{
    while (*at < limit) {
        size_t         got = 0, left;
        const uint8_t *p;
        if (hdx_source_file_read(m->source, *at, t->in, READ, &got, NULL) != HDX_OK || got < 10)
            break; /* a header has ten bytes */
        for (p = t->in, left = got - 9; left > 0 && (p = memchr(p, 0x1f, left)) != NULL;
             p++, left = got - 9 - (size_t)(p - t->in))
            if (p[1] == 0x8b && p[2] == 8 && (p[3] & 0xe0) == 0) {
                *at += (size_t)(p - t->in);
                return *at;
            }
        *at += got - 9;
    }
    return UINT64_MAX;
}

/*
 * REQUIRES: the lock is held; it is released meanwhile. True: there is a candidate in the ring for this worker; its
 * number is *which.
 */
static bool next_candidate(hdx_gz_members *m, tool *t, uint64_t *which)
{
    uint64_t at = m->scanned > m->from ? m->scanned : m->from, limit = m->from + m->room * (uint64_t)MEMBER_MAX;
    if (at >= limit || at >= m->source->file_size)
        return false;
    m->scanning = true;
    (void)pthread_mutex_unlock(&m->lock);
    uint64_t found = search(m, t, &at, limit < m->source->file_size ? limit : m->source->file_size);
    (void)pthread_mutex_lock(&m->lock);
    m->scanning = false;
    if (found == UINT64_MAX) {
        m->scanned =
            at < limit ? m->source->file_size : at; /* the file ends or cannot be read: the decoder reports it */
        return false;
    }
    m->scanned = found + 1;
    if (found < m->from)
        return false;
    entry *e = &m->entries[ *which = m->head++ % m->room];
    e->at = found;
    e->state = BUSY;
    return true;
}

static void *work(void *context)
{
    hdx_gz_members *m = context;
    tool           *t = hdx_mem_get(m->source->mem, sizeof *t);
    uint64_t        which;
    if (t == NULL || inflateInit2(&t->z, -15) != Z_OK) {
        hdx_mem_put(m->source->mem, t, sizeof *t);
        return NULL; /* other workers, or the decoder, do everything */
    }
    t->z.next_in = t->in + HDX_BEFORE;
    t->isal = hdx_isal_new(m->source);
    (void)pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        if (m->scanning || m->head - m->tail == m->room) {
            (void)pthread_cond_wait(&m->moved, &m->lock);
            continue;
        }
        const uint64_t from = m->from, scanned = m->scanned;
        if (!next_candidate(m, t, &which)) {
            if (!m->stop && m->from == from && m->scanned == scanned) /* nothing to do before the decoder moves */
                (void)pthread_cond_wait(&m->moved, &m->lock);
            continue;
        }
        (void)pthread_cond_broadcast(&m->moved); /* the next one may search */
        entry *e = &m->entries[which];
        (void)pthread_mutex_unlock(&m->lock);
        if (e->bytes == NULL)
            e->bytes = hdx_mem_get(m->source->mem, MEMBER_MAX);
        const entry_state state = e->bytes != NULL && inflate_member(m, t, e) ? GOOD : BAD;
        (void)pthread_mutex_lock(&m->lock);
        e->state = state;
        (void)pthread_cond_broadcast(&m->moved);
    }
    (void)pthread_mutex_unlock(&m->lock);
    (void)inflateEnd(&t->z);
    hdx_isal_free(t->isal, m->source);
    hdx_mem_put(m->source->mem, t, sizeof *t);
    return NULL;
}

/* ---- for the decoder ---- */

hdx_gz_members *hdx_gz_members_new(hdx_source *source, unsigned workers, uint64_t from)
{
    hdx_gz_members *m = hdx_mem_get(source->mem, sizeof *m);
    sigset_t        all, before;
    if (m == NULL)
        return NULL;
    m->source = source;
    m->workers = workers > WORKERS_MAX ? WORKERS_MAX : workers;
    m->room = 2 * m->workers + 2;
    m->from = m->scanned = from;
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_cond_init(&m->moved, NULL);
    (void)sigfillset(&all); /* signals are for threads of the program */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    while (m->started < m->workers && hdx_workers_start(&m->threads[m->started], work, m) == 0)
        m->started++;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return m;
}

void hdx_gz_members_free(hdx_gz_members *m)
{
    if (m == NULL)
        return;
    (void)pthread_mutex_lock(&m->lock);
    m->stop = true;
    (void)pthread_cond_broadcast(&m->moved);
    (void)pthread_mutex_unlock(&m->lock);
    for (unsigned i = 0; i < m->started; i++)
        (void)pthread_join(m->threads[i], NULL);
    for (unsigned i = 0; i < m->room; i++)
        hdx_mem_put(m->source->mem, m->entries[i].bytes, MEMBER_MAX);
    (void)pthread_cond_destroy(&m->moved);
    (void)pthread_mutex_destroy(&m->lock);
    hdx_mem_put(m->source->mem, m, sizeof *m);
}

bool hdx_gz_members_take(hdx_gz_members *m, uint64_t at, hdx_inflated *out)
{
    bool good = false;
    (void)pthread_mutex_lock(&m->lock);
    m->from = at + 1; /* the decoder itself now inflates the member at `at`, which is not in the ring */
    (void)pthread_cond_broadcast(&m->moved);
    while (m->tail < m->head) {
        entry *e = &m->entries[m->tail % m->room];
        if (e->at > at)
            break;
        if (e->state == BUSY) {
            (void)pthread_cond_wait(&m->moved, &m->lock);
            continue;
        }
        if (e->at == at && e->state == GOOD) {
            *out = (hdx_inflated){ e->bytes, e->len, e->crc, e->end };
            good = true; /* it stays in the ring, unchanged, until a later member is requested */
            break;
        }
        m->tail++;
        (void)pthread_cond_broadcast(&m->moved);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return good;
}
