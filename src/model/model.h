/*
 * model.h - the Java heap as values: primitive types, root kinds, names, classes and the sizes that follow from them.
 * Pure functions; no files, no bytes on disk. Sizes follow Eclipse MAT 1.17 (its rules are named at each function).
 */
#ifndef HDX_MODEL_MODEL_H
#define HDX_MODEL_MODEL_H

#include "base/base.h"
#include <heapdex/heap.h>

/* Types of HPROF: 2 object, 4 boolean, 5 char, 6 float, 7 double, 8 byte, 9 short, 10 int, 11 long. */
unsigned    hdx_type_size(uint8_t type, unsigned reference_size); /* bytes; 0 for a type that does not exist */
const char *hdx_type_name(uint8_t type);                          /* "int" ...; "ref" for objects; NULL for none */
bool        hdx_type_is_primitive(uint8_t type);

/*
 * The Java form of a class name as any writer puts it: modified UTF-8 becomes UTF-8 (surrogate pairs joined, c0 80 a
 * real NUL, bytes that are no UTF-8 kept), slashes become dots (but not in the address part of a hidden class,
 * "A$$Lambda/0x00..." or "+0x..."),
 * "[Ljava/lang/String;" becomes "java.lang.String[]", "[[I" "int[][]"; "java.lang.String[]" stays. The text lives in
 * the arena.
 * False: out of memory.
 */
bool hdx_java_class_name(hdx_arena *arena, hdx_view raw, hdx_text *out);
/* A field's or method's name: modified UTF-8 to UTF-8 only. */
bool hdx_java_text(hdx_arena *arena, hdx_view raw, hdx_text *out);
bool hdx_name_is_array(hdx_text name); /* ends in "[]" */
/* "int[]" -> 10; "int[][]" and "java.lang.Object[]" -> 2; no array -> 0 */
uint8_t hdx_name_element_type(hdx_text name);

/* What sizes depend on (MAT rules 2.1 to 2.6). */
typedef struct hdx_sizing {
    uint32_t id_size;        /* 4 or 8 */
    uint32_t reference_size; /* 4 or 8 */
    uint32_t alignment;      /* of objects: 8, 16 ... 256 */
    bool     stated;         /* Android (1.0.3): instance sizes are those CLASS_DUMP states */
    uint32_t array_header;   /* bytes before the elements as a JVM lays arrays out; 0: by MAT's rules */
} hdx_sizing;

uint64_t hdx_object_array_size(const hdx_sizing *s, uint64_t elements);
uint64_t hdx_primitive_array_size(const hdx_sizing *s, uint8_t type, uint64_t elements);
/*
 * Greatest common divisor rule for object alignment (MAT 2.2): feed differences of neighbouring addresses until it
 * returns false.
 */
bool     hdx_alignment_feed(uint64_t *divisor, uint64_t difference); /* *divisor starts at 0 */
uint32_t hdx_alignment_of(uint64_t divisor);                         /* clamped to 8..256 */

/*
 * Breaks cycles of super classes: where a chain repeats, `super` of the class that closes it becomes HDX_NO_CLASS and
 * its number is put into cut[] (room for `count`); *cuts says how many. False: out of memory.
 */
bool hdx_model_cut_cycles(hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *cut, uint32_t *cuts);
/* A class that is its own ancestor: the first met; HDX_NO_CLASS where all chains end. False: out of memory. */
bool hdx_model_own_ancestor(const hdx_class *classes, uint32_t count, hdx_mem *mem, uint32_t *number);

/*
 * Fills instance_size and class_shallow of all classes (MAT 2.3, 2.6; with `stated`, the size CLASS_DUMP says), whose
 * chains end. False: out of memory.
 */
bool hdx_model_sizes(const hdx_sizing *s, hdx_class *classes, uint32_t count, hdx_mem *mem);

/* ---- sizes as HotSpot lays objects out (jvm.c) ---- */
typedef enum hdx_jvm_layout {
    HDX_LAYOUT_MAT,            /* none of HotSpot's: the rules above */
    HDX_LAYOUT_CLASS_POINTERS, /* "class-pointers": compressed ones, the default of 64-bit JVMs */
    HDX_LAYOUT_64BIT,          /* "64bit": class pointers of 8 bytes */
    HDX_LAYOUT_32BIT,          /* "32bit" */
    HDX_LAYOUT_COMPACT,        /* "compact": compact object headers, JDK 24 on */
    HDX_LAYOUTS
} hdx_jvm_layout;
#define HDX_LAYOUT_NAMES "class-pointers 64bit 32bit compact" /* in their order */
const char *hdx_jvm_layout_name(hdx_jvm_layout layout);

typedef struct hdx_jvm {
    uint32_t header, array_header; /* bytes before fields, before elements */
    uint32_t reference_size, word; /* 4 or 8 */
    uint32_t alignment;            /* of objects */
    bool     fills;                /* gaps in super classes: JDK 15 on */
} hdx_jvm;
/* Of a heap that was dumped with these sizes; its classes tell the JDK. Not of HDX_LAYOUT_MAT. */
hdx_jvm hdx_jvm_of(hdx_jvm_layout layout, unsigned reference_size, unsigned alignment, const hdx_class *classes,
                   uint32_t count);
/* sizes[number] of an instance of each class, 0 for arrays; chains of super classes end. False: out of memory. */
bool     hdx_jvm_sizes(const hdx_jvm *jvm, const hdx_class *classes, uint32_t count, hdx_mem *mem, uint64_t *sizes);
uint64_t hdx_jvm_array_size(const hdx_jvm *jvm, uint8_t type, uint64_t elements); /* type of the elements */
/* About, of a class object; bare: of an instance of java.lang.Class. */
uint64_t hdx_jvm_class_object_size(const hdx_jvm *jvm, const hdx_class *c, uint64_t bare);
/* Sizing and classes that have MAT's sizes get those of a layout; HDX_LAYOUT_MAT: they stay. False: out of memory. */
bool hdx_model_lay_out(hdx_jvm_layout layout, hdx_sizing *sizing, hdx_class *classes, uint32_t count, hdx_mem *mem);
/* What that makes of the sizing alone. */
hdx_sizing hdx_sizing_in(hdx_jvm_layout layout, hdx_sizing sizing);

/* Bytes of all fields of an instance in the dump, super classes included; no more than `most` are counted. */
uint64_t hdx_class_field_bytes(const hdx_class *classes, uint32_t number, unsigned id_size, uint64_t most);

/* Is it no class of flat arrays, or one as HDX_CLASS_FLAT says? */
bool hdx_class_flat_holds(const hdx_class *c);

/* The type of root that a heap sub-record's tag stands for (MAT 4.1, HPROF 5.1); false for a tag that is no root. */
bool hdx_root_type_of_tag(uint8_t tag, hdx_root_type *out);

#endif
