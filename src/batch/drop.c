/*
 * drop.c - deletes a dump after its index is complete (--drop-dump), and restores dumps whose deletion was interrupted.
 *
 * In:  a finished job; the file that its child has read again (device, inode, size, time).
 * Out: the dump is deleted, or its status and an event say why not.
 *
 * unlink() takes a name, and another file may get the dump's name at any moment. So the dump is first renamed to
 *
 *     .heapdex-drop-0123456789abcdef-app.hprof        16 random digits, and its name
 *
 * in its folder. No other process gives a file that name. The renamed file is compared with the file that was read: if
 * it is the same, it is deleted; any other file gets its old name back, unless that name exists again. A call that is
 * killed in between leaves a file whose name contains the old one: the next batch that reads the folder renames it back
 * (hdx_batch_restore_names). hdx_own_name cannot be used, because a batch deletes temporary files of killed processes.
 */
#include "batch/run.h"

#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ASIDE     HDX_OWN_PREFIX "drop-"
#define DIGITS    16u
#define MOST_NAME 255u /* bytes, a limit of file systems */

/* ---- names ---- */

/* ".heapdex-drop-0123456789abcdef-app.hprof" -> "app.hprof"; NULL: another name. */
static const char *name_before(const char *name)
{
    const char *digits = name + sizeof ASIDE - 1, *rest = digits + DIGITS;
    if (strncmp(name, ASIDE, sizeof ASIDE - 1) != 0 || strspn(digits, "0123456789abcdef") != DIGITS || *rest != '-')
        return NULL;
    return rest[1] != '\0' ? rest + 1 : NULL;
}

/* Makes the temporary name of a dump; false: the name is too long. */
static bool name_aside(const char *path, char *out, size_t size)
{
    char        own[4300];
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (sizeof ASIDE + DIGITS + strlen(name) > MOST_NAME || !hdx_own_name(path, own, sizeof own))
        return false;
    const char *digits = own + strlen(own) - DIGITS;
    const int   n = snprintf(out, size, "%.*s" ASIDE "%s-%s", (int)(name - path), path, digits, name);
    return n > 0 && (size_t)n < size;
}

/* Never replaces a file that exists. Without renameat2 a link does the same for everything except folders. */
static bool rename_back(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    return (errno == EINVAL || errno == ENOSYS) && link(from, to) == 0 && unlink(from) == 0;
}

/* ---- deleting ---- */

/*
 * Writes everything that remains of the dump to disk, with the names of the files. Returns 0 or more, or a negative
 * errno.
 */
static int sync_all(const batch_run *r, const batch_job *j)
{
    hdx_io     *io = hdx_io_system();
    char        path[4200];
    const char *slash = j->s.index != NULL ? strrchr(j->s.index, '/') : NULL;
    int         rc = slash != NULL ? hdx_io_sync_files(io, j->s.index) : -ENOENT;
    (void)snprintf(path, sizeof path, "%.*s", slash != NULL && slash > j->s.index ? (int)(slash - j->s.index) : 1,
                   slash != NULL ? j->s.index : ".");
    if (rc >= 0)
        rc = io->sync_folder(io, path);
    for (int i = r->asked != NULL ? 0 : 2; rc >= 0 && i < 4; i++) {
        static const char *const folders[] = { "/answers/", "/answers", "/status", "" };
        (void)snprintf(path, sizeof path, "%s%s%s", r->o->out, folders[i], i == 0 ? j->dump->id : "");
        rc = io->sync_folder(io, path);
    }
    return rc;
}

/* Returns why the dump must not be deleted; NULL: its index is complete, and the dump did not change since. */
static const char *reason_to_keep(batch_run *r, const batch_job *j, hdx_error *err)
{
    uint64_t    size, mtime_ns;
    struct stat st;
    int         rc;
    if (!hdx_batch_file_of(j->dump->path, &size, &mtime_ns) || size != j->s.file_size || mtime_ns != j->s.mtime_ns)
        return "it has changed";
    if (lstat(j->dump->path, &st) != 0 || S_ISLNK(st.st_mode))
        return "it is a symbolic link"; /* the file it leads to belongs to somebody else, and would remain */
    if (j->s.damage_places > 0)
        return "it is damaged";
    if (j->needed != NULL)
        return j->needed;
    if (j->s.content == NULL || !j->read_again.known)
        return "it was not read both before and after indexing";
    if (j->tables_failed > 0)
        return "some of its tables are incomplete; the table problems gives the reasons";
    if (!hdx_batch_claim_is_ours(&j->claim))
        return "another process has claimed it";
    if (hdx_batch_status_write(r->o->out, j->dump, &j->s, true, err) != HDX_OK)
        return err->message;
    if ((rc = sync_all(r, j)) < 0)
        return strerror(-rc);
    return hdx_batch_claim_is_ours(&j->claim) ? NULL : "another process has claimed it";
}

/*
 * Deletes the file if it is the one that was read again. Otherwise returns the reason, and the file gets its name back.
 */
static const char *delete_file(batch_run *r, const batch_job *j)
{
    char        aside[4300], line[9000];
    struct stat st;
    const char *path = j->dump->path, *why;
    if (!name_aside(path, aside, sizeof aside))
        return "its name is too long to rename it before deletion";
    if (rename(path, aside) != 0)
        return strerror(errno);
    if (lstat(aside, &st) != 0)
        return "another process renamed it";
    if (!hdx_batch_is_file(&j->read_again, &st))
        why = "another file now has its name, or it has changed";
    else if (unlink(aside) != 0)
        why = strerror(errno);
    else
        return NULL;
    if (rename_back(aside, path))
        return why;
    (void)snprintf(line, sizeof line, "%s; it is now named %s and cannot be renamed back: %s", why, aside,
                   strerror(errno));
    return hdx_batch_keep(r, line);
}

void hdx_batch_drop(batch_run *r, batch_job *j)
{
    hdx_error err = { .offset = HDX_NOWHERE };
    if (j->s.dropped) /* by an earlier call */
        return;
    j->s.dropped = true; /* set first: a deleted dump must never have a status that says it exists */
    const char *why = reason_to_keep(r, j, &err);
    if (why == NULL)
        why = delete_file(r, j);
    if (why == NULL)
        return;
    j->s.dropped = false;
    j->s.not_dropped = hdx_batch_keep(r, why);
    hdx_batch_say_of(r, j, "dump not deleted: %s", why);
}

/* ---- interrupted deletions ---- */

static void restore(const char *folder, const char *aside, const char *name, bool look_only, batch_say *say,
                    void *context)
{
    char        from[4300], to[4300], line[9000];
    struct stat st;
    if ((size_t)snprintf(from, sizeof from, "%s/%s", folder, aside) >= sizeof from ||
        (size_t)snprintf(to, sizeof to, "%s/%s", folder, name) >= sizeof to || lstat(from, &st) != 0 ||
        !S_ISREG(st.st_mode))
        return;
    if (look_only)
        (void)snprintf(line, sizeof line,
                       "%s: an earlier run was killed while it deleted this dump (--drop-dump); the next batch renames "
                       "it back to %s",
                       from, name);
    else if (rename_back(from, to))
        (void)snprintf(line, sizeof line,
                       "%s: an earlier run was killed while it deleted this dump (--drop-dump); its name is restored",
                       to);
    else if (errno == ENOENT) /* another call was faster */
        return;
    else
        (void)snprintf(line, sizeof line,
                       "%s: an earlier run was killed while it deleted this dump (--drop-dump); it cannot be renamed "
                       "back to %s: %s",
                       from, name, strerror(errno));
    say(context, line);
}

void hdx_batch_restore_names(const char *folder, bool look_only, batch_say *say, void *context)
{
    const struct dirent *entry;
    DIR                 *d = opendir(folder);
    while (d != NULL && (entry = readdir(d)) != NULL) {
        const char *name = name_before(entry->d_name);
        if (name != NULL)
            restore(folder, entry->d_name, name, look_only, say, context);
    }
    if (d != NULL)
        (void)closedir(d);
}
