/*
 * test_asked.c - many questions to a heap with one of everything (sample_heap.h), and many that are refused: all rows
 * and the document, or code, place, words and hint. asked.txt has the answers (support/checksums.h).
 */
#include "support/questions.h"
#include "asks.h"
#include "library_dump.h"
#include "sample_heap.h"
#include "cli/leaky.h"
#include "cli/odd.h"
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
        code = hdx_question_open(question, &h->q, &a, &rows, &err);
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
    sample_heap_make(&h);
    checksums_check(HDX_TREE "/tests/query/asked.txt", ask, &h);
    heap_close(&h);
}

/*
 * The same questions to other heaps: "3 histogram" is all of asked.txt that begin so. Up to 99: sample heaps in which
 * some values are others, of two sizes of ids; then those whose dumps end too early; then heaps of other makers, from
 * 300 on of library_dump.h.
 */
typedef struct other_heaps {
    heap   h;
    long   number; /* of the one that is open; 0: none */
    char  *asked;
    size_t size;
} other_heaps;

/* As heap_open, of a dump that is there. */
static void open_dump_of(heap *h, void (*save)(const char *path, long number), long number)
{
    hdx_index_report report;
    memset(h, 0, sizeof *h);
    test_folder_make(h->folder, "query");
    (void)snprintf(h->dump, sizeof h->dump, "%s/a.hprof", h->folder);
    (void)snprintf(h->index, sizeof h->index, "%s/a.hdx", h->folder);
    save(h->dump, number);
    const hdx_index_options options = { .dump = h->dump, .index_dir = h->index, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(h->index, h->dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 2 };
}

static void save_cut(const char *path, long number)
{
    size_t         len;
    dump_maker    *m = sample_dump(8, 0, 0);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    dump_maker_save_bytes(path, bytes, len - len / 9 * (size_t)(number % 10));
    dump_maker_free(m);
}

static void save_other(const char *path, long number)
{
    if (number == 200)
        odd_make(path);
    else
        leaky_make(path, number == 201);
}

static void open_number(heap *h, long number)
{
    if (number >= 300)
        heap_open(h, library_dump(number % 2 == 0 ? 8 : 4, (uint64_t)number));
    else if (number < 100)
        heap_open(h, sample_dump(number % 4 < 2 ? 8 : 4, 20 * (uint32_t)(1 + number % 8), (uint64_t)number));
    else
        open_dump_of(h, number < 200 ? save_cut : save_other, number);
}

static uint64_t ask_all(void *context, const char *line, hdx_buffer *b)
{
    other_heaps *t = context;
    char        *question;
    const long   number = strtol(line, &question, 10);
    uint64_t     n = 0;
    if (number != t->number) {
        if (t->number != 0)
            heap_close(&t->h);
        open_number(&t->h, number);
        t->number = number;
    }
    const size_t len = strlen(++question);
    for (const char *at = t->asked, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        char words[512];
        (void)snprintf(words, sizeof words, "%.*s", (int)(end - at), at);
        const char *scope =
            words[0] == '#' || words[0] == '|' ? NULL : strchr(words, ' '); /* after rows and checksum */
        for (unsigned i = 0; i < 1 && scope != NULL; i++)
            scope = strchr(scope + 1, ' ');
        const char *name = scope != NULL ? strchr(scope + 1, ' ') : NULL;
        if (name != NULL && strncmp(name + 1, question, len) == 0 && (name[1 + len] == ' ' || name[1 + len] == '\0'))
            n += ask(&t->h, scope + 1, b);
    }
    return n;
}

Test(asked, of_other_heaps_is_answered_as_before)
{
    other_heaps t = { .number = 0 };
    FILE       *f = fopen(HDX_TREE "/tests/query/asked.txt", "r");
    cr_assert(getdelim(&t.asked, &t.size, '\0', f) > 0);
    fclose(f);
    checksums_check(HDX_TREE "/tests/query/others.txt", ask_all, &t);
    heap_close(&t.h);
    free(t.asked);
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
    sample_heap_make(&h);
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
