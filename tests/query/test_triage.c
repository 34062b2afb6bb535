/* test_triage.c - what `info` says stands out in a heap, and that it says nothing of a heap in which nothing does. */
#include "heap.h"
#include "query/questions.h"

#define NEW(class, ...) dump_maker_instance(m, class, DUMP_VALUES(__VA_ARGS__))
#define ROOT(id)        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0)
#define BYTES(n)        dump_maker_primitives(m, 'B', NULL, n)

typedef struct world { /* a maker, and classes that every heap has */
    dump_maker *m;
    uint64_t    object, loader, thread, string, box;
} world;

static world begin(void)
{
    dump_maker *m = dump_maker_new(8);
    world       w = { .m = m };
    m->next_id = 0x10000;
    w.object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", w.object, "");
    w.loader = dump_maker_class(m, "java.lang.ClassLoader", w.object, "name:L parent:L");
    w.thread = dump_maker_class(m, "java.lang.Thread", w.object, "name:L threadStatus:I parkBlocker:L");
    w.string = dump_maker_class(m, "java.lang.String", w.object, "value:L coder:B hash:I");
    (void)dump_maker_class(m, "byte[]", w.object, "");
    w.box = dump_maker_class(m, "app.Box", w.object, "content:L");
    return w;
}

/* Much that no one object keeps, so that no suspect is what stands out. */
static void spread(const world *w, unsigned count, uint32_t each)
{
    dump_maker *m = w->m;
    for (unsigned i = 0; i < count; i++)
        ROOT(BYTES(each));
}

/* "sentence | next" of each of a kind, a line. Takes the maker over. */
static void expect_triage(dump_maker *m, const char *kind, const char *want)
{
    heap            h;
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_buffer      got = hdx_buffer_of(NULL);
    hdx_buffer_text(&got, "");
    heap_open(&h, m);
    const hdx_arguments none = { &hdx_question_info.declared, NULL, 0 };
    cr_assert(hdx_question_open(&hdx_question_info, &h.q, &none, &rows, &h.err) == HDX_OK, "%s", h.err.message);
    while (hdx_rows_next(rows, &cells)) {
        char key[100];
        (void)snprintf(key, sizeof key, "%.*s", (int)cells[0].as.text.len, cells[0].as.text.at);
        if (strncmp(key, "triage.", 7) != 0 || strncmp(key + 7, kind, strlen(kind)) != 0)
            continue;
        if (strstr(key, ".sentence") != NULL) {
            put_cell(&got, &cells[1]);
        } else if (strstr(key, ".next") != NULL) {
            hdx_buffer_text(&got, " | ");
            put_cell(&got, &cells[1]);
            hdx_buffer_text(&got, "\n");
        }
    }
    cr_expect_str_eq(got.at, want, "%s", got.at);
    hdx_buffer_free(&got);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(triage, says_nothing_where_nothing_stands_out)
{
    world w = begin();
    spread(&w, 30, 1000);
    expect_triage(w.m, "", "");
}

Test(triage, names_class_loaders_that_define_the_same_classes)
{
    world          w = begin();
    dump_maker    *m = w.m;
    const uint64_t plugin = dump_maker_class(m, "app.PluginLoader", w.loader, "");
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t loader = NEW(plugin, dump_maker_string(m, w.string, "plugin"), 0);
        m->loader = loader;
        const uint64_t a = dump_maker_class(m, "app.plugin.A", w.object, "content:L");
        const uint64_t b = dump_maker_class(m, "app.plugin.B", w.object, "");
        m->loader = 0;
        ROOT(dump_maker_instance(m, b, NULL));
        for (unsigned k = 0; k < 100; k++)
            ROOT(NEW(a, 0));
        ROOT(loader);
    }
    /* one of the same class that has classes of its own is no copy */
    m->loader = NEW(plugin, dump_maker_string(m, w.string, "other"), 0);
    ROOT(m->loader);
    (void)dump_maker_class(m, "app.other.A", w.object, "");
    m->loader = 0;
    spread(&w, 100, 1000);
    expect_triage(
        w.m, "loaders",
        "3 class loaders of class app.PluginLoader define the same classes, up to 2; together they retain 9.8 KB "
        "(9%) | loaders\n");
}

Test(triage, names_memory_outside_of_the_heap_that_is_more_than_a_tenth)
{
    for (unsigned large = 0; large < 2; large++) {
        world          w = begin();
        dump_maker    *m = w.m;
        const uint64_t buffer = dump_maker_class(m, "java.nio.Buffer", w.object, "capacity:I limit:I address:J");
        const uint64_t bytes = dump_maker_class(m, "java.nio.ByteBuffer", buffer, "hb:L offset:I");
        const uint64_t mapped = dump_maker_class(m, "java.nio.MappedByteBuffer", bytes, "fd:L");
        const uint64_t direct = dump_maker_class(m, "java.nio.DirectByteBuffer", mapped, "att:L cleaner:L");
        ROOT(NEW(direct, 0, 0, 0, 0, 0, large ? 1 << 20 : 1000, 0, 0x7f0000000000));
        spread(&w, 100, 1000);
        expect_triage(w.m, "outside",
                      large ? "1 buffer has memory outside of the heap: 1.0 MB; live objects take 100.1 KB | "
                              "direct-buffers\n"
                            : "");
    }
}

Test(triage, names_a_thread_that_has_ended_with_a_full_queue_beside_it)
{
    for (unsigned ended = 0; ended < 2; ended++) {
        world          w = begin();
        dump_maker    *m = w.m;
        const uint64_t queues = dump_maker_class(m, "java.util.AbstractQueue", w.object, "");
        const uint64_t queue = dump_maker_class(m, "app.WorkQueue", queues, "a:L b:L c:L");
        const uint64_t pump = dump_maker_class(m, "app.Pump", w.object, "queue:L worker:L");
        const uint64_t full = NEW(queue, BYTES(30000), BYTES(30000), BYTES(30000));
        ROOT(NEW(pump, full, NEW(w.thread, dump_maker_string(m, w.string, "drain"), ended ? 2 : 5, 0)));
        spread(&w, 100, 7000);
        char want[400];
        (void)snprintf(want, sizeof want,
                       "thread \"drain\" has ended, but its app.WorkQueue still retains 88.1 KB (11%%) | path 0x%llx\n",
                       (unsigned long long)full);
        expect_triage(m, "ended-thread", ended ? want : "");
    }
}

Test(triage, names_a_weak_map_whose_values_hold_their_keys)
{
    for (unsigned holds = 0; holds < 2; holds++) {
        world          w = begin();
        dump_maker    *m = w.m;
        const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", w.object, "referent:L");
        const uint64_t weak = dump_maker_class(m, "java.lang.ref.WeakReference", reference, "");
        const uint64_t entry = dump_maker_class(m, "java.util.WeakHashMap$Entry", weak, "value:L next:L");
        const uint64_t table = dump_maker_class(m, "java.util.WeakHashMap$Entry[]", w.object, "");
        const uint64_t map = dump_maker_class(m, "java.util.WeakHashMap", w.object, "table:L size:I");
        const uint64_t value = dump_maker_class(m, "app.Value", w.object, "key:L content:L");
        uint64_t       entries[4];
        for (unsigned i = 0; i < 4; i++) {
            const uint64_t key = NEW(w.box, 0);
            ROOT(key);
            entries[i] = NEW(entry, NEW(value, holds ? key : 0, BYTES(25000)), 0, key);
        }
        const uint64_t weak_map = NEW(map, dump_maker_array(m, table, entries, 4), 4);
        ROOT(NEW(w.box, weak_map));
        spread(&w, 100, 7000);
        char want[400];
        (void)snprintf(want, sizeof want,
                       "values of a WeakHashMap refer to their own keys, so its entries are never removed; it retains "
                       "98.2 KB (12%%) | path 0x%llx\n",
                       (unsigned long long)weak_map);
        expect_triage(m, "pinned-map", holds ? want : "");
    }
}

Test(triage, names_what_equal_strings_waste)
{
    world       w = begin();
    dump_maker *m = w.m;
    char        text[1001];
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned k = 0; k < 1000; k++)
            text[k] = (char)('a' + (k * k + i % 10) % 26);
        text[1000] = '\0';
        ROOT(dump_maker_string(m, w.string, text));
    }
    expect_triage(m, "waste", "equal Strings waste 92.8 KB (90%) | duplicates\n");
}

Test(triage, names_threads_that_wait_for_each_other_and_for_one_lock)
{
    world          w = begin();
    dump_maker    *m = w.m;
    const uint64_t owned = dump_maker_class(m, "java.util.concurrent.locks.AbstractOwnableSynchronizer", w.object,
                                            "exclusiveOwnerThread:L");
    const uint64_t sync = dump_maker_class(m, "app.Sync", owned, "");
    const uint64_t parked = dump_maker_class(m, "app.Worker", w.thread, "");
    uint64_t       threads[5], locks[2] = { 0x90000, 0x90040 };
    for (unsigned i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "w%u", i);
        /* w0 and w1 wait for what the other has, the rest for what w0 has */
        threads[i] = NEW(parked, dump_maker_string(m, w.string, name), 657, locks[i == 0 ? 1 : 0]);
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, threads[i], i + 1, 1);
    }
    dump_maker_instance_at(m, locks[0], sync, DUMP_VALUES(threads[0]));
    dump_maker_instance_at(m, locks[1], sync, DUMP_VALUES(threads[1]));
    expect_triage(m, "",
                  "deadlock: threads \"w0\", \"w1\" wait for each other | threads\n"
                  "4 threads wait for the same app.Sync that thread \"w0\" has | threads --sort owner\n");
}

Test(triage, says_of_a_suspect_how_many_share_it)
{
    world          w = begin();
    dump_maker    *m = w.m;
    const uint64_t worker = dump_maker_class(m, "app.Worker", w.thread, "jobs:L");
    const uint64_t jobs = NEW(w.box, BYTES(90000));
    for (uint32_t i = 0; i < 3; i++)
        dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, NEW(worker, jobs, dump_maker_string(m, w.string, "w"), 5, 0),
                        i + 1, 1);
    expect_triage(m, "suspect",
                  "one app.Box in the field jobs of thread \"w\" retains 88.0 KB (100%), 87.9 KB of it in "
                  "one byte[] of 90,000 elements, shared by 3 threads of app.Worker | suspects\n");
}

Test(triage, names_the_class_whose_statics_keep_most_of_what_a_loader_has)
{
    world          w = begin();
    dump_maker    *m = w.m;
    const uint64_t list = dump_maker_class(m, "java.util.ArrayList", w.object, "elementData:L size:I");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", w.object, "");
    const uint64_t app = dump_maker_class(m, "app.Loader", w.loader, "classes:L");
    const uint64_t loader = m->next_id;
    uint64_t       classes[3];
    char           name[12];
    m->next_id += 0x1000;
    m->loader = loader;
    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(name, sizeof name, "app.C%u", i);
        dump_maker_static(m, "kept", 'L', BYTES(i == 1 ? 50000 : 30000));
        classes[i] = dump_maker_class(m, name, w.object, "");
    }
    m->loader = 0;
    dump_maker_instance_at(m, loader, app, DUMP_VALUES(NEW(list, dump_maker_array(m, objects, classes, 3), 3), 0, 0));
    ROOT(loader);
    expect_triage(m, "suspect", "class app.C1 retains 48.9 KB (45%) of the 107.8 KB of one app.Loader | suspects\n");
}

Test(triage, names_the_statics_beside_a_class_that_keeps_most)
{
    world          w = begin();
    dump_maker    *m = w.m;
    const uint64_t list = dump_maker_class(m, "java.util.ArrayList", w.object, "elementData:L size:I");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", w.object, "");
    const uint64_t app = dump_maker_class(m, "app.Loader", w.loader, "classes:L");
    const uint64_t loader = m->next_id;
    uint64_t       classes[5];
    char           name[12];
    m->next_id += 0x1000;
    m->loader = loader;
    for (unsigned i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "app.C%u", i);
        dump_maker_static(m, "kept", 'L', BYTES(i == 1 ? 60000 : i == 4 ? 2000 : 40000 - i));
        classes[i] = dump_maker_class(m, name, w.object, "");
    }
    m->loader = 0;
    dump_maker_instance_at(m, loader, app, DUMP_VALUES(NEW(list, dump_maker_array(m, objects, classes, 5), 5), 0, 0));
    ROOT(loader);
    expect_triage(m, "statics",
                  "static fields of the program that retain most: C1.kept, 58.6 KB, C0.kept, 39.1 KB, C2.kept, 39.1 "
                  "KB | statics\n");
}

Test(triage, names_a_pool_of_many_threads)
{
    for (unsigned many = 0; many < 2; many++) {
        world       w = begin();
        dump_maker *m = w.m;
        for (uint32_t i = 0; i < (many ? 120u : 90u); i++) {
            char name[24];
            (void)snprintf(name, sizeof name, "request-%u", i);
            dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, NEW(w.thread, dump_maker_string(m, w.string, name), 5, 0),
                            i + 1, 1);
        }
        expect_triage(m, "pool",
                      many ? "120 threads are called \"request-#\"; they retain 18.8 KB (100%) | threads --by pool\n"
                           : "");
    }
}

Test(triage, names_what_soft_references_have_and_something_else_holds)
{
    for (unsigned pinned = 0; pinned < 2; pinned++) {
        world          w = begin();
        dump_maker    *m = w.m;
        const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", w.object, "referent:L");
        const uint64_t soft = dump_maker_class(m, "java.lang.ref.SoftReference", reference, "");
        const uint64_t page = dump_maker_class(m, "app.Page", w.object, "content:L");
        for (unsigned i = 0; i < 120; i++) {
            const uint64_t at = NEW(page, BYTES(1000));
            ROOT(NEW(soft, at));
            if (pinned)
                ROOT(NEW(w.box, at));
        }
        expect_triage(
            m, "pinned-soft",
            pinned ? "soft references refer to 120 objects of app.Page that other references also hold, so clearing "
                     "soft references cannot free them; they retain 123.8 KB (94%) | referents --by class\n"
                   : "");
    }
}

Test(triage, names_garbage_where_it_is_more_than_what_lives)
{
    for (unsigned most = 0; most < 2; most++) {
        world       w = begin();
        dump_maker *m = w.m;
        ROOT(BYTES(most ? 10000 : 90000));
        (void)BYTES(80000);
        expect_triage(m, "unreachable",
                      most ? "78.2 KB of the dump are in 1 unreachable object, more than in all live objects | "
                             "garbage\n"
                           : "");
    }
}
