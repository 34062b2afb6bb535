/*
 * test_written.c - what each policy writes of records and entries that are made by hand, byte for byte, and what the
 * report counts of them.
 */
#include "over.h"

typedef unsigned long long ull;

static hdx_buffer in, out; /* the dump; what shall be written of it */
static uint32_t   ids;
static char       folder[TEST_FOLDER], dump[64], made[64];

static void begin(uint32_t width)
{
    ids = width;
    in = hdx_buffer_of(NULL);
    out = hdx_buffer_of(NULL);
    hdx_write_head(&in, "1.0.3", ids, 1700000000000);
    hdx_write_head(&out, "1.0.3", ids, 1700000000000);
    test_folder_make_fast(folder, "written");
    (void)snprintf(dump, sizeof dump, "%.*s/a.hprof", TEST_FOLDER, folder);
    (void)snprintf(made, sizeof made, "%.*s/b.hprof", TEST_FOLDER, folder);
}
static void fill(hdx_buffer *b, uint8_t value, size_t n)
{
    for (size_t k = 0; k < n; k++)
        hdx_write_u1(b, value);
}
static void u1(uint8_t v) { hdx_write_u1(&in, v), hdx_write_u1(&out, v); }
static void u2(uint16_t v) { hdx_write_u2(&in, v), hdx_write_u2(&out, v); }
static void u4(uint32_t v) { hdx_write_u4(&in, v), hdx_write_u4(&out, v); }
static void id(uint64_t v) { hdx_write_id(&in, ids, v), hdx_write_id(&out, ids, v); }
static void both_same(uint8_t value, size_t n) { fill(&in, value, n), fill(&out, value, n); }
static void other(uint8_t was, uint8_t is, size_t n) { fill(&in, was, n), fill(&out, is, n); }
static void other_id(uint64_t was, uint64_t is) { hdx_write_id(&in, ids, was), hdx_write_id(&out, ids, is); }

static void text(uint64_t name, const char *words, const char *then)
{
    u1(HDX_TOP_STRING), u4(0x01020304), u4((uint32_t)(ids + strlen(words))), id(name);
    hdx_buffer_put(&in, words, strlen(words));
    hdx_buffer_put(&out, then, strlen(words));
}
static void class_of(uint64_t class_id, uint64_t name)
{
    u1(HDX_TOP_LOAD_CLASS), u4(0x01020304), u4(8 + 2 * ids), u4(7), id(class_id), u4(0), id(name);
}
static uint64_t in_at, out_at;
static void     segment(void)
{
    in_at = hdx_write_begin(&in, HDX_TOP_HEAP_DUMP_SEGMENT, 0x01020304);
    out_at = hdx_write_begin(&out, HDX_TOP_HEAP_DUMP_SEGMENT, 0x01020304);
}
static void segment_says(uint64_t in_len, uint64_t out_len) /* 0: as long as it is */
{
    if (in_len == 0)
        hdx_write_finish(&in, in_at);
    else
        hdx_write_length(&in, in_at, (uint32_t)in_len);
    if (out_len == 0)
        hdx_write_finish(&out, out_at);
    else
        hdx_write_length(&out, out_at, (uint32_t)out_len);
}
static void segment_ends(void) { segment_says(0, 0); }

static hdx_strip_report written(const hdx_strip_options *of)
{
    hdx_strip_options o = *of;
    hdx_strip_report  r;
    hdx_error         err = { 0 };
    size_t            differ = 0;
    o.dump = dump;
    o.output = made;
    dump_maker_save_bytes(dump, in.at, in.len);
    cr_assert(hdx_strip_write(&o, &r, &err) == HDX_OK, "%s", err.message);
    bytes b = slurp(made);
    while (differ < out.len && differ < b.len && ((const uint8_t *)out.at)[differ] == b.at[differ])
        differ++;
    cr_expect(b.len == out.len && differ == out.len, "%s: %zu bytes, not %llu; another at %zu",
              hdx_strip_name(o.policy), b.len, (ull)out.len, differ);
    cr_expect(r.plain_in == in.len && r.plain_out == out.len && r.bytes_in == in.len && r.bytes_out == out.len &&
              r.policy == o.policy && r.damage_at == HDX_NOWHERE && r.absent_bytes == 0);
    free(b.at);
    hdx_buffer_free(&in);
    hdx_buffer_free(&out);
    test_folder_remove(folder);
    return r;
}
static hdx_strip_report by(hdx_strip_policy policy) { return written(&(hdx_strip_options){ .policy = policy }); }

static const hdx_strip_kind *kind(const hdx_strip_report *r, const char *record)
{
    static const hdx_strip_kind none = { "", 0, 0, 0, 0 };
    for (unsigned k = 0; k < r->kind_count; k++)
        if (strcmp(r->kinds[k].record, record) == 0)
            return &r->kinds[k];
    return &none;
}
static bool counted(const hdx_strip_report *r, const char *record, uint64_t n, uint64_t dropped, uint64_t bytes_in,
                    uint64_t bytes_out)
{
    const hdx_strip_kind *k = kind(r, record);
    cr_expect(k->in == n && k->dropped == dropped && k->bytes_in == bytes_in && k->bytes_out == bytes_out,
              "%s: %llu, %llu, %llu, %llu", record, (ull)k->in, (ull)k->dropped, (ull)k->bytes_in, (ull)k->bytes_out);
    return true;
}

static void instance(uint64_t object, uint64_t class_id, uint32_t len)
{
    u1(HDX_SUB_INSTANCE), id(object), u4(3), id(class_id), u4(len);
}
static void array(uint8_t tag, uint64_t object, uint32_t count, uint8_t type)
{
    u1(tag), id(object), u4(3), u4(count), u1(type);
}
static void heap(uint32_t which) { u1(HDX_SUB_HEAP_DUMP_INFO), u4(which), id(1); }
static void root(uint8_t tag) { u1(tag), id(0x77); }

/* ---- Matrix ---- */

Test(matrix, clears_what_only_the_tool_knows_of_a_class)
{
    for (uint32_t width = 4; width <= 8; width += 4)
        for (uint16_t pool = 0; pool < 3; pool++) {
            begin(width);
            segment();
            u1(HDX_SUB_CLASS), id(0x100), u4(5), id(0x101), id(0x102); /* super, loader */
            for (uint64_t k = 0; k < 4; k++)                           /* signers, domain, two reserved */
                other_id(0x0101010101010101 + k, 0);
            u4(0x0a0b0c0d);
            hdx_write_u2(&in, pool);
            hdx_write_u2(&out, 0);
            for (uint16_t k = 0; k < pool; k++) {
                hdx_write_u2(&in, k);
                hdx_write_u1(&in, 10);
                hdx_write_u4(&in, 0x33333333);
            }
            u2(1), id(0x55), u1(8), u1(0x66);
            u2(1), id(0x56), u1(10);
            const uint64_t len = out.len - 31 - 9, was = in.len - 31 - 9;
            u1(HDX_SUB_ROOT_JNI_GLOBAL), id(0x200), other_id(0x201, 0);
            segment_ends();
            const hdx_strip_report r = by(HDX_STRIP_MATRIX);
            cr_expect(r.records_in == 3 && r.records_out == 3 && r.kind_count == 2);
            cr_expect(counted(&r, "CLASS_DUMP", 1, 0, was, len) &&
                      counted(&r, "ROOTS", 1, 0, 1 + 2 * width, 1 + 2 * width));
        }
}

Test(matrix, gives_bitmaps_the_pixels_of_the_first_equal_one)
{
    for (uint32_t width = 4; width <= 8; width += 4)
        for (uint32_t at = 0; at < 9; at += 4) {
            begin(width);
            text(1, "android.graphics.Bitmap", "android.graphics.Bitmap");
            text(2, "mBuffer", "mBuffer");
            text(3, "before", "before");
            class_of(0x100, 1);
            segment();
            u1(HDX_SUB_CLASS), id(0x100), u4(0);
            for (unsigned k = 0; k < 6; k++)
                id(0);
            u4(0), u2(0), u2(0), u2((uint16_t)(at / 4 + 1));
            for (uint32_t k = 0; k < at / 4; k++)
                id(3), u1(10);
            id(2), u1(2);
            array(HDX_SUB_PRIMITIVE_ARRAY, 0x0102030405060708 & (width == 4 ? UINT32_MAX : UINT64_MAX), 9, 8);
            both_same(0x44, 9);
            hdx_write_primitive_array_head(&in, ids, HDX_SUB_PRIMITIVE_ARRAY, 0x301, 3, 9, 8);
            fill(&in, 0x44, 9);
            const uint64_t first = 0x0102030405060708 & (width == 4 ? UINT32_MAX : UINT64_MAX);
            const uint32_t len = at + width + 3;
            instance(0x400, 0x100, len), both_same(0x11, at), id(first), both_same(0x12, 3);
            instance(0x401, 0x100, len), both_same(0x11, at), other_id(0x301, first), both_same(0x12, 3);
            instance(0x402, 0x100, len), both_same(0x11, at), id(0x999), both_same(0x12, 3); /* not there */
            instance(0x403, 0x100, at + width), both_same(0x11, at), other_id(0x301, first);
            instance(0x404, 0x100, at + width - 1), both_same(0x11, at), both_same(0, width - 3), both_same(3, 1),
                both_same(1, 1);
            instance(0x405, 0x500, len), both_same(0x11, at), id(0x301), both_same(0x12, 3); /* of another class */
            segment_ends();
            const hdx_strip_report r = by(HDX_STRIP_MATRIX);
            cr_expect(r.merged == 1 && kind(&r, "PRIMITIVE_ARRAY_DUMP")->dropped == 1);
        }
}

Test(matrix, keeps_texts_and_drops_all_other_arrays)
{
    begin(4);
    text(1, "java.lang.String", "java.lang.String");
    text(2, "value", "value");
    class_of(0x100, 1);
    segment();
    u1(HDX_SUB_CLASS), id(0x100), u4(0), both_same(0, 24), u4(0), u2(0), u2(0), u2(1), id(2), u1(2);
    instance(0x200, 0x100, 4), id(0x300);
    instance(0x201, 0x100, 4), id(0x301);
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x300, 3, 8), both_same('a', 3);
    array(HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0x301, 3, 8);
    hdx_write_primitive_array_head(&in, ids, HDX_SUB_PRIMITIVE_ARRAY, 0x302, 3, 9, 8);
    fill(&in, 0x44, 9);
    hdx_write_primitive_array_head(&in, ids, HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0x303, 3, 9, 8);
    segment_ends();
    const hdx_strip_report r = by(HDX_STRIP_MATRIX);
    cr_expect(r.records_in == 4 + 7 && r.records_out == 4 + 5 && r.dropped_shared == 0);
    cr_expect(counted(&r, "PRIMITIVE_ARRAY_DUMP", 2, 1, 17 + 23, 17) &&
              counted(&r, "PRIMITIVE_ARRAY_NODATA", 2, 1, 28, 14) && counted(&r, "INSTANCE_DUMP", 2, 0, 42, 42));
}

/* ---- KOOM ---- */

Test(koom, drops_shared_heaps_and_cuts_contents_under_the_length_they_had)
{
    begin(4);
    const char *const keep[] = { "int[]", "app.Kept" }, *const drop[] = { "long[]", "app.Gone" };
    const hdx_strip_options o = {
        .policy = HDX_STRIP_KOOM, .keep_classes = keep, .keep_count = 2, .drop_classes = drop, .drop_count = 2
    };
    text(1, "app.Kept", "app.Kept");
    text(2, "app.Gone", "app.Gone");
    class_of(0x100, 1);
    class_of(0x101, 2);
    segment();
    heap('A');
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x300, 3, 8), fill(&in, 0x44, 3);
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x301, 3, 10), fill(&in, 0x44, 12); /* kept, and cut as all are */
    array(HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0x302, 3, 8);
    instance(0x400, 0x200, 4), both_same(0x45, 4);
    const uint64_t before = out.len;
    instance(0x401, 0x101, 4), both_same(0x45, 4);
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x303, 1, 11), both_same(0x44, 8);
    u1(HDX_SUB_OBJECT_ARRAY), id(0x304), u4(0), u4(1), id(0x101), id(0x400);
    out.len = before; /* dropped by name */
    segment_says(0, out.len - out_at - 9 + 3 + 12);
    segment();
    heap('A');
    uint64_t at = out.len;
    heap('Z');
    instance(0x500, 0x200, 4), both_same(0x45, 4);
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x501, 3, 8), both_same(0x44, 3);
    u1(HDX_SUB_OBJECT_ARRAY), id(0x502), u4(0), u4(1), id(0x200), id(0x400);
    out.len = at;
    instance(0x503, 0x100, 4), both_same(0x45, 4); /* kept by name, shared or not */
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x504, 3, 10), fill(&in, 0x44, 12);
    root(HDX_SUB_ROOT_STICKY_CLASS);
    at = out.len;
    heap('I');
    instance(0x505, 0x200, 4), both_same(0x45, 4);
    out.len = at;
    heap('A');
    instance(0x506, 0x200, 4), both_same(0x45, 4);
    segment_says(0, out.len - out_at - 9 + 12);
    segment(); /* a record begins in no heap */
    instance(0x507, 0x200, 4), both_same(0x45, 4);
    segment_ends();
    const hdx_strip_report r = written(&o);
    cr_expect(r.dropped_shared == 6 && r.records_in == 7 + 8 + 12 + 1 && r.records_out == r.records_in - 3 - 6,
              "%llu, %llu", (ull)r.dropped_shared, (ull)r.records_in);
    cr_expect(counted(&r, "HEAP_DUMP_INFO", 5, 2, 45, 27) &&
              counted(&r, "PRIMITIVE_ARRAY_DUMP", 5, 2, 17 + 26 + 22 + 17 + 26, 42) &&
              counted(&r, "OBJECT_ARRAY_DUMP", 2, 2, 42, 0) && counted(&r, "ROOTS", 1, 0, 5, 5));
}

Test(koom, states_lengths_of_four_bytes)
{
    begin(4);
    const uint32_t n = 0x01020304;
    segment();
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x300, n, 8);
    uint8_t *zeros = calloc(n, 1);
    hdx_buffer_put(&in, zeros, n);
    free(zeros);
    segment_says(0, 14 + n);
    (void)by(HDX_STRIP_KOOM);
}

/* ---- Shark and redaction ---- */

Test(shark, overwrites_contents_and_the_values_of_boxes)
{
    for (unsigned redact = 0; redact < 2; redact++) {
        begin(4);
        const uint8_t mark = redact == 1 ? '*' : '?';
        text(1, "java.lang.Integer", "java.lang.Integer");
        text(2, "java.lang.Long", "java.lang.Long");
        class_of(0x100, 1);
        class_of(0x101, 2);
        segment();
        instance(0x200, 0x100, 6), other(0x44, 0, 4), both_same(0x45, 2);
        instance(0x201, 0x100, 3), other(0x44, 0, 3);
        instance(0x202, 0x101, 8), other(0x44, 0, 8);
        instance(0x203, 0x102, 8), both_same(0x44, 8);
        instance(0x204, 0x100, 0);
        u1(HDX_SUB_OBJECT_ARRAY), id(0x205), u4(0), u4(2), id(0x100), id(0x200), id(0x201);
        array(HDX_SUB_PRIMITIVE_ARRAY, 0x300, 9, 8), other(0x44, mark, 9);
        array(HDX_SUB_PRIMITIVE_ARRAY, 0x301, 10000, 8), other(0x44, mark, 10000);
        array(HDX_SUB_PRIMITIVE_ARRAY, 0x302, 5000, 5);
        for (unsigned k = 0; k < 5000; k++)
            other(0x44, 0, 1), other(0x44, mark, 1);
        array(HDX_SUB_PRIMITIVE_ARRAY, 0x303, 5000, 10), other(0x44, 0, 20000);
        array(HDX_SUB_PRIMITIVE_ARRAY, 0x304, 0, 8);
        array(HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0x305, 9, 8);
        segment_ends();
        const hdx_strip_report r = by(redact == 1 ? HDX_STRIP_REDACTED : HDX_STRIP_SHARK);
        cr_expect(r.records_in == 5 + 12 && r.records_out == 5 + 12 && (r.graph_in != 0) == (redact == 1) &&
                  r.graph_in == r.graph_out && r.kind_count == 4);
    }
}

Test(shark, keeps_and_drops_by_name)
{
    begin(4);
    const char *const keep[] = { "java.lang.Integer", "byte[]" }, *const drop[] = { "int[]", "java.lang.Long" };
    const hdx_strip_options o = {
        .policy = HDX_STRIP_SHARK, .keep_classes = keep, .keep_count = 2, .drop_classes = drop, .drop_count = 2
    };
    text(1, "java.lang.Integer", "java.lang.Integer");
    text(2, "java.lang.Long", "java.lang.Long");
    class_of(0x100, 1);
    class_of(0x101, 2);
    segment();
    instance(0x200, 0x100, 4), both_same(0x44, 4);
    uint64_t at = out.len;
    instance(0x201, 0x101, 8), both_same(0x44, 8);
    out.len = at;
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x300, 9, 8), both_same(0x44, 9);
    at = out.len;
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x301, 2, 10), both_same(0x44, 8);
    array(HDX_SUB_PRIMITIVE_ARRAY_NODATA, 0x302, 2, 10);
    out.len = at;
    array(HDX_SUB_PRIMITIVE_ARRAY, 0x303, 2, 9), other(0x44, 0, 4);
    segment_ends();
    const hdx_strip_report r = written(&o);
    cr_expect(r.records_out == r.records_in - 3 && r.dropped_shared == 0);
}

Test(redaction, blanks_texts_that_are_no_names)
{
    for (uint32_t width = 4; width <= 8; width += 4)
        for (unsigned map = 0; map < 2; map++) {
            static char             name[70000], long_one[70000];
            const hdx_strip_options o = { .policy = HDX_STRIP_REDACTED, .map_names = map == 1 };
            begin(width);
            memset(name, 'a', 65536);
            memset(long_one, 'l', 65536);
            text(1, "a.b", map == 1 ? "l.m" : "a.b");
            text(2, "java.lang.A", "java.lang.A");
            text(3, "a secret", "********");
            text(4, "", "");
            text(5, "x.y", "***"); /* nothing has this name */
            text(6, name, name);   /* longer than a name can be: as it is */
            name[3] = '\0';
            text(7, name, map == 1 ? "e.e" : name);
            out.len -= 3;
            memcpy(long_one, "aaa", 4);
            hdx_strip_proof_rename((uint8_t *)long_one, 3);
            hdx_buffer_put(&out, map == 1 ? long_one : name, 3);
            u1(HDX_TOP_STRING), u4(0), u4(3), both_same(0x41, 3); /* not even an id */
            class_of(0x100, 1), class_of(0x101, 2), class_of(0x102, 6), class_of(0x103, 7);
            const hdx_strip_report r = written(&o);
            cr_expect(r.graph_in == r.graph_out && r.records_in == 12 && r.records_out == 12);
        }
}

/* ---- Tailor ---- */

Test(tailor, keeps_texts_classes_and_heaps_of_one_dump)
{
    for (unsigned more = 0; more < 2; more++) {
        begin(4);
        out.len = 0;
        hdx_buffer_put(&out, "JAVA PROFILE 6.0.1", 18);
        hdx_write_string(&in, 4, 9, "abc", 3);
        hdx_buffer_put(&out, "\1\0\7\0\0\0\11abc", 10);
        hdx_write_trace(&in, 4, 1, 1, NULL, 0); /* not kept */
        hdx_write_load_class(&in, 4, 1, 0x100, 1, 9);
        hdx_buffer_put(&out, "\2\0\0\1\0\0\0\0\11", 9);
        const uint64_t begun = hdx_write_begin(&in, HDX_TOP_HEAP_DUMP, 5);
        hdx_write_u1(&out, HDX_TOP_HEAP_DUMP_SEGMENT);
        hdx_write_root(&in, 4, HDX_SUB_ROOT_STICKY_CLASS, 0x100, 0, 0, 0);
        hdx_buffer_put(&out, "\5\0\0\1\0", 5);
        hdx_write_finish(&in, begun);
        hdx_write_end(&in);
        hdx_write_u1(&out, HDX_TOP_HEAP_DUMP_END);
        if (more == 1)
            hdx_write_string(&in, 4, 10, "def", 3);
        const hdx_strip_report r = written(&(hdx_strip_options){ .policy = HDX_STRIP_TAILOR, .plain = true });
        cr_expect(r.truncated == (more == 1) && r.records_in == 6 && r.records_out == 5);
    }
}

/* ---- what is damaged ---- */

Test(strip, tells_which_entry_breaks_a_record_and_how)
{
    static const struct {
        const char *at;
        uint32_t    len, states; /* 0: what there is */
        const char *message;
    } broken[] = {
        { "\x55", 1, 0, "unknown heap entry tag 0x55" },
        { "\x23\0\0\0\1\0\0\0\0\0\0\0\1\3\0", 15, 0, "PRIMITIVE_ARRAY_DUMP has an unknown type" },
        { "\x23\0\0\0\1\0\0\0\0\0\0\0\2\10\0", 15, 0, "PRIMITIVE_ARRAY_DUMP extends past the end of its record" },
        { "\x21\0\0\0\1\0\0\0\0", 9, 0, "the file ends inside a heap record" },
    };
    for (unsigned k = 0; k < 4; k++)
        for (unsigned p = HDX_STRIP_MATRIX; p <= HDX_STRIP_REDACTED; p++) {
            hdx_strip_report r;
            hdx_error        err = { 0 };
            begin(4);
            segment();
            root(HDX_SUB_ROOT_STICKY_CLASS);
            const uint64_t place = in.len;
            hdx_buffer_put(&in, broken[k].at, broken[k].len);
            segment_ends();
            if (k == 2)
                hdx_write_end(&in);
            dump_maker_save_bytes(dump, in.at, in.len);
            cr_expect(strip_to(dump, (hdx_strip_policy)p, made, &r, &err) == HDX_BAD_DUMP && err.offset == place &&
                          strstr(err.message, broken[k].message) != NULL && strstr(err.hint, "heapdex info") != NULL,
                      "%u, %u: %llu, %s", k, p, (ull)err.offset, err.message);
            cr_expect(access(made, F_OK) != 0);
            cr_expect(strip_to(dump, (hdx_strip_policy)p, made, &r, NULL) == HDX_BAD_DUMP);
            hdx_buffer_free(&in);
            hdx_buffer_free(&out);
            test_folder_remove(folder);
        }
}

Test(strip, refuses_policies_and_options_that_do_not_go_together)
{
    const char *const drop[] = { "a.A" };
    hdx_strip_report  r;
    hdx_error         err = { 0 };
    begin(8);
    dump_maker_save_bytes(dump, in.at, in.len);
    cr_expect(strip_to(dump, HDX_STRIP_UNKNOWN, made, &r, &err) == HDX_USAGE &&
              strstr(err.message, "a policy is missing") != NULL);
    cr_expect(strip_to(dump, HDX_STRIP_NONE, made, &r, &err) == HDX_USAGE && strcmp(err.where, dump) == 0);
    const hdx_strip_options o = {
        .dump = dump, .output = made, .policy = HDX_STRIP_REDACTED, .drop_classes = drop, .drop_count = 1
    };
    cr_expect(hdx_strip_write(&o, &r, &err) == HDX_USAGE && strstr(err.message, "cannot drop classes") != NULL);
    cr_expect(strip_to(dump, HDX_STRIP_TAILOR, made, &r, &err) == HDX_BAD_DUMP && err.offset == 19 &&
                  strstr(err.message, "needs 4-byte identifiers; this dump has 8-byte ones") != NULL &&
                  strcmp(err.hint, "use another --policy") == 0,
              "%s", err.message);
    cr_expect(strip_to(dump, HDX_STRIP_REDACTED, made, &r, &err) == HDX_OK && access(made, F_OK) == 0);
    hdx_buffer_free(&in);
    hdx_buffer_free(&out);
    test_folder_remove(folder);
}
