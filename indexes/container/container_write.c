/*
 * container_write.c - writes an index file sequentially: head, sections, sums, foot. The file is then on its way to
 * disk; the code that commits the folder syncs it.
 *
 * In:  bytes of sections, in order within each section.
 * Out: the file, its size and the sum of its foot for the manifest.
 * Cost: one copy and one CRC32C of every byte; memory for a block of 64 KiB per open section and 4 bytes per finished
 *       block.
 * A file is written under its final name, because readers only see the folder after it was renamed.
 */
#include "indexes/container/container.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#define PUSH_BLOCKS 256u /* 16 MB */

static uint64_t align(uint64_t n) { return hdx_round_up(n, 64); } /* sections begin on a cache line */

uint32_t hdx_container_seed(const uint8_t identity[16], hdx_kind kind)
{
    uint8_t number[4];
    hdx_put32(number, (uint32_t)kind);
    return hdx_crc32c(hdx_crc32c(0, identity, 16), number, sizeof number);
}

uint32_t hdx_container_sum(uint32_t seed, uint64_t number, const void *bytes, uint64_t len)
{
    uint8_t text[8];
    hdx_put64(text, number);
    return hdx_crc32c(hdx_crc32c(seed, text, sizeof text), bytes, (size_t)len);
}

static hdx_code write_at(hdx_container_writer *w, const void *bytes, uint64_t len, uint64_t at, hdx_error *err)
{
    int rc = w->place->io->write_at(w->place->io, w->fd, bytes, len, at);
    if (rc < 0)
        return hdx_fail(err, HDX_IO, w->path, at, "cannot write %llu bytes: %s", (unsigned long long)len,
                        strerror(-rc));
    return HDX_OK;
}

hdx_code hdx_container_create(hdx_container_writer *w, const hdx_index_place *place, hdx_kind kind,
                              const uint64_t counts[3], hdx_error *err)
{
    memset(w, 0, sizeof *w);
    w->place = place;
    w->kind = kind;
    w->fd = -1;
    w->seed = hdx_container_seed(place->identity, kind);
    if ((size_t)snprintf(w->path, sizeof w->path, "%s/%s.hdx", place->folder, hdx_kind_name(kind)) >= sizeof w->path) {
        w->path[0] = '\0';
        return hdx_fail(err, HDX_USAGE, place->folder, HDX_NOWHERE, "path too long");
    }
    int fd = place->io->create(place->io, w->path);
    if (fd < 0)
        return hdx_fail(err, HDX_IO, w->path, HDX_NOWHERE, "cannot create: %s", strerror(-fd));
    w->fd = fd;
    memcpy(w->head, "hdxindex", 8);
    hdx_put32(w->head + 8, HDX_INDEX_FORMAT);
    hdx_put32(w->head + 12, (uint32_t)kind);
    memcpy(w->head + 16, place->identity, 16);
    for (unsigned i = 0; i < 3; i++)
        hdx_put64(w->head + 32 + 8 * i, counts[i]);
    return write_at(w, w->head, HDX_HEAD_BYTES, 0, err);
}

static hdx_code flush(hdx_container_writer *w, unsigned section, hdx_error *err)
{
    hdx_pour *s = &w->section[section];
    assert(s->bytes > 0 && !s->ended); /* C4: a block is written when it is full, or its section ends */
    uint64_t block = (s->bytes - 1) / HDX_BLOCK, len = s->bytes - block * HDX_BLOCK;
    if (!hdx_mem_room(w->place->mem, (void **)&s->sums, &s->sums_room, block, 4))
        return hdx_no_memory(err, "sums of an index file", s->sums_room * 8);
    hdx_put32(s->sums + 4 * block, hdx_container_sum(w->seed, hdx_block_number(section, block), s->block, len));
    hdx_code code = write_at(w, s->block, len, s->start + block * HDX_BLOCK, err);
    if (code == HDX_OK && block % PUSH_BLOCKS == PUSH_BLOCKS - 1) /* while other threads encode the next values */
        w->place->io->push(w->place->io, w->fd);
    return code;
}

static hdx_code end_section(hdx_container_writer *w, unsigned section, hdx_error *err)
{
    hdx_pour *s = &w->section[section];
    hdx_code  code = HDX_OK;
    if (s->ended)
        return HDX_OK;
    if (s->expected != HDX_SECTION_OPEN && s->expected != s->bytes)
        return hdx_fail(err, HDX_USAGE, w->path, s->start, "section %u has %llu bytes; %llu were announced", section,
                        (unsigned long long)s->bytes, (unsigned long long)s->expected);
    if (s->bytes % HDX_BLOCK != 0)
        code = flush(w, section, err);
    hdx_mem_put(w->place->mem, s->block, HDX_BLOCK);
    s->block = NULL;
    s->ended = true;
    return code;
}

hdx_code hdx_container_section(hdx_container_writer *w, uint64_t bytes, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint64_t start = HDX_HEAD_BYTES;
    if (w->sections == HDX_SECTIONS)
        return hdx_fail(err, HDX_USAGE, w->path, HDX_NOWHERE, "more than %u sections", HDX_SECTIONS);
    if (w->sections > 0) {
        hdx_pour *before = &w->section[w->sections - 1];
        if (before->expected == HDX_SECTION_OPEN && (code = end_section(w, w->sections - 1, err)) != HDX_OK)
            return code;
        start = align(before->start + (before->ended ? before->bytes : before->expected));
    }
    assert(start % 64 == 0); /* C3 */
    hdx_pour *s = &w->section[w->sections++];
    s->start = start;
    s->expected = bytes;
    s->block = hdx_mem_get(w->place->mem, HDX_BLOCK);
    return s->block != NULL ? HDX_OK : hdx_no_memory(err, "a block of an index file", HDX_BLOCK);
}

hdx_code hdx_container_put(hdx_container_writer *w, unsigned section, const void *bytes, uint64_t len, hdx_error *err)
{
    hdx_pour      *s = &w->section[section];
    const uint8_t *from = bytes;
    hdx_code       code;
    if (s->ended || (s->expected != HDX_SECTION_OPEN && len > s->expected - s->bytes))
        return hdx_fail(err, HDX_USAGE, w->path, s->start, "section %u exceeds its announced size", section);
    while (len > 0) {
        uint64_t at = s->bytes % HDX_BLOCK, n = HDX_BLOCK - at < len ? HDX_BLOCK - at : len;
        memcpy(s->block + at, from, (size_t)n);
        s->bytes += n;
        from += n;
        len -= n;
        if (s->bytes % HDX_BLOCK == 0 && (code = flush(w, section, err)) != HDX_OK)
            return code;
    }
    assert(s->expected == HDX_SECTION_OPEN || s->bytes <= s->expected); /* C3 */
    return HDX_OK;
}

/* Writes the sums of the blocks, section after section, and the sums of the pieces of that table. */
static hdx_code put_sums(hdx_container_writer *w, uint64_t at, uint64_t *blocks, uint8_t **foot, uint64_t *pieces,
                         uint64_t *foot_bytes, hdx_error *err)
{
    uint8_t *piece = NULL;
    uint64_t fill = 0, done = 0;
    hdx_code code = HDX_OK;
    *blocks = 0;
    for (unsigned i = 0; i < w->sections; i++)
        *blocks += (w->section[i].bytes + HDX_BLOCK - 1) / HDX_BLOCK;
    *pieces = (4 * *blocks + HDX_BLOCK - 1) / HDX_BLOCK;
    if (*pieces > HDX_PIECES_MAX)
        return hdx_fail(err, HDX_LIMIT, w->path, HDX_NOWHERE, "index file exceeds %u GiB", HDX_PIECES_MAX);
    *foot_bytes = 4 * *pieces + HDX_FOOT_BYTES;
    if ((*foot = hdx_mem_get(w->place->mem, *foot_bytes)) == NULL ||
        (piece = hdx_mem_get(w->place->mem, HDX_BLOCK)) == NULL) {
        code = hdx_no_memory(err, "foot of an index file", *foot_bytes);
        goto out;
    }
    for (unsigned i = 0; i < w->sections; i++) {
        uint64_t n = (w->section[i].bytes + HDX_BLOCK - 1) / HDX_BLOCK * 4;
        for (uint64_t from = 0; from < n;) {
            uint64_t part = HDX_BLOCK - fill < n - from ? HDX_BLOCK - fill : n - from;
            memcpy(piece + fill, w->section[i].sums + from, (size_t)part);
            from += part;
            fill += part;
            if (fill < HDX_BLOCK)
                continue;
            hdx_put32(*foot + 4 * done, hdx_container_sum(w->seed, HDX_SUM_PIECE | done, piece, fill));
            if ((code = write_at(w, piece, fill, at + done * HDX_BLOCK, err)) != HDX_OK)
                goto out;
            done++;
            fill = 0;
        }
    }
    if (fill > 0) {
        hdx_put32(*foot + 4 * done, hdx_container_sum(w->seed, HDX_SUM_PIECE | done, piece, fill));
        code = write_at(w, piece, fill, at + done * HDX_BLOCK, err);
        done++;
    }
    assert(code != HDX_OK || done == *pieces); /* C4 */
out:
    hdx_mem_put(w->place->mem, piece, HDX_BLOCK);
    return code;
}

hdx_code hdx_container_finish(hdx_container_writer *w, hdx_index_file *out, hdx_error *err)
{
    hdx_io  *io = w->place->io;
    hdx_code code = HDX_OK;
    uint8_t *foot = NULL, *tail;
    uint64_t at = HDX_HEAD_BYTES, blocks = 0, pieces = 0, foot_bytes = 0;
    for (unsigned i = 0; i < w->sections; i++)
        if ((code = end_section(w, i, err)) != HDX_OK)
            return code;
    if (w->sections > 0)
        at = align(w->section[w->sections - 1].start + w->section[w->sections - 1].bytes);
    if ((code = put_sums(w, at, &blocks, &foot, &pieces, &foot_bytes, err)) != HDX_OK)
        goto out;
    tail = foot + 4 * pieces;
    for (unsigned i = 0; i < w->sections; i++) {
        hdx_put64(tail + 16 * i, w->section[i].start);
        hdx_put64(tail + 16 * i + 8, w->section[i].bytes);
    }
    hdx_put64(tail + 96, blocks);
    hdx_put32(tail + 104, (uint32_t)pieces);
    hdx_put32(tail + 108, w->sections);
    memcpy(tail + 112, w->head + 32, 24); /* the counts again */
    hdx_put32(tail + 136, hdx_container_sum(w->seed, HDX_SUM_HEAD, w->head, HDX_HEAD_BYTES));
    memcpy(tail + 144, "hdxfoot\n", 8);
    if ((code = write_at(w, foot, foot_bytes, at + 4 * blocks, err)) != HDX_OK)
        goto out;
    out->bytes = at + 4 * blocks + foot_bytes;
    out->sum = hdx_container_sum(w->seed, HDX_SUM_FOOT, foot, foot_bytes);
    io->push(io, w->fd);
    int rc = io->close(io, w->fd);
    w->fd = -1; /* invalid even if close fails: closing twice would be worse */
    if (rc < 0) {
        code = hdx_fail(err, HDX_IO, w->path, HDX_NOWHERE, "cannot close: %s", strerror(-rc));
        goto out;
    }
    w->path[0] = '\0'; /* the file stays */
out:
    hdx_mem_put(w->place->mem, foot, foot_bytes);
    return code;
}

void hdx_container_drop(hdx_container_writer *w)
{
    hdx_io *io = w->place->io;
    for (unsigned i = 0; i < w->sections; i++) {
        hdx_mem_put(w->place->mem, w->section[i].block, HDX_BLOCK);
        hdx_mem_put(w->place->mem, w->section[i].sums, w->section[i].sums_room * 4);
    }
    w->sections = 0;
    if (w->fd >= 0)
        (void)io->close(io, w->fd);
    if (w->path[0] != '\0')
        (void)io->remove(io, w->path);
    w->fd = -1;
    w->path[0] = '\0';
}
