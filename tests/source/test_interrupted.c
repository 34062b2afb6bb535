/*
 * test_interrupted.c - reads that signals interrupt, and that give less than was asked for, as file systems over a
 * network do: under the real file door, whose pread is this program's own.
 */
#include "support/folder.h"
#include "support/gzip_maker.h"
#include "source/inner.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t calls, interrupted, shortened;
static atomic_bool      nasty;

ssize_t pread64(int fd, void *to, size_t len, __off64_t at);
ssize_t pread64(int fd, void *to, size_t len, __off64_t at)
{
    uint64_t state = atomic_fetch_add(&calls, 1), r = gm_random(&state);
    if (atomic_load(&nasty) && r % 3 == 0) {
        atomic_fetch_add(&interrupted, 1);
        errno = EINTR;
        return -1;
    }
    if (atomic_load(&nasty) && r % 3 == 1 && len > 1) {
        atomic_fetch_add(&shortened, 1);
        len = 1 + (size_t)(r / 3 % len);
    }
    return syscall(SYS_pread64, fd, to, len, at);
}

Test(interrupted, reads_give_all_bytes)
{
    char folder[TEST_FOLDER], path[64];
    test_folder_make(folder, "interrupted");
    (void)snprintf(path, sizeof path, "%s/a.hprof", folder);
    for (int kind = 0; kind < 3; kind++) {
        gm_bytes    plain = { 0 }, file = { 0 };
        hdx_source *source;
        hdx_stream *stream;
        hdx_error   err = { 0 };
        uint8_t     part[30000];
        size_t      got, len = 0;
        uint64_t    seed = 3;
        gm_data(&plain, 3u << 20, 6);
        if (kind == 0)
            gm_jdk_put(&file, &plain, 1u << 20);
        else if (kind == 1)
            gm_member_put(&file, plain.at, plain.len, &(gm_member){ .level = 1 });
        else
            gm_put(&file, plain.at, plain.len);
        FILE *f = fopen(path, "wb");
        cr_assert(f != NULL && fwrite(file.at, 1, file.len, f) == file.len && fclose(f) == 0);
        atomic_store(&nasty, true);
        cr_assert(eq(int, hdx_source_open(path, &(hdx_source_options){ .threads = 3 }, &source, &err), HDX_OK), "%s",
                  err.message);
        cr_assert(eq(int, hdx_stream_open(source, 0, &stream, &err), HDX_OK));
        do {
            cr_assert(eq(int, hdx_stream_read(stream, part, sizeof part, &got, &err), HDX_OK), "%s", err.message);
            cr_assert(got <= plain.len - len && memcmp(part, plain.at + len, got) == 0);
            len += got;
        } while (got > 0);
        cr_expect(eq(sz, len, plain.len));
        hdx_stream_close(stream);
        for (int i = 0; i < 200; i++) {
            uint64_t at = gm_random(&seed) % plain.len;
            cr_assert(eq(int, hdx_source_read_at(source, at, part, 3000, &got, &err), HDX_OK), "%s", err.message);
            cr_assert(got == (plain.len - at < 3000 ? plain.len - at : 3000) && memcmp(part, plain.at + at, got) == 0);
        }
        hdx_source_close(source);
        atomic_store(&nasty, false);
        gm_free(&plain);
        gm_free(&file);
    }
    test_folder_remove(folder);
    cr_expect(atomic_load(&interrupted) > 20 && atomic_load(&shortened) > 20, "%llu reads, %llu interrupted",
              (unsigned long long)atomic_load(&calls), (unsigned long long)atomic_load(&interrupted));
}
