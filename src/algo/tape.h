/*
 * tape.h - a sequence of bytes that one step writes down, front to back, and another reads again in pieces: a file in a
 * build, memory in a test. What a step holds decides how large a dump fits, and a depth-first search alone is twice an
 * id per node.
 */
#ifndef HDX_ALGO_TAPE_H
#define HDX_ALGO_TAPE_H

#include "base/base.h"

#include <assert.h>
#include <string.h>

/* Calls give HDX_OK or the error that ends the work. */
typedef struct hdx_tape {
    void *context;
    hdx_code (*write)(void *context, const void *bytes, uint64_t len, hdx_error *err); /* after what was written */
    hdx_code (*read)(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err);
    void (*cut)(void *context, uint64_t end); /* nobody reads at `end` or after it any more; NULL: nothing to gain */
} hdx_tape;

/* A tape and how many elements of one kind are on it; count 0: it is not asked, and may be NULL. */
typedef struct hdx_taped {
    const hdx_tape *tape;
    uint64_t        count;
} hdx_taped;

/* A buffer that is written to a tape whenever it is full. */
typedef struct hdx_tape_writer {
    const hdx_tape *tape;
    uint8_t        *at;
    uint64_t        used, room; /* bytes of the buffer */
    uint64_t        written;    /* bytes on the tape */
} hdx_tape_writer;

/* `room`: a multiple of what is put. False: no memory. */
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

/* One element, or as many as there is room for. */
static inline hdx_code hdx_tape_writer_put(hdx_tape_writer *w, const void *element, uint64_t size, hdx_error *err)
{
    assert(w->used + size <= w->room); /* A3 */
    memcpy(w->at + w->used, element, size);
    w->used += size;
    return w->used < w->room ? HDX_OK : hdx_tape_writer_flush(w, err);
}

/* What was not flushed is lost. */
static inline void hdx_tape_writer_close(hdx_tape_writer *w, hdx_mem *mem)
{
    hdx_mem_put(mem, w->at, w->room);
    w->at = NULL;
}

#endif
