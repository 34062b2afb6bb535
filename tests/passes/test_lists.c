/*
 * test_lists.c - lists of references there and back, turned round, and objects by class: of a random heap, with any
 * amount of memory. All of it is compared with plain arrays.
 */
#include "passes/passes.h"
#include "rows/rows.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLASSES 300u /* ids 0 .. 299; more than fit into a byte */

typedef unsigned long long ull;

static char folder[TEST_FOLDER];
static struct made {
    hdx_work        work;
    hdx_dump_tables tables;
    hdx_damage_note note;
    hdx_packed      lists;
    uint64_t        n, *class_of, *at, *to; /* of v: to[at[v]] .. to[at[v + 1] - 1] */
} * b;

static uint64_t roll(uint64_t *state, uint64_t below)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below == 0 ? 0 : z % below;
}

static void enter(void)
{
    test_folder_make(folder, "lists");
    b = calloc(1, sizeof *b);
    cr_assert(b != NULL);
    b->work.io = hdx_io_system();
    b->work.threads = 2;
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%s", folder);
    b->work.place = (hdx_index_place){
        .io = b->work.io, .folder = b->work.folder, .mem = &b->work.mem, .threads = 2, .identity = { 7 }
    };
    b->tables.class_count = CLASSES;
    b->tables.classes = calloc(CLASSES, sizeof *b->tables.classes);
    for (uint32_t i = 0; i < CLASSES; i++)
        b->tables.classes[i].id = i;
}

static void leave(void)
{
    hdx_packed_free(&b->lists, &b->work.mem);
    cr_expect(b->work.mem.used == 0);
    test_folder_remove(folder);
    free(b->class_of);
    free(b->at);
    free(b->to);
    free(b->tables.classes);
    free(b);
}

TestSuite(lists, .init = enter, .fini = leave, .timeout = 120);

/* n objects of any class; some refer to hundreds of others, and some are referred to by thousands. */
static void make(uint64_t n, uint64_t seed, unsigned each)
{
    b->n = b->tables.objects = b->work.objects = n;
    b->class_of = calloc(n, 8);
    b->at = calloc(n + 1, 8);
    b->to = calloc(n * each + 200000, 8);
    for (uint64_t v = 0, edges = 0; v < n; v++) {
        b->class_of[v] = v < CLASSES ? 0 : roll(&seed, CLASSES);
        uint64_t most = v % 5000 == 777 ? 256 * (1 + v / 5000 % 4) + v % 3 : roll(&seed, each + 1),
                 to = roll(&seed, 50);
        if (v == n - 1 || v == 400)
            most = 256;
        for (; most > 0 && to < n; most--, to += 1 + roll(&seed, most < 3 ? n / 2 : 40))
            if (to != b->class_of[v])
                b->to[edges++] = to;
        b->at[v + 1] = edges;
    }
}

static void pack(void)
{
    const uint64_t n = b->n;
    uint32_t      *entries = calloc(n, sizeof *entries);
    cr_assert(hdx_packed_new(&b->lists, n, &b->work.mem, NULL) == HDX_OK);
    for (uint64_t v = 0; v < n; v++)
        entries[v] = (uint32_t)hdx_packed_entries((uint32_t)b->class_of[v], b->at[v + 1] - b->at[v]);
    cr_assert(hdx_packed_lay(&b->lists, 0, entries, &b->work.mem, NULL) == HDX_OK);
    for (uint64_t v = 0; v < n; v++) {
        uint8_t *to = hdx_packed_begin(&b->lists, v, (uint32_t)b->class_of[v]);
        for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
            to = hdx_packed_put(to, b->to[i], b->lists.width);
    }
    b->lists.edges = b->at[n];
    free(entries);
}

static hdx_code give(void *context, uint64_t first, uint32_t n, uint64_t *values, hdx_error *err)
{
    (void)err;
    memcpy(values, (const uint64_t *)context + first, n * sizeof *values);
    return HDX_OK;
}

static hdx_column_files columns_open(void)
{
    hdx_index_file file;
    hdx_ints *class = NULL;
    cr_assert(hdx_ints_write(&b->work.place, HDX_KIND_CLASS, b->n, give, b->class_of, &file, NULL) == HDX_OK);
    cr_assert(hdx_ints_open(&b->work.place, HDX_KIND_CLASS, &file, b->n, CLASSES, &b->note, &class, NULL) == HDX_OK);
    return (hdx_column_files){ .class = class, .size = class, .note = &b->note }; /* sizes are not asked for */
}

static void columns_close(hdx_column_files *files) { hdx_ints_close((hdx_ints *)(uintptr_t)files->class); }

static hdx_one_to_n *lists_open(hdx_kind kind, const hdx_index_file *file, uint64_t keys)
{
    hdx_one_to_n *lists = NULL;
    cr_assert(hdx_one_to_n_open(&b->work.place, kind, file, keys, b->n, &b->note, &lists, NULL) == HDX_OK);
    return lists;
}

static void expect_lists(const hdx_one_to_n *lists, uint64_t keys, const uint64_t *at, const uint64_t *to,
                         const char *what)
{
    uint64_t *got = calloc(at[keys] + 1, 8);
    for (uint64_t v = 0; v < keys; v++) {
        uint64_t first, length;
        hdx_one_to_n_list(lists, v, &first, &length);
        cr_assert(length == at[v + 1] - at[v], "%s: %llu of %llu", what, (ull)length, (ull)v);
        hdx_one_to_n_read(lists, v, first, (uint32_t)length, got);
        cr_assert(length == 0 || memcmp(got, to + at[v], length * 8) == 0, "%s: list of %llu", what, (ull)v);
    }
    cr_assert(hdx_note_check(&b->note, NULL) == HDX_OK);
    free(got);
}

/* ---- the index outbound, and back ---- */

static hdx_code read_back(const hdx_index_file *file, hdx_packed *out)
{
    hdx_column_files files = columns_open();
    hdx_one_to_n    *outbound = lists_open(HDX_KIND_OUTBOUND, file, b->n);
    const hdx_code   code = hdx_pass_read_outbound(&b->work, &b->tables, &files, outbound, &(hdx_cuts){ 0 }, out, NULL);
    hdx_one_to_n_close(outbound);
    columns_close(&files);
    return code;
}

Test(lists, outbound_are_written_and_read_back)
{
    static const uint64_t counts[] = { 4095, 4096, 4097, 30000 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        hdx_index_file file;
        hdx_packed     again;
        make(counts[k], k, 4);
        pack();
        cr_assert(hdx_pass_write_outbound(&b->work, &b->lists, &file, NULL) == HDX_OK);
        hdx_one_to_n *outbound = lists_open(HDX_KIND_OUTBOUND, &file, b->n);
        expect_lists(outbound, b->n, b->at, b->to, "outbound");
        hdx_one_to_n_close(outbound);
        cr_assert(read_back(&file, &again) == HDX_OK);
        cr_expect(again.nodes == b->n && again.edges == b->at[b->n]);
        for (uint64_t v = 0; v < b->n; v++) {
            hdx_packed_list list = hdx_packed_at(&again, v);
            cr_assert(list.count == b->at[v + 1] - b->at[v] && list.class_number == b->class_of[v], "node %llu",
                      (ull)v);
            for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
                cr_assert(hdx_packed_next(&again, &list) == b->to[i], "node %llu", (ull)v);
        }
        hdx_packed_free(&again, &b->work.mem);
        hdx_packed_free(&b->lists, &b->work.mem);
        free(b->class_of), free(b->at), free(b->to);
        b->class_of = b->at = b->to = NULL;
    }
}

static hdx_code degrees_of(void *context, uint64_t first, uint32_t n, uint64_t *degrees, hdx_error *err)
{
    (void)context, (void)err;
    for (uint32_t i = 0; i < n; i++)
        degrees[i] = b->at[first + i + 1] - b->at[first + i];
    return HDX_OK;
}

static hdx_code values_of(void *context, uint64_t first, uint32_t n, uint64_t *values, uint64_t *keys, hdx_error *err)
{
    uint64_t v = 0;
    (void)context, (void)err;
    while (b->at[v + 1] <= first)
        v++;
    for (uint32_t i = 0; i < n; i++) {
        while (b->at[v + 1] <= first + i)
            v++;
        values[i] = b->to[first + i];
        keys[i] = v;
    }
    return HDX_OK;
}

/* What comes after trusts that lists rise and hold no class of their object; in a long one, too. */
Test(lists, outbound_that_no_build_writes_are_not_taken)
{
    static const uint64_t lengths[] = { 300, 4096, 4097, 5000 };
    make(6000, 3, 0);
    b->class_of[1000] = 1;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const uint64_t n = lengths[l], last = n - 1;
        const struct {
            uint64_t place, value;
            bool     taken;
        } cases[] = { { 5, 7, true }, /* as it is: n that are 2 .. n + 1, of object 1000, whose class has id 1 */
                      { last, 5999, true }, { last, n, false },    { last, n - 1, false }, { 0, 1, false },
                      { 0, 0, true },       { last, n + 2, true }, { 256, 257, false },    { 255, 258, false } };
        for (uint64_t v = 0; v <= b->n; v++)
            b->at[v] = v <= 1000 ? 0 : n;
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            hdx_index_file file;
            hdx_packed     again;
            for (uint64_t i = 0; i < n; i++)
                b->to[i] = 2 + i;
            b->to[cases[k].place] = cases[k].value;
            cr_assert(hdx_one_to_n_write(&b->work.place, HDX_KIND_OUTBOUND, b->n, n, degrees_of, values_of, NULL, &file,
                                         NULL) == HDX_OK);
            const hdx_code code = read_back(&file, &again);
            cr_expect(code == (cases[k].taken ? HDX_OK : HDX_NOT_FOUND), "%llu, case %zu: %s", (ull)n, k,
                      hdx_code_name(code));
            hdx_packed_list list = hdx_packed_at(&again, 1000);
            for (uint64_t i = 0; code == HDX_OK && i < n; i++)
                cr_assert(hdx_packed_next(&again, &list) == b->to[i], "%llu, case %zu", (ull)n, k);
            hdx_packed_free(&again, &b->work.mem);
        }
    }
}

/* A view leaves references out: each of them must be there. */
Test(lists, outbound_are_read_back_without_what_is_cut)
{
    static const uint64_t counts[] = { 300, 5000, 20000 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (unsigned wrong = 0; wrong < 4; wrong++) { /* one that is not there: of a node that has some; of the last */
            hdx_index_file outbound_file, files[HDX_CUT_KINDS];
            hdx_packed     again;
            hdx_ranks     *ranks = NULL;
            uint64_t       seed = k + 5, cut = 0, from, to;
            make(counts[k], k + 20, 4);
            const uint64_t m = b->at[b->n];
            bool          *left_out = calloc(m, sizeof *left_out);
            hdx_pair      *pairs = calloc(m + 1, sizeof *pairs);
            for (uint64_t v = 0; v < b->n; v++)
                for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
                    if (v % 3 == 0 && (wrong != 3 || cut == 0) && (left_out[i] = roll(&seed, 4) == 0))
                        pairs[cut++] = (hdx_pair){ v, b->to[i] };
            cr_expect(cut == 1 || wrong != 3, "3: one alone, which is there");
            if (wrong == 1 || wrong == 2) {
                const uint64_t v = wrong == 1 ? pairs[cut / 2].first : b->n - 1;
                uint64_t       target = b->at[v] == b->at[v + 1] ? 7 : b->to[b->at[v + 1] - 1] + 1;
                pairs[cut++] = (hdx_pair){ v, target < b->n ? target : b->to[b->at[v]] - 1 };
            }
            cr_assert(hdx_one_to_n_write(&b->work.place, HDX_KIND_OUTBOUND, b->n, m, degrees_of, values_of, NULL,
                                         &outbound_file, NULL) == HDX_OK);
            cr_assert(hdx_pass_write_cuts(&b->work, pairs, cut, files, &from, &to, NULL) == HDX_OK);
            cr_assert(hdx_ranks_open(&b->work.place, HDX_KIND_CUT_FROM, &files[0], b->n, &b->note, &ranks, NULL) ==
                      HDX_OK);
            hdx_column_files columns = columns_open();
            hdx_one_to_n    *outbound = lists_open(HDX_KIND_OUTBOUND, &outbound_file, b->n),
                         *of = lists_open((hdx_kind)(HDX_KIND_CUT_FROM + 1), &files[1], from);
            const hdx_code code =
                hdx_pass_read_outbound(&b->work, &b->tables, &columns, outbound,
                                       &(hdx_cuts){ .from = ranks, .of = of, .count = cut }, &again, NULL);
            cr_expect(code == (wrong % 3 == 0 ? HDX_OK : HDX_NOT_FOUND), "%llu, wrong %u: %s", (ull)b->n, wrong,
                      hdx_code_name(code));
            for (uint64_t v = 0; v < b->n && code == HDX_OK; v++) {
                hdx_packed_list list = hdx_packed_at(&again, v);
                for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
                    cr_assert(left_out[i] || hdx_packed_next(&again, &list) == b->to[i], "node %llu", (ull)v);
            }
            cr_expect(code != HDX_OK || again.edges == m - cut);
            hdx_packed_free(&again, &b->work.mem);
            hdx_one_to_n_close(outbound);
            hdx_one_to_n_close(of);
            hdx_ranks_close(ranks);
            columns_close(&columns);
            free(left_out);
            free(pairs);
            free(b->class_of), free(b->at), free(b->to);
            b->class_of = b->at = b->to = NULL;
        }
}

/* As long as there are objects: one of them must be the object's class. */
Test(lists, outbound_longer_than_can_be_are_not_taken)
{
    make(400, 3, 0);
    for (unsigned less = 0; less < 2; less++) {
        hdx_index_file file;
        hdx_packed     again;
        const uint64_t length = b->n - less;
        b->class_of[350] = 299;
        for (uint64_t v = 0; v <= b->n; v++)
            b->at[v] = v <= 350 ? 0 : length;
        for (uint64_t i = 0; i < length; i++)
            b->to[i] = less == 1 && i >= 299 ? i + 1 : i;
        cr_assert(hdx_one_to_n_write(&b->work.place, HDX_KIND_OUTBOUND, b->n, length, degrees_of, values_of, NULL,
                                     &file, NULL) == HDX_OK);
        cr_expect(read_back(&file, &again) == (less == 1 ? HDX_OK : HDX_NOT_FOUND));
        hdx_packed_free(&again, &b->work.mem);
    }
}

/* ---- turned round ---- */

Test(lists, inbound_are_the_same_with_any_room)
{
    static const uint64_t rooms[] = { 1u << 30, 900000, 500000, 300000, 150000, 70000, 1 };
    hdx_referenced        referenced;
    make(70000, 5, 4);
    pack();
    const uint64_t n = b->n, m = b->at[n];
    uint64_t      *at = calloc(n + 2, 8), *to = calloc(m, 8);
    referenced.once = calloc(hdx_bits_words(n), 8);
    referenced.many = calloc(hdx_bits_words(n), 8);
    for (uint64_t i = 0; i < m; i++)
        at[b->to[i] + 2]++;
    for (uint64_t v = 0; v < n; v++) {
        if (at[v + 2] > 0)
            hdx_bits_put(referenced.once, v);
        if (at[v + 2] > 1)
            hdx_bits_put(referenced.many, v);
    }
    for (uint64_t v = 0; v < n; v++)
        at[v + 2] += at[v + 1];
    for (uint64_t v = 0; v < n; v++)
        for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
            to[at[b->to[i] + 1]++] = v;
    for (unsigned wide = 32; wide <= 64; wide += 32)
        for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++)
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                const hdx_inbound_in in = { .outbound = &b->lists, .referenced = &referenced, .room = rooms[k] };
                hdx_inbound          out;
                char                 what[64];
                memset(&out, 0, sizeof out);
                (void)snprintf(what, sizeof what, "room of %llu, %u threads", (ull)rooms[k], threads);
                b->work.threads = threads;
                cr_assert(hdx_wide_of(wide)->inbound(&b->work, &b->tables, &in, &out, NULL) == HDX_OK);
                hdx_one_to_n *inbound = lists_open(HDX_KIND_INBOUND, &out.file, n);
                expect_lists(inbound, n, at, to, what);
                hdx_one_to_n_close(inbound);
            }
    free(at);
    free(to);
    free(referenced.once);
    free(referenced.many);
}

/* ---- referrers, by the index inbound ---- */

typedef struct taken { /* what was given of a chunk: a node, how many, who */
    uint64_t *at, count;
    uint64_t  open; /* of a list in parts: how many are still to come */
    unsigned  records, most;
} taken;

static void take_record(taken *t, uint64_t node, uint64_t count)
{
    t->at[t->count++] = node;
    t->at[t->count++] = count;
    t->records++;
}

static bool take_run(void *context, const uint64_t *nodes, const uint64_t *counts, uint32_t n,
                     const uint64_t *referrers)
{
    taken *t = context;
    cr_expect(t->open == 0 && n > 0);
    for (uint32_t i = 0; i < n; referrers += counts[i++]) {
        take_record(t, nodes[i], counts[i]);
        memcpy(t->at + t->count, referrers, counts[i] * sizeof *referrers);
        t->count += counts[i];
    }
    return t->records < t->most;
}

static bool take_begin(void *context, uint64_t node, uint64_t count)
{
    taken *t = context;
    cr_expect(t->open == 0);
    take_record(t, node, count);
    t->open = t->records < t->most ? count : 0;
    return t->records < t->most;
}

static void take_more(void *context, const uint64_t *referrers, uint32_t n)
{
    taken *t = context;
    cr_assert(n <= t->open);
    memcpy(t->at + t->count, referrers, n * sizeof *referrers);
    t->count += n;
    t->open -= n;
}

/* Lists of referrers: most are short, some are as long as what is read at once, or longer, or of all objects. */
static void make_referrers(uint64_t n, uint64_t seed)
{
    static const uint64_t lengths[] = { 4096, 4095, 4097, 255, 256, 257, 4352, 8191, 8192, 8193, UINT64_MAX };
    b->n = b->tables.objects = b->work.objects = n;
    b->class_of = calloc(n, 8);
    b->at = calloc(n + 1, 8);
    b->to = calloc(n * 16 + HDX_COUNT(lengths) * n, 8);
    for (uint64_t v = 0, edges = 0; v < n; v++) {
        const uint64_t k = v % 700 == 5 || v % 700 == 6 ? v / 700 * 2 + v % 700 - 5 : HDX_COUNT(lengths);
        uint64_t       left = k < HDX_COUNT(lengths) ? lengths[k] : roll(&seed, 12);
        for (uint64_t from = roll(&seed, 40) * (k == HDX_COUNT(lengths)); left > 0 && from < n; left--)
            b->to[edges++] = from, from += 1 + (k == HDX_COUNT(lengths) ? roll(&seed, n / 20) : 0);
        b->at[v + 1] = edges;
    }
}

/* Of each node that several refer to, or that is a class, and that is no root: who refers to it and is not left out. */
static void expect_referrers(const hdx_listed *l, const uint64_t *left_out)
{
    const hdx_referrers r = hdx_referrers_listed(l);
    taken               t = { .at = calloc(b->at[b->n] + 2 * b->n, 8), .most = UINT32_MAX };
    uint64_t           *want = calloc(b->at[b->n] + 2 * b->n, 8), count = 0, entries = 0;
    hdx_referrer_taker  to = { &t, take_run, take_begin, take_more };
    for (uint64_t v = 0; v < b->n; v++) {
        const bool several = l->holding.many[v / 64] >> v % 64 & 1, one = l->holding.once[v / 64] >> v % 64 & 1;
        if (!(several || (one && v < CLASSES)) || (l->is_root[v / 64] >> v % 64 & 1))
            continue;
        const uint64_t head = count;
        want[count++] = v;
        count++;
        for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++)
            if (left_out == NULL || !(left_out[i / 64] >> i % 64 & 1))
                want[count++] = b->to[i];
        want[head + 1] = count - head - 2;
        entries += 1 + b->at[v + 1] - b->at[v];
    }
    cr_expect(r.entries == entries, "%llu of %llu", (ull)r.entries, (ull)entries);
    for (uint64_t chunk = 0; chunk < r.chunks; chunk++) {
        cr_assert(r.give(r.context, chunk, &to, NULL) == HDX_OK);
        cr_assert(t.open == 0);
    }
    cr_expect(t.count == count && memcmp(t.at, want, count * sizeof *want) == 0, "%llu of %llu", (ull)t.count,
              (ull)count);
    for (t.most = 1; t.most < 3; t.most++) { /* who wants no more gets no more of the chunk but what is under way */
        t.count = t.records = 0;
        t.open = 0;
        cr_assert(r.give(r.context, 0, &to, NULL) == HDX_OK);
        cr_expect(t.records >= t.most && t.records < 1024 && memcmp(t.at, want, (t.count < 2 ? t.count : 2) * 8) == 0);
    }
    free(want);
    free(t.at);
}

Test(lists, referrers_are_those_of_the_index_inbound_but_for_what_is_left_out)
{
    static const uint64_t counts[] = { 9000, 4096, 4100, 63, 8193 };
    for (size_t k = 0; k < HDX_COUNT(counts); k++) {
        hdx_index_file file, files[HDX_CUT_KINDS];
        uint64_t       seed = 40 + k, cut = 0, from = 0, to = 0;
        make_referrers(counts[k] < CLASSES ? CLASSES + 1 : counts[k], k);
        const uint64_t words = hdx_bits_words(b->n), m = b->at[b->n];
        uint64_t      *root = calloc(words, 8), *once = calloc(words, 8), *many = calloc(words, 8);
        uint64_t      *left_out = calloc(hdx_bits_words(m), 8);
        hdx_pair      *pairs = calloc(m, sizeof *pairs);
        cr_assert(hdx_one_to_n_write(&b->work.place, HDX_KIND_INBOUND, b->n, m, degrees_of, values_of, NULL, &file,
                                     NULL) == HDX_OK);
        hdx_one_to_n *inbound = lists_open(HDX_KIND_INBOUND, &file, b->n);
        for (unsigned with = 0; with < 2; with++) {
            hdx_ranks    *ranks = NULL;
            hdx_one_to_n *lists = NULL;
            hdx_listed    l = { .inbound = inbound, .is_root = root, .note = &b->note };
            memset(once, 0, words * 8);
            memset(many, 0, words * 8);
            for (uint64_t v = 0; v < b->n; v++) {
                uint64_t holding = 0;
                for (uint64_t i = b->at[v]; i < b->at[v + 1]; i++) {
                    const bool out = with == 1 && v % 3 == 0 && roll(&seed, 4) == 0;
                    if (out) {
                        hdx_bits_put(left_out, i);
                        pairs[cut++] = (hdx_pair){ v, b->to[i] };
                    }
                    holding += !out;
                }
                once[v / 64] |= (uint64_t)(holding > 0) << v % 64;
                many[v / 64] |= (uint64_t)(holding > 1) << v % 64;
                root[v / 64] |= (uint64_t)(v % 97 == 3) << v % 64;
            }
            l.holding = (hdx_referenced){ .once = once, .many = many };
            if (with == 1) { /* pairs are of targets here, and come turned round */
                cr_assert(hdx_pass_write_cuts(&b->work, pairs, cut, files, &to, &from, NULL) == HDX_OK);
                cr_assert(hdx_ranks_open(&b->work.place, HDX_KIND_CUT_FROM, &files[0], b->n, &b->note, &ranks, NULL) ==
                          HDX_OK);
                lists = lists_open((hdx_kind)(HDX_KIND_CUT_FROM + 1), &files[1], to);
                l.cuts = (hdx_cuts){ .from = ranks, .of = lists, .count = cut };
            }
            cr_assert(hdx_pass_listed(&b->work, &b->tables, &l, NULL) == HDX_OK);
            expect_referrers(&l, with == 1 ? left_out : NULL);
            hdx_listed_free(&b->work, &l);
            hdx_ranks_close(ranks);
            hdx_one_to_n_close(lists);
        }
        hdx_one_to_n_close(inbound);
        free(root);
        free(once);
        free(many);
        free(left_out);
        free(pairs);
        if (k + 1 < HDX_COUNT(counts)) {
            free(b->class_of);
            free(b->at);
            free(b->to);
        }
    }
}

/* Lists rise. */
Test(lists, referrers_that_no_build_writes_are_damage)
{
    make_referrers(9000, 3);
    const uint64_t words = hdx_bits_words(b->n), m = b->at[b->n];
    uint64_t      *root = calloc(words, 8), *once = calloc(words, 8), *many = calloc(words, 8);
    uint64_t       looked_at = 0;
    for (uint64_t v = 0; v < b->n; v++) {
        once[v / 64] |= (uint64_t)(b->at[v + 1] > b->at[v]) << v % 64;
        many[v / 64] |= (uint64_t)(b->at[v + 1] > b->at[v] + 1) << v % 64;
    }
    for (uint64_t v = 0; v < b->n; v++) {
        const uint64_t degree = b->at[v + 1] - b->at[v];
        if (degree < 2 || !((v % 701 == 1 && degree < 20) || degree == 255 || degree == 257 || degree == 8193))
            continue;
        for (unsigned way = 0; way < 4; way++) {
            const uint64_t at = b->at[v] + (way < 2 ? 0 : degree - 2), one = b->to[at], two = b->to[at + 1];
            hdx_index_file file;
            hdx_listed     l = { .is_root = root, .note = &b->note, .holding = { .once = once, .many = many } };
            taken          t = { .at = calloc(m + 2 * b->n, 8), .most = UINT32_MAX };
            const hdx_referrer_taker to = { &t, take_run, take_begin, take_more };
            b->to[at] = way == 0 || way == 2 ? two : one;
            b->to[at + 1] = one; /* swapped, or the same twice */
            cr_assert(hdx_one_to_n_write(&b->work.place, HDX_KIND_INBOUND, b->n, m, degrees_of, values_of, NULL, &file,
                                         NULL) == HDX_OK);
            b->to[at] = one;
            b->to[at + 1] = two;
            l.inbound = lists_open(HDX_KIND_INBOUND, &file, b->n);
            cr_assert(hdx_pass_listed(&b->work, &b->tables, &l, NULL) == HDX_OK);
            const hdx_referrers r = hdx_referrers_listed(&l);
            for (uint64_t chunk = 0; chunk < r.chunks; chunk++) {
                hdx_error      err = { .code = HDX_OK };
                const hdx_code code = r.give(r.context, chunk, &to, &err);
                t.open = 0;
                cr_expect((code == HDX_DAMAGED) == (chunk == v / 1024) && (code == HDX_OK) == (chunk != v / 1024),
                          "list of %llu, way %u, chunk %llu: %d", (ull)degree, way, (ull)chunk, (int)code);
                cr_expect(code == HDX_OK || strcmp(err.message, "list contents differ from what was written") == 0,
                          "%s", err.message);
            }
            looked_at++;
            hdx_listed_free(&b->work, &l);
            hdx_one_to_n_close((hdx_one_to_n *)(uintptr_t)l.inbound);
            free(t.at);
        }
    }
    cr_expect(looked_at >= 32, "%llu lists", (ull)looked_at);
    free(root);
    free(once);
    free(many);
}

/* ---- by class ---- */

Test(lists, objects_by_class_are_the_same_with_any_room)
{
    static const struct {
        uint64_t objects, room;
    } cases[] = { { 5000, 1 },
                  { 262144, 1 },
                  { 262145, 1 },
                  { 700000, 1 },
                  { 700000, 700000 * 16 },
                  { 400000, 1u << 30 },
                  { 600000, 16 * 300000 },
                  { 409600, 16 * 409600 },
                  { 409600, 8 * 409600 } };
    for (unsigned wide = 32; wide <= 64; wide += 32)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const uint64_t n = cases[k].objects;
            uint64_t       seed = k, *at = calloc(CLASSES + 2, 8), *to = calloc(n, 8);
            hdx_index_file file;
            b->n = b->tables.objects = b->work.objects = n;
            b->work.room = cases[k].room;
            b->class_of = calloc(n, 8);
            for (uint64_t v = 0; v < n; v++)
                at[(b->class_of[v] = roll(&seed, CLASSES - 20) + 10) + 2]++;
            for (uint64_t c = 0; c < CLASSES; c++)
                at[c + 2] += at[c + 1];
            for (uint64_t v = 0; v < n; v++)
                to[at[b->class_of[v] + 1]++] = v;
            hdx_column_files files = columns_open();
            cr_assert(hdx_wide_of(wide)->instances(&b->work, &b->tables, &files, &file, NULL) == HDX_OK);
            hdx_one_to_n *instances = lists_open(HDX_KIND_INSTANCES, &file, CLASSES);
            expect_lists(instances, CLASSES, at, to, "by class");
            hdx_one_to_n_close(instances);
            columns_close(&files);
            free(b->class_of);
            free(at);
            free(to);
            b->class_of = NULL;
        }
}
