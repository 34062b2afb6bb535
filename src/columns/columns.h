/*
 * columns.h - passes rows to other programs column by column. <heapdex/columns.h> is its public part.
 *
 *   runs.c       rows of any answer in runs: as their source has them, or collected from cells
 *   arrow.c      Arrow C streams
 *   parquet.c    Parquet files: pages, column chunks, row groups
 *   encode.c     the encodings of a page
 *   thrift.c     headers and footer, in Thrift's compact protocol
 *
 * This room does not depend on questions or heaps. Large tables are fast because their source computes columns in runs
 * (rows.h); all other rows are converted cell by cell.
 */
#ifndef HDX_COLUMNS_COLUMNS_H
#define HDX_COLUMNS_COLUMNS_H

#include "base/base.h"
#include "rows/rows.h"
#include <heapdex/columns.h>

/* ---- runs.c ---- */
/* Type of a column outside of heapdex. */
typedef enum hdx_outside { HDX_OUTSIDE_NUMBER, HDX_OUTSIDE_REAL, HDX_OUTSIDE_BOOL, HDX_OUTSIDE_TEXT } hdx_outside;
hdx_outside hdx_outside_of(const hdx_column *column);

typedef struct hdx_runs {
    hdx_rows         *rows; /* borrowed */
    const hdx_column *columns;
    unsigned          column_count;
    hdx_mem          *mem;
    hdx_vector       *vectors; /* of the current run, one for each column */
    uint32_t          count;   /* number of its rows */
    /* For rows that are read one by one: */
    uint64_t  *numbers, *present;
    hdx_text  *texts;
    hdx_buffer bytes; /* of texts */
} hdx_runs;
hdx_code hdx_runs_open(hdx_rows *rows, hdx_runs *out, hdx_error *err); /* call hdx_runs_close on failure, too */
/* Reads at most `most` rows; r->count is 0 after the last. */
hdx_code hdx_runs_next(hdx_runs *r, uint32_t most, hdx_error *err);
void     hdx_runs_close(hdx_runs *r); /* does not close the rows */
/* Returns whether a row has a value. */
static inline bool hdx_vector_has(const hdx_vector *v, uint32_t i)
{
    return (v->numbers != NULL || v->each != NULL) && (v->present == NULL || hdx_bits_test(v->present, i));
}
static inline hdx_text hdx_vector_text(const hdx_vector *v, uint32_t i)
{
    return v->each != NULL ? v->each[i] : v->texts[v->numbers[i]];
}

/* ---- arrow.c ---- */
/* Callbacks around the work of a stream, by one thread at a time, and at its end. */
typedef struct hdx_keeper {
    void *context;
    void (*enter)(void *context);
    void (*leave)(void *context);
    void (*release)(void *context); /* called even if the stream could not be created */
} hdx_keeper;
hdx_code hdx_arrow_stream(hdx_rows *rows, const hdx_keeper *keeper, struct ArrowArrayStream *out, hdx_error *err);

/* ---- encode.c: each call appends ---- */
/* Appends bit-packed and repeated values of `width` bits (at most 32). */
void hdx_encode_hybrid(hdx_buffer *out, const uint32_t *values, uint32_t count, unsigned width);
/* Appends the bits of the definition level: 1 for a row with a value. */
void                   hdx_encode_levels(hdx_buffer *out, const uint64_t *present, uint32_t count);
void                   hdx_encode_delta(hdx_buffer *out, const uint64_t *values, uint32_t count);
void                   hdx_encode_bits(hdx_buffer *out, const uint64_t *values, uint32_t count); /* booleans, PLAIN */
static inline unsigned hdx_bit_width(uint64_t most) { return most == 0 ? 0 : 64u - (unsigned)__builtin_clzll(most); }

/* ---- thrift.c ---- */
/* A struct that is written field by field, in ascending order of field numbers. */
typedef struct hdx_thrift {
    hdx_buffer *out;
    int         last[8]; /* last field written, of the struct at each depth */
    unsigned    depth;
} hdx_thrift;
hdx_thrift hdx_thrift_begin(hdx_buffer *out);
void       hdx_thrift_end(hdx_thrift *t); /* ends the current struct: the whole, a field or an element of a list */
void       hdx_thrift_int(hdx_thrift *t, int field, bool wide, int64_t value); /* i32 or i64 */
void       hdx_thrift_binary(hdx_thrift *t, int field, const void *bytes, size_t len);
void       hdx_thrift_struct(hdx_thrift *t, int field);
typedef enum hdx_thrift_type { HDX_THRIFT_I32 = 5, HDX_THRIFT_BINARY = 8, HDX_THRIFT_STRUCT = 12 } hdx_thrift_type;
void hdx_thrift_list(hdx_thrift *t, int field, hdx_thrift_type type, uint32_t count);
void hdx_thrift_element(hdx_thrift *t); /* a struct in a list */
void hdx_thrift_element_int(hdx_thrift *t, int32_t value);
void hdx_thrift_element_text(hdx_thrift *t, const char *text);

#endif
