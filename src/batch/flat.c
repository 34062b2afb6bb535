/* flat.c - writes JSON objects without nesting (base/flat.h reads them). */
#include "batch/batch.h"

#include <inttypes.h>

static void put_key(hdx_buffer *b, const char *key)
{
    const bool first = b->len == 0 || b->at[b->len - 1] == '{';
    hdx_buffer_format(b, "%s\"%s\": ", first ? "" : ", ", key);
}

void hdx_batch_put_text(hdx_buffer *b, const char *key, const char *text)
{
    const hdx_cell cell = hdx_cell_string(text);
    put_key(b, key);
    hdx_render_json_cell(b, &cell);
}

void hdx_batch_put_number(hdx_buffer *b, const char *key, uint64_t number)
{
    put_key(b, key);
    hdx_buffer_format(b, "%" PRIu64, number);
}

void hdx_batch_put_real(hdx_buffer *b, const char *key, double number)
{
    const hdx_cell cell = hdx_cell_real(number);
    put_key(b, key);
    hdx_render_json_cell(b, &cell);
}

void hdx_batch_put_bool(hdx_buffer *b, const char *key, bool yes)
{
    put_key(b, key);
    hdx_buffer_text(b, yes ? "true" : "false");
}

void hdx_batch_put_end(hdx_buffer *b) { hdx_buffer_text(b, "}\n"); }
