/*
 * test_writers.c - what becomes of a dump's tables where a folder cannot be made, a path is too long, a file system has
 * no locks or cannot swap, a disk is full; and which leftovers of other writers go then.
 *
 * The dump could not be indexed in all of them: then the tables are its manifest and its problem, and others have no
 * row.
 */
#include "base/owner.h"
#include "fleet/written.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static hdx_error failure = { .code = HDX_BAD_DUMP, .message = "no heap dump" };

static hdx_code write_by(fleet_test *t, hdx_io *io, hdx_fleet_format format, const char *id)
{
    t->o.format = format;
    t->o.dump_id = id;
    t->o.failure = &failure;
    t->err = (hdx_error){ .offset = HDX_NOWHERE };
    return hdx_fleet_write_by(io, NULL, &t->o, &t->err);
}

#define expect_error(t, io, format, want_code, want)                                                                   \
    do {                                                                                                               \
        cr_expect(write_by(t, io, format, "a") == (want_code), "%s: %s", (t)->err.where, (t)->err.message);            \
        cr_expect((t)->err.code == (want_code) && strcmp((t)->err.message, want) == 0, "%s", (t)->err.message);        \
    } while (0)

/* A door to the system in which one call says something else. */
typedef struct door {
    hdx_io   io;
    int      locks;    /* what flock says; 2: the truth */
    int      swaps;    /* what an exchange says; 0: the truth */
    unsigned swapping; /* for so many of them; 0: for all */
    unsigned exchanges, renames, bad_rename;
    unsigned writes, bad_write, closes, bad_close, creates, bad_create;
    size_t   longest_write;
    int      with;
    unsigned stats, bad_stats; /* so many of the first tell of a folder that is gone, */
    unsigned stranger;         /* or of another: 1 on another device, 2 with another number */
    bool     taken;            /* each name of a folder is */
    unsigned syncs;            /* of the folder of partitions */
    int      bad_sync;         /* what they say; 0: the truth */
} door;

static int says_lock(hdx_io *io, int fd)
{
    const door *d = (const door *)io;
    errno = ESRCH; /* as a call before may leave it */
    return d->locks != 2 ? d->locks : hdx_io_system()->lock(hdx_io_system(), fd);
}

static int says_exchange(hdx_io *io, const char *a, const char *b)
{
    door *d = (door *)io;
    d->exchanges++;
    return d->swaps != 0 && (d->swapping == 0 || d->exchanges <= d->swapping)
               ? d->swaps
               : hdx_io_system()->exchange(hdx_io_system(), a, b);
}

static int says_rename(hdx_io *io, const char *from, const char *to)
{
    door *d = (door *)io;
    return ++d->renames == d->bad_rename ? -EACCES : hdx_io_system()->rename(hdx_io_system(), from, to);
}

static int says_write(hdx_io *io, int fd, const void *bytes, uint64_t len)
{
    door *d = (door *)io;
    d->longest_write = len > d->longest_write ? (size_t)len : d->longest_write;
    return ++d->writes == d->bad_write ? d->with : hdx_io_system()->write(hdx_io_system(), fd, bytes, len);
}

static int says_create(hdx_io *io, const char *path)
{
    door *d = (door *)io;
    return ++d->creates == d->bad_create ? d->with : hdx_io_system()->create(hdx_io_system(), path);
}

static int says_close(hdx_io *io, int fd)
{
    door     *d = (door *)io;
    const int rc = hdx_io_system()->close(hdx_io_system(), fd);
    return ++d->closes == d->bad_close ? d->with : rc;
}

static int says_stat(hdx_io *io, const char *path, struct stat *out)
{
    door     *d = (door *)io;
    const int rc = hdx_io_system()->stat(hdx_io_system(), path, out);
    if (++d->stats > d->bad_stats)
        return rc;
    out->st_dev += d->stranger == 1;
    out->st_ino += d->stranger == 2;
    return d->stranger == 0 ? -ENOENT : rc;
}

static int says_mkdir(hdx_io *io, const char *path)
{
    return ((const door *)io)->taken ? -EEXIST : hdx_io_system()->mkdir(hdx_io_system(), path);
}

static int says_sync_folder(hdx_io *io, const char *path)
{
    door       *d = (door *)io;
    const char *end = strrchr(path, '/');
    const bool  is = end != NULL && strcmp(end, "/tables") == 0;
    d->syncs += is;
    return is && d->bad_sync != 0 ? d->bad_sync : hdx_io_system()->sync_folder(hdx_io_system(), path);
}

static door a_door(void)
{
    door d = { .io = *hdx_io_system(), .locks = 2 };
    d.io.lock = says_lock;
    d.io.exchange = says_exchange;
    d.io.rename = says_rename;
    d.io.write = says_write;
    d.io.create = says_create;
    d.io.close = says_close;
    d.io.stat = says_stat;
    d.io.mkdir = says_mkdir;
    d.io.sync_folder = says_sync_folder;
    return d;
}

static unsigned hidden(const fleet_test *t) { return entries(t, "tables", ".") + entries(t, "", "."); }

/* ---- where they go ---- */

Test(writers, what_is_no_folder_is_not_written_to)
{
    cr_assert(dup2(open("/dev/null", O_RDONLY), 0) == 0);
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format++) {
        fleet_test t;
        char       tables[160], out[160];
        fleet_begin(&t, NULL);
        dump_maker_save_bytes(t.out, "x", 1);
        expect_error(&t, hdx_io_system(), (hdx_fleet_format)format, HDX_USAGE, "is not a folder");
        cr_expect(strcmp(t.err.where, t.out) == 0, "%s", t.err.where);
        cr_assert(unlink(t.out) == 0 && mkdir(t.out, 0700) == 0);
        (void)snprintf(tables, sizeof tables, "%s/tables", t.out);
        dump_maker_save_bytes(tables, "x", 1);
        if (format != HDX_FLEET_SQLITE)
            expect_error(&t, hdx_io_system(), (hdx_fleet_format)format, HDX_USAGE, "is not a folder");
        (void)snprintf(out, sizeof out, "%s/absent/out", t.folder);
        t.o.out = out;
        expect_error(&t, hdx_io_system(), (hdx_fleet_format)format, HDX_IO, "cannot create: No such file or directory");
        cr_expect(fcntl(0, F_GETFD) >= 0, "standard input is left alone");
        fleet_end(&t);
    }
}

Test(writers, a_path_is_as_long_as_a_system_takes)
{
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_SQLITE; format++) {
        const size_t more = format == HDX_FLEET_SQLITE ? strlen("/tables.sqlite") : strlen("/tables/dump_id=a");
        fleet_test   t;
        char         out[4200];
        fleet_begin(&t, NULL);
        t.o.out = out;
        for (size_t len = 4050; len < 4120; len++) {
            for (size_t i = 0; i < len; i++)
                out[i] = i % 200 == 0 ? '/' : 'x';
            out[len] = '\0';
            const bool     fits = len + more < 4096;
            const hdx_code code = write_by(&t, hdx_io_system(), (hdx_fleet_format)format, "a");
            cr_expect(code == (fits ? HDX_IO : HDX_USAGE), "%d, %zu: %s", format, len, t.err.message);
            cr_expect(fits || strcmp(t.err.message, "the path is too long") == 0, "%zu: %s", len, t.err.message);
        }
        fleet_end(&t);
    }
}

/* ---- leftovers ---- */

static long dead_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    cr_assert(waitpid(child, NULL, 0) == child);
    return child;
}

static void leave(const fleet_test *t, const char *host, long process, const char *last)
{
    char path[700];
    (void)snprintf(path, sizeof path, "%s/tables", t->out);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s/tables/.heapdex.%s.%ld.%s", t->out, host, process, last);
    cr_assert(mkdir(path, 0700) == 0, "%s", path);
    (void)snprintf(path, sizeof path, "%s/tables/.heapdex.%s.%ld.%s/classes.csv", t->out, host, process, last);
    dump_maker_save_bytes(path, "x", 1);
}

Test(writers, where_locks_say_nothing_leftovers_of_dead_processes_of_this_host_go)
{
    static const struct {
        int         locks;
        const char *stay; /* of 1 to 6: of this host dead, alive and of no number; of one whose name begins so */
    } cases[] = {
        { -ENOLCK, "anols" }, { -EINVAL, "anols" }, { HDX_LOCK_HERE, "nols" }, { 0, "" }, { -EWOULDBLOCK, "danols" }
    };
    char host[300], longer[304], like[300];
    cr_assert(gethostname(host, 256) == 0);
    for (char *at = host; *at != '\0'; at++)
        *at = *at == '/' || *at == '.' ? '-' : *at;
    (void)snprintf(longer, sizeof longer, "%sx", host);
    (void)snprintf(like, sizeof like, "%s", host);
    like[0] = host[0] == 'x' ? 'y' : 'x';
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        fleet_test t;
        door       d = a_door();
        fleet_begin(&t, NULL);
        cr_assert(mkdir(t.out, 0700) == 0);
        const long dead = dead_process();
        leave(&t, host, dead, "1");
        leave(&t, host, getpid(), "2");
        leave(&t, host, 0, "3");
        leave(&t, "other", dead, "4");
        leave(&t, longer, dead, "5");
        leave(&t, like, dead, "6");
        d.locks = cases[i].locks;
        const bool none = d.locks == -EWOULDBLOCK; /* nor of its own */
        cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "a") == (none ? HDX_BUSY : HDX_OK), "%s", t.err.message);
        static const char all[] = "danols";
        for (const char *c = all; *c != '\0'; c++) {
            char path[700];
            (void)snprintf(path, sizeof path, "%s/tables/.heapdex.%s.%ld.%td", t.out,
                           *c == 'o'   ? "other"
                           : *c == 'l' ? longer
                           : *c == 's' ? like
                                       : host,
                           *c == 'a'   ? (long)getpid()
                           : *c == 'n' ? 0
                                       : dead,
                           c - all + 1);
            cr_expect((access(path, F_OK) == 0) == (strchr(cases[i].stay, *c) != NULL), "%d: %c", cases[i].locks, *c);
        }
        cr_expect(entries(&t, "tables", "dump_id=a") == !none);
        cr_expect(none || hidden(&t) == strlen(cases[i].stay), "%d: %u", cases[i].locks, hidden(&t));
        fleet_end(&t);
    }
}

/* Another that cleans up may take a hidden folder away before it is locked: it is not written to, and the next is. */
Test(writers, a_hidden_folder_that_is_gone_or_another_by_now_is_not_written_to)
{
    for (unsigned stranger = 0; stranger < 3; stranger++) {
        fleet_test t;
        door       d = a_door();
        fleet_begin(&t, NULL);
        d.bad_stats = 3;
        d.stranger = stranger;
        cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "a") == HDX_OK, "%s", t.err.message);
        cr_expect(hidden(&t) == 3 && entries(&t, "tables", "dump_id=a") == 1, "%u: %u", stranger, hidden(&t));
        d.bad_stats = d.stats + 3;
        cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "b") == HDX_OK, "%s", t.err.message);
        cr_expect(hidden(&t) == 3, "those that are there are not what was opened: %u, %u", stranger, hidden(&t));
        cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "b") == HDX_OK && hidden(&t) == 0, "%u", hidden(&t));
        fleet_end(&t);
    }
}

Test(writers, where_each_name_is_taken_what_has_it_stays)
{
    fleet_test t;
    door       d = a_door();
    char       host[65];
    fleet_begin(&t, NULL);
    cr_assert(mkdir(t.out, 0700) == 0);
    hdx_owner_host_in_names(host);
    leave(&t, host, getpid(), "999");
    d.taken = true;
    d.locks = -ENOLCK;
    expect_error(&t, &d.io, HDX_FLEET_CSV, HDX_BUSY, "no free name for a temporary folder");
    cr_expect(hidden(&t) == 1, "%u", hidden(&t));
    fleet_end(&t);
}

Test(writers, the_folder_of_partitions_is_synced_once_one_is_in_its_place)
{
    fleet_test t;
    door       d = a_door();
    fleet_begin(&t, NULL);
    cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "a") == HDX_OK && d.syncs == 1, "%u", d.syncs);
    d.bad_sync = -EIO;
    expect_error(&t, &d.io, HDX_FLEET_CSV, HDX_IO, "cannot sync: Input/output error");
    cr_expect(d.syncs == 2 && strlen(t.err.where) > 7 && strcmp(t.err.where + strlen(t.err.where) - 7, "/tables") == 0);
    d.swaps = -EINVAL;
    d.bad_rename = d.renames + 1;
    expect_error(&t, &d.io, HDX_FLEET_CSV, HDX_IO, "cannot put in place: Invalid argument");
    cr_expect(d.syncs == 2, "nothing is in its place then");
    fleet_end(&t);
}

Test(writers, bytes_are_written_in_stretches_and_none_once_one_was_not)
{
    fleet_test t;
    door       d = a_door();
    fleet_begin(&t, HDX_TREE "/examples/bookshop.hprof.gz");
    t.o.format = HDX_FLEET_CSV;
    t.o.dump_id = "a";
    t.o.tables = "objects";
    cr_assert(hdx_fleet_write_by(&d.io, t.s, &t.o, &t.err) == HDX_OK, "%s", t.err.message);
    const unsigned all = d.writes;
    cr_expect(d.longest_write >= 256u << 10 && d.longest_write < 300u << 10, "%zu", d.longest_write);
    cr_expect(all > 20, "%u", all);
    for (unsigned n = 1; n <= all; n += 3) {
        d = a_door();
        d.bad_write = n;
        d.with = -ENOSPC;
        cr_expect(hdx_fleet_write_by(&d.io, t.s, &t.o, &t.err) == HDX_LIMIT);
        cr_expect(d.writes == n, "%u of %u", n, d.writes);
        cr_expect(strcmp(t.err.message, "cannot write: No space left on device") == 0, "%s", t.err.message);
    }
    fleet_end(&t);
}

Test(writers, a_hidden_folder_that_another_holds_is_not_written_to)
{
    fleet_test t;
    door       d = a_door();
    fleet_begin(&t, NULL);
    d.locks = -EWOULDBLOCK;
    expect_error(&t, &d.io, HDX_FLEET_CSV, HDX_BUSY, "no free name for a temporary folder");
    cr_expect(hidden(&t) == 1000, "%u", hidden(&t));
    fleet_end(&t);
}

/* ---- into their place ---- */

Test(writers, where_two_folders_cannot_be_swapped_the_old_one_moves_aside)
{
    static const struct {
        int      swaps;
        unsigned swapping, bad_rename, exchanges;
        hdx_code code;
    } cases[] = {
        { 0, 0, 0, 1, HDX_OK },          { -EINVAL, 0, 0, 1, HDX_OK }, { -ENOTEMPTY, 0, 0, 1000, HDX_OK },
        { -EEXIST, 0, 0, 1000, HDX_OK }, { -EEXIST, 7, 0, 8, HDX_OK }, { -ENOTEMPTY, 7, 0, 8, HDX_OK },
        { -EINVAL, 0, 1, 1, HDX_IO },    { -EINVAL, 0, 2, 1, HDX_IO }, { -EACCES, 0, 0, 1, HDX_OK },
    };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        static const hdx_argument run[] = { { "run", "1" }, { "run", "2" } };
        fleet_test                t;
        door                      d = a_door();
        fleet_begin(&t, NULL);
        t.o.manifest_count = 1;
        t.o.manifest = &run[0];
        cr_assert(write_by(&t, hdx_io_system(), HDX_FLEET_CSV, "a") == HDX_OK);
        t.o.manifest = &run[1];
        d.swaps = cases[i].swaps;
        d.swapping = cases[i].swapping;
        d.bad_rename = cases[i].bad_rename;
        cr_expect(write_by(&t, &d.io, HDX_FLEET_CSV, "a") == cases[i].code, "%zu: %s", i, t.err.message);
        cr_expect(d.exchanges == cases[i].exchanges, "%zu: %u", i, d.exchanges);
        if (cases[i].code != HDX_OK)
            cr_expect(strcmp(t.err.message, cases[i].bad_rename == 1 ? "cannot put in place: Invalid argument"
                                                                     : "cannot put in place: Permission denied") == 0,
                      "%s", t.err.message);
        expect_table(&t, HDX_FLEET_CSV, "a", "manifest", cases[i].code == HDX_OK ? "a|run|2|\n" : "a|run|1|\n");
        cr_expect(hidden(&t) == 0 && entries(&t, "tables", "dump_id=a") == 1, "%zu", i);
        fleet_end(&t);
    }
}

Test(writers, what_cannot_be_written_is_told_and_leaves_nothing)
{
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_CSV; format++)
        for (unsigned at = 1; at < 4; at++)
            for (unsigned full = 0; full < 2; full++) {
                fleet_test t;
                door       d = a_door();
                fleet_begin(&t, NULL);
                d.bad_write = at;
                d.with = full ? -ENOSPC : -EIO;
                expect_error(&t, &d.io, (hdx_fleet_format)format, full ? HDX_LIMIT : HDX_IO,
                             full ? "cannot write: No space left on device" : "cannot write: Input/output error");
                cr_expect(hidden(&t) == 0 && entries(&t, "tables", "dump_id=") == 0);
                fleet_end(&t);
            }
}

/* A full disk is no answer with too many rows: no table of it is left empty, and the call does not succeed. */
Test(writers, a_disk_that_is_full_when_a_file_is_created_or_closed_fails_the_call)
{
    fleet_test t;
    fleet_begin(&t, NULL);
    door d = a_door();
    cr_assert(write_by(&t, &d.io, HDX_FLEET_CSV, "a") == HDX_OK, "%s", t.err.message);
    char          *problems = fleet_read(&t, HDX_FLEET_CSV, "a", "problems");
    const unsigned creates = d.creates, closes = d.closes;
    unsigned       failed = 0;
    cr_expect(creates > 10 && closes >= creates, "%u, %u", creates, closes);
    for (unsigned n = 1; n <= creates + closes; n++) {
        d = a_door();
        d.bad_create = n <= creates ? n : 0;
        d.bad_close = n > creates ? n - creates : 0;
        d.with = -ENOSPC;
        const hdx_code code = write_by(&t, &d.io, HDX_FLEET_CSV, "a");
        char          *now = fleet_read(&t, HDX_FLEET_CSV, "a", "problems");
        cr_expect(code == (n <= creates || code != HDX_OK ? HDX_LIMIT : HDX_OK), "%u of %u: %d", n, creates, code);
        cr_expect_str_eq(now, problems, "%u of %u", n, creates);
        failed += code != HDX_OK;
        free(now);
    }
    cr_expect(failed >= 2 * creates, "%u", failed);
    free(problems);
    fleet_end(&t);
}

/* ---- what is there ---- */

Test(writers, tables_are_there_when_each_of_those_that_are_asked_for_is)
{
    hdx_fleet_declared table;
    for (int format = HDX_FLEET_PARQUET; format <= HDX_FLEET_CSV; format++) {
        unsigned missed = 0;
        for (unsigned i = 0; hdx_fleet_table_at(i, &table); i++) {
            fleet_test t;
            char       path[600];
            fleet_begin(&t, NULL);
            cr_assert(write_by(&t, hdx_io_system(), (hdx_fleet_format)format, "a") == HDX_OK);
            cr_expect(hdx_fleet_is_there(&t.o));
            (void)snprintf(path, sizeof path, "%s/tables/dump_id=a/%s.%s", t.out, table.name,
                           format == HDX_FLEET_CSV ? "csv" : "parquet");
            cr_expect((access(path, F_OK) == 0) == !table.on_demand, "%s", path);
            (void)unlink(path);
            cr_expect(hdx_fleet_is_there(&t.o) == table.on_demand, "%s", table.name);
            missed += !table.on_demand;
            fleet_end(&t);
        }
        cr_expect(missed > 10, "%u", missed);
    }
}

Test(writers, tables_of_a_dump_that_failed_are_there)
{
    fleet_test t;
    fleet_begin(&t, NULL);
    cr_assert(write_by(&t, hdx_io_system(), HDX_FLEET_SQLITE, "a") == HDX_OK);
    cr_expect(hdx_fleet_is_there(&t.o));
    t.o.dump_id = "b";
    cr_expect(!hdx_fleet_is_there(&t.o));
    fleet_end(&t);
}

/* ---- what is asked for ---- */

Test(writers, what_cannot_be_meant_is_refused_in_words)
{
    static const struct {
        const char *id, *out, *tables;
        bool        failed;
        const char *why;
    } cases[] = {
        { "a", "", NULL, true, "tables need an output folder" },
        { "a", NULL, NULL, true, "tables need an output folder" },
        { "a", "out", NULL, false, "expected either a session or an error" },
        { "a", "out", "nothing", true, "unknown table 'nothing'" },
        { "a", "out", "objects,,references", true, "unknown table ''" },
        { "", "out", NULL, true, "dump_id is 0 bytes; it must have 1 to 200" },
        { ".a", "out", NULL, true, "dump_id '.a' begins with a dot" },
        { "a/b", "out", NULL, true, "dump_id contains a slash or a control character at byte 2" },
        { "ab\x1f", "out", NULL, true, "dump_id contains a slash or a control character at byte 3" },
        { "abc\x7f", "out", NULL, true, "dump_id contains a slash or a control character at byte 4" },
        { "\xc3", "out", NULL, true, "dump_id is not valid UTF-8" },
    };
    fleet_test t;
    fleet_begin(&t, NULL);
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        const hdx_fleet_options o = { .out = cases[i].out,
                                      .dump_id = cases[i].id,
                                      .tables = cases[i].tables,
                                      .failure = cases[i].failed ? &failure : NULL };
        t.err = (hdx_error){ .offset = HDX_NOWHERE };
        cr_expect(hdx_fleet_write(NULL, &o, &t.err) == HDX_USAGE, "%zu", i);
        cr_expect(strcmp(t.err.message, cases[i].why) == 0, "%s", t.err.message);
    }
    fleet_end(&t);
}
