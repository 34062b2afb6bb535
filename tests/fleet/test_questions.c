/*
 * test_questions.c - the questions of doc/fleet-questions.sql, put to a fleet whose answers are known: three dumps of a
 * shop, one after the other, and one of an app with a leak.
 */
#include "cli/leaky.h"
#include "fleet/written.h"
#include "hprof/hprof.h"

#define PAGE HDX_TREE "/doc/fleet-questions.sql"

/*
 * A shop at its n-th dump, from 1:
 *
 *     class shop.Sessions.all -> ArrayList -> Object[16 n] -> 10 n sessions, each with a byte[] of 100 n
 *     one lambda, then two, then twenty, of another name each time; shop.Fresh is there in the last dump alone
 *     three threads of the pool "worker-", and "main"
 *     shop.Plugin of n + 1 loaders, an object each
 *     "EUR" twice; in the second dump a byte[] that nobody holds
 *     `gone` objects of shop.Gone
 */
static void make_shop(unsigned n, unsigned gone, uint64_t time_ms, const char *path)
{
    dump_maker *m = dump_maker_new(8);
    char        name[64];
    uint64_t    sessions[64] = { 0 }, threads[4];
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t    string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    uint64_t    thread = dump_maker_class(m, "java.lang.Thread", object, "name:L");
    uint64_t    array = dump_maker_class(m, "[Ljava.lang.Object;", object, "");
    uint64_t    list = dump_maker_class(m, "java.util.ArrayList", object, "elementData:L size:I");
    uint64_t    session = dump_maker_class(m, "shop.Session", object, "data:L");
    uint64_t    lambda, loader = dump_maker_class(m, "shop.Loader", object, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "[B", object, "");
    for (unsigned i = 0; i < 10 * n; i++)
        sessions[i] = dump_maker_instance(m, session, DUMP_VALUES(dump_maker_primitives(m, 'B', NULL, 100 * n)));
    const uint64_t items = dump_maker_array(m, array, sessions, 16 * n);
    dump_maker_static(m, "all", 'L', dump_maker_instance(m, list, DUMP_VALUES(items, 10 * n)));
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "shop.Sessions", object, ""), 0, 0);
    (void)snprintf(name, sizeof name, "shop.Shop$$Lambda$%u/0x%x", n, 4096 * n);
    lambda = dump_maker_class(m, name, object, "");
    for (unsigned i = 0; i < (n == 3 ? 20 : n); i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, lambda, NULL), 0, 0);
    if (n == 3)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                        dump_maker_instance(m, dump_maker_class(m, "shop.Fresh", object, "a:J b:J"), NULL), 0, 0);
    for (unsigned i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, i < 3 ? "worker-%u" : "main", 10 * i);
        threads[i] = dump_maker_instance(m, thread, DUMP_VALUES(dump_maker_string(m, string, name)));
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, threads[i], i + 1, 0);
    }
    for (unsigned i = 0; i <= n; i++) {
        m->loader = dump_maker_instance(m, loader, NULL);
        const uint64_t plugin = dump_maker_class(m, "shop.Plugin", object, "");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, plugin, NULL), 0, 0);
    }
    for (unsigned i = 0; i < 2; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_string(m, string, "EUR"), 0, 0);
    if (n == 2)
        (void)dump_maker_primitives(m, 'B', NULL, 2000);
    if (gone > 0)
        lambda = dump_maker_class(m, "shop.Gone", object, "");
    for (unsigned i = 0; i < gone; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, lambda, NULL), 0, 0);
    m->time_ms = time_ms;
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void add_dump(fleet_test *t, const char *path, const char *id, const hdx_argument *manifest, size_t count)
{
    fleet_open(t, path, id);
    t->o.manifest = manifest;
    t->o.manifest_count = count;
    fleet_write(t, HDX_FLEET_SQLITE, id);
    hdx_session_close(t->s);
    t->s = NULL;
}

static void make_fleet(fleet_test *t)
{
    char path[128], id[16], time[16];
    fleet_begin(t, NULL);
    for (unsigned n = 1; n <= 3; n++) {
        const hdx_argument manifest[] = { { "application", "shop" }, { "time", time } };
        (void)snprintf(path, sizeof path, "%s/shop-%u.hprof", t->folder, n);
        (void)snprintf(id, sizeof id, "shop-%u", n);
        (void)snprintf(time, sizeof time, "2026-11-0%u", n);
        make_shop(n, 0, 0, path);
        add_dump(t, path, id, manifest, 2);
    }
    const hdx_argument manifest[] = { { "application", "app" }, { "time", "2026-11-09" } };
    (void)snprintf(path, sizeof path, "%s/app.hprof", t->folder);
    leaky_make(path, true);
    add_dump(t, path, "app", manifest, 2);
    const hdx_error failure = { .code = HDX_BAD_DUMP, .message = "no heap dump" };
    t->o.failure = &failure;
    t->o.manifest_count = 0;
    t->o.file = "notes.txt";
    fleet_write(t, HDX_FLEET_SQLITE, "notes");
}

static const char *const wants[] = {
    /* 1 */
    "shop|byte[]|2|20|8560|\n"
    "shop|shop.Session|2|20|480|\n"
    "shop|shop.Shop$$Lambda*|2|19|304|\n"
    "shop|shop.Loader|2|2|32|\n"
    "shop|shop.Plugin|2|2|32|\n"
    "shop|java.lang.Class|2|3|0|\n",
    /* 2 */
    "shop|(default package)|8560|\n"
    "shop|shop|880|\n"
    "shop|java.lang|256|\n",
    /* 3 */
    "shop|class shop.Sessions|1712|11008|\n"
    "shop|class shop.Sessions > java.util.ArrayList|1704|11000|\n"
    "shop|class shop.Sessions > java.util.ArrayList > java.lang.Object[]|1672|10968|\n"
    "shop|class shop.Sessions > java.util.ArrayList > java.lang.Object[] > shop.Session|1520|10560|\n"
    "shop|class shop.Sessions > java.util.ArrayList > java.lang.Object[] > shop.Session > byte[]|1280|9840|\n"
    "shop|shop.Shop$$Lambda*|16|320|\n"
    "shop|shop.Plugin|64|128|\n"
    "shop|shop.Fresh|0|32|\n"
    "shop|shop.Plugin > class shop.Plugin|32|64|\n"
    "shop|shop.Plugin > class shop.Plugin > shop.Loader|32|64|\n",
    /* 4 */
    "application|app.Screen|1|1|1|2026-11-09|\n"
    "application|app.Screen|1|1|1|2026-11-09|\n",
    /* 5 */
    "shop-3|shop|12000|2.03|\n",
    /* 6 */
    "shop|shop.Fresh|1|32|\n",
    /* 7 */
    "app|class app.Holder|class app.Holder|104|100.0|\n"
    "shop-3|class shop.Sessions|class shop.Sessions|11008|91.7|\n"
    "shop-2|class shop.Sessions|class shop.Sessions|5280|89.2|\n"
    "shop-1|class shop.Sessions|class shop.Sessions|1712|74.3|\n",
    /* 8 */
    "shop.Sessions|1|3|3|18000|\n"
    "java.lang.Thread|0|3|12|1104|\n"
    "java.lang.String|0|3|6|384|\n"
    "shop.Shop$$Lambda*|0|3|23|368|\n"
    "shop.Plugin|0|3|9|288|\n"
    "app.Holder|1|1|1|104|\n"
    "java.lang.ClassLoader|0|3|3|48|\n"
    "shop.Fresh|0|1|1|32|\n"
    "byte[]|1|3|3|0|\n"
    "java.lang.Class|1|3|3|0|\n",
    /* 9 */
    "shop-3|shop.Plugin|4|4|\n",
    /* 10 */
    "shop-1|worker-#|3|280|\n"
    "shop-2|worker-#|3|280|\n"
    "shop-3|worker-#|3|280|\n",
    /* 11 */
    "shop-3|NATIVE_STATIC|27|13.0|\n",
    /* 12 */
    "app|856|89.2|\n"
    "shop-2|2024|25.5|\n",
    /* 13 */
    "EUR|3|6|192|\n",
    /* 14 */
    "java.util.ArrayList|3|0|288|\n",
    /* 15 */
    "notes|failed||||bad_dump|no heap dump|\n",
};

static void expect_answer(sqlite3 *db, const char **text, unsigned number, const char *want)
{
    sqlite3_stmt *stmt;
    hdx_buffer    b = hdx_buffer_of(NULL);
    cr_assert(sqlite3_prepare_v2(db, *text, -1, &stmt, text) == SQLITE_OK, "%u: %s", number, sqlite3_errmsg(db));
    cr_assert(stmt != NULL, "%u", number);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *value = (const char *)sqlite3_column_text(stmt, i);
            hdx_buffer_format(&b, "%s|", value == NULL ? "" : value);
        }
        hdx_buffer_text(&b, "\n");
    }
    cr_expect(sqlite3_finalize(stmt) == SQLITE_OK, "%u: %s", number, sqlite3_errmsg(db));
    cr_expect(strcmp(b.at == NULL ? "" : b.at, want) == 0, "question %u:\n%s", number, b.at == NULL ? "" : b.at);
    hdx_buffer_free(&b);
}

Test(questions, have_their_answers)
{
    fleet_test  t;
    sqlite3    *db;
    uint64_t    len;
    char        path[256];
    char       *page = file_bytes(PAGE, &len);
    const char *at = page;
    unsigned    number = 0;
    make_fleet(&t);
    (void)snprintf(path, sizeof path, "%s/tables.sqlite", t.out);
    cr_assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    while (at[strspn(at, " \n")] != '\0') {
        number++;
        expect_answer(db, &at, number, number <= HDX_COUNT(wants) ? wants[number - 1] : "");
    }
    cr_expect(number == HDX_COUNT(wants), "%u questions", number);
    (void)sqlite3_close(db);
    free(page);
    fleet_end(&t);
}

/* ---- series that nobody said ---- */

/*
 * Four dumps of a shop without a manifest, named against the order in which they were written: shop.Gone has more
 * objects in each of the first three, and none in the last. After them one that was cut in the middle.
 */
static void make_unsaid(fleet_test *t)
{
    char path[128], id[16];
    fleet_begin(t, NULL);
    for (unsigned n = 1; n <= 5; n++) {
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/shop-%u.hprof", t->folder, 9 - n);
        (void)snprintf(id, sizeof id, "shop-%u", 9 - n);
        make_shop(n <= 4 ? n : 4, n <= 3 ? n : 0, 1700000000000u + 3600000u * n, path);
        cr_assert(n <= 4 || (stat(path, &st) == 0 && truncate(path, st.st_size / 2) == 0));
        add_dump(t, path, id, NULL, 0);
    }
}

/* Of the questions that are about series; NULL: of another one. */
static const char *unsaid(unsigned number)
{
    switch (number) {
    case 1:
        return "|byte[]|3|30|15680|\n"
               "|shop.Session|3|30|720|\n"
               "|shop.Loader|3|3|48|\n"
               "|shop.Plugin|3|3|48|\n";
    case 2:
        return "|(default package)|15680|\n"
               "|shop|848|\n"
               "|java.lang|384|\n";
    case 3:
        return "|class shop.Sessions|1712|18496|\n"
               "|class shop.Sessions > java.util.ArrayList|1704|18488|\n"
               "|class shop.Sessions > java.util.ArrayList > java.lang.Object[]|1672|18456|\n"
               "|class shop.Sessions > java.util.ArrayList > java.lang.Object[] > shop.Session|1520|17920|\n"
               "|class shop.Sessions > java.util.ArrayList > java.lang.Object[] > shop.Session > byte[]|1280|16960|\n"
               "|shop.Plugin|48|160|\n";
    case 6: return "";
    default: return NULL;
    }
}

Test(questions, take_times_from_dumps_and_neither_damaged_ones_nor_classes_that_went_for_growth)
{
    fleet_test  t;
    sqlite3    *db;
    uint64_t    len;
    char        path[256];
    char       *page = file_bytes(PAGE, &len);
    const char *at = page,
               *times = "SELECT dump_id, application, time, time = created, damage > 0 FROM dump ORDER BY 3";
    make_unsaid(&t);
    (void)snprintf(path, sizeof path, "%s/tables.sqlite", t.out);
    cr_assert(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    expect_answer(db, &times, 0,
                  "shop-8||2023-11-14T23:13:20.000Z|1|0|\n"
                  "shop-7||2023-11-15T00:13:20.000Z|1|0|\n"
                  "shop-6||2023-11-15T01:13:20.000Z|1|0|\n"
                  "shop-5||2023-11-15T02:13:20.000Z|1|0|\n"
                  "shop-4||2023-11-15T03:13:20.000Z|1|1|\n");
    for (unsigned number = 1; at[strspn(at, " \n")] != '\0'; number++) {
        sqlite3_stmt *other;
        if (unsaid(number) != NULL)
            expect_answer(db, &at, number, unsaid(number));
        else if (sqlite3_prepare_v2(db, at, -1, &other, &at) == SQLITE_OK)
            (void)sqlite3_finalize(other);
    }
    (void)sqlite3_close(db);
    free(page);
    fleet_end(&t);
}
