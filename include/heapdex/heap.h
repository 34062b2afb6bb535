/*
 * heap.h - values of the Java heap that graph.h returns: classes, roots, threads. Texts and arrays are borrowed and
 * valid until hdx_graph_close.
 */
#ifndef HEAPDEX_HEAP_H
#define HEAPDEX_HEAP_H

#include <heapdex/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_object_kind { HDX_INSTANCE, HDX_OBJECT_ARRAY, HDX_PRIMITIVE_ARRAY, HDX_CLASS_OBJECT } hdx_object_kind;

/* Returns "instance", "object_array", "primitive_array" or "class". A constant string. */
HDX_API const char *hdx_object_kind_name(hdx_object_kind kind);

typedef struct hdx_field {
    hdx_text name;
    uint8_t  type; /* HPROF type: 2 object, 4 boolean ... 11 long */
} hdx_field;

enum {
    HDX_CLASS_INVENTED = 1, /* the dump has no CLASS_DUMP of it; added by heapdex (doc/mat.md 1.6) */
    HDX_CLASS_OPAQUE = 2,   /* its fields are unknown, so the content of instances cannot be read */
    /* damaged dump: it is the class of object arrays, but its name is not that of an array class */
    HDX_CLASS_OF_ARRAYS = 4,
    /*
     * Arrays of it contain value objects rather than references (Valhalla). The dump stores them as byte[], so the
     * class has that kind and element type. The content of elements is not read; stated_size is the size of an element
     * in bytes.
     */
    HDX_CLASS_FLAT = 8
};

typedef struct hdx_class {
    hdx_text name; /* Java form: "com.acme.Outer$Inner", "byte[]" */
    hdx_addr address;
    hdx_id   id;            /* of the class object */
    uint32_t number;        /* classes are numbered by instance count (all instances, largest first), then by address */
    uint32_t super;         /* class number, or HDX_NO_CLASS */
    hdx_addr super_address; /* as in the dump; 0: none */
    /* address of the loader object; 0: boot loader, also if the loader in the dump is not an object (doc/mat.md 1.5) */
    hdx_addr        loader;
    hdx_addr        signers; /* as in the dump; may refer to no object */
    hdx_addr        domain;
    hdx_object_kind kind;          /* kind of its instances: HDX_INSTANCE, HDX_OBJECT_ARRAY, HDX_PRIMITIVE_ARRAY */
    uint8_t         element_type;  /* type of the elements of a primitive array; 2 for object arrays; otherwise 0 */
    uint8_t         flags;         /* HDX_CLASS_... */
    uint32_t        stated_size;   /* instance size as given in CLASS_DUMP; of HDX_CLASS_FLAT the size of an element */
    uint64_t        instance_size; /* shallow size of an instance; reference size for array classes (doc/mat.md 2.7) */
    uint64_t        class_shallow; /* shallow size of the class object (doc/mat.md 2.6) */
    uint64_t instances, live_instances; /* without the class object; object 0 counts as a java.lang.ClassLoader */
    uint64_t bytes, live_bytes;         /* shallow sizes of these instances */
    uint32_t field_count; /* own instance fields in the order of the dump; in an instance they precede those of super */
    uint32_t static_count;
    const hdx_field *fields;
    const hdx_field *statics;
} hdx_class;

/* Types of GC roots. The locals of known threads have a type, too. */
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

/* Returns the name as printed by the command line: "SYSTEM_CLASS" ... A constant string. */
HDX_API const char *hdx_root_type_name(hdx_root_type type);

/*
 * Returns the name of a root type in Eclipse MAT's words, for sentences: "system class", "JNI global". `type` is a name
 * of hdx_root_type_name or one of LeakCanary's ("STICKY_CLASS", "JNI_GLOBAL"); it need not end in NUL. NULL: unknown
 * name.
 */
HDX_API const char *hdx_root_type_words(const char *type, size_t len);

typedef struct hdx_root {
    hdx_id        object;
    hdx_root_type type;
    /*
     * the thread of which the object is a local: a reference of the thread, not a root (doc/mat.md 4.2); otherwise
     * HDX_NO_ID
     */
    hdx_id  thread;
    int32_t frame; /* number of the frame, 0 is the innermost; -1: none */
} hdx_root;

typedef struct hdx_frame {
    hdx_text class_name; /* Java form; "<UNKNOWN CLASS>" if the serial number of the class is unknown */
    hdx_text method;
    hdx_text signature; /* as in the dump */
    hdx_text source;    /* empty if unknown */
    int32_t  line;      /* line number; 0: none, -1: unknown, -2: compiled, -3: native */
} hdx_frame;

typedef struct hdx_thread {
    hdx_id           object;
    uint32_t         serial;
    uint32_t         frame_count; /* innermost first */
    const hdx_frame *frames;
} hdx_thread;

/* A heap of an Android dump. */
typedef struct hdx_heap_space {
    uint32_t number; /* as in the dump: 'A', 'Z', 'I' ... */
    hdx_text name;   /* "app", "zygote", "image" */
    uint64_t objects, bytes, live_objects, live_bytes;
} hdx_heap_space;

#ifdef __cplusplus
}
#endif

#endif
