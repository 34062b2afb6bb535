/*
 * sessions.c - two sessions in two threads, each with its own bound on the memory of its questions.
 *
 * One has room for all it asks, the other for little: the first gets the answers that it gets alone, the second is
 * refused what does not fit and answered the rest. Neither notices the other.
 */
#include "place.h"

#include <pthread.h>
#include <string.h>

#define ROUNDS 6u

typedef struct asker {
    const char *dump, *index;
    uint64_t    limit, sum;
    unsigned    answered, refused;
    pthread_t   thread;
} asker;

static void read_rows(asker *a, hdx_rows *rows)
{
    const hdx_cell *cells;
    unsigned        n;
    (void)hdx_rows_columns(rows, &n);
    while (hdx_rows_next(rows, &cells))
        for (unsigned i = 0; i < n; i++)
            if (cells[i].kind == HDX_CELL_UINT || cells[i].kind == HDX_CELL_ADDRESS)
                a->sum = (a->sum ^ cells[i].as.natural) * 0x9e3779b97f4a7c15ull;
}

static void question(asker *a, hdx_session *s, const char *name, const hdx_argument *arguments, size_t count)
{
    hdx_rows *rows = NULL;
    hdx_error err = { .offset = HDX_NOWHERE };
    hdx_code  code = hdx_answer_run(s, name, arguments, count, &rows, &err);
    if (code == HDX_OK) {
        read_rows(a, rows);
        code = hdx_rows_end(rows, &err);
    }
    hdx_rows_close(rows);
    if (code != HDX_OK && (code != HDX_LIMIT || strstr(err.message, " for queries") == NULL))
        die(name, &err);
    a->answered += code == HDX_OK;
    a->refused += code == HDX_LIMIT;
}

static void *ask(void *context)
{
    static const hdx_argument sorted[] = { { "class", "*" }, { "sort", "shallow" } };
    static const hdx_argument labelled[] = { { "class", "java.lang.String" }, { "sort", "label" } };
    static const hdx_argument by[] = { { "by", "package" } };
    asker                    *a = context;
    const hdx_index_options   options = { .dump = a->dump, .index_dir = a->index, .threads = 2 };
    hdx_session              *s = NULL;
    hdx_error                 err;
    if (hdx_session_open(&options, &s, &err) != HDX_OK)
        die("a session", &err);
    hdx_session_limit(s, a->limit);
    for (unsigned i = 0; i < ROUNDS; i++) {
        question(a, s, "objects", sorted, 2);
        question(a, s, "objects", labelled, 2);
        question(a, s, "dominators", NULL, 0);
        question(a, s, "histogram", by, 1);
    }
    hdx_session_close(s);
    return NULL;
}

int main(void)
{
    place p;
    char  index[96];
    place_make(&p, 20000);
    snprintf(index, sizeof index, "%s/a.hdx", p.folder);
    asker alone = { .dump = p.dump, .index = index }, roomy = alone, narrow = alone;
    (void)ask(&alone);
    roomy.limit = 256u << 20;
    narrow.limit = 400000;
    if (pthread_create(&roomy.thread, NULL, ask, &roomy) != 0 ||
        pthread_create(&narrow.thread, NULL, ask, &narrow) != 0)
        die("no thread", NULL);
    pthread_join(roomy.thread, NULL);
    pthread_join(narrow.thread, NULL);
    if (alone.refused + roomy.refused != 0 || roomy.sum != alone.sum)
        die("a session with room was answered otherwise", NULL);
    if (narrow.refused < ROUNDS || narrow.answered < ROUNDS)
        die("a session with little room was answered too much or too little", NULL);
    test_folder_remove(p.folder);
    return 0;
}
