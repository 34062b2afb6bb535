/*
 * temp.c - a temporary file of the build folder that is written sequentially and read in pieces: it passes results of a
 * pass to a later one without using memory. A killed build leaves it in its folder, where the next one finds it
 * (checkpoint.c) or removes it.
 *
 * If there is room, the file is a block of memory instead: pages that were just freed cost less than untouched pages of
 * the page cache. It moves to a file when it becomes longer than expected, or when a checkpoint needs it.
 */
#include "passes/temp.h"

#include <stdio.h>

#define STEPS 8u           /* steps in which a temporary file in memory grows */
#define CUT   (4ull << 20) /* bytes that are released at a time */

static hdx_code put(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    hdx_temp *t = context;
    int       rc = t->io->write_at(t->io, t->fd, bytes, len, t->end);
    if (rc < 0)
        return hdx_fail(err, HDX_IO, t->path, t->end, "cannot write: %s", strerror(-rc));
    t->sum = hdx_crc32c(t->sum, bytes, (size_t)len);
    t->end += len;
    return HDX_OK;
}

static hdx_code get(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err)
{
    hdx_temp *t = context;
    int64_t   got = t->io->read_at(t->io, t->fd, to, len, offset);
    if (got == (int64_t)len)
        return HDX_OK;
    return hdx_fail(err, HDX_IO, t->path, offset, "cannot read back: %s",
                    got < 0 ? strerror((int)-got) : "the file was truncated");
}

hdx_code hdx_temp_create(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err)
{
    *t = (hdx_temp){ .io = w->io, .fd = -1 };
    (void)snprintf(t->path, sizeof t->path, "%s/%s", w->folder, name);
    t->tape = (hdx_tape){ t, put, get, NULL };
    if ((t->fd = w->io->create(w->io, t->path)) < 0)
        return hdx_fail(err, HDX_IO, t->path, HDX_NOWHERE, "cannot create: %s", strerror(-t->fd));
    return HDX_OK;
}

static hdx_code reopen(hdx_work *w, const char *name, int (*open)(hdx_io *, const char *), hdx_temp *t, hdx_error *err)
{
    *t = (hdx_temp){ .io = w->io, .fd = -1 };
    (void)snprintf(t->path, sizeof t->path, "%s/%s", w->folder, name);
    t->tape = (hdx_tape){ t, put, get, NULL };
    if ((t->fd = open(w->io, t->path)) < 0)
        return hdx_fail(err, HDX_IO, t->path, HDX_NOWHERE, "cannot open: %s", strerror(-t->fd));
    return HDX_OK;
}

hdx_code hdx_temp_reopen(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err)
{
    return reopen(w, name, w->io->open, t, err);
}

hdx_code hdx_temp_change(hdx_work *w, const char *name, hdx_temp *t, hdx_error *err)
{
    return reopen(w, name, w->io->change, t, err);
}

static bool resize(hdx_temp *t, uint64_t bytes)
{
    uint8_t *memory = hdx_mem_resize(t->mem, t->memory, t->memory_bytes, bytes);
    if (memory == NULL)
        return false;
    assert(t->end <= bytes && t->fd < 0); /* P9 */
    t->memory = memory;
    t->memory_bytes = bytes;
    return true;
}

hdx_code hdx_temp_keep(hdx_temp *t, hdx_error *err)
{
    const uint64_t had = t->end;
    uint8_t       *memory = t->memory;
    hdx_code       code;
    if (memory == NULL)
        return HDX_OK;
    if ((t->fd = t->io->create(t->io, t->path)) < 0)
        return hdx_fail(err, HDX_IO, t->path, HDX_NOWHERE, "cannot create: %s", strerror(-t->fd));
    t->tape = (hdx_tape){ t, put, get, NULL };
    t->end = 0;
    t->memory = NULL;
    code = put(t, memory, had, err);
    assert(code != HDX_OK || t->end == had); /* P9 */
    hdx_mem_put(t->mem, memory, t->memory_bytes);
    return code;
}

/*
 * Grows in steps: memory that is allocated at once takes pages that are needed elsewhere, and most temporary files do
 * not reach their limit.
 */
static bool grow(hdx_temp *t, uint64_t len)
{
    const uint64_t step = t->most / STEPS + 1, want = len > step ? t->end + len : t->end + step;
    return t->memory_bytes < t->most && len <= t->most - t->end && resize(t, want < t->most ? want : t->most);
}

static hdx_code put_memory(void *context, const void *bytes, uint64_t len, hdx_error *err)
{
    hdx_temp *t = context;
    if (len > t->memory_bytes - t->end && !grow(t, len)) { /* more than expected */
        hdx_code code = hdx_temp_keep(t, err);
        return code != HDX_OK ? code : put(t, bytes, len, err);
    }
    if (len > 0)
        memcpy(t->memory + t->end, bytes, (size_t)len);
    t->end += len;
    return HDX_OK;
}

static hdx_code get_memory(void *context, uint64_t offset, void *to, uint64_t len, hdx_error *err)
{
    const hdx_temp *t = context;
    if (offset > t->end || len > t->end - offset)
        return hdx_no_memory(err, t->path, len);
    if (len > 0)
        memcpy(to, t->memory + offset, (size_t)len);
    return HDX_OK;
}

static void cut_memory(void *context, uint64_t end)
{
    hdx_temp *t = context;
    t->end = end < t->end ? end : t->end;
    if (t->memory_bytes >= CUT && t->end <= t->memory_bytes - CUT)
        (void)resize(t, t->end);
}

hdx_code hdx_temp_begin(hdx_work *w, const char *name, uint64_t most, uint64_t others, hdx_temp *t, hdx_error *err)
{
    const uint64_t room = hdx_work_room(w);
    if (most > room || others > room - most)
        return hdx_temp_create(w, name, t, err);
    *t = (hdx_temp){ .io = w->io, .fd = -1, .mem = &w->mem, .most = most, .memory_bytes = most / STEPS };
    t->memory = hdx_mem_raw(&w->mem, t->memory_bytes, 1);
    (void)snprintf(t->path, sizeof t->path, "%s/%s", w->folder, name);
    t->tape = (hdx_tape){ t, put_memory, get_memory, cut_memory };
    return t->memory != NULL ? HDX_OK : hdx_no_memory(err, name, most);
}

bool hdx_temp_trim(hdx_temp *t) { return t->memory == NULL || resize(t, t->end); }

void hdx_temp_close(hdx_temp *t)
{
    if (t->memory != NULL)
        hdx_mem_put(t->mem, t->memory, t->memory_bytes);
    t->memory = NULL;
    if (t->io == NULL || t->fd < 0)
        return;
    (void)t->io->close(t->io, t->fd);
    t->fd = -1;
}

void hdx_temp_remove(hdx_temp *t)
{
    const bool file = t->io != NULL && t->fd >= 0;
    hdx_temp_close(t);
    if (!file)
        return;
    (void)t->io->remove(t->io, t->path);
    t->end = 0;
}
