/*
 * test_immediate_dominators.c - the immediate dominators of sets, on random heaps against those objects without which
 * marking does not reach the members (tangled.h), and at the ends of a long list. A failure names its seed.
 */
#include "tangled.h"

/* below[d * MOST + v]: d is another live object, and v is not reached without it. */
static bool *dominance(const model *m)
{
    bool *below = calloc(MOST * MOST, 1);
    for (hdx_id d = 0; d < m->n; d++) {
        bool without[MOST] = { false }, seen[MOST];
        without[d] = m->live[d];
        mark(m, NULL, NULL, without, seen);
        for (hdx_id v = 0; v < m->n && m->live[d]; v++)
            below[d * MOST + v] = v != d && m->live[v] && !seen[v];
    }
    return below;
}

/* The dominator that all others dominate, of those whose class is not skipped; HDX_NO_ID: there is none. */
static hdx_id nearest_above(const model *m, const bool *below, hdx_id v, const bool *skipped)
{
    hdx_id best = HDX_NO_ID;
    for (hdx_id d = 0; d < m->n; d++)
        if (below[d * MOST + v] && !skipped[d] && (best == HDX_NO_ID || below[best * MOST + d]))
            best = d;
    return best;
}

static uint64_t retained_of(const model *m, const bool *below, hdx_id v)
{
    uint64_t sum = m->shallow[v];
    for (hdx_id w = 0; w < m->n; w++)
        sum += below[v * MOST + w] ? m->shallow[w] : 0;
    return sum;
}

static uint64_t retained_by_tops(const model *m, const bool *below, const bool *set)
{
    uint64_t sum = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool top = set[v];
        for (hdx_id d = 0; top && d < m->n; d++)
            top = !(set[d] && below[d * MOST + v]);
        sum += top ? retained_of(m, below, v) : 0;
    }
    return sum;
}

static bool skips(const model *m, const char *words, hdx_id id)
{
    const hdx_text name = hdx_graph_class(m->h->g, m->class_of[id])->name;
    if (words[0] == '\0')
        return false;
    return (name.len > 5 && memcmp(name.at, "java.", 5) == 0) ||
           (strstr(words, "Bag") != NULL && hdx_text_is(name, "plug.Bag"));
}

static void check_dominators(heap *h, const model *m, const bool *below, const char *words, const char *pattern,
                             unsigned seed)
{
    const hdx_argument a[] = { { "class", pattern }, { "skip", words } };
    bool               members[MOST] = { false }, skipped[MOST] = { false }, counted[MOST] = { false };
    hdx_id             by[MOST];
    uint64_t           in_rows = 0, in_set = 0;
    hdx_rows          *rows;
    const hdx_cell    *cells;
    for (hdx_id v = 0; v < m->n; v++) {
        const hdx_text name = hdx_graph_class(h->g, m->class_of[v])->name;
        skipped[v] = skips(m, words == NULL ? "java.*" : words, v);
        members[v] = m->live[v] && (pattern[0] == '*' || (name.len > 4 && memcmp(name.at, pattern, 4) == 0));
        in_set += members[v];
    }
    for (hdx_id v = 0; v < m->n; v++)
        by[v] = members[v] ? nearest_above(m, below, v, skipped) : HDX_NO_ID;
    cr_assert(eq(int, ask(h, &hdx_question_immediate_dominators, a, words == NULL ? 1 : 2, &rows), HDX_OK), "%s",
              h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        const bool root = hdx_text_is(cells[0].as.text, "<ROOT>");
        bool       dominators[MOST] = { false }, dominated[MOST] = { false };
        uint64_t   count = 0, shallow = 0, of_set = 0, shallow_of_set = 0;
        for (hdx_id v = 0; v < m->n; v++) {
            const bool here = members[v] && (root ? by[v] == HDX_NO_ID
                                                  : by[v] != HDX_NO_ID &&
                                                        hdx_text_same(hdx_graph_class(h->g, m->class_of[by[v]])->name,
                                                                      cells[0].as.text));
            if (!here)
                continue;
            cr_expect(eq(int, counted[v], false), "seed %u: in two rows", seed);
            dominated[v] = counted[v] = true;
            of_set++;
            shallow_of_set += m->shallow[v];
            if (by[v] != HDX_NO_ID && !dominators[by[v]]) {
                dominators[by[v]] = true;
                count++;
                shallow += m->shallow[by[v]];
            }
        }
        cr_expect(eq(u64, cells[1].as.natural, root ? 1 : count), "seed %u", seed);
        cr_expect(eq(u64, cells[2].as.natural, shallow), "seed %u", seed);
        cr_expect(eq(u64, cells[3].as.natural, retained_by_tops(m, below, dominators)), "seed %u", seed);
        cr_expect(eq(u64, cells[4].as.natural, of_set), "seed %u", seed);
        cr_expect(eq(u64, cells[5].as.natural, shallow_of_set), "seed %u", seed);
        cr_expect(eq(u64, cells[6].as.natural, retained_by_tops(m, below, dominated)), "seed %u", seed);
        in_rows += of_set;
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
    cr_expect(eq(u64, in_rows, in_set), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "dominated"), in_set), "seed %u", seed);
    hdx_rows_close(rows);
}

Test(immediate_dominators, of_random_heaps_are_those_without_which_members_are_not_reached)
{
    for (unsigned seed = 1; seed <= SEEDS / 2; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        bool *below = dominance(&m);
        check_dominators(&h, &m, below, "", "app.*", seed);
        check_dominators(&h, &m, below, NULL, "*", seed);
        check_dominators(&h, &m, below, "", "*", seed);
        check_dominators(&h, &m, below, "java.*|plug.Bag", "*", seed);
        check_dominators(&h, &m, below, "/^java\\.|^plug.Bag$/", "app.*", seed);
        free(below);
        model_close(&m);
        heap_close(&h);
    }
}

/*
 * A list of many links of a class that is skipped, each with an item: every item is kept by the head, and each climb is
 * as long as the list but for what is remembered.
 */
Test(immediate_dominators, at_the_far_ends_of_a_long_list_are_found_in_no_time, .timeout = 60)
{
    enum { MANY = 60000 };
    heap           h;
    dump_maker    *d = dump_maker_new(8);
    hdx_rows      *rows;
    const uint64_t object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t head = dump_maker_class_at(d, 0x200, "app.Head", object, "first:L");
    const uint64_t entry = dump_maker_class_at(d, 0x300, "java.util.Link", object, "next:L item:L");
    const uint64_t item = dump_maker_class_at(d, 0x400, "app.Item", object, "");
    for (uint64_t c = 0x100; c <= 0x400; c += 0x100)
        dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_instance_at(d, 0x1000, head, DUMP_VALUES(0x10000000)); /* the first link has the highest address */
    for (uint64_t i = 0; i < MANY; i++) {
        dump_maker_instance_at(d, 0x10000000 - 64 * i, entry,
                               DUMP_VALUES(i + 1 < MANY ? 0x10000000 - 64 * (i + 1) : 0, 0x10000000 - 64 * i + 32));
        dump_maker_instance_at(d, 0x10000000 - 64 * i + 32, item, NULL);
    }
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000, 0, 0);
    heap_open(&h, d);
    const hdx_argument a[] = { { "class", "app.Item" }, { "class", "java.util.Link" } };
    ok(ask(&h, &hdx_question_immediate_dominators, a, 2, &rows));
    char           want[128];
    const uint64_t all = hdx_graph_retained(h.g, id_at(&h, 0x1000)), own = hdx_graph_shallow(h.g, id_at(&h, 0x1000));
    (void)snprintf(want, sizeof want, "app.Head,1,%llu,%llu,%u,%llu,%llu\n", (unsigned long long)own,
                   (unsigned long long)all, 2 * MANY, (unsigned long long)(all - own), (unsigned long long)(all - own));
    expect_rows(rows, want);
    heap_close(&h);
}
