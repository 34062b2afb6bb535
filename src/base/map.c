/* map.c - a hash map from 64-bit keys to 64-bit values. */
#include "base/map.h"
#include "base/bytes.h"

#include <sys/auxv.h>

#define FIRST      64u
#define STEPS_MOST 512u /* random keys fill at most some 150 adjacent slots in maps of millions */

/* At most five of eight slots are used: a look-up needs a few more steps, but many maps need only half the memory. */
static bool is_full(uint64_t count, uint64_t capacity) { return count > capacity / 8 * 5; }

/* steps: number of skipped slots. */
static hdx_map_slot *slot_for(const hdx_map *map, uint64_t key, uint64_t *steps)
{
    const uint64_t first = key * map->multiplier >> map->shift;
    for (uint64_t i = first;; i++) {
        hdx_map_slot *s = &map->slots[i & (map->capacity - 1)];
        if (s->key == key || s->key == map->empty) {
            *steps = i - first;
            return s;
        }
    }
}

/* Returns an odd number that the kernel gave to this process only; another one for each `before`. */
static uint64_t secret(uint64_t before)
{
    const uint8_t *bytes = (const uint8_t *)getauxval(AT_RANDOM);
    return hdx_mix64((bytes == NULL ? (uint64_t)(uintptr_t)&bytes : hdx_le64(bytes)) ^ before) | 1;
}

static bool move_to(hdx_map *map, uint64_t capacity, uint64_t multiplier)
{
    hdx_map  to = *map;
    uint64_t steps;
    to.slots = hdx_mem_array(map->mem, capacity, sizeof *to.slots);
    to.capacity = capacity;
    to.multiplier = multiplier;
    to.shift = 64 - (unsigned)__builtin_ctzll(capacity);
    if (to.slots == NULL)
        return false;
    for (uint64_t i = 0; i < capacity; i++)
        to.slots[i].key = map->empty;
    for (uint64_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key != map->empty)
            *slot_for(&to, map->slots[i].key, &steps) = map->slots[i];
    hdx_mem_put(map->mem, map->slots, map->capacity * sizeof *map->slots);
    *map = to;
    return true;
}

/* After a map was attacked, it stays with its secret. */
static bool grow_to(hdx_map *map, uint64_t capacity)
{
    if (!move_to(map, capacity, map->multiplier == 0 ? 0x9e3779b97f4a7c15ull : map->multiplier))
        return false;
    map->moved = false;
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
    uint64_t      steps;
    if (fresh == NULL)
        fresh = &unused;
    if (key == map->empty) {
        *fresh = !map->has_own;
        map->has_own = true;
        return &map->own;
    }
    if (is_full(map->count + 1, map->capacity) && !grow_to(map, map->capacity == 0 ? FIRST : 2 * map->capacity))
        return NULL;
    s = slot_for(map, key, &steps);
    if (steps > STEPS_MOST && !map->moved) {
        map->moved = true;
        if (!move_to(map, map->capacity, secret(map->multiplier)))
            return NULL;
        s = slot_for(map, key, &steps);
    }
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
