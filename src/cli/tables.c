/*
 * tables.c - rows for other programs: Parquet files, and several tables as files of a folder or in an SQLite file.
 *
 * The metadata of a Parquet file is read from the dump and has no path and no time of the call, so that the same call
 * on the same dump always writes the same bytes.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

/* {"size": 4508123, "format": "JAVA PROFILE 1.0.2", "id_size": 8, "number": 1, "created_ms": 1790000000000} */
static void put_dump(hdx_buffer *out, const hdx_graph_summary *of)
{
    hdx_buffer_format(out,
                      "{\"size\": %llu, \"format\": \"JAVA PROFILE %.40s\", \"id_size\": %u, \"number\": %u, "
                      "\"created_ms\": %llu, \"objects\": %llu}",
                      (unsigned long long)of->dump_size, of->version, of->id_size, of->dump_number,
                      (unsigned long long)of->created_ms, (unsigned long long)of->objects);
}

hdx_code cli_put_parquet(const cli_run *run, hdx_rows *rows, const hdx_sink *sink, hdx_error *err)
{
    const cli_call          *c = run->call;
    const hdx_graph_summary *of = hdx_session_summary(run->session, 0);
    const char              *table = cli_given(c, "table");
    hdx_parquet_note         notes[4];
    hdx_buffer               dump = hdx_buffer_of(NULL);
    hdx_parquet_options      options = { .notes = notes };
    options.encoding = c->encoding != NULL && strcmp(c->encoding, "plain") == 0 ? HDX_PARQUET_PLAIN : HDX_PARQUET_DELTA;
    notes[options.note_count++] = (hdx_parquet_note){ "heapdex.answer", c->answer->name };
    if (cli_is(c, "export") && table != NULL)
        notes[options.note_count++] = (hdx_parquet_note){ "heapdex.table", table };
    if (of != NULL) {
        put_dump(&dump, of);
        notes[options.note_count++] = (hdx_parquet_note){ "heapdex.dump", dump.at != NULL ? dump.at : "" };
    }
    if (of != NULL && of->view != NULL)
        notes[options.note_count++] = (hdx_parquet_note){ "heapdex.view", of->view_spec };
    hdx_code code = dump.failed ? hdx_no_memory(err, "a note", dump.len) : HDX_OK;
    if (code == HDX_OK)
        code = hdx_rows_parquet(rows, &options, sink, err);
    hdx_buffer_free(&dump);
    return code;
}

/* ---- a folder of tables ---- */

hdx_code cli_check_folder(const cli_call *call, hdx_error *err)
{
    struct stat there;
    if (stat(call->output, &there) != 0 || S_ISDIR(there.st_mode))
        return HDX_OK;
    return hdx_fail(err, HDX_USAGE, call->output, HDX_NOWHERE, "is not a folder, which several tables need");
}

hdx_code cli_make_folder(const cli_call *call, hdx_error *err)
{
    if (mkdir(call->output, 0777) == 0 || errno == EEXIST)
        return cli_check_folder(call, err);
    return hdx_fail(err, HDX_IO, call->output, HDX_NOWHERE, "cannot create: %s", strerror(errno));
}

hdx_code cli_table_name(const char *tables, unsigned i, hdx_arena *arena, const char **name, hdx_error *err)
{
    *name = NULL;
    for (; i > 0 && tables != NULL; i--)
        tables = (tables = strchr(tables, ',')) != NULL ? tables + 1 : NULL;
    if (tables == NULL || (*name = hdx_arena_copy(arena, tables, strcspn(tables, ","))) != NULL)
        return HDX_OK;
    return hdx_no_memory(err, "a name", 0);
}

void cli_select_table(cli_call *call, const char *name)
{
    for (size_t k = 0; k < call->argument_count; k++)
        if (strcmp(call->arguments[k].name, "table") == 0)
            call->arguments[k].value = name;
}

hdx_code cli_table_path(const cli_call *call, const char *name, hdx_arena *arena, const char **path, hdx_error *err)
{
    static const char *const ends[] = {
        [HDX_FORMAT_JSONL] = "jsonl", [HDX_FORMAT_CSV] = "csv", [HDX_FORMAT_TSV] = "tsv"
    };
    const size_t room = strlen(call->output) + strlen(name) + 16;
    char        *file = hdx_arena_get(arena, room);
    if (file == NULL)
        return hdx_no_memory(err, "a name", room);
    (void)snprintf(file, room, "%s/%s.%s", call->output, name, call->parquet ? "parquet" : ends[call->format]);
    *path = file;
    return HDX_OK;
}
