/*
 * claim.c - OUT/claims/ID: which process works on a dump. It is created with O_EXCL and holds a record of its owner.
 *
 * The claim of a process of this host that has ended is taken over at once. A process of another host, or of another
 * boot, cannot be looked up: its runner touches the claim every BATCH_CLAIM_BEAT_S seconds, and a claim that was not
 * touched for BATCH_CLAIM_STALE_S is taken over. Both times come from the file system, so clocks of hosts may differ.
 * If a runner continues after it was stopped for that long, it finds that the claim is no longer its own. What both of
 * them build in the meantime is kept apart by the lock of the index, and each output gets its name when it is complete.
 * A file with the name of a claim that is no claim (a link, a pipe, other text) is neither read further nor removed.
 */
#include "batch/batch.h"

#include "base/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD_HEAD "heapdex " /* base/owner.h */

typedef enum claim_state { FREE, HELD, ABANDONED, FOREIGN } claim_state; /* FOREIGN: no claim */

/* Makes the name of a file next to a claim. It cannot be the id of a dump, because ids do not begin with a dot. */
static void name_next_to(char out[4300], const char *path, const char *what)
{
    const char *name = strrchr(path, '/') + 1;
    (void)snprintf(out, 4300, "%.*s.%s.%s", (int)(name - path), path, name, what);
}

/* Returns the current time of the claim's file system; false: nothing can be written there. */
static bool file_system_now(const char *path, struct timespec *now)
{
    struct stat st;
    char        probe[4300];
    const int   fd = hdx_own_create(path, 0600, probe, sizeof probe);
    const bool  good = fd >= 0 && futimens(fd, NULL) == 0 && fstat(fd, &st) == 0;
    if (fd >= 0) {
        (void)unlink(probe);
        (void)close(fd);
    }
    if (good)
        *now = st.st_mtim;
    return good;
}

static bool is_old(int fd, const char *path, unsigned seconds)
{
    struct timespec now;
    struct stat     st;
    return fstat(fd, &st) == 0 && file_system_now(path, &now) && now.tv_sec > st.st_mtim.tv_sec &&
           (uint64_t)(now.tv_sec - st.st_mtim.tv_sec) >= seconds;
}

/* Returns the state of a claim. *fd: the opened file, owned by the caller; -1: none. */
static claim_state read_state(const char *path, int *fd, char text[HDX_OWNER_RECORD])
{
    hdx_owner   o;
    struct stat st;
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    text[0] = '\0';
    if (*fd < 0)
        return errno == ENOENT ? FREE : errno == ELOOP || errno == ENXIO ? FOREIGN : HELD;
    if (fstat(*fd, &st) != 0 || !S_ISREG(st.st_mode))
        return FOREIGN;
    (void)hdx_owner_load(*fd, text);
    if (text[0] != '\0' && strncmp(text, RECORD_HEAD, sizeof RECORD_HEAD - 1) != 0)
        return FOREIGN;
    if (!hdx_owner_read(text, &o)) /* its process is about to write it, or was killed before */
        return is_old(*fd, path, BATCH_CLAIM_BEAT_S) ? ABANDONED : HELD;
    switch (hdx_owner_fate(&o)) {
    case HDX_OWNER_DEAD: return ABANDONED;
    case HDX_OWNER_ELSEWHERE: return is_old(*fd, path, BATCH_CLAIM_STALE_S) ? ABANDONED : HELD;
    default: return HELD;
    }
}

/*
 * Several processes may find the same abandoned claim, and one of them removes it: the one that creates .ID.taking. It
 * looks at the claim again first, because another process may have claimed the dump since. False: another process is
 * removing it.
 */
static bool remove_abandoned(const char *path)
{
    char taking[4300], text[HDX_OWNER_RECORD];
    int  fd;
    name_next_to(taking, path, "taking");
    const int mine = open(taking, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (mine < 0) { /* a process that was killed between here and the end leaves an empty file */
        struct stat st;
        const int   old = open(taking, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (old >= 0 && fstat(old, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 &&
            is_old(old, path, BATCH_CLAIM_BEAT_S))
            (void)unlink(taking);
        if (old >= 0)
            (void)close(old);
        return false;
    }
    if (read_state(path, &fd, text) == ABANDONED)
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
            if (hdx_batch_claim_is_ours(c)) /* false: it was empty for so long that another process took it over */
                return HDX_OK;
            c->fd = -1;
            (void)close(fd);
            continue;
        }
        if (errno != EEXIST)
            return hdx_fail(err, HDX_IO, c->path, HDX_NOWHERE, "cannot be created: %s", strerror(errno));
        int               old;
        const claim_state found = read_state(c->path, &old, text);
        if (old >= 0)
            (void)close(old);
        if (found == FOREIGN)
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, c->path, HDX_NOWHERE,
                                     "is not a lock file of a batch and is not replaced; the dump is skipped"),
                            "move that file elsewhere");
        if (found == HELD || (found == ABANDONED && !remove_abandoned(c->path)))
            break;
    }
    hdx_owner_words(text, words, sizeof words);
    return hdx_fail(err, HDX_BUSY, c->path, HDX_NOWHERE, "another runner is processing it: %s", words);
}

bool hdx_batch_claim_is_ours(const batch_claim *c)
{
    char text[HDX_OWNER_RECORD];
    if (c->fd < 0 || !hdx_owner_is_at(c->fd, c->path))
        return false;
    if (hdx_owner_load(c->fd, text) != 0) /* unreadable, but this process created it: no other one writes to it */
        return true;
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
    if (read_state(path, &fd, text) == ABANDONED)
        (void)remove_abandoned(path);
    if (fd >= 0)
        (void)close(fd);
}

bool hdx_batch_claim_is_held(const char *out, const char *id)
{
    char path[4200], text[HDX_OWNER_RECORD];
    int  fd;
    path_of(path, out, id);
    const claim_state found = read_state(path, &fd, text);
    if (fd >= 0)
        (void)close(fd);
    return found == HELD;
}
