/*
 * about.c - the answer of info as a page: keys as in the document, one line each; what is many (kinds of records, files
 * of the index) is summed up in a line and listed with --verbose. Whichever option shapes the rows (--where, --columns
 * ...) gets them all as a plain table instead.
 *
 *     live_bytes              2.7 MB
 *     heaps
 *       app                   1204 objects, 92.1 KB; live 1100, 90.3 KB
 *     records                 31260 of 17 kinds (--verbose lists them)
 *     index
 *       path                  app.hprof.hdx
 */
#include "cli/cli.h"

#define KEY_WIDTH 24

static const hdx_cell *member(const hdx_cell *object, const char *key)
{
    static const hdx_cell none = { .kind = HDX_CELL_NULL };
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    return &none;
}

static bool is_bytes(const char *key)
{
    static const char *const keys[] = { "live_bytes", "unreachable_bytes", "dump_size", "file_size" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static void put_key(hdx_buffer *out, unsigned indent, const char *key, size_t len)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    size_t     width = 0;
    cli_put_plain(&text, key, len);
    for (uint64_t i = 0; i < text.len; i++)
        width += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    width += indent;
    hdx_buffer_format(out, "%*s", (int)indent, "");
    if (text.len > 0)
        hdx_buffer_put(out, text.at, text.len);
    hdx_buffer_format(out, "%*s", width < KEY_WIDTH ? (int)(KEY_WIDTH - width) : 1, "");
    out->failed = out->failed || text.failed;
    hdx_buffer_free(&text);
}

static void put_bytes(hdx_buffer *out, const hdx_cell *cell, const hdx_render_options *options)
{
    cli_put_value(out, cell, HDX_UNIT_BYTES, options);
    if (!options->human_sizes)
        hdx_buffer_text(out, " bytes");
}

static void put_heaps(hdx_buffer *out, const hdx_cell *heaps, const hdx_render_options *options)
{
    if (heaps->kind != HDX_CELL_LIST || heaps->as.list.count == 0)
        return; /* one heap without a name, as every JVM has it */
    hdx_buffer_text(out, "heaps\n");
    for (uint64_t i = 0; i < heaps->as.list.count; i++) {
        const hdx_cell *heap = &heaps->as.list.at[i], *name = member(heap, "name");
        put_key(out, 2, name->kind == HDX_CELL_TEXT ? name->as.text.at : "-",
                name->kind == HDX_CELL_TEXT ? name->as.text.len : 1);
        cli_put_value(out, member(heap, "objects"), HDX_UNIT_COUNT, options);
        hdx_buffer_text(out, " objects, ");
        put_bytes(out, member(heap, "bytes"), options);
        hdx_buffer_text(out, "; live ");
        cli_put_value(out, member(heap, "live_objects"), HDX_UNIT_COUNT, options);
        hdx_buffer_text(out, ", ");
        put_bytes(out, member(heap, "live_bytes"), options);
        hdx_buffer_text(out, "\n");
    }
}

static void put_records(hdx_buffer *out, const hdx_cell *records, bool all, const hdx_render_options *options)
{
    uint64_t sum = 0, kinds = records->kind == HDX_CELL_OBJECT ? records->as.object.count : 0;
    for (uint64_t i = 0; i < kinds; i++)
        sum += records->as.object.at[i].value.as.natural;
    put_key(out, 0, "records", 7);
    hdx_buffer_format(out, "%llu of %llu kinds%s\n", (unsigned long long)sum, (unsigned long long)kinds,
                      all ? "" : " (--verbose lists them)");
    for (uint64_t i = 0; all && i < kinds; i++) {
        put_key(out, 2, records->as.object.at[i].key, strlen(records->as.object.at[i].key));
        cli_put_value(out, &records->as.object.at[i].value, HDX_UNIT_COUNT, options);
        hdx_buffer_text(out, "\n");
    }
}

/* Policy, then what shows it and what it affects. */
static void put_stripping(hdx_buffer *out, const hdx_cell *stripping, const hdx_render_options *options)
{
    static const char *const lists[] = { "evidence", "affects" };
    put_key(out, 0, "stripping", 9);
    cli_put_value(out, member(stripping, "policy"), HDX_UNIT_NONE, options);
    hdx_buffer_text(out, "\n");
    for (unsigned l = 0; l < 2; l++) {
        const hdx_cell *list = member(stripping, lists[l]);
        put_key(out, 2, lists[l], strlen(lists[l]));
        for (uint64_t i = 0; list->kind == HDX_CELL_LIST && i < list->as.list.count; i++) {
            hdx_buffer_text(out, i > 0 ? ", " : "");
            cli_put_value(out, &list->as.list.at[i], HDX_UNIT_NONE, options);
        }
        hdx_buffer_text(out, "\n");
    }
}

static double real(const hdx_cell *cell) { return cell->kind == HDX_CELL_REAL ? cell->as.real : 0; }

static void put_index(hdx_buffer *out, const cli_run *run, const hdx_cell *index, const hdx_render_options *options)
{
    const hdx_cell *files = member(index, "files"), *complete = member(index, "complete");
    const char     *path = hdx_session_report(run->session, 0)->path;
    uint64_t        count = files->kind == HDX_CELL_LIST ? files->as.list.count : 0;
    hdx_buffer_text(out, "index\n");
    put_key(out, 2, "path", 4);
    cli_put_plain(out, path, strlen(path));
    hdx_buffer_text(out, "\n");
    put_key(out, 2, "files", 5);
    hdx_buffer_format(out, "%llu, ", (unsigned long long)count);
    put_bytes(out, member(index, "bytes"), options);
    hdx_buffer_format(out, ", %.1f bytes per object\n", real(member(index, "bytes_per_object")));
    for (uint64_t i = 0; run->call->verbose && i < count; i++) {
        const hdx_cell *file = &files->as.list.at[i], *name = member(file, "name");
        put_key(out, 4, name->as.text.at, name->as.text.len);
        put_bytes(out, member(file, "bytes"), options);
        hdx_buffer_format(out, ", %.2f\n", real(member(file, "bytes_per_object")));
    }
    put_key(out, 2, "built_at", 8);
    cli_put_value(out, member(index, "built_at"), HDX_UNIT_NONE, options);
    hdx_buffer_format(out, " in %.2f s\n", real(member(index, "seconds")));
    if (complete->kind == HDX_CELL_BOOL && !complete->as.boolean)
        hdx_buffer_text(out, "  complete              false: it stops before the dominators\n");
}

hdx_code cli_about(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink,
                   hdx_error *err)
{
    hdx_buffer        out = hdx_buffer_of(NULL);
    const hdx_member *info;
    for (unsigned n = 0; (info = hdx_rows_extra(rows, n))->key != NULL && strcmp(info->key, "info") != 0;)
        n++;
    for (uint64_t i = 0; info->key != NULL && i < info->value.as.object.count; i++) {
        const char     *key = info->value.as.object.at[i].key;
        const hdx_cell *value = &info->value.as.object.at[i].value;
        if (strcmp(key, "heaps") == 0) {
            put_heaps(&out, value, options);
        } else if (strcmp(key, "records") == 0) {
            put_records(&out, value, run->call->verbose, options);
        } else if (strcmp(key, "stripping") == 0 && value->kind == HDX_CELL_OBJECT) {
            put_stripping(&out, value, options);
        } else if (strcmp(key, "index") == 0) {
            put_index(&out, run, value, options);
        } else {
            put_key(&out, 0, key, strlen(key));
            cli_put_value(&out, value, is_bytes(key) ? HDX_UNIT_BYTES : HDX_UNIT_NONE, options);
            hdx_buffer_text(&out, "\n");
        }
    }
    bool     good = out.failed || out.len == 0 || sink->write(sink->context, out.at, (size_t)out.len);
    hdx_code code = out.failed ? hdx_no_memory(err, "a page of lines", out.len)
                    : good     ? HDX_OK
                               : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
    hdx_buffer_free(&out);
    return code;
}
