/*
 * test_heap.c - the heap as inspectors see it: classes of one name, hierarchies, fields by owner and name, texts; and
 * patterns of class names.
 */
#include "../query/heap.h"
#include "leaks/leaks.h"

static heap      h;
static leak_heap lh;
static uint64_t  top, twins[3], low, object, text_of_it, array, odd, leaks_at[4];

static void enter(void)
{
    dump_maker *m = dump_maker_new(8);
    top = dump_maker_class(m, "java/lang/Object", 0, "");
    const uint64_t string = dump_maker_class(m, "java/lang/String", top, "value:L coder:B hash:I");
    for (unsigned i = 0; i < 3; i++) {
        dump_maker_static(m, "number", 'I', 10 + i);
        twins[i] = dump_maker_class(m, "p/Twin", top, "");
    }
    text_of_it = dump_maker_string(m, string, "its text");
    dump_maker_static(m, "big", 'J', 77);
    dump_maker_static(m, "place", 'J', text_of_it);
    dump_maker_static(m, "yes", 'Z', 1);
    dump_maker_static(m, "held", 'L', text_of_it);
    dump_maker_static(m, "lost", 'L', 0xdead8);
    const uint64_t base = dump_maker_class(m, "p/Base", top, "a:I same:L");
    const uint64_t mid = dump_maker_class(m, "p/Mid", base, "");
    low = dump_maker_class(m, "p/Low", mid, "same:L b:B s:S z:Z c:C f:F j:J lost:L null:L place:J");
    const uint64_t of_arrays = dump_maker_class(m, "java/lang/Object[]", top, "");
    odd = dump_maker_instance(m, base, DUMP_VALUES(1, 0));
    array = dump_maker_array(m, of_arrays, DUMP_VALUES(odd, 0, 0xdead8, text_of_it), 4);
    object = dump_maker_instance(
        m, low, DUMP_VALUES(odd, (uint8_t)-2, 7, 1, 'x', 0x3f800000, 5000000000, 0xdead8, 0, odd, 41, text_of_it));
    static const char *const names[] = { "q/Alpha", "q/AlphaBeta", "q/Beta", "q/Gamma$Alpha" };
    for (unsigned i = 0; i < 4; i++) {
        leaks_at[i] = dump_maker_instance(m, dump_maker_class(m, names[i], top, ""), NULL);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, leaks_at[i], 0, 0);
    }
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, object, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, array, 0, 0);
    heap_open(&h, m);
    ok(hdx_leak_heap_open(h.g, NULL, &lh, &h.err));
}
static void leave(void)
{
    cr_expect(eq(int, lh.code, HDX_OK), "%s", lh.err.message);
    hdx_leak_heap_close(&lh);
    heap_close(&h);
}
TestSuite(leak_heap, .init = enter, .fini = leave);

static uint32_t number_at(uint64_t address)
{
    const hdx_class *c = hdx_graph_class_object(h.g, id_at(&h, address));
    cr_assert(c != NULL);
    return c->number;
}

Test(leak_heap, of_classes_of_one_name_the_first_sticky_one_holds_or_the_last_of_the_dump)
{
    hdx_value v;
    cr_expect(eq(u32, hdx_leak_class_raw(&lh, "p.Twin")->number, number_at(twins[2])));
    cr_assert(hdx_leak_static(&lh, hdx_leak_class_raw(&lh, "p.Twin"), "number", &v));
    cr_expect(eq(i64, v.as.integer, 12));
    const uint32_t sticky[] = { number_at(low), number_at(twins[1]), number_at(twins[0]) };
    lh.sticky = sticky;
    lh.sticky_count = 3;
    cr_expect(eq(u32, hdx_leak_class_raw(&lh, "p.Twin")->number, number_at(twins[1])));
    lh.sticky_count = 1;
    cr_expect(eq(u32, hdx_leak_class_raw(&lh, "p.Twin")->number, number_at(twins[2])));
    cr_expect(eq(u32, hdx_leak_class_raw(&lh, "p.Low")->number, number_at(low)));
    cr_expect(hdx_leak_class_raw(&lh, "p.Nothing") == NULL);
    lh.sticky = NULL;
    lh.sticky_count = 0;
}

/* Each question twice, from below and from above: what was found out is remembered by class. */
Test(leak_heap, hierarchies_are_asked_by_name_in_any_order)
{
    static const char a[] = "p.Base", b[] = "p.Mid", c[] = "java.lang.Object", d[] = "p.Nobody";
    const uint32_t    l = number_at(low), m = lh.classes[l].super, t = number_at(twins[0]), o = number_at(top);
    const struct {
        uint32_t    number;
        const char *name;
        bool        yes;
    } cases[] = { { l, a, true },
                  { m, a, true },
                  { t, a, false },
                  { o, a, false },
                  { lh.classes[m].super, a, true },
                  { o, b, false },
                  { m, b, true },
                  { l, b, true },
                  { lh.classes[m].super, b, false },
                  { o, c, true },
                  { l, c, true },
                  { t, c, true },
                  { t, d, false },
                  { l, d, false },
                  { o, d, false },
                  { lh.class_count, c, false },
                  { HDX_NO_CLASS, c, false } };
    for (unsigned again = 0; again < 2; again++)
        for (size_t i = 0; i < HDX_COUNT(cases); i++)
            cr_expect(hdx_leak_extends(&lh, cases[i].number, cases[i].name) == cases[i].yes, "%zu, time %u", i, again);
    static char names[LEAK_EXTENDED + 8][16]; /* more names than are remembered */
    for (unsigned i = 0; i < LEAK_EXTENDED + 8; i++) {
        (void)snprintf(names[i], sizeof names[i], i % 2 == 0 ? "p.Mid" : "p.M%u", i);
        cr_expect(hdx_leak_extends(&lh, l, names[i]) == (i % 2 == 0), "%u", i);
        cr_expect(hdx_leak_extends(&lh, o, names[i]) == false, "%u", i);
    }
}

Test(leak_heap, fields_are_those_of_the_class_that_declares_them_with_the_type_that_is_asked_for)
{
    const hdx_id id = id_at(&h, object), none = HDX_NO_ID;
    hdx_value    v;
    bool         there;
    cr_expect(hdx_leak_get_object(&lh, id, "p.Low", "same") == id_at(&h, odd));
    cr_expect(hdx_leak_get_object(&lh, id, "p.Base", "same") == id_at(&h, text_of_it));
    cr_expect(hdx_leak_get_object(&lh, id, "p.Mid", "same") == none);
    cr_expect(hdx_leak_get_object(&lh, id, "p.Low", "lost") == none);
    cr_expect(hdx_leak_get_object(&lh, id, "p.Low", "null") == none);
    cr_expect(hdx_leak_get_object(&lh, id, "p.Base", "a") == none);
    cr_expect(hdx_leak_get_object(&lh, id, "p.Low", "place") == none, "a number is no reference");
    cr_expect(hdx_leak_get_text(&lh, id, "p.Low", "place") == NULL);
    cr_expect(hdx_leak_get(&lh, id, "p.Low", "null", &v) && v.as.address == 0);
    cr_expect(hdx_leak_get(&lh, id, "p.Low", "nothing", &v) == false);
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Base", "a", 3), 41));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "b", 3), -2));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "s", 3), 7));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "j", 3), 5000000000));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "f", 3), 3));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "c", 3), 3));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "z", 3), 3));
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Low", "nothing", 3), 3));
    cr_expect(hdx_leak_get_bool(&lh, id, "p.Low", "z", &there) && there);
    cr_expect(hdx_leak_get_bool(&lh, id, "p.Low", "z", NULL));
    cr_expect(hdx_leak_get_bool(&lh, id, "p.Low", "b", &there) == false && there == false);
    cr_expect(hdx_leak_get_bool(&lh, id, "p.Low", "nothing", NULL) == false);
    cr_expect_str_eq(hdx_leak_get_text(&lh, id, "p.Base", "same"), "its text");
    cr_expect(hdx_leak_get_text(&lh, id, "p.Low", "same") == NULL, "an object that is no text");
    cr_expect(hdx_leak_text(&lh, lh.objects) == NULL && hdx_leak_text(&lh, none) == NULL);
    cr_expect(hdx_leak_fields(&lh, lh.objects)->count == 0);
    cr_expect(eq(u64, hdx_leak_fields(&lh, id)->count, 12));
    for (hdx_id other = 1; other < lh.objects; other++) /* more than are kept at hand */
        (void)hdx_leak_fields(&lh, other);
    cr_expect(eq(i64, hdx_leak_get_int(&lh, id, "p.Base", "a", 3), 41));
}

Test(leak_heap, statics_and_elements)
{
    const hdx_class *base = hdx_leak_class_raw(&lh, "p.Base");
    hdx_value        v;
    uint64_t         count;
    cr_expect(hdx_leak_static(&lh, base, "big", &v) && v.type == 11 && v.as.integer == 77);
    cr_expect(hdx_leak_static(&lh, base, "yes", &v) && v.type == 4 && v.as.boolean);
    cr_expect(hdx_leak_static(&lh, base, "nothing", &v) == false);
    cr_expect(hdx_leak_static(&lh, NULL, "big", &v) == false);
    cr_expect(hdx_leak_static_object(&lh, base, "held") == id_at(&h, text_of_it));
    cr_expect(hdx_leak_static_object(&lh, base, "lost") == HDX_NO_ID);
    cr_expect(hdx_leak_static_object(&lh, base, "big") == HDX_NO_ID);
    cr_expect(hdx_leak_static_object(&lh, base, "place") == HDX_NO_ID, "a number is no reference");
    cr_expect(hdx_leak_static_object(&lh, NULL, "held") == HDX_NO_ID);
    const hdx_id want[] = { id_at(&h, odd), HDX_NO_ID, HDX_NO_ID, id_at(&h, text_of_it) };
    for (uint64_t most = 0; most < 6; most++) {
        hdx_id *at = hdx_leak_elements(&lh, id_at(&h, array), most, &count);
        cr_expect(eq(u64, count, most < 4 ? most : 4));
        cr_expect(count == 0 || memcmp(at, want, count * sizeof *at) == 0);
        hdx_mem_put(NULL, at, count * sizeof *at);
    }
    cr_expect(hdx_leak_elements(&lh, id_at(&h, object), 9, &count) == NULL && count == 0);
    cr_expect(hdx_leak_elements(&lh, lh.objects, 9, &count) == NULL && count == 0);
    cr_expect(hdx_leak_elements(&lh, HDX_NO_ID, 9, &count) == NULL && count == 0);
}

Test(leak_heap, names_and_kinds_of_objects)
{
    cr_expect(hdx_text_is(hdx_leak_name_of(&lh, id_at(&h, object)), "p.Low"));
    cr_expect(hdx_text_is(hdx_leak_name_of(&lh, id_at(&h, low)), "p.Low"), "a class object has its own name");
    cr_expect(hdx_text_is(hdx_leak_name(&lh, lh.class_count), ""));
    cr_expect(hdx_text_is(hdx_leak_name(&lh, lh.class_count - 1), "") == false);
    cr_expect(hdx_leak_what_of(&lh, id_at(&h, low)) == HDX_LEAK_IS_CLASS);
    cr_expect(hdx_leak_what_of(&lh, id_at(&h, object)) == HDX_LEAK_IS_INSTANCE);
    cr_expect(hdx_leak_what_of(&lh, id_at(&h, array)) == HDX_LEAK_IS_ARRAY);
    cr_expect(hdx_leak_is_instance(&lh, id_at(&h, object)));
    cr_expect(hdx_leak_is_instance(&lh, id_at(&h, array)) == false);
    cr_expect(hdx_leak_is_instance(&lh, lh.objects) == false);
    cr_expect(hdx_leak_object_at(&lh, object) == id_at(&h, object));
    cr_expect(hdx_leak_object_at(&lh, 0) == HDX_NO_ID && hdx_leak_object_at(&lh, object + 1) == HDX_NO_ID);
    cr_expect(eq(u64, hdx_leak_bits(&lh, lh.class_count), 0));
    cr_expect(hdx_leak_isa(&lh, id_at(&h, text_of_it), LC_STRING));
    cr_expect(hdx_leak_isa(&lh, id_at(&h, object), LC_STRING) == false);
    cr_expect(lh.android == false);
}

/* ---- patterns of class names ---- */

/* bit i: the i-th of Alpha, AlphaBeta, Beta, Gamma$Alpha is found. */
Test(leak_heap, classes_are_named_by_globs_and_expressions)
{
    static const struct {
        const char *pattern;
        unsigned    found;
    } cases[] = {
        { "q.Alpha", 1 },   { "q.Alph", 0 },   { "q.Alphaa", 0 }, { "q.Alpha*", 3 },  { "q.Alpha?*", 2 },
        { "q.*Beta", 6 },   { "q.?eta", 4 },   { "q.*", 15 },     { "q.*Alpha", 9 },  { "q.*a*a*", 10 },
        { "q.*a*a*a*", 8 }, { "*Alpha", 9 },   { "?.Beta", 4 },   { "*q.Beta", 4 },   { "q.Beta*", 4 },
        { "q.Beta**", 4 },  { "q.Beta?", 0 },  { "**", 15 },      { "q.Gamma$*", 8 }, { "q.*lph*eta", 2 },
        { "/^q\\.Al/", 3 }, { "/Alpha$/", 9 }, { "/q/", 15 },     { "/[$]/", 8 },     { "//", 0 },
        { "/", 0 },         { "q", 0 },        { "", 0 },         { "/q.Beta", 0 },   { "q.Beta/", 0 },
    };
    const leak_rules no_rules = { .rule_count = 0 };
    leak_inspector   i;
    ok(hdx_leak_inspector_open(&lh, &no_rules, &i, &h.err));
    for (size_t n = 0; n < HDX_COUNT(cases); n++) {
        const hdx_leaks_options o = { .finder = HDX_LEAKS_CLASSES, .classes = &cases[n].pattern, .class_count = 1 };
        hdx_id                 *at = NULL;
        uint64_t                count, capacity;
        unsigned                found = 0;
        const hdx_code          code = hdx_leak_find(&i, &o, &at, &count, &capacity, &h.err);
        cr_expect(code == (cases[n].found == 0 ? HDX_NOT_FOUND : HDX_OK), "%s: %s", cases[n].pattern,
                  code != HDX_OK ? h.err.message : "found");
        for (uint64_t k = 0; code == HDX_OK && k < count; k++) {
            cr_expect(k == 0 || at[k] > at[k - 1], "%s: ascending, each once", cases[n].pattern);
            for (unsigned b = 0; b < 4; b++)
                found |= (unsigned)(at[k] == id_at(&h, leaks_at[b])) << b;
        }
        cr_expect(eq(uint, found, cases[n].found), "%s", cases[n].pattern);
        hdx_mem_put(NULL, at, capacity * sizeof *at);
    }
    hdx_leak_inspector_close(&i);
}
