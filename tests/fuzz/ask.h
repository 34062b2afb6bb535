/*
 * ask.h - asks an open graph the questions that there are, reads every row of every answer to its end, and says what
 * the answer was.
 */
#ifndef HDX_TESTS_FUZZ_ASK_H
#define HDX_TESTS_FUZZ_ASK_H

#include "support/questions.h"
#include "support/tables.h"
#include <heapdex/heapdex.h>

typedef struct answer {
    hdx_code code;
    uint64_t rows, sum; /* two equal answers have equal sums */
} answer;

enum { ASK_OBJECTS = 8, ASK_QUESTIONS = 47 };

static inline void ask_add(answer *a, uint64_t n) { a->sum = (a->sum ^ n) * 0x9e3779b97f4a7c15ull + (a->sum >> 29); }

static inline void ask_text(answer *a, const char *at, uint64_t len)
{
    ask_add(a, len);
    for (uint64_t i = 0; i < len; i++)
        ask_add(a, (uint8_t)at[i]);
}

static inline void ask_cell(answer *a, const hdx_cell *c) /* as deep as answers are, not as heaps are */
{
    ask_add(a, c->kind);
    switch (c->kind) {
    case HDX_CELL_NULL:
    case HDX_CELL_ABSENT: break;
    case HDX_CELL_INT: ask_add(a, (uint64_t)c->as.integer); break;
    case HDX_CELL_UINT: ask_add(a, c->as.natural); break;
    case HDX_CELL_REAL: {
        union {
            double   real;
            uint64_t bits;
        } u = { c->as.real };
        ask_add(a, u.bits);
        break;
    }
    case HDX_CELL_BOOL: ask_add(a, c->as.boolean); break;
    case HDX_CELL_TEXT: ask_text(a, c->as.text.at, c->as.text.len); break;
    case HDX_CELL_ADDRESS: ask_add(a, c->as.address); break;
    case HDX_CELL_LIST:
        for (uint64_t i = 0; i < c->as.list.count; i++)
            ask_cell(a, &c->as.list.at[i]);
        break;
    case HDX_CELL_OBJECT:
        for (uint64_t i = 0; i < c->as.object.count; i++)
            ask_cell(a, &c->as.object.at[i].value);
        break;
    }
}

/*
 * Reads the rows to their end and closes them. The address of rows: code and rows stand in one call, and nobody says
 * which comes first.
 */
static inline answer ask_rows(hdx_code code, hdx_rows *const *of)
{
    hdx_rows         *rows;
    answer            a = { code, 0, 0 };
    const hdx_cell   *cells;
    const hdx_member *m;
    unsigned          columns;
    hdx_error         err;
    if (code != HDX_OK)
        return a;
    rows = *of;
    (void)hdx_rows_columns(rows, &columns);
    while (hdx_rows_next(rows, &cells)) {
        a.rows++;
        for (unsigned i = 0; i < columns; i++)
            ask_cell(&a, &cells[i]);
    }
    a.code = hdx_rows_end(rows, &err);
    for (unsigned i = 0; a.code == HDX_OK && (m = hdx_rows_extra(rows, i)) != NULL && m->key != NULL; i++)
        ask_cell(&a, &m->value);
    hdx_rows_close(rows);
    return a;
}

/* Some objects of the graph, spread over its ids: the first, the last and what lies between. */
static inline size_t ask_objects(const hdx_graph *g, hdx_id *ids)
{
    uint64_t n = hdx_graph_objects(g);
    size_t   count = 0;
    for (uint64_t i = 0; i < ASK_OBJECTS && i < n; i++)
        ids[count++] = n <= ASK_OBJECTS ? i : i * ((n - 1) / (ASK_OBJECTS - 1));
    return count;
}

/* The objects' numbers one by one, and what their cursors give: the interface below the questions. */
static inline answer ask_graph(hdx_graph *g, hdx_refs_scope scope)
{
    answer    a = { HDX_OK, 0, 0 };
    hdx_id    ids[ASK_OBJECTS], to;
    size_t    n = ask_objects(g, ids);
    hdx_refs  refs;
    hdx_error err;
    for (size_t i = 0; i < n; i++) {
        char  *text = NULL;
        size_t len;
        bool   whole, is_string;
        ask_add(&a, hdx_graph_address(g, ids[i]));
        ask_add(&a, hdx_graph_shallow(g, ids[i]));
        ask_add(&a, hdx_graph_retained(g, ids[i]));
        ask_add(&a, hdx_graph_dominator(g, ids[i]));
        ask_add(&a, hdx_graph_nearest(g, ids[i]));
        for (unsigned way = 0; way < 3; way++) {
            if (way == 0)
                hdx_graph_outbound(g, ids[i], scope, &refs);
            else if (way == 1)
                hdx_graph_inbound(g, ids[i], scope, &refs);
            else
                hdx_graph_dominated(g, ids[i], &refs);
            while (hdx_refs_next(&refs, &to))
                ask_add(&a, to);
        }
        ask_add(&a, hdx_graph_outbound_count(g, ids[i], scope) + 3 * hdx_graph_inbound_count(g, ids[i], scope));
        if (hdx_graph_string(g, ids[i], 1000, &text, &len, &whole, &is_string, &err) == HDX_OK && is_string)
            ask_text(&a, text, len);
        hdx_text_free(text);
    }
    a.code = hdx_graph_check(g, &err);
    return a;
}

/* Leaks by each finder; what is in reach of a dump's bytes is there: the index, its columns, and the dump itself. */
static inline answer ask_leaks(hdx_graph *g, hdx_leak_finder finder)
{
    static const char *const every[] = { "*" };
    hdx_leaks_options        o = {
               .finder = finder,
               .classes = every,
               .class_count = 1,
               .retained = true,
               .threads = 1,
               .no_memory_of_it = true,
    };
    hdx_leaks *leaks;
    hdx_rows  *rows = NULL;
    hdx_error  err;
    hdx_code   code = hdx_leaks_search(g, &o, &leaks, &err);
    if (code != HDX_OK)
        return (answer){ code, 0, 0 };
    code = hdx_leaks_rows((const hdx_leaks *const *)&leaks, NULL, 1, true, &rows, &err);
    answer a = ask_rows(code, &rows);
    hdx_leaks_free(leaks);
    return a;
}

/* What the names of fields decide; by NULL: a row for each. */
static inline answer ask_declared(const hdx_query *q, const hdx_question *question, const char *by)
{
    const hdx_argument  argument = { "by", by };
    const hdx_arguments a = { &question->declared, &argument, by != NULL };
    hdx_rows           *rows = NULL;
    hdx_error           err;
    return ask_rows(hdx_question_open(question, q, &a, &rows, &err), &rows);
}

/* Question 0 .. ASK_QUESTIONS - 1. */
static inline answer ask(hdx_graph *g, unsigned question, hdx_refs_scope scope)
{
    static const char *const tables[] = { "objects", "references", "named_references", "classes", "loaders",
                                          "roots",   "threads",    "packages",         "dump" };
    static const char *const named[] = { "class:java.lang.Object", "thread:main", "#3", "0x40" };
    static const hdx_by      groups[] = { HDX_BY_CLASS, HDX_BY_PACKAGE, HDX_BY_LOADER, HDX_BY_SUPERCLASS, HDX_BY_HEAP };
    const hdx_query          q = { .graph = g, .scope = scope, .threads = 1 };
    hdx_path_options         paths = { .paths = 3 };
    hdx_rows                *rows = NULL;
    hdx_error                err;
    hdx_id                   ids[ASK_OBJECTS], *found = NULL;
    size_t                   n = ask_objects(g, ids), count = 0;
    hdx_code                 code;
    switch (question) {
    case 0: return ask_rows(hdx_query_info(&q, &rows, &err), &rows);
    case 1: return ask_rows(hdx_query_histogram(&q, HDX_BY_NONE, NULL, true, &rows, &err), &rows);
    case 2:
    case 3:
    case 4:
    case 5:
    case 6: return ask_rows(hdx_query_histogram(&q, groups[question - 2], NULL, question == 2, &rows, &err), &rows);
    case 7: return ask_rows(hdx_query_dominators(&q, HDX_BY_NONE, NULL, 3, &rows, &err), &rows);
    case 8:
    case 9:
    case 10: return ask_rows(hdx_query_dominators(&q, groups[question - 8], NULL, 1, &rows, &err), &rows);
    case 11: return ask_rows(hdx_query_dominators(&q, HDX_BY_NONE, &ids[n / 2], 2, &rows, &err), &rows);
    case 12: return ask_rows(hdx_query_object(&q, ids, n, 100, &rows, &err), &rows);
    case 13: return ask_rows(hdx_query_objects(&q, "java.lang.*", true, &rows, &err), &rows);
    case 14: return ask_rows(hdx_query_refs(&q, ids[n / 2], false, HDX_BY_NONE, &rows, &err), &rows);
    case 15: return ask_rows(hdx_query_refs(&q, ids[n / 2], true, HDX_BY_NONE, &rows, &err), &rows);
    case 16: return ask_rows(hdx_query_refs(&q, ids[n - 1], true, HDX_BY_CLASS, &rows, &err), &rows);
    case 17: return ask_rows(hdx_query_path(&q, ids, n, &paths, &rows, &err), &rows);
    case 18:
        paths = (hdx_path_options){ .exclude = 15, .merge = true };
        return ask_rows(hdx_query_path(&q, ids, n, &paths, &rows, &err), &rows);
    case 19: return ask_rows(hdx_query_retained(&q, ids, n, &rows, &err), &rows);
    case 20: return ask_rows(hdx_query_retained_class(&q, "*", false, &rows, &err), &rows);
    case 21: return ask_rows(hdx_query_roots(&q, HDX_BY_NONE, &rows, &err), &rows);
    case 22: return ask_rows(hdx_query_roots(&q, HDX_BY_TYPE, &rows, &err), &rows);
    case 23: return ask_rows(hdx_query_threads(&q, true, true, &rows, &err), &rows);
    case 24:
        code = hdx_query_objects_named(&q, named, 1, &found, &count, &err);
        hdx_ids_free(found);
        return (answer){ code, count, 0 };
    case 25: return ask_graph(g, scope);
    case 26:
        code = hdx_query_objects_named(&q, named + 1, 3, &found, &count, &err);
        hdx_ids_free(found);
        return (answer){ code, count, 0 };
    case 36: return ask_leaks(g, HDX_LEAKS_WATCHED);
    case 37: return ask_leaks(g, HDX_LEAKS_FILTERS);
    case 38: return ask_leaks(g, HDX_LEAKS_CLASSES);
    case 39: return ask_rows(hdx_query_suspects(&q, &(hdx_suspect_options){ .threshold = 1 }, &rows, &err), &rows);
    case 40: return ask_declared(&q, &hdx_question_threads, "pool");
    case 41: return ask_declared(&q, &hdx_question_thread_locals, "key");
    case 42: return ask_declared(&q, &hdx_question_referents, NULL);
    case 43: return ask_declared(&q, &hdx_question_finalizers, NULL);
    case 44: return ask_declared(&q, &hdx_question_cleaners, NULL);
    case 45: return ask_declared(&q, &hdx_question_direct_buffers, NULL);
    case 46: return ask_declared(&q, &hdx_question_open_files, NULL);
    default: return ask_rows(table_named(&q, tables[(question - 27) % 9], &rows, &err), &rows);
    }
}

#endif
