/*
 * test_interrupted.c - system calls that do a part, are interrupted or cannot be made: the door goes on, or says why
 * not. The functions below stand instead of those of the C library and do what a test wants.
 */
#include "base/io.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct call {
    int64_t result; /* so many bytes; -1: */
    int     with;   /* errno */
} call;
typedef struct piece {
    uintptr_t at;
    uint64_t  len, offset;
} piece;

static const call *script; /* NULL: the system is asked */
static unsigned    calls;
static piece       asked[8];

static int64_t play(uintptr_t at, uint64_t len, uint64_t offset)
{
    const call *now = &script[calls];
    cr_assert(calls < 8);
    asked[calls++] = (piece){ at, len, offset };
    errno = now->with;
    return now->result;
}

ssize_t pread64(int fd, void *to, size_t len, off64_t offset)
{
    return script != NULL ? play((uintptr_t)to, len, (uint64_t)offset) : syscall(SYS_pread64, fd, to, len, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t len, off64_t offset)
{
    return script != NULL ? play((uintptr_t)from, len, (uint64_t)offset) : syscall(SYS_pwrite64, fd, from, len, offset);
}

ssize_t write(int fd, const void *from, size_t len)
{
    return script != NULL ? play((uintptr_t)from, len, 0) : syscall(SYS_write, fd, from, len);
}

int fsync(int fd) { return script != NULL ? (int)play(0, 0, 0) : (int)syscall(SYS_fsync, fd); }

int flock(int fd, int how)
{
    return script != NULL ? (int)play(0, (uint64_t)how, 0) : (int)syscall(SYS_flock, fd, how);
}

enum { GIB = 1 << 30 };

/* Reading at a place, writing at a place, writing on: each asks for the rest, at the place of the rest. */
Test(interrupted, bytes_go_on_where_they_stopped)
{
    static const struct {
        uint64_t len;
        call     script[5];
        int64_t  result; /* of reading; of writing it is 0, or the same error */
        uint64_t wanted[5];
    } cases[] = {
        { 100, { { 100, 0 } }, 100, { 100 } },
        { 100, { { 30, 0 }, { 69, 0 }, { 1, 0 } }, 100, { 100, 70, 1 } },
        { 100, { { -1, EINTR }, { 30, 0 }, { -1, EINTR }, { 70, 0 } }, 100, { 100, 100, 70, 70 } },
        { 100, { { -1, EIO } }, -EIO, { 100 } },
        { 100, { { 99, 0 }, { -1, ENOSPC } }, -ENOSPC, { 100, 1 } },
        { GIB, { { GIB, 0 } }, GIB, { GIB } },
        { 1ull + GIB, { { GIB, 0 }, { 1, 0 } }, 1ll + GIB, { GIB, 1 } },
        { 3ull * GIB + 7, { { GIB, 0 }, { GIB - 1, 0 }, { GIB, 0 }, { 8, 0 } }, 3ll * GIB + 7, { GIB, GIB, GIB, 8 } },
    };
    hdx_io        *io = hdx_io_system();
    uint8_t *const at = (uint8_t *)(uintptr_t)4096; /* nobody looks there */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned how = 0; how < 3; how++) {
            const uint64_t offset = how == 2 ? 0 : 1000;
            uint64_t       done = 0;
            calls = 0;
            script = cases[i].script;
            const int64_t result = how == 0   ? io->read_at(io, 5, at, cases[i].len, offset)
                                   : how == 1 ? io->write_at(io, 5, at, cases[i].len, offset)
                                              : io->write(io, 5, at, cases[i].len);
            script = NULL;
            cr_expect(result == (how == 0 || cases[i].result < 0 ? cases[i].result : 0), "case %zu, %u: %lld", i, how,
                      (long long)result);
            for (unsigned k = 0; k < calls; k++) {
                cr_expect(asked[k].at == (uintptr_t)at + done && asked[k].len == cases[i].wanted[k] &&
                              asked[k].offset == (how == 2 ? 0 : offset + done),
                          "case %zu, %u, call %u: %llu bytes", i, how, k, (unsigned long long)asked[k].len);
                done += cases[i].script[k].result < 0 ? 0 : (uint64_t)cases[i].script[k].result;
            }
            cr_expect(calls == 5 || cases[i].wanted[calls] == 0, "case %zu, %u: %u calls", i, how, calls);
        }
}

Test(interrupted, a_file_that_ends_is_read_to_its_end)
{
    static const call ends[] = { { 40, 0 }, { 0, 0 } };
    uint8_t           bytes[100];
    hdx_io           *io = hdx_io_system();
    calls = 0;
    script = ends;
    const int64_t got = io->read_at(io, 5, bytes, sizeof bytes, 7);
    script = NULL;
    cr_expect(got == 40 && calls == 2);
}

/* Some file systems cannot sync a folder and need not; a lock that a signal interrupted is one that others may hold. */
Test(interrupted, errors_of_the_system_are_told_apart)
{
    static const struct {
        call now;
        int  sync, folder, lock;
    } cases[] = {
        { { 0, 0 }, 0, 0, 0 },
        { { -1, EINVAL }, -EINVAL, 0, -EINVAL },
        { { -1, EROFS }, -EROFS, 0, -EROFS },
        { { -1, EIO }, -EIO, -EIO, -EIO },
        { { -1, EINTR }, -EINTR, -EINTR, -EWOULDBLOCK },
        { { -1, EWOULDBLOCK }, -EWOULDBLOCK, -EWOULDBLOCK, -EWOULDBLOCK },
        { { -1, ENOLCK }, -ENOLCK, -ENOLCK, -ENOLCK },
    };
    hdx_io *io = hdx_io_system();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calls = 0;
        script = &cases[i].now;
        const int sync = io->sync(io, 1);
        calls = 0;
        const int folder = io->sync_folder(io, "/");
        calls = 0;
        const int lock = io->lock(io, 1);
        script = NULL;
        cr_expect(sync == cases[i].sync && folder == cases[i].folder, "case %zu: %d, %d", i, sync, folder);
        cr_expect(lock == cases[i].lock || (cases[i].lock == 0 && lock == HDX_LOCK_HERE), "case %zu: %d", i, lock);
        cr_expect(asked[0].len == (LOCK_EX | LOCK_NB));
    }
}
