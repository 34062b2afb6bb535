/*
 * built.h - a dump of a maker and its index in a folder of its own, which is the working directory until it is closed.
 *
 *     built b = built_open(m, "roots");       takes the maker over
 *     ... b.g ...
 *     built_close(&b);
 */
#ifndef HDX_TESTS_MAKING_BUILT_H
#define HDX_TESTS_MAKING_BUILT_H

#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <unistd.h>

typedef struct built {
    char       folder[TEST_FOLDER];
    hdx_graph *g;
} built;

static inline built built_open(dump_maker *m, const char *stem)
{
    const hdx_index_options options = { .dump = "a.hprof", .index_dir = "a.hdx", .threads = 1 };
    hdx_index_report        report;
    hdx_error               err;
    built                   b;
    test_folder_make_fast(b.folder, stem);
    cr_assert(chdir(b.folder) == 0);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open("a.hdx", "a.hprof", &b.g, &err) == HDX_OK, "%s", err.message);
    return b;
}

static inline void built_close(built *b)
{
    hdx_graph_close(b->g);
    cr_assert(chdir("/") == 0);
    test_folder_remove(b->folder);
}

#endif
