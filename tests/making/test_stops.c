/*
 * test_stops.c - what builds that are told to stop leave, and what the next one says that it goes on from: one thread,
 * stopped when it asks for the so-manieth time. stops.txt has the checksums (support/checksums.h): what is
 * built, calls of the first build and of the second, 0 where it is not stopped; the budget of both, in MB, 0 for none.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include "support/dump_maker.h"
#define CHECKSUMS_EACH 4u
#include "support/checksums.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static hdx_buffer *said;

static void notice(void *context, const char *line)
{
    (void)context;
    hdx_buffer_format(said, "said: %s\n", line);
}

/* Names, and sizes but of what knows the time or the place. */
static void put_folder(hdx_buffer *b, const char *folder)
{
    static const char *const vary[] = { "catalog.mdb", "catalog.sum", "checkpoint/catalog.mdb",
                                        "checkpoint/catalog.sum" };
    partial_build            p = { .count = 0 };
    partial_read_folder(&p, folder);
    for (unsigned i = 0; i < p.count; i++) {
        bool varies = false;
        if (strcmp(p.files[i].name, "seal") == 0) /* where the clock is fine enough */
            continue;
        for (size_t k = 0; k < sizeof vary / sizeof *vary; k++)
            varies = varies || strcmp(p.files[i].name, vary[k]) == 0;
        hdx_buffer_format(b, "%s %llu\n", p.files[i].name, varies ? 0ull : (unsigned long long)p.files[i].len);
    }
    partial_free(&p);
}

static hdx_view_wanted want = { .name = "v", .spec = "-roots:JAVA_LOCAL", .roots = 1u << HDX_ROOT_JAVA_LOCAL };

/* One build, of an index or of a view of the index that is there, stopped when it asks so often; 0: not stopped. */
static hdx_code build(bool view, const hdx_index_options *options, unsigned calls, hdx_error *err)
{
    const hdx_build_doors doors = { .io = hdx_io_system(), .every_step = true };
    partial_calls         c = { .last = calls };
    hdx_index_options     asked = *options;
    hdx_index_report      report;
    hdx_view_wanted       w = want;
    if (calls > 0)
        asked.progress = (hdx_progress){ .context = &c, .cancelled = partial_is_wanted };
    return view ? hdx_view_build_through(&doors, &asked, &w, &report, err)
                : hdx_index_build_through(&doors, &asked, &report, err);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    unsigned  calls[2], memory;
    char      what[8], path[96];
    hdx_error err;
    (void)context;
    cr_assert(sscanf(ask, "%7s %u %u %u", what, &calls[0], &calls[1], &memory) == 4, "%s", ask);
    const bool              view = strcmp(what, "view") == 0;
    const hdx_index_options options = {
        .dump = view ? "b.hprof" : "a.hprof", .threads = 1, .memory = (uint64_t)memory << 20, .notice = notice
    };
    said = b;
    for (unsigned i = 0; i < 2; i++) {
        const hdx_code code = build(view, &options, calls[i], &err);
        hdx_buffer_format(b, "%s %s\n", hdx_code_name(code), code == HDX_OK ? "" : err.message);
        put_folder(b, view             ? code == HDX_OK ? "b.hprof.hdx/views/v" : "b.hprof.hdx/views/.heapdex-part-v"
                      : code == HDX_OK ? "a.hprof.hdx"
                                       : ".heapdex-part-a.hprof.hdx");
        if (code == HDX_OK)
            break;
    }
    if (view && access("b.hprof.hdx/views", F_OK) == 0)
        test_folder_remove("b.hprof.hdx/views");
    if (!view)
        (void)hdx_index_remove(&options, path, sizeof path, &err);
    return b->len;
}

/* Several segments, so that both readings have several stretches. */
static void save(const char *path)
{
    static heap_model h;
    dump_maker       *m = model_make(&h, 5, 380, 8);
    for (unsigned i = 0; i < 40; i++) {
        dump_maker_segment(m);
        (void)dump_maker_primitives(m, 'J', NULL, 2000);
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

Test(stops, leave_what_they_left, .timeout = 300)
{
    const hdx_index_options options = { .dump = "b.hprof", .threads = 1 };
    char                    folder[TEST_FOLDER];
    hdx_index_report        report;
    hdx_catalog            *c;
    hdx_error               err;
    test_folder_make_fast(folder, "stops");
    cr_assert(chdir(folder) == 0);
    save("a.hprof");
    save("b.hprof");
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_catalog_open(hdx_io_system(), report.path, &c, &err) == HDX_OK);
    memcpy(want.index, hdx_catalog_manifest(c)->identity, sizeof want.index);
    hdx_catalog_close(c);
    checksums_check(HDX_TREE "/tests/making/stops.txt", text_of, NULL);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
