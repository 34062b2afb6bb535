/*
 * test_moved.c - an index that is removed, or replaced by another one, while a graph is open: files that the graph has
 * not opened by then are not damaged, and the error says what happened.
 */
#include "little_index.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char       folder[TEST_FOLDER], dump[80], index_at[120], aside[120];
static hdx_graph *graph;

static void make(uint64_t nodes)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    uint64_t       last = object;
    for (uint64_t i = 0; i < nodes; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

static void build(void)
{
    const hdx_index_options options = { .dump = dump };
    hdx_index_report        report;
    hdx_error               err;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
}

static void enter(void)
{
    hdx_error err;
    test_folder_make(folder, "moved");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index_at, sizeof index_at, "%s.hdx", dump);
    (void)snprintf(aside, sizeof aside, "%s/aside", folder);
    make(100);
    build();
    cr_assert(hdx_graph_open(index_at, dump, &graph, &err) == HDX_OK, "%s", err.message);
}

static void leave(void)
{
    hdx_graph_close(graph);
    test_folder_remove(folder);
}
TestSuite(moved, .init = enter, .fini = leave);

/* Of a file that is opened by this question. */
static hdx_code ask(hdx_error *err)
{
    *err = (hdx_error){ .code = HDX_OK };
    (void)hdx_graph_retained(graph, hdx_graph_objects(graph) - 1);
    return hdx_graph_check(graph, err);
}

static void expect_busy(void)
{
    hdx_error err;
    cr_expect(eq(int, ask(&err), HDX_BUSY), "%s: %s", err.where, err.message);
    cr_expect(strstr(err.message, "was replaced or removed while it was being read") != NULL, "%s", err.message);
}

Test(moved, files_of_an_index_that_was_removed_are_not_damaged)
{
    cr_assert(eq(int, rename(index_at, aside), 0));
    expect_busy();
}

Test(moved, files_of_an_index_that_was_replaced_by_that_of_another_dump_are_not_damaged)
{
    cr_assert(eq(int, rename(index_at, aside), 0));
    make(200);
    build();
    expect_busy();
}

Test(moved, files_of_the_same_index_that_was_built_again_are_read)
{
    hdx_error err;
    cr_assert(eq(int, rename(index_at, aside), 0));
    build();
    cr_expect(eq(int, ask(&err), HDX_OK), "%s: %s", err.where, err.message);
}

Test(moved, a_file_that_is_missing_from_an_index_in_its_place_is_damage)
{
    hdx_error err;
    char      file[160];
    (void)snprintf(file, sizeof file, "%s/retained.hdx", index_at);
    cr_assert(eq(int, unlink(file), 0));
    cr_expect(eq(int, ask(&err), HDX_DAMAGED), "%s: %s", err.where, err.message);
}
