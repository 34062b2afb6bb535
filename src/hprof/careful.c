/*
 * careful.c - the survey on one thread, in file order, with every rule of damage (HPROF 9: R3 to R12, R16, R18).
 *
 * Reads any source. Where the grammar is violated, the question is always whether a top-level record could begin at
 * some position q; `plausible` decides it from the next record heads, without moving the window. Looking more than NEAR
 * bytes ahead costs a seek, and in a compressed dump some MiB of inflating. A file may cause FAR_LOOKS of them; later
 * ones fail, so that a crafted file cannot cost more than it has bytes. The limits are the same for all sources, and so
 * is the result.
 */
#include "hprof/inside.h"

#include <stdarg.h>
#include <stdio.h>

#define CHUNK        (256u << 10)
#define NEAR         (4u << 20)
#define FAR_LOOKS    256u
#define HOPS         16u
#define KINDS_END    0x40u
#define INFLATE_MOST 1032u /* deflate produces at most this many bytes from one */
#define EVERYTHING   (UINT64_MAX >> 1)

typedef struct careful {
    hdx_source               *source;
    const hdx_survey_options *options;
    const hdx_survey_sink    *sink;
    hdx_survey               *out;
    hdx_window                w;
    hdx_entry_scan            scan;
    hdx_event                 events[HDX_BATCH];
    uint64_t                  counts[256], ignored[256]; /* of the chosen dump, of others */
    hdx_pos                   size;                      /* of the uncompressed dump, if known */
    bool                      size_known;
    bool                      dump_open; /* segments without an end record so far */
    bool                      ended;     /* the last dump is complete */
    unsigned                  far_looks;
    bool                      chosen;   /* the current dump is wanted */
    hdx_pos                   run_from; /* beginning of the current stretch */
    uint32_t                  run_heap;
    hdx_error                *err;
} careful;

/* The current heap record. */
typedef struct heap_record {
    hdx_pos  at, body, end; /* end: EVERYTHING if its length is not trusted */
    uint32_t length;
    uint8_t  tag;
    bool     open;  /* its length is not trusted: it ends at the first plausible record */
    bool     asked; /* R9 was checked */
} heap_record;

/* ---- damage ---- */

static uint64_t kept(const careful *c)
{
    uint64_t n = c->counts[HDX_SUB_PRIMITIVE_ARRAY_NODATA];
    for (unsigned tag = HDX_SUB_CLASS; tag <= HDX_SUB_PRIMITIVE_ARRAY; tag++)
        n += c->counts[tag];
    return n;
}

static hdx_code damage(careful *c, hdx_damage_kind kind, hdx_pos at, const char *record, uint64_t lost,
                       const char *format, ...) __attribute__((format(printf, 6, 7)));
static hdx_code damage(careful *c, hdx_damage_kind kind, hdx_pos at, const char *record, uint64_t lost,
                       const char *format, ...)
{
    hdx_damage entry = { .kind = kind, .offset = at, .kept_objects = kept(c), .lost_bytes = lost };
    va_list    args;
    (void)snprintf(entry.record, sizeof entry.record, "%s", record);
    va_start(args, format);
    (void)vsnprintf(entry.expected, sizeof entry.expected, format, args);
    va_end(args);
    return hdx_survey_damage(c->out, &entry) ? HDX_OK : hdx_no_memory(c->err, "list of damage", sizeof entry);
}

static const char *sub_word(uint8_t tag, char word[8])
{
    const char *name = hdx_sub_name(tag);
    if (name != NULL)
        return name;
    (void)snprintf(word, 8, "0x%02x", tag);
    return word;
}

/* ---- looking ahead ---- */

/*
 * Copies up to n (<= 16) bytes at pos without losing those from `keep` on. *have is less than n at the end of the data,
 * or after too many far looks.
 */
static hdx_code look(careful *c, hdx_pos keep, hdx_pos pos, size_t n, uint8_t *to, size_t *have)
{
    hdx_window    *w = &c->w;
    const uint64_t ahead = pos - keep;
    *have = 0;
    if (pos < keep || ahead > NEAR) {
        if (c->far_looks == FAR_LOOKS)
            return HDX_OK;
        c->far_looks++;
    } else if (w->stream != NULL && keep >= w->from) {
        const uint8_t *at;
        size_t         all;
        hdx_code       code = hdx_window_at(w, keep, ahead + n, &at, &all, c->err);
        if (code != HDX_OK)
            return code;
        const size_t before = all < ahead ? all : ahead, rest = all - before;
        *have = rest < n ? rest : n;
        memcpy(to, at + before, *have);
        return HDX_OK;
    }
    if (hdx_window_holds(w, pos, n)) {
        memcpy(to, w->at + (pos - w->from), n);
        *have = n;
        return HDX_OK;
    }
    return hdx_source_read_at(c->source, pos, to, n, have, c->err);
}

/*
 * Returns in *yes whether a top-level record could begin at q, or the file ends there. `more` further heads must be
 * valid, too.
 */
static hdx_code plausible(careful *c, hdx_pos keep, hdx_pos q, unsigned more, bool *yes)
{
    const uint32_t i = c->out->head.id_size;
    uint8_t        bytes[16];
    size_t         have;
    hdx_code       code;
    *yes = false;
    for (;;) {
        /* The byte before q must exist; otherwise q is after the end. */
        const hdx_pos from = q > keep ? q - 1 : q;
        const size_t  before = (size_t)(q - from);
        if ((code = look(c, keep, from, before + HDX_TOP_HEAD, bytes, &have)) != HDX_OK)
            return code;
        if (have == before) { /* nothing at q, so the file ends there: no caller asks for a position after the end */
            *yes = true;
            return HDX_OK;
        }
        const uint8_t *head = bytes + before;
        if (have < before + HDX_TOP_HEAD || hdx_top_name(head[0]) == NULL ||
            !hdx_top_length_ok(head[0], hdx_be32(head + 5), i))
            return HDX_OK;
        const hdx_pos next = q + HDX_TOP_HEAD + hdx_be32(head + 5);
        if (more-- == 0) {
            if ((code = look(c, keep, next - 1, 1, bytes, &have)) == HDX_OK)
                *yes = have == 1;
            return code;
        }
        q = next;
    }
}

/* Returns whether the file contains all bytes before `end`. */
static hdx_code reaches(careful *c, hdx_pos keep, hdx_pos end, bool *yes)
{
    uint8_t byte;
    size_t  have;
    if (c->size_known) {
        *yes = end <= c->size;
        return HDX_OK;
    }
    const hdx_code code = look(c, keep, end - 1, 1, &byte, &have);
    *yes = have == 1;
    return code;
}

/*
 * Finds the size of the uncompressed dump; a compressed one of unknown size is read completely by a stream of its own.
 */
static hdx_code learn_size(careful *c)
{
    hdx_stream *stream = NULL;
    hdx_pos     end = c->w.from + c->w.len;
    size_t      got = CHUNK;
    hdx_code    code;
    if (c->size_known)
        return HDX_OK;
    if (c->w.ended) {
        c->size = c->w.data_end;
        c->size_known = true;
        return HDX_OK;
    }
    if (hdx_source_size(c->source, &c->size)) {
        c->size_known = true;
        return HDX_OK;
    }
    uint8_t *bytes = hdx_mem_get(c->options->mem, CHUNK);
    if (bytes == NULL)
        return hdx_no_memory(c->err, "read buffer", CHUNK);
    code = hdx_stream_open(c->source, end, &stream, c->err);
    while (code == HDX_OK && got == CHUNK) {
        code = hdx_stream_read(stream, bytes, CHUNK, &got, c->err);
        end += got;
        if (code == HDX_OK && hdx_tick(c->options->tick, 0))
            code = hdx_tick_stop(c->err);
    }
    hdx_stream_close(stream);
    hdx_mem_put(c->options->mem, bytes, CHUNK);
    c->size = end;
    c->size_known = code == HDX_OK;
    return code;
}

/* ---- events and stretches ---- */

static hdx_code flush(careful *c)
{
    const size_t n = c->scan.n;
    c->scan.n = 0;
    return n == 0 || !c->chosen ? HDX_OK : c->sink->heap(c->sink->context, 0, c->events, n, c->err);
}

/* Ends the current stretch at pos; the next one begins at `next`. */
static hdx_code cut_stretch(careful *c, hdx_pos pos, hdx_pos next)
{
    if (c->chosen && !hdx_survey_stretch(c->out, c->run_from, pos, c->run_heap))
        return hdx_no_memory(c->err, "list of stretches", (c->out->stretch_count + 1) * sizeof(hdx_stretch));
    c->run_from = next;
    c->run_heap = c->scan.heap;
    return HDX_OK;
}

static hdx_code drop_without_id(careful *c, hdx_pos pos, uint64_t size)
{
    hdx_code code = damage(c, HDX_DAMAGE_LAYOUT, pos, hdx_sub_name(c->scan.held.tag), size,
                           "an object has id 0, which is not a valid id");
    return code != HDX_OK ? code : cut_stretch(c, pos, pos + size);
}

/* Passes on the event that the scanner held back. */
static hdx_code take_held(careful *c, hdx_pos pos, uint64_t size)
{
    hdx_event     *e = &c->scan.held;
    const uint8_t *at;
    size_t         have;
    hdx_code       code;
    if (hdx_sub_is_object(e->tag) && e->addr == 0)
        return drop_without_id(c, pos, size);
    if (e->tag == HDX_SUB_CLASS) { /* short enough to be in memory completely */
        if ((code = hdx_window_at(&c->w, pos, size, &at, &have, c->err)) != HDX_OK)
            return code;
        if (have < size)
            return hdx_fail(c->err, HDX_IO, hdx_source_path(c->source), pos,
                            "the file was truncated while it was read");
        e->body = at;
    }
    if (e->tag == HDX_SUB_HEAP_DUMP_INFO)
        c->scan.heap = e->count;
    c->events[0] = *e;
    c->scan.n = 1;
    c->scan.counts[e->tag]++;
    return flush(c);
}

/* ---- heap records ---- */

/*
 * R9: a HEAP_DUMP over 4 GiB has its length modulo 2^32; then the number of remaining bytes is greater by a multiple of
 * it (9 more are allowed for an end record). Checked once per record, when it ends or breaks.
 */
static hdx_code wrapped(careful *c, heap_record *r, hdx_pos keep, bool *yes)
{
    const uint64_t wrap = 1ull << 32;
    bool           ok;
    hdx_code       code;
    *yes = false;
    if (r->tag != HDX_TOP_HEAP_DUMP || r->asked) /* an open record has no end */
        return HDX_OK;
    r->asked = true;
    uint64_t most = c->size;
    if (!c->size_known && !hdx_mul(hdx_source_file_size(c->source), INFLATE_MOST, &most))
        most = UINT64_MAX;
    if (most < r->end || most - r->end < wrap) /* such a file cannot be long enough */
        return HDX_OK;
    if ((code = plausible(c, keep, r->end, 2, &ok)) != HDX_OK || ok || (code = learn_size(c)) != HDX_OK)
        return code;
    const uint64_t rest = c->size - r->body;
    for (uint64_t less = 0; less <= HDX_TOP_HEAD; less += HDX_TOP_HEAD)
        if (rest - less > r->length && (rest - less - r->length) % wrap == 0) {
            r->end = r->body + rest - less;
            hdx_survey_warn(c->out,
                            "a HEAP_DUMP over 4 GiB has its length modulo 2^32; it is read to the end of the file");
            *yes = true;
            return HDX_OK;
        }
    return HDX_OK;
}

/* A sub-record of `size` bytes at pos is complete in the file but extends beyond the end of its record (R10, R11). */
static hdx_code crosses(careful *c, heap_record *r, hdx_pos *pos, uint64_t size, bool *done)
{
    bool          yes;
    const hdx_pos q = *pos;
    hdx_code      code = wrapped(c, r, q, &yes);
    if (code != HDX_OK || yes)
        return code;
    const char    *record = hdx_top_name(r->tag), *sub = hdx_sub_name(c->scan.held.tag);
    const uint64_t left = r->end - q;
    if ((code = plausible(c, q, q + size, 2, &yes)) != HDX_OK)
        return code;
    if (yes) {
        if ((code = damage(c, HDX_DAMAGE_LENGTH, q, record, 0,
                           "%s of %llu bytes extends past the end of its record (%llu left); it is read in full", sub,
                           (unsigned long long)size, (unsigned long long)left)) != HDX_OK ||
            (code = take_held(c, q, size)) != HDX_OK)
            return code;
        *pos = q + size;
        *done = true;
        return cut_stretch(c, *pos, *pos);
    }
    if ((code = plausible(c, q, r->end, 2, &yes)) != HDX_OK)
        return code;
    if (yes) {
        code = damage(c, HDX_DAMAGE_LENGTH, q, sub, left, "%s needs %llu bytes; %llu remain in its record", sub,
                      (unsigned long long)size, (unsigned long long)left);
        if (code == HDX_OK)
            code = cut_stretch(c, q, r->end);
        *pos = r->end;
        *done = true;
        return code;
    }
    r->open = true;
    r->end = EVERYTHING;
    return damage(c, HDX_DAMAGE_LENGTH, q, record, 0, "the record continues after the %u bytes that its length states",
                  r->length);
}

/* No sub-record can be read at *pos (R7, R10, R12); *pos moves to where reading continues. */
static hdx_code broken(careful *c, heap_record *r, hdx_pos *pos, hdx_scan_stop why, uint64_t wants, bool *done)
{
    const hdx_pos   q = *pos;
    bool            yes;
    uint8_t         tag = 0;
    size_t          have;
    char            word[8], text[96];
    hdx_damage_kind kind;
    hdx_code        code = wrapped(c, r, q, &yes);
    if (code != HDX_OK)
        return code;
    if ((code = look(c, q, q, 1, &tag, &have)) != HDX_OK)
        return code;
    *done = true;
    if ((code = cut_stretch(c, q, q)) != HDX_OK)
        return code;
    if (have == 0 && why == HDX_SCAN_BEYOND) { /* the data ends between two sub-records */
        if (!r->open)
            code = damage(c, HDX_DAMAGE_TRUNCATED, q, hdx_top_name(r->tag), 0,
                          "the record needs %llu more bytes, but the file ends", (unsigned long long)(r->end - q));
        return code;
    }
    if (r->open || q > r->body) {
        if ((code = plausible(c, q, q, 2, &yes)) != HDX_OK)
            return code;
        if (yes)
            return r->open ? HDX_OK
                           : damage(c, HDX_DAMAGE_LENGTH, q, hdx_top_name(r->tag), 0,
                                    "its length is %llu bytes too large: the next record begins here",
                                    (unsigned long long)(r->end - q));
    }
    switch (why) {
    case HDX_SCAN_TAG:
        kind = HDX_DAMAGE_UNKNOWN_TAG;
        (void)snprintf(text, sizeof text, "unknown sub-record tag 0x%02x", tag);
        break;
    case HDX_SCAN_TYPE:
        kind = HDX_DAMAGE_LAYOUT;
        (void)snprintf(text, sizeof text, "type %u; expected 2 or 4 to 11", c->scan.type);
        break;
    case HDX_SCAN_COUNT:
        kind = HDX_DAMAGE_COUNT;
        (void)snprintf(text, sizeof text, "%u elements; a Java array has at most 2147483647", c->scan.held.count);
        break;
    default:
        kind = HDX_DAMAGE_TRUNCATED;
        (void)snprintf(text, sizeof text, "needs %llu bytes; the file has fewer", (unsigned long long)wants);
        break;
    }
    if (!r->open) {
        if ((code = reaches(c, q, r->end, &yes)) != HDX_OK)
            return code;
        if (yes) {
            if (kind == HDX_DAMAGE_TRUNCATED) /* the file is complete here, so the number is wrong */
                kind = HDX_DAMAGE_COUNT;
            *pos = r->end;
            c->run_from = r->end;
            return damage(c, kind, q, sub_word(tag, word), r->end - q, "%s; skipped to the end of the record", text);
        }
    }
    if ((code = learn_size(c)) != HDX_OK)
        return code;
    *pos = c->run_from = c->size;
    return damage(c, kind, q, sub_word(tag, word), c->size - q, "%s", text);
}

/*
 * BEYOND in a stream may only mean that the bytes were not read yet. Reads them; *there: they exist. If a long
 * sub-record would extend beyond the end of its record, the count may be wrong, and the window must not move beyond the
 * record.
 */
static hdx_code reach(careful *c, const heap_record *r, hdx_pos pos, uint64_t size, bool *there)
{
    const uint8_t *at;
    uint8_t        last;
    size_t         have;
    hdx_code       code;
    *there = false;
    if (c->w.stream == NULL)
        return HDX_OK;
    if (size <= NEAR) {
        code = hdx_window_at(&c->w, pos, size, &at, &have, c->err);
        *there = have >= size;
    } else if (pos + size > r->end) {
        code = look(c, pos, pos + size - 1, 1, &last, &have);
        *there = have == 1;
    } else {
        code = hdx_window_at(&c->w, pos + size - 1, 1, &at, &have, c->err);
        *there = have >= 1;
    }
    return code;
}

/* Reads the sub-records of one HEAP_DUMP or HEAP_DUMP_SEGMENT; *next is where the next record begins. */
static hdx_code heap(careful *c, heap_record *r, hdx_pos *next)
{
    hdx_entry_scan *scan = &c->scan;
    hdx_pos         pos = r->body;
    uint64_t        want = 1;
    hdx_code        code;
    bool            done = false, yes;
    c->chosen = c->out->dumps_in_file == c->out->dump_number;
    scan->counts = c->chosen ? c->counts : c->ignored;
    scan->heap = 0;
    c->run_from = r->body;
    c->run_heap = 0;
    if (r->length == 0) {
        if ((code = plausible(c, r->at, r->body, 2, &yes)) != HDX_OK)
            return code;
        if (!yes) {
            if ((code = damage(c, HDX_DAMAGE_LENGTH, r->at, hdx_top_name(r->tag), 0,
                               "length 0, but sub-records follow")) != HDX_OK)
                return code;
            r->open = true;
            r->end = EVERYTHING;
        }
    }
    while (!done) {
        const uint8_t *at;
        size_t         have;
        hdx_scan_stop  stop;
        if (pos == r->end) {
            if ((code = flush(c)) != HDX_OK || (code = wrapped(c, r, pos, &yes)) != HDX_OK)
                return code;
            if (!yes)
                break;
        }
        if (!hdx_window_holds(&c->w, pos, want) &&
            (code = flush(c)) != HDX_OK) /* class dumps of the batch point into the window */
            return code;
        if ((code = hdx_window_at(&c->w, pos, want, &at, &have, c->err)) != HDX_OK)
            return code;
        scan->exist = c->size_known ? c->size : pos + have;
        if (have < want) {
            stop = HDX_SCAN_BEYOND;
            scan->size = want;
        } else
            stop = hdx_scan_run(scan, at, have, &pos, r->end);
        want = 1;
        if (stop != HDX_SCAN_WANT && stop != HDX_SCAN_END && (code = flush(c)) != HDX_OK)
            return code;
        const uint64_t size = scan->size;
        switch (stop) {
        case HDX_SCAN_END:
        case HDX_SCAN_FULL: break;
        case HDX_SCAN_WANT: want = scan->want; break;
        case HDX_SCAN_BEYOND:
            if (c->w.ended) { /* all of the data was read */
                code = broken(c, r, &pos, stop, size, &done);
                break;
            }
            if ((code = reach(c, r, pos, size, &yes)) != HDX_OK)
                return code;
            if (!yes)
                code = broken(c, r, &pos, stop, size, &done);
            else if (size <= NEAR)
                want = size; /* again, with all of it in memory */
            else if (pos + size > r->end)
                code = crosses(c, r, &pos, size, &done);
            else {
                code = take_held(c, pos, size);
                pos += size;
            }
            break;
        case HDX_SCAN_CROSSES: code = crosses(c, r, &pos, size, &done); break;
        case HDX_SCAN_NO_ID:
            code = drop_without_id(c, pos, size);
            pos += size;
            break;
        default: code = broken(c, r, &pos, stop, size, &done); break;
        }
        if (code != HDX_OK)
            return code;
        if (!done && pos - c->run_from >= HDX_STRETCH && (code = cut_stretch(c, pos, pos)) != HDX_OK)
            return code;
    }
    *next = pos;
    if ((code = flush(c)) != HDX_OK)
        return code;
    return cut_stretch(c, pos, pos);
}

/* ---- top level ---- */

/*
 * Reads everything from pos on; the size of a stream and the damage of the container are then known. *zero: all bytes
 * are zero.
 */
static hdx_code drain(careful *c, hdx_pos pos, bool *zero)
{
    hdx_code code = HDX_OK;
    if (c->w.stream == NULL && zero == NULL)
        return HDX_OK;
    for (;;) {
        const uint8_t *at;
        size_t         have;
        if ((code = hdx_window_at(&c->w, pos, 1, &at, &have, c->err)) != HDX_OK || have == 0)
            break;
        for (size_t k = 0; zero != NULL && *zero && k < have; k++)
            *zero = at[k] == 0;
        if (zero != NULL && !*zero && c->w.stream == NULL)
            break;
        pos += have;
    }
    if (code == HDX_OK && !c->size_known && c->w.ended) {
        c->size = c->w.data_end;
        c->size_known = true;
    }
    return code;
}

/*
 * Returns whether a newer JVM could use this tag for a new kind. HotSpot numbers its kinds from 0x01 to 0x2C, close
 * together.
 */
static bool is_new_kind(const careful *c, uint8_t tag) { return tag != 0 && tag < KINDS_END && !c->out->head.android; }

/*
 * Returns in *yes whether a record of a known kind follows at q, after at most HOPS records of new kinds with valid
 * lengths. Then a newer writer made them.
 */
static hdx_code known_follows(careful *c, hdx_pos keep, hdx_pos q, bool *yes)
{
    uint8_t  head[HDX_TOP_HEAD];
    size_t   have;
    hdx_code code;
    *yes = false;
    for (unsigned hops = 0; hops < HOPS; hops++) {
        if ((code = look(c, keep, q, sizeof head, head, &have)) != HDX_OK || have < sizeof head)
            return code;
        if (hdx_top_name(head[0]) != NULL)
            return plausible(c, keep, q, 0, yes);
        if (!is_new_kind(c, head[0]))
            return HDX_OK;
        q += HDX_TOP_HEAD + hdx_be32(head + 5);
    }
    return HDX_OK;
}

/* No known record at p (R5, R16). *next is unchanged if reading ends here. */
static hdx_code unknown(careful *c, hdx_pos p, const uint8_t head[HDX_TOP_HEAD], hdx_pos *next)
{
    char           word[8];
    bool           yes, zero = c->ended;
    const uint32_t n = hdx_be32(head + 5);
    const uint8_t  tag = head[0];
    uint8_t        two[2];
    size_t         have;
    hdx_code       code;
    for (unsigned k = 0; k < HDX_TOP_HEAD; k++)
        zero = zero && head[k] == 0;
    (void)snprintf(word, sizeof word, "0x%02x", tag);
    if ((code = plausible(c, p, p + HDX_TOP_HEAD + n, 0, &yes)) != HDX_OK)
        return code;
    if (yes && zero && (code = look(c, p, p + HDX_TOP_HEAD - 1, 2, two, &have)) == HDX_OK && have == 1)
        yes = false; /* nine zero bytes are a tail of zeros, not a record */
    bool sound = false;
    if (code == HDX_OK && is_new_kind(c, tag))
        code = known_follows(c, p, p + HDX_TOP_HEAD + n, &sound);
    if (code != HDX_OK)
        return code;
    if (sound) { /* counted, and reported by a notice (survey.c) */
        *next = p + HDX_TOP_HEAD + n;
        c->out->top_records[tag]++;
        return HDX_OK;
    }
    if (yes) {
        *next = p + HDX_TOP_HEAD + n;
        return damage(c, HDX_DAMAGE_UNKNOWN_TAG, p, word, HDX_TOP_HEAD + (uint64_t)n,
                      "unknown record tag 0x%02x; its %u bytes are skipped", tag, n);
    }
    if (zero) {
        if ((code = drain(c, p, &zero)) != HDX_OK)
            return code;
        if (zero) {
            hdx_survey_warn(c->out, "zero bytes follow the last record");
            return HDX_OK;
        }
    }
    if ((code = drain(c, c->w.from, NULL)) != HDX_OK || (code = learn_size(c)) != HDX_OK)
        return code;
    return damage(c, HDX_DAMAGE_GARBAGE, p, word, c->size - p,
                  "no record begins here (tag 0x%02x); the remaining bytes are not read", tag);
}

/* A record that is not part of a heap; *next is unchanged if reading ends here. */
static hdx_code table(careful *c, hdx_pos p, uint8_t tag, uint32_t n, hdx_pos *next)
{
    const uint32_t i = c->out->head.id_size;
    const uint64_t want = n < HDX_TOP_BODY_MAX ? n : HDX_TOP_BODY_MAX;
    const hdx_pos  end = p + HDX_TOP_HEAD + n;
    const char    *name = hdx_top_name(tag);
    const uint8_t *at;
    size_t         have;
    bool           there = true;
    hdx_top        record;
    hdx_code       code;
    if (hdx_top_delivered(tag)) {
        if ((code = hdx_window_at(&c->w, p, HDX_TOP_HEAD + want, &at, &have, c->err)) != HDX_OK)
            return code;
        there = have >= HDX_TOP_HEAD + want;
        if (there && want < n) {
            if ((code = reaches(c, p, end, &there)) != HDX_OK ||
                (code = hdx_window_at(&c->w, p, HDX_TOP_HEAD + want, &at, &have, c->err)) != HDX_OK)
                return code;
        }
    } else if (tag == HDX_TOP_FLAT_ARRAYS) {
        if ((code = hdx_flat_arrays_give(&c->w, p, n, i, c->sink, &there, c->err)) != HDX_OK)
            return code;
    } else if (n > 0) {
        if ((code = hdx_window_at(&c->w, end - 1, 1, &at, &have, c->err)) != HDX_OK)
            return code;
        there = have >= 1;
    }
    if (!there) {
        if ((code = drain(c, c->w.from, NULL)) != HDX_OK || (code = learn_size(c)) != HDX_OK)
            return code;
        return damage(c, HDX_DAMAGE_TRUNCATED, p, name, c->size - p, "the record needs %u bytes; %llu remain", n,
                      (unsigned long long)(c->size - p - HDX_TOP_HEAD));
    }
    *next = end;
    if (!hdx_top_length_ok(tag, n, i))
        return damage(c, HDX_DAMAGE_LENGTH, p, name, HDX_TOP_HEAD + (uint64_t)n,
                      "a length of %u bytes is impossible; the record is skipped", n);
    if (!hdx_top_delivered(tag))
        return HDX_OK;
    if (!hdx_top_cut(p, tag, n, (hdx_view){ at + HDX_TOP_HEAD, (size_t)want }, i, &record))
        return damage(c, HDX_DAMAGE_LENGTH, p, name, HDX_TOP_HEAD + (uint64_t)n,
                      "%u frames do not fill %u bytes; the record is skipped", record.count, n);
    return c->sink->top(c->sink->context, &record, c->err);
}

static hdx_code records(careful *c)
{
    hdx_survey *out = c->out;
    hdx_pos     p = out->head.size, next;
    hdx_code    code;
    for (;; p = next) {
        const uint8_t *at;
        size_t         have;
        next = p;
        if ((code = hdx_window_at(&c->w, p, HDX_TOP_HEAD, &at, &have, c->err)) != HDX_OK || have == 0)
            return code;
        if (have < HDX_TOP_HEAD) {
            bool zero = c->ended;
            for (size_t k = 0; k < have; k++)
                zero = zero && at[k] == 0;
            if (zero)
                hdx_survey_warn(out, "zero bytes follow the last record");
            return zero ? HDX_OK
                        : damage(c, HDX_DAMAGE_TRUNCATED, p, "RECORD", have,
                                 "a record header needs 9 bytes; %zu remain", have);
        }
        uint8_t head[HDX_TOP_HEAD];
        memcpy(head, at, sizeof head);
        const uint8_t  tag = head[0];
        const uint32_t n = hdx_be32(head + 5);
        if (hdx_top_name(tag) == NULL)
            code = unknown(c, p, head, &next);
        else {
            out->top_records[tag]++;
            if (tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT) {
                heap_record r = {
                    .at = p, .body = p + HDX_TOP_HEAD, .end = p + HDX_TOP_HEAD + n, .length = n, .tag = tag
                };
                if ((tag == HDX_TOP_HEAP_DUMP || !c->dump_open) && ++out->dumps_in_file == out->dump_number)
                    out->heap_time_us = hdx_be32(head + 1);
                c->dump_open = tag == HDX_TOP_HEAP_DUMP_SEGMENT;
                code = heap(c, &r, &next);
                c->ended = tag == HDX_TOP_HEAP_DUMP; /* 1.0.1 has no end record */
            } else {
                code = table(c, p, tag, n, &next);
                if (tag == HDX_TOP_HEAP_DUMP_END && next != p) {
                    c->dump_open = false;
                    c->ended = true;
                }
            }
        }
        if (code != HDX_OK || next == p)
            return code;
    }
}

/* R4: after segments without an end record. Not reported for a file that is known to be cut. */
static hdx_code missing_end(careful *c)
{
    const hdx_damage *entries;
    const size_t      n = hdx_source_damage(c->source, &entries);
    hdx_code          code;
    if (!c->dump_open || c->out->damage_more > 0)
        return HDX_OK;
    for (size_t k = 0; k < n; k++)
        if (entries[k].kind == HDX_DAMAGE_TRUNCATED || entries[k].kind == HDX_DAMAGE_GZIP)
            return HDX_OK;
    for (uint64_t k = 0; k < c->out->damage_count; k++)
        if (c->out->damage[k].kind == HDX_DAMAGE_TRUNCATED || c->out->damage[k].kind == HDX_DAMAGE_GARBAGE)
            return HDX_OK;
    if ((code = learn_size(c)) != HDX_OK)
        return code;
    return damage(c, HDX_DAMAGE_TRUNCATED, c->size, "HEAP_DUMP_END", 0, "the end record is missing");
}

hdx_code hdx_survey_careful(hdx_source *source, const hdx_survey_options *options, const hdx_survey_sink *sink,
                            hdx_survey *out, hdx_error *err)
{
    hdx_stream *stream = NULL;
    hdx_code    code = HDX_OK;
    careful    *c = hdx_mem_get(options->mem, sizeof *c);
    if (c == NULL)
        return hdx_no_memory(err, "survey", sizeof *c);
    c->source = source;
    c->options = options;
    c->sink = sink;
    c->out = out;
    c->err = err;
    if (hdx_source_compression(source) == HDX_PLAIN)
        c->size_known = hdx_source_size(source, &c->size);
    else
        code = hdx_stream_open(source, 0, &stream, err);
    c->w = hdx_window_of(source, stream, CHUNK, options->mem, options->tick);
    c->scan = (hdx_entry_scan){ .id_size = out->head.id_size, .events = c->events };
    if (code == HDX_OK)
        code = records(c);
    if (code == HDX_OK)
        code = drain(c, c->w.from, NULL);
    if (code == HDX_OK)
        code = missing_end(c);
    if (code == HDX_OK)
        hdx_survey_count(out, c->counts);
    hdx_window_free(&c->w);
    hdx_stream_close(stream);
    hdx_mem_put(options->mem, c, sizeof *c);
    return code;
}
