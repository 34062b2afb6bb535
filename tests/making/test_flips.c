/*
 * test_flips.c - each byte of each file of an index in its turn has a bit changed, and `verify` notices, without
 * --full.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <fcntl.h>

static char folder[TEST_FOLDER], dump[64], place[64];

static void enter(void)
{
    test_folder_make_fast(folder, "flips");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof.gz", folder);
    (void)snprintf(place, sizeof place, "%s/a.hprof.gz.hdx", folder);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(flips, .init = enter, .fini = leave);

static bool noticed(hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = hdx_graph_open(place, dump, &g, err);
    if (code == HDX_OK) {
        code = hdx_graph_verify(g, false, err);
        hdx_graph_close(g);
    }
    return code != HDX_OK;
}

static void flip(int fd, size_t at, unsigned bit)
{
    uint8_t byte;
    cr_assert(pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= (uint8_t)(1u << bit);
    cr_assert(pwrite(fd, &byte, 1, (off_t)at) == 1);
}

/* A compressed dump, so that seek.hdx is there, with Android heaps. */
static void build(void)
{
    static heap_model model;
    dump_maker       *m = model_make(&model, 3, 60, 8);
    size_t            len;
    gm_bytes          file = { NULL, 0, 0 };
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    dump_maker_heap_info(m, 1, "app");
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_member_put(&file, bytes, len / 2, &(gm_member){ .level = 0 });
    gm_member_put(&file, bytes + len / 2, len - len / 2, &(gm_member){ .level = 0 });
    dump_maker_save_bytes(dump, file.at, file.len);
    gm_free(&file);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(!noticed(&err), "%s: %s", err.where, err.message);
}

Test(flips, verify_notices_each_byte_of_each_file, .timeout = 250)
{
    partial_build files = { .count = 0 };
    char          path[256];
    unsigned      kinds = 0;
    build();
    partial_read_folder(&files, place);
    for (unsigned i = 0; i < files.count; i++) {
        unsigned missed = 0;
        (void)snprintf(path, sizeof path, "%s/%s", place, files.files[i].name);
        const int fd = open(path, O_RDWR);
        cr_assert(fd >= 0, "%s", path);
        for (size_t at = 0; at < files.files[i].len; at++) {
            hdx_error err = { .code = HDX_OK };
            flip(fd, at, (unsigned)(at + at / 8) % 8);
            if (!noticed(&err) && missed++ == 0)
                cr_expect(false, "%s: byte %zu of %zu", files.files[i].name, at, files.files[i].len);
            flip(fd, at, (unsigned)(at + at / 8) % 8);
        }
        cr_expect(missed == 0, "%s: %u bytes", files.files[i].name, missed);
        (void)close(fd);
        kinds += strstr(files.files[i].name, ".hdx") != NULL;
    }
    cr_expect(kinds == HDX_KINDS - HDX_CUT_KINDS, "%u files", kinds);
    partial_free(&files);
}
