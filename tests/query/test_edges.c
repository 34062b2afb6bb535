/*
 * test_edges.c - answers at edges: nothing that is told where there is nothing to tell, one object and more objects
 * than are read at once.
 */
#include "support/questions.h"
#include "answers.h"

TestSuite(edges, .timeout = 60);

typedef struct small_heap {
    heap     h;
    uint64_t root, kept, lost[2], class_id;
} small_heap;

static void begin(small_heap *t)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    t->class_id = dump_maker_class(m, "app.Node", object, "next:L count:I");
    t->lost[0] = dump_maker_instance(m, t->class_id, DUMP_VALUES(0, 1));
    t->lost[1] = dump_maker_instance(m, t->class_id, DUMP_VALUES(t->lost[0], 2));
    t->kept = dump_maker_instance(m, t->class_id, DUMP_VALUES(0, 3));
    t->root = dump_maker_instance(m, t->class_id, DUMP_VALUES(t->kept, 4));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, t->root, 0, 0);
    heap_open(&t->h, m);
}

/* Rows alone: what is not reached is no row, and a line tells of it. */
static void expect_notice(small_heap *t, const uint64_t *addresses, size_t count, bool merge, const char *want)
{
    const hdx_path_options options = { .paths = 1, .merge = merge, .rows_only = true };
    hdx_id                 ids[4];
    hdx_rows              *rows = NULL;
    for (size_t i = 0; i < count; i++)
        ids[i] = id_at(&t->h, addresses[i]);
    answers_noticed[0] = '\0';
    cr_assert(eq(int, hdx_query_path(&t->h.q, ids, count, &options, &rows, &t->h.err), HDX_OK), "%s", t->h.err.message);
    cr_expect_str_eq(answers_noticed, want, "%zu objects: %s", count, answers_noticed);
    hdx_rows_close(rows);
}

Test(edges, objects_that_no_root_reaches_are_told_and_others_are_not)
{
    small_heap t;
    char       one[100], two[100];
    begin(&t);
    t.h.q.notice = answers_notice;
    const uint64_t all[] = { t.kept, t.lost[1], t.root, t.lost[0] };
    (void)snprintf(one, sizeof one, "no GC root reaches 0x%llx", (unsigned long long)t.lost[1]);
    (void)snprintf(two, sizeof two, "no GC root reaches 2 of the objects, first 0x%llx", (unsigned long long)t.lost[1]);
    for (unsigned merge = 0; merge < 2; merge++) {
        expect_notice(&t, all, 1, merge == 1, "");
        expect_notice(&t, all, 2, merge == 1, one);
        expect_notice(&t, all + 1, 1, merge == 1, one);
        expect_notice(&t, all, 4, merge == 1, two);
        expect_notice(&t, all + 2, 1, merge == 1, "");
    }
    t.h.q.notice = NULL; /* nobody wants to know */
    expect_notice(&t, all, 4, false, "");
    heap_close(&t.h);
}

/* A set of one object, or none that meets a condition. */
Test(edges, a_set_of_which_nothing_meets_the_condition_says_so)
{
    small_heap        t;
    char              ask[100];
    const char *const none[] = { "count > 9" }, *const some[] = { "count = 3" };
    hdx_buffer b = hdx_buffer_of(NULL);
    begin(&t);
    (void)snprintf(ask, sizeof ask, "live retained object=0x%llx", (unsigned long long)t.kept);
    t.h.q.field_count = 1;
    t.h.q.fields = none;
    (void)answers_text(&t.h, ask, &b);
    cr_expect(strstr(b.at, "no object of the set meets the conditions on fields") != NULL, "%s", b.at);
    (void)answers_text(&t.h, "live retained class=app.Node", &b);
    cr_expect(strstr(b.at, "no object of the set meets the conditions on fields") != NULL, "%s", b.at);
    t.h.q.fields = some;
    (void)answers_text(&t.h, ask, &b);
    cr_expect(strstr(b.at, "conditions on fields") == NULL, "%s", b.at);
    t.h.q.field_count = 0;
    (void)snprintf(ask, sizeof ask, "live retained object=0x%llx", (unsigned long long)t.lost[0]);
    (void)answers_text(&t.h, ask, &b);
    cr_expect(strstr(b.at, "it is unreachable, so nothing more would be freed") != NULL, "%s", b.at);
    hdx_buffer_free(&b);
    heap_close(&t.h);
}

/* Of two references to one object the one that is not left out has the name. */
Test(edges, merged_paths_have_the_names_of_references_that_are_not_excluded)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    const uint64_t leaf = dump_maker_class(m, "app.Leaf", object, "");
    const uint64_t holder = dump_maker_class(m, "app.Holder", object, "first:L second:L third:L");
    const uint64_t a = dump_maker_instance(m, leaf, NULL), b = dump_maker_instance(m, leaf, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, holder, DUMP_VALUES(a, b, a)), 0, 0);
    heap       h;
    char       one[100];
    hdx_buffer text = hdx_buffer_of(NULL);
    heap_open(&h, m);
    (void)snprintf(one, sizeof one, "live path object=0x%llx merge exclude-field=app.Holder#first",
                   (unsigned long long)a);
    const struct {
        const char *ask;
        bool        first, second, third;
    } cases[] = { { one, false, false, true },
                  { "live path class=app.Leaf merge", true, true, false },
                  { "live path class=app.Leaf merge exclude-field=app.Holder#first", false, true, true },
                  { "live path class=app.Leaf merge exclude-field=app.Holder#third", true, true, false } };
    for (size_t i = 0; i < HDX_COUNT(cases); i++) {
        (void)answers_text(&h, cases[i].ask, &text);
        cr_expect(cases[i].first == (strstr(text.at, "first") != NULL) &&
                      cases[i].second == (strstr(text.at, "second") != NULL) &&
                      cases[i].third == (strstr(text.at, "third") != NULL),
                  "%s: %s", cases[i].ask, text.at);
    }
    hdx_buffer_free(&text);
    heap_close(&h);
}

/* Labels are made 2,048 at a time. */
Test(edges, keys_of_maps_are_all_there_however_many)
{
    static const unsigned counts[] = { 2047, 2048, 2049, 5000 };
    for (size_t k = 0; k < HDX_COUNT(counts); k++) {
        dump_maker    *m = dump_maker_new(8);
        const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
        (void)dump_maker_class(m, "java.lang.Class", object, "");
        (void)dump_maker_class(m, "byte[]", object, "");
        const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
        const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
        const uint64_t map = dump_maker_class(m, "java.util.HashMap", object, "table:L size:I");
        const uint64_t node = dump_maker_class(m, "java.util.HashMap$Node", object, "key:L value:L next:L");
        uint64_t      *table = calloc(counts[k], sizeof *table), *names = calloc(counts[k], sizeof *names);
        for (unsigned of = 0; of < 2; of++) { /* told are keys of two maps */
            for (unsigned i = 0; i < counts[k]; i++) {
                char text[32];
                (void)snprintf(text, sizeof text, "key %u", i);
                names[i] = of == 0 ? dump_maker_string(m, string, text) : names[i];
                table[i] = dump_maker_instance(m, node, DUMP_VALUES(names[i], 0, 0));
            }
            const uint64_t array = dump_maker_array(m, objects, table, counts[k]);
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, map, DUMP_VALUES(array, counts[k])), 0,
                            0);
        }
        free(names);
        heap       h;
        hdx_buffer b = hdx_buffer_of(NULL);
        unsigned   rows = 0;
        heap_open(&h, m);
        (void)answers_text(&h, "live map-keys max-size=9999", &b);
        for (const char *at = b.at; (at = strstr(at, "key ")) != NULL; at++)
            rows++;
        cr_expect(eq(uint, rows, counts[k]), "%.300s", b.at);
        hdx_buffer_free(&b);
        heap_close(&h);
        free(table);
    }
}
