/*
 * content.c - the content of one object as bytes: a text, an array or a picture.
 */
#include "answer/answer.h"

#include "query/texts/content.h"

/* Finds the single object that the arguments name. */
static hdx_code object_of(const hdx_query *q, const hdx_arguments *a, hdx_id *id, hdx_error *err)
{
    size_t   count = 0;
    hdx_id  *ids = NULL;
    hdx_code code = hdx_argument_objects(q, a, &ids, &count, err);
    if (code == HDX_OK && count != 1)
        code = hdx_hint(
            err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--text needs a single object, but %zu are named", count),
            "for several texts use --format jsonl, which has full labels");
    if (code == HDX_OK)
        *id = ids[0];
    hdx_ids_free(ids);
    return code;
}

hdx_code hdx_answer_content(hdx_session *s, const hdx_argument *arguments, size_t count, hdx_put *put, void *context,
                            hdx_content *what, hdx_error *err)
{
    const hdx_arguments a = { hdx_answer_named("object"), arguments, count };
    hdx_id              id = HDX_NO_ID;
    hdx_graph          *g;
    hdx_code            code = hdx_answer_check(a.answer, arguments, count, "", err);
    if (code != HDX_OK || (code = hdx_session_graph(s, 0, &g, err)) != HDX_OK)
        return code;
    const hdx_query q = hdx_answer_query(s, &a, g);
    code = object_of(&q, &a, &id, err);
    return code != HDX_OK ? code : hdx_query_content(&q, id, put, context, what, err);
}
