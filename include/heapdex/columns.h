/*
 * columns.h - the rows of any answer column by column, for other programs: Arrow C streams (DuckDB, polars, pandas,
 * pyarrow read them) and Parquet files.
 *
 * Example (examples/arrow.c):
 *     const hdx_argument      columns = { "columns", "class,objects,shallow" };
 *     struct ArrowArrayStream stream;
 *     struct ArrowArray       batch;
 *     hdx_code                code = hdx_answer_arrow(session, "histogram", &columns, 1, &stream, &err);
 *     if (code != HDX_OK)
 *         return fprintf(stderr, "%s\n", err.message);
 *     while ((failed = stream.get_next(&stream, &batch)) == 0 && batch.release != NULL) {
 *         const int64_t *objects = batch.children[1]->buffers[1];
 *         printf("%" PRId64 " rows, %" PRId64 " objects of the first class\n", batch.length, objects[0]);
 *         batch.release(&batch);
 *     }
 *     if (failed != 0)
 *         fprintf(stderr, "%s\n", stream.get_last_error(&stream));
 *     stream.release(&stream);
 *
 * What a column is, in both:
 *     unsigned, signed, address    int64; an address from 2^63 on is negative, as in SQL
 *     real                         double
 *     bool                         boolean
 *     text                         UTF-8; what is none in a dump is U+FFFD. A column of few texts
 *                                  (HDX_COLUMN_FEW) is a dictionary of them in Arrow
 *     list, object, any            the value as JSON, UTF-8
 * Null is null, and so is what a stripped dump lacks (inside of JSON it is {"absent": true}).
 */
#ifndef HEAPDEX_COLUMNS_H
#define HEAPDEX_COLUMNS_H

#include <heapdex/render.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the Arrow C data and stream interfaces, word for word ---- */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4
struct ArrowSchema {
    const char          *format;
    const char          *name;
    const char          *metadata;
    int64_t              flags;
    int64_t              n_children;
    struct ArrowSchema **children;
    struct ArrowSchema  *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t             length;
    int64_t             null_count;
    int64_t             offset;
    int64_t             n_buffers;
    int64_t             n_children;
    const void        **buffers;
    struct ArrowArray **children;
    struct ArrowArray  *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/*
 * All rows that are left as a stream, which owns them from here on (closed on failure, too). Fields carry what is
 * declared of their column as metadata: heapdex.type, heapdex.unit, heapdex.sentence. What a stream works with counts
 * in the budget of the rows; a batch that was handed out is the caller's, and counts no more. get_next gives ENOMEM for
 * HDX_LIMIT, ECANCELED for HDX_CANCELLED, EIO for the rest, with the words in get_last_error. hdx_answer_arrow
 * (answer.h) is this for an answer of a session.
 */
HDX_API hdx_code hdx_rows_arrow(hdx_rows *rows, struct ArrowArrayStream *out, hdx_error *err);

/* ---- Parquet ---- */
typedef enum hdx_parquet_encoding {
    HDX_PARQUET_DELTA, /* numbers as dictionary or DELTA_BINARY_PACKED, whichever is shorter: Spark from 3.3 on */
    HDX_PARQUET_PLAIN  /* as dictionary or PLAIN, which any reader knows */
} hdx_parquet_encoding;

typedef struct hdx_parquet_note { /* of the file's key-value metadata */
    const char *key, *value;
} hdx_parquet_note;

typedef struct hdx_parquet_options {
    hdx_parquet_encoding    encoding;
    const hdx_parquet_note *notes; /* beside heapdex.version and heapdex.columns, a JSON text of types and units */
    size_t                  note_count;
} hdx_parquet_options;

/*
 * Writes all rows that are left as one Parquet file: row groups of 1 Mi rows, pages of 128 Ki values packed by zlib
 * (GZIP), least, greatest and count of nulls of numbers. The same rows give the same bytes. HDX_LIMIT: a text longer
 * than a page may be, 1 GiB.
 */
HDX_API hdx_code hdx_rows_parquet(hdx_rows *rows, const hdx_parquet_options *options, const hdx_sink *sink,
                                  hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
