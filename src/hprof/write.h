/*
 * write.h - writes records to a growing buffer: the reverse of hprof.h.
 *
 *     hdx_buffer out = hdx_buffer_of(NULL);
 *     hdx_write_head(&out, "1.0.2", 8, time_ms);
 *     hdx_write_string(&out, 8, 0x1001, "app/A", 5);
 *     uint64_t segment = hdx_write_begin(&out, HDX_TOP_HEAP_DUMP_SEGMENT, 0);
 *     hdx_write_instance(&out, 8, 0x300, 1, 0x200, bytes, len);
 *     hdx_write_finish(&out, segment);                                      sets the length
 *     if (out.failed) ...                                                   one check at the end
 *
 * Nothing is checked, because tests write broken dumps with it. Callers that write more than fits in memory empty the
 * buffer between records (hdx_buffer_clear keeps its memory). Everything is inline, so that programs can use it without
 * linking this room.
 */
#ifndef HDX_HPROF_WRITE_H
#define HDX_HPROF_WRITE_H

#include "hprof/hprof.h"

static inline void hdx_write_u1(hdx_buffer *b, uint8_t v) { hdx_buffer_put(b, &v, 1); }
static inline void hdx_write_u2(hdx_buffer *b, uint16_t v)
{
    const uint8_t p[2] = { (uint8_t)(v >> 8), (uint8_t)v };
    hdx_buffer_put(b, p, 2);
}
static inline void hdx_write_u4(hdx_buffer *b, uint32_t v)
{
    const uint8_t p[4] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v };
    hdx_buffer_put(b, p, 4);
}
static inline void hdx_write_u8(hdx_buffer *b, uint64_t v)
{
    hdx_write_u4(b, (uint32_t)(v >> 32));
    hdx_write_u4(b, (uint32_t)v);
}
static inline void hdx_write_id(hdx_buffer *b, uint32_t id_size, uint64_t id)
{
    if (id_size == 8)
        hdx_write_u8(b, id);
    else
        hdx_write_u4(b, (uint32_t)id);
}
/* Writes a value of an HPROF type, given as a number; float and double as their bits. */
static inline void hdx_write_value(hdx_buffer *b, uint32_t id_size, uint8_t type, uint64_t v)
{
    switch (type) {
    case 2: hdx_write_id(b, id_size, v); break;
    case 4:
    case 8: hdx_write_u1(b, (uint8_t)v); break;
    case 5:
    case 9: hdx_write_u2(b, (uint16_t)v); break;
    case 6:
    case 10: hdx_write_u4(b, (uint32_t)v); break;
    case 7:
    case 11: hdx_write_u8(b, v); break;
    default: break;
    }
}

/* ---- file header and top-level records ---- */

static inline void hdx_write_head(hdx_buffer *b, const char *version, uint32_t id_size, uint64_t time_ms)
{
    hdx_buffer_text(b, "JAVA PROFILE ");
    hdx_buffer_put(b, version, strlen(version) + 1);
    hdx_write_u4(b, id_size);
    hdx_write_u8(b, time_ms);
}
static inline void hdx_write_record_head(hdx_buffer *b, uint8_t tag, uint32_t time_us, uint32_t length)
{
    hdx_write_u1(b, tag);
    hdx_write_u4(b, time_us);
    hdx_write_u4(b, length);
}
static inline void hdx_write_record(hdx_buffer *b, uint8_t tag, const void *body, uint32_t length)
{
    hdx_write_record_head(b, tag, 0, length);
    hdx_buffer_put(b, body, length);
}
/* Starts a record whose length is not yet known; pass the result to hdx_write_finish. */
static inline uint64_t hdx_write_begin(hdx_buffer *b, uint8_t tag, uint32_t time_us)
{
    const uint64_t at = b->len;
    hdx_write_record_head(b, tag, time_us, 0);
    return at;
}
static inline void hdx_write_length(hdx_buffer *b, uint64_t begun, uint32_t n)
{
    if (b->failed)
        return;
    for (unsigned k = 0; k < 4; k++)
        b->at[begun + 5 + k] = (char)(uint8_t)(n >> (24 - 8 * k));
}
static inline void hdx_write_finish(hdx_buffer *b, uint64_t begun)
{
    hdx_write_length(b, begun, (uint32_t)(b->len - begun - 9));
}

static inline void hdx_write_string(hdx_buffer *b, uint32_t id_size, uint64_t id, const void *text, size_t len)
{
    hdx_write_record_head(b, HDX_TOP_STRING, 0, (uint32_t)(id_size + len));
    hdx_write_id(b, id_size, id);
    hdx_buffer_put(b, text, len);
}
static inline void hdx_write_load_class(hdx_buffer *b, uint32_t id_size, uint32_t serial, uint64_t class_id,
                                        uint32_t trace, uint64_t name)
{
    hdx_write_record_head(b, HDX_TOP_LOAD_CLASS, 0, 8 + 2 * id_size);
    hdx_write_u4(b, serial);
    hdx_write_id(b, id_size, class_id);
    hdx_write_u4(b, trace);
    hdx_write_id(b, id_size, name);
}
static inline void hdx_write_frame(hdx_buffer *b, uint32_t id_size, uint64_t id, uint64_t method, uint64_t signature,
                                   uint64_t source, uint32_t class_serial, int32_t line)
{
    hdx_write_record_head(b, HDX_TOP_FRAME, 0, 8 + 4 * id_size);
    hdx_write_id(b, id_size, id);
    hdx_write_id(b, id_size, method);
    hdx_write_id(b, id_size, signature);
    hdx_write_id(b, id_size, source);
    hdx_write_u4(b, class_serial);
    hdx_write_u4(b, (uint32_t)line);
}
static inline void hdx_write_trace(hdx_buffer *b, uint32_t id_size, uint32_t serial, uint32_t thread,
                                   const uint64_t *frames, uint32_t count)
{
    hdx_write_record_head(b, HDX_TOP_TRACE, 0, 12 + count * id_size);
    hdx_write_u4(b, serial);
    hdx_write_u4(b, thread);
    hdx_write_u4(b, count);
    for (uint32_t k = 0; k < count; k++)
        hdx_write_id(b, id_size, frames[k]);
}
static inline void hdx_write_end(hdx_buffer *b) { hdx_write_record_head(b, HDX_TOP_HEAP_DUMP_END, 0, 0); }

/* ---- heap sub-records ---- */

/* Writes a root; what its tag does not contain is omitted. THREAD_OBJECT: frame is its trace serial. */
static inline void hdx_write_root(hdx_buffer *b, uint32_t id_size, uint8_t tag, uint64_t id, uint64_t jni_id,
                                  uint32_t serial, int32_t frame)
{
    hdx_write_u1(b, tag);
    hdx_write_id(b, id_size, id);
    switch (tag) {
    case HDX_SUB_ROOT_JNI_GLOBAL: hdx_write_id(b, id_size, jni_id); break;
    case HDX_SUB_ROOT_JNI_LOCAL:
    case HDX_SUB_ROOT_JAVA_FRAME:
    case HDX_SUB_ROOT_JNI_MONITOR:
    case HDX_SUB_ROOT_THREAD_OBJECT:
        hdx_write_u4(b, serial);
        hdx_write_u4(b, (uint32_t)frame);
        break;
    case HDX_SUB_ROOT_NATIVE_STACK:
    case HDX_SUB_ROOT_THREAD_BLOCK: hdx_write_u4(b, serial); break;
    default: break;
    }
}
static inline void hdx_write_heap_info(hdx_buffer *b, uint32_t id_size, uint32_t heap, uint64_t name)
{
    hdx_write_u1(b, HDX_SUB_HEAP_DUMP_INFO);
    hdx_write_u4(b, heap);
    hdx_write_id(b, id_size, name);
}
/*
 * Writes everything up to the (empty) constant pool and the count of statics; write then statics * (id, type, value),
 * u2 fields, fields * (id, type).
 */
static inline void hdx_write_class_head(hdx_buffer *b, uint32_t id_size, const hdx_class_dump *c)
{
    hdx_write_u1(b, HDX_SUB_CLASS);
    hdx_write_id(b, id_size, c->addr);
    hdx_write_u4(b, 1);
    hdx_write_id(b, id_size, c->super);
    hdx_write_id(b, id_size, c->loader);
    hdx_write_id(b, id_size, c->signers);
    hdx_write_id(b, id_size, c->domain);
    hdx_write_id(b, id_size, 0);
    hdx_write_id(b, id_size, 0);
    hdx_write_u4(b, c->instance_size);
    hdx_write_u2(b, 0);
    hdx_write_u2(b, (uint16_t)c->static_count);
}
/* Writes a whole record from its parts, with statics and fields unchanged. */
static inline void hdx_write_class(hdx_buffer *b, uint32_t id_size, const hdx_class_dump *c)
{
    hdx_write_class_head(b, id_size, c);
    hdx_buffer_put(b, c->statics.at, c->statics.len);
    hdx_write_u2(b, (uint16_t)c->field_count);
    hdx_buffer_put(b, c->fields.at, c->fields.len);
}
static inline void hdx_write_instance(hdx_buffer *b, uint32_t id_size, uint64_t id, uint32_t trace, uint64_t class_id,
                                      const void *bytes, uint32_t len)
{
    hdx_write_u1(b, HDX_SUB_INSTANCE);
    hdx_write_id(b, id_size, id);
    hdx_write_u4(b, trace);
    hdx_write_id(b, id_size, class_id);
    hdx_write_u4(b, len);
    hdx_buffer_put(b, bytes, len);
}
/* Writes the head of an object array; its elements follow as ids. */
static inline void hdx_write_object_array_head(hdx_buffer *b, uint32_t id_size, uint64_t id, uint32_t trace,
                                               uint64_t class_id, uint32_t count)
{
    hdx_write_u1(b, HDX_SUB_OBJECT_ARRAY);
    hdx_write_id(b, id_size, id);
    hdx_write_u4(b, trace);
    hdx_write_u4(b, count);
    hdx_write_id(b, id_size, class_id);
}
/* Writes the head of a primitive array (tag PRIMITIVE_ARRAY or PRIMITIVE_ARRAY_NODATA); its elements follow. */
static inline void hdx_write_primitive_array_head(hdx_buffer *b, uint32_t id_size, uint8_t tag, uint64_t id,
                                                  uint32_t trace, uint32_t count, uint8_t type)
{
    hdx_write_u1(b, tag);
    hdx_write_id(b, id_size, id);
    hdx_write_u4(b, trace);
    hdx_write_u4(b, count);
    hdx_write_u1(b, type);
}

#endif
