/*
 * batch.h - processes many dumps on one machine. <heapdex/batch.h> is the public part of the room.
 *
 *   run.c        the parent: an event loop over child processes, one for each dump being processed (run.h)
 *   before.c     preparation: folders, dumps, tasks, results of earlier calls, order
 *   job.c        the state of one dump: lines of its child, its end, its status
 *   plan.c       pure functions: which dump is next, with how many threads and how much memory; which task gets which
 *                dump
 *   inputs.c     finds the dumps of the inputs and their ids; manifest.c: manifests of CSV and JSONL
 *   status.c     OUT/status/ID.json, and what it says about an earlier attempt
 *   drop.c       deletes a dump (--drop-dump), but never another file that has its name by then
 *   claim.c      OUT/claims/ID: keeps two runners from processing one dump
 *   child.c      the work on one dump, in a child process; reports through a pipe
 *   forecast.c   OUT/plan.jsonl: saved forecasts; OUT/deal-M.jsonl: which task has which dump
 *   summary.c    one row for each dump
 *   flat.c       writes flat JSON objects, for pipe, manifest, status and plan
 *
 *     dump -> forecast (child) -> order -> claim -> child: index, answers, tables -> status, claim released
 *
 * Invariants, asserted in debug builds:
 *
 *   B1  A runner that processes a dump holds its claim, from before the status says "running" until the status says how
 *       it ended.
 *   B2  Threads and memory of running children never exceed the limits of the batch.
 *   B3  A file in OUT is complete or does not exist.
 */
#ifndef HDX_BATCH_BATCH_H
#define HDX_BATCH_BATCH_H

#include "base/base.h"
#include "render/render.h"
#include "rows/rows.h"
#include "base/flat.h"
#include <heapdex/batch.h>
#include <heapdex/fleet.h>
#include <heapdex/heapdex.h>

#include <sys/types.h>
#include <time.h>

/* ---- flat.c ---- */
/* Write an object: batch_put_... between "{" and hdx_batch_put_end. A NULL text is written as null. */
void hdx_batch_put_text(hdx_buffer *b, const char *key, const char *value);
void hdx_batch_put_number(hdx_buffer *b, const char *key, uint64_t value);
void hdx_batch_put_real(hdx_buffer *b, const char *key, double value);
void hdx_batch_put_bool(hdx_buffer *b, const char *key, bool value);
void hdx_batch_put_end(hdx_buffer *b); /* writes "}" and the newline */

/* ---- inputs.c ---- */
typedef struct batch_dump {
    const char *id;    /* a name for files: letters, digits, . _ - */
    const char *path;  /* as given, or as found */
    const char *whole; /* absolute path */
    /* non-empty fields of the manifest other than `dump` and `dump_id`; NULL: not in a manifest */
    hdx_flat_pair *fields;
    size_t         field_count;
} batch_dump;
typedef HDX_LIST(batch_dump) batch_dumps;
typedef void                 batch_say(void *context, const char *line);
/* Returns all dumps that the inputs name, each once, in the order of their paths. */
hdx_code    hdx_batch_inputs(const hdx_batch_options *options, hdx_arena *arena, batch_dumps *out, batch_say *say,
                             void *context, hdx_error *err);
const char *hdx_batch_field(const batch_dump *d, const char *name); /* NULL: the dump has no such field */
bool        hdx_batch_is_id(const char *text);
/* "app.hprof.gz", "/dumps/app.hprof.gz" -> "app-3f1c09aa" */
const char *hdx_batch_id_of(hdx_arena *arena, const char *path, const char *whole);

/* ---- manifest.c ---- */
#define BATCH_MOST_MANIFEST (256ull << 20)
#define BATCH_MOST_LINE     (1u << 20)
#define BATCH_MOST_COLUMNS  512u
#define BATCH_MOST_FIELDS   (4u << 20) /* of all dumps together */
typedef hdx_code batch_take(void *context, const hdx_flat *row, uint64_t line, hdx_error *err);
/* Pass the rows one by one. Their pointers lead into the arena, which is emptied after each row. `name`: for messages
 */
hdx_code hdx_batch_manifest_csv(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                void *context, hdx_error *err);
hdx_code hdx_batch_manifest_jsonl(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                  void *context, hdx_error *err);

/* ---- plan.c ---- */
#define BATCH_THREAD_BYTES (8ull << 20) /* that a build needs for each thread after the first (reading/work.h) */
typedef struct batch_want {             /* a dump that waits */
    uint64_t memory, least;             /* in bytes, with one thread */
    uint64_t disk, disk_free;           /* bytes of its files during the work; bytes available for them */
} batch_want;
typedef struct batch_running {
    size_t   order; /* of the dump among all: 0 is the largest */
    unsigned threads;
    uint64_t memory;
} batch_running;
typedef struct batch_room { /* of the machine */
    unsigned threads;
    uint64_t memory;
} batch_room;
typedef enum batch_fit { BATCH_STARTS, BATCH_WAITS, BATCH_NEVER_MEMORY, BATCH_NEVER_DISK } batch_fit;
typedef struct batch_choice {
    batch_fit fit;
    size_t    place; /* index among the waiting ones */
    unsigned  threads;
    uint64_t  memory;
} batch_choice;
/*
 * Chooses the next of `waiting` (in their order; orders[i] as in batch_running) to start, or one that can never start
 * (BATCH_NEVER_), or BATCH_WAITS: none can start before another one ends.
 */
batch_choice hdx_batch_plan_next(const batch_room *room, const batch_want *waiting, const size_t *orders, size_t count,
                                 const batch_running *running, size_t running_count);
typedef struct batch_weight {
    const char *id;
    double      seconds;
    size_t      place; /* for the caller */
    unsigned    task;
} batch_weight;
/* Sorts by size, largest first; independent of the original order. */
void hdx_batch_plan_order(batch_weight *at, size_t count);
/* Sets `task` of each: the next largest goes to the task with the least work so far. Changes the order. */
void hdx_batch_plan_deal(batch_weight *at, size_t count, unsigned tasks);
/* Returns the task of a dump that did not exist when the others were assigned. */
unsigned hdx_batch_plan_late(const char *id, unsigned tasks);

/* ---- forecast.c ---- */
typedef struct batch_forecast {      /* all zero: unknown */
    bool        indexed;             /* there is a valid index: nothing needs to be built */
    uint64_t    file_size, mtime_ns; /* of the dump that was forecast */
    uint64_t    memory, least;       /* bytes without a budget; a sufficient budget */
    uint64_t    disk, temporary;
    uint64_t    objects;
    double      seconds;
    const char *steps; /* "scan 1.5, columns 3.2": seconds of each step */
} batch_forecast;
/*
 * Guesses the forecast of a dump from the size of its file, if its forecast failed; its build will report the reason.
 */
batch_forecast hdx_batch_forecast_guess(const char *path, uint64_t file_size);
/* Returns the seconds of one step; 0: unknown. */
double hdx_batch_forecast_step(const batch_forecast *f, const char *step);
void   hdx_batch_forecast_put(hdx_buffer *b, const batch_forecast *f);
bool   hdx_batch_forecast_take(const hdx_flat *flat, hdx_arena *arena, batch_forecast *out);
/* OUT/plan.jsonl: one line for each forecast, with its dump_id. */
typedef struct batch_saved {
    const char    *id;
    batch_forecast forecast;
} batch_saved;
typedef HDX_LIST(batch_saved) batch_saved_list;
/* Reads the forecasts; invalid lines are ignored. */
hdx_code hdx_batch_plan_read(const char *out, hdx_arena *arena, batch_saved_list *list, hdx_error *err);
hdx_code hdx_batch_plan_write(const char *out, const batch_saved_list *list, const hdx_access *like, hdx_error *err);
/*
 * OUT/deal-M.jsonl: which of `tasks` has which dump, decided once by the first runner. Sets `task` of each, in their
 * order.
 */
hdx_code hdx_batch_deal(const char *out, batch_weight *at, size_t count, unsigned tasks, const hdx_access *like,
                        hdx_arena *arena, hdx_error *err);

/* ---- claim.c ---- */
#define BATCH_CLAIM_BEAT_S  10u  /* a claim in use is touched this often */
#define BATCH_CLAIM_STALE_S 600u /* a claim of another host that was not touched for this long is invalid */
typedef struct batch_claim {
    char path[4200];
    char record[HDX_OWNER_RECORD];
    int  fd; /* -1: not held */
} batch_claim;
/* Takes the claim of a dump. Returns HDX_BUSY with the owner if another runner holds it. */
hdx_code hdx_batch_claim_take(batch_claim *c, const char *out, const char *id, hdx_error *err);
bool     hdx_batch_claim_is_ours(const batch_claim *c);
void     hdx_batch_claim_beat(const batch_claim *c);
void     hdx_batch_claim_give(batch_claim *c);
/*
 * Removes the claim of a completed dump whose runner was killed before it could release it; a claim that is held stays.
 */
void hdx_batch_claim_clear(const char *out, const char *id);
bool hdx_batch_claim_is_held(const char *out, const char *id); /* by any living process */

/* ---- status.c ---- */
typedef enum batch_state {
    BATCH_NEW,
    BATCH_WAITING,
    BATCH_RUNNING,
    BATCH_DONE,
    BATCH_SKIPPED,
    BATCH_FAILED,
    BATCH_INTERRUPTED,
    BATCH_HELD,
    BATCH_PLANNED
} batch_state;
const char *hdx_batch_state_name(batch_state state);

typedef struct batch_status { /* what is known about one dump; texts are in the arena */
    batch_state state;
    const char *dump;      /* absolute path of the dump to which the status belongs */
    int         exit_code; /* 128 + n: signal n ended its process */
    const char *kind;      /* of a failure: hdx_code_name, or "killed" */
    const char *error, *hint;
    uint64_t    damage_places;
    const char *damage;        /* the first one */
    const char *step;          /* of the build, the last that began; NULL: none */
    unsigned    step_attempts; /* how often it was begun in a row */
    double      step_forecast; /* in seconds; 0: unknown */
    double      seconds, cpu_seconds, forecast_seconds;
    uint64_t    peak_memory, memory, forecast_memory, least_memory, forecast_disk;
    unsigned    threads;
    uint64_t    file_size, mtime_ns; /* of the dump */
    const char *content;             /* a hash of all its bytes, computed before it was indexed; NULL: not requested */
    uint64_t    content_ms;          /* time of the hash, since 1970 */
    uint64_t    objects, live_objects, references, index_bytes;
    const char *index; /* absolute path of its folder */
    bool        reused, dropped;
    const char
        *not_dropped; /* why the dump was not deleted although --drop-dump was given; NULL: it was, or need not be */
    const char *asked, *tables;
    uint64_t    ended_ms; /* since 1970 */
    const char *manifest; /* of a status that was read: fields of the manifest, as a JSON object */
} batch_status;
/*
 * Writes a file completely or not at all, readable as `like` says (NULL: the umask); `keep`: syncs it before it gets
 * its name.
 */
hdx_code hdx_batch_file_write(const char *path, const void *bytes, uint64_t len, const hdx_access *like, bool keep,
                              hdx_error *err);
/*
 * Removes temporary files of killed processes from a folder: those that no process has locked, if locks reach all
 * hosts, and those not written to since `before`; NULL: all.
 */
void hdx_batch_clear_temporary(const char *folder, const struct timespec *before);
/* Writes rows as the document that --format json prints, readable as `like` says (NULL: the umask). */
hdx_code hdx_batch_rows_write(const char *path, hdx_rows *rows, const hdx_access *like, hdx_error *err);
/* Reads a small file completely; NULL: it cannot be read, or exceeds `most` bytes. */
char *hdx_batch_file_read(hdx_arena *arena, const char *path, uint64_t most, size_t *len);
/*
 * Returns who may read the dump or, if it was deleted, its index. False: both are missing, so there is nothing private
 * to report.
 */
bool     hdx_batch_access_of(const batch_dump *d, const batch_status *s, hdx_access *like);
hdx_code hdx_batch_status_write(const char *out, const batch_dump *d, const batch_status *s, bool keep, hdx_error *err);
bool     hdx_batch_status_has_fields(const batch_status *s, const batch_dump *d); /* those of the manifest */
bool     hdx_batch_status_read(const char *out, const char *id, hdx_arena *arena, batch_status *s);
int      hdx_batch_exit_code(hdx_code code);

/* ---- child.c ---- */
typedef struct batch_task { /* the task of a child */
    const hdx_batch_options *options;
    const batch_dump        *dump;
    const char              *index_dir; /* of this dump; NULL: next to it */
    const char              *index;     /* for a dump that no longer exists: the index to use; otherwise NULL */
    /* hash of the file, computed by an earlier call when it had the same size and time */
    const char      *content;
    uint64_t         content_ms;
    bool             forecast; /* only estimate */
    bool             rebuild;  /* even if there is an index */
    const hdx_error *failure;  /* only write tables that report this failure; NULL: process the dump */
    unsigned         threads;
    uint64_t         memory;
} batch_task;
hdx_fleet_format hdx_batch_format_of(hdx_batch_tables tables); /* REQUIRES: there are tables */
typedef struct batch_child {
    pid_t pid;
    int   from; /* the read end of the pipe for its lines */
} batch_child;
hdx_code hdx_batch_child_start(const batch_task *task, const batch_child *others, size_t other_count, batch_child *out,
                               hdx_error *err);

/* ---- content.c ---- */
#define BATCH_CONTENT 41u   /* characters of a hash, including its NUL */
typedef struct batch_file { /* the file to which a name leads, and its state at that time */
    bool     known;         /* a regular file that did not change while it was read */
    uint64_t device, inode, size, mtime_ns;
} batch_file;
bool     hdx_batch_is_file(const batch_file *f, const struct stat *st);
uint64_t hdx_batch_mtime_ns(const struct stat *st);
/*
 * Computes a hash of every byte of a file, and identifies the file. Returns HDX_CANCELLED if the progress requests it.
 */
hdx_code hdx_batch_content(const char *path, const hdx_progress *progress, char out[BATCH_CONTENT], batch_file *file,
                           hdx_error *err);

/* ---- drop.c ---- */
/*
 * Renames dumps that a killed call had moved aside to delete them; with `look_only` they are only reported. `say`: one
 * line for each.
 */
void hdx_batch_restore_names(const char *folder, bool look_only, batch_say *say, void *context);

/* ---- summary.c ---- */
/* One dump of the batch. status: NULL if there is none yet. */
typedef struct batch_row {
    const batch_dump   *dump;
    const batch_status *status;
    unsigned            task;
} batch_row;
/* On failure *out is NULL. */
hdx_code hdx_batch_summary(const batch_row *at, size_t count, const hdx_batch_options *options,
                           const hdx_batch_counts *counts, double seconds, bool ended, hdx_rows **out, hdx_error *err);
#define HDX_BATCH_COLUMNS  23u
#define HDX_BATCH_DOCUMENT 1u
extern const hdx_column hdx_batch_columns[HDX_BATCH_COLUMNS];
extern const hdx_column hdx_batch_document[HDX_BATCH_DOCUMENT];

#endif
