/*
 * scan.h - what the two files of the first pass share: scan.c reads, scan_kept.c keeps what is read and gives it back.
 * For them alone.
 */
#ifndef HDX_READING_SCAN_H
#define HDX_READING_SCAN_H

#include "reading/reading.h"

typedef struct hdx_scan_worker {
    uint8_t         apart[HDX_APART];
    hdx_arena       arena; /* class records */
    hdx_raw_classes classes;
    uint64_t        class_bytes;
    hdx_scan_roots  roots;
    hdx_class_uses  uses;
    uint64_t        loaded; /* of them are of LOAD_CLASSes, in their order */
    hdx_map         others; /* class address -> place in uses, after those */
    hdx_heap_names  heaps;
    hdx_map         heaps_met; /* numbers of them */
    uint64_t        primitive_arrays[16], primitive_bytes[16][2];
    uint64_t        repeated;
    uint64_t        divisor; /* of the differences between all addresses and first_addr */
    bool            divided; /* it cannot fall any further */
    bool            ready;   /* its tables have room for the classes told of */
    hdx_addr        first_addr;
    hdx_addr        last_array; /* the object array before, and its end if references took 8 bytes */
    uint64_t        last_end;
    bool            compressed;
    hdx_sizing      sizes[2];   /* references of 4 bytes, of 8; id_size 0: not set yet */
    hdx_addr        last_class; /* most records have the class of the one before */
    uint64_t        last_use;   /* its place + 1; 0: there was none */
} hdx_scan_worker;

typedef struct hdx_scanner {
    const hdx_reading *in;
    hdx_scan_worker    workers[HDX_WORKERS_MAX + 1]; /* the last: what an earlier build had read */
    unsigned           worker_count;
    hdx_survey_halt    halt;
    bool               sizing;     /* bytes of arrays are wanted */
    bool               careful;    /* an address at a time, one thread */
    hdx_map            class_seen; /* careful: class address -> place of its record in workers[0].classes, + 1 */
} hdx_scanner;

static inline bool hdx_scan_is_object(uint8_t tag)
{
    return tag == HDX_SUB_INSTANCE || tag == HDX_SUB_OBJECT_ARRAY || tag == HDX_SUB_PRIMITIVE_ARRAY ||
           tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA || tag == HDX_SUB_CLASS;
}

/* Of two shares of what is said of one class. */
void hdx_scan_merge_use(hdx_class_use *to, const hdx_class_use *u);
/*
 * scan_kept.c: into scan.tmp what all workers have; out of it, as one more worker's share. HDX_NOT_FOUND: there is
 * nothing to go on from.
 */
hdx_code hdx_scan_keep(hdx_scanner *s, hdx_error *err);
hdx_code hdx_scan_go_on(hdx_scanner *s, hdx_error *err);

#endif
