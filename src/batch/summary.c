/* summary.c - a row for each dump of a batch, and the document that contains them. */
#include "batch/batch.h"

const hdx_column hdx_batch_columns[HDX_BATCH_COLUMNS] = {
    HDX_COLUMN("dump_id", TEXT, NONE, 0, "name of the dump in the output folder of the batch"),
    HDX_COLUMN("state", TEXT, NONE, 0,
               "done; skipped: already finished; failed; interrupted: the next call resumes; held: by another runner; "
               "planned; waiting"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "objects in the dump; an estimate with --plan"),
    HDX_COLUMN("seconds", REAL, SECONDS, HDX_COLUMN_NULLABLE, "wall time of the process"),
    HDX_COLUMN("forecast_seconds", REAL, SECONDS, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "estimated time to build the index"),
    HDX_COLUMN("peak_memory", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "peak resident memory of the process"),
    HDX_COLUMN("memory", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "assigned memory; with --plan, preferred memory"),
    HDX_COLUMN("forecast_memory", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "estimated peak memory"),
    HDX_COLUMN("least_memory", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "smallest sufficient memory"),
    HDX_COLUMN("forecast_disk", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
               "disk space for the index while it is built"),
    HDX_COLUMN("threads", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "assigned threads"),
    HDX_COLUMN("dump_size", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "file of the dump"),
    HDX_COLUMN("index_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "its index"),
    HDX_COLUMN("damage_places", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "damaged places of the dump"),
    HDX_COLUMN("exit_code", SIGNED, NONE, 0,
               "exit code, as of a command on this dump; 128 + n: terminated by signal n"),
    HDX_COLUMN("error", TEXT, NONE, HDX_COLUMN_NULLABLE, "error message"),
    HDX_COLUMN("step", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "last build step that was started"),
    HDX_COLUMN("step_attempts", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
               "consecutive attempts at that step"),
    HDX_COLUMN("step_forecast_seconds", REAL, SECONDS, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
               "estimated time of that step"),
    HDX_COLUMN("task", UNSIGNED, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "task number, from 0"),
    HDX_COLUMN("dropped", BOOL, NONE, HDX_COLUMN_WIDE, "true if the dump was deleted (--drop-dump)"),
    HDX_COLUMN("index", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "folder of the index"),
    HDX_COLUMN("dump", TEXT, NONE, HDX_COLUMN_WIDE, "the file"),
};

static const hdx_column batch_keys[] = {
    HDX_COLUMN("out", TEXT, NONE, 0, "output folder of the batch"),
    HDX_COLUMN("dumps", UNSIGNED, COUNT, 0, "dumps in this call"),
    HDX_COLUMN("done", UNSIGNED, COUNT, 0, "finished in this call"),
    HDX_COLUMN("skipped", UNSIGNED, COUNT, 0, "finished earlier or by another runner"),
    HDX_COLUMN("failed", UNSIGNED, COUNT, 0, "failed dumps"),
    HDX_COLUMN("interrupted", UNSIGNED, COUNT, 0, "interrupted dumps, which the next call resumes"),
    HDX_COLUMN("held", UNSIGNED, COUNT, 0, "dumps that another runner is processing"),
    HDX_COLUMN("seconds", REAL, SECONDS, 0, "wall time of the call"),
    HDX_COLUMN("ended", BOOL, NONE, 0, "false if the batch was stopped"),
};
const hdx_column hdx_batch_document[HDX_BATCH_DOCUMENT] = { HDX_NESTED("batch", OBJECT, 0, "the call", batch_keys) };

static hdx_cell some(uint64_t v) { return v > 0 ? hdx_cell_uint(v) : hdx_cell_null(); }
static hdx_cell some_real(double v) { return v > 0 ? hdx_cell_real(v) : hdx_cell_null(); }
static hdx_cell text(hdx_arena *arena, const char *s) { return hdx_cell_copy(arena, s); }

static hdx_code add(hdx_table *t, const batch_row *row, unsigned tasks, hdx_error *err)
{
    const batch_status *s = row->status;
    hdx_arena          *arena = hdx_table_arena(t);
    const bool          counted =
        (s->objects > 0 && s->state != BATCH_PLANNED) || s->state == BATCH_DONE || s->state == BATCH_SKIPPED;
    const hdx_cell cells[] = {
        text(arena, row->dump->id),
        hdx_cell_string(hdx_batch_state_name(s->state)),
        counted || s->objects > 0 ? hdx_cell_uint(s->objects) : hdx_cell_null(),
        some_real(s->seconds),
        some_real(s->forecast_seconds),
        some(s->peak_memory),
        some(s->memory),
        some(s->forecast_memory),
        some(s->least_memory),
        some(s->forecast_disk),
        some(s->threads),
        some(s->file_size),
        some(s->index_bytes),
        counted ? hdx_cell_uint(s->damage_places) : hdx_cell_null(),
        hdx_cell_int(s->exit_code),
        text(arena, s->error),
        text(arena, s->step),
        s->step != NULL ? hdx_cell_uint(s->step_attempts) : hdx_cell_null(),
        some_real(s->step_forecast),
        tasks > 1 ? hdx_cell_uint(row->task) : hdx_cell_null(),
        hdx_cell_bool(s->dropped),
        text(arena, s->index),
        text(arena, row->dump->path),
    };
    _Static_assert(HDX_COUNT(cells) == HDX_COUNT(hdx_batch_columns), "a cell for each column");
    return hdx_table_add(t, cells, err);
}

/* Begins like the other documents (answer/head.c), with the folder in place of a single dump. */
static hdx_code set_head(hdx_rows *rows, const char *out, hdx_error *err)
{
    hdx_arena  *arena = hdx_rows_arena(rows);
    hdx_member *m = hdx_arena_get(arena, 5 * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, "the head of the document", 0);
    m[0] = (hdx_member){ "path", text(arena, out) };
    m[1] = (hdx_member){ "size", hdx_cell_null() };
    m[2] = (hdx_member){ "format", hdx_cell_null() };
    m[3] = (hdx_member){ "id_size", hdx_cell_null() };
    m[4] = (hdx_member){ "number", hdx_cell_uint(1) };
    const hdx_member head[] = {
        { "heapdex", hdx_cell_string(HEAPDEX_VERSION) },
        { "command", hdx_cell_string("batch") },
        { "dump", hdx_cell_object(m, 5) },
        { "damage", hdx_cell_list(NULL, 0) },
        { "warnings", hdx_cell_list(NULL, 0) },
    };
    return hdx_rows_set_head(rows, head, HDX_COUNT(head), err);
}

static hdx_code set_extra(hdx_rows *rows, const char *out, const hdx_batch_counts *n, double seconds, bool ended,
                          hdx_error *err)
{
    hdx_arena  *arena = hdx_rows_arena(rows);
    hdx_member *m = hdx_arena_get(arena, HDX_COUNT(batch_keys) * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, "the summary", 0);
    m[0] = (hdx_member){ "out", text(arena, out) };
    m[1] = (hdx_member){ "dumps", hdx_cell_uint(n->dumps) };
    m[2] = (hdx_member){ "done", hdx_cell_uint(n->done) };
    m[3] = (hdx_member){ "skipped", hdx_cell_uint(n->skipped) };
    m[4] = (hdx_member){ "failed", hdx_cell_uint(n->failed) };
    m[5] = (hdx_member){ "interrupted", hdx_cell_uint(n->interrupted) };
    m[6] = (hdx_member){ "held", hdx_cell_uint(n->held) };
    m[7] = (hdx_member){ "seconds", hdx_cell_real(seconds) };
    m[8] = (hdx_member){ "ended", hdx_cell_bool(ended) };
    return hdx_rows_add_extra(rows, "batch", hdx_cell_object(m, HDX_COUNT(batch_keys)), err);
}

static hdx_code set_title(hdx_rows *rows, const hdx_batch_counts *n, bool plan, double seconds, hdx_error *err)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    if (plan)
        hdx_buffer_format(&b, "%llu dump%s planned, %llu already done", (unsigned long long)n->done,
                          n->done == 1 ? "" : "s", (unsigned long long)n->skipped);
    else
        hdx_buffer_format(&b, "%llu dump%s: %llu done, %llu skipped, %llu failed", (unsigned long long)n->dumps,
                          n->dumps == 1 ? "" : "s", (unsigned long long)n->done, (unsigned long long)n->skipped,
                          (unsigned long long)n->failed);
    if (n->interrupted > 0)
        hdx_buffer_format(&b, ", %llu interrupted", (unsigned long long)n->interrupted);
    if (n->held > 0)
        hdx_buffer_format(&b, ", %llu locked by another runner", (unsigned long long)n->held);
    if (n->waiting > 0)
        hdx_buffer_format(&b, ", %llu waiting", (unsigned long long)n->waiting);
    hdx_buffer_format(&b, "; %.1f s", seconds);
    const hdx_code code = b.failed ? hdx_no_memory(err, "the summary", 0) : hdx_rows_set_title(rows, b.at, err);
    hdx_buffer_free(&b);
    return code;
}

hdx_code hdx_batch_summary(const batch_row *at, size_t count, const hdx_batch_options *options,
                           const hdx_batch_counts *counts, double seconds, bool ended, hdx_rows **out, hdx_error *err)
{
    hdx_table *table = NULL;
    hdx_code   code = hdx_table_new(hdx_batch_columns, HDX_BATCH_COLUMNS, &table, err);
    *out = NULL;
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        code = add(table, &at[i], options->tasks, err);
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) != HDX_OK)
        return code;
    if ((code = set_head(*out, options->out, err)) != HDX_OK ||
        (code = set_extra(*out, options->out, counts, seconds, ended, err)) != HDX_OK ||
        (code = set_title(*out, counts, options->plan, seconds, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}
