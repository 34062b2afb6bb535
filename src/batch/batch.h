/*
 * batch.h - a night of dumps on one machine. The room's public face is <heapdex/batch.h>.
 *
 *   run.c        the parent: an event loop over children, one for each dump at work (run.h)
 *   before.c     what comes before: folders, dumps, tasks, what was done earlier, order
 *   job.c        what becomes of one dump: lines of its child, its end, its status
 *   plan.c       pure: which dump is next, with how many threads and how much memory; how dumps are dealt to tasks
 *   inputs.c     what was named -> dumps with ids; manifest.c: manifests of CSV and JSONL
 *   status.c     OUT/status/ID.json, and what it says of an earlier attempt
 *   drop.c       deleting a dump (--drop-dump), so that no other file is lost that has its name by then
 *   claim.c      OUT/claims/ID: no two runners are at work on one dump
 *   child.c      the work on one dump, in a process of its own; what it says goes through a pipe
 *   forecast.c   OUT/plan.jsonl: forecasts that are kept; OUT/deal-M.jsonl: which task has which dump
 *   summary.c    a row for each dump
 *   flat.c       writing flat JSON objects: pipe, manifest, status and plan are all made of them
 *
 *     dump -> forecast (child) -> order -> claim -> child: index, answers, tables -> status, claim given back
 *
 * Invariants, asserted in debug builds:
 *
 *   B1  Who works on a dump holds its claim, from before its status says "running" until it says how it ended.
 *   B2  Threads and memory given to children at work never add up to more than there is.
 *   B3  A file in OUT is there whole or not at all.
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
/* Writing one: batch_put_... between "{" and hdx_batch_put_end. NULL text is null. */
void hdx_batch_put_text(hdx_buffer *b, const char *key, const char *value);
void hdx_batch_put_number(hdx_buffer *b, const char *key, uint64_t value);
void hdx_batch_put_real(hdx_buffer *b, const char *key, double value);
void hdx_batch_put_bool(hdx_buffer *b, const char *key, bool value);
void hdx_batch_put_end(hdx_buffer *b); /* "}" and the end of the line */

/* ---- inputs.c ---- */
typedef struct batch_dump {
    const char    *id;     /* a name for files: letters, digits, . _ - */
    const char    *path;   /* as it was named, or found */
    const char    *whole;  /* from the root of the file system on */
    hdx_flat_pair *fields; /* of the manifest but `dump` and `dump_id`, those that say something; NULL: it is in none */
    size_t         field_count;
} batch_dump;
typedef HDX_LIST(batch_dump) batch_dumps;
typedef void                 batch_say(void *context, const char *line);
/* All dumps that the inputs name, each once, in the order of their paths. */
hdx_code    hdx_batch_inputs(const hdx_batch_options *options, hdx_arena *arena, batch_dumps *out, batch_say *say,
                             void *context, hdx_error *err);
const char *hdx_batch_field(const batch_dump *d, const char *name); /* NULL: it has none */
bool        hdx_batch_is_id(const char *text);
/* "app.hprof.gz", "/dumps/app.hprof.gz" -> "app-3f1c09aa" */
const char *hdx_batch_id_of(hdx_arena *arena, const char *path, const char *whole);

/* ---- manifest.c ---- */
#define BATCH_MOST_MANIFEST (256ull << 20)
#define BATCH_MOST_LINE     (1u << 20)
#define BATCH_MOST_COLUMNS  512u
#define BATCH_MOST_FIELDS   (4u << 20) /* of all dumps together */
typedef hdx_code batch_take(void *context, const hdx_flat *row, uint64_t line, hdx_error *err);
/* Rows one by one; what they point to comes from the arena, which is emptied behind each. `name` for messages. */
hdx_code hdx_batch_manifest_csv(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                void *context, hdx_error *err);
hdx_code hdx_batch_manifest_jsonl(const char *name, const char *text, size_t len, hdx_arena *arena, batch_take *take,
                                  void *context, hdx_error *err);

/* ---- plan.c ---- */
#define BATCH_THREAD_BYTES (8ull << 20) /* that a build takes for each thread behind the first (reading/work.h) */
typedef struct batch_want {             /* a dump that is to be worked on */
    uint64_t memory, least;             /* with one thread */
    uint64_t disk, disk_free;           /* bytes that its files take while it is at work; that are there for it */
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
    size_t    place; /* among the waiting ones */
    unsigned  threads;
    uint64_t  memory;
} batch_choice;
/*
 * The next of `waiting` (in their order; orders[i] as in batch_running) to start, or one that never can (BATCH_NEVER_),
 * or BATCH_WAITS: none before another has ended.
 */
batch_choice hdx_batch_plan_next(const batch_room *room, const batch_want *waiting, const size_t *orders, size_t count,
                                 const batch_running *running, size_t running_count);
typedef struct batch_weight {
    const char *id;
    double      seconds;
    size_t      place; /* of the caller's */
    unsigned    task;
} batch_weight;
/* Largest first; the same whatever the order they come in. */
void hdx_batch_plan_order(batch_weight *at, size_t count);
/* Sets `task` of each: the next largest goes to the task that has least by then. Changes the order. */
void hdx_batch_plan_deal(batch_weight *at, size_t count, unsigned tasks);
/* The task of a dump that was not there when the others were dealt. */
unsigned hdx_batch_plan_late(const char *id, unsigned tasks);

/* ---- forecast.c ---- */
typedef struct batch_forecast {      /* all zero: not known */
    bool        indexed;             /* a valid index is there: nothing is to be built */
    uint64_t    file_size, mtime_ns; /* of the dump that it is of */
    uint64_t    memory, least;       /* bytes: as it likes, and a budget that would do */
    uint64_t    disk, temporary;
    uint64_t    objects;
    double      seconds;
    const char *steps; /* "scan 1.5, columns 3.2": seconds of each */
} batch_forecast;
/* Of a dump that could not be forecast, by the size of its file; what is wrong with it its build will say. */
batch_forecast hdx_batch_forecast_guess(const char *path, uint64_t file_size);
/* Of one step; 0: not known. */
double hdx_batch_forecast_step(const batch_forecast *f, const char *step);
void   hdx_batch_forecast_put(hdx_buffer *b, const batch_forecast *f);
bool   hdx_batch_forecast_take(const hdx_flat *flat, hdx_arena *arena, batch_forecast *out);
/* OUT/plan.jsonl: a line for each forecast, under its dump_id. */
typedef struct batch_kept {
    const char    *id;
    batch_forecast forecast;
} batch_kept;
typedef HDX_LIST(batch_kept) batch_kept_list;
/* What is there; a line that is none is left out. */
hdx_code hdx_batch_plan_read(const char *out, hdx_arena *arena, batch_kept_list *list, hdx_error *err);
hdx_code hdx_batch_plan_write(const char *out, const batch_kept_list *list, const hdx_access *like, hdx_error *err);
/*
 * OUT/deal-M.jsonl: which of `tasks` has which dump, decided once by whoever is first; sets `task` of each, in the
 * order in which they come.
 */
hdx_code hdx_batch_deal(const char *out, batch_weight *at, size_t count, unsigned tasks, const hdx_access *like,
                        hdx_arena *arena, hdx_error *err);

/* ---- claim.c ---- */
#define BATCH_CLAIM_BEAT_S  10u  /* a claim at work is touched that often */
#define BATCH_CLAIM_STALE_S 600u /* one of another host that was not for so long is nobody's */
typedef struct batch_claim {
    char path[4200];
    char record[HDX_OWNER_RECORD];
    int  fd; /* -1: not ours */
} batch_claim;
/* HDX_BUSY: another has it, the message says who. */
hdx_code hdx_batch_claim_take(batch_claim *c, const char *out, const char *id, hdx_error *err);
bool     hdx_batch_claim_is_ours(const batch_claim *c);
void     hdx_batch_claim_beat(const batch_claim *c);
void     hdx_batch_claim_give(batch_claim *c);
/* Of a dump that is done: its runner was killed before it gave the claim back. One that is held stays. */
void hdx_batch_claim_clear(const char *out, const char *id);
bool hdx_batch_claim_is_held(const char *out, const char *id); /* by anybody alive */

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

typedef struct batch_status { /* what is known of one dump; texts are the arena's */
    batch_state state;
    const char *dump;      /* of which it was written, from the root of the file system on */
    int         exit_code; /* 128 + n: signal n ended its process */
    const char *kind;      /* of a failure: hdx_code_name, or "killed" */
    const char *error, *hint;
    uint64_t    damage_places;
    const char *damage;        /* the first one */
    const char *step;          /* of the build, the last that began; NULL: none */
    unsigned    step_attempts; /* how often it was begun in a row */
    double      step_forecast; /* seconds; 0: not known */
    double      seconds, cpu_seconds, forecast_seconds;
    uint64_t    peak_memory, memory, forecast_memory, least_memory, forecast_disk;
    unsigned    threads;
    uint64_t    file_size, mtime_ns; /* of the dump */
    const char *content;             /* a sum of all its bytes, taken before it was indexed; NULL: none was asked for */
    uint64_t    content_ms;          /* when that was, since 1970 */
    uint64_t    objects, live_objects, references, index_bytes;
    const char *index; /* its folder, likewise */
    bool        reused, dropped;
    const char
        *not_dropped; /* why the dump was not deleted, though --drop-dump asked for it; NULL: it was, or need not */
    const char *asked, *tables;
    uint64_t    ended_ms; /* since 1970 */
    const char *manifest; /* what it said of the dump, of a status that was read: an object of JSON */
} batch_status;
/* Whole or not at all, readable as `like` says (NULL: as the umask says); `keep`: to disk before it gets its name. */
hdx_code hdx_batch_file_write(const char *path, const void *bytes, uint64_t len, const hdx_access *like, bool keep,
                              hdx_error *err);
/*
 * Removes temporary files of killed processes from a folder: those that nobody has locked, where locks reach all hosts,
 * and those not written to since `before`; NULL: all.
 */
void hdx_batch_clear_temporary(const char *folder, const struct timespec *before);
/* Rows as the document that --format json prints; who may read them says `like` (NULL: the umask). */
hdx_code hdx_batch_rows_write(const char *path, hdx_rows *rows, const hdx_access *like, hdx_error *err);
/* All of a small file; NULL: it cannot be read, or is larger. */
char *hdx_batch_file_read(hdx_arena *arena, const char *path, uint64_t most, size_t *len);
/* Who may read the dump; of one that was deleted, its index. False: there is neither, and nothing private to tell. */
bool     hdx_batch_access_of(const batch_dump *d, const batch_status *s, hdx_access *like);
hdx_code hdx_batch_status_write(const char *out, const batch_dump *d, const batch_status *s, bool keep, hdx_error *err);
bool     hdx_batch_status_has_fields(const batch_status *s, const batch_dump *d); /* those of the manifest */
bool     hdx_batch_status_read(const char *out, const char *id, hdx_arena *arena, batch_status *s);
int      hdx_batch_exit_code(hdx_code code);

/* ---- child.c ---- */
typedef struct batch_task { /* what a child is told */
    const hdx_batch_options *options;
    const batch_dump        *dump;
    const char              *index_dir; /* of this dump; NULL: beside it */
    const char              *index;     /* of a dump that is not there any more: all that is asked; or NULL */
    const char              *content;   /* of the file, taken by an earlier call when it had the same size and time */
    uint64_t                 content_ms;
    bool                     forecast; /* only how large it is */
    bool                     rebuild;  /* also where an index is there */
    const hdx_error         *failure;  /* only tables that say this; NULL: the work */
    unsigned                 threads;
    uint64_t                 memory;
} batch_task;
hdx_fleet_format hdx_batch_format_of(hdx_batch_tables tables); /* of tables that there are */
typedef struct batch_child {
    pid_t pid;
    int   from; /* the end of the pipe that its lines come out of */
} batch_child;
hdx_code hdx_batch_child_start(const batch_task *task, const batch_child *others, size_t other_count, batch_child *out,
                               hdx_error *err);

/* ---- content.c ---- */
#define BATCH_CONTENT 41u   /* characters of a sum, its NUL included */
typedef struct batch_file { /* which file a name leads to, and as it was at that time */
    bool     known;         /* a regular file, which did not change while it was read */
    uint64_t device, inode, size, mtime_ns;
} batch_file;
bool     hdx_batch_is_file(const batch_file *f, const struct stat *st);
uint64_t hdx_batch_mtime_ns(const struct stat *st);
/* A sum of every byte of a file, and which file that was. HDX_CANCELLED when the progress says so. */
hdx_code hdx_batch_content(const char *path, const hdx_progress *progress, char out[BATCH_CONTENT], batch_file *file,
                           hdx_error *err);

/* ---- drop.c ---- */
/*
 * Dumps of a folder that a killed call moved aside to delete them get their names back; with `look_only` they are only
 * named. `say`: a line for each.
 */
void hdx_batch_restore_names(const char *folder, bool look_only, batch_say *say, void *context);

/* ---- summary.c ---- */
/* One dump of the batch, as far as it is known. */
typedef struct batch_row {
    const batch_dump   *dump;
    const batch_status *status;
    unsigned            task;
} batch_row;
/* *out NULL on failure. */
hdx_code hdx_batch_summary(const batch_row *at, size_t count, const hdx_batch_options *options,
                           const hdx_batch_counts *counts, double seconds, bool ended, hdx_rows **out, hdx_error *err);
#define HDX_BATCH_COLUMNS  23u
#define HDX_BATCH_DOCUMENT 1u
extern const hdx_column hdx_batch_columns[HDX_BATCH_COLUMNS];
extern const hdx_column hdx_batch_document[HDX_BATCH_DOCUMENT];

#endif
