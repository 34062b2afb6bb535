/*
 * scan.c - converts bytes to events: the only scanner of heap sub-records (HPROF 3).
 *
 * It only applies the grammar: at an invalid sub-record it stops and returns the reason; the reader applies the rules
 * of damage. The loop is compiled four times (ids of 4 and 8 bytes, with and without bodies) so that all head offsets
 * are constants. Heads are read before their length is compared: the window has HDX_WINDOW_PAD zero bytes after its
 * content.
 */
#include "hprof/inside.h"

/* Bytes of an element of a primitive array by its type; 0: no such type (HPROF 3). */
static const uint8_t widths[16] = { [4] = 1, [5] = 2, [6] = 4, [7] = 8, [8] = 1, [9] = 2, [10] = 4, [11] = 8 };

HDX_INLINE uint64_t id_at(const uint8_t *p, const uint32_t i) { return i == 4 ? hdx_be32(p) : hdx_be64(p); }

/* Reads the head of a root. False: no such tag. */
HDX_INLINE bool root_head(const uint8_t *p, const uint32_t i, hdx_event *e, uint64_t *size)
{
    e->addr = id_at(p + 1, i);
    switch (*p) {
    case HDX_SUB_ROOT_JNI_GLOBAL: e->class_addr = id_at(p + 1 + i, i); break;
    case HDX_SUB_ROOT_JNI_LOCAL:
    case HDX_SUB_ROOT_JAVA_FRAME:
    case HDX_SUB_ROOT_JNI_MONITOR:
    case HDX_SUB_ROOT_THREAD_OBJECT:
        e->serial = hdx_be32(p + 1 + i);
        e->frame = (int32_t)hdx_be32(p + 5 + i);
        break;
    case HDX_SUB_ROOT_NATIVE_STACK:
    case HDX_SUB_ROOT_THREAD_BLOCK: e->serial = hdx_be32(p + 1 + i); break;
    case HDX_SUB_HEAP_DUMP_INFO:
        e->count = hdx_be32(p + 1);
        e->addr = id_at(p + 5, i);
        *size = 5 + i;
        return true;
    default: break;
    }
    *size = 1 + hdx_sub_root_size(*p, i);
    return *size > 1;
}

/* Passes the next part of a long object array: elements held.body_from .. , whose bytes begin at *pos. */
static hdx_scan_stop next_part(hdx_entry_scan *s, const uint8_t *at, size_t have, hdx_pos *pos)
{
    while (s->parts > 0) {
        const uint64_t n = s->parts < HDX_PART_MAX ? s->parts : HDX_PART_MAX;
        if (s->n == HDX_BATCH)
            return HDX_SCAN_FULL;
        if (have < n * s->id_size)
            return s->want = n * s->id_size, HDX_SCAN_WANT;
        hdx_event *e = &s->events[s->n++];
        *e = s->held;
        e->body = at;
        e->body_len = (uint32_t)(n * s->id_size);
        s->held.body_from += (uint32_t)n;
        s->parts -= n;
        at += e->body_len;
        have -= e->body_len;
        *pos += e->body_len;
    }
    return HDX_SCAN_END;
}

/* Sizes of a sub-record: before its body, in total, and of the part of the body that a walk passes on. */
typedef struct extent {
    uint64_t head, size, body;
} extent;

/* A class, which is all head: HDX_SCAN_END, or why it is not complete. */
static hdx_scan_stop class_head(hdx_entry_scan *s, const uint8_t *p, size_t have, uint32_t i, hdx_event *e,
                                uint64_t *size)
{
    hdx_class_dump cut = { 0 };
    switch (hdx_class_dump_state((hdx_view){ p, have }, i, &cut, &s->type)) {
    case HDX_CLASS_SHORT: return s->want = cut.size, HDX_SCAN_WANT;
    case HDX_CLASS_BAD_TYPE: return HDX_SCAN_TYPE;
    case HDX_CLASS_WHOLE: break;
    }
    *size = cut.size;
    e->addr = cut.addr;
    e->body = p;
    e->body_len = (uint32_t)cut.size; /* at most 2.5 MiB: three u2 counts */
    return HDX_SCAN_END;
}

/*
 * Reads the head of the sub-record at p, of which `have` bytes are in memory: HDX_SCAN_END, or what is wrong with it.
 */
HDX_INLINE hdx_scan_stop any_head(hdx_entry_scan *s, const uint8_t *p, size_t have, const uint32_t i, const bool bodies,
                                  hdx_event *e, extent *x)
{
    if (*p == HDX_SUB_INSTANCE) {
        x->head = 9 + 2 * i;
        e->addr = id_at(p + 1, i);
        e->class_addr = id_at(p + 5 + i, i);
        e->count = hdx_be32(p + 5 + 2 * i);
        x->size = x->head + e->count;
        if (bodies)
            x->body = e->count < HDX_BODY_MAX ? e->count : HDX_BODY_MAX;
    } else if (*p == HDX_SUB_PRIMITIVE_ARRAY || *p == HDX_SUB_PRIMITIVE_ARRAY_NODATA) {
        x->head = 10 + i;
        e->addr = id_at(p + 1, i);
        e->count = hdx_be32(p + 5 + i);
        e->type = p[9 + i];
        const uint32_t width = widths[e->type & 15] & (e->type < 16 ? 15u : 0u);
        if (width == 0 && have >= x->head)
            return s->type = e->type, HDX_SCAN_TYPE;
        x->size = x->head + (*p == HDX_SUB_PRIMITIVE_ARRAY ? (uint64_t)e->count * width : 0);
    } else if (*p == HDX_SUB_OBJECT_ARRAY) {
        x->head = 9 + 2 * i;
        e->addr = id_at(p + 1, i);
        e->count = hdx_be32(p + 5 + i);
        e->class_addr = id_at(p + 9 + i, i);
        x->size = x->head + (uint64_t)e->count * i;
        if (bodies && e->count <= HDX_PART_MAX)
            x->body = (uint64_t)e->count * i;
    } else if (*p == HDX_SUB_CLASS) {
        uint64_t            size = 0;
        const hdx_scan_stop stop = class_head(s, p, have, i, e, &size);
        x->head = x->size = size;
        return stop;
    } else {
        if (!root_head(p, i, e, &x->size))
            return HDX_SCAN_TAG;
        x->head = x->size;
    }
    if (have < x->head)
        return s->want = x->head, HDX_SCAN_WANT;
    return HDX_SCAN_END;
}

/* Rare cases: it extends beyond the record or the file, has no address, or an impossible count. */
static hdx_scan_stop odd(hdx_entry_scan *s, const hdx_event *e, uint64_t size, hdx_pos end)
{
    s->size = size;
    s->held = *e;
    s->held.body = NULL;
    if (e->count > INT32_MAX && e->tag != HDX_SUB_HEAP_DUMP_INFO && e->tag != HDX_SUB_INSTANCE)
        return HDX_SCAN_COUNT;
    if (e->pos + size > s->exist)
        return HDX_SCAN_BEYOND;
    if (e->pos + size > end)
        return HDX_SCAN_CROSSES;
    return e->addr == 0 && hdx_sub_is_object(e->tag) ? HDX_SCAN_NO_ID : HDX_SCAN_END;
}

/* Starts an object array whose parts are passed one by one, from the next call on. */
static hdx_scan_stop begin_parts(hdx_entry_scan *s, const hdx_event *e)
{
    s->held = *e;
    s->parts = e->count;
    s->counts[e->tag]++;
    s->want = (uint64_t)HDX_PART_MAX * s->id_size;
    return HDX_SCAN_WANT;
}

HDX_INLINE hdx_scan_stop run(hdx_entry_scan *s, const uint8_t *at, size_t have, hdx_pos *at_pos, const hdx_pos end,
                             const uint32_t i, const bool bodies)
{
    const hdx_pos base = *at_pos;
    uint64_t      o = 0; /* offset of the sub-record from `at` */
    hdx_scan_stop stop = HDX_SCAN_END;
    size_t        n = s->n;

    while (base + o < end) {
        if (n == HDX_BATCH) {
            stop = HDX_SCAN_FULL;
            break;
        }
        if (o >= have) {
            s->want = 1;
            stop = HDX_SCAN_WANT;
            break;
        }
        const uint8_t *p = at + o;
        hdx_event     *e = &s->events[n];
        extent         x = { .body = 0 };
        *e = (hdx_event){ .pos = base + o, .frame = -1, .heap = s->heap, .tag = *p };
        if ((stop = any_head(s, p, have - (size_t)o, i, bodies, e, &x)) != HDX_SCAN_END)
            break;
        if (__builtin_expect(
                base + o + x.size > (end < s->exist ? end : s->exist) || e->addr == 0 || e->count > INT32_MAX, 0) &&
            (stop = odd(s, e, x.size, end)) != HDX_SCAN_END)
            break;
        if (bodies && *p != HDX_SUB_CLASS) {
            if (have - o < x.head + x.body) {
                s->want = x.head + x.body;
                stop = HDX_SCAN_WANT;
                break;
            }
            if (*p == HDX_SUB_INSTANCE || *p == HDX_SUB_OBJECT_ARRAY) {
                e->body = p + x.head;
                e->body_len = (uint32_t)x.body;
            }
            if (*p == HDX_SUB_OBJECT_ARRAY && e->count > HDX_PART_MAX) {
                s->n = n;
                *at_pos = base + o + x.head;
                return begin_parts(s, e);
            }
        }
        if (*p == HDX_SUB_HEAP_DUMP_INFO)
            s->heap = e->count;
        s->counts[*p]++;
        n++;
        o += x.size;
    }
    s->n = n;
    *at_pos = base + o;
    return stop;
}

hdx_scan_stop hdx_scan_run(hdx_entry_scan *s, const uint8_t *at, size_t have, hdx_pos *pos, hdx_pos end)
{
    if (s->parts > 0) {
        const hdx_pos before = *pos;
        hdx_scan_stop stop = next_part(s, at, have, pos);
        if (stop != HDX_SCAN_END)
            return stop;
        at += *pos - before;
        have -= (size_t)(*pos - before);
    }
    if (s->id_size == 4)
        return s->bodies ? run(s, at, have, pos, end, 4, true) : run(s, at, have, pos, end, 4, false);
    return s->bodies ? run(s, at, have, pos, end, 8, true) : run(s, at, have, pos, end, 8, false);
}
