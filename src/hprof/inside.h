/*
 * inside.h - what the files of this room share and nobody else may use.
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

#define HDX_BATCH    256u        /* events of one call */
#define HDX_STRETCH  (8u << 20)  /* a stretch ends at the first sub-record boundary after so many bytes */
#define HDX_BODY_MAX (1u << 20)  /* bytes of an instance that a walk hands out */
#define HDX_PART_MAX (64u << 10) /* elements of an object array in one event */
/* Of a string or trace; names of a JVM end at 65 535 bytes, longer bodies are cut here. */
#define HDX_TOP_BODY_MAX (16u << 20)
#define HDX_TOP_HEAD     9u /* tag, time, length */

/* ---- tags.c ---- */
uint32_t hdx_element_size(uint8_t type, uint32_t id_size); /* 0: no such type */
bool     hdx_top_length_ok(uint8_t tag, uint64_t length, uint32_t id_size);
bool     hdx_top_delivered(uint8_t tag);
/*
 * body: at least what hdx_top_length_ok demands (a long one may be cut at HDX_TOP_BODY_MAX). False: R6, a trace whose
 *       count is wrong.
 */
bool hdx_top_cut(hdx_pos pos, uint8_t tag, uint64_t length, hdx_view body, uint32_t id_size, hdx_top *out);

/* ---- class_dump.c ---- */
typedef enum hdx_class_state { HDX_CLASS_WHOLE, HDX_CLASS_SHORT, HDX_CLASS_BAD_TYPE } hdx_class_state;
/* SHORT: out->size is how many bytes are wanted at least before asking again. BAD_TYPE: *bad is the type. */
hdx_class_state hdx_class_dump_state(hdx_view record, uint32_t id_size, hdx_class_dump *out, uint8_t *bad);

/* ---- kinds.c ---- */
/* The file has no header that can be read: HDX_BAD_DUMP, with what it is by its first bytes. */
hdx_code hdx_kind_refuse(hdx_source *source, const uint8_t *first, size_t len, hdx_error *err);

/* ---- window.c ---- */
/* Zero bytes after the content: the head of a sub-record may be read before its length is compared. */
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
    size_t      chunk;    /* bytes to read at a time */
    bool        ended;    /* nothing comes after data_end */
    hdx_pos     data_end; /* set with `ended` */
    uint64_t    consumed; /* of the stream, as ticked */
} hdx_window;

hdx_window hdx_window_of(hdx_source *source, hdx_stream *stream, size_t chunk, hdx_mem *mem, hdx_ticker *tick);
void       hdx_window_free(hdx_window *w);
/*
 * Bytes from pos on: *have >= want unless the data (or the limit) ends before. Pointers given before become invalid. A
 * stream goes forward only: pos >= w->from.
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
 * Hands out the FLAT_ARRAYS of `length` bytes at pos, whose head was read. *there false: the file ends inside of it;
 * the whole sub-records before the end were handed out.
 */
hdx_code hdx_flat_arrays_give(hdx_window *w, hdx_pos pos, uint32_t length, uint32_t id_size,
                              const hdx_survey_sink *sink, bool *there, hdx_error *err);

/* ---- scan.c ---- */
typedef enum hdx_scan_stop {
    HDX_SCAN_END,     /* *pos reached the end */
    HDX_SCAN_FULL,    /* no room for another event */
    HDX_SCAN_WANT,    /* `want` bytes from *pos on are needed at hand */
    HDX_SCAN_BEYOND,  /* sub-record of `size` bytes at *pos reaches past `exist`; `held` has its event */
    HDX_SCAN_CROSSES, /* ... past `end`; likewise */
    HDX_SCAN_NO_ID,   /* R18: an object with id 0, `size` bytes */
    HDX_SCAN_TAG,     /* unknown sub-tag */
    HDX_SCAN_TYPE,    /* impossible type `type` */
    HDX_SCAN_COUNT    /* an array of more than 2^31 - 1 elements (HPROF 7.2): `held` has its event */
} hdx_scan_stop;

typedef struct hdx_entry_scan {
    uint32_t   id_size;
    bool       bodies; /* a walk: instance bytes and elements are wanted */
    uint32_t   heap;   /* Android heap number in force */
    hdx_event *events; /* room for HDX_BATCH */
    size_t     n;
    uint64_t  *counts; /* by sub-tag */
    hdx_pos    exist;  /* no byte at or after this position is known to be there */
    uint64_t   size;
    uint64_t   want;
    uint8_t    type;
    hdx_event  held;
    uint64_t   parts; /* elements of held (an object array) not handed out yet */
} hdx_entry_scan;

/*
 * Scans from *pos (its bytes: at, have, and HDX_WINDOW_PAD readable ones after) to `end`; *pos moves after the last
 * event.
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
 * The next run of stretches, about `bytes` of them with `head` more for each; what was left of earlier ones first. The
 * caller holds a lock.
 */
bool hdx_halt_take(hdx_halt *at, const hdx_stretch *stretches, uint64_t count, uint64_t bytes, uint64_t head,
                   hdx_left *run);
/* What is left of a run. Likewise. */
static inline void hdx_halt_leave(hdx_halt *at, const hdx_left *run)
{
    if (run->from < run->end)
        at->left[at->count++] = *run; /* a worker leaves one at most, and has taken it */
}

/* ---- swift.c, careful.c: fill the survey; its head is set ---- */
/* *odd: something is there that only the careful reader may judge; the sink may have been called. */
hdx_code hdx_survey_swift(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                          hdx_survey *out, bool *odd, hdx_error *err);
hdx_code hdx_survey_careful(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                            hdx_survey *out, hdx_error *err);

#endif
