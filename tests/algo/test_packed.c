/* test_packed.c - numbers packed and unpacked, lists laid down and found again. */
#include "graphs.h"

/* Numbers at both ends of every length. */
static const struct {
    uint64_t value;
    unsigned bytes;
} edges_of_lengths[] = {
    { 0, 1 }, { 1, 1 }, { 63, 1 }, { 64, 2 }, { (1u << 14) - 1, 2 }, { 1u << 14, 3 }, { (1u << 22) - 1, 3 }, { 1u << 22, 5 }, { UINT32_MAX, 5 },
    { 1ull << 32, 5 }, { (1ull << 38) - 1, 5 },
};
#define VALUES (sizeof edges_of_lengths / sizeof *edges_of_lengths)

Test(packed, every_length_comes_back)
{
    for (unsigned i = 0; i < VALUES; i++) {
        uint8_t        bytes[16];
        const uint64_t v = edges_of_lengths[i].value;
        memset(bytes, 0xff, sizeof bytes);
        uint8_t *end = hdx_pack(bytes, v);
        cr_expect((unsigned)(end - bytes) == edges_of_lengths[i].bytes, "%llu takes %u bytes", (unsigned long long)v, (unsigned)(end - bytes));
        memset(end, 0xff, (size_t)(bytes + sizeof bytes - end)); /* what is behind does not matter */
        const uint8_t *at = bytes;
        cr_expect(hdx_unpack(&at) == v && at == end, "%llu", (unsigned long long)v);
    }
}

Test(packed, the_lowest_bits_say_the_length)
{
    const struct {
        uint64_t value;
        uint8_t  bytes[5];
        unsigned n;
    } cases[] = { { 5, { 0x14 }, 1 }, { 64, { 0x01, 0x01 }, 2 }, { 1u << 14, { 0x02, 0x00, 0x01 }, 3 }, { 1u << 22, { 0x03, 0x00, 0x00, 0x01, 0x00 }, 5 } };
    for (unsigned i = 0; i < 4; i++) {
        uint8_t bytes[8];
        cr_expect((unsigned)(hdx_pack(bytes, cases[i].value) - bytes) == cases[i].n && memcmp(bytes, cases[i].bytes, cases[i].n) == 0);
    }
}

Test(packed, runs_of_numbers_come_back)
{
    dice      d = { 3 };
    uint64_t  v[1000];
    uint8_t  *bytes = zeroed(5008, 1), *to = bytes;
    for (unsigned i = 0; i < 1000; i++)
        to = hdx_pack(to, v[i] = i % 7 == 0 ? edges_of_lengths[roll(&d, VALUES)].value : roll(&d, ~0ull) >> (26 + roll(&d, 38)));
    const uint8_t *at = bytes;
    for (unsigned i = 0; i < 1000; i++)
        cr_assert(hdx_unpack(&at) == v[i], "number %u", i);
    cr_expect(at == to);
    free(bytes);
}

/* ---- lists ---- */

/* The walk over all targets from number `value` on, so many at a time, against what hdx_packed_at gives. */
static void check_walk(const hdx_packed *p, uint64_t value, uint32_t most)
{
    uint64_t       *sources = zeroed(most + HDX_PACKED_PAIRS, sizeof *sources), *targets = zeroed(most + HDX_PACKED_PAIRS, sizeof *targets), done = value;
    hdx_packed_walk walk = hdx_packed_walk_from(p, value);
    uint64_t        v = 0, skip = value;
    hdx_packed_list list = { 0 };
    cr_assert(walk.end == p->nodes);
    for (bool opened = false; walk.node < walk.end;) {
        const uint32_t n = hdx_packed_pairs(p, &walk, most, sources, targets);
        cr_assert(n <= most + HDX_PACKED_PAIRS && (n >= most || walk.node == walk.end), "%u at a time", n);
        for (uint32_t i = 0; i < n; i++, done++) {
            while (!opened || list.at == list.end) {
                v += opened;
                cr_assert(v < p->nodes);
                list = hdx_packed_at(p, v);
                opened = true;
                for (; skip > 0 && list.at < list.end; skip--)
                    (void)hdx_packed_next(&list);
            }
            cr_assert(sources[i] == v && targets[i] == hdx_packed_next(&list), "target number %llu", (unsigned long long)done);
        }
    }
    cr_assert(done == p->edges, "all targets: %llu of %llu", (unsigned long long)done, (unsigned long long)p->edges);
    free(sources);
    free(targets);
}

/* Says again what `list_of` said, in any order; lengths and sums besides. */
static void check_packed(hdx_packed *p, list_maker *list_of, void *context)
{
    const uint8_t *end;
    uint64_t       edges = 0, *lengths = zeroed(p->nodes, sizeof *lengths);
    hdx_packed_lengths(p, 0, (uint32_t)p->nodes, lengths); /* once more, all at once: before is made anew */
    hdx_packed_sum(p);
    for (uint64_t v = 0; v < p->nodes; v++) {
        const plain_list want = list_of(context, v);
        hdx_packed_list  list = hdx_packed_at(p, v);
        if (v % HDX_PACKED_BLOCK == 0)
            cr_assert(p->before[v / HDX_PACKED_BLOCK] == edges, "edges before node %llu", (unsigned long long)v);
        hdx_packed_base_ahead(p, v);
        hdx_packed_list_ahead(p, v);
        cr_assert((hdx_packed_bytes(p, v, &end) == end) == want.empty, "node %llu", (unsigned long long)v);
        cr_assert(hdx_packed_room(p, v) == hdx_packed_bytes(p, v, &end) && list.end == end);
        cr_assert(lengths[v] == want.count, "node %llu has %llu targets instead of %llu", (unsigned long long)v, (unsigned long long)lengths[v],
                  (unsigned long long)want.count);
        edges += want.count;
        cr_assert(list.class_number == (want.empty ? UINT32_MAX : want.class), "class of node %llu", (unsigned long long)v);
        for (uint64_t i = 0; i < want.count; i++)
            cr_assert(list.at < list.end && hdx_packed_next(&list) == want.to[i], "target %llu of node %llu", (unsigned long long)i, (unsigned long long)v);
        cr_assert(list.at == list.end, "the list of node %llu ends", (unsigned long long)v);
    }
    cr_assert(p->edges == edges && p->before[p->blocks] == edges);
    check_walk(p, 0, 512);
    check_walk(p, edges / 2, 100);
    check_walk(p, edges, 1);
    free(lengths);
}

Test(packed, of_no_nodes_is_nothing)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    cr_assert(packed_made(&p, 0, NULL, NULL, &mem) == HDX_OK);
    cr_expect(p.edges == 0 && p.piece_count == 0);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0 && p.pieces == NULL && p.bases == NULL);
    hdx_packed_free(&p, &mem); /* nothing again */
}

Test(packed, lists_of_every_shape_come_back)
{
    for (uint64_t seed = 1; seed <= 15; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            dice  d = { seed * 7 + s };
            graph g = graph_random(s, 1 + roll(&d, seed == 1 ? 10000 : 100), &d);
            check_packed(g.packed, list_of_graph, &g);
            for (unsigned i = 0; i < 5; i++)
                check_walk(g.packed, roll(&d, g.packed->edges + 1), 1 + (uint32_t)roll(&d, 300));
            graph_free(&g);
        }
}

/* Lists longer than what is unpacked at once are cut wherever it comes. */
Test(packed, walks_cut_long_lists)
{
    graph g = graph_of(3000, 0);
    for (uint64_t v = 0; v < g.n; v++)
        for (uint64_t k = 0; k < (v == 5 ? 2999 : v == 6 ? 1500 : v % 700 == 0 ? 600 : v % 3); k++)
            graph_add(&g, v, (v + k) % g.n);
    graph_finish(&g);
    for (uint32_t most = 1; most < 2000; most += most < 4 ? 1 : most / 2)
        for (uint64_t value = 0; value <= g.packed->edges; value += 1 + g.packed->edges / 40)
            check_walk(g.packed, value, most);
    for (uint64_t value = 590; value < 700; value++)
        check_walk(g.packed, value, 64);
    graph_free(&g);
}

/* A list's class takes `head` bytes, its targets so many each, and it comes back from between other bytes. */
static void width_is(const uint8_t widths[4], uint64_t node, uint32_t class, unsigned head, const uint64_t *to, uint64_t n, unsigned width)
{
    uint8_t        bytes[32 + HDX_PACKED_SLACK];
    hdx_packed     p = { 0 };
    const uint8_t *end = hdx_packed_write(bytes, widths, node, class, to, n);
    cr_expect((uint64_t)(end - bytes) == head + n * width, "%llu bytes of node %llu, class %u", (unsigned long long)(end - bytes), (unsigned long long)node, class);
    memcpy(p.widths, widths, 4);
    memset(bytes + (end - bytes), 0xff, HDX_PACKED_SLACK);
    hdx_packed_list list = hdx_packed_open(&p, node, bytes, end);
    cr_expect(list.class_number == class && (n == 0 || list.width == width));
    for (uint64_t i = 0; i < n; i++)
        cr_assert(list.at < list.end && hdx_packed_next(&list) == to[i], "target %llu of node %llu", (unsigned long long)i, (unsigned long long)node);
    cr_expect(list.at == list.end);
}
#define TARGETS(...) (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8

Test(packed, lists_take_the_least_width_that_holds_them)
{
    uint8_t near[4], far[4];
    hdx_packed_widths(1ull << 31, near);
    hdx_packed_widths((1ull << 31) + 1, far);
    cr_expect(near[0] == 1 && near[1] == 2 && near[2] == 3 && near[3] == 4);
    cr_expect(far[0] == 1 && far[1] == 2 && far[2] == 4 && far[3] == 5);
    width_is(near, 7, 0, 1, NULL, 0, 0);
    width_is(near, 7, UINT32_MAX, 5, NULL, 0, 0);
    const uint32_t classes[] = { 0, 15, 16, (1u << 12) - 1, 1u << 12, (1u << 20) - 1, 1u << 20 };
    const unsigned heads[] = { 1, 1, 2, 2, 3, 3, 5 };
    for (unsigned i = 0; i < 7; i++)
        width_is(near, 1000, classes[i], heads[i], TARGETS(872, 999, 1000, 1127), 1);
    width_is(near, 1000, 3, 1, TARGETS(871), 2);
    width_is(near, 1000, 3, 1, TARGETS(1128), 2);
    width_is(near, 1000, 3, 1, TARGETS(999, 1128), 2);
    width_is(near, 40000, 16, 2, TARGETS(40000 - 32768, 40000 + 32767), 2);
    width_is(near, 40000, 1, 1, TARGETS(40000 - 32769), 3);
    width_is(near, 40000, 1, 1, TARGETS(40000, 40000 + 32768), 3);
    width_is(near, 1u << 23, 1, 1, TARGETS(0, (1u << 24) - 1), 3);
    width_is(near, 1u << 24, 1, 1, TARGETS((1u << 23) - 1), 4);
    width_is(near, 1u << 24, 1, 1, TARGETS((1u << 24) + (1u << 23)), 4);
    width_is(near, 0, 1, 1, TARGETS((1u << 31) - 1), 4);
    width_is(near, (1u << 31) - 1, 1, 1, TARGETS(0), 4);
    width_is(far, 40000, 1, 1, TARGETS(40000 - 32769), 4);
    width_is(far, 1ull << 31, 1, 1, TARGETS(0, (1ull << 32) - 1), 4);
    width_is(far, 0, 1, 1, TARGETS(1ull << 31), 5);
    width_is(far, (1ull << 31) + 1, 1, 1, TARGETS(0), 5);
    width_is(far, HDX_PACKED_NODES - 1, 1, 1, TARGETS(0, HDX_PACKED_NODES - 1), 5);
    width_is(far, 0, 1, 1, TARGETS(0, HDX_PACKED_NODES - 1), 5);
}

/* A group of lists that end at 255 bytes keeps its narrow ends; a byte more, and they are wide. */
typedef struct wide {
    uint64_t nodes, width; /* of the lists; the last of each group is longer */
    uint64_t long_at, longer;
    uint64_t to[400];
} wide;

static plain_list list_of_wide(void *context, uint64_t v)
{
    wide *w = context; /* the class takes a byte, each distance one */
    for (uint64_t i = 0; i < 400; i++)
        w->to[i] = v + i;
    return (plain_list){ .class = (uint32_t)(v % 16), .to = w->to, .count = v == w->long_at ? w->longer : w->width };
}

static uint64_t piece_bytes_of(wide w)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    cr_assert(packed_made(&p, w.nodes, list_of_wide, &w, &mem) == HDX_OK);
    check_packed(&p, list_of_wide, &w);
    const uint64_t bytes = p.piece_bytes[0];
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
    return bytes;
}

Test(packed, a_group_of_more_than_255_bytes_has_wide_ends)
{
    for (uint64_t at = 0; at < 24; at++) {
        const uint64_t rest = 7 * 24, least = 2 * 8 + 2 * 8 * 24 + HDX_PACKED_SLACK; /* the group's other lists; the two other groups */
        cr_expect(piece_bytes_of((wide){ 24, 23, at, 255 - rest - 1, { 0 } }) == least + 8 + 255, "node %llu", (unsigned long long)at);
        cr_expect(piece_bytes_of((wide){ 24, 23, at, 256 - rest - 1, { 0 } }) == least + 40 + 256, "node %llu", (unsigned long long)at);
        (void)piece_bytes_of((wide){ 24, 10, at, 400, { 0 } });
    }
    for (uint64_t nodes = 1; nodes < 18; nodes++) /* a last group that is not full */
        for (uint64_t longer = 100; longer <= 300; longer += 5)
            (void)piece_bytes_of((wide){ nodes, 10, nodes - 1, longer, { 0 } });
}

/* Nodes far apart: distances of every width, to both sides. */
typedef struct far {
    uint64_t to[3];
} far;

static plain_list list_of_far(void *context, uint64_t v)
{
    static const uint64_t steps[] = { 0, 1, 127, 128, 129, 32767, 32768, 32769, 1u << 20, HDX_PACKED_PIECE };
    far           *f = context;
    const uint64_t step = steps[v % 10], nodes = HDX_PACKED_PIECE + 1234;
    uint64_t       n = 0;
    if (v % 3 == 0 && step <= v)
        f->to[n++] = v - step;
    if (v % 3 != 0 && v + step < nodes)
        f->to[n++] = v + step;
    if (n == 1 && f->to[0] + step + 1 < nodes)
        f->to[n++] = f->to[0] + step + 1;
    return (plain_list){ .class = (uint32_t)edges_of_lengths[v / 16 % 9].value, .empty = n == 0 && v % 2 == 0, .to = f->to, .count = n };
}

Test(packed, several_pieces_are_one)
{
    far            f;
    hdx_mem        mem = { 0 };
    hdx_packed     p;
    const uint64_t nodes = HDX_PACKED_PIECE + 1234;
    cr_assert(packed_made(&p, nodes, list_of_far, &f, &mem) == HDX_OK);
    cr_assert(p.piece_count == 2 && p.nodes == nodes && hdx_packed_piece_nodes(&p, 0) == HDX_PACKED_PIECE && hdx_packed_piece_nodes(&p, 1) == 1234);
    check_packed(&p, list_of_far, &f);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
}

Test(packed, more_nodes_than_distances_reach_are_refused)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    hdx_error  err = { 0 };
    cr_expect(hdx_packed_new(&p, HDX_PACKED_NODES + 1, &mem, &err) == HDX_LIMIT && err.code == HDX_LIMIT);
    cr_expect(strstr(err.message, "at most 137438953472") != NULL, "%s", err.message);
    cr_expect(mem.used == 0 && mem.peak == 0);
    hdx_packed_free(&p, &mem);
}

Test(packed, returns_limit_and_leaks_nothing_at_every_refusal)
{
    far f;
    for (uint64_t at = 0; at <= 6; at++) { /* four requests for all, one a piece */
        refuser    r = { 0, at };
        hdx_mem    mem = { .refuse = refuse_one, .context = &r };
        hdx_packed p;
        cr_expect(packed_made(&p, HDX_PACKED_PIECE + 8, list_of_far, &f, &mem) == (at < 6 ? HDX_LIMIT : HDX_OK), "request %llu", (unsigned long long)at);
        hdx_packed_free(&p, &mem);
        cr_expect(mem.used == 0, "request %llu", (unsigned long long)at);
    }
}
