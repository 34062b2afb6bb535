/*
 * test_blocks.c - files of which one byte is harmed, one after the other: whatever is asked is answered rightly or not
 * at all, and what was not answered is told.
 */
#include "indexes/container/container.h"
#include "tests/indexes/place.h"

typedef unsigned long long ull;

/* How a file is asked; gives how many answers were none. One that is wrong fails the test. */
typedef uint64_t ask(test_place *t, const hdx_index_file *file, const void *of);

static void every_block(test_place *t, hdx_kind kind, const hdx_index_file *file, ask *all, const void *of)
{
    size_t   len;
    uint8_t *bytes = place_bytes(t, kind, &len);
    unsigned harmed = 0;
    cr_assert(eq(u64, all(t, file, of), 0));
    cr_assert(eq(int, hdx_note_check(&t->note, NULL), HDX_OK));
    for (size_t at = HDX_HEAD_BYTES; at < len; at += len / 23) { /* some are in the foot */
        bytes[at] ^= 0x10;
        place_replace(t, kind, bytes, len);
        place_clear(t);
        const uint64_t none = all(t, file, of);
        cr_expect(eq(int, hdx_note_check(&t->note, NULL), none > 0 ? HDX_DAMAGED : HDX_OK), "byte %zu: %llu unanswered",
                  at, (ull)none);
        harmed += none > 0;
        bytes[at] ^= 0x10;
    }
    cr_expect(gt(u32, harmed, 2));
    free(bytes);
}

/* ---- addresses ---- */

typedef struct set {
    uint64_t *at, n;
} set;

static uint64_t ask_set(test_place *t, const hdx_index_file *file, const void *of)
{
    const set     *all = of;
    hdx_addresses *s;
    uint64_t       none = 0;
    if (hdx_addresses_open(&t->place, HDX_KIND_ADDRESS, file, all->n, &t->note, &s, NULL) != HDX_OK) {
        place_clear(t);
        return 0; /* refused */
    }
    for (uint64_t i = 0; i < all->n; i++) {
        const hdx_id   id = hdx_addresses_find(s, all->at[i]);
        const hdx_addr address = hdx_addresses_at(s, i);
        cr_assert(id == i || id == HDX_NO_ID, "%llx has id %llu, not %llu", (ull)all->at[i], (ull)id, (ull)i);
        cr_assert(address == all->at[i] || address == 0, "id %llu has %llx, not %llx", (ull)i, (ull)address,
                  (ull)all->at[i]);
        none += (id == HDX_NO_ID) + (address == 0);
    }
    hdx_addresses_close(s);
    return none;
}

static void harm_addresses(uint64_t step, uint64_t jump, uint64_t n)
{
    test_place     t;
    hdx_index_file file;
    hdx_addresses *s;
    set            all = { calloc(n, 8), n };
    uint64_t       at = 0x10000000, repeated = 0;
    for (uint64_t i = 0; i < n; i++)
        all.at[i] = at += step + (i % 97 == 5 ? jump : 0);
    place_open(&t, 1);
    cr_assert(hdx_addresses_new(&t.mem, 8, &s, NULL) == HDX_OK);
    cr_assert(hdx_addresses_insert(s, all.at, n, &repeated, NULL) == HDX_OK);
    cr_assert(hdx_addresses_freeze(s, NULL) == HDX_OK);
    cr_assert(hdx_addresses_write(&t.place, HDX_KIND_ADDRESS, s, &file, NULL) == HDX_OK);
    hdx_addresses_close(s);
    every_block(&t, HDX_KIND_ADDRESS, &file, ask_set, &all);
    place_close(&t);
    free(all.at);
}

Test(blocks, of_addresses_close_together) { harm_addresses(24, 0, 40000); }
Test(blocks, of_addresses_far_apart) { harm_addresses(16, 1ull << 33, 30000); }
Test(blocks, of_addresses_in_a_table) { harm_addresses(1ull << 40, 8, 3000); }

/* ---- ranks ---- */

typedef struct members {
    uint64_t *words, size, n;
} members;

static uint64_t ask_members(test_place *t, const hdx_index_file *file, const void *of)
{
    const members *m = of;
    hdx_ranks     *r;
    uint64_t       none = 0, rank = 0;
    if (hdx_ranks_open(&t->place, HDX_KIND_SPECIAL, file, m->size, &t->note, &r, NULL) != HDX_OK) {
        place_clear(t);
        return 0;
    }
    for (uint64_t i = 0; i < m->size; i++) {
        uint64_t   got = 0;
        const bool in = hdx_ranks_find(r, i, &got), right = hdx_bits_test(m->words, i);
        cr_assert(in == false || (right && got == rank), "%llu has rank %llu", (ull)i, (ull)got);
        none += right && !in;
        if (!right)
            continue;
        const uint64_t member = hdx_ranks_at(r, rank++);
        cr_assert(member == i || member == 0, "rank %llu is %llu, not %llu", (ull)rank - 1, (ull)member, (ull)i);
        none += member != i;
    }
    if (hdx_note_check(&t->note, NULL) != HDX_OK && none == 0)
        none = 1; /* nothing was in the block */
    hdx_ranks_close(r);
    return none;
}

static void harm_members(uint64_t size, unsigned of_1000)
{
    test_place     t;
    hdx_index_file file;
    random_state   d = { of_1000 };
    members        m = { calloc(size / 64 + 1, 8), size, 0 };
    for (uint64_t i = 0; i < size; i++)
        if (below(&d, 1000) < of_1000)
            hdx_bits_put(m.words, i);
    place_open(&t, 1);
    cr_assert(hdx_ranks_write(&t.place, HDX_KIND_SPECIAL, size, m.words, &file, NULL) == HDX_OK);
    every_block(&t, HDX_KIND_SPECIAL, &file, ask_members, &m);
    place_close(&t);
    free(m.words);
}

Test(blocks, of_ranks_of_many) { harm_members(200000, 700); }
Test(blocks, of_ranks_of_few) { harm_members(300000, 3); }

/* ---- seek points ---- */

typedef struct points {
    uint64_t count, size, file_bytes;
} points;

static hdx_seek_point point_of(uint64_t i)
{
    return (hdx_seek_point){ .out = i << 20,
                             .bit = 8 * (i << 19),
                             .kind = i % 2 == 0 ? HDX_SEEK_MEMBER : HDX_SEEK_BLOCK,
                             .window_len = i % 2 == 0 ? 0 : 30000,
                             .window_size = i % 2 == 0 ? 0 : 9000,
                             .sum = (uint32_t)i * 77 };
}

static hdx_code give(void *context, uint64_t i, hdx_seek_point *point, uint8_t window[HDX_SEEK_WINDOW], hdx_error *err)
{
    (void)context, (void)err;
    *point = point_of(i);
    memset(window, (int)(i % 251), point->window_size);
    return HDX_OK;
}

static uint64_t ask_points(test_place *t, const hdx_index_file *file, const void *of)
{
    const points   *all = of;
    hdx_seek       *s;
    hdx_seek_cursor cursor = { 0 };
    hdx_seek_point  p;
    uint64_t        n = 0, none = 0;
    if (hdx_seek_open(&t->place, file, all->size, all->file_bytes, &t->note, &s, NULL) != HDX_OK) {
        place_clear(t);
        return 0;
    }
    for (; hdx_seek_next(s, &cursor, &p); n++) {
        const hdx_seek_point right = point_of(n);
        uint8_t              window[HDX_SEEK_WINDOW];
        cr_assert(p.out == right.out && p.bit == right.bit && p.sum == right.sum && p.window_size == right.window_size,
                  "point %llu", (ull)n);
        if (!hdx_seek_window(s, p.window_at, p.window_size, window)) {
            none++;
            continue;
        }
        for (uint32_t k = 0; k < p.window_size; k++)
            cr_assert(window[k] == n % 251);
    }
    hdx_seek_close(s);
    return none + all->count - n;
}

Test(blocks, of_seek_points)
{
    test_place     t;
    hdx_index_file file;
    const points   all = { 600, 600ull << 20, 600ull << 19 };
    place_open(&t, 1);
    cr_assert(hdx_seek_write(&t.place, all.count, all.count / 2, all.size, give, NULL, &file, NULL) == HDX_OK);
    every_block(&t, HDX_KIND_SEEK, &file, ask_points, &all);
    place_close(&t);
}

/* ---- lists ---- */

typedef struct lists {
    uint64_t keys, *at, *to; /* of k: to[at[k]] .. to[at[k + 1] - 1] */
} lists;

static hdx_code degrees_of(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const lists *l = context;
    (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = l->at[first + i + 1] - l->at[first + i];
    return HDX_OK;
}

static hdx_code values_of(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    const lists *l = context;
    uint64_t     k = 0;
    (void)err;
    for (uint32_t i = 0; i < n; i++) {
        while (l->at[k + 1] <= first + i)
            k++;
        values[i] = l->to[first + i];
        keys[i] = k;
    }
    return HDX_OK;
}

static uint64_t ask_lists(test_place *t, const hdx_index_file *file, const void *of)
{
    const lists  *l = of;
    hdx_one_to_n *r;
    uint64_t      none = 0, out[600], degrees[64], values[64];
    if (hdx_one_to_n_open(&t->place, HDX_KIND_OUTBOUND, file, l->keys, l->keys, &t->note, &r, NULL) != HDX_OK) {
        place_clear(t);
        return 0;
    }
    for (uint64_t k = 0; k < l->keys; k++) {
        const uint64_t right = l->at[k + 1] - l->at[k];
        uint64_t       first = 0, length = 0;
        hdx_one_to_n_list(r, k, &first, &length);
        cr_assert(length == 0 || (length == right && first == l->at[k]), "list %llu: %llu, not %llu", (ull)k,
                  (ull)length, (ull)right);
        none += length != right;
        hdx_one_to_n_read(r, k, first, (uint32_t)length, out);
        for (uint64_t i = 0; i < length; i++) {
            cr_assert(out[i] == l->to[l->at[k] + i] || out[i] == 0, "value %llu of %llu", (ull)i, (ull)k);
            none += out[i] != l->to[l->at[k] + i];
        }
    }
    for (uint64_t k = 0; k < l->keys; k += 64) {
        const uint32_t n = (uint32_t)(l->keys - k < 64 ? l->keys - k : 64);
        memset(degrees, 0xee, sizeof degrees);
        hdx_one_to_n_degrees(r, k, n, degrees);
        for (uint32_t i = 0; i < n; i++)
            cr_assert(degrees[i] == 0 || degrees[i] == l->at[k + i + 1] - l->at[k + i], "%llu", (ull)(k + i));
        memset(degrees, 0xee, sizeof degrees);
        memset(values, 0xee, sizeof values);
        hdx_one_to_n_firsts(r, k, n, degrees, values);
        for (uint32_t i = 0; i < n; i++)
            cr_assert(degrees[i] == 0 || (degrees[i] == l->at[k + i + 1] - l->at[k + i] &&
                                          (values[i] == l->to[l->at[k + i]] || values[i] == 0)),
                      "%llu", (ull)(k + i));
    }
    if (hdx_note_check(&t->note, NULL) != HDX_OK && none == 0)
        none = 1; /* a byte between */
    hdx_one_to_n_close(r);
    return none;
}

Test(blocks, of_lists)
{
    for (unsigned how = 0; how < 2; how++) {
        test_place     t;
        hdx_index_file file;
        random_state   d = { how };
        lists          l = { 20000, calloc(20001, 8), calloc(400000, 8) };
        uint64_t       n = 0;
        for (uint64_t k = 0; k < l.keys; k++) {
            const uint64_t length = how == 1 && k % 700 == 3 ? 300 + below(&d, 250) : below(&d, 7);
            for (uint64_t i = 0, to = below(&d, 50); i < length && to < l.keys; i++, to += 1 + below(&d, 30))
                l.to[n++] = 1 + to >= l.keys ? l.keys - 1 : 1 + to; /* 0 is what damage gives */
            l.at[k + 1] = n;
        }
        place_open(&t, 1);
        cr_assert(hdx_one_to_n_write(&t.place, HDX_KIND_OUTBOUND, l.keys, n, degrees_of, values_of, &l, &file, NULL) ==
                  HDX_OK);
        every_block(&t, HDX_KIND_OUTBOUND, &file, ask_lists, &l);
        place_close(&t);
        free(l.at);
        free(l.to);
    }
}

/* ---- numbers ---- */

static uint64_t ask_numbers(test_place *t, const hdx_index_file *file, const void *of)
{
    const set *all = of;
    hdx_ints  *r;
    uint64_t   none = 0, out[100];
    if (hdx_ints_open(&t->place, HDX_KIND_CLASS, file, all->n, 1u << 20, &t->note, &r, NULL) != HDX_OK) {
        place_clear(t);
        return 0;
    }
    for (uint64_t i = 0; i < all->n; i++) {
        const uint64_t v = hdx_ints_get(r, i);
        cr_assert(v == all->at[i] || v == 0, "number %llu is %llu", (ull)i, (ull)v);
        none += v != all->at[i];
    }
    for (uint64_t i = 0; i < all->n; i += 100) {
        const uint32_t n = (uint32_t)(all->n - i < 100 ? all->n - i : 100);
        hdx_ints_read(r, i, n, out);
        for (uint32_t k = 0; k < n; k++)
            cr_assert(out[k] == all->at[i + k] || out[k] == 0, "number %llu is %llu", (ull)(i + k), (ull)out[k]);
    }
    hdx_ints_close(r);
    return none;
}

Test(blocks, of_numbers)
{
    test_place     t;
    hdx_index_file file;
    random_state   d = { 3 };
    set            all = { calloc(90000, 8), 90000 };
    for (uint64_t i = 0; i < all.n; i++)
        all.at[i] = i / 2000 % 3 == 0   ? 1 + i % 1000
                    : i / 2000 % 3 == 1 ? 5 * i + 7
                                        : 1 + below(&d, 1u << 20 >> i % 19);
    for (uint64_t i = 0; i < all.n; i++)
        all.at[i] = all.at[i] >= 1u << 20 ? (1u << 20) - 1 : all.at[i];
    place_open(&t, 1);
    cr_assert(hdx_ints_write(&t.place, HDX_KIND_CLASS, all.n, fill_from, all.at, &file, NULL) == HDX_OK);
    every_block(&t, HDX_KIND_CLASS, &file, ask_numbers, &all);
    place_close(&t);
    free(all.at);
}
