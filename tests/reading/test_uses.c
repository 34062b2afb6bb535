/*
 * test_uses.c - what is said of the instances and arrays of one class, put together from the shares of several workers
 * in any order, against all of them looked at in the order of the file.
 */
#include "reading/scan.h"

#include <criterion/criterion.h>
#include <string.h>

#define SHARES 4u
#define MOST   24u

typedef struct record {
    hdx_pos  pos;
    bool     array;
    uint32_t bytes; /* of an instance; elements of an array */
} record;

static uint64_t roll(uint64_t *state, uint64_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* By rising position; those that are not in `share` are left out. */
static hdx_class_use use_of(const record *all, unsigned n, const unsigned *shares, unsigned share)
{
    hdx_class_use u = { 0 };
    for (unsigned i = 0; i < n; i++) {
        const record *r = &all[i];
        if (share != SHARES && shares[i] != share)
            continue;
        u.addr = 0x1234;
        if (r->array) {
            u.arrays++;
            u.elements += r->bytes;
            u.array_bytes[0] += 16 + 4 * (uint64_t)r->bytes;
            u.array_bytes[1] += 24 + 8 * (uint64_t)r->bytes;
            u.last_pos = u.instances == 0 ? r->pos : u.last_pos;
            continue;
        }
        if (u.instances++ == 0) {
            u.first_pos = r->pos;
            u.first_bytes = r->bytes;
        } else if (r->bytes != u.first_bytes && u.other_pos == 0)
            u.other_pos = r->pos;
        u.last_pos = r->pos;
        u.last_bytes = r->bytes;
        u.most_bytes = r->bytes > u.most_bytes ? r->bytes : u.most_bytes;
    }
    return u;
}

Test(uses, of_shares_in_any_order_are_those_of_the_file)
{
    uint64_t seed = 11, others = 0, alone = 0;
    for (unsigned round = 0; round < 20000; round++) {
        record         all[MOST];
        unsigned       shares[MOST], order[SHARES] = { 0, 1, 2, 3 };
        const unsigned n = (unsigned)roll(&seed, MOST) + 1, arrays = (unsigned)roll(&seed, 5);
        const unsigned lengths = 1 + (unsigned)roll(&seed, 3);
        hdx_class_use  got = { 0 };
        for (unsigned i = 0; i < n; i++) {
            const hdx_pos before = i == 0 ? 10 : all[i - 1].pos;
            all[i].pos = before + 1 + roll(&seed, 100);
            all[i].array = roll(&seed, 4) < arrays;
            all[i].bytes = (uint32_t)roll(&seed, lengths);
            shares[i] = (unsigned)roll(&seed, SHARES);
        }
        for (unsigned i = SHARES - 1; i > 0; i--) {
            const unsigned k = (unsigned)roll(&seed, i + 1), kept = order[i];
            order[i] = order[k];
            order[k] = kept;
        }
        for (unsigned i = 0; i < SHARES; i++) {
            const hdx_class_use share = use_of(all, n, shares, order[i]);
            if (share.instances + share.arrays > 0)
                hdx_scan_merge_use(&got, &share);
        }
        const hdx_class_use want = use_of(all, n, shares, SHARES);
        others += want.other_pos != 0;
        alone += want.instances == 0;
        cr_expect(got.addr == want.addr && got.instances == want.instances && got.arrays == want.arrays &&
                      got.elements == want.elements && got.array_bytes[0] == want.array_bytes[0] &&
                      got.array_bytes[1] == want.array_bytes[1],
                  "round %u: counts", round);
        cr_expect(got.first_pos == want.first_pos && got.first_bytes == want.first_bytes, "round %u: first", round);
        cr_expect(got.other_pos == want.other_pos, "round %u: %llu, not %llu", round, (unsigned long long)got.other_pos,
                  (unsigned long long)want.other_pos);
        cr_expect(got.last_pos == want.last_pos && got.last_bytes == want.last_bytes &&
                      got.most_bytes == want.most_bytes,
                  "round %u: last", round);
    }
    cr_expect(others > 1000 && alone > 1000, "%llu with others, %llu of arrays alone", (unsigned long long)others,
              (unsigned long long)alone);
}
