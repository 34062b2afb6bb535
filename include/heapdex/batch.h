/*
 * batch.h - many dumps in one call: indexes and answers of all of them, as many at once as memory and processors allow.
 *
 * Example (examples/batch.c):
 *     const char *const       inputs[] = { folder };
 *     const hdx_batch_options options = { .inputs = inputs, .input_count = 1, .out = "night", .ask = "leaks" };
 *     hdx_batch_counts        counts;
 *     hdx_rows               *rows = NULL;
 *     hdx_code                code = hdx_batch_run(&options, &counts, &rows, &err);
 *     if (code == HDX_OK) // whatever became of single dumps: counts.failed
 *         code = hdx_rows_select(&rows, "dump,state,objects,error", &err);
 *     if (code == HDX_OK)
 *         code = hdx_render(rows, &csv, &sink, &err);
 *     hdx_rows_close(rows);
 *
 * Each dump is worked on by a process of its own (fork), so that one that crashes or is killed takes no other with it;
 * they end with the caller's. The caller must have one thread only. What is in the folder `out` says the manual.
 */
#ifndef HEAPDEX_BATCH_H
#define HEAPDEX_BATCH_H

#include <heapdex/progress.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_batch_tables {
    HDX_BATCH_NO_TABLES,
    HDX_BATCH_PARQUET,
    HDX_BATCH_SQLITE,
    HDX_BATCH_CSV
} hdx_batch_tables;

/* Which indexes that are there are built again; without the dump none is. */
typedef enum hdx_batch_rebuild {
    HDX_BATCH_REBUILD_NONE,
    HDX_BATCH_REBUILD_DAMAGED, /* every index is verified first, in time that follows its size */
    HDX_BATCH_REBUILD_ALL
} hdx_batch_rebuild;

typedef struct hdx_batch_counts {
    uint64_t dumps;       /* of this call: of --task N those that it was dealt */
    uint64_t done;        /* worked on and finished now */
    uint64_t skipped;     /* unchanged and finished before, or by another runner meanwhile */
    uint64_t failed;      /* each says why */
    uint64_t interrupted; /* go on where they were, in the next call */
    uint64_t held;        /* another runner is at work on them */
    uint64_t waiting, running;
} hdx_batch_counts;

typedef enum hdx_batch_happening {
    HDX_BATCH_PLANNED, /* all forecasts are there */
    HDX_BATCH_STARTED,
    HDX_BATCH_STEP, /* of a dump: how far it is */
    HDX_BATCH_DONE,
    HDX_BATCH_SKIPPED,
    HDX_BATCH_FAILED,
    HDX_BATCH_INTERRUPTED,
    HDX_BATCH_HELD,
    HDX_BATCH_NOTICE, /* a line for people */
    HDX_BATCH_SUMMARY
} hdx_batch_happening;
HDX_API const char *hdx_batch_happening_name(hdx_batch_happening what); /* "planned", "started" ... */

typedef struct hdx_batch_event {
    hdx_batch_happening what;
    const char         *dump_id, *dump; /* NULL: of no single dump */
    hdx_batch_counts    counts;
    hdx_progress_report step;    /* of HDX_BATCH_STEP */
    const char         *message; /* of a failure, a notice; NULL: none */
    const char         *hint;    /* of a failure: what would help; NULL: nothing is known */
    int                 exit_code;
    unsigned            threads; /* of HDX_BATCH_STARTED; so is: */
    uint64_t            memory;
    double              seconds; /* since the start of the batch, or of the dump */
    double              forecast_seconds;
} hdx_batch_event;

typedef struct hdx_batch_options {
    const char *const *inputs; /* manifests (*.csv, *.jsonl), folders, dumps, globs */
    size_t             input_count;
    const char        *out;       /* made where it is not there */
    const char        *ask;       /* "suspects,histogram": answers of each dump; NULL: none */
    const char        *index_dir; /* indexes are DIR/ID.hdx; NULL: beside their dumps */
    hdx_batch_tables   tables;
    const char        *more_tables;      /* "objects,references": those that are written on demand (fleet.h); or NULL */
    uint64_t           memory;           /* of all processes together; 0: three quarters of what is available */
    unsigned           threads;          /* of all processes together; 0: as many as processors */
    uint64_t           max_uncompressed; /* of one dump; 0: no limit */
    unsigned           task, tasks;      /* this is share `task` (modulo tasks) of so many; tasks 0: all of it */
    bool               plan;             /* forecasts alone: nothing is built */
    bool               summary;          /* only tell what earlier calls have left in `out` */
    bool               index_only;       /* no answers, no tables */
    bool               drop;             /* deletes a dump whose index is whole and verified */
    bool               no_wait;          /* does not wait for other runners */
    hdx_batch_rebuild  rebuild;
    hdx_progress       progress;                                   /* `cancelled` alone is asked */
    void (*happened)(void *context, const hdx_batch_event *event); /* may be NULL */
    void *context;
} hdx_batch_options;

/*
 * HDX_OK: all that could be done was, counts.failed says whether something failed. HDX_CANCELLED: dumps at work have
 * left checkpoints, the same call goes on. HDX_BUSY: all that is left is held by other runners, and options.no_wait.
 * *rows: a row for each dump, the caller's, also where the code is one of these three; NULL else.
 */
HDX_API hdx_code hdx_batch_run(const hdx_batch_options *options, hdx_batch_counts *counts, hdx_rows **rows,
                               hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
