/*
 * spill.h - the spill file between the second pass and everything behind it: a record for every object, in the order of the dump.
 *
 * A unit is some 512 KiB of records of one worker, with a sum; the table of units stays in memory. A record, in packed numbers
 * (algo/packed.h):
 *
 *     distance of the id from the one after the record before (zigzag; from 0 at first)
 *     distance of the position from that of the record before (from the unit's pos); not in a bare unit, whose objects no record describes
 *     place of the heap in hdx_build.heaps, + 1; only where the dump has heaps
 *     bytes of the list * the list (algo/packed.h)
 *     length; only of arrays
 */
#ifndef HDX_BUILD_SPILL_H
#define HDX_BUILD_SPILL_H

#include "build/build.h"

#define HDX_SPILL_HEAD 48u          /* a record without its list, and what packing may write behind it */
#define HDX_SPILL_BARE UINT64_MAX   /* position of an object without a record */

typedef struct hdx_spilled {
    uint64_t at, bytes;   /* in the file */
    uint64_t first, last; /* least and greatest id */
    uint64_t objects, lists, edges; /* records; bytes of their lists; targets in them */
    hdx_pos  pos;         /* of the first record */
    uint32_t sum;         /* CRC32C */
    bool     bare;
} hdx_spilled;

typedef struct hdx_spill {
    hdx_tape_file   file;
    hdx_spilled    *units;
    uint64_t        count, capacity;
    uint64_t        longest; /* bytes of the longest unit */
    uint64_t        lists, edges; /* of all units */
    pthread_mutex_t lock;
    bool            open;
} hdx_spill;

typedef struct hdx_spill_record {
    uint64_t       id;
    hdx_pos        position; /* + 1; 0: none */
    uint32_t       heap, class_number, length, list_bytes;
    const uint8_t *list;
} hdx_spill_record;

typedef struct hdx_spill_reader {
    const hdx_class *classes;
    const uint8_t   *at, *end;
    uint64_t         next_id;
    hdx_pos          pos;
    bool             heaps, bare;
} hdx_spill_reader;

hdx_code hdx_spill_open(hdx_build *b, const char *name, hdx_spill *s, hdx_error *err);
void     hdx_spill_close(hdx_build *b, hdx_spill *s);  /* the file stays, and `lists`; all zero: nothing */
void     hdx_spill_remove(hdx_build *b, hdx_spill *s); /* it has served */
/* Writes a unit of unit->bytes bytes; any thread. Fills unit->at and sum. */
hdx_code hdx_spill_put(hdx_build *b, hdx_spill *s, hdx_spilled *unit, const uint8_t *bytes, hdx_error *err);
/* Reads unit i into `to`, which has room for longest + HDX_PACKED_SLACK bytes, and checks its sum; any thread. */
hdx_code hdx_spill_get(const hdx_build *b, hdx_spill *s, uint64_t i, uint8_t *to, hdx_spill_reader *reader, hdx_error *err);

/* Calls take for every record with an id of lo .. hi - 1, each once; workers share the units, each with its own number. */
typedef void hdx_spill_take(void *context, unsigned worker, const hdx_spill_record *record);
hdx_code hdx_spill_each(hdx_build *b, hdx_spill *s, uint64_t lo, uint64_t hi, hdx_spill_take *take, void *context, hdx_error *err);
/* How many ids (a multiple of HDX_PACKED_PIECE) to take at a time where each needs so many bytes: few enough to fit what is left of the
   budget, and so many that no unit is read much more than once. */
uint64_t hdx_spill_batch(const hdx_build *b, const hdx_spill *s, uint64_t bytes);

static inline bool hdx_spill_next(hdx_spill_reader *r, hdx_spill_record *record)
{
    if (r->at >= r->end)
        return false;
    record->id = r->next_id + (uint64_t)hdx_unzigzag(hdx_unpack(&r->at));
    r->next_id = record->id + 1;
    record->position = 0;
    if (!r->bare) {
        r->pos += hdx_unpack(&r->at);
        record->position = r->pos + 1;
    }
    record->heap = r->heaps ? (uint32_t)hdx_unpack(&r->at) : 0;
    record->list_bytes = (uint32_t)hdx_unpack(&r->at);
    record->list = r->at;
    const uint8_t *at = r->at;
    record->class_number = (uint32_t)(hdx_unpack(&at) >> 2);
    r->at += record->list_bytes;
    record->length = r->classes[record->class_number].kind != HDX_INSTANCE ? (uint32_t)hdx_unpack(&r->at) : 0;
    return true;
}

#endif
