/*
 * layouts.h - where collections store their size and their elements: a table of lines, built-in ones and the user's.
 *
 *     CLASS KIND WORD...
 *     java.util.HashMap    map   size=size buckets=table next=next key=key value=value
 *     java.util.ArrayList  list  size=size slots=elementData
 *     java.util.HashSet    set   of=map take=keys
 *
 * CLASS is a name or a glob; the line applies to subclasses, too, unless a nearer class has one. KIND is list, map, set
 * or queue. If a class has several lines, the first whose fields the class has applies (versions of a library); lines
 * of the user precede built-in ones. A PATH is the name of a field, of a field of the object to which it refers (a.b),
 * or of every element of an array (a[].b).
 *
 *   size=EXPR      terms separated by +: a number, PATH (a number, or a boolean as 0 or 1), #PATH (length of an array),
 *                  ?PATH (1 if it refers to an object), %PATH (number of bits set in a long). Without it, elements are
 *                  counted
 *   slots=PATHS    arrays of elements from the beginning on; from=PATH: from that index, continuing at the beginning of
 *                  the array; to=PATH: up to that index; bits=PATH: only those whose bit is set in a long or long[]
 *   sparse=PATHS   arrays of elements between nulls
 *   pairs=PATHS    arrays of key, value, key, value; chain=CLASS#STATIC: this key means that the value is such an array
 *   keys=PATH values=PATH  parallel arrays; last=PATH: whether the last slot has an entry, whatever its key is
 *   buckets=PATHS  arrays of nodes; next=FIELD refers to the next node; bin=FIELD: in a node that has this field, it
 *                  refers to the first node
 *   first=PATH next=FIELD  a chain of nodes       root=PATH left=FIELD right=FIELD  a tree
 *   fields=PATHS   the elements themselves; of a map key, value, key, value
 *   of=PATH        another collection contains the elements; take=keys or take=values of a map; from=PATH: without the
 *                  ones before; value=PATHS: its values are nodes, which have the values there
 *   key=PATHS value=PATHS  in a node, the first that its class has; free=key, free=value, free=none: what is null in a
 *                  slot without an entry
 *   unwrap=CLASS#FIELD,...  an object of that class (a name or a glob) or a subclass stands for the value of its field:
 *                  caches have weak and soft references in place of keys and values
 *   nothing=CLASS#STATIC, null=CLASS#STATIC  this object stands for no element, or for null
 *   hidden         a view or an inner part: not a collection of its own, but its entries can be queried
 *   unknown        the place of the elements is unknown: counted, with neither size nor elements
 */
#ifndef HDX_QUERY_LAYOUTS_H
#define HDX_QUERY_LAYOUTS_H

#include "base/list.h"
#include "base/map.h"
#include "query/query.h"

typedef enum hdx_collection_kind {
    HDX_COLLECTION_LIST,
    HDX_COLLECTION_MAP,
    HDX_COLLECTION_SET,
    HDX_COLLECTION_QUEUE
} hdx_collection_kind;
const char *hdx_collection_kind_name(hdx_collection_kind kind);

#define HDX_PATH_STEPS 8u
#define HDX_PATHS_MOST 10u
#define HDX_STEP_EACH  UINT16_MAX /* every element of the array that the path has reached */
typedef struct hdx_field_path {
    unsigned count;                /* 0: not given */
    uint16_t step[HDX_PATH_STEPS]; /* numbers of names */
} hdx_field_path;
typedef struct hdx_field_paths {
    unsigned       count;
    hdx_field_path at[HDX_PATHS_MOST];
} hdx_field_paths;

typedef struct hdx_size_term {
    char           sign; /* 0: a number, '=': a value, '#', '?' or '%' */
    uint64_t       number;
    hdx_field_path path;
} hdx_size_term;

typedef enum hdx_way {
    HDX_WAY_NONE, /* elements cannot be found */
    HDX_WAY_SLOTS,
    HDX_WAY_SPARSE,
    HDX_WAY_PAIRS,
    HDX_WAY_COLUMNS,
    HDX_WAY_BUCKETS,
    HDX_WAY_CHAIN,
    HDX_WAY_TREE,
    HDX_WAY_FIELDS,
    HDX_WAY_OF
} hdx_way;
typedef enum hdx_take { HDX_TAKE_ALL, HDX_TAKE_KEYS, HDX_TAKE_VALUES } hdx_take;
typedef enum hdx_free { HDX_FREE_PRESET, HDX_FREE_KEY, HDX_FREE_VALUE, HDX_FREE_NONE } hdx_free;

typedef struct hdx_static_name { /* CLASS#STATIC */
    const char *class_name;      /* NULL: not given */
    hdx_text    field;
} hdx_static_name;

#define HDX_UNWRAPS_MOST 4u
typedef struct hdx_unwrap { /* CLASS#FIELD */
    hdx_text class_name;    /* a name or a glob */
    bool     reference;     /* the field is Reference.referent: null in it stands for null */
    uint16_t field;         /* number of its name */
} hdx_unwrap;

typedef struct hdx_layout {
    hdx_text            class_name;
    bool                glob, hidden, unknown;
    hdx_collection_kind kind;
    unsigned            term_count;
    hdx_size_term       term[6];
    hdx_way             way;
    hdx_take            take;
    hdx_free            free;
    hdx_field_paths     source, values, key, value;
    hdx_field_path      from, to, bits, last, next, left, right, bin;
    hdx_static_name     nothing, null, chain;
    unsigned            unwrap_count;
    hdx_unwrap          unwrap[HDX_UNWRAPS_MOST];
} hdx_layout;

typedef struct hdx_layouts {
    hdx_mem             *mem;
    hdx_arena            arena; /* of texts */
    HDX_LIST(hdx_layout) lines;
    HDX_LIST(hdx_text)   names;
    hdx_map              named; /* hash of a name -> its number + 1; the last of names with equal hashes */
} hdx_layouts;

/*
 * hdx_layouts_begin creates an empty table, hdx_layouts_known adds the built-in lines. The lines of a user are read
 * before them, because of two lines for one class the earlier applies.
 */
hdx_code hdx_layouts_begin(hdx_layouts *l, hdx_mem *mem, hdx_error *err);
/* Parses lines. Returns HDX_USAGE with the number of the line of `name` that is invalid. */
hdx_code hdx_layouts_read(hdx_layouts *l, const char *name, const char *text, size_t len, hdx_error *err);
hdx_code hdx_layouts_known(hdx_layouts *l, hdx_error *err);
/*
 * Reads the lines of a file (path NULL: none), which may be a pipe, then the built-in ones. The caller frees the table
 * in any case.
 */
hdx_code hdx_layouts_open(hdx_layouts *l, const char *path, const hdx_progress *progress, hdx_mem *mem, hdx_error *err);
void     hdx_layouts_free(hdx_layouts *l);

/* A built-in line as data: its words by name; NULL: not given. */
typedef struct hdx_known_layout {
    const char         *name; /* of the class, or a glob */
    hdx_collection_kind kind;
    bool                hidden, unknown;
    const char         *size, *slots, *sparse, *pairs, *keys, *values, *buckets, *first, *root, *fields, *of;
    const char         *from, *to, *bits, *last, *next, *left, *right, *bin, *key, *value, *take, *free;
    const char         *nothing, *null, *chain, *unwrap;
} hdx_known_layout;
extern const hdx_known_layout hdx_layouts_of_languages[], hdx_layouts_of_libraries[];
extern const unsigned         hdx_layouts_of_languages_count, hdx_layouts_of_libraries_count;

/* ---- which line applies to a class of a graph ---- */
typedef struct hdx_layout_of_class {
    const hdx_layout *layout; /* NULL: not a collection */
    uint32_t class;           /* class of the line: the class itself or a superclass */
    uint64_t skip;            /* bytes of the fields of its subclasses */
    bool     guessed;         /* it is named like a collection, and nothing else is known (collection_like.c) */
} hdx_layout_of_class;
typedef struct hdx_bound_layouts {
    const hdx_layouts   *layouts;
    hdx_layout_of_class *of; /* by class number */
    uint32_t             classes;
} hdx_bound_layouts;
hdx_code hdx_layouts_bind(const hdx_layouts *l, hdx_ask *ask, hdx_bound_layouts *out, hdx_error *err);
void     hdx_layouts_unbind(hdx_bound_layouts *b);
/* Finds a field by name in the class or its superclasses, the nearest first, and returns its offset in an instance. */
bool hdx_layout_field(hdx_graph *g, uint32_t class, hdx_text name, uint64_t *offset, uint8_t *type);

#endif
