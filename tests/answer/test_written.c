/*
 * test_written.c - answers of a session, shaped and written in each format, and every schema: answers.txt has the
 * checksums (support/checksums.h).
 */
#include "answer/answer.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <unistd.h>

static bool put(void *to, const char *bytes, size_t len)
{
    hdx_buffer_put(to, bytes, len);
    return true;
}

/* "json histogram by=class limit=20", into the folder that is the present one: no name of it is in a document. */
static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char         words[512];
    hdx_argument at[16];
    size_t       count = 0;
    hdx_rows    *rows;
    hdx_error    err;
    hdx_sink     sink = { put, b };
    (void)snprintf(words, sizeof words, "%s", ask);
    const char *format = strtok(words, " "), *name = strtok(NULL, " ");
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        at[count] = (hdx_argument){ word, value };
    }
    if (strcmp(format, "schema") == 0) {
        char          *text;
        const hdx_code code = hdx_answer_schema(hdx_answer_named(name), at, count, &text, &err);
        cr_assert(code == HDX_OK, "%s: %s", ask, err.message);
        hdx_buffer_text(b, text);
        hdx_text_free(text);
        return b->len;
    }
    const hdx_render_options options = { .format = strcmp(format, "json") == 0    ? HDX_FORMAT_JSON
                                                   : strcmp(format, "jsonl") == 0 ? HDX_FORMAT_JSONL
                                                   : strcmp(format, "tsv") == 0   ? HDX_FORMAT_TSV
                                                   : strcmp(format, "csv") == 0   ? HDX_FORMAT_CSV
                                                                                  : HDX_FORMAT_TABLE };
    cr_assert(hdx_answer_run(context, name, at, count, &rows, &err) == HDX_OK, "%s: %s", ask, err.message);
    cr_assert(hdx_render(rows, &options, &sink, &err) == HDX_OK, "%s: %s", ask, err.message);
    hdx_rows_close(rows);
    return b->len;
}

Test(written, answers_are_what_they_were)
{
    char              folder[TEST_FOLDER], command[TEST_FOLDER + 256];
    hdx_index_options options = { .dump = "app.hprof.gz" };
    hdx_session      *session;
    hdx_error         err;
    test_folder_make(folder, "written"); /* what is stripped lies in it too */
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0 && chdir(folder) == 0);
    cr_assert(hdx_session_open(&options, &session, &err) == HDX_OK, "%s", err.message);
    checksums_check(HDX_TREE "/tests/answer/answers.txt", text_of, session);
    hdx_session_close(session);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
