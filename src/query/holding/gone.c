/* gone.c - what would be free, summed by class: the rows of questions that remove objects or references. */
#include "query/common/extras.h"
#include "query/common/columns.h"
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/query.h"

#include <stdlib.h>

const hdx_column hdx_gone_columns[HDX_GONE_COLUMNS] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the objects that would be freed"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "objects of the class that would be freed"),
    HDX_SHALLOWS_COLUMN,
};
#define OF_TOTAL                                                                                                       \
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects that would be freed"),                                          \
        HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes that would be freed")
static const hdx_column total_members[] = { OF_TOTAL };
static const hdx_column weak_members[] = {
    OF_TOTAL,
    HDX_COLUMN("weakly", UNSIGNED, BYTES, HDX_COLUMN_OPTIONAL,
               "bytes of these that only soft or weak references hold already; missing if the dump lacks referents"),
    HDX_COLUMN("but_for_weak", UNSIGNED, BYTES, HDX_COLUMN_OPTIONAL,
               "further bytes that soft or weak references alone would still hold"),
};
const hdx_column hdx_gone_document[1] = { HDX_NESTED("total", OBJECT, 0, "totals of all objects that would be freed",
                                                     total_members) };
const hdx_column hdx_gone_document_weak[1] = { HDX_NESTED("total", OBJECT, 0,
                                                          "totals of all objects that would be freed", weak_members) };

hdx_code hdx_gone_open(hdx_ask *ask, hdx_gone *out, hdx_error *err)
{
    *out = (hdx_gone){ .mem = ask->q.mem };
    (void)hdx_graph_classes(ask->g, &out->classes);
    out->at = hdx_mem_array(out->mem, out->classes, sizeof *out->at);
    return out->at == NULL ? hdx_no_memory(err, "sums", out->classes * sizeof *out->at) : HDX_OK;
}

void hdx_gone_close(hdx_gone *s)
{
    hdx_mem_put(s->mem, s->at, s->classes * sizeof *s->at);
    s->at = NULL;
}

void hdx_gone_add(hdx_gone *s, uint32_t number, uint64_t shallow)
{
    s->objects++;
    s->bytes += shallow;
    if (number < s->classes) {
        s->at[number].objects++;
        s->at[number].shallow += shallow;
    }
}

hdx_code hdx_gone_unreached(hdx_ask *ask, const hdx_marking *how, hdx_gone *s, hdx_error *err)
{
    const uint64_t words = hdx_bits_words(hdx_graph_objects(ask->g));
    uint64_t      *seen = hdx_mem_array(ask->q.mem, words, sizeof *seen);
    hdx_code       code;
    if (seen == NULL)
        return hdx_no_memory(err, "marking", words * sizeof *seen);
    if ((code = hdx_mark_as(&ask->q, how, seen, err)) == HDX_OK)
        code = hdx_gone_not_in(ask, seen, s, err);
    hdx_mem_put(ask->q.mem, seen, words * sizeof *seen);
    return code;
}

hdx_code hdx_gone_not_in(hdx_ask *ask, const uint64_t *seen, hdx_gone *s, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(ask->g);
    hdx_code       code = HDX_OK;
    for (hdx_id first = 0; code == HDX_OK && first < n; first += HDX_RUN) {
        uint64_t live[HDX_RUN / 64], sizes[HDX_RUN], any = 0;
        uint32_t classes[HDX_RUN], here = (uint32_t)(n - first < HDX_RUN ? n - first : HDX_RUN);
        hdx_graph_read_live(ask->g, first, here, live);
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            any |= live[w] &= ~seen[first / 64 + w];
        if (any == 0)
            continue;
        hdx_graph_read_classes(ask->g, first, here, classes);
        hdx_graph_read_shallow(ask->g, first, here, sizes);
        for (uint32_t w = 0; w < (here + 63) / 64; w++)
            for (uint64_t bits = live[w]; bits != 0; bits &= bits - 1) {
                uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(bits);
                if (i < here)
                    hdx_gone_add(s, classes[i], sizes[i]);
            }
        if ((first / HDX_RUN & 255) == 255)
            code = hdx_ask_stopped(&ask->q, err);
    }
    return code;
}

static int by_shallow(const void *a, const void *b)
{
    const hdx_gone_sum *x = a, *y = b;
    if (x->shallow != y->shallow)
        return x->shallow > y->shallow ? -1 : 1;
    if (x->objects != y->objects)
        return x->objects > y->objects ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

hdx_code hdx_gone_rows(hdx_ask *ask, hdx_gone *s, const char *title, hdx_rows **out, hdx_error *err)
{
    hdx_table *t;
    uint32_t   used = 0;
    hdx_code   code = hdx_table_in(ask->q.mem, hdx_gone_columns, HDX_GONE_COLUMNS, &t, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t c = 0; c < s->classes; c++)
        if (s->at[c].objects > 0) {
            s->at[used] = s->at[c];
            s->at[used++].number = c;
        }
    if (used > 0)
        qsort(s->at, used, sizeof *s->at, by_shallow);
    for (uint32_t i = 0; code == HDX_OK && i < used; i++) {
        hdx_cell cells[HDX_GONE_COLUMNS] = { hdx_class_cell(ask->g, s->at[i].number), hdx_cell_uint(s->at[i].objects),
                                             hdx_cell_uint(s->at[i].shallow) };
        code = hdx_table_add(t, cells, err);
    }
    if (code == HDX_OK)
        code = hdx_graph_check(ask->g, err);
    if (code != HDX_OK) {
        hdx_table_free(t);
        return code;
    }
    const uint64_t numbers[] = { s->objects, s->bytes, s->weakly, s->but_for_weak };
    code = hdx_extras_add_numbers(hdx_table_rows(t, out, err), out, "total", weak_members, s->of_weak ? 4 : 2, numbers,
                                  err);
    if (code == HDX_OK && (code = hdx_rows_set_title(*out, title, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}
