/*
 * labels.c - the column `label` of rows of objects. Labels are read from the dump, in the order of the dump and by all
 * threads: a table whose rows are in another order would go over a compressed dump once for every few of them.
 */
#include "query/common/sweep.h"
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/query.h"

#include <stdlib.h>

#define PIECE 256u /* labels between two questions whether to stop */

typedef struct wanted {
    hdx_pos  at;
    hdx_id   id;
    uint64_t number; /* its place among the rows */
    char    *text;   /* of the first of several of one object */
} wanted;

typedef struct making {
    hdx_graph *g;
    wanted    *at;
    uint64_t   count;
    hdx_mem   *mem; /* texts count there until they are cells */
    hdx_ticker tick;
} making;

static int by_place(const void *a, const void *b)
{
    const wanted *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static hdx_code make_piece(void *context, uint64_t from, uint64_t end, unsigned worker, hdx_error *err)
{
    making   *m = context;
    hdx_id    ids[PIECE] = { 0 };
    char     *texts[PIECE];
    uint64_t  of[PIECE], n = 0;
    hdx_error mine;
    (void)worker;
    for (uint64_t i = from; i < end; i++)
        if (i == 0 ||
            m->at[i].id != m->at[i - 1].id) { /* neighbours often are roots of one object, which is asked for once */
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

/* made: by the workers. Texts become cells; those of one object stand side by side. */
static hdx_code cells_of(making *m, hdx_code made, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_code code = made;
    for (uint64_t i = 0; i < m->count; i++) {
        const wanted *w = &m->at[i];
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

typedef struct maker {
    hdx_query  q;
    bool       says_sizes; /* what has no label may have a size */
    hdx_sizes *sizes;
} maker;

static void close_maker(void *context)
{
    maker *m = context;
    hdx_sizes_close(m->sizes);
    free(m);
}

static hdx_code add_sizes(maker *m, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
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
        if (code == HDX_OK && (code = hdx_sizes_say(m->sizes, id, arena, &cells[i], err)) == HDX_OK && i % 256 == 255)
            code = hdx_ask_stopped(&m->q, err);
    }
    return code;
}

static hdx_code fill(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                     hdx_error *err)
{
    maker           *of = context;
    const hdx_query *q = &of->q;
    making           m = { .g = q->graph, .mem = q->mem };
    hdx_code         code;
    if ((m.at = hdx_mem_array(q->mem, count, sizeof *m.at)) == NULL)
        return hdx_no_memory(err, "the order of labels", count * sizeof *m.at);
    for (uint64_t i = 0; i < count; i++) {
        hdx_id id;
        cells[i] = hdx_cell_null();
        if (keys[i].kind != HDX_CELL_ADDRESS || !hdx_graph_find(q->graph, keys[i].as.address, &id))
            continue;
        m.at[m.count] = (wanted){ 0, id, i, NULL };
        (void)hdx_graph_position(
            q->graph, id, &m.at[m.count++].at); /* what has no record has hardly a label: its place does not matter */
    }
    if (m.count > 0)
        qsort(m.at, m.count, sizeof *m.at, by_place);
    hdx_ticker_init(&m.tick, q->progress, 1);
    if (m.count > HDX_LABELS_MANY)
        hdx_ticker_step(&m.tick, "labels", m.count, "objects");
    const hdx_sweep_range all = { .count = m.count,
                                  .piece = PIECE,
                                  .workers = m.count > HDX_LABELS_MANY ? hdx_ask_threads(q) : 1 };
    code = cells_of(&m, hdx_sweep(q, &all, make_piece, &m, err), arena, cells, err);
    if (code == HDX_OK && of->says_sizes)
        code = add_sizes(of, keys, count, arena, cells, err);
    hdx_ticker_free(&m.tick);
    hdx_mem_put(q->mem, m.at, count * sizeof *m.at);
    return code;
}

/* All of a long text, of one row at a time: however many rows have one, there is room for it. */
static hdx_code finish(void *context, const hdx_cell *key, hdx_arena *arena, hdx_cell *cell, hdx_error *err)
{
    const hdx_query *q = &((maker *)context)->q;
    hdx_id           id;
    if (cell->kind != HDX_CELL_TEXT || cell->as.text.len < HDX_CUT_LABEL || key->kind != HDX_CELL_ADDRESS ||
        !hdx_graph_find(q->graph, key->as.address, &id))
        return HDX_OK;
    return hdx_label_whole(q, id, arena, cell, err);
}

hdx_code hdx_query_labels(const hdx_query *q, bool all_at_once, hdx_rows **rows, hdx_error *err)
{
    maker *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        hdx_rows_close(*rows);
        *rows = NULL;
        return hdx_no_memory(err, "labels", sizeof *copy);
    }
    *copy = (maker){ *q, q->sizes && !all_at_once, NULL };
    const hdx_filler filler = { fill, close_maker, copy, q->whole == HDX_CUT ? NULL : finish };
    return hdx_rows_fill(rows, "address", "label", &filler, all_at_once ? HDX_LABELS_AT_ONCE : 0,
                         all_at_once ? HDX_LABELS_AT_ONCE : HDX_LABELS_MANY, err);
}
