/* refusing.c - requests are counted down, and the one that comes to 0 is refused. */
#include "support/refusing.h"

#include "base/io.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic unsigned memory_left, input_left; /* 0: nothing is refused */
static atomic_bool      refused;
static hdx_io           real;

static bool is_last(_Atomic unsigned *left)
{
    unsigned now = atomic_load(left);
    while (now > 0)
        if (atomic_compare_exchange_weak(left, &now, now - 1)) {
            if (now == 1)
                atomic_store(&refused, true);
            return now == 1;
        }
    return false;
}

/* The linker puts these in the place of calloc, malloc and realloc (--wrap). */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_realloc(void *at, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return is_last(&memory_left) ? NULL : __real_calloc(count, size); }
void *__wrap_malloc(size_t size) { return is_last(&memory_left) ? NULL : __real_malloc(size); }
void *__wrap_realloc(void *at, size_t size) { return is_last(&memory_left) ? NULL : __real_realloc(at, size); }

static int r_open(hdx_io *io, const char *path) { return is_last(&input_left) ? -EIO : real.open(io, path); }
static int r_stat(hdx_io *io, const char *path, struct stat *out)
{
    return is_last(&input_left) ? -EIO : real.stat(io, path, out);
}
static int64_t r_read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t at)
{
    return is_last(&input_left) ? -EIO : real.read_at(io, fd, to, len, at);
}

void refusing_memory(unsigned n)
{
    atomic_store(&refused, false);
    atomic_store(&memory_left, n);
}

void refusing_input(unsigned n)
{
    hdx_io *io = hdx_io_system();
    if (real.open == NULL) {
        real = *io;
        io->open = r_open;
        io->stat = r_stat;
        io->read_at = r_read_at;
    }
    atomic_store(&refused, false);
    atomic_store(&input_left, n);
}

bool refusing_ends(void)
{
    atomic_store(&memory_left, 0);
    atomic_store(&input_left, 0);
    return atomic_load(&refused);
}
