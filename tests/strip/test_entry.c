/*
 * test_entry.c - the head of every kind of heap entry: what it says, from which byte on it is whole, and which types
 * and tags are none.
 */
#include "over.h"

typedef unsigned long long ull;

static void put_be(uint8_t *p, uint64_t v, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        p[k] = (uint8_t)(v >> 8 * (n - 1 - k));
}

/* A tag and so many bytes, the file ends after `len`; what is read is what can be read. */
static entry_state at(const uint8_t *bytes, size_t len, uint32_t ids, entry *e)
{
    over        o;
    entry_state state = (entry_state)99;
    hdx_error   err = { 0 };
    *e = (entry){ .tag = 99, .body = 99, .count = 99, .class_id = 99, .type = 99 };
    over_open(&o, bytes, len, 64);
    cr_assert(hdx_strip_entry_at(&o.r, ids, 0, e, &state, &err) == HDX_OK, "%s", err.message);
    cr_expect(e->pos == 0);
    over_close(&o);
    return state;
}

Test(entry, heads_are_whole_from_their_last_byte_on)
{
    static const struct {
        uint8_t  tag, head4, head8;
        unsigned type_at4, type_at8; /* of a primitive array */
    } kinds[] = {
        { HDX_SUB_ROOT_JNI_GLOBAL, 9, 17, 0, 0 },
        { HDX_SUB_ROOT_JNI_LOCAL, 13, 17, 0, 0 },
        { HDX_SUB_ROOT_JAVA_FRAME, 13, 17, 0, 0 },
        { HDX_SUB_ROOT_NATIVE_STACK, 9, 13, 0, 0 },
        { HDX_SUB_ROOT_STICKY_CLASS, 5, 9, 0, 0 },
        { HDX_SUB_ROOT_THREAD_BLOCK, 9, 13, 0, 0 },
        { HDX_SUB_ROOT_MONITOR_USED, 5, 9, 0, 0 },
        { HDX_SUB_ROOT_THREAD_OBJECT, 13, 17, 0, 0 },
        { HDX_SUB_ROOT_INTERNED_STRING, 5, 9, 0, 0 },
        { HDX_SUB_ROOT_VM_INTERNAL, 5, 9, 0, 0 },
        { HDX_SUB_ROOT_UNKNOWN, 5, 9, 0, 0 },
        { HDX_SUB_UNREACHABLE, 5, 9, 0, 0 },
        { HDX_SUB_HEAP_DUMP_INFO, 9, 13, 0, 0 },
        { HDX_SUB_INSTANCE, 17, 25, 0, 0 },
        { HDX_SUB_OBJECT_ARRAY, 17, 25, 0, 0 },
        { HDX_SUB_PRIMITIVE_ARRAY, 14, 18, 13, 17 },
        { HDX_SUB_PRIMITIVE_ARRAY_NODATA, 14, 18, 13, 17 },
    };
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (uint32_t ids = 4; ids <= 8; ids += 4) {
            const uint32_t head = ids == 4 ? kinds[k].head4 : kinds[k].head8;
            const unsigned type_at = ids == 4 ? kinds[k].type_at4 : kinds[k].type_at8;
            uint8_t        bytes[40];
            entry          e;
            for (unsigned b = 1; b < sizeof bytes; b++)
                bytes[b] = (uint8_t)(0x10 + b);
            bytes[0] = kinds[k].tag;
            if (type_at != 0)
                bytes[type_at] = 10;
            for (size_t len = 1; len < sizeof bytes; len++) {
                const entry_state state = at(bytes, len, ids, &e);
                cr_assert(state == (len < head ? ENTRY_SHORT : ENTRY_WHOLE), "%02x, ids of %u, %zu bytes: %d",
                          kinds[k].tag, ids, len, (int)state);
                cr_assert(e.head == head && e.tag == kinds[k].tag, "%02x: %llu", kinds[k].tag, (ull)e.head);
            }
        }
    over        o; /* behind the end */
    entry_state state = ENTRY_TAG;
    entry       e = { .body = 9, .count = 9, .class_id = 9, .type = 9 };
    over_open(&o, "a", 1, 64);
    cr_expect(hdx_strip_entry_at(&o.r, 4, 1, &e, &state, NULL) == HDX_OK);
    over_close(&o);
    cr_expect(state == ENTRY_SHORT && e.pos == 1 && e.body == 0 && e.count == 0 && e.class_id == 0 && e.type == 0);
}

Test(entry, counts_ids_and_bodies_are_read_from_their_places)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4) {
        uint8_t        bytes[40];
        entry          e;
        const uint64_t id = ids == 4 ? 0x11121314 : 0x1112131415161718;
        for (unsigned b = 1; b < sizeof bytes; b++)
            bytes[b] = (uint8_t)(0x10 + b);
        bytes[0] = HDX_SUB_INSTANCE; /* id, stack, class, length */
        put_be(bytes + 5 + ids, 0x31323334, ids);
        put_be(bytes + 5 + 2 * ids, 0x01000002, 4);
        cr_expect(at(bytes, 40, ids, &e) == ENTRY_WHOLE && e.id == id && e.class_id == 0x31323334 &&
                  e.count == 0x01000002 && e.body == 0x01000002 && e.type == 0);
        bytes[0] = HDX_SUB_OBJECT_ARRAY; /* id, stack, count, class */
        put_be(bytes + 5 + ids, 0x80000003, 4);
        put_be(bytes + 9 + ids, 0x41424344, ids);
        cr_expect(at(bytes, 40, ids, &e) == ENTRY_WHOLE && e.id == id && e.class_id == 0x41424344 &&
                  e.count == 0x80000003 && e.body == 0x80000003ull * ids && e.type == 0);
        bytes[0] = HDX_SUB_HEAP_DUMP_INFO; /* heap, name */
        put_be(bytes + 1, 'Z', 4);
        put_be(bytes + 5, 0x51525354, ids);
        cr_expect(at(bytes, 40, ids, &e) == ENTRY_WHOLE && e.id == 0x51525354 && e.count == 'Z' && e.body == 0 &&
                  e.class_id == 0);
        bytes[0] = HDX_SUB_ROOT_JAVA_FRAME;
        put_be(bytes + 1, 0x61626364, ids);
        cr_expect(at(bytes, 40, ids, &e) == ENTRY_WHOLE && e.id == 0x61626364 && e.count == 0 && e.body == 0);
    }
}

Test(entry, arrays_have_types_that_exist_and_a_body_unless_they_say_that_they_have_none)
{
    static const uint8_t widths[16] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };
    for (uint32_t ids = 4; ids <= 8; ids += 4)
        for (unsigned type = 0; type < 256; type++)
            for (unsigned nodata = 0; nodata < 2; nodata++) {
                uint8_t        bytes[24] = { nodata == 1 ? HDX_SUB_PRIMITIVE_ARRAY_NODATA : HDX_SUB_PRIMITIVE_ARRAY };
                const unsigned width = type < 16 ? widths[type] : 0;
                entry          e;
                put_be(bytes + 5 + ids, 0x80000003, 4);
                bytes[9 + ids] = (uint8_t)type;
                const entry_state state = at(bytes, 10 + ids, ids, &e);
                cr_assert(state == (width == 0 ? ENTRY_TYPE : ENTRY_WHOLE), "type %u: %d", type, (int)state);
                cr_assert(e.count == 0x80000003 && e.type == type);
                cr_assert(width == 0 || e.body == (nodata == 1 ? 0 : 0x80000003ull * width), "type %u", type);
                if (type == 99) /* of a type that is not there yet nothing is said */
                    cr_assert(at(bytes, 9 + ids, ids, &e) == ENTRY_SHORT);
            }
}

Test(entry, tags_that_no_entry_has_are_told)
{
    static const uint8_t known[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x20, 0x21, 0x22,
                                     0x23, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x90, 0xc3, 0xfe, 0xff };
    for (unsigned tag = 0; tag < 256; tag++) {
        uint8_t bytes[64] = { (uint8_t)tag };
        entry   e;
        bytes[13] = 8;
        cr_expect((at(bytes, 64, 4, &e) == ENTRY_TAG) == (memchr(known, (int)tag, sizeof known) == NULL), "%02x", tag);
    }
}

/* ---- classes ---- */

typedef struct shape {
    uint8_t bytes[2048];
    size_t  len;
    size_t  parts[96], part_count; /* what is asked for in one piece ends at these */
    size_t  pool, statics, fields;
} shape;

static void piece(shape *s, size_t n)
{
    s->len += n;
    s->parts[s->part_count++] = s->len;
}

/* Two constants, three statics, two fields, of these types. */
static void make_shape(shape *s, uint32_t ids, size_t pool_at)
{
    static const uint8_t pool[] = { 8, 11 }, statics[] = { 2, 10, 4 }, fields[] = { 11, 2 };
    memset(s, 0, sizeof *s);
    s->len = pool_at;
    put_be(s->bytes + s->len, 2, 2);
    piece(s, 2);
    s->pool = s->len;
    for (unsigned k = 0; k < 2; k++) {
        s->bytes[s->len + 2] = pool[k];
        piece(s, 3);
        s->len += hdx_type_size(pool[k], ids);
    }
    put_be(s->bytes + s->len, 3, 2);
    piece(s, 2);
    s->statics = s->len;
    for (unsigned k = 0; k < 3; k++) {
        s->bytes[s->len + ids] = statics[k];
        piece(s, ids + 1);
        s->len += hdx_type_size(statics[k], ids);
    }
    put_be(s->bytes + s->len, 2, 2);
    piece(s, 2);
    s->fields = s->len;
    for (unsigned k = 0; k < 2; k++) {
        s->bytes[s->len + ids] = fields[k];
        piece(s, ids + 1);
    }
}

Test(entry, a_class_cut_anywhere_says_how_many_bytes_come_next)
{
    for (uint32_t ids = 4; ids <= 8; ids += 4) {
        static shape s;
        make_shape(&s, ids, 23);
        for (size_t have = 0; have < s.len; have++) {
            class_shape out = { 0 };
            size_t      next = 0;
            while (s.parts[next] <= have)
                next++;
            cr_assert(hdx_strip_class_shape_of(s.bytes, have, ids, 23, &out) == ENTRY_SHORT, "%zu", have);
            cr_assert(out.size == s.parts[next], "%zu: %llu, not %zu", have, (ull)out.size, s.parts[next]);
        }
        class_shape out = { 0 };
        cr_assert(hdx_strip_class_shape_of(s.bytes, s.len, ids, 23, &out) == ENTRY_WHOLE);
        cr_expect(out.size == s.len && out.pool == s.pool && out.statics == s.statics && out.fields == s.fields);
        cr_expect(out.pool_count == 2 && out.static_count == 3 && out.field_count == 2);
        for (size_t part = 0; part < s.part_count; part++) { /* no type is 3, wherever it stands */
            const size_t  at = s.parts[part] - 1;
            const uint8_t was = s.bytes[at];
            if (s.parts[part] == s.pool || s.parts[part] == s.statics || s.parts[part] == s.fields)
                continue;
            s.bytes[at] = 3;
            cr_expect(hdx_strip_class_shape_of(s.bytes, s.len, ids, 23, &out) == ENTRY_TYPE, "at %zu", at);
            s.bytes[at] = was;
        }
    }
    /* a last constant whose value is cut: nothing is asked for after it but the next count */
    uint8_t     bytes[64] = { 0 };
    class_shape out = { 0 };
    cr_expect(hdx_strip_class_shape_of(bytes, 6, 4, 0, &out) == ENTRY_WHOLE && out.size == 6 && out.pool == 2 &&
              out.statics == 4 && out.fields == 6);
}

Test(entry, a_class_longer_than_what_is_read_at_first_is_read_on)
{
    static const unsigned statics[] = { 0, 1, 93, 94, 95, 120, 400, 3000 };
    for (unsigned k = 0; k < sizeof statics / sizeof *statics; k++)
        for (size_t chunk = 64; chunk <= 8192; chunk *= 8) {
            over        o;
            entry       e;
            entry_state state = ENTRY_TAG;
            hdx_error   err = { 0 };
            dump_maker *m = dump_maker_new(4);
            for (unsigned i = 0; i < statics[k]; i++)
                dump_maker_static(m, "s", 'Z', i);
            const uint64_t id = dump_maker_class_at(m, 0x7777, NULL, 0, "a:I b:J");
            const hdx_pos  pos = dump_maker_heap_at(m) + 9;
            size_t         len;
            (void)dump_maker_bytes(m, &len);
            const uint64_t size = len - 9 - pos;
            uint8_t       *bytes = malloc(len);
            memcpy(bytes, dump_maker_bytes(m, &len), len);
            over_dump(&o, m, chunk);
            cr_assert(hdx_strip_entry_at(&o.r, 4, pos, &e, &state, &err) == HDX_OK);
            cr_assert(state == ENTRY_WHOLE && e.head == size && e.id == id && e.body == 0 && e.count == 0,
                      "%u statics, by %zu: %d, %llu of %llu", statics[k], chunk, (int)state, (ull)e.head, (ull)size);
            cr_assert(memcmp(e.at, bytes + pos, size) == 0);
            over_close(&o);
            over_open(&o, bytes, (size_t)(pos + size - 1), chunk); /* the last byte is missing */
            cr_assert(hdx_strip_entry_at(&o.r, 4, pos, &e, &state, &err) == HDX_OK);
            cr_assert(state == ENTRY_SHORT && e.head == size && e.id == id, "%u statics, by %zu", statics[k], chunk);
            over_close(&o);
            free(bytes);
        }
}
