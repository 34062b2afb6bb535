/*
 * sample.h - makes a short dump from a long one: whole records and beginnings of records, spread over the file, that
 * form a valid plain dump. Nothing of a plain file is copied; of a compressed one the first bytes are inflated and
 * stored.
 *
 *     hdx_sample sample;
 *     hdx_sample_open(source, 1, HDX_SAMPLE_BYTES, &mem, &tick, &sample, &err);
 *     hdx_source_open_mem(&sample.io, &mem, "app.hprof", NULL, &small, &err);     any name: the door knows one file
 *     hdx_hprof_survey(small, ...);
 *     hdx_source_close(small);
 *     hdx_sample_close(&sample);
 *
 * The sample contains all tables, the first heap records as long as they are about classes and roots (which writers put
 * first), the last one, and pieces of the others at equal distances. Heap records with a single array (HotSpot writes a
 * separate record for each large one) are counted and omitted; pieces of those with references indicate how many of
 * their elements are null.
 */
#ifndef HDX_HPROF_SAMPLE_H
#define HDX_HPROF_SAMPLE_H

#include "hprof/hprof.h"

#define HDX_SAMPLE_BYTES (64u << 20) /* of heap records: enough for an estimate */

typedef struct hdx_sample_piece {
    hdx_pos  at; /* in the sample */
    uint64_t len;
    hdx_pos  from; /* in the dump */
    bool     made; /* the bytes are in `bytes` */
    uint8_t  bytes[9];
} hdx_sample_piece;

typedef struct hdx_sample {
    hdx_io            io;     /* must be first: calls receive its address */
    hdx_source       *source; /* borrowed */
    hdx_mem          *mem;
    hdx_sample_piece *pieces;
    uint64_t          count, capacity;
    uint64_t          size;
    uint8_t          *prefix; /* of a compressed dump */
    uint64_t          prefix_size, prefix_capacity;
    uint64_t          dump_size;   /* uncompressed; estimated if the end was not reached */
    uint64_t          heap_bytes;  /* of the chosen dump's heap records, without single arrays; may be estimated */
    uint64_t          taken_bytes; /* part of heap_bytes that is in the sample */
    uint64_t          stretches;   /* heap records in the file; may be estimated */
    uint64_t          arrays;      /* single arrays that were omitted */
    uint64_t          tables;      /* of these, arrays with references */
    uint64_t          slots;       /* elements of these */
    /* of these, elements that are neither null nor equal to the one before: estimated, plus 1/32 */
    uint64_t references;
    uint64_t longest; /* most such elements of one array; may be estimated */
    uint64_t array_bytes;
    bool     whole;  /* the dump is so short, or so unusual, that it should be read itself: the sample is empty */
    bool     all;    /* only single arrays were omitted */
    bool     spread; /* pieces from the whole file; false: only its beginning */
} hdx_sample;

/*
 * Opens a sample with about `bytes` of heap records. Returns the errors of hdx_hprof_survey about the header of a dump,
 * and HDX_BAD_DUMP for a dump_number that does not exist.
 */
hdx_code hdx_sample_open(hdx_source *source, uint32_t dump_number, uint64_t bytes, hdx_mem *mem, hdx_ticker *tick,
                         hdx_sample *out, hdx_error *err);
void     hdx_sample_close(hdx_sample *sample); /* all zero is allowed */

#endif
