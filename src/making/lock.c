/*
 * lock.c - one builder at a time: the file *.lock beside the folder, and in it who holds it.
 *
 * In:  the path of the lock.
 * Out: home.lock_fd, which holds it until hdx_place_unlock; HDX_BUSY naming the other builder.
 *
 * Two things lock. flock, which the kernel gives back however its owner dies; and a record of the owner: host, boot,
 * process namespace, process, its start, the job it belongs to. Where flock works, the record is for people. Where
 * there is none (ENOSYS on Lustre without -o flock), the file is a claim: made with O_EXCL, and the process that finds
 * it believes its record. Where flock does not exclude other hosts, or nobody at all, the record still does. A process
 * of this host is looked up, with the time it began, so that neither its number used again nor a boot brings it back to
 * life; of another host nothing is guessed: its claim stands until it is removed.
 *
 *     heapdex 1 host=node7 boot=3f1c... space=4026531836 pid=4711 start=8812345 since=1700000000 job=slurm:99
 */
#include "making/making.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define RECORD     512u
#define EMPTY_WAIT 20u /* looks at a file that its maker has not written yet */
#define LOOK_US    50000u

typedef struct owner {
    char               host[65], boot[40], job[48];
    unsigned long long space, start, since;
    long               pid;
} owner;

typedef enum fate { UNTOLD, DEAD, ALIVE, ELSEWHERE } fate;

/* ---- who we are, who they are ---- */
static size_t read_small(const char *path, char *to, size_t size)
{
    const int     fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, to, size - 1);
    if (fd >= 0)
        (void)close(fd);
    to[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* A word of a record, whoever wrote it: nothing that a terminal or the next field could take for something else. */
static void as_word(char *text)
{
    for (; *text != '\0'; text++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]", *text) == NULL)
            *text = *text == '\n' ? '\0' : '_';
}

/* When the process began, in ticks since the boot; 0: there is none (a zombie has ended). */
static unsigned long long start_of(long pid)
{
    char               path[48], text[1024];
    char               state = 'X';
    unsigned long long start = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (read_small(path, text, sizeof text) == 0)
        return 0;
    const char *at = strrchr(text, ')'); /* its name may hold anything */
    if (at == NULL ||
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
               &start) != 2 ||
        state == 'Z' || state == 'X')
        return 0;
    return start;
}

static void tell_job(char *out, size_t size)
{
    static const char *const names[][2] = {
        { "SLURM_JOB_ID", "slurm" }, { "PBS_JOBID", "pbs" }, { "LSB_JOBID", "lsf" }, { "JOB_ID", "job" }
    };
    (void)snprintf(out, size, "-");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *id = getenv(names[i][0]);
        if (id != NULL && id[0] != '\0') {
            (void)snprintf(out, size, "%s:%s", names[i][1], id);
            break;
        }
    }
    as_word(out);
}

bool hdx_lock_boot(char boot[40])
{
    memset(boot, 0, 40);
    if (read_small("/proc/sys/kernel/random/boot_id", boot, 40) == 0)
        return false;
    as_word(boot);
    return boot[0] != '\0';
}

static void tell_self(owner *o)
{
    char link[64] = "";
    *o = (owner){ .pid = (long)getpid(), .since = (unsigned long long)time(NULL) };
    if (gethostname(o->host, sizeof o->host - 1) != 0 || o->host[0] == '\0')
        (void)snprintf(o->host, sizeof o->host, "-");
    if (!hdx_lock_boot(o->boot))
        (void)snprintf(o->boot, sizeof o->boot, "-");
    if (readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0)
        (void)sscanf(link, "pid:[%llu]", &o->space);
    o->start = start_of(o->pid);
    tell_job(o->job, sizeof o->job);
    as_word(o->host);
}

static bool read_owner(const char *text, owner *o)
{
    *o = (owner){ .pid = 0 };
    if (sscanf(text, "heapdex 1 host=%64s boot=%39s space=%llu pid=%ld start=%llu since=%llu job=%47s", o->host,
               o->boot, &o->space, &o->pid, &o->start, &o->since, o->job) != 7 ||
        o->pid <= 0)
        return false;
    as_word(o->host);
    as_word(o->job);
    return true;
}

/* Another boot of the same host: dead. Another process namespace: its numbers say nothing here, as on another host. */
static fate fate_of(const owner *o)
{
    owner self;
    tell_self(&self);
    if (strcmp(o->host, self.host) != 0)
        return ELSEWHERE;
    if (strcmp(o->boot, self.boot) != 0)
        return DEAD;
    if (o->space != self.space)
        return ELSEWHERE;
    const unsigned long long start = start_of(o->pid);
    if (start != 0 && o->start != 0)
        return start == o->start ? ALIVE : DEAD;
    return kill((pid_t)o->pid, 0) != 0 ? errno == EPERM ? ALIVE : DEAD
           : self.start == 0           ? ALIVE
                                       : DEAD; /* hidden from us; /proc is missing */
}

/* ---- the file ---- */
static void read_record(int fd, char text[RECORD])
{
    const ssize_t n = pread(fd, text, RECORD - 1, 0);
    text[n > 0 ? n : 0] = '\0';
}

static bool same_file(int fd, const char *path)
{
    struct stat by_fd, by_path;
    return fstat(fd, &by_fd) == 0 && lstat(path, &by_path) == 0 && by_fd.st_ino == by_path.st_ino &&
           by_fd.st_dev == by_path.st_dev;
}

/* What is found may be anything: a link or a pipe is no lock. */
static int open_lock(const char *path, bool *fresh)
{
    for (unsigned again = 0; again < 3; again++) {
        struct stat st;
        int         fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        *fresh = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            return fd < 0 ? -errno : fd;
        fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == EACCES)
            fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
            (void)close(fd);
            return -EEXIST;
        }
        if (fd >= 0 || errno != ENOENT)
            return fd < 0 ? -errno : fd;
    }
    return -EAGAIN;
}

static int write_record(int fd, hdx_index_home *home)
{
    owner self;
    tell_self(&self);
    const int n = snprintf(home->record, sizeof home->record,
                           "heapdex 1 host=%s boot=%s space=%llu pid=%ld start=%llu since=%llu job=%s\n", self.host,
                           self.boot, self.space, self.pid, self.start, self.since, self.job);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, home->record, (size_t)n, 0) != n)
        return -errno;
    return 0;
}

/* Of those who find a dead owner's file one takes it away: a name moves once. What was another's by then goes back. */
static void take_away(int fd, const char *path)
{
    char moved[4200];
    (void)snprintf(moved, sizeof moved, "%s.%ld", path, (long)getpid());
    if (rename(path, moved) != 0)
        return;
    if (!same_file(fd, moved))
        (void)!link(moved, path);
    (void)unlink(moved);
}

static void words_of(const char *text, char *out, size_t size)
{
    owner     o;
    struct tm tm;
    char      when[32] = "";
    if (!read_owner(text, &o)) {
        (void)snprintf(out, size, "it has not said who it is");
        return;
    }
    const time_t since = (time_t)o.since;
    if (gmtime_r(&since, &tm) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
    (void)snprintf(out, size, "process %ld on %s since %s%s%s", o.pid, o.host, when,
                   strcmp(o.job, "-") == 0 ? "" : ", job ", strcmp(o.job, "-") == 0 ? "" : o.job);
}

/* What a look at the lock has told. */
typedef enum look { GOT, HELD, AGAIN, NO_PLACE } look;

/* `locked`: what flock said, as in hdx_io. */
static look judge(int fd, bool fresh, int locked, unsigned looks, hdx_index_home *home, const char **why)
{
    char  text[RECORD];
    owner o;
    *why = "";
    if (locked == -EWOULDBLOCK)
        return HELD;
    if (!same_file(
            fd, home->lock)) /* its owner removed it when it was done: what we hold is a lock that nobody else sees */
        return AGAIN;
    if (fresh)
        return write_record(fd, home) == 0 ? GOT : NO_PLACE;
    read_record(fd, text);
    const bool told = read_owner(text, &o);
    const fate how = !told ? UNTOLD : fate_of(&o);
    if (how == UNTOLD && locked != 0 && looks < EMPTY_WAIT) /* its maker may be about to write it */
        return HELD;
    if (how == ALIVE) {
        *why = locked >= 0 ? "; file locks exclude nobody here" : "";
        return HELD;
    }
    if ((how == ELSEWHERE && locked != 0) || (how == UNTOLD && locked < 0)) {
        *why = locked >= 0 ? "; file locks do not reach other hosts here" : "; there are no file locks here";
        return HELD;
    }
    if (locked == 0 && write_record(fd, home) == 0)
        return GOT;
    take_away(fd, home->lock);
    return same_file(fd, home->lock) ? NO_PLACE : AGAIN;
}

hdx_code hdx_place_lock(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    char        line[RECORD + 160], words[240];
    const char *why;
    bool        told = false;
    for (unsigned looks = 0;; looks++) {
        bool      fresh = false;
        const int fd = open_lock(home->lock, &fresh);
        if (fd == -EACCES || fd == -EROFS || fd == -ENOENT || fd == -EPERM || fd == -ELOOP || fd == -EEXIST) {
            home->why_not = fd == -ELOOP || fd == -EEXIST ? EACCES : -fd;
            return HDX_OK; /* nothing can be locked there: hdx_place_begin finds another place, and locks that */
        }
        if (fd < 0)
            return hdx_fail(err, HDX_IO, home->lock, HDX_NOWHERE, "cannot lock: %s", strerror(-fd));
        const int locked = io->lock(io, fd);
        if (locked < 0 && locked != -EWOULDBLOCK && locked != -ENOSYS && locked != -EOPNOTSUPP && locked != -ENOLCK &&
            locked != -EINVAL) {
            (void)close(fd);
            return hdx_fail(err, HDX_IO, home->lock, HDX_NOWHERE, "cannot lock: %s", strerror(-locked));
        }
        const look told_by = judge(fd, fresh, locked, looks, home, &why);
        if (told_by == GOT) {
            hdx_access readers = home->access; /* they may ask who builds */
            readers.mode &= ~0022u;
            if (readers.acl_size == 0)
                io->share(io, home->lock, &readers);
            home->lock_fd = fd;
            return HDX_OK;
        }
        char text[RECORD];
        read_record(fd, text);
        (void)close(fd);
        if (told_by == NO_PLACE) {
            home->why_not = EACCES;
            return HDX_OK;
        }
        if (told_by == AGAIN)
            continue;
        words_of(text, words, sizeof words);
        if (options->no_wait && (text[0] != '\0' || looks >= EMPTY_WAIT)) {
            (void)hdx_fail(err, HDX_BUSY, home->path, HDX_NOWHERE, "another builder is at work: %s%s", words, why);
            return why[0] == '\0' ? HDX_BUSY
                                  : hdx_hint(err, HDX_BUSY, "if it is at work no more, remove %s", home->lock);
        }
        if (!told && (text[0] != '\0' || looks >= EMPTY_WAIT) && options->notice != NULL) {
            (void)snprintf(line, sizeof line, "waiting for another builder of this index: %s%s", words, why);
            options->notice(options->notice_context, line);
            told = true;
        }
        if (options->progress.cancelled != NULL && options->progress.cancelled(options->progress.context))
            return hdx_tick_stop(err);
        (void)usleep(LOOK_US);
    }
}

bool hdx_place_held(const hdx_index_home *home)
{
    char text[RECORD];
    if (home->lock_fd < 0 || !same_file(home->lock_fd, home->lock))
        return false;
    read_record(home->lock_fd, text);
    return strcmp(text, home->record) == 0;
}

hdx_code hdx_place_still_held(const hdx_index_home *home, hdx_error *err)
{
    char      text[RECORD] = "", words[240];
    const int fd = hdx_place_held(home) ? -1 : open(home->lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (hdx_place_held(home))
        return HDX_OK;
    if (fd >= 0) {
        read_record(fd, text);
        (void)close(fd);
    }
    words_of(text, words, sizeof words);
    return hdx_hint(err, hdx_fail(err, HDX_BUSY, home->path, HDX_NOWHERE, "another builder took this place: %s", words),
                    "file locks exclude nobody here: "
                    "one build at a time, or --index-dir DIR for each");
}

void hdx_place_unlock(hdx_index_home *home)
{
    if (home->lock_fd < 0)
        return;
    assert(home->lock[0] != '\0'); /* M2 */
    if (hdx_place_held(home)) {
        (void)!ftruncate(home->lock_fd, 0); /* where the name cannot go, its owner has */
        (void)unlink(home->lock);
    }
    (void)close(home->lock_fd);
    home->lock_fd = -1;
}
