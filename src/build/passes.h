/*
 * passes.h - what the passes behind the first one hand to each other.
 */
#ifndef HDX_BUILD_PASSES_H
#define HDX_BUILD_PASSES_H

#include "algo/algo.h"
#include "build/build.h"
#include "build/spill.h"

/* A chunk of the file of referrers (hdx_referrers in algo.h). */
typedef struct hdx_referrer_chunk {
    uint64_t at, bytes, node;
    uint32_t sum;
} hdx_referrer_chunk;

typedef struct hdx_pass {
    hdx_build      *b;
    unsigned        width; /* of an id: 32 or 64 bits */
    hdx_step        until;
    uint64_t       *holds_locals; /* bit set: objects that are threads with locals; second pass alone */
    hdx_spill       spill;        /* references.tmp */
    uint8_t       **entries;      /* of every list, by piece (entries.c); NULL: not known yet, or no longer */
    uint64_t        entries_pieces;
    hdx_map         long_entries;
    hdx_packed      outbound;    /* from the step objects to the step references */
    uint64_t       *once, *many; /* bit sets over ids: has a referrer, has several; as long as outbound */
    hdx_ints       *class_file;  /* the indexes class and size, read again in the order of ids */
    hdx_ints       *size_file;
    hdx_damage_note note; /* of the index files a pass reads again */
    /* reachability */
    hdx_tape_file       search; /* the depth-first search: search.tmp */
    uint64_t            reached;
    uint64_t            room; /* bytes that turning the lists round may take */
    uint64_t           *live; /* bit set over ids */
    uint64_t           *is_root;
    uint64_t           *special;       /* what is garbage, or may have another parent than its only referrer */
    uint64_t            size_unit;     /* a power of two that divides every shallow size */
    hdx_tape_file       referrer_file; /* referrers.tmp */
    hdx_referrer_chunk *chunks;
    uint64_t            chunk_count, chunk_capacity, chunk_longest, referrer_entries;
    hdx_tape_file       predecessors;                        /* predecessors.tmp: inside the step dominators */
    uint64_t            predecessor_count, predecessors_end; /* end: before it was cut */
    hdx_tape_file       members; /* members.tmp: instances as predecessors of class objects; likewise */
    uint64_t            member_count, members_end;
    hdx_tape_file       idoms; /* from the step dominators to the step retained; in a checkpoint idoms.tmp */
    void *numbers; /* in preorder, by id; 0: not reached. Kept from predecessors to retained sizes where there is room,
                      with `sums` */
    void    *sums; /* shallow sizes in units, later retained ones, by number; [0]: what is garbage, then the total */
    uint64_t numbers_bytes, sums_bytes;
    bool     narrow;                          /* sums have 4 bytes, else 8 */
    hdx_manifest     begun;                   /* as it was before the step at hand */
    uint64_t         saved;                   /* steps that a checkpoint, or nobody, has to keep */
    _Atomic uint64_t tasks;                   /* of the step at hand, those that are whole (HDX_TASK_) */
    uint64_t         saved_tasks;             /* likewise, of what is saved */
    bool             live_kept, special_kept; /* in bits.tmp */
    bool             lists_kept;              /* outbound is in lists.tmp */
    bool             tapes_kept;              /* predecessors and members are in their files */
} hdx_pass;

/*
 * Tasks that a step is made of. A build that is told to stop keeps which are whole, with their files (passes.c), and
 * the next one does the others. Each has what it made in files that are closed, or closed when it is kept.
 */
enum {
    HDX_TASK_COLUMNS = 1u << 0, /* objects: position, class, size, heap; and the packed lists, kept as lists.tmp */
    HDX_TASK_INSTANCES = 1u << 1,
    HDX_TASK_OUTBOUND = 1u << 2,
    HDX_TASK_REFERRED = 1u << 3,     /* who is referred to: beside the lists */
    HDX_TASK_SEARCH = 1u << 4,       /* references: search.tmp, what lives */
    HDX_TASK_NEAREST = 1u << 5,      /* special, nearest */
    HDX_TASK_INBOUND = 1u << 6,      /* inbound; referrers.tmp */
    HDX_TASK_PREDECESSORS = 1u << 7, /* dominators: predecessors.tmp, */
    HDX_TASK_MEMBERS = 1u << 8,      /* members.tmp; both have served with the next */
    HDX_TASK_IDOMS = 1u << 9,        /* idoms.tmp */
    HDX_TASK_RETAINED = 1u << 10,    /* retained: retained, */
    HDX_TASK_TREE = 1u << 11,        /* dominator, dominators, dominated */
};
static inline bool hdx_pass_has(hdx_pass *p, uint64_t task) { return (atomic_load(&p->tasks) & task) != 0; }
static inline void hdx_pass_did(hdx_pass *p, uint64_t task) { (void)atomic_fetch_or(&p->tasks, task); }

/* entries.c: how many entries each list has, from the second pass until its piece is laid out. */
#define HDX_ENTRIES_LONG 255u /* so many or more stand in long_entries */
hdx_code hdx_entries_begin(hdx_pass *p, hdx_error *err);
void     hdx_entries_free(hdx_pass *p);
bool     hdx_entries_put_long(hdx_pass *p, uint64_t id, uint64_t entries);
void     hdx_entries_take(hdx_pass *p, uint64_t piece, uint32_t *entries); /* of all its nodes; once */
/* Every object once, from any thread; false: no memory. */
static inline bool hdx_entries_put(hdx_pass *p, uint64_t id, uint64_t entries)
{
    p->entries[id >> HDX_PACKED_PIECE_BITS][id & (HDX_PACKED_PIECE - 1)] =
        (uint8_t)(entries < HDX_ENTRIES_LONG ? entries : HDX_ENTRIES_LONG);
    return entries < HDX_ENTRIES_LONG || hdx_entries_put_long(p, id, entries);
}
/* columns.c: second walk over the dump; with `lists`, entries too. */
hdx_code hdx_pass_columns(hdx_pass *p, bool lists, hdx_error *err);
/* objects.c: the index files position, class, size, heap, and the lists of references packed in memory (lists). */
hdx_code hdx_pass_objects(hdx_pass *p, bool lists, hdx_error *err);
hdx_code hdx_pass_open_columns(hdx_pass *p, hdx_error *err); /* class_file and size_file */
/*
 * Shallow sizes of ids first .. first + n - 1 (n at most HDX_SHALLOWS), in id order, from the index files. classes may
 * be NULL.
 */
#define HDX_SHALLOWS 2048u
void hdx_pass_shallows(const hdx_pass *p, uint64_t first, uint32_t n, uint64_t *shallow, uint32_t *classes);
/*
 * The files of columns were read so far: their pages need not be resident any more. Every HDX_FORGET ids, for they
 * count for the budget.
 */
#define HDX_FORGET (1u << 22)
void hdx_pass_forget_columns(const hdx_pass *p);
/*
 * inbound_wide.c: workers that share the sources, each with counts of its own; no more than take the room of objects
 * with one referrer, which need none.
 */
#define HDX_TURN_PARTS 4u
static inline unsigned hdx_turn_parts(const hdx_build *b, uint64_t single, uint64_t many)
{
    const uint64_t most = many == 0 ? 1 : single / many,
                   parts = b->threads < HDX_TURN_PARTS ? b->threads : HDX_TURN_PARTS;
    return most == 0 ? 1 : (unsigned)(most < parts ? most : parts);
}
/* outbound.c: the index outbound from the packed lists; the packed lists from the index outbound. */
hdx_code hdx_pass_write_outbound(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_read_outbound(hdx_pass *p, hdx_error *err);
/* live.c: counts of live objects by class and heap; their sizes by number where `sums` stands. */
uint64_t hdx_pass_size_unit(const hdx_build *b); /* a power of two that divides all shallow sizes */
hdx_code hdx_pass_count_live(hdx_pass *p, hdx_error *err);
/*
 * instances_wide.c, inbound_wide.c: those index files; with `referrers`, what dominators will need of the inbound
 * lists.
 */
hdx_code hdx_pass_instances_32(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_instances_64(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_inbound_32(hdx_pass *p, bool referrers, hdx_error *err);
hdx_code hdx_pass_inbound_64(hdx_pass *p, bool referrers, hdx_error *err);
/* reach_wide.c: what follows from the roots. */
hdx_code hdx_pass_search_32(hdx_pass *p, bool inbound,
                            hdx_error *err); /* special, nearest; with `inbound` that pass beside it */
hdx_code hdx_pass_search_64(hdx_pass *p, bool inbound, hdx_error *err);
hdx_code hdx_pass_numbers_32(hdx_pass *p, hdx_error *err); /* numbers; room for what comes next: */
hdx_code hdx_pass_numbers_64(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_predecessors_32(hdx_pass *p, hdx_error *err); /* predecessors.tmp, */
hdx_code hdx_pass_predecessors_64(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_members_32(hdx_pass *p, hdx_error *err); /* members.tmp */
hdx_code hdx_pass_members_64(hdx_pass *p, hdx_error *err);
/*
 * What retained sizes begin with: while live objects are counted (narrow is set; begin, then put for all), or behind
 * that.
 */
hdx_code hdx_pass_begin_sums_32(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_begin_sums_64(hdx_pass *p, hdx_error *err);
void     hdx_pass_put_sums_32(const hdx_pass *p, uint64_t first, uint32_t n, const uint64_t *shallow);
void     hdx_pass_put_sums_64(const hdx_pass *p, uint64_t first, uint32_t n, const uint64_t *shallow);
hdx_code hdx_pass_sums_32(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_sums_64(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_dominators_32(hdx_pass *p, hdx_error *err); /* idoms */
hdx_code hdx_pass_dominators_64(hdx_pass *p, hdx_error *err);
hdx_code hdx_pass_retained_32(hdx_pass *p, hdx_error *err); /* retained, dominator, dominators, dominated */
hdx_code hdx_pass_retained_64(hdx_pass *p, hdx_error *err);

void     hdx_pass_free_sums(hdx_pass *p);                 /* passes.c */
hdx_code hdx_pass_do_inbound(void *pass, hdx_error *err); /* likewise: as a task, once */

/*
 * tasks.c: all of them, HDX_TASKS_MAX at most, on at most so many threads; the first error. `after`: a bit for each
 * task further up in the list that it waits for.
 */
#define HDX_TASKS_MAX 64u
typedef struct hdx_task {
    hdx_code (*run)(void *context, hdx_error *err);
    void    *context;
    uint64_t after;
} hdx_task;
hdx_code hdx_run_tasks(unsigned threads, const hdx_task *list, unsigned count, hdx_error *err);

#endif
