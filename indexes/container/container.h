/*
 * container.h - what every index file has: a head, sections of bytes cut into blocks of 64 KiB, a sum for each block,
 * and a foot. README.md in this folder has the layout byte for byte.
 *
 * Trust starts at the manifest, which has the size of the file and the sum of the foot; the foot has the sums of the
 * pieces of the sum table; a piece has the sums of blocks. Opening reads head and foot only; a piece and a block are
 * checked when they are first used. Every sum is seeded with the identity of the index, the kind and its own number, so
 * a block of another index, another file or another place is detected.
 *
 * Invariants on which readers rely:
 * C1  a section is completely inside the map, and at least 64 bytes of the map follow it: eight bytes may be loaded at
 *     any of its bytes.
 * C2  hdx_touch true: off + len <= section->bytes, and the blocks of the range have the right sums.
 *
 * Invariants of a file that is being written:
 * C3  sections begin at multiples of 64 bytes, each after the one before, and get no more bytes than were announced.
 * C4  every block that is whole has its sum, and the foot a sum for each piece of the table of sums.
 */
#ifndef HDX_INDEXES_CONTAINER_H
#define HDX_INDEXES_CONTAINER_H

#include "indexes/indexes.h"

#define HDX_BLOCK_BITS   16u
#define HDX_BLOCK        (1u << HDX_BLOCK_BITS)
#define HDX_SECTIONS     6u
#define HDX_HEAD_BYTES   64u
#define HDX_FOOT_BYTES   152u       /* after the sums of the pieces */
#define HDX_PIECES_MAX   (1u << 20) /* 2^20 GiB of data: a foot of at most 4 MiB */
#define HDX_SECTION_OPEN UINT64_MAX
#define HDX_OFFSET_BITS  40u /* of the offset of a page in its section */

typedef struct hdx_section {
    const uint8_t *at;
    uint64_t       bytes;
    uint64_t       first_block;
    /* number of blocks that are not yet verified; relaxed atomics. 0: the section needs no checks any more */
    uint64_t unproved;
} hdx_section;

typedef struct hdx_container {
    hdx_io          *io;
    hdx_mem         *mem;
    hdx_damage_note *note;
    hdx_kind         kind;
    uint32_t         seed; /* CRC32C of identity and kind */
    const uint8_t   *map;
    uint64_t         map_bytes;
    const uint8_t   *sums; /* in the map */
    uint64_t         blocks, pieces;
    uint8_t         *state; /* by block: 0 not checked, 1 valid, 2 damaged; relaxed atomics */
    uint8_t         *piece_state;
    uint64_t         counts[3];
    unsigned         sections;
    hdx_section      section[HDX_SECTIONS];
    char             where[128];
} hdx_container;

/* ---- reading ---- */
/* sections: their required number; 0: the caller checks c->sections. */
hdx_code hdx_container_open(hdx_container *c, const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                            unsigned sections, hdx_damage_note *note, hdx_error *err);
void     hdx_container_close(hdx_container *c);
/* Reports damage: returned while the handle is being opened, noted afterwards. offset is within the section. */
hdx_code hdx_container_damaged(const hdx_container *c, hdx_error *err, const char *what);
void     hdx_container_note(const hdx_container *c, unsigned section, uint64_t offset, const char *what);
bool     hdx_touch_slowly(const hdx_container *c, unsigned section, uint64_t off, uint64_t len);

/* Returns whether every block of the section is verified. */
static inline bool hdx_proved(const hdx_section *s) { return __atomic_load_n(&s->unproved, __ATOMIC_RELAXED) == 0; }
/* Returns whether these bytes (1 .. 64 KiB: at most two blocks) are verified. False: unknown. */
static inline bool hdx_touched(const hdx_container *c, unsigned section, uint64_t off, uint64_t len)
{
    const hdx_section *s = &c->section[section];
    if (len - 1 >= HDX_BLOCK || off > s->bytes || len > s->bytes - off)
        return false;
    if (hdx_proved(s))
        return true;
    uint64_t a = s->first_block + (off >> HDX_BLOCK_BITS), b = s->first_block + ((off + len - 1) >> HDX_BLOCK_BITS);
    return __atomic_load_n(&c->state[a], __ATOMIC_RELAXED) == 1 && __atomic_load_n(&c->state[b], __ATOMIC_RELAXED) == 1;
}
/* Checks every byte after head and foot, including gaps between sections; damage is noted. */
void hdx_container_whole(const hdx_container *c);
/*
 * Maps a page of zeros where the map has lost its file (a file that was truncated while it was being read: SIGBUS).
 * False: address is not in the map. Async-signal-safe.
 */
bool hdx_container_handle_fault(const hdx_container *c, const void *address);

/* Checks these bytes if necessary. False: they are damaged, which is noted. */
static inline bool hdx_touch(const hdx_container *c, unsigned section, uint64_t off, uint64_t len)
{
    return hdx_touched(c, section, off, len) || hdx_touch_slowly(c, section, off, len);
}
/* Prefetches the line of a byte; any offset is allowed, and nothing is checked: the reader does that. */
static inline void hdx_fetch(const hdx_container *c, unsigned section, uint64_t off)
{
    const hdx_section *s = &c->section[section];
    __builtin_prefetch(s->at + (off < s->bytes ? off : 0));
}
/*
 * The keys for which a round of prefetching runs: it is the `before`th round before the look-up (1: the last one); at
 * key 0 it includes all keys up to there.
 */
typedef struct hdx_round {
    size_t at, end;
} hdx_round;
static inline hdx_round hdx_round_of(size_t n, size_t i, hdx_pace pace, unsigned before)
{
    const size_t left = n - i, away = (size_t)pace.away * before, to = away + pace.step;
    return (hdx_round){ i == 0 ? 0 : i + (left < away ? left : away), i + (left < to ? left : to) };
}

/* ---- writing ---- */
typedef struct hdx_pour { /* a section that is being written */
    uint64_t start;       /* position in the file */
    uint64_t expected;    /* bytes announced, or HDX_SECTION_OPEN */
    uint64_t bytes;       /* so far */
    uint8_t *block;       /* the last, unfinished block */
    uint8_t *sums;        /* 4 bytes per finished block: 64 KiB of memory for each GiB of file */
    uint64_t sums_room;
    bool     ended;
} hdx_pour;

typedef struct hdx_container_writer {
    const hdx_index_place *place;
    hdx_kind               kind;
    uint32_t               seed;
    int                    fd;
    unsigned               sections;
    hdx_pour               section[HDX_SECTIONS];
    uint8_t                head[HDX_HEAD_BYTES];
    char                   path[4096];
} hdx_container_writer;

/*
 * On any error the caller calls hdx_container_drop, which closes and removes the file; after finish that does nothing.
 */
hdx_code hdx_container_create(hdx_container_writer *w, const hdx_index_place *place, hdx_kind kind,
                              const uint64_t counts[3], hdx_error *err);
/* Begins the next section. Several may be written at the same time if all but the last have announced their size. */
hdx_code hdx_container_section(hdx_container_writer *w, uint64_t bytes, hdx_error *err);
hdx_code hdx_container_put(hdx_container_writer *w, unsigned section, const void *bytes, uint64_t len, hdx_error *err);
hdx_code hdx_container_finish(hdx_container_writer *w, hdx_index_file *out, hdx_error *err);
void     hdx_container_drop(hdx_container_writer *w);

/* ---- sums, for both ---- */
#define HDX_SUM_PIECE (1ull << 63) /* number of piece p: this + p */
#define HDX_SUM_FOOT  UINT64_MAX
#define HDX_SUM_HEAD  (UINT64_MAX - 1)
uint32_t hdx_container_seed(const uint8_t identity[16], hdx_kind kind);
/* Number of block b of section s: s * 2^48 + b. */
uint32_t               hdx_container_sum(uint32_t seed, uint64_t number, const void *bytes, uint64_t len);
static inline uint64_t hdx_block_number(unsigned section, uint64_t block) { return (uint64_t)section << 48 | block; }

#endif
