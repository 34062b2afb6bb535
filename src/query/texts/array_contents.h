/*
 * array_contents.h - what `strings`, `duplicates` and `arrays` share: primitive arrays, and the Strings whose text they
 * hold.
 *
 *   sums.c        contents told apart
 *   array_contents.c    one reading of the dump: which Strings use which array, and what is in it
 *   equal.c       groups of equal contents
 *   strings.c, duplicates.c, arrays.c    the questions
 *
 * Invariants
 *   1. The dump is read once, and twice where Strings show parts of arrays (JDK 5 and 6, Dalvik): where these begin and
 *      end is known after the first time.
 *   2. What equal.c holds for each array it holds for the sums of one range at a time: where memory is short there are
 *      more ranges, the dump is read once for each, and the answer is the same.
 *   3. No content is held: an array is looked at part by part.
 */
#ifndef HDX_QUERY_ARRAY_CONTENTS_H
#define HDX_QUERY_ARRAY_CONTENTS_H

#include "graph/graph.h"
#include "query/query.h"
#include "query/texts/sums.h"

/* Of an array. */
enum {
    HDX_ARRAY_CHARS = 1,  /* a String shows all of it: char[] */
    HDX_ARRAY_LATIN1 = 2, /* byte[], a unit each */
    HDX_ARRAY_UTF16 = 4,  /* byte[], two for a unit */
    HDX_ARRAY_TEXT = 7,
    HDX_ARRAY_PARTLY = 8,    /* a String shows a part of it */
    HDX_ARRAY_CONSTANT = 16, /* two elements or more, all the same */
    HDX_ARRAY_NARROW = 32,   /* seen as UTF-16 each unit is below 256 */
    HDX_ARRAY_ABSENT = 64    /* the dump does not have its content */
};

/* A String that shows a part of a char[]. */
typedef struct hdx_part_of {
    hdx_id   array, string;
    uint64_t first, units;
    hdx_sum  sum;
} hdx_part_of;

typedef struct hdx_text_counts {
    uint64_t strings; /* in scope */
    uint64_t absent;  /* their text is not in the dump */
    uint64_t unknown; /* of no known layout */
    uint64_t none;    /* without a value */
} hdx_text_counts;

typedef struct hdx_array_contents {
    hdx_ask         ask;
    unsigned        types; /* bit t: arrays of that element type have places */
    unsigned        threads;
    hdx_sum_key     key;
    uint64_t        objects, places; /* places: of arrays, in the order of ids */
    uint64_t       *bits;            /* over ids: has a place */
    uint64_t       *before;          /* places before each eighth word of `bits` */
    uint32_t       *strings;         /* by place: Strings in scope that show all of it */
    hdx_id         *first;           /* the one of least id; HDX_NO_ID */
    uint8_t        *flags;           /* HDX_ARRAY_... */
    uint32_t       *zeros;           /* at its end; NULL: nobody asked */
    hdx_part_of    *parts;           /* by array, first, units, String */
    uint64_t        part_count, part_capacity;
    hdx_text_counts counts;
} hdx_array_contents;

/* Called for each array whose content is there, on the worker that read it; sum: of it, its length and its type. */
typedef hdx_code hdx_array_visit(void *context, unsigned worker, hdx_id array, const hdx_sum *sum, hdx_error *err);

/* Finds places. hdx_array_contents_close gives them back before the question ends. */
hdx_code hdx_array_contents_open(const hdx_query *q, unsigned types, bool zeros, hdx_array_contents *out,
                                 hdx_error *err);
void     hdx_array_contents_close(hdx_array_contents *c);
/* again: Strings and flags are known from an earlier time. visit may be NULL: no sums are made. */
hdx_code hdx_array_contents_read(hdx_array_contents *c, bool again, hdx_array_visit *visit, void *context,
                                 hdx_error *err);
bool     hdx_array_contents_place(const hdx_array_contents *c, hdx_id array, uint64_t *place); /* false: it has none */

/* ---- groups of equal contents ---- */
typedef enum hdx_equal_kind { HDX_EQUAL_ARRAYS, HDX_EQUAL_CHARS, HDX_EQUAL_LATIN1, HDX_EQUAL_UTF16 } hdx_equal_kind;
/* Of an array with these flags that Strings show. */
static inline hdx_equal_kind hdx_equal_kind_of(unsigned flags)
{
    return (flags & HDX_ARRAY_CHARS) != 0    ? HDX_EQUAL_CHARS
           : (flags & HDX_ARRAY_LATIN1) != 0 ? HDX_EQUAL_LATIN1
                                             : HDX_EQUAL_UTF16;
}
typedef struct hdx_equal {
    uint64_t wasted;
    hdx_sum  sum;
    hdx_id   id;      /* of the String, or array, of least id */
    uint64_t objects; /* Strings, or arrays */
    uint64_t arrays;  /* that these Strings show all of, and that no String shows a part of */
    uint64_t length;  /* units, or elements */
    uint8_t  kind;    /* hdx_equal_kind */
    uint8_t  type;    /* of elements */
} hdx_equal;
typedef struct hdx_equal_totals {
    uint64_t values;     /* different ones */
    uint64_t objects;    /* Strings, or arrays */
    uint64_t bytes;      /* of these, and of the arrays of Strings */
    uint64_t duplicates; /* objects that are as one before them */
    uint64_t wasted;
    uint64_t shared; /* of that what is freed where equal Strings share one array */
} hdx_equal_totals;
typedef struct hdx_equals {
    hdx_equal       *at; /* most wasted first, then by id */
    uint64_t         count, capacity;
    hdx_equal_totals strings, arrays;
} hdx_equals;
/* all: groups of one, too; texts: Strings alone. */
hdx_code hdx_equals_find(hdx_array_contents *c, bool texts, bool all, hdx_equals *out, hdx_error *err);
/* Bytes of one of the group: a String without its array, or an array; and of the array of a String. */
void hdx_equal_sizes(const hdx_array_contents *c, const hdx_equal *e, uint64_t *object, uint64_t *array);

/* ---- rows of groups (duplicates.c) ---- */
#define HDX_ALL_TYPES 0xff0u /* boolean .. long */
#define HDX_EQUAL_COLUMNS                                                                                              \
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,                                       \
               "java.lang.String, or that of arrays"),                                                                 \
        HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,                      \
                   "the text, or what can be printed of an array"),                                                    \
        HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "how many are equal"),                                               \
        HDX_COLUMN("arrays", UNSIGNED, COUNT, HDX_COLUMN_SPARE | HDX_COLUMN_NULLABLE,                                  \
                   "arrays that hold the text of these Strings and nothing else; null for arrays"),                    \
        HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "characters (UTF-16 units) of one, or elements"),      \
        HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "size of all of them, arrays of Strings included"),                    \
        HDX_COLUMN("wasted", UNSIGNED, BYTES, 0, "what would be free if there were one of them"),                      \
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SPARE, "the first of them")
/* Members of the document's `total`. */
#define HDX_EQUAL_TOTALS                                                                                               \
    HDX_COLUMN("strings", UNSIGNED, COUNT, 0, "those whose text the dump has"),                                        \
        HDX_COLUMN("string_values", UNSIGNED, COUNT, 0, "different texts"),                                            \
        HDX_COLUMN("string_bytes", UNSIGNED, BYTES, 0, "size of these Strings and their arrays"),                      \
        HDX_COLUMN("string_duplicates", UNSIGNED, COUNT, 0, "those that are as another before them"),                  \
        HDX_COLUMN("string_wasted", UNSIGNED, BYTES, 0, "what would be free if there were one String for each text"),  \
        HDX_COLUMN(                                                                                                    \
            "deduplication", UNSIGNED, BYTES, 0,                                                                       \
            "what of that would be free if equal Strings shared one array, as -XX:+UseStringDeduplication does"),      \
        HDX_COLUMN("absent", UNSIGNED, COUNT, 0, "those whose text is not in the dump"),                               \
        HDX_COLUMN("unknown", UNSIGNED, COUNT, 0, "those of no known layout"),                                         \
        HDX_COLUMN("array_duplicates", UNSIGNED, COUNT, 0,                                                             \
                   "arrays that are as another before them and are no String's"),                                      \
        HDX_COLUMN("array_wasted", UNSIGNED, BYTES, 0, "their size")
/* texts, all: as hdx_equals_find; arrays and holders go into columns of `duplicates`, texts alone into these. */
hdx_code hdx_equals_ask(const hdx_query *q, bool texts, bool all, bool holders, hdx_rows **out, hdx_error *err);

/* ---- which class has most of the copies in a group (equal_holders.c) ---- */
typedef struct hdx_equal_holders hdx_equal_holders;
/* Groups are copied as far as they are needed. */
hdx_code hdx_equal_holders_new(const hdx_array_contents *c, const hdx_equals *groups, hdx_equal_holders **out,
                               hdx_error *err);
/* Fills the column `holder` of rows whose `address` is the id of a group. Takes h and what c has over. */
hdx_code hdx_equal_holders_fill(hdx_equal_holders *h, hdx_array_contents *c, hdx_rows **rows, hdx_error *err);
/* Of one group, the first copy that the class refers to; the group's id where nothing does. Takes what c has over. */
hdx_code hdx_equal_holders_copy(hdx_equal_holders *h, hdx_array_contents *c, hdx_id group, hdx_id *out, hdx_error *err);

#endif
