/*
 * wide.h - what the files compiled once per width of an id share: slots, expand, search, paths, sizes; seen by them
 * alone, once per width of an id.
 *
 * An instance has the slots of its class's plan; those of java.util.ArrayList some bytes more, which hold `size`. An
 * object array has its elements, a class object its static references, everything else nothing. They lie in packed
 * lists (algo/packed.h), 3 or 4 bytes each with some 2.6 bytes an object beside them: a slot is the id + 1, 0 where the
 * reference is null or names no object. The class of a list is a code, by falling number of instances, so that nearly
 * all take a byte.
 */
#ifndef HDX_LEAKS_WIDE_H
#define HDX_LEAKS_WIDE_H

#include "algo/wide.h"
#include "leaks/leaks.h"

#define NO_NUMBER UINT32_MAX /* of an object whose class nobody knows */

typedef struct WIDE(leak_store) {
    leak_heap        *h;
    const leak_plans *plans;
    hdx_mem          *mem;
    uint64_t          apart; /* bytes that count for the budget and do not come from mem */
    uint64_t          objects;
    hdx_packed        lists;
    uint64_t          slot_count;
    uint32_t         *numbers;       /* class number by code */
    uint32_t         *codes;         /* the other way round */
    uint64_t         *class_objects; /* bits over ids */
    uint64_t         *class_size;    /* by class number: bytes of its CLASS_DUMP without the tag */
    hdx_dump_root    *roots;         /* in the order of the dump */
    uint64_t          root_count, root_capacity;
    uint64_t          dangling;
} WIDE(leak_store);
typedef WIDE(leak_store) store;

/*
 * s->h, s->plans, s->mem and s->apart are set. *too_wide: NID does not suffice (HDX_LIMIT). `beside`: bytes that the
 * search will hold besides, so that a budget too small for both is refused here.
 */
hdx_code WIDE(hdx_leak_store_read)(store *s, unsigned threads, uint64_t beside, hdx_ticker *tick, bool *too_wide,
                                   hdx_error *err);
void WIDE(hdx_leak_store_free)(store *s);

/* An object as the search looks at it: one look-up. */
typedef struct WIDE(leak_object) {
    const uint8_t  *at; /* slots */
    uint64_t        count;
    uint32_t        number; /* of its class; of a class object its own; NO_NUMBER */
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

/* The id in a slot; NONE. */
static inline NID slot(const store *s, const object *o, uint64_t i)
{
    return (NID)((hdx_le64(o->at + i * s->lists.width) & s->lists.mask) - 1);
}

/* Entries that hold the 32 bits of a list's size. */
static inline uint32_t size_entries(const store *s) { return (4 + s->lists.width - 1) / s->lists.width; }

/*
 * A search under way.
 *   S1  `from` of a reached object is the object that enqueued it last; of a root object it is the object itself.
 *   S2  once the first queue is empty everything goes after the last one (`last_only`).
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
    uint64_t        *seen, *waiting, *wanted, *late; /* bits over ids; late: taken from the last queue */
    NID             *first, *last;
    uint64_t         first_count, first_capacity, last_head, last_count, last_capacity;
    bool             last_only, naming;
    leak_root       *roots;
    uint64_t         root_count;
    hdx_map          root_of; /* object -> place in roots, where it was enqueued by one */
    hdx_map          serials; /* thread object -> serial */
    local           *locals;  /* by serial, in the order of the dump */
    uint64_t         local_count, local_capacity;
    edge            *edges; /* of the object looked at */
    uint64_t         edge_count, edge_capacity;
    NID              new_activities;
    bool             record_listed;
    NID             *found;
    uint64_t         found_count, to_find;   /* to_find: that can be reached at all */
    bool             out_of_memory, stopped; /* stopped: not by lack of memory, but because the caller asked for it */
} WIDE(leak_walk);
typedef WIDE(leak_walk) search;

/* ---- expand_wide.c ---- */
#define ENOUGH 65536u /* references looked at between two questions whether to go on */
/* The error of k->out_of_memory. */
hdx_code WIDE(hdx_leak_ended)(const search *k, hdx_error *err);
/* Everything an instance or a class object yields, in order, into k->edges. Arrays are walked where they are used. */
void WIDE(hdx_leak_expand_object)(search *k, NID id, const object *o);
/* Place + 1 of the last matcher that holds; member NULL, class_name.at NULL: any. */
uint32_t WIDE(hdx_leak_matcher_named)(const search *k, hdx_leak_matcher_kind kind, hdx_text class_name,
                                      const char *member);

/* ---- search_wide.c, for grow_wide.c, too ---- */
/* Roots in their order, locals by their thread; k->st has been read. */
hdx_code WIDE(hdx_leak_take_roots)(search *k, hdx_error *err);
void WIDE(hdx_leak_drop)(search *k); /* all but its store */

/* ---- paths_wide.c ---- */
/* s->paths of the outermost leaks, each reference named; s->lost. */
hdx_code WIDE(hdx_leak_paths)(search *k, hdx_error *err);

/* ---- flood_wide.c ---- */
/*
 * Retained bytes and objects of the objects in s->bytes and s->counts (keys are ids). native: bytes by id. *gave_up: it
 * would take too long.
 */
hdx_code WIDE(hdx_leak_flood)(search *k, const hdx_map *native, bool *gave_up, hdx_error *err);
/* What one object weighs (SHARK 1.8, 4.5); sizes_wide.c. */
uint64_t WIDE(hdx_leak_weight)(const store *st, hdx_id id);

/* ---- sizes_wide.c ---- */
/* The same, by the dominators of all objects. Uses up k's store. */
hdx_code WIDE(hdx_leak_sizes)(search *k, const hdx_map *native, hdx_error *err);

static inline bool walks_elements(const search *k, const object *o)
{
    return o->kind == HDX_OBJECT_ARRAY && o->number != NO_NUMBER && k->plans[o->number].elements;
}

/*
 * dominate_wide.c: the dominator tree of a graph whose lists lie in memory, in ascending order; they are given back.
 * Free it whatever came out.
 */
typedef struct WIDE(leak_tree) {
    hdx_mem *mem;
    uint64_t nodes, reached;
    NID     *number;        /* by node, depth-first; 0: not reached */
    hdx_tape search, idoms; /* as hdx_depth_first and hdx_dominators write them */
    uint64_t idom_count;    /* exceptions on the tape idoms */
} WIDE(leak_tree);
hdx_code WIDE(hdx_leak_dominate)(hdx_packed *lists, const NID *roots, uint64_t root_count, const hdx_resources *with,
                                 WIDE(leak_tree) *out, hdx_error *err);
void WIDE(hdx_leak_tree_free)(WIDE(leak_tree) *tree);

#endif
