/*
 * reading.h - reads a dump into tables.
 *
 *   first_pass.c  reads the dump once: runs all of the following
 *   scan.c        results of its records: addresses as a set, raw classes, roots, strings (survey of the room hprof);
 *                 scan_resume.c: saves them if the build is interrupted
 *   stripping.c   warnings about a stripped dump
 *   classes.c     raw classes and the ids in use become the class table (MAT 1.3 to 1.8, rules R13 to R15)
 *   class_layouts.c  references of instances, by class
 *   flat_arrays.c byte[] that are arrays of value objects (Valhalla)
 *   roots.c       roots, threads, locals (MAT 4); agent_stacks.c: assigns the stacks of a dump by jhsdb to threads
 *   seek.c        seek points of a compressed dump: windows outside of memory, their index file
 *   work.c        working state of all passes (work.h); tasks.c: pieces of work in parallel
 *   resume.c      files with the progress of reading (resume.h); seal.c: whether files are those that a build wrote
 *
 * The result is one set of tables, hdx_dump_tables, which is const for all later passes.
 *
 * Invariants, asserted in debug builds (about what this room computed, never about what a dump contains):
 *
 *   T1  An id is below `objects`; ids are ranks of addresses (INDEX I1), and address 0 is id 0 (INDEX I2).
 *   T2  A class number is below `class_count`, and classes[i].number is i; java.lang.Class and java.lang.ClassLoader
 *       have one.
 *   T3  Numbers are in the order of instance counts, largest first.
 *   T4  Chains of super classes end (INDEX I18), and a super class has a number or there is none.
 *   T5  Each class has an object, each object at most one class: class_objects has class_count entries.
 *   T6  Reference offsets of a layout are in `offsets`, ascending.
 *   T7  Locals are sorted by thread, then target, each pair once.
 *   T8  Roots, threads and locals refer to objects.
 *   T9  Shares of workers are in file order when they are merged, and so is the result.
 *   T10 What was read from a saved file is before its sum; what is written consists of whole pieces.
 */
#ifndef HDX_READING_READING_H
#define HDX_READING_READING_H

#include "base/base.h"
#include "reading/resume.h"
#include "reading/work.h"
#include "catalog/catalog.h"
#include "hprof/hprof.h"
#include "indexes/indexes.h"
#include "model/model.h"
#include "source/source.h"
#include "strip/strip.h"

/* A string of the dump. */
typedef struct hdx_raw_string {
    uint64_t id;
    hdx_view bytes;
    hdx_text text; /* its text (hdx_java_text); at NULL: not yet decoded; read and written atomically */
} hdx_raw_string;

typedef struct hdx_raw_load {
    uint64_t addr, name;
    uint32_t serial;
    bool     again; /* an earlier one has the same address */
} hdx_raw_load;

/* The content of a STACK_FRAME, each once: HotSpot writes a record for each frame of each thread. */
typedef struct hdx_raw_frame {
    uint64_t method, signature, source;
    uint32_t serial;
    int32_t  line;
} hdx_raw_frame;

typedef struct hdx_frame_id {
    uint64_t id, place; /* place: index in `frames` */
} hdx_frame_id;

typedef struct hdx_raw_trace {
    uint32_t serial, thread, count;
    uint64_t first; /* index of its first frame id in `frame_ids` */
} hdx_raw_trace;

typedef struct hdx_raw_class {
    hdx_pos  pos;
    hdx_addr addr;
    hdx_view record; /* CLASS_DUMP, in the arena of the scan */
} hdx_raw_class;

typedef struct hdx_raw_root {
    hdx_pos  pos;
    hdx_addr addr;
    uint32_t serial;
    int32_t  frame;
    uint8_t  tag;
} hdx_raw_root;

/*
 * A root as in the dump, and later in its place the root that it stands for, so that half a million locals need no
 * second array.
 */
typedef union hdx_scan_root {
    hdx_raw_root raw;
    hdx_root     root;
} hdx_scan_root;
_Static_assert(sizeof(hdx_scan_root) == sizeof(hdx_root), "an array of the one is an array of the other");

/* Facts about a class id from instances and arrays; without instances and arrays there are none. */
typedef struct hdx_class_use {
    hdx_addr addr;                        /* set if there are instances or arrays */
    uint64_t instances, arrays, elements; /* elements: of all object arrays together */
    uint64_t array_bytes[2]; /* shallow sizes of these arrays with references of 4 and of 8 bytes, alignment 8 */
    hdx_pos  first_pos;      /* of the first instance in the file */
    hdx_pos  other_pos;      /* of the first instance with another number of bytes; 0: none */
    hdx_pos  last_pos;       /* of the last instance in the file, or of the last array if there is no instance */
    uint32_t first_bytes;
    uint32_t last_bytes; /* number of bytes of that instance (MAT 1.6 sizes an unknown class by it) */
    uint32_t most_bytes; /* largest number of bytes of an instance */
} hdx_class_use;

typedef struct hdx_heap_name {
    hdx_pos  pos;
    uint64_t name;
    uint32_t number;
} hdx_heap_name;

/* A sub-record of FLAT_ARRAYS. */
typedef struct hdx_raw_flat {
    hdx_addr array, element_class;
} hdx_raw_flat;

/* The flat arrays with elements of one class. */
typedef struct hdx_flat_class {
    hdx_addr element_class;
    uint64_t arrays, array_bytes[2]; /* as in hdx_class_use, of those that are really flat */
    uint32_t element_bytes;          /* 0: unknown, and its arrays remain byte[] */
    uint32_t class;                  /* number of the class of the arrays, by index */
} hdx_flat_class;

/*
 * The content of FLAT_ARRAYS. A value of `arrays` is the index of a flat class, shifted by 32, and the size in bytes of
 * the array's record; HDX_FLAT_NONE in place of the size: no byte[] of the dump has that address.
 */
typedef struct hdx_scan_flats {
    HDX_LIST(hdx_raw_flat)   raw; /* until `arrays` is computed */
    HDX_LIST(hdx_flat_class) classes;
    hdx_map                  arrays; /* by address */
    uint64_t                 unused; /* sub-records of another kind, or of an array that already has another class */
} hdx_scan_flats;
#define HDX_FLAT_NONE UINT32_MAX /* exceeds the size of any record (HPROF 7.2) */

typedef HDX_LIST(hdx_raw_class) hdx_raw_classes;
typedef HDX_LIST(hdx_scan_root) hdx_scan_roots;
typedef HDX_LIST(hdx_class_use) hdx_class_uses;
typedef HDX_LIST(hdx_heap_name) hdx_heap_names;

typedef struct hdx_scan_strings {
    HDX_LIST(hdx_raw_string) all;
    hdx_map                  places; /* string id -> index in `all` */
    /* index -> address of the hdx_text of its class name, in hdx_dump_tables.texts; guarded by hdx_work.lock */
    hdx_map long_names;
    hdx_map long_sums; /* index -> sum */
} hdx_scan_strings;

/* Stacks of threads; freed after threads and locals are computed. */
typedef struct hdx_scan_stacks {
    HDX_LIST(hdx_raw_frame) frames;
    hdx_map                 frame_places; /* hash of a frame -> its index */
    HDX_LIST(hdx_frame_id)  named;        /* frames by id */
    HDX_LIST(hdx_raw_trace) traces;
    HDX_LIST(uint64_t)      frame_ids;
} hdx_scan_stacks;

/* Facts from which shallow sizes follow. */
typedef struct hdx_scan_sizes {
    uint64_t primitive_arrays[16];   /* by element type */
    uint64_t primitive_bytes[16][2]; /* as array_bytes */
    /* common divisor of all differences between addresses, as far as it matters (MAT 2.2) */
    uint64_t divisor;
    /* an object array is in the space that its predecessor would need with 8-byte references (MAT 2.1) */
    bool compressed;
} hdx_scan_sizes;

/* The results of the first pass. Lists are in file order after hdx_scan. */
typedef struct hdx_scan_result {
    hdx_arena              arena; /* bytes of strings, records of classes */
    hdx_scan_strings       strings;
    hdx_scan_stacks        stacks;
    HDX_LIST(hdx_raw_load) loads;
    hdx_raw_classes        classes;
    uint64_t               class_bytes; /* of their records */
    /* of loads.at[i] at index i, unless it is `again`; then of addresses without LOAD_CLASS */
    hdx_class_uses    uses;
    hdx_map           by_class; /* class address -> index in `uses` */
    uint64_t          mapped;   /* number of loads that are in by_class */
    hdx_scan_roots    roots;
    hdx_heap_names    heaps;
    hdx_scan_sizes    sizes;
    hdx_scan_flats    flats;
    HDX_LIST(hdx_pos) skipped; /* records that are ignored (second ones of an id), ascending */
} hdx_scan_result;

/*
 * Locals of threads: additional references of the thread object (MAT 3.4), sorted by thread, then target, each pair
 * once.
 */
typedef hdx_pair hdx_local; /* first: the thread, second: the local */

/* Android heaps, in the order of first use. */
#define HDX_HEAPS_MAX 255u

/*
 * Positions of the references in the data of an instance (offsets ascending), up to the length of the longest record.
 */
typedef struct hdx_class_layout {
    uint64_t bytes; /* of all fields of the chain of classes */
    uint64_t first; /* index of its first reference offset in hdx_lookup.offsets */
    uint32_t references;
} hdx_class_layout;

/* Windows of seek points, until the dump is no longer read. */
typedef struct hdx_windows {
    hdx_io          *io;
    int              fd; /* -1: none */
    _Atomic uint64_t end;
} hdx_windows;

/* The dump, and the direct results of the first pass. */
typedef struct hdx_dump {
    hdx_source     *source;
    hdx_stripping   stripping;
    hdx_survey      survey;
    hdx_scan_result scan;
    bool            counting; /* only for counts: one pass, and no addresses but those of classes */
    hdx_windows     windows;
    char            flat_text[192]; /* the warning about flat arrays */
} hdx_dump;

/* Conversion of names and addresses of the dump to ids and class numbers, for the second pass; freed after it. */
typedef struct hdx_lookup {
    hdx_addresses *ids;
    /*
     * class address in objects of the dump -> class number; HDX_NO_CLASS: mentioned, but there is no class
     * (hdx_class_at)
     */
    hdx_map           by_address;
    hdx_class_layout *layouts; /* by class number */
    uint32_t         *offsets;
    uint64_t          offset_count;
    uint32_t          primitive_class[16]; /* by element type */
    hdx_map           flat_arrays; /* address of a flat array -> its class number; HDX_NO_CLASS: it remains byte[] */
    hdx_local        *locals;
    uint64_t          local_count, local_capacity;
    uint64_t          elements; /* of all object arrays together */
} hdx_lookup;

/*
 * The content of the dump: the first pass creates these tables, the second adds the sizes of classes and frees the
 * look-ups. All later passes read them.
 */
typedef struct hdx_dump_tables {
    uint64_t        objects;   /* number of ids */
    uint64_t        dump_size; /* uncompressed */
    hdx_class      *classes;   /* by class number */
    uint32_t        class_count;
    uint32_t        class_class;   /* class number of java.lang.Class */
    uint32_t        loader_class;  /* of java.lang.ClassLoader */
    hdx_map         class_objects; /* id of a class object -> class number */
    hdx_sizing      sizing;
    hdx_root       *roots; /* in file order, later by object; including locals */
    uint64_t        root_count, root_capacity, dangling_roots;
    hdx_thread     *threads;
    uint64_t        thread_count;
    hdx_heap_space *heaps;
    uint64_t        heap_count;
    hdx_arena       texts; /* names of classes, fields, methods */
    hdx_lookup      lookup;
} hdx_dump_tables;

/*
 * Arguments of the functions of the first pass, which read the dump, fill the tables and, if interrupted, save their
 * progress.
 */
typedef struct hdx_reading {
    hdx_work        *w;
    hdx_saving      *saving;
    hdx_dump        *dump;
    hdx_dump_tables *t;
} hdx_reading;

#define HDX_CLASSES_CACHED 4096u /* with more classes than this, look-ups miss the cache and are prefetched */
/* Returns the class number of an address; HDX_NO_CLASS: none. */
static inline uint32_t hdx_class_at(const hdx_dump_tables *t, hdx_addr address)
{
    const uint64_t *number = hdx_map_get(&t->lookup.by_address, address);
    return number == NULL ? HDX_NO_CLASS : (uint32_t)*number;
}

/* ---- first_pass.c ---- */
hdx_code hdx_first_pass(const hdx_reading *in, hdx_error *err);

/* ---- scan.c ---- */
/* With `counting`, ids contains classes only, and roots, frames and traces are omitted. */
hdx_code hdx_scan(const hdx_reading *in, hdx_error *err);
void     hdx_scan_free(hdx_mem *mem, hdx_scan_result *r);
void     hdx_scan_stacks_free(hdx_mem *mem, hdx_scan_stacks *k);
/* Frees class records (but not their number) and uses. */
void hdx_scan_classes_free(hdx_mem *mem, hdx_scan_result *r);
bool hdx_scan_string(const hdx_reading *in, uint64_t id, hdx_view *bytes);
/*
 * Returns a string as text, in the arena of the first caller; it is decoded once, however many records name it. At
 * NULL: not in the dump. False: no memory. Any thread may call it.
 */
bool hdx_scan_text(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out);
/*
 * Returns a string as the name of a class, in the arena; a long one is stored once, however many classes have it. At
 * NULL: not in the dump. False: no memory. Any thread may call it.
 */
bool hdx_scan_class_name(const hdx_reading *in, uint64_t id, hdx_arena *arena, hdx_text *out);
#define HDX_NAME_LONG 256u
/* Returns a sum of a long string, which is computed once. One thread at a time may call it. */
uint64_t hdx_scan_string_sum(const hdx_reading *in, uint64_t id);

/* Returns whether passes ignore the record at a position, because it is the second one of an id. */
static inline bool hdx_scan_skips(const hdx_scan_result *r, hdx_pos pos)
{
    const uint64_t i = r->skipped.count == 0 ? 0 : hdx_lower_bound(HDX_NUMBERS(r->skipped.at, r->skipped.count), pos);
    return i < r->skipped.count && r->skipped.at[i] == pos;
}

/* ---- flat_arrays.c ---- */
/* Reads the heap once more, after the survey, if there are flat arrays. Fills scan.flats, except for the classes. */
hdx_code hdx_flat_arrays_find(const hdx_reading *in, hdx_error *err);
/*
 * Counts the arrays that are really flat, after element_bytes is set; the others get HDX_FLAT_NONE, and a warning
 * reports their number.
 */
void hdx_flat_arrays_count(const hdx_reading *in);
/* Returns the value in slot i of a map, up to `capacity`; NULL: the slot is free. */
static inline uint64_t *hdx_flat_slot(hdx_map *map, uint64_t i)
{
    if (i == map->capacity)
        return map->has_own ? &map->own : NULL;
    return map->slots[i].key == map->empty ? NULL : &map->slots[i].value;
}

/* ---- seek.c ---- */
/* Lets windows of seek points be written to a temporary file from now on; a plain dump has none. */
hdx_code hdx_seek_begin(const hdx_work *w, hdx_dump *dump, hdx_error *err);
/*
 * Writes the index file of seek points, after the first pass, when the identity is known. The second pass uses the
 * points.
 */
hdx_code hdx_seek_keep(const hdx_work *w, const hdx_dump *dump, uint64_t dump_size, hdx_index_file *out,
                       hdx_error *err);
void     hdx_seek_end(hdx_dump *dump); /* when the dump is no longer read */

/* ---- stripping.c ---- */
void hdx_warn(hdx_survey *survey, const char *text); /* adds a warning, which is valid as long as the survey */
/* Adds warnings and damage that only follow from reading a stripped dump, after the first pass. */
hdx_code hdx_report_stripping(const hdx_reading *in, hdx_error *err);

/* ---- classes.c ---- */
/* Creates the class table, adds invented classes and object 0 to the ids, and freezes the ids. */
hdx_code hdx_classes_resolve(const hdx_reading *in, hdx_error *err);
/* Creates the map class_objects from the ids in classes. Returns HDX_DAMAGED if two classes have the same id (T5). */
hdx_code hdx_classes_find_objects(hdx_dump_tables *t, hdx_error *err);

/* ---- class_layouts.c ---- */
/* Returns the bytes of the fields that the class itself declares. */
uint64_t hdx_class_own_bytes(const hdx_class *c, uint32_t id_size);
/* Creates lookup.layouts. longest: by class number, bytes of the longest record of an instance. */
hdx_code hdx_classes_lay_out(const hdx_reading *in, const uint32_t *longest, hdx_error *err);
/* Computes the sizes of all classes, after the second pass has determined the reference size. */
hdx_code hdx_classes_size(hdx_work *w, hdx_dump_tables *t, hdx_error *err);
/*
 * Returns the position of the first instance whose number of bytes differs from that of its class (R17), + 1; 0: all
 * match. Known after the first pass.
 */
hdx_pos hdx_class_misfit(const hdx_dump_tables *t, const hdx_class_use *use);
/* Returns the largest number of references that all objects together can have, for the choice of the width. */
uint64_t hdx_classes_reference_bound(const hdx_dump_tables *t);

/* ---- agent_stacks.c ---- */
#define HDX_NO_TRACE UINT64_MAX
typedef struct hdx_agent_thread {
    hdx_id   object;
    int32_t  trace; /* serial of the trace that its root names */
    uint64_t place; /* index of its trace among the traces; HDX_NO_TRACE: none */
} hdx_agent_thread;
/* Returns whether the serviceability agent wrote a dump with these traces and threads. */
bool hdx_is_of_agent(const hdx_scan_stacks *stacks, const hdx_agent_thread *threads, uint64_t count);
/*
 * Sets `place` of each thread; threads are in the order of their roots. *fits is false if the numbers of traces and
 * threads differ.
 */
hdx_code hdx_agent_stacks(const hdx_reading *in, hdx_agent_thread *threads, uint64_t count, bool *fits, hdx_error *err);

/* ---- roots.c ---- */
hdx_code hdx_roots_resolve(const hdx_reading *in, hdx_error *err);

#endif
