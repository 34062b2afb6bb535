/*
 * test_names.c - class names of all writers in one form; tables of kinds.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "model/model.h"

static void expect_name_of(const void *raw, size_t len, const char *want, size_t want_len)
{
    hdx_arena arena = hdx_arena_of(NULL);
    hdx_text  name;
    uint8_t  *exact = malloc(len == 0 ? 1 : len);
    memcpy(exact, raw, len);
    cr_assert(hdx_java_class_name(&arena, (hdx_view){ exact, len }, &name));
    cr_expect(name.len == want_len && memcmp(name.at, want, want_len) == 0, "\"%.*s\" is not \"%s\"", (int)name.len,
              name.at, want);
    free(exact);
    hdx_arena_free(&arena);
}
#define NAME(raw, want) expect_name_of(raw, sizeof(raw) - 1, want, sizeof(want) - 1)

Test(names, every_writer_gives_the_java_form)
{
    NAME("java/lang/String", "java.lang.String");
    NAME("java.lang.String", "java.lang.String");
    NAME("[Ljava/lang/String;", "java.lang.String[]");
    NAME("[[Ljava.lang.String;", "java.lang.String[][]");
    NAME("java.lang.String[]", "java.lang.String[]");
    NAME("[I", "int[]");
    NAME("[[J", "long[][]");
    NAME("[Z", "boolean[]");
    NAME("[B", "byte[]");
    NAME("[C", "char[]");
    NAME("[F", "float[]");
    NAME("[D", "double[]");
    NAME("[S", "short[]");
    NAME("int[]", "int[]");
    NAME("I", "I");
    NAME("", "");
}

Test(names, addresses_of_hidden_classes_stay_as_they_are)
{
    NAME("app/Main$$Lambda+0x00007f1c04001200", "app.Main$$Lambda+0x00007f1c04001200");
    NAME("app/Main$$Lambda$14/0x0000000800c03000", "app.Main$$Lambda$14/0x0000000800c03000");
    NAME("[Lapp/Main$$Lambda$14/0x0000000800c03000;", "app.Main$$Lambda$14/0x0000000800c03000[]");
    NAME("a/0x/b", "a.0x.b");
    NAME("a/0xyz", "a.0xyz");
    NAME("/0x1", "/0x1");
    NAME("a/b/0x0123456789abcdefABCDEF", "a.b/0x0123456789abcdefABCDEF");
    NAME("a/0xF", "a/0xF");
    NAME("/a/b", ".a.b");
    NAME("0x12ab", "0x12ab"); /* no slash at all */
    NAME("a/0x", "a.0x");     /* no digit */
    NAME("a/1x2", "a.1x2");
    NAME("a/0y2", "a.0y2");
    static const char near_digits[] = "/:@G`g";
    for (const char *c = near_digits; *c != 0; c++) {
        const char raw[] = { 'a', '/', '0', 'x', '1', *c, 0 },
                   want[] = { 'a', '.', '0', 'x', '1', *c == '/' ? '.' : *c, 0 };
        expect_name_of(raw, 6, want, 6);
    }
}

/* Eight bytes at a time while they are plain, wherever one that is not stands. */
Test(names, a_character_of_two_bytes_stands_anywhere)
{
    for (size_t len = 2; len < 40; len++)
        for (size_t at = 0; at + 2 <= len; at++) {
            char raw[40], want[40];
            for (size_t i = 0; i < len; i++)
                raw[i] = (char)('a' + i % 26);
            memcpy(want, raw, at);
            want[at] = 0;
            memcpy(want + at + 1, raw + at + 2, len - at - 2);
            memcpy(raw + at, "\xc0\x80", 2);
            expect_name_of(raw, len, want, len - 1);
        }
}

static bool refuse(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

Test(names, need_memory)
{
    hdx_mem   mem = { .refuse = refuse };
    hdx_arena arena = hdx_arena_of(&mem);
    hdx_text  name;
    cr_expect(not(hdx_java_class_name(&arena, (hdx_view){ (const uint8_t *)"[I", 2 }, &name)));
    cr_expect(not(hdx_java_text(&arena, (hdx_view){ (const uint8_t *)"a", 1 }, &name)));
    cr_expect(not(hdx_java_text(&arena, (hdx_view){ (const uint8_t *)"a", (size_t)UINT32_MAX }, &name)));
    cr_expect(not(hdx_java_class_name(&arena, (hdx_view){ (const uint8_t *)"a", (size_t)UINT32_MAX }, &name)));
}

Test(names, modified_utf_8_becomes_utf_8_and_broken_bytes_are_kept)
{
    NAME("app/Z\xc0\x80"
         "ero",
         "app.Z\0ero");
    NAME("app/\xed\xa0\xbd\xed\xb8\x80", "app.\xf0\x9f\x98\x80");
    NAME("app/\xff\xfe", "app.\xff\xfe");
    NAME("\xed\xa0\x80\xed\xb0\x80", "\xf0\x90\x80\x80"); /* the first and the last of the pairs */
    NAME("\xed\xaf\xbf\xed\xbf\xbf", "\xf4\x8f\xbf\xbf");
    NAME("\xed\xa0\xbd", "\xed\xa0\xbd");
    NAME("\xed\xa0\xbd\xed\xb8", "\xed\xa0\xbd\xed\xb8");
    NAME("\xc0", "\xc0");
    NAME("\xed\xb8\x80\xed\xa0\xbd", "\xed\xb8\x80\xed\xa0\xbd");
    NAME("\xed\xa0\xbd\xe2\xb8\x80",
         "\xed\xa0\xbd\xe2\xb8\x80"); /* no half of a pair, though its second byte is as in one */
    NAME("\xe2\xa0\xbd\xed\xb8\x80", "\xe2\xa0\xbd\xed\xb8\x80");
}

/* What lies after a name would complete it. */
Test(names, nothing_behind_a_name_is_looked_at)
{
    static const char whole[] = "\xed\xa0\xbd\xed\xb8\x80", zero[] = "ab\xc0\x80";
    for (size_t len = 1; len <= 6; len++) {
        hdx_arena arena = hdx_arena_of(NULL);
        hdx_text  text;
        cr_assert(hdx_java_text(&arena, (hdx_view){ (const uint8_t *)whole, len }, &text));
        cr_expect(len == 6 ? text.len == 4 && memcmp(text.at, "\xf0\x9f\x98\x80", 4) == 0
                           : text.len == len && memcmp(text.at, whole, len) == 0,
                  "%zu bytes", len);
        cr_assert(hdx_java_text(&arena, (hdx_view){ (const uint8_t *)zero, len < 4 ? len : 4 }, &text));
        cr_expect(text.len == (len < 3 ? len : 3) && memcmp(text.at, len < 4 ? zero : "ab\0", text.len) == 0,
                  "%zu bytes", len);
        hdx_arena_free(&arena);
    }
}

Test(names, odd_array_signatures_are_unknown_arrays)
{
    NAME("[", "unknown[]");
    NAME("[[", "unknown[][]");
    NAME("[Q", "unknown[]");
    NAME("[II", "unknown[]");
    NAME("[L", "unknown[]");
    NAME("[L;", "[]");
    NAME("[Ljava/lang/Open", "java.lang.Open[]");
}

/* Each dimension takes two bytes where the raw name has one. */
Test(names, of_arrays_of_many_dimensions_have_room)
{
    enum { DIMENSIONS = 100000 };
    char *raw = malloc(DIMENSIONS + 1), *want = malloc(2 * DIMENSIONS + 3);
    memset(raw, '[', DIMENSIONS);
    raw[DIMENSIONS] = 'I';
    memcpy(want, "int", 3);
    for (size_t i = 0; i < DIMENSIONS; i++)
        memcpy(want + 3 + 2 * i, "[]", 2);
    expect_name_of(raw, DIMENSIONS + 1, want, 2 * DIMENSIONS + 3);
    free(raw);
    free(want);
}

Test(names, any_bytes_give_a_name_no_longer_than_twice_theirs)
{
    uint64_t x = 12345;
    for (unsigned round = 0; round < 20000; round++) {
        static const char alphabet[] = "[L;/.IZ0xa\xc0\x80\xed\xa0\xb0\xbf$+";
        uint8_t           raw[24];
        size_t            len = 0;
        hdx_arena         arena = hdx_arena_of(NULL);
        hdx_text          name;
        x = x * 6364136223846793005u + 1442695040888963407u;
        for (uint64_t r = x >> 20; len < (x >> 59) % 24; len++, r = r * 31 + 7)
            raw[len] = (uint8_t)alphabet[r % (sizeof alphabet - 1)];
        uint8_t *exact = malloc(len == 0 ? 1 : len);
        memcpy(exact, raw, len);
        cr_assert(hdx_java_class_name(&arena, (hdx_view){ exact, len }, &name));
        cr_expect(le(u64, name.len, 2 * len + 16));
        cr_assert(hdx_java_text(&arena, (hdx_view){ exact, len }, &name));
        cr_expect(le(u64, name.len, len));
        free(exact);
        hdx_arena_free(&arena);
    }
}

static hdx_text text(const char *s) { return (hdx_text){ s, (uint32_t)strlen(s) }; }

Test(names, element_types)
{
    cr_expect(eq(u8, hdx_name_element_type(text("int[]")), 10));
    cr_expect(eq(u8, hdx_name_element_type(text("boolean[]")), 4));
    cr_expect(eq(u8, hdx_name_element_type(text("long[]")), 11));
    cr_expect(eq(u8, hdx_name_element_type(text("int[][]")), 2));
    cr_expect(eq(u8, hdx_name_element_type(text("java.lang.Object[]")), 2));
    cr_expect(eq(u8, hdx_name_element_type(text("java.lang.Object")), 0));
    cr_expect(eq(u8, hdx_name_element_type(text("ref[]")), 2));
    cr_expect(hdx_name_is_array(text("a[]")));
    cr_expect(not(hdx_name_is_array(text("[]"))));
    cr_expect(not(hdx_name_is_array(text(""))));
}

Test(kinds, types_roots_and_objects_have_names)
{
    cr_expect(eq(u32, hdx_type_size(2, 4), 4));
    cr_expect(eq(u32, hdx_type_size(2, 8), 8));
    cr_expect(eq(u32, hdx_type_size(5, 8), 2));
    cr_expect(eq(u32, hdx_type_size(11, 4), 8));
    for (unsigned type = 0; type < 256; type++) {
        const bool real = type == 2 || (type >= 4 && type <= 11);
        cr_expect(eq(int, hdx_type_name((uint8_t)type) != NULL, real), "%u", type);
        cr_expect(eq(int, hdx_type_size((uint8_t)type, 8) != 0, real), "%u", type);
        cr_expect(eq(int, hdx_type_is_primitive((uint8_t)type), real &&type != 2), "%u", type);
    }
    cr_expect(eq(str, (char *)hdx_type_name(2), (char *)"ref"));
    cr_expect(eq(str, (char *)hdx_type_name(9), (char *)"short"));
    cr_expect(eq(str, (char *)hdx_object_kind_name(HDX_OBJECT_ARRAY), (char *)"object_array"));
    cr_expect(eq(str, (char *)hdx_object_kind_name(HDX_CLASS_OBJECT), (char *)"class"));
    cr_expect(eq(str, (char *)hdx_root_type_name(HDX_ROOT_JAVA_LOCAL), (char *)"JAVA_LOCAL"));
    hdx_root_type type;
    unsigned      tags = 0;
    for (unsigned tag = 0; tag < 256; tag++)
        if (hdx_root_type_of_tag((uint8_t)tag, &type)) {
            tags++;
            cr_expect(hdx_root_type_name(type)[0] != 0);
        }
    cr_expect(eq(u32, tags, 16));
    cr_expect(hdx_root_type_of_tag(0x05, &type) && type == HDX_ROOT_SYSTEM_CLASS);
    cr_expect(hdx_root_type_of_tag(0xFF, &type) && type == HDX_ROOT_UNKNOWN);
    cr_expect(not(hdx_root_type_of_tag(0x21, &type)));
}

static void expect_described(const char *name, const char *words, const char *description)
{
    cr_expect(eq(str, (char *)hdx_root_type_words(name, strlen(name)), (char *)words));
    cr_expect(eq(str, (char *)hdx_root_type_description(name, strlen(name)), (char *)description));
}

Test(kinds, every_type_of_root_has_words_and_a_description_under_both_its_names)
{
    for (unsigned t = 0; t < HDX_ROOT_TYPES; t++) {
        const char *name = hdx_root_type_name((hdx_root_type)t);
        cr_assert(hdx_root_type_words(name, strlen(name)) != NULL, "%s", name);
        const char *description = hdx_root_type_description(name, strlen(name));
        cr_assert(description != NULL, "%s", name);
        cr_expect(strncmp(description, "a ", 2) == 0 || strncmp(description, "an ", 3) == 0, "%s", description);
    }
    expect_described("THREAD_OBJ", "thread", "a running thread");
    expect_described("THREAD_OBJECT", "thread", "a running thread");
    expect_described("STICKY_CLASS", "system class", "a system class");
    expect_described("JNI_GLOBAL", "JNI global", "a JNI global reference");
    expect_described("JAVA_FRAME", "Java local", "a local variable of a thread's frame");
    expect_described("MONITOR_USED", "busy monitor", "a monitor that a thread has locked or waits for");
    cr_expect(hdx_root_type_description("JNI_GLOBAL_", 10) != NULL); /* need not end in NUL */
    cr_expect(hdx_root_type_description("JNI_GLOBAL_", 11) == NULL);
    cr_expect(hdx_root_type_description("", 0) == NULL);
    cr_expect(eq(str, (char *)hdx_root_type_title(HDX_ROOT_JAVA_LOCAL), (char *)"Java Local"));
    cr_expect(hdx_root_type_title(HDX_ROOT_VM_INTERNAL) == NULL);
    cr_expect(hdx_root_type_title(HDX_ROOT_TYPES) == NULL);
}
