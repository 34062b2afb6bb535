/*
 * test_answers.c - random small heaps, indexed, against the definitions: reachable, dominated, retained, nearest,
 * inbound.
 */
#include "making/heap_model.h"
#include "catalog/catalog.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>

static char folder[TEST_FOLDER], dump[64], index_dir[64];

static void enter(void)
{
    test_folder_make(folder, "answers");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index_dir, sizeof index_dir, "%s/a.hprof.hdx", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(answers, .init = enter, .fini = leave);

static hdx_id id_of(hdx_graph *g, const heap_model *h, unsigned i)
{
    hdx_id id;
    cr_assert(hdx_graph_find(g, h->at[i].address, &id), "object 0x%llx has no id",
              (unsigned long long)h->at[i].address);
    return id;
}

static uint64_t drain(hdx_refs *cursor, uint64_t *digest)
{
    uint64_t n = 0;
    hdx_id   id;
    *digest = 0;
    while (hdx_refs_next(cursor, &id)) {
        *digest += (id + 1) * 0x9e3779b97f4a7c15ull;
        n++;
    }
    return n;
}

static void check_lists(hdx_graph *g, const heap_model *h, unsigned i)
{
    hdx_refs cursor;
    uint64_t want = 0, got, digest, n = 0;
    hdx_id   id = id_of(g, h, i);
    for (unsigned k = 0; k <= h->at[i].ref_count; k++)
        want += (id_of(g, h, k == h->at[i].ref_count ? h->at[i].class_index : h->at[i].refs[k]) + 1) *
                0x9e3779b97f4a7c15ull;
    hdx_graph_outbound(g, id, HDX_ALL, &cursor);
    got = drain(&cursor, &digest);
    cr_expect(got == h->at[i].ref_count + 1u && digest == want, "outbound of object %u", i);
    want = 0;
    for (unsigned from = 0; from < h->count; from++) {
        bool refers = h->at[from].class_index == i;
        for (unsigned k = 0; k < h->at[from].ref_count; k++)
            refers |= h->at[from].refs[k] == i;
        if (refers && h->at[from].live) {
            want += (id_of(g, h, from) + 1) * 0x9e3779b97f4a7c15ull;
            n++;
        }
    }
    hdx_graph_inbound(g, id, HDX_LIVE, &cursor);
    got = drain(&cursor, &digest);
    cr_expect(got == n && digest == want, "inbound of object %u: %llu, want %llu", i, (unsigned long long)got,
              (unsigned long long)n);
    cr_expect(hdx_graph_inbound_count(g, id, HDX_LIVE) == n);
}

/* Number of steps of a shortest path from a root, by relaxing until nothing changes. */
static void distances(const heap_model *h, unsigned *d)
{
    bool changed = true;
    for (unsigned i = 0; i < h->count; i++)
        d[i] = h->at[i].is_root ? 0 : UINT32_MAX;
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < h->count; i++)
            for (unsigned k = 0; d[i] != UINT32_MAX && k <= h->at[i].ref_count; k++) {
                unsigned t = k == h->at[i].ref_count ? h->at[i].class_index : h->at[i].refs[k];
                if (d[t] > d[i] + 1) {
                    d[t] = d[i] + 1;
                    changed = true;
                }
            }
    }
}

/*
 * Only what does not follow from the only referrer is stored: garbage, roots, class objects, and whoever has no or
 * several referrers.
 */
static void check_specials(const heap_model *h, const char *index, uint64_t seed)
{
    hdx_catalog *catalog;
    uint64_t     want = 0;
    for (unsigned i = 0; i < h->count; i++) {
        unsigned referrers = 0;
        for (unsigned from = 0; from < h->count; from++)
            for (unsigned k = 0; k < h->at[from].ref_count; k++)
                referrers += h->at[from].refs[k] == i;
        want += !h->at[i].live || h->at[i].is_root || h->at[i].is_class || referrers != 1;
    }
    cr_assert(hdx_catalog_open(hdx_io_system(), index, &catalog, NULL) == HDX_OK);
    cr_expect(hdx_catalog_manifest(catalog)->specials == want, "seed %llu: %llu special objects, want %llu",
              (unsigned long long)seed, (unsigned long long)hdx_catalog_manifest(catalog)->specials,
              (unsigned long long)want);
    hdx_catalog_close(catalog);
}

static void check_heap(uint64_t seed, unsigned objects, uint32_t id_size, unsigned width, unsigned threads)
{
    static heap_model h;
    static bool       all[MODEL_MAX], without[MODEL_MAX];
    unsigned          d[MODEL_MAX];
    hdx_index_options options = { .dump = dump, .width = width, .threads = threads, .force = true };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    uint64_t          live = 0;
    dump_maker       *m = model_make(&h, seed, objects, id_size);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "seed %llu: %s", (unsigned long long)seed,
              err.message);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "seed %llu: %s: %s", (unsigned long long)seed,
              err.where, err.message);
    cr_assert(hdx_graph_objects(g) == h.count, "seed %llu: %llu objects, want %u", (unsigned long long)seed,
              (unsigned long long)hdx_graph_objects(g), h.count);
    model_reach(&h, MODEL_MAX, all);
    for (unsigned i = 0; i < h.count; i++) {
        h.at[i].live = all[i];
        live += all[i];
    }
    distances(&h, d);
    check_specials(&h, report.path, seed);
    cr_expect(hdx_graph_summary_of(g)->live_objects == live, "seed %llu", (unsigned long long)seed);
    for (unsigned i = 0; i < h.count; i++) {
        hdx_id   id = id_of(g, &h, i);
        uint64_t retained = 0, above = 0;
        cr_expect(hdx_graph_live(g, id) == all[i], "seed %llu: object %u live", (unsigned long long)seed, i);
        check_lists(g, &h, i);
        if (!all[i]) {
            cr_expect(hdx_graph_dominator(g, id) == HDX_NO_ID && hdx_graph_nearest(g, id) == HDX_NO_ID);
            continue;
        }
        model_reach(&h, i, without);
        for (unsigned k = 0; k < h.count; k++)
            if (all[k] && !without[k])
                retained += hdx_graph_shallow(g, id_of(g, &h, k));
        cr_expect(hdx_graph_retained(g, id) == retained, "seed %llu: object %u retains %llu, want %llu",
                  (unsigned long long)seed, i, (unsigned long long)hdx_graph_retained(g, id),
                  (unsigned long long)retained);
        for (hdx_id x = hdx_graph_dominator(g, id); x != HDX_VIRTUAL_ROOT && above <= h.count;
             x = hdx_graph_dominator(g, x))
            above++;
        uint64_t dominators = 0; /* as many as there are objects without which this one is gone */
        for (unsigned k = 0; k < h.count; k++)
            if (k != i && all[k]) {
                model_reach(&h, k, without);
                dominators += !without[i];
            }
        cr_expect(above == dominators, "seed %llu: object %u has %llu dominators, want %llu", (unsigned long long)seed,
                  i, (unsigned long long)above, (unsigned long long)dominators);
        unsigned steps = 0;
        for (hdx_id x = id; hdx_graph_nearest(g, x) != x && steps <= h.count; x = hdx_graph_nearest(g, x))
            steps++;
        cr_expect(steps == d[i], "seed %llu: object %u is %u steps from a root, want %u", (unsigned long long)seed, i,
                  steps, d[i]);
    }
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "seed %llu: %s: %s", (unsigned long long)seed, err.where,
              err.message);
    cr_expect(hdx_graph_check(g, &err) == HDX_OK);
    hdx_graph_close(g);
}

Test(answers, follow_from_the_definitions_on_random_heaps)
{
    for (uint64_t seed = 1; seed <= 24; seed++)
        check_heap(seed * 7919, 20 + (unsigned)(seed * 13 % 90), seed % 3 == 0 ? 4 : 8, seed % 2 == 0 ? 32 : 64,
                   1 + (unsigned)(seed % 3));
}
