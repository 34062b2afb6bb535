/*
 * test_golden.c - every dump of the reference collection (../shared beside this tree; skipped where it is not): both
 * widths, one and more threads give the same bytes, as does the dump when it is not compressed; seek points are few,
 * and every invariant of the index holds. Android's heaps are told apart.
 */
#include "making/making.h"
#include "indexes/indexes.h"
#include "support/folder.h"
#include "support/whole.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define DUMPS HDX_TREE "/../shared/golden/dumps"
#define MOST  (test_each(2) == 2 ? 700u << 10 : 1u << 30) /* bytes of a packed dump */

static char *slurp(const char *index, int kind, size_t *len)
{
    char path[4300];
    (void)snprintf(path, sizeof path, "%s/%s.hdx", index, hdx_kind_name((hdx_kind)kind));
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *bytes = malloc(16u << 20);
    *len = fread(bytes, 1, 16u << 20, f);
    (void)fclose(f);
    return bytes;
}

static void unpack(const char *from, const char *to)
{
    static char part[1u << 16];
    int         n;
    gzFile      in = gzopen(from, "rb");
    FILE       *out = fopen(to, "wb");
    cr_assert(in != NULL && out != NULL);
    while ((n = gzread(in, part, sizeof part)) > 0)
        cr_assert(fwrite(part, 1, (size_t)n, out) == (size_t)n);
    cr_assert(n == 0 && gzclose(in) == Z_OK && fclose(out) == 0);
}

/* All files but the seek points. */
static void check_plain(const char *path, uint32_t number, const char *packed_index, uint64_t dump_size)
{
    char             folder[TEST_FOLDER], plain[64];
    hdx_index_report report;
    hdx_error        err;
    test_folder_make(folder, "golden");
    (void)snprintf(plain, sizeof plain, "%s/a.hprof", folder);
    unpack(path, plain);
    hdx_index_options options = { .dump = plain, .threads = 2, .dump_number = number };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", path, err.message);
    for (int kind = 0; kind < HDX_KINDS; kind++) {
        size_t n = 0, k = 0;
        char  *x = slurp(packed_index, kind, &n), *y = slurp(report.path, kind, &k);
        if (kind == HDX_KIND_SEEK)
            cr_expect(x != NULL && y == NULL && n <= dump_size * 15 / 1000 + 4096, "%s: %zu bytes of seek points", path,
                      n);
        else
            cr_expect((x == NULL) == (y == NULL) && n == k && (x == NULL || memcmp(x, y, n) == 0),
                      "%s: %s is another than of the plain dump", path, hdx_kind_name((hdx_kind)kind));
        free(x);
        free(y);
    }
    test_folder_remove(folder);
}

static void check_dump(const char *path, uint32_t number)
{
    char narrow_dir[TEST_FOLDER], wide_dir[TEST_FOLDER], small_dir[TEST_FOLDER]; /* empty folders become indexes */
    hdx_index_report narrow, wide, small;
    hdx_graph       *g;
    hdx_error        err;
    test_folder_make(narrow_dir, "narrow");
    test_folder_make(wide_dir, "wide");
    test_folder_make(small_dir, "small");
    hdx_index_options a = { .dump = path, .index_dir = narrow_dir, .width = 32, .threads = 1, .dump_number = number };
    hdx_index_options b = { .dump = path, .index_dir = wide_dir, .width = 64, .threads = 3, .dump_number = number };
    cr_assert(hdx_index_build(&a, &narrow, &err) == HDX_OK, "%s: %s", path, err.message);
    hdx_index_options c = { .dump = path, .index_dir = small_dir, .threads = 8, .dump_number = number };
    hdx_build_doors   doors = { .io = hdx_io_system(), .room = 1 }; /* as many ranges as there can be */
    cr_assert(hdx_index_build(&b, &wide, &err) == HDX_OK, "%s: %s", path, err.message);
    cr_assert(hdx_index_build_through(&doors, &c, &small, &err) == HDX_OK, "%s: %s", path, err.message);
    for (int kind = 0; kind < HDX_KINDS; kind++) {
        size_t n = 0, k = 0, m = 0;
        char  *x = slurp(narrow.path, kind, &n), *y = slurp(wide.path, kind, &k), *z = slurp(small.path, kind, &m);
        cr_expect((x == NULL) == (y == NULL) && n == k && (x == NULL || memcmp(x, y, n) == 0),
                  "%s: %s differs between widths", path, hdx_kind_name((hdx_kind)kind));
        cr_expect((x == NULL) == (z == NULL) && n == m && (x == NULL || memcmp(x, z, n) == 0),
                  "%s: %s differs between budgets", path, hdx_kind_name((hdx_kind)kind));
        free(x);
        free(y);
        free(z);
    }
    cr_assert(hdx_graph_open(narrow.path, path, &g, &err) == HDX_OK, "%s: %s", path, err.message);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    cr_expect(s->damage_count == 0, "%s: damage: %s", path, s->damage_count > 0 ? s->damage[0].expected : "");
    cr_expect(s->warning_count == (s->dumps_in_file > 1), "%s: %u warnings", path, s->warning_count);
    cr_expect(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s: %s", path, err.where, err.message);
    check_plain(path, number, narrow.path, s->dump_size);
    hdx_graph_close(g);
    test_folder_remove(narrow_dir);
    test_folder_remove(wide_dir);
    test_folder_remove(small_dir);
}

Test(golden, has_one_index_whatever_the_width_the_threads_and_the_memory)
{
    DIR           *folder = opendir(DUMPS);
    struct dirent *entry;
    char           path[1024];
    struct stat    info;
    if (folder == NULL)
        cr_skip("the reference collection is not beside this tree");
    while ((entry = readdir(folder)) != NULL) {
        const char *end = strstr(entry->d_name, ".hprof.gz");
        if (end == NULL)
            continue;
        (void)snprintf(path, sizeof path, DUMPS "/%s", entry->d_name);
        if (stat(path, &info) != 0 || info.st_size > MOST)
            continue;
        check_dump(path, 1);
        if (strncmp(entry->d_name, "sun_jdk6_31_hprofagent", 22) == 0)
            check_dump(path, 2);
    }
    (void)closedir(folder);
}

typedef struct heap_count {
    const char *dump, *heap;
    uint64_t    objects;
} heap_count;

/* Counts of the dumps' own programs and of an independent scanner (README of the collection). */
static const heap_count heaps[] = {
    { "art-ahat-base", "app", 15923 },
    { "art-ahat-test", "app", 25919 },
    { "art-derived-3heaps", "zygote", 9944 },
    { "art-derived-3heaps", "app", 15954 },
    { "art-derived-3heaps", "image", 21 },
    { "dialer", "zygote", 42243 },
    { "dialer", "app", 1444 },
};

Test(golden, tells_the_heaps_of_android_apart)
{
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        char             path[1024], dir[TEST_FOLDER];
        hdx_index_report report;
        hdx_graph       *g;
        hdx_error        err;
        uint64_t         count, found = 0, by_object = 0;
        (void)snprintf(path, sizeof path, DUMPS "/%s.hprof.gz", heaps[i].dump);
        if (access(path, R_OK) != 0)
            cr_skip("the reference collection is not beside this tree");
        test_folder_make(dir, "golden");
        hdx_index_options options = { .dump = path, .index_dir = dir };
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
                      hdx_graph_open(report.path, path, &g, &err) == HDX_OK,
                  "%s", err.message);
        const hdx_heap_space *spaces = hdx_graph_heaps(g, &count);
        for (uint64_t k = 0; k < count; k++)
            if (spaces[k].name.len == strlen(heaps[i].heap) &&
                memcmp(spaces[k].name.at, heaps[i].heap, spaces[k].name.len) == 0) {
                found = spaces[k].objects;
                for (hdx_id id = 0; id < hdx_graph_objects(g); id++)
                    by_object += hdx_graph_heap(g, id) == (int)k;
            }
        cr_expect(found == heaps[i].objects && by_object == found, "%s has %llu objects in %s, want %llu",
                  heaps[i].dump, (unsigned long long)found, heaps[i].heap, (unsigned long long)heaps[i].objects);
        hdx_graph_close(g);
        test_folder_remove(dir);
    }
}

Test(golden, reads_strings_of_art_and_dalvik)
{
    static const char *const dumps[] = { "art-ahat-test", "dialer" };
    for (size_t i = 0; i < 2; i++) {
        char             path[1024], dir[TEST_FOLDER];
        hdx_index_report report;
        hdx_graph       *g;
        hdx_error        err;
        hdx_refs         strings;
        hdx_id           id;
        uint64_t         count = 0, read = 0;
        (void)snprintf(path, sizeof path, DUMPS "/%s.hprof.gz", dumps[i]);
        if (access(path, R_OK) != 0)
            cr_skip("the reference collection is not beside this tree");
        test_folder_make(dir, "golden");
        hdx_index_options options = { .dump = path, .index_dir = dir };
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK &&
                      hdx_graph_open(report.path, path, &g, &err) == HDX_OK,
                  "%s", err.message);
        const hdx_class *c = hdx_graph_class_named(g, "java.lang.String");
        cr_assert(c != NULL);
        hdx_graph_instances(g, c->number, HDX_LIVE, &strings);
        while (hdx_refs_next(&strings, &id)) {
            char  *text = NULL;
            size_t len;
            bool   whole, is_string;
            cr_assert(hdx_graph_string(g, id, 1000, &text, &len, &whole, &is_string, &err) == HDX_OK, "%s",
                      err.message);
            count++;
            read += is_string && (len == 0 || text != NULL);
            hdx_text_free(text);
        }
        cr_expect(count > 300 && read == count, "%s: %llu of %llu strings can be read", dumps[i],
                  (unsigned long long)read, (unsigned long long)count);
        hdx_graph_close(g);
        test_folder_remove(dir);
    }
}
