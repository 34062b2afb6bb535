/*
 * test_place.c - where an index is, and whether it is that of a dump: names of all lengths, the bytes of a dump that
 * are looked at, which change is noticed, and what is told where a folder cannot be made.
 */
#include "making/making.h"
#include "making/heap_model.h"
#include "support/folder.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define EDGE (64u << 10)
#define SPOT (4u << 10)

static char folder[TEST_FOLDER];

static void enter(void)
{
    test_folder_make_fast(folder, "place");
    cr_assert(chdir(folder) == 0 && setenv("XDG_CACHE_HOME", folder, 1) == 0);
    (void)umask(022);
}
static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(place, .init = enter, .fini = leave, .timeout = 60);

static void make(const char *path)
{
    static heap_model h;
    dump_maker       *m = model_make(&h, 5, 60, 8);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* ---- names ---- */
Test(place, has_its_names_without_slashes_at_the_end)
{
    static const struct {
        const char *index_dir, *path;
    } cases[] = { { "x.hdx", "x.hdx" },
                  { "x.hdx/", "x.hdx" },
                  { "/a/x///", "/a/x" },
                  { "/", "/" },
                  { "//", "/" },
                  { "x", "x" },
                  { "", "" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const hdx_index_options options = { .dump = "a.hprof", .index_dir = cases[i].index_dir };
        hdx_index_home          home = { .lock_fd = 7 };
        char                    part[64], lock[64];
        cr_assert(hdx_place_find(hdx_io_system(), &options, &home, NULL) == HDX_OK);
        (void)snprintf(part, sizeof part, "%s", own_of("part", cases[i].path));
        (void)snprintf(lock, sizeof lock, "%s", own_of("lock", cases[i].path));
        cr_expect_str_eq(home.path, cases[i].path);
        cr_expect_str_eq(home.part, part);
        cr_expect_str_eq(home.lock, lock);
        cr_expect_eq(home.lock_fd, -1);
    }
}

Test(place, has_the_number_of_a_later_dump_in_its_name)
{
    static const char *const names[] = { "a.hprof.hdx", "a.hprof.hdx", "a.hprof.2.hdx", "a.hprof.3.hdx" };
    for (uint32_t number = 0; number < 4; number++) {
        const hdx_index_options options = { .dump = "a.hprof", .dump_number = number };
        hdx_index_home          home;
        cr_assert(hdx_place_find(hdx_io_system(), &options, &home, NULL) == HDX_OK);
        cr_expect_str_eq(home.path, names[number]);
    }
}

/* The longest, and one more. */
Test(place, is_refused_where_its_name_is_too_long)
{
    static char name[5000];
    for (unsigned way = 0; way < 3; way++)
        for (unsigned more = 0; more < 2; more++) {
            const size_t      len = 4095 - (way == 0 ? 0 : way == 1 ? 4 : 6) + more; /* .hdx, .2.hdx */
            hdx_index_options options = { .dump = "a.hprof", .dump_number = way == 2 ? 2 : 1 };
            hdx_index_home    home;
            hdx_error         err;
            memset(name, 'a', len);
            name[len] = '\0';
            *(way == 0 ? &options.index_dir : &options.dump) = name;
            cr_expect_eq(hdx_place_find(hdx_io_system(), &options, &home, &err), more == 0 ? HDX_OK : HDX_USAGE, "%u",
                         way);
            cr_expect(more == 0 ? strlen(home.path) == 4095 : strcmp(err.message, "path too long") == 0, "%u", way);
        }
    memset(name, 'a', 4096);
    for (size_t len = 4092; len < 4096; len++) {
        hdx_index_home home;
        hdx_error      err;
        name[len] = '\0';
        cr_expect_eq(hdx_place_find(hdx_io_system(), &(hdx_index_options){ .dump = name }, &home, &err), HDX_USAGE);
        cr_expect_str_eq(err.message, "path too long");
        name[len] = 'a';
    }
    for (unsigned more = 0; more < 2; more++) { /* "/aaaa/x": the partial build has 15 bytes more and needs 64 more */
        hdx_index_home home;
        hdx_error      err;
        name[0] = name[4096 - 64 - 17 + more] = '/';
        (void)strcpy(name + 4096 - 64 - 16 + more, "x");
        cr_expect_eq(
            hdx_place_find(hdx_io_system(), &(hdx_index_options){ .dump = "d", .index_dir = name }, &home, &err),
            more == 0 ? HDX_OK : HDX_USAGE);
        name[4096 - 64 - 17 + more] = 'a';
    }
}

/* A file system takes names of 255 bytes. */
Test(place, of_a_long_name_is_called_by_a_part_of_it_and_a_hash)
{
    char           name[256], other[256];
    hdx_index_home home, more;
    memset(name, 'n', 255);
    memset(other, 'n', 255);
    name[251] = other[251] = '\0';
    other[250] = 'o';
    cr_assert(hdx_place_find(hdx_io_system(), &(hdx_index_options){ .dump = name }, &home, NULL) == HDX_OK);
    cr_assert(hdx_place_find(hdx_io_system(), &(hdx_index_options){ .dump = other }, &more, NULL) == HDX_OK);
    cr_expect_eq(strlen(home.part), strlen(".heapdex-part-") + 120 + 17);
    cr_expect_eq(strncmp(home.part, ".heapdex-part-nnnn", 18), 0);
    cr_expect(strcmp(home.part, more.part) != 0 && strcmp(home.lock, more.lock) != 0);
}

Test(place, is_an_index_where_a_file_in_it_says_so)
{
    static const struct {
        const char *files[2], *heads[2];
        bool        index;
    } cases[] = { { { "catalog.mdb" }, { "ms access" }, false },
                  { { "catalog.sum" }, { "heapdexC" }, true },
                  { { "catalog.sum" }, { "heapdexB" }, false },
                  { { "catalog.mdb", "class.hdx" }, { "", "hdxindex" }, true },
                  { { "catalog.mdb", "class.hdx" }, { "", "hdxfile." }, false },
                  { { "catalog.mdb", "other.hdx" }, { "", "hdxindex" }, false },
                  { { "catalog.sum", "cut_by.hdx" }, { "", "hdxindex" }, true },
                  { { "class.hdx" }, { "hdxindex" }, false },
                  { { NULL }, { NULL }, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(mkdir("x", 0755) == 0);
        for (size_t k = 0; k < 2 && cases[i].files[k] != NULL; k++) {
            char name[32];
            (void)snprintf(name, sizeof name, "x/%s", cases[i].files[k]);
            dump_maker_save_bytes(name, cases[i].heads[k], strlen(cases[i].heads[k]));
        }
        cr_expect_eq(hdx_folder_is_index(hdx_io_system(), "x"), cases[i].index, "case %zu", i);
        cr_assert(system("rm -rf x") == 0);
    }
    cr_assert(mkdir("x", 0755) == 0 && mkfifo("x/catalog.sum", 0600) == 0 && mkfifo("x/catalog.mdb", 0600) == 0);
    cr_expect_not(hdx_folder_is_index(hdx_io_system(), "x"), "pipes are not opened");
}

/* In a partial build P; i: the same in an index. */
Test(place, is_cleared_of_what_heapdex_writes_and_of_nothing_else)
{
    static const char *const own[] = { "class.hdx",
                                       "catalog.mdb",
                                       "retained-class",
                                       "leaks-f",
                                       "leaks-0.1f3c.part",
                                       "references.tmp",
                                       "seal",
                                       "scan.tmp",
                                       "checkpoint/state",
                                       ".heapdex-0123456789abcdef",
                                       "views/v/retained.hdx",
                                       "views/.heapdex-part-v/checkpoint/catalog.sum" };
    static const char *const others[] = { "thesis.doc", "other.hdx", "checkpoint/notes", "views/v/a/b.hdx",
                                          "photos/a.hdx", ".config", "class.hdx/a", "views/v/w/c/d",
                                          /* names of heapdex, but in other places */
                                          "state", "views/v/state", "checkpoint/seal", "checkpoint/class.hdx",
                                          "catalog", "leaks-0.part", "leaks-g", ".heapdex-0123", "views/state" };
    for (size_t i = 0; i <= sizeof others / sizeof *others; i++) {
        const bool none = i == sizeof others / sizeof *others;
        char       other[256] = "", command[300], path[100];
        cr_assert(system("mkdir -p .heapdex-part-x/checkpoint .heapdex-part-x/views/v "
                         ".heapdex-part-x/views/.heapdex-part-v/checkpoint") == 0);
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (none || strncmp(own[k], others[i], strlen(own[k])) != 0) {
                (void)snprintf(path, sizeof path, ".heapdex-part-x/%s", own[k]);
                dump_maker_save_bytes(path, "1", 1);
            }
        if (none) {
            cr_expect_not(hdx_folder_has_other(".heapdex-part-x", other), "%s", other);
            cr_expect_eq(hdx_place_clear(hdx_io_system(), ".heapdex-part-x"), 0);
            cr_expect(!is_there(".heapdex-part-x"));
            cr_expect_eq(hdx_place_clear(hdx_io_system(), ".heapdex-part-x"), 0, "nothing there");
            break;
        }
        (void)snprintf(path, sizeof path, ".heapdex-part-x/%s", others[i]);
        (void)snprintf(command, sizeof command, "mkdir -p $(dirname %s) && echo mine > %s", path, path);
        cr_assert(system(command) == 0);
        cr_expect(hdx_folder_has_other(".heapdex-part-x", other) && strncmp(others[i], other, strlen(other)) == 0,
                  "%s: %s", others[i], other);
        cr_expect_eq(hdx_place_clear(hdx_io_system(), ".heapdex-part-x"), -ENOTEMPTY, "%s", others[i]);
        cr_expect(is_there(path), "%s", others[i]);
        cr_expect(!is_there(".heapdex-part-x/catalog.mdb") && !is_there(".heapdex-part-x/views/.heapdex-part-v"), "%s",
                  others[i]);
        cr_assert(system("rm -rf .heapdex-part-x") == 0);
    }
}

/* What only a partial build has is a user's in an index. */
Test(place, that_is_an_index_has_no_files_of_a_build)
{
    static const char *const names[] = { "seal",           "state",       "scan.tmp",
                                         "references.tmp", "catalog.tmp", "checkpoint/state" };
    char                     other[256], path[64], command[200];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(command, sizeof command,
                       "mkdir -p x/checkpoint && : > x/class.hdx && rmdir x/checkpoint; "
                       "mkdir -p $(dirname x/%s) && echo mine > x/%s",
                       names[i], names[i]);
        (void)snprintf(path, sizeof path, "x/%s", names[i]);
        cr_assert(system(command) == 0);
        cr_expect(hdx_folder_has_other("x", other) && strncmp(other, names[i], strlen(other)) == 0, "%s", names[i]);
        cr_expect_eq(hdx_place_clear(hdx_io_system(), "x"), -ENOTEMPTY, "%s", names[i]);
        cr_expect(is_there(path), "%s", names[i]);
        cr_assert(system("rm -rf x") == 0);
    }
}

Test(place, shares_what_heapdex_writes_and_nothing_else)
{
    static const struct {
        const char *path;
        unsigned    mode;
    } files[] = { { "x", 0700 },
                  { "x/class.hdx", 0600 },
                  { "x/views", 0700 },
                  { "x/views/v", 0700 },
                  { "x/views/v/retained.hdx", 0600 },
                  { "x/letter", 0644 },
                  { "x/views/v/letter", 0644 },
                  { "far", 0644 } };
    const hdx_access like = { .mode = 0600, .gid = (uint32_t)getegid() };
    struct stat      st;
    cr_assert(system("umask 022; mkdir -p x/views/v; for f in x/class.hdx x/letter x/views/v/letter far "
                     "x/views/v/retained.hdx; do echo 1 >$f; done; ln -s ../far x/catalog.mdb") == 0);
    hdx_folder_share(hdx_io_system(), "x", &like);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cr_expect(stat(files[i].path, &st) == 0 && (st.st_mode & 0777) == files[i].mode, "%s: %o", files[i].path,
                  st.st_mode & 0777);
}

Test(place, is_cleared_of_a_file_or_link_only_where_the_name_is_ours)
{
    dump_maker_save_bytes("x", "1", 1);
    dump_maker_save_bytes(".heapdex-part-x", "1", 1);
    cr_assert(mkdir("far", 0755) == 0 && symlink("far", ".heapdex-part-y") == 0 && symlink("far", "y") == 0);
    dump_maker_save_bytes("far/class.hdx", "1", 1);
    cr_expect(hdx_place_clear(hdx_io_system(), "x") == 0 && is_there("x"));
    cr_expect(hdx_place_clear(hdx_io_system(), "y") == 0 && is_there("y"));
    cr_expect(hdx_place_clear(hdx_io_system(), ".heapdex-part-x") == 0 && !is_there(".heapdex-part-x"));
    cr_expect(hdx_place_clear(hdx_io_system(), ".heapdex-part-y") == 0 && !is_there(".heapdex-part-y"));
    cr_expect(is_there("far/class.hdx"));
}

/* ---- the bytes of a dump that are looked at ---- */
typedef struct reads {
    hdx_io   io; /* first: the door is cast back to this */
    uint64_t size, at[32], len[32];
    unsigned count, fail_at;
    int      open_rc, stat_rc;
} reads;

static int r_open(hdx_io *io, const char *path)
{
    (void)path;
    return ((reads *)io)->open_rc;
}
static int r_close(hdx_io *io, int fd)
{
    (void)io;
    return fd == 0 ? 0 : -EBADF;
}
static int r_stat(hdx_io *io, const char *path, struct stat *st)
{
    (void)path;
    memset(st, 0, sizeof *st);
    st->st_size = (off_t)((reads *)io)->size;
    st->st_ino = 77;
    st->st_mtim = (struct timespec){ .tv_sec = 5, .tv_nsec = 9 };
    return ((reads *)io)->stat_rc;
}
static int64_t r_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    reads *r = (reads *)io;
    cr_assert(fd == 0 && r->count < 32);
    r->at[r->count] = at;
    r->len[r->count++] = len;
    if (r->count == r->fail_at)
        return -EIO;
    const uint64_t n = at >= r->size ? 0 : r->size - at < len ? r->size - at : len;
    for (uint64_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)((at + i) * 31 >> 3);
    return (int64_t)n;
}

static reads reads_of(uint64_t size)
{
    reads r = { .io = *hdx_io_system(), .size = size };
    r.io.open = r_open;
    r.io.close = r_close;
    r.io.stat = r_stat;
    r.io.read_at = r_read;
    return r;
}

Test(place, of_a_dump_knows_its_two_ends_and_16_spots_between)
{
    static const uint64_t sizes[] = { 0, 1, 16, 17, EDGE - 1, EDGE, EDGE + 1, 17 * EDGE + 3, 1ull << 40 };
    static uint8_t        bytes[EDGE];
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint64_t size = sizes[k];
        reads          r = reads_of(size), again;
        hdx_manifest   m = { 0 };
        uint64_t       low = hdx_mix64(size), high = ~low;
        hdx_error      err;
        cr_assert(hdx_place_sample(&r.io, "there/a.hprof", &m, &err) == HDX_OK, "%s", err.message);
        cr_expect_eq(r.count, 18);
        again = r;
        for (unsigned i = 0; i < 18; i++) {
            const uint64_t want = i == 0        ? 0
                                  : i > 1       ? size / 17 * (i - 1)
                                  : size < EDGE ? 0
                                                : size - EDGE,
                           len = i < 2 ? EDGE : SPOT;
            cr_expect(r.at[i] == want && r.len[i] == len, "%llu bytes, read %u", (unsigned long long)size, i);
            again.count = 0;
            const int64_t got = r_read(&again.io, 0, bytes, len, want);
            low = hdx_hash_bytes(low, bytes, (size_t)got);
            high = hdx_hash_bytes(high, bytes, (size_t)got);
        }
        cr_expect(hdx_le64(m.file_sample) == low && hdx_le64(m.file_sample + 8) == high);
        cr_expect(m.file_size == size && m.file_inode == 77 && m.file_mtime_ns == 5000000009u);
        cr_expect_str_eq(m.dump_name, "a.hprof");
        cr_assert(hdx_place_sample((r.count = 0, &r.io), "b.hprof", &m, &err) == HDX_OK);
        cr_expect_str_eq(m.dump_name, "b.hprof");
    }
}

Test(place, of_a_dump_that_cannot_be_read_says_where)
{
    hdx_manifest m = { 0 };
    hdx_error    err;
    for (unsigned n = 1; n <= 18; n++) {
        reads r = reads_of(1700000);
        r.fail_at = n;
        cr_expect_eq(hdx_place_sample(&r.io, "a.hprof", &m, &err), HDX_IO);
        cr_expect(err.offset == (n == 1   ? 0
                                 : n == 2 ? 1700000 - EDGE
                                          : 100000 * (n - 2)) &&
                      r.count == n,
                  "%u: %llu", n, (unsigned long long)err.offset);
        cr_expect_str_eq(err.where, "a.hprof");
    }
    reads r = reads_of(5);
    r.open_rc = -EACCES;
    cr_expect_eq(hdx_place_sample(&r.io, "a.hprof", &m, &err), HDX_BAD_DUMP);
    cr_expect_str_eq(err.message, strerror(EACCES));
    r.stat_rc = -ENOENT;
    cr_expect_eq(hdx_place_sample(&r.io, "a.hprof", &m, &err), HDX_BAD_DUMP);
    cr_expect_str_eq(err.message, strerror(ENOENT));
    cr_expect_eq(r.count, 0);
}

/* ---- is it the same dump? ---- */
Test(place, tells_a_dump_that_was_touched_by_size_time_and_inode)
{
    reads              r = reads_of(12345);
    const hdx_manifest right = { .file_size = 12345, .file_inode = 77, .file_mtime_ns = 5000000009u };
    static const struct {
        int64_t size, inode, ns;
        bool    untouched, unchanged;
    } cases[] = { { 0, 0, 0, true, true },
                  { 1, 0, 0, false, false },
                  { -1, 0, 0, false, false },
                  { 0, 1, 0, false, true },
                  { 0, 0, 1, false, false },
                  { 0, 0, -1, false, false },
                  { 0, 0, 1000000000, false, false },
                  { 0, 0, -18, false, false } };
    hdx_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_manifest m = right;
        m.file_size += (uint64_t)cases[i].size;
        m.file_inode += (uint64_t)cases[i].inode;
        m.file_mtime_ns += (uint64_t)cases[i].ns;
        cr_expect_eq(hdx_place_untouched(&r.io, "a.hprof", &m), cases[i].untouched, "case %zu", i);
        cr_expect_eq(hdx_place_unchanged(&r.io, "a.hprof", &m, &err), cases[i].unchanged ? HDX_OK : HDX_BAD_DUMP,
                     "case %zu", i);
        if (!cases[i].unchanged)
            cr_expect_str_eq(err.hint, "wait until it is completely written");
    }
    r.stat_rc = -ENOENT;
    cr_expect_not(hdx_place_untouched(&r.io, "a.hprof", &right));
    cr_expect_eq(hdx_place_unchanged(&r.io, "a.hprof", &right, &err), HDX_BAD_DUMP);
}

static hdx_code state_of(hdx_io *io, const char *dump, hdx_step until, uint32_t number, hdx_index_state *state)
{
    const hdx_index_options options = {
        .dump = dump, .index_dir = "a.hprof.hdx", .until = until, .dump_number = number
    };
    hdx_catalog   *catalog = (hdx_catalog *)(void *)&options; /* whatever stood there */
    hdx_index_home home;
    hdx_error      err;
    cr_assert(hdx_place_find(io, &options, &home, &err) == HDX_OK);
    const hdx_code code = hdx_place_state(io, &home, &options, state, &catalog, &err);
    cr_expect_eq(catalog != NULL, code == HDX_OK && *state == HDX_INDEX_VALID);
    hdx_catalog_close(catalog);
    return code;
}

static int64_t no_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    return len == EDGE ? -EIO : hdx_io_system()->read_at(io, fd, to, len, at);
}

Test(place, tells_an_index_that_is_stale_from_one_that_is_shorter)
{
    const hdx_index_options options = { .dump = "a.hprof", .until = HDX_STEP_OUTBOUND };
    static const struct {
        hdx_step        until;
        uint32_t        number;
        hdx_index_state state;
    } cases[] = { { HDX_STEP_OBJECTS, 1, HDX_INDEX_VALID },
                  { HDX_STEP_OUTBOUND, 0, HDX_INDEX_VALID },
                  { HDX_STEP_INBOUND, 1, HDX_INDEX_ABSENT },
                  { HDX_STEP_DOMINATORS, 1, HDX_INDEX_ABSENT },
                  { (hdx_step)0, 1, HDX_INDEX_ABSENT } };
    hdx_index_report report;
    hdx_index_state  state;
    hdx_error        err;
    hdx_io           io = *hdx_io_system();
    make("a.hprof");
    cr_expect(state_of(&io, "a.hprof", 0, 1, &state) == HDX_OK && state == HDX_INDEX_ABSENT);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(state_of(&io, "a.hprof", cases[i].until, cases[i].number, &state) == HDX_OK &&
                      state == cases[i].state,
                  "case %zu: %d", i, (int)state);
    }
    cr_expect_eq(state_of(&io, "a.hprof", HDX_STEP_OBJECTS, 2, &state), HDX_BAD_DUMP, "another heap");
    cr_assert(system("cp a.hprof b.hprof") == 0);
    cr_expect(state_of(&io, "b.hprof", HDX_STEP_OBJECTS, 1, &state) == HDX_OK && state == HDX_INDEX_VALID,
              "another file with the same bytes");
    io.read_at = no_read;
    cr_expect_eq(state_of(&io, "b.hprof", HDX_STEP_OBJECTS, 1, &state), HDX_IO);
    cr_expect(state_of(&io, "a.hprof", HDX_STEP_OBJECTS, 1, &state) == HDX_OK && state == HDX_INDEX_VALID,
              "nothing is read of a file that nobody has touched");
    cr_assert(system("printf x | dd of=b.hprof bs=1 seek=700 conv=notrunc 2>/dev/null") == 0);
    io.read_at = hdx_io_system()->read_at;
    cr_expect_eq(state_of(&io, "b.hprof", HDX_STEP_OBJECTS, 1, &state), HDX_BAD_DUMP, "another dump");
    cr_assert(system("printf x >> a.hprof") == 0);
    io.read_at = no_read;
    cr_expect(state_of(&io, "a.hprof", HDX_STEP_OBJECTS, 1, &state) == HDX_OK && state == HDX_INDEX_STALE,
              "a byte more");
    cr_assert(unlink("a.hprof") == 0);
    cr_expect_eq(state_of(&io, "a.hprof", HDX_STEP_OBJECTS, 1, &state), HDX_BAD_DUMP);
}

/*
 * An index in the cache is used where the one beside the dump is stale and it is not: the folder of the dump could not
 * be written when it became stale.
 */
Test(place, in_the_cache_is_found_behind_one_that_is_stale)
{
    hdx_index_options options = { .dump = "a.hprof", .until = HDX_STEP_OBJECTS };
    hdx_index_report  report;
    hdx_index_home    home;
    hdx_error         err;
    char              cached[4096];
    make("a.hprof");
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_place_cache_path(&options, cached, sizeof cached) && mkdir("heapdex", 0700) == 0);
    for (unsigned stale = 0; stale < 3; stale++) { /* none is; the one beside the dump; both */
        if (stale > 0)
            cr_assert(system("printf x >> a.hprof") == 0);
        if (stale < 2) {
            options.index_dir = cached;
            cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
            options.index_dir = NULL;
        }
        cr_assert(hdx_place_find(hdx_io_system(), &options, &home, &err) == HDX_OK);
        cr_expect_str_eq(home.path, stale == 1 ? cached : "a.hprof.hdx", "%u", stale);
    }
}

/* ---- making the folder ---- */
static struct {
    const char *path; /* the one that cannot be made */
    int         with;
    char        shared[400], made[400];
} doors;

static int d_mkdir(hdx_io *io, const char *path)
{
    (void)io;
    const size_t len = strlen(path), end = doors.path == NULL ? 0 : strlen(doors.path);
    if (end > 0 && len >= end && strcmp(path + len - end, doors.path) == 0)
        return -doors.with;
    const int rc = hdx_io_system()->mkdir(hdx_io_system(), path);
    if (rc >= 0)
        (void)snprintf(doors.made + strlen(doors.made), sizeof doors.made - strlen(doors.made), "%s ", path);
    return rc;
}
static void d_share(hdx_io *io, const char *path, const hdx_access *like)
{
    (void)io;
    const size_t len = strlen(path);
    if (len < 5 || (strstr(path, ".heapdex-lock-") == NULL && strcmp(path + len - 4, ".hdx") != 0))
        (void)snprintf(doors.shared + strlen(doors.shared), sizeof doors.shared - strlen(doors.shared), "%s:%o ", path,
                       like->mode);
    hdx_io_system()->share(hdx_io_system(), path, like);
}

static char said[600];
static void notice(void *context, const char *line)
{
    (void)context;
    (void)snprintf(said, sizeof said, "%s", line);
}

/* A place that is found, locked where it is to be, and begun. */
static hdx_code begin(const char *dump, const char *index_dir, hdx_index_home *home, hdx_error *err)
{
    const hdx_index_options options = { .dump = dump, .index_dir = index_dir, .notice = notice };
    hdx_io                  io = *hdx_io_system();
    bool                    found = true;
    hdx_code                code;
    io.mkdir = d_mkdir;
    io.share = d_share;
    said[0] = doors.shared[0] = doors.made[0] = '\0';
    *err = (hdx_error){ .code = HDX_OK };
    if ((code = hdx_place_find(&io, &options, home, err)) != HDX_OK ||
        (code = hdx_place_lock(&io, &options, home, err)) != HDX_OK)
        return code;
    code = hdx_place_begin(&io, &options, home, true, &found, err);
    cr_expect_not(found);
    cr_expect_eq(code == HDX_OK, home->lock_fd >= 0 && is_there(home->part), "%s", home->part);
    return code;
}

static void end(hdx_index_home *home)
{
    hdx_place_abandon(hdx_io_system(), home);
    cr_expect(!is_there(home->part) || home->lock_fd < 0);
    hdx_place_unlock(home);
}

Test(place, that_was_named_has_its_parents_made_and_shared_as_the_dump_is)
{
    hdx_index_home home;
    hdx_error      err;
    char           path[96], expected[200];
    make("a.hprof");
    cr_assert(chmod("a.hprof", 0640) == 0 && mkdir("old", 0700) == 0);
    cr_assert(begin("a.hprof", "old/x/y/z.hdx", &home, &err) == HDX_OK, "%s", err.message);
    cr_expect_str_eq(doors.made, "old/x old/x/y old/x/y/.heapdex-part-z.hdx ");
    cr_expect_str_eq(doors.shared, "old/x:640 old/x/y:640 ");
    end(&home);
    (void)snprintf(path, sizeof path, "%s/n/z.hdx", folder); /* from the root on */
    cr_assert(begin("a.hprof", path, &home, &err) == HDX_OK, "%s", err.message);
    (void)snprintf(expected, sizeof expected, "%s/n %s/n/.heapdex-part-z.hdx ", folder, folder);
    cr_expect_str_eq(doors.made, expected);
    end(&home);
    cr_expect(!is_there("n/.heapdex-lock-z.hdx") && !is_there("n/.heapdex-part-z.hdx") && is_there("n"));
}

Test(place, that_cannot_be_made_is_said_to_be_so)
{
    static const struct {
        const char *index_dir, *path;
        int         with;
        const char *words; /* NULL: in the cache */
    } cases[] = {
        { "q/r/z.hdx", "q/r", EACCES, "cannot create the index folder: Permission denied" },
        { "q/r/z.hdx", ".heapdex-part-z.hdx", EACCES, "cannot create the index folder: Permission denied" },
        { "q/r/z.hdx", ".heapdex-part-z.hdx", EPERM, "cannot create the index folder: Operation not permitted" },
        { NULL, ".heapdex-part-a.hprof.hdx", EIO, "cannot create the index folder: Input/output error" },
        { NULL, ".heapdex-part-a.hprof.hdx", ENOSPC, "cannot create the index folder: No space left on device" },
        { NULL, ".heapdex-part-a.hprof.hdx", EACCES, NULL },
        { NULL, ".heapdex-part-a.hprof.hdx", EROFS, NULL },
        { NULL, ".heapdex-part-a.hprof.hdx", EPERM, NULL }
    };
    char cache[64];
    make("a.hprof");
    (void)snprintf(cache, sizeof cache, "%s/heapdex/a.hprof-", folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_index_home home;
        hdx_error      err;
        doors.path = cases[i].path;
        doors.with = cases[i].with;
        const hdx_code code = begin("a.hprof", cases[i].index_dir, &home, &err);
        if (cases[i].words == NULL) {
            cr_expect_eq(code, HDX_OK, "case %zu: %s", i, err.message);
            cr_expect(strncmp(home.path, cache, strlen(cache)) == 0 &&
                          strlen(home.path) == strlen(cache) + 16 + strlen(".hdx"),
                      "case %zu: %s", i, home.path);
            cr_expect(strstr(said, "cannot write to the dump's folder; the index is ") == said &&
                          strstr(said, home.path) != NULL,
                      "case %zu: %s", i, said);
            cr_expect(strstr(doors.shared, "/heapdex:600 ") != NULL, "%s", doors.shared);
            cr_expect(!is_there(".heapdex-lock-a.hprof.hdx"));
        } else {
            cr_expect_eq(code, HDX_IO, "case %zu: %s", i, err.message);
            cr_expect_str_eq(err.message, cases[i].words, "case %zu", i);
            cr_expect_str_eq(err.hint, "store the index elsewhere with --index-dir DIR");
        }
        end(&home);
        cr_assert(system("rm -rf q heapdex") == 0);
    }
}

/* A file stands where the cache is to be. */
Test(place, in_the_cache_may_fail_too)
{
    hdx_index_home home;
    hdx_error      err;
    make("a.hprof");
    dump_maker_save_bytes("heapdex", "1", 1);
    doors.path = ".heapdex-part-a.hprof.hdx";
    doors.with = EROFS;
    cr_expect_eq(begin("a.hprof", NULL, &home, &err), HDX_IO);
    cr_expect_str_eq(err.message, "the cache folder belongs to another user");
    cr_expect_str_eq(err.hint, "store the index elsewhere with --index-dir DIR");
    end(&home);
    cr_assert(unlink("heapdex") == 0);
    cr_assert(setenv("XDG_CACHE_HOME", "/proc", 1) == 0);
    doors.path = ".hdx";
    cr_expect_eq(begin("a.hprof", NULL, &home, &err), HDX_IO);
    cr_expect(strncmp(err.message, "cannot create the cache folder: ", 30) == 0, "%s", err.message);
    end(&home);
    cr_assert(setenv("XDG_CACHE_HOME", folder, 1) == 0);
    cr_expect_eq(begin("a.hprof", NULL, &home, &err), HDX_IO);
    cr_expect_str_eq(err.message, "cannot create the index folder: Read-only file system");
    end(&home);
}

/* XDG_CACHE_HOME where it is a path from the root on, else HOME. */
Test(place, in_the_cache_is_found_by_what_the_environment_says)
{
    static const struct {
        const char *cache, *home, *path; /* NULL: none */
    } cases[] = { { "c", "h", "c/heapdex" }, { NULL, "h", "h/.cache/heapdex" }, { NULL, NULL, NULL } };
    make("a.hprof");
    cr_assert(mkdir("h", 0755) == 0);
    doors.path = ".heapdex-part-a.hprof.hdx";
    doors.with = EACCES;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned relative = 0; relative < 2; relative++) {
            hdx_index_home home;
            hdx_error      err;
            char           cache[64], path[64], dir[96];
            (void)snprintf(cache, sizeof cache, "%s/%s", folder, cases[i].cache == NULL ? "" : cases[i].cache);
            (void)snprintf(path, sizeof path, "%s/%s", folder, cases[i].home == NULL ? "" : cases[i].home);
            (void)snprintf(dir, sizeof dir, "%s/%s/a.hprof-", folder, cases[i].path == NULL ? "" : cases[i].path);
            cr_assert((cases[i].cache != NULL ? setenv("XDG_CACHE_HOME", cache, 1)
                       : relative             ? setenv("XDG_CACHE_HOME", "c", 1)
                                              : unsetenv("XDG_CACHE_HOME")) == 0);
            cr_assert((cases[i].home != NULL ? setenv("HOME", path, 1)
                       : relative            ? setenv("HOME", "h", 1)
                                             : unsetenv("HOME")) == 0);
            const hdx_code code = begin("a.hprof", NULL, &home, &err);
            cr_expect_eq(code, cases[i].path != NULL ? HDX_OK : HDX_IO, "case %zu: %s", i, err.message);
            cr_expect(code != HDX_OK || strncmp(home.path, dir, strlen(dir)) == 0, "case %zu: %s", i, home.path);
            end(&home);
        }
}

/* ---- into its place ---- */
static char synced[200];
static int  sync_noted(hdx_io *io, const char *path)
{
    (void)snprintf(synced, sizeof synced, "%s", path);
    return hdx_io_system()->sync_folder(io, path);
}

Test(place, gets_files_as_they_were_made_alone)
{
    static const struct {
        const char *there; /* NULL: it is gone */
        const char *words; /* NULL: none */
    } cases[] = { { "12345", NULL },
                  { "1234", "is 4 bytes, but 5 were written" },
                  { "123456", "is 6 bytes, but 5 were written" },
                  { NULL, "cannot be read after writing: No such file or directory" } };
    static const hdx_kind kinds[] = { HDX_KIND_ADDRESS, HDX_KIND_SEEK };
    make("a.hprof");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t k = 0; k < 2; k++)
            for (unsigned deep = 0; deep < 2; deep++) {
                hdx_manifest   m = { 0 };
                hdx_index_home home;
                hdx_error      err;
                hdx_io         io = *hdx_io_system();
                char           name[4200];
                io.sync_folder = sync_noted;
                doors.path = NULL;
                cr_assert(begin("a.hprof", deep ? "in/x.hdx" : NULL, &home, &err) == HDX_OK, "%s", err.message);
                (void)snprintf(m.files[kinds[k]].name, sizeof m.files[kinds[k]].name, "%s", hdx_kind_name(kinds[k]));
                m.files[kinds[k]].bytes = 5;
                (void)snprintf(name, sizeof name, "%s/%s.hdx", home.part, hdx_kind_name(kinds[k]));
                if (cases[i].there != NULL)
                    dump_maker_save_bytes(name, cases[i].there, strlen(cases[i].there));
                synced[0] = '\0';
                cr_expect_eq(hdx_place_commit(&io, &home, &m, &err), cases[i].words == NULL ? HDX_OK : HDX_IO,
                             "case %zu: %s", i, err.message);
                if (cases[i].words != NULL) {
                    cr_expect_str_eq(err.message, cases[i].words);
                    cr_expect_str_eq(err.where, name);
                } else
                    cr_expect_str_eq(synced, deep ? "in" : ".");
                cr_expect_eq(is_there(home.path), cases[i].words == NULL);
                end(&home);
                cr_assert(system("rm -rf in a.hprof.hdx") == 0);
            }
}

/* ---- replacing ---- */
static struct {
    int      exchange; /* what it fails with; 0: it works */
    unsigned renames, fail_rename;
    bool     letter; /* a user's file comes in before names are swapped */
} swaps;

static int s_exchange(hdx_io *io, const char *a, const char *b)
{
    if (swaps.letter)
        cr_assert(system("echo mine > x/letter") == 0);
    swaps.letter = false;
    return swaps.exchange < 0 ? swaps.exchange : hdx_io_system()->exchange(io, a, b);
}

static int s_rename(hdx_io *io, const char *from, const char *to)
{
    return ++swaps.renames == swaps.fail_rename ? -EIO : hdx_io_system()->rename(io, from, to);
}

static int s_rename_after_letter(hdx_io *io, const char *from, const char *to)
{
    if (swaps.letter)
        cr_assert(system("echo mine > x/letter") == 0);
    swaps.letter = false;
    return hdx_io_system()->rename(io, from, to);
}

/* x: an index; .heapdex-part-x: a newer one. */
static void make_two(void)
{
    cr_assert(system("rm -rf x .heapdex*; mkdir x .heapdex-part-x") == 0);
    dump_maker_save_bytes("x/catalog.sum", "heapdexC old", 12);
    dump_maker_save_bytes(".heapdex-part-x/catalog.sum", "heapdexC new!", 13);
}

static int64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

Test(place, is_replaced_in_one_step_or_stays_as_it_is)
{
    static const struct {
        int         exchange;
        unsigned    fail_rename;
        hdx_code    code;
        const char *left; /* what is there besides */
    } cases[] = { { 0, 0, HDX_OK, "" },
                  { -EINVAL, 0, HDX_OK, "" },
                  { -ENOSYS, 3, HDX_OK, "the old one under a temporary name" },
                  { -EOPNOTSUPP, 1, HDX_IO, "part" },
                  { -EINVAL, 2, HDX_IO, "part" },
                  { -EBUSY, 0, HDX_IO, "part" },
                  { -EIO, 0, HDX_IO, "part" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_io    io = *hdx_io_system();
        hdx_error err;
        io.exchange = s_exchange;
        io.rename = s_rename;
        make_two();
        swaps.exchange = cases[i].exchange;
        swaps.renames = 0;
        swaps.fail_rename = cases[i].fail_rename;
        cr_expect_eq(hdx_place_put(&io, ".heapdex-part-x", "x", false, &err), cases[i].code, "case %zu", i);
        cr_expect_eq(size_of("x/catalog.sum"), cases[i].code == HDX_OK ? 13 : 12, "case %zu", i);
        cr_expect_eq(is_there(".heapdex-part-x"), strcmp(cases[i].left, "part") == 0, "case %zu", i);
        cr_expect_eq(system("ls -d .heapdex-[0-9a-f]*[0-9a-f] 2>/dev/null | grep -v part | grep -q ."),
                     cases[i].left[0] == 't' ? 0 : 256, "case %zu", i);
    }
}

/* Also where the file came after the build had looked. */
Test(place, is_not_replaced_with_a_file_of_a_user_in_it)
{
    hdx_io    io = *hdx_io_system();
    hdx_error err;
    io.exchange = s_exchange;
    io.rename = s_rename_after_letter;
    for (unsigned late = 0; late < 2; late++)
        for (unsigned removed = 0; removed < 2; removed++) {
            make_two();
            swaps.exchange = 0;
            swaps.letter = late != 0;
            if (late == 0)
                dump_maker_save_bytes("x/letter", "mine", 4);
            cr_assert(removed == 0 || system("rm -r .heapdex-part-x") == 0);
            cr_expect_eq(removed ? hdx_place_take_out(&io, "x", ".heapdex-part-x", &err)
                                 : hdx_place_put(&io, ".heapdex-part-x", "x", false, &err),
                         HDX_USAGE);
            cr_expect_str_eq(err.where, "x");
            cr_expect_str_eq(err.message,
                             "contains letter, which heapdex did not write; it is neither replaced nor removed");
            cr_expect(size_of("x/letter") > 0 && size_of("x/catalog.sum") == 12, "%u %u", late, removed);
            cr_expect_eq(size_of(".heapdex-part-x/catalog.sum"), removed ? -1 : 13);
        }
}

/* The names of the lock and of the partial build are made from that of the folder. */
Test(place, that_ends_in_dots_is_the_folder_that_it_leads_to)
{
    static const char *const paths[] = { "x/.", "x/y/..", "x/./", "../%s/x/." };
    hdx_index_options        options = { .dump = "a.hprof", .index_dir = "x", .until = HDX_STEP_OBJECTS };
    hdx_index_report         report;
    hdx_index_home           home;
    hdx_error                err;
    char                     path[300], real[300];
    make("a.hprof");
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    (void)snprintf(real, sizeof real, "%s/x", folder);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        cr_assert(i != 1 || mkdir("x/y", 0700) == 0);
        (void)snprintf(path, sizeof path, i == 3 ? "../%s/x/." : "%s", i == 3 ? strrchr(folder, '/') + 1 : paths[i]);
        options.index_dir = path;
        options.force = true;
        cr_assert(hdx_place_find(hdx_io_system(), &options, &home, &err) == HDX_OK, "%s", err.message);
        cr_expect_str_eq(home.path, real);
        cr_assert(i != 1 || rmdir("x/y") == 0);
        cr_expect(i == 1 || hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", path, err.message);
        cr_expect(is_there("x/catalog.mdb") && !is_there(".heapdex-part-x"), "%s", path);
    }
    options.index_dir = "nothing/.";
    cr_expect_eq(hdx_index_build(&options, &report, &err), HDX_USAGE);
    cr_expect_str_eq(err.message, "does not exist, and this name cannot be created");
    cr_assert(symlink("nothing", "link") == 0);
    options.index_dir = "link";
    cr_expect_eq(hdx_index_build(&options, &report, &err), HDX_USAGE);
    cr_expect_str_eq(err.message, "is a broken symbolic link");
}

Test(place, is_never_inside_another_index)
{
    static const char *const paths[] = { "x/y", "x/views/y", "x/a/b/c", "link/y" };
    hdx_index_options        options = { .dump = "a.hprof", .index_dir = "x", .until = HDX_STEP_OBJECTS };
    hdx_index_report         report;
    hdx_error                err;
    make("a.hprof");
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK && symlink("x", "link") == 0, "%s", err.message);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        options.index_dir = paths[i];
        cr_expect_eq(hdx_index_build(&options, &report, &err), HDX_USAGE, "%s", paths[i]);
        cr_expect(strncmp(err.message, "is inside the index ", 20) == 0, "%s", err.message);
        cr_expect(system("test -z \"$(ls -A x | grep -v -E 'hdx$|^catalog')\"") == 0, "%s", paths[i]);
    }
}

/* An empty folder may become an index; a build that fails leaves it. */
Test(place, that_is_an_empty_folder_stays_where_a_build_fails)
{
    hdx_index_options options = { .dump = "a.hprof", .index_dir = "x" };
    hdx_index_report  report;
    hdx_error         err;
    cr_assert(mkdir("x", 0755) == 0);
    dump_maker_save_bytes("a.hprof", "JAVA PROFILE 1.0.2", 18);
    cr_expect_eq(hdx_index_build(&options, &report, &err), HDX_BAD_DUMP);
    cr_expect(is_there("x") && !is_there(".heapdex-part-x"));
    make("a.hprof");
    cr_expect_eq(hdx_index_build(&options, &report, &err), HDX_OK);
    cr_expect(is_there("x/catalog.mdb"));
}
