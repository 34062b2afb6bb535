/*
 * test_referents.c - what references hold: against a search of the whole heap that knows nothing of shortest paths, the
 * truth beside the reference dumps, and in heaps that are odd.
 */
#include "truth.h"

#include "base/bits.h"

/* ---- a slow search ---- */

typedef struct slow {
    heap    *h;
    uint8_t *strength; /* of each object; 5: none yet */
    hdx_id  *queue;
    uint64_t count, objects[5], bytes[5];
} slow;

static unsigned kind_of(heap *h, hdx_id id)
{
    static const char *const names[] = { "java.lang.ref.SoftReference", "java.lang.ref.WeakReference",
                                         "java.lang.ref.FinalReference", "java.lang.ref.PhantomReference",
                                         "java.lang.ref.FinalizerReference" };
    static const unsigned    kinds[] = { 1, 2, 3, 4, 3 };
    if (hdx_graph_kind(h->g, id) != HDX_INSTANCE)
        return 0;
    for (unsigned i = 0; i < 5; i++) {
        const hdx_class *c = hdx_graph_class_named(h->g, names[i]);
        if (c != NULL && hdx_class_extends(h->g, hdx_graph_class_of(h->g, id), c->number))
            return kinds[i];
    }
    return 0;
}

static bool only_referents(void *context, const hdx_named_ref *ref)
{
    bool *all = context;
    *all = *all && strcmp(ref->name, "referent") == 0;
    return true;
}

static unsigned edge(heap *h, hdx_id from, hdx_id to)
{
    const unsigned kind = kind_of(h, from);
    bool           all = true;
    if (kind == 0)
        return 0;
    cr_assert(eq(int, hdx_graph_named_refs(h->g, from, to, only_referents, &all, &h->err), HDX_OK));
    return all ? kind : 0;
}

static void come_to(slow *s, hdx_id id, unsigned strength)
{
    if (s->strength[id] <= 4)
        return;
    s->strength[id] = (uint8_t)strength;
    s->objects[strength]++;
    s->bytes[strength] += hdx_graph_shallow(s->h->g, id);
    s->queue[s->count++] = id;
}

static void search(slow *s)
{
    uint64_t        n = hdx_graph_objects(s->h->g), count;
    const hdx_root *roots = hdx_graph_roots(s->h->g, &count);
    s->strength = malloc(n);
    s->queue = calloc(n, sizeof *s->queue);
    memset(s->strength, 5, n);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread == HDX_NO_ID)
            come_to(s, roots[i].object, 0);
    for (unsigned strength = 0; strength < 5; strength++)
        for (uint64_t i = 0; i < s->count; i++) { /* all once more: their weaker references count now */
            hdx_refs refs;
            hdx_id   to;
            hdx_graph_outbound(s->h->g, s->queue[i], HDX_ALL, &refs);
            while (hdx_refs_next(&refs, &to))
                if (s->strength[to] > 4 && edge(s->h, s->queue[i], to) <= strength)
                    come_to(s, to, strength);
        }
    free(s->queue);
}

/* Sums by kind, and the strength of each referent, are those of the slow search; gives objects that are not strong. */
static uint64_t check_against_search(heap *h, const char *of)
{
    static const char *const names[] = { "strong", "soft", "weak", "final", "phantom" };
    slow                     s = { .h = h };
    const hdx_cell          *cells;
    hdx_rows                *rows;
    hdx_id                   id;
    uint64_t                 n = 0;
    search(&s);
    cr_assert(eq(int, ask(h, referents, &rows, { "by", "kind" }), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &cells))
        for (unsigned k = 1; k < 5; k++)
            if (cell_says(&cells[0], names[k])) {
                cr_expect(eq(u64, in_column(rows, cells, "objects")->as.natural, s.objects[k]), "%s: %s", of, names[k]);
                cr_expect(eq(u64, in_column(rows, cells, "bytes")->as.natural, s.bytes[k]), "%s: %s", of, names[k]);
                n += s.objects[k];
                s.objects[k] = 0;
            }
    cr_expect(s.objects[1] + s.objects[2] + s.objects[3] + s.objects[4] == 0, "%s", of);
    hdx_rows_close(rows);
    cr_assert(eq(int, ask_plainly(h, referents, &rows), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        cr_assert(hdx_graph_find(h->g, in_column(rows, cells, "address")->as.address, &id));
        cr_expect(cell_says(in_column(rows, cells, "reach"), names[s.strength[id]]), "%s: %llu is %s", of,
                  (unsigned long long)id, names[s.strength[id]]);
    }
    hdx_rows_close(rows);
    free(s.strength);
    return n;
}

Test(strength, is_that_of_a_search_in_every_reference_dump)
{
    golden_dumps d;
    truth        t;
    uint64_t     weakly = 0;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "", &t)) {
        weakly += check_against_search(&t.h, t.dump);
        truth_close(&t);
    }
    cr_expect(gt(u64, weakly, 5000));
}

/* ---- what a program did ---- */

Test(truth, of_the_zoo_is_what_referents_say)
{
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "zoo-", &t)) {
        char            want[96];
        const long long soft = truth_number(&t, "only_softly_reachable Zoo$Target");
        (void)snprintf(want, sizeof want, "%lld,%lld,%lld\n", soft + truth_number(&t, "Zoo$Refs.softAlive"),
                       soft + truth_number(&t, "Zoo$Refs.softAlive"), soft);
        ok_of(ask(&t.h, referents, &rows, { "by", "class" }, { "kind", "soft" }));
        expect_columns(rows, "class", "Zoo$Target", "references referents only", want);
        ok_of(ask(&t.h, referents, &rows, { "kind", "phantom,soft" }));
        (void)snprintf(want, sizeof want, "%lld",
                       soft + truth_number(&t, "Zoo$Refs.softAlive") + truth_number(&t, "Zoo$Refs.phantom"));
        cr_expect(eq(u64, count_rows(rows, "class", "Zoo$Target"), strtoull(want, NULL, 10)), "%s", t.dump);
        ok_of(ask_plainly(&t.h, referents, &rows));
        hdx_buffer b = columns_of(rows, "field", "Zoo$Refs#weakAlive", "kind reach class");
        for (unsigned i = 0; i < 10; i++)
            cr_expect(strncmp(b.at + i * strlen("weak,strong,Zoo$Target\n"), "weak,strong,Zoo$Target\n",
                              strlen("weak,strong,Zoo$Target\n")) == 0,
                      "%s", b.at);
        hdx_buffer_free(&b);
        truth_close(&t);
    }
}

/* ---- made heaps ---- */

typedef struct made {
    dump_maker *m;
    uint64_t    object, node, soft, weak, phantom, final;
} made;

static made made_begin(void)
{
    made k = { .m = dump_maker_new(8) };
    k.m->next_id = 0x10000;
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    dump_maker_class(k.m, "java.lang.Class", k.object, "");
    k.node = dump_maker_class(k.m, "app.Node", k.object, "a:L b:L");
    const uint64_t reference = dump_maker_class(k.m, "java.lang.ref.Reference", k.object, "referent:L queue:L");
    k.soft = dump_maker_class(k.m, "java.lang.ref.SoftReference", reference, "");
    k.weak = dump_maker_class(k.m, "java.lang.ref.WeakReference", reference, "");
    k.final = dump_maker_class(k.m, "java.lang.ref.FinalReference", reference, "");
    k.phantom = dump_maker_class(k.m, "java.lang.ref.PhantomReference", reference, "");
    k.m->next_id = 0x20000;
    return k;
}

static uint64_t rooted(made *k, uint64_t id)
{
    dump_maker_root(k->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

Test(strength, is_the_best_of_all_ways_and_the_weakest_link_of_each)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t end = dump_maker_instance(k.m, k.node, NULL);
    const uint64_t behind_weak = dump_maker_instance(k.m, k.soft, DUMP_VALUES(end, 0)); /* weak, then soft: weak */
    const uint64_t shared = dump_maker_instance(k.m, k.node, DUMP_VALUES(0, 0));
    uint64_t       chain = shared;
    for (unsigned i = 0; i < 5; i++) /* a strong way that is longer than the weak one */
        chain = dump_maker_instance(k.m, k.node, DUMP_VALUES(chain, 0));
    const uint64_t both = dump_maker_instance(k.m, k.node, NULL);
    const uint64_t kept = dump_maker_instance(k.m, k.node, NULL);
    rooted(&k, chain);
    rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(shared, 0)));
    rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(behind_weak, 0)));
    rooted(&k, dump_maker_instance(k.m, k.phantom, DUMP_VALUES(both, 0)));
    rooted(&k, dump_maker_instance(k.m, k.final, DUMP_VALUES(both, 0)));
    rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(kept, kept))); /* its queue holds it */
    const uint64_t ring = k.m->next_id;                                    /* two that hold each other */
    k.m->next_id += 64;
    dump_maker_instance_at(k.m, ring, k.node, DUMP_VALUES(ring + 32, 0));
    dump_maker_instance_at(k.m, ring + 32, k.node, DUMP_VALUES(ring, 0));
    rooted(&k, dump_maker_instance(k.m, k.soft, DUMP_VALUES(ring, 0)));
    rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(ring + 32, 0)));
    rooted(&k, dump_maker_instance(k.m, k.soft, DUMP_VALUES(0, 0)));
    rooted(&k, dump_maker_instance(k.m, k.soft, DUMP_VALUES(0x99, 0))); /* no object there */
    const uint64_t self = k.m->next_id;
    k.m->next_id += 32;
    rooted(&k, dump_maker_instance_at(k.m, self, k.weak, DUMP_VALUES(self, 0)));
    heap_open(&h, k.m);
    ok(ask(&h, referents, &rows, { "by", "kind" }));
    expect_rows(rows, "soft,4,0,1,2,1,2,64\nweak,5,0,0,5,1,2,64\nfinal,1,0,0,1,1,1,32\nphantom,1,0,0,1,0,0,0\n");
    cr_expect(eq(u64, check_against_search(&h, "made"), 5));
    ok(ask_plainly(&h, referents, &rows));
    hdx_buffer b = columns_of(rows, "kind", "weak", "reach");
    cr_expect(eq(str, b.at, (char *)"weak\nsoft\nstrong\nstrong\nstrong\n"));
    hdx_buffer_free(&b);
    heap_close(&h);
}

Test(strength, of_random_heaps_is_that_of_a_search)
{
    uint64_t weakly = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        enum { OBJECTS = 400 };
        heap     h;
        made     k = made_begin();
        uint64_t x = seed * 0x9e3779b97f4a7c15ull, first = k.m->next_id;
        for (unsigned i = 0; i < OBJECTS; i++) {
            const uint64_t to[2] = { first + 32 * (hdx_mix64(++x) % OBJECTS), first + 32 * (hdx_mix64(++x) % OBJECTS) };
            const uint64_t classes[] = { k.node, k.node, k.node, k.soft, k.weak, k.weak, k.final, k.phantom };
            const uint64_t class = classes[hdx_mix64(++x) % 8];
            const bool alone = hdx_mix64(++x) % 8 != 0; /* few have a second one */
            dump_maker_instance_at(k.m, first + 32 * i, class, DUMP_VALUES(to[0], alone ? 0 : to[1]));
        }
        for (unsigned i = 0; i < 12; i++)
            rooted(&k, first + 32 * (hdx_mix64(++x) % OBJECTS));
        heap_open(&h, k.m);
        char of[32];
        (void)snprintf(of, sizeof of, "seed %llu", (unsigned long long)seed);
        weakly += check_against_search(&h, of);
        heap_close(&h);
    }
    cr_expect(gt(u64, weakly, 500));
}

/* The first object on the way out that is no array, no collection and no reference. */
Test(referents, stand_beside_the_field_that_holds_their_reference)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin();
    const uint64_t arrays = dump_maker_class(k.m, "java.lang.Object[]", k.object, ""),
                   list = dump_maker_class(k.m, "java.util.Links", k.object, "array:L"),
                   box = dump_maker_class(k.m, "app.Box", k.object, "list:L one:L");
    uint64_t weak[3];
    for (unsigned i = 0; i < 3; i++)
        weak[i] = dump_maker_instance(k.m, k.weak, DUMP_VALUES(dump_maker_instance(k.m, k.node, DUMP_VALUES(0, 0)), 0));
    const uint64_t array = dump_maker_array(k.m, arrays, DUMP_VALUES(weak[0]), 1),
                   links = dump_maker_instance(k.m, list, DUMP_VALUES(array));
    rooted(&k, dump_maker_instance(k.m, box, DUMP_VALUES(links, weak[1])));
    rooted(&k, weak[2]);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, referents, &rows));
    expect_columns(rows, "class", "app.Node", "field", "app.Box#list\napp.Box#one\n-\n");
    heap_close(&h);
}

Test(referents, without_the_dump_are_not_told)
{
    heap      h;
    hdx_rows *rows;
    made      k = made_begin();
    rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(k.object, 0)));
    heap_open(&h, k.m);
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    ok(ask_plainly(&h, referents, &rows));
    cr_expect(
        eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"referents of references are missing from this dump"));
    hdx_rows_close(rows);
    ok(ask(&h, referents, &rows, { "by", "kind" }));
    expect_rows(rows, "weak,1,1,0,-,-,-,-\n");
    heap_close(&h);
}

Test(referents, keep_to_their_memory)
{
    enum { WEAK = 30000 };
    heap      h;
    hdx_rows *rows;
    hdx_mem   small = { .limit = 256u << 10 }, enough = { .limit = 16u << 20 };
    made      k = made_begin();
    for (unsigned i = 0; i < WEAK; i++)
        rooted(&k, dump_maker_instance(k.m, k.weak, DUMP_VALUES(dump_maker_instance(k.m, k.node, NULL), 0)));
    heap_open(&h, k.m);
    h.q.mem = &small;
    cr_expect(eq(int, ask_plainly(&h, referents, &rows), HDX_LIMIT));
    cr_expect(eq(u64, atomic_load(&small.used), 0));
    h.q.mem = &enough;
    ok(ask(&h, referents, &rows, { "by", "class" }));
    expect_rows(rows, "app.Node,30000,30000,30000,960000\n");
    cr_expect(eq(u64, atomic_load(&enough.used), 0));
    heap_close(&h);
}
