/*
 * inside.h - shared by the files of this room, for these files only.
 *
 *   reader.c    bytes around a position, one buffer that moves
 *   entry.c     one heap entry: where its content begins, how long it is
 *   frame.c     a whole segment, read with contents, without, or both (STRIP 5.2, 5.3); cut names (STRIP M1)
 *   detect.c    which tool stripped a dump, from its container and framing
 *   signs.c     the same from its content (STRIP 5.4)
 *   wiped.c     contents and fields that were removed in part (STRIP 5.7)
 *   policy.c    the tools as tables: names, rules, what is absent afterwards
 *   overlay.c      a stripped file as complete HPROF, at any position: points, cursors
 *   overlay_koom.c overlay_tailor.c overlay_names.c   the content at one place of such a file
 *   restore.c   an overlay, written to a file
 *   strip.c     a dump, rewritten by the rules of a policy
 *   choose.c    what a policy must know before it writes: texts of Strings, bitmaps, names in use
 *   container.c writes Tailor's tokens
 *   proof.c     proves what redaction must preserve
 *   sink.c      the output file, which appears complete or not at all
 *
 * Invariants
 *   T1  There is no recursion over records; one entry is processed at a time, and never more of its content than a
 *       buffer.
 *   T2  Ids are 4 or 8 bytes wide and positions 64 bits, whatever the record lengths (u4) say.
 *   T3  A search that may fail is limited (patience), so that a malicious file costs no more than a constant times its
 *       bytes.
 */
#ifndef HDX_STRIP_INSIDE_H
#define HDX_STRIP_INSIDE_H

#include "base/base.h"
#include "base/whole.h"
#include "hprof/hprof.h"
#include "model/model.h"
#include "source/source.h"
#include "strip/strip.h"

#define TOP_HEAD   9u /* tag, time, length */
#define EVERYTHING (UINT64_MAX >> 1)

/* ---- reader.c ---- */
#define READER_PAD 64u /* zero bytes after the content, because heads are read before their length is checked */
typedef struct reader {
    hdx_source *source;
    bool        below; /* reads below the overlay of the source */
    hdx_mem    *mem;
    hdx_ticker *tick; /* counts what is read; may be NULL */
    size_t      chunk;
    uint8_t    *at;
    uint64_t    capacity;
    hdx_pos     from; /* position of at[0] */
    size_t      len;
    uint64_t    read; /* bytes read from the source so far */
} reader;
reader   hdx_strip_reader_of(hdx_source *source, bool below, size_t chunk, hdx_mem *mem, hdx_ticker *tick);
void     hdx_strip_reader_free(reader *r);
hdx_code hdx_strip_reader_move(reader *r, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have, hdx_error *err);
/*
 * Returns bytes from pos on: *have is at least `want` unless the data end before; READER_PAD more may be read. Earlier
 * pointers become invalid.
 */
static inline hdx_code hdx_strip_reader_at(reader *r, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have,
                                           hdx_error *err)
{
    if (pos >= r->from && pos - r->from <= r->len && want <= r->len - (pos - r->from)) {
        *at = r->at + (pos - r->from);
        *have = r->len - (size_t)(pos - r->from);
        return HDX_OK;
    }
    return hdx_strip_reader_move(r, pos, want, at, have, err);
}
/* Returns whether all these bytes are in the buffer. */
static inline bool hdx_strip_reader_has(const reader *r, hdx_pos pos, uint64_t want)
{
    return pos >= r->from && pos - r->from <= r->len && want <= r->len - (pos - r->from);
}
/* Returns whether the byte at end - 1 exists. */
hdx_code hdx_strip_reader_reaches(reader *r, hdx_pos end, bool *yes, hdx_error *err);

/* ---- entry.c ---- */
typedef enum entry_state {
    ENTRY_WHOLE,
    ENTRY_SHORT,
    ENTRY_TAG,
    ENTRY_TYPE
} entry_state; /* SHORT: the data end inside its head */
typedef struct entry {
    hdx_pos        pos;
    const uint8_t *at; /* its head, borrowed from the reader until it moves */
    uint64_t       id, class_id;
    uint64_t       head; /* size before the content; a CLASS_DUMP is only a head */
    uint64_t       body; /* size of the content as stated in the head */
    uint32_t       count;
    uint8_t        tag, type;
} entry;
typedef struct class_shape {              /* offsets from the tag on */
    uint64_t pool, statics, fields, size; /* first entry of each */
    uint32_t pool_count, static_count, field_count;
} class_shape;
bool     hdx_strip_entry_is_root(uint8_t tag);
hdx_code hdx_strip_entry_at(reader *r, uint32_t id_size, hdx_pos pos, entry *e, entry_state *state, hdx_error *err);
/*
 * pool_at: position of the count of the constant pool. Returns WHOLE, TYPE, or SHORT if at least out->size bytes are
 * needed.
 */
#define CLASS_POOL(id_size) (9 + 7 * (id_size))
entry_state hdx_strip_class_shape_of(const uint8_t *at, size_t have, uint32_t id_size, uint32_t pool_at,
                                     class_shape *out);

/* ---- frame.c ---- */
typedef enum frame_way { FRAME_PLAIN, FRAME_CUT, FRAME_MIXED } frame_way;
/* A walk over the entries of one heap record. */
typedef struct frame {
    reader   *r;
    uint32_t  id_size;
    frame_way way;
    bool      cut;     /* current mode; initially true for MIXED */
    hdx_pos   pos;     /* of the next entry */
    uint64_t  left;    /* remaining stated bytes */
    uint64_t  missing; /* of the last entry: content that its record counts but the file lacks */
} frame;
static inline frame hdx_strip_frame_of(reader *r, uint32_t id_size, hdx_pos body, uint64_t stated, frame_way way)
{
    return (frame){ .r = r, .id_size = id_size, .way = way, .cut = way != FRAME_PLAIN, .pos = body, .left = stated };
}
typedef enum frame_step {
    FRAME_ENTRY,
    FRAME_END,
    FRAME_BROKEN
} frame_step; /* BROKEN: not an entry, or it exceeds the record or the data */
hdx_code hdx_strip_frame_next(frame *f, entry *e, frame_step *step, hdx_error *err);

typedef struct frame_fit {
    bool     fits;
    bool     whole;  /* its end was reached; otherwise only `limit` bytes were examined */
    hdx_pos  end;    /* after the last entry read */
    uint64_t arrays; /* primitive arrays with elements */
    uint64_t entries;
    uint64_t stated; /* bytes of the record that its entries account for */
} frame_fit;
typedef struct signs signs; /* signs.c */
/*
 * Returns whether the record at `body` fits this reading. Examines at most `limit` bytes of entries, and adds their
 * signs to `of` (NULL: not needed).
 */
hdx_code hdx_strip_frame_try(reader *r, uint32_t id_size, hdx_pos body, uint64_t stated, frame_way way, uint64_t limit,
                             signs *of, frame_fit *out, hdx_error *err);
typedef struct frame_part {
    hdx_pos  end;                        /* after the last entry that is complete in the file */
    uint64_t accounted, entries, arrays; /* as in frame_fit */
    bool     at_end;                     /* the data end there, rather than the grammar */
} frame_part;
/* Reads the entries of a record up to the end of the file or of valid grammar. */
hdx_code hdx_strip_frame_whole_part(reader *r, uint32_t id_size, hdx_pos body, uint64_t stated, frame_way way,
                                    frame_part *out, hdx_error *err);
/* Returns whether a top-level record could begin at pos, or the data end there. */
hdx_code hdx_strip_frame_plausible(reader *r, uint32_t id_size, hdx_pos pos, bool *yes, hdx_error *err);
/*
 * STRIP 5.3: finds the next place within 1 MiB after `from` where a heap record begins whose entries all fit, or an end
 * record. *found is false if there is none. Entries that do not fit reduce *patience.
 */
hdx_code hdx_strip_frame_resume(reader *r, uint32_t id_size, hdx_pos from, uint64_t *patience, hdx_pos *at, bool *found,
                                hdx_error *err);
#define FRAME_PATIENCE (1u << 20)                                 /* entries */
void hdx_strip_frame_spend(uint64_t *patience, uint64_t entries); /* plus one for the walk itself; never below 0 */
/*
 * STRIP M1: finds a STRING record of `stated` bytes at pos whose text was cut to its first *kept bytes. *cut is false
 * if it is intact, or if that is unknown.
 */
hdx_code hdx_strip_frame_cut_name(reader *r, uint32_t id_size, hdx_pos pos, uint32_t stated, uint32_t *kept, bool *cut,
                                  hdx_error *err);

/* ---- detect.c ---- */
hdx_code hdx_strip_unpack(hdx_source *source, hdx_error *err);

/* ---- signs.c ---- */
hdx_code hdx_strip_signs_new(uint32_t id_size, signs **out, hdx_error *err);
void     hdx_strip_signs_free(signs *s);
hdx_code hdx_strip_signs_string(signs *s, uint64_t id, hdx_view text, hdx_error *err);
hdx_code hdx_strip_signs_load(signs *s, uint32_t serial, uint64_t class_id, uint64_t name, hdx_error *err);
void     hdx_strip_signs_trace(signs *s);
void     hdx_strip_signs_segment(signs *s); /* a heap record begins: no heap is named */
hdx_code hdx_strip_signs_entry(signs *s, reader *r, const entry *e, bool content,
                               hdx_error *err);  /* content: the file has it */
uint64_t hdx_strip_signs_arrays(const signs *s); /* primitive arrays with content */
/* Judges the signs. version_3: the header has 1.0.3, which only Android writes. */
void hdx_strip_signs_judge(signs *s, uint64_t created_ms, bool version_3, hdx_stripping *out);

/* ---- wiped.c ---- */
#define WIPED_NUMBERS 16u
#define WIPED_LENGTHS 4u
#define WIPED_LOOK    (16u << 10)   /* bytes of an array that are examined */
enum { WIPED_TEXTS, WIPED_OTHERS }; /* byte[] and char[]; arrays of other primitives */
typedef struct wiped_field {
    bool     known;
    uint32_t at; /* offset in the content of an instance */
} wiped_field;
typedef struct wiped_number {
    uint32_t at, size;
} wiped_number;
typedef struct wiped {
    hdx_map      places;                 /* id of an array -> what was found in it */
    wiped_field  text, table;            /* String.value, HashMap.table */
    wiped_number numbers[WIPED_NUMBERS]; /* primitive fields of HashMap */
    unsigned     number_count;
    uint64_t     maps, zero_maps;        /* number of maps with a table; of those whose numbers are all 0 */
    uint32_t     longest[2];             /* largest number of elements up to the last that is not 0 */
    uint64_t     at_longest[2];          /* arrays that have this many, followed by zeros */
    uint32_t     lengths[WIPED_LENGTHS]; /* different lengths of these byte[] and char[] */
    unsigned     length_count;
} wiped;
/* Facts about an array; what is not in the reader's buffer is skipped, so that nothing is read for these signs. */
typedef struct wiped_array {
    bool     same; /* all examined elements equal the first */
    uint64_t first;
    uint32_t used; /* number of elements up to the last that is not 0 */
} wiped_array;
void hdx_strip_wiped_free(wiped *w);
/* For String, whose texts are in `field`, or HashMap, whose buckets are. */
void     hdx_strip_wiped_class(wiped *w, const hdx_class_dump *c, uint32_t id_size, bool string, uint64_t field);
hdx_code hdx_strip_wiped_string(wiped *w, reader *r, const entry *e, uint32_t id_size, hdx_error *err);
hdx_code hdx_strip_wiped_map(wiped *w, reader *r, const entry *e, uint32_t id_size, hdx_error *err);
hdx_code hdx_strip_wiped_array(wiped *w, const entry *e, const wiped_array *a, hdx_error *err);
/* Each adds evidence and its findings; false: there is no sign of it. */
bool hdx_strip_wiped_texts(const wiped *w, hdx_stripping *out);
bool hdx_strip_wiped_limits(const wiped *w, hdx_stripping *out);
bool hdx_strip_wiped_fields(const wiped *w, hdx_stripping *out);

/* ---- overlay.c, restore.c ---- */
/* Consecutive unchanged entries are passed as one token of about this many bytes. */
#define OVERLAY_RUN (64u << 10)
typedef struct token { /* result of one step of an overlay: head, then bytes of the file, then zeros */
    uint8_t  head[48];
    uint32_t head_len;
    hdx_pos  copy_from;
    uint64_t copy_len;
    uint64_t zeros;
} token;
static inline uint64_t hdx_strip_token_len(const token *t) { return t->head_len + t->copy_len + t->zeros; }
typedef enum overlay_mode {
    OVERLAY_TOP,     /* a top-level record (Tailor: a token) begins */
    OVERLAY_RECORD,  /* inside of a heap record with `left` remaining bytes */
    OVERLAY_GOES_ON, /* Tailor: the segment had to be ended at 4 GiB, and its entries continue */
    OVERLAY_RAW,     /* copied unchanged, up to `end` */
    OVERLAY_END
} overlay_mode;
/* State of an overlay between two tokens: all that a cursor needs to continue. */
typedef struct spot {
    hdx_pos      in, out;
    uint64_t     left;
    hdx_pos      end;       /* RAW: its end; KOOM: as in overlay_note */
    uint64_t     heap_name; /* Tailor: name of the current heap, for a segment that continues; 0: none */
    uint32_t     heap;
    overlay_mode mode;
    frame_way    way;   /* KOOM: how the current record is read */
    bool         cut;   /* MIXED: contents are still cut */
    bool         ended; /* Tailor: the end record was the last */
} spot;
/* Findings of the first pass about the record at `in`, for later passes. */
typedef struct overlay_note {
    hdx_pos in;
    /*
     * KOOM: the bytes that its entries account for; Tailor: of the restored segment; names: bytes of the text that
     * exist
     */
    uint64_t length;
    /*
     * where reading continues after the record; 0: directly after it. KOOM: EVERYTHING: the file ends in it;
     * HDX_NOWHERE: nothing follows
     */
    hdx_pos      end;
    overlay_mode mode;
    frame_way    way;
} overlay_note;
typedef struct overlay_more overlay_more;
typedef struct overlay      overlay;
/*
 * Returns one token from *s on; s->mode OVERLAY_END: none. `first`: the pass that decides, records and counts; other
 * passes use its notes. *s.out belongs to the caller.
 */
typedef hdx_code overlay_step(overlay *v, reader *r, bool first, spot *s, token *t, hdx_error *err);
struct overlay {
    hdx_source       *source;
    hdx_mem          *mem;
    overlay_step     *step;
    uint32_t          id_size;
    bool              restoring; /* the stated length of a record in which the file ends is that of what exists */
    hdx_overlay_stats stats;
    uint64_t          patience;
    overlay_note     *notes; /* ascending */
    uint64_t          note_count, note_capacity;
    overlay_more     *more; /* points and cursors, see overlay.c */
};
hdx_pos             hdx_strip_overlay_size(const overlay *v); /* of the restored dump, after the first pass */
overlay_step        hdx_strip_overlay_koom, hdx_strip_overlay_tailor, hdx_strip_overlay_names;
hdx_code            hdx_strip_overlay_new(hdx_source *source, hdx_overlay_form form, bool restoring, overlay **out,
                                          hdx_error *err);
void                hdx_strip_overlay_free(overlay *v);
hdx_code            hdx_strip_overlay_pass(overlay *v, hdx_error *err); /* runs the first pass once */
hdx_code            hdx_strip_overlay_note_add(overlay *v, const overlay_note *note, hdx_error *err);
const overlay_note *hdx_strip_overlay_note_at(const overlay *v, hdx_pos in); /* NULL: nothing unusual there */
hdx_code            hdx_strip_overlay_changed(const overlay *v, hdx_pos in, hdx_error *err);
/* Returns a token of the file unchanged, up to s->end; ends the overlay at the end of the file. */
hdx_code hdx_strip_overlay_raw(reader *r, spot *s, token *t, hdx_error *err);

/* ---- sink.c ---- */
typedef struct sink {
    hdx_io                  *io;
    hdx_mem                 *mem;
    const hdx_strip_options *options;
    hdx_packer              *packer; /* NULL: plain */
    uint64_t                 bytes;  /* input bytes */
    uint64_t                 written;
    uint64_t                 filled;
    uint8_t                 *buffer;
    hdx_whole_file           whole;
} sink;
/*
 * Returns HDX_LIMIT if a file of this size has no room in addition to an existing one at path. If the free space is
 * unknown, HDX_OK.
 */
hdx_code hdx_strip_sink_room(hdx_io *io, const char *path, uint64_t bytes, hdx_error *err);
/*
 * Opens the file for options->output, with the permissions of options->dump and of the file that it replaces. REQUIRES:
 * hdx_strip_check_output. The options are borrowed until the sink is dropped.
 */
hdx_code hdx_strip_sink_open(sink *s, hdx_io *io, const hdx_strip_options *options, int packing, hdx_mem *mem,
                             hdx_error *err);
hdx_code hdx_strip_sink_put(sink *s, const void *bytes, uint64_t n, hdx_error *err);
hdx_code hdx_strip_sink_zeros(sink *s, uint64_t n, hdx_error *err);
hdx_code hdx_strip_sink_copy(sink *s, reader *r, hdx_pos from, uint64_t n, hdx_error *err);
hdx_code hdx_strip_sink_finish(sink *s, hdx_error *err); /* everything is in the temporary file */
hdx_code hdx_strip_sink_commit(sink *s, hdx_error *err); /* synced and renamed */
void     hdx_strip_sink_drop(sink *s);

/* ---- policy.c ---- */
enum {
    RULE_HEAP = 1,
    RULE_INSTANCE = 2,
    RULE_OBJECTS = 4,
    RULE_ARRAY = 8,
    RULE_NODATA = 16
}; /* kinds of entries, as bits */
typedef enum rule_role {
    ROLE_ANY,
    ROLE_TEXT,
    ROLE_BITMAP,
    ROLE_WRAPPER
} rule_role; /* TEXT: value of a String; BITMAP: pixels that are kept */
typedef enum rule_action { RULE_KEEP, RULE_DROP, RULE_CUT, RULE_BLANK } rule_action;
typedef struct rule {
    unsigned    entries;      /* RULE_HEAP ... */
    bool        shared_heaps; /* only in zygote and image */
    uint16_t    types;        /* element types, as bits; 0: any */
    rule_role   role;
    rule_action action;
    uint16_t    fill; /* BLANK: every element */
} rule;
typedef struct policy {
    const char *name;
    const rule *rules; /* the first match decides; none: keep */
    unsigned    count;
    bool        container; /* Tailor's tokens instead of records */
    bool        resizes;   /* record lengths change */
    bool        texts;     /* ROLE_TEXT and ROLE_BITMAP must be known in advance */
    bool        wrappers;  /* ROLE_WRAPPER likewise */
    bool        clears;    /* JNI ids, reserved ids and constant pools are cleared (Matrix) */
    /* redaction: names in use must be known in advance, and both hashes must be equal afterwards */
    bool proves;
} policy;
const policy *hdx_strip_policy_of(hdx_strip_policy p); /* NULL: cannot strip by it */
const rule   *hdx_strip_policy_rule(const policy *p, unsigned what, uint8_t type, bool shared_heap,
                                    rule_role role); /* NULL: keep */

/* ---- choose.c ---- */
enum {
    CLASS_STRING = 1,
    CLASS_BITMAP = 2,
    CLASS_KEEP = 4,
    CLASS_DROP = 8,
    CLASS_PLATFORM = 16,
    CLASS_WRAPPER = 256
};                      /* WRAPPER * size of the value */
typedef struct choice { /* what is known about a dump before writing */
    const hdx_strip_options *options;
    const policy            *policy;
    uint32_t                 id_size;
    hdx_mem                 *mem;
    hdx_map                  classes;                /* class id -> CLASS_ bits */
    uint16_t                 keep_types, drop_types; /* of primitive arrays, as bits */
    hdx_map                  names; /* name id -> bits of a class of that name, + 1; later: NAME_ bits */
    uint64_t                *texts; /* ids of arrays that are values of Strings, ascending */
    uint64_t                 text_count, text_capacity;
    hdx_map                  merged;    /* bitmap buffer -> the one that replaces it */
    int64_t                  buffer_at; /* offset of mBuffer in an instance of Bitmap; -1: none */
    uint64_t                 merges;
} choice;
enum { NAME_USED = 1, NAME_KEPT = 2 }; /* for redaction: by a class, field, frame or heap; by one of the platform */
hdx_code hdx_strip_choose(choice *c, hdx_source *source, hdx_ticker *tick, hdx_error *err);
void     hdx_strip_choice_free(choice *c);
bool     hdx_strip_choice_is_text(const choice *c, uint64_t id);
/* Returns the bits of a class; 0: unknown. */
static inline uint64_t choice_class(const choice *c, uint64_t id)
{
    const uint64_t *bits = c->classes.count > 0 ? hdx_map_get(&c->classes, id) : NULL;
    return bits != NULL ? *bits : 0;
}

/* ---- top-level records of a dump that is read for writing ---- */
typedef struct top {
    hdx_pos  pos, end; /* end: after its body, also if the length is written modulo 2^32 (HPROF R9) */
    uint32_t time, stated;
    uint8_t  tag;
} top;
/*
 * Reads the record at pos. *more is false if the data end there. Returns HDX_BAD_DUMP with its offset for a truncated
 * record or one of unknown kind.
 */
hdx_code           hdx_strip_top_at(reader *r, uint32_t id_size, hdx_pos pos, top *out, bool *more, hdx_error *err);
static inline bool top_is_heap(const top *t)
{
    return t->tag == HDX_TOP_HEAP_DUMP || t->tag == HDX_TOP_HEAP_DUMP_SEGMENT;
}
hdx_code hdx_strip_entry_broken(reader *r, const frame *f, hdx_error *err); /* the error for FRAME_BROKEN */

/* ---- container.c ---- */
hdx_code hdx_strip_container_record(sink *out, reader *r, const top *t, bool after_segment, hdx_error *err);
hdx_code hdx_strip_container_entry(sink *out, reader *r, const entry *e, hdx_error *err);

/* ---- proof.c ---- */
typedef struct proof {
    uint64_t graph; /* hash of all that redaction must preserve */
    uint64_t entries;
    uint64_t uneven; /* arrays with two different elements */
} proof;
hdx_code hdx_strip_proof_of(hdx_source *source, const choice *c, hdx_ticker *tick, proof *out, hdx_error *err);
/*
 * Replaces a name by one of the same length, equal for equal texts; characters other than letters stay (descriptors
 * stay readable).
 */
void hdx_strip_proof_rename(uint8_t *text, size_t len);

/* ---- restore.c ---- */
bool     hdx_strip_packs(const char *path);
hdx_code hdx_strip_check_output(hdx_io *io, const char *dump, const char *output, hdx_error *err);

#endif
