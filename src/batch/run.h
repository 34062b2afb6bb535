/* run.h - shared by the three files of the parent: run.c, job.c, before.c. For this room only. */
#ifndef HDX_BATCH_RUN_H
#define HDX_BATCH_RUN_H

#include "batch/batch.h"

#include <time.h>

typedef struct batch_job {
    const batch_dump *dump;
    const char       *index_dir;
    unsigned          task;
    size_t            order; /* 0: the largest */
    batch_status      s;     /* current status */
    batch_status      before;
    bool              was; /* there is a status of an earlier call */
    batch_forecast    forecast;
    bool              known;   /* the forecast is from OUT/plan.jsonl, or from a child */
    bool              guess;   /* the forecast is a guess, because the child could not make one */
    bool              rebuild; /* build again although there is an index */
    uint64_t          disk_device;
    batch_claim       claim;
    batch_child       child;
    hdx_buffer        input;         /* the incomplete last line of its child */
    bool              ended;         /* its child reported the end */
    bool              refused;       /* its child sent something that is not a line */
    uint64_t          tables_failed; /* number of tables whose answers failed */
    const char       *needed;        /* reason of its child to keep the dump; NULL: it may be deleted */
    batch_file        read_again;    /* the file that its child has compared with the index */
    hdx_code          code;
    unsigned          again, starts; /* how often others told it to stop; how often its process could not be created */
    unsigned          step_number;
    uint64_t          began_ns, looked_ns;
} batch_job;

typedef struct batch_space { /* of a file system */
    uint64_t device, bytes;
} batch_space;

#define BATCH_MOST_SPACES 16u /* of further file systems nothing is stored */

typedef struct batch_run {
    const hdx_batch_options *o;
    hdx_batch_options        settled;     /* o points to it */
    hdx_arena                arena, line; /* `line`: for one line, then emptied */
    batch_dumps              dumps;
    batch_job               *jobs;
    size_t                   count;
    batch_job              **ordered, **working; /* by forecast; those with a child */
    size_t                   working_count, next_new;
    batch_room               room;
    batch_space              spaces[BATCH_MOST_SPACES]; /* as reported by the system since the last check for a start */
    unsigned                 space_count;
    batch_saved_list         saved;
    bool                     estimated; /* there is a forecast that the list lacks */
    bool                     stopping;
    bool                     changed; /* a child ended: there may be room for another one */
    hdx_batch_counts         counts;
    struct timespec          began; /* in the clock of the file system of OUT */
    uint64_t                 began_ns, beat_ns, room_ns;
    const char              *asked, *tables;
} batch_run;

/* ---- job.c: reports ---- */
double    hdx_batch_since(uint64_t ns); /* in seconds */
void      hdx_batch_count(batch_run *r);
void      hdx_batch_report(batch_run *r, hdx_batch_happening what, const batch_job *j, const char *message,
                           const hdx_progress_report *step);
batch_say hdx_batch_say_line; /* about the whole batch; context: the run */
void hdx_batch_say_of(batch_run *r, const batch_job *j, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *hdx_batch_keep(batch_run *r, const char *text); /* copies a text; NULL for NULL, or without memory */
/* ---- job.c: the end of a job ---- */
bool hdx_batch_file_of(const char *path, uint64_t *size, uint64_t *mtime_ns); /* false: it does not exist */
/* Returns whether an earlier call, or another runner, has done everything requested; the index is not checked. */
bool hdx_batch_is_finished(const batch_run *r, const batch_job *j, const batch_status *before);
void hdx_batch_skip(batch_run *r, batch_job *j, const batch_status *before);
/* Checks whether another runner has processed it: true if nothing is left to do. */
bool hdx_batch_others_did(batch_run *r, batch_job *j);
/* Fails the job if it would replace the only index of a dump that was deleted. Returns whether it did. */
bool        hdx_batch_is_refused(batch_run *r, batch_job *j, const batch_status *before);
const char *hdx_batch_index_alone(const batch_job *j); /* of a dump that no longer exists; NULL: none */
/* Restores the earlier status of a job, because another runner does the work, or a later attempt. */
void hdx_batch_put_back(batch_run *r, batch_job *j, batch_state state);
void hdx_batch_fail(batch_run *r, batch_job *j, const hdx_error *err);
/* Writes its status to disk, then releases its claim: B1. */
void hdx_batch_close(batch_run *r, batch_job *j);
void hdx_batch_warn_of_step(batch_run *r, const batch_job *j);
/* Handles lines of its child; false: that was the last, and hdx_batch_finish must be called. */
bool hdx_batch_read(batch_run *r, batch_job *j);
void hdx_batch_finish(batch_run *r, batch_job *j);

/* ---- drop.c ---- */
/* Deletes the dump of a completed job, or records in its status and an event why not. */
void hdx_batch_drop(batch_run *r, batch_job *j);

/* ---- before.c, in this order ---- */
/*
 * Returns the memory of this machine, this container and this job, less a quarter for other uses; UINT64_MAX: unknown.
 * `root` is a prefix for the names of system files: "".
 */
uint64_t hdx_batch_memory_here(const char *root);
hdx_code hdx_batch_settle(batch_run *r, const hdx_batch_options *options, hdx_error *err);
hdx_code hdx_batch_make_jobs(batch_run *r, hdx_error *err);
hdx_code hdx_batch_deal_tasks(batch_run *r, hdx_error *err);
void     hdx_batch_access_of_all(const batch_run *r, hdx_access *like);
void     hdx_batch_take_share(batch_run *r);
/* Read the status of each dump from earlier calls and other runners; nothing else is examined. */
void hdx_batch_recall(batch_run *r);
void hdx_batch_look_back(batch_run *r);
/* ... after the forecasts ... */
hdx_code hdx_batch_keep_forecasts(batch_run *r, hdx_error *err);
void     hdx_batch_skip_valid(batch_run *r);
hdx_code hdx_batch_put_in_order(batch_run *r, hdx_error *err);
uint64_t hdx_batch_disk_of(const batch_job *j);                /* needed by its index during the build */
uint64_t hdx_batch_disk_for(batch_run *r, const batch_job *j); /* available for it, according to r->spaces */

#endif
