/* test_ints.c - numbers written and read back, whatever their distribution. */
#include "tests/indexes/place.h"
#include "indexes/ints/ints.h"
#include "support/faulty.h"

#include <criterion/parameterized.h>
#include <errno.h>

static void round_trip(const uint64_t *v, uint64_t n, unsigned threads)
{
    test_place     t;
    hdx_index_file file;
    hdx_ints      *ints;
    hdx_error      err = { 0 };
    place_open(&t, threads);
    cr_assert(
        eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, n, fill_from, (void *)(uintptr_t)v, &file, &err), HDX_OK),
        "%s", err.message);
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, n, 0, &t.note, &ints, &err), HDX_OK), "%s",
              err.message);
    uint64_t *back = calloc(n + 1, sizeof *back);
    for (uint64_t i = 0; i < n; i++)
        cr_assert(hdx_ints_get(ints, i) == v[i], "value %llu: %llx, should be %llx", (unsigned long long)i,
                  (unsigned long long)hdx_ints_get(ints, i), (unsigned long long)v[i]);
    hdx_ints_read(ints, 0, (uint32_t)n, back);
    cr_assert(n == 0 || memcmp(back, v, n * sizeof *back) == 0);
    for (uint64_t from = 0; from < n; from += 1 + n / 7) {
        uint32_t part = (uint32_t)(n - from < 300 ? n - from : 300);
        memset(back, 0, part * sizeof *back);
        hdx_ints_read(ints, from, part, back);
        cr_assert(memcmp(back, v + from, part * sizeof *back) == 0);
    }
    cr_assert(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
    free(back);
    hdx_ints_close(ints);
    place_close(&t);
}

ParameterizedTestParameters(ints, every_width)
{
    static unsigned widths[65];
    for (unsigned w = 0; w <= 64; w++)
        widths[w] = w;
    return cr_make_param_array(unsigned, widths, 65);
}
ParameterizedTest(unsigned *width, ints, every_width)
{
    random_state d = { *width + 1 };
    uint64_t     v[700], mask = hdx_pack_mask(*width);
    for (unsigned i = 0; i < 700; i++)
        v[i] = (roll(&d) & mask) + (*width < 60 ? 1000 : 0);
    v[1] = mask + (*width < 60 ? 1000 : 0);
    v[2] = *width < 60 ? 1000 : 0;
    round_trip(v, 700, 1);
}

ParameterizedTestParameters(ints, every_count)
{
    static unsigned counts[] = { 0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 511, 512, 513, 16383, 16384, 16385, 40000 };
    return cr_make_param_array(unsigned, counts, sizeof counts / sizeof *counts);
}
ParameterizedTest(unsigned *count, ints, every_count)
{
    random_state d = { *count };
    uint64_t    *v = calloc(*count + 1, sizeof *v);
    for (unsigned i = 0; i < *count; i++)
        v[i] = below(&d, 1000) * 8;
    round_trip(v, *count, 2);
    free(v);
}

/* Shapes that lead to every form of page, mixed page by page. */
static void shape(random_state *d, uint64_t *v, unsigned n)
{
    uint64_t base = roll(d) >> below(d, 64), step = below(d, 3) == 0 ? below(d, 1u << 20) : below(d, 100),
             odd = below(d, 40);
    unsigned width = (unsigned)below(d, 65), kind = (unsigned)below(d, 8), shift = (unsigned)below(d, 10);
    for (unsigned i = 0; i < n; i++)
        switch (kind) {
        case 0: v[i] = base; break;
        case 1: v[i] = base + (roll(d) & hdx_pack_mask(width)); break;
        case 2: v[i] = base + step * i + below(d, step / 4 + 1); break;
        case 3: v[i] = base + ((roll(d) & 15) << shift) + (below(d, 100) < odd ? roll(d) >> 30 : 0); break;
        case 4: v[i] = below(d, 100) < odd ? roll(d) >> below(d, 64) : (1ull << 40) + below(d, 1000); break;
        case 5: v[i] = below(d, 100) < odd ? UINT64_MAX - below(d, 3) : below(d, 2); break;
        case 6: v[i] = i == 0 ? base : v[i - 1] + below(d, 64) * below(d, 64); break;
        default: v[i] = base - step * i; break;
        }
}

Test(ints, gives_back_mixed_shapes)
{
    random_state d = random_state_new("ints");
    unsigned     n = 60000;
    uint64_t    *v = calloc(n, sizeof *v);
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned at = 0, part; at < n; at += part) {
            part = round % 2 == 0 ? 256 : 1 + (unsigned)below(&d, 400);
            part = part > n - at ? n - at : part;
            shape(&d, v + at, part);
        }
        round_trip(v, n - round, 1 + round % 3);
    }
    free(v);
}

Test(ints, bytes_do_not_depend_on_threads)
{
    random_state d = random_state_new("ints threads");
    unsigned     n = 300001, threads[] = { 1, 2, 8 };
    uint64_t    *v = calloc(n, sizeof *v);
    uint8_t     *bytes[3];
    size_t       len[3];
    for (unsigned at = 0; at < n; at += 300)
        shape(&d, v + at, n - at < 300 ? n - at : 300);
    for (unsigned i = 0; i < 3; i++) {
        test_place     t;
        hdx_index_file file;
        place_open(&t, threads[i]);
        cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_RETAINED, n, fill_from, v, &file, NULL), HDX_OK));
        bytes[i] = place_bytes(&t, HDX_KIND_RETAINED, &len[i]);
        cr_expect(eq(u64, len[i], file.bytes));
        cr_assert(i == 0 || (len[i] == len[0] && memcmp(bytes[i], bytes[0], len[0]) == 0));
        place_close(&t);
    }
    for (unsigned i = 0; i < 3; i++)
        free(bytes[i]);
    free(v);
}

Test(ints, a_value_beyond_the_bound_is_damage)
{
    uint64_t       v[300], out[300];
    test_place     t;
    hdx_index_file file;
    hdx_ints      *ints;
    hdx_error      err;
    for (unsigned i = 0; i < 300; i++)
        v[i] = i;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, 300, fill_from, v, &file, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, 300, 299, &t.note, &ints, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(ints, 298), 298));
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(ints, 299), 0));
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.where, "class.hdx"));
    cr_expect(strstr(err.hint, "heapdex index --force") != NULL);
    place_clear(&t);
    hdx_ints_read(ints, 0, 300, out);
    cr_expect(eq(u64, out[299], 0));
    cr_expect(eq(u64, out[255], 255));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    place_clear(&t);
    cr_expect(eq(u64, hdx_ints_get(ints, 300), 0));
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_DAMAGED));
    hdx_ints_close(ints);
    place_close(&t);
}

static hdx_code fails_at(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    memset(values, 0, n * sizeof *values);
    return first <= *(uint64_t *)context && *(uint64_t *)context < first + n
               ? hdx_fail(err, HDX_BAD_DUMP, "x", first, "here")
               : HDX_OK;
}
Test(ints, an_error_of_fill_comes_back_and_no_file_stays)
{
    test_place     t;
    hdx_index_file file;
    hdx_error      err;
    uint64_t       at = 500000;
    char           path[128];
    place_open(&t, 2);
    cr_expect(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, 1000000, fails_at, &at, &file, &err), HDX_BAD_DUMP));
    cr_expect(eq(str, err.message, "here"));
    place_path(&t, HDX_KIND_CLASS, path);
    cr_expect(access(path, F_OK) != 0);
    place_close(&t);
}

/* ---- written in parts ---- */

typedef struct part { /* fill is told numbers in the file, of the part at hand alone */
    const uint64_t *all;
    uint64_t        first, end;
} part;
static hdx_code fill_part(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    const part *p = context;
    if (first < p->first || first + n > p->end)
        return hdx_fail(err, HDX_USAGE, "", first, "asked for what is not of this part");
    memcpy(values, p->all + first, n * sizeof *values);
    return HDX_OK;
}

/* Parts of so many times HDX_PART, the least in turn; 0: all at once. */
static hdx_code write_in_parts(test_place *t, const uint64_t *v, uint64_t n, unsigned most, hdx_index_file *file,
                               hdx_error *err)
{
    hdx_ints_writer *w;
    hdx_code         code = hdx_ints_begin(&t->place, HDX_KIND_RETAINED, n, &w, err);
    uint64_t         turn = 0;
    for (part p = { v, 0, 0 }; p.end < n && code == HDX_OK; p.first = p.end) {
        const uint64_t want = (1 + turn++ % most) * HDX_PART;
        p.end = n - p.first < want ? n : p.first + want;
        code = hdx_ints_append(w, p.end - p.first, fill_part, &p, err);
    }
    if (code == HDX_OK)
        return hdx_ints_end(w, file, err);
    hdx_ints_abandon(w);
    return code;
}

ParameterizedTestParameters(ints_parts, give_the_bytes_of_one_write)
{
    static unsigned counts[] = {
        0, 1, HDX_PART - 1, HDX_PART, HDX_PART + 1, 4 * HDX_PART, 11 * HDX_PART + 777, 20 * HDX_PART
    };
    return cr_make_param_array(unsigned, counts, sizeof counts / sizeof *counts);
}
ParameterizedTest(unsigned *count, ints_parts, give_the_bytes_of_one_write)
{
    random_state   d = { *count + 5 };
    uint64_t      *v = calloc(*count + 1ull, sizeof *v);
    test_place     t;
    hdx_index_file whole, file;
    size_t         len, len_parts;
    for (unsigned at = 0; at < *count; at += 300)
        shape(&d, v + at, *count - at < 300 ? *count - at : 300);
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_RETAINED, *count, fill_from, v, &whole, NULL), HDX_OK));
    uint8_t *bytes = place_bytes(&t, HDX_KIND_RETAINED, &len);
    place_close(&t);
    for (unsigned threads = 1; threads <= 3; threads += 2)
        for (unsigned most = 1; most <= 5; most += 4) {
            hdx_error err = { 0 };
            place_open(&t, threads);
            cr_assert(eq(int, write_in_parts(&t, v, *count, most, &file, &err), HDX_OK), "%s", err.message);
            uint8_t *parts = place_bytes(&t, HDX_KIND_RETAINED, &len_parts);
            cr_expect(len_parts == len && memcmp(parts, bytes, len) == 0, "%u values, parts of up to %u, %u threads",
                      *count, most, threads);
            cr_expect(file.bytes == whole.bytes && file.sum == whole.sum);
            free(parts);
            place_close(&t);
        }
    free(bytes);
    free(v);
}

Test(ints_parts, of_nothing_change_nothing)
{
    uint64_t         v[100] = { 1, 2, 3 };
    part             p = { v, 0, 100 };
    test_place       t;
    hdx_index_file   whole, file;
    hdx_ints_writer *w;
    place_open(&t, 2);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_RETAINED, 100, fill_from, v, &whole, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_RETAINED, 100, &w, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_append(w, 0, fill_part, &p, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_append(w, 100, fill_part, &p, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_end(w, &file, NULL), HDX_OK));
    cr_expect(file.bytes == whole.bytes && file.sum == whole.sum);
    place_close(&t);
}

Test(ints_parts, behind_one_that_is_not_whole_are_refused)
{
    uint64_t        *v = calloc(2 * HDX_PART, sizeof *v);
    part             p = { v, 0, 2 * HDX_PART };
    test_place       t;
    hdx_index_file   file;
    hdx_ints_writer *w;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_RETAINED, HDX_PART + 100, &w, NULL), HDX_OK));
    hdx_code code = hdx_ints_append(w, 100, fill_part, &p, NULL);
    if (code == HDX_OK)
        code = hdx_ints_append(w, HDX_PART, fill_part, &p, NULL);
    if (code == HDX_OK)
        code = hdx_ints_end(w, &file, NULL);
    else
        hdx_ints_abandon(w);
    cr_expect(eq(int, code, HDX_USAGE));
    place_close(&t);
    free(v);
}

Test(ints_parts, abandoned_leave_no_file)
{
    uint64_t *v = calloc(2 * HDX_PART, sizeof *v);
    for (unsigned parts = 0; parts <= 2; parts++) {
        test_place       t;
        hdx_ints_writer *w;
        char             path[128];
        part             p = { v, 0, 2 * HDX_PART };
        place_open(&t, 2);
        place_path(&t, HDX_KIND_RETAINED, path);
        cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_RETAINED, 2 * HDX_PART, &w, NULL), HDX_OK));
        cr_expect(access(path, F_OK) == 0);
        for (unsigned i = 0; i < parts; i++)
            cr_assert(eq(int, hdx_ints_append(w, HDX_PART, fill_part, &p, NULL), HDX_OK));
        hdx_ints_abandon(w);
        cr_expect(access(path, F_OK) != 0, "after %u parts", parts);
        hdx_ints_abandon(NULL);
        place_close(&t);
    }
    free(v);
}

Test(ints_parts, fewer_or_more_values_than_announced_are_refused)
{
    uint64_t *v = calloc(4 * HDX_PART, sizeof *v);
    for (unsigned parts = 0; parts <= 4; parts++) {
        test_place       t;
        hdx_index_file   file;
        hdx_ints_writer *w;
        hdx_error        err = { 0 };
        hdx_code         code = HDX_OK;
        char             path[128];
        place_open(&t, 1);
        place_path(&t, HDX_KIND_RETAINED, path);
        cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_RETAINED, 2 * HDX_PART, &w, NULL), HDX_OK));
        for (part p = { v, 0, HDX_PART }; p.end <= (uint64_t)parts * HDX_PART && code == HDX_OK;
             p.first += HDX_PART, p.end += HDX_PART)
            code = hdx_ints_append(w, HDX_PART, fill_part, &p, &err);
        if (code == HDX_OK)
            code = hdx_ints_end(w, &file, &err);
        else
            hdx_ints_abandon(w);
        cr_expect(eq(int, code, parts == 2 ? HDX_OK : HDX_USAGE), "%u parts instead of 2", parts);
        cr_expect(there(path) == (parts == 2), "%u parts instead of 2", parts);
        place_close(&t);
    }
    free(v);
}

Test(ints_parts, an_error_of_fill_comes_back_from_append)
{
    test_place       t;
    hdx_ints_writer *w;
    hdx_error        err;
    uint64_t         at = 5 * HDX_PART + 3;
    char             path[128];
    place_open(&t, 2);
    cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_CLASS, 100ull * HDX_PART, &w, &err), HDX_OK));
    cr_expect(eq(int, hdx_ints_append(w, 4 * HDX_PART, fails_at, &at, &err), HDX_OK));
    cr_expect(eq(int, hdx_ints_append(w, 4 * HDX_PART, fails_at, &at, &err), HDX_BAD_DUMP));
    cr_expect(eq(str, err.message, "here"));
    hdx_ints_abandon(w);
    place_path(&t, HDX_KIND_CLASS, path);
    cr_expect(access(path, F_OK) != 0);
    place_close(&t);
}

/* Every request for memory refused once, every call of the file door failing once. */
Test(ints_parts, return_an_error_and_leak_nothing_at_every_refusal)
{
    const uint64_t n = 6 * HDX_PART + 5;
    uint64_t      *v = calloc(n, sizeof *v);
    for (uint64_t i = 0; i < n; i++)
        v[i] = i * i;
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
            place_path(&t, HDX_KIND_RETAINED, path);
            if (door == 0)
                faulty_mem_init(&refuses, &t.mem, at);
            else {
                faulty_io_init(&fails, at, ENOSPC, true);
                t.place.io = &fails.io;
            }
            const hdx_code code = write_in_parts(&t, v, n, 2, &file, &err);
            fired = door == 0 ? faulty_mem_fired(&refuses) : faulty_io_fired(&fails);
            cr_expect(eq(int, code, !fired ? HDX_OK : door == 0 ? HDX_LIMIT : HDX_IO), "at %u: %s", at, err.message);
            cr_expect(there(path) == !fired, "at %u", at);
            t.place.io = hdx_io_system();
            place_close(&t);
            cr_assert(at < 200);
        }
    }
    free(v);
}

static hdx_code nothing_but_zeros(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    (void)context;
    (void)first;
    (void)err;
    memset(values, 0, n * sizeof *values);
    return HDX_OK;
}
static bool cancel_when(void *context)
{
    _Atomic int *left = context;
    return atomic_fetch_sub(left, 1) == 0;
}
Test(ints_parts, stop_when_cancelled_and_count_every_value)
{
    for (int at = 0; at <= 6; at++) {
        test_place       t;
        hdx_ints_writer *w;
        hdx_index_file   file;
        hdx_ticker       tick;
        _Atomic int      left = at;
        hdx_progress     progress = { .context = &left, .cancelled = cancel_when };
        place_open(&t, 1);
        hdx_ticker_init(&tick, &progress, 1);
        t.place.tick = &tick;
        cr_assert(eq(int, hdx_ints_begin(&t.place, HDX_KIND_CLASS, 5 * HDX_PART + 1, &w, NULL), HDX_OK));
        hdx_code code = hdx_ints_append(w, 3 * HDX_PART, nothing_but_zeros, NULL, NULL);
        if (code == HDX_OK)
            code = hdx_ints_append(w, 2 * HDX_PART + 1, nothing_but_zeros, NULL, NULL);
        cr_expect(eq(int, code, at < 6 ? HDX_CANCELLED : HDX_OK));
        if (code == HDX_OK) {
            cr_expect(eq(u64, tick.done, 5 * HDX_PART + 1));
            cr_expect(eq(int, hdx_ints_end(w, &file, NULL), HDX_OK));
        } else
            hdx_ints_abandon(w);
        hdx_ticker_free(&tick);
        place_close(&t);
    }
}

/* ---- forgotten pages ---- */

Test(ints, forgotten_are_read_again)
{
    const unsigned n = 100000;
    uint64_t      *v = calloc(n, sizeof *v), *back = calloc(n, sizeof *back);
    test_place     t;
    hdx_index_file file;
    hdx_ints      *ints;
    random_state   d = { 4 };
    for (unsigned i = 0; i < n; i++)
        v[i] = roll(&d);
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_CLASS, n, fill_from, v, &file, NULL), HDX_OK));
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_CLASS, &file, n, 0, &t.note, &ints, NULL), HDX_OK));
    for (unsigned round = 0; round < 3; round++) {
        hdx_ints_forget(ints);
        hdx_ints_read(ints, 0, n, back);
        cr_expect(memcmp(back, v, n * sizeof *v) == 0);
        memset(back, 0, n * sizeof *back);
    }
    cr_expect(eq(int, hdx_note_check(&t.note, NULL), HDX_OK));
    hdx_ints_close(ints);
    free(v);
    free(back);
    place_close(&t);
}

/* ints/README.md: the worked examples, byte for byte. */
static void page_is(const uint64_t *v, unsigned n, uint64_t first, uint64_t second, const char *hex)
{
    uint8_t  out[HDX_PAGE_BYTES];
    uint64_t a, b, back[HDX_PAGE];
    char     text[2 * HDX_PAGE_BYTES + 1] = "";
    uint32_t used = hdx_ints_encode(v, n, out, &a, &b);
    for (uint32_t i = 0; i < used; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", out[i]);
    cr_expect(eq(u64, a, first));
    cr_expect(eq(u64, b, second));
    cr_expect(eq(str, text, (char *)(uintptr_t)hex));
    hdx_page page = { a, b, out, used };
    cr_assert(hdx_ints_decode(&page, n, 0, n, back));
    cr_expect(memcmp(back, v, n * sizeof *v) == 0);
}
Test(ints_page, plain_as_in_the_readme)
{
    page_is((uint64_t[]){ 100, 105, 101 }, 3, 100, 3ull << 40, "6800");
    page_is((uint64_t[]){ 7, 7, 7, 7 }, 4, 7, 0, "");
    page_is((uint64_t[]){ 64, 8, 32, 16 }, 4, 8, 3ull << 40 | 3ull << 47, "c702");
}
Test(ints_page, linear_as_in_the_readme)
{
    uint64_t v[16];
    for (unsigned i = 0; i < 16; i++)
        v[i] = 1000 + 40 * i;
    v[3] += 1;
    page_is(v, 16, 1000, 1ull << 40 | 40ull << 47 | 1ull << 61, "0800");
}
Test(ints_page, window_as_in_the_readme)
{
    uint64_t v[16] = { 0 };
    v[5] = 0x1234;
    page_is(v, 16, 0, 2ull << 47 | 1ull << 53 | 2ull << 61,
            "0b"
            "05"
            "006824");
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Bytes of the best window there is: every stretch of neighbours is tried. */
static uint64_t least_bytes(const uint64_t *v, unsigned n)
{
    uint64_t s[HDX_PAGE], least;
    memcpy(s, v, n * sizeof *s);
    qsort(s, n, sizeof *s, by_value);
    const unsigned widest = hdx_pack_width(s[n - 1] - s[0]);
    least = hdx_pack_bytes(n, widest);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = i; k < n; k++) {
            const unsigned odd = n - (k - i + 1);
            const uint64_t bytes =
                hdx_pack_bytes(n, hdx_pack_width(s[k] - s[i] + 1)) + 1 + odd + hdx_pack_bytes(odd + 1u, widest);
            least = odd > 0 && bytes < least ? bytes : least;
        }
    return least;
}

Test(ints_page, windows_are_hardly_larger_than_the_best_of_all)
{
    random_state d = { 23 };
    uint8_t      out[HDX_PAGE_BYTES];
    uint64_t     v[HDX_PAGE], first, second, used = 0, least = 0;
    for (unsigned round = 0; round < 600; round++) {
        const unsigned n = round % 5 == 0 ? 16 + (unsigned)below(&d, HDX_PAGE - 16) : HDX_PAGE,
                       range = 20 + (unsigned)below(&d, 36);
        const unsigned close = 4 + (unsigned)below(&d, range - 12), odd = 1 + (unsigned)below(&d, n / 5);
        const uint64_t low = below(&d, 1ull << range) & ~1ull;
        for (unsigned i = 0; i < n; i++) /* most close together, some below and above */
            v[i] = 1ull << 60 | (below(&d, n) < odd ? below(&d, 1ull << range) : low + below(&d, 1ull << close));
        used += hdx_ints_encode(v, n, out, &first, &second);
        least += least_bytes(v, n);
    }
    cr_expect(used <= least + least / 50, "%llu bytes, %llu would do", (unsigned long long)used,
              (unsigned long long)least);
    cr_expect(used >= least - least / 50); /* else these are no pages for windows */
}

/*
 * 226 values below 15 and 30 above: fields of four bits and a tail take 183 bytes, fields of six 192, and a look-up
 * finds its value there at once.
 */
Test(ints_page, has_exceptions_only_where_they_save_more_than_two_bytes_each)
{
    uint8_t  out[HDX_PAGE_BYTES];
    uint64_t v[HDX_PAGE], first, second;
    for (unsigned i = 0; i < HDX_PAGE; i++)
        v[i] = i % 8 == 3 && i < 240 ? 32 + i % 29 : i % 15;
    cr_expect(hdx_ints_encode(v, HDX_PAGE, out, &first, &second) == 192 && second >> 61 == HDX_INTS_PLAIN);
    for (unsigned i = 24; i < 240; i++)
        v[i] = i % 15;
    cr_expect(hdx_ints_encode(v, HDX_PAGE, out, &first, &second) == 128 + 1 + 3 + 3 && second >> 61 == HDX_INTS_WINDOW);
}

Test(pack, select_finds_every_bit)
{
    random_state d = { 11 };
    for (unsigned round = 0; round < 20000; round++) {
        uint64_t x = round < 64       ? 1ull << round
                     : round == 64    ? UINT64_MAX
                     : round % 3 == 0 ? roll(&d) & roll(&d)
                     : round % 3 == 1 ? roll(&d)
                                      : roll(&d) | roll(&d);
        unsigned rank = 0;
        for (unsigned bit = 0; bit < 64; bit++)
            if (x >> bit & 1)
                cr_assert(hdx_select64(x, rank++) == bit, "bit %u of %llx", bit, (unsigned long long)x);
    }
}
