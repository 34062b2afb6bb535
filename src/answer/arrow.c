/*
 * arrow.c - an answer as an Arrow C stream. A consumer may read it on any thread, even after the session is closed:
 * each stream keeps the session open, and a lock lets only one stream read at a time.
 */
#include "answer/answer.h"
#include "columns/columns.h"

static void enter(void *context) { (void)pthread_mutex_lock(&((hdx_session *)context)->asking); }
static void leave(void *context) { (void)pthread_mutex_unlock(&((hdx_session *)context)->asking); }
static void release(void *context) { hdx_answer_leave(context); }

hdx_code hdx_answer_arrow(hdx_session *s, const char *name, const hdx_argument *arguments, size_t count,
                          struct ArrowArrayStream *out, hdx_error *err)
{
    const hdx_keeper keeper = { s, enter, leave, release };
    hdx_rows        *rows = NULL;
    hdx_argument    *all = hdx_mem_array(NULL, count + 2, sizeof *all);
    *out = (struct ArrowArrayStream){ 0 };
    if (all == NULL)
        return hdx_no_memory(err, "arguments", count * sizeof *all);
    all[0] = (hdx_argument){ "document", "false" };
    all[1] = (hdx_argument){ "texts", "whole" };
    if (count > 0)
        memcpy(all + 2, arguments, count * sizeof *all);
    enter(s);
    hdx_code code = hdx_answer_run(s, name, all, count + 2, &rows, err);
    leave(s);
    hdx_mem_put(NULL, all, (count + 2) * sizeof *all);
    if (code != HDX_OK)
        return code;
    if (rows == NULL) /* a callback of the session has received them (hdx_session_events) */
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "the rows of %.60s are already being read", name);
    atomic_fetch_add(&s->uses, 1);
    return hdx_arrow_stream(rows, &keeper, out, err);
}
