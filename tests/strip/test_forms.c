/*
 * test_forms.c - each form of a stripped file as whole HPROF, record by record: what is shown and what restoring would
 * write, beside what is in the file; what is counted; where it breaks, and where the file ends.
 */
#include "over.h"

typedef unsigned long long ull;

static hdx_buffer in, out; /* the file; what is to be seen of it */

static void begin(void)
{
    in = hdx_buffer_of(NULL);
    out = hdx_buffer_of(NULL);
}
static void end(void)
{
    hdx_buffer_free(&in);
    hdx_buffer_free(&out);
}
static void both(const void *bytes, size_t n)
{
    hdx_buffer_put(&in, bytes, n);
    hdx_buffer_put(&out, bytes, n);
}
static void fill(hdx_buffer *b, uint8_t value, size_t n)
{
    for (size_t k = 0; k < n; k++)
        hdx_write_u1(b, value);
}
static void head_of_file(void)
{
    hdx_write_head(&in, "1.0.3", 4, 1700000000000);
    hdx_write_head(&out, "1.0.3", 4, 1700000000000);
}

/* What the steps of an overlay give, put together. */
typedef struct shown {
    hdx_buffer        all;
    hdx_overlay_stats stats;
    hdx_pos           size;
    unsigned          tokens;
    uint64_t          longest; /* copied in one piece */
} shown;

static void show(shown *s, hdx_overlay_form form, bool restoring, uint64_t patience)
{
    over      o;
    overlay  *v;
    spot      at = { .in = 0 };
    hdx_error err = { 0 };
    *s = (shown){ .all = hdx_buffer_of(NULL) };
    over_open(&o, in.at, in.len, 64);
    cr_assert(hdx_strip_overlay_new(o.source, form, restoring, &v, &err) == HDX_OK, "%s", err.message);
    if (patience != 0)
        v->patience = patience;
    cr_assert(hdx_strip_overlay_pass(v, &err) == HDX_OK, "%s", err.message);
    while (at.mode != OVERLAY_END) {
        token t = { .head_len = 0 };
        cr_assert(v->step(v, &o.r, false, &at, &t, &err) == HDX_OK, "%s", err.message);
        hdx_buffer_put(&s->all, t.head, t.head_len);
        cr_assert(t.copy_from + t.copy_len <= in.len);
        hdx_buffer_put(&s->all, (const uint8_t *)in.at + t.copy_from, t.copy_len);
        fill(&s->all, 0, (size_t)t.zeros);
        at.out += hdx_strip_token_len(&t);
        s->tokens++;
        s->longest = s->longest > t.copy_len ? s->longest : t.copy_len;
    }
    s->stats = v->stats;
    s->size = hdx_strip_overlay_size(v);
    hdx_strip_overlay_free(v);
    over_close(&o);
}

static hdx_overlay_stats is_shown(hdx_overlay_form form, bool restoring, const char *what)
{
    shown s;
    show(&s, form, restoring, 0);
    cr_expect(s.size == s.all.len, "%s: %llu bytes, %llu said", what, (ull)s.all.len, (ull)s.size);
    cr_expect(s.all.len == out.len, "%s: %llu bytes, not %llu", what, (ull)s.all.len, (ull)out.len);
    size_t differ = 0;
    while (differ < out.len && differ < s.all.len &&
           ((const uint8_t *)out.at)[differ] == ((const uint8_t *)s.all.at)[differ])
        differ++;
    cr_expect(differ == out.len, "%s: another byte at %zu", what, differ);
    hdx_buffer_free(&s.all);
    return s.stats;
}

/* ---- KOOM ---- */

static void array_head(hdx_buffer *b, uint32_t count)
{
    hdx_write_primitive_array_head(b, 4, HDX_SUB_PRIMITIVE_ARRAY, 7, 0, count, 8);
}
static void cut_array(uint32_t count) /* in the file its head alone */
{
    array_head(&in, count);
    array_head(&out, count);
    fill(&out, 0, count);
}
static void whole_array(uint32_t count)
{
    array_head(&in, count);
    array_head(&out, count);
    fill(&in, 0xaa, count);
    fill(&out, 0xaa, count);
}
static void root(uint8_t tag)
{
    hdx_write_root(&in, 4, tag, 5, 0, 0, 0);
    hdx_write_root(&out, 4, tag, 5, 0, 0, 0);
}
static void record(uint8_t tag, uint32_t in_length, uint32_t out_length)
{
    hdx_write_record_head(&in, tag, 0, in_length);
    hdx_write_record_head(&out, tag, 0, out_length);
}
static void table(uint32_t text)
{
    record(HDX_TOP_STRING, 4 + text, 4 + text);
    fill(&in, 'a', 4 + text);
    fill(&out, 'a', 4 + text);
}

Test(koom, contents_are_zeros_that_are_counted)
{
    for (unsigned restoring = 0; restoring < 2; restoring++) {
        begin();
        head_of_file();
        table(5);
        record(HDX_TOP_HEAP_DUMP_SEGMENT, 23 + 14 + 5, 23 + 14 + 5);
        cut_array(9);
        cut_array(0);
        root(HDX_SUB_ROOT_STICKY_CLASS);
        record(HDX_TOP_HEAP_DUMP_SEGMENT, 0, 0);
        record(HDX_TOP_HEAP_DUMP, 15, 15);
        cut_array(1);
        table(0);
        record(HDX_TOP_HEAP_DUMP_END, 0, 0);
        const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, restoring == 1, "cut");
        cr_expect(s.records_in == 6 + 4 && s.absent_bytes == 10 && s.broken == 0 && !s.truncated && s.lost_bytes == 0 &&
                      s.cut_names == 0,
                  "%llu, %llu", (ull)s.records_in, (ull)s.absent_bytes);
        end();
    }
}

Test(koom, records_that_are_whole_or_whole_from_some_entry_on_stay_so)
{
    begin();
    head_of_file();
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 23 + 15, 23 + 15); /* whole */
    whole_array(9);
    whole_array(1);
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 23 + 5 + 18, 23 + 5 + 18); /* half and half */
    cut_array(9);
    root(HDX_SUB_UNREACHABLE);
    whole_array(4);
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 17, 17); /* cut */
    cut_array(3);
    record(HDX_TOP_HEAP_DUMP_END, 0, 0);
    const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, false, "three ways");
    cr_expect(s.records_in == 4 + 2 + 3 + 1 && s.absent_bytes == 12 && s.broken == 0 && !s.truncated);
    end();
}

Test(koom, a_record_in_which_the_file_ends_is_shown_to_there_and_restored_to_its_last_entry)
{
    for (unsigned plain = 0; plain < 2; plain++)
        for (unsigned restoring = 0; restoring < 2; restoring++) {
            begin();
            head_of_file();
            const uint32_t there = plain == 1 ? 5 + 23 : 5 + 23 + 14 + 9;
            record(HDX_TOP_HEAP_DUMP_SEGMENT, 200, restoring == 1 ? there : 200);
            root(HDX_SUB_ROOT_STICKY_CLASS);
            if (plain == 1) { /* only with contents the end of the file is reached */
                whole_array(9);
                array_head(&in, 30);
                fill(&in, 0xaa, 29);
                if (restoring == 0) {
                    array_head(&out, 30);
                    fill(&out, 0xaa, 29);
                }
            } else {
                cut_array(9);
                cut_array(9);
                array_head(&in, 9);
                in.len -= 3;
                if (restoring == 0) {
                    array_head(&out, 9);
                    out.len -= 3;
                }
            }
            const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, restoring == 1, "the file ends");
            cr_expect(s.truncated && s.broken == 0 && s.records_in == 1 + (plain == 1 ? 2 : 3) &&
                          s.absent_bytes == (plain == 1 ? 0 : 18),
                      "%u, %u: %llu, %llu", plain, restoring, (ull)s.records_in, (ull)s.absent_bytes);
            end();
        }
}

Test(koom, behind_what_is_no_entry_the_next_record_that_fits_is_shown)
{
    for (unsigned restoring = 0; restoring < 2; restoring++)
        for (unsigned more = 0; more < 3; more++) {
            begin();
            head_of_file();
            record(HDX_TOP_HEAP_DUMP_SEGMENT, 100, 23 + 5);
            cut_array(9);
            root(HDX_SUB_ROOT_STICKY_CLASS);
            const hdx_pos broken = in.len;
            fill(&in, 0x55, 70);
            if (more > 0) {
                record(HDX_TOP_HEAP_DUMP_SEGMENT, 23, 23);
                cut_array(9);
            }
            if (more == 2) {
                record(HDX_TOP_HEAP_DUMP_SEGMENT, 90, 14);
                cut_array(0);
                fill(&in, 0x55, 8);
                record(HDX_TOP_HEAP_DUMP_END, 0, 0);
            }
            const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, restoring == 1, "garbage");
            cr_expect(s.broken == (more == 2 ? 2 : 1) && s.first_broken == broken && !s.truncated, "%u: %llu", more,
                      (ull)s.broken);
            cr_expect(s.lost_bytes == (more == 0 ? 0 : more == 1 ? 70 : 78), "%u: %llu", more, (ull)s.lost_bytes);
            cr_expect(s.records_in == (more == 0 ? 3 : more == 1 ? 5 : 8), "%u: %llu", more, (ull)s.records_in);
            end();
        }
}

Test(koom, what_is_no_record_is_shown_and_not_restored)
{
    for (unsigned restoring = 0; restoring < 2; restoring++)
        for (unsigned what = 0; what < 5; what++) { /* no tag, cut or whole; a head that is cut; a record that is */
            begin();
            head_of_file();
            record(HDX_TOP_HEAP_DUMP_SEGMENT, 23, 23);
            cut_array(9);
            table(5);
            const hdx_pos place = in.len;
            const bool    no_tag = what == 0 || what >= 3, no_head = what == 1 || what == 4;
            hdx_write_record_head(&in, no_tag ? 0x55 : HDX_TOP_STRING, 0, 9);
            fill(&in, 0, what == 3 ? 9 : 8);
            if (no_head)
                in.len = place + 8;
            if (restoring == 0)
                hdx_buffer_put(&out, (const uint8_t *)in.at + place, in.len - place);
            const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, restoring == 1, "no record");
            cr_expect(s.truncated == (no_head || !no_tag) && s.broken == (no_tag && !no_head && restoring == 1) &&
                      s.records_in == 3);
            cr_expect(s.first_broken == (s.broken > 0 ? place : 0));
            end();
        }
    begin(); /* a broken record before: the first place stays the first */
    head_of_file();
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 100, 23);
    cut_array(9);
    const hdx_pos first = in.len;
    fill(&in, 0x55, 20);
    record(HDX_TOP_HEAP_DUMP_END, 0, 0);
    table(5);
    fill(&in, 0x55, 20);
    const hdx_overlay_stats s = is_shown(HDX_OVERLAY_KOOM, true, "twice");
    cr_expect(s.broken == 2 && s.first_broken == first, "%llu, %llu", (ull)s.broken, (ull)s.first_broken);
    end();
}

/* Two pieces of the same kind, the second of which begins where the first has come to its length. */
Test(koom, runs_of_tables_and_entries_are_handed_on_in_pieces)
{
    begin();
    head_of_file();
    for (unsigned k = 0; k < 3000; k++)
        table(50);
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 40000 * 5, 40000 * 5);
    for (unsigned k = 0; k < 40000; k++)
        root(HDX_SUB_ROOT_STICKY_CLASS);
    record(HDX_TOP_HEAP_DUMP_END, 0, 0);
    shown s;
    show(&s, HDX_OVERLAY_KOOM, false, 0);
    cr_expect(s.all.len == out.len && memcmp(s.all.at, out.at, out.len) == 0);
    cr_expect(s.longest >= OVERLAY_RUN && s.longest < OVERLAY_RUN + 63, "%llu", (ull)s.longest);
    cr_expect(s.tokens == 1 + 3 + 1 + 4 + 1 + 1 + 0, "%u", s.tokens);
    hdx_buffer_free(&s.all);
    end();
}

Test(koom, patience_is_spent_by_what_does_not_fit_and_earned_by_what_does)
{
    begin();
    head_of_file();
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 10 * 5, 10 * 5);
    for (unsigned k = 0; k < 10; k++)
        root(HDX_SUB_ROOT_STICKY_CLASS);
    const hdx_pos place = in.len;
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 60, 20);
    for (unsigned k = 0; k < 4; k++)
        root(HDX_SUB_ROOT_STICKY_CLASS);
    const hdx_pos broken = in.len;
    fill(&in, 0x55, 30);
    record(HDX_TOP_HEAP_DUMP_END, 0, 0);
    /* three walks of five, then two at once that count nine, then the end record is looked at */
    for (uint64_t patience = 1; patience < 20; patience++) {
        shown    s;
        uint64_t left = patience + 10;
        show(&s, HDX_OVERLAY_KOOM, true, patience);
        if (left <= 15) {
            cr_expect(s.stats.broken == 1 && s.stats.first_broken == place && s.all.len == place + 9, "%llu: %llu",
                      (ull)patience, (ull)s.all.len);
        } else if (left <= 15 + 9) {
            cr_expect(s.stats.broken == 1 && s.stats.first_broken == broken && s.all.len == out.len - 9 &&
                          s.stats.lost_bytes == 0,
                      "%llu: %llu", (ull)patience, (ull)s.all.len);
        } else
            cr_expect(s.stats.broken == 1 && s.stats.first_broken == broken && s.all.len == out.len &&
                          s.stats.lost_bytes == 30,
                      "%llu: %llu", (ull)patience, (ull)s.all.len);
        hdx_buffer_free(&s.all);
    }
    end();
}

/* ---- names ---- */

static void name(const char *text, size_t there, bool cut)
{
    record(HDX_TOP_STRING, (uint32_t)(4 + strlen(text)), (uint32_t)(4 + (cut ? there : strlen(text))));
    both("\0\0\0\1", 4);
    both(text, there);
}

Test(cut_names, state_as_many_bytes_as_are_there)
{
    begin();
    head_of_file();
    table(5);
    const hdx_pos first = in.len;
    name("\303\251ab", 3, true);
    name("abc", 3, false);
    name("gr\303\266\303\237e", 5, true);
    name("\303\251", 2, false);
    name("\346\227\245", 1, true);
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 23, 23);
    whole_array(9);
    record(HDX_TOP_HEAP_DUMP_END, 0, 0);
    for (unsigned restoring = 0; restoring < 2; restoring++) {
        const hdx_overlay_stats s = is_shown(HDX_OVERLAY_NAMES, restoring == 1, "names");
        cr_expect(s.cut_names == 3 && s.lost_bytes == 1 + 2 + 2 && s.first_cut == first && s.absent_bytes == 0 &&
                      s.broken == 0 && !s.truncated,
                  "%llu, %llu, %llu", (ull)s.cut_names, (ull)s.lost_bytes, (ull)s.first_cut);
    }
    end();
}

Test(cut_names, and_what_is_no_record_are_handed_on_as_they_are)
{
    for (unsigned what = 0; what < 3; what++) {
        begin();
        head_of_file();
        name("\303\251ab", 3, true);
        table(5);
        record(what == 0 ? 0x55 : HDX_TOP_STRING, 40, 40);
        fill(&in, 'x', 39);
        fill(&out, 'x', 39);
        if (what == 1)
            in.len -= 39 + 1, out.len -= 39 + 1;
        if (what == 2) { /* the last byte is there */
            fill(&in, 'x', 1);
            fill(&out, 'x', 1);
        }
        const hdx_overlay_stats s = is_shown(HDX_OVERLAY_NAMES, false, "no record");
        cr_expect(s.cut_names == 1 && s.lost_bytes == 1);
        end();
    }
    begin();
    head_of_file();
    for (unsigned k = 0; k < 3000; k++)
        table(50);
    shown s;
    show(&s, HDX_OVERLAY_NAMES, false, 0);
    cr_expect(s.all.len == out.len && memcmp(s.all.at, out.at, out.len) == 0 && s.tokens == 1 + 3, "%u", s.tokens);
    cr_expect(s.longest >= OVERLAY_RUN && s.longest < OVERLAY_RUN + 63);
    hdx_buffer_free(&s.all);
    end();
}

/* ---- Tailor ---- */

static void container(void)
{
    hdx_buffer_put(&in, "JAVA PROFILE 6.0.1", 18);
    hdx_write_head(&out, "1.0.3", 4, 0);
}
static void t_string(uint16_t n)
{
    hdx_write_u1(&in, HDX_TOP_STRING);
    hdx_write_u2(&in, n);
    fill(&in, 'a', n);
    hdx_write_record_head(&out, HDX_TOP_STRING, 0, n);
    fill(&out, 'a', n);
}
static void t_load(void)
{
    hdx_write_u1(&in, HDX_TOP_LOAD_CLASS);
    hdx_write_u4(&in, 0x01020304);
    hdx_write_u4(&in, 0x05060708);
    hdx_write_load_class(&out, 4, 0, 0x01020304, 0, 0x05060708);
}
static uint64_t segment; /* of `out` */
static void     t_segment(void)
{
    hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_SEGMENT);
    segment = hdx_write_begin(&out, HDX_TOP_HEAP_DUMP_SEGMENT, 0);
}
static void t_segment_ends(void) { hdx_write_finish(&out, segment); }
static void t_end(void)
{
    hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_END);
    hdx_write_end(&out);
}
/* id, and what there is behind it in the file and in the dump: serials are 0. */
static void t_root(uint8_t tag, unsigned kept, unsigned zeros)
{
    hdx_write_u1(&in, tag);
    hdx_write_u1(&out, tag);
    fill(&in, 0x11, 4 + kept);
    fill(&out, 0x11, 4 + kept);
    fill(&out, 0, zeros);
}
static void t_array(uint8_t type, uint32_t count, unsigned width, bool absent)
{
    hdx_write_u1(&in, HDX_SUB_PRIMITIVE_ARRAY);
    hdx_write_u4(&in, 0x21222324);
    hdx_write_u4(&in, count);
    hdx_write_u1(&in, type);
    hdx_write_primitive_array_head(&out, 4, HDX_SUB_PRIMITIVE_ARRAY, 0x21222324, 0, count, type);
    if (!absent)
        fill(&in, 0x66, (size_t)count * width);
    fill(&out, absent ? 0 : 0x66, (size_t)count * width);
}
static void t_instance(uint32_t n)
{
    hdx_write_u1(&in, HDX_SUB_INSTANCE);
    hdx_write_u4(&in, 0x31);
    hdx_write_u4(&in, 0x32);
    hdx_write_u4(&in, n);
    fill(&in, 0x77, n);
    hdx_write_u1(&out, HDX_SUB_INSTANCE);
    hdx_write_u4(&out, 0x31);
    hdx_write_u4(&out, 0);
    hdx_write_u4(&out, 0x32);
    hdx_write_u4(&out, n);
    fill(&out, 0x77, n);
}
static void t_objects(uint32_t n)
{
    hdx_write_u1(&in, HDX_SUB_OBJECT_ARRAY);
    hdx_write_u4(&in, 0x41);
    hdx_write_u4(&in, n);
    hdx_write_u4(&in, 0x42);
    fill(&in, 0x78, 4 * n);
    hdx_write_object_array_head(&out, 4, 0x41, 0, 0x42, n);
    fill(&out, 0x78, 4 * n);
}
/* fields of type int, and as many statics of type byte */
static void t_class(uint16_t fields)
{
    hdx_write_u1(&in, HDX_SUB_CLASS);
    hdx_write_u4(&in, 0x51);
    hdx_write_u1(&out, HDX_SUB_CLASS);
    hdx_write_u4(&out, 0x51);
    hdx_write_u4(&out, 0);
    for (unsigned k = 0; k < 4; k++) { /* super, loader, signers, domain */
        hdx_write_u4(&in, 0x52 + k);
        hdx_write_u4(&out, 0x52 + k);
    }
    fill(&out, 0, 8 + 2);
    hdx_write_u2(&in, 0x0102); /* bytes of an instance */
    hdx_write_u2(&out, 0x0102);
    hdx_write_u2(&in, 0);
    hdx_write_u2(&out, 0);
    hdx_buffer *const b[] = { &in, &out };
    for (unsigned i = 0; i < 2; i++) {
        hdx_write_u2(b[i], fields);
        for (unsigned k = 0; k < fields; k++) {
            hdx_write_u4(b[i], 0x61 + k);
            hdx_write_u1(b[i], 8);
            hdx_write_u1(b[i], (uint8_t)k);
        }
        hdx_write_u2(b[i], fields);
        for (unsigned k = 0; k < fields; k++) {
            hdx_write_u4(b[i], 0x71 + k);
            hdx_write_u1(b[i], 10);
        }
    }
}

Test(tailor, every_token_is_a_record_or_an_entry_with_zeros_for_what_it_has_no_room_for)
{
    static const uint8_t plain_roots[] = { HDX_SUB_ROOT_STICKY_CLASS,    HDX_SUB_ROOT_MONITOR_USED,
                                           HDX_SUB_ROOT_INTERNED_STRING, HDX_SUB_ROOT_FINALIZING,
                                           HDX_SUB_ROOT_DEBUGGER,        HDX_SUB_ROOT_REFERENCE_CLEANUP,
                                           HDX_SUB_ROOT_VM_INTERNAL,     HDX_SUB_ROOT_UNKNOWN };
    static const uint8_t with8[] = { HDX_SUB_ROOT_JNI_LOCAL, HDX_SUB_ROOT_JAVA_FRAME, HDX_SUB_ROOT_THREAD_OBJECT,
                                     HDX_SUB_ROOT_JNI_MONITOR };
    for (unsigned restoring = 0; restoring < 2; restoring++) {
        begin();
        container();
        t_string(9);
        t_string(4);
        t_load();
        t_segment();
        for (unsigned k = 0; k < sizeof plain_roots; k++)
            t_root(plain_roots[k], 0, 0);
        for (unsigned k = 0; k < sizeof with8; k++)
            t_root(with8[k], 0, 8);
        t_root(HDX_SUB_ROOT_NATIVE_STACK, 0, 4);
        t_root(HDX_SUB_ROOT_THREAD_BLOCK, 0, 4);
        t_root(HDX_SUB_ROOT_JNI_GLOBAL, 4, 0);
        t_root(HDX_SUB_HEAP_DUMP_INFO, 4, 0);
        t_class(0);
        t_class(3);
        t_class(60); /* longer than what is read at first */
        t_instance(0);
        t_instance(7);
        t_objects(0);
        t_objects(3);
        t_array(8, 9, 1, true);
        t_array(5, 9, 2, true);
        t_array(4, 3, 1, false);
        t_array(9, 3, 2, false);
        t_array(10, 3, 4, false);
        t_array(6, 3, 4, false);
        t_array(11, 3, 8, false);
        t_array(7, 3, 8, false);
        t_segment_ends();
        hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_SEGMENT); /* one without entries is left out */
        t_end();
        const hdx_overlay_stats s = is_shown(HDX_OVERLAY_TAILOR, restoring == 1, "all");
        const uint64_t          entries = 8 + 4 + 4 + 3 + 4 + 8;
        cr_expect(s.records_in == entries + 6 && s.records_out == entries + 5 && s.absent_bytes == 9 + 18 &&
                      s.broken == 0 && !s.truncated,
                  "%llu, %llu, %llu", (ull)s.records_in, (ull)s.records_out, (ull)s.absent_bytes);
        end();
    }
}

Test(tailor, a_reader_is_shown_an_end_record_where_there_is_none)
{
    for (unsigned k = 0; k < 3; k++)
        for (unsigned restoring = 0; restoring < 2; restoring++) {
            begin();
            container();
            if (k == 2)
                t_end();
            t_segment();
            t_instance(3);
            t_segment_ends();
            if (k == 1)
                t_end();
            else if (restoring == 0)
                hdx_write_end(&out);
            (void)is_shown(HDX_OVERLAY_TAILOR, restoring == 1, "end");
            end();
        }
}

Test(tailor, a_file_cut_anywhere_gives_the_tokens_that_are_whole)
{
    begin();
    container();
    t_string(9);
    t_load();
    t_segment();
    t_root(HDX_SUB_ROOT_THREAD_OBJECT, 0, 8);
    t_root(HDX_SUB_ROOT_JNI_GLOBAL, 4, 0);
    t_instance(7);
    t_class(2);
    t_array(8, 9, 1, true);
    t_array(10, 3, 4, false);
    t_segment_ends();
    t_end();
    const size_t all = in.len;
    /* bytes of the file after each token, and how long the dump is then */
    static const size_t ends[] = { 18, 18 + 12, 18 + 12 + 9 }, outs[] = { 31, 31 + 18, 31 + 18 + 25 };
    for (size_t len = 19; len < all; len++) {
        shown    s;
        uint64_t was = in.len;
        in.len = len;
        show(&s, HDX_OVERLAY_TAILOR, true, 0);
        in.len = was;
        cr_expect(s.size == s.all.len);
        if (len < 40) {
            const unsigned k = len >= ends[2] ? 2 : len >= ends[1] ? 1 : 0;
            cr_expect(s.all.len == outs[k] && s.stats.truncated == (len != ends[k]), "%zu bytes: %llu", len,
                      (ull)s.all.len);
        } else if (s.all.len > outs[2]) { /* the segment states what there is of it, and that is what was made of it */
            const uint32_t stated = hdx_be32((const uint8_t *)s.all.at + outs[2] + 5);
            cr_expect(s.all.len == outs[2] + 9 + stated, "%zu bytes", len);
            cr_expect(memcmp((const uint8_t *)s.all.at + outs[2] + 9, (const uint8_t *)out.at + outs[2] + 9, stated) ==
                          0,
                      "%zu bytes", len);
        }
        cr_expect(s.stats.broken == 0);
        hdx_buffer_free(&s.all);
    }
    end();
}

Test(tailor, what_is_no_token_ends_it_and_is_told)
{
    static const uint8_t short_text[] = { HDX_TOP_STRING, 0, 3, 'a', 'b', 'c' }, other[] = { 0x55, 0, 0, 0 },
                         unreachable[] = { HDX_SUB_UNREACHABLE, 1, 2, 3, 4 },
                         type[] = { HDX_SUB_PRIMITIVE_ARRAY, 1, 2, 3, 4, 0, 0, 0, 1, 2, 9, 9, 9, 9 },
                         type3[] = { HDX_SUB_PRIMITIVE_ARRAY, 1, 2, 3, 4, 0, 0, 0, 1, 3, 9, 9, 9, 9 };
    static const struct {
        const uint8_t *at;
        size_t         len;
        bool           inside; /* a segment */
    } none[] = { { short_text, 6, false }, { other, 4, false }, { other, 4, true },
                 { unreachable, 5, true }, { type, 14, true },  { type3, 14, true } };
    for (unsigned k = 0; k < sizeof none / sizeof *none; k++) {
        begin();
        container();
        t_string(9);
        t_segment();
        t_instance(3);
        t_segment_ends();
        if (!none[k].inside)
            t_end();
        const hdx_pos place = in.len;
        hdx_buffer_put(&in, none[k].at, none[k].len);
        hdx_buffer_put(&in, "\x55\x55\x55", 3);
        const hdx_overlay_stats s = is_shown(HDX_OVERLAY_TAILOR, false, "no token");
        cr_expect(s.broken == 1 && s.first_broken == place && !s.truncated, "%u: %llu, %llu", k, (ull)s.broken,
                  (ull)s.first_broken);
        cr_expect(s.records_in == 4u + !none[k].inside && s.records_out == 3u + !none[k].inside, "%u: %llu", k,
                  (ull)s.records_in);
        end();
    }
}

Test(tailor, texts_and_loads_that_the_file_ends_in_are_left_out)
{
    for (size_t gone = 1; gone < 12; gone++) {
        begin();
        container();
        t_load();
        const uint64_t in_len = in.len, out_len = out.len;
        t_string(9);
        in.len -= gone;
        out.len = out_len;
        hdx_overlay_stats s = is_shown(HDX_OVERLAY_TAILOR, false, "a text");
        cr_expect(s.truncated && s.broken == 0 && s.records_in == 2 && s.records_out == 1, "%zu", gone);
        in.len = in_len;
        t_load();
        in.len -= gone < 9 ? gone : 8;
        out.len = out_len;
        s = is_shown(HDX_OVERLAY_TAILOR, false, "a class");
        cr_expect(s.truncated && s.broken == 0 && s.records_in == 2 && s.records_out == 1, "%zu", gone);
        end();
    }
}

/* Segments over 4 GiB: contents are absent, so that the file is small. Nothing is read of it but by its size. */
static hdx_source *wide_open(over *o)
{
    hdx_error err = { 0 };
    over_open(o, in.at, in.len, 64);
    cr_assert(hdx_strip_overlay_set(o->source, HDX_OVERLAY_TAILOR, &err) == HDX_OK, "%s", err.message);
    return o->source;
}
static void t_head_of_bytes(uint32_t count)
{
    hdx_write_u1(&in, HDX_SUB_PRIMITIVE_ARRAY);
    hdx_write_u4(&in, 0x21);
    hdx_write_u4(&in, count);
    hdx_write_u1(&in, 8);
}
static uint32_t stated_at(hdx_source *source, hdx_pos at, uint8_t tag)
{
    uint8_t head[9];
    size_t  got;
    cr_assert(hdx_source_read_at(source, at, head, 9, &got, NULL) == HDX_OK && got == 9);
    cr_expect(head[0] == tag && hdx_be32(head + 1) == 0, "%02x", head[0]);
    return hdx_be32(head + 5);
}

Test(tailor, a_segment_of_more_than_4_gib_goes_on_in_another_and_names_its_heap_again)
{
    for (unsigned named = 0; named < 2; named++)
        for (uint32_t more = 0; more < 2; more++) {
            over              o;
            hdx_overlay_stats s;
            uint64_t          size = 0;
            begin();
            hdx_buffer_put(&in, "JAVA PROFILE 6.0.1", 18);
            hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_SEGMENT);
            if (named == 1)
                hdx_buffer_put(&in, "\xfe\0\0\0A\0\0\0\7", 9);
            const uint32_t head = 9 * named + 14;
            t_head_of_bytes(0x80000000);
            t_head_of_bytes(UINT32_MAX - 0x80000000 - head - 14 +
                            more); /* the first segment is full, or one too long */
            t_head_of_bytes(5);
            hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_END);
            hdx_source    *source = wide_open(&o);
            const uint64_t last = more == 0 ? 14 + 5 : UINT32_MAX - 0x80000000 - head + 1 + 14 + 5;
            const uint32_t first = more == 0 ? UINT32_MAX : head + 0x80000000;
            cr_assert(hdx_source_size(source, &size));
            cr_expect(size == 31 + 9 + (uint64_t)first + 9 + 9 * named + last + 9, "%u, %u: %llu", named, more,
                      (ull)size);
            cr_expect(stated_at(source, 31, HDX_TOP_HEAP_DUMP_SEGMENT) == first);
            cr_expect(stated_at(source, 40 + (uint64_t)first, HDX_TOP_HEAP_DUMP_SEGMENT) == 9 * named + last);
            if (named == 1) {
                uint8_t heap[9];
                size_t  got;
                cr_assert(hdx_source_read_at(source, 49 + (uint64_t)first, heap, 9, &got, NULL) == HDX_OK && got == 9);
                cr_expect(memcmp(heap, "\xfe\0\0\0A\0\0\0\7", 9) == 0);
            }
            cr_expect(hdx_strip_overlay_stats(source, &s, NULL) == HDX_OK && s.records_in == 2 + 3 + named &&
                      s.records_out == 3 + 3 + named && s.broken == 0 && !s.truncated &&
                      s.absent_bytes == UINT32_MAX - head - 14ull + more + 5);
            over_close(&o);
            end();
        }
}

Test(tailor, an_array_of_more_than_4_gib_ends_it)
{
    for (uint32_t over_by = 0; over_by < 2; over_by++) {
        over              o;
        hdx_overlay_stats s;
        uint64_t          size = 0;
        begin();
        hdx_buffer_put(&in, "JAVA PROFILE 6.0.1", 18);
        hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_SEGMENT);
        const hdx_pos place = in.len;
        t_head_of_bytes(UINT32_MAX - 14 + over_by);
        hdx_write_u1(&in, HDX_TOP_HEAP_DUMP_END);
        hdx_source *source = wide_open(&o);
        cr_assert(hdx_source_size(source, &size) && hdx_strip_overlay_stats(source, &s, NULL) == HDX_OK);
        cr_expect(s.broken == over_by && s.first_broken == (over_by == 1 ? place : 0) &&
                      size == (over_by == 1 ? 31 : 31 + 9 + (uint64_t)UINT32_MAX + 9),
                  "%llu: %llu", (ull)s.broken, (ull)size);
        over_close(&o);
        end();
    }
}

/* Contents are stepped over; where they end behind the file it is seen nevertheless. */
Test(tailor, a_large_array_in_which_the_file_ends_is_left_out)
{
    for (unsigned large = 0; large < 2; large++)
        for (unsigned gone = 0; gone < 2; gone++) {
            begin();
            container();
            t_segment();
            t_instance(3);
            const uint64_t out_len = out.len;
            t_array(10, large == 1 ? 40000 : 16385, 4, false);
            in.len -= gone;
            if (gone == 1)
                out.len = out_len;
            t_segment_ends();
            const hdx_overlay_stats s = is_shown(HDX_OVERLAY_TAILOR, true, "large");
            cr_expect(s.truncated == (gone == 1) && s.records_in == 1 + 2 - gone && s.records_out == 1 + 2 - gone);
            end();
        }
}

/* ---- reading, at any position ---- */

static uint64_t file_bytes; /* read of any file */
static int64_t (*real_read)(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset);
static int64_t counted_read(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    const int64_t n = real_read(io, fd, to, len, offset);
    file_bytes += n > 0 ? (uint64_t)n : 0;
    return n;
}

Test(reading, on_from_several_places_reads_the_file_twice_at_most)
{
    over      o;
    hdx_error err = { 0 };
    uint8_t   piece[1000];
    size_t    got;
    hdx_io   *io = hdx_io_system();
    begin();
    head_of_file();
    for (unsigned k = 0; k < 100; k++) {
        record(HDX_TOP_HEAP_DUMP_SEGMENT, 1000 * 41, 1000 * 41);
        for (unsigned i = 0; i < 1000; i++) {
            root(HDX_SUB_ROOT_STICKY_CLASS);
            root(HDX_SUB_ROOT_STICKY_CLASS);
            root(HDX_SUB_ROOT_STICKY_CLASS);
            cut_array(12);
        }
    }
    over_open(&o, in.at, in.len, 64);
    cr_assert(hdx_strip_overlay_set(o.source, HDX_OVERLAY_KOOM, &err) == HDX_OK);
    cr_assert(hdx_source_read_at(o.source, 0, piece, 1000, &got, &err) == HDX_OK && got == 1000);
    real_read = io->read_at;
    io->read_at = counted_read;
    for (unsigned places = 1; places <= 8; places++) {
        const uint64_t each = out.len / 8;
        file_bytes = 0;
        for (uint64_t at = 0; at + 1000 <= each; at += 1000)
            for (unsigned p = 0; p < places; p++) {
                const uint64_t from = p * each + at;
                cr_assert(hdx_source_read_at(o.source, from, piece, 1000, &got, &err) == HDX_OK && got == 1000 &&
                              memcmp(piece, (const uint8_t *)out.at + from, 1000) == 0,
                          "%llu", (ull)from);
            }
        /* twice: at a point a cursor is begun anew */
        cr_expect(file_bytes < places * (2 * in.len / 8 + (256u << 10)), "%u places: %llu of %llu", places,
                  (ull)file_bytes, (ull)(in.len / 8 * places));
    }
    file_bytes = 0; /* back and forth: no more than from the point before */
    for (unsigned k = 0; k < 200; k++) {
        const uint64_t from = k * 7919ull * 977 % (out.len - 1000);
        cr_assert(hdx_source_read_at(o.source, from, piece, 1000, &got, &err) == HDX_OK &&
                  memcmp(piece, (const uint8_t *)out.at + from, 1000) == 0);
    }
    cr_expect(file_bytes < 200 * (192u << 10), "%llu", (ull)file_bytes);
    io->read_at = real_read;
    over_close(&o);
    end();
}

Test(reading, says_of_each_byte_whether_it_is_made_up_and_ends_where_the_dump_does)
{
    over              o;
    hdx_error         err = { 0 };
    hdx_overlay_stats s = { .broken = 9 };
    uint8_t           piece[200];
    uint64_t          size = 0;
    size_t            got = 9;
    begin();
    head_of_file();
    record(HDX_TOP_HEAP_DUMP_SEGMENT, 23 + 5 + 16, 23 + 5 + 16);
    cut_array(9);
    root(HDX_SUB_ROOT_STICKY_CLASS);
    cut_array(2);
    over_open(&o, in.at, in.len, 64);
    cr_expect(hdx_strip_overlay_stats(o.source, &s, &err) == HDX_OK && s.broken == 0, "nothing is laid over it");
    cr_expect(hdx_strip_overlay_set(o.source, HDX_OVERLAY_NONE, &err) == HDX_OK && !hdx_source_absent(o.source, 60));
    cr_assert(hdx_strip_overlay_set(o.source, HDX_OVERLAY_KOOM, &err) == HDX_OK);
    for (uint64_t at = 0; at < out.len + 10; at++)
        cr_expect(hdx_source_absent(o.source, at) ==
                      ((at >= 40 + 14 && at < 40 + 23) || (at >= out.len - 2 && at < out.len)),
                  "%llu", (ull)at);
    cr_expect(hdx_source_size(o.source, &size) && size == out.len);
    for (uint64_t at = 0; at < out.len + 3; at++)
        for (size_t want = 0; want < sizeof piece; want += want < 3 ? 1 : 13) {
            const uint64_t left = at < out.len ? out.len - at : 0;
            cr_assert(hdx_source_read_at(o.source, at, piece, want, &got, &err) == HDX_OK &&
                          got == (left < want ? left : want),
                      "%zu at %llu: %zu", want, (ull)at, got);
            cr_assert(memcmp(piece, (const uint8_t *)out.at + (at < out.len ? at : 0), got) == 0);
        }
    over_close(&o);
    end();
}

Test(reading, of_no_form_or_with_ids_of_other_widths_is_refused)
{
    over             o;
    overlay         *v = NULL;
    static const int forms[] = { HDX_OVERLAY_NONE, HDX_OVERLAY_FORMS, 99, -1 };
    begin();
    head_of_file();
    in.at[22] = 5;
    over_open(&o, in.at, in.len, 64);
    for (unsigned k = 0; k < 4; k++) {
        hdx_error err = { 0 };
        cr_expect(hdx_strip_overlay_new(o.source, (hdx_overlay_form)forms[k], false, &v, &err) == HDX_USAGE &&
                      v == NULL && strstr(err.message, "unknown form") != NULL,
                  "%d", forms[k]);
    }
    for (int form = HDX_OVERLAY_KOOM; form < HDX_OVERLAY_FORMS; form++) {
        hdx_error      err = { 0 };
        const hdx_code code = hdx_strip_overlay_new(o.source, (hdx_overlay_form)form, false, &v, &err);
        if (form == HDX_OVERLAY_TAILOR) {
            cr_expect(code == HDX_OK && v->id_size == 4);
            hdx_strip_overlay_free(v);
        } else
            cr_expect(code == HDX_BAD_DUMP && err.offset == 19 && v == NULL, "%d: %s", form, err.message);
    }
    hdx_strip_overlay_free(NULL);
    over_close(&o);
    end();
}
