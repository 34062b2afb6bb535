/*
 * test_strings.c - Strings in every layout, equal contents and wasteful arrays, on heaps whose numbers are counted by
 * hand; the same in little memory.
 */
#include "answers.h"
#include "query/texts/copies.h"
#include "query/texts/sums.h"

static hdx_code open_text(heap *h, const char *name, const hdx_argument *at, size_t count, hdx_rows **rows)
{
    const hdx_question *question = question_named(name);
    const hdx_arguments a = { &question->declared, at, count };
    cr_assert(eq(int, hdx_arguments_check(&a, NULL, 0, "", &h->err), HDX_OK), "%s", h->err.message);
    return hdx_question_open(question, &h->q, &a, rows, &h->err);
}
#define ASK(name, ...)                                                                                                 \
    open_text(&h, name, (const hdx_argument[]){ __VA_ARGS__ },                                                         \
              sizeof((const hdx_argument[]){ __VA_ARGS__ }) / sizeof(hdx_argument), &rows)

typedef struct base_classes {
    uint64_t object, holder;
} base_classes;

static base_classes begin(dump_maker *m)
{
    base_classes b;
    b.object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", b.object, "");
    (void)dump_maker_class(m, "java.lang.ClassLoader", b.object, "");
    b.holder = dump_maker_class(m, "java.lang.Object[]", b.object, "");
    static const char *const arrays[] = { "char[]", "byte[]", "int[]", "long[]", "double[]" };
    for (unsigned i = 0; i < HDX_COUNT(arrays); i++)
        (void)dump_maker_class(m, arrays[i], b.object, "");
    return b;
}

/* A root holds all of these. */
static void hold(dump_maker *m, const base_classes *b, const uint64_t *ids, uint32_t count)
{
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_array(m, b->holder, ids, count), 0, 0);
}

static uint64_t chars(dump_maker *m, const char *text)
{
    uint64_t units[64];
    uint32_t n = 0;
    for (; text[n] != '\0'; n++)
        units[n] = (uint8_t)text[n];
    return dump_maker_primitives(m, 'C', units, n);
}

static uint64_t bytes(dump_maker *m, const char *text, uint32_t n)
{
    uint64_t units[64];
    for (uint32_t i = 0; i < n; i++)
        units[i] = (uint8_t)text[i];
    return dump_maker_primitives(m, 'B', units, n);
}

/* ---- dumps whose contents were taken away ---- */

/* `have` letters of a text of `length`, and zeros. */
static uint64_t limited(dump_maker *m, uint64_t string, const char *text, uint32_t have, uint32_t length)
{
    uint64_t units[64] = { 0 };
    for (uint32_t i = 0; i < have; i++)
        units[i] = (uint8_t)text[i];
    return dump_maker_instance(m, string, DUMP_VALUES(dump_maker_primitives(m, 'B', units, length), 0));
}

static void count_rows(hdx_rows *rows, unsigned want, const char *of)
{
    const hdx_cell *cells;
    unsigned        n = 0;
    while (hdx_rows_next(rows, &cells))
        n++;
    cr_expect(eq(u32, n, want), "%s", of);
    hdx_rows_close(rows);
}

Test(limited, texts_are_found_by_their_beginning_and_are_not_equal)
{
    heap               h;
    hdx_rows          *rows;
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B");
    uint64_t           all[7];
    for (unsigned i = 0; i < 5; i++)
        all[i] = limited(m, string, "SELECT a", 8, 10 + i / 2);
    all[5] = limited(m, string, "SELECT a", 8, 8); /* it is no longer than the limit */
    all[6] = limited(m, string, "other", 5, 5);
    hold(m, &b, all, HDX_COUNT(all));
    heap_open(&h, m);
    cr_assert(eq(int, hdx_graph_summary_of(h.g)->stripping->policy, HDX_STRIP_LIMITED));
    cr_expect(eq(u32, hdx_graph_summary_of(h.g)->stripping->limit[0], 8));
    ok(ASK("strings", { "match", "SELECT*" }));
    count_rows(rows, 6, "their beginning");
    ok(ASK("strings", { "match", "SELECT a" }));
    count_rows(rows, 1, "the whole one alone");
    ok(ASK("strings", { "match", "/a$/" }));
    count_rows(rows, 1, "where a text is cut is not its end");
    ok(ASK("duplicates", { "holders", NULL }));
    count_rows(rows, 0, "no two are known to be equal");
    char  *text;
    size_t len;
    bool   whole, is;
    cr_assert(eq(int, hdx_graph_string(h.g, id_at(&h, all[0]), 99, &text, &len, &whole, &is, &h.err), HDX_OK));
    cr_expect(is && !whole && strcmp(text, "SELECT a") == 0, "%s", text);
    hdx_text_free(text);
    heap_close(&h);
}

Test(redacted, texts_that_were_kept_are_shown_and_the_others_are_absent)
{
    heap               h;
    hdx_rows          *rows;
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B");
    uint64_t           all[12];
    for (unsigned i = 0; i < 8; i++)
        all[i] = limited(m, string, "********", 8, 8);
    all[8] = limited(m, string, "main", 4, 4);
    all[9] = limited(m, string, "main", 4, 4);
    all[10] = dump_maker_primitives(m, 'I', DUMP_VALUES(1, 2, 3), 3);
    all[11] = dump_maker_primitives(m, 'I', DUMP_VALUES(1, 2, 3), 3);
    hold(m, &b, all, HDX_COUNT(all));
    heap_open(&h, m);
    cr_assert(eq(int, hdx_graph_summary_of(h.g)->stripping->policy, HDX_STRIP_REDACTED));
    ok(ASK("strings", { "match", "main" }));
    count_rows(rows, 2, "kept");
    ok(ASK("strings", { "match", "*" }));
    count_rows(rows, 2, "the others have no text");
    ok(ASK("duplicates", { "holders", NULL }));
    count_rows(rows, 2, "the two kept texts, and the int[]");
    cr_expect(hdx_graph_text_absent(h.g, id_at(&h, all[0])) && !hdx_graph_text_absent(h.g, id_at(&h, all[8])));
    heap_close(&h);
}

/* ---- who has the copies ---- */

/* 40 objects share one literal, 10 have a copy each: these are the waste. */
Test(duplicates, are_blamed_on_the_class_that_has_the_copies)
{
    enum { SHARING = 40, COPIES = 10 };
    heap               h;
    hdx_rows          *rows;
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B"),
                   order = dump_maker_class(m, "app.Order", b.object, "currency:L"),
                   row = dump_maker_class(m, "app.Row", b.object, "text:L");
    uint64_t all[SHARING + COPIES], literal = dump_maker_string(m, string, "EUR"), copy = 0, last = 0;
    for (unsigned i = 0; i < SHARING; i++)
        all[i] = dump_maker_instance(m, order, DUMP_VALUES(literal));
    for (unsigned i = 0; i < COPIES; i++) {
        last = dump_maker_string(m, string, "EUR");
        copy = i == 0 ? last : copy;
        all[SHARING + i] = dump_maker_instance(m, row, DUMP_VALUES(last));
    }
    hold(m, &b, all, HDX_COUNT(all));
    heap_open(&h, m);
    ok(ASK("duplicates", { "holders", NULL }));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "java.lang.String,EUR,11,") != NULL && strstr(text.at, ",app.Row#text\n") != NULL, "%s",
              text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    hdx_id id;
    ok(hdx_query_copy_of(&h.q, id_at(&h, literal), &id, &h.err));
    cr_expect(eq(u64, id, id_at(&h, copy)));
    heap_close(&h);
}

/* ---- JDK 5 and 6: parts of arrays ---- */

static uint64_t part(dump_maker *m, uint64_t string, uint64_t array, uint64_t offset, uint64_t count)
{
    return dump_maker_instance(m, string, DUMP_VALUES(array, offset, count));
}

static void open_parts(heap *h)
{
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L offset:I count:I");
    const uint64_t     early = part(m, string, 0x9000, 2, 3); /* before its array in the file */
    const char         content[] = "xxabcabczzzzzzzzzzzzzzzzzzzzzz";
    uint64_t           units[30];
    for (unsigned i = 0; i < HDX_COUNT(units); i++)
        units[i] = (uint8_t)content[i];
    const uint64_t shared = dump_maker_primitives_at(m, 0x9000, 'C', units, HDX_COUNT(units));
    const uint64_t own = chars(m, "abc"), lie = chars(m, "lie"), other = chars(m, "other");
    const uint64_t all[] = { early,
                             part(m, string, shared, 5, 3),
                             part(m, string, own, 0, 3),
                             part(m, string, own, 0, 3),
                             part(m, string, lie, 1, 0x7fffffff),      /* past the end: "ie" */
                             part(m, string, lie, 0xffffffff, 3),      /* a negative offset is none */
                             part(m, string, other, 0x7fffffff, 4),    /* nothing is left */
                             part(m, string, shared, 0, 0xffffffff) }; /* a negative count: empty */
    hold(m, &b, all, HDX_COUNT(all));
    heap_open(h, m);
}

Test(strings, that_show_the_same_text_are_equal_whether_they_share_an_array_or_not)
{
    heap      h;
    hdx_rows *rows;
    open_parts(&h);
    /* "abc": two parts of one array, two Strings that share another; "": two parts. A String is 8 + 8 + 4 + 4 + 16. */
    ok(ASK("duplicates", { "holders", NULL }));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, ",4,1,3,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "abc,4,1,3,") != NULL && strstr(text.at, ",java.lang.Object[]\n") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "String,,2,0,0,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(strings, that_show_parts_are_found_by_their_text)
{
    heap      h;
    hdx_rows *rows;
    open_parts(&h);
    ok(ASK("strings", { "match", "abc" }));
    hdx_buffer text = rows_text(rows);
    unsigned   n = 0;
    for (const char *at = text.at; (at = strchr(at, '\n')) != NULL; at++)
        n++;
    cr_expect(eq(u32, n, 4), "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    ok(ASK("strings", { "match", "/^i?e$/" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, ",ie,2,char[],") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(strings, that_show_parts_leave_slack)
{
    heap      h;
    hdx_rows *rows;
    open_parts(&h);
    ok(ASK("arrays", { "waste", "slack" }));
    hdx_buffer text = rows_text(rows);
    /* Of thirty characters six are shown: 96 bytes, and 64 would do; "other": all of it is nobody's. */
    cr_expect(strstr(text.at, "0x9000,char[],xxabcabczzzzzzzzzzzzzzzzzzzzzz,30,6,96,32,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, ",char[],other,5,0,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- JDK 9 on: a coder ---- */

static void open_coded(heap *h)
{
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B hash:I");
    const uint64_t     latin = bytes(m, "A\0B\0", 4); /* as Latin-1 "A\0B\0", as UTF-16 "AB" */
    const uint64_t     euro = bytes(m, "\xac\x20", 2);
    const uint64_t     constant = dump_maker_primitives(m, 'I', DUMP_VALUES(7, 7, 7, 7, 7, 7), 6);
    const uint64_t     same = dump_maker_primitives(m, 'J', DUMP_VALUES(1, 2), 2),
                   same2 = dump_maker_primitives(m, 'J', DUMP_VALUES(1, 2), 2),
                   as_double = dump_maker_primitives(m, 'D', DUMP_VALUES(1, 2), 2),
                   zeros = dump_maker_primitives(m, 'J', NULL, 2), zeros2 = dump_maker_primitives(m, 'J', NULL, 3);
    const uint64_t all[] = { dump_maker_instance(m, string, DUMP_VALUES(latin, 0, 0)),
                             dump_maker_instance(m, string, DUMP_VALUES(bytes(m, "A\0B\0", 4), 1, 0)),
                             dump_maker_instance(m, string, DUMP_VALUES(euro, 1, 0)),
                             dump_maker_instance(m, string, DUMP_VALUES(euro, 1, 0)),
                             dump_maker_instance(m, string, DUMP_VALUES(0, 0, 0)),        /* no value */
                             dump_maker_instance(m, string, DUMP_VALUES(0x77770, 0, 0)),  /* no object */
                             dump_maker_instance(m, string, DUMP_VALUES(constant, 0, 0)), /* no layout */
                             same,
                             same2,
                             as_double,
                             zeros,
                             zeros2 };
    hold(m, &b, all, HDX_COUNT(all));
    heap_open(h, m);
}

Test(strings, of_other_coders_are_other_texts_and_what_is_no_text_is_counted)
{
    heap      h;
    hdx_rows *rows;
    open_coded(&h);
    ok(ASK("duplicates", { "holders", "false" }));
    /* Arrays of other types or lengths are not equal, though all their elements are. */
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, "java.lang.String,\xe2\x82\xac,2,1,1,") != NULL, "%s", text.at);
    cr_expect(strstr(text.at, "long[],-,2,-,2,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_buffer total = hdx_buffer_of(NULL);
    put_cell(&total, extra(rows, "total"));
    cr_expect(strstr(total.at, "strings=4 string_values=3 ") != NULL, "%s", total.at);
    cr_expect(strstr(total.at, "deduplication=0 absent=1 unknown=1 array_duplicates=1 ") != NULL, "%s", total.at);
    hdx_buffer_free(&total);
    hdx_rows_close(rows);
    ok(ASK("strings", { "match", "AB" }));
    text = rows_text(rows);
    cr_expect(strstr(text.at, ",AB,2,UTF-16,") != NULL && strchr(text.at, '\n')[1] == '\0', "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

Test(arrays, tell_what_is_constant_and_what_latin1_could_hold)
{
    heap      h;
    hdx_rows *rows;
    open_coded(&h);
    ok(ASK("arrays", { "waste", "constant" }));
    hdx_buffer text = rows_text(rows);
    cr_expect(strstr(text.at, ",int[],-,6,0,") != NULL && strstr(text.at, ",long[],-,3,0,") != NULL, "%s", text.at);
    hdx_buffer_free(&text);
    hdx_rows_close(rows);
    heap_close(&h);
}

/* ---- at the bounds ---- */

/* What is slack, constant or narrow by one element, and not; who refers to equal contents; garbage that shares. */
static void open_bounds(heap *h)
{
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    uint64_t           all[64], n = 0, units[40] = { 'a', 'b', 'c' };
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B hash:I");
    const uint64_t     base = dump_maker_class(m, "app.Base", b.object, "of_base:L");
    const uint64_t     order = dump_maker_class(m, "app.Order", base, "currency:L note:L");
    const uint64_t     offer = dump_maker_class(m, "app.Offer", b.object, "currency:L");
    static const char  narrow[] = "A\0B\0C\0D\0E\0F\0G\0H\0", wide[] = "A\0B\0C\0D\0E\0F\0G\0H\1";
    all[n++] = dump_maker_instance_at(m, 0x9008, b.object, NULL); /* objects begin at multiples of eight bytes */
    /* arrays of nobody: lengths around a multiple of eight bytes, zeros at their end */
    for (unsigned zeros = 0; zeros <= 9; zeros++) {
        units[3] = zeros % 2;
        all[n++] = dump_maker_primitives(m, 'B', units, 3 + zeros);
    }
    units[3] = 0;
    for (unsigned length = 3; length <= 8; length++)
        all[n++] = dump_maker_primitives(m, 'C', units, length);
    all[n++] = dump_maker_primitives(m, 'I', DUMP_VALUES(5), 1);          /* one element is not constant */
    all[n++] = dump_maker_primitives(m, 'I', DUMP_VALUES(5, 5), 2);       /* two are */
    all[n++] = dump_maker_primitives(m, 'I', DUMP_VALUES(5, 5, 6), 3);    /* but for the last */
    all[n++] = dump_maker_primitives(m, 'I', DUMP_VALUES(6, 5, 5, 5), 4); /* and the first */
    all[n++] = dump_maker_primitives(m, 'Z', DUMP_VALUES(1, 1, 1, 1, 1, 1, 1, 1, 1), 9);
    all[n++] = dump_maker_primitives(m, 'I', NULL, 0);
    all[n++] = dump_maker_primitives(m, 'B', NULL, 0);
    /* Strings of two bytes a character: all could be one, or the last could not */
    const uint64_t shy = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, narrow, 16), 1, 0));
    const uint64_t loud = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, wide, 16), 1, 0));
    const uint64_t low = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, narrow, 16), 0, 0));
    all[n++] = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, narrow, 2), 1, 0)); /* nothing would be free */
    all[n++] = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, "", 0), 0, 0));
    all[n++] = dump_maker_instance(m, string, DUMP_VALUES(bytes(m, "", 0), 1, 0));
    /* equal texts: two in a field of the class below, two in that of the class above, three by another class */
    const uint64_t usd = dump_maker_string(m, string, "USD"), usd2 = dump_maker_string(m, string, "USD"),
                   eur = dump_maker_string(m, string, "EUR"), eur2 = dump_maker_string(m, string, "EUR");
    all[n++] = dump_maker_instance(m, order, DUMP_VALUES(usd, loud, eur));
    all[n++] = dump_maker_instance(m, order, DUMP_VALUES(usd2, shy, eur2));
    all[n++] = dump_maker_instance(m, offer, DUMP_VALUES(eur));
    all[n++] = dump_maker_instance(m, offer, DUMP_VALUES(eur2));
    all[n++] = dump_maker_instance(m, offer, DUMP_VALUES(dump_maker_string(m, string, "EUR")));
    all[n++] = dump_maker_instance(m, offer, DUMP_VALUES(low));
    all[n++] = low;
    hold(m, &b, all, (uint32_t)n);
    /* garbage: a String that shows a live array's text with an array of its own, one that shares an array, an array */
    (void)dump_maker_string(m, string, "USD");
    const uint64_t lost = bytes(m, "lost", 4);
    (void)dump_maker_instance(m, order, DUMP_VALUES(dump_maker_instance(m, string, DUMP_VALUES(lost, 0, 0)), 0, 0));
    (void)dump_maker_instance(m, string, DUMP_VALUES(lost, 0, 0));
    (void)dump_maker_primitives(m, 'I', DUMP_VALUES(5, 5), 2);
    heap_open(h, m);
}

static const char *const text_asks[] = {
    "live strings",
    "all strings match=*S*",
    "garbage strings",
    "garbage strings match=lost",
    "live strings match=/^.$/",
    "live strings match=/(/",
    "live strings match=nowhere",
    "all strings by=value",
    "live duplicates",
    "live duplicates holders",
    "all duplicates holders",
    "garbage duplicates holders",
    "live arrays",
    "all arrays",
    "garbage arrays",
    "live arrays waste=slack",
    "live arrays waste=constant",
    "all arrays waste=constant",
    "live arrays waste=latin1",
    NULL,
};

static void (*const text_heaps[])(heap *) = { open_parts, open_coded, open_bounds };

Test(texts, are_answered_to_the_element)
{
    hdx_buffer all = hdx_buffer_of(NULL);
    for (unsigned i = 0; i < HDX_COUNT(text_heaps); i++) {
        heap h;
        text_heaps[i](&h);
        hdx_buffer_format(&all, "---- heap %u\n", i + 1);
        answers_add(&h, text_asks, &all);
        hdx_graph_close(h.g);
        ok(hdx_graph_open(h.index, NULL, &h.g, &h.err));
        h.q.graph = h.g;
        hdx_buffer_format(&all, "---- heap %u without its dump\n", i + 1);
        answers_add(&h, text_asks, &all);
        heap_close(&h);
    }
    expect_file("texts.txt", &all);
    hdx_buffer_free(&all);
}

Test(texts, are_answered_as_a_whole_or_not_at_all)
{
    for (unsigned i = 0; i < HDX_COUNT(text_heaps); i++) {
        heap h;
        text_heaps[i](&h);
        cr_expect(gt(u32, answers_refused(&h, text_asks), 300));
        heap_close(&h);
    }
}

/* ---- long ---- */

#define LONG 70000u /* characters: more than two parts as they are read, of 64 KiB */

/* 'x' but for a few: three characters on both sides of where a part ends, and of the end. */
static uint64_t *long_units(const char *at_join, const char *at_end)
{
    uint64_t *units = malloc(LONG * sizeof *units);
    for (unsigned i = 0; i < LONG; i++)
        units[i] = 'x';
    for (unsigned i = 0; at_join[i] != '\0'; i++)
        units[32768 - 2 + i] = (uint8_t)at_join[i];
    for (unsigned i = 0; at_end[i] != '\0'; i++)
        units[LONG - strlen(at_end) + i] = (uint8_t)at_end[i];
    return units;
}

static void open_long(heap *h, bool with_parts)
{
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t string = with_parts ? dump_maker_class(m, "java.lang.String", b.object, "value:L offset:I count:I")
                                       : dump_maker_class(m, "java.lang.String", b.object, "value:L hash:I");
    uint64_t      *units = long_units("JOIN", "END");
    uint64_t       all[32], n = 0;
    dump_maker_primitives_at(m, 0x9000, 'C', units, LONG);
    dump_maker_primitives_at(m, 0x80000, 'C', units, LONG);
    if (with_parts) {
        const uint64_t join = chars(m, "JOIN"), end = chars(m, "END");
        const uint64_t parts[] = { part(m, string, 0x9000, 32766, 4),    part(m, string, join, 0, 4),
                                   part(m, string, 0x9000, LONG - 3, 3), part(m, string, 0x80000, LONG - 3, 9),
                                   part(m, string, end, 0, 3),           part(m, string, 0x9000, 32768, 2),
                                   part(m, string, 0x80000, 32768, 2),   part(m, string, 0x9000, 0, 32768),
                                   part(m, string, 0x80000, 0, 32768) };
        hold(m, &b, parts, HDX_COUNT(parts));
    } else {
        all[n++] = dump_maker_instance(m, string, DUMP_VALUES(0x9000, 0));
        all[n++] = dump_maker_instance(m, string, DUMP_VALUES(0x80000, 0));
        units[LONG - 1] = 0x20ac;
        all[n++] = dump_maker_instance(m, string, DUMP_VALUES(dump_maker_primitives(m, 'C', units, LONG), 0));
    }
    for (unsigned i = 0; i < LONG; i++)
        units[i] = 'z';
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* constant */
    all[n++] = dump_maker_primitives(m, 'C', units, LONG);
    all[n++] = dump_maker_primitives(m, 'S', units, LONG);
    units[LONG - 1] = 'y';
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* but for the last */
    units[LONG - 1] = 'z';
    units[32768] = 'y';
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* but for the first of a part */
    memset(units + 32768, 0, (LONG - 32768) * sizeof *units);
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* zeros from a part's first on */
    units[LONG - 1] = 'y';
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* and something in the end */
    memset(units + 100, 0, (LONG - 100) * sizeof *units);
    all[n++] = dump_maker_primitives(m, 'C', units, LONG); /* zeros from within the first part on */
    free(units);
    hold(m, &b, all, (uint32_t)n);
    heap_open(h, m);
}

static const char *const long_asks[] = {
    "live duplicates holders",
    "live duplicates",
    "live arrays",
    "live arrays waste=slack",
    "live arrays waste=constant",
    "live arrays waste=latin1",
    "live strings match=/ND$/",
    "live strings match=JOIN",
    "live strings match=/xJOINx/",
    "live strings match=/OI\\w/",
    NULL,
};

/* No more than eight of one character in a row. */
static void shorten(hdx_buffer *b)
{
    uint64_t kept = 0, same = 0;
    for (uint64_t i = 0; i < b->len; i++) {
        same = i > 0 && b->at[i] == b->at[i - 1] ? same + 1 : 0;
        if (same < 8)
            b->at[kept++] = b->at[i];
    }
    b->at[b->len = kept] = '\0';
}

Test(texts, of_several_parts_are_answered_to_the_element)
{
    hdx_buffer all = hdx_buffer_of(NULL);
    for (unsigned parts = 0; parts < 2; parts++) {
        heap h;
        open_long(&h, parts == 1);
        hdx_buffer_format(&all, "---- heap %u\n", parts + 1);
        h.q.whole = HDX_CUT;
        answers_add(&h, long_asks, &all);
        heap_close(&h);
    }
    shorten(&all);
    expect_file("texts_long.txt", &all);
    hdx_buffer_free(&all);
}

/* ---- many ---- */

#define MANY 3000u

/* Texts "t0" .. "t999", three Strings of each, and an array of numbers beside each. */
static void open_many(heap *h)
{
    dump_maker        *m = dump_maker_new(8);
    const base_classes b = begin(m);
    const uint64_t     string = dump_maker_class(m, "java.lang.String", b.object, "value:L coder:B hash:I");
    uint64_t          *all = calloc(2 * MANY, sizeof *all);
    char               text[16];
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(text, sizeof text, "t%u", i % (MANY / 3));
        all[2 * i] = dump_maker_string(m, string, text);
        all[2 * i + 1] = dump_maker_primitives(m, 'J', DUMP_VALUES(i % (MANY / 2), 0), 2);
    }
    hold(m, &b, all, 2 * MANY);
    free(all);
    heap_open(h, m);
}

static hdx_code many_in(heap *h, hdx_mem *mem, hdx_buffer *b)
{
    hdx_rows          *rows = NULL;
    const hdx_argument none[] = { { "holders", "false" } };
    h->q.mem = mem;
    const hdx_code code = open_text(h, "duplicates", none, 1, &rows);
    if (code == HDX_OK) {
        *b = rows_text(rows);
        put_cell(b, extra(rows, "total"));
    }
    hdx_rows_close(rows);
    cr_expect(eq(u64, mem->used, 0));
    return code;
}

Test(duplicates, are_the_same_in_any_memory_that_does)
{
    heap       h;
    hdx_mem    mem = { .limit = 0 };
    hdx_buffer whole = hdx_buffer_of(NULL);
    unsigned   less = 0;
    open_many(&h);
    h.q.threads = 1;
    ok(many_in(&h, &mem, &whole));
    cr_expect(strstr(whole.at, "strings=3000 string_values=1000 ") != NULL, "%s", whole.at);
    cr_expect(strstr(whole.at, "array_duplicates=1500 ") != NULL);
    const uint64_t most = mem.peak;
    for (uint64_t limit = most; limit > most / 16; limit -= most / 32) {
        hdx_buffer b = hdx_buffer_of(NULL);
        mem = (hdx_mem){ .limit = limit };
        const hdx_code code = many_in(&h, &mem, &b);
        cr_expect(mem.peak <= limit);
        cr_expect(code == HDX_OK ? strcmp(b.at, whole.at) == 0 : code == HDX_LIMIT, "%llu", (unsigned long long)limit);
        less += code == HDX_OK && limit < most;
        hdx_buffer_free(&b);
    }
    cr_expect(gt(u32, less, 0));
    hdx_buffer_free(&whole);
    h.q.mem = NULL;
    heap_close(&h);
}

static bool stop(void *context)
{
    (void)context;
    return true;
}

Test(duplicates, stop_when_they_are_told)
{
    static const char *const names[] = { "duplicates", "arrays", "strings" };
    heap                     h;
    hdx_rows                *rows = NULL;
    const hdx_progress       progress = { .cancelled = stop };
    open_many(&h);
    h.q.progress = &progress;
    for (unsigned i = 0; i < HDX_COUNT(names); i++) {
        const hdx_argument match[] = { { "match", "t1*" } };
        cr_expect(eq(int, open_text(&h, names[i], match, i == 2 ? 1 : 0, &rows), HDX_CANCELLED), "%s", names[i]);
        cr_expect(rows == NULL);
    }
    h.q.progress = NULL;
    heap_close(&h);
}

/* ---- sums ---- */

static hdx_sum sum_of(const hdx_sum_key *key, unsigned size, const uint8_t *at, uint64_t len)
{
    hdx_sum s = { { 0, 0 } };
    hdx_sum_add(key, &s, size, at, len);
    return s;
}

Test(sums, of_a_part_follow_from_two_beginnings)
{
    hdx_sum_key key;
    uint8_t     content[256];
    hdx_sum_key_make(&key);
    for (unsigned i = 0; i < sizeof content; i++)
        content[i] = (uint8_t)(i * i + 7 * i);
    for (unsigned from = 0; from < 128; from += 3)
        for (unsigned end = from; end <= 128; end += 5) {
            const hdx_sum a = sum_of(&key, 2, content, 2ull * from), b = sum_of(&key, 2, content, 2ull * end),
                          want = sum_of(&key, 2, content + 2ull * from, 2ull * (end - from)),
                          got = hdx_sum_between(&key, &a, &b, end - from);
            cr_expect(got.at[0] == want.at[0] && got.at[1] == want.at[1], "%u to %u", from, end);
        }
}

Test(sums, are_the_same_in_pieces_and_others_for_other_contents)
{
    hdx_sum_key key, other;
    uint8_t     content[64] = { 1, 2, 3 };
    hdx_sum_key_make(&key);
    hdx_sum_key_make(&other);
    cr_expect(key.power[0][1] != other.power[0][1] && key.power[0][1] != key.power[1][1]);
    const hdx_sum whole = sum_of(&key, 4, content, 63);
    hdx_sum       pieces = sum_of(&key, 4, content, 16);
    hdx_sum_add(&key, &pieces, 4, content + 16, 47);
    cr_expect(pieces.at[0] == whole.at[0] && pieces.at[1] == whole.at[1]);
    for (unsigned bit = 0; bit < 63 * 8; bit++) {
        content[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const hdx_sum s = sum_of(&key, 4, content, 63);
        cr_expect(s.at[0] != whole.at[0] && s.at[1] != whole.at[1], "bit %u", bit);
        content[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}
