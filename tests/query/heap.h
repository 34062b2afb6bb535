/*
 * heap.h - a heap for one test: a dump of a dump_maker, its index, an open graph, and rows as text to compare with.
 *
 *     dump_maker *m = dump_maker_new(8);
 *     ...
 *     heap h;
 *     heap_open(&h, m);                                          takes the maker over
 *     hdx_query_roots(&h.q, HDX_BY_NONE, &rows, &err);
 *     expect_rows(rows, "0x40,app.Node,-,SYSTEM_CLASS,-\n");      closes the rows
 *     heap_close(&h);
 *
 * A row is its cells with commas between them: null is -, absent is !, texts are bare, reals have two decimals, lists
 * [a b], objects {key=a key=b}.
 */
#ifndef HDX_TESTS_QUERY_HEAP_H
#define HDX_TESTS_QUERY_HEAP_H

#include "support/questions.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/tables.h"
#include "base/base.h"
#include "hprof/hprof.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct heap {
    char       folder[TEST_FOLDER], dump[128], index[128];
    hdx_graph *g;
    hdx_query  q;
    hdx_error  err;
} heap;

static inline void heap_open(heap *h, dump_maker *m)
{
    hdx_index_report report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "query");
    snprintf(h->dump, sizeof h->dump, "%s/a.hprof", h->folder);
    snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    dump_maker_save(m, h->dump);
    dump_maker_free(m);
    hdx_index_options options = { .dump = h->dump, .index_dir = h->index, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, h->dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 2 };
}

static inline void heap_close(heap *h)
{
    hdx_graph_close(h->g);
    test_folder_remove(h->folder);
}

static inline hdx_id id_at(const heap *h, hdx_addr address)
{
    hdx_id id = HDX_NO_ID;
    cr_assert(hdx_graph_find(h->g, address, &id), "no object at 0x%llx", (unsigned long long)address);
    return id;
}

static inline void put_cell(hdx_buffer *b, const hdx_cell *c)
{
    switch (c->kind) {
    case HDX_CELL_NULL: hdx_buffer_text(b, "-"); break;
    case HDX_CELL_INT: hdx_buffer_format(b, "%lld", (long long)c->as.integer); break;
    case HDX_CELL_UINT: hdx_buffer_format(b, "%llu", (unsigned long long)c->as.natural); break;
    case HDX_CELL_REAL: hdx_buffer_format(b, "%.2f", c->as.real); break;
    case HDX_CELL_BOOL: hdx_buffer_text(b, c->as.boolean ? "true" : "false"); break;
    case HDX_CELL_TEXT: hdx_buffer_put(b, c->as.text.at, c->as.text.len); break;
    case HDX_CELL_ADDRESS: hdx_buffer_format(b, "0x%llx", (unsigned long long)c->as.address); break;
    case HDX_CELL_ABSENT: hdx_buffer_text(b, "!"); break;
    case HDX_CELL_LIST:
        hdx_buffer_text(b, "[");
        for (uint64_t i = 0; i < c->as.list.count; i++) {
            hdx_buffer_text(b, i == 0 ? "" : " ");
            put_cell(b, &c->as.list.at[i]);
        }
        hdx_buffer_text(b, "]");
        break;
    case HDX_CELL_OBJECT:
        hdx_buffer_text(b, "{");
        for (uint64_t i = 0; i < c->as.object.count; i++) {
            hdx_buffer_format(b, "%s%s=", i == 0 ? "" : " ", c->as.object.at[i].key);
            put_cell(b, &c->as.object.at[i].value);
        }
        hdx_buffer_text(b, "}");
        break;
    }
}

/* All rows as text; free with hdx_buffer_free. */
static inline hdx_buffer rows_text(hdx_rows *rows)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    unsigned        n;
    const hdx_cell *cells;
    hdx_error       err;
    (void)hdx_rows_columns(rows, &n);
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &cells))
        for (unsigned i = 0; i < n; i++) {
            put_cell(&b, &cells[i]);
            hdx_buffer_text(&b, i + 1 == n ? "\n" : ",");
        }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    return b;
}

static inline const hdx_cell *extra(const hdx_rows *rows, const char *key)
{
    const hdx_member *m;
    for (unsigned i = 0; (m = hdx_rows_extra(rows, i)) != NULL && m->key != NULL; i++)
        if (strcmp(m->key, key) == 0)
            return &m->value;
    cr_assert(false, "no extra %s", key);
    return NULL;
}

#define expect_rows(rows, want)                                                                                        \
    do {                                                                                                               \
        hdx_rows  *rows_ = rows;                                                                                       \
        hdx_buffer text_ = rows_text(rows_);                                                                           \
        cr_expect(eq(str, text_.at == NULL ? (char *)"" : text_.at, (char *)want));                                    \
        hdx_buffer_free(&text_);                                                                                       \
        hdx_rows_close(rows_);                                                                                         \
    } while (0)

#define expect_extra(rows, key, want)                                                                                  \
    do {                                                                                                               \
        hdx_buffer text_ = hdx_buffer_of(NULL);                                                                        \
        put_cell(&text_, extra(rows, key));                                                                            \
        cr_expect(eq(str, text_.at, (char *)want));                                                                    \
        hdx_buffer_free(&text_);                                                                                       \
    } while (0)

#define ok(call) cr_assert(eq(int, (call), HDX_OK), "%s", h.err.message)

#endif
