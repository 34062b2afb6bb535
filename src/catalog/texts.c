/*
 * texts.c - an open-addressing hash table of text numbers, at most half full; the hash is seeded, so that a dump cannot
 * provoke collisions.
 */
#include "catalog/texts.h"

#define FIRST_SLOTS 1024u
#define FETCHED     256u

void hdx_text_table_init(hdx_text_table *t, hdx_mem *mem)
{
    memset(t, 0, sizeof *t);
    t->mem = mem;
    t->seed = (hdx_now_ns() ^ (uint64_t)(uintptr_t)t) * 0x9e3779b97f4a7c15ull;
}

void hdx_text_table_free(hdx_text_table *t)
{
    hdx_mem_put(t->mem, t->slots, t->slot_count * sizeof *t->slots);
    hdx_mem_put(t->mem, t->texts, t->capacity * sizeof *t->texts);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0xff51afd7ed558ccdull;
    return h ^ h >> 32;
}

static uint64_t hash(const hdx_text_table *t, hdx_text text)
{
    const uint8_t *p = (const uint8_t *)text.at;
    uint64_t       h = mix(t->seed, text.len), tail = 0;
    uint32_t       i = 0;
    for (; text.len - i >= 8; i += 8)
        h = mix(h, hdx_le64(p + i));
    for (; i < text.len; i++)
        tail = tail << 8 | p[i];
    return mix(mix(h, tail), t->seed);
}

static bool grow(hdx_text_table *t)
{
    uint64_t       count = t->slot_count == 0 ? FIRST_SLOTS : t->slot_count * 2;
    hdx_text_slot *slots =
        count > UINT32_MAX ? NULL : hdx_mem_array(t->mem, count, sizeof *slots); /* stored hashes have 32 bits */
    if (slots == NULL)
        return false;
    memset(slots, 0, count * sizeof *slots); /* written before it is read (mem.h) */
    for (uint64_t i = 0; i < t->slot_count; i++) {
        uint64_t at = t->slots[i].hash & (count - 1);
        if (t->slots[i].number == 0)
            continue;
        while (slots[at].number != 0)
            at = (at + 1) & (count - 1);
        slots[at] = t->slots[i];
    }
    hdx_mem_put(t->mem, t->slots, t->slot_count * sizeof *t->slots);
    t->slots = slots;
    t->slot_count = count;
    return true;
}

static hdx_code look_up(hdx_text_table *t, hdx_text text, uint32_t *number, hdx_error *err)
{
    const uint32_t wanted = (uint32_t)hash(t, text);
    if ((t->count + 1) * 2 > t->slot_count && !grow(t))
        return hdx_no_memory(err, "names of the catalog", t->slot_count * 2 * sizeof *t->slots);
    uint64_t at = wanted & (t->slot_count - 1);
    for (; t->slots[at].number != 0; at = (at + 1) & (t->slot_count - 1))
        if (t->slots[at].hash == wanted && hdx_text_same(t->texts[t->slots[at].number - 1], text)) {
            *number = t->slots[at].number - 1;
            return HDX_OK;
        }
    if (t->count == UINT32_MAX - 1)
        return hdx_fail(err, HDX_LIMIT, "catalog", HDX_NOWHERE, "more than %u different names", UINT32_MAX - 1);
    if (!hdx_mem_room(t->mem, (void **)&t->texts, &t->capacity, t->count, sizeof *t->texts))
        return hdx_no_memory(err, "names of the catalog", text.len);
    t->texts[t->count] = text;
    *number = (uint32_t)t->count++;
    t->slots[at] = (hdx_text_slot){ *number + 1, wanted };
    return HDX_OK;
}

void hdx_text_ahead(const hdx_text_table *t, hdx_text text)
{
    if (t->slot_count > 0 && text.len <= FETCHED) /* a long one is probably found by its address (`recent`) */
        __builtin_prefetch(&t->slots[(uint32_t)hash(t, text) & (t->slot_count - 1)]);
}

hdx_code hdx_text_number(hdx_text_table *t, hdx_text text, uint32_t *number, hdx_error *err)
{
    uint64_t place = ((uint64_t)(uintptr_t)text.at * 0x9e3779b97f4a7c15ull >> 32) % HDX_TEXT_RECENT;
    if (text.at != NULL && t->recent[place].text.at == text.at && t->recent[place].text.len == text.len) {
        *number = t->recent[place].number;
        return HDX_OK;
    }
    hdx_code code = look_up(t, text, number, err);
    if (code == HDX_OK) {
        t->recent[place].text = text;
        t->recent[place].number = *number;
    }
    return code;
}
