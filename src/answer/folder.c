/*
 * folder.c - finds the dumps of a folder: files that begin like a heap dump, plain or compressed, sorted by the time in
 * their headers. A folder without dumps is searched for index folders (heapdex batch --index-dir); other subfolders are
 * not searched. For an output folder of a batch (--out): the dumps of that batch (batch_output.c).
 */
#include "answer/answer.h"
#include "making/making.h"

#include <dirent.h>
#include <errno.h>
#include <heapdex/source.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct found {
    const char *path;        /* in the arena of the session */
    const char *application; /* see answer_dump */
    uint64_t    time_ms;
    bool        listed;
} found;

typedef struct listing {
    found   *at;
    uint64_t count, capacity;
} listing;

/* The header is "JAVA PROFILE 1.0.2", NUL, size of ids, milliseconds since 1970, in the first 31 bytes. */
bool hdx_answer_is_dump(const char *path, uint64_t *time_ms)
{
    static const char magic[] = "JAVA PROFILE ";
    uint8_t           head[64];
    size_t            got = 0;
    hdx_source       *source = NULL;
    hdx_error         ignored;
    bool              is = hdx_source_open(path, NULL, &source, &ignored) == HDX_OK &&
              hdx_source_read_at(source, 0, head, sizeof head, &got, &ignored) == HDX_OK && got > sizeof magic - 1 &&
              memcmp(head, magic, sizeof magic - 1) == 0;
    hdx_source_close(source);
    const uint8_t *end = is ? memchr(head, 0, got) : NULL;
    *time_ms = end != NULL && (size_t)(head + got - end) >= 13 ? hdx_be64(end + 5) : 0;
    return end != NULL;
}

/* Skips hidden files and files that are still being written: "app.hprof.part". */
static bool is_left_out(const char *name)
{
    static const char part[] = ".part";
    const size_t      len = strlen(name);
    return name[0] == '.' || (len >= sizeof part - 1 && strcmp(name + len - (sizeof part - 1), part) == 0);
}

static int by_time(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->time_ms != y->time_ms)
        return x->time_ms < y->time_ms ? -1 : 1;
    return strcmp(x->path, y->path);
}

static hdx_code add(hdx_session *s, listing *l, const char *path, uint64_t time_ms, bool listed, hdx_error *err)
{
    const char *copy = hdx_arena_copy(&s->arena, path, strlen(path));
    if (copy == NULL || !hdx_mem_room(NULL, (void **)&l->at, &l->capacity, l->count, sizeof *l->at))
        return hdx_no_memory(err, "dumps of a folder", l->count * sizeof *l->at);
    l->at[l->count++] = (found){ copy, NULL, time_ms, listed };
    return HDX_OK;
}

/* *time_ms: when the dump of the index was made, which the index stores. */
static bool is_index(hdx_io *io, const char *path, uint64_t *time_ms)
{
    hdx_graph *g = NULL;
    hdx_error  ignored;
    const bool is = hdx_folder_is_index(io, path);
    *time_ms = is && hdx_graph_open(path, NULL, &g, &ignored) == HDX_OK ? hdx_graph_summary_of(g)->created_ms : 0;
    hdx_graph_close(g);
    return is;
}

static hdx_code list(hdx_session *s, const char *folder, bool indexes, listing *l, hdx_error *err)
{
    DIR     *d = opendir(folder);
    hdx_code code = HDX_OK;
    if (d == NULL)
        return hdx_fail(err, HDX_BAD_DUMP, folder, HDX_NOWHERE, "cannot be read: %s", strerror(errno));
    for (const struct dirent *e; code == HDX_OK && (e = readdir(d)) != NULL;) {
        char        path[4096];
        struct stat st;
        uint64_t    time_ms;
        hdx_io     *io = hdx_io_system();
        if (is_left_out(e->d_name) || (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= sizeof path ||
            io->stat(io, path, &st) < 0 || !(indexes ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
            continue;
        if (s->progress.cancelled(s->progress.context))
            code = hdx_tick_stop(err);
        else if (indexes ? is_index(io, path, &time_ms) : hdx_answer_is_dump(path, &time_ms))
            code = add(s, l, path, time_ms, true, err);
    }
    (void)closedir(d);
    return code;
}

typedef struct batch_visit {
    hdx_session *s;
    listing     *l;
} batch_visit;

static hdx_code visit_dump(void *context, const char *index, const char *application, hdx_error *err)
{
    batch_visit *n = context;
    uint64_t     time_ms;
    (void)is_index(hdx_io_system(), index, &time_ms);
    const char    *copy = hdx_arena_copy(&n->s->arena, application, strlen(application));
    const hdx_code code = copy != NULL ? add(n->s, n->l, index, time_ms, true, err)
                                       : hdx_no_memory(err, "dumps of a folder", strlen(application));
    if (code == HDX_OK)
        n->l->at[n->l->count - 1].application = copy;
    return code;
}

static hdx_code list_folder(hdx_session *s, const char *folder, listing *l, hdx_error *err)
{
    const uint64_t first = l->count;
    batch_visit    n = { s, l };
    bool           is_batch;
    hdx_code       code = hdx_answer_batch_output(s, folder, visit_dump, &n, &is_batch, err);
    if (code == HDX_OK && !is_batch)
        code = list(s, folder, false, l, err);
    if (code == HDX_OK && !is_batch && l->count == first)
        code = list(s, folder, true, l, err);
    if (code == HDX_OK && l->count == first)
        return hdx_fail(err, HDX_USAGE, folder, HDX_NOWHERE,
                        is_batch ? "no dump of this batch is done" : "no file of this folder is a heap dump");
    if (l->count - first > 1)
        qsort(l->at + first, (size_t)(l->count - first), sizeof *l->at, by_time);
    return code;
}

static bool is_folder(const char *path)
{
    struct stat st;
    hdx_io     *io = hdx_io_system();
    return io->stat(io, path, &st) >= 0 && S_ISDIR(st.st_mode) && !hdx_folder_is_index(io, path);
}

hdx_code hdx_answer_expand_folders(hdx_session *s, hdx_error *err)
{
    listing  l = { NULL, 0, 0 };
    bool     any = false;
    hdx_code code = HDX_OK;
    for (size_t i = 0; i < s->dump_count; i++)
        any |= !s->dumps[i].opened && is_folder(s->dumps[i].path);
    for (size_t i = 0; any && code == HDX_OK && i < s->dump_count; i++)
        code = is_folder(s->dumps[i].path) ? list_folder(s, s->dumps[i].path, &l, err)
                                           : add(s, &l, s->dumps[i].path, 0, false, err);
    if (any && code == HDX_OK) {
        /* dumps that are open would be opened again: refuse them */
        for (size_t i = 0; i < s->dump_count; i++)
            if (s->dumps[i].opened)
                code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "a session with open dumps cannot open a folder");
        if (code == HDX_OK)
            s->dump_count = 0;
        for (uint64_t i = 0; code == HDX_OK && i < l.count; i++)
            if ((code = hdx_session_add(s, l.at[i].path, err)) == HDX_OK) {
                s->dumps[i].listed = l.at[i].listed;
                s->dumps[i].application = l.at[i].application;
            }
    }
    hdx_mem_put(NULL, l.at, l.capacity * sizeof *l.at);
    return code;
}

/* ---- applications ---- */

#define NAMES_MOST 120 /* bytes of application names in a message */

/* *first: whether this is the first dump of its application. `seen` maps the hash of a name to the name. */
static hdx_code is_first(hdx_map *seen, const char *name, bool *first, hdx_error *err)
{
    uint64_t key = hdx_hash_bytes(7, name, strlen(name));
    for (bool fresh = false;; key++) { /* if another name has this hash, try the next key */
        uint64_t *known = hdx_map_put(seen, key, &fresh);
        if (known == NULL)
            return hdx_no_memory(err, "names of applications", seen->count);
        *first = fresh;
        if (fresh)
            *known = (uint64_t)(uintptr_t)name;
        if (fresh || strcmp((const char *)(uintptr_t)*known, name) == 0)
            return HDX_OK;
    }
}

/* Writes the applications of a batch, each once, in the order of their dumps: "shop, till and 2 more". */
static hdx_code list_applications(const hdx_session *s, char *text, size_t size, size_t *applications, hdx_error *err)
{
    size_t   count = 0, len = 0, more = 0;
    hdx_map  seen = hdx_map_of(NULL);
    hdx_code code = HDX_OK;
    text[0] = '\0';
    for (size_t i = 0; code == HDX_OK && i < s->dump_count; i++) {
        const char *name = s->dumps[i].application;
        bool        first = false;
        if (name == NULL || (code = is_first(&seen, name, &first, err)) != HDX_OK || !first)
            continue;
        const char *shown = name[0] != '\0' ? name : "(none)", *before = count > 0 ? ", " : "";
        count++;
        if (len + strlen(shown) < NAMES_MOST && len + strlen(shown) + 24 < size && more == 0)
            len += (size_t)snprintf(text + len, size - len, "%s%s", before, shown);
        else
            more++;
    }
    if (more > 0)
        (void)snprintf(text + len, size - len, "%s%zu more", len > 0 ? " and " : "", more);
    hdx_map_free(&seen);
    *applications = count;
    return code;
}

/* A dump that the caller named is always chosen, whatever its application. */
static bool is_chosen(const answer_dump *d, const char *application)
{
    return !d->listed || (d->application != NULL && strcmp(d->application, application) == 0);
}

static hdx_code put_first(hdx_session *s, const char *application, size_t *count, hdx_error *err)
{
    answer_dump *at = hdx_mem_array(NULL, s->dump_count, sizeof *at);
    size_t       n = 0, listed = 0;
    if (at == NULL)
        return hdx_no_memory(err, "dumps of a folder", s->dump_count * sizeof *at);
    for (int chosen = 1; chosen >= 0; chosen--) {
        for (size_t i = 0; i < s->dump_count; i++)
            if (is_chosen(&s->dumps[i], application) == (chosen == 1)) {
                listed += chosen == 1 && s->dumps[i].listed;
                at[n++] = s->dumps[i];
            }
        *count = chosen == 1 ? n : *count;
    }
    memcpy(s->dumps, at, s->dump_count * sizeof *at);
    hdx_mem_put(NULL, at, s->dump_count * sizeof *at);
    return listed > 0 ? HDX_OK : HDX_NOT_FOUND;
}

hdx_code hdx_answer_choose_application(hdx_session *s, const char *application, bool one, size_t *count, hdx_error *err)
{
    char     names[256];
    size_t   applications;
    hdx_code code = list_applications(s, names, sizeof names, &applications, err);
    *count = s->dump_count;
    if (code != HDX_OK)
        return code;
    if (application == NULL && (!one || applications < 2))
        return HDX_OK;
    if (application == NULL)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the dumps belong to %zu applications: %s",
                                 applications, names),
                        "choose one with --application NAME; '' selects dumps without an application in the manifest");
    if (applications == 0)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                                 "--application needs dumps from an output folder of heapdex batch"),
                        "the manifest of a batch names the application of each dump");
    code = put_first(s, application, count, err);
    return code != HDX_NOT_FOUND
               ? code
               : hdx_fail(err, code, NULL, HDX_NOWHERE, "no dump belongs to the application '%.60s'; there %s %s",
                          application, applications == 1 ? "is" : "are", names);
}
