/*
 * render.h - rows to text: table, json, jsonl, csv, tsv.
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
    hdx_format  format;
    bool        human_sizes; /* 1.5 MB in tables; machine formats always bytes */
    bool        raw;         /* csv and tsv: a text may begin as a formula of a spreadsheet does */
    bool        full_text;   /* tables show all of a text, however long */
    bool        color;
    bool        ascii; /* the terminal shows nothing else: tables have \uNNNN for other characters */
    unsigned    width; /* of the terminal, for tables; 0: none, only very long texts are cut */
    const char *rest;  /* said of rows that a limit left out ("--limit 0 shows all"); NULL: nothing */
} hdx_render_options;

/* Where text goes; returns false when it could not be written (the caller then knows why). */
typedef struct hdx_sink {
    bool (*write)(void *context, const char *bytes, size_t len);
    void *context;
} hdx_sink;

/*
 * Renders all rows that are left. HDX_FORMAT_JSON is the document { head ..., "rows": [ ... ], extras ... }
 * (hdx_rows_head, hdx_rows_extra), the other formats are rows alone; machine formats are valid UTF-8. HDX_IO when the
 * sink refused, or the rows' own error.
 */
HDX_API hdx_code hdx_render(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
