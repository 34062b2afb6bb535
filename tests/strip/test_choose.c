/*
 * test_choose.c - what is found out before a dump is written: what classes are by their names, which arrays are texts,
 * which bitmaps are equal, which names are in use.
 */
#include "over.h"

#include "base/map.h"

typedef unsigned long long ull;

typedef struct asked {
    over   o;
    choice c;
} asked;

static hdx_code ask(asked *a, dump_maker *m, const hdx_strip_options *o, hdx_error *err) /* takes the maker */
{
    *a = (asked){ .c = { .options = o, .policy = hdx_strip_policy_of(o->policy), .id_size = m->id_size } };
    over_dump(&a->o, m, 64);
    return hdx_strip_choose(&a->c, a->o.source, NULL, err);
}
static asked choose(dump_maker *m, const hdx_strip_options *o)
{
    asked     a;
    hdx_error err = { 0 };
    cr_assert(ask(&a, m, o, &err) == HDX_OK, "%s", err.message);
    return a;
}
static asked matrix(dump_maker *m) { return choose(m, &(hdx_strip_options){ .policy = HDX_STRIP_MATRIX }); }
static void  end(asked *a)
{
    hdx_strip_choice_free(&a->c);
    over_close(&a->o);
}

static uint64_t bits_with(const char *name, const char *keep, const char *drop)
{
    const char *const keeps[] = { "nothing", keep }, *const drops[] = { "nothing", drop };
    const hdx_strip_options o = { .policy = HDX_STRIP_SHARK,
                                  .keep_classes = keeps,
                                  .keep_count = keep != NULL ? 2 : 0,
                                  .drop_classes = drops,
                                  .drop_count = drop != NULL ? 2 : 0 };
    dump_maker             *m = dump_maker_new(4);
    (void)dump_maker_class(m, "before.it", 0, "");
    const uint64_t id = dump_maker_class(m, name, 0, "");
    (void)dump_maker_class(m, "behind.it", 0, "");
    asked          a = choose(m, &o);
    const uint64_t bits = choice_class(&a.c, id);
    end(&a);
    return bits;
}
static uint64_t bits_of(const char *name) { return bits_with(name, NULL, NULL); }

/* ---- classes ---- */

Test(classes, are_boxes_by_their_names_with_the_width_of_the_value)
{
    static const struct {
        const char *name;
        unsigned    bytes;
    } boxes[] = { { "Boolean", 1 }, { "Character", 2 }, { "Float", 4 },   { "Double", 8 },
                  { "Byte", 1 },    { "Short", 2 },     { "Integer", 4 }, { "Long", 8 } };
    for (unsigned k = 0; k < 8; k++) {
        char name[40];
        (void)snprintf(name, sizeof name, "java.lang.%s", boxes[k].name);
        cr_expect(bits_of(name) == (boxes[k].bytes * CLASS_WRAPPER | CLASS_PLATFORM), "%s: %llx", name,
                  (ull)bits_of(name));
        (void)snprintf(name, sizeof name, "java/lang/%s", boxes[k].name);
        cr_expect(bits_of(name) == (boxes[k].bytes * CLASS_WRAPPER | CLASS_PLATFORM), "%s", name);
        (void)snprintf(name, sizeof name, "my.lang.%s", boxes[k].name);
        cr_expect(bits_of(name) == 0, "%s", name);
        (void)snprintf(name, sizeof name, "java.lang.%s2", boxes[k].name);
        cr_expect(bits_of(name) == CLASS_PLATFORM, "%s", name);
    }
    cr_expect(bits_of("java.lang.String") == (CLASS_STRING | CLASS_PLATFORM));
    cr_expect(bits_of("android.graphics.Bitmap") == (CLASS_BITMAP | CLASS_PLATFORM));
    cr_expect(bits_of("java.lang.String[]") == CLASS_PLATFORM && bits_of("app.String") == 0);
}

Test(classes, of_the_platform_are_those_of_its_packages_and_of_primitive_types)
{
    static const char *const platform[] = { "java.A",
                                            "javax.A",
                                            "jdk.A",
                                            "sun.A",
                                            "com.sun.A",
                                            "android.A",
                                            "androidx.A",
                                            "com.android.A",
                                            "dalvik.A",
                                            "libcore.A",
                                            "kotlin.A",
                                            "kotlinx.A",
                                            "org.apache.harmony.A",
                                            "org.w3c.A",
                                            "org.xml.A",
                                            "org.json.A",
                                            "java.",
                                            "boolean[]",
                                            "char[]",
                                            "float[]",
                                            "double[]",
                                            "byte[]",
                                            "short[]",
                                            "int[]",
                                            "long[]",
                                            "long[][]",
                                            "[I",
                                            "[[[J",
                                            "int",
                                            "java.A[]" };
    static const char *const others[] = { "javA.A",    "java",   "jav",  "com.A",   "org.apache.A", "app.java.A",
                                          "kotlin2.A", "ints[]", "in[]", "app.A[]", "[Lapp/A;",     "object[]",
                                          "void",      "",       "L",    "int.A" };
    for (unsigned k = 0; k < sizeof platform / sizeof *platform; k++)
        cr_expect(bits_of(platform[k]) == CLASS_PLATFORM, "%s: %llx", platform[k], (ull)bits_of(platform[k]));
    for (unsigned k = 0; k < sizeof others / sizeof *others; k++)
        cr_expect(bits_of(others[k]) == 0, "%s: %llx", others[k], (ull)bits_of(others[k]));
}

Test(classes, are_kept_and_dropped_by_name_and_glob_and_kept_before_dropped)
{
    cr_expect(bits_with("app.A", "app.A", NULL) == CLASS_KEEP && bits_with("app.A", NULL, "app.A") == CLASS_DROP);
    cr_expect(bits_with("app.A", "app.A", "app.A") == CLASS_KEEP);
    cr_expect(bits_with("app.A", "app.*", NULL) == CLASS_KEEP && bits_with("app.A", "*", "app.A") == CLASS_KEEP);
    cr_expect(bits_with("app.A", "app.B", "app.?") == CLASS_DROP);
    cr_expect(bits_with("app.A", "app.B", "app") == 0 && bits_with("app.A", "app", "A") == 0);
    cr_expect(bits_with("app.A[]", "app.A[]", NULL) == CLASS_KEEP && bits_with("app.A", "app.[A]", NULL) == 0);
    cr_expect(bits_with("app.A", "app\\.A", NULL) == 0, "a backslash is one");
    cr_expect(bits_with("app/A", "app.A", NULL) == CLASS_KEEP, "names are Java's");
    cr_expect(bits_with("", "*", NULL) == CLASS_KEEP && bits_with("", NULL, "?") == 0);
}

Test(classes, are_known_wherever_their_tables_stand_and_not_by_records_of_another_length)
{
    const hdx_strip_options o = { .policy = HDX_STRIP_SHARK };
    for (unsigned behind = 0; behind < 2; behind++)
        for (uint32_t ids = 4; ids <= 8; ids += 4) {
            dump_maker *m = dump_maker_new(ids);
            m->tables_last = behind == 1;
            const uint64_t id = dump_maker_class(m, "java.lang.Integer", 0, ""),
                           last = dump_maker_class(m, "java.lang.Long", 0, "");
            asked a = choose(m, &o);
            cr_expect(choice_class(&a.c, id) == (4 * CLASS_WRAPPER | CLASS_PLATFORM) &&
                      choice_class(&a.c, last) == (8 * CLASS_WRAPPER | CLASS_PLATFORM));
            end(&a);
        }
    static const uint32_t lengths[] = { 15, 16, 17, 24 };
    for (unsigned k = 0; k < 4; k++) { /* serial, class, stack, name */
        dump_maker    *m = dump_maker_new(4);
        uint8_t        load[24] = { [7] = 77 };
        const uint64_t name = dump_maker_name(m, "java.lang.Byte");
        load[14] = (uint8_t)(name >> 8);
        load[15] = (uint8_t)name;
        dump_maker_top(m, HDX_TOP_LOAD_CLASS, load, lengths[k]);
        asked a = choose(m, &o);
        cr_expect((choice_class(&a.c, 77) != 0) == (lengths[k] == 16), "%u bytes", lengths[k]);
        cr_expect(a.c.names.count == (lengths[k] == 16), "%u bytes", lengths[k]);
        end(&a);
    }
    dump_maker *m =
        dump_maker_new(4); /* a text shorter than an id, whose first bytes and the next tag are the name's */
    uint8_t load[16] = { [7] = 77, [13] = 0, [14] = 0x55, [15] = HDX_TOP_LOAD_CLASS };
    dump_maker_top(m, HDX_TOP_STRING, "\0\0\x55", 3);
    dump_maker_top(m, HDX_TOP_LOAD_CLASS, load, 16);
    asked a = choose(m, &o);
    cr_expect(choice_class(&a.c, 77) == 0);
    end(&a);
}

Test(classes, are_asked_for_by_policies_and_names_alone)
{
    const char *const names[] = { "app.A" };
    for (unsigned k = 0; k < 6; k++) {
        hdx_strip_options o = { .policy = k == 4 ? HDX_STRIP_SHARK : k == 5 ? HDX_STRIP_MATRIX : HDX_STRIP_KOOM };
        if ((k & 1) != 0 || k == 3)
            o.keep_classes = names, o.keep_count = 1;
        if (k == 2 || k == 3)
            o.drop_classes = names, o.drop_count = 1;
        dump_maker    *m = dump_maker_new(4);
        const uint64_t id = dump_maker_class(m, "java.lang.Long", 0, "");
        asked          a = choose(m, &o);
        cr_expect((choice_class(&a.c, id) != 0) == (k > 0), "case %u", k);
        cr_expect(a.c.buffer_at == -1 && a.c.text_count == 0 && a.c.merged.count == 0);
        end(&a);
    }
}

Test(classes, of_primitive_arrays_are_kept_and_dropped_by_type)
{
    static const char *const names[] = { "boolean[]", "char[]",  "float[]", "double[]",
                                         "byte[]",    "short[]", "int[]",   "long[]" };
    for (unsigned k = 0; k < 8; k++) {
        hdx_strip_options o = { .policy = HDX_STRIP_KOOM, .keep_classes = &names[k], .keep_count = 1 };
        asked             a = choose(dump_maker_new(4), &o);
        cr_expect(a.c.keep_types == 1u << (4 + k) && a.c.drop_types == 0, "%s: %x", names[k], a.c.keep_types);
        end(&a);
        o = (hdx_strip_options){ .policy = HDX_STRIP_KOOM, .drop_classes = &names[k], .drop_count = 1 };
        a = choose(dump_maker_new(4), &o);
        cr_expect(a.c.drop_types == 1u << (4 + k) && a.c.keep_types == 0, "%s: %x", names[k], a.c.drop_types);
        end(&a);
    }
    const char *const all[] = { "*" };
    hdx_strip_options o = {
        .policy = HDX_STRIP_KOOM, .keep_classes = &names[4], .keep_count = 1, .drop_classes = all, .drop_count = 1
    };
    asked a = choose(dump_maker_new(4), &o);
    cr_expect(a.c.keep_types == 1u << 8 && a.c.drop_types == (0xff0 & ~(1u << 8)));
    end(&a);
    o = (hdx_strip_options){ .policy = HDX_STRIP_KOOM, .keep_classes = all, .keep_count = 1 };
    a = choose(dump_maker_new(4), &o);
    cr_expect(a.c.keep_types == 0xff0);
    end(&a);
}

/* ---- texts ---- */

Test(texts, are_what_the_value_of_a_string_refers_to)
{
    static const struct {
        const char *fields;
        uint32_t    texts;
    } layouts[] = {
        { "value:L", 2 },
        { "hash:I value:L", 2 },
        { "hash:I value:L count:J", 2 },
        { "valux:L", 0 },
        { "values:L", 0 },
        { "valu:L", 0 },
        { "value:I", 0 },
        { "", 0 },
        { "mBuffer:L", 0 },
        { "value:L a:I value:L", 2 },
        { "a:L value:L b:J value:L", 2 },
    };
    for (uint32_t ids = 4; ids <= 8; ids += 4)
        for (unsigned k = 0; k < sizeof layouts / sizeof *layouts; k++) {
            dump_maker    *m = dump_maker_new(ids);
            const uint64_t string = dump_maker_class(m, "java.lang.String", 0, layouts[k].fields),
                           other = dump_maker_class(m, "app.A", 0, "value:L");
            for (unsigned i = 0; i < 3; i++) { /* the second has no text; what stands before it and behind is others' */
                uint64_t    values[6] = { 0 };
                const char *at = layouts[k].fields;
                unsigned    n = 0;
                bool        first = true;
                for (; *at != '\0'; n++) {
                    values[n] = first && strncmp(at, "value:", 6) == 0 ? (i == 1 ? 0 : 900 - i) : 0x01010101;
                    first = first && strncmp(at, "value:", 6) != 0;
                    at += strcspn(at, " ");
                    at += *at == ' ';
                }
                (void)dump_maker_instance(m, string, values);
                (void)dump_maker_instance(m, other, DUMP_VALUES(0x02020202));
            }
            asked a = matrix(m);
            cr_expect(a.c.text_count == layouts[k].texts, "%s: %llu", layouts[k].fields, (ull)a.c.text_count);
            if (layouts[k].texts > 0) {
                cr_expect(a.c.texts[0] == 898 && a.c.texts[1] == 900, "%s", layouts[k].fields);
                cr_expect(hdx_strip_choice_is_text(&a.c, 898) && hdx_strip_choice_is_text(&a.c, 900) &&
                          !hdx_strip_choice_is_text(&a.c, 899) && !hdx_strip_choice_is_text(&a.c, 901) &&
                          !hdx_strip_choice_is_text(&a.c, 0));
            } else
                cr_expect(!hdx_strip_choice_is_text(&a.c, 900) && !hdx_strip_choice_is_text(&a.c, 0));
            end(&a);
        }
}

Test(texts, are_found_again_among_hundreds)
{
    dump_maker    *m = dump_maker_new(4);
    const uint64_t string = dump_maker_class(m, "java.lang.String", 0, "value:L");
    for (unsigned k = 0; k < 300; k++)
        (void)dump_maker_instance(m, string, DUMP_VALUES(10 + 3 * ((k * 77) % 300)));
    asked a = matrix(m);
    cr_expect(a.c.text_count == 300);
    for (unsigned id = 0; id < 1000; id++)
        cr_assert(hdx_strip_choice_is_text(&a.c, id) == (id >= 10 && id < 910 && (id - 10) % 3 == 0), "%u", id);
    end(&a);
}

static void raw_instance(dump_maker *m, uint64_t class_id, const char *body, uint32_t len)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    hdx_write_instance(&b, 4, 0x600, 0, class_id, (const uint8_t *)body, len);
    dump_maker_raw(m, b.at, b.len);
    hdx_buffer_free(&b);
}

Test(texts, are_not_read_behind_the_end_of_an_instance)
{
    for (uint32_t len = 0; len < 12; len++) {
        dump_maker    *m = dump_maker_new(4);
        const uint64_t string = dump_maker_class(m, "java.lang.String", 0, "hash:I value:L"),
                       bitmap = dump_maker_class(m, "android.graphics.Bitmap", 0, "hash:I mBuffer:L mRecycled:Z");
        raw_instance(m, string, "\0\0\0\1\0\0\2\2\0\0\3\3", len);
        raw_instance(m, bitmap, "\0\0\0\1\0\0\7\7\1\0\0\0", len);
        (void)dump_maker_primitives_at(m, 0x707, 'B', NULL, 5);
        (void)dump_maker_primitives_at(m, 0x808, 'B', NULL, 5);
        hdx_strip_options o = { .policy = HDX_STRIP_MATRIX, .keep_bitmaps = true };
        asked             a = choose(m, &o);
        cr_expect(a.c.text_count == (len >= 8), "%u bytes: %llu", len, (ull)a.c.text_count);
        cr_expect(len < 8 || a.c.texts[0] == 0x202);
        cr_expect(a.c.merged.count == (len == 8), "recycled from the ninth byte on: %u", len);
        end(&a);
    }
}

Test(texts, of_the_first_class_of_the_name_that_has_the_field)
{
    dump_maker    *m = dump_maker_new(4);
    const uint64_t none = dump_maker_class(m, "java.lang.String", 0, "hash:I other:L"),
                   one = dump_maker_class(m, "java.lang.String", 0, "hash:I value:L"),
                   two = dump_maker_class(m, "java.lang.String", 0, "value:L hash:I");
    (void)none;
    (void)dump_maker_instance(m, one, DUMP_VALUES(5, 500));
    (void)dump_maker_instance(m, two, DUMP_VALUES(6, 600));
    asked a = matrix(m);
    cr_expect(a.c.text_count == 2 && a.c.texts[0] == 500 && a.c.texts[1] == 600);
    end(&a);
}

/* ---- bitmaps ---- */

typedef struct picture {
    uint64_t id;
    char     type;
    uint32_t count;
    uint64_t first, last;
} picture;

static uint64_t bitmap_class(dump_maker *m)
{
    return dump_maker_class(m, "android.graphics.Bitmap", 0, "mWidth:I mBuffer:L mRecycled:Z");
}

static void put_picture(dump_maker *m, const picture *p)
{
    uint64_t *values = calloc(p->count + 1, sizeof *values);
    for (uint32_t k = 0; k < p->count; k++)
        values[k] = k == 0 ? p->first : k + 1 == p->count ? p->last : k;
    (void)dump_maker_primitives_at(m, p->id, p->type, values, p->count);
    free(values);
}

/* What stands for the pixels of each; 0: they are as they were. */
static asked merged(const picture *p, unsigned count, bool keep)
{
    static hdx_strip_options o;
    dump_maker              *m = dump_maker_new(4);
    const uint64_t           bitmap = bitmap_class(m);
    for (unsigned k = 0; k < count; k++)
        put_picture(m, &p[k]);
    for (unsigned k = 0; k < count; k++)
        (void)dump_maker_instance(m, bitmap, DUMP_VALUES(k, p[k].id, 0));
    o = (hdx_strip_options){ .policy = HDX_STRIP_MATRIX, .keep_bitmaps = keep };
    return choose(m, &o);
}
static uint64_t instead_of(const asked *a, uint64_t id)
{
    const uint64_t *to = hdx_map_get(&a->c.merged, id);
    return to == NULL ? 0 : *to;
}

Test(bitmaps, of_equal_pixels_share_those_of_the_first)
{
    static const picture p[] = { { 90, 'B', 64, 1, 1 },    { 80, 'B', 64, 1, 2 },   { 70, 'B', 64, 1, 1 },
                                 { 60, 'B', 64, 1, 2 },    { 50, 'B', 64, 1, 1 },   { 40, 'B', 65, 1, 1 },
                                 { 30, 'Z', 64, 1, 1 },    { 20, 'B', 9000, 1, 1 }, { 21, 'B', 9000, 1, 2 },
                                 { 22, 'B', 9000, 1, 1 },  { 23, 'B', 9000, 2, 1 }, { 10, 'B', 0, 0, 0 },
                                 { 11, 'B', 0, 0, 0 },     { 12, 'I', 0, 0, 0 },    { 24, 'B', 40000, 1, 1 },
                                 { 25, 'B', 40000, 1, 2 }, { 26, 'B', 40000, 1, 2 } };
    for (unsigned keep = 0; keep < 2; keep++) {
        asked          a = merged(p, 17, keep == 1);
        const uint64_t alone = keep; /* one that is alone stays only where bitmaps are kept */
        cr_expect(a.c.merges == 6 && a.c.buffer_at == 4, "%llu", (ull)a.c.merges);
        cr_expect(instead_of(&a, 90) == 90 && instead_of(&a, 70) == 90 && instead_of(&a, 50) == 90);
        cr_expect(instead_of(&a, 80) == 80 && instead_of(&a, 60) == 80);
        cr_expect(instead_of(&a, 20) == 20 && instead_of(&a, 22) == 20 && instead_of(&a, 10) == 10 &&
                  instead_of(&a, 11) == 10 && instead_of(&a, 25) == 25 && instead_of(&a, 26) == 25);
        static const uint64_t singles[] = { 40, 30, 21, 23, 12, 24 };
        for (unsigned k = 0; k < 6; k++)
            cr_expect(instead_of(&a, singles[k]) == alone * singles[k], "%llu", (ull)singles[k]);
        end(&a);
    }
}

/* Two long[] of other values with one hash: what the first changes in it the second takes back. */
Test(bitmaps, of_one_hash_are_compared_byte_for_byte)
{
    uint64_t values[3][2] = { { 1, 7 }, { 2, 0 }, { 1, 7 } };
    for (unsigned k = 1; k < 2; k++) {
        const uint64_t seed = hdx_mix64(11ull ^ 16);
        const uint64_t one = hdx_mix64(seed ^ __builtin_bswap64(0) ^ __builtin_bswap64(1)),
                       two = hdx_mix64(seed ^ __builtin_bswap64(2));
        values[1][1] = __builtin_bswap64(one ^ two ^ __builtin_bswap64(7));
    }
    dump_maker    *m = dump_maker_new(4);
    const uint64_t bitmap = bitmap_class(m);
    for (unsigned k = 0; k < 3; k++) {
        (void)dump_maker_primitives_at(m, 30 + k, 'J', values[k], 2);
        (void)dump_maker_instance(m, bitmap, DUMP_VALUES(k, 30 + k, 0));
    }
    uint8_t bytes[2][16];
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; i < 16; i++)
            bytes[k][i] = (uint8_t)(values[k][i / 8] >> (56 - 8 * (i % 8)));
    cr_assert(hdx_hash_bytes(11, bytes[0], 16) == hdx_hash_bytes(11, bytes[1], 16) &&
              memcmp(bytes[0], bytes[1], 16) != 0);
    asked a = matrix(m);
    cr_expect(a.c.merges == 1 && instead_of(&a, 32) == 30 && instead_of(&a, 30) == 30 && instead_of(&a, 31) == 0);
    end(&a);
}

Test(bitmaps, that_are_recycled_or_without_pixels_are_left_out)
{
    hdx_strip_options o = { .policy = HDX_STRIP_MATRIX, .keep_bitmaps = true };
    dump_maker       *m = dump_maker_new(4);
    const uint64_t    bitmap = bitmap_class(m), other = dump_maker_class(m, "app.A", 0, "mWidth:I mBuffer:L");
    for (unsigned k = 0; k < 5; k++)
        (void)dump_maker_primitives_at(m, k, 'B', NULL, 9); /* one has the id 0 */
    (void)dump_maker_array_at(m, 5, other, NULL, 2);
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 0, 0));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 1, 1));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 2, 0x80));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 3, 0));
    (void)dump_maker_instance(m, other, DUMP_VALUES(0, 4));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 5, 0));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 6, 0)); /* there is no such array */
    asked a = choose(m, &o);
    cr_expect(a.c.merged.count == 1 && instead_of(&a, 3) == 3 && a.c.merges == 0);
    cr_expect(a.c.text_count == 0);
    end(&a);
}

Test(bitmaps, are_recycled_by_the_first_field_of_that_name)
{
    hdx_strip_options o = { .policy = HDX_STRIP_MATRIX, .keep_bitmaps = true };
    dump_maker       *m = dump_maker_new(4);
    const uint64_t    bitmap =
        dump_maker_class(m, "android.graphics.Bitmap", 0, "mRecycled:Z mBuffer:L mRecycled:Z mRecycled:I");
    (void)dump_maker_primitives_at(m, 3, 'B', NULL, 9);
    (void)dump_maker_primitives_at(m, 4, 'B', NULL, 9);
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(1, 3, 0, 0));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(0, 4, 1, 1));
    asked a = choose(m, &o);
    cr_expect(a.c.merged.count == 1 && instead_of(&a, 4) == 4);
    end(&a);
}

Test(bitmaps, and_strings_have_each_their_own_fields)
{
    hdx_strip_options o = { .policy = HDX_STRIP_MATRIX, .keep_bitmaps = true };
    dump_maker       *m = dump_maker_new(4);
    const uint64_t    string = dump_maker_class(m, "java.lang.String", 0, "mRecycled:Z a:I mBuffer:L"),
                   bitmap = dump_maker_class(m, "android.graphics.Bitmap", 0, "value:L mBuffer:L mRecycled:Z");
    for (unsigned k = 1; k < 9; k++)
        (void)dump_maker_primitives_at(m, k, 'B', NULL, k);
    (void)dump_maker_instance(m, string, DUMP_VALUES(1, 2, 3));
    (void)dump_maker_instance(m, bitmap, DUMP_VALUES(4, 5, 0));
    (void)dump_maker_instance(m, string, DUMP_VALUES(0x01010101, 6, 7));
    asked a = choose(m, &o);
    cr_expect(a.c.text_count == 0 && a.c.buffer_at == 4 && a.c.merged.count == 1 && instead_of(&a, 5) == 5);
    end(&a);
}

Test(bitmaps, have_their_pixels_where_the_first_field_of_that_name_is)
{
    static const struct {
        const char *fields;
        int64_t     at;
    } layouts[] = { { "mBuffer:L", 0 },
                    { "a:J mBuffer:L mBuffer:L", 8 },
                    { "mBuffer:I", -1 },
                    { "a:I", -1 },
                    { "value:L", -1 },
                    { "mRecycled:Z mBuffer:L", 1 },
                    { "mBuffers:L", -1 },
                    { "mBuffex:L", -1 },
                    { "a:I b:B mBuffer:L mRecycled:Z", 5 } };
    for (unsigned k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        dump_maker *m = dump_maker_new(4);
        (void)dump_maker_class(m, "app.A", 0, "mBuffer:L");
        (void)dump_maker_class(m, "android.graphics.Bitmap", 0, layouts[k].fields);
        (void)dump_maker_class(m, "android.graphics.Bitmap", 0, "later:D later:D mBuffer:L");
        asked         a = matrix(m);
        const int64_t want = layouts[k].at >= 0 || strcmp(layouts[k].fields, "mBuffer:I") == 0 ? layouts[k].at : 16;
        cr_expect(a.c.buffer_at == want, "%s: %lld", layouts[k].fields, (long long)a.c.buffer_at);
        end(&a);
    }
}

Test(bitmaps, with_one_array_twice_in_the_dump_do_not_share_it_with_themselves)
{
    static const picture p[] = {
        { 30, 'B', 9, 1, 1 }, { 30, 'B', 9, 1, 1 }, { 40, 'B', 9, 1, 1 }, { 40, 'B', 9, 1, 1 }
    };
    asked a = merged(p, 2, false);
    cr_expect(a.c.merges == 0 && a.c.merged.count == 0);
    end(&a);
    a = merged(p, 4, false);
    cr_expect(a.c.merges == 1 && instead_of(&a, 40) == 30 && instead_of(&a, 30) == 30);
    end(&a);
}

/* ---- names in use ---- */

static uint64_t name_bits(const asked *a, uint64_t name)
{
    const uint64_t *bits = hdx_map_get(&a->c.names, name);
    return bits == NULL ? 0 : *bits;
}

Test(names, of_classes_fields_statics_frames_and_heaps_are_in_use_and_the_platforms_are_kept)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4) {
        const hdx_strip_options o = { .policy = HDX_STRIP_REDACTED };
        dump_maker             *m = dump_maker_new(ids);
        dump_maker_heap_info(m, 'A', "a heap");
        dump_maker_static(m, "a static", 'L', 0);
        dump_maker_static(m, "another static", 'I', 0);
        (void)dump_maker_class(m, "app.A", 0, "field:L second:I");
        dump_maker_static(m, "of the platform", 'L', 0);
        (void)dump_maker_class(m, "java.util.Map", 0, "table:L size:I");
        const uint64_t    frame = dump_maker_frame(m, "method", 1, 1), unused = dump_maker_name(m, "a text");
        uint64_t          names[12];
        const char *const words[] = { "a heap", "a static", "another static",  "app.A",
                                      "field",  "second",   "of the platform", "java.util.Map",
                                      "table",  "size",     "method",          "Source.java" };
        for (unsigned k = 0; k < 12; k++)
            names[k] = dump_maker_name(m, words[k]);
        const uint64_t signature = dump_maker_name(m, "()V");
        uint8_t        odd[64] = { 0 }; /* a frame and a class of another length say nothing */
        for (unsigned k = 0; k < sizeof odd; k += 2)
            odd[k] = 0x77;
        dump_maker_top(m, HDX_TOP_FRAME, odd, 8 + 4 * ids + 1);
        dump_maker_top(m, HDX_TOP_LOAD_CLASS, odd, 8 + 2 * ids + 1);
        asked a = choose(m, &o);
        for (unsigned k = 0; k < 12; k++) {
            const bool kept = k == 0 || (k >= 6 && k <= 9);
            cr_expect(name_bits(&a, names[k]) == (kept ? NAME_USED | NAME_KEPT : NAME_USED), "%s: %llu", words[k],
                      (ull)name_bits(&a, names[k]));
        }
        cr_expect(name_bits(&a, signature) == NAME_USED && name_bits(&a, unused) == 0 && name_bits(&a, frame) == 0);
        cr_expect(a.c.names.count == 13, "%llu", (ull)a.c.names.count);
        end(&a);
    }
}

Test(names, of_another_policy_are_not_looked_for)
{
    const hdx_strip_options o = { .policy = HDX_STRIP_SHARK };
    dump_maker             *m = dump_maker_new(4);
    (void)dump_maker_class(m, "app.A", 0, "field:L");
    const uint64_t field = dump_maker_name(m, "field");
    asked          a = choose(m, &o);
    cr_expect(hdx_map_get(&a.c.names, field) == NULL);
    end(&a);
}

Test(names, boxes_whose_first_field_is_no_value_of_their_width_are_none)
{
    static const struct {
        const char *name, *fields;
        uint32_t    ids;
        unsigned    width;
    } boxes[] = { { "Integer", "value:I", 4, 4 },   { "Integer", "value:F", 4, 4 }, { "Integer", "value:L", 4, 0 },
                  { "Integer", "value:J", 4, 0 },   { "Integer", "v:I o:L", 4, 4 }, { "Integer", "o:L v:I", 4, 0 },
                  { "Integer", "", 4, 4 },          { "Long", "value:J", 8, 8 },    { "Long", "value:L", 8, 0 },
                  { "Long", "v:D a:I b:I", 8, 8 },  { "Byte", "value:B", 4, 1 },    { "Byte", "value:C", 4, 0 },
                  { "Short", "a:S b:B c:B", 8, 2 }, { "Short", "b:B a:S", 8, 0 },   { "Object", "value:I", 4, 0 } };
    for (unsigned k = 0; k < sizeof boxes / sizeof *boxes; k++) {
        const hdx_strip_options o = { .policy = HDX_STRIP_REDACTED };
        char                    name[40];
        dump_maker             *m = dump_maker_new(boxes[k].ids);
        (void)snprintf(name, sizeof name, "java.lang.%s", boxes[k].name);
        const uint64_t id = dump_maker_class(m, name, 0, boxes[k].fields);
        asked          a = choose(m, &o);
        cr_expect(choice_class(&a.c, id) == (boxes[k].width * CLASS_WRAPPER | CLASS_PLATFORM), "%s %s: %llx", name,
                  boxes[k].fields, (ull)choice_class(&a.c, id));
        end(&a);
    }
}

Test(choose, tells_the_place_of_an_entry_that_is_none)
{
    static const hdx_strip_policy policies[] = { HDX_STRIP_MATRIX, HDX_STRIP_REDACTED };
    for (unsigned k = 0; k < 2; k++) {
        const hdx_strip_options o = { .policy = policies[k] };
        asked                   a;
        hdx_error               err = { 0 };
        dump_maker             *m = dump_maker_new(4);
        (void)dump_maker_class(m, "java.lang.String", 0, "value:L");
        const uint64_t at = dump_maker_mark(m) + dump_maker_heap_at(m);
        dump_maker_raw(m, "\x55 no entry", 9);
        cr_expect(ask(&a, m, &o, &err) == HDX_BAD_DUMP && err.offset == at, "%llu: %s", (ull)err.offset, err.message);
        end(&a);
    }
}
