/*
 * test_lies.c - indexes that are whole byte by byte and say one thing that is not so: verifying names the file and the
 * object, whichever number it is. And texts and fields whose class or record has less than they ask for.
 */
#include "graph/little_index.h"

#include "graph/inside.h"

/* What one test changes, before which file. */
static struct {
    hdx_kind before;
    void (*change)(little_writer *w, uint64_t *values, uint64_t n);
} lie;

static void lies(little_writer *w, hdx_kind next, uint64_t *values, uint64_t n)
{
    if (next == lie.before)
        lie.change(w, values, n);
}

/* Nodes in a row behind a root, one of them garbage, an array of them, a byte[] of five. */
typedef struct row {
    little  *l;
    uint64_t node, nodes[5], garbage, array, bytes;
} row;
static row row_of(hdx_kind before, void (*change)(little_writer *w, uint64_t *values, uint64_t n))
{
    row r = { .l = little_new() };
    lie.before = before;
    lie.change = change;
    r.l->lie = change == NULL ? NULL : lies;
    r.node = little_class(r.l, "app.Node", r.l->object, "next:L other:L count:I");
    r.bytes = little_text(r.l, 'B', "bytes");
    for (unsigned i = 0; i < 5; i++)
        r.nodes[i] =
            little_instance(r.l, r.node, DUMP_VALUES(i == 0 ? r.bytes : r.nodes[i - 1], i == 3 ? r.nodes[0] : 0, i));
    r.garbage = little_instance(r.l, r.node, DUMP_VALUES(r.nodes[2], 0, 9));
    r.array = little_array(r.l, r.l->objects, DUMP_VALUES(r.nodes[4], 0, r.nodes[1]), 3);
    little_root(r.l, HDX_ROOT_SYSTEM_CLASS, r.l->object, 0);
    little_root(r.l, HDX_ROOT_NATIVE_STATIC, r.array, 0);
    little_open(r.l);
    return r;
}

static void told(row *r, const char *where, const char *message)
{
    hdx_error err = { 0 };
    cr_expect(eq(int, hdx_graph_verify(r->l->g, true, &err), where[0] == '\0' ? HDX_OK : HDX_DAMAGED));
    cr_expect(eq(str, err.where, (char *)(uintptr_t)where));
    cr_expect(eq(str, err.message, (char *)(uintptr_t)message));
    cr_expect(eq(int, hdx_graph_verify(r->l->g, false, &err), HDX_OK)); /* only the files of each other say it */
    little_close(r->l);
}

static void one_live_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.live_objects++;
}
static void one_unreachable_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.unreachable_objects++;
}
static void one_reference_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.references++;
}
static void one_byte_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.live_bytes++;
}
static void one_unreachable_byte_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.unreachable_bytes++;
}
static void one_root_more(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.gc_roots++;
}

Test(lies, of_the_manifest_are_told_with_both_numbers)
{
    row                      r = row_of(HDX_KIND_POSITION, NULL);
    hdx_graph_summary        is = *hdx_graph_summary_of(r.l->g);
    char                     want[6][160];
    const unsigned long long live = is.live_objects, references = is.references, bytes = is.live_bytes;
    told(&r, "", "");
    (void)snprintf(want[0], 160, "%llu live objects; the manifest has %llu", live, live + 1);
    (void)snprintf(want[1], 160, "%llu live objects; the manifest has %llu", live, live);
    (void)snprintf(want[2], 160, "%llu references between live objects; the manifest has %llu", references,
                   references + 1);
    (void)snprintf(want[3], 160, "%llu live bytes; the manifest has %llu", bytes, bytes + 1);
    (void)snprintf(want[4], 160, "%llu live bytes; the manifest has %llu", bytes, bytes);
    (void)snprintf(want[5], 160, "2 GC roots; the manifest has 3");
    static const struct {
        void (*change)(little_writer *w, uint64_t *values, uint64_t n);
        const char *where;
    } cases[] = {
        { one_live_more, "special" }, { one_unreachable_more, "special" },      { one_reference_more, "outbound" },
        { one_byte_more, "catalog" }, { one_unreachable_byte_more, "catalog" }, { one_root_more, "catalog" }
    };
    for (unsigned i = 0; i < 6; i++) {
        r = row_of(HDX_KIND_POSITION, cases[i].change);
        told(&r, cases[i].where, want[i]);
    }
}

/* ---- files that the last step does not make, and those that it does ---- */

static uint32_t step, compression;
static int      named, unnamed; /* kinds; -1: none */
static void     other_files(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->m.step = step;
    w->m.compression = compression;
    if (named >= 0)
        (void)snprintf(w->m.files[named].name, sizeof w->m.files[named].name, "%s", hdx_kind_name((hdx_kind)named));
    if (unnamed >= 0)
        w->m.files[unnamed].name[0] = '\0';
}

Test(lies, about_which_files_there_are)
{
    static const struct {
        uint32_t    step, compression;
        int         named, unnamed;
        const char *message;
    } cases[] = {
        { 4, 0, -1, -1, "" },
        { 4, 1, -1, -1, "" }, /* of a compressed dump seek points may be there */
        { 3, 0, -1, -1, "the index special is in the manifest but belongs to no step" },
        { 2, 0, -1, -1, "the index inbound is in the manifest but belongs to no step" },
        { 1, 0, -1, -1, "the index outbound is in the manifest but belongs to no step" },
        { 4, 0, HDX_KIND_HEAP, -1, "the index heap is in the manifest but belongs to no step" },
        { 4, 0, HDX_KIND_SEEK, -1, "the index seek is in the manifest but belongs to no step" },
        { 4, 0, -1, HDX_KIND_ADDRESS, "the index address is not in the manifest" },
        { 4, 0, -1, HDX_KIND_POSITION, "the index position is not in the manifest" },
        { 4, 0, -1, HDX_KIND_CLASS, "the index class is not in the manifest" },
        { 4, 0, -1, HDX_KIND_SIZE, "the index size is not in the manifest" },
        { 4, 0, -1, HDX_KIND_OUTBOUND, "the index outbound is not in the manifest" },
        { 4, 0, -1, HDX_KIND_INBOUND, "the index inbound is not in the manifest" },
        { 4, 0, -1, HDX_KIND_INSTANCES, "the index instances is not in the manifest" },
        { 4, 0, -1, HDX_KIND_SPECIAL, "the index special is not in the manifest" },
        { 4, 0, -1, HDX_KIND_DOMINATOR, "the index dominator is not in the manifest" },
        { 4, 0, -1, HDX_KIND_NEAREST, "the index nearest is not in the manifest" },
        { 4, 0, -1, HDX_KIND_DOMINATORS, "the index dominators is not in the manifest" },
        { 4, 0, -1, HDX_KIND_RETAINED, "the index retained is not in the manifest" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hdx_error err = { 0 };
        step = cases[i].step;
        compression = cases[i].compression;
        named = cases[i].named;
        unnamed = cases[i].unnamed;
        row r = row_of(HDX_KIND_DOMINATED, other_files);
        cr_expect(eq(int, hdx_graph_verify(r.l->g, false, &err), cases[i].message[0] == '\0' ? HDX_OK : HDX_DAMAGED));
        cr_expect(eq(str, err.message, (char *)(uintptr_t)cases[i].message), "case %zu", i);
        cr_expect(eq(str, err.where, cases[i].message[0] == '\0' ? "" : "catalog"));
        hdx_graph_close(r.l->g);
        r.l->g = NULL;
        little_close(r.l);
    }
}

/* ---- columns ---- */

static row      of; /* addresses for those that change something; they are the same in every row */
static unsigned id_in(const little_writer *w, uint64_t address) { return little_id(w->l, address); }

static void another_class(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)n;
    values[id_in(w, of.nodes[3])] = w->l->at[id_in(w, w->l->loader)].number;
}
static void a_longer_array(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)n;
    values[id_in(w, of.bytes)] = 6; /* the same 24 bytes */
}
static void a_length_of_an_odd_class(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)n;
    values[id_in(w, of.bytes)] = 1ull << 32; /* as of an object array without elements */
}
static void another_position(little_writer *w, uint64_t *values, uint64_t n)
{
    const unsigned a = id_in(w, of.nodes[1]), b = id_in(w, of.nodes[2]);
    const uint64_t x = values[a];
    (void)n;
    values[a] = values[b];
    values[b] = x;
}
static void retains_less(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)n;
    values[id_in(w, of.nodes[4])]--;
}
static void garbage_retains(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)n;
    values[id_in(w, of.garbage)] = 1;
}
static void no_root(little_writer *w, uint64_t *values, uint64_t n)
{
    (void)values, (void)n;
    w->root[id_in(w, w->l->object)] = false; /* its class is in use, and refers to it */
}

Test(lies, of_columns_are_told_with_the_object)
{
    of = row_of(HDX_KIND_POSITION, NULL);
    const unsigned n3 = little_id(of.l, of.nodes[3]), n4 = little_id(of.l, of.nodes[4]),
                   bytes = little_id(of.l, of.bytes), garbage = little_id(of.l, of.garbage),
                   object = little_id(of.l, of.l->object), node = of.l->at[little_id(of.l, of.node)].number;
    const unsigned long long retained = hdx_graph_retained(of.l->g, n4);
    char                     want[160];
    hdx_error                err = { 0 };
    hdx_values               v = { 0 };
    little_close(of.l);
    row r = row_of(HDX_KIND_CLASS, another_class);
    (void)snprintf(want, sizeof want, "object %u is listed under class %u but has another class", n3, node);
    told(&r, "instances", want);
    r = row_of(HDX_KIND_SIZE, a_longer_array);
    cr_expect(eq(int, hdx_graph_elements(r.l->g, bytes, 0, 9, &v, &err), HDX_DAMAGED));
    cr_expect(eq(str, err.where, "size"));
    (void)snprintf(want, sizeof want, "object %u has 6 elements; its record has 5", bytes);
    cr_expect(eq(str, err.message, want));
    told(&r, "size", want);
    r = row_of(HDX_KIND_SIZE, a_length_of_an_odd_class);
    cr_expect(eq(u64, hdx_graph_shallow(r.l->g, bytes), 16));
    uint64_t sizes[1];
    hdx_graph_read_shallow(r.l->g, bytes, 1, sizes);
    cr_expect(eq(u64, sizes[0], 16));
    cr_expect(eq(u64, hdx_graph_length(r.l->g, bytes), 0));
    cr_expect(eq(int, hdx_graph_verify(r.l->g, true, &err), HDX_DAMAGED));
    little_close(r.l);
    r = row_of(HDX_KIND_POSITION, another_position);
    cr_expect(eq(int, hdx_graph_verify(r.l->g, true, &err), HDX_BAD_DUMP));
    cr_expect(strstr(err.message, "the dump changed since it was indexed") != NULL);
    cr_expect(eq(str, err.hint, "rebuild the index"));
    little_close(r.l);
    r = row_of(HDX_KIND_RETAINED, retains_less);
    (void)snprintf(want, sizeof want, "object %u retains %llu bytes; with the objects that it dominates it is %llu", n4,
                   retained - 1, retained);
    told(&r, "retained", want);
    r = row_of(HDX_KIND_RETAINED, garbage_retains);
    (void)snprintf(want, sizeof want, "object %u is garbage but has a retained size", garbage);
    told(&r, "retained", want);
    r = row_of(HDX_KIND_POSITION, no_root);
    (void)snprintf(want, sizeof want, "object %u is a GC root but has a parent", object);
    told(&r, "special", want);
    hdx_values_free(&v);
}

/* ---- trees ---- */

static uint64_t *find_value(uint64_t *values, uint64_t n, uint64_t above)
{
    for (uint64_t i = n; i-- > 0;)
        if (values[i] > above)
            return &values[i];
    abort();
}
static void its_own_parent(little_writer *w, uint64_t *values, uint64_t n)
{
    uint64_t       at = 0; /* a special object's place */
    const unsigned id = id_in(w, of.nodes[1]);
    for (unsigned i = 0; i < id; i++)
        at += little_special[i];
    cr_assert(little_special[id] && at < n);
    values[at] = id + 2;
}
static void garbage_above(little_writer *w, uint64_t *values, uint64_t n)
{
    *find_value(values, n, 1) = id_in(w, of.garbage) + 2;
}

Test(lies, of_trees_are_told)
{
    of = row_of(HDX_KIND_POSITION, NULL);
    const unsigned n1 = little_id(of.l, of.nodes[1]);
    little_close(of.l);
    hdx_error             err = { 0 };
    static const hdx_kind kinds[] = { HDX_KIND_DOMINATOR, HDX_KIND_NEAREST };
    for (unsigned k = 0; k < 2; k++) {
        row r = row_of(kinds[k], its_own_parent);
        cr_expect(eq(int, hdx_graph_verify(r.l->g, true, &err), HDX_DAMAGED));
        if (k == 1) { /* of the nearest parents it means a root */
            cr_expect(eq(str, err.message, "3 objects are their own roots; expected 2"));
            cr_expect(eq(str, err.where, "nearest"));
        } else {
            char want[100];
            (void)snprintf(want, sizeof want, "object %u is listed under a wrong dominator", n1);
            cr_expect(eq(str, err.where, "dominated"));
            cr_expect(eq(str, err.message, want));
        }
        little_close(r.l);
        r = row_of(kinds[k], garbage_above);
        cr_expect(eq(int, hdx_graph_verify(r.l->g, true, &err), HDX_DAMAGED));
        cr_expect(eq(str, err.where, k == 0 ? "dominated" : "nearest"));
        if (k == 1)
            cr_expect(strstr(err.message, " is live but has no live parent") != NULL);
        little_close(r.l);
    }
}

/* ---- texts by the fields that their class has ---- */

static const char *text_of(little *l, uint64_t addr)
{
    static char text[100];
    char       *made;
    size_t      len;
    bool        whole, is;
    hdx_error   err;
    cr_assert(eq(int, hdx_graph_string(l->g, little_find(l, addr), 50, &made, &len, &whole, &is, &err), HDX_OK));
    (void)snprintf(text, sizeof text, "%s", is ? made : "(none)");
    hdx_text_free(made);
    return text;
}

Test(lies, offsets_and_counts_of_a_text_are_believed_together_only)
{
    static const struct {
        const char *fields;
        uint64_t    values[3]; /* the first is the array */
        const char *text;
    } cases[] = {
        { "value:L offset:I count:I", { 0, 2, 3 }, " ar" },
        { "value:L offset:I count:I", { 0, 0, 3 }, "an " },
        { "value:L offset:I count:I", { 0, 0xffffffff, 3 }, "an " },
        { "value:L offset:I count:I", { 0, 2, 0xffffffff }, "" },
        { "value:L offset:I count:I", { 0, 2, 0 }, "" },
        { "value:L offset:I count:I", { 0, 3, 5 }, "array" },
        { "value:L offset:I count:I", { 0, 3, 4 }, "arra" },
        { "value:L offset:I count:I", { 0, 3, 6 }, "array" },
        { "value:L offset:I count:I", { 0, 7, 3 }, "y" },
        { "value:L offset:I count:I", { 0, 8, 3 }, "" },
        { "value:L offset:I count:I", { 0, 9, 3 }, "" },
        { "value:L offset:I", { 0, 2, 0 }, "an array" }, /* no count: the offset means something else */
        { "value:L count:I", { 0, 3, 0 }, "an " },
        { "value:L count:I", { 0, 8, 0 }, "an array" },
        { "value:L count:I", { 0, 9, 0 }, "an array" },
        { "value:L offset:J count:I", { 0, 2, 3 }, "an " }, /* of another type it is no offset */
        { "value:L offset:I count:J", { 0, 2, 3 }, "an array" },
        { "value:L", { 0, 0, 0 }, "an array" },
        { "value:L coder:B", { 0, 0, 0 }, "an array" },
        { "valu:L", { 0, 0, 0 }, "(none)" },
        { "value:J", { 0, 0, 0 }, "(none)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        little        *l = little_new();
        const uint64_t string = little_class(l, "java.lang.String", l->object, cases[i].fields);
        const uint64_t array = little_text(l, 'C', "an array");
        const uint64_t s = little_instance(l, string, DUMP_VALUES(array, cases[i].values[1], cases[i].values[2]));
        little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
        little_open(l);
        cr_expect(eq(str, (char *)(uintptr_t)text_of(l, s), (char *)(uintptr_t)cases[i].text), "case %zu: %s", i,
                  cases[i].fields);
        little_close(l);
    }
}

/* Elements in pieces of 64 KiB: of a long array every one is what it is, from any first on. */
Test(lies, elements_of_long_arrays_are_what_they_are)
{
    enum { N = 40000 };
    dump_maker *m = dump_maker_new(8);
    uint64_t   *values = malloc(N * sizeof *values);
    little     *l = little_new();
    hdx_values  v = { 0 };
    hdx_error   err;
    for (unsigned i = 0; i < N; i++)
        values[i] = i * 7u;
    const uint64_t ints = little_primitives(l, 'I', values, N), bytes = little_primitives(l, 'B', values, N);
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_open(l);
    static const struct {
        uint64_t first, n, count;
    } cases[] = { { 0, N, N },          { 0, 16384, 16384 },      { 1, 16385, 16385 }, { 16383, 2, 2 },
                  { N - 1, 1, 1 },      { N - 1, 2, 1 },          { N, 1, 0 },         { N + 1, 1, 0 },
                  { UINT64_MAX, 1, 0 }, { 5, UINT64_MAX, N - 5 }, { 7, 0, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert(
            eq(int, hdx_graph_elements(l->g, little_find(l, ints), cases[i].first, cases[i].n, &v, &err), HDX_OK));
        cr_expect(eq(u64, v.count, cases[i].count), "case %zu", i);
        for (uint64_t k = 0; k < v.count; k++)
            cr_assert(v.at[k].value.type == 10 && !v.at[k].value.absent &&
                      v.at[k].value.as.integer == (int64_t)(cases[i].first + k) * 7);
        cr_assert(
            eq(int, hdx_graph_elements(l->g, little_find(l, bytes), cases[i].first, cases[i].n, &v, &err), HDX_OK));
        cr_expect(eq(u64, v.count, cases[i].count), "case %zu", i);
        for (uint64_t k = 0; k < v.count; k++)
            cr_assert(v.at[k].value.as.integer == (int8_t)((cases[i].first + k) * 7));
    }
    hdx_values_free(&v);
    little_close(l);
    dump_maker_free(m);
    free(values);
}
