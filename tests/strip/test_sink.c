/*
 * test_sink.c - the file that is written: every byte given to it, in order; what the disk refuses is told, and then
 * nothing is there.
 */
#include "over.h"

#include <errno.h>

typedef unsigned long long ull;

static char     folder[TEST_FOLDER], path[64], part[160];
static unsigned pushes, writes, failing, room_asked;
static uint64_t space;

static int f_write(hdx_io *io, int fd, const void *some, uint64_t len)
{
    return ++writes == failing ? -ENOSPC : hdx_io_system()->write(io, fd, some, len);
}
static int  f_failed(hdx_io *io, int fd) { return (void)io, (void)fd, -EIO; }
static int  f_closed(hdx_io *io, int fd) { return (void)io, (void)close(fd), -EIO; }
static void f_push(hdx_io *io, int fd) { (void)io, (void)fd, pushes++; }
static int  f_rename(hdx_io *io, const char *from, const char *to) { return (void)io, (void)from, (void)to, -EROFS; }
static int  f_space(hdx_io *io, const char *name, uint64_t *left)
{
    return (void)io, (void)name, room_asked++, *left = space, 0;
}

static hdx_strip_options wanted;

static void note_part(void *context, const char *temporary)
{
    (void)context;
    if (temporary != NULL)
        (void)snprintf(part, sizeof part, "%s", temporary);
}

static hdx_io begun(void)
{
    hdx_io io = *hdx_io_system();
    io.write = f_write;
    io.push = f_push;
    pushes = writes = failing = 0;
    test_folder_make_fast(folder, "sink");
    (void)snprintf(path, sizeof path, "%.*s/a.hprof", TEST_FOLDER, folder);
    wanted = (hdx_strip_options){ .dump = "/", .output = path, .writing = note_part };
    return io;
}

Test(sink, holds_every_byte_in_order)
{
    static uint8_t piece[300000];
    hdx_io         io = begun();
    sink           s;
    hdx_error      err = { 0 };
    uint64_t       all = 0;
    for (size_t k = 0; k < sizeof piece; k++)
        piece[k] = (uint8_t)(1 + k % 255);
    cr_assert(hdx_strip_sink_open(&s, &io, &wanted, HDX_PLAIN, NULL, &err) == HDX_OK, "%s", err.message);
    static const uint64_t lengths[] = { 1, 0, 262143, 1, 262144, 5, 300000, 262139, 100, 300000 };
    for (unsigned k = 0; k < 10; k++) {
        const uint64_t n = lengths[k];
        if (k % 3 == 1)
            cr_assert(hdx_strip_sink_zeros(&s, n, &err) == HDX_OK);
        else
            cr_assert(hdx_strip_sink_put(&s, piece, n, &err) == HDX_OK);
        all += n;
        cr_expect(s.bytes == all && s.written == all / 262144 * 262144, "%llu, %llu", (ull)s.bytes, (ull)s.written);
    }
    cr_assert(hdx_strip_sink_finish(&s, &err) == HDX_OK && s.written == all && access(path, F_OK) != 0);
    cr_assert(hdx_strip_sink_commit(&s, &err) == HDX_OK && s.whole.fd == -1);
    hdx_strip_sink_drop(&s);
    cr_expect(s.whole.io == NULL);
    bytes b = slurp(path);
    cr_assert(b.len == all && access(part, F_OK) != 0);
    size_t at = 0;
    for (unsigned k = 0; k < 10; k++)
        for (uint64_t i = 0; i < lengths[k]; i++, at++)
            cr_assert(b.at[at] == (k % 3 == 1 ? 0 : piece[i]), "byte %zu", at);
    free(b.at);
    test_folder_remove(folder);
}

Test(sink, pushes_every_eight_mebibytes_to_the_disk)
{
    hdx_io    io = begun();
    sink      s;
    hdx_error err = { 0 };
    cr_assert(hdx_strip_sink_open(&s, &io, &wanted, HDX_PLAIN, NULL, &err) == HDX_OK);
    for (unsigned k = 1; k <= 100; k++) {
        cr_assert(hdx_strip_sink_zeros(&s, 256u << 10, &err) == HDX_OK);
        cr_expect(pushes == k / 32, "%u after %u", pushes, k);
    }
    hdx_strip_sink_drop(&s);
    cr_expect(access(part, F_OK) != 0);
    test_folder_remove(folder);
}

Test(sink, tells_what_the_disk_refuses_and_leaves_nothing)
{
    for (unsigned what = 0; what < 6; what++) {
        hdx_io    io = begun();
        sink      s;
        hdx_error err = { 0 };
        if (what == 0)
            test_folder_remove(folder);
        if (what == 1 || what == 2)
            failing = what;
        if (what == 3)
            io.sync = f_failed;
        if (what == 4)
            io.close = f_closed;
        if (what == 5)
            io.rename = f_rename;
        hdx_code code = hdx_strip_sink_open(&s, &io, &wanted, HDX_PLAIN, NULL, &err);
        cr_expect((code != HDX_OK) == (what == 0));
        if (code == HDX_OK)
            code = hdx_strip_sink_zeros(&s, 300u << 10, &err);
        cr_expect((code != HDX_OK) == (what <= 1));
        if (code == HDX_OK)
            code = hdx_strip_sink_finish(&s, &err);
        cr_expect((code != HDX_OK) == (what <= 2));
        if (code == HDX_OK)
            code = hdx_strip_sink_commit(&s, &err);
        cr_expect(code == HDX_IO && err.code == HDX_IO && strcmp(err.where, path) == 0, "%u: %d", what, (int)code);
        cr_expect(strstr(err.message, what == 0   ? "cannot create: No such file or directory"
                                      : what == 5 ? "cannot write: Read-only file system"
                                      : what >= 3 ? "cannot write: Input/output error"
                                                  : "cannot write: No space left") != NULL,
                  "%u: %s", what, err.message);
        cr_expect(what == 0 || what >= 3 || err.offset == (what == 1 ? 0 : 262144), "%u: %llu", what, (ull)err.offset);
        cr_expect(what < 3 || s.whole.fd == -1, "given up");
        hdx_strip_sink_drop(&s);
        cr_expect(access(part, F_OK) != 0 && access(path, F_OK) != 0 && s.whole.io == NULL, "%u", what);
        if (what != 0)
            test_folder_remove(folder);
    }
}

/* Both calls: a link stays and its target changes, nothing gets wider, and only a regular file is replaced. */
Test(sink, replaces_the_target_of_a_link_and_regular_files_only)
{
    hdx_strip_report r;
    hdx_error        err = { 0 };
    struct stat      st;
    char             back[80], link_to[80], pipe_at[80];
    dump_maker      *m = android_dump_new(4, false);
    (void)begun();
    (void)umask(0);
    (void)snprintf(back, sizeof back, "%s/back", folder);
    (void)snprintf(link_to, sizeof link_to, "%s/link", folder);
    (void)snprintf(pipe_at, sizeof pipe_at, "%s/pipe", folder);
    dump_maker_save(m, path);
    dump_maker_free(m);
    cr_assert(chmod(path, 0644) == 0 && symlink("back", link_to) == 0 && mkfifo(pipe_at, 0600) == 0);
    cr_expect(strip_to(path, HDX_STRIP_KOOM, link_to, &r, &err) == HDX_OK, "%s", err.message);
    cr_expect(lstat(link_to, &st) == 0 && S_ISLNK(st.st_mode));
    cr_expect(lstat(back, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0644, "%o", st.st_mode);
    cr_assert(chmod(back, 0600) == 0);
    cr_expect(strip_to(path, HDX_STRIP_KOOM, link_to, &r, &err) == HDX_OK, "%s", err.message);
    cr_expect(lstat(link_to, &st) == 0 && S_ISLNK(st.st_mode));
    cr_expect(lstat(back, &st) == 0 && (st.st_mode & 07777) == 0600, "%o", st.st_mode);
    for (int restores = 0; restores < 2; restores++) {
        cr_expect((restores ? restore_to(back, pipe_at, &r, &err)
                            : strip_to(path, HDX_STRIP_KOOM, pipe_at, &r, &err)) == HDX_USAGE);
        cr_expect_str_eq(err.message, "is not a regular file");
        cr_expect(lstat(pipe_at, &st) == 0 && S_ISFIFO(st.st_mode));
    }
    test_folder_remove(folder);
}

Test(sink, copies_from_a_reader_and_says_where_the_file_ends_before)
{
    over      o;
    hdx_io    io = begun();
    sink      s;
    hdx_error err = { 0 };
    uint8_t   some[9000];
    for (unsigned k = 0; k < sizeof some; k++)
        some[k] = (uint8_t)(k % 251);
    over_open(&o, some, sizeof some, 64);
    cr_assert(hdx_strip_sink_open(&s, &io, &wanted, HDX_PLAIN, NULL, &err) == HDX_OK);
    cr_expect(hdx_strip_sink_copy(&s, &o.r, 0, 0, &err) == HDX_OK && s.bytes == 0);
    cr_expect(hdx_strip_sink_copy(&s, &o.r, 10, 8990, &err) == HDX_OK && s.bytes == 8990);
    cr_expect(memcmp(s.buffer, some + 10, 8990) == 0);
    cr_expect(hdx_strip_sink_copy(&s, &o.r, 8999, 2, &err) == HDX_BAD_DUMP && err.offset == 9000 &&
                  strstr(err.message, "1 bytes too early") != NULL,
              "%s", err.message);
    hdx_strip_sink_drop(&s);
    over_close(&o);
    test_folder_remove(folder);
}

/* ---- restoring ---- */

static char dump[64], stripped[64], back[64], packed[64];

static void files(hdx_strip_policy policy, bool plain)
{
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = android_dump_new(4, false);
    (void)begun();
    (void)snprintf(dump, sizeof dump, "%.*s/a.hprof", TEST_FOLDER, folder);
    (void)snprintf(stripped, sizeof stripped, "%.*s/b.hprof", TEST_FOLDER, folder);
    (void)snprintf(back, sizeof back, "%.*s/c.hprof", TEST_FOLDER, folder);
    (void)snprintf(packed, sizeof packed, "%.*s/d.gz", TEST_FOLDER, folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_strip_options o = { .dump = dump, .output = stripped, .policy = policy, .plain = plain };
    cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
}

Test(restore, wants_room_on_the_disk_but_for_what_is_compressed)
{
    hdx_strip_report r;
    hdx_error        err = { 0 };
    hdx_io          *io = hdx_io_system();
    const hdx_io     was = *io;
    files(HDX_STRIP_KOOM, false);
    cr_assert(restore_to(stripped, back, &r, &err) == HDX_OK, "%s", err.message);
    io->space = f_space;
    space = r.plain_out;
    cr_expect(restore_to(stripped, back, &r, &err) == HDX_OK && room_asked == 1);
    space = r.plain_out - 1;
    cr_expect(restore_to(stripped, back, &r, &err) == HDX_LIMIT && room_asked == 2);
    cr_expect(restore_to(stripped, packed, &r, &err) == HDX_OK && room_asked == 2 && r.bytes_out < r.plain_out);
    *io = was;
    test_folder_remove(folder);
}

Test(strip, wants_room_where_as_many_bytes_are_written)
{
    static const struct {
        hdx_strip_policy policy;
        bool             packed, drops, asks;
    } ways[] = { { HDX_STRIP_SHARK, false, false, true },   { HDX_STRIP_REDACTED, false, false, true },
                 { HDX_STRIP_SHARK, true, false, false },   { HDX_STRIP_SHARK, false, true, false },
                 { HDX_STRIP_KOOM, false, false, false },   { HDX_STRIP_MATRIX, false, false, false },
                 { HDX_STRIP_TAILOR, false, false, false }, { HDX_STRIP_TAILOR, true, false, false } };
    const char *const drop[] = { "a.A" };
    hdx_io           *io = hdx_io_system();
    const hdx_io      was = *io;
    files(HDX_STRIP_KOOM, false);
    io->space = f_space;
    for (unsigned k = 0; k < sizeof ways / sizeof *ways; k++)
        for (unsigned plain = 0; plain < 2; plain++) {
            hdx_strip_report        r;
            hdx_error               err = { 0 };
            struct stat             info;
            const hdx_strip_options o = { .dump = dump,
                                          .output = ways[k].packed ? packed : back,
                                          .policy = ways[k].policy,
                                          .plain = plain == 1,
                                          .drop_classes = drop,
                                          .drop_count = ways[k].drops };
            cr_assert(stat(dump, &info) == 0);
            room_asked = 0;
            space = (uint64_t)info.st_size;
            cr_expect(hdx_strip_write(&o, &r, &err) == HDX_OK && room_asked == ways[k].asks, "%u: %s", k, err.message);
            space--;
            cr_expect(hdx_strip_write(&o, &r, &err) == (ways[k].asks ? HDX_LIMIT : HDX_OK), "%u: %s", k, err.message);
        }
    *io = was;
    test_folder_remove(folder);
}

Test(restore, refuses_by_what_the_dump_is)
{
    static const struct {
        hdx_strip_policy policy;
        const char      *message, *hint;
    } refused[] = {
        { HDX_STRIP_NONE, "nothing to restore: this dump was not stripped", "heapdex detect shows what it is" },
        { HDX_STRIP_SHARK, "nothing to restore: the dropped or overwritten data is not in the file",
          "index the dump without restoring it: heapdex index" },
        { HDX_STRIP_REDACTED, "nothing to restore: the dropped or overwritten data is not in the file",
          "heapdex detect shows what it is" },
    };
    for (unsigned k = 0; k < 3; k++) {
        hdx_strip_report r;
        hdx_error        err = { 0 };
        files(k == 0 ? HDX_STRIP_SHARK : refused[k].policy, false);
        cr_expect(restore_to(k == 0 ? dump : stripped, back, &r, &err) == HDX_BAD_DUMP);
        cr_expect_str_eq(err.message, refused[k].message);
        cr_expect_str_eq(err.hint, refused[k].hint);
        cr_expect(access(back, F_OK) != 0 && r.damage_at == HDX_NOWHERE);
        cr_expect(restore_to(k == 0 ? dump : stripped, back, &r, NULL) == HDX_BAD_DUMP, "nobody wants words");
        test_folder_remove(folder);
    }
    hdx_strip_report r;
    hdx_error        err = { 0 };
    (void)begun();
    dump_maker_save_bytes(path, "this is no dump at all, is it? no, it is not", 44);
    (void)snprintf(back, sizeof back, "%.*s/c.hprof", TEST_FOLDER, folder);
    cr_expect(restore_to(path, back, &r, &err) == HDX_BAD_DUMP && strcmp(err.where, path) == 0 &&
                  strstr(err.message, "restore") == NULL,
              "%s: %s", err.where, err.message);
    test_folder_remove(folder);
}

Test(restore, is_not_written_onto_the_dump_or_a_folder_or_nothing)
{
    hdx_strip_report r;
    hdx_error        err = { 0 };
    char             link_path[64];
    files(HDX_STRIP_KOOM, false);
    (void)snprintf(link_path, sizeof link_path, "%.*s/link", TEST_FOLDER, folder);
    cr_assert(symlink(stripped, link_path) == 0);
    cr_expect(restore_to(stripped, stripped, &r, &err) == HDX_USAGE && strstr(err.message, "is the dump itself"));
    cr_expect(restore_to(stripped, link_path, &r, &err) == HDX_USAGE && strstr(err.message, "is the dump itself"));
    cr_expect(restore_to(stripped, folder, &r, &err) == HDX_USAGE && strstr(err.message, "is a folder"));
    cr_expect(restore_to(stripped, "", &r, &err) == HDX_USAGE && strstr(err.message, "no output file is named"));
    cr_expect(restore_to(stripped, NULL, &r, &err) == HDX_USAGE && strstr(err.message, "no output file is named"));
    cr_expect(restore_to("/nothing/at/all", dump, &r, &err) == HDX_BAD_DUMP || err.code == HDX_IO);
    cr_expect(restore_to(stripped, dump, &r, &err) == HDX_OK, "what stood there is replaced: %s", err.message);
    test_folder_remove(folder);
}

Test(restore, packs_what_ends_so)
{
    cr_expect(hdx_strip_packs("a.gz") && hdx_strip_packs("x/y.hprof.gz") && !hdx_strip_packs(".gz") &&
              !hdx_strip_packs("gz") && !hdx_strip_packs("") && !hdx_strip_packs("a.gzz") && !hdx_strip_packs("agz"));
}

/* A compressed file whose end is missing is restored as far as it goes; one whose sum alone is wrong is whole. */
Test(restore, says_that_a_container_ends_early)
{
    for (unsigned k = 0; k < 3; k++) {
        hdx_strip_report r;
        hdx_error        err = { 0 };
        char             command[300];
        files(HDX_STRIP_TAILOR, true);
        (void)snprintf(command, sizeof command, "gzip -1 <'%s' >'%s'", stripped, packed);
        cr_assert(system(command) == 0);
        bytes b = slurp(packed);
        if (k == 1)
            b.at[b.len - 8] ^= 1; /* its CRC-32 */
        if (k == 2)
            b.len -= 4; /* its length */
        dump_maker_save_bytes(packed, b.at, b.len);
        free(b.at);
        cr_expect(restore_to(packed, back, &r, &err) == HDX_OK, "%u: %s", k, err.message);
        cr_expect(r.truncated == (k == 2) && r.damage_at == HDX_NOWHERE && r.policy == HDX_STRIP_TAILOR, "%u", k);
        const hdx_strip_options o = { .dump = packed, .output = dump, .policy = HDX_STRIP_SHARK };
        cr_expect(hdx_strip_write(&o, &r, &err) == (k == 0 ? HDX_OK : HDX_BAD_DUMP), "a damaged one is not stripped");
        test_folder_remove(folder);
    }
}

/* ---- records over 4 GiB ---- */

static top top_of(uint8_t tag, uint32_t stated, uint64_t behind, const uint8_t *then)
{
    over      o;
    hdx_error err = { 0 };
    uint8_t   some[64] = { 0 };
    top       t = { .end = 0 };
    bool      more = false;
    some[31] = tag;
    some[36] = (uint8_t)(stated >> 24);
    some[37] = (uint8_t)(stated >> 16);
    some[38] = (uint8_t)(stated >> 8);
    some[39] = (uint8_t)stated;
    over_open(&o, some, 40, 64);
    hdx_source_close(o.source);
    FILE *f = fopen(o.path, "r+b");
    cr_assert(f != NULL && ftruncate(fileno(f), (off_t)(40 + behind)) == 0);
    if (then != NULL)
        cr_assert(fseek(f, 40 + (long)stated, SEEK_SET) == 0 && fwrite(then, 1, 9, f) == 9);
    cr_assert(fclose(f) == 0);
    cr_assert(hdx_source_open(o.path, NULL, &o.source, &err) == HDX_OK, "%s", err.message);
    o.r.source = o.source;
    o.r.below = false;
    cr_assert(hdx_strip_top_at(&o.r, 4, 31, &t, &more, &err) == HDX_OK && more, "%s", err.message);
    cr_expect(t.pos == 31 && t.tag == tag && t.stated == stated);
    over_close(&o);
    return t;
}

Test(top, of_more_than_4_gib_ends_where_the_file_does)
{
    static const uint8_t record[9] = { HDX_TOP_HEAP_DUMP_SEGMENT };
    const uint64_t       wrap = 1ull << 32;
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 100, NULL).end == 40 + wrap + 100);
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 100 + 9, NULL).end == 40 + wrap + 100, "an end record is behind");
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, 2 * wrap + 100, NULL).end == 40 + 2 * wrap + 100);
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 0, wrap, NULL).end == 40 + wrap);
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 101, NULL).end == 140, "no multiple");
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 100 + 10, NULL).end == 140);
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 99, NULL).end == 140);
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, wrap + 100, record).end == 140, "a record is behind");
    cr_expect(top_of(HDX_TOP_HEAP_DUMP_SEGMENT, 100, wrap + 100, NULL).end == 140, "segments are short");
    cr_expect(top_of(HDX_TOP_HEAP_DUMP, 100, 100, NULL).end == 140);
}
