/*
 * test_garbage.c - unreachable objects by what hangs together, on random heaps against plain searches (tangled.h), and
 * in a small one by hand. A failure names its seed.
 */
#include "tangled.h"

/* reach[a * MOST + b]: a refers to b, over unreachable objects; each reaches itself. */
static bool *garbage_reach(const model *m, uint64_t *cluster)
{
    bool *reach = calloc(MOST * MOST, 1), grew = true;
    for (hdx_id v = 0; v < m->n; v++) {
        cluster[v] = v;
        reach[v * MOST + v] = !m->live[v];
    }
    for (unsigned i = 0; i < m->count; i++)
        if (!m->live[m->links[i].from] && !m->live[m->links[i].to])
            reach[m->links[i].from * MOST + m->links[i].to] = true;
    for (hdx_id k = 0; k < m->n; k++)
        for (hdx_id a = 0; a < m->n; a++)
            for (hdx_id b = 0; reach[a * MOST + k] && b < m->n; b++)
                reach[a * MOST + b] |= reach[k * MOST + b];
    while (grew) {
        grew = false;
        for (hdx_id a = 0; a < m->n; a++)
            for (hdx_id b = 0; b < m->n; b++)
                if (reach[a * MOST + b] && cluster[a] != cluster[b]) {
                    cluster[a] = cluster[b] = cluster[a] < cluster[b] ? cluster[a] : cluster[b];
                    grew = true;
                }
    }
    return reach;
}

static bool is_root(const model *m, const bool *reach, hdx_id v)
{
    bool root = !m->live[v];
    for (hdx_id w = 0; root && w < m->n; w++)
        root = !reach[w * MOST + v] || reach[v * MOST + w];
    return root;
}

/* Roots of a cluster, a ring of them once. */
static uint64_t count_roots(const model *m, const bool *reach, const uint64_t *cluster, uint64_t of)
{
    uint64_t count = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool first = cluster[v] == of && is_root(m, reach, v);
        for (hdx_id w = 0; first && w < v; w++)
            first = !(reach[v * MOST + w] && reach[w * MOST + v]);
        count += first;
    }
    return count;
}

static uint64_t live_targets(const model *m, const uint64_t *cluster, uint64_t of, const char *class)
{
    uint64_t count = 0;
    for (hdx_id v = 0; v < m->n; v++) {
        bool hit = false;
        for (unsigned i = 0; i < m->count; i++)
            hit |= m->links[i].to == v && cluster[m->links[i].from] == of && !m->live[m->links[i].from];
        count += hit && m->live[v] && hdx_graph_class_object(m->h->g, v) == NULL &&
                 (class == NULL || hdx_text_is(hdx_graph_class(m->h->g, m->class_of[v])->name, class));
    }
    return count;
}

static void check_garbage(heap *h, const model *m, unsigned seed)
{
    uint64_t        cluster[MOST], objects = 0, bytes = 0, before = UINT64_MAX, clusters = 0;
    bool           *reach = garbage_reach(m, cluster), told_of[MOST] = { false };
    hdx_rows       *rows;
    const hdx_cell *cells;
    cr_assert(eq(int, ask(h, &hdx_question_garbage, NULL, 0, &rows), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        const hdx_id   root = id_at(h, cells[0].as.address);
        const uint64_t of = cluster[root];
        uint64_t       count = 0, shallow = 0, by_class[64] = { 0 }, most = 0, live = 0;
        char class[64];
        cr_expect(eq(int, told_of[of], false), "seed %u: a cluster in two rows", seed);
        told_of[of] = true;
        clusters++;
        cr_expect(is_root(m, reach, root), "seed %u", seed);
        for (hdx_id v = 0; v < m->n; v++)
            if (!m->live[v] && cluster[v] == of) {
                count++;
                shallow += m->shallow[v];
                by_class[m->class_of[v]] += m->shallow[v];
            }
        for (unsigned c = 0; c < 64; c++)
            most = by_class[c] > most ? by_class[c] : most;
        cr_expect(eq(u64, cells[3].as.natural, count_roots(m, reach, cluster, of)), "seed %u", seed);
        cr_expect(eq(u64, cells[4].as.natural, count), "seed %u", seed);
        cr_expect(eq(u64, cells[5].as.natural, shallow), "seed %u", seed);
        cr_expect(cells[5].as.natural <= before, "seed %u: the biggest first", seed);
        before = cells[5].as.natural;
        bool named = false; /* is it one of the classes with most? */
        for (unsigned c = 0; c < 64; c++)
            named |= by_class[c] == most && hdx_text_same(hdx_graph_class(h->g, c)->name, cells[7].as.text);
        cr_expect(named, "seed %u: mostly %.*s", seed, (int)cells[7].as.text.len, cells[7].as.text.at);
        live = live_targets(m, cluster, of, NULL);
        cr_expect(eq(u64, cells[8].as.natural, live), "seed %u", seed);
        cr_expect(eq(int, cells[9].kind == HDX_CELL_NULL, live == 0), "seed %u", seed);
        if (live > 0) {
            (void)snprintf(class, sizeof class, "%.*s", (int)cells[9].as.text.len, cells[9].as.text.at);
            const uint64_t   mine = live_targets(m, cluster, of, class);
            uint32_t         classes;
            const hdx_class *all = hdx_graph_classes(h->g, &classes);
            for (uint32_t c = 0; c < classes; c++) {
                (void)snprintf(class, sizeof class, "%.*s", (int)all[c].name.len, all[c].name.at);
                cr_expect(le(u64, live_targets(m, cluster, of, class), mine), "seed %u: %s", seed, class);
            }
        }
        objects += count;
        bytes += shallow;
    }
    cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
    uint64_t dead = 0;
    for (hdx_id v = 0; v < m->n; v++)
        dead += !m->live[v];
    cr_expect(eq(u64, objects, dead), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "clusters"), clusters), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "unreachable_objects"), dead), "seed %u", seed);
    cr_expect(eq(u64, child(rows, "unreachable_bytes"), bytes), "seed %u", seed);
    hdx_rows_close(rows);
    free(reach);
}

Test(garbage, of_random_heaps_falls_into_what_hangs_together) { on_random_heaps(check_garbage); }

/* A ring that leads to a tail, two objects that share a third, and one alone. */
Test(garbage, is_told_by_what_nothing_in_it_refers_to)
{
    heap                  h;
    dump_maker           *d = dump_maker_new(8);
    hdx_rows             *rows;
    const uint64_t        object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t        node = dump_maker_class_at(d, 0x200, "app.Node", object, "a:L b:L");
    const uint64_t        big = dump_maker_class_at(d, 0x300, "app.Big", object, "a:J b:J c:J d:J e:J");
    static const uint64_t links[][3] = {
        { 0x1000, 0x1010, 0x1020 }, { 0x1010, 0x1020, 0 },      { 0x1020, 0x1010, 0x1030 }, /* 1000 leads to a ring */
        { 0x1040, 0x1050, 0x2000 }, { 0x1050, 0x1040, 0x1060 },                             /* a ring with a tail */
        { 0x1070, 0x1090, 0 },      { 0x1080, 0x1090, 0x2000 },
    };
    for (unsigned i = 0; i < HDX_COUNT(links); i++)
        dump_maker_instance_at(d, links[i][0], node, &links[i][1]);
    dump_maker_instance_at(d, 0x1030, node, NULL);
    dump_maker_instance_at(d, 0x1060, node, NULL);
    dump_maker_instance_at(d, 0x1090, big, NULL);
    dump_maker_instance_at(d, 0x10a0, node, DUMP_VALUES(0x10a0, 0x2000)); /* itself */
    dump_maker_instance_at(d, 0x2000, node, NULL);
    for (uint64_t c = 0x100; c <= 0x300; c += 0x100)
        dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x2000, 0, 0);
    heap_open(&h, d);
    ok(ask(&h, &hdx_question_garbage, NULL, 0, &rows));
    expect_extra(rows, "total",
                 "{clusters=4 unreachable_objects=11 unreachable_bytes=376 filler_objects=0 filler_bytes=0 "
                 "class_field_objects=0 class_field_bytes=0 archive_objects=0 archive_bytes=0}");
    expect_rows(rows, "0x1000,app.Node,-,1,4,128,34.04,app.Node,0,-,garbage\n"
                      "0x1080,app.Node,-,2,3,120,31.91,app.Node,1,app.Node,garbage\n"
                      "0x1040,app.Node,-,1,3,96,25.53,app.Node,1,app.Node,garbage\n"
                      "0x10a0,app.Node,-,1,1,32,8.51,app.Node,1,app.Node,garbage\n");
    heap_close(&h);
}
