/*
 * test_random.c - paths, retained sets and histograms of random small heaps against the obvious definitions.
 *
 * The model reads edges, classes and sizes through the graph once and then asks itself: what is reachable when these
 * are not entered, how far is it from a root. A failure names its seed.
 */
#include "support/questions.h"
#include "heap.h"
#include "random_heap.h"
#include "query/paths/paths.h"
#include "query/histogram/histogram.h"
#include "query/query.h"

#define SEEDS     16u
#define NODES_MAX 160u

typedef struct model {
    uint64_t n;
    bool    *edge; /* n * n */
    bool    *weak; /* n * n: every reference of the pair is a referent */
    bool    *root;
    uint64_t shallow[NODES_MAX];
    uint32_t class_of[NODES_MAX];
} model;

typedef struct names_of {
    bool any, strong;
} names_of;

static bool see(void *context, const hdx_named_ref *ref)
{
    names_of *n = context;
    n->any = true;
    n->strong = n->strong || strcmp(ref->name, "referent") != 0;
    return true;
}

static void model_open(model *m, heap *h)
{
    uint64_t        count;
    const hdx_root *roots = hdx_graph_roots(h->g, &count);
    m->n = hdx_graph_objects(h->g);
    cr_assert(m->n <= NODES_MAX);
    m->edge = calloc(m->n * m->n, 1);
    m->weak = calloc(m->n * m->n, 1);
    m->root = calloc(m->n, 1);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread == HDX_NO_ID)
            m->root[roots[i].object] = true;
    for (hdx_id v = 0; v < m->n; v++) {
        hdx_refs         refs;
        hdx_id           to;
        const hdx_class *c = hdx_graph_class(h->g, hdx_graph_class_of(h->g, v));
        m->class_of[v] = c->number;
        m->shallow[v] = hdx_graph_shallow(h->g, v);
        hdx_graph_outbound(h->g, v, HDX_ALL, &refs);
        while (hdx_refs_next(&refs, &to)) {
            names_of names = { false, false };
            m->edge[v * m->n + to] = true;
            cr_assert(eq(int, hdx_graph_named_refs(h->g, v, to, see, &names, &h->err), HDX_OK));
            m->weak[v * m->n + to] = hdx_text_is(c->name, "java.lang.ref.WeakReference") && names.any && !names.strong;
        }
    }
}

static void model_close(model *m)
{
    free(m->edge);
    free(m->weak);
    free(m->root);
}

/*
 * Least number of references from a root, UINT64_MAX where there is no way. A root is its own beginning: no way passes
 * through one.
 */
static void distances(const model *m, const bool *without, bool no_weak, uint64_t *out)
{
    bool grew = true;
    for (hdx_id v = 0; v < m->n; v++)
        out[v] = m->root[v] && !(without != NULL && without[v]) ? 0 : UINT64_MAX;
    while (grew) {
        grew = false;
        for (hdx_id v = 0; v < m->n; v++)
            for (hdx_id to = 0; out[v] != UINT64_MAX && to < m->n; to++)
                if (m->edge[v * m->n + to] && !(no_weak && m->weak[v * m->n + to]) &&
                    !(without != NULL && without[to]) && out[v] + 1 < out[to]) {
                    out[to] = out[v] + 1;
                    grew = true;
                }
    }
}

static void retained_by(const model *m, const bool *without, uint64_t *objects, uint64_t *bytes)
{
    uint64_t live[NODES_MAX], left[NODES_MAX];
    distances(m, NULL, false, live);
    distances(m, without, false, left);
    *objects = *bytes = 0;
    for (hdx_id v = 0; v < m->n; v++)
        if (live[v] != UINT64_MAX && left[v] == UINT64_MAX) {
            ++*objects;
            *bytes += m->shallow[v];
        }
}

static uint64_t member(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return object->as.object.at[i].value.as.natural;
    cr_assert(false, "no member %s", key);
    return 0;
}

static const hdx_cell *child(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    cr_assert(false, "no member %s", key);
    return NULL;
}

static void check_retained(heap *h, const model *m, unsigned seed)
{
    for (unsigned round = 0; round < 12; round++) {
        bool      without[NODES_MAX] = { false };
        hdx_id    ids[5];
        size_t    count = 1 + (unsigned)rand_r(&seed) % 5;
        uint64_t  objects, bytes;
        hdx_rows *rows;
        for (size_t i = 0; i < count; i++)
            without[ids[i] = (hdx_id)rand_r(&seed) % m->n] = true;
        retained_by(m, without, &objects, &bytes);
        cr_assert(eq(int, hdx_query_retained(&h->q, ids, count, &rows, &h->err), HDX_OK), "%s", h->err.message);
        cr_expect(eq(u64, member(extra(rows, "total"), "objects"), objects), "seed %u round %u", seed, round);
        cr_expect(eq(u64, member(extra(rows, "total"), "bytes"), bytes), "seed %u round %u", seed, round);
        hdx_rows_close(rows);
    }
}

/* Is class c in the set named by key? by class: itself; superclass: below it; package: in it. */
static bool in_set(heap *h, hdx_by by, uint32_t c, hdx_text key)
{
    const hdx_class *k = hdx_graph_class(h->g, c);
    if (by == HDX_BY_PACKAGE)
        return k->name.len > key.len && memcmp(k->name.at, key.at, key.len) == 0 && k->name.at[key.len] == '.' &&
               memchr(k->name.at + key.len + 1, '.', k->name.len - key.len - 1) == NULL;
    for (; k != NULL; k = by == HDX_BY_SUPERCLASS && k->super != HDX_NO_CLASS ? hdx_graph_class(h->g, k->super) : NULL)
        if (hdx_text_same(k->name, key))
            return true;
    return false;
}

static void check_histogram(heap *h, const model *m, hdx_by by, unsigned seed)
{
    hdx_rows       *rows;
    const hdx_cell *cells;
    cr_assert(eq(int, hdx_query_histogram(&h->q, by, NULL, true, &rows, &h->err), HDX_OK), "%s", h->err.message);
    while (hdx_rows_next(rows, &cells)) {
        bool     without[NODES_MAX] = { false };
        uint64_t objects, bytes, live[NODES_MAX], want_objects = 0, want_shallow = 0;
        if (by == HDX_BY_PACKAGE && cells[0].as.text.at[0] == '(')
            continue;
        distances(m, NULL, false, live);
        for (hdx_id v = 0; v < m->n; v++) {
            const hdx_class *own = hdx_graph_class_object(h->g, v);
            bool             instance = in_set(h, by, m->class_of[v], cells[0].as.text);
            without[v] = instance || (own != NULL && in_set(h, by, own->number, cells[0].as.text));
            want_objects += instance && live[v] != UINT64_MAX;
            want_shallow += instance && live[v] != UINT64_MAX ? m->shallow[v] : 0;
        }
        retained_by(m, without, &objects, &bytes);
        cr_expect(eq(u64, cells[2].as.natural, want_objects), "seed %u by %d %.*s", seed, (int)by,
                  (int)cells[0].as.text.len, cells[0].as.text.at);
        cr_expect(eq(u64, cells[3].as.natural, want_shallow), "seed %u by %d %.*s", seed, (int)by,
                  (int)cells[0].as.text.len, cells[0].as.text.at);
        cr_expect(eq(u64, cells[4].as.natural, bytes), "seed %u by %d %.*s", seed, (int)by, (int)cells[0].as.text.len,
                  cells[0].as.text.at);
    }
    cr_assert(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
    hdx_rows_close(rows);
}

/*
 * Three sets for each class (itself, itself again, itself with another class): a pool that is full at once, so that few
 * sets are asked at a time, gives the same sizes.
 */
static void check_narrow(heap *h, unsigned seed)
{
    enum { SETS_MAX = 3 * 32 };
    uint32_t at[33], set[4 * 32], n = 0;
    uint64_t wide[SETS_MAX], narrow[SETS_MAX];
    (void)hdx_graph_classes(h->g, &n);
    cr_assert(n > 8 && n <= 32);
    for (uint32_t c = 0; c < n; c++) {
        at[c] = 4 * c;
        set[4 * c] = c;
        set[4 * c + 1] = 2 * n + (c + 1) % n;
        set[4 * c + 2] = n + c;
        set[4 * c + 3] = 2 * n + c;
    }
    at[n] = 4 * n;
    hdx_class_sets sets = { .count = 3 * n, .classes = n, .at = at, .set = set };
    memset(wide, 0xff, sizeof wide);
    memset(narrow, 0xff, sizeof narrow);
    cr_assert(eq(int, hdx_class_sets_retained(&h->q, &sets, wide, &h->err), HDX_OK), "%s", h->err.message);
    sets.room = 40;
    cr_assert(eq(int, hdx_class_sets_retained(&h->q, &sets, narrow, &h->err), HDX_OK), "%s", h->err.message);
    for (uint32_t k = 0; k < 3 * n; k++)
        cr_expect(eq(u64, narrow[k], wide[k]), "seed %u set %u", seed, k);
    for (uint32_t c = 0; c < n; c++) {
        cr_expect(eq(u64, wide[n + c], wide[c]), "seed %u class %u", seed, c);
        cr_expect(ge(u64, wide[2 * n + c], wide[c]), "seed %u class %u", seed, c);
    }
}

/* Paths that are found are of least length, shortest first. */
static void check_found(heap *h, const model *m, const hdx_path_options *options, const uint64_t *want, unsigned seed)
{
    hdx_id       ids[NODES_MAX];
    hdx_paths    found = { .steps = hdx_ids_of(h->q.mem) };
    hdx_excludes x;
    hdx_ask      ask;
    for (hdx_id v = 0; v < m->n; v++)
        ids[v] = v;
    cr_assert(eq(int, hdx_ask_begin(&h->q, &ask, &h->err), HDX_OK));
    cr_assert(eq(int, hdx_excludes_open(&h->q, options, &x, &h->err), HDX_OK));
    cr_assert(eq(int, hdx_paths_find(&ask, &x, ids, m->n, options->paths, &found, &h->err), HDX_OK));
    for (uint64_t i = 0; i < found.count; i++) {
        const hdx_path *p = &found.at[i];
        if (p->count > 0 && (i == 0 || p[-1].target != p->target))
            cr_expect(eq(u64, p->count - 1, want[p->target]), "seed %u target %llu", seed,
                      (unsigned long long)p->target);
        else if (p->count > 0)
            cr_expect(ge(u64, p->count, p[-1].count), "shortest first, seed %u", seed);
    }
    hdx_paths_drop(&found);
    hdx_excludes_close(&x);
}

/*
 * Every path runs along references that are not excluded, and has its one root at the beginning. The first is longer
 * than the shortest by at most two references (test_preferred_paths.c), the others are in order of length.
 */
static void check_paths(heap *h, const model *m, bool no_weak, unsigned paths, unsigned seed)
{
    hdx_id           ids[NODES_MAX];
    uint64_t         want[NODES_MAX], first_length[NODES_MAX];
    bool             seen[NODES_MAX] = { false };
    hdx_rows        *rows;
    hdx_path_options options = { .exclude = no_weak ? HDX_EXCLUDE_WEAK | HDX_EXCLUDE_FINALIZER : 0, .paths = paths };
    for (hdx_id v = 0; v < m->n; v++)
        ids[v] = v;
    distances(m, NULL, no_weak, want);
    uint64_t live[NODES_MAX];
    distances(m, NULL, false, live);
    cr_assert(eq(int, hdx_query_path(&h->q, ids, m->n, &options, &rows, &h->err), HDX_OK), "%s", h->err.message);
    check_found(h, m, &options, want, seed);
    const hdx_cell *list = extra(rows, "paths");
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        const hdx_cell *p = &list->as.list.at[i], *steps = child(p, "steps");
        hdx_id          target = id_at(h, child(p, "target")->as.address), before = HDX_NO_ID;
        uint64_t        length = child(p, "length")->as.natural;
        bool            reachable = child(p, "reachable")->as.boolean;
        cr_expect(eq(int, reachable, want[target] != UINT64_MAX && live[target] != UINT64_MAX), "seed %u target %llu",
                  seed, (unsigned long long)target);
        if (!reachable) {
            cr_expect(eq(u64, steps->as.list.count, 0));
            seen[target] = true;
            continue;
        }
        cr_assert(eq(u64, steps->as.list.count, length + 1));
        if (!seen[target])
            cr_expect(length >= want[target] && length <= want[target] + 2, "seed %u target %llu", seed,
                      (unsigned long long)target);
        else
            cr_expect(ge(u64, length, first_length[target]), "shortest first, seed %u", seed);
        first_length[target] = seen[target] ? length : want[target];
        seen[target] = true;
        for (uint64_t s = 0; s <= length; s++) {
            hdx_id id = id_at(h, child(&steps->as.list.at[s], "address")->as.address);
            cr_expect(eq(int, m->root[id], s == 0), "seed %u: one root, at the beginning", seed);
            if (before != HDX_NO_ID) {
                cr_expect(m->edge[before * m->n + id] && !(no_weak && m->weak[before * m->n + id]), "seed %u", seed);
                cr_expect(eq(int, child(child(&steps->as.list.at[s - 1], "reference"), "name")->kind, HDX_CELL_TEXT));
            }
            before = id;
        }
        cr_expect(eq(u64, before, target));
    }
    for (hdx_id v = 0; v < m->n; v++)
        cr_expect(seen[v], "seed %u: a document for every target", seed);
    hdx_rows_close(rows);
}

/*
 * MAT 6.9: level by level, each in the order of ids, so whoever comes first is the parent with the lowest id. Roots are
 * their own.
 */
static void lowest_parents(const model *m, bool no_weak, hdx_id *parent)
{
    uint64_t level[NODES_MAX];
    for (hdx_id v = 0; v < m->n; v++) {
        level[v] = m->root[v] ? 0 : UINT64_MAX;
        parent[v] = m->root[v] ? v : HDX_NO_ID;
    }
    for (uint64_t now = 0; now < m->n; now++)
        for (hdx_id v = 0; v < m->n; v++)
            for (hdx_id to = 0; level[v] == now && to < m->n; to++)
                if (m->edge[v * m->n + to] && !(no_weak && m->weak[v * m->n + to]) && parent[to] == HDX_NO_ID) {
                    level[to] = now + 1;
                    parent[to] = v;
                }
}

/* Merged paths of some objects, some of them twice: every step of every path is the parent of the next. */
static void check_merged(heap *h, const model *m, bool no_weak, unsigned seed)
{
    hdx_id           parent[NODES_MAX], ids[NODES_MAX];
    hdx_path_options options = { .exclude = no_weak ? HDX_EXCLUDE_WEAK | HDX_EXCLUDE_FINALIZER : 0, .merge = true };
    hdx_rows        *rows;
    size_t           count = 1 + (unsigned)rand_r(&seed) % m->n;
    lowest_parents(m, no_weak, parent);
    for (size_t i = 0; i < count; i++)
        ids[i] = (hdx_id)rand_r(&seed) % m->n;
    cr_assert(eq(int, hdx_query_path(&h->q, ids, count, &options, &rows, &h->err), HDX_OK), "%s", h->err.message);
    const hdx_cell *list = extra(rows, "paths");
    cr_assert(eq(u64, list->as.list.count, count));
    for (size_t i = 0; i < count; i++) {
        const hdx_cell *steps = child(&list->as.list.at[i], "steps");
        hdx_id          v = ids[i];
        cr_expect(eq(int, steps->as.list.count > 0, parent[v] != HDX_NO_ID), "seed %u target %llu", seed,
                  (unsigned long long)v);
        for (uint64_t s = steps->as.list.count; s > 0; s--, v = parent[v]) {
            cr_assert(eq(u64, id_at(h, child(&steps->as.list.at[s - 1], "address")->as.address), v),
                      "seed %u target %llu step %llu", seed, (unsigned long long)ids[i], (unsigned long long)s);
            cr_expect(eq(int, s == 1, parent[v] == v), "seed %u: one root, at the beginning", seed);
        }
    }
    hdx_rows_close(rows);
}

/* Rows of a table that meet a condition, with the columns of `mask` alone; bounded: the source knows of all this. */
static hdx_buffer rows_where(heap *h, const char *table, const char *condition, uint64_t mask, bool bounded)
{
    const hdx_form *form = &table_question(table)->declared.forms[0];
    hdx_rows       *rows;
    unsigned        column;
    char            chosen[256] = "";
    hdx_arena       arena = hdx_arena_of(NULL);
    hdx_query       q = h->q;
    cr_assert(hdx_condition_column(form->columns, form->column_count, condition, &column));
    if (bounded) {
        q.wanted.columns = mask | 1ull << column;
        q.wanted.bound_count =
            hdx_condition_bound(form->columns, form->column_count, condition, &arena, &q.wanted.bounds[0]);
    }
    for (unsigned c = 0; c < form->column_count; c++)
        if ((mask >> c & 1) != 0)
            (void)snprintf(chosen + strlen(chosen), sizeof chosen - strlen(chosen), "%s%s",
                           chosen[0] == '\0' ? "" : ",", form->columns[c].name);
    cr_assert(eq(int, table_named(&q, table, &rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_arena_free(&arena);
    cr_assert(eq(int, hdx_rows_where(&rows, condition, &h->err), HDX_OK), "%s", h->err.message);
    cr_assert(eq(int, hdx_rows_select(&rows, chosen, &h->err), HDX_OK), "%s", h->err.message);
    const hdx_buffer text = rows_text(rows);
    hdx_rows_close(rows);
    return text;
}

/* Asked for some columns and bounds, tables give the rows that conditions leave of all. */
static void check_wanted(heap *h, unsigned seed)
{
    static const struct {
        const char *table, *condition; /* %: the address of some object */
    } cases[] = {
        { "objects", "id = 7" },
        { "objects", "id < 0" },
        { "objects", "id >= 5" },
        { "objects", "id < 20" },
        { "objects", "address = %" },
        { "objects", "address > %" },
        { "objects", "address <= %" },
        { "objects", "class = p0.C1" },
        { "objects", "class = java.lang.Class" },
        { "objects", "class = 'p1.C5'" },
        { "objects", "class = nowhere.C" },
        { "objects", "class_address = 0x1020" },
        { "objects", "class_address >= 0x1000" },
        { "objects", "retained > 40" },
        { "references", "dst = %" },
        { "references", "dst = 0x100" },
        { "references", "dst = 0x3" },
        { "references", "src = %" },
        { "references", "src < %" },
        { "references", "dst < %" },
        { "named_references", "dst = %" },
        { "named_references", "dst = 0x1020" },
        { "named_references", "dst = 0x3" },
        { "named_references", "src = %" },
    };
    for (unsigned i = 0; i < HDX_COUNT(cases); i++)
        for (unsigned scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
            char           condition[64];
            const hdx_id   id = (hdx_id)rand_r(&seed) % hdx_graph_objects(h->g);
            const char    *gap = strchr(cases[i].condition, '%');
            const uint64_t mask = cases[i].table[0] == 'o'   ? 1 + (uint64_t)rand_r(&seed) % 0x3FFF
                                  : cases[i].table[0] == 'r' ? 3
                                                             : 1 + (uint64_t)rand_r(&seed) % 31;
            (void)snprintf(condition, sizeof condition, "%.*s", gap == NULL ? 60 : (int)(gap - cases[i].condition),
                           cases[i].condition);
            if (gap != NULL)
                (void)snprintf(condition + strlen(condition), 24, "0x%llx",
                               (unsigned long long)hdx_graph_address(h->g, id));
            h->q.scope = (hdx_refs_scope)scope;
            hdx_buffer want = rows_where(h, cases[i].table, condition, mask, false);
            hdx_buffer have = rows_where(h, cases[i].table, condition, mask, true);
            cr_expect(want.len == have.len && memcmp(want.at, have.at, want.len) == 0,
                      "seed %u scope %u %s where %s, columns %llx:\n%.*s\nwanted\n%.*s", seed, scope, cases[i].table,
                      condition, (unsigned long long)mask, (int)have.len, (const char *)have.at, (int)want.len,
                      (const char *)want.at);
            hdx_buffer_free(&want);
            hdx_buffer_free(&have);
        }
    h->q.scope = HDX_LIVE;
}

Test(random_heaps, agree_with_the_obvious_definitions)
{
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        heap  h;
        model m = { .n = 0 };
        random_heap(&h, seed);
        model_open(&m, &h);
        check_retained(&h, &m, seed);
        check_histogram(&h, &m, HDX_BY_CLASS, seed);
        check_histogram(&h, &m, HDX_BY_PACKAGE, seed);
        check_histogram(&h, &m, HDX_BY_SUPERCLASS, seed);
        check_histogram(&h, &m, HDX_BY_CLASS, seed); /* what was kept of the first */
        check_histogram(&h, &m, HDX_BY_PACKAGE, seed);
        check_histogram(&h, &m, HDX_BY_SUPERCLASS, seed);
        cr_expect(eq(int, hdx_query_saved_verify(&h.q, &h.err), HDX_OK), "seed %u: %s", seed, h.err.message);
        check_narrow(&h, seed);
        check_paths(&h, &m, false, 1, seed);
        check_paths(&h, &m, true, 1, seed);
        check_paths(&h, &m, seed % 2, 4, seed);
        check_merged(&h, &m, false, seed);
        check_merged(&h, &m, true, seed);
        check_wanted(&h, seed);
        model_close(&m);
        heap_close(&h);
    }
}
