/*
 * tangled.h - random heaps, and what plain marking over their named references reaches: the obvious definition to
 * compare answers with.
 *
 *     tangle(&h, &m, seed);
 *     model_open(&m, &h);
 *     mark(&m, NULL, NULL, without, seen);          what is reached when these objects are not entered
 *     ask(&h, &hdx_question_retained, a, 1, &rows);
 *     expect_gone(&m, rows, seen, "a union", seed);
 *     model_close(&m);
 *     heap_close(&h);
 */
#ifndef HDX_TESTS_QUERY_TANGLED_H
#define HDX_TESTS_QUERY_TANGLED_H

#include "heap.h"
#include "query/questions.h"

#define SEEDS 40u
#define MOST  220u

typedef struct link {
    hdx_id       from, to;
    hdx_ref_kind kind;
    char         name[32];
} link;

typedef struct model {
    heap    *h;
    uint64_t n;
    link    *links;
    unsigned count;
    uint64_t shallow[MOST];
    uint32_t class_of[MOST];
    bool     live[MOST];
    int64_t  size[MOST];    /* of a node: its field */
    char     name[MOST][8]; /* the text that its field `name` leads to */
    bool     sized[MOST];
} model;

enum { FIRST = 0x10000, STEP = 64 };

/* ---- a heap ---- */

static inline unsigned draw(unsigned *seed, unsigned below) { return (unsigned)rand_r(seed) % below; }

/*
 * Nodes of classes of two loaders, links of java.util, arrays and texts that refer to each other at random; statics;
 * roots of several types, some objects with two; a thread with locals. Much of it is garbage.
 */
static inline void tangle(heap *h, model *m, unsigned seed)
{
    static const uint8_t tags[] = { HDX_SUB_ROOT_JNI_GLOBAL, HDX_SUB_ROOT_JNI_GLOBAL, HDX_SUB_ROOT_MONITOR_USED };
    dump_maker          *d = dump_maker_new(seed % 2 ? 4 : 8);
    const unsigned       n = 20 + draw(&seed, 60);
    uint64_t             at[80], texts[3], values[8], sizes[80], named[80];
    const uint64_t       object = dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    const uint64_t       string = dump_maker_class_at(d, 0x200, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t       loader = dump_maker_class_at(d, 0x300, "java.lang.ClassLoader", object, "parent:L held:L");
    const uint64_t       thread = dump_maker_class_at(d, 0x400, "java.lang.Thread", object, "target:L");
    const uint64_t       array = dump_maker_class_at(d, 0x500, "[Ljava/lang/Object;", object, "");
    const uint64_t       entry = dump_maker_class_at(d, 0x600, "java.util.Link", object, "next:L value:L");
    for (unsigned i = 0; i < n; i++)
        at[i] = FIRST + STEP * (uint64_t)i;
    d->loader = at[1];
    if (draw(&seed, 2))
        dump_maker_static(d, "cache", 'L', at[draw(&seed, n)]);
    const uint64_t node = dump_maker_class_at(d, 0x700, "app.Node", object, "size:I name:L next:L");
    dump_maker_static(d, "all", 'L', at[draw(&seed, n)]);
    dump_maker_static(d, "next", 'L', at[draw(&seed, n)]); /* a static of the name of a field */
    const uint64_t leaf = dump_maker_class_at(d, 0x800, "app.Leaf", node, "other:L");
    d->loader = at[2];
    dump_maker_static(d, "bags", 'L', at[draw(&seed, n)]);
    dump_maker_static(d, "type", 'L', node); /* a static that leads to a class */
    const uint64_t bag = dump_maker_class_at(d, 0x900, "plug.Bag", object, "next:L other:L");
    d->loader = 0;
    for (unsigned i = 0; i < 3; i++)
        texts[i] = dump_maker_string(d, string, i == 0 ? "red" : i == 1 ? "green" : "redder");
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < 8; k++)
            values[k] = draw(&seed, 3) == 0 ? 0 : at[draw(&seed, n)];
        sizes[i] = draw(&seed, 10);
        named[i] = draw(&seed, 4);
        const uint64_t text = named[i] < 3 ? texts[named[i]] : 0;
        const unsigned kind = i < 3 ? 10 + i : draw(&seed, 8);
        if (kind != 3 && kind != 4)
            named[i] = 9;
        switch (kind) {
        case 10: dump_maker_instance_at(d, at[i], thread, values); break;
        case 11:
        case 12: dump_maker_instance_at(d, at[i], loader, values); break;
        case 0:
        case 1: dump_maker_instance_at(d, at[i], entry, values); break;
        case 2: dump_maker_array_at(d, at[i], array, values, draw(&seed, 8)); break;
        case 3: dump_maker_instance_at(d, at[i], node, DUMP_VALUES(sizes[i], text, values[0])); break;
        case 4: dump_maker_instance_at(d, at[i], leaf, DUMP_VALUES(values[1], sizes[i], text, values[0])); break;
        default: dump_maker_instance_at(d, at[i], bag, values); break;
        }
    }
    dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, draw(&seed, 2) ? leaf : bag, 0, 0);
    dump_maker_root(d, HDX_SUB_ROOT_THREAD_OBJECT, at[0], 1, 1);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(d, draw(&seed, 2) ? HDX_SUB_ROOT_JAVA_FRAME : HDX_SUB_ROOT_JNI_LOCAL, at[draw(&seed, n)], 1, 0);
    for (unsigned i = 0; i < 3; i++)
        dump_maker_root(d, tags[draw(&seed, 3)], at[draw(&seed, n)], 0, 0);
    heap_open(h, d);
    memset(m, 0, sizeof *m);
    for (unsigned i = 0; i < n; i++)
        if (named[i] != 9) {
            const hdx_id id = id_at(h, at[i]);
            m->sized[id] = true;
            m->size[id] = (int64_t)sizes[i];
            (void)snprintf(m->name[id], sizeof m->name[id], "%s",
                           named[i] == 0   ? "red"
                           : named[i] == 1 ? "green"
                           : named[i] == 2 ? "redder"
                                           : "");
        }
}

/* ---- the model ---- */

typedef struct reading {
    model *m;
    hdx_id from;
} reading;

static inline bool note(void *context, const hdx_named_ref *ref)
{
    reading *r = context;
    if (ref->kind == HDX_REF_SIGNERS || ref->kind == HDX_REF_DOMAIN)
        return true;
    link *l = &r->m->links[r->m->count++];
    *l = (link){ .from = r->from, .to = ref->target, .kind = ref->kind };
    (void)snprintf(l->name, sizeof l->name, "%.30s", ref->name);
    return true;
}

typedef bool removed(const model *m, const void *what, const link *l); /* l->from HDX_NO_ID: a root entry `kind` */

/* What is reached when links and roots for which `is` holds are none, and these objects are not entered. */
static inline void mark(const model *m, removed *is, const void *what, const bool *without, bool *seen)
{
    uint64_t        count = 0;
    const hdx_root *roots = hdx_graph_roots(m->h->g, &count);
    bool            grew = true;
    memset(seen, 0, MOST);
    for (uint64_t i = 0; i < count; i++) {
        const link l = { HDX_NO_ID, roots[i].object, (hdx_ref_kind)roots[i].type, "" };
        if (roots[i].thread == HDX_NO_ID && !(is != NULL && is(m, what, &l)) && !(without != NULL && without[l.to]))
            seen[l.to] = true;
    }
    while (grew) {
        grew = false;
        for (unsigned i = 0; i < m->count; i++) {
            const link *l = &m->links[i];
            if (seen[l->from] && !seen[l->to] && !(without != NULL && without[l->to]) &&
                !(is != NULL && is(m, what, l)))
                seen[l->to] = grew = true;
        }
    }
}

static inline void model_open(model *m, heap *h)
{
    m->h = h;
    m->n = hdx_graph_objects(h->g);
    cr_assert(m->n <= MOST, "%llu", (unsigned long long)m->n);
    m->links = calloc(16 * MOST, sizeof *m->links);
    for (hdx_id id = 0; id < m->n; id++) {
        reading r = { m, id };
        m->shallow[id] = hdx_graph_shallow(h->g, id);
        m->class_of[id] = hdx_graph_class_of(h->g, id);
        cr_assert(eq(int, hdx_graph_named_refs(h->g, id, HDX_NO_ID, note, &r, &h->err), HDX_OK));
    }
    mark(m, NULL, NULL, NULL, m->live);
    for (hdx_id id = 0; id < m->n; id++)
        cr_assert(eq(int, m->live[id], hdx_graph_live(h->g, id)));
}

static inline void model_close(model *m) { free(m->links); }

static inline bool is_of_class(const model *m, uint32_t c, const char *name, bool subclasses)
{
    for (const hdx_class *k = hdx_graph_class(m->h->g, c); k != NULL;
         k = subclasses && k->super != HDX_NO_CLASS ? hdx_graph_class(m->h->g, k->super) : NULL)
        if (hdx_text_is(k->name, name))
            return true;
    return false;
}

/* ---- answers ---- */

static inline hdx_code ask(heap *h, const hdx_question *question, const hdx_argument *at, size_t count, hdx_rows **rows)
{
    const hdx_arguments a = { &question->declared, at, count };
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}

static inline uint64_t child(const hdx_rows *rows, const char *key)
{
    const hdx_cell *total = extra(rows, "total");
    for (uint64_t i = 0; i < total->as.object.count; i++)
        if (strcmp(total->as.object.at[i].key, key) == 0)
            return total->as.object.at[i].value.as.natural;
    cr_assert(false, "no member %s", key);
    return 0;
}

/* Rows by class are those of the live objects that are not reached. */
static inline void expect_gone(const model *m, hdx_rows *rows, const bool *seen, const char *what, unsigned seed)
{
    uint64_t        objects = 0, bytes = 0, in_rows = 0;
    const hdx_cell *cells;
    while (hdx_rows_next(rows, &cells)) {
        uint64_t of_class = 0, shallow = 0;
        for (hdx_id id = 0; id < m->n; id++)
            if (m->live[id] && !seen[id] &&
                hdx_text_same(hdx_graph_class(m->h->g, m->class_of[id])->name, cells[0].as.text)) {
                of_class++;
                shallow += m->shallow[id];
            }
        cr_expect(eq(u64, cells[1].as.natural, of_class), "seed %u: %s", seed, what);
        cr_expect(eq(u64, cells[2].as.natural, shallow), "seed %u: %s", seed, what);
        in_rows += cells[1].as.natural;
    }
    for (hdx_id id = 0; id < m->n; id++)
        if (m->live[id] && !seen[id]) {
            objects++;
            bytes += m->shallow[id];
        }
    cr_expect(eq(u64, child(rows, "objects"), objects), "seed %u: %s", seed, what);
    cr_expect(eq(u64, child(rows, "bytes"), bytes), "seed %u: %s", seed, what);
    cr_expect(eq(u64, in_rows, objects), "seed %u: %s", seed, what);
    hdx_rows_close(rows);
}

/* Runs a check on random heaps, by one thread and by two. */
static inline void on_random_heaps(void (*check)(heap *h, const model *m, unsigned seed))
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        heap  h;
        model m;
        tangle(&h, &m, seed);
        model_open(&m, &h);
        h.q.threads = 1 + seed % 2;
        check(&h, &m, seed);
        model_close(&m);
        heap_close(&h);
    }
}

#endif
