/*
 * test_threads.c - which frames a thread has: of the trace that names it, of the one its root names, or none; frames,
 * classes and texts that are not there.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[TEST_FOLDER], dump[64];

static void enter(void)
{
    test_folder_make(folder, "threads");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
}
static void leave(void) { test_folder_remove(folder); }

TestSuite(threads, .init = enter, .fini = leave, .timeout = 60);

static void put(uint8_t *to, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

static void put_frame(dump_maker *m, uint64_t id, uint64_t method, uint64_t signature, uint64_t source, uint32_t serial,
                      int32_t line)
{
    uint8_t body[40];
    put(body, id, 8);
    put(body + 8, method, 8);
    put(body + 16, signature, 8);
    put(body + 24, source, 8);
    put(body + 32, serial, 4);
    put(body + 36, (uint32_t)line, 4);
    dump_maker_top(m, HDX_TOP_FRAME, body, sizeof body);
}

/* "class.method signature source:line, ..." */
static void words_of(const hdx_thread *t, char out[400])
{
    out[0] = 0;
    for (uint32_t i = 0; i < t->frame_count; i++) {
        const hdx_frame *f = &t->frames[i];
        const hdx_text   texts[] = { f->class_name, f->method, f->signature, f->source };
        for (size_t k = 0; k < 4; k++)
            cr_expect(memchr(texts[k].at, '\0', texts[k].len) == NULL, "frame %u, text %zu", i, k);
        (void)snprintf(out + strlen(out), 400 - strlen(out), "%s%.*s.%.*s%.*s %.*s:%d", i == 0 ? "" : ", ",
                       (int)f->class_name.len, f->class_name.at, (int)f->method.len, f->method.at,
                       (int)f->signature.len, f->signature.at, (int)f->source.len, f->source.at, f->line);
    }
}

/* The threads 1 .. n of the dump, by serial. */
static void expect(dump_maker *m, const char *const words[], uint32_t n, const char *what)
{
    const hdx_index_options options = { .dump = dump, .threads = 1, .force = true };
    hdx_index_report        report;
    hdx_graph              *g;
    hdx_error               err;
    uint64_t                count = 0;
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s", err.message);
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    cr_assert(count == n, "%s: %llu threads", what, (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        char got[400];
        words_of(&threads[i], got);
        cr_assert(threads[i].serial >= 1 && threads[i].serial <= n);
        cr_expect(strcmp(got, words[threads[i].serial - 1]) == 0, "%s: thread %u has \"%s\", not \"%s\"", what,
                  threads[i].serial, got, words[threads[i].serial - 1]);
    }
    hdx_graph_close(g);
}

/* n threads, the root of each naming the trace that is said. */
static void put_threads(dump_maker *m, uint64_t class_id, const int32_t *traces, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, dump_maker_instance(m, class_id, NULL), i + 1, traces[i]);
}

/* Ids of frames one after the other, with gaps, and falling: each way they are found. */
Test(threads, have_the_frames_of_the_trace_that_is_theirs)
{
    static const uint64_t ids[][3] = { { 0x5000, 0x5001, 0x5002 },
                                       { 0x5000, 0x5001, 0x5003 },
                                       { 0x5002, 0x5001, 0x5000 },
                                       { 0, 1, 2 },
                                       { 1, 2, 3 },
                                       { 7, 9, 8 } };
    for (size_t k = 0; k < sizeof ids / sizeof *ids; k++)
        for (unsigned gap = 0; gap < 2; gap++) {
            dump_maker    *m = dump_maker_new(8);
            const uint64_t run = dump_maker_name(m, "run"), nothing = dump_maker_name(m, "()V"),
                           file = dump_maker_name(m, "A.java"), other = dump_maker_name(m, "wait");
            const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
            (void)dump_maker_class(m, "java/lang/Class", object, "");
            (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
            const uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, "");
            const uint32_t one = dump_maker_load(m, 0x9100, "app/One");
            if (gap == 1) { /* serials that do not count up */
                uint8_t body[24];
                put(body, 5000, 4);
                put(body + 4, 0x9200, 8);
                put(body + 12, 0, 4);
                put(body + 16, run, 8);
                dump_maker_top(m, HDX_TOP_LOAD_CLASS, body, sizeof body);
            }
            const uint64_t *f = ids[k];
            put_frame(m, f[0], run, nothing, file, one, 11);
            put_frame(m, f[1], other, 0, 0, one, -1);
            put_frame(m, f[2], run, nothing, file, 777, 13); /* of a class that was never loaded */
            dump_maker_trace(m, 1, 0, NULL, 0);
            dump_maker_trace(m, 10, 1, f, 3);
            dump_maker_trace(m, 20, 0, &f[1], 1); /* of nobody, as agents write them */
            dump_maker_trace(m, 40, 4, &f[2], 1);
            dump_maker_trace(m, 50, 5, (const uint64_t[]){ 0x123456, f[0] }, 2); /* a frame that is not there */
            dump_maker_trace(m, 60, 6, f, 3); /* the same place as that of thread 1 */
            dump_maker_trace(m, 70, 7, f, 2);
            put_threads(m, thread, (const int32_t[]){ 10, 20, 10, 99, 20, 60, 70, 1 }, 8);
            expect(m,
                   (const char *const[]){
                       "app.One.run()V A.java:11, app.One.wait :-1, <UNKNOWN CLASS>.run()V A.java:13",
                       "app.One.wait :-1",                              /* named by its root, and of nobody */
                       "",                                              /* its root names that of another */
                       "<UNKNOWN CLASS>.run()V A.java:13",              /* its root names nothing, its trace it */
                       "<UNKNOWN CLASS>. :0, app.One.run()V A.java:11", /* its root names that of nobody: its own */
                       "app.One.run()V A.java:11, app.One.wait :-1, <UNKNOWN CLASS>.run()V A.java:13",
                       "app.One.run()V A.java:11, app.One.wait :-1", "" },
                   8,
                   k == 0   ? "in order"
                   : k == 1 ? "with a gap"
                            : "any order");
        }
}

/* A single trace is the dummy that stands for none. */
Test(threads, have_no_frames_where_there_is_one_trace)
{
    for (unsigned more = 0; more < 2; more++) {
        dump_maker    *m = dump_maker_new(8);
        const uint64_t run = dump_maker_name(m, "run"), object = dump_maker_class(m, "java/lang/Object", 0, "");
        (void)dump_maker_class(m, "java/lang/Class", object, "");
        (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
        const uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, ""), id = 5;
        put_frame(m, id, run, 0, 0, dump_maker_load(m, 0x9100, "app/One"), 11);
        dump_maker_trace(m, 1, 1, &id, 1);
        if (more == 1)
            dump_maker_trace(m, 2, 9, &id, 1);
        put_threads(m, thread, (const int32_t[]){ 1 }, 1);
        expect(m, (const char *const[]){ more == 1 ? "app.One.run :11" : "" }, 1, more == 1 ? "two" : "one");
    }
}

/* Frames that follow each other and differ in one thing only, and some that differ in their line alone. */
Test(threads, have_frames_that_are_alike_but_for_one_thing)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t run = dump_maker_name(m, "run"), none = dump_maker_name(m, "()V"),
                   file = dump_maker_name(m, "A.java"), other = dump_maker_name(m, "wait"),
                   one_int = dump_maker_name(m, "(I)V"), b = dump_maker_name(m, "B.java");
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, "");
    const uint32_t one = dump_maker_load(m, 0x9100, "app/One"), two = dump_maker_load(m, 0x9200, "app/Two");
    put_frame(m, 1, run, none, file, one, 1);
    put_frame(m, 2, run, none, file, one, 2);
    put_frame(m, 3, other, none, file, one, 3);
    put_frame(m, 4, other, one_int, file, one, 4);
    put_frame(m, 5, other, one_int, b, one, 5);
    put_frame(m, 6, other, one_int, b, two, 6);
    put_frame(m, 7, other, one_int, b, two, 7);
    dump_maker_trace(m, 1, 1, (const uint64_t[]){ 1, 2, 3, 4, 5, 6, 7 }, 7);
    dump_maker_trace(m, 2, 2, (const uint64_t[]){ 1, 1, 3 }, 3);
    put_threads(m, thread, (const int32_t[]){ 1, 2 }, 2);
    expect(m,
           (const char *const[]){
               "app.One.run()V A.java:1, app.One.run()V A.java:2, app.One.wait()V A.java:3, app.One.wait(I)V A.java:4, "
               "app.One.wait(I)V B.java:5, app.Two.wait(I)V B.java:6, app.Two.wait(I)V B.java:7",
               "app.One.run()V A.java:1, app.One.run()V A.java:1, app.One.wait()V A.java:3" },
           2, "alike");
}

/* 65,536 frames and four times those of all traces are given out; threads that come after that have none. */
Test(threads, that_all_name_one_long_trace_do_not_fill_the_index)
{
    enum { THREADS = 100, LONG = 1000, GIVEN = (65536 + 4 * LONG) / LONG };
    dump_maker    *m = dump_maker_new(8);
    const uint64_t run = dump_maker_name(m, "run"), object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, "");
    uint64_t       ids[LONG], count, whole = 0;
    int32_t        traces[THREADS];
    for (unsigned i = 0; i < LONG; i++)
        ids[i] = 5;
    for (unsigned i = 0; i < THREADS; i++)
        traces[i] = 2;
    put_frame(m, 5, run, 0, 0, dump_maker_load(m, 0x9100, "app/One"), 11);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 0, ids, LONG);
    put_threads(m, thread, traces, THREADS);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .threads = 1, .force = true };
    hdx_index_report        report;
    hdx_graph              *g;
    hdx_error               err;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s", err.message);
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert(threads[i].frame_count == LONG || threads[i].frame_count == 0);
        whole += threads[i].frame_count == LONG;
    }
    cr_expect(count == THREADS && whole == GIVEN, "%llu of %llu", (unsigned long long)whole, (unsigned long long)count);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    cr_assert(s->damage_count == 1);
    cr_expect(s->damage[0].kind == HDX_DAMAGE_COUNT && strcmp(s->damage[0].record, "STACK_TRACE") == 0 &&
                  s->damage[0].offset == 0 && s->damage[0].lost_bytes == 0 &&
                  strstr(s->damage[0].expected, "31 threads name stack traces of other threads") != NULL,
              "%s", s->damage[0].expected);
    hdx_graph_close(g);
}
