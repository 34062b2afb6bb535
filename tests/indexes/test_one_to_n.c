/* test_one_to_n.c - lists written and read back, whatever their lengths and wherever their values lie. */
#include "tests/indexes/place.h"
#include "indexes/one_to_n/one_to_n.h"
#include "support/faulty.h"

#include <criterion/parameterized.h>
#include <errno.h>

typedef struct lists {
    uint64_t  keys, values;
    uint64_t *degree, *value, *key;
} lists;

static hdx_code give_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    memcpy(degrees, ((lists *)context)->degree + first, n * sizeof *degrees);
    return HDX_OK;
}
static hdx_code give_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    (void)err;
    memcpy(values, ((lists *)context)->value + first, n * sizeof *values);
    memcpy(keys, ((lists *)context)->key + first, n * sizeof *keys);
    return HDX_OK;
}

/* Degrees are there; makes room for values and says whose each is. */
static void make_room(lists *l)
{
    uint64_t at = 0;
    for (uint64_t k = 0; k < l->keys; k++)
        l->values += l->degree[k];
    l->value = calloc(l->values + 1, sizeof *l->value);
    l->key = calloc(l->values + 1, sizeof *l->key);
    for (uint64_t k = 0; k < l->keys; k++)
        for (uint64_t i = 0; i < l->degree[k]; i++)
            l->key[at++] = k;
}
static void free_lists(lists *l)
{
    free(l->degree);
    free(l->value);
    free(l->key);
}

/* Runs of keys, of lengths and beginnings that meet pages in every way. */
static void runs_agree(const hdx_one_to_n *read, const lists *l)
{
    uint64_t degrees[1000], again[1000], values[1000], at = 0;
    for (uint64_t k = 0, n = 1; k < l->keys; k += n, n = n % 999 + 37) {
        n = n < l->keys - k ? n : l->keys - k;
        n = n < 1000 ? n : 1000;
        hdx_one_to_n_degrees(read, k, (uint32_t)n, degrees);
        hdx_one_to_n_firsts(read, k, (uint32_t)n, again, values);
        for (uint64_t i = 0; i < n; at += l->degree[k + i++])
            cr_assert(degrees[i] == l->degree[k + i] && again[i] == degrees[i] &&
                          values[i] == (degrees[i] == 0 ? 0 : l->value[at]),
                      "key %llu: %llu values, should be %llu; first %llu", (unsigned long long)(k + i),
                      (unsigned long long)degrees[i], (unsigned long long)l->degree[k + i],
                      (unsigned long long)values[i]);
    }
}

static void round_trip(lists *l, unsigned threads)
{
    test_place     t;
    hdx_index_file file;
    hdx_one_to_n  *read;
    hdx_error      err = { 0 };
    uint64_t       at = 0, first, length, *out = calloc(l->values + 1, sizeof *out);
    place_open(&t, threads);
    cr_assert(eq(int,
                 hdx_one_to_n_write(&t.place, HDX_KIND_OUTBOUND, l->keys, l->values, give_degrees, give_lists, l, &file,
                                    &err),
                 HDX_OK),
              "%s", err.message);
    cr_assert(eq(int, hdx_one_to_n_open(&t.place, HDX_KIND_OUTBOUND, &file, l->keys, 0, &t.note, &read, &err), HDX_OK),
              "%s", err.message);
    cr_assert(eq(u64, hdx_one_to_n_values(read), l->values));
    for (uint64_t k = 0; k < l->keys; k++) {
        hdx_one_to_n_list(read, k, &first, &length);
        cr_assert(first == at && length == l->degree[k], "key %llu: %llu + %llu, should be %llu + %llu",
                  (unsigned long long)k, (unsigned long long)first, (unsigned long long)length, (unsigned long long)at,
                  (unsigned long long)l->degree[k]);
        hdx_one_to_n_read(read, k, first, (uint32_t)length, out);
        cr_assert(length == 0 || memcmp(out, l->value + at, length * sizeof *out) == 0, "values of key %llu",
                  (unsigned long long)k);
        for (uint64_t i = 0; i < length; i += 1 + length / 5)
            cr_assert(hdx_one_to_n_get(read, k, first + i) == l->value[first + i]);
        at += length;
    }
    runs_agree(read, l);
    cr_assert(eq(int, hdx_note_check(&t.note, &err), HDX_OK), "%s", err.message);
    hdx_one_to_n_close(read);
    place_close(&t);
    free(out);
}

ParameterizedTestParameters(one_to_n, every_count_of_keys)
{
    static unsigned counts[] = { 0, 1, 2, 127, 128, 129, 255, 256, 257, 512, 16384, 16385 };
    return cr_make_param_array(unsigned, counts, sizeof counts / sizeof *counts);
}
ParameterizedTest(unsigned *count, one_to_n, every_count_of_keys)
{
    for (unsigned most = 0; most < 4; most++) {
        random_state d = { *count + most };
        lists        l = { .keys = *count, .degree = calloc(*count + 1, sizeof(uint64_t)) };
        for (unsigned k = 0; k < *count; k++)
            l.degree[k] = most == 3 ? 1 : below(&d, most + 1);
        make_room(&l);
        for (uint64_t i = 0; i < l.values; i++)
            l.value[i] = below(&d, *count);
        round_trip(&l, 2);
        free_lists(&l);
    }
}

Test(one_to_n, lists_of_a_million_among_short_ones)
{
    lists        l = { .keys = 700, .degree = calloc(700, sizeof(uint64_t)) };
    random_state d = { 7 };
    for (unsigned k = 0; k < 700; k++)
        l.degree[k] = k == 300 ? 1000000 : k == 301 ? 70000 : k % 3;
    make_room(&l);
    for (uint64_t i = 0, last = 0; i < l.values; i++)
        l.value[i] = last = i > 0 && l.key[i] == l.key[i - 1] ? last + 1 + below(&d, 9) : below(&d, 1000);
    round_trip(&l, 2);
    free_lists(&l);
}

ParameterizedTestParameters(one_to_n, every_width)
{
    static unsigned widths[65];
    for (unsigned w = 0; w <= 64; w++)
        widths[w] = w;
    return cr_make_param_array(unsigned, widths, 65);
}
ParameterizedTest(unsigned *width, one_to_n, every_width)
{
    uint64_t mask = hdx_pack_mask(*width);
    for (unsigned form = 0; form < 4; form++) {
        random_state d = { *width };
        lists        l = { .keys = 600, .degree = calloc(600, sizeof(uint64_t)) };
        for (unsigned k = 0; k < 600; k++)
            l.degree[k] = below(&d, 4);
        make_room(&l);
        for (uint64_t i = 0; i < l.values; i++) {
            uint64_t r = roll(&d);
            switch (form) {
            case 0: l.value[i] = r & mask; break;
            case 1: l.value[i] = l.key[i] + (r & mask); break;
            case 2: l.value[i] = (r & 3) == 0 ? l.key[i] + (r >> 8 & 31) - 16 : (1ull << 62) + (r & mask); break;
            default: l.value[i] = (r & 31) == 0 ? r & mask : (mask >> 1) + (r >> 20 & 255); break;
            }
        }
        round_trip(&l, 1);
        free_lists(&l);
    }
}

/* Degrees and values of shapes that lead to every form of page. */
static lists random_lists(random_state *d, uint64_t keys)
{
    lists l = { .keys = keys, .degree = calloc(keys + 1, sizeof(uint64_t)) };
    for (uint64_t k = 0, end; k < keys; k = end) {
        unsigned kind = (unsigned)below(d, 6), most = (unsigned)below(d, 12) + 1, odd = (unsigned)below(d, 30);
        end = k + 1 + below(d, 600);
        for (uint64_t i = k; i < end && i < keys; i++)
            l.degree[i] = kind == 0   ? most % 3
                          : kind == 1 ? below(d, most)
                          : kind == 2 ? (below(d, 100) < odd ? below(d, 50) : 1)
                          : kind == 3 ? i % most
                          : kind == 4 ? (below(d, 300) == 0 ? below(d, 3000) : 0)
                                      : (below(d, 100) < odd ? 0 : 2);
    }
    make_room(&l);
    for (uint64_t i = 0, end; i < l.values; i = end) {
        unsigned kind = (unsigned)below(d, 6), odd = (unsigned)below(d, 60), width = (unsigned)below(d, 30);
        uint64_t far = below(d, keys * 100 + 1), last = far;
        end = i + 1 + below(d, 700);
        for (uint64_t j = i; j < end && j < l.values; j++) {
            uint64_t r = roll(d) >> 8;
            l.value[j] = kind == 0   ? r % (keys + 1)
                         : kind == 1 ? l.key[j] + (r & 63)
                         : kind == 2 ? (below(d, 100) < odd ? far + (r & 4095) : l.key[j] + 100 - (r & 31))
                         : kind == 3 ? (below(d, 100) < odd ? r % (keys * 100 + 1) : far + (r & hdx_pack_mask(width)))
                         : kind == 4 ? (last += r & 15)
                                     : far;
        }
    }
    return l;
}

Test(one_to_n, gives_back_random_lists)
{
    random_state d = random_state_new("one_to_n");
    for (unsigned round = 0; round < 12; round++) {
        lists l = random_lists(&d, 1 + below(&d, 20000));
        round_trip(&l, 1 + round % 3);
        free_lists(&l);
    }
}

Test(one_to_n, bytes_do_not_depend_on_threads)
{
    random_state d = random_state_new("one_to_n threads");
    lists        l = random_lists(&d, 100000);
    unsigned     threads[] = { 1, 2, 8 };
    uint8_t     *bytes[3];
    size_t       len[3];
    for (unsigned i = 0; i < 3; i++) {
        test_place     t;
        hdx_index_file file;
        place_open(&t, threads[i]);
        cr_assert(eq(
            int,
            hdx_one_to_n_write(&t.place, HDX_KIND_INBOUND, l.keys, l.values, give_degrees, give_lists, &l, &file, NULL),
            HDX_OK));
        bytes[i] = place_bytes(&t, HDX_KIND_INBOUND, &len[i]);
        cr_assert(i == 0 || (len[i] == len[0] && memcmp(bytes[i], bytes[0], len[0]) == 0));
        place_close(&t);
    }
    for (unsigned i = 0; i < 3; i++)
        free(bytes[i]);
    free_lists(&l);
}

Test(one_to_n, another_number_of_values_than_announced_is_refused)
{
    test_place     t;
    hdx_index_file file;
    uint64_t       degree[] = { 1, 2 }, value[] = { 0, 0, 0, 0 }, key[] = { 0, 1, 1, 1 };
    lists          l = { 2, 4, degree, value, key };
    place_open(&t, 1);
    cr_expect(eq(int, hdx_one_to_n_write(&t.place, HDX_KIND_OUTBOUND, 2, 4, give_degrees, give_lists, &l, &file, NULL),
                 HDX_USAGE));
    place_close(&t);
}

/* ---- written in parts ---- */

typedef struct part {
    lists   *all;
    uint64_t first, end;
} part;
static hdx_code degrees_of_part(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    const part *p = context;
    if (first < p->first || first + n > p->end)
        return hdx_fail(err, HDX_BAD_DUMP, "", first, "asked for what is not of this part");
    return give_degrees(p->all, first, n, degrees, err);
}
static hdx_code values_of_part(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys,
                               hdx_error *err)
{
    const part *p = context;
    if (first < p->first || first + n > p->end)
        return hdx_fail(err, HDX_BAD_DUMP, "", first, "asked for what is not of this part");
    return give_lists(p->all, first, n, values, keys, err);
}

/* Up to `most` times HDX_PART at a time; keys and values of the announced numbers, or fewer or more. */
static hdx_code write_in_parts(test_place *t, lists *l, unsigned most, uint64_t keys, uint64_t values,
                               hdx_index_file *file, hdx_error *err)
{
    hdx_one_to_n_writer *w;
    hdx_code             code = hdx_one_to_n_begin(&t->place, HDX_KIND_INBOUND, l->keys, l->values, &w, err);
    uint64_t             turn = 0;
    for (part p = { l, 0, 0 }; p.end < keys && code == HDX_OK; p.first = p.end) {
        const uint64_t want = (1 + turn++ % most) * HDX_PART;
        p.end = keys - p.first < want ? keys : p.first + want;
        code = hdx_one_to_n_append_degrees(w, p.end - p.first, degrees_of_part, &p, err);
    }
    for (part p = { l, 0, 0 }; p.end < values && code == HDX_OK; p.first = p.end) {
        const uint64_t want = (1 + turn++ % most) * HDX_PART;
        p.end = values - p.first < want ? values : p.first + want;
        code = hdx_one_to_n_append_values(w, p.end - p.first, values_of_part, &p, err);
    }
    if (code == HDX_OK)
        return hdx_one_to_n_end(w, file, err);
    hdx_one_to_n_abandon(w);
    return code;
}

static void parts_agree(lists *l, const char *what)
{
    test_place     t;
    hdx_index_file whole, file;
    size_t         len, len_parts;
    place_open(&t, 1);
    cr_assert(eq(
        int,
        hdx_one_to_n_write(&t.place, HDX_KIND_INBOUND, l->keys, l->values, give_degrees, give_lists, l, &whole, NULL),
        HDX_OK));
    uint8_t *bytes = place_bytes(&t, HDX_KIND_INBOUND, &len);
    place_close(&t);
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (unsigned most = 1; most <= 5; most += 4) {
            hdx_error err = { 0 };
            place_open(&t, threads);
            cr_assert(eq(int, write_in_parts(&t, l, most, l->keys, l->values, &file, &err), HDX_OK), "%s: %s", what,
                      err.message);
            uint8_t *parts = place_bytes(&t, HDX_KIND_INBOUND, &len_parts);
            cr_expect(len_parts == len && memcmp(parts, bytes, len) == 0, "%s, parts of up to %u, %u threads", what,
                      most, threads);
            cr_expect(file.bytes == whole.bytes && file.sum == whole.sum);
            free(parts);
            place_close(&t);
        }
    free(bytes);
}

Test(one_to_n_parts, give_the_bytes_of_one_write)
{
    const uint64_t keys[] = { 1, HDX_PART - 1, HDX_PART, HDX_PART + 1, 7 * HDX_PART + 77, 10 * HDX_PART };
    for (unsigned i = 0; i < 6; i++) {
        random_state d = { i };
        char         what[64];
        lists        l = random_lists(&d, keys[i]);
        (void)snprintf(what, sizeof what, "%llu keys", (unsigned long long)keys[i]);
        parts_agree(&l, what);
        free_lists(&l);
    }
}

Test(one_to_n_parts, of_no_keys_or_no_values_give_the_bytes_of_one_write)
{
    lists none = { .degree = calloc(1, 8) }, empty = { .keys = 3 * HDX_PART, .degree = calloc(3 * HDX_PART, 8) };
    lists one = { .keys = 1, .degree = calloc(1, 8) };
    make_room(&none);
    make_room(&empty);
    one.degree[0] = 5 * HDX_PART;
    make_room(&one);
    for (uint64_t i = 0; i < one.values; i++)
        one.value[i] = 3 * i;
    parts_agree(&none, "nothing");
    parts_agree(&empty, "empty lists");
    parts_agree(&one, "one list");
    free_lists(&none);
    free_lists(&empty);
    free_lists(&one);
}

Test(one_to_n_parts, abandoned_leave_no_file)
{
    random_state d = { 8 };
    lists        l = random_lists(&d, 3 * HDX_PART);
    char         path[128];
    for (unsigned at = 0; at <= 4; at++) {
        test_place           t;
        hdx_one_to_n_writer *w;
        part                 keys = { &l, 0, l.keys }, values = { &l, 0, l.values };
        place_open(&t, 2);
        place_path(&t, HDX_KIND_INBOUND, path);
        cr_assert(eq(int, hdx_one_to_n_begin(&t.place, HDX_KIND_INBOUND, l.keys, l.values, &w, NULL), HDX_OK));
        cr_expect(access(path, F_OK) == 0);
        if (at > 0)
            cr_assert(eq(int, hdx_one_to_n_append_degrees(w, HDX_PART, degrees_of_part, &keys, NULL), HDX_OK));
        if (at > 1)
            cr_assert(eq(int, hdx_one_to_n_append_degrees(w, 2 * HDX_PART, degrees_of_part, &keys, NULL), HDX_OK));
        if (at > 2)
            cr_assert(eq(int, hdx_one_to_n_append_values(w, HDX_PART, values_of_part, &values, NULL), HDX_OK));
        if (at > 3)
            cr_assert(
                eq(int, hdx_one_to_n_append_values(w, l.values - HDX_PART, values_of_part, &values, NULL), HDX_OK));
        hdx_one_to_n_abandon(w);
        hdx_one_to_n_abandon(NULL);
        cr_expect(access(path, F_OK) != 0, "at %u", at);
        place_close(&t);
    }
    free_lists(&l);
}

/* Wrong sums of degrees; fewer or more keys or values than announced. */
Test(one_to_n_parts, other_numbers_than_announced_are_refused)
{
    lists l = { .keys = 2 * HDX_PART, .degree = calloc(4 * HDX_PART, 8) };
    for (unsigned k = 0; k < 4 * HDX_PART; k++)
        l.degree[k] = k < 2 * HDX_PART; /* more keys have no values */
    make_room(&l);
    l.value = realloc(l.value, 8 * 8 * HDX_PART);
    l.key = realloc(l.key, 8 * 8 * HDX_PART);
    memset(l.value + 2 * HDX_PART, 0, 8 * 6 * HDX_PART);
    memset(l.key + 2 * HDX_PART, 0, 8 * 6 * HDX_PART);
    const struct {
        uint64_t    keys, values, announced;
        bool        fine;
        const char *what;
    } cases[] = {
        { 2, 2, 2, true, "all" },
        { 2, 2, 1, false, "more values than announced" },
        { 2, 2, 3, false, "fewer values than announced" },
        { 1, 1, 1, false, "fewer keys" },
        { 3, 2, 2, false, "more keys" },
        { 2, 1, 2, false, "fewer values than lists hold" },
        { 2, 0, 2, false, "no values" },
        { 2, 3, 2, false, "more values than lists hold" },
        { 0, 0, 2, false, "nothing" },
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_place     t;
        hdx_index_file file;
        hdx_error      err = { 0 };
        char           path[128];
        place_open(&t, 2);
        place_path(&t, HDX_KIND_INBOUND, path);
        l.values = cases[i].announced * HDX_PART;
        const hdx_code code =
            write_in_parts(&t, &l, 1, cases[i].keys * HDX_PART, cases[i].values * HDX_PART, &file, &err);
        cr_expect(eq(int, code, cases[i].fine ? HDX_OK : HDX_USAGE), "%s", cases[i].what);
        cr_expect(there(path) == cases[i].fine, "%s", cases[i].what);
        place_close(&t);
    }
    free_lists(&l);
}

/* Every request for memory refused once, every call of the file door failing once. */
Test(one_to_n_parts, return_an_error_and_leak_nothing_at_every_refusal)
{
    random_state d = { 12 };
    lists        l = random_lists(&d, 3 * HDX_PART + 5);
    for (unsigned door = 0; door < 2; door++) {
        bool fired = true;
        for (unsigned at = 1; fired; at++) {
            test_place     t;
            hdx_index_file file;
            faulty_mem     refuses;
            faulty_io      fails;
            hdx_error      err = { 0 };
            char           path[128];
            place_open(&t, 2);
            place_path(&t, HDX_KIND_INBOUND, path);
            if (door == 0)
                faulty_mem_init(&refuses, &t.mem, at);
            else {
                faulty_io_init(&fails, at, ENOSPC, true);
                t.place.io = &fails.io;
            }
            const hdx_code code = write_in_parts(&t, &l, 2, l.keys, l.values, &file, &err);
            fired = door == 0 ? faulty_mem_fired(&refuses) : faulty_io_fired(&fails);
            cr_expect(eq(int, code, !fired ? HDX_OK : door == 0 ? HDX_LIMIT : HDX_IO), "at %u: %s", at, err.message);
            cr_expect(there(path) == !fired, "at %u", at);
            t.place.io = hdx_io_system();
            place_close(&t);
            cr_assert(at < 300);
        }
    }
    free_lists(&l);
}

static bool cancel_when(void *context)
{
    _Atomic int *left = context;
    return atomic_fetch_sub(left, 1) == 0;
}
Test(one_to_n_parts, stop_when_cancelled_and_count_keys_and_values)
{
    random_state d = { 13 };
    lists        l = random_lists(&d, 2 * HDX_PART);
    hdx_code     code = HDX_CANCELLED;
    for (int at = 0; code != HDX_OK; at++) {
        test_place     t;
        hdx_index_file file;
        hdx_ticker     tick;
        _Atomic int    left = at;
        hdx_progress   progress = { .context = &left, .cancelled = cancel_when };
        place_open(&t, 1);
        hdx_ticker_init(&tick, &progress, 1);
        t.place.tick = &tick;
        code = write_in_parts(&t, &l, 2, l.keys, l.values, &file, NULL);
        cr_expect(code == HDX_CANCELLED || (code == HDX_OK && at >= 3));
        if (code == HDX_OK)
            cr_expect(eq(u64, tick.done, l.keys + l.values));
        hdx_ticker_free(&tick);
        place_close(&t);
        cr_assert(at < 200);
    }
    free_lists(&l);
}

Test(one_to_n, forgotten_are_read_again)
{
    random_state   d = { 14 };
    lists          l = random_lists(&d, 20000);
    test_place     t;
    hdx_index_file file;
    hdx_one_to_n  *read;
    place_open(&t, 1);
    cr_assert(
        eq(int,
           hdx_one_to_n_write(&t.place, HDX_KIND_INBOUND, l.keys, l.values, give_degrees, give_lists, &l, &file, NULL),
           HDX_OK));
    cr_assert(eq(int, hdx_one_to_n_open(&t.place, HDX_KIND_INBOUND, &file, l.keys, 0, &t.note, &read, NULL), HDX_OK));
    for (unsigned round = 0; round < 3; round++) {
        hdx_one_to_n_forget(read);
        runs_agree(read, &l);
    }
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_OK));
    hdx_one_to_n_close(read);
    free_lists(&l);
    place_close(&t);
}

Test(one_to_n, a_value_beyond_the_bound_is_damage)
{
    test_place     t;
    hdx_index_file file;
    hdx_one_to_n  *read;
    uint64_t       degree[] = { 1, 2 }, value[] = { 4, 5, 9 }, key[] = { 0, 1, 1 }, first, length, degrees[2];
    lists          l = { 2, 3, degree, value, key };
    place_open(&t, 1);
    cr_assert(eq(int, hdx_one_to_n_write(&t.place, HDX_KIND_OUTBOUND, 2, 3, give_degrees, give_lists, &l, &file, NULL),
                 HDX_OK));
    cr_assert(eq(int, hdx_one_to_n_open(&t.place, HDX_KIND_OUTBOUND, &file, 2, 9, &t.note, &read, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_one_to_n_get(read, 1, 1), 5));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_one_to_n_get(read, 1, 2), 0));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    place_clear(&t);
    hdx_one_to_n_degrees(read, 1, 2, degrees);
    cr_expect(degrees[0] == 0 && degrees[1] == 0);
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    place_clear(&t);
    hdx_one_to_n_list(read, 2, &first, &length);
    cr_expect(eq(u64, length, 0));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    hdx_one_to_n_close(read);
    place_close(&t);
}

/* one_to_n/README.md: the worked examples, byte for byte. */
static void text_of(const uint8_t *bytes, uint32_t used, char *text)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < used; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}
/* A line as it is written, found again key by key, and decoded from every key on; what it has no room for. */
static void line_is(const uint64_t *degrees, unsigned n, uint64_t first, const char *hex, const char *page_hex)
{
    uint8_t  line[HDX_LINE + 8], page[HDX_PAGE_BYTES];
    char     text[2 * HDX_PAGE_BYTES + 1];
    uint32_t used;
    uint64_t sum, at = 0, from, to, before, again[HDX_LINE_KEYS];
    memset(line, 0xa5, sizeof line);
    cr_assert(eq(int, hdx_offsets_encode(degrees, n, first, line, page, 77, &used, &sum, NULL), HDX_OK));
    text_of(page, used, text);
    cr_expect(eq(str, text, (char *)(uintptr_t)page_hex));
    text_of(line, HDX_LINE, text);
    cr_expect(hex == NULL || strcmp(text, hex) == 0, "%s", text);
    const hdx_offsets o = { hdx_le64(line), line, used > 0 ? page : NULL, used };
    cr_expect(eq(u64, hdx_offsets_first(&o), first));
    cr_expect(hdx_offsets_are_far(&o) == (used > 0));
    for (unsigned k = 0; k < n; at += degrees[k++]) {
        cr_assert(hdx_offsets_find(&o, k, &from, &to));
        cr_assert(from == at && to == at + degrees[k], "key %u: %llu to %llu", k, (unsigned long long)from,
                  (unsigned long long)to);
        for (unsigned end = k + 1; end <= n; end += 1 + (n - end) / 3) {
            cr_assert(hdx_offsets_decode(&o, k, end - k, &before, again));
            cr_assert(before == at && memcmp(again, degrees + k, (end - k) * sizeof *again) == 0, "keys %u to %u", k,
                      end);
        }
    }
    cr_expect(eq(u64, sum, at));
}
Test(offsets_line, is_as_in_the_readme)
{
    uint64_t some[] = { 2, 0, 1, 12, 3, 7, 9 }, many[HDX_LINE_KEYS];
    line_is(some, 7, 1000,
            "e803000000000300"
            "ed01000000000000" /* w 3; sums 5, 5, 7 */
            "7c000000000000000000000000000000"
            "79000000000000000000000000000000"
            "68000000000000000000000000000000",
            "");
    for (unsigned k = 0; k < HDX_LINE_KEYS; k++)
        many[k] = k < 20 ? 8 : 1;
    line_is(many, HDX_LINE_KEYS, 3,
            "0300000000000580"
            "4d00000000"
            "0d0000" /* w 5, far: at byte 77, 13 bytes */
            "ffffffffffffffffffffffffffffffff"
            "ffff0f00000000000000000000000000"
            "ffff0f00000000000000000000000000",
            "410c52cc41492dd6dc83514e0a");
}
/* 64 bits of sums are in the line, 72 are not. */
Test(offsets_line, has_its_sums_where_they_fit)
{
    uint64_t lists[9];
    for (unsigned k = 0; k < 9; k++)
        lists[k] = 7 + 20;
    line_is(lists, 8, 0,
            "0000000000000800"
            "14283c5064788ca0" /* w 8 */
            "ff000000000000000000000000000000"
            "ff000000000000000000000000000000"
            "ff000000000000000000000000000000",
            "");
    line_is(lists, 9, 0, NULL, "14283c5064788ca0b4");
}
Test(offsets_line, of_any_lengths_are_found_again)
{
    random_state d = random_state_new("offsets_line");
    uint64_t     degrees[HDX_LINE_KEYS];
    uint8_t      line[HDX_LINE + 8], page[HDX_PAGE_BYTES];
    char         text[2 * HDX_PAGE_BYTES + 1];
    uint32_t     used;
    uint64_t     sum;
    for (unsigned round = 0; round < 400; round++) {
        const unsigned n = 1 + (unsigned)below(&d, HDX_LINE_KEYS), odd = (unsigned)below(&d, 100),
                       wide = (unsigned)below(&d, 40);
        for (unsigned k = 0; k < n; k++)
            degrees[k] = below(&d, 100) < odd ? below(&d, 1ull << wide) + 1 : below(&d, 8);
        const uint64_t first = below(&d, 1ull << 40);
        cr_assert(eq(int, hdx_offsets_encode(degrees, n, first, line, page, 77, &used, &sum, NULL), HDX_OK));
        cr_assert(used <= HDX_PAGE_BYTES / 2 - 8);
        text_of(page, used, text);
        line_is(degrees, n, first, NULL, text);
    }
}
Test(offsets_line, more_than_2_to_the_48_values_are_refused)
{
    uint64_t  degrees[] = { HDX_LISTED_MAX - 1, 1, 1, UINT64_MAX }, sum;
    uint8_t   line[HDX_LINE + 8], page[HDX_PAGE_BYTES];
    uint32_t  used;
    hdx_error err = { 0 };
    line_is(degrees, 2, 0, NULL, "");
    cr_expect(eq(int, hdx_offsets_encode(degrees, 3, 0, line, page, 0, &used, &sum, &err), HDX_LIMIT));
    cr_expect(strstr(err.message, "2^48") != NULL);
    cr_expect(eq(int, hdx_offsets_encode(degrees, 4, 0, line, page, 0, &used, &sum, &err), HDX_LIMIT));
    test_place           t;
    hdx_one_to_n_writer *w;
    char                 path[128];
    place_open(&t, 1);
    place_path(&t, HDX_KIND_INBOUND, path);
    cr_expect(eq(int, hdx_one_to_n_begin(&t.place, HDX_KIND_INBOUND, 1, HDX_LISTED_MAX + 1, &w, &err), HDX_LIMIT));
    cr_expect(w == NULL && !there(path));
    place_close(&t);
}
/* Sums that are said to stand in section 1, and do not, or not all. */
Test(offsets_line, whose_sums_are_missing_gives_nothing)
{
    uint64_t degrees[HDX_LINE_KEYS], sum, from, to, again[HDX_LINE_KEYS];
    uint8_t  line[HDX_LINE + 8] = { 0 }, page[HDX_PAGE_BYTES] = { 0 };
    uint32_t used;
    for (unsigned k = 0; k < HDX_LINE_KEYS; k++)
        degrees[k] = 7 + k;
    cr_assert(eq(int, hdx_offsets_encode(degrees, HDX_LINE_KEYS, 0, line, page, 0, &used, &sum, NULL), HDX_OK));
    cr_assert(eq(u32, used, HDX_LINE_KEYS * 13 / 8));
    hdx_offsets o = { hdx_le64(line), line, NULL, 0 };
    cr_expect(not(hdx_offsets_find(&o, 0, &from, &to)));
    cr_expect(not(hdx_offsets_decode(&o, 0, 1, &from, again)));
    o.page = page;
    o.page_bytes = used - 1;
    cr_expect(hdx_offsets_find(&o, HDX_LINE_KEYS - 2, &from, &to) && to - from == 7 + HDX_LINE_KEYS - 2);
    cr_expect(not(hdx_offsets_find(&o, HDX_LINE_KEYS - 1, &from, &to)));
    cr_expect(not(hdx_offsets_decode(&o, 3, HDX_LINE_KEYS - 3, &from, again)));
    o.page_bytes = used;
    o.head |= 63ull << 48; /* no such width */
    cr_expect(not(hdx_offsets_find(&o, 5, &from, &to)));
}
static void values_are(const uint64_t *v, const uint64_t *keys, unsigned n, uint64_t first, uint64_t second,
                       const char *hex)
{
    uint8_t  out[HDX_PAGE_BYTES];
    char     text[2 * HDX_PAGE_BYTES + 1];
    uint64_t a, b, one, greatest;
    uint32_t used = hdx_values_encode(v, keys, n, out, &a, &b);
    text_of(out, used, text);
    cr_expect(eq(u64, a, first));
    cr_expect(eq(u64, b, second));
    cr_expect(eq(str, text, (char *)(uintptr_t)hex));
    hdx_page page = { a, b, out, used };
    for (unsigned k = 0; k < n; k++)
        cr_expect(hdx_values_decode(&page, n, keys[k], k, 1, &one, &greatest) && one == v[k] && greatest == one);
}
Test(values_page, forms_as_in_the_readme)
{
    uint64_t v[64], keys[64];
    values_are((uint64_t[]){ 9, 8, 11 }, (uint64_t[]){ 0, 50, 90 }, 3, 8, 2ull << 40, "31");
    values_are((uint64_t[]){ 1001, 2003, 3002 }, (uint64_t[]){ 1000, 2000, 3000 }, 3, 1, 2ull << 40 | 1ull << 61, "18");
    for (unsigned i = 0; i < 8; i++) {
        keys[i] = 100 + 10 * i;
        v[i] = i == 2 || i == 5 ? 70000 + i : keys[i] + 1;
    }
    values_are(v, keys, 8, 70002, 2ull << 40 | 2ull << 47 | 2ull << 61,
               "24"
               "aa0a"
               "0c");
    for (unsigned i = 0; i < 32; i++) {
        keys[i] = i * 1000;
        v[i] = i == 7 ? 3 : i == 20 ? 9999999 : 1000000 + (i * 5 & 7);
    }
    values_are(v, keys, 32, 1000000, 4ull << 40 | 3ull << 61,
               "02"
               "507214f65072143650721f3650721436"
               "18"
               "0714"
               "3d420f000000"
               "7c9698");
    for (unsigned i = 0; i < 16; i++) {
        keys[i] = 3;
        v[i] = 500 + 10 * i + (i & 1);
    }
    values_are(v, keys, 16, 500, 3ull << 40 | 4ull << 61,
               "0500"
               "188ff1188ff1"
               "55aa54a902");
}
