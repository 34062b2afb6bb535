/*
 * wide.h - what the files compiled once per width of an id share: slots, expand, search, paths, sizes; seen by them alone, once per width of an id.
 *
 *     class_of  1 0 0 2 ...            class number; CLASS_OBJECT | own number for class objects
 *     at        0 3 3 5 ...            slots of object i: at[i] .. at[i + 1] - 1
 *     slots     7 - 2 9 ...            ids; NONE where the reference is null or names no object
 *
 * An instance has the slots of its class's plan; those of java.util.ArrayList one more, which holds `size`. An object array has its elements, a
 * class object its static references, everything else nothing.
 */
#ifndef HDX_LEAKS_WIDE_H
#define HDX_LEAKS_WIDE_H

#include "algo/width.h"
#include "leaks/leaks.h"

#define CLASS_OBJECT 0x80000000u

typedef struct WIDE(leak_store) {
    leak_heap        *h;
    const leak_plans *plans;
    uint64_t          objects;
    uint32_t         *class_of;
    uint64_t         *at;
    NID              *slots;
    uint64_t          slot_count;
    uint64_t         *class_size; /* by class number: bytes of its CLASS_DUMP without the tag */
    hdx_dump_root    *roots;      /* in the order of the dump */
    uint64_t          root_count, root_capacity;
    uint64_t          dangling;
} WIDE(leak_store);
typedef WIDE(leak_store) store;

/* s->h and s->plans are set. *too_wide: NID does not suffice (HDX_LIMIT). */
hdx_code WIDE(leak_store_read)(store *s, unsigned threads, hdx_ticker *tick, bool *too_wide, hdx_error *err);
void     WIDE(leak_store_free)(store *s);

/* What was reached, in the order in which it was taken from the queues, and what each yielded. */
typedef struct WIDE(leak_reached) {
    NID      *order;
    uint64_t  count, capacity;
    uint64_t *edge_end;      /* by place in order; with sizes only */
    uint64_t  edge_end_capacity;
    NID      *edges;         /* ids */
    uint64_t  edge_count, edge_capacity;
    NID      *roots;         /* distinct root objects in root order */
    uint64_t  root_count;
} WIDE(leak_reached);
typedef WIDE(leak_reached) reached;

/* Retained bytes and objects of the objects in s->bytes and s->counts (keys are ids). Uses up r. native: bytes by id. */
hdx_code WIDE(leak_sizes)(store *st, reached *r, const hdx_map *native, leak_search *s, hdx_error *err);

/*
 * A search under way.
 *   S1  `from` of a reached object is the object that enqueued it last; of a root object it is the object itself.
 *   S2  once the first queue is empty everything goes behind the last one (`turned`).
 */
typedef enum leak_how { BY_FIELD, BY_STATIC, BY_ELEMENT, BY_LOCAL, BY_INDEX, BY_KEY, BY_VALUE, BY_MEMBER, BY_TARGET, BY_NEW_ACTIVITIES } leak_how;
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
    store        *st;
    leak_search  *s;
    const leak_plan *plans;
    NID          *from;
    uint64_t     *seen, *waiting, *wanted, *late; /* bits over ids; late: taken from the last queue */
    reached       r;       /* order is the first queue until it is empty, too */
    NID          *last;
    uint64_t      last_head, last_count, last_capacity;
    bool          turned, naming;
    leak_root    *roots;
    uint64_t      root_count;
    hdx_map       root_of; /* object -> place in roots, where it was enqueued by one */
    hdx_map       serials; /* thread object -> serial */
    local        *locals;  /* by serial, in the order of the dump */
    uint64_t      local_count, local_capacity;
    edge         *edges;   /* of the object looked at */
    uint64_t      edge_count, edge_capacity;
    NID           new_activities;
    bool          record_listed;
    NID          *found;
    uint64_t      found_count;
    bool          out_of_memory;
} WIDE(leak_walk);
typedef WIDE(leak_walk) search;

/* ---- expand_wide.c ---- */
/* Everything an instance or a class object yields, in order, into k->edges. Arrays are walked where they are used. */
void WIDE(leak_expand_object)(search *k, NID id);
/* Place + 1 of the last matcher that holds; member NULL, class_name.at NULL: any. */
uint32_t WIDE(leak_matcher_named)(const search *k, hdx_leak_matcher_kind kind, hdx_text class_name, const char *member);

/* ---- paths_wide.c ---- */
/* s->paths of the outermost leaks, each reference named; s->lost. */
hdx_code WIDE(leak_paths)(search *k, hdx_error *err);

static inline bool is_class(const store *s, hdx_id id) { return (s->class_of[id] & CLASS_OBJECT) != 0; }
static inline uint32_t number_of(const store *s, hdx_id id) { return s->class_of[id] & ~CLASS_OBJECT; }
static inline hdx_object_kind kind_of(const store *s, hdx_id id)
{
    return is_class(s, id) ? HDX_CLASS_OBJECT : number_of(s, id) < s->h->class_count ? s->h->classes[number_of(s, id)].kind : HDX_PRIMITIVE_ARRAY;
}

static inline bool walks_elements(const search *k, hdx_id id)
{
    return kind_of(k->st, id) == HDX_OBJECT_ARRAY && k->plans[number_of(k->st, id)].elements;
}

/* dominate_wide.c: the dominator tree of a graph in memory; lists are put into ascending order. Free it whatever came out. */
typedef struct WIDE(leak_tree) {
    uint64_t nodes, reached;
    NID     *number; /* by node, depth-first; 0: not reached */
    hdx_tape search, idoms; /* as hdx_depth_first and hdx_dominators write them */
    uint64_t idom_count;
} WIDE(leak_tree);
hdx_code WIDE(leak_dominate)(uint64_t nodes, const NID *starts, NID *edges, const NID *roots, uint64_t root_count, unsigned threads, hdx_ticker *tick,
                             WIDE(leak_tree) *out, hdx_error *err);
void     WIDE(leak_tree_free)(WIDE(leak_tree) *tree);

#endif
