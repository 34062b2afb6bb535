/*
 * pair.h - several small dumps and an answer about them.
 *
 *     pair p;
 *     pair_open(&p);                                     an empty folder, which is the current one
 *     cache_save("a.hprof", &(cache){ .entries = 3 });   or any dump of a maker
 *     expect_answer("a.hprof b.hprof", "diff by=package", "app,3,4,1,...\n");
 *     pair_close(&p);
 *
 * Rows are those of query/heap.h; an argument without = is a flag, a + in a value is a blank.
 */
#ifndef HDX_TESTS_COMPARE_PAIR_H
#define HDX_TESTS_COMPARE_PAIR_H

#include "answer/answer.h"
#include "answer/asks.h"
#include "query/heap.h"

#include <unistd.h>

typedef struct pair {
    char folder[TEST_FOLDER];
} pair;

static inline void pair_open(pair *p)
{
    test_folder_make_fast(p->folder, "compare");
    cr_assert(chdir(p->folder) == 0);
}

static inline void pair_close(pair *p)
{
    cr_assert(chdir("/") == 0);
    test_folder_remove(p->folder);
}

/* A session of the dumps, blanks between them. */
static inline hdx_session *session_of(const char *dumps)
{
    char         words[4096];
    hdx_session *s = NULL;
    hdx_error    err;
    (void)snprintf(words, sizeof words, "%s", dumps);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        const hdx_index_options options = { .dump = word, .threads = 1 };
        cr_assert(eq(int, s == NULL ? hdx_session_open(&options, &s, &err) : hdx_session_add(s, word, &err), HDX_OK));
    }
    return s;
}

/* `ask`: an answer and its arguments. The rows stay open; HDX_OK or what was refused in err. */
static inline hdx_code ask_session(hdx_session *s, const char *ask, hdx_rows **rows, hdx_error *err)
{
    asked a;
    char  words[512];
    (void)snprintf(words, sizeof words, "rows %s", ask);
    asked_read(&a, words);
    return hdx_answer_run(s, a.name, a.at, a.count, rows, err);
}

/* Rows, then a line for each of these extras, blanks between; what is refused is its message. Free with
 * hdx_buffer_free. */
static inline hdx_buffer answer_text(const char *dumps, const char *ask, const char *extras)
{
    hdx_session   *s = session_of(dumps);
    hdx_rows      *rows;
    hdx_error      err;
    char           keys[256];
    const hdx_code code = ask_session(s, ask, &rows, &err);
    hdx_buffer     text = hdx_buffer_of(NULL);
    if (code != HDX_OK) {
        hdx_buffer_text(&text, err.message);
    } else {
        text = rows_text(rows);
        (void)snprintf(keys, sizeof keys, "%s", extras);
        for (char *key = strtok(keys, " "); key != NULL; key = strtok(NULL, " ")) {
            hdx_buffer_format(&text, "%s ", key);
            put_cell(&text, extra(rows, key));
            hdx_buffer_text(&text, "\n");
        }
    }
    hdx_rows_close(rows);
    hdx_session_close(s);
    return text;
}

#define expect_answer_and(dumps, ask, extras, want)                                                                    \
    do {                                                                                                               \
        hdx_buffer text_ = answer_text(dumps, ask, extras);                                                            \
        cr_expect(eq(str, text_.at, (char *)want));                                                                    \
        hdx_buffer_free(&text_);                                                                                       \
    } while (0)
#define expect_answer(dumps, ask, want) expect_answer_and(dumps, ask, "", want)

/*
 * A small application:
 *
 *     class app.Cache --.held--> Object[entries] --> app.Entry (name: app.Name) each
 *     class app.Shop  --.last--> app.Shop$$Lambda$N, one of `lambdas`, of a number that differs from run to run
 *     class app.Cache --.list--> app.Node --.next--> app.Node ...
 */
typedef struct cache {
    unsigned    entries, lambdas, nodes, run;
    uint64_t    time_ms;
    const char *more; /* a class with a static instance of it; NULL: none */
} cache;

static inline void cache_save(const char *path, const cache *c)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    const uint64_t name = dump_maker_class(m, "app.Name", object, "hash:J");
    const uint64_t entry = dump_maker_class(m, "app.Entry", object, "name:L id:J");
    const uint64_t node = dump_maker_class(m, "app.Node", object, "next:L");
    uint64_t       all[256], last = 0;
    m->time_ms = c->time_ms;
    m->next_id += 0x1000u * c->run; /* addresses are others in each run */
    for (unsigned i = 0; i < c->entries; i++)
        all[i] = dump_maker_instance(m, entry, DUMP_VALUES(dump_maker_instance(m, name, NULL), i));
    const uint64_t held = dump_maker_array(m, objects, all, c->entries);
    for (unsigned i = 0; i < c->nodes; i++)
        last = dump_maker_instance(m, node, DUMP_VALUES(last));
    dump_maker_static(m, "held", 'L', held);
    dump_maker_static(m, "list", 'L', last);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app.Cache", object, ""), 0, 0);
    for (unsigned i = 0; i < c->lambdas; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "app.Shop$$Lambda$%u/0x%u", 10 * c->run + i, 4711 + i);
        const uint64_t lambda = dump_maker_class(m, text, object, "captured:L");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, lambda, NULL), 0, 0);
    }
    if (c->more != NULL) {
        const uint64_t more = dump_maker_class(m, c->more, object, "a:J");
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, more, NULL), 0, 0);
    }
    dump_maker_save(m, path);
    dump_maker_free(m);
}

#endif
