/*
 * inside.h - declarations that the files of this room share.
 *
 * Invariants:
 *   G1  After hdx_graph_open nothing in a graph changes, except for the pointers below that are set once: by the thread
 *       that holds `lock`, and read without it (acquire). What they point to is constant, except for cached findings
 *       that every thread computes equally (`rules`, `references`). Labels of long names are created and looked up
 *       under the lock.
 *   G2  An index file is opened when it is first used. One that cannot be opened stays closed for the life of the
 *       graph: the reason is in `note` (damage) or `trouble` (memory, input), and getters return their neutral value.
 *   G3  Class numbers, super classes and object ids that this room returns are in range, and chains of super classes
 *       end: the class table is checked once when it is loaded (classes.c), so that walks over it need no counter.
 *   G4  A cursor has returned `next` of the `filled` ids of its batch, and all of one run before it starts the next.
 *   G5  Runs of ids are processed in parts of at most as many as the arrays on the stack can hold.
 *   G6  What is read of a record is inside of it, and what is returned of it was read.
 * Asserts check G3 to G6 for values that this room has checked or computed itself; bytes of files are checked before.
 */
#ifndef HDX_GRAPH_INSIDE_H
#define HDX_GRAPH_INSIDE_H

#include "catalog/catalog.h"
#include "graph/graph.h"
#include "hprof/hprof.h"
#include "indexes/indexes.h"
#include "model/model.h"
#include "source/source.h"
#include "strip/strip.h"

#include <pthread.h>
#include <stdatomic.h>

/* One block of memory contains the arrays of all classes; it starts at by_id. */
typedef struct hdx_class_table {
    const hdx_class  *at; /* by number; belongs to the catalog */
    uint32_t          count;
    bool              flat;  /* some classes are those of flat arrays */
    const hdx_class **by_id; /* sorted by id of the class object */
    /* by number: whether it is named java.lang.Class. Only its instances can be class objects */
    uint8_t *mirror;
    uint8_t *rules;      /* by number: what label.c found about its labels; 0: not yet computed. Relaxed atomics */
    uint8_t *references; /* by number: what names.c found about its reference fields; as `rules` */
} hdx_class_table;
#define HDX_CLASS_TABLE_BYTES (sizeof(const hdx_class *) + 3) /* bytes per class */

/* Roots that are locals of threads, sorted by thread, then by object. */
typedef struct hdx_locals {
    hdx_root *at;
    uint64_t  count;
} hdx_locals;

struct hdx_graph {
    hdx_catalog                *catalog;
    const hdx_manifest         *m;
    hdx_sizing                  sizing;
    hdx_index_place             place; /* of the index; `view`: of the open view */
    hdx_index_place             view;
    uint64_t                    objects;
    char                       *base;          /* folder of the index */
    uint64_t                    device, inode; /* of that folder when it was opened; 0: it did not exist */
    char                       *folder;        /* the same, or that of the view: for the catalog and for notes */
    char                       *dump;          /* NULL: none given */
    hdx_damage_note             note;
    hdx_damage_note             trouble;
    pthread_mutex_t             lock;
    atomic_int                  faulted; /* kind + 1 of a file that was truncated while it was mapped; 0: none */
    _Atomic(void *)             files[HDX_KINDS]; /* NULL: not yet opened; HDX_FILE_SHUT: cannot be opened */
    _Atomic(hdx_source *)       source;
    hdx_class_table             class_table; /* filled once, under the lock; then `classes` points to it */
    _Atomic(hdx_class_table *)  classes;
    atomic_bool                 classes_failed;
    _Atomic(const hdx_class **) by_name;     /* sorted by name, then address; one per class */
    hdx_arena                   labels;      /* hdx_graph_class_label; under the lock */
    hdx_map                     labelled;    /* address of a name -> its label */
    hdx_locals                  local_roots; /* as class_table */
    _Atomic(hdx_locals *)       locals;
    atomic_int        utf16; /* byte order of UTF-16 in byte[]: 0 not yet known, 1 little-endian, 2 big-endian */
    hdx_graph_summary summary;
    const char       *warnings[HDX_WARNINGS_MAX];
};

extern const char hdx_file_shut;
#define HDX_FILE_SHUT ((void *)(uintptr_t)&hdx_file_shut)

/* A view has its own files for some kinds (hdx_kind_of_view); all others are those of the index. */
static inline bool                   hdx_graph_is_view(const hdx_graph *g) { return g->m->view[0] != '\0'; }
static inline const hdx_index_place *hdx_graph_place(const hdx_graph *g, hdx_kind kind)
{
    return hdx_graph_is_view(g) && hdx_kind_of_view(kind) ? &g->view : &g->place;
}

/*
 * Returns the handle of an index file (hdx_ints *, hdx_one_to_n *, hdx_ranks * or hdx_addresses *, depending on the
 * kind); NULL: see G2.
 */
void               *hdx_graph_open_file(hdx_graph *g, hdx_kind kind);
static inline void *hdx_graph_use(const hdx_graph *g, hdx_kind kind)
{
    void *file = atomic_load_explicit(&((hdx_graph *)g)->files[kind], memory_order_acquire);
    if (file == NULL)
        file = hdx_graph_open_file((hdx_graph *)g, kind);
    return file == HDX_FILE_SHUT ? NULL : file;
}

/*
 * Returns the numbers of keys and values that kinds are declared with (indexes/kinds.c). Heaps are read from the
 * catalog, so only callers that need them request them.
 */
hdx_amounts hdx_graph_amounts(hdx_graph *g, bool with_heaps);

/* Stores a failure once: damage for hdx_graph_check to report, other failures unchanged. */
void hdx_graph_note(hdx_graph *g, const hdx_error *error);
/* Stores damage that this room found itself. */
void hdx_graph_damage(const hdx_graph *g, const char *where, const char *what, uint64_t number);

/* Returns the dump, which is opened on first use; HDX_BAD_DUMP with a hint if it is unavailable. */
hdx_code hdx_graph_source(hdx_graph *g, hdx_source **out, hdx_error *err);

/* NULL if they cannot be read; the reason is stored. */
const hdx_class_table               *hdx_graph_load_classes(hdx_graph *g);
static inline const hdx_class_table *hdx_graph_class_table(const hdx_graph *g)
{
    const hdx_class_table *t = atomic_load_explicit(&((hdx_graph *)g)->classes, memory_order_acquire);
    return t != NULL ? t : hdx_graph_load_classes((hdx_graph *)g);
}
/* Returns the class that has this class object; NULL: none. */
const hdx_class *hdx_class_of_object(const hdx_class_table *t, hdx_id id);

/* Returns the only inbound reference of an object that is not in `special`: its dominator and its nearest parent. */
hdx_id hdx_graph_only_referrer(const hdx_graph *g, hdx_id id);

/*
 * References of an object that the view ignores, or with `by` references to it: targets or sources in ascending order.
 */
typedef struct hdx_cut_list {
    const hdx_one_to_n *lists;
    uint64_t            key, at, end; /* at == end: none */
} hdx_cut_list;
hdx_cut_list hdx_graph_cut_of(const hdx_graph *g, hdx_id id, bool by);
bool         hdx_cut_has(const hdx_cut_list *c, hdx_id id);

/* ---- values ---- */
/* The record of an object, found and checked: `at` and `len` are position and length of its content in the dump. */
typedef struct hdx_record {
    hdx_source *source;
    hdx_event   event;
    hdx_pos     at;
    uint64_t    len;
} hdx_record;
/* hdx_graph_record sets *there to false if the object has no record (object 0, invented classes). */
/*
 * Checks that the record of an object is where the index says, whatever its kind; otherwise the dump changed, or the
 * index is damaged.
 */
hdx_code hdx_graph_check_record(hdx_graph *g, hdx_id id, hdx_error *err);
hdx_code hdx_graph_record(hdx_graph *g, hdx_id id, hdx_record *out, bool *there, hdx_error *err);

hdx_value hdx_value_of(uint8_t type, const uint8_t *bytes, unsigned id_size);

/*
 * Returns whether the dump lacks the content of an array: the tool that stripped it cut it (the source then supplies
 * filler) or overwrote it.
 */
bool hdx_graph_blank_array(const hdx_graph *g, hdx_source *source, const hdx_event *array, hdx_pos content);
/* Returns the number of elements of an array that a limited dump has; UINT64_MAX: all. */
uint64_t hdx_graph_limit_of_array(const hdx_graph *g, const hdx_event *array);
/*
 * Returns whether a primitive field was overwritten: the value of a box (java.lang.Integer ...) that reads as 0, or any
 * 0 if all fields were overwritten.
 */
bool hdx_graph_blank_value(const hdx_graph *g, const hdx_class *owner, const hdx_value *value);

/*
 * An instance whose fields are read one by one: its first bytes are in memory, further ones are read when needed.
 * Allocates no memory.
 */
typedef struct hdx_instance {
    hdx_graph *g;
    hdx_id     id;
    const hdx_class *class; /* the class as which it is viewed: its own class, or that of hdx_instance_as */
    uint64_t   fields;      /* offset of the fields of that class in the content */
    hdx_record record;
    uint32_t   have; /* number of bytes of the content in `bytes` */
    uint8_t    bytes[512];
} hdx_instance;
/* *there is false if it is not an instance or has no record. */
hdx_code hdx_instance_open(hdx_graph *g, hdx_id id, hdx_instance *out, bool *there, hdx_error *err);
/*
 * Restricts its fields to those of this class and its superclasses. False: the object is not an instance of the class.
 */
bool hdx_instance_as(hdx_instance *i, const char *class_name);
/*
 * Reads a field of the topmost class that declares this name, as in MAT: a field of the same name in a subclass does
 * not hide it.
 */
hdx_code hdx_instance_field(const hdx_instance *i, const char *name, hdx_value *out, bool *found, hdx_error *err);

/*
 * Copies elements first .. first + n - 1 of a primitive or object array as raw bytes, big-endian: n * size bytes. *got:
 * number of whole elements that the dump has.
 */
hdx_code hdx_record_elements(const hdx_record *r, unsigned size, uint64_t first, uint64_t n, uint8_t *out,
                             uint64_t *got, hdx_error *err);

/* ---- text ---- */
/* UTF-16 units in an array of the dump. */
typedef struct hdx_chars {
    hdx_record array;
    hdx_coding coding;
    uint64_t   first; /* unit with which the text starts */
    uint64_t   units;
} hdx_chars;
/*
 * Finds the text that the fields value, offset, count and coder of a String or StringBuilder describe; *there is false
 * if there is none.
 */
hdx_code hdx_chars_of(const hdx_instance *text, hdx_chars *out, bool *there, hdx_error *err);
/* Reads at most n units, starting at unit `from`; *got is less than n only at the end of the text or of the data. */
hdx_code hdx_chars_read(const hdx_chars *c, uint64_t from, unsigned n, uint16_t *units, unsigned *got, hdx_error *err);

/*
 * Converts UTF-16 to UTF-8. *high carries a high surrogate from call to call (0: none). A pair becomes one character,
 * an unpaired surrogate 3 bytes.
 */
void hdx_put_utf8(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high);
void hdx_put_utf8_end(hdx_buffer *out, uint16_t *high);
/* Appends a whole text of a label, which ends at its first NUL: U+0000 is written as C0 80. */
void hdx_put_label(hdx_buffer *out, const uint16_t *units, size_t n);
/* Appends a part of it; `high` as above. */
void hdx_put_label_part(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high);

/* Append numbers as java.lang.Double, Float and BigDecimal print them; out->failed is set if memory is refused. */
void hdx_put_double(hdx_buffer *out, double value);
void hdx_put_float(hdx_buffer *out, float value);
/*
 * Appends a magnitude of `count` 32-bit words, most significant first, in decimal; "0" for none. The content of `words`
 * is destroyed.
 */
void hdx_put_big(hdx_buffer *out, uint32_t *words, uint64_t count);
/*
 * Appends BigDecimal.toPlainString of digits * 10^-scale, rounded half up to `precision` digits (0: not rounded).
 * False: longer than `max`.
 */
bool hdx_put_decimal(hdx_buffer *out, bool negative, const char *digits, uint64_t len, int32_t scale,
                     uint32_t precision, uint64_t max);

/* ---- locals ---- */
/* Returns the roots that are locals of a thread object, sorted by object. */
hdx_code hdx_graph_locals(hdx_graph *g, hdx_id thread, const hdx_root **at, uint64_t *count, hdx_error *err);

#endif
