/*
 * test_proof.c - the proof of redaction: which bytes of a dump its hash takes in, and which arrays it sees with
 * differing elements. And names: what is replaced in them, by what.
 */
#include "over.h"

typedef unsigned long long ull;

enum { BOX = 0x100, KEPT_BOX = 0x200, PLAIN = 0x300, LONG_BOX = 0x400 };

/* Byte after byte of a small dump that has every kind of entry; where something begins is noted. */
typedef struct made {
    dump_maker *m;
    hdx_pos     text, table, box, kept, plain, longer, refs, bytes, ints, root, class_at, heap;
} made;

static hdx_pos here(dump_maker *m) { return dump_maker_mark(m); }

static made make(void)
{
    made           d = { .m = dump_maker_new(4) };
    const uint64_t same[] = { 7, 7, 7, 7, 7 }, refs[] = { 5, 6 };
    dump_maker_top(d.m, HDX_TOP_STRING, "\0\0\0\1text", 8);
    d.text = 31 + 9;
    dump_maker_top(d.m, HDX_TOP_STRING, "\1\2", 2);
    dump_maker_top(d.m, HDX_TOP_TRACE, "0123456789ab", 12);
    d.table = 31 + 17 + 11 + 9;
    d.class_at = here(d.m);
    (void)dump_maker_class_at(d.m, PLAIN, NULL, 0, "a:I b:I");
    (void)dump_maker_class_at(d.m, BOX, NULL, 0, "value:I b:I");
    (void)dump_maker_class_at(d.m, KEPT_BOX, NULL, 0, "value:I b:I");
    (void)dump_maker_class_at(d.m, LONG_BOX, NULL, 0, "value:B");
    d.box = here(d.m) + 17;
    (void)dump_maker_instance(d.m, BOX, NULL);
    d.kept = here(d.m) + 17;
    (void)dump_maker_instance(d.m, KEPT_BOX, NULL);
    d.plain = here(d.m) + 17;
    (void)dump_maker_instance(d.m, PLAIN, NULL);
    d.longer = here(d.m) + 17;
    (void)dump_maker_instance(d.m, LONG_BOX, NULL);
    d.refs = here(d.m) + 17;
    (void)dump_maker_array(d.m, BOX, refs, 2);
    d.bytes = here(d.m) + 14;
    (void)dump_maker_primitives(d.m, 'B', same, 5);
    d.ints = here(d.m) + 14;
    (void)dump_maker_primitives(d.m, 'I', same, 3);
    d.root = here(d.m);
    dump_maker_root(d.m, HDX_SUB_ROOT_STICKY_CLASS, 5, 0, 0);
    d.heap = dump_maker_heap_at(d.m);
    hdx_pos *const places[] = {
        &d.box, &d.kept, &d.plain, &d.longer, &d.refs, &d.bytes, &d.ints, &d.root, &d.class_at
    };
    for (unsigned k = 0; k < sizeof places / sizeof *places; k++)
        *places[k] += d.heap;
    return d;
}

static void classes_of(choice *c)
{
    bool fresh;
    *c = (choice){ .id_size = 4, .classes = hdx_map_of(NULL), .keep_types = 1u << 10 };
    *hdx_map_put(&c->classes, BOX, &fresh) = 4 * CLASS_WRAPPER | CLASS_PLATFORM;
    *hdx_map_put(&c->classes, KEPT_BOX, &fresh) = 4 * CLASS_WRAPPER | CLASS_KEEP;
    *hdx_map_put(&c->classes, LONG_BOX, &fresh) = 8 * CLASS_WRAPPER; /* more than an instance has */
}

static proof proof_of(const void *bytes, size_t len)
{
    over      o;
    choice    c;
    proof     out;
    hdx_error err = { 0 };
    classes_of(&c);
    over_open(&o, bytes, len, 64);
    cr_assert(hdx_strip_proof_of(o.source, &c, NULL, &out, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    hdx_map_free(&c.classes);
    return out;
}

Test(proof, takes_in_every_byte_but_contents_that_may_change)
{
    made           d = make();
    size_t         len;
    const uint8_t *whole = dump_maker_bytes(d.m, &len);
    uint8_t       *bytes = malloc(len);
    memcpy(bytes, whole, len);
    const proof was = proof_of(bytes, len);
    cr_expect(was.entries == 4 + 4 + 3 + 1 && was.uneven == 0, "%llu entries", (ull)was.entries);
    const struct {
        hdx_pos at;
        size_t  len;
    } free_ones[] = { { d.text + 4, 4 }, { d.box, 4 }, { d.longer, 1 }, { d.bytes, 5 } };
    const hdx_pos taken[] = { 0,
                              24,
                              30,
                              d.text,
                              d.text + 3,
                              d.text + 8 + 9,
                              d.table,
                              d.table + 11,
                              d.class_at + 5,
                              d.box - 12,
                              d.box + 4,
                              d.kept,
                              d.kept + 3,
                              d.plain,
                              d.plain + 3,
                              d.plain + 7,
                              d.refs,
                              d.refs + 7,
                              d.bytes - 14 + 1,
                              d.ints,
                              d.ints + 11,
                              d.root + 1,
                              d.heap + 1 };
    for (unsigned k = 0; k < sizeof taken / sizeof *taken; k++) {
        bytes[taken[k]] ^= 0x40;
        cr_expect(proof_of(bytes, len).graph != was.graph, "byte %llu is in it", (ull)taken[k]);
        bytes[taken[k]] ^= 0x40;
    }
    for (unsigned k = 0; k < sizeof free_ones / sizeof *free_ones; k++)
        for (size_t b = 0; b < free_ones[k].len; b++) {
            bytes[free_ones[k].at + b] ^= 0x40;
            cr_expect(proof_of(bytes, len).graph == was.graph, "byte %llu is not", (ull)(free_ones[k].at + b));
            cr_expect(proof_of(bytes, len).uneven == (free_ones[k].at == d.bytes));
            bytes[free_ones[k].at + b] ^= 0x40;
        }
    bytes[d.ints + 11] ^= 1;
    cr_expect(proof_of(bytes, len).uneven == 0, "kept arrays may be uneven");
    free(bytes);
    dump_maker_free(d.m);
}

static uint64_t uneven_of(char type, uint32_t count, uint32_t odd, uint64_t bit)
{
    dump_maker *m = dump_maker_new(4);
    uint64_t   *values = calloc(count + 1, sizeof *values);
    size_t      len;
    for (uint32_t k = 0; k < count; k++)
        values[k] = 0x0102030405060708 ^ (k == odd ? bit : 0);
    (void)dump_maker_primitives(m, type, values, count);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    const uint64_t n = proof_of(bytes, len).uneven;
    free(values);
    dump_maker_free(m);
    return n;
}

Test(proof, sees_one_element_that_differs)
{
    static const struct {
        char     type;
        unsigned bits;
    } types[] = { { 'B', 8 }, { 'Z', 8 }, { 'S', 16 }, { 'C', 16 }, { 'F', 32 }, { 'J', 64 }, { 'D', 64 } };
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        cr_expect(uneven_of(types[t].type, 0, 0, 1) == 0 && uneven_of(types[t].type, 1, 0, 1) == 0);
        for (unsigned bit = 0; bit < types[t].bits; bit += 7)
            cr_expect(uneven_of(types[t].type, 2, 1, 1ull << bit) == 1 &&
                          uneven_of(types[t].type, 2, 0, 1ull << bit) == 1,
                      "%c, bit %u", types[t].type, bit);
    }
    static const uint32_t places[] = { 0, 1, 8191, 8192, 8193, 16383, 16384, 19999 };
    for (unsigned k = 0; k < 8; k++)
        cr_expect(uneven_of('B', 20000, places[k], 1) == 1, "element %u", places[k]);
    cr_expect(uneven_of('B', 20000, 20000, 1) == 0 && uneven_of('J', 20000, 20000, 1) == 0);
}

Test(proof, long_contents_that_are_kept_are_taken_in_to_the_last_byte)
{
    static const uint32_t counts[] = { 2047, 2048, 2049, 4096, 5000 };
    for (unsigned k = 0; k < 5; k++) {
        dump_maker *m = dump_maker_new(4);
        size_t      len;
        (void)dump_maker_primitives(m, 'I', NULL, counts[k]);
        const uint64_t at = dump_maker_heap_at(m) + 9 + 14;
        (void)dump_maker_bytes(m, &len);
        uint8_t *bytes = malloc(len);
        memcpy(bytes, dump_maker_bytes(m, &len), len);
        const uint64_t was = proof_of(bytes, len).graph;
        for (uint64_t b = 0; b < 4ull * counts[k]; b += b == 0 ? 8191 : b == 8191 ? 1 : 4ull * counts[k] - 1 - b) {
            bytes[at + b] ^= 1;
            cr_expect(proof_of(bytes, len).graph != was, "byte %llu of %u ints", (ull)b, counts[k]);
            bytes[at + b] ^= 1;
            if (b == 4ull * counts[k] - 1)
                break;
        }
        free(bytes);
        dump_maker_free(m);
    }
}

static hdx_code refused(const void *bytes, size_t len, hdx_error *err)
{
    over   o;
    choice c;
    proof  out;
    classes_of(&c);
    over_open(&o, bytes, len, 64);
    const hdx_code code = hdx_strip_proof_of(o.source, &c, NULL, &out, err);
    over_close(&o);
    hdx_map_free(&c.classes);
    return code;
}

Test(proof, of_a_file_that_does_not_read_is_none)
{
    made           d = make();
    size_t         len;
    hdx_error      err = { 0 };
    const uint8_t *whole = dump_maker_bytes(d.m, &len);
    uint8_t       *bytes = malloc(len);
    memcpy(bytes, whole, len);
    cr_expect(refused(bytes, 30, &err) == HDX_BAD_DUMP && err.offset == 0 && strstr(err.message, "ends inside") != NULL,
              "%s", err.message);
    cr_expect(refused(bytes, 31, &err) == HDX_OK);
    cr_expect(refused(bytes, 33, &err) == HDX_BAD_DUMP && err.offset == 31, "%s", err.message);
    bytes[d.ints - 14] = 0x55; /* no entry has this tag */
    cr_expect(refused(bytes, len, &err) == HDX_BAD_DUMP && err.offset == d.ints - 14, "%llu: %s", (ull)err.offset,
              err.message);
    free(bytes);
    dump_maker_free(d.m);
}

/* ---- names ---- */

static void renamed(const char *name, const char *want)
{
    char text[128];
    (void)snprintf(text, sizeof text, "%s|%s", name, "abcd"); /* what stands behind is left alone */
    hdx_strip_proof_rename((uint8_t *)text, strlen(name));
    cr_expect(strcmp(text + strlen(name), "|abcd") == 0);
    text[strlen(name)] = '\0';
    cr_expect(strcmp(text, want) == 0, "%s: %s, not %s", name, text, want);
}

Test(names, of_up_to_three_letters_are_shifted_so_that_two_never_become_one)
{
    renamed("", "");
    renamed("a", "l");
    renamed("z", "k");
    renamed("o", "z");
    renamed("p", "a");
    renamed("A", "L");
    renamed("Z", "K");
    renamed("aZ", "lK");
    renamed("a1z", "l1k");
    renamed("_az", "_lk");
    renamed("\303\251a", "\303\251l");
    renamed("a.b.C", "l.m.N");
    renamed("a$b/C-d", "l$m/N-o");
}

Test(names, that_begin_with_a_digit_and_what_is_no_letter_stay)
{
    renamed("1abc", "1abc");
    renamed("9", "9");
    renamed("1abcdef.a", "1abcdef.l");
    renamed("@[`{/:.-$<> ", "@[`{/:.-$<> ");
    renamed("a@a[a`a{a/a:a\177a", "l@l[l`l{l/l:l\177l");
}

Test(names, of_four_letters_and_more_are_others_as_long_of_letters_as_large)
{
    renamed("abcd", "qkqn");
    renamed("Abcd", "Igwa");
    renamed("ab_9", "quvh");
    renamed("Gr\303\266\303\237e", "Pwdxmww");
    renamed("com.acme.Cache", "nzx.eplj.Vxpmm");
}

Test(names, in_descriptors_are_those_between_l_and_semicolon)
{
    renamed("(ILa/b;[J)V", "(ILl/m;[J)V");
    renamed("[La.B;", "[Ll.M;");
    renamed("La;La;I", "Ll;Ll;I");
    renamed("La;L", "Ll;L");
    renamed("(IJ)V", "(IJ)V");
    renamed("[I", "[T");
    renamed("La", "Wl");
    renamed("(La", "(Ll");
    renamed("a;", "a;");
}
