/*
 * test_runs.c - columns of runs longer than the pieces they are read in: each value is that of the getter, and what the
 * dump says. Of two Android heaps, with arrays whose class is no class of arrays, and garbage.
 */
#include "base/base.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include "graph/graph.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1300 };

typedef struct runs {
    char       folder[TEST_FOLDER];
    hdx_graph *g;
    uint64_t   address[N];
    uint64_t   node, odd;
} runs;

/* Object i: of ten one a byte[] of i bytes, one an array of i / 10 elements, one the same of a plain class. */
static runs make(void)
{
    runs             r = { .g = NULL };
    char             dump[80], index[80];
    dump_maker      *m = dump_maker_new(8);
    hdx_index_report report;
    hdx_error        err;
    uint64_t         refs[N] = { 0 };
    m->version = "1.0.3";
    m->next_id = 0x1000;
    dump_maker_heap_info(m, 'Z', "zygote");
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "name:L");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "parent:L");
    (void)dump_maker_class(m, "byte[]", object, "");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    r.node = dump_maker_class(m, "app.Node", object, "next:L other:L count:I");
    r.odd = dump_maker_class(m, "app.Odd", object, "it:L");
    for (unsigned i = 0; i < N; i++) {
        const uint64_t last = i == 0 ? object : r.address[i - 1];
        if (i == N / 2)
            dump_maker_heap_info(m, 'A', "app");
        refs[0] = last;
        refs[1] = i > 20 ? r.address[i - 17] : 0;
        if (i % 10 == 3)
            r.address[i] = dump_maker_primitives(m, 'B', NULL, i);
        else if (i % 10 == 5 || i % 10 == 7)
            r.address[i] = dump_maker_array(m, i % 10 == 5 ? objects : r.odd, refs, 1 + i / 10);
        else
            r.address[i] = dump_maker_instance(m, r.node, DUMP_VALUES(last, refs[1], i));
    }
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, r.address[N - 100], 0, 0); /* the last hundred are garbage */
    test_folder_make(r.folder, "runs");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", r.folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", r.folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &r.g, &err) == HDX_OK, "%s", err.message);
    return r;
}
static void end(runs *r)
{
    hdx_error err;
    cr_expect(hdx_graph_check(r->g, &err) == HDX_OK, "%s", err.message);
    hdx_graph_close(r->g);
    test_folder_remove(r->folder);
}

Test(runs, say_what_getters_say_however_long_they_are)
{
    enum { MOST = N + 200 };
    runs            r = make();
    hdx_graph      *g = r.g;
    static hdx_addr addresses[MOST], found_at[MOST];
    static uint32_t classes[MOST];
    static uint8_t  kinds[MOST];
    static int32_t  heaps[MOST];
    static uint64_t shallow[MOST], retained[MOST], lengths[MOST], positions[MOST], dominators[MOST], nearest[MOST],
        live[MOST / 64 + 1], outbound[3][MOST], inbound[3][MOST], ids[MOST];
    const uint64_t        objects = hdx_graph_objects(g);
    static const uint64_t firsts[] = { 0, 1, 5, 100, 511, 512, 513, 1200 };
    cr_assert(objects > N && objects + 40 < MOST);
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
        const uint64_t first = firsts[f];
        const uint32_t n = (uint32_t)(objects - first + 30); /* and some behind the last */
        hdx_graph_read_addresses(g, first, n, addresses);
        hdx_graph_read_classes(g, first, n, classes);
        hdx_graph_read_kinds(g, first, n, kinds);
        hdx_graph_read_shallow(g, first, n, shallow);
        hdx_graph_read_retained(g, first, n, retained);
        hdx_graph_read_lengths(g, first, n, lengths);
        hdx_graph_read_positions(g, first, n, positions);
        hdx_graph_read_dominators(g, first, n, dominators);
        hdx_graph_read_nearest(g, first, n, nearest);
        hdx_graph_read_heaps(g, first, n, heaps);
        hdx_graph_read_live(g, first, n, live);
        for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++)
            hdx_graph_read_counts(g, (hdx_refs_scope)scope, first, n, outbound[scope], inbound[scope]);
        for (uint32_t i = 0; i < n; i++)
            found_at[i] = i % 3 == 0 ? addresses[i] + 1 : addresses[i];
        hdx_graph_find_many(g, found_at, n, ids);
        for (uint32_t i = 0; i < n; i++) {
            const hdx_id id = first + i;
            hdx_pos      pos;
            cr_assert(addresses[i] == hdx_graph_address(g, id) && classes[i] == hdx_graph_class_of(g, id), "object %u",
                      i);
            cr_assert(kinds[i] == (uint8_t)hdx_graph_kind(g, id) && shallow[i] == hdx_graph_shallow(g, id));
            cr_assert(retained[i] == hdx_graph_retained(g, id) && lengths[i] == hdx_graph_length(g, id));
            cr_assert(positions[i] == (hdx_graph_position(g, id, &pos) ? pos + 1 : 0));
            cr_assert(dominators[i] == hdx_graph_dominator(g, id) && nearest[i] == hdx_graph_nearest(g, id));
            cr_assert(heaps[i] == hdx_graph_heap(g, id));
            cr_assert(hdx_bits_test(live, i) == hdx_graph_live(g, id));
            for (int scope = HDX_LIVE; scope <= HDX_GARBAGE; scope++) {
                cr_assert(outbound[scope][i] == hdx_graph_outbound_count(g, id, (hdx_refs_scope)scope));
                cr_assert(inbound[scope][i] == hdx_graph_inbound_count(g, id, (hdx_refs_scope)scope));
            }
            cr_assert(ids[i] == (id >= objects ? 0
                                 : i % 3 == 0  ? HDX_NO_ID
                                               : id) ||
                          (id >= objects && i % 3 == 0),
                      "object %u", i);
        }
    }
    end(&r);
}

/* Lists of several objects together, as far as there is room; the class that cursors begin with is not among them. */
Test(runs, of_outbound_lists_are_those_of_cursors)
{
    runs            r = make();
    const uint64_t  objects = hdx_graph_objects(r.g);
    static uint64_t lengths[2 * N], out[2 * N];
    for (uint64_t room = 0; room < 40; room = room < 4 ? room + 1 : room * 3) {
        uint64_t too_long = 0;
        for (hdx_id id = 0; id < objects;) {
            const uint32_t n = hdx_graph_read_outbound(r.g, id, (uint32_t)(objects + 9 - id), lengths, out, room);
            cr_assert(n <= objects - id);
            uint64_t at = 0;
            for (uint32_t i = 0; i < n; i++, id++) {
                hdx_refs refs;
                hdx_id   to;
                hdx_graph_outbound(r.g, id, HDX_ALL, &refs);
                cr_assert(hdx_refs_next(&refs, &to) && to == hdx_graph_class(r.g, hdx_graph_class_of(r.g, id))->id);
                for (uint64_t k = 0; k < lengths[i]; k++)
                    cr_assert(hdx_refs_next(&refs, &to) && to == out[at++], "room %llu, object %llu",
                              (unsigned long long)room, (unsigned long long)id);
                cr_assert(!hdx_refs_next(&refs, &to) && at <= room);
            }
            if (n == 0) {
                cr_assert(hdx_graph_outbound_count(r.g, id++, HDX_ALL) > room + 1);
                too_long++;
            }
        }
        cr_assert((too_long > 0) == (room < 2), "%llu of room %llu", (unsigned long long)too_long,
                  (unsigned long long)room);
    }
    cr_assert(hdx_graph_read_outbound(r.g, objects, 9, lengths, out, 100) == 0);
    end(&r);
}

Test(runs, say_what_the_dump_says)
{
    runs                  r = make();
    uint64_t              count;
    const hdx_heap_space *heaps = hdx_graph_heaps(r.g, &count);
    const hdx_class      *node = hdx_graph_class_named(r.g, "app.Node");
    cr_assert(count == 2 && node != NULL);
    /* What the root refers to, and what that does: objects that go down in number. */
    static bool reached[N];
    uint64_t    live = 0;
    reached[N - 100] = true;
    for (unsigned i = N - 100; i > 0; i--) {
        if (!reached[i] || i % 10 == 3)
            continue;
        reached[i - 1] = true;
        if (i > 20 && (i % 10 == 5 || i % 10 == 7 ? 1 + i / 10 > 1 : true))
            reached[i - 17] = true;
    }
    for (unsigned i = 0; i < N; i++) {
        hdx_id id;
        cr_assert(hdx_graph_find(r.g, r.address[i], &id));
        const unsigned kind = i % 10;
        const uint64_t length = kind == 3 ? i : kind == 5 || kind == 7 ? 1 + i / 10 : 0;
        cr_expect(hdx_graph_length(r.g, id) == length, "%u", i);
        const int heap = hdx_graph_heap(r.g, id);
        cr_assert(heap >= 0 && heap < 2);
        cr_expect(heaps[heap].number == (i < N / 2 ? 'Z' : 'A'), "%u", i);
        const bool is_live = reached[i];
        cr_expect(hdx_graph_live(r.g, id) == is_live, "%u", i);
        cr_expect((hdx_graph_retained(r.g, id) > 0) == is_live &&
                  (hdx_graph_dominator(r.g, id) == HDX_NO_ID) != is_live);
        live += is_live;
    }
    cr_expect(live > 1000 && live < N - 99, "%llu", (unsigned long long)live);
    end(&r);
}

Test(runs, arrays_of_a_plain_class_have_the_size_of_arrays)
{
    runs r = make();
    for (unsigned i = 5; i < N; i += 10) {
        hdx_id array, odd;
        cr_assert(hdx_graph_find(r.g, r.address[i], &array) && hdx_graph_find(r.g, r.address[i + 2], &odd));
        uint64_t sizes[2];
        hdx_graph_read_shallow(r.g, array, 1, &sizes[0]);
        hdx_graph_read_shallow(r.g, odd, 1, &sizes[1]);
        cr_expect(hdx_graph_shallow(r.g, odd) == hdx_graph_shallow(r.g, array) && sizes[0] == sizes[1], "%u", i);
        cr_expect(sizes[0] > 4 * (1 + (uint64_t)i / 10));
    }
    end(&r);
}

/* ---- classes that the dump does not have ---- */

static bool name_each(void *context, const hdx_named_ref *ref)
{
    hdx_buffer_format(context, "%s %llu;", ref->name, (unsigned long long)ref->target);
    return true;
}

/* An array of a type whose class is nowhere: it is invented, and has the super class that it would have. */
Test(runs, classes_that_were_invented_name_their_super_class)
{
    char             folder[TEST_FOLDER], dump[80], index[80], want[100];
    dump_maker      *m = dump_maker_new(8);
    hdx_index_report report;
    hdx_graph       *g;
    hdx_error        err;
    hdx_buffer       names = hdx_buffer_of(NULL);
    const uint64_t   object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "name:L");
    (void)dump_maker_class(m, "java.lang.ClassLoader", object, "parent:L");
    const uint64_t array = dump_maker_primitives(m, 'C', DUMP_VALUES('a', 'b'), 2);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, array, 0, 0);
    test_folder_make(folder, "runs");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    const hdx_class *chars = hdx_graph_class_named(g, "char[]"), *class = hdx_graph_class_named(g, "java.lang.Class");
    hdx_id           id;
    cr_assert(chars != NULL && class != NULL && (chars->flags & HDX_CLASS_INVENTED) != 0 && chars->id != HDX_NO_ID);
    cr_assert(hdx_graph_find(g, object, &id));
    cr_expect(hdx_graph_named_refs(g, chars->id, HDX_NO_ID, name_each, &names, &err) == HDX_OK);
    (void)snprintf(want, sizeof want, "<class> %llu;<super> %llu;<classloader> 0;", (unsigned long long)class->id,
                   (unsigned long long)id);
    cr_expect(strcmp(names.at, want) == 0, "%s", names.at);
    hdx_buffer_free(&names);
    hdx_graph_close(g);
    test_folder_remove(folder);
}

Test(runs, garbage_is_listed_from_anywhere_in_pieces_of_any_size)
{
    runs            r = make();
    const uint64_t  objects = hdx_graph_objects(r.g);
    static hdx_id   ids[N];
    static uint64_t sizes[] = { 1, 7, 64, N };
    for (size_t s = 0; s < 4; s++)
        for (hdx_id first = 0; first <= objects; first += 97) {
            hdx_id expected = first, from = first;
            size_t n;
            while ((n = hdx_graph_garbage(r.g, &from, ids, sizes[s])) > 0)
                for (size_t i = 0; i < n; i++, expected++) {
                    while (expected < objects && hdx_graph_live(r.g, expected))
                        expected++;
                    cr_assert(ids[i] == expected, "%llu", (unsigned long long)ids[i]);
                }
            while (expected < objects && hdx_graph_live(r.g, expected))
                expected++;
            cr_assert(expected == objects && from == objects);
        }
    end(&r);
}

Test(runs, the_first_object_behind_an_address)
{
    runs           r = make();
    const uint64_t objects = hdx_graph_objects(r.g);
    for (hdx_id id = 0; id < objects; id++) {
        cr_assert(hdx_graph_first_at(r.g, hdx_graph_address(r.g, id)) == id);
        cr_assert(hdx_graph_first_at(r.g, hdx_graph_address(r.g, id) + 1) == id + 1);
    }
    cr_expect(hdx_graph_first_at(r.g, UINT64_MAX) == objects);
    end(&r);
}

Test(runs, many_references_at_once_are_those_that_come_one_by_one)
{
    runs   r = make();
    hdx_id ids[8], one;
    size_t n;
    for (hdx_id id = 0; id < hdx_graph_objects(r.g); id++)
        for (size_t most = 1; most <= 8; most += 7) {
            hdx_refs many, single;
            hdx_graph_inbound(r.g, id, HDX_ALL, &many);
            hdx_graph_inbound(r.g, id, HDX_ALL, &single);
            while ((n = hdx_refs_take(&many, ids, most)) > 0)
                for (size_t i = 0; i < n; i++)
                    cr_assert(hdx_refs_next(&single, &one) && one == ids[i]);
            cr_assert(hdx_refs_next(&single, &one) == false);
        }
    end(&r);
}

/* Fields of many instances are what the record of each says, wherever they lie and in whatever order they are asked. */
Test(runs, fields_of_many_instances_are_those_of_their_records)
{
    runs                  r = make();
    static hdx_id         ids[N];
    static uint32_t       have[N];
    static uint8_t        bytes[N * 20], one[20];
    static const uint32_t widths[] = { 1, 8, 20 };
    hdx_instances        *reader;
    hdx_error             err;
    uint64_t              got;
    cr_assert(hdx_instances_open(r.g, &reader, &err) == HDX_OK, "%s", err.message);
    for (unsigned backwards = 0; backwards < 2; backwards++)
        for (size_t w = 0; w < 3; w++)
            for (size_t n = 3; n <= N; n += N - 3) {
                for (size_t i = 0; i < n; i++)
                    ids[i] = backwards ? N - i : i + 1;
                cr_assert(hdx_instances_read(reader, ids, n, widths[w], bytes, have, &err) == HDX_OK, "%s",
                          err.message);
                for (size_t i = 0; i < n; i++) {
                    got = 0;
                    if (hdx_graph_kind(r.g, ids[i]) == HDX_INSTANCE && hdx_graph_length(r.g, ids[i]) == 0)
                        cr_assert(hdx_graph_record_bytes(r.g, ids[i], 0, one, widths[w], &got, &err) == HDX_OK);
                    cr_assert(have[i] == got && memcmp(bytes + i * widths[w], one, got) == 0, "object %zu", i);
                }
            }
    hdx_instances_close(reader);
    end(&r);
}

typedef struct met {
    hdx_graph    *g;
    const hdx_id *ids;
    hdx_pos       last; /* position of the object before */
    uint64_t      refs, objects;
    size_t        place;
} met;

static bool meet_ref(void *context, size_t place, const hdx_named_ref *ref)
{
    met    *m = context;
    hdx_pos pos;
    if (m->refs == 0 || place != m->place) {
        cr_assert(hdx_graph_position(m->g, m->ids[place], &pos) && pos >= m->last);
        m->last = pos;
        m->objects++;
    }
    m->place = place;
    m->refs += ref->target < hdx_graph_objects(m->g);
    return m->refs < 3000;
}

static bool count_ref(void *context, const hdx_named_ref *ref)
{
    (void)ref;
    ++*(uint64_t *)context;
    return true;
}

static bool meet_elements(void *context, size_t place, const hdx_values *values)
{
    met       *m = context;
    hdx_values alone = { 0 };
    cr_assert(hdx_graph_elements(m->g, m->ids[place], 0, UINT64_MAX, &alone, NULL) == HDX_OK);
    cr_assert(values->count == alone.count);
    for (uint64_t i = 0; i < alone.count; i++)
        cr_assert(values->at[i].value.as.address == alone.at[i].value.as.address);
    hdx_values_free(&alone);
    m->objects++;
    m->refs += values->count;
    return true;
}

Test(runs, names_and_elements_of_many_objects_are_those_of_each_in_the_order_of_the_dump)
{
    runs          r = make();
    static hdx_id ids[600];
    uint64_t      single = 0;
    met           m = { .g = r.g, .ids = ids };
    hdx_error     err;
    for (size_t i = 0; i < 600; i++) {
        ids[i] = 20 + i * 7919 % 600; /* each of 600 once, in no order */
        cr_assert(hdx_graph_named_refs(r.g, ids[i], HDX_NO_ID, count_ref, &single, &err) == HDX_OK);
    }
    cr_assert(hdx_graph_named_refs_of(r.g, ids, 600, meet_ref, &m, &err) == HDX_OK, "%s", err.message);
    cr_expect(m.refs == (single < 3000 ? single : 3000) && m.objects > 100, "%llu of %llu", (unsigned long long)m.refs,
              (unsigned long long)single);
    m.objects = m.refs = 0;
    cr_assert(hdx_graph_elements_of(r.g, ids, 600, meet_elements, &m, &err) == HDX_OK, "%s", err.message);
    cr_expect(m.objects == 600 && m.refs > 10000, "%llu", (unsigned long long)m.refs);
    end(&r);
}

Test(runs, a_class_knows_its_heirs_and_where_its_fields_lie)
{
    runs             r = make();
    uint32_t         count, heirs = 0;
    uint64_t         bits[8] = { 0 };
    const hdx_class *object = hdx_graph_class_named(r.g, "java.lang.Object"),
                    *node = hdx_graph_class_named(r.g, "app.Node");
    hdx_field_place f;
    hdx_field_walk  layout = hdx_field_walk_of(r.g, node->number);
    (void)hdx_graph_classes(r.g, &count);
    cr_assert(count <= 512);
    hdx_class_heirs(r.g, object->number, bits);
    for (uint32_t i = 0; i < count; i++)
        heirs += hdx_bits_test(bits, i) == hdx_class_extends(r.g, i, object->number);
    cr_expect(heirs == count && hdx_bits_test(bits, node->number));
    cr_assert(hdx_field_walk_next(&layout, &f) && hdx_text_is(f.name, "next") && f.offset == 0 && f.type == 2);
    cr_assert(hdx_field_walk_next(&layout, &f) && hdx_text_is(f.name, "other") && f.offset == 8);
    cr_assert(hdx_field_walk_next(&layout, &f) && hdx_text_is(f.name, "count") && f.offset == 16 && f.type == 10 &&
              f.owner == node->number);
    cr_expect(hdx_field_walk_next(&layout, &f) == false);
    end(&r);
}

static bool meet_text(void *context, size_t place, hdx_text text, bool whole)
{
    met *m = context;
    cr_assert((text.at == NULL) == (place % 2 == 1) && whole == (place % 2 == 0));
    if (text.at != NULL) {
        char expected[32];
        (void)snprintf(expected, sizeof expected, "text %zu", place);
        cr_assert(hdx_text_is(text, expected), "%.*s", (int)text.len, text.at);
    }
    return ++m->objects < 40;
}

Test(runs, texts_of_many_strings_are_theirs_and_other_objects_have_none)
{
    char             folder[TEST_FOLDER], dump[80], index[80], text[32];
    dump_maker      *m = dump_maker_new(8);
    hdx_graph       *g;
    hdx_index_report report;
    hdx_error        err;
    uint64_t         addresses[50];
    hdx_id           ids[50];
    const uint64_t   object = dump_maker_class(m, "java.lang.Object", 0, "");
    const uint64_t   string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    for (unsigned i = 0; i < 50; i++) {
        (void)snprintf(text, sizeof text, "text %u", i);
        addresses[i] = i % 2 == 0 ? dump_maker_string(m, string, text) : dump_maker_instance(m, object, NULL);
    }
    test_folder_make(folder, "texts");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(index, sizeof index, "%s/a.hdx", folder);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .index_dir = index, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "%s", err.message);
    for (unsigned i = 0; i < 50; i++)
        cr_assert(hdx_graph_find(g, addresses[i], &ids[i]));
    met all = { .g = g, .ids = ids };
    cr_assert(hdx_graph_strings_of(g, ids, 50, 100, meet_text, &all, &err) == HDX_OK, "%s", err.message);
    cr_expect(all.objects == 40);
    hdx_graph_close(g);
    test_folder_remove(folder);
}
