/*
 * passes.h - the passes after the first one: each gets the tables of the dump and the results of earlier passes as
 * const, and fills one struct.
 *
 *   columns.c        second pass: id = rank; position, class, length, references of every object, to a file (spill.h);
 *                    entries.c: length of each list
 *   objects.c        position, class, length in the order of ids, references packed in memory
 *   instances_wide.c objects by class
 *   outbound.c       the packed references as an index file, and back
 *   inbound_wide.c   the same transposed
 *   search_wide.c    live objects, nearest roots
 *   dominators_wide.c, retained_wide.c, tree_wide.c    immediate dominators; retained sizes; the dominator tree
 *   live.c           live objects by class
 *   referrers.c      referrers of each object, for a view: from the index inbound
 *   cuts.c           references that a view ignores: their index files; which objects have a referrer, from inbound
 *   temp.c, spill.c  temporary files between passes; spill_check.c: whether a build could have written a spill file
 *
 * Invariants, asserted in debug builds (about what passes pass to each other, never about a dump or a checkpoint):
 *
 *   P1  A list is strictly ascending, and does not contain the class of its object (INDEX I4, I5).
 *   P2  Ids in the records of a batch belong to it; each object has one record.
 *   P3  The space of a list is what it needs: its entries are counted before.
 *   P4  A range of targets begins at a whole block; ranges follow each other without gaps.
 *   P5  Bit sets agree: `many` is a subset of `once`, `special` contains garbage, roots and class objects.
 *   P6  Numbers are those of a search: 1 .. reached; 0 means not reached.
 *   P7  Widths of sums suffice for their values.
 *   P8  Lists by key follow each other; the end of the last is the number of values (INDEX I4).
 *   P9  A temporary file is in memory or in a file, and its end is what was written.
 *   P10 Counts of the parts add up to that of the whole (INDEX I3, I15).
 *
 * Files named *_wide.c are compiled for 32- and 64-bit ids (algo/width.h); operations_wide.c has the table of them.
 */
#ifndef HDX_PASSES_PASSES_H
#define HDX_PASSES_PASSES_H

#include "algo/algo.h"
#include "reading/reading.h"
#include "passes/spill.h"
#include "passes/temp.h"
#include "reading/tasks.h"

/* ---- results of the passes, one struct each; const for later passes ---- */

/*
 * Number of entries of every list, by piece (entries.c): known from the second pass until space for the piece is
 * assigned.
 */
typedef struct hdx_entries {
    hdx_work *w;
    uint8_t **pieces; /* NULL: not yet, or no longer, known */
    uint64_t  count;
    hdx_map   longer;
} hdx_entries;

/* columns.c */
typedef struct hdx_columns {
    hdx_spill   spill;   /* references.tmp: one record for each object */
    hdx_entries entries; /* if lists are needed */
    hdx_sizing  sizing;
    uint64_t    dangling; /* references to no object (R19) */
} hdx_columns;

/* objects.c */
enum { HDX_COLUMN_POSITION, HDX_COLUMN_CLASS, HDX_COLUMN_SIZE, HDX_COLUMN_HEAP, HDX_COLUMN_FILES };
typedef struct hdx_objects {
    hdx_index_file files[HDX_COLUMN_FILES]; /* bytes 0: there is none */
    hdx_packed     outbound;                /* until the step references is done */
} hdx_objects;

/* Bit sets over ids: has a referrer, has several. As long as the packed lists. */
typedef struct hdx_referenced {
    uint64_t *once, *many;
} hdx_referenced;

/* The indexes class and size, opened again. */
typedef struct hdx_column_files {
    const hdx_ints *class, *size;
    hdx_damage_note *note;
} hdx_column_files;

/* References that are ignored when the index outbound is read. */
typedef struct hdx_cuts {
    const hdx_ranks    *from; /* NULL: none are ignored */
    const hdx_one_to_n *of;
    uint64_t            count;
} hdx_cuts;

/* search_wide.c: the depth-first search, and nearest roots. Bit sets are over ids. */
typedef struct hdx_search {
    hdx_temp       file; /* search.tmp */
    uint64_t       reached, references, gc_roots;
    uint64_t      *live;
    uint64_t      *is_root;
    uint64_t      *special; /* garbage, and objects whose parent may differ from their only referrer */
    uint64_t       specials;
    hdx_index_file special_file, nearest_file;
} hdx_search;

/* A chunk of the file of referrers (hdx_referrers in algo.h). */
typedef struct hdx_referrer_chunk {
    uint64_t at, bytes, node;
    uint32_t sum;
} hdx_referrer_chunk;

typedef struct hdx_referrer_file {
    hdx_temp            file; /* referrers.tmp */
    hdx_referrer_chunk *chunks;
    uint64_t            count, capacity, longest, entries;
} hdx_referrer_file;

/* The same from the index inbound (referrers.c). */
typedef struct hdx_listed {
    /* set by the caller */
    const hdx_one_to_n *inbound;
    hdx_cuts            cuts;    /* of inbound: by target */
    hdx_referenced      holding; /* objects with a referrer, and with several, that are not ignored */
    const uint64_t     *is_root;
    hdx_damage_note    *note;
    /* set by hdx_pass_listed */
    uint64_t         objects, chunks;
    uint64_t        *is_class;
    _Atomic uint64_t next, entries;
} hdx_listed;

/* inbound_wide.c */
typedef struct hdx_inbound {
    hdx_index_file    file;
    hdx_referrer_file referrers;
} hdx_inbound;

/*
 * predecessors.tmp, or class_instances.tmp: instances as predecessors of class objects. Used within the step
 * dominators.
 */
typedef struct hdx_predecessor_file {
    hdx_temp file;
    uint64_t count, end; /* end: its size before it was cut off */
} hdx_predecessor_file;

/* Stays in memory from predecessors to retained sizes if there is room. */
typedef struct hdx_numbered {
    void    *numbers; /* in preorder, by id; 0: not reached */
    void    *sums;    /* shallow sizes in units, later retained ones, by number; [0]: garbage, then the total */
    uint64_t numbers_bytes, sums_bytes;
    uint64_t unit;   /* a power of two that divides every shallow size */
    bool     narrow; /* sums have 4 bytes, else 8 */
} hdx_numbered;

/* live.c: counts of a class, or of a heap. */
typedef struct hdx_tally {
    uint64_t objects, bytes, live_objects, live_bytes;
} hdx_tally;

typedef struct hdx_live {
    hdx_tally *classes, *heaps; /* one for each */
    hdx_tally  all;
    uint64_t   live_classes, live_loaders;
} hdx_live;

/* tree_wide.c: the dominator tree. */
typedef struct hdx_tree {
    hdx_index_file dominator, dominators, dominated;
    uint64_t       count; /* number of dominators */
} hdx_tree;

typedef struct hdx_wide hdx_wide;

/*
 * Tasks of the steps. A build that is interrupted saves which are complete, with their files (order.c), and the next
 * one does the others. The results of each are in files that are closed, or are closed when it is saved.
 */
enum {
    HDX_TASK_COLUMNS = 1u << 0, /* objects: position, class, size, heap; and the packed lists, saved as lists.tmp */
    HDX_TASK_INSTANCES = 1u << 1,
    HDX_TASK_OUTBOUND = 1u << 2,
    HDX_TASK_REFERENCED = 1u << 3,      /* which objects are referenced: next to the lists */
    HDX_TASK_SEARCH = 1u << 4,          /* references: search.tmp, live objects */
    HDX_TASK_NEAREST = 1u << 5,         /* special, nearest */
    HDX_TASK_INBOUND = 1u << 6,         /* inbound; referrers.tmp */
    HDX_TASK_PREDECESSORS = 1u << 7,    /* dominators: predecessors.tmp, */
    HDX_TASK_CLASS_INSTANCES = 1u << 8, /* class_instances.tmp; both are unused after the next */
    HDX_TASK_IDOMS = 1u << 9,           /* idoms.tmp */
    HDX_TASK_RETAINED = 1u << 10,       /* retained: retained, */
    HDX_TASK_TREE = 1u << 11,           /* dominator, dominators, dominated */
};
static inline bool hdx_task_whole(_Atomic uint64_t *whole, uint64_t task) { return (atomic_load(whole) & task) != 0; }
static inline void hdx_task_done(_Atomic uint64_t *whole, uint64_t task) { (void)atomic_fetch_or(whole, task); }

/* live.c: Returns the size of all packed lists (algo/packed.h). */
uint64_t hdx_packed_forecast(const hdx_dump_tables *t, uint64_t references);
/* entries.c: number of entries of each list, from the second pass until space for its piece is assigned. */
#define HDX_ENTRIES_LONG 255u /* numbers from this one on are in `longer` */
hdx_code hdx_entries_begin(hdx_work *w, hdx_entries *e, hdx_error *err);
void     hdx_entries_free(hdx_entries *e); /* all zero is allowed */
bool     hdx_entries_put_long(hdx_entries *e, uint64_t id, uint64_t entries);
void     hdx_entries_take(hdx_entries *e, uint64_t piece, uint32_t *entries); /* of all its nodes; once */
/* Sets the number for one object; call it once for each, on any thread. False: no memory. */
static inline bool hdx_entries_put(hdx_entries *e, uint64_t id, uint64_t entries)
{
    assert(id >> HDX_PACKED_PIECE_BITS < e->count); /* P3 */
    e->pieces[id >> HDX_PACKED_PIECE_BITS][id & (HDX_PACKED_PIECE - 1)] =
        (uint8_t)(entries < HDX_ENTRIES_LONG ? entries : HDX_ENTRIES_LONG);
    return entries < HDX_ENTRIES_LONG || hdx_entries_put_long(e, id, entries);
}
/* columns.c: the second walk over the dump; with `lists`, counts entries, too. */
hdx_code hdx_pass_columns(hdx_work *w, const hdx_dump_tables *t, const hdx_dump *dump, hdx_saving *saving, bool lists,
                          hdx_columns *out, hdx_error *err);
/*
 * objects.c: the index files position, class, size, heap, and, with `lists`, the lists of references packed in memory.
 * Entries of the columns are freed as the lists are placed.
 */
hdx_code hdx_pass_objects(hdx_work *w, const hdx_dump_tables *t, hdx_columns *columns, bool lists, hdx_objects *out,
                          hdx_error *err);
/*
 * Reads the shallow sizes of ids first .. first + n - 1 (n at most HDX_SHALLOWS) in the order of ids, from the index
 * files. classes may be NULL.
 */
#define HDX_SHALLOWS 512u
void hdx_pass_shallows(const hdx_dump_tables *t, const hdx_column_files *files, uint64_t first, uint32_t n,
                       uint64_t *shallow, uint32_t *classes);
/*
 * Releases the resident pages of the column files that were read so far. Call it every HDX_FORGET ids, because these
 * pages count in the budget.
 */
#define HDX_FORGET (1u << 22)
void hdx_pass_forget_columns(const hdx_column_files *files);
/*
 * inbound_wide.c: number of workers that share the sources, each with its own counts. They use at most the memory that
 * objects with one referrer do not need.
 */
#define HDX_TRANSPOSE_PARTS 4u
static inline unsigned hdx_transpose_parts(unsigned threads, uint64_t single, uint64_t many)
{
    const uint64_t most = many == 0 ? 1 : single / many,
                   parts = threads < HDX_TRANSPOSE_PARTS ? threads : HDX_TRANSPOSE_PARTS;
    return most == 0 ? 1 : (unsigned)(most < parts ? most : parts);
}
/*
 * outbound.c: hdx_pass_write_outbound writes the index outbound from the packed lists, hdx_pass_read_outbound reads it
 * into packed lists.
 */
hdx_code hdx_pass_write_outbound(hdx_work *w, hdx_packed *lists, hdx_index_file *out, hdx_error *err);
hdx_code hdx_pass_read_outbound(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files,
                                const hdx_one_to_n *outbound, const hdx_cuts *cuts, hdx_packed *out, hdx_error *err);
/*
 * cuts.c: writes the index files cut_from .. cut_by (in the order of their kinds) for these pairs of source and target,
 * sorted, each once. The pairs are reversed and sorted again. *from, *to: number of objects that have one.
 */
hdx_code      hdx_pass_write_cuts(hdx_work *w, hdx_pair *pairs, uint64_t count, hdx_index_file out[HDX_CUT_KINDS],
                                  uint64_t *from, uint64_t *to, hdx_error *err);
hdx_code      hdx_pass_listed(hdx_work *w, const hdx_dump_tables *t, hdx_listed *l, hdx_error *err);
hdx_referrers hdx_referrers_listed(const hdx_listed *l);
hdx_referrers hdx_referrers_in_file(const hdx_referrer_file *f); /* in a file */
void          hdx_listed_free(hdx_work *w, hdx_listed *l);
/*
 * Finds, from the index inbound, the objects with a referrer, and with several; the bit sets are as long as the packed
 * lists.
 */
void hdx_pass_referenced(hdx_work *w, const hdx_one_to_n *inbound, const hdx_referenced *out);
/* live.c: counts live objects by class and heap. */
uint64_t hdx_pass_size_unit(const hdx_dump_tables *t); /* a power of two that divides all shallow sizes */
typedef struct hdx_live_in {
    const hdx_column_files *files;
    const hdx_ints         *heaps; /* NULL: the dump has none */
    const hdx_search       *search;
    hdx_numbered           *numbered; /* if `sums` is set, sizes are stored there by number at the same time */
    const hdx_wide         *wide;
} hdx_live_in;
hdx_code hdx_pass_count_live(hdx_work *w, const hdx_dump_tables *t, const hdx_live_in *in, hdx_live *out,
                             hdx_error *err);
void     hdx_live_free(hdx_work *w, const hdx_dump_tables *t, hdx_live *live);

/* Inputs of the passes below other than the tables, all results of earlier passes. */
typedef struct hdx_search_in {
    const hdx_packed     *outbound;
    const hdx_referenced *referenced;
    const hdx_task       *parallel; /* runs at the same time as the searches; NULL: none */
} hdx_search_in;
typedef struct hdx_inbound_in {
    const hdx_packed     *outbound;
    const hdx_referenced *referenced;
    const uint64_t *is_root; /* if set, also computes what dominators need of the inbound lists; NULL: not needed */
    uint64_t        room;
} hdx_inbound_in;
typedef struct hdx_dominators_in {
    const hdx_search     *search;
    hdx_predecessor_file *predecessors, *instances; /* the part that was read is cut off */
    uint64_t              next_step;                /* most bytes of the next step */
} hdx_dominators_in;
typedef struct hdx_instances_in {
    const hdx_search   *search;
    const hdx_numbered *numbered;
    hdx_one_to_n       *instances; /* the index instances */
    hdx_damage_note    *note;
} hdx_instances_in;

/* The passes over ids, for one width: chosen once for a build. wide.h names the file of each. */
struct hdx_wide {
    unsigned width;
    /* Writes the index instances. */
    hdx_code (*instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files, hdx_index_file *out,
                          hdx_error *err);
    /* Writes the index inbound, and referrers. */
    hdx_code (*inbound)(hdx_work *w, const hdx_dump_tables *t, const hdx_inbound_in *in, hdx_inbound *out,
                        hdx_error *err);
    /* Runs the searches; `whole`: completed tasks, updated during the call. */
    hdx_code (*search)(hdx_work *w, const hdx_dump_tables *t, const hdx_search_in *in, _Atomic uint64_t *whole,
                       hdx_search *out, hdx_error *err);
    hdx_code (*numbers)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err);
    hdx_code (*predecessors)(hdx_work *w, const hdx_search *search, const hdx_referrers *referrers,
                             const hdx_numbered *numbered, hdx_predecessor_file *out, hdx_error *err);
    hdx_code (*class_instances)(hdx_work *w, const hdx_dump_tables *t, const hdx_instances_in *in,
                                hdx_predecessor_file *out, hdx_error *err);
    /*
     * Initial values of retained sizes: computed while live objects are counted (narrow is set; begin_sums, then
     * put_sums for all), or after that by `sums`.
     */
    hdx_code (*begin_sums)(hdx_work *w, const hdx_search *search, hdx_numbered *out, hdx_error *err);
    void (*put_sums)(const hdx_numbered *numbered, uint64_t first, uint32_t n, const uint64_t *shallow);
    hdx_code (*sums)(hdx_work *w, const hdx_dump_tables *t, const hdx_column_files *files, const hdx_search *search,
                     hdx_numbered *out, hdx_error *err);
    hdx_code (*dominators)(hdx_work *w, const hdx_dominators_in *in, hdx_temp *idoms, hdx_error *err);
    /* Turns sums into retained sizes; write_retained writes the index retained. */
    hdx_code (*retained)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_numbered *numbered,
                         hdx_error *err);
    hdx_code (*write_retained)(hdx_work *w, const hdx_numbered *numbered, hdx_index_file *out, hdx_error *err);
    /* Writes the indexes dominator, dominators, dominated. */
    hdx_code (*tree)(hdx_work *w, const hdx_search *search, const hdx_temp *idoms, hdx_tree *out, hdx_error *err);
};
extern const hdx_wide         hdx_wide_ids_32, hdx_wide_ids_64; /* operations_wide.c */
static inline const hdx_wide *hdx_wide_of(unsigned width) { return width == 64 ? &hdx_wide_ids_64 : &hdx_wide_ids_32; }

#endif
