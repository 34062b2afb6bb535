/* test_rebuild.c - indexes that a batch builds again: damaged ones, all of them, and none whose dump was deleted. */
#include "batch/three_dumps.h"

TestSuite(batch, .init = enter, .fini = leave);

static char last_hint[256];

static void note_hint(void *context, const hdx_batch_event *e)
{
    (void)context;
    if (e->what == HDX_BATCH_FAILED)
        (void)snprintf(last_hint, sizeof last_hint, "%s", e->hint != NULL ? e->hint : "");
}

/* One bit in the middle of a file; what opens the index does not read it. */
static void flip(const char *path)
{
    size_t len;
    char  *bytes = load(path, &len);
    cr_assert(len > 0, "%s", path);
    bytes[len / 2] = (char)(bytes[len / 2] ^ 0x10);
    save(path, bytes, len);
    free(bytes);
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    cr_assert(stat(path, &st) == 0, "%s", path);
    return st.st_ino;
}

/* Two whole dumps with indexes, the first of which is damaged. */
static hdx_batch_options after_damage(const char *file)
{
    hdx_batch_options o = usual_options();
    char              path[256];
    cr_assert(unlink("d/text.hprof") == 0 && unlink("d/cut.hprof.gz") == 0);
    copy(BOOKSHOP, "d/other.hprof.gz");
    o.ask = NULL;
    o.happened = note_hint;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 0);
    (void)snprintf(path, sizeof path, "d/shop.hprof.gz.hdx/%s", file);
    flip(path);
    return o;
}

Test(batch, names_the_way_on_where_an_index_is_damaged_and_builds_only_that_one_again)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       sound = inode_of("d/other.hprof.gz.hdx"), damaged = inode_of("d/shop.hprof.gz.hdx");
    o.ask = "suspects";
    for (int again = 0; again < 2; again++) { /* unasked it is not built again */
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(again == 0, again, 1);
        cr_expect(ne(ptr, (void *)strstr(text.at, ",failed,5,"), NULL), "%s", text.at);
        cr_expect(ne(ptr, strstr(last_hint, "--rebuild damaged"), NULL), "%s", last_hint);
    }
    o.rebuild = HDX_BATCH_REBUILD_DAMAGED;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(1, 1, 0);
    cr_expect(inode_of("d/other.hprof.gz.hdx") == sound, "it is sound");
    cr_expect(inode_of("d/shop.hprof.gz.hdx") != damaged, "it was damaged");
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(0, 2, 0);
}

Test(batch, builds_a_damaged_index_again_of_a_dump_that_was_finished)
{
    static const char *const files[] = { "dominator.hdx", "position.hdx", "catalog.mdb" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        hdx_batch_options o = i == 0 ? after_damage(files[i]) : usual_options();
        char              path[256];
        o.ask = NULL;
        (void)snprintf(path, sizeof path, "d/shop.hprof.gz.hdx/%s", files[i]);
        if (i > 0)
            flip(path);
        o.rebuild = HDX_BATCH_REBUILD_DAMAGED;
        o.plan = true;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(1, 1, 0); /* planned, as the other one is finished */
        o.plan = false;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(1, 1, 0);
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 2, 0);
    }
}

Test(batch, builds_all_indexes_again_where_that_is_asked_for)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       a = inode_of("d/other.hprof.gz.hdx"), b = inode_of("d/shop.hprof.gz.hdx");
    o.rebuild = HDX_BATCH_REBUILD_ALL;
    o.index_only = true;
    cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
    expect_counts(2, 0, 0);
    cr_expect(inode_of("d/other.hprof.gz.hdx") != a && inode_of("d/shop.hprof.gz.hdx") != b);
}

Test(batch, never_builds_an_index_again_whose_dump_was_deleted)
{
    hdx_batch_options o = after_damage("dominator.hdx");
    const ino_t       only = inode_of("d/shop.hprof.gz.hdx");
    cr_assert(unlink("d/shop.hprof.gz") == 0);
    save("list.csv", "dump\nd/shop.hprof.gz\n", 21);
    input = "list.csv";
    o.ask = "suspects";
    for (int which = HDX_BATCH_REBUILD_DAMAGED; which <= HDX_BATCH_REBUILD_ALL; which++) {
        o.rebuild = (hdx_batch_rebuild)which;
        cr_assert(eq(int, (int)go(&o), HDX_OK), "%s", err.message);
        expect_counts(0, 0, 1);
        cr_expect(ne(ptr, strstr(last_hint, "was deleted"), NULL), "%s", last_hint);
        cr_expect(inode_of("d/shop.hprof.gz.hdx") == only, "it is all that is left");
    }
}
