/*
 * folder.c - the files that heapdex writes into the folder of an index, by place and name (folder.h).
 *
 *     app.hprof.hdx/                   KIND.hdx  catalog.mdb  catalog.sum  saved answers  .heapdex-HEX
 *         views/NAME/                  the same
 *         views/.heapdex-part-NAME/    as a partial build
 *     .heapdex-part-app.hprof.hdx/     the same as app.hprof.hdx, *.tmp, seal
 *         checkpoint/                  state  catalog.mdb  catalog.sum  catalog.tmp
 */
#include "indexes/folder.h"
#include "base/own.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH       3u  /* of folders in an index: views/.heapdex-part-NAME/checkpoint */
#define CLEAR_TRIES 16u /* for a folder into which others write meanwhile */

const char *const hdx_note_names[HDX_NOTES] = {
    "retained-class", "retained-package", "retained-loader", "retained-superclass",
    "paths-class",    "paths-package",    "paths-loader",    "children-0",
    "children-1",     "children-2",       "children-3",      "children-4",
    "children-5",     "children-6",       "children-7",      "answers-0",
    "answers-1",      "answers-2",        "answers-3",       "answers-4",
    "answers-5",      "answers-6",        "answers-7",       "answers-8",
    "answers-9",      "answers-a",        "answers-b",       "answers-c",
    "answers-d",      "answers-e",        "answers-f",       "leaks-0",
    "leaks-1",        "leaks-2",          "leaks-3",         "leaks-4",
    "leaks-5",        "leaks-6",          "leaks-7",         "leaks-8",
    "leaks-9",        "leaks-a",          "leaks-b",         "leaks-c",
    "leaks-d",        "leaks-e",          "leaks-f",
};

/* Places where a name belongs to heapdex: a user's file of that name elsewhere in the folder is the user's. */
enum { INDEX = 1, PART = 2, CHECKPOINT = 4, VIEWS = 8 };

/* In addition to KIND.hdx, saved answers and temporary names. */
static const struct known {
    const char *name;
    unsigned    places;
} known[] = {
    { "catalog.mdb", INDEX | PART | CHECKPOINT },
    { "catalog.sum", INDEX | PART | CHECKPOINT },
    { "catalog.tmp", PART | CHECKPOINT },
    { "state", CHECKPOINT },
    { "seal", PART },
    { "scan.tmp", PART },
    { "scan.tmp.new", PART },
    { "columns.tmp", PART },
    { "columns.tmp.new", PART },
    { "bits.tmp", PART },
    { "bits.tmp.new", PART },
    { "lists.tmp", PART },
    { "lists.tmp.new", PART },
    { "view.tmp", PART },
    { "view.tmp.new", PART },
    { "references.tmp", PART },
    { "search.tmp", PART },
    { "referrers.tmp", PART },
    { "windows.tmp", PART },
    { "predecessors.tmp", PART },
    { "semis.tmp", PART },
    { "idoms.tmp", PART },
    { "class_instances.tmp", PART },
};

static bool is_kind(const char *name)
{
    const size_t len = strlen(name);
    for (unsigned kind = 0; len > 4 && strcmp(name + len - 4, ".hdx") == 0 && kind < HDX_KINDS; kind++) {
        const char *of = hdx_kind_name((hdx_kind)kind);
        if (strlen(of) == len - 4 && memcmp(of, name, len - 4) == 0)
            return true;
    }
    return false;
}

/* A saved answer, or one that an older heapdex had begun to write: leaks-0.1f3c.part. */
static bool is_note(const char *name)
{
    for (size_t i = 0; i < HDX_NOTES; i++) {
        const size_t len = strlen(hdx_note_names[i]);
        if (strncmp(name, hdx_note_names[i], len) != 0)
            continue;
        if (name[len] == '\0')
            return true;
        const size_t digits = name[len] == '.' ? strspn(name + len + 1, "0123456789abcdef") : 0;
        if (digits > 0 && strcmp(name + len + 1 + digits, ".part") == 0)
            return true;
    }
    return false;
}

static bool is_file_name(const char *name, unsigned places)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((known[i].places & places) != 0 && strcmp(name, known[i].name) == 0)
            return true;
    return (places & (INDEX | PART)) != 0 && (is_kind(name) || is_note(name) || hdx_own_is_temporary(name));
}

static bool is_part(const char *name)
{
    return strncmp(name, HDX_OWN_PREFIX "part-", sizeof HDX_OWN_PREFIX "part-" - 1) == 0;
}

static bool is_checkpoint(const char *name)
{
    return strcmp(name, HDX_FOLDER_CHECKPOINT) == 0 || strcmp(name, HDX_FOLDER_CHECKPOINT_NEW) == 0;
}

/* Returns the places of a folder with this name inside of one that is `places`: 0 if heapdex creates no such folder. */
static unsigned folder_in(unsigned places, const char *name)
{
    if ((places & VIEWS) != 0) /* each is a view, or one that is being built (older versions: NAME.part) */
        return INDEX | PART;
    if ((places & PART) != 0 && is_checkpoint(name))
        return CHECKPOINT;
    return (places & INDEX) != 0 && strcmp(name, HDX_FOLDER_VIEWS) == 0 ? VIEWS : 0;
}

/* A partial build may be an index that is being removed. */
static unsigned places_of(const char *path)
{
    const char *name = hdx_path_name(path);
    return is_part(name) ? INDEX | PART : is_checkpoint(name) ? INDEX | CHECKPOINT : INDEX;
}

/* A network file system keeps a removed file under such a name while it is open. */
static bool is_silly(const char *name) { return strncmp(name, ".nfs", 4) == 0; }

/* ---- recognizing an index ---- */

/* For a regular file only, because opening a pipe would wait. name NULL: `folder` is the file. */
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

/* The head of a file shows that it is of heapdex, even if this version does not know its kind. */
static bool has_head(const char *path)
{
    const size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".hdx") == 0 && begins_with(hdx_io_system(), path, NULL, "hdxindex");
}

/* ---- walking a folder ---- */

/* One level of a walk; at most DEPTH levels are nested, whatever the disk contains. */
typedef struct level {
    DIR     *folder;
    size_t   path_len; /* length of the walk's path without this level's entries */
    unsigned places;   /* the places of this folder */
    bool     stays;    /* something in it stays */
} level;

typedef enum act { LOOK, SHARE, REMOVE } act;

typedef struct walk {
    hdx_io           *io;
    act               act;
    const hdx_access *like; /* SHARE */
    char              path[4600];
    size_t            begin; /* start of the entries' names in the path */
    level             levels[DEPTH + 1];
    unsigned          depth;
    int               failed;    /* the first error, negative */
    char             *name;      /* of the first entry that is not ours */
    bool              has_other; /* there is such an entry */
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

static bool enter(walk *w, unsigned places)
{
    level *l = &w->levels[w->depth];
    *l = (level){ .folder = opendir(w->path), .path_len = strlen(w->path), .places = places };
    return l->folder != NULL;
}

static void leave(walk *w)
{
    const level *l = &w->levels[w->depth];
    (void)closedir(l->folder);
    if (l->stays && w->depth > 0)
        w->levels[w->depth - 1].stays = true;
    if (w->act == REMOVE && !l->stays)
        fail(w, w->io->remove(w->io, w->path));
    else if (w->act == SHARE)
        w->io->share(w->io, w->path, w->like);
}

static void do_to_file(walk *w, const struct stat *st)
{
    if (w->act == REMOVE)
        fail(w, w->io->remove(w->io, w->path));
    else if (w->act == SHARE && S_ISREG(st->st_mode))
        w->io->share(w->io, w->path, w->like);
}

/* REQUIRES: the path ends in the entry's name. Returns the places of the folder that must be entered; 0: none. */
static unsigned see(walk *w, const char *name)
{
    level      *l = &w->levels[w->depth];
    struct stat st;
    if (lstat(w->path, &st) != 0)
        return 0;
    const unsigned folder = folder_in(l->places, name);
    if (S_ISDIR(st.st_mode) && folder != 0 && w->depth < DEPTH)
        return folder;
    if (is_silly(name) && S_ISREG(st.st_mode))
        l->stays |= w->act == REMOVE; /* the folder cannot be removed yet */
    else if (S_ISDIR(st.st_mode) || !(is_file_name(name, l->places) || (S_ISLNK(st.st_mode) && folder != 0) ||
                                      (S_ISREG(st.st_mode) && has_head(w->path))))
        note_other(w);
    else
        do_to_file(w, &st);
    return 0;
}

/* False: the folder itself cannot be read; see errno. */
static bool go_over(walk *w, const char *path)
{
    struct dirent *entry;
    if ((w->begin = strlen(path) + 1) >= sizeof w->path - 400) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(w->path, path, w->begin);
    if (!enter(w, places_of(path)))
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
        const unsigned places = see(w, entry->d_name);
        if (places == 0)
            continue;
        w->depth++;
        if (!enter(w, places)) {
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

/* One walk, which removes what was in the folder at that time. */
static int clear_once(hdx_io *io, const char *path)
{
    walk        w = { .io = io, .act = REMOVE };
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode))
        return io->remove(io, path);
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    if (!go_over(&w, path))
        return -errno;
    return w.has_other ? (w.failed < 0 ? w.failed : -ENOTEMPTY) : w.failed == -ENOTEMPTY ? -EAGAIN : w.failed;
}

/* A reader of the index may save an answer while the folder is being cleared: then another walk is needed. */
int hdx_folder_clear(hdx_io *io, const char *path)
{
    int rc = -EAGAIN;
    for (unsigned left = CLEAR_TRIES; rc == -EAGAIN && left > 0; left--)
        rc = clear_once(io, path);
    return rc == -EAGAIN ? -ENOTEMPTY : rc;
}

void hdx_folder_share(hdx_io *io, const char *path, const hdx_access *like)
{
    walk w = { .io = io, .act = SHARE, .like = like };
    (void)go_over(&w, path);
}

bool hdx_folder_around(hdx_io *io, const char *path, char index[4096])
{
    char folder[4096];
    if (!hdx_path_folder(path, folder, sizeof folder))
        return false;
    while (realpath(folder, index) == NULL) { /* its parent folders need not exist either */
        char *slash = strrchr(folder, '/');
        if (slash == folder || strcmp(folder, ".") == 0)
            return false;
        (void)snprintf(slash == NULL ? folder : slash, 2, "%s", slash == NULL ? "." : "");
    }
    while (index[0] == '/' && index[1] != '\0') {
        if (hdx_folder_is_index(io, index))
            return true;
        *strrchr(index, '/') = '\0';
    }
    return false;
}
