/*
 * answers.c - the list of all answers, and the way every one of them goes: arguments are checked, the question is put,
 * rows get the head of their document and are shaped.
 */
#include "answer/answer.h"
#include "compare/compare.h"
#include "leaks/leaks.h"

#include <stdio.h>

static const hdx_parameter common[] = {
    { "columns", HDX_PARAMETER_TEXT, 0, "A,B,C", NULL, NULL, NULL, NULL, 0, 0, "only these columns, in this order" },
    { "sort", HDX_PARAMETER_TEXT, 0, "COL[:asc|desc]", NULL, NULL, NULL, NULL, 0, 0,
      "order of the rows; sizes and counts fall unless told" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0,
      "rows to show; tables show 25 unless told; 0 is all" },
    { "where", HDX_PARAMETER_TEXT, HDX_PARAMETER_REPEATED, "'COL OP VALUE'", NULL, NULL, NULL, NULL, 0, 0,
      "keep rows: = != < <= > >= ~ (regular expression); may be repeated" },
    { "reachable", HDX_PARAMETER_CHOICE, 0, "WHICH", "live all garbage", NULL, NULL, NULL, 0, 0,
      "objects that rows and counts include; live by default" },
    { "view", HDX_PARAMETER_TEXT, 0, "NAME", NULL, NULL, NULL, NULL, 0, 0,
      "the heap as that view of the index has it, without the roots or references it leaves out (index --view makes "
      "one)" },
    { "document", HDX_PARAMETER_FLAG, 0, NULL, NULL, "true", NULL, NULL, 0, 0,
      "what the document holds beside its rows; false where only those are wanted" },
    { "texts", HDX_PARAMETER_CHOICE, 0, "WHICH", "cut whole all", NULL, NULL, NULL, 0, 0,
      "how much of a long text a label has: its first 1,024 characters; all of it; of a byte[] all, too. A condition "
      "or "
      "an order of labels is of all of them" },
    { "sizes", HDX_PARAMETER_FLAG, 0, NULL, NULL, "false", NULL, NULL, 0, 0,
      "the label of a collection that says nothing else of itself is its size; for people" },
};

/* ---- the list ---- */

static const hdx_parameter export_parameters[] = {
    { "table", HDX_PARAMETER_CHOICES, HDX_PARAMETER_REQUIRED, "TABLE",
      "objects references named_references classes loaders roots threads packages dump suspects", NULL, NULL, NULL, 0,
      0, "which table; several, with commas between, each into a file of a folder (-o), or all into one of SQLite" },
};
static const hdx_form any_form = { NULL, NULL, NULL, 0 };

const hdx_answer hdx_answer_export = {
    .name = "export",
    .flags = HDX_ANSWER_PLAIN | HDX_ANSWER_HEAP | HDX_ANSWER_SCOPED, /* what the table knows */
    .sentence = "whole tables as csv, tsv, jsonl, parquet or a SQLite file",
    .more = "Rows are those of live objects; --reachable all adds the others.",
    .examples = { "heapdex export app.hprof --table classes --format csv -o classes.csv",
                  "heapdex export app.hprof --table objects,classes --format parquet -o tables" },
    .forms = &any_form, /* those of the table */
    .form_count = 1,
    .parameters = export_parameters,
    .parameter_count = HDX_COUNT(export_parameters),
};

typedef struct entry {
    const hdx_answer   *declared;
    const hdx_question *question; /* to the graph of the first dump; NULL: */
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
    { &hdx_answer_export, NULL, NULL }, /* the question is that of the table */
    { &hdx_answer_verify, NULL, hdx_answer_run_verify },
    { &hdx_answer_remove, NULL, hdx_answer_run_remove },
    { &hdx_answer_detect, NULL, hdx_answer_run_detect },
    { &hdx_answer_strip, NULL, hdx_answer_run_strip },
    { &hdx_answer_restore, NULL, hdx_answer_run_restore },
};
static const hdx_question *const tables[] = {
#define TABLE(name) &hdx_table_of_##name,
    HDX_TABLES(TABLE)
#undef TABLE
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
    _Static_assert(HDX_COUNT(all) == HDX_COUNT(entries), "both lists have all answers");
    *count = HDX_COUNT(all);
    return all;
}

const hdx_answer *const *hdx_tables(size_t *count)
{
    static const hdx_answer *const all[] = {
#define DECLARED(name) &hdx_table_of_##name.declared,
        HDX_TABLES(DECLARED)
#undef DECLARED
    };
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

const hdx_parameter *hdx_answer_common(size_t *count)
{
    *count = HDX_COUNT(common);
    return common;
}

static const hdx_question *table_named(const char *name)
{
    for (size_t i = 0; name != NULL && i < HDX_COUNT(tables); i++)
        if (strcmp(tables[i]->declared.name, name) == 0)
            return tables[i];
    return NULL;
}

/* ---- arguments ---- */

static hdx_code check_sort(const char *value, const char *before, hdx_error *err)
{
    const char *colon = value == NULL ? NULL : strrchr(value, ':');
    if (value == NULL)
        return HDX_OK;
    if (*value == '\0' || colon == value)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "%ssort '%.60s': a column is expected, such as retained:desc", before, value);
    if (colon != NULL && strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%ssort '%.60s': behind the column comes :asc or :desc",
                        before, value);
    return HDX_OK;
}

/* No answer is of live objects alone and takes a word for others. */
static hdx_code check_scope(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const char         *scope = hdx_answer_last(a, "reachable");
    const hdx_question *table = a->answer == &hdx_answer_export ? table_named(hdx_answer_last(a, "table")) : NULL;
    const hdx_answer   *of = table != NULL ? &table->declared : a->answer;
    if (scope == NULL || (of->flags & HDX_ANSWER_SCOPED) != 0)
        return HDX_OK;
    if ((of->flags & HDX_ANSWER_HEAP) == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sreachable: %s is not about objects", before, of->name);
    if (strcmp(scope, "live") == 0 && of != &hdx_question_garbage.declared)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sreachable %s: %s knows %s objects alone", before,
                             scope, of->name, of == &hdx_question_garbage.declared ? "unreachable" : "live"),
                    "histogram, objects, refs and tables of export know others");
}

/* Where it makes a difference; index, verify and remove say themselves what they mean by it. */
static hdx_code check_view(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const hdx_answer *of = a->answer;
    const char       *view = hdx_answer_last(a, "view");
    if (view == NULL || of == &hdx_answer_index || of == &hdx_answer_verify || of == &hdx_answer_remove)
        return HDX_OK;
    if ((of->flags & HDX_ANSWER_HEAP) == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sview: %s does not ask an index", before, of->name);
    if ((of->flags & HDX_ANSWER_NO_VIEWS) != 0)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                                 "%sview: %s goes by roots and references of its own, and no view changes that", before,
                                 of->name),
                        "leave --view out");
    return HDX_OK;
}

static hdx_code check(const hdx_arguments *a, const char *before, hdx_error *err)
{
    hdx_code code = hdx_arguments_check(a, common, HDX_COUNT(common), before, err);
    if (code == HDX_OK)
        code = check_scope(a, before, err);
    if (code == HDX_OK)
        code = check_view(a, before, err);
    return code != HDX_OK ? code : check_sort(hdx_answer_last(a, "sort"), before, err);
}

hdx_code hdx_answer_check(const hdx_answer *answer, const hdx_argument *arguments, size_t count, const char *before,
                          hdx_error *err)
{
    return check(&(hdx_arguments){ answer, arguments, count }, before, err);
}

const hdx_form *hdx_answer_form(const hdx_answer *answer, const hdx_argument *arguments, size_t count)
{
    const hdx_arguments a = { answer, arguments, count };
    const hdx_question *table = answer == &hdx_answer_export ? table_named(hdx_answer_last(&a, "table")) : NULL;
    return table != NULL ? &table->declared.forms[0] : hdx_arguments_form(&a);
}

/* ---- asking ---- */

hdx_code hdx_answer_or_close(hdx_rows **rows, hdx_code code)
{
    if (code == HDX_OK)
        return code;
    hdx_rows_close(*rows);
    *rows = NULL;
    return code;
}

hdx_code hdx_answer_of_table(hdx_table *t, hdx_code code, hdx_rows **out, hdx_error *err)
{
    if (code == HDX_OK)
        return hdx_table_rows(t, out, err);
    hdx_table_free(t);
    return code;
}

/* The title says that this is another heap than the whole one, and which. */
static hdx_code name_view(const hdx_session *s, hdx_rows *rows, hdx_error *err)
{
    const hdx_graph_summary *of = s->dumps[0].shown != NULL ? hdx_graph_summary_of(s->dumps[0].shown) : NULL;
    const char              *title = hdx_rows_title(rows);
    if (of == NULL)
        return HDX_OK;
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_buffer_format(&text, "View %s: %s%s%s", of->view, of->view_spec, title == NULL ? "" : "\n",
                      title == NULL ? "" : title);
    const hdx_code code =
        text.failed ? hdx_no_memory(err, "a title", text.len) : hdx_rows_set_title(rows, text.at, err);
    hdx_buffer_free(&text);
    return code;
}

hdx_code hdx_answer_finish(hdx_session *s, const hdx_arguments *a, const hdx_query *q, hdx_rows **rows, hdx_error *err)
{
    hdx_code code = hdx_answer_or_close(rows, hdx_answer_set_head(s, a->answer->name, *rows, err));
    if (code == HDX_OK)
        code = hdx_answer_or_close(rows, name_view(s, *rows, err));
    if (code != HDX_OK)
        return code;
    hdx_rows_heed(*rows, &s->progress);
    hdx_rows_set_judge(*rows, hdx_answer_judge, s);
    return hdx_answer_shape(a, q, rows, err);
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
        code = hdx_question_open(question, &q, a, out, err);
    hdx_arena_free(&arena);
    return code != HDX_OK || *out == NULL ? code : hdx_answer_finish(s, a, &q, out, err);
}

/*
 * Conditions, order and columns, on rows that are none: what is wrong with them is known before an index is built or
 * removed, or a dump stripped.
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
        (code = hdx_answer_shape(a, NULL, &rows, err)) == HDX_OK)
        hdx_rows_close(rows);
    return code;
}

static hdx_code run(hdx_session *s, const entry *e, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_question *question =
        e->declared == &hdx_answer_export ? table_named(hdx_answer_last(a, "table")) : e->question;
    hdx_code code = check(a, "", err);
    if (code != HDX_OK || (code = check_shape(a, err)) != HDX_OK)
        return code;
    if (question == NULL && e->run == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "table '%.60s': one table is asked for at a time",
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
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%.60s' is no answer about one heap", answer->name);
    hdx_code code = check(&a, "", err);
    if (code != HDX_OK)
        return code;
    if (e->question != NULL)
        return hdx_mem_explain(q->mem, hdx_question_open(e->question, q, &a, out, err), err);
    if (s->dump_count > 1)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        e->declared == &hdx_leaks_answer ? "leaks are those of all dumps of a session: ask it of one"
                                                         : "rules are those of one dump: ask a session of one");
    return hdx_mem_explain(&s->mem, e->run(s, &a, out, err), err);
}

hdx_code hdx_answer_run(hdx_session *s, const char *name, const hdx_argument *arguments, size_t count, hdx_rows **out,
                        hdx_error *err)
{
    const entry *e = entry_named(name);
    *out = NULL;
    if (e == NULL)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "there is no answer '%.60s'", name);
    s->dumps[0].shown = NULL;
    const hdx_arguments a = { e->declared, arguments, count };
    const hdx_code      code = hdx_answer_judge(s, hdx_mem_explain(&s->mem, run(s, e, &a, out, err), err), err);
    return hdx_answer_or_close(out, code);
}
