/*
 * answers.h - answers to many questions about one heap, as text that stands in a file to be read; and the same
 * questions while something is refused: then an answer is whole, or it is none.
 *
 *     static const char *const asks[] = { "live suspects threshold=2", NULL };
 *     answers_expect(&h, "trouble.txt", asks);
 *     answers_refused(&h, asks);
 *
 * An argument may hold blanks, written _ . HDX_WRITE_CHECKSUMS=/tmp/new makes a test write its file as it is now.
 */
#ifndef HDX_TESTS_QUERY_ANSWERS_H
#define HDX_TESTS_QUERY_ANSWERS_H

#include "asks.h"
#include "support/faulty.h"
#include "support/refusing.h"

/* The text against a file of this folder. */
static inline void expect_file(const char *name, const hdx_buffer *b)
{
    char        path[300], *text = calloc(1, 1u << 20);
    const char *new_path = getenv("HDX_WRITE_CHECKSUMS");
    unsigned    line = 1;
    (void)snprintf(path, sizeof path, HDX_TREE "/tests/query/%s", name);
    FILE *f = fopen(new_path != NULL ? new_path : path, new_path != NULL ? "w" : "r");
    cr_assert(f != NULL, "%s", path);
    if (new_path != NULL)
        cr_assert(eq(sz, fwrite(b->at, 1, b->len, f), b->len));
    else
        cr_assert(lt(sz, fread(text, 1, 1u << 20, f), 1u << 20));
    (void)fclose(f);
    const char *want = text, *now = b->at;
    for (; *want != '\0' && *want == *now; want++, now++)
        line += *want == '\n';
    while (want > text && want[-1] != '\n')
        want--, now--;
    cr_expect(new_path != NULL || strcmp(want, now) == 0, "%s, line %u: %.*s\nis now: %.*s", name, line,
              (int)strcspn(want, "\n"), want, (int)strcspn(now, "\n"), now);
    free(text);
}

static char        answers_noticed[512];
static inline void answers_notice(void *context, const char *line)
{
    (void)context;
    (void)snprintf(answers_noticed, sizeof answers_noticed, "%s", line);
}

/* The whole answer, what is noticed beside it, and why there are no rows; or the words of the error. */
static inline hdx_code answers_text(heap *h, const char *line, hdx_buffer *b)
{
    char                words[512];
    hdx_argument        at[16];
    size_t              count = 0;
    hdx_rows           *rows = NULL;
    uint64_t            n = 0;
    const hdx_question *question;
    hdx_buffer_clear(b);
    (void)snprintf(words, sizeof words, "%s", line);
    const char *scope = strtok(words, " "), *name = strtok(NULL, " ");
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *c = value; c != NULL && *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
        cr_assert(count < HDX_COUNT(at));
        at[count] = (hdx_argument){ word, value };
    }
    question = question_named(name);
    const hdx_arguments a = { &question->declared, at, count };
    h->q.sizes = strcmp(scope, "sizes") == 0; /* of what lives, as are "rows", without the document */
    h->q.scope = strcmp(scope, "all") == 0 ? HDX_ALL : strcmp(scope, "garbage") == 0 ? HDX_GARBAGE : HDX_LIVE;
    h->q.notice = answers_notice;
    answers_noticed[0] = '\0';
    h->err = (hdx_error){ .offset = HDX_NOWHERE };
    hdx_code code = hdx_arguments_check(&a, NULL, 0, "", &h->err);
    if (code == HDX_OK)
        code = hdx_question_open(question, &h->q, &a, &rows, &h->err);
    cr_expect(eq(int, code == HDX_OK, rows != NULL), "%s", line);
    if (code == HDX_OK)
        code = answer_text(rows, b, &n, &h->err);
    for (uint64_t i = 0; i < b->len; i++)
        b->at[i] = b->at[i] == '\0' ? '~' : b->at[i]; /* of a text: it is the end of no line */
    const char *document = code == HDX_OK && strcmp(scope, "rows") == 0 ? strstr(b->at, "\nsuspects: ") : NULL;
    if (document != NULL) {
        b->len = (uint64_t)(document + 1 - b->at);
        b->at[b->len] = '\0';
    }
    if (code == HDX_OK && n == 0)
        hdx_buffer_format(b, "nothing: %s\n", hdx_rows_empty_reason(rows) == NULL ? "-" : hdx_rows_empty_reason(rows));
    if (answers_noticed[0] != '\0')
        hdx_buffer_format(b, "notice: %s\n", answers_noticed);
    if (code != HDX_OK) {
        cr_expect(eq(int, h->err.code, code), "%s", line);
        hdx_buffer_clear(b);
        hdx_buffer_format(b, "%s %s: %s (%s)\n", hdx_code_name(code), h->err.where, h->err.message, h->err.hint);
    }
    hdx_rows_close(rows);
    return code;
}

static inline void answers_add(heap *h, const char *const *asks, hdx_buffer *all)
{
    hdx_buffer one = hdx_buffer_of(NULL);
    for (; *asks != NULL; asks++) {
        (void)answers_text(h, *asks, &one);
        hdx_buffer_format(all, "? %s\n", *asks);
        hdx_buffer_put(all, one.at, one.len);
    }
    hdx_buffer_free(&one);
}

static inline void answers_expect(heap *h, const char *file, const char *const *asks)
{
    hdx_buffer all = hdx_buffer_of(NULL);
    answers_add(h, asks, &all);
    expect_file(file, &all);
    hdx_buffer_free(&all);
}

enum { REFUSE_BUDGET, REFUSE_MEMORY, REFUSE_INPUT, REFUSE_TIME, REFUSALS };

typedef struct turns {
    unsigned left; /* 0: nobody wants to stop */
    bool     stopped;
} turns;
static inline bool answers_stop(void *context)
{
    turns *t = context;
    t->stopped = t->stopped || (t->left > 0 && --t->left == 0);
    return t->stopped;
}

/* The answer while the n-th request of a kind is refused; was there one? */
static inline bool answers_without(heap *h, const char *ask, unsigned what, unsigned n, const char *whole,
                                   hdx_buffer *now)
{
    hdx_mem            mem = { .limit = 0 };
    faulty_mem         f;
    turns              t = { what == REFUSE_TIME ? n : 0, false };
    const hdx_progress progress = { .context = &t, .cancelled = answers_stop };
    h->q.mem = &mem;
    h->q.progress = &progress;
    faulty_mem_init(&f, &mem, what == REFUSE_BUDGET ? n : 0);
    if (what == REFUSE_MEMORY)
        refusing_memory(n);
    if (what == REFUSE_INPUT)
        refusing_input(n);
    const hdx_code code = answers_text(h, ask, now);
    const bool fired = what == REFUSE_BUDGET ? faulty_mem_fired(&f) : what == REFUSE_TIME ? t.stopped : refusing_ends();
    const bool failed = what == REFUSE_INPUT  ? code == HDX_IO || code == HDX_USAGE
                        : what == REFUSE_TIME ? code == HDX_CANCELLED
                                              : code == HDX_LIMIT;
    static const char *const kinds[REFUSALS] = { [REFUSE_BUDGET] = "request for counted memory",
                                                 [REFUSE_MEMORY] = "request for memory",
                                                 [REFUSE_INPUT] = "read",
                                                 [REFUSE_TIME] = "question whether to stop" };
    cr_expect(code == HDX_OK || !fired ? strcmp(now->at, whole) == 0 : failed,
              "%s: without the %s number %u\n%s\ninstead of an error or\n%s", ask, kinds[what], n, now->at, whole);
    cr_expect(what != REFUSE_TIME || !fired || failed, "%s, turn %u: does not stop", ask, n);
    cr_expect(eq(u64, atomic_load(&mem.used), 0), "%s, request %u of kind %u", ask, n, what);
    h->q.mem = NULL;
    h->q.progress = NULL;
    return fired;
}

/* Every request is refused once: for memory that is counted, for memory that is not, for bytes of a file, for time. */
static inline unsigned answers_refused(heap *h, const char *const *asks)
{
    unsigned   refused = 0;
    hdx_buffer whole = hdx_buffer_of(NULL), now = hdx_buffer_of(NULL);
    h->q.threads = 1;
    for (; *asks != NULL; asks++) {
        (void)answers_text(h, *asks, &whole);
        (void)answers_text(h, *asks, &now); /* there is room for it: the test's own memory is not refused */
        for (unsigned what = 0; what < REFUSALS; what++)
            for (unsigned n = 1; answers_without(h, *asks, what, n, whole.at, &now); n += 1 + n / 20)
                refused++;
    }
    hdx_buffer_free(&whole);
    hdx_buffer_free(&now);
    return refused;
}

#endif
