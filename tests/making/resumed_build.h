/*
 * resumed_build.h - the index of a dump in one go, the .part folders of builds that stopped after each step, and builds
 * that find one of these, changed or not: each ends with the same files.
 *
 *     TestSuite(checkpoint, .init = make, .fini = drop, .timeout = 250);
 *     ...
 *     partial_build p = partial_copy(&left[k]);
 *     partial_head(&p)->done = 0;
 *     partial_seal(&p, true);
 *     cr_expect(!finish_from(&p, "no steps"));           whether the build resumed it
 */
#ifndef HDX_TESTS_MAKING_RESUMED_BUILD_H
#define HDX_TESTS_MAKING_RESUMED_BUILD_H

#include "making/partial_build.h"
#include "making/same_index.h"
#include "support/folder.h"
#include "support/own.h"
#include "tests/indexes/forged.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>

static char          folder[TEST_FOLDER], dump[64], part[96], place[96];
static partial_build straight, left[PARTIAL_STEPS]; /* left[k]: behind k + 1 steps */
static bool          went_on;
static unsigned      width; /* of ids; 0: as the heap allows */

static inline void notice(void *context, const char *line)
{
    (void)context;
    went_on = went_on || strstr(line, "resuming an earlier build after its step") != NULL;
}

static inline hdx_index_options options_of(void)
{
    return (hdx_index_options){ .dump = dump, .threads = 1, .width = width, .notice = notice };
}

/* Builds the index of the dump without interruption, and again with a stop after each step. */
static inline void build_parts(dump_maker *m)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err;
    char              path[96];
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    partial_read_folder(&straight, place);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        cr_assert(partial_stop(&options, k + 1, &err) == HDX_LIMIT, "step %u: %s", k, err.message);
        partial_read_folder(&left[k], part);
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    }
}

static inline void make(void)
{
    static heap_model h;
    test_folder_make_fast(folder, "partial"); /* hundreds of builds, each synced */
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(part, sizeof part, "%s", own_of_dump("part", dump));
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    build_parts(model_make(&h, 5, 380, 8));
}

static inline void free_parts(void)
{
    partial_free(&straight);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        partial_free(&left[k]);
}

static inline void drop(void)
{
    free_parts();
    test_folder_remove(folder);
}

/* The folder is there already: the next build ends with the straight one's files and no others. */
static inline bool finish(const char *what)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    char              path[96];
    went_on = false;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    partial_expect_same(&straight, place, what);
    cr_expect(access(part, F_OK) != 0, "%s: leftovers stay", what);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    return went_on;
}

/* Takes the copy. */
static inline bool finish_from(partial_build *p, const char *what)
{
    partial_write(p, part);
    partial_free(p);
    return finish(what);
}

static inline void tell_again(partial_build *p, const char *what)
{
    partial_seal(p, true);
    cr_expect(!finish_from(p, what), "%s", what);
}

/* The catalog of a checkpoint, or files of it, with other contents and right sums. */
static inline void change_catalog(unsigned k, void (*change)(forgery *f), const char *what, bool goes_on)
{
    partial_build p = { .count = 0 };
    partial_write(&left[k], part);
    forgery f = forge_begin(part, "checkpoint");
    change(&f);
    forge_end(&f);
    partial_read_folder(&p, part);
    partial_seal(&p, true);
    cr_expect(finish_from(&p, what) == goes_on, "%s", what);
}

/* What the catalog of a checkpoint has, after change_catalog(0, look, ...). */
static struct bounds {
    uint64_t objects;
    uint32_t classes;
} bounds;

static inline void look(forgery *f) { bounds = (struct bounds){ f->m.objects, f->class_count }; }

/* More than 65 536 objects, lists of more than 1024, roots everywhere. */
static inline void make_large(void)
{
    enum { NODES = 70000, LONG = 3000 };
    static uint64_t refs[LONG];
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "left:L right:L"),
                   array = dump_maker_class(m, "[Lapp/Node;", object, "");
    uint64_t before[2] = { 0, 0 };
    for (unsigned i = 0; i < NODES; i++) {
        const uint64_t id = dump_maker_instance(m, node, DUMP_VALUES(before[0], i % 3 == 0 ? before[1] : 0));
        before[i % 2] = i % 1000 == 0 ? 0 : id;
        refs[i % LONG] = id;
        if (i % LONG == LONG - 1)
            (void)dump_maker_array(m, array, refs, i % 7 == 0 ? LONG : 1025);
        if (i % 50 == 7)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, id, 0, 0);
    }
    for (unsigned i = 0; i < 5; i++) /* somebody with many referrers */
        (void)dump_maker_array(m, array, refs, LONG);
    free_parts();
    build_parts(m);
}

#endif
