/*
 * owner.c - the owner of something, as a line of text: a process writes its own, other processes read it.
 *
 * In:  /proc of this host, the environment.
 * A process is identified by its number and its start time, so that a reused number does not count as alive. Nothing is
 * concluded about processes of another host or another boot.
 */
#include "base/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

/* Makes a word of untrusted text, without characters that a terminal or a reader of fields would interpret. */
static void as_word(char *text)
{
    for (; *text != '\0'; text++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:[]", *text) == NULL)
            *text = *text == '\n' ? '\0' : '_';
}

/* Returns the start time of a process in ticks since boot; 0: it does not exist (a zombie has ended). */
static unsigned long long start_of(long pid)
{
    char               path[48], text[1024];
    char               state = 'X';
    unsigned long long start = 0;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (read_small(path, text, sizeof text) == 0)
        return 0;
    const char *at = strrchr(text, ')'); /* its name may contain anything */
    if (at == NULL ||
        sscanf(at + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &state,
               &start) != 2 ||
        state == 'Z' || state == 'X')
        return 0;
    return start;
}

static void describe_job(char *out, size_t size)
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

bool hdx_owner_boot(char boot[40])
{
    memset(boot, 0, 40);
    if (read_small("/proc/sys/kernel/random/boot_id", boot, 40) == 0)
        return false;
    as_word(boot);
    return boot[0] != '\0';
}

int hdx_owner_load(int fd, char text[HDX_OWNER_RECORD])
{
    const ssize_t n = pread(fd, text, HDX_OWNER_RECORD - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return n < 0 ? -errno : 0;
}

bool hdx_owner_is_at(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && lstat(path, &named) == 0 && open_one.st_ino == named.st_ino &&
           open_one.st_dev == named.st_dev;
}

void hdx_owner_in_names(char *text)
{
    for (; *text != '\0'; text++)
        *text = *text == '/' || *text == '.' ? '-' : *text;
}

void hdx_owner_host_in_names(char host[65])
{
    memset(host, 0, 65);
    (void)gethostname(host, 64);
    hdx_owner_in_names(host);
}

static void describe_self(hdx_owner *o)
{
    char link[64] = "";
    *o = (hdx_owner){ .pid = (long)getpid(), .since = (unsigned long long)time(NULL) };
    if (gethostname(o->host, sizeof o->host - 1) != 0 || o->host[0] == '\0')
        (void)snprintf(o->host, sizeof o->host, "-");
    if (!hdx_owner_boot(o->boot))
        (void)snprintf(o->boot, sizeof o->boot, "-");
    if (readlink("/proc/self/ns/pid", link, sizeof link - 1) > 0)
        (void)sscanf(link, "pid:[%llu]", &o->space);
    o->start = start_of(o->pid);
    describe_job(o->job, sizeof o->job);
    as_word(o->host);
}

bool hdx_owner_read(const char *text, hdx_owner *o)
{
    *o = (hdx_owner){ .pid = 0 };
    if (sscanf(text, "heapdex 1 host=%64s boot=%39s space=%llu pid=%ld start=%llu since=%llu job=%47s", o->host,
               o->boot, &o->space, &o->pid, &o->start, &o->since, o->job) != 7 ||
        o->pid <= 0)
        return false;
    as_word(o->host);
    as_word(o->job);
    return true;
}

/*
 * Another boot may be another machine of the same name (containers, copied machines); in another process namespace the
 * numbers belong to other processes. In both cases nothing is known, as for another host.
 */
hdx_owner_is hdx_owner_fate(const hdx_owner *o)
{
    hdx_owner self;
    describe_self(&self);
    if (strcmp(o->host, self.host) != 0 || strcmp(o->boot, self.boot) != 0 || o->space != self.space)
        return HDX_OWNER_ELSEWHERE;
    const unsigned long long start = start_of(o->pid);
    if (start != 0 && o->start != 0)
        return start == o->start ? HDX_OWNER_ALIVE : HDX_OWNER_DEAD;
    return kill((pid_t)o->pid, 0) != 0 ? errno == EPERM ? HDX_OWNER_ALIVE : HDX_OWNER_DEAD
           : self.start == 0           ? HDX_OWNER_ALIVE
                                       : HDX_OWNER_DEAD; /* hidden from us, or /proc is missing */
}

int hdx_owner_record(char *out, size_t size)
{
    hdx_owner self;
    describe_self(&self);
    return snprintf(out, size, "heapdex 1 host=%s boot=%s space=%llu pid=%ld start=%llu since=%llu job=%s\n", self.host,
                    self.boot, self.space, self.pid, self.start, self.since, self.job);
}

void hdx_owner_words(const char *text, char *out, size_t size)
{
    hdx_owner o;
    struct tm tm;
    char      when[32] = "";
    if (!hdx_owner_read(text, &o)) {
        (void)snprintf(out, size, "the lock file does not name the process");
        return;
    }
    const time_t since = (time_t)o.since;
    if (gmtime_r(&since, &tm) != NULL)
        (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
    (void)snprintf(out, size, "process %ld on %s since %s%s%s", o.pid, o.host, when,
                   strcmp(o.job, "-") == 0 ? "" : ", job ", strcmp(o.job, "-") == 0 ? "" : o.job);
}
