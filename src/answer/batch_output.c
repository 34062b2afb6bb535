/*
 * batch_output.c - the dumps of a batch: reads the status files that `heapdex batch --out FOLDER` writes to
 * FOLDER/status, each a flat JSON object (doc/batch.md).
 *
 * In:  status files, which are untrusted input.
 * Out: the index of each completed dump. Skipped dumps and invalid status files are reported with the reason.
 */
#include "answer/answer.h"
#include "base/flat.h"
#include "making/making.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define STATUS_MOST (1u << 20) /* bytes of one status file */

/* Returns whether a name ends in ".json". */
static bool is_status(const char *name)
{
    const size_t len = strlen(name);
    return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".json") == 0;
}

static bool read_status(const char *path, hdx_arena *arena, hdx_flat *out)
{
    struct stat st;
    hdx_io     *io = hdx_io_system();
    const int   fd =
        open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* O_NONBLOCK: do not wait for the writer of a named pipe */
    if (fd < 0)
        return false;
    const bool fits = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= STATUS_MOST;
    char      *text = fits ? hdx_arena_get(arena, (uint64_t)st.st_size + 1) : NULL;
    int64_t    got = text != NULL ? io->read_at(io, fd, text, (uint64_t)st.st_size, 0) : -1;
    (void)io->close(io, fd);
    return got >= 0 && hdx_flat_read(arena, text, (size_t)got, out);
}

static const char *or_else(const char *text, const char *otherwise) { return text != NULL ? text : otherwise; }

/* Returns the application from the manifest of the batch, which is a nested object of the status. */
static const char *application_of(const hdx_flat *status, hdx_arena *arena)
{
    const char *text = hdx_flat_text(status, "manifest");
    hdx_flat    manifest;
    return text != NULL && hdx_flat_read(arena, text, strlen(text), &manifest)
               ? or_else(hdx_flat_text(&manifest, "application"), "")
               : "";
}

/* Returns the index of the dump. NULL: none; a notice has reported the reason. */
static const char *index_of(hdx_session *s, const char *path, hdx_arena *arena, const char **application)
{
    hdx_flat f;
    if (!read_status(path, arena, &f) || hdx_flat_text(&f, "state") == NULL) {
        hdx_answer_notice(s, "warning: skipping %s: it is not a valid status file", path);
        return NULL;
    }
    const char *id = or_else(hdx_flat_text(&f, "dump_id"), path), *state = hdx_flat_text(&f, "state");
    const char *index = hdx_flat_text(&f, "index"), *error = hdx_flat_text(&f, "error");
    if (strcmp(state, "done") != 0) {
        hdx_answer_notice(s, "warning: skipping %s: %s%s%s", id, state, error != NULL ? ", " : "", or_else(error, ""));
        return NULL;
    }
    if (index == NULL || !hdx_folder_is_index(hdx_io_system(), index)) {
        hdx_answer_notice(s, "warning: skipping %s: its index %s is missing", id, or_else(index, ""));
        return NULL;
    }
    *application = application_of(&f, arena);
    return index;
}

static hdx_code list(hdx_session *s, const char *folder, DIR *d, hdx_answer_batch_visit *take, void *context,
                     hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (const struct dirent *e; code == HDX_OK && (e = readdir(d)) != NULL;) {
        char      path[4096];
        hdx_arena arena = hdx_arena_of(NULL);
        if (!is_status(e->d_name) || (size_t)snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= sizeof path)
            continue;
        const char *application = NULL, *index = index_of(s, path, &arena, &application);
        if (s->progress.cancelled(s->progress.context))
            code = hdx_tick_stop(err);
        else if (index != NULL)
            code = take(context, index, application, err);
        hdx_arena_free(&arena);
    }
    return code;
}

hdx_code hdx_answer_batch_output(hdx_session *s, const char *out, hdx_answer_batch_visit *take, void *context,
                                 bool *is_one, hdx_error *err)
{
    char status[4096], claims[4096];
    DIR *d = NULL;
    *is_one = (size_t)snprintf(status, sizeof status, "%s/status", out) < sizeof status &&
              (size_t)snprintf(claims, sizeof claims, "%s/claims", out) < sizeof claims && access(claims, F_OK) == 0 &&
              (d = opendir(status)) != NULL;
    if (!*is_one)
        return HDX_OK;
    const hdx_code code = list(s, status, d, take, context, err);
    (void)closedir(d);
    return code;
}
