/*
 * test_sampled.c - samples of dumps with arrays in records of their own, of several dumps, of whole ones, open ones and
 * odd ones, plain and packed: all that is said of them, and their bytes read at any place. And surveys of dumps of
 * every shape with each byte changed in turn. sampled.txt has the checksums (support/checksums.h).
 *
 *     sample 8 segments behind             width of ids, words of the dump (make)
 *     sweep 8 packed                       the same of a dump of short segments, sampled to nearly any number of bytes
 *     kinds 0                              files that are no dumps
 *     damaged 4 whole two number=2         the same; how it is read: number=, threads=, in_order
 */
#include <criterion/criterion.h>

#include "base/base.h"
#include "hprof/sample.h"
#include "support/checksums.h"
#include "surveyed.h"

typedef unsigned long long ull;
static bool                has(const char *words, const char *word) { return strstr(words, word) != NULL; }

/* ---- dumps ---- */

static uint64_t refs[270000];

/* Nulls, and the one before again: how many of them depends on `i`. */
static void array_of(dump_maker *m, uint64_t class_id, uint32_t count, unsigned i)
{
    for (uint32_t k = 0; k < count; k++)
        refs[k] = k % (i + 2) == 0 ? 0 : 0x100000 + 16 * (uint64_t)(k / (i % 3 + 1));
    (void)dump_maker_array(m, class_id, refs, count);
}

/* Arrays around 1 MiB, each in a record; two of them; one with something behind it. */
static void large_arrays(dump_maker *m, uint64_t class_id)
{
    const uint32_t    i = m->id_size, least = ((1u << 20) - 9 - 2 * i) / i; /* elements of one just below */
    static const char types[] = "BCIJZ";
    for (unsigned n = 0; n < 4; n++) {
        dump_maker_segment(m);
        array_of(m, class_id, least + n, n);
    }
    for (unsigned n = 0; n < 3; n++) {
        dump_maker_segment(m);
        (void)dump_maker_primitives(m, 'B', NULL, (1u << 20) - 10 - i - 1 + n);
    }
    for (unsigned n = 0; n < 5; n++) {
        dump_maker_segment(m);
        (void)dump_maker_primitives(m, types[n], NULL, types[n] == 'J' ? 140000 : types[n] == 'I' ? 270000 : 1100000);
    }
    dump_maker_segment(m);
    array_of(m, class_id, 130900, 2);
    array_of(m, class_id, 130900, 3);
    dump_maker_segment(m);
    array_of(m, class_id, least + 9, 5);
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, class_id, 0, 0);
    dump_maker_segment(m);
}

static void nodes(dump_maker *m, uint64_t node, unsigned from, unsigned end, bool segments)
{
    for (unsigned i = from; i < end; i++) {
        (void)dump_maker_instance(m, node, NULL);
        (void)dump_maker_primitives(m, 'B', NULL, i % 50);
        if (segments && i % 90 == 89)
            dump_maker_segment(m);
        if (segments && i % 700 == 699)
            dump_maker_segment_empty(m);
    }
}

static dump_maker *make(unsigned id_size, const char *words, unsigned count)
{
    static const uint8_t zeros[40] = { 0 };
    dump_maker          *m = dump_maker_new(id_size);
    const bool           segments = has(words, "segments");
    m->whole = has(words, "whole");
    m->version = m->whole ? "1.0.1" : has(words, "android") ? "1.0.3" : "1.0.2";
    m->no_end = has(words, "open");
    m->tables_last = has(words, "behind");
    if (has(words, "android"))
        dump_maker_heap_info(m, 'A', "app");
    const uint64_t object = make_heap(m, 3), node = dump_maker_class(m, "app/Node2", object, "next:L count:I"),
                   array = dump_maker_class(m, "[Lapp/Big;", object, "");
    if (segments)
        dump_maker_segment(m);
    nodes(m, node, 0, count / 2, segments);
    if (has(words, "arrays"))
        large_arrays(m, array);
    if (has(words, "tables_between")) {
        dump_maker_segment(m);
        dump_maker_between_record(m, HDX_TOP_HEAP_SUMMARY, zeros, 24);
        dump_maker_segment(m);
    }
    if (has(words, "nothing_between"))
        dump_maker_between(m, zeros, 40);
    if (has(words, "unknown_between"))
        dump_maker_between_record(m, 0x77, zeros, 16);
    nodes(m, node, count / 2, count, segments);
    dump_maker_root(m, HDX_SUB_ROOT_UNKNOWN, node, 0, 0);
    if (has(words, "lies"))
        dump_maker_segment_says(m, 10);
    if (has(words, "two")) {
        dump_maker_end(m);
        nodes(m, node, 0, count, segments);
        if (has(words, "arrays"))
            large_arrays(m, array);
    }
    return m;
}

/* A gzip file of stored blocks: as long whatever packs it. */
static void store(gm_bytes *out, const uint8_t *bytes, size_t len, uint32_t wrong)
{
    static const uint8_t head[10] = { 0x1f, 0x8b, 8 };
    uint8_t              trailer[8];
    gm_put(out, head, sizeof head);
    for (size_t at = 0; at < len || at == 0; at += 60000) {
        const size_t n = len - at < 60000 ? len - at : 60000;
        gm_byte(out, at + n >= len);
        gm_byte(out, n & 255);
        gm_byte(out, (unsigned)n >> 8);
        gm_byte(out, ~n & 255);
        gm_byte(out, (~n >> 8) & 255);
        gm_put(out, bytes + at, n);
    }
    uint32_t crc = ~0u;
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (unsigned k = 0; k < 8; k++)
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
    hdx_put32(trailer, ~crc ^ wrong);
    hdx_put32(trailer + 4, (uint32_t)len);
    gm_put(out, trailer, sizeof trailer);
}

/* ---- samples ---- */

static void put_sample(hdx_buffer *b, hdx_source *source, uint32_t number, uint64_t bytes)
{
    hdx_mem        mem = { 0 };
    hdx_sample     s;
    hdx_error      err = { .offset = HDX_NOWHERE };
    const hdx_code code = hdx_sample_open(source, number, bytes, &mem, NULL, &s, &err);
    cr_expect(code == HDX_OK || err.code == code, "%s", err.message);
    hdx_buffer_format(b, "%u %llu: %s %s\n", number, (ull)bytes, hdx_code_name(code),
                      code != HDX_OK ? err.message : "");
    if (code != HDX_OK)
        return;
    const uint64_t all[] = { s.count,       s.size,   s.dump_size, s.heap_bytes, s.taken_bytes, s.stretches,
                             s.arrays,      s.tables, s.slots,     s.references, s.longest,     s.array_bytes,
                             s.prefix_size, s.whole,  s.all,       s.spread };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        hdx_buffer_format(b, " %llu", (ull)all[i]);
    for (uint64_t i = 0; i < s.count; i++)
        hdx_buffer_format(b, "\n%llu %llu %llu %d", (ull)s.pieces[i].at, (ull)s.pieces[i].len, (ull)s.pieces[i].from,
                          s.pieces[i].made);
    uint8_t    *whole = malloc(s.size + 1), part[400];
    struct stat st;
    cr_expect(s.io.stat(&s.io, "any", &st) == 0 && (uint64_t)st.st_size == s.size && S_ISREG(st.st_mode));
    cr_expect(s.io.open(&s.io, "any") == 0 && s.io.close(&s.io, 0) == 0);
    cr_assert(s.whole || s.io.read_at(&s.io, 0, whole, s.size + 1, 0) == (int64_t)s.size);
    for (uint64_t at = 0, seed = 5; !s.whole && at < s.size + 300; at += 1 + gm_random(&seed) % (s.size / 150 + 1)) {
        const uint64_t want = gm_random(&seed) % sizeof part, right = at >= s.size         ? 0
                                                                      : s.size - at < want ? s.size - at
                                                                                           : want;
        cr_expect(s.io.read_at(&s.io, 0, part, want, at) == (int64_t)right &&
                      (right == 0 || memcmp(part, whole + at, right) == 0),
                  "%llu bytes at %llu of %llu", (ull)want, (ull)at, (ull)s.size);
    }
    if (!s.whole)
        hdx_buffer_put(b, whole, s.size < 20000 ? s.size : 20000);
    free(whole);
    hdx_sample_close(&s);
    cr_expect(atomic_load(&mem.used) == 0);
}

static uint64_t sampled(hdx_buffer *b, unsigned id_size, const char *words)
{
    static const uint64_t sizes[] = { 100, 1000, 20000, 100000, 300000, 1000000, 3000000, 64u << 20 };
    dump_maker           *m = make(id_size, words, 3000);
    size_t                len;
    const uint8_t        *bytes = dump_maker_bytes(m, &len);
    gm_bytes              plain = { 0 }, packed = { 0 };
    hdx_source           *source;
    gm_put(&plain, bytes, has(words, "cut") ? len * 2 / 3 : has(words, "short") ? len - 3 : len);
    if (has(words, "unstated")) /* of the one HEAP_DUMP: where it begins the length is 0 */
        memset(plain.at + dump_maker_heap_at(m) + 5, 0, 4);
    if (has(words, "wrong_tag"))
        plain.at[dump_maker_heap_at(m)] = 0x66;
    if (has(words, "packed"))
        store(&packed, plain.at, plain.len, 0);
    gm_file door = gm_file_of(has(words, "packed") ? &packed : &plain);
    cr_assert(hdx_source_open_io(&door.io, "large.hprof", NULL, &source, NULL) == HDX_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint32_t number = 0; number < (has(words, "two") ? 4 : 2); number++)
            put_sample(b, source, number, sizes[i] + number);
    hdx_source_close(source);
    gm_free(&plain);
    gm_free(&packed);
    dump_maker_free(m);
    return b->len;
}

/* Segments of 9 to 1500 bytes; the first ones begin with classes and roots, some later ones too. */
static dump_maker *make_short(unsigned id_size)
{
    dump_maker    *m = dump_maker_new(id_size);
    const uint64_t object = make_heap(m, 3);
    for (unsigned i = 0; i < 220; i++) {
        dump_maker_segment(m);
        if (i < 4 || i % 50 == 33)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, object, 0, 0);
        for (unsigned k = 0; k < i % 13; k++)
            (void)dump_maker_instance(m, object, NULL);
        (void)dump_maker_primitives(m, 'B', NULL, i * 7 % 90);
        if (i % 29 == 11)
            (void)dump_maker_class(m, "app/Some", object, "a:I b:L c:J");
        if (i % 40 == 39)
            (void)dump_maker_primitives(m, 'J', NULL, 150);
    }
    return m;
}

static uint64_t swept(hdx_buffer *b, unsigned id_size, const char *words)
{
    dump_maker    *m = make_short(id_size);
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       file = { 0 };
    hdx_source    *source;
    if (has(words, "packed"))
        store(&file, bytes, len, 0);
    else
        gm_put(&file, bytes, len);
    gm_file door = gm_file_of(&file);
    cr_assert(hdx_source_open_io(&door.io, "short.hprof", NULL, &source, NULL) == HDX_OK);
    for (uint64_t n = 1; n < 4000; n++)
        for (unsigned k = 0; k < 2; k++) { /* any number, and those that are so many for each place */
            const uint64_t wanted = k == 0 ? n : n < 800 ? 64 * n : len - n + 800;
            hdx_mem        mem = { 0 };
            hdx_sample     s;
            hdx_error      err;
            const hdx_code code = hdx_sample_open(source, 1, wanted, &mem, NULL, &s, &err);
            cr_assert(code == HDX_OK, "%llu bytes: %s", (ull)wanted, err.message);
            hdx_buffer_format(b, "%llu: %llu %llu %llu %llu %llu %d %d %d\n", (ull)wanted, (ull)s.count, (ull)s.size,
                              (ull)s.heap_bytes, (ull)s.taken_bytes, (ull)s.stretches, s.whole, s.all, s.spread);
            for (uint64_t i = 0; i < s.count; i++)
                hdx_buffer_format(b, " %llu %llu", (ull)s.pieces[i].from, (ull)s.pieces[i].len);
            hdx_sample_close(&s);
            cr_assert(s.io.open == NULL && s.pieces == NULL && atomic_load(&mem.used) == 0);
        }
    hdx_source_close(source);
    gm_free(&file);
    dump_maker_free(m);
    return b->len;
}

/* ---- surveys ---- */

static void put_survey(hdx_buffer *b, const surveyed *s)
{
    const hdx_survey *v = &s->survey;
    hdx_buffer_format(b, "%d", (int)s->code);
    if (s->code != HDX_OK) {
        hdx_buffer_format(b, " %llu %s %s\n", (ull)s->err.offset, s->err.message, s->err.hint);
        return;
    }
    hdx_buffer_format(b, " %s %u %d %u %u %llu %llu %llu %llu %llu %llu %llu\n", v->head.version, v->head.id_size,
                      v->head.android, v->dumps_in_file, v->dump_number, (ull)v->objects, (ull)v->heap_time_us,
                      (ull)s->tops, (ull)s->top_sum, (ull)s->body_bytes, (ull)s->body_sum, (ull)v->damage_more);
    for (unsigned i = 0; i < 256; i++)
        if (v->top_records[i] > 0 || v->sub_records[i] > 0)
            hdx_buffer_format(b, "%u %llu %llu\n", i, (ull)v->top_records[i], (ull)v->sub_records[i]);
    for (uint64_t i = 0; i < v->damage_count; i++)
        hdx_buffer_format(b, "%s %llu %llu %llu %s %s\n", hdx_damage_name(v->damage[i].kind), (ull)v->damage[i].offset,
                          (ull)v->damage[i].kept_objects, (ull)v->damage[i].lost_bytes, v->damage[i].record,
                          v->damage[i].expected);
    for (uint32_t i = 0; i < v->warning_count; i++)
        hdx_buffer_format(b, "%s\n", v->warnings[i]);
    for (size_t i = 0; i < s->count; i++) {
        const hdx_event *e = &s->events[i];
        hdx_buffer_format(b, "%llu %llx %llx %u %u %u %u %u %d %02x %u\n", (ull)e->pos, (ull)e->addr,
                          (ull)e->class_addr, e->count, e->body_len, e->body_from, e->heap, e->serial, e->frame, e->tag,
                          e->type);
    }
}

static uint64_t surveys(hdx_buffer *b, unsigned id_size, const char *words)
{
    static const uint8_t masks[] = { 0x01, 0xff, 0x80, 0x20, 0x03 };
    dump_maker          *m = make(id_size, words, has(words, "many") ? 600 : 4);
    size_t               len;
    uint64_t             n = 0;
    const uint8_t       *whole = dump_maker_bytes(m, &len);
    how                  h = { .threads = 1, .sequential = has(words, "in_order") };
    if (has(words, "number="))
        h.dump_number = (uint32_t)strtoul(strstr(words, "number=") + 7, NULL, 10);
    if (has(words, "threads="))
        h.threads = (unsigned)strtoul(strstr(words, "threads=") + 8, NULL, 10);
    for (size_t at = 0; at <= len; at += has(words, "many") ? len / 200 + 1 : 1, n++) {
        gm_bytes harmed = { 0 };
        gm_put(&harmed, whole, has(words, "cut") ? at : len);
        if (!has(words, "cut") && at < len)
            harmed.at[at] ^= masks[n % sizeof masks];
        if (has(words, "packed")) { /* two members with wrong sums */
            gm_bytes packed = { 0 };
            store(&packed, harmed.at, harmed.len / 2, 1);
            store(&packed, harmed.at + harmed.len / 2, harmed.len - harmed.len / 2, 4);
            gm_free(&harmed);
            harmed = packed;
        }
        surveyed *s = survey_bytes(harmed.at, harmed.len, h);
        hdx_buffer_format(b, "%zu ", at);
        put_survey(b, s);
        surveyed_free(s);
        gm_free(&harmed);
    }
    dump_maker_free(m);
    return n;
}

/* ---- files that are no dumps ---- */

/* Beginnings of files of every kind that is told, cut at any byte, and with each byte changed. */
static uint64_t kinds(hdx_buffer *b)
{
    static const struct {
        const char *bytes;
        size_t      len;
    } files[] = {
#define FILE_OF(text) { text, sizeof(text) - 1 }
        FILE_OF("JAVA PROFILE 1.0.1\0\0\0\0\4\0\0\0\0\0\0\0\0"),
        FILE_OF("JAVA PROFILE 1.0.2\0\0\0\0\010\0\0\1\2\3\4\5\6"),
        FILE_OF("JAVA PROFILE 1.0\0\0\0\0\4"),
        FILE_OF("JAVA PROFILE 1.0.4 and longer\0\0"),
        FILE_OF("JAVA PROFILE 1.0.1, created Fri May  1 2026, which is a text dump of the old agent\n"),
        FILE_OF("\0\x12portable heap dump\0\0"),
        FILE_OF("PK\x03\x04\1\2"),
        FILE_OF("PK\x05\x06\1\2"),
        FILE_OF("\x28\xb5\x2f\xfd\1"),
        FILE_OF("\xfd"
                "7zXZ\1"),
        FILE_OF("BZh9\1"),
        FILE_OF("7z\xbc\xaf\x27\x1c\1"),
        FILE_OF("\x7f"
                "ELF\2\1"),
        FILE_OF("FLR\0\0\2"),
        FILE_OF("\x1f\x8b"),
        FILE_OF("\x1f\x8b\x09\0\0\0\0\0"),
        FILE_OF("text\n\r\t ~"),
        FILE_OF("\x20\x7e\x1f"),
        FILE_OF("\0\0\0\0\0\0\0\0"),
#undef FILE_OF
    };
    uint64_t n = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (size_t at = 0; at <= 2 * files[f].len; at++, n++) {
            const bool   cut = at <= files[f].len;
            const size_t len = cut ? at : files[f].len;
            uint8_t     *exact = malloc(len == 0 ? 1 : len); /* ASan sees a read after it */
            memcpy(exact, files[f].bytes, len);
            if (!cut)
                exact[at - files[f].len - 1] ^= 0x81;
            gm_bytes packed = { 0 };
            store(&packed, exact, len, 0);
            surveyed *s = survey_bytes(exact, len, (how){ .threads = 1 }),
                     *p = survey_bytes(packed.at, packed.len, (how){ .threads = 1 });
            hdx_buffer_format(b, "%zu %zu ", f, at);
            put_survey(b, s);
            put_survey(b, p);
            surveyed_free(s);
            surveyed_free(p);
            gm_free(&packed);
            free(exact);
        }
    return n;
}

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    char     what[16];
    unsigned id_size;
    int      at = 0;
    (void)context;
    cr_assert(sscanf(ask, "%15s %u%n", what, &id_size, &at) == 2, "%s", ask);
    if (strcmp(what, "kinds") == 0)
        return kinds(b);
    if (strcmp(what, "sweep") == 0)
        return swept(b, id_size, ask + at);
    return strcmp(what, "sample") == 0 ? sampled(b, id_size, ask + at) : surveys(b, id_size, ask + at);
}

Test(sampled, is_what_it_was) { checksums_check(HDX_TREE "/tests/hprof/sampled.txt", text_of, NULL); }
