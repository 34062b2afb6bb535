/*
 * indexes.h - every byte of every index file: what kinds there are, how each is written and read. Nothing outside this
 * folder knows a byte of an index file; nothing inside it knows a dump, Java or LMDB.
 *
 *     kinds.c         one row per kind: name, file, encoding, what keys and values count, which step has it; opens any
 *     container/      head, sections, sums of 64 KiB blocks and foot that every file has
 *     ints/           one number per key, in packed pages of 256
 *     one_to_n/       a list of numbers per key
 *     ranks/          a set of ids with ranks: "is it in, and the how-manieth is it"
 *     addresses/      address <-> id in one structure; the same in memory while building and mapped from the file
 *     seek/           places in a compressed dump where inflating can begin
 *
 * Reading: a handle maps its file, checks head and foot, and nothing that grows with the dump. Blocks are checked
 * against their sums when first touched. Getters never fail and never read outside: on damage they give 0 (or an empty
 * list) and note it, once, in the hdx_damage_note that all handles of an index share; whoever asked calls
 * hdx_note_check before the answer goes out. Handles are safe for many threads. Values of a file are bounded by the
 * reader's caller-given limit (`below`): a number that is not below it is damage.
 */
#ifndef HDX_INDEXES_INDEXES_H
#define HDX_INDEXES_INDEXES_H

#include "base/base.h"

typedef enum hdx_kind {
    /* addresses: id <-> address */
    HDX_KIND_ADDRESS,
    /*
     * ints: id -> byte position of the record in the uncompressed dump, + 1; 0: no record (object 0, invented classes)
     */
    HDX_KIND_POSITION,
    /* ints: id -> class number */
    HDX_KIND_CLASS,
    /*
     * ints: id -> array length, with HDX_LENGTH_ODD for an object array whose class is no class of object arrays; of a
     * flat array its bytes; 0 for what is no array
     */
    HDX_KIND_SIZE,
    /* ints: id -> place in the catalog's list of heaps, + 1; 0: none; file absent where there are no heaps */
    HDX_KIND_HEAP,
    /* one_to_n: id -> ids ascending, each once, the class object left out */
    HDX_KIND_OUTBOUND,
    /* one_to_n: id -> ids ascending of those that have it in their outbound list, garbage included */
    HDX_KIND_INBOUND,
    /* one_to_n: class number -> ids ascending, garbage included */
    HDX_KIND_INSTANCES,
    /* ranks: ids whose dominator and nearest parent do not follow from their only inbound entry */
    HDX_KIND_SPECIAL,
    /* ints: rank in `special` -> 0 unreachable, 1 the virtual root, else id + 2 of the immediate dominator */
    HDX_KIND_DOMINATOR,
    /* ints: rank in `special` -> 0 unreachable, 1 a GC root itself, else id + 2 of the parent on a shortest path */
    HDX_KIND_NEAREST,
    /* ranks: ids that dominate a special object; the rank keys `dominated` (rank + 1; key 0 is the virtual root) */
    HDX_KIND_DOMINATORS,
    /* one_to_n: 0 the virtual root, else rank in `dominators` + 1 -> special ids it immediately dominates, ascending */
    HDX_KIND_DOMINATED,
    /* ints: id -> retained size in bytes; 0 for garbage */
    HDX_KIND_RETAINED,
    /* seek: position in the uncompressed dump -> place in the compressed file; file absent for plain dumps */
    HDX_KIND_SEEK,
    /* of a view that leaves references out (views/NAME): ranks: ids that have one */
    HDX_KIND_CUT_FROM,
    /* one_to_n: rank in `cut_from` -> ids ascending, references to which are left out */
    HDX_KIND_CUT,
    /* ranks: ids that one leads to */
    HDX_KIND_CUT_TO,
    /* one_to_n: rank in `cut_to` -> ids ascending, references of which are left out */
    HDX_KIND_CUT_BY,
    HDX_KINDS
} hdx_kind;

#define HDX_CUT_KINDS 4u /* the last ones: no index of a dump has them, views do */

const char *hdx_kind_name(hdx_kind kind); /* "outbound"; the file is NAME.hdx in the index folder */

/* ---- the table of kinds (kinds.c) ---- */
typedef enum hdx_encoding {
    HDX_ENCODING_ADDRESSES,
    HDX_ENCODING_INTS,
    HDX_ENCODING_ONE_TO_N,
    HDX_ENCODING_RANKS,
    HDX_ENCODING_SEEK
} hdx_encoding;
/*
 * Numbers of an index that keys and bounds are counted by. HDX_OF_LENGTHS is the same for all: a u4 of the dump, with
 * HDX_LENGTH_ODD.
 */
typedef enum hdx_amount {
    HDX_OF_NOTHING,
    HDX_OF_OBJECTS,
    HDX_OF_CLASSES,
    HDX_OF_HEAPS,
    HDX_OF_SPECIALS,
    HDX_OF_DOMINATORS,
    HDX_OF_DUMP_BYTES,
    HDX_OF_FILE_BYTES,
    HDX_OF_LIVE_BYTES,
    HDX_OF_LENGTHS,
    HDX_OF_CUT_FROM,
    HDX_OF_CUT_TO,
    HDX_AMOUNTS
} hdx_amount;
typedef struct hdx_amounts {
    uint64_t of[HDX_AMOUNTS];
} hdx_amounts;               /* as the manifest says; of nothing: 0 */
typedef struct hdx_measure { /* this number, and so many more */
    hdx_amount of;
    unsigned   more;
} hdx_measure;
typedef enum hdx_kind_when {
    HDX_ALWAYS,
    HDX_WITH_HEAPS /* of Android */,
    HDX_IF_COMPRESSED /* and then not for each dump */,
    HDX_IF_CUT /* of views, where references are left out */
} hdx_kind_when;
typedef struct hdx_kind_row {
    const char   *name;
    hdx_encoding  encoding;
    hdx_measure   keys;    /* ints, lists: how many; ranks, addresses: so many ids it tells of */
    hdx_measure   below;   /* every value is; of nothing: no bound, for there are no values */
    hdx_amount    members; /* of a set */
    unsigned      step;    /* the first (hdx_step) whose index has it */
    hdx_kind_when when;
} hdx_kind_row;
const hdx_kind_row *hdx_kind_of(hdx_kind kind);
uint64_t            hdx_measured(const hdx_amounts *amounts, hdx_measure m);
uint64_t            hdx_kind_keys(hdx_kind kind, const hdx_amounts *amounts);
/* Can an index that holds this step have such a file? It must, but for seek. */
bool hdx_kind_there(hdx_kind kind, unsigned step, const hdx_amounts *amounts, bool compressed);
/* Depends on who counts as root and which references hold: a view has one of its own. All others it shares. */
bool hdx_kind_of_view(hdx_kind kind);
#define HDX_INDEX_FORMAT 3u           /* version in every head */
#define HDX_LENGTH_ODD   (1ull << 32) /* added to a length of a u4 */

/* Where files are written, and what marks them as belonging together. */
typedef struct hdx_index_place {
    hdx_io     *io;
    const char *folder;
    hdx_mem    *mem;
    unsigned    threads;
    /* of dump and parameters; stands in every head and seeds every sum, so a section of another index is noticed */
    uint8_t     identity[16];
    hdx_ticker *tick; /* may be NULL; counts values */
} hdx_index_place;

/* What the manifest remembers of a file. */
typedef struct hdx_index_file {
    uint64_t bytes;
    uint32_t sum; /* CRC32C of the foot, which holds the sums of all blocks */
} hdx_index_file;

/* ---- damage of index files ---- */
typedef struct hdx_damage_note {
    _Atomic int state; /* 0 whole, 1 being written, 2 noted */
    hdx_error   error; /* the first one: names file, page (block) and offset */
} hdx_damage_note;
/* HDX_OK, or the noted damage as HDX_DAMAGED with a hint how to rebuild. */
hdx_code hdx_note_check(hdx_damage_note *note, hdx_error *err);

/* Reads a file whole: HDX_OK, or HDX_DAMAGED where a sum does not hold. */
hdx_code hdx_index_check(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, hdx_error *err);

/*
 * A file of any kind as its row of the table says; *out is the handle of its encoding, NULL on failure. close: NULL is
 * nothing.
 */
hdx_code hdx_index_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                        const hdx_amounts *amounts, hdx_damage_note *note, void **out, hdx_error *err);
void     hdx_index_close(hdx_kind kind, void *handle);
/*
 * handle: of an open file of this kind. Looks at every byte of the file, whether a key leads there or not; what is
 *         wrong is noted.
 */
void hdx_index_whole(const void *handle, hdx_kind kind);
/* hdx_container_mend for it. */
bool hdx_index_mend(const void *handle, hdx_kind kind, const void *address);

/* ---- ints ---- */
/*
 * fill gives values first .. first + n - 1 (n at most 65 536); called from several threads for disjoint ranges. The
 * file is written in order and equal for any number of threads.
 */
typedef hdx_code hdx_ints_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err);
hdx_code hdx_ints_write(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_fill *fill, void *context,
                        hdx_index_file *out, hdx_error *err);
/*
 * The same in parts: values in order, n a multiple of HDX_PART but for the last one; fill is told their numbers in the
 * file. end and abandon free the writer; abandon removes the file.
 */
#define HDX_PART 16384u
typedef struct hdx_ints_writer hdx_ints_writer;
hdx_code hdx_ints_begin(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_writer **out,
                        hdx_error *err);
hdx_code hdx_ints_append(hdx_ints_writer *w, uint64_t n, hdx_ints_fill *fill, void *context, hdx_error *err);
hdx_code hdx_ints_end(hdx_ints_writer *w, hdx_index_file *out, hdx_error *err);
void     hdx_ints_abandon(hdx_ints_writer *w); /* NULL: nothing */
typedef struct hdx_ints hdx_ints;
/* count and `file` as the manifest says; every value read is < below (0: no bound). */
hdx_code hdx_ints_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                       uint64_t below, hdx_damage_note *note, hdx_ints **out, hdx_error *err);
void     hdx_ints_close(hdx_ints *ints);
void     hdx_ints_forget(const hdx_ints *ints);          /* read through: its pages need not be resident for now */
uint64_t hdx_ints_get(const hdx_ints *ints, uint64_t i); /* one number */
/*
 * Reading ahead. A look-up by itself is a chain of waits for memory: the entry, then the page. Whoever knows which keys
 * come asks for the lines of each a while before they are needed, in as many rounds as the chain is long: of key number
 * i + away what the look-up needs last, of number i + 2 * away what it needs before that, and so on. It is told before
 * key i is looked up, for each i that is a multiple of step, from 0 on, and then asks for so many keys. Any keys;
 * changes no answer and notes no damage: the look-up that follows does all that.
 */
typedef struct hdx_pace {
    uint32_t away, step;
} hdx_pace;
void hdx_ints_ahead(const hdx_ints *ints, const uint64_t *keys, size_t n, size_t i, hdx_pace pace);
void hdx_ints_read(const hdx_ints *ints, uint64_t first, uint32_t n, uint64_t *out); /* a run: about 1.5 ns each */

/* ---- one_to_n ---- */
/*
 * degrees: list lengths of keys first .. first + n - 1. fill: values number first .. first + n - 1 counted over all
 * lists in key order, and the key each belongs to (the encoder may store a value as a distance from its key). Both from
 * several threads, disjoint ranges.
 */
typedef hdx_code hdx_degrees_fill(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err);
typedef hdx_code hdx_lists_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys,
                                hdx_error *err);
hdx_code         hdx_one_to_n_write(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                                    hdx_degrees_fill *degrees, hdx_lists_fill *fill, void *context, hdx_index_file *out,
                                    hdx_error *err);
/* The same in parts, as of ints: the lengths of all lists, then all values. */
typedef struct hdx_one_to_n_writer hdx_one_to_n_writer;
hdx_code hdx_one_to_n_begin(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                            hdx_one_to_n_writer **out, hdx_error *err);
hdx_code hdx_one_to_n_append_degrees(hdx_one_to_n_writer *w, uint64_t n, hdx_degrees_fill *degrees, void *context,
                                     hdx_error *err);
hdx_code hdx_one_to_n_append_values(hdx_one_to_n_writer *w, uint64_t n, hdx_lists_fill *fill, void *context,
                                    hdx_error *err);
hdx_code hdx_one_to_n_end(hdx_one_to_n_writer *w, hdx_index_file *out, hdx_error *err);
void     hdx_one_to_n_abandon(hdx_one_to_n_writer *w); /* NULL: nothing */
typedef struct hdx_one_to_n hdx_one_to_n;
hdx_code hdx_one_to_n_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t keys,
                           uint64_t below, hdx_damage_note *note, hdx_one_to_n **out, hdx_error *err);
void     hdx_one_to_n_close(hdx_one_to_n *lists);
void     hdx_one_to_n_forget(const hdx_one_to_n *lists); /* as hdx_ints_forget */
uint64_t hdx_one_to_n_values(const hdx_one_to_n *lists); /* in all lists together */
/* The list of a key as a range over all values. */
void     hdx_one_to_n_list(const hdx_one_to_n *lists, uint64_t key, uint64_t *first, uint64_t *length);
uint64_t hdx_one_to_n_get(const hdx_one_to_n *lists, uint64_t key,
                          uint64_t i); /* i: number over all values, within key's list */
void     hdx_one_to_n_ahead(const hdx_one_to_n *lists, const uint64_t *keys, size_t n, size_t i,
                            hdx_pace pace); /* as hdx_ints_ahead */
/* Values number first .. first + n - 1 of key's list. */
void hdx_one_to_n_read(const hdx_one_to_n *lists, uint64_t key, uint64_t first, uint32_t n, uint64_t *out);
/*
 * All values of the lists of a run of keys, one list after the other; degrees as hdx_one_to_n_degrees gave them, and
 * `out` has room for their sum. About 3 ns a value; 0 on damage.
 */
void hdx_one_to_n_run(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, const uint64_t *degrees,
                      uint64_t *out);
/* Runs of keys, for whoever looks at all of them: how long each list is (0 on damage), in about 2 ns a key, ... */
void hdx_one_to_n_degrees(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees);
/* ... and its first value besides (0 for an empty list), in about 5 ns. */
void hdx_one_to_n_firsts(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees,
                         uint64_t *values);

/* ---- ranks ---- */
hdx_code hdx_ranks_write(const hdx_index_place *place, hdx_kind kind, uint64_t size, const uint64_t *words,
                         hdx_index_file *out, hdx_error *err);
typedef struct hdx_ranks hdx_ranks;
hdx_code hdx_ranks_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t size,
                        hdx_damage_note *note, hdx_ranks **out, hdx_error *err);
void     hdx_ranks_close(hdx_ranks *ranks);
uint64_t hdx_ranks_count(const hdx_ranks *ranks);                        /* members */
bool hdx_ranks_find(const hdx_ranks *ranks, uint64_t i, uint64_t *rank); /* is i a member, and how many are before it */
/* Bit i of out: is first + i a member; n bits, 0 behind them. *rank: how many members are before `first`. */
void     hdx_ranks_read(const hdx_ranks *ranks, uint64_t first, uint32_t n, uint64_t *out, uint64_t *rank);
void     hdx_ranks_ahead(const hdx_ranks *ranks, const uint64_t *keys, size_t n, size_t i,
                         hdx_pace pace);                      /* as hdx_ints_ahead */
uint64_t hdx_ranks_at(const hdx_ranks *ranks, uint64_t rank); /* the member of that rank */

#include "indexes/addresses/addresses.h"
#include "indexes/seek/seek.h"

#endif
