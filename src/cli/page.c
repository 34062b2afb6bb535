/* page.c - what pages share: cells by name, values as text, and what is written where there is nothing. */
#include "cli/cli.h"

#define FAILURES_TOLD 10u /* on standard error; the document has more */

static const hdx_cell none = { .kind = HDX_CELL_NULL };

const hdx_cell *cli_member(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    return &none;
}

const hdx_cell *cli_cell_named(const hdx_column *columns, unsigned count, const hdx_cell *row, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return &row[i];
    return &none;
}

const hdx_cell *cli_extra(const hdx_rows *rows, const char *key)
{
    const hdx_member *extra;
    for (unsigned n = 0; (extra = hdx_rows_extra(rows, n))->key != NULL; n++)
        if (strcmp(extra->key, key) == 0)
            return &extra->value;
    return &none;
}

void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options)
{
    if (cell->kind == HDX_CELL_ABSENT)
        hdx_buffer_text(out, "(not in the dump)");
    else
        (void)hdx_render_cell(out, cell, unit, options);
}

void cli_put_nothing(hdx_buffer *out, hdx_rows *rows)
{
    const char *why = hdx_rows_nothing(rows);
    hdx_buffer_format(out, "(%s)\n", why != NULL ? why : "no rows");
}

/* What an answer that has conditions of its own found them to hold of. */
void cli_tell_failures(cli_run *run, const hdx_rows *rows)
{
    static const char whole[] = "the heap as a whole";
    const hdx_cell   *count = cli_extra(rows, "failed"), *said = cli_extra(rows, "failures");
    if (count->kind != HDX_CELL_UINT || count->as.natural == 0)
        return;
    run->condition = true;
    const uint64_t shown =
        said->kind == HDX_CELL_LIST && said->as.list.count < FAILURES_TOLD ? said->as.list.count : FAILURES_TOLD;
    for (uint64_t i = 0; said->kind == HDX_CELL_LIST && i < shown; i++) {
        const hdx_cell *condition = cli_member(&said->as.list.at[i], "condition"),
                       *key = cli_member(&said->as.list.at[i], "key");
        if (condition->kind == HDX_CELL_TEXT)
            cli_notice(run->console, "--fail-on '%.*s' holds of %.*s", (int)condition->as.text.len,
                       condition->as.text.at,
                       key->kind == HDX_CELL_TEXT ? (int)key->as.text.len : (int)sizeof whole - 1,
                       key->kind == HDX_CELL_TEXT ? key->as.text.at : whole);
    }
    if (count->as.natural > shown)
        cli_notice(run->console, "and %llu more", (unsigned long long)(count->as.natural - shown));
}

bool cli_flush(hdx_buffer *out, const hdx_sink *sink)
{
    const bool good = out->failed || out->len == 0 || sink->write(sink->context, out->at, (size_t)out->len);
    hdx_buffer_clear(out);
    return good;
}

hdx_code cli_page_end(hdx_code code, bool good, bool memory, hdx_error *err)
{
    if (code == HDX_OK && memory)
        code = hdx_no_memory(err, "a page of lines", 0);
    return code != HDX_OK || good ? code : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}
