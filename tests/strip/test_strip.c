/*
 * test_strip.c - stripping and restoring a made dump by every policy, ids of both widths, plain and packed; what is
 * refused leaves nothing.
 */
#include "android_dump.h"
#include "strip/inside.h"

#include <errno.h>
#include <zlib.h>

static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_KOOM, HDX_STRIP_TAILOR, HDX_STRIP_SHARK,
                                             HDX_STRIP_REDACTED };

static uint64_t dropped(const hdx_strip_report *r, const char *kind)
{
    for (unsigned i = 0; i < r->kind_count; i++)
        if (strcmp(r->kinds[i].record, kind) == 0)
            return r->kinds[i].dropped;
    return 0;
}

Test(strip, every_policy_is_recognised_in_what_it_wrote)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4)
        for (unsigned k = 0; k < 5; k++) {
            place            p = place_new();
            const char      *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof");
            hdx_strip_report r;
            hdx_error        err = { 0 };
            dump_maker      *m = android_dump_new(ids, false);
            dump_maker_save(m, dump);
            cr_expect(policy_of_file(dump) == HDX_STRIP_NONE);
            const hdx_code code = strip_to(dump, policies[k], out, &r, &err);
            if (ids == 8 && policies[k] == HDX_STRIP_TAILOR) {
                cr_expect(code == HDX_BAD_DUMP && access(out, F_OK) != 0,
                          "its container has no room for ids of 8 bytes");
            } else {
                cr_assert(code == HDX_OK, "%s: %s", hdx_strip_name(policies[k]), err.message);
                /* Matrix shows by what is absent from hundreds of objects, which this dump has not */
                cr_expect(policies[k] == HDX_STRIP_MATRIX || policy_of_file(out) == policies[k], "%s: %s",
                          hdx_strip_name(policies[k]), hdx_strip_name(policy_of_file(out)));
            }
            dump_maker_free(m);
            place_remove(&p);
        }
}

Test(strip, koom_drops_shared_heaps_and_cuts_contents_and_restoring_fills_in_zeros)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4) {
        place       p = place_new();
        const char *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof"),
                   *back = place_path(&p, "c.hprof"), *again = place_path(&p, "d.hprof");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(ids, false);
        dump_maker_save(m, dump);
        cr_assert(strip_to(dump, HDX_STRIP_KOOM, out, &r, &err) == HDX_OK, "%s", err.message);
        cr_expect(dropped(&r, "INSTANCE_DUMP") == 2 && dropped(&r, "PRIMITIVE_ARRAY_DUMP") == 3 &&
                  dropped(&r, "HEAP_DUMP_INFO") == 2 && dropped(&r, "OBJECT_ARRAY_DUMP") == 1 &&
                  dropped(&r, "CLASS_DUMP") == 0);
        cr_assert(restore_to(out, back, &r, &err) == HDX_OK, "%s", err.message);
        cr_expect(r.policy == HDX_STRIP_KOOM && r.absent_bytes > 0 && !r.truncated);
        cr_expect(policy_of_file(back) == HDX_STRIP_KOOM, "a restored dump still says what it went through");
        cr_expect(restore_to(back, again, &r, &err) == HDX_BAD_DUMP && access(again, F_OK) != 0,
                  "and is not restored twice");
        bytes a = slurp(out), b = slurp(back);
        cr_expect(b.len - a.len == r.absent_bytes || b.len > a.len);
        cr_expect(!contains(b, "secret") && !contains(b, "zygote text"));
        free(a.at);
        free(b.at);
        dump_maker_free(m);
        place_remove(&p);
    }
}

Test(strip, tailor_and_back_gives_all_but_serials_and_contents)
{
    place       p = place_new();
    const char *dump = place_path(&p, "a.hprof"), *zlib = place_path(&p, "b.tailor"), *raw = place_path(&p, "c.tailor"),
               *gz = place_path(&p, "d.gz");
    const char *one = place_path(&p, "e.hprof"), *two = place_path(&p, "f.hprof"), *three = place_path(&p, "g.hprof");
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = android_dump_new(4, false);
    dump_maker_save(m, dump);
    cr_assert(strip_to(dump, HDX_STRIP_TAILOR, zlib, &r, &err) == HDX_OK, "%s", err.message);
    cr_assert(strip_to(dump, HDX_STRIP_TAILOR, gz, &r, &err) == HDX_OK, "%s", err.message);
    const hdx_strip_options plain = { .dump = dump, .output = raw, .policy = HDX_STRIP_TAILOR, .plain = true };
    cr_assert(hdx_strip_write(&plain, &r, &err) == HDX_OK, "%s", err.message);
    cr_assert(restore_to(zlib, one, &r, &err) == HDX_OK && restore_to(raw, two, &r, &err) == HDX_OK &&
                  restore_to(gz, three, &r, &err) == HDX_OK,
              "%s", err.message);
    bytes a = slurp(one), b = slurp(two), c = slurp(three), packed = slurp(zlib), container = slurp(raw);
    cr_expect(same(a, b) && same(a, c));
    cr_expect(packed.at[0] == 0x78 && packed.at[1] == 0x01 && memcmp(container.at, "JAVA PROFILE 6.0.1", 18) == 0);
    cr_expect(policy_of_file(one) == HDX_STRIP_TAILOR);
    free(a.at), free(b.at), free(c.at), free(packed.at), free(container.at);
    dump_maker_free(m);
    place_remove(&p);
}

Test(strip, tailor_refuses_by_name_what_its_container_cannot_hold)
{
    for (unsigned k = 0; k < 4; k++) {
        place            p = place_new();
        const char      *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.tailor");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(4, false);
        static char      long_text[70000];
        memset(long_text, 'x', sizeof long_text);
        if (k == 0)
            dump_maker_root(m, HDX_SUB_UNREACHABLE, 0x1000, 0, 0);
        else if (k == 1)
            dump_maker_top(m, HDX_TOP_STRING, long_text, 65536);
        else if (k == 2)
            m->tables_last = true;
        else {
            const uint8_t nodata[] = { HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 4, 8 };
            dump_maker_raw(m, nodata, sizeof nodata);
        }
        dump_maker_save(m, dump);
        cr_expect(strip_to(dump, HDX_STRIP_TAILOR, out, &r, &err) == HDX_BAD_DUMP, "%u", k);
        cr_expect(strstr(err.message, "container cannot hold") != NULL, "%u: %s", k, err.message);
        cr_expect(err.offset != HDX_NOWHERE && access(out, F_OK) != 0);
        dump_maker_free(m);
        place_remove(&p);
    }
}

Test(strip, matrix_keeps_texts_and_one_of_equal_bitmaps_with_dots_and_slashes)
{
    for (unsigned slashes = 0; slashes < 2; slashes++) {
        place       p = place_new();
        const char *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof"),
                   *all = place_path(&p, "c.hprof"), *none = place_path(&p, "d.hprof");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(slashes ? 8 : 4, slashes == 1);
        dump_maker_save(m, dump);
        cr_assert(strip_to(dump, HDX_STRIP_MATRIX, out, &r, &err) == HDX_OK, "%s", err.message);
        cr_expect(r.merged == 2, "three are equal: %llu", (unsigned long long)r.merged);
        cr_expect(dropped(&r, "PRIMITIVE_ARRAY_DUMP") == 1 + 32 + 5, "%llu",
                  (unsigned long long)dropped(&r, "PRIMITIVE_ARRAY_DUMP"));
        const hdx_strip_options o = { .dump = dump, .output = all, .policy = HDX_STRIP_MATRIX, .keep_bitmaps = true };
        cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK);
        cr_expect(dropped(&r, "PRIMITIVE_ARRAY_DUMP") == 1 + 32 + 3, "the recycled one and the two merged ones: %llu",
                  (unsigned long long)dropped(&r, "PRIMITIVE_ARRAY_DUMP"));
        bytes b = slurp(out);
        cr_expect(contains(b, "secret text of a user") && contains(b, "app.Gr\303\266\303\237e\346\227\245"));
        cr_expect(restore_to(out, none, &r, &err) == HDX_BAD_DUMP && access(none, F_OK) != 0, "nothing to restore");
        free(b.at);
        dump_maker_free(m);
        place_remove(&p);
    }
}

/* M5: equal bytes are not equal pixels where type or count differ. */
Test(strip, bitmaps_are_merged_by_type_count_and_bytes)
{
    place            p = place_new();
    const char      *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof");
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = dump_maker_new(4);
    const uint64_t   object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t   bitmap = dump_maker_class(m, "android.graphics.Bitmap", object, "mBuffer:L");
    const uint64_t   buffers[] = { dump_maker_primitives(m, 'B', NULL, 64), dump_maker_primitives(m, 'I', NULL, 16),
                                   dump_maker_primitives(m, 'B', NULL, 63), dump_maker_primitives(m, 'Z', NULL, 64),
                                   dump_maker_primitives(m, 'B', NULL, 64) };
    for (unsigned k = 0; k < 5; k++)
        (void)dump_maker_instance(m, bitmap, DUMP_VALUES(buffers[k]));
    dump_maker_save(m, dump);
    cr_assert(strip_to(dump, HDX_STRIP_MATRIX, out, &r, &err) == HDX_OK, "%s", err.message);
    cr_expect(r.merged == 1 && dropped(&r, "PRIMITIVE_ARRAY_DUMP") == 4, "%llu merged", (unsigned long long)r.merged);
    dump_maker_free(m);
    place_remove(&p);
}

Test(strip, redaction_leaves_no_secret_and_proves_the_rest)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4) {
        place       p = place_new();
        const char *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof"),
                   *mapped = place_path(&p, "c.hprof");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(ids, ids == 8);
        (void)dump_maker_name(m, "a constant of the code: password1");
        dump_maker_save(m, dump);
        cr_assert(strip_to(dump, HDX_STRIP_REDACTED, out, &r, &err) == HDX_OK, "%s", err.message);
        cr_expect(r.graph_in == r.graph_out && r.graph_in != 0 && r.records_in == r.records_out &&
                  r.plain_in == r.plain_out);
        bytes a = slurp(dump), b = slurp(out);
        cr_expect(a.len == b.len && !contains(b, "secret") && !contains(b, "zygote text") &&
                  !contains(b, "password1") && contains(a, "password1"));
        cr_expect(contains(b, "app.Gr\303\266\303\237e\346\227\245") && contains(b, "schl\303\274ssel"), "names stay");
        cr_expect(!contains(b, "\x0f\x42\x43"), "1000003 was in a box");
        const hdx_strip_options o = { .dump = dump, .output = mapped, .policy = HDX_STRIP_REDACTED, .map_names = true };
        cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
        bytes c = slurp(mapped);
        cr_expect(c.len == a.len && !contains(c, "app.Gr") && !contains(c, "schl\303\274ssel"));
        cr_expect(contains(c, ids == 8 ? "java/lang/String" : "java.lang.String") && contains(c, "mBuffer") &&
                      contains(c, "zygote"),
                  "of the platform");
        cr_expect(r.graph_in == r.graph_out);
        free(a.at), free(b.at), free(c.at);
        dump_maker_free(m);
        place_remove(&p);
    }
}

Test(strip, classes_may_be_kept_and_dropped_by_name)
{
    place             p = place_new();
    const char       *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof");
    const char *const keep[] = { "byte[]", "java.lang.Int*" }, *const drop[] = { "app.Gr*" };
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = android_dump_new(4, false);
    dump_maker_save(m, dump);
    hdx_strip_options o = { .dump = dump,
                            .output = out,
                            .policy = HDX_STRIP_SHARK,
                            .keep_classes = keep,
                            .keep_count = 2,
                            .drop_classes = drop,
                            .drop_count = 1 };
    cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
    bytes b = slurp(out);
    cr_expect(contains(b, "secret text") && contains(b, "\x0f\x42\x43"), "contents of byte[] and boxed ints stay");
    cr_expect(dropped(&r, "INSTANCE_DUMP") == 32, "%llu", (unsigned long long)dropped(&r, "INSTANCE_DUMP"));
    cr_expect(policy_of_file(out) == HDX_STRIP_NONE);
    o.policy = HDX_STRIP_REDACTED;
    cr_expect(hdx_strip_write(&o, &r, &err) == HDX_USAGE, "redaction drops nothing");
    free(b.at);
    dump_maker_free(m);
    place_remove(&p);
}

Test(strip, packed_in_and_out_is_the_same_dump)
{
    place       p = place_new();
    const char *dump = place_path(&p, "a.hprof"), *plain = place_path(&p, "b.hprof"),
               *gz = place_path(&p, "c.hprof.gz"), *twice = place_path(&p, "d.hprof");
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = android_dump_new(4, false);
    dump_maker_save(m, dump);
    cr_assert(strip_to(dump, HDX_STRIP_SHARK, plain, &r, &err) == HDX_OK &&
                  strip_to(dump, HDX_STRIP_SHARK, gz, &r, &err) == HDX_OK,
              "%s", err.message);
    cr_expect(r.bytes_out < r.plain_out);
    cr_assert(strip_to(gz, HDX_STRIP_SHARK, twice, &r, &err) == HDX_OK, "%s", err.message);
    bytes a = slurp(plain), b = slurp(twice);
    cr_expect(same(a, b), "unpacked, and stripped again without a change");
    free(a.at), free(b.at);
    dump_maker_free(m);
    place_remove(&p);
}

Test(strip, a_damaged_dump_is_refused_with_the_place_and_nothing_stays)
{
    place          p = place_new();
    const char    *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof");
    dump_maker    *m = android_dump_new(4, false);
    size_t         len;
    const uint8_t *whole = dump_maker_bytes(m, &len);
    for (size_t cut = 40; cut < len; cut += 97)
        for (unsigned k = 0; k < 5; k++) {
            hdx_strip_report r;
            hdx_error        err = { 0 };
            dump_maker_save_bytes(dump, whole, cut);
            const hdx_code code = strip_to(dump, policies[k], out, &r, &err);
            if (code == HDX_OK) { /* the cut was between two records */
                cr_assert(unlink(out) == 0);
                continue;
            }
            cr_expect(code == HDX_BAD_DUMP && err.offset != HDX_NOWHERE && err.offset <= cut, "cut at %zu: %s", cut,
                      err.message);
            cr_expect(access(out, F_OK) != 0);
        }
    DIR     *folder = opendir(p.folder);
    unsigned files = 0;
    for (struct dirent *e; (e = readdir(folder)) != NULL;)
        files += e->d_name[0] != '.';
    (void)closedir(folder);
    cr_expect(files == 1, "no half file stays: %u", files);
    dump_maker_free(m);
    place_remove(&p);
}

Test(strip, what_is_no_output_is_refused_before_anything_is_read)
{
    place            p = place_new();
    const char      *dump = place_path(&p, "a.hprof");
    char             nowhere[160];
    hdx_strip_report r;
    hdx_error        err = { 0 };
    dump_maker      *m = android_dump_new(4, false);
    dump_maker_save(m, dump);
    (void)snprintf(nowhere, sizeof nowhere, "%s/nothing/b.hprof", p.folder);
    cr_expect(strip_to(dump, HDX_STRIP_KOOM, dump, &r, &err) == HDX_USAGE, "onto itself");
    cr_expect(strip_to(dump, HDX_STRIP_KOOM, p.folder, &r, &err) == HDX_USAGE, "a folder");
    cr_expect(strip_to(dump, HDX_STRIP_KOOM, nowhere, &r, &err) == HDX_IO);
    cr_expect(strip_to(dump, HDX_STRIP_NONE, "/tmp/x", &r, &err) == HDX_USAGE);
    cr_expect(strip_to(nowhere, HDX_STRIP_KOOM, "/tmp/x", &r, &err) == HDX_BAD_DUMP);
    dump_maker_free(m);
    place_remove(&p);
}

/* STRIP 3: what a cut file has is restored, and it is said. */
Test(restore, a_file_that_ends_early_gives_what_it_has)
{
    for (unsigned k = 0; k < 2; k++) {
        place       p = place_new();
        const char *dump = place_path(&p, "a.hprof"), *out = place_path(&p, "b.hprof"),
                   *cut = place_path(&p, "c.hprof"), *back = place_path(&p, "d.hprof");
        hdx_strip_report r;
        hdx_error        err = { 0 };
        dump_maker      *m = android_dump_new(4, false);
        dump_maker_save(m, dump);
        const hdx_strip_options o = {
            .dump = dump, .output = out, .policy = k == 0 ? HDX_STRIP_KOOM : HDX_STRIP_TAILOR, .plain = true
        };
        cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
        bytes    whole = slurp(out);
        unsigned restored = 0, unclear = 0;
        for (size_t n = whole.len - 20; n > whole.len - 900; n -= 41) {
            dump_maker_save_bytes(cut, whole.at, n);
            const hdx_code code = restore_to(cut, back, &r, &err);
            if (code == HDX_BAD_DUMP &&
                k == 0) { /* so little is left that both readings end with the file: nobody can tell what it is */
                unclear++;
                continue;
            }
            cr_assert(code == HDX_OK, "%zu: %s", n, err.message);
            restored += r.truncated;
            /* what came out is a sound dump: it can be stripped again, which takes no damage */
            hdx_strip_report again;
            cr_expect(strip_to(back, HDX_STRIP_REDACTED, out, &again, &err) == HDX_OK, "%zu: %s", n, err.message);
        }
        cr_expect(restored > 10 && unclear < 8, "%u restored, %u unclear", restored, unclear);
        free(whole.at);
        dump_maker_free(m);
        place_remove(&p);
    }
}

static uint64_t space_left;
static char     asked_of[128];
static int      tell_space(hdx_io *io, const char *path, uint64_t *bytes)
{
    (void)io;
    (void)snprintf(asked_of, sizeof asked_of, "%s", path);
    *bytes = space_left;
    return space_left == 7 ? -ENOSYS : 0;
}

Test(strip, room_on_disk_is_asked_of_the_folder_and_the_last_byte_counts)
{
    static const struct {
        uint64_t    left;
        const char *path, *folder;
        hdx_code    code;
    } each[] = {
        { 999, "a/b/c.hprof", "a/b", HDX_LIMIT },
        { 1000, "c.hprof", ".", HDX_OK },
        { 999, "/c.hprof", "/", HDX_LIMIT },
        { 7, "c.hprof", ".", HDX_OK },
    };
    hdx_io io = *hdx_io_system();
    io.space = tell_space;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        hdx_error err = { 0 };
        space_left = each[i].left;
        cr_expect(hdx_strip_sink_room(&io, each[i].path, 1000, &err) == each[i].code, "%zu", i);
        cr_expect_str_eq(asked_of, each[i].folder);
        cr_expect(each[i].code == HDX_OK || strstr(err.hint, "free space") != NULL, "%s", err.hint);
    }
}
