/*
 * test_mutated.c - small dumps whose ids, class ids, types, counts and tags were changed: what `index` builds of them,
 * `verify --full` accepts.
 */
#include "making/heap_model.h"
#include "making/mutate.h"
#include "graph/graph.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 400u

static char folder[TEST_FOLDER], dump[64], index_dir[64];

static void enter(void)
{
    test_folder_make_fast(folder, "mutated");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index_dir, sizeof index_dir, "%s/a.hprof.hdx", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(mutated, .init = enter, .fini = leave);

/* Builds and verifies; whether there is an index. */
static bool builds(const char *path, const hdx_index_options *how, unsigned round)
{
    hdx_index_options options = *how;
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err = { .code = HDX_OK };
    char              removed[256];
    options.dump = path;
    options.index_dir = index_dir;
    const hdx_code code = hdx_index_build(&options, &report, &err);
    if (code != HDX_OK) {
        cr_expect(code == HDX_BAD_DUMP || code == HDX_LIMIT, "round %u: %s: %s", round, hdx_code_name(code),
                  err.message);
        return false;
    }
    cr_assert(hdx_graph_open(index_dir, path, &g, &err) == HDX_OK, "round %u: %s", round, err.message);
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "round %u: %s: %s", round, err.where, err.message);
    hdx_graph_close(g);
    (void)hdx_index_remove(&options, removed, sizeof removed, NULL);
    return true;
}

Test(mutated, dumps_build_indexes_that_verify)
{
    static heap_model    model;
    static mutate_places places;
    unsigned             built = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t       seed = round;
        size_t         len;
        dump_maker    *m = model_make(&model, round / 8, 20 + 10 * (round % 16), round % 2 == 0 ? 8 : 4);
        const uint8_t *made = dump_maker_bytes(m, &len);
        uint8_t       *bytes = malloc(len);
        cr_assert(bytes != NULL);
        memcpy(bytes, made, len);
        mutate_find(&places, bytes, len);
        cr_assert(places.count > 300, "%u places", places.count);
        for (unsigned n = 1 + round % 7; n > 0; n--)
            mutate_once(&places, bytes, &seed);
        dump_maker_save_bytes(dump, bytes, len);
        const hdx_index_options how = { .threads = 1 + round % 3, .until = (hdx_step)(round % 5) };
        built += builds(dump, &how, round);
        free(bytes);
        dump_maker_free(m);
    }
    cr_expect(built > ROUNDS / 2, "%u of %u", built, ROUNDS); /* what is refused tests little */
}

/*
 * An object array of a plain class, of a primitive array's class, and of one whose name is nowhere; beside real ones,
 * and instances of the same class.
 */
Test(mutated, object_arrays_of_any_class_have_the_length_of_their_record)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, ""),
                   plain = dump_maker_class(m, "app.Plain", object, "a:L");
    const uint64_t bytes = dump_maker_class(m, "[B", object, ""),
                   nameless = dump_maker_class_at(m, 0x9000, NULL, object, "");
    const uint64_t of[] = { plain, bytes, nameless, plain, bytes, dump_maker_class(m, "[Lapp.Plain;", object, "") };
    const uint32_t lengths[] = { 3, 5, 70000, 0, 0, 9 };
    enum { ARRAYS = sizeof of / sizeof *of };
    uint64_t          at[ARRAYS];
    hdx_index_options options = { .dump = dump, .index_dir = index_dir, .threads = 2 };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    hdx_id            id;
    for (unsigned i = 0; i < ARRAYS; i++)
        at[i] = dump_maker_array(m, of[i], NULL, lengths[i]);
    const uint64_t instance = dump_maker_instance(m, plain, DUMP_VALUES(at[0])),
                   array = dump_maker_primitives(m, 'B', NULL, 11);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, plain, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, instance, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK);
    cr_assert(hdx_graph_open(index_dir, dump, &g, &err) == HDX_OK);
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s", err.where, err.message);
    for (unsigned i = 0; i < ARRAYS; i++) { /* as heavy as any object array: MAT sizes the record (MAT 2.5) */
        uint64_t length, shallow;
        cr_assert(hdx_graph_find(g, at[i], &id));
        const uint64_t want = hdx_round_up(8 + 8 + 4 + 8 * (uint64_t)lengths[i], 8);
        cr_expect(hdx_graph_length(g, id) == lengths[i], "array %u: %llu", i,
                  (unsigned long long)hdx_graph_length(g, id));
        cr_expect(hdx_graph_shallow(g, id) == want, "array %u: %llu", i, (unsigned long long)hdx_graph_shallow(g, id));
        hdx_graph_read_lengths(g, id, 1, &length);
        hdx_graph_read_shallow(g, id, 1, &shallow);
        cr_expect(length == lengths[i] && shallow == want);
    }
    cr_assert(hdx_graph_find(g, instance, &id));
    cr_expect(hdx_graph_length(g, id) == 0 && hdx_graph_shallow(g, id) == 24);
    cr_assert(hdx_graph_find(g, array, &id));
    cr_expect(hdx_graph_length(g, id) == 11 && hdx_graph_shallow(g, id) == 40, "%llu",
              (unsigned long long)hdx_graph_shallow(g, id));
    hdx_graph_close(g);
}

Test(mutated, reproducers_build_indexes_that_verify)
{
    static const char *const files[] = { "oarr-of-plain-class", "oarr-class-without-name" };
    char                     path[512];
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/../shared/golden/hostile/%s.hprof", HDX_TREE, files[i]);
        if (access(path, R_OK) != 0)
            cr_skip_test("golden dumps are not here");
        cr_expect(builds(path, &(hdx_index_options){ .threads = 1 }, i));
    }
}
