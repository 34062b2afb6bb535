/*
 * test_resume.c - files with the progress of a reading, and the seal of a folder: data of any length is read back; a
 * damaged or shortened file, or one of another dump, is refused; a failing disk or memory leaves no incomplete file.
 */
#include "reading/resume.h"
#include "support/faulty.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME  "scan.tmp"
#define HEAD  48u
#define PIECE sizeof(((hdx_resume_file *)NULL)->bytes)

static char         folder[TEST_FOLDER], path[96], fresh[96];
static hdx_work    *w;
static hdx_manifest of;
static hdx_saving   saving;

static void enter(void)
{
    test_folder_make(folder, "resume");
    (void)snprintf(path, sizeof path, "%s/" NAME, folder);
    (void)snprintf(fresh, sizeof fresh, "%s/" NAME ".new", folder);
    w = calloc(1, sizeof *w);
    cr_assert(w != NULL);
    w->io = hdx_io_system();
    (void)snprintf(w->folder, sizeof w->folder, "%s", folder);
    memset(&of, 0, sizeof of);
    of.file_size = 1000;
    of.file_mtime_ns = 77;
    memset(of.file_sample, 9, sizeof of.file_sample);
    saving = (hdx_saving){ .of = &of, .version = 5, .boot = "this-boot" };
}

static void leave(void)
{
    cr_expect(atomic_load(&w->mem.used) == 0, "memory is left");
    free(w);
    test_folder_remove(folder);
}

TestSuite(resume_files, .init = enter, .fini = leave, .timeout = 120);

static uint8_t *some(uint64_t n)
{
    uint8_t *bytes = malloc(n + 1);
    for (uint64_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(i * 37 >> 2 ^ i);
    return bytes;
}

/* Writes n bytes in pieces of so many. */
static uint32_t put(uint64_t n, uint64_t piece)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint8_t         *bytes = some(n);
    uint32_t         sum = 0;
    const bool       there = access(path, F_OK) == 0;
    cr_assert(hdx_resume_create(w, &saving, NAME, &k, &err) == HDX_OK, "%s", err.message);
    for (uint64_t at = 0; at < n; at += piece)
        cr_assert(hdx_resume_put(k, bytes + at, n - at < piece ? n - at : piece, &err) == HDX_OK);
    cr_expect((access(path, F_OK) == 0) == there && access(fresh, F_OK) == 0, "it has its name at the end alone");
    cr_assert(hdx_resume_end(k, HDX_OK, &sum, &err) == HDX_OK, "%s", err.message);
    cr_expect(access(path, F_OK) == 0 && access(fresh, F_OK) != 0);
    free(bytes);
    return sum;
}

static hdx_code opened(hdx_resume_file **k, uint32_t *sum)
{
    hdx_error err;
    return hdx_resume_open(w, &saving, NAME, k, sum, &err);
}

/* It has these n bytes, read in pieces of so many, and no more. */
static void expect(uint64_t n, uint64_t piece, uint32_t sum)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint8_t         *want = some(n), *bytes = calloc(1, n + 1), more;
    uint32_t         there = 0;
    cr_assert(opened(&k, &there) == HDX_OK, "%llu bytes", (unsigned long long)n);
    cr_expect(there == sum && k->end == HEAD + n);
    for (uint64_t at = 0; at < n; at += piece)
        cr_assert(hdx_resume_get(k, bytes + at, n - at < piece ? n - at : piece, &err) == HDX_OK, "at %llu of %llu",
                  (unsigned long long)at, (unsigned long long)n);
    cr_expect(memcmp(bytes, want, n) == 0, "%llu bytes", (unsigned long long)n);
    cr_expect(hdx_resume_get(k, &more, 0, &err) == HDX_OK);
    cr_expect(hdx_resume_get(k, &more, 1, &err) == HDX_NOT_FOUND && strcmp(err.message, "nothing to resume from") == 0);
    hdx_resume_close(k);
    free(bytes);
    free(want);
}

Test(resume_files, bytes_come_back_whatever_their_number)
{
    const uint64_t counts[] = { 0,
                                1,
                                7,
                                PIECE - HEAD - 1,
                                PIECE - HEAD,
                                PIECE - HEAD + 1,
                                PIECE,
                                2 * PIECE - HEAD - 1,
                                2 * PIECE - HEAD,
                                2 * PIECE - HEAD + 1,
                                3 * PIECE + 1000 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (unsigned way = 0; way < 3; way++) {
            const uint64_t pieces[] = { UINT64_MAX / 2, 1000, PIECE };
            const uint32_t sum = put(counts[i], pieces[way]);
            for (unsigned other = 0; other < 3; other++)
                expect(counts[i], pieces[other], sum);
            cr_expect((i == 0) == (sum == put(0, 1)), "the sum names the content");
        }
}

static hdx_code get_array(uint64_t size, uint64_t *count, void **array)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint32_t         sum;
    hdx_code         code = opened(&k, &sum);
    cr_assert(code == HDX_OK);
    code = hdx_resume_array(k, size, array, count, &err);
    hdx_resume_close(k);
    return code;
}

static void put_array(uint64_t told, uint64_t size, uint64_t bytes)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint8_t         *content = some(bytes);
    uint32_t         sum;
    cr_assert(hdx_resume_create(w, &saving, NAME, &k, &err) == HDX_OK);
    if (told * size == bytes)
        cr_assert(hdx_resume_put_array(k, size, content, told, &err) == HDX_OK);
    else
        cr_assert(hdx_resume_put(k, &told, sizeof told, &err) == HDX_OK &&
                  hdx_resume_put(k, content, bytes, &err) == HDX_OK);
    cr_assert(hdx_resume_end(k, HDX_OK, &sum, &err) == HDX_OK);
    free(content);
}

Test(resume_files, arrays_are_as_long_as_they_say_or_none)
{
    const struct {
        uint64_t told, size, bytes;
        hdx_code code;
    } cases[] = {
        { 0, 24, 0, HDX_OK },
        { 1, 1, 1, HDX_OK },
        { 5, 24, 120, HDX_OK },
        { 20000, 24, 480000, HDX_OK },
        { 6, 24, 120, HDX_NOT_FOUND },          /* one more than there is */
        { 20000, 24, 120, HDX_NOT_FOUND },      /* much more than the file has */
        { UINT64_MAX, 24, 120, HDX_NOT_FOUND }, /* more than can be told in bytes */
        { 1ull << 61, 8, 120, HDX_NOT_FOUND },  /* 0 in 64 bits */
        { PIECE / 8 + 1, 8, 0, HDX_NOT_FOUND }, /* no room is asked for */
        { 1ull << 40, 1, 120, HDX_NOT_FOUND },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        void    *array = &array;
        uint64_t count = 99;
        put_array(cases[i].told, cases[i].size, cases[i].bytes);
        const hdx_code code = get_array(cases[i].size, &count, &array);
        cr_expect(code == cases[i].code, "case %zu: %d", i, (int)code);
        if (code == HDX_OK) {
            uint8_t *want = some(cases[i].bytes);
            cr_expect(count == cases[i].told && (array == NULL) == (count == 0));
            cr_expect(count == 0 || memcmp(array, want, cases[i].bytes) == 0);
            free(want);
        }
        if (array != NULL)
            hdx_mem_put(&w->mem, array, count * cases[i].size);
    }
}

static bool refuse_large(void *context, uint64_t bytes) { return bytes > *(uint64_t *)context; }

Test(resume_files, arrays_that_no_memory_is_asked_for_are_refused_before)
{
    uint64_t most = sizeof(hdx_resume_file), count;
    void    *array;
    w->mem.refuse = refuse_large;
    w->mem.context = &most;
    put_array(1ull << 40, 1, 120);
    cr_expect(get_array(1, &count, &array) == HDX_NOT_FOUND, "no memory was asked for what the file cannot hold");
    put_array(200000, 1, 200000);
    cr_expect(get_array(1, &count, &array) == HDX_LIMIT && array == NULL && count == 0);
}

Test(resume_files, a_file_of_something_else_is_none)
{
    hdx_resume_file *k;
    uint32_t         sum;
    const uint32_t   written = put(300, 300);
    for (unsigned way = 0; way < 6; way++) {
        const hdx_manifest m = of;
        const hdx_saving   other = saving;
        of.file_size += way == 1;
        of.file_mtime_ns += way == 2;
        of.file_sample[0] ^= way == 3;
        of.file_sample[15] ^= way == 4;
        saving.version += way == 5;
        cr_expect(opened(&k, &sum) == (way == 0 ? HDX_OK : HDX_NOT_FOUND), "way %u", way);
        hdx_resume_close(k);
        of = m;
        saving = other;
    }
    cr_assert(opened(&k, &sum) == HDX_OK && sum == written);
    hdx_resume_close(k);
    hdx_resume_remove(w, NAME);
    cr_expect(access(path, F_OK) != 0);
    cr_expect(opened(&k, &sum) == HDX_NOT_FOUND && k == NULL);
}

static void write_file(const uint8_t *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len && fclose(f) == 0);
}

Test(resume_files, a_damaged_or_shortened_file_is_none)
{
    enum { N = 41 };
    uint8_t          bytes[HEAD + N + 4 + 1] = { 0 };
    hdx_resume_file *k;
    uint32_t         sum;
    (void)put(N, N);
    FILE *f = fopen(path, "rb");
    cr_assert(f != NULL && fread(bytes, 1, sizeof bytes, f) == HEAD + N + 4 && fclose(f) == 0);
    for (size_t i = 0; i < HEAD + N + 4; i++) {
        bytes[i] ^= 4;
        write_file(bytes, HEAD + N + 4);
        cr_expect(opened(&k, &sum) == HDX_NOT_FOUND, "byte %zu", i);
        hdx_resume_close(k);
        bytes[i] ^= 4;
        write_file(bytes, i);
        cr_expect(opened(&k, &sum) == HDX_NOT_FOUND, "%zu bytes", i);
        hdx_resume_close(k);
    }
    write_file(bytes, sizeof bytes);
    cr_expect(opened(&k, &sum) == HDX_NOT_FOUND, "a byte more");
    hdx_resume_close(k);
    /* nothing but its head is a file */
    write_file(bytes, HEAD);
    hdx_put32(bytes + HEAD, hdx_crc32c(0, bytes, HEAD));
    write_file(bytes, HEAD + 4);
    cr_expect(opened(&k, &sum) == HDX_OK);
    hdx_resume_close(k);
}

Test(resume_files, a_disk_that_fails_leaves_what_was_there)
{
    const uint32_t before = put(500, 500);
    for (unsigned n = 1; n < 100; n++) {
        faulty_io        f;
        hdx_error        err;
        hdx_resume_file *k = NULL, *there;
        uint8_t         *bytes = some(100000);
        uint32_t         sum = 0, now;
        faulty_io_init(&f, n, ENOSPC, true);
        w->io = &f.io;
        hdx_code code = hdx_resume_create(w, &saving, NAME, &k, &err);
        if (code == HDX_OK)
            code = hdx_resume_put(k, bytes, 100000, &err);
        code = hdx_resume_end(k, code, &sum, &err);
        w->io = hdx_io_system();
        free(bytes);
        cr_assert(opened(&there, &now) == HDX_OK);
        hdx_resume_close(there);
        if (!faulty_io_fired(&f)) {
            cr_expect(code == HDX_OK && now == sum && n > 4, "%u", n);
            return;
        }
        if (code == HDX_OK) /* what cannot be cleared away any more is no failure of the work */
            continue;
        cr_expect(code == HDX_IO && now == before, "call %u: %d", n, (int)code);
        cr_expect(strstr(err.message, "cannot ") != NULL && strstr(err.message, "No space left on device") != NULL,
                  "%s", err.message);
        cr_expect(strstr(err.where, NAME) != NULL, "%s", err.where);
        cr_expect(access(fresh, F_OK) != 0, "call %u", n);
    }
    cr_assert(false, "a call always fails");
}

Test(resume_files, what_was_given_up_leaves_what_was_there)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint32_t         sum = 3, now;
    const uint32_t   before = put(500, 500);
    cr_assert(hdx_resume_create(w, &saving, NAME, &k, &err) == HDX_OK);
    cr_expect(hdx_resume_end(k, HDX_CANCELLED, &sum, &err) == HDX_CANCELLED && sum == 3);
    cr_expect(access(fresh, F_OK) != 0);
    cr_expect(hdx_resume_end(NULL, HDX_LIMIT, &sum, &err) == HDX_LIMIT);
    cr_assert(opened(&k, &now) == HDX_OK && now == before);
    hdx_resume_close(k);
    hdx_resume_close(NULL);
}

Test(resume_files, without_memory_is_an_error_that_names_it)
{
    hdx_error        err;
    hdx_resume_file *k;
    uint32_t         sum;
    uint64_t         most = 1000;
    (void)put(500, 500);
    w->mem.refuse = refuse_large;
    w->mem.context = &most;
    cr_expect(hdx_resume_create(w, &saving, NAME, &k, &err) == HDX_LIMIT && k == NULL);
    cr_expect(strstr(err.message, "memory") != NULL, "%s", err.message);
    cr_expect(hdx_resume_open(w, &saving, NAME, &k, &sum, &err) == HDX_LIMIT && k == NULL);
}

Test(resume_files, work_is_worth_it_after_a_second_or_at_every_step)
{
    const uint64_t now = hdx_now_ns(), cpu = hdx_cpu_ns();
    const hdx_code codes[] = { HDX_OK, HDX_CANCELLED, HDX_IO, HDX_LIMIT };
    for (unsigned i = 0; i < 4; i++) {
        saving.every_step = false;
        saving.begun_cpu = cpu;
        saving.saved_at = now;
        cr_expect(!hdx_resume_is_worth(w, &saving, codes[i]), "a moment");
        saving.saved_at = now - 1000000001u;
        cr_expect(hdx_resume_is_worth(w, &saving, codes[i]) == (i < 2), "a second");
        saving.saved_at = now;
        saving.begun_cpu = cpu - 1000000001u;
        cr_expect(hdx_resume_is_worth(w, &saving, codes[i]) == (i < 2), "a second of several threads");
        saving.begun_cpu = cpu;
        saving.every_step = true;
        cr_expect(hdx_resume_is_worth(w, &saving, codes[i]));
        w->folder[0] = '\0';
        cr_expect(!hdx_resume_is_worth(w, &saving, codes[i]), "nowhere");
        w->folder[0] = '/';
    }
}

/* ---- the seal ---- */
static bool sealed(void)
{
    hdx_seal_get(w, &saving);
    return hdx_seal_has(w, &saving, NAME);
}

Test(resume_files, with_a_seal_is_not_read_through)
{
    hdx_resume_file *k;
    uint32_t         sum = 0;
    (void)put(300, 300);
    cr_expect(!sealed());
    hdx_seal_put(w, &saving);
    cr_expect(sealed() && saving.seal.count == 1);
    cr_expect(!hdx_seal_has(w, &saving, HDX_RESUME_COLUMNS), "there is no such file");
    cr_assert(opened(&k, &sum) == HDX_OK);
    hdx_resume_close(k);
    FILE *f = fopen(path, "r+b"); /* a byte is another one: its time tells */
    cr_assert(f != NULL && fseek(f, HEAD + 3, SEEK_SET) == 0 && fputc('?', f) == '?' && fclose(f) == 0);
    cr_expect(!sealed() && saving.seal.count == 1, "the seal holds, for another file");
    cr_expect(opened(&k, &sum) == HDX_NOT_FOUND);
    hdx_resume_close(k);
    hdx_seal_remove(w);
    cr_expect(!sealed() && saving.seal.count == 0);
}

Test(resume_files, has_no_seal_where_none_can_be_said)
{
    (void)put(300, 300);
    saving.unproven = true;
    hdx_seal_put(w, &saving);
    cr_expect(!sealed(), "nobody has read it through");
    saving.unproven = false;
    saving.boot[0] = '\0';
    hdx_seal_put(w, &saving);
    cr_expect(!sealed(), "the system does not say which boot this is");
    saving.boot[0] = 't';
    hdx_seal_put(w, &saving);
    cr_expect(sealed());
    saving.version++;
    cr_expect(!sealed(), "of another version");
    saving.version--;
    saving.boot[0] = 'u';
    cr_expect(!sealed(), "of another boot");
    saving.boot[0] = 't';
    cr_expect(sealed());
    saving.unproven = true;
    hdx_seal_put(w, &saving);
    cr_expect(!sealed(), "what nobody has read through takes the old one away");
}

/* Times of whole milliseconds: the clock may give two changes one. */
static int coarse_stat(hdx_io *io, const char *name, struct stat *st)
{
    const int rc = hdx_io_system()->stat(io, name, st);
    st->st_ctim.tv_nsec -= st->st_ctim.tv_nsec % 1000000;
    return rc;
}

static int late_stat(hdx_io *io, const char *name, struct stat *st)
{
    const int rc = hdx_io_system()->stat(io, name, st);
    st->st_ctim.tv_sec += 3600;
    st->st_ctim.tv_nsec = 1;
    return rc;
}

Test(resume_files, has_no_seal_where_the_clock_is_coarse_or_of_another_time)
{
    hdx_io io = *hdx_io_system();
    (void)put(300, 300);
    w->io = &io;
    io.stat = coarse_stat;
    hdx_seal_put(w, &saving);
    cr_expect(!sealed());
    io.stat = late_stat;
    hdx_seal_put(w, &saving);
    cr_expect(!sealed());
    io.stat = hdx_io_system()->stat;
    hdx_seal_put(w, &saving);
    cr_expect(sealed());
}

Test(resume_files, has_no_half_seal)
{
    (void)put(300, 300);
    for (unsigned n = 2; n < 20; n++) { /* the first call takes an old one away, and there is none */
        faulty_io f;
        faulty_io_init(&f, n, ENOSPC, true);
        w->io = &f.io;
        hdx_seal_put(w, &saving);
        w->io = hdx_io_system();
        if (!faulty_io_fired(&f)) {
            cr_expect(sealed() && n > 2);
            return;
        }
        cr_expect(!sealed(), "call %u", n);
    }
    cr_assert(false, "a call always fails");
}
