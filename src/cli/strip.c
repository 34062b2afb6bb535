/*
 * strip.c - detect, strip and restore: questions that a dump answers without an index. Rows are for tables; the document has the same at its top.
 */
#include "cli/cli.h"
#include "rows/rows.h"

#include <stdio.h>

static hdx_code give_up(hdx_rows **out, hdx_code code)
{
    if (code != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

/* ---- detect ---- */

static const char *compression_name(int compression)
{
    return compression == HDX_GZIP ? "gzip" : compression == HDX_ZLIB ? "zlib" : "none";
}

/* Texts of a function of (what, i) as a list. */
static hdx_cell list_of(hdx_arena *arena, const char *(*text)(const hdx_stripping *what, unsigned i), const hdx_stripping *what)
{
    unsigned count = 0;
    while (text(what, count) != NULL)
        count++;
    hdx_cell *cells = hdx_arena_get(arena, (count + 1) * sizeof *cells);
    for (unsigned i = 0; cells != NULL && i < count; i++)
        cells[i] = hdx_cell_copy(arena, text(what, i));
    return hdx_cell_list(cells, cells != NULL ? count : 0);
}

static const char *affected(const hdx_stripping *what, unsigned i) { return hdx_strip_affects(what->policy, i); }
static const char *evidence(const hdx_stripping *what, unsigned i) { return i < what->evidence_count ? what->evidence[i] : NULL; }

hdx_code cli_ask_detect(cli_session *s, hdx_rows **out, hdx_error *err)
{
    static const hdx_column  columns[] = { { "key", HDX_UNIT_NONE, false }, { "value", HDX_UNIT_NONE, false } };
    const hdx_detect_options options = { .full = s->call->full, .max_uncompressed = s->call->max_uncompressed };
    hdx_detected             d;
    hdx_table               *table;
    hdx_code                 code = hdx_strip_detect(s->call->dump, &options, &d, err);
    if (code != HDX_OK || (code = hdx_table_new(columns, 2, &table, err)) != HDX_OK)
        return code;
    hdx_arena       *arena = hdx_table_arena(table);
    const hdx_member members[] = {
        { "format", hdx_cell_copy(arena, d.format) },
        { "compression", hdx_cell_string(compression_name(d.compression)) },
        { "policy", hdx_cell_string(hdx_strip_name(d.what.policy)) },
        { "confidence", hdx_cell_real(d.what.confidence / 100.0) },
        { "evidence", list_of(arena, evidence, &d.what) },
        { "bytes_read", hdx_cell_uint(d.what.bytes_read) },
        { "affects", list_of(arena, affected, &d.what) },
    };
    const unsigned count = sizeof members / sizeof *members;
    for (unsigned i = 0; i < count && code == HDX_OK; i++) {
        const hdx_cell *v = &members[i].value;
        if (v->kind != HDX_CELL_LIST)
            code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(members[i].key), *v }, err);
        for (uint64_t k = 0; v->kind == HDX_CELL_LIST && k < v->as.list.count && code == HDX_OK; k++)
            code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(members[i].key), v->as.list.at[k] }, err);
    }
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    if ((code = hdx_table_rows(table, out, err)) != HDX_OK)
        return code;
    for (unsigned i = 0; i < count && code == HDX_OK; i++)
        code = hdx_rows_add_extra(*out, members[i].key, members[i].value, err);
    return give_up(out, code);
}

/* ---- strip and restore ---- */

/* The name under which the library writes what -o will be (strip.h). */
static void guard_output(cli_session *s)
{
    const size_t room = s->call->output == NULL ? 0 : strlen(s->call->output) + sizeof ".part";
    char        *part = room == 0 ? NULL : hdx_arena_get(&s->arena, room);
    if (part != NULL)
        (void)snprintf(part, room, "%s.part", s->call->output);
    cli_unfinished(part);
}

static hdx_code report_document(hdx_rows *rows, const hdx_strip_report *r, bool restored, hdx_error *err)
{
    hdx_arena  *arena = hdx_rows_arena(rows);
    hdx_member *dropped = hdx_arena_get(arena, HDX_STRIP_KINDS * sizeof *dropped);
    uint64_t    kinds = 0;
    char        line[160], in[16], to[16];
    char        hashes[2][20];
    hdx_code    code = HDX_OK;
    if (dropped == NULL)
        return hdx_no_memory(err, "the report", 0);
    for (unsigned i = 0; i < r->kind_count; i++)
        if (r->kinds[i].dropped > 0)
            dropped[kinds++] = (hdx_member){ r->kinds[i].record, hdx_cell_uint(r->kinds[i].dropped) };
    (void)snprintf(hashes[0], sizeof hashes[0], "%016llx", (unsigned long long)r->graph_in);
    (void)snprintf(hashes[1], sizeof hashes[1], "%016llx", (unsigned long long)r->graph_out);
    const bool       proved = r->policy == HDX_STRIP_REDACTED;
    const hdx_member members[] = {
        { "policy", hdx_cell_string(hdx_strip_name(r->policy)) },
        { "records_in", hdx_cell_uint(r->records_in) },
        { "records_out", hdx_cell_uint(r->records_out) },
        { "bytes_in", hdx_cell_uint(r->bytes_in) },
        { "bytes_out", hdx_cell_uint(r->bytes_out) },
        { "plain_bytes_out", hdx_cell_uint(r->plain_out) },
        { "dropped", hdx_cell_object(dropped, kinds) },
        { "dropped_shared", hdx_cell_uint(r->dropped_shared) },
        { "merged_bitmaps", hdx_cell_uint(r->merged) },
        { "absent_bytes", hdx_cell_uint(r->absent_bytes) },
        { "truncated", hdx_cell_bool(r->truncated) },
        { "damage_at", r->damage_at == HDX_NOWHERE ? hdx_cell_null() : hdx_cell_uint(r->damage_at) },
        { "graph_before", proved ? hdx_cell_copy(arena, hashes[0]) : hdx_cell_null() },
        { "graph_after", proved ? hdx_cell_copy(arena, hashes[1]) : hdx_cell_null() },
    };
    for (unsigned i = 0; i < sizeof members / sizeof *members && code == HDX_OK; i++)
        code = hdx_rows_add_extra(rows, members[i].key, members[i].value, err);
    hdx_render_human(r->bytes_in, in);
    hdx_render_human(r->bytes_out, to);
    (void)snprintf(line, sizeof line, "%s: %s in, %s out%s", restored ? "Restored" : "Stripped", in, to,
                   proved ? "; ids, classes, references and sizes are as they were" : "");
    return code == HDX_OK ? hdx_rows_set_title(rows, line, err) : code;
}

static hdx_code report_rows(const hdx_strip_report *r, bool restored, hdx_rows **out, hdx_error *err)
{
    static const hdx_column columns[] = { { "record", HDX_UNIT_NONE, false }, { "in", HDX_UNIT_COUNT, false }, { "dropped", HDX_UNIT_COUNT, false },
                                          { "bytes_in", HDX_UNIT_BYTES, false }, { "bytes_out", HDX_UNIT_BYTES, false } };
    hdx_table              *table;
    hdx_code                code = hdx_table_new(columns, 5, &table, err);
    if (code != HDX_OK)
        return code;
    for (unsigned i = 0; i < r->kind_count && code == HDX_OK; i++) {
        const hdx_strip_kind *k = &r->kinds[i];
        code = hdx_table_add(table, (hdx_cell[]){ hdx_cell_string(k->record), hdx_cell_uint(k->in), hdx_cell_uint(k->dropped), hdx_cell_uint(k->bytes_in),
                                                  hdx_cell_uint(k->bytes_out) }, err);
    }
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    return (code = hdx_table_rows(table, out, err)) == HDX_OK ? give_up(out, report_document(*out, r, restored, err)) : code;
}

static hdx_strip_options options_of(const cli_session *s)
{
    const cli_call *c = s->call;
    return (hdx_strip_options){ .dump = c->dump, .output = c->output, .policy = c->policy, .plain = c->plain, .keep_bitmaps = c->keep_bitmaps,
                                .map_names = c->map_names, .keep_classes = c->keep_classes, .keep_count = c->keep_class_count,
                                .drop_classes = c->drop_classes, .drop_count = c->drop_class_count, .max_uncompressed = c->max_uncompressed,
                                .progress = s->progress };
}

hdx_code cli_ask_strip(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const hdx_strip_options options = options_of(s);
    hdx_strip_report        report;
    guard_output(s);
    hdx_code code = hdx_strip_write(&options, &report, err);
    cli_unfinished(NULL);
    cli_console_erase(s->console);
    if (code == HDX_OK && report.truncated)
        cli_notice(s->console, "%s: warning: the container holds one dump; what follows the first one is left out", s->call->dump);
    return code == HDX_OK ? report_rows(&report, false, out, err) : code;
}

hdx_code cli_ask_restore(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const hdx_strip_options options = options_of(s);
    hdx_strip_report        report;
    guard_output(s);
    hdx_code code = hdx_strip_restore(&options, &report, err);
    cli_unfinished(NULL);
    cli_console_erase(s->console);
    if (code != HDX_OK)
        return code;
    if (report.truncated)
        cli_notice(s->console, "%s: warning: the file ends early; what it has is restored", s->call->dump);
    if (report.damage_at != HDX_NOWHERE)
        cli_notice(s->console, "%s: warning: what stands at offset 0x%llx could not be read and is left out", s->call->dump,
                   (unsigned long long)report.damage_at);
    return report_rows(&report, true, out, err);
}
