/*
 * remember.c - answers that are saved in the folder of an index.
 *
 * In:  a key (a hash of all that the answer depends on), bytes.
 * Out: the same bytes for the same key; nothing if the file is damaged, of another key, or of another index. The key
 *      selects one of HDX_NOTES files, so a folder never has more.
 * Cost: one read of the file, with checksum.
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

#include "base/whole.h"
#include "indexes/folder.h"

#include <assert.h>
#include <stdio.h>

#define HEAD      48u
#define NOTE_MOST (1ull << 30) /* larger files are neither written nor read */

static const char magic[8] = { 'h', 'e', 'a', 'p', 'd', 'e', 'x', 'A' };

static void put_head(const hdx_graph *g, uint64_t key, const void *bytes, uint64_t len, uint8_t head[HEAD])
{
    assert(len <= NOTE_MOST - HEAD);
    memcpy(head, magic, sizeof magic);
    memcpy(head + 8, g->m->identity, 16);
    hdx_put64(head + 24, key);
    hdx_put64(head + 32, len);
    hdx_put32(head + 40, hdx_crc32c(0, bytes, (size_t)len));
    hdx_put32(head + 44, hdx_crc32c(0, head, 44));
}

const char *hdx_graph_saved_name(uint64_t key)
{
    return hdx_note_names[key < HDX_NOTE_KEYS ? key : HDX_NOTE_KEYS + key % (HDX_NOTES - HDX_NOTE_KEYS)];
}

static bool note_path(const hdx_graph *g, const char *name, char path[4096])
{
    return (size_t)snprintf(path, 4096, "%s/%s", g->folder, name) < 4096;
}

bool hdx_graph_saved(const hdx_graph *g, unsigned i, const char **name, uint64_t *bytes)
{
    struct stat st;
    char        path[4096];
    for (unsigned n = 0; n < HDX_NOTES; n++) {
        if (!note_path(g, hdx_note_names[n], path) || g->place.io->stat(g->place.io, path, &st) < 0 || i-- > 0)
            continue;
        *name = hdx_note_names[n];
        *bytes = (uint64_t)st.st_size;
        return true;
    }
    return false;
}

/* Returns the problem of a header; NULL: none. */
static const char *head_fault(const hdx_graph *g, const uint8_t head[HEAD], uint64_t size)
{
    return memcmp(head, magic, sizeof magic) != 0           ? "does not begin like a stored answer"
           : hdx_le32(head + 44) != hdx_crc32c(0, head, 44) ? "its header has a wrong checksum"
           : memcmp(head + 8, g->m->identity, 16) != 0      ? "belongs to another index"
           : hdx_le64(head + 32) != size - HEAD             ? "its length differs from its header"
                                                            : NULL;
}

hdx_code hdx_graph_saved_read(const hdx_graph *g, const char *name, uint64_t *key, hdx_remembered *out, hdx_error *err)
{
    uint8_t     head[HEAD];
    char        path[4096];
    struct stat st;
    hdx_io     *io = g->place.io;
    hdx_code    code = HDX_OK;
    const char *fault = NULL;
    *out = (hdx_remembered){ NULL, 0 };
    if (!note_path(g, name, path) || io->stat(io, path, &st) < 0)
        return hdx_fail(err, HDX_NOT_FOUND, name, HDX_NOWHERE, "no stored answer with this name");
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)NOTE_MOST) /* opening a pipe would block */
        return hdx_fail(err, HDX_DAMAGED, name, HDX_NOWHERE, "is not a stored answer: %s",
                        S_ISREG(st.st_mode) ? "the file is too large" : "not a regular file");
    int fd = io->open(io, path);
    if (fd < 0)
        return hdx_fail(err, HDX_IO, name, HDX_NOWHERE, "cannot be read: %s", strerror(-fd));
    if (st.st_size < (off_t)HEAD || io->read_at(io, fd, head, HEAD, 0) != HEAD)
        fault = "is shorter than the header of a stored answer";
    else if ((fault = head_fault(g, head, (uint64_t)st.st_size)) == NULL) {
        *key = hdx_le64(head + 24);
        out->size = hdx_le64(head + 32);
        if ((out->at = hdx_mem_get(NULL, out->size)) == NULL)
            code = hdx_no_memory(err, "a stored answer", out->size);
        else if (io->read_at(io, fd, out->at, out->size, HEAD) != (int64_t)out->size ||
                 hdx_le32(head + 40) != hdx_crc32c(0, out->at, (size_t)out->size))
            fault = "its checksum is wrong";
        else if (strcmp(hdx_graph_saved_name(*key), name) != 0)
            fault = "its key belongs to another name";
    }
    (void)io->close(io, fd);
    if (fault != NULL)
        code = hdx_fail(err, HDX_DAMAGED, name, HDX_NOWHERE, "%s", fault);
    if (code != HDX_OK) {
        hdx_mem_put(NULL, out->at, out->size);
        *out = (hdx_remembered){ NULL, 0 };
    }
    return code;
}

hdx_remembered hdx_graph_recall(const hdx_graph *g, uint64_t key)
{
    hdx_remembered out;
    hdx_error      unseen;
    uint64_t       stored_key;
    if (hdx_graph_saved_read(g, hdx_graph_saved_name(key), &stored_key, &out, &unseen) == HDX_OK && stored_key != key) {
        hdx_mem_put(NULL, out.at, out.size);
        out = (hdx_remembered){ NULL, 0 };
    }
    return out;
}

bool hdx_graph_remember(const hdx_graph *g, uint64_t key, const void *bytes, uint64_t len)
{
    uint8_t        head[HEAD];
    char           path[4096];
    hdx_io        *io = g->place.io;
    hdx_access     like; /* same access rights as the index, and therefore as its dump */
    hdx_whole_file note; /* two processes may write one answer at the same time: the last rename wins */
    if (len > NOTE_MOST - HEAD || !note_path(g, hdx_graph_saved_name(key), path))
        return false;
    put_head(g, key, bytes, len, head);
    hdx_access_of(g->folder, &like);
    const bool good = hdx_whole_begin(&note, io, path, &like) >= 0 && io->write(io, note.fd, head, HEAD) >= 0 &&
                      io->write(io, note.fd, bytes, len) >= 0 && hdx_whole_commit(&note) >= 0;
    hdx_whole_drop(&note);
    return good;
}
