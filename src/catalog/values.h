/*
 * values.h - the bytes of keys and values, without LMDB: encoders to a buffer, decoders from a view. For this room
 * only; README.md in this folder describes the same format.
 *
 * A decoder trusts nothing: every length, count and number is checked. Damage is HDX_DAMAGED in "catalog", with the
 * position in the value as offset. Results borrow texts from the given table.
 */
#ifndef HDX_CATALOG_VALUES_H
#define HDX_CATALOG_VALUES_H

#include "catalog/catalog.h"

/* First byte of a key. */
enum {
    HDX_KEY_CLASS = 'c',
    HDX_KEY_HEAP = 'h',
    HDX_KEY_MANIFEST = 'm',
    HDX_KEY_NUMBERS = 'n',
    HDX_KEY_ROOT = 'r',
    HDX_KEY_THREAD = 't',
    HDX_KEY_TEXT = 'x'
};

#define HDX_CHUNK 1984u /* size of a value that, with its key, fits twice on a 4 KiB page of LMDB */

typedef struct hdx_texts { /* names by number */
    const hdx_text *at;
    uint64_t        count;
} hdx_texts;

typedef struct hdx_numbers { /* number of each */
    uint64_t classes, heaps, roots, threads, texts;
} hdx_numbers;

/* ---- numbers in groups of 7 bits, low group first ---- */
void hdx_put_number(hdx_buffer *to, uint64_t v);

/* Reads from the front of a value. After the first error all further calls return 0, and `code` does not change. */
typedef struct hdx_taker {
    hdx_view    left;
    size_t      size; /* of the whole value */
    hdx_code    code;
    hdx_error  *err;
    const char *what; /* for messages: "class 17" */
    uint64_t    which;
} hdx_taker;
hdx_taker hdx_taker_of(hdx_view value, const char *what, uint64_t which, hdx_error *err);
hdx_code  hdx_take_fault(hdx_taker *t, const char *problem, uint64_t seen, uint64_t allowed);
uint64_t  hdx_take_number(hdx_taker *t);
/* Reads a number from 0 to `most`, inclusive. */
uint64_t hdx_take_up_to(hdx_taker *t, uint64_t most, const char *name);
/* Reads a count of things that need at least `least` bytes each: no more than fit in the remaining bytes. */
uint64_t hdx_take_count(hdx_taker *t, uint64_t least, const char *name);
hdx_text hdx_take_text(hdx_taker *t); /* length and bytes */
/* Returns HDX_DAMAGED if bytes remain. */
hdx_code hdx_take_end(hdx_taker *t);

/* ---- values; texts are numbers from the caller, in the order of the members below ---- */
/* Encodes a class. texts[0] is the name, followed by one per field, then one per static. */
void     hdx_encode_class(hdx_buffer *to, const hdx_class *c, const uint32_t *texts);
hdx_code hdx_decode_class(hdx_view value, uint32_t number, const hdx_numbers *all, uint64_t objects, hdx_texts texts,
                          hdx_arena *arena, hdx_class *out, hdx_error *err);
/* Four texts per frame: class, method, signature, source. */
void     hdx_encode_frames(hdx_buffer *to, const hdx_thread *t, const uint32_t *texts);
void     hdx_encode_thread(hdx_buffer *to, const hdx_thread *t, hdx_view frames); /* the encoded ones */
hdx_code hdx_decode_thread(hdx_view value, uint64_t index, uint64_t objects, hdx_texts texts, hdx_arena *arena,
                           hdx_thread *out, hdx_error *err);
void     hdx_encode_heap(hdx_buffer *to, const hdx_heap_space *h, uint32_t text);
hdx_code hdx_decode_heap(hdx_view value, uint64_t index, hdx_texts texts, hdx_heap_space *out, hdx_error *err);
void     hdx_encode_numbers(hdx_buffer *to, const hdx_numbers *n);
hdx_code hdx_decode_numbers(hdx_view value, hdx_numbers *out, hdx_error *err);

/* A chunk of roots begins with the object of its key; *object is the last one that was written. */
void hdx_encode_root(hdx_buffer *to, const hdx_root *r, hdx_id *object);
typedef struct hdx_root_chunk {
    hdx_taker taker;
    hdx_id    object;
    uint64_t  objects; /* number of objects of the heap: ids are below */
} hdx_root_chunk;
hdx_root_chunk hdx_root_chunk_of(hdx_view value, hdx_id first, uint64_t objects, hdx_error *err);
/* Returns false at the end, or on an error: see taker.code. */
bool hdx_root_chunk_next(hdx_root_chunk *chunk, hdx_root *out);

/* ---- manifest.c ---- */
void hdx_encode_manifest(hdx_buffer *to, const hdx_manifest *m);
/*
 * Decodes a manifest. out->damage is an array of *capacity elements from hdx_mem_get(NULL); the caller frees it, on
 * failure, too.
 */
hdx_code hdx_decode_manifest(hdx_view value, hdx_manifest *out, uint64_t *capacity, hdx_error *err);

/* ---- sum.c: the file catalog.sum ---- */
#define HDX_SUM_SIZE 48u
void hdx_encode_sum(uint8_t to[HDX_SUM_SIZE], const uint8_t identity[16], uint64_t size, uint32_t crc);
/* Returns HDX_NOT_FOUND for a complete file of another format. */
hdx_code hdx_decode_sum(hdx_view bytes, uint8_t identity[16], uint64_t *size, uint32_t *crc, hdx_error *err);

/* ---- pages.c: the B-tree of LMDB ---- */
/*
 * Checks that LMDB can walk this file without leaving it, visiting a page twice or failing one of its assertions,
 * because LMDB trusts what it maps. A checksum only proves that the bytes are unchanged, not who wrote them.
 */
hdx_code hdx_check_pages(hdx_view file, hdx_error *err);

#endif
