/*
 * seal.c - proves that the files of a partial build are those that our build left there.
 *
 * In:  the folder, when a checkpoint or the progress of a reading was saved in it, and when a build resumes from it.
 * Out: the file `seal`: name, device, inode, size and times of each file, the boot of the machine; a CRC32C of that.
 *
 * A file that agrees with the seal contains the bytes that we wrote. Reading it completely to make sure would take time
 * that a build which is interrupted again and again does not have. Why a foreign folder cannot contain a valid seal:
 *
 *     Inode numbers and the time of the last change (ctime, in nanoseconds) are set by the kernel. Not even the owner
 *     can choose them: the author of a folder would have to know what its files get when they are unpacked
 *     here. The seal names this boot of this machine, which is unknown elsewhere, and within one boot no write is
 *     lost. Files of other users, and files that others can write to, are refused before (place.c); a program that
 *     can write as this user needs no leftovers to do harm.
 *
 * The numbers in the state of a checkpoint are checked even with a seal. Without one (another boot, a copy, a changed
 * file, too coarse a clock) every file is read completely (checkpoint_check.c).
 */
#include "reading/resume.h"

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#define MAGIC   0x6c61657378646800ull
#define NAME    "seal"
#define TICK_NS 1000000u /* a clock with steps of this size or more may give two changes the same time */
#define WAITS   50u      /* of a millisecond each */

static const char *const others[] = {
    HDX_RESUME_SCAN,  HDX_RESUME_COLUMNS, HDX_RESUME_BITS,          HDX_RESUME_LISTS,         HDX_RESUME_VIEW,
    "references.tmp", "search.tmp",       "referrers.tmp",          "predecessors.tmp",       "class_instances.tmp",
    "idoms.tmp",      "checkpoint/state", "checkpoint/catalog.mdb", "checkpoint/catalog.sum",
};
#define NAMES (HDX_KINDS + sizeof others / sizeof *others)
_Static_assert(NAMES <= HDX_SEAL_FILES, "room for all of them");

static void name_of(size_t i, char *name, size_t size)
{
    if (i < HDX_KINDS)
        (void)snprintf(name, size, "%s.hdx", hdx_kind_name((hdx_kind)i));
    else
        (void)snprintf(name, size, "%s", others[i - HDX_KINDS]);
}

static uint64_t ns_of(struct timespec t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }

/* Reads the current state of the file; opening it makes a network file system update its cache. */
static bool look_at(const hdx_work *w, const char *name, hdx_sealed *out)
{
    char        path[4200];
    struct stat st;
    (void)snprintf(path, sizeof path, "%s/%s", w->folder, name);
    const int fd = w->io->open(w->io, path);
    if (fd < 0)
        return false;
    const bool there = w->io->stat(w->io, path, &st) >= 0;
    (void)w->io->close(w->io, fd);
    if (!there)
        return false;
    *out = (hdx_sealed){ .device = (uint64_t)st.st_dev, .inode = (uint64_t)st.st_ino, .size = (uint64_t)st.st_size };
    out->mtime_ns = ns_of(st.st_mtim);
    out->ctime_ns = ns_of(st.st_ctim);
    (void)snprintf(out->name, sizeof out->name, "%s", name);
    return true;
}

static bool seal_of(const hdx_saving *saving, hdx_seal *s)
{
    memset(s, 0, sizeof *s);
    s->magic = MAGIC;
    s->version = saving->version;
    memcpy(s->boot, saving->boot, sizeof s->boot);
    return s->boot[0] != '\0';
}

static uint32_t sum_of(const hdx_seal *s) { return hdx_crc32c(0, s, offsetof(hdx_seal, sum)); }

/*
 * Waits until later changes get another time than the files have. False: the clock is too coarse, or it is not the one
 * of the file system.
 */
static bool wait_for_clock(uint64_t last)
{
    struct timespec now = { 0 }, nap = { .tv_nsec = 1000000 };
    for (unsigned i = 0; i < WAITS; i++) {
        (void)clock_gettime(CLOCK_REALTIME_COARSE, &now); /* stays 0 if there is no such clock: too coarse */
        if (ns_of(now) > last)
            return true;
        (void)nanosleep(&nap, NULL);
    }
    return false;
}

void hdx_seal_remove(const hdx_work *w)
{
    char path[4200];
    (void)snprintf(path, sizeof path, "%s/" NAME, w->folder);
    (void)w->io->remove(w->io, path);
}

void hdx_seal_put(hdx_work *w, const hdx_saving *saving)
{
    char     path[4200];
    hdx_seal s;
    uint64_t last = 0;
    bool     fine = seal_of(saving, &s) && !saving->unproven, ticks = true;
    for (size_t i = 0; i < NAMES && fine; i++) {
        char name[sizeof s.files[0].name];
        name_of(i, name, sizeof name);
        if (!look_at(w, name, &s.files[s.count]))
            continue;
        assert(s.count < HDX_SEAL_FILES);
        const uint64_t at = s.files[s.count++].ctime_ns;
        last = at > last ? at : last;
        ticks = ticks && at % TICK_NS == 0;
    }
    hdx_seal_remove(w);
    if (!fine || ticks || !wait_for_clock(last))
        return;
    s.sum = sum_of(&s);
    (void)snprintf(path, sizeof path, "%s/" NAME, w->folder);
    const int fd = w->io->create(w->io, path);
    if (fd < 0)
        return;
    const int rc = w->io->write(w->io, fd, &s, sizeof s);
    if (w->io->close(w->io, fd) < 0 || rc < 0)
        hdx_seal_remove(w);
}

void hdx_seal_get(const hdx_work *w, hdx_saving *saving)
{
    char      path[4200];
    hdx_seal *s = &saving->seal, now;
    (void)snprintf(path, sizeof path, "%s/" NAME, w->folder);
    const int fd = w->io->open(w->io, path);
    bool      holds = fd >= 0 && w->io->read_at(w->io, fd, s, sizeof *s, 0) == (int64_t)sizeof *s;
    if (fd >= 0)
        (void)w->io->close(w->io, fd);
    holds = holds && s->sum == sum_of(s) && seal_of(saving, &now) && s->count <= HDX_SEAL_FILES &&
            memcmp(s, &now, offsetof(hdx_seal, count)) == 0;
    if (!holds)
        s->count = 0;
}

bool hdx_seal_has(const hdx_work *w, const hdx_saving *saving, const char *name)
{
    hdx_sealed now;
    if (saving->seal.count == 0 || !look_at(w, name, &now))
        return false;
    for (uint64_t i = 0; i < saving->seal.count; i++)
        if (memcmp(&saving->seal.files[i], &now, sizeof now) == 0)
            return true;
    return false;
}
