/*
 * set.h - the inside of hdx_addresses.
 *
 * A slot is an address divided by the unit (8, or less where an address is not a multiple of it). A chunk is 32 768
 * slots: 512 blocks of 10 bytes, u64 bits and u16 "members of the chunk before these" (a word next to its rank; a rank
 * that counts within the chunk makes 10 bytes of 12).
 *
 *     address -> slot -> chunk number -> find[] -> index -> chunks[index] -> block: id = base[index] + rank + popcount
 *
 *     id -> samples[] -> the few blocks it may be in -> the bit
 *
 * Frozen sets and files consist of the same bytes. `order` holds, for each used chunk in order, its number and the id
 * of its first member. `find` leads from a chunk number to an index in `order`: as an array if the used chunks are
 * close together, otherwise as a hash table. For sparse addresses, a sorted table of addresses replaces all of it.
 *
 * Invariants:
 *   D1  a hash table has a power of two of slots, some of them free, so that every search ends.
 *   D2  each used chunk has one key and one place below `used`, and no chunk is empty once the set is frozen.
 *   D3  ids follow the addresses: the first id of a chunk is the number of members in all chunks before it.
 */
#ifndef HDX_INDEXES_ADDRESSES_SET_H
#define HDX_INDEXES_ADDRESSES_SET_H

#include "indexes/container/container.h"
#include "indexes/ints/pack.h"

#include <pthread.h>

#define HDX_CHUNK_BITS   15u
#define HDX_CHUNK_BLOCKS 512u
#define HDX_CHUNK_BYTES  (HDX_CHUNK_BLOCKS * 10u)
#define HDX_NO_CHUNK     UINT32_MAX
#define HDX_ID_SAMPLE    64u /* ids */
#define HDX_SAMPLE_BYTES 5u
/* Most blocks between two samples: no chunk is empty. */
#define HDX_SAMPLE_SPAN ((HDX_ID_SAMPLE + 1) * (uint64_t)HDX_CHUNK_BLOCKS)

typedef enum hdx_addresses_form { HDX_ADDRESSES_MAP, HDX_ADDRESSES_TABLE } hdx_addresses_form;
typedef enum hdx_addresses_way { HDX_ADDRESSES_FLAT, HDX_ADDRESSES_HASHED } hdx_addresses_way;

/*
 * Chunks while building: only bits, 512 words in the space of a chunk, in the order of first use; found by a hash
 * table.
 */
typedef struct hdx_chunks {
    unsigned  shift; /* slot = address >> shift */
    uint8_t  *room;
    uint64_t  capacity;
    uint64_t  used; /* guarded by `grow` while threads insert */
    uint64_t *keys; /* chunk number + 1; 0: free. Read without the lock: written last, with release */
    uint32_t *places;
    uint64_t  slots; /* of the hash table: a power of two, at most half full */
} hdx_chunks;

struct hdx_addresses {
    /* frozen */
    hdx_addresses_form form;
    hdx_addresses_way  way;
    bool               frozen, mapped;
    unsigned           shift;
    uint64_t           count;
    const uint8_t     *find, *order, *chunks, *samples; /* map */
    uint64_t           find_first, find_count; /* flat: first chunk number and length; hashed: length, a power of two */
    uint64_t           chunk_count;
    const uint8_t     *table; /* 8 bytes an address */
    hdx_container      file;  /* mapped */
    hdx_mem           *mem;
    /* building */
    pthread_rwlock_t change; /* read lock while inserting, write lock while something moves */
    pthread_mutex_t  grow;   /* for a new chunk, and for everything in the form of a table */
    _Atomic uint64_t members;
    hdx_chunks       build;
    uint64_t        *set; /* building as a table: hash set, 0 is free */
    uint64_t         set_slots, set_used;
    bool             set_zero; /* contains address 0 */
    uint64_t         all_bits; /* bitwise or of all addresses in the hash set */
    /* memory of the frozen pointers, if not mapped */
    uint64_t find_bytes, order_bytes, chunks_bytes, samples_bytes, table_bytes;
};

enum {
    HDX_ADDR_ORDER = 0,
    HDX_ADDR_FIND = 1,
    HDX_ADDR_CHUNKS = 2,
    HDX_ADDR_SAMPLES = 3,
    HDX_ADDR_TABLE = 0
}; /* sections */

static inline uint64_t hdx_addresses_hash(uint64_t number) { return (number * 0x9e3779b97f4a7c15u) >> 20; }
static inline uint64_t hdx_sample_at(const uint8_t *samples, uint64_t i)
{
    return hdx_le64(samples + HDX_SAMPLE_BYTES * i) & 0xffffffffffu;
} /* 3 bytes more may be read */
static inline uint64_t hdx_samples_of(uint64_t count) { return count / HDX_ID_SAMPLE + (count % HDX_ID_SAMPLE != 0); }

/* set_build.c */
hdx_code hdx_chunks_new(hdx_chunks *c, hdx_mem *mem, unsigned shift, uint64_t chunks, hdx_error *err);
void     hdx_chunks_free(hdx_chunks *c, hdx_mem *mem);
/* Adds an address by a single thread, and makes room if necessary. */
hdx_code hdx_chunks_add(hdx_chunks *c, hdx_mem *mem, hdx_addr address, bool *fresh, hdx_error *err);
/* Returns the words of a chunk for a single thread, and makes room if necessary. */
hdx_code hdx_chunks_take(hdx_chunks *c, hdx_mem *mem, uint64_t number, uint64_t **words, hdx_error *err);
/* Returns the place of an existing chunk. */
uint32_t hdx_chunks_place(const hdx_chunks *c, uint64_t number);
/*
 * Changes of form while building. to_map: *done is false if the map would need more than limit bytes, or memory is
 * refused.
 */
hdx_code hdx_addresses_to_set(hdx_addresses *s, hdx_error *err);
hdx_code hdx_addresses_to_map(hdx_addresses *s, uint64_t limit, bool *done, hdx_error *err);
/* set_find.c: frees everything that a freeze has allocated, even an incomplete one. */
void hdx_addresses_unfreeze(hdx_addresses *s);

#endif
