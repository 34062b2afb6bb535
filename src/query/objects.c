/*
 * objects.c - the objects of some classes, one row each: by class, then by address. Labels are added afterwards
 * (labels.c).
 */
#include "query/common/columns.h"
#include "query/sets/sets.h"
#include "query/objects.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdlib.h>

#define LABEL 2u
static const hdx_column columns[] = {
    HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_SUM, "address of the object"),
    HDX_CLASS_COLUMN(0),
    HDX_LABEL_COLUMN,
    HDX_SHALLOW_COLUMN(HDX_COLUMN_SPARE),
    HDX_RETAINED_IF_LIVE_COLUMN(0),
};

typedef struct object_listing {
    hdx_ask    ask;
    uint32_t  *numbers;
    size_t     count, at; /* classes; index of the next one */
    hdx_refs   refs;
    hdx_sieve *sieve; /* conditions on fields; NULL: none */
} object_listing;

static void objects_close(void *state)
{
    object_listing *l = state;
    hdx_numbers_free(l->numbers);
    hdx_sieve_close(l->sieve);
    free(l);
}

/* *id is HDX_NO_ID at the end. */
static hdx_code next_instance(object_listing *l, hdx_id *id, hdx_error *err)
{
    hdx_code code = hdx_ask_check_cancel(&l->ask, err);
    while (code == HDX_OK && !hdx_refs_next(&l->refs, id)) {
        *id = HDX_NO_ID;
        if (++l->at >= l->count)
            return HDX_OK;
        hdx_graph_instances(l->ask.g, l->numbers[l->at], l->ask.q.scope, &l->refs);
        code = hdx_ask_check_cancel(&l->ask, err);
    }
    return code;
}

static hdx_code objects_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    object_listing *l = state;
    hdx_id          id;
    bool            keep = false;
    (void)arena;
    while (!keep) {
        hdx_code code = next_instance(l, &id, err);
        if (code != HDX_OK)
            return code;
        if (id == HDX_NO_ID)
            return hdx_ask_end(&l->ask, more, err);
        if ((code = hdx_sieve_matches(l->sieve, id, &keep, err)) != HDX_OK)
            return code;
    }
    cells[0] = hdx_id_cell(l->ask.g, id);
    cells[1] = hdx_class_cell(l->ask.g, l->numbers[l->at]);
    cells[2] = hdx_cell_null();
    cells[3] = hdx_cell_uint(hdx_graph_shallow(l->ask.g, id));
    cells[4] = hdx_retained_cell(l->ask.g, id);
    *more = true;
    return HDX_OK;
}

static uint64_t count_rows(const object_listing *l, hdx_refs_scope scope)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < l->count; i++) {
        const hdx_class *c = hdx_graph_class(l->ask.g, l->numbers[i]);
        uint64_t         all = c == NULL ? 0 : c->instances, live = c == NULL ? 0 : c->live_instances;
        rows += scope == HDX_ALL ? all : scope == HDX_LIVE ? live : all - live;
    }
    return rows;
}

hdx_code hdx_query_objects(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                           hdx_error *err)
{
    hdx_ask         ask;
    object_listing *l;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    if ((l = calloc(1, sizeof *l)) == NULL)
        return hdx_no_memory(err, "objects", sizeof *l);
    l->ask = ask;
    if ((code = hdx_query_classes_named(q, class_pattern, subclasses, &l->numbers, &l->count, err)) != HDX_OK) {
        objects_close(l);
        return code;
    }
    if ((code = hdx_sieve_open(q, &l->sieve, err)) == HDX_OK && l->sieve != NULL) {
        for (size_t i = 0; i < l->count; i++)
            hdx_sieve_class(l->sieve, l->numbers[i]);
        code = hdx_sieve_check(l->sieve, columns, HDX_COUNT(columns), err);
    }
    if (code != HDX_OK) {
        objects_close(l);
        return code;
    }
    const bool           sieved = l->sieve != NULL;
    const uint64_t       mine = count_rows(l, q->scope);
    const hdx_refs_scope other = q->scope == HDX_LIVE ? HDX_GARBAGE : HDX_LIVE;
    const uint64_t       others = q->scope == HDX_ALL ? 0 : count_rows(l, other), classes = l->count;
    hdx_graph_instances(ask.g, l->numbers[0], q->scope, &l->refs); /* classes_named returns at least one */
    hdx_rows_maker maker = { columns, HDX_COUNT(columns), l, objects_next, objects_close, sieved ? 0 : mine };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    if (code == HDX_OK && hdx_column_wanted(q, LABEL))
        code = hdx_query_labels(q, false, out, err);
    if (sieved && mine > 0)
        return hdx_rows_explain_empty(code, out, err, HDX_NONE_MEETS);
    if (others > 0)
        return hdx_rows_explain_empty(code, out, err, "%" PRIu64 " %s instance%s not shown; use --reachable all",
                                      others, other == HDX_GARBAGE ? "unreachable" : "live", others == 1 ? "" : "s");
    return hdx_rows_explain_empty(code, out, err, "%s no instances%s",
                                  classes == 1 ? "the class has" : "the classes have",
                                  subclasses ? "" : "; --subclasses includes instances of subclasses");
}

static const hdx_parameter parameters[] = {
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_REQUIRED, "class name, glob (* and ?) or /regular expression/"),
    { .name = "subclasses",
      .kind = HDX_PARAMETER_FLAG,
      .needs = "class",
      .sentence = "include instances of subclasses" },
};
static const hdx_form form = { NULL, NULL, columns, HDX_COUNT(columns) };

static hdx_code open_objects(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const char *pattern = hdx_argument_text(a, "class");
    *out = NULL;
    if (pattern == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'objects' needs --class");
    return hdx_query_objects(q, pattern, hdx_argument_flag(a, "subclasses"), out, err);
}

const hdx_question hdx_question_objects = {
    .declared = {
        .name = "objects",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED | HDX_ANSWER_MEMBERS,
        .sentence = "the instances of a class",
        .more = "PATTERN is an exact name, a glob such as com.acme.* (only * and ? are wildcards: byte[] means "
                "itself), or a /regular expression/. --where also accepts fields of the objects.",
        .examples = { "heapdex objects app.hprof --class java.util.HashMap --where 'size > 100'",
                      "heapdex objects app.hprof --class '/Map$/' --sort retained --limit 3" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_objects,
};
