/*
 * sample.h - a short dump out of a long one: whole records and beginnings of records, spread over the file, that read
 * as a sound plain dump of their own. Nothing is copied of a plain file; of a compressed one the first bytes are
 * inflated and kept.
 *
 *     hdx_sample sample;
 *     hdx_sample_open(source, 1, HDX_SAMPLE_BYTES, &mem, &tick, &sample, &err);
 *     hdx_source_open_mem(&sample.io, &mem, "app.hprof", NULL, &small, &err);     any name: the door knows one file
 *     hdx_hprof_survey(small, ...);
 *     hdx_source_close(small);
 *     hdx_sample_close(&sample);
 *
 * The sample has the tables in full, the first heap records as long as they are about classes and roots (writers put
 * those first), the last one, and pieces of the others at equal distances. Heap records that hold a single array
 * (HotSpot gives large ones a record of their own) are counted and left out; pieces of those with references say how
 * many of their elements are null.
 */
#ifndef HDX_HPROF_SAMPLE_H
#define HDX_HPROF_SAMPLE_H

#include "hprof/hprof.h"

#define HDX_SAMPLE_BYTES (64u << 20) /* of heap records: enough for a forecast */

typedef struct hdx_sample_piece {
    hdx_pos  at; /* in the sample */
    uint64_t len;
    hdx_pos  from; /* in the dump */
    bool     made; /* the bytes stand here */
    uint8_t  bytes[9];
} hdx_sample_piece;

typedef struct hdx_sample {
    hdx_io            io;     /* first: calls come back with its address */
    hdx_source       *source; /* borrowed */
    hdx_mem          *mem;
    hdx_sample_piece *pieces;
    uint64_t          count, capacity;
    uint64_t          size;
    uint8_t          *prefix; /* of a compressed dump */
    uint64_t          prefix_size, prefix_capacity;
    uint64_t          dump_size;   /* uncompressed; expected where the end was not reached */
    uint64_t          heap_bytes;  /* of the chosen dump's heap records, single arrays left out; expected likewise */
    uint64_t          taken_bytes; /* of them in the sample */
    uint64_t          stretches;   /* heap records in the file, expected likewise */
    uint64_t          arrays;      /* left out */
    uint64_t          tables;      /* of them with references, */
    uint64_t          slots;       /* how many elements those have, */
    uint64_t          references;  /* how many are not null and other than the one before: expected, and 1/32 more */
    uint64_t          longest;     /* not null in one of them: expected likewise */
    uint64_t          array_bytes;
    bool whole;  /* the dump is so short, or so odd, that it should be read itself: the sample has no bytes */
    bool all;    /* nothing but single arrays was left out */
    bool spread; /* pieces from everywhere; false: the beginning alone */
} hdx_sample;

/*
 * About `bytes` of heap records. Refuses what hdx_hprof_survey refuses for the head of a dump, and a dump_number that
 * is not there.
 */
hdx_code hdx_sample_open(hdx_source *source, uint32_t dump_number, uint64_t bytes, hdx_mem *mem, hdx_ticker *tick,
                         hdx_sample *out, hdx_error *err);
void     hdx_sample_close(hdx_sample *sample); /* all zero: nothing */

#endif
