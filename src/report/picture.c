/*
 * picture.c - rows of an answer as a file that other programs draw: a profile, a treemap, a graph.
 *
 * In:  rows of dominators --merge (folded, speedscope, pprof, SVG), or of path and refs (DOT).
 * Out: one file. Text of the heap is first made visible (hdx_render_text) and then escaped for the format.
 */
#include "report/picture.h"
#include "report/page.h"

#define FLUSHED (256u << 10) /* bytes that are collected before they are written */

void hdx_picture_flush(picture *p, bool end)
{
    if (p->out.failed || p->out.len == 0 || (!end && p->out.len < FLUSHED))
        return;
    p->broken = p->broken || !p->sink->write(p->sink->context, p->out.at, (size_t)p->out.len);
    hdx_buffer_clear(&p->out);
}

const hdx_cell *hdx_picture_cell(hdx_rows *rows, const hdx_cell *row, const char *name)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    return hdx_cell_named(columns, count, row, name);
}

uint64_t hdx_picture_number(hdx_rows *rows, const hdx_cell *row, const char *name)
{
    const hdx_cell *cell = hdx_picture_cell(rows, row, name);
    return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0;
}

bool hdx_picture_has(hdx_rows *rows, const char *name)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(columns[i].name, name) == 0)
            return true;
    return false;
}

static hdx_code check_rows(hdx_rows *rows, hdx_picture_format format, hdx_error *err)
{
    const bool tree = hdx_picture_has(rows, "node") && hdx_picture_has(rows, "parent") &&
                      hdx_picture_has(rows, "retained"),
               graph = hdx_picture_has(rows, "class") && hdx_picture_has(rows, "label") &&
                       (hdx_picture_has(rows, "reference") || hdx_picture_has(rows, "kind"));
    if (format == HDX_PICTURE_DOT ? graph : tree)
        return HDX_OK;
    return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                    format == HDX_PICTURE_DOT ? "a graph is drawn of paths and of references, not of these rows"
                                              : "this picture is drawn of dominators --merge, not of these rows");
}

hdx_code hdx_picture_write(hdx_rows *rows, const hdx_picture_options *options, const hdx_sink *sink, hdx_error *err)
{
    picture  p = { .options = options, .sink = sink, .out = hdx_buffer_of(NULL) };
    hdx_code code = check_rows(rows, options->format, err);
    if (code != HDX_OK)
        return code;
    switch (options->format) {
    case HDX_PICTURE_SVG: return hdx_doc_map_file(rows, options->title, sink, err);
    case HDX_PICTURE_DOT: code = hdx_picture_dot(&p, rows, err); break;
    default: code = hdx_picture_profile(&p, rows, err);
    }
    if (code == HDX_OK)
        hdx_picture_flush(&p, true);
    if (code == HDX_OK && p.out.failed)
        code = hdx_no_memory(err, "a picture", p.out.len);
    if (code == HDX_OK && p.broken)
        code = hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the output could not be written");
    hdx_buffer_free(&p.out);
    return code;
}
