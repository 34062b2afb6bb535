/*
 * claim.c - OUT/claims/ID: who is at work on a dump. Made with O_EXCL; whoever finds one believes what it says.
 *
 * A claim of a process of this host that has ended is taken over at once. Of another host, or of another boot, nothing
 * can be looked up: its runner touches the claim every BATCH_CLAIM_BEAT_S seconds, and one that was not touched for
 * BATCH_CLAIM_STALE_S is taken over. Both times are those of the file system, so that clocks of hosts may differ.
 * Should a runner that was stopped for so long go on, it finds that the claim is not its own any more; what two of them
 * build meanwhile the lock of the index keeps apart, and outputs get their names whole.
 */
#include "batch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

typedef enum look { FREE, HELD, LEFT } look;

static void read_record(int fd, char text[HDX_OWNER_RECORD])
{
    const ssize_t n = pread(fd, text, HDX_OWNER_RECORD - 1, 0);
    text[n > 0 ? n : 0] = '\0';
}

static bool same_file(int fd, const char *path)
{
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* A file beside a claim, under a name that is no id's: they do not begin with a dot. */
static void beside(char out[4300], const char *path, const char *what)
{
    const char *name = strrchr(path, '/') + 1;
    (void)snprintf(out, 4300, "%.*s.%s.%s", (int)(name - path), path, name, what);
}

/* The time of the file system that has the claim; false: nothing can be written there. */
static bool now_there(const char *path, struct timespec *now)
{
    struct stat st;
    char        probe[4300], what[32];
    (void)snprintf(what, sizeof what, "now.%ld", (long)getpid());
    beside(probe, path, what);
    const int  fd = open(probe, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const bool good = fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &st) == 0;
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(probe);
    }
    if (good)
        *now = st.st_mtim;
    return good;
}

static bool is_old(int fd, const char *path, unsigned seconds)
{
    struct timespec now;
    struct stat     st;
    return fstat(fd, &st) == 0 && now_there(path, &now) && now.tv_sec > st.st_mtim.tv_sec &&
           (uint64_t)(now.tv_sec - st.st_mtim.tv_sec) >= seconds;
}

/* *fd: of the file that was looked at, the caller's; -1: there is none. */
static look look_at(const char *path, int *fd, char text[HDX_OWNER_RECORD])
{
    hdx_owner o;
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    text[0] = '\0';
    if (*fd < 0)
        return errno == ENOENT ? FREE : HELD;
    read_record(*fd, text);
    if (!hdx_owner_read(text, &o)) /* its maker is about to write it, or never will */
        return is_old(*fd, path, BATCH_CLAIM_BEAT_S) ? LEFT : HELD;
    switch (hdx_owner_fate(&o)) {
    case HDX_OWNER_DEAD: return LEFT;
    case HDX_OWNER_ELSEWHERE: return is_old(*fd, path, BATCH_CLAIM_STALE_S) ? LEFT : HELD;
    default: return HELD;
    }
}

/*
 * Of those who find a claim that is left one takes it away: whoever makes the file beside it looks once more, for the
 * claim may be another's by now. False: somebody else is about to.
 */
static bool take_away(const char *path)
{
    char taking[4300], text[HDX_OWNER_RECORD];
    int  fd;
    beside(taking, path, "taking");
    const int mine = open(taking, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (mine < 0) { /* a process that ended here, in a moment of no length, stands in nobody's way for long */
        const int old = open(taking, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (old >= 0 && is_old(old, path, BATCH_CLAIM_BEAT_S))
            (void)unlink(taking);
        if (old >= 0)
            (void)close(old);
        return false;
    }
    if (look_at(path, &fd, text) == LEFT)
        (void)unlink(path);
    if (fd >= 0)
        (void)close(fd);
    (void)unlink(taking);
    (void)close(mine);
    return true;
}

static void path_of(char path[4200], const char *out, const char *id)
{
    (void)snprintf(path, 4200, "%s/claims/%s", out, id);
}

hdx_code hdx_batch_claim_take(batch_claim *c, const char *out, const char *id, hdx_error *err)
{
    char text[HDX_OWNER_RECORD], words[240];
    path_of(c->path, out, id);
    c->fd = -1;
    for (unsigned again = 0; again < 8; again++) {
        const int fd = open(c->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd >= 0) {
            const int n = hdx_owner_record(c->record, sizeof c->record);
            if (pwrite(fd, c->record, (size_t)n, 0) != n) {
                const int why = errno;
                (void)unlink(c->path);
                (void)close(fd);
                return hdx_fail(err, HDX_IO, c->path, HDX_NOWHERE, "cannot be written: %s", strerror(why));
            }
            c->fd = fd;
            if (hdx_batch_claim_is_ours(c)) /* one that waited so long to be written was taken for left */
                return HDX_OK;
            c->fd = -1;
            (void)close(fd);
            continue;
        }
        if (errno != EEXIST)
            return hdx_fail(err, HDX_IO, c->path, HDX_NOWHERE, "cannot be made: %s", strerror(errno));
        int        old;
        const look found = look_at(c->path, &old, text);
        if (old >= 0)
            (void)close(old);
        if (found == HELD || (found == LEFT && !take_away(c->path)))
            break;
    }
    hdx_owner_words(text, words, sizeof words);
    return hdx_fail(err, HDX_BUSY, c->path, HDX_NOWHERE, "another runner is at work on it: %s", words);
}

bool hdx_batch_claim_is_ours(const batch_claim *c)
{
    char text[HDX_OWNER_RECORD];
    if (c->fd < 0 || !same_file(c->fd, c->path))
        return false;
    read_record(c->fd, text);
    return strcmp(text, c->record) == 0;
}

void hdx_batch_claim_beat(const batch_claim *c)
{
    if (c->fd >= 0)
        (void)futimens(c->fd, NULL);
}

void hdx_batch_claim_give(batch_claim *c)
{
    if (c->fd < 0)
        return;
    if (hdx_batch_claim_is_ours(c))
        (void)unlink(c->path);
    (void)close(c->fd);
    c->fd = -1;
}

void hdx_batch_claim_clear(const char *out, const char *id)
{
    char path[4200], text[HDX_OWNER_RECORD];
    int  fd;
    path_of(path, out, id);
    if (look_at(path, &fd, text) == LEFT)
        (void)take_away(path);
    if (fd >= 0)
        (void)close(fd);
}

bool hdx_batch_claim_is_held(const char *out, const char *id)
{
    char path[4200], text[HDX_OWNER_RECORD];
    int  fd;
    path_of(path, out, id);
    const look found = look_at(path, &fd, text);
    if (fd >= 0)
        (void)close(fd);
    return found == HELD;
}
