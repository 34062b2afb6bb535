/*
 * test_crowd.c - questions to a heap of many objects (library_dump.h): several workers, who take turns at levels,
 * arrays and Strings that are too few in small heaps, answer what one alone does.
 */
#define LIBRARY_OBJECTS 20000u
#include "asks.h"
#include "library_dump.h"
#include "support/checksums.h"

#include <stdlib.h>

/* As in asked.txt: "live histogram by=package". */
static hdx_code ask(heap *h, const char *line, hdx_buffer *b)
{
    char         words[512];
    hdx_argument at[16];
    size_t       count = 0;
    hdx_rows    *rows = NULL;
    uint64_t     n = 0;
    hdx_error    err = { .offset = HDX_NOWHERE };
    (void)snprintf(words, sizeof words, "%s", line);
    const char *scope = strtok(words, " "), *name = strtok(NULL, " ");
    for (char *word; (word = strtok(NULL, " ")) != NULL; count++) {
        char *value = strchr(word, '=');
        if (value != NULL)
            *value++ = '\0';
        for (char *c = value; c != NULL && *c != '\0'; c++)
            *c = *c == '_' ? ' ' : *c;
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
    hdx_buffer_format(b, "%s %s\n", hdx_code_name(code), code != HDX_OK ? err.message : "");
    hdx_rows_close(rows);
    return code;
}

/* A few of each question. */
static bool is_chosen(const char *name, char last[64], unsigned *times)
{
    static const char *const left_out[] = { "object", "path", "refs", "info", "the" };
    const size_t             len = strcspn(name, " ");
    for (size_t i = 0; i < HDX_COUNT(left_out); i++)
        if (strlen(left_out[i]) == len && strncmp(name, left_out[i], len) == 0)
            return false;
    if (strlen(last) != len || strncmp(name, last, len) != 0) {
        (void)snprintf(last, 64, "%.*s", (int)len, name);
        *times = 0;
    }
    return ++*times <= 3;
}

/* One thread and three: the same answer. False: there is none. */
static bool is_alike(heap *h, const char *line)
{
    hdx_buffer one = hdx_buffer_of(NULL), some = hdx_buffer_of(NULL);
    h->q.threads = 1;
    const hdx_code code = ask(h, line, &one);
    h->q.threads = 3;
    cr_expect(ask(h, line, &some) == code && one.len == some.len && memcmp(one.at, some.at, one.len) == 0, "%s", line);
    hdx_buffer_free(&one);
    hdx_buffer_free(&some);
    return code == HDX_OK;
}

/* Workers take 128 Ki objects at a time: these are three times as many. */
static dump_maker *many_texts(void)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    for (unsigned i = 0; i < 170000; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "text %u", i);
        const uint64_t at = dump_maker_string(m, string, text);
        if (i % 10 != 0)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, at, 0, 0);
    }
    return m;
}

Test(crowd, texts_are_found_by_any_number_of_threads, .timeout = 120)
{
    static const char *const lines[] = { "live strings match=/77$/", "garbage strings match=*99*",
                                         "all strings match=/9.9.[05]$/" };
    heap                     h;
    heap_open(&h, many_texts());
    for (size_t i = 0; i < HDX_COUNT(lines); i++)
        cr_expect(is_alike(&h, lines[i]), "%s", lines[i]);
    heap_close(&h);
}

/* The class of most instances is one of arrays: rows are as many as was said (asks.h). */
Test(crowd, of_arrays_is_listed_to_the_last)
{
    static const char *const lines[] = { "live arrays waste=constant", "all arrays waste=constant", "live arrays" };
    dump_maker              *m = dump_maker_new(8);
    const uint64_t           object = dump_maker_class(m, "java.lang.Object", 0, "");
    heap                     h;
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    (void)dump_maker_class(m, "long[]", object, "");
    for (unsigned i = 0; i < 60; i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_primitives(m, i % 6 == 0 ? 'J' : 'B', NULL, 10 + i), 0,
                        0);
    heap_open(&h, m);
    cr_expect(hdx_text_is(hdx_graph_class(h.g, 0)->name, "byte[]"));
    for (size_t i = 0; i < HDX_COUNT(lines); i++)
        cr_expect(is_alike(&h, lines[i]), "%s", lines[i]);
    heap_close(&h);
}

Test(crowd, is_answered_alike_by_any_number_of_threads, .timeout = 120)
{
    heap        h;
    char        line[CHECKSUMS_LINE], last[64] = "";
    const char *one;
    unsigned    times = 0, compared = 0;
    FILE       *f = fopen(HDX_TREE "/tests/query/asked.txt", "r");
    cr_assert(f != NULL);
    heap_open(&h, library_dump(8, 77));
    while ((one = checksums_next_ask(f, line)) != NULL) {
        const char *name = strchr(one, ' ');
        if (name != NULL && is_chosen(name + 1, last, &times))
            compared += is_alike(&h, one);
    }
    cr_expect(compared > 60, "%u", compared);
    (void)fclose(f);
    heap_close(&h);
}
