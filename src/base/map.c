/* map.c - a hash map from 64-bit keys to 64-bit values. */
#include "base/map.h"
#include "base/bytes.h"

#define FIRST 64u

/* Five slots of eight at the most: a pair of neighbours more is looked at, and many a map takes half the memory. */
static bool is_full(uint64_t count, uint64_t capacity) { return count > capacity / 8 * 5; }

static hdx_map_slot *slot_for(hdx_map_slot *slots, uint64_t capacity, uint64_t empty, uint64_t key)
{
    for (uint64_t i = key * 0x9e3779b97f4a7c15ull >> 20;; i++) {
        hdx_map_slot *s = &slots[i & (capacity - 1)];
        if (s->key == key || s->key == empty)
            return s;
    }
}

static bool grow_to(hdx_map *map, uint64_t capacity)
{
    hdx_map_slot *slots = hdx_mem_array(map->mem, capacity, sizeof *slots);
    if (slots == NULL)
        return false;
    for (uint64_t i = 0; i < capacity; i++)
        slots[i].key = map->empty;
    for (uint64_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key != map->empty)
            *slot_for(slots, capacity, map->empty, map->slots[i].key) = map->slots[i];
    hdx_mem_put(map->mem, map->slots, map->capacity * sizeof *slots);
    map->slots = slots;
    map->capacity = capacity;
    return true;
}

bool hdx_map_reserve(hdx_map *map, uint64_t more)
{
    uint64_t capacity = map->capacity == 0 ? FIRST : map->capacity;
    if (more > UINT64_MAX / 8)
        return false;
    while (is_full(map->count + more, capacity))
        capacity *= 2;
    return capacity == map->capacity || grow_to(map, capacity);
}

uint64_t *hdx_map_put(hdx_map *map, uint64_t key, bool *fresh)
{
    bool          unused;
    hdx_map_slot *s;
    if (fresh == NULL)
        fresh = &unused;
    if (key == map->empty) {
        *fresh = !map->has_own;
        map->has_own = true;
        return &map->own;
    }
    if (is_full(map->count + 1, map->capacity) && !grow_to(map, map->capacity == 0 ? FIRST : 2 * map->capacity))
        return NULL;
    s = slot_for(map->slots, map->capacity, map->empty, key);
    *fresh = s->key == map->empty;
    if (*fresh) {
        s->key = key;
        s->value = 0;
        map->count++;
    }
    return &s->value;
}

void hdx_map_free(hdx_map *map)
{
    hdx_mem_put(map->mem, map->slots, map->capacity * sizeof *map->slots);
    *map = hdx_map_of(map->mem);
}

uint64_t hdx_hash_bytes(uint64_t seed, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    uint64_t       h = hdx_mix64(seed ^ len);
    for (; len >= 8; p += 8, len -= 8)
        h = hdx_mix64(h ^ hdx_le64(p));
    uint64_t tail = 0;
    for (size_t i = 0; i < len; i++)
        tail |= (uint64_t)p[i] << (8 * i);
    return hdx_mix64(h ^ tail);
}
