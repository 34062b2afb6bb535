/*
 * joined.c - a dump that a JVM of JDK 22 or later did not merge: FILE, then FILE.p0, FILE.p1 ... (JDK-8306441).
 *
 * In:  the path of FILE.
 * Out: the bytes of all of them as one dump, in the order in which the JVM would have merged them.
 * Such a JVM writes FILE with the header and the names, and each of its threads a piece with records. Afterwards it
 * appends piece after piece to FILE, removes it, and finally appends the end record. A JVM that is killed before leaves
 * FILE without an end record, and pieces; FILE may already contain the first remaining piece, or its beginning.
 * Only the frame of HPROF records is used: a tag, a time (HotSpot writes 0) and a length, and which record is the last
 * one.
 * Cost: for a file that ends with that record nothing else is read.
 */
#include "source/joined.h"

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define HEAP_RECORD 0x1c /* the tag of a part of the heap */
#define FILE_HEAD   31u  /* bytes of a file header of HotSpot */
#define RECORD_HEAD 9u
#define NEEDLE      64u /* bytes at the beginning of a piece that are searched in the file ... */
#define NEEDLE_MIN  16u /* ... and least number of them at the end of the file, if records do not show the place */
#define MEMBER_MIN  4u  /* least number for gzip members: few members end with the first bytes of another */
#define CHUNK       (64u << 10)
#define SPOTS       16u /* places at which long runs of bytes are compared, in addition to both ends */

#define TRIES 256u /* most places to compare: a hostile file may repeat the beginning of its piece everywhere */

static const uint8_t end_record[RECORD_HEAD] = { 0x2c };

typedef struct joining {
    hdx_joined *j;
    uint64_t    size; /* of the file */
    uint64_t    last; /* size of the part before the next piece */
    bool        packed;
    unsigned    tries;                   /* number of places of the file that were compared with the piece */
    int         fault;                   /* errno of a read */
    uint8_t    *walked, *bytes, *others; /* room for CHUNK + NEEDLE bytes each */
} joining;

static bool read_all(joining *g, int fd, void *to, uint64_t len, uint64_t at)
{
    const int64_t got = g->j->io->read_at(g->j->io, fd, to, len, at);
    if (got < 0)
        g->fault = (int)-got;
    return got == (int64_t)len;
}

/* ---- files whose pieces were not merged ---- */

/* Checks the first bytes, and the last ones: they must not be an end record, or a separate gzip member with one. */
static bool is_unmerged(joining *g)
{
    uint8_t head[FILE_HEAD], tail[RECORD_HEAD];
    if (g->size < FILE_HEAD || !read_all(g, g->j->file.fd, head, sizeof head, 0) ||
        !read_all(g, g->j->file.fd, tail, sizeof tail, g->size - sizeof tail))
        return false;
    g->packed = head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
    if (g->packed)
        return hdx_le32(tail + 1) != crc32(0, end_record, sizeof end_record) || hdx_le32(tail + 5) != sizeof end_record;
    return memcmp(head, "JAVA PROFILE 1.0.", 17) == 0 && memcmp(tail, end_record, sizeof tail) != 0;
}

/*
 * Returns whether these are the first bytes of a piece: a heap record, or names, frames and traces of virtual threads.
 */
static bool is_piece(const joining *g, const uint8_t *head, uint64_t size)
{
    if (g->packed)
        return size > 18 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
    return size > RECORD_HEAD && (head[0] == HEAP_RECORD || head[0] == 0x01 || head[0] == 0x04 || head[0] == 0x05) &&
           hdx_be32(head + 1) == 0 && hdx_be32(head + 5) > 0;
}

/* ---- what the file contains of its first piece ---- */

static bool is_equal(joining *g, uint64_t at, int fd, uint64_t from, uint64_t len)
{
    return read_all(g, g->j->file.fd, g->bytes, len, at + from) && read_all(g, fd, g->others, len, from) &&
           memcmp(g->bytes, g->others, len) == 0;
}

/*
 * Returns whether the bytes of the file from `at` on are the beginning of the piece. Long ones are compared at many
 * places.
 */
static bool is_start_of_piece(joining *g, uint64_t at, int fd)
{
    const uint64_t len = g->size - at, step = len / (SPOTS + 1);
    if (++g->tries > TRIES)
        return false;
    if (len <= CHUNK)
        return is_equal(g, at, fd, 0, len);
    for (uint64_t i = 0; i <= SPOTS; i++)
        if (!is_equal(g, at, fd, i * step, step < CHUNK ? step : CHUNK))
            return false;
    return is_equal(g, at, fd, len - CHUNK, CHUNK);
}

/* Steps through the heads of records; the bytes in memory are in `walked`. */
typedef struct walk {
    int      fd;
    uint64_t size, from, have;
} walk;

/* Returns NEEDLE bytes at the position, fewer at the end of the file. After a long record only these are read. */
static const uint8_t *look(joining *g, walk *w, uint64_t pos)
{
    const uint64_t left = w->size - pos, want = left < NEEDLE ? left : NEEDLE;
    if (pos < w->from || pos + want > w->from + w->have) {
        const uint64_t most = pos > w->from + w->have + CHUNK ? NEEDLE : CHUNK;
        w->from = pos;
        w->have = left < most ? left : most;
        if (!read_all(g, w->fd, g->walked, w->have, pos))
            return NULL;
    }
    return g->walked + (pos - w->from);
}

static uint64_t record_size(const uint8_t *head) { return RECORD_HEAD + (uint64_t)hdx_be32(head + 5); }

/*
 * Steps from record to record of the file to the one with which the piece begins. *sure: the records end where the file
 * ends, so no other place is possible.
 */
static uint64_t overlap_of_records(joining *g, const uint8_t *needle, size_t n, const hdx_joined_part *piece,
                                   uint64_t piece_size, bool *sure)
{
    walk     w = { .fd = g->j->file.fd, .size = g->size };
    uint64_t pos = FILE_HEAD;
    while (pos < g->size) {
        const uint64_t left = g->size - pos;
        const uint8_t *p = look(g, &w, pos);
        if (p == NULL)
            return 0;
        if (left <= piece_size && memcmp(p, needle, left < n ? left : n) == 0 && is_start_of_piece(g, pos, piece->fd)) {
            *sure = true;
            return left;
        }
        if (left < RECORD_HEAD)
            return 0;
        pos += record_size(p);
    }
    *sure = pos == g->size;
    return 0;
}

/* Same by comparing bytes: for compressed files, and if records do not follow each other. */
static uint64_t overlap_of_bytes(joining *g, const uint8_t *needle, size_t n, const hdx_joined_part *piece,
                                 uint64_t piece_size)
{
    const uint64_t least = g->packed ? MEMBER_MIN : NEEDLE_MIN;
    uint64_t       at = g->size > piece_size ? g->size - piece_size : 0;
    while (at < g->size) {
        const uint64_t left = g->size - at, len = left < CHUNK + NEEDLE ? left : CHUNK + NEEDLE;
        const uint8_t *p = g->walked, *end = p + len;
        if (!read_all(g, g->j->file.fd, g->walked, len, at))
            return 0;
        for (; (p = memchr(p, needle[0], (size_t)(end - p))) != NULL; p++) {
            const uint64_t room = (uint64_t)(end - p), pos = at + (uint64_t)(p - g->walked);
            if (room < least)
                break;
            if (memcmp(p, needle, room < n ? room : n) == 0 && is_start_of_piece(g, pos, piece->fd))
                return g->size - pos;
        }
        at += len == left ? left : CHUNK;
    }
    return 0;
}

static uint64_t overlap(joining *g, const hdx_joined_part *piece, uint64_t piece_size)
{
    uint8_t      needle[NEEDLE];
    const size_t n = piece_size < NEEDLE ? (size_t)piece_size : NEEDLE;
    bool         sure = false;
    uint64_t     bytes = 0;
    if (!read_all(g, piece->fd, needle, n, 0))
        return 0;
    if (!g->packed)
        bytes = overlap_of_records(g, needle, n, piece, piece_size, &sure);
    return sure || n < NEEDLE_MIN ? bytes : overlap_of_bytes(g, needle, n, piece, piece_size);
}

/* ---- parts with an incomplete last record ---- */

/*
 * The JVM was killed before it had written a complete record. If that is a heap record, its length is changed to end
 * with its part; otherwise it would include the beginning of the next part. Other records are omitted.
 */
static void end_part(joining *g, hdx_joined_part *part, uint64_t from, uint64_t size)
{
    walk w = { .fd = part->fd, .size = size };
    for (uint64_t pos = from; pos < size;) {
        const uint64_t left = size - pos;
        const uint8_t *p = look(g, &w, pos);
        if (p == NULL || p[0] == 0 || p[0] > 0x2c) /* not a record: the reader of the dump reports the problem */
            return;
        if (left < RECORD_HEAD || (record_size(p) > left && p[0] != HEAP_RECORD)) {
            g->j->size -= left;
            return;
        }
        if (record_size(p) > left) {
            const uint32_t n = (uint32_t)(left - RECORD_HEAD);
            part->length_at = part->at + (pos - part->from) + 5;
            for (unsigned k = 0; k < 4; k++)
                part->length[k] = (uint8_t)(n >> (24 - 8 * k));
        }
        pos += record_size(p);
    }
}

/* ---- opening ---- */

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec > b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec > b.tv_nsec);
}

static hdx_code open_piece(joining *g, const char *path, uint32_t number, hdx_error *err)
{
    hdx_joined      *j = g->j;
    hdx_joined_part *part = &j->pieces[j->count];
    uint8_t          head[RECORD_HEAD] = { 0 };
    char             name[4200];
    struct stat      st;
    (void)snprintf(name, sizeof name, "%s.p%u", path, number);
    const int fd = j->io->open(j->io, name);
    const int rc = fd < 0 ? fd : j->io->stat(j->io, name, &st);
    if (rc < 0) {
        if (fd >= 0)
            (void)j->io->close(j->io, fd);
        return hdx_hint(err,
                        hdx_fail(err, rc == -ENOENT || rc == -EACCES ? HDX_BAD_DUMP : HDX_IO, name, HDX_NOWHERE,
                                 "cannot open this segment of the dump: %s", strerror(-rc)),
                        rc == -ENOENT
                            ? "wait until the JVM has written the dump"
                            : "all segments of a dump are read: make this one readable, or move it elsewhere");
    }
    const uint64_t size = (uint64_t)st.st_size;
    if (size < sizeof head || !read_all(g, fd, head, sizeof head, 0) || !is_piece(g, head, size)) {
        (void)j->io->close(j->io, fd); /* another file with such a name, or an empty one */
        return HDX_OK;
    }
    *part = (hdx_joined_part){ .number = number, .fd = fd };
    if (j->count == 0)
        part->from = overlap(g, part, size);
    if (!g->packed && part->from == 0)
        end_part(g, j->count == 0 ? &j->file : part - 1, j->count == 0 ? FILE_HEAD : 0, g->last);
    part->at = j->size;
    j->count++;
    j->size += size - part->from;
    g->last = size;
    if (is_later(st.st_mtim, j->changed))
        j->changed = st.st_mtim;
    return HDX_OK;
}

/* After a failed read, a piece or the overlap with it may be missing. */
static hdx_code end_of(const joining *g, const char *path, hdx_code code, hdx_error *err)
{
    return code != HDX_OK || g->fault == 0
               ? code
               : hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot read: %s", strerror(g->fault));
}

hdx_code hdx_joined_of(hdx_io *io, const char *path, int fd, uint64_t size, hdx_joined *j, hdx_error *err)
{
    joining  g = { .j = j, .size = size, .last = size };
    uint32_t numbers[HDX_PIECES_MOST];
    char     real[4096];
    hdx_code code = HDX_OK;
    *j = (hdx_joined){ .io = io, .size = size, .file = { .fd = fd } };
    if (io->pieces == NULL || realpath(path, real) == NULL || !is_unmerged(&g))
        return end_of(&g, path, HDX_OK, err);
    const int      found = io->pieces(io, real, numbers, HDX_PIECES_MOST);
    const unsigned n = found <= 0 ? 0 : (unsigned)found < HDX_PIECES_MOST ? (unsigned)found : HDX_PIECES_MOST;
    if (n == 0)
        return HDX_OK;
    j->pieces = calloc(n, sizeof *j->pieces);
    g.walked = malloc(3ul * (CHUNK + NEEDLE));
    if (j->pieces == NULL || g.walked == NULL)
        code = hdx_no_memory(err, "the pieces of the dump", 3ul * (CHUNK + NEEDLE));
    else {
        g.bytes = g.walked + CHUNK + NEEDLE;
        g.others = g.bytes + CHUNK + NEEDLE;
    }
    for (unsigned i = 0; i < n && code == HDX_OK; i++)
        code = open_piece(&g, real, numbers[i], err);
    if (code == HDX_OK && j->count > 0 && !g.packed)
        end_part(&g, &j->pieces[j->count - 1], 0, g.last);
    free(g.walked);
    if (j->count > 0) {
        j->left = (unsigned)found - n;
        j->missing = numbers[n - 1] - numbers[0] + 1 - n;
    }
    return end_of(&g, path, code, err);
}

void hdx_joined_close(hdx_joined *j)
{
    for (unsigned i = 0; i < j->count; i++)
        (void)j->io->close(j->io, j->pieces[i].fd);
    free(j->pieces);
    if (j->io != NULL && j->file.fd >= 0)
        (void)j->io->close(j->io, j->file.fd);
    *j = (hdx_joined){ .file = { .fd = -1 } };
}

static void put_length(const hdx_joined_part *part, uint8_t *bytes, uint64_t len, uint64_t offset)
{
    for (uint64_t k = 0; part->length_at != 0 && k < sizeof part->length; k++)
        if (part->length_at + k >= offset && part->length_at + k - offset < len)
            bytes[part->length_at + k - offset] = part->length[k];
}

int64_t hdx_joined_read(const hdx_joined *j, void *to, uint64_t len, uint64_t offset)
{
    uint64_t done = 0;
    if (j->count == 0)
        return j->io->read_at(j->io, j->file.fd, to, len, offset);
    unsigned next = 0; /* the piece after the part with this offset */
    while (next < j->count && j->pieces[next].at <= offset)
        next++;
    for (; done < len; next++) {
        const hdx_joined_part *part = next == 0 ? &j->file : &j->pieces[next - 1];
        const uint64_t         end = next < j->count ? j->pieces[next].at : j->size, at = offset + done,
                       want = at >= end               ? 0
                              : end - at < len - done ? end - at
                                                      : len - done;
        const int64_t got =
            want == 0 ? 0 : j->io->read_at(j->io, part->fd, (uint8_t *)to + done, want, at - part->at + part->from);
        if (got < 0)
            return got;
        done += (uint64_t)got;
        if ((uint64_t)got < want || next == j->count)
            break;
    }
    put_length(&j->file, to, done, offset);
    for (unsigned i = 0; i < j->count; i++)
        put_length(&j->pieces[i], to, done, offset);
    return (int64_t)done;
}

void hdx_joined_touch(const hdx_joined *j, struct stat *file)
{
    file->st_size = (off_t)j->size;
    if (is_later(j->changed, file->st_mtim))
        file->st_mtim = j->changed;
}

int hdx_joined_stat(hdx_io *io, const char *path, struct stat *out)
{
    hdx_joined j;
    int        fd, rc = io->stat(io, path, out);
    if (rc < 0 || !S_ISREG(out->st_mode) || (fd = io->open(io, path)) < 0)
        return rc;
    if (hdx_joined_of(io, path, fd, (uint64_t)out->st_size, &j, NULL) == HDX_OK)
        hdx_joined_touch(&j, out);
    hdx_joined_close(&j);
    return rc;
}

bool hdx_joined_text(const hdx_joined *j, char *to, size_t size)
{
    if (j->count == 0)
        return false;
    const uint32_t first = j->pieces[0].number, last = j->pieces[j->count - 1].number;
    int            n;
    if (first == last)
        n = snprintf(to, size, "read together with its segment .p%u", first);
    else
        n = snprintf(to, size, "read together with its %u segments .p%u to .p%u", j->count, first, last);
    n += snprintf(to + n, size - (size_t)n, ": the JVM stopped before it merged them");
    if (j->missing > 0)
        n += snprintf(to + n, size - (size_t)n, "; %u segments between them are missing", j->missing);
    if (j->left > 0)
        (void)snprintf(to + n, size - (size_t)n, "; %u more segments are not read: append them with cat", j->left);
    return true;
}
