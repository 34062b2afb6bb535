/*
 * model.h - the Java heap as values: primitive types, root kinds, names, classes and the sizes that follow from them.
 * Pure functions without files or bytes on disk. Sizes follow Eclipse MAT 1.17 (each function names its rules).
 */
#ifndef HDX_MODEL_MODEL_H
#define HDX_MODEL_MODEL_H

#include "base/base.h"
#include <heapdex/heap.h>

/* Types of HPROF: 2 object, 4 boolean, 5 char, 6 float, 7 double, 8 byte, 9 short, 10 int, 11 long. */
unsigned hdx_type_size(uint8_t type, unsigned reference_size); /* in bytes; 0 for a type that does not exist */
/* "int" ...; "ref" for objects; NULL for an unknown type */
const char *hdx_type_name(uint8_t type);
bool        hdx_type_is_primitive(uint8_t type);

/*
 * Converts a class name, as any writer stores it, to the Java form in the arena. Modified UTF-8 becomes UTF-8
 * (surrogate pairs are joined, c0 80 becomes a real NUL, bytes that are not UTF-8 stay), slashes become dots (but not
 * in the address part of a hidden class, "A$$Lambda/0x00..." or "+0x..."), "[Ljava/lang/String;" becomes
 * "java.lang.String[]", "[[I" "int[][]"; "java.lang.String[]" stays. False: out of memory.
 */
bool hdx_java_class_name(hdx_arena *arena, hdx_view raw, hdx_text *out);
/* Converts the name of a field or method: only modified UTF-8 to UTF-8. */
bool hdx_java_text(hdx_arena *arena, hdx_view raw, hdx_text *out);
bool hdx_name_is_array(hdx_text name); /* whether it ends in "[]" */
/* Returns "int[]" -> 10; "int[][]" and "java.lang.Object[]" -> 2; not an array -> 0. */
uint8_t hdx_name_element_type(hdx_text name);

/* The facts on which sizes depend (MAT rules 2.1 to 2.6). */
typedef struct hdx_sizing {
    uint32_t id_size;        /* 4 or 8 */
    uint32_t reference_size; /* 4 or 8 */
    uint32_t alignment;      /* of objects: 8, 16 ... 256 */
    bool     stated;         /* Android (1.0.3): instance sizes are those in CLASS_DUMP */
    uint32_t array_header;   /* bytes before the elements in the JVM's layout of arrays; 0: by MAT's rules */
} hdx_sizing;

uint64_t hdx_object_array_size(const hdx_sizing *s, uint64_t elements);
uint64_t hdx_primitive_array_size(const hdx_sizing *s, uint8_t type, uint64_t elements);
/*
 * The greatest common divisor rule for object alignment (MAT 2.2): call hdx_alignment_feed with the differences of
 * neighbouring addresses until it returns false.
 */
bool     hdx_alignment_feed(uint64_t *divisor, uint64_t difference); /* *divisor is 0 at first */
uint32_t hdx_alignment_of(uint64_t divisor);                         /* clamped to 8..256 */

/*
 * Breaks cycles of super classes: `super` of the class that closes a cycle becomes HDX_NO_CLASS, and its number is
 * added to cut[] (room for `count`); *cuts is their number. False: out of memory.
 */
bool hdx_model_cut_cycles(hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *cut, uint32_t *cuts);
/* Finds the first class that is its own ancestor; HDX_NO_CLASS if all chains end. False: out of memory. */
bool hdx_model_own_ancestor(const hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *number);

/*
 * Computes instance_size and class_shallow of all classes (MAT 2.3, 2.6; with `stated` the size in CLASS_DUMP).
 * REQUIRES: chains of super classes end. False: out of memory.
 */
bool hdx_model_sizes(const hdx_sizing *s, hdx_class *classes, uint32_t count, hdx_mem *mem);

/* ---- sizes in HotSpot's object layouts (jvm.c) ---- */
typedef enum hdx_jvm_layout {
    HDX_LAYOUT_MAT,            /* not one of HotSpot's: the rules above */
    HDX_LAYOUT_CLASS_POINTERS, /* "class-pointers": compressed class pointers, the default of 64-bit JVMs */
    HDX_LAYOUT_64BIT,          /* "64bit": class pointers of 8 bytes */
    HDX_LAYOUT_32BIT,          /* "32bit" */
    HDX_LAYOUT_COMPACT,        /* "compact": compact object headers, JDK 24 and later */
    HDX_LAYOUTS
} hdx_jvm_layout;
#define HDX_LAYOUT_NAMES "class-pointers 64bit 32bit compact" /* in their order */
const char *hdx_jvm_layout_name(hdx_jvm_layout layout);

typedef struct hdx_jvm {
    uint32_t header, array_header; /* bytes before fields, before elements */
    uint32_t reference_size, word; /* 4 or 8 */
    uint32_t alignment;            /* of objects */
    bool     fills;                /* uses gaps in super classes: JDK 15 and later */
} hdx_jvm;
/*
 * Returns the layout of a heap that was dumped with these sizes; its classes identify the JDK. REQUIRES: layout is not
 * HDX_LAYOUT_MAT.
 */
hdx_jvm hdx_jvm_of(hdx_jvm_layout layout, unsigned reference_size, unsigned alignment, const hdx_class *classes,
                   uint32_t count);
/*
 * Computes sizes[number] of an instance of each class, 0 for arrays. REQUIRES: chains of super classes end. False: out
 * of memory.
 */
bool     hdx_jvm_sizes(const hdx_jvm *jvm, const hdx_class *classes, uint32_t count, hdx_mem *mem, uint64_t *sizes);
uint64_t hdx_jvm_array_size(const hdx_jvm *jvm, uint8_t type, uint64_t elements); /* type of the elements */
/* Returns the approximate size of a class object; bare: size of an instance of java.lang.Class. */
uint64_t hdx_jvm_class_object_size(const hdx_jvm *jvm, const hdx_class *c, uint64_t bare);
/* Replaces MAT's sizes in sizing and classes by those of a layout; HDX_LAYOUT_MAT: no change. False: out of memory. */
bool hdx_model_lay_out(hdx_jvm_layout layout, hdx_sizing *sizing, hdx_class *classes, uint32_t count, hdx_mem *mem);
/* Returns the sizing that results from it. */
hdx_sizing hdx_sizing_in(hdx_jvm_layout layout, hdx_sizing sizing);

/* Returns the size of all fields of an instance in the dump, including super classes; stops counting above `most`. */
uint64_t hdx_class_field_bytes(const hdx_class *classes, uint32_t number, unsigned id_size, uint64_t most);

/* Returns whether the class is not one of flat arrays, or satisfies HDX_CLASS_FLAT. */
bool hdx_class_flat_holds(const hdx_class *c);

/* Returns the type of root for the tag of a heap sub-record (MAT 4.1, HPROF 5.1); false if the tag is not a root. */
bool hdx_root_type_of_tag(uint8_t tag, hdx_root_type *out);
/* Returns the name of a type of locals and roots in MAT's form, as in "<Java Local>"; NULL: the type has none. */
const char *hdx_root_type_title(hdx_root_type type);
/*
 * Returns what an object with such a root is, for people: "a running thread", "a JNI global reference". `type` is a
 * name as for hdx_root_type_words (heapdex/heap.h). NULL: unknown name.
 */
const char *hdx_root_type_description(const char *type, size_t len);

#endif
