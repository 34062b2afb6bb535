/*
 * render.h - rows to text: table, json, jsonl, csv, tsv. Knows no questions and no heaps; only the command line uses it.
 */
#ifndef HDX_RENDER_RENDER_H
#define HDX_RENDER_RENDER_H

#include "base/base.h"
#include <heapdex/rows.h>

typedef enum hdx_format { HDX_FORMAT_TABLE, HDX_FORMAT_JSON, HDX_FORMAT_JSONL, HDX_FORMAT_CSV, HDX_FORMAT_TSV } hdx_format;

typedef struct hdx_render_options {
    hdx_format format;
    bool       human_sizes; /* 1.5 MB in tables; machine formats always bytes */
    bool       color;
    unsigned   width;       /* of the terminal, for tables; 0: none, only very long texts are cut */
} hdx_render_options;

/* Where text goes; returns false when it could not be written (the caller then knows why). */
typedef struct hdx_sink {
    bool (*write)(void *context, const char *bytes, size_t len);
    void *context;
} hdx_sink;

/*
 * Renders all rows. For HDX_FORMAT_JSON the document is  { head members ..., "rows": [ ... ], extras ... }; head (heapdex, command, dump, damage,
 * warnings) comes from the caller. HDX_IO when the sink refused, or the rows' own error.
 */
hdx_code hdx_render(hdx_rows *rows, const hdx_render_options *options, const hdx_member *head, size_t head_count, const hdx_sink *sink, hdx_error *err);
/* One cell as JSON text, appended. */
void hdx_render_json_cell(hdx_buffer *out, const hdx_cell *cell);
/* "1.5 MB", "312 bytes": powers of 1024, at most 4 digits. */
void hdx_render_human(uint64_t bytes, char out[16]);

#endif
