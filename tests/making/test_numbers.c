/*
 * test_numbers.c - files have any number that is not less than 0: the door gives the least that is free, from 0 on. A
 * build, one that goes on from what another left, and reading the index open and close every file they have.
 */
#include "making/making.h"
#include "making/heap_model.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 64

static hdx_io          door;
static int             real[FILES]; /* by number here; -1: none */
static unsigned        zero_times;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL hdx_io_system()

/* LMDB writes to the catalog by itself, and wants to know the number that the system has. */
static int number_of(const char *path, int fd)
{
    int n = 0;
    if (fd < 0)
        return fd;
    if (strstr(path, "catalog.mdb") != NULL) {
        n = fcntl(fd, F_DUPFD_CLOEXEC, FILES);
        (void)close(fd);
        return n;
    }
    (void)pthread_mutex_lock(&lock);
    while (n < FILES && real[n] >= 0)
        n++;
    cr_assert(n < FILES, "too many files are open");
    real[n] = fd;
    zero_times += n == 0;
    (void)pthread_mutex_unlock(&lock);
    return n;
}

static int fd_of(int n)
{
    if (n >= FILES)
        return n;
    (void)pthread_mutex_lock(&lock);
    const int fd = n >= 0 ? real[n] : -1;
    (void)pthread_mutex_unlock(&lock);
    cr_assert(fd >= 0, "file %d is not open", n);
    return fd;
}

static int     d_open(hdx_io *io, const char *path) { return (void)io, number_of(path, REAL->open(REAL, path)); }
static int     d_create(hdx_io *io, const char *path) { return (void)io, number_of(path, REAL->create(REAL, path)); }
static int     d_change(hdx_io *io, const char *path) { return (void)io, number_of(path, REAL->change(REAL, path)); }
static int64_t d_read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    return (void)io, REAL->read_at(REAL, fd_of(fd), to, len, at);
}
static int d_write(hdx_io *io, int fd, const void *bytes, uint64_t len)
{
    return (void)io, REAL->write(REAL, fd_of(fd), bytes, len);
}
static int d_write_at(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t at)
{
    return (void)io, REAL->write_at(REAL, fd_of(fd), bytes, len, at);
}
static int  d_sync(hdx_io *io, int fd) { return (void)io, REAL->sync(REAL, fd_of(fd)); }
static void d_push(hdx_io *io, int fd)
{
    (void)io;
    REAL->push(REAL, fd_of(fd));
}
static int d_close(hdx_io *io, int fd)
{
    const int at = fd_of(fd);
    (void)io;
    (void)pthread_mutex_lock(&lock);
    if (fd < FILES)
        real[fd] = -1;
    (void)pthread_mutex_unlock(&lock);
    return REAL->close(REAL, at);
}
static int d_map(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    return (void)io, REAL->map(REAL, fd_of(fd), len, at);
}

static char folder[TEST_FOLDER], dump[64];

static void enter(void)
{
    test_folder_make(folder, "numbers");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    door = *REAL;
    door.open = d_open;
    door.create = d_create;
    door.change = d_change;
    door.read_at = d_read_at;
    door.write = d_write;
    door.write_at = d_write_at;
    door.sync = d_sync;
    door.push = d_push;
    door.close = d_close;
    door.map = d_map;
    for (unsigned n = 0; n < FILES; n++)
        real[n] = -1;
}
static void leave(void) { test_folder_remove(folder); }

TestSuite(numbers, .init = enter, .fini = leave, .timeout = 120);

static void make(bool packed)
{
    static heap_model h;
    dump_maker       *m = model_make(&h, 77, 380, 8);
    size_t            len;
    const uint8_t    *at = dump_maker_bytes(m, &len);
    gm_bytes          plain = { (uint8_t *)(uintptr_t)at, len, len }, out = { 0 };
    if (packed)
        gm_jdk_put(&out, &plain, 1 << 14);
    else
        gm_put(&out, at, len);
    dump_maker_save_bytes(dump, out.at, out.len);
    gm_free(&out);
    dump_maker_free(m);
}

static unsigned calls, stop_at;
static bool     wanted_to_stop(void *context) { return (void)context, ++calls == stop_at; }

static void nothing_is_open(const char *what, unsigned at)
{
    for (unsigned n = 0; n < FILES; n++)
        cr_expect(real[n] < 0, "%s, %u: file %u is still open", what, at, n);
}

/* Stopped wherever it asks, and gone on from. */
Test(numbers, of_files_begin_with_0)
{
    for (unsigned packed = 0; packed < 2; packed++) {
        hdx_build_doors   doors = { .io = &door, .every_step = true };
        hdx_index_options options = { .dump = dump, .threads = 1, .force = true };
        hdx_index_report  report;
        hdx_graph        *g;
        hdx_error         err;
        make(packed);
        zero_times = calls = stop_at = 0;
        cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "%s: %s", err.where, err.message);
        nothing_is_open("straight", packed);
        cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK && hdx_graph_verify(g, true, &err) == HDX_OK,
                  "%s: %s", err.where, err.message);
        hdx_graph_close(g);
        options.progress.cancelled = wanted_to_stop;
        for (unsigned at = 1;; at += 1 + at / 6) {
            options.force = true;
            calls = 0;
            stop_at = at;
            const hdx_code code = hdx_index_build_through(&doors, &options, &report, &err);
            nothing_is_open("stopped", at);
            if (code == HDX_OK)
                break;
            cr_assert(code == HDX_CANCELLED, "%s: %s", err.where, err.message);
            options.force = false;
            calls = stop_at = 0;
            cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK, "stopped at %u: %s: %s", at,
                      err.where, err.message);
            nothing_is_open("gone on from", at);
            cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK &&
                          hdx_graph_verify(g, true, &err) == HDX_OK,
                      "stopped at %u: %s: %s", at, err.where, err.message);
            hdx_graph_close(g);
        }
        cr_expect(zero_times > 100, "%u files had number 0", zero_times);
    }
}
