/*
 * check.c - whether a heap keeps rules, and what does not.
 *
 *     $ check bookshop.hprof.gz
 *     max retained bookshop.* 1M: 2.1 MB by 2,038 objects of 9 classes, more than 1.0 MB
 */
#include <heapdex/answer.h>

#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 3;
}

static int check(hdx_session *session)
{
    hdx_rows *rows;
    hdx_error err;
    // check.h
    const hdx_argument arguments[] = { { "max", "retained bookshop.* 1M" }, { "no-damage", "true" } };
    if (hdx_answer_run(session, "check", arguments, 2, &rows, &err) != HDX_OK)
        return complain(&err);
    const hdx_check *check = hdx_session_check(session);
    for (uint64_t i = 0; i < check->result_count; i++)
        if (check->results[i].state == HDX_CHECK_BROKEN)
            printf("%s: %s\n", check->results[i].rule, check->results[i].message);
    hdx_rows_close(rows);
    // end
    return 0;
}

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    hdx_session            *session;
    hdx_error               err;
    if (hdx_session_open(&options, &session, &err) != HDX_OK)
        return complain(&err);
    const int status = check(session);
    hdx_session_close(session);
    return status;
}
