/*
 * inner.h - shared by the files of this room: the source itself, its damage list, the decoder, the slice cache.
 *
 *     hdx_source ── file access, size, kind
 *        ├── joined    the file, and further pieces           joined.c
 *        ├── points    seek points, size of the dump        points.h
 *        ├── damage    in the order of the file             damage.c
 *        └── cache     inflated slices, idle decoders       cache.c
 *     hdx_decoder      reads the file from a point on       decoder.c    one thread at a time
 *        ├── members   inflated ahead of it by others       members.c
 *        └── isal      blocks that zlib need not inflate    isal.c
 *     hdx_stream       a decoder with a thread ahead        stream.c
 *     keep.c           points that outlive the source       many.c    many reads in the order of the dump
 *     near.c           small adjacent reads
 *
 * Every decoder, wherever it begins, finds the same members, damage and bytes in the same order (points.h, P2); the
 * first one at a place records what is there for all.
 */
#ifndef HDX_SOURCE_INNER_H
#define HDX_SOURCE_INNER_H

#include "base/base.h"
#include "source/head.h"
#include "source/joined.h"
#include "source/points.h"
#include "source/source.h"

#include <zlib.h>

/* near.c: false: not in the blocks in memory, and nothing was read. */
bool     hdx_source_near(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got);
hdx_code hdx_source_read_straight(hdx_source *source, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);

#define HDX_SLICE HDX_SLICE_MAX /* most bytes of one piece */
/* Room before a buffer: for a window that ends up to 258 bytes before the newest byte. */
#define HDX_HISTORY           (HDX_WINDOW + 1024u)
#define HDX_SOURCE_DAMAGE_MAX 1000u

typedef struct hdx_damage_list {
    pthread_mutex_t lock;
    /* has room for HDX_SOURCE_DAMAGE_MAX from the start, so that borrowed pointers stay valid */
    hdx_damage *entries;
    size_t      count;
    uint64_t    seen; /* number of places found so far, stored or not */
} hdx_damage_list;

typedef struct hdx_cache hdx_cache;

struct hdx_source {
    hdx_io         *io;
    hdx_mem        *mem; /* may be NULL */
    char           *path;
    hdx_joined     *joined;           /* the file, and its pieces */
    uint64_t        file_size;        /* including its pieces */
    uint64_t        max_uncompressed; /* 0: no limit */
    unsigned        threads;          /* that may inflate at once, at least 1 */
    unsigned        pieces;           /* most inflated pieces in the cache, at least 2 */
    hdx_points      points;           /* for compressed files only, like the next two */
    hdx_damage_list damage;
    hdx_cache      *cache;
    hdx_overlay     overlay;
    bool            zlib_alone; /* do not use ISA-L: affects only the time, for tests */
    hdx_compression kind;
    hdx_source     *lower; /* the source of a zlib stream in a gzip file; NULL: this one reads the file */
};

/*
 * Reads from the file on disk. Returns fewer bytes only at its end, which may have moved since the source was opened.
 */
hdx_code hdx_source_file_read(const hdx_source *source, uint64_t at, void *to, size_t want, size_t *got,
                              hdx_error *err);
hdx_code hdx_source_changed(const hdx_source *source, uint64_t offset, hdx_error *err);

bool hdx_damage_init(hdx_damage_list *list, hdx_mem *mem);
void hdx_damage_free(hdx_damage_list *list, hdx_mem *mem);
/*
 * Records place number `nth` of the file unless an earlier decoder did. `last`: nothing is read after it; one entry is
 * reserved for such a place, so that many wrong checksums do not hide where the data end.
 */
void hdx_damage_note(hdx_damage_list *list, uint64_t nth, bool last, const hdx_damage *entry);

/* ---- isal.c ---- */
#define HDX_BEFORE 16u /* readable bytes of the file before those in memory: ISA-L may return this many */
typedef struct hdx_isal hdx_isal;
/* NULL: no memory, or built without ISA-L; zlib then does everything. */
hdx_isal *hdx_isal_new(const hdx_source *source);
void      hdx_isal_free(hdx_isal *isal, const hdx_source *source);
/*
 * Begins the block at z->next_in; `odd` of its bits are the upper ones of the byte before. `len` bytes of the member
 * end at `end`. False: nothing was done, and zlib must inflate this block. `isal` may be NULL.
 */
bool hdx_isal_begin(hdx_isal *isal, z_stream *z, unsigned odd, const uint8_t *end, size_t len);
typedef enum hdx_isal_step {
    HDX_ISAL_MORE,  /* z has no more input, or no more room, or neither */
    HDX_ISAL_BLOCK, /* the block ended; *odd as above */
    HDX_ISAL_LAST,  /* it was the last of its stream */
    HDX_ISAL_UNSURE /* zlib must inflate the block again from its beginning; the output so far is correct */
} hdx_isal_step;
hdx_isal_step hdx_isal_run(hdx_isal *isal, z_stream *z, unsigned *odd);
/* Returns the bytes before the last block that was begun. */
const uint8_t *hdx_isal_window(const hdx_isal *isal, uint32_t *len);
/* Same as zlib's crc32, faster with ISA-L. */
uint32_t hdx_crc32(uint32_t crc, const uint8_t *bytes, size_t len);

/* ---- members.c ---- */
/*
 * A member that was inflated in advance: it is complete, and its sum and length are correct. Borrowed until the next
 * one is requested.
 */
typedef struct hdx_inflated {
    const uint8_t *at;
    size_t         len; /* at most HDX_SLICE_MAX */
    uint32_t       crc;
    uint64_t       end; /* position in the file after its trailer */
} hdx_inflated;
typedef struct hdx_gz_members hdx_gz_members;
/* Starts the workers, which search for members from byte `from` on. NULL: no memory. */
hdx_gz_members *hdx_gz_members_new(hdx_source *source, unsigned workers, uint64_t from);
void            hdx_gz_members_free(hdx_gz_members *members);
/*
 * Returns the member whose header is at a byte. REQUIRES: bytes ascend from call to call. False: the caller must
 * inflate it.
 */
bool hdx_gz_members_take(hdx_gz_members *members, uint64_t at, hdx_inflated *out);

/* ---- decoder.c ---- */
typedef enum hdx_decode_step {
    HDX_DECODE_BETWEEN,
    HDX_DECODE_READY,
    HDX_DECODE_HEAD,
    HDX_DECODE_BODY,
    HDX_DECODE_TRAILER,
    HDX_DECODE_PADDING,
    HDX_DECODE_END
} hdx_decode_step;

typedef struct hdx_decoder {
    hdx_source         *source;
    const _Atomic bool *stop; /* set by another thread to stop (HDX_CANCELLED); NULL: none */
    z_stream            z;    /* raw deflate; next_in and avail_in are the bytes of the file in memory in every step */
    hdx_isal           *isal; /* may be NULL */
    bool                z_open, at_end_of_file;
    bool                at_block;   /* BODY: a block begins here, and it is undecided what inflates it */
    bool                by_isal;    /* ISA-L inflates the block */
    bool                z_behind;   /* z has an older state: ISA-L inflated the previous block */
    unsigned            odd;        /* at_block: number of bits of the block in the byte before next_in */
    hdx_pos             block_out;  /* by_isal: position where the block began, at bit header_bit */
    hdx_pos             zlib_until; /* blocks before this position are small: zlib inflates them */
    uint64_t            in_end;     /* position in the file after the bytes in memory */
    hdx_decode_step     step;
    hdx_head            head;
    uint8_t             few[8]; /* trailer, or header of a zlib container, as far as it was read */
    unsigned            few_have;
    hdx_pos             out;             /* number of bytes of the dump produced */
    uint64_t            bit, header_bit; /* of the file: position of inflate; beginning of the current block */
    uint64_t            member, member_at;
    hdx_pos             member_out;
    uint64_t            damage;     /* number of damaged places found */
    uint32_t            check;      /* of the member, without `run` */
    hdx_pos             slice_from; /* where the sum of the slice begins */
    uint32_t            slice_crc;  /* likewise */
    /* CRC-32 of the newest run_len bytes, which is added to both sums at once, so that each byte is summed once */
    uint32_t        run;
    uint64_t        run_len;
    unsigned        helpers;  /* threads that may inflate members in advance; set by the owner, 0: none */
    hdx_gz_members *members;  /* NULL: not needed so far */
    hdx_inflated    ready;    /* READY: the current one of them, */
    size_t          ready_at; /* and the number of its bytes that were returned */
    size_t          tail_len;
    uint8_t         tail[HDX_HISTORY]; /* newest bytes, the newest last */
    uint8_t         in[HDX_BEFORE + (64u << 10)];
} hdx_decoder;

/* Creates a decoder at position 0. NULL: no memory. */
hdx_decoder *hdx_decoder_new(hdx_source *source, const _Atomic bool *stop);
void         hdx_decoder_free(hdx_decoder *decoder);
/* Moves to the last seek point that is not after `at`; decoder->out is its position. */
hdx_code hdx_decoder_seek(hdx_decoder *decoder, hdx_pos at, hdx_error *err);
/*
 * Produces up to `room` bytes at `to`. REQUIRES: HDX_HISTORY writable bytes before `to`. Fewer bytes mean the end of
 * the data or, with `to_point`, a seek point. On an error *got bytes are valid, and the decoder can no longer be used.
 */
hdx_code hdx_decoder_run(hdx_decoder *decoder, uint8_t *to, size_t room, bool to_point, size_t *got, hdx_error *err);
/* Returns the number of bytes of the file consumed. */
static inline uint64_t hdx_decoder_consumed(const hdx_decoder *d) { return d->in_end - d->z.avail_in; }

hdx_cache *hdx_cache_new(hdx_source *source);
void       hdx_cache_free(hdx_cache *cache);
hdx_code   hdx_cache_read(hdx_cache *cache, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err);

#endif
