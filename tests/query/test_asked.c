/*
 * test_asked.c - many questions to a heap with one of everything (town.h), and many that are refused: all rows and the
 * document, or code, place, words and hint. asked.txt has the checksums.
 */
#include "asks.h"
#include "town.h"
#include "support/checksums.h"

/* An argument may hold blanks, written _ . */
static uint64_t ask(void *context, const char *line, hdx_buffer *b)
{
    heap        *h = context;
    char         words[512];
    hdx_argument at[16];
    size_t       count = 0;
    hdx_rows    *rows = NULL;
    uint64_t     n = 0;
    hdx_error    err = { .offset = HDX_NOWHERE };
    (void)snprintf(words, sizeof words, "%s", line);
    const char *scope = strtok(words, " "), *name = strtok(NULL, " ");
    cr_assert(scope != NULL && name != NULL, "%s", line);
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *c = value; c != NULL && *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        cr_assert(count < HDX_COUNT(at));
        at[count] = (hdx_argument){ word, value };
    }
    const hdx_question *question = question_named(name);
    hdx_arguments       a = { &question->declared, at, count };
    h->q.scope = strcmp(scope, "live") == 0 ? HDX_LIVE : strcmp(scope, "all") == 0 ? HDX_ALL : HDX_GARBAGE;
    hdx_code code = hdx_arguments_check(&a, NULL, 0, "", &err);
    if (code == HDX_OK)
        code = question->open(&h->q, &a, &rows, &err);
    if (code == HDX_OK)
        code = answer_text(rows, b, &n, &err);
    if (code != HDX_OK)
        cr_expect(err.code == code, "%s: the words say %s", line, hdx_code_name(err.code));
    if (code != HDX_OK)
        hdx_buffer_format(b, "%s %s %llu: %s (%s)\n", hdx_code_name(code), err.where, (unsigned long long)err.offset,
                          err.message, err.hint);
    hdx_rows_close(rows);
    return n;
}

Test(asked, is_answered_as_before)
{
    heap h;
    town_make(&h);
    checksums_check(HDX_TREE "/tests/query/asked.txt", ask, &h);
    heap_close(&h);
}

/* Threads change no answer, nor does the dump's absence where it is not needed. */
static void collect(heap *h, hdx_buffer *b)
{
    static const char *const asks[] = { "live histogram",
                                        "live histogram retained",
                                        "all histogram by=package",
                                        "live histogram by=superclass retained",
                                        "live dominators depth=9",
                                        "live dominators by=class",
                                        "live retained class=app.*",
                                        "live roots",
                                        "all table:references",
                                        "all table:classes",
                                        "live table:loaders" };
    for (size_t i = 0; i < HDX_COUNT(asks); i++)
        (void)ask(h, asks[i], b);
}
Test(asked, is_answered_alike_by_any_number_of_threads)
{
    heap       h;
    hdx_buffer one = hdx_buffer_of(NULL), some = hdx_buffer_of(NULL);
    town_make(&h);
    h.q.threads = 1;
    collect(&h, &one);
    for (unsigned threads = 2; threads <= 5; threads++) {
        h.q.threads = threads;
        hdx_buffer_clear(&some);
        collect(&h, &some);
        cr_expect(one.len == some.len && memcmp(one.at, some.at, one.len) == 0, "%u threads", threads);
    }
    hdx_buffer_free(&one);
    hdx_buffer_free(&some);
    heap_close(&h);
}
