/*
 * contents.h - reads the content of a collection by its layout (layouts.h): its size, its arrays, its entries one by
 * one.
 *
 *     hdx_contents_open(&c, graph, &bound, mem, err);
 *     hdx_contents_facts(&c, id, true, steps, &facts, err);
 *     hdx_entry_walk_begin(&walk, &c, id, steps, err);
 *     while ((code = hdx_entry_walk_next(&walk, &entry, &more, err)) == HDX_OK && more) ...
 *     note = walk.note;                                      why entries are missing
 *     hdx_entry_walk_end(&walk);
 *     hdx_contents_close(&c);
 *
 * An hdx_contents belongs to one thread. Each record that is read is a step, and so are 64 elements of an array. A
 * collection that needs more steps than allowed, for example a cycle, ends with a note. A note is not an error: answers
 * report it together with the entries that were found.
 */
#ifndef HDX_QUERY_CONTENTS_H
#define HDX_QUERY_CONTENTS_H

#include "query/common/layouts.h"

typedef enum hdx_collection_note {
    HDX_NOTE_NONE,
    HDX_NOTE_UNKNOWN, /* no layout is known for the class, or for that of a node or of a collection inside */
    HDX_NOTE_ABSENT,  /* the dump lacks the values: stripped, truncated, or unavailable */
    HDX_NOTE_DAMAGED, /* a reference to no object, a negative size, or one that exceeds its array */
    HDX_NOTE_LONG     /* more steps than allowed: a cycle, or very long */
} hdx_collection_note;
const char *hdx_collection_note_name(hdx_collection_note note); /* NULL for HDX_NOTE_NONE */

#define HDX_SEEN       64u
#define HDX_SEEN_BYTES 256u
typedef struct hdx_seen { /* the first bytes of an object's content */
    hdx_id   id;
    uint32_t have;
    uint8_t  bytes[HDX_SEEN_BYTES];
} hdx_seen;

typedef struct hdx_contents {
    hdx_graph               *g;
    const hdx_bound_layouts *bound;
    hdx_mem                 *mem;
    uint32_t                 id_size, reference_size;
    bool                     wiped;     /* primitive fields with value 0 were overwritten, so they are unknown */
    uint16_t                 this_name; /* number of the name `this`; UINT16_MAX: no layout uses it */
    hdx_map                  places;    /* class and name -> offset and type of the field */
    hdx_seen                *seen;
    uint64_t                 steps, most;
    hdx_collection_note      note; /* why the last call gave up */
    hdx_code                 code; /* error of the last call; HDX_OK: see `note` */
    hdx_error               *err;
} hdx_contents;
hdx_code hdx_contents_open(hdx_contents *c, hdx_graph *g, const hdx_bound_layouts *bound, hdx_mem *mem, hdx_error *err);
void     hdx_contents_close(hdx_contents *c);
/* An array is a list of all its elements; those that the dump lacks are absent. */
extern const hdx_layout hdx_layout_of_arrays;
/* Returns the layout of an object; NULL: it is neither a collection nor an array. */
const hdx_layout *hdx_contents_layout(const hdx_contents *c, hdx_id id);

/*
 * Returns a number of steps that exceeds what all collections of a sound heap need together: no node is in two of them.
 */
uint64_t hdx_contents_steps(const hdx_graph *g);

typedef struct hdx_collection_facts {
    const hdx_layout   *layout;
    hdx_collection_note note;
    bool                sized, arrays, scanned; /* the size is known; it has arrays of its own; they were scanned */
    bool                hashed;                 /* elements are in buckets */
    uint64_t            size, capacity;         /* capacity: number of elements or entries that fit in its arrays */
    uint64_t            used, waste;            /* array elements that are in use, or buckets; bytes of the others */
    hdx_id              backing;                /* the collection that contains the elements; HDX_NO_ID: this one */
} hdx_collection_facts;
/* Reads facts about a collection in at most `most` steps. scan: read arrays of buckets, too. */
hdx_code hdx_contents_facts(hdx_contents *c, hdx_id id, bool scan, uint64_t most, hdx_collection_facts *out,
                            hdx_error *err);

typedef struct hdx_entry {
    uint64_t  index;
    bool      has_key, has_value;
    hdx_value key, value; /* references are addresses; 0: null */
} hdx_entry;

#define HDX_PIECE 512u
typedef struct hdx_element_reader { /* reads the elements of one array */
    hdx_id   array;                 /* HDX_NO_ID: none */
    uint8_t  type, size;
    uint64_t length, from; /* index of the first element in `bytes` */
    uint32_t count;        /* number of elements in `bytes` */
    uint8_t  bytes[HDX_PIECE];
} hdx_element_reader;

#define HDX_NESTED_ARRAYS 4u
typedef struct hdx_arrays { /* the arrays to which paths lead, one after the other */
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
    hdx_id              id; /* the collection that contains the elements */
    hdx_layout_of_class of;
    hdx_take            take;
    hdx_collection_note note;
    bool                ended;
    bool                counts;         /* the walk counts the elements for the facts of the collection */
    bool                sized, bounded; /* size is known; at most `size` elements exist */
    uint64_t            size, skip;     /* the part of the elements that a view shows */
    uint64_t            given, next, start, from;
    uint64_t            limit; /* number of array elements that are in use */
    hdx_arrays          arrays;
    hdx_element_reader  slots, parallel, chained;
    uint64_t            chained_next;
    hdx_id              node;
    hdx_ids             path; /* of a tree: nodes whose left subtrees are done */
    bool                went; /* the descent from the root has begun */
    hdx_addr            nothing[4], null[4], chain[4];
    /* layouts that define what keys and values stand for, the outer one first */
    const hdx_layout *wrapper[HDX_WRAPPERS_MOST];
    unsigned          wrappers;
} hdx_entry_walk;
/*
 * Starts a walk over the entries, with at most `most` steps. walk.note is set if the elements cannot be found.
 * hdx_entry_walk_next sets *more to false after the last entry; hdx_entry_walk_end frees the walk.
 */
hdx_code hdx_entry_walk_begin(hdx_entry_walk *w, hdx_contents *c, hdx_id id, uint64_t most, hdx_error *err);
hdx_code hdx_entry_walk_next(hdx_entry_walk *w, hdx_entry *out, bool *more, hdx_error *err);
void     hdx_entry_walk_end(hdx_entry_walk *w);

/* ---- many collections ---- */
/*
 * Gives a layout of unknown size to classes that look like collections by their name and their references
 * (collection_like.c).
 */
hdx_code hdx_collections_like(hdx_ask *ask, hdx_bound_layouts *bound, hdx_error *err);
/*
 * Returns the field that refers to a collection, directly or through other collections, as a number;
 * hdx_collection_holder_cell converts it to CLASS.FIELD (collection_holders.c).
 */
hdx_code hdx_collection_holder(hdx_graph *g, const hdx_bound_layouts *known, hdx_id id, uint64_t *out, hdx_error *err);
hdx_code hdx_collection_holder_cell(hdx_graph *g, uint64_t holder, hdx_arena *arena, hdx_cell *out, hdx_error *err);
/*
 * Returns rows of keys that at least two maps have; keys of one class with equal content count as one. Columns:
 * address, class, label, maps, objects (map_keys.c). `maps`: number of maps for each key; its content is destroyed.
 */
enum { HDX_MAP_KEY_COLUMNS = 5 };
hdx_code hdx_map_keys_rows(hdx_ask *ask, hdx_map *maps, const hdx_column columns[HDX_MAP_KEY_COLUMNS], hdx_rows **out,
                           hdx_error *err);

#endif
