/*
 * arrow_reader.h - what the Arrow C data interface asks of a schema and of an array, and whether a value is that of a
 * cell; for tests. What is not so is a failed test.
 */
#ifndef HDX_TESTS_COLUMNS_ARROW_READER_H
#define HDX_TESTS_COLUMNS_ARROW_READER_H

#include "render/render.h"
#include <heapdex/columns.h>

#include <criterion/criterion.h>

/* ---- what the interface asks of an array ---- */

static inline bool arrow_is_valid(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *bits = a->buffers[0];
    return bits == NULL || (bits[i / 8] >> i % 8 & 1) != 0;
}

static inline void arrow_check_array(const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    const char   *format = schema->dictionary != NULL ? "i" : schema->format;
    const int64_t buffers = strcmp(format, "+s") == 0 ? 1 : strcmp(format, "U") == 0 ? 3 : 2;
    int64_t       nulls = 0;
    cr_assert(a->release != NULL && a->length >= 0 && a->offset == 0 && a->n_buffers == buffers);
    cr_assert(a->n_children == schema->n_children);
    for (int64_t i = 0; i < buffers; i++)
        cr_assert((uintptr_t)a->buffers[i] % 8 == 0);
    for (int64_t i = 0; i < a->length; i++)
        nulls += !arrow_is_valid(a, i);
    cr_assert(nulls == a->null_count);
    cr_assert(nulls == 0 || (schema->flags & ARROW_FLAG_NULLABLE) != 0, "%s", schema->name);
    if (strcmp(format, "U") == 0) {
        const int64_t *offsets = a->buffers[1];
        const char    *bytes = a->buffers[2];
        cr_assert(offsets[0] == 0 && bytes != NULL);
        for (int64_t i = 0; i < a->length; i++) {
            hdx_buffer again = hdx_buffer_of(NULL);
            cr_assert(offsets[i + 1] >= offsets[i]);
            const size_t len = (size_t)(offsets[i + 1] - offsets[i]);
            hdx_render_utf8(&again, bytes + offsets[i], len); /* what is valid stays as it is */
            cr_assert(again.len == len && (len == 0 || memcmp(again.at, bytes + offsets[i], len) == 0));
            hdx_buffer_free(&again);
        }
    }
    if (schema->dictionary == NULL) {
        cr_assert(a->dictionary == NULL);
        return;
    }
    cr_assert(a->dictionary != NULL);
    arrow_check_array(schema->dictionary, a->dictionary);
    for (int64_t i = 0; i < a->length; i++)
        cr_assert(!arrow_is_valid(a, i) || (((const int32_t *)a->buffers[1])[i] >= 0 &&
                                            ((const int32_t *)a->buffers[1])[i] < a->dictionary->length));
}

static inline void arrow_check_schema(const struct ArrowSchema *schema, const hdx_column *columns, unsigned count)
{
    static const char *const formats[] = {
        [HDX_TYPE_UNSIGNED] = "l", [HDX_TYPE_SIGNED] = "l", [HDX_TYPE_REAL] = "g",
        [HDX_TYPE_BOOL] = "b",     [HDX_TYPE_TEXT] = "U",   [HDX_TYPE_ADDRESS] = "l",
        [HDX_TYPE_LIST] = "U",     [HDX_TYPE_OBJECT] = "U", [HDX_TYPE_ANY] = "U",
    };
    cr_assert(schema->release != NULL && strcmp(schema->format, "+s") == 0 && schema->n_children == count);
    for (unsigned i = 0; i < count; i++) {
        const struct ArrowSchema *c = schema->children[i];
        const bool                few = (columns[i].flags & HDX_COLUMN_FEW) != 0;
        int32_t                   pairs;
        cr_assert(c->release != NULL && strcmp(c->name, columns[i].name) == 0);
        cr_assert(strcmp(c->format, few ? "i" : formats[columns[i].type]) == 0, "%s", c->name);
        cr_assert((c->dictionary != NULL) == few && (!few || strcmp(c->dictionary->format, "U") == 0));
        memcpy(&pairs, c->metadata, 4);
        cr_assert(pairs == (columns[i].unit == HDX_UNIT_NONE ? 2 : 3));
        cr_assert(memcmp(c->metadata + 4, "\14\0\0\0heapdex.type", 16) == 0);
    }
}

/* ---- values ---- */

static inline void arrow_expect_cell(const struct ArrowArray *a, int64_t i, const hdx_column *column,
                                     const hdx_cell *want)
{
    const bool plain = column->type != HDX_TYPE_LIST && column->type != HDX_TYPE_OBJECT && column->type != HDX_TYPE_ANY;
    hdx_buffer text = hdx_buffer_of(NULL);
    double     real;
    cr_assert(arrow_is_valid(a, i) == (want->kind != HDX_CELL_NULL && !(plain && want->kind == HDX_CELL_ABSENT)), "%s",
              column->name);
    if (!arrow_is_valid(a, i))
        return;
    if (column->type == HDX_TYPE_BOOL) {
        cr_assert((((const uint8_t *)a->buffers[1])[i / 8] >> i % 8 & 1) == want->as.boolean);
    } else if (column->type == HDX_TYPE_REAL) {
        memcpy(&real, (const uint64_t *)a->buffers[1] + i, 8);
        cr_assert(real == want->as.real);
    } else if (column->type == HDX_TYPE_TEXT || !plain) {
        const int64_t at = a->dictionary != NULL ? ((const int32_t *)a->buffers[1])[i] : i;
        a = a->dictionary != NULL ? a->dictionary : a;
        const int64_t *offsets = a->buffers[1];
        if (column->type == HDX_TYPE_TEXT)
            hdx_render_utf8(&text, want->as.text.at, want->as.text.len);
        else
            hdx_render_json_cell(&text, want);
        cr_assert((uint64_t)(offsets[at + 1] - offsets[at]) == text.len, "%s", column->name);
        cr_assert(text.len == 0 || memcmp((const char *)a->buffers[2] + offsets[at], text.at, text.len) == 0);
    } else {
        cr_assert(((const uint64_t *)a->buffers[1])[i] == want->as.natural, "%s", column->name);
    }
    hdx_buffer_free(&text);
}

#endif
