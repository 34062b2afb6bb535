/*
 * test_stops.c - what builds that are told to stop leave, and what the next one says that it goes on from: one thread,
 * stopped when it asks for the so-manieth time. stops.txt has the checksums (support/checksums.h): calls of the first
 * build and of the second, 0 where it is not stopped; the budget of both, in MB, 0 for none.
 */
#include "making/parted.h"
#include "support/folder.h"
#include "support/dump_maker.h"
#ifdef __SANITIZE_ADDRESS__ /* where a build takes long */
#define CHECKSUMS_EACH 4u
#endif
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
    parted                   p = { .count = 0 };
    parted_read_folder(&p, folder);
    for (unsigned i = 0; i < p.count; i++) {
        bool varies = false;
        if (strcmp(p.files[i].name, "seal") == 0) /* where the clock is fine enough */
            continue;
        for (size_t k = 0; k < sizeof vary / sizeof *vary; k++)
            varies = varies || strcmp(p.files[i].name, vary[k]) == 0;
        hdx_buffer_format(b, "%s %llu\n", p.files[i].name, varies ? 0ull : (unsigned long long)p.files[i].len);
    }
    parted_free(&p);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    unsigned         calls[2], memory;
    hdx_error        err;
    hdx_index_report report;
    char             path[96];
    (void)context;
    cr_assert(sscanf(ask, "%u %u %u", &calls[0], &calls[1], &memory) == 3, "%s", ask);
    const hdx_index_options options = {
        .dump = "a.hprof", .threads = 1, .memory = (uint64_t)memory << 20, .notice = notice
    };
    said = b;
    for (unsigned i = 0; i < 2; i++) {
        const hdx_build_doors doors = { .io = hdx_io_system(), .every_step = true };
        const hdx_code        code = calls[i] > 0 ? parted_interrupt(&options, calls[i], &err)
                                                  : hdx_index_build_through(&doors, &options, &report, &err);
        hdx_buffer_format(b, "%s %s\n", hdx_code_name(code), code == HDX_OK ? "" : err.message);
        put_folder(b, code == HDX_OK ? "a.hprof.hdx" : "a.hprof.hdx.part");
        if (code == HDX_OK)
            break;
    }
    (void)hdx_index_remove(&options, path, sizeof path, &err);
    return b->len;
}

Test(stops, leave_what_they_left, .timeout = 300)
{
    static heap_model h;
    char              folder[TEST_FOLDER];
    test_folder_make_fast(folder, "stops");
    cr_assert(chdir(folder) == 0);
    dump_maker *m = model_make(&h, 5, 380, 8);
    for (unsigned i = 0; i < 40; i++) { /* segments, so that both readings have several stretches */
        dump_maker_segment(m);
        (void)dump_maker_primitives(m, 'J', NULL, 2000);
    }
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    checksums_check(HDX_TREE "/tests/making/stops.txt", text_of, NULL);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
