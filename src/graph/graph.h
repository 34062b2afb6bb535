/*
 * graph.h - the room that opens a finished index. All answers read the heap through it.
 *
 * <heapdex/graph.h> is its public part: objects, columns in runs, classes, cursors, values. This header adds what other
 * rooms of the library use and what is not part of the public contract.
 *
 * Files:
 *
 *   open.c                  the files and the dump, opened on first use
 *   objects.c               one object
 *   columns.c               runs, and reading ahead
 *   refs.c                  cursors
 *   classes.c               the table of classes
 *   values.c, string.c      fields and elements from the dump; text
 *   instances.c, bulk.c     fields, references, elements of many objects
 *   content.c               whole texts and arrays, unchanged
 *   label.c, label_kinds.c  MAT's labels
 *   number.c                numbers as Java prints them
 *   names.c                 names of references
 *   rescan.c                the whole dump once more
 *   contents.c              contents of all Strings and primitive arrays
 *   remember.c              saved answers
 *   views.c                 views of the index, and the references that one ignores
 *   verify.c, verify_tree.c  checks of a whole index
 */
#ifndef HDX_GRAPH_GRAPH_H
#define HDX_GRAPH_GRAPH_H

#include "base/base.h"
#include <heapdex/graph.h>

/*
 * Returns "class NAME" for a class with a long name. The label belongs to the graph; classes of the same name share it.
 */
#define HDX_LONG_NAME 1024u
hdx_code hdx_graph_class_label(hdx_graph *g, const hdx_class *c, hdx_text *out, hdx_error *err);
/*
 * Appends the label of hdx_graph_label with its whole text. `out` counts the memory. `progress` (may be NULL) is
 * checked for cancellation. A label that was computed with HDX_CUT is the whole one unless it has HDX_CUT_LABEL bytes.
 */
#define HDX_CUT_LABEL 1024u
hdx_code hdx_graph_whole_label(hdx_graph *g, hdx_id id, hdx_whole whole, const hdx_progress *progress, hdx_buffer *out,
                               bool *some, hdx_error *err);
/*
 * Checks that each file of the index has the length that the manifest gives. Returns HDX_DAMAGED with the first that
 * has not. The catalog was read completely when the graph was opened; the content of the others is not read. *count:
 * number of files, including the catalog.
 */
hdx_code hdx_graph_check_files(const hdx_graph *g, unsigned *count, hdx_error *err);
/* Returns the identity of the open view, or of the index. */
void hdx_graph_identity(const hdx_graph *g, uint8_t out[16]);
bool hdx_graph_view_name(const char *name); /* whether it is a valid name of a view */
/* Same as hdx_graph_fields, without the fields for which the record is too short. */
hdx_code hdx_graph_fields_present(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);

/*
 * Copies bytes from .. from + want of the content of an instance or array: its fields, those of its class first, or its
 * elements. *got is less at the end, and 0 if there is no record or a tool removed the content.
 */
hdx_code hdx_graph_record_bytes(hdx_graph *g, hdx_id id, uint64_t from, void *to, uint64_t want, uint64_t *got,
                                hdx_error *err);
/* Converts as many bytes as the type has. */
hdx_value hdx_graph_value_of(const hdx_graph *g, uint8_t type, const uint8_t *bytes);
/*
 * Returns whether a value is the constant that a tool wrote into primitive fields. False if the dump's fields were not
 * overwritten.
 */
bool hdx_graph_wiped(const hdx_graph *g, const hdx_value *value);
/* Calls hdx_near_begin for the dump (source/source.h), for a thread that reads many values at ascending positions. */
struct hdx_near *hdx_graph_near_begin(hdx_graph *g);
void             hdx_graph_near_end(struct hdx_near *near);

/* Returns the thread with this thread object; NULL: none. */
const hdx_thread *hdx_graph_thread_of(hdx_graph *g, hdx_id object);

/*
 * Same as hdx_graph_length and hdx_graph_read_lengths, with the lengths in the records, from which shallow sizes
 * follow: for flat arrays the number of bytes.
 */
uint64_t hdx_graph_stored_length(const hdx_graph *g, hdx_id id);
void     hdx_graph_read_stored_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
/* True for byte[], but not for arrays of value objects that the dump stores as byte[]. */
static inline bool hdx_class_of_bytes(const hdx_class *c)
{
    return c->kind == HDX_PRIMITIVE_ARRAY && c->element_type == 8 && (c->flags & HDX_CLASS_FLAT) == 0;
}

/* True if no object is garbage: scopes then need no filter. */
bool hdx_graph_all_live(const hdx_graph *g);

/*
 * Copies the outbound references of a run of objects, without those to their classes (HDX_ALL), one list after the
 * other, and their lengths. Returns the number of objects from `first` on, at most n, whose lists fit in `room`
 * together. 0: the first list is longer, or the view ignores references; use a cursor.
 */
uint32_t hdx_graph_read_outbound(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *lengths, hdx_id *out,
                                 uint64_t room);

/*
 * Reads the whole dump once more, in the order of the file and on several threads, for answers that need what the
 * reference lists lack (order, nulls, names) for every object. Only objects that have an id are passed; if an object
 * has two records, the one to which the index refers. Roots are those of the dump, unordered; `pos` restores their
 * order. Calls for one worker (below HDX_WORKERS_MAX) do not overlap. An error ends the reading. Bytes are valid until
 * the call returns.
 */
typedef struct hdx_dump_root {
    hdx_pos  pos;
    hdx_addr object; /* as in the dump: may be 0 or refer to no object */
    uint32_t serial; /* of the thread; 0 if the tag has none */
    uint8_t  tag;    /* of the sub-record (HPROF 3) */
} hdx_dump_root;
typedef struct hdx_dump_reader {
    void *context;
    hdx_code (*root)(void *context, unsigned worker, const hdx_dump_root *root, hdx_error *err);
    /*
     * Its fields, big-endian, those of its class first. `len` may be less than the class implies (damage, over 1 MiB).
     */
    hdx_code (*instance)(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len, hdx_error *err);
    /* Elements from .. from + count - 1 of an object array: `count` ids. */
    hdx_code (*elements)(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids, uint64_t count,
                         hdx_error *err);
    /*
     * size: bytes of the CLASS_DUMP without its tag; statics: all of them, in the order of the dump and of hdx_class.
     */
    hdx_code (*class_object)(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *statics,
                             uint32_t count, hdx_error *err);
} hdx_dump_reader;
/*
 * Returns HDX_BAD_DUMP if the dump is unavailable or changed. `tick` may be NULL; it counts bytes of the file, twice.
 */
hdx_code hdx_graph_rescan(hdx_graph *g, unsigned threads, const hdx_dump_reader *reader, hdx_ticker *tick,
                          hdx_error *err);

/*
 * Reads the contents of many Strings and primitive arrays. Only their records are read, in the order of the dump and on
 * several threads; each piece of a compressed dump is inflated once. Calls for one worker (below HDX_WORKERS_MAX) do
 * not overlap. An error ends the reading.
 */
typedef enum hdx_coding { HDX_CHARS_BE, HDX_LATIN1, HDX_UTF16_LE, HDX_UTF16_BE } hdx_coding;
typedef enum hdx_text_state {
    HDX_TEXT_THERE,
    HDX_TEXT_NONE,   /* its value is null: the String is being constructed */
    HDX_TEXT_ABSENT, /* the dump lacks the bytes of its value, or of its array */
    HDX_TEXT_UNKNOWN /* the layout is unknown (doc/hprof.md, section 6) */
} hdx_text_state;
typedef struct hdx_text_at {
    hdx_id         string, array; /* array: HDX_NO_ID unless the state is HDX_TEXT_THERE */
    hdx_text_state state;
    hdx_coding     coding;
    bool           whole; /* the text is the whole array */
    uint64_t       first, units;
} hdx_text_at;
/*
 * A part of a primitive array: bytes `from` .. `from` + len - 1 of its elements, big-endian. The parts of an array
 * follow each other.
 */
typedef struct hdx_array_part {
    hdx_id   id;
    uint8_t  type;   /* of its elements, as in HPROF: 4 boolean .. 11 long */
    uint32_t length; /* in elements */
    /*
     * the dump lacks its content or a part of it: there is one part, with the bytes of the beginning if the dump has
     * them
     */
    bool           absent;
    bool           last;
    uint64_t       from;
    const uint8_t *bytes; /* all parts but the last have HDX_PART_BYTES */
    uint64_t       len;
} hdx_array_part;
#define HDX_PART_BYTES (64u << 10)
typedef struct hdx_contents_reader {
    void           *context;
    hdx_refs_scope  scope;   /* Strings to read */
    hdx_refs_scope  arrays;  /* arrays to read */
    bool            strings; /* whether `text` is called for Strings */
    unsigned        types;   /* bit t: `part` is called for arrays of element type t */
    const uint64_t *only;    /* bits over ids: arrays to read; NULL: all */
    hdx_code (*text)(void *context, unsigned worker, const hdx_text_at *text, hdx_error *err);
    hdx_code (*part)(void *context, unsigned worker, const hdx_array_part *part, hdx_error *err);
} hdx_contents_reader;
/*
 * Returns HDX_BAD_DUMP if the dump is unavailable or changed. `mem` and `tick` may be NULL; `tick` counts bytes of the
 * dump.
 */
hdx_code hdx_graph_contents(hdx_graph *g, unsigned threads, const hdx_contents_reader *reader, hdx_mem *mem,
                            hdx_ticker *tick, hdx_error *err);
/* Same for one String, from its record; HDX_TEXT_NONE if the object is not a String. */
hdx_code hdx_graph_text_at(hdx_graph *g, hdx_id string, hdx_text_at *out, hdx_error *err);
/* True for java.lang.String, whichever loader defined it. */
bool hdx_class_of_strings(const hdx_class *c);
/* Same as hdx_graph_string, but appends to `out`, for callers that read many. */
hdx_code hdx_graph_put_string(hdx_graph *g, hdx_id id, uint64_t max, hdx_buffer *out, bool *whole, bool *is_string,
                              hdx_error *err);
/*
 * Appends UTF-16 units, or Latin-1, as UTF-8. *high carries a high surrogate from part to part; it is 0 before the
 * first and after the last.
 */
void hdx_put_units(hdx_coding coding, const uint8_t *bytes, uint64_t units, bool last, hdx_buffer *out, uint16_t *high);
hdx_code hdx_graph_utf16(hdx_graph *g, hdx_coding *out, hdx_error *err); /* byte order of UTF-16 in byte[] */
/* Returns the shallow size of a primitive array. */
uint64_t hdx_graph_size_of_array(const hdx_graph *g, uint8_t type, uint64_t length);

/*
 * Answers that are saved in the index folder ("notes"): files retained-class .. answers-f, one for each
 * hdx_note, and leaks-0 .. leaks-f for all other keys. Each is put in place by a rename. They are deleted with the
 * folder.
 */
typedef enum hdx_note {
    HDX_NOTE_RETAINED_CLASS,
    HDX_NOTE_RETAINED_PACKAGE,
    HDX_NOTE_RETAINED_LOADER,
    HDX_NOTE_RETAINED_SUPERCLASS,
    HDX_NOTE_PATHS_CLASS,
    HDX_NOTE_PATHS_PACKAGE,
    HDX_NOTE_PATHS_LOADER,
    HDX_NOTE_CHILDREN,                        /* the first of HDX_NOTE_CHILDREN_COUNT */
    HDX_NOTE_ANSWERS = HDX_NOTE_CHILDREN + 8, /* the first of HDX_NOTE_ANSWERS_COUNT */
    HDX_NOTE_KEYS = HDX_NOTE_ANSWERS + 16     /* keys of leaks start here */
} hdx_note;
#define HDX_NOTE_CHILDREN_COUNT ((uint64_t)(HDX_NOTE_ANSWERS - HDX_NOTE_CHILDREN))
#define HDX_NOTE_ANSWERS_COUNT  ((uint64_t)(HDX_NOTE_KEYS - HDX_NOTE_ANSWERS))
typedef struct hdx_remembered {
    uint8_t *at; /* *size bytes from hdx_mem_get(NULL, size) */
    uint64_t size;
} hdx_remembered;
/* Reads the saved answer of a key; `at` is NULL if there is none, or if it is not sound. */
hdx_remembered hdx_graph_recall(const hdx_graph *g, uint64_t key);
/* Saves an answer. False if the folder cannot be written, which is not an error. */
bool hdx_graph_remember(const hdx_graph *g, uint64_t key, const void *bytes, uint64_t len);
/* Returns the name of the file for a key. */
const char *hdx_graph_saved_name(uint64_t key);
/* Returns name and size of the i-th existing note; false after the last. */
bool hdx_graph_saved(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes);
/*
 * Reads one note, whatever its key, and checks checksums, length, index and name. Returns HDX_DAMAGED with the problem,
 * HDX_NOT_FOUND if it does not exist.
 */
hdx_code hdx_graph_saved_read(const hdx_graph *g, const char *name, uint64_t *key, hdx_remembered *out, hdx_error *err);

#endif
