/* test_objects.c - objects, classes, cursors and columns of a small index written by hand. */
#include "graph/little_index.h"

#include "graph/graph.h"

/*
 *   root: holder -> a -> b -> c      a -> c     garbage -> c     thread (root) has the local x -> y
 */
typedef struct shapes {
    little  *l;
    uint64_t node, thread_class, holder, a, b, c, garbage, thread, x, y, array, bytes;
} shapes;

static shapes make(void)
{
    shapes  s = { .l = little_new() };
    little *l = s.l;
    s.node = little_class(l, "app.Node", l->object, "left:L right:L count:I");
    s.thread_class = little_class(l, "java.lang.Thread", l->object, "name:L");
    s.c = little_instance(l, s.node, DUMP_VALUES(0, 0, 3));
    s.b = little_instance(l, s.node, DUMP_VALUES(s.c, 0, 2));
    s.a = little_instance(l, s.node, DUMP_VALUES(s.b, s.c, 1));
    s.bytes = little_text(l, 'B', "twelve bytes");
    s.array = little_array(l, l->objects, DUMP_VALUES(s.bytes, 0, s.bytes, 0xdead0), 4);
    s.holder = little_instance(l, s.node, DUMP_VALUES(s.a, s.array, 0));
    s.garbage = little_instance(l, s.node, DUMP_VALUES(s.c, 0xbad0, 9));
    s.y = little_instance(l, s.node, DUMP_VALUES(0, 0, 0));
    s.x = little_instance(l, s.node, DUMP_VALUES(s.y, 0, 0));
    s.thread = little_instance(l, s.thread_class, DUMP_VALUES(0));
    little_root(l, HDX_ROOT_SYSTEM_CLASS, l->object, 0);
    little_root(l, HDX_ROOT_NATIVE_STATIC, s.holder, 0);
    little_root(l, HDX_ROOT_THREAD_OBJ, s.thread, 0);
    little_root(l, HDX_ROOT_JAVA_LOCAL, s.x, s.thread);
    little_root(l, HDX_ROOT_NATIVE_LOCAL, s.x, s.thread);
    little_open(l);
    return s;
}

/* The addresses a cursor gives, as text. */
static const char *all(little *l, hdx_refs *refs, char *text, size_t room)
{
    hdx_id id;
    size_t n = 0;
    text[0] = '\0';
    while (hdx_refs_next(refs, &id) && n + 32 < room)
        n += (size_t)snprintf(text + n, room - n, "%s%llx", n == 0 ? "" : " ",
                              (unsigned long long)hdx_graph_address(l->g, id));
    return text;
}

static const char *list(uint64_t const *addresses, unsigned count, char *text, size_t room)
{
    size_t n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%llx", n == 0 ? "" : " ", (unsigned long long)addresses[i]);
    return text;
}

#define SAME(refs, ...)                                                                                                \
    do {                                                                                                               \
        char           got_[2048], want_[2048];                                                                        \
        const uint64_t addresses_[] = { __VA_ARGS__ };                                                                 \
        cr_expect(eq(str, (char *)all(s.l, (refs), got_, sizeof got_),                                                 \
                     (char *)list(addresses_, sizeof addresses_ / sizeof *addresses_, want_, sizeof want_)));          \
    } while (0)

Test(objects, are_found_by_address_and_back)
{
    shapes s = make();
    hdx_id id;
    for (unsigned i = 0; i < s.l->count; i++) {
        cr_expect(hdx_graph_find(s.l->g, s.l->at[i].addr, &id));
        cr_expect(eq(u64, id, i));
        cr_expect(eq(u64, hdx_graph_address(s.l->g, i), s.l->at[i].addr));
        cr_expect(eq(int, hdx_graph_kind(s.l->g, i), s.l->at[i].kind));
        cr_expect(eq(u64, hdx_graph_length(s.l->g, i), s.l->at[i].length));
    }
    cr_expect(not(hdx_graph_find(s.l->g, 0xbad0, &id)));
    little_close(s.l);
}

Test(objects, have_the_harmless_values_out_of_range)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_pos  pos;
    for (unsigned i = 0; i < 3; i++) {
        hdx_id id = i == 0 ? hdx_graph_objects(s.l->g) : i == 1 ? HDX_NO_ID : HDX_VIRTUAL_ROOT;
        cr_expect(eq(u64, hdx_graph_address(s.l->g, id), 0));
        cr_expect(eq(u32, hdx_graph_class_of(s.l->g, id), HDX_NO_CLASS));
        cr_expect(eq(u64, hdx_graph_shallow(s.l->g, id), 0));
        cr_expect(eq(u64, hdx_graph_retained(s.l->g, id), 0));
        cr_expect(eq(u64, hdx_graph_dominator(s.l->g, id), HDX_NO_ID));
        cr_expect(eq(u64, hdx_graph_nearest(s.l->g, id), HDX_NO_ID));
        cr_expect(not(hdx_graph_live(s.l->g, id)));
        cr_expect(not(hdx_graph_position(s.l->g, id, &pos)));
        cr_expect(eq(int, hdx_graph_heap(s.l->g, id), -1));
        hdx_graph_outbound(s.l->g, id, HDX_ALL, &refs);
        SAME(&refs);
        hdx_graph_inbound(s.l->g, id, HDX_LIVE, &refs);
        SAME(&refs);
    }
    cr_expect(eq(ptr, (void *)hdx_graph_class(s.l->g, 9999), NULL));
    cr_expect(not(hdx_class_extends(s.l->g, HDX_NO_CLASS, HDX_NO_CLASS)));
    little_close(s.l);
}

Test(objects, have_sizes_by_mats_rules)
{
    shapes s = make();
    cr_expect(eq(u64, hdx_graph_shallow(s.l->g, little_find(s.l, s.a)), 24));     /* 12 + 4 + 4 + 4 */
    cr_expect(eq(u64, hdx_graph_shallow(s.l->g, little_find(s.l, s.array)), 32)); /* 16 + 4 * 4 */
    cr_expect(eq(u64, hdx_graph_shallow(s.l->g, little_find(s.l, s.bytes)), 32)); /* 16 + 12 = 28 */
    cr_expect(eq(u64, hdx_graph_shallow(s.l->g, little_find(s.l, s.node)), 0));   /* a class without statics */
    cr_expect(eq(u64, hdx_graph_shallow(s.l->g, 0), 16));                         /* the boot loader: 12 + parent */
    little_close(s.l);
}

Test(refs, give_the_class_first)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_graph_outbound(s.l->g, little_find(s.l, s.a), HDX_LIVE, &refs);
    SAME(&refs, s.node, s.c, s.b);
    cr_expect(eq(u64, hdx_graph_outbound_count(s.l->g, little_find(s.l, s.a), HDX_LIVE), 3));
    hdx_graph_outbound(s.l->g, little_find(s.l, s.array), HDX_ALL,
                       &refs); /* twice the same element, one that leads nowhere */
    SAME(&refs, s.l->objects, s.bytes);
    hdx_graph_outbound(s.l->g, little_find(s.l, s.thread), HDX_ALL, &refs); /* locals of a thread are its references */
    SAME(&refs, s.thread_class, s.x);
    little_close(s.l);
}

Test(refs, keep_to_their_scope)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_id   c = little_find(s.l, s.c);
    hdx_graph_inbound(s.l->g, c, HDX_ALL, &refs);
    SAME(&refs, s.b, s.a, s.garbage);
    hdx_graph_inbound(s.l->g, c, HDX_LIVE, &refs);
    SAME(&refs, s.b, s.a);
    hdx_graph_inbound(s.l->g, c, HDX_GARBAGE, &refs);
    SAME(&refs, s.garbage);
    cr_expect(eq(u64, hdx_graph_inbound_count(s.l->g, c, HDX_ALL), 3));
    cr_expect(eq(u64, hdx_graph_inbound_count(s.l->g, c, HDX_LIVE), 2));
    cr_expect(eq(u64, hdx_graph_inbound_count(s.l->g, c, HDX_GARBAGE), 1));
    hdx_graph_outbound(s.l->g, little_find(s.l, s.garbage), HDX_GARBAGE, &refs);
    SAME(&refs);
    little_close(s.l);
}

Test(refs, of_a_class_object_begin_with_its_instances)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_id   node = little_find(s.l, s.node);
    hdx_graph_inbound(s.l->g, node, HDX_ALL, &refs);
    SAME(&refs, s.c, s.b, s.a, s.holder, s.garbage, s.y, s.x);
    hdx_graph_inbound(s.l->g, node, HDX_LIVE, &refs);
    SAME(&refs, s.c, s.b, s.a, s.holder, s.y, s.x);
    cr_expect(eq(u64, hdx_graph_inbound_count(s.l->g, node, HDX_LIVE), 6));
    cr_expect(eq(u64, hdx_graph_inbound_count(s.l->g, node, HDX_ALL), 7));
    hdx_graph_instances(s.l->g, hdx_graph_class_of(s.l->g, little_find(s.l, s.a)), HDX_GARBAGE, &refs);
    SAME(&refs, s.garbage);
    hdx_graph_instances(s.l->g, hdx_graph_class_of(s.l->g, node), HDX_ALL,
                        &refs); /* class objects are what java.lang.Class has */
    SAME(&refs, s.l->object, s.l->class, s.l->loader, s.l->bytes, s.l->chars, s.l->ints, s.l->objects, s.node,
         s.thread_class);
    little_close(s.l);
}

Test(objects, know_what_keeps_them)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_id   a = little_find(s.l, s.a), b = little_find(s.l, s.b), c = little_find(s.l, s.c),
           holder = little_find(s.l, s.holder);
    cr_expect(eq(u64, hdx_graph_dominator(s.l->g, holder), HDX_VIRTUAL_ROOT));
    cr_expect(eq(u64, hdx_graph_dominator(s.l->g, a), holder));
    cr_expect(eq(u64, hdx_graph_dominator(s.l->g, b), a));
    cr_expect(eq(u64, hdx_graph_dominator(s.l->g, c), a));
    cr_expect(eq(u64, hdx_graph_nearest(s.l->g, holder), holder));
    cr_expect(eq(u64, hdx_graph_nearest(s.l->g, c), a));
    cr_expect(eq(u64, hdx_graph_nearest(s.l->g, little_find(s.l, s.x)), little_find(s.l, s.thread)));
    cr_expect(eq(u64, hdx_graph_retained(s.l->g, a), 72));
    cr_expect(eq(u64, hdx_graph_retained(s.l->g, little_find(s.l, s.thread)), 16 + 24 + 24));
    cr_expect(eq(u64, hdx_graph_dominator(s.l->g, little_find(s.l, s.garbage)), HDX_NO_ID));
    cr_expect(eq(u64, hdx_graph_retained(s.l->g, little_find(s.l, s.garbage)), 0));
    hdx_graph_dominated(s.l->g, a, &refs);
    SAME(&refs, s.c, s.b);
    hdx_graph_dominated(s.l->g, c, &refs);
    SAME(&refs);
    little_close(s.l);
}

Test(objects, the_children_of_all_are_all_live_objects)
{
    shapes   s = make();
    hdx_refs refs;
    hdx_id   id;
    uint64_t n = 0, bytes = 0;
    for (uint64_t above = 0; above <= s.l->count; above++) {
        hdx_id parent = above == s.l->count ? HDX_VIRTUAL_ROOT : above;
        for (hdx_graph_dominated(s.l->g, parent, &refs); hdx_refs_next(&refs, &id); n++) {
            cr_expect(eq(u64, hdx_graph_dominator(s.l->g, id), parent));
            bytes += parent == HDX_VIRTUAL_ROOT ? hdx_graph_retained(s.l->g, id) : 0;
        }
    }
    cr_expect(eq(u64, n, hdx_graph_summary_of(s.l->g)->live_objects));
    cr_expect(eq(u64, bytes, hdx_graph_summary_of(s.l->g)->live_bytes));
    little_close(s.l);
}

Test(classes, are_found_by_name_object_and_number)
{
    shapes           s = make();
    const hdx_class *node = hdx_graph_class_named(s.l->g, "app.Node"),
                    *object = hdx_graph_class_named(s.l->g, "java.lang.Object");
    uint32_t count;
    cr_assert(node != NULL && object != NULL);
    cr_expect(eq(u64, node->address, s.node));
    cr_expect(hdx_graph_class_object(s.l->g, little_find(s.l, s.node)) == node);
    cr_expect(hdx_graph_class_object(s.l->g, little_find(s.l, s.a)) == NULL);
    cr_expect(hdx_graph_classes(s.l->g, &count) + node->number == node);
    cr_expect(eq(u32, count, 9));
    cr_expect(hdx_graph_class_named(s.l->g, "app.Nod") == NULL);
    cr_expect(hdx_graph_class_named(s.l->g, "app.Nodes") == NULL);
    cr_expect(hdx_graph_class_named(s.l->g, "") == NULL);
    cr_expect(hdx_class_extends(s.l->g, node->number, object->number));
    cr_expect(hdx_class_extends(s.l->g, node->number, node->number));
    cr_expect(not(hdx_class_extends(s.l->g, object->number, node->number)));
    little_close(s.l);
}

Test(columns, say_what_getters_say)
{
    enum { MOST = LITTLE_MAX + 8 };
    shapes     s = make();
    hdx_graph *g = s.l->g;
    uint64_t   objects = s.l->count;
    hdx_addr   addresses[MOST];
    uint32_t   classes[MOST];
    uint8_t    kinds[MOST];
    uint64_t   shallow[MOST], retained[MOST], lengths[MOST], positions[MOST], dominators[MOST], nearest[MOST],
        live[MOST / 64 + 1];
    int32_t heaps[MOST];
    for (uint64_t first = 0; first < objects + 3; first += 5) {
        hdx_graph_read_addresses(g, first, 9, addresses);
        hdx_graph_read_classes(g, first, 9, classes);
        hdx_graph_read_kinds(g, first, 9, kinds);
        hdx_graph_read_shallow(g, first, 9, shallow);
        hdx_graph_read_retained(g, first, 9, retained);
        hdx_graph_read_lengths(g, first, 9, lengths);
        hdx_graph_read_positions(g, first, 9, positions);
        hdx_graph_read_dominators(g, first, 9, dominators);
        hdx_graph_read_nearest(g, first, 9, nearest);
        hdx_graph_read_heaps(g, first, 9, heaps);
        hdx_graph_read_live(g, first, 9, live);
        for (hdx_refs_scope scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
            uint64_t outbound[9], inbound[9];
            hdx_graph_read_counts(g, scope, first, 9, outbound, inbound);
            for (uint64_t i = 0; i < 9; i++) {
                cr_expect(eq(u64, outbound[i], hdx_graph_outbound_count(g, first + i, scope)));
                cr_expect(eq(u64, inbound[i], hdx_graph_inbound_count(g, first + i, scope)));
            }
        }
        for (uint64_t i = 0; i < 9; i++) {
            hdx_id  id = first + i;
            hdx_pos pos;
            cr_expect(eq(u64, addresses[i], hdx_graph_address(g, id)));
            cr_expect(eq(u32, classes[i], hdx_graph_class_of(g, id)));
            cr_expect(eq(u8, kinds[i], (uint8_t)hdx_graph_kind(g, id)));
            cr_expect(eq(u64, shallow[i], hdx_graph_shallow(g, id)));
            cr_expect(eq(u64, retained[i], hdx_graph_retained(g, id)));
            cr_expect(eq(u64, lengths[i], hdx_graph_length(g, id)));
            cr_expect(eq(u64, positions[i], hdx_graph_position(g, id, &pos) ? pos + 1 : 0));
            cr_expect(eq(u64, dominators[i], hdx_graph_dominator(g, id)));
            cr_expect(eq(u64, nearest[i], hdx_graph_nearest(g, id)));
            cr_expect(eq(int, heaps[i], -1));
            cr_expect(eq(int, hdx_bits_test(live, i), hdx_graph_live(g, id)));
        }
    }
    little_close(s.l);
}

/* Every question of every object, whatever was read ahead: also ids that are none. */
Test(graph, reading_ahead_changes_no_answer)
{
    enum { ANSWERS = 9 };
    shapes     s = make();
    hdx_graph *g = s.l->g;
    uint64_t   before[LITTLE_MAX][ANSWERS], objects = s.l->count;
    hdx_id    *ids = malloc((objects + 3) * sizeof *ids); /* no longer than that: nothing after them may be read */
    hdx_error  err;
    for (uint64_t i = 0; i < objects; i++)
        ids[i] = (i * 7 + 3) % objects;
    ids[objects] = objects;
    ids[objects + 1] = HDX_VIRTUAL_ROOT;
    ids[objects + 2] = HDX_NO_ID;
    for (unsigned what = 0; what <= 256; what++) {
        for (uint64_t i = 0; i < objects + 4; i++) /* and one place beyond the last */
            if (what == 256)
                hdx_graph_ahead_find(g, ids, objects + 3, i);
            else
                hdx_graph_ahead(g, what, ids, objects + 3, i);
        for (uint64_t i = 0; i < objects; i++) {
            hdx_pos pos = 0;
            hdx_id  found = HDX_NO_ID;
            (void)hdx_graph_position(g, i, &pos);
            (void)hdx_graph_find(g, hdx_graph_address(g, i), &found);
            uint64_t now[ANSWERS] = { hdx_graph_address(g, i),
                                      hdx_graph_class_of(g, i),
                                      hdx_graph_length(g, i),
                                      pos,
                                      hdx_graph_retained(g, i),
                                      hdx_graph_dominator(g, i),
                                      found,
                                      hdx_graph_outbound_count(g, i, HDX_LIVE),
                                      hdx_graph_inbound_count(g, i, HDX_ALL) };
            if (what == 0)
                memcpy(before[i], now, sizeof now);
            cr_assert(memcmp(before[i], now, sizeof now) == 0, "object %llu after reading ahead %u",
                      (unsigned long long)i, what);
        }
    }
    cr_expect(eq(int, hdx_graph_check(g, &err), HDX_OK));
    free(ids);
    little_close(s.l);
}

Test(graph, says_what_the_manifest_says)
{
    shapes                   s = make();
    const hdx_graph_summary *sum = hdx_graph_summary_of(s.l->g);
    const char              *name;
    uint64_t                 bytes, files = 0;
    cr_expect(eq(str, (char *)sum->version, "1.0.2"));
    cr_expect(eq(u64, sum->objects, s.l->count));
    cr_expect(eq(u64, sum->unreachable_objects, 3)); /* and the classes char[] and int[], which have no instance */
    cr_expect(eq(u64, sum->gc_roots, 3));
    cr_expect(sum->complete);
    for (unsigned i = 0; hdx_graph_file(s.l->g, i, &name, &bytes); i++, files++)
        cr_expect(bytes > 0, "%s", name);
    cr_expect(eq(u64, files, HDX_KINDS - HDX_CUT_KINDS - 1)); /* all but `heap` and `seek`, and the catalog */
    cr_expect(not(hdx_graph_step(s.l->g, 0, &name, &bytes, &bytes, &bytes)));
    cr_expect(eq(str, (char *)hdx_graph_record_name(false, 0x21), "INSTANCE_DUMP"));
    little_close(s.l);
}

Test(graph, is_not_found_where_no_index_is)
{
    hdx_graph *g;
    hdx_error  err;
    cr_expect(eq(int, hdx_graph_open("/nonexistent/a.hdx", NULL, &g, &err), HDX_NOT_FOUND));
    cr_expect(g == NULL);
    hdx_graph_close(NULL);
}
