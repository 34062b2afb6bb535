/*
 * lock.c - one builder at a time: the file .heapdex-lock-NAME next to the folder NAME contains the owner of the lock.
 *
 * In:  the path of the lock.
 * Out: home.lock_fd, which holds it until hdx_place_unlock; HDX_BUSY naming the other builder.
 *
 * Two mechanisms lock: flock, which the kernel releases however its owner ends, and a record of the owner: host, boot,
 * process namespace, process, its start time, its job. Where flock works, the record is only for people. Without flock
 * (ENOSYS on Lustre without -o flock), the file is a claim: it is created with O_EXCL, and a process that finds it
 * trusts its record. If flock does not exclude other hosts, or excludes no process at all, the record still does. The
 * claim of a process of this host ends with the process; that of another host is valid until it is removed
 * (base/owner.h).
 */
#include "making/making.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD     HDX_OWNER_RECORD
#define EMPTY_WAIT 20u /* attempts to read a file that its creator has not written yet */
#define ATTEMPT_US 50000u

/* ---- the file ---- */
/*
 * A file that another user created, or that contains something else, is not our lock. It is neither waited for nor
 * written. After a loss of power a lock may be empty or full of zeros.
 */
static bool is_lock(int fd)
{
    char        text[RECORD];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
        return false;
    (void)hdx_owner_load(fd, text);
    return text[0] == '\0' || strncmp(text, "heapdex ", 8) == 0;
}

/* The name may belong to anything: a link or a pipe is not a lock. -EPERM: not our lock. */
static int open_lock(const char *path, bool *fresh)
{
    for (unsigned again = 0; again < 3; again++) {
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        *fresh = fd >= 0;
        if (fd >= 0 || errno != EEXIST)
            return fd < 0 ? -errno : fd;
        fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == EACCES)
            fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && !is_lock(fd)) {
            (void)close(fd);
            return -EPERM;
        }
        if (fd >= 0 || errno != ENOENT)
            return fd < 0 ? -errno : fd;
    }
    return -EAGAIN;
}

static int write_record(int fd, hdx_index_home *home)
{
    const int n = hdx_owner_record(home->record, sizeof home->record);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, home->record, (size_t)n, 0) != n)
        return -errno;
    return 0;
}

/*
 * Several processes may find a dead owner's file, but a name can be moved only once. If it was another's by then, it is
 * moved back.
 */
static void take_away(int fd, const char *path)
{
    char moved[4200];
    if (!hdx_own_name(path, moved, sizeof moved) || rename(path, moved) != 0)
        return;
    if (hdx_owner_is_at(fd, moved) || link(moved, path) == 0)
        (void)unlink(moved);
    else /* a file system without links; if a newer lock has the name now, the other keeps its temporary name */
        (void)!renameat2(AT_FDCWD, moved, AT_FDCWD, path, RENAME_NOREPLACE);
}

/* Result of an attempt to lock. */
typedef enum look { GOT, HELD, AGAIN, NO_PLACE } look;

/* `locked`: the result of flock, as in hdx_io. */
static look judge(int fd, bool fresh, int locked, unsigned attempts, hdx_index_home *home, const char **why)
{
    char      text[RECORD];
    hdx_owner o;
    *why = "";
    if (locked == -EWOULDBLOCK)
        return HELD;
    if (!hdx_owner_is_at(
            fd, home->lock)) /* its owner removed it when it was done: what we hold is a lock that nobody else sees */
        return AGAIN;
    if (fresh)
        return write_record(fd, home) == 0 ? GOT : NO_PLACE;
    (void)hdx_owner_load(fd, text);
    const bool         known = hdx_owner_read(text, &o);
    const hdx_owner_is how = !known ? HDX_OWNER_UNKNOWN : hdx_owner_fate(&o);
    if (how == HDX_OWNER_UNKNOWN && locked != 0 && attempts < EMPTY_WAIT) /* its creator may be about to write it */
        return HELD;
    if (how == HDX_OWNER_ALIVE) {
        *why = locked >= 0 ? "; file locks have no effect here" : "";
        return HELD;
    }
    if ((how == HDX_OWNER_ELSEWHERE && locked != 0) || (how == HDX_OWNER_UNKNOWN && locked < 0)) {
        *why = locked >= 0 ? "; file locks do not work across hosts here" : "; file locks are not supported here";
        return HELD;
    }
    if (locked == 0 && write_record(fd, home) == 0)
        return GOT;
    take_away(fd, home->lock);
    return hdx_owner_is_at(fd, home->lock) ? NO_PLACE : AGAIN;
}

hdx_code hdx_place_lock(hdx_io *io, const hdx_index_options *options, hdx_index_home *home, hdx_error *err)
{
    char        line[RECORD + 160], words[240];
    const char *why;
    bool        reported = false;
    for (unsigned attempts = 0;; attempts++) {
        bool      fresh = false;
        const int fd = open_lock(home->lock, &fresh);
        if (fd == -EACCES || fd == -EROFS || fd == -ENOENT || fd == -EPERM || fd == -ELOOP || fd == -EEXIST) {
            home->why_not = fd == -ELOOP || fd == -EEXIST ? EPERM : -fd;
            return HDX_OK; /* locking is impossible there: hdx_place_begin finds another place and locks that */
        }
        if (fd < 0)
            return hdx_fail(err, HDX_IO, home->lock, HDX_NOWHERE, "cannot lock: %s", strerror(-fd));
        const int locked = io->lock(io, fd);
        if (locked < 0 && locked != -EWOULDBLOCK && locked != -ENOSYS && locked != -EOPNOTSUPP && locked != -ENOLCK &&
            locked != -EINVAL) {
            (void)close(fd);
            return hdx_fail(err, HDX_IO, home->lock, HDX_NOWHERE, "cannot lock: %s", strerror(-locked));
        }
        const look result = judge(fd, fresh, locked, attempts, home, &why);
        if (result == GOT) {
            hdx_access readers = home->access; /* readers may query the builder */
            readers.mode &= ~0022u;
            if (readers.acl_size == 0)
                io->share(io, home->lock, &readers);
            home->lock_fd = fd;
            return HDX_OK;
        }
        char text[RECORD];
        (void)hdx_owner_load(fd, text);
        (void)close(fd);
        if (result == NO_PLACE) {
            home->why_not = EACCES;
            return HDX_OK;
        }
        if (result == AGAIN)
            continue;
        hdx_owner_words(text, words, sizeof words);
        if (options->no_wait && (text[0] != '\0' || attempts >= EMPTY_WAIT)) {
            (void)hdx_fail(err, HDX_BUSY, home->path, HDX_NOWHERE, "another builder is running: %s%s", words, why);
            return why[0] == '\0' ? HDX_BUSY
                                  : hdx_hint(err, HDX_BUSY, "if it is no longer running, remove %s", home->lock);
        }
        if (!reported && (text[0] != '\0' || attempts >= EMPTY_WAIT) && options->notice != NULL) {
            (void)snprintf(line, sizeof line, "waiting for another builder of this index: %s%s", words, why);
            options->notice(options->notice_context, line);
            reported = true;
        }
        if (options->progress.cancelled != NULL && options->progress.cancelled(options->progress.context))
            return hdx_tick_stop(err);
        (void)usleep(ATTEMPT_US);
    }
}

/* Returns 1 if it is held, 0 if not, or a negative errno if its record cannot be read. */
static int is_held(const hdx_index_home *home)
{
    char text[RECORD];
    if (home->lock_fd < 0 || !hdx_owner_is_at(home->lock_fd, home->lock))
        return 0;
    const int rc = hdx_owner_load(home->lock_fd, text);
    return rc < 0 ? rc : strcmp(text, home->record) == 0;
}

bool hdx_place_held(const hdx_index_home *home) { return is_held(home) == 1; }

hdx_code hdx_place_still_held(const hdx_index_home *home, hdx_error *err)
{
    char      text[RECORD] = "", words[240];
    const int held = is_held(home);
    if (held == 1)
        return HDX_OK;
    if (held < 0)
        return hdx_fail(err, HDX_IO, home->lock, HDX_NOWHERE, "cannot read the lock: %s", strerror(-held));
    const int fd = open(home->lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) {
        (void)hdx_owner_load(fd, text);
        (void)close(fd);
    }
    hdx_owner_words(text, words, sizeof words);
    return hdx_hint(err, hdx_fail(err, HDX_BUSY, home->path, HDX_NOWHERE, "another builder took over: %s", words),
                    "file locks have no effect here: run one build at a time, or give each its own --index-dir DIR");
}

void hdx_place_unlock(hdx_index_home *home)
{
    if (home->lock_fd < 0)
        return;
    assert(home->lock[0] != '\0'); /* M2 */
    if (hdx_place_held(home)) {
        (void)!ftruncate(home->lock_fd, 0); /* if the name cannot be removed, at least its owner is */
        (void)unlink(home->lock);
    }
    (void)close(home->lock_fd);
    home->lock_fd = -1;
}
