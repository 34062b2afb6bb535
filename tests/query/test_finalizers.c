/*
 * test_finalizers.c - finalizers and cleaners: against the truth beside the reference dumps, and in heaps whose queues
 * are odd.
 */
#include "truth.h"

/* ---- what a program did ---- */

static void check_finalizers(truth *t)
{
    const long long running = truth_number(t, "Zoo$Stuck_running"),
                    waiting = truth_number(t, "Zoo$Stuck_waiting_in_queue");
    char      want[96];
    hdx_rows *rows;
    ok_in(t, ask(&t->h, finalizers, &rows, { "by", "class" }));
    (void)snprintf(want, sizeof want, "%lld,%lld,%lld\n", running + waiting, running, waiting);
    expect_columns(rows, "class", "Zoo$Stuck", "objects running queued", want);
    ok_in(t, ask_plainly(&t->h, finalizers, &rows));
    expect_columns(rows, "state", "running", "class", "Zoo$Stuck\n");
    ok_in(t, ask_plainly(&t->h, finalizers, &rows));
    expect_columns(rows, "state", "queued", "place", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

static void check_cleaners(truth *t)
{
    const long long registered = truth_number(t, "registered_by_Zoo");
    char            want[96];
    hdx_rows       *rows;
    ok_in(t, ask(&t->h, cleaners, &rows, { "by", "class" }));
    (void)snprintf(want, sizeof want, "%lld,%lld,0\n", registered, registered);
    expect_columns(rows, "class", "Zoo$CleanAction", "cleaners registered due", want);
    ok_in(t, ask_plainly(&t->h, cleaners, &rows));
    hdx_buffer b = columns_of(rows, "action_class", "Zoo$CleanAction", "class state");
    cr_expect(strncmp(b.at, "Zoo$Value,registered\n", 21) == 0 || strncmp(b.at, "Zoo$V,registered\n", 17) == 0 ||
                  strstr(b.at, ",registered\n") != NULL,
              "%s", b.at);
    hdx_buffer_free(&b);
}

Test(truth, of_the_zoo_is_what_finalizers_and_cleaners_say)
{
    golden_dumps d;
    truth        t;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "zoo-", &t)) {
        check_finalizers(&t);
        check_cleaners(&t);
        truth_close(&t);
    }
}

/* JDK 8, ART and Dalvik: what is registered; none of these dumps caught one in its queue. */
Test(truth, of_other_machines_has_what_is_registered)
{
    static const struct {
        const char *dump, *class, *registered;
    } known[] = {
        { "oracle_jdk8_05_x64", "java.io.FileInputStream", "4,0,0\n" },
        { "art-ahat-test.hprof", "java.io.FileOutputStream", "2,0,0\n" },
        { "dialer", "android.graphics.NinePatch", "24,0,0\n" },
    };
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d))
        for (size_t i = 0; i < HDX_COUNT(known); i++)
            if (strstr(d.path, known[i].dump) != NULL) {
                truth_open(&t, d.path);
                ok_of(ask(&t.h, finalizers, &rows, { "by", "class" }));
                expect_columns(rows, "class", known[i].class, "objects running queued", known[i].registered);
                truth_close(&t);
            }
}

/* ---- made heaps ---- */

typedef struct made {
    dump_maker *m;
    uint64_t    object, thread, reference, finalizer, queue_class, queue;
} made;

/* Finalizers have a queue at `queue`, whose head is `head`. */
static made made_begin(uint64_t queue, uint64_t pending)
{
    made k = { .m = dump_maker_new(8), .queue = queue };
    k.m->next_id = 0x10000;
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    dump_maker_class(k.m, "java.lang.Class", k.object, "");
    k.thread = dump_maker_class(k.m, "java.lang.Thread", k.object, "name:L");
    k.queue_class = dump_maker_class(k.m, "java.lang.ref.ReferenceQueue", k.object, "head:L");
    dump_maker_static(k.m, "pending", 'L', pending);
    k.reference = dump_maker_class(k.m, "java.lang.ref.Reference", k.object, "referent:L next:L discovered:L");
    const uint64_t final = dump_maker_class(k.m, "java.lang.ref.FinalReference", k.reference, "");
    dump_maker_static(k.m, "queue", 'L', queue);
    k.finalizer =
        dump_maker_class(k.m, "java.lang.ref.Finalizer", final, "next:L prev:L"); /* names of Reference, too */
    k.m->next_id = 0x20000;
    return k;
}

static uint64_t rooted(made *k, uint64_t id)
{
    dump_maker_root(k->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static void finalizer_at(made *k, uint64_t id, uint64_t next, uint64_t discovered)
{
    rooted(k, dump_maker_instance_at(k->m, id, k->finalizer, DUMP_VALUES(0x77, 0x77, k->object, next, discovered)));
}

Test(queue, has_an_order_an_end_and_what_is_pending_before_it)
{
    enum { A = 0x30000, B = 0x30100, C = 0x30200, D = 0x30300, E = 0x30400, F = 0x30500, Q = 0x31000 };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin(Q, D);
    rooted(&k, dump_maker_instance_at(k.m, Q, k.queue_class, DUMP_VALUES(B)));
    finalizer_at(&k, A, A, 0); /* the last is its own next */
    finalizer_at(&k, B, C, 0);
    finalizer_at(&k, C, A, 0);
    finalizer_at(&k, D, 0, E); /* pending */
    finalizer_at(&k, E, 0, E);
    finalizer_at(&k, F, 0, 0);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, finalizers, &rows));
    expect_columns(rows, NULL, NULL, "state place reference",
                   "queued,1,0x30100\nqueued,2,0x30200\nqueued,3,0x30000\npending,-,0x30300\npending,-,0x30400\n"
                   "registered,-,0x30500\n");
    ok(ask(&h, finalizers, &rows, { "by", "class" }));
    expect_columns(rows, NULL, NULL, "class objects running queued", "java.lang.Class,6,0,5\n");
    heap_close(&h);
}

Test(queue, that_goes_round_ends)
{
    enum { A = 0x30000, B = 0x30100, Q = 0x31000 };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin(Q, A);
    rooted(&k, dump_maker_instance_at(k.m, Q, k.queue_class, DUMP_VALUES(A)));
    finalizer_at(&k, A, B, B);
    finalizer_at(&k, B, A, A);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, finalizers, &rows));
    expect_columns(rows, NULL, NULL, "state place reference", "queued,1,0x30000\nqueued,2,0x30100\n");
    heap_close(&h);
}

Test(queue, that_is_nothing_of_the_kind_is_empty)
{
    enum { A = 0x30000 };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin(A, 0x99); /* the queue is a Finalizer, what is pending no object */
    finalizer_at(&k, A, 0, 0);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, finalizers, &rows));
    expect_columns(rows, NULL, NULL, "state place reference", "registered,-,0x30000\n");
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    ok(ask_plainly(&h, finalizers, &rows));
    cr_expect(
        eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"referents of Finalizers are missing from this dump"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(sums, of_classes_with_finalizers_begin_with_what_retains_most)
{
    static const char *const names[] = { "app.Small", "app.Middle", "app.Large" }, *const fields[] = {
        "a:J", "a:J b:J c:J", "a:J b:J c:J d:J e:J"
    };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin(0, 0);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t class = dump_maker_class(k.m, names[i], k.object, fields[i]);
        dump_maker_instance_at(k.m, 0x40000 + i * 0x100, class, DUMP_VALUES(1, 2, 3, 4, 5));
        rooted(&k, dump_maker_instance_at(k.m, 0x30000 + i * 0x100, k.finalizer,
                                          DUMP_VALUES(0x77, 0x77, 0x40000 + i * 0x100, 0, 0)));
    }
    heap_open(&h, k.m);
    ok(ask(&h, finalizers, &rows, { "by", "class" }));
    expect_columns(rows, NULL, NULL, "class objects retained", "app.Large,1,56\napp.Middle,1,40\napp.Small,1,24\n");
    heap_close(&h);
}

Test(running, is_what_a_frame_of_run_finalizer_holds)
{
    enum { A = 0x30000, B = 0x30100, T = 0x32000 };
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin(0, 0);
    const uint32_t serial = dump_maker_load(k.m, k.finalizer, "java/lang/ref/Finalizer");
    const uint64_t inner = dump_maker_frame(k.m, "finalize", serial, 1),
                   outer = dump_maker_frame(k.m, "runFinalizer", serial, 2);
    dump_maker_trace(k.m, 1, 0, NULL, 0);
    dump_maker_trace(k.m, 2, 1, (const uint64_t[]){ inner, outer }, 2);
    finalizer_at(&k, A, 0, 0);
    finalizer_at(&k, B, 0, 0);
    dump_maker_instance_at(k.m, T, k.thread, DUMP_VALUES(0));
    dump_maker_root(k.m, HDX_SUB_ROOT_THREAD_OBJECT, T, 1, 2);
    dump_maker_root(k.m, HDX_SUB_ROOT_JAVA_FRAME, A, 1, 0); /* of another method */
    dump_maker_root(k.m, HDX_SUB_ROOT_JAVA_FRAME, B, 1, 1);
    dump_maker_root(k.m, HDX_SUB_ROOT_JAVA_FRAME, k.object, 1, 1);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, finalizers, &rows));
    expect_columns(rows, NULL, NULL, "state reference", "running,0x30100\nregistered,0x30000\n");
    heap_close(&h);
}

Test(running, of_android_is_in_a_field_of_its_thread_and_the_queue_has_other_names)
{
    heap        h;
    hdx_rows   *rows;
    dump_maker *m = dump_maker_new(8);
    enum { Q = 0x30000, R = 0x30100, S = 0x30200, X = 0x30300, Z = 0x30400 };
    m->next_id = 0x10000;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t queue = dump_maker_class(m, "java.lang.ref.ReferenceQueue", object, "head:L tail:L");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L queueNext:L");
    dump_maker_static(m, "queue", 'L', Q);
    const uint64_t finalizer = dump_maker_class(m, "java.lang.ref.FinalizerReference", reference, "zombie:L");
    const uint64_t daemon = dump_maker_class(m, "java.lang.Daemons$FinalizerDaemon", object, "finalizingObject:L");
    const uint64_t mine = dump_maker_class(m, "app.Mine", object, "");
    dump_maker_instance_at(m, X, mine, NULL);
    dump_maker_instance_at(m, Z, mine, NULL);
    dump_maker_instance_at(m, Q, queue, DUMP_VALUES(R, S));
    dump_maker_instance_at(m, R, finalizer, DUMP_VALUES(0, object, S));
    dump_maker_instance_at(m, S, finalizer, DUMP_VALUES(Z, 0, S)); /* ART moves the object out of `referent` */
    const uint64_t roots[] = { Q, R, S, dump_maker_instance(m, daemon, DUMP_VALUES(X)) };
    for (size_t i = 0; i < HDX_COUNT(roots); i++)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, roots[i], 0, 0);
    heap_open(&h, m);
    ok(ask_plainly(&h, finalizers, &rows));
    expect_columns(rows, NULL, NULL, "state place class reference",
                   "running,-,app.Mine,-\nqueued,1,java.lang.Class,0x30100\nqueued,2,app.Mine,0x30200\n");
    heap_close(&h);
}

Test(cleaners, are_registered_due_or_done_and_the_head_of_their_list_is_none)
{
    enum { HEAD = 0x30000, A = 0x30100, B = 0x30200, C = 0x30300, OLD = 0x30400 };
    heap        h;
    hdx_rows   *rows;
    dump_maker *m = dump_maker_new(8);
    m->next_id = 0x10000;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t reference = dump_maker_class(m, "java.lang.ref.Reference", object, "referent:L");
    const uint64_t phantom = dump_maker_class(m, "java.lang.ref.PhantomReference", reference, "");
    const uint64_t cleanable = dump_maker_class(m, "jdk.internal.ref.PhantomCleanable", phantom, "prev:L next:L");
    const uint64_t mine =
        dump_maker_class(m, "jdk.internal.ref.CleanerImpl$PhantomCleanableRef", cleanable, "action:L");
    const uint64_t old = dump_maker_class(m, "sun.misc.Cleaner", phantom, "next:L prev:L thunk:L");
    const uint64_t task = dump_maker_class(m, "app.Task", object, "");
    const uint64_t a_task = dump_maker_instance(m, task, NULL);
    dump_maker_instance_at(m, HEAD, mine, DUMP_VALUES(0, A, B, 0));
    dump_maker_instance_at(m, A, mine, DUMP_VALUES(a_task, HEAD, B, object));
    dump_maker_instance_at(m, B, mine, DUMP_VALUES(a_task, A, HEAD, 0));
    dump_maker_instance_at(m, C, mine, DUMP_VALUES(a_task, C, C, 0));
    dump_maker_instance_at(m, OLD, old, DUMP_VALUES(0, 0, a_task, object));
    for (uint64_t id = HEAD; id <= OLD; id += 0x100)
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    heap_open(&h, m);
    ok(ask_plainly(&h, cleaners, &rows));
    expect_columns(rows, NULL, NULL, "cleaner state class action_class",
                   "0x30100,registered,java.lang.Class,app.Task\n0x30200,due,-,app.Task\n0x30300,done,-,app.Task\n"
                   "0x30400,registered,java.lang.Class,app.Task\n");
    ok(ask(&h, cleaners, &rows, { "by", "class" }));
    expect_columns(rows, NULL, NULL, "class cleaners registered due retained", "app.Task,4,2,1,64\n");
    heap_close(&h);
}
