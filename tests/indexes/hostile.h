/*
 * hostile.h - index files in memory: made of any sections with the right sums, as somebody who means harm would make
 * them. The map is exactly as long as the file, so that ASan sees a read past its end.
 */
#ifndef HDX_TESTS_INDEXES_HOSTILE_H
#define HDX_TESTS_INDEXES_HOSTILE_H

#include "indexes/container/container.h"

#include <errno.h>
#include <stdlib.h>

typedef struct memory_io { /* one file, whatever its name */
    hdx_io   io;
    uint8_t *bytes;
    size_t   len, room;
    unsigned fail_at, calls; /* fail_at: the how-manieth call that writes gives ENOSPC; 0: none */
    int      opened;         /* and not closed; the file is number 0, the least there is */
} memory_io;

static inline int memory_open(hdx_io *io, const char *path)
{
    (void)path;
    if (((memory_io *)io)->bytes == NULL)
        return -ENOENT;
    ((memory_io *)io)->opened++;
    return 0;
}
static inline int memory_step(hdx_io *io)
{
    memory_io *m = (memory_io *)io;
    return ++m->calls == m->fail_at ? -ENOSPC : 0;
}
static inline int memory_create(hdx_io *io, const char *path)
{
    memory_io *m = (memory_io *)io;
    (void)path;
    if (memory_step(io) < 0)
        return -ENOSPC;
    free(m->bytes);
    m->bytes = calloc(1, m->room = 1);
    m->len = 0;
    m->opened++;
    return 0;
}
static inline int memory_write_at(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset)
{
    memory_io *m = (memory_io *)io;
    (void)fd;
    if (memory_step(io) < 0)
        return -ENOSPC;
    if (offset + len > m->room) {
        size_t room = (size_t)(offset + len) * 2;
        m->bytes = realloc(m->bytes, room);
        memset(m->bytes + m->room, 0, room - m->room);
        m->room = room;
    }
    memcpy(m->bytes + offset, bytes, len);
    m->len = offset + len > m->len ? (size_t)(offset + len) : m->len;
    return 0;
}
static inline int64_t memory_read_at(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    memory_io *m = (memory_io *)io;
    uint64_t   n = offset >= m->len ? 0 : m->len - offset < len ? m->len - offset : len;
    (void)fd;
    memcpy(to, m->bytes + (n == 0 ? 0 : offset), n);
    return (int64_t)n;
}
static inline int memory_sync(hdx_io *io, int fd)
{
    (void)fd;
    return memory_step(io);
}
static inline void memory_push(hdx_io *io, int fd)
{
    (void)io;
    (void)fd;
}
static inline int memory_close(hdx_io *io, int fd)
{
    if (fd != 0 || ((memory_io *)io)->opened-- == 0)
        abort();
    return memory_step(io);
}
static inline int memory_remove(hdx_io *io, const char *path)
{
    memory_io *m = (memory_io *)io;
    (void)path;
    free(m->bytes);
    m->bytes = NULL;
    m->len = m->room = 0;
    return 0;
}
static inline int memory_map(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    memory_io *m = (memory_io *)io;
    (void)fd;
    uint8_t *exact = len <= m->len ? malloc(len) : NULL;
    if (exact == NULL)
        return -EINVAL;
    memcpy(exact, m->bytes, len);
    *at = exact;
    return 0;
}
static inline void memory_unmap(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    (void)len;
    free((void *)(uintptr_t)at);
}
static inline void memory_forget(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    (void)at;
    (void)len;
}
static inline memory_io memory_io_new(void)
{
    return (memory_io){ .io = { .open = memory_open,
                                .create = memory_create,
                                .read_at = memory_read_at,
                                .write_at = memory_write_at,
                                .sync = memory_sync,
                                .push = memory_push,
                                .close = memory_close,
                                .remove = memory_remove,
                                .map = memory_map,
                                .unmap = memory_unmap,
                                .forget = memory_forget } };
}
static inline void memory_io_free(memory_io *m)
{
    if (m->opened != 0)
        abort();
    free(m->bytes);
}

static inline hdx_code hostile_write(const hdx_index_place *place, hdx_kind kind, const uint64_t counts[3],
                                     const hdx_view *sections, unsigned n, hdx_index_file *file)
{
    hdx_container_writer w;
    hdx_code             code = hdx_container_create(&w, place, kind, counts, NULL);
    for (unsigned i = 0; i < n && code == HDX_OK; i++)
        if ((code = hdx_container_section(&w, sections[i].len, NULL)) == HDX_OK)
            code = hdx_container_put(&w, i, sections[i].at, sections[i].len, NULL);
    if (code == HDX_OK)
        code = hdx_container_finish(&w, file, NULL);
    hdx_container_drop(&w);
    return code;
}

/* The sections of a whole file, borrowed from it. */
static inline unsigned hostile_sections(const uint8_t *bytes, size_t len, hdx_view sections[HDX_SECTIONS])
{
    const uint8_t *tail = bytes + len - HDX_FOOT_BYTES;
    for (unsigned i = 0; i < hdx_le32(tail + 108); i++)
        sections[i] = (hdx_view){ bytes + hdx_le64(tail + 16 * i), (size_t)hdx_le64(tail + 16 * i + 8) };
    return hdx_le32(tail + 108);
}

/* Keys all over a file and beyond its end, for what is read ahead. */
#define HOSTILE_KEYS 70u
static const hdx_pace at_once = { HOSTILE_KEYS, HOSTILE_KEYS }; /* all rounds of all keys before the first */
static inline void    keys_all_over(uint64_t keys[HOSTILE_KEYS], uint64_t count)
{
    for (unsigned i = 0; i < HOSTILE_KEYS; i++)
        keys[i] = i == 7 ? UINT64_MAX : i == 8 ? UINT64_MAX - 1 : i == 9 ? count : (count + 3) * i / (HOSTILE_KEYS - 3);
}

/* Every question there is, to a file that may say anything. Open may refuse; nothing may crash. */
static inline void ask_ints(const hdx_index_place *place, const hdx_index_file *file, uint64_t count, uint64_t below)
{
    hdx_damage_note note = { 0 };
    hdx_ints       *ints;
    uint64_t        out[300];
    if (hdx_ints_open(place, HDX_KIND_CLASS, file, count, below, &note, &ints, NULL) != HDX_OK)
        return;
    uint64_t ahead[HOSTILE_KEYS];
    keys_all_over(ahead, count);
    hdx_ints_ahead(ints, ahead, HOSTILE_KEYS, 0, at_once);
    if (note.state != 0)
        abort(); /* nothing was asked yet */
    for (uint64_t i = 0; i < count; i++)
        if (hdx_ints_get(ints, i) >= below && below != 0 && hdx_ints_get(ints, i) != 0)
            abort();
    for (uint64_t at = 0; at < count; at += 299)
        hdx_ints_read(ints, at, (uint32_t)(count - at < 300 ? count - at : 300), out);
    hdx_ints_close(ints);
}
static inline void ask_one_to_n(const hdx_index_place *place, const hdx_index_file *file, uint64_t keys, uint64_t below)
{
    hdx_damage_note note = { 0 };
    hdx_one_to_n   *lists;
    uint64_t        out[300], first, length;
    if (hdx_one_to_n_open(place, HDX_KIND_OUTBOUND, file, keys, below, &note, &lists, NULL) != HDX_OK)
        return;
    keys_all_over(out, keys);
    hdx_one_to_n_ahead(lists, out, HOSTILE_KEYS, 0, at_once);
    if (note.state != 0)
        abort();
    for (uint64_t k = 0; k < keys; k++) {
        hdx_one_to_n_list(lists, k, &first, &length);
        if (length > 0 && (first >= hdx_one_to_n_values(lists) || length > hdx_one_to_n_values(lists) - first))
            abort();
        uint32_t n = (uint32_t)(length < 300 ? length : 300);
        hdx_one_to_n_read(lists, k, first, n, out);
        for (uint32_t i = 0; i < n; i++)
            if (out[i] >= below && out[i] != 0)
                abort();
    }
    uint64_t degrees[300];
    for (uint64_t k = 0; k < keys; k += 299) {
        uint32_t n = (uint32_t)(keys - k < 300 ? keys - k : 300);
        hdx_one_to_n_firsts(lists, k, n, degrees, out);
        for (uint32_t i = 0; i < n; i++)
            if ((out[i] >= below && out[i] != 0) || degrees[i] > hdx_one_to_n_values(lists))
                abort();
    }
    for (uint64_t i = 0; i < hdx_one_to_n_values(lists) && i < 5000; i++)
        (void)hdx_one_to_n_get(lists, i % (keys + 1), i);
    hdx_one_to_n_close(lists);
}
static inline void ask_ranks(const hdx_index_place *place, const hdx_index_file *file, uint64_t size)
{
    hdx_damage_note note = { 0 };
    hdx_ranks      *r;
    uint64_t        rank;
    if (hdx_ranks_open(place, HDX_KIND_SPECIAL, file, size, &note, &r, NULL) != HDX_OK)
        return;
    uint64_t ahead[HOSTILE_KEYS];
    keys_all_over(ahead, size);
    hdx_ranks_ahead(r, ahead, HOSTILE_KEYS, 0, at_once);
    for (uint64_t i = 0; i < size; i++)
        if (hdx_ranks_find(r, i, &rank) && rank >= hdx_ranks_count(r))
            abort();
    for (uint64_t i = 0; i < hdx_ranks_count(r); i++)
        if (hdx_ranks_at(r, i) >= size)
            abort();
    hdx_ranks_close(r);
}
static inline void ask_addresses(const hdx_index_place *place, const hdx_index_file *file, uint64_t count,
                                 const uint64_t *addresses, size_t n)
{
    hdx_damage_note note = { 0 };
    hdx_addresses  *s;
    hdx_addr        out[300];
    if (hdx_addresses_open(place, HDX_KIND_ADDRESS, file, count, &note, &s, NULL) != HDX_OK)
        return;
    keys_all_over(out, count);
    hdx_addresses_ahead_at(s, out, HOSTILE_KEYS, 0, at_once);
    hdx_addresses_ahead(s, out, HOSTILE_KEYS, 0, at_once);
    for (size_t i = 0; i < n; i += 8)
        hdx_addresses_ahead(s, addresses, n, i, (hdx_pace){ 8, 8 });
    if (note.state != 0)
        abort();
    for (size_t i = 0; i < n; i++) {
        hdx_id id = hdx_addresses_find(s, addresses[i]);
        if (id != HDX_NO_ID && id >= count)
            abort();
    }
    for (uint64_t i = 0; i < count && i < 2000; i++)
        (void)hdx_addresses_find(s, hdx_addresses_at(s, i));
    for (uint64_t at = 0; at < count; at += 299)
        hdx_addresses_read(s, at, (uint32_t)(count - at < 300 ? count - at : 300), out);
    hdx_addresses_close(s);
}

#endif
