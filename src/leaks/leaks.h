/*
 * leaks.h - the room that finds leaks as LeakCanary's Shark does. <heapdex/leaks.h> is its public part.
 *
 *     dump ---slots_wide.c---> references of every object, in Shark's order, including nulls
 *          ---search_wide.c--> two queues from the roots: from which object each one was reached
 *                              (expand_wide.c: the objects to which one refers)
 *          ---paths_wide.c---> paths with named references
 *          ---flood_wide.c---> retained sizes of the objects on paths; sizes_wide.c, dominate_wide.c: the same from
 *                              dominators of all objects, if that takes too long
 *     paths ---trace.c-------> statuses, suspects, signatures, groups
 *                              (inspect.c, android.c: reasons and labels of one object)
 *
 *          ---grow_wide.c----> all objects as a tree of few paths, distinguished by names (SHARK 6)
 *
 *   mapping.c   original names for those of R8 and ProGuard
 *   rules.c     the caller's matchers and state rules, line by line
 *   matchers.c  references of Android that are not followed, or that mark a leak of the platform
 *   tables.c    states of objects that follow from their fields
 *   heap.c      names after the mapping, fields by owner and name, texts
 *   finder.c    which objects leak
 *   metadata.c  facts about device and application in the dump
 *   answer.c    an answer as bytes, saved in the index folder
 *   report.c    an answer as rows
 *   sha1.c      signatures
 *   plan.c      offsets of the references in an instance, per class
 *
 * SHARK 3.6 and the like in comments are sections of doc/shark.md.
 */
#ifndef HDX_LEAKS_LEAKS_H
#define HDX_LEAKS_LEAKS_H

#include "base/base.h"
#include "graph/graph.h"
#include "model/model.h"
#include <heapdex/answer.h>
#include <heapdex/leaks.h>

/* ---- mapping.c ---- */
typedef struct leak_mapping leak_mapping;
/* Reads a mapping. Invalid lines are ignored, as in Shark. */
hdx_code hdx_leak_mapping_read(const char *at, size_t len, leak_mapping **out, hdx_error *err);
void     hdx_leak_mapping_free(leak_mapping *m);
/* Returns the original name, or `obscure` itself, also for arrays of mapped classes. m may be NULL. */
hdx_text hdx_leak_mapping_class(const leak_mapping *m, hdx_text obscure, hdx_arena *arena);
hdx_text hdx_leak_mapping_field(const leak_mapping *m, hdx_text class_name, hdx_text field);
hdx_text hdx_leak_mapping_method(const leak_mapping *m, hdx_text class_name, hdx_text method);

/* ---- tables.c ---- */
/* Classes that inspectors use. */
typedef enum leak_class {
    LC_CLASS_LOADER,
    LC_THREAD,
    LC_VIEW,
    LC_EDITOR,
    LC_CONTEXT,
    LC_CONTEXT_WRAPPER,
    LC_ACTIVITY,
    LC_APPLICATION,
    LC_SERVICE,
    LC_DECOR_CONTEXT,
    LC_CONTEXT_MANAGER,
    LC_CONTEXT_IMPL,
    LC_DIALOG,
    LC_ACTIVITY_THREAD,
    LC_INPUT_METHOD_MANAGER,
    LC_FRAGMENT,
    LC_SUPPORT_FRAGMENT,
    LC_ANDROIDX_FRAGMENT,
    LC_MESSAGE_QUEUE,
    LC_LOADED_APK,
    LC_PRESENTER,
    LC_MORTAR_SCOPE,
    LC_COORDINATOR,
    LC_VIEW_ROOT,
    LC_WINDOW,
    LC_MESSAGE,
    LC_TOAST,
    LC_RECOMPOSER,
    LC_COMPOSITION,
    LC_ANIMATOR,
    LC_OBJECT_ANIMATOR,
    LC_LIFECYCLE,
    LC_STRING,
    LC_CLEANER_THUNK,
    LC_ALLOCATION_REGISTRY,
    LC_CLASSES
} leak_class;
extern const char *const hdx_leak_class_names[LC_CLASSES];

/* A state that follows from the value of one field. */
typedef enum leak_test { LT_ALWAYS, LT_TRUE, LT_FALSE, LT_NULL, LT_SET, LT_IS } leak_test;
typedef struct leak_state {
    leak_class      of;
    const char     *field; /* of class `of`; NULL with LT_ALWAYS */
    leak_test       test;
    int64_t         number; /* for LT_IS: the value of the field */
    hdx_leak_status means;  /* HDX_LEAK_UNKNOWN: a label */
    const char     *code, *text;
} leak_state;
extern const leak_state hdx_leak_states[];
extern const size_t     hdx_leak_state_count;

/* Fields through which virtual references lead (SHARK 3.6). */
typedef enum leak_known {
    LK_NONE,
    LK_LINKED_FIRST,
    LK_LINKED_VOID,
    LK_NODE_ITEM,
    LK_NODE_NEXT,
    LK_LINK_DATA,
    LK_LINK_NEXT,
    LK_LIST_DATA,
    LK_LIST_ARRAY,
    LK_COW_ARRAY,
    LK_COW_ELEMENTS,
    LK_HASH_TABLE,
    LK_ENTRY_KEY,
    LK_ENTRY_VALUE,
    LK_ENTRY_NEXT,
    LK_HENTRY_KEY,
    LK_HENTRY_VALUE,
    LK_HENTRY_NEXT,
    LK_HNODE_KEY,
    LK_HNODE_VALUE,
    LK_HNODE_NEXT,
    LK_CHM_TABLE,
    LK_CNODE_KEY,
    LK_CNODE_VALUE,
    LK_CNODE_NEXT,
    LK_SET_MAP,
    LK_SET_BACKING,
    LK_ARRAYSET_ARRAY,
    LK_SAFE_START,
    LK_SAFE_KEY,
    LK_SAFE_VALUE,
    LK_SAFE_NEXT,
    LK_QUEUE_MESSAGES,
    LK_MESSAGE_NEXT,
    LK_ANIMATOR_TARGET,
    LK_REFERENT,
    LK_NEW_ACTIVITIES,
    LK_NEXT_IDLE,
    LK_RECORD_ACTIVITY,
    LK_STRING_VALUE,
    LK_KNOWN
} leak_known;
typedef struct leak_known_field {
    const char *owner, *name;
} leak_known_field;
extern const leak_known_field hdx_leak_known_fields[LK_KNOWN];
bool                          hdx_leak_is_wrapper(hdx_text class_name); /* java.lang.Integer ... */

/* ---- rules.c ---- */
typedef struct leak_rule { /* a state that the caller defines */
    char           *class_name, *field, *value, *text;
    bool            subclasses;
    int             op; /* 0 always, 1 =, 2 !=, 3 <, 4 <=, 5 >, 6 >= */
    hdx_leak_status means;
} leak_rule;
typedef struct leak_rules {
    hdx_arena         arena;
    hdx_leak_matcher *matchers; /* built-in ones, the caller's, those of the file */
    uint64_t          matcher_count, matcher_capacity;
    leak_rule        *rules;
    uint64_t          rule_count, rule_capacity;
} leak_rules;
hdx_code hdx_leak_rules_read(const hdx_leaks_options *options, leak_rules *out, hdx_error *err);
void     hdx_leak_rules_free(leak_rules *r);
/* "instance field CLASS#FIELD" ... (SHARK 5.6) */
void hdx_leak_pattern(const hdx_leak_matcher *m, hdx_buffer *out);

/* ---- heap.c ---- */
#define LEAK_RECENT   16u
#define LEAK_EXTENDED 64u
typedef struct leak_heap {
    hdx_graph          *g;
    uint64_t            objects;
    const hdx_class    *classes;
    uint32_t            class_count;
    hdx_text           *names;   /* by class number, after the mapping */
    uint64_t           *is_a;    /* by class number: bit 63 known, else leak_class bits of the hierarchy */
    uint32_t           *climbed; /* room for the classes of the longest hierarchy */
    const leak_mapping *mapping;
    hdx_arena           arena;
    uint32_t            id_size;
    bool                android;
    hdx_code            code; /* the first failure; later results are empty */
    hdx_error           err;
    struct {
        hdx_id     id;
        hdx_values values;
    } recent[LEAK_RECENT]; /* fields of the last objects that were read */
    unsigned next;
    struct {
        const char *name;
        uint8_t    *of;
    } extended[LEAK_EXTENDED]; /* names that were used (they outlive the heap), and what is known by class number */
    const uint32_t
            *sticky; /* class numbers with a STICKY_CLASS root, in the order of the dump; set after reading the dump */
    uint64_t sticky_count;
} leak_heap;

hdx_code hdx_leak_heap_open(hdx_graph *g, const leak_mapping *mapping, leak_heap *h, hdx_error *err);
void     hdx_leak_heap_close(leak_heap *h);
hdx_text hdx_leak_name(const leak_heap *h, uint32_t number); /* of a class */
hdx_text hdx_leak_field_name(const leak_heap *h, uint32_t owner, hdx_text raw);
/* Returns the name of an object's class; of a class object that of the class that it represents. */
hdx_text      hdx_leak_name_of(leak_heap *h, hdx_id id);
hdx_leak_what hdx_leak_what_of(leak_heap *h, hdx_id id);
bool          hdx_leak_is_instance(leak_heap *h, hdx_id id);
uint64_t      hdx_leak_bits(leak_heap *h, uint32_t number);
bool          hdx_leak_isa(leak_heap *h, hdx_id id, leak_class c); /* instances only */
bool          hdx_leak_extends(leak_heap *h, uint32_t number,
                               const char *name); /* whether a class of the hierarchy has this name after the mapping */
/* Finds a class by its name in the dump (SHARK 1.6); NULL: none. */
const hdx_class *hdx_leak_class_raw(leak_heap *h, const char *name);
/* Returns the fields of an instance; valid until LEAK_RECENT other objects were read. */
const hdx_values *hdx_leak_fields(leak_heap *h, hdx_id id);
/* Returns a field that class `owner` declares; false: there is none, or it is absent. */
bool hdx_leak_get(leak_heap *h, hdx_id id, const char *owner, const char *field, hdx_value *out);
/* Returns the object to which a field refers; HDX_NO_ID: null, dangling, or no such field. */
hdx_id hdx_leak_get_object(leak_heap *h, hdx_id id, const char *owner, const char *field);
/* *there is false if there is no such field. */
bool    hdx_leak_get_bool(leak_heap *h, hdx_id id, const char *owner, const char *field, bool *there);
int64_t hdx_leak_get_int(leak_heap *h, hdx_id id, const char *owner, const char *field, int64_t otherwise);
bool    hdx_leak_static(leak_heap *h, const hdx_class *c, const char *field, hdx_value *out);
hdx_id  hdx_leak_static_object(leak_heap *h, const hdx_class *c, const char *field);
hdx_id  hdx_leak_object_at(const leak_heap *h, hdx_addr address);
/* Returns the text of a String, in the arena; NULL: none. */
const char *hdx_leak_text(leak_heap *h, hdx_id id);
const char *hdx_leak_get_text(leak_heap *h, hdx_id id, const char *owner, const char *field);
/* Formats a text in the arena; "" if memory is refused (h->code). */
const char *hdx_leak_print(leak_heap *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Copies the content of the buffer to the arena, likewise, and frees the buffer. */
const char *hdx_leak_keep(leak_heap *h, hdx_buffer *b);
void        hdx_leak_fail(leak_heap *h, hdx_code code, const hdx_error *err);
/*
 * Returns the elements of an object array as ids (HDX_NO_ID: null, dangling), at most `most`. The caller frees them
 * with hdx_mem_put(NULL, ..., *count * 8).
 */
hdx_id                   *hdx_leak_elements(leak_heap *h, hdx_id array, uint64_t most, uint64_t *count);
static inline const char *hdx_leak_cstr(leak_heap *h, hdx_text t)
{
    return hdx_leak_print(h, "%.*s", (int)t.len, t.at);
}

/* ---- plan.c ---- */
enum {
    LEAK_SLOT_IGNORED = 1,
    LEAK_SLOT_LOW = 2,
    LEAK_SLOT_SILENT = 4
}; /* silent: never followed as a plain field (java.lang.Object's) */
typedef struct leak_slot {
    uint32_t offset; /* in the bytes of an instance; for a class object the index among all statics */
    uint32_t owner;  /* class number */
    hdx_text name;
    uint32_t matcher; /* index in rules + 1; 0: none */
    uint8_t  flags;
    uint8_t  known; /* leak_known */
} leak_slot;
typedef enum leak_expand {
    LE_NONE,
    LE_LINKED,
    LE_LIST,
    LE_COW,
    LE_HASH_MAP,
    LE_CONCURRENT_MAP,
    LE_HASH_SET,
    LE_ARRAY_SET,
    LE_SAFE_MAP,
    LE_QUEUE,
    LE_ANIMATOR,
    LE_ACTIVITY_THREAD,
    LE_CLIENT_RECORD
} leak_expand;
typedef struct leak_plan {
    /* of instances, sorted by name (stable; those of the class before those of the superclass) */
    const leak_slot *slots;
    uint32_t         count;
    const leak_slot *statics; /* of the class object: references in the order of the dump */
    uint32_t         static_count;
    uint8_t          expand;   /* leak_expand */
    bool             plain;    /* plain fields are followed */
    bool             elements; /* elements of the array are followed */
    bool             wrappers; /* an array of wrappers (SHARK 4.5) */
    bool             string;
    bool             is_thread;
    int32_t          size_offset; /* ArrayList.size in the bytes of an instance; -1: none */
} leak_plan;
typedef struct leak_plans {
    leak_plan *at; /* by class number */
    uint32_t   linked_head, linked_item, linked_next, list_data, cow_array, node_key, node_value, node_next,
        set_map;                /* leak_known that apply */
    uint32_t  weak_reference;   /* class number of java.lang.ref.WeakReference */
    bool      lists_activities; /* a class has LE_CLIENT_RECORD */
    hdx_arena arena;
} leak_plans;
/* Makes the plans. holds: which matchers apply to this device, by index in rules. */
hdx_code hdx_leak_plans_make(leak_heap *h, const leak_rules *rules, const bool *holds, leak_plans *out, hdx_error *err);
void     hdx_leak_plans_free(leak_plans *p, uint32_t class_count);
hdx_code hdx_leak_matchers_that_hold(leak_heap *h, const leak_rules *rules, bool **holds,
                                     hdx_error *err); /* freed with hdx_mem_put(NULL, ..., matcher_count) */

/* ---- slots_wide.c, search_wide.c, sizes_wide.c ---- */
typedef enum leak_root_kind { /* in the order in which roots are searched (SHARK 3.1) */
                              LR_THREAD_OBJECT,
                              LR_THREAD_BLOCK,
                              LR_STICKY_CLASS,
                              LR_NATIVE_STACK,
                              LR_MONITOR_USED,
                              LR_JNI_MONITOR,
                              LR_JNI_LOCAL,
                              LR_JNI_GLOBAL,
                              LR_JAVA_FRAME,
                              LR_KINDS
} leak_root_kind;
extern const char *const hdx_leak_root_names[LR_KINDS]; /* trace.c */
typedef struct leak_root {
    hdx_id         object;
    leak_root_kind kind;
    uint32_t       serial;
    uint32_t       matcher; /* + 1 */
    bool           low;
} leak_root;
typedef struct leak_hop { /* one reference of a path */
    hdx_id            from, to;
    hdx_leak_ref_kind kind;
    hdx_text          name; /* in the arena of the heap; at NULL: named by `key` */
    hdx_id            key;
    uint32_t          owner;   /* class number */
    uint32_t          matcher; /* + 1 */
    bool              low;
} leak_hop;
typedef struct leak_path {
    const leak_root *root;
    hdx_id          *objects; /* from the root object to the leaking object */
    leak_hop        *hops;    /* one less than objects */
    uint64_t         count;
} leak_path;
typedef struct leak_search {
    leak_heap        *h;
    const leak_rules *rules;
    const bool       *holds;
    const hdx_id     *leaking; /* ascending, each once */
    uint64_t          leaking_count;
    bool              retained;
    unsigned          threads;
    hdx_mem          *mem;
    uint64_t          apart; /* bytes that count in the budget but are not from mem */
    hdx_ticker       *tick;
    hdx_arena         arena;
    /* results */
    leak_path *paths;
    uint64_t   path_count;
    hdx_id    *lost; /* leaking objects without a path */
    uint64_t   lost_count;
    uint64_t   dangling;
    bool       too_wide;      /* 32 bits do not suffice: run again with 64 */
    bool       by_dominators; /* retained sizes are computed from dominators of all objects, which needs more memory */
    /* sizes of the objects on paths, by id; empty without `retained` */
    hdx_map bytes, counts;
} leak_search;
/* Reads slots and roots of the dump and searches. `leaking` is used after the dump was read. */
hdx_code hdx_leak_search_run_32(leak_search *s, hdx_error *err);
hdx_code hdx_leak_search_run_64(leak_search *s, hdx_error *err);
void     hdx_leak_search_free(leak_search *s);

/* ---- grow_wide.c: the whole heap as a tree of paths (SHARK 6.1) ---- */
typedef struct hdx_leak_way { /* how an object was reached, by names only */
    bool           is_root;
    leak_root_kind root;  /* of a root; the following members are for references */
    const char    *how;   /* "INSTANCE_FIELD", "STATIC_FIELD", "ARRAY_ENTRY", "LOCAL" */
    hdx_text       owner; /* class that declares the reference */
    hdx_text       field;
    hdx_leak_what  what; /* kind of the object */
    hdx_text       of;   /* its class; of a class object the name of the class that it represents */
} hdx_leak_way;
#define HDX_LEAK_NO_PLACE UINT32_MAX /* in place of a name or a thing: no memory */
typedef struct hdx_leak_tree {       /* receiver of the tree */
    void    *context;
    unsigned deepest; /* objects that are more steps away count for the last step */
    uint32_t (*name)(void *context, const hdx_leak_way *way);        /* equal results for equal names */
    uint32_t (*thing)(void *context, uint32_t above, uint32_t name); /* above: HDX_LEAK_TOP for roots */
    bool (*count)(void *context, uint32_t thing, uint64_t bytes);    /* counts one object */
} hdx_leak_tree;
#define HDX_LEAK_TOP UINT32_MAX
/* Passes the tree of a heap. Uses the options threads, progress and memory. Returns HDX_BAD_DUMP without the dump. */
hdx_code hdx_leaks_grow(hdx_graph *g, const hdx_leaks_options *o, const hdx_leak_tree *to, hdx_error *err);
hdx_code hdx_leak_search_grow_32(leak_search *s, const hdx_leak_tree *to, hdx_error *err);
hdx_code hdx_leak_search_grow_64(leak_search *s, const hdx_leak_tree *to, hdx_error *err);

/* ---- inspect.c, android.c ---- */
typedef struct leak_look {
    hdx_leak_note *reasons, *labels;
    uint32_t       reason_count, label_count;
    uint64_t       reason_capacity, label_capacity;
} leak_look;
typedef struct leak_watch { /* one KeyedWeakReference */
    hdx_id      reference, referent;
    const char *key, *description;
    bool        timed, retained;
    int64_t     watched_ms, retained_ms;
} leak_watch;
typedef struct leak_inspector {
    leak_heap        *h;
    const leak_rules *rules;
    leak_watch       *watches; /* by referent, then reference */
    uint64_t          watch_count, watch_capacity;
    uint64_t          watched, watched_retained, cleared_retained;
    bool              has_uptime;
    int64_t           uptime;
    bool              services_known;
    hdx_id           *services; /* living services, ascending */
    uint64_t          service_count, service_capacity;
    hdx_map           looked; /* id -> index + 1 in looks */
    leak_look       **looks;
    uint64_t          look_count, look_capacity;
    hdx_arena         arena;
} leak_inspector;
hdx_code hdx_leak_inspector_open(leak_heap *h, const leak_rules *rules, leak_inspector *i, hdx_error *err);
void     hdx_leak_inspector_close(leak_inspector *i);
/* Returns reasons and labels of an object, which are cached. NULL: failure in h->code. */
const leak_look *hdx_leak_look_at(leak_inspector *i, hdx_id id);
/* Same without the cache; free it with hdx_leak_look_drop. */
void   hdx_leak_look_into(leak_inspector *i, hdx_id id, leak_look *l);
void   hdx_leak_look_drop(leak_look *l);
void   hdx_leak_look_states(leak_inspector *i, hdx_id id, leak_class of, leak_look *l); /* applies hdx_leak_states */
void   hdx_leak_look_add(leak_inspector *i, leak_look *l, hdx_leak_status means, const char *code, const char *text);
void   hdx_leak_look_android(leak_inspector *i, hdx_id id, uint64_t bits, leak_look *l);
bool   hdx_leak_rule_holds(leak_inspector *i, const leak_rule *r, hdx_id id);
hdx_id hdx_leak_component(leak_heap *h, hdx_id id);         /* SHARK 2.6; HDX_NO_ID: none */
bool   hdx_leak_context_destroyed(leak_heap *h, hdx_id id); /* leads to a destroyed activity */

/* ---- finder.c ---- */
hdx_code hdx_leak_find(leak_inspector *i, const hdx_leaks_options *o, hdx_id **leaking, uint64_t *count,
                       uint64_t *capacity, hdx_error *err);

/* ---- metadata.c ---- */
typedef struct leak_facts {
    hdx_leak_fact *at;
    uint64_t       count, capacity;
} leak_facts;
hdx_code hdx_leak_metadata(leak_inspector *i, leak_facts *out, hdx_error *err);
/* Returns native bytes by referent (SHARK 4.6). */
hdx_code hdx_leak_native_sizes(leak_heap *h, hdx_map *out, hdx_error *err);

/* ---- trace.c ---- */
/* A result of the search, in the arena of the heap: answer.c makes the answer from it. */
typedef struct leak_made {
    hdx_leak_kind  kind;
    char           signature[41]; /* of the leak; own_signature is that of the trace */
    uint32_t       matcher;       /* + 1 */
    const char    *root_type;
    hdx_leak_step *steps;
    uint64_t       step_count;
    bool           sized;
    uint64_t       retained_bytes, retained_objects;
    char           own_signature[41];
    uint64_t       order, leak; /* order in which it was found; the same for the first trace of its leak */
} leak_made;
/*
 * Returns traces grouped by leak, application leaks first; *out is from hdx_mem_get(NULL) and has path_count +
 * lost_count elements.
 */
hdx_code hdx_leak_traces(leak_inspector *i, const leak_search *s, leak_made **out, uint64_t *count, hdx_error *err);
/*
 * Computes the statuses along a path (SHARK 5.2, 5.3) from each object's own reasons. from: index of the neighbour from
 * which a status is inherited, or SIZE_MAX.
 */
typedef struct leak_state_of {
    bool            says_leaking, says_not;
    hdx_leak_status status;
    bool            conflict;
    size_t          from;
} leak_state_of;
void hdx_leak_statuses(leak_state_of *at, size_t count);

/* ---- answer.c ---- */
typedef struct leak_answer {
    hdx_leaks    out; /* must be first: what the caller sees */
    hdx_arena    arena;
    uint8_t     *bytes;
    uint64_t     size;
    const char **texts;
    uint64_t     text_count;
} leak_answer;
void hdx_leak_encode(const leak_inspector *i, const leak_rules *rules, const leak_made *at, uint64_t count,
                     const leak_facts *facts, uint64_t dangling, hdx_buffer *out);
/* Decodes `size` bytes from hdx_mem_get(NULL), owned by the result on success. NULL: not sound, or no memory. */
leak_answer *hdx_leak_decode(uint8_t *bytes, uint64_t size);
uint64_t     hdx_leak_key(const leak_rules *rules, const hdx_leaks_options *o);

/* ---- sha1.c ---- */
typedef struct leak_sha1 {
    uint32_t h[5];
    uint64_t len;
    uint8_t  block[64];
} leak_sha1;
void hdx_leak_sha1_begin(leak_sha1 *s);
void hdx_leak_sha1_put(leak_sha1 *s, const void *bytes, size_t len);
void hdx_leak_sha1_end(leak_sha1 *s, char hex[41]);

/* ---- report.c ---- */
/* The declaration of the answer `leaks`: columns, document, parameters. Dumps and files are read by its callers. */
extern const hdx_answer hdx_leaks_answer;

/* Returns approximately how many bytes a search needs in a heap with this many objects and references. */
uint64_t hdx_leak_need(uint64_t objects, uint64_t references, bool by_dominators);

#endif
