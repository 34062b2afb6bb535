/*
 * test_sets.c - sets of objects by class, address and field: what they retain on random heaps, against what marking
 * without them does not reach (tangled.h). A failure names its seed.
 */
#include "tangled.h"

static void check_retained(heap *h, const model *m, unsigned seed)
{
    static const struct {
        const char *condition;
        int64_t     more_than;   /* size */
        const char *name, *also; /* NULL: any */
    } cases[] = {
        { "size > 4", 4, NULL, NULL },          { ".size > 7", 7, NULL, NULL },  { "name = red", -1, "red", NULL },
        { "name ~ ^red", -1, "red", "redder" }, { "name = null", -1, "", NULL }, { "size >= 10", 9, NULL, NULL },
    };
    for (unsigned i = 0; i < HDX_COUNT(cases); i++)
        for (unsigned beside = 0; beside < 2; beside++) {
            bool        without[MOST] = { false }, seen[MOST];
            const char *fields[] = { cases[i].condition, "size != 5" };
            char        address[24];
            hdx_rows   *rows;
            h->q.fields = fields;
            h->q.field_count = 1 + i % 2;
            for (hdx_id id = 0; id < m->n; id++)
                without[id] = m->sized[id] && m->live[id] && m->size[id] > cases[i].more_than &&
                              (cases[i].name == NULL || strcmp(m->name[id], cases[i].name) == 0 ||
                               (cases[i].also != NULL && strcmp(m->name[id], cases[i].also) == 0)) &&
                              (i % 2 == 0 || m->size[id] != 5);
            /* an object that has none of these fields is no member, named or not */
            (void)snprintf(address, sizeof address, "0x%x", FIRST);
            const hdx_argument a[] = { { "class", "app.*" }, { "class", "plug.Bag" }, { "object", address } };
            mark(m, NULL, NULL, without, seen);
            const hdx_code code = ask(h, &hdx_question_retained, a, beside == 0 ? 1 : 3, &rows);
            cr_assert(eq(int, code, HDX_OK), "seed %u %s: %s", seed, cases[i].condition, h->err.message);
            expect_gone(m, rows, seen, cases[i].condition, seed);
            h->q.field_count = 0;
        }
}

static void check_union(heap *h, const model *m, unsigned seed)
{
    bool      without[MOST] = { false }, seen[MOST];
    char      address[24];
    hdx_rows *rows;
    (void)snprintf(address, sizeof address, "0x%x", FIRST + 2 * STEP);
    for (hdx_id id = 0; id < m->n; id++)
        without[id] = id == id_at(h, FIRST + 2 * STEP) || is_of_class(m, m->class_of[id], "app.Node", true) ||
                      is_of_class(m, m->class_of[id], "java.util.Link", false);
    const hdx_argument a[] = {
        { "class", "app.Node" }, { "subclasses", NULL }, { "object", address }, { "class", "java.util.Link" }
    };
    mark(m, NULL, NULL, without, seen);
    cr_assert(eq(int, ask(h, &hdx_question_retained, a, 4, &rows), HDX_OK), "%s", h->err.message);
    expect_gone(m, rows, seen, "a union", seed);
}

static void check_paths(heap *h, const model *m, unsigned seed)
{
    const char        *fields[] = { "size > 6" };
    const hdx_argument a[] = { { "class", "app.*" } };
    unsigned           want = 0, found = 0;
    hdx_rows          *rows;
    const hdx_cell    *cells;
    h->q.fields = fields;
    h->q.field_count = 1;
    for (hdx_id id = 0; id < m->n; id++)
        want += m->live[id] && m->sized[id] && m->size[id] > 6;
    cr_assert(eq(int, ask(h, &hdx_question_path, a, 1, &rows), HDX_OK), "seed %u: %s", seed, h->err.message);
    cr_expect(eq(u64, extra(rows, "paths")->as.list.count, want), "seed %u", seed);
    hdx_rows_close(rows);
    for (unsigned scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
        h->q.scope = (hdx_refs_scope)scope;
        for (want = found = 0; found < m->n; found++)
            want +=
                (scope == HDX_ALL || m->live[found] == (scope == HDX_LIVE)) && m->sized[found] && m->size[found] > 6;
        found = 0;
        cr_assert(eq(int, ask(h, &hdx_question_objects, a, 1, &rows), HDX_OK), "seed %u: %s", seed, h->err.message);
        while (hdx_rows_next(rows, &cells)) {
            found++;
            cr_expect(m->size[id_at(h, cells[0].as.address)] > 6, "seed %u", seed);
        }
        cr_expect(eq(int, hdx_rows_end(rows, &h->err), HDX_OK));
        cr_expect(eq(u32, found, want), "seed %u scope %u", seed, scope);
        hdx_rows_close(rows);
    }
    h->q.scope = HDX_LIVE;
    h->q.field_count = 0;
}

static void check_sets(heap *h, const model *m, unsigned seed)
{
    check_retained(h, m, seed);
    check_union(h, m, seed);
    check_paths(h, m, seed);
}

Test(sets, of_random_heaps_retain_what_marking_without_them_does_not_reach) { on_random_heaps(check_sets); }

Test(sets, with_a_misspelt_field_are_refused_with_the_one_that_was_meant)
{
    static const struct {
        const char *condition, *class, *says, *hint;
        hdx_code    code;
    } cases[] = {
        { "siz > 4", "app.Node", "no column has the name 'siz', and no object of the set has such a field",
          "did you mean size?", HDX_NOT_FOUND },
        { "shalow > 4", "app.Node", "no column has the name 'shalow', and no object of the set has such a field",
          "did you mean shallow?", HDX_NOT_FOUND },
        { "other > 4", "app.Node", "no column has the name 'other', and no object of the set has such a field", "",
          HDX_NOT_FOUND },
        { ".objects > 4", "app.Node", "no column has the name 'objects', and no object of the set has such a field",
          "did you mean objects?", HDX_NOT_FOUND },
        { "size >< 4", "app.Node", "condition \"size >< 4\": unknown operator ><",
          "operators are = != < <= > >= ~, as in 'retained > 1M'", HDX_USAGE },
    };
    heap  h;
    model m;
    tangle(&h, &m, 1);
    for (unsigned i = 0; i < HDX_COUNT(cases); i++) {
        const char        *fields[] = { cases[i].condition };
        const hdx_argument a[] = { { "class", cases[i].class } };
        hdx_rows          *rows;
        h.q.fields = fields;
        h.q.field_count = 1;
        cr_expect(eq(int, ask(&h, &hdx_question_retained, a, 1, &rows), cases[i].code), "%s", cases[i].condition);
        cr_expect_str_eq(h.err.message, cases[i].says);
        cr_expect_str_eq(h.err.hint, cases[i].hint, "%s: %s", cases[i].condition, h.err.hint);
        cr_expect(rows == NULL);
    }
    heap_close(&h);
}

Test(sets, of_arrays_are_told_by_their_length)
{
    heap        h;
    dump_maker *d = dump_maker_new(8);
    hdx_rows   *rows;
    const char *fields[] = { "length >= 3" };
    dump_maker_class_at(d, 0x100, "java.lang.Object", 0, "");
    for (unsigned i = 0; i < 6; i++) {
        (void)dump_maker_primitives_at(d, 0x1000 + 0x100 * i, 'B', NULL, i);
        dump_maker_root(d, HDX_SUB_ROOT_JNI_GLOBAL, 0x1000 + 0x100 * i, 0, 0);
    }
    heap_open(&h, d);
    h.q.fields = fields;
    h.q.field_count = 1;
    const hdx_argument a[] = { { "class", "byte[]" } };
    ok(ask(&h, &hdx_question_objects, a, 1, &rows));
    expect_rows(rows, "0x1300,byte[],-,32,32\n0x1400,byte[],-,32,32\n0x1500,byte[],-,32,32\n");
    heap_close(&h);
}
