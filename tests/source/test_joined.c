/*
 * test_joined.c - a dump whose pieces a JVM did not merge: which files are read with it, in which order, and that bytes
 * which the file has already are given once.
 */
#include "source/joined.h"
#include "source/source.h"
#include "support/faulty.h"
#include "support/folder.h"
#include "support/gzip_maker.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[TEST_FOLDER];
static char path[64];

static void setup(void)
{
    test_folder_make(folder, "joined");
    (void)snprintf(path, sizeof path, "%s/a.hprof", folder);
}
static void teardown(void) { test_folder_remove(folder); }
TestSuite(joined, .init = setup, .fini = teardown);

static const char *piece_name(unsigned number)
{
    static char name[96];
    (void)snprintf(name, sizeof name, "%s.p%u", path, number);
    return name;
}

static void save(const char *name, const void *bytes, size_t len)
{
    FILE *f = fopen(name, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

static void record(gm_bytes *b, uint8_t tag, size_t len, uint64_t seed)
{
    const uint8_t head[9] = { tag,         0, 0, 0, 0, (uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                              (uint8_t)len };
    gm_put(b, head, sizeof head);
    while (len-- > 0)
        gm_byte(b, (unsigned)gm_random(&seed) & 0xff);
}

/* The header and some names. */
static gm_bytes base_of(void)
{
    gm_bytes b = { 0 };
    gm_put(&b, "JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\1\2\3\4\5\6", 31);
    for (unsigned k = 0; k < 40; k++)
        record(&b, 0x01, 8 + k, k + 1);
    return b;
}

static gm_bytes piece_of(unsigned number, size_t size)
{
    gm_bytes b = { 0 };
    record(&b, 0x1c, size / 3, number + 100);
    record(&b, 0x1c, size - size / 3, number + 200);
    return b;
}

static gm_bytes packed_of(gm_bytes *plain)
{
    gm_bytes b = { 0 };
    gm_member_put(&b, plain->at, plain->len, &(gm_member){ 0 });
    gm_free(plain);
    return b;
}

static void append(gm_bytes *to, const gm_bytes *from) { gm_put(to, from->at, from->len); }

/* What is read, in reads of several sizes, is what is wanted; the text has the words, or there is none. */
static void expect_read(const gm_bytes *wanted, const char *words)
{
    struct stat st;
    hdx_joined  j;
    hdx_error   err;
    char        text[256] = "";
    const int   fd = hdx_io_system()->open(hdx_io_system(), path);
    uint8_t    *bytes = malloc(wanted->len + 10);
    cr_assert(fd >= 0 && hdx_io_system()->stat(hdx_io_system(), path, &st) == 0);
    cr_assert(hdx_joined_of(hdx_io_system(), path, fd, (uint64_t)st.st_size, &j, &err) == HDX_OK, "%s", err.message);
    cr_expect(eq(u64, j.size, wanted->len));
    if (j.size == wanted->len) {
        cr_expect(eq(i64, hdx_joined_read(&j, bytes, wanted->len + 10, 0), (int64_t)wanted->len));
        cr_expect(memcmp(bytes, wanted->at, wanted->len) == 0);
        for (uint64_t at = 0; at < wanted->len; at += 97) {
            const uint64_t n = wanted->len - at < 210 ? wanted->len - at : 210;
            cr_assert(hdx_joined_read(&j, bytes, n, at) == (int64_t)n && memcmp(bytes, wanted->at + at, n) == 0,
                      "at %llu", (unsigned long long)at);
        }
        cr_expect(eq(i64, hdx_joined_read(&j, bytes, 10, wanted->len), 0));
    }
    cr_expect(eq(int, hdx_joined_text(&j, text, sizeof text), words != NULL));
    cr_expect(words == NULL || strstr(text, words) != NULL, "%s", text);
    hdx_joined_close(&j);
    cr_expect(hdx_joined_stat(hdx_io_system(), path, &st) == 0 && (uint64_t)st.st_size == wanted->len);
    free(bytes);
}

/* Pieces are merged one after the other: after every step of that, and in the middle of each, the bytes are the same.
 */
static void expect_same_while_merged(bool packed)
{
    static const size_t sizes[] = { 700, 300000, 64, 5000 };
    gm_bytes            whole = base_of(), pieces[4];
    if (packed)
        whole = packed_of(&whole);
    gm_bytes file = { 0 };
    append(&file, &whole);
    for (unsigned k = 0; k < 4; k++) {
        pieces[k] = piece_of(k, sizes[k]);
        if (packed)
            pieces[k] = packed_of(&pieces[k]);
        append(&whole, &pieces[k]);
        save(piece_name(k), pieces[k].at, pieces[k].len);
    }
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned ninth = 0; ninth <= 9; ninth++) {
            const size_t part = ninth == 1 ? 4 : pieces[k].len * ninth / 9; /* 4: of the head of a member or record */
            gm_bytes     now = { 0 };
            append(&now, &file);
            gm_put(&now, pieces[k].at, part);
            save(path, now.at, now.len);
            expect_read(&whole, "the JVM stopped before it merged them");
            gm_free(&now);
        }
        append(&file, &pieces[k]);
        cr_assert(unlink(piece_name(k)) == 0);
    }
    save(path, file.at, file.len);
    expect_read(&whole, NULL);
    for (unsigned k = 0; k < 4; k++)
        gm_free(&pieces[k]);
    gm_free(&file);
    gm_free(&whole);
}

Test(joined, bytes_are_the_same_at_every_step_of_merging) { expect_same_while_merged(false); }
Test(joined, bytes_of_gzip_members_are_the_same_too) { expect_same_while_merged(true); }

/* After a record that is cut, what comes next is found by its bytes. */
Test(joined, a_piece_after_a_cut_record_counts_once)
{
    gm_bytes file = base_of(), piece = piece_of(1, 3000);
    record(&file, 0x1c, 100, 7);
    file.len -= 50;
    gm_bytes whole = { 0 };
    append(&whole, &file);
    append(&whole, &piece);
    gm_put(&file, piece.at, 1000);
    save(path, file.at, file.len);
    save(piece_name(1), piece.at, piece.len);
    expect_read(&whole, "its segment .p1: ");
    gm_free(&file);
    gm_free(&piece);
    gm_free(&whole);
}

/* The record that was cut ends where its segment ends, so that the next piece is not taken for a part of it. */
Test(joined, a_cut_record_ends_with_its_piece)
{
    static const size_t cuts[] = { 1, 100, 1999, 2000, 2001, 2008 }; /* of a heap record of 2000 bytes and its head */
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        gm_bytes whole = base_of(), first = piece_of(0, 3000), second = piece_of(1, 300);
        save(path, whole.at, whole.len);
        save(piece_name(0), first.at, first.len - cuts[i]);
        save(piece_name(1), second.at, second.len);
        first.len -= cuts[i];
        if (first.len < 1009 + 9)
            first.len = 1009; /* of the head itself too little is left */
        else {
            first.at[1009 + 7] = (uint8_t)((2000 - cuts[i]) >> 8);
            first.at[1009 + 8] = (uint8_t)(2000 - cuts[i]);
        }
        append(&whole, &first);
        append(&whole, &second);
        expect_read(&whole, "its 2 segments .p0 to .p1");
        gm_free(&whole);
        gm_free(&first);
        gm_free(&second);
    }
}

Test(joined, another_record_that_was_cut_is_left_out)
{
    gm_bytes whole = base_of(), file = base_of(), piece = piece_of(0, 300);
    record(&file, 0x02, 24, 5);
    save(path, file.at, file.len - 3);
    save(piece_name(0), piece.at, piece.len);
    append(&whole, &piece);
    expect_read(&whole, "its segment .p0");
    gm_free(&whole);
    gm_free(&file);
    gm_free(&piece);
}

Test(joined, order_is_that_of_numbers)
{
    static const unsigned numbers[] = { 10, 2, 100, 9 }, sorted[] = { 2, 9, 10, 100 };
    gm_bytes              whole = base_of();
    save(path, whole.at, whole.len);
    for (unsigned k = 0; k < 4; k++) {
        gm_bytes piece = piece_of(numbers[k], 50), next = piece_of(sorted[k], 50);
        save(piece_name(numbers[k]), piece.at, piece.len);
        append(&whole, &next);
        gm_free(&piece);
        gm_free(&next);
    }
    expect_read(&whole, "its 4 segments .p2 to .p100: the JVM stopped before it merged them; 95 segments between");
    gm_free(&whole);
}

/* None of these is a piece: other names, links, pipes, folders, empty files, other content. */
Test(joined, other_files_are_not_opened)
{
    static const char *const names[] = { "p", "p01", "p1x", "p-1", "p+1", "p 1", "px", "q1", "p1234567", "p1.hdx" };
    gm_bytes                 whole = base_of(), piece = piece_of(1, 300);
    char                     name[96], other[96];
    save(path, whole.at, whole.len);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(name, sizeof name, "%s.%s", path, names[i]);
        save(name, piece.at, piece.len);
    }
    (void)snprintf(other, sizeof other, "%s/other", folder);
    save(other, piece.at, piece.len);
    cr_assert(symlink(other, piece_name(0)) == 0 && mkfifo(piece_name(1), 0600) == 0 &&
              mkdir(piece_name(2), 0700) == 0);
    save(piece_name(3), "", 0);
    save(piece_name(4), "\x1c\0\0\0\1\0\0\0\1\0", 10);
    save(piece_name(5), "something else that is not a piece", 34);
    expect_read(&whole, NULL);
    save(piece_name(6), piece.at, piece.len);
    append(&whole, &piece);
    expect_read(&whole, "its segment .p6: the JVM");
    gm_free(&whole);
    gm_free(&piece);
}

Test(joined, a_dump_with_its_end_record_has_no_pieces)
{
    gm_bytes whole = base_of(), piece = piece_of(0, 300), packed = { 0 };
    save(piece_name(0), piece.at, piece.len);
    record(&whole, 0x2c, 0, 0);
    save(path, whole.at, whole.len);
    expect_read(&whole, NULL);
    gm_bytes old = base_of(), end = { 0 };
    record(&end, 0x2c, 0, 0);
    gm_member_put(&packed, old.at, old.len, &(gm_member){ 0 });
    gm_member_put(&packed, end.at, end.len, &(gm_member){ 0 });
    save(path, packed.at, packed.len);
    save(piece_name(1), packed.at, packed.len);
    expect_read(&packed, NULL);
    static const char text[] = "this is text and no dump, so there are no pieces of it";
    save(path, text, sizeof text);
    expect_read(&(gm_bytes){ .at = (uint8_t *)(uintptr_t)text, .len = sizeof text }, NULL);
    gm_free(&whole);
    gm_free(&piece);
    gm_free(&packed);
    gm_free(&old);
    gm_free(&end);
}

/* Of thousands the lowest are read, and it is said that there are others. */
Test(joined, pieces_are_bounded)
{
    gm_bytes whole = base_of();
    save(path, whole.at, whole.len);
    for (unsigned k = 1200; k-- > 0;) {
        gm_bytes piece = piece_of(k, 30);
        save(piece_name(k), piece.at, piece.len);
        gm_free(&piece);
    }
    for (unsigned k = 0; k < HDX_PIECES_MOST; k++) {
        gm_bytes piece = piece_of(k, 30);
        append(&whole, &piece);
        gm_free(&piece);
    }
    expect_read(&whole,
                "its 256 segments .p0 to .p255: the JVM stopped before it merged them; 944 more segments are not read");
    gm_free(&whole);
}

Test(joined, a_change_of_a_piece_is_a_change_of_the_dump)
{
    struct stat     before, after;
    gm_bytes        file = base_of(), piece = piece_of(0, 300);
    struct timespec later[2] = { { .tv_sec = 4000000000 }, { .tv_sec = 4000000000, .tv_nsec = 5 } };
    save(path, file.at, file.len);
    save(piece_name(0), piece.at, piece.len);
    cr_assert(hdx_joined_stat(hdx_io_system(), path, &before) == 0 &&
              utimensat(AT_FDCWD, piece_name(0), later, 0) == 0);
    cr_assert(hdx_joined_stat(hdx_io_system(), path, &after) == 0);
    cr_expect(eq(i64, after.st_size, before.st_size));
    cr_expect(after.st_mtim.tv_sec == 4000000000 && after.st_mtim.tv_nsec == 5);
    cr_expect(eq(u64, (uint64_t)after.st_ino, (uint64_t)before.st_ino));
    gm_free(&file);
    gm_free(&piece);
}

Test(joined, a_source_gives_all_of_them)
{
    gm_bytes    file = base_of(), piece = piece_of(0, 300);
    hdx_source *source;
    char        text[256];
    uint8_t     bytes[20];
    uint64_t    size;
    size_t      got;
    save(path, file.at, file.len);
    save(piece_name(0), piece.at, piece.len);
    cr_assert(hdx_source_open(path, NULL, &source, NULL) == HDX_OK);
    cr_expect(eq(u64, hdx_source_file_size(source), file.len + piece.len));
    cr_expect(hdx_source_size(source, &size) && size == file.len + piece.len);
    cr_assert(hdx_source_read_at(source, file.len - 10, bytes, 20, &got, NULL) == HDX_OK && got == 20);
    cr_expect(memcmp(bytes, file.at + file.len - 10, 10) == 0 && memcmp(bytes + 10, piece.at, 10) == 0);
    cr_expect(hdx_source_pieces(source, text, sizeof text));
    cr_expect(eq(str, text, (char *)"read together with its segment .p0: the JVM stopped before it merged them"));
    hdx_source_close(source);
    gm_free(&file);
    gm_free(&piece);
}

/* A piece that cannot be opened is named; any call that fails leaves nothing open (ASan, and the count of calls). */
Test(joined, a_fault_at_any_call_is_an_error)
{
    gm_bytes file = base_of(), piece = piece_of(0, 300);
    bool     named = false;
    unsigned listing = 0; /* a folder that cannot be read shows no pieces */
    save(path, file.at, file.len);
    save(piece_name(0), piece.at, piece.len);
    for (unsigned n = 1; n < 100; n++) {
        faulty_io   faulty;
        hdx_source *source = NULL;
        hdx_error   err = { 0 };
        faulty_io_init(&faulty, n, EACCES, false);
        const hdx_code code = hdx_source_open_io(&faulty.io, path, NULL, &source, &err);
        named |= code == HDX_BAD_DUMP && strcmp(err.where, piece_name(0)) == 0 &&
                 strstr(err.message, "cannot open this segment of the dump") != NULL;
        cr_expect(eq(int, source != NULL, code == HDX_OK));
        cr_expect(code != HDX_OK || hdx_source_file_size(source) == file.len + piece.len || listing++ == 0, "call %u",
                  n);
        hdx_source_close(source);
        if (!faulty_io_fired(&faulty))
            break;
        cr_assert(n < 99);
    }
    cr_expect(named);
    gm_free(&file);
    gm_free(&piece);
}
