/* test_long_paths.c - paths through lists so long that their documents leave out the middle. */
#include "support/questions.h"
#include "heap.h"

enum { ENDS = 1000, WHOLE = 1 << 18 };

/* app.Top.head -> node -> node ...: step i of a path is node i - 1. */
static hdx_addr *list_heap(heap *h, uint32_t length)
{
    dump_maker *m = dump_maker_new(8);
    hdx_addr   *nodes = calloc(length, sizeof *nodes), next = 0;
    uint64_t    object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    uint64_t node = dump_maker_class(m, "app/Node", object, "next:L");
    for (uint32_t i = length; i-- > 0; next = nodes[i])
        nodes[i] = dump_maker_instance(m, node, &next);
    dump_maker_static(m, "head", 'L', next);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_class(m, "app/Top", object, ""), 0, 0);
    heap_open(h, m);
    return nodes;
}

static hdx_addr step_address(const hdx_cell *steps, uint64_t i)
{
    return steps->as.list.at[i].as.object.at[0].value.as.address;
}

/* Of a path of `count` steps to the last of the nodes: all of them, or both ends and how many are missing. */
static void expect_document(const hdx_cell *path, const hdx_addr *nodes, uint64_t count, bool whole)
{
    const hdx_member *m = path->as.object.at;
    const uint64_t    shown = whole ? count : 2 * ENDS;
    cr_assert(eq(u64, path->as.object.count, whole ? 5 : 6));
    cr_expect(eq(u64, m[0].value.as.address, nodes[count - 2]));
    cr_expect(eq(u64, m[2].value.as.natural, count - 1));
    cr_assert(eq(u64, m[4].value.as.list.count, shown));
    if (!whole) {
        cr_expect(strcmp(m[5].key, "steps_cut") == 0);
        cr_expect(eq(u64, m[5].value.as.natural, count - 2 * ENDS));
    }
    for (uint64_t i = 1; i < shown; i++) {
        const uint64_t place = whole || i < ENDS ? i : count - shown + i;
        cr_assert(step_address(&m[4].value, i) == nodes[place - 1], "step %llu of %llu", (unsigned long long)i,
                  (unsigned long long)count);
    }
}

Test(long_paths, show_both_ends_and_say_how_many_steps_are_cut)
{
    heap            h;
    hdx_rows       *rows;
    const hdx_cell *row;
    hdx_addr       *nodes = list_heap(&h, WHOLE + 10);
    const hdx_id    ids[] = { id_at(&h, nodes[WHOLE - 1]), id_at(&h, nodes[WHOLE - 2]), id_at(&h, nodes[10]) };
    ok(hdx_query_path(&h.q, ids, 3, NULL, &rows, &h.err)); /* of WHOLE + 1 steps, of WHOLE, of 12 */
    const hdx_cell *paths = extra(rows, "paths");
    cr_assert(eq(u64, paths->as.list.count, 3));
    expect_document(&paths->as.list.at[0], nodes, WHOLE + 1, false);
    expect_document(&paths->as.list.at[1], nodes, WHOLE, true);
    expect_document(&paths->as.list.at[2], nodes, 12, true);
    for (uint64_t i = 0; i < 2 * ENDS; i++) {
        cr_assert(hdx_rows_next(rows, &row));
        cr_assert(row[0].as.natural == 1 && row[1].as.natural == (i < ENDS ? i : WHOLE + 1 - 2 * ENDS + i),
                  "row %llu: step %llu", (unsigned long long)i, (unsigned long long)row[1].as.natural);
        cr_assert(i == 0 || row[2].as.address == nodes[row[1].as.natural - 1]);
        cr_assert(eq(int, row[5].kind, i + 1 == 2 * ENDS ? HDX_CELL_NULL : HDX_CELL_TEXT));
    }
    cr_expect(hdx_rows_next(rows, &row) && row[0].as.natural == 2 && row[1].as.natural == 0);
    hdx_rows_close(rows);
    heap_close(&h);
    free(nodes);
}

/* Once a million steps are written, what is longer than both ends is cut. */
Test(long_paths, are_cut_sooner_when_there_are_many)
{
    heap      h;
    hdx_rows *rows;
    hdx_addr *nodes = list_heap(&h, WHOLE);
    hdx_id    ids[6];
    for (unsigned i = 0; i < 4; i++)
        ids[i] = id_at(&h, nodes[WHOLE - 2]); /* WHOLE steps: four of them are a million */
    ids[4] = id_at(&h, nodes[2 * ENDS - 1]);
    ids[5] = id_at(&h, nodes[2 * ENDS - 2]);
    ok(hdx_query_path(&h.q, ids, 6, NULL, &rows, &h.err));
    const hdx_cell *paths = extra(rows, "paths");
    cr_assert(eq(u64, paths->as.list.count, 6));
    expect_document(&paths->as.list.at[3], nodes, WHOLE, true);
    expect_document(&paths->as.list.at[4], nodes, 2 * ENDS + 1, false);
    expect_document(&paths->as.list.at[5], nodes, 2 * ENDS, true);
    hdx_rows_close(rows);
    heap_close(&h);
    free(nodes);
}
