/*
 * inputs.c - finds the dumps of the inputs: reads manifests, walks folders, expands globs; each dump gets an id.
 *
 * An id is from the manifest, or the name of the file and a hash of its path: the same in each call, whatever other
 * dumps exist.
 */
#include "batch/batch.h"

#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_NAME 64u /* characters of a file's name in an id */
#define MOST_ID   120u

typedef struct gather {
    hdx_arena   *arena;
    batch_dumps *dumps;
    hdx_map      places; /* hash of `whole` -> index + 1 of the dump */
    const char  *folder; /* of the current manifest, with a slash at its end; "": none */
    const char  *name;   /* of that manifest */
    hdx_map      keys;   /* hash of a key -> its copy, shared by all rows */
    uint64_t     field_count;
    uint64_t     indexes; /* number of index folders skipped */
    hdx_map      looked;  /* hash of a folder in which interrupted deletions were undone */
    bool         look_only;
    batch_say   *say;
    void        *context;
} gather;

/* ---- ids ---- */

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
}

static bool begins(char c) { return is_safe(c) && c != '-' && c != '.' && c != '_'; }

bool hdx_batch_is_id(const char *text)
{
    size_t len = 0;
    while (text[len] != '\0' && len <= MOST_ID)
        if (!is_safe(text[len++]))
            return false;
    return len > 0 && len <= MOST_ID && begins(text[0]);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static size_t without(const char *name, size_t len, const char *ending)
{
    const size_t n = strlen(ending);
    return len > n && memcmp(name + len - n, ending, n) == 0 ? len - n : len;
}

static const char *make_id(hdx_arena *arena, const char *name, size_t len, const char *whole, int digits)
{
    char           text[MOST_NAME + 24];
    const uint64_t hash = hdx_hash_bytes(0x6261746368, whole, strlen(whole));
    size_t         n = 0;
    if (len == 0 || !begins(name[0]))
        text[n++] = 'd';
    for (size_t i = 0; i < len && n < MOST_NAME; i++)
        text[n++] = is_safe(name[i]) ? name[i] : '_';
    n += (size_t)snprintf(text + n, sizeof text - n, "-%0*llx", digits,
                          (unsigned long long)(digits == 16 ? hash : hash >> 32));
    return hdx_arena_copy(arena, text, n);
}

const char *hdx_batch_id_of(hdx_arena *arena, const char *path, const char *whole)
{
    const char *name = name_of(path);
    size_t      len = without(name, strlen(name), ".gz");
    len = without(name, len, ".hprof");
    return make_id(arena, name, len, whole, 8);
}

/* ---- dumps ---- */

/* Returns the absolute path; a link keeps its name. The file need not exist. */
static const char *whole_of(hdx_arena *arena, const char *path)
{
    const char *name = name_of(path);
    char        folder[4096], real[4096], whole[8300];
    if ((size_t)snprintf(folder, sizeof folder, "%.*s", (int)(name - path), path) >= sizeof folder)
        return hdx_arena_copy(arena, path, strlen(path));
    if (realpath(folder[0] != '\0' ? folder : ".", real) == NULL)
        (void)snprintf(real, sizeof real, "%s", folder);
    (void)snprintf(whole, sizeof whole, "%s%s%s", real, strcmp(real, "/") == 0 ? "" : "/", name);
    return hdx_arena_copy(arena, whole, strlen(whole));
}

static const char *keep_key(gather *g, const char *key)
{
    bool      fresh;
    uint64_t *stored = hdx_map_put(&g->keys, hdx_hash_bytes(5, key, strlen(key)), &fresh);
    if (stored == NULL)
        return NULL;
    if (!fresh && *stored != 0 && strcmp((const char *)(uintptr_t)*stored, key) == 0)
        return (const char *)(uintptr_t)*stored;
    const char *copy = hdx_arena_copy(g->arena, key, strlen(key));
    *stored = (uint64_t)(uintptr_t)copy;
    return copy;
}

static bool is_field(const hdx_flat_pair *p)
{
    return p->value != NULL && p->value[0] != '\0' && strcmp(p->key, "dump") != 0 && strcmp(p->key, "dump_id") != 0;
}

static hdx_code keep_fields(gather *g, batch_dump *d, const hdx_flat *row, hdx_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < row->count; i++)
        count += is_field(&row->at[i]);
    if ((g->field_count += count) > BATCH_MOST_FIELDS)
        return hdx_fail(err, HDX_LIMIT, g->name, HDX_NOWHERE, "more than %u values in manifests", BATCH_MOST_FIELDS);
    d->fields = hdx_arena_get(g->arena, (count + 1) * sizeof *d->fields);
    bool failed = d->fields == NULL;
    for (size_t i = 0; !failed && i < row->count; i++) {
        const hdx_flat_pair *p = &row->at[i];
        if (!is_field(p))
            continue;
        const hdx_flat_pair own = { keep_key(g, p->key), hdx_arena_copy(g->arena, p->value, strlen(p->value)),
                                    p->text };
        failed = own.key == NULL || own.value == NULL;
        d->fields[d->field_count++] = own;
    }
    return failed ? hdx_no_memory(err, "a manifest", count) : HDX_OK;
}

static void say_text(void *context, const char *line)
{
    const gather *g = context;
    if (g->say != NULL)
        g->say(g->context, line);
}

/* Undoes interrupted deletions, once for each folder, before its dumps are listed. */
static hdx_code restore_names(gather *g, const char *folder, size_t len, hdx_error *err)
{
    char name[4200];
    bool fresh;
    while (len > 1 && folder[len - 1] == '/')
        len--;
    (void)snprintf(name, sizeof name, "%.*s", len > 0 ? (int)len : 1, len > 0 ? folder : ".");
    if (hdx_map_put(&g->looked, hdx_hash_bytes(6, name, strlen(name)), &fresh) == NULL)
        return hdx_no_memory(err, "a list of folders", 0);
    if (fresh)
        hdx_batch_restore_names(name, g->look_only, say_text, g);
    return HDX_OK;
}

static hdx_code add(gather *g, const char *path, const char *id, const hdx_flat *row, hdx_error *err)
{
    batch_dump d = { .path = hdx_arena_copy(g->arena, path, strlen(path)), .whole = whole_of(g->arena, path) };
    bool       fresh = false;
    hdx_code   code = restore_names(g, path, (size_t)(name_of(path) - path), err);
    if (code != HDX_OK || d.path == NULL || d.whole == NULL)
        return code != HDX_OK ? code : hdx_no_memory(err, "a list of dumps", 0);
    uint64_t *place = hdx_map_put(&g->places, hdx_hash_bytes(0, d.whole, strlen(d.whole)), &fresh);
    if (place == NULL || !hdx_list_room(NULL, HDX_LIST_REF(g->dumps)))
        return hdx_no_memory(err, "a list of dumps", 0);
    if (!fresh && strcmp(g->dumps->at[*place - 1].whole, d.whole) == 0)
        return HDX_OK; /* named before */
    *place = g->dumps->count + 1;
    d.id = id != NULL ? hdx_arena_copy(g->arena, id, strlen(id)) : hdx_batch_id_of(g->arena, d.path, d.whole);
    if (row != NULL && (code = keep_fields(g, &d, row, err)) != HDX_OK)
        return code;
    if (d.id == NULL)
        return hdx_no_memory(err, "a list of dumps", 0);
    g->dumps->at[g->dumps->count++] = d;
    return HDX_OK;
}

const char *hdx_batch_field(const batch_dump *d, const char *name)
{
    for (size_t i = 0; i < d->field_count; i++)
        if (strcmp(d->fields[i].key, name) == 0 && d->fields[i].value != NULL && d->fields[i].value[0] != '\0')
            return d->fields[i].value;
    return NULL;
}

/* ---- manifests ---- */

static void say(const gather *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const gather *g, const char *format, ...)
{
    char    line[512];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (g->say != NULL)
        g->say(g->context, line);
}

static hdx_code take_row(void *context, const hdx_flat *row, uint64_t line, hdx_error *err)
{
    gather     *g = context;
    const char *dump = hdx_flat_text(row, "dump"), *id = hdx_flat_text(row, "dump_id");
    char        path[4200];
    if (dump == NULL || dump[0] == '\0')
        return hdx_fail(err, HDX_USAGE, g->name, HDX_NOWHERE, "line %llu names no dump", (unsigned long long)line);
    if ((size_t)snprintf(path, sizeof path, "%s%s", dump[0] == '/' ? "" : g->folder, dump) >= sizeof path)
        return hdx_fail(err, HDX_USAGE, g->name, HDX_NOWHERE, "path in line %llu is too long",
                        (unsigned long long)line);
    if (id != NULL && id[0] == '\0')
        id = NULL;
    if (id != NULL && !hdx_batch_is_id(id)) { /* ids become file names */
        const char *made = make_id(g->arena, id, strlen(id), dump, 8);
        say(g, "%s: line %llu: dump_id '%.60s' is not a valid file name; using %s", g->name, (unsigned long long)line,
            id, made != NULL ? made : "");
        id = made;
    }
    return add(g, path, id, row, err);
}

static bool ends(const char *path, const char *ending)
{
    const size_t len = strlen(path), n = strlen(ending);
    return len > n && strcmp(path + len - n, ending) == 0;
}

static hdx_code read_manifest(gather *g, const char *path, bool lines, hdx_error *err)
{
    size_t      len;
    hdx_arena   file = hdx_arena_of(NULL), row = hdx_arena_of(NULL);
    const char *name = name_of(path), *text = hdx_batch_file_read(&file, path, BATCH_MOST_MANIFEST, &len);
    hdx_code    code = HDX_OK;
    if (text == NULL) {
        code = hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "cannot be read as a manifest: %s",
                        errno == EFBIG ? "the file exceeds 256 MB" : strerror(errno));
    } else {
        g->name = path;
        g->folder = hdx_arena_copy(g->arena, path, (uint64_t)(name - path));
        code = g->folder == NULL ? hdx_no_memory(err, "a manifest", 0)
               : lines           ? hdx_batch_manifest_jsonl(path, text, len, &row, take_row, g, err)
                                 : hdx_batch_manifest_csv(path, text, len, &row, take_row, g, err);
        g->folder = "";
    }
    hdx_arena_free(&file);
    hdx_arena_free(&row);
    return code;
}

/* ---- folders ---- */

static bool is_dump_name(const char *name) { return ends(name, ".hprof") || ends(name, ".hprof.gz"); }

/* Returns whether a folder has an index or a partial one; the glob "app.hprof*" matches those, too. */
static bool is_index(const char *path, const char *name)
{
    static const char *const files[] = { "catalog.mdb", "catalog.sum" };
    bool                     is = hdx_own_is_name(name);
    for (size_t i = 0; !is && i < HDX_COUNT(files); i++) {
        char file[4300];
        (void)snprintf(file, sizeof file, "%s/%s", path, files[i]);
        is = access(file, F_OK) == 0;
    }
    return is;
}

typedef HDX_LIST(const char *) paths;

static hdx_code note(gather *g, paths *list, const char *path, hdx_error *err)
{
    const char *copy = hdx_arena_copy(g->arena, path, strlen(path));
    if (copy == NULL || !hdx_list_room(NULL, HDX_LIST_REF(list)))
        return hdx_no_memory(err, "a list of dumps", 0);
    list->at[list->count++] = copy;
    return HDX_OK;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/*
 * Lists a folder. Links to folders are not followed, because they may form a cycle. Unreadable entries are reported and
 * skipped.
 */
static hdx_code look_into(gather *g, const char *folder, paths *folders, paths *files, hdx_error *err)
{
    struct dirent *entry;
    hdx_code       code = restore_names(g, folder, strlen(folder), err);
    DIR           *d = opendir(folder);
    if (d == NULL) {
        say(g, "%s: %s", folder, strerror(errno));
        return HDX_OK;
    }
    while (code == HDX_OK && (entry = readdir(d)) != NULL) {
        char        path[4200];
        struct stat st;
        const char *name = entry->d_name, *slash = ends(folder, "/") ? "" : "/";
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        const bool fits = (size_t)snprintf(path, sizeof path, "%s%s%s", folder, slash, name) < PATH_MAX;
        if (!fits || lstat(path, &st) != 0) {
            say(g, "%.200s: %s", path, fits ? strerror(errno) : "skipped: the path is too long");
            continue;
        }
        if (S_ISDIR(st.st_mode)) {
            if (is_index(path, name))
                g->indexes++;
            else if (!ends(name, ".hdx") && !hdx_own_is_name(name))
                code = note(g, folders, path, err);
        } else if (is_dump_name(name) && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            code = note(g, files, path, err);
        }
    }
    (void)closedir(d);
    return code;
}

static hdx_code walk(gather *g, const char *folder, hdx_error *err)
{
    paths    folders = { 0 }, files = { 0 };
    hdx_code code = note(g, &folders, folder, err);
    for (uint64_t i = 0; code == HDX_OK && i < folders.count; i++) /* the list grows meanwhile */
        code = look_into(g, folders.at[i], &folders, &files, err);
    if (files.count > 0)
        qsort(files.at, files.count, sizeof *files.at, by_text);
    for (uint64_t i = 0; code == HDX_OK && i < files.count; i++)
        code = add(g, files.at[i], NULL, NULL, err);
    hdx_list_free(NULL, HDX_LIST_REF(&folders));
    hdx_list_free(NULL, HDX_LIST_REF(&files));
    return code;
}

/* ---- all inputs ---- */

static hdx_code take_path(gather *g, const char *path, bool expand, hdx_error *err);

/* Expands a pattern that the shell did not expand; its matches are not expanded again. */
static hdx_code take_glob(gather *g, const char *pattern, hdx_error *err)
{
    glob_t    found;
    const int rc = glob(pattern, 0, NULL, &found);
    hdx_code  code = rc == GLOB_NOSPACE ? hdx_no_memory(err, "names of dumps", 0)
                     : rc != 0          ? hdx_fail(err, HDX_USAGE, pattern, HDX_NOWHERE, "matches no file")
                                        : HDX_OK;
    for (size_t i = 0; rc == 0 && code == HDX_OK && i < found.gl_pathc; i++)
        code = take_path(g, found.gl_pathv[i], false, err);
    if (rc == 0)
        globfree(&found);
    return code;
}

static hdx_code take_path(gather *g, const char *path, bool expand, hdx_error *err)
{
    struct stat st;
    const bool  there = stat(path, &st) == 0, lines = ends(path, ".jsonl") || ends(path, ".ndjson");
    if (path[0] == '\0')
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the name of a dump is empty");
    if (!there && expand && strpbrk(path, "*?[") != NULL)
        return take_glob(g, path, err);
    if (there && S_ISDIR(st.st_mode) && is_index(path, path)) {
        g->indexes++;
        return HDX_OK;
    }
    if (there && S_ISDIR(st.st_mode))
        return walk(g, path, err);
    if (lines || ends(path, ".csv"))
        return read_manifest(g, path, lines, err);
    return add(g, path, NULL, NULL, err);
}

/* If two dumps of a manifest have the same id, a hash is added to the later one. */
static hdx_code make_unique(gather *g, hdx_error *err)
{
    hdx_map  ids = hdx_map_of(NULL);
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < g->dumps->count; i++) {
        batch_dump *d = &g->dumps->at[i];
        bool        fresh = false;
        for (int digits = 8; digits <= 16 && !fresh; digits += 8) {
            if (hdx_map_put(&ids, hdx_hash_bytes(1, d->id, strlen(d->id)), &fresh) == NULL)
                code = hdx_no_memory(err, "names of dumps", 0);
            else if (!fresh) {
                const char *made = make_id(g->arena, d->id, strlen(d->id), d->whole, digits);
                say(g, "%s: dump_id %s belongs to another dump; using %s", d->path, d->id, made != NULL ? made : "");
                d->id = made != NULL ? made : d->id;
            }
        }
        if (code == HDX_OK && !fresh && hdx_map_put(&ids, hdx_hash_bytes(1, d->id, strlen(d->id)), &fresh) != NULL &&
            !fresh)
            code = hdx_fail(err, HDX_USAGE, d->path, HDX_NOWHERE, "dump_id %.100s belongs to another dump", d->id);
    }
    hdx_map_free(&ids);
    return code;
}

hdx_code hdx_batch_inputs(const hdx_batch_options *options, hdx_arena *arena, batch_dumps *out, batch_say *to,
                          void *context, hdx_error *err)
{
    gather   g = { .arena = arena,
                   .dumps = out,
                   .places = hdx_map_of(NULL),
                   .folder = "",
                   .keys = hdx_map_of(NULL),
                   .looked = hdx_map_of(NULL),
                   .look_only = options->summary,
                   .say = to,
                   .context = context };
    hdx_code code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < options->input_count; i++)
        code = take_path(&g, options->inputs[i], true, err);
    if (code == HDX_OK)
        code = make_unique(&g, err);
    if (code == HDX_OK && out->count == 0 && g.indexes > 0)
        say(&g, "no dump found, but %llu index%s", (unsigned long long)g.indexes, g.indexes == 1 ? "" : "es");
    else if (code == HDX_OK && out->count == 0)
        code = hdx_hint(err, hdx_fail(err, HDX_USAGE, options->inputs[0], HDX_NOWHERE, "no dump found"),
                        "in a folder, dumps are *.hprof and *.hprof.gz, including subfolders");
    hdx_map_free(&g.places);
    hdx_map_free(&g.keys);
    hdx_map_free(&g.looked);
    return code;
}
