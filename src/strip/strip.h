/*
 * strip.h - the room for dumps of stripping tools: it detects the tools, reads their files as complete HPROF, and
 * strips as they do. <heapdex/strip.h> is its public part; this header adds what only the library itself uses.
 *
 * A file whose framing deviates from HPROF (KOOM: contents cut but record lengths unchanged; Tailor: its own tokens;
 * Matrix: cut names) gets an *overlay* on its source: positions and streams then give the file that restoring would
 * write. No other code needs to know that a dump was stripped, except through hdx_source_absent, which returns whether
 * a byte is filler.
 *
 *     hdx_stripping what;
 *     hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err);
 *     hdx_strip_overlay_set(source, what.overlay, err);                       now a complete dump
 */
#ifndef HDX_STRIP_STRIP_H
#define HDX_STRIP_STRIP_H

#include "base/base.h"
#include "source/source.h"
#include <heapdex/strip.h>

#define HDX_STRIP_WINDOW (8u << 20) /* STRIP 5.6: bytes of heap entries that are examined */

/*
 * Detects the tool from names and at most `window` bytes of heap entries (0: all of them), or more if these have too
 * few arrays.
 */
hdx_code hdx_strip_recognise(hdx_source *source, hdx_mem *mem, uint64_t window, hdx_stripping *out, hdx_error *err);

/* Sets the overlay of the source; HDX_OVERLAY_NONE has no effect. REQUIRES: nothing has read the source. */
hdx_code hdx_strip_overlay_set(hdx_source *source, hdx_overlay_form form, hdx_error *err);

/* Findings of an overlay. Complete after its size was requested. */
typedef struct hdx_overlay_stats {
    uint64_t records_in, records_out; /* top-level records and heap entries */
    uint64_t absent_bytes;            /* contents that the file lacks */
    uint64_t cut_names;               /* STRING records with corrected lengths */
    uint64_t lost_bytes;              /* of lost names, and of records that could not be read */
    hdx_pos  first_cut;               /* position of the first of them, in the overlay */
    uint64_t broken;                  /* number of places where neither reading fits */
    hdx_pos  first_broken;            /* in the file */
    bool     truncated;               /* the file ends inside a record */
} hdx_overlay_stats;
hdx_code hdx_strip_overlay_stats(hdx_source *source, hdx_overlay_stats *out,
                                 hdx_error *err); /* all zero without an overlay */

#endif
