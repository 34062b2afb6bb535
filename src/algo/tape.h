/*
 * tape.h - a sequence of bytes that one step writes sequentially and another reads in pieces: a file in a build, memory
 * in a test. The memory of a step limits the size of a dump, and a depth-first search alone needs twice the size of an
 * id per node.
 */
#ifndef HDX_ALGO_TAPE_H
#define HDX_ALGO_TAPE_H

#include "base/base.h"

#include <assert.h>
#include <string.h>

/* Calls return HDX_OK or the error that ends the work. */
typedef struct hdx_tape {
    void *context;
    hdx_code (*write)(void *context, const void *bytes, uint64_t len, hdx_error *err); /* appends */
    hdx_code (*read)(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err);
    /* what is at `end` or after it is no longer needed; NULL: not supported */
    void (*cut)(void *context, uint64_t end);
} hdx_tape;

/* A tape and the number of elements on it; with count 0 it is not used and may be NULL. */
typedef struct hdx_taped {
    const hdx_tape *tape;
    uint64_t        count;
} hdx_taped;

/* A buffer that is written to a tape when it is full. */
typedef struct hdx_tape_writer {
    const hdx_tape *tape;
    uint8_t        *at;
    uint64_t        used, room; /* used: bytes in the buffer; room: its size */
    uint64_t        written;    /* bytes on the tape */
} hdx_tape_writer;

/* Allocates the buffer. REQUIRES: `room` is a multiple of the size of elements. False: no memory. */
static inline bool hdx_tape_writer_open(hdx_tape_writer *w, const hdx_tape *tape, uint64_t room, hdx_mem *mem)
{
    *w = (hdx_tape_writer){ .tape = tape, .at = hdx_mem_raw(mem, room, 1), .room = room };
    return w->at != NULL;
}

static inline hdx_code hdx_tape_writer_flush(hdx_tape_writer *w, hdx_error *err)
{
    const uint64_t used = w->used;
    w->used = 0;
    w->written += used;
    return used == 0 ? HDX_OK : w->tape->write(w->tape->context, w->at, used, err);
}

/* Appends an element, or as many as fit. */
static inline hdx_code hdx_tape_writer_put(hdx_tape_writer *w, const void *element, uint64_t size, hdx_error *err)
{
    assert(w->used + size <= w->room); /* A3 */
    memcpy(w->at + w->used, element, size);
    w->used += size;
    return w->used < w->room ? HDX_OK : hdx_tape_writer_flush(w, err);
}

/* Frees the buffer; bytes that were not flushed are lost. */
static inline void hdx_tape_writer_close(hdx_tape_writer *w, hdx_mem *mem)
{
    hdx_mem_put(mem, w->at, w->room);
    w->at = NULL;
}

#endif
