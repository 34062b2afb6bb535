/*
 * index.h - builds, finds and removes the index of a dump, and estimates the cost of a build.
 *
 * Example (examples/index.c):
 *     const hdx_index_options options = { .dump = dump };
 *     static hdx_index_report report;                           // some 10 KB
 *     if (hdx_index_build(&options, &report, &err) != HDX_OK || // builds, or finds a valid one: report.reused
 *         hdx_graph_open(report.path, dump, &graph, &err) != HDX_OK) {
 *         fprintf(stderr, "%s: %s\n", err.where, err.message);
 *         return 1;
 *     }
 *
 * An index is a folder. It comes into existence when the finished folder is renamed into place. Readers that have an
 * older index open continue to read that one.
 */
#ifndef HEAPDEX_INDEX_H
#define HEAPDEX_INDEX_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_step { HDX_STEP_OBJECTS = 1, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS } hdx_step;

/* See counts.h. */
typedef struct hdx_counts hdx_counts;

typedef struct hdx_index_options {
    const char *dump; /* path of the dump, or of an index folder (then nothing is built) */
    /* the index folder; NULL: DUMP.hdx next to the dump, or in the user's cache folder if that cannot be written */
    const char *index_dir;
    uint32_t    dump_number;      /* which heap of a file that contains several, from 1; 0: the first */
    unsigned    threads;          /* number of worker threads; 0: one per processor */
    uint64_t    memory;           /* bytes that a build may use; 0: no limit */
    uint64_t    max_uncompressed; /* in bytes; 0: no limit */
    bool        force;            /* build even if a valid index exists, and replace a damaged one */
    bool        no_build;         /* fail with HDX_BAD_DUMP if no valid index exists */
    bool        no_wait;          /* return HDX_BUSY at once if another builder is at work */
    hdx_step    until;            /* last step to build; 0: all steps */
    /* of ids in the build: 32 or 64 (for tests); 0: chosen by the number of objects and references */
    unsigned     width;
    hdx_progress progress;
    /* Called with a message of one line, for example "the dump changed since it was indexed: rebuilding". May be NULL.
     */
    void (*notice)(void *context, const char *line);
    void *notice_context;
    /*
     * Called with the objects and bytes of each class (counts.h) after the first pass of a build, before the build
     * continues. The counts are valid until the callback returns. It is not called if an index already exists, if the
     * build resumes an earlier one, or if the dump is damaged or its objects are aligned to more than 8 bytes: the
     * counts of the first pass are then not final. May be NULL.
     */
    void (*first_pass)(void *context, const hdx_counts *counts);
    void *first_pass_context;
} hdx_index_options;

typedef struct hdx_index_step_report {
    char     name[24];
    uint64_t wall_ns, cpu_ns, peak_bytes, written_bytes;
} hdx_index_step_report;

/* How an existing index was matched to its dump. */
typedef enum hdx_index_likeness {
    HDX_LIKE_NOTHING, /* not matched: the dump is not available, or the index was built by this call */
    HDX_LIKE_SIZE,    /* a file of the recorded name and size is next to the index folder that the caller named */
    HDX_LIKE_SAMPLES, /* size and samples of the content are equal */
    HDX_LIKE_INODE    /* size, modification time and inode are equal: the dump was not changed */
} hdx_index_likeness;

typedef struct hdx_index_report {
    char                  path[4096]; /* of the index folder */
    char                  dump[4096]; /* the dump that belongs to it; "" if only the index is available */
    bool                  reused;     /* a valid index existed */
    hdx_index_likeness    likeness;
    uint64_t              bytes; /* of all its files */
    uint64_t              objects, live_objects, references;
    uint64_t              wall_ns, peak_rss;
    unsigned              step_count;
    hdx_index_step_report steps[32];
} hdx_index_report;

/*
 * Finds a valid index or builds one, and describes it in *report. A build that ends with HDX_CANCELLED or HDX_LIMIT, or
 * whose process is killed, leaves the partial build .heapdex-part-NAME in the folder of the index. The next call with
 * the same dump and parameters verifies it and resumes after the last finished step, unless `force` is set. The index
 * has the same bytes as without the interruption, except for page order and build times in catalog.mdb. Any other error
 * leaves nothing.
 * REQUIRES: options->dump. If it is an index folder, `force` and `index_dir` are not set (HDX_USAGE).
 * Returns HDX_BAD_DUMP if the dump cannot be used, if the folder is the index of another dump, or if `no_build` is set
 * and no valid index exists; HDX_DAMAGED if the existing index is damaged; HDX_LIMIT if memory or disk space is too
 * small; HDX_BUSY if another builder is at work and `no_wait` is set, or if it took over the folder; HDX_IO;
 * HDX_CANCELLED.
 */
HDX_API hdx_code hdx_index_build(const hdx_index_options *options, hdx_index_report *report, hdx_error *err);

typedef struct hdx_index_step_forecast {
    char     name[24]; /* as in hdx_index_report */
    uint64_t memory;   /* largest resident memory during the step, without a limit */
    uint64_t least;    /* the same with the smallest sufficient limit */
    uint64_t disk;     /* approximate size in bytes of the files that the step leaves */
    /*
     * approximate: times measured on one machine (bench/README.md), scaled by how much slower this machine read the
     * sample. May be wrong by a factor of two.
     */
    uint64_t wall_ns;
} hdx_index_step_forecast;

typedef struct hdx_index_forecast {
    uint64_t dump_size;     /* uncompressed; estimated if the dump is compressed and longer than the sample */
    uint64_t sampled_bytes; /* bytes of heap records in the sample */
    bool     whole;         /* the sample is the whole dump: objects are counted, not estimated */
    char     version[8];    /* HPROF version in the header of the dump */
    uint32_t id_size;
    /* `references` excludes those from objects to their classes. */
    uint64_t                objects, references, classes, roots;
    uint64_t                memory;    /* of the step that needs most */
    uint64_t                least;     /* the smallest sufficient `memory` option: that of the step that needs most */
    uint64_t                disk;      /* of the finished index */
    uint64_t                temporary; /* further disk space during the build */
    uint64_t                wall_ns;   /* of all steps */
    unsigned                step_count;
    hdx_index_step_forecast steps[32];
} hdx_index_forecast;

/*
 * Estimates the cost of hdx_index_build from a short sample of the dump. Builds and writes nothing, and ignores
 * options->memory. Returns HDX_USAGE if options->dump is an index folder, HDX_BAD_DUMP if the dump cannot be used.
 */
HDX_API hdx_code hdx_index_estimate(const hdx_index_options *options, hdx_index_forecast *out, hdx_error *err);

/*
 * Deletes the index of a dump, and the remains of killed builds, but never the dump. Copies the path of the index
 * folder to path[path_size]. options->dump may name the dump or the index folder.
 * Returns HDX_NOT_FOUND if there is no index, HDX_BAD_DUMP if the folder is the index of another dump, HDX_USAGE if it
 * contains files that heapdex did not write, HDX_BUSY if `no_wait` is set and a builder is at work.
 */
HDX_API hdx_code hdx_index_remove(const hdx_index_options *options, char *path, size_t path_size, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
