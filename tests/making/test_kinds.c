/*
 * test_kinds.c - an index of each step has the files that the table of kinds (indexes/kinds.c) says, no more and no
 * less, and they hold.
 *
 * Which kinds a step makes is written down here once more, by name: the table is compared with it, and with what builds
 * leave in the folder.
 */
#include "graph/inside.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const added[] = {
    /* by step: what it makes besides */
    [HDX_STEP_OBJECTS] = "address position class size instances ",
    [HDX_STEP_OUTBOUND] = "outbound ",
    [HDX_STEP_INBOUND] = "inbound ",
    [HDX_STEP_DOMINATORS] = "special dominator nearest dominators dominated retained ",
};
enum { PLAIN, WITH_HEAPS, COMPRESSED, DUMPS };
static const char *const names[] = { "plain", "with heaps", "compressed" };

static char folder[TEST_FOLDER], dump[96];

static void enter(void) { test_folder_make(folder, "kinds"); }
static void leave(void) { test_folder_remove(folder); }
TestSuite(kinds, .init = enter, .fini = leave);

/* Nodes in a ring with an array of all of them, some garbage. */
static void make(int which)
{
    uint64_t    nodes[40];
    size_t      len;
    dump_maker *m = dump_maker_new(which == WITH_HEAPS ? 4 : 8);
    if (which == WITH_HEAPS)
        m->version = "1.0.3";
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L count:I"),
                   array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    if (which == WITH_HEAPS)
        dump_maker_heap_info(m, 'A', "app");
    for (unsigned i = 0; i < 40; i++)
        nodes[i] = dump_maker_instance(m, node, DUMP_VALUES(i == 0 ? 0 : nodes[i - 1], i));
    if (which == WITH_HEAPS)
        dump_maker_heap_info(m, 'Z', "zygote");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_array(m, array, nodes, 30), 0, 0);
    (void)dump_maker_primitives(m, 'I', NULL, 50000);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       packed = { 0 };
    (void)snprintf(dump, sizeof dump, "%s/a.hprof%s", folder, which == COMPRESSED ? ".gz" : "");
    if (which == COMPRESSED) {
        gm_member_put(&packed, bytes, len, &(gm_member){ .level = 6 });
        dump_maker_save_bytes(dump, packed.at, packed.len);
    } else
        dump_maker_save(m, dump);
    gm_free(&packed);
    dump_maker_free(m);
}

static bool expected(int which, hdx_kind kind, hdx_step until)
{
    char word[32];
    if (kind == HDX_KIND_HEAP || kind == HDX_KIND_SEEK)
        return which == (kind == HDX_KIND_HEAP ? WITH_HEAPS : COMPRESSED);
    (void)snprintf(word, sizeof word, "%s ", hdx_kind_name(kind));
    for (int step = HDX_STEP_OBJECTS; step <= (int)until; step++)
        for (const char *at = added[step]; (at = strstr(at, word)) != NULL; at++)
            if (at == added[step] || at[-1] == ' ')
                return true;
    return false;
}

static hdx_graph *build(hdx_step until, hdx_index_report *report)
{
    hdx_error         err = { 0 };
    hdx_graph        *g = NULL;
    hdx_index_options options = { .dump = dump, .until = until, .force = true };
    cr_assert(eq(int, hdx_index_build(&options, report, &err), HDX_OK), "%s", err.message);
    cr_assert(eq(int, hdx_graph_open(report->path, dump, &g, &err), HDX_OK), "%s", err.message);
    return g;
}

static bool exists(const char *index, hdx_kind kind)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", index, hdx_kind_name(kind));
    return access(path, F_OK) == 0;
}

Test(kinds, of_an_index_are_those_of_its_step_and_hold)
{
    hdx_index_report report;
    hdx_error        err = { 0 };
    for (int which = 0; which < DUMPS; which++) {
        make(which);
        for (int until = HDX_STEP_OBJECTS; until <= HDX_STEP_DOMINATORS; until++) {
            hdx_graph *g = build((hdx_step)until, &report);
            cr_expect(eq(u64, g->m->step, (uint64_t)until));
            const hdx_amounts amounts = hdx_graph_amounts(g, true);
            cr_expect(eq(u64, amounts.of[HDX_OF_HEAPS], which == WITH_HEAPS ? 2 : 0));
            for (int k = 0; k < HDX_KINDS; k++) {
                const bool  want = expected(which, (hdx_kind)k, (hdx_step)until);
                const char *name = hdx_kind_name((hdx_kind)k);
                cr_expect(eq(int, exists(report.path, (hdx_kind)k), want), "%s, until %d: file %s", names[which], until,
                          name);
                cr_expect(eq(int, g->m->files[k].name[0] != '\0', want), "%s, until %d: %s in the manifest",
                          names[which], until, name);
                cr_expect(eq(int, hdx_graph_use(g, (hdx_kind)k) != NULL, want), "%s, until %d: %s opens", names[which],
                          until, name);
                cr_expect(eq(int, hdx_kind_there((hdx_kind)k, (unsigned)until, &amounts, which == COMPRESSED), want),
                          "%s, until %d: %s in the table", names[which], until, name);
            }
            for (int full = 0; full < 2; full++)
                cr_expect(eq(int, hdx_graph_verify(g, full == 1, &err), HDX_OK), "%s, until %d: %s: %s", names[which],
                          until, err.where, err.message);
            hdx_graph_close(g);
        }
    }
}

/* A manifest that names one file too few, and one too many. */
Test(kinds, that_an_index_must_have_and_must_not_have_are_looked_at)
{
    hdx_index_report report;
    hdx_error        err = { 0 };
    for (int which = 0; which < DUMPS; which++) {
        make(which);
        hdx_graph_close(build(HDX_STEP_DOMINATORS, &report));
        for (int k = 0; k < HDX_KINDS; k++) {
            hdx_graph *g = NULL;
            cr_assert(eq(int, hdx_graph_open(report.path, dump, &g, &err), HDX_OK));
            hdx_manifest *m = (hdx_manifest *)g->m;
            const bool    there = m->files[k].name[0] != '\0', must = there && k != HDX_KIND_SEEK;
            m->files[k] = there ? (hdx_manifest_file){ .bytes = 0 } : m->files[HDX_KIND_CLASS];
            cr_expect(eq(int, hdx_graph_verify(g, false, &err), must || !there ? HDX_DAMAGED : HDX_OK), "%s: %s",
                      names[which], hdx_kind_name((hdx_kind)k));
            if (must || !there)
                cr_expect(strstr(err.message, there ? "not in the manifest" : "belongs to no step") != NULL &&
                              strstr(err.message, hdx_kind_name((hdx_kind)k)) != NULL,
                          "%s", err.message);
            hdx_graph_close(g);
        }
        for (int until = HDX_STEP_OBJECTS; until < HDX_STEP_DOMINATORS;
             until++) { /* the step says less than the files, and more */
            hdx_graph *g = NULL;
            cr_assert(eq(int, hdx_graph_open(report.path, dump, &g, &err), HDX_OK));
            ((hdx_manifest *)g->m)->step = (uint32_t)until;
            cr_expect(hdx_graph_verify(g, false, &err) == HDX_DAMAGED &&
                          strstr(err.message, "belongs to no step") != NULL,
                      "%s", err.message);
            hdx_graph_close(g);
        }
        for (int until = HDX_STEP_OBJECTS; until < HDX_STEP_DOMINATORS; until++) {
            hdx_graph *g = build((hdx_step)until, &report);
            ((hdx_manifest *)g->m)->step = (uint32_t)until + 1;
            cr_expect(hdx_graph_verify(g, false, &err) == HDX_DAMAGED &&
                          strstr(err.message, "not in the manifest") != NULL,
                      "%s", err.message);
            hdx_graph_close(g);
        }
    }
}

/* As they were before there was a table: README.md says the same in words. */
Test(kinds, have_the_encoding_keys_and_bounds_of_their_page)
{
    static const struct {
        hdx_kind     kind;
        hdx_encoding encoding;
        uint64_t     keys, below;
    } want[] = {
        { HDX_KIND_ADDRESS, HDX_ENCODING_ADDRESSES, 100, 0 },   { HDX_KIND_POSITION, HDX_ENCODING_INTS, 100, 601 },
        { HDX_KIND_CLASS, HDX_ENCODING_INTS, 100, 20 },         { HDX_KIND_SIZE, HDX_ENCODING_INTS, 100, 1ull << 33 },
        { HDX_KIND_HEAP, HDX_ENCODING_INTS, 100, 4 },           { HDX_KIND_OUTBOUND, HDX_ENCODING_ONE_TO_N, 100, 100 },
        { HDX_KIND_INBOUND, HDX_ENCODING_ONE_TO_N, 100, 100 },  { HDX_KIND_INSTANCES, HDX_ENCODING_ONE_TO_N, 20, 100 },
        { HDX_KIND_SPECIAL, HDX_ENCODING_RANKS, 100, 0 },       { HDX_KIND_DOMINATOR, HDX_ENCODING_INTS, 40, 102 },
        { HDX_KIND_NEAREST, HDX_ENCODING_INTS, 40, 102 },       { HDX_KIND_DOMINATORS, HDX_ENCODING_RANKS, 100, 0 },
        { HDX_KIND_DOMINATED, HDX_ENCODING_ONE_TO_N, 51, 100 }, { HDX_KIND_RETAINED, HDX_ENCODING_INTS, 100, 801 },
        { HDX_KIND_SEEK, HDX_ENCODING_SEEK, 0, 600 },           { HDX_KIND_CUT_FROM, HDX_ENCODING_RANKS, 100, 0 },
        { HDX_KIND_CUT, HDX_ENCODING_ONE_TO_N, 9, 100 },        { HDX_KIND_CUT_TO, HDX_ENCODING_RANKS, 100, 0 },
        { HDX_KIND_CUT_BY, HDX_ENCODING_ONE_TO_N, 8, 100 },
    };
    const hdx_amounts amounts = { { [HDX_OF_OBJECTS] = 100,
                                    [HDX_OF_CLASSES] = 20,
                                    [HDX_OF_HEAPS] = 3,
                                    [HDX_OF_SPECIALS] = 40,
                                    [HDX_OF_DOMINATORS] = 50,
                                    [HDX_OF_DUMP_BYTES] = 600,
                                    [HDX_OF_FILE_BYTES] = 700,
                                    [HDX_OF_LIVE_BYTES] = 800,
                                    [HDX_OF_CUT_FROM] = 9,
                                    [HDX_OF_CUT_TO] = 8 } };
    cr_assert(eq(sz, sizeof want / sizeof *want, HDX_KINDS));
    for (size_t i = 0; i < HDX_KINDS; i++) {
        const hdx_kind_row *row = hdx_kind_of(want[i].kind);
        cr_expect(eq(int, row->encoding, want[i].encoding), "%s", row->name);
        cr_expect(eq(u64, hdx_kind_keys(want[i].kind, &amounts), want[i].keys), "%s", row->name);
        cr_expect(eq(u64, hdx_measured(&amounts, row->below), want[i].below), "%s", row->name);
        cr_expect(eq(int, row->members,
                     want[i].kind == HDX_KIND_SPECIAL      ? HDX_OF_SPECIALS
                     : want[i].kind == HDX_KIND_DOMINATORS ? HDX_OF_DOMINATORS
                     : want[i].kind == HDX_KIND_ADDRESS    ? HDX_OF_OBJECTS
                     : want[i].kind == HDX_KIND_CUT_FROM   ? HDX_OF_CUT_FROM
                     : want[i].kind == HDX_KIND_CUT_TO     ? HDX_OF_CUT_TO
                                                           : HDX_OF_NOTHING),
                  "%s", row->name);
    }
}
