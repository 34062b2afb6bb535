/*
 * test_bytes.c - the same content gives the same bytes, today as when bytes.txt was written (support/checksums.h): of
 * several encodings that would hold a page, the choice is part of that. Read back, they are the content.
 */
#include "tests/indexes/place.h"
#include "indexes/addresses/addresses.h"
#include "indexes/ints/ints.h"
#include "indexes/one_to_n/one_to_n.h"
#include "support/checksums.h"

/* Of any width. Two throws of one expression would be made in the order that the compiler likes. */
static uint64_t any(random_state *d)
{
    const uint64_t bits = roll(d);
    return bits >> below(d, 64);
}

/* Runs of 50 to 500 numbers alike: the same, rising, noisy, with some far ones, narrow and wide. */
static void shapes(random_state *d, uint64_t *v, uint64_t n)
{
    for (uint64_t i = 0; i < n;) {
        const uint64_t base = any(d), step = below(d, 1u << below(d, 20)), run = 50 + below(d, 450),
                       noise = 1 + below(d, 1u << below(d, 16)), far = 2 + below(d, 60);
        const unsigned kind = (unsigned)below(d, 7);
        for (uint64_t k = 0; k < run && i < n; k++, i++)
            switch (kind) {
            case 0: v[i] = base; break;
            case 1: v[i] = base / 2 + k * step; break;
            case 2: v[i] = base / 2 + k * step + below(d, noise); break;
            case 3:
                v[i] = below(d, noise);
                v[i] += below(d, far) == 0 ? base : 0;
                break;
            case 4: v[i] = base / 2 + (below(d, far) == 0 ? 0 : 8 * below(d, noise)); break;
            case 5: v[i] = i * 3 + below(d, 100); break;
            default: v[i] = any(d);
            }
    }
}

static uint64_t put_file(const test_place *t, hdx_kind kind, hdx_buffer *b)
{
    size_t   len;
    uint8_t *bytes = place_bytes(t, kind, &len);
    hdx_buffer_put(b, bytes, len);
    free(bytes);
    return len;
}

static uint64_t ints(uint64_t seed, uint64_t n, hdx_buffer *b)
{
    test_place     t;
    hdx_index_file file;
    hdx_ints      *read;
    hdx_error      err;
    random_state   d = { seed };
    uint64_t      *v = calloc(n, sizeof *v);
    shapes(&d, v, n);
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, n, fill_from, v, &file, &err), HDX_OK));
    const uint64_t len = put_file(&t, HDX_KIND_CLASS, b);
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, n, 0, &t.note, &read, &err), HDX_OK));
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_ints_get(read, i) == v[i], "value %llu", (unsigned long long)i);
    hdx_ints_close(read);
    place_close(&t);
    free(v);
    return len;
}

typedef struct lists {
    uint64_t *degree, *value, *key;
} lists;

static hdx_code degrees_of(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    memcpy(degrees, ((lists *)context)->degree + first, n * sizeof *degrees);
    return HDX_OK;
}

static hdx_code values_of(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    (void)err;
    memcpy(values, ((lists *)context)->value + first, n * sizeof *values);
    memcpy(keys, ((lists *)context)->key + first, n * sizeof *keys);
    return HDX_OK;
}

/* Lengths of a few shapes; values near their keys, anywhere, or far beyond 32 bits. */
static uint64_t one_to_n(uint64_t seed, uint64_t n, hdx_buffer *b)
{
    test_place     t;
    hdx_index_file file;
    hdx_one_to_n  *read;
    hdx_error      err;
    random_state   d = { seed };
    uint64_t       count = 0, at = 0;
    lists          l = { .degree = calloc(n, sizeof(uint64_t)) };
    for (uint64_t k = 0; k < n; k++) {
        const unsigned kind = (unsigned)(k / 300 % 4);
        l.degree[k] = kind == 0   ? 1
                      : kind == 1 ? below(&d, 4)
                      : kind == 2 ? below(&d, 300) == 0 ? 700 : 2
                                  : below(&d, 40);
        count += l.degree[k];
    }
    l.value = calloc(count + 1, sizeof *l.value);
    l.key = calloc(count + 1, sizeof *l.key);
    const uint64_t above = seed == 2 ? 1ull << 33 : 0;
    for (uint64_t k = 0; k < n; k++)
        for (uint64_t i = 0; i < l.degree[k]; i++, at++) {
            const unsigned kind = (unsigned)(at / 400 % 6);
            l.key[at] = k;
            l.value[at] = above + (kind == 0   ? k + below(&d, 20)
                                   : kind == 1 ? below(&d, n)
                                   : kind == 2 ? n - k + i
                                   : kind == 3 ? (below(&d, 9) == 0 ? below(&d, n) : k + 3)
                                   : kind == 4 ? (below(&d, 5) == 0 ? roll(&d) >> (seed == 3 ? 20 : 40) : 7)
                                               : at);
        }
    place_open(&t, 1);
    cr_assert(eq(int, hdx_one_to_n_write(&t.place, HDX_KIND_OUTBOUND, n, count, degrees_of, values_of, &l, &file, &err),
                 HDX_OK),
              "%s", err.message);
    const uint64_t len = put_file(&t, HDX_KIND_OUTBOUND, b);
    cr_assert(eq(int, hdx_one_to_n_open(&t.place, HDX_KIND_OUTBOUND, &file, n, 0, &t.note, &read, &err), HDX_OK));
    for (uint64_t i = 0; i < count; i++)
        cr_assert(hdx_one_to_n_get(read, l.key[i], i) == l.value[i], "value %llu", (unsigned long long)i);
    hdx_one_to_n_close(read);
    place_close(&t);
    free(l.degree);
    free(l.value);
    free(l.key);
    return len;
}

static uint64_t addresses(uint64_t seed, uint64_t n, hdx_buffer *b)
{
    test_place     t;
    hdx_index_file file;
    hdx_addresses *set;
    hdx_error      err;
    bool           fresh;
    random_state   d = { seed };
    place_open(&t, 1);
    cr_assert(eq(int, hdx_addresses_new(&t.mem, 8, &set, &err), HDX_OK));
    for (uint64_t i = 0, at = 0x700000000; i < n; i++) {
        at = seed == 3 ? roll(&d) : at + 8 * (1 + below(&d, 12));
        if (seed != 3 && below(&d, 5000) == 0)
            at += roll(&d) >> 36 << 3;
        cr_assert(eq(int, hdx_addresses_insert_one(set, at, &fresh, &err), HDX_OK));
    }
    cr_assert(eq(int, hdx_addresses_freeze(set, &err), HDX_OK));
    cr_assert(eq(int, hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, set, &file, &err), HDX_OK));
    hdx_addresses_close(set);
    const uint64_t len = put_file(&t, HDX_KIND_ADDRESS, b);
    place_close(&t);
    return len;
}

/*
 * Pages by themselves, of 1 to 256 numbers and mostly few: the entry's words and the bytes; each decoded again. lists:
 * of values with keys.
 */
static uint64_t pages(uint64_t seed, uint64_t n, bool lists, hdx_buffer *b)
{
    random_state d = { seed };
    uint64_t     all = 0;
    for (uint64_t round = 0; round < n; round++) {
        const unsigned count = 1 + (unsigned)below(&d, round % 4 == 0 ? 256 : 40);
        uint64_t       v[256], keys[256], back[257], greatest = 0, entry[2];
        uint8_t        out[HDX_PAGE_BYTES];
        shapes(&d, v, count);
        const uint64_t near = below(&d, 1u << below(&d, 12)), step = 1 + below(&d, 5), far = 1 + below(&d, 20);
        for (unsigned i = 0; i < count; i++) {
            keys[i] = i == 0 ? any(&d) >> 20 : keys[i - 1] + below(&d, step);
            if (lists && round % 3 != 0 && below(&d, far) != 0) {
                v[i] = keys[i] + near;
                v[i] += below(&d, 9);
            }
        }
        if (lists && round % 5 == 0) /* of one key, and rising */
            for (unsigned i = 1; i < count; i++) {
                keys[i] = keys[0];
                v[i] = v[i - 1] / 2 + below(&d, 1u << below(&d, 9));
                v[i] = v[i] < v[i - 1] ? v[i - 1] : v[i];
            }
        const uint32_t used = lists ? hdx_values_encode(v, keys, count, out, &entry[0], &entry[1])
                                    : hdx_ints_encode(v, count, out, &entry[0], &entry[1]);
        const hdx_page page = { entry[0], entry[1], out, used };
        back[count] = 4711;
        cr_assert(lists ? hdx_values_decode_all(&page, count, keys, 0, count, back, &greatest)
                        : hdx_ints_decode(&page, count, 0, count, back));
        uint64_t most = 0;
        for (unsigned i = 0; i < count; i++) {
            cr_assert(back[i] == v[i], "page %llu, value %u", (unsigned long long)round, i);
            most = v[i] > most ? v[i] : most;
        }
        cr_assert(back[count] == 4711 && (!lists || greatest == most));
        for (unsigned i = 0; i < count; i += 1 + count / 7) { /* some by themselves, and some runs */
            const unsigned k = (unsigned)below(&d, count), m = 1 + (unsigned)below(&d, count - k);
            back[1] = back[m] = 4711;
            cr_assert(lists ? hdx_values_decode(&page, count, keys[i], i, 1, back, &greatest) && greatest == v[i]
                            : hdx_ints_decode(&page, count, i, 1, back));
            cr_assert(back[0] == v[i] && back[1] == 4711);
            cr_assert(lists ? hdx_values_decode_all(&page, count, keys + k, k, m, back, &greatest)
                            : hdx_ints_decode(&page, count, k, m, back));
            cr_assert(memcmp(back, v + k, m * sizeof *v) == 0 && (m == 1 || back[m] == 4711));
        }
        hdx_buffer_put(b, entry, sizeof entry);
        hdx_buffer_put(b, out, used);
        all += used;
    }
    return all;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char               what[16];
    unsigned long long seed, n;
    (void)context;
    cr_assert(sscanf(ask, "%15s %llu %llu", what, &seed, &n) == 3, "%s", ask);
    return strcmp(what, "ints") == 0       ? ints(seed, n, b)
           : strcmp(what, "lists") == 0    ? one_to_n(seed, n, b)
           : strcmp(what, "pages") == 0    ? pages(seed, n, false, b)
           : strcmp(what, "of_lists") == 0 ? pages(seed, n, true, b)
                                           : addresses(seed, n, b);
}

Test(bytes, of_index_files_are_what_they_were) { checksums_check(HDX_TREE "/tests/indexes/bytes.txt", text_of, NULL); }

/* ---- bounds of what is written, places of what is mapped ---- */

Test(one_to_n, has_room_for_2_to_the_48_values)
{
    test_place           t;
    hdx_one_to_n_writer *w;
    hdx_error            err;
    place_open(&t, 1);
    cr_expect(eq(int, hdx_one_to_n_begin(&t.place, HDX_KIND_OUTBOUND, 5, (1ull << 48) - 1, &w, &err), HDX_OK));
    hdx_one_to_n_abandon(w);
    cr_expect(eq(int, hdx_one_to_n_begin(&t.place, HDX_KIND_OUTBOUND, 5, 1ull << 48, &w, &err), HDX_LIMIT));
    cr_expect(w == NULL);
    place_close(&t);
}

Test(container, mends_nothing_that_is_not_its_own)
{
    test_place     t;
    hdx_index_file file;
    hdx_ints      *read;
    hdx_error      err;
    int            elsewhere = 5;
    uint64_t       v[600];
    for (unsigned i = 0; i < 600; i++)
        v[i] = i * 77;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, 600, fill_from, v, &file, &err), HDX_OK));
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, 600, 0, &t.note, &read, &err), HDX_OK));
    cr_expect(hdx_index_handle_fault(read, HDX_KIND_CLASS, &elsewhere) == false);
    cr_expect(hdx_index_handle_fault(read, HDX_KIND_CLASS, NULL) == false);
    cr_expect(hdx_index_handle_fault(read, HDX_KIND_CLASS, (void *)UINTPTR_MAX) == false);
    cr_expect(elsewhere == 5 && hdx_ints_get(read, 599) == 599 * 77);
    hdx_ints_close(read);
    place_close(&t);
}
