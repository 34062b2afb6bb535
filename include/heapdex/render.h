/*
 * render.h - writes rows as text: table, json, jsonl, csv, tsv.
 *
 * Example (examples/render.c):
 *     static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }
 *
 *     static hdx_code show(hdx_rows *rows, hdx_error *err)
 *     {
 *         const hdx_render_options table = { .format = HDX_FORMAT_TABLE, .human_sizes = true };
 *         const hdx_sink           sink = { put, stdout };
 *         return hdx_render(rows, &table, &sink, err);
 *     }
 */
#ifndef HEAPDEX_RENDER_H
#define HEAPDEX_RENDER_H

#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_format {
    HDX_FORMAT_TABLE,
    HDX_FORMAT_JSON,
    HDX_FORMAT_JSONL,
    HDX_FORMAT_CSV,
    HDX_FORMAT_TSV
} hdx_format;

typedef struct hdx_render_options {
    hdx_format format;
    bool       human_sizes; /* tables print sizes as 1.5 MB; other formats always print bytes */
    /*
     * csv and tsv: do not write ' before texts that a spreadsheet takes for a formula; csv: do not replace control
     * characters
     */
    bool raw;
    bool full_text; /* tables print texts whole, however long */
    bool color;
    bool ascii; /* tables write other characters as \uNNNN */
    /* of the terminal, in columns, for tables; 0: not a terminal, only very long texts are shortened */
    unsigned    width;
    const char *rest; /* hint about rows that a limit omitted ("--limit 0 shows all"), for tables; NULL: none */
} hdx_render_options;

/* Receives the output. `write` returns false if it could not write the bytes; the caller then knows the reason. */
typedef struct hdx_sink {
    bool (*write)(void *context, const char *bytes, size_t len);
    void *context;
} hdx_sink;

/*
 * Reads the remaining rows and writes them to the sink. HDX_FORMAT_JSON writes a document, which consists of the head
 * (hdx_rows_head), "rows" and the extras (hdx_rows_extra); the other formats write rows alone. All formats but the
 * table are valid UTF-8. Nothing is written if the first row fails; after a later error the rows before it have been
 * written. Returns HDX_IO if the sink failed, HDX_LIMIT if memory is short, or the error of the rows (hdx_rows_end).
 */
HDX_API hdx_code hdx_render(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
