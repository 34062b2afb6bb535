/* test_files.c - files of a batch that cannot be written or read, names that are too long, processes that cannot be. */
#include "batch/run.h"
#include "base/own.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void enter(void)
{
    test_folder_make_fast(folder, "files");
    cr_assert(chdir(folder) == 0);
}

static void leave(void)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

TestSuite(files, .init = enter, .fini = leave);

static unsigned parts(const char *of)
{
    unsigned       n = 0;
    struct dirent *entry;
    DIR           *d = opendir(of);
    cr_assert(d != NULL);
    while ((entry = readdir(d)) != NULL)
        n += strncmp(entry->d_name, ".heapdex-", 9) == 0;
    (void)closedir(d);
    return n;
}

#define expect_refused(got, want_code, want)                                                                           \
    do {                                                                                                               \
        cr_expect((got) == (want_code) && err.code == (want_code), "%s", err.message);                                 \
        cr_expect_str_eq(err.message, want);                                                                           \
    } while (0)

Test(files, that_cannot_be_written_say_why_and_leave_nothing)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    char      name[300];
    cr_expect(hdx_batch_file_write("a", "text", 4, NULL, true, &err) == HDX_OK && access("a", F_OK) == 0);
    expect_refused(hdx_batch_file_write("nowhere/a", "text", 4, NULL, false, &err), HDX_IO,
                   "cannot be written: No such file or directory");
    cr_expect_str_eq(err.where, "nowhere/a");
    cr_assert(mkdir("b", 0700) == 0);
    expect_refused(hdx_batch_file_write("b", "text", 4, NULL, true, &err), HDX_IO, "cannot be written: Is a directory");
    cr_expect(parts(".") == 0);
    memset(name, 'x', 256);
    name[256] = '\0';
    expect_refused(hdx_batch_file_write(name, "text", 4, NULL, false, &err), HDX_IO,
                   "cannot be written: File name too long");
}

Test(files, are_read_up_to_a_length)
{
    hdx_arena arena = hdx_arena_of(NULL);
    hdx_error err = { .offset = HDX_NOWHERE };
    size_t    len = 7;
    cr_assert(hdx_batch_file_write("a", "text", 4, NULL, true, &err) == HDX_OK && mkdir("b", 0700) == 0);
    char *text = hdx_batch_file_read(&arena, "a", 4, &len);
    cr_expect(text != NULL && len == 4 && strcmp(text, "text") == 0);
    cr_expect(hdx_batch_file_read(&arena, "a", 3, &len) == NULL && errno == EFBIG && len == 0);
    cr_expect(hdx_batch_file_read(&arena, "b", 1000000, &len) == NULL && errno == EINVAL);
    cr_expect(hdx_batch_file_read(&arena, "c", 1000000, &len) == NULL && errno == ENOENT);
    cr_assert(mkfifo("fifo", 0600) == 0);
    cr_expect(hdx_batch_file_read(&arena, "fifo", 1000000, &len) == NULL && errno == EINVAL);
    cr_assert(hdx_batch_file_write("empty", "", 0, NULL, false, &err) == HDX_OK);
    text = hdx_batch_file_read(&arena, "empty", 0, &len);
    cr_expect(text != NULL && len == 0 && text[0] == '\0');
    hdx_arena_free(&arena);
}

Test(files, of_killed_ones_go_and_others_stay)
{
    static const char *const names[] = { ".heapdex-0123456789abcdef", ".heapdex-ffffffffffffffff",
                                         ".heapdex-0123456789abcde", ".heapdex-part-0123456789abcdef", "a" };
    struct timespec          times[2] = { { .tv_sec = 1000 }, { .tv_sec = 2000 } };
    const struct timespec    at[] = { { .tv_sec = 2000 }, { .tv_sec = 2001 } };
    for (size_t i = 0; i < HDX_COUNT(names); i++) {
        const int fd = open(names[i], O_WRONLY | O_CREAT, 0600);
        cr_assert(fd >= 0 && futimens(fd, times) == 0 && close(fd) == 0);
    }
    const int held = open(names[1], O_RDONLY);
    cr_assert(held >= 0 && flock(held, LOCK_EX) == 0);
    hdx_batch_clear_temporary("nowhere", NULL);
    hdx_batch_clear_temporary(".", &at[0]);
    for (size_t i = 0; i < HDX_COUNT(names); i++)
        cr_expect((access(names[i], F_OK) == 0) == (i > 0), "%s: only the first is nobody's", names[i]);
    hdx_batch_clear_temporary(".", &at[1]);
    for (size_t i = 0; i < HDX_COUNT(names); i++)
        cr_expect((access(names[i], F_OK) == 0) == (i > 1), "%s", names[i]);
    (void)close(held);
    cr_assert(hdx_batch_file_write(names[0], "", 0, NULL, false, NULL) == HDX_OK);
    hdx_batch_clear_temporary(".", NULL);
    cr_expect(access(names[0], F_OK) != 0);
}

Test(files, of_deals_that_cannot_be_made_say_why)
{
    batch_weight at[] = { { "a", 3, 0, 9 }, { "b", 2, 1, 9 } };
    hdx_access   like = { .mode = 0600 };
    hdx_arena    arena = hdx_arena_of(NULL);
    hdx_error    err = { .offset = HDX_NOWHERE };
    char         out[4200];
    expect_refused(hdx_batch_deal("nowhere", at, 2, 2, &like, &arena, &err), HDX_IO,
                   "cannot be written: No such file or directory");
    memset(out, 'x', 4188); /* no name of a folder is so long */
    out[4188] = '\0';
    cr_expect(hdx_batch_deal(out, at, 2, 2, &like, &arena, &err) == HDX_USAGE);
    cr_assert(hdx_batch_deal(".", at, 2, 2, &like, &arena, &err) == HDX_OK);
    cr_expect(at[0].task == 0 && at[1].task == 1 && parts(".") == 0);
    hdx_arena_free(&arena);
}

/* ---- what the system says ---- */

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "wb");
    cr_assert(f != NULL && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0, "%s", name);
}

Test(files, of_the_system_say_how_much_memory_there_is)
{
    static const char *const folders[] = { "proc",
                                           "proc/self",
                                           "sys",
                                           "sys/fs",
                                           "sys/fs/cgroup",
                                           "sys/fs/cgroup/memory",
                                           "sys/fs/cgroup/a",
                                           "sys/fs/cgroup/a/b" };
    static const struct {
        const char *meminfo, *group, *top, *a, *b, *old, *job; /* NULL: there is none */
        uint64_t    bytes;
    } cases[] = {
        { NULL, NULL, NULL, NULL, NULL, NULL, NULL, UINT64_MAX },
        { "MemTotal: 9 kB\nMemAvailable:    4000 kB\n", NULL, NULL, NULL, NULL, NULL, NULL, 3072000 },
        { "MemAvailable: kB\n", NULL, NULL, NULL, NULL, NULL, NULL, UINT64_MAX },
        { "MemTotal: 9 kB\n", NULL, NULL, NULL, NULL, NULL, NULL, UINT64_MAX },
        { "MemAvailable: 18446744073709551615 kB\n", NULL, NULL, NULL, NULL, NULL, NULL, UINT64_MAX },
        { "MemAvailable: 1 kB", "0::/a/b\n", "max\n", "max\n", "400\n", NULL, NULL, 300 },
        { "MemAvailable: 1 kB", "0::/a/b\n", "max\n", "400\n", "max\n", NULL, NULL, 300 },
        { "MemAvailable: 1 kB", "0::/a/b\n", "400\n", "800\n", "600\n", NULL, NULL, 300 },
        { "MemAvailable: 1 kB", "1:cpu:/x\n0::/a\n", "800\n", "400\n", "4\n", NULL, NULL, 300 },
        { "MemAvailable: 1 kB", "0::/\n", "400\n", "4\n", "4\n", NULL, NULL, 300 },
        { "MemAvailable: 1 kB", "1:cpu:/a/b\n", "400\n", "4\n", "4\n", NULL, NULL, 768 },
        { "MemAvailable: 1 kB", "1::/a/b\n", "400\n", "4\n", "4\n", NULL, NULL, 768 },
        { "MemAvailable: 1 kB", "0::/a/b\n", "0\n", "0\n", "0\n", NULL, NULL, 768 },
        { "MemAvailable: 1 kB", "0::/a/b\n", "0\n", "1\n", "0\n", NULL, NULL, 0 },
        { "MemAvailable: 1 kB", "", NULL, NULL, NULL, "500\n", NULL, 375 },
        { "MemAvailable: 1 kB", NULL, NULL, NULL, NULL, "0\n", NULL, 768 },
        { "MemAvailable: 1 kB", NULL, NULL, NULL, NULL, "1\n", NULL, 0 },
        { "MemAvailable: 9000 kB", NULL, NULL, NULL, NULL, NULL, "4", 3145728 },
        { "MemAvailable: 9000 kB", NULL, NULL, NULL, NULL, NULL, "1", 786432 },
        { "MemAvailable: 9000 kB", NULL, NULL, NULL, NULL, NULL, "0", 6912000 },
        { "MemAvailable: 9000 kB", NULL, NULL, NULL, NULL, NULL, "99999999999999999", 6912000 },
        { NULL, NULL, NULL, NULL, NULL, NULL, "4", 3145728 },
    };
    for (size_t i = 0; i < HDX_COUNT(folders); i++)
        cr_assert(mkdir(folders[i], 0700) == 0);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        const char *const names[] = { "proc/meminfo",
                                      "proc/self/cgroup",
                                      "sys/fs/cgroup/memory.max",
                                      "sys/fs/cgroup/a/memory.max",
                                      "sys/fs/cgroup/a/b/memory.max",
                                      "sys/fs/cgroup/memory/memory.limit_in_bytes" };
        const char *const texts[] = { cases[i].meminfo, cases[i].group, cases[i].top,
                                      cases[i].a,       cases[i].b,     cases[i].old };
        for (size_t k = 0; k < HDX_COUNT(names); k++) {
            (void)unlink(names[k]);
            if (texts[k] != NULL)
                put(names[k], texts[k]);
        }
        cr_assert((cases[i].job != NULL ? setenv("SLURM_MEM_PER_NODE", cases[i].job, 1)
                                        : unsetenv("SLURM_MEM_PER_NODE")) == 0);
        const uint64_t bytes = hdx_batch_memory_here(folder);
        cr_expect(bytes == cases[i].bytes, "%zu: %llu", i, (unsigned long long)bytes);
    }
    (void)unsetenv("SLURM_MEM_PER_NODE");
}

/* ---- what the system refuses ---- */

static int no_pipe, no_process; /* errno; 0: there is one */

int pipe2(int ends[2], int flags)
{
    static int (*real)(int *, int);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pipe2");
    errno = no_pipe;
    return no_pipe != 0 ? -1 : real(ends, flags);
}

pid_t fork(void)
{
    static pid_t (*real)(void);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fork");
    errno = no_process;
    return no_process != 0 ? -1 : real();
}

Test(files, and_processes_that_the_system_refuses_are_told)
{
    static const struct {
        int         pipe, process;
        hdx_code    code;
        const char *why;
    } cases[] = {
        { EMFILE, 0, HDX_LIMIT, "cannot create a pipe: Too many open files" },
        { ENFILE, 0, HDX_LIMIT, "cannot create a pipe: Too many open files in system" },
        { EIO, 0, HDX_IO, "cannot create a pipe: Input/output error" },
        { 0, EAGAIN, HDX_LIMIT, "cannot start a process: Resource temporarily unavailable" },
    };
    const batch_dump        d = { .id = "a", .path = "a.hprof", .whole = "/a.hprof" };
    const hdx_batch_options o = { .out = "." };
    const batch_task        task = { .options = &o, .dump = &d, .forecast = true };
    const int               next = dup(0); /* the lowest that is free */
    (void)close(next);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        hdx_error   err = { .offset = HDX_NOWHERE };
        batch_child child = { 7, 7 };
        no_pipe = cases[i].pipe;
        no_process = cases[i].process;
        expect_refused(hdx_batch_child_start(&task, NULL, 0, &child, &err), cases[i].code, cases[i].why);
        cr_expect(child.from == -1);
        no_pipe = no_process = 0;
        const int now = dup(0);
        cr_expect(now == next, "no end of a pipe stays open");
        (void)close(now);
    }
}
