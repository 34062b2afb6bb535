/*
 * dump_maker.h - small heaps for tests, in a few lines.
 *
 *     dump_maker *m = dump_maker_new(8);                                     ids of 8 bytes, HPROF 1.0.2
 *     uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
 *     uint64_t node = dump_maker_class(m, "app.Node", object, "next:L count:I");
 *     uint64_t b = dump_maker_instance(m, node, DUMP_VALUES(0, 2));          values in the order of the layout: own
 *         fields, then super's
 *     uint64_t a = dump_maker_instance(m, node, DUMP_VALUES(b, 1));
 *     dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, a, 0, 0);
 *     dump_maker_save(m, "a.hprof");                                         or dump_maker_bytes(m, &len)
 *     dump_maker_free(m);
 *
 * Types are the JVM's letters: L reference, Z C F D B S I J. Tables are written before the heap, sub-records in the
 * order of the calls, in one segment with an end record, unless told otherwise. Ids not given are counted up from
 * dump_maker.next_id by 32. The maker aborts where memory runs out: it serves tests only.
 */
#ifndef HDX_TESTS_SUPPORT_DUMP_MAKER_H
#define HDX_TESTS_SUPPORT_DUMP_MAKER_H

#include "hprof/write.h"

typedef struct dump_maker_class_info {
    uint64_t id, super;
    char     types[128]; /* HPROF types of the own fields, 0 at the end */
} dump_maker_class_info;

typedef struct dump_maker {
    uint32_t    id_size;
    const char *version; /* "1.0.2"; may be changed until the bytes are taken */
    uint64_t    time_ms;
    bool        whole;       /* one HEAP_DUMP instead of segments (1.0.1); set it before the first sub-record */
    bool        no_end;      /* no HEAP_DUMP_END */
    bool        tables_last; /* strings and the rest between heap and end */
    uint64_t    next_id, next_name;
    uint32_t    next_serial;
    uint64_t    loader;  /* of the classes to come */
    uint32_t    spoiled; /* of 1,000 values of instances and arrays to come: so many are others, by `random_state` */
    uint64_t    random_state;
    hdx_buffer  tables, heap, out, statics; /* heap: with the heads of its segments */
    uint32_t    static_count;
    uint64_t    segment; /* offset of the open segment's head in heap */
    bool        in_segment;
    dump_maker_class_info *classes;
    size_t                 class_count, class_capacity;
    struct {
        char     text[128];
        uint64_t id;
    } * names;
    size_t name_count, name_capacity;
} dump_maker;

dump_maker *dump_maker_new(uint32_t id_size);
void        dump_maker_free(dump_maker *m);

#define DUMP_VALUES(...) ((const uint64_t[]){ __VA_ARGS__ })

/* ---- tables ---- */
uint64_t dump_maker_name(dump_maker *m, const char *text);                    /* the string's id; written once */
uint32_t dump_maker_load(dump_maker *m, uint64_t class_id, const char *name); /* LOAD_CLASS; gives the serial */
uint64_t dump_maker_frame(dump_maker *m, const char *method, uint32_t class_serial, int32_t line);
void     dump_maker_trace(dump_maker *m, uint32_t serial, uint32_t thread, const uint64_t *frames, uint32_t count);
void     dump_maker_top(dump_maker *m, uint8_t tag, const void *body, uint32_t len); /* any record, as it is */

/* ---- heap ---- */
/* fields: "next:L count:I"; the name in Java or JVM form, as it shall stand in the file. LOAD_CLASS and CLASS_DUMP. */
uint64_t dump_maker_class(dump_maker *m, const char *name, uint64_t super, const char *fields);
uint64_t dump_maker_class_at(dump_maker *m, uint64_t id, const char *name, uint64_t super,
                             const char *fields); /* name NULL: no LOAD_CLASS */
/* A static of the next class. */
void     dump_maker_static(dump_maker *m, const char *name, char type, uint64_t value);
uint64_t dump_maker_instance(dump_maker *m, uint64_t class_id,
                             const uint64_t *values); /* values may be NULL: all zero */
uint64_t dump_maker_instance_at(dump_maker *m, uint64_t id, uint64_t class_id, const uint64_t *values);
uint64_t dump_maker_array(dump_maker *m, uint64_t class_id, const uint64_t *refs,
                          uint32_t count); /* refs may be NULL: all null */
uint64_t dump_maker_array_at(dump_maker *m, uint64_t id, uint64_t class_id, const uint64_t *refs, uint32_t count);
uint64_t dump_maker_primitives(dump_maker *m, char type, const uint64_t *values,
                               uint32_t count); /* values may be NULL */
uint64_t dump_maker_primitives_at(dump_maker *m, uint64_t id, char type, const uint64_t *values, uint32_t count);
/* A java.lang.String of a class with the fields "value:L coder:B hash:I", and its byte[]. */
uint64_t dump_maker_string(dump_maker *m, uint64_t string_class, const char *text);
void     dump_maker_root(dump_maker *m, uint8_t tag, uint64_t id, uint32_t serial, int32_t frame);
void     dump_maker_heap_info(dump_maker *m, uint32_t heap, const char *name);
void     dump_maker_raw(dump_maker *m, const void *bytes, size_t len); /* bytes inside the segment */

/* ---- the shape of the file ---- */
void dump_maker_segment(dump_maker *m);       /* ends the segment; the next sub-record begins another */
void dump_maker_segment_empty(dump_maker *m); /* a segment of length 0 */
void dump_maker_end(dump_maker *m);           /* HEAP_DUMP_END here: what follows is another dump */
void dump_maker_between(dump_maker *m, const void *bytes, size_t len); /* bytes between the segments, as they are */
void dump_maker_between_record(dump_maker *m, uint8_t tag, const void *body, uint32_t len);
/* Sets the length that the open segment will state; call it when it is full. It is closed then. */
void dump_maker_segment_says(dump_maker *m, uint32_t length);
/*
 * Offset of the next sub-record from the beginning of the heap part, and where that part lies in the file once the
 * bytes were taken.
 */
uint64_t dump_maker_mark(dump_maker *m);
uint64_t dump_maker_heap_at(const dump_maker *m);

/* The file; lives until the next call or dump_maker_free. */
const uint8_t *dump_maker_bytes(dump_maker *m, size_t *len);
void           dump_maker_save(dump_maker *m, const char *path);
void           dump_maker_save_bytes(const char *path, const void *bytes, size_t len);

#endif
