/*
 * thrift.c - structs in Thrift's compact protocol, as far as Parquet's headers and footer need it: integers as zigzag
 * varints, a field's number as the difference to the previous one, lists after their length.
 */
#include "columns/columns.h"

#include <assert.h>

static void put_byte(hdx_thrift *t, unsigned v)
{
    const uint8_t byte = (uint8_t)v;
    hdx_buffer_put(t->out, &byte, 1);
}

static void put_varint(hdx_thrift *t, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        put_byte(t, (unsigned)(v & 0x7f) | 0x80u);
    put_byte(t, (unsigned)v);
}

static void put_zigzag(hdx_thrift *t, int64_t v) { put_varint(t, ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0)); }

static void put_field(hdx_thrift *t, int field, unsigned type)
{
    const int step = field - t->last[t->depth];
    assert(step > 0 && step <= 15); /* no struct of Parquet has wider gaps */
    put_byte(t, (unsigned)step << 4 | type);
    t->last[t->depth] = field;
}

static void enter(hdx_thrift *t)
{
    assert(t->depth + 1 < sizeof t->last / sizeof *t->last);
    t->last[++t->depth] = 0;
}

hdx_thrift hdx_thrift_begin(hdx_buffer *out) { return (hdx_thrift){ .out = out }; }

void hdx_thrift_end(hdx_thrift *t)
{
    put_byte(t, 0);
    t->depth -= t->depth > 0;
}

void hdx_thrift_int(hdx_thrift *t, int field, bool wide, int64_t value)
{
    put_field(t, field, wide ? 6 : 5);
    put_zigzag(t, value);
}

void hdx_thrift_binary(hdx_thrift *t, int field, const void *bytes, size_t len)
{
    put_field(t, field, HDX_THRIFT_BINARY);
    put_varint(t, len);
    hdx_buffer_put(t->out, bytes, len);
}

void hdx_thrift_struct(hdx_thrift *t, int field)
{
    put_field(t, field, HDX_THRIFT_STRUCT);
    enter(t);
}

void hdx_thrift_list(hdx_thrift *t, int field, hdx_thrift_type type, uint32_t count)
{
    put_field(t, field, 9);
    put_byte(t, (count < 15 ? count : 15) << 4 | (unsigned)type);
    if (count >= 15)
        put_varint(t, count);
}

void hdx_thrift_element(hdx_thrift *t) { enter(t); }
void hdx_thrift_element_int(hdx_thrift *t, int32_t value) { put_zigzag(t, value); }

void hdx_thrift_element_text(hdx_thrift *t, const char *text)
{
    put_varint(t, strlen(text));
    hdx_buffer_put(t->out, text, strlen(text));
}
