/* index.c - answers about the index itself: index, estimate, verify, remove. */
#include "query/histogram/histogram.h"
#include "query/holding/children.h"
#include "query/holding/class_paths.h"
#include "query/saved_answers.h"
#include "query/views.h"
#include "answer/answer.h"
#include "graph/graph.h"
#include "making/view.h"

#include <stdio.h>

#define FORCE_AND_UNTIL_STEPS "objects outbound inbound dominators" /* values of hdx_step, from 1 */

static double seconds(uint64_t ns) { return (double)(ns / 1000) / 1e6; }

static hdx_step until_of(const hdx_arguments *a)
{
    const int place = hdx_argument_choice(a, "until");
    return place < 0 ? (hdx_step)0 : (hdx_step)(place + 1);
}

/* ---- index ---- */

static const hdx_column step_keys[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "the step"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "wall time"),
    HDX_COLUMN("cpu_seconds", REAL, SECONDS, 0, "CPU time of all threads"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes written to index files"),
    HDX_COLUMN("peak_bytes", UNSIGNED, BYTES, 0, "peak memory"),
};
static const hdx_column checked_keys[] = {
    HDX_COLUMN("dump", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "match of the dump with the indexed one: inode (size, time, inode), samples (size, samples of content) "
               "or size; null without a dump"),
    HDX_COLUMN("files", UNSIGNED, COUNT, 0, "index files, all of the expected length; verify reads them"),
};
static const hdx_column index_keys[] = {
    HDX_COLUMN("path", TEXT, NONE, 0, "the folder"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "size of all files"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects in the dump"),
    HDX_COLUMN("live", UNSIGNED, COUNT, 0, "reachable objects"),
    HDX_COLUMN("references", UNSIGNED, COUNT, 0, "distinct references between live objects"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "wall time of the build"),
    HDX_COLUMN("peak_rss", UNSIGNED, BYTES, 0, "peak resident memory of the build"),
    HDX_COLUMN("reused", BOOL, NONE, 0, "true if a valid index existed; the other values describe its build"),
    HDX_NESTED("checked", OBJECT, HDX_COLUMN_NULLABLE, "checks of an existing index; null for a new one", checked_keys),
    HDX_NESTED("steps", LIST, 0, "steps of the build", step_keys),
};
static const hdx_column index_document[] = { HDX_NESTED("index", OBJECT, 0, "index and its build", index_keys) };
static const hdx_column index_columns[] = {
    HDX_COLUMN("step", TEXT, NONE, 0, "step of the build"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "wall time"),
    HDX_COLUMN("cpu_seconds", REAL, SECONDS, 0, "CPU time of all threads"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes written to index files"),
};
static const hdx_form      index_form = { NULL, NULL, index_columns, HDX_COUNT(index_columns) };
static const hdx_parameter index_parameters[] = {
    { "force", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0,
      "rebuild an index even if it is valid or damaged" },
    { "until", HDX_PARAMETER_CHOICE, 0, "STEP", FORCE_AND_UNTIL_STEPS, NULL, NULL, NULL, 0, 0, "stop after a step" },
    { "with", HDX_PARAMETER_CHOICES, 0, "WHAT", "class-retained", NULL, "until", NULL, 0, 0,
      "class-retained: also store retained sizes of classes, packages, loaders and superclasses" },
    { "view", HDX_PARAMETER_TEXT, 0, "NAME=SPEC", NULL, NULL, "until", NULL, 0, 0,
      "add a view that excludes roots or references, or uses the object sizes of a JVM layout: -roots:TYPE,..., "
      "-refs:weak,soft,phantom,finalizer, -field:CLASS#FIELD, layout:compact; separate parts with blanks" },
};

const hdx_answer hdx_answer_index = {
    .name = "index",
    .sentence = "build the index of a dump (other commands do this when needed)",
    .more = "The index of app.hprof is the folder app.hprof.hdx next to it, or a folder in the user's cache if the "
            "dump's folder is not writable. A valid index is reused; --force rebuilds it, also if it is damaged. "
            "--view NAME=SPEC adds a view of the same heap that excludes some GC roots or references, or uses the "
            "object sizes of another layout. Other commands accept --view NAME.",
    .examples = { "heapdex index app.hprof --force --memory 2G --progress always",
                  "heapdex index app.hprof --view no-locals='-roots:JAVA_FRAME,JNI_LOCAL'" },
    .forms = &index_form,
    .form_count = 1,
    .document = index_document,
    .document_count = HDX_COUNT(index_document),
    .parameters = index_parameters,
    .parameter_count = HDX_COUNT(index_parameters),
};

static const char *const likeness_words[] = { NULL, "size", "samples", "inode" };

/* Writes the title for an existing index: only what was actually checked. */
static void put_checked(char *to, size_t size, const hdx_index_report *r, unsigned files)
{
    static const char *const words[] = {
        "the dump is not available",
        "the dump next to it has the expected size",
        "made from this dump (size and samples)",
        "made from this dump (size, time, inode)",
    };
    (void)snprintf(to, size, "exists\n%s; %u files of expected length, not read", words[r->likeness], files);
}

/* files: number of files of an existing index. */
static hdx_code index_of(const hdx_index_report *r, unsigned files, hdx_rows *rows, hdx_error *err)
{
    hdx_arena  *arena = hdx_rows_arena(rows);
    hdx_cell   *steps = hdx_arena_get(arena, (r->step_count + 1) * sizeof *steps);
    hdx_member *index = hdx_arena_get(arena, 10 * sizeof *index), *checked = hdx_arena_get(arena, 2 * sizeof *checked);
    char        title[512], human[16], peak[16];
    if (steps == NULL || index == NULL || checked == NULL)
        return hdx_no_memory(err, "the steps of the build", 0);
    for (unsigned i = 0; i < r->step_count; i++) {
        const hdx_index_step_report *step = &r->steps[i];
        hdx_member                  *m = hdx_arena_get(arena, 5 * sizeof *m);
        if (m == NULL)
            return hdx_no_memory(err, "the steps of the build", 0);
        m[0] = (hdx_member){ "name", hdx_cell_copy(arena, step->name) };
        m[1] = (hdx_member){ "seconds", hdx_cell_real(seconds(step->wall_ns)) };
        m[2] = (hdx_member){ "cpu_seconds", hdx_cell_real(seconds(step->cpu_ns)) };
        m[3] = (hdx_member){ "bytes", hdx_cell_uint(step->written_bytes) };
        m[4] = (hdx_member){ "peak_bytes", hdx_cell_uint(step->peak_bytes) };
        steps[i] = hdx_cell_object(m, 5);
    }
    index[0] = (hdx_member){ "path", hdx_cell_copy(arena, r->path) };
    index[1] = (hdx_member){ "bytes", hdx_cell_uint(r->bytes) };
    index[2] = (hdx_member){ "objects", hdx_cell_uint(r->objects) };
    index[3] = (hdx_member){ "live", hdx_cell_uint(r->live_objects) };
    index[4] = (hdx_member){ "references", hdx_cell_uint(r->references) };
    index[5] = (hdx_member){ "seconds", hdx_cell_real(seconds(r->wall_ns)) };
    index[6] = (hdx_member){ "peak_rss", hdx_cell_uint(r->peak_rss) };
    index[7] = (hdx_member){ "reused", hdx_cell_bool(r->reused) };
    checked[0] = (hdx_member){ "dump", hdx_cell_string(likeness_words[r->likeness]) };
    checked[1] = (hdx_member){ "files", hdx_cell_uint(files) };
    index[8] = (hdx_member){ "checked", r->reused ? hdx_cell_object(checked, 2) : hdx_cell_null() };
    index[9] = (hdx_member){ "steps", hdx_cell_list(steps, r->step_count) };
    hdx_code code = hdx_rows_add_extra(rows, "index", hdx_cell_object(index, 10), err);
    if (code != HDX_OK)
        return code;
    hdx_human_size(r->bytes, human);
    hdx_human_size(r->peak_rss, peak);
    int len = snprintf(title, sizeof title, "%.300s: %llu objects (%llu live), %s, ", r->path,
                       (unsigned long long)r->objects, (unsigned long long)r->live_objects, human);
    if (r->reused)
        put_checked(title + len, sizeof title - (size_t)len, r, files);
    else
        (void)snprintf(title + len, sizeof title - (size_t)len, "built in %.2f s with %s", seconds(r->wall_ns), peak);
    return hdx_rows_set_title(rows, title, err);
}

/* Computes and stores retained sizes that histogram would otherwise compute when they are first needed. */
static hdx_code save_class_retained(hdx_session *s, const hdx_arguments *a, hdx_graph *g, hdx_error *err)
{
    static const hdx_by keys[] = { HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER, HDX_BY_SUPERCLASS };
    const hdx_query     q = hdx_answer_query(s, a, g);
    hdx_code            code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(keys); i++) {
        hdx_rows *rows;
        if ((code = hdx_query_histogram(&q, keys[i], NULL, true, &rows, err)) == HDX_OK)
            hdx_rows_close(rows);
    }
    return code;
}

/* ---- views ---- */
/* Parses NAME=SPEC. */
static hdx_code read_view(const char *value, char name[HDX_VIEW_NAME_SIZE], hdx_view_spec *spec, hdx_error *err)
{
    const size_t len = strcspn(value, "=");
    if (value[len] == '\0')
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "view '%.80s': expected NAME=SPEC", value),
                        "index --view no-locals='-roots:JAVA_FRAME,JNI_LOCAL'");
    (void)snprintf(name, HDX_VIEW_NAME_SIZE, "%.*s", (int)(len < HDX_VIEW_NAME_SIZE ? len : HDX_VIEW_NAME_SIZE - 1),
                   value);
    if (len >= HDX_VIEW_NAME_SIZE || !hdx_graph_view_name(name))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "'%.*s' is not a valid view name: use at most %u letters, digits, _ and -",
                        (int)(len < 80 ? len : 80), value, HDX_VIEW_NAME_SIZE - 1);
    return hdx_view_spec_read(value + len + 1, spec, err);
}

/* Returns whether a view of this name and with the same specification exists. */
static bool view_exists(hdx_session *s, const char *name, const hdx_view_spec *spec, hdx_graph **out)
{
    hdx_error unseen;
    return hdx_session_view(s, 0, name, out, &unseen) == HDX_OK &&
           strcmp(hdx_graph_summary_of(*out)->view_spec, spec->text) == 0;
}

static hdx_code make_view(hdx_session *s, const hdx_arguments *a, hdx_graph *g, const char *name,
                          const hdx_view_spec *spec, hdx_index_report *report, hdx_error *err)
{
    const hdx_query   q = hdx_answer_query(s, a, g);
    hdx_index_options options = hdx_answer_index_options(s, 0);
    hdx_view_pairs    cuts;
    hdx_code          code = hdx_view_cuts(&q, spec, &cuts, err);
    if (code != HDX_OK)
        return code;
    hdx_view_wanted want = { .name = name,
                             .spec = spec->text,
                             .roots = spec->roots,
                             .cuts = cuts.at,
                             .cut_count = cuts.count,
                             .layout = spec->layout };
    hdx_graph_identity(g, want.index);
    if (options.memory != 0) { /* the pairs use memory during the build */
        const uint64_t held = cuts.capacity * sizeof *cuts.at;
        options.memory = options.memory > held ? options.memory - held : 1;
    }
    code = hdx_view_build(&options, &want, report, err);
    hdx_view_pairs_drop(&cuts);
    return code;
}

/* *out: the graph of the view, which is built if it does not exist. */
static hdx_code add_view(hdx_session *s, const hdx_arguments *a, hdx_graph *g, hdx_graph **out,
                         hdx_index_report *report, hdx_error *err)
{
    char           name[HDX_VIEW_NAME_SIZE];
    hdx_view_spec *spec = hdx_arena_get(&s->arena, sizeof *spec);
    if (spec == NULL)
        return hdx_no_memory(err, "a view", sizeof *spec);
    hdx_code code = read_view(hdx_argument_text(a, "view"), name, spec, err);
    *report = *hdx_session_report(s, 0);
    if (code != HDX_OK)
        return code;
    if (view_exists(s, name, spec, out)) {
        report->reused = true;
    } else {
        if ((code = make_view(s, a, g, name, spec, report, err)) != HDX_OK)
            return code;
        hdx_answer_forget_view(s, name);
        return hdx_session_view(s, 0, name, out, err);
    }
    const char *file;
    uint64_t    bytes;
    report->bytes = 0;
    for (unsigned i = 0; hdx_graph_file(*out, i, &file, &bytes); i++)
        report->bytes += bytes;
    const hdx_graph_summary *sum = hdx_graph_summary_of(*out);
    const size_t             len = strlen(report->path);
    (void)snprintf(report->path + len, sizeof report->path - len, "/views/%s", name);
    report->live_objects = sum->live_objects;
    report->references = sum->references;
    report->wall_ns = sum->build_ns;
    report->step_count = 0;
    return HDX_OK;
}

/* Rows are the steps of the build; for a reused index, the steps of the build that made it. */
hdx_code hdx_answer_run_index(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_table        *table;
    hdx_graph        *g;
    const char       *name;
    uint64_t          wall, cpu, bytes;
    unsigned          files = 0;
    hdx_index_report *made = hdx_argument_text(a, "view") == NULL ? NULL : hdx_arena_get(&s->arena, sizeof *made);
    s->options.force = hdx_argument_flag(a, "force");
    s->options.until = until_of(a);
    hdx_code code = hdx_session_graph(s, 0, &g, err);
    s->options.force = false;
    if (code == HDX_OK && hdx_argument_text(a, "view") != NULL)
        code = made == NULL ? hdx_no_memory(err, "a report", sizeof *made) : add_view(s, a, g, &g, made, err);
    if (code == HDX_OK)
        code = hdx_graph_check_files(g, &files, err);
    if (code == HDX_OK && hdx_argument_text(a, "with") != NULL)
        code = save_class_retained(s, a, g, err);
    if (code != HDX_OK || (code = hdx_table_new(index_columns, HDX_COUNT(index_columns), &table, err)) != HDX_OK)
        return code;
    for (unsigned i = 0; code == HDX_OK && hdx_graph_step(g, i, &name, &wall, &cpu, &bytes); i++)
        code = hdx_table_add(table,
                             (hdx_cell[]){ hdx_cell_string(name), hdx_cell_real(seconds(wall)),
                                           hdx_cell_real(seconds(cpu)), hdx_cell_uint(bytes) },
                             err);
    code = hdx_answer_of_table(table, code, out, err);
    return code != HDX_OK
               ? code
               : hdx_answer_or_close(out, index_of(made != NULL ? made : hdx_session_report(s, 0), files, *out, err));
}

/* ---- estimate ---- */

static const hdx_column estimate_keys[] = {
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects in the dump"),
    HDX_COLUMN("references", UNSIGNED, COUNT, 0, "references, except those to classes"),
    HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "classes"),
    HDX_COLUMN("memory", UNSIGNED, BYTES, 0, "peak memory of a build without --memory"),
    HDX_COLUMN("disk", UNSIGNED, BYTES, 0, "size of the finished index"),
    HDX_COLUMN("temporary", UNSIGNED, BYTES, 0, "additional disk space during the build"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "estimated wall time"),
    HDX_COLUMN("sampled_bytes", UNSIGNED, BYTES, 0, "bytes of the dump that were read"),
    HDX_COLUMN("whole", BOOL, NONE, 0, "true if the whole dump was read: objects are counted, not estimated"),
    HDX_COLUMN("budget", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "value of --memory"),
    HDX_COLUMN("fits", BOOL, NONE, HDX_COLUMN_NULLABLE, "true if the value of --memory is enough; null without it"),
    HDX_COLUMN("stops_at", TEXT, NONE, HDX_COLUMN_NULLABLE, "first step that needs more than --memory"),
    HDX_COLUMN("least_budget", UNSIGNED, BYTES, 0, "smallest --memory that is enough"),
};
static const hdx_column estimate_document[] = { HDX_NESTED("estimate", OBJECT, 0, "the forecast", estimate_keys) };
static const hdx_column estimate_columns[] = {
    HDX_COLUMN("step", TEXT, NONE, 0, "step of the build"),
    HDX_COLUMN("memory", UNSIGNED, BYTES, 0, "peak resident memory of the step without --memory"),
    HDX_COLUMN("disk", UNSIGNED, BYTES, 0, "estimated size of its files"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "estimated wall time"),
    HDX_COLUMN("least", UNSIGNED, BYTES, 0,
               "estimated peak resident memory of the step under the smallest --memory that is enough for it"),
};
static const hdx_form      estimate_form = { NULL, NULL, estimate_columns, HDX_COUNT(estimate_columns) };
static const hdx_parameter estimate_parameters[] = {
    { "until", HDX_PARAMETER_CHOICE, 0, "STEP", FORCE_AND_UNTIL_STEPS, NULL, NULL, NULL, 0, 0, "stop after a step" },
};

const hdx_answer hdx_answer_estimate = {
    .name = "estimate",
    .sentence = "estimate memory, disk space and time to build the index",
    .more = "The forecast uses a short sample of the dump; nothing is built or written. A build stays below the "
            "reported memory (with --memory SIZE the answer reports whether it is enough); disk space and time are "
            "approximate, time within a factor of two.",
    .examples = { "heapdex estimate app.hprof", "heapdex estimate app.hprof --memory 512M --format json" },
    .forms = &estimate_form,
    .form_count = 1,
    .document = estimate_document,
    .document_count = HDX_COUNT(estimate_document),
    .parameters = estimate_parameters,
    .parameter_count = HDX_COUNT(estimate_parameters),
};

/* Returns the first step that needs more memory than the budget; NULL: none. */
static const char *too_much(const hdx_index_forecast *f, uint64_t memory)
{
    for (unsigned i = 0; memory != 0 && i < f->step_count; i++)
        if (f->steps[i].least > memory)
            return f->steps[i].name;
    return NULL;
}

static hdx_code estimate_of(const hdx_session *s, hdx_rows *rows, hdx_error *err)
{
    const hdx_index_forecast *f = s->forecast;
    const uint64_t            budget = s->options.memory;
    const char               *stops = too_much(f, budget);
    hdx_arena                *arena = hdx_rows_arena(rows);
    hdx_member               *m = hdx_arena_get(arena, 13 * sizeof *m);
    char                      title[512], need[16], disk[16], temporary[16], sample[16], limit[16];
    if (m == NULL)
        return hdx_no_memory(err, "the forecast", 0);
    m[0] = (hdx_member){ "objects", hdx_cell_uint(f->objects) };
    m[1] = (hdx_member){ "references", hdx_cell_uint(f->references) };
    m[2] = (hdx_member){ "classes", hdx_cell_uint(f->classes) };
    m[3] = (hdx_member){ "memory", hdx_cell_uint(f->memory) };
    m[4] = (hdx_member){ "disk", hdx_cell_uint(f->disk) };
    m[5] = (hdx_member){ "temporary", hdx_cell_uint(f->temporary) };
    m[6] = (hdx_member){ "seconds", hdx_cell_real(seconds(f->wall_ns)) };
    m[7] = (hdx_member){ "sampled_bytes", hdx_cell_uint(f->sampled_bytes) };
    m[8] = (hdx_member){ "whole", hdx_cell_bool(f->whole) };
    m[9] = (hdx_member){ "budget", budget != 0 ? hdx_cell_uint(budget) : hdx_cell_null() };
    m[10] = (hdx_member){ "fits", budget != 0 ? hdx_cell_bool(stops == NULL) : hdx_cell_null() };
    m[11] = (hdx_member){ "stops_at", hdx_cell_copy(arena, stops) };
    m[12] = (hdx_member){ "least_budget", hdx_cell_uint(((f->least >> 20) + 1) << 20) };
    hdx_code code = hdx_rows_add_extra(rows, "estimate", hdx_cell_object(m, 13), err);
    if (code != HDX_OK)
        return code;
    hdx_human_size(f->memory, need);
    hdx_human_size(f->disk, disk);
    hdx_human_size(f->temporary, temporary);
    hdx_human_size(f->sampled_bytes, sample);
    hdx_human_size(budget, limit);
    int len = snprintf(title, sizeof title,
                       "Forecast%s%s: %s%llu objects, at most %s of memory, about %s of disk (%s more while it is "
                       "built), about %.*f s. ",
                       f->whole ? "" : " from a sample of ", f->whole ? "" : sample, f->whole ? "" : "about ",
                       (unsigned long long)f->objects, need, disk, temporary, f->wall_ns < 10000000000u ? 1 : 0,
                       seconds(f->wall_ns));
    if (stops != NULL)
        (void)snprintf(title + len, sizeof title - (size_t)len,
                       "--memory %s is not enough for the step %s; --memory %lluM is enough", limit, stops,
                       (unsigned long long)((f->least >> 20) + 1));
    else if (budget != 0)
        (void)snprintf(title + len, sizeof title - (size_t)len, "--memory %s is enough", limit);
    else
        (void)snprintf(title + len, sizeof title - (size_t)len, "--memory %lluM is enough",
                       (unsigned long long)((f->least >> 20) + 1));
    return hdx_rows_set_title(rows, title, err);
}

/* Does not build or use an index. */
hdx_code hdx_answer_run_estimate(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_index_options options = hdx_answer_index_options(s, 0);
    hdx_table        *table;
    hdx_code          code;
    options.until = until_of(a);
    if (s->forecast == NULL && (s->forecast = hdx_arena_get(&s->arena, sizeof *s->forecast)) == NULL)
        return hdx_no_memory(err, "the forecast", sizeof *s->forecast);
    if ((code = hdx_index_estimate(&options, s->forecast, err)) != HDX_OK ||
        (code = hdx_table_new(estimate_columns, HDX_COUNT(estimate_columns), &table, err)) != HDX_OK)
        return code;
    for (unsigned i = 0; code == HDX_OK && i < s->forecast->step_count; i++) {
        const hdx_index_step_forecast *step = &s->forecast->steps[i];
        code = hdx_table_add(table,
                             (hdx_cell[]){ hdx_cell_string(step->name), hdx_cell_uint(step->memory),
                                           hdx_cell_uint(step->disk), hdx_cell_real(seconds(step->wall_ns)),
                                           hdx_cell_uint(step->least) },
                             err);
    }
    code = hdx_answer_of_table(table, code, out, err);
    return code != HDX_OK ? code : hdx_answer_or_close(out, estimate_of(s, *out, err));
}

/* ---- verify ---- */

static const hdx_column verify_keys[] = {
    HDX_COLUMN("sound", BOOL, NONE, 0, "true; damage is reported as an error"),
    HDX_COLUMN("full", BOOL, NONE, 0, "true if consistency between files was checked"),
    HDX_COLUMN("files", UNSIGNED, COUNT, 0, "files of the index"),
};
static const hdx_column verify_document[] = { HDX_NESTED("verify", OBJECT, 0, "result of the check", verify_keys) };
static const hdx_column verify_columns[] = {
    HDX_COLUMN("file", TEXT, NONE, 0, "file of the index"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "its size"),
};
static const hdx_form      verify_form = { NULL, NULL, verify_columns, HDX_COUNT(verify_columns) };
static const hdx_parameter verify_parameters[] = {
    { "full", HDX_PARAMETER_FLAG, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, "also check the consistency between files" },
    { "view", HDX_PARAMETER_TEXT, 0, "NAME", NULL, NULL, NULL, NULL, 0, 0,
      "check only the files of this view, not the index and its other views" },
};

const hdx_answer hdx_answer_verify = {
    .name = "verify",
    .sentence = "check an index against its checksums; --full checks all its contents",
    .more = "With exit code 5 the message names the damaged file, page and offset.",
    .examples = { "heapdex verify app.hprof", "heapdex verify app.hprof --full --format json" },
    .forms = &verify_form,
    .form_count = 1,
    .document = verify_document,
    .document_count = HDX_COUNT(verify_document),
    .parameters = verify_parameters,
    .parameter_count = HDX_COUNT(verify_parameters),
};

static hdx_code verify_of(unsigned files, bool full, hdx_rows *rows, hdx_error *err)
{
    hdx_member *m = hdx_arena_get(hdx_rows_arena(rows), 3 * sizeof *m);
    char        title[64];
    if (m == NULL)
        return hdx_no_memory(err, "the answer", 0);
    m[0] = (hdx_member){ "sound", hdx_cell_bool(true) };
    m[1] = (hdx_member){ "full", hdx_cell_bool(full) };
    m[2] = (hdx_member){ "files", hdx_cell_uint(files) };
    (void)snprintf(title, sizeof title, "%u files, %s", files,
                   full ? "checksums and consistency are correct" : "all checksums are correct");
    hdx_code code = hdx_rows_add_extra(rows, "verify", hdx_cell_object(m, 3), err);
    return code != HDX_OK ? code : hdx_rows_set_title(rows, title, err);
}

static hdx_code verify_kept(hdx_session *s, const hdx_arguments *a, hdx_graph *g, hdx_error *err)
{
    const hdx_query q = hdx_answer_query(s, a, g);
    hdx_code        code = hdx_query_saved_verify(&q, err);
    if (code == HDX_OK)
        code = hdx_class_trees_verify(&q, err);
    if (code == HDX_OK)
        code = hdx_children_verify(&q, err);
    return code != HDX_OK ? code : hdx_saved_answers_verify(&q, err);
}

/* Verifies the files of an index or a view and adds them to the table. `view`: prefix of their names, may be empty. */
static hdx_code verify_graph(hdx_session *s, const hdx_arguments *a, hdx_graph *g, const char *view, hdx_table *table,
                             unsigned *files, hdx_error *err)
{
    const bool  full = hdx_argument_flag(a, "full");
    const char *name;
    uint64_t    bytes;
    hdx_code    code = hdx_graph_verify(g, full, err);
    if (code == HDX_OK && full && view[0] == '\0' && (code = hdx_leaks_verify(g, err)) == HDX_OK)
        code = verify_kept(s, a, g, err);
    for (unsigned i = 0; code == HDX_OK && hdx_graph_file(g, i, &name, &bytes); i++, ++*files) {
        char path[HDX_VIEW_NAME_SIZE + 64];
        (void)snprintf(path, sizeof path, "%s%s%s%s", view[0] == '\0' ? "" : "views/", view, view[0] == '\0' ? "" : "/",
                       name);
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_copy(hdx_table_arena(table), path), hdx_cell_uint(bytes) },
                             err);
    }
    return code;
}

static hdx_code verify_view(hdx_session *s, const hdx_arguments *a, const char *view, hdx_table *table, unsigned *files,
                            hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = hdx_session_view(s, 0, view, &g, err);
    if (code == HDX_OK)
        code = verify_graph(s, a, g, view, table, files, err);
    if (code == HDX_DAMAGED && err != NULL) { /* name the damaged file with its view */
        char where[sizeof err->where];
        (void)snprintf(where, sizeof where, "views/%.40s: %.40s", view, err->where);
        memcpy(err->where, where, sizeof where);
        (void)hdx_hint(err, code, "delete it with heapdex remove --view %s and create it again with index --view",
                       view);
    }
    return code;
}

hdx_code hdx_answer_run_verify(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const char    *view = hdx_answer_last(a, "view");
    hdx_table     *table;
    hdx_graph     *g;
    hdx_graph_view of;
    unsigned       files = 0;
    hdx_code       code = hdx_session_graph(s, 0, &g, err);
    if (code != HDX_OK || (code = hdx_table_new(verify_columns, HDX_COUNT(verify_columns), &table, err)) != HDX_OK)
        return code;
    code = view != NULL ? verify_view(s, a, view, table, &files, err) : verify_graph(s, a, g, "", table, &files, err);
    for (unsigned i = 0; code == HDX_OK && view == NULL && hdx_graph_view_at(g, i, &of); i++)
        code = verify_view(s, a, of.name, table, &files, err);
    code = hdx_answer_of_table(table, code, out, err);
    return code != HDX_OK ? code : hdx_answer_or_close(out, verify_of(files, hdx_argument_flag(a, "full"), *out, err));
}

/* ---- remove ---- */

static const hdx_column    remove_columns[] = { HDX_COLUMN("removed", TEXT, NONE, 0, "folder of the deleted index") };
static const hdx_form      remove_form = { NULL, NULL, remove_columns, HDX_COUNT(remove_columns) };
static const hdx_parameter remove_parameters[] = {
    { "view", HDX_PARAMETER_TEXT, 0, "NAME", NULL, NULL, NULL, NULL, 0, 0, "delete only this view, not the index" },
};

const hdx_answer hdx_answer_remove = {
    .name = "remove",
    .sentence = "delete the index of a dump; the dump is never touched",
    .more = "Files of interrupted builds are deleted too.",
    .examples = { "heapdex remove app.hprof", "heapdex remove app.hprof --dump-number 1" },
    .forms = &remove_form,
    .form_count = 1,
    .parameters = remove_parameters,
    .parameter_count = HDX_COUNT(remove_parameters),
};

/* Does not open the index, so that a damaged one can be removed too. */
hdx_code hdx_answer_run_remove(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_index_options options = hdx_answer_index_options(s, 0);
    hdx_table              *table;
    char                    path[4096];
    const char             *view = hdx_answer_last(a, "view");
    if (view != NULL && !hdx_graph_view_name(view))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%.80s' is not a valid view name", view);
    hdx_code code = hdx_table_new(remove_columns, HDX_COUNT(remove_columns), &table, err);
    if (code != HDX_OK)
        return code;
    code = view != NULL ? hdx_view_remove(&options, view, path, sizeof path, err)
                        : hdx_index_remove(&options, path, sizeof path, err);
    if (code == HDX_OK)
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_copy(hdx_table_arena(table), path) }, err);
    return hdx_answer_of_table(table, code, out, err);
}
