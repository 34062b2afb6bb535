/*
 * values.h - the bytes of keys and values, without LMDB: encoders into a buffer, decoders out of a view. Inside of this
 * room alone; README.md beside it is the same as a page.
 *
 * A decoder believes nothing: every length, count and number is checked, and damage is HDX_DAMAGED in "catalog" with
 * the place in the value as offset. What it hands out borrows texts from the table of texts it was given.
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

#define HDX_CHUNK 1984u /* bytes of a value that still fits twice on a 4 KiB page of LMDB beside its key */

typedef struct hdx_texts { /* names by number */
    const hdx_text *at;
    uint64_t        count;
} hdx_texts;

typedef struct hdx_numbers { /* how many of each there are */
    uint64_t classes, heaps, roots, threads, texts;
} hdx_numbers;

/* ---- numbers in groups of 7 bits, low group first ---- */
void hdx_put_number(hdx_buffer *to, uint64_t v);

/* Reading from the front of a value; after the first fault every further take gives 0 and `code` stays. */
typedef struct hdx_taker {
    hdx_view    left;
    size_t      size; /* of the whole value */
    hdx_code    code;
    hdx_error  *err;
    const char *what; /* "class 17": for the message */
    uint64_t    which;
} hdx_taker;
hdx_taker hdx_taker_of(hdx_view value, const char *what, uint64_t which, hdx_error *err);
hdx_code  hdx_take_fault(hdx_taker *t, const char *problem, uint64_t seen, uint64_t allowed);
uint64_t  hdx_take_number(hdx_taker *t);
/* A number of at most `most`, both ends allowed. */
uint64_t hdx_take_up_to(hdx_taker *t, uint64_t most, const char *name);
/* A count of things that take at least `least` bytes each: no more than the bytes left could hold. */
uint64_t hdx_take_count(hdx_taker *t, uint64_t least, const char *name);
hdx_text hdx_take_text(hdx_taker *t); /* length and bytes */
/* HDX_DAMAGED when bytes are left over. */
hdx_code hdx_take_end(hdx_taker *t);

/* ---- values; texts are numbers given out by the caller, in the order of the members below ---- */
/* texts[0] the name, then one per field, then one per static. */
void     hdx_encode_class(hdx_buffer *to, const hdx_class *c, const uint32_t *texts);
hdx_code hdx_decode_class(hdx_view value, uint32_t number, const hdx_numbers *all, uint64_t objects, hdx_texts texts,
                          hdx_arena *arena, hdx_class *out, hdx_error *err);
/* Four texts per frame: class, method, signature, source. */
void     hdx_encode_frames(hdx_buffer *to, const hdx_thread *t, const uint32_t *texts);
void     hdx_encode_thread(hdx_buffer *to, const hdx_thread *t, hdx_view frames); /* those encoded */
hdx_code hdx_decode_thread(hdx_view value, uint64_t index, uint64_t objects, hdx_texts texts, hdx_arena *arena,
                           hdx_thread *out, hdx_error *err);
void     hdx_encode_heap(hdx_buffer *to, const hdx_heap_space *h, uint32_t text);
hdx_code hdx_decode_heap(hdx_view value, uint64_t index, hdx_texts texts, hdx_heap_space *out, hdx_error *err);
void     hdx_encode_numbers(hdx_buffer *to, const hdx_numbers *n);
hdx_code hdx_decode_numbers(hdx_view value, hdx_numbers *out, hdx_error *err);

/* A chunk of roots begins at the object of its key; *object is the last one put. */
void hdx_encode_root(hdx_buffer *to, const hdx_root *r, hdx_id *object);
typedef struct hdx_root_chunk {
    hdx_taker taker;
    hdx_id    object;
    uint64_t  objects; /* of the heap: ids are below */
} hdx_root_chunk;
hdx_root_chunk hdx_root_chunk_of(hdx_view value, hdx_id first, uint64_t objects, hdx_error *err);
/* False at the end, or at a fault: then taker.code says which. */
bool hdx_root_chunk_next(hdx_root_chunk *chunk, hdx_root *out);

/* ---- manifest.c ---- */
void hdx_encode_manifest(hdx_buffer *to, const hdx_manifest *m);
/* out->damage is an array of *capacity from hdx_mem_get(NULL); freed by the caller, on failure too. */
hdx_code hdx_decode_manifest(hdx_view value, hdx_manifest *out, uint64_t *capacity, hdx_error *err);

/* ---- sum.c: the file catalog.sum ---- */
#define HDX_SUM_SIZE 48u
void hdx_encode_sum(uint8_t to[HDX_SUM_SIZE], const uint8_t identity[16], uint64_t size, uint32_t crc);
/* HDX_NOT_FOUND for a whole file of another format. */
hdx_code hdx_decode_sum(hdx_view bytes, uint8_t identity[16], uint64_t *size, uint32_t *crc, hdx_error *err);

/* ---- pages.c: the B-tree of LMDB ---- */
/*
 * Checks that LMDB can walk this file without leaving it, meeting a page twice or tripping one of its assertions: LMDB
 * itself trusts what it maps. A sum only says that the bytes are those once written, not who wrote them.
 */
hdx_code hdx_check_pages(hdx_view file, hdx_error *err);

#endif
