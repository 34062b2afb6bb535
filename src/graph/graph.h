/*
 * graph.h - the room that opens a finished index and answers for the heap: the one door for questions.
 *
 * Its public face is <heapdex/graph.h>: objects, columns in runs, classes, cursors, values. This header adds what other
 * rooms of the library may use and what is no promise to the outside.
 *
 * What is where:
 *
 *   open.c                  the files and the dump, opened when first asked for
 *   objects.c               one object
 *   columns.c               runs, and reading ahead
 *   refs.c                  cursors
 *   classes.c               the table of classes
 *   values.c, string.c      fields and elements out of the dump; text
 *   instances.c, bulk.c     fields, references, elements of many objects
 *   content.c               texts and arrays whole, as they are
 *   label.c, label_kinds.c  MAT's labels
 *   number.c                numbers as Java prints them
 *   names.c                 names of references
 *   rescan.c                the whole dump once more
 *   contents.c              what all Strings and primitive arrays hold
 *   remember.c              answers kept
 *   views.c                 views of the index, and what one leaves out
 *   verify.c, verify_tree.c  whether an index is what it says
 */
#ifndef HDX_GRAPH_GRAPH_H
#define HDX_GRAPH_GRAPH_H

#include "base/base.h"
#include <heapdex/graph.h>

/* "class NAME" of a class with a long name, kept with the graph: classes and rows that share a name share its label. */
#define HDX_LONG_NAME 1024u
hdx_code hdx_graph_class_label(hdx_graph *g, const hdx_class *c, hdx_text *out, hdx_error *err);
/*
 * Appends a label as hdx_graph_label has it, but with all of its text: `out` counts it, `progress` (may be NULL) is
 * asked whether to stop. One that was made cut is the same unless it has HDX_CUT_LABEL bytes.
 */
#define HDX_CUT_LABEL 1024u
hdx_code hdx_graph_whole_label(hdx_graph *g, hdx_id id, hdx_whole whole, const hdx_progress *progress, hdx_buffer *out,
                               bool *some, hdx_error *err);
/*
 * Has each file of the index the length that the manifest says? HDX_DAMAGED names the first that has not. The catalog
 * was read whole when the graph was opened, what is in the others nobody has looked at. *count: files, it included.
 */
hdx_code hdx_graph_check_files(const hdx_graph *g, unsigned *count, hdx_error *err);
/* Of the index or of the view. */
void hdx_graph_identity(const hdx_graph *g, uint8_t out[16]);
bool hdx_graph_view_name(const char *name); /* can a view be called that? */
/* Fields as hdx_graph_fields has them, without those that the record is too short for. */
hdx_code hdx_graph_fields_there(hdx_graph *g, hdx_id id, hdx_values *v, hdx_error *err);

/*
 * Bytes from .. from + want of what the record of an instance or array holds: its fields, the most derived class first,
 * or its elements. *got is less where that ends, and 0 where there is no record or a tool cut the content out.
 */
hdx_code  hdx_graph_record_bytes(hdx_graph *g, hdx_id id, uint64_t from, void *to, uint64_t want, uint64_t *got,
                                 hdx_error *err);
hdx_value hdx_graph_value_of(const hdx_graph *g, uint8_t type, const uint8_t *bytes); /* of as many as the type has */
/* In a dump whose fields a tool overwrote: is this what it writes into primitive fields? Otherwise false. */
bool hdx_graph_wiped(const hdx_graph *g, const hdx_value *value);
/* hdx_near_begin of the dump (source/source.h): for a thread that reads many values at rising positions. */
struct hdx_near *hdx_graph_near_begin(hdx_graph *g);
void             hdx_graph_near_end(struct hdx_near *near);

/* The thread whose object that is; NULL: none. */
const hdx_thread *hdx_graph_thread_of(hdx_graph *g, hdx_id object);

/*
 * As hdx_graph_length and hdx_graph_read_lengths, but as the records say it, of which shallow sizes are: for flat
 * arrays their bytes.
 */
uint64_t hdx_graph_stored_length(const hdx_graph *g, hdx_id id);
void     hdx_graph_read_stored_lengths(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *out);
/* An array of bytes, and not one of value objects that the dump has as such. */
static inline bool hdx_class_of_bytes(const hdx_class *c)
{
    return c->kind == HDX_PRIMITIVE_ARRAY && c->element_type == 8 && (c->flags & HDX_CLASS_FLAT) == 0;
}

/* True when no object is garbage: scopes need no filter then. */
bool hdx_graph_all_live(const hdx_graph *g);

/*
 * What a run of objects refers to besides their classes (HDX_ALL), one list after the other: of how many objects from
 * `first` on, n at most, the lists have room for `room` together; their lengths. 0: that of the first is longer, or the
 * view leaves references out; a cursor has them.
 */
uint32_t hdx_graph_read_outbound(const hdx_graph *g, hdx_id first, uint32_t n, uint64_t *lengths, hdx_id *out,
                                 uint64_t room);

/*
 * The whole dump once more, in the order of the file and on several threads: for questions that need what the lists of
 * references leave out (order, nulls, names) of every object. What is delivered is what has an id: of two records for
 * one object the one the index points to. Roots are those of the dump, in no order; `pos` gives them back theirs. Calls
 * of one worker (below HDX_WORKERS_MAX) do not overlap; an error ends the reading. Bytes live until the call returns.
 */
typedef struct hdx_dump_root {
    hdx_pos  pos;
    hdx_addr object; /* as in the dump: may be 0 or name no object */
    uint32_t serial; /* of the thread; 0 where the tag has none */
    uint8_t  tag;    /* of the sub-record (HPROF 3) */
} hdx_dump_root;
typedef struct hdx_dump_reader {
    void *context;
    hdx_code (*root)(void *context, unsigned worker, const hdx_dump_root *root, hdx_error *err);
    /*
     * bytes of its fields, big-endian, most derived class first; len may be less than the class says (damage, over 1
     * MiB)
     */
    hdx_code (*instance)(void *context, unsigned worker, hdx_id id, const uint8_t *bytes, uint32_t len, hdx_error *err);
    /* elements from .. from + count - 1 of an object array, count ids */
    hdx_code (*elements)(void *context, unsigned worker, hdx_id id, uint64_t from, const uint8_t *ids, uint64_t count,
                         hdx_error *err);
    /*
     * size: bytes of the CLASS_DUMP without its tag; statics: of all types, in the order of the dump and of hdx_class
     */
    hdx_code (*class_object)(void *context, unsigned worker, hdx_id id, uint64_t size, const hdx_value *statics,
                             uint32_t count, hdx_error *err);
} hdx_dump_reader;
/* HDX_BAD_DUMP where the dump is not at hand or changed. tick may be NULL; it counts bytes of the file, twice. */
hdx_code hdx_graph_rescan(hdx_graph *g, unsigned threads, const hdx_dump_reader *reader, hdx_ticker *tick,
                          hdx_error *err);

/*
 * What Strings and primitive arrays hold, of many of them: their records alone are read, in the order of the dump, on
 * several threads, and of a compressed dump each piece is inflated once. Calls of one worker (below HDX_WORKERS_MAX) do
 * not overlap; an error ends the reading.
 */
typedef enum hdx_coding { HDX_CHARS_BE, HDX_LATIN1, HDX_UTF16_LE, HDX_UTF16_BE } hdx_coding;
typedef enum hdx_text_state {
    HDX_TEXT_THERE,
    HDX_TEXT_NONE,   /* its value is null: a String that was just made */
    HDX_TEXT_ABSENT, /* the dump has no bytes of its value, or of its array */
    HDX_TEXT_UNKNOWN /* no layout that is known (doc/hprof.md, section 6) */
} hdx_text_state;
typedef struct hdx_text_at {
    hdx_id         string, array; /* array: HDX_NO_ID unless the text is there */
    hdx_text_state state;
    hdx_coding     coding;
    bool           whole; /* it is all of the array */
    uint64_t       first, units;
} hdx_text_at;
/* A primitive array, in one or more parts, in a row: bytes `from` .. `from` + len - 1 of its elements, big-endian. */
typedef struct hdx_array_part {
    hdx_id   id;
    uint8_t  type;   /* of its elements, HPROF's: 4 boolean .. 11 long */
    uint32_t length; /* elements */
    /* of its content there is nothing in the dump, or not all: one part, with bytes where its beginning is there */
    bool           absent;
    bool           last;
    uint64_t       from;
    const uint8_t *bytes; /* parts but the last are of HDX_PART_BYTES */
    uint64_t       len;
} hdx_array_part;
#define HDX_PART_BYTES (64u << 10)
typedef struct hdx_contents_reader {
    void           *context;
    hdx_refs_scope  scope;   /* Strings that are read */
    hdx_refs_scope  arrays;  /* arrays that are */
    bool            strings; /* is `text` called for Strings */
    unsigned        types;   /* bit t: is `part` called for arrays of that element type */
    const uint64_t *only;    /* bits over ids: of arrays only these; NULL: all */
    hdx_code (*text)(void *context, unsigned worker, const hdx_text_at *text, hdx_error *err);
    hdx_code (*part)(void *context, unsigned worker, const hdx_array_part *part, hdx_error *err);
} hdx_contents_reader;
/* HDX_BAD_DUMP where the dump is not at hand or changed. mem, tick may be NULL; tick counts bytes of the dump. */
hdx_code hdx_graph_contents(hdx_graph *g, unsigned threads, const hdx_contents_reader *reader, hdx_mem *mem,
                            hdx_ticker *tick, hdx_error *err);
/* The same of one String, out of its record; none where it is no String. */
hdx_code hdx_graph_text_at(hdx_graph *g, hdx_id string, hdx_text_at *out, hdx_error *err);
/* Is a class one of Strings: java.lang.String, whoever loads it? */
bool hdx_class_of_strings(const hdx_class *c);
/* hdx_graph_string, after what `out` has: for who reads many. */
hdx_code hdx_graph_put_string(hdx_graph *g, hdx_id id, uint64_t max, hdx_buffer *out, bool *whole, bool *is_string,
                              hdx_error *err);
/* Units of text as UTF-8 after what `out` has; *high carries half a pair from part to part, 0 at first and last. */
void hdx_put_units(hdx_coding coding, const uint8_t *bytes, uint64_t units, bool last, hdx_buffer *out, uint16_t *high);
hdx_code hdx_graph_utf16(hdx_graph *g, hdx_coding *out, hdx_error *err); /* of two bytes of UTF-16 in a byte[] */
/* Shallow size of a primitive array of so many elements. */
uint64_t hdx_graph_size_of_array(const hdx_graph *g, uint8_t type, uint64_t length);

/*
 * Answers remembered beside an index (notes): files retained-class .. retained-superclass, one for each hdx_note, and
 * leaks-0 .. leaks-f for all other keys. Each is put in place by a rename. They belong to the folder and go with it.
 */
typedef enum hdx_note {
    HDX_NOTE_RETAINED_CLASS,
    HDX_NOTE_RETAINED_PACKAGE,
    HDX_NOTE_RETAINED_LOADER,
    HDX_NOTE_RETAINED_SUPERCLASS,
    HDX_NOTE_KEYS /* keys of leaks begin here */
} hdx_note;
typedef struct hdx_remembered {
    uint8_t *at; /* *size bytes from hdx_mem_get(NULL, size) */
    uint64_t size;
} hdx_remembered;
/* at NULL where nothing sound is remembered under this key. */
hdx_remembered hdx_graph_recall(const hdx_graph *g, uint64_t key);
/* False where the folder cannot be written, which is no failure. */
bool hdx_graph_remember(const hdx_graph *g, uint64_t key, const void *bytes, uint64_t len);
/* The file that a key falls to. */
const char *hdx_graph_kept_name(uint64_t key);
/* The i-th note that is there; false past the last. */
bool hdx_graph_kept(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes);
/*
 * One note, whatever its key: sums, length, index and name compared. HDX_DAMAGED says what is wrong with it,
 * HDX_NOT_FOUND: it is not there.
 */
hdx_code hdx_graph_kept_read(const hdx_graph *g, const char *name, uint64_t *key, hdx_remembered *out, hdx_error *err);

#endif
