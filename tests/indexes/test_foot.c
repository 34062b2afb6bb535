/*
 * test_foot.c - head, foot and sums of an index file: each number of them wrong by itself though all sums are right,
 * files larger than one piece of the table of sums, and what a writer refuses.
 */
#include "tests/indexes/hostile.h"
#include "tests/indexes/place.h"
#include "indexes/container/slices.h"

#include <sys/mman.h>

#define KIND HDX_KIND_SIZE

/* A file in memory with sections of these sizes, their bytes 1, 2, 3 ... */
typedef struct made {
    memory_io       m;
    hdx_mem         mem;
    hdx_index_place place;
    hdx_index_file  file;
    uint8_t        *content;
} made;

static void made_open(made *w, const uint64_t *sizes, unsigned n)
{
    static const uint64_t counts[3] = { 11, 22, 33 };
    hdx_view              sections[HDX_SECTIONS];
    uint64_t              most = 1;
    memset(w, 0, sizeof *w);
    w->m = memory_io_new();
    w->place = (hdx_index_place){ .io = &w->m.io, .folder = "memory", .mem = &w->mem, .threads = 1, .identity = { 7 } };
    for (unsigned i = 0; i < n; i++)
        most = sizes[i] > most ? sizes[i] : most;
    w->content = malloc(most);
    for (uint64_t i = 0; i < most; i++)
        w->content[i] = (uint8_t)(i + 1);
    for (unsigned i = 0; i < n; i++)
        sections[i] = (hdx_view){ w->content, (size_t)sizes[i] };
    cr_assert(eq(int, hostile_write(&w->place, KIND, counts, sections, n, &w->file), HDX_OK));
    cr_assert(eq(u64, w->file.bytes, w->m.len));
}
static void made_close(made *w)
{
    cr_expect(eq(u64, atomic_load(&w->mem.used), 0));
    memory_io_free(&w->m);
    free(w->content);
}
static uint8_t *tail_of(made *w) { return w->m.bytes + w->m.len - HDX_FOOT_BYTES; }
/* The foot's sum as it would be if so many pieces were said. */
static void sum_again(made *w)
{
    uint8_t *tail = tail_of(w);
    uint64_t bytes = 4ull * hdx_le32(tail + 104);
    if (bytes <= w->m.len - HDX_HEAD_BYTES - HDX_FOOT_BYTES)
        w->file.sum = hdx_container_sum(hdx_container_seed(w->place.identity, KIND), HDX_SUM_FOOT, tail - bytes,
                                        bytes + HDX_FOOT_BYTES);
}

/* Opens with `sections` expected; "" where that goes well. All that was got comes back. */
static const char *opened(made *w, unsigned sections)
{
    static hdx_error err;
    hdx_container    c;
    hdx_damage_note  note = { 0 };
    err = (hdx_error){ 0 };
    const hdx_code code = hdx_container_open(&c, &w->place, KIND, &w->file, sections, &note, &err);
    if (code == HDX_OK) {
        cr_expect(c.counts[0] == 11 && c.counts[1] == 22 && c.counts[2] == 33);
        hdx_container_close(&c);
        return "";
    }
    cr_expect(eq(int, code, HDX_DAMAGED));
    cr_expect(eq(str, err.where, "size.hdx"));
    cr_expect(eq(u64, err.offset, HDX_NOWHERE));
    cr_expect(strstr(err.hint, "heapdex index --force") != NULL);
    cr_expect(eq(u64, atomic_load(&w->mem.used), 0));
    return err.message;
}

/* Sections of 100, 70 000 and 0 bytes begin at 64, 192 and 70 208: three blocks, one piece. */
static const uint64_t sizes[3] = { 100, 70000, 0 };
#define OUTSIDE  "a section extends past the file"
#define SECTIONS "wrong number of sections"
#define ADD_UP   "sections, checksums and footer do not add up to the file"
#define DIFFER   "header and footer differ"
#define PIECES   "the footer names more parts than fit in the file"

Test(foot, with_one_wrong_number_is_refused_though_its_sum_is_right)
{
    static const struct {
        unsigned    at, bytes;
        uint64_t    value;
        const char *message;
    } cases[] = {
        { 0, 8, 64, "" },
        { 0, 8, 63, OUTSIDE },
        { 0, 8, 65, OUTSIDE },
        { 0, 8, 128, OUTSIDE },
        { 8, 8, 101, "" },
        { 8, 8, 128, "" },
        { 8, 8, 129, OUTSIDE },
        { 8, 8, 64, OUTSIDE },
        { 8, 8, 65, "" },
        { 8, 8, UINT64_MAX, OUTSIDE },
        { 16, 8, 191, OUTSIDE },
        { 16, 8, 256, OUTSIDE },
        { 24, 8, 70016, "" },
        { 24, 8, 70017, OUTSIDE },
        { 24, 8, 69952, OUTSIDE },
        { 24, 8, 69953, "" },
        { 24, 8, UINT64_MAX, OUTSIDE },
        { 32, 8, 0, OUTSIDE },
        { 32, 8, 70272, OUTSIDE },
        { 40, 8, 1, ADD_UP },
        { 96, 8, 3, "" },
        { 96, 8, 2, ADD_UP },
        { 96, 8, 4, ADD_UP },
        { 96, 8, 0, ADD_UP },
        { 104, 4, 0, ADD_UP },
        { 104, 4, 2, ADD_UP },
        { 104, 4, UINT32_MAX, PIECES },
        { 108, 4, 2, SECTIONS },
        { 108, 4, 4, SECTIONS },
        { 108, 4, 0, SECTIONS },
        { 112, 4, 12, DIFFER },
        { 120, 4, 0, DIFFER },
        { 132, 4, 1, DIFFER },
        { 136, 4, 0, DIFFER },
        { 144, 4, 0, "has no footer" },
        { 148, 4, 0, "has no footer" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made w;
        made_open(&w, sizes, 3);
        if (cases[i].bytes == 8)
            hdx_put64(tail_of(&w) + cases[i].at, cases[i].value);
        else
            hdx_put32(tail_of(&w) + cases[i].at, (uint32_t)cases[i].value);
        sum_again(&w);
        cr_expect(strcmp(opened(&w, 3), cases[i].message) == 0, "byte %u, %llu: %s", cases[i].at,
                  (unsigned long long)cases[i].value, opened(&w, 3));
        made_close(&w);
    }
}

/* Pieces: as many as lie between head and foot, and never more than 2^20. */
Test(foot, names_as_many_pieces_as_the_file_can_hold)
{
    static const uint64_t large = 5u << 20;
    static const char    *wrong_sum = "the footer's checksum differs from the manifest";
    made                  w;
    made_open(&w, sizes, 3);
    const uint32_t most = (uint32_t)(w.m.len - HDX_HEAD_BYTES - HDX_FOOT_BYTES) / 4;
    hdx_put32(tail_of(&w) + 104, most);
    cr_expect(strcmp(opened(&w, 3), wrong_sum) == 0);
    hdx_put32(tail_of(&w) + 104, most + 1);
    cr_expect(strcmp(opened(&w, 3), PIECES) == 0);
    made_close(&w);
    made_open(&w, &large, 1);
    cr_expect(strcmp(opened(&w, 1), "") == 0);
    hdx_put32(tail_of(&w) + 104, HDX_PIECES_MAX);
    cr_expect(strcmp(opened(&w, 1), wrong_sum) == 0);
    hdx_put32(tail_of(&w) + 104, HDX_PIECES_MAX + 1);
    cr_expect(strcmp(opened(&w, 1), PIECES) == 0);
    made_close(&w);
}

Test(foot, has_the_number_of_sections_that_is_asked_for_and_six_at_most)
{
    static const uint64_t six[6] = { 1, 2, 0, 0, 70000, 5 };
    made                  w;
    made_open(&w, six, 6);
    cr_expect(strcmp(opened(&w, 6), "") == 0);
    cr_expect(strcmp(opened(&w, 0), "") == 0); /* whatever there is */
    cr_expect(strcmp(opened(&w, 5), SECTIONS) == 0);
    hdx_put32(tail_of(&w) + 108, 7);
    sum_again(&w);
    cr_expect(strcmp(opened(&w, 7), SECTIONS) == 0);
    cr_expect(strcmp(opened(&w, 0), SECTIONS) == 0);
    made_close(&w);
    made_open(&w, NULL, 0);
    cr_expect(eq(u64, w.file.bytes, HDX_HEAD_BYTES + HDX_FOOT_BYTES));
    cr_expect(strcmp(opened(&w, 0), "") == 0);
    made_close(&w);
}

Test(foot, of_an_impossible_size_is_not_looked_for)
{
    static const struct {
        uint64_t    bytes;
        const char *message;
    } cases[] = { { 0, "the manifest has an impossible size" },
                  { 215, "the manifest has an impossible size" },
                  { 216, "the file is longer than the 216 bytes in the manifest" },
                  { INT64_MAX, "the file is shorter than the 9223372036854775807 bytes in the manifest" },
                  { (uint64_t)INT64_MAX + 1, "the manifest has an impossible size" } };
    made w;
    made_open(&w, sizes, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        w.file.bytes = cases[i].bytes;
        cr_expect(strcmp(opened(&w, 3), cases[i].message) == 0, "%s", opened(&w, 3));
    }
    made_close(&w);
}

/* ---- a disk that refuses ---- */
static int never_opened(hdx_io *io, const char *path)
{
    (void)io;
    (void)path;
    return -EACCES;
}
static int64_t never_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    (void)io;
    (void)fd;
    (void)to;
    (void)len;
    (void)offset;
    return -EIO;
}
static int never_mapped(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    (void)io;
    (void)fd;
    (void)len;
    *at = (const uint8_t *)1; /* not to be unmapped */
    return -ENOMEM;
}
Test(foot, that_cannot_be_read_is_no_damage)
{
    static const char *messages[] = { "cannot open: Permission denied", "cannot read: Input/output error",
                                      "cannot map 70376 bytes: Cannot allocate memory" };
    for (unsigned i = 0; i < 3; i++) {
        made            w;
        hdx_container   c;
        hdx_damage_note note = { 0 };
        hdx_error       err = { 0 };
        made_open(&w, sizes, 3);
        const unsigned calls = w.m.calls;
        if (i == 0)
            w.m.io.open = never_opened;
        else if (i == 1)
            w.m.io.read_at = never_read;
        else
            w.m.io.map = never_mapped;
        cr_expect(eq(int, hdx_container_open(&c, &w.place, KIND, &w.file, 3, &note, &err), HDX_IO));
        cr_expect(eq(str, err.message, (char *)(uintptr_t)messages[i]));
        cr_expect(eq(str, err.where, "memory/size.hdx"));
        cr_expect(eq(u64, err.offset, HDX_NOWHERE));
        cr_expect(eq(str, err.hint, ""));
        cr_expect(eq(u32, w.m.calls - calls, i > 0)); /* what was opened was closed */
        made_close(&w);
    }
}

Test(foot, path_of_up_to_4095_bytes)
{
    char           *folder = malloc(5000);
    made            w;
    hdx_container   c;
    hdx_damage_note note = { 0 };
    memset(folder, 'x', 5000);
    for (size_t len = 4085; len <= 4088; len++) { /* "/size.hdx" has nine */
        hdx_error             err = { 0 };
        hdx_container_writer  writer;
        static const uint64_t counts[3];
        made_open(&w, sizes, 3);
        folder[len] = '\0';
        w.place.folder = folder;
        cr_expect(
            eq(int, hdx_container_open(&c, &w.place, KIND, &w.file, 3, &note, &err), len <= 4086 ? HDX_OK : HDX_USAGE));
        if (len <= 4086)
            hdx_container_close(&c);
        else
            cr_expect(eq(str, err.message, "path too long"));
        err = (hdx_error){ 0 };
        cr_expect(
            eq(int, hdx_container_create(&writer, &w.place, KIND, counts, &err), len <= 4086 ? HDX_OK : HDX_USAGE));
        cr_expect(eq(str, err.message, len <= 4086 ? "" : "path too long"));
        const bool whole = w.m.bytes != NULL;
        hdx_container_drop(&writer);
        cr_expect(eq(int, w.m.bytes != NULL, len > 4086 && whole)); /* a file that was never made is not removed */
        folder[len] = 'x';
        made_close(&w);
    }
    free(folder);
}

/* ---- every byte ---- */
Test(whole, looks_at_every_byte_gaps_included)
{
    static const uint64_t small[5] = { 100, 5, 0, 128, 200 };
    made                  w;
    hdx_error             err;
    made_open(&w, small, 5);
    cr_assert(eq(int, hdx_index_check(&w.place, KIND, &w.file, &err), HDX_OK), "%s", err.message);
    for (size_t i = 0; i < w.m.len; i++)
        for (unsigned bit = 0; bit < 8; bit += 7) {
            w.m.bytes[i] ^= (uint8_t)(1u << bit);
            cr_assert(eq(int, hdx_index_check(&w.place, KIND, &w.file, &err), HDX_DAMAGED), "byte %zu", i);
            cr_assert(eq(u64, atomic_load(&w.mem.used), 0));
            w.m.bytes[i] ^= (uint8_t)(1u << bit);
        }
    w.m.bytes[64 + 100] = 1; /* the first byte behind the first section */
    cr_expect(eq(int, hdx_index_check(&w.place, KIND, &w.file, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "data between two sections (section 0, block 0, byte 64 of the file)"));
    cr_expect(eq(u64, err.offset, 64));
    made_close(&w);
}

/* The message of a damaged block: section, number among all blocks, place of its first byte in the file. */
Test(whole, tells_where_the_first_damage_is)
{
    static const uint64_t three[3] = { 100, 200000, 70000 };
    static const struct {
        uint64_t at; /* in the file */
        unsigned section, block;
        uint64_t begin;
    } cases[] = { { 64, 0, 0, 64 },         { 163, 0, 0, 64 },        { 192, 1, 1, 192 },
                  { 65727, 1, 1, 192 },     { 65728, 1, 2, 65728 },   { 200191, 1, 4, 196800 },
                  { 200192, 2, 5, 200192 }, { 265728, 2, 6, 265728 }, { 270191, 2, 6, 265728 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made      w;
        hdx_error err;
        char      end[80];
        made_open(&w, three, 3);
        w.m.bytes[cases[i].at] ^= 1;
        cr_expect(eq(int, hdx_index_check(&w.place, KIND, &w.file, &err), HDX_DAMAGED));
        (void)snprintf(end, sizeof end, "(section %u, block %u, byte %llu of the file)", cases[i].section,
                       cases[i].block, (unsigned long long)cases[i].begin);
        cr_expect(strstr(err.message, end) != NULL && strstr(err.message, "block has checksum ") == err.message, "%s",
                  err.message);
        cr_expect(eq(u64, err.offset, cases[i].begin));
        made_close(&w);
    }
}

/* Which bytes may be used: up to the end of the section, and only where their blocks are right. */
Test(whole, touches_what_is_asked_for_and_no_more)
{
    static const uint64_t two[2] = { 3 * HDX_BLOCK, 10 };
    static const struct {
        unsigned section;
        uint64_t at, len;
        bool     may;
    } cases[] = { { 0, 0, 1, true },
                  { 0, HDX_BLOCK - 1, 1, true },
                  { 0, HDX_BLOCK - 1, 2, false }, /* the second block is harmed */
                  { 0, HDX_BLOCK, 0, true },
                  { 0, HDX_BLOCK, 1, false },
                  { 0, 2 * HDX_BLOCK, HDX_BLOCK, true },
                  { 0, 2 * HDX_BLOCK, HDX_BLOCK + 1, false },
                  { 0, 3 * HDX_BLOCK, 0, true },
                  { 0, 3 * HDX_BLOCK, 1, false },
                  { 0, 3 * HDX_BLOCK + 1, 0, false },
                  { 0, 0, 3 * HDX_BLOCK, false },
                  { 0, UINT64_MAX, 2, false },
                  { 1, 0, 10, true },
                  { 1, 9, 1, true },
                  { 1, 9, 2, false },
                  { 1, 10, 0, true },
                  { 1, 10, UINT64_MAX, false } };
    made w;
    made_open(&w, two, 2);
    w.m.bytes[64 + HDX_BLOCK + 5] ^= 1;
    for (unsigned known = 0; known < 2; known++) /* nothing looked at before; everything */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            hdx_container   c;
            hdx_damage_note note = { 0 };
            hdx_error       err;
            cr_assert(eq(int, hdx_container_open(&c, &w.place, KIND, &w.file, 2, &note, &err), HDX_OK));
            cr_expect(eq(u64, c.section[0].unproved, 3));
            cr_expect(eq(u64, c.section[1].unproved, 1));
            if (known == 1) {
                hdx_container_whole(&c);
                for (unsigned b = 0; b < 3; b++)
                    (void)hdx_touch(&c, 0, b * HDX_BLOCK, 1);
                cr_expect(c.section[0].unproved == 1 && !hdx_proved(&c.section[0]) && hdx_proved(&c.section[1]));
            }
            memset(&note, 0, sizeof note);
            cr_expect(hdx_touch(&c, cases[i].section, cases[i].at, cases[i].len) == cases[i].may, "case %zu", i);
            cr_expect(hdx_touch_slowly(&c, cases[i].section, cases[i].at, cases[i].len) == cases[i].may, "case %zu", i);
            if (known == 0 || cases[i].may || cases[i].at > 3 * HDX_BLOCK)
                cr_expect(eq(int, hdx_note_check(&note, &err), cases[i].may ? HDX_OK : HDX_DAMAGED), "case %zu", i);
            hdx_container_close(&c);
        }
    made_close(&w);
}

Test(note, keeps_the_first_and_checks_nothing_as_whole)
{
    static const uint64_t one = 10;
    made                  w;
    hdx_container         c;
    hdx_damage_note       note = { 0 };
    hdx_error             err = { 0 };
    made_open(&w, &one, 1);
    cr_assert(eq(int, hdx_container_open(&c, &w.place, KIND, &w.file, 1, &note, &err), HDX_OK));
    cr_expect(eq(int, hdx_note_check(NULL, &err), HDX_OK));
    cr_expect(eq(int, hdx_note_check(&note, &err), HDX_OK));
    hdx_container_note(&c, 0, 3, "first");
    hdx_container_note(&c, 0, 5, "second");
    cr_expect(eq(int, hdx_note_check(&note, NULL), HDX_DAMAGED));
    cr_expect(eq(int, hdx_note_check(&note, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "first (section 0, block 0, byte 67 of the file)"));
    cr_expect(eq(u64, err.offset, 67));
    cr_expect(eq(int, (int)err.code, HDX_DAMAGED));
    cr_expect(strstr(err.hint, "--force") != NULL);
    note.state = 1; /* while another thread puts the words together */
    cr_expect(eq(int, hdx_note_check(&note, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.message, "an index file is damaged"));
    cr_expect(eq(u64, err.offset, HDX_NOWHERE));
    c.note = NULL;
    hdx_container_note(&c, 0, 3, "to nobody");
    hdx_container_close(&c);
    made_close(&w);
}

/* ---- more than one piece of the table of sums ---- */

/* A file of which only blocks that are not all zeros are kept. */
typedef struct sparse_io {
    hdx_io    io;
    uint8_t **blocks;
    uint64_t  len, calls, pushes;
} sparse_io;
#define SPARSE_BLOCKS 16400u
static int sparse_write(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset)
{
    static const uint8_t zeros[HDX_BLOCK];
    sparse_io           *s = (sparse_io *)io;
    const uint8_t       *from = bytes;
    (void)fd;
    cr_assert(offset + len <= (uint64_t)SPARSE_BLOCKS * HDX_BLOCK);
    s->calls++;
    s->len = offset + len > s->len ? offset + len : s->len;
    for (uint64_t done = 0, n; done < len; done += n) {
        const uint64_t at = (offset + done) % HDX_BLOCK, k = (offset + done) / HDX_BLOCK;
        n = HDX_BLOCK - at < len - done ? HDX_BLOCK - at : len - done;
        if (s->blocks[k] == NULL && memcmp(from + done, zeros, (size_t)n) == 0)
            continue;
        if (s->blocks[k] == NULL)
            s->blocks[k] = calloc(1, HDX_BLOCK);
        memcpy(s->blocks[k] + at, from + done, (size_t)n);
    }
    return 0;
}
static int64_t sparse_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    (void)fd;
    (void)len;
    memset(to, 0, 1);
    return offset == ((sparse_io *)io)->len - 1;
}
static int sparse_map(hdx_io *io, int fd, uint64_t len, const uint8_t **at)
{
    sparse_io *s = (sparse_io *)io;
    uint8_t   *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)fd;
    if (map == MAP_FAILED)
        return -ENOMEM;
    for (uint64_t k = 0; k < SPARSE_BLOCKS; k++)
        if (s->blocks[k] != NULL)
            memcpy(map + k * HDX_BLOCK, s->blocks[k],
                   (size_t)(len - k * HDX_BLOCK < HDX_BLOCK ? len - k * HDX_BLOCK : HDX_BLOCK));
    *at = map;
    return 0;
}
static void sparse_unmap(hdx_io *io, const uint8_t *at, uint64_t len)
{
    (void)io;
    (void)munmap((void *)(uintptr_t)at, len);
}
static void sparse_push(hdx_io *io, int fd)
{
    (void)fd;
    ((sparse_io *)io)->pushes++;
}
static int sparse_close(hdx_io *io, int fd)
{
    (void)io;
    (void)fd;
    return 0;
}
static int sparse_open(hdx_io *io, const char *path)
{
    (void)io;
    (void)path;
    return 3;
}

/* One GiB has 16 384 blocks, whose sums are one piece of 64 KiB; here are two blocks and ten bytes more. */
Test(foot, of_more_than_one_gibibyte_has_two_pieces)
{
    enum { BLOCKS = 16386 };
    memory_io            memory = memory_io_new();
    sparse_io            s = { .io = memory.io, .blocks = calloc(SPARSE_BLOCKS, sizeof(uint8_t *)) };
    hdx_mem              mem = { 0 };
    hdx_index_place      place = { .io = &s.io, .folder = "memory", .mem = &mem, .threads = 1 };
    hdx_container_writer w;
    hdx_index_file       file;
    hdx_container        c;
    hdx_error            err = { 0 };
    const uint64_t       counts[3] = { 0 };
    uint8_t             *block = calloc(1, HDX_BLOCK);
    s.io.open = sparse_open;
    s.io.create = sparse_open;
    s.io.read_at = sparse_read;
    s.io.write_at = sparse_write;
    s.io.map = sparse_map;
    s.io.unmap = sparse_unmap;
    s.io.push = sparse_push;
    s.io.close = sparse_close;
    cr_assert(eq(int, hdx_container_create(&w, &place, KIND, counts, &err), HDX_OK));
    cr_assert(eq(int, hdx_container_section(&w, HDX_SECTION_OPEN, &err), HDX_OK));
    for (unsigned b = 0; b < BLOCKS; b++) {
        block[0] = b == 0 || b >= 16383 ? (uint8_t)(b + 1) : 0;
        cr_assert(eq(int, hdx_container_put(&w, 0, block, HDX_BLOCK, &err), HDX_OK));
    }
    cr_assert(eq(int, hdx_container_section(&w, 10, &err), HDX_OK));
    cr_assert(eq(int, hdx_container_put(&w, 1, "0123456789", 10, &err), HDX_OK));
    cr_assert(eq(int, hdx_container_finish(&w, &file, &err), HDX_OK));
    hdx_container_drop(&w);
    const uint64_t data = HDX_HEAD_BYTES + (uint64_t)BLOCKS * HDX_BLOCK, sums = data + 64, table = 4 * (BLOCKS + 1);
    cr_expect(eq(u64, file.bytes, sums + table + 2 * 4 + HDX_FOOT_BYTES));
    cr_expect(eq(u64, s.len, file.bytes));
    cr_expect(eq(u64, s.pushes, BLOCKS / 256 + 1));  /* every 16 MiB, and at the end */
    cr_expect(eq(u64, s.calls, BLOCKS + 1 + 2 + 2)); /* blocks, pieces, head and foot */
    static const uint64_t asked[] = { 0, 16383, 16384, 16385 };
    for (unsigned harm = 0; harm < 5; harm++) { /* none; a sum of the first piece; of the second, first and last */
        hdx_damage_note note = { 0 };
        cr_assert(eq(int, hdx_container_open(&c, &place, KIND, &file, 2, &note, &err), HDX_OK), "%s", err.message);
        cr_expect(c.blocks == BLOCKS + 1 && c.pieces == 2);
        const uint64_t at[] = { 0, sums + 4 * 9000, sums + 4 * 16384, sums + table - 1, data - HDX_BLOCK };
        uint8_t       *map = (uint8_t *)(uintptr_t)c.map;
        if (harm > 0)
            map[at[harm]] ^= 1;
        for (unsigned k = 0; k < 5; k++) {
            const bool first = k < 2, may = harm == 0 || (harm == 1 && !first) || ((harm == 2 || harm == 3) && first) ||
                                            (harm == 4 && k != 3);
            memset(&note, 0, sizeof note);
            const bool fine = k < 4 ? hdx_touch(&c, 0, asked[k] * HDX_BLOCK, 1) : hdx_touch(&c, 1, 0, 10);
            cr_expect(eq(int, fine, may), "harm %u, block %u", harm, k);
            cr_expect(eq(int, hdx_note_check(&note, &err), may ? HDX_OK : HDX_DAMAGED));
            if (!may && harm < 4) {
                char want[120];
                (void)snprintf(want, sizeof want,
                               "the table of checksums has a wrong checksum (section %u, block %llu, byte %llu of "
                               "the file)",
                               k == 4, k < 4 ? (unsigned long long)asked[k] : BLOCKS,
                               (unsigned long long)(k < 4 ? HDX_HEAD_BYTES + asked[k] * HDX_BLOCK : data));
                cr_expect(eq(str, err.message, want));
            }
        }
        hdx_container_close(&c);
    }
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
    for (unsigned k = 0; k < SPARSE_BLOCKS; k++)
        free(s.blocks[k]);
    free(s.blocks);
    free(block);
    memory_io_free(&memory);
}

/* ---- a writer that is told one thing and given another ---- */
Test(sections, hold_what_was_announced)
{
    static const struct {
        uint64_t    announced, put, more;
        const char *message;
    } cases[] = { { 10, 10, 0, "" },
                  { 10, 9, 0, "section 0 has 9 bytes; 10 were announced" },
                  { 10, 11, 0, "section 0 exceeds its announced size" },
                  { 10, 10, 1, "section 0 exceeds its announced size" },
                  { 0, 0, 0, "" },
                  { 0, 1, 0, "section 0 exceeds its announced size" },
                  { HDX_BLOCK, HDX_BLOCK, 0, "" },
                  { HDX_BLOCK, HDX_BLOCK - 1, 1, "" },
                  { HDX_BLOCK, HDX_BLOCK, 1, "section 0 exceeds its announced size" },
                  { HDX_SECTION_OPEN, 70000, 5, "" } };
    static uint8_t bytes[70000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_io            m = memory_io_new();
        hdx_mem              mem = { 0 };
        hdx_index_place      place = { .io = &m.io, .folder = "memory", .mem = &mem };
        hdx_container_writer w;
        hdx_index_file       file;
        hdx_error            err = { 0 };
        const uint64_t       counts[3] = { 0 };
        cr_assert(eq(int, hdx_container_create(&w, &place, KIND, counts, &err), HDX_OK));
        cr_assert(eq(int, hdx_container_section(&w, cases[i].announced, &err), HDX_OK));
        hdx_code code = hdx_container_put(&w, 0, bytes, cases[i].put, &err);
        if (code == HDX_OK)
            code = hdx_container_put(&w, 0, bytes, cases[i].more, &err);
        if (code == HDX_OK)
            code = hdx_container_finish(&w, &file, &err);
        cr_expect(eq(int, code, cases[i].message[0] == '\0' ? HDX_OK : HDX_USAGE), "case %zu", i);
        cr_expect(eq(str, err.message, (char *)(uintptr_t)cases[i].message));
        cr_expect(code == HDX_OK || err.offset == HDX_HEAD_BYTES);
        hdx_container_drop(&w);
        cr_expect(eq(int, m.bytes != NULL, code == HDX_OK));
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
        memory_io_free(&m);
    }
}

Test(sections, are_six_at_most_and_an_open_one_ends_with_the_next)
{
    memory_io            m = memory_io_new();
    hdx_mem              mem = { 0 };
    hdx_index_place      place = { .io = &m.io, .folder = "memory", .mem = &mem };
    hdx_container_writer w;
    hdx_error            err = { 0 };
    const uint64_t       counts[3] = { 0 };
    cr_assert(eq(int, hdx_container_create(&w, &place, KIND, counts, &err), HDX_OK));
    for (unsigned i = 0; i < HDX_SECTIONS; i++) {
        cr_assert(eq(int, hdx_container_section(&w, i == 1 ? HDX_SECTION_OPEN : i, &err), HDX_OK));
        if (i == 1)
            cr_assert(eq(int, hdx_container_put(&w, 1, "abc", 3, &err), HDX_OK));
        if (i == 2) /* it has ended */
            cr_expect(eq(int, hdx_container_put(&w, 1, "abc", 1, &err), HDX_USAGE));
    }
    cr_expect(w.section[2].start == 128 && w.section[5].start == 320);
    cr_expect(eq(int, hdx_container_section(&w, 0, &err), HDX_USAGE));
    cr_expect(eq(str, err.message, "more than 6 sections"));
    cr_expect(eq(int, hdx_container_put(&w, 0, "x", 0, &err), HDX_OK));
    hdx_container_drop(&w);
    hdx_container_drop(&w);
    cr_expect(m.bytes == NULL);
    cr_expect(eq(u64, atomic_load(&mem.used), 0));
}

/* ---- slices ---- */
Test(slices, take_room_by_threads_and_by_what_there_is)
{
    static const struct {
        unsigned threads;
        uint64_t count;
        unsigned want_threads, want_room;
    } cases[] = { { 0, 0, 1, 1 },
                  { 1, HDX_SLICE - 1, 1, 1 },
                  { 1, HDX_SLICE, 1, 2 },
                  { 2, 0, 1, 1 },
                  { 2, HDX_SLICE, 2, 2 },
                  { 3, HDX_SLICE, 2, 2 },
                  { 2, 7ull * HDX_SLICE - 1, 2, 7 },
                  { 2, 7ull * HDX_SLICE, 2, 8 },
                  { 2, 8ull * HDX_SLICE, 2, 8 },
                  { 1, 100ull * HDX_SLICE, 1, 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_io            m = memory_io_new();
        hdx_mem              mem = { 0 };
        hdx_index_place      place = { .io = &m.io, .folder = "memory", .mem = &mem, .threads = cases[i].threads };
        hdx_container_writer w;
        hdx_slices_writer    s = { 0 };
        hdx_error            err = { 0 };
        const uint64_t       counts[3] = { 0 };
        cr_assert(eq(int, hdx_container_create(&w, &place, KIND, counts, &err), HDX_OK));
        cr_assert(eq(int, hdx_slices_begin(&s, &w, cases[i].count, HDX_SHAPE, &err), HDX_OK));
        cr_expect(eq(u32, s.threads, cases[i].want_threads), "case %zu", i);
        cr_expect(eq(u32, s.room, cases[i].want_room), "case %zu", i);
        cr_expect(eq(u64, w.section[0].expected, 16 * ((cases[i].count + 255) / 256 + 1)));
        hdx_slices_drop(&s);
        hdx_slices_drop(&s);
        hdx_container_drop(&w);
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
        memory_io_free(&m);
    }
}

static hdx_code encode_ten(void *context, uint64_t from, uint32_t n, hdx_slice *s, hdx_error *err)
{
    (void)from;
    (void)n;
    (void)err;
    memset(s->bytes, 1, 10);
    hdx_slice_entry(s, 0, 0, 0, 10);
    s->total = *(const uint64_t *)context;
    return HDX_OK;
}
/* 2^40 bytes of pages, and 2^64 of what they count: as if so much had been written before. */
Test(slices, end_at_2_to_the_40_bytes_and_at_2_to_the_64_values)
{
    static const struct {
        uint64_t    bytes, running, total;
        const char *message;
    } cases[] = { { (1ull << 40) - 11, 0, 0, "" },
                  { (1ull << 40) - 10, 0, 0, "more than 2^40 bytes of pages" },
                  { (1ull << 40) - 9, 0, 0, "more than 2^40 bytes of pages" },
                  { 0, UINT64_MAX - 5, 5, "" },
                  { 0, UINT64_MAX - 5, 6, "more than 2^64 values" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memory_io            m = memory_io_new();
        hdx_mem              mem = { 0 };
        hdx_index_place      place = { .io = &m.io, .folder = "memory", .mem = &mem, .threads = 1 };
        hdx_container_writer w;
        hdx_slices_writer    s = { 0 };
        hdx_error            err = { 0 };
        uint64_t             total = cases[i].total;
        const uint64_t       counts[3] = { 0 };
        cr_assert(eq(int, hdx_container_create(&w, &place, KIND, counts, &err), HDX_OK));
        cr_assert(eq(int, hdx_slices_begin(&s, &w, 1, HDX_SHAPE, &err), HDX_OK));
        w.section[1].bytes = cases[i].bytes;
        s.running = cases[i].running;
        const hdx_code code = hdx_slices_append(&s, 1, encode_ten, &total, &err);
        cr_expect(eq(int, code, cases[i].message[0] == '\0' ? HDX_OK : HDX_LIMIT));
        cr_expect(eq(str, err.message, (char *)(uintptr_t)cases[i].message));
        if (code == HDX_OK) {
            cr_expect(eq(u64, w.section[1].bytes, cases[i].bytes + 10));
            cr_expect(eq(u64, s.running, cases[i].running + total));
        }
        hdx_slices_drop(&s);
        hdx_container_drop(&w);
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
        memory_io_free(&m);
    }
}
