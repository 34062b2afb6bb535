/*
 * forecast.c - a forecast as a line of JSON, as sent by a child and stored in OUT/plan.jsonl; and OUT/deal-M.jsonl.
 *
 * Tasks of an array begin at different times, when some dumps are done, deleted (--drop-dump) or new, but all must
 * assign dumps to tasks in the same way. So the first task decides: it links its assignment into place, all others read
 * it, and a dump that is missing from it is assigned by its id.
 */
#include "batch/batch.h"

#include "base/own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_LIST     (256ull << 20)
#define GUESSED_RATE  50e6 /* bytes per second */
#define GUESSED_GZIP  5u   /* size of the content relative to the file */
#define GUESSED_LEAST (64ull << 20)

double hdx_batch_forecast_step(const batch_forecast *f, const char *step)
{
    const size_t len = strlen(step);
    for (const char *at = f->steps; at != NULL && *at != '\0';) {
        if (strncmp(at, step, len) == 0 && at[len] == ' ')
            return strtod(at + len + 1, NULL);
        at = strchr(at, ',');
        while (at != NULL && (*at == ',' || *at == ' '))
            at++;
    }
    return 0;
}

void hdx_batch_forecast_put(hdx_buffer *b, const batch_forecast *f)
{
    hdx_batch_put_bool(b, "indexed", f->indexed);
    hdx_batch_put_number(b, "file_size", f->file_size);
    hdx_batch_put_number(b, "mtime_ns", f->mtime_ns);
    hdx_batch_put_number(b, "memory", f->memory);
    hdx_batch_put_number(b, "least_memory", f->least);
    hdx_batch_put_number(b, "disk", f->disk);
    hdx_batch_put_number(b, "temporary", f->temporary);
    hdx_batch_put_number(b, "objects", f->objects);
    hdx_batch_put_real(b, "seconds", f->seconds);
    hdx_batch_put_text(b, "steps", f->steps);
}

bool hdx_batch_forecast_take(const hdx_flat *flat, hdx_arena *arena, batch_forecast *out)
{
    const char *indexed = hdx_flat_text(flat, "indexed"), *steps = hdx_flat_text(flat, "steps");
    *out = (batch_forecast){ .indexed = indexed != NULL && strcmp(indexed, "true") == 0,
                             .file_size = hdx_flat_number(flat, "file_size"),
                             .mtime_ns = hdx_flat_number(flat, "mtime_ns"),
                             .memory = hdx_flat_number(flat, "memory"),
                             .least = hdx_flat_number(flat, "least_memory"),
                             .disk = hdx_flat_number(flat, "disk"),
                             .temporary = hdx_flat_number(flat, "temporary"),
                             .objects = hdx_flat_number(flat, "objects"),
                             .seconds = hdx_flat_real(flat, "seconds") };
    if (steps != NULL && (out->steps = hdx_arena_copy(arena, steps, strlen(steps))) == NULL)
        return false;
    return indexed != NULL;
}

batch_forecast hdx_batch_forecast_guess(const char *path, uint64_t file_size)
{
    const size_t   len = strlen(path);
    const uint64_t size = len > 3 && strcmp(path + len - 3, ".gz") == 0 ? GUESSED_GZIP * file_size : file_size;
    return (batch_forecast){ .file_size = file_size,
                             .least = GUESSED_LEAST,
                             .memory = GUESSED_LEAST + size / 2,
                             .seconds = (double)size / GUESSED_RATE };
}

/* ---- lists ---- */

typedef bool take_line(void *context, const hdx_flat *f);

/*
 * Reads a list line by line. A missing file is empty, and invalid lines are skipped: missing forecasts are computed
 * again, and missing dumps are assigned by id.
 */
static void each_line(const char *path, hdx_arena *arena, take_line *take, void *context)
{
    size_t      len;
    const char *text = hdx_batch_file_read(arena, path, MOST_LIST, &len);
    for (const char *at = text, *end = text != NULL ? text + len : NULL; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at)), *last = stop != NULL ? stop : end;
        hdx_flat    f;
        if (hdx_flat_read(arena, at, (size_t)(last - at), &f) && !take(context, &f))
            return;
        at = last + (stop != NULL);
    }
}

typedef struct saved_lines {
    batch_saved_list *list;
    hdx_arena        *arena;
    bool              failed;
} saved_lines;

static bool take_saved(void *context, const hdx_flat *f)
{
    saved_lines *k = context;
    batch_saved  one = { .id = hdx_flat_text(f, "dump_id") };
    if (one.id == NULL || !hdx_batch_forecast_take(f, k->arena, &one.forecast))
        return true;
    k->failed = !hdx_list_room(NULL, HDX_LIST_REF(k->list));
    if (!k->failed)
        k->list->at[k->list->count++] = one;
    return !k->failed;
}

hdx_code hdx_batch_plan_read(const char *out, hdx_arena *arena, batch_saved_list *list, hdx_error *err)
{
    char        path[4200];
    saved_lines k = { list, arena, false };
    (void)snprintf(path, sizeof path, "%s/plan.jsonl", out);
    each_line(path, arena, take_saved, &k);
    return k.failed ? hdx_no_memory(err, "forecasts", 0) : HDX_OK;
}

/* It also has lines about dumps of other calls, so it stays at least as private as it was. */
hdx_code hdx_batch_plan_write(const char *out, const batch_saved_list *list, const hdx_access *like, hdx_error *err)
{
    char       path[4200];
    hdx_access access_now, narrow = *like;
    hdx_buffer b = hdx_buffer_of(NULL);
    (void)snprintf(path, sizeof path, "%s/plan.jsonl", out);
    if (access(path, F_OK) == 0) {
        hdx_access_of(path, &access_now);
        hdx_access_narrow(&narrow, &access_now);
    }
    for (uint64_t i = 0; i < list->count; i++) {
        hdx_buffer_text(&b, "{");
        hdx_batch_put_text(&b, "dump_id", list->at[i].id);
        hdx_batch_forecast_put(&b, &list->at[i].forecast);
        hdx_batch_put_end(&b);
    }
    const hdx_code code = b.failed ? hdx_no_memory(err, "forecasts", b.len)
                                   : hdx_batch_file_write(path, b.at != NULL ? b.at : "", b.len, &narrow, false, err);
    hdx_buffer_free(&b);
    return code;
}

/* ---- assignment of dumps to tasks ---- */

/* Creates the file only if it does not exist. On a file system without links two tasks may both create it. */
static hdx_code write_deal(const char *path, const batch_weight *at, size_t count, const hdx_access *like,
                           hdx_error *err)
{
    char       part[4400];
    hdx_buffer b = hdx_buffer_of(NULL);
    if (!hdx_own_name(path, part, sizeof part))
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
    for (size_t i = 0; i < count; i++) {
        hdx_buffer_text(&b, "{");
        hdx_batch_put_text(&b, "dump_id", at[i].id);
        hdx_batch_put_number(&b, "task", at[i].task);
        hdx_batch_put_real(&b, "seconds", at[i].seconds);
        hdx_batch_put_end(&b);
    }
    hdx_code code =
        b.failed ? hdx_no_memory(err, "the deal", b.len) : hdx_batch_file_write(part, b.at, b.len, like, true, err);
    hdx_buffer_free(&b);
    if (code != HDX_OK)
        return code;
    if (link(part, path) != 0 && errno != EEXIST && rename(part, path) != 0)
        code = hdx_fail(err, HDX_IO, path, HDX_NOWHERE, "cannot be created: %s", strerror(errno));
    (void)unlink(part);
    return code;
}

static bool take_dealt(void *context, const hdx_flat *f)
{
    hdx_map    *tasks = context;
    const char *id = hdx_flat_text(f, "dump_id");
    bool        fresh;
    uint64_t   *task = id != NULL ? hdx_map_put(tasks, hdx_hash_bytes(3, id, strlen(id)), &fresh) : NULL;
    if (task != NULL)
        *task = hdx_flat_number(f, "task");
    return id == NULL || task != NULL;
}

hdx_code hdx_batch_deal(const char *out, batch_weight *at, size_t count, unsigned tasks, const hdx_access *like,
                        hdx_arena *arena, hdx_error *err)
{
    char     path[4200];
    hdx_map  dealt = hdx_map_of(NULL);
    hdx_code code = HDX_OK;
    (void)snprintf(path, sizeof path, "%s/deal-%u.jsonl", out, tasks);
    if (access(path, F_OK) != 0) {
        batch_weight *own = hdx_arena_get(arena, (count + 1) * sizeof *own);
        if (own == NULL)
            return hdx_no_memory(err, "the deal", count);
        memcpy(own, at, count * sizeof *own);
        hdx_batch_plan_deal(own, count, tasks);
        code = write_deal(path, own, count, like, err);
    }
    if (code == HDX_OK)
        each_line(path, arena, take_dealt, &dealt);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        const uint64_t *task = hdx_map_get(&dealt, hdx_hash_bytes(3, at[i].id, strlen(at[i].id)));
        at[i].task = task != NULL ? (unsigned)(*task % tasks) : hdx_batch_plan_late(at[i].id, tasks);
    }
    hdx_map_free(&dealt);
    return code;
}
