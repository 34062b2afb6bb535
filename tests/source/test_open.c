/*
 * test_open.c - what opening a dump says to what it finds.
 */
#include "support/folder.h"
#include "support/gzip_maker.h"
#include "source/source.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void setup(void) { test_folder_make(folder, "open"); }
static void teardown(void) { test_folder_remove(folder); }

static char *named(const char *name, const void *bytes, size_t len)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    if (bytes != NULL) {
        FILE *f = fopen(path, "wb");
        cr_assert(f != NULL && fwrite(bytes, 1, len, f) == len);
        (void)fclose(f);
    }
    return path;
}

static void expect_refused(const char *path, hdx_code code, const char *words)
{
    hdx_source *source = (hdx_source *)1;
    hdx_error   err = { 0 };
    cr_expect(eq(int, hdx_source_open(path, NULL, &source, &err), code));
    cr_expect(source == NULL);
    cr_expect(eq(int, err.code, code));
    cr_expect(strstr(err.message, words) != NULL, "%s", err.message);
    cr_expect(eq(str, err.where, (char *)path));
    cr_expect(strchr(err.message, '\n') == NULL);
}

TestSuite(open, .init = setup, .fini = teardown);

Test(open, refuses_what_is_not_there) { expect_refused(named("none", NULL, 0), HDX_BAD_DUMP, "no such file"); }

Test(open, refuses_a_directory_with_a_hint)
{
    hdx_source *source;
    hdx_error   err;
    expect_refused(folder, HDX_BAD_DUMP, "is a directory");
    cr_assert(eq(int, hdx_source_open(folder, NULL, &source, &err), HDX_BAD_DUMP));
    cr_expect(eq(str, err.hint, "name a file such as app.hprof"));
}

Test(open, refuses_an_empty_file) { expect_refused(named("empty", "", 0), HDX_BAD_DUMP, "the file is empty"); }

Test(open, refuses_a_pipe_without_waiting_for_it)
{
    char *path = named("pipe", NULL, 0);
    cr_assert(mkfifo(path, 0600) == 0);
    expect_refused(path, HDX_BAD_DUMP, "not a regular file");
}

Test(open, refuses_a_file_below_a_file)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s/x", named("file", "x", 1));
    expect_refused(path, HDX_BAD_DUMP, "no such file");
}

Test(open, tells_permission_from_a_failing_system)
{
    gm_bytes bytes = { 0 };
    gm_put(&bytes, "JAVA", 4);
    gm_file     door = gm_file_of(&bytes);
    hdx_source *source;
    hdx_error   err;
    door.open_fails = EACCES;
    cr_expect(eq(int, hdx_source_open_io(&door.io, "app.hprof", NULL, &source, &err), HDX_BAD_DUMP));
    cr_expect(eq(str, err.message, "permission denied"));
    cr_expect(ne(str, err.hint, ""));
    door.open_fails = EMFILE;
    cr_expect(eq(int, hdx_source_open_io(&door.io, "app.hprof", NULL, &source, &err), HDX_IO));
    door.open_fails = 0;
    door.fail_from = 0;
    cr_expect(eq(int, hdx_source_open_io(&door.io, "app.hprof", NULL, &source, &err), HDX_IO));
    cr_expect(eq(uint, door.open_now, 0));
    gm_free(&bytes);
}

Test(open, refuses_no_name)
{
    hdx_source *source;
    cr_expect(eq(int, hdx_source_open("", NULL, &source, NULL), HDX_USAGE));
    cr_expect(eq(int, hdx_source_open(NULL, NULL, &source, NULL), HDX_USAGE));
    hdx_source_close(NULL);
}

Test(open, tells_the_container_by_its_first_bytes)
{
    static const struct {
        const char     *bytes;
        size_t          len;
        hdx_compression kind;
    } cases[] = {
        { "JAVA PROFILE 1.0.2", 18, HDX_PLAIN },
        { "\x1f", 1, HDX_PLAIN },
        { "\x1f\x8b", 2, HDX_GZIP },
        { "\x1f\x8b\x08\0\0", 5, HDX_GZIP },
        { "\x78\x01", 2, HDX_ZLIB },
        { "\x78\x5e", 2, HDX_ZLIB },
        { "\x78\x9c", 2, HDX_ZLIB },
        { "\x78\xda", 2, HDX_ZLIB },
        { "\x78\x02", 2, HDX_PLAIN },
        { "x", 1, HDX_PLAIN },
        { "PK\3\4", 4, HDX_PLAIN },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_source *source;
        char       *path = named("case", cases[i].bytes, cases[i].len);
        cr_assert(eq(int, hdx_source_open(path, NULL, &source, NULL), HDX_OK));
        cr_expect(eq(int, hdx_source_compression(source), cases[i].kind));
        cr_expect(eq(u64, hdx_source_file_size(source), cases[i].len));
        cr_expect(eq(str, (char *)hdx_source_path(source), path));
        hdx_source_close(source);
    }
}

static bool first_ten_absent(void *context, hdx_pos at)
{
    (void)context;
    return at < 10;
}

Test(open, no_byte_of_a_file_is_absent_unless_a_layer_says_so)
{
    hdx_source *source;
    static int  context;
    cr_assert(eq(int, hdx_source_open(named("app", "JAVA PROFILE 1.0.2", 18), NULL, &source, NULL), HDX_OK));
    cr_expect(hdx_source_absent(source, 3) == false);
    hdx_source_overlay(source, &(hdx_overlay){ .context = &context, .absent = first_ten_absent });
    cr_expect(hdx_source_absent(source, 9) && !hdx_source_absent(source, 10));
    hdx_source_overlay(source, &(hdx_overlay){ 0 });
    hdx_source_close(source);
}

Test(open, a_read_of_nothing_gives_nothing)
{
    hdx_source *source;
    uint8_t     byte = 77;
    size_t      got = 9;
    cr_assert(eq(int, hdx_source_open(named("app", "JAVA PROFILE 1.0.2", 18), NULL, &source, NULL), HDX_OK));
    cr_expect(eq(int, hdx_source_read_at(source, 5, &byte, 0, &got, NULL), HDX_OK));
    cr_expect(got == 0 && byte == 77);
    hdx_source_close(source);
}

/* Where standard input is closed. */
Test(open, a_file_may_have_the_number_0)
{
    static const char name[] = "JAVA PROFILE 1.0.2";
    char             *path = named("app", name, 18);
    const int         input = dup(STDIN_FILENO);
    for (unsigned round = 0; round < 2; round++) { /* its number is free again, too */
        hdx_source *source;
        hdx_error   err = { 0 };
        uint8_t     bytes[20];
        size_t      got = 0;
        (void)close(STDIN_FILENO);
        cr_assert(eq(int, hdx_source_open(path, NULL, &source, &err), HDX_OK), "%s", err.message);
        cr_expect(fcntl(STDIN_FILENO, F_GETFD) >= 0, "it has that number");
        cr_expect(hdx_source_read_at(source, 0, bytes, sizeof bytes, &got, &err) == HDX_OK && got == 18 &&
                  memcmp(bytes, name, 18) == 0);
        hdx_source_close(source);
        cr_expect(fcntl(STDIN_FILENO, F_GETFD) == -1 && errno == EBADF);
    }
    if (input >= 0)
        (void)dup2(input, STDIN_FILENO);
}

Test(open, refuses_gzip_that_cannot_be)
{
    expect_refused(named("a", "\x1f\x8b\x07\0\0\0", 6), HDX_BAD_DUMP, "gzip compression method 7, allowed 8");
    expect_refused(named("b", "\x1f\x8b\x08\xe0\0\0", 6), HDX_BAD_DUMP, "gzip header flags 224");
    expect_refused(named("c", "\x78\x20", 2), HDX_BAD_DUMP, "zlib header flags 32");
}
