/*
 * test_limits.c - sessions with a bound on the memory of their questions: an answer, shaped and with its head,
 * fits or it says that it does not, and the session goes on.
 */
#include "answer/answer.h"
#include "support/folder.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool put(void *to, const char *bytes, size_t len)
{
    hdx_buffer_put(to, bytes, len);
    return true;
}

static const char *const asks[] = {
    "info",
    "histogram by=class limit=20",
    "histogram by=package sort=objects",
    "histogram by=superclass retained",
    "histogram where=shallow>1K columns=class,shallow",
    "histogram reachable=all",
    "histogram scan by=package",
    "dominators",
    "dominators object=thread:main depth=4",
    "dominators by=class sort=class",
    "dominators by=package inside=5",
    "object object=class:java.lang.Thread",
    "objects class=java.lang.String sort=label",
    "objects class=java.lang.String where=label~^a",
    "objects class=* sort=class limit=50",
    "refs object=thread:main in",
    "path object=thread:clerk paths=3",
    "path object=thread:clerk merge",
    "retained class=java.lang.Thread",
    "roots limit=50",
    "roots by=type",
    "threads stacks locals",
    "threads by=pool",
    "thread-locals",
    "referents sort=field",
    "referents by=class",
    "finalizers",
    "cleaners by=class",
    "direct-buffers",
    "open-files",
    "biggest-arrays least=16",
    "suspects threshold=2",
    "check max=retained\tbookshop.*\t1M max=waste\tstrings\t1 max=threads\t1 no-suspects=10%",
    "check growth=10%\tabove\t1 baseline=app.hprof.gz max=waste\tcollections\t1 no-leaks=all",
    "export table=classes",
    "export table=loaders",
    "export table=objects limit=50",
    "export table=named_references sort=dst limit=50",
};

/* "histogram by=class limit=20" as text. */
static hdx_code answered(hdx_session *s, const char *ask, hdx_buffer *b, hdx_error *err)
{
    char                     words[512];
    hdx_argument             at[16];
    size_t                   count = 0;
    hdx_rows                *rows = NULL;
    hdx_sink                 sink = { put, b };
    const hdx_render_options options = { .format = HDX_FORMAT_JSON };
    (void)snprintf(words, sizeof words, "%s", ask);
    const char *name = strtok(words, " ");
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        at[count] = (hdx_argument){ word, value };
    }
    *err = (hdx_error){ .offset = HDX_NOWHERE };
    hdx_code code = hdx_answer_run(s, name, at, count, &rows, err);
    if (code == HDX_OK)
        code = hdx_render(rows, &options, &sink, err);
    hdx_rows_close(rows);
    cr_expect(atomic_load(&s->mem.used) == 0, "%s: %llu bytes are left", ask, (unsigned long long)s->mem.used);
    return code;
}

static hdx_session *open_session(char *folder)
{
    char              command[TEST_FOLDER + 256];
    hdx_index_options options = { .dump = "app.hprof.gz", .threads = 1 };
    hdx_session      *session;
    hdx_error         err;
    test_folder_make(folder, "limits");
    (void)snprintf(command, sizeof command, "cp '%s' '%s/app.hprof.gz'", HDX_TREE "/examples/bookshop.hprof.gz",
                   folder);
    cr_assert(system(command) == 0 && chdir(folder) == 0);
    cr_assert(hdx_session_open(&options, &session, &err) == HDX_OK, "%s", err.message);
    return session;
}

static void close_session(hdx_session *s, const char *folder)
{
    hdx_session_close(s);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

Test(limits, an_answer_of_a_bounded_session_is_whole_or_does_not_fit)
{
    char         folder[TEST_FOLDER];
    hdx_session *s = open_session(folder);
    hdx_error    err;
    unsigned     refused = 0;
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        hdx_buffer whole = hdx_buffer_of(NULL);
        hdx_session_limit(s, 0);
        (void)answered(s, asks[i], &whole, &err); /* what is kept beside the index is from now on */
        hdx_buffer_clear(&whole);
        atomic_store(&s->mem.peak, 0);
        cr_assert(answered(s, asks[i], &whole, &err) == HDX_OK, "%s: %s", asks[i], err.message);
        const uint64_t peak = s->mem.peak;
        for (uint64_t limit = peak; limit > 1000; limit -= limit / 3) {
            hdx_buffer text = hdx_buffer_of(NULL);
            atomic_store(&s->mem.peak, 0);
            hdx_session_limit(s, limit);
            const hdx_code code = answered(s, asks[i], &text, &err);
            cr_expect(s->mem.peak <= limit, "%s", asks[i]);
            if (code == HDX_OK) /* info alone leaves out what stands out, and says so in the answer */
                cr_expect((text.len == whole.len && memcmp(text.at, whole.at, text.len) == 0) ||
                              (hdx_buffer_text(&text, ""),
                               strstr(text.at, "because they need more memory than allowed") != NULL),
                          "%s: another answer in %llu bytes", asks[i], (unsigned long long)limit);
            else
                cr_expect(code == HDX_LIMIT && limit < peak, "%s: %s in %llu bytes: %s", asks[i], hdx_code_name(code),
                          (unsigned long long)limit, err.message);
            refused += code != HDX_OK;
            hdx_buffer_free(&text);
        }
        hdx_buffer_free(&whole);
    }
    cr_expect(refused > 100, "%u", refused);
    close_session(s, folder);
}

Test(limits, what_did_not_fit_is_said_with_its_bound_and_fits_in_more)
{
    char         folder[TEST_FOLDER];
    hdx_session *s = open_session(folder);
    hdx_error    err;
    hdx_buffer   text = hdx_buffer_of(NULL);
    hdx_session_limit(s, 300000);
    cr_assert(answered(s, "objects class=* sort=shallow", &text, &err) == HDX_LIMIT);
    cr_expect(strcmp(err.message,
                     "no memory for rows to sort: 131072 more bytes exceed the limit of 300000 for queries") == 0,
              "%s", err.message);
    cr_expect(strcmp(err.hint, "raise the limit with --memory") == 0, "%s", err.hint);
    cr_expect(answered(s, "histogram", &text, &err) == HDX_OK, "%s", err.message);
    hdx_session_limit(s, 0);
    cr_expect(answered(s, "objects class=* sort=shallow", &text, &err) == HDX_OK, "%s", err.message);
    hdx_buffer_free(&text);
    close_session(s, folder);
}
