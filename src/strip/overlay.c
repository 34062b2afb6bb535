/*
 * overlay.c - a stripped file as complete HPROF, at any position and from any thread.
 *
 * In:  a source, and the step of a form (overlay_koom.c, overlay_tailor.c, overlay_names.c), which converts it to
 *      tokens.
 * Out: an overlay: positions are those of the restored dump.
 *
 *     file     | head | entry entry head | content head ...        every POINT bytes of the file: a point from which
 *                                                                  reading can continue
 *     overlay  | head | entry entry head 000000 | content head ...
 *                                        '- zeros: absent
 *
 * The first read walks the file once (hdx_strip_overlay_pass): it decides how each record is read, notes anything
 * unusual, sets the points and determines the size. Afterwards only the pool of cursors changes, so reading needs no
 * lock.
 * Cost: a read continues from a nearby cursor, or from a point; data in between are skipped by their heads. Memory: 64
 *       bytes per POINT bytes of the file, and notes about unusual records.
 */
#include "strip/inside.h"

#define POINT       (64u << 10)
#define CURSORS     8u
#define CHUNK       (64u << 10)
#define FIRST_CHUNK (256u << 10)

typedef struct cursor {
    spot    s; /* after the token */
    token   t;
    hdx_pos from; /* position of the token in the overlay */
    reader  r;
} cursor;

struct overlay_more {
    pthread_mutex_t lock; /* guards the pass and the pool */
    _Atomic bool    done;
    hdx_code        code; /* of the pass */
    hdx_error       err;
    spot           *points;
    uint64_t        count, capacity;
    hdx_pos         size;
    cursor         *idle[CURSORS];
    unsigned        idle_count;
};

hdx_code hdx_strip_overlay_note_add(overlay *v, const overlay_note *note, hdx_error *err)
{
    if (!hdx_mem_room(v->mem, (void **)&v->notes, &v->note_capacity, v->note_count, sizeof *v->notes))
        return hdx_no_memory(err, "notes on a stripped dump", (v->note_count + 1) * sizeof *v->notes);
    v->notes[v->note_count++] = *note;
    return HDX_OK;
}

const overlay_note *hdx_strip_overlay_note_at(const overlay *v, hdx_pos in)
{
    const uint64_t i = hdx_lower_bound(HDX_KEYS(v->notes, v->note_count, in), in);
    return i < v->note_count && v->notes[i].in == in ? &v->notes[i] : NULL;
}

hdx_code hdx_strip_overlay_changed(const overlay *v, hdx_pos in, hdx_error *err)
{
    return hdx_hint(err,
                    hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(v->source), in, "the dump changed while it was in use"),
                    "run the command again");
}

hdx_code hdx_strip_overlay_raw(reader *r, spot *s, token *t, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code = hdx_strip_reader_at(r, s->in, 1, &at, &have, err);
    const uint64_t left = s->end - s->in, n = have < left ? have : left;
    *t = (token){ .copy_from = s->in, .copy_len = n };
    s->in += n;
    if (s->in == s->end)
        s->mode = OVERLAY_TOP;
    else if (n == 0)
        s->mode = OVERLAY_END;
    return code;
}

hdx_code hdx_strip_overlay_new(hdx_source *source, hdx_overlay_form form, bool restoring, overlay **out, hdx_error *err)
{
    static overlay_step *const steps[HDX_OVERLAY_FORMS] = { [HDX_OVERLAY_KOOM] = hdx_strip_overlay_koom,
                                                            [HDX_OVERLAY_TAILOR] = hdx_strip_overlay_tailor,
                                                            [HDX_OVERLAY_NAMES] = hdx_strip_overlay_names };
    hdx_mem                   *mem = hdx_source_mem(source);
    uint8_t                    head[31] = { 0 };
    size_t                     got = 0;
    *out = NULL;
    if (form <= HDX_OVERLAY_NONE || form >= HDX_OVERLAY_FORMS)
        return hdx_fail(err, HDX_USAGE, hdx_source_path(source), HDX_NOWHERE, "unknown form of a stripped dump: %d",
                        (int)form);
    hdx_code code = hdx_source_below(source, 0, head, sizeof head, &got, err);
    if (code != HDX_OK)
        return code;
    overlay *v = hdx_mem_get(mem, sizeof *v);
    if (v == NULL || (v->more = hdx_mem_get(mem, sizeof *v->more)) == NULL) {
        hdx_mem_put(mem, v, sizeof *v);
        return hdx_no_memory(err, "a stripped dump", sizeof *v);
    }
    v->source = source;
    v->mem = mem;
    v->step = steps[form];
    v->restoring = restoring;
    v->patience = FRAME_PATIENCE;
    v->id_size = form == HDX_OVERLAY_TAILOR ? 4 : hdx_be32(head + 19);
    (void)pthread_mutex_init(&v->more->lock, NULL);
    if (v->id_size != 4 && v->id_size != 8) {
        code = hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(source), 19, "identifiers are %u bytes; expected 4 or 8",
                        v->id_size);
        hdx_strip_overlay_free(v);
        return code;
    }
    *out = v;
    return HDX_OK;
}

static void cursor_free(overlay *v, cursor *c)
{
    if (c == NULL)
        return;
    hdx_strip_reader_free(&c->r);
    hdx_mem_put(v->mem, c, sizeof *c);
}

void hdx_strip_overlay_free(overlay *v)
{
    if (v == NULL)
        return;
    for (unsigned i = 0; i < v->more->idle_count; i++)
        cursor_free(v, v->more->idle[i]);
    hdx_mem_put(v->mem, v->more->points, v->more->capacity * sizeof *v->more->points);
    hdx_mem_put(v->mem, v->notes, v->note_capacity * sizeof *v->notes);
    (void)pthread_mutex_destroy(&v->more->lock);
    hdx_mem_put(v->mem, v->more, sizeof *v->more);
    hdx_mem_put(v->mem, v, sizeof *v);
}

/* ---- the first pass ---- */

static hdx_code scan(overlay *v, hdx_error *err)
{
    overlay_more *m = v->more;
    reader        r = hdx_strip_reader_of(v->source, true, FIRST_CHUNK, v->mem, NULL);
    spot          s = { 0 };
    token         t;
    hdx_code      code = HDX_OK;
    while (code == HDX_OK && s.mode != OVERLAY_END) {
        if (m->count == 0 || s.in - m->points[m->count - 1].in >= POINT) {
            if (!hdx_mem_room(v->mem, (void **)&m->points, &m->capacity, m->count, sizeof s)) {
                code = hdx_no_memory(err, "points of a stripped dump", (m->count + 1) * sizeof s);
                break;
            }
            m->points[m->count++] = s;
        }
        t = (token){ 0 };
        if ((code = v->step(v, &r, true, &s, &t, err)) != HDX_OK)
            break;
        v->stats.absent_bytes += t.zeros;
        if (!hdx_add(s.out, hdx_strip_token_len(&t), &s.out) || s.out > EVERYTHING)
            code = hdx_fail(err, HDX_BAD_DUMP, hdx_source_path(v->source), s.in,
                            "the restored dump would exceed 2^63 bytes");
    }
    m->size = s.out;
    hdx_strip_reader_free(&r);
    return code;
}

hdx_code hdx_strip_overlay_pass(overlay *v, hdx_error *err)
{
    overlay_more *m = v->more;
    if (!atomic_load_explicit(&m->done, memory_order_acquire)) {
        (void)pthread_mutex_lock(&m->lock);
        if (!atomic_load(&m->done)) {
            m->code = scan(v, &m->err);
            m->err.code = m->code;
            atomic_store_explicit(&m->done, true, memory_order_release);
        }
        (void)pthread_mutex_unlock(&m->lock);
    }
    if (m->code != HDX_OK && err != NULL)
        *err = m->err;
    return m->code;
}

/* ---- cursors ---- */

/* Returns the last point whose output is not after `at`. */
static const spot *point_before(const overlay_more *m, hdx_pos at)
{
    return &m->points[hdx_upper_bound(HDX_KEYS(m->points, m->count, out), at) - 1]; /* there is a point at 0 */
}

static void place(cursor *c, const spot *s)
{
    c->s = *s;
    c->t = (token){ 0 };
    c->from = s->out;
}

/*
 * Returns the nearest idle cursor before `at`, if it is after the point; otherwise any other, or a new one, moved to
 * the point. NULL: no memory.
 */
static cursor *cursor_get(overlay *v, hdx_pos at)
{
    overlay_more *m = v->more;
    const spot   *point = point_before(m, at);
    cursor       *c = NULL;
    unsigned      best = CURSORS;
    (void)pthread_mutex_lock(&m->lock);
    for (unsigned i = 0; i < m->idle_count; i++)
        if (m->idle[i]->from <= at && m->idle[i]->from >= point->out &&
            (best == CURSORS || m->idle[i]->from > m->idle[best]->from))
            best = i;
    const bool placed = best != CURSORS;
    if (!placed && m->idle_count == CURSORS)
        best = 0;
    if (best != CURSORS) {
        c = m->idle[best];
        m->idle[best] = m->idle[--m->idle_count];
    }
    (void)pthread_mutex_unlock(&m->lock);
    if (c == NULL && (c = hdx_mem_get(v->mem, sizeof *c)) != NULL)
        c->r = hdx_strip_reader_of(v->source, true, CHUNK, v->mem, NULL);
    if (c != NULL && !placed)
        place(c, point);
    return c;
}

static void cursor_put(overlay *v, cursor *c)
{
    overlay_more *m = v->more;
    (void)pthread_mutex_lock(&m->lock);
    if (m->idle_count < CURSORS) {
        m->idle[m->idle_count++] = c;
        c = NULL;
    }
    (void)pthread_mutex_unlock(&m->lock);
    cursor_free(v, c);
}

/* Steps until the current token contains the byte at `at`; *end: there is none. */
static hdx_code advance_to(overlay *v, cursor *c, hdx_pos at, bool *end, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *end = false;
    while (code == HDX_OK && at - c->from >= hdx_strip_token_len(&c->t)) {
        if (c->s.mode == OVERLAY_END) {
            *end = true;
            break;
        }
        c->from += hdx_strip_token_len(&c->t);
        c->t = (token){ 0 };
        code = v->step(v, &c->r, false, &c->s, &c->t, err);
        c->s.out = c->from + hdx_strip_token_len(&c->t);
    }
    return code;
}

/* Copies up to `want` bytes of the current token, starting at its byte `skip`. */
static hdx_code take(overlay *v, cursor *c, uint64_t skip, uint8_t *to, size_t want, size_t *got, hdx_error *err)
{
    const token *t = &c->t;
    hdx_code     code;
    uint64_t     left;
    size_t       n;
    if (skip < t->head_len) {
        left = t->head_len - skip;
        n = (size_t)(left < want ? left : want);
        memcpy(to, t->head + skip, n);
        *got = n;
        return HDX_OK;
    }
    skip -= t->head_len;
    if (skip >= t->copy_len) {
        left = t->copy_len + t->zeros - skip;
        n = (size_t)(left < want ? left : want);
        memset(to, 0, n);
        *got = n;
        return HDX_OK;
    }
    left = t->copy_len - skip;
    n = (size_t)(left < want ? left : want);
    const uint8_t *at;
    size_t         have;
    if (n > CHUNK / 2) {
        if ((code = hdx_source_below(v->source, t->copy_from + skip, to, n, &have, err)) != HDX_OK)
            return code;
    } else {
        if ((code = hdx_strip_reader_at(&c->r, t->copy_from + skip, n, &at, &have, err)) != HDX_OK)
            return code;
        memcpy(to, at, have < n ? have : n);
    }
    *got = n;
    return have < n ? hdx_strip_overlay_changed(v, t->copy_from + skip, err) : HDX_OK;
}

static hdx_code read_at(void *context, hdx_pos at, void *to, size_t want, size_t *got, hdx_error *err)
{
    overlay *v = context;
    bool     end;
    hdx_code code = hdx_strip_overlay_pass(v, err);
    *got = 0;
    if (code != HDX_OK || at >= v->more->size || want == 0)
        return code;
    cursor *c = cursor_get(v, at);
    if (c == NULL)
        return hdx_no_memory(err, "reading a stripped dump", CHUNK);
    while (code == HDX_OK && *got < want && (code = advance_to(v, c, at + *got, &end, err)) == HDX_OK && !end) {
        size_t n;
        if ((code = take(v, c, at + *got - c->from, (uint8_t *)to + *got, want - *got, &n, err)) == HDX_OK)
            *got += n;
    }
    if (code == HDX_OK)
        cursor_put(v, c);
    else
        cursor_free(v, c);
    return code;
}

hdx_pos hdx_strip_overlay_size(const overlay *v) { return v->more->size; }

static bool size(void *context, uint64_t *out)
{
    overlay *v = context;
    *out = 0;
    if (hdx_strip_overlay_pass(v, NULL) != HDX_OK)
        return false;
    *out = v->more->size;
    return true;
}

static bool absent(void *context, hdx_pos at)
{
    overlay *v = context;
    bool     end, made_up = false;
    if (hdx_strip_overlay_pass(v, NULL) != HDX_OK || at >= v->more->size)
        return false;
    cursor *c = cursor_get(v, at);
    if (c == NULL)
        return false;
    if (advance_to(v, c, at, &end, NULL) == HDX_OK && !end)
        made_up = at - c->from >= c->t.head_len + c->t.copy_len;
    cursor_put(v, c);
    return made_up;
}

static void close_overlay(void *context) { hdx_strip_overlay_free(context); }

hdx_code hdx_strip_overlay_set(hdx_source *source, hdx_overlay_form form, hdx_error *err)
{
    overlay *v;
    hdx_code code;
    if (form == HDX_OVERLAY_NONE)
        return HDX_OK;
    if ((code = hdx_strip_unpack(source, err)) != HDX_OK ||
        (code = hdx_strip_overlay_new(source, form, false, &v, err)) != HDX_OK)
        return code;
    hdx_source_overlay(source, &(hdx_overlay){ v, read_at, size, absent, close_overlay });
    return HDX_OK;
}

hdx_code hdx_strip_overlay_stats(hdx_source *source, hdx_overlay_stats *out, hdx_error *err)
{
    overlay *v = hdx_source_overlay_of(source);
    *out = (hdx_overlay_stats){ 0 };
    if (v == NULL)
        return HDX_OK;
    const hdx_code code = hdx_strip_overlay_pass(v, err);
    if (code == HDX_OK)
        *out = v->stats;
    return code;
}
