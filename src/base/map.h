/*
 * map.h - a hash map from 64-bit keys to 64-bit values, and hashing of bytes. Open addressing; not thread-safe for
 * writers.
 *
 * Keys are ids of a dump, and whoever writes one may choose them all for the same slot. A map that is asked to step
 * over as many slots as no honest keys fill takes another multiplier, which nobody outside the process knows.
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
    uint64_t      count;
    uint64_t      empty; /* key that marks a free slot; the same key as a real one is kept in `own` */
    uint64_t      multiplier;
    unsigned      shift; /* a key's slot: the upper bits of its product */
    bool          moved; /* to a secret multiplier, since it grew */
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
/* For telling contents apart, not against an adversary. */
uint64_t hdx_hash_bytes(uint64_t seed, const void *bytes, size_t len);

static inline hdx_map hdx_map_of(hdx_mem *mem) { return (hdx_map){ .empty = 0xfffffffffffffff3ull, .mem = mem }; }
/* The value's place, made (zero) if the key is new; NULL: no memory. Valid until the next call that makes one. */
uint64_t *hdx_map_put(hdx_map *map, uint64_t key, bool *fresh);
/* Room for so many more keys, so that it need not grow step by step; false: no memory, and nothing has changed. */
bool hdx_map_reserve(hdx_map *map, uint64_t more);
void hdx_map_free(hdx_map *map);

/* Asks for the line in which the key will be looked for soon. */
static inline void hdx_map_ahead(const hdx_map *map, uint64_t key)
{
    if (map->capacity > 0)
        __builtin_prefetch(&map->slots[key * map->multiplier >> map->shift]);
}
static inline const uint64_t *hdx_map_get(const hdx_map *map, uint64_t key) /* NULL: not there */
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
