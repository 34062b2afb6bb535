/*
 * labels.c - fills the column `label`. All threads read the labels in dump order, because any other order would
 * decompress parts of a compressed dump again and again.
 */
#include "query/common/sweep.h"
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/query.h"

#include <stdlib.h>

#define PIECE 256u /* labels between two cancellation checks */

typedef struct wanted_label {
    hdx_pos  at;
    hdx_id   id;
    uint64_t number; /* of the row */
    char    *text;   /* only in the first of several rows with the same object */
} wanted_label;

typedef struct label_batch {
    hdx_graph    *g;
    wanted_label *at;
    uint64_t      count;
    hdx_mem      *mem; /* memory account for the texts until they become cells */
    hdx_ticker    tick;
} label_batch;

static int by_position(const void *a, const void *b)
{
    const wanted_label *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static hdx_code make_piece(void *context, uint64_t from, uint64_t end, unsigned worker, hdx_error *err)
{
    label_batch *m = context;
    hdx_id       ids[PIECE] = { 0 };
    char        *texts[PIECE];
    uint64_t     of[PIECE], n = 0;
    hdx_error    mine;
    (void)worker;
    for (uint64_t i = from; i < end; i++)
        /* neighboring rows are often GC roots of one object: read its label once */
        if (i == 0 || m->at[i].id != m->at[i - 1].id) {
            of[n] = i;
            ids[n++] = m->at[i].id;
        }
    hdx_code code = hdx_label_allow_missing_dump(m->g, hdx_graph_labels(m->g, ids, n, texts, &mine), &mine, err);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++) {
        if (texts[i] == NULL)
            continue;
        if (hdx_mem_charge(m->mem, strlen(texts[i]) + 1)) {
            m->at[of[i]].text = texts[i];
            continue;
        }
        code = hdx_no_memory(err, "labels", strlen(texts[i]) + 1);
        for (; i < n; i++)
            hdx_text_free(texts[i]);
    }
    return code != HDX_OK ? code : hdx_tick(&m->tick, end - from) ? hdx_tick_stop(err) : HDX_OK;
}

/* made: result of the workers. Converts texts to cells; rows of the same object are adjacent. */
static hdx_code label_cells(label_batch *m, hdx_code made, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_code code = made;
    for (uint64_t i = 0; i < m->count; i++) {
        const wanted_label *w = &m->at[i];
        if (w->text != NULL)
            hdx_mem_discharge(m->mem, strlen(w->text) + 1);
        if (i > 0 && w->id == w[-1].id) {
            cells[w->number] = cells[w[-1].number];
        } else if (code == HDX_OK) {
            code = hdx_label_of_text(m->g, w->id, w->text, arena, &cells[w->number], err);
        } else {
            hdx_text_free(w->text);
        }
    }
    return code;
}

typedef struct label_filler {
    hdx_query  q;
    bool       with_sizes; /* shows the size of collections without a label */
    hdx_sizes *sizes;
} label_filler;

static void close_label_filler(void *context)
{
    label_filler *m = context;
    hdx_sizes_close(m->sizes);
    free(m);
}

static hdx_code add_sizes(label_filler *m, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                          hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        hdx_id id;
        if (cells[i].kind != HDX_CELL_NULL || keys[i].kind != HDX_CELL_ADDRESS ||
            !hdx_graph_find(m->q.graph, keys[i].as.address, &id))
            continue;
        if (m->sizes == NULL)
            code = hdx_sizes_open(&m->q, &m->sizes, err);
        if (code == HDX_OK && (code = hdx_sizes_cell(m->sizes, id, arena, &cells[i], err)) == HDX_OK && i % 256 == 255)
            code = hdx_ask_stopped(&m->q, err);
    }
    return code;
}

static hdx_code fill_labels(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                            hdx_error *err)
{
    label_filler    *of = context;
    const hdx_query *q = &of->q;
    label_batch      m = { .g = q->graph, .mem = q->mem };
    hdx_code         code;
    if ((m.at = hdx_mem_array(q->mem, count, sizeof *m.at)) == NULL)
        return hdx_no_memory(err, "the order of labels", count * sizeof *m.at);
    for (uint64_t i = 0; i < count; i++) {
        hdx_id id;
        cells[i] = hdx_cell_null();
        if (keys[i].kind != HDX_CELL_ADDRESS || !hdx_graph_find(q->graph, keys[i].as.address, &id))
            continue;
        m.at[m.count] = (wanted_label){ 0, id, i, NULL };
        /* an object without a record has no label either, so its position does not matter */
        (void)hdx_graph_position(q->graph, id, &m.at[m.count++].at);
    }
    if (m.count > 0)
        qsort(m.at, m.count, sizeof *m.at, by_position);
    hdx_ticker_init(&m.tick, q->progress, 1);
    if (m.count > HDX_LABELS_MANY)
        hdx_ticker_step(&m.tick, "labels", m.count, "objects");
    const hdx_sweep_range all = { .count = m.count,
                                  .piece = PIECE,
                                  .workers = m.count > HDX_LABELS_MANY ? hdx_ask_threads(q) : 1 };
    code = label_cells(&m, hdx_sweep(q, &all, make_piece, &m, err), arena, cells, err);
    if (code == HDX_OK && of->with_sizes)
        code = add_sizes(of, keys, count, arena, cells, err);
    hdx_ticker_free(&m.tick);
    hdx_mem_put(q->mem, m.at, count * sizeof *m.at);
    return code;
}

/* Replaces one truncated label by its whole text, one row at a time to limit memory. */
static hdx_code complete_label(void *context, const hdx_cell *key, hdx_arena *arena, hdx_cell *cell, hdx_error *err)
{
    const hdx_query *q = &((label_filler *)context)->q;
    hdx_id           id;
    if (cell->kind != HDX_CELL_TEXT || cell->as.text.len < HDX_CUT_LABEL || key->kind != HDX_CELL_ADDRESS ||
        !hdx_graph_find(q->graph, key->as.address, &id))
        return HDX_OK;
    return hdx_label_whole(q, id, arena, cell, err);
}

hdx_code hdx_query_labels(const hdx_query *q, bool all_at_once, hdx_rows **rows, hdx_error *err)
{
    label_filler *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        hdx_rows_close(*rows);
        *rows = NULL;
        return hdx_no_memory(err, "labels", sizeof *copy);
    }
    *copy = (label_filler){ *q, q->sizes && !all_at_once, NULL };
    const hdx_filler filler = { fill_labels, close_label_filler, copy, q->whole == HDX_CUT ? NULL : complete_label };
    return hdx_rows_fill(rows, "address", "label", &filler, all_at_once ? HDX_LABELS_AT_ONCE : 0,
                         all_at_once ? HDX_LABELS_AT_ONCE : HDX_LABELS_MANY, err);
}
