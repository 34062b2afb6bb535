/*
 * test_records.c - instances and primitive arrays at many positions (records.c): what is one and what is none, where
 * the dump ends in it, how much of a body comes at once.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "support/faulty.h"
#include "surveyed.h"

#define AT_ONCE (256u << 10)

typedef struct reader {
    gm_file      door;
    hdx_source  *source;
    hdx_records *records;
    hdx_mem      mem;
} reader;

static void reader_open(reader *r, const gm_bytes *bytes, uint32_t id_size)
{
    memset(r, 0, sizeof *r);
    r->door = gm_file_of(bytes);
    cr_assert(hdx_source_open_io(&r->door.io, "a.hprof", NULL, &r->source, NULL) == HDX_OK);
    cr_assert(hdx_records_open(r->source, id_size, &r->mem, NULL, &r->records, NULL) == HDX_OK);
}

static void reader_close(reader *r)
{
    hdx_records_close(r->records);
    hdx_source_close(r->source);
    cr_expect(eq(u64, atomic_load(&r->mem.used), 0));
}

typedef struct found {
    hdx_event e;
    hdx_pos   body_at;
    uint64_t  body_len;
    bool      is;
    hdx_code  code;
} found;

static found find(reader *r, hdx_pos pos)
{
    found f = { .e = { .tag = 0xEE }, .body_at = 77, .body_len = 78, .is = true };
    f.code = hdx_records_at(r->records, pos, &f.e, &f.body_at, &f.body_len, &f.is, NULL);
    return f;
}

/* The same as one record at a time gives, in the order of the file and against it. */
Test(records, are_those_that_are_read_one_by_one)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        dump_maker *m = dump_maker_new(id_size);
        (void)make_heap(m, 5);
        for (const char *type = "ZCFDBSIJ"; *type != 0; type++)
            (void)dump_maker_primitives(m, *type, NULL, 9);
        size_t         len;
        const uint8_t *at = dump_maker_bytes(m, &len);
        gm_bytes       bytes = { (uint8_t *)(uintptr_t)at, len, len };
        surveyed      *s = survey_bytes(at, len, (how){ 0 });
        reader         r;
        unsigned       instances = 0, arrays = 0;
        reader_open(&r, &bytes, id_size);
        for (size_t k = 0; k < 2 * s->count; k++) {
            const hdx_event *want = &s->events[k < s->count ? k : 2 * s->count - 1 - k];
            const found      f = find(&r, want->pos);
            hdx_event        e;
            hdx_pos          body_at;
            uint64_t         body_len;
            cr_assert(eq(int, f.code, HDX_OK));
            if (want->tag != HDX_SUB_INSTANCE && want->tag != HDX_SUB_PRIMITIVE_ARRAY) {
                cr_expect(not(f.is), "tag %02x", want->tag);
                continue;
            }
            cr_assert(f.is, "tag %02x at %llu", want->tag, (unsigned long long)want->pos);
            cr_assert(hdx_hprof_record_at(r.source, id_size, want->pos, &e, &body_at, &body_len, NULL) == HDX_OK);
            cr_expect(events_differ(&f.e, &e) == false && f.e.frame == -1, "at %llu", (unsigned long long)want->pos);
            cr_expect(eq(u64, f.body_at, body_at));
            cr_expect(eq(u64, f.body_len, body_len));
            hdx_view body;
            cr_assert(hdx_records_body(r.records, body_at, body_len, &body, NULL) == HDX_OK);
            cr_assert(eq(sz, body.len, (size_t)body_len));
            cr_expect(memcmp(body.at, at + body_at, body.len) == 0);
            instances += want->tag == HDX_SUB_INSTANCE;
            arrays += want->tag == HDX_SUB_PRIMITIVE_ARRAY;
        }
        cr_expect(eq(u32, instances, 10));
        cr_expect(eq(u32, arrays, 20));
        reader_close(&r);
        surveyed_free(s);
        dump_maker_free(m);
    }
}

/* One record at the beginning of a file of nothing else, which ends where it is told. */
static found find_in(const uint8_t *at, size_t len, uint32_t id_size)
{
    uint8_t *exact = malloc(len == 0 ? 1 : len); /* ASan sees a read after it */
    memcpy(exact, at, len);
    const gm_bytes bytes = { exact, len, len };
    reader         r;
    reader_open(&r, &bytes, id_size);
    const found f = find(&r, 0);
    reader_close(&r);
    free(exact);
    return f;
}

Test(records, heads_are_read_where_all_of_them_is_there)
{
    static const uint8_t tags[] = { HDX_SUB_INSTANCE, HDX_SUB_PRIMITIVE_ARRAY, HDX_SUB_PRIMITIVE_ARRAY_NODATA };
    for (uint32_t id = 4; id <= 8; id += 4)
        for (size_t k = 0; k < sizeof tags; k++) {
            uint8_t      bytes[64] = { tags[k] };
            const size_t head = tags[k] == HDX_SUB_INSTANCE ? 9 + 2 * id : 10 + id;
            for (unsigned i = 1; i < sizeof bytes; i++)
                bytes[i] = (uint8_t)(i * 3);
            bytes[9 + id] = 6; /* float */
            for (size_t len = 1; len < head + 3; len++) {
                const found f = find_in(bytes, len, id);
                cr_assert(eq(int, f.code, HDX_OK));
                cr_assert(eq(int, f.is, len >= head), "tag %02x, ids of %u, %zu bytes", tags[k], id, len);
                if (len < head)
                    continue;
                cr_expect(eq(u64, f.body_at, head));
                cr_expect(eq(u64, f.e.addr, hdx_be_id(bytes + 1, id)));
                const uint32_t count = hdx_be32(bytes + head - (tags[k] == HDX_SUB_INSTANCE ? 4 : 5));
                cr_expect(eq(u32, f.e.count, count));
                cr_expect(eq(u64, f.body_len,
                             tags[k] == HDX_SUB_INSTANCE          ? count
                             : tags[k] == HDX_SUB_PRIMITIVE_ARRAY ? 4 * (uint64_t)count
                                                                  : 0));
                cr_expect(eq(u64, f.e.class_addr, tags[k] == HDX_SUB_INSTANCE ? hdx_be_id(bytes + 5 + id, id) : 0));
            }
        }
}

Test(records, arrays_have_one_of_eight_types)
{
    static const unsigned sizes[12] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    for (unsigned type = 0; type < 256; type++) {
        uint8_t bytes[40] = { HDX_SUB_PRIMITIVE_ARRAY };
        bytes[5 + 4 + 3] = 7; /* elements */
        bytes[9 + 4] = (uint8_t)type;
        const found f = find_in(bytes, sizeof bytes, 4);
        const bool  right = type < 12 && sizes[type] > 0;
        cr_expect(eq(int, f.code, HDX_OK));
        cr_expect(eq(int, f.is, right), "type %u", type);
        if (right)
            cr_expect(f.body_len == 7 * sizes[type] && f.e.type == type, "type %u", type);
    }
    for (unsigned tag = 0; tag < 256; tag++) {
        uint8_t bytes[40] = { (uint8_t)tag };
        bytes[9 + 4] = 8;
        cr_expect(eq(int, find_in(bytes, sizeof bytes, 4).is, tag == 0x21 || tag == 0x23 || tag == 0xC3), "tag %02x",
                  tag);
    }
}

Test(records, bodies_come_at_most_256_kb_at_once)
{
    gm_bytes bytes = { 0 };
    gm_data(&bytes, 3 * AT_ONCE + 500, 11);
    static const uint64_t wants[] = { 0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 1 << 30 };
    reader                r;
    reader_open(&r, &bytes, 8);
    for (uint64_t pos = 0; pos<bytes.len + 3; pos += pos> bytes.len - 5 ? 1 : bytes.len / 7)
        for (size_t k = 0; k < sizeof wants / sizeof *wants; k++) {
            const uint64_t left = pos < bytes.len ? bytes.len - pos : 0, most = wants[k] < AT_ONCE ? wants[k] : AT_ONCE,
                           right = left < most ? left : most;
            hdx_view body = { NULL, 99 };
            cr_assert(hdx_records_body(r.records, pos, wants[k], &body, NULL) == HDX_OK);
            cr_assert(eq(u64, body.len, right), "%llu bytes at %llu", (unsigned long long)wants[k],
                      (unsigned long long)pos);
            cr_expect(right == 0 || memcmp(body.at, bytes.at + pos, right) == 0);
        }
    reader_close(&r);
    gm_free(&bytes);
}

Test(records, what_fails_comes_back)
{
    dump_maker *m = dump_maker_new(8);
    (void)make_heap(m, 2);
    size_t         len;
    const uint8_t *at = dump_maker_bytes(m, &len);
    gm_bytes       bytes = { (uint8_t *)(uintptr_t)at, len, len };
    for (unsigned n = 1; n <= 2; n++) {
        gm_file      door = gm_file_of(&bytes);
        hdx_mem      mem = { 0 };
        hdx_source  *source;
        hdx_records *records = NULL;
        hdx_error    err;
        faulty_mem   refuse;
        cr_assert(hdx_source_open_io(&door.io, "a.hprof", NULL, &source, NULL) == HDX_OK);
        faulty_mem_init(&refuse, &mem, n);
        hdx_code code = hdx_records_open(source, 8, &mem, NULL, &records, &err);
        cr_expect(eq(int, code, n == 1 ? HDX_LIMIT : HDX_OK));
        if (code == HDX_OK) {
            hdx_event e;
            hdx_pos   body_at;
            uint64_t  body_len;
            bool      is = true;
            hdx_view  body = { NULL, 5 };
            cr_expect(eq(int, hdx_records_at(records, 0, &e, &body_at, &body_len, &is, &err), HDX_LIMIT));
            cr_expect(not(is));
            door.fail_from = 0;
            cr_expect(eq(int, hdx_records_at(records, 0, &e, &body_at, &body_len, &is, &err), HDX_IO));
            cr_expect(not(is));
            cr_expect(eq(int, hdx_records_body(records, 0, 5, &body, &err), HDX_IO));
            cr_expect(eq(sz, body.len, 0));
        }
        hdx_records_close(records); /* NULL where it was not opened */
        hdx_source_close(source);
        cr_expect(eq(u64, atomic_load(&mem.used), 0));
    }
    dump_maker_free(m);
}
