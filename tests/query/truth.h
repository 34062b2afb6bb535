/*
 * truth.h - a reference dump with the truth its program wrote beside it, and answers of questions by columns.
 *
 *     truth t;
 *     while (truth_next(&d, "zoo-", &t)) {
 *         ok(ask(&t.h, threads, &rows, { "by", "pool" }));
 *         ...
 *         truth_close(&t);
 *     }
 */
#ifndef HDX_TESTS_QUERY_TRUTH_H
#define HDX_TESTS_QUERY_TRUTH_H

#include "support/questions.h"
#include "heap.h"
#include "query/questions.h"
#include "support/golden.h"

static inline hdx_code truth_ask(heap *h, const hdx_question *question, const hdx_argument *at, size_t count,
                                 hdx_rows **rows)
{
    hdx_arguments a = { &question->declared, at, count };
    *rows = NULL;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}
#define ask(heap, question, rows, ...)                                                                                 \
    truth_ask(heap, &hdx_question_##question, (const hdx_argument[]){ __VA_ARGS__ },                                   \
              sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument), rows)
#define ask_plainly(heap, question, rows) truth_ask(heap, &hdx_question_##question, NULL, 0, rows)
#define ok_of(call)                       cr_assert(eq(int, (call), HDX_OK), "%s", t.h.err.message)
#define ok_in(t, call)                    cr_assert(eq(int, (call), HDX_OK), "%s", (t)->h.err.message)

static inline const hdx_cell *in_column(hdx_rows *rows, const hdx_cell *cells, const char *column)
{
    unsigned          n;
    const hdx_column *c = hdx_rows_columns(rows, &n);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(c[i].name, column) == 0)
            return &cells[i];
    cr_assert(false, "no column %s", column);
    return NULL;
}

static inline bool cell_says(const hdx_cell *c, const char *text)
{
    return c->kind == HDX_CELL_TEXT && hdx_text_is(c->as.text, text);
}

/* Rows with such a text in that column; a column NULL: all. */
static inline uint64_t count_rows(hdx_rows *rows, const char *column, const char *text)
{
    const hdx_cell *cells;
    uint64_t        n = 0;
    hdx_error       err;
    while (hdx_rows_next(rows, &cells))
        n += column == NULL || cell_says(in_column(rows, cells, column), text);
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    hdx_rows_close(rows);
    return n;
}

/* The chosen columns of rows whose column `where` has that text (NULL: all rows): "a,b\n". Closes the rows. */
static inline hdx_buffer columns_of(hdx_rows *rows, const char *where, const char *text, const char *columns)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *cells;
    hdx_error       err;
    char            names[256];
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &cells)) {
        if (where != NULL && !cell_says(in_column(rows, cells, where), text))
            continue;
        (void)snprintf(names, sizeof names, "%s", columns);
        const char *before = "";
        for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " "), before = ",") {
            hdx_buffer_text(&b, before);
            put_cell(&b, in_column(rows, cells, name));
        }
        hdx_buffer_text(&b, "\n");
    }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    hdx_rows_close(rows);
    return b;
}

#define expect_columns(rows, where, text, columns, want)                                                               \
    do {                                                                                                               \
        hdx_buffer text_ = columns_of(rows, where, text, columns);                                                     \
        cr_expect(eq(str, text_.at, (char *)(want)));                                                                  \
        hdx_buffer_free(&text_);                                                                                       \
    } while (0)

typedef struct truth {
    heap  h;
    char  dump[1024];
    char *text;
} truth;

static inline void truth_open(truth *t, const char *dump)
{
    char             path[1100];
    hdx_index_report report;
    *t = (truth){ .text = calloc(1, 4u << 20) };
    (void)snprintf(t->dump, sizeof t->dump, "%s", dump);
    (void)snprintf(path, sizeof path, "%.*s.truth.json", (int)(strlen(dump) - strlen(".hprof.gz")), dump);
    FILE *f = fopen(path, "rb");
    if (f != NULL) {
        cr_assert(fread(t->text, 1, (4u << 20) - 1, f) > 0);
        fclose(f);
    }
    heap *h = &t->h;
    test_folder_make(h->folder, "query");
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    const hdx_index_options options = { .dump = dump, .index_dir = h->index };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 2 };
}

static inline void truth_close(truth *t)
{
    heap_close(&t->h);
    free(t->text);
}

/* The next reference dump whose name has that word. */
static inline bool truth_next(golden_dumps *d, const char *word, truth *t)
{
    while (golden_next(d))
        if (strstr(d->path, word) != NULL) {
            truth_open(t, d->path);
            return true;
        }
    return false;
}

/* The number behind "key": in the truth; -1: none. */
static inline long long truth_number(const truth *t, const char *key)
{
    char        wanted[96];
    const char *at;
    (void)snprintf(wanted, sizeof wanted, "\"%s\": ", key);
    return (at = strstr(t->text, wanted)) == NULL ? -1 : strtoll(at + strlen(wanted), NULL, 10);
}

#endif
