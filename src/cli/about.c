/*
 * about.c - the answer of info as a page. Long lists (kinds of records, files of the index) are summarized in one line
 * and listed with --verbose. With an option that shapes rows (--where, --columns ...) info prints a plain table
 * instead.
 *
 *     app.hprof: HPROF 1.0.2, 115 MB, compressed oops, 2026-11-23 11:53:04 UTC
 *     live         2,320,979 objects of 1,204 classes, 88.6 MB; 610 GC roots, 15 threads
 *     unreachable  183 objects, 8.6 KB
 *                  of these 97, 4.1 KB: probably held by fields of class objects
 *     references   9,120,118 between live objects
 *     index        app.hprof.hdx: 15 files, 21.4 MB (9.7 bytes per object)
 *                  built 2026-11-23 12:01:44 UTC in 0.41 s
 *
 * The lines before "references" are also part of the page for a dump without a command (look.c).
 */
#include "cli/cli.h"

#include <stdio.h>

#define KEY_WIDTH 13

static uint64_t number(const hdx_cell *of, const char *key)
{
    const hdx_cell *cell = hdx_cell_member(of, key);
    return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0;
}

static bool is_true(const hdx_cell *cell) { return cell->kind == HDX_CELL_BOOL && cell->as.boolean; }

/* ---- a page of keys and values, which are wrapped in their own column ---- */

typedef struct page {
    hdx_buffer                out;
    const hdx_render_options *options;
    const hdx_cell           *info;
    uint32_t                  at, indent; /* current column; first column of continuation lines */
} page;

static void put_plain(page *p, const char *text, size_t len)
{
    const uint64_t start = p->out.len;
    cli_put_plain(&p->out, text, len);
    if (p->out.len > start)
        p->at += hdx_render_columns(p->out.at + start, p->out.len - start);
}

static void put(page *p, const char *text) { put_plain(p, text, strlen(text)); }

static void put_cell(page *p, const hdx_cell *cell, hdx_unit unit)
{
    const uint64_t start = p->out.len;
    cli_put_value(&p->out, cell, unit, p->options);
    if (unit == HDX_UNIT_BYTES && !p->options->human_sizes)
        hdx_buffer_text(&p->out, " bytes");
    if (p->out.len > start)
        p->at += hdx_render_columns(p->out.at + start, p->out.len - start);
}

static void put_key(page *p, const char *key, size_t len)
{
    p->at = 0;
    put_plain(p, key, len);
    hdx_buffer_format(&p->out, "%*s", p->at < KEY_WIDTH ? (int)(KEY_WIDTH - p->at) : 1, "");
    p->at = p->indent = p->at < KEY_WIDTH ? KEY_WIDTH : p->at + 1;
}

/* Writes the separator, then a blank, or a line break if the next `width` columns do not fit. */
static void put_separator(page *p, const char *separator, uint32_t width)
{
    put(p, separator);
    if (p->options->width == 0 || p->at + 1 + width < p->options->width || p->at <= p->indent) {
        put(p, " ");
        return;
    }
    hdx_buffer_format(&p->out, "\n%*s", (int)p->indent, "");
    p->at = p->indent;
}

static void put_part(page *p, const char *separator, const char *text)
{
    put_separator(p, separator, (uint32_t)strlen(text));
    put(p, text);
}

static void end_line(page *p)
{
    hdx_buffer_text(&p->out, "\n");
    p->at = 0;
}

/* Writes "23,875 objects" without a line break inside. */
static void put_count(page *p, const char *separator, uint64_t n, const char *one, const char *many)
{
    const hdx_cell cell = { .kind = HDX_CELL_UINT, .as.natural = n };
    hdx_buffer     text = hdx_buffer_of(NULL);
    cli_put_value(&text, &cell, HDX_UNIT_COUNT, p->options);
    hdx_buffer_format(&text, " %s", n == 1 ? one : many);
    if (separator != NULL)
        put_separator(p, separator, (uint32_t)text.len);
    if (!text.failed)
        put(p, text.at);
    p->out.failed = p->out.failed || text.failed;
    hdx_buffer_free(&text);
}

static void put_size(page *p, const char *separator, const hdx_cell *cell)
{
    put_separator(p, separator, 9);
    put_cell(p, cell, HDX_UNIT_BYTES);
}

/* Writes 2026-11-21T17:07:13.645Z as "2026-11-21 17:07:13 UTC". */
static void put_time(page *p, const hdx_cell *time)
{
    if (time->kind != HDX_CELL_TEXT || time->as.text.len < 19) {
        put_cell(p, time, HDX_UNIT_NONE);
        return;
    }
    put_plain(p, time->as.text.at, 10);
    put(p, " ");
    put_plain(p, time->as.text.at + 11, 8);
    put(p, " UTC");
}

static bool is_packed(const hdx_cell *info)
{
    const hdx_cell *how = hdx_cell_member(info, "compression");
    return how->kind == HDX_CELL_TEXT && !hdx_text_is(how->as.text, "none");
}

/* Returns whether the policy is the name of an Android tool. The other policies describe the change: redacted, limited.
 */
static bool is_tool(const hdx_cell *policy)
{
    return policy->kind == HDX_CELL_TEXT && !hdx_text_is(policy->as.text, "redacted") &&
           !hdx_text_is(policy->as.text, "limited") && !hdx_text_is(policy->as.text, "unknown");
}

/* ---- the head ---- */

static void put_dump(page *p, const char *dump)
{
    const hdx_cell *info = p->info, *jvm = hdx_cell_member(info, "jvm"), *created = hdx_cell_member(info, "created");
    const hdx_cell *policy = hdx_cell_member(hdx_cell_member(info, "stripping"), "policy"),
                   *version = hdx_cell_member(info, "version");
    p->indent = 2;
    put(p, dump);
    put_part(p, ":", "HPROF ");
    put_cell(p, version, HDX_UNIT_NONE);
    put_size(p, ",", hdx_cell_member(info, "dump_size"));
    if (is_packed(info)) {
        put_part(p, "", "(");
        put_cell(p, hdx_cell_member(info, "file_size"), HDX_UNIT_BYTES);
        put(p, " with ");
        put_cell(p, hdx_cell_member(info, "compression"), HDX_UNIT_NONE);
        put(p, ")");
    }
    if (jvm->kind == HDX_CELL_TEXT) {
        put_separator(p, ",", (uint32_t)jvm->as.text.len);
        put_cell(p, jvm, HDX_UNIT_NONE);
    }
    if (is_true(hdx_cell_member(info, "compressed_oops")))
        put_part(p, ",", "compressed oops");
    if (policy->kind == HDX_CELL_TEXT) {
        put_part(p, ",", is_tool(policy) ? "stripped by " : "contents ");
        put_cell(p, policy, HDX_UNIT_NONE);
    }
    if (created->kind == HDX_CELL_TEXT) {
        put_separator(p, ",", 23);
        put_time(p, created);
    }
    if (number(info, "dumps_in_file") > 1) {
        put_separator(p, ",", 16);
        put(p, "heap ");
        put_cell(p, hdx_cell_member(info, "dump_number"), HDX_UNIT_NONE);
        put_count(p, " of", number(info, "dumps_in_file"), "in the file", "in the file");
    }
    end_line(p);
}

/* Writes conspicuous facts, each with the command to run next. */
static void put_triage(page *p, const cli_call *call)
{
    const hdx_cell *list = hdx_cell_member(p->info, "triage");
    for (uint64_t i = 0; list->kind == HDX_CELL_LIST && i < list->as.list.count; i++) {
        const hdx_cell *sentence = hdx_cell_member(&list->as.list.at[i], "sentence"),
                       *next = hdx_cell_member(&list->as.list.at[i], "next");
        if (sentence->kind == HDX_CELL_TEXT && next->kind == HDX_CELL_TEXT)
            cli_put_next(&p->out, call, sentence->as.text, next->as.text, p->options->width);
    }
}

/* Writes the memory layout of objects, if it is proved, and the option that uses it for sizes. */
static void put_layout(page *p)
{
    const hdx_cell *layout = hdx_cell_member(p->info, "layout"), *header = hdx_cell_member(p->info, "header_size");
    if (layout->kind != HDX_CELL_TEXT)
        return;
    const bool stated = hdx_text_is(layout->as.text, "stated");
    put_key(p, "headers", 7);
    if (stated)
        put(p, "class records state the size of instances (native image):");
    else {
        put(p, "object headers of ");
        put_cell(p, header, HDX_UNIT_NONE);
        put(p, " bytes, as addresses prove:");
    }
    put_part(p, "", "sizes --layout ");
    put_cell(p, layout, HDX_UNIT_NONE);
    put_part(p, "", "uses these sizes, other answers those of Eclipse MAT");
    end_line(p);
}

/* Writes which unreachable objects are probably not garbage, or may not be. */
static void put_no_garbage(page *p)
{
    static const struct {
        const char *kind, *what;
    } reasons[] = {
        { "filler", "probably fillers of the garbage collector" },
        { "class field", "probably held by fields of class objects" },
        { "archive", "probably part of the JVM's class data archive (CDS)" },
    };
    const hdx_cell *kinds = hdx_cell_member(p->info, "no_garbage");
    for (uint64_t i = 0; kinds->kind == HDX_CELL_LIST && i < kinds->as.list.count; i++) {
        const hdx_cell *of = &kinds->as.list.at[i], *kind = hdx_cell_member(of, "kind");
        if (number(of, "bytes") == 0) /* array classes, which are in every dump */
            continue;
        put_key(p, "", 0);
        put(p, "of these ");
        put_cell(p, hdx_cell_member(of, "objects"), HDX_UNIT_COUNT);
        put_size(p, ",", hdx_cell_member(of, "bytes"));
        for (size_t k = 0; kind->kind == HDX_CELL_TEXT && k < sizeof reasons / sizeof *reasons; k++)
            if (hdx_text_is(kind->as.text, reasons[k].kind))
                put_part(p, ":", reasons[k].what);
        end_line(p);
    }
    if (is_true(hdx_cell_member(p->info, "lacks_locals"))) {
        put_key(p, "", 0);
        put(p, "the dump has no locals and no JNI roots (jhsdb omits them):");
        put_part(p, "", "objects that only they reference count as");
        put_part(p, "", "unreachable; --reachable all shows it");
        end_line(p);
    }
}

static void put_head(page *p, const char *dump)
{
    const hdx_cell *info = p->info;
    put_dump(p, dump);
    put_key(p, "live", 4);
    put_count(p, NULL, number(info, "live_objects"), "object", "objects");
    put_count(p, " of", number(info, "classes"), "class", "classes");
    put_size(p, ",", hdx_cell_member(info, "live_bytes"));
    put_count(p, ";", number(info, "gc_roots"), "GC root", "GC roots");
    put_count(p, ",", number(info, "threads"), "thread", "threads");
    end_line(p);
    put_key(p, "unreachable", 11);
    put_count(p, NULL, number(info, "unreachable_objects"), "object", "objects");
    put_size(p, ",", hdx_cell_member(info, "unreachable_bytes"));
    end_line(p);
    put_no_garbage(p);
    put_layout(p);
}

/* ---- lines of info only ---- */

static void put_more(page *p)
{
    const hdx_cell *info = p->info;
    const uint64_t  dangling = number(info, "dangling_references"), roots = number(info, "dangling_roots");
    put_key(p, "references", 10);
    put_count(p, NULL, number(info, "references"), "between live objects", "between live objects");
    if (dangling > 0 || roots > 0) {
        put_count(p, ";", dangling, "dangling", "dangling");
        put_count(p, ",", roots, "dangling GC root", "dangling GC roots");
    }
    end_line(p);
    put_key(p, "classes", 7);
    put_count(p, NULL, number(info, "all_classes"), "in the dump", "in the dump");
    put_count(p, ";", number(info, "class_loaders"), "live class loader", "live class loaders");
    end_line(p);
    put_key(p, "layout", 6);
    put(p, "ids of ");
    put_cell(p, hdx_cell_member(info, "id_size"), HDX_UNIT_NONE);
    put(p, " bytes in the dump, references of ");
    put_cell(p, hdx_cell_member(info, "reference_size"), HDX_UNIT_NONE);
    put_part(p, " in", "memory; objects aligned to ");
    put_cell(p, hdx_cell_member(info, "object_alignment"), HDX_UNIT_NONE);
    end_line(p);
}

static void put_heaps(page *p, const hdx_cell *heaps)
{
    if (heaps->kind != HDX_CELL_LIST || heaps->as.list.count == 0)
        return; /* a JVM has a single heap without a name */
    hdx_buffer_text(&p->out, "heaps\n");
    for (uint64_t i = 0; i < heaps->as.list.count; i++) {
        const hdx_cell *heap = &heaps->as.list.at[i], *name = hdx_cell_member(heap, "name");
        hdx_buffer      key = hdx_buffer_of(NULL);
        hdx_buffer_text(&key, "  ");
        if (name->kind == HDX_CELL_TEXT)
            hdx_buffer_put(&key, name->as.text.at, name->as.text.len);
        put_key(p, key.at == NULL ? "" : key.at, (size_t)key.len);
        p->out.failed = p->out.failed || key.failed;
        hdx_buffer_free(&key);
        put_count(p, NULL, number(heap, "objects"), "object", "objects");
        put_size(p, ",", hdx_cell_member(heap, "bytes"));
        put_part(p, ";", "live ");
        put_cell(p, hdx_cell_member(heap, "live_objects"), HDX_UNIT_COUNT);
        put_size(p, ",", hdx_cell_member(heap, "live_bytes"));
        end_line(p);
    }
}

/* Writes a line of a --verbose list: name and value. */
static void put_named(page *p, const char *name, size_t len, const hdx_cell *value, hdx_unit unit, double each)
{
    hdx_buffer_format(&p->out, "%*s", KEY_WIDTH, "");
    p->at = 0;
    put_plain(p, name, len);
    hdx_buffer_format(&p->out, "%*s", p->at < 26 ? (int)(26 - p->at) : 1, "");
    put_cell(p, value, unit);
    if (each >= 0)
        hdx_buffer_format(&p->out, ", %.2f per object", each);
    end_line(p);
}

static void put_records(page *p, const hdx_cell *records, bool all)
{
    uint64_t sum = 0, kinds = records->kind == HDX_CELL_OBJECT ? records->as.object.count : 0;
    for (uint64_t i = 0; i < kinds; i++)
        sum += records->as.object.at[i].value.as.natural;
    put_key(p, "records", 7);
    put_count(p, NULL, sum, "", "");
    put(p, "of ");
    put_count(p, NULL, kinds, "kind", "kinds");
    if (!all)
        put_part(p, "", "(--verbose lists them)");
    end_line(p);
    for (uint64_t i = 0; all && i < kinds; i++) {
        const hdx_member *m = &records->as.object.at[i];
        put_named(p, m->key, strlen(m->key), &m->value, HDX_UNIT_COUNT, -1);
    }
}

/* Writes the policy, its evidence and what it affects. */
static void put_stripping(page *p, const hdx_cell *stripping)
{
    static const char *const lists[][2] = { { "evidence", "since" }, { "affects", "affects" } };
    if (stripping->kind != HDX_CELL_OBJECT)
        return;
    if (is_tool(hdx_cell_member(stripping, "policy")))
        put_key(p, "stripped by", 11);
    else
        put_key(p, "contents", 8);
    put_cell(p, hdx_cell_member(stripping, "policy"), HDX_UNIT_NONE);
    for (unsigned l = 0; l < 2; l++) {
        const hdx_cell *list = hdx_cell_member(stripping, lists[l][0]);
        for (uint64_t i = 0; list->kind == HDX_CELL_LIST && i < list->as.list.count; i++) {
            const hdx_cell *item = &list->as.list.at[i];
            if (i == 0)
                put_part(p, ";", lists[l][1]);
            put_separator(p, i == 0 ? "" : ",", item->kind == HDX_CELL_TEXT ? (uint32_t)item->as.text.len : 8);
            put_cell(p, item, HDX_UNIT_NONE);
        }
    }
    end_line(p);
}

static double real(const hdx_cell *cell) { return cell->kind == HDX_CELL_REAL ? cell->as.real : 0; }

static void put_index(page *p, const cli_run *run, const hdx_cell *index)
{
    const hdx_cell *files = hdx_cell_member(index, "files"), *complete = hdx_cell_member(index, "complete");
    const char     *path = hdx_session_report(run->session, 0)->path;
    const uint64_t  count = files->kind == HDX_CELL_LIST ? files->as.list.count : 0;
    char            text[48];
    put_key(p, "index", 5);
    put(p, path);
    put_count(p, ":", count, "file", "files");
    put_size(p, ",", hdx_cell_member(index, "bytes"));
    (void)snprintf(text, sizeof text, "(%.1f bytes per object)", real(hdx_cell_member(index, "bytes_per_object")));
    put_part(p, "", text);
    end_line(p);
    for (uint64_t i = 0; run->call->verbose && i < count; i++) {
        const hdx_cell *file = &files->as.list.at[i], *name = hdx_cell_member(file, "name");
        put_named(p, name->as.text.at, name->as.text.len, hdx_cell_member(file, "bytes"), HDX_UNIT_BYTES,
                  real(hdx_cell_member(file, "bytes_per_object")));
    }
    hdx_buffer_format(&p->out, "%*sbuilt ", KEY_WIDTH, "");
    put_time(p, hdx_cell_member(index, "built_at"));
    hdx_buffer_format(&p->out, " in %.2f s\n", real(hdx_cell_member(index, "seconds")));
    if (complete->kind == HDX_CELL_BOOL && !complete->as.boolean)
        hdx_buffer_format(&p->out, "%*spartial index: no dominators\n", KEY_WIDTH, "");
}

static void put_views(page *p, const hdx_cell *views)
{
    for (uint64_t i = 0; views->kind == HDX_CELL_LIST && i < views->as.list.count; i++) {
        const hdx_cell *view = &views->as.list.at[i], *name = hdx_cell_member(view, "name"),
                       *spec = hdx_cell_member(view, "spec");
        put_key(p, i == 0 ? "views" : "", i == 0 ? 5 : 0);
        put_cell(p, name, HDX_UNIT_NONE);
        if (spec->kind == HDX_CELL_TEXT) {
            put_part(p, ":", "");
            put_cell(p, spec, HDX_UNIT_NONE);
            put_size(p, "; live", hdx_cell_member(view, "live_bytes"));
        } else
            put_part(p, ":", "damaged");
        end_line(p);
    }
}

/* ---- pages ---- */

static hdx_code finish_page(page *p, const hdx_sink *sink, hdx_error *err)
{
    const bool     failed = p->out.failed, good = cli_flush(&p->out, sink);
    const hdx_code code = cli_page_end(HDX_OK, good, failed, err);
    hdx_buffer_free(&p->out);
    return code;
}

hdx_code cli_about_head(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options,
                        const hdx_sink *sink, hdx_error *err)
{
    page p = { .out = hdx_buffer_of(NULL), .options = options, .info = hdx_rows_extra_cell(rows, "info") };
    put_head(&p, run->call->index.dump);
    hdx_buffer_text(&p.out, "\nask next:\n");
    put_triage(&p, run->call);
    return finish_page(&p, sink, err);
}

hdx_code cli_about(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink,
                   hdx_error *err)
{
    page p = { .out = hdx_buffer_of(NULL), .options = options, .info = hdx_rows_extra_cell(rows, "info") };
    put_head(&p, run->call->index.dump);
    put_more(&p);
    put_heaps(&p, hdx_cell_member(p.info, "heaps"));
    put_stripping(&p, hdx_cell_member(p.info, "stripping"));
    put_records(&p, hdx_cell_member(p.info, "records"), run->call->verbose);
    put_index(&p, run, hdx_cell_member(p.info, "index"));
    put_views(&p, hdx_cell_member(p.info, "views"));
    if (hdx_cell_member(p.info, "triage")->kind == HDX_CELL_LIST &&
        hdx_cell_member(p.info, "triage")->as.list.count > 0)
        hdx_buffer_text(&p.out, "\nask next:\n");
    put_triage(&p, run->call);
    return finish_page(&p, sink, err);
}
