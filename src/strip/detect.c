/*
 * detect.c - detects which stripping tool processed a dump (STRIP 5).
 *
 * In:  the first MiB of a dump: its header, names, and a window of heap entries.
 * Out: hdx_stripping with the evidence in words.
 * First the container is examined (Tailor's mark), then the framing of heap records, which is certain, then their
 * contents (signs.c).
 * Cost: names, and the window; if it has fewer than ARRAYS arrays, a second attempt reads further, 60 MiB of reading in
 *       all.
 */
#include "strip/inside.h"

#include <stdio.h>

#define CHUNK     (256u << 10)
#define ARRAYS    200u
#define SECOND    (16u << 20) /* a second attempt is made if at most this much was read */
#define READ_MOST (60u << 20) /* STRIP 5.6: at most 64 MiB of a large file unless requested */
#define READINGS  3u          /* most readings of one record: with contents, without, and once more for the signs */
#define RESUMES   16u

static const char mark[] = "JAVA PROFILE 6.0.1";

typedef struct look {
    reader   r;
    uint32_t id_size;
    uint64_t created_ms;
    bool     version_3; /* JAVA PROFILE 1.0.3 */
    uint64_t window;    /* bytes of heap entries to examine */
    uint64_t most;      /* bytes to read at most */
    uint64_t seen;      /* bytes of heap entries examined */
    uint64_t plain, cut, mixed,
        odd;              /* number of records that fit only with contents, only without, with both, not at all */
    uint64_t names, lost; /* number of cut names, bytes lost with them */
    uint64_t patience;
    bool     careful;    /* signs are collected after it is known how a record is read */
    bool     unreliable; /* signs include those of a record that is not read this way */
    signs   *signs;
} look;

/* Examines one heap record; *next 0: nothing after it can be read. */
static hdx_code heap_record(look *l, hdx_pos p, uint64_t stated, hdx_pos *next, hdx_error *err)
{
    const hdx_pos  body = p + TOP_HEAD;
    const uint64_t room = (l->most - l->r.read) / READINGS, left = l->window - l->seen,
                   limit = room < left ? room : left, looked_at = stated < limit ? stated : limit;
    frame_fit  plain, cut, mixed;
    frame_part with, without;
    frame_way  way = FRAME_PLAIN;
    bool       found;
    hdx_code   code;
    *next = 0;
    if ((code = hdx_strip_frame_try(&l->r, l->id_size, body, stated, FRAME_PLAIN, limit, l->careful ? NULL : l->signs,
                                    &plain, err)) != HDX_OK)
        return code;
    if (!l->careful && !plain.fits) {
        l->unreliable = true;
        return HDX_OK;
    }
    if ((code = hdx_strip_frame_try(&l->r, l->id_size, body, stated, FRAME_CUT, limit, NULL, &cut, err)) != HDX_OK)
        return code;
    if (plain.fits) {
        /* Both readings fit. With contents present choose the plain one; otherwise the result is undecided. */
        l->plain += !cut.fits || plain.end != cut.end;
    } else if (cut.fits) {
        way = FRAME_CUT;
        l->cut++;
    } else {
        way = FRAME_MIXED;
        if ((code = hdx_strip_frame_try(&l->r, l->id_size, body, stated, way, limit, NULL, &mixed, err)) != HDX_OK)
            return code;
        l->mixed += mixed.fits;
        if (!mixed.fits) {
            if ((code = hdx_strip_frame_whole_part(&l->r, l->id_size, body, looked_at, FRAME_PLAIN, &with, err)) !=
                    HDX_OK ||
                (code = hdx_strip_frame_whole_part(&l->r, l->id_size, body, looked_at, FRAME_CUT, &without, err)) !=
                    HDX_OK)
                return code;
            if (without.at_end && !with.at_end) { /* the file ends here, and only one reading reaches its end */
                l->cut++;
                return HDX_OK;
            }
            l->odd++;
            if (l->odd > RESUMES)
                return HDX_OK;
            /* Entries before the invalid one are evidence as good as complete records. */
            if (l->plain == 0 && (code = hdx_strip_frame_try(&l->r, l->id_size, body, stated, FRAME_PLAIN, limit,
                                                             l->signs, &plain, err)) != HDX_OK)
                return code;
            code = hdx_strip_frame_resume(&l->r, l->id_size, body, &l->patience, next, &found, err);
            if (!found)
                *next = 0;
            return code;
        }
    }
    if (l->careful &&
        (code = hdx_strip_frame_try(&l->r, l->id_size, body, stated, way, limit, l->signs, &plain, err)) != HDX_OK)
        return code;
    *next = plain.end;
    l->seen += *next - body;
    if (!plain.whole)
        l->seen = l->window; /* the file ends inside of this record */
    return code;
}

static hdx_code table(look *l, hdx_pos p, uint8_t tag, uint32_t n, hdx_pos *next, hdx_error *err)
{
    const uint32_t i = l->id_size;
    const uint8_t *at;
    size_t         have;
    hdx_code       code = HDX_OK;
    *next = p + TOP_HEAD + n;
    if (tag == HDX_TOP_TRACE)
        hdx_strip_signs_trace(l->signs);
    if (tag == HDX_TOP_LOAD_CLASS && n == 8 + 2 * i) {
        if ((code = hdx_strip_reader_at(&l->r, p, TOP_HEAD + n, &at, &have, err)) == HDX_OK && have >= TOP_HEAD + n)
            code =
                hdx_strip_signs_load(l->signs, hdx_be32(at + 9), hdx_be_id(at + 13, i), hdx_be_id(at + 17 + i, i), err);
    } else if (tag == HDX_TOP_STRING && n - i <= 65535u) {
        uint32_t present;
        bool     cut;
        if ((code = hdx_strip_frame_cut_name(&l->r, i, p, n, &present, &cut, err)) != HDX_OK)
            return code;
        if (cut) {
            l->names++;
            l->lost += n - i - present;
            *next = p + TOP_HEAD + i + present;
        } else if ((code = hdx_strip_reader_at(&l->r, p, TOP_HEAD + n, &at, &have, err)) == HDX_OK &&
                   have >= TOP_HEAD + n) {
            code = hdx_strip_signs_string(l->signs, hdx_be_id(at + 9, i), (hdx_view){ at + 9 + i, n - i }, err);
        }
    }
    return code;
}

static hdx_code walk(look *l, hdx_pos p, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK && l->seen < l->window && l->r.read < l->most) {
        const uint8_t *at;
        size_t         have;
        hdx_pos        next = 0;
        if ((code = hdx_strip_reader_at(&l->r, p, TOP_HEAD, &at, &have, err)) != HDX_OK)
            return code;
        if (have < TOP_HEAD)
            return HDX_OK;
        const uint8_t  tag = at[0];
        const uint32_t n = hdx_be32(at + 5);
        if (hdx_top_name(tag) == NULL) {
            l->odd++;
            return HDX_OK;
        }
        code = tag == HDX_TOP_HEAP_DUMP || tag == HDX_TOP_HEAP_DUMP_SEGMENT ? heap_record(l, p, n, &next, err)
                                                                            : table(l, p, tag, n, &next, err);
        if (next == 0)
            return code;
        p = next;
    }
    return code;
}

/*
 * Nearly all dumps have contents as stated: one walk confirms that and collects the signs. If a record does not fit,
 * everything is examined again.
 */
static hdx_code look_once(hdx_source *source, hdx_mem *mem, const uint8_t *head, uint64_t window, uint64_t most,
                          look *l, hdx_error *err)
{
    uint64_t read = 0;
    hdx_code code;
    for (bool careful = false;; careful = true) {
        *l = (look){ .r = hdx_strip_reader_of(source, true, CHUNK, mem, NULL),
                     .id_size = hdx_be32(head + 19),
                     .created_ms = hdx_be64(head + 23),
                     .version_3 = head[17] == '3',
                     .window = window,
                     .most = most,
                     .patience = FRAME_PATIENCE,
                     .careful = careful };
        l->r.read = read;
        if ((code = hdx_strip_signs_new(l->id_size, &l->signs, err)) == HDX_OK)
            code = walk(l, 31, err);
        hdx_strip_reader_free(&l->r);
        if (code != HDX_OK || !l->unreliable)
            return code;
        read = l->r.read;
        hdx_strip_signs_free(l->signs);
    }
}

static void judge(look *l, hdx_stripping *out)
{
    if (l->cut > 0 || l->mixed > 0) {
        out->policy = HDX_STRIP_KOOM;
        out->overlay = HDX_OVERLAY_KOOM;
        out->confidence = 100;
        out->evidence_count = 1;
        (void)snprintf(out->evidence[0], sizeof *out->evidence,
                       "%llu heap records parse only without array contents, %llu only with them",
                       (unsigned long long)(l->cut + l->mixed), (unsigned long long)l->plain);
        return;
    }
    hdx_strip_signs_judge(l->signs, l->created_ms, l->version_3, out);
    if (out->policy == HDX_STRIP_KOOM && l->plain == 0)
        out->overlay = HDX_OVERLAY_KOOM; /* no array with elements so far: later ones may be cut */
    if (l->names > 0) {
        if (out->policy != HDX_STRIP_MATRIX) {
            out->policy = HDX_STRIP_MATRIX;
            out->evidence_count = 0;
        }
        out->overlay = HDX_OVERLAY_NAMES;
        out->confidence = 95;
        (void)snprintf(out->evidence[out->evidence_count++], sizeof *out->evidence, /* there are at most two signs */
                       "%llu non-ASCII names are truncated, %llu bytes less than their records state",
                       (unsigned long long)l->names, (unsigned long long)l->lost);
    }
    if (out->policy == HDX_STRIP_NONE && l->odd > 0 && l->plain == 0) {
        out->policy = HDX_STRIP_UNKNOWN;
        out->confidence = 50;
        out->evidence_count = 1;
        (void)snprintf(
            out->evidence[0], sizeof *out->evidence,
            "heap records parse neither with nor without array contents: damaged, or stripped by an unknown tool");
    }
}

/* A zlib stream in a gzip file is Tailor's container, compressed again for transport. */
static hdx_code unpack_again(hdx_source *source, uint8_t *head, size_t *got, hdx_error *err)
{
    if (hdx_source_compression(source) != HDX_GZIP || head[0] != 0x78 || (head[0] * 256u + head[1]) % 31 != 0)
        return HDX_OK;
    const hdx_code code = hdx_source_nest(source, err);
    return code == HDX_OK ? hdx_source_below(source, 0, head, 32, got, err) : code;
}

hdx_code hdx_strip_unpack(hdx_source *source, hdx_error *err)
{
    uint8_t        head[32] = { 0 };
    size_t         got = 0;
    const hdx_code code = hdx_source_below(source, 0, head, sizeof head, &got, err);
    return code == HDX_OK ? unpack_again(source, head, &got, err) : code;
}

hdx_code hdx_strip_recognise(hdx_source *source, hdx_mem *mem, uint64_t window, hdx_stripping *out, hdx_error *err)
{
    uint8_t  head[32] = { 0 };
    size_t   got = 0;
    look     l;
    uint64_t before = 0;
    hdx_code code = hdx_source_below(source, 0, head, sizeof head, &got, err);
    *out = (hdx_stripping){ .policy = HDX_STRIP_NONE };
    out->bytes_read = got;
    if (code != HDX_OK || (code = unpack_again(source, head, &got, err)) != HDX_OK)
        return code;
    if (memcmp(head, mark, 18) == 0) {
        out->policy = HDX_STRIP_TAILOR;
        out->overlay = HDX_OVERLAY_TAILOR;
        out->confidence = 100;
        out->evidence_count = 1;
        (void)snprintf(out->evidence[0], sizeof *out->evidence, "%s container mark \"%s\"",
                       hdx_source_compression(source) == HDX_ZLIB ? "a zlib stream that begins with the" : "the", mark);
        return HDX_OK;
    }
    if (got < 31 || memcmp(head, "JAVA PROFILE 1.0.", 17) != 0 || head[18] != 0 ||
        (hdx_be32(head + 19) != 4 && hdx_be32(head + 19) != 8))
        return HDX_OK; /* other code decides whether that is a heap dump */
    code =
        look_once(source, mem, head, window == 0 ? EVERYTHING : window, window == 0 ? EVERYTHING : READ_MOST, &l, err);
    if (code == HDX_OK && window != 0 && l.cut + l.mixed == 0 && hdx_strip_signs_arrays(l.signs) < ARRAYS &&
        l.seen >= l.window && l.r.read < SECOND) {
        before = l.r.read;
        hdx_strip_signs_free(l.signs);
        code = look_once(source, mem, head, READ_MOST, READ_MOST - before, &l, err);
    }
    if (code == HDX_OK)
        judge(&l, out);
    out->bytes_read = before + l.r.read;
    hdx_strip_signs_free(l.signs);
    return code;
}

hdx_code hdx_strip_detect(const char *dump, const hdx_detect_options *options, hdx_detected *out, hdx_error *err)
{
    const hdx_source_options source_options = { .max_uncompressed = options != NULL ? options->max_uncompressed : 0 };
    hdx_source              *source = NULL;
    uint8_t                  head[32] = { 0 };
    size_t                   got = 0;
    memset(out, 0, sizeof *out);
    hdx_code code = hdx_source_open(dump, &source_options, &source, err);
    if (code != HDX_OK)
        return code;
    out->compression = (int)hdx_source_compression(source);
    out->file_size = hdx_source_file_size(source);
    code = hdx_strip_recognise(source, NULL, options != NULL && options->full ? 0 : HDX_STRIP_WINDOW, &out->what, err);
    if (code == HDX_OK)
        code = hdx_source_below(source, 0, head, 31, &got, err);
    if (code == HDX_OK && out->what.policy == HDX_STRIP_TAILOR && memcmp(head, mark, 18) == 0) {
        (void)snprintf(out->format, sizeof out->format, "%s", mark);
        out->id_size = 4;
    } else if (code == HDX_OK) {
        hdx_hprof_head h;
        if ((code = hdx_head_read(source, &h, err)) == HDX_OK) {
            (void)snprintf(out->format, sizeof out->format, "JAVA PROFILE %s", h.version);
            out->id_size = h.id_size;
        }
    }
    hdx_source_close(source);
    return code;
}
