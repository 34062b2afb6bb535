/*
 * resume.c - files with the progress of reading the dump (resume.h).
 *
 * They are written when a build is cancelled; scan.tmp also after a long first pass. So a cancellation loses at most
 * the last batch of events, and a kill loses the current step. Files are written under another name and renamed, and
 * read completely before anything in them is used. Structs are stored as in memory: a file is valid for one machine and
 * one version, like a checkpoint.
 */
#include "reading/resume.h"

#include <stdio.h>

#define MAGIC 0x7470656b78646868ull
/* Least work in ns that is saved: at a cancellation, and after the first pass, which is needed to resume the second. */
#define WORTH 1000000000ull

typedef struct head {
    uint64_t magic, version, file_size, file_mtime_ns;
    uint8_t  file_sample[16];
} head;

hdx_code hdx_resume_refuse(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "nothing to resume from");
}

bool hdx_resume_is_worth(const hdx_work *w, const hdx_saving *saving, hdx_code code)
{
    const uint64_t wall = hdx_now_ns() - saving->saved_at,
                   cpu = hdx_cpu_ns() - saving->begun_cpu; /* several threads do much in little time */
    const uint64_t worked = wall > cpu ? wall : cpu;
    return w->folder[0] != '\0' &&
           (saving->every_step || ((code == HDX_OK || code == HDX_CANCELLED) && worked >= WORTH));
}

static void path_of(const hdx_work *w, const char *name, const char *suffix, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/%s%s", w->folder, name, suffix);
}

static head head_of(const hdx_saving *saving)
{
    const hdx_manifest *m = saving->of;
    head                h = { .magic = MAGIC, .version = saving->version, .file_size = m->file_size };
    h.file_mtime_ns = m->file_mtime_ns;
    memcpy(h.file_sample, m->file_sample, sizeof h.file_sample);
    return h;
}

static hdx_resume_file *kept_of(hdx_work *w, const char *name)
{
    hdx_resume_file *k = hdx_mem_get(&w->mem, sizeof *k);
    if (k == NULL)
        return NULL;
    k->w = w;
    k->fd = -1;
    (void)snprintf(k->name, sizeof k->name, "%s", name);
    return k;
}

void hdx_resume_close(hdx_resume_file *k)
{
    if (k == NULL)
        return;
    if (k->fd >= 0)
        (void)k->w->io->close(k->w->io, k->fd);
    hdx_mem_put(&k->w->mem, k, sizeof *k);
}

void hdx_resume_remove(hdx_work *w, const char *name)
{
    char path[4200];
    path_of(w, name, "", path, sizeof path);
    (void)w->io->remove(w->io, path);
}

/* ---- writing ---- */
static hdx_code flush(hdx_resume_file *k, hdx_error *err)
{
    const int rc = k->filled == 0 ? 0 : k->w->io->write(k->w->io, k->fd, k->bytes, k->filled);
    k->sum = hdx_crc32c(k->sum, k->bytes, k->filled);
    k->at += k->filled;
    k->filled = 0;
    return rc < 0 ? hdx_fail(err, HDX_IO, k->name, k->at, "cannot write: %s", strerror(-rc)) : HDX_OK;
}

hdx_code hdx_resume_put(void *file, const void *bytes, uint64_t len, hdx_error *err)
{
    hdx_resume_file *k = file;
    const uint8_t   *from = bytes;
    hdx_code         code = HDX_OK;
    while (len > 0 && code == HDX_OK) {
        const uint32_t room = (uint32_t)sizeof k->bytes - k->filled, n = len < room ? (uint32_t)len : room;
        assert(k->filled + n <= sizeof k->bytes); /* T10 */
        memcpy(k->bytes + k->filled, from, n);
        k->filled += n;
        from += n;
        len -= n;
        if (k->filled == sizeof k->bytes)
            code = flush(k, err);
    }
    return code;
}

hdx_code hdx_resume_put_array(hdx_resume_file *k, uint64_t size, const void *array, uint64_t count, hdx_error *err)
{
    const hdx_code code = hdx_resume_put(k, &count, sizeof count, err);
    return code != HDX_OK ? code : hdx_resume_put(k, array, count * size, err);
}

hdx_code hdx_resume_create(hdx_work *w, const hdx_saving *saving, const char *name, hdx_resume_file **out,
                           hdx_error *err)
{
    char       path[4200];
    const head h = head_of(saving);
    path_of(w, name, ".new", path, sizeof path);
    if ((*out = kept_of(w, name)) == NULL)
        return hdx_no_memory(err, name, sizeof **out);
    if (((*out)->fd = w->io->create(w->io, path)) < 0)
        return hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot create: %s", strerror(-(*out)->fd));
    return hdx_resume_put(*out, &h, sizeof h, err);
}

hdx_code hdx_resume_end(hdx_resume_file *k, hdx_code so_far, uint32_t *sum, hdx_error *err)
{
    char     path[4200], fresh[4200];
    uint8_t  bytes[4];
    hdx_code code = so_far;
    int      rc = 0;
    if (k == NULL)
        return so_far;
    hdx_work *w = k->w;
    path_of(w, k->name, "", path, sizeof path);
    path_of(w, k->name, ".new", fresh, sizeof fresh);
    if (code == HDX_OK && (code = flush(k, err)) == HDX_OK) {
        *sum = k->sum;
        hdx_put32(bytes, k->sum);
        rc = w->io->write(w->io, k->fd, bytes, sizeof bytes);
    }
    if (k->fd >= 0) {
        const int closed = w->io->close(w->io, k->fd);
        rc = rc < 0 ? rc : closed;
        k->fd = -1;
    }
    if (code == HDX_OK && (rc < 0 || (rc = w->io->rename(w->io, fresh, path)) < 0))
        code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot write: %s", strerror(-rc));
    if (code != HDX_OK)
        (void)w->io->remove(w->io, fresh);
    hdx_resume_close(k);
    return code;
}

/* ---- reading ---- */
static hdx_code fill(hdx_resume_file *k, hdx_error *err)
{
    const uint64_t n = k->end - k->at < sizeof k->bytes ? k->end - k->at : sizeof k->bytes;
    if (n == 0 || k->w->io->read_at(k->w->io, k->fd, k->bytes, n, k->at) != (int64_t)n)
        return hdx_resume_refuse(err);
    k->at += n;
    assert(k->at <= k->end); /* T10 */
    k->filled = (uint32_t)n;
    k->taken = 0;
    return HDX_OK;
}

/* Reads and compares the checksum. */
static hdx_code read_sum(hdx_resume_file *k, hdx_error *err)
{
    uint8_t sum[4];
    if (k->w->io->read_at(k->w->io, k->fd, sum, sizeof sum, k->end) != sizeof sum)
        return hdx_resume_refuse(err);
    k->sum = hdx_le32(sum);
    return HDX_OK;
}

static hdx_code sum_up(hdx_resume_file *k, hdx_error *err)
{
    uint8_t  sum[4];
    hdx_code code = HDX_OK;
    while (k->at < k->end && (code = fill(k, err)) == HDX_OK)
        k->sum = hdx_crc32c(k->sum, k->bytes, k->filled);
    k->at = k->filled = k->taken = 0;
    if (code != HDX_OK || k->w->io->read_at(k->w->io, k->fd, sum, sizeof sum, k->end) != sizeof sum ||
        hdx_le32(sum) != k->sum)
        return hdx_resume_refuse(err);
    return HDX_OK;
}

hdx_code hdx_resume_open(hdx_work *w, const hdx_saving *saving, const char *name, hdx_resume_file **out, uint32_t *sum,
                         hdx_error *err)
{
    char        path[4200];
    const head  wanted = head_of(saving);
    head        there;
    struct stat st;
    hdx_code    code;
    path_of(w, name, "", path, sizeof path);
    *out = NULL;
    if (w->io->stat(w->io, path, &st) < 0 || st.st_size < (off_t)sizeof wanted + 4)
        return hdx_resume_refuse(err);
    if ((*out = kept_of(w, name)) == NULL)
        return hdx_no_memory(err, name, sizeof **out);
    (*out)->end = (uint64_t)st.st_size - 4;
    if (((*out)->fd = w->io->open(w->io, path)) < 0)
        return hdx_resume_refuse(err);
    if ((code = hdx_seal_has(w, saving, name) ? read_sum(*out, err) : sum_up(*out, err)) != HDX_OK ||
        (code = hdx_resume_get(*out, &there, sizeof there, err)) != HDX_OK)
        return code;
    *sum = (*out)->sum;
    return memcmp(&there, &wanted, sizeof wanted) == 0 ? HDX_OK : hdx_resume_refuse(err);
}

hdx_code hdx_resume_get(void *file, void *to, uint64_t len, hdx_error *err)
{
    hdx_resume_file *k = file;
    uint8_t         *at = to;
    hdx_code         code = HDX_OK;
    while (len > 0 && (k->taken < k->filled || (code = fill(k, err)) == HDX_OK)) {
        const uint32_t n = k->filled - k->taken < len ? k->filled - k->taken : (uint32_t)len;
        assert(k->taken + n <= k->filled); /* T10 */
        memcpy(at, k->bytes + k->taken, n);
        k->taken += n;
        at += n;
        len -= n;
    }
    return code;
}

hdx_code hdx_resume_array(hdx_resume_file *k, uint64_t size, void **array, uint64_t *count, hdx_error *err)
{
    const uint64_t left_behind = k->end - k->at;
    uint64_t       n, bytes;
    hdx_code       code = hdx_resume_get(k, &n, sizeof n, err);
    *array = NULL;
    *count = 0;
    if (code != HDX_OK || !hdx_mul(n, size, &bytes) || bytes > left_behind + sizeof k->bytes)
        return hdx_resume_refuse(err);
    if (n == 0)
        return HDX_OK;
    if ((*array = hdx_mem_array(&k->w->mem, n, size)) == NULL)
        return hdx_no_memory(err, k->name, bytes);
    *count = n;
    return hdx_resume_get(k, *array, bytes, err);
}
