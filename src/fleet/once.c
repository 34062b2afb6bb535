/*
 * once.c - tables that are not answers: facts about the dump, other fields of its manifest, and problems.
 *
 * Columns that `dump` shares with `info` are read by key from the declared document of `info`.
 */
#include "fleet/fleet.h"
#include "graph/graph.h"

#include <assert.h>
#include <heapdex/heapdex.h>

const hdx_column hdx_fleet_id_column = HDX_COLUMN("dump_id", TEXT, NONE, HDX_COLUMN_FEW, "id of the dump in the fleet");

/* ---- fields of the manifest ---- */

static const hdx_column named[] = {
    HDX_COLUMN("application", TEXT, NONE, HDX_COLUMN_NULLABLE, "application in the manifest"),
    HDX_COLUMN("host", TEXT, NONE, HDX_COLUMN_NULLABLE, "host in the manifest"),
    HDX_COLUMN("release", TEXT, NONE, HDX_COLUMN_NULLABLE, "release in the manifest"),
    HDX_COLUMN("time", TEXT, NONE, HDX_COLUMN_NULLABLE, "time of the dump in the manifest, else the time in `created`"),
};

static const hdx_column manifest_columns[] = {
    HDX_COLUMN("name", TEXT, NONE, 0, "name of another manifest column"),
    HDX_COLUMN("value", TEXT, NONE, HDX_COLUMN_NULLABLE, "value of the column for this dump"),
};

static bool is_named(const char *name)
{
    for (size_t i = 0; i < HDX_COUNT(named); i++)
        if (strcmp(named[i].name, name) == 0)
            return true;
    return false;
}

static hdx_cell from_manifest(const hdx_fleet_options *o, const char *name)
{
    for (size_t i = o->manifest_count; i-- > 0;) /* the last one applies, as with arguments */
        if (strcmp(o->manifest[i].name, name) == 0)
            return hdx_cell_string(o->manifest[i].value);
    return hdx_cell_null();
}

static hdx_code put_manifest(const fleet_dump *d, hdx_table *t, hdx_error *err)
{
    const hdx_fleet_options *o = d->options;
    hdx_code                 code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < o->manifest_count; i++)
        if (!is_named(o->manifest[i].name))
            code = hdx_table_add(t,
                                 (const hdx_cell[]){ hdx_cell_text(d->id), hdx_cell_string(o->manifest[i].name),
                                                     hdx_cell_string(o->manifest[i].value) },
                                 err);
    return code;
}

/* ---- problems ---- */

static const hdx_column problem_columns[] = {
    HDX_COLUMN("table_name", TEXT, NONE, HDX_COLUMN_NULLABLE, "affected table; null: all tables"),
    HDX_COLUMN("code", TEXT, NONE, 0,
               "damage, warning, stripped, or the code of an error: bad_dump, not_found, limit, io, usage"),
    HDX_COLUMN("message", TEXT, NONE, 0, "description for people"),
};

hdx_code hdx_fleet_problem(fleet_dump *d, const char *table, const char *code, const char *message, hdx_error *err)
{
    const fleet_problem p = { table, code, hdx_arena_copy(&d->arena, message, strlen(message)) };
    if (p.message == NULL || !hdx_list_room(NULL, HDX_LIST_REF(&d->problems)))
        return hdx_no_memory(err, "problems of a dump", d->problems.count);
    d->problems.at[d->problems.count++] = p;
    return HDX_OK;
}

static hdx_code put_problem(const fleet_dump *d, hdx_table *t, const char *table, const char *code, hdx_cell message,
                            hdx_error *err)
{
    return hdx_table_add(
        t, (const hdx_cell[]){ hdx_cell_text(d->id), hdx_cell_string(table), hdx_cell_string(code), message }, err);
}

/* Adds a row with the text of the buffer, and frees the buffer. */
static hdx_code put_words(const fleet_dump *d, hdx_table *t, const char *code, hdx_buffer *text, hdx_error *err)
{
    const hdx_cell message = hdx_cell_copy(hdx_table_arena(t), text->failed ? "" : text->at);
    const bool     failed = text->failed || message.kind == HDX_CELL_NULL;
    hdx_buffer_free(text);
    return failed ? hdx_no_memory(err, "problems of a dump", 0) : put_problem(d, t, NULL, code, message, err);
}

static hdx_code put_damage(const fleet_dump *d, hdx_table *t, const hdx_graph_summary *of, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < of->damage_count; i++) {
        const hdx_damage *at = &of->damage[i];
        hdx_buffer        text = hdx_buffer_of(NULL);
        hdx_buffer_format(&text, "%s at offset 0x%llx: %s: %s; %llu bytes lost", hdx_damage_name(at->kind),
                          (unsigned long long)at->offset, at->record, at->expected, (unsigned long long)at->lost_bytes);
        code = put_words(d, t, "damage", &text, err);
    }
    if (code != HDX_OK || of->damage_more == 0)
        return code;
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_format(&text, "%llu further damaged places were only counted", (unsigned long long)of->damage_more);
    return put_words(d, t, "damage", &text, err);
}

static hdx_code put_stripped(const fleet_dump *d, hdx_table *t, const hdx_stripping *what, hdx_error *err)
{
    const char *affects;
    hdx_buffer  text = hdx_buffer_of(NULL);
    hdx_buffer_format(&text, "stripped by %s", hdx_strip_name(what->policy));
    for (unsigned i = 0; (affects = hdx_strip_affected(what, i)) != NULL; i++)
        hdx_buffer_format(&text, "%s%s", i > 0 ? ", " : ", which affects ", affects);
    return put_words(d, t, "stripped", &text, err);
}

static hdx_code put_problems(const fleet_dump *d, hdx_table *t, hdx_error *err)
{
    const hdx_graph_summary *of = d->g != NULL ? hdx_graph_summary_of(d->g) : NULL;
    hdx_code                 code = of != NULL ? put_damage(d, t, of, err) : HDX_OK;
    for (uint32_t i = 0; of != NULL && code == HDX_OK && i < of->warning_count; i++)
        code = put_problem(d, t, NULL, "warning", hdx_cell_string(of->warnings[i]), err);
    if (of != NULL && code == HDX_OK && of->stripping->policy != HDX_STRIP_NONE)
        code = put_stripped(d, t, of->stripping, err);
    for (uint64_t i = 0; code == HDX_OK && i < d->problems.count; i++)
        code = put_problem(d, t, d->problems.at[i].table, d->problems.at[i].code,
                           hdx_cell_string(d->problems.at[i].message), err);
    return code;
}

/* ---- dump ---- */

static const hdx_column own_columns[] = {
    HDX_COLUMN("status", TEXT, NONE, 0, "done or failed; for a failed dump only the table problems has rows"),
    HDX_COLUMN("file", TEXT, NONE, HDX_COLUMN_NULLABLE, "dump in the manifest, else its file name when it was indexed"),
    HDX_COLUMN("format", TEXT, NONE, HDX_COLUMN_NULLABLE, "format in the header: JAVA PROFILE 1.0.2"),
    HDX_COLUMN("stripping", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "tool that stripped the dump: matrix, koom, tailor, shark, redacted, limited or unknown; null: none"),
    HDX_COLUMN("damage", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "number of damaged places"),
    HDX_COLUMN("seconds", REAL, SECONDS, HDX_COLUMN_NULLABLE, "wall time of the index build"),
    HDX_COLUMN("peak_memory", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "peak memory of the index build"),
    HDX_COLUMN("heapdex_version", TEXT, NONE, 0, "version of heapdex that wrote these tables"),
    HDX_COLUMN("schema_version", UNSIGNED, NONE, 0, "version of these tables"),
};

/* Keys of the document of `info`. */
static const char *const info_keys[] = {
    "dump_size", "file_size",     "compression", "id_size",    "reference_size",      "jvm",
    "created",   "live_objects",  "objects",     "live_bytes", "unreachable_objects", "unreachable_bytes",
    "classes",   "class_loaders", "threads",     "gc_roots",   "dump_number",
};

static const hdx_column *info_column(const char *key)
{
    const hdx_column *info = hdx_answer_named("info")->document;
    unsigned          i = 0;
    while (strcmp(info->members[i].name, key) != 0)
        i++;
    assert(i < info->member_count);
    return &info->members[i];
}

static hdx_cell info_cell(const hdx_rows *info, const char *key)
{
    const hdx_member *extra = info != NULL ? hdx_rows_extra(info, 0) : NULL;
    for (uint64_t i = 0; extra != NULL && extra->key != NULL && i < extra->value.as.object.count; i++)
        if (strcmp(extra->value.as.object.at[i].key, key) == 0)
            return extra->value.as.object.at[i].value;
    return hdx_cell_null();
}

static void own_cells(const fleet_dump *d, hdx_arena *arena, hdx_cell *cells)
{
    const hdx_fleet_options *o = d->options;
    const hdx_graph_summary *of = d->g != NULL ? hdx_graph_summary_of(d->g) : NULL;
    hdx_buffer               format = hdx_buffer_of(NULL);
    const bool               stripped = of != NULL && of->stripping->policy != HDX_STRIP_NONE;
    hdx_buffer_format(&format, "JAVA PROFILE %.40s", of != NULL ? of->version : "");
    const hdx_cell own[HDX_COUNT(own_columns)] = {
        hdx_cell_string(of != NULL ? "done" : "failed"),
        hdx_cell_string(o->file != NULL ? o->file
                        : of != NULL    ? of->dump_name
                                        : NULL),
        of != NULL && !format.failed ? hdx_cell_copy(arena, format.at) : hdx_cell_null(),
        stripped ? hdx_cell_string(hdx_strip_name(of->stripping->policy)) : hdx_cell_null(),
        of != NULL ? hdx_cell_uint(of->damage_count + of->damage_more) : hdx_cell_null(),
        o->seconds > 0 ? hdx_cell_real(o->seconds) : hdx_cell_null(),
        o->peak_bytes > 0 ? hdx_cell_uint(o->peak_bytes) : hdx_cell_null(),
        hdx_cell_string(HEAPDEX_VERSION),
        hdx_cell_uint(HDX_FLEET_VERSION),
    };
    hdx_buffer_free(&format);
    memcpy(cells, own, sizeof own);
}

/*
 * Without a `time` in the manifest uses the dump's creation time, because series are sorted by time. 0 in the dump:
 * unknown.
 */
static void put_time(const fleet_dump *d, hdx_cell *cells, unsigned count)
{
    size_t time = 0, created = 0;
    while (strcmp(named[time].name, "time") != 0)
        time++;
    while (strcmp(info_keys[created], "created") != 0)
        created++;
    const hdx_cell *manifest_time = &cells[1 + time];
    const bool      has_manifest_time = manifest_time->kind == HDX_CELL_TEXT && manifest_time->as.text.len > 0;
    if (!has_manifest_time && d->g != NULL && hdx_graph_summary_of(d->g)->created_ms != 0)
        cells[1 + time] = cells[count - HDX_COUNT(info_keys) + created];
}

/* Reads the table `dump`: the document of `info` without its findings, which take time. */
static hdx_code put_dump(const fleet_dump *d, hdx_table *t, hdx_error *err)
{
    static const hdx_argument of_dump[] = { { "table", "dump" } };
    hdx_cell                  cells[1 + HDX_COUNT(named) + HDX_COUNT(own_columns) + HDX_COUNT(info_keys)];
    unsigned                  n = 0;
    hdx_rows                 *info = NULL;
    hdx_code code = d->session != NULL ? hdx_answer_run(d->session, "export", of_dump, 1, &info, err) : HDX_OK;
    if (code != HDX_OK)
        return code;
    cells[n++] = hdx_cell_text(d->id);
    for (size_t i = 0; i < HDX_COUNT(named); i++)
        cells[n++] = from_manifest(d->options, named[i].name);
    own_cells(d, hdx_table_arena(t), cells + n);
    n += HDX_COUNT(own_columns);
    for (size_t i = 0; i < HDX_COUNT(info_keys); i++)
        cells[n++] = info_cell(info, info_keys[i]);
    bool failed = false;
    for (unsigned i = n - HDX_COUNT(info_keys); i < n; i++) { /* copied, because texts of `info` end with its rows */
        if (cells[i].kind != HDX_CELL_TEXT)
            continue;
        cells[i] = hdx_text_cell(hdx_table_arena(t), cells[i].as.text);
        failed = failed || cells[i].kind != HDX_CELL_TEXT;
    }
    put_time(d, cells, n);
    code = failed ? hdx_no_memory(err, "the table of a dump", n) : hdx_table_add(t, cells, err);
    hdx_rows_close(info);
    return code;
}

/* ---- all three ---- */

typedef enum once { DUMP, MANIFEST, PROBLEMS } once;

static once which_table(const fleet_table *t)
{
    return strcmp(t->name, "dump") == 0 ? DUMP : strcmp(t->name, "manifest") == 0 ? MANIFEST : PROBLEMS;
}

static unsigned put_columns(hdx_column *out, const hdx_column *from, unsigned count)
{
    memcpy(out, from, count * sizeof *from);
    return count;
}

unsigned hdx_fleet_once_columns(const fleet_table *t, hdx_column *out, unsigned most)
{
    unsigned count = 0;
    (void)most; /* all three have fewer */
    if (which_table(t) == MANIFEST)
        return put_columns(out, manifest_columns, HDX_COUNT(manifest_columns));
    if (which_table(t) == PROBLEMS)
        return put_columns(out, problem_columns, HDX_COUNT(problem_columns));
    count += put_columns(out, named, HDX_COUNT(named));
    count += put_columns(out + count, own_columns, HDX_COUNT(own_columns));
    for (size_t i = 0; i < HDX_COUNT(info_keys); i++) {
        out[count] = *info_column(info_keys[i]);
        out[count++].flags |= HDX_COLUMN_NULLABLE; /* unknown for a dump that failed */
    }
    return count;
}

hdx_code hdx_fleet_once(fleet_dump *d, const fleet_table *t, const hdx_column *columns, unsigned count, hdx_rows **out,
                        hdx_error *err)
{
    hdx_table *table;
    *out = NULL;
    hdx_code code = hdx_table_new(columns, count, &table, err);
    if (code != HDX_OK)
        return code;
    code = which_table(t) == DUMP       ? put_dump(d, table, err)
           : which_table(t) == MANIFEST ? put_manifest(d, table, err)
                                        : put_problems(d, table, err);
    if (code == HDX_OK)
        return hdx_table_rows(table, out, err);
    hdx_table_free(table);
    return code;
}
