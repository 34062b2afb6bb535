/*
 * container.h - what every index file has: a head, sections of bytes cut into blocks of 64 KiB, a sum for each block,
 * and a foot. README.md beside this file has the layout byte for byte.
 *
 * Trust goes down from the manifest: it knows the size of the file and the sum of the foot; the foot holds the sums of
 * the pieces of the sum table; a piece holds the sums of blocks. Opening looks at head and foot only; a piece and a
 * block are checked when they are first touched. Every sum is seeded with the identity of the index, the kind and its
 * own number, so a block of another index, another file or another place is noticed.
 *
 * Invariants readers rely on:
 * C1  a section lies whole inside the map, and at least 64 bytes of the map follow it: eight bytes may be loaded at any
 *     of its bytes.
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
#define HDX_PIECES_MAX   (1u << 20) /* 2^20 GiB of data: a foot of 4 MiB at most */
#define HDX_SECTION_OPEN UINT64_MAX
#define HDX_OFFSET_BITS  40u /* of a page's place in its section */

typedef struct hdx_section {
    const uint8_t *at;
    uint64_t       bytes;
    uint64_t       first_block;
    /* blocks not yet found right; relaxed atomics. 0: nothing of the section needs to be asked about any more */
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
    uint8_t    *state; /* of each block: 0 not looked at, 1 right, 2 damaged; written and read as relaxed atomics */
    uint8_t    *piece_state;
    uint64_t    counts[3];
    unsigned    sections;
    hdx_section section[HDX_SECTIONS];
    char        where[128];
} hdx_container;

/* ---- reading ---- */
/* sections: how many there must be; 0: the caller looks at c->sections. */
hdx_code hdx_container_open(hdx_container *c, const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                            unsigned sections, hdx_damage_note *note, hdx_error *err);
void     hdx_container_close(hdx_container *c);
/* Damage of a handle that is being opened: returned; found later: noted. offset is into the section. */
hdx_code hdx_container_damaged(const hdx_container *c, hdx_error *err, const char *what);
void     hdx_container_note(const hdx_container *c, unsigned section, uint64_t offset, const char *what);
bool     hdx_touch_slowly(const hdx_container *c, unsigned section, uint64_t off, uint64_t len);

/* Was every block of the section found right before? */
static inline bool hdx_proved(const hdx_section *s) { return __atomic_load_n(&s->unproved, __ATOMIC_RELAXED) == 0; }
/* Were these bytes (1 .. 64 KiB of them: two blocks at most) found right before? False says nothing. */
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
/* Looks at every byte after head and foot, gaps between sections included; what is wrong is noted. */
void hdx_container_whole(const hdx_container *c);
/*
 * Puts a page of zeros where the map has lost its file (a file that became shorter while it is read: SIGBUS). False:
 * address is not in the map. Async-signal-safe.
 */
bool hdx_container_mend(const hdx_container *c, const void *address);

/* May these bytes be used? False: no, and it is noted. */
static inline bool hdx_touch(const hdx_container *c, unsigned section, uint64_t off, uint64_t len)
{
    return hdx_touched(c, section, off, len) || hdx_touch_slowly(c, section, off, len);
}
/*
 * Asks for the line of a byte that will be read soon; any offset may be given, and nothing is checked: the reader does
 * that.
 */
static inline void hdx_fetch(const hdx_container *c, unsigned section, uint64_t off)
{
    const hdx_section *s = &c->section[section];
    __builtin_prefetch(s->at + (off < s->bytes ? off : 0));
}
/*
 * Numbers of the keys that a round of reading ahead is for, which is the `before`th before the look-up (1: the last);
 * at key 0 all up to there.
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
typedef struct hdx_pour { /* a section while it is written */
    uint64_t start;       /* in the file */
    uint64_t expected;    /* bytes announced, or HDX_SECTION_OPEN */
    uint64_t bytes;       /* put so far */
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

/* On any error the caller calls hdx_container_drop, which closes and removes the file; after finish it does nothing. */
hdx_code hdx_container_create(hdx_container_writer *w, const hdx_index_place *place, hdx_kind kind,
                              const uint64_t counts[3], hdx_error *err);
/* Begins the next section. Several may be written at a time if all but the last have announced their size. */
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
