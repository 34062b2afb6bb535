/*
 * test_collections.c - sizes and entries of collections: those that the truth beside the reference dumps states, odd
 * layouts that a file describes, and collections that lie.
 */
#include "support/questions.h"
#include "heap.h"
#include "query/common/layouts.h"
#include "query/questions.h"
#include "support/golden.h"

static hdx_code open_with(heap *h, const hdx_question *question, const hdx_argument *at, size_t count, hdx_rows **rows)
{
    hdx_arguments a = { &question->declared, at, count };
    *rows = NULL;
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}
#define ask(question, rows, ...)                                                                                       \
    open_with(&h, &hdx_question_##question, (const hdx_argument[]){ __VA_ARGS__ },                                     \
              sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument), rows)

/* ---- what a program put in ---- */

static const hdx_cell *named(hdx_rows *rows, const hdx_cell *cells, const char *column)
{
    unsigned          n;
    const hdx_column *c = hdx_rows_columns(rows, &n);
    for (unsigned i = 0; i < n; i++)
        if (strcmp(c[i].name, column) == 0)
            return &cells[i];
    cr_assert(false, "no column %s", column);
    return NULL;
}

/* The object that a place of the truth, such as Zoo$Lists.one, refers to. */
static hdx_addr object_at_place(heap *h, const char *place)
{
    char         class_name[128];
    const char  *dot = strchr(place, '.'), *field = dot + 1;
    hdx_values   v = { 0 };
    hdx_addr     found = 0;
    const size_t len = strcspn(field, "\"");
    (void)snprintf(class_name, sizeof class_name, "%.*s", (int)(dot - place), place);
    const hdx_class *c = hdx_graph_class_named(h->g, class_name);
    cr_assert(c != NULL, "%s", class_name);
    cr_assert(eq(int, hdx_graph_statics(h->g, c->id, &v, &h->err), HDX_OK));
    for (uint64_t i = 0; i < v.count; i++)
        if (v.at[i].name.len == len && memcmp(v.at[i].name.at, field, len) == 0)
            found = v.at[i].value.as.address;
    hdx_values_free(&v);
    return found;
}

static bool number_after(const char *line, const char *key, uint64_t *out)
{
    char wanted[64];
    (void)snprintf(wanted, sizeof wanted, "\"%s\": ", key);
    const char *at = strstr(line, wanted), *end = strchr(line, '\n');
    if (at == NULL || (end != NULL && at > end))
        return false;
    *out = strtoull(at + strlen(wanted), NULL, 10);
    return true;
}

/* "Zoo$Lists.one": {"class": "java.util.ArrayList", "size": 1, "array_length": 10, "array_used": 1} */
static void check_place(heap *h, const char *line)
{
    char            address[32], class_name[128];
    const hdx_cell *cells;
    hdx_rows       *rows;
    uint64_t        size, length, used, n = 0;
    hdx_error       err;
    const hdx_addr  object = object_at_place(h, line);
    const char *class = strstr(line, "\"class\": \"") + 10;
    (void)snprintf(class_name, sizeof class_name, "%.*s", (int)strcspn(class, "\""), class);
    (void)snprintf(address, sizeof address, "0x%llx", (unsigned long long)object);
    const bool pairs = strstr(class_name, "IdentityHashMap") != NULL || strstr(class_name, "MapN") != NULL;
    cr_assert(number_after(line, "size", &size), "%.80s", line);
    cr_assert(eq(int,
                 open_with(h, &hdx_question_collections, (const hdx_argument[]){ { "class", class_name } }, 1, &rows),
                 HDX_OK),
              "%.80s: %s", line, h->err.message);
    bool seen = false;
    while (hdx_rows_next(rows, &cells)) {
        if (cells[0].as.address != object)
            continue;
        seen = true;
        const hdx_cell *is = named(rows, cells, "size"), *room = named(rows, cells, "capacity"),
                       *full = named(rows, cells, "used");
        cr_expect(is->kind == HDX_CELL_UINT && is->as.natural == size, "%.80s: size %llu", line,
                  (unsigned long long)is->as.natural);
        if (number_after(line, "array_length", &length))
            cr_expect(room->kind == HDX_CELL_UINT && room->as.natural == length / (pairs ? 2 : 1),
                      "%.80s: capacity %llu", line, (unsigned long long)room->as.natural);
        if (number_after(line, "array_used", &used) && full->kind != HDX_CELL_NULL)
            cr_expect(full->as.natural == used / (pairs ? 2 : 1), "%.80s: used %llu", line,
                      (unsigned long long)full->as.natural);
    }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    cr_expect(seen, "%.80s: no such collection", line);
    hdx_rows_close(rows);
    cr_assert(
        eq(int, open_with(h, &hdx_question_entries, (const hdx_argument[]){ { "object", address } }, 1, &rows), HDX_OK),
        "%.80s: %s", line, h->err.message);
    while (hdx_rows_next(rows, &cells))
        n++;
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    cr_expect(eq(u64, n, size), "%.80s", line);
    hdx_rows_close(rows);
}

static void check_truth(const char *dump)
{
    char             path[1100];
    heap             h = { 0 };
    hdx_index_report report;
    (void)snprintf(path, sizeof path, "%.*s.truth.json", (int)(strlen(dump) - strlen(".hprof.gz")), dump);
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return;
    char *text = calloc(1, 4u << 20);
    cr_assert(fread(text, 1, (4u << 20) - 1, f) > 0);
    fclose(f);
    const char *at = strstr(text, "\"collections\": {");
    if (at != NULL) {
        test_folder_make(h.folder, "query");
        (void)snprintf(h.index, sizeof h.index, "%s/a.hdx", h.folder);
        const hdx_index_options options = { .dump = dump, .index_dir = h.index };
        ok(hdx_index_build(&options, &report, &h.err));
        ok(hdx_graph_open(h.index, dump, &h.g, &h.err));
        h.q = (hdx_query){ .graph = h.g, .scope = HDX_ALL, .threads = 2 };
        unsigned places = 0;
        for (at = strchr(at, '\n') + 1; strncmp(at = at + strspn(at, " "), "\"Zoo$", 5) == 0;
             at = strchr(at, '\n') + 1, places++)
            check_place(&h, at + 1);
        cr_expect(places > 40, "%s: %u", path, places);
        heap_close(&h);
    }
    free(text);
}

Test(truth, of_the_reference_dumps_is_what_collections_say)
{
    golden_dumps d;
    if (!golden_open(&d))
        cr_skip("the reference collection is not beside this tree");
    while (golden_next(&d))
        if (strstr(d.path, "zoo-") != NULL)
            check_truth(d.path);
}

/* ---- made heaps ---- */

typedef struct kinds {
    dump_maker *m;
    uint64_t    object, objects, longs, ints, string, roots[64], root_count;
} kinds;

static kinds kinds_begin(void)
{
    kinds k = { .m = dump_maker_new(8) };
    k.m->next_id = 0x10000;
    k.object = dump_maker_class(k.m, "java.lang.Object", 0, "");
    dump_maker_class(k.m, "java.lang.Class", k.object, "");
    k.string = dump_maker_class(k.m, "java.lang.String", k.object, "value:L coder:B hash:I");
    dump_maker_class(k.m, "byte[]", k.object, "");
    k.longs = dump_maker_class(k.m, "long[]", k.object, "");
    k.ints = dump_maker_class(k.m, "int[]", k.object, "");
    k.objects = dump_maker_class(k.m, "java.lang.Object[]", k.object, "");
    k.m->next_id = 0x20000;
    return k;
}

static uint64_t rooted(kinds *k, uint64_t id)
{
    dump_maker_root(k->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static uint64_t of(kinds *k, uint64_t class, const uint64_t *values)
{
    return rooted(k, dump_maker_instance(k->m, class, values));
}

/* Size and note of each collection, in the order of addresses. */
static hdx_buffer sizes_of(heap *h, const char *layouts)
{
    hdx_rows       *rows;
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *cells;
    hdx_argument    at[] = { { "layouts", layouts } };
    cr_assert(eq(int, open_with(h, &hdx_question_collections, at, layouts == NULL ? 0 : 1, &rows), HDX_OK), "%s",
              h->err.message);
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &cells)) {
        put_cell(&b, named(rows, cells, "size"));
        hdx_buffer_text(&b, " ");
        put_cell(&b, named(rows, cells, "note"));
        hdx_buffer_text(&b, "\n");
    }
    cr_assert(eq(int, hdx_rows_end(rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_rows_close(rows);
    return b;
}

#define expect_sizes(layouts, want)                                                                                    \
    do {                                                                                                               \
        hdx_buffer sizes_ = sizes_of(&h, layouts);                                                                     \
        cr_expect(eq(str, sizes_.at, (char *)want));                                                                   \
        hdx_buffer_free(&sizes_);                                                                                      \
    } while (0)

/* "key=value key=value": addresses, or numbers. */
static hdx_buffer entries_of(heap *h, uint64_t id, const char *layouts)
{
    char            address[32];
    hdx_rows       *rows;
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *cells;
    (void)snprintf(address, sizeof address, "0x%llx", (unsigned long long)id);
    hdx_argument at[] = { { "object", address }, { "layouts", layouts } };
    cr_assert(eq(int, open_with(h, &hdx_question_entries, at, layouts == NULL ? 1 : 2, &rows), HDX_OK), "%s",
              h->err.message);
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &cells)) {
        hdx_buffer_text(&b, b.len > 0 ? " " : "");
        put_cell(&b, named(rows, cells, "key"));
        hdx_buffer_text(&b, "=");
        const hdx_cell *object = named(rows, cells, "address");
        put_cell(&b, object->kind != HDX_CELL_NULL ? object : named(rows, cells, "value"));
        if (b.len > 4000)
            break;
    }
    cr_assert(eq(int, hdx_rows_end(rows, &h->err), HDX_OK), "%s", h->err.message);
    hdx_rows_close(rows);
    return b;
}

#define expect_entries(id, layouts, want)                                                                              \
    do {                                                                                                               \
        hdx_buffer entries_ = entries_of(&h, id, layouts);                                                             \
        cr_expect(eq(str, entries_.at, (char *)want));                                                                 \
        hdx_buffer_free(&entries_);                                                                                    \
    } while (0)

/* Two columns of all rows. */
static hdx_buffer two_of(hdx_rows *rows, const char *first, const char *second)
{
    hdx_buffer      b = hdx_buffer_of(NULL);
    const hdx_cell *cells;
    hdx_error       err;
    hdx_buffer_text(&b, "");
    while (hdx_rows_next(rows, &cells)) {
        put_cell(&b, named(rows, cells, first));
        hdx_buffer_text(&b, ",");
        put_cell(&b, named(rows, cells, second));
        hdx_buffer_text(&b, "\n");
    }
    cr_assert(eq(int, hdx_rows_end(rows, &err), HDX_OK), "%s", err.message);
    hdx_rows_close(rows);
    return b;
}

#define expect_two(rows, first, second, want)                                                                          \
    do {                                                                                                               \
        hdx_buffer two_ = two_of(rows, first, second);                                                                 \
        cr_expect(eq(str, two_.at, (char *)want));                                                                     \
        hdx_buffer_free(&two_);                                                                                        \
    } while (0)

static const char *layouts_file(heap *h, const char *text)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/layouts", h->folder);
    FILE *f = fopen(path, "wb");
    cr_assert(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
    return path;
}

Test(layouts, of_a_file_say_where_elements_are)
{
    heap           h;
    kinds          k = kinds_begin();
    const uint64_t ring = dump_maker_class(k.m, "app.Ring", k.object, "items:L head:I tail:I");
    const uint64_t table = dump_maker_class(k.m, "app.Table", k.object, "keys:L values:L used:I zero:Z");
    const uint64_t tree = dump_maker_class(k.m, "app.Tree", k.object, "top:L");
    const uint64_t leaf = dump_maker_class(k.m, "app.Leaf", k.object, "l:L r:L k:J");
    const uint64_t flags = dump_maker_class(k.m, "app.Flags", k.object, "all:L on:J");
    const uint64_t view = dump_maker_class(k.m, "app.View", k.object, "of:L start:I count:I");
    const uint64_t parts = dump_maker_class(k.m, "app.Parts", k.object, "part:L");
    const uint64_t a = 0x9000, b = 0x9020, c = 0x9040;
    for (uint64_t id = a; id <= c; id += 0x20)
        dump_maker_instance_at(k.m, id, k.object, NULL);
    const uint64_t slots = dump_maker_array(k.m, k.objects, DUMP_VALUES(b, c, 0, a), 4);
    const uint64_t the_ring = of(&k, ring, DUMP_VALUES(slots, 3, 2));
    const uint64_t the_table = of(&k, table,
                                  DUMP_VALUES(dump_maker_primitives(k.m, 'J', DUMP_VALUES(0, 7, 9, 0), 4),
                                              dump_maker_array(k.m, k.objects, DUMP_VALUES(0, a, b, c), 4), 3, 1));
    const uint64_t low = dump_maker_instance(k.m, leaf, DUMP_VALUES(0, 0, 1));
    const uint64_t high = dump_maker_instance(k.m, leaf, DUMP_VALUES(0, 0, 3));
    const uint64_t the_tree = of(&k, tree, DUMP_VALUES(dump_maker_instance(k.m, leaf, DUMP_VALUES(low, high, 2))));
    const uint64_t the_flags = of(&k, flags, DUMP_VALUES(slots, 0xa));
    const uint64_t the_view = of(&k, view, DUMP_VALUES(the_ring, 1, 1));
    const uint64_t first = dump_maker_array(k.m, k.objects, DUMP_VALUES(a), 1);
    const uint64_t last = dump_maker_array(k.m, k.objects, DUMP_VALUES(b, c), 2);
    const uint64_t the_parts =
        of(&k, parts, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(first, 0, last), 3)));
    heap_open(&h, k.m);
    const char *file = layouts_file(&h, "# odd ones\n"
                                        "app.Ring   queue  slots=items from=head to=tail\n"
                                        "app.Table  map size=used+zero keys=gone values=values\n" /* no such field */
                                        "app.T?ble  map    size=used keys=keys values=values last=zero\n"
                                        "app.Tree   map    root=top left=l right=r key=k\n"
                                        "app.Flags  set    size=%on slots=all bits=on\n"
                                        "app.View   list   size=count of=of from=start\n"
                                        "app.Parts  list   slots=part[]\n");
    expect_sizes(file, "3 -\n3 -\n3 -\n2 -\n1 -\n3 -\n");
    expect_entries(the_ring, file, "-=0x9000 -=0x9020 -=0x9040");
    expect_entries(the_table, file, "7=0x9000 9=0x9020 0=0x9040");
    expect_entries(the_tree, file, "1=- 2=- 3=-");
    expect_entries(the_flags, file, "-=0x9040 -=0x9000");
    expect_entries(the_view, file, "-=0x9020");
    expect_entries(the_parts, file, "-=0x9000 -=0x9020 -=0x9040");
    expect_entries(slots, NULL, "-=0x9020 -=0x9040 -=- -=0x9000");
    expect_sizes(NULL, "- unknown layout\n"); /* app.Table is named like a collection, and has arrays */
    heap_close(&h);
}

Test(layouts, that_are_not_understood_are_refused_with_their_line)
{
    static const struct {
        const char *text, *says;
    } all[] = {
        { "\n# fine\napp.A heap size=size\n", "line 3: list, map, set or queue is expected: 'heap'" },
        { "app.A list\n", "line 1: neither a size nor elements: 'app.A'" },
        { "app.A list size\n", "line 1: a word such as size=size is expected: 'size'" },
        { "app.A list size=\n", "line 1: the name of a field is expected: ''" },
        { "app.A list size=a..b\n", "line 1: a path such as map.table or segments[].count is expected: 'a..b'" },
        { "app.A list size=a.b.c.d.e.f.g.h.i\n", "line 1: a path has 8 steps at most: 'a.b.c.d.e.f.g.h.i'" },
        { "app.A list size=a[]\n", "line 1: one [] at most, and a field after it: 'a[]'" },
        { "app.A list size=99999999999\n", "line 1: a number of at most 10 digits is expected: '99999999999'" },
        { "app.A list size=a+b+c+d+e+f+g\n", "line 1: six terms at most: 'a+b+c+d+e+f+g'" },
        { "app.A list slots=a pairs=b\n", "line 1: elements are described twice: 'pairs'" },
        { "app.A map root=a left=b value=v\n", "line 1: left= and right= are expected: 'app.A'" },
        { "app.A map buckets=a key=k\n", "line 1: next= is expected: 'app.A'" },
        { "app.A map first=a next=n\n", "line 1: key= or value= of the nodes is expected: 'app.A'" },
        { "app.A map fields=a,b,c\n", "line 1: fields of a map must be pairs of key and value: 'app.A'" },
        { "app.A list slots=a null=b\n", "line 1: CLASS#STATIC is expected: 'b'" },
        { "app.A list of=a take=all\n", "line 1: keys or values is expected: 'all'" },
        { "app.A list of=a[]\n", "line 1: [] is not allowed here: 'a[]'" },
        { "app.A list size=1 unknown\n", "line 1: layout 'unknown' excludes a size and elements: 'app.A'" },
        { "app.A list slots=a colour=red\n", "line 1: unknown word: 'colour=red'" },
    };
    for (size_t i = 0; i < HDX_COUNT(all); i++) {
        hdx_layouts l;
        hdx_error   err = { .code = HDX_OK };
        cr_assert(eq(int, hdx_layouts_begin(&l, NULL, &err), HDX_OK));
        cr_expect(eq(int, hdx_layouts_read(&l, "mine", all[i].text, strlen(all[i].text), &err), HDX_USAGE), "%s",
                  all[i].text);
        cr_expect(eq(str, err.where, (char *)"mine"));
        cr_expect(eq(str, err.message, (char *)all[i].says));
        hdx_layouts_free(&l);
    }
}

Test(layouts, that_do_not_fit_a_class_are_counted_and_never_guessed)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t map = dump_maker_class(k.m, "java.util.HashMap", k.object, "entries:L length:I");
    const uint64_t base = dump_maker_class(k.m, "java.util.AbstractMap", k.object, "");
    const uint64_t mine = dump_maker_class(k.m, "app.MyMap", base, "what:L");
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t sub = dump_maker_class(k.m, "app.List", list, "size:I"); /* another field of that name */
    of(&k, map, DUMP_VALUES(0, 3));
    of(&k, mine, DUMP_VALUES(0));
    of(&k, sub, DUMP_VALUES(77, dump_maker_array(k.m, k.objects, NULL, 4), 2));
    heap_open(&h, k.m);
    expect_sizes(NULL, "- unknown layout\n- unknown layout\n2 -\n");
    ok(ask(collections, &rows, { "by", "class" }));
    expect_rows(rows, "app.List,1,0,0,2,4,16,40,0\njava.util.HashMap,1,0,0,0,0,0,32,1\n"
                      "app.MyMap,1,0,0,0,0,0,24,1\n");
    heap_close(&h);
}

Test(damaged, collections_end_with_a_note)
{
    heap           h;
    kinds          k = kinds_begin();
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t queue = dump_maker_class(k.m, "java.util.concurrent.ConcurrentLinkedQueue", k.object, "head:L");
    const uint64_t node = dump_maker_class(k.m, "app.Node", k.object, "item:L next:L");
    const uint64_t tree = dump_maker_class(k.m, "java.util.TreeMap", k.object, "root:L size:I");
    const uint64_t entry = dump_maker_class(k.m, "app.Entry", k.object, "key:L value:L left:L right:L");
    const uint64_t wrapper = dump_maker_class(k.m, "java.util.Collections$UnmodifiableCollection", k.object, "c:L");
    const uint64_t map = dump_maker_class(k.m, "java.util.HashMap", k.object, "table:L size:I");
    const uint64_t array = dump_maker_array(k.m, k.objects, NULL, 4);
    of(&k, list, DUMP_VALUES(array, (uint32_t)-5));    /* 1: a size below zero */
    of(&k, list, DUMP_VALUES(array, 5));               /* 2: above the length of the array */
    of(&k, list, DUMP_VALUES(0x999, 1));               /* 3: no object there */
    of(&k, list, DUMP_VALUES(list, 1));                /* 4: no array */
    const uint64_t one = k.m->next_id, two = one + 32; /* a ring of nodes */
    dump_maker_instance_at(k.m, one, node, DUMP_VALUES(array, two));
    dump_maker_instance_at(k.m, two, node, DUMP_VALUES(array, one));
    k.m->next_id += 64;
    const uint64_t ring = of(&k, queue, DUMP_VALUES(one)); /* 5 */
    const uint64_t twig = k.m->next_id;
    k.m->next_id += 64;
    dump_maker_instance_at(k.m, twig, entry, DUMP_VALUES(array, 0, twig, 0)); /* its own left side */
    const uint64_t loop = of(&k, tree, DUMP_VALUES(twig, 3));                 /* 6: the size is told all the same */
    const uint64_t self = k.m->next_id;
    k.m->next_id += 32;
    rooted(&k, dump_maker_instance_at(k.m, self, wrapper, DUMP_VALUES(self)));                                 /* 7 */
    const uint64_t none = of(&k, wrapper, DUMP_VALUES(0));                                                     /* 8 */
    const uint64_t odd = of(&k, map, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(array), 1), 1)); /* 9 */
    heap_open(&h, k.m);
    expect_sizes(NULL, "- damaged\n- damaged\n- damaged\n- unknown layout\n- too many steps\n3 -\n- too many steps\n"
                       "- damaged\n1 -\n");
    hdx_buffer b = entries_of(&h, ring, NULL);
    cr_expect(gt(u64, b.len, 0)); /* round and round, but not for ever */
    hdx_buffer_free(&b);
    expect_entries(loop, NULL, "");
    expect_entries(self, NULL, "");
    expect_entries(none, NULL, "");
    expect_entries(odd, NULL, ""); /* a node without key and value */
    heap_close(&h);
}

/* Sizes that a tool overwrote with 0 say nothing: elements are counted where references lead to them. */
Test(absent, sizes_that_were_overwritten_are_counted_or_not_known)
{
    heap           h;
    kinds          k = kinds_begin();
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t chain = dump_maker_class(k.m, "java.util.LinkedList", k.object, "size:I first:L last:L");
    const uint64_t link = dump_maker_class(k.m, "java.util.LinkedList$Node", k.object, "item:L next:L prev:L");
    const uint64_t map = dump_maker_class(k.m, "java.util.HashMap", k.object, "table:L size:I loadFactor:F");
    const uint64_t node = dump_maker_class(k.m, "java.util.HashMap$Node", k.object, "hash:I key:L value:L next:L");
    const uint64_t set = dump_maker_class(k.m, "java.util.HashSet", k.object, "map:L");
    uint64_t       last = 0;
    for (unsigned i = 0; i < 3; i++) {
        const uint64_t second = dump_maker_instance(k.m, node, DUMP_VALUES(0, k.object, k.object, 0));
        const uint64_t first = dump_maker_instance(k.m, node, DUMP_VALUES(0, k.object, k.object, i == 0 ? 0 : second));
        const uint64_t table = dump_maker_array(k.m, k.objects, DUMP_VALUES(0, first, i == 2 ? second : 0, 0), 4);
        last = of(&k, map, DUMP_VALUES(table, 0, 0)); /* 1, 2 and 3 entries */
    }
    of(&k, map, DUMP_VALUES(0, 0, 0));
    of(&k, set, DUMP_VALUES(last));
    const uint64_t end = dump_maker_instance(k.m, link, DUMP_VALUES(k.object, 0, 0));
    of(&k, chain, DUMP_VALUES(0, dump_maker_instance(k.m, link, DUMP_VALUES(k.object, end, 0)), end));
    of(&k, list, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(k.object, 0), 2), 0));
    heap_open(&h, k.m);
    cr_expect(hdx_graph_summary_of(h.g)->stripping->fields);
    expect_sizes(NULL, "1 -\n2 -\n3 -\n0 -\n3 -\n2 -\n- values absent\n");
    heap_close(&h);
}

Test(damaged, many_collections_on_one_long_chain_share_their_steps)
{
    heap           h;
    kinds          k = kinds_begin();
    const uint64_t queue = dump_maker_class(k.m, "java.util.concurrent.ConcurrentLinkedQueue", k.object, "head:L");
    const uint64_t node = dump_maker_class(k.m, "app.Node", k.object, "item:L next:L");
    uint64_t       head = 0;
    enum { NODES = 6000, QUEUES = 400 };
    for (unsigned i = 0; i < NODES; i++)
        head = dump_maker_instance(k.m, node, DUMP_VALUES(k.object, head));
    for (unsigned i = 0; i < QUEUES; i++)
        of(&k, queue, DUMP_VALUES(head));
    heap_open(&h, k.m);
    hdx_buffer b = sizes_of(&h, NULL);
    unsigned   whole = 0, cut = 0;
    for (const char *at = b.at; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1)
        *(strncmp(at, "6000 -", 6) == 0 ? &whole : &cut) += 1;
    cr_expect(whole > 0 && whole + cut == QUEUES && cut > QUEUES / 2, "%u whole, %u cut", whole, cut);
    hdx_buffer_free(&b);
    heap_close(&h);
}

Test(absent, values_are_said_without_the_dump)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t array = dump_maker_array(k.m, k.objects, NULL, 2);
    of(&k, list, DUMP_VALUES(array, 1));
    heap_open(&h, k.m);
    hdx_graph_close(h.g);
    ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
    h.q.graph = h.g;
    expect_sizes(NULL, "- values absent\n");
    expect_entries(array, NULL, "-=! -=!");
    ok(ask(collections, &rows, { "by", "holder" }));
    expect_rows(rows, "GC root,1,0,0,0,0,0,32,1\n");
    heap_close(&h);
}

/* ---- sums and choices ---- */

Test(sums, are_by_the_field_that_holds_collections_directly_or_in_others)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t shop = dump_maker_class(k.m, "app.Shop", k.object, "name:L orders:L");
    const uint64_t inner = dump_maker_instance(
        k.m, list, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(k.object, 0, 0), 3), 1));
    const uint64_t outer = dump_maker_instance(
        k.m, list, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(inner, 0, 0, 0), 4), 1));
    of(&k, shop, DUMP_VALUES(0, outer));
    heap_open(&h, k.m);
    ok(ask(collections, &rows, { "by", "holder" }));
    expect_rows(rows, "app.Shop.orders,2,0,2,2,7,40,64,0\n");
    ok(ask(collections, &rows, { "by", "class" }, { "max-size", "0" }));
    expect_rows(rows, "");
    ok(ask(collections, &rows, { "by", "class" }, { "kind", "set" }));
    expect_rows(rows, "");
    ok(ask(collections, &rows, { "arrays", NULL }));
    hdx_buffer b = rows_text(rows);
    cr_expect(strstr(b.at, "java.lang.Object[],array,1,3,1,0.33,-,16,") != NULL, "%s", b.at);
    cr_expect(strstr(b.at, "java.lang.Object[],array,1,4,1,0.25,-,24,") != NULL, "%s", b.at);
    hdx_buffer_free(&b);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(sums, count_bytes_of_a_wrapped_collection_once)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t set = dump_maker_class(k.m, "java.util.HashSet", k.object, "map:L");
    const uint64_t map = dump_maker_class(k.m, "java.util.HashMap", k.object, "table:L size:I");
    const uint64_t node = dump_maker_class(k.m, "java.util.HashMap$Node", k.object, "key:L value:L next:L");
    const uint64_t second = dump_maker_instance(k.m, node, DUMP_VALUES(k.string, k.object, 0));
    const uint64_t first = dump_maker_instance(k.m, node, DUMP_VALUES(k.object, k.object, second));
    const uint64_t table = dump_maker_array(k.m, k.objects, DUMP_VALUES(0, first, 0, 0), 4);
    const uint64_t the_set = of(&k, set, DUMP_VALUES(dump_maker_instance(k.m, map, DUMP_VALUES(table, 2))));
    heap_open(&h, k.m);
    ok(ask(collections, &rows, { "by", "class" }));
    expect_rows(rows, "java.util.HashMap,1,0,0,2,4,24,32,0\njava.util.HashSet,1,0,0,2,0,0,24,0\n");
    char want[200];
    (void)snprintf(want, sizeof want, "-=0x%llx -=0x%llx", (unsigned long long)k.object, (unsigned long long)k.string);
    expect_entries(the_set, NULL, want);
    ok(ask(collections, &rows, { "class", "java.util.HashMap" }));
    hdx_buffer b = rows_text(rows);
    cr_expect(strstr(b.at, "java.util.HashMap,map,2,4,1,0.50,0.50,24,") != NULL, "%s", b.at);
    hdx_buffer_free(&b);
    hdx_rows_close(rows);
    heap_close(&h);
}

static void keep_notice(void *context, const char *line) { (void)snprintf(context, 200, "%s", line); }

/* FastHashMap and others override all methods of the map that they extend, and keep the entries in another one. */
Test(layouts, of_a_subclass_that_keeps_its_elements_elsewhere_say_no_size)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t other = dump_maker_class(k.m, "app.Other", list, "name:L inside:L");
    const uint64_t nothing = dump_maker_array(k.m, k.objects, NULL, 0);
    const uint64_t none = dump_maker_instance(k.m, list, DUMP_VALUES(nothing, 0));
    const uint64_t one =
        dump_maker_instance(k.m, list, DUMP_VALUES(dump_maker_array(k.m, k.objects, DUMP_VALUES(k.object), 1), 1));
    const uint64_t elsewhere = of(&k, other, DUMP_VALUES(0, one, nothing, 0));
    of(&k, other, DUMP_VALUES(0, none, nothing, 0));
    of(&k, other, DUMP_VALUES(0, one, dump_maker_array(k.m, k.objects, DUMP_VALUES(k.object, k.object), 2), 2));
    heap_open(&h, k.m);
    ok(ask(collections, &rows, { "class", "app.Other" }));
    expect_two(rows, "size", "note", "-,unknown layout\n0,-\n2,-\n");
    ok(ask(collections, &rows, { "class", "app.Other" }, { "max-size", "0" }));
    expect_two(rows, "size", "note", "0,-\n");
    char object[32], said[200] = "";
    (void)snprintf(object, sizeof object, "0x%llx", (unsigned long long)elsewhere);
    h.q.notice = keep_notice;
    h.q.notice_context = said;
    ok(ask(entries, &rows, { "object", object }));
    const hdx_cell *cells;
    cr_expect(not(hdx_rows_next(rows, &cells)));
    cr_expect(eq(str, (char *)hdx_rows_empty_reason(rows), "elements cannot be read: unknown layout"));
    cr_expect(eq(str, said, "incomplete: unknown layout after 0 entries"));
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(layouts, are_unknown_of_what_is_named_and_shaped_like_a_collection)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t map = dump_maker_class(k.m, "app.LongMap", k.object, "table:L");
    const uint64_t below = dump_maker_class(k.m, "app.Index", map, "");
    const uint64_t chain = dump_maker_class(k.m, "app.RingQueueImpl", k.object, "head:L");
    const uint64_t link = dump_maker_class(k.m, "app.Link", k.object, "next:L");
    const uint64_t bitmap = dump_maker_class(k.m, "app.Bitmap", k.object, "pixels:L");
    const uint64_t plain = dump_maker_class(k.m, "app.CharSet", k.object, "of:L");
    const uint64_t view = dump_maker_class(k.m, "app.LongMap$KeySet", k.object, "this$0:L cache:L");
    const uint64_t queue = dump_maker_class(k.m, "java.lang.ref.ReferenceQueue", k.object, "head:L");
    const uint64_t array = dump_maker_array(k.m, k.objects, NULL, 0);
    const uint64_t the_map = of(&k, map, DUMP_VALUES(array));
    of(&k, below, DUMP_VALUES(array));
    of(&k, chain,
       DUMP_VALUES(dump_maker_instance(k.m, link, DUMP_VALUES(dump_maker_instance(k.m, link, DUMP_VALUES(0))))));
    of(&k, bitmap, DUMP_VALUES(array));
    of(&k, plain, DUMP_VALUES(k.object));
    of(&k, view, DUMP_VALUES(the_map, array));
    of(&k, queue, DUMP_VALUES(array));
    heap_open(&h, k.m);
    ok(ask(collections, &rows, { "by", "class" }));
    expect_two(rows, "class", "unknown", "app.LongMap,1\napp.Index,1\napp.RingQueueImpl,1\n");
    heap_close(&h);
}

Test(sums, are_by_the_field_of_what_holds_a_reference_to_the_collection)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t reference = dump_maker_class(k.m, "java.lang.ref.Reference", k.object, "referent:L queue:L");
    const uint64_t soft = dump_maker_class(k.m, "java.lang.ref.SoftReference", reference, "");
    const uint64_t own = dump_maker_class(k.m, "app.Slot", soft, "more:L");
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    const uint64_t shop = dump_maker_class(k.m, "app.Shop", k.object, "orders:L slot:L");
    const uint64_t nothing = dump_maker_array(k.m, k.objects, NULL, 0);
    const uint64_t first = dump_maker_instance(k.m, list, DUMP_VALUES(nothing, 0));
    const uint64_t second = dump_maker_instance(k.m, list, DUMP_VALUES(nothing, 0));
    const uint64_t third = dump_maker_instance(k.m, list, DUMP_VALUES(nothing, 0));
    of(&k, shop,
       DUMP_VALUES(dump_maker_instance(k.m, soft, DUMP_VALUES(first, 0)),
                   dump_maker_instance(k.m, own, DUMP_VALUES(second, 0, 0))));
    of(&k, soft, DUMP_VALUES(0, third));
    heap_open(&h, k.m);
    ok(ask(collections, &rows, { "by", "holder" }));
    expect_two(rows, "holder", "collections", "app.Slot.more,1\napp.Shop.orders,1\njava.lang.ref.Reference.queue,1\n");
    heap_close(&h);
}

/* As in Caffeine: a map of nodes, whose values may be references; in a cache for futures, these have a result. */
Test(layouts, of_caches_show_keys_and_values_in_place_of_nodes_and_references)
{
    heap           h;
    kinds          k = kinds_begin();
    const uint64_t reference = dump_maker_class(k.m, "java.lang.ref.Reference", k.object, "referent:L");
    const uint64_t weak = dump_maker_class(k.m, "java.lang.ref.WeakReference", reference, "");
    const uint64_t own = dump_maker_class(k.m, "app.References$Weak", weak, "");
    const uint64_t node = dump_maker_class(k.m, "app.Node", k.object, "value:L");
    const uint64_t future = dump_maker_class(k.m, "app.Future", k.object, "result:L");
    const uint64_t late = dump_maker_class(k.m, "app.LateFuture", future, "");
    const uint64_t map = dump_maker_class(k.m, "app.Map", k.object, "pairs:L");
    const uint64_t cache = dump_maker_class(k.m, "app.Cache", k.object, "data:L");
    const uint64_t async = dump_maker_class(k.m, "app.AsyncCache", k.object, "cache:L");
    const uint64_t a = 0x9000, b = 0x9020, f = 0x9040, u = 0x9060;
    dump_maker_instance_at(k.m, a, k.object, NULL);
    dump_maker_instance_at(k.m, b, weak, DUMP_VALUES(a)); /* a value of the program stays what it is */
    dump_maker_instance_at(k.m, f, late, DUMP_VALUES(a));
    dump_maker_instance_at(k.m, u, future, DUMP_VALUES(0));
    const uint64_t values[] = {
        a, b, dump_maker_instance(k.m, own, DUMP_VALUES(b)), dump_maker_instance(k.m, own, DUMP_VALUES(0)), f, u
    };
    uint64_t pairs[12];
    for (unsigned i = 0; i < 6; i++) {
        pairs[2 * i] = i == 0 ? dump_maker_instance(k.m, own, DUMP_VALUES(a)) : a;
        pairs[2 * i + 1] = dump_maker_instance(k.m, node, &values[i]);
    }
    const uint64_t all = dump_maker_instance(k.m, map, DUMP_VALUES(dump_maker_array(k.m, k.objects, pairs, 12)));
    const uint64_t the_cache = of(&k, cache, DUMP_VALUES(all));
    const uint64_t the_async = of(&k, async, DUMP_VALUES(the_cache));
    heap_open(&h, k.m);
    const char *file = layouts_file(&h, "app.Map   map pairs=pairs\n"
                                        "app.Cache map of=data value=value unwrap=app.References$*#referent\n"
                                        "app.AsyncCache map of=cache unwrap=app.Future#result hidden\n");
    expect_entries(the_cache, file, "0x9000=0x9000 0x9000=0x9020 0x9000=0x9020 0x9000=- 0x9000=0x9040 0x9000=0x9060");
    expect_entries(the_async, file, "0x9000=0x9000 0x9000=0x9020 0x9000=0x9020 0x9000=- 0x9000=0x9000 0x9000=0x9060");
    heap_close(&h);
}

Test(sums, of_keys_take_equal_texts_of_small_maps_as_one)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t map = dump_maker_class(k.m, "java.util.HashMap", k.object, "table:L size:I");
    const uint64_t node = dump_maker_class(k.m, "java.util.HashMap$Node", k.object, "key:L value:L next:L");
    const uint64_t only = dump_maker_string(k.m, k.string, "only");
    const uint64_t both = dump_maker_instance(k.m, k.object, NULL);
    uint64_t       names[3];
    for (unsigned i = 0; i < 3; i++) {
        names[i] = dump_maker_string(k.m, k.string, "name");
        uint64_t chain = dump_maker_instance(k.m, node, DUMP_VALUES(names[i], 0, 0));
        if (i < 2)
            chain = dump_maker_instance(k.m, node, DUMP_VALUES(both, 0, chain));
        if (i == 0)
            chain = dump_maker_instance(k.m, node, DUMP_VALUES(only, 0, chain));
        const uint64_t table = dump_maker_array(k.m, k.objects, DUMP_VALUES(chain), 1);
        of(&k, map, DUMP_VALUES(table, 3 - i));
    }
    heap_open(&h, k.m);
    char want[200];
    (void)snprintf(want, sizeof want, "0x%llx,java.lang.String,name,3,3\n0x%llx,java.lang.Object,-,2,1\n",
                   (unsigned long long)names[0], (unsigned long long)both);
    cr_assert(eq(int, open_with(&h, &hdx_question_map_keys, NULL, 0, &rows), HDX_OK), "%s", h.err.message);
    expect_rows(rows, want);
    ok(ask(map_keys, &rows, { "max-size", "1" }));
    expect_rows(rows, "");
    heap_close(&h);
}

/* Threads and windows change no answer; memory of a question is bounded. */
Test(sums, of_many_collections_are_those_of_one_thread_and_keep_to_their_memory)
{
    heap           h;
    kinds          k = kinds_begin();
    hdx_rows      *rows;
    const uint64_t list = dump_maker_class(k.m, "java.util.ArrayList", k.object, "elementData:L size:I");
    enum { LISTS = 70000 };
    for (unsigned i = 0; i < LISTS; i++)
        of(&k, list, DUMP_VALUES(dump_maker_array(k.m, k.objects, NULL, 1 + i % 7), i % 2));
    heap_open(&h, k.m);
    hdx_mem    small = { .limit = 1u << 20 }, enough = { .limit = 16u << 20 };
    hdx_buffer one = hdx_buffer_of(NULL), four = hdx_buffer_of(NULL);
    h.q.mem = &enough;
    h.q.threads = 1;
    one = sizes_of(&h, NULL);
    h.q.threads = 4;
    four = sizes_of(&h, NULL);
    cr_expect(one.len == LISTS * 4 && one.len == four.len && memcmp(one.at, four.at, one.len) == 0);
    cr_expect(eq(u64, atomic_load(&enough.used), 0));
    hdx_buffer_free(&one);
    hdx_buffer_free(&four);
    h.q.mem = &small;
    cr_expect(eq(int, open_with(&h, &hdx_question_collections, NULL, 0, &rows), HDX_LIMIT));
    cr_expect(eq(u64, atomic_load(&small.used), 0));
    heap_close(&h);
}
