/*
 * shelves.h - a heap with collections of every layout that a line can describe (query/common/layouts.h), each whole,
 * empty, at its bounds, and damaged in one way; their lines; and a name for each object, so that answers can be read.
 *
 *     shelves s;
 *     shelves_make(&s);
 *     shelves_name(&s, id)          "ring: full, wrapped", "a"; NULL: it has none
 *     shelves_close(&s);
 */
#ifndef HDX_TESTS_QUERY_SHELVES_H
#define HDX_TESTS_QUERY_SHELVES_H

#include "heap.h"
#include "hprof/hprof.h"

static const char shelves_layouts[] =
    "app.Ring     queue slots=items from=head to=tail\n"
    "app.Window   queue size=n slots=items from=head\n"
    "app.Bits     set  size=%on slots=all bits=on\n"
    "app.ManyBits set  size=n slots=all bits=on\n"
    "app.Sparse   set  sparse=table\n"
    "app.LastNull set  size=n sparse=table last=null\n"
    "app.Pairs    map  pairs=table chain=app.Marks#CHAIN null=app.Marks#NULL\n"
    "app.PairsV   map  pairs=table free=value\n"
    "app.PairsN   map  size=n pairs=table free=none\n"
    "app.Columns  map  size=n keys=keys values=values last=zero\n"
    "app.ColumnsV map  keys=keys values=values free=value\n"
    "app.ColumnsN map  size=n keys=keys values=values free=none nothing=app.Marks#NOTHING\n"
    "app.Keyed    set  size=n keys=keys last=zero\n"
    "app.Buckets  map  buckets=table next=next key=key value=value bin=first free=value\n"
    "app.BucketsK map  size=n buckets=table next=next key=key value=value free=key null=app.Marks#NULL\n"
    "app.Parts    map  size=parts[].n buckets=parts[].table next=next key=key value=value\n"
    "app.Chain    list first=head.node next=next value=item free=value\n"
    "app.Count    list size=n first=head next=next value=item\n"
    "app.Tree     map  size=n root=top left=l right=r key=k value=v\n"
    "app.Branches map  root=top left=l right=r key=k\n"
    "app.Fields   list fields=x,y nothing=app.Marks#NOTHING\n"
    "app.FieldMap map  fields=x,y\n"
    "app.FieldOne list size=1 fields=x,y\n"
    "app.KeySet   set  of=of take=keys\n"
    "app.Values   list of=of take=values\n"
    "app.Wrapped  map  of=of\n"
    "app.View     list size=n of=of from=start\n"
    "app.Rest     list of=of from=start\n"
    "app.Inner    list size=of.parts[].n\n"
    "app.Behind   list size=of.n\n"
    "app.Sized    list size=n\n"
    "app.Sums     list size=n+2+#items+?items+?yes+%bits slots=items\n"
    "app.Ends     list size=0\n"
    "app.Deep     list slots=p[][][][]\n"
    "app.TooDeep  list slots=p[][][][][]\n"
    "app.Two      list slots=x,y\n"
    "app.Nodes    list slots=table value=item,other\n"
    "app.Near     list size=n slots=items\n"
    "app.Far      list size=n slots=items\n"
    "app.Self     list first=this next=next value=item\n"
    "app.Whole    list size=#this slots=this\n"
    "app.Nobody   list unknown\n";

typedef struct shelves {
    heap        heap;
    dump_maker *m;
    struct {
        char     name[48];
        uint64_t id;
    } named[200];
    unsigned count, first; /* first: of the collections; before are elements */
} shelves;

static inline uint64_t shelve(shelves *s, const char *name, uint64_t id)
{
    cr_assert(s->count < HDX_COUNT(s->named));
    (void)snprintf(s->named[s->count].name, sizeof s->named->name, "%s", name);
    s->named[s->count++].id = id;
    dump_maker_root(s->m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
    return id;
}

static inline const char *shelves_name(const shelves *s, uint64_t id)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->named[i].id == id)
            return s->named[i].name;
    return NULL;
}

#define NEW(class, ...)      dump_maker_instance(m, class, DUMP_VALUES(__VA_ARGS__))
#define SHELF(name, of, ...) shelve(s, name, NEW(of, __VA_ARGS__))
#define COUNT_OF(...)        (sizeof DUMP_VALUES(__VA_ARGS__) / sizeof(uint64_t))
#define ARRAY(...)           dump_maker_array(m, objects, DUMP_VALUES(__VA_ARGS__), COUNT_OF(__VA_ARGS__))
#define LONGS(...)           dump_maker_primitives(m, 'J', DUMP_VALUES(__VA_ARGS__), COUNT_OF(__VA_ARGS__))
#define INTS(...)            dump_maker_primitives(m, 'I', DUMP_VALUES(__VA_ARGS__), COUNT_OF(__VA_ARGS__))
#define CLASS(java, fields)  dump_maker_class(m, "app." java, object, fields)
#define GONE                 0xdead0

static inline void shelves_make(shelves *s)
{
    memset(s, 0, sizeof *s);
    dump_maker *m = s->m = dump_maker_new(8);
    m->next_id = 0x10000;
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    (void)dump_maker_class(m, "long[]", object, "");
    (void)dump_maker_class(m, "int[]", object, "");
    (void)dump_maker_class(m, "byte[]", object, "");
    const uint64_t string = dump_maker_class(m, "java.lang.String", object, "value:L coder:B hash:I");
    const uint64_t objects = dump_maker_class(m, "java.lang.Object[]", object, "");
    const uint64_t a = shelve(s, "a", NEW(object, 0)), b = shelve(s, "b", NEW(object, 0));
    const uint64_t c = shelve(s, "c", NEW(object, 0)), d = shelve(s, "d", NEW(object, 0));
    const uint64_t text = shelve(s, "text", dump_maker_string(m, string, "says something"));
    const uint64_t nothing = shelve(s, "NOTHING", NEW(object, 0)), chain = shelve(s, "CHAIN", NEW(object, 0));
    const uint64_t null = shelve(s, "NULL", NEW(object, 0)),
                   null4 = shelve(s, "NULL of the 4th loader", NEW(object, 0));
    const uint64_t null5 = shelve(s, "NULL of the 5th loader", NEW(object, 0));
    s->first = s->count;
    dump_maker_static(m, "many", 'I', 7);
    dump_maker_static(m, "NULL", 'L', null);
    dump_maker_static(m, "CHAIN", 'L', chain);
    dump_maker_static(m, "NOTHING", 'L', nothing);
    (void)CLASS("Marks", "");
    for (unsigned loader = 2; loader <= 5; loader++) {
        m->loader = s->named[loader].id;
        dump_maker_static(m, "NULL", 'L', loader == 4 ? null4 : loader == 5 ? null5 : nothing);
        dump_maker_static(m, "CHAIN", 'L', 0);
        dump_maker_static(m, "NOTHINGS", 'L', a);
        dump_maker_static(m, "NOTHINh", 'L', b);
        (void)CLASS("Marks", "");
    }
    m->loader = 0;
    const uint64_t none = dump_maker_array(m, objects, NULL, 0), empty = ARRAY(0, 0, 0, 0), no_array = NEW(object, 0);

    const uint64_t ring = CLASS("Ring", "items:L head:I tail:I");
    const uint64_t four = ARRAY(a, b, c, d);
    SHELF("ring: from 1 to 3", ring, four, 1, 3);
    SHELF("ring: from 3 to 1", ring, four, 3, 1);
    SHELF("ring: from 2 to 2", ring, four, 2, 2);
    SHELF("ring: from 0 to the length", ring, four, 0, 4);
    SHELF("ring: from 3 to the length", ring, four, 3, 4);
    SHELF("ring: from 0 past the length", ring, four, 0, 5);
    SHELF("ring: from the length", ring, four, 4, 1);
    SHELF("ring: from below zero", ring, four, (uint32_t)-1, 1);
    SHELF("ring: of no elements", ring, none, 0, 0);
    SHELF("ring: without an array", ring, 0, 0, 0);
    SHELF("ring: array gone", ring, GONE, 0, 0);
    SHELF("ring: no array", ring, no_array, 0, 1);
    const uint64_t window = CLASS("Window", "items:L head:I n:I");
    SHELF("window: 3 from 2", window, four, 2, 3);
    SHELF("window: 4 from 0", window, four, 0, 4);
    SHELF("window: 5 from 0", window, four, 0, 5);
    SHELF("window: 0 from 3", window, four, 3, 0);
    SHELF("window: below zero", window, four, 0, (uint32_t)-2);
    const uint64_t sub_ring = dump_maker_class(m, "app.SubRing", ring, "b:B more:L"); /* its own fields come first */
    const uint64_t sub_sub = dump_maker_class(m, "app.SubSubRing", sub_ring, "head:J");
    SHELF("sub ring: from 1 to 3", sub_ring, 9, a, four, 1, 3);
    SHELF("sub sub ring: from 3 to 2", sub_sub, 77, 9, a, four, 3, 2);
    const uint64_t bits = CLASS("Bits", "all:L on:J"), many_bits = CLASS("ManyBits", "all:L on:L n:I");
    uint64_t       long_one[130];
    for (unsigned i = 0; i < 130; i++)
        long_one[i] = i % 3 == 0 ? a : i % 3 == 1 ? b : c;
    const uint64_t hundred = dump_maker_array(m, objects, long_one, 130);
    SHELF("bits: second and fourth", bits, four, 0xa);
    SHELF("bits: the first and the 64th of 130", bits, hundred, 0x8000000000000001);
    SHELF("bits: none", bits, four, 0);
    SHELF("many bits: 0, 63, 64, 127", many_bits, hundred, LONGS(0x8000000000000001, 0x8000000000000001), 4);
    SHELF("many bits: no words", many_bits, hundred, 0, 0);
    SHELF("many bits: in a double", CLASS("ManyBits", "all:L on:D n:I"), hundred, 1, 2);
    SHELF("many bits: words gone", many_bits, four, GONE, 1);
    const uint64_t sparse = CLASS("Sparse", "table:L"), last = CLASS("LastNull", "table:L null:Z n:I");
    SHELF("sparse: two of five", sparse, ARRAY(0, a, 0, b, 0));
    SHELF("sparse: none of four", sparse, empty);
    SHELF("sparse: without an array", sparse, 0);
    SHELF("sparse: zeros of numbers", sparse, INTS(0, 7, 0, 9));
    SHELF("sparse: zeros of bytes", sparse, dump_maker_primitives(m, 'B', DUMP_VALUES(0, 255), 2));
    SHELF("sparse: zeros of booleans", sparse, dump_maker_primitives(m, 'Z', DUMP_VALUES(0, 1), 2));
    SHELF("sparse: zeros of characters", sparse, dump_maker_primitives(m, 'C', DUMP_VALUES(0, 'x'), 2));
    SHELF("sparse: zeros of floats", sparse, dump_maker_primitives(m, 'F', DUMP_VALUES(0, 0x3fc00000), 2));
    SHELF("sparse: zeros of doubles", sparse, dump_maker_primitives(m, 'D', DUMP_VALUES(0, 0x3ff8000000000000), 2));
    SHELF("last null: it is there", last, ARRAY(0, a, 0), 1, 2);
    SHELF("last null: it is not", last, ARRAY(0, a, 0), 0, 1);
    SHELF("last null: a place before", last, ARRAY(a, 0, b), 1, 2);
    const uint64_t pairs = CLASS("Pairs", "table:L"), pairs_v = CLASS("PairsV", "table:L"),
                   pairs_n = CLASS("PairsN", "table:L n:I");
    SHELF("pairs: two, one of them null", pairs, ARRAY(a, b, 0, c, null, d));
    SHELF("pairs: nulls of other loaders", pairs, ARRAY(null4, null4, null5, null5));
    SHELF("pairs: a chain between", pairs, ARRAY(a, b, chain, ARRAY(b, c, c, d, 0, 0), d, a));
    SHELF("pairs: a chain of nothing", pairs, ARRAY(chain, 0, a, b));
    SHELF("pairs: a chain that is none", pairs, ARRAY(chain, no_array, a, b));
    SHELF("pairs: an odd one", pairs, ARRAY(a, b, c));
    SHELF("pairs: a single place", pairs, ARRAY(a));
    SHELF("pairs of values: one", pairs_v, ARRAY(a, 0, 0, b));
    SHELF("pairs of all: two of three", pairs_n, ARRAY(0, 0, a, 0, b, b), 2);
    SHELF("pairs of all: none", pairs_n, 0, 0);
    const uint64_t columns = CLASS("Columns", "keys:L values:L n:I zero:Z");
    const uint64_t columns_v = CLASS("ColumnsV", "keys:L values:L"),
                   columns_n = CLASS("ColumnsN", "keys:L values:L n:I");
    const uint64_t keyed = CLASS("Keyed", "keys:L n:I zero:Z");
    SHELF("columns: two", columns, LONGS(0, 7, 0, 9), four, 2, 0);
    SHELF("columns: the last with zero", columns, LONGS(0, 7, 9, 0), four, 3, 1);
    SHELF("columns: fewer values", columns, LONGS(7, 8, 9), ARRAY(a, b), 3, 0);
    SHELF("columns: more values", columns, LONGS(7, 8), ARRAY(a, b, c), 2, 0);
    SHELF("columns: values of numbers", columns, LONGS(7, 0), INTS(70, 71), 1, 0);
    SHELF("columns: no values", columns, LONGS(7, 8), 0, 2, 0);
    SHELF("columns: neither", columns, 0, 0, 0, 0);
    SHELF("columns of values: keys are places", columns_v, ARRAY(a, b, c), ARRAY(0, c, 0));
    SHELF("columns of values: none", columns_v, ARRAY(a, b, c), 0);
    SHELF("columns of all: one is nothing", columns_n, INTS(0, 1, 2, 3), ARRAY(a, nothing, 0, d), 3);
    SHELF("columns of all: all but the size", columns_n, INTS(0, 1, 2), ARRAY(a, b, c), 1);
    SHELF("keyed: two", keyed, INTS(5, 0, 6), 2, 0);
    SHELF("keyed: and zero", keyed, INTS(5, 0, 0), 2, 1);
    const uint64_t node = CLASS("Node", "key:L value:L next:L"), bin = CLASS("Bin", "first:L next:L");
    const uint64_t buckets = CLASS("Buckets", "table:L"), buckets_k = CLASS("BucketsK", "table:L n:I");
    const uint64_t first_node = NEW(node, a, b, NEW(node, b, c, NEW(node, c, 0, 0)));
    SHELF("buckets: three in one, one without a value", buckets, ARRAY(0, first_node, 0));
    SHELF("buckets: in a bin", buckets, ARRAY(NEW(bin, NEW(node, a, b, NEW(node, c, d, 0)), 0), NEW(node, d, a, 0)));
    SHELF("buckets: an empty bin", buckets, ARRAY(NEW(bin, 0, 0), NEW(node, d, a, 0)));
    SHELF("buckets: empty", buckets, empty);
    for (unsigned i = 0; i < 130; i++)
        long_one[i] = i % 64 < 2 || i == 129 ? NEW(node, i % 2 == 0 ? a : b, c, 0) : 0;
    SHELF("buckets: 130 with six", buckets, dump_maker_array(m, objects, long_one, 130));
    SHELF("buckets: no table", buckets, 0);
    SHELF("buckets: what is no node", buckets, ARRAY(a));
    SHELF("buckets: node gone", buckets, ARRAY(GONE));
    SHELF("buckets of keys: null and a free one", buckets_k,
          ARRAY(NEW(node, null, a, NEW(node, 0, b, 0)), NEW(node, a, null, 0)), 2);
    SHELF("buckets of keys: less than it says", buckets_k, ARRAY(NEW(node, a, b, 0)), 7);
    const uint64_t part = CLASS("Part", "n:I table:L"), parts = CLASS("Parts", "parts:L");
    const uint64_t one_part = NEW(part, 2, ARRAY(NEW(node, a, b, 0), 0, NEW(node, b, c, 0)));
    SHELF("parts: two and a null", parts, ARRAY(one_part, 0, NEW(part, 1, ARRAY(NEW(node, c, d, 0)))));
    SHELF("parts: of no table", parts, ARRAY(NEW(part, 0, 0)));
    SHELF("parts: none", parts, 0);
    SHELF("parts: an object of another class", parts, ARRAY(a));
    SHELF("inner: by what another has", CLASS("Inner", "of:L"), NEW(parts, ARRAY(one_part, NEW(part, 3, 0))));
    SHELF("buckets: a node with other fields", buckets, ARRAY(NEW(ring, four, 1, 3)));
    const uint64_t behind = CLASS("Behind", "of:L");
    SHELF("behind: what another says", behind, one_part);
    SHELF("behind: nothing", behind, 0);
    const uint64_t link = CLASS("Link", "item:L next:L"), head = CLASS("Head", "node:L");
    const uint64_t links = CLASS("Chain", "head:L"), count = CLASS("Count", "head:L n:I");
    SHELF("chain: a, hole, b", links, NEW(head, NEW(link, a, NEW(link, 0, NEW(link, b, 0)))));
    SHELF("chain: no node", links, NEW(head, 0));
    SHELF("chain: no head", links, 0);
    const uint64_t own_next = m->next_id;
    m->next_id += 32;
    dump_maker_instance_at(m, own_next, link, DUMP_VALUES(a, own_next));
    SHELF("chain: a node that was taken out", links, NEW(head, own_next));
    SHELF("chain: ends in another class", links, NEW(head, NEW(link, a, b)));
    SHELF("chain: begins with another class", links, NEW(head, b));
    SHELF("count: two", count, NEW(link, a, NEW(link, 0, 0)), 2);
    SHELF("count: none, at an object of another class", count, b, 0);
    SHELF("count: one, at an object of another class", count, b, 1);
    const uint64_t leaf = CLASS("Leaf", "l:L r:L k:J v:L");
    const uint64_t tree = CLASS("Tree", "top:L n:I"), branches = CLASS("Branches", "top:L");
    const uint64_t top = NEW(leaf, NEW(leaf, 0, NEW(leaf, 0, 0, 2, b), 1, a), NEW(leaf, 0, 0, 4, d), 3, c);
    SHELF("tree: four", tree, top, 4);
    SHELF("tree: none", tree, 0, 0);
    SHELF("branches: four", branches, top);
    SHELF("branches: left is no leaf", branches, NEW(leaf, a, 0, 1, 0));
    const uint64_t fields = CLASS("Fields", "x:L y:L"), field_map = CLASS("FieldMap", "x:L y:L");
    const uint64_t field_one = CLASS("FieldOne", "x:L y:L");
    SHELF("fields: two", fields, a, b);
    SHELF("fields: one is nothing", fields, a, nothing);
    SHELF("fields: none", fields, 0, 0);
    SHELF("field map: a pair", field_map, a, b);
    SHELF("field map: a pair of null", field_map, 0, 0);
    SHELF("field one: the first", field_one, 0, b);
    const uint64_t key_set = CLASS("KeySet", "of:L"), values = CLASS("Values", "of:L"),
                   wrapped = CLASS("Wrapped", "of:L");
    const uint64_t view = CLASS("View", "of:L start:I n:I"), rest = CLASS("Rest", "of:L start:I");
    const uint64_t map = NEW(tree, top, 4), list = NEW(window, four, 0, 4);
    SHELF("key set: of a tree", key_set, map);
    SHELF("values: of a tree", values, map);
    SHELF("values: of a key set", values, NEW(key_set, map));
    SHELF("values: of a list", values, list);
    SHELF("wrapped: twice", wrapped, NEW(wrapped, map));
    SHELF("wrapped: keys of numbers and no values", wrapped, NEW(branches, top));
    SHELF("wrapped: what is no collection", wrapped, a);
    SHELF("wrapped: null", wrapped, 0);
    SHELF("wrapped: an array", wrapped, four);
    SHELF("wrapped: a class", wrapped, object);
    SHELF("view: two from 1", view, list, 1, 2);
    SHELF("view: one from 3", view, list, 3, 1);
    SHELF("view: more than there is", view, list, 3, 9);
    SHELF("view: of a view", view, NEW(view, list, 1, 3), 1, 1);
    SHELF("view: of a longer view", view, NEW(view, list, 0, 1), 0, 3);
    SHELF("view: from below zero", view, list, (uint64_t)-1, 1);
    SHELF("view: from far twice", view, NEW(view, list, (uint64_t)-1, 1), (uint64_t)-1, 1);
    SHELF("rest: from 2", rest, list, 2);
    SHELF("rest: from the end", rest, list, 4);
    const uint64_t sized = CLASS("Sized", "n:I"), sums = CLASS("Sums", "n:J items:L yes:Z bits:J");
    SHELF("sized: five", sized, 5);
    SHELF("sized: none", sized, 0);
    static const struct {
        const char *name;
        char        type;
        uint64_t    value;
    } types[] = { { "boolean", 'Z', 1 },   { "char", 'C', 0xffff },     { "byte", 'B', 0xff },
                  { "short", 'S', 12345 }, { "long", 'J', 5000000000 }, { "float", 'F', 0x3f800000 },
                  { "double", 'D', 1 },    { "reference", 'L', 0 },     { "greatest long", 'J', INT64_MAX } };
    for (unsigned i = 0; i < HDX_COUNT(types); i++) {
        char name[48], has[8];
        (void)snprintf(name, sizeof name, "sized: by a %s", types[i].name);
        (void)snprintf(has, sizeof has, "n:%c", types[i].type);
        const uint64_t of = dump_maker_class(m, "app.Sized", object, has);
        shelve(s, name, dump_maker_instance(m, of, &types[i].value));
    }
    SHELF("sums: all of its terms", sums, (uint64_t)-8, four, 1, 0x7);
    SHELF("sums: below zero and up again", sums, (uint64_t)-5, four, 0, 0);
    SHELF("sums: without an array", sums, (uint64_t)-3, 0, 1, 0);
    SHELF("sums: below zero", sums, (uint64_t)-8, four, 0, 0);
    SHELF("sums: one more than its array has", sums, (uint64_t)-2, four, 0, 0);
    SHELF("sums: array gone", sums, 1, GONE, 0, 0);
    SHELF("sums: no array", sums, 1, no_array, 0, 0);
    SHELF("ends: none", CLASS("Ends", ""), 0);
    const uint64_t deep = CLASS("Deep", "p:L"), too_deep = CLASS("TooDeep", "p:L");
    const uint64_t two_levels = ARRAY(ARRAY(a, b), 0, ARRAY(c)),
                   tall = ARRAY(ARRAY(two_levels), 0, ARRAY(ARRAY(ARRAY(d))));
    SHELF("deep: arrays of arrays", deep, ARRAY(tall, ARRAY(ARRAY(two_levels))));
    SHELF("deep: shallower than it says", deep, ARRAY(ARRAY(a)));
    SHELF("too deep: arrays of arrays", too_deep, ARRAY(tall));
    const uint64_t two = CLASS("Two", "x:L y:L"), nodes = CLASS("Nodes", "table:L"), other = CLASS("Other", "other:L");
    SHELF("two: both", two, ARRAY(a, b), ARRAY(c));
    SHELF("two: the second", two, 0, ARRAY(c));
    SHELF("two: neither", two, 0, 0);
    SHELF("nodes: of two classes", nodes, ARRAY(NEW(link, a, 0), 0, NEW(other, b), NEW(link, 0, 0)));
    SHELF("nodes: what is none", nodes, ARRAY(NEW(link, a, 0), c));
    /* the fields before are 247 bytes, and 248: the record's first 256 are read at once */
    char before[32 * 6 + 64] = "";
    for (unsigned i = 0; i < 30; i++)
        (void)snprintf(before + strlen(before), sizeof before - strlen(before), "j%u:J ", i);
    uint64_t far_values[40] = { 0 };
    char     has[300];
    (void)snprintf(has, sizeof has, "%si:I items:L n:I", before);
    const uint64_t near_class = dump_maker_class(m, "app.Near", object, has); /* n ends at 256 */
    far_values[31] = four;
    far_values[32] = 3;
    shelve(s, "near: the last field ends at 256", dump_maker_instance(m, near_class, far_values));
    (void)snprintf(has, sizeof has, "%si:I b:B items:L n:I", before);
    const uint64_t far_class = dump_maker_class(m, "app.Far", object, has); /* and at 257 */
    far_values[31] = 0;
    far_values[32] = four;
    far_values[33] = 3;
    shelve(s, "far: the last field ends at 257", dump_maker_instance(m, far_class, far_values));
    const uint64_t self = CLASS("Self", "item:L next:L");
    SHELF("self: two", self, a, NEW(self, b, 0));
    SHELF("nobody: knows", CLASS("Nobody", "x:L"), a);
    const uint64_t java_list = dump_maker_class(m, "java.util.ArrayList", object, "elementData:L size:I");
    const uint64_t java_set = dump_maker_class(m, "java.util.HashSet", object, "map:L");
    SHELF("java list: three", java_list, four, 3);
    SHELF("java list: damaged", java_list, four, 5);
    SHELF("java set: without its map", java_set, 0);
    SHELF("java set: its map is gone", java_set, GONE);
    shelve(s, "array: of four", four);
    shelve(s, "array: of none", none);
    shelve(s, "array: with nulls", ARRAY(0, a, 0));
    shelve(s, "array: of 130", hundred);
    shelve(s, "array: of numbers", INTS(1, 2, 3));
    shelve(s, "array: of a text", dump_maker_array(m, objects, DUMP_VALUES(text), 1));
    heap_open(&s->heap, m);
}

static inline void shelves_close(shelves *s) { heap_close(&s->heap); }

#endif
