/*
 * map.h - a hash map from 64-bit keys to 64-bit values, and hashing of bytes. It uses open addressing. One thread at a
 * time may write; several may read while none writes.
 *
 * Keys are ids of a dump, whose author may choose them so that all hash to the same slot. If a search visits more slots
 * than ordinary keys would need, the map switches to a multiplier that is unknown outside of the process.
 */
#ifndef HDX_BASE_MAP_H
#define HDX_BASE_MAP_H

#include "base/mem.h"

typedef struct hdx_map_slot {
    uint64_t key, value;
} hdx_map_slot;
typedef struct hdx_map {
    hdx_map_slot *slots;
    uint64_t      capacity; /* a power of two, or 0 */
    uint64_t      count;    /* without the key that equals `empty` */
    uint64_t      empty;    /* key that marks a free slot; the value of an equal real key is in `own` */
    uint64_t      multiplier;
    unsigned      shift; /* the slot of a key is in the upper bits of the product */
    bool          moved; /* uses a secret multiplier since the last growth */
    bool          has_own;
    uint64_t      own;
    hdx_mem      *mem;
} hdx_map;

/* The splitmix64 finaliser: every bit of the result depends on every bit of x. */
static inline uint64_t hdx_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
/* Distinguishes contents; not secure against an adversary. */
uint64_t hdx_hash_bytes(uint64_t seed, const void *bytes, size_t len);

static inline hdx_map hdx_map_of(hdx_mem *mem) { return (hdx_map){ .empty = 0xfffffffffffffff3ull, .mem = mem }; }
/*
 * Returns the value of a key, which is zero if the key is new (*fresh); NULL: no memory. Valid until the next call that
 * adds a key.
 */
uint64_t *hdx_map_put(hdx_map *map, uint64_t key, bool *fresh);
/* Makes room for `more` keys at once. False: no memory, and the map is unchanged. */
bool hdx_map_reserve(hdx_map *map, uint64_t more);
void hdx_map_free(hdx_map *map);

/* Prefetches the slot of a key that will be looked up soon. */
static inline void hdx_map_ahead(const hdx_map *map, uint64_t key)
{
    if (map->capacity > 0)
        __builtin_prefetch(&map->slots[key * map->multiplier >> map->shift]);
}
/* Returns the value of a key; NULL: not in the map. */
static inline const uint64_t *hdx_map_get(const hdx_map *map, uint64_t key)
{
    if (key == map->empty)
        return map->has_own ? &map->own : NULL;
    if (map->capacity == 0)
        return NULL;
    for (uint64_t i = key * map->multiplier >> map->shift;; i++) {
        const hdx_map_slot *s = &map->slots[i & (map->capacity - 1)];
        if (s->key == key)
            return &s->value;
        if (s->key == map->empty)
            return NULL;
    }
}

#endif
