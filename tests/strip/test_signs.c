/*
 * test_signs.c - what is said of a dump whose framing is in order: each sign one short of its threshold, and at it,
 * with the evidence in words.
 */
#include "android_dump.h"

static char path[64], folder[TEST_FOLDER];

static hdx_stripping judged(dump_maker *m)
{
    hdx_source   *source;
    hdx_stripping what;
    hdx_error     err = { 0 };
    test_folder_make_fast(folder, "signs");
    (void)snprintf(path, sizeof path, "%s/a.hprof", folder);
    dump_maker_save(m, path);
    dump_maker_free(m);
    cr_assert(hdx_source_open(path, NULL, &source, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, &err) == HDX_OK, "%s", err.message);
    hdx_source_close(source);
    test_folder_remove(folder);
    return what;
}

static void nothing(dump_maker *m, const char *of)
{
    const hdx_stripping what = judged(m);
    cr_expect(what.policy == HDX_STRIP_NONE && what.confidence == 0 && what.evidence_count == 0, "%s: %s", of,
              what.evidence[0]);
}

static void said(dump_maker *m, hdx_strip_policy policy, unsigned confidence, const char *evidence)
{
    const hdx_stripping what = judged(m);
    cr_expect(what.policy == policy && what.confidence == confidence && what.evidence_count == 1, "%s: %d, %u, %u",
              evidence, (int)what.policy, what.confidence, what.evidence_count);
    cr_expect(strcmp(what.evidence[0], evidence) == 0, "%s, not %s", what.evidence[0], evidence);
}

/* A dump of now; its heap has a name. */
static dump_maker *begun(void)
{
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.3";
    m->time_ms = 1700000000000;
    dump_maker_heap_info(m, 'A', "app");
    return m;
}

/* `count` times a value, and another one as the last. */
static void filled(dump_maker *m, char type, uint32_t count, uint64_t value, uint64_t last)
{
    uint64_t *values = calloc(count + 1, sizeof *values);
    for (uint32_t k = 0; k < count; k++)
        values[k] = k + 1 < count ? value : last;
    (void)dump_maker_primitives(m, type, values, count);
    free(values);
}
static void same_ones(dump_maker *m, unsigned arrays, char type, uint32_t count, uint64_t value)
{
    for (unsigned k = 0; k < arrays; k++)
        filled(m, type, count, value, value);
}
static void odd_bytes(dump_maker *m, char type, uint32_t count) /* as overhead arrays: of differing bytes */
{
    const uint64_t values[] = { 1, 2, 3, 4, 5 }, id = m->next_id + 1;
    m->next_id += 32;
    (void)dump_maker_primitives_at(m, id, type, values, count);
}
static uint64_t instances(dump_maker *m, const char *class_name, unsigned count)
{
    const uint64_t class_id = dump_maker_class(m, class_name, 0, "");
    for (unsigned k = 0; k < count; k++)
        (void)dump_maker_instance(m, class_id, NULL);
    return class_id;
}

/* ---- Tailor ---- */

static dump_maker *serials(unsigned classes, unsigned zero, uint64_t time_ms)
{
    dump_maker *m = begun();
    m->time_ms = time_ms;
    for (unsigned k = 0; k < classes; k++) {
        m->next_serial = k < zero ? UINT32_MAX : 4; /* the next one is 0 */
        (void)dump_maker_class(m, k == 0 ? "a.A" : k == 1 ? "a.B" : "a.C", 0, "");
    }
    return m;
}

Test(signs, two_classes_without_serials_and_no_time_are_tailors)
{
    nothing(serials(1, 1, 0), "one class");
    said(serials(2, 2, 0), HDX_STRIP_TAILOR, 95,
         "serial numbers of all 2 classes and the creation time are 0: restored from Tailor's container");
    said(serials(3, 3, 0), HDX_STRIP_TAILOR, 95,
         "serial numbers of all 3 classes and the creation time are 0: restored from Tailor's container");
    nothing(serials(3, 2, 0), "a serial number");
    nothing(serials(3, 3, 1), "a time");
    dump_maker *m = serials(3, 3, 0);
    dump_maker_trace(m, 1, 1, NULL, 0);
    nothing(m, "a trace");
}

/* ---- one constant per type ---- */

Test(signs, three_arrays_of_two_question_marks_are_sharks)
{
    dump_maker *m = begun();
    same_ones(m, 2, 'B', 2, '?');
    same_ones(m, 1, 'B', 1, '?');
    same_ones(m, 1, 'B', 0, 0);
    nothing(m, "two that tell, one of one element, one of none");

    m = begun();
    same_ones(m, 3, 'B', 2, '?');
    same_ones(m, 1, 'B', 0, 0);
    same_ones(m, 1, 'B', 1, '?');
    said(m, HDX_STRIP_SHARK, 95, "4 byte[] and 0 char[] contain only '?'");

    m = begun();
    same_ones(m, 1, 'B', 9, '?');
    same_ones(m, 2, 'C', 2, '?');
    said(m, HDX_STRIP_SHARK, 95, "1 byte[] and 2 char[] contain only '?'");

    m = begun();
    same_ones(m, 3, 'C', 2, '?');
    said(m, HDX_STRIP_SHARK, 95, "3 char[] contain only '?'");

    m = begun();
    same_ones(m, 3, 'C', 2, 'x');
    nothing(m, "another char, and no String");

    m = begun();
    same_ones(m, 3, 'B', 2, '?');
    same_ones(m, 1, 'C', 2, 'x');
    nothing(m, "question marks in byte[] alone, and no String");

    m = begun();
    same_ones(m, 3, 'B', 2, 'x');
    same_ones(m, 1, 'C', 2, '?');
    nothing(m, "question marks in char[] alone, and no String");
}

Test(signs, contents_that_differ_anywhere_are_nobodys)
{
    static const char types[] = "ZCFDBSIJ";
    for (unsigned t = 0; t < 8; t++)
        for (unsigned how = 0; how < 3; how++) {
            char of[40];
            (void)snprintf(of, sizeof of, "%c, %u", types[t], how);
            dump_maker *m = begun();
            same_ones(m, 3, 'B', 2, '?');
            if (how == 0)
                filled(m, types[t], 2, '?', 1);
            else if (how == 1) /* longer than what is looked at in one piece: the last element differs */
                filled(m, types[t], 4097 + t, '?', 1);
            else { /* each of one constant, but of another */
                same_ones(m, 1, types[t], 2, '?');
                same_ones(m, 1, types[t], 2, 1);
            }
            nothing(m, of);
        }
    dump_maker *m = begun();
    uint64_t    halves[9000];
    for (unsigned k = 0; k < 9000; k++)
        halves[k] = k < 4096 ? 7 : '?'; /* what comes later is no first element */
    (void)dump_maker_primitives(m, 'B', halves, 9000);
    same_ones(m, 3, 'B', 2, '?');
    nothing(m, "two halves");
}

Test(signs, wide_elements_are_compared_whole)
{
    for (unsigned high = 0; high < 2; high++) {
        const uint64_t one = high == 0 ? 0x0000000000000000 : 0x1111111111111111;
        dump_maker    *m = begun();
        same_ones(m, 4, 'B', 2, '?');
        filled(m, 'J', 2, one, one);
        filled(m, 'I', 3, one & 0xffffffff, one & 0xffffffff);
        filled(m, 'S', 3, one & 0xffff, one & 0xffff);
        said(m, HDX_STRIP_SHARK, 95, "4 byte[] and 0 char[] contain only '?'");
        for (unsigned t = 0; t < 3; t++) {
            static const unsigned widths[] = { 8, 4, 2 };
            for (unsigned byte = 0; byte < widths[t]; byte++) {
                m = begun();
                same_ones(m, 4, 'B', 2, '?');
                filled(m, "JIS"[t], 2, one & 0xff, (one & 0xff) ^ 1ull << (8 * byte));
                nothing(m, "one bit in one byte");
            }
        }
    }
}

Test(signs, bytes_of_overhead_arrays_say_nothing_of_contents)
{
    dump_maker *m = begun();
    same_ones(m, 3, 'B', 2, '?');
    odd_bytes(m, 'B', 5);
    said(m, HDX_STRIP_SHARK, 95, "3 byte[] and 0 char[] contain only '?'");

    m = begun();
    same_ones(m, 3, 'B', 2, '?');
    odd_bytes(m, 'C', 5);
    nothing(m, "overhead arrays are byte[]");

    m = begun();
    same_ones(m, 2, 'B', 2, '?');
    for (unsigned k = 0; k < 3; k++)
        (void)dump_maker_primitives_at(m, m->next_id++ | 1, 'B', NULL, 9);
    nothing(m, "they do not tell either");
}

Test(signs, another_constant_wants_a_string_that_was_overwritten)
{
    static const char *const strings[] = { "java.lang.String", "java/lang/String" }, *const others[] = {
        "java.lang.Strinx", "java.lang.Strings", "java.lang"
    };
    for (unsigned k = 0; k < 2; k++) {
        dump_maker *m = begun();
        same_ones(m, 3, 'B', 2, 0);
        same_ones(m, 1, 'I', 2, 0);
        (void)instances(m, strings[k], 1);
        said(m, HDX_STRIP_KOOM, 80, "contents of all 4 arrays are 0: cut and then restored");

        m = begun();
        same_ones(m, 3, 'B', 2, 0);
        same_ones(m, 1, 'I', 2, 1);
        (void)instances(m, strings[k], 1);
        said(m, HDX_STRIP_REDACTED, 80,
             "contents of 4 arrays are one constant per type (byte[]: 0x00, char[]: 0x0000)");

        m = begun();
        same_ones(m, 2, 'B', 2, '*');
        same_ones(m, 1, 'C', 2, 0x12ab);
        (void)instances(m, strings[k], 1);
        said(m, HDX_STRIP_REDACTED, 80,
             "contents of 3 arrays are one constant per type (byte[]: 0x2a, char[]: 0x12ab)");

        m = begun();
        same_ones(m, 2, 'B', 2, '?');
        same_ones(m, 1, 'C', 2, '*');
        (void)instances(m, strings[k], 1);
        said(m, HDX_STRIP_REDACTED, 80,
             "contents of 3 arrays are one constant per type (byte[]: 0x3f, char[]: 0x002a)");

        m = begun();
        same_ones(m, 2, 'B', 2, '*');
        same_ones(m, 1, 'C', 2, '?');
        (void)instances(m, strings[k], 1);
        said(m, HDX_STRIP_REDACTED, 80,
             "contents of 3 arrays are one constant per type (byte[]: 0x2a, char[]: 0x003f)");

        m = begun();
        same_ones(m, 5, 'I', 2, 0);
        (void)instances(m, strings[k], 1);
        nothing(m, "no array that a text could stand in");
    }
    for (unsigned k = 0; k < 3; k++) {
        dump_maker *m = begun();
        same_ones(m, 4, 'B', 2, 0);
        (void)instances(m, others[k], 9);
        nothing(m, others[k]);
    }
    dump_maker *m = begun();
    same_ones(m, 4, 'B', 2, 0);
    (void)instances(m, "java.lang.String", 0);
    nothing(m, "the class alone");
    m = begun();
    same_ones(m, 4, 'B', 2, 0);
    (void)dump_maker_array(m, instances(m, "java.lang.String", 0), NULL, 3);
    nothing(m, "an array of Strings is none");
}

/* How a dump of zeros may show that it is Android's, and what else it may have that does not show it. */
static dump_maker *of_zeros(const char *version, const char *class_name, bool heap)
{
    dump_maker *m = dump_maker_new(4);
    m->version = version;
    m->time_ms = 1700000000000;
    if (heap)
        dump_maker_heap_info(m, 'A', "app");
    if (class_name != NULL)
        (void)dump_maker_class(m, class_name, 0, "");
    same_ones(m, 3, 'B', 2, 0);
    (void)instances(m, "java.lang.String", 1);
    return m;
}

Test(signs, zeros_are_kooms_in_a_dump_of_android_and_redaction_in_another)
{
    static const char *const        koom = "contents of all 3 arrays are 0: cut and then restored",
                             *const redacted =
                                 "contents of 3 arrays are one constant per type (byte[]: 0x00, char[]: 0x0000)";
    said(of_zeros("1.0.3", NULL, false), HDX_STRIP_KOOM, 80, koom);
    said(of_zeros("1.0.2", NULL, true), HDX_STRIP_KOOM, 80, koom);
    said(of_zeros("1.0.2", "dalvik.system.VMRuntime", false), HDX_STRIP_KOOM, 80, koom);
    said(of_zeros("1.0.2", NULL, false), HDX_STRIP_REDACTED, 80, redacted);
    said(of_zeros("1.0.1", "dalvik", false), HDX_STRIP_REDACTED, 80, redacted);
    said(of_zeros("1.0.2", "app.dalvik.Runtime", false), HDX_STRIP_REDACTED, 80, redacted);
}

/* ---- what is taken away in part ---- */

/* `count` times a value, then zeros up to `length`. */
static uint64_t part_filled(dump_maker *m, char type, uint32_t count, uint64_t value, uint32_t length)
{
    uint64_t *values = calloc(length + 1, sizeof *values);
    for (uint32_t k = 0; k < count; k++)
        values[k] = type == 'B' ? value + k % 2 : value; /* texts: letters that differ */
    const uint64_t id = dump_maker_primitives(m, type, values, length);
    free(values);
    return id;
}
static uint64_t one_value(dump_maker *m, char type, uint64_t value, uint32_t length)
{
    uint64_t *values = calloc(length + 1, sizeof *values);
    for (uint32_t k = 0; k < length; k++)
        values[k] = value;
    const uint64_t id = dump_maker_primitives(m, type, values, length);
    free(values);
    return id;
}
static dump_maker *jvm(uint64_t *string)
{
    dump_maker *m = dump_maker_new(8);
    m->version = "1.0.2";
    m->time_ms = 1700000000000;
    *string = dump_maker_class(m, "java/lang/String", 0, "hash:I value:L");
    return m;
}

static dump_maker *redacted_texts(unsigned overwritten, unsigned kept, uint64_t value, bool android)
{
    uint64_t    string;
    dump_maker *m = jvm(&string);
    if (android)
        m->version = "1.0.3";
    for (unsigned k = 0; k < overwritten + kept; k++) {
        const uint64_t text =
            k < overwritten ? one_value(m, 'B', value, 2 + k) : part_filled(m, 'B', 2 + k, 'a', 2 + k);
        (void)dump_maker_instance(m, string, DUMP_VALUES(7, text));
    }
    same_ones(m, 9, 'B', 1, 5);   /* one element says nothing */
    same_ones(m, 99, 'B', 64, 0); /* nor does a buffer that is no text */
    filled(m, 'I', 4, 1, 2);
    return m;
}

Test(signs, texts_of_one_character_are_redacted_though_some_are_kept_and_ints_are_whole)
{
    said(redacted_texts(8, 0, '*', false), HDX_STRIP_REDACTED, 80,
         "8 of 8 String texts are one constant (byte[]: 0x2a, char[]: 0x002a)");
    said(redacted_texts(9, 3, '?', false), HDX_STRIP_REDACTED, 80,
         "9 of 12 String texts are one constant (byte[]: 0x3f, char[]: 0x003f)");
    said(redacted_texts(9, 1, 0, false), HDX_STRIP_REDACTED, 80,
         "9 of 10 String texts are one constant (byte[]: 0x00, char[]: 0x0000)");
    nothing(redacted_texts(7, 0, '*', false), "seven texts");
    nothing(redacted_texts(9, 4, '*', false), "more than a quarter are kept");
    nothing(redacted_texts(0, 20, 0, false), "all are kept");
    nothing(redacted_texts(8, 0, '*', true), "a dump of Android");

    const hdx_stripping what = judged(redacted_texts(8, 1, '*', false));
    cr_expect(what.detailed && !what.fields && what.kept == 0xed0, "kept %x",
              what.kept); /* all but byte[] and char[] */
    cr_expect(what.fill[0] == '*' && what.fill[1] == '*');
}

static dump_maker *limited_texts(unsigned cut, unsigned longer, uint32_t limit)
{
    uint64_t    string;
    dump_maker *m = jvm(&string);
    for (unsigned k = 0; k < 9; k++)
        (void)dump_maker_instance(m, string, DUMP_VALUES(7, part_filled(m, 'B', 2 + k, 'a', 2 + k)));
    for (unsigned k = 0; k < cut; k++)
        (void)dump_maker_instance(m, string, DUMP_VALUES(7, part_filled(m, 'B', limit, 'a', limit + 5)));
    for (unsigned k = 0; k < longer; k++)
        (void)part_filled(m, 'B', limit + 1, 'a', limit + 9);
    (void)part_filled(m, 'I', 4, 1, 9);
    return m;
}

Test(signs, texts_that_all_end_with_zeros_from_one_element_on_are_limited)
{
    nothing(limited_texts(2, 0, 30), "two texts");
    nothing(limited_texts(3, 1, 30), "an array that goes on");
    const hdx_stripping what = judged(limited_texts(3, 0, 30));
    cr_expect(what.policy == HDX_STRIP_LIMITED && what.confidence == 80 && what.evidence_count == 2, "%d", what.policy);
    cr_expect_str_eq(what.evidence[0],
                     "byte[] and char[] have only their first 30 elements, then zeros: 3 arrays, 3 of them texts");
    cr_expect_str_eq(what.evidence[1], "other primitive arrays have only their first 4 elements, then zeros");
    cr_expect(what.limit[0] == 30 && what.limit[1] == 4 && !what.detailed);

    nothing(limited_texts(9, 0, 16384), "as many elements as are looked at");
    for (unsigned lengths = 3; lengths <= 4; lengths++) {
        dump_maker *m = limited_texts(0, 0, 30);
        for (unsigned k = 0; k < 9; k++)
            (void)part_filled(m, 'B', 30, 'a', 31 + k % lengths);
        const hdx_stripping of = judged(m);
        cr_expect(of.policy == (lengths == 4 ? HDX_STRIP_LIMITED : HDX_STRIP_NONE), "%u lengths: %d", lengths,
                  of.policy);
    }
}

static dump_maker *maps(unsigned zero, unsigned others, unsigned empty)
{
    uint64_t       string;
    dump_maker    *m = jvm(&string);
    const uint64_t map = dump_maker_class(m, "java/util/HashMap", 0, "loadFactor:F table:L size:I");
    for (unsigned k = 0; k < zero + others + empty; k++)
        (void)dump_maker_instance(m, map,
                                  DUMP_VALUES(k < zero + empty ? 0 : 0x3f400000, k < zero + others ? 64 : 0, 0));
    filled(m, 'B', 4, 1, 2);
    return m;
}

Test(signs, maps_with_a_table_and_no_load_factor_had_their_fields_overwritten)
{
    nothing(maps(2, 0, 9), "two maps");
    nothing(maps(3, 1, 0), "a load factor");
    said(maps(3, 0, 1), HDX_STRIP_REDACTED, 80,
         "every primitive field is 0 in all 3 HashMaps with a table, including load factor and size");
    const hdx_stripping what = judged(maps(3, 0, 0));
    cr_expect(what.detailed && what.fields && what.kept == 0xff0, "%x", what.kept);
}

/* ---- overhead arrays that are absent ---- */

typedef struct overheads {
    unsigned    named, there; /* classes that name one; of them so many are in the dump */
    const char *field;        /* NULL: $classOverhead */
    char        type;         /* 0: a reference */
    uint64_t    add;          /* to an even address; 0: 1 */
    char        heap;         /* named in the segment; 0: none */
    bool        before;       /* the heap is named in a segment before */
    char        other;        /* a heap at the end */
} overheads;

static dump_maker *overheads_of(const overheads *o)
{
    dump_maker    *m = dump_maker_new(4);
    const uint64_t values[] = { 1, 2, 3 };
    m->version = "1.0.3";
    m->time_ms = 1700000000000;
    if (o->heap != 0)
        dump_maker_heap_info(m, (uint8_t)o->heap, "one");
    if (o->before)
        dump_maker_segment(m);
    for (unsigned k = 0; k < o->named; k++) {
        char           name[16];
        const uint64_t of = 0x90000000 + 64 * k + (o->add == 0 ? 1 : o->add - 1);
        (void)snprintf(name, sizeof name, "a.A%u", k);
        if (k < o->there)
            (void)dump_maker_primitives_at(m, of, 'B', values, 3);
        dump_maker_static(m, "other", 'I', 5);
        dump_maker_static(m, o->field == NULL ? "$classOverhead" : o->field, o->type == 0 ? 'L' : o->type, of);
        dump_maker_static(m, "last", 'L', 0);
        (void)dump_maker_class(m, name, 0, "");
    }
    (void)dump_maker_primitives(m, 'I', values, 3);
    if (o->other != 0)
        dump_maker_heap_info(m, (uint8_t)o->other, "two");
    return m;
}

Test(signs, classes_in_no_heap_whose_overhead_arrays_are_absent_are_kooms)
{
    said(overheads_of(&(overheads){ .named = 1 }), HDX_STRIP_KOOM, 80,
         "1 overhead arrays are absent; 1 classes are in no heap, none in the zygote or image heap");
    said(overheads_of(&(overheads){ .named = 7, .field = "$staticOverhead" }), HDX_STRIP_KOOM, 80,
         "7 overhead arrays are absent; 7 classes are in no heap, none in the zygote or image heap");
    said(overheads_of(&(overheads){ .named = 8 }), HDX_STRIP_KOOM, 95,
         "8 overhead arrays are absent; 8 classes are in no heap, none in the zygote or image heap");
    said(overheads_of(&(overheads){ .named = 2, .heap = 'A', .before = true }), HDX_STRIP_KOOM, 80,
         "2 overhead arrays are absent; 2 classes are in no heap, none in the zygote or image heap");
    said(overheads_of(&(overheads){ .named = 2, .other = 'A' }), HDX_STRIP_KOOM, 80,
         "2 overhead arrays are absent; 2 classes are in no heap, none in the zygote or image heap");
}

Test(signs, classes_of_a_heap_whose_overhead_arrays_are_absent_are_matrixs)
{
    said(overheads_of(&(overheads){ .named = 1, .heap = 'A' }), HDX_STRIP_MATRIX, 80,
         "all 1 overhead arrays that classes refer to are absent");
    said(overheads_of(&(overheads){ .named = 7, .heap = 'Z' }), HDX_STRIP_MATRIX, 80,
         "all 7 overhead arrays that classes refer to are absent");
    said(overheads_of(&(overheads){ .named = 8, .heap = 'I' }), HDX_STRIP_MATRIX, 95,
         "all 8 overhead arrays that classes refer to are absent");
    said(overheads_of(&(overheads){ .named = 2, .other = 'Z' }), HDX_STRIP_MATRIX, 80,
         "all 2 overhead arrays that classes refer to are absent");
    said(overheads_of(&(overheads){ .named = 2, .other = 'I' }), HDX_STRIP_MATRIX, 80,
         "all 2 overhead arrays that classes refer to are absent");
}

Test(signs, overhead_arrays_are_references_to_odd_addresses_under_their_two_names)
{
    static const overheads none[] = {
        { .named = 2, .there = 1 },
        { .named = 2, .there = 2 },
        { .named = 2, .field = "$classOverheads" },
        { .named = 2, .field = "$class" },
        { .named = 2, .field = "$staticOverheax" },
        { .named = 2, .field = "java.lang.String" },
        { .named = 2, .type = 'I' },
        { .named = 2, .add = 1 },
        { .named = 2, .add = 3 },
        { .named = 0 },
    };
    for (unsigned k = 0; k < sizeof none / sizeof *none; k++) {
        char of[24];
        (void)snprintf(of, sizeof of, "case %u", k);
        nothing(overheads_of(&none[k]), of);
    }
}

/* ---- roots of the VM without their object ---- */

static dump_maker *lost_roots(unsigned lost, unsigned kept)
{
    dump_maker    *m = begun();
    const uint64_t class_id = dump_maker_class(m, "a.A", 0, "");
    filled(m, 'I', 2, 1, 2);
    for (unsigned k = 0; k < lost + kept; k++) {
        dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, k < lost ? 0x8880 : m->next_id, 0, 0);
        (void)dump_maker_instance(m, class_id, NULL);
    }
    return m;
}

Test(signs, three_roots_without_their_object_are_kooms)
{
    nothing(lost_roots(2, 0), "two");
    nothing(lost_roots(2, 20), "two of twenty-two");
    said(lost_roots(3, 0), HDX_STRIP_KOOM, 80,
         "3 of 3 VM-internal roots lack their object after them, and the zygote and image heaps are missing");
    said(lost_roots(15, 1), HDX_STRIP_KOOM, 80,
         "15 of 16 VM-internal roots lack their object after them, and the zygote and image heaps are missing");
    said(lost_roots(16, 0), HDX_STRIP_KOOM, 95,
         "16 of 16 VM-internal roots lack their object after them, and the zygote and image heaps are missing");
    dump_maker *m = lost_roots(16, 0);
    dump_maker_heap_info(m, 'Z', "zygote");
    nothing(m, "a zygote heap");
}

Test(signs, a_root_waits_for_the_next_object_whatever_else_stands_between)
{
    const uint8_t  nodata[] = { HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0, 9, 9, 9, 0, 0, 0, 0, 0, 0, 0, 4, 8 };
    dump_maker    *m = lost_roots(2, 0);
    const uint64_t class_id = m->classes[0].id;
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, m->next_id, 0, 0);
    dump_maker_raw(m, nodata, sizeof nodata);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, 0x70, 0, 0);
    dump_maker_heap_info(m, 'A', "app");
    (void)dump_maker_instance(m, class_id, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x9990, 0, 0); /* its address, or the one after */
    (void)dump_maker_instance_at(m, 0x9991, class_id, NULL);
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x77770, 0, 0); /* nothing follows: nobody knows */
    nothing(m, "two are lost");

    static const char *const kinds[] = { "a class", "an instance", "an array of references", "an array" };
    for (unsigned k = 0; k < 4; k++) {
        m = lost_roots(2, 0);
        dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x8880, 0, 0);
        if (k == 0)
            (void)dump_maker_class(m, "a.Other", 0, "");
        else if (k == 1)
            (void)dump_maker_instance(m, m->classes[0].id, NULL);
        else if (k == 2)
            (void)dump_maker_array(m, m->classes[0].id, NULL, 2);
        else
            filled(m, 'I', 2, 1, 1);
        const hdx_stripping what = judged(m);
        cr_expect(what.policy == HDX_STRIP_KOOM && strncmp(what.evidence[0], "3 of 3 ", 7) == 0, "%s: %s", kinds[k],
                  what.evidence[0]);
    }
    m = lost_roots(2, 0); /* the first of two is lost, the second has its object */
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x8880, 0, 0);
    dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, m->next_id, 0, 0);
    (void)dump_maker_instance(m, m->classes[0].id, NULL);
    said(m, HDX_STRIP_KOOM, 80,
         "3 of 4 VM-internal roots lack their object after them, and the zygote and image heaps are missing");

    m = begun(); /* before the first object they are of another kind */
    for (unsigned k = 0; k < 9; k++)
        dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x8880, 0, 0);
    (void)instances(m, "a.A", 3);
    filled(m, 'I', 2, 1, 2);
    nothing(m, "roots before the first object");
}

/* ---- what Matrix dropped ---- */

static dump_maker *with_texts_alone(dump_maker *m, unsigned strings, unsigned others, unsigned chars, unsigned bytes,
                                    unsigned overhead)
{
    (void)instances(m, "java.lang.String", strings);
    (void)instances(m, "a.A", others);
    for (unsigned k = 0; k < chars; k++)
        filled(m, 'C', 2, 1, k);
    for (unsigned k = 0; k < bytes; k++)
        filled(m, 'B', 2, 1, k);
    for (unsigned k = 0; k < overhead; k++)
        odd_bytes(m, 'B', 5);
    return m;
}

static dump_maker *dropped_arrays(unsigned strings, unsigned others, unsigned chars, unsigned bytes, unsigned overhead)
{
    return with_texts_alone(begun(), strings, others, chars, bytes, overhead);
}

Test(signs, eleven_objects_with_a_string_and_no_array_are_matrixs)
{
    nothing(dropped_arrays(10, 0, 0, 0, 0), "ten");
    nothing(dropped_arrays(0, 30, 0, 0, 0), "no String");
    nothing(dropped_arrays(30, 0, 0, 1, 0), "an array");
    said(dropped_arrays(1, 10, 0, 0, 0), HDX_STRIP_MATRIX, 80,
         "no primitive arrays, but 11 instances, 1 of them Strings");
    said(dropped_arrays(20, 10, 0, 0, 0), HDX_STRIP_MATRIX, 80,
         "no primitive arrays, but 30 instances, 20 of them Strings");
    dump_maker *m = begun();
    same_ones(m, 1, 'I', 0, 0);
    (void)instances(m, "java.lang.String", 20);
    nothing(m, "an array of no elements is one");
}

Test(signs, hundreds_of_objects_with_texts_alone_are_matrixs)
{
    static const char *const words = "only byte and char arrays: 500 instances and 50 arrays seen";
    static const char        types[] = "ZFDSIJ";
    nothing(dropped_arrays(1, 498, 20, 20, 10), "499 objects");
    nothing(dropped_arrays(1, 499, 20, 20, 9), "49 arrays");
    said(dropped_arrays(1, 499, 20, 20, 10), HDX_STRIP_MATRIX, 60, words);
    said(dropped_arrays(0, 500, 50, 0, 0), HDX_STRIP_MATRIX, 60, words);
    said(dropped_arrays(0, 500, 0, 50, 0), HDX_STRIP_MATRIX, 60, words);
    said(dropped_arrays(0, 500, 0, 0, 50), HDX_STRIP_MATRIX, 60, words);
    for (unsigned t = 0; t < 6; t++) {
        dump_maker *m = dropped_arrays(0, 500, 50, 0, 0);
        filled(m, types[t], 1, 1, 1);
        nothing(m, "an array of another type");
    }
}

Test(signs, a_jvms_dump_may_begin_with_texts_alone)
{
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.2";
    m->time_ms = 1700000000000;
    nothing(with_texts_alone(m, 1, 499, 20, 20, 10), "it names no heap");
}

Test(signs, two_signs_of_matrix_are_both_said_and_the_surer_counts)
{
    dump_maker    *m = overheads_of(&(overheads){ .named = 1, .heap = 'A' });
    const uint64_t class_id = m->classes[0].id;
    m->heap.len -= 14 + 12; /* without the int[] at the end */
    for (unsigned k = 0; k < 500; k++)
        (void)dump_maker_instance(m, class_id, NULL);
    for (unsigned k = 0; k < 50; k++)
        filled(m, 'B', 2, 1, k);
    const hdx_stripping what = judged(m);
    cr_expect(what.policy == HDX_STRIP_MATRIX && what.confidence == 80 && what.evidence_count == 2, "%u, %u: %s",
              what.confidence, what.evidence_count, what.evidence[0]);
    cr_expect(strstr(what.evidence[1], "500 instances and 50 arrays") != NULL, "%s", what.evidence[1]);
}
