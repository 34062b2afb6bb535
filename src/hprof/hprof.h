/*
 * hprof.h - the grammar of heap dumps: converts the bytes of a source to batches of events. It knows tags, lengths,
 * versions and the handling of damage (rules R1 to R12, R16, R20 of HPROF 9), but not ids, reachability or sizes.
 *
 * A dump is read in two walks. hdx_hprof_survey reads the whole file once: on several threads if record headers form a
 * sound chain and the source is plain; otherwise, or if any thread finds an anomaly, from the start on one thread with
 * all rules. It passes every top-level record and every sub-record of the chosen dump to the sink and returns a list of
 * *stretches*: runs of whole sub-records of at most some MiB, so that hdx_hprof_walk can read the same sub-records
 * again, on all threads, without applying rules.
 *
 *     hdx_survey survey;
 *     hdx_hprof_survey(source, &options, &sink, &survey, err);      addresses, classes, roots, strings
 *     hdx_hprof_walk(source, &survey, threads, &visitor, NULL, mem, tick, err);  bodies
 */
#ifndef HDX_HPROF_HPROF_H
#define HDX_HPROF_HPROF_H

#include "base/base.h"
#include "source/source.h"

enum { /* top-level tags */
       HDX_TOP_STRING = 0x01,
       HDX_TOP_LOAD_CLASS = 0x02,
       HDX_TOP_UNLOAD_CLASS = 0x03,
       HDX_TOP_FRAME = 0x04,
       HDX_TOP_TRACE = 0x05,
       HDX_TOP_ALLOC_SITES = 0x06,
       HDX_TOP_HEAP_SUMMARY = 0x07,
       HDX_TOP_START_THREAD = 0x0A,
       HDX_TOP_END_THREAD = 0x0B,
       HDX_TOP_HEAP_DUMP = 0x0C,
       HDX_TOP_CPU_SAMPLES = 0x0D,
       HDX_TOP_CONTROL_SETTINGS = 0x0E,
       HDX_TOP_FLAT_ARRAYS = 0x12,    /* of the Valhalla JVM, like the next one */
       HDX_TOP_INLINED_FIELDS = 0x13, /* its fields are also in CLASS_DUMP, so it is ignored */
       HDX_TOP_HEAP_DUMP_SEGMENT = 0x1C,
       HDX_TOP_HEAP_DUMP_END = 0x2C
};
enum { /* heap sub-record tags */
       HDX_SUB_ROOT_JNI_GLOBAL = 0x01,
       HDX_SUB_ROOT_JNI_LOCAL = 0x02,
       HDX_SUB_ROOT_JAVA_FRAME = 0x03,
       HDX_SUB_ROOT_NATIVE_STACK = 0x04,
       HDX_SUB_ROOT_STICKY_CLASS = 0x05,
       HDX_SUB_ROOT_THREAD_BLOCK = 0x06,
       HDX_SUB_ROOT_MONITOR_USED = 0x07,
       HDX_SUB_ROOT_THREAD_OBJECT = 0x08,
       HDX_SUB_CLASS = 0x20,
       HDX_SUB_INSTANCE = 0x21,
       HDX_SUB_OBJECT_ARRAY = 0x22,
       HDX_SUB_PRIMITIVE_ARRAY = 0x23,
       HDX_SUB_ROOT_INTERNED_STRING = 0x89,
       HDX_SUB_ROOT_FINALIZING = 0x8A,
       HDX_SUB_ROOT_DEBUGGER = 0x8B,
       HDX_SUB_ROOT_REFERENCE_CLEANUP = 0x8C,
       HDX_SUB_ROOT_VM_INTERNAL = 0x8D,
       HDX_SUB_ROOT_JNI_MONITOR = 0x8E,
       HDX_SUB_UNREACHABLE = 0x90,
       HDX_SUB_PRIMITIVE_ARRAY_NODATA = 0xC3,
       HDX_SUB_HEAP_DUMP_INFO = 0xFE,
       HDX_SUB_ROOT_UNKNOWN = 0xFF
};
const char *hdx_top_name(uint8_t tag); /* "STRING_IN_UTF8" ... as in HPROF 2; NULL for an unknown tag */
uint32_t    hdx_sub_root_size(uint8_t tag, uint32_t id_size); /* bytes after the tag; 0: not a root */
const char *hdx_sub_name(uint8_t tag);                        /* "INSTANCE_DUMP" ..., section 3 */

typedef struct hdx_hprof_head {
    char     version[8]; /* "1.0.2" */
    uint32_t id_size;
    uint64_t time_ms;
    uint64_t size;    /* of the header: position of the first record */
    bool     android; /* version 1.0.3 */
} hdx_hprof_head;

/* Reads the file header. Returns HDX_BAD_DUMP (R1, R2) with a hint about what the file is. */
hdx_code hdx_head_read(hdx_source *source, hdx_hprof_head *out, hdx_error *err);

/* A sub-record. The meaning of some members depends on the tag: */
typedef struct hdx_event {
    hdx_pos  pos;  /* of the tag byte */
    hdx_addr addr; /* object (also class object, root's object); HEAP_DUMP_INFO: id of the heap's name */
    /* instance: its class; object array: array class; JNI_GLOBAL: id of the JNI reference; otherwise 0 */
    hdx_addr class_addr;
    /* CLASS_DUMP: the whole record from the tag on; only in walks: instance bytes, elements; otherwise NULL */
    const uint8_t *body;
    /* arrays: elements; instance: bytes of fields as stated in the record; HEAP_DUMP_INFO: heap number */
    uint32_t count;
    uint32_t body_len;  /* bytes at `body` (CLASS_DUMP: all; others: see hdx_hprof_walk) */
    uint32_t body_from; /* part of an object array: index of the first element in body; otherwise 0 */
    uint32_t heap;      /* current Android heap number (objects), 0: none */
    uint32_t serial;    /* roots: thread serial; 0 if the tag has none */
    int32_t  frame;     /* roots: frame number; THREAD_OBJECT: trace serial; -1: none */
    uint8_t  tag;       /* HDX_SUB_... */
    uint8_t  type;      /* primitive arrays: element type */
} hdx_event;

/*
 * A sub-record of FLAT_ARRAYS: tag 1, id of the array, which the dump contains as byte[], id of the class of its
 * elements.
 */
#define HDX_FLAT_ARRAY 0x01u

/* A top-level record, except for those of heaps. */
typedef struct hdx_top {
    hdx_pos  pos;
    uint8_t  tag;
    uint64_t id;          /* string: id; load: class object; frame: frame id */
    uint64_t name;        /* load: name id; frame: method name id */
    uint64_t signature;   /* frame */
    uint64_t source_file; /* frame */
    uint32_t serial;      /* load, unload: class serial; frame: class serial; trace: trace serial */
    uint32_t thread;      /* trace: thread serial */
    int32_t  line;        /* frame */
    uint32_t count;       /* trace: frames; flat arrays: sub-records */
    /* string: its bytes; trace: frame ids (count * id_size bytes, big-endian); flat arrays: count sub-records */
    hdx_view body;
} hdx_top;

/*
 * Receiver of a survey. `heap` may be called from several threads at once, each with its own worker number (0 ..
 * threads - 1); events of one call, and the calls of one worker, are in file order. `top` is called by one thread at a
 * time, in file order, for STRING, LOAD_CLASS, UNLOAD_CLASS, FRAME, TRACE and FLAT_ARRAYS of the whole file; for a
 * FLAT_ARRAYS once for each part that fits in a window, and with its beginning if it is truncated. Objects with id 0
 * are not passed (R18: damage). `restart`: discard everything; a new survey on one thread follows. Callbacks return
 * HDX_OK or an error that ends the survey.
 */
typedef struct hdx_survey_sink {
    void *context;
    hdx_code (*heap)(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err);
    hdx_code (*top)(void *context, const hdx_top *record, hdx_error *err);
    hdx_code (*restart)(void *context, hdx_error *err);
} hdx_survey_sink;

/*
 * Where readers stopped, and where others resume. Runs of heap records (survey) or stretches (walk) are processed in
 * file order, so nothing from `next` on is done, and everything before it is, except for what is left of the runs in
 * progress. All zero: at the beginning.
 */
typedef struct hdx_left {
    uint64_t from, end;
    hdx_pos  pos;  /* in `from`, of a sub-record; 0: its beginning */
    uint32_t heap; /* Android heap number at that position */
} hdx_left;
typedef struct hdx_halt {
    uint64_t next;
    uint32_t count;
    hdx_left left[HDX_WORKERS_MAX];
} hdx_halt;

typedef struct hdx_stretch {
    hdx_pos  from, end; /* whole sub-records of the chosen dump from `from` (a tag byte) to `end` */
    uint32_t heap;      /* Android heap number at `from` */
} hdx_stretch;

/*
 * State of a cancelled survey.
 * In: what an earlier, cancelled survey of the same file has done. The sink has received it, except for top-level
 * records, which are passed again.
 * Out: the same for this survey, cancelled or complete. `holds` is false if it cannot be resumed, because it applied
 * all rules.
 */
typedef struct hdx_survey_halt {
    bool     holds;
    hdx_halt at;
    uint64_t counts[256]; /* of sub-records of the chosen dump, by tag */
    /* parts of records that are longer than a stretch, or in which it was stopped; in file order; from options.mem */
    hdx_stretch *pieces;
    uint64_t     piece_count, piece_capacity;
} hdx_survey_halt;

typedef struct hdx_survey_options {
    uint32_t         dump_number; /* from 1; 0 means 1 */
    unsigned         threads;     /* at most this many workers */
    bool             sequential;  /* one thread, in file order, for any source */
    hdx_mem         *mem;
    hdx_ticker      *tick; /* counts bytes of the file; may be NULL */
    hdx_survey_halt *halt; /* NULL: it will not be resumed */
} hdx_survey_options;

#define HDX_DAMAGE_MAX 1000u /* entries that are stored; further ones are only counted */

typedef struct hdx_survey {
    hdx_hprof_head head;
    hdx_stretch   *stretches; /* in file order */
    uint64_t       stretch_count;
    uint32_t       dumps_in_file;
    uint32_t       dump_number;
    uint64_t       top_records[256]; /* by tag, whole file; unknown kinds only if known ones follow */
    uint64_t       sub_records[256]; /* by tag, chosen dump; those that are used */
    uint64_t       objects;          /* classes, instances and arrays that were passed */
    /* time of the chosen dump's first heap record, microseconds after the time in the header */
    hdx_pos     heap_time_us;
    hdx_damage *damage;       /* at most HDX_DAMAGE_MAX */
    uint64_t    damage_count; /* entries in `damage` */
    uint64_t    damage_more;  /* further ones, without an entry */
    /* several dumps in the file, zero bytes at the end, length modulo 2^32; valid as long as the survey */
    const char *warnings[8];
    unsigned    warning_count;
    bool        sequential; /* it was read on one thread, in file order */
    uint64_t    stretch_capacity, damage_capacity;
    char       *dumps_text;  /* the warning about several dumps, with their number; owned */
    char       *pieces_text; /* the warning about further files of the dump that were read with it; owned */
    char       *kinds_text;  /* the warning about records of unknown kinds; owned */
    hdx_mem    *mem;
} hdx_survey;

/*
 * Reads the whole file once and fills *out, whose damage includes that of the container (gzip, crc, truncated). Returns
 * HDX_BAD_DUMP if the file is not a heap dump, with a hint if it is of another known kind (PHD, ELF core, zip, gzip in
 * gzip ...). On failure *out need not be freed.
 */
hdx_code hdx_hprof_survey(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                          hdx_survey *out, hdx_error *err);
void     hdx_survey_free(hdx_survey *survey);
/*
 * Adds a damage entry of a later step (kinds missing, duplicate, cycle, layout); above the limit it is only counted.
 * False: no memory.
 */
bool hdx_survey_damage(hdx_survey *survey, const hdx_damage *entry);

/*
 * Receiver of the second walk. Workers take stretches in file order from a common counter, also for a compressed
 * source. For each stretch `begin` is called, then `events` any number of times, then `end`, all on the same worker.
 * Bodies are passed: the bytes of an instance (whole, up to 1 MiB; see body_len), the elements of an object array
 * (arrays of more than 64 Ki elements in parts: several consecutive events with increasing body_from; an array without
 * elements: one event with body_len 0), CLASS_DUMP whole. Primitive arrays have no body.
 * A walk that is cancelled fills *halt (NULL: it will not be resumed), and another one resumes from it: it calls
 * `begin` again for a stretch that was interrupted, and repeats all parts of an array of which not all parts were
 * passed.
 */
typedef struct hdx_walk_visitor {
    void *context;
    hdx_code (*begin)(void *context, unsigned worker, uint64_t stretch, hdx_error *err);
    hdx_code (*events)(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err);
    hdx_code (*end)(void *context, unsigned worker, uint64_t stretch, hdx_error *err);
} hdx_walk_visitor;

hdx_code hdx_hprof_walk(hdx_source *source, const hdx_survey *survey, unsigned threads, const hdx_walk_visitor *visitor,
                        hdx_halt *halt, hdx_mem *mem, hdx_ticker *tick, hdx_error *err);

/*
 * Reads the header of one object record at a position from the index: tag, addr, class_addr, count, type, with the
 * checks of the survey. *body_at is the position of its content (instance bytes, elements; of CLASS_DUMP the tag),
 * *body_len its size. Returns HDX_BAD_DUMP ("the dump changed since it was indexed") if there is no sub-record.
 */
hdx_code hdx_hprof_record_at(hdx_source *source, uint32_t id_size, hdx_pos pos, hdx_event *out, hdx_pos *body_at,
                             uint64_t *body_len, hdx_error *err);

/*
 * Reads records of instances and primitive arrays at many positions, mostly in ascending order. Each thread uses its
 * own reader. *is is false if the position has neither; the dump then changed since it was indexed. Bytes of a body are
 * valid until the next call; a call returns at most 256 KB, and fewer than requested only at the end of the dump.
 */
typedef struct hdx_records hdx_records;
hdx_code hdx_records_open(hdx_source *source, uint32_t id_size, hdx_mem *mem, hdx_ticker *tick, hdx_records **out,
                          hdx_error *err);
void     hdx_records_close(hdx_records *r); /* NULL is allowed */
hdx_code hdx_records_at(hdx_records *r, hdx_pos pos, hdx_event *out, hdx_pos *body_at, uint64_t *body_len, bool *is,
                        hdx_error *err);
hdx_code hdx_records_body(hdx_records *r, hdx_pos pos, uint64_t want, hdx_view *out, hdx_error *err);

/* The parts of a CLASS_DUMP, borrowed from its bytes. */
typedef struct hdx_class_dump {
    hdx_addr addr, super, loader, signers, domain;
    uint32_t instance_size;
    uint32_t static_count, field_count;
    hdx_view statics; /* static_count * (name id, type, value) */
    hdx_view fields;  /* field_count * (name id, type) */
    uint64_t size;    /* of the whole record */
} hdx_class_dump;
/*
 * Splits a record, which begins with the tag and may be followed by other bytes. False: it is truncated, or a type is
 * impossible.
 */
bool hdx_class_dump_cut(hdx_view record, uint32_t id_size, hdx_class_dump *out);
/*
 * Return the next static or field; false at the end. `value` has the bytes of the static (references are id_size wide,
 * big-endian).
 */
bool hdx_class_static_next(hdx_view *statics, uint32_t id_size, uint64_t *name, uint8_t *type, hdx_view *value);
bool hdx_class_field_next(hdx_view *fields, uint32_t id_size, uint64_t *name, uint8_t *type);

static inline uint64_t hdx_be_id(const uint8_t *p, uint32_t id_size)
{
    return id_size == 4 ? hdx_be32(p) : hdx_be64(p);
}

#endif
