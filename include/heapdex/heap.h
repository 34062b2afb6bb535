/*
 * heap.h - the Java heap as values: classes, roots, threads; what graph.h hands out. Texts and arrays are borrowed from
 * the graph.
 */
#ifndef HEAPDEX_HEAP_H
#define HEAPDEX_HEAP_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_object_kind { HDX_INSTANCE, HDX_OBJECT_ARRAY, HDX_PRIMITIVE_ARRAY, HDX_CLASS_OBJECT } hdx_object_kind;
HDX_API const char *hdx_object_kind_name(
    hdx_object_kind kind); /* "instance", "object_array", "primitive_array", "class" */

typedef struct hdx_field {
    hdx_text name;
    uint8_t  type; /* HPROF type: 2 object, 4 boolean ... 11 long */
} hdx_field;

enum {
    HDX_CLASS_INVENTED = 1,  /* no CLASS_DUMP: made by heapdex (doc/mat.md 1.6) */
    HDX_CLASS_OPAQUE = 2,    /* fields unknown: content of instances cannot be read */
    HDX_CLASS_OF_ARRAYS = 4, /* damaged: object arrays are of it, and its name is no such class's */
    /*
     * Arrays of it hold value objects themselves, not references (Valhalla). The dump has them as byte[], and so the
     * class has that kind and element type; what its elements are is not read. stated_size: bytes of an element.
     */
    HDX_CLASS_FLAT = 8
};

typedef struct hdx_class {
    hdx_text name; /* Java form: "com.acme.Outer$Inner", "byte[]" */
    hdx_addr address;
    hdx_id   id;            /* of the class object */
    uint32_t number;        /* classes are numbered by falling instance count (all instances), then by address */
    uint32_t super;         /* class number, or HDX_NO_CLASS */
    hdx_addr super_address; /* as in the dump; 0: none */
    /* address of the loader object; 0: boot loader, also where the dump's loader is no object (doc/mat.md 1.5) */
    hdx_addr        loader;
    hdx_addr        signers; /* as in the dump, may dangle */
    hdx_addr        domain;
    hdx_object_kind kind;          /* of its instances: HDX_INSTANCE, HDX_OBJECT_ARRAY, HDX_PRIMITIVE_ARRAY */
    uint8_t         element_type;  /* of a primitive array's elements; 2 for object arrays; 0 otherwise */
    uint8_t         flags;         /* HDX_CLASS_... */
    uint32_t        stated_size;   /* instance size as CLASS_DUMP says; HDX_CLASS_FLAT: see there */
    uint64_t        instance_size; /* shallow size of an instance; reference size for array classes (doc/mat.md 2.7) */
    uint64_t        class_shallow; /* shallow size of the class object (doc/mat.md 2.6) */
    uint64_t        instances,
        live_instances;         /* the class object does not count; object 0 counts as a java.lang.ClassLoader */
    uint64_t bytes, live_bytes; /* shallow sizes of those */
    uint32_t
        field_count; /* own instance fields, in the dump's order; an instance holds them first, then those of super */
    uint32_t         static_count;
    const hdx_field *fields;
    const hdx_field *statics;
} hdx_class;

/* Types of GC roots, by the names the command line shows; locals of known threads have them too. */
typedef enum hdx_root_type {
    HDX_ROOT_SYSTEM_CLASS,
    HDX_ROOT_NATIVE_LOCAL,
    HDX_ROOT_NATIVE_STATIC,
    HDX_ROOT_NATIVE_STACK,
    HDX_ROOT_THREAD_BLOCK,
    HDX_ROOT_THREAD_OBJ,
    HDX_ROOT_BUSY_MONITOR,
    HDX_ROOT_JAVA_LOCAL,
    HDX_ROOT_UNKNOWN,
    HDX_ROOT_INTERNED_STRING,
    HDX_ROOT_FINALIZING,
    HDX_ROOT_DEBUGGER,
    HDX_ROOT_REFERENCE_CLEANUP,
    HDX_ROOT_VM_INTERNAL,
    HDX_ROOT_JNI_MONITOR,
    HDX_ROOT_UNREACHABLE,
    HDX_ROOT_TYPES
} hdx_root_type;
HDX_API const char *hdx_root_type_name(hdx_root_type type); /* "SYSTEM_CLASS" ... */

/*
 * The same for sentences: "system class", "JNI global", in Eclipse MAT's terms. `type` is a name of hdx_root_type_name
 * or one of LeakCanary's ("STICKY_CLASS", "JNI_GLOBAL"), and need not end in NUL. NULL: no such type.
 */
HDX_API const char *hdx_root_type_words(const char *type, size_t len);

typedef struct hdx_root {
    hdx_id        object;
    hdx_root_type type;
    /*
     * a local of this thread's object: no root of its own but a reference of the thread (doc/mat.md 4.2); else
     * HDX_NO_ID
     */
    hdx_id  thread;
    int32_t frame; /* from the innermost, 0-based; -1: belongs to no frame */
} hdx_root;

typedef struct hdx_frame {
    hdx_text class_name; /* Java form; "<UNKNOWN CLASS>" where the serial is unknown */
    hdx_text method;
    hdx_text signature; /* as in the dump */
    hdx_text source;    /* empty where unknown */
    int32_t  line;      /* > 0, or 0 none, -1 unknown, -2 compiled, -3 native */
} hdx_frame;

typedef struct hdx_thread {
    hdx_id           object;
    uint32_t         serial;
    uint32_t         frame_count; /* innermost first */
    const hdx_frame *frames;
} hdx_thread;

typedef struct hdx_heap_space { /* Android heaps */
    uint32_t number;            /* as in the dump: 'A', 'Z', 'I' ... */
    hdx_text name;              /* "app", "zygote", "image" */
    uint64_t objects, bytes, live_objects, live_bytes;
} hdx_heap_space;

#ifdef __cplusplus
}
#endif

#endif
