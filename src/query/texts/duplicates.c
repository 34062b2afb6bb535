/*
 * duplicates.c - equal Strings and equal primitive arrays: how many, the bytes they waste, and their holders.
 *
 * Strings are equal if their texts are (equal.c); arrays that Strings use count with these and not again as arrays. A
 * group wastes all its bytes except one object and, for Strings, one array; an array that several Strings share counts
 * once. The bytes that sharing arrays would free (String deduplication of the collectors) are reported separately.
 */
#include "query/common/extras.h"
#include "query/texts/array_contents.h"
#include "query/texts/copies.h"

static const hdx_column columns[] = {
    HDX_EQUAL_COLUMNS,
    HDX_COLUMN("holder", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class and field, or class of arrays, with most of these copies; only with --holders"),
};
static const hdx_column total_members[] = { HDX_EQUAL_TOTALS };
static const hdx_column document[] = { HDX_NESTED(
    "total", OBJECT, 0, "totals over all rows, before conditions and limit are applied", total_members) };
static const hdx_form   form = { NULL, NULL, columns, HDX_COUNT(columns) };

enum { CLASS, LABEL, FIRST };

typedef struct equal_rows {
    hdx_ask            ask;
    hdx_array_contents sizes; /* the graph only, for hdx_equal_sizes */
    hdx_equals         groups;
    uint64_t           at;
    bool               texts; /* without the last column */
} equal_rows;

static hdx_code duplicates_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    equal_rows *r = state;
    unsigned    n = FIRST;
    uint64_t    object, array;
    hdx_code    code = hdx_ask_check_cancel(&r->ask, err);
    (void)arena;
    if (code != HDX_OK)
        return code;
    if (r->at == r->groups.count)
        return hdx_ask_end(&r->ask, more, err);
    const hdx_equal *e = &r->groups.at[r->at++];
    hdx_equal_sizes(&r->sizes, e, &object, &array);
    cells[CLASS] = hdx_class_of_cell(r->ask.g, e->id);
    cells[LABEL] = hdx_cell_null();
    cells[n++] = hdx_cell_uint(e->objects);
    cells[n++] = e->kind == HDX_EQUAL_ARRAYS ? hdx_cell_null() : hdx_cell_uint(e->arrays);
    cells[n++] = hdx_cell_uint(e->length);
    cells[n++] = hdx_cell_uint(e->objects * object + e->arrays * array);
    cells[n++] = hdx_cell_uint(e->wasted);
    cells[n++] = hdx_id_cell(r->ask.g, e->id);
    if (!r->texts)
        cells[n] = hdx_cell_null();
    *more = true;
    return HDX_OK;
}

static hdx_code add_total(hdx_code code, const hdx_array_contents *c, const hdx_equals *groups, hdx_rows **out,
                          hdx_error *err)
{
    const hdx_equal_totals *s = &groups->strings, *a = &groups->arrays;
    const uint64_t          numbers[HDX_COUNT(total_members)] = {
                 s->objects, s->values,        s->bytes,          s->duplicates, s->wasted,
                 s->shared,  c->counts.absent, c->counts.unknown, a->duplicates, a->wasted,
    };
    return hdx_extras_add_numbers(code, out, "total", total_members, HDX_COUNT(total_members), numbers, err);
}

static hdx_code make_rows(const hdx_array_contents *c, bool texts, const hdx_equals *groups, hdx_rows **out,
                          hdx_error *err)
{
    equal_rows *r = hdx_mem_get(c->ask.q.mem, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "groups of equal contents", sizeof *r);
    r->ask = r->sizes.ask = c->ask;
    r->groups = *groups;
    r->texts = texts;
    hdx_rows_maker maker = { columns, HDX_COUNT(columns) - (texts ? 1 : 0), r, duplicates_next, NULL, r->groups.count };
    hdx_code       code = hdx_rows_make_in(c->ask.q.mem, &maker, out, err);
    return add_total(code, c, groups, out, err);
}

static hdx_code duplicates_find(hdx_array_contents *c, bool texts, bool all, bool holders, hdx_rows **out,
                                hdx_error *err)
{
    hdx_equals         groups = { .at = NULL };
    hdx_code           code = hdx_equals_find(c, texts, all, &groups, err);
    hdx_equal_holders *h = NULL;
    if (code == HDX_OK && holders)
        code = hdx_equal_holders_new(c, &groups, &h, err);
    if (code == HDX_OK)
        code = make_rows(c, texts, &groups, out, err);
    return code == HDX_OK && holders ? hdx_equal_holders_fill(h, c, out, err) : code;
}

hdx_code hdx_equals_ask(const hdx_query *q, bool texts, bool all, bool holders, hdx_rows **out, hdx_error *err)
{
    hdx_array_contents c;
    *out = NULL;
    hdx_code code = hdx_array_contents_open(q, texts ? 1u << 5 | 1u << 8 : HDX_ALL_TYPES, false, &c, err);
    if (code == HDX_OK)
        code = duplicates_find(&c, texts, all, holders, out, err);
    hdx_array_contents_close(&c); /* freed now: the rows do not need it, and there may be as many as there are texts */
    if (code == HDX_OK && hdx_column_wanted(q, LABEL))
        code = hdx_query_labels(q, false, out, err);
    return code;
}

static hdx_code find_copy(hdx_array_contents *c, hdx_id text, hdx_id *copy, hdx_error *err)
{
    hdx_equals         groups = { .at = NULL };
    hdx_equal_holders *h = NULL;
    hdx_code           code = hdx_equals_find(c, true, false, &groups, err);
    if (code == HDX_OK && (code = hdx_equal_holders_new(c, &groups, &h, err)) == HDX_OK)
        code = hdx_equal_holders_copy(h, c, text, copy, err);
    return code;
}

hdx_code hdx_query_copy_of(const hdx_query *q, hdx_id text, hdx_id *copy, hdx_error *err)
{
    hdx_array_contents c;
    hdx_query          own = *q;
    *copy = text;
    if ((own.mem = hdx_mem_scope(q->mem)) == NULL)
        return hdx_no_memory(err, "duplicates", sizeof *own.mem);
    hdx_code code = hdx_array_contents_open(&own, 1u << 5 | 1u << 8, false, &c, err);
    if (code == HDX_OK)
        code = find_copy(&c, text, copy, err);
    hdx_array_contents_close(&c);
    hdx_mem_scope_close(own.mem);
    return code;
}

static const hdx_parameter parameters[] = {
    { .name = "holders",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "add the class and field with most copies of each group (reads the dump once more)" },
};

static hdx_code open_duplicates(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const bool     holders = hdx_column_named(q, HDX_COUNT(columns) - 1) || hdx_argument_flag(a, "holders");
    const hdx_code code = hdx_equals_ask(q, false, false, holders, out, err);
    return hdx_rows_explain_empty(code, out, err, "no two Strings and no two primitive arrays are equal");
}

const hdx_question hdx_question_duplicates = {
    .declared = {
        .name = "duplicates",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "equal Strings, equal primitive arrays, and the bytes that they waste",
        .more = "Groups that waste most come first. A group wastes all its bytes except those of one object and, for "
                "Strings, of one array; an array that several Strings share counts once. The total in the document "
                "shows what String deduplication by the collector would free; deduplication leaves the Strings and "
                "shares their arrays.",
        .examples = { "heapdex duplicates app.hprof --holders --limit 5", "heapdex duplicates app.hprof --where "
                                                                          "'class = byte[]'" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_duplicates,
};
