/*
 * index.h - building, finding and removing the index of a dump, and what building would cost.
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
 * An index is a folder. It exists from the rename of the finished folder on; readers hold what they opened.
 */
#ifndef HEAPDEX_INDEX_H
#define HEAPDEX_INDEX_H

#include <heapdex/error.h>
#include <heapdex/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_step { HDX_STEP_OBJECTS = 1, HDX_STEP_OUTBOUND, HDX_STEP_INBOUND, HDX_STEP_DOMINATORS } hdx_step;

typedef struct hdx_counts hdx_counts; /* counts.h */

typedef struct hdx_index_options {
    const char  *dump;             /* the dump, or an index folder (then nothing is built) */
    const char  *index_dir;        /* NULL: DUMP.hdx beside the dump, else the user's cache folder */
    uint32_t     dump_number;      /* 0: 1 */
    unsigned     threads;          /* 0: as many as processors */
    uint64_t     memory;           /* bytes a build may take; 0: no limit */
    uint64_t     max_uncompressed; /* 0: no limit */
    bool         force;            /* rebuild although a valid index is there; also over a damaged one */
    bool         no_build;         /* only find */
    bool         no_wait;          /* HDX_BUSY at once when another builder is at work */
    hdx_step     until;            /* 0: everything */
    unsigned     width;            /* 0: as objects and references allow; 32 or 64 to force (tests) */
    hdx_progress progress;
    /* one line for people now and then ("index is stale, rebuilding"); may be NULL */
    void (*notice)(void *context, const char *line);
    void *notice_context;
    /*
     * Objects and bytes by class (counts.h), told when the first pass of a build is over, while the rest goes on after
     * it; they live until it returns. Not called where an index is there, nor where the dump is damaged or oddly
     * aligned: what the other passes find would be missing. May be NULL.
     */
    void (*first_pass)(void *context, const hdx_counts *counts);
    void *first_pass_context;
} hdx_index_options;

typedef struct hdx_index_step_report {
    char     name[24];
    uint64_t wall_ns, cpu_ns, peak_bytes, written_bytes;
} hdx_index_step_report;

/* Of an index that was there: why its dump is taken for the one that it was made from. */
typedef enum hdx_index_likeness {
    HDX_LIKE_NOTHING, /* the dump is not at hand, or the index was made now */
    HDX_LIKE_SIZE,    /* a file of that name and size lies beside the index folder that was named */
    HDX_LIKE_SAMPLES, /* its size, and samples of its content */
    HDX_LIKE_INODE    /* its size, time and inode: it was not touched */
} hdx_index_likeness;

typedef struct hdx_index_report {
    char                  path[4096]; /* of the index folder */
    char                  dump[4096]; /* the dump that belongs to it; "" where only the index is at hand */
    bool                  reused;     /* a valid one was there */
    hdx_index_likeness    likeness;
    uint64_t              bytes; /* of all its files */
    uint64_t              objects, live_objects, references;
    uint64_t              wall_ns, peak_rss;
    unsigned              step_count;
    hdx_index_step_report steps[32];
} hdx_index_report;

/*
 * Finds a valid index or builds one. A build that ends with HDX_CANCELLED or HDX_LIMIT, or whose process is killed,
 * leaves the partial build .heapdex-part-NAME in the folder of the index. The next call with the same dump and
 * parameters verifies it and resumes after the last finished step, unless `force` is set. The index has the same bytes
 * as without the interruption, except for page order and build times in catalog.mdb. Any other error leaves nothing.
 */
HDX_API hdx_code hdx_index_build(const hdx_index_options *options, hdx_index_report *report, hdx_error *err);

typedef struct hdx_index_step_forecast {
    char     name[24]; /* as in hdx_index_report */
    uint64_t memory;   /* resident while the step runs, at most, where there is no budget */
    uint64_t least;    /* the same with the smallest budget that would do */
    uint64_t disk;     /* bytes of the files it leaves, about */
    /*
     * about: figures of one machine (bench/README.md), times how much slower this one read the sample; a factor of two
     * is no surprise
     */
    uint64_t wall_ns;
} hdx_index_step_forecast;

typedef struct hdx_index_forecast {
    uint64_t dump_size;     /* uncompressed; expected where the dump is compressed and longer than the sample */
    uint64_t sampled_bytes; /* of its heap records */
    bool     whole;         /* they are all: objects are counted, not forecast */
    char     version[8];    /* of the dump's header */
    uint32_t id_size;
    uint64_t objects, references, classes, roots; /* references without those to the class */
    uint64_t memory;                              /* of the step that needs most */
    uint64_t least;     /* a budget (options.memory) that would do: of the step that needs most with it */
    uint64_t disk;      /* of the finished index */
    uint64_t temporary; /* more than that, while it is built */
    uint64_t wall_ns;   /* of all steps */
    unsigned step_count;
    hdx_index_step_forecast steps[32];
} hdx_index_forecast;

/* What hdx_index_build would cost, from a short sample; builds and writes nothing. options.memory is not looked at. */
HDX_API hdx_code hdx_index_estimate(const hdx_index_options *options, hdx_index_forecast *out, hdx_error *err);

/*
 * Deletes the index of a dump (and leftovers of killed builds); never touches the dump. HDX_NOT_FOUND when there is
 * none.
 */
HDX_API hdx_code hdx_index_remove(const hdx_index_options *options, char *path, size_t path_size, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
