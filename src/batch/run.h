/* run.h - what the three files of the parent share: run.c, job.c, before.c. Inside of this room alone. */
#ifndef HDX_BATCH_RUN_H
#define HDX_BATCH_RUN_H

#include "batch/batch.h"

#include <time.h>

typedef struct batch_job {
    const batch_dump *dump;
    const char       *index_dir;
    unsigned          task;
    size_t            order; /* 0: the largest */
    batch_status      s;     /* as now */
    batch_status      before;
    bool              was; /* there is a status of an earlier call */
    batch_forecast    forecast;
    bool              known;   /* that is from OUT/plan.jsonl, or a child has said it */
    bool              guess;   /* ... nobody could */
    bool              rebuild; /* its index is there, and is built again */
    uint64_t          disk_device;
    batch_claim       claim;
    batch_child       child;
    hdx_buffer        input;         /* of it, a line that is not whole */
    bool              ended;         /* it said so */
    bool              refused;       /* what it said was no line */
    uint64_t          tables_failed; /* their answers could not be given */
    const char       *needed;        /* why its child says that the dump must stay; NULL: it may go */
    batch_file        read_again;    /* the file that its child has compared with the index */
    hdx_code          code;
    unsigned          again, starts; /* times that it was told to stop by others; that no process could be made */
    unsigned          step_number;
    uint64_t          began_ns, looked_ns;
} batch_job;

typedef struct batch_space { /* of a file system */
    uint64_t device, bytes;
} batch_space;

#define BATCH_MOST_SPACES 16u /* of more file systems none is remembered */

typedef struct batch_run {
    const hdx_batch_options *o;
    hdx_batch_options        settled;     /* o points there */
    hdx_arena                arena, line; /* `line`: of one line, emptied */
    batch_dumps              dumps;
    batch_job               *jobs;
    size_t                   count;
    batch_job              **ordered, **working; /* by forecast; with a child */
    size_t                   working_count, next_new;
    batch_room               room;
    batch_space              spaces[BATCH_MOST_SPACES]; /* as the system said since one was last asked for a start */
    unsigned                 space_count;
    batch_kept_list          kept;
    bool                     estimated; /* something is forecast that the list has not */
    bool                     stopping;
    bool                     changed; /* something ended: there may be room for another one */
    hdx_batch_counts         counts;
    struct timespec          began; /* by the clock of the file system that OUT is on */
    uint64_t                 began_ns, beat_ns, room_ns;
    const char              *asked, *tables;
} batch_run;

/* ---- job.c: telling ---- */
double    hdx_batch_since(uint64_t ns); /* in seconds */
void      hdx_batch_count(batch_run *r);
void      hdx_batch_tell(batch_run *r, hdx_batch_happening what, const batch_job *j, const char *message,
                         const hdx_progress_report *step);
batch_say hdx_batch_say_line; /* of the whole batch; context: the run */
void hdx_batch_say_of(batch_run *r, const batch_job *j, const char *format, ...) __attribute__((format(printf, 3, 4)));
const char *hdx_batch_keep(batch_run *r, const char *text); /* NULL of NULL, and where there is no memory */
/* ---- job.c: what became of a dump ---- */
bool hdx_batch_file_of(const char *path, uint64_t *size, uint64_t *mtime_ns); /* false: it is not there */
/* Has an earlier call, or another runner, done all that is asked for? Whether its index is valid is another question.
 */
bool hdx_batch_is_finished(const batch_run *r, const batch_job *j, const batch_status *before);
void hdx_batch_skip(batch_run *r, batch_job *j, const batch_status *before);
/* Another runner may have been at work on it: true when nothing is left to do. */
bool hdx_batch_others_did(batch_run *r, batch_job *j);
/* The index that it would replace is all that is left of a dump that was deleted: it has failed. */
bool        hdx_batch_is_refused(batch_run *r, batch_job *j, const batch_status *before);
const char *hdx_batch_index_alone(const batch_job *j); /* of a dump that is not there any more; NULL: there is none */
/* What it was about to do another one does, or a later try: its status says what it said before. */
void hdx_batch_put_back(batch_run *r, batch_job *j, batch_state state);
void hdx_batch_fail(batch_run *r, batch_job *j, const hdx_error *err);
/* Its status goes to disk, then its claim is given back: B1. */
void hdx_batch_close(batch_run *r, batch_job *j);
void hdx_batch_warn_of_step(batch_run *r, const batch_job *j);
/* What its child says; false: that was all, and then: */
bool hdx_batch_read(batch_run *r, batch_job *j);
void hdx_batch_finish(batch_run *r, batch_job *j);

/* ---- drop.c ---- */
/* Deletes the dump of a job that is done, or says in its status and in an event why not. */
void hdx_batch_drop(batch_run *r, batch_job *j);

/* ---- before.c, in this order ---- */
/*
 * Bytes that this machine, this container and this job have, less a quarter for what else is there; UINT64_MAX: nobody
 * says. `root` is before the names of the files of the system: "".
 */
uint64_t hdx_batch_memory_here(const char *root);
hdx_code hdx_batch_settle(batch_run *r, const hdx_batch_options *options, hdx_error *err);
hdx_code hdx_batch_make_jobs(batch_run *r, hdx_error *err);
hdx_code hdx_batch_deal_tasks(batch_run *r, hdx_error *err);
void     hdx_batch_access_of_all(const batch_run *r, hdx_access *like);
void     hdx_batch_take_share(batch_run *r);
/* What earlier calls, and others at this moment, say of each; nothing is looked at but that. */
void hdx_batch_recall(batch_run *r);
void hdx_batch_look_back(batch_run *r);
/* ... forecasts ... */
hdx_code hdx_batch_keep_forecasts(batch_run *r, hdx_error *err);
void     hdx_batch_skip_valid(batch_run *r);
hdx_code hdx_batch_put_in_order(batch_run *r, hdx_error *err);
uint64_t hdx_batch_disk_of(const batch_job *j);                /* that its index takes while it is built */
uint64_t hdx_batch_disk_for(batch_run *r, const batch_job *j); /* that is there for it, as of r->spaces */

#endif
