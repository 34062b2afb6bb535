/*
 * sums.c - sums of contents: polynomials modulo 2^61 - 1 at two points.
 *
 * Four numbers are added at once, so that their products do not wait for each other: some bytes per cycle.
 */
#include "query/texts/sums.h"

#include <sys/random.h>
#include <time.h>

#define PRIME ((1ull << 61) - 1)

__extension__ typedef unsigned __int128 wide;

/* Returns at most 2^61, for any argument below 2^125. */
static inline uint64_t fold(wide x)
{
    const uint64_t once = ((uint64_t)x & PRIME) + (uint64_t)(x >> 61);
    return (once & PRIME) + (once >> 61);
}

static inline uint64_t whole(uint64_t x) { return x >= PRIME ? x - PRIME : x; }

static inline uint64_t times(uint64_t a, uint64_t b) { return whole(fold((wide)a * b)); }

/*
 * If the kernel gives no random bytes, the random address of the stack and the time are used: the author of a dump does
 * not know those either.
 */
void hdx_sum_key_make(hdx_sum_key *key)
{
    uint64_t random[2];
    if (getrandom(random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random) {
        struct timespec now = { 0, 0 };
        (void)clock_gettime(CLOCK_REALTIME, &now);
        random[0] = hdx_mix64((uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_nsec);
        random[1] = hdx_mix64(random[0] ^ (uint64_t)now.tv_sec);
    }
    for (unsigned p = 0; p < 2; p++) {
        const uint64_t x = random[p] % (PRIME - (1ull << 32)) + (1ull << 32);
        key->power[p][0] = 1;
        for (unsigned i = 1; i < 5; i++)
            key->power[p][i] = times(key->power[p][i - 1], x);
    }
}

static inline void add_one(const hdx_sum_key *key, hdx_sum *s, uint32_t number)
{
    for (unsigned p = 0; p < 2; p++)
        s->at[p] = fold((wide)s->at[p] * key->power[p][1] + number);
}

static inline void add_four(const hdx_sum_key *key, hdx_sum *s, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    for (unsigned p = 0; p < 2; p++)
        s->at[p] = fold((wide)s->at[p] * key->power[p][4] + (wide)a * key->power[p][3] + (wide)b * key->power[p][2] +
                        (wide)c * key->power[p][1] + d);
}

void hdx_sum_add(const hdx_sum_key *key, hdx_sum *s, unsigned size, const uint8_t *bytes, uint64_t len)
{
    uint64_t i = 0;
    uint8_t  rest[4] = { 0, 0, 0, 0 };
    if (size == 2) {
        for (; len - i >= 8; i += 8)
            add_four(key, s, hdx_be16(bytes + i), hdx_be16(bytes + i + 2), hdx_be16(bytes + i + 4),
                     hdx_be16(bytes + i + 6));
        for (; len - i >= 2; i += 2)
            add_one(key, s, hdx_be16(bytes + i));
    } else {
        for (; len - i >= 16; i += 16)
            add_four(key, s, hdx_be32(bytes + i), hdx_be32(bytes + i + 4), hdx_be32(bytes + i + 8),
                     hdx_be32(bytes + i + 12));
        for (; len - i >= 4; i += 4)
            add_one(key, s, hdx_be32(bytes + i));
        if (len > i) {
            memcpy(rest, bytes + i, (size_t)(len - i));
            add_one(key, s, hdx_be32(rest));
        }
    }
    for (unsigned p = 0; p < 2; p++)
        s->at[p] = whole(s->at[p]);
}

void hdx_sum_number(const hdx_sum_key *key, hdx_sum *s, uint32_t number)
{
    add_one(key, s, number);
    for (unsigned p = 0; p < 2; p++)
        s->at[p] = whole(s->at[p]);
}

hdx_sum hdx_sum_between(const hdx_sum_key *key, const hdx_sum *first, const hdx_sum *end, uint64_t count)
{
    hdx_sum out;
    for (unsigned p = 0; p < 2; p++) {
        uint64_t power = 1, square = key->power[p][1];
        for (uint64_t n = count; n > 0; n >>= 1) {
            if (n & 1)
                power = times(power, square);
            square = times(square, square);
        }
        out.at[p] = whole(end->at[p] + PRIME - times(first->at[p], power));
    }
    return out;
}
