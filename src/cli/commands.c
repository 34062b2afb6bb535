/*
 * commands.c - one function per command: the question it puts to the API. Rows come back unshaped; run.c sorts, cuts and writes them.
 */
#include "cli/cli.h"
#include "rows/rows.h"

#include <stdio.h>

/* Objects named in the call; the caller frees them. */
static hdx_code named(cli_session *s, hdx_id **ids, size_t *count, hdx_error *err)
{
    const char *const *words;
    size_t             word_count;
    hdx_code           code = cli_object_words(s, &words, &word_count, err);
    return code != HDX_OK ? code : hdx_query_objects_named(&s->query, words, word_count, ids, count, err);
}

/* One object, where a name such as class:X could mean several. */
static hdx_code one_named(cli_session *s, hdx_id *id, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code = named(s, &ids, &count, err);
    if (code != HDX_OK)
        return code;
    if (count == 1)
        *id = ids[0];
    else
        code = hdx_hint(err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "'%s' takes one object, and %zu are named", s->call->command->name, count),
                        "heapdex object lists them with their addresses");
    hdx_ids_free(ids);
    return code;
}

hdx_code cli_ask_info(cli_session *s, hdx_rows **out, hdx_error *err) { return hdx_query_info(&s->query, out, err); }

hdx_code cli_ask_histogram(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const cli_call *c = s->call;
    const hdx_by    by = c->by == HDX_BY_NONE ? HDX_BY_CLASS : c->by;
    if (s->counts == NULL)
        return hdx_query_histogram(&s->query, by, c->class_pattern, c->retained, out, err);
    uint32_t         count;
    const hdx_class *classes = hdx_counts_classes(s->counts, &count);
    hdx_code         code = hdx_query_histogram_of(classes, count, by, c->class_pattern, out, err);
    if (code != HDX_OK || !c->scan)
        return code;
    code = hdx_rows_set_title(*out, "Histogram of all objects (one pass, no index: what is reachable is not known)", err);
    if (code != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

hdx_code cli_ask_dominators(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const cli_call *c = s->call;
    hdx_id          id = HDX_NO_ID;
    hdx_code        code = c->word_count > 0 ? one_named(s, &id, err) : HDX_OK;
    if (code != HDX_OK)
        return code;
    return hdx_query_dominators(&s->query, c->by == HDX_BY_NONE ? HDX_BY_OBJECT : c->by, c->word_count > 0 ? &id : NULL, c->depth, out, err);
}

hdx_code cli_ask_object(cli_session *s, hdx_rows **out, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code = named(s, &ids, &count, err);
    if (code == HDX_OK)
        code = hdx_query_object(&s->query, ids, count, s->call->elements, out, err);
    hdx_ids_free(ids);
    return code;
}

hdx_code cli_ask_objects(cli_session *s, hdx_rows **out, hdx_error *err)
{
    return hdx_query_objects(&s->query, s->call->class_pattern, s->call->subclasses, out, err);
}

hdx_code cli_ask_refs(cli_session *s, hdx_rows **out, hdx_error *err)
{
    hdx_id   id = HDX_NO_ID;
    hdx_code code = one_named(s, &id, err);
    return code != HDX_OK ? code : hdx_query_refs(&s->query, id, s->call->in, s->call->by, out, err);
}

hdx_code cli_ask_path(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const cli_call  *c = s->call;
    hdx_path_options options = { .exclude = c->exclude, .exclude_fields = c->exclude_fields, .exclude_field_count = c->exclude_field_count,
                                 .paths = c->paths, .merge = c->merge };
    hdx_id          *ids = NULL;
    size_t           count = 0;
    hdx_code         code = named(s, &ids, &count, err);
    if (code == HDX_OK)
        code = hdx_query_path(&s->query, ids, count, &options, out, err);
    hdx_ids_free(ids);
    return code;
}

hdx_code cli_ask_retained(cli_session *s, hdx_rows **out, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code;
    if (s->call->class_pattern != NULL)
        return hdx_query_retained_class(&s->query, s->call->class_pattern, s->call->subclasses, out, err);
    if ((code = named(s, &ids, &count, err)) == HDX_OK)
        code = hdx_query_retained(&s->query, ids, count, out, err);
    hdx_ids_free(ids);
    return code;
}

hdx_code cli_ask_roots(cli_session *s, hdx_rows **out, hdx_error *err) { return hdx_query_roots(&s->query, s->call->by, out, err); }

hdx_code cli_ask_threads(cli_session *s, hdx_rows **out, hdx_error *err)
{
    return hdx_query_threads(&s->query, s->call->stacks, s->call->locals, out, err);
}

hdx_code cli_ask_export(cli_session *s, hdx_rows **out, hdx_error *err) { return hdx_query_table(&s->query, s->call->table, out, err); }

/* ---- commands about the index itself ---- */

static double seconds(uint64_t ns) { return (double)(ns / 1000) / 1e6; }

static hdx_code index_document(const cli_session *s, hdx_rows *rows, hdx_error *err)
{
    const hdx_index_report *r = &s->report;
    hdx_arena              *arena = hdx_rows_arena(rows);
    hdx_cell               *steps = hdx_arena_get(arena, (r->step_count + 1) * sizeof *steps);
    hdx_member             *index = hdx_arena_get(arena, 9 * sizeof *index);
    char                    title[512], human[16], peak[16];
    if (steps == NULL || index == NULL)
        return hdx_no_memory(err, "the steps of the build", 0);
    for (unsigned i = 0; i < r->step_count; i++) {
        const hdx_index_step_report *step = &r->steps[i];
        hdx_member                  *m = hdx_arena_get(arena, 5 * sizeof *m);
        if (m == NULL)
            return hdx_no_memory(err, "the steps of the build", 0);
        m[0] = (hdx_member){ "name", hdx_cell_string(step->name) };
        m[1] = (hdx_member){ "seconds", hdx_cell_real(seconds(step->wall_ns)) };
        m[2] = (hdx_member){ "cpu_seconds", hdx_cell_real(seconds(step->cpu_ns)) };
        m[3] = (hdx_member){ "bytes", hdx_cell_uint(step->written_bytes) };
        m[4] = (hdx_member){ "peak_bytes", hdx_cell_uint(step->peak_bytes) };
        steps[i] = hdx_cell_object(m, 5);
    }
    index[0] = (hdx_member){ "path", hdx_cell_string(r->path) };
    index[1] = (hdx_member){ "bytes", hdx_cell_uint(r->bytes) };
    index[2] = (hdx_member){ "objects", hdx_cell_uint(r->objects) };
    index[3] = (hdx_member){ "live", hdx_cell_uint(r->live_objects) };
    index[4] = (hdx_member){ "references", hdx_cell_uint(r->references) };
    index[5] = (hdx_member){ "seconds", hdx_cell_real(seconds(r->wall_ns)) };
    index[6] = (hdx_member){ "peak_rss", hdx_cell_uint(r->peak_rss) };
    index[7] = (hdx_member){ "reused", hdx_cell_bool(r->reused) };
    index[8] = (hdx_member){ "steps", hdx_cell_list(steps, r->step_count) };
    hdx_code code = hdx_rows_add_extra(rows, "index", hdx_cell_object(index, 9), err);
    if (code != HDX_OK)
        return code;
    hdx_render_human(r->bytes, human);
    hdx_render_human(r->peak_rss, peak);
    int len = snprintf(title, sizeof title, "%.300s: %llu objects (%llu live), %s, ", r->path, (unsigned long long)r->objects,
                       (unsigned long long)r->live_objects, human);
    if (r->reused)
        (void)snprintf(title + len, sizeof title - (size_t)len, "was there and is valid");
    else
        (void)snprintf(title + len, sizeof title - (size_t)len, "built in %.2f s with %s", seconds(r->wall_ns), peak);
    return hdx_rows_set_title(rows, title, err);
}

/* Rows are the steps of the build; a reused index tells of the build that made it. */
hdx_code cli_ask_index(cli_session *s, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[] = { { "step", HDX_UNIT_NONE, false }, { "seconds", HDX_UNIT_COUNT, false },
                                          { "cpu_seconds", HDX_UNIT_COUNT, false }, { "bytes", HDX_UNIT_BYTES, false } };
    hdx_table              *table;
    hdx_code                code = hdx_table_new(columns, 4, &table, err);
    const char             *name;
    uint64_t                wall, cpu, bytes;
    if (code != HDX_OK)
        return code;
    for (unsigned i = 0; code == HDX_OK && hdx_graph_step(s->graph, i, &name, &wall, &cpu, &bytes); i++)
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(name), hdx_cell_real(seconds(wall)), hdx_cell_real(seconds(cpu)), hdx_cell_uint(bytes) }, err);
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) != HDX_OK)
        return code;
    if ((code = index_document(s, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

/* What --memory would do: the first step that needs more, or NULL. */
static const char *too_much(const hdx_index_forecast *f, uint64_t memory)
{
    for (unsigned i = 0; memory != 0 && i < f->step_count; i++)
        if (f->steps[i].least > memory)
            return f->steps[i].name;
    return NULL;
}

static hdx_code estimate_document(const cli_session *s, hdx_rows *rows, hdx_error *err)
{
    const hdx_index_forecast *f = s->forecast;
    const uint64_t            budget = s->call->memory;
    const char               *stops = too_much(f, budget);
    hdx_member               *m = hdx_arena_get(hdx_rows_arena(rows), 13 * sizeof *m);
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
    m[11] = (hdx_member){ "stops_at", hdx_cell_string(stops) };
    m[12] = (hdx_member){ "least_budget", hdx_cell_uint(((f->least >> 20) + 1) << 20) };
    hdx_code code = hdx_rows_add_extra(rows, "estimate", hdx_cell_object(m, 13), err);
    if (code != HDX_OK)
        return code;
    hdx_render_human(f->memory, need);
    hdx_render_human(f->disk, disk);
    hdx_render_human(f->temporary, temporary);
    hdx_render_human(f->sampled_bytes, sample);
    hdx_render_human(budget, limit);
    int len = snprintf(title, sizeof title, "Forecast%s%s: %s%llu objects, at most %s of memory, about %s of disk (%s more while it is built), about %.*f s. ",
                       f->whole ? "" : " from a sample of ", f->whole ? "" : sample, f->whole ? "" : "about ", (unsigned long long)f->objects, need, disk,
                       temporary, f->wall_ns < 10000000000u ? 1 : 0, seconds(f->wall_ns));
    if (stops != NULL)
        (void)snprintf(title + len, sizeof title - (size_t)len, "--memory %s is not enough for the step %s; --memory %lluM would do", limit, stops,
                       (unsigned long long)((f->least >> 20) + 1));
    else if (budget != 0)
        (void)snprintf(title + len, sizeof title - (size_t)len, "--memory %s is enough", limit);
    else
        (void)snprintf(title + len, sizeof title - (size_t)len, "--memory %lluM would do", (unsigned long long)((f->least >> 20) + 1));
    return hdx_rows_set_title(rows, title, err);
}

/* Nothing is built, no index is looked at. */
hdx_code cli_ask_estimate(cli_session *s, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[] = { { "step", HDX_UNIT_NONE, false }, { "memory", HDX_UNIT_BYTES, false }, { "disk", HDX_UNIT_BYTES, false },
                                          { "seconds", HDX_UNIT_COUNT, false }, { "least", HDX_UNIT_BYTES, false } };
    const hdx_index_options options = cli_index_options(s);
    hdx_table              *table;
    hdx_code                code;
    if ((s->forecast = hdx_arena_get(&s->arena, sizeof *s->forecast)) == NULL)
        return hdx_no_memory(err, "the forecast", sizeof *s->forecast);
    if ((code = hdx_index_estimate(&options, s->forecast, err)) != HDX_OK || (code = hdx_table_new(columns, 5, &table, err)) != HDX_OK)
        return code;
    for (unsigned i = 0; code == HDX_OK && i < s->forecast->step_count; i++) {
        const hdx_index_step_forecast *step = &s->forecast->steps[i];
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(step->name), hdx_cell_uint(step->memory), hdx_cell_uint(step->disk),
                                                  hdx_cell_real(seconds(step->wall_ns)), hdx_cell_uint(step->least) }, err);
    }
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) == HDX_OK && (code = estimate_document(s, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

hdx_code cli_ask_verify(cli_session *s, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[] = { { "file", HDX_UNIT_NONE, false }, { "bytes", HDX_UNIT_BYTES, false } };
    hdx_table              *table;
    hdx_code                code = hdx_graph_verify(s->graph, s->call->full, err);
    if (code == HDX_OK && s->call->full)
        code = hdx_leaks_verify(s->graph, err);
    const char             *name;
    uint64_t                bytes;
    char                    title[64];
    if (code != HDX_OK) {
        if (code == HDX_DAMAGED && err->hint[0] == '\0')
            (void)hdx_hint(err, code, "heapdex index --force %s builds it again", s->call->dump);
        return code;
    }
    if ((code = hdx_table_new(columns, 2, &table, err)) != HDX_OK)
        return code;
    unsigned files = 0;
    for (; code == HDX_OK && hdx_graph_file(s->graph, files, &name, &bytes); files++)
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(name), hdx_cell_uint(bytes) }, err);
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) != HDX_OK)
        return code;
    hdx_member *verify = hdx_arena_get(hdx_rows_arena(*out), 3 * sizeof *verify);
    (void)snprintf(title, sizeof title, "%u files, %s", files, s->call->full ? "sums and every promise between them hold" : "all sums hold");
    if (verify == NULL) {
        code = hdx_no_memory(err, "the answer", 0);
    } else {
        verify[0] = (hdx_member){ "sound", hdx_cell_bool(true) };
        verify[1] = (hdx_member){ "full", hdx_cell_bool(s->call->full) };
        verify[2] = (hdx_member){ "files", hdx_cell_uint(files) };
        if ((code = hdx_rows_add_extra(*out, "verify", hdx_cell_object(verify, 3), err)) == HDX_OK)
            code = hdx_rows_set_title(*out, title, err);
    }
    if (code != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

/* Needs no index to be opened: a damaged one can be removed too. */
hdx_code cli_ask_remove(cli_session *s, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[] = { { "removed", HDX_UNIT_NONE, false } };
    hdx_index_options       options = cli_index_options(s);
    hdx_table              *table;
    char                    path[4096];
    hdx_code                code = hdx_table_new(columns, 1, &table, err);
    if (code != HDX_OK)
        return code;
    if ((code = hdx_index_remove(&options, path, sizeof path, err)) == HDX_OK)
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_copy(hdx_table_arena(table), path) }, err);
    if (code == HDX_OK)
        return hdx_table_rows(table, out, err);
    hdx_table_free(table);
    return code;
}
