/*
 * test_work.c - what questions cost, counted in how often they ask whether to stop: once for so and so many objects
 * they look at.
 */
#include "support/questions.h"
#include "heap.h"

/* app.Top.head -> node -> node ... `length` of them; the last are deepest. */
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

static bool count_asked(void *context)
{
    ++*(uint64_t *)context;
    return false;
}

static uint64_t asked_for_paths(uint32_t length, unsigned targets, hdx_path_options options)
{
    heap         h;
    hdx_id       ids[8];
    hdx_rows    *rows;
    uint64_t     asked = 0;
    hdx_progress progress = { .context = &asked, .cancelled = count_asked };
    hdx_addr    *nodes = list_heap(&h, length);
    for (unsigned i = 0; i < targets; i++)
        ids[i] = id_at(&h, nodes[length - 1 - i]);
    h.q.progress = &progress;
    ok(hdx_query_path(&h.q, ids, targets, &options, &rows, &h.err));
    const hdx_cell *documents = extra(rows, "paths");
    cr_assert(eq(u64, documents->as.list.count, targets));
    for (unsigned i = 0; i < targets; i++) /* every document is whole, however much of it was said before */
        cr_expect(eq(u64, documents->as.list.at[i].as.object.at[4].value.as.list.count, length + 1 - i));
    hdx_rows_close(rows);
    heap_close(&h);
    free(nodes);
    return asked;
}

Test(work, paths_of_objects_deep_in_a_list_share_what_is_said_of_their_steps)
{
    const hdx_path_options each[] = { { .paths = 1 }, { .paths = 3 }, { .paths = 1, .merge = true } };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const uint64_t one = asked_for_paths(4000, 1, each[i]), eight = asked_for_paths(4000, 8, each[i]),
                       longer = asked_for_paths(16000, 8, each[i]);
        cr_expect(lt(u64, eight, 6 * one), "%zu: %llu for one, %llu for eight", i, (unsigned long long)one,
                  (unsigned long long)eight);
        cr_expect(lt(u64, longer, 5 * eight), "%zu: %llu, %llu for a list four times as long", i,
                  (unsigned long long)eight, (unsigned long long)longer);
    }
}
