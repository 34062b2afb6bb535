/*
 * test_views.c - views of an index: random heaps against the slow, obvious way of saying what lives and who dominates
 * whom without some roots and references; names, damage, and what happens to views that are there.
 */
#include "answer/asks.h"
#include "graph/graph.h"
#include "making/view.h"
#include "support/dump_maker.h"
#include "support/folder.h"

#include <criterion/new/assert.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char         folder[TEST_FOLDER];
static hdx_session *s;
static hdx_error    err;

static void enter(void)
{
    test_folder_make(folder, "views");
    cr_assert(chdir(folder) == 0);
}
static void leave(void)
{
    hdx_session_close(s);
    s = NULL;
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
TestSuite(views, .init = enter, .fini = leave);

static void open_session(const char *dump, unsigned threads, unsigned width)
{
    const hdx_index_options options = { .dump = dump, .threads = threads, .width = width };
    hdx_session_close(s);
    cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK), "%s", err.message);
}

static hdx_code ask(const char *name, const char *view, hdx_rows **rows)
{
    const hdx_argument arguments[] = { { "view", view } };
    hdx_rows          *own = NULL;
    const hdx_code     code = hdx_answer_run(s, name, arguments, view != NULL, rows != NULL ? rows : &own, &err);
    hdx_rows_close(own);
    return code;
}

static void make_view(const char *value)
{
    cr_assert(eq(int, ask("index", value, NULL), HDX_OK), "%s: %s: %s", value, err.where, err.message);
}

/* ---- random heaps ---- */
#define MOST 90u

typedef enum label {
    LEFT,
    RIGHT,
    WEAK,
    SOFT,
    PHANTOM,
    OWN_REFERENT,
    QUEUE,
    STATIC,
    HELD,
    LOCAL_JAVA,
    LOCAL_NATIVE
} label;
typedef struct labelled {
    uint64_t from, to; /* addresses */
    label    by;
} labelled;
typedef struct model {
    uint64_t state;
    labelled at[1024];
    unsigned count;
    uint64_t objects[MOST];
} model;

static uint64_t draw(model *m, uint64_t below)
{
    m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
    return (m->state >> 33) % below;
}
static uint64_t refer(model *m, uint64_t from, uint64_t to, label by)
{
    if (to != 0)
        m->at[m->count++] = (labelled){ from, to, by };
    return to;
}

/* Objects that refer to each other by fields of all sorts, statics, locals of a thread; roots of several types. */
static void make_dump(model *m, uint64_t seed)
{
    enum { NODE, SUB, WEAK_ONE, SOFT_ONE, PHANTOM_ONE, ODD_WEAK, THREAD, KINDS };
    dump_maker *d = dump_maker_new(8);
    uint64_t    classes[KINDS];
    *m = (model){ .state = seed };
    const unsigned n = 20 + (unsigned)draw(m, MOST - 20);
    for (unsigned i = 0; i < n; i++)
        m->objects[i] = 0x7f0000 + 64 * (uint64_t)i;
#define ANY() (draw(m, 5) == 0 ? 0 : m->objects[draw(m, n)])
    uint64_t object = dump_maker_class(d, "java/lang/Object", 0, "");
    (void)dump_maker_class(d, "java/lang/Class", object, "");
    (void)dump_maker_class(d, "java/lang/ClassLoader", object, "");
    classes[THREAD] = dump_maker_class(d, "java/lang/Thread", object, "held:L");
    uint64_t reference = dump_maker_class(d, "java/lang/ref/Reference", object, "referent:L queue:L");
    classes[WEAK_ONE] = dump_maker_class(d, "java/lang/ref/WeakReference", reference, "");
    classes[SOFT_ONE] = dump_maker_class(d, "java/lang/ref/SoftReference", reference, "");
    classes[PHANTOM_ONE] = dump_maker_class(d, "java/lang/ref/PhantomReference", reference, "");
    classes[ODD_WEAK] = dump_maker_class(d, "app/Odd", classes[WEAK_ONE], "referent:L");
    const uint64_t held = ANY();
    dump_maker_static(d, "KEPT", 'L', held);
    classes[NODE] = dump_maker_class(d, "app/Node", object, "left:L right:L");
    (void)refer(m, classes[NODE], held, STATIC);
    classes[SUB] = dump_maker_class(d, "app/Sub", classes[NODE], "count:I");
    for (unsigned i = 0; i < n; i++) {
        const uint64_t at = m->objects[i];
        const unsigned kind = i == 0 ? THREAD : (unsigned)draw(m, 9) % THREAD; /* mostly nodes */
        const uint64_t a = ANY(), b = ANY(), c = ANY();
        const label    weak = kind == WEAK_ONE || kind == ODD_WEAK ? WEAK : kind == SOFT_ONE ? SOFT : PHANTOM;
        switch (kind) {
        case THREAD: (void)dump_maker_instance_at(d, at, classes[kind], DUMP_VALUES(refer(m, at, a, HELD))); break;
        case NODE:
            (void)dump_maker_instance_at(d, at, classes[kind],
                                         DUMP_VALUES(refer(m, at, a, LEFT), refer(m, at, b, RIGHT)));
            break;
        case SUB:
            (void)dump_maker_instance_at(d, at, classes[kind],
                                         DUMP_VALUES(7, refer(m, at, a, LEFT), refer(m, at, b, RIGHT)));
            break;
        case ODD_WEAK:
            (void)dump_maker_instance_at(
                d, at, classes[kind],
                DUMP_VALUES(refer(m, at, c, OWN_REFERENT), refer(m, at, a, weak), refer(m, at, b, QUEUE)));
            break;
        default:
            (void)dump_maker_instance_at(d, at, classes[kind],
                                         DUMP_VALUES(refer(m, at, a, weak), refer(m, at, b, QUEUE)));
            break;
        }
    }
    dump_maker_root(d, HDX_SUB_ROOT_THREAD_OBJECT, m->objects[0], 5, 2);
    for (unsigned k = (unsigned)draw(m, 5); k > 0; k--)
        dump_maker_root(d, HDX_SUB_ROOT_JAVA_FRAME, refer(m, m->objects[0], m->objects[draw(m, n)], LOCAL_JAVA), 5, 0);
    for (unsigned k = (unsigned)draw(m, 3); k > 0; k--)
        dump_maker_root(d, HDX_SUB_ROOT_JNI_LOCAL, refer(m, m->objects[0], m->objects[draw(m, n)], LOCAL_NATIVE), 5, 0);
    for (unsigned k = (unsigned)draw(m, 3); k > 0; k--)
        dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, m->objects[draw(m, n)], 0, 0);
    for (unsigned k = (unsigned)draw(m, 3); k > 0; k--)
        dump_maker_root(d, HDX_SUB_ROOT_JAVA_FRAME, m->objects[draw(m, n)], 99, 0); /* of a thread nobody knows */
    dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    if (draw(m, 2) == 0)
        dump_maker_root(d, HDX_SUB_ROOT_STICKY_CLASS, classes[NODE], 0, 0);
    dump_maker_save(d, "a.hprof");
    dump_maker_free(d);
}

/* What a spec of the test leaves out: bits of labels, bits of types of roots. */
typedef struct without {
    const char *spec;
    unsigned    labels, roots;
} without;
#define BIT(l) (1u << (l))
static const without specs[] = {
    { "-roots:JAVA_FRAME,JNI_LOCAL", BIT(LOCAL_JAVA) | BIT(LOCAL_NATIVE),
      BIT(HDX_ROOT_JAVA_LOCAL) | BIT(HDX_ROOT_NATIVE_LOCAL) },
    { "-roots:JAVA_LOCAL", BIT(LOCAL_JAVA), BIT(HDX_ROOT_JAVA_LOCAL) },
    { "-roots:JNI_GLOBAL", 0, BIT(HDX_ROOT_NATIVE_STATIC) },
    { "-roots:STICKY_CLASS,THREAD_OBJ", 0, BIT(HDX_ROOT_SYSTEM_CLASS) | BIT(HDX_ROOT_THREAD_OBJ) },
    { "-refs:weak", BIT(WEAK), 0 },
    { "-refs:soft,phantom -roots:JAVA_FRAME", BIT(SOFT) | BIT(PHANTOM) | BIT(LOCAL_JAVA), BIT(HDX_ROOT_JAVA_LOCAL) },
    { "-refs:weak,soft,phantom,finalizer", BIT(WEAK) | BIT(SOFT) | BIT(PHANTOM), 0 },
    { "-field:app.Node#left", BIT(LEFT), 0 },
    { "-field:app.Node#KEPT -field:java.lang.Thread#held", BIT(STATIC) | BIT(HELD), 0 },
    { "-field:java.lang.ref.Reference#queue -refs:weak", BIT(QUEUE) | BIT(WEAK), 0 },
};

/* ---- the slow way ---- */
typedef struct slow {
    unsigned n;
    bool     edge[256][256], root[256], live[256];
    unsigned depth[256]; /* roots have 0 */
} slow;

static bool holds(const model *m, const without *w, hdx_graph *g, hdx_id from, hdx_id to)
{
    bool any = false;
    for (unsigned i = 0; i < m->count; i++)
        if (m->at[i].from == hdx_graph_address(g, from) && m->at[i].to == hdx_graph_address(g, to)) {
            any = true;
            if ((w->labels & BIT(m->at[i].by)) == 0)
                return true;
        }
    return !any; /* to the class, to super classes, to the loader */
}

static void reach(slow *h, unsigned but, bool seen[256])
{
    unsigned queue[256], head = 0, tail = 0;
    memset(seen, 0, 256);
    for (unsigned i = 0; i < h->n; i++)
        if (h->root[i] && i != but) {
            seen[i] = true;
            h->depth[i] = 0;
            queue[tail++] = i;
        }
    for (; head < tail; head++)
        for (unsigned t = 0; t < h->n; t++)
            if (h->edge[queue[head]][t] && !seen[t] && t != but) {
                seen[t] = true;
                h->depth[t] = h->depth[queue[head]] + 1;
                queue[tail++] = t;
            }
}

static void make_slow(slow *h, const model *m, const without *w, hdx_graph *g)
{
    uint64_t        count;
    const hdx_root *roots = hdx_graph_roots(g, &count);
    hdx_refs        refs;
    hdx_id          to;
    memset(h, 0, sizeof *h);
    h->n = (unsigned)hdx_graph_objects(g);
    cr_assert(h->n <= 256);
    for (unsigned from = 0; from < h->n; from++) {
        hdx_graph_outbound(g, from, HDX_ALL, &refs);
        while (hdx_refs_next(&refs, &to))
            h->edge[from][to] = holds(m, w, g, from, to);
    }
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread == HDX_NO_ID && (w->roots & BIT(roots[i].type)) == 0)
            h->root[roots[i].object] = true;
}

/* The dominator of b that all others dominate; UINT_MAX: none but the virtual root. */
static unsigned slow_dominator(bool dominates[256][256], unsigned n, unsigned b)
{
    unsigned best = 256;
    for (unsigned a = 0; a < n; a++)
        if (a != b && dominates[a][b] && (best == 256 || dominates[best][a]))
            best = a;
    return best;
}

static unsigned path_length(const hdx_graph *g, hdx_id id)
{
    unsigned n = 0;
    for (hdx_id up; (up = hdx_graph_nearest(g, id)) != id && n < 300; id = up)
        n++;
    return n;
}

static void expect_lists(hdx_graph *v, const slow *h, unsigned i)
{
    hdx_refs refs;
    hdx_id   other;
    unsigned out = 0, in = 0;
    for (unsigned t = 0; t < h->n; t++) {
        out += h->edge[i][t];
        in += h->edge[t][i];
    }
    cr_expect(eq(u64, hdx_graph_outbound_count(v, i, HDX_ALL), out));
    cr_expect(eq(u64, hdx_graph_inbound_count(v, i, HDX_ALL), in));
    hdx_graph_outbound(v, i, HDX_ALL, &refs);
    for (; hdx_refs_next(&refs, &other); out--)
        cr_expect(h->edge[i][other], "%u -> %llu", i, (unsigned long long)other);
    hdx_graph_inbound(v, i, HDX_ALL, &refs);
    for (; hdx_refs_next(&refs, &other); in--)
        cr_expect(h->edge[other][i], "%llu -> %u", (unsigned long long)other, i);
    cr_expect(eq(u32, out + in, 0));
}

static void expect_view(hdx_graph *v, slow *h, const char *spec)
{
    static bool dominates[256][256];
    bool        seen[256];
    uint64_t    live = 0, out[256], in[256];
    hdx_id      above[256];
    for (unsigned a = 0; a < h->n; a++) {
        reach(h, a, seen);
        memcpy(dominates[a], seen, sizeof seen);
    }
    reach(h, 256, h->live);
    for (unsigned a = 0; a < h->n; a++)
        for (unsigned b = 0; b < h->n; b++)
            dominates[a][b] = h->live[a] && h->live[b] && !dominates[a][b];
    hdx_graph_read_dominators(v, 0, h->n, above);
    hdx_graph_read_counts(v, HDX_ALL, 0, h->n, out, in);
    for (unsigned i = 0; i < h->n; i++) {
        uint64_t       retained = 0;
        const unsigned d = slow_dominator(dominates, h->n, i);
        live += h->live[i];
        expect_lists(v, h, i);
        cr_expect(eq(u64, out[i], hdx_graph_outbound_count(v, i, HDX_ALL)));
        cr_expect(eq(u64, in[i], hdx_graph_inbound_count(v, i, HDX_ALL)));
        cr_expect(eq(int, hdx_graph_live(v, i), h->live[i]), "%s: %u", spec, i);
        if (!h->live[i]) {
            cr_expect(hdx_graph_dominator(v, i) == HDX_NO_ID && hdx_graph_retained(v, i) == 0, "%s: %u", spec, i);
            continue;
        }
        for (unsigned b = 0; b < h->n; b++)
            retained += b == i || dominates[i][b] ? hdx_graph_shallow(v, b) : 0;
        cr_expect(eq(u64, hdx_graph_dominator(v, i), d == 256 ? HDX_VIRTUAL_ROOT : d), "%s: %u", spec, i);
        cr_expect(eq(u64, above[i], d == 256 ? HDX_VIRTUAL_ROOT : d), "%s: %u", spec, i);
        cr_expect(eq(u64, hdx_graph_retained(v, i), retained), "%s: %u", spec, i);
        cr_expect(eq(u32, path_length(v, i), h->depth[i]), "%s: %u", spec, i);
    }
    cr_expect(eq(u64, hdx_graph_summary_of(v)->live_objects, live), "%s", spec);
}

static void expect_same_files(const char *a, const char *b)
{
    char command[1280];
    (void)snprintf(command, sizeof command,
                   "cd a.hprof.hdx/views && for f in %s/*.hdx; do cmp $f %s/$(basename $f) || exit 1; done && "
                   "test $(ls %s | wc -l) = $(ls %s | wc -l)",
                   a, b, a, b);
    cr_expect(system(command) == 0, "%s %s", a, b);
}

Test(views, of_random_heaps_are_what_the_slow_way_says, .timeout = 300)
{
    static model m;
    static slow  h;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        make_dump(&m, seed);
        (void)system("rm -rf a.hprof.hdx");
        for (unsigned i = 0; i < HDX_COUNT(specs); i++) {
            char       value[256];
            hdx_graph *g = NULL, *v = NULL;
            open_session("a.hprof", 1 + (unsigned)(seed + i) % 3, (seed + i) % 2 == 0 ? 32 : 64);
            (void)snprintf(value, sizeof value, "v%u=%s", i, specs[i].spec);
            make_view(value);
            cr_assert(eq(int, hdx_session_graph(s, 0, &g, &err), HDX_OK));
            value[strcspn(value, "=")] = '\0';
            cr_assert(eq(int, hdx_session_view(s, 0, value, &v, &err), HDX_OK), "%s", err.message);
            make_slow(&h, &m, &specs[i], g);
            expect_view(v, &h, specs[i].spec);
            cr_expect(eq(int, hdx_graph_verify(v, true, &err), HDX_OK), "seed %llu, %s: %s: %s",
                      (unsigned long long)seed, specs[i].spec, err.where, err.message);
        }
        cr_expect(eq(int, ask("verify", NULL, NULL), HDX_OK), "%s: %s", err.where, err.message);
    }
}

/* ---- bytes ---- */
Test(views, have_the_same_bytes_for_any_number_of_threads_and_both_widths)
{
    static model m;
    for (uint64_t seed = 100; seed < 104; seed++) {
        const char *const spec = specs[seed % HDX_COUNT(specs)].spec;
        char              value[256];
        (void)system("rm -rf a.hprof.hdx");
        make_dump(&m, seed);
        for (unsigned i = 0; i < 4; i++) {
            open_session("a.hprof", i == 0 ? 1 : 4, i < 2 ? 32 : 64);
            (void)snprintf(value, sizeof value, "same=%s", spec);
            make_view(value);
            (void)snprintf(value, sizeof value, "mv a.hprof.hdx/views/same a.hprof.hdx/views/v%u", i);
            cr_assert(system(value) == 0);
        }
        for (unsigned i = 1; i < 4; i++) {
            (void)snprintf(value, sizeof value, "v%u", i);
            expect_same_files("v0", value);
        }
    }
}

Test(views, without_anything_left_out_have_the_trees_of_the_index)
{
    static model m;
    make_dump(&m, 7);
    open_session("a.hprof", 2, 0);
    make_view("all=-roots:DEBUGGER"); /* there is no such root */
    hdx_graph *g, *v;
    cr_assert(hdx_session_graph(s, 0, &g, &err) == HDX_OK && hdx_session_view(s, 0, "all", &v, &err) == HDX_OK);
    for (hdx_id id = 0; id < hdx_graph_objects(g); id++)
        cr_expect(hdx_graph_dominator(g, id) == hdx_graph_dominator(v, id) &&
                      hdx_graph_retained(g, id) == hdx_graph_retained(v, id),
                  "%llu", (unsigned long long)id);
    cr_expect(access("a.hprof.hdx/views/all/cut.hdx", F_OK) != 0); /* and no lists of what is left out */
}

/* ---- names and specs ---- */
Test(views, with_a_name_or_spec_that_is_none_are_refused_before_anything_is_made)
{
    static const char *const wrong[] = {
        "no-locals",
        "=-roots:JAVA_FRAME",
        "../up=-roots:JAVA_FRAME",
        "a/b=-roots:JAVA_FRAME",
        "a.part=-roots:JAVA_FRAME",
        "-a=-roots:JAVA_FRAME",
        "v=",
        "v=-roots:",
        "v=-roots:NOBODY",
        "v=-roots:JAVA_FRAME,",
        "v=-refs:strong",
        "v=-field:app.Node",
        "v=-field:#left",
        "v=-field:app.Node#",
        "v=roots:JAVA_FRAME",
        "v=-roots:JAVA_FRAME nonsense",
        "v=layout:",
        "v=layout:mat",
        "v=layout:compactor",
        "v123456789012345678901234567890123456789012345678901234567890123=-refs:weak"
    };
    static model m;
    make_dump(&m, 1);
    open_session("a.hprof", 1, 0);
    for (size_t i = 0; i < HDX_COUNT(wrong); i++)
        cr_expect(eq(int, ask("index", wrong[i], NULL), HDX_USAGE), "%s", wrong[i]);
    cr_expect(eq(int, ask("index", "v=-field:no.such.Class#field", NULL), HDX_NOT_FOUND), "%s", err.message);
    cr_expect(access("a.hprof.hdx/views", F_OK) != 0);
}

/* Bytes of live objects by class: of a view as the index has them, or what `sizes` says of a layout. */
static uint64_t sum_of(const char *name, const hdx_argument *arguments, size_t count, const char *column)
{
    hdx_rows *rows = NULL;
    uint64_t  sum = 0;
    cr_assert(eq(int, hdx_answer_run(s, name, arguments, count, &rows, &err), HDX_OK), "%s", err.message);
    const hdx_cell   *cells;
    unsigned          count_of_columns, at = 0;
    const hdx_column *columns = hdx_rows_columns(rows, &count_of_columns);
    while (at < count_of_columns && strcmp(columns[at].name, column) != 0)
        at++;
    cr_assert(at < count_of_columns);
    while (hdx_rows_next(rows, &cells))
        sum += cells[at].as.natural;
    hdx_rows_close(rows);
    return sum;
}

Test(views, of_a_layout_have_sizes_as_that_jvm_lays_objects_out)
{
    static const struct {
        const char *layout, *view;
    } cases[] = { { "class-pointers", "v=layout:class-pointers" },
                  { "64bit", "v=layout:64bit" },
                  { "32bit", "v=layout:32bit" },
                  { "compact", "v=layout:compact" } };
    for (unsigned seed = 1; seed < 4; seed++) {
        static model m;
        make_dump(&m, seed);
        (void)system("rm -rf a.hprof.hdx");
        open_session("a.hprof", 1, 0);
        for (size_t i = 0; i < HDX_COUNT(cases); i++) {
            const hdx_argument sizes[] = { { "layout", cases[i].layout } };
            const hdx_argument histogram[] = { { "view", "v" } };
            hdx_graph         *v;
            make_view(cases[i].view);
            cr_assert(eq(int, hdx_session_view(s, 0, "v", &v, &err), HDX_OK), "%s", err.message);
            cr_expect(eq(str, (char *)hdx_graph_summary_of(v)->layout, (char *)cases[i].layout));
            cr_assert(eq(int, hdx_graph_verify(v, true, &err), HDX_OK));
            /* object 0, the boot loader, is in no dump, and sizes leaves it out */
            cr_expect(eq(u64, sum_of("histogram", histogram, 1, "shallow"),
                         sum_of("sizes", sizes, 1, "bytes") + hdx_graph_shallow(v, 0)));
            cr_expect(eq(int, ask("sizes", "v", NULL), HDX_USAGE));
        }
    }
}

Test(views, of_the_same_spec_in_other_words_are_kept_and_of_another_made_anew)
{
    static model m;
    struct stat  was, is;
    hdx_graph   *v;
    make_dump(&m, 3);
    open_session("a.hprof", 1, 0);
    make_view("v=-roots:JAVA_FRAME,JNI_LOCAL -refs:soft,weak");
    cr_assert(stat("a.hprof.hdx/views/v/catalog.mdb", &was) == 0);
    make_view("v= -refs:weak -roots:NATIVE_LOCAL  -refs:soft -roots:JAVA_LOCAL,JAVA_FRAME ");
    cr_assert(stat("a.hprof.hdx/views/v/catalog.mdb", &is) == 0);
    cr_expect(was.st_ino == is.st_ino);
    make_view("v=-refs:weak");
    cr_assert(eq(int, hdx_session_view(s, 0, "v", &v, &err), HDX_OK));
    cr_expect(eq(str, (char *)(uintptr_t)hdx_graph_summary_of(v)->view_spec, "-refs:weak"));
    cr_expect(access("a.hprof.hdx/views/.heapdex-part-v", F_OK) != 0);
}

Test(views, are_listed_named_where_none_is_there_and_removed_one_by_one_and_with_the_index)
{
    static model   m;
    hdx_graph     *g;
    hdx_graph_view view;
    make_dump(&m, 3);
    open_session("a.hprof", 1, 0);
    cr_expect(eq(int, ask("dominators", "b", NULL), HDX_NOT_FOUND));
    make_view("b=-refs:weak");
    make_view("a=-roots:JAVA_FRAME");
    cr_assert(eq(int, hdx_session_graph(s, 0, &g, &err), HDX_OK));
    cr_assert(hdx_graph_view_at(g, 0, &view));
    cr_expect(strcmp(view.name, "a") == 0 && strcmp(view.spec, "-roots:JAVA_LOCAL") == 0);
    cr_assert(hdx_graph_view_at(g, 1, &view));
    cr_expect(strcmp(view.name, "b") == 0 && strcmp(view.spec, "-refs:weak") == 0);
    cr_expect(view.bytes > 4096 && !hdx_graph_view_at(g, 2, &view));
    cr_expect(eq(int, ask("dominators", "c", NULL), HDX_NOT_FOUND));
    cr_expect(strstr(err.hint, "a, b") != NULL, "%s", err.hint);
    cr_expect(eq(int, ask("remove", "a", NULL), HDX_OK), "%s", err.message);
    cr_expect(eq(int, ask("remove", "a", NULL), HDX_NOT_FOUND));
    cr_expect(access("a.hprof.hdx/views/a", F_OK) != 0 && access("a.hprof.hdx/views/b", F_OK) == 0);
    cr_expect(eq(int, ask("remove", NULL, NULL), HDX_OK), "%s", err.message);
    cr_expect(access("a.hprof.hdx", F_OK) != 0 && access(".heapdex-part-a.hprof.hdx", F_OK) != 0);
}

Test(views, are_asked_of_a_heap_alone)
{
    static const char *const not_of[] = { "estimate", "leaks", "detect" };
    static model             m;
    make_dump(&m, 3);
    open_session("a.hprof", 1, 0);
    make_view("v=-refs:weak");
    for (size_t i = 0; i < HDX_COUNT(not_of); i++)
        cr_expect(eq(int, ask(not_of[i], "v", NULL), HDX_USAGE), "%s", not_of[i]);
    cr_expect(eq(int, ask("info", "v", NULL), HDX_OK));
    cr_expect(eq(str, (char *)(uintptr_t)hdx_session_summary(s, 0)->view, "v"));
    cr_expect(eq(int, ask("info", NULL, NULL), HDX_OK));
    cr_expect(hdx_session_summary(s, 0)->view == NULL);
}

/* ---- damage ---- */
static hdx_code verified(void)
{
    open_session("a.hprof", 1, 0);
    const hdx_code code = ask("verify", NULL, NULL);
    return code != HDX_OK ? code : ask("dominators", "v", NULL);
}

Test(views, with_a_byte_changed_or_cut_or_from_another_index_are_damaged, .timeout = 300)
{
    static model   m;
    DIR           *d;
    struct dirent *e;
    unsigned       files = 0;
    make_dump(&m, 3);
    open_session("a.hprof", 1, 0);
    make_view("v=-refs:weak,soft -roots:JAVA_FRAME");
    cr_assert(eq(int, verified(), HDX_OK));
    d = opendir("a.hprof.hdx/views/v");
    cr_assert(d != NULL);
    while ((e = readdir(d)) != NULL) {
        char        path[400], command[1000];
        struct stat st;
        (void)snprintf(path, sizeof path, "a.hprof.hdx/views/v/%s", e->d_name);
        if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        files++;
        (void)snprintf(command, sizeof command, "cp %s keep && truncate -s -5 %s", path, path);
        cr_assert(system(command) == 0);
        cr_expect(eq(int, verified(), HDX_DAMAGED), "%s cut", e->d_name);
        (void)snprintf(command, sizeof command,
                       "cp keep %s && printf X | dd of=%s bs=1 seek=41 conv=notrunc status=none", path, path);
        cr_assert(system(command) == 0);
        cr_expect(eq(int, verified(), HDX_DAMAGED), "%s changed", e->d_name);
        (void)snprintf(command, sizeof command, "rm %s", path);
        cr_assert(system(command) == 0);
        cr_expect(verified() != HDX_OK, "%s gone", e->d_name);
        (void)snprintf(command, sizeof command, "mv keep %s", path);
        cr_assert(system(command) == 0);
    }
    (void)closedir(d);
    cr_expect(eq(u32, files, 12));
    cr_assert(eq(int, verified(), HDX_OK));
    /* under another name, and beside another index */
    cr_assert(system("cp -r a.hprof.hdx/views/v a.hprof.hdx/views/w") == 0);
    cr_expect(eq(int, ask("dominators", "w", NULL), HDX_DAMAGED));
    cr_assert(system("mv a.hprof.hdx/views/v keep.v && rm -r a.hprof.hdx") == 0);
    make_dump(&m, 4);
    open_session("a.hprof", 1, 0);
    cr_assert(eq(int, ask("index", NULL, NULL), HDX_OK));
    cr_assert(system("mkdir a.hprof.hdx/views && mv keep.v a.hprof.hdx/views/v") == 0);
    cr_expect(eq(int, ask("dominators", "v", NULL), HDX_DAMAGED));
    make_view("v=-refs:weak"); /* which helps */
    cr_expect(eq(int, ask("dominators", "v", NULL), HDX_OK));
}

/* ---- stopped ---- */
static bool stop_now(void *context)
{
    unsigned *left = context;
    return *left == 0 || --*left == 0;
}

Test(views, that_are_stopped_leave_nothing_and_those_that_are_there_stay, .timeout = 300)
{
    static model m;
    bool         done = false;
    make_dump(&m, 5);
    open_session("a.hprof", 1, 0);
    make_view("there=-refs:weak");
    for (unsigned after = 1; !done && after < 400; after++) {
        unsigned          left = after;
        hdx_index_options options = { .dump = "a.hprof", .threads = 1, .progress = { &left, NULL, stop_now } };
        hdx_session_close(s);
        cr_assert(eq(int, hdx_session_open(&options, &s, &err), HDX_OK));
        const hdx_code code = ask("index", "v=-roots:JAVA_FRAME", NULL);
        done = code == HDX_OK;
        cr_expect(done || code == HDX_CANCELLED, "%d: %s", (int)code, err.message);
        cr_expect(done == (access("a.hprof.hdx/views/v", F_OK) == 0) &&
                  access("a.hprof.hdx/views/.heapdex-part-v", F_OK) != 0 &&
                  access("a.hprof.hdx/views/there", F_OK) == 0);
    }
    cr_expect(done);
    open_session("a.hprof", 1, 0);
    cr_expect(eq(int, ask("verify", NULL, NULL), HDX_OK));
}

Test(views, that_a_kill_has_left_half_made_are_no_views_and_are_made_anew)
{
    static model m;
    make_dump(&m, 5);
    open_session("a.hprof", 1, 0);
    make_view("v=-refs:weak");
    cr_assert(system("mv a.hprof.hdx/views/v a.hprof.hdx/views/.heapdex-part-v") == 0);
    open_session("a.hprof", 1, 0);
    cr_expect(eq(int, ask("verify", NULL, NULL), HDX_OK));
    cr_expect(eq(int, ask("info", "v", NULL), HDX_NOT_FOUND));
    make_view("v=-refs:weak");
    cr_expect(access("a.hprof.hdx/views/.heapdex-part-v", F_OK) != 0);
}

/* ---- without the dump ---- */
Test(views, of_roots_need_no_dump_where_no_field_has_to_be_asked)
{
    static model m;
    make_dump(&m, 5);
    open_session("a.hprof", 1, 0);
    cr_assert(eq(int, ask("index", NULL, NULL), HDX_OK));
    cr_assert(rename("a.hprof", "gone") == 0);
    open_session("a.hprof.hdx", 1, 0);
    make_view("v=-roots:STICKY_CLASS,JNI_GLOBAL");
    cr_expect(eq(int, ask("dominators", "v", NULL), HDX_OK));
    cr_expect(eq(int, ask("index", "w=-field:app.Node#left", NULL), HDX_BAD_DUMP));
    cr_expect(access("a.hprof.hdx/views/w", F_OK) != 0);
}
