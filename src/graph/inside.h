/*
 * inside.h - what the files of this room share and nobody else sees.
 *
 * Invariants:
 *   G1  After hdx_graph_open nothing of a graph changes but the pointers below that are set once, by the thread that
 *       holds `lock`, and read without it (acquire). What they point to never changes but notes of what is always found
 *       the same (`rules`, `references`). Labels of long names are made and looked up under the lock.
 *   G2  A file of the index is opened when first used. One that cannot be opened stays closed for the life of the
 *       graph: the reason stands in `note` (damage) or `trouble` (memory, input), and getters give their harmless
 *              value.
 *   G3  Class numbers, super classes and object ids handed out by this room are in range and chains of super classes
 *       end: the table of classes is checked once when it is loaded (classes.c), so that walks over it need no counter.
 *   G4  A cursor has given `next` of the `filled` ids of its batch, and all of one run before it begins the next.
 *   G5  Runs of ids are looked at in parts of at most as many as the arrays on the stack hold.
 *   G6  What is read of a record lies inside it, and what is given of it was read.
 * Asserts say G3 to G6 of what this room has checked or reckoned itself; bytes of files are looked at before.
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

/* One block holds what is here of each class, and begins at by_id. */
typedef struct hdx_class_table {
    const hdx_class  *at; /* by number; the catalog's */
    uint32_t          count;
    bool              flat;   /* some are classes of flat arrays */
    const hdx_class **by_id;  /* sorted by id of the class object */
    uint8_t          *mirror; /* by number: is it named java.lang.Class? Only its instances can be class objects */
    uint8_t          *rules;  /* by number: what label.c has found of its labels; 0: nobody asked. Relaxed atomics */
    uint8_t          *references; /* by number: what names.c has found of its reference fields; the same */
} hdx_class_table;
#define HDX_CLASS_TABLE_BYTES (sizeof(const hdx_class *) + 3) /* of each class */

typedef struct hdx_locals { /* roots that are locals of threads, by thread, then object */
    hdx_root *at;
    uint64_t  count;
} hdx_locals;

struct hdx_graph {
    hdx_catalog                *catalog;
    const hdx_manifest         *m;
    hdx_sizing                  sizing;
    hdx_index_place             place; /* of the index; of its view: */
    hdx_index_place             view;
    uint64_t                    objects;
    char                       *base;          /* folder of the index */
    uint64_t                    device, inode; /* of that folder when it was opened; 0: it was not there */
    char                       *folder;        /* the same, or that of the view: of the catalog, and of notes */
    char                       *dump;          /* NULL: none given */
    hdx_damage_note             note;
    hdx_damage_note             trouble;
    pthread_mutex_t             lock;
    atomic_int                  faulted; /* kind + 1 of a file that became shorter while it was read; 0: none */
    _Atomic(void *)             files[HDX_KINDS]; /* NULL: not opened yet; HDX_FILE_SHUT: cannot be */
    _Atomic(hdx_source *)       source;
    hdx_class_table             class_table; /* filled once, under the lock; then `classes` points to it */
    _Atomic(hdx_class_table *)  classes;
    atomic_bool                 classes_failed;
    _Atomic(const hdx_class **) by_name;     /* sorted by name, then address; as many as classes */
    hdx_arena                   labels;      /* hdx_graph_class_label; under the lock */
    hdx_map                     labelled;    /* place of a name -> its label */
    hdx_locals                  local_roots; /* as class_table */
    _Atomic(hdx_locals *)       locals;
    atomic_int        utf16; /* byte order of UTF-16 in byte[]: 0 not known yet, 1 little-endian, 2 big-endian */
    hdx_graph_summary summary;
    const char       *warnings[HDX_WARNINGS_MAX];
};

extern const char hdx_file_shut;
#define HDX_FILE_SHUT ((void *)(uintptr_t)&hdx_file_shut)

/* A view has files of its own (hdx_kind_of_view); all others are those of the index. */
static inline bool                   hdx_graph_is_view(const hdx_graph *g) { return g->m->view[0] != '\0'; }
static inline const hdx_index_place *hdx_graph_place(const hdx_graph *g, hdx_kind kind)
{
    return hdx_graph_is_view(g) && hdx_kind_of_view(kind) ? &g->view : &g->place;
}

/*
 * The handle of an index file (hdx_ints *, hdx_one_to_n *, hdx_ranks *, hdx_addresses * as the kind has it); NULL: G2.
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
 * What keys and values of its files are counted by (indexes/kinds.c). Heaps are read from the catalog: only who asks
 * for them pays for that.
 */
hdx_amounts hdx_graph_amounts(hdx_graph *g, bool with_heaps);

/* Notes a failure once: damage where hdx_graph_check tells of damage, anything else as it is. */
void hdx_graph_note(hdx_graph *g, const hdx_error *error);
/* Damage found by this room itself. */
void hdx_graph_damage(const hdx_graph *g, const char *where, const char *what, uint64_t number);

/* The dump, opened on first use; HDX_BAD_DUMP with a hint where none is at hand. */
hdx_code hdx_graph_source(hdx_graph *g, hdx_source **out, hdx_error *err);

/* NULL when it cannot be read (noted). */
const hdx_class_table               *hdx_graph_load_classes(hdx_graph *g);
static inline const hdx_class_table *hdx_graph_class_table(const hdx_graph *g)
{
    const hdx_class_table *t = atomic_load_explicit(&((hdx_graph *)g)->classes, memory_order_acquire);
    return t != NULL ? t : hdx_graph_load_classes((hdx_graph *)g);
}
const hdx_class *hdx_class_of_object(const hdx_class_table *t, hdx_id id); /* whose class object is it? NULL */

/* The only inbound entry of an object that is not in `special`: its dominator and its nearest parent. */
hdx_id hdx_graph_only_referrer(const hdx_graph *g, hdx_id id);

/* References of an object that the view leaves out, or, `by`, references to it: targets, or sources, ascending. */
typedef struct hdx_cut_list {
    const hdx_one_to_n *lists;
    uint64_t            key, at, end; /* at == end: none */
} hdx_cut_list;
hdx_cut_list hdx_graph_cut_of(const hdx_graph *g, hdx_id id, bool by);
bool         hdx_cut_has(const hdx_cut_list *c, hdx_id id);

/* ---- values ---- */
/* The record of an object, found and checked; body is where its content begins in the dump and how long it is. */
typedef struct hdx_record {
    hdx_source *source;
    hdx_event   event;
    hdx_pos     at;
    uint64_t    len;
} hdx_record;
/* *there false: this object has no record (object 0, invented classes). */
/* Is the record of an object where the index says? Of any kind; else the dump changed, or the index is damaged. */
hdx_code hdx_graph_check_record(hdx_graph *g, hdx_id id, hdx_error *err);
hdx_code hdx_graph_record(hdx_graph *g, hdx_id id, hdx_record *out, bool *there, hdx_error *err);

hdx_value hdx_value_of(uint8_t type, const uint8_t *bytes, unsigned id_size);

/*
 * The content of this array is not in the dump: cut (the source made it up) or overwritten by the tool that stripped
 * it.
 */
bool hdx_graph_blank_array(const hdx_graph *g, hdx_source *source, const hdx_event *array, hdx_pos content);
/* Elements of this array that a limited dump has; UINT64_MAX: all. */
uint64_t hdx_graph_limit_of_array(const hdx_graph *g, const hdx_event *array);
/* The same of a primitive field: the value of a box (java.lang.Integer ...) that reads as 0, or any where all are 0. */
bool hdx_graph_blank_value(const hdx_graph *g, const hdx_class *owner, const hdx_value *value);

/*
 * An instance whose fields are read one by one: its first bytes are at hand, further ones are fetched when asked for.
 * No heap.
 */
typedef struct hdx_instance {
    hdx_graph *g;
    hdx_id     id;
    const hdx_class *class; /* what it is seen as: its own class, or the one of hdx_instance_as */
    uint64_t   fields;      /* where the fields of that class begin in the body */
    hdx_record record;
    uint32_t   have; /* bytes of the body in `bytes` */
    uint8_t    bytes[512];
} hdx_instance;
/* *there false: no instance, or no record. */
hdx_code hdx_instance_open(hdx_graph *g, hdx_id id, hdx_instance *out, bool *there, hdx_error *err);
/* From now on its fields are those it has as an object of this class, none of classes below. False: it is none. */
bool hdx_instance_as(hdx_instance *i, const char *class_name);
/* Of the topmost class that has a field of this name, as in MAT: a subclass that declares another does not hide it. */
hdx_code hdx_instance_field(const hdx_instance *i, const char *name, hdx_value *out, bool *found, hdx_error *err);

/*
 * Elements first .. first + n - 1 of a primitive or object array as raw bytes, big-endian; n * size bytes. *got: whole
 * elements there.
 */
hdx_code hdx_record_elements(const hdx_record *r, unsigned size, uint64_t first, uint64_t n, uint8_t *out,
                             uint64_t *got, hdx_error *err);

/* ---- text ---- */
/* UTF-16 units in an array of the dump. */
typedef struct hdx_chars {
    hdx_record array;
    hdx_coding coding;
    uint64_t   first; /* unit the text begins with */
    uint64_t   units;
} hdx_chars;
/* The text that fields value, offset, count and coder of a String or StringBuilder show; *there false: none. */
hdx_code hdx_chars_of(const hdx_instance *text, hdx_chars *out, bool *there, hdx_error *err);
/* At most n units from unit `from` on; *got < n only where the text or the data ends. */
hdx_code hdx_chars_read(const hdx_chars *c, uint64_t from, unsigned n, uint16_t *units, unsigned *got, hdx_error *err);

/*
 * UTF-16 to UTF-8; *high carries a high surrogate over from call to call (0: none). A pair becomes one character, half
 * a pair 3 bytes.
 */
void hdx_put_utf8(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high);
void hdx_put_utf8_end(hdx_buffer *out, uint16_t *high);
/* A whole text of a label, which ends at its first NUL: U+0000 is C0 80. */
void hdx_put_label(hdx_buffer *out, const uint16_t *units, size_t n);
/* A part of it; `high` as above. */
void hdx_put_label_part(hdx_buffer *out, const uint16_t *units, size_t n, uint16_t *high);

/* Numbers as java.lang.Double, Float and BigDecimal print them; where memory is refused, out->failed. */
void hdx_put_double(hdx_buffer *out, double value);
void hdx_put_float(hdx_buffer *out, float value);
/* Magnitude of `words` 32-bit words, most significant first, in decimal; "0" for none. words are used up. */
void hdx_put_big(hdx_buffer *out, uint32_t *words, uint64_t count);
/*
 * BigDecimal.toPlainString of digits * 10^-scale, rounded half up to `precision` digits (0: not). False: longer than
 * `max`.
 */
bool hdx_put_decimal(hdx_buffer *out, bool negative, const char *digits, uint64_t len, int32_t scale,
                     uint32_t precision, uint64_t max);

/* ---- locals ---- */
/* Roots that are locals of this thread's object, sorted by object. */
hdx_code hdx_graph_locals(hdx_graph *g, hdx_id thread, const hdx_root **at, uint64_t *count, hdx_error *err);

#endif
