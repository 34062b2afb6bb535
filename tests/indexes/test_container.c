/*
 * test_container.c - what happens to files that are not as they were written: flipped, cut, swapped, refused by the
 * disk, or made to harm.
 */
#include "tests/indexes/place.h"
#include "tests/indexes/hostile.h"
#include "indexes/addresses/set.h"
#include "indexes/container/slices.h"
#include "indexes/one_to_n/one_to_n.h"

#include <criterion/parameterized.h>

enum { INTS, LISTS, RANKS, ADDRESSES, TABLE, FILES };
static const hdx_kind kind_of[FILES] = { HDX_KIND_CLASS, HDX_KIND_OUTBOUND, HDX_KIND_SPECIAL, HDX_KIND_ADDRESS,
                                         HDX_KIND_ADDRESS };
#define N 700u

typedef struct content {
    uint64_t value[4 * N], key[4 * N], degree[N], words[N / 64 + 1], address[N], values, members;
} content;

static hdx_code give_degrees(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)err;
    memcpy(degrees, ((content *)context)->degree + first, n * sizeof *degrees);
    return HDX_OK;
}
static hdx_code give_lists(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    (void)err;
    memcpy(values, ((content *)context)->value + first, n * sizeof *values);
    memcpy(keys, ((content *)context)->key + first, n * sizeof *keys);
    return HDX_OK;
}

/* Pages of several forms each. */
static content *content_new(void)
{
    content     *c = calloc(1, sizeof *c);
    random_state d = { 42 };
    for (unsigned k = 0; k < N; k++) {
        c->degree[k] = k < 256 ? below(&d, 3) : k < 512 ? 1 + (below(&d, 20) == 0) * below(&d, 9) : k % 2;
        for (unsigned i = 0; i < c->degree[k] && c->values < 4 * N; i++, c->values++) {
            unsigned page = (unsigned)(c->values / 256);
            c->key[c->values] = k;
            c->value[c->values] = page == 0   ? (below(&d, 4) == 0 ? 5000 + below(&d, 100) : k)
                                  : page == 1 ? 3 * c->values
                                  : page == 2 ? (below(&d, 40) == 0 ? below(&d, 100000) : 70000 + below(&d, 16))
                                              : below(&d, 1000);
        }
        if (below(&d, 5) == 0) {
            hdx_bits_put(c->words, k);
            c->members++;
        }
        c->address[k] = 0x10000000 + 24 * k + 8 * below(&d, 2);
    }
    return c;
}

static hdx_code write_file(unsigned file, const hdx_index_place *place, content *c, hdx_index_file *out, hdx_error *err)
{
    switch (file) {
    case INTS: return hdx_ints_write(place, kind_of[file], N, fill_from, c->value, out, err);
    case LISTS: return hdx_one_to_n_write(place, kind_of[file], N, c->values, give_degrees, give_lists, c, out, err);
    case RANKS: return hdx_ranks_write(place, kind_of[file], N, c->words, out, err);
    default: {
        hdx_addresses *s;
        uint64_t       repeated = 0;
        hdx_code       code = hdx_addresses_new(place->mem, 8, &s, err);
        if (code != HDX_OK)
            return code;
        for (unsigned i = 0; i < N && code == HDX_OK; i++) {
            hdx_addr a = file == TABLE ? c->address[i] << 12 : c->address[i];
            code = hdx_addresses_insert(s, &a, 1, &repeated, err);
        }
        if (code == HDX_OK && (code = hdx_addresses_freeze(s, err)) == HDX_OK)
            code = hdx_addresses_write(place, kind_of[file], s, out, err);
        hdx_addresses_close(s);
        return code;
    }
    }
}

/*
 * Opens and compares every answer; OK: all right. DAMAGED: refused, or noted. A wrong answer without a note fails the
 * test.
 */
static hdx_code read_file(unsigned file, const hdx_index_place *place, const content *c, const hdx_index_file *f,
                          hdx_error *err)
{
    hdx_damage_note note = { 0 };
    hdx_code        code;
    uint64_t        wrong = 0, at = 0;
    if (file == INTS) {
        hdx_ints *x;
        if ((code = hdx_ints_open(place, kind_of[file], f, N, 0, &note, &x, err)) != HDX_OK)
            return code;
        for (unsigned i = 0; i < N; i++)
            wrong += hdx_ints_get(x, i) != c->value[i];
        hdx_ints_close(x);
    } else if (file == LISTS) {
        hdx_one_to_n *x;
        uint64_t      first, length, out[64];
        if ((code = hdx_one_to_n_open(place, kind_of[file], f, N, 0, &note, &x, err)) != HDX_OK)
            return code;
        for (unsigned k = 0; k < N; k++) {
            hdx_one_to_n_list(x, k, &first, &length);
            wrong += first != at || length != c->degree[k];
            if (length <= 64)
                hdx_one_to_n_read(x, k, first, (uint32_t)length, out);
            wrong += length > 64 || memcmp(out, c->value + at, length * 8) != 0;
            at += c->degree[k];
        }
        hdx_one_to_n_close(x);
    } else if (file == RANKS) {
        hdx_ranks *x;
        uint64_t   rank;
        if ((code = hdx_ranks_open(place, kind_of[file], f, N, &note, &x, err)) != HDX_OK)
            return code;
        wrong += hdx_ranks_count(x) != c->members;
        for (unsigned i = 0; i < N; i++)
            if (hdx_ranks_find(x, i, &rank) != hdx_bits_test(c->words, i))
                wrong++;
            else if (hdx_bits_test(c->words, i))
                wrong += rank != at || hdx_ranks_at(x, at++) != i;
        hdx_ranks_close(x);
    } else {
        hdx_addresses *x;
        unsigned       shift = file == TABLE ? 12 : 0;
        if ((code = hdx_addresses_open(place, kind_of[file], f, N, &note, &x, err)) != HDX_OK)
            return code;
        for (unsigned i = 0; i < N; i++)
            wrong += hdx_addresses_find(x, c->address[i] << shift) != i || hdx_addresses_at(x, i) != c->address[i]
                                                                                                         << shift;
        hdx_addresses_close(x);
    }
    code = hdx_note_check(&note, err);
    cr_assert(wrong == 0 || code == HDX_DAMAGED, "%llu wrong answers and no note", (unsigned long long)wrong);
    return code;
}

ParameterizedTestParameters(container, every_file)
{
    static unsigned files[FILES] = { INTS, LISTS, RANKS, ADDRESSES, TABLE };
    return cr_make_param_array(unsigned, files, FILES);
}

/* One memory file, whole. */
typedef struct whole {
    memory_io       m;
    hdx_index_place place;
    hdx_mem         mem;
    hdx_index_file  file;
    content        *c;
} whole;
static void whole_open(whole *w, unsigned file)
{
    memset(w, 0, sizeof *w);
    w->m = memory_io_new();
    w->c = content_new();
    w->place =
        (hdx_index_place){ .io = &w->m.io, .folder = "memory", .mem = &w->mem, .threads = 1, .identity = { 1, 2, 3 } };
    cr_assert(eq(int, write_file(file, &w->place, w->c, &w->file, NULL), HDX_OK));
    cr_assert(eq(u64, w->m.len, w->file.bytes));
    cr_assert(eq(int, read_file(file, &w->place, w->c, &w->file, NULL), HDX_OK));
}
static void whole_close(whole *w)
{
    cr_expect(eq(u64, atomic_load(&w->mem.used), 0));
    memory_io_free(&w->m);
    free(w->c);
}

ParameterizedTest(unsigned *file, container, every_file)
{
    whole    w;
    unsigned unseen = 0;
    whole_open(&w, *file);
    size_t step = w.m.len > 8000 ? 3 : 1;
    for (size_t i = 0; i < w.m.len; i += step) { /* a flipped byte: noticed, or it was padding */
        uint8_t was = w.m.bytes[i];
        w.m.bytes[i] ^= (uint8_t)(1u << (i % 8));
        unseen += read_file(*file, &w.place, w.c, &w.file, NULL) == HDX_OK;
        w.m.bytes[i] = was;
    }
    cr_expect(le(u32, unseen, 64 * 5), "padding before and behind sections");
    size_t len = w.m.len;
    for (size_t i = 0; i < len; i++) { /* every truncation is refused at opening */
        hdx_error err = { 0 };
        w.m.len = i;
        cr_assert(eq(int, read_file(*file, &w.place, w.c, &w.file, &err), HDX_DAMAGED));
        cr_assert(strstr(err.hint, "--force") != NULL);
    }
    w.m.len = len;
    whole_close(&w);
}

Test(container, a_file_that_grew_is_refused)
{
    whole w;
    whole_open(&w, INTS);
    cr_assert(eq(int, w.m.io.write_at(&w.m.io, 3, "x", 1, w.m.len), 0));
    cr_expect(eq(int, read_file(INTS, &w.place, w.c, &w.file, NULL), HDX_DAMAGED));
    whole_close(&w);
}

Test(container, a_file_of_another_index_kind_or_version_is_refused_by_name)
{
    whole     w;
    hdx_error err = { 0 };
    hdx_ints *x;
    whole_open(&w, INTS);
    w.place.identity[15] = 9;
    cr_expect(eq(int, read_file(INTS, &w.place, w.c, &w.file, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "belongs to another index"));
    w.place.identity[15] = 0;
    cr_expect(eq(int, hdx_ints_open(&w.place, HDX_KIND_SIZE, &w.file, N, 0, NULL, &x, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "contains kind 2; expected 3"));
    cr_expect(eq(int, hdx_ints_open(&w.place, HDX_KIND_CLASS, &w.file, N + 1, 0, NULL, &x, &err), HDX_DAMAGED));
    w.m.bytes[8] = 1;
    cr_expect(eq(int, read_file(INTS, &w.place, w.c, &w.file, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "format version 1; this program reads 3"));
    whole_close(&w);
}

Test(container, a_block_of_another_index_is_noticed)
{
    whole          a, b;
    hdx_error      err = { 0 };
    hdx_index_file file;
    whole_open(&a, INTS);
    whole_open(&b, INTS);
    b.place.identity[0] ^= 1;
    cr_assert(eq(int, write_file(INTS, &b.place, b.c, &file, NULL), HDX_OK));
    hdx_view mine[HDX_SECTIONS], other[HDX_SECTIONS];
    (void)hostile_sections(a.m.bytes, a.m.len, mine);
    (void)hostile_sections(b.m.bytes, b.m.len, other);
    cr_expect(memcmp(mine[1].at, other[1].at, mine[1].len) == 0); /* the same bytes: only the sums differ */
    uint8_t *sums = a.m.bytes + a.m.len - HDX_FOOT_BYTES - 4 - 8;
    memcpy(sums, b.m.bytes + b.m.len - HDX_FOOT_BYTES - 4 - 8, 8);
    cr_expect(eq(int, read_file(INTS, &a.place, a.c, &a.file, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.where, "class.hdx"));
    whole_close(&a);
    whole_close(&b);
}

Test(container, a_block_of_another_place_is_noticed)
{
    whole w;
    whole_open(&w, INTS);
    uint8_t *sums = w.m.bytes + w.m.len - HDX_FOOT_BYTES - 4 - 8, one[4];
    memcpy(one, sums, 4);
    memcpy(sums, sums + 4, 4);
    memcpy(sums + 4, one, 4);
    cr_expect(eq(int, read_file(INTS, &w.place, w.c, &w.file, NULL), HDX_DAMAGED));
    whole_close(&w);
}

Test(container, the_first_damage_is_told_with_block_and_byte)
{
    static uint64_t v[200000];
    test_place      t;
    hdx_index_file  file;
    hdx_ints       *x;
    hdx_error       err;
    size_t          len;
    random_state    d = { 5 };
    for (unsigned i = 0; i < 200000; i++)
        v[i] = roll(&d) & 0xffff;
    place_open(&t, 1);
    cr_assert(eq(int, hdx_ints_write(&t.place, HDX_KIND_SIZE, 200000, fill_from, v, &file, NULL), HDX_OK));
    uint8_t *bytes = place_bytes(&t, HDX_KIND_SIZE, &len);
    hdx_view s[HDX_SECTIONS];
    (void)hostile_sections(bytes, len, s);
    size_t at = (size_t)(s[1].at - bytes) + 2 * HDX_BLOCK + 77;
    bytes[at] ^= 0x10;
    place_replace(&t, HDX_KIND_SIZE, bytes, len);
    cr_assert(eq(int, hdx_ints_open(&t.place, HDX_KIND_SIZE, &file, 200000, 0, &t.note, &x, NULL), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(x, 0), v[0]));
    hdx_ints_ahead(x, &(uint64_t){ 70000 }, 1, 0,
                   (hdx_pace){ 8, 8 }); /* notes nothing: who only reads ahead has not asked */
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_OK));
    cr_expect(eq(u64, hdx_ints_get(x, 70000), 0)); /* two bytes each: in the third block, not at the flipped byte */
    cr_expect(eq(int, hdx_note_check(&t.note, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.where, "size.hdx"));
    cr_expect(eq(u64, err.offset, at - 77));
    cr_expect(strstr(err.message, "block has checksum") != NULL);
    cr_expect(eq(u64, hdx_ints_get(x, 199999), v[199999])); /* other blocks still answer */
    hdx_ints_close(x);
    free(bytes);
    place_close(&t);
}

Test(container, a_missing_file_is_damage)
{
    test_place     t;
    hdx_ints      *x;
    hdx_error      err;
    hdx_index_file file = { 1000, 0 };
    place_open(&t, 1);
    cr_expect(eq(int, hdx_ints_open(&t.place, HDX_KIND_SIZE, &file, 1, 0, &t.note, &x, &err), HDX_DAMAGED));
    place_close(&t);
}

Test(container, a_failing_disk_leaves_no_file_and_no_memory)
{
    for (unsigned file = 0; file < FILES; file++)
        for (unsigned n = 1;; n++) {
            memory_io       m = memory_io_new();
            hdx_mem         mem = { 0 };
            hdx_index_place place = { .io = &m.io, .folder = "memory", .mem = &mem, .threads = 1 };
            hdx_index_file  out;
            hdx_error       err;
            content        *c = content_new();
            m.fail_at = n;
            hdx_code code = write_file(file, &place, c, &out, &err);
            cr_expect(eq(u64, atomic_load(&mem.used), 0));
            cr_expect(eq(int, m.bytes == NULL, code != HDX_OK));
            bool fired = m.calls >= n;
            memory_io_free(&m);
            free(c);
            if (!fired) {
                cr_expect(eq(int, code, HDX_OK));
                break;
            }
            cr_expect(eq(int, code, HDX_IO)); /* a disk that became full underway: nothing was known before the work */
        }
}

static bool refuse_later(void *context, uint64_t bytes)
{
    (void)bytes;
    return (*(unsigned *)context)-- == 0;
}
Test(container, refused_memory_is_a_limit_and_leaves_nothing)
{
    for (unsigned file = 0; file < FILES; file++) {
        content *c = content_new();
        for (unsigned n = 0;; n++) {
            memory_io       m = memory_io_new();
            unsigned        left = n;
            hdx_mem         mem = { .refuse = refuse_later, .context = &left };
            hdx_index_place place = { .io = &m.io, .folder = "memory", .mem = &mem, .threads = 2 };
            hdx_index_file  out;
            hdx_code        code = write_file(file, &place, c, &out, NULL);
            if (code == HDX_OK)
                code = read_file(file, &place, c, &out, NULL);
            cr_expect(eq(u64, atomic_load(&mem.used), 0));
            cr_assert(code == HDX_OK || code == HDX_LIMIT, "code %d", code);
            memory_io_free(&m);
            if (left <= n && left != UINT32_MAX)
                break;
            cr_assert(lt(u32, n, 200));
        }
        free(c);
    }
}

/*
 * Right sums, wrong content: nothing may crash, hang or give a number beyond its bound. Sections are changed where it
 * hurts.
 */
Test(container, hostile_content_with_right_sums_does_no_harm)
{
    random_state d = random_state_new("hostile");
    uint64_t     addresses[N];
    for (unsigned file = 0; file < FILES; file++) {
        whole    w;
        hdx_view sections[HDX_SECTIONS];
        whole_open(&w, file);
        size_t   len = w.m.len;
        uint8_t *original = malloc(len), *copy = malloc(len);
        memcpy(original, w.m.bytes, len);
        unsigned n = hostile_sections(copy, len, (memcpy(copy, original, len), sections));
        for (unsigned i = 0; i < N; i++)
            addresses[i] = i % 4 == 0 ? roll(&d) : w.c->address[i] << (file == TABLE ? 12 : 0);
        for (unsigned round = 0; round < 1500; round++) {
            uint64_t       counts[3];
            hdx_index_file f;
            memcpy(copy, original, len);
            for (unsigned i = 0; i < 3; i++)
                counts[i] = hdx_le64(original + 32 + 8 * i);
            for (uint64_t hits = 1 + below(&d, 6); hits > 0; hits--) {
                hdx_view *s = &sections[below(&d, n)];
                if (s->len < 8)
                    continue;
                uint8_t *at = copy + (s->at - copy) + below(&d, s->len - 7);
                switch (below(&d, 4)) {
                case 0: *at = (uint8_t)roll(&d); break;
                case 1: hdx_put64(at, roll(&d)); break;
                case 2: hdx_put64(at, below(&d, 2) - 1); break;
                default: *at ^= (uint8_t)(1u << below(&d, 8)); break;
                }
            }
            if (below(&d, 10) == 0)
                counts[below(&d, 3)] = below(&d, 3) == 0 ? roll(&d) : below(&d, 3000);
            if (hostile_write(&w.place, kind_of[file], counts, sections, n, &f) != HDX_OK)
                continue;
            switch (file) {
            case INTS: ask_ints(&w.place, &f, N, 100000); break;
            case LISTS: ask_one_to_n(&w.place, &f, N, 100000); break;
            case RANKS: ask_ranks(&w.place, &f, N); break;
            default: ask_addresses(&w.place, &f, N, addresses, N); break;
            }
        }
        free(original);
        free(copy);
        whole_close(&w);
    }
}

/*
 * Where all blocks were found right before, a page is found in few instructions: what its entry says is checked all the
 * same. So is where a line says that its sums are, and how many values are before it.
 */
Test(container, a_page_far_behind_its_section_is_damage_also_where_all_sums_are_right)
{
    static const struct {
        unsigned file, directory;
        bool     sums;
    } cases[] = { { INTS, 0, false }, { LISTS, 0, true }, { LISTS, 0, false }, { LISTS, 2, false } };
    const uint64_t low = (1ull << HDX_OFFSET_BITS) - 1, far = 1ull << 36;
    for (unsigned i = 0; i < 4; i++) {
        whole           w;
        hdx_view        sections[HDX_SECTIONS];
        hdx_damage_note note = { 0 };
        hdx_index_file  f;
        hdx_ints       *ints = NULL;
        hdx_one_to_n   *lists = NULL;
        uint64_t        counts[3], first, length;
        whole_open(&w, cases[i].file);
        size_t   len = w.m.len;
        uint8_t *copy = malloc(len);
        memcpy(copy, w.m.bytes, len);
        unsigned n = hostile_sections(copy, len, sections);
        for (unsigned c = 0; c < 3; c++)
            counts[c] = hdx_le64(copy + 32 + 8 * c);
        const hdx_view *directory = &sections[cases[i].directory];
        const bool      line = cases[i].file == LISTS && cases[i].directory == 0;
        const size_t    size = line ? HDX_LINE : HDX_ENTRY;
        cr_assert(ge(sz, directory->len, 4 * size)); /* the last of three pages at least is moved */
        uint8_t *entry = copy + (directory->at - copy) + directory->len - 2 * size;
        if (line && !cases[i].sums) {
            hdx_put64(entry, HDX_LISTED_MAX);
        } else if (line) {
            hdx_put64(entry, hdx_le64(entry) | 1ull << 63 | 5ull << 48);
            hdx_put64(entry + 8, far | 100ull << HDX_OFFSET_BITS);
            memset(entry + 16, 0xff, 48); /* all lists are long */
        } else {
            hdx_put64(entry + 8, (hdx_le64(entry + 8) & ~low) | far);
            hdx_put64(entry + 24, far + 100);
        }
        cr_assert(eq(int, hostile_write(&w.place, kind_of[cases[i].file], counts, sections, n, &f), HDX_OK));
        if (cases[i].file == INTS) {
            cr_assert(eq(int, hdx_ints_open(&w.place, kind_of[INTS], &f, N, 0, &note, &ints, NULL), HDX_OK));
            cr_expect(eq(u64, hdx_ints_get(ints, 0), w.c->value[0]));
            cr_expect(eq(int, hdx_note_check(&note, NULL), HDX_OK));
            cr_expect(eq(u64, hdx_ints_get(ints, N - 1), 0));
        } else {
            uint64_t last = w.c->values - 1, value;
            cr_assert(eq(int, hdx_one_to_n_open(&w.place, kind_of[LISTS], &f, N, 0, &note, &lists, NULL), HDX_OK));
            hdx_one_to_n_list(lists, w.c->key[0], &first, &length);
            cr_expect(first == 0 && length == w.c->degree[w.c->key[0]]);
            cr_expect(eq(u64, hdx_one_to_n_get(lists, w.c->key[0], 0), w.c->value[0]));
            cr_expect(eq(int, hdx_note_check(&note, NULL), HDX_OK));
            if (line) {
                uint64_t degrees[2], firsts[2];
                hdx_one_to_n_firsts(lists, N - 2, 2, degrees, firsts);
                cr_expect(degrees[0] == 0 && degrees[1] == 0 && firsts[0] == 0 && firsts[1] == 0);
                hdx_one_to_n_list(lists, N - 1, &length, &value);
            } else {
                value = hdx_one_to_n_get(lists, w.c->key[last], last);
            }
            cr_expect(eq(u64, value, 0));
        }
        cr_expect(eq(int, hdx_note_check(&note, NULL), HDX_DAMAGED));
        hdx_ints_close(ints);
        hdx_one_to_n_close(lists);
        free(copy);
        whole_close(&w);
    }
}
