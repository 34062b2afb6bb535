/*
 * kinds.c - primitive types, kinds of objects and types of GC roots: small constant tables.
 */
#include "model/model.h"

/* HPROF 3; 0, 1, 3 and 12 up are not types (1 is "array object" in a HotSpot enum that is never written). */
static const struct {
    uint8_t     size; /* 0: as wide as a reference */
    const char *name;
} types[12] = {
    [2] = { 0, "ref" },  [4] = { 1, "boolean" }, [5] = { 2, "char" }, [6] = { 4, "float" }, [7] = { 8, "double" },
    [8] = { 1, "byte" }, [9] = { 2, "short" },   [10] = { 4, "int" }, [11] = { 8, "long" },
};

unsigned hdx_type_size(uint8_t type, unsigned reference_size)
{
    return type == 2 ? reference_size : type < 12 ? types[type].size : 0;
}

const char *hdx_type_name(uint8_t type) { return type < 12 ? types[type].name : NULL; }

bool hdx_type_is_primitive(uint8_t type) { return type < 12 && types[type].size != 0; }

const char *hdx_object_kind_name(hdx_object_kind kind)
{
    switch (kind) {
    case HDX_INSTANCE: return "instance";
    case HDX_OBJECT_ARRAY: return "object_array";
    case HDX_PRIMITIVE_ARRAY: return "primitive_array";
    case HDX_CLASS_OBJECT: return "class";
    }
    return "unknown";
}

/*
 * All names of the types of roots. `tag` is that of the HPROF sub-record, and `name` is the type on the
 * command line (MAT 4.1, HPROF 5.1; Android's have their own names). `title` is MAT's name (GCRootInfo and its
 * messages), which it also gives to locals as references of their thread (MAT 3.4); JNI_MONITOR, which MAT lacks, has
 * one because locals may have that type, and NULL means neither. `words` is that name within a sentence. `description`
 * says what such an object is; it follows MAT's help ("Garbage Collection Roots") where MAT has the type, and HPROF 5.1
 * for those of Android.
 */
static const struct {
    uint8_t     tag;
    const char *name, *leak_name, *title, *words, *description; /* leak_name: LeakCanary's, if it differs */
} roots[HDX_ROOT_TYPES] = {
    [HDX_ROOT_SYSTEM_CLASS] = { 0x05, "SYSTEM_CLASS", "STICKY_CLASS", "System Class", "system class",
                                "a system class" },
    [HDX_ROOT_NATIVE_LOCAL] = { 0x02, "NATIVE_LOCAL", "JNI_LOCAL", "JNI Local", "JNI local", "a JNI local reference" },
    [HDX_ROOT_NATIVE_STATIC] = { 0x01, "NATIVE_STATIC", "JNI_GLOBAL", "JNI Global", "JNI global",
                                 "a JNI global reference" },
    [HDX_ROOT_NATIVE_STACK] = { 0x04, "NATIVE_STACK", NULL, "Native Stack", "native stack",
                                "a parameter of a native method" },
    [HDX_ROOT_THREAD_BLOCK] = { 0x06, "THREAD_BLOCK", NULL, "Thread Block", "thread block",
                                "an object of an active thread block" },
    [HDX_ROOT_THREAD_OBJ] = { 0x08, "THREAD_OBJ", "THREAD_OBJECT", "Thread", "thread", "a running thread" },
    [HDX_ROOT_BUSY_MONITOR] = { 0x07, "BUSY_MONITOR", "MONITOR_USED", "Busy Monitor", "busy monitor",
                                "a monitor that a thread has locked or waits for" },
    [HDX_ROOT_JAVA_LOCAL] = { 0x03, "JAVA_LOCAL", "JAVA_FRAME", "Java Local", "Java local",
                              "a local variable of a thread's frame" },
    [HDX_ROOT_UNKNOWN] = { 0xFF, "UNKNOWN", NULL, "Unknown", "unknown kind", "a root of an unknown kind" },
    [HDX_ROOT_INTERNED_STRING] = { 0x89, "INTERNED_STRING", NULL, NULL, "interned string", "an interned String" },
    [HDX_ROOT_FINALIZING] = { 0x8A, "FINALIZING", NULL, NULL, "waits for its finalizer",
                              "an object that waits for its finalizer" },
    [HDX_ROOT_DEBUGGER] = { 0x8B, "DEBUGGER", NULL, NULL, "held by a debugger", "an object held by a debugger" },
    [HDX_ROOT_REFERENCE_CLEANUP] = { 0x8C, "REFERENCE_CLEANUP", NULL, NULL, "waits for its cleanup",
                                     "an object that waits for its cleanup" },
    [HDX_ROOT_VM_INTERNAL] = { 0x8D, "VM_INTERNAL", NULL, NULL, "held by the JVM", "an object held by the JVM" },
    [HDX_ROOT_JNI_MONITOR] = { 0x8E, "JNI_MONITOR", NULL, "JNI Monitor", "JNI monitor",
                               "a monitor that native code has locked" },
    [HDX_ROOT_UNREACHABLE] = { 0x90, "UNREACHABLE", NULL, NULL, "unreachable", "an object recorded as unreachable" },
};

const char *hdx_root_type_name(hdx_root_type type)
{
    return (unsigned)type < HDX_ROOT_TYPES ? roots[type].name : "UNKNOWN";
}

static bool is_name(const char *name, const char *type, size_t len)
{
    return name != NULL && strlen(name) == len && memcmp(name, type, len) == 0;
}

const char *hdx_root_type_title(hdx_root_type type)
{
    return (unsigned)type < HDX_ROOT_TYPES ? roots[type].title : NULL;
}

/* Returns the type with this name, on the command line or LeakCanary's; HDX_ROOT_TYPES: none. */
static unsigned type_named(const char *type, size_t len)
{
    unsigned k = 0;
    while (k < HDX_ROOT_TYPES && !is_name(roots[k].name, type, len) && !is_name(roots[k].leak_name, type, len))
        k++;
    return k;
}

const char *hdx_root_type_words(const char *type, size_t len)
{
    const unsigned k = type_named(type, len);
    return k < HDX_ROOT_TYPES ? roots[k].words : NULL;
}

const char *hdx_root_type_description(const char *type, size_t len)
{
    const unsigned k = type_named(type, len);
    return k < HDX_ROOT_TYPES ? roots[k].description : NULL;
}

bool hdx_root_type_of_tag(uint8_t tag, hdx_root_type *out)
{
    for (unsigned k = 0; k < HDX_ROOT_TYPES; k++)
        if (roots[k].tag == tag) {
            *out = (hdx_root_type)k;
            return true;
        }
    return false;
}
