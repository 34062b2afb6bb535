/* test_packed.c - numbers packed and unpacked, lists laid down and found again. */
#include "graphs.h"

/* Numbers at both ends of every length. */
static const struct {
    uint64_t value;
    unsigned bytes;
} edges_of_lengths[] = {
    { 0, 1 },
    { 1, 1 },
    { 63, 1 },
    { 64, 2 },
    { (1u << 14) - 1, 2 },
    { 1u << 14, 3 },
    { (1u << 22) - 1, 3 },
    { 1u << 22, 5 },
    { UINT32_MAX, 5 },
    { 1ull << 32, 5 },
    { (1ull << 38) - 1, 5 },
};
#define VALUES (sizeof edges_of_lengths / sizeof *edges_of_lengths)

Test(packed, every_length_comes_back)
{
    for (unsigned i = 0; i < VALUES; i++) {
        uint8_t        bytes[16];
        const uint64_t v = edges_of_lengths[i].value;
        memset(bytes, 0xff, sizeof bytes);
        uint8_t *end = hdx_pack(bytes, v);
        cr_expect((unsigned)(end - bytes) == edges_of_lengths[i].bytes, "%llu takes %u bytes", (unsigned long long)v,
                  (unsigned)(end - bytes));
        memset(end, 0xff, (size_t)(bytes + sizeof bytes - end)); /* what is after does not matter */
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
    } cases[] = { { 5, { 0x14 }, 1 },
                  { 64, { 0x01, 0x01 }, 2 },
                  { 1u << 14, { 0x02, 0x00, 0x01 }, 3 },
                  { 1u << 22, { 0x03, 0x00, 0x00, 0x01, 0x00 }, 5 } };
    for (unsigned i = 0; i < 4; i++) {
        uint8_t bytes[8];
        cr_expect((unsigned)(hdx_pack(bytes, cases[i].value) - bytes) == cases[i].n &&
                  memcmp(bytes, cases[i].bytes, cases[i].n) == 0);
    }
}

Test(packed, runs_of_numbers_come_back)
{
    random_state d = { 3 };
    uint64_t     v[1000];
    uint8_t     *bytes = zeroed(5008, 1), *to = bytes;
    for (unsigned i = 0; i < 1000; i++)
        to = hdx_pack(to, v[i] = i % 7 == 0 ? edges_of_lengths[roll(&d, VALUES)].value
                                            : roll(&d, ~0ull) >> (26 + roll(&d, 38)));
    const uint8_t *at = bytes;
    for (unsigned i = 0; i < 1000; i++)
        cr_assert(hdx_unpack(&at) == v[i], "number %u", i);
    cr_expect(at == to);
    free(bytes);
}

/* ---- walks ---- */

#define GUARD 8u /* words after the room that a walk asks for: they stay as they are */

static uint64_t *guarded(uint64_t room)
{
    uint64_t *words = zeroed(room + GUARD, sizeof *words);
    memset(words + room, 0xa5, GUARD * sizeof *words);
    return words;
}

static void guards_stand(uint64_t *words, uint64_t room)
{
    for (unsigned i = 0; i < GUARD; i++)
        cr_assert(words[room + i] == 0xa5a5a5a5a5a5a5a5u, "word %u behind the room", i);
    free(words);
}

/*
 * A walk, so many at a time, with and without sources, against what hdx_packed_at gives; returns how many targets there
 * were.
 */
static uint64_t check_walk(const hdx_packed *p, const hdx_packed_walk begin, uint32_t most)
{
    const uint64_t room = most + HDX_PACKED_MORE;
    uint64_t       done = 0;
    for (unsigned with = 0; with < 2; with++) {
        uint64_t       *sources = guarded(room), *targets = guarded(room), v = begin.node;
        hdx_packed_walk walk = begin;
        hdx_packed_list list = { 0 };
        if (v < walk.end)
            list = hdx_packed_at(p, v);
        for (uint64_t i = 0; i < begin.skip; i++)
            (void)hdx_packed_next(p, &list);
        done = 0;
        while (walk.node < walk.end) {
            const uint32_t n = hdx_packed_pairs(p, &walk, most, with ? sources : NULL, targets);
            cr_assert(n <= room && (n >= most || walk.node == walk.end), "%u, %u at a time", n, most);
            for (uint32_t i = 0; i < n; i++, done++) {
                while (list.count == 0) {
                    cr_assert(++v < walk.end, "more than there is behind number %llu", (unsigned long long)done);
                    list = hdx_packed_at(p, v);
                }
                if (hdx_packed_next(p, &list) != targets[i] || (with && sources[i] != v))
                    cr_assert(false, "number %llu from node %llu on, of node %llu, %u at a time: %llu, source %llu",
                              (unsigned long long)done, (unsigned long long)begin.node, (unsigned long long)v, most,
                              (unsigned long long)targets[i], (unsigned long long)sources[i]);
            }
        }
        while (list.count == 0 && v < walk.end && ++v < walk.end)
            list = hdx_packed_at(p, v);
        cr_assert(list.count == 0 && walk.node == walk.end && walk.end == begin.end && walk.skip == 0, "all targets");
        cr_assert(with || sources[0] == 0);
        guards_stand(sources, room);
        guards_stand(targets, room);
    }
    return done;
}

/* From number `value` over all lists on, to the last node. */
static void check_walk_from(const hdx_packed *p, uint64_t value, uint32_t most)
{
    const hdx_packed_walk walk = hdx_packed_walk_from(p, value);
    uint64_t              before = p->before[walk.node / HDX_PACKED_BLOCK];
    cr_assert(walk.end == p->nodes && walk.node <= p->nodes);
    for (uint64_t v = walk.node / HDX_PACKED_BLOCK * HDX_PACKED_BLOCK; v < walk.node; v++)
        before += hdx_packed_at(p, v).count;
    cr_assert(before + walk.skip == value, "%llu targets before number %llu", (unsigned long long)(before + walk.skip),
              (unsigned long long)value);
    cr_assert(walk.node == p->nodes ? walk.skip == 0 : walk.skip < hdx_packed_at(p, walk.node).count, "number %llu",
              (unsigned long long)value);
    cr_assert(check_walk(p, walk, most) == p->edges - value, "from number %llu on", (unsigned long long)value);
}

/* ---- lists ---- */

/* Says again what `list_of` said, in any order; lengths and sums besides. Lists of piece `from` and after it. */
static void check_packed_from(hdx_packed *p, uint64_t from, list_maker *list_of, void *context)
{
    const uint64_t first = from << HDX_PACKED_PIECE_BITS, nodes = p->nodes - first;
    uint64_t edges = 0, entries = 0, in_group = 0, bytes = 0, want_bytes = 0, *lengths = zeroed(nodes, sizeof *lengths);
    hdx_packed_lengths(p, first, (uint32_t)nodes, lengths); /* once more, all at once: before is made anew */
    hdx_packed_sum(p);
    for (uint64_t v = first; v < p->nodes; v++) {
        const plain_list want = list_of(context, v);
        const uint64_t   count = want.empty ? 0 : want.count;
        hdx_packed_list  list = hdx_packed_at(p, v);
        if (v % HDX_PACKED_BLOCK == 0)
            cr_assert(p->before[v / HDX_PACKED_BLOCK] == edges, "edges before node %llu", (unsigned long long)v);
        hdx_packed_base_ahead(p, v);
        hdx_packed_list_ahead(p, v);
        cr_assert(list.count == count && lengths[v - first] == count,
                  "node %llu has %llu and %llu targets instead of %llu", (unsigned long long)v,
                  (unsigned long long)list.count, (unsigned long long)lengths[v - first], (unsigned long long)count);
        cr_assert(list.class_number == (want.empty ? UINT32_MAX : want.class), "class of node %llu: %u",
                  (unsigned long long)v, list.class_number);
        if (!want.empty) /* said once more, it is the same */
            cr_assert(hdx_packed_begin(p, v, want.class) == list.at, "where the targets of node %llu go",
                      (unsigned long long)v);
        for (uint64_t i = 0; i < count; i++)
            if (hdx_packed_next(p, &list) != want.to[i])
                cr_assert(false, "target %llu of node %llu", (unsigned long long)i, (unsigned long long)v);
        cr_assert(list.count == 0);
        edges += count;
        in_group += want.empty ? 0 : hdx_packed_entries(want.class, want.count);
        if (v % 8 == 7 || v + 1 == p->nodes) {
            want_bytes += (in_group > 255 ? 48 : 16) + in_group * p->width;
            entries += in_group;
            in_group = 0;
        }
    }
    cr_assert(p->edges == edges && p->before[p->blocks] == edges);
    for (uint64_t i = from; i < p->piece_count; i++) {
        bytes += p->piece_bytes[i];
        for (unsigned k = 1; k <= HDX_PACKED_SLACK; k++)
            cr_assert(p->pieces[i][p->piece_bytes[i] - k] == SLACK_BYTE, "nothing is written behind the lists");
    }
    cr_assert(bytes == want_bytes + (p->piece_count - from) * HDX_PACKED_SLACK, "%llu bytes",
              (unsigned long long)bytes);
    if (from == 0 &&
        p->width ==
            hdx_packed_width(
                p->nodes)) { /* what is foretold is enough, and not much too much: all bases, slack of the pieces */
        const uint64_t all = bytes + (p->nodes + 7) / 8 * 5, foretold = hdx_packed_bytes(p->nodes, entries);
        cr_assert(all <= foretold && foretold <= all + entries / 256 * 32 + HDX_PACKED_SLACK, "%llu bytes foretold",
                  (unsigned long long)foretold);
    }
    check_walk_from(p, 0, 512);
    check_walk_from(p, edges / 2, 100);
    check_walk_from(p, edges, 1);
    free(lengths);
}

static void check_packed(hdx_packed *p, list_maker *list_of, void *context)
{
    check_packed_from(p, 0, list_of, context);
}

Test(packed, of_no_nodes_is_nothing)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    cr_assert(packed_made(&p, 0, NULL, NULL, &mem) == HDX_OK);
    cr_expect(p.edges == 0 && p.piece_count == 0);
    const hdx_packed_walk walk = hdx_packed_walk_from(&p, 0);
    cr_expect(walk.node == 0 && walk.end == 0 && walk.skip == 0);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0 && p.pieces == NULL && p.bases == NULL);
    hdx_packed_free(&p, &mem); /* nothing again */
}

Test(packed, entries_are_as_wide_as_the_greatest_node_needs)
{
    const struct {
        uint64_t nodes;
        unsigned width;
    } cases[] = { { 0, 1 },
                  { 1, 1 },
                  { 255, 1 },
                  { 256, 2 },
                  { 65535, 2 },
                  { 65536, 3 },
                  { (1u << 24) - 1, 3 },
                  { 1u << 24, 4 },
                  { UINT32_MAX, 4 },
                  { 1ull << 32, 5 },
                  { HDX_PACKED_NODES, 5 } };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(hdx_packed_width(cases[i].nodes) == cases[i].width, "%llu nodes", (unsigned long long)cases[i].nodes);
    const struct {
        uint32_t class;
        uint64_t targets, entries;
    } lists[] = { { 0, 0, 0 },
                  { 254, 0, 0 },
                  { 254, 7, 7 },
                  { 255, 0, 1 },
                  { 255, 7, 8 },
                  { 70000, 1, 2 },
                  { UINT32_MAX, 0, 1 },
                  { UINT32_MAX, 9, 10 },
                  { 0, UINT32_MAX, UINT32_MAX },
                  { 255, UINT32_MAX, 1ull << 32 } };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        cr_expect(hdx_packed_entries(lists[i].class, lists[i].targets) == lists[i].entries, "class %u", lists[i].class);
}

/* Two bytes an entry: 300 nodes. Three groups, the third with wide ends. */
Test(packed, groups_are_ends_classes_and_entries)
{
    uint64_t       many[256];
    plain_list     lists[24];
    const uint64_t a[] = { 1, 299 }, b[] = { 0 }, c[] = { 2 }, d[] = { 256 };
    const uint8_t  first[] = {
         2, 2,   4,   5,   5,   7,   8,   9, /* ends */
         7, 254, 255, 255, 255, 255, 255, 0, /* classes */
         1, 0,   43,  1,   255, 0,   0,   0, 43, 1, 255, 255, 2, 0, 255, 255, 0, 1,
    };
    const uint8_t second[] = { 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255 };
    const uint8_t third[] = {
        0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0,   1,   1,   0,   0,   0,   1,   1, 0, 0, 0, 1, 1,
        0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 3, 255, 255, 255, 255, 255, 255, 255, 0, 0, 1, 0, 2, 0, /* ... */
    };
    uint32_t   entries[300] = { 0 };
    hdx_packed p;
    for (uint64_t i = 0; i < 256; i++)
        many[i] = i;
    for (unsigned v = 0; v < 24; v++)
        lists[v] = (plain_list){ .empty = true };
    lists[0] = (plain_list){ .class = 7, .to = a, .count = 2 };
    lists[1] = (plain_list){ .class = 254 };
    lists[2] = (plain_list){ .class = 255, .to = b, .count = 1 };
    lists[3] = (plain_list){ .class = 299 };
    lists[5] = (plain_list){ .class = UINT32_MAX, .to = c, .count = 1 };
    lists[6] = (plain_list){ .class = UINT32_MAX };
    lists[7] = (plain_list){ .class = 0, .to = d, .count = 1 };
    lists[16] = (plain_list){ .class = 3, .to = many, .count = 256 };
    lists[17] = (plain_list){ .class = UINT32_MAX };
    for (unsigned v = 0; v < 24; v++)
        entries[v] = lists[v].empty ? 0 : (uint32_t)hdx_packed_entries(lists[v].class, lists[v].count);
    cr_assert(hdx_packed_new(&p, 300, NULL, NULL) == HDX_OK && p.width == 2 && p.mask == 65535 && p.piece_count == 1);
    cr_assert(hdx_packed_lay(&p, 0, entries, NULL, NULL) == HDX_OK);
    for (unsigned v = 0; v < 24; v++)
        if (!lists[v].empty)
            put_list(&p, v, lists[v]);
    const uint8_t *at = p.pieces[0];
    cr_expect(memcmp(at, first, sizeof first) == 0);
    cr_expect(memcmp(at + sizeof first, second, sizeof second) == 0);
    at += sizeof first + sizeof second;
    cr_expect(memcmp(at, third, sizeof third) == 0);
    at += 48 + 2 * 255;
    cr_expect(memcmp(at, (const uint8_t[]){ 255, 0, 255, 255 }, 4) == 0,
              "the last target; the class of the list behind it");
    cr_expect(memcmp(at + 4, second, sizeof second) == 0);
    const uint8_t bases[] = {
        0, 0, 0, 0, 0, 2 * 34, 0, 0, 0, 0, 2 * 50 + 1, 0, 0, 0, 0, 2 * (50 + 48 + 514) % 256, 2 * (50 + 48 + 514) / 256,
        0, 0, 0
    };
    cr_expect(memcmp(p.bases, bases, sizeof bases) == 0);
    cr_expect(p.piece_bytes[0] == 34 + 48 + 514 + 36 * 16 + HDX_PACKED_SLACK);
    for (unsigned v = 0; v < 300; v++) {
        hdx_packed_list  list = hdx_packed_at(&p, v);
        const plain_list want = v < 24 ? lists[v] : (plain_list){ .empty = true };
        cr_assert(list.count == want.count && list.class_number == (want.empty ? UINT32_MAX : want.class), "node %u",
                  v);
        for (uint64_t i = 0; i < want.count; i++)
            cr_assert(hdx_packed_next(&p, &list) == want.to[i]);
    }
    hdx_packed_free(&p, NULL);
}

/* In the width they come in, and in every wider one. */
Test(packed, lists_of_every_shape_come_back)
{
    for (uint64_t seed = 1; seed <= 15; seed++)
        for (shape s = 0; s < SHAPES; s++) {
            random_state d = { seed * 7 + s };
            graph        g = graph_random(s, 1 + roll(&d, seed == 1 ? 10000 : 100), &d);
            check_packed(g.packed, list_of_graph, &g);
            for (unsigned i = 0; i < 5; i++)
                check_walk_from(g.packed, roll(&d, g.packed->edges + 1), 1 + (uint32_t)roll(&d, 300));
            for (unsigned width = g.packed->width + 1; width <= 5; width++) {
                hdx_packed p;
                cr_assert(packed_from(&p, g.n, 0, width, list_of_graph, &g, NULL) == HDX_OK && p.width == width);
                check_packed(&p, list_of_graph, &g);
                hdx_packed_free(&p, NULL);
            }
            graph_free(&g);
        }
}

/* ---- lists whose targets fill their entries ---- */

/* Targets below `below`, which no node reaches, in lists of any length; classes out of some. */
typedef struct filled {
    uint64_t        below, seed;
    const uint32_t *classes;
    unsigned        class_count;
    uint64_t (*count)(uint64_t node);
    uint64_t to[3000];
} filled;

static plain_list list_of_filled(void *context, uint64_t v)
{
    filled      *f = context;
    random_state d = { f->seed + v * 977 };
    for (uint64_t i = 0; i < f->count(v); i++)
        f->to[i] = roll(&d, 8) == 0 ? f->below - 1 : roll(&d, f->below);
    return (plain_list){ .class = f->classes[roll(&d, f->class_count)],
                         .to = f->to,
                         .count = f->count(v),
                         .empty = f->count(v) == 0 && v % 5 == 0 };
}

static const uint32_t near_classes[] = { 0, 1, 17, 254 }, all_classes[] = { 0, 254, 255, 256, 65534, UINT32_MAX };
static uint64_t       few(uint64_t v) { return v % 11 == 3 ? 40 : v % 4; }
static uint64_t       uneven(uint64_t v) { return v == 5 ? 2999 : v == 6 ? 1500 : v % 700 == 0 ? 600 : v % 3; }
/* Groups of 255 targets (one list, or eight), of 256, of none, of one, and such as every object has. */
static uint64_t fat(uint64_t v)
{
    switch (v / 8 % 7) {
    case 0: return v % 8 == 4 ? 255 : 0;
    case 1: return v % 8 == 7 ? 31 : 32;
    case 2: return 32;
    case 3: return 0;
    case 4: return v % 8 == 0;
    case 5: return v % 8 == 7 ? 255 : 0;
    default: return v % 4;
    }
}

static hdx_packed packed_filled(filled *f, uint64_t nodes, unsigned width)
{
    hdx_packed p;
    f->below = (1ull << 8 * width) - 1;
    cr_assert(packed_from(&p, nodes, 0, width, list_of_filled, f, NULL) == HDX_OK && p.width == width);
    check_packed(&p, list_of_filled, f);
    return p;
}

/* Lists longer than what is unpacked at once are cut wherever it comes. */
Test(packed, walks_cut_long_lists)
{
    for (unsigned width = 2; width <= 5; width++) {
        filled     f = { .seed = width,
                         .count = uneven,
                         .classes = width % 2 == 0 ? near_classes : all_classes,
                         .class_count = 4 + width % 2 * 2 };
        hdx_packed p = packed_filled(&f, 3000, width);
        for (uint32_t most = 1; most < 2000; most += most < 4 ? 1 : most / 2)
            for (uint64_t value = 0; value <= p.edges; value += 1 + p.edges / 40)
                check_walk_from(&p, value, most);
        for (uint64_t value = 590; value < 700; value++)
            check_walk_from(&p, value, 64);
        hdx_packed_free(&p, NULL);
    }
}

Test(packed, walks_take_as_many_at_a_time_as_they_like)
{
    for (unsigned width = 1; width <= 5; width++)
        for (unsigned far = 0; far < (width == 1 ? 1 : 2); far++) {
            filled f = {
                .seed = width, .count = fat, .classes = far ? all_classes : near_classes, .class_count = far ? 6 : 4
            };
            hdx_packed p = packed_filled(&f, width == 1 ? 200 : 240, width);
            for (uint32_t most = 1; most <= 600; most++)
                (void)check_walk(&p, (hdx_packed_walk){ .end = p.nodes }, most);
            hdx_packed_free(&p, NULL);
        }
}

/* In the midst of groups and of lists. */
Test(packed, walks_begin_and_end_anywhere)
{
    for (unsigned width = 1; width <= 5; width++)
        for (unsigned far = 0; far < (width == 1 ? 1 : 2); far++) {
            filled f = {
                .seed = width, .count = few, .classes = far ? all_classes : near_classes, .class_count = far ? 6 : 4
            };
            hdx_packed p = packed_filled(&f, 37, width);
            for (uint64_t node = 0; node < p.nodes; node++)
                for (uint64_t end = node; end <= p.nodes; end++) {
                    uint64_t all = 0;
                    for (uint64_t v = node; v < end; v++)
                        all += few(v);
                    for (uint64_t skip = 0; skip == 0 || (node < end && skip < few(node)); skip++)
                        for (uint32_t most = 1; most < 80; most += 1 + most / 3)
                            cr_assert(check_walk(&p, (hdx_packed_walk){ node, end, skip }, most) == all - skip);
                }
            hdx_packed_free(&p, NULL);
        }
}

/* ---- ends ---- */

/* A group of lists with 255 entries keeps its narrow ends; one more, and they are wide. */
typedef struct wide {
    uint64_t nodes, count; /* of the lists; one is longer */
    uint64_t long_at, longer;
    uint32_t class; /* the least */
    unsigned width;
    uint64_t to[400];
} wide;

static plain_list list_of_wide(void *context, uint64_t v)
{
    wide          *w = context;
    const uint64_t n = v == w->long_at ? w->longer : w->count;
    for (uint64_t i = 0; i < n; i++)
        w->to[i] = (v + 1) * (i + 1) * 0x123456789bu % ((1ull << 8 * w->width) - 1);
    return (plain_list){ .class = w->class == UINT32_MAX ? w->class : w->class + (uint32_t)(v % 16),
                         .to = w->to,
                         .count = n };
}

static uint64_t piece_bytes_of(wide w)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    cr_assert(packed_from(&p, w.nodes, 0, w.width, list_of_wide, &w, &mem) == HDX_OK);
    check_packed(&p, list_of_wide, &w);
    const uint64_t bytes = p.piece_bytes[0];
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
    return bytes;
}

Test(packed, a_group_of_more_than_255_entries_has_wide_ends)
{
    for (unsigned width = 1; width <= 5; width++)
        for (uint64_t at = 0; at < 24; at++) {
            const uint64_t rest = 7 * 23, least = 3 * 8 + 2 * 8 + 2 * 8 * 23 * width +
                                                  HDX_PACKED_SLACK; /* all but the ends and entries of that group */
            cr_expect(piece_bytes_of((wide){ 24, 23, at, 255 - rest, 0, width, { 0 } }) == least + 8 + 255 * width,
                      "node %llu", (unsigned long long)at);
            cr_expect(piece_bytes_of((wide){ 24, 23, at, 256 - rest, 0, width, { 0 } }) == least + 40 + 256 * width,
                      "node %llu", (unsigned long long)at);
            (void)piece_bytes_of((wide){ 24, 10, at, 400, 239, width, { 0 } }); /* classes up to 254 */
            if (width == 1)
                continue;
            for (unsigned none = 0; none < 2; none++) { /* the class is an entry */
                const uint32_t class = none ? UINT32_MAX : 255;
                cr_expect(piece_bytes_of((wide){ 24, 22, at, 255 - rest - 1, class, width, { 0 } }) ==
                              least + 8 + 255 * width,
                          "node %llu", (unsigned long long)at);
                cr_expect(piece_bytes_of((wide){ 24, 22, at, 256 - rest - 1, class, width, { 0 } }) ==
                              least + 40 + 256 * width,
                          "node %llu", (unsigned long long)at);
            }
            (void)piece_bytes_of((wide){ 24, 10, at, 400, 247, width, { 0 } }); /* 247 to 262 */
        }
    for (uint64_t nodes = 1; nodes < 18; nodes++) /* a last group that is not full */
        for (uint64_t longer = 100; longer <= 300; longer += 5)
            (void)piece_bytes_of((wide){ nodes, 10, nodes - 1, longer, 250, 2 + (unsigned)(longer % 4), { 0 } });
}

/* Two lists of 2^32 - 1 entries: they are mapped, and but for the last ones never touched. */
Test(packed, ends_reach_beyond_32_bits)
{
    const uint32_t entries[8] = { 3, UINT32_MAX, 1, 0, UINT32_MAX, 2, 0, 4 };
    const uint64_t last[4] = { 7, 6, 5, 4 };
    uint64_t       begin = 0, lengths[8];
    hdx_mem        mem = { 0 };
    hdx_packed     p;
    cr_assert(hdx_packed_new(&p, 8, &mem, NULL) == HDX_OK && hdx_packed_lay(&p, 0, entries, &mem, NULL) == HDX_OK);
    cr_expect(p.piece_bytes[0] == 48 + 2ull * UINT32_MAX + 10 + HDX_PACKED_SLACK);
    for (uint64_t v = 8; v-- > 0;)
        cr_expect(hdx_packed_begin(&p, v, (uint32_t)v) != NULL);
    put_list(&p, 7, (plain_list){ .class = 254, .to = last, .count = 4 });
    for (uint64_t v = 0; v < 8; v++) {
        const hdx_packed_list list = hdx_packed_at(&p, v);
        cr_expect(list.count == entries[v] && list.class_number == (v == 7 ? 254 : v) &&
                      list.at == p.pieces[0] + 48 + begin,
                  "node %llu", (unsigned long long)v);
        begin += entries[v];
    }
    hdx_packed_lengths(&p, 0, 8, lengths);
    hdx_packed_sum(&p);
    cr_expect(p.edges == begin && p.before[1] == begin && lengths[4] == UINT32_MAX);
    const hdx_packed_walk walk = hdx_packed_walk_from(&p, begin - 9);
    cr_expect(walk.node == 4 && walk.skip == UINT32_MAX - 3u);
    cr_expect(check_walk(&p, (hdx_packed_walk){ 5, 8, 0 }, 1) == 6);
    uint64_t        targets[4 + HDX_PACKED_MORE], sources[4 + HDX_PACKED_MORE];
    hdx_packed_walk rest = walk;
    cr_expect(hdx_packed_pairs(&p, &rest, 9, sources, targets) == 9 && rest.node == 8);
    for (unsigned i = 0; i < 9; i++)
        cr_expect(sources[i] == (i < 3 ? 4 : i < 5 ? 5 : 7) && targets[i] == (i < 5 ? 0 : last[i - 5]), "number %u", i);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
}

Test(packed, a_piece_that_no_base_reaches_over_is_refused)
{
    uint32_t   entries[136];
    refuser    r = { 0, 4 };
    hdx_mem    mem = { .refuse = refuse_one, .context = &r };
    hdx_packed p;
    hdx_error  err = { 0 };
    for (unsigned i = 0; i < 136; i++)
        entries[i] = i < 127 ? UINT32_MAX : 0;
    cr_assert(hdx_packed_new(&p, 136, &mem, NULL) == HDX_OK && p.width == 1);
    entries[127] = UINT32_MAX; /* 128 less than 2^39 so far; wide ends and what is after come besides */
    cr_expect(hdx_packed_lay(&p, 0, entries, &mem, &err) == HDX_LIMIT && strstr(err.message, "2^39 bytes") != NULL,
              "%s", err.message);
    cr_expect(r.asked == 4 && p.pieces[0] == NULL);
    entries[127] -= 16 * 48 + 16 + HDX_PACKED_SLACK - 128; /* exactly 2^39 */
    cr_expect(hdx_packed_lay(&p, 0, entries, &mem, &err) == HDX_LIMIT && strstr(err.message, "2^39 bytes") != NULL,
              "%s", err.message);
    entries[127]--; /* one byte less is asked for */
    cr_expect(hdx_packed_lay(&p, 0, entries, &mem, &err) == HDX_LIMIT && strstr(err.message, "2^39 bytes") == NULL,
              "%s", err.message);
    cr_expect(r.asked == 5 && p.pieces[0] == NULL && p.piece_bytes[0] == 0);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
}

/* ---- many nodes ---- */

/* Nodes far apart, to both sides; classes on both sides of what a byte holds, alone in their group and mixed. */
typedef struct far {
    uint64_t nodes;
    uint64_t to[3];
} far;

static plain_list list_of_far(void *context, uint64_t v)
{
    static const uint64_t steps[] = { 0, 1, 127, 128, 129, 32767, 32768, 32769, 1u << 20, HDX_PACKED_PIECE };
    static const uint32_t classes[] = { 0, 1, 63, 253, 254, 255, 256, 16383, HDX_PACKED_PIECE, UINT32_MAX };
    far                  *f = context;
    const uint64_t        step = steps[v % 10], place = v / 5 % 20;
    uint64_t              n = 0;
    if (v % 3 == 0 && step <= v)
        f->to[n++] = v - step;
    if (v % 3 != 0 && v + step < f->nodes)
        f->to[n++] = v + step;
    if (n == 1 && f->to[0] + step + 1 < f->nodes)
        f->to[n++] = f->to[0] + step + 1;
    return (
        plain_list){ .class = place < 10 ? classes[place] : 7, .empty = n == 0 && v % 2 == 0, .to = f->to, .count = n };
}

Test(packed, several_pieces_are_one)
{
    far        f = { .nodes = HDX_PACKED_PIECE + 1234 };
    hdx_mem    mem = { 0 };
    hdx_packed p;
    cr_assert(packed_made(&p, f.nodes, list_of_far, &f, &mem) == HDX_OK);
    cr_assert(p.piece_count == 2 && p.nodes == f.nodes && hdx_packed_piece_nodes(&p, 0) == HDX_PACKED_PIECE &&
              hdx_packed_piece_nodes(&p, 1) == 1234);
    cr_assert(p.width == 3);
    check_packed(&p, list_of_far, &f);
    (void)check_walk(&p, (hdx_packed_walk){ HDX_PACKED_PIECE - 77, HDX_PACKED_PIECE + 77, 0 }, 10);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
}

/*
 * The last nodes of so many, in the last piece: all others are never made, and their bases are mapped and not touched.
 */
static plain_list list_of_last(void *context, uint64_t v)
{
    far           *f = context;
    const uint64_t back = f->nodes - 1 - v; /* 0: the last one */
    const uint32_t greatest =
        f->nodes - 1 < UINT32_MAX ? (uint32_t)(f->nodes - 1) : UINT32_MAX - 1; /* a class is a node too */
    const uint32_t classes[] = { 254, greatest, UINT32_MAX, greatest < 300 ? 0 : 255, 0, greatest / 2 };
    if (back > 100)
        return (plain_list){ .empty = true };
    f->to[0] = 0;
    f->to[1] = v;
    f->to[2] = f->nodes - 1;
    return (plain_list){ .class = back > 60 ? (uint32_t)back : classes[back % 6],
                         .empty = back % 7 == 6,
                         .to = f->to,
                         .count = back % 7 % 4 };
}

static void check_last(uint64_t nodes, unsigned width)
{
    far            f = { .nodes = nodes };
    hdx_mem        mem = { 0 };
    hdx_packed     p;
    const uint64_t piece = (nodes - 1) / HDX_PACKED_PIECE;
    cr_assert(packed_from(&p, nodes, piece, 0, list_of_last, &f, &mem) == HDX_OK, "%llu nodes",
              (unsigned long long)nodes);
    cr_assert(p.width == width && p.mask == (1ull << 8 * width) - 1 && p.piece_count == piece + 1, "%llu nodes",
              (unsigned long long)nodes);
    check_packed_from(&p, piece, list_of_last, &f);
    for (uint32_t most = 1; most < 300; most += 1 + most / 2)
        check_walk_from(&p, most % (p.edges + 1), most);
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
}

Test(packed, the_greatest_nodes_fit_their_entries)
{
    check_last(1, 1);
    check_last(254, 1);
    check_last(255, 1);
    check_last(256, 2);
    check_last(65535, 2);
    check_last(65536, 3);
    check_last((1u << 24) - 1, 3);
    check_last(1u << 24, 4);
    check_last((1u << 24) + 1, 4);
    check_last(UINT32_MAX, 4);
    check_last(1ull << 32, 5);
    check_last((1ull << 32) + 120, 5);
}

/* ---- refusals ---- */

Test(packed, more_nodes_than_can_be_packed_are_refused)
{
    hdx_mem    mem = { 0 };
    hdx_packed p;
    hdx_error  err = { 0 };
    cr_expect(hdx_packed_new(&p, HDX_PACKED_NODES + 1, &mem, &err) == HDX_LIMIT && err.code == HDX_LIMIT);
    cr_expect(strstr(err.message, "at most 137438953472") != NULL, "%s", err.message);
    cr_expect(mem.used == 0 && mem.peak == 0);
    hdx_packed_free(&p, &mem);
    mem.limit = 1 << 20; /* one less is a question of memory */
    cr_expect(hdx_packed_new(&p, HDX_PACKED_NODES, &mem, &err) == HDX_LIMIT && strstr(err.message, "at most") == NULL,
              "%s", err.message);
    cr_expect(mem.used == 0);
    hdx_packed_free(&p, &mem);
}

Test(packed, returns_limit_and_leaks_nothing_at_every_refusal)
{
    far f = { .nodes = HDX_PACKED_PIECE + 8 };
    for (uint64_t at = 0; at <= 6; at++) { /* four requests for all, one a piece */
        refuser    r = { 0, at };
        hdx_mem    mem = { .refuse = refuse_one, .context = &r };
        hdx_packed p;
        cr_expect(packed_made(&p, f.nodes, list_of_far, &f, &mem) == (at < 6 ? HDX_LIMIT : HDX_OK), "request %llu",
                  (unsigned long long)at);
        hdx_packed_free(&p, &mem);
        cr_expect(mem.used == 0, "request %llu", (unsigned long long)at);
    }
}

/* ---- kept and restored ---- */

typedef struct shelf {
    uint8_t *at;
    uint64_t len, read, calls, fail_at; /* the call that fails, from 1 */
} shelf;

static hdx_code shelf_put(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    shelf *s = context;
    if (++s->calls == s->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the shelf is full");
    s->at = realloc(s->at, s->len + len);
    cr_assert(s->at != NULL);
    memcpy(s->at + s->len, bytes, len);
    s->len += len;
    return HDX_OK;
}

static hdx_code shelf_get(void *context, void *to, uint64_t len, hdx_error *err)
{
    shelf *s = context;
    if (++s->calls == s->fail_at)
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the shelf broke");
    cr_assert(len <= s->len - s->read, "more than was put");
    memcpy(to, s->at + s->read, len);
    s->read += len;
    return HDX_OK;
}

/* Two pieces, byte for byte; every call that fails is told, every refusal of memory too. */
Test(packed, lists_are_kept_and_come_back)
{
    far        f = { .nodes = HDX_PACKED_PIECE + 2050 };
    hdx_mem    mem = { 0 };
    hdx_packed p, q;
    shelf      s = { 0 };
    hdx_error  err;
    cr_assert(packed_made(&p, f.nodes, list_of_far, &f, &mem) == HDX_OK);
    cr_assert(hdx_packed_keep(&p, shelf_put, &s, &err) == HDX_OK);
    cr_expect(s.calls == 2 + 2 * 2 && s.len == 16 + p.bases_bytes + 16 + p.piece_bytes[0] + p.piece_bytes[1]);
    for (uint64_t at = 1; at <= 7; at++) {
        shelf full = { .fail_at = at };
        cr_expect(hdx_packed_keep(&p, shelf_put, &full, &err) == (at < 7 ? HDX_IO : HDX_OK), "call %llu",
                  (unsigned long long)at);
        cr_expect(full.calls == (at < 7 ? at : 6) && (at < 7 || full.len == s.len));
        free(full.at);
    }
    for (uint64_t at = 1; at <= 7; at++) {
        cr_assert(hdx_packed_new(&q, f.nodes, &mem, NULL) == HDX_OK);
        s.read = s.calls = 0;
        s.fail_at = at;
        cr_expect(hdx_packed_restore(&q, &mem, shelf_get, &s, &err) == (at < 7 ? HDX_IO : HDX_OK), "call %llu",
                  (unsigned long long)at);
        cr_expect(s.calls == (at < 7 ? at : 6));
        if (at == 7) {
            cr_expect(s.read == s.len && q.edges == p.edges && q.nodes == p.nodes);
            cr_expect(memcmp(p.bases, q.bases, p.bases_bytes) == 0);
            for (unsigned i = 0; i < 2; i++)
                cr_expect(q.piece_bytes[i] == p.piece_bytes[i] &&
                          memcmp(q.pieces[i], p.pieces[i], p.piece_bytes[i]) == 0);
        }
        hdx_packed_free(&q, &mem);
    }
    s.fail_at = 0;
    for (uint64_t at = 4; at <= 6; at++) { /* the first four requests are for the room, one a piece follows */
        refuser r = { 0, at };
        hdx_mem refusing = { .refuse = refuse_one, .context = &r };
        cr_assert(hdx_packed_new(&q, f.nodes, &refusing, NULL) == HDX_OK);
        s.read = 0;
        cr_expect(hdx_packed_restore(&q, &refusing, shelf_get, &s, &err) == (at < 6 ? HDX_LIMIT : HDX_OK));
        hdx_packed_free(&q, &refusing);
        cr_expect(refusing.used == 0);
    }
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
    free(s.at);
}

/* Bytes of other nodes, and a length that no base reaches over. */
Test(packed, other_lists_are_not_restored)
{
    far        f = { .nodes = 100 };
    hdx_mem    mem = { .limit = 1 << 20 };
    hdx_packed p, q;
    shelf      s = { 0 };
    hdx_error  err = { 0 };
    cr_assert(packed_from(&p, f.nodes, 0, 3, list_of_far, &f, &mem) == HDX_OK);
    cr_assert(hdx_packed_keep(&p, shelf_put, &s, &err) == HDX_OK);
    for (uint64_t nodes = 99; nodes <= 101; nodes++) {
        cr_assert(hdx_packed_new(&q, nodes, &mem, NULL) == HDX_OK);
        s.read = 0;
        cr_expect(hdx_packed_restore(&q, &mem, shelf_get, &s, &err) == (nodes == 100 ? HDX_OK : HDX_NOT_FOUND));
        hdx_packed_free(&q, &mem);
    }
    static const struct {
        uint64_t bytes;
        hdx_code code;
    } cases[] = { { UINT64_MAX, HDX_NOT_FOUND },
                  { 1ull << 39, HDX_NOT_FOUND },
                  { (1ull << 39) - 1, HDX_LIMIT },
                  { 1ull << 21, HDX_LIMIT } };
    for (size_t i = 0; i < 4; i++) {
        cr_assert(hdx_packed_new(&q, f.nodes, &mem, NULL) == HDX_OK);
        s.read = 0;
        memcpy(s.at + 16 + p.bases_bytes, &cases[i].bytes, 8);
        err.code = HDX_OK;
        cr_expect(hdx_packed_restore(&q, &mem, shelf_get, &s, &err) == cases[i].code && err.code == cases[i].code);
        hdx_packed_free(&q, &mem);
    }
    hdx_packed_free(&p, &mem);
    cr_expect(mem.used == 0);
    free(s.at);
}
