/*
 * answers.c - the list of all answers, and how to run one by its name. The files of the answers do not use this file.
 */
#include "answer/answer.h"
#include "compare/compare.h"
#include "leaks/leaks.h"
#include "query/saved_answers.h"

typedef struct entry {
    const hdx_answer   *declared;
    const hdx_question *question; /* question about the graph of the first dump; NULL: see run */
    answer_run         *run;
} entry;

static const entry entries[] = {
    { &hdx_answer_index, NULL, hdx_answer_run_index },
    { &hdx_answer_estimate, NULL, hdx_answer_run_estimate },
#define ENTRY(name) { &hdx_question_##name.declared, &hdx_question_##name, NULL },
    HDX_QUESTIONS(ENTRY)
#undef ENTRY
        { &hdx_leaks_answer, NULL, hdx_answer_run_leaks },
    { &hdx_answer_check_rules, NULL, hdx_answer_run_check },
    { &hdx_compare_diff, NULL, hdx_answer_run_diff },
    { &hdx_compare_trend, NULL, hdx_answer_run_trend },
    { &hdx_answer_export, NULL, NULL }, /* the table that the arguments name is the question */
    { &hdx_answer_verify, NULL, hdx_answer_run_verify },
    { &hdx_answer_remove, NULL, hdx_answer_run_remove },
    { &hdx_answer_detect, NULL, hdx_answer_run_detect },
    { &hdx_answer_strip, NULL, hdx_answer_run_strip },
    { &hdx_answer_restore, NULL, hdx_answer_run_restore },
};

const hdx_answer *const *hdx_answers(size_t *count)
{
    static const hdx_answer *const all[] = {
        &hdx_answer_index,
        &hdx_answer_estimate,
#define DECLARED(name) &hdx_question_##name.declared,
        HDX_QUESTIONS(DECLARED)
#undef DECLARED
            & hdx_leaks_answer,
        &hdx_answer_check_rules,
        &hdx_compare_diff,
        &hdx_compare_trend,
        &hdx_answer_export,
        &hdx_answer_verify,
        &hdx_answer_remove,
        &hdx_answer_detect,
        &hdx_answer_strip,
        &hdx_answer_restore,
    };
    _Static_assert(HDX_COUNT(all) == HDX_COUNT(entries), "`entries` and `all` have the same number of answers");
    *count = HDX_COUNT(all);
    return all;
}

static const entry *entry_named(const char *name)
{
    for (size_t i = 0; i < HDX_COUNT(entries); i++)
        if (strcmp(entries[i].declared->name, name) == 0)
            return &entries[i];
    return NULL;
}

const hdx_answer *hdx_answer_named(const char *name)
{
    const entry *e = entry_named(name);
    return e == NULL ? NULL : e->declared;
}

static hdx_code ask(hdx_session *s, const hdx_question *question, const hdx_arguments *a, hdx_rows **out,
                    hdx_error *err)
{
    hdx_graph *g;
    hdx_code   code = hdx_answer_graph(s, a, &g, err);
    if (code != HDX_OK)
        return code;
    hdx_query       q = hdx_answer_query(s, a, g);
    hdx_arena       arena = hdx_arena_of(NULL); /* texts of bounds */
    const hdx_form *form = hdx_answer_form(a->answer, a->at, a->count);
    q.wanted = hdx_answer_wanted(a, form, &arena);
    const hdx_whole decides = hdx_answer_decides_by(a, form);
    q.whole = decides > q.whole ? decides : q.whole;
    if ((code = hdx_answer_fields(a, form, &arena, &q, err)) == HDX_OK)
        code = hdx_saved_answer_open(question, &q, a, out, err);
    hdx_arena_free(&arena);
    return code != HDX_OK || *out == NULL ? code : hdx_answer_finish(s, a, &q, out, err);
}

/*
 * Checks conditions, order and columns on an empty table, so that mistakes are reported before an index is built or
 * removed, or a dump is stripped.
 */
static hdx_code check_shape(const hdx_arguments *a, hdx_error *err)
{
    const hdx_form *form = hdx_answer_form(a->answer, a->at, a->count);
    hdx_table      *table;
    hdx_rows       *rows = NULL;
    hdx_code        code = HDX_OK;
    if (form->column_count == 0 || (code = hdx_table_new(form->columns, form->column_count, &table, err)) != HDX_OK)
        return code;
    if ((code = hdx_table_rows(table, &rows, err)) == HDX_OK &&
        (code = hdx_answer_shape(a, NULL, 0, &rows, err)) == HDX_OK)
        hdx_rows_close(rows);
    return code;
}

static hdx_code run(hdx_session *s, const entry *e, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_question *question = e->declared == &hdx_answer_export ? hdx_answer_table(a) : e->question;
    hdx_code            code = hdx_answer_check(a->answer, a->at, a->count, "", err);
    if (code != HDX_OK || (code = check_shape(a, err)) != HDX_OK)
        return code;
    if (question == NULL && e->run == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "table '%.60s': name a single table",
                        hdx_answer_last(a, "table"));
    if (question != NULL && question != &hdx_question_histogram)
        return ask(s, question, a, out, err);
    code = question != NULL ? hdx_answer_run_histogram(s, a, out, err) : e->run(s, a, out, err);
    return code != HDX_OK || *out == NULL ? code : hdx_answer_finish(s, a, NULL, out, err);
}

hdx_code hdx_answer_open(hdx_session *s, const hdx_answer *answer, const hdx_query *q, const hdx_argument *arguments,
                         size_t count, hdx_rows **out, hdx_error *err)
{
    const entry        *e = entry_named(answer->name);
    const hdx_arguments a = { answer, arguments, count };
    *out = NULL;
    if (e == NULL ||
        (e->question == NULL && e->declared != &hdx_leaks_answer && e->declared != &hdx_answer_check_rules))
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%.60s' does not answer queries about one heap",
                        answer->name);
    if (e->question != NULL)
        return hdx_answer_question(e->question, q, arguments, count, out, err);
    const hdx_code code = hdx_answer_check(answer, arguments, count, "", err);
    if (code != HDX_OK)
        return code;
    if (s->dump_count > 1)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        e->declared == &hdx_leaks_answer ? "leaks needs a session with one dump"
                                                         : "check needs a session with one dump");
    return hdx_mem_explain(&s->mem, e->run(s, &a, out, err), err);
}

hdx_code hdx_answer_run(hdx_session *s, const char *name, const hdx_argument *arguments, size_t count, hdx_rows **out,
                        hdx_error *err)
{
    const entry *e = entry_named(name);
    *out = NULL;
    if (e == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "unknown answer '%.60s'", name);
    s->dumps[0].shown = NULL;
    const hdx_arguments a = { e->declared, arguments, count };
    const hdx_code      code = hdx_answer_judge(s, hdx_mem_explain(&s->mem, run(s, e, &a, out, err), err), err);
    return hdx_answer_or_close(out, code);
}
