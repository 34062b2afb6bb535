/*
 * render.c - dispatches to the output formats.
 *
 * The first row is computed before a byte is written: an answer that fails at once leaves the output empty. An answer
 * that fails later leaves an incomplete document; the caller gets the error and discards the output.
 */
#include "render/out.h"

hdx_code hdx_render(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    const hdx_cell *first = NULL;
    hdx_code        code;
    hdx_out         out = { .sink = sink, .room = HDX_OUT_ROOM };
    if (!hdx_rows_next(rows, &first) && (code = hdx_rows_end(rows, err)) != HDX_OK)
        return code;
    if ((out.at = hdx_mem_get(NULL, out.room)) == NULL)
        return hdx_no_memory(err, "output", out.room);
    switch (options->format) {
    case HDX_FORMAT_JSON: code = hdx_render_json(rows, first, &out, err); break;
    case HDX_FORMAT_JSONL: code = hdx_render_jsonl(rows, first, &out, err); break;
    case HDX_FORMAT_CSV: code = hdx_render_separated(rows, first, false, options->raw, &out, err); break;
    case HDX_FORMAT_TSV: code = hdx_render_separated(rows, first, true, options->raw, &out, err); break;
    default: code = hdx_render_table(rows, first, options, &out, err);
    }
    hdx_out_flush(&out); /* also after an error: the rows before it are valid */
    hdx_mem_put(NULL, out.at, out.room);
    if (code == HDX_OK && out.failed)
        code = hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "the output could not be written");
    if (code == HDX_OK && out.no_memory)
        code = hdx_no_memory(err, "a nested answer", sizeof(hdx_cell));
    return code;
}
