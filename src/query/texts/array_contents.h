/*
 * array_contents.h - shared by `strings`, `duplicates` and `arrays`: primitive arrays, and the Strings that use them.
 *
 *   sums.c        distinguishes contents
 *   array_contents.c    one reading of the dump: which Strings use which array, and its content
 *   equal.c       groups of equal contents
 *   strings.c, duplicates.c, arrays.c    the questions
 *
 * Invariants
 *   1. The dump is read once, or twice if Strings use parts of arrays (JDK 5 and 6, Dalvik): the limits of these parts
 *     are known after the first time.
 *   2. What equal.c stores for each array, it stores for the sums of one range at a time: with little memory there are
 *     more ranges, the dump is read once for each, and the answer is the same.
 *   3. No content is stored: an array is processed part by part.
 */
#ifndef HDX_QUERY_ARRAY_CONTENTS_H
#define HDX_QUERY_ARRAY_CONTENTS_H

#include "graph/graph.h"
#include "query/query.h"
#include "query/texts/sums.h"

/* Flags of an array. */
enum {
    HDX_ARRAY_CHARS = 1,  /* the whole text of a String: char[] */
    HDX_ARRAY_LATIN1 = 2, /* byte[], one byte per unit */
    HDX_ARRAY_UTF16 = 4,  /* byte[], two bytes per unit */
    HDX_ARRAY_TEXT = 7,
    HDX_ARRAY_PARTLY = 8,    /* a String uses a part of it */
    HDX_ARRAY_CONSTANT = 16, /* at least two elements, all equal */
    HDX_ARRAY_NARROW = 32,   /* each unit, read as UTF-16, is below 256 */
    HDX_ARRAY_ABSENT = 64    /* the dump lacks its content */
};

/* A String that uses a part of a char[]. */
typedef struct hdx_part_of {
    hdx_id   array, string;
    uint64_t first, units;
    hdx_sum  sum;
} hdx_part_of;

typedef struct hdx_text_counts {
    uint64_t strings; /* in scope */
    uint64_t absent;  /* the dump lacks their text */
    uint64_t unknown; /* of unknown layout */
    uint64_t none;    /* their value is null */
} hdx_text_counts;

typedef struct hdx_array_contents {
    hdx_ask         ask;
    unsigned        types; /* bit t: arrays of this element type have a place */
    unsigned        threads;
    hdx_sum_key     key;
    uint64_t        objects, places; /* places: number of arrays with a place, in the order of ids */
    uint64_t       *bits;            /* bits over ids: the array has a place */
    uint64_t       *before;          /* number of places before each eighth word of `bits` */
    uint32_t       *strings;         /* by place: number of Strings in scope that use the whole array */
    hdx_id         *first;           /* of these the one with the least id; HDX_NO_ID: none */
    uint8_t        *flags;           /* HDX_ARRAY_... */
    uint32_t       *zeros;           /* number of zeros at its end; NULL: not requested */
    hdx_part_of    *parts;           /* sorted by array, first, units, String */
    uint64_t        part_count, part_capacity;
    hdx_text_counts counts;
} hdx_array_contents;

/*
 * Called for each array whose content the dump has, on the worker that read it. sum: of its content, length and type.
 */
typedef hdx_code hdx_array_visit(void *context, unsigned worker, hdx_id array, const hdx_sum *sum, hdx_error *err);

/* Assigns places. hdx_array_contents_close frees them before the question ends. */
hdx_code hdx_array_contents_open(const hdx_query *q, unsigned types, bool zeros, hdx_array_contents *out,
                                 hdx_error *err);
void     hdx_array_contents_close(hdx_array_contents *c);
/* Reads the contents. again: Strings and flags are known from an earlier call. visit NULL: sums are not computed. */
hdx_code hdx_array_contents_read(hdx_array_contents *c, bool again, hdx_array_visit *visit, void *context,
                                 hdx_error *err);
bool     hdx_array_contents_place(const hdx_array_contents *c, hdx_id array, uint64_t *place); /* false: it has none */

/* ---- groups of equal contents ---- */
typedef enum hdx_equal_kind { HDX_EQUAL_ARRAYS, HDX_EQUAL_CHARS, HDX_EQUAL_LATIN1, HDX_EQUAL_UTF16 } hdx_equal_kind;
/* Kind of an array with these flags that Strings use. */
static inline hdx_equal_kind hdx_equal_kind_of(unsigned flags)
{
    return (flags & HDX_ARRAY_CHARS) != 0    ? HDX_EQUAL_CHARS
           : (flags & HDX_ARRAY_LATIN1) != 0 ? HDX_EQUAL_LATIN1
                                             : HDX_EQUAL_UTF16;
}
typedef struct hdx_equal {
    uint64_t wasted;
    hdx_sum  sum;
    hdx_id   id;      /* the String, or array, with the least id */
    uint64_t objects; /* Strings, or arrays */
    uint64_t arrays;  /* number of arrays that these Strings use as a whole, and of which no String uses a part */
    uint64_t length;  /* in units or elements */
    uint8_t  kind;    /* hdx_equal_kind */
    uint8_t  type;    /* of its elements */
} hdx_equal;
typedef struct hdx_equal_totals {
    uint64_t values;     /* number of different values */
    uint64_t objects;    /* Strings, or arrays */
    uint64_t bytes;      /* size of these, and of the arrays of Strings */
    uint64_t duplicates; /* objects that are equal to an earlier one */
    uint64_t wasted;
    uint64_t shared; /* part of it that would be freed if equal Strings shared one array */
} hdx_equal_totals;
typedef struct hdx_equals {
    hdx_equal       *at; /* most wasted first, then by id */
    uint64_t         count, capacity;
    hdx_equal_totals strings, arrays;
} hdx_equals;
/* Finds groups of equal contents. all: include groups of one; texts: Strings only. */
hdx_code hdx_equals_find(hdx_array_contents *c, bool texts, bool all, hdx_equals *out, hdx_error *err);
/*
 * Returns the sizes of one object of the group: of a String without its array, or of an array; and of the array of a
 * String.
 */
void hdx_equal_sizes(const hdx_array_contents *c, const hdx_equal *e, uint64_t *object, uint64_t *array);

/* ---- rows of groups (duplicates.c) ---- */
#define HDX_ALL_TYPES 0xff0u /* boolean .. long */
#define HDX_EQUAL_COLUMNS                                                                                              \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,                                       \
               "java.lang.String, or class of the arrays"),                                                            \
        HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,                      \
                   "text, or printable content of an array"),                                                          \
        HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "number of equal objects"),                             \
        HDX_COLUMN("arrays", UNSIGNED, COUNT, HDX_COLUMN_SPARE | HDX_COLUMN_NULLABLE,                                  \
                   "arrays that contain only the text of these Strings; null for arrays"),                             \
        HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "UTF-16 units of one text, or elements of one array"), \
        HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "total size, including the arrays of Strings"),                        \
        HDX_COLUMN("wasted", UNSIGNED, BYTES, 0, "bytes that would be freed if only one of them remained"),            \
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SPARE, "address of the first of them")
/* Members of the document's `total`. */
#define HDX_EQUAL_TOTALS                                                                                               \
    HDX_COLUMN("strings", UNSIGNED, COUNT, 0, "number of Strings whose text is in the dump"),                          \
        HDX_COLUMN("string_values", UNSIGNED, COUNT, 0, "different texts"),                                            \
        HDX_COLUMN("string_bytes", UNSIGNED, BYTES, 0, "total size of these Strings and their arrays"),                \
        HDX_COLUMN("string_duplicates", UNSIGNED, COUNT, 0, "number of Strings that are equal to an earlier one"),     \
        HDX_COLUMN("string_wasted", UNSIGNED, BYTES, 0, "bytes that would be freed if each text had only one String"), \
        HDX_COLUMN(                                                                                                    \
            "deduplication", UNSIGNED, BYTES, 0,                                                                       \
            "bytes of these that would be freed if equal Strings shared one array, as -XX:+UseStringDeduplication "    \
            "does"),                                                                                                   \
        HDX_COLUMN("absent", UNSIGNED, COUNT, 0, "number of Strings whose text is missing from the dump"),             \
        HDX_COLUMN("unknown", UNSIGNED, COUNT, 0, "number of Strings with an unknown layout"),                         \
        HDX_COLUMN("array_duplicates", UNSIGNED, COUNT, 0,                                                             \
                   "arrays that are equal to an earlier one and do not belong to a String"),                           \
        HDX_COLUMN("array_wasted", UNSIGNED, BYTES, 0, "total size of these arrays")
/*
 * texts, all: as in hdx_equals_find. Arrays and holders fill columns of `duplicates`; with `texts` only Strings are
 * included.
 */
hdx_code hdx_equals_ask(const hdx_query *q, bool texts, bool all, bool holders, hdx_rows **out, hdx_error *err);

/* ---- which class has most of the copies in a group (equal_holders.c) ---- */
typedef struct hdx_equal_holders hdx_equal_holders;
/* Copies of the groups what is needed. */
hdx_code hdx_equal_holders_new(const hdx_array_contents *c, const hdx_equals *groups, hdx_equal_holders **out,
                               hdx_error *err);
/*
 * Fills the column `holder` of rows whose `address` is the id of a group. Takes ownership of h and of the content of c.
 */
hdx_code hdx_equal_holders_fill(hdx_equal_holders *h, hdx_array_contents *c, hdx_rows **rows, hdx_error *err);
/*
 * Returns the first copy in one group to which the class refers; the group's id if there is none. Takes ownership of
 * the content of c.
 */
hdx_code hdx_equal_holders_copy(hdx_equal_holders *h, hdx_array_contents *c, hdx_id group, hdx_id *out, hdx_error *err);

#endif
