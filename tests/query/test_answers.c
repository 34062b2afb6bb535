/*
 * test_answers.c - answers that stand in files to be read: about suspects of every kind (trouble.h), and about a heap
 * with one of everything (sample_heap.h) the same while something is refused.
 */
#include "support/questions.h"
#include "answers.h"
#include "support/checksums.h"
#include "sample_heap.h"
#include "trouble.h"

static const char *const suspects[] = { "live suspects threshold=3",
                                        "rows suspects threshold=3 drop=100 share=1",
                                        "rows suspects threshold=3 drop=1 share=100",
                                        "live suspects threshold=100",
                                        "live table:suspects",
                                        NULL };

Test(trouble, is_told_in_words)
{
    heap h;
    trouble_make(&h);
    answers_expect(&h, "trouble.txt", suspects);
    heap_close(&h);
}

Test(trouble, is_told_as_a_whole_or_not_at_all)
{
    heap h;
    trouble_make(&h);
    cr_expect(gt(u32, answers_refused(&h, suspects), 300));
    heap_close(&h);
}

/* What is noticed beside an answer, and what asked.txt does not ask. */
static const char *const beside[] = {
    "live path object=#40 exclude-field=app.list.Node#nxt",
    "live path object=#40 exclude-field=app.list.Node#next",
    "live path object=#40 exclude-field=app.list.Leaf#next",
    "live path object=#40 exclude-field=app.list.Leaf#weight",
    "live path object=#40 exclude-field=app.list.*#nex?",
    "live path object=#40 exclude-field=app.list.*#nix*",
    "live path object=#40 exclude-field=app.list.Node#<class>",
    "live path object=#40 exclude-field=app.list.Node#[0]",
    "live path object=#40 exclude-field=app.list.Node#only",
    "live path object=#40 exclude-field=app.Twin#only",
    "live path object=#40 exclude-field=app.Twn#only",
    "live path object=#40 exclude-field=app.list.Node#",
    "live path object=#40 exclude-field=#next",
    "live path object=#40 exclude-field=next",
    "live path object=#40 exclude=weak,soft,phantom,finalizer",
    "live path class=java.lang.String merge exclude=weak",
    "live path class=java.lang.String merge limit=3",
    "live path class=java.lang.String paths=3 limit=4",
    "live refs object=#60 object=#61",
    "live strings by=value",
    "all duplicates holders",
    "live arrays",
    "live histogram by=heap",
    "live table:loaders",
    "live table:threads",
    NULL,
};

Test(sample_heap, is_told_with_what_is_noticed)
{
    heap h;
    sample_heap_make(&h);
    answers_expect(&h, "sample_heap.txt", beside);
    heap_close(&h);
}

Test(sample_heap, takes_sixty_four_excluded_fields)
{
    heap        h;
    hdx_rows   *rows;
    const char *fields[65];
    sample_heap_make(&h);
    for (unsigned i = 0; i < 65; i++)
        fields[i] = "app.list.Node#next";
    hdx_path_options options = { .exclude_fields = fields, .exclude_field_count = 64 };
    const hdx_id     id = 5;
    ok(hdx_query_path(&h.q, &id, 1, &options, &rows, &h.err));
    hdx_rows_close(rows);
    options.exclude_field_count = 65;
    cr_expect(eq(int, hdx_query_path(&h.q, &id, 1, &options, &rows, &h.err), HDX_USAGE));
    cr_expect(eq(str, h.err.message, (char *)"more than 64 excluded fields"));
    heap_close(&h);
}

/* Objects of one class and about one size: one to five of them, and sizes a tenth apart and a little more. */
static void alike(heap *h)
{
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance_at(m, 0x9008, object, NULL), 0, 0);
    for (unsigned n = 1; n <= 5; n++) {
        char name[16];
        (void)snprintf(name, sizeof name, "app.Of%u", n);
        const uint64_t of = dump_maker_class(m, name, object, "has:L");
        for (unsigned i = 0; i < n; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                            dump_maker_instance(m, of, DUMP_VALUES(dump_maker_primitives(m, 'B', NULL, 100 * n))), 0,
                            0);
    }
    /* what these retain is 48 more: of 4000 three others are a tenth less; of the second class one is a little less */
    static const uint32_t sizes[2][4] = { { 3552, 3952, 3552, 3552 }, { 3552, 3952, 3544, 3552 } };
    for (unsigned c = 0; c < 2; c++) {
        const uint64_t of = dump_maker_class(m, c == 0 ? "app.Tenth" : "app.Less", object, "has:L");
        for (unsigned i = 0; i < 4; i++)
            dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL,
                            dump_maker_instance(m, of, DUMP_VALUES(dump_maker_primitives(m, 'B', NULL, sizes[c][i]))),
                            0, 0);
    }
    heap_open(h, m);
}

Test(alike, share_a_row_from_three_others_on)
{
    static const char *const asks[] = { "live dominators fold=similar", "live dominators fold=none",
                                        "live dominators fold=similar depth=2", "live dominators fold=similar by=class",
                                        NULL };
    heap                     h;
    alike(&h);
    answers_expect(&h, "alike.txt", asks);
    cr_expect(gt(u32, answers_refused(&h, asks), 50));
    heap_close(&h);
}

/* All asks of asked.txt that are about the heap itself. */
static void refuse_asked(heap *h)
{
    char        line[CHECKSUMS_LINE];
    const char *one;
    unsigned    refused = 0;
    FILE       *file = fopen(HDX_TREE "/tests/query/asked.txt", "r");
    cr_assert(file != NULL);
    while ((one = checksums_next_ask(file, line)) != NULL)
        refused += answers_refused(h, (const char *const[]){ one, NULL });
    cr_expect(gt(u32, refused, 20000), "%u", refused);
    (void)fclose(file);
}

Test(sample_heap, is_told_as_a_whole_or_not_at_all)
{
    heap h;
    sample_heap_make(&h);
    refuse_asked(&h);
    heap_close(&h);
}
