/*
 * test_written.c - answers of a session, shaped and written in each format, and every schema: answers.txt has the
 * checksums (support/checksums.h).
 */
#include "answer/asks.h"
#include "support/checksums.h"
#include "support/folder.h"

#include <unistd.h>

/* Into the folder that is the present one: no name of it is in a document. */
static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    cr_expect(asked_text(context, ask, b) == HDX_OK, "%s: %s", ask, b->at);
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
