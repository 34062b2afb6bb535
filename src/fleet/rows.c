/*
 * rows.c - rows of a table that is an answer: the dump's id, the answer's columns, the additional ones. Answers with
 * runs are passed on as runs, so that the objects of a large heap need no cells.
 */
#include "fleet/fleet.h"

#include "answer/answer.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct fleet_rows {
    fleet_dump        *dump;
    const fleet_table *table;
    fleet_source      *source;
    hdx_rows          *inner;
    hdx_column         columns[HDX_FLEET_MOST_COLUMNS];
    unsigned           count, answered; /* all columns; those of the answer */
    unsigned           from[FLEET_ADDED];
    hdx_vector         vectors[HDX_FLEET_MOST_COLUMNS]; /* of the answer's columns */
} fleet_rows;

static const uint64_t zeros[HDX_RUN_ROWS]; /* the id column has one text; this is its index in every row */

/* Stores an error of the answer itself, as opposed to one of the caller. */
static hdx_code store_error(fleet_source *source, hdx_code code, const hdx_error *err)
{
    if (code != HDX_OK)
        source->error = *err;
    return code;
}

static hdx_code fleet_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    fleet_rows     *r = state;
    const hdx_cell *row;
    hdx_error       own;
    hdx_code        code = HDX_OK;
    err = err == NULL ? &own : err;
    if (!(*more = hdx_rows_next(r->inner, &row)))
        return store_error(r->source, hdx_rows_end(r->inner, err), err);
    cells[0] = hdx_cell_text(r->dump->id);
    memcpy(cells + 1, row, r->answered * sizeof *cells);
    for (unsigned i = 1 + r->answered; code == HDX_OK && i < r->count; i++) {
        const unsigned added = i - 1 - r->answered;
        cells[i] = hdx_cell_null();
        code = r->table->added[added]->make(r->dump, &row[r->from[added]], arena, &cells[i], err);
    }
    return store_error(r->source, code, err);
}

static hdx_code fleet_run(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    fleet_rows *r = state;
    hdx_error   own;
    err = err == NULL ? &own : err;
    const hdx_code code = hdx_rows_run(r->inner, most, r->vectors, count, err);
    out[0] = (hdx_vector){ .numbers = zeros, .texts = &r->dump->id, .text_count = 1 };
    memcpy(out + 1, r->vectors, r->answered * sizeof *out);
    return store_error(r->source, code, err);
}

static void fleet_close(void *state)
{
    fleet_rows *r = state;
    hdx_rows_close(r->inner);
    free(r);
}

/* Finds the answer's column from which each additional one is computed. */
static void find_sources(fleet_rows *r)
{
    for (unsigned i = 0; r->table->added[i] != NULL; i++)
        for (unsigned k = 0; k < r->answered; k++)
            if (strcmp(r->columns[1 + k].name, r->table->added[i]->from) == 0)
                r->from[i] = k;
}

/* Repeats the condition on the percentage in bytes, which the answer uses to skip whole subtrees. */
static size_t bound(const fleet_dump *d, const fleet_table *t, char *text, size_t room, hdx_argument *out)
{
    if (t->least_percent == 0)
        return 0;
    (void)snprintf(text, room, "retained >= %llu",
                   (unsigned long long)(hdx_graph_summary_of(d->g)->live_bytes / 100000 * t->least_percent));
    *out = (hdx_argument){ "where", text };
    return 1;
}

hdx_code hdx_fleet_rows(fleet_dump *d, const fleet_table *t, fleet_source *source, hdx_rows **out, hdx_error *err)
{
    hdx_argument arguments[9];
    char         text[48];
    size_t       count = hdx_fleet_arguments(t, arguments);
    fleet_rows  *r = calloc(1, sizeof *r);
    *out = NULL;
    source->error = (hdx_error){ .code = HDX_OK };
    if (r == NULL)
        return hdx_no_memory(err, "rows of a table", sizeof *r);
    *r = (fleet_rows){ .dump = d, .table = t, .source = source };
    count += bound(d, t, text, sizeof text, &arguments[count]);
    const hdx_code code = hdx_answer_run(d->session, t->answer, arguments, count, &r->inner, err);
    if (code != HDX_OK) {
        free(r);
        return store_error(source, code, err);
    }
    r->count = hdx_fleet_columns(t, r->columns, &r->answered);
    find_sources(r);
    const bool           runs = hdx_rows_runs(r->inner) && r->count == 1 + r->answered;
    const hdx_rows_maker maker = { r->columns, r->count, r, fleet_next, fleet_close, 0 };
    const hdx_code       made = hdx_rows_make_in(&d->session->mem, &maker, out, err);
    if (made == HDX_OK && runs)
        hdx_rows_set_run(*out, fleet_run);
    if (made == HDX_OK)
        hdx_rows_set_progress(*out, &d->session->progress);
    return made;
}
