/*
 * container_read.c - opens an index file, and checks its blocks when they are first used.
 *
 * Opening compares head and foot with the manifest and with each other; afterwards every section is known to be inside
 * the map. The map is read-only, and files are never changed in place; if a file is truncated nevertheless, that causes
 * SIGBUS (hdx_container_handle_fault).
 */
#include "indexes/container/container.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define DAMAGED_HINT "the index is damaged; `heapdex index --force` rebuilds it"

static uint64_t align(uint64_t n) { return hdx_round_up(n, 64); }

hdx_code hdx_container_damaged(const hdx_container *c, hdx_error *err, const char *what)
{
    (void)hdx_fail(err, HDX_DAMAGED, c->where, HDX_NOWHERE, "%s", what);
    return hdx_hint(err, HDX_DAMAGED, DAMAGED_HINT);
}

/* Only the first note is stored, because later ones often follow from it. */
void hdx_container_note(const hdx_container *c, unsigned section, uint64_t offset, const char *what)
{
    int whole = 0;
    if (c->note == NULL || !atomic_compare_exchange_strong(&c->note->state, &whole, 1))
        return;
    const hdx_section *s = &c->section[section];
    uint64_t           at = (uint64_t)(s->at - c->map) + offset;
    (void)hdx_fail(&c->note->error, HDX_DAMAGED, c->where, at, "%s (section %u, block %llu, byte %llu of the file)",
                   what, section, (unsigned long long)(s->first_block + (offset >> HDX_BLOCK_BITS)),
                   (unsigned long long)at);
    (void)hdx_hint(&c->note->error, HDX_DAMAGED, DAMAGED_HINT);
    atomic_store(&c->note->state, 2);
}

hdx_code hdx_note_check(hdx_damage_note *note, hdx_error *err)
{
    int state = note == NULL ? 0 : atomic_load(&note->state);
    if (state == 0)
        return HDX_OK;
    if (state == 1) { /* another thread is still writing the message: the result is worthless anyway */
        (void)hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE, "an index file is damaged");
        return hdx_hint(err, HDX_DAMAGED, DAMAGED_HINT);
    }
    if (err != NULL)
        *err = note->error;
    return HDX_DAMAGED;
}

/*
 * A block's sum is trusted only after the piece of the table that contains it. Two threads at one block repeat the same
 * work, which is harmless.
 */
static bool check_block(const hdx_container *c, unsigned section, uint64_t block)
{
    const hdx_section *s = &c->section[section];
    uint64_t           number = s->first_block + block, piece = 4 * number / HDX_BLOCK;
    assert(section < c->sections && block * HDX_BLOCK < s->bytes && number < c->blocks && piece < c->pieces);
    uint8_t state = __atomic_load_n(&c->state[number], __ATOMIC_RELAXED);
    if (state != 0)
        return state == 1;
    state = __atomic_load_n(&c->piece_state[piece], __ATOMIC_RELAXED);
    if (state == 0) {
        uint64_t at = piece * HDX_BLOCK, len = 4 * c->blocks - at < HDX_BLOCK ? 4 * c->blocks - at : HDX_BLOCK;
        uint32_t sum = hdx_container_sum(c->seed, HDX_SUM_PIECE | piece, c->sums + at, len);
        state = sum == hdx_le32(c->sums + 4 * c->blocks + 4 * piece) ? 1 : 2;
        __atomic_store_n(&c->piece_state[piece], state, __ATOMIC_RELAXED);
    }
    if (state != 1) {
        hdx_container_note(c, section, block * HDX_BLOCK, "the table of checksums has a wrong checksum");
    } else {
        uint64_t at = block * HDX_BLOCK, len = s->bytes - at < HDX_BLOCK ? s->bytes - at : HDX_BLOCK;
        uint32_t sum = hdx_container_sum(c->seed, hdx_block_number(section, block), s->at + at, len),
                 want = hdx_le32(c->sums + 4 * number);
        char what[80];
        state = sum == want ? 1 : 2;
        if (state == 2) {
            (void)snprintf(what, sizeof what, "block has checksum %08x, expected %08x", sum, want);
            hdx_container_note(c, section, at, what);
        }
    }
    if (__atomic_exchange_n(&c->state[number], state, __ATOMIC_RELAXED) == 0 && state == 1)
        (void)__atomic_fetch_sub((uint64_t *)(uintptr_t)&s->unproved, 1, __ATOMIC_RELAXED);
    return state == 1;
}

bool hdx_touch_slowly(const hdx_container *c, unsigned section, uint64_t off, uint64_t len)
{
    const hdx_section *s = &c->section[section];
    if (off > s->bytes || len > s->bytes - off) {
        hdx_container_note(c, section, s->bytes, "position outside the section");
        return false;
    }
    if (len == 0)
        return true;
    for (uint64_t b = off >> HDX_BLOCK_BITS; b <= (off + len - 1) >> HDX_BLOCK_BITS; b++)
        if (!check_block(c, section, b))
            return false;
    return true;
}

static hdx_code check_head(const hdx_container *c, const uint8_t identity[16], hdx_error *err)
{
    const uint8_t *p = c->map;
    char           what[120];
    if (memcmp(p, "hdxindex", 8) != 0)
        return hdx_container_damaged(c, err, "not an index file: the first bytes are not \"hdxindex\"");
    if (hdx_le32(p + 8) != HDX_INDEX_FORMAT) {
        (void)snprintf(what, sizeof what, "format version %u; this program reads %u", hdx_le32(p + 8),
                       HDX_INDEX_FORMAT);
        return hdx_container_damaged(c, err, what);
    }
    if (hdx_le32(p + 12) != (uint32_t)c->kind) {
        (void)snprintf(what, sizeof what, "contains kind %u; expected %u", hdx_le32(p + 12), (unsigned)c->kind);
        return hdx_container_damaged(c, err, what);
    }
    if (memcmp(p + 16, identity, 16) != 0)
        return hdx_container_damaged(c, err, "belongs to another index");
    return HDX_OK;
}

/* Everything in the foot that can be computed is computed and compared. */
static hdx_code check_foot(hdx_container *c, uint32_t sum, unsigned sections, hdx_error *err)
{
    const uint8_t *tail = c->map + c->map_bytes - HDX_FOOT_BYTES;
    uint64_t       pieces = hdx_le32(tail + 104), at = HDX_HEAD_BYTES, blocks = 0;
    if (memcmp(tail + 144, "hdxfoot\n", 8) != 0)
        return hdx_container_damaged(c, err, "has no footer");
    if (pieces > HDX_PIECES_MAX || 4 * pieces > c->map_bytes - HDX_HEAD_BYTES - HDX_FOOT_BYTES)
        return hdx_container_damaged(c, err, "the footer names more parts than fit in the file");
    if (hdx_container_sum(c->seed, HDX_SUM_FOOT, tail - 4 * pieces, 4 * pieces + HDX_FOOT_BYTES) != sum)
        return hdx_container_damaged(c, err, "the footer's checksum differs from the manifest");
    if (hdx_container_sum(c->seed, HDX_SUM_HEAD, c->map, HDX_HEAD_BYTES) != hdx_le32(tail + 136) ||
        memcmp(tail + 112, c->map + 32, 24) != 0)
        return hdx_container_damaged(c, err, "header and footer differ");
    if (sections == 0)
        sections = hdx_le32(tail + 108);
    if (hdx_le32(tail + 108) != sections || sections > HDX_SECTIONS)
        return hdx_container_damaged(c, err, "wrong number of sections");
    for (unsigned i = 0; i < sections; i++) {
        uint64_t start = hdx_le64(tail + 16 * i), bytes = hdx_le64(tail + 16 * i + 8);
        if (start != at || start > c->map_bytes || bytes > c->map_bytes - start)
            return hdx_container_damaged(c, err, "a section extends past the file");
        c->section[i] = (hdx_section){ c->map + start, bytes, blocks, (bytes + HDX_BLOCK - 1) / HDX_BLOCK };
        blocks += c->section[i].unproved;
        at = align(start + bytes);
    }
    if (hdx_le64(tail + 96) != blocks || pieces != (4 * blocks + HDX_BLOCK - 1) / HDX_BLOCK ||
        at + 4 * blocks + 4 * pieces + HDX_FOOT_BYTES != c->map_bytes)
        return hdx_container_damaged(c, err, "sections, checksums and footer do not add up to the file");
    for (unsigned i = 0; i < sections; i++) /* C1, by the checks above */
        assert(c->section[i].at + c->section[i].bytes + 64 <= c->map + c->map_bytes);
    for (unsigned i = 0; i < 3; i++)
        c->counts[i] = hdx_le64(c->map + 32 + 8 * i);
    c->sections = sections;
    c->sums = c->map + at;
    c->blocks = blocks;
    c->pieces = pieces;
    return HDX_OK;
}

/*
 * Maps exactly the bytes that the manifest names, after checking that the file ends there: without stat, which might
 * describe another file.
 */
static hdx_code map_file(hdx_container *c, const hdx_index_place *place, const hdx_index_file *file, hdx_error *err)
{
    char     path[4096], what[120];
    uint8_t  last[2];
    hdx_code code = HDX_OK;
    int      rc;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", place->folder, c->where) >= sizeof path)
        return hdx_fail(err, HDX_USAGE, place->folder, HDX_NOWHERE, "path too long");
    if (file->bytes < HDX_HEAD_BYTES + HDX_FOOT_BYTES || file->bytes > INT64_MAX)
        return hdx_container_damaged(c, err, "the manifest has an impossible size");
    int fd = place->io->open(place->io, path);
    if (fd < 0) {
        code = hdx_fail(err, fd == -ENOENT ? HDX_DAMAGED : HDX_IO, path, HDX_NOWHERE, "cannot open: %s", strerror(-fd));
        return fd == -ENOENT ? hdx_hint(err, code, DAMAGED_HINT) : code;
    }
    int64_t got = place->io->read_at(place->io, fd, last, 2, file->bytes - 1);
    if (got < 0) {
        code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot read: %s", strerror((int)-got));
    } else if (got != 1) {
        (void)snprintf(what, sizeof what, "the file is %s than the %llu bytes in the manifest",
                       got == 0 ? "shorter" : "longer", (unsigned long long)file->bytes);
        code = hdx_container_damaged(c, err, what);
    } else if ((rc = place->io->map(place->io, fd, file->bytes, &c->map)) < 0) {
        c->map = NULL;
        code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot map %llu bytes: %s", (unsigned long long)file->bytes,
                        strerror(-rc));
    } else {
        c->map_bytes = file->bytes;
    }
    (void)place->io->close(place->io, fd);
    return code;
}

hdx_code hdx_container_open(hdx_container *c, const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                            unsigned sections, hdx_damage_note *note, hdx_error *err)
{
    hdx_code code;
    memset(c, 0, sizeof *c);
    c->io = place->io;
    c->mem = place->mem;
    c->note = note;
    c->kind = kind;
    c->seed = hdx_container_seed(place->identity, kind);
    (void)snprintf(c->where, sizeof c->where, "%s.hdx", hdx_kind_name(kind));
    if ((code = map_file(c, place, file, err)) != HDX_OK || (code = check_head(c, place->identity, err)) != HDX_OK ||
        (code = check_foot(c, file->sum, sections, err)) != HDX_OK)
        goto out;
    c->state = hdx_mem_get(c->mem, c->blocks + 1);
    c->piece_state = hdx_mem_get(c->mem, c->pieces + 1);
    if (c->state == NULL || c->piece_state == NULL)
        code = hdx_no_memory(err, "states of blocks", c->blocks);
out:
    if (code != HDX_OK)
        hdx_container_close(c);
    return code;
}

void hdx_container_close(hdx_container *c)
{
    hdx_mem_put(c->mem, c->state, c->blocks + 1);
    hdx_mem_put(c->mem, c->piece_state, c->pieces + 1);
    c->state = c->piece_state = NULL;
    if (c->map != NULL)
        c->io->unmap(c->io, c->map, c->map_bytes);
    c->map = NULL;
}

/* Between sections, which no sum covers, a writer leaves zeros. */
static bool gaps_are_zero(const hdx_container *c)
{
    for (unsigned i = 0; i < c->sections; i++) {
        const uint8_t *at = c->section[i].at + c->section[i].bytes, *end = c->map + align((uint64_t)(at - c->map));
        while (at < end)
            if (*at++ != 0)
                return false;
    }
    return true;
}

void hdx_container_whole(const hdx_container *c)
{
    for (unsigned i = 0; i < c->sections; i++)
        (void)hdx_touch_slowly(c, i, 0, c->section[i].bytes);
    if (!gaps_are_zero(c))
        hdx_container_note(c, 0, 0, "data between two sections");
}

hdx_code hdx_index_check(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, hdx_error *err)
{
    hdx_damage_note note = { 0 };
    hdx_container   c;
    hdx_code        code = hdx_container_open(&c, place, kind, file, 0, &note, err);
    if (code != HDX_OK)
        return code;
    hdx_container_whole(&c);
    hdx_container_close(&c);
    return hdx_note_check(&note, err);
}

bool hdx_container_handle_fault(const hdx_container *c, const void *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address, begin = (uintptr_t)c->map;
    if (c->map == NULL || at < begin || at - begin >= c->map_bytes)
        return false;
    return mmap((void *)(at / page * page), (size_t)page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}
