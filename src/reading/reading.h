/*
 * reading.h - a dump becomes tables.
 *
 *   first_pass.c  the dump, read once: all of what follows
 *   scan.c        what its records say: addresses into a set, raw classes, roots, strings (survey of the room hprof);
 *                 scan_kept.c: that, kept where the build is told to stop
 *   stripping.c   what is said of a dump that went through a stripping tool
 *   classes.c     raw classes and the ids in use become the table of classes (MAT 1.3 to 1.8, rules R13 to R15)
 *   flat_arrays.c byte[] that are arrays of value objects (Valhalla)
 *   roots.c       roots, threads, locals (MAT 4); agent_stacks.c: whose stacks are those of a dump by jhsdb
 *   seek.c        seek points of a compressed dump: windows beside memory, the index file of them
 *   work.c        what every pass works with (work.h); tasks.c: pieces of work side by side
 *   kept.c        files of what a reading has done so far (kept.h); seal.c: are these the very files that we wrote?
 *
 * What comes out is one set of tables, hdx_dump_tables. All passes get it as const.
 *
 * Invariants, asserted in debug builds (of what this room made, never of what a dump says):
 *
 *   T1  An id is below `objects`; ids are ranks of addresses (INDEX I1), and address 0 is id 0 (INDEX I2).
 *   T2  A class number is below `class_count`, and classes[i].number is i; java.lang.Class and java.lang.ClassLoader
 *       have one.
 *   T3  Numbers go by falling count of instances.
 *   T4  Chains of super classes end (INDEX I18), and a super class has a number or there is none.
 *   T5  Each class has an object, each object one class at the most: class_objects has class_count entries.
 *   T6  Reference offsets of a layout lie in `offsets`, ascending.
 *   T7  Locals are sorted by thread, then target, each pair once.
 *   T8  Roots, threads and locals name objects.
 *   T9  Shares of workers are in file order when they are merged, and so is what comes of it.
 *   T10 What was taken from a kept file lies before its sum; what is written is whole pieces.
 */
#ifndef HDX_READING_READING_H
#define HDX_READING_READING_H

#include "base/base.h"
#include "reading/kept.h"
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
    hdx_pos  last_pos;       /* of the last instance in the file, or of an array where there is no instance ... */
    uint32_t first_bytes;
    uint32_t last_bytes; /* ... and the bytes it has (MAT 1.6 sizes an unknown class by it) */
    uint32_t most_bytes; /* of any instance */
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

/* The flat arrays whose elements are of one class. */
typedef struct hdx_flat_class {
    hdx_addr element_class;
    uint64_t arrays, array_bytes[2]; /* as in hdx_class_use, of those that are flat indeed */
    uint32_t element_bytes;          /* 0: not known, and its arrays stay byte[] */
    uint32_t class;                  /* of the arrays, by place */
} hdx_flat_class;

/*
 * What FLAT_ARRAYS says. A value of `arrays` is the place of a flat class, shifted by 32, and the bytes that the record
 * of the array has; HDX_FLAT_NONE for them: no byte[] of the dump has that address.
 */
typedef struct hdx_scan_flats {
    HDX_LIST(hdx_raw_flat)   raw; /* until `arrays` is made of it */
    HDX_LIST(hdx_flat_class) classes;
    hdx_map                  arrays; /* by address */
    uint64_t                 unused; /* sub-records of another kind, or of an array that has another class already */
} hdx_scan_flats;
#define HDX_FLAT_NONE UINT32_MAX /* more than a record can have (HPROF 7.2) */

typedef HDX_LIST(hdx_raw_class) hdx_raw_classes;
typedef HDX_LIST(hdx_scan_root) hdx_scan_roots;
typedef HDX_LIST(hdx_class_use) hdx_class_uses;
typedef HDX_LIST(hdx_heap_name) hdx_heap_names;

typedef struct hdx_scan_strings {
    HDX_LIST(hdx_raw_string) all;
    hdx_map                  places; /* string id -> place in `all` */
    /* place -> address of the hdx_text of its class name, in hdx_dump_tables.texts; guarded by hdx_work.lock */
    hdx_map long_names;
    hdx_map long_sums; /* place -> sum */
} hdx_scan_strings;

/* What threads were doing; given back once threads and locals are made of it. */
typedef struct hdx_scan_stacks {
    HDX_LIST(hdx_raw_frame) frames;
    hdx_map                 frame_places; /* hash of a frame -> its place */
    HDX_LIST(hdx_frame_id)  named;        /* frames by id */
    HDX_LIST(hdx_raw_trace) traces;
    HDX_LIST(uint64_t)      frame_ids;
} hdx_scan_stacks;

/* What shallow sizes follow from. */
typedef struct hdx_scan_sizes {
    uint64_t primitive_arrays[16];   /* by element type */
    uint64_t primitive_bytes[16][2]; /* as array_bytes */
    uint64_t divisor;                /* of all differences between addresses, as far as it matters (MAT 2.2) */
    bool compressed; /* an object array lies in the room that its predecessor needs with 8-byte references (MAT 2.1) */
} hdx_scan_sizes;

/* Everything the first pass leaves. Lists are in file order once hdx_scan has returned. */
typedef struct hdx_scan_result {
    hdx_arena              arena; /* bytes of strings, records of classes */
    hdx_scan_strings       strings;
    hdx_scan_stacks        stacks;
    HDX_LIST(hdx_raw_load) loads;
    hdx_raw_classes        classes;
    uint64_t               class_bytes; /* of their records */
    hdx_class_uses         uses; /* of loads.at[i] in place i, unless it is `again`; then of addresses without one */
    hdx_map                by_class; /* class address -> place in `uses` */
    uint64_t               mapped;   /* loads that are in by_class */
    hdx_scan_roots         roots;
    hdx_heap_names         heaps;
    hdx_scan_sizes         sizes;
    hdx_scan_flats         flats;
    HDX_LIST(hdx_pos)      skipped; /* records that are not kept (second ones of an id), ascending */
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
    char            flat_text[192]; /* the warning about flat arrays */
} hdx_dump;

/* From what the dump calls things to ids and class numbers: for the second pass alone, and gone when it is done. */
typedef struct hdx_lookup {
    hdx_addresses *ids;
    /*
     * class address as the dump's objects say it -> class number, HDX_NO_CLASS: told of, but there is none
     * (hdx_class_at)
     */
    hdx_map           by_address;
    hdx_class_layout *layouts; /* by class number */
    uint32_t         *offsets;
    uint64_t          offset_count;
    uint32_t          primitive_class[16]; /* by element type */
    hdx_map           flat_arrays; /* address of a flat array -> its class number; HDX_NO_CLASS: it stays byte[] */
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

/* What the functions of the first pass get: they read the dump, fill the tables, and keep what they did if told to. */
typedef struct hdx_reading {
    hdx_work        *w;
    hdx_keeping     *keeping;
    hdx_dump        *dump;
    hdx_dump_tables *t;
} hdx_reading;

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
void     hdx_scan_stacks_free(hdx_mem *mem, hdx_scan_stacks *k);
void     hdx_scan_classes_free(hdx_mem *mem, hdx_scan_result *r); /* of it class records (but their number) and uses */
bool     hdx_scan_string(const hdx_reading *in, uint64_t id, hdx_view *bytes);
/*
 * The string as text, decoded once however many name it, into the arena of the first that asks; at NULL: not in the
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

/* Does the pass leave out the record there, as the second one of an id? */
static inline bool hdx_scan_skips(const hdx_scan_result *r, hdx_pos pos)
{
    const uint64_t i = r->skipped.count == 0 ? 0 : hdx_lower_bound(HDX_NUMBERS(r->skipped.at, r->skipped.count), pos);
    return i < r->skipped.count && r->skipped.at[i] == pos;
}

/* ---- flat_arrays.c ---- */
/* After the survey: reads the heap once more where there are flat arrays, and fills scan.flats but for the classes. */
hdx_code hdx_flat_arrays_find(const hdx_reading *in, hdx_error *err);
/*
 * After element_bytes is set: counts the arrays that are flat indeed; the others get HDX_FLAT_NONE, and a warning says
 * how many there are.
 */
void hdx_flat_arrays_count(const hdx_reading *in);
/* The value in slot i, up to `capacity`, of a map; NULL: the slot is free. */
static inline uint64_t *hdx_flat_slot(hdx_map *map, uint64_t i)
{
    if (i == map->capacity)
        return map->has_own ? &map->own : NULL;
    return map->slots[i].key == map->empty ? NULL : &map->slots[i].value;
}

/* ---- seek.c ---- */
/* From here on windows of seek points go to a temporary file; a plain dump has none. */
hdx_code hdx_seek_begin(const hdx_work *w, hdx_dump *dump, hdx_error *err);
/* After the first pass, once the identity is known: the index file. The points serve the second pass. */
hdx_code hdx_seek_keep(const hdx_work *w, const hdx_dump *dump, uint64_t dump_size, hdx_index_file *out,
                       hdx_error *err);
void     hdx_seek_end(hdx_dump *dump); /* when nothing reads the dump any more */

/* ---- stripping.c ---- */
void hdx_warn(hdx_survey *survey, const char *text); /* adds a warning, which lives as long as the survey */
/* After the first pass: warnings and damage that only the reading of a stripped dump knows of. */
hdx_code hdx_tell_stripping(const hdx_reading *in, hdx_error *err);

/* ---- classes.c ---- */
/* Makes the table; adds invented classes and object 0 to the ids and freezes them. */
hdx_code hdx_classes_resolve(const hdx_reading *in, hdx_error *err);
/* The map class_objects, from the ids in classes; HDX_DAMAGED where two have the same (T5). */
hdx_code hdx_classes_find_objects(hdx_dump_tables *t, hdx_error *err);
/* After the second pass has told the reference size: sizes of all classes. */
hdx_code hdx_classes_size(hdx_work *w, hdx_dump_tables *t, hdx_error *err);
/*
 * Where the first instance is that has not the bytes its class says (R17), + 1; 0: all fit. Known after the first pass.
 */
hdx_pos hdx_class_misfit(const hdx_dump_tables *t, const hdx_class_use *use);
/* The most references all objects together can have: for the choice of the width. */
uint64_t hdx_classes_reference_bound(const hdx_dump_tables *t);

/* ---- agent_stacks.c ---- */
#define HDX_NO_TRACE UINT64_MAX
typedef struct hdx_agent_thread {
    hdx_id   object;
    int32_t  trace; /* serial of the trace that its root names */
    uint64_t place; /* of its trace among the traces; HDX_NO_TRACE: none */
} hdx_agent_thread;
/* Did the serviceability agent write the dump that has these traces and threads? */
bool hdx_is_of_agent(const hdx_scan_stacks *stacks, const hdx_agent_thread *threads, uint64_t count);
/* Sets place of each, threads in the order of their roots; *fits false: there are more traces than threads or fewer. */
hdx_code hdx_agent_stacks(const hdx_reading *in, hdx_agent_thread *threads, uint64_t count, bool *fits, hdx_error *err);

/* ---- roots.c ---- */
hdx_code hdx_roots_resolve(const hdx_reading *in, hdx_error *err);

#endif
