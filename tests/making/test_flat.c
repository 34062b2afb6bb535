/*
 * test_flat.c - byte[] that FLAT_ARRAYS calls arrays of value objects: their class, length, size and content; and
 * records that name other objects, no objects, one array twice, or that are cut.
 */
#include "base/base.h"
#include "hprof/hprof.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[TEST_FOLDER], dump[96], place[96];

static void enter(void) { test_folder_make(folder, "flat"); }
static void leave(void) { test_folder_remove(folder); }
TestSuite(flat, .init = enter, .fini = leave);

/* A heap with app.Point (8 bytes), and what FLAT_ARRAYS says of it. */
typedef struct heap {
    dump_maker *m;
    hdx_buffer  flat;
    uint64_t    object, point, points; /* points: app.Point[], 0: not in the dump */
} heap;

static heap begin(uint32_t id_size, bool with_array_class)
{
    heap h = { .m = dump_maker_new(id_size), .flat = hdx_buffer_of(NULL) };
    h.m->tables_last = true; /* as the JVM writes it */
    h.object = dump_maker_class(h.m, "java.lang.Object", 0, "");
    (void)dump_maker_class(h.m, "java.lang.Class", h.object, "");
    (void)dump_maker_class(h.m, "java.lang.ClassLoader", h.object, "");
    h.point = dump_maker_class(h.m, "app/Point", h.object, "x:I y:I");
    h.points = with_array_class ? dump_maker_class(h.m, "[Lapp/Point;", h.object, "") : 0;
    return h;
}

static uint64_t bytes_of(heap *h, uint32_t count)
{
    uint64_t *values = calloc(count + 1, sizeof *values);
    for (uint32_t i = 0; i < count; i++)
        values[i] = i % 251;
    const uint64_t id = dump_maker_primitives(h->m, 'B', values, count);
    dump_maker_root(h->m, HDX_SUB_ROOT_STICKY_CLASS, id, 0, 0);
    free(values);
    return id;
}

static void put_flat(heap *h, unsigned tag, uint64_t array, uint64_t element)
{
    hdx_write_u1(&h->flat, (uint8_t)tag);
    hdx_write_id(&h->flat, h->m->id_size, array);
    hdx_write_id(&h->flat, h->m->id_size, element);
}

static void save(heap *h, bool packed)
{
    size_t len;
    if (h->flat.len > 0)
        dump_maker_top(h->m, HDX_TOP_FLAT_ARRAYS, h->flat.at, (uint32_t)h->flat.len);
    const uint8_t *bytes = dump_maker_bytes(h->m, &len);
    gm_bytes       file = { 0 };
    (void)snprintf(dump, sizeof dump, "%s/a.hprof%s", folder, packed ? ".gz" : "");
    (void)snprintf(place, sizeof place, "%s/a%s.hdx", folder, packed ? "-packed" : "");
    if (packed) {
        gm_member_put(&file, bytes, len, &(gm_member){ 0 });
        dump_maker_save_bytes(dump, file.at, file.len);
        gm_free(&file);
    } else
        dump_maker_save_bytes(dump, bytes, len);
}

static void end(heap *h)
{
    hdx_buffer_free(&h->flat);
    dump_maker_free(h->m);
}

/* What is counted in one pass is what the index says, and every promise of that holds. */
static hdx_graph *index_of(unsigned threads)
{
    const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = threads, .force = true };
    hdx_index_report        report;
    hdx_counts             *counts;
    hdx_graph              *g;
    hdx_error               err;
    uint32_t                a_count, b_count;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s", err.where, err.message);
    cr_assert(hdx_counts_take(&options, &counts, &err) == HDX_OK, "%s", err.message);
    const hdx_class *a = hdx_counts_classes(counts, &a_count), *b = hdx_graph_classes(g, &b_count);
    cr_assert(eq(u32, a_count, b_count));
    for (uint32_t i = 0; i < a_count; i++)
        cr_expect(a[i].address == b[i].address && a[i].instances == b[i].instances && a[i].bytes == b[i].bytes &&
                      a[i].flags == b[i].flags && a[i].kind == b[i].kind,
                  "%.*s", (int)b[i].name.len, b[i].name.at);
    hdx_counts_free(counts);
    return g;
}

static void expect_array(hdx_graph *g, uint64_t addr, const char *class_name, uint64_t length, uint64_t bytes)
{
    hdx_id id;
    cr_assert(hdx_graph_find(g, addr, &id), "0x%llx", (unsigned long long)addr);
    const uint32_t           number = hdx_graph_class_of(g, id);
    const hdx_class         *c = hdx_graph_class(g, number);
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    const uint64_t           head = s->id_size + s->reference_size + 4,
                   shallow = hdx_round_up(hdx_round_up(head, s->reference_size) + bytes, s->alignment);
    uint64_t run;
    hdx_graph_read_lengths(g, id, 1, &run);
    cr_expect(c->name.len == strlen(class_name) && memcmp(c->name.at, class_name, c->name.len) == 0,
              "0x%llx is a %.*s, not a %s", (unsigned long long)addr, (int)c->name.len, c->name.at, class_name);
    cr_expect(eq(u64, hdx_graph_length(g, id), length));
    cr_expect(eq(u64, run, length));
    cr_expect(eq(u64, hdx_graph_shallow(g, id), shallow), "of 0x%llx", (unsigned long long)addr);
}

static uint32_t warnings_of(hdx_graph *g, const char *text)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(g);
    uint32_t                 n = 0;
    cr_expect(eq(u64, s->damage_count, 0));
    for (uint32_t i = 0; i < s->warning_count; i++)
        n += strstr(s->warnings[i], text) != NULL;
    cr_expect(eq(u32, n, s->warning_count));
    return n;
}

/* ---- what they are ---- */

Test(flat, arrays_are_of_the_class_of_arrays_of_their_elements)
{
    for (unsigned way = 0; way < 16; way++) { /* widths of ids, with and without app.Point[], packed, threads */
        heap           h = begin(way & 1 ? 4 : 8, (way & 2) != 0);
        const uint64_t a = bytes_of(&h, 8000), none = bytes_of(&h, 0), raw = bytes_of(&h, 80),
                       ints = dump_maker_primitives(h.m, 'I', NULL, 8);
        put_flat(&h, 1, a, h.point);
        put_flat(&h, 1, none, h.point);
        save(&h, (way & 4) != 0);
        hdx_graph *g = index_of(way & 8 ? 4 : 1);
        expect_array(g, a, "app.Point[]", 1000, 8000);
        expect_array(g, none, "app.Point[]", 0, 0);
        expect_array(g, raw, "byte[]", 80, 80);
        expect_array(g, ints, "int[]", 8, 32);
        const hdx_class *c = hdx_graph_class_named(g, "app.Point[]");
        cr_expect(eq(u64, c->instances, 2));
        cr_expect(eq(u8, c->flags, way & 2 ? HDX_CLASS_FLAT : HDX_CLASS_FLAT | HDX_CLASS_INVENTED));
        cr_expect(eq(u32, c->stated_size, 8));
        cr_expect(eq(u32, warnings_of(g, ""), 0));
        hdx_graph_close(g);
        end(&h);
    }
}

static bool take(void *context, const char *bytes, size_t len)
{
    hdx_buffer_put(context, bytes, len);
    return true;
}

Test(flat, elements_are_absent_and_the_content_is_bytes)
{
    heap           h = begin(8, true);
    const uint64_t a = bytes_of(&h, 800);
    put_flat(&h, 1, a, h.point);
    save(&h, false);
    hdx_graph  *g = index_of(1);
    hdx_values  v = { 0 };
    hdx_buffer  content = hdx_buffer_of(NULL);
    hdx_content what;
    hdx_error   err;
    hdx_id      id;
    cr_assert(hdx_graph_find(g, a, &id));
    cr_assert(hdx_graph_elements(g, id, 0, UINT64_MAX, &v, &err) == HDX_OK);
    cr_expect(eq(u64, v.count, 100));
    for (uint64_t i = 0; i < v.count; i++)
        cr_expect(v.at[i].value.absent);
    cr_assert(hdx_graph_elements(g, id, 98, 10, &v, &err) == HDX_OK);
    cr_expect(eq(u64, v.count, 2));
    cr_assert(hdx_graph_content(g, id, NULL, take, &content, &what, &err) == HDX_OK);
    cr_expect(what == HDX_CONTENT_BYTES);
    cr_assert(eq(u64, content.len, 800));
    for (uint64_t i = 0; i < content.len; i++)
        cr_assert(eq(u8, (uint8_t)content.at[i], i % 251));
    hdx_values_free(&v);
    hdx_buffer_free(&content);
    hdx_graph_close(g);
    end(&h);
}

/* Fields of super classes are in the elements; where references have their width is that of ids. */
Test(flat, elements_are_as_long_as_records_of_their_class)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        heap           h = begin(id_size, true);
        const uint64_t solid = dump_maker_class(h.m, "app/Solid", h.point, "name:L z:I"),
                       a = bytes_of(&h, 10 * (12 + id_size));
        put_flat(&h, 1, a, solid);
        save(&h, false);
        hdx_graph *g = index_of(2);
        expect_array(g, a, "app.Solid[]", 10, 10 * (12 + id_size));
        hdx_graph_close(g);
        end(&h);
    }
}

/* A JVM has a class for flat arrays, and another of that name for arrays of references. */
Test(flat, arrays_of_references_keep_a_class_of_their_own)
{
    heap           h = begin(8, true);
    const uint64_t p = dump_maker_instance(h.m, h.point, DUMP_VALUES(1, 2)),
                   refs = dump_maker_array(h.m, h.points, DUMP_VALUES(p, 0, p), 3), a = bytes_of(&h, 16);
    put_flat(&h, 1, a, h.point);
    save(&h, false);
    hdx_graph *g = index_of(2);
    hdx_id     id, flat;
    expect_array(g, a, "app.Point[]", 2, 16);
    cr_assert(hdx_graph_find(g, refs, &id) && hdx_graph_find(g, a, &flat));
    cr_expect(eq(u64, hdx_graph_length(g, id), 3));
    cr_expect(hdx_graph_kind(g, id) == HDX_OBJECT_ARRAY && hdx_graph_kind(g, flat) == HDX_PRIMITIVE_ARRAY);
    cr_expect(ne(u32, hdx_graph_class_of(g, id), hdx_graph_class_of(g, flat)));
    cr_expect(eq(u64, hdx_graph_outbound_count(g, id, HDX_ALL), 2));
    hdx_graph_close(g);
    end(&h);
}

/* Two loaders have an app.Point: the class of arrays that has the same one is taken. */
Test(flat, classes_are_those_of_the_same_loader)
{
    heap           h = begin(8, true);
    const uint64_t loader_class = dump_maker_class(h.m, "app.Loader", h.object, ""),
                   loader = dump_maker_instance(h.m, loader_class, NULL);
    h.m->loader = loader;
    const uint64_t other = dump_maker_class(h.m, "app/Point", h.object, "x:I"),
                   others = dump_maker_class(h.m, "[Lapp/Point;", h.object, ""), a = bytes_of(&h, 16),
                   b = bytes_of(&h, 16);
    put_flat(&h, 1, b, other);
    put_flat(&h, 1, a, h.point);
    save(&h, false);
    hdx_graph *g = index_of(2);
    hdx_id     id;
    expect_array(g, a, "app.Point[]", 2, 16);
    expect_array(g, b, "app.Point[]", 4, 16);
    cr_assert(hdx_graph_find(g, a, &id));
    cr_expect(eq(u64, hdx_graph_class(g, hdx_graph_class_of(g, id))->address, h.points));
    cr_assert(hdx_graph_find(g, b, &id));
    cr_expect(eq(u64, hdx_graph_class(g, hdx_graph_class_of(g, id))->address, others));
    hdx_graph_close(g);
    end(&h);
}

/* Limits of what a dump may ask for: bytes of an element, of a name. */
Test(flat, arrays_of_large_elements_and_long_names_stay)
{
    heap     h = begin(8, true);
    char     fields[128 * 8] = "", *longest = calloc(1, 300);
    uint64_t long_name[2], of_long[2];
    for (unsigned i = 0; i < 64; i++)
        (void)snprintf(fields + strlen(fields), sizeof fields - strlen(fields), "f%u:J ", i);
    const uint64_t half = dump_maker_class(h.m, "app/Half", h.object, fields),
                   large = dump_maker_class(h.m, "app/Large", half, fields),
                   larger = dump_maker_class(h.m, "app/Larger", large, "one:Z"), a = bytes_of(&h, 2048),
                   b = bytes_of(&h, 2050);
    for (unsigned i = 0; i < 2; i++) {
        long_name[i] = dump_maker_class_at(h.m, 0x7000 + 64 * i, NULL, h.object, "x:I");
        memset(longest, 'a', 256 + i);
        uint8_t    string[8 + 300], load[24] = { 0 };
        hdx_buffer text = hdx_buffer_of(NULL);
        hdx_write_id(&text, 8, 0x990000 + i);
        hdx_buffer_put(&text, longest, 256 + i);
        memcpy(string, text.at, (size_t)text.len);
        dump_maker_top(h.m, HDX_TOP_STRING, string, (uint32_t)text.len);
        hdx_buffer_clear(&text);
        hdx_write_u4(&text, 900 + i);
        hdx_write_id(&text, 8, long_name[i]);
        hdx_write_u4(&text, 0);
        hdx_write_id(&text, 8, 0x990000 + i);
        memcpy(load, text.at, sizeof load);
        dump_maker_top(h.m, HDX_TOP_LOAD_CLASS, load, sizeof load);
        hdx_buffer_free(&text);
        of_long[i] = bytes_of(&h, 16);
        put_flat(&h, 1, of_long[i], long_name[i]);
    }
    put_flat(&h, 1, a, large);
    put_flat(&h, 1, b, larger);
    save(&h, false);
    hdx_graph *g = index_of(2);
    longest[256] = '\0';
    strcat(longest, "[]");
    expect_array(g, a, "app.Large[]", 2, 2048);
    expect_array(g, b, "byte[]", 2050, 2050);
    expect_array(g, of_long[0], longest, 4, 16);
    expect_array(g, of_long[1], "byte[]", 16, 16);
    cr_expect(eq(u32, warnings_of(g, "2 of 4 entries"), 1));
    free(longest);
    hdx_graph_close(g);
    end(&h);
}

Test(flat, no_class_of_byte_arrays_is_made_where_all_are_flat)
{
    heap h = begin(8, true);
    put_flat(&h, 1, bytes_of(&h, 8), h.point);
    save(&h, false);
    hdx_graph *g = index_of(1);
    cr_expect(hdx_graph_class_named(g, "byte[]") == NULL);
    hdx_graph_close(g);
    end(&h);
}

/* ---- what is no flat array ---- */

/* A class that is its own super class. */
static uint64_t own_super(heap *h)
{
    const hdx_class_dump c = { .addr = 0x5000, .super = 0x5000, .instance_size = 4 };
    hdx_buffer           b = hdx_buffer_of(NULL);
    hdx_write_class_head(&b, h->m->id_size, &c);
    hdx_write_u2(&b, 1);
    hdx_write_id(&b, h->m->id_size, dump_maker_name(h->m, "x"));
    hdx_write_u1(&b, 10);
    (void)dump_maker_load(h->m, c.addr, "app/Ring");
    dump_maker_raw(h->m, b.at, (size_t)b.len);
    hdx_buffer_free(&b);
    return c.addr;
}

Test(flat, entries_that_do_not_fit_leave_arrays_as_they_are)
{
    for (unsigned way = 0; way < 4; way++) {
        heap           h = begin(8, true);
        const uint64_t empty = dump_maker_class(h.m, "app/Empty", h.object, ""),
                       cut = dump_maker_class(h.m, "app/Cut", 0xdead00, "x:I"),
                       named_int = dump_maker_class(h.m, "int", h.object, "x:I"), ring = own_super(&h),
                       p = dump_maker_instance(h.m, h.point, DUMP_VALUES(1, 2)),
                       refs = dump_maker_array(h.m, h.points, DUMP_VALUES(p), 1),
                       ints = dump_maker_primitives(h.m, 'I', NULL, 8), odd = bytes_of(&h, 17),
                       array_element = bytes_of(&h, 16), of_empty = bytes_of(&h, 16), of_cut = bytes_of(&h, 16),
                       of_none = bytes_of(&h, 16), of_int = bytes_of(&h, 16), of_ring = bytes_of(&h, 16),
                       twice = bytes_of(&h, 16);
        put_flat(&h, 1, odd, h.point);
        put_flat(&h, 1, array_element, h.points);
        put_flat(&h, 1, of_empty, empty);
        put_flat(&h, 1, of_cut, cut);
        put_flat(&h, 1, of_none, 0x123456);
        put_flat(&h, 1, of_int, named_int);
        put_flat(&h, 1, of_ring, ring);
        put_flat(&h, 1, refs, h.point);
        put_flat(&h, 1, ints, h.point);
        put_flat(&h, 1, p, h.point);
        put_flat(&h, 1, h.point, h.point);
        put_flat(&h, 1, 0, h.point);
        put_flat(&h, 1, 0xfffffffffffffff3, 0xfffffffffffffff3); /* the key that marks free slots of a map */
        put_flat(&h, 1, twice, h.point);
        put_flat(&h, 1, twice, h.point);
        put_flat(&h, 1, twice, named_int); /* another class: the first stands */
        put_flat(&h, 7, odd, h.point);     /* no such sub-record */
        hdx_write_u1(&h.flat, 1);          /* and a part of one */
        save(&h, (way & 1) != 0);
        hdx_graph *g = index_of(way & 2 ? 4 : 1);
        hdx_id     id;
        expect_array(g, odd, "byte[]", 17, 17);
        expect_array(g, array_element, "byte[]", 16, 16);
        expect_array(g, of_empty, "byte[]", 16, 16);
        expect_array(g, of_cut, "byte[]", 16, 16);
        expect_array(g, of_none, "byte[]", 16, 16);
        expect_array(g, of_int, "byte[]", 16, 16);
        expect_array(g, of_ring, "byte[]", 16, 16);
        expect_array(g, ints, "int[]", 8, 32);
        expect_array(g, twice, "app.Point[]", 2, 16);
        cr_assert(hdx_graph_find(g, refs, &id));
        cr_expect(eq(u64, hdx_graph_length(g, id), 1));
        const hdx_graph_summary *s = hdx_graph_summary_of(g);
        bool                     told = false;
        for (uint32_t i = 0; i < s->warning_count; i++)
            told = told || strstr(s->warnings[i], "ignored 15 of 16 entries of FLAT_ARRAYS") != NULL;
        cr_expect(told, "%s", s->warning_count > 0 ? s->warnings[0] : "no warning");
        hdx_graph_close(g);
        end(&h);
    }
}

/* Of two records of one array the first stands, also where that is no byte[]. */
Test(flat, second_records_of_an_array_are_not_asked)
{
    heap           h = begin(8, true);
    const uint64_t a = bytes_of(&h, 16), ints = dump_maker_primitives(h.m, 'I', NULL, 4);
    (void)dump_maker_primitives_at(h.m, a, 'B', NULL, 24);
    (void)dump_maker_primitives_at(h.m, ints, 'B', NULL, 24);
    put_flat(&h, 1, a, h.point);
    put_flat(&h, 1, ints, h.point);
    save(&h, false);
    const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 2 };
    hdx_index_report        report;
    hdx_graph              *g;
    hdx_error               err;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s", err.where, err.message);
    expect_array(g, a, "app.Point[]", 2, 16);
    expect_array(g, ints, "int[]", 4, 16);
    hdx_graph_close(g);
    end(&h);
}

/* The record is longer than any other that is read as a whole. */
Test(flat, a_million_of_them_are_all_read)
{
    enum { MANY = 1000000 };
    for (unsigned packed = 0; packed < 2; packed++) {
        heap           h = begin(8, true);
        const uint64_t first = bytes_of(&h, 16), last = bytes_of(&h, 24);
        put_flat(&h, 1, first, h.point);
        for (uint64_t i = 0; i < MANY; i++)
            put_flat(&h, 1, 0x100000000 + i, 0x900000000 + i);
        put_flat(&h, 1, last, h.point);
        cr_assert(gt(u64, h.flat.len, 16u << 20));
        save(&h, packed != 0);
        hdx_graph *g = index_of(2);
        expect_array(g, first, "app.Point[]", 2, 16);
        expect_array(g, last, "app.Point[]", 3, 24);
        cr_expect(eq(u32, warnings_of(g, "1000000 of 1000002 entries"), 1));
        hdx_graph_close(g);
        end(&h);
    }
}

/* Wherever the file is cut, what lies before it stands: objects, and the arrays of whole sub-records. */
Test(flat, what_is_before_a_cut_stands)
{
    heap           h = begin(8, true);
    const uint64_t a = bytes_of(&h, 16), b = bytes_of(&h, 24);
    h.m->no_end = true;
    put_flat(&h, 1, a, h.point);
    put_flat(&h, 1, b, h.point);
    save(&h, false);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(h.m, &len);
    for (size_t less = 0; less <= 2 * 17 + 9; less++) {
        dump_maker_save_bytes(dump, bytes, len - less);
        hdx_graph *g = index_of(1 + less % 2);
        if (less <= 17)
            expect_array(g, a, "app.Point[]", 2, 16);
        else
            expect_array(g, a, "byte[]", 16, 16);
        if (less == 0)
            expect_array(g, b, "app.Point[]", 3, 24);
        else
            expect_array(g, b, "byte[]", 24, 24);
        hdx_graph_close(g);
    }
    end(&h);
}
