/*
 * test_lock.c - one builder at a time, told apart from one that died: by flock, by the record where flock is missing or
 * excludes nobody, and never by a guess about another host.
 */
#include "making/making.h"
#include "making/heap_model.h"
#include "support/faulty.h"
#include "support/folder.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char      folder[TEST_FOLDER], dump[64], lock[96];
static faulty_io faulty;

static void enter(void)
{
    static heap_model h;
    test_folder_make_fast(folder, "lock");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(lock, sizeof lock, "%s", own_of_dump("lock", dump));
    dump_maker *m = model_make(&h, 5, 200, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    faulty_io_init(&faulty, 0, EIO, false);
}

static void leave(void) { test_folder_remove(folder); }

TestSuite(lock, .init = enter, .fini = leave, .timeout = 60);

static int lies(int fd)
{
    (void)fd;
    return 0;
}
static int here_only(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0 ? HDX_LOCK_HERE : -errno; }
static int missing(int fd)
{
    (void)fd;
    return -ENOSYS;
}
static int not_on_this(int fd)
{
    (void)fd;
    return -EOPNOTSUPP;
}
static int without_daemon(int fd)
{
    (void)fd;
    return -ENOLCK;
}

static hdx_code build(hdx_error *err)
{
    hdx_build_doors   doors = { .io = &faulty.io };
    hdx_index_options options = { .dump = dump, .threads = 1, .no_wait = true, .force = true };
    hdx_index_report  report;
    *err = (hdx_error){ .code = HDX_OK };
    return hdx_index_build_through(&doors, &options, &report, err);
}

static void read_lock(char text[512])
{
    FILE *f = fopen(lock, "r");
    cr_assert(f != NULL);
    text[fread(text, 1, 511, f)] = '\0';
    (void)fclose(f);
}

static void write_lock(const char *text)
{
    FILE *f = fopen(lock, "w");
    cr_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

/* The record of a process that lives until it is told to go. */
typedef struct owner {
    pid_t pid;
    int   door;
} owner;

static owner hold(char text[512])
{
    int   ready[2], door[2];
    char  byte = 0;
    owner o;
    cr_assert(pipe(ready) == 0 && pipe(door) == 0);
    if ((o.pid = fork()) == 0) {
        hdx_index_options options = { .dump = dump };
        hdx_index_home    home;
        (void)close(door[1]);
        if (hdx_place_find(hdx_io_system(), &options, &home, NULL) != HDX_OK ||
            hdx_place_lock(hdx_io_system(), &options, &home, NULL) != HDX_OK || home.lock_fd < 0 ||
            write(ready[1], "r", 1) != 1)
            _exit(1);
        (void)!read(door[0], &byte, 1);
        _exit(0); /* without giving it back */
    }
    cr_assert(o.pid > 0 && read(ready[0], &byte, 1) == 1);
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)close(door[0]);
    o.door = door[1];
    read_lock(text);
    return o;
}

static void end(owner o)
{
    (void)close(o.door);
    (void)waitpid(o.pid, NULL, 0);
}

static void expect_names(const hdx_error *err, pid_t pid)
{
    char host[65] = "", want[128];
    (void)gethostname(host, sizeof host - 1);
    (void)snprintf(want, sizeof want, "process %ld on %s since 20", (long)pid, host);
    cr_expect(strstr(err->message, want) != NULL && strstr(err->message, " UTC") != NULL, "%s", err->message);
}

Test(lock, that_is_held_names_process_host_and_time)
{
    char      text[512];
    hdx_error err;
    cr_assert(setenv("SLURM_JOB_ID", "4711", 1) == 0);
    owner o = hold(text);
    cr_expect(build(&err) == HDX_BUSY);
    expect_names(&err, o.pid);
    cr_expect(strstr(err.message, "job slurm:4711") != NULL, "%s", err.message);
    end(o);
    cr_expect(build(&err) == HDX_OK, "%s", err.message);
    cr_expect(!is_there(lock));
}

Test(lock, of_a_dead_process_is_taken_with_and_without_flock)
{
    static int (*const ways[])(int) = { NULL, here_only, missing, not_on_this, without_daemon, lies };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char      text[512];
        hdx_error err;
        end(hold(text));
        cr_assert(is_there(lock));
        faulty.lock = ways[i];
        cr_expect(build(&err) == HDX_OK, "way %zu: %s", i, err.message);
        cr_expect(!is_there(lock), "way %zu", i);
    }
}

Test(lock, without_flock_is_a_claim_that_a_living_process_keeps)
{
    static int (*const ways[])(int) = { missing, not_on_this, without_daemon };
    char  text[512];
    owner o = hold(text);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        hdx_error err;
        faulty.lock = ways[i];
        cr_expect(build(&err) == HDX_BUSY);
        expect_names(&err, o.pid);
        cr_expect(is_there(lock));
    }
    end(o);
}

Test(lock, that_excludes_nobody_is_noticed)
{
    char      text[512];
    hdx_error err;
    owner     o = hold(text);
    faulty.lock = lies;
    cr_expect(build(&err) == HDX_BUSY);
    expect_names(&err, o.pid);
    cr_expect(strstr(err.message, "file locks have no effect here") != NULL && strstr(err.hint, lock) != NULL,
              "%s / %s", err.message, err.hint);
    end(o);
}

/* The record of a living process with one field changed. */
static void tell(const char *text, const char *field, const char *value)
{
    char        out[600];
    const char *at = strstr(text, field);
    cr_assert(at != NULL);
    at += strlen(field);
    (void)snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, value, at + strcspn(at, " \n"));
    write_lock(out);
}

/* Who may read the dump may know who builds its index. */
Test(lock, is_read_by_whom_the_dump_is_read_and_written_by_its_owner)
{
    static const mode_t modes[] = { 0600, 0640, 0644, 0664, 0666 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char        text[512];
        struct stat st;
        cr_assert(chmod(dump, modes[i]) == 0);
        owner o = hold(text);
        cr_assert(stat(lock, &st) == 0);
        cr_expect((st.st_mode & 0777) == (modes[i] & ~022u), "%o: %o", (unsigned)modes[i], (unsigned)st.st_mode & 0777);
        end(o);
        cr_assert(unlink(lock) == 0);
    }
}

/* Another builder takes the place, at the n-th file that this one creates, which fails, or is there. */
static unsigned creations, steal_at;
static bool     fails;

static int steal(hdx_io *io, const char *path)
{
    if (strstr(path, ".heapdex-part-") != NULL && ++creations == steal_at) {
        cr_assert(unlink(lock) == 0);
        write_lock("heapdex another\n");
        if (fails)
            return -ENOENT;
    }
    (void)io;
    return hdx_io_system()->create(hdx_io_system(), path);
}

Test(lock, that_is_taken_over_is_told_whatever_fails_first)
{
    for (unsigned with = 0; with < 3; with++) {
        hdx_error err;
        creations = 0;
        steal_at = 2;
        fails = with != 1;
        faulty.io.create = steal;
        if (with == 2)
            faulty.io.create = hdx_io_system()->create; /* nobody takes it */
        const hdx_code code = build(&err);
        cr_expect(code == (with == 2 ? HDX_OK : HDX_BUSY), "%u: %s", with, err.message);
        if (with < 2) {
            cr_expect(strstr(err.message, "another builder took over") == err.message, "%s", err.message);
            cr_expect(strstr(err.hint, "--index-dir DIR") != NULL, "%s", err.hint);
            cr_expect(is_there(lock), "it is the other's");
            (void)unlink(lock);
        }
    }
}

Test(lock, of_a_pid_used_again_is_nobodys)
{
    char      text[512];
    hdx_error err;
    owner     o = hold(text);
    faulty.lock = missing;
    tell(text, " start=", "1");
    cr_expect(build(&err) == HDX_OK, "%s", err.message);
    end(o);
}

Test(lock, of_another_host_boot_or_container_is_never_guessed_about)
{
    static const struct {
        const char *field, *value;
    } who[] = { { " host=", "node7" }, { " space=", "1" }, { " boot=", "00000000-0000-0000-0000-000000000000" } };
    static int (*const ways[])(int) = { missing, here_only };
    char text[512];
    end(hold(text)); /* nobody here has that pid any more */
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++) {
            hdx_error err;
            faulty.lock = ways[k];
            tell(text, who[i].field, who[i].value);
            cr_expect(build(&err) == HDX_BUSY, "%u, %u", i, k);
            cr_expect(strstr(err.message, i == 0 ? "on node7 since" : "process ") != NULL &&
                          strstr(err.hint, lock) != NULL,
                      "%s / %s", err.message, err.hint);
            cr_expect(is_there(lock));
        }
    hdx_error err;
    faulty.lock = NULL; /* a lock that reaches other hosts was granted: nobody holds it */
    cr_expect(build(&err) == HDX_OK, "%s", err.message);
}

Test(lock, that_says_nothing_is_waited_for_and_then_only_believed_of_flock)
{
    static const char *const texts[] = { "", "heapdex 12345\n", "heapdex 1 host=x",
                                         "heapdex 1 host=a boot=b space=1 pid=-7 start=1 since=1 job=-\n" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hdx_error err;
        write_lock(texts[i]);
        faulty.lock = missing;
        cr_expect(build(&err) == HDX_BUSY && strstr(err.message, "does not name the process") != NULL, "%s",
                  err.message);
        faulty.lock = NULL;
        cr_expect(build(&err) == HDX_OK, "%s", err.message);
    }
}

Test(lock, is_no_link_and_no_pipe)
{
    char      victim[96], place[96], text[8] = "";
    hdx_error err;
    (void)snprintf(victim, sizeof victim, "%s/victim", folder);
    FILE *f = fopen(victim, "w");
    cr_assert(f != NULL && fputs("kept", f) >= 0 && fclose(f) == 0);
    cr_assert(setenv("XDG_CACHE_HOME", folder, 1) == 0);
    cr_assert(symlink(victim, lock) == 0);
    cr_expect(build(&err) == HDX_OK, "%s", err.message);
    cr_assert(unlink(lock) == 0 && mkfifo(lock, 0600) == 0);
    cr_expect(build(&err) == HDX_OK, "%s", err.message);
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    cr_expect(!is_there(place) && is_there(lock), "another place was taken");
    f = fopen(victim, "r");
    cr_expect(f != NULL && fgets(text, sizeof text, f) != NULL && strcmp(text, "kept") == 0);
    (void)fclose(f);
}

/* Another host's builder, on a file system whose locks say yes to everybody, comes while this one is at work. */
static bool came;
static int  come_at_sync(hdx_io *io, int fd)
{
    if (!came) {
        came = true;
        write_lock("heapdex 1 host=node7 boot=b space=1 pid=7 start=1 since=1700000000 job=-\n");
    }
    return hdx_io_system()->sync(io, fd);
}

static int come_at_mkdir(hdx_io *io, const char *path)
{
    const int rc = hdx_io_system()->mkdir(io, path);
    if (!came && rc >= 0) {
        came = true;
        write_lock("heapdex 1 host=node7 boot=b space=1 pid=7 start=1 since=1700000000 job=-\n");
    }
    return rc;
}

Test(lock, that_was_taken_meanwhile_lets_no_index_appear)
{
    for (unsigned way = 0; way < 2; way++) {
        char      path[96];
        hdx_error err;
        came = false;
        faulty_io_init(&faulty, 0, EIO, false);
        if (way == 0)
            faulty.io.mkdir = come_at_mkdir;
        else
            faulty.io.sync = come_at_sync;
        faulty.lock = lies;
        cr_expect(build(&err) == HDX_BUSY &&
                      strstr(err.message, "process 7 on node7 since 2023-11-14 22:13:20 UTC") != NULL,
                  "%u: %s", way, err.message);
        (void)snprintf(path, sizeof path, "%s.hdx", dump);
        cr_expect(!is_there(path), "%u", way);
        (void)snprintf(path, sizeof path, "%s", own_of_dump("part", dump));
        cr_expect(is_there(path) && is_there(lock), "%u: what is the other's is gone", way);
        faulty_io_init(&faulty, 0, EIO, false);
        cr_expect(build(&err) == HDX_OK, "%u: %s", way, err.message);
        hdx_index_options options = { .dump = dump };
        cr_assert(hdx_index_remove(&options, path, sizeof path, NULL) == HDX_OK);
    }
}

/* Many at once: exactly one of them builds at a time, and all end with an index or are told. */
Test(lock, lets_one_of_many_build_where_there_is_no_flock)
{
    enum { MANY = 6 };
    pid_t pids[MANY];
    char  path[96];
    int   done = 0;
    (void)snprintf(path, sizeof path, "%s.hdx/catalog.mdb", dump);
    for (unsigned i = 0; i < MANY; i++)
        if ((pids[i] = fork()) == 0) {
            hdx_error err;
            faulty.lock = missing;
            const hdx_code code = build(&err);
            _exit(code == HDX_OK ? 0 : code == HDX_BUSY ? 1 : 2);
        }
    for (unsigned i = 0; i < MANY; i++) {
        int status;
        cr_assert(waitpid(pids[i], &status, 0) == pids[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) < 2, "%x", (unsigned)status);
        done += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    cr_expect(done > 0 && is_there(path) && !is_there(lock));
}

/* An error of the disk is no other builder. */
Test(lock, that_cannot_be_read_again_is_an_error_of_the_file)
{
    const hdx_index_options options = { .dump = "a.hprof" };
    hdx_index_home          home;
    hdx_error               err;
    cr_assert(hdx_place_find(hdx_io_system(), &options, &home, &err) == HDX_OK &&
              hdx_place_lock(hdx_io_system(), &options, &home, &err) == HDX_OK && home.lock_fd >= 0);
    cr_expect_eq(hdx_place_still_held(&home, &err), HDX_OK);
    const int readable = home.lock_fd;
    home.lock_fd = open(home.lock, O_WRONLY | O_CLOEXEC);
    cr_assert(home.lock_fd >= 0);
    cr_expect_eq(hdx_place_still_held(&home, &err), HDX_IO);
    cr_expect_str_eq(err.message, "cannot read the lock: Bad file descriptor");
    cr_expect_str_eq(err.where, home.lock);
    (void)close(home.lock_fd);
    home.lock_fd = readable;
    hdx_place_unlock(&home);
    cr_expect(!is_there(home.lock));
}
