/*
 * rows.c - rows of a table that is an answer: the dump's id, the answer's columns, the added ones. What comes in runs
 * goes on in runs, so that every object of a large heap costs no cell.
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
    unsigned           count, answered; /* columns; those of the answer */
    unsigned           from[FLEET_ADDED];
    hdx_vector         vectors[HDX_FLEET_MOST_COLUMNS]; /* of the answer's */
} fleet_rows;

static const uint64_t zeros[HDX_RUN_ROWS]; /* the place of the id among the texts of its column, which is one */

/* It failed, and not whoever takes the rows. */
static hdx_code noted(fleet_source *source, hdx_code code, const hdx_error *err)
{
    if (code != HDX_OK)
        source->error = *err;
    return code;
}

static hdx_code next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    fleet_rows     *r = state;
    const hdx_cell *row;
    hdx_error       own;
    hdx_code        code = HDX_OK;
    err = err == NULL ? &own : err;
    if (!(*more = hdx_rows_next(r->inner, &row)))
        return noted(r->source, hdx_rows_end(r->inner, err), err);
    cells[0] = hdx_cell_text(r->dump->id);
    memcpy(cells + 1, row, r->answered * sizeof *cells);
    for (unsigned i = 1 + r->answered; code == HDX_OK && i < r->count; i++) {
        const unsigned added = i - 1 - r->answered;
        cells[i] = hdx_cell_null();
        code = r->table->added[added]->make(r->dump, &row[r->from[added]], arena, &cells[i], err);
    }
    return noted(r->source, code, err);
}

static hdx_code run(void *state, uint32_t most, hdx_vector *out, uint32_t *count, hdx_error *err)
{
    fleet_rows *r = state;
    hdx_error   own;
    err = err == NULL ? &own : err;
    const hdx_code code = hdx_rows_run(r->inner, most, r->vectors, count, err);
    out[0] = (hdx_vector){ .numbers = zeros, .texts = &r->dump->id, .text_count = 1 };
    memcpy(out + 1, r->vectors, r->answered * sizeof *out);
    return noted(r->source, code, err);
}

static void close_rows(void *state)
{
    fleet_rows *r = state;
    hdx_rows_close(r->inner);
    free(r);
}

/* Which column of the answer each added one is made of. */
static void find_from(fleet_rows *r)
{
    for (unsigned i = 0; r->table->added[i] != NULL; i++)
        for (unsigned k = 0; k < r->answered; k++)
            if (strcmp(r->columns[1 + k].name, r->table->added[i]->from) == 0)
                r->from[i] = k;
}

/*
 * The condition on the percent once more, in bytes, which the answer knows how to use: it need not look below what
 * keeps less.
 */
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
        return noted(source, code, err);
    }
    r->count = hdx_fleet_columns(t, r->columns, &r->answered);
    find_from(r);
    const bool           runs = hdx_rows_runs(r->inner) && r->count == 1 + r->answered;
    const hdx_rows_maker maker = { r->columns, r->count, r, next, close_rows, 0 };
    const hdx_code       made = hdx_rows_make_in(&d->session->mem, &maker, out, err);
    if (made == HDX_OK && runs)
        hdx_rows_set_run(*out, run);
    if (made == HDX_OK)
        hdx_rows_set_progress(*out, &d->session->progress);
    return made;
}
