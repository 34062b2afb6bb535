/*
 * strip.h - detects dumps that a stripping tool (Matrix, KOOM, Tailor, Shark) or redaction changed, restores them, and
 * strips dumps as these tools do.
 *
 * Example (examples/strip.c):
 *     hdx_detected            found; // found.what: the policy, with evidence; HDX_STRIP_NONE: an ordinary dump
 *     const hdx_strip_options options = { .dump = dump, .output = small, .policy = HDX_STRIP_SHARK };
 *     hdx_strip_report        report;
 *     if (hdx_strip_detect(dump, NULL, &found, &err) != HDX_OK || hdx_strip_write(&options, &report, &err) != HDX_OK)
 *         return complain(&err);
 *     printf("%s %s, %" PRIu64 " records\n", found.format, hdx_strip_name(found.what.policy), report.records_out);
 *
 * What each tool keeps and drops was established by running it. Where a tool has a bug (names outside ASCII, ids of 8
 * bytes, equality by digest), the library does what the tool is meant to do. Stripped files can be indexed directly:
 * hdx_index_build needs none of these calls. Output files are written under a temporary name, synced and renamed, so
 * they appear complete or not at all.
 */
#ifndef HEAPDEX_STRIP_H
#define HEAPDEX_STRIP_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_strip_policy {
    HDX_STRIP_NONE,
    HDX_STRIP_MATRIX, /* primitive arrays are dropped, except texts of Strings and one copy of equal bitmaps */
    /*
     * objects of the zygote and image heaps are dropped; array contents are cut, but record lengths still include them
     */
    HDX_STRIP_KOOM,
    HDX_STRIP_TAILOR,   /* a container of its own without the contents of byte[] and char[] */
    HDX_STRIP_SHARK,    /* contents are overwritten: '?' in byte[] and char[], 0 in other arrays and in boxed values */
    HDX_STRIP_REDACTED, /* contents are overwritten with another constant */
    HDX_STRIP_UNKNOWN,  /* the records match neither a stripped nor an ordinary layout */
    HDX_STRIP_LIMITED,  /* primitive arrays contain their first elements and then zeros (SapMachine) */
    HDX_STRIP_POLICIES
} hdx_strip_policy;

/* Returns "none", "matrix", "koom", "tailor", "shark", "redacted", "unknown" or "limited". A constant string. */
HDX_API const char *hdx_strip_name(hdx_strip_policy policy);

/*
 * Returns the i-th topic of answers that a policy affects: "strings", "duplicates", "array contents" ...; NULL after
 * the last.
 */
HDX_API const char *hdx_strip_affects(hdx_strip_policy policy, unsigned i);

/*
 * How the bytes of a stripped file deviate from HPROF. Readers use an overlay, which presents the file as regular
 * HPROF.
 */
typedef enum hdx_overlay_form {
    HDX_OVERLAY_NONE,
    HDX_OVERLAY_KOOM,
    HDX_OVERLAY_TAILOR,
    HDX_OVERLAY_NAMES,
    HDX_OVERLAY_FORMS
} hdx_overlay_form;

#define HDX_EVIDENCE_MAX 4u
typedef struct hdx_stripping {
    hdx_strip_policy policy;
    hdx_overlay_form overlay;
    unsigned         confidence; /* in percent; 0 for none */
    unsigned         evidence_count;
    char             evidence[HDX_EVIDENCE_MAX][160]; /* one line each */
    uint64_t         bytes_read;                      /* bytes of the uncompressed dump that detection read */
    /* for REDACTED: */
    bool     detailed; /* kept, fill and fields are known; otherwise the contents of all arrays are overwritten */
    bool     fields;   /* values of primitive fields are overwritten with 0, too */
    uint16_t kept;     /* bit t: arrays of element type t (HPROF's: 4 boolean .. 11 long) have their contents */
    uint16_t fill[2];  /* value of every element of an overwritten byte[], and char[] */
    /* for LIMITED: number of elements that are present in a byte[] or char[], and in other arrays; 0: all */
    uint32_t limit[2];
} hdx_stripping;

/* Same as hdx_strip_affects, for what was detected in one dump. */
HDX_API const char *hdx_strip_affected(const hdx_stripping *what, unsigned i);

typedef struct hdx_detect_options {
    /* examine the whole dump; otherwise about 8 MiB of its heap entries, and never more than 64 MiB */
    bool     full;
    uint64_t max_uncompressed; /* see hdx_source_options */
} hdx_detect_options;
typedef struct hdx_detected {
    hdx_stripping what;
    char          format[32];  /* "JAVA PROFILE 1.0.3", "JAVA PROFILE 6.0.1"; "" if there is no header */
    int           compression; /* hdx_compression */
    uint32_t      id_size;     /* 0: unknown */
    uint64_t      file_size;
} hdx_detected;

/*
 * Detects whether and how a dump was stripped. `options` may be NULL. Returns HDX_BAD_DUMP if the file is not a heap
 * dump.
 */
HDX_API hdx_code hdx_strip_detect(const char *dump, const hdx_detect_options *options, hdx_detected *out,
                                  hdx_error *err);

typedef struct hdx_strip_options {
    const char *dump;
    /* if it ends in ".gz", compressed with gzip. Tailor: a zlib container unless `plain` or ".gz" */
    const char      *output;
    hdx_strip_policy policy;       /* MATRIX to REDACTED; hdx_strip_restore ignores it */
    bool             plain;        /* Tailor: write the raw form */
    bool             keep_bitmaps; /* Matrix: keep bitmaps that occur once */
    bool             map_names;    /* REDACTED: replace names outside of the platform by others of the same length */
    /* globs over Java names ("com.acme.*", "int[]") that the policy never removes */
    const char *const *keep_classes;
    size_t             keep_count;
    const char *const *drop_classes; /* drop their instances and arrays; not for REDACTED */
    size_t             drop_count;
    uint64_t           max_uncompressed;
    hdx_progress       progress;
    /*
     * Called by the thread of the call with the name of the temporary file after it was created, and with NULL after it
     * was removed or renamed. A program that exits at once on a signal can then remove it. NULL: not called.
     */
    void (*writing)(void *context, const char *temporary);
    void *writing_context;
} hdx_strip_options;

#define HDX_STRIP_KINDS 24u
/* Counts of the heap entries of one kind in one heap. */
typedef struct hdx_strip_kind {
    const char *record; /* "INSTANCE_DUMP"; "ROOTS" for all roots together */
    uint64_t    in, dropped;
    uint64_t    bytes_in, bytes_out;
} hdx_strip_kind;
typedef struct hdx_strip_report {
    uint64_t records_in, records_out; /* top-level records and heap entries */
    uint64_t bytes_in, bytes_out;     /* sizes of the files on disk */
    uint64_t plain_in, plain_out;     /* sizes without compression */
    uint64_t dropped_shared;          /* dropped entries of the zygote and image heaps */
    uint64_t merged;                  /* Matrix: bitmaps that now share the pixels of another */
    uint64_t absent_bytes;            /* restore: zeros in place of missing contents */
    /* restore: the input ends early, and what it contains is restored; Tailor: further dumps of the file are omitted */
    bool     truncated;
    uint64_t damage_at; /* restore: first position that could not be read and is omitted, or HDX_NOWHERE */
    /* REDACTED: hashes of ids, classes, references, sizes, roots and heaps; if they differ, nothing is written */
    uint64_t         graph_in, graph_out;
    hdx_strip_policy policy;
    unsigned         kind_count;
    hdx_strip_kind   kinds[HDX_STRIP_KINDS];
} hdx_strip_report;

/*
 * Writes a stripped copy of a dump to options->output. Returns HDX_BAD_DUMP, without a file, if the dump is damaged
 * (the offset is in *err) or if the policy cannot represent it (Tailor: ids of 8 bytes, texts over 65 531 bytes,
 * instances over 65 535 bytes, tags 0x90 and 0xc3, strings after a segment).
 */
HDX_API hdx_code hdx_strip_write(const hdx_strip_options *options, hdx_strip_report *report, hdx_error *err);

/*
 * Restores a dump that KOOM or Tailor stripped. If the input ends early, what it contains is restored. Returns
 * HDX_BAD_DUMP, without a file, if there is nothing to restore.
 */
HDX_API hdx_code hdx_strip_restore(const hdx_strip_options *options, hdx_strip_report *report, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
