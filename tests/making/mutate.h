/*
 * mutate.h - a dump changed where it hurts: ids, class ids, types, counts and lengths of its records, found by walking
 * it, become those of other records, other numbers, or another byte. What comes out is nearly a dump: most readers get
 * far into it.
 */
#ifndef HDX_TESTS_BUILD_MUTATE_H
#define HDX_TESTS_BUILD_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MUTATE_PLACES 8192u

typedef enum mutate_kind { MUTATE_ID, MUTATE_TYPE, MUTATE_NUMBER, MUTATE_TAG } mutate_kind;

typedef struct mutate_places {
    struct {
        uint32_t at;
        uint8_t  bytes, kind;
    } place[MUTATE_PLACES];
    unsigned       count;
    const uint8_t *dump;
    size_t         len, at; /* reading stands at `at`; len: where it ends */
    uint8_t        id_size;
    bool           over;
} mutate_places;

static inline uint64_t mutate_take(mutate_places *m, unsigned bytes, int kind) /* kind below 0: not to be changed */
{
    uint64_t v = 0;
    if (m->over || bytes > m->len - m->at) {
        m->over = true;
        return 0;
    }
    if (kind >= 0 && m->count < MUTATE_PLACES) {
        m->place[m->count].at = (uint32_t)m->at;
        m->place[m->count].bytes = (uint8_t)bytes;
        m->place[m->count++].kind = (uint8_t)kind;
    }
    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | m->dump[m->at + i];
    m->at += bytes;
    return v;
}

static inline void mutate_skip(mutate_places *m, uint64_t bytes)
{
    m->over = m->over || bytes > m->len - m->at;
    m->at += m->over ? 0 : (size_t)bytes;
}

static inline unsigned mutate_width(const mutate_places *m, uint64_t type)
{
    static const uint8_t widths[12] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    return type == 2 ? m->id_size : type < 12 ? widths[type] : 0;
}

static inline void mutate_value(mutate_places *m)
{
    const uint64_t type = mutate_take(m, 1, MUTATE_TYPE);
    (void)mutate_take(m, mutate_width(m, type), type == 2 ? MUTATE_ID : -1);
}

static inline void mutate_class(mutate_places *m)
{
    uint64_t n;
    (void)mutate_take(m, m->id_size, MUTATE_ID);
    mutate_skip(m, 4);
    for (unsigned i = 0; i < 6; i++)
        (void)mutate_take(m, m->id_size, i < 4 ? MUTATE_ID : -1);
    (void)mutate_take(m, 4, MUTATE_NUMBER);
    for (n = mutate_take(m, 2, MUTATE_NUMBER); n > 0 && !m->over; n--) {
        mutate_skip(m, 2);
        mutate_value(m);
    }
    for (n = mutate_take(m, 2, MUTATE_NUMBER); n > 0 && !m->over; n--) {
        (void)mutate_take(m, m->id_size, MUTATE_ID);
        mutate_value(m);
    }
    for (n = mutate_take(m, 2, MUTATE_NUMBER); n > 0 && !m->over; n--) {
        (void)mutate_take(m, m->id_size, MUTATE_ID);
        (void)mutate_take(m, 1, MUTATE_TYPE);
    }
}

static inline void mutate_heap(mutate_places *m, size_t end)
{
    while (!m->over && m->at < end) {
        const uint64_t tag = mutate_take(m, 1, MUTATE_TAG);
        uint64_t       n, type;
        switch (tag) {
        case 0x20: mutate_class(m); break;
        case 0x21:
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            mutate_skip(m, 4);
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            n = mutate_take(m, 4, MUTATE_NUMBER);
            for (; n >= m->id_size && !m->over; n -= m->id_size)
                (void)mutate_take(m, m->id_size, MUTATE_ID);
            mutate_skip(m, n);
            break;
        case 0x22:
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            mutate_skip(m, 4);
            n = mutate_take(m, 4, MUTATE_NUMBER);
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            for (; n > 0 && !m->over; n--)
                (void)mutate_take(m, m->id_size, MUTATE_ID);
            break;
        case 0x23:
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            mutate_skip(m, 4);
            n = mutate_take(m, 4, MUTATE_NUMBER);
            type = mutate_take(m, 1, MUTATE_TYPE);
            mutate_skip(m, n * mutate_width(m, type));
            break;
        case 0xfe:
            (void)mutate_take(m, 4, MUTATE_NUMBER);
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            break;
        default: /* roots: an id, and up to three numbers */
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            n = tag == 1 ? m->id_size : tag == 2 || tag == 3 || tag == 8 ? 8 : tag == 4 || tag == 6 ? 4 : 0;
            for (; n >= 4 && !m->over; n -= 4)
                (void)mutate_take(m, 4, MUTATE_NUMBER);
            break;
        }
    }
}

/* What may be changed in the dump; as far as it can be read. */
static inline void mutate_find(mutate_places *m, const uint8_t *dump, size_t len)
{
    const uint8_t *zero = memchr(dump, 0, len);
    *m = (mutate_places){ .dump = dump, .len = len };
    if (zero == NULL || len - (size_t)(zero - dump) < 13 || (zero[4] != 4 && zero[4] != 8))
        return;
    m->id_size = zero[4];
    m->at = (size_t)(zero - dump) + 13;
    while (!m->over && m->at < len) {
        const uint64_t tag = mutate_take(m, 1, MUTATE_TAG);
        mutate_skip(m, 4);
        const uint64_t bytes = mutate_take(m, 4, MUTATE_NUMBER);
        if (m->over || bytes > len - m->at)
            return;
        const size_t end = m->at + (size_t)bytes;
        m->len = end;
        switch (tag) {
        case 0x01: (void)mutate_take(m, m->id_size, MUTATE_ID); break;
        case 0x02:
            (void)mutate_take(m, 4, MUTATE_NUMBER);
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            mutate_skip(m, 4);
            (void)mutate_take(m, m->id_size, MUTATE_ID);
            break;
        case 0x04:
            for (unsigned i = 0; i < 4; i++)
                (void)mutate_take(m, m->id_size, MUTATE_ID);
            break;
        case 0x05:
            for (unsigned i = 0; i < 3; i++)
                (void)mutate_take(m, 4, MUTATE_NUMBER);
            break;
        case 0x0c:
        case 0x1c: mutate_heap(m, end); break;
        default: break;
        }
        m->len = len;
        m->at = end;
        m->over = false;
    }
}

static inline uint64_t mutate_random(uint64_t *state, uint64_t below)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (z ^ z >> 31) % below;
}

/* One change; the dump keeps its length. */
static inline void mutate_once(const mutate_places *m, uint8_t *dump, uint64_t *seed)
{
    static const uint8_t types[] = { 2, 4, 5, 6, 7, 8, 9, 10, 11, 0, 12 };
    static const uint8_t tags[] = { 0x20, 0x21, 0x22, 0x23, 0xfe, 0x01, 0x02, 0x03,
                                    0x05, 0x08, 0x0c, 0x1c, 0x2c, 0x89, 0xc3 };
    if (m->count == 0)
        return;
    unsigned kind = (unsigned)mutate_random(seed, 8), i, other,
             tries = 0; /* ids are many: other places have their turn */
    kind = kind < 4 ? MUTATE_ID : kind < 6 ? MUTATE_NUMBER : kind == 6 ? MUTATE_TYPE : MUTATE_TAG;
    do
        i = (unsigned)mutate_random(seed, m->count);
    while (m->place[i].kind != kind && ++tries < 200);
    do
        other = (unsigned)mutate_random(seed, m->count);
    while (m->place[other].bytes != m->place[i].bytes && ++tries < 400);
    uint8_t       *at = dump + m->place[i].at;
    const unsigned bytes = m->place[i].bytes;
    switch (m->place[i].kind) {
    case MUTATE_TYPE: *at = types[mutate_random(seed, sizeof types)]; return;
    case MUTATE_TAG: *at = tags[mutate_random(seed, sizeof tags)]; return;
    default: break;
    }
    switch (mutate_random(seed, 4)) {
    case 0: at[mutate_random(seed, bytes)] ^= (uint8_t)(1u << mutate_random(seed, 8)); break;
    case 1: at[bytes - 1] = (uint8_t)(at[bytes - 1] + (mutate_random(seed, 2) == 0 ? 1 : 255)); break;
    default:
        if (m->place[other].bytes == bytes)
            memmove(at, dump + m->place[other].at, bytes);
        break;
    }
    if (m->place[i].kind == MUTATE_ID && mutate_random(seed, 16) == 0)
        memset(at, 0, bytes);
}

#endif
