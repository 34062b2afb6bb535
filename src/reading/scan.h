/*
 * scan.h - shared by the two files of the first pass: scan.c reads, scan_resume.c saves and restores its results. For
 * these files only.
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
    uint64_t        loaded; /* number of them that belong to LOAD_CLASSes, in their order */
    hdx_map         others; /* class address -> index in uses, after those */
    hdx_heap_names  heaps;
    hdx_map         heaps_met; /* numbers of them */
    uint64_t        primitive_arrays[16], primitive_bytes[16][2];
    uint64_t        repeated;
    uint64_t        divisor; /* common divisor of the differences between all addresses and first_addr */
    bool            divided; /* it cannot become smaller */
    bool            ready;   /* its tables have room for all classes of LOAD_CLASS */
    hdx_addr        first_addr;
    hdx_addr        last_array; /* the previous object array, and its end if references had 8 bytes */
    uint64_t        last_end;
    bool            compressed;
    hdx_sizing      sizes[2];   /* for references of 4 and of 8 bytes; id_size 0: not yet set */
    hdx_addr        last_class; /* class of the previous record, because most records have the same class */
    uint64_t        last_use;   /* its index + 1; 0: none */
} hdx_scan_worker;

typedef struct hdx_scanner {
    const hdx_reading *in;
    hdx_scan_worker    workers[HDX_WORKERS_MAX + 1]; /* the last one has the results of an earlier build */
    unsigned           worker_count;
    hdx_survey_halt    halt;
    bool               sizing;     /* sizes of arrays are needed */
    bool               careful;    /* one address at a time, on one thread */
    hdx_map            class_seen; /* careful: class address -> index of its record in workers[0].classes, + 1 */
} hdx_scanner;

static inline bool hdx_scan_is_object(uint8_t tag)
{
    return tag == HDX_SUB_INSTANCE || tag == HDX_SUB_OBJECT_ARRAY || tag == HDX_SUB_PRIMITIVE_ARRAY ||
           tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA || tag == HDX_SUB_CLASS;
}

/* Merges two shares of facts about one class. */
void hdx_scan_merge_use(hdx_class_use *to, const hdx_class_use *u);
/*
 * scan_resume.c: hdx_scan_save writes the results of all workers to scan.tmp, hdx_scan_resume reads them as the share
 * of one more worker. HDX_NOT_FOUND: there is nothing to resume.
 */
hdx_code hdx_scan_save(hdx_scanner *s, hdx_error *err);
hdx_code hdx_scan_resume(hdx_scanner *s, hdx_error *err);

#endif
