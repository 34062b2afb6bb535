/*
 * decoder.c - reads a gzip file or zlib container and produces the bytes of the dump.
 *
 * In:  bytes of the file, from its start or from a seek point on.
 * Out: bytes of the dump; seek points, damage and checksums of slices for the source.
 * Cost: zlib's inflate, or ISA-L's if the result is certain to be the same (isal.c), plus one CRC-32 of the output.
 *       Memory is fixed for any file; the ratio is not limited, because real dumps reach 559 : 1 (GZIP 5.6).
 *
 *     BETWEEN ── header found ──> HEAD ──> BODY ──> TRAILER ──┐
 *        ^ ├── zeros ──> PADDING ──> END   (damage) └──> END  │
 *        │ └── inflated ahead (members.c) ──> READY ──────────┤
 *        └────────────────────────────────────────────────────┘
 *
 * After an error inside of deflate the data end, even if more members follow: the number of lost bytes is unknown, so
 * all later positions would be wrong, and records cut by the gap would be read as if they were complete.
 */
#include "source/inner.h"

#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>

#define TINY     (16u << 10) /* average bytes of members below which they are not inflated in advance */
#define IN_BYTES (sizeof((hdx_decoder *)0)->in - HDX_BEFORE)
/* After a block with fewer bytes, ISA-L is not used for SMALL_SKIP bytes: starting a block costs it 3 us. */
#define BLOCK_SMALL (8u << 10)
#define SMALL_SKIP  (128u << 10)
/*
 * Zlib must have reached a place inside a block itself before a point is possible there: more than the longest match.
 */
#define INSIDE_AHEAD 1024u
#define STORED_MAX   65536u /* a stored block ends within this many bytes; a point waits for its end */

hdx_decoder *hdx_decoder_new(hdx_source *source, const _Atomic bool *stop)
{
    hdx_decoder *d = hdx_mem_get(source->mem, sizeof *d);
    if (d == NULL)
        return NULL;
    d->source = source;
    d->stop = stop;
    if (inflateInit2(&d->z, -15) != Z_OK) {
        hdx_mem_put(source->mem, d, sizeof *d);
        return NULL;
    }
    d->z_open = true;
    d->z.next_in = d->in + HDX_BEFORE;
    d->isal = hdx_isal_new(source);
    return d;
}

void hdx_decoder_free(hdx_decoder *d)
{
    if (d == NULL)
        return;
    hdx_gz_members_free(d->members);
    hdx_isal_free(d->isal, d->source);
    if (d->z_open)
        (void)inflateEnd(&d->z);
    hdx_mem_put(d->source->mem, d, sizeof *d);
}

/* ---- input ---- */

/* Reads more bytes of the file, or reaches its end. */
static hdx_code refill(hdx_decoder *d, hdx_error *err)
{
    size_t   got;
    hdx_code code;
    if (d->z.avail_in > 0 || d->at_end_of_file)
        return HDX_OK;
    if (d->stop != NULL && *d->stop)
        return hdx_fail(err, HDX_CANCELLED, d->source->path, d->in_end, "reading was abandoned");
    memmove(d->in, d->z.next_in - HDX_BEFORE, HDX_BEFORE);
    d->z.next_in = d->in + HDX_BEFORE;
    /*
     * Pieces end at the same bytes wherever reading began, because the places where zlib pauses influence the points
     * inside of blocks (P5).
     */
    if ((code = hdx_source_file_read(d->source, d->in_end, d->in + HDX_BEFORE, IN_BYTES - d->in_end % IN_BYTES, &got,
                                     err)) != HDX_OK)
        return code;
    d->z.avail_in = (uInt)got;
    d->in_end += got;
    d->at_end_of_file = got == 0;
    return HDX_OK;
}

static void from_byte(hdx_decoder *d, uint64_t at)
{
    d->z.avail_in = 0;
    d->in_end = at;
    d->at_end_of_file = false;
}

static void take(hdx_decoder *d, size_t n)
{
    d->z.next_in += n;
    d->z.avail_in -= (uInt)n;
}

/* Collects `want` bytes in d->few; false until all are there. */
static bool gather(hdx_decoder *d, unsigned want)
{
    while (d->few_have < want && d->z.avail_in > 0) {
        d->few[d->few_have++] = *d->z.next_in;
        take(d, 1);
    }
    return d->few_have == want;
}

/* ---- sums, points, damage ---- */

/* Adds the newest bytes to both running sums. */
static void settle(hdx_decoder *d)
{
    if (d->source->kind == HDX_GZIP)
        d->check = (uint32_t)crc32_combine(d->check, d->run, (z_off_t)d->run_len);
    d->slice_crc = (uint32_t)crc32_combine(d->slice_crc, d->run, (z_off_t)d->run_len);
    d->run = 0;
    d->run_len = 0;
}

static void sum(hdx_decoder *d, const uint8_t *bytes, size_t n)
{
    if (d->source->kind == HDX_ZLIB)
        d->check = (uint32_t)adler32(d->check, bytes, (uInt)n); /* a piece has at most a slice and one byte */
    d->run = hdx_crc32(d->run, bytes, n);
    d->run_len += n;
    d->out += n;
}

/* At a point, or the end: records or compares the sum of the slice before it. */
static hdx_code pass(hdx_decoder *d, hdx_error *err)
{
    settle(d);
    hdx_passed passed = hdx_points_passed(&d->source->points, d->slice_from, d->out, d->slice_crc);
    if (passed == HDX_PASSED_CHANGED)
        return hdx_source_changed(d->source, d->slice_from, err);
    if (passed == HDX_PASSED_POINT) {
        d->slice_from = d->out;
        d->slice_crc = 0;
    }
    return HDX_OK;
}

/* Offers a seek point at the newest byte; `bytes` ends there, and `have` of them are in memory. */
static hdx_code mark(hdx_decoder *d, hdx_point_kind kind, uint64_t bit, const uint8_t *end, size_t have, hdx_error *err)
{
    bool      added;
    uint64_t  len = d->out - d->member_out;
    hdx_point point = { .out = d->out,
                        .bit = bit,
                        .member = d->member,
                        .member_at = d->member_at,
                        .member_out = d->member_out,
                        .damage = d->damage,
                        .kind = (uint8_t)kind };
    if (kind == HDX_POINT_INSIDE)
        point.header_bit = d->header_bit;
    len = len < HDX_WINDOW ? len : HDX_WINDOW;
    if (len > have)
        return HDX_OK; /* a point cannot be so far after the last one, and needs its window */
    settle(d);
    point.check = d->check;
    point.window_len = (uint32_t)len;
    hdx_code code = hdx_points_add(&d->source->points, &point, end - len, &added, err);
    return code == HDX_OK && added ? pass(d, err) : code;
}

/* The data end here, at the end of the file or because of damage. */
static hdx_code finish(hdx_decoder *d, hdx_error *err)
{
    d->step = HDX_DECODE_END;
    if (!hdx_points_end(&d->source->points, d->out))
        return hdx_source_changed(d->source, d->out, err);
    return pass(d, err);
}

static __attribute__((format(printf, 6, 7))) void note(hdx_decoder *d, hdx_damage_kind kind, uint64_t offset,
                                                       uint64_t lost, bool last, const char *format, ...)
{
    hdx_damage entry = { .kind = kind, .offset = offset, .lost_bytes = lost };
    va_list    args;
    if (d->source->points
            .loaded) /* it was recorded when the points were made; new damage shows in the sum of the slice */
        return;
    (void)snprintf(entry.record, sizeof entry.record, "%s",
                   d->source->kind == HDX_GZIP ? "gzip member" : "zlib stream");
    va_start(args, format);
    (void)vsnprintf(entry.expected, sizeof entry.expected, format, args);
    va_end(args);
    hdx_damage_note(&d->source->damage, d->damage++, last, &entry);
}

/* Damage from byte `at` of the file on, after which nothing can be read. */
static hdx_code truncated(hdx_decoder *d, const char *what, uint64_t lost, hdx_error *err)
{
    note(d, HDX_DAMAGE_TRUNCATED, d->out, lost, true,
         "%s (member %llu, from byte %llu of the file), found the end of the file at byte %llu", what,
         (unsigned long long)d->member, (unsigned long long)d->member_at, (unsigned long long)hdx_decoder_consumed(d));
    return finish(d, err);
}

static hdx_code garbage(hdx_decoder *d, uint64_t at, hdx_error *err)
{
    uint8_t  bytes[8];
    char     text[3 * sizeof bytes + 1] = "";
    size_t   got;
    hdx_code code = hdx_source_file_read(d->source, at, bytes, sizeof bytes, &got, err);
    if (code != HDX_OK)
        return code;
    for (size_t i = 0; i < got; i++)
        (void)snprintf(text + 3 * i, 4, " %02x", bytes[i]);
    note(d, HDX_DAMAGE_GARBAGE, d->out, d->source->file_size > at ? d->source->file_size - at : 0, true,
         "expected %s at byte %llu of the file, found%s",
         d->source->kind == HDX_GZIP ? "a gzip member or the end" : "the end", (unsigned long long)at, text);
    return finish(d, err);
}

/* ---- steps ---- */

/*
 * A member begins at this byte of the file. A point at its start needs no window, so it is taken early: for files of a
 * JDK points are exactly the members.
 */
static hdx_code begin_member(hdx_decoder *d, uint64_t at, hdx_error *err)
{
    hdx_pos next, last;
    d->member_at = at;
    d->member_out = d->out;
    if (d->member == 0)
        return HDX_OK;
    uint64_t spacing = hdx_points_around(&d->source->points, d->out, &next, &last);
    settle(d);
    d->check = 0;
    return next == HDX_NOWHERE && d->out >= last + spacing / 3 ? mark(d, HDX_POINT_MEMBER, at * 8, d->in, 0, err)
                                                               : HDX_OK;
}

/*
 * Between two members: checks whether the next one was inflated in advance. Only if this decoder is the first at this
 * place, and if no point would be taken inside of the member, so that points do not depend on it (P5). Tiny members are
 * not worth it.
 */
static bool is_ready(hdx_decoder *d)
{
    const uint64_t max = d->source->max_uncompressed;
    hdx_pos        next, last;
    uint64_t       at = hdx_decoder_consumed(d), spacing;
    if (d->helpers == 0 || d->member == 0 || d->out / d->member < TINY)
        return false;
    spacing = hdx_points_around(&d->source->points, d->out, &next, &last);
    if (next != HDX_NOWHERE || at >= d->source->file_size)
        return false;
    if (d->members == NULL && (d->members = hdx_gz_members_new(d->source, d->helpers, at + 1)) == NULL)
        d->helpers = 0;
    if (d->members == NULL || !hdx_gz_members_take(d->members, at, &d->ready))
        return false;
    const hdx_pos end = d->out + d->ready.len;
    return (d->out >= last + spacing / 3 || end < last + spacing) && (max == 0 || end <= max);
}

static hdx_code begin_ready(hdx_decoder *d, hdx_error *err)
{
    d->ready_at = 0;
    d->step = HDX_DECODE_READY;
    return begin_member(d, hdx_decoder_consumed(d), err);
}

static void ready(hdx_decoder *d, uint8_t *to, size_t room, size_t *got)
{
    size_t n = d->ready.len - d->ready_at;
    if (n > room - *got)
        n = room - *got;
    if (n > 0)
        memcpy(to + *got, d->ready.at + d->ready_at, n);
    *got += n;
    d->out += n;
    d->ready_at += n;
    if (d->ready_at < d->ready.len)
        return;
    d->slice_crc = (uint32_t)crc32_combine(d->slice_crc, d->ready.crc, (z_off_t)d->ready.len);
    d->bit = d->ready.end * 8;
    from_byte(d, d->ready.end);
    d->member++;
    d->step = HDX_DECODE_BETWEEN;
}

/* Before a member: its header, zeros, or the end of the file. */
static hdx_code between(hdx_decoder *d, hdx_error *err)
{
    if (d->z.avail_in == 0)
        return finish(d, err);
    uint64_t at = hdx_decoder_consumed(d);
    if (d->member > 0 && *d->z.next_in == 0) {
        d->step = HDX_DECODE_PADDING;
        return HDX_OK;
    }
    if (d->member > 0 && d->source->kind == HDX_ZLIB)
        return garbage(d, at, err);
    hdx_code code = begin_member(d, at, err);
    hdx_head_begin(&d->head);
    d->few_have = 0;
    d->step = HDX_DECODE_HEAD;
    return code;
}

/*
 * Zeros after the last member are padding of tapes and block devices (gzip ignores them silently); other bytes after
 * them are damage.
 */
static hdx_code padding(hdx_decoder *d, hdx_error *err)
{
    if (d->z.avail_in == 0)
        return finish(d, err);
    const uint8_t *p = d->z.next_in;
    size_t         n = 0;
    while (n < d->z.avail_in && p[n] == 0)
        n++;
    take(d, n);
    return d->z.avail_in > 0 ? garbage(d, hdx_decoder_consumed(d), err) : HDX_OK;
}

static hdx_code begin_body(hdx_decoder *d, hdx_error *err)
{
    d->step = HDX_DECODE_BODY;
    d->bit = d->header_bit = hdx_decoder_consumed(d) * 8;
    d->odd = 0;
    d->at_block = true;
    d->by_isal = d->z_behind = false;
    return inflateReset(&d->z) == Z_OK ? HDX_OK : hdx_no_memory(err, "inflating", sizeof d->z);
}

static hdx_code head(hdx_decoder *d, hdx_error *err)
{
    size_t         used;
    hdx_head_state state = HDX_HEAD_MORE;
    if (d->z.avail_in == 0)
        return truncated(d, "expected the header of a member", hdx_decoder_consumed(d) - d->member_at, err);
    if (d->source->kind == HDX_ZLIB) { /* checked when the source was opened */
        if (gather(d, 2))
            state = HDX_HEAD_DONE;
    } else {
        state = hdx_head_feed(&d->head, d->z.next_in, d->z.avail_in, &used);
        if (state != HDX_HEAD_OTHER)
            take(d, used);
    }
    if (state == HDX_HEAD_OTHER)
        return garbage(d, d->member_at, err);
    if (state == HDX_HEAD_MORE)
        return HDX_OK;
    if (d->source->kind == HDX_GZIP && d->head.bad_sum)
        note(d, HDX_DAMAGE_CRC, d->member_at, 0, false, "expected header checksum %04x of member %llu, found %04x",
             (unsigned)(d->head.crc & 0xffff), (unsigned long long)d->member, (unsigned)d->head.stored);
    return begin_body(d, err);
}

/*
 * Removes a point inside of the member that ends here if the member fits in one slice: a point at the start of the next
 * one needs no window.
 */
static void join_slices(hdx_decoder *d)
{
    hdx_pos  from;
    uint32_t crc;
    if (d->slice_from == d->member_out ||
        !hdx_points_drop(&d->source->points, d->slice_from, d->out, d->member_out, &from, &crc))
        return;
    d->slice_crc = (uint32_t)crc32_combine(crc, d->slice_crc, (z_off_t)(d->out - d->slice_from));
    d->slice_from = from;
}

/*
 * Compares the member's sum and length with what was produced. Data with a wrong sum are used, because often the sum
 * itself is wrong.
 */
static hdx_code trailer(hdx_decoder *d, hdx_error *err)
{
    bool     gzip = d->source->kind == HDX_GZIP;
    unsigned want = gzip ? 8 : 4;
    if (d->z.avail_in == 0)
        return truncated(d, "expected the checksum after the data", 0, err);
    if (!gather(d, want))
        return HDX_OK;
    settle(d);
    join_slices(d);
    uint64_t len = d->out - d->member_out;
    uint32_t stored = gzip ? hdx_le32(d->few) : hdx_be32(d->few), size = gzip ? hdx_le32(d->few + 4) : (uint32_t)len;
    if (stored != d->check)
        note(d, HDX_DAMAGE_CRC, hdx_decoder_consumed(d) - want, 0, false,
             "expected checksum %08x of member %llu, found %08x: bytes %llu to %llu may be wrong", stored,
             (unsigned long long)d->member, d->check, (unsigned long long)d->member_out, (unsigned long long)d->out);
    else if (size != (uint32_t)len)
        note(d, HDX_DAMAGE_CRC, hdx_decoder_consumed(d) - want, 0, false,
             "expected %u bytes (modulo 2^32) in member %llu, found %llu from byte %llu on", size,
             (unsigned long long)d->member, (unsigned long long)len, (unsigned long long)d->member_out);
    d->member++;
    d->step = HDX_DECODE_BETWEEN;
    return HDX_OK;
}

/*
 * The position of inflate inside of a block, as a seek point (GZIP 4.2): `*back` bits back is the start of the current
 * code, of which `*given` bytes were already produced. False in a stored block or a header.
 */
static bool inside(z_stream *z, size_t n, uint64_t *back, size_t *given)
{
    long m = inflateMark(z);
    long up = m >> 16;
    if (up < 0 || (size_t)(m & 0xffff) > n)
        return false;
    *back = (uint64_t)up;
    *given = (size_t)(m & 0xffff);
    return true;
}

/* Limits of one call of inflate. */
typedef struct plan {
    hdx_pos next;  /* the next seek point; HDX_NOWHERE: this decoder is the first here and looks for points */
    hdx_pos due;   /* then: a point is taken at a block boundary from this position on */
    hdx_pos giant; /* then: and inside of a block from this position on */
    size_t  piece; /* most bytes to produce */
    hdx_pos isal;  /* zlib does the work from this position on */
} plan;

/*
 * With a spacing of 768 KiB, points are due 768 KiB (at boundaries) and 896 KiB (inside of blocks) after the last one.
 * If inflate is in a stored block or a header then, it tries again every 64 KiB, so that the places do not depend on
 * the size of reads (P5). A slice has at most 1 MiB, because a stored block ends within 64 KiB.
 */
static plan plan_ahead(const hdx_decoder *d, size_t room)
{
    plan     p;
    hdx_pos  last;
    uint64_t max = d->source->max_uncompressed, piece = room;
    uint64_t spacing = hdx_points_around(&d->source->points, d->out, &p.next, &last);
    p.due = last + spacing;
    p.giant = last + spacing + spacing / 6;
    uint64_t limit = p.next != HDX_NOWHERE ? p.next - d->out
                     : d->out < p.giant    ? p.giant - d->out
                                           : STORED_MAX - (d->out - p.giant) % STORED_MAX;
    piece = piece < limit ? piece : limit;
    if (max != 0 && piece > max - d->out)
        piece = max - d->out + 1; /* one byte too many shows that there is more; it is not returned */
    p.piece = (size_t)piece;
    p.isal = p.next != HDX_NOWHERE ? HDX_NOWHERE : p.giant - INSIDE_AHEAD;
    max--; /* without a limit: HDX_NOWHERE */
    p.isal = p.isal < max ? p.isal : max;
    return p;
}

static hdx_code over_limit(const hdx_decoder *d, hdx_error *err)
{
    hdx_code code = hdx_fail(err, HDX_LIMIT, d->source->path, d->header_bit / 8,
                             "uncompressed size exceeds %llu bytes, the limit max_uncompressed",
                             (unsigned long long)d->source->max_uncompressed);
    return hdx_hint(err, code, "raise or remove --max-uncompressed");
}

/*
 * Moves z to the beginning of a block whose first d->odd bits are before next_in; `have` bytes of the member end at
 * `end`.
 */
static hdx_code catch_up(hdx_decoder *d, const uint8_t *end, size_t have, hdx_error *err)
{
    const uInt len = (uInt)(have < HDX_WINDOW ? have : HDX_WINDOW);
    d->z_behind = false;
    if (inflateReset(&d->z) != Z_OK ||
        (d->odd > 0 && inflatePrime(&d->z, (int)d->odd, d->z.next_in[-1] >> (8 - d->odd)) != Z_OK) ||
        (len > 0 && inflateSetDictionary(&d->z, end - len, len) != Z_OK))
        return hdx_no_memory(err, "inflating", HDX_WINDOW);
    return HDX_OK;
}

static hdx_code feed_from(hdx_decoder *d, uint64_t bit, hdx_error *err);

/*
 * Hands ISA-L's block over to zlib: it is inflated again up to the current position, which is at most one spacing if
 * points are being looked for.
 */
static hdx_code hand_over(hdx_decoder *d, hdx_error *err)
{
    uint8_t        again[4096];
    uint32_t       len;
    const uint8_t *window = hdx_isal_window(d->isal, &len);
    uint64_t       left = d->out - d->block_out;
    hdx_code       code;
    d->by_isal = d->z_behind = false;
    if (inflateReset(&d->z) != Z_OK)
        return hdx_no_memory(err, "inflating", sizeof d->z);
    if ((code = feed_from(d, d->header_bit, err)) != HDX_OK)
        return code;
    if (len > 0 && inflateSetDictionary(&d->z, window, len) != Z_OK)
        return hdx_no_memory(err, "inflating", HDX_WINDOW);
    while (left > 0) {
        const size_t piece = left < sizeof again ? (size_t)left : sizeof again;
        if ((code = refill(d, err)) != HDX_OK)
            return code;
        const bool dry = d->z.avail_in == 0;
        d->z.next_out = again;
        d->z.avail_out = (uInt)piece;
        const int rc = inflate(&d->z, Z_BLOCK);
        left -= piece - d->z.avail_out;
        if ((left > 0 && (rc != Z_OK || (d->z.data_type & 128) != 0)) || (dry && d->z.avail_out == piece))
            return hdx_source_changed(d->source, d->out, err);
    }
    d->bit = hdx_decoder_consumed(d) * 8 - (uint64_t)(d->z.data_type & 63);
    return HDX_OK;
}

/* Same as body() in a block that ISA-L inflates. */
static hdx_code isal_body(hdx_decoder *d, const plan *p, uint8_t *to, size_t *got, hdx_error *err)
{
    const bool first = p->next == HDX_NOWHERE, dry = d->z.avail_in == 0;
    uint8_t   *at = to + *got;
    if (d->out >= p->isal)
        return hand_over(d, err);
    const uint64_t left = p->isal - d->out, piece = p->piece < left ? p->piece : left;
    d->z.next_out = at;
    d->z.avail_out = (uInt)piece;
    const hdx_isal_step step = hdx_isal_run(d->isal, &d->z, &d->odd);
    const size_t        n = (size_t)(d->z.next_out - at);
    hdx_code            code = HDX_OK;
    if (step == HDX_ISAL_UNSURE || (step == HDX_ISAL_MORE && n == 0 && dry))
        return hand_over(d, err);
    sum(d, at, n);
    *got += n;
    if (step != HDX_ISAL_MORE) {
        d->by_isal = false;
        d->z_behind = true;
        d->at_block = step == HDX_ISAL_BLOCK;
        d->bit = hdx_decoder_consumed(d) * 8 - d->odd;
        if (d->out - d->block_out < BLOCK_SMALL)
            d->zlib_until = d->out + SMALL_SKIP;
    }
    if (step == HDX_ISAL_BLOCK) {
        d->header_bit = d->bit;
        if (first && d->out >= p->due)
            code = mark(d, HDX_POINT_BLOCK, d->bit, to + *got, d->tail_len + *got, err);
    }
    if (code == HDX_OK && d->out == p->next)
        code = pass(d, err);
    if (step == HDX_ISAL_LAST) {
        d->few_have = 0;
        d->step = HDX_DECODE_TRAILER;
    }
    return code;
}

/* Chooses what inflates the block that begins here. */
static hdx_code choose(hdx_decoder *d, const plan *p, const uint8_t *end, size_t have, hdx_error *err)
{
    const uint64_t len = d->out - d->member_out;
    have = (size_t)(have < len ? have : len);
    d->at_block = false;
    d->block_out = d->out;
    d->by_isal = d->out < p->isal && d->out >= d->zlib_until && hdx_isal_begin(d->isal, &d->z, d->odd, end, have);
    return !d->by_isal && d->z_behind ? catch_up(d, end, have, err) : HDX_OK;
}

/* One call of inflate, up to the next block, seek point or piece. */
static hdx_code body(hdx_decoder *d, uint8_t *to, size_t room, size_t *got, hdx_error *err)
{
    const hdx_source *source = d->source;
    uint64_t          max = source->max_uncompressed;
    plan              p = plan_ahead(d, room - *got);
    bool              first = p.next == HDX_NOWHERE, dry = d->z.avail_in == 0;
    uint8_t          *at = to + *got;
    hdx_code          code = d->at_block ? choose(d, &p, at, d->tail_len + *got, err) : HDX_OK;
    if (code != HDX_OK || d->by_isal)
        return code != HDX_OK ? code : isal_body(d, &p, to, got, err);
    d->z.next_out = at;
    d->z.avail_out = (uInt)p.piece;
    int      rc = inflate(&d->z, Z_BLOCK);
    size_t   n = p.piece - d->z.avail_out, given = 0;
    uint64_t bit = hdx_decoder_consumed(d) * 8 - (uint64_t)(d->z.data_type & 63), back = 0;
    bool     boundary = (d->z.data_type & 128) != 0 && rc != Z_STREAM_END, moved = n > 0 || bit != d->bit;
    if (max != 0 && n > max - d->out) {
        sum(d, at, n - 1);
        *got += n - 1;
        return over_limit(d, err);
    }
    bool mid = first && rc == Z_OK && !boundary && d->z.avail_out == 0 && d->out + n >= p.giant &&
               (d->out + n - p.giant) % STORED_MAX == 0 && inside(&d->z, n, &back, &given);

    sum(d, at, n - given);
    *got += n - given;
    if (mid)
        code = mark(d, HDX_POINT_INSIDE, bit - back, to + *got, d->tail_len + *got, err);
    sum(d, at + n - given, given);
    *got += given;
    d->bit = bit;
    if (boundary) {
        d->header_bit = bit;
        d->odd = (unsigned)d->z.data_type & 63;
        d->at_block = d->odd < 8 && (d->z.data_type & 64) == 0; /* zlib also stops after the last one */
        if (code == HDX_OK && first && (d->z.data_type & 64) == 0 && d->out >= p.due)
            code = mark(d, HDX_POINT_BLOCK, bit, to + *got, d->tail_len + *got, err);
    }
    if (code == HDX_OK && d->out == p.next)
        code = pass(d, err);
    if (code != HDX_OK)
        return code;

    if (rc == Z_STREAM_END) {
        d->few_have = 0;
        d->step = HDX_DECODE_TRAILER;
        return HDX_OK;
    }
    if (rc == Z_MEM_ERROR)
        return hdx_no_memory(err, "inflating", HDX_WINDOW);
    if (rc != Z_OK && rc != Z_BUF_ERROR) {
        uint64_t byte = bit / 8;
        note(d, HDX_DAMAGE_GZIP, byte, source->file_size > byte ? source->file_size - byte : 0, true,
             "expected deflate data in member %llu, found \"%s\" at byte %llu of the file",
             (unsigned long long)d->member, d->z.msg != NULL ? d->z.msg : "an error", (unsigned long long)byte);
        return finish(d, err);
    }
    if (dry && !moved)
        return truncated(d, "expected more data", 0, err);
    return HDX_OK;
}

hdx_code hdx_decoder_run(hdx_decoder *d, uint8_t *to, size_t room, bool to_point, size_t *got, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *got = 0;
    memcpy(to - d->tail_len, d->tail + sizeof d->tail - d->tail_len, d->tail_len);
    while (code == HDX_OK && *got < room && d->step != HDX_DECODE_END) {
        if (d->step == HDX_DECODE_READY) { /* needs no bytes of the file */
            ready(d, to, room, got);
            continue;
        }
        if (d->step == HDX_DECODE_BETWEEN && is_ready(d)) {
            code = begin_ready(d, err);
            continue;
        }
        if ((code = refill(d, err)) != HDX_OK)
            break;
        switch (d->step) {
        case HDX_DECODE_BETWEEN: code = between(d, err); break;
        case HDX_DECODE_HEAD: code = head(d, err); break;
        case HDX_DECODE_BODY: code = body(d, to, room, got, err); break;
        case HDX_DECODE_TRAILER: code = trailer(d, err); break;
        default: code = padding(d, err); break;
        }
        if (to_point && *got > 0 && d->out == d->slice_from)
            break;
    }
    const size_t all = d->tail_len + *got, most = sizeof d->tail, keep = all < most ? all : most;
    memcpy(d->tail + sizeof d->tail - keep, to + *got - keep, keep);
    d->tail_len = keep;
    return code;
}

/* ---- moving to a point ---- */

/* Feeds the file to inflate from a bit on: the odd bits first. */
static hdx_code feed_from(hdx_decoder *d, uint64_t bit, hdx_error *err)
{
    hdx_code code;
    from_byte(d, bit / 8);
    if ((code = refill(d, err)) != HDX_OK)
        return code;
    if (d->z.avail_in == 0)
        return hdx_source_changed(d->source, d->out, err);
    unsigned odd = (unsigned)(bit & 7);
    if (odd != 0) {
        uint8_t byte = *d->z.next_in;
        take(d, 1);
        if (inflatePrime(&d->z, (int)(8 - odd), byte >> odd) != Z_OK)
            return hdx_source_changed(d->source, d->out, err);
    }
    return HDX_OK;
}

/* Builds the tables of the block whose header begins at d->header_bit, then discards the input (GZIP 4.2). */
static hdx_code read_block_head(hdx_decoder *d, hdx_error *err)
{
    uint8_t  none;
    hdx_code code = feed_from(d, d->header_bit, err);
    while (code == HDX_OK) {
        d->z.next_out = &none;
        d->z.avail_out = 0;
        uInt before = d->z.avail_in;
        int  rc = inflate(&d->z, Z_TREES);
        if ((rc == Z_OK || rc == Z_BUF_ERROR) && (d->z.data_type & 256) != 0)
            return inflatePrime(&d->z, -1, 0) == Z_OK ? HDX_OK : hdx_source_changed(d->source, d->out, err);
        if ((rc != Z_OK && rc != Z_BUF_ERROR) || d->z.avail_in > 0 || before == 0)
            break;             /* there is no header where one was */
        code = refill(d, err); /* it is cut by the end of the buffer */
    }
    return code != HDX_OK ? code : hdx_source_changed(d->source, d->out, err);
}

static hdx_code seek(hdx_decoder *d, hdx_pos at, uint8_t *window, hdx_error *err)
{
    hdx_point point;
    hdx_code  code = hdx_points_get(&d->source->points, at, &point, window, err);
    if (code != HDX_OK)
        return code;
    d->out = d->slice_from = point.out;
    d->slice_crc = d->run = 0;
    d->run_len = 0;
    d->member = point.member;
    d->member_at = point.member_at;
    d->member_out = point.member_out;
    d->damage = point.damage;
    d->check = point.check;
    d->bit = point.bit;
    d->header_bit = point.kind == HDX_POINT_INSIDE ? point.header_bit : point.bit;
    d->at_block = point.kind == HDX_POINT_BLOCK;
    d->by_isal = d->z_behind = false;
    d->odd = (unsigned)(-point.bit & 7);
    d->zlib_until = 0;
    d->tail_len = point.window_len;
    memcpy(d->tail + sizeof d->tail - point.window_len, window, point.window_len);
    if (point.kind == HDX_POINT_MEMBER) {
        from_byte(d, point.bit / 8);
        d->step = HDX_DECODE_BETWEEN;
        return HDX_OK;
    }
    if (inflateReset(&d->z) != Z_OK)
        return hdx_no_memory(err, "inflating", sizeof d->z);
    if (point.kind == HDX_POINT_INSIDE && (code = read_block_head(d, err)) != HDX_OK)
        return code;
    if ((code = feed_from(d, point.bit, err)) != HDX_OK)
        return code;
    if (point.window_len > 0 && inflateSetDictionary(&d->z, window, point.window_len) != Z_OK)
        return hdx_source_changed(d->source, d->out, err);
    d->step = HDX_DECODE_BODY;
    return HDX_OK;
}

/* The window is too large for the stack of some callers. */
hdx_code hdx_decoder_seek(hdx_decoder *d, hdx_pos at, hdx_error *err)
{
    uint8_t       *window = malloc(HDX_WINDOW);
    const hdx_code code = window != NULL ? seek(d, at, window, err) : hdx_no_memory(err, "a window", HDX_WINDOW);
    free(window);
    return code;
}
