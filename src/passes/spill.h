/*
 * spill.h - the spill file that the second pass writes for everything after it: one record for every object, in the
 * order of the dump.
 *
 * A unit is about 512 KiB of records of one worker, with a checksum; the table of units stays in memory. A record
 * consists of packed numbers (algo/packed.h):
 *
 *     size in bytes of what follows, times two, + 1 if the distance of the id is present: a reader finds the next
 *         record before it decodes this one
 *     distance of the id from the one after that of the previous record (zigzag; at first from 0); omitted if it is 0
 *     distance of the position from that of the previous record (at first from the unit's pos); omitted in a bare
 *         unit, whose objects have no record in the dump
 *     index of the heap in hdx_dump_tables.heaps, + 1; only if the dump has heaps
 *     class number * 4 + width code
 *     length; only if the class is one of arrays, or nevertheless the class of object arrays
 *     targets, ascending, each as its distance from the id + half the range of its bytes: as many bytes as the
 *         farthest needs (the code names one of four widths)
 */
#ifndef HDX_PASSES_SPILL_H
#define HDX_PASSES_SPILL_H

#include "algo/algo.h"
#include "reading/reading.h"
#include "passes/temp.h"

/* Largest size of a record without its targets, and of what packing may write after it. */
#define HDX_SPILL_HEAD 64u
#define HDX_SPILL_BARE UINT64_MAX /* position of an object without a record */

typedef struct hdx_spilled {
    uint64_t at, bytes;      /* at: position in the file */
    uint64_t first, last;    /* lowest and highest id */
    uint64_t objects, edges; /* objects: number of records; edges: of their targets */
    hdx_pos  pos;            /* of the first record */
    uint32_t sum;            /* CRC32C */
    bool     bare;
} hdx_spilled;

typedef struct hdx_spill {
    hdx_temp        file;
    hdx_spilled    *units;
    uint64_t        count, capacity;
    uint64_t        longest; /* size of the longest unit in bytes */
    uint64_t        edges;   /* of all units */
    pthread_mutex_t lock;
    bool            open;
} hdx_spill;

typedef struct hdx_spill_record {
    uint64_t       id;
    hdx_pos        position; /* + 1; 0: none */
    uint32_t       heap, class_number;
    uint64_t       length; /* as in size.hdx */
    unsigned       width;  /* of a distance, in bytes */
    uint64_t       count;  /* number of targets */
    const uint8_t *list;   /* their distances */
} hdx_spill_record;

/* State of the previous record, to which a record is relative. */
typedef struct hdx_spill_writer {
    const uint8_t *widths;  /* hdx_spill_widths */
    uint64_t       next_id; /* one after the id of the previous record; 0 at first */
    hdx_pos        pos;     /* of the previous record; at first the unit's */
    bool           heaps;   /* the dump has heaps */
} hdx_spill_writer;

typedef struct hdx_spill_reader {
    const hdx_class *classes;
    const uint8_t   *at, *end;
    uint64_t         next_id;
    hdx_pos          pos;
    bool             heaps, bare;
    uint8_t          widths[4];
    uint32_t         parts[4]; /* 2^16 / width, rounded up */
} hdx_spill_reader;

hdx_code hdx_spill_open(hdx_work *w, const char *name, hdx_spill *s, hdx_error *err);
/* Opens an existing file for reading and writing; the caller sets its content. */
hdx_code hdx_spill_reopen(hdx_work *w, const char *name, hdx_spill *s, hdx_error *err);
void     hdx_spill_close(hdx_work *w, hdx_spill *s);  /* keeps the file, and `edges`; all zero is allowed */
void     hdx_spill_remove(hdx_work *w, hdx_spill *s); /* after its use */
/* Writes a unit of unit->bytes bytes. Sets unit->at and sum. Any thread may call it. */
hdx_code hdx_spill_put(hdx_work *w, hdx_spill *s, hdx_spilled *unit, const uint8_t *bytes, hdx_error *err);
/*
 * Reads unit i into `to`, which has room for longest + HDX_PACKED_SLACK bytes, and checks its sum. Any thread may call
 * it.
 */
hdx_code hdx_spill_get(const hdx_dump_tables *t, const hdx_spill *s, uint64_t i, uint8_t *to, hdx_spill_reader *reader,
                       hdx_error *err);

/* Calls `take` once for every record with an id of lo .. hi - 1. Workers share the units, each with its own number. */
typedef void hdx_spill_take(void *context, unsigned worker, const hdx_spill_record *record);
typedef struct hdx_spill_range {
    uint64_t        lo, hi;
    hdx_spill_take *take;
    void           *context;
} hdx_spill_range;
hdx_code hdx_spill_each(hdx_work *w, const hdx_dump_tables *t, const hdx_spill *s, const hdx_spill_range *range,
                        hdx_error *err);
/*
 * Checks that the file has one record for each object and, if `counted`, as many for each class as the first pass
 * found. The content is untrusted: returns HDX_NOT_FOUND otherwise (spill_check.c).
 */
hdx_code hdx_spill_check(hdx_work *w, const hdx_dump_tables *t, const hdx_spill *spill, bool counted, hdx_error *err);
/*
 * Returns how many ids (a multiple of HDX_PACKED_PIECE) to process at a time if each needs this many bytes: few enough
 * to fit in the rest of the budget, but enough that no unit is read much more than once.
 */
uint64_t hdx_spill_batch(const hdx_work *w, const hdx_spill *s, uint64_t bytes);

/* Widths by code: the best ones for this number of ids. */
static inline void hdx_spill_widths(uint64_t ids, uint8_t widths[4])
{
    const bool far = ids > 1ull << 31;
    widths[0] = 1;
    widths[1] = 2;
    widths[2] = far ? 4 : 3;
    widths[3] = far ? 5 : 4;
}
/* The largest value of a distance of this many bytes; half its range. */
static inline uint64_t hdx_spill_mask(unsigned width) { return ~(~0ull << 8 * width); }
static inline uint64_t hdx_spill_half(unsigned width) { return 1ull << (8 * width - 1); }

/* Returns the code of the width that n ascending targets of id need. */
static inline unsigned hdx_spill_code(const uint8_t widths[4], uint64_t id, const uint64_t *targets, uint64_t n)
{
    unsigned code = 0;
    if (n > 0) {
        const uint64_t least = targets[0] - id, most = targets[n - 1] - id;
        while (code < 3 && (least + hdx_spill_half(widths[code]) > hdx_spill_mask(widths[code]) ||
                            most + hdx_spill_half(widths[code]) > hdx_spill_mask(widths[code])))
            code++;
    }
    return code;
}

/*
 * Writes a record: r with its id, position (+ 1; 0: a bare one), heap, class number and, with_length, length; and n
 * ascending targets. REQUIRES: room for 5 * n + HDX_SPILL_HEAD bytes.
 */
static inline uint8_t *hdx_spill_write(uint8_t *to, const hdx_spill_writer *w, bool with_length,
                                       const hdx_spill_record *r, const uint64_t *targets, uint64_t n)
{
    const uint64_t next_id = w->next_id;
    const unsigned code = hdx_spill_code(w->widths, r->id, targets, n), width = w->widths[code];
    const uint64_t origin = r->id - hdx_spill_half(width);
    uint8_t       *begin = to + 1, *at = begin; /* most have less than 32 bytes, for which one byte suffices */
    if (r->id != next_id)
        at = hdx_pack(at, hdx_zigzag((int64_t)(r->id - next_id)));
    if (r->position != 0)
        at = hdx_pack(at, r->position - 1 - w->pos);
    if (w->heaps)
        at = hdx_pack(at, r->heap);
    at = hdx_pack(at, (uint64_t)r->class_number << 2 | code);
    if (with_length)
        at = hdx_pack(at, r->length);
    for (uint64_t i = 0; i < n; i++, at += width)
        hdx_put64(at, targets[i] - origin);
    const uint64_t bytes = (uint64_t)(at - begin), head_value = bytes << 1 | (r->id != next_id);
    if (bytes < 32) {
        *to = (uint8_t)(head_value << 2);
        return at;
    }
    uint8_t  head[8];
    uint64_t more = (uint64_t)(hdx_pack(head, head_value) - head);
    memmove(to + more, begin, bytes);
    memcpy(to, head, more);
    return to + more + bytes;
}

/* Reads a packed number that may be truncated; false: it ends after `end`. */
static inline bool hdx_packed_number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    if (*at >= end || (uint64_t)(end - *at) < (**at & 3u) + 1u + ((**at & 3u) == 3u))
        return false;
    *value = hdx_unpack(at);
    return true;
}

/* Returns whether records of this class have a length. */
static inline bool hdx_spill_length(const hdx_class *c)
{
    return c->kind != HDX_INSTANCE || (c->flags & HDX_CLASS_OF_ARRAYS) != 0;
}

static inline bool hdx_spill_next(hdx_spill_reader *r, hdx_spill_record *record)
{
    if (r->at >= r->end)
        return false;
    const uint64_t all = hdx_unpack(&r->at);
    const uint8_t *at = r->at, *end = at + (all >> 1);
    r->at = end;
    record->id = r->next_id;
    if ((all & 1) != 0)
        record->id += (uint64_t)hdx_unzigzag(hdx_unpack(&at));
    r->next_id = record->id + 1;
    record->position = 0;
    if (!r->bare) {
        r->pos += hdx_unpack(&at);
        record->position = r->pos + 1;
    }
    record->heap = r->heaps ? (uint32_t)hdx_unpack(&at) : 0;
    const uint64_t head = hdx_unpack(&at);
    record->class_number = (uint32_t)(head >> 2);
    record->length = hdx_spill_length(&r->classes[record->class_number]) ? hdx_unpack(&at) : 0;
    const uint64_t bytes = (uint64_t)(end - at);
    record->width = r->widths[head & 3];
    record->count = bytes < 1u << 16 ? bytes * r->parts[head & 3] >> 16 : bytes / record->width;
    record->list = at;
    return true;
}

#endif
