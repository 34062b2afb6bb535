/*
 * asks.h - questions of a session in a line, and their answers as text.
 *
 *     json histogram by=class limit=20         a format, an answer, its arguments; NAME alone has no value, a + in a
 *                                              value is a blank
 *     rows info                                title, rows and extras, each cell as it is, without a format
 *
 * What is refused is text too: code, place, offset, message, hint.
 */
#ifndef HDX_TESTS_ANSWER_ASKS_H
#define HDX_TESTS_ANSWER_ASKS_H

#include "answer/answer.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct asked {
    char         words[512];
    const char  *format, *name;
    hdx_argument at[16];
    size_t       count;
} asked;

static inline void asked_read(asked *a, const char *ask)
{
    (void)snprintf(a->words, sizeof a->words, "%s", ask);
    a->format = strtok(a->words, " ");
    a->name = strtok(NULL, " ");
    a->count = 0;
    for (char *word; (word = strtok(NULL, " ")) != NULL; a->count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *at = value; at != NULL && (at = strchr(at, '+')) != NULL;)
            *at = ' ';
        cr_assert(a->count < 16);
        a->at[a->count] = (hdx_argument){ word, value };
    }
    cr_assert(a->name != NULL, "%s", ask);
}

static inline bool asked_put(void *to, const char *bytes, size_t len)
{
    hdx_buffer_put(to, bytes, len);
    return true;
}

static inline void asked_cell(hdx_buffer *b, const hdx_cell *c)
{
    switch (c->kind) {
    case HDX_CELL_NULL: hdx_buffer_text(b, "null"); break;
    case HDX_CELL_INT: hdx_buffer_format(b, "%lld", (long long)c->as.integer); break;
    case HDX_CELL_UINT: hdx_buffer_format(b, "%llu", (unsigned long long)c->as.natural); break;
    case HDX_CELL_REAL: hdx_buffer_format(b, "%.6f", c->as.real); break;
    case HDX_CELL_BOOL: hdx_buffer_text(b, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_TEXT: hdx_buffer_format(b, "'%.*s'", (int)c->as.text.len, c->as.text.at); break;
    case HDX_CELL_ADDRESS: hdx_buffer_format(b, "0x%llx", (unsigned long long)c->as.address); break;
    case HDX_CELL_ABSENT: hdx_buffer_text(b, "absent"); break;
    case HDX_CELL_LIST:
        hdx_buffer_text(b, "[");
        for (uint64_t i = 0; i < c->as.list.count; i++) {
            hdx_buffer_text(b, i > 0 ? ", " : "");
            asked_cell(b, &c->as.list.at[i]);
        }
        hdx_buffer_text(b, "]");
        break;
    case HDX_CELL_OBJECT:
        hdx_buffer_text(b, "{");
        for (uint64_t i = 0; i < c->as.object.count; i++) {
            hdx_buffer_format(b, "%s%s: ", i > 0 ? ", " : "", c->as.object.at[i].key);
            asked_cell(b, &c->as.object.at[i].value);
        }
        hdx_buffer_text(b, "}");
        break;
    }
}

static inline hdx_code asked_rows(hdx_rows *rows, hdx_buffer *b, hdx_error *err)
{
    unsigned        count;
    const hdx_cell *cells;
    const char     *title = hdx_rows_title(rows);
    (void)hdx_rows_columns(rows, &count);
    hdx_buffer_format(b, "%s\n", title != NULL ? title : "-");
    while (hdx_rows_next(rows, &cells)) {
        for (unsigned i = 0; i < count; i++) {
            hdx_buffer_text(b, i > 0 ? ", " : "");
            asked_cell(b, &cells[i]);
        }
        hdx_buffer_text(b, "\n");
    }
    for (unsigned i = 0; hdx_rows_head(rows, i)->key != NULL; i++) {
        hdx_buffer_format(b, "%s: ", hdx_rows_head(rows, i)->key);
        asked_cell(b, &hdx_rows_head(rows, i)->value);
        hdx_buffer_text(b, "\n");
    }
    for (unsigned i = 0; hdx_rows_extra(rows, i)->key != NULL; i++) {
        hdx_buffer_format(b, "%s: ", hdx_rows_extra(rows, i)->key);
        asked_cell(b, &hdx_rows_extra(rows, i)->value);
        hdx_buffer_text(b, "\n");
    }
    return hdx_rows_end(rows, err);
}

/* HDX_OK, or what was said. */
static inline hdx_code asked_text(hdx_session *s, const char *ask, hdx_buffer *b)
{
    asked     a;
    hdx_rows *rows = NULL;
    hdx_error err = { .offset = HDX_NOWHERE };
    hdx_sink  sink = { asked_put, b };
    asked_read(&a, ask);
    hdx_code code = HDX_OK;
    if (strcmp(a.format, "schema") == 0) {
        char *text = NULL;
        code = hdx_answer_schema(hdx_answer_named(a.name), a.at, a.count, &text, &err);
        hdx_buffer_text(b, text != NULL ? text : "");
        hdx_text_free(text);
    } else if ((code = hdx_answer_run(s, a.name, a.at, a.count, &rows, &err)) == HDX_OK && rows == NULL) {
        hdx_buffer_text(b, "no rows\n");
    } else if (code == HDX_OK && strcmp(a.format, "rows") == 0) {
        code = asked_rows(rows, b, &err);
    } else if (code == HDX_OK) {
        const hdx_render_options options = { .format = strcmp(a.format, "json") == 0    ? HDX_FORMAT_JSON
                                                       : strcmp(a.format, "jsonl") == 0 ? HDX_FORMAT_JSONL
                                                       : strcmp(a.format, "tsv") == 0   ? HDX_FORMAT_TSV
                                                       : strcmp(a.format, "csv") == 0   ? HDX_FORMAT_CSV
                                                                                        : HDX_FORMAT_TABLE };
        code = hdx_render(rows, &options, &sink, &err);
    }
    if (code != HDX_OK) {
        cr_expect(err.code == code, "%s", ask);
        hdx_buffer_format(b, "%s '%s' %lld %s\n%s\n", hdx_code_name(code), err.where,
                          err.offset == HDX_NOWHERE ? -1ll : (long long)err.offset, err.message, err.hint);
    }
    hdx_rows_close(rows);
    return code;
}

#endif
