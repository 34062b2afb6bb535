/* test_folder.c - dumps of a folder that a batch wrote to: which applications they are of, and statuses that are none.
 */
#include "answer/answer.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char notices[2000];

static void notice(void *context, const char *line)
{
    const size_t len = strlen(notices);
    (void)context;
    (void)snprintf(notices + len, sizeof notices - len, "%s\n", line);
}

static bool go_on(void *context)
{
    (void)context;
    return false;
}

static hdx_code take(void *context, const char *index, const char *application, hdx_error *err)
{
    (void)context;
    (void)index;
    (void)application;
    (void)err;
    return HDX_OK;
}

Test(folder, waits_for_no_pipe_among_the_statuses_of_a_batch, .timeout = 20)
{
    char        folder[TEST_FOLDER];
    bool        is_one = false;
    hdx_error   err = { .offset = HDX_NOWHERE };
    hdx_session s = { .options = { .notice = notice }, .progress = { .cancelled = go_on } };
    test_folder_make_fast(folder, "folder");
    cr_assert(chdir(folder) == 0 && mkdir("out", 0700) == 0 && mkdir("out/status", 0700) == 0 &&
              mkdir("out/claims", 0700) == 0 && mkfifo("out/status/x.json", 0600) == 0);
    cr_expect(hdx_answer_batch_output(&s, "out", take, NULL, &is_one, &err) == HDX_OK && is_one, "%s", err.message);
    cr_expect_str_eq(notices, "warning: skipping out/status/x.json: it is not a valid status file\n");
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

static unsigned long compared;

int strcmp(const char *a, const char *b)
{
    compared++;
    for (; *a != '\0' && *a == *b; a++)
        b++;
    return (unsigned char)*a - (unsigned char)*b;
}

Test(folder, compares_names_of_applications_as_often_as_there_are_dumps)
{
    enum { MANY = 1000 };
    hdx_error    err = { .offset = HDX_NOWHERE };
    size_t       count = 0;
    answer_dump *dumps = calloc(2u * MANY, sizeof *dumps);
    char(*names)[24] = calloc(MANY, sizeof *names);
    hdx_session s = { .dumps = dumps, .dump_count = 2u * MANY };
    cr_assert(dumps != NULL && names != NULL);
    for (unsigned i = 0; i < MANY; i++) { /* two dumps of each */
        (void)snprintf(names[i], sizeof names[i], "application-%u", i);
        dumps[i].application = dumps[2u * MANY - 1 - i].application = names[i];
        dumps[i].listed = dumps[2u * MANY - 1 - i].listed = true;
    }
    compared = 0;
    cr_expect(hdx_answer_choose_application(&s, NULL, true, &count, &err) == HDX_USAGE);
    cr_expect(compared <= 2u * MANY, "%lu", compared);
    cr_expect_str_eq(err.message, "the dumps belong to 1000 applications: application-0, application-1, application-2, "
                                  "application-3, application-4, application-5, application-6, application-7 and 992 "
                                  "more");
    cr_expect(hdx_answer_choose_application(&s, "application-7", true, &count, &err) == HDX_OK && count == 2);
    cr_expect(compared <= 10u * MANY, "%lu", compared);
    cr_expect(s.dumps[0].application == names[7] && s.dumps[1].application == names[7] &&
              s.dumps[2].application == names[0]);
    free(names);
    free(dumps);
}
