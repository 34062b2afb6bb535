/*
 * remember.c - answers kept in the folder of an index.
 *
 * In:  a name, a key (what the answer depends on, as a hash), bytes.
 * Out: the same bytes for the same key; nothing where the file is not whole, of another key, or of another index.
 * Cost: the file read and summed.
 *
 *     offset size   little-endian
 *          0    8   magic "heapdexA"
 *          8   16   identity of the index
 *         24    8   key
 *         32    8   length of the bytes
 *         40    4   CRC32C of the bytes
 *         44    4   CRC32C of the 44 bytes before
 *         48        the bytes
 */
#include "graph/inside.h"
#include "graph/graph.h"

#include <stdio.h>

#define HEAD 48u

static const char magic[8] = { 'h', 'e', 'a', 'p', 'd', 'e', 'x', 'A' };

static void put_head(const hdx_graph *g, uint64_t key, const void *bytes, uint64_t len, uint8_t head[HEAD])
{
    memcpy(head, magic, sizeof magic);
    memcpy(head + 8, g->m->identity, 16);
    hdx_put64(head + 24, key);
    hdx_put64(head + 32, len);
    hdx_put32(head + 40, hdx_crc32c(0, bytes, (size_t)len));
    hdx_put32(head + 44, hdx_crc32c(0, head, 44));
}

hdx_remembered hdx_graph_recall(const hdx_graph *g, const char *name, uint64_t key)
{
    hdx_remembered out = { NULL, 0 };
    uint8_t        head[HEAD], want[HEAD];
    char           path[4096];
    struct stat    st;
    hdx_io        *io = g->place.io;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", g->folder, name) >= sizeof path)
        return out;
    int fd = io->open(io, path);
    if (fd < 0)
        return out;
    if (io->stat(io, path, &st) == 0 && st.st_size >= (off_t)HEAD && io->read_at(io, fd, head, HEAD, 0) == HEAD &&
        hdx_le64(head + 32) == (uint64_t)st.st_size - HEAD && hdx_le64(head + 24) == key) {
        out.size = hdx_le64(head + 32);
        out.at = hdx_mem_get(NULL, out.size);
        if (out.at != NULL && io->read_at(io, fd, out.at, out.size, HEAD) == (int64_t)out.size)
            put_head(g, key, out.at, out.size, want);
        else
            memset(want, 0, sizeof want);
        if (memcmp(head, want, HEAD) != 0) {
            hdx_mem_put(NULL, out.at, out.size);
            out = (hdx_remembered){ NULL, 0 };
        }
    }
    (void)io->close(io, fd);
    return out;
}

bool hdx_graph_remember(const hdx_graph *g, const char *name, uint64_t key, const void *bytes, uint64_t len)
{
    uint8_t head[HEAD];
    char    path[4096], part[4160];
    hdx_io *io = g->place.io;
    hdx_access like; /* as the index, and so as its dump */
    if ((size_t)snprintf(path, sizeof path, "%s/%s", g->folder, name) >= sizeof path)
        return false;
    /* Two processes may keep their answers at once: each writes a file of its own, and the later rename stays. */
    (void)snprintf(part, sizeof part, "%s.%llx.part", path, (unsigned long long)(hdx_now_ns() ^ (uint64_t)(uintptr_t)head));
    put_head(g, key, bytes, len, head);
    int fd = io->create(io, part);
    if (fd < 0)
        return false;
    bool good = io->write(io, fd, head, HEAD) >= 0 && io->write(io, fd, bytes, len) >= 0 && io->sync(io, fd) >= 0;
    good = io->close(io, fd) >= 0 && good;
    hdx_access_of(g->folder, &like);
    if (good)
        io->share(io, part, &like);
    good = good && io->rename(io, part, path) >= 0;
    if (good)
        (void)io->sync_folder(io, g->folder);
    else
        (void)io->remove(io, part);
    return good;
}
