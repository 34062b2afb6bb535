/*
 * test_temp.c - what a step writes down for the next one: in memory while it fits there, in a file from then on.
 */
#include "passes/temp.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[TEST_FOLDER], path[64];
static struct made {
    hdx_work work;
} * b;

static void enter(void)
{
    test_folder_make(folder, "tape");
    (void)snprintf(path, sizeof path, "%s/a.tmp", folder);
    b = calloc(1, sizeof *b);
    cr_assert(b != NULL);
    b->work.io = hdx_io_system();
    b->work.threads = 2;
    b->work.room = 1u << 20;
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%s", folder);
}

static void leave(void)
{
    cr_expect(b->work.mem.used == 0);
    cr_expect(rmdir(folder) == 0, "something is left in it");
    free(b);
}

TestSuite(temp, .init = enter, .fini = leave);

static void write_some(const hdx_tape *tape, uint64_t from, uint64_t len)
{
    uint8_t *bytes = malloc(len);
    for (uint64_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)((from + i) * 31 >> 3);
    cr_assert(tape->write(tape->context, bytes, len, NULL) == HDX_OK);
    free(bytes);
}

static void expect_read(const hdx_tape *tape, uint64_t from, uint64_t len)
{
    uint8_t *bytes = malloc(len);
    cr_assert(tape->read(tape->context, from, bytes, len, NULL) == HDX_OK);
    for (uint64_t i = 0; i < len; i++)
        cr_assert(bytes[i] == (uint8_t)((from + i) * 31 >> 3), "byte %llu", (unsigned long long)(from + i));
    free(bytes);
}

/* As much as was thought fits; a byte more, and all of it is in a file. */
Test(temp, that_outgrows_its_memory_goes_on_in_a_file)
{
    for (uint64_t more = 0; more < 2; more++) {
        hdx_temp t;
        cr_assert(hdx_temp_begin(&b->work, "a.tmp", 300000, 100000, &t, NULL) == HDX_OK);
        cr_expect(b->work.mem.used > 0 && b->work.mem.used < 60000, "what is not written yet is not held: %llu",
                  (unsigned long long)b->work.mem.used);
        write_some(&t.tape, 0, 1000);
        write_some(&t.tape, 1000, 99000);
        cr_expect(b->work.mem.used >= 100000 && b->work.mem.used < 160000);
        write_some(&t.tape, 100000, 0);
        write_some(&t.tape, 100000, 200000 + more);
        cr_expect((access(path, F_OK) == 0) == (more == 1));
        cr_expect((b->work.mem.used == 0) == (more == 1), "memory is held no more");
        write_some(&t.tape, 300000 + more, more * 50000);
        cr_expect(t.end == 300000 + more * 50001);
        expect_read(&t.tape, 0, t.end);
        expect_read(&t.tape, 299000, 1000);
        expect_read(&t.tape, t.end - 1, 1);
        expect_read(&t.tape, t.end, 0);
        cr_expect(t.tape.read(t.tape.context, t.end, &(uint8_t){ 0 }, 1, NULL) != HDX_OK);
        cr_expect(t.tape.read(t.tape.context, t.end - 1, (uint8_t[2]){ 0 }, 2, NULL) != HDX_OK);
        cr_expect(t.tape.read(t.tape.context, t.end + 1, &(uint8_t){ 0 }, 0, NULL) != HDX_OK || more == 1);
        cr_expect(hdx_temp_trim(&t));
        expect_read(&t.tape, 0, t.end);
        hdx_temp_remove(&t);
        cr_expect(access(path, F_OK) != 0);
    }
}

/* With the sum of what was put so far, as a checkpoint says it; what is put behind that belongs to it too. */
Test(temp, that_a_checkpoint_needs_is_in_its_file)
{
    for (uint64_t len = 0; len <= 5000; len += 2500) {
        hdx_temp t;
        uint8_t  bytes[6000];
        cr_assert(hdx_temp_begin(&b->work, "a.tmp", 5000, 0, &t, NULL) == HDX_OK);
        write_some(&t.tape, 0, len);
        cr_expect(access(path, F_OK) != 0);
        cr_assert(hdx_temp_keep(&t, NULL) == HDX_OK && hdx_temp_keep(&t, NULL) == HDX_OK);
        cr_expect(b->work.mem.used == 0);
        write_some(&t.tape, len, 1000);
        expect_read(&t.tape, 0, len + 1000);
        FILE *file = fopen(path, "rb");
        cr_assert(file != NULL && fread(bytes, 1, sizeof bytes, file) == len + 1000 && t.end == len + 1000);
        cr_expect(t.sum == hdx_crc32c(0, bytes, len + 1000));
        (void)fclose(file);
        hdx_temp_remove(&t);
    }
}

/* Read from its end: memory goes as it is read, what stands before that stays. */
Test(temp, gives_memory_back_from_where_it_is_cut)
{
    const uint64_t len = 20u << 20, piece = 1u << 20;
    hdx_temp       t;
    b->work.room = 64u << 20;
    cr_assert(hdx_temp_begin(&b->work, "a.tmp", len, 0, &t, NULL) == HDX_OK);
    write_some(&t.tape, 0, len);
    for (uint64_t end = len; end > 0; end -= piece) {
        expect_read(&t.tape, end - piece, piece);
        t.tape.cut(t.tape.context, end - piece);
        cr_expect(b->work.mem.used < end + (4u << 20), "%llu of %llu", (unsigned long long)b->work.mem.used,
                  (unsigned long long)end);
        cr_expect(t.tape.read(t.tape.context, end - piece, &(uint8_t){ 0 }, 1, NULL) != HDX_OK,
                  "what was cut is not read");
    }
    hdx_temp_remove(&t);
    cr_assert(hdx_temp_create(&b->work, "a.tmp", &t, NULL) == HDX_OK && t.tape.cut == NULL);
    hdx_temp_remove(&t);
}

Test(temp, is_in_a_file_where_there_is_no_room_for_it)
{
    hdx_temp t;
    cr_assert(hdx_temp_begin(&b->work, "a.tmp", 1u << 19, (1u << 19) + 1, &t, NULL) == HDX_OK);
    cr_expect(b->work.mem.used == 0 && access(path, F_OK) == 0);
    write_some(&t.tape, 0, 1000);
    expect_read(&t.tape, 1, 999);
    hdx_temp_remove(&t);
}

static int no_file(hdx_io *io, const char *at)
{
    (void)io;
    (void)at;
    return -ENOSPC;
}

static int no_byte(hdx_io *io, int fd, const void *bytes, uint64_t len, uint64_t offset)
{
    (void)io;
    (void)fd;
    (void)bytes;
    (void)len;
    (void)offset;
    return -ENOSPC;
}

/* Neither a file nor a byte in it: an error with the tape's name, and nothing is kept. */
Test(temp, that_outgrows_its_memory_on_a_full_disk_says_so)
{
    hdx_io full[2] = { *b->work.io, *b->work.io };
    full[0].create = no_file;
    full[1].write_at = no_byte;
    for (unsigned i = 0; i < 2; i++) {
        hdx_temp  t;
        hdx_error err = { 0 };
        uint8_t   bytes[200] = { 0 };
        b->work.io = &full[i];
        cr_assert(hdx_temp_begin(&b->work, "a.tmp", 300, 0, &t, &err) == HDX_OK);
        cr_expect(t.tape.write(t.tape.context, bytes, 200, &err) == HDX_OK);
        cr_expect(t.tape.write(t.tape.context, bytes, 200, &err) == HDX_IO && strstr(err.where, "a.tmp") != NULL,
                  "%s: %s", err.where, err.message);
        hdx_temp_remove(&t);
        cr_expect(b->work.mem.used == 0 && access(path, F_OK) != 0);
    }
    b->work.io = hdx_io_system();
}

Test(temp, that_is_not_there_is_not_opened)
{
    hdx_code (*const opens[])(hdx_work *, const char *, hdx_temp *, hdx_error *) = { hdx_temp_reopen, hdx_temp_change };
    for (unsigned i = 0; i < 2; i++) {
        hdx_temp  t;
        hdx_error err = { 0 };
        cr_expect(opens[i](&b->work, "a.tmp", &t, &err) == HDX_IO && strcmp(err.where, path) == 0, "%s: %s", err.where,
                  err.message);
    }
}

/* To the byte: what is kept beside it counts too. */
Test(temp, is_in_memory_where_there_is_just_room_for_it)
{
    static const struct {
        uint64_t most, beside;
        bool     file;
    } cases[] = { { 1u << 20, 0, false },
                  { (1u << 20) + 1, 0, true },
                  { 1u << 20, 1, true },
                  { 1000, (1u << 20) - 1000, false },
                  { 1000, (1u << 20) - 999, true },
                  { 0, 0, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_temp t;
        cr_assert(hdx_temp_begin(&b->work, "a.tmp", cases[i].most, cases[i].beside, &t, NULL) == HDX_OK);
        cr_expect((access(path, F_OK) == 0) == cases[i].file, "case %zu", i);
        hdx_temp_remove(&t);
        cr_expect(access(path, F_OK) != 0);
    }
}

/* The least number that an open file can have is 0. */
Test(temp, may_have_file_number_0)
{
    uint8_t bytes[500];
    (void)close(0);
    for (unsigned how = 0; how < 4; how++) {
        hdx_temp t;
        if (how == 3) {
            cr_assert(hdx_temp_begin(&b->work, "a.tmp", 500, 0, &t, NULL) == HDX_OK);
            write_some(&t.tape, 0, 500);
            cr_assert(hdx_temp_keep(&t, NULL) == HDX_OK);
        } else {
            cr_assert(hdx_temp_create(&b->work, "a.tmp", &t, NULL) == HDX_OK);
            write_some(&t.tape, 0, 500);
        }
        if (how == 1 || how == 2) {
            hdx_temp_close(&t);
            cr_assert((how == 1 ? hdx_temp_reopen : hdx_temp_change)(&b->work, "a.tmp", &t, NULL) == HDX_OK);
        }
        cr_expect(t.fd == 0);
        cr_expect(t.tape.read(t.tape.context, 0, bytes, 500, NULL) == HDX_OK && bytes[499] == (uint8_t)(499 * 31 >> 3));
        hdx_temp_remove(&t);
        cr_expect(access(path, F_OK) != 0 && t.fd < 0 && t.end == 0);
        cr_expect(fcntl(0, F_GETFD) < 0, "it is closed");
    }
}
