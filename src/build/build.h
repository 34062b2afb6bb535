/*
 * build.h - from a dump to an index: the passes and what they hand to each other.
 *
 *   stripping.c      what is said of a dump that went through a stripping tool
 *   place.c          where an index lives; the lock, leftovers, staleness, the rename that makes it exist
 *   first_pass.c     the dump, read once: its tables
 *   scan.c           of that, what records say: addresses into a set, raw classes, roots, strings (survey of the hprof
 * room); scan_kept.c: kept where it is told to stop classes.c        raw classes and the ids in use become the table of
 * classes (MAT 1.3 to 1.8, rules R13 to R15) roots.c          roots, threads, locals (MAT 4) counts.c         objects
 * and bytes by class after the first pass alone: an answer without an index, or ahead of it columns.c        second
 * pass: id = rank; position, class, length, references of every object, into a file (spill.h) objects.c position,
 * class, length in the order of ids, references packed in memory; instances_wide.c: objects by class outbound.c the
 * packed references as an index file, and back inbound_wide.c   the same turned round search_wide.c    who lives,
 * nearest roots; dominators_wide.c; retained_wide.c; tree_wide.c: what dominates whom; live.c: what lives, by class
 *   passes.c         the order of the passes (passes.h: what they hand to each other)
 *   tape.c, spill.c  temporary files between passes
 *   checkpoint.c     what a build has done, kept for the next one if this one is killed; checkpoint_check.c,
 *                    checkpoint_values.c: is it what a build leaves
 *   kept.c           what a reading of the dump has done, kept where it is told to stop
 *   seal.c           are these the very files that a build of ours kept?
 *   seek.c           seek points of a compressed dump: windows beside memory, the index file of them
 *   forecast.c       what each pass will hold, and whether that fits the budget
 *   estimate.c       the same before anything is built, from a sample of the dump
 *   manifest.c       everything said once, and the catalog
 *   index.c          the conductor: order, workers, commit
 *
 * A pass reads columns and writes columns. Files named *_wide.c are compiled for 32- and 64-bit ids (algo/width.h).
 */
#ifndef HDX_BUILD_BUILD_H
#define HDX_BUILD_BUILD_H

#include "algo/algo.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "hprof/hprof.h"
#include "indexes/indexes.h"
#include "model/model.h"
#include "source/source.h"
#include "strip/strip.h"
#include <heapdex/index.h>

/* A string of the dump. */
typedef struct hdx_raw_string {
    uint64_t id;
    hdx_view bytes;
    hdx_text text; /* what it says (hdx_java_text); at NULL: nobody has asked yet; read and written as atomics */
} hdx_raw_string;

typedef struct hdx_raw_load {
    uint64_t addr, name;
    uint32_t serial;
    bool     again; /* one before it has the same address */
} hdx_raw_load;

/* What STACK_FRAMEs say, each thing once: HotSpot writes a record for each frame of each thread. */
typedef struct hdx_raw_frame {
    uint64_t method, signature, source;
    uint32_t serial;
    int32_t  line;
} hdx_raw_frame;

typedef struct hdx_frame_id {
    uint64_t id, place; /* in `frames` */
} hdx_frame_id;

typedef struct hdx_raw_trace {
    uint32_t serial, thread, count;
    uint64_t first; /* of its frame ids in `frame_ids` */
} hdx_raw_trace;

typedef struct hdx_raw_class {
    hdx_pos  pos;
    hdx_addr addr;
    hdx_view record; /* CLASS_DUMP, kept in the arena of the scan */
} hdx_raw_class;

typedef struct hdx_raw_root {
    hdx_pos  pos;
    hdx_addr addr;
    uint32_t serial;
    int32_t  frame;
    uint8_t  tag;
} hdx_raw_root;

/*
 * What the dump says of a root, and then in its place what that means: of half a million locals nothing is written
 * twice.
 */
typedef union hdx_scan_root {
    hdx_raw_root raw;
    hdx_root     root;
} hdx_scan_root;
_Static_assert(sizeof(hdx_scan_root) == sizeof(hdx_root), "an array of the one is an array of the other");

/* What instances and arrays say of a class id; no instances and no arrays: nothing. */
typedef struct hdx_class_use {
    hdx_addr addr;                        /* set where there are any */
    uint64_t instances, arrays, elements; /* elements: of object arrays, together */
    uint64_t array_bytes[2]; /* shallow sizes of those arrays with references of 4 and of 8 bytes, alignment 8 */
    hdx_pos  first_pos;      /* of the first instance in the file, */
    hdx_pos  other_pos;      /* of the first one that has not as many bytes as that; 0: they all have */
    hdx_pos  last_pos;       /* of the last instance in the file ... */
    uint32_t first_bytes;
    uint32_t last_bytes; /* ... and the bytes it has (MAT 1.6 sizes an unknown class by it) */
    uint32_t most_bytes; /* of any instance */
} hdx_class_use;

typedef struct hdx_heap_name {
    hdx_pos  pos;
    uint64_t name;
    uint32_t number;
} hdx_heap_name;

/* Everything the first pass leaves. Arrays are in file order once hdx_scan has returned. */
typedef struct hdx_scan_result {
    hdx_arena       arena;
    hdx_raw_string *strings;
    uint64_t        string_count, string_capacity;
    hdx_raw_load   *loads;
    uint64_t        load_count, load_capacity;
    hdx_raw_frame  *frames;
    uint64_t        frame_count, frame_capacity;
    hdx_map         frame_places; /* hash of a frame -> its place */
    hdx_frame_id   *named;
    uint64_t        named_count, named_capacity; /* frames by id */
    hdx_raw_trace  *traces;
    uint64_t        trace_count, trace_capacity;
    uint64_t       *frame_ids;
    uint64_t        frame_id_count, frame_id_capacity;
    hdx_raw_class  *classes;
    uint64_t        class_count, class_capacity;
    uint64_t        class_bytes; /* of their records */
    hdx_scan_root  *roots;
    uint64_t        root_count, root_capacity;
    hdx_class_use  *uses;
    uint64_t use_count, use_capacity; /* of loads[i] in place i, unless it is `again`; then of addresses without one */
    hdx_map  by_class;                /* class address -> place in `uses` */
    uint64_t mapped;                  /* loads that are in by_class */
    hdx_heap_name *heaps;
    uint64_t       heap_count, heap_capacity;
    uint64_t       primitive_arrays[16];   /* by element type */
    uint64_t       primitive_bytes[16][2]; /* as array_bytes */
    uint64_t       divisor;                /* of all differences between addresses, as far as it matters (MAT 2.2) */
    bool compressed; /* an object array lies in the room that its predecessor needs with 8-byte references (MAT 2.1) */
    hdx_pos *skipped;
    uint64_t skipped_count, skipped_capacity; /* records that are not kept (second ones of an id), ascending */
    hdx_map  by_string;                       /* string id -> place in strings */
    hdx_map  long_names; /* place in strings -> address of the hdx_text of its class name, in hdx_dump_tables.texts;
                            guarded by  hdx_work.lock */
    hdx_map long_sums;   /* place in strings -> sum */
} hdx_scan_result;

/*
 * Locals of threads: extra references of the thread's object (MAT 3.4), sorted by thread, then target, each pair once.
 */
typedef hdx_pair hdx_local; /* first: the thread, second: what it holds */

/* Android heaps in order of first use. */
#define HDX_HEAPS_MAX 255u

/*
 * Order of the classes' instance data: where the references are (offsets ascending), as far as the longest record of an
 * instance goes.
 */
typedef struct hdx_class_layout {
    uint64_t bytes; /* of all fields of the chain */
    uint64_t first; /* reference offsets in hdx_lookup.offsets */
    uint32_t references;
} hdx_class_layout;

/*
 * A file of the .part folder as a build left it, and all of them (seal.c). Written as they lie in memory: no padding.
 */
typedef struct hdx_sealed {
    char     name[32];
    uint64_t device, inode, size, mtime_ns, ctime_ns;
} hdx_sealed;

#define HDX_SEAL_FILES 40u
typedef struct hdx_seal {
    uint64_t   magic, version;
    char       boot[40];
    uint64_t   count;
    hdx_sealed files[HDX_SEAL_FILES];
    uint64_t   sum; /* CRC32C of all before it */
} hdx_seal;

/* Damage that passes find, from any thread; the survey has its own list. */
typedef struct hdx_damage_found {
    hdx_damage *list;
    uint64_t    count, capacity, more;
} hdx_damage_found;

/* What every pass works with, and none of it is a result: files, memory, threads, progress, and the list of damage. */
typedef struct hdx_work {
    const hdx_index_options *options;
    hdx_io                  *io;
    hdx_mem                  mem;
    hdx_ticker               tick;
    unsigned                 threads;
    char                     folder[4096]; /* the .part folder that files are written to */
    hdx_index_place          place;        /* the same, for index files */
    uint64_t                 room;         /* of hdx_build_doors */
    uint64_t                 objects;      /* ids, as far as they are known: what is usual to take follows from them */
    uint64_t         tables_bytes; /* held by what has been read, when that was last measured (hdx_work_measure) */
    pthread_mutex_t  lock;         /* guards damage */
    hdx_damage_found damage;
} hdx_work;

/* Windows of seek points, until the dump is read no more. */
typedef struct hdx_windows {
    hdx_io          *io;
    int              fd; /* -1: none */
    _Atomic uint64_t end;
} hdx_windows;

/* The dump, and what the first pass takes from it as it is. */
typedef struct hdx_dump {
    hdx_source     *source;
    hdx_stripping   stripping;
    hdx_survey      survey;
    hdx_scan_result scan;
    bool            counting; /* for counts: one pass, no addresses but those of classes */
    hdx_windows     windows;
} hdx_dump;

/* From what the dump calls things to ids and class numbers: for the second pass alone, and gone when it is done. */
typedef struct hdx_lookup {
    hdx_addresses *ids;
    hdx_map by_address; /* class address as the dump's objects say it -> class number, HDX_NO_CLASS: told of, but there
                           is none (hdx_class_at) */
    hdx_class_layout *layouts; /* by class number */
    uint32_t         *offsets;
    uint64_t          offset_count;
    uint32_t          primitive_class[16]; /* by element type */
    hdx_local        *locals;
    uint64_t          local_count, local_capacity;
    uint64_t          elements; /* of object arrays, together */
} hdx_lookup;

/*
 * What is read from the dump: the first pass makes these tables, the second adds the sizes of classes and takes the
 * look-ups away. All later passes read them.
 */
typedef struct hdx_dump_tables {
    uint64_t        objects;   /* ids */
    uint64_t        dump_size; /* uncompressed */
    hdx_class      *classes;   /* by class number */
    uint32_t        class_count;
    uint32_t        class_class;   /* number of java.lang.Class */
    uint32_t        loader_class;  /* of java.lang.ClassLoader */
    hdx_map         class_objects; /* id of a class object -> class number */
    hdx_sizing      sizing;
    hdx_root       *roots; /* in the order of the file, later by object; locals included */
    uint64_t        root_count, root_capacity, dangling_roots;
    hdx_thread     *threads;
    uint64_t        thread_count;
    hdx_heap_space *heaps;
    uint64_t        heap_count;
    hdx_arena       texts; /* names of classes, fields, methods */
    hdx_lookup      lookup;
} hdx_dump_tables;

/* What is kept for a build that goes on from this one, and what this one goes on from. */
typedef struct hdx_keeping {
    const hdx_manifest *of; /* names the dump: hdx_place_sample */
    uint64_t            begun_cpu;
    bool                checkpointed; /* there is a checkpoint in the folder */
    bool                kept_scan,
        kept_columns;       /* there are such files (kept.h) in the folder: to go on from, or written by this build */
    uint32_t kept_scan_sum; /* which one it is */
    hdx_seal seal;          /* of what there is to go on from; count 0: none */
    bool     sealed;        /* all that this build goes on from is as the seal says */
    bool     unproven;      /* it goes on from files that nobody has read through yet: not to be sealed */
    bool     every_step;    /* of hdx_build_doors */
    uint64_t saved_at,
        saving_ns; /* when the last checkpoint stood (at first: when the build began), and what it took */
} hdx_keeping;

/* What the functions of the first pass get: they read the dump, fill the tables, and keep what they did if told to. */
typedef struct hdx_reading {
    hdx_work        *w;
    hdx_keeping     *keeping;
    hdx_dump        *dump;
    hdx_dump_tables *t;
} hdx_reading;

typedef struct hdx_build {
    hdx_work        work;
    hdx_dump        dump;
    hdx_dump_tables tables;
    hdx_keeping     keeping;
    hdx_manifest    manifest; /* what the index will say of itself */
    hdx_catalog *resumed; /* of the checkpoint this build goes on from: classes and threads point into it; NULL: none */
    hdx_catalog_writer *catalog; /* of the index, with all but the manifest; NULL: not begun */
    uint64_t            step_wall, step_cpu;
} hdx_build;

static inline hdx_reading hdx_reading_of(hdx_build *b)
{
    return (hdx_reading){ &b->work, &b->keeping, &b->dump, &b->tables };
}

#define HDX_CLASSES_CACHED 4096u /* what is kept of more classes than these is waited for, and asked for ahead */
static inline uint32_t hdx_class_at(const hdx_dump_tables *t, hdx_addr address) /* its number; HDX_NO_CLASS */
{
    const uint64_t *number = hdx_map_get(&t->lookup.by_address, address);
    return number == NULL ? HDX_NO_CLASS : (uint32_t)*number;
}

/* ---- first_pass.c ---- */
hdx_code hdx_first_pass(const hdx_reading *in, hdx_error *err);

/* ---- scan.c ---- */
/* With `counting`, ids holds classes alone when it is over, and roots, frames and traces are left out. */
hdx_code hdx_scan(const hdx_reading *in, hdx_error *err);
void     hdx_scan_free(hdx_mem *mem, hdx_scan_result *r);
void     hdx_scan_frames_free(hdx_mem *mem, hdx_scan_result *r);  /* of it frames and traces */
void     hdx_scan_classes_free(hdx_mem *mem, hdx_scan_result *r); /* of it class records (but their number) and uses */
bool     hdx_scan_string(const hdx_reading *in, uint64_t id, hdx_view *bytes);
/*
 * The string as text, decoded once however many name it, into the arena of whoever asks first; at NULL: not in the
 * dump. False: no memory. Any thread.
 */
bool hdx_scan_text(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out);
/*
 * The string as the name of a class, into the arena; a long one once, however many classes have it. At NULL: not in the
 * dump. False: no memory. Any thread.
 */
bool hdx_scan_class_name(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out);
#define HDX_NAME_LONG 256u
/* A sum of a long string, reckoned once; one thread. */
uint64_t hdx_scan_string_sum(const hdx_reading *in, uint64_t id);

/* ---- seek.c ---- */
/* From here on windows of seek points go to a temporary file; a plain dump has none. */
hdx_code hdx_seek_begin(const hdx_work *w, hdx_dump *dump, hdx_error *err);
/* After the first pass, once the identity is known: the index file. The points serve the second pass. */
hdx_code hdx_seek_keep(const hdx_work *w, const hdx_dump *dump, uint64_t dump_size, hdx_index_file *out,
                       hdx_error *err);
void     hdx_seek_end(hdx_dump *dump); /* when nothing reads the dump any more */

/* ---- stripping.c ---- */
/* After the first pass: warnings and damage that only the reading of a stripped dump knows of. */
hdx_code hdx_build_stripping(const hdx_reading *in, hdx_error *err);

/* ---- classes.c ---- */
/* Makes the table; adds invented classes and object 0 to the ids and freezes them. */
hdx_code hdx_classes_resolve(const hdx_reading *in, hdx_error *err);
/* The map class_objects, from the ids in classes. */
hdx_code hdx_classes_find_objects(hdx_dump_tables *t, hdx_error *err);
/* After the second pass has told the reference size: sizes of all classes. */
hdx_code hdx_classes_size(hdx_work *w, hdx_dump_tables *t, hdx_error *err);
/*
 * Where the first instance is that has not the bytes its class says (R17), + 1; 0: all fit. Known after the first pass.
 */
hdx_pos hdx_class_misfit(const hdx_dump_tables *t, const hdx_class_use *use);
/* The most references all objects together can have: for the choice of the width. */
uint64_t hdx_classes_reference_bound(const hdx_dump_tables *t);

/* ---- roots.c ---- */
hdx_code hdx_roots_resolve(const hdx_reading *in, hdx_error *err);

/* ---- forecast.c ---- */
typedef enum hdx_forecast_pass {
    HDX_FORECAST_SCAN,
    HDX_FORECAST_COLUMNS,
    HDX_FORECAST_OBJECTS,
    HDX_FORECAST_REFERENCES,
    HDX_FORECAST_DOMINATORS,
    HDX_FORECAST_RETAINED
} hdx_forecast_pass;
/* Resident bytes of a pass at ids of `width` bits: `least` in its smallest form, else as it is without a budget. */
uint64_t hdx_forecast(const hdx_work *w, const hdx_dump_tables *t, hdx_forecast_pass pass, unsigned width,
                      uint64_t references, bool least);
/* Bytes of all lists packed (algo/packed.h). */
uint64_t hdx_build_packed(const hdx_dump_tables *t, uint64_t references);
/* HDX_LIMIT, naming a budget that would do, when one of the passes from `first` on cannot fit options.memory.
   references 0: not known yet; then only what is certain refuses, and the budget named is enough for the most there can
   be. */
hdx_code hdx_forecast_check(const hdx_work *w, const hdx_dump_tables *t, uint64_t references, hdx_forecast_pass first,
                            hdx_step until, unsigned width, hdx_error *err);
/* Before the searches, when it is known how many parents they find: HDX_LIMIT as above. */
hdx_code hdx_forecast_search(const hdx_work *w, unsigned width, uint64_t parents, hdx_error *err);
/* Before the dump is read: HDX_LIMIT for a budget that not even an empty one would fit. */
/*
 * Of a build that takes so long up to the step objects, and for that: is the spill file still there when later files
 * are written? (estimate.c)
 */
bool     hdx_forecast_spill_stays(uint64_t read_ns, uint64_t objects_ns);
hdx_code hdx_forecast_begin(const hdx_work *w, const hdx_dump_tables *t, hdx_error *err);
/* Bytes that a pass may still take for what it can hold in ranges. */
uint64_t hdx_build_room(const hdx_work *w);
/* So much is held by what has been read, and there are so many objects: room is reckoned from here on by that. */
void hdx_work_measure(hdx_work *w, uint64_t objects);
/* Is there room for so many bytes beside the searches? */
bool hdx_build_beside(const hdx_work *w, unsigned width, uint64_t bytes);
#define HDX_BUILD_READY                                                                                                \
    (32ull << 20) /* made ready before it is known what is needed: a quarter of the file, and not more */
#define HDX_BUILD_WORKER                                                                                               \
    (6ull << 20) /* a worker's slice of the dump, its pages being packed, its share of references */
#define HDX_BUILD_BESIDE                                                                                               \
    (32ull << 20) /* what a build has beside hdx_work.mem: code, stacks, small tables, mapped pages of files */

/* ---- estimate.c ---- */
/* hdx_index_estimate with a sample of about so many bytes of heap records (tests). */
hdx_code hdx_index_estimate_from(const hdx_index_options *options, uint64_t sample_bytes, hdx_index_forecast *out,
                                 hdx_error *err);

/* ---- tape.c ---- */
typedef struct hdx_tape_file {
    hdx_tape tape; /* what the searches of algo see */
    hdx_io  *io;
    int      fd; /* below 0: in memory, or closed */
    hdx_mem *mem;
    uint8_t *memory;
    uint64_t memory_bytes, most; /* it has; it may have */
    uint64_t end;
    uint32_t sum; /* CRC32C of what was put front to back */
    char     path[4200];
} hdx_tape_file; /* stays where it was opened: the tape points into it */
hdx_code hdx_tape_file_open(hdx_work *w, const char *name, hdx_tape_file *t, hdx_error *err);
/* In memory up to `most` bytes where that leaves room for what is held beside it. */
hdx_code hdx_tape_open(hdx_work *w, const char *name, uint64_t most, uint64_t beside, hdx_tape_file *t, hdx_error *err);
bool     hdx_tape_trim(hdx_tape_file *t); /* written whole: memory behind its end goes back */
hdx_code hdx_tape_keep(hdx_tape_file *t,
                       hdx_error     *err); /* into its file, where it is not there yet: a checkpoint has it */
/* One that is there, to be read; its end is for the caller to say. */
hdx_code hdx_tape_file_reopen(hdx_work *w, const char *name, hdx_tape_file *t, hdx_error *err);
hdx_code hdx_tape_file_change(hdx_work *w, const char *name, hdx_tape_file *t,
                              hdx_error *err);   /* likewise, to be written on, too */
void     hdx_tape_file_close(hdx_tape_file *t);  /* the file stays; all zero: nothing */
void     hdx_tape_file_remove(hdx_tape_file *t); /* it has served */

/* ---- passes.c ---- */
/*
 * Second pass and everything behind it, with ids of 32 or 64 bits; writes the index files of the steps that
 * options.until allows.
 */
hdx_code hdx_passes(hdx_build *b, unsigned width, hdx_error *err);
/* Goes on behind the last finished step of a build that was killed or interrupted, in b->work.folder. HDX_NOT_FOUND: it
   cannot, b is to be thrown away and the build to be begun anew. */
hdx_code hdx_passes_resume(hdx_build *b, hdx_error *err);

/* ---- manifest.c ---- */
void hdx_manifest_file_written(hdx_build *b, hdx_kind kind, const hdx_index_file *file);
/* Keys and values of its files are counted by these; what a later step counts is 0 till then. */
hdx_amounts hdx_build_amounts(const hdx_build *b);
/* A file written before, as the table of kinds says; hdx_index_close takes it back. */
hdx_code hdx_build_file_open(const hdx_build *b, hdx_kind kind, hdx_damage_note *note, void **out, hdx_error *err);
void     hdx_manifest_step_begin(hdx_build *b, const char *name, uint64_t total, const char *unit);
void     hdx_manifest_step_end(hdx_build *b);
void     hdx_build_identity(hdx_build *b);
/* What the two readings of the dump have told, into the manifest; they are not needed any more. */
hdx_code hdx_build_dump_read(hdx_build *b, hdx_error *err);
void     hdx_build_sort_roots(hdx_work *w, hdx_dump_tables *t); /* by object, as the catalog has them */
/*
 * Classes, roots, threads and heaps, once live objects are counted: any time before the rest, which begins it where
 * nobody did.
 */
hdx_code hdx_build_catalog_begin(hdx_build *b, hdx_error *err);
hdx_code hdx_build_catalog(hdx_build *b, hdx_error *err);
/* All that was found so far, in the order of the file, into the manifest; hdx_build_damage_free gives it back. */
hdx_code hdx_build_damage_gather(hdx_build *b, hdx_error *err);
void     hdx_build_damage_free(hdx_build *b);
/* Adds a damage entry; thread-safe. */
hdx_code hdx_build_damage(hdx_work *w, hdx_damage_kind kind, hdx_pos pos, const char *record, uint64_t lost,
                          hdx_error *err, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* ---- place.c ---- */
typedef struct hdx_index_home {
    char       path[4096]; /* the index folder */
    char       part[4096];
    char       lock[4096];
    int        lock_fd;     /* -1: not held */
    int        why_not;     /* errno, where nothing can be locked there */
    char       record[512]; /* what the lock says of us */
    hdx_access access;      /* of the dump: what the index gets */
} hdx_index_home;
typedef enum hdx_index_state { HDX_INDEX_ABSENT, HDX_INDEX_VALID, HDX_INDEX_STALE, HDX_INDEX_OLD } hdx_index_state;

/* Is this path an index folder (has a catalog)? */
bool hdx_place_is_index(hdx_io *io, const char *path);
/* Where the index of a dump is, or is to be. */
hdx_code hdx_place_find(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
/* Looks at an index without trusting it; *catalog stays open for the caller when VALID. HDX_DAMAGED as it is. */
hdx_code hdx_place_state(hdx_io *io, const hdx_index_home *home, const hdx_index_options *options,
                         hdx_index_state *state, hdx_catalog **catalog, hdx_error *err);
/* ---- lock.c ---- */
/* HDX_OK with lock_fd -1: nothing can be locked there. */
hdx_code hdx_place_lock(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err);
bool     hdx_place_held(const hdx_index_home *home);                       /* the lock is ours, and still says so */
hdx_code hdx_place_still_held(const hdx_index_home *home, hdx_error *err); /* the same; HDX_BUSY, naming who took it */
void     hdx_place_unlock(hdx_index_home *home);
bool     hdx_lock_boot(char boot[40]); /* the rest zero; false: the system does not say */

/* ---- place.c, building ---- */
/* An empty .part folder; falls back to the cache folder where the place beside the dump cannot be written. With
   `resume`, a .part folder with a checkpoint stays as it is: *found. */
hdx_code hdx_place_begin(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, bool resume, bool *found,
                         hdx_error *err);
hdx_code hdx_place_commit(hdx_io *io, hdx_index_home *home, const hdx_manifest *m, hdx_error *err);
/* The dump was closed to some who could read it when its index was made: so is the index, if it is ours. */
void hdx_place_narrow(hdx_io *io, const hdx_index_home *home);
void hdx_place_abandon(hdx_io *io, hdx_index_home *home);
/* An error where it belongs to another user. */
hdx_code hdx_place_foreign(const char *path, hdx_error *err);
/* Removes a .part folder, or whatever has its name; nothing there: 0. */
int hdx_place_clear(hdx_io *io, const char *path);
/* Size, time and sampled content of a file, for telling whether a dump changed. */
hdx_code hdx_place_sample(hdx_io *io, const char *path, hdx_manifest *m, hdx_error *err);
/* HDX_BAD_DUMP when the file is not what it was when it was sampled: somebody is still writing it. */
hdx_code hdx_place_unchanged(hdx_io *io, const char *path, const hdx_manifest *m, hdx_error *err);

/* ---- counts.c ---- */
/*
 * options.first_pass is told, if the sizes are exact by now and nothing is odd: what the second pass finds would be
 * missing.
 */
hdx_code hdx_counts_tell(hdx_build *b, hdx_error *err);

/* ---- index.c ---- */
/* hdx_index_build through other doors (tests): refuse as in hdx_mem, NULL for none. */
typedef struct hdx_build_doors {
    hdx_io *io;
    bool (*refuse)(void *context, uint64_t bytes);
    void    *context;
    uint64_t room;       /* what hdx_build_room says, however much there is; 0: the truth */
    bool     every_step; /* a checkpoint after each, however short it was */
} hdx_build_doors;
typedef enum hdx_build_purpose { HDX_FOR_INDEX, HDX_FOR_COUNTS, HDX_FOR_FORECAST } hdx_build_purpose;
/* A build with its dump open and nothing done. NULL on failure. */
hdx_build *hdx_build_open(const hdx_build_doors *doors, const hdx_index_options *options, hdx_build_purpose purpose,
                          hdx_error *err);
void       hdx_build_close(hdx_build *b);
hdx_code   hdx_index_build_through(const hdx_build_doors *doors, const hdx_index_options *options,
                                   hdx_index_report *report, hdx_error *err);

#endif
