/* test_agent_stacks.c - whose stacks are those of a dump that the serviceability agent wrote. */
#include "heap.h"

enum { OBJECT = 0x100, CLASS = 0x200, LOADER = 0x300, THREAD = 0x400, STRING = 0x500 };

/*
 * Threads with these names, each of whose roots names trace 1, and traces with the frames "m1", "m2" ... after
 * `dummies` without any.
 */
static void make(heap *h, const char *const *names, uint32_t threads, uint32_t traces, uint32_t dummies)
{
    static const uint64_t classes[] = { OBJECT, CLASS, LOADER, THREAD, STRING };
    dump_maker           *m = dump_maker_new(8);
    char                  method[8];
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "");
    dump_maker_class_at(m, THREAD, "java.lang.Thread", OBJECT, "eetop:J name:L");
    dump_maker_class_at(m, STRING, "java.lang.String", OBJECT, "value:L coder:B hash:I");
    for (size_t i = 0; i < HDX_COUNT(classes); i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[i], 0, 0);
    const uint32_t serial = dump_maker_load(m, 0x600, "app/Main");
    for (uint32_t i = 0; i < dummies; i++)
        dump_maker_trace(m, 1, 0, NULL, 0);
    for (uint32_t i = 1; i <= traces; i++) {
        (void)snprintf(method, sizeof method, "m%u", i);
        const uint64_t frame = dump_maker_frame(m, method, serial, (int32_t)i);
        dump_maker_trace(m, i + 1, i, &frame, 1);
    }
    for (uint32_t i = 0; i < threads; i++) {
        const uint64_t name = names[i] == NULL ? 0 : dump_maker_string(m, STRING, names[i]);
        dump_maker_instance_at(m, 0x100000 + 0x100 * i, THREAD, DUMP_VALUES(0, name));
    }
    for (uint32_t i = 0; i < threads; i++)
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, 0x100000 + 0x100 * i, i + 1, 1);
    heap_open(h, m);
}

/* "m1 - m2": the method of each thread. */
static void expect(heap *h, const char *want, uint32_t warnings)
{
    uint64_t          count = 0;
    const hdx_thread *threads = hdx_graph_threads(h->g, &count);
    hdx_buffer        text = hdx_buffer_of(NULL);
    for (uint64_t i = 0; i < count; i++) {
        hdx_buffer_text(&text, i == 0 ? "" : " ");
        if (threads[i].frame_count == 0)
            hdx_buffer_text(&text, "-");
        else
            hdx_buffer_put(&text, threads[i].frames[0].method.at, threads[i].frames[0].method.len);
    }
    cr_expect(eq(str, text.at, (char *)want));
    cr_expect(eq(u32, hdx_graph_summary_of(h->g)->warning_count, warnings));
    hdx_buffer_free(&text);
    heap_close(h);
}

static const char *const names[] = {
    "main",           "Service Thread", "Monitor Deflation Thread", "C2 CompilerThread0",    "C1 CompilerThread12",
    "Sweeper thread", "alpha",          "my CompilerThread",        "Service Thread of mine"
};

Test(agent_stacks, belong_to_threads_that_are_not_hidden)
{
    heap h;
    make(&h, names, 9, 4, 2);
    expect(&h, "m1 - - - - - m2 m3 m4", 0);
}

Test(agent_stacks, are_nobodys_where_the_numbers_do_not_come_out)
{
    heap h;
    make(&h, names, 9, 3, 2);
    expect(&h, "- - - - - - - - -", 1);
    make(&h, names, 9, 5, 2);
    expect(&h, "- - - - - - - - -", 1);
}

Test(agent_stacks, of_threads_without_a_name_count)
{
    static const char *const some[] = { "main", NULL, "C1 CompilerThread0", NULL };
    heap                     h;
    make(&h, some, 4, 3, 2);
    expect(&h, "m1 m2 - m3", 0);
}

/* With one dummy it is a dump of HotSpot, whose traces name their threads. */
Test(agent_stacks, of_a_jvm_are_where_they_say)
{
    heap h;
    make(&h, names, 9, 4, 1);
    expect(&h, "m1 m2 m3 m4 - - - - -", 0);
}
