/*
 * strip.h - the room that knows what stripping tools do to a heap dump: it recognises them, reads their files as whole
 * HPROF, and strips as they do. Its public face is <heapdex/strip.h>; this header adds what only the library itself
 * uses.
 *
 * A file whose framing is not HPROF's (KOOM: contents cut and record lengths kept; Tailor: tokens of its own; Matrix:
 * cut names) gets an *overlay*: an overlay on its source under which the same positions and streams give the file that
 * restoring would write. So nothing above needs to know that a dump was stripped, but for one question:
 * hdx_source_absent, is this byte made up?
 *
 *     hdx_stripping what;
 *     hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err);
 *     hdx_strip_overlay_set(source, what.overlay, err);                       from here on the source reads as a whole
 * dump
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
