/*
 * arguments.c - the parameters that all answers take besides their own, and the checks of what was given for them.
 */
#include "answer/answer.h"

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

const hdx_parameter *hdx_answer_common(size_t *count)
{
    *count = HDX_COUNT(common);
    return common;
}

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
    const hdx_question *table = hdx_answer_table(a);
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

static bool has_own(const hdx_answer *answer, const char *parameter)
{
    for (unsigned i = 0; i < answer->parameter_count; i++)
        if (strcmp(answer->parameters[i].name, parameter) == 0)
            return true;
    return false;
}

/* An answer that declares a parameter `view` of its own, as index, verify and remove do, gives it its own meaning. */
static hdx_code check_view(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const hdx_answer *of = a->answer;
    const char       *view = hdx_answer_last(a, "view");
    if (view == NULL || has_own(of, "view"))
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
    const hdx_question *table = hdx_answer_table(&a);
    return table != NULL ? &table->declared.forms[0] : hdx_arguments_form(&a);
}
