/* test_out_of_memory.c - the thread that was making an OutOfMemoryError when the dump was written, as info names it. */
#include "heap.h"
#include "support/questions.h"

enum { OBJECT = 0x100, CLASS = 0x200, LOADER = 0x300, THREAD = 0x400, FIRST = 0x1000, SECOND = 0x1100 };

/* Two threads. The frames of the second one, innermost first, are `methods` of the classes `names`. */
static void make(heap *h, const char *const *names, const char *const *methods, uint32_t count)
{
    static const uint64_t classes[] = { OBJECT, CLASS, LOADER, THREAD };
    uint64_t              frames[8];
    dump_maker           *m = dump_maker_new(8);
    dump_maker_class_at(m, OBJECT, "java.lang.Object", 0, "");
    dump_maker_class_at(m, CLASS, "java.lang.Class", OBJECT, "");
    dump_maker_class_at(m, LOADER, "java.lang.ClassLoader", OBJECT, "");
    dump_maker_class_at(m, THREAD, "java.lang.Thread", OBJECT, "priority:I");
    dump_maker_instance_at(m, FIRST, THREAD, DUMP_VALUES(1));
    dump_maker_instance_at(m, SECOND, THREAD, DUMP_VALUES(2));
    const uint32_t plain = dump_maker_load(m, OBJECT, "app/Waiter");
    const uint64_t waits = dump_maker_frame(m, "await", plain, 7);
    for (uint32_t i = 0; i < count; i++)
        frames[i] = dump_maker_frame(m, methods[i], dump_maker_load(m, THREAD + 16 * (i + 1), names[i]), 40 + (int)i);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, &waits, 1);
    dump_maker_trace(m, 3, 2, frames, count);
    for (size_t i = 0; i < HDX_COUNT(classes); i++)
        dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, classes[i], 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, FIRST, 1, 2);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, SECOND, 2, 3);
    heap_open(h, m);
}

static void expect(const char *const *names, const char *const *methods, uint32_t count, const char *want)
{
    heap      h;
    hdx_rows *rows = NULL;
    make(&h, names, methods, count);
    cr_assert(hdx_query_info(&h.q, &rows, &h.err) == HDX_OK, "%s", h.err.message);
    cr_assert(hdx_rows_where(&rows, "key ~ ^out_of_memory", &h.err) == HDX_OK, "%s", h.err.message);
    expect_rows(rows, want);
    heap_close(&h);
}

Test(out_of_memory, names_the_first_frame_that_is_none_of_the_jdk)
{
    static const char *const names[] = { "java/lang/OutOfMemoryError", "java/util/Arrays", "app/Importer", "app/Main" };
    static const char *const methods[] = { "<init>", "copyOf", "add", "main" };
    expect(
        names, methods, 4,
        "out_of_memory.thread,0x1100\nout_of_memory.name,-\nout_of_memory.frame,app.Importer.add (Source.java:42)\n");
}

Test(out_of_memory, has_no_frame_where_all_are_of_the_jdk)
{
    static const char *const names[] = { "java/lang/OutOfMemoryError", "jdk/internal/misc/Unsafe" };
    static const char *const methods[] = { "<init>", "allocate" };
    expect(names, methods, 2, "out_of_memory.thread,0x1100\nout_of_memory.name,-\nout_of_memory.frame,-\n");
}

Test(out_of_memory, is_not_told_of_another_error_or_method)
{
    static const char *const names[] = { "java/lang/StackOverflowError", "java/lang/OutOfMemoryError", "app/Main" };
    static const char *const methods[] = { "<init>", "getMessage", "main" };
    expect(names, methods, 3, "out_of_memory,-\n");
    expect(names, methods, 0, "out_of_memory,-\n");
}
