/*
 * contents.h - what a collection holds, by its layout (layouts.h): its size, its arrays, its entries one by one.
 *
 *     hdx_contents_open(&c, graph, &bound, steps, mem, err);
 *     hdx_contents_facts(&c, id, true, &facts, err);
 *     hdx_entry_walk_begin(&walk, &c, id, err);
 *     while ((code = hdx_entry_walk_next(&walk, &entry, &more, err)) == HDX_OK && more) ...
 *     note = walk.note;                                      why there was not all of it
 *
 * One hdx_contents belongs to one thread. Every record that is read and every 64 elements of an array that are looked
 * at are a step; what takes more steps than allowed ends with a note, and so do rings. No note is an error: an answer
 * says it beside what it has.
 */
#ifndef HDX_QUERY_CONTENTS_H
#define HDX_QUERY_CONTENTS_H

#include "query/common/layouts.h"

typedef enum hdx_collection_note {
    HDX_NOTE_NONE,
    HDX_NOTE_UNKNOWN, /* no line fits the class, or that of a node or of a collection inside */
    HDX_NOTE_ABSENT,  /* the dump does not have the values: stripped, cut, or not at hand */
    HDX_NOTE_DAMAGED, /* a reference to no object, a size below zero or above that of the array */
    HDX_NOTE_LONG     /* more steps than allowed: a ring, or very long */
} hdx_collection_note;
const char *hdx_collection_note_name(hdx_collection_note note); /* NULL: none */

#define HDX_SEEN       64u
#define HDX_SEEN_BYTES 256u
typedef struct hdx_seen { /* the beginning of an object's content */
    hdx_id   id;
    uint32_t have;
    uint8_t  bytes[HDX_SEEN_BYTES];
} hdx_seen;

typedef struct hdx_contents {
    hdx_graph               *g;
    const hdx_bound_layouts *bound;
    hdx_mem                 *mem;
    uint32_t                 id_size, reference_size;
    bool                     wiped;     /* primitive fields of 0 were overwritten: they say nothing */
    uint16_t                 this_name; /* number of the name `this`; UINT16_MAX: no line has it */
    hdx_map                  places;    /* class and name -> place of the field */
    hdx_seen                *seen;
    uint64_t                 steps, most;
    hdx_collection_note      note; /* why the last call gave up */
    hdx_code                 code; /* HDX_OK: because of `note` */
    hdx_error               *err;
} hdx_contents;
hdx_code hdx_contents_open(hdx_contents *c, hdx_graph *g, const hdx_bound_layouts *bound, hdx_mem *mem, hdx_error *err);
void     hdx_contents_close(hdx_contents *c);
/* An array is a list of its elements, those that the dump does not have included: they are absent. */
extern const hdx_layout hdx_layout_of_arrays;
/* The layout of an object; NULL: it is neither a collection nor an array. */
const hdx_layout *hdx_contents_layout(const hdx_contents *c, hdx_id id);

/* More steps than the collections of a sound heap need together: no node is in two of them. */
uint64_t hdx_contents_steps(const hdx_graph *g);

typedef struct hdx_collection_facts {
    const hdx_layout   *layout;
    hdx_collection_note note;
    bool                sized, arrays, scanned; /* size is known; it has arrays of its own; they were looked into */
    bool                hashed;                 /* in buckets */
    uint64_t            size, capacity;         /* capacity: elements or entries that its arrays have room for */
    uint64_t            used, waste;            /* places that hold something, buckets; bytes of the others */
    hdx_id              backing;                /* the collection that holds the elements; HDX_NO_ID: itself */
} hdx_collection_facts;
/* scan: look into arrays of buckets too. `most` steps. */
hdx_code hdx_contents_facts(hdx_contents *c, hdx_id id, bool scan, uint64_t most, hdx_collection_facts *out,
                            hdx_error *err);

typedef struct hdx_entry {
    uint64_t  index;
    bool      has_key, has_value;
    hdx_value key, value; /* references are addresses; 0: null */
} hdx_entry;

#define HDX_PIECE 512u
typedef struct hdx_element_reader { /* of one array */
    hdx_id   array;                 /* HDX_NO_ID: none */
    uint8_t  type, size;
    uint64_t length, from; /* from: first element in `bytes` */
    uint32_t count;        /* elements in `bytes` */
    uint8_t  bytes[HDX_PIECE];
} hdx_element_reader;

#define HDX_NESTED_ARRAYS 4u
typedef struct hdx_arrays { /* the arrays that paths lead to, one after the other */
    unsigned path, depth;
    struct {
        hdx_element_reader elements;
        uint64_t           next;
        unsigned           step; /* of the path, after [] */
    } frame[HDX_NESTED_ARRAYS];
} hdx_arrays;

#define HDX_WRAPPERS_MOST 8u
typedef struct hdx_entry_walk {
    hdx_contents       *c;
    hdx_id              id; /* the collection that has the elements */
    hdx_layout_of_class of;
    hdx_take            take;
    hdx_collection_note note;
    bool                ended;
    bool                counts;         /* it counts the elements for the facts of the collection */
    bool                sized, bounded; /* size is known; elements after so many are none */
    uint64_t            size, skip;     /* what a view has of it */
    uint64_t            given, next, start, from;
    uint64_t            limit; /* elements of the array that count */
    hdx_arrays          arrays;
    hdx_element_reader  slots, beside, chained;
    uint64_t            chained_next;
    hdx_id              node;
    hdx_ids             path; /* of a tree: nodes whose left sides are done */
    bool                went; /* the root was gone down from */
    hdx_addr            nothing[4], null[4], chain[4];
    const hdx_layout   *wrapper[HDX_WRAPPERS_MOST]; /* that say what keys and values stand for, the outer first */
    unsigned            wrappers;
} hdx_entry_walk;
/* `most` steps. note: no elements can be found. */
hdx_code hdx_entry_walk_begin(hdx_entry_walk *w, hdx_contents *c, hdx_id id, uint64_t most, hdx_error *err);
hdx_code hdx_entry_walk_next(hdx_entry_walk *w, hdx_entry *out, bool *more, hdx_error *err);
void     hdx_entry_walk_end(hdx_entry_walk *w);

/* ---- of many collections ---- */
/* Gives classes that are collections by their name and what they refer to a layout of unknown size (collection_like.c).
 */
hdx_code hdx_collections_like(hdx_ask *ask, hdx_bound_layouts *bound, hdx_error *err);
/* The field that holds it, directly or in other collections, as a number; then CLASS.FIELD (collection_holders.c). */
hdx_code hdx_collection_holder(hdx_graph *g, const hdx_bound_layouts *known, hdx_id id, uint64_t *out, hdx_error *err);
hdx_code hdx_collection_holder_cell(hdx_graph *g, uint64_t holder, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Keys that two maps have, those of one class that say the same as one: address, class, label, maps, objects
 * (map_keys.c). maps: of each key how many have it, which is used up.
 */
enum { HDX_MAP_KEY_COLUMNS = 5 };
hdx_code hdx_map_keys_rows(hdx_ask *ask, hdx_map *maps, const hdx_column columns[HDX_MAP_KEY_COLUMNS], hdx_rows **out,
                           hdx_error *err);

#endif
