/*
 * batch.h - builds the indexes and answers of many dumps in one call. As many dumps are processed at once as memory and
 * processors allow.
 *
 * Example (examples/batch.c):
 *     const char *const       inputs[] = { folder };
 *     const hdx_batch_options options = { .inputs = inputs, .input_count = 1, .out = "answers", .ask = "leaks" };
 *     hdx_batch_counts        counts;
 *     hdx_rows               *rows = NULL;
 *     hdx_code                code = hdx_batch_run(&options, &counts, &rows, &err);
 *     if (code == HDX_OK) // whatever became of single dumps: counts.failed
 *         code = hdx_rows_select(&rows, "dump,state,objects,error", &err);
 *     if (code == HDX_OK)
 *         code = hdx_render(rows, &csv, &sink, &err);
 *     hdx_rows_close(rows);
 *
 * Each dump is processed in a child process (fork), so that one that crashes or is killed does not affect the others.
 * The children end with the calling process. REQUIRES: the calling process has one thread only. The manual describes
 * the folder `out`.
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

/* Which existing indexes are built again, if their dumps are available. */
typedef enum hdx_batch_rebuild {
    HDX_BATCH_REBUILD_NONE,
    HDX_BATCH_REBUILD_DAMAGED, /* every index is verified first, which takes time proportional to its size */
    HDX_BATCH_REBUILD_ALL
} hdx_batch_rebuild;

typedef struct hdx_batch_counts {
    uint64_t dumps;       /* dumps of this call; with --task N those of this share */
    uint64_t done;        /* processed successfully by this call */
    uint64_t skipped;     /* unchanged and processed by an earlier call, or by another runner in the meantime */
    uint64_t failed;      /* each has a message in its row */
    uint64_t interrupted; /* the next call resumes them */
    uint64_t held;        /* being processed by another runner */
    uint64_t waiting, running;
} hdx_batch_counts;

typedef enum hdx_batch_happening {
    HDX_BATCH_PLANNED, /* all estimates are available */
    HDX_BATCH_STARTED,
    HDX_BATCH_STEP, /* progress of a dump */
    HDX_BATCH_DONE,
    HDX_BATCH_SKIPPED,
    HDX_BATCH_FAILED,
    HDX_BATCH_INTERRUPTED,
    HDX_BATCH_HELD,
    HDX_BATCH_NOTICE, /* a line for people */
    HDX_BATCH_SUMMARY
} hdx_batch_happening;

/* Returns "planned", "started" ... A constant string. */
HDX_API const char *hdx_batch_happening_name(hdx_batch_happening what);

typedef struct hdx_batch_event {
    hdx_batch_happening what;
    const char         *dump_id, *dump; /* NULL: the event is not about a single dump */
    hdx_batch_counts    counts;
    hdx_progress_report step;    /* for HDX_BATCH_STEP */
    const char         *message; /* of a failure or notice; NULL: none */
    const char         *hint;    /* of a failure: a remedy; NULL: none is known */
    int                 exit_code;
    unsigned            threads; /* for HDX_BATCH_STARTED, as is `memory` */
    uint64_t            memory;
    double              seconds; /* since the start of the batch, or of the dump */
    double              forecast_seconds;
} hdx_batch_event;

typedef struct hdx_batch_options {
    const char *const *inputs; /* manifests (*.csv, *.jsonl), folders, dumps, globs */
    size_t             input_count;
    const char        *out;       /* output folder; created if missing */
    const char        *ask;       /* answers for each dump: "suspects,histogram"; NULL: none */
    const char        *index_dir; /* indexes are DIR/ID.hdx; NULL: next to their dumps */
    hdx_batch_tables   tables;
    /* tables that are only written on demand (fleet.h): "objects,references"; NULL: none */
    const char       *more_tables;
    uint64_t          memory;           /* of all processes together; 0: three quarters of the available memory */
    unsigned          threads;          /* of all processes together; 0: one per processor */
    uint64_t          max_uncompressed; /* of one dump; 0: no limit */
    unsigned          task, tasks;      /* process only share `task` of `tasks` (modulo); tasks 0: all dumps */
    bool              plan;             /* only estimate; nothing is built */
    bool              summary;          /* only report what earlier calls left in `out` */
    bool              index_only;       /* neither answers nor tables */
    bool              drop;             /* delete a dump after its index was completed and verified */
    bool              no_wait;          /* do not wait for other runners */
    hdx_batch_rebuild rebuild;
    hdx_progress      progress;                                    /* only `cancelled` is called */
    void (*happened)(void *context, const hdx_batch_event *event); /* may be NULL */
    void *context;
} hdx_batch_options;

/*
 * Runs a batch. Sets *rows to rows with one row per dump, which belong to the caller, if it returns one of the
 * following codes; otherwise to NULL.
 * Returns HDX_OK if everything possible was done (counts.failed is the number of failures), HDX_CANCELLED if it was
 * interrupted (running dumps left checkpoints, and the same call resumes them), HDX_BUSY if options->no_wait is set and
 * other runners hold all remaining dumps.
 */
HDX_API hdx_code hdx_batch_run(const hdx_batch_options *options, hdx_batch_counts *counts, hdx_rows **rows,
                               hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
