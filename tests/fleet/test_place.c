/*
 * test_place.c - a dump's partition is the old one or the new one, whatever happens: a second run, kill -9 at any
 * moment, several writers at once, leftovers of dead ones.
 */
#include "fleet/written.h"
#include "support/faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A heap of one class with so many objects; a file of it beside the tables. */
static void make_dump(fleet_test *t, unsigned objects, char path[128])
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t    item = dump_maker_class(m, "app.Item", object, "count:I");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned i = 0; i < objects; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, item, NULL), 0, 0);
    (void)snprintf(path, 128, "%s/%u.hprof", t->folder, objects);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

static void begin_with(fleet_test *t, unsigned objects)
{
    char path[128];
    fleet_begin(t, NULL);
    make_dump(t, objects, path);
    fleet_open(t, path, "a");
}

/* How many app.Item the tables of a dump tell of, in the first table that is written and in one of the last. */
static void expect_items(const fleet_test *t, hdx_fleet_format format, const char *id, unsigned items)
{
    char        want[64];
    char       *classes = fleet_read(t, format, id, "classes"), *roots = fleet_read(t, format, id, "roots");
    const char *line = strstr(classes, "|app.Item|0|");
    (void)snprintf(want, sizeof want, "|app.Item|0|%u|", items);
    cr_expect(line != NULL && strncmp(line, want, strlen(want)) == 0, "%s", classes);
    (void)snprintf(want, sizeof want, "%s|NATIVE_STATIC|%u|", id, items);
    cr_expect(strstr(roots, want) != NULL, "%s", roots);
    free(classes);
    free(roots);
}

Test(place, second_run_replaces_what_the_first_one_wrote)
{
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format++) {
        fleet_test t;
        char       path[128];
        begin_with(&t, 3);
        t.o.tables = "objects";
        fleet_write(&t, (hdx_fleet_format)format, "a");
        fleet_write(&t, (hdx_fleet_format)format, "b");
        hdx_session_close(t.s);
        make_dump(&t, 5, path);
        fleet_open(&t, path, "b");
        t.o.tables = NULL;
        fleet_write(&t, (hdx_fleet_format)format, "a");
        expect_items(&t, (hdx_fleet_format)format, "a", 5);
        expect_items(&t, (hdx_fleet_format)format, "b", 3);
        if (format == HDX_FLEET_SQLITE)
            expect_table(&t, HDX_FLEET_SQLITE, "a", "objects", "");
        else
            cr_expect(entries(&t, "tables/dump_id=a", "objects") == 0 &&
                      entries(&t, "tables/dump_id=b", "objects") == 1);
        cr_expect(entries(&t, "tables", ".") + entries(&t, "", ".") == 0);
        fleet_end(&t);
    }
}

Test(place, tells_of_which_dumps_tables_are_there)
{
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format++) {
        fleet_test t;
        begin_with(&t, 3);
        t.o.dump_id = "a";
        t.o.out = t.out;
        t.o.format = (hdx_fleet_format)format;
        cr_expect(!hdx_fleet_is_there(&t.o));
        fleet_write(&t, (hdx_fleet_format)format, "a");
        cr_expect(hdx_fleet_is_there(&t.o), "%d", format);
        t.o.dump_id = "b";
        cr_expect(!hdx_fleet_is_there(&t.o), "%d", format);
        t.o.dump_id = "../a";
        cr_expect(!hdx_fleet_is_there(&t.o), "%d", format);
        t.o.dump_id = "a";
        t.o.tables = "objects";
        cr_expect(hdx_fleet_is_there(&t.o) == (format == HDX_FLEET_SQLITE), "on demand");
        fleet_end(&t);
    }
}

Test(place, ids_are_names_of_folders_and_nothing_else)
{
    static const char *const good[] = { "0017", "1e5", "a b=c", "Größe", "-", "a..b", "%2F" };
    static const char *const bad[] = { "", ".", "..", ".a", "a/b", "../a", "/", "a\nb", "a\x7f", "\xff", "a\tb" };
    char                     longest[202];
    hdx_error                err;
    memset(longest, 'x', sizeof longest);
    longest[200] = '\0';
    cr_expect(hdx_fleet_id_check(longest, &err) == HDX_OK);
    longest[200] = 'x';
    longest[201] = '\0';
    cr_expect(hdx_fleet_id_check(longest, &err) == HDX_USAGE);
    cr_expect(hdx_fleet_id_check(NULL, &err) == HDX_USAGE);
    for (size_t i = 0; i < HDX_COUNT(good); i++)
        cr_expect(hdx_fleet_id_check(good[i], &err) == HDX_OK, "%s", good[i]);
    for (size_t i = 0; i < HDX_COUNT(bad); i++)
        cr_expect(hdx_fleet_id_check(bad[i], &err) == HDX_USAGE, "%s", bad[i]);
    fleet_test t;
    begin_with(&t, 1);
    cr_expect(fleet_try(&t, HDX_FLEET_CSV, "../a") == HDX_USAGE && access(t.out, F_OK) != 0);
    fleet_write(&t, HDX_FLEET_CSV, "a b=c");
    expect_items(&t, HDX_FLEET_CSV, "a b=c", 1);
    fleet_end(&t);
}

/* ---- killed ---- */

static unsigned asked, deadly; /* how often it was asked whether to stop, and when it dies */

static bool die(void *context)
{
    (void)context;
    if (++asked == deadly)
        (void)kill(getpid(), SIGKILL);
    return false;
}

/* In a process of its own, which dies when it is asked for the n-th time; false: it was not asked so often. */
static bool killed_at(fleet_test *t, const char *dump, unsigned n, hdx_fleet_format format)
{
    int         status;
    const pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        const hdx_index_options options = {
            .dump = dump, .index_dir = t->index, .threads = 1, .progress = { NULL, NULL, die }
        };
        hdx_session *s;
        asked = 0;
        deadly = n;
        t->o.format = format;
        t->o.dump_id = "a";
        const bool done =
            hdx_session_open(&options, &s, &t->err) == HDX_OK && hdx_fleet_write(s, &t->o, &t->err) == HDX_OK;
        _exit(done ? 0 : 1);
    }
    cr_assert(waitpid(child, &status, 0) == child);
    cr_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0, "%d", status);
    return WIFSIGNALED(status);
}

Test(place, killed_writers_leave_the_old_partition_whole)
{
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format++) {
        fleet_test t;
        char       path[128];
        unsigned   n = 1, kills = 0;
        begin_with(&t, 3);
        fleet_write(&t, (hdx_fleet_format)format, "a");
        const unsigned files = entries(&t, "tables/dump_id=a", "");
        hdx_session_close(t.s);
        make_dump(&t, 5, path);
        fleet_open(&t, path, "b");
        hdx_graph *g;
        cr_assert(hdx_session_graph(t.s, 0, &g, &t.err) == HDX_OK); /* the index is not what is killed here */
        for (; killed_at(&t, path, n, (hdx_fleet_format)format); n += n / 4 + 1, kills++) {
            expect_items(&t, (hdx_fleet_format)format, "a", 3);
            cr_expect(entries(&t, "tables/dump_id=a", "") == files);
        }
        cr_expect(kills > 4, "%u", kills);
        expect_items(&t, (hdx_fleet_format)format, "a", 5);
        cr_expect(entries(&t, "tables", ".") + entries(&t, "", ".") == 0, "leftovers");
        fleet_end(&t);
    }
}

/* ---- killed, or refused, at a call that writes, syncs or renames ---- */

static unsigned calls_of(fleet_test *t, unsigned fail_at, int with, hdx_code *code)
{
    faulty_io f;
    faulty_io_init(&f, fail_at, with, true);
    *code = hdx_fleet_write_by(&f.io, t->s, &t->o, &t->err);
    return f.calls;
}

/* Are these the old tables, or the new ones? All of one kind. */
static void expect_either(const fleet_test *t, hdx_fleet_format format, bool fresh)
{
    expect_items(t, format, "a", fresh ? 5 : 3);
    expect_table(t, format, "a", "manifest", fresh ? "a|run|2|\n" : "a|run|1|\n");
}

static bool is_fresh(const fleet_test *t, hdx_fleet_format format)
{
    char      *manifest = fleet_read(t, format, "a", "manifest");
    const bool fresh = strcmp(manifest, "a|run|2|\n") == 0;
    free(manifest);
    return fresh;
}

static void write_old(fleet_test *t, const char *const *dumps)
{
    static const hdx_argument run = { "run", "1" };
    hdx_session_close(t->s);
    fleet_open(t, dumps[0], "old");
    t->o.manifest = &run;
    t->o.manifest_count = 1;
    fleet_write(t, t->o.format, "a");
    hdx_session_close(t->s);
    fleet_open(t, dumps[1], "new");
    static const hdx_argument again = { "run", "2" };
    t->o.manifest = &again;
}

Test(place, tables_are_the_old_or_the_new_ones_whatever_call_fails_or_is_the_last)
{
    for (int format = HDX_FLEET_CSV; format <= HDX_FLEET_SQLITE; format++) {
        fleet_test t;
        char       paths[2][128];
        hdx_code   code;
        unsigned   swapped = 0;
        fleet_begin(&t, NULL);
        make_dump(&t, 3, paths[0]);
        make_dump(&t, 5, paths[1]);
        t.o.format = (hdx_fleet_format)format;
        t.o.dump_id = "a";
        write_old(&t, (const char *const[]){ paths[0], paths[1] });
        const unsigned calls = calls_of(&t, 0, 0, &code);
        cr_assert(code == HDX_OK && is_fresh(&t, t.o.format));
        write_old(&t, (const char *const[]){ paths[0], paths[1] });
        /* of the calls that come before the last, which put them in place, each fifth */
        for (unsigned n = 1; n <= calls; n += n + 24 < calls ? 5 : 1) {
            if (is_fresh(&t, t.o.format))
                write_old(&t, (const char *const[]){ paths[0], paths[1] });
            (void)calls_of(&t, n, EIO, &code);
            const bool fresh = is_fresh(&t, t.o.format);
            cr_expect(code == HDX_IO || fresh, "call %u: %d", n, code);
            expect_either(&t, t.o.format, fresh);
            const pid_t child = fork();
            if (child == 0) {
                (void)calls_of(&t, n, FAULTY_KILL, &code);
                _exit(0);
            }
            int status;
            cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "call %u of %u", n, calls);
            expect_either(&t, t.o.format, is_fresh(&t, t.o.format));
            swapped += is_fresh(&t, t.o.format);
        }
        cr_expect(swapped > 0 || format == HDX_FLEET_SQLITE, "some are killed behind the swap");
        fleet_write(&t, t.o.format, "a");
        expect_either(&t, t.o.format, true);
        cr_expect(entries(&t, "tables", ".") + entries(&t, "", ".") == 0, "leftovers");
        fleet_end(&t);
    }
}

/* A folder as writers have them, with a file; gives it open. */
static int make_hidden(const fleet_test *t, const char *name)
{
    char path[512], file[600];
    (void)snprintf(path, sizeof path, "%s/tables/%s", t->out, name);
    (void)snprintf(file, sizeof file, "%s/classes.parquet", path);
    cr_assert(mkdir(path, 0700) == 0);
    dump_maker_save_bytes(file, "PAR1", 4);
    return open(path, O_RDONLY | O_DIRECTORY);
}

Test(place, leftovers_go_when_nobody_holds_them)
{
    fleet_test t;
    begin_with(&t, 2);
    fleet_write(&t, HDX_FLEET_PARQUET, "a");
    const int dead = make_hidden(&t, ".heapdex.otherhost.77.0"), alive = make_hidden(&t, ".heapdex.otherhost.78.0");
    const int foreign = make_hidden(&t, ".other");
    cr_assert(flock(alive, LOCK_EX | LOCK_NB) == 0);
    fleet_write(&t, HDX_FLEET_PARQUET, "b");
    cr_expect(entries(&t, "tables", ".heapdex.otherhost.77") == 0 &&
              entries(&t, "tables", ".heapdex.otherhost.78") == 1);
    (void)close(dead);
    (void)close(alive);
    (void)close(foreign);
    fleet_write(&t, HDX_FLEET_PARQUET, "b");
    cr_expect(entries(&t, "tables", ".heapdex") == 0 && entries(&t, "tables", ".other") == 1);
    cr_expect(entries(&t, "tables", "dump_id=") == 2);
    fleet_end(&t);
}

/* ---- files of a user ---- */

static void put_file(const fleet_test *t, const char *name)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", t->folder, name);
    dump_maker_save_bytes(path, "mine", 4);
}

static bool is_mine(const fleet_test *t, const char *name)
{
    char     path[512];
    uint64_t len;
    (void)snprintf(path, sizeof path, "%s/%s", t->folder, name);
    if (access(path, F_OK) != 0)
        return false;
    char      *bytes = file_bytes(path, &len);
    const bool same = len == 4 && memcmp(bytes, "mine", 4) == 0;
    free(bytes);
    return same;
}

static void make_at(const fleet_test *t, const char *name, const char *link_to)
{
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", t->folder, name);
    cr_assert((link_to != NULL ? symlink(link_to, path) : mkdir(path, 0700)) == 0, "%s", path);
}

Test(place, leftovers_are_no_links_and_no_folders_of_a_user)
{
    static const char *const folders[] = { ".heapdex.host.1.0.d", ".heapdex.host.1",      ".heapdex.host.1.",
                                           ".heapdex..1.0",       ".heapdex.host.x.0",    ".heapdex.host.1.0x",
                                           ".heapdex.notes",      ".heapdex.a.b.1.0",     ".heapdex.h.1.0.0",
                                           ".heapdex.host.-1.0",  ".heapdex.host.1.0.old" };
    fleet_test               t;
    char                     name[128];
    begin_with(&t, 2);
    fleet_write(&t, HDX_FLEET_CSV, "a");
    make_at(&t, "archive", NULL);
    put_file(&t, "archive/classes.csv");
    make_at(&t, "out/tables/.heapdex.host.1.0", "../../archive"); /* the name is right, and it is a link */
    for (size_t i = 0; i < HDX_COUNT(folders); i++) {
        (void)snprintf(name, sizeof name, "out/tables/%s", folders[i]);
        make_at(&t, name, NULL);
        (void)snprintf(name, sizeof name, "out/tables/%s/classes.csv", folders[i]);
        put_file(&t, name);
    }
    make_at(&t, "out/tables/.heapdex.host.1.1", NULL); /* a folder that holds more than tables */
    put_file(&t, "out/tables/.heapdex.host.1.1/classes.csv");
    put_file(&t, "out/tables/.heapdex.host.1.1/thesis.csv");
    make_at(&t, "out/tables/.heapdex.host.1.2", NULL); /* or a link with the name of a table */
    make_at(&t, "out/tables/.heapdex.host.1.2/classes.csv", "../../../archive/classes.csv");
    make_at(&t, "out/tables/.heapdex.host.1.3", NULL); /* this one is left of a writer */
    put_file(&t, "out/tables/.heapdex.host.1.3/classes.csv");
    make_at(&t, "out/tables/.heapdex.host.1.4", NULL); /* a file of SQLite is in OUT, not here */
    put_file(&t, "out/tables/.heapdex.host.1.4/tables.sqlite");
    fleet_write(&t, HDX_FLEET_CSV, "b");
    cr_expect(is_mine(&t, "archive/classes.csv") && is_mine(&t, "out/tables/.heapdex.host.1.0/classes.csv"));
    for (size_t i = 0; i < HDX_COUNT(folders); i++) {
        (void)snprintf(name, sizeof name, "out/tables/%s/classes.csv", folders[i]);
        cr_expect(is_mine(&t, name), "%s", name);
    }
    cr_expect(is_mine(&t, "out/tables/.heapdex.host.1.1/classes.csv"));
    cr_expect(is_mine(&t, "out/tables/.heapdex.host.1.1/thesis.csv"));
    cr_expect(is_mine(&t, "out/tables/.heapdex.host.1.2/classes.csv"));
    cr_expect(is_mine(&t, "out/tables/.heapdex.host.1.4/tables.sqlite"));
    cr_expect(entries(&t, "tables", ".heapdex.host.1.3") == 0);
    make_at(&t, "out/.heapdex.host.1.5", NULL);
    put_file(&t, "out/.heapdex.host.1.5/tables.sqlite");
    make_at(&t, "out/.heapdex.host.1.6", NULL);
    put_file(&t, "out/.heapdex.host.1.6/classes.csv");
    fleet_write(&t, HDX_FLEET_SQLITE, "b");
    cr_expect(entries(&t, "", ".heapdex.host.1.5") == 0 && is_mine(&t, "out/.heapdex.host.1.6/classes.csv"));
    fleet_end(&t);
}

static void expect_refused(fleet_test *t, hdx_fleet_format format, const char *words)
{
    cr_expect(fleet_try(t, format, "a") == HDX_USAGE, "%s", t->err.message);
    cr_expect(strstr(t->err.message, words) != NULL, "%s", t->err.message);
    cr_expect(entries(t, "tables", ".") + entries(t, "", ".") == 0);
}

Test(place, tables_replace_no_link_and_no_folder_of_a_user, .timeout = 60)
{
    fleet_test t;
    begin_with(&t, 2);
    fleet_write(&t, HDX_FLEET_CSV, "b");
    make_at(&t, "archive", NULL);
    put_file(&t, "archive/classes.csv");
    make_at(&t, "out/tables/dump_id=a", "../../archive");
    expect_refused(&t, HDX_FLEET_CSV, "is a symbolic link or a file");
    cr_expect(is_mine(&t, "archive/classes.csv") && is_mine(&t, "out/tables/dump_id=a/classes.csv"));
    char path[512], pipe[600];
    (void)snprintf(path, sizeof path, "%s/tables/dump_id=a", t.out);
    cr_assert(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    expect_refused(&t, HDX_FLEET_CSV, "is a symbolic link or a file");
    cr_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    (void)snprintf(pipe, sizeof pipe, "%s/classes.csv", path);
    cr_assert(mkfifo(pipe, 0600) == 0);
    expect_refused(&t, HDX_FLEET_CSV, "contains classes.csv, which is not a fleet table");
    t.o.format = HDX_FLEET_CSV;
    cr_expect(!hdx_fleet_is_there(&t.o));
    cr_assert(unlink(pipe) == 0);
    put_file(&t, "out/tables/dump_id=a/tables.sqlite");
    expect_refused(&t, HDX_FLEET_CSV, "contains tables.sqlite, which is not a fleet table");
    (void)snprintf(path, sizeof path, "%s/tables.sqlite", t.out);
    cr_assert(mkfifo(path, 0600) == 0);
    expect_refused(&t, HDX_FLEET_SQLITE, "is not a file of tables");
    cr_expect(!hdx_fleet_is_there(&t.o));
    fleet_end(&t);
}

/* What is replaced changes at the last moment: after it was looked at, before it is swapped. */
static fleet_test *at_work;
static bool        no_swap;

static int exchange_late(hdx_io *io, const char *a, const char *b)
{
    char path[512];
    if (at_work != NULL && strstr(b, "dump_id=a") != NULL) {
        (void)snprintf(path, sizeof path, "%s/tables/dump_id=a/thesis.csv", at_work->out);
        dump_maker_save_bytes(path, "mine", 4);
        at_work = NULL;
    }
    return no_swap ? -EINVAL : hdx_io_system()->exchange(io, a, b);
}

Test(place, a_file_that_comes_at_the_last_moment_stays_where_it_is)
{
    for (int i = 0; i < 2; i++) { /* 1: on a file system that cannot swap */
        fleet_test t;
        hdx_io     io = *hdx_io_system();
        begin_with(&t, 2);
        fleet_write(&t, HDX_FLEET_CSV, "a");
        io.exchange = exchange_late;
        at_work = &t;
        no_swap = i == 1;
        cr_expect(hdx_fleet_write_by(&io, t.s, &t.o, &t.err) == HDX_USAGE, "%s", t.err.message);
        cr_expect(strstr(t.err.message, "contains thesis.csv") != NULL, "%s", t.err.message);
        cr_expect(is_mine(&t, "out/tables/dump_id=a/thesis.csv") && entries(&t, "tables", ".") == 0);
        expect_items(&t, HDX_FLEET_CSV, "a", 2);
        char path[512];
        (void)snprintf(path, sizeof path, "%s/tables/dump_id=a/thesis.csv", t.out);
        cr_assert(unlink(path) == 0);
        cr_expect(hdx_fleet_write_by(&io, t.s, &t.o, &t.err) == HDX_OK, "%s", t.err.message);
        cr_expect(entries(&t, "tables", ".") == 0 && entries(&t, "tables", "dump_id=") == 1);
        fleet_end(&t);
    }
}

/* ---- several at once ---- */

Test(place, several_writers_wait_for_each_other)
{
    enum { WRITERS = 4, ROUNDS = 3 };
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format += HDX_FLEET_SQLITE) {
        fleet_test t;
        pid_t      children[WRITERS];
        hdx_graph *g;
        begin_with(&t, 4);
        cr_assert(hdx_session_graph(t.s, 0, &g, &t.err) == HDX_OK);
        for (unsigned i = 0; i < WRITERS; i++)
            if ((children[i] = fork()) == 0) {
                char id[16];
                bool done = true;
                (void)snprintf(id, sizeof id, "%u", i / 2); /* two of one dump */
                for (unsigned k = 0; done && k < ROUNDS; k++)
                    done = fleet_try(&t, (hdx_fleet_format)format, id) == HDX_OK;
                if (!done)
                    (void)fprintf(stderr, "%s: %s\n", t.err.where, t.err.message);
                _exit(done ? 0 : 1);
            }
        for (unsigned i = 0; i < WRITERS; i++) {
            int status;
            cr_assert(waitpid(children[i], &status, 0) == children[i]);
            cr_expect(status == 0);
        }
        expect_items(&t, (hdx_fleet_format)format, "0", 4);
        expect_items(&t, (hdx_fleet_format)format, "1", 4);
        cr_expect(entries(&t, "tables", ".") + entries(&t, "", ".") == 0);
        fleet_end(&t);
    }
}

static bool stop(void *context)
{
    (void)context;
    return true;
}

Test(place, writers_that_wait_can_be_stopped)
{
    fleet_test t;
    sqlite3   *db;
    char       path[256];
    hdx_error  failure = { .code = HDX_BAD_DUMP, .message = "no heap dump" };
    begin_with(&t, 2);
    fleet_write(&t, HDX_FLEET_SQLITE, "a");
    (void)snprintf(path, sizeof path, "%s/tables.sqlite", t.out);
    cr_assert(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    const hdx_sql_replace replace = { .path = path, .from = path, .column = "dump_id", .value = "a", .version = 1 };
    const hdx_progress    stopping = { NULL, NULL, stop };
    cr_expect(hdx_sql_file_replace(&replace, &stopping, &failure) == HDX_CANCELLED, "%s", failure.message);
    (void)sqlite3_close(db);
    fleet_end(&t);
}

Test(place, tables_of_another_version_are_left_alone)
{
    fleet_test t;
    sqlite3   *db;
    char       path[256];
    begin_with(&t, 2);
    fleet_write(&t, HDX_FLEET_SQLITE, "a");
    (void)snprintf(path, sizeof path, "%s/tables.sqlite", t.out);
    cr_assert(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, "PRAGMA user_version = 7", NULL, NULL, NULL) == SQLITE_OK);
    (void)sqlite3_close(db);
    cr_expect(fleet_try(&t, HDX_FLEET_SQLITE, "b") == HDX_USAGE);
    cr_expect(strcmp(t.err.message, "the existing tables have version 7; the new ones have version 1") == 0, "%s",
              t.err.message);
    expect_table(&t, HDX_FLEET_SQLITE, "b", "roots", "");
    expect_items(&t, HDX_FLEET_SQLITE, "a", 2);
    cr_expect(entries(&t, "", ".") == 0);
    fleet_end(&t);
}

/* ---- who may read ---- */

static unsigned mode_of(const fleet_test *t, const char *name)
{
    char        path[512];
    struct stat is;
    (void)snprintf(path, sizeof path, "%s/%s", t->out, name);
    cr_assert(stat(path, &is) == 0, "%s", path);
    return is.st_mode & 0777;
}

Test(place, tables_are_as_private_as_their_dumps)
{
    fleet_test t;
    char       path[128];
    (void)umask(022);
    fleet_begin(&t, NULL);
    make_dump(&t, 2, path);
    cr_assert(chmod(path, 0644) == 0);
    fleet_open(&t, path, "a");
    fleet_write(&t, HDX_FLEET_CSV, "a");
    fleet_write(&t, HDX_FLEET_SQLITE, "a");
    cr_expect(mode_of(&t, "tables/dump_id=a") == 0755 && mode_of(&t, "tables/dump_id=a/classes.csv") == 0644);
    cr_expect(mode_of(&t, "tables.sqlite") == 0644);
    hdx_session_close(t.s);
    make_dump(&t, 3, path);
    cr_assert(chmod(path, 0600) == 0);
    fleet_open(&t, path, "b");
    fleet_write(&t, HDX_FLEET_CSV, "b");
    fleet_write(&t, HDX_FLEET_SQLITE, "b");
    cr_expect(mode_of(&t, "tables/dump_id=b") == 0700 && mode_of(&t, "tables/dump_id=b/classes.csv") == 0600);
    cr_expect(mode_of(&t, "tables.sqlite") == 0600, "%o", mode_of(&t, "tables.sqlite"));
    fleet_end(&t);
}
