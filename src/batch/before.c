/*
 * before.c - what a batch does before it works: it creates folders, finds dumps and its share of them, reads the
 * results of earlier calls, and chooses the order.
 */
#include "batch/run.h"

#include "base/own.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- folders ---- */

static hdx_code make_folder(const char *path, hdx_error *err)
{
    char part[4200];
    for (size_t i = 1; path[0] != '\0'; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        if ((size_t)snprintf(part, sizeof part, "%.*s", (int)i, path) >= sizeof part)
            return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "the path is too long");
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return hdx_fail(err, HDX_IO, part, HDX_NOWHERE, "cannot be created: %s", strerror(errno));
        if (path[i] == '\0')
            break;
    }
    return HDX_OK;
}

/* The first call of a batch creates this empty file in a folder that is new or otherwise empty. */
static bool is_begun(const char *out)
{
    char        path[4200];
    struct stat st;
    return (size_t)snprintf(path, sizeof path, "%s/claims/.began", out) < sizeof path && lstat(path, &st) == 0 &&
           S_ISREG(st.st_mode) && st.st_size == 0;
}

/* Finds the first entry of a folder that is neither a temporary file of this program nor one of `known`; "": none. */
static void find_other(const char *folder, const char *const *known, size_t count, char other[256])
{
    const struct dirent *entry;
    DIR                 *d = opendir(folder);
    other[0] = '\0';
    while (d != NULL && other[0] == '\0' && (entry = readdir(d)) != NULL) {
        bool is_known =
            strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 || hdx_own_is_name(entry->d_name);
        for (size_t i = 0; !is_known && i < count; i++)
            is_known = strcmp(entry->d_name, known[i]) == 0;
        if (!is_known)
            (void)snprintf(other, 256, "%s", entry->d_name);
    }
    if (d != NULL)
        (void)closedir(d);
}

/*
 * A batch replaces and removes files in its folder, so the folder must be its own: one that a batch began, or a new
 * one. Another runner may be creating it at this moment, and deploy/ puts a folder and a log there first.
 */
static hdx_code check_out(const char *out, hdx_error *err)
{
    static const char *const first[] = { "status", "claims", "answers", "slurm", "jobs.log" };
    char                     other[256] = "", path[4200];
    const char              *in = "";
    if (!is_begun(out))
        find_other(out, first, HDX_COUNT(first), other);
    for (size_t i = 0; other[0] == '\0' && i < 3 && !is_begun(out); i++) {
        in = first[i];
        if ((size_t)snprintf(path, sizeof path, "%s/%s", out, in) < sizeof path)
            find_other(path, (const char *const[]){ ".began" }, strcmp(in, "claims") == 0, other);
    }
    if (other[0] == '\0' || is_begun(out)) /* another runner began it meanwhile */
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, out, HDX_NOWHERE,
                             "is not an output folder of a batch and contains other files (%s%s%.200s)", in,
                             in[0] != '\0' ? "/" : "", other),
                    "name a new or empty folder");
}

static hdx_code make_out(batch_run *r, hdx_error *err)
{
    static const char *const folders[] = { "", "/status", "/claims", "/answers" };
    char                     path[4200];
    struct stat              st;
    hdx_code                 code = r->o->summary ? HDX_OK : check_out(r->o->out, err);
    for (size_t i = 0; code == HDX_OK && i < HDX_COUNT(folders); i++) {
        if ((size_t)snprintf(path, sizeof path, "%s%s", r->o->out, folders[i]) >= sizeof path - 200)
            return hdx_fail(err, HDX_USAGE, r->o->out, HDX_NOWHERE, "the path is too long");
        code = r->o->summary ? HDX_OK : make_folder(path, err);
    }
    if (r->o->summary) /* only reports what exists */
        return code;
    if (code == HDX_OK && r->o->index_dir != NULL)
        code = make_folder(r->o->index_dir, err);
    (void)snprintf(path, sizeof path, "%s/claims/.began", r->o->out);
    if (code == HDX_OK && (code = hdx_batch_file_write(path, "", 0, NULL, false, err)) == HDX_OK &&
        stat(path, &st) == 0)
        r->began = st.st_mtim;
    for (size_t i = 0; code == HDX_OK && i < 3; i++) { /* temporary files of active runners are younger */
        const struct timespec old = { .tv_sec = r->began.tv_sec - (time_t)BATCH_CLAIM_STALE_S };
        (void)snprintf(path, sizeof path, "%s%s", r->o->out, folders[i]);
        hdx_batch_clear_temporary(path, &old);
    }
    return code;
}

/* Returns the number after `key` in a system file; UINT64_MAX: none. */
static uint64_t number_in(const char *root, const char *name, const char *key, uint64_t unit)
{
    char text[4096];
    (void)snprintf(text, sizeof text, "%s%s", root, name);
    FILE        *f = fopen(text, "re");
    const size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    text[n] = '\0';
    const char *at = strstr(text, key);
    char       *end = NULL;
    if (at == NULL)
        return UINT64_MAX;
    const unsigned long long v = strtoull(at + strlen(key), &end, 10);
    uint64_t                 bytes;
    return end == at + strlen(key) || !hdx_mul(v, unit, &bytes) ? UINT64_MAX : bytes;
}

/* Returns the least limit of the control group of this process and its ancestors. */
static uint64_t group_memory(const char *root)
{
    char     group[4096], path[4200];
    uint64_t bytes = UINT64_MAX;
    (void)snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    group[0] = '\0';
    while (f != NULL && fgets(group, sizeof group, f) != NULL && strncmp(group, "0::/", 4) != 0)
        group[0] = '\0';
    if (f != NULL)
        (void)fclose(f);
    group[strcspn(group, "\n")] = '\0';
    for (char *at = group + strlen(group); group[0] != '\0' && at != NULL; at = strrchr(group + 3, '/')) {
        *at = '\0';
        (void)snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group + 3);
        const uint64_t most = number_in(root, path, "", 1);
        bytes = hdx_least(bytes, most > 0 ? most : UINT64_MAX);
    }
    return bytes;
}

uint64_t hdx_batch_memory_here(const char *root)
{
    const char *slurm = getenv("SLURM_MEM_PER_NODE"); /* in MB */
    uint64_t    bytes = number_in(root, "/proc/meminfo", "MemAvailable:", 1024), most;
    bytes = hdx_least(bytes, group_memory(root));
    most = number_in(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1);
    bytes = hdx_least(bytes, most > 0 ? most : UINT64_MAX);
    if (slurm != NULL && hdx_mul(strtoull(slurm, NULL, 10), 1u << 20, &most) && most > 0)
        bytes = hdx_least(bytes, most);
    return bytes == UINT64_MAX ? bytes : bytes / 4 * 3;
}

static hdx_code check_tables(const char *at, hdx_error *err)
{
    hdx_fleet_declared t;
    for (size_t len; at != NULL && *at != '\0'; at += len + (at[len] == ',')) {
        bool there = false;
        len = strcspn(at, ",");
        for (unsigned i = 0; !there && hdx_fleet_table_at(i, &t); i++)
            there = strlen(t.name) == len && memcmp(t.name, at, len) == 0;
        if (!there)
            return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "unknown table '%.*s'", (int)len, at),
                            "optional tables: objects, references, dominators_full");
    }
    return HDX_OK;
}

static hdx_code check(const hdx_batch_options *o, hdx_error *err)
{
    char name[64];
    if (o->input_count == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "no dump is named");
    if (o->out == NULL || o->out[0] == '\0')
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "the output folder is missing");
    const char *at = o->ask;
    for (size_t len; at != NULL && *at != '\0'; at += len + (at[len] == ',')) {
        len = strcspn(at, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), at);
        const hdx_answer *a = hdx_answer_named(name);
        bool              fits = a != NULL && (a->flags & HDX_ANSWER_HEAP) != 0 && (a->flags & HDX_ANSWER_PLAIN) == 0;
        for (unsigned i = 0; fits && i < a->parameter_count; i++)
            fits = (a->parameters[i].flags & (HDX_PARAMETER_REQUIRED | HDX_PARAMETER_EITHER)) == 0;
        if (!fits)
            return hdx_hint(err,
                            hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%.*s' is not an answer that a batch can give",
                                     (int)len, at),
                            "name answers that need only a dump: histogram, suspects, leaks, dominators, threads ...");
    }
    if (o->index_only && o->tables != HDX_BATCH_NO_TABLES)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--index-only writes no tables; remove it or --tables");
    if (o->more_tables != NULL && o->tables == HDX_BATCH_NO_TABLES)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--more-tables requires --tables"),
                        "add --tables parquet, sqlite or csv");
    return check_tables(o->more_tables, err);
}

/* Returns "parquet", "parquet objects,references"; NULL: none. */
static const char *tables_name(batch_run *r)
{
    static const char *const names[] = { NULL, "parquet", "sqlite", "csv" };
    const char              *name = names[r->o->tables];
    char                     text[512];
    if (name == NULL || r->o->index_only || r->o->more_tables == NULL)
        return r->o->index_only ? NULL : name;
    (void)snprintf(text, sizeof text, "%s %s", name, r->o->more_tables);
    return hdx_batch_keep(r, text);
}

hdx_code hdx_batch_settle(batch_run *r, const hdx_batch_options *options, hdx_error *err)
{
    hdx_code code = check(options, err);
    r->settled = *options;
    r->o = &r->settled;
    r->began_ns = hdx_now_ns();
    if (code != HDX_OK)
        return code;
    if (r->settled.ask != NULL && r->settled.ask[0] == '\0')
        r->settled.ask = NULL;
    r->settled.tasks = options->tasks > 0 ? options->tasks : 1;
    r->settled.task = options->task % r->settled.tasks;
    r->settled.threads = options->threads > 0 ? options->threads : hdx_workers_default();
    r->asked = options->index_only ? NULL : r->settled.ask;
    r->tables = tables_name(r);
    r->room = (batch_room){ (unsigned)hdx_least(r->settled.threads, HDX_WORKERS_MAX),
                            options->memory > 0 ? options->memory : hdx_batch_memory_here("") };
    if ((code = make_out(r, err)) == HDX_OK)
        code = hdx_batch_inputs(r->o, &r->arena, &r->dumps, hdx_batch_say_line, r, err);
    if (code == HDX_OK)
        code = hdx_batch_plan_read(r->o->out, &r->arena, &r->saved, err);
    return code;
}

static const batch_forecast *saved_forecast(const batch_run *r, const hdx_map *places, const char *id)
{
    const uint64_t *place = hdx_map_get(places, hdx_hash_bytes(4, id, strlen(id)));
    return place != NULL && strcmp(r->saved.at[*place].id, id) == 0 ? &r->saved.at[*place].forecast : NULL;
}

hdx_code hdx_batch_make_jobs(batch_run *r, hdx_error *err)
{
    hdx_map  places = hdx_map_of(NULL);
    hdx_code code = HDX_OK;
    r->count = (size_t)r->dumps.count;
    r->jobs = hdx_arena_get(&r->arena, r->count * sizeof *r->jobs);
    r->ordered = hdx_arena_get(&r->arena, r->count * sizeof(batch_job *));
    r->working = hdx_arena_get(&r->arena, (r->room.threads + 1u) * sizeof(batch_job *));
    if (r->jobs == NULL || r->ordered == NULL || r->working == NULL)
        return hdx_no_memory(err, "the dumps of a batch", r->count);
    for (uint64_t i = 0; code == HDX_OK && i < r->saved.count; i++) {
        bool      fresh;
        uint64_t *place = hdx_map_put(&places, hdx_hash_bytes(4, r->saved.at[i].id, strlen(r->saved.at[i].id)), &fresh);
        if (place == NULL)
            code = hdx_no_memory(err, "forecasts", 0);
        else
            *place = i;
    }
    for (size_t i = 0; code == HDX_OK && i < r->count; i++) {
        batch_job *j = &r->jobs[i];
        char       path[4200];
        *j =
            (batch_job){ .dump = &r->dumps.at[i], .claim = { .fd = -1 }, .child = { 0, -1 }, .began_ns = hdx_now_ns() };
        (void)hdx_batch_file_of(j->dump->path, &j->s.file_size, &j->s.mtime_ns);
        const batch_forecast *f = saved_forecast(r, &places, j->dump->id);
        if (f != NULL && f->file_size == j->s.file_size && f->mtime_ns == j->s.mtime_ns) {
            j->forecast = *f;
            j->known = true;
        }
        if (r->o->index_dir != NULL) {
            (void)snprintf(path, sizeof path, "%s/%s.hdx", r->o->index_dir, j->dump->id);
            if ((j->index_dir = hdx_batch_keep(r, path)) == NULL)
                code = hdx_no_memory(err, "the dumps of a batch", r->count);
        }
    }
    hdx_map_free(&places);
    return code;
}

/* Files about all dumps are as private as the most private one. */
void hdx_batch_access_of_all(const batch_run *r, hdx_access *like)
{
    hdx_access one;
    bool       any = false;
    *like = (hdx_access){ .mode = 0666, .gid = (uint32_t)getegid() };
    for (size_t i = 0; i < r->count; i++) {
        if (!hdx_batch_access_of(r->jobs[i].dump, &r->jobs[i].s, &one))
            continue;
        if (any)
            hdx_access_narrow(like, &one);
        else
            *like = one;
        any = true;
    }
}

/* Weighs by forecasts if all exist, otherwise by sizes, so that all dumps are weighed alike. */
hdx_code hdx_batch_deal_tasks(batch_run *r, hdx_error *err)
{
    batch_weight *weights = hdx_arena_get(&r->arena, (r->count + 1) * sizeof *weights);
    bool          forecast = true;
    hdx_access    like;
    if (weights == NULL)
        return hdx_no_memory(err, "the deal", r->count);
    hdx_batch_access_of_all(r, &like);
    for (size_t i = 0; i < r->count; i++)
        forecast = forecast && r->jobs[i].known;
    for (size_t i = 0; i < r->count; i++) {
        const batch_job     *j = &r->jobs[i];
        const batch_forecast guess = hdx_batch_forecast_guess(j->dump->path, j->s.file_size);
        weights[i] = (batch_weight){ j->dump->id, forecast ? j->forecast.seconds : guess.seconds, i, 0 };
    }
    const hdx_code code = hdx_batch_deal(r->o->out, weights, r->count, r->o->tasks, &like, &r->arena, err);
    for (size_t i = 0; code == HDX_OK && i < r->count; i++)
        r->jobs[i].task = weights[i].task;
    return code;
}

void hdx_batch_take_share(batch_run *r)
{
    size_t share = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->jobs[i].task == r->o->task)
            r->jobs[share++] = r->jobs[i];
    r->count = share;
}

/* Dumps that were finished before need no forecast, only a valid index, which a child checks. */
void hdx_batch_look_back(batch_run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        batch_job *j = &r->jobs[i];
        j->was = hdx_batch_status_read(r->o->out, j->dump->id, &r->arena, &j->before);
        if (r->o->rebuild != HDX_BATCH_REBUILD_NONE)
            j->known = false;
        if (!j->was || !hdx_batch_is_finished(r, j, &j->before))
            continue;
        if (access(j->dump->path, F_OK) != 0)
            hdx_batch_skip(r, j, &j->before);
        else
            j->known = false;
    }
}

void hdx_batch_skip_valid(batch_run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        batch_job *j = &r->jobs[i];
        if (j->s.state == BATCH_WAITING && j->forecast.indexed && j->was && hdx_batch_is_finished(r, j, &j->before))
            hdx_batch_skip(r, j, &j->before);
    }
}

void hdx_batch_recall(batch_run *r)
{
    for (size_t i = 0; i < r->count; i++) {
        batch_job *j = &r->jobs[i];
        const bool is = hdx_batch_status_read(r->o->out, j->dump->id, &r->arena, &j->before);
        if (is && hdx_batch_is_refused(r, j, &j->before))
            continue;
        if (!is || (j->before.state == BATCH_DONE && !hdx_batch_is_finished(r, j, &j->before))) {
            j->s.state = BATCH_WAITING;
            continue;
        }
        j->s = j->before;
        j->s.dropped = j->s.dropped && access(j->dump->path, F_OK) != 0; /* it may have been restored */
        if (j->s.state != BATCH_RUNNING)
            continue;
        const bool held = hdx_batch_claim_is_held(r->o->out, j->dump->id);
        j->s.state = held ? BATCH_HELD : BATCH_INTERRUPTED; /* without a claim its runner was killed */
        j->s.exit_code = hdx_batch_exit_code(held ? HDX_BUSY : HDX_CANCELLED);
    }
}

hdx_code hdx_batch_keep_forecasts(batch_run *r, hdx_error *err)
{
    batch_saved_list list = { 0 };
    hdx_map          ours = hdx_map_of(NULL);
    hdx_access       like;
    hdx_code         code = HDX_OK;
    bool             fresh;
    if (!r->estimated)
        return HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < r->count; i++) {
        const batch_job *j = &r->jobs[i];
        if (!j->known || j->guess)
            continue;
        if (!hdx_list_room(NULL, HDX_LIST_REF(&list)) ||
            hdx_map_put(&ours, hdx_hash_bytes(4, j->dump->id, strlen(j->dump->id)), &fresh) == NULL)
            code = hdx_no_memory(err, "forecasts", 0);
        else
            list.at[list.count++] = (batch_saved){ j->dump->id, j->forecast };
    }
    for (uint64_t i = 0; code == HDX_OK && i < r->saved.count; i++) {
        const batch_saved *k = &r->saved.at[i];
        if (hdx_map_get(&ours, hdx_hash_bytes(4, k->id, strlen(k->id))) != NULL)
            continue;
        if (!hdx_list_room(NULL, HDX_LIST_REF(&list)))
            code = hdx_no_memory(err, "forecasts", 0);
        else
            list.at[list.count++] = *k;
    }
    hdx_batch_access_of_all(r, &like);
    if (code == HDX_OK)
        code = hdx_batch_plan_write(r->o->out, &list, &like, err);
    hdx_map_free(&ours);
    hdx_list_free(NULL, HDX_LIST_REF(&list));
    return code;
}

/* ---- disk space ---- */

static const char *index_place(const batch_job *j, char folder[4096])
{
    const char *path = j->index_dir != NULL ? j->index_dir : j->dump->whole, *slash = strrchr(path, '/');
    (void)snprintf(folder, 4096, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path),
                   slash == NULL ? "." : path);
    return folder;
}

uint64_t hdx_batch_disk_of(const batch_job *j)
{
    uint64_t bytes;
    if (j->forecast.indexed || j->guess)
        return 0;
    return hdx_add(j->forecast.disk, j->forecast.temporary, &bytes) ? bytes : UINT64_MAX;
}

/*
 * Returns the free space for a dump's index. Many dumps wait for the same few file systems: each is queried once per
 * start (run.c), not once per dump.
 */
static uint64_t space_at(batch_run *r, const batch_job *j)
{
    char     folder[4096];
    uint64_t there = UINT64_MAX;
    for (unsigned i = 0; j->disk_device != 0 && i < r->space_count; i++)
        if (r->spaces[i].device == j->disk_device)
            return r->spaces[i].bytes;
    if (hdx_io_system()->space(hdx_io_system(), index_place(j, folder), &there) < 0)
        there = UINT64_MAX;
    if (j->disk_device != 0 && r->space_count < BATCH_MOST_SPACES)
        r->spaces[r->space_count++] = (batch_space){ j->disk_device, there };
    return there;
}

/* Returns the free space of its index's file system, less what running dumps will use there. */
uint64_t hdx_batch_disk_for(batch_run *r, const batch_job *j)
{
    uint64_t       taken = 0;
    const uint64_t there = hdx_batch_disk_of(j) > 0 ? space_at(r, j) : UINT64_MAX;
    if (there == UINT64_MAX)
        return there;
    for (size_t i = 0; i < r->working_count; i++)
        if (r->working[i]->disk_device == j->disk_device)
            taken = hdx_add(taken, hdx_batch_disk_of(r->working[i]), &taken) ? taken : UINT64_MAX;
    return there > taken ? there - taken : 0;
}

/* ---- order ---- */

hdx_code hdx_batch_put_in_order(batch_run *r, hdx_error *err)
{
    batch_weight *weights = hdx_arena_get(&r->line, (r->count + 1) * sizeof *weights);
    if (weights == NULL)
        return hdx_no_memory(err, "the order of dumps", r->count);
    for (size_t i = 0; i < r->count; i++) {
        batch_job  *j = &r->jobs[i];
        char        folder[4096];
        struct stat st;
        j->disk_device = stat(index_place(j, folder), &st) == 0 ? (uint64_t)st.st_dev : 0;
        j->s.forecast_seconds = j->s.state == BATCH_SKIPPED ? j->s.forecast_seconds : j->forecast.seconds;
        if (j->s.state != BATCH_SKIPPED) {
            j->s.forecast_memory = j->forecast.memory;
            j->s.least_memory = j->forecast.least;
            j->s.forecast_disk = hdx_batch_disk_of(j);
        }
        /* queries take time even if nothing is built */
        weights[i] = (batch_weight){ j->dump->id, j->forecast.seconds + (double)j->forecast.objects * 1e-8, i, 0 };
    }
    hdx_batch_plan_order(weights, r->count);
    for (size_t i = 0; i < r->count; i++) {
        r->ordered[i] = &r->jobs[weights[i].place];
        r->ordered[i]->order = i;
    }
    hdx_arena_empty(&r->line);
    return HDX_OK;
}
