/*
 * indexes.h - every byte of every index file: the kinds, and how each is written and read. No other code depends on the
 * bytes of an index file, and this folder does not depend on dumps, Java or LMDB.
 *
 *     kinds.c         one row per kind: name, file, encoding, what keys and values count, which step has it; opens any
 *     container/      head, sections, sums of 64 KiB blocks and foot of every file
 *     ints/           one number per key, in packed pages of 256
 *     one_to_n/       a list of numbers per key
 *     ranks/          a set of ids with ranks: membership, and the number of members before
 *     addresses/      address <-> id in one structure; the same in memory while building and mapped from the file
 *     seek/           places in a compressed dump where inflating can begin
 *
 * Reading: a handle maps its file, checks head and foot, and nothing that grows with the dump. Blocks are compared with
 * their sums on first use. Getters never fail and never read outside of the map: on damage they return 0 (or an empty
 * list) and note it, once, in the hdx_damage_note that all handles of an index share; callers call hdx_note_check
 * before they use results. Handles are thread-safe. The caller gives an upper bound for the values of a file (`below`):
 * a value that is not below it is damage.
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
     * ints: id -> array length, with HDX_LENGTH_ODD for an object array whose class is not one of object arrays; for a
     * flat array its bytes; 0 for objects that are not arrays
     */
    HDX_KIND_SIZE,
    /* ints: id -> index in the catalog's list of heaps, + 1; 0: none; no file if there are no heaps */
    HDX_KIND_HEAP,
    /* one_to_n: id -> ids ascending, each once, without the class object */
    HDX_KIND_OUTBOUND,
    /* one_to_n: id -> ids ascending of those that have it in their outbound list, garbage included */
    HDX_KIND_INBOUND,
    /* one_to_n: class number -> ids ascending, garbage included */
    HDX_KIND_INSTANCES,
    /* ranks: ids whose dominator and nearest parent do not follow from their only inbound entry */
    HDX_KIND_SPECIAL,
    /* ints: rank in `special` -> 0 unreachable, 1 the virtual root, otherwise id + 2 of the immediate dominator */
    HDX_KIND_DOMINATOR,
    /*
     * ints: rank in `special` -> 0 unreachable, 1 a GC root itself, otherwise id + 2 of the parent on a shortest path
     */
    HDX_KIND_NEAREST,
    /* ranks: ids that dominate a special object; the rank keys `dominated` (rank + 1; key 0 is the virtual root) */
    HDX_KIND_DOMINATORS,
    /*
     * one_to_n: 0 the virtual root, otherwise rank in `dominators` + 1 -> special ids it immediately dominates,
     * ascending
     */
    HDX_KIND_DOMINATED,
    /* ints: id -> retained size in bytes; 0 for garbage */
    HDX_KIND_RETAINED,
    /* seek: position in the uncompressed dump -> position in the compressed file; no file for plain dumps */
    HDX_KIND_SEEK,
    /* of a view that excludes references (views/NAME): ranks: ids with an excluded reference */
    HDX_KIND_CUT_FROM,
    /* one_to_n: rank in `cut_from` -> ids ascending, references to which are excluded */
    HDX_KIND_CUT,
    /* ranks: ids to which an excluded reference leads */
    HDX_KIND_CUT_TO,
    /* one_to_n: rank in `cut_to` -> ids ascending, references of which are excluded */
    HDX_KIND_CUT_BY,
    HDX_KINDS
} hdx_kind;

#define HDX_CUT_KINDS 4u /* the last ones, which only views have */

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
 * Numbers that keys and bounds of an index depend on. HDX_OF_LENGTHS is constant: a u4 of the dump, with
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
} hdx_amounts;               /* from the manifest; HDX_OF_NOTHING: 0 */
typedef struct hdx_measure { /* a number, plus a constant */
    hdx_amount of;
    unsigned   more;
} hdx_measure;
typedef enum hdx_kind_when {
    HDX_ALWAYS,
    HDX_WITH_HEAPS /* of Android */,
    HDX_IF_COMPRESSED /* but not for each of them */,
    HDX_IF_CUT /* of views that exclude references */
} hdx_kind_when;
typedef struct hdx_kind_row {
    const char   *name;
    hdx_encoding  encoding;
    hdx_measure   keys;    /* ints, lists: their number; ranks, addresses: number of ids */
    hdx_measure   below;   /* bound of every value; HDX_OF_NOTHING: no bound, because there are no values */
    hdx_amount    members; /* of a set */
    unsigned      step;    /* the first step (hdx_step) whose index has it */
    hdx_kind_when when;
} hdx_kind_row;
const hdx_kind_row *hdx_kind_of(hdx_kind kind);
uint64_t            hdx_measured(const hdx_amounts *amounts, hdx_measure m);
uint64_t            hdx_kind_keys(hdx_kind kind, const hdx_amounts *amounts);
/* Returns whether an index that contains this step has such a file; seek may still be missing. */
bool hdx_kind_there(hdx_kind kind, unsigned step, const hdx_amounts *amounts, bool compressed);
/*
 * Returns whether the kind depends on roots and excluded references, so that a view has its own file. Others are
 * shared.
 */
bool hdx_kind_of_view(hdx_kind kind);
#define HDX_INDEX_FORMAT 3u           /* version in every head */
#define HDX_LENGTH_ODD   (1ull << 32) /* added to a length of a u4 */

/* Where files are written, and the identity that marks them as belonging together. */
typedef struct hdx_index_place {
    hdx_io     *io;
    const char *folder;
    hdx_mem    *mem;
    unsigned    threads;
    /* of dump and parameters; part of every head and seed of every sum, so a section of another index is detected */
    uint8_t     identity[16];
    hdx_ticker *tick; /* may be NULL; counts values */
} hdx_index_place;

/* The facts about a file in the manifest. */
typedef struct hdx_index_file {
    uint64_t bytes;
    uint32_t sum; /* CRC32C of the foot, which contains the sums of all blocks */
} hdx_index_file;

/* ---- damage of index files ---- */
typedef struct hdx_damage_note {
    _Atomic int state; /* 0 no damage, 1 being written, 2 noted */
    hdx_error   error; /* the first damage: names file, page (block) and offset */
} hdx_damage_note;
/* Returns HDX_OK, or the noted damage as HDX_DAMAGED with a hint. */
hdx_code hdx_note_check(hdx_damage_note *note, hdx_error *err);

/* Reads a file completely: HDX_OK, or HDX_DAMAGED if a sum is wrong. */
hdx_code hdx_index_check(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, hdx_error *err);

/*
 * Opens a file of any kind by its row of the table; *out is the handle of its encoding, NULL on failure. close accepts
 * NULL.
 */
hdx_code hdx_index_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                        const hdx_amounts *amounts, hdx_damage_note *note, void **out, hdx_error *err);
void     hdx_index_close(hdx_kind kind, void *handle);
/*
 * handle: of an open file of this kind. Checks every byte of the file, even those that no key leads to; damage is
 * noted.
 */
void hdx_index_whole(const void *handle, hdx_kind kind);
/* Same as hdx_container_handle_fault. */
bool hdx_index_handle_fault(const void *handle, hdx_kind kind, const void *address);

/* ---- ints ---- */
/*
 * fill returns values first .. first + n - 1 (n at most 65 536); called by several threads for disjoint ranges. The
 * file is written in order and is the same for any number of threads.
 */
typedef hdx_code hdx_ints_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err);
hdx_code hdx_ints_write(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_fill *fill, void *context,
                        hdx_index_file *out, hdx_error *err);
/*
 * Same in parts: values in order, n a multiple of HDX_PART except for the last part; fill gets their numbers in the
 * file. end and abandon free the writer; abandon removes the file.
 */
#define HDX_PART 16384u
typedef struct hdx_ints_writer hdx_ints_writer;
hdx_code hdx_ints_begin(const hdx_index_place *place, hdx_kind kind, uint64_t count, hdx_ints_writer **out,
                        hdx_error *err);
hdx_code hdx_ints_append(hdx_ints_writer *w, uint64_t n, hdx_ints_fill *fill, void *context, hdx_error *err);
hdx_code hdx_ints_end(hdx_ints_writer *w, hdx_index_file *out, hdx_error *err);
void     hdx_ints_abandon(hdx_ints_writer *w); /* NULL is allowed */
typedef struct hdx_ints hdx_ints;
/* count and `file` from the manifest; every value read is < below (0: no bound). */
hdx_code hdx_ints_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t count,
                       uint64_t below, hdx_damage_note *note, hdx_ints **out, hdx_error *err);
void     hdx_ints_close(hdx_ints *ints);
void     hdx_ints_forget(const hdx_ints *ints);          /* its pages need not stay resident */
uint64_t hdx_ints_get(const hdx_ints *ints, uint64_t i); /* returns one number */
/*
 * Prefetching. A single look-up is a chain of cache misses: the entry, then the page. Callers that know the next keys
 * prefetch the lines of each in advance, in as many rounds as the chain is long: for key number i + away what the
 * look-up needs last, for number i + 2 * away what it needs before that, and so on. Call it before the look-up of key
 * i, for each i that is a multiple of step, from 0 on; it then prefetches for that many keys. Any keys are allowed;
 * results do not change and no damage is noted: the later look-up does that.
 */
typedef struct hdx_pace {
    uint32_t away, step;
} hdx_pace;
void hdx_ints_ahead(const hdx_ints *ints, const uint64_t *keys, size_t n, size_t i, hdx_pace pace);
void hdx_ints_read(const hdx_ints *ints, uint64_t first, uint32_t n, uint64_t *out); /* a run: about 1.5 ns each */

/* ---- one_to_n ---- */
/*
 * degrees: list lengths of keys first .. first + n - 1. fill: values number first .. first + n - 1, counted over all
 * lists in key order, and the key of each (the encoder may store a value as a distance from its key). Both are called
 * by several threads, for disjoint ranges.
 */
typedef hdx_code hdx_degrees_fill(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err);
typedef hdx_code hdx_lists_fill(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys,
                                hdx_error *err);
hdx_code         hdx_one_to_n_write(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                                    hdx_degrees_fill *degrees, hdx_lists_fill *fill, void *context, hdx_index_file *out,
                                    hdx_error *err);
/* Same in parts, as for ints: the lengths of all lists, then all values. */
typedef struct hdx_one_to_n_writer hdx_one_to_n_writer;
hdx_code hdx_one_to_n_begin(const hdx_index_place *place, hdx_kind kind, uint64_t keys, uint64_t values,
                            hdx_one_to_n_writer **out, hdx_error *err);
hdx_code hdx_one_to_n_append_degrees(hdx_one_to_n_writer *w, uint64_t n, hdx_degrees_fill *degrees, void *context,
                                     hdx_error *err);
hdx_code hdx_one_to_n_append_values(hdx_one_to_n_writer *w, uint64_t n, hdx_lists_fill *fill, void *context,
                                    hdx_error *err);
hdx_code hdx_one_to_n_end(hdx_one_to_n_writer *w, hdx_index_file *out, hdx_error *err);
void     hdx_one_to_n_abandon(hdx_one_to_n_writer *w); /* NULL is allowed */
typedef struct hdx_one_to_n hdx_one_to_n;
hdx_code hdx_one_to_n_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t keys,
                           uint64_t below, hdx_damage_note *note, hdx_one_to_n **out, hdx_error *err);
void     hdx_one_to_n_close(hdx_one_to_n *lists);
void     hdx_one_to_n_forget(const hdx_one_to_n *lists); /* same as hdx_ints_forget */
uint64_t hdx_one_to_n_values(const hdx_one_to_n *lists); /* of all lists together */
/* Returns the list of a key as a range over all values. */
void     hdx_one_to_n_list(const hdx_one_to_n *lists, uint64_t key, uint64_t *first, uint64_t *length);
uint64_t hdx_one_to_n_get(const hdx_one_to_n *lists, uint64_t key,
                          uint64_t i); /* i: number over all values, within key's list */
void     hdx_one_to_n_ahead(const hdx_one_to_n *lists, const uint64_t *keys, size_t n, size_t i,
                            hdx_pace pace); /* same as hdx_ints_ahead */
/* Returns values number first .. first + n - 1 of key's list. */
void hdx_one_to_n_read(const hdx_one_to_n *lists, uint64_t key, uint64_t first, uint32_t n, uint64_t *out);
/*
 * Returns all values of the lists of a run of keys, one list after the other. REQUIRES: degrees are those of
 * hdx_one_to_n_degrees, and `out` has room for their sum. About 3 ns a value; 0 on damage.
 */
void hdx_one_to_n_run(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, const uint64_t *degrees,
                      uint64_t *out);
/* For scans over all keys: the length of each list (0 on damage), in about 2 ns a key, ... */
void hdx_one_to_n_degrees(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees);
/* ... and also its first value (0 for an empty list), in about 5 ns. */
void hdx_one_to_n_firsts(const hdx_one_to_n *lists, uint64_t first_key, uint32_t n, uint64_t *degrees,
                         uint64_t *values);

/* ---- ranks ---- */
hdx_code hdx_ranks_write(const hdx_index_place *place, hdx_kind kind, uint64_t size, const uint64_t *words,
                         hdx_index_file *out, hdx_error *err);
typedef struct hdx_ranks hdx_ranks;
hdx_code hdx_ranks_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t size,
                        hdx_damage_note *note, hdx_ranks **out, hdx_error *err);
void     hdx_ranks_close(hdx_ranks *ranks);
uint64_t hdx_ranks_count(const hdx_ranks *ranks);                            /* members */
bool     hdx_ranks_find(const hdx_ranks *ranks, uint64_t i, uint64_t *rank); /* rank: members before i */
/* Bit i of out: whether first + i is a member; n bits, then zeros. *rank: number of members before `first`. */
void     hdx_ranks_read(const hdx_ranks *ranks, uint64_t first, uint32_t n, uint64_t *out, uint64_t *rank);
void     hdx_ranks_ahead(const hdx_ranks *ranks, const uint64_t *keys, size_t n, size_t i,
                         hdx_pace pace);                      /* same as hdx_ints_ahead */
uint64_t hdx_ranks_at(const hdx_ranks *ranks, uint64_t rank); /* returns the member with that rank */

#include "indexes/addresses/addresses.h"
#include "indexes/seek/seek.h"

#endif
