/*
 * wide.h - shared by the files that are compiled once per width of an id: slots, expand, search, paths, sizes; for
 * these files only.
 *
 * An instance has the slots of its class's plan; an instance of java.util.ArrayList has some more bytes for its `size`.
 * An object array has its elements, a class object its static references, all other objects have none. Slots are stored
 * in packed lists (algo/packed.h), 3 or 4 bytes each and about 2.6 bytes more per object: a slot is the id + 1, or 0 if
 * the reference is null or refers to no object. The class of a list is a code in the order of instance counts, so that
 * nearly all need one byte.
 */
#ifndef HDX_LEAKS_WIDE_H
#define HDX_LEAKS_WIDE_H

#include "algo/wide.h"
#include "leaks/leaks.h"

#define NO_NUMBER UINT32_MAX /* of an object whose class is unknown */

typedef struct WIDE(leak_store) {
    leak_heap        *h;
    const leak_plans *plans;
    hdx_mem          *mem;
    uint64_t          apart; /* bytes that count in the budget but are not from mem */
    uint64_t          objects;
    hdx_packed        lists;
    uint64_t          slot_count;
    uint32_t         *numbers;       /* class number by code */
    uint32_t         *codes;         /* the reverse */
    uint64_t         *class_objects; /* bits over ids */
    uint64_t         *class_size;    /* by class number: size of its CLASS_DUMP without the tag */
    hdx_dump_root    *roots;         /* in the order of the dump */
    uint64_t          root_count, root_capacity;
    uint64_t          dangling;
} WIDE(leak_store);
typedef WIDE(leak_store) store;

/*
 * Reads slots and roots of the dump. REQUIRES: s->h, s->plans, s->mem and s->apart are set. *too_wide: NID does not
 * suffice (HDX_LIMIT). `further_bytes`: bytes that the search will need in addition, so that a budget too small for
 * both is refused here.
 */
hdx_code WIDE(hdx_leak_store_read)(store *s, unsigned threads, uint64_t further_bytes, hdx_ticker *tick, bool *too_wide,
                                   hdx_error *err);
void WIDE(hdx_leak_store_free)(store *s);

/* An object as the search needs it, after one look-up. */
typedef struct WIDE(leak_object) {
    const uint8_t  *at; /* slots */
    uint64_t        count;
    uint32_t        number; /* of its class; of a class object the class that it represents; NO_NUMBER: unknown */
    bool            is_class;
    hdx_object_kind kind;
} WIDE(leak_object);
typedef WIDE(leak_object) object;

static inline object look(const store *s, hdx_id id)
{
    const hdx_packed_list l = hdx_packed_at(&s->lists, id);
    object o = { l.at, l.count, l.class_number < s->h->class_count ? s->numbers[l.class_number] : NO_NUMBER,
                 hdx_bits_test(s->class_objects, id), HDX_CLASS_OBJECT };
    if (!o.is_class)
        o.kind = o.number != NO_NUMBER ? s->h->classes[o.number].kind : HDX_PRIMITIVE_ARRAY;
    return o;
}

/* Returns the id in a slot; NONE: no object. */
static inline NID slot(const store *s, const object *o, uint64_t i)
{
    return (NID)((hdx_le64(o->at + i * s->lists.width) & s->lists.mask) - 1);
}

/* Returns how many entries contain the 32 bits of a list's size. */
static inline uint32_t size_entries(const store *s) { return (4 + s->lists.width - 1) / s->lists.width; }

/*
 * State of a search.
 *   S1  `from` of a reached object is the object that enqueued it last; of a root object it is the object itself.
 *   S2  After the first queue is empty everything is appended to the last one (`last_only`).
 */
typedef enum leak_how {
    BY_FIELD,
    BY_STATIC,
    BY_ELEMENT,
    BY_LOCAL,
    BY_INDEX,
    BY_KEY,
    BY_VALUE,
    BY_MEMBER,
    BY_TARGET,
    BY_NEW_ACTIVITIES
} leak_how;
typedef struct WIDE(leak_edge) {
    NID      to, key;
    uint32_t n;       /* slot or index */
    uint32_t matcher; /* + 1 */
    uint8_t  how;
    bool     low;
} WIDE(leak_edge);
typedef WIDE(leak_edge) edge;

typedef struct WIDE(leak_local) { /* a JAVA_FRAME root of a known thread */
    uint32_t serial;
    NID      object;
} WIDE(leak_local);
typedef WIDE(leak_local) local;

typedef struct WIDE(leak_walk) {
    store           *st;
    leak_search     *s;
    const leak_plan *plans;
    NID             *from;
    uint64_t        *seen, *waiting, *wanted, *late; /* bits over ids; late: from the last queue */
    NID             *first, *last;
    uint64_t         first_count, first_capacity, last_head, last_count, last_capacity;
    bool             last_only, naming;
    leak_root       *roots;
    uint64_t         root_count;
    hdx_map          root_of; /* object -> index in roots, if it was enqueued by a root */
    hdx_map          serials; /* thread object -> serial */
    local           *locals;  /* by serial, in the order of the dump */
    uint64_t         local_count, local_capacity;
    edge            *edges; /* of the current object */
    uint64_t         edge_count, edge_capacity;
    NID              new_activities;
    bool             record_listed;
    NID             *found;
    uint64_t         found_count, to_find;   /* to_find: number of objects that can be reached at all */
    bool             out_of_memory, stopped; /* stopped: by the caller, not for lack of memory */
} WIDE(leak_walk);
typedef WIDE(leak_walk) search;

/* ---- expand_wide.c ---- */
#define ENOUGH 65536u /* references examined between two cancellation checks */
/* Returns the error for k->out_of_memory. */
hdx_code WIDE(hdx_leak_ended)(const search *k, hdx_error *err);
/*
 * Writes everything to which an instance or a class object refers, in order, to k->edges. Arrays are read where they
 * are used.
 */
void WIDE(hdx_leak_expand_object)(search *k, NID id, const object *o);
/* Returns the index + 1 of the last matcher that applies; member NULL, class_name.at NULL: any. */
uint32_t WIDE(hdx_leak_matcher_named)(const search *k, hdx_leak_matcher_kind kind, hdx_text class_name,
                                      const char *member);

/* ---- search_wide.c, for grow_wide.c, too ---- */
/* Reads roots in their order, locals by their thread. REQUIRES: k->st has been read. */
hdx_code WIDE(hdx_leak_take_roots)(search *k, hdx_error *err);
void WIDE(hdx_leak_drop)(search *k); /* frees all but its store */

/* ---- paths_wide.c ---- */
/* Computes s->paths of the outermost leaks, with a name for each reference, and s->lost. */
hdx_code WIDE(hdx_leak_paths)(search *k, hdx_error *err);

/* ---- flood_wide.c ---- */
/*
 * Computes retained bytes and objects of the objects in s->bytes and s->counts (keys are ids). native: bytes by id.
 * *gave_up: it would take too long.
 */
hdx_code WIDE(hdx_leak_flood)(search *k, const hdx_map *native, bool *gave_up, hdx_error *err);
/* Returns the size of one object (SHARK 1.8, 4.5); sizes_wide.c. */
uint64_t WIDE(hdx_leak_weight)(const store *st, hdx_id id);

/* ---- sizes_wide.c ---- */
/* Same from the dominators of all objects. Frees the store of k. */
hdx_code WIDE(hdx_leak_sizes)(search *k, const hdx_map *native, hdx_error *err);

static inline bool walks_elements(const search *k, const object *o)
{
    return o->kind == HDX_OBJECT_ARRAY && o->number != NO_NUMBER && k->plans[o->number].elements;
}

/*
 * dominate_wide.c: computes the dominator tree of a graph whose lists are in memory, in ascending order; frees the
 * lists. The caller frees *out in any case.
 */
typedef struct WIDE(leak_tree) {
    hdx_mem *mem;
    uint64_t nodes, reached;
    NID     *number;        /* by node, depth first; 0: not reached */
    hdx_tape search, idoms; /* as written by hdx_depth_first and hdx_dominators */
    uint64_t idom_count;    /* exceptions on the tape idoms */
} WIDE(leak_tree);
hdx_code WIDE(hdx_leak_dominate)(hdx_packed *lists, const NID *roots, uint64_t root_count, const hdx_resources *with,
                                 WIDE(leak_tree) *out, hdx_error *err);
void WIDE(hdx_leak_tree_free)(WIDE(leak_tree) *tree);

#endif
