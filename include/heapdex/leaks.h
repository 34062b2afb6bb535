/*
 * leaks.h - memory leaks as LeakCanary finds them: watched objects, the path from a GC root that keeps each alive,
 * which reference of it is to blame, groups of the same leak, known leaks of the platform.
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
 * classes) the search goes on; retained sizes are exact dominator sizes over the references that the search follows,
 * with Shark's sizes of single objects: the instance size CLASS_DUMP states, length times width of arrays, native bytes
 * of bitmaps.
 *
 * The first search reads the dump once more (order and names of references are not in the index): the graph must have
 * been opened with it, else HDX_BAD_DUMP. The answer is kept in the folder of the index under everything it depends on
 * (options, tables, files, index), where that folder can be written; asked again it is read from there.
 *
 * A graph may be asked from many threads at once. A hdx_leaks never changes after the search; everything in it lives
 * until hdx_leaks_free.
 */
#ifndef HEAPDEX_LEAKS_H
#define HEAPDEX_LEAKS_H

#include <heapdex/graph.h>
#include <heapdex/progress.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to look for ---- */
typedef enum hdx_leak_finder {
    HDX_LEAKS_WATCHED, /* referents of KeyedWeakReference that are retained (doc/shark.md 2.1, 2.2) */
    /* every object by its state: destroyed activities ... (doc/shark.md 2.5), and the caller's rules */
    HDX_LEAKS_FILTERS,
    HDX_LEAKS_CLASSES /* all instances of the classes named */
} hdx_leak_finder;

typedef enum hdx_leak_matcher_kind {
    HDX_LEAK_INSTANCE_FIELD,
    HDX_LEAK_STATIC_FIELD,
    HDX_LEAK_NATIVE_GLOBAL,
    HDX_LEAK_JAVA_LOCAL
} hdx_leak_matcher_kind;

/*
 * A reference that is not followed (`ignored`) or that marks a leak as one of a library. Names are those after the
 * mapping. Of several that name one class and member the last holds; the caller's stand after the built-in ones.
 */
typedef struct hdx_leak_matcher {
    hdx_leak_matcher_kind kind;
    bool                  ignored;
    bool        everywhere; /* holds for JVM dumps too; the others need android.os.Build (doc/shark.md 3.8, 3.9) */
    uint16_t    sdk_min, sdk_max; /* 0: no bound */
    const char *class_name;       /* "" for locals */
    const char *member;           /* field; name of the thread for locals; "" for native globals */
    const char *manufacturer;     /* as Build.MANUFACTURER says it, several with | between them; "" for all */
    const char *build_id;         /* Build.ID; "" for all */
    const char *note;             /* why it is a known leak; "" */
} hdx_leak_matcher;

/* The built-in list. */
HDX_API const hdx_leak_matcher *hdx_leak_matchers(size_t *count);

/* A file that was read by the caller; texts need no NUL. */
typedef struct hdx_leak_file {
    const char *name; /* for messages */
    const char *at;
    size_t      len;
} hdx_leak_file;

typedef struct hdx_leaks_options {
    hdx_leak_finder    finder;
    const char *const *classes; /* HDX_LEAKS_CLASSES: exact names, globs, /regular expressions/, after the mapping */
    size_t             class_count;
    bool               retained; /* sizes too */
    const char        *key; /* only the watched object with this key; HDX_NOT_FOUND where there is none. NULL: all */
    uint64_t min_watch_ms;  /* only objects watched at least so long; 0: all (where the dump has no times: all) */
    const hdx_leak_matcher *matchers; /* more of them */
    size_t                  matcher_count;
    hdx_leak_file           matcher_file;    /* one matcher a line (man page, LEAK FILES); at NULL: none */
    hdx_leak_file           rule_file;       /* one rule of state a line; at NULL: none */
    hdx_leak_file           mapping;         /* of R8 or ProGuard; at NULL: none */
    bool                    no_memory_of_it; /* neither read nor keep a remembered answer */
    unsigned                threads;         /* 0: as many as processors */
    unsigned                width;           /* 0: of ids as the objects allow; 64 to force (tests) */
    const hdx_progress     *progress;        /* may be NULL */
    /* the most a search may take, mapped pages counted; HDX_LIMIT names a size that would do. 0: what it takes */
    uint64_t memory;
} hdx_leaks_options;

/* ---- the answer ---- */
typedef enum hdx_leak_kind { HDX_LEAK_APPLICATION, HDX_LEAK_LIBRARY, HDX_LEAK_UNREACHABLE } hdx_leak_kind;
typedef enum hdx_leak_status { HDX_LEAK_UNKNOWN, HDX_LEAK_NOT_LEAKING, HDX_LEAK_LEAKING } hdx_leak_status;
typedef enum hdx_leak_what { HDX_LEAK_IS_CLASS, HDX_LEAK_IS_INSTANCE, HDX_LEAK_IS_ARRAY } hdx_leak_what;
typedef enum hdx_leak_ref_kind {
    HDX_LEAK_REF_INSTANCE_FIELD,
    HDX_LEAK_REF_STATIC_FIELD,
    HDX_LEAK_REF_ARRAY_ENTRY,
    HDX_LEAK_REF_LOCAL
} hdx_leak_ref_kind;
HDX_API const char *hdx_leak_kind_name(hdx_leak_kind kind);         /* "application" ... */
HDX_API const char *hdx_leak_status_name(hdx_leak_status status);   /* "unknown" ... */
HDX_API const char *hdx_leak_what_name(hdx_leak_what what);         /* "class" ... */
HDX_API const char *hdx_leak_ref_kind_name(hdx_leak_ref_kind kind); /* "instance_field" ... */

typedef struct hdx_leak_note { /* a reason or a label: the code is stable, the text is for people */
    const char     *code;
    const char     *text;
    hdx_leak_status means; /* HDX_LEAK_UNKNOWN: a label */
} hdx_leak_note;

typedef struct hdx_leak_step {
    hdx_addr             address;
    const char          *class_name;
    hdx_leak_what        what;
    hdx_leak_status      status;
    const char          *conflict;  /* reasons that lost; NULL: none */
    const char          *inherited; /* from which neighbour the status came; NULL: its own */
    const hdx_leak_note *reasons, *labels;
    uint32_t             reason_count, label_count;
    bool                 sized; /* unknown and leaking objects, where sizes were asked for */
    uint64_t             retained_bytes, retained_objects;
    /* the reference to the next step; nothing of it at the last */
    bool              last;
    bool              suspect;
    hdx_leak_ref_kind ref_kind;
    const char       *ref_name; /* "" for a local; NULL: the value of a map named by the object ref_key */
    hdx_addr          ref_key;
    const char       *ref_owner;
    const char       *ref_frame; /* of a local, where the dump has stacks: "com.acme.Main.run(Main.java:12)"; NULL */
} hdx_leak_step;

typedef struct hdx_leak_trace {
    const char *root_type;  /* "STICKY_CLASS" ...; NULL: unreachable */
    hdx_addr    address;    /* of the object that leaks */
    const char *class_name; /* of the same */
    uint64_t    step_count; /* hdx_leak_steps_read gives them */
    bool        sized;
    uint64_t    retained_bytes, retained_objects; /* the most of its leaking objects */
    char        signature[41];
    hdx_view packed; /* the steps as they are kept: a dump has thousands of traces, of which a reader looks at some */
} hdx_leak_trace;

typedef struct hdx_leak {
    hdx_leak_kind         kind;
    char                  signature[41]; /* SHA-1 in hexadecimal (doc/shark.md 5.5, 5.6); "" for unreachable objects */
    const char           *pattern;       /* of the matcher; NULL: none */
    const char           *note;
    const hdx_leak_trace *traces;
    uint64_t              trace_count;
    bool                  sized;
    uint64_t    retained_bytes, retained_objects; /* summed over the traces: what two of them share counts twice */
    const char *suspects; /* "Registry.INSTANCE Plain.a": the blamed references of the first trace */
} hdx_leak;

typedef enum hdx_leak_fact_kind {
    HDX_LEAK_FACT_TEXT,
    HDX_LEAK_FACT_NUMBER,
    HDX_LEAK_FACT_UNKNOWN /* the dump does not say; text is "Unknown", as LeakCanary has it */
} hdx_leak_fact_kind;
typedef struct hdx_leak_fact {
    const char        *name, *text; /* text: of a number, too, as people read it */
    hdx_leak_fact_kind kind;
    uint64_t           number;
} hdx_leak_fact;

typedef struct hdx_leaks {
    const hdx_leak      *leaks; /* application, library, unreachable */
    uint64_t             leak_count;
    const hdx_leak_fact *metadata; /* Android version, build ...; of JVM dumps none */
    uint64_t             metadata_count;
    uint64_t             watched, watched_retained; /* references to watched objects; those with a retained referent */
    uint64_t             dangling;                  /* references followed that name no object of the dump */
    bool                 remembered;                /* read from the folder of the index */
} hdx_leaks;

/*
 * HDX_USAGE: a faulty line of a file, a malformed pattern. HDX_NOT_FOUND: no class of a pattern, no such key.
 * HDX_BAD_DUMP: the dump is not at hand. HDX_LIMIT: memory. HDX_CANCELLED.
 */
HDX_API hdx_code hdx_leaks_search(hdx_graph *g, const hdx_leaks_options *options, hdx_leaks **out, hdx_error *err);
HDX_API void     hdx_leaks_free(hdx_leaks *leaks); /* NULL: nothing */

/*
 * Are the answers kept beside the index what they say? Every text, count and step of each is read, and every address is
 * that of an object. Their sums are hdx_graph_verify's. HDX_DAMAGED names the file.
 */
HDX_API hdx_code hdx_leaks_verify(hdx_graph *g, hdx_error *err);

/*
 * The steps of one trace, from the object of the root to the one that leaks. Start with { 0 }, use again and again,
 * free at the end; texts live as long as `leaks`, the steps until the next call. HDX_DAMAGED, HDX_LIMIT.
 */
typedef struct hdx_leak_steps {
    const hdx_leak_step *at;
    uint64_t             count;
    hdx_leak_step       *steps; /* what follows is the call's own */
    hdx_leak_note       *notes;
    uint64_t             step_capacity, note_capacity;
} hdx_leak_steps;
HDX_API hdx_code hdx_leak_steps_read(const hdx_leaks *leaks, const hdx_leak_trace *trace, hdx_leak_steps *out,
                                     hdx_error *err);
HDX_API void     hdx_leak_steps_free(hdx_leak_steps *steps);

/*
 * As rows, one a leak: kind, signature, objects, dumps, retained, retained_objects, class, root, matcher, suspects. The
 * same leak of several dumps (kind and signature) is one row. With `documents` the extras "metadata", "watched",
 * "dumps" and "leaks" besides (heapdex leaks --schema shows them), in the same form for one and for several dumps:
 * metadata is what all dumps say alike, watched the sums, dumps has both of each. The rows borrow from `leaks` and
 * `names`, of which there are count; names may be NULL, and dumps have none then.
 */
HDX_API hdx_code hdx_leaks_rows(const hdx_leaks *const *leaks, const char *const *names, size_t count, bool documents,
                                hdx_rows **out, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
