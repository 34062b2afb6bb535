/*
 * strip.c - writes a dump again by the rules of a policy (STRIP 1, 7).
 *
 * In:  any dump, plain or compressed, already stripped or not.
 * Out: the stripped dump and a report.
 *
 *     record head | entry entry entry ...          a record whose length changes is walked once by its heads, then
 *                                                  written
 *        |            |     |     '- drop
 *        |            |     '- keep: copied unchanged (names are bytes, ids of either width)
 *        '- length     '- cut: head alone; blank: head and a constant
 *
 * A damaged dump is refused with the position of the damage, and no output is left: in the stripped dump, contents lost
 * to damage could no longer be distinguished from stripped ones.
 * Cost: one read and one write, plus what choose.c needs before; memory is a few buffers and the choice.
 */
#include "strip/inside.h"

#include <stdio.h>

#define CHUNK (256u << 10)

typedef struct writer {
    const policy     *policy;
    choice            choice;
    uint32_t          id_size;
    reader            r;
    sink              out;
    hdx_strip_report *report;
    hdx_strip_kind   *kind_of[256];         /* of an entry's tag, in the report */
    bool              shared_heap;          /* the next entries belong to zygote or image */
    bool              after_segment, ended; /* container */
} writer;

/* ---- reading ---- */

hdx_code hdx_strip_entry_broken(reader *r, const frame *f, hdx_error *err)
{
    entry       e;
    entry_state state;
    hdx_code    code = hdx_strip_entry_at(r, f->id_size, f->pos, &e, &state, err);
    if (code != HDX_OK)
        return code;
    const char *path = hdx_source_path(r->source);
    if (state == ENTRY_SHORT)
        code = hdx_fail(err, HDX_BAD_DUMP, path, f->pos, "the file ends inside a heap record");
    else if (state == ENTRY_TAG)
        code = hdx_fail(err, HDX_BAD_DUMP, path, f->pos, "unknown heap entry tag 0x%02x", e.tag);
    else if (state == ENTRY_TYPE)
        code = hdx_fail(err, HDX_BAD_DUMP, path, f->pos, "%s has an unknown type", hdx_sub_name(e.tag));
    else
        code = hdx_fail(err, HDX_BAD_DUMP, path, f->pos, "%s extends past the end of its record", hdx_sub_name(e.tag));
    return hdx_hint(err, code, "a damaged dump cannot be stripped; heapdex info describes the damage");
}

/*
 * R9: a HEAP_DUMP over 4 GiB has its length modulo 2^32; then the number of remaining bytes is greater by a multiple of
 * it (9 more for an end record).
 */
static hdx_code unwrap(reader *r, uint32_t id_size, top *t, hdx_error *err)
{
    const uint64_t wrap = 1ull << 32;
    uint64_t       size;
    bool           fits;
    if (t->tag != HDX_TOP_HEAP_DUMP || !hdx_source_size(r->source, &size) || size < t->end + wrap)
        return HDX_OK;
    hdx_code code = hdx_strip_frame_plausible(r, id_size, t->end, &fits, err);
    if (code != HDX_OK || fits)
        return code;
    const uint64_t rest = size - t->pos - TOP_HEAD;
    for (uint64_t less = 0; less <= TOP_HEAD; less += TOP_HEAD)
        if ((rest - less - t->stated) % wrap == 0) {
            t->end = t->pos + TOP_HEAD + rest - less;
            break;
        }
    return HDX_OK;
}

hdx_code hdx_strip_top_at(reader *r, uint32_t id_size, hdx_pos pos, top *out, bool *more, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    bool           there;
    hdx_code       code = hdx_strip_reader_at(r, pos, TOP_HEAD, &at, &have, err);
    const char    *path = hdx_source_path(r->source);
    *more = have > 0;
    if (code != HDX_OK || have == 0)
        return code;
    *out = (top){ .pos = pos, .tag = at[0], .time = hdx_be32(at + 1), .stated = hdx_be32(at + 5) };
    out->end = pos + TOP_HEAD + out->stated;
    if (have < TOP_HEAD)
        return hdx_fail(err, HDX_BAD_DUMP, path, pos, "a record header needs 9 bytes; %zu remain", have);
    if (hdx_top_name(out->tag) == NULL)
        return hdx_fail(err, HDX_BAD_DUMP, path, pos, "unknown record tag 0x%02x", out->tag);
    if ((code = unwrap(r, id_size, out, err)) != HDX_OK ||
        (code = hdx_strip_reader_reaches(r, out->end, &there, err)) != HDX_OK)
        return code;
    if (!there)
        return hdx_hint(err,
                        hdx_fail(err, HDX_BAD_DUMP, path, pos, "%s needs %u bytes, but the file ends before",
                                 hdx_top_name(out->tag), out->stated),
                        "a damaged dump cannot be stripped; heapdex info describes the damage");
    return HDX_OK;
}

/* ---- deciding ---- */

/* *fill and *bytes: the constant for blank contents, and the number of their bytes. */
static rule_action decide(const writer *w, const entry *e, uint16_t *fill, uint64_t *bytes)
{
    const choice *c = &w->choice;
    const bool    array = e->tag == HDX_SUB_PRIMITIVE_ARRAY;
    unsigned      what;
    rule_role     role = ROLE_ANY;
    bool          keep = false, drop = false;
    *bytes = e->body;
    switch (e->tag) {
    case HDX_SUB_HEAP_DUMP_INFO: what = RULE_HEAP; break;
    case HDX_SUB_INSTANCE:
    case HDX_SUB_OBJECT_ARRAY: {
        const uint64_t bits = choice_class(c, e->class_id), width = bits / CLASS_WRAPPER;
        what = e->tag == HDX_SUB_INSTANCE ? RULE_INSTANCE : RULE_OBJECTS;
        keep = (bits & CLASS_KEEP) != 0;
        drop = (bits & CLASS_DROP) != 0;
        if (width != 0) { /* no rule needs the role of an array */
            role = ROLE_WRAPPER;
            *bytes = width < e->body ? width : e->body;
        }
        break;
    }
    case HDX_SUB_PRIMITIVE_ARRAY:
    case HDX_SUB_PRIMITIVE_ARRAY_NODATA: {
        what = array ? RULE_ARRAY : RULE_NODATA;
        const uint64_t *one = hdx_map_get(&c->merged, e->id);
        if (one != NULL && *one == e->id && array)
            role = ROLE_BITMAP;
        else if (hdx_strip_choice_is_text(c, e->id))
            role = ROLE_TEXT;
        keep = (c->keep_types >> e->type & 1) != 0;
        drop = (c->drop_types >> e->type & 1) != 0;
        break;
    }
    default: return RULE_KEEP;
    }
    const rule *r = hdx_strip_policy_rule(w->policy, what, e->type, w->shared_heap, role);
    rule_action action = r != NULL ? r->action : RULE_KEEP;
    if (r != NULL)
        *fill = r->fill;
    if (drop)
        return RULE_DROP;
    if (keep) /* if contents are cut, all of them are: a file with both kinds could not be read */
        return action == RULE_DROP && array && w->policy->resizes && !w->policy->texts ? RULE_CUT
               : action == RULE_CUT                                                    ? RULE_CUT
                                                                                       : RULE_KEEP;
    return action;
}

/* Takes the heap that an entry names, before the entry itself is decided. */
static void enter_heap(writer *w, const entry *e)
{
    if (e->tag == HDX_SUB_HEAP_DUMP_INFO)
        w->shared_heap = e->count == 'Z' || e->count == 'I';
}

/* ---- writing ---- */

static hdx_code blank(writer *w, uint64_t n, uint8_t type, uint16_t fill, hdx_error *err)
{
    uint8_t  piece[4096] = { 0 };
    hdx_code code = HDX_OK;
    if (fill == 0)
        return hdx_strip_sink_zeros(&w->out, n, err);
    for (size_t k = 0; k < sizeof piece; k++)
        piece[k] = type == 5 && k % 2 == 0 ? (uint8_t)(fill >> 8) : (uint8_t)fill;
    while (n > 0 && code == HDX_OK) {
        const uint64_t part = n < sizeof piece ? n : sizeof piece;
        code = hdx_strip_sink_put(&w->out, piece, part, err);
        n -= part;
    }
    return code;
}

/* Returns the bytes of a class entry that remain without its reserved ids, signers, domain and constant pool. */
static uint64_t cleared_size(const writer *w, const entry *e, uint64_t *pool_end)
{
    class_shape shape;
    (void)hdx_strip_class_shape_of(e->at, (size_t)e->head, w->id_size, CLASS_POOL(w->id_size), &shape);
    *pool_end = shape.statics - 2;
    return e->head - (*pool_end - shape.pool);
}

static uint64_t size_after(const writer *w, const entry *e, rule_action action)
{
    uint64_t pool_end;
    if (action == RULE_DROP)
        return 0;
    if (e->tag == HDX_SUB_CLASS && w->policy->clears)
        return cleared_size(w, e, &pool_end);
    return e->head + e->body; /* cut contents still count (STRIP 1.2) */
}

static hdx_code put_cleared_class(writer *w, const entry *e, hdx_error *err)
{
    const uint64_t i = w->id_size, kept = 5 + 3 * i;
    uint64_t       pool_end;
    hdx_code       code;
    (void)cleared_size(w, e, &pool_end);
    if ((code = hdx_strip_sink_put(&w->out, e->at, kept, err)) != HDX_OK ||
        (code = hdx_strip_sink_zeros(&w->out, 4 * i, err)) != HDX_OK ||
        (code = hdx_strip_sink_put(&w->out, e->at + kept + 4 * i, 4, err)) != HDX_OK ||
        (code = hdx_strip_sink_zeros(&w->out, 2, err)) != HDX_OK)
        return code;
    return hdx_strip_sink_put(&w->out, e->at + pool_end, e->head - pool_end, err);
}

/* Writes an instance of Bitmap with the pixels of an equal one. */
static hdx_code put_bitmap(writer *w, const entry *e, uint64_t at, hdx_error *err)
{
    const uint8_t *bytes;
    size_t         have;
    uint8_t        id[8];
    const uint64_t i = w->id_size, begin = e->pos + e->head;
    const uint64_t body = e->body;
    hdx_code       code = hdx_strip_reader_at(&w->r, begin + at, i, &bytes, &have, err);
    if (code != HDX_OK)
        return code;
    const uint64_t *to = hdx_map_get(&w->choice.merged, hdx_be_id(bytes, w->id_size));
    if (to == NULL)
        return hdx_strip_sink_copy(&w->out, &w->r, begin, body, err);
    for (uint64_t k = 0; k < i; k++)
        id[k] = (uint8_t)(*to >> 8 * (i - 1 - k));
    if ((code = hdx_strip_sink_copy(&w->out, &w->r, begin, at, err)) != HDX_OK ||
        (code = hdx_strip_sink_put(&w->out, id, i, err)) != HDX_OK)
        return code;
    return hdx_strip_sink_copy(&w->out, &w->r, begin + at + i, body - at - i, err);
}

static hdx_code put_entry(writer *w, const entry *found, rule_action action, uint16_t fill, uint64_t bytes,
                          hdx_error *err)
{
    const entry e = *found; /* its head is borrowed, and invalid when contents are read */
    hdx_code    code;
    if (w->policy->container)
        return hdx_strip_container_entry(&w->out, &w->r, &e, err);
    if (w->policy->clears && e.tag == HDX_SUB_CLASS)
        return put_cleared_class(w, &e, err);
    if (w->policy->clears && e.tag == HDX_SUB_ROOT_JNI_GLOBAL)
        return (code = hdx_strip_sink_put(&w->out, e.at, 1 + w->id_size, err)) == HDX_OK
                   ? hdx_strip_sink_zeros(&w->out, w->id_size, err)
                   : code;
    if ((code = hdx_strip_sink_put(&w->out, e.at, e.head, err)) != HDX_OK || action == RULE_CUT)
        return code;
    if (action == RULE_BLANK)
        return (code = blank(w, bytes, e.type, fill, err)) == HDX_OK
                   ? hdx_strip_sink_copy(&w->out, &w->r, e.pos + e.head + bytes, e.body - bytes, err)
                   : code;
    if (w->choice.buffer_at >= 0 && e.tag == HDX_SUB_INSTANCE &&
        (choice_class(&w->choice, e.class_id) & CLASS_BITMAP) != 0 &&
        (uint64_t)w->choice.buffer_at + w->id_size <= e.body)
        return put_bitmap(w, &e, (uint64_t)w->choice.buffer_at, err);
    return hdx_strip_sink_copy(&w->out, &w->r, e.pos + e.head, e.body, err);
}

/* Computes the length that a record will state. */
static hdx_code measure(writer *w, const top *t, uint64_t *length, hdx_error *err)
{
    frame      f = hdx_strip_frame_of(&w->r, w->id_size, t->pos + TOP_HEAD, t->end - t->pos - TOP_HEAD, FRAME_PLAIN);
    entry      e;
    frame_step step;
    uint16_t   fill;
    uint64_t   bytes;
    hdx_code   code;
    *length = 0;
    w->shared_heap = false;
    while ((code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY) {
        enter_heap(w, &e);
        *length += size_after(w, &e, decide(w, &e, &fill, &bytes));
    }
    return code == HDX_OK && step == FRAME_BROKEN ? hdx_strip_entry_broken(&w->r, &f, err) : code;
}

static hdx_strip_kind *kind_of(writer *w, uint8_t tag)
{
    if (w->kind_of[tag] == NULL) {
        /* "PRIMITIVE_ARRAY_NODATA": as in the sample counts, without _DUMP. */
        const char *name = hdx_strip_entry_is_root(tag)            ? "ROOTS"
                           : tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA ? "PRIMITIVE_ARRAY_NODATA"
                                                                   : hdx_sub_name(tag);
        unsigned    k = 0;
        while (k < w->report->kind_count && strcmp(w->report->kinds[k].record, name) != 0)
            k++;
        if (k == w->report->kind_count)
            w->report->kinds[w->report->kind_count++].record = name;
        w->kind_of[tag] = &w->report->kinds[k];
    }
    return w->kind_of[tag];
}

static hdx_code heap_record(writer *w, const top *t, hdx_error *err)
{
    uint8_t    head[TOP_HEAD] = { t->tag };
    uint64_t   length = t->end - t->pos - TOP_HEAD;
    hdx_code   code = w->policy->resizes || w->choice.options->drop_count > 0 ? measure(w, t, &length, err) : HDX_OK;
    frame      f = hdx_strip_frame_of(&w->r, w->id_size, t->pos + TOP_HEAD, t->end - t->pos - TOP_HEAD, FRAME_PLAIN);
    entry      e;
    frame_step step;
    if (code != HDX_OK)
        return code;
    for (unsigned k = 0; k < 4; k++) {
        head[1 + k] = (uint8_t)(t->time >> (24 - 8 * k));
        head[5 + k] = (uint8_t)(length >> (24 - 8 * k)); /* over 4 GiB modulo 2^32, as in the input */
    }
    if (w->policy->container)
        head[0] = HDX_TOP_HEAP_DUMP_SEGMENT;
    code = hdx_strip_sink_put(&w->out, head, w->policy->container ? 1 : TOP_HEAD, err);
    w->shared_heap = false;
    while (code == HDX_OK && (code = hdx_strip_frame_next(&f, &e, &step, err)) == HDX_OK && step == FRAME_ENTRY) {
        hdx_strip_kind *kind = kind_of(w, e.tag);
        const uint64_t  before = w->out.bytes;
        uint16_t        fill;
        uint64_t        bytes;
        enter_heap(w, &e);
        const rule_action action = decide(w, &e, &fill, &bytes);
        kind->in++;
        kind->bytes_in += e.head + e.body;
        w->report->records_in++;
        if (action == RULE_DROP) {
            kind->dropped++;
            w->report->dropped_shared += w->shared_heap;
            continue;
        }
        w->report->records_out++;
        code = put_entry(w, &e, action, fill, bytes, err);
        kind->bytes_out += w->out.bytes - before;
    }
    return code == HDX_OK && step == FRAME_BROKEN ? hdx_strip_entry_broken(&w->r, &f, err) : code;
}

/* Redaction: texts that are not names are blanked, names may be mapped. */
static hdx_code redacted_text(writer *w, const top *t, hdx_error *err)
{
    const uint32_t i = w->id_size;
    const uint8_t *at;
    size_t         have;
    hdx_code       code = hdx_strip_reader_at(&w->r, t->pos, TOP_HEAD + i, &at, &have, err);
    if (code != HDX_OK || t->stated < i)
        return code != HDX_OK ? code : hdx_strip_sink_copy(&w->out, &w->r, t->pos, t->end - t->pos, err);
    const uint64_t *bits = hdx_map_get(&w->choice.names, hdx_be_id(at + TOP_HEAD, i));
    const uint64_t  text = t->stated - i;
    if ((code = hdx_strip_sink_put(&w->out, at, TOP_HEAD + i, err)) != HDX_OK)
        return code;
    if (bits == NULL || (*bits & NAME_USED) == 0)
        return blank(w, text, 8, '*', err);
    if (!w->choice.options->map_names || (*bits & NAME_KEPT) != 0 || text > UINT16_MAX)
        return hdx_strip_sink_copy(&w->out, &w->r, t->pos + TOP_HEAD + i, text, err);
    if ((code = hdx_strip_reader_at(&w->r, t->pos + TOP_HEAD + i, text, &at, &have, err)) != HDX_OK || have < text)
        return code;
    uint8_t *name = hdx_mem_get(w->choice.mem, text);
    if (name == NULL)
        return hdx_no_memory(err, "a name", text);
    memcpy(name, at, (size_t)text);
    hdx_strip_proof_rename(name, (size_t)text);
    code = hdx_strip_sink_put(&w->out, name, text, err);
    hdx_mem_put(w->choice.mem, name, text);
    return code;
}

static hdx_code record(writer *w, const top *t, hdx_error *err)
{
    hdx_code code;
    w->report->records_in++;
    w->report->records_out++;
    if (w->policy->container) {
        code = top_is_heap(t) ? heap_record(w, t, err)
                              : hdx_strip_container_record(&w->out, &w->r, t, w->after_segment, err);
        const bool kept = top_is_heap(t) || t->tag == HDX_TOP_STRING || t->tag == HDX_TOP_LOAD_CLASS ||
                          t->tag == HDX_TOP_HEAP_DUMP_END;
        w->report->records_out -= !kept;
        w->after_segment = w->after_segment || top_is_heap(t);
        w->ended = t->tag == HDX_TOP_HEAP_DUMP_END;
        return code;
    }
    if (top_is_heap(t))
        return heap_record(w, t, err);
    if (w->policy->proves && t->tag == HDX_TOP_STRING)
        return redacted_text(w, t, err);
    return hdx_strip_sink_copy(&w->out, &w->r, t->pos, t->end - t->pos, err);
}

static hdx_code write_all(writer *w, hdx_error *err)
{
    static const char mark[] = "JAVA PROFILE 6.0.1";
    hdx_pos           p = 31;
    top               t;
    bool              more;
    hdx_code          code = w->policy->container ? hdx_strip_sink_put(&w->out, mark, sizeof mark - 1, err)
                                                  : hdx_strip_sink_copy(&w->out, &w->r, 0, p, err);
    while (code == HDX_OK && (code = hdx_strip_top_at(&w->r, w->id_size, p, &t, &more, err)) == HDX_OK && more) {
        if (w->ended) { /* the container can have one dump: later ones are omitted and reported (STRIP T6) */
            w->report->truncated = true;
            break;
        }
        p = t.end;
        code = record(w, &t, err);
    }
    return code;
}

/* ---- redaction: the proof ---- */

static hdx_code prove(writer *w, hdx_source *source, hdx_ticker *tick, hdx_error *err)
{
    hdx_source *written = NULL;
    proof       before, after;
    hdx_code    code = hdx_strip_proof_of(source, &w->choice, tick, &before, err);
    if (code == HDX_OK)
        code = hdx_source_open(w->out.whole.part, NULL, &written, err);
    if (code == HDX_OK)
        code = hdx_strip_proof_of(written, &w->choice, tick, &after, err);
    hdx_source_close(written);
    if (code != HDX_OK)
        return code;
    w->report->graph_in = before.graph;
    w->report->graph_out = after.graph;
    if (before.graph != after.graph || before.entries != after.entries || after.uneven > 0)
        return hdx_fail(
            err, HDX_IO, w->out.options->output, HDX_NOWHERE,
            "the written dump differs from the original (graph %016llx, expected %016llx; %llu arrays with contents)",
            (unsigned long long)after.graph, (unsigned long long)before.graph, (unsigned long long)after.uneven);
    return HDX_OK;
}

/* ---- the whole ---- */

static hdx_code check_options(const hdx_strip_options *o, const policy *p, hdx_error *err)
{
    if (p == NULL)
        return hdx_fail(err, HDX_USAGE, o->dump, HDX_NOWHERE,
                        "a policy is missing: matrix, koom, tailor, shark or redact");
    if (p->proves && o->drop_count > 0)
        return hdx_fail(err, HDX_USAGE, o->dump, HDX_NOWHERE, "redact keeps every object and cannot drop classes");
    return HDX_OK;
}

static int packing(const hdx_strip_options *o, const policy *p)
{
    if (hdx_strip_packs(o->output))
        return HDX_GZIP;
    return p->container && !o->plain ? HDX_ZLIB : HDX_PLAIN;
}

/*
 * Checks the free space if contents are only overwritten: the output is then as long as the input. For policies that
 * drop contents the size is unknown before.
 */
static hdx_code check_room(const hdx_strip_options *o, const policy *p, const hdx_source *source, hdx_error *err)
{
    uint64_t size;
    if (p->resizes || p->container || o->drop_count > 0 || packing(o, p) != HDX_PLAIN ||
        hdx_source_compression(source) != HDX_PLAIN || !hdx_source_size(source, &size))
        return HDX_OK;
    return hdx_strip_sink_room(hdx_io_system(), o->output, size, err);
}

static hdx_code run(const hdx_strip_options *o, hdx_source *source, writer *w, hdx_ticker *tick, hdx_error *err)
{
    hdx_hprof_head head;
    hdx_stripping  what;
    hdx_code       code = hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &what, err);
    if (code != HDX_OK || (code = hdx_strip_overlay_set(source, what.overlay, err)) != HDX_OK ||
        (code = hdx_head_read(source, &head, err)) != HDX_OK)
        return code;
    w->id_size = w->choice.id_size = head.id_size;
    if (w->policy->container && head.id_size != 4)
        return hdx_hint(err,
                        hdx_fail(err, HDX_BAD_DUMP, o->dump, 19,
                                 "Tailor's container needs 4-byte identifiers; this dump has %u-byte ones",
                                 head.id_size),
                        "use another --policy");
    hdx_ticker_step(tick, "strip", w->report->bytes_in, "bytes");
    if ((code = check_room(o, w->policy, source, err)) != HDX_OK)
        return code;
    if ((code = hdx_strip_choose(&w->choice, source, tick, err)) != HDX_OK)
        return code;
    w->r = hdx_strip_reader_of(source, false, CHUNK, NULL, tick);
    if ((code = hdx_strip_sink_open(&w->out, hdx_io_system(), o, packing(o, w->policy), NULL, err)) != HDX_OK ||
        (code = write_all(w, err)) != HDX_OK || (code = hdx_strip_sink_finish(&w->out, err)) != HDX_OK)
        return code;
    if (w->policy->proves && (code = prove(w, source, tick, err)) != HDX_OK)
        return code;
    const hdx_damage *damage;
    if (hdx_source_damage(source, &damage) >
        0) /* the container of the input was damaged, which is known after it was read to its end */
        return hdx_fail(err, HDX_BAD_DUMP, o->dump, damage[0].offset, "%s: %s", damage[0].record, damage[0].expected);
    w->report->plain_in = w->r.from + w->r.len;
    (void)hdx_source_size(source, &w->report->plain_in);
    w->report->plain_out = w->out.bytes;
    w->report->bytes_out = w->out.written;
    w->report->merged = w->choice.merges;
    return hdx_strip_sink_commit(&w->out, err);
}

hdx_code hdx_strip_write(const hdx_strip_options *o, hdx_strip_report *report, hdx_error *err)
{
    const hdx_source_options source_options = { .max_uncompressed = o->max_uncompressed };
    hdx_source              *source = NULL;
    hdx_ticker               tick;
    hdx_error                own;
    if (err == NULL)
        err = &own;
    memset(report, 0, sizeof *report);
    report->damage_at = HDX_NOWHERE;
    report->policy = o->policy;
    writer *w = hdx_mem_get(NULL, sizeof *w);
    if (w == NULL)
        return hdx_no_memory(err, "stripping", sizeof *w);
    w->policy = hdx_strip_policy_of(o->policy);
    w->choice = (choice){ .options = o, .policy = w->policy };
    w->report = report;
    hdx_ticker_init(&tick, &o->progress, 1);
    hdx_code code = check_options(o, w->policy, err);
    if (code == HDX_OK && (code = hdx_strip_check_output(hdx_io_system(), o->dump, o->output, err)) == HDX_OK &&
        (code = hdx_source_open(o->dump, &source_options, &source, err)) == HDX_OK) {
        report->bytes_in = hdx_source_file_size(source);
        code = run(o, source, w, &tick, err);
    }
    hdx_strip_sink_drop(&w->out);
    hdx_strip_reader_free(&w->r);
    hdx_strip_choice_free(&w->choice);
    hdx_source_close(source);
    hdx_ticker_free(&tick);
    hdx_mem_put(NULL, w, sizeof *w);
    if (code != HDX_OK && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", o->dump);
    return code;
}
