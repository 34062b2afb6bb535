/*
 * test_detect.c - how much of a dump is looked at to tell what it went through, and what its framing says: each limit
 * one short of it, at it and past it.
 */
#include "over.h"

#include <zlib.h>

typedef unsigned long long ull;

static char path[64], folder[TEST_FOLDER];

static hdx_stripping seen_in(const void *bytes, size_t len, uint64_t window)
{
    over          o;
    hdx_stripping what;
    hdx_error     err = { 0 };
    over_open(&o, bytes, len, 64);
    cr_assert(hdx_strip_recognise(o.source, NULL, window, &what, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    return what;
}
static hdx_stripping seen_of(dump_maker *m, uint64_t window)
{
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    return seen_in(bytes, len, window);
}

static dump_maker *begun(void)
{
    dump_maker *m = dump_maker_new(4);
    m->version = "1.0.3";
    return m;
}

/* Arrays of 100 bytes each, of question marks: how many were looked at, the evidence says. */
static void marks(dump_maker *m, unsigned count)
{
    uint64_t values[86];
    for (unsigned k = 0; k < 86; k++)
        values[k] = '?';
    for (unsigned k = 0; k < count; k++)
        (void)dump_maker_primitives(m, 'B', values, 86);
}
static unsigned looked_at(const hdx_stripping *what)
{
    unsigned n = 0;
    cr_expect(what->policy == HDX_STRIP_SHARK && sscanf(what->evidence[0], "%u byte[]", &n) == 1, "%s",
              what->evidence[0]);
    return n;
}

Test(window, ends_within_a_record_and_is_wider_where_it_shows_few_arrays)
{
    static const struct {
        uint64_t window;
        unsigned seen;
    } each[] = { { 100000, 1000 }, { 99999, 1000 }, { 99900, 999 },  { 30000, 300 }, { 30001, 301 }, { 29999, 300 },
                 { 20000, 200 },   { 19901, 200 },  { 19900, 1000 }, { 5000, 1000 }, { 1, 1000 },    { 0, 1000 } };
    dump_maker *m = begun();
    marks(m, 1000);
    for (unsigned k = 0; k < sizeof each / sizeof *each; k++) {
        const hdx_stripping what = seen_of(m, each[k].window);
        cr_expect(looked_at(&what) == each[k].seen, "%llu: %s", (ull)each[k].window, what.evidence[0]);
    }
    dump_maker_free(m);
}

Test(window, counts_the_bytes_of_all_records)
{
    static const struct {
        uint64_t window;
        unsigned seen;
    } each[] = { { 25000, 250 }, { 25001, 251 }, { 25050, 251 }, { 25999, 260 }, { 26000, 260 }, { 90000, 500 } };
    dump_maker *m = begun();
    for (unsigned k = 0; k < 50; k++) {
        marks(m, 10);
        dump_maker_segment(m);
    }
    for (unsigned k = 0; k < sizeof each / sizeof *each; k++) {
        const hdx_stripping what = seen_of(m, each[k].window);
        cr_expect(looked_at(&what) == each[k].seen, "%llu: %s", (ull)each[k].window, what.evidence[0]);
    }
    dump_maker_free(m);
}

static void load(dump_maker *m, unsigned k, size_t gone)
{
    uint8_t body[16] = { [6] = 1, [7] = (uint8_t)k, [15] = 9 };
    uint8_t head[25] = { HDX_TOP_LOAD_CLASS, [8] = 16 };
    memcpy(head + 9, body, 16);
    dump_maker_between(m, head, 25 - gone);
}
static unsigned classes_in(const hdx_stripping *what)
{
    unsigned n = 0;
    return what->policy == HDX_STRIP_TAILOR && sscanf(what->evidence[0], "serial numbers of all %u", &n) == 1 ? n : 0;
}

Test(window, that_ends_with_a_record_shows_nothing_behind_it)
{
    for (uint64_t more = 0; more < 2; more++) {
        dump_maker *m = begun();
        m->time_ms = 0;
        load(m, 1, 0);
        load(m, 2, 0);
        marks(m, 210);
        dump_maker_segment(m);
        load(m, 3, 0);
        hdx_stripping what = seen_of(m, 21000 + more);
        cr_expect(classes_in(&what) == 2 + more, "%s", what.evidence[0]);
        dump_maker_free(m);
    }
}

Test(tables, that_the_file_ends_in_are_not_looked_at)
{
    for (size_t gone = 0; gone < 25; gone++) {
        dump_maker *m = begun();
        m->time_ms = 0;
        m->no_end = true;
        load(m, 1, 0);
        load(m, 2, 0);
        load(m, 3, gone);
        hdx_stripping what = seen_of(m, 9000);
        cr_expect(classes_in(&what) == (gone == 0 ? 3 : 2), "%zu: %s", gone, what.evidence[0]);
        dump_maker_free(m);
    }
}

/* A name as Matrix cuts it: two bytes for each of its characters, and as many of them as it has characters. */
static dump_maker *cut_name(dump_maker *m, uint32_t characters)
{
    uint8_t       *text = malloc(characters + 4);
    const uint32_t all = characters % 2 == 0 ? 2 * characters : 2 * characters - 1;
    memset(text, 'a', characters + 4);
    for (uint32_t k = 4; k + 1 < characters + 4; k += 2)
        text[k] = 0303, text[k + 1] = 0251;
    hdx_write_record_head(&m->tables, HDX_TOP_STRING, 0, 4 + all);
    hdx_buffer_put(&m->tables, text, characters + 4);
    free(text);
    return m;
}

Test(tables, with_cut_names_are_matrixs)
{
    dump_maker *m = cut_name(cut_name(begun(), 4), 9);
    m->time_ms = 1;
    (void)dump_maker_class(m, "app.A", 0, "");
    hdx_stripping what = seen_of(m, 9000);
    cr_expect(what.policy == HDX_STRIP_MATRIX && what.overlay == HDX_OVERLAY_NAMES && what.confidence == 95 &&
              what.evidence_count == 1);
    cr_expect_str_eq(what.evidence[0], "2 non-ASCII names are truncated, 12 bytes less than their records state");
    dump_maker_free(m);

    for (uint32_t k = 0; k < 2; k++) { /* the longest text that Java writes here has 65535 bytes */
        m = begun();
        m->time_ms = 1;
        uint8_t *text = calloc(70000, 1);
        memset(text + 4, 'a', 65536);
        text[4] = 0303, text[5] = 0251;
        hdx_write_record_head(&m->tables, HDX_TOP_STRING, 0, 4 + 65535 + k);
        hdx_buffer_put(&m->tables, text, 4 + 60000);
        free(text);
        (void)dump_maker_class(m, "app.A", 0, "");
        what = seen_of(m, 9000);
        cr_expect((what.policy == HDX_STRIP_MATRIX) == (k == 0), "%u: %s", k, what.evidence[0]);
        dump_maker_free(m);
    }

    m = cut_name(begun(), 4); /* another tool's sign goes, Matrix's own stays beside it */
    m->time_ms = 1;
    marks(m, 5);
    what = seen_of(m, 9000);
    cr_expect(what.policy == HDX_STRIP_MATRIX && what.overlay == HDX_OVERLAY_NAMES && what.evidence_count == 1 &&
              what.confidence == 95);
    dump_maker_free(m);
    m = cut_name(begun(), 4);
    m->time_ms = 1;
    const uint64_t string = dump_maker_class(m, "java.lang.String", 0, "");
    for (unsigned k = 0; k < 11; k++)
        (void)dump_maker_instance(m, string, NULL);
    what = seen_of(m, 9000);
    cr_expect(what.policy == HDX_STRIP_MATRIX && what.evidence_count == 2 && what.confidence == 95 &&
                  strstr(what.evidence[1], "1 non-ASCII names are truncated, 4 bytes") != NULL,
              "%s", what.evidence[1]);
    dump_maker_free(m);
}

/* ---- framing ---- */

static void array_head(dump_maker *m, uint32_t count)
{
    const uint8_t head[] = { HDX_SUB_PRIMITIVE_ARRAY, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, (uint8_t)count, 8 };
    dump_maker_raw(m, head, sizeof head);
}
static void cut_record(dump_maker *m, uint32_t count)
{
    dump_maker_segment(m);
    array_head(m, count);
    dump_maker_segment_says(m, 14 + count);
}
static void plain_record(dump_maker *m)
{
    const uint64_t values[] = { 1, 2, 3, 200, 255, 254 };
    dump_maker_segment(m);
    (void)dump_maker_primitives(m, 'B', values, 6);
    dump_maker_segment(m);
}
static void mixed_record(dump_maker *m)
{
    const uint64_t values[] = { 1, 2, 3, 200, 255, 254 };
    dump_maker_segment(m);
    array_head(m, 9);
    dump_maker_root(m, HDX_SUB_UNREACHABLE, 5, 0, 0);
    (void)dump_maker_primitives(m, 'B', values, 6);
    dump_maker_segment_says(m, 23 + 5 + 20);
}
/* Its content is a record again: it comes out even in both ways. */
static void either_record(dump_maker *m)
{
    static const uint8_t text[] = { HDX_TOP_STRING, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 1, 'a', 'b' };
    uint64_t             values[15];
    for (unsigned k = 0; k < 15; k++)
        values[k] = text[k];
    dump_maker_segment(m);
    (void)dump_maker_primitives(m, 'B', values, 15);
    dump_maker_segment(m);
}
static void odd_record(dump_maker *m)
{
    dump_maker_segment(m);
    array_head(m, 0);
    dump_maker_raw(m, "\x55\x55\x55\x55\x55\x55\x55\x55", 8);
    dump_maker_segment(m);
}

typedef struct made {
    unsigned cut, mixed, plain, either, none; /* records; none: of no contents */
    unsigned odd, cut_behind;
} made;

static hdx_stripping framed(const made *d)
{
    dump_maker *m = begun();
    for (unsigned k = 0; k < d->plain; k++)
        plain_record(m);
    for (unsigned k = 0; k < d->either; k++)
        either_record(m);
    for (unsigned k = 0; k < d->none; k++) {
        dump_maker_segment(m);
        array_head(m, 0);
        dump_maker_segment(m);
    }
    for (unsigned k = 0; k < d->cut; k++)
        cut_record(m, 3 + k);
    for (unsigned k = 0; k < d->mixed; k++)
        mixed_record(m);
    for (unsigned k = 0; k < d->odd; k++) { /* each is followed by one that fits */
        odd_record(m);
        array_head(m, 0);
    }
    for (unsigned k = 0; k < d->cut_behind; k++)
        cut_record(m, 3 + k);
    const hdx_stripping what = seen_of(m, HDX_STRIP_WINDOW);
    dump_maker_free(m);
    return what;
}
static void is_koom(const made *d, const char *evidence)
{
    const hdx_stripping what = framed(d);
    cr_expect(what.policy == HDX_STRIP_KOOM && what.overlay == HDX_OVERLAY_KOOM && what.confidence == 100 &&
                  what.evidence_count == 1 && strcmp(what.evidence[0], evidence) == 0,
              "%s, not %s", what.evidence[0], evidence);
}

Test(framing, of_records_that_come_out_even_without_contents_alone_is_kooms)
{
    is_koom(&(made){ .cut = 1 }, "1 heap records parse only without array contents, 0 only with them");
    is_koom(&(made){ .cut = 3, .mixed = 2, .plain = 4 },
            "5 heap records parse only without array contents, 4 only with them");
    is_koom(&(made){ .mixed = 1 }, "1 heap records parse only without array contents, 0 only with them");
    is_koom(&(made){ .cut = 2, .either = 1, .none = 1 },
            "2 heap records parse only without array contents, 1 only with them");
    is_koom(&(made){ .cut = 2, .none = 5 }, "2 heap records parse only without array contents, 0 only with them");
    hdx_stripping what = framed(&(made){ .plain = 3, .either = 2, .none = 1 });
    cr_expect(what.policy == HDX_STRIP_NONE && what.overlay == HDX_OVERLAY_NONE && what.evidence_count == 0);
}

Test(framing, that_breaks_is_looked_at_up_to_sixteen_times)
{
    is_koom(&(made){ .odd = 16, .cut_behind = 2 },
            "2 heap records parse only without array contents, 0 only with them");
    const hdx_stripping what = framed(&(made){ .odd = 17, .cut_behind = 2 });
    cr_expect(what.policy == HDX_STRIP_UNKNOWN && what.confidence == 50 && what.evidence_count == 1);
    cr_expect_str_eq(
        what.evidence[0],
        "heap records parse neither with nor without array contents: damaged, or stripped by an unknown tool");
    cr_expect(framed(&(made){ .odd = 3, .plain = 1 }).policy == HDX_STRIP_NONE, "one reading is known");
    cr_expect(framed(&(made){ .odd = 3, .none = 1 }).policy == HDX_STRIP_UNKNOWN, "none is");
}

Test(framing, of_what_is_no_record_is_unknown)
{
    for (unsigned plain = 0; plain < 2; plain++) {
        dump_maker *m = begun();
        (void)dump_maker_name(m, "a text");
        if (plain == 1) {
            plain_record(m);
            dump_maker_between_record(m, HDX_TOP_TRACE, "0123456789ab", 12);
        }
        dump_maker_between(m, "\x55 no record at all", 18);
        const hdx_stripping what = seen_of(m, HDX_STRIP_WINDOW);
        cr_expect(what.policy == (plain == 1 ? HDX_STRIP_NONE : HDX_STRIP_UNKNOWN), "%u", plain);
        dump_maker_free(m);
    }
}

Test(framing, up_to_a_break_tells_signs_where_nothing_else_does)
{
    for (unsigned plain = 0; plain < 2; plain++) {
        dump_maker *m = begun();
        if (plain == 1) {
            marks(m, 4);
            dump_maker_segment(m);
        }
        if (plain == 0)
            marks(m, 4);
        else
            (void)dump_maker_primitives(m, 'B', DUMP_VALUES(1, 2, 3), 3); /* would contradict */
        dump_maker_raw(m, "\x55\x55\x55\x55\x55", 5);
        const hdx_stripping what = seen_of(m, HDX_STRIP_WINDOW);
        cr_expect(looked_at(&what) == 4, "%u: %s", plain, what.evidence[0]);
        dump_maker_free(m);
    }
}

Test(framing, of_a_file_that_ends_in_a_record_is_what_gets_to_the_end)
{
    const uint64_t values[] = { 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55 };
    for (unsigned cut = 0; cut < 2; cut++) {
        dump_maker *m = begun();
        m->no_end = true;
        for (unsigned k = 0; k < 3; k++)
            if (cut == 1)
                array_head(m, 9);
            else
                (void)dump_maker_primitives(m, 'B', values, 9);
        dump_maker_segment_says(m, 500);
        const hdx_stripping what = seen_of(m, HDX_STRIP_WINDOW);
        cr_expect(what.policy == (cut == 1 ? HDX_STRIP_KOOM : HDX_STRIP_UNKNOWN), "%u: %s", cut, what.evidence[0]);
        dump_maker_free(m);
    }
}

Test(framing, of_signs_of_koom_without_a_record_of_contents_has_an_overlay)
{
    for (unsigned how = 0; how < 3; how++) { /* no array with elements, one, one that comes out even in both ways */
        dump_maker    *m = begun();
        const uint64_t class_id = dump_maker_class(m, "a.A", 0, "");
        for (unsigned k = 0; k < 3; k++) {
            dump_maker_root(m, HDX_SUB_ROOT_VM_INTERNAL, 0x8880, 0, 0);
            (void)dump_maker_instance(m, class_id, NULL);
        }
        if (how == 1)
            plain_record(m);
        if (how == 2)
            either_record(m);
        const hdx_stripping what = seen_of(m, HDX_STRIP_WINDOW);
        cr_expect(what.policy == HDX_STRIP_KOOM && what.confidence == 80 &&
                      what.overlay == (how == 0 ? HDX_OVERLAY_KOOM : HDX_OVERLAY_NONE),
                  "%u: %d", how, (int)what.overlay);
        dump_maker_free(m);
    }
}

/* ---- heads ---- */

Test(heads, of_dumps_are_whole_and_state_ids_of_4_or_8_bytes)
{
    static const struct {
        unsigned at;
        uint8_t  value;
    } wrong[] = { { 0, 'K' }, { 16, ',' }, { 18, 'x' }, { 22, 5 }, { 22, 0 }, { 22, 16 }, { 21, 1 } };
    dump_maker *m = begun();
    size_t      len;
    cut_record(m, 5);
    const uint8_t *whole = dump_maker_bytes(m, &len);
    uint8_t        bytes[200];
    memcpy(bytes, whole, len);
    cr_expect(seen_in(bytes, len, 0).policy == HDX_STRIP_KOOM);
    for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const uint8_t was = bytes[wrong[k].at];
        bytes[wrong[k].at] = wrong[k].value;
        cr_expect(seen_in(bytes, len, 0).policy == HDX_STRIP_NONE, "case %u", k);
        cr_expect(seen_in(bytes, len, 0).bytes_read == 32);
        bytes[wrong[k].at] = was;
    }
    cr_expect(seen_in(bytes, 30, 0).bytes_read == 30 && seen_in(bytes, 30, 0).policy == HDX_STRIP_NONE);
    cr_expect(seen_in(bytes, 31, 0).bytes_read == 0 && seen_in(bytes, 31, 0).policy == HDX_STRIP_NONE);
    dump_maker_free(m);
}

Test(heads, of_tailors_container_are_its_mark)
{
    hdx_stripping what = seen_in("JAVA PROFILE 6.0.1", 18, 0);
    cr_expect(what.policy == HDX_STRIP_TAILOR && what.overlay == HDX_OVERLAY_TAILOR && what.confidence == 100 &&
              what.evidence_count == 1 && what.bytes_read == 18);
    cr_expect_str_eq(what.evidence[0], "the container mark \"JAVA PROFILE 6.0.1\"");
    cr_expect(seen_in("JAVA PROFILE 6.0.", 17, 0).policy == HDX_STRIP_NONE);
    cr_expect(seen_in("JAVA PROFILE 6.0.2", 18, 0).policy == HDX_STRIP_NONE);
}

/* ---- how much is read ---- */

/* Tables of 300 KB, holes that are hopped over: each takes one piece of reading; then what is asked for. */
static hdx_stripping behind_tables(unsigned count, bool cut, uint64_t window)
{
    const uint32_t len = 300000;
    hdx_stripping  what;
    hdx_error      err = { 0 };
    hdx_source    *source;
    test_folder_make_fast(folder, "detect");
    (void)snprintf(path, sizeof path, "%.*s/a.hprof", TEST_FOLDER, folder);
    dump_maker *m = begun();
    size_t      n;
    if (cut)
        cut_record(m, 5);
    else
        marks(m, 100);
    const uint8_t *bytes = dump_maker_bytes(m, &n);
    FILE          *f = fopen(path, "wb");
    cr_assert(f != NULL && fwrite(bytes, 1, 31, f) == 31);
    for (unsigned k = 0; k < count; k++) {
        const uint8_t head[9] = { HDX_TOP_ALLOC_SITES, 0,           0, 0, 0, 0, (uint8_t)(len >> 16),
                                  (uint8_t)(len >> 8), (uint8_t)len };
        cr_assert(fwrite(head, 1, 9, f) == 9 && fseek(f, len, SEEK_CUR) == 0);
    }
    cr_assert(fwrite(bytes + 31, 1, n - 31, f) == n - 31 && fclose(f) == 0);
    cr_assert(hdx_source_open(path, NULL, &source, &err) == HDX_OK);
    cr_assert(hdx_strip_recognise(source, NULL, window, &what, &err) == HDX_OK);
    hdx_source_close(source);
    test_folder_remove(folder);
    dump_maker_free(m);
    return what;
}

Test(reading, ends_at_sixty_mebibytes_unless_all_is_wanted)
{
    hdx_stripping what = behind_tables(239, false, HDX_STRIP_WINDOW);
    cr_expect(looked_at(&what) == 100, "%s", what.evidence[0]);
    what = behind_tables(240, false, HDX_STRIP_WINDOW);
    cr_expect(what.policy == HDX_STRIP_NONE && what.bytes_read == 60u << 20, "%llu", (ull)what.bytes_read);
    /* what does not come out even is looked at from the beginning again */
    cr_expect(behind_tables(119, true, HDX_STRIP_WINDOW).policy == HDX_STRIP_KOOM);
    cr_expect(behind_tables(121, true, HDX_STRIP_WINDOW).policy == HDX_STRIP_NONE);
    cr_expect(behind_tables(300, true, 0).policy == HDX_STRIP_KOOM);
}

Test(reading, a_second_time_is_worth_it_where_little_was_read)
{
    /* a window of ten arrays, in the piece behind the tables */
    hdx_stripping what = behind_tables(62, false, 1000);
    cr_expect(looked_at(&what) == 100, "%s", what.evidence[0]);
    cr_expect(what.bytes_read > 2 * 62 * (256u << 10), "%llu", (ull)what.bytes_read);
    what = behind_tables(64, false, 1000);
    cr_expect(looked_at(&what) == 10, "%s", what.evidence[0]);
}

/* ---- containers ---- */

static hdx_stripping seen_packed(const void *some, size_t len, uint8_t first[2])
{
    hdx_stripping what;
    hdx_source   *source;
    hdx_error     err = { 0 };
    size_t        got = 0;
    test_folder_make_fast(folder, "detect");
    (void)snprintf(path, sizeof path, "%.*s/a.gz", TEST_FOLDER, folder);
    gzFile f = gzopen(path, "wb");
    cr_assert(f != NULL && gzwrite(f, some, (unsigned)len) == (int)len && gzclose(f) == Z_OK);
    cr_assert(hdx_source_open(path, NULL, &source, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_strip_recognise(source, NULL, 0, &what, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_source_below(source, 0, first, 2, &got, &err) == HDX_OK && got == 2, "%s", err.message);
    hdx_source_close(source);
    test_folder_remove(folder);
    return what;
}

Test(containers, of_zlib_in_a_gzip_file_are_unpacked_twice)
{
    static const char mark[] = "JAVA PROFILE 6.0.1,";
    uint8_t           zlib[200], first[2];
    uLongf            len = sizeof zlib;
    cr_assert(compress2(zlib, &len, (const Bytef *)mark, 19, 1) == Z_OK && zlib[0] == 0x78);
    hdx_stripping what = seen_packed(zlib, len, first);
    cr_expect(what.policy == HDX_STRIP_TAILOR && what.overlay == HDX_OVERLAY_TAILOR && first[0] == 'J');
    cr_expect_str_eq(what.evidence[0], "the container mark \"JAVA PROFILE 6.0.1\"");
    zlib[1] ^= 1; /* its check bits */
    what = seen_packed(zlib, len, first);
    cr_expect(what.policy == HDX_STRIP_NONE && first[0] == 0x78 && first[1] == zlib[1]);
    zlib[0] = 0x58, zlib[1] = 0x85; /* right ones, of another window */
    what = seen_packed(zlib, len, first);
    cr_expect(what.policy == HDX_STRIP_NONE && first[0] == 0x58 && first[1] == 0x85);
    what = seen_packed("JAVA PROFILE 6.0.1", 18, first);
    cr_expect(what.policy == HDX_STRIP_TAILOR && first[0] == 'J');

    over      o; /* not in a plain file */
    hdx_error err = { 0 };
    over_open(&o, zlib, len, 64);
    cr_expect(hdx_strip_unpack(o.source, &err) == HDX_OK, "%s", err.message);
    over_close(&o);
    test_folder_make_fast(folder, "detect"); /* and one that is a file of its own says so */
    (void)snprintf(path, sizeof path, "%.*s/a.tailor", TEST_FOLDER, folder);
    len = sizeof zlib;
    cr_assert(compress2(zlib, &len, (const Bytef *)mark, 19, 1) == Z_OK);
    dump_maker_save_bytes(path, zlib, len);
    hdx_detected d;
    cr_expect(hdx_strip_detect(path, NULL, &d, &err) == HDX_OK && d.id_size == 4 && d.compression == HDX_ZLIB &&
              d.file_size == len);
    cr_expect_str_eq(d.format, "JAVA PROFILE 6.0.1");
    cr_expect_str_eq(d.what.evidence[0], "a zlib stream that begins with the container mark \"JAVA PROFILE 6.0.1\"");
    test_folder_remove(folder);
}

Test(containers, are_told_from_dumps_by_their_heads)
{
    hdx_detected d;
    hdx_error    err = { 0 };
    dump_maker  *m = dump_maker_new(8);
    test_folder_make_fast(folder, "detect");
    (void)snprintf(path, sizeof path, "%.*s/a.hprof", TEST_FOLDER, folder);
    dump_maker_save(m, path);
    const hdx_detect_options options = { .full = true };
    for (unsigned k = 0; k < 2; k++) {
        cr_expect(hdx_strip_detect(path, k == 1 ? &options : NULL, &d, &err) == HDX_OK && d.id_size == 8 &&
                  d.compression == HDX_PLAIN && d.what.policy == HDX_STRIP_NONE);
        cr_expect_str_eq(d.format, "JAVA PROFILE 1.0.2");
    }
    dump_maker_free(m);
    dump_maker_save_bytes(path, "no dump at all", 14);
    cr_expect(hdx_strip_detect(path, NULL, &d, &err) == HDX_BAD_DUMP);
    cr_expect(hdx_strip_detect("/nothing/at/all", NULL, &d, &err) != HDX_OK);
    test_folder_remove(folder);
}
