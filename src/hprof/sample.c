/*
 * sample.c - chooses the records of a sample, and returns its bytes.
 *
 * In:  the top-level record headers of a plain file (found as in swift.c), or of the first bytes of a compressed one.
 * Out: pieces: stretches of the dump, one after the other, with new heads for shortened heap records.
 * Every cut is between two sub-records, found by the scanner. An invalid record ends the search for headers, and the
 * rest of the file counts as heap. No rule of damage is applied: the sample is for forecasts.
 */
#include "hprof/sample.h"
#include "hprof/inside.h"

#include <errno.h>

#define PROBES      64u
#define TABLE_CHUNK (256u << 10)
#define HOP_CHUNK   512u
#define PREFIX_MAX  ((uint64_t)1 << 30)
#define AT_ONCE     ((uint64_t)1 << 20) /* bytes inflated between two checks for cancellation */
#define SINGLE_MIN  (1u << 20)          /* heap records from this size on are tested for a single array */
#define GLANCES     2048u               /* pieces read of all omitted arrays together, at least one of each, */
#define GLANCE      1024u               /* with this many elements */

typedef struct part {     /* in the order of the file */
    hdx_pos  from, end;   /* for a heap record with its head, for tables without */
    uint64_t take;        /* bytes of a heap record's body to use; the others are omitted */
    bool     heap, about; /* about: begins with a class or a root */
    uint8_t  tag;
} part;

typedef struct long_array { /* of references, and omitted */
    hdx_pos  at;            /* of its elements */
    uint64_t slots;
} long_array;

typedef struct sampler {
    hdx_sample *s;
    hdx_ticker *tick;
    uint32_t    id_size, dump_number, dumps;
    hdx_window  window;
    hdx_pos     end; /* of the bytes in memory */
    bool        cut; /* the dump continues after them */
    part       *parts;
    uint64_t    count, capacity;
    long_array *tables;
    uint64_t    table_capacity; /* number of arrays: s->tables */
    uint64_t    heap_bytes, heap_records;
    uint64_t    bytes;  /* wanted */
    uint64_t    beyond; /* of the array in which the bytes in memory end */
    bool        ended;  /* the chosen dump has ended */
} sampler;

/* ---- file access for readers of the sample ---- */

static const hdx_sample *of(const hdx_io *io) { return (const hdx_sample *)(const void *)io; }

static int open_sample(hdx_io *io, const char *path)
{
    (void)io;
    (void)path;
    return 0;
}

static int close_sample(hdx_io *io, int fd)
{
    (void)io;
    (void)fd;
    return 0;
}

static int stat_sample(hdx_io *io, const char *path, struct stat *out)
{
    (void)path;
    memset(out, 0, sizeof *out);
    out->st_mode = S_IFREG | 0400;
    out->st_size = (off_t)of(io)->size;
    return 0;
}

static const hdx_sample_piece *piece_at(const hdx_sample *s, hdx_pos at)
{
    return &s->pieces[hdx_upper_bound(HDX_KEYS(s->pieces, s->count, at), at) - 1]; /* the first begins at 0 */
}

static int64_t read_sample(hdx_io *io, int fd, void *to, uint64_t len, uint64_t offset)
{
    const hdx_sample *s = of(io);
    uint64_t          done = 0;
    (void)fd;
    if (offset >= s->size)
        return 0;
    if (len > s->size - offset)
        len = s->size - offset;
    for (const hdx_sample_piece *p = piece_at(s, offset); done < len; p++) {
        const uint64_t into = offset + done - p->at, n = p->len - into < len - done ? p->len - into : len - done;
        uint8_t       *out = (uint8_t *)to + done;
        size_t         got = 0;
        if (p->made)
            memcpy(out, p->bytes + into, (size_t)n);
        else if (s->prefix != NULL)
            memcpy(out, s->prefix + p->from + into, (size_t)n);
        else if (hdx_source_read_at(s->source, p->from + into, out, (size_t)n, &got, NULL) != HDX_OK)
            return -EIO;
        else if (got < n)
            return (int64_t)(done + got); /* it was truncated meanwhile */
        done += n;
    }
    return (int64_t)done;
}

/* ---- the search for record headers ---- */

static hdx_code look(sampler *k, hdx_pos pos, uint64_t want, const uint8_t **at, size_t *have, hdx_error *err)
{
    if (k->s->prefix == NULL)
        return hdx_window_at(&k->window, pos, want, at, have, err);
    const hdx_pos from = pos < k->end ? pos : k->end;
    *at = k->s->prefix + from; /* HDX_WINDOW_PAD zero bytes follow */
    *have = (size_t)(k->end - from);
    return HDX_OK;
}

static hdx_code add(sampler *k, part p, hdx_error *err)
{
    part *last = k->count > 0 ? &k->parts[k->count - 1] : NULL;
    if (last != NULL && !last->heap && !p.heap && last->end == p.from) {
        last->end = p.end;
        return HDX_OK;
    }
    if (!hdx_mem_room(k->s->mem, (void **)&k->parts, &k->capacity, k->count, sizeof p))
        return hdx_no_memory(err, "a sample of the dump", (k->count + 1) * sizeof p);
    k->parts[k->count++] = p;
    return HDX_OK;
}

/* Returns whether the heap record is a single array. */
static bool is_single_array(const sampler *k, const uint8_t *body, size_t have, uint64_t size, uint64_t *elements)
{
    const uint32_t i = k->id_size;
    *elements = 0;
    if (size < SINGLE_MIN || have < 10 + 2 * i)
        return false;
    const uint64_t count = hdx_be32(body + 5 + i);
    if (body[0] == HDX_SUB_OBJECT_ARRAY) {
        *elements = count;
        return 9 + 2 * i + count * i == size;
    }
    return body[0] == HDX_SUB_PRIMITIVE_ARRAY && 10 + i + count * hdx_element_size(body[9 + i], i) == size;
}

/* Omits an array. at: position of its first reference, if it has any. */
static hdx_code omit_array(sampler *k, hdx_pos at, uint64_t slots, uint64_t bytes, hdx_error *err)
{
    hdx_sample *s = k->s;
    s->arrays++;
    s->array_bytes += bytes;
    if (slots == 0)
        return HDX_OK;
    if (!hdx_mem_room(s->mem, (void **)&k->tables, &k->table_capacity, s->tables, sizeof *k->tables))
        return hdx_no_memory(err, "a sample of the dump", (s->tables + 1) * sizeof *k->tables);
    k->tables[s->tables++] = (long_array){ at, slots };
    s->slots += slots;
    return HDX_OK;
}

/* Adds a heap record of the chosen dump. */
static hdx_code add_heap(sampler *k, hdx_pos from, uint64_t n, uint8_t tag, hdx_error *err)
{
    const hdx_pos  body = from + HDX_TOP_HEAD, end = n < k->end - body ? body + n : k->end;
    const uint8_t *at;
    size_t         have;
    uint64_t       elements;
    hdx_code       code;
    if (end == body)
        return HDX_OK;
    if ((code = look(k, from, HDX_TOP_HEAD + 32, &at, &have, err)) != HDX_OK)
        return code;
    if (have <= HDX_TOP_HEAD)
        return HDX_OK;
    k->heap_records++;
    if (is_single_array(k, at + HDX_TOP_HEAD, have - HDX_TOP_HEAD, n, &elements))
        return omit_array(k, body + 9 + 2 * k->id_size, elements, n, err);
    const uint8_t first = at[HDX_TOP_HEAD];
    k->heap_bytes += end - body;
    return add(k, (part){ from, end, 0, true, first == HDX_SUB_CLASS || !hdx_sub_is_object(first), tag }, err);
}

static bool sound(const uint8_t *head, uint32_t id_size, uint64_t left)
{
    const uint64_t n = hdx_be32(head + 5);
    return hdx_top_name(head[0]) != NULL && hdx_top_length_ok(head[0], n, id_size) && n <= left;
}

/* A length of 0, and no record after it: the writer could not set the length afterwards (HPROF 2.2, R8). */
static hdx_code unstated(sampler *k, hdx_pos body, uint64_t *n, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code = look(k, body, HDX_TOP_HEAD, &at, &have, err);
    if (code == HDX_OK && have >= HDX_TOP_HEAD && !sound(at, k->id_size, k->end - body))
        *n = k->end - body;
    return code;
}

static hdx_code hop(sampler *k, hdx_pos from, hdx_error *err)
{
    hdx_code code = HDX_OK;
    bool     chosen = false, other = false;
    uint64_t rounds = 0;
    while (from < k->end && code == HDX_OK) {
        const uint8_t *at;
        size_t         have;
        if (rounds++ % 4096 == 0 && hdx_tick(k->tick, 0))
            return hdx_tick_stop(err);
        if ((code = look(k, from, HDX_TOP_HEAD, &at, &have, err)) != HDX_OK || have < HDX_TOP_HEAD)
            return code;
        const uint8_t tag = at[0];
        uint64_t      n = hdx_be32(at + 5);
        const hdx_pos body = from + HDX_TOP_HEAD;
        const bool    heap = tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT;
        if (!sound(at, k->id_size, heap ? UINT64_MAX : k->end - body)) {
            /* If it follows the chosen heap, that has a wrapped length or is damaged: it extends to the end. */
            part *last = k->count > 0 ? &k->parts[k->count - 1] : NULL;
            if (last != NULL && last->heap && last->end == from)
                last->end = k->end;
            if (chosen || k->ended)
                k->heap_bytes += k->end - from;
            return HDX_OK;
        }
        k->window.chunk = TABLE_CHUNK;
        if (heap) {
            if (tag == HDX_TOP_HEAP_DUMP || !(chosen || other)) {
                k->dumps++;
                chosen = k->dumps == k->dump_number;
                other = !chosen;
            }
            if (n == 0 && tag == HDX_TOP_HEAP_DUMP)
                code = unstated(k, body, &n, err);
            if (code == HDX_OK && chosen && !k->ended)
                code = add_heap(k, from, n, tag, err);
            k->window.chunk = n >= HOP_CHUNK ? HOP_CHUNK : TABLE_CHUNK;
        } else if (tag == HDX_TOP_HEAP_DUMP_END) {
            k->ended |= chosen;
            chosen = other = false;
        } else
            code = add(k, (part){ .from = from, .end = body + n }, err);
        if (n > k->end - body)
            break;
        if (tag == HDX_TOP_HEAP_DUMP) {
            k->ended |= chosen;
            other = chosen = false;
        }
        from = body + n;
    }
    return code;
}

/* ---- the first bytes of a compressed dump ---- */

static hdx_code inflate_to(sampler *k, hdx_stream *stream, uint64_t size, hdx_error *err)
{
    hdx_sample *s = k->s;
    uint8_t    *more = hdx_mem_resize(s->mem, s->prefix, s->prefix_capacity, size + HDX_WINDOW_PAD);
    hdx_code    code = HDX_OK;
    size_t      got = 1;
    if (more == NULL)
        return hdx_no_memory(err, "a sample of the dump", size);
    s->prefix = more;
    s->prefix_capacity = size + HDX_WINDOW_PAD;
    while (s->prefix_size < size && got > 0 && code == HDX_OK) {
        const uint64_t left = size - s->prefix_size, want = left < AT_ONCE ? left : AT_ONCE;
        if (hdx_tick(k->tick, 0))
            return hdx_tick_stop(err);
        code = hdx_stream_read(stream, s->prefix + s->prefix_size, (size_t)want, &got, err);
        s->prefix_size += got;
    }
    k->cut = got > 0;
    k->end = s->prefix_size;
    return code;
}

static void forget(sampler *k)
{
    k->count = 0;
    k->dumps = 0;
    k->heap_bytes = k->heap_records = 0;
    k->ended = false;
    k->s->arrays = k->s->tables = k->s->slots = k->s->array_bytes = 0;
}

static hdx_code hop_compressed(sampler *k, hdx_pos from, hdx_error *err)
{
    hdx_sample *s = k->s;
    hdx_stream *stream = NULL;
    hdx_code    code = hdx_stream_open(s->source, 0, &stream, err);
    if (code != HDX_OK)
        return code;
    for (uint64_t size = k->bytes; code == HDX_OK; size *= 2) {
        forget(k);
        if ((code = inflate_to(k, stream, size, err)) != HDX_OK || (!k->cut && size == k->bytes))
            break;
        code = hop(k, from, err);
        if (!k->cut || size >= PREFIX_MAX || k->heap_bytes + s->array_bytes >= k->bytes / 4)
            break;
    }
    s->dump_size = s->prefix_size;
    if (code == HDX_OK && k->cut) {
        const uint64_t consumed = hdx_stream_consumed(stream);
        const double   packed = (double)s->prefix_size / (double)(consumed > 0 ? consumed : 1);
        s->dump_size = (uint64_t)((double)hdx_source_file_size(s->source) * packed);
        s->dump_size = s->dump_size > s->prefix_size ? s->dump_size : s->prefix_size;
    }
    hdx_stream_close(stream);
    return code;
}

/* ---- the choice ---- */

/* Finds the last place between two sub-records that is not far after `want` bytes of the body. */
static hdx_code find_cut(sampler *k, part *p, uint64_t want, hdx_error *err)
{
    const hdx_pos  body = p->from + HDX_TOP_HEAD;
    hdx_event      events[HDX_BATCH];
    uint64_t       counts[256], need = 1;
    hdx_entry_scan scan = { .id_size = k->id_size, .events = events, .counts = counts, .exist = k->end };
    hdx_pos        pos = body, before = body;
    hdx_scan_stop  stop = HDX_SCAN_FULL;
    memset(counts, 0, sizeof counts);
    while (pos - body < want && (stop == HDX_SCAN_FULL || stop == HDX_SCAN_WANT)) {
        const uint8_t *at;
        size_t         have;
        hdx_code       code = look(k, pos, need, &at, &have, err);
        if (code != HDX_OK)
            return code;
        if (have < need)
            break;
        before = pos;
        scan.n = 0;
        stop = hdx_scan_run(&scan, at, have, &pos, p->end);
        need = stop == HDX_SCAN_WANT ? scan.want : 1;
    }
    if (stop == HDX_SCAN_BEYOND && k->cut && scan.held.tag != HDX_SUB_INSTANCE) { /* the head has its size */
        const bool     table = scan.held.tag == HDX_SUB_OBJECT_ARRAY;
        const hdx_code code = omit_array(k, pos + 9 + 2 * k->id_size, table ? scan.held.count : 0, scan.size, err);
        if (code != HDX_OK)
            return code;
        k->beyond = scan.size;
    }
    if (pos - body > 8 * want && before > body)
        pos = before; /* a large array: its bytes would count more than all others */
    p->take = pos - body;
    k->s->taken_bytes += p->take;
    return HDX_OK;
}

static uint64_t body_size(const part *p) { return p->end - p->from - HDX_TOP_HEAD; }

static hdx_code take(sampler *k, part *p, uint64_t want, hdx_error *err)
{
    const uint64_t size = body_size(p);
    if (p->take > 0)
        return HDX_OK;
    /* The record in which the file ends is shortened, too. */
    if (size <= want + want / 8 && p->end < k->end) {
        p->take = size;
        k->s->taken_bytes += size;
        return HDX_OK;
    }
    return find_cut(k, p, size < want + want / 8 ? size : want, err);
}

static hdx_code choose_all(sampler *k, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < k->count && code == HDX_OK; i++)
        if (k->parts[i].heap)
            code = take(k, &k->parts[i], UINT64_MAX / 2, err);
    return code;
}

static hdx_code choose_spread(sampler *k, hdx_error *err)
{
    const uint64_t step = k->heap_bytes / PROBES;
    uint64_t       probes[PROBES], count = 0, seen = 0, last = 0;
    bool           about = true;
    hdx_code       code = HDX_OK;
    for (uint64_t i = 0; i < k->count && code == HDX_OK; i++) {
        part *p = &k->parts[i];
        if (!p->heap)
            continue;
        const uint64_t size = body_size(p);
        about = about && p->about && size < k->bytes / 2;
        if (about)
            code = take(k, p, size, err);
        for (seen += size; count < PROBES && count * step + step / 2 < seen; count++)
            probes[count] = i; /* a record with several probes is taken once, but longer */
        last = i;
    }
    for (uint64_t j = 0; j < count && code == HDX_OK; j++) {
        uint64_t want = k->bytes / PROBES, next;
        for (next = j + 1; next < count && probes[next] == probes[j]; next++)
            want += k->bytes / PROBES;
        const uint64_t end = next < count ? probes[next] : k->count;
        for (uint64_t i = probes[j], got = 0; i < end && got < want && code == HDX_OK; i++)
            if (k->parts[i].heap) {
                const bool taken = k->parts[i].take > 0;
                code = take(k, &k->parts[i], want - got, err);
                got += taken ? 0 : k->parts[i].take;
            }
        j = next - 1;
    }
    if (code == HDX_OK && count > 0)
        code = take(k, &k->parts[last], k->bytes / PROBES, err);
    return code;
}

/* ---- the pieces ---- */

static bool put(hdx_sample *s, hdx_sample_piece p)
{
    hdx_sample_piece *last = s->count > 0 ? &s->pieces[s->count - 1] : NULL;
    if (last != NULL && !last->made && !p.made && last->from + last->len == p.from) {
        last->len += p.len;
        s->size += p.len;
        return true;
    }
    if (!hdx_mem_room(s->mem, (void **)&s->pieces, &s->capacity, s->count, sizeof p))
        return false;
    p.at = s->size;
    s->size += p.len;
    s->pieces[s->count++] = p;
    return true;
}

static bool put_head(hdx_sample *s, uint8_t tag, uint64_t size)
{
    hdx_sample_piece p = { .len = HDX_TOP_HEAD, .made = true, .bytes = { tag } };
    for (unsigned i = 0; i < 4; i++)
        p.bytes[5 + i] = (uint8_t)(size >> (24 - 8 * i));
    return put(s, p);
}

static hdx_code make_pieces(sampler *k, hdx_pos head, hdx_error *err)
{
    hdx_sample *s = k->s;
    bool        ok = put(s, (hdx_sample_piece){ .len = head });
    bool        segments = false;
    uint64_t    taken = 0;
    for (uint64_t i = 0; i < k->count && ok; i++) {
        const part *p = &k->parts[i];
        if (!p->heap) {
            ok = put(s, (hdx_sample_piece){ .from = p->from, .len = p->end - p->from });
            continue;
        }
        if (p->take == 0)
            continue;
        taken++;
        segments |= p->tag == HDX_TOP_HEAP_DUMP_SEGMENT;
        if (p->take < body_size(p) || p->end == k->end) /* its length may be greater than what exists */
            ok = put_head(s, p->tag, p->take) &&
                 put(s, (hdx_sample_piece){ .from = p->from + HDX_TOP_HEAD, .len = p->take });
        else
            ok = put(s, (hdx_sample_piece){ .from = p->from, .len = p->end - p->from });
    }
    if (ok && segments)
        ok = put_head(s, HDX_TOP_HEAP_DUMP_END, 0);
    s->spread = taken >= PROBES / 8 && !k->cut;
    return ok ? HDX_OK : hdx_no_memory(err, "a sample of the dump", 0);
}

/* ---- omitted arrays ---- */

/*
 * Samples the elements of an omitted array. If at least an eighth of the sampled bytes is in memory, others are assumed
 * to be alike; otherwise all elements are assumed to be in use.
 */
static hdx_code sample_array(sampler *k, const long_array *t, uint64_t step, hdx_error *err)
{
    const uint64_t count = t->slots / step + 1, most = t->slots / count < GLANCE ? t->slots / count : GLANCE;
    uint64_t       seen = 0, used = 0, changes = 0;
    hdx_addr       last = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t first = t->slots / count * i + (t->slots / count - most) / 2; /* in the middle of its share */
        const uint8_t *at;
        size_t         have;
        hdx_code       code = look(k, t->at + first * k->id_size, most * k->id_size, &at, &have, err);
        if (code != HDX_OK)
            return code;
        if (hdx_tick(k->tick, 0))
            return hdx_tick_stop(err);
        const uint64_t n = have / k->id_size < most ? have / k->id_size : most;
        for (uint64_t j = 0; j < n; j++) {
            const hdx_addr to = hdx_be_id(at + j * k->id_size, k->id_size);
            used += to != 0;
            changes += to != 0 && to != last;
            last = to != 0 ? to : last;
        }
        seen += n;
    }
    if (seen == 0 || seen < count * most / 8)
        seen = used = changes = 1;
    const double   each = (double)t->slots / (double)seen * (1 + 1.0 / 32);
    const uint64_t all = (uint64_t)((double)used * each), references = (uint64_t)((double)changes * each);
    const uint64_t held = all < t->slots ? all : t->slots;
    k->s->longest = held > k->s->longest ? held : k->s->longest;
    k->s->references += references < t->slots ? references : t->slots;
    return HDX_OK;
}

static hdx_code glance_all(sampler *k, hdx_error *err)
{
    hdx_code code = HDX_OK;
    k->window.chunk = (size_t)GLANCE * k->id_size;
    for (uint64_t i = 0; i < k->s->tables && code == HDX_OK; i++)
        code = sample_array(k, &k->tables[i], k->s->slots / GLANCES + GLANCE, err);
    return code;
}

static hdx_code choose(sampler *k, hdx_error *err)
{
    hdx_sample    *s = k->s;
    const bool     all = s->prefix != NULL || k->heap_bytes <= k->bytes;
    const uint64_t expected =
        k->cut ? s->dump_size - s->prefix_size : 0; /* bytes of the chosen dump after the prefix; 0: unknown */
    hdx_code code;
    k->window.chunk = TABLE_CHUNK;
    code = all ? choose_all(k, err) : choose_spread(k, err);
    if (code == HDX_OK)
        code = glance_all(k, err);
    s->heap_bytes = k->heap_bytes + (k->ended ? 0 : expected);
    s->heap_bytes = s->heap_bytes - s->taken_bytes > k->beyond ? s->heap_bytes - k->beyond : s->taken_bytes;
    s->stretches = k->heap_records;
    if (k->heap_bytes > 0 && s->heap_bytes > k->heap_bytes)
        s->stretches = (uint64_t)((double)k->heap_records * ((double)s->heap_bytes / (double)k->heap_bytes)) + 1;
    s->all = all && (!k->cut || k->ended);
    return code;
}

hdx_code hdx_sample_open(hdx_source *source, uint32_t dump_number, uint64_t bytes, hdx_mem *mem, hdx_ticker *tick,
                         hdx_sample *out, hdx_error *err)
{
    hdx_hprof_head head;
    sampler        k = { .s = out, .tick = tick, .bytes = bytes, .dump_number = dump_number == 0 ? 1 : dump_number };
    hdx_code       code;
    *out = (hdx_sample){ .io = *hdx_io_system(), .source = source, .mem = mem };
    out->io.open = open_sample;
    out->io.close = close_sample;
    out->io.stat = stat_sample;
    out->io.read_at = read_sample;
    out->io.pieces = NULL; /* the sample covers all pieces */
    if ((code = hdx_head_read(source, &head, err)) != HDX_OK)
        return code;
    k.id_size = head.id_size;
    k.window = hdx_window_of(source, NULL, TABLE_CHUNK, mem, NULL);
    if (hdx_source_compression(source) == HDX_PLAIN) {
        k.end = out->dump_size = hdx_source_file_size(source);
        code = k.end > bytes ? hop(&k, head.size, err) : HDX_OK;
    } else
        code = hop_compressed(&k, head.size, err);
    if (code == HDX_OK && out->dump_size > bytes) {
        if (k.dumps > 0 && k.dump_number > k.dumps)
            code = hdx_fail(err, HDX_NOT_FOUND, hdx_source_path(source), HDX_NOWHERE,
                            "no heap dump number %u: the file contains %u", k.dump_number, k.dumps);
        if (code == HDX_OK && (code = choose(&k, err)) == HDX_OK)
            code = make_pieces(&k, head.size, err);
    }
    if (code == HDX_OK && out->taken_bytes == 0) { /* a short dump, or one for the careful reader */
        out->arrays = out->tables = out->slots = out->references = out->longest = out->array_bytes = 0;
        out->whole = out->all = true;
        out->heap_bytes = out->taken_bytes = out->dump_size;
    }
    hdx_window_free(&k.window);
    hdx_mem_put(mem, k.parts, k.capacity * sizeof *k.parts);
    hdx_mem_put(mem, k.tables, k.table_capacity * sizeof *k.tables);
    if (code != HDX_OK)
        hdx_sample_close(out);
    return code;
}

void hdx_sample_close(hdx_sample *s)
{
    hdx_mem_put(s->mem, s->pieces, s->capacity * sizeof *s->pieces);
    hdx_mem_put(s->mem, s->prefix, s->prefix_capacity);
    *s = (hdx_sample){ 0 };
}
