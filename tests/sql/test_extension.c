/*
 * test_extension.c - heapdex_sqlite.so as a program of others loads it: what its two functions answer and refuse.
 * tests/sql/extension.sh has it in the sqlite3 shell and in Python.
 */
#include "base/base.h"
#include "support/dump_maker.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char     folder[TEST_FOLDER];
static sqlite3 *db;

/* Classes A, B ... of 1, 2 ... objects; one name that no table can have twice. */
static void make_dump(const char *path, unsigned classes, unsigned garbage)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned c = 0; c < classes; c++) {
        char name[16];
        (void)snprintf(name, sizeof name, "c%u", c);
        const uint64_t id = dump_maker_class(m, name, object, "count:I");
        for (unsigned i = 0; i <= c; i++) {
            const uint64_t one = dump_maker_instance(m, id, DUMP_VALUES(i));
            if (i >= garbage)
                dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, one, 0, 0);
        }
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void enter(void)
{
    char *why = NULL;
    test_folder_make_fast(folder, "extension");
    cr_assert(chdir(folder) == 0 && setenv("XDG_CACHE_HOME", folder, 1) == 0);
    make_dump("a.hprof", 4, 0);
    make_dump("b.hprof", 3, 1);
    cr_assert(sqlite3_open(":memory:", &db) == SQLITE_OK && sqlite3_enable_load_extension(db, 1) == SQLITE_OK);
    cr_assert(sqlite3_load_extension(db, HDX_EXTENSION, NULL, &why) == SQLITE_OK, "%s", why);
}

static void leave(void)
{
    cr_expect(sqlite3_close(db) == SQLITE_OK);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

TestSuite(extension, .init = enter, .fini = leave);

static int put_row(void *context, int count, char **values, char **names)
{
    hdx_buffer *b = context;
    (void)names;
    for (int i = 0; i < count; i++)
        hdx_buffer_format(b, "%s%s", i > 0 ? "|" : "", values[i] != NULL ? values[i] : "-");
    hdx_buffer_text(b, ";");
    return 0;
}

/* Rows, or why there are none. */
#define expect(sql, want)                                                                                              \
    do {                                                                                                               \
        char      *why = NULL;                                                                                         \
        hdx_buffer b = hdx_buffer_of(NULL);                                                                            \
        hdx_buffer_text(&b, "");                                                                                       \
        if (sqlite3_exec(db, sql, put_row, &b, &why) != SQLITE_OK)                                                     \
            hdx_buffer_text(&b, why);                                                                                  \
        cr_expect_str_eq(b.at, want);                                                                                  \
        sqlite3_free(why);                                                                                             \
        hdx_buffer_free(&b);                                                                                           \
    } while (0)

#define USAGE "heapdex_open(DUMP [, SCHEMA [, 'live', 'all' or 'garbage']])"

Test(extension, opens_dumps_under_names)
{
    expect("SELECT heapdex_open('a.hprof')", "18;"); /* with class objects, the boot loader and its class */
    expect("SELECT count(*) FROM objects", "18;");
    expect("SELECT count(*) FROM temp.c3", "4;");
    expect("SELECT heapdex_open('b.hprof', 'b', 'all')", "10;");
    expect("SELECT (SELECT count(*) FROM b.objects), (SELECT count(*) FROM b.c2), (SELECT count(*) FROM c2)",
           "13|3|3;");
    expect("SELECT heapdex_open('b.hprof', 'g', 'garbage')", "10;");
    expect("SELECT count(*), min(class), max(class) FROM g.objects WHERE class LIKE 'c%'", "3|c0|c2;");
    expect("SELECT heapdex_open('b.hprof', 'l', 'live')", "10;");
    expect("SELECT count(*) FROM l.objects WHERE class LIKE 'c%'", "3;");
    expect("SELECT name FROM pragma_database_list ORDER BY 1", "b;g;l;main;temp;");
    expect("ATTACH ':memory:' AS empty; SELECT heapdex_open('a.hprof', 'empty')", "18;");
    expect("SELECT count(*) FROM empty.c3", "4;");
    expect("SELECT heapdex_open('a.hprof', 'a \"name\"')", "18;");
    expect("SELECT count(*) FROM \"a \"\"name\"\"\".c3", "4;");
}

Test(extension, has_tables_of_classes_that_have_objects)
{
    expect("SELECT heapdex_open('b.hprof')", "10;");
    expect("SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_temp_master WHERE name LIKE 'c_' ORDER BY 1)",
           "c1 c2;");
    expect("SELECT count FROM c2 ORDER BY 1", "1;2;");
    expect("SELECT heapdex_table('c1')", "c1;");
    expect("SELECT heapdex_table('c0')", "c0;");
    expect("SELECT count(*) FROM c0", "0;");
    expect("SELECT heapdex_table('instanceof java.lang.Object')", "instanceof java.lang.Object;");
    expect("SELECT heapdex_table('no.Such')", "unknown class name");
    expect("SELECT heapdex_table('c1', 'temp')", "c1;");
    expect("SELECT heapdex_table('c1', 'main')", "the schema has no open dump; use heapdex_open('app.hprof')");
    expect("SELECT heapdex_table(NULL)", "heapdex_table(CLASS [, SCHEMA])");
    expect("SELECT heapdex_table('c1', NULL)", "heapdex_table(CLASS [, SCHEMA])");
    expect("SELECT heapdex_table()", "wrong number of arguments to function heapdex_table()");
    expect("SELECT heapdex_table('a', 'b', 'c')", "wrong number of arguments to function heapdex_table()");
}

Test(extension, refuses_what_cannot_be_meant)
{
    char sql[200], longest[66];
    expect("SELECT heapdex_open(NULL)", USAGE);
    expect("SELECT heapdex_open('a.hprof', NULL)", USAGE);
    expect("SELECT heapdex_open('a.hprof', 'x', NULL)", USAGE);
    expect("SELECT heapdex_open('a.hprof', 'x', 'some')", USAGE);
    expect("SELECT heapdex_open()", "wrong number of arguments to function heapdex_open()");
    expect("SELECT heapdex_open(1, 2, 3, 4)", "wrong number of arguments to function heapdex_open()");
    expect("SELECT heapdex_open('none-at-all')", "none-at-all: no such file (check the name)");
    expect("SELECT heapdex_open('a.hprof', '')", "a schema name must have 1 to 64 characters");
    memset(longest, 'x', sizeof longest);
    longest[65] = '\0';
    (void)snprintf(sql, sizeof sql, "SELECT heapdex_open('a.hprof', '%s')", longest);
    expect(sql, "a schema name must have 1 to 64 characters");
    longest[64] = '\0';
    (void)snprintf(sql, sizeof sql, "SELECT heapdex_open('a.hprof', '%s')", longest);
    expect(sql, "18;");
    expect("SELECT heapdex_open('a.hprof')", "18;");
    expect("SELECT heapdex_open('b.hprof')", "the schema temp already has a dump");
    expect("SELECT heapdex_open('b.hprof', 'TEMP')", "the schema TEMP already has a dump");
    expect("SELECT count(*) FROM c3", "4;");
    expect(
        "ATTACH 'file.db' AS f; SELECT heapdex_open('a.hprof', 'f')",
        "the schema f is a file; tables of a dump need an empty schema (use another name to attach an empty schema)");
    expect("SELECT count(*) FROM f.sqlite_master", "0;");
    expect("CREATE VIEW v AS SELECT heapdex_open('a.hprof', 'z'); SELECT * FROM v", "unsafe use of heapdex_open()");
    for (unsigned i = 0; i < 12; i++) { /* SQLite attaches ten */
        (void)snprintf(sql, sizeof sql, "SELECT heapdex_open('b.hprof', 's%u')", i);
        (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    expect("SELECT heapdex_open('b.hprof', 'one more')",
           "cannot attach one more: too many attached databases - max 10");
}

/* Those that have most objects; another is made when it is asked for. */
Test(extension, has_no_more_tables_of_classes_than_are_made_in_a_moment)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned c = 0; c < 2002; c++) {
        char name[16];
        (void)snprintf(name, sizeof name, "k%04u", c);
        const uint64_t id = dump_maker_class(m, name, object, "");
        for (unsigned i = 0; i < 1 + (c > 1000); i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, id, NULL), 0, 0);
    }
    dump_maker_save(m, "many.hprof");
    dump_maker_free(m);
    expect("SELECT heapdex_open('many.hprof')", "5009;");
    expect("SELECT count(*), max(name) FILTER (WHERE name < 'k1001') FROM sqlite_temp_master WHERE name LIKE 'k____'",
           "1998|k0996;");
    expect("SELECT count(*) FROM k2001", "2;");
    expect("SELECT count(*) FROM k0997", "no such table: k0997");
    expect("SELECT heapdex_table('k0997')", "k0997;");
    expect("SELECT count(*) FROM k0997", "1;");
}

static int always(void *context)
{
    (void)context;
    return 1;
}

/* The rows are so few that SQLite itself would not ask the handler. */
Test(extension, asks_the_handler_of_the_host_while_a_table_is_made)
{
    make_dump("many.hprof", 300, 0);
    expect("SELECT heapdex_open('many.hprof') > 0", "1;");
    /* The handler is not asked again before 50 ms have passed: this waits for the clock alone, and later is right, too.
     */
    (void)usleep(60000);
    sqlite3_progress_handler(db, 2000, always, NULL);
    expect("SELECT count(*) FROM fields_of_class", "interrupted");
    sqlite3_progress_handler(db, 0, NULL, NULL);
    expect("SELECT count(*) FROM fields_of_class", "300;");
}
