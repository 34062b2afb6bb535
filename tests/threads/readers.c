/*
 * readers.c - many threads ask one graph at once: getters, cursors, labels, values, whole questions.
 *
 * The graph is fresh, so that opening files, classes, names and the dump on first use is part of the race. Each thread
 * sums up what it saw; the same questions asked alone afterwards, of a graph of their own, must give the same sums.
 */
#include "support/questions.h"
#include "place.h"
#include "support/tables.h"

#include <pthread.h>

#define READERS 8u
#define ROUNDS  150u

typedef struct reader {
    hdx_graph *g;
    uint64_t   seed, sum;
    pthread_t  thread;
} reader;

static void mix_in(reader *r, uint64_t value) { r->sum = (r->sum ^ value) * 0x9e3779b97f4a7c15ull; }

static void mix_text(reader *r, const char *text, uint64_t len)
{
    for (uint64_t i = 0; i < len; i++)
        mix_in(r, (uint8_t)text[i]);
}

static void mix_cells(reader *r, const hdx_cell *cells, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        mix_in(r, (uint64_t)cells[i].kind);
        if (cells[i].kind == HDX_CELL_TEXT)
            mix_text(r, cells[i].as.text.at, cells[i].as.text.len);
        else if (cells[i].kind == HDX_CELL_UINT || cells[i].kind == HDX_CELL_ADDRESS)
            mix_in(r, cells[i].as.natural);
    }
}

static void read_rows(reader *r, hdx_code code, hdx_rows *rows, hdx_error *err)
{
    const hdx_cell *cells;
    unsigned        n;
    if (code != HDX_OK)
        die("a question", err);
    (void)hdx_rows_columns(rows, &n);
    while (hdx_rows_next(rows, &cells))
        mix_cells(r, cells, n);
    if (hdx_rows_end(rows, err) != HDX_OK)
        die("rows", err);
    hdx_rows_close(rows);
}

static void one_object(reader *r, hdx_id id)
{
    hdx_refs   refs;
    hdx_id     other;
    char      *text = NULL;
    hdx_values values = { .at = NULL };
    hdx_error  err;
    mix_in(r, hdx_graph_address(r->g, id));
    mix_in(r, hdx_graph_class_of(r->g, id));
    mix_in(r, hdx_graph_shallow(r->g, id));
    mix_in(r, hdx_graph_retained(r->g, id));
    mix_in(r, hdx_graph_dominator(r->g, id));
    mix_in(r, hdx_graph_nearest(r->g, id));
    hdx_graph_outbound(r->g, id, HDX_LIVE, &refs);
    while (hdx_refs_next(&refs, &other))
        mix_in(r, other);
    hdx_graph_inbound(r->g, id, HDX_ALL, &refs);
    for (unsigned i = 0; i < 100 && hdx_refs_next(&refs, &other); i++)
        mix_in(r, other);
    hdx_graph_dominated(r->g, id, &refs);
    while (hdx_refs_next(&refs, &other))
        mix_in(r, other);
    if (hdx_graph_label(r->g, id, &text, &err) != HDX_OK)
        die("a label", &err);
    if (text != NULL)
        mix_text(r, text, strlen(text));
    hdx_text_free(text);
    if (hdx_graph_kind(r->g, id) == HDX_INSTANCE && hdx_graph_position(r->g, id, &(hdx_pos){ 0 })) {
        if (hdx_graph_fields(r->g, id, &values, &err) != HDX_OK)
            die("fields", &err);
        mix_in(r, values.count);
    }
    hdx_values_free(&values);
}

static void question(reader *r, unsigned which, hdx_id id)
{
    hdx_query        q = { .graph = r->g, .scope = HDX_LIVE, .threads = 2 };
    hdx_path_options weak = { .exclude = HDX_EXCLUDE_WEAK, .paths = 2 };
    hdx_id           two[2] = { id, id / 2 };
    hdx_rows        *rows = NULL;
    hdx_leaks       *leaks = NULL;
    hdx_error        err;
    hdx_code         code;
    switch (which) {
    case 0: code = hdx_query_histogram(&q, HDX_BY_CLASS, NULL, true, &rows, &err); break;
    case 1: code = hdx_query_histogram(&q, HDX_BY_PACKAGE, NULL, false, &rows, &err); break;
    case 2: code = hdx_query_dominators(&q, HDX_BY_OBJECT, NULL, 1, &rows, &err); break;
    case 3: code = hdx_query_path(&q, &id, 1, NULL, &rows, &err); break;
    case 4: code = hdx_query_path(&q, &id, 1, &weak, &rows, &err); break;
    case 5: code = hdx_query_refs(&q, id, true, HDX_BY_NONE, &rows, &err); break;
    case 6: code = hdx_query_retained(&q, two, 2, &rows, &err); break;
    case 7: code = hdx_query_object(&q, &id, 1, 100, &rows, &err); break;
    case 8: code = hdx_query_threads(&q, true, true, &rows, &err); break;
    case 9: code = hdx_query_objects(&q, "app1.*", true, &rows, &err); break;
    case 10: code = table_named(&q, "roots", &rows, &err); break;
    case 11: { /* searched by some, remembered by others: the same to all */
        static const char *const classes[] = { "app1.*" };
        hdx_leaks_options        o = {
                   .finder = HDX_LEAKS_CLASSES, .classes = classes, .class_count = 1, .retained = true, .threads = 2
        };
        if ((code = hdx_leaks_search(r->g, &o, &leaks, &err)) == HDX_OK)
            code = hdx_leaks_rows((const hdx_leaks *const *)&leaks, NULL, 1, true, &rows, &err);
        break;
    }
    default: code = hdx_query_info(&q, &rows, &err); break;
    }
    const uint64_t before = r->sum;
    read_rows(r, code, rows, &err);
    if (which == 12)
        r->sum = before; /* info counts the bytes of answers that others had remembered by then */
    hdx_leaks_free(leaks);
}

static void *ask(void *context)
{
    reader  *r = context;
    uint64_t state = r->seed, objects = hdx_graph_objects(r->g);
    for (unsigned round = 0; round < ROUNDS; round++) {
        one_object(r, draw(&state, objects));
        if (round % 6 == r->seed % 6)
            question(r, (unsigned)draw(&state, 13), draw(&state, objects));
    }
    return NULL;
}

int main(void)
{
    place     p;
    char      index[96];
    reader    together[READERS] = { { .sum = 0 } };
    hdx_error err;
    place_make(&p, 4000);
    snprintf(index, sizeof index, "%s/a.hdx", p.folder);
    build_index(&p, index, 2);
    hdx_graph *g, *alone;
    if (hdx_graph_open(index, p.dump, &g, &err) != HDX_OK || hdx_graph_open(index, p.dump, &alone, &err) != HDX_OK)
        die("opening", &err);
    for (unsigned i = 0; i < READERS; i++) {
        together[i] = (reader){ .g = g, .seed = i + 1 };
        if (pthread_create(&together[i].thread, NULL, ask, &together[i]) != 0)
            die("no thread", NULL);
    }
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(together[i].thread, NULL);
    for (unsigned i = 0; i < READERS; i++) {
        reader again = { .g = alone, .seed = i + 1 };
        (void)ask(&again);
        if (again.sum != together[i].sum) {
            fprintf(stderr, "reader %u saw something else alone\n", i + 1);
            return 1;
        }
    }
    if (hdx_graph_check(g, &err) != HDX_OK)
        die("check", &err);
    hdx_graph_close(alone);
    hdx_graph_close(g);
    place_remove(&p);
    return 0;
}
