/*
 * test_search.c - the search on random small heaps equals a plain, slow transcription of its rules (SHARK 3.1 to 3.5,
 * 4.1, 4.4).
 *
 * The model is made beside the dump: objects with their references in order, which of them are followed late or not at
 * all, roots in order. It has two lists for queues, finds things by walking them, and retains what is not reached
 * without an object. A failure names its seed.
 */
#include "../query/heap.h"

#include <heapdex/leaks.h>

#define SEEDS 120u
#define MOST  90

enum { PLAIN, ARRAY, WEAK, LIST, LEAK, KLASS, THREAD };

typedef struct ref {
    int  to; /* object; -1: null or dangling */
    bool low;
} ref;
typedef struct object {
    uint64_t address;
    int      kind;
    ref      refs[24];
    int      ref_count;
    uint64_t size;
    char     class_name[40];
} object;
typedef struct model {
    object objects[MOST];
    int    count;
    struct {
        int         object, rank;
        bool        low;
        const char *type;
    } roots[64];
    int root_count;
    /* of the search */
    int  parent[MOST], root_of[MOST], first[4 * MOST], last[4 * MOST];
    int  first_count, last_count;
    bool seen[MOST], waiting[MOST], turned, reached[MOST];
} model;

static int find(const model *m, uint64_t address)
{
    for (int i = 0; i < m->count; i++)
        if (m->objects[i].address == address)
            return i;
    return -1;
}

static void refer(model *m, int from, uint64_t to, bool low)
{
    object *o = &m->objects[from];
    if (to != 0 && o->ref_count < 24)
        o->refs[o->ref_count++] = (ref){ find(m, to), low };
}

static void enqueue(model *m, int to, int parent, int root, bool low)
{
    low = low || m->turned;
    if (to < 0)
        return;
    if (m->seen[to]) {
        if (low || !m->waiting[to])
            return;
        m->waiting[to] = false;
        for (int i = 0; i < m->last_count; i++)
            if (m->last[i] == to) {
                memmove(&m->last[i], &m->last[i + 1], (size_t)(--m->last_count - i) * sizeof(int));
                break;
            }
    }
    m->seen[to] = true;
    m->parent[to] = parent;
    m->root_of[to] = root;
    if (low) {
        m->waiting[to] = true;
        m->last[m->last_count++] = to;
    } else
        m->first[m->first_count++] = to;
}

static void search(model *m)
{
    int done = 0;
    for (int i = 0; i < m->root_count; i++)
        enqueue(m, m->roots[i].object, -1, i, m->roots[i].low);
    for (;;) {
        int at;
        if (done < m->first_count && !m->turned) {
            at = m->first[done++];
        } else {
            m->turned = true;
            if (m->last_count == 0)
                return;
            at = m->last[0];
            m->waiting[at] = false;
            memmove(m->last, m->last + 1, (size_t)--m->last_count * sizeof(int));
        }
        m->reached[at] = true;
        for (int i = 0; i < m->objects[at].ref_count; i++)
            enqueue(m, m->objects[at].refs[i].to, at, -1, m->objects[at].refs[i].low);
    }
}

/* What is reached when `without` is not entered. */
static void mark(const model *m, int without, bool *seen)
{
    int stack[MOST * 26], n = 0;
    memset(seen, 0, MOST * sizeof *seen);
    for (int i = 0; i < m->root_count; i++)
        stack[n++] = m->roots[i].object;
    while (n > 0) {
        int at = stack[--n];
        if (at < 0 || at == without || seen[at])
            continue;
        seen[at] = true;
        for (int i = 0; i < m->objects[at].ref_count; i++)
            stack[n++] = m->objects[at].refs[i].to;
    }
}

/* ---- a random heap and its model ---- */

static const char *const fields = "b:L a:L n:I c:L"; /* sorted by name: a, b, c */

static void put_roots(model *m, dump_maker *d, unsigned *seed)
{
    static const struct {
        uint8_t     tag;
        int         rank;
        bool        low;
        const char *type;
    } kinds[] = {
        { HDX_SUB_ROOT_STICKY_CLASS, 2, false, "STICKY_CLASS" },
        { HDX_SUB_ROOT_JNI_GLOBAL, 7, false, "JNI_GLOBAL" },
        { HDX_SUB_ROOT_JAVA_FRAME, 8, true, "JAVA_FRAME" },
        { HDX_SUB_ROOT_MONITOR_USED, 4, false, "MONITOR_USED" },
        { HDX_SUB_ROOT_VM_INTERNAL, -1, false, "" },
        { HDX_SUB_ROOT_NATIVE_STACK, 3, false, "NATIVE_STACK" },
    };
    int n = 2 + rand_r(seed) % 5;
    for (int i = 0; i < n; i++) {
        int k = rand_r(seed) % 6, at = rand_r(seed) % m->count, before = -1;
        dump_maker_root(d, kinds[k].tag, m->objects[at].address, 99, 0);
        for (int r = 0; r < m->root_count && kinds[k].tag == HDX_SUB_ROOT_STICKY_CLASS; r++)
            before = m->roots[r].object == at && m->roots[r].rank == 2 ? r : before;
        if (kinds[k].rank < 0 || before >= 0)
            continue;
        int place = m->root_count++; /* stable: after those of its rank and name */
        while (place > 0 &&
               (m->roots[place - 1].rank > kinds[k].rank ||
                (m->roots[place - 1].rank == kinds[k].rank &&
                 strcmp(m->objects[m->roots[place - 1].object].class_name, m->objects[at].class_name) > 0))) {
            m->roots[place] = m->roots[place - 1];
            place--;
        }
        m->roots[place].object = at;
        m->roots[place].rank = kinds[k].rank;
        m->roots[place].low = kinds[k].low;
        m->roots[place].type = kinds[k].type;
    }
}

static uint64_t pick(const model *m, unsigned *seed)
{
    int r = rand_r(seed) % 10;
    return r < 3 ? 0 : r == 3 ? 0xdead00 : m->objects[rand_r(seed) % m->count].address;
}

static void random_heap(model *m, heap *h, unsigned number)
{
    unsigned    seed = number * 2654435761u + 1;
    unsigned    id_size = number % 2 ? 4 : 8;
    dump_maker *d = dump_maker_new(id_size);
    uint64_t    refs[8];
    memset(m, 0, sizeof *m);
    m->count = 12 + rand_r(&seed) % (MOST - 12);
    for (int i = 0; i < m->count; i++) {
        int r = rand_r(&seed) % 12;
        m->objects[i] = (object){ .address = 0x10000 + 64 * (uint64_t)i,
                                  .kind = i < 2    ? KLASS
                                          : i == 2 ? THREAD
                                          : r < 5  ? PLAIN
                                          : r < 7  ? ARRAY
                                          : r < 8  ? WEAK
                                          : r < 9  ? LIST
                                                   : LEAK };
    }
    uint64_t object_class = dump_maker_class_at(d, 0x100, "java/lang/Object", 0, "");
    uint64_t reference = dump_maker_class_at(d, 0x180, "java/lang/ref/Reference", object_class, "referent:L queue:L");
    uint64_t weak = dump_maker_class_at(d, 0x200, "java/lang/ref/WeakReference", reference, "");
    uint64_t thread = dump_maker_class_at(d, 0x300, "java/lang/Thread", object_class, "target:L");
    uint64_t array = dump_maker_class_at(d, 0x400, "[Ljava/lang/Object;", object_class, "");
    uint64_t list = dump_maker_class_at(d, 0x500, "java/util/ArrayList", object_class, "elementData:L size:I");
    uint64_t plain = dump_maker_class_at(d, 0x600, "p/Plain", object_class, fields);
    uint64_t leak = dump_maker_class_at(d, 0x700, "p/Leak", plain, "d:L");
    for (int i = 0; i < 2; i++) { /* class objects: static references in the order of the dump */
        char name[32];
        (void)snprintf(name, sizeof name, "p/Holder%d", i);
        (void)snprintf(m->objects[i].class_name, sizeof m->objects[i].class_name, "p.Holder%d", i);
        for (int s = 0; s < 3; s++) {
            uint64_t to = pick(m, &seed);
            dump_maker_static(d, s == 1 ? "late" : s == 0 ? "z" : "a", 'L', to);
            refer(m, i, to, s == 1); /* a library matcher stands for Holder0#late and Holder1#late */
        }
        (void)dump_maker_class_at(d, m->objects[i].address, name, object_class, "");
        m->objects[i].size = UINT64_MAX; /* not asked for: class objects never leak */
    }
    for (int i = 2; i < m->count; i++) {
        object *o = &m->objects[i];
        for (int k = 0; k < 8; k++)
            refs[k] = pick(m, &seed);
        int n = rand_r(&seed) % 8;
        switch (o->kind) {
        case THREAD:
            (void)strcpy(o->class_name, "java.lang.Thread");
            dump_maker_instance_at(d, o->address, thread, refs);
            o->size = id_size;
            break;
        case ARRAY:
            (void)strcpy(o->class_name, "java.lang.Object[]");
            dump_maker_array_at(d, o->address, array, refs, (uint32_t)n);
            for (int k = 0; k < n; k++)
                refer(m, i, refs[k], false);
            o->size = (uint64_t)n * id_size;
            break;
        case WEAK: /* the referent is not followed, the queue is */
            (void)strcpy(o->class_name, "java.lang.ref.WeakReference");
            dump_maker_instance_at(d, o->address, weak, refs);
            refer(m, i, refs[1], false);
            o->size = 2 * id_size;
            break;
        case LIST: { /* its elements up to size, then its array */
            uint64_t at = 0;
            int      data = -1;
            for (int k = 0; k < i; k++)
                if (m->objects[k].kind == ARRAY)
                    data = k;
            at = data >= 0 ? m->objects[data].address : 0;
            (void)strcpy(o->class_name, "java.util.ArrayList");
            dump_maker_instance_at(d, o->address, list, DUMP_VALUES(at, (uint64_t)(n % 4)));
            o->size = id_size + 4;
            break;
        }
        default:
            (void)strcpy(o->class_name, o->kind == LEAK ? "p.Leak" : "p.Plain");
            if (o->kind == LEAK) { /* own fields first in the record, but a, b, c, d in the search */
                dump_maker_instance_at(d, o->address, leak, DUMP_VALUES(refs[3], refs[1], refs[0], 7, refs[2]));
            } else
                dump_maker_instance_at(d, o->address, plain, DUMP_VALUES(refs[1], refs[0], 7, refs[2]));
            refer(m, i, refs[0], false);
            refer(m, i, refs[1], false);
            refer(m, i, refs[2], true); /* a library matcher stands for p.Plain#c, in subclasses too */
            if (o->kind == LEAK)
                refer(m, i, refs[3], false);
            o->size = (uint64_t)(o->kind == LEAK ? 4 : 3) * id_size + 4;
        }
        if (o->kind == LIST) {
            int data = -1;
            for (int k = 0; k < i; k++)
                if (m->objects[k].kind == ARRAY)
                    data = k;
            if (data >= 0)
                o->refs[o->ref_count++] = (ref){ data, false };
        }
    }
    /* a thread with two locals, followed late and before its fields */
    dump_maker_root(d, HDX_SUB_ROOT_THREAD_OBJECT, m->objects[2].address, 1, 1);
    m->roots[m->root_count].object = 2;
    m->roots[m->root_count].rank = 0;
    m->roots[m->root_count++].type = "THREAD_OBJECT";
    for (int k = 0; k < 2; k++) {
        uint64_t to = m->objects[rand_r(&seed) % m->count].address;
        dump_maker_root(d, HDX_SUB_ROOT_JAVA_FRAME, to, 1, 0);
        refer(m, 2, to, true);
    }
    put_roots(m, d, &seed);
    heap_open(h, d);
}

/* What only the dump can tell simply: the field `target` of the thread, the elements of lists. */
static void complete(model *m, heap *h)
{
    hdx_values v = { 0 };
    hdx_value  value;
    hdx_error  err;
    bool       found;
    for (int i = 2; i < m->count; i++) {
        object      *o = &m->objects[i];
        const hdx_id id = id_at(h, o->address);
        if (o->kind == THREAD) {
            cr_assert(eq(int, hdx_graph_field(h->g, id, "java.lang.Thread", "target", &value, &found, &err), HDX_OK));
            refer(m, i, value.as.address, false);
        }
        if (o->kind != LIST || o->ref_count == 0)
            continue;
        const int data = o->refs[0].to;
        cr_assert(eq(int, hdx_graph_field(h->g, id, "java.util.ArrayList", "size", &value, &found, &err), HDX_OK));
        cr_assert(eq(
            int, hdx_graph_elements(h->g, id_at(h, m->objects[data].address), 0, (uint64_t)value.as.integer, &v, &err),
            HDX_OK));
        o->ref_count = 0;
        for (uint64_t e = 0; e < v.count; e++)
            refer(m, i, v.at[e].value.as.address, false);
        o->refs[o->ref_count++] = (ref){ data, false };
    }
    hdx_values_free(&v);
}

static bool leak_above(const model *m, int at)
{
    for (at = m->parent[at]; at >= 0; at = m->parent[at])
        if (m->objects[at].kind == LEAK)
            return true;
    return false;
}

static void compare_trace(const model *m, const hdx_leak_trace *t, const hdx_leak_steps *s, unsigned seed)
{
    int at = find(m, t->address);
    cr_assert(at >= 0 && m->reached[at] && !leak_above(m, at), "seed %u: 0x%llx has a trace", seed,
              (unsigned long long)t->address);
    for (uint64_t i = s->count; i-- > 0; at = m->parent[at]) {
        bool     seen[MOST];
        uint64_t bytes = 0, objects = 0;
        cr_assert(at >= 0 && s->at[i].address == m->objects[at].address, "seed %u: step %llu to 0x%llx is 0x%llx", seed,
                  (unsigned long long)i, (unsigned long long)t->address, (unsigned long long)s->at[i].address);
        if (i == 0)
            cr_assert(m->parent[at] < 0, "seed %u: the path to 0x%llx begins at 0x%llx, which 0x%llx refers to", seed,
                      (unsigned long long)t->address, (unsigned long long)m->objects[at].address,
                      (unsigned long long)m->objects[m->parent[at]].address);
        if (i == 0)
            cr_assert_str_eq(t->root_type, m->roots[m->root_of[at]].type, "seed %u: 0x%llx", seed,
                             (unsigned long long)t->address);
        if (!s->at[i].sized)
            continue;
        mark(m, at, seen);
        for (int o = 0; o < m->count; o++)
            if (m->reached[o] && !seen[o]) {
                bytes += m->objects[o].kind == KLASS ? 0 : m->objects[o].size;
                objects++;
            }
        bool held = false;
        for (int o = 0; o < 2; o++)
            held |= m->reached[o] && !seen[o];
        cr_assert(s->at[i].retained_objects == objects && (held || s->at[i].retained_bytes == bytes),
                  "seed %u: 0x%llx retains %llu in %llu, expected %llu in %llu", seed,
                  (unsigned long long)s->at[i].address, (unsigned long long)s->at[i].retained_bytes,
                  (unsigned long long)s->at[i].retained_objects, (unsigned long long)bytes,
                  (unsigned long long)objects);
    }
    cr_assert(eq(int, at, -1), "seed %u", seed);
}

static void compare(const model *m, const hdx_leaks *leaks, unsigned seed)
{
    hdx_leak_steps steps = { .count = 0 };
    hdx_error      err;
    uint64_t       with = 0, without = 0, expected_with = 0, expected_without = 0;
    for (uint64_t i = 0; i < leaks->leak_count; i++)
        for (uint64_t t = 0; t < leaks->leaks[i].trace_count; t++) {
            const hdx_leak_trace *trace = &leaks->leaks[i].traces[t];
            if (leaks->leaks[i].kind == HDX_LEAK_UNREACHABLE) {
                without++;
                cr_assert(m->reached[find(m, trace->address)] == false, "seed %u: 0x%llx is reached", seed,
                          (unsigned long long)trace->address);
                continue;
            }
            with++;
            cr_assert(eq(int, hdx_leak_steps_read(leaks, trace, &steps, &err), HDX_OK));
            compare_trace(m, trace, &steps, seed);
        }
    for (int i = 0; i < m->count; i++)
        if (m->objects[i].kind == LEAK) {
            expected_without += !m->reached[i];
            expected_with += m->reached[i] && !leak_above(m, i);
        }
    cr_assert(with == expected_with && without == expected_without,
              "seed %u: %llu traces and %llu unreachable, expected %llu and %llu", seed, (unsigned long long)with,
              (unsigned long long)without, (unsigned long long)expected_with, (unsigned long long)expected_without);
    hdx_leak_steps_free(&steps);
}

static const char *const      leak_class[] = { "p.Leak" };
static const hdx_leak_matcher late[] = {
    { HDX_LEAK_STATIC_FIELD, false, true, 0, 0, "p.Holder0", "late", "", "", "" },
    { HDX_LEAK_STATIC_FIELD, false, true, 0, 0, "p.Holder1", "late", "", "", "" },
    { HDX_LEAK_INSTANCE_FIELD, false, true, 0, 0, "p.Plain", "c", "", "", "" },
};

Test(search, equals_a_slow_transcription_of_its_rules_on_random_heaps)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        model      m;
        heap       h;
        hdx_leaks *leaks;
        random_heap(&m, &h, seed);
        complete(&m, &h);
        search(&m);
        bool any = false;
        for (int i = 0; i < m.count; i++)
            any |= m.objects[i].kind == LEAK;
        hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                                .classes = leak_class,
                                .class_count = 1,
                                .retained = true,
                                .matchers = late,
                                .matcher_count = 3,
                                .threads = 1 + seed % 2,
                                .width = seed % 3 == 2 ? 64 : 0 };
        if (any) {
            cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "seed %u: %s", seed, h.err.message);
            compare(&m, leaks, seed);
            hdx_leaks_free(leaks);
            o.retained = false; /* the answer must not depend on it (SHARK 3.4) */
            cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "seed %u: %s", seed, h.err.message);
            compare(&m, leaks, seed);
            hdx_leaks_free(leaks);
        }
        heap_close(&h);
    }
}

/*
 * A list of `length` nodes that ends in the leak; with `crossed` each node refers to one object more, the same for all.
 * What a node retains are the nodes after it, the leak, and for the first that object. Crossed, the list makes the
 * flood walk up to the first node from each: dominators of all are the faster way from some hundred nodes on
 * (flood_wide.c), and give the same.
 */
static void list_with_a_leak(unsigned length, bool crossed, unsigned width)
{
    heap           h;
    hdx_leaks     *leaks;
    hdx_leak_steps steps = { .count = 0 };
    dump_maker    *d = dump_maker_new(8);
    const uint64_t object_class = dump_maker_class(d, "java/lang/Object", 0, ""),
                   node = dump_maker_class(d, "p/Node", object_class, "next:L all:L");
    const uint64_t at_end = dump_maker_instance(d, dump_maker_class(d, "p/Leak", object_class, "n:J"), DUMP_VALUES(0));
    const uint64_t all =
        crossed ? dump_maker_instance(d, dump_maker_class(d, "p/All", object_class, "n:I"), DUMP_VALUES(0)) : 0;
    uint64_t next = at_end;
    for (unsigned i = 0; i < length; i++)
        next = dump_maker_instance(d, node, DUMP_VALUES(next, all));
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, next, 0, 0);
    heap_open(&h, d);
    hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                            .classes = leak_class,
                            .class_count = 1,
                            .retained = true,
                            .width = width,
                            .no_memory_of_it = true };
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
    cr_assert(eq(int, hdx_leak_steps_read(leaks, &leaks->leaks[0].traces[0], &steps, &h.err), HDX_OK));
    cr_assert(eq(u64, steps.count, length + 1));
    for (uint64_t i = 0; i < steps.count; i++) {
        const uint64_t behind = length - i, more = i == 0 && crossed;
        cr_assert(steps.at[i].retained_objects == behind + 1 + more &&
                      steps.at[i].retained_bytes == 16 * behind + 8 + 4 * more,
                  "%u nodes, step %llu: %llu bytes in %llu objects", length, (unsigned long long)i,
                  (unsigned long long)steps.at[i].retained_bytes, (unsigned long long)steps.at[i].retained_objects);
    }
    hdx_leak_steps_free(&steps);
    hdx_leaks_free(leaks);
    heap_close(&h);
}

Test(search, sums_up_what_a_long_list_retains_in_either_way)
{
    for (unsigned width = 0; width <= 64; width += 64) {
        list_with_a_leak(40, true, width);
        list_with_a_leak(3000, false, width);
        list_with_a_leak(3000, true, width);
    }
}

/*
 * An object on a path that is reached late from elsewhere. a and z, both below x, refer to u, so x seems to retain u;
 * then y3, which lies deeper than both, refers to a: all that was concluded while a seemed to hang below x alone is
 * concluded again.
 *
 *     root -> x -> a -> A       a -> u <- z       root -> y1 -> y2 -> y3 -> B
 *             x -> z -> Z                         y3 -> a
 */
Test(search, concludes_again_when_a_second_way_to_an_object_shows_late)
{
    heap           h;
    hdx_leaks     *leaks;
    hdx_leak_steps steps = { .count = 0 };
    dump_maker    *d = dump_maker_new(8);
    const uint64_t object_class = dump_maker_class(d, "java/lang/Object", 0, ""),
                   plain = dump_maker_class(d, "p/Plain", object_class, "a:L b:L");
    const uint64_t leak = dump_maker_class(d, "p/Leak", plain, "");
    const uint64_t u = dump_maker_instance(d, plain, DUMP_VALUES(0, 0)),
                   below_a = dump_maker_instance(d, leak, DUMP_VALUES(0, 0));
    const uint64_t below_b = dump_maker_instance(d, leak, DUMP_VALUES(0, 0)),
                   below_z = dump_maker_instance(d, leak, DUMP_VALUES(0, 0));
    const uint64_t a = dump_maker_instance(d, plain, DUMP_VALUES(below_a, u)),
                   z = dump_maker_instance(d, plain, DUMP_VALUES(below_z, u));
    const uint64_t x = dump_maker_instance(d, plain, DUMP_VALUES(a, z)),
                   y3 = dump_maker_instance(d, plain, DUMP_VALUES(below_b, a));
    const uint64_t y2 = dump_maker_instance(d, plain, DUMP_VALUES(y3, 0)),
                   y1 = dump_maker_instance(d, plain, DUMP_VALUES(y2, 0));
    const struct {
        uint64_t address, objects;
    } want[] = { { x, 3 },  { a, 2 },  { below_a, 1 }, { z, 2 },      { below_z, 1 },
                 { y1, 4 }, { y2, 3 }, { y3, 2 },      { below_b, 1 } };
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, x, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, y1, 0, 0);
    heap_open(&h, d);
    hdx_leaks_options o = {
        .finder = HDX_LEAKS_CLASSES, .classes = leak_class, .class_count = 1, .retained = true, .no_memory_of_it = true
    };
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
    unsigned seen = 0; /* x is on two paths */
    for (uint64_t l = 0; l < leaks->leak_count; l++)
        for (uint64_t n = 0; n < leaks->leaks[l].trace_count; n++) {
            cr_assert(eq(int, hdx_leak_steps_read(leaks, &leaks->leaks[l].traces[n], &steps, &h.err), HDX_OK));
            for (uint64_t i = 0; i < steps.count; i++)
                for (size_t w = 0; w < sizeof want / sizeof *want; w++)
                    if (want[w].address == steps.at[i].address) {
                        seen++;
                        cr_expect(eq(u64, steps.at[i].retained_objects, want[w].objects), "object %zu", w);
                    }
        }
    cr_expect(eq(uint, seen, 10));
    hdx_leak_steps_free(&steps);
    hdx_leaks_free(leaks);
    heap_close(&h);
}

Test(search, answers_again_from_what_it_kept_and_anew_when_a_rule_changes)
{
    model      m;
    heap       h;
    hdx_leaks *first, *again, *other;
    random_heap(&m, &h, 7);
    complete(&m, &h);
    search(&m);
    hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                            .classes = leak_class,
                            .class_count = 1,
                            .retained = true,
                            .matchers = late,
                            .matcher_count = 3 };
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &first, &h.err), HDX_OK), "%s", h.err.message);
    cr_expect(first->remembered == false);
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &again, &h.err), HDX_OK), "%s", h.err.message);
    cr_expect(again->remembered);
    compare(&m, again, 7);
    o.matcher_count = 2;
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &other, &h.err), HDX_OK), "%s", h.err.message);
    cr_expect(other->remembered == false);
    hdx_leaks_free(other);
    o.matcher_count = 3;
    o.key = "k";
    cr_expect(eq(int, hdx_leaks_search(h.g, &o, &other, &h.err), HDX_USAGE));
    o = (hdx_leaks_options){ .finder = HDX_LEAKS_WATCHED, .key = "k" };
    cr_expect(eq(int, hdx_leaks_search(h.g, &o, &other, &h.err), HDX_NOT_FOUND));
    hdx_leaks_free(first);
    hdx_leaks_free(again);
    heap_close(&h);
}

typedef struct patience {
    unsigned asked, left;
    unsigned steps;
} patience;
static bool impatient(void *context)
{
    patience *p = context;
    return p->asked++ >= p->left;
}
static void count_steps(void *context, const hdx_progress_report *report)
{
    patience *p = context;
    p->steps = report->number > p->steps ? report->number : p->steps;
}

Test(search, ends_when_it_is_told_to_and_says_where_it_is)
{
    model      m;
    heap       h;
    hdx_leaks *leaks;
    random_heap(&m, &h, 11);
    complete(&m, &h);
    search(&m);
    patience          p = { .left = UINT32_MAX };
    hdx_progress      progress = { &p, count_steps, impatient };
    hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                            .classes = leak_class,
                            .class_count = 1,
                            .retained = true,
                            .progress = &progress,
                            .no_memory_of_it = true,
                            .threads = 1 };
    cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
    hdx_leaks_free(leaks);
    cr_expect(eq(uint, p.steps, 5));
    const unsigned asked = p.asked;
    cr_assert(gt(uint, asked, 2));
    for (unsigned left = 0; left < asked; left++) { /* at every place where it asks */
        p = (patience){ .left = left };
        cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_CANCELLED), "asked %u times, stopped at %u",
                  asked, left);
        cr_assert(leaks == NULL);
    }
    heap_close(&h);
}

/* p.Low is a p.Mid, which has nothing of its own, and that a p.Base; the way to the leak is a field of p.Base. */
static void hierarchy(heap *h, uint64_t of[4])
{
    dump_maker    *d = dump_maker_new(8);
    const uint64_t object_class = dump_maker_class(d, "java/lang/Object", 0, ""),
                   base = dump_maker_class(d, "p/Base", object_class, "hold:L size:I");
    const uint64_t mid = dump_maker_class(d, "p/Mid", base, ""), low = dump_maker_class(d, "p/Low", mid, "own:L");
    const uint64_t other = dump_maker_class(d, "p/Other", object_class, "hold:L");
    of[0] = dump_maker_instance(d, dump_maker_class(d, "p/Leak", object_class, "n:J"), DUMP_VALUES(0));
    of[1] = dump_maker_instance(d, low, DUMP_VALUES(0, of[0], 0));
    of[2] = dump_maker_instance(d, mid, DUMP_VALUES(0, 0));
    of[3] = dump_maker_instance(d, base, DUMP_VALUES(0, 0));
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, of[1], 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, of[2], 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, of[3], 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(d, other, DUMP_VALUES(0)), 0, 0);
    heap_open(h, d);
}

Test(search, takes_matchers_and_fields_of_classes_further_up)
{
    static const char *const classes[] = { "p.Base", "p.Mid", "p.Low", "p.Other", "p.Below" };
    static const char *const notes[] = { "base", "mid", "low", "", "" };
    heap                     h;
    uint64_t                 of[4];
    hierarchy(&h, of);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const hdx_leak_matcher m[] = {
            { HDX_LEAK_INSTANCE_FIELD, false, true, 0, 0, classes[i], "hold", "", "", notes[i] },
            { HDX_LEAK_INSTANCE_FIELD, false, true, 0, 0, "p.Low", "own", "", "", "own" }
        }; /* nearer, and of another field */
        hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES,
                                .classes = leak_class,
                                .class_count = 1,
                                .matchers = m,
                                .matcher_count = 2,
                                .no_memory_of_it = true };
        hdx_leaks        *leaks;
        cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
        cr_assert(leaks->leak_count == 1 && leaks->leaks[0].kind == (i < 3 ? HDX_LEAK_LIBRARY : HDX_LEAK_APPLICATION),
                  "%s#hold", classes[i]);
        if (i < 3)
            cr_expect_str_eq(leaks->leaks[0].note, notes[i]);
        hdx_leaks_free(leaks);
    }
    heap_close(&h);
}

/* Each class is asked about, and its objects again; the answers stay the same. */
Test(search, takes_rules_for_subclasses)
{
    static const struct {
        const char *rule;
        unsigned    found;
    } cases[] = {
        { "leaking p.Base+", 3 },
        { "leaking p.Mid+", 2 },
        { "leaking p.Low+", 1 },
        { "leaking p.Base", 1 },
        { "leaking p.Mid+\nleaking p.Low+", 2 },
        { "leaking p.None+", 0 },
        { "leaking p.Other+\nleaking p.Low+", 2 },
    };
    heap     h;
    uint64_t of[4];
    hierarchy(&h, of);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_leaks_options o = { .finder = HDX_LEAKS_FILTERS,
                                .rule_file = { "mine.txt", cases[i].rule, strlen(cases[i].rule) },
                                .no_memory_of_it = true };
        hdx_leaks        *leaks;
        unsigned          found = 0;
        cr_assert(eq(int, hdx_leaks_search(h.g, &o, &leaks, &h.err), HDX_OK), "%s", h.err.message);
        for (uint64_t n = 0; n < leaks->leak_count; n++)
            found += (unsigned)leaks->leaks[n].trace_count;
        cr_expect(eq(u32, found, cases[i].found), "%s", cases[i].rule);
        hdx_leaks_free(leaks);
    }
    heap_close(&h);
}
