/* tags.c - names and lengths that follow from the tag alone (HPROF 2 and 3). */
#include "hprof/inside.h"

const char *hdx_top_name(uint8_t tag)
{
    switch (tag) {
    case HDX_TOP_STRING: return "STRING_IN_UTF8";
    case HDX_TOP_LOAD_CLASS: return "LOAD_CLASS";
    case HDX_TOP_UNLOAD_CLASS: return "UNLOAD_CLASS";
    case HDX_TOP_FRAME: return "STACK_FRAME";
    case HDX_TOP_TRACE: return "STACK_TRACE";
    case HDX_TOP_ALLOC_SITES: return "ALLOC_SITES";
    case HDX_TOP_HEAP_SUMMARY: return "HEAP_SUMMARY";
    case HDX_TOP_START_THREAD: return "START_THREAD";
    case HDX_TOP_END_THREAD: return "END_THREAD";
    case HDX_TOP_HEAP_DUMP: return "HEAP_DUMP";
    case HDX_TOP_CPU_SAMPLES: return "CPU_SAMPLES";
    case HDX_TOP_CONTROL_SETTINGS: return "CONTROL_SETTINGS";
    case HDX_TOP_FLAT_ARRAYS: return "FLAT_ARRAYS";
    case HDX_TOP_INLINED_FIELDS: return "INLINED_FIELDS";
    case HDX_TOP_HEAP_DUMP_SEGMENT: return "HEAP_DUMP_SEGMENT";
    case HDX_TOP_HEAP_DUMP_END: return "HEAP_DUMP_END";
    default: return NULL;
    }
}

uint32_t hdx_sub_root_size(uint8_t tag, uint32_t i)
{
    switch (tag) {
    case HDX_SUB_ROOT_JNI_GLOBAL: return 2 * i;
    case HDX_SUB_ROOT_JNI_LOCAL:
    case HDX_SUB_ROOT_JAVA_FRAME:
    case HDX_SUB_ROOT_JNI_MONITOR:
    case HDX_SUB_ROOT_THREAD_OBJECT: return i + 8;
    case HDX_SUB_ROOT_NATIVE_STACK:
    case HDX_SUB_ROOT_THREAD_BLOCK: return i + 4;
    case HDX_SUB_ROOT_UNKNOWN:
    case HDX_SUB_ROOT_STICKY_CLASS:
    case HDX_SUB_ROOT_MONITOR_USED:
    case HDX_SUB_ROOT_INTERNED_STRING:
    case HDX_SUB_ROOT_FINALIZING:
    case HDX_SUB_ROOT_DEBUGGER:
    case HDX_SUB_ROOT_REFERENCE_CLEANUP:
    case HDX_SUB_ROOT_VM_INTERNAL:
    case HDX_SUB_UNREACHABLE: return i;
    default: return 0;
    }
}

const char *hdx_sub_name(uint8_t tag)
{
    switch (tag) {
    case HDX_SUB_ROOT_UNKNOWN: return "ROOT_UNKNOWN";
    case HDX_SUB_ROOT_JNI_GLOBAL: return "ROOT_JNI_GLOBAL";
    case HDX_SUB_ROOT_JNI_LOCAL: return "ROOT_JNI_LOCAL";
    case HDX_SUB_ROOT_JAVA_FRAME: return "ROOT_JAVA_FRAME";
    case HDX_SUB_ROOT_NATIVE_STACK: return "ROOT_NATIVE_STACK";
    case HDX_SUB_ROOT_STICKY_CLASS: return "ROOT_STICKY_CLASS";
    case HDX_SUB_ROOT_THREAD_BLOCK: return "ROOT_THREAD_BLOCK";
    case HDX_SUB_ROOT_MONITOR_USED: return "ROOT_MONITOR_USED";
    case HDX_SUB_ROOT_THREAD_OBJECT: return "ROOT_THREAD_OBJECT";
    case HDX_SUB_CLASS: return "CLASS_DUMP";
    case HDX_SUB_INSTANCE: return "INSTANCE_DUMP";
    case HDX_SUB_OBJECT_ARRAY: return "OBJECT_ARRAY_DUMP";
    case HDX_SUB_PRIMITIVE_ARRAY: return "PRIMITIVE_ARRAY_DUMP";
    case HDX_SUB_ROOT_INTERNED_STRING: return "ROOT_INTERNED_STRING";
    case HDX_SUB_ROOT_FINALIZING: return "ROOT_FINALIZING";
    case HDX_SUB_ROOT_DEBUGGER: return "ROOT_DEBUGGER";
    case HDX_SUB_ROOT_REFERENCE_CLEANUP: return "ROOT_REFERENCE_CLEANUP";
    case HDX_SUB_ROOT_VM_INTERNAL: return "ROOT_VM_INTERNAL";
    case HDX_SUB_ROOT_JNI_MONITOR: return "ROOT_JNI_MONITOR";
    case HDX_SUB_UNREACHABLE: return "UNREACHABLE";
    case HDX_SUB_PRIMITIVE_ARRAY_NODATA: return "PRIMITIVE_ARRAY_NODATA_DUMP";
    case HDX_SUB_HEAP_DUMP_INFO: return "HEAP_DUMP_INFO";
    default: return NULL;
    }
}

uint32_t hdx_element_size(uint8_t type, uint32_t id_size)
{
    /* HPROF 3; 1 is "array object" in a HotSpot enum that is never written */
    static const uint8_t size[12] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    return type == 2 ? id_size : type < sizeof size ? size[type] : 0;
}

bool hdx_top_length_ok(uint8_t tag, uint64_t length, uint32_t id_size)
{
    switch (tag) {
    case HDX_TOP_LOAD_CLASS: return length == 8 + 2 * id_size;
    case HDX_TOP_FRAME:
    case HDX_TOP_START_THREAD: return length == 8 + 4 * id_size;
    case HDX_TOP_UNLOAD_CLASS:
    case HDX_TOP_END_THREAD: return length == 4;
    case HDX_TOP_HEAP_SUMMARY: return length == 24;
    case HDX_TOP_CONTROL_SETTINGS: return length == 6;
    case HDX_TOP_HEAP_DUMP_END: return length == 0;
    case HDX_TOP_STRING: return length >= id_size;
    case HDX_TOP_TRACE: return length >= 12;
    case HDX_TOP_ALLOC_SITES: return length >= 34;
    case HDX_TOP_CPU_SAMPLES: return length >= 8;
    default: return true; /* heap records */
    }
}

bool hdx_top_delivered(uint8_t tag) { return tag >= HDX_TOP_STRING && tag <= HDX_TOP_TRACE; }

bool hdx_top_cut(hdx_pos pos, uint8_t tag, uint64_t length, hdx_view body, uint32_t id_size, hdx_top *out)
{
    const uint8_t *p = body.at;
    const uint32_t i = id_size;
    *out = (hdx_top){ .pos = pos, .tag = tag };
    switch (tag) {
    case HDX_TOP_STRING:
        out->id = hdx_be_id(p, i);
        out->body = (hdx_view){ p + i, body.len - i };
        return true;
    case HDX_TOP_LOAD_CLASS:
        out->serial = hdx_be32(p);
        out->id = hdx_be_id(p + 4, i);
        out->name = hdx_be_id(p + 8 + i, i);
        return true;
    case HDX_TOP_UNLOAD_CLASS: out->serial = hdx_be32(p); return true;
    case HDX_TOP_FRAME:
        out->id = hdx_be_id(p, i);
        out->name = hdx_be_id(p + i, i);
        out->signature = hdx_be_id(p + 2 * i, i);
        out->source_file = hdx_be_id(p + 3 * i, i);
        out->serial = hdx_be32(p + 4 * i);
        out->line = (int32_t)hdx_be32(p + 4 * i + 4);
        return true;
    default: /* STACK_TRACE; its count must match its length (R6) */
        out->serial = hdx_be32(p);
        out->thread = hdx_be32(p + 4);
        out->count = hdx_be32(p + 8);
        if (length != 12 + (uint64_t)out->count * i)
            return false;
        out->body = (hdx_view){ p + 12, (body.len - 12) / i * i };
        out->count = (uint32_t)(out->body.len / i); /* fewer than stated only if the body was too long to store */
        return true;
    }
}
