/*
 * test_batches.c - whole batches of small dumps, one process at a time, and what comes of the next call: events, rows,
 * statuses, files, answers. batches.txt has the checksums (support/checksums.h).
 *
 * An ask is calls, bars between them: options, as `heapdex batch` has them (key=value), and what happens to files
 * before: !text=FILE becomes another text, !more=FILE is written anew, !rm=FILE, !old=FILE and !young=FILE are of
 * killed runners and of others at work, !stop=N the N-th event ends the call.
 */
#include "batch/batch.h"
#include "cli/leaky.h"
#include "cli/odd.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct batches {
    char        folder[TEST_FOLDER];
    hdx_buffer *b;
    unsigned    events, stop_at;
} batches;

static batches the;

/* The folder of this run is $, a hash of where a file is ####. */
static void put_masked(hdx_buffer *b, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        const size_t here = strlen(the.folder), hex = *at == '-' ? strspn(at + 1, "0123456789abcdef") : 0;
        if (strncmp(at, the.folder, here) == 0) {
            hdx_buffer_text(b, "$");
            at += here - 1;
        } else if (hex == 8 || hex == 16) {
            hdx_buffer_text(b, "-####");
            at += hex;
        } else {
            hdx_buffer_put(b, at, 1);
        }
    }
}

static void save(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(text, 1, len, f) == len, "%s", path);
    (void)fclose(f);
}

static void happened(void *context, const hdx_batch_event *e)
{
    batches *n = context;
    if (e->what == HDX_BATCH_STEP)
        return;
    n->events++;
    hdx_buffer_format(n->b, "%s ", hdx_batch_happening_name(e->what));
    put_masked(n->b, e->dump_id != NULL ? e->dump_id : "-");
    hdx_buffer_format(n->b, " %s %d %u %d:", e->dump != NULL ? e->dump : "-", e->exit_code, e->threads, e->memory > 0);
    const uint64_t counts[] = { e->counts.dumps,       e->counts.done, e->counts.skipped, e->counts.failed,
                                e->counts.interrupted, e->counts.held, e->counts.waiting, e->counts.running };
    for (size_t i = 0; i < HDX_COUNT(counts); i++)
        hdx_buffer_format(n->b, " %llu", (unsigned long long)counts[i]);
    hdx_buffer_text(n->b, " ");
    put_masked(n->b, e->message != NULL ? e->message : "");
    hdx_buffer_text(n->b, "\n");
}

static bool cancelled(void *context)
{
    const batches *n = context;
    return n->stop_at > 0 && n->events >= n->stop_at;
}

/* Columns that are the same each time. */
static void put_rows(hdx_buffer *b, hdx_rows *rows)
{
    const hdx_cell   *cells;
    hdx_error         err;
    unsigned          count;
    static const char same[] =
        "dump_id,state,objects,forecast_seconds,forecast_memory,least_memory,forecast_disk,threads,"
        "dump_size,damage_places,exit_code,error,step_attempts,task,dropped,index,dump";
    const hdx_code code = hdx_rows_select(&rows, same, &err);
    cr_assert(code == HDX_OK, "%s", err.message);
    (void)hdx_rows_columns(rows, &count);
    while (hdx_rows_next(rows, &cells)) {
        for (unsigned i = 0; i < count; i++) {
            const hdx_cell *c = &cells[i];
            char            text[8400] = "";
            switch (c->kind) {
            case HDX_CELL_UINT: (void)snprintf(text, sizeof text, "%llu", (unsigned long long)c->as.natural); break;
            case HDX_CELL_INT: (void)snprintf(text, sizeof text, "%lld", (long long)c->as.integer); break;
            case HDX_CELL_BOOL: (void)snprintf(text, sizeof text, "%d", c->as.boolean); break;
            case HDX_CELL_REAL: (void)snprintf(text, sizeof text, "%.9f", c->as.real); break;
            case HDX_CELL_TEXT: (void)snprintf(text, sizeof text, "%.*s", (int)c->as.text.len, c->as.text.at); break;
            default: break;
            }
            put_masked(b, text);
            hdx_buffer_text(b, "|");
        }
        hdx_buffer_text(b, "\n");
    }
    hdx_rows_close(rows);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

/* Names of all files below, with the bytes of answers and of small tables. */
static void put_files(hdx_buffer *b, const char *folder, unsigned depth)
{
    struct dirent **names;
    const int       count = scandir(folder, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char        path[8300];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0 && lstat(path, &st) == 0) {
            put_masked(b, path);
            hdx_buffer_format(b, " %o\n", st.st_mode);
            if (S_ISDIR(st.st_mode) && depth < 4 && strstr(names[i]->d_name, ".hdx") == NULL)
                put_files(b, path, depth + 1);
            const char *ending = strrchr(path, '.');
            if (ending != NULL && (strcmp(ending, ".csv") == 0 || strstr(path, "/answers/") != NULL)) {
                hdx_arena arena = hdx_arena_of(NULL);
                size_t    len;
                char     *bytes = hdx_batch_file_read(&arena, path, 1 << 20, &len);
                if (bytes != NULL && strstr(path, "/dump.csv") == NULL)
                    put_masked(b, bytes);
                hdx_arena_free(&arena);
            }
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

static void put_statuses(hdx_buffer *b, const char *out)
{
    struct dirent **names;
    char            folder[300];
    (void)snprintf(folder, sizeof folder, "%s/status", out);
    const int count = scandir(folder, &names, NULL, by_name);
    for (int i = 0; i < count; i++) {
        hdx_arena    arena = hdx_arena_of(NULL);
        batch_status s = { .state = BATCH_NEW };
        char         id[300];
        (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(names[i]->d_name, "."), names[i]->d_name);
        if (id[0] != '\0' && hdx_batch_status_read(out, id, &arena, &s)) {
            put_masked(b, id);
            hdx_buffer_format(b, " %s %d %u %d %d %llu %llu %llu %llu %llu %d %u|", hdx_batch_state_name(s.state),
                              s.exit_code, s.threads, s.reused, s.dropped, (unsigned long long)s.damage_places,
                              (unsigned long long)s.objects, (unsigned long long)s.live_objects,
                              (unsigned long long)s.references, (unsigned long long)s.file_size, s.ended_ms > 0,
                              s.step_attempts);
            const char *const texts[] = { s.dump, s.kind,  s.error, s.hint,   s.damage,
                                          s.step, s.index, s.asked, s.tables, s.manifest };
            for (size_t k = 0; k < HDX_COUNT(texts); k++) {
                put_masked(b, texts[k] != NULL ? texts[k] : "-");
                hdx_buffer_text(b, "|");
            }
            hdx_buffer_text(b, "\n");
        }
        hdx_arena_free(&arena);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

static bool option(hdx_batch_options *o, const char **inputs, const char *key, const char *value)
{
    if (strcmp(key, "in") == 0)
        inputs[o->input_count++] = value;
    else if (strcmp(key, "out") == 0)
        o->out = value;
    else if (strcmp(key, "ask") == 0)
        o->ask = value;
    else if (strcmp(key, "more") == 0)
        o->more_tables = value;
    else if (strcmp(key, "index") == 0)
        o->index_dir = value;
    else if (strcmp(key, "tables") == 0)
        o->tables = strcmp(value, "csv") == 0       ? HDX_BATCH_CSV
                    : strcmp(value, "parquet") == 0 ? HDX_BATCH_PARQUET
                                                    : HDX_BATCH_SQLITE;
    else if (strcmp(key, "memory") == 0)
        o->memory = strtoull(value, NULL, 10) << 20;
    else if (strcmp(key, "threads") == 0)
        o->threads = (unsigned)atoi(value);
    else if (strcmp(key, "most") == 0)
        o->max_uncompressed = strtoull(value, NULL, 10);
    else if (strcmp(key, "task") == 0)
        o->task = (unsigned)atoi(value);
    else if (strcmp(key, "tasks") == 0)
        o->tasks = (unsigned)atoi(value);
    else
        return false;
    return true;
}

static bool flag(hdx_batch_options *o, const char *word)
{
    bool *const              flags[] = { &o->plan, &o->summary, &o->index_only, &o->drop, &o->no_wait };
    static const char *const names[] = { "plan", "summary", "index-only", "drop", "no-wait" };
    for (size_t i = 0; i < HDX_COUNT(names); i++)
        if (strcmp(word, names[i]) == 0)
            return *flags[i] = true;
    return false;
}

static void leave(const char *path, unsigned seconds_ago)
{
    const struct timespec ago[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - (time_t)seconds_ago } };
    save(path, "x", 1);
    cr_assert(utimensat(AT_FDCWD, path, ago, 0) == 0);
}

/* Forecasts that are kept; times are another each time, and so is what a build takes. */
static void put_plan(hdx_buffer *b, const char *out)
{
    hdx_arena        arena = hdx_arena_of(NULL);
    batch_saved_list list = { 0 };
    hdx_error        err;
    if (hdx_batch_plan_read(out, &arena, &list, &err) != HDX_OK)
        hdx_buffer_format(b, "%s\n", err.message);
    for (uint64_t i = 0; i < list.count; i++) {
        const batch_forecast *f = &list.at[i].forecast;
        put_masked(b, list.at[i].id);
        hdx_buffer_format(b, " %d %llu %llu %llu %llu", f->indexed, (unsigned long long)f->file_size,
                          (unsigned long long)f->objects, (unsigned long long)f->least,
                          (unsigned long long)(f->indexed ? f->memory : 0));
        for (const char *at = f->steps; at != NULL && *at != '\0'; at++)
            hdx_buffer_put(b, at, (*at < '0' || *at > '9') && *at != '.');
        hdx_buffer_text(b, "\n");
    }
    hdx_list_free(NULL, HDX_LIST_REF(&list));
    hdx_arena_free(&arena);
}

static void call(hdx_buffer *b, char *words)
{
    const char       *inputs[8];
    hdx_batch_options o = { .inputs = inputs,
                            .out = "out",
                            .threads = 1,
                            .memory = 1u << 30,
                            .progress = { &the, NULL, cancelled },
                            .happened = happened,
                            .context = &the };
    hdx_batch_counts  counts = { 0 };
    hdx_rows         *rows = NULL;
    hdx_error         err = { .offset = HDX_NOWHERE };
    the.stop_at = the.events = 0;
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        if (strcmp(word, "!text") == 0)
            save(value, "other text", 10);
        else if (strcmp(word, "!more") == 0)
            leaky_make(value, true);
        else if (strcmp(word, "!rm") == 0)
            cr_assert(unlink(value) == 0, "%s", value);
        else if (strcmp(word, "!old") == 0 || strcmp(word, "!young") == 0)
            leave(value, strcmp(word, "!old") == 0 ? BATCH_CLAIM_STALE_S + 60 : BATCH_CLAIM_STALE_S - 60);
        else if (strcmp(word, "!stop") == 0)
            the.stop_at = (unsigned)atoi(value);
        else
            cr_assert(value != NULL ? option(&o, inputs, word, value) : flag(&o, word), "%s", word);
    }
    const hdx_code code = hdx_batch_run(&o, &counts, &rows, &err);
    hdx_buffer_format(b, "%s ", hdx_code_name(code));
    put_masked(b, code != HDX_OK ? err.message : "");
    hdx_buffer_text(b, "|");
    put_masked(b, code != HDX_OK ? err.hint : "");
    hdx_buffer_text(b, "\n");
    if (rows != NULL)
        put_rows(b, rows);
    put_statuses(b, o.out != NULL ? o.out : "out");
    put_plan(b, o.out != NULL ? o.out : "out");
    put_files(b, ".", 0);
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char copy[512], *at = copy, bytes[20000];
    (void)context;
    (void)snprintf(copy, sizeof copy, "%s", ask);
    test_folder_make_fast(the.folder, "batches");
    the.b = b;
    cr_assert(chdir(the.folder) == 0 && mkdir("d", 0755) == 0 && mkdir("d/e", 0755) == 0);
    (void)setenv("XDG_CACHE_HOME", the.folder, 1);
    odd_make("d/odd.hprof");
    leaky_make("d/e/leaky.hprof", false);
    FILE        *f = fopen("d/odd.hprof", "rb");
    const size_t len = fread(bytes, 1, sizeof bytes, f);
    (void)fclose(f);
    save("d/cut.hprof", bytes, len * 3 / 4);
    save("d/text.hprof", "hello", 5);
    static const char list[] = "dump,dump_id,floor,name\nd/odd.hprof,one,3,\"a \"\"shop\"\"\"\nd/e/leaky.hprof,two,,\n"
                               "d/absent.hprof,three,4,x\n";
    save("list.csv", list, sizeof list - 1);
    for (char *words; (words = strsep(&at, "|")) != NULL;)
        call(b, words);
    cr_assert(chdir("/") == 0);
    test_folder_remove(the.folder);
    return b->len;
}

Test(batches, are_what_they_were, .timeout = 120)
{
    (void)umask(022);
    checksums_check(HDX_TREE "/tests/batch/batches.txt", text_of, NULL);
}
