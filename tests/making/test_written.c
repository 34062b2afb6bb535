/*
 * test_written.c - index files have the bytes that they had: of small heaps with everything a dump may have, of odd and
 * damaged dumps, with one and with several threads, within narrow budgets. written.txt has the checksums
 * (support/checksums.h).
 *
 *     model SEED OBJECTS IDS THREADS MEMORY WIDTH       a random heap (heap_model.h); memory 0: no bound
 *     corpus NAME THREADS MEMORY WIDTH                  a dump of tests/fuzz/corpus/dump
 *     odd - THREADS MEMORY WIDTH                        names and texts as long and wide as can be (cli/odd.h)
 *     bookshop - THREADS MEMORY WIDTH
 */
#include "cli/odd.h"
#include "making/heap_model.h"
#include "support/checksums.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <dirent.h>
#include <unistd.h>

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Each file of the folder but the catalog, whose pages have times, and those of folders within. */
static void put_files(hdx_buffer *b, const char *folder)
{
    char           names[64][64], path[512];
    unsigned       count = 0;
    DIR           *d = opendir(folder);
    struct dirent *e;
    cr_assert(d != NULL, "%s", folder);
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.' && strncmp(e->d_name, "catalog", 7) != 0) {
            cr_assert(count < 64);
            (void)snprintf(names[count++], sizeof names[0], "%.63s", e->d_name);
        }
    (void)closedir(d);
    qsort(names, count, sizeof names[0], by_name);
    for (unsigned i = 0; i < count; i++) {
        char bytes[4096];
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE    *f = fopen(path, "rb");
        uint32_t crc = 0;
        uint64_t len = 0;
        cr_assert(f != NULL, "%s", path);
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0; len += n)
            crc = hdx_crc32c(crc, bytes, n);
        (void)fclose(f);
        hdx_buffer_format(b, "%s %llu %08x\n", names[i], (unsigned long long)len, crc);
    }
}

static void notice(void *context, const char *line) { hdx_buffer_format(context, "%s\n", line); }

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    static hdx_index_report report;
    char                    kind[16], name[64], dump[256];
    unsigned                objects = 0, ids = 0, threads = 0, width = 0;
    unsigned long long      memory = 0, seed = 0;
    hdx_error               err = { .offset = HDX_NOWHERE };
    static heap_model       h;
    (void)context;
    (void)system("rm -rf a.hprof made.hdx made.hdx.part");
    if (sscanf(ask, "model %llu %u %u %u %llu %u", &seed, &objects, &ids, &threads, &memory, &width) == 6) {
        dump_maker *m = model_make(&h, seed, objects, ids);
        dump_maker_save(m, "a.hprof");
        dump_maker_free(m);
        (void)snprintf(dump, sizeof dump, "a.hprof");
    } else {
        cr_assert(sscanf(ask, "%15s %63s %u %llu %u", kind, name, &threads, &memory, &width) == 5, "%s", ask);
        if (strcmp(kind, "odd") == 0)
            odd_make("a.hprof");
        (void)snprintf(dump, sizeof dump, "%s%s",
                       strcmp(kind, "odd") == 0        ? "a.hprof"
                       : strcmp(kind, "bookshop") == 0 ? HDX_TREE "/examples/bookshop.hprof.gz"
                                                       : HDX_TREE "/tests/fuzz/corpus/dump/",
                       strcmp(kind, "corpus") == 0 ? name : "");
    }
    hdx_index_options options = { .dump = dump,
                                  .index_dir = "made.hdx",
                                  .threads = threads,
                                  .memory = memory,
                                  .width = width,
                                  .notice = notice,
                                  .notice_context = b };
    const hdx_code    code = hdx_index_build(&options, &report, &err);
    if (code != HDX_OK) {
        hdx_buffer_format(b, "%s %lld %s\n", hdx_code_name(code), (long long)err.offset, err.message);
        return 0;
    }
    hdx_buffer_format(b, "%llu %llu %llu\n", (unsigned long long)report.objects,
                      (unsigned long long)report.live_objects, (unsigned long long)report.references);
    put_files(b, "made.hdx");
    return report.objects;
}

Test(written, files_have_the_bytes_that_they_had, .timeout = 120)
{
    char folder[TEST_FOLDER];
    test_folder_make_fast(folder, "written");
    cr_assert(chdir(folder) == 0);
    checksums_check(HDX_TREE "/tests/making/written.txt", text_of, NULL);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
