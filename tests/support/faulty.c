/* faulty.c - doors that fail on demand. */
#include "support/faulty.h"

#include <signal.h>
#include <string.h>

static bool fails(hdx_io *io, bool is_write)
{
    faulty_io *f = (faulty_io *)io;
    if (f->writes_only && !is_write)
        return false;
    if (atomic_fetch_add(&f->calls, 1) + 1 != f->fail_at)
        return false;
    if (f->with == FAULTY_KILL)
        (void)raise(SIGKILL);
    return true;
}

#define WITH(io) (-((faulty_io *)(io))->with)
#define REAL     hdx_io_system()

static int     f_open(hdx_io *io, const char *path) { return fails(io, false) ? WITH(io) : REAL->open(REAL, path); }
static int     f_change(hdx_io *io, const char *path) { return fails(io, true) ? WITH(io) : REAL->change(REAL, path); }
static int     f_create(hdx_io *io, const char *path) { return fails(io, true) ? WITH(io) : REAL->create(REAL, path); }
static int64_t f_read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    return fails(io, false) ? WITH(io) : REAL->read_at(REAL, fd, to, len, at);
}
static int f_write(hdx_io *io, int fd, const void *bytes, uint64_t len)
{
    if (!fails(io, true))
        return REAL->write(REAL, fd, bytes, len);
    (void)REAL->write(REAL, fd, bytes, len / 2); /* a full disk takes a part */
    return WITH(io);
}
static int f_write_at(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t at)
{
    return fails(io, true) ? WITH(io) : REAL->write_at(REAL, fd, bytes, len, at);
}
static int f_sync(hdx_io *io, int fd) { return fails(io, true) ? WITH(io) : REAL->sync(REAL, fd); }
static int f_close(hdx_io *io, int fd)
{
    int rc = REAL->close(REAL, fd);
    return fails(io, true) ? WITH(io) : rc;
}
static int f_stat(hdx_io *io, const char *path, struct stat *out)
{
    return fails(io, false) ? WITH(io) : REAL->stat(REAL, path, out);
}
static int f_rename(hdx_io *io, const char *from, const char *to)
{
    return fails(io, true) ? WITH(io) : REAL->rename(REAL, from, to);
}
static int f_exchange(hdx_io *io, const char *a, const char *b)
{
    return fails(io, true) ? WITH(io) : REAL->exchange(REAL, a, b);
}
/* Clearing up does not fail, but may be killed. */
static int f_remove(hdx_io *io, const char *path)
{
    if (((faulty_io *)io)->with == FAULTY_KILL)
        (void)fails(io, true);
    return REAL->remove(REAL, path);
}
static int  f_mkdir(hdx_io *io, const char *path) { return fails(io, true) ? WITH(io) : REAL->mkdir(REAL, path); }
static void f_share(hdx_io *io, const char *path, const hdx_access *like)
{
    (void)io;
    REAL->share(REAL, path, like);
}
static int f_space(hdx_io *io, const char *path, uint64_t *bytes)
{
    (void)io;
    return REAL->space(REAL, path, bytes);
}
static int f_lock(hdx_io *io, int fd)
{
    return ((faulty_io *)io)->lock != NULL ? ((faulty_io *)io)->lock(fd) : REAL->lock(REAL, fd);
}
static int f_sync_folder(hdx_io *io, const char *path)
{
    return fails(io, true) ? WITH(io) : REAL->sync_folder(REAL, path);
}
static int f_map(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    return fails(io, false) ? WITH(io) : REAL->map(REAL, fd, len, at);
}
static void f_push(hdx_io *io, int fd)
{
    (void)io;
    REAL->push(REAL, fd);
}
static void f_unmap(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    REAL->unmap(REAL, at, len);
}
static void f_forget(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    REAL->forget(REAL, at, len);
}

static int f_pieces(hdx_io *io, const char *path, uint32_t *numbers, unsigned room)
{
    return fails(io, false) ? WITH(io) : REAL->pieces(REAL, path, numbers, room);
}

void faulty_io_init(faulty_io *f, unsigned n, int with, bool writes_only)
{
    memset(f, 0, sizeof *f);
    f->io = (hdx_io){ f_open,  f_create,      f_change, f_read_at,  f_write,  f_write_at, f_sync,  f_push,
                      f_close, f_stat,        f_rename, f_exchange, f_remove, f_mkdir,    f_share, f_space,
                      f_lock,  f_sync_folder, f_map,    f_unmap,    f_forget, f_pieces };
    f->fail_at = n;
    f->with = with;
    f->writes_only = writes_only;
}

bool faulty_io_fired(const faulty_io *f)
{
    return f->fail_at != 0 && atomic_load(&((faulty_io *)(uintptr_t)f)->calls) >= f->fail_at;
}

static bool refuse(void *context, uint64_t bytes)
{
    faulty_mem *f = context;
    (void)bytes;
    return atomic_fetch_add(&f->requests, 1) + 1 == f->refuse_at;
}

void faulty_mem_init(faulty_mem *f, hdx_mem *mem, unsigned n)
{
    atomic_store(&f->requests, 0);
    f->refuse_at = n;
    mem->refuse = refuse;
    mem->context = f;
}

bool faulty_mem_fired(const faulty_mem *f)
{
    return atomic_load(&((faulty_mem *)(uintptr_t)f)->requests) >= f->refuse_at;
}
