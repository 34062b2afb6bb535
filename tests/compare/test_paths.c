/*
 * test_paths.c - the tree of paths against an obvious one: two queues of nodes, each with a list of objects, of which
 * a node keeps those that no node before it took out (SHARK 6.1). And lists that alternate, which are cut.
 */
#include "support/questions.h"
#include "compare/pair.h"
#include "compare/compare.h"

#define OBJECTS 30u
#define NODES   4096u
#define ROUNDS  120u

static uint64_t seed;
static unsigned below(unsigned n)
{
    seed = hdx_mix64(seed);
    return (unsigned)(seed % n);
}

/* ---- a heap, as the test knows it ---- */

enum { A, B, ARRAY, KINDS }; /* class A { b, a }, class B extends A { c, a }, A[] */

typedef struct thing {
    unsigned kind, count;
    int      refs[8]; /* in the order in which they are yielded; -1: null */
} thing;

typedef struct root {
    uint8_t tag;
    int     object; /* -1: class S */
} root;

typedef struct model {
    thing    at[OBJECTS];
    unsigned count, roots_count;
    int      statics[3];
    root     roots[6];
} model;

static const char *const class_names[] = { "app.A", "app.B", "app.A[]" };

/* How a reference is called, in the order of yielding. */
static void step_name(const model *m, int from, unsigned i, int to, char out[96])
{
    static const char *const of_b[] = { "B.a", "A.a", "A.b", "B.c" }, *const of_a[] = { "A.a", "A.b" },
                             *const of_s[] = { "S.z", "S.x", "S.y" };
    const unsigned                  kind = from < 0 ? KINDS : m->at[from].kind;
    (void)snprintf(out, 96, "%s %s -> %s %s",
                   kind == KINDS   ? "STATIC_FIELD"
                   : kind == ARRAY ? "ARRAY_ENTRY"
                                   : "INSTANCE_FIELD",
                   kind == KINDS   ? of_s[i]
                   : kind == ARRAY ? "A[].[x]"
                   : kind == A     ? of_a[i]
                                   : of_b[i],
                   m->at[to].kind == ARRAY ? "array of" : "instance of", class_names[m->at[to].kind]);
}

static int any(const model *m) { return below(4) == 0 ? -1 : (int)below(m->count); }

static void make(model *m)
{
    static const uint8_t tags[] = { HDX_SUB_ROOT_JNI_GLOBAL, HDX_SUB_ROOT_JAVA_FRAME, HDX_SUB_ROOT_JNI_GLOBAL,
                                    HDX_SUB_ROOT_MONITOR_USED };
    memset(m, 0, sizeof *m);
    m->count = 5 + below(OBJECTS - 5);
    for (unsigned i = 0; i < m->count; i++) {
        m->at[i].kind = below(KINDS);
        m->at[i].count = m->at[i].kind == A ? 2 : m->at[i].kind == B ? 4 : below(6);
        for (unsigned k = 0; k < m->at[i].count; k++)
            m->at[i].refs[k] = any(m);
    }
    for (unsigned i = 0; i < 3; i++)
        m->statics[i] = any(m);
    m->roots_count = 1 + below(5);
    m->roots[0] = (root){ HDX_SUB_ROOT_STICKY_CLASS, -1 };
    for (unsigned i = 1; i < m->roots_count; i++)
        m->roots[i] = (root){ tags[below(4)], (int)below(m->count) };
}

static uint64_t id_of(int i) { return i < 0 ? 0 : 0x100000 + 0x100 * (uint64_t)i; }

static dump_maker *dump_of(const model *m)
{
    dump_maker    *d = dump_maker_new(8);
    const uint64_t object = dump_maker_class(d, "java.lang.Object", 0, "");
    const uint64_t a = dump_maker_class(d, "app.A", object, "b:L a:L"), b = dump_maker_class(d, "app.B", a, "c:L a:L");
    const uint64_t array = dump_maker_class(d, "app.A[]", object, "");
    static const char *const names[] = { "z", "x", "y" };
    for (unsigned i = 0; i < 3; i++)
        dump_maker_static(d, names[i], 'L', id_of(m->statics[i]));
    const uint64_t s = dump_maker_class(d, "app.S", object, "");
    for (unsigned i = 0; i < m->count; i++) {
        const thing *t = &m->at[i];
        uint64_t     refs[8];
        for (unsigned k = 0; k < t->count; k++)
            refs[k] = id_of(t->refs[k]);
        if (t->kind == A)
            dump_maker_instance_at(d, id_of((int)i), a, DUMP_VALUES(refs[1], refs[0]));
        else if (t->kind == B)
            dump_maker_instance_at(d, id_of((int)i), b, DUMP_VALUES(refs[3], refs[0], refs[2], refs[1]));
        else
            dump_maker_array_at(d, id_of((int)i), array, refs, t->count);
    }
    for (unsigned i = 0; i < m->roots_count; i++)
        dump_maker_root(d, m->roots[i].tag, m->roots[i].object < 0 ? s : id_of(m->roots[i].object), 99, 0);
    return d;
}

/* ---- the obvious walk ---- */

typedef struct node {
    char    *path;
    char     name[96];
    bool     low;
    int      ids[OBJECTS * 8];
    unsigned count;
} node;

typedef struct counted {
    char    *path;
    unsigned objects;
} counted;

static node    *nodes[2][NODES]; /* the first queue, the last one */
static unsigned ends[2], heads[2];
static counted  paths[NODES];
static unsigned path_count;
static bool     seen[OBJECTS + 1]; /* the last: class S */

static void count_at(const char *path, unsigned objects)
{
    for (unsigned i = 0; i < path_count; i++)
        if (strcmp(paths[i].path, path) == 0) {
            paths[i].objects += objects;
            return;
        }
    paths[path_count++] = (counted){ strdup(path), objects };
}

/* The node of a name among those that are being gathered, in the order in which names were met. */
static node *gather(node **to, unsigned *n, const node *above, const char *name, bool low)
{
    for (unsigned i = 0; i < *n; i++)
        if (strcmp(to[i]->name, name) == 0 && to[i]->low == low)
            return to[i];
    node        *made = calloc(1, sizeof *made);
    const size_t room = (above != NULL ? strlen(above->path) : 0) + strlen(name) + 4;
    made->path = malloc(room);
    if (above != NULL && strcmp(above->name, name) == 0)
        (void)snprintf(made->path, room, "%s", above->path);
    else
        (void)snprintf(made->path, room, "%s%s%s", above != NULL ? above->path : "", above != NULL ? " > " : "", name);
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->low = low;
    return to[(*n)++] = made;
}

static void enqueue(node *const *from, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        cr_assert(ends[from[i]->low] < NODES);
        nodes[from[i]->low][ends[from[i]->low]++] = from[i];
    }
}

static void walk(const model *m)
{
    static const struct {
        uint8_t     tag;
        const char *name;
    } order[] = { { HDX_SUB_ROOT_STICKY_CLASS, "GcRoot(StickyClass)" },
                  { HDX_SUB_ROOT_MONITOR_USED, "GcRoot(MonitorUsed)" },
                  { HDX_SUB_ROOT_JNI_GLOBAL, "GcRoot(JniGlobal)" },
                  { HDX_SUB_ROOT_JAVA_FRAME, "GcRoot(JavaFrame)" } };
    node    *made[64];
    unsigned n = 0;
    bool     last_only = false;
    memset(seen, 0, sizeof seen);
    ends[0] = ends[1] = heads[0] = heads[1] = path_count = 0;
    for (unsigned k = 0; k < 4; k++)
        for (unsigned kind = 0; kind <= KINDS; kind++) /* within a type by name of the class */
            for (unsigned i = 0; i < m->roots_count; i++) {
                static const unsigned by_name[] = { A, ARRAY, B, KINDS };
                const unsigned        of = m->roots[i].object < 0 ? KINDS : m->at[m->roots[i].object].kind;
                if (m->roots[i].tag != order[k].tag || of != by_name[kind])
                    continue;
                node *r = gather(made, &n, NULL, order[k].name, order[k].tag == HDX_SUB_ROOT_JAVA_FRAME);
                r->ids[r->count++] = m->roots[i].object;
            }
    enqueue(made, n);
    while (heads[0] < ends[0] || heads[1] < ends[1]) {
        last_only |= heads[0] == ends[0];
        node    *at = nodes[last_only][heads[last_only]++];
        unsigned own = 0;
        n = 0;
        for (unsigned i = 0; i < at->count; i++) {
            const int id = at->ids[i];
            if (seen[id < 0 ? OBJECTS : (unsigned)id])
                continue;
            seen[id < 0 ? OBJECTS : (unsigned)id] = true;
            own++;
            const unsigned refs = id < 0 ? 3 : m->at[id].count;
            for (unsigned k = 0; k < refs; k++) {
                const int to = id < 0 ? m->statics[k] : m->at[id].refs[k];
                char      name[96];
                if (to < 0)
                    continue;
                step_name(m, id, k, to, name);
                node *child = gather(made, &n, at, name, last_only);
                if (child->count < OBJECTS * 8)
                    child->ids[child->count++] = to;
            }
        }
        if (own > 0)
            count_at(at->path, own);
        enqueue(made, n);
    }
    for (unsigned q = 0; q < 2; q++)
        for (unsigned i = 0; i < ends[q]; i++) {
            free(nodes[q][i]->path);
            free(nodes[q][i]);
        }
}

static const counted *of_path(const char *path)
{
    for (unsigned i = 0; i < path_count; i++)
        if (strcmp(paths[i].path, path) == 0)
            return &paths[i];
    return NULL;
}

/* ---- the comparison ---- */

/* As heap_open, of many small heaps: in memory where that can be. */
static void open_fast(heap *h, dump_maker *m)
{
    hdx_index_report report;
    memset(h, 0, sizeof *h);
    test_folder_make_fast(h->folder, "paths");
    (void)snprintf(h->dump, sizeof h->dump, "%s/a.hprof", h->folder);
    dump_maker_save(m, h->dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = h->dump, .threads = 1 };
    cr_assert(eq(int, hdx_index_build(&options, &report, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_graph_open(report.path, h->dump, &h->g, &h->err), HDX_OK), "%s", h->err.message);
    h->q = (hdx_query){ .graph = h->g, .scope = HDX_LIVE, .threads = 1 };
}

static hdx_ledger *ledger_of(heap *h)
{
    static hdx_mem mem;
    hdx_ledger    *l;
    cr_assert(eq(int, hdx_ledger_open(&mem, 1, &l, &h->err), HDX_OK));
    cr_assert(eq(int, hdx_compare_paths(&h->q, 0, l, 0, &h->err), HDX_OK), "%s", h->err.message);
    return l;
}

Test(paths, are_those_of_an_obvious_walk)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        model    m;
        heap     h;
        unsigned found = 0;
        seed = round;
        make(&m);
        open_fast(&h, dump_of(&m));
        walk(&m);
        hdx_ledger *l = ledger_of(&h);
        for (uint32_t i = 0; i < l->count; i++) {
            hdx_buffer           key = hdx_buffer_of(NULL);
            hdx_cell             cell;
            const hdx_ledger_sum sum = hdx_ledger_read(l, 0, i);
            cr_assert(hdx_ledger_key(l, i, &key, &cell));
            const counted *want = of_path(key.at);
            cr_expect(sum.objects == (want != NULL ? want->objects : 0), "seed %u: %s has %llu, not %u", round, key.at,
                      (unsigned long long)sum.objects, want != NULL ? want->objects : 0);
            found += want != NULL;
            hdx_buffer_free(&key);
        }
        cr_expect(found == path_count, "seed %u: %u paths of %u", round, found, path_count);
        for (unsigned i = 0; i < path_count; i++)
            free(paths[i].path);
        hdx_ledger_close(l);
        heap_close(&h);
    }
}

/* A and B in turn, 300 of them: the path ends after 100 steps, and has all objects all the same. */
Test(paths, have_an_end)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t a = dump_maker_class(m, "app.A", object, "next:L"),
                   b = dump_maker_class(m, "app.B", object, "next:L");
    uint64_t last = 0, objects = 0, deepest = 0;
    heap     h;
    for (unsigned i = 0; i < 300; i++)
        last = dump_maker_instance(m, i % 2 == 0 ? a : b, DUMP_VALUES(last));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, last, 0, 0);
    open_fast(&h, m);
    hdx_ledger *l = ledger_of(&h);
    for (uint32_t i = 0; i < l->count; i++) {
        const hdx_ledger_sum sum = hdx_ledger_read(l, 0, i);
        objects += sum.objects;
        deepest = sum.objects > deepest ? sum.objects : deepest;
        if (i == 0)
            cr_expect(eq(u64, sum.retained, 300 * 8));
    }
    cr_expect(eq(u64, objects, 300));
    cr_expect(eq(u64, l->count, HDX_COMPARE_STEPS));
    cr_expect(eq(u64, deepest, 300 - HDX_COMPARE_STEPS + 1));
    hdx_ledger_close(l);
    heap_close(&h);
}
