/*
 * test_threads.c - threads, their pools and what they keep for themselves: against the truth beside the reference
 * dumps, and in heaps that are odd.
 */
#include "truth.h"

/* ---- what a program did ---- */

static void check_states(truth *t)
{
    hdx_rows       *rows;
    const long long virtuals = truth_number(t, "virtual_threads");
    static const struct {
        const char *name, *is;
    } known[] = {
        { "zoo-parked-0", "true,5,WAITING\n" },
        { "zoo-parked-3", "true,10,WAITING\n" },
        { "zoo-blocked", "true,5,BLOCKED\n" },
        { "zoo-waiter", "true,5,WAITING\n" },
        { "zoo-unstarted", "false,5,NEW\n" },
        { "main", "false,5,RUNNABLE\n" },
        { "zoo-pool", "true,5,WAITING\ntrue,5,WAITING\ntrue,5,WAITING\n" },
    };
    for (size_t i = 0; i < HDX_COUNT(known); i++) {
        cr_assert(eq(int, ask_plainly(&t->h, threads, &rows), HDX_OK));
        expect_columns(rows, "name", known[i].name, "daemon priority state", known[i].is);
    }
    for (long long i = 0; i < virtuals; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "zoo-virtual-%lld", i);
        cr_assert(eq(int, ask_plainly(&t->h, threads, &rows), HDX_OK));
        expect_columns(rows, "name", name, "virtual daemon priority state carrier", "true,true,5,WAITING,-\n");
    }
}

static void check_pools(truth *t)
{
    hdx_rows *rows;
    cr_assert(eq(int, ask(&t->h, threads, &rows, { "by", "pool" }), HDX_OK));
    expect_columns(rows, "pool", "zoo-parked-#", "threads states most_at", "4,WAITING 4,Zoo.recurse\n");
    cr_assert(eq(int, ask(&t->h, threads, &rows, { "by", "pool" }), HDX_OK));
    expect_columns(rows, "pool", "zoo-pool", "threads states", "3,WAITING 3\n");
    cr_assert(eq(int, ask(&t->h, threads, &rows, { "by", "pool" }), HDX_OK));
    expect_columns(rows, "pool", "zoo-virtual-#", "threads states",
                   truth_number(t, "virtual_threads") > 0 ? "5,WAITING 5\n" : "");
}

/* Each of main and zoo-parked-i has one of its own; one more was inherited from main. */
static void check_locals(truth *t)
{
    hdx_rows *rows;
    for (int i = -1; i < 4; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, i < 0 ? "main" : "zoo-parked-%d", i);
        cr_assert(eq(int, ask_plainly(&t->h, thread_locals, &rows), HDX_OK));
        hdx_buffer b = columns_of(rows, "thread_name", name, "class field inherited key_class");
        cr_expect(strstr(b.at, "Zoo$InThreadLocal,Zoo#local,false,java.lang.ThreadLocal\n") != NULL, "%s: %s", name,
                  b.at);
        cr_expect(strstr(b.at, "Zoo$InThreadLocal,Zoo#inherited,true,java.lang.InheritableThreadLocal\n") != NULL,
                  "%s: %s", name, b.at);
        hdx_buffer_free(&b);
    }
    cr_assert(eq(int, ask(&t->h, thread_locals, &rows, { "by", "key" }), HDX_OK));
    expect_columns(rows, "field", "Zoo#local", "class threads values stale", "java.lang.ThreadLocal,5,5,0\n");
    cr_assert(eq(int, ask(&t->h, thread_locals, &rows, { "by", "class" }), HDX_OK));
    expect_columns(rows, "class", "Zoo$InThreadLocal", "values stale", "6,0\n");
    cr_assert(eq(int, ask(&t->h, thread_locals, &rows, { "by", "thread" }), HDX_OK));
    expect_columns(rows, "name", "zoo-parked-2", "values stale", "2,0\n");
}

Test(truth, of_the_zoo_is_what_threads_say)
{
    golden_dumps d;
    truth        t;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "zoo-", &t)) {
        check_states(&t);
        check_pools(&t);
        check_locals(&t);
        truth_close(&t);
    }
}

Test(truth, of_many_threads_is_what_thread_locals_and_pools_say)
{
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (truth_next(&d, "threads-jdk25", &t)) {
        const long long started = truth_number(&t, "threads_started");
        char            want[64];
        (void)snprintf(want, sizeof want, "%lld,%lld,0\n", started, started);
        cr_assert(eq(int, ask(&t.h, thread_locals, &rows, { "by", "key" }), HDX_OK));
        expect_columns(rows, "field", "Threads#local", "threads values stale", want);
        (void)snprintf(want, sizeof want, "%lld,Threads.down\n", started);
        cr_assert(eq(int, ask(&t.h, threads, &rows, { "by", "pool" }), HDX_OK));
        expect_columns(rows, "pool", "worker-#-of-#", "threads most_at", want);
        truth_close(&t);
    }
}

/* Dalvik keeps key and value in turn, ART entries as the JDK does; both tell what was never started. */
Test(truth, of_android_dumps_has_thread_locals_of_both_machines)
{
    golden_dumps d;
    truth        t;
    hdx_rows    *rows;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d)) {
        const bool dalvik = strstr(d.path, "dialer") != NULL;
        if (!dalvik && strstr(d.path, "art-ahat-test.hprof") == NULL)
            continue;
        truth_open(&t, d.path);
        cr_assert(eq(int, ask(&t.h, thread_locals, &rows, { "by", "key" }), HDX_OK));
        if (dalvik)
            expect_columns(rows, "field", "android.os.Looper#sThreadLocal", "class threads values retained",
                           "java.lang.ThreadLocal,3,3,468\n");
        else
            expect_columns(rows, NULL, NULL, "class field threads values retained",
                           "dalvik.system.BlockGuard$3,dalvik.system.BlockGuard#threadPolicy,1,1,8\n");
        truth_close(&t);
    }
}

/* ---- made heaps ---- */

typedef struct made {
    dump_maker *m;
    uint64_t    object, thread, reference, entry, map, objects, string;
} made;

static made made_begin(const char *thread_fields)
{
    made k = { .m = dump_maker_new(8) };
    k.m->next_id = 0x10000;
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    dump_maker_class(k.m, "java.lang.Class", k.object, "");
    k.string = dump_maker_class(k.m, "java.lang.String", k.object, "value:L coder:B hash:I");
    dump_maker_class(k.m, "byte[]", k.object, "");
    k.objects = dump_maker_class(k.m, "java.lang.Object[]", k.object, "");
    k.thread = dump_maker_class(k.m, "java.lang.Thread", k.object, thread_fields);
    k.reference = dump_maker_class(k.m, "java.lang.ref.Reference", k.object, "referent:L");
    k.entry = dump_maker_class(k.m, "java.lang.ThreadLocal$ThreadLocalMap$Entry", k.reference, "value:L");
    k.map = dump_maker_class(k.m, "java.lang.ThreadLocal$ThreadLocalMap", k.object, "table:L");
    k.m->next_id = 0x20000;
    return k;
}

static uint64_t rooted(made *k, uint64_t id)
{
    dump_maker_root(k->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

Test(locals, of_a_collected_key_are_stale_and_nulls_are_none)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin("name:L threadLocals:L");
    const uint64_t value = dump_maker_instance(k.m, k.objects, NULL), key = dump_maker_instance(k.m, k.object, NULL);
    const uint64_t table = dump_maker_array(k.m, k.objects,
                                            DUMP_VALUES(dump_maker_instance(k.m, k.entry, DUMP_VALUES(value, 0)), 0,
                                                        dump_maker_instance(k.m, k.entry, DUMP_VALUES(0, key)),
                                                        dump_maker_instance(k.m, k.entry, DUMP_VALUES(value, key))),
                                            4);
    const uint64_t map = dump_maker_instance(k.m, k.map, DUMP_VALUES(table));
    rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(dump_maker_string(k.m, k.string, "t"), map)));
    heap_open(&h, k.m);
    char want[200];
    (void)snprintf(want, sizeof want, "0x%llx,-\n0x%llx,0x%llx\n", (unsigned long long)value, (unsigned long long)value,
                   (unsigned long long)key);
    ok(ask_plainly(&h, thread_locals, &rows));
    expect_columns(rows, "thread_name", "t", "address key", want);
    ok(ask(&h, thread_locals, &rows, { "by", "thread" }));
    expect_columns(rows, "name", "t", "values stale", "1,1\n");
    heap_close(&h);
}

/* ---- what threads wait for ---- */

enum { RUNNABLE = 4, WAITING = 0x10, TIMED = 0x20 }; /* bits of threadStatus */

typedef struct parked {
    const char *name;
    unsigned    status;
    char        at; /* letter of the blocker, below */
} parked;

#define THREAD_AT(letter) (0x30000 + 0x100 * (uint64_t)((letter) - 'a'))
#define LOCK_AT(letter)   (0x40000 + 0x100 * (uint64_t)((letter) - 'A'))

/* Locks: A and B of threads a and b, C a condition, D has readers, f the first, E a task that h runs, F of thread g. */
static void make_parked(heap *h, const parked *threads, unsigned count)
{
    made           k = made_begin("name:L parkBlocker:L threadStatus:I");
    const uint64_t ownable = dump_maker_class(k.m, "java.util.concurrent.locks.AbstractOwnableSynchronizer", k.object,
                                              "exclusiveOwnerThread:L"),
                   sync = dump_maker_class(k.m, "java.util.concurrent.locks.ReentrantLock$Sync", ownable, ""),
                   readers = dump_maker_class(k.m, "java.util.concurrent.locks.ReentrantReadWriteLock$Sync", ownable,
                                              "firstReader:L"),
                   condition = dump_maker_class(k.m, "app.Condition", k.object, ""),
                   task = dump_maker_class(k.m, "java.util.concurrent.FutureTask", k.object, "runner:L");
    dump_maker_instance_at(k.m, LOCK_AT('A'), sync, DUMP_VALUES(THREAD_AT('a')));
    dump_maker_instance_at(k.m, LOCK_AT('B'), sync, DUMP_VALUES(THREAD_AT('b')));
    dump_maker_instance_at(k.m, LOCK_AT('C'), condition, NULL);
    dump_maker_instance_at(k.m, LOCK_AT('D'), readers, DUMP_VALUES(THREAD_AT('f'), 0));
    dump_maker_instance_at(k.m, LOCK_AT('E'), task, DUMP_VALUES(THREAD_AT('h')));
    dump_maker_instance_at(k.m, LOCK_AT('F'), sync, DUMP_VALUES(THREAD_AT('g')));
    for (unsigned i = 0; i < count; i++) {
        const uint64_t name = dump_maker_string(k.m, k.string, threads[i].name), at = THREAD_AT(threads[i].name[0]);
        rooted(&k, dump_maker_instance_at(
                       k.m, at, k.thread,
                       DUMP_VALUES(name, threads[i].at == 0 ? 0 : LOCK_AT(threads[i].at), threads[i].status)));
    }
    heap_open(h, k.m);
}

Test(waits, have_the_lock_its_owner_and_deadlocks)
{
    static const parked threads_of[] = {
        { "a", WAITING, 'B' },  { "b", WAITING, 'A' }, { "c", TIMED, 'A' },
        { "d", RUNNABLE, 'A' }, { "e", WAITING, 'C' }, { "f", WAITING, 'D' },
        { "g", WAITING, 'E' },  { "h", TIMED, 'F' },   { "i", WAITING, 0 },
    };
    static const char *const want[] = {
        "java.util.concurrent.locks.ReentrantLock$Sync,b,1\n",
        "java.util.concurrent.locks.ReentrantLock$Sync,a,1\n",
        "java.util.concurrent.locks.ReentrantLock$Sync,a,-\n",
        "-,-,-\n", /* it does not wait; the field is left over */
        "app.Condition,-,-\n",
        "java.util.concurrent.locks.ReentrantReadWriteLock$Sync,f,2\n",
        "java.util.concurrent.FutureTask,h,-\n",
        "java.util.concurrent.locks.ReentrantLock$Sync,g,-\n", /* it stops waiting by itself */
        "-,-,-\n",
    };
    heap      h;
    hdx_rows *rows;
    make_parked(&h, threads_of, HDX_COUNT(threads_of));
    for (size_t i = 0; i < HDX_COUNT(threads_of); i++) {
        ok(ask_plainly(&h, threads, &rows));
        cr_expect(eq(str, (char *)hdx_rows_title(rows),
                     "Deadlock: \"a\" waits for \"b\", which waits for \"a\"\n"
                     "Deadlock: \"f\" waits for \"f\""));
        expect_columns(rows, "name", threads_of[i].name, "waits_for owner deadlock", want[i]);
    }
    ok(ask_plainly(&h, threads, &rows));
    expect_columns(rows, "name", "c", "lock owner_thread", "0x40000,0x30000\n");
    heap_close(&h);
}

/* The lock that most of its threads wait for, and who has it. */
Test(waits, of_a_pool_are_those_of_most_of_its_threads)
{
    static const parked threads_of[] = { { "1-w", WAITING, 'A' }, { "2-w", WAITING, 'B' },  { "3-w", WAITING, 'B' },
                                         { "4-w", WAITING, 0 },   { "5-w", RUNNABLE, 'A' }, { "6-w", RUNNABLE, 'A' },
                                         { "7-v", WAITING, 'B' }, { "8-v", WAITING, 'A' },  { "a", RUNNABLE, 0 },
                                         { "b", RUNNABLE, 0 },    { "e", WAITING, 'C' } };
    static const char   columns[] = "threads waiting waits_for lock owner owner_thread";
    heap                h;
    hdx_rows           *rows;
    make_parked(&h, threads_of, HDX_COUNT(threads_of));
    ok(ask(&h, threads, &rows, { "by", "pool" }));
    expect_columns(rows, "pool", "#-w", columns,
                   "6,2,java.util.concurrent.locks.ReentrantLock$Sync,0x40100,b,0x30100\n");
    ok(ask(&h, threads, &rows, { "by", "pool" })); /* of locks as frequent the one of least address */
    expect_columns(rows, "pool", "#-v", columns,
                   "2,1,java.util.concurrent.locks.ReentrantLock$Sync,0x40000,a,0x30000\n");
    ok(ask(&h, threads, &rows, { "by", "pool" }));
    expect_columns(rows, "pool", "a", columns, "1,-,-,-,-,-\n");
    ok(ask(&h, threads, &rows, { "by", "pool" }));
    expect_columns(rows, "pool", "e", columns, "1,1,app.Condition,0x40200,-,-\n");
    heap_close(&h);
}

Test(waits, of_a_thread_outside_of_a_circle_are_no_deadlock)
{
    static const parked threads_of[] = { { "b", WAITING, 'A' }, { "a", WAITING, 'F' }, { "g", WAITING, 'A' } };
    heap                h;
    hdx_rows           *rows;
    make_parked(&h, threads_of, HDX_COUNT(threads_of));
    ok(ask_plainly(&h, threads, &rows));
    expect_columns(rows, "name", "b", "owner deadlock", "a,-\n");
    ok(ask_plainly(&h, threads, &rows));
    expect_columns(rows, "name", "a", "owner deadlock", "g,1\n");
    heap_close(&h);
}

/* More threads than are read at once: those with more to keep first, virtual ones after all others, each its own facts.
 */
Test(order, of_threads_is_the_heaviest_first_and_virtual_ones_last)
{
    enum { COUNT = 300 };
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin("name:L locals:L");
    const uint64_t longs[COUNT] = { 0 },
                   virtual_thread = dump_maker_class(k.m, "java.lang.VirtualThread", k.thread, "");
    (void)dump_maker_class(k.m, "long[]", k.object, "");
    for (unsigned i = 0; i < COUNT; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "t%u", i);
        const uint64_t text = dump_maker_string(k.m, k.string, name),
                       data = dump_maker_primitives(k.m, 'J', longs, 2 * ((i * 7) % (COUNT / 2)));
        rooted(&k, dump_maker_instance(k.m, i % 3 == 0 ? virtual_thread : k.thread, DUMP_VALUES(text, data)));
    }
    heap_open(&h, k.m);
    ok(ask_plainly(&h, threads, &rows));
    const hdx_cell *c;
    unsigned        count = 0, virtuals = 0;
    uint64_t        before = UINT64_MAX;
    while (hdx_rows_next(rows, &c)) {
        const bool is_virtual = c[11].as.boolean;
        char       name[16];
        before = is_virtual && virtuals == 0 ? UINT64_MAX : before;
        cr_expect(is_virtual || virtuals == 0);
        cr_expect(le(u64, c[16].as.natural, before));
        before = c[16].as.natural;
        virtuals += is_virtual;
        count++;
        (void)snprintf(name, sizeof name, "%.*s", (int)c[1].as.text.len, c[1].as.text.at);
        const unsigned i = (unsigned)strtoul(name + 1, NULL, 10);
        cr_expect(eq(u64, c[16].as.natural - 2 * 8 * ((i * 7) % (COUNT / 2)) < 200, 1), "%s", name);
        cr_expect(eq(int, is_virtual, i % 3 == 0), "%s", name);
    }
    cr_expect(eq(u32, count, COUNT));
    cr_expect(eq(u32, virtuals, COUNT / 3));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* Whoever wrote the dump may let all threads have one table: it is looked at once. */
Test(locals, of_a_table_that_many_threads_share_are_looked_at_once)
{
    enum { THREADS = 3000, ENTRIES = 3000 };
    heap      h;
    hdx_rows *rows;
    made      k = made_begin("name:L threadLocals:L inheritableThreadLocals:L");
    uint64_t *entries = calloc(ENTRIES, sizeof *entries);
    for (unsigned i = 0; i < ENTRIES; i++)
        entries[i] = dump_maker_instance(k.m, k.entry, DUMP_VALUES(k.object, k.object));
    const uint64_t table = dump_maker_array(k.m, k.objects, entries, ENTRIES);
    for (unsigned i = 0; i < THREADS; i++) {
        const uint64_t map = dump_maker_instance(k.m, k.map, DUMP_VALUES(table));
        rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(0, map, map)));
    }
    free(entries);
    heap_open(&h, k.m);
    ok(ask_plainly(&h, thread_locals, &rows));
    cr_expect(eq(u64, count_rows(rows, NULL, NULL), ENTRIES));
    heap_close(&h);
}

Test(locals, of_odd_tables_are_none)
{
    heap           h;
    hdx_rows      *rows;
    made           k = made_begin("name:L threadLocals:L inheritableThreadLocals:I");
    const uint64_t self = k.m->next_id;
    k.m->next_id += 32;
    dump_maker_instance_at(k.m, self, k.map, DUMP_VALUES(self)); /* a table that is no array */
    rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(0, self, 7)));
    rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(0, 0x999, 7))); /* no object there */
    const uint64_t table = dump_maker_array(k.m, k.objects, DUMP_VALUES(k.object, self), 2);
    const uint64_t map = dump_maker_instance(k.m, k.map, DUMP_VALUES(table)); /* of what are no entries */
    rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(0, map, 7)));
    heap_open(&h, k.m);
    ok(ask_plainly(&h, thread_locals, &rows));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), (char *)"no thread has thread locals"));
    cr_expect(eq(u64, count_rows(rows, NULL, NULL), 0));
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    ok(ask_plainly(&h, thread_locals, &rows));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows),
                 (char *)"thread locals are only in the dump, which is not available"));
    hdx_rows_close(rows);
    heap_close(&h);
}

/* Numbers of states are other ones in each JDK: the class names them. */
Test(virtuals, have_the_state_that_their_class_names_and_a_carrier)
{
    heap      h;
    hdx_rows *rows;
    made      k = made_begin("name:L");
    dump_maker_static(k.m, "NEW", 'I', 10);
    dump_maker_static(k.m, "PARKED", 'I', 11);
    dump_maker_static(k.m, "TIMED_PARKED", 'I', 12);
    dump_maker_static(k.m, "TRACE", 'I', 11);
    const uint64_t class = dump_maker_class(k.m, "java.lang.VirtualThread", k.thread, "state:I carrierThread:L");
    const uint64_t carrier =
        rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(dump_maker_string(k.m, k.string, "c"))));
    const uint64_t name = dump_maker_string(k.m, k.string, "v");
    rooted(&k, dump_maker_instance(k.m, class, DUMP_VALUES(11, carrier, name)));
    rooted(&k, dump_maker_instance(k.m, class, DUMP_VALUES(12 | 0x100, 0, name))); /* suspended */
    rooted(&k, dump_maker_instance(k.m, class, DUMP_VALUES(77, 0, name)));         /* nobody knows */
    heap_open(&h, k.m);
    char want[200];
    (void)snprintf(want, sizeof want, "true,true,WAITING,0x%llx\ntrue,true,TIMED_WAITING,-\ntrue,true,-,-\n",
                   (unsigned long long)carrier);
    ok(ask_plainly(&h, threads, &rows));
    expect_columns(rows, "name", "v", "virtual daemon state carrier", want);
    ok(ask_plainly(&h, threads, &rows));
    expect_columns(rows, "name", "c", "virtual daemon state carrier", "false,-,-,-\n");
    ok(ask(&h, threads, &rows, { "by", "pool" }));
    expect_columns(rows, "pool", "v", "threads states", "3,WAITING 1, TIMED_WAITING 1\n");
    heap_close(&h);
}

Test(pools, fold_numbers_and_nothing_else)
{
    static const char *const names[] = { "a-1-22", "a-333-4", "a-#-5", "a--", "7", "88", "a-1-22b" };
    heap                     h;
    hdx_rows                *rows;
    made                     k = made_begin("name:L");
    for (size_t i = 0; i < HDX_COUNT(names); i++)
        rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(dump_maker_string(k.m, k.string, names[i]))));
    rooted(&k, dump_maker_instance(k.m, k.thread, DUMP_VALUES(0)));
    heap_open(&h, k.m);
    ok(ask(&h, threads, &rows, { "by", "pool" }));
    hdx_buffer b = columns_of(rows, NULL, NULL, "pool threads");
    cr_expect(strstr(b.at, "a-#-#,3\n") != NULL && strstr(b.at, "a--,1\n") != NULL && strstr(b.at, "#,2\n") != NULL &&
                  strstr(b.at, "a-#-#b,1\n") != NULL && strstr(b.at, "-,1\n") != NULL,
              "%s", b.at);
    hdx_buffer_free(&b);
    heap_close(&h);
}
