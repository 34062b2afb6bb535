/*
 * graph.h - a finished index as a read-only graph of objects: the one door for questions.
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
 * A graph may be read by many threads; cursors live on the caller's stack and belong to one thread. Getters never fail:
 * an id out of range, or a damaged page, gives the harmless value named at each call, and hdx_graph_check tells of the
 * damage. Every answer checks once before it goes out. Opening costs nothing that grows with the dump.
 *
 * "live" objects are those reachable from a GC root (doc/mat.md 5.1); the others keep ids and can be asked about.
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

#define HDX_VIRTUAL_ROOT (UINT64_MAX - 1) /* the dominator of what only the GC roots together keep alive */

/*
 * index: the folder. dump: the dump it was made from, or NULL: then values of fields and arrays cannot be read and
 *        everything else can.
 * HDX_NOT_FOUND: no whole index there; HDX_DAMAGED: an index file is damaged.
 */
HDX_API hdx_code hdx_graph_open(const char *index, const char *dump, hdx_graph **out, hdx_error *err);
/*
 * The same heap as one of the views of the index has it, where some GC roots do not count or some references do not
 * hold: what lives, cursors over references, dominators, retained sizes and nearest roots are those of the view.
 * view NULL: hdx_graph_open. HDX_NOT_FOUND: the index has no such view.
 */
HDX_API hdx_code hdx_graph_open_view(const char *index, const char *view, const char *dump, hdx_graph **out,
                                     hdx_error *err);
HDX_API void     hdx_graph_close(hdx_graph *g); /* NULL: nothing */
/*
 * Index files are mapped: who shortens one while it is read sends its readers SIGBUS. The library installs no handler;
 * a program that does asks this from it (async-signal-safe): true when the address (si_addr) lies in a file of g. The
 * page is zeros then, the call that was under way goes on, and hdx_graph_check says HDX_DAMAGED from now on. The
 * catalog is not among these files: what is needed of it is read when g is opened and when roots or threads are first
 * asked for.
 *
 * Example (examples/mend.c):
 *     static void on_bus_error(int number, siginfo_t *info, void *context)
 *     {
 *         (void)context;
 *         if (!hdx_graph_mend(graph, info->si_addr)) {
 *             signal(number, SIG_DFL);
 *             raise(number);
 *         }
 *     }
 */
HDX_API bool hdx_graph_mend(hdx_graph *g, const void *address);
/* HDX_OK, or HDX_DAMAGED with file, page and offset of the first damage any thread met. */
HDX_API hdx_code hdx_graph_check(hdx_graph *g, hdx_error *err);
/*
 * Reads every index file whole (of a view its own) against its sums, and with `full` every invariant between them (MAT
 * sums, both directions of references, dominators by the parent property ...). HDX_DAMAGED says what does not hold.
 */
HDX_API hdx_code hdx_graph_verify(hdx_graph *g, bool full, hdx_error *err);

/* ---- what is said once ---- */
typedef struct hdx_graph_summary {
    const char          *version; /* of the HPROF header: "1.0.2" */
    uint32_t             id_size, reference_size, alignment;
    bool                 compressed_oops;
    bool                 complete;   /* all steps are there (dominators); false for --until */
    uint32_t             step;       /* last step held, hdx_step */
    uint64_t             created_ms; /* since 1970 */
    const char          *jvm;        /* "" where not known */
    uint64_t             objects, records, live_objects, live_bytes, unreachable_objects, unreachable_bytes;
    uint64_t             references; /* distinct pairs between live objects, class and loader references included */
    uint64_t             classes, live_classes, live_loaders, gc_roots, roots, threads;
    uint64_t             dangling_references, dangling_roots;
    uint32_t             dump_number, dumps_in_file;
    uint64_t             dump_size, file_size;
    int                  compression; /* hdx_compression */
    const char          *dump_name;
    uint64_t             built_at_ms, build_ns;
    uint64_t             damage_count, damage_more; /* further damage that was only counted */
    const hdx_damage    *damage;
    uint32_t             warning_count;
    const char *const   *warnings;
    const uint64_t      *top_records; /* 256 counts by tag */
    const uint64_t      *sub_records;
    const hdx_stripping *stripping; /* policy HDX_STRIP_NONE: an ordinary dump */
    const char          *view;      /* the view that is open: its name; NULL: none, and the next two are nothing */
    const char          *view_spec; /* what makes it: "-roots:JAVA_LOCAL -refs:weak" */
    uint64_t             view_cut;  /* references between objects that it leaves out */
    const char          *layout;    /* of the JVM whose rules shallow sizes follow in it: "compact"; NULL: MAT's */
} hdx_graph_summary;
HDX_API const hdx_graph_summary *hdx_graph_summary_of(const hdx_graph *g);
/* Index files (of a view its own), and answers of leaks kept beside them: fills name, bytes for i = 0 ..; false at the
 * end. */
HDX_API bool hdx_graph_file(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes);
/* Steps of the build: fills for i = 0 ..; false at the end. */
HDX_API bool hdx_graph_step(const hdx_graph *g, unsigned i, const char **name, uint64_t *wall_ns, uint64_t *cpu_ns,
                            uint64_t *bytes);
/* Of a view: its name, and what it leaves out; each with its NUL. */
#define HDX_VIEW_NAME_SIZE 64u
#define HDX_VIEW_SPEC_SIZE 1024u
/* A view of the index: for i = 0 .., by name; false at the end. One that is damaged has no spec. */
typedef struct hdx_graph_view {
    char     name[HDX_VIEW_NAME_SIZE];
    char     spec[HDX_VIEW_SPEC_SIZE];
    uint64_t bytes;                    /* of its own files */
    uint64_t live_objects, live_bytes; /* in it */
} hdx_graph_view;
HDX_API bool        hdx_graph_view_at(const hdx_graph *g, unsigned i, hdx_graph_view *out);
HDX_API const char *hdx_graph_record_name(bool top, uint8_t tag); /* "INSTANCE_DUMP"; NULL for an unknown tag */

/* ---- objects ---- */
HDX_API uint64_t        hdx_graph_objects(const hdx_graph *g);                            /* ids are 0 .. objects - 1 */
HDX_API bool            hdx_graph_find(const hdx_graph *g, hdx_addr address, hdx_id *id); /* false: no object there */
HDX_API hdx_addr        hdx_graph_address(const hdx_graph *g, hdx_id id);                 /* 0 */
HDX_API uint32_t        hdx_graph_class_of(const hdx_graph *g, hdx_id id);                /* HDX_NO_CLASS */
HDX_API hdx_object_kind hdx_graph_kind(const hdx_graph *g, hdx_id id);
HDX_API uint64_t        hdx_graph_shallow(const hdx_graph *g, hdx_id id); /* bytes; 0 */
HDX_API uint64_t        hdx_graph_length(const hdx_graph *g, hdx_id id);  /* of an array; 0 */
HDX_API int             hdx_graph_heap(const hdx_graph *g, hdx_id id);    /* place in hdx_graph_heaps; -1: none */
HDX_API bool     hdx_graph_position(const hdx_graph *g, hdx_id id, hdx_pos *pos); /* false: no record in the dump */
HDX_API bool     hdx_graph_live(const hdx_graph *g, hdx_id id);                   /* false */
HDX_API uint64_t hdx_graph_retained(const hdx_graph *g, hdx_id id);               /* bytes; 0 for garbage */
HDX_API hdx_id   hdx_graph_dominator(const hdx_graph *g, hdx_id id); /* HDX_VIRTUAL_ROOT; HDX_NO_ID for garbage */
/* Parent on a shortest path from a root; the id itself for a GC root; HDX_NO_ID for garbage. */
HDX_API hdx_id hdx_graph_nearest(const hdx_graph *g, hdx_id id);

/*
 * Reading ahead. A look-up by itself waits for memory two to five times in a row, some 200 ns each on a large index;
 * look-ups that do not depend on each other can wait together. Who knows which objects it will ask about says so before
 * each, with all of them and the place of the next:
 *
 * Example (examples/ahead.c):
 *     for (size_t i = 0; i < n; i++) {
 *         hdx_graph_ahead(g, HDX_AHEAD_RETAINED, ids, n, i);
 *         const uint64_t retained = hdx_graph_retained(g, ids[i]);
 *         most = retained > most ? retained : most;
 *     }
 *
 * What ids[i] takes is in the cache by then, and what those after it take is on its way. It changes no answer, notes
 * no damage and keeps nothing: ids out of range are passed over, and calls left out cost time alone. Worth it for
 * random objects; runs are faster in order.
 */
typedef enum hdx_ahead {
    HDX_AHEAD_ADDRESS = 1,
    HDX_AHEAD_CLASS = 2,
    HDX_AHEAD_LENGTH = 4,
    HDX_AHEAD_POSITION = 8,
    HDX_AHEAD_RETAINED = 16,
    HDX_AHEAD_LIVE = 32, /* also dominator and nearest parent of an object that has more than one referrer */
    HDX_AHEAD_OUTBOUND = 64,
    HDX_AHEAD_INBOUND = 128 /* also dominator and nearest parent of the others */
} hdx_ahead;
HDX_API void hdx_graph_ahead(const hdx_graph *g, unsigned what, const hdx_id *ids, size_t n, size_t i);
/* The same for addresses that hdx_graph_find will be asked about. */
HDX_API void hdx_graph_ahead_find(const hdx_graph *g, const hdx_addr *addresses, size_t n, size_t i);

/* ---- whole columns, in runs ---- */
/*
 * For who looks at every object: runs go through pages once, in order, at some nanoseconds an object where the getters
 * of one object cost some tens. Ids at or past the end, and damage, give the same harmless values as the getters; a
 * scan on several threads takes disjoint runs.
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
HDX_API void hdx_graph_read_addresses(const hdx_graph *g, hdx_id first, uint32_t n, hdx_addr *out);
HDX_API void hdx_graph_read_classes(const hdx_graph *g, hdx_id first, uint32_t n,
                                    uint32_t *out); /* HDX_NO_CLASS past the end */
HDX_API void hdx_graph_read_kinds(const hdx_graph *g, hdx_id first, uint32_t n, uint8_t *out);    /* hdx_object_kind */
HDX_API void hdx_graph_read_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out); /* of arrays; 0 */
HDX_API void hdx_graph_read_shallow(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_retained(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
HDX_API void hdx_graph_read_positions(const hdx_graph *g, hdx_id first, uint32_t n,
                                      uint64_t *out); /* position + 1; 0: no record */
HDX_API void hdx_graph_read_heaps(const hdx_graph *g, hdx_id first, uint32_t n,
                                  int32_t *out); /* place in hdx_graph_heaps; -1 */
/* Bit i % 64 of out[i / 64] is object first + i; (n + 63) / 64 words are written. */
HDX_API void hdx_graph_read_live(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
/* At most n ids of garbage from *from on, ascending; how many. *from is where to go on. 0: there is no more. */
HDX_API size_t hdx_graph_garbage(const hdx_graph *g, hdx_id *from, hdx_id *ids, size_t n);
/* HDX_VIRTUAL_ROOT, HDX_NO_ID for garbage; the second: the id itself for a GC root. */
HDX_API void hdx_graph_read_dominators(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);
HDX_API void hdx_graph_read_nearest(const hdx_graph *g, hdx_id first, uint32_t n, hdx_id *out);
/* Ids of addresses as a dump writes them, in any order; HDX_NO_ID where no object is. */
HDX_API void hdx_graph_find_many(const hdx_graph *g, const hdx_addr *addresses, size_t n, hdx_id *ids);
/* The first object at or behind an address; hdx_graph_objects(g): there is none. Ids are in the order of addresses. */
HDX_API hdx_id hdx_graph_first_at(const hdx_graph *g, hdx_addr address);

/* ---- classes ---- */
/* By number 0 .. *count - 1; loaded on first use. NULL and *count 0 on failure (hdx_graph_check tells). */
HDX_API const hdx_class *hdx_graph_classes(hdx_graph *g, uint32_t *count);
HDX_API const hdx_class *hdx_graph_class(hdx_graph *g, uint32_t number);  /* NULL: no such class */
HDX_API const hdx_class *hdx_graph_class_object(hdx_graph *g, hdx_id id); /* the class whose object this is; NULL */
HDX_API const hdx_class *hdx_graph_class_named(hdx_graph  *g,
                                               const char *name); /* the first (least address) of that name; NULL */
HDX_API bool             hdx_class_extends(hdx_graph *g, uint32_t number, uint32_t ancestor); /* itself included */
/* Bit i % 64 of bits[i / 64], (classes + 63) / 64 words, is class i: sets those of this class and all below it. */
HDX_API void hdx_class_heirs(hdx_graph *g, uint32_t number, uint64_t *bits);
/*
 * The i-th field of an instance, own fields first, then those of each class above: who declares it, and at which byte
 * of what hdx_instances_read gives it begins. False behind the last.
 */
typedef struct hdx_field_place {
    hdx_text name;
    uint8_t  type;  /* HPROF type */
    uint32_t owner; /* class number */
    uint64_t offset;
} hdx_field_place;
typedef struct hdx_field_walk { /* a cursor: hdx_field_walk_of begins it */
    hdx_graph *graph;
    uint32_t   owner, next, steps;
    uint64_t   offset;
} hdx_field_walk;
HDX_API hdx_field_walk hdx_field_walk_of(hdx_graph *g, uint32_t number);
HDX_API bool           hdx_field_walk_next(hdx_field_walk *layout, hdx_field_place *out);

/* ---- cursors ---- */
typedef enum hdx_refs_scope { HDX_LIVE, HDX_ALL, HDX_GARBAGE } hdx_refs_scope; /* which objects a cursor gives */
typedef struct hdx_refs { /* a cursor, which the caller has room for; what is in it is the library's own affair */
    uint64_t inside[80];
} hdx_refs;
/* Outbound set (doc/mat.md 3.1): the class first, then others ascending, each once. Scope filters targets. */
HDX_API void hdx_graph_outbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *cursor);
/* Inbound set (doc/mat.md 3.5): instances of a class object first (ascending), then the other referrers ascending. */
HDX_API void hdx_graph_inbound(hdx_graph *g, hdx_id id, hdx_refs_scope scope, hdx_refs *cursor);
/* Immediately dominated by id, or by HDX_VIRTUAL_ROOT; ascending within two runs, no order promised. */
HDX_API void hdx_graph_dominated(hdx_graph *g, hdx_id id, hdx_refs *cursor);
/* Instances of one class (no subclasses; class objects for java.lang.Class), ascending. */
HDX_API void hdx_graph_instances(hdx_graph *g, uint32_t number, hdx_refs_scope scope, hdx_refs *cursor);
HDX_API bool hdx_refs_next(hdx_refs *cursor, hdx_id *id);
/* At most n of what hdx_refs_next would give; how many. 0: that was all. */
HDX_API size_t hdx_refs_take(hdx_refs *cursor, hdx_id *ids, size_t n);
/* Number of rows a cursor would give, without giving them; cheap for HDX_ALL. */
HDX_API uint64_t hdx_graph_outbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope);
HDX_API uint64_t hdx_graph_inbound_count(hdx_graph *g, hdx_id id, hdx_refs_scope scope);
HDX_API void     hdx_graph_read_counts(hdx_graph *g, hdx_refs_scope scope, hdx_id first, uint32_t n, uint64_t *outbound,
                                       uint64_t *inbound); /* of a run */

/* ---- roots, threads, heaps ---- */
HDX_API const hdx_root       *hdx_graph_roots(hdx_graph *g, uint64_t *count); /* sorted by object; locals included */
HDX_API hdx_code              hdx_graph_roots_of(hdx_graph *g, hdx_id id, hdx_root *out, uint64_t max, uint64_t *count,
                                                 hdx_error *err);
HDX_API const hdx_thread     *hdx_graph_threads(hdx_graph *g,
                                                uint64_t  *count); /* those with a THREAD_OBJ root, by object id */
HDX_API const hdx_heap_space *hdx_graph_heaps(hdx_graph *g, uint64_t *count);

/* ---- values, out of the dump ---- */
typedef struct hdx_value {
    uint8_t type;   /* HPROF type: 2 object ... 11 long */
    bool    absent; /* the bytes are not in the dump (stripped, or a damaged layout) */
    union {
        hdx_addr address; /* type 2, as in the dump: may be 0 or name no object */
        bool     boolean;
        uint16_t character;
        float    single;
        double   real;
        int64_t  integer; /* byte, short, int, long, sign-extended */
    } as;
} hdx_value;
typedef struct hdx_field_value {
    hdx_text  name;
    uint32_t  owner; /* class number that declares it */
    hdx_value value;
} hdx_field_value;
typedef struct hdx_values { /* filled by the calls below; freed with hdx_values_free; start with { 0 } and use again and
                               again */
    hdx_field_value *at;
    uint64_t         count;
    uint64_t         capacity;
    uint8_t         *scratch;
    uint64_t         scratch_size;
} hdx_values;
HDX_API void hdx_values_free(hdx_values *v);
/*
 * Fields of an instance, most derived class first, in the dump's order; statics of a class object. HDX_BAD_DUMP when
 * the dump is not at hand.
 */
HDX_API hdx_code hdx_graph_fields(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);
HDX_API hdx_code hdx_graph_statics(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);
/*
 * Elements first .. first + n - 1 of an array (cut to its length); v->at[i].name is empty. Those of flat arrays are
 * absent; hdx_graph_content has their bytes.
 */
HDX_API hdx_code hdx_graph_elements(hdx_graph *g, hdx_id id, uint64_t first, uint64_t n, hdx_values *v, hdx_error *err);
/*
 * One field, as an object of this class has it: declared by the class or one above it, whatever subclasses declare
 * under the same name. Of several the topmost counts, as in MAT. class_name NULL: of all its classes. *found false: no
 * such field, or no object of that class.
 */
HDX_API hdx_code hdx_graph_field(hdx_graph *g, hdx_id id, const char *class_name, const char *name, hdx_value *out,
                                 bool *found, hdx_error *err);

/*
 * What many instances hold, as the dump has it: for who reads the same fields of all instances of a class. Their
 * records are read in the order of the dump, each piece of it once; of a compressed dump each is inflated once.
 */
typedef struct hdx_instances hdx_instances; /* of one thread; open while the graph is */
HDX_API hdx_code             hdx_instances_open(hdx_graph *g, hdx_instances **out, hdx_error *err);
HDX_API void                 hdx_instances_close(hdx_instances *r); /* NULL: nothing */
/*
 * The first `width` bytes of the fields of each object (most derived class first, numbers with their high byte first)
 * to bytes + i * width; have[i] says how many of them are in the dump: fewer where an instance is smaller, was stripped
 * or cut short, 0 where it is no instance.
 */
HDX_API hdx_code hdx_instances_read(hdx_instances *r, const hdx_id *ids, size_t n, uint32_t width, uint8_t *bytes,
                                    uint32_t *have, hdx_error *err);

/*
 * Text of a String object, as UTF-8 (unpaired surrogates as 3 bytes), at most `max` UTF-16 units; *whole says whether
 * that was everything. All layouts (doc/hprof.md, section 6): char[] with offset and count, byte[] with coder, ART's.
 * *is_string false: no String or no value. text: malloc'ed by the call, NUL-terminated, *len bytes; the caller frees it
 * with hdx_text_free.
 */
HDX_API hdx_code hdx_graph_string(hdx_graph *g, hdx_id id, uint64_t max, char **text, size_t *len, bool *whole,
                                  bool *is_string, hdx_error *err);
/* How much of a long text a label has. */
typedef enum hdx_whole {
    HDX_CUT,         /* the first 1,024 characters, as in MAT */
    HDX_WHOLE_TEXTS, /* all of a text; of a byte[] or char[], which is none, its first 1,024 elements */
    HDX_WHOLE_BYTES  /* all */
} hdx_whole;
/*
 * MAT's label of an object (doc/mat.md 10.4, 10.5: text of strings, names of threads, values of boxes ...), in UTF-8:
 * U+0000 is C0 80, half of a surrogate pair three bytes. *text NULL: none.
 */
HDX_API hdx_code hdx_graph_label(hdx_graph *g, hdx_id id, char **text, hdx_error *err);
/*
 * Labels of n objects; their records are read in the order of the dump, whatever the order of ids: for tables. texts[i]
 * as `text` above; where it fails all are NULL.
 */
HDX_API hdx_code hdx_graph_labels(hdx_graph *g, const hdx_id *ids, size_t n, char **texts, hdx_error *err);
/*
 * Texts of many Strings as hdx_graph_string has them, in the order of the dump: `place` is that of the object among the
 * ids; of an object that is no String `at` is NULL. visit returns false to stop.
 */
HDX_API hdx_code hdx_graph_strings_of(hdx_graph *g, const hdx_id *ids, size_t n, uint64_t max,
                                      bool (*visit)(void *context, size_t place, hdx_text text, bool whole),
                                      void *context, hdx_error *err);
/*
 * What a text or an array of primitives holds, whole, in pieces to `put` (false: it could not be written, HDX_IO): of
 * String, StringBuilder, StringBuffer and char[] UTF-8, half of a surrogate pair as U+FFFD; of other arrays the bytes
 * as they stand in the dump, numbers with their high byte first. put NULL: *what alone is told. A part is never given
 * for the whole: HDX_BAD_DUMP where a damaged dump ends within it.
 */
typedef enum hdx_content {
    HDX_CONTENT_NONE,   /* the object is none of these, or the null text */
    HDX_CONTENT_ABSENT, /* it was stripped from the dump */
    HDX_CONTENT_TEXT,
    HDX_CONTENT_BYTES,
    HDX_CONTENT_PICTURE /* hdx_answer_content (answer.h) */
} hdx_content;
typedef bool     hdx_put(void *context, const char *bytes, size_t len);
HDX_API hdx_code hdx_graph_content(hdx_graph *g, hdx_id id, const hdx_progress *progress, hdx_put *put, void *context,
                                   hdx_content *what, hdx_error *err);
/*
 * The dump as bytes (source.h), owned by the graph. Of a compressed one with the seek points of the index: any range is
 * read by inflating at most 1 MiB before it, and what no longer is what it was when the index was built is
 * HDX_BAD_DUMP.
 */
HDX_API hdx_code hdx_graph_dump(hdx_graph *g, hdx_source **out, hdx_error *err);
/* After HDX_BAD_DUMP: is that because there is no dump at hand (true), or because it is not what it was (false)? */
HDX_API bool hdx_graph_lacks_dump(hdx_graph *g);
HDX_API void hdx_text_free(char *text);
/*
 * A String, char[] or thread whose text (name) a stripped dump no longer has: its label is absent, not missing. False
 * for ordinary dumps.
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
HDX_API const char *hdx_ref_kind_name(
    hdx_ref_kind kind); /* "class", "super", "loader", "signers", "domain", "local", "field", "static", "element" */
typedef struct hdx_named_ref {
    hdx_id       target;
    hdx_ref_kind kind;
    /*
     * "next", "[3]", "<class>", "<super>", "<classloader>", "<Java Local>", "<Java Local, JNI Local>" ...; never empty,
     * UTF-8, cut if longer
     */
    char     name[200];
    uint32_t owner; /* class number that declares the field or static; HDX_NO_CLASS elsewhere */
} hdx_named_ref;
/*
 * Calls visit for every reference of an object that leads to an object of the dump, in MAT's order (doc/mat.md 3.6):
 * <class>, then locals of a thread, then fields (duplicates kept) or elements or super, loader, signers, domain,
 * statics. visit returns false to stop. only_target: HDX_NO_ID, or just the references to this object (elements are
 * then searched, not copied).
 */
HDX_API hdx_code hdx_graph_named_refs(hdx_graph *g, hdx_id id, hdx_id only_target,
                                      bool (*visit)(void *context, const hdx_named_ref *ref), void *context,
                                      hdx_error *err);

/*
 * hdx_graph_named_refs of many objects, in the order of the dump: `place` is that of the object among the ids. A
 * compressed dump is inflated once. visit returns false to stop.
 */
HDX_API hdx_code hdx_graph_named_refs_of(hdx_graph *g, const hdx_id *ids, size_t n,
                                         bool (*visit)(void *context, size_t place, const hdx_named_ref *ref),
                                         void *context, hdx_error *err);
/*
 * hdx_graph_elements of many arrays, whole, in the order of the dump: `values` has those of the array at `place`.
 */
HDX_API hdx_code hdx_graph_elements_of(hdx_graph *g, const hdx_id *ids, size_t n,
                                       bool (*visit)(void *context, size_t place, const hdx_values *values),
                                       void *context, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
