/*
 * inside.h - shared by the files of this room, for these files only.
 *
 *   tags.c        names, lengths, cutting of top-level records
 *   class_dump.c  CLASS_DUMP taken apart
 *   flat_arrays.c FLAT_ARRAYS, in parts
 *   head.c        the file header
 *   kinds.c       what a file is that is no heap dump
 *   window.c      a buffer that moves over a source
 *   scan.c        bytes -> events: the one scanner of sub-records
 *   survey.c      the first walk: which reader, damage, warnings
 *   swift.c       the reader on several threads, for files without any oddity
 *   careful.c     the reader on one thread, with all rules
 *   walk.c        the second walk
 *   sample.c      a short dump out of a long one
 *   record.c      one record at a position
 *   records.c     many of them, at rising positions
 */
#ifndef HDX_HPROF_INSIDE_H
#define HDX_HPROF_INSIDE_H

#include "hprof/hprof.h"

#define HDX_BATCH    256u        /* most events of one call */
#define HDX_STRETCH  (8u << 20)  /* a stretch ends at the first sub-record boundary after this many bytes */
#define HDX_BODY_MAX (1u << 20)  /* most bytes of an instance that a walk passes */
#define HDX_PART_MAX (64u << 10) /* most elements of an object array in one event */
/* Of a string or trace; names of a JVM have at most 65 535 bytes, longer bodies are truncated here. */
#define HDX_TOP_BODY_MAX (16u << 20)
#define HDX_TOP_HEAD     9u /* tag, time, length */

/* ---- tags.c ---- */
uint32_t hdx_element_size(uint8_t type, uint32_t id_size); /* 0: not a type */
bool     hdx_top_length_ok(uint8_t tag, uint64_t length, uint32_t id_size);
bool     hdx_top_delivered(uint8_t tag);
/*
 * Splits a top-level record. REQUIRES: body has at least what hdx_top_length_ok demands (a long one may be truncated at
 * HDX_TOP_BODY_MAX). False: R6, a trace with a wrong count.
 */
bool hdx_top_cut(hdx_pos pos, uint8_t tag, uint64_t length, hdx_view body, uint32_t id_size, hdx_top *out);

/* ---- class_dump.c ---- */
typedef enum hdx_class_state { HDX_CLASS_WHOLE, HDX_CLASS_SHORT, HDX_CLASS_BAD_TYPE } hdx_class_state;
/* SHORT: at least out->size bytes are needed. BAD_TYPE: *bad is the type. */
hdx_class_state hdx_class_dump_state(hdx_view record, uint32_t id_size, hdx_class_dump *out, uint8_t *bad);

/* ---- kinds.c ---- */
/* Returns HDX_BAD_DUMP for a file without a readable header, with the kind of file that its first bytes indicate. */
hdx_code hdx_kind_refuse(hdx_source *source, const uint8_t *first, size_t len, hdx_error *err);

/* ---- window.c ---- */
/* Zero bytes after the content, because the head of a sub-record may be read before its length is checked. */
#define HDX_WINDOW_PAD 64u
typedef struct hdx_window {
    hdx_source *source;
    hdx_stream *stream; /* NULL: random access */
    hdx_mem    *mem;
    hdx_ticker *tick;
    uint8_t    *at;
    uint64_t    capacity; /* of `at`, without the pad */
    hdx_pos     from;     /* position of at[0] */
    size_t      len;
    hdx_pos     limit;    /* reads stop here */
    size_t      chunk;    /* bytes per read */
    bool        ended;    /* there is nothing after data_end */
    hdx_pos     data_end; /* set with `ended` */
    uint64_t    consumed; /* of the stream, as reported to tick */
} hdx_window;

hdx_window hdx_window_of(hdx_source *source, hdx_stream *stream, size_t chunk, hdx_mem *mem, hdx_ticker *tick);
void       hdx_window_free(hdx_window *w);
/*
 * Returns bytes from pos on: *have is at least `want` unless the data (or the limit) end before. Earlier pointers
 * become invalid. REQUIRES: pos >= w->from for a stream.
 */
hdx_code hdx_window_move(hdx_window *w, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have, hdx_error *err);
static inline bool hdx_window_holds(const hdx_window *w, hdx_pos pos, uint64_t want)
{
    return pos >= w->from && pos - w->from <= w->len && want <= w->len - (pos - w->from);
}
static inline hdx_code hdx_window_at(hdx_window *w, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have,
                                     hdx_error *err)
{
    if (hdx_window_holds(w, pos, want)) {
        *at = w->at + (pos - w->from);
        *have = w->len - (size_t)(pos - w->from);
        return HDX_OK;
    }
    return hdx_window_move(w, pos, want, at, have, err);
}

/* ---- flat_arrays.c ---- */
/*
 * Passes the content of a FLAT_ARRAYS of `length` bytes at pos, whose head was read. *there is false if the file ends
 * inside of it; the whole sub-records before the end were passed.
 */
hdx_code hdx_flat_arrays_give(hdx_window *w, hdx_pos pos, uint32_t length, uint32_t id_size,
                              const hdx_survey_sink *sink, bool *there, hdx_error *err);

/* ---- scan.c ---- */
typedef enum hdx_scan_stop {
    HDX_SCAN_END,     /* *pos is the end */
    HDX_SCAN_FULL,    /* no room for another event */
    HDX_SCAN_WANT,    /* `want` bytes from *pos on are needed in memory */
    HDX_SCAN_BEYOND,  /* the sub-record of `size` bytes at *pos extends beyond `exist`; `held` has its event */
    HDX_SCAN_CROSSES, /* ... beyond `end`; likewise */
    HDX_SCAN_NO_ID,   /* R18: an object with id 0, `size` bytes */
    HDX_SCAN_TAG,     /* unknown sub-tag */
    HDX_SCAN_TYPE,    /* impossible type `type` */
    HDX_SCAN_COUNT    /* an array of more than 2^31 - 1 elements (HPROF 7.2): `held` has its event */
} hdx_scan_stop;

typedef struct hdx_entry_scan {
    uint32_t   id_size;
    bool       bodies; /* for a walk: instance bytes and elements are needed */
    uint32_t   heap;   /* current Android heap number */
    hdx_event *events; /* room for HDX_BATCH */
    size_t     n;
    uint64_t  *counts; /* by sub-tag */
    hdx_pos    exist;  /* bytes from this position on may not exist */
    uint64_t   size;
    uint64_t   want;
    uint8_t    type;
    hdx_event  held;
    uint64_t   parts; /* number of elements of held (an object array) that were not yet passed */
} hdx_entry_scan;

/*
 * Scans from *pos to `end`; its bytes are at, have, and HDX_WINDOW_PAD readable ones after them. *pos moves after the
 * last event.
 */
hdx_scan_stop      hdx_scan_run(hdx_entry_scan *s, const uint8_t *at, size_t have, hdx_pos *pos, hdx_pos end);
static inline bool hdx_sub_is_object(uint8_t tag)
{
    return (tag >= HDX_SUB_CLASS && tag <= HDX_SUB_PRIMITIVE_ARRAY) || tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA;
}

/* ---- survey.c ---- */
bool hdx_survey_stretch(hdx_survey *survey, hdx_pos from, hdx_pos end, uint32_t heap);
void hdx_survey_warn(hdx_survey *survey, const char *text);
void hdx_survey_count(hdx_survey *survey, const uint64_t counts[256]);

/* ---- walk.c ---- */
/*
 * Returns the next run of stretches, of about `bytes` bytes with `head` more for each; first what was left of earlier
 * runs. REQUIRES: the caller holds a lock.
 */
bool hdx_halt_take(hdx_halt *at, const hdx_stretch *stretches, uint64_t count, uint64_t bytes, uint64_t head,
                   hdx_left *run);
/* Records what is left of a run. REQUIRES: the caller holds a lock. */
static inline void hdx_halt_leave(hdx_halt *at, const hdx_left *run)
{
    if (run->from < run->end)
        at->left[at->count++] = *run; /* a worker leaves at most one, which it has taken */
}

/* ---- swift.c, careful.c: fill the survey, whose head is set ---- */
/* *odd: the file has something that only the careful reader can handle; the sink may have been called. */
hdx_code hdx_survey_swift(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                          hdx_survey *out, bool *odd, hdx_error *err);
hdx_code hdx_survey_careful(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                            hdx_survey *out, hdx_error *err);

#endif
