/*
 * graph.h - a finished index as a read-only graph of objects. All answers read the heap through it.
 *
 * Example (examples/graph.c):
 *     hdx_graph *g;
 *     hdx_id     id, d;
 *     if (hdx_graph_open(report.path, options.dump, &g, &err) != HDX_OK)
 *         return complain(&err);
 *     if (hdx_graph_find(g, address, &id))
 *         for (d = id; d != HDX_VIRTUAL_ROOT && d != HDX_NO_ID; d = hdx_graph_dominator(g, d))
 *             printf("0x%" PRIx64 " retains %" PRIu64 "\n", hdx_graph_address(g, d), hdx_graph_retained(g, d));
 *     hdx_code code = hdx_graph_check(g, &err); // were all pages sound that were touched?
 *     hdx_graph_close(g);
 *
 * Several threads may read a graph at the same time. Cursors are on the caller's stack, and each belongs to one thread.
 * Getters do not fail: for an id out of range and for a damaged page they return the neutral value that their comment
 * names, and hdx_graph_check reports the damage. Call it once after the last getter and before you use the result. The
 * cost of opening does not depend on the size of the dump.
 *
 * Objects are "live" if they are reachable from a GC root (doc/mat.md 5.1). The others ("garbage") have ids, too, and
 * all calls accept them.
 */
#ifndef HEAPDEX_GRAPH_H
#define HEAPDEX_GRAPH_H

#include <heapdex/damage.h>
#include <heapdex/error.h>
#include <heapdex/heap.h>
#include <heapdex/progress.h>
#include <heapdex/source.h>
#include <heapdex/strip.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hdx_graph hdx_graph;

#define HDX_VIRTUAL_ROOT (UINT64_MAX - 1) /* dominator of objects that no single object dominates */

/*
 * Opens an index. `index` is its folder. `dump` is the dump from which the index was built, or NULL: values of fields
 * and arrays are then unavailable, everything else works. The dump is opened when it is first needed.
 * Returns HDX_NOT_FOUND if the folder contains no complete index, HDX_DAMAGED if its catalog is damaged, HDX_USAGE if
 * the folder is that of a view, HDX_BUSY if the index was replaced or removed at the same time. On failure *out is
 * NULL.
 */
HDX_API hdx_code hdx_graph_open(const char *index, const char *dump, hdx_graph **out, hdx_error *err);

/*
 * Same as hdx_graph_open for a view of the index, in which some GC roots or some references are ignored, or other
 * layout rules give the shallow sizes. Reachability, cursors over references, dominators, sizes and nearest roots are
 * those of the view. `view` is its name; NULL opens the index itself.
 * Returns HDX_NOT_FOUND if the index has no such view, HDX_USAGE if the name is not valid.
 */
HDX_API hdx_code hdx_graph_open_view(const char *index, const char *view, const char *dump, hdx_graph **out,
                                     hdx_error *err);

/* Closes a graph. NULL is allowed. REQUIRES: everything that was opened from the graph is closed. */
HDX_API void hdx_graph_close(hdx_graph *g);

/*
 * Index files are mapped: truncating an index file while it is mapped raises SIGBUS in its readers. The library
 * installs no handler. A program that does calls this function from it (it is async-signal-safe). Returns true if the
 * address (si_addr) belongs to an index file of g. The page then reads as zeros, the interrupted call continues, and
 * hdx_graph_check returns HDX_DAMAGED from now on. The catalog is not mapped while the graph is open: it is read when g
 * is opened and when roots or threads are first used.
 *
 * Example (examples/mend.c):
 *     static void on_bus_error(int number, siginfo_t *info, void *context)
 *     {
 *         (void)context;
 *         if (!hdx_graph_handle_fault(graph, info->si_addr)) {
 *             signal(number, SIG_DFL);
 *             raise(number);
 *         }
 *     }
 */
HDX_API bool hdx_graph_handle_fault(hdx_graph *g, const void *address);

/*
 * Returns HDX_OK, or the first problem that any thread met: HDX_DAMAGED with file, page and offset; HDX_BUSY if the
 * index was replaced or removed before all its files were open; or the error, such as HDX_LIMIT, of opening a file.
 */
HDX_API hdx_code hdx_graph_check(hdx_graph *g, hdx_error *err);

/*
 * Reads every index file completely and compares it with its checksums; of a view, its own files. With `full` it also
 * checks the invariants between the files (MAT sums, both directions of references, dominators by the parent property
 * ...). Returns HDX_DAMAGED with the first violation.
 */
HDX_API hdx_code hdx_graph_verify(hdx_graph *g, bool full, hdx_error *err);

/* ---- summary ---- */
typedef struct hdx_graph_summary {
    const char *version; /* HPROF version in the header: "1.0.2" */
    uint32_t    id_size, reference_size, alignment;
    bool        compressed_oops;
    bool        complete;   /* all steps were built, also dominators; false after --until */
    uint32_t    step;       /* last step that was built, hdx_step */
    uint64_t    created_ms; /* time of the dump, in ms since 1970 */
    const char *jvm;        /* "" if unknown */
    uint64_t    objects, records, live_objects, live_bytes, unreachable_objects, unreachable_bytes;
    /* distinct pairs of live objects, including references to classes and class loaders */
    uint64_t             references;
    uint64_t             classes, live_classes, live_loaders, gc_roots, roots, threads;
    uint64_t             dangling_references, dangling_roots;
    uint32_t             dump_number, dumps_in_file;
    uint64_t             dump_size, file_size;
    int                  compression; /* hdx_compression */
    const char          *dump_name;
    uint64_t             built_at_ms, build_ns;
    uint64_t             damage_count, damage_more; /* damage_more: damage that was counted only, without an entry */
    const hdx_damage    *damage;
    uint32_t             warning_count;
    const char *const   *warnings;
    const uint64_t      *top_records; /* number of records by tag, 256 entries */
    const uint64_t      *sub_records;
    const hdx_stripping *stripping; /* policy HDX_STRIP_NONE: the dump was not stripped */
    const char          *view;      /* name of the open view; NULL: none, and view_spec is NULL, view_cut 0 */
    const char          *view_spec; /* definition of the view: "-roots:JAVA_LOCAL -refs:weak" */
    uint64_t             view_cut;  /* number of references between objects that it ignores */
    /* the JVM layout that gives shallow sizes in the view: "compact"; NULL: MAT's rules */
    const char *layout;
} hdx_graph_summary;

/* Returns the summary. Valid until hdx_graph_close. */
HDX_API const hdx_graph_summary *hdx_graph_summary_of(const hdx_graph *g);

/*
 * Returns name and size in bytes of the i-th index file (of a view: of its own files), the catalog, and saved answers
 * of `leaks` next to them. False after the last.
 */
HDX_API bool hdx_graph_file(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes);

/* Returns name, wall time, CPU time and written bytes of the i-th step of the build. False after the last. */
HDX_API bool hdx_graph_step(const hdx_graph *g, unsigned i, const char **name, uint64_t *wall_ns, uint64_t *cpu_ns,
                            uint64_t *bytes);

/* Sizes of the name of a view and of its definition, including the final NUL. */
#define HDX_VIEW_NAME_SIZE 64u
#define HDX_VIEW_SPEC_SIZE 1024u
/* A view of the index. `spec` is "" if the view is damaged. */
typedef struct hdx_graph_view {
    char     name[HDX_VIEW_NAME_SIZE];
    char     spec[HDX_VIEW_SPEC_SIZE];
    uint64_t bytes;                    /* of its own files */
    uint64_t live_objects, live_bytes; /* in the view */
} hdx_graph_view;

/* Describes the i-th view of the index in *out, in the order of names. Returns false after the last. */
HDX_API bool hdx_graph_view_at(const hdx_graph *g, unsigned i, hdx_graph_view *out);

/*
 * Returns the name of a record with this tag, for example "INSTANCE_DUMP"; NULL if the tag is unknown. `top`: a
 * top-level record, otherwise a sub-record.
 */
HDX_API const char *hdx_graph_record_name(bool top, uint8_t tag);

/* ---- objects ---- */
/* Getters of one object. For an id out of range and after damage they return the value that follows "else". */
HDX_API uint64_t        hdx_graph_objects(const hdx_graph *g);                            /* ids are 0 .. objects - 1 */
HDX_API bool            hdx_graph_find(const hdx_graph *g, hdx_addr address, hdx_id *id); /* false: no object there */
HDX_API hdx_addr        hdx_graph_address(const hdx_graph *g, hdx_id id);                 /* else 0 */
HDX_API uint32_t        hdx_graph_class_of(const hdx_graph *g, hdx_id id); /* class number; else HDX_NO_CLASS */
HDX_API hdx_object_kind hdx_graph_kind(const hdx_graph *g, hdx_id id);     /* else HDX_INSTANCE */
HDX_API uint64_t        hdx_graph_shallow(const hdx_graph *g, hdx_id id);  /* bytes; else 0 */
HDX_API uint64_t        hdx_graph_length(const hdx_graph *g, hdx_id id);   /* elements of an array; else 0 */
HDX_API int             hdx_graph_heap(const hdx_graph *g, hdx_id id);     /* index into hdx_graph_heaps; else -1 */
HDX_API bool     hdx_graph_position(const hdx_graph *g, hdx_id id, hdx_pos *pos); /* false: no record in the dump */
HDX_API bool     hdx_graph_live(const hdx_graph *g, hdx_id id);                   /* else false */
HDX_API uint64_t hdx_graph_retained(const hdx_graph *g, hdx_id id);               /* bytes; 0 for garbage; else 0 */

/* Returns the immediate dominator; HDX_VIRTUAL_ROOT if no object is; HDX_NO_ID for garbage. Else HDX_NO_ID. */
HDX_API hdx_id hdx_graph_dominator(const hdx_graph *g, hdx_id id);

/* Returns the parent on a shortest path from a GC root; for a GC root the id itself. Else, and for garbage, HDX_NO_ID.
 */
HDX_API hdx_id hdx_graph_nearest(const hdx_graph *g, hdx_id id);

/*
 * Reads ahead. A single look-up waits for memory two to five times in sequence, about 200 ns each on a large index.
 * Look-ups that do not depend on each other can wait at the same time: before each one, pass all ids and the index of
 * the next.
 *
 * Example (examples/ahead.c):
 *     for (size_t i = 0; i < n; i++) {
 *         hdx_graph_ahead(g, HDX_AHEAD_RETAINED, ids, n, i);
 *         const uint64_t retained = hdx_graph_retained(g, ids[i]);
 *         most = retained > most ? retained : most;
 *     }
 *
 * The data of ids[i] are then in the cache, and those of the next ids are being loaded. This only affects speed:
 * results do not change, damage is not noted, ids out of range are ignored, and calls may be omitted. It pays for
 * objects in random order; use runs (below) to read in the order of ids.
 */
typedef enum hdx_ahead {
    HDX_AHEAD_ADDRESS = 1,
    HDX_AHEAD_CLASS = 2,
    HDX_AHEAD_LENGTH = 4,
    HDX_AHEAD_POSITION = 8,
    HDX_AHEAD_RETAINED = 16,
    HDX_AHEAD_LIVE = 32, /* also dominator and nearest parent of objects with several referrers */
    HDX_AHEAD_OUTBOUND = 64,
    HDX_AHEAD_INBOUND = 128 /* also dominator and nearest parent of the other objects */
} hdx_ahead;

/* Reads ahead before the look-up of ids[i]. `what`: HDX_AHEAD_... of the values that will be looked up. */
HDX_API void hdx_graph_ahead(const hdx_graph *g, unsigned what, const hdx_id *ids, size_t n, size_t i);

/* Same as hdx_graph_ahead, for addresses that hdx_graph_find will look up. */
HDX_API void hdx_graph_ahead_find(const hdx_graph *g, const hdx_addr *addresses, size_t n, size_t i);

/* ---- whole columns, in runs ---- */
/*
 * For callers that scan all objects: runs read pages once, in order, and need a few nanoseconds per object where the
 * getters of one object need some tens. Ids out of range and damage give the same neutral values as the getters.
 * Several threads may scan disjoint runs.
 *
 * Example (examples/runs.c):
 *     uint32_t classes[HDX_RUN], n;
 *     for (hdx_id first = 0; first < objects; first += n) {
 *         n = (uint32_t)(objects - first < HDX_RUN ? objects - first : HDX_RUN);
 *         hdx_graph_read_classes(g, first, n, classes);
 *         for (uint32_t i = 0; i < n; i++)
 *             strings += classes[i] == string->number;
 *     }
 *     hdx_code code = hdx_graph_check(g, &err); // was every page sound?
 */
#define HDX_RUN 1024u /* a good length of a run; any length is allowed */
/*
 * Each call writes the values of the objects first .. first + n - 1 to out[0] .. out[n - 1]. Lengths are 0 for objects
 * that are not arrays, kinds are hdx_object_kind, heaps are indexes into hdx_graph_heaps or -1, and positions are the
 * position of the record + 1, or 0 if the dump has none.
 */
HDX_API void hdx_graph_read_addresses(const hdx_graph *g, hdx_id first, uint32_t n, hdx_addr *out);
HDX_API void hdx_graph_read_classes(const hdx_graph *g, hdx_id first, uint32_t n, uint32_t *out);
HDX_API void hdx_graph_read_kinds(const hdx_graph *g, hdx_id first, uint32_t n, uint8_t *out);
HDX_API void hdx_graph_read_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_shallow(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_retained(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_positions(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_heaps(const hdx_graph *g, hdx_id first, uint32_t n, int32_t *out);

/* Bit i % 64 of out[i / 64] is set if object first + i is live; writes (n + 63) / 64 words. */
HDX_API void hdx_graph_read_live(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);

/*
 * Copies up to n ids of unreachable objects, starting at id *from, in ascending order. Returns their number and sets
 * *from for the next call; 0: no more. REQUIRES: *from is 0 before the first call.
 */
HDX_API size_t hdx_graph_garbage(const hdx_graph *g, hdx_id *from, hdx_id *ids, size_t n);

/*
 * hdx_graph_read_dominators gives HDX_VIRTUAL_ROOT for objects without a single dominator, hdx_graph_read_nearest the
 * id itself for a GC root; both give HDX_NO_ID for garbage.
 */
HDX_API void hdx_graph_read_dominators(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);
HDX_API void hdx_graph_read_nearest(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);

/* Converts addresses as in the dump, in any order, to ids; HDX_NO_ID if there is no object at an address. */
HDX_API void hdx_graph_find_many(const hdx_graph *g, const hdx_addr *addresses, size_t n, hdx_id *ids);

/*
 * Returns the first object at or after an address; hdx_graph_objects(g) if there is none. Ids are in the order of
 * addresses.
 */
HDX_API hdx_id hdx_graph_first_at(const hdx_graph *g, hdx_addr address);

/* ---- classes ---- */
/*
 * Classes are borrowed and valid until hdx_graph_close. hdx_graph_classes returns all, by class number 0 .. *count - 1.
 * They are loaded on first use. On failure it returns NULL, *count is 0, and hdx_graph_check reports the reason.
 */
HDX_API const hdx_class *hdx_graph_classes(hdx_graph *g, uint32_t *count);
HDX_API const hdx_class *hdx_graph_class(hdx_graph *g, uint32_t number); /* NULL: no such class */

/* Returns the class that has this class object; NULL if `id` is not a class object. */
HDX_API const hdx_class *hdx_graph_class_object(hdx_graph *g, hdx_id id);

/* Returns the class of this name, of several the one with the least address; NULL if there is none. */
HDX_API const hdx_class *hdx_graph_class_named(hdx_graph *g, const char *name);

/* Returns whether a class is `ancestor` or one of its subclasses. */
HDX_API bool hdx_class_extends(hdx_graph *g, uint32_t number, uint32_t ancestor);

/*
 * Sets the bits of a class and of all its subclasses: bit i % 64 of bits[i / 64] is class i. REQUIRES: bits has
 * (classes + 63) / 64 words. Other bits are not changed.
 */
HDX_API void hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits);

/*
 * A field of an instance: which class declares it, and the offset of its value in the bytes of hdx_instances_read.
 */
typedef struct hdx_field_place {
    hdx_text name;
    uint8_t  type;  /* HPROF type */
    uint32_t owner; /* class number that declares it */
    uint64_t offset;
} hdx_field_place;
typedef struct hdx_field_walk { /* a cursor; initialized by hdx_field_walk_of */
    hdx_graph *graph;
    uint32_t   owner, next, steps;
    uint64_t   offset;
} hdx_field_walk;

/*
 * Starts a walk over the fields of a class. hdx_field_walk_next returns those of the class first, then those of each
 * superclass, and false after the last.
 */
HDX_API hdx_field_walk hdx_field_walk_of(hdx_graph *g, uint32_t number);
HDX_API bool           hdx_field_walk_next(hdx_field_walk *layout, hdx_field_place *out);

/* ---- cursors ---- */
typedef enum hdx_refs_scope { HDX_LIVE, HDX_ALL, HDX_GARBAGE } hdx_refs_scope; /* which objects a cursor returns */
typedef struct hdx_refs { /* a cursor in the caller's memory; its content is private to the library */
    uint64_t inside[80];
} hdx_refs;

/*
 * Starts a cursor over the outbound references of an object (doc/mat.md 3.1): first its class, then the others in
 * ascending order, each once. `scope` filters the targets.
 */
HDX_API void hdx_graph_outbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *cursor);

/*
 * Starts a cursor over the inbound references of an object (doc/mat.md 3.5): of a class object first its instances in
 * ascending order, then the other referrers in ascending order. `scope` filters the referrers.
 */
HDX_API void hdx_graph_inbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *cursor);

/* Starts a cursor over the objects that `id`, or HDX_VIRTUAL_ROOT, immediately dominates. The order is unspecified. */
HDX_API void hdx_graph_dominated(hdx_graph *g, hdx_id id, hdx_refs *cursor);

/*
 * Starts a cursor over the instances of a class, without subclasses, in ascending order. The instances of
 * java.lang.Class include the class objects.
 */
HDX_API void hdx_graph_instances(hdx_graph *g, uint32_t number, hdx_refs_scope scope, hdx_refs *cursor);

/* Returns the next id of a cursor; false after the last. */
HDX_API bool hdx_refs_next(hdx_refs *cursor, hdx_id *id);

/* Copies up to n of the ids that hdx_refs_next would return, and returns their number. 0: no more. */
HDX_API size_t hdx_refs_take(hdx_refs *cursor, hdx_id *ids, size_t n);

/* Return the number of ids of such a cursor without reading them all where that is possible; cheap for HDX_ALL. */
HDX_API uint64_t hdx_graph_outbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope);
HDX_API uint64_t hdx_graph_inbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope);

/* Writes both counts for each object of a run. */
HDX_API void hdx_graph_read_counts(hdx_graph *g, hdx_refs_scope scope, hdx_id first, uint32_t n, uint64_t *outbound,
                                   uint64_t *inbound);

/* ---- roots, threads, heaps ---- */

/*
 * The lists that these calls return are borrowed and valid until hdx_graph_close; NULL and *count 0 if there are none
 * or on failure (hdx_graph_check). Roots are sorted by object and include the locals of threads.
 */
HDX_API const hdx_root *hdx_graph_roots(hdx_graph *g, uint64_t *count);

/* Copies the roots of one object, at most `max`, to out. *count is the number of all its roots and may exceed `max`. */
HDX_API hdx_code hdx_graph_roots_of(hdx_graph *g, hdx_id id, hdx_root *out, uint64_t max, uint64_t *count,
                                    hdx_error *err);

/* Returns the threads that have a THREAD_OBJ root, sorted by object. */
HDX_API const hdx_thread *hdx_graph_threads(hdx_graph *g, uint64_t *count);

/* Returns the heaps of an Android dump. */
HDX_API const hdx_heap_space *hdx_graph_heaps(hdx_graph *g, uint64_t *count);

/* ---- values, read from the dump ---- */
typedef struct hdx_value {
    uint8_t type;   /* HPROF type: 2 object ... 11 long */
    bool    absent; /* the dump does not contain the bytes: stripped, or a damaged layout */
    union {
        hdx_addr address; /* type 2, as in the dump: may be 0 or refer to no object */
        bool     boolean;
        uint16_t character;
        float    single;
        double   real;
        int64_t  integer; /* byte, short, int, long: sign-extended */
    } as;
} hdx_value;
typedef struct hdx_field_value {
    hdx_text  name;
    uint32_t  owner; /* class number that declares it */
    hdx_value value;
} hdx_field_value;

/*
 * Values that the calls below read. Initialize it with { 0 }, reuse it for any number of calls, and free it with
 * hdx_values_free. Each call replaces the previous values.
 */
typedef struct hdx_values {
    hdx_field_value *at;
    uint64_t         count;
    uint64_t         capacity;
    uint8_t         *scratch;
    uint64_t         scratch_size;
} hdx_values;

/* Frees the values. { 0 } is allowed. */
HDX_API void hdx_values_free(hdx_values *v);

/*
 * Read the fields of an instance, those of its class first, then those of each superclass, in the order of the dump; or
 * the static fields of a class object. Objects without such fields give none.
 * Return HDX_BAD_DUMP if the dump is unavailable or no longer matches the index.
 */
HDX_API hdx_code hdx_graph_fields(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);
HDX_API hdx_code hdx_graph_statics(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);

/*
 * Reads the elements first .. first + n - 1 of an array, fewer at its end. v->at[i].name is empty. Elements of flat
 * arrays (heap.h) are absent; hdx_graph_content has their bytes. Errors are those of hdx_graph_fields, and HDX_DAMAGED
 * if the index has another length than the dump.
 */
HDX_API hdx_code hdx_graph_elements(hdx_graph *g, hdx_id id, uint64_t first, uint64_t n, hdx_values *v, hdx_error *err);

/*
 * Reads one field of an object by name. The field is one that the class `class_name` or its superclasses declare; NULL
 * searches all classes of the object. If several classes declare the name, the topmost is used, as in MAT. *found is
 * false if there is no such field, or if the object is not an instance of that class.
 */
HDX_API hdx_code hdx_graph_field(hdx_graph *g, hdx_id id, const char *class_name, const char *name, hdx_value *out,
                                 bool *found, hdx_error *err);

/*
 * Reads the fields of many instances, for callers that need the same fields of all instances of a class. The records
 * are read in the order of the dump, and each part of it once; of a compressed dump each part is inflated once.
 */
typedef struct hdx_instances hdx_instances; /* belongs to one thread; close it before the graph */
HDX_API hdx_code             hdx_instances_open(hdx_graph *g, hdx_instances **out, hdx_error *err);

/* Closes the reader. NULL is allowed. */
HDX_API void hdx_instances_close(hdx_instances *r);

/*
 * Copies the first `width` bytes of the fields of each object (those of its class first, numbers big-endian) to bytes +
 * i * width, and sets have[i] to the number of bytes that the dump has: fewer for a smaller, stripped or truncated
 * instance, 0 for an object that is not an instance.
 */
HDX_API hdx_code hdx_instances_read(hdx_instances *r, const hdx_id *ids, size_t n, uint32_t width, uint8_t *bytes,
                                    uint32_t *have, hdx_error *err);

/*
 * Reads the text of a String object as UTF-8, with unpaired surrogates as 3 bytes, and at most `max` UTF-16 units of
 * it. *whole is true if that is the whole text. All layouts are supported (doc/hprof.md, section 6): char[] with offset
 * and count, byte[] with coder, and ART's. *is_string is false, and *text NULL, if the object is not a String or has no
 * value. Otherwise *text has *len bytes and a final NUL; the caller frees it with hdx_text_free.
 */
HDX_API hdx_code hdx_graph_string(hdx_graph *g, hdx_id id, uint64_t max, char **text, size_t *len, bool *whole,
                                  bool *is_string, hdx_error *err);

/* How much of a long text a label contains. */
typedef enum hdx_whole {
    HDX_CUT,         /* the first 1,024 characters, as in MAT */
    HDX_WHOLE_TEXTS, /* the whole text; of a byte[] or char[], which is not a text, the first 1,024 elements */
    HDX_WHOLE_BYTES  /* the whole text or array */
} hdx_whole;

/*
 * Returns MAT's label of an object (doc/mat.md 10.4, 10.5: text of strings, names of threads, values of boxes ...) in
 * UTF-8: U+0000 is C0 80, an unpaired surrogate is three bytes. The caller frees *text with hdx_text_free; NULL: the
 * object has no label.
 */
HDX_API hdx_code hdx_graph_label(hdx_graph *g, hdx_id id, char **text, hdx_error *err);

/*
 * Returns the labels of n objects, for tables. Their records are read in the order of the dump, whatever the order of
 * ids. texts[i] is as *text of hdx_graph_label. On failure all are NULL.
 */
HDX_API hdx_code hdx_graph_labels(hdx_graph *g, const hdx_id *ids, size_t n, char **texts, hdx_error *err);

/*
 * Passes the texts of many Strings to `visit`, as from hdx_graph_string, in the order of the dump. `place` is the index
 * of the object in ids; text.at is NULL if the object is not a String. The text is valid during the call. `visit`
 * returns false to stop.
 */
HDX_API hdx_code hdx_graph_strings_of(hdx_graph *g, const hdx_id *ids, size_t n, uint64_t max,
                                      bool (*visit)(void *context, size_t place, hdx_text text, bool whole),
                                      void *context, hdx_error *err);

/* What the content of an object is. */
typedef enum hdx_content {
    HDX_CONTENT_NONE,   /* the object is not a text or primitive array, or its text is null */
    HDX_CONTENT_ABSENT, /* the content was stripped from the dump */
    HDX_CONTENT_TEXT,
    HDX_CONTENT_BYTES,
    HDX_CONTENT_PICTURE /* only from hdx_answer_content (answer.h) */
} hdx_content;

/* Receives `len` bytes; returns false if it could not write them. */
typedef bool hdx_put(void *context, const char *bytes, size_t len);

/*
 * Passes the content of a text or of a primitive array to `put`, in several pieces. Texts (String, StringBuilder,
 * StringBuffer, char[]) are UTF-8, with U+FFFD for unpaired surrogates. Other arrays are the bytes of the dump, numbers
 * big-endian. If `put` is NULL, only *what is set. `progress` may be NULL.
 * Returns HDX_IO if `put` returned false, HDX_CANCELLED, or HDX_BAD_DUMP if the dump is unavailable or ends inside the
 * content: partial content never passes as the whole.
 */
HDX_API hdx_code hdx_graph_content(hdx_graph *g, hdx_id id, const hdx_progress *progress, hdx_put *put, void *context,
                                   hdx_content *what, hdx_error *err);

/*
 * Returns the dump as bytes (source.h). It belongs to the graph. For a compressed dump with seek points in the index, a
 * read inflates at most 1 MiB before the range. Data that changed since the index was built are HDX_BAD_DUMP.
 */
HDX_API hdx_code hdx_graph_dump(hdx_graph *g, hdx_source **out, hdx_error *err);

/*
 * Returns, after HDX_BAD_DUMP, whether no dump is open: none was given, or it could not be opened, or it has another
 * size than the indexed one. False: the content of the dump differs from the index.
 */
HDX_API bool hdx_graph_lacks_dump(hdx_graph *g);

/* Frees a text that the library allocated. NULL is allowed. */
HDX_API void hdx_text_free(char *text);

/*
 * Returns whether the text of a String or char[], or the name of a thread, was stripped from the dump: its label is
 * then absent rather than missing. Always false for dumps that were not stripped.
 */
HDX_API bool hdx_graph_text_absent(hdx_graph *g, hdx_id id);

/* ---- names of references ---- */
typedef enum hdx_ref_kind {
    HDX_REF_CLASS,
    HDX_REF_SUPER,
    HDX_REF_LOADER,
    HDX_REF_SIGNERS,
    HDX_REF_DOMAIN,
    HDX_REF_LOCAL,
    HDX_REF_FIELD,
    HDX_REF_STATIC,
    HDX_REF_ELEMENT
} hdx_ref_kind;

/*
 * Returns "class", "super", "loader", "signers", "domain", "local", "field", "static" or "element". A constant string.
 */
HDX_API const char *hdx_ref_kind_name(hdx_ref_kind kind);
typedef struct hdx_named_ref {
    hdx_id       target;
    hdx_ref_kind kind;
    /*
     * "next", "[3]", "<class>", "<super>", "<classloader>", "<Java Local>", "<Java Local, JNI Local>" ...; UTF-8, never
     * empty, truncated if longer
     */
    char     name[200];
    uint32_t owner; /* class number that declares the field or static; otherwise HDX_NO_CLASS */
} hdx_named_ref;

/*
 * Calls `visit` for each reference of an object whose target is an object of the dump, in MAT's order (doc/mat.md 3.6):
 * <class>, then locals of a thread, then fields (duplicates included) or elements; of a class object super, loader,
 * signers, domain and statics. `visit` returns false to stop. *ref is valid during the call. With `only_target` other
 * than HDX_NO_ID only references to that object are visited; elements are then searched without copies.
 */
HDX_API hdx_code hdx_graph_named_refs(hdx_graph *g, hdx_id id, hdx_id only_target,
                                      bool (*visit)(void *context, const hdx_named_ref *ref), void *context,
                                      hdx_error *err);

/*
 * Same as hdx_graph_named_refs for many objects, in the order of the dump. `place` is the index of the object in ids. A
 * compressed dump is inflated once.
 */
HDX_API hdx_code hdx_graph_named_refs_of(hdx_graph *g, const hdx_id *ids, size_t n,
                                         bool (*visit)(void *context, size_t place, const hdx_named_ref *ref),
                                         void *context, hdx_error *err);

/*
 * Same as hdx_graph_elements for many arrays, each whole, in the order of the dump. `place` is the index of the array
 * in ids; `values` is valid during the call. `visit` returns false to stop.
 */
HDX_API hdx_code hdx_graph_elements_of(hdx_graph *g, const hdx_id *ids, size_t n,
                                       bool (*visit)(void *context, size_t place, const hdx_values *values),
                                       void *context, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
