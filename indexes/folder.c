/*
 * folder.c - what heapdex writes into the folder of an index, by name (folder.h).
 *
 *     app.hprof.hdx/           KIND.hdx  catalog.mdb  catalog.sum  remembered answers  .heapdex-* (on their way)
 *         views/NAME/          KIND.hdx  catalog.mdb  catalog.sum
 *     .heapdex-part-*          the same, and *.tmp, seal
 *         checkpoint/          state  catalog.mdb  catalog.sum
 */
#include "indexes/folder.h"
#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#define DEPTH 3u /* of folders in an index: views/NAME.part/checkpoint */

const char *const hdx_note_names[HDX_NOTES] = {
    "retained-class", "retained-package", "retained-loader", "retained-superclass",
    "leaks-0",        "leaks-1",          "leaks-2",         "leaks-3",
    "leaks-4",        "leaks-5",          "leaks-6",         "leaks-7",
    "leaks-8",        "leaks-9",          "leaks-a",         "leaks-b",
    "leaks-c",        "leaks-d",          "leaks-e",         "leaks-f",
};

/* Besides KIND.hdx and remembered answers. */
static const char *const files[] = {
    "catalog.mdb",   "catalog.sum",   "catalog.tmp",      "seal",
    "state",         "scan.tmp",      "columns.tmp",      "bits.tmp",
    "lists.tmp",     "view.tmp",      "references.tmp",   "search.tmp",
    "referrers.tmp", "windows.tmp",   "predecessors.tmp", "semis.tmp",
    "idoms.tmp",     "scan.tmp.new",  "columns.tmp.new",  "class_instances.tmp",
    "bits.tmp.new",  "lists.tmp.new", "view.tmp.new",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_file_name(const char *name)
{
    const size_t len = strlen(name);
    for (unsigned kind = 0; len > 4 && strcmp(name + len - 4, ".hdx") == 0 && kind < HDX_KINDS; kind++) {
        const char *of = hdx_kind_name((hdx_kind)kind);
        if (strlen(of) == len - 4 && memcmp(of, name, len - 4) == 0)
            return true;
    }
    return hdx_own_is_name(name) || is_one_of(name, files, sizeof files / sizeof *files) ||
           is_one_of(name, hdx_note_names, HDX_NOTES);
}

/* `views`: it is in the folder of the views, where each folder is a view, or one on its way. `outermost`: in the index.
 */
static bool is_folder_name(const char *name, bool views, bool outermost)
{
    return views || strcmp(name, HDX_FOLDER_CHECKPOINT) == 0 || strcmp(name, HDX_FOLDER_CHECKPOINT_NEW) == 0 ||
           (outermost && strcmp(name, HDX_FOLDER_VIEWS) == 0);
}

/* A network file system keeps a removed file under such a name for as long as somebody has it open. */
static bool is_silly(const char *name) { return strncmp(name, ".nfs", 4) == 0; }

/* ---- is it one? ---- */

/* Of a regular file: opening a pipe would wait. name NULL: `folder` is the file. */
static bool has_bytes(hdx_io *io, const char *folder, const char *name, bool at_end, const char bytes[8])
{
    char        path[4600], found[8];
    struct stat st;
    const int   n = snprintf(path, sizeof path, name != NULL ? "%s/%s" : "%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || io->stat(io, path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 8)
        return false;
    const int  fd = io->open(io, path);
    const bool same = fd >= 0 && io->read_at(io, fd, found, 8, at_end ? (uint64_t)st.st_size - 8 : 0) == 8 &&
                      memcmp(found, bytes, 8) == 0;
    if (fd >= 0)
        (void)io->close(io, fd);
    return same;
}

static bool begins_with(hdx_io *io, const char *folder, const char *name, const char magic[8])
{
    return has_bytes(io, folder, name, false, magic);
}

static bool ends_with(hdx_io *io, const char *folder, const char *name, const char magic[8])
{
    return has_bytes(io, folder, name, true, magic);
}

static bool has_regular(hdx_io *io, const char *folder, const char *name)
{
    char        path[4200];
    struct stat st;
    return (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path && io->stat(io, path, &st) >= 0 &&
           S_ISREG(st.st_mode);
}

bool hdx_folder_is_index(hdx_io *io, const char *path)
{
    char name[64];
    if (begins_with(io, path, "catalog.sum", "heapdexC"))
        return true;
    if (!has_regular(io, path, "catalog.mdb") && !has_regular(io, path, "catalog.sum"))
        return false;
    for (unsigned kind = 0; kind < HDX_KINDS; kind++) {
        (void)snprintf(name, sizeof name, "%s.hdx", hdx_kind_name((hdx_kind)kind));
        if (begins_with(io, path, name, "hdxindex") || ends_with(io, path, name, "hdxfoot\n"))
            return true;
    }
    return false;
}

/* A kind of file that this version does not know proves by its head that it is one. */
static bool has_head(const char *path)
{
    const size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".hdx") == 0 && begins_with(hdx_io_system(), path, NULL, "hdxindex");
}

/* ---- going over a folder ---- */

/* One level of a walk; levels are nested at most DEPTH deep, whatever a disk has. */
typedef struct level {
    DIR   *folder;
    size_t path_len; /* of the walk's path, without this level's entries */
    bool   views;    /* its folders are views */
    bool   stays;    /* something in it does */
} level;

typedef struct walk {
    hdx_io  *io; /* NULL: nothing is removed */
    char     path[4600];
    size_t   begin; /* of the entries' paths in it */
    level    levels[DEPTH + 1];
    unsigned depth;
    int      failed;    /* the first error, negative */
    char    *name;      /* of the first entry that is not ours */
    bool     has_other; /* there is one */
} walk;

static void note_other(walk *w)
{
    w->levels[w->depth].stays = true;
    if (!w->has_other && w->name != NULL)
        (void)snprintf(w->name, 256, "%.255s", w->path[w->begin] != '\0' ? w->path + w->begin : ".");
    w->has_other = true;
}

static void fail(walk *w, int rc)
{
    if (rc < 0 && w->failed == 0)
        w->failed = rc;
}

static bool enter(walk *w, bool views)
{
    level *l = &w->levels[w->depth];
    *l = (level){ .folder = opendir(w->path), .path_len = strlen(w->path), .views = views };
    return l->folder != NULL;
}

static void leave(walk *w)
{
    const level *l = &w->levels[w->depth];
    (void)closedir(l->folder);
    if (l->stays && w->depth > 0)
        w->levels[w->depth - 1].stays = true;
    if (w->io != NULL && !l->stays)
        fail(w, w->io->remove(w->io, w->path));
}

/* The path has the entry's name at its end. True: a folder to go into. */
static bool see(walk *w, const char *name)
{
    level      *l = &w->levels[w->depth];
    struct stat st;
    if (lstat(w->path, &st) != 0)
        return false;
    if (S_ISDIR(st.st_mode) && is_folder_name(name, l->views, w->depth == 0) && w->depth < DEPTH)
        return true;
    if (is_silly(name) && S_ISREG(st.st_mode))
        l->stays |= w->io != NULL; /* the folder cannot go yet */
    else if (S_ISDIR(st.st_mode) || !(is_file_name(name) || is_folder_name(name, false, w->depth == 0) ||
                                      (S_ISREG(st.st_mode) && has_head(w->path))))
        note_other(w);
    else if (w->io != NULL)
        fail(w, w->io->remove(w->io, w->path));
    return false;
}

/* False: the folder itself cannot be read; errno says why. */
static bool go_over(walk *w, const char *path)
{
    struct dirent *entry;
    if ((w->begin = strlen(path) + 1) >= sizeof w->path - 400) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(w->path, path, w->begin);
    if (!enter(w, false))
        return false;
    for (;;) {
        level *l = &w->levels[w->depth];
        w->path[l->path_len] = '\0';
        if ((entry = readdir(l->folder)) == NULL) {
            leave(w);
            if (w->depth-- == 0)
                return true;
            continue;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const int n = snprintf(w->path + l->path_len, sizeof w->path - l->path_len, "/%s", entry->d_name);
        if (n < 0 || (size_t)n >= sizeof w->path - l->path_len) {
            note_other(w);
            continue;
        }
        if (!see(w, entry->d_name))
            continue;
        w->depth++;
        if (!enter(w, strcmp(entry->d_name, HDX_FOLDER_VIEWS) == 0 && w->depth == 1)) {
            fail(w, -errno);
            w->depth--;
            note_other(w);
        }
    }
}

bool hdx_folder_has_other(const char *path, char name[256])
{
    walk w = { .name = name };
    if (go_over(&w, path))
        return w.has_other;
    (void)snprintf(name, 256, ".");
    return errno != ENOENT;
}

int hdx_folder_clear(hdx_io *io, const char *path)
{
    walk        w = { .io = io };
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode))
        return io->remove(io, path);
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if (!go_over(&w, path))
        return -errno;
    return w.failed < 0 ? w.failed : w.has_other ? -ENOTEMPTY : 0;
}
