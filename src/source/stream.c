/*
 * stream.c - reads a dump in order.
 *
 * In:  a source and a position.
 * Out: bytes, in reads of any size.
 * A thread fills slots of 128 KiB ahead of the reader.
 * Cost: plain: small reads through one buffer, large ones directly into the caller's memory. Compressed: one copy; 1
 *       MiB.
 *
 *     inflater thread ──fills──> [slot][slot][slot][slot] ──drains──> reader        lock guards head, tail and stop;
 *                                 ^ tail          ^ head                            a slot belongs to one side at a
 *                                                                                   time
 *
 * The thread starts after the first MiB, so that short reads do not pay for more. If it cannot start, the reader
 * inflates itself. Members of a gzip file are inflated by more threads ahead of that one (members.c). An error is
 * stored in its slot after the bytes before it, so that both are returned in order.
 */
#include "source/inner.h"
#include "base/workers.h"

#include <signal.h>

#define SLOTS        8u
#define SLOT_BYTES   (128u << 10) /* 1 MiB in all: it stays in a core's own cache; slots of 1 MiB cost 15 % more time */
#define FIRST_FILL   (64u << 10)  /* a short read of the header inflates this much */
#define THREAD_FROM  (1u << 20)
#define PLAIN_BUFFER (256u << 10)
#define SLOT_SIZE    ((uint64_t)HDX_HISTORY + SLOT_BYTES)

typedef struct slot {
    uint8_t  *block;    /* HDX_HISTORY bytes of room for the decoder, then the bytes */
    size_t    at, len;  /* bytes read; bytes there */
    uint64_t  consumed; /* position in the file when it was full */
    hdx_code  code;     /* result after the bytes; not HDX_OK: `error` */
    bool      end;      /* no bytes after these */
    hdx_error error;
} slot;

struct hdx_stream {
    hdx_source     *source;
    hdx_pos         at; /* of the next byte for the reader */
    uint64_t        consumed;
    hdx_decoder    *decoder; /* compressed only, like everything below */
    hdx_pos         skip_to; /* bytes before it are inflated and dropped */
    bool            placed;
    uint64_t        filled; /* bytes filled by the reader itself */
    slot            slots[SLOTS];
    slot           *current;    /* the reader's; NULL: none yet */
    uint64_t        head, tail; /* slots filled, returned; only incremented; guarded by lock once there is a thread */
    pthread_mutex_t lock;
    pthread_cond_t  moved;
    pthread_t       thread;
    bool            threaded, alone; /* a thread runs; none could be started */
    _Atomic bool    stop;
    uint8_t        *buffer; /* plain */
    size_t          buffer_at, buffer_len;
};

/* Read by position, without a decoder: plain files, and everything with an overlay. */
static bool direct(const hdx_source *source) { return source->kind == HDX_PLAIN || source->overlay.context != NULL; }

hdx_code hdx_stream_open(hdx_source *source, hdx_pos from, hdx_stream **out, hdx_error *err)
{
    hdx_stream *s = hdx_mem_get(source->mem, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return hdx_no_memory(err, "a stream", sizeof *s);
    s->source = source;
    s->at = s->skip_to = from;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->moved, NULL);
    if (direct(source)) {
        s->consumed = from < source->file_size ? from : source->file_size;
        s->buffer = hdx_mem_get(source->mem, PLAIN_BUFFER);
    } else {
        s->alone = source->threads < 2;
        s->decoder = hdx_decoder_new(source, &s->stop);
        if (s->decoder != NULL && !s->alone)
            s->decoder->helpers = source->threads;
        s->slots[0].block = hdx_mem_get(source->mem, SLOT_SIZE); /* the others follow with the thread */
    }
    if (direct(source) ? s->buffer == NULL : s->decoder == NULL || s->slots[0].block == NULL) {
        hdx_stream_close(s);
        return hdx_no_memory(err, "a stream", SLOT_SIZE);
    }
    *out = s;
    return HDX_OK;
}

void hdx_stream_close(hdx_stream *s)
{
    if (s == NULL)
        return;
    if (s->threaded) {
        (void)pthread_mutex_lock(&s->lock);
        s->stop = true;
        (void)pthread_cond_broadcast(&s->moved);
        (void)pthread_mutex_unlock(&s->lock);
        (void)pthread_join(s->thread, NULL);
    }
    for (unsigned i = 0; i < SLOTS; i++)
        hdx_mem_put(s->source->mem, s->slots[i].block, SLOT_SIZE);
    hdx_mem_put(s->source->mem, s->buffer, PLAIN_BUFFER);
    hdx_decoder_free(s->decoder);
    (void)pthread_cond_destroy(&s->moved);
    (void)pthread_mutex_destroy(&s->lock);
    hdx_mem_put(s->source->mem, s, sizeof *s);
}

uint64_t hdx_stream_consumed(const hdx_stream *s) { return s->consumed; }

/* ---- plain ---- */

static hdx_code read_plain(hdx_stream *s, uint8_t *to, size_t want, size_t *got, hdx_error *err)
{
    while (*got < want) {
        size_t   n = s->buffer_len - s->buffer_at, left = want - *got;
        hdx_code code;
        if (n > 0) {
            n = n < left ? n : left;
            memcpy(to + *got, s->buffer + s->buffer_at, n);
            s->buffer_at += n;
        } else if (left >= PLAIN_BUFFER / 2) {
            if ((code = hdx_source_read_at(s->source, s->at, to + *got, left, &n, err)) != HDX_OK)
                return code;
        } else {
            if ((code = hdx_source_read_at(s->source, s->at, s->buffer, PLAIN_BUFFER, &s->buffer_len, err)) != HDX_OK) {
                s->buffer_len = s->buffer_at = 0;
                return code;
            }
            s->buffer_at = 0;
            if (s->buffer_len == 0)
                break;
            continue;
        }
        if (n == 0)
            break;
        *got += n;
        s->at += n;
        s->consumed = s->at < s->source->file_size ? s->at : s->source->file_size;
    }
    return HDX_OK;
}

/* ---- compressed ---- */

/* Fills a slot with up to `room` bytes for the reader; those before skip_to are dropped. */
static void fill(hdx_stream *s, slot *into, size_t room)
{
    hdx_decoder *d = s->decoder;
    into->at = into->len = 0;
    into->end = false;
    into->code = HDX_OK;
    if (!s->placed) {
        into->code = hdx_decoder_seek(d, s->skip_to, &into->error);
        s->placed = true;
    }
    if (s->skip_to > d->out)
        room = SLOT_BYTES;
    while (into->code == HDX_OK && into->at == into->len && !into->end) {
        hdx_pos from = d->out;
        into->code = hdx_decoder_run(d, into->block + HDX_HISTORY, room, false, &into->len, &into->error);
        into->end = into->code == HDX_OK && into->len < room;
        into->at = s->skip_to <= from ? 0 : s->skip_to - from < into->len ? (size_t)(s->skip_to - from) : into->len;
    }
    into->consumed = hdx_decoder_consumed(d);
}

static void *inflate_ahead(void *p)
{
    hdx_stream *s = p;
    bool        done = false;
    (void)pthread_mutex_lock(&s->lock);
    while (!s->stop && !done) {
        if (s->head - s->tail == SLOTS) {
            (void)pthread_mutex_unlock(&s->lock);
            bool packed = hdx_points_pack_one(&s->source->points); /* it would be idle otherwise */
            (void)pthread_mutex_lock(&s->lock);
            if (!packed && s->head - s->tail == SLOTS && !s->stop)
                (void)pthread_cond_wait(&s->moved, &s->lock);
            continue;
        }
        slot *into = &s->slots[s->head % SLOTS];
        (void)pthread_mutex_unlock(&s->lock);
        fill(s, into, SLOT_BYTES);
        done = into->end || into->code != HDX_OK;
        (void)pthread_mutex_lock(&s->lock);
        s->head++;
        (void)pthread_cond_broadcast(&s->moved);
    }
    (void)pthread_mutex_unlock(&s->lock);
    while (done && !s->stop && hdx_points_pack_one(&s->source->points))
        ;
    return NULL;
}

/* Starts the thread if one is wanted. REQUIRES: the reader has drained all slots. */
static void start(hdx_stream *s)
{
    sigset_t all, before;
    for (unsigned i = 0; i < SLOTS && !s->alone; i++)
        if (s->slots[i].block == NULL && (s->slots[i].block = hdx_mem_get(s->source->mem, SLOT_SIZE)) == NULL)
            s->alone = true;
    if (s->alone)
        return;
    (void)sigfillset(&all); /* signals are for threads of the program */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    s->threaded = hdx_workers_start(&s->thread, inflate_ahead, s) == 0;
    s->alone = !s->threaded;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns the next slot that the thread has filled. */
static slot *wait_for_slot(hdx_stream *s)
{
    (void)pthread_mutex_lock(&s->lock);
    if (s->current != NULL) { /* drained: it is returned */
        s->tail++;
        (void)pthread_cond_broadcast(&s->moved);
    }
    while (s->head == s->tail) {
        (void)pthread_mutex_unlock(&s->lock);
        bool packed = hdx_points_pack_one(&s->source->points); /* better than waiting */
        (void)pthread_mutex_lock(&s->lock);
        if (!packed && s->head == s->tail)
            (void)pthread_cond_wait(&s->moved, &s->lock);
    }
    slot *next = &s->slots[s->tail % SLOTS];
    (void)pthread_mutex_unlock(&s->lock);
    return next;
}

/* Returns the slot to read from: the current one, or the next if that is drained. */
static slot *front(hdx_stream *s)
{
    slot *now = s->current;
    if (now != NULL && (now->at < now->len || now->end || now->code != HDX_OK))
        return now;
    if (!s->threaded && !s->alone && s->filled >= THREAD_FROM) {
        s->current = NULL;
        start(s);
    }
    if (s->threaded)
        return s->current = wait_for_slot(s);
    now = s->current = &s->slots[0];
    fill(s, now, s->filled == 0 ? FIRST_FILL : SLOT_BYTES);
    s->filled += now->len;
    while (hdx_points_pack_one(&s->source->points))
        ;
    return now;
}

static hdx_code read_inflated(hdx_stream *s, uint8_t *to, size_t want, size_t *got, hdx_error *err)
{
    while (*got < want) {
        slot  *from = front(s);
        size_t n = from->len - from->at < want - *got ? from->len - from->at : want - *got;
        s->consumed = from->consumed;
        if (n == 0 && from->code != HDX_OK) {
            if (err != NULL)
                *err = from->error;
            return from->code;
        }
        if (n == 0) /* front() returns an empty slot only at the end */
            break;
        memcpy(to + *got, from->block + HDX_HISTORY + from->at, n);
        from->at += n;
        *got += n;
        s->at += n;
    }
    return HDX_OK;
}

hdx_code hdx_stream_read(hdx_stream *s, void *to, size_t want, size_t *got, hdx_error *err)
{
    *got = 0;
    return direct(s->source) ? read_plain(s, to, want, got, err) : read_inflated(s, to, want, got, err);
}
