/*
 * passes.h - what the passes over objects hand to each other; a template over the width of an id (algo/width.h).
 */
#ifndef HDX_BUILD_PASSES_H
#define HDX_BUILD_PASSES_H

#include "algo/algo.h"
#include "algo/width.h"
#include "build/build.h"

/* References of one stretch of the dump, spilled in the order of the dump: `runs` pairs (first id, count of ids), then `values` ids. */
typedef struct hdx_spilled {
    uint64_t at, runs, values;
    hdx_addr first_array, last_array; /* object arrays, for the reference size (MAT 2.1) */
    uint64_t last_end;                /* where the last one would end with 8-byte references */
    bool     overlap;                 /* two neighbours lie closer than that */
} hdx_spilled;

typedef struct WIDE(hdx_pass) {
    hdx_build      *b;
    hdx_columns     columns;
    hdx_spilled    *spilled;      /* by stretch; one more for what has no record */
    uint64_t        spilled_count;
    int             spill_fd;     /* -1: none */
    _Atomic uint64_t spill_end;
    uint64_t       *holds_locals; /* bit set: objects that are threads with locals */
    WIDE(hdx_lists) outbound;     /* at: degrees by id while the second pass runs, then places */
    hdx_ints       *class_file;   /* the indexes class and size, read again when their columns are gone */
    hdx_ints       *size_file;
    hdx_damage_note note;         /* of the index files a pass reads again */
} WIDE(hdx_pass);

/* columns_wide.c: second walk over the dump. */
hdx_code WIDE(hdx_pass_columns)(WIDE(hdx_pass) *p, hdx_error *err);
hdx_code WIDE(hdx_pass_write_objects)(WIDE(hdx_pass) *p, hdx_error *err);
/* Shallow sizes of ids first .. first + n - 1 (n at most HDX_SHALLOWS), in id order, from the index files. classes may be NULL. */
#define HDX_SHALLOWS 2048u
void WIDE(hdx_pass_shallows)(const WIDE(hdx_pass) *p, uint64_t first, uint32_t n, uint64_t *shallow, uint32_t *classes);
/* outbound_wide.c */
hdx_code WIDE(hdx_pass_outbound)(WIDE(hdx_pass) *p, hdx_error *err);
hdx_code WIDE(hdx_pass_write_lists)(WIDE(hdx_pass) *p, hdx_kind kind, const WIDE(hdx_lists) *lists, unsigned threads, hdx_error *err);
/* reach_wide.c: the index instances; inbound lists, and with `dominators` everything that follows from reachability. */
hdx_code WIDE(hdx_pass_instances)(WIDE(hdx_pass) *p, hdx_error *err);
hdx_code WIDE(hdx_pass_reach)(WIDE(hdx_pass) *p, bool dominators, hdx_error *err);

#endif
