/* listing.c - returns the rows of a question that is a list, or their sums. */
#include "query/common/listing.h"

#include "graph/graph.h"

/* The state of the rows; the question's own state follows it. */
typedef struct opened {
    const hdx_listing *of;
    const hdx_form    *form; /* of the list */
    uint64_t           next;
    max_align_t        state[];
} opened;

static hdx_found *found_of(opened *o) { return (hdx_found *)o->state; }

static void listing_close(void *of)
{
    opened *o = of;
    if (o->of->close != NULL)
        o->of->close(o->state);
}

static hdx_code listing_next(void *of, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    opened        *o = of;
    hdx_found     *f = found_of(o);
    const hdx_code code = hdx_ask_check_cancel(&f->ask, err);
    if (code != HDX_OK)
        return code;
    if (o->next == f->count)
        return hdx_ask_end(&f->ask, more, err);
    for (unsigned i = 0; i < o->form->column_count; i++)
        cells[i] = hdx_cell_null();
    *more = true;
    return o->of->cells(o->state, hdx_found_entry(f, o->next++), arena, cells, err);
}

static hdx_code open_list(opened *o, hdx_rows **out, hdx_error *err)
{
    const hdx_listing   *l = o->of;
    hdx_found           *f = found_of(o);
    const hdx_query      q = f->ask.q;
    const hdx_rows_maker maker = { o->form->columns, o->form->column_count, o, listing_next, listing_close, f->count };
    if (l->order != NULL)
        hdx_found_sort(f, l->order);
    hdx_code code = hdx_rows_make_in(q.mem, &maker, out, err);
    if (code == HDX_OK && l->label != 0 && hdx_column_wanted(&q, l->label))
        code = hdx_query_labels(&q, false, out, err);
    if (code == HDX_OK && l->field != 0 && hdx_column_wanted(&q, l->field))
        code = hdx_query_fields(&q, out, err);
    return code;
}

/* The sums do not use the state of the question, which is closed before they are read. */
static hdx_code open_sums(opened *o, int by, hdx_rows **out, hdx_error *err)
{
    const hdx_found *f = found_of(o);
    if (o->of->groupings == NULL)
        return o->of->sums(o->state, by, out, err);
    hdx_grouped g = hdx_grouped_of(&o->of->groupings[by], &f->ask, f->what);
    hdx_code    code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < f->count; i++)
        code = hdx_grouped_add(&g, hdx_found_entry(f, i), err);
    return code == HDX_OK ? hdx_grouped_rows(&g, &o->of->forms[by], out, err) : code;
}

static const hdx_form *form_of_list(const hdx_listing *l)
{
    const hdx_form *form = l->forms;
    while (form->parameter != NULL)
        form++;
    return form;
}

static hdx_code open_found(opened *o, int by, hdx_rows **out, hdx_error *err)
{
    const hdx_listing *l = o->of;
    const char        *nothing = l->nothing(o->state);
    hdx_code           code = by < 0 ? open_list(o, out, err) : open_sums(o, by, out, err);
    if (code == HDX_OK && l->beside != NULL)
        code = l->beside(o->state, out, err);
    if (by >= 0)
        listing_close(o);
    return hdx_rows_explain_empty(code, out, err, "%s", nothing);
}

static hdx_code open_listing(const hdx_listing *l, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                             hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    opened *o = hdx_mem_get(q->mem, sizeof *o + l->state);
    if (o == NULL)
        return hdx_no_memory(err, l->what, sizeof *o + l->state);
    *found_of(o) = (hdx_found){ .ask = ask, .arguments = a, .what = l->what, .entry = l->entry };
    o->of = l;
    o->form = form_of_list(l);
    if ((code = l->find(o->state, err)) == HDX_OK && (code = hdx_graph_check(ask.g, err)) == HDX_OK)
        return open_found(o, hdx_argument_choice(a, "by"), out, err);
    listing_close(o);
    return code;
}

hdx_code hdx_question_open(const hdx_question *question, const hdx_query *q, const hdx_arguments *a, hdx_rows **out,
                           hdx_error *err)
{
    hdx_query own = *q;
    *out = NULL;
    if ((own.mem = hdx_mem_scope(q->mem)) == NULL)
        return hdx_no_memory(err, question->declared.name, sizeof *own.mem);
    const hdx_code code = question->listing != NULL ? open_listing(question->listing, &own, a, out, err)
                                                    : question->open(&own, a, out, err);
    if (*out != NULL)
        hdx_rows_own(*out, own.mem);
    else
        hdx_mem_scope_close(own.mem);
    return code;
}
