/*
 * histogram.c - a histogram without an index: --scan counts in a single pass, and a histogram of all objects is
 * available after the first pass of a build.
 */
#include "query/histogram/histogram.h"
#include "answer/answer.h"

static hdx_code counted(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_counts_classes(s->counts, &count);
    return hdx_histogram_of(&s->mem, classes, count, a, out, err);
}

static hdx_code scan(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_query         q = hdx_answer_query(s, a, NULL);
    const hdx_index_options options = hdx_answer_index_options(s, 0);
    hdx_counts             *counts = NULL;
    hdx_code                code = HDX_OK;
    if (hdx_histogram_by(a) == HDX_BY_HEAP)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--scan cannot count by heap; remove --scan");
    if (hdx_histogram_by(a) == HDX_BY_ORIGIN)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--scan cannot count by origin; remove --scan");
    if (hdx_answer_last(a, "reachable") != NULL && q.scope != HDX_ALL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--scan cannot tell which objects are %s; remove --scan",
                        hdx_answer_last(a, "reachable"));
    if (hdx_answer_last(a, "view") != NULL)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--scan does not use an index; remove --scan or --view");
    if (s->counts == NULL) {
        code = hdx_counts_take(&options, &counts, err);
        s->counts = counts;
    }
    if (code != HDX_OK || (code = counted(s, a, out, err)) != HDX_OK)
        return code;
    return hdx_answer_or_close(
        out, hdx_rows_set_title(*out, "Histogram of all objects (one pass, no index: reachability is unknown)", err));
}

/* Returns whether counts suffice: all objects, and no value that needs an index. */
static bool counts_do(const hdx_query *q, const hdx_arguments *a)
{
    const hdx_by by = hdx_histogram_by(a);
    return q->scope == HDX_ALL && !hdx_histogram_retains(q, a) && !hdx_histogram_names_origins(q, a) &&
           (by == HDX_BY_CLASS || by == HDX_BY_PACKAGE || by == HDX_BY_SUPERCLASS);
}

/* Answers the histogram early, from the counts of the first pass of a build. */
static void first_pass(void *context, const hdx_counts *counts)
{
    hdx_session *s = context;
    hdx_rows    *rows = NULL;
    hdx_error    err = { .offset = HDX_NOWHERE };
    s->counts = counts;
    /*
     * On failure (no such column, no such class) the question runs again on the finished index, and reports the error.
     */
    if (counted(s, s->early, &rows, &err) == HDX_OK && hdx_answer_finish(s, s->early, NULL, &rows, &err) == HDX_OK)
        s->answered = s->events.early(s->events.context, rows);
    hdx_rows_close(rows);
    s->counts = NULL;
}

hdx_code hdx_answer_run_histogram(hdx_session *s, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_query q = hdx_answer_query(s, a, NULL);
    hdx_arena arena = hdx_arena_of(NULL); /* texts of bounds */
    q.wanted = hdx_answer_wanted(a, hdx_answer_form(a->answer, a->at, a->count), &arena);
    q.wanted.bound_count = 0;
    hdx_arena_free(&arena);
    hdx_code code = hdx_histogram_check(&q, a, err);
    if (code != HDX_OK)
        return code;
    if (hdx_argument_flag(a, "scan"))
        return scan(s, a, out, err);
    s->early = a;
    s->first_pass = counts_do(&q, a) && hdx_answer_last(a, "view") == NULL ? first_pass : NULL;
    s->answered = false;
    code = hdx_answer_graph(s, a, &q.graph, err);
    s->first_pass = NULL;
    if (code != HDX_OK || s->answered)
        return code;
    return hdx_question_open(&hdx_question_histogram, &q, a, out, err);
}
