/*
 * test_shortened.c - an index file that becomes shorter while it is read is damage, and not the end of the process.
 */
#include "little_index.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static hdx_graph *graph;

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!hdx_graph_handle_fault(graph, info->si_addr)) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

/* 40,000 nodes that refer to each other: files of several pages. */
static void make_dump(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    uint64_t node = dump_maker_class(m, "app/Node", object, "next:L,other:L"), last = object, before = object;
    for (int i = 0; i < 40000; i++) {
        uint64_t next = dump_maker_instance(m, node, DUMP_VALUES(last, i % 3 == 0 ? object : before));
        if (i % 7 == 0)
            before = last;
        last = next;
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, node, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(shortened, files_are_damage_and_not_the_end_of_the_process)
{
    static const char *const files[] = { "class", "outbound", "inbound", "retained", "address", "position" };
    struct sigaction         bus = { .sa_sigaction = on_bus_error, .sa_flags = (int)SA_SIGINFO };
    char                     folder[TEST_FOLDER], dump[64], file[4300];
    hdx_index_report         report;
    hdx_error                err;
    cr_assert(sigaction(SIGBUS, &bus, NULL) == 0);
    test_folder_make(folder, "short");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    make_dump(dump);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        hdx_index_options options = { .dump = dump, .force = true };
        uint64_t          sum = 0;
        hdx_addr          addr;
        hdx_pos           pos;
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
        cr_assert(hdx_graph_open(report.path, dump, &graph, &err) == HDX_OK);
        const hdx_id objects = hdx_graph_objects(graph);
        for (unsigned round = 0; round < 2; round++) {
            for (hdx_id id = 0; id < objects; id++) {
                addr = hdx_graph_address(graph, id);
                sum += hdx_graph_find(graph, addr, &(hdx_id){ 0 }) + hdx_graph_class_of(graph, id) +
                       hdx_graph_outbound_count(graph, id, HDX_ALL) + hdx_graph_inbound_count(graph, id, HDX_ALL) +
                       hdx_graph_retained(graph, id) + hdx_graph_position(graph, id, &pos);
            }
            if (round == 0) {
                cr_assert(hdx_graph_check(graph, &err) == HDX_OK);
                (void)snprintf(file, sizeof file, "%s/%s.hdx", report.path, files[i]);
                cr_assert(truncate(file, 0) == 0);
            }
        }
        cr_expect(sum > 0 && hdx_graph_check(graph, &err) == HDX_DAMAGED, "%s: nothing noticed", files[i]);
        cr_expect(strstr(err.where, files[i]) != NULL && strstr(err.message, "truncated") != NULL, "%s: %s: %s",
                  files[i], err.where, err.message);
        hdx_graph_close(graph);
    }
    test_folder_remove(folder);
}

Test(shortened, addresses_elsewhere_are_not_mended)
{
    char             folder[TEST_FOLDER], dump[64];
    hdx_index_report report;
    hdx_error        err;
    int              local;
    test_folder_make(folder, "short");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    make_dump(dump);
    hdx_index_options options = { .dump = dump };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
              hdx_graph_open(report.path, dump, &graph, &err) == HDX_OK);
    const bool mended = hdx_graph_handle_fault(graph, &local) || hdx_graph_handle_fault(graph, NULL);
    cr_expect(mended == false && hdx_graph_check(graph, &err) == HDX_OK);
    hdx_graph_close(graph);
    test_folder_remove(folder);
}
