/*
 * arguments.c - the parameters that all answers accept in addition to their own, and the checks of their values.
 */
#include "answer/answer.h"

static const hdx_parameter common[] = {
    { "columns", HDX_PARAMETER_TEXT, 0, "A,B,C", NULL, NULL, NULL, NULL, 0, 0,
      "show only these columns, in this order" },
    { "sort", HDX_PARAMETER_TEXT, 0, "COL[:asc|desc]", NULL, NULL, NULL, NULL, 0, 0,
      "sort the rows; default for sizes and counts: descending" },
    { "limit", HDX_PARAMETER_NUMBER, 0, "N", NULL, NULL, NULL, NULL, 0, 0,
      "number of rows to show; default for tables: 25; 0 shows all" },
    { "after", HDX_PARAMETER_TEXT, 0, "CURSOR", NULL, NULL, NULL, NULL, 0, 0,
      "begin after the rows of the page before: its \"cut\".\"cursor\" in JSON" },
    { "where", HDX_PARAMETER_TEXT, HDX_PARAMETER_REPEATED, "'COL OP VALUE'", NULL, NULL, NULL, NULL, 0, 0,
      "select rows: = != < <= > >= ~ (regular expression); may be repeated" },
    { "reachable", HDX_PARAMETER_CHOICE, 0, "WHICH", "live all garbage", NULL, NULL, NULL, 0, 0,
      "objects to include in rows and counts; default: live" },
    { "view", HDX_PARAMETER_TEXT, 0, "NAME", NULL, NULL, NULL, NULL, 0, 0,
      "use a view of the index, which excludes some roots or references (index --view makes one)" },
    { "document", HDX_PARAMETER_FLAG, 0, NULL, NULL, "true", NULL, NULL, 0, 0,
      "add members other than rows to the document; false for rows only" },
    { "texts", HDX_PARAMETER_CHOICE, 0, "WHICH", "cut whole all", NULL, NULL, NULL, 0, 0,
      "how much text a label shows: the first 1,024 characters, the whole text, or the whole text and whole byte[]; "
      "conditions and sorting always use all of it" },
    { "sizes", HDX_PARAMETER_FLAG, 0, NULL, NULL, "false", NULL, NULL, 0, 0,
      "label a collection that has no other label with its size; for people" },
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
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%ssort '%.60s': expected a column, such as retained:desc",
                        before, value);
    if (colon != NULL && strcmp(colon, ":asc") != 0 && strcmp(colon, ":desc") != 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%ssort '%.60s': expected :asc or :desc after the column",
                        before, value);
    return HDX_OK;
}

/* Pages need the order of rows that the common limit cuts; `path` counts paths. */
static hdx_code check_after(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const char *after = hdx_answer_last(a, "after");
    uint64_t    skip;
    uint32_t    mark;
    if (after == NULL)
        return HDX_OK;
    if (hdx_argument_declared(a, "limit"))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%safter does not apply to %s", before, a->answer->name);
    return hdx_cursor_parse(after, &skip, &mark)
               ? HDX_OK
               : hdx_hint(err,
                          hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%safter '%.60s': not a cursor", before, after),
                          "a JSON document with --limit has the cursor of the next page in \"cut\"");
}

/*
 * Refuses --reachable with a value that the answer does not support: most cover only live objects, garbage only others.
 */
static hdx_code check_scope(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const char         *scope = hdx_answer_last(a, "reachable");
    const hdx_question *table = hdx_answer_table(a);
    const hdx_answer   *of = table != NULL ? &table->declared : a->answer;
    if (scope == NULL || (of->flags & HDX_ANSWER_SCOPED) != 0)
        return HDX_OK;
    if ((of->flags & HDX_ANSWER_HEAP) == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sreachable does not apply to %s", before, of->name);
    if (strcmp(scope, "live") == 0 && of != &hdx_question_garbage.declared)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sreachable %s: %s covers only %s objects", before,
                             scope, of->name, of == &hdx_question_garbage.declared ? "unreachable" : "live"),
                    "histogram, objects, refs and the tables of export cover other objects");
}

static bool has_own(const hdx_answer *answer, const char *parameter)
{
    for (unsigned i = 0; i < answer->parameter_count; i++)
        if (strcmp(answer->parameters[i].name, parameter) == 0)
            return true;
    return false;
}

/* An answer that declares its own parameter `view` (index, verify, remove) checks that itself. */
static hdx_code check_view(const hdx_arguments *a, const char *before, hdx_error *err)
{
    const hdx_answer *of = a->answer;
    const char       *view = hdx_answer_last(a, "view");
    if (view == NULL || has_own(of, "view"))
        return HDX_OK;
    if ((of->flags & HDX_ANSWER_HEAP) == 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "%sview: %s does not use an index", before, of->name);
    if ((of->flags & HDX_ANSWER_NO_VIEWS) != 0)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                                 "%sview: %s uses its own roots and references, which a view cannot change", before,
                                 of->name),
                        "remove --view");
    return HDX_OK;
}

static hdx_code check(const hdx_arguments *a, const char *before, hdx_error *err)
{
    hdx_code code = hdx_arguments_check(a, common, HDX_COUNT(common), before, err);
    if (code == HDX_OK)
        code = check_scope(a, before, err);
    if (code == HDX_OK)
        code = check_view(a, before, err);
    if (code == HDX_OK)
        code = check_after(a, before, err);
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
