/*
 * test_told.c - what sessions say of dumps that are odd: damaged, stripped, packed, watched, several, without their
 * dump; refusals with all their words. told.txt has the checksums (support/checksums.h).
 *
 * A line names a session, a format, an answer and its arguments (asks.h). Every session has its dumps and its index
 * in the present folder, so that no path differs.
 */
#include "answer/asks.h"
#include "strip/android_dump.h"
#include "support/checksums.h"
#include "support/gzip_maker.h"

#include <errno.h>
#include <sys/stat.h>

/*
 *     Holder.first  -> Node.next -> Screen 1 (watched)           Holder.second -> Screen 2 (watched)
 *     nobody        -> Screen 3 (watched)                         Screen 4 is watched and not retained yet
 */
static void watched(const char *path, bool second)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java/lang/String", object, "value:L coder:B hash:I");
    const uint64_t reference = dump_maker_class(m, "java/lang/ref/Reference", object, "referent:L queue:L");
    const uint64_t weak = dump_maker_class(m, "java/lang/ref/WeakReference", reference, "");
    dump_maker_static(m, "heapDumpUptimeMillis", 'J', 30000);
    const uint64_t keyed = dump_maker_class(m, "leakcanary/KeyedWeakReference", weak,
                                            "key:L description:L watchUptimeMillis:J retainedUptimeMillis:J");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    const uint64_t screen = dump_maker_class(m, "app/Screen", object, "closed:Z");
    uint64_t       screens[4];
    for (unsigned i = 0; i < 4; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "key-%u", i + 1);
        screens[i] = dump_maker_instance(m, screen, DUMP_VALUES(i < 2));
        (void)dump_maker_instance(m, keyed,
                                  DUMP_VALUES(dump_maker_string(m, string, key),
                                              dump_maker_string(m, string, "it was closed"), 10000u + 10000u * (i == 1),
                                              i == 3 ? UINT64_MAX : 25000, screens[i], 0));
    }
    dump_maker_static(m, "first", 'L', dump_maker_instance(m, node, DUMP_VALUES(screens[0])));
    if (second)
        dump_maker_static(m, "second", 'L', screens[1]);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app/Holder", object, ""), 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

/* Two dumps in a file; of the first some objects have id 0. */
static void damaged(const char *path, unsigned times)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    for (unsigned i = 0; i < times; i++)
        (void)dump_maker_instance_at(m, 0, node, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_instance(m, node, DUMP_VALUES(0)), 0, 0);
    dump_maker_end(m);
    (void)dump_maker_instance(m, node, DUMP_VALUES(0));
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void packed(const char *from, const char *to)
{
    bytes    all = slurp(from);
    gm_bytes out = { 0 };
    gm_zlib_put(&out, all.at, all.len, 6);
    dump_maker_save_bytes(to, out.at, out.len);
    gm_free(&out);
    free(all.at);
}

/* The first `keep` bytes, and the one at `harm` another (SIZE_MAX: none). */
static void harmed(const char *from, const char *to, double keep, size_t harm)
{
    bytes all = slurp(from);
    if (harm < all.len)
        all.at[harm] ^= 0xff;
    dump_maker_save_bytes(to, all.at, (size_t)(keep * (double)all.len));
    free(all.at);
}

static void put_text(const char *path, const char *text) { dump_maker_save_bytes(path, text, strlen(text)); }

static void make_android_dumps(void)
{
    static const struct {
        const char      *path;
        hdx_strip_policy policy;
    } each[] = { { "koom.hprof", HDX_STRIP_KOOM },
                 { "tailor.hprof", HDX_STRIP_TAILOR },
                 { "shark.hprof", HDX_STRIP_SHARK } };
    hdx_strip_report r;
    hdx_error        err;
    dump_maker      *m = android_dump_new(4, false);
    dump_maker_save(m, "droid.hprof");
    dump_maker_free(m);
    m = android_dump_new(8, false);
    dump_maker_save(m, "droid8.hprof");
    dump_maker_free(m);
    for (size_t i = 0; i < HDX_COUNT(each); i++) {
        const hdx_strip_options o = {
            .dump = "droid.hprof", .output = each[i].path, .policy = each[i].policy, .plain = true
        }; /* how long a compressed one is, the library that compresses it decides */
        cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
    }
    packed("droid.hprof", "droid.z");
    harmed("koom.hprof", "cut.hprof", 0.7, SIZE_MAX);
    harmed("koom.hprof", "harmed.hprof", 1, 3000);
}

/* ---- sessions ---- */

typedef struct spoken { /* a session, and what it noted */
    const char  *name;
    hdx_session *session;
} spoken;
static hdx_buffer *notes;

static void note(void *context, const char *line)
{
    (void)context;
    if (notes != NULL)
        hdx_buffer_format(notes, "note: %s\n", line);
}

static const struct {
    const char *name, *dump, *second, *index_dir;
    uint32_t    number;
    bool        no_build;
} sessions[] = {
    { "watched", "a.hprof", NULL, NULL, 0, false },
    { "both", "a.hprof", "b.hprof", NULL, 0, false },
    { "three", "a.hprof", "a.hprof", NULL, 0, false },
    { "apart", "a.hprof", NULL, "apart.hdx", 0, false },
    { "both_apart", "a.hprof", "b.hprof", "apart.hdx", 0, false },
    { "alone", "alone.hdx", NULL, NULL, 0, false },
    { "damaged", "damaged.hprof", NULL, NULL, 0, false },
    { "much", "much.hprof", NULL, NULL, 0, false },
    { "second", "damaged.hprof", NULL, "second.hdx", 2, false },
    { "droid", "droid.hprof", NULL, NULL, 0, false },
    { "droid8", "droid8.hprof", NULL, NULL, 0, false },
    { "zlib", "droid.z", NULL, NULL, 0, false },
    { "koom", "koom.hprof", NULL, NULL, 0, false },
    { "tailor", "tailor.hprof", NULL, NULL, 0, false },
    { "shark", "shark.hprof", NULL, NULL, 0, false },
    { "cut", "cut.hprof", NULL, NULL, 0, false },
    { "harmed", "harmed.hprof", NULL, NULL, 0, false },
    { "none", "none.hprof", NULL, NULL, 0, false },
    { "unbuilt", "b.hprof", NULL, "nowhere.hdx", 0, true },
    { "shop", "app.hprof.gz", NULL, NULL, 0, false },
};
static spoken open_ones[HDX_COUNT(sessions)];

static hdx_session *session_named(const char *name, size_t len)
{
    hdx_error err;
    for (size_t i = 0; i < HDX_COUNT(sessions); i++) {
        if (strlen(sessions[i].name) != len || memcmp(sessions[i].name, name, len) != 0)
            continue;
        const hdx_index_options options = { .dump = sessions[i].dump,
                                            .index_dir = sessions[i].index_dir,
                                            .dump_number = sessions[i].number,
                                            .no_build = sessions[i].no_build,
                                            .threads = 1,
                                            .notice = note };
        if (open_ones[i].session != NULL)
            return open_ones[i].session;
        cr_assert(hdx_session_open(&options, &open_ones[i].session, &err) == HDX_OK, "%s", err.message);
        cr_assert(sessions[i].second == NULL ||
                  hdx_session_add(open_ones[i].session, sessions[i].second, &err) == HDX_OK);
        return open_ones[i].session;
    }
    cr_assert(false, "no session %.*s", (int)len, name);
    return NULL;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    const size_t len = strcspn(ask, " ");
    (void)context;
    notes = b;
    hdx_session *s = session_named(ask, len);
    (void)asked_text(s, ask + len + 1, b);
    notes = NULL;
    return b->len;
}

Test(told, is_what_it_was)
{
    char      folder[TEST_FOLDER], command[TEST_FOLDER + 256];
    hdx_error err;
    test_folder_make_fast(folder, "told");
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0 && chdir(folder) == 0);
    watched("a.hprof", true);
    watched("b.hprof", false);
    watched("c.hprof", true);
    damaged("damaged.hprof", 3);
    damaged("much.hprof", HDX_DAMAGE_MAX + 3);
    make_android_dumps();
    put_text("matchers.txt", "library instance-field app.Node#next the node keeps it\n");
    put_text("wrong.txt", "library\n");
    put_text("rules.txt", "leaking app.Screen closed = true it is closed\nlabel app.Node it is a node\n");
    put_text("mapping.txt", "com.acme.Panel -> app.Screen:\n    boolean shut -> closed\n");
    cr_assert(mkdir("folder", 0700) == 0);
    hdx_index_report        report;
    const hdx_index_options alone = { .dump = "c.hprof", .index_dir = "alone.hdx", .threads = 1 };
    cr_assert(hdx_index_build(&alone, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(unlink("c.hprof") == 0);
    checksums_check(HDX_TREE "/tests/answer/told.txt", text_of, NULL);
    for (size_t i = 0; i < HDX_COUNT(sessions); i++)
        hdx_session_close(open_ones[i].session);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
