/*
 * strip.h - dumps that went through a stripping tool (Matrix, KOOM, Tailor, Shark) or redaction: recognising,
 * restoring, and stripping as they do.
 *
 * Example (examples/strip.c):
 *     hdx_detected            found; // found.what: the policy, with evidence; HDX_STRIP_NONE: an ordinary dump
 *     const hdx_strip_options options = { .dump = dump, .output = small, .policy = HDX_STRIP_SHARK };
 *     hdx_strip_report        report;
 *     if (hdx_strip_detect(dump, NULL, &found, &err) != HDX_OK || hdx_strip_write(&options, &report, &err) != HDX_OK)
 *         return complain(&err);
 *     printf("%s %s, %" PRIu64 " records\n", found.format, hdx_strip_name(found.what.policy), report.records_out);
 *
 * What a tool keeps and drops was established by running it; where a tool is broken (names outside ASCII, ids of 8
 * bytes, equality by digest) this library does what the tool means to do. Indexes are built from stripped files
 * directly: hdx_index_build needs none of these calls. Files are written under another name, synced and renamed: whole
 * or not at all.
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
    HDX_STRIP_MATRIX, /* primitive arrays dropped but for texts of Strings and one of equal bitmaps */
    /* objects of the zygote and image heaps dropped, contents of arrays cut while record lengths still count them */
    HDX_STRIP_KOOM,
    HDX_STRIP_TAILOR,   /* a container of its own, without contents of byte[] and char[] */
    HDX_STRIP_SHARK,    /* contents overwritten: '?' in byte[] and char[], 0 elsewhere, 0 in boxed values */
    HDX_STRIP_REDACTED, /* contents overwritten with another constant */
    HDX_STRIP_UNKNOWN,  /* neither reading of its records comes out even */
    HDX_STRIP_LIMITED,  /* arrays of primitives hold their first elements and then zeros (SapMachine) */
    HDX_STRIP_POLICIES
} hdx_strip_policy;

/* "none", "matrix", "koom", "tailor", "shark", "redacted", "unknown", "limited". */
HDX_API const char *hdx_strip_name(hdx_strip_policy policy);

/* Answers that a policy affects, by place 0 ..; NULL at the end: "strings", "duplicates", "array contents" ... */
HDX_API const char *hdx_strip_affects(hdx_strip_policy policy, unsigned i);

/* How the bytes of the file differ from HPROF's framing: an overlay reads each of them as if they did not. */
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
    unsigned         confidence; /* per cent; 0 for none */
    unsigned         evidence_count;
    char             evidence[HDX_EVIDENCE_MAX][160]; /* one line each */
    uint64_t         bytes_read;                      /* of the uncompressed dump, to find this out */
    /* REDACTED */
    bool     detailed; /* kept, fill and fields are known; else contents of all arrays are overwritten */
    bool     fields;   /* values of primitive fields are overwritten with 0, too */
    uint16_t kept;     /* bit t: arrays of element type t (HPROF's: 4 boolean .. 11 long) hold their contents */
    uint16_t fill[2];  /* every element of an overwritten byte[], of an overwritten char[] */
    /* LIMITED: elements that are there of a byte[] or char[], of another array; 0: all */
    uint32_t limit[2];
} hdx_stripping;

/* As hdx_strip_affects, of what is known of one dump. */
HDX_API const char *hdx_strip_affected(const hdx_stripping *what, unsigned i);

typedef struct hdx_detect_options {
    bool     full;             /* look at the whole dump, not only at its first MiB (never more than 64 MiB then) */
    uint64_t max_uncompressed; /* as in hdx_source_options */
} hdx_detect_options;
typedef struct hdx_detected {
    hdx_stripping what;
    char          format[32];  /* "JAVA PROFILE 1.0.3", "JAVA PROFILE 6.0.1"; "" where there is no header */
    int           compression; /* hdx_compression */
    uint32_t      id_size;     /* 0: not known */
    uint64_t      file_size;
} hdx_detected;

/* options may be NULL. What is no heap dump at all is HDX_BAD_DUMP. */
HDX_API hdx_code hdx_strip_detect(const char *dump, const hdx_detect_options *options, hdx_detected *out,
                                  hdx_error *err);

typedef struct hdx_strip_options {
    const char      *dump;
    const char      *output; /* ends in ".gz": compressed with gzip. Tailor: a zlib container unless `plain` or ".gz" */
    hdx_strip_policy policy; /* MATRIX to REDACTED; hdx_strip_restore does not look at it */
    bool             plain;  /* Tailor's raw form */
    bool             keep_bitmaps;   /* Matrix: bitmaps that occur once stay */
    bool             map_names;      /* REDACTED: names that are not of the platform are replaced by others as long */
    const char *const *keep_classes; /* globs over Java names ("com.acme.*", "int[]"): kept whatever the policy says */
    size_t             keep_count;
    const char *const *drop_classes; /* their instances and arrays go; not for REDACTED */
    size_t             drop_count;
    uint64_t           max_uncompressed;
    hdx_progress       progress;
    /*
     * Called on the thread of the call with the name of the temporary file while there is one, and with NULL when it is
     * gone: a program that exits at once on a signal can remove it. NULL: not called.
     */
    void (*writing)(void *context, const char *temporary);
    void *writing_context;
} hdx_strip_options;

#define HDX_STRIP_KINDS 24u
typedef struct hdx_strip_kind { /* heap entries of one kind in one heap */
    const char *record;         /* "INSTANCE_DUMP"; all roots together are "ROOTS" */
    uint64_t    in, dropped;
    uint64_t    bytes_in, bytes_out;
} hdx_strip_kind;
typedef struct hdx_strip_report {
    uint64_t records_in, records_out; /* top-level records and heap entries */
    uint64_t bytes_in, bytes_out;     /* of the files as they lie on disk */
    uint64_t plain_in, plain_out;     /* without compression */
    uint64_t dropped_shared;          /* entries of the zygote and image heaps among those dropped */
    uint64_t merged;                  /* Matrix: bitmaps that now share another's pixels */
    uint64_t absent_bytes;            /* restore: zeros that stand for contents */
    /* restore: the input ended early; what it had is restored. Tailor: further dumps of the file are left out */
    bool     truncated;
    uint64_t damage_at; /* restore: first place that could not be read and is left out, or HDX_NOWHERE */
    /* REDACTED: hashes over ids, classes, references, sizes, roots and heaps; equal, or nothing is written */
    uint64_t         graph_in, graph_out;
    hdx_strip_policy policy;
    unsigned         kind_count;
    hdx_strip_kind   kinds[HDX_STRIP_KINDS];
} hdx_strip_report;

/*
 * Strips. HDX_BAD_DUMP and no file: the dump is damaged (the offset says where), or the policy cannot hold it (Tailor:
 * ids of 8 bytes, texts over 65 531 bytes, instances over 65 535 bytes, tags 0x90 and 0xc3, strings after a segment).
 */
HDX_API hdx_code hdx_strip_write(const hdx_strip_options *options, hdx_strip_report *report, hdx_error *err);

/*
 * Restores what KOOM or Tailor made; HDX_BAD_DUMP and no file where there is nothing to restore. An input that ends
 * early gives what it has.
 */
HDX_API hdx_code hdx_strip_restore(const hdx_strip_options *options, hdx_strip_report *report, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
