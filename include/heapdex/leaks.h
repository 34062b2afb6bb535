/*
 * leaks.h - finds memory leaks as LeakCanary does: watched objects, the path from a GC root that keeps each alive, the
 * reference to blame, groups of the same leak, and known leaks of the platform.
 *
 * Example (examples/leaks.c):
 *     const hdx_leaks_options options = { .finder = HDX_LEAKS_CLASSES, .classes = names, .class_count = 1 };
 *     hdx_leaks              *leaks;
 *     if (hdx_leaks_search(graph, &options, &leaks, &err) != HDX_OK)
 *         return complain(&err);
 *     for (uint64_t i = 0; i < leaks->leak_count; i++) {
 *         const hdx_leak *leak = &leaks->leaks[i];
 *         printf("%s %s %s\n", hdx_leak_kind_name(leak->kind), leak->signature, leak->suspects);
 *     }
 *     hdx_leaks_free(leaks);
 *
 * The rules are those of Shark 2.14 (doc/shark.md). Where Shark stops with an error (dangling references, missing
 * classes) the search continues. Retained sizes are exact dominator sizes over the references that the search follows.
 * They use Shark's sizes of single objects: the instance size in CLASS_DUMP, length times width of arrays, native bytes
 * of bitmaps.
 *
 * The first search reads the dump once more, because the index lacks order and names of references. REQUIRES: the graph
 * was opened with its dump (HDX_BAD_DUMP). The answer is saved in the index folder, if that can be written, under a key
 * of everything that it depends on (options, tables, files, index). The same search then reads it from there.
 *
 * Several threads may search a graph at the same time. A hdx_leaks does not change after the search; everything in it
 * is valid until hdx_leaks_free.
 */
#ifndef HEAPDEX_LEAKS_H
#define HEAPDEX_LEAKS_H

#include <heapdex/graph.h>
#include <heapdex/progress.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- options ---- */
typedef enum hdx_leak_finder {
    HDX_LEAKS_WATCHED, /* retained referents of KeyedWeakReference (doc/shark.md 2.1, 2.2) */
    /* objects in a leaking state: destroyed activities ... (doc/shark.md 2.5), and by the caller's rules */
    HDX_LEAKS_FILTERS,
    HDX_LEAKS_CLASSES /* all instances of the given classes */
} hdx_leak_finder;

typedef enum hdx_leak_matcher_kind {
    HDX_LEAK_INSTANCE_FIELD,
    HDX_LEAK_STATIC_FIELD,
    HDX_LEAK_NATIVE_GLOBAL,
    HDX_LEAK_JAVA_LOCAL
} hdx_leak_matcher_kind;

/*
 * A reference that the search does not follow (`ignored`) or that marks a leak as one of a library. Names are those
 * after the mapping. If several matchers name a class and member, the last one applies; the caller's follow the
 * built-in ones.
 */
typedef struct hdx_leak_matcher {
    hdx_leak_matcher_kind kind;
    bool                  ignored;
    bool        everywhere; /* applies to JVM dumps, too; the others need android.os.Build (doc/shark.md 3.8, 3.9) */
    uint16_t    sdk_min, sdk_max; /* 0: no limit */
    const char *class_name;       /* "" for locals */
    const char *member;           /* name of the field; for locals of the thread; "" for native globals */
    const char *manufacturer;     /* as in Build.MANUFACTURER, several separated by |; "": all */
    const char *build_id;         /* Build.ID; "": all */
    const char *note;             /* why it is a known leak, or "" */
} hdx_leak_matcher;

/* Returns the built-in matchers. Constant. */
HDX_API const hdx_leak_matcher *hdx_leak_matchers(size_t *count);

/* A file that the caller has read. Its text needs no final NUL. */
typedef struct hdx_leak_file {
    const char *name; /* for messages */
    const char *at;
    size_t      len;
} hdx_leak_file;

typedef struct hdx_leaks_options {
    hdx_leak_finder finder;
    /* for HDX_LEAKS_CLASSES: exact names, globs, /regular expressions/, after the mapping */
    const char *const *classes;
    size_t             class_count;
    bool               retained; /* compute retained sizes, too */
    const char        *key;      /* only the watched object with this key; NULL: all */
    /* only objects that were watched at least this long; 0: all. Without effect if the dump has no times. */
    uint64_t                min_watch_ms;
    const hdx_leak_matcher *matchers; /* in addition to the built-in ones */
    size_t                  matcher_count;
    hdx_leak_file           matcher_file;    /* one matcher per line (man page, LEAK FILES); at NULL: none */
    hdx_leak_file           rule_file;       /* one state rule per line; at NULL: none */
    hdx_leak_file           mapping;         /* mapping file of R8 or ProGuard; at NULL: none */
    bool                    no_memory_of_it; /* neither read nor save the answer */
    unsigned                threads;         /* 0: one per processor */
    unsigned                width;           /* of ids, 64 for tests; 0: chosen by the number of objects */
    const hdx_progress     *progress;        /* may be NULL */
    /* most memory of a search, including mapped pages; HDX_LIMIT names a sufficient size. 0: no limit */
    uint64_t memory;
} hdx_leaks_options;

/* ---- results ---- */
typedef enum hdx_leak_kind { HDX_LEAK_APPLICATION, HDX_LEAK_LIBRARY, HDX_LEAK_UNREACHABLE } hdx_leak_kind;
typedef enum hdx_leak_status { HDX_LEAK_UNKNOWN, HDX_LEAK_NOT_LEAKING, HDX_LEAK_LEAKING } hdx_leak_status;
typedef enum hdx_leak_what { HDX_LEAK_IS_CLASS, HDX_LEAK_IS_INSTANCE, HDX_LEAK_IS_ARRAY } hdx_leak_what;
typedef enum hdx_leak_ref_kind {
    HDX_LEAK_REF_INSTANCE_FIELD,
    HDX_LEAK_REF_STATIC_FIELD,
    HDX_LEAK_REF_ARRAY_ENTRY,
    HDX_LEAK_REF_LOCAL
} hdx_leak_ref_kind;

/* Return the names as in JSON: "application", "unknown", "class", "instance_field" ... Constant strings. */
HDX_API const char *hdx_leak_kind_name(hdx_leak_kind kind);
HDX_API const char *hdx_leak_status_name(hdx_leak_status status);
HDX_API const char *hdx_leak_what_name(hdx_leak_what what);
HDX_API const char *hdx_leak_ref_kind_name(hdx_leak_ref_kind kind);

/* A reason or a label: `code` is stable, `text` is for people. */
typedef struct hdx_leak_note {
    const char     *code;
    const char     *text;
    hdx_leak_status means; /* the status that the reason implies; HDX_LEAK_UNKNOWN: a label */
} hdx_leak_note;

typedef struct hdx_leak_step {
    hdx_addr             address;
    const char          *class_name;
    hdx_leak_what        what;
    hdx_leak_status      status;
    const char          *conflict;  /* reasons that were overruled; NULL: none */
    const char          *inherited; /* the neighbour from which the status follows; NULL: the step's own reasons */
    const hdx_leak_note *reasons, *labels;
    uint32_t             reason_count, label_count;
    bool                 sized; /* true for unknown and leaking objects, if sizes were computed */
    uint64_t             retained_bytes, retained_objects;
    /* the reference to the next step; unset in the last step */
    bool              last;
    bool              suspect;
    hdx_leak_ref_kind ref_kind;
    const char       *ref_name; /* "" for a local; NULL: the value of a map whose key is the object ref_key */
    hdx_addr          ref_key;
    const char       *ref_owner;
    /* frame of a local: "com.acme.Main.run(Main.java:12)"; NULL if the dump has no stacks */
    const char *ref_frame;
} hdx_leak_step;

typedef struct hdx_leak_trace {
    const char *root_type;  /* "STICKY_CLASS" ...; NULL: unreachable */
    hdx_addr    address;    /* of the leaking object */
    const char *class_name; /* of the leaking object */
    uint64_t    step_count; /* number of steps; see hdx_leak_steps_read */
    bool        sized;
    uint64_t    retained_bytes, retained_objects; /* the largest of its leaking objects */
    char        signature[41];
    hdx_view    packed; /* encoded steps: a dump has thousands of traces, of which a program reads few */
} hdx_leak_trace;

typedef struct hdx_leak {
    hdx_leak_kind         kind;
    char                  signature[41]; /* SHA-1 in hexadecimal (doc/shark.md 5.5, 5.6); "" for unreachable objects */
    const char           *pattern;       /* of the matcher; NULL: none */
    const char           *note;
    const hdx_leak_trace *traces;
    uint64_t              trace_count;
    bool                  sized;
    /* sums over the traces; what several traces share is counted several times */
    uint64_t    retained_bytes, retained_objects;
    const char *suspects; /* "Registry.INSTANCE Plain.a": the suspect references of the first trace */
} hdx_leak;

typedef enum hdx_leak_fact_kind {
    HDX_LEAK_FACT_TEXT,
    HDX_LEAK_FACT_NUMBER,
    HDX_LEAK_FACT_UNKNOWN /* missing in the dump; the text is "Unknown", as in LeakCanary */
} hdx_leak_fact_kind;
typedef struct hdx_leak_fact {
    const char        *name, *text; /* `text` is also set for numbers, as printed for people */
    hdx_leak_fact_kind kind;
    uint64_t           number;
} hdx_leak_fact;

typedef struct hdx_leaks {
    const hdx_leak      *leaks; /* in the order application, library, unreachable */
    uint64_t             leak_count;
    const hdx_leak_fact *metadata; /* Android version, build ...; none for JVM dumps */
    uint64_t             metadata_count;
    /* number of references to watched objects, and of those with a retained referent */
    uint64_t watched, watched_retained;
    /* number of followed references that refer to no object of the dump */
    uint64_t dangling;
    bool     remembered; /* the answer was read from the index folder */
} hdx_leaks;

/*
 * Searches for leaks. *out belongs to the caller; on failure it is NULL.
 * Returns HDX_USAGE if a line of a file is faulty, a pattern is malformed, or the options do not match the finder;
 * HDX_NOT_FOUND if no class matches a pattern or no watched object has the key; HDX_BAD_DUMP if the dump is
 * unavailable; HDX_LIMIT if memory is too small; HDX_CANCELLED.
 */
HDX_API hdx_code hdx_leaks_search(hdx_graph *g, const hdx_leaks_options *options, hdx_leaks **out, hdx_error *err);

/* Frees a result. NULL is allowed. */
HDX_API void hdx_leaks_free(hdx_leaks *leaks);

/*
 * Checks the saved answers in the index folder: decodes every text, count and step of each, and looks up every address.
 * hdx_graph_verify compares their checksums. Returns HDX_DAMAGED with the name of the file.
 */
HDX_API hdx_code hdx_leaks_verify(hdx_graph *g, hdx_error *err);

/*
 * The steps of a trace, from the root object to the leaking object. Initialize it with { 0 }, reuse it for any number
 * of calls, and free it with hdx_leak_steps_free. The steps are valid until the next call, their texts as long as
 * `leaks`.
 */
typedef struct hdx_leak_steps {
    const hdx_leak_step *at;
    uint64_t             count;
    hdx_leak_step       *steps; /* the members from here on are private */
    hdx_leak_note       *notes;
    uint64_t             step_capacity, note_capacity;
} hdx_leak_steps;

/* Decodes the steps of a trace. Returns HDX_DAMAGED if the encoding is invalid, HDX_LIMIT if memory is short. */
HDX_API hdx_code hdx_leak_steps_read(const hdx_leaks *leaks, const hdx_leak_trace *trace, hdx_leak_steps *out,
                                     hdx_error *err);
HDX_API void     hdx_leak_steps_free(hdx_leak_steps *steps);

/*
 * Returns rows, one per leak: kind, signature, objects, dumps, retained, retained_objects, class, root, matcher,
 * suspects. A leak of several dumps (equal kind and signature) is one row. `names` are those of the `count` dumps; it
 * may be NULL, and "dumps" then has no names. With `documents` the rows have the extras "metadata", "watched", "dumps"
 * and "leaks" (see heapdex leaks --schema), in the same form for one and for several dumps: "metadata" has the facts
 * that are equal in all dumps, "watched" the sums, "dumps" both for each dump.
 * REQUIRES: `leaks` and `names` outlive the rows.
 */
HDX_API hdx_code hdx_leaks_rows(const hdx_leaks *const *leaks, const char *const *names, size_t count, bool documents,
                                hdx_rows **out, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
