/*
 * test_keywords.c - frames among the keywords of a suspect that is a thread: of the locals of a frame those count that
 * keep more than a tenth of what the thread keeps (doc/mat.md 7.9).
 */
#include "support/questions.h"
#include "heap.h"

enum { CLASS = 0x600, THREAD_CLASS = 0x700, BYTES = 0x800, THREAD = 0x1000, TENTH = 4096 };
enum { EXACTLY, JUST_MORE, MORE, LESS, FRAMES };
static const char *const methods[FRAMES] = { "exactly", "justMore", "more", "less" };
/* Together they are less than a quarter in no frame of several: each frame has one. */
static const uint32_t sizes[FRAMES] = { TENTH, TENTH + 8, 2 * TENTH, TENTH / 2 };

/* A thread with a local in each of its frames, and two others in none, so that it keeps ten times TENTH. */
static void make(heap *h)
{
    enum { HEADER = 24, THREAD_SIZE = 24, REST = 10 * TENTH - THREAD_SIZE };
    dump_maker *m = dump_maker_new(8);
    uint64_t    frames[FRAMES], local = 0x10000;
    uint32_t    rest = REST;
    (void)dump_maker_class_at(m, 0x100, "java.lang.Object", 0, "");
    (void)dump_maker_class_at(m, THREAD_CLASS, "java.lang.Thread", 0x100, "name:L");
    (void)dump_maker_class_at(m, BYTES, "byte[]", 0x100, "");
    (void)dump_maker_class_at(m, CLASS, "app.Work", 0x100, "");
    const uint32_t serial = dump_maker_load(m, CLASS, "app/Work");
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = dump_maker_frame(m, methods[i], serial, (int32_t)i + 1);
    dump_maker_trace(m, 1, 0, NULL, 0);
    dump_maker_trace(m, 2, 1, frames, FRAMES);
    dump_maker_instance_at(m, THREAD, THREAD_CLASS, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, THREAD, 1, 2);
    for (uint64_t c = 0x100; c <= BYTES; c += 0x100)
        if (c == 0x100 || c >= CLASS)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, c, 0, 0);
    for (int i = 0; i < FRAMES + 2; i++, local += 0x10008) {
        const uint32_t size = i < FRAMES ? sizes[i] : i == FRAMES ? 2 * TENTH : rest;
        dump_maker_primitives_at(m, local, 'B', NULL, size - HEADER);
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, local, 1, i < FRAMES ? i : -1);
        rest -= size;
    }
    heap_open(h, m);
    cr_assert(eq(u64, hdx_graph_retained(h->g, id_at(h, THREAD)), 10 * TENTH));
    cr_assert(eq(u64, hdx_graph_retained(h->g, id_at(h, 0x10000)), TENTH));
}

Test(keywords, name_frames_with_a_local_of_more_than_a_tenth)
{
    const hdx_suspect_options options = { 0, 0, 0 };
    hdx_buffer                text = hdx_buffer_of(NULL);
    heap                      h;
    hdx_rows                 *rows;
    make(&h);
    ok(hdx_query_suspects(&h.q, &options, &rows, &h.err));
    put_cell(&text, extra(rows, "suspects"));
    const char *keywords = strstr(text.at, "keywords=");
    cr_assert(keywords != NULL, "%s", text.at);
    static const char want[] = "keywords=[java.lang.Thread app.Work.justMore()V Source.java:2 app.Work.more()V "
                               "Source.java:3] ";
    cr_expect(strncmp(keywords, want, sizeof want - 1) == 0, "%s", keywords);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}
