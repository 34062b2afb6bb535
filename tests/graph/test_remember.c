/* test_remember.c - answers kept beside an index: what comes back, what is refused and in which words. */
#include "graph/little_index.h"

#include "graph/graph.h"
#include "graph/inside.h"
#include "support/faulty.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD 48u

static little *small_heap(void)
{
    little *l = little_new();
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    return l;
}

static void path_of(const little *l, const char *name, char path[256])
{
    (void)snprintf(path, 256, "%s/%s", l->index, name);
}

static bool recalled(const little *l, uint64_t key, const void *bytes, uint64_t len)
{
    hdx_remembered r = hdx_graph_recall(l->g, key);
    const bool     same = r.at != NULL && r.size == len && (len == 0 || memcmp(r.at, bytes, len) == 0);
    cr_expect(same || (r.at == NULL && r.size == 0));
    hdx_mem_put(NULL, r.at, r.size);
    return same;
}

/* Keys 0 to 30 have files of their own; all others share sixteen. */
Test(remember, names_a_file_for_each_key)
{
    static const struct {
        uint64_t    key;
        const char *name;
    } names[] = {
        { 0, "retained-class" }, { 1, "retained-package" }, { 2, "retained-loader" },  { 3, "retained-superclass" },
        { 4, "paths-class" },    { 5, "paths-package" },    { 6, "paths-loader" },     { 7, "children-0" },
        { 14, "children-7" },    { 15, "answers-0" },       { 30, "answers-f" },       { 31, "leaks-f" },
        { 32, "leaks-0" },       { 33, "leaks-1" },         { UINT64_MAX, "leaks-f" }, { UINT64_MAX - 5, "leaks-a" }
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_expect(eq(str, (char *)(uintptr_t)hdx_graph_saved_name(names[i].key), (char *)(uintptr_t)names[i].name));
}

Test(remember, gives_back_what_was_kept_under_the_same_key)
{
    little *l = small_heap();
    cr_expect(not(recalled(l, 2, "", 0)));
    cr_expect(hdx_graph_remember(l->g, 2, "an answer", 9));
    cr_expect(recalled(l, 2, "an answer", 9));
    cr_expect(not(recalled(l, 3, "an answer", 9)));
    cr_expect(hdx_graph_remember(l->g, 2, "another one", 11));
    cr_expect(recalled(l, 2, "another one", 11));
    cr_expect(hdx_graph_remember(l->g, 100, "", 0)); /* leaks-4 */
    cr_expect(recalled(l, 100, "", 0));
    cr_expect(not(recalled(l, 116, "", 0))); /* leaks-4 too */
    cr_expect(hdx_graph_remember(l->g, 116, "x", 1));
    cr_expect(recalled(l, 116, "x", 1));
    cr_expect(not(recalled(l, 100, "", 0)));
    little_close(l);
}

Test(remember, lists_what_is_kept_in_the_order_of_names)
{
    little     *l = small_heap();
    const char *name = "";
    uint64_t    bytes = 0;
    cr_expect(not(hdx_graph_saved(l->g, 0, &name, &bytes)));
    cr_expect(hdx_graph_remember(l->g, 31, "12345", 5)); /* leaks-f */
    cr_expect(hdx_graph_remember(l->g, 0, "1", 1));
    cr_expect(hdx_graph_remember(l->g, 32, "12", 2)); /* leaks-0 */
    static const struct {
        const char *name;
        uint64_t    bytes;
    } want[] = { { "retained-class", HEAD + 1 }, { "leaks-0", HEAD + 2 }, { "leaks-f", HEAD + 5 } };
    unsigned files = 0;
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(hdx_graph_saved(l->g, i, &name, &bytes));
        cr_expect(eq(str, (char *)(uintptr_t)name, (char *)(uintptr_t)want[i].name));
        cr_expect(eq(u64, bytes, want[i].bytes));
    }
    cr_expect(not(hdx_graph_saved(l->g, 3, &name, &bytes)));
    /* All files of the index: those of the kinds, the catalog, and these. */
    for (; hdx_graph_file(l->g, files, &name, &bytes) && files < 40; files++)
        if (strcmp(name, "catalog") == 0)
            break;
    cr_expect(eq(u32, files, HDX_KINDS - HDX_CUT_KINDS - 2)); /* no heaps, no seek points */
    cr_expect(bytes >= 4096 && bytes % 4096 == 0);
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(hdx_graph_file(l->g, files + 1 + i, &name, &bytes));
        cr_expect(eq(str, (char *)(uintptr_t)name, (char *)(uintptr_t)want[i].name));
        cr_expect(eq(u64, bytes, want[i].bytes));
    }
    cr_expect(not(hdx_graph_file(l->g, files + 4, &name, &bytes)));
    little_close(l);
}

static const char *fault(const little *l, const char *name, hdx_code want)
{
    static hdx_error err;
    hdx_remembered   r;
    uint64_t         key = 4711;
    err = (hdx_error){ 0 };
    cr_expect(eq(int, hdx_graph_saved_read(l->g, name, &key, &r, &err), want), "%s", err.message);
    if (want != HDX_OK) {
        cr_expect(r.at == NULL && r.size == 0);
        cr_expect(eq(str, err.where, (char *)(uintptr_t)name));
        cr_expect(eq(u64, err.offset, HDX_NOWHERE));
        hdx_error verified = { 0 };
        if (want == HDX_DAMAGED) {
            cr_expect(eq(int, hdx_graph_verify(l->g, false, &verified), HDX_DAMAGED));
            cr_expect(eq(str, verified.message, err.message));
            cr_expect(strstr(verified.hint, "it is safe to delete: ") == verified.hint &&
                      strstr(verified.hint, name) != NULL);
        }
    }
    hdx_mem_put(NULL, r.at, r.size);
    return err.message;
}

/* One byte of the file changed, and the sums put right as far as `sums` says: of the head, of the content too. */
Test(remember, refuses_files_that_are_not_whole)
{
    static const struct {
        unsigned    at;
        uint8_t     value;
        unsigned    sums;
        const char *message;
    } cases[] = {
        { 0, 'h', 1, "" },
        { 0, 'H', 1, "does not begin like a stored answer" },
        { 7, 'B', 1, "does not begin like a stored answer" },
        { 8, 'L', 0, "its header has a wrong checksum" },
        { 44, 0, 0, "its header has a wrong checksum" },
        { 8, 'L', 1, "belongs to another index" },
        { 23, 'L', 1, "belongs to another index" },
        { 24, 3, 1, "its key belongs to another name" },
        { 24, 5, 1, "its key belongs to another name" },
        { 32, 8, 1, "its length differs from its header" },
        { 32, 10, 1, "its length differs from its header" },
        { 39, 1, 1, "its length differs from its header" },
        { 40, 0, 1, "its checksum is wrong" },
        { 48, 'A', 1, "its checksum is wrong" },
        { 56, 'R', 1, "its checksum is wrong" },
        { 56, 'R', 2, "" },
    };
    little *l = small_heap();
    char    path[256];
    path_of(l, "retained-loader", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bytes[HEAD + 9];
        cr_assert(hdx_graph_remember(l->g, 2, "an answer", 9));
        FILE *f = fopen(path, "r+b");
        cr_assert(f != NULL && fread(bytes, 1, sizeof bytes, f) == sizeof bytes);
        bytes[cases[i].at] = cases[i].value;
        if (cases[i].sums > 1)
            hdx_put32(bytes + 40, hdx_crc32c(0, bytes + HEAD, 9));
        if (cases[i].sums > 0)
            hdx_put32(bytes + 44, hdx_crc32c(0, bytes, 44));
        rewind(f);
        cr_assert(fwrite(bytes, 1, sizeof bytes, f) == sizeof bytes);
        (void)fclose(f);
        const bool fine = cases[i].message[0] == '\0';
        cr_expect(eq(str, (char *)(uintptr_t)fault(l, "retained-loader", fine ? HDX_OK : HDX_DAMAGED),
                     (char *)(uintptr_t)cases[i].message),
                  "case %zu", i);
        cr_expect(eq(int, recalled(l, 2, bytes + HEAD, 9), fine));
    }
    little_close(l);
}

Test(remember, refuses_files_of_other_lengths_and_what_is_no_file)
{
    static const struct {
        off_t       size;
        const char *message;
    } sizes[] = { { 0, "is shorter than the header of a stored answer" },
                  { 47, "is shorter than the header of a stored answer" },
                  { 48, "its length differs from its header" },
                  { 56, "its length differs from its header" },
                  { 58, "its length differs from its header" },
                  { 1 << 30, "its length differs from its header" },
                  { (1 << 30) + 1, "is not a stored answer: the file is too large" } };
    little *l = small_heap();
    char    path[256];
    path_of(l, "retained-class", path);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cr_assert(hdx_graph_remember(l->g, 0, "an answer", 9));
        cr_assert(eq(int, truncate(path, sizes[i].size), 0));
        cr_expect(
            eq(str, (char *)(uintptr_t)fault(l, "retained-class", HDX_DAMAGED), (char *)(uintptr_t)sizes[i].message));
    }
    cr_assert(remove(path) == 0);
    cr_expect(eq(str, (char *)(uintptr_t)fault(l, "retained-class", HDX_NOT_FOUND), "no stored answer with this name"));
    cr_assert(mkdir(path, 0700) == 0);
    cr_expect(eq(str, (char *)(uintptr_t)fault(l, "retained-class", HDX_DAMAGED),
                 "is not a stored answer: not a regular file"));
    cr_expect(not(hdx_graph_remember(l->g, 0, "an answer", 9))); /* nor can it be replaced */
    cr_assert(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    cr_expect(eq(str, (char *)(uintptr_t)fault(l, "retained-class", HDX_DAMAGED),
                 "is not a stored answer: not a regular file")); /* nobody waits for it */
    cr_expect(not(hdx_graph_remember(l->g, 0, "an answer", 9)));
    cr_assert(remove(path) == 0 && symlink("target", path) == 0);
    cr_expect(not(hdx_graph_remember(l->g, 0, "an answer", 9)), "neither a link nor its target is replaced");
    cr_assert(remove(path) == 0);
    cr_expect(hdx_graph_remember(l->g, 0, "an answer", 9));
    cr_expect(recalled(l, 0, "an answer", 9));
    cr_expect(not(hdx_graph_remember(l->g, 1, "", (1ull << 30) - HEAD + 1))); /* not a byte of it is read */
    path_of(l, "retained-package", path);
    cr_expect(access(path, F_OK) != 0);
    little_close(l);
}

/* What was begun and failed leaves nothing beside. */
Test(remember, leaves_no_part_behind)
{
    little  *l = small_heap();
    char     path[256], command[320];
    unsigned files = 0;
    path_of(l, "leaks-0", path);
    cr_assert(mkdir(path, 0700) == 0);
    cr_expect(not(hdx_graph_remember(l->g, 32, "x", 1)));
    cr_expect(hdx_graph_remember(l->g, 33, "x", 1));
    (void)snprintf(command, sizeof command, "ls -A %s | grep -c heapdex-", l->index);
    FILE *p = popen(command, "r");
    cr_assert(p != NULL && fscanf(p, "%u", &files) == 1);
    (void)pclose(p);
    cr_expect(eq(u32, files, 0));
    cr_assert(rmdir(path) == 0);
    little_close(l);
}

/* Whatever call fails on the way: what was kept before stays, or the new answer is there; never half of one. */
Test(remember, keeps_the_old_answer_where_the_new_one_cannot_be_written)
{
    little *l = small_heap();
    hdx_io *io = l->g->place.io;
    char    command[320];
    cr_assert(hdx_graph_remember(l->g, 2, "an answer", 9));
    for (unsigned n = 1;; n++) {
        faulty_io f;
        unsigned  parts = 0;
        faulty_io_init(&f, n, EIO, false);
        l->g->place.io = &f.io;
        const bool kept = hdx_graph_remember(l->g, 2, "another one", 11), fired = faulty_io_fired(&f);
        l->g->place.io = io;
        cr_expect(recalled(l, 2, kept ? "another one" : "an answer", kept ? 11 : 9), "call %u", n);
        (void)snprintf(command, sizeof command, "ls -A %s | grep -c heapdex-", l->index);
        FILE *p = popen(command, "r");
        cr_assert(p != NULL && fscanf(p, "%u", &parts) == 1);
        (void)pclose(p);
        cr_expect(eq(u32, parts, 0), "call %u", n);
        if (!fired) {
            cr_expect(kept);
            cr_expect(gt(u32, n, 5));
            break;
        }
        if (n <= 5) /* two writes, syncing, closing, renaming */
            cr_expect(not(kept), "call %u", n);
        cr_assert(hdx_graph_remember(l->g, 2, "an answer", 9));
    }
    little_close(l);
}
