/*
 * asking.c - shared by answers: runs a question, adds the head of the document to its rows and shapes them.
 */
#include "answer/answer.h"

hdx_code hdx_answer_of_table(hdx_table *t, hdx_code code, hdx_rows **out, hdx_error *err)
{
    if (code == HDX_OK)
        return hdx_table_rows(t, out, err);
    hdx_table_free(t);
    return code;
}

/* Names the view in the title, because its numbers differ from those of the whole heap. */
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
    hdx_code code = hdx_answer_or_close(
        rows, hdx_answer_set_head(s, a->answer->name, hdx_session_lacks(s, 0, a->answer), *rows, err));
    if (code == HDX_OK)
        code = hdx_answer_or_close(rows, name_view(s, *rows, err));
    if (code != HDX_OK)
        return code;
    uint32_t mark;
    if ((code = hdx_answer_or_close(rows, hdx_answer_mark(s, a, &mark, err))) != HDX_OK)
        return code;
    hdx_rows_set_progress(*rows, &s->progress);
    hdx_rows_set_judge(*rows, hdx_answer_judge, s);
    return hdx_answer_shape(a, q, mark, rows, err);
}

hdx_code hdx_answer_question(const hdx_question *question, const hdx_query *q, const hdx_argument *arguments,
                             size_t count, hdx_rows **out, hdx_error *err)
{
    const hdx_arguments a = { &question->declared, arguments, count };
    const hdx_code      code = hdx_answer_check(a.answer, arguments, count, "", err);
    *out = NULL;
    return code != HDX_OK ? code : hdx_mem_explain(q->mem, hdx_question_open(question, q, &a, out, err), err);
}
