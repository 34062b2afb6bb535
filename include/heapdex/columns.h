/*
 * columns.h - passes the rows of any answer to other programs column by column: as Arrow C streams (read by DuckDB,
 * polars, pandas, pyarrow) and as Parquet files.
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
 * Types of columns in both:
 *     unsigned, signed, address    int64; an address from 2^63 on is negative, as in SQL
 *     real                         double
 *     bool                         boolean
 *     text                         UTF-8; invalid bytes of a dump become U+FFFD. In Arrow, a column
 *                                  of few distinct texts (HDX_COLUMN_FEW) is a dictionary
 *     list, object, any            the value as JSON text, UTF-8
 * Null cells and content that was stripped from the dump are null (inside of JSON {"absent": true}).
 */
#ifndef HEAPDEX_COLUMNS_H
#define HEAPDEX_COLUMNS_H

#include <heapdex/render.h>
#include <heapdex/rows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the Arrow C data and stream interfaces, copied verbatim ---- */
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
 * Turns the remaining rows into an Arrow stream. The stream owns the rows, which are closed on failure, too. The
 * metadata of each field describe its column: heapdex.type, heapdex.unit, heapdex.sentence. Memory of the stream counts
 * in the memory limit of the rows; a batch belongs to the caller when it is returned and no longer counts. get_next
 * returns ENOMEM for HDX_LIMIT, ECANCELED for HDX_CANCELLED and EIO for other errors; get_last_error has the message.
 * hdx_answer_arrow (answer.h) does the same for an answer of a session.
 */
HDX_API hdx_code hdx_rows_arrow(hdx_rows *rows, struct ArrowArrayStream *out, hdx_error *err);

/* ---- Parquet ---- */
typedef enum hdx_parquet_encoding {
    /* numbers as dictionary or DELTA_BINARY_PACKED, whichever is shorter; needs Spark 3.3 or later */
    HDX_PARQUET_DELTA,
    HDX_PARQUET_PLAIN /* numbers as dictionary or PLAIN, which every reader supports */
} hdx_parquet_encoding;

/* An entry of the file's key-value metadata. */
typedef struct hdx_parquet_note {
    const char *key, *value;
} hdx_parquet_note;

typedef struct hdx_parquet_options {
    hdx_parquet_encoding encoding;
    /* in addition to heapdex.version and heapdex.columns, a JSON text with types and units */
    const hdx_parquet_note *notes;
    size_t                  note_count;
} hdx_parquet_options;

/*
 * Writes the remaining rows as one Parquet file: row groups of 1 Mi rows, pages of 128 Ki values compressed by zlib
 * (GZIP), and minimum, maximum and null count of numbers. Equal rows give equal bytes. Returns HDX_LIMIT if a text
 * exceeds the limit of a page, 1 GiB.
 */
HDX_API hdx_code hdx_rows_parquet(hdx_rows *rows, const hdx_parquet_options *options, const hdx_sink *sink,
                                  hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
