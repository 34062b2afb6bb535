/*
 * test_file_faults.c - calls to files that fail while a catalog is read or written, and what LMDB returns: the code,
 * the words and the file of each, and which files are there afterwards.
 */
#include "catalog/small_manifest.h"
#include "catalog/store.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void make_folder(void) { test_folder_make(folder, "file_faults"); }
static void remove_folder(void) { test_folder_remove(folder); }

TestSuite(file_faults, .init = make_folder, .fini = remove_folder);

Test(file_faults, codes_of_lmdb_by_what_they_mean)
{
    static const struct {
        int      rc;
        hdx_code code;
    } cases[] = { { ENOMEM, HDX_LIMIT },
                  { MDB_MAP_FULL, HDX_LIMIT },
                  { MDB_TXN_FULL, HDX_LIMIT },
                  { MDB_PAGE_FULL, HDX_LIMIT },
                  { MDB_CORRUPTED, HDX_DAMAGED },
                  { MDB_PAGE_NOTFOUND, HDX_DAMAGED },
                  { MDB_INVALID, HDX_DAMAGED },
                  { MDB_VERSION_MISMATCH, HDX_DAMAGED },
                  { MDB_INCOMPATIBLE, HDX_DAMAGED },
                  { MDB_CURSOR_FULL, HDX_DAMAGED },
                  { EIO, HDX_IO },
                  { ENOSPC, HDX_IO },
                  { MDB_PANIC, HDX_IO } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_error err = { 0 };
        char      want[200];
        cr_expect(hdx_lmdb_fail(&err, cases[i].rc, "cannot think") == cases[i].code, "%d", cases[i].rc);
        (void)snprintf(want, sizeof want, "cannot think: %s", mdb_strerror(cases[i].rc));
        cr_expect_str_eq(err.message, want);
        cr_expect_str_eq(err.where, "catalog");
        cr_expect(err.offset == HDX_NOWHERE);
    }
}

typedef struct doors {
    hdx_io      io;
    const char *name; /* the file whose call fails; NULL: none */
    int         with, fd;
    char        call; /* o open, r read, s stat, m map, c create, w write, k close, d remove, e: stat says empty */
    unsigned    open;
} doors;
static bool is_file(const char *path, const char *name)
{
    const size_t a = strlen(path), b = strlen(name);
    return a >= b && strcmp(path + a - b, name) == 0;
}
static int opened(doors *d, const char *path, int fd)
{
    d->open += fd >= 0;
    if (d->name != NULL && is_file(path, d->name))
        d->fd = fd;
    return fd;
}
static int d_open(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'o' && is_file(path, d->name) ? d->with
                                                    : opened(d, path, hdx_io_system()->open(hdx_io_system(), path));
}
static int d_create(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'c' && is_file(path, d->name) ? d->with
                                                    : opened(d, path, hdx_io_system()->create(hdx_io_system(), path));
}
static int64_t d_read(hdx_io *io, int fd, void *to, uint64_t n, uint64_t at)
{
    doors *d = (doors *)io;
    return d->call == 'r' && fd == d->fd ? d->with : hdx_io_system()->read_at(hdx_io_system(), fd, to, n, at);
}
static int d_write(hdx_io *io, int fd, const void *b, uint64_t n)
{
    doors *d = (doors *)io;
    return d->call == 'w' && fd == d->fd ? d->with : hdx_io_system()->write(hdx_io_system(), fd, b, n);
}
static int d_stat(hdx_io *io, const char *path, struct stat *s)
{
    doors    *d = (doors *)io;
    const int rc = hdx_io_system()->stat(hdx_io_system(), path, s);
    if (d->call == 'e' && is_file(path, d->name))
        s->st_size = 0;
    return d->call == 's' && is_file(path, d->name) ? d->with : rc;
}
static int d_map(hdx_io *io, int fd, uint64_t n, const uint8_t **at)
{
    doors *d = (doors *)io;
    return d->call == 'm' && fd == d->fd ? d->with : hdx_io_system()->map(hdx_io_system(), fd, n, at);
}
static int d_close(hdx_io *io, int fd)
{
    doors    *d = (doors *)io;
    const int rc = hdx_io_system()->close(hdx_io_system(), fd);
    d->open--;
    return d->call == 'k' && fd == d->fd ? d->with : rc;
}
static int d_remove(hdx_io *io, const char *path)
{
    doors *d = (doors *)io;
    return d->call == 'd' && is_file(path, d->name) ? d->with : hdx_io_system()->remove(hdx_io_system(), path);
}
static doors doors_of(const char *name, char call, int with)
{
    doors d = { .io = *hdx_io_system(), .name = name, .call = call, .with = with, .fd = -1 };
    d.io.open = d_open;
    d.io.create = d_create;
    d.io.read_at = d_read;
    d.io.write = d_write;
    d.io.stat = d_stat;
    d.io.map = d_map;
    d.io.close = d_close;
    d.io.remove = d_remove;
    return d;
}
static void write_small(void)
{
    hdx_catalog_writer *w;
    const hdx_manifest  m = small_manifest();
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK && hdx_catalog_commit(w, NULL) == HDX_OK);
}

Test(file_faults, files_that_cannot_be_read)
{
    static const struct {
        const char *name;
        char        call;
        int         with;
        hdx_code    code;
        const char *message;
    } cases[] = {
        { "catalog.sum", 'o', -ENOENT, HDX_NOT_FOUND, "cannot open: No such file or directory" },
        { "catalog.sum", 'o', -ENOTDIR, HDX_NOT_FOUND, "cannot open: Not a directory" },
        { "catalog.sum", 'o', -EACCES, HDX_IO, "cannot open: Permission denied" },
        { "catalog.sum", 'r', -EIO, HDX_IO, "cannot read: Input/output error" },
        { "catalog.sum", 'r', -EACCES, HDX_IO, "cannot read: Permission denied" },
        { "catalog.sum", 'k', -EIO, HDX_OK, "" },
        { "catalog.mdb", 'o', -ENOENT, HDX_DAMAGED, "cannot open: No such file or directory" },
        { "catalog.mdb", 'o', -EACCES, HDX_IO, "cannot open: Permission denied" },
        { "catalog.mdb", 's', -EIO, HDX_IO, "cannot be read: Input/output error" },
        { "catalog.mdb", 'm', -EIO, HDX_IO, "cannot map: Input/output error" },
        { "catalog.mdb", 'm', -ENOMEM, HDX_LIMIT, "cannot map: Cannot allocate memory" },
        { "catalog.mdb", 'k', -EIO, HDX_OK, "" },
    };
    write_small();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doors          d = doors_of(cases[i].name, cases[i].call, cases[i].with);
        hdx_catalog   *c = (hdx_catalog *)1;
        hdx_error      err = { 0 };
        const hdx_code code = hdx_catalog_open(&d.io, folder, &c, &err);
        cr_expect(code == cases[i].code, "case %zu: %d %s", i, (int)code, err.message);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect((c != NULL) == (code == HDX_OK));
        cr_expect(d.open == 0, "case %zu: %u open", i, d.open);
        if (code != HDX_OK) {
            cr_expect_str_eq(err.where, cases[i].name);
            cr_expect(err.offset == HDX_NOWHERE);
        }
        hdx_catalog_close(c);
    }
    char         path[128];
    hdx_catalog *c;
    hdx_error    err = { 0 };
    (void)snprintf(path, sizeof path, "%s/catalog.sum", folder);
    cr_assert(remove(path) == 0);
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, &err) == HDX_DAMAGED);
    cr_expect_str_eq(err.message, "is missing in the folder of catalog.mdb");
    (void)snprintf(path, sizeof path, "%s/catalog.mdb", folder);
    cr_assert(remove(path) == 0);
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, &err) == HDX_NOT_FOUND);
}

Test(file_faults, files_that_cannot_be_written)
{
    static const struct {
        const char *name;
        char        call;
        int         with;
        const char *where, *message;
    } cases[] = {
        { "catalog.tmp", 'd', -EACCES, "catalog.tmp", "cannot remove: Permission denied" },
        { "catalog.mdb", 'c', -ENOSPC, "catalog.mdb", "cannot create: No space left on device" },
        { "catalog.mdb", 's', -EIO, "catalog.mdb", "cannot read: Input/output error" },
        { "catalog.mdb", 'e', 0, "catalog.mdb", "is empty after writing" },
        { "catalog.mdb", 'm', -ENOMEM, "catalog.mdb", "cannot map: Cannot allocate memory" },
        { "catalog.mdb", 'k', -EIO, "catalog.mdb", "cannot close: Input/output error" },
        { "catalog.sum", 'c', -EACCES, "catalog.sum", "cannot create: Permission denied" },
        { "catalog.sum", 'w', -ENOSPC, "catalog.sum", "cannot write: No space left on device" },
        { "catalog.sum", 'k', -EIO, "catalog.sum", "cannot close: Input/output error" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doors               d = doors_of(cases[i].name, '-', cases[i].with);
        hdx_catalog_writer *w;
        hdx_catalog        *c;
        const hdx_manifest  m = small_manifest();
        hdx_error           err = { 0 };
        cr_assert(hdx_catalog_create(&d.io, folder, NULL, &w, NULL) == HDX_OK);
        d.call = cases[i].call;
        cr_assert(hdx_catalog_put_manifest(w, &m, NULL) == HDX_OK);
        cr_expect(hdx_catalog_commit(w, &err) == HDX_IO, "case %zu", i);
        cr_expect_str_eq(err.message, cases[i].message);
        cr_expect_str_eq(err.where, cases[i].where);
        cr_expect(d.open == 0, "case %zu: %u open", i, d.open);
        if (i > 0)
            cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_NOT_FOUND, "case %zu", i);
    }
    for (unsigned i = 0; i < 4; i++) { /* what is left of an earlier one */
        doors               d = doors_of(i < 2 ? "catalog.tmp" : "catalog.sum", 'd', i % 2 == 0 ? -ENOENT : -EACCES);
        hdx_catalog_writer *w;
        hdx_error           err = { 0 };
        cr_expect(hdx_catalog_create(&d.io, folder, NULL, &w, &err) == (i % 2 == 0 ? HDX_OK : HDX_IO));
        cr_expect_str_eq(err.message, i % 2 == 0 ? "" : "cannot remove files of an earlier catalog: Permission denied");
        d.call = '-';
        hdx_catalog_abandon(w);
    }
}

/* Abandoned or failed, a catalog takes its files along, and those of the one before it. */
Test(file_faults, catalogs_leave_nothing)
{
    static const char *files[] = { "catalog.mdb", "catalog.sum", "catalog.tmp" };
    write_small();
    hdx_catalog_writer *w;
    cr_assert(hdx_catalog_create(hdx_io_system(), folder, NULL, &w, NULL) == HDX_OK);
    hdx_catalog *c;
    cr_expect(hdx_catalog_open(hdx_io_system(), folder, &c, NULL) == HDX_DAMAGED); /* the sum has gone already */
    hdx_catalog_abandon(w);
    for (unsigned i = 0; i < 3; i++) {
        char path[128];
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        cr_expect(access(path, F_OK) != 0, "%s", path);
    }
}
