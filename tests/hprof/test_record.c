/*
 * test_record.c - one record at a position, class dumps taken apart, names of tags, and the writer.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "surveyed.h"

Test(record, every_object_is_found_again_and_nothing_else)
{
    for (uint32_t id_size = 4; id_size <= 8; id_size += 4) {
        dump_maker *m = dump_maker_new(id_size);
        (void)make_heap(m, 5);
        size_t         len;
        const uint8_t *bytes = dump_maker_bytes(m, &len);
        surveyed      *s = survey_bytes(bytes, len, (how){ 0 });
        gm_bytes       b = { (uint8_t *)(uintptr_t)bytes, len, len };
        gm_file        door = gm_file_of(&b);
        hdx_source    *source;
        cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
        for (size_t k = 0; k < s->count; k++) {
            hdx_event        e;
            hdx_pos          body;
            uint64_t         body_len;
            hdx_error        err;
            const hdx_event *want = &s->events[k];
            const hdx_code   code = hdx_hprof_record_at(source, id_size, want->pos, &e, &body, &body_len, &err);
            if (want->tag < HDX_SUB_CLASS) {
                cr_expect(eq(int, code, HDX_BAD_DUMP));
                cr_expect(strstr(err.message, "changed") != NULL);
                continue;
            }
            cr_assert(eq(int, code, HDX_OK), "%s", err.message);
            cr_expect(eq(u64, e.addr, want->addr));
            cr_expect(eq(u64, e.class_addr, want->class_addr));
            cr_expect(eq(u32, e.count, want->count));
            cr_expect(eq(u8, e.type, want->type));
            cr_expect(eq(u8, e.tag, want->tag));
            if (want->tag == HDX_SUB_INSTANCE)
                cr_expect(eq(u64, body_len, want->count));
            if (want->tag == HDX_SUB_CLASS) {
                cr_expect(eq(u64, body, want->pos));
                cr_expect(eq(u64, body_len, want->body_len));
            } else if (k + 1 < s->count)
                cr_expect(eq(u64, body + body_len, s->events[k + 1].pos));
        }
        hdx_event e;
        hdx_pos   body;
        uint64_t  body_len;
        for (hdx_pos pos = len - 40; pos < len + 100;
             pos++) /* at and after the end: refused or a record, never a crash */
            (void)hdx_hprof_record_at(source, id_size, pos, &e, &body, &body_len, NULL);
        cr_expect(eq(int, hdx_hprof_record_at(source, id_size, len + 5, &e, &body, &body_len, NULL), HDX_BAD_DUMP));
        hdx_source_close(source);
        surveyed_free(s);
        dump_maker_free(m);
    }
}

Test(record, a_big_class_dump_is_read_whole)
{
    hdx_buffer statics = hdx_buffer_of(NULL), fields = hdx_buffer_of(NULL), out = hdx_buffer_of(NULL);
    for (unsigned k = 0; k < 65535; k++) {
        hdx_write_u8(&statics, k + 1);
        hdx_write_u1(&statics, 11);
        hdx_write_u8(&statics, k * 3);
        hdx_write_u8(&fields, k + 1);
        hdx_write_u1(&fields, 2);
    }
    const hdx_class_dump dump = { .addr = 0x500,
                                  .super = 0x100,
                                  .instance_size = 7,
                                  .static_count = 65535,
                                  .field_count = 65535,
                                  .statics = { (const uint8_t *)statics.at, (size_t)statics.len },
                                  .fields = { (const uint8_t *)fields.at, (size_t)fields.len } };
    dump_maker          *m = dump_maker_new(8);
    (void)make_heap(m, 1);
    hdx_write_class(&out, 8, &dump);
    dump_maker_raw(m, out.at, (size_t)out.len);
    (void)dump_maker_primitives(m, 'I', NULL, 1);
    surveyed *a = survey_maker(m, (how){ .threads = 2 }), *b = survey_maker(m, (how){ .sequential = true });
    cr_expect(eq(u64, a->survey.damage_count, 0));
    cr_expect(eq(u64, a->survey.sub_records[HDX_SUB_CLASS], 5));
    cr_expect(surveys_differ(a, b) == NULL);
    cr_expect(eq(u64, a->walked, a->count));
    size_t         len;
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_bytes       file = { (uint8_t *)(uintptr_t)bytes, len, len };
    gm_file        door = gm_file_of(&file);
    hdx_source    *source;
    hdx_event      e;
    hdx_pos        body;
    uint64_t       body_len;
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
    cr_expect(eq(int, hdx_hprof_record_at(source, 8, a->events[a->count - 2].pos, &e, &body, &body_len, NULL), HDX_OK));
    cr_expect(eq(u64, e.addr, 0x500));
    cr_expect(eq(u64, body_len, out.len));
    hdx_source_close(source);
    surveyed_free(a);
    surveyed_free(b);
    dump_maker_free(m);
    hdx_buffer_free(&statics);
    hdx_buffer_free(&fields);
    hdx_buffer_free(&out);
}

Test(class_dump, is_cut_at_no_length_but_the_whole)
{
    hdx_buffer           b = hdx_buffer_of(NULL);
    const hdx_class_dump head = {
        .addr = 0xA, .super = 0xB, .loader = 0xC, .signers = 0xD, .domain = 0xE, .instance_size = 20, .static_count = 2
    };
    hdx_write_class_head(&b, 4, &head);
    hdx_write_u4(&b, 0x11);
    hdx_write_u1(&b, 2);
    hdx_write_u4(&b, 0xBEEF);
    hdx_write_u4(&b, 0x12);
    hdx_write_u1(&b, 5);
    hdx_write_u2(&b, 'x');
    hdx_write_u2(&b, 1);
    hdx_write_u4(&b, 0x13);
    hdx_write_u1(&b, 10);
    hdx_class_dump c;
    for (size_t len = 0; len < b.len; len++) {
        uint8_t *exact = malloc(len == 0 ? 1 : len);
        memcpy(exact, b.at, len);
        cr_expect(not(hdx_class_dump_cut((hdx_view){ exact, len }, 4, &c)), "%zu", len);
        free(exact);
    }
    cr_assert(hdx_class_dump_cut((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, 4, &c));
    cr_expect(eq(u64, c.size, b.len));
    cr_expect(eq(u64, c.addr, 0xA));
    cr_expect(eq(u64, c.domain, 0xE));
    cr_expect(eq(sz, c.statics.len, 9 + 7));
    cr_expect(eq(sz, c.fields.len, 5));
    cr_expect(c.super == 0xB && c.loader == 0xC && c.signers == 0xD && c.instance_size == 20 && c.field_count == 1);
    uint64_t name;
    uint8_t  type;
    hdx_view value;
    cr_assert(hdx_class_static_next(&c.statics, 4, &name, &type, &value));
    cr_expect(eq(u64, name, 0x11));
    cr_expect(eq(u32, hdx_be32(value.at), 0xBEEF));
    cr_assert(hdx_class_static_next(&c.statics, 4, &name, &type, &value));
    cr_expect(eq(u8, type, 5));
    cr_expect(eq(sz, value.len, 2));
    cr_expect(not(hdx_class_static_next(&c.statics, 4, &name, &type, &value)));
    cr_assert(hdx_class_field_next(&c.fields, 4, &name, &type));
    cr_expect(eq(u64, name, 0x13));
    cr_expect(not(hdx_class_field_next(&c.fields, 4, &name, &type)));
    hdx_buffer_free(&b);
}

Test(class_dump, constant_pools_are_stepped_over)
{
    hdx_buffer           b = hdx_buffer_of(NULL);
    const hdx_class_dump head = { .addr = 0xA };
    hdx_write_class_head(&b, 8, &head);
    b.len -= 4;
    hdx_buffer_put(&b,
                   "\0\2"
                   "\0\1\2"
                   "12345678"
                   "\0\2\x0a"
                   "1234"
                   "\0\0"
                   "\0\0",
                   24);
    hdx_class_dump c;
    cr_assert(hdx_class_dump_cut((hdx_view){ (const uint8_t *)b.at, (size_t)b.len }, 8, &c));
    cr_expect(eq(u64, c.size, b.len));
    hdx_buffer_free(&b);
}

/* The record at offset 31 of these bytes. */
static hdx_code record_in(const hdx_buffer *b, uint64_t len, uint32_t id_size, hdx_event *e, hdx_pos *body_at,
                          uint64_t *body_len)
{
    gm_bytes    bytes = { (uint8_t *)(uintptr_t)b->at, (size_t)len, (size_t)len };
    gm_file     door = gm_file_of(&bytes);
    hdx_source *source;
    hdx_error   err = { .message = "" };
    cr_assert(eq(int, hdx_source_open_io(&door.io, "a", NULL, &source, NULL), HDX_OK));
    const hdx_code code = hdx_hprof_record_at(source, id_size, 31, e, body_at, body_len, &err);
    hdx_source_close(source);
    if (code != HDX_OK)
        cr_expect(err.code == code && err.offset == 31 && strstr(err.message, "the dump changed") != NULL, "%s",
                  err.message);
    return code;
}

/* Every tag, type and count, with an address or none, whole or without the last byte of it. */
Test(record, what_it_says_must_be_possible_and_in_the_file)
{
    static const uint32_t counts[] = { 0, 1, 7, 100, 0x7fffffff, 0x80000000 };
    static const uint8_t  tags[] = { HDX_SUB_INSTANCE, HDX_SUB_OBJECT_ARRAY, HDX_SUB_PRIMITIVE_ARRAY,
                                     HDX_SUB_PRIMITIVE_ARRAY_NODATA },
                         zeros[800] = { 0 };
    for (uint32_t i = 4; i <= 8; i += 4)
        for (size_t t = 0; t < sizeof tags; t++)
            for (unsigned type = 0; type < (t < 2 ? 1 : 18); type++)
                for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                    for (unsigned addr = 0; addr < 2; addr++) {
                        const uint32_t width = t == 0                    ? 1
                                               : t == 1                  ? i
                                               : type < 4 || type > 11   ? 0
                                               : type == 4 || type == 8  ? 1
                                               : type == 5 || type == 9  ? 2
                                               : type == 6 || type == 10 ? 4
                                                                         : 8;
                        hdx_buffer     b = hdx_buffer_of(NULL);
                        hdx_write_head(&b, "1.0.2", i, 0);
                        if (t == 0) {
                            hdx_write_instance(&b, i, addr, 1, 0x77, "", 0);
                            b.len -= 4;
                            hdx_write_u4(&b, counts[c]);
                        } else if (t == 1)
                            hdx_write_object_array_head(&b, i, addr, 1, 0x77, counts[c]);
                        else
                            hdx_write_primitive_array_head(&b, i, tags[t], addr, 1, counts[c], (uint8_t)type);
                        const uint64_t head = b.len, body = t == 3 ? 0 : (uint64_t)counts[c] * width;
                        if (body <= sizeof zeros)
                            hdx_buffer_put(&b, zeros, body);
                        const bool possible = addr != 0 && width != 0 && (t == 0 || counts[c] <= INT32_MAX),
                                   there = body <= sizeof zeros;
                        hdx_event  e;
                        hdx_pos    at = 0;
                        uint64_t   len = 0;
                        const bool taken = record_in(&b, b.len, i, &e, &at, &len) == HDX_OK;
                        cr_expect(taken == (possible && there), "tag %02x, type %u, count %u", tags[t], type,
                                  counts[c]);
                        if (possible && there) {
                            cr_expect(at == head && len == body && e.pos == 31 && e.addr == addr && e.tag == tags[t] &&
                                      e.count == counts[c] && e.class_addr == (t < 2 ? 0x77 : 0) &&
                                      e.type == (t < 2 ? 0 : type) && e.frame == -1);
                            cr_expect(eq(int, record_in(&b, b.len - 1, i, &e, &at, &len), HDX_BAD_DUMP));
                        }
                        hdx_buffer_free(&b);
                    }
}

Test(record, what_is_no_object_is_none)
{
    for (unsigned tag = 0; tag < 256; tag++) {
        hdx_buffer b = hdx_buffer_of(NULL);
        hdx_event  e;
        hdx_pos    at;
        uint64_t   len;
        hdx_write_head(&b, "1.0.2", 8, 0);
        hdx_write_u1(&b, (uint8_t)tag);
        for (unsigned k = 0; k < 12; k++) /* an address, a type of 4 where one may stand */
            hdx_write_u8(&b, 0x0404040404040404);
        if (tag < HDX_SUB_CLASS || (tag > HDX_SUB_PRIMITIVE_ARRAY && tag != HDX_SUB_PRIMITIVE_ARRAY_NODATA))
            cr_expect(eq(int, record_in(&b, b.len, 8, &e, &at, &len), HDX_BAD_DUMP), "%02x", tag);
        cr_expect(eq(int, record_in(&b, 31, 8, &e, &at, &len), HDX_BAD_DUMP));
        hdx_buffer_free(&b);
    }
}

/* Class dumps whose sizes are about that of the reads, at the very end of a file or with more behind. */
Test(record, class_dumps_of_any_size)
{
    for (uint32_t fields = 440; fields < 1830; fields += fields == 460 ? 1340 : 1)
        for (unsigned last = 0; last < 3; last++) {
            hdx_buffer b = hdx_buffer_of(NULL), f = hdx_buffer_of(NULL);
            hdx_event  e;
            hdx_pos    at;
            uint64_t   len = 0;
            for (uint32_t k = 0; k < fields; k++) {
                hdx_write_u8(&f, k);
                hdx_write_u1(&f, k + 1 == fields && last == 1 ? 12 : 10);
            }
            const hdx_class_dump c = { .addr = last == 2 ? 0 : 0x900,
                                       .field_count = fields,
                                       .fields = { (const uint8_t *)f.at, (size_t)f.len } };
            hdx_write_head(&b, "1.0.2", 8, 0);
            hdx_write_class(&b, 8, &c);
            const uint64_t size = b.len - 31;
            for (unsigned more = 0; more < 2; more++) {
                for (unsigned k = 0; more > 0 && k < 20000; k += 8)
                    hdx_write_u8(&b, 0);
                cr_expect(eq(int, record_in(&b, b.len, 8, &e, &at, &len), last == 0 ? HDX_OK : HDX_BAD_DUMP), "%u",
                          fields);
                cr_expect(last > 0 || (e.addr == 0x900 && at == 31 && len == size));
            }
            cr_expect(eq(int, record_in(&b, 31 + size - 1, 8, &e, &at, &len), HDX_BAD_DUMP), "%u", fields);
            hdx_buffer_free(&b);
            hdx_buffer_free(&f);
        }
}

Test(names, of_tags)
{
    cr_expect(eq(str, (char *)hdx_top_name(0x1C), (char *)"HEAP_DUMP_SEGMENT"));
    cr_expect(eq(str, (char *)hdx_sub_name(0xC3), (char *)"PRIMITIVE_ARRAY_NODATA_DUMP"));
    cr_expect(hdx_top_name(0x21) == NULL);
    cr_expect(hdx_sub_name(0x00) == NULL);
    unsigned tops = 0, subs = 0;
    for (unsigned tag = 0; tag < 256; tag++) {
        tops += hdx_top_name((uint8_t)tag) != NULL;
        subs += hdx_sub_name((uint8_t)tag) != NULL;
    }
    cr_expect(eq(u32, tops, 16));
    cr_expect(eq(u32, subs, 22));
}
