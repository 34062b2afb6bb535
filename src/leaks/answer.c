/*
 * answer.c - encodes and decodes answers. The index stores these bytes, and every answer, fresh or stored, is made from
 * them.
 *
 * In:  an answer; or bytes from a file, which are untrusted beyond their checksum.
 * Out: bytes; or an answer that needs nothing else. Every count is checked against the number of bytes left, every text
 *      against the table.
 *
 *     texts    count, (length, bytes)...                    each different text once; a text is referred to by its
 *              index + 1, 0 is none
 *     counts   watched, retained, dangling, facts, leaks
 *     fact     name, text, kind, number
 *     leak     kind, signature, pattern, note, suspects, sized, bytes, objects, traces
 *     trace    root type, address, class, signature, sized, bytes, objects, steps, length of the steps in bytes
 *     step     flags, address, class, conflict, inherited, bytes, objects, reasons, labels, then of a reference: kind,
 *              name, key, owner, frame
 *     note     code, text, means
 *
 * Numbers are groups of 7 bits, low group first.
 */
#include "leaks/leaks.h"

#define STEP_LEAST    9u /* bytes of the shortest possible step */
#define RULES_VERSION 2u /* of the built-in rules; raised when a search may answer differently */

/* ---- writing ---- */

typedef struct writer {
    hdx_buffer   body, texts, steps;
    hdx_map      known; /* hash -> index in the table + 1 */
    const char **list;
    uint64_t     count, capacity;
    bool         failed;
} writer;

static void number(hdx_buffer *b, uint64_t v)
{
    uint8_t  bytes[10];
    unsigned n = 0;
    do {
        bytes[n++] = (uint8_t)((v & 127) | (v > 127 ? 128 : 0));
        v >>= 7;
    } while (v != 0);
    hdx_buffer_put(b, bytes, n);
}

static void text(writer *w, const char *t)
{
    bool fresh;
    if (t == NULL || w->failed) { /* after a failure the table is incomplete */
        number(&w->body, 0);
        return;
    }
    const size_t len = strlen(t);
    uint64_t    *place = hdx_map_put(&w->known, hdx_hash_bytes(0, t, len), &fresh);
    if (place != NULL && !fresh && strcmp(w->list[*place - 1], t) == 0) {
        number(&w->body, *place);
        return;
    }
    if (place == NULL || !hdx_mem_room(NULL, (void **)&w->list, &w->capacity, w->count, sizeof *w->list)) {
        w->failed = true;
        return;
    }
    w->list[w->count++] = t;
    if (fresh)
        *place = w->count;
    number(&w->texts, len);
    hdx_buffer_put(&w->texts, t, len + 1); /* with its NUL, because readers point into these bytes */
    number(&w->body, w->count);
}

static void notes(writer *w, const hdx_leak_note *at, uint32_t count)
{
    number(&w->body, count);
    for (uint32_t i = 0; i < count; i++) {
        text(w, at[i].code);
        text(w, at[i].text);
        number(&w->body, (uint64_t)at[i].means);
    }
}

static void put_step(writer *w, const hdx_leak_step *s)
{
    number(&w->body, (uint64_t)s->what | (uint64_t)s->status << 2 | (uint64_t)s->sized << 4 | (uint64_t)s->last << 5 |
                         (uint64_t)s->suspect << 6);
    number(&w->body, s->address);
    text(w, s->class_name);
    text(w, s->conflict);
    text(w, s->inherited);
    number(&w->body, s->retained_bytes);
    number(&w->body, s->retained_objects);
    notes(w, s->reasons, s->reason_count);
    notes(w, s->labels, s->label_count);
    if (s->last)
        return;
    number(&w->body, (uint64_t)s->ref_kind);
    text(w, s->ref_name);
    number(&w->body, s->ref_key);
    text(w, s->ref_owner);
    text(w, s->ref_frame);
}

/* Returns the suspect references in one line: "Registry.INSTANCE Plain.a". */
static const char *suspects(const leak_inspector *i, const leak_made *t)
{
    hdx_buffer b = hdx_buffer_of(NULL);
    for (uint64_t n = 0; n < t->step_count && b.len < 400; n++) {
        const hdx_leak_step *s = &t->steps[n];
        if (s->last || !s->suspect)
            continue;
        const char *dot = strrchr(s->class_name, '.');
        hdx_buffer_format(&b, "%s%s", b.len > 0 ? " " : "", dot != NULL ? dot + 1 : s->class_name);
        if (s->ref_kind == HDX_LEAK_REF_ARRAY_ENTRY)
            hdx_buffer_text(&b, "[x]");
        else
            hdx_buffer_format(&b, ".%s",
                              s->ref_kind == HDX_LEAK_REF_LOCAL ? "<Java Local>"
                              : s->ref_name != NULL             ? s->ref_name
                                                                : "");
    }
    return hdx_leak_keep(i->h, &b);
}

static void put_leak(writer *w, const leak_inspector *i, const leak_rules *rules, const leak_made *at, uint64_t count)
{
    uint64_t bytes = 0, objects = 0;
    for (uint64_t n = 0; n < count; n++) {
        bytes += at[n].retained_bytes;
        objects += at[n].retained_objects;
    }
    number(&w->body, (uint64_t)at->kind);
    text(w, at->signature);
    if (at->matcher != 0) {
        hdx_buffer pattern = hdx_buffer_of(NULL);
        hdx_leak_pattern(&rules->matchers[at->matcher - 1], &pattern);
        text(w, hdx_leak_keep(i->h, &pattern));
        text(w, rules->matchers[at->matcher - 1].note);
    } else {
        text(w, NULL);
        text(w, NULL);
    }
    text(w, suspects(i, at));
    number(&w->body, at->sized);
    number(&w->body, bytes);
    number(&w->body, objects);
    number(&w->body, count);
}

static void put_trace(writer *w, const leak_made *t)
{
    const hdx_leak_step *last = &t->steps[t->step_count - 1];
    text(w, t->root_type);
    number(&w->body, last->address);
    text(w, last->class_name);
    text(w, t->own_signature);
    number(&w->body, t->sized);
    number(&w->body, t->retained_bytes);
    number(&w->body, t->retained_objects);
    number(&w->body, t->step_count);
    hdx_buffer head = w->body; /* the steps are encoded separately, because their length precedes them */
    w->body = w->steps;
    hdx_buffer_clear(&w->body);
    for (uint64_t s = 0; s < t->step_count; s++)
        put_step(w, &t->steps[s]);
    w->steps = w->body;
    w->body = head;
    number(&w->body, w->steps.len);
    hdx_buffer_put(&w->body, w->steps.at, w->steps.len);
}

void hdx_leak_encode(const leak_inspector *i, const leak_rules *rules, const leak_made *at, uint64_t count,
                     const leak_facts *facts, uint64_t dangling, hdx_buffer *out)
{
    writer   w = { .body = hdx_buffer_of(NULL),
                   .texts = hdx_buffer_of(NULL),
                   .steps = hdx_buffer_of(NULL),
                   .known = hdx_map_of(NULL) };
    uint64_t leaks = 0;
    for (uint64_t n = 0; n < count; n++)
        leaks += n == 0 || at[n].kind != at[n - 1].kind || at[n].leak != at[n - 1].leak;
    number(&w.body, i->watched);
    number(&w.body, i->watched_retained);
    number(&w.body, dangling);
    number(&w.body, facts->count);
    number(&w.body, leaks);
    for (uint64_t n = 0; n < facts->count; n++) {
        text(&w, facts->at[n].name);
        text(&w, facts->at[n].text);
        number(&w.body, (uint64_t)facts->at[n].kind);
        number(&w.body, facts->at[n].number);
    }
    for (uint64_t n = 0, end; n < count; n = end) {
        for (end = n + 1; end < count && at[end].kind == at[n].kind && at[end].leak == at[n].leak; end++)
            ;
        put_leak(&w, i, rules, &at[n], end - n);
        for (uint64_t t = n; t < end; t++)
            put_trace(&w, &at[t]);
    }
    number(out, w.count);
    hdx_buffer_put(out, w.texts.at != NULL ? w.texts.at : "", w.texts.len);
    hdx_buffer_put(out, w.body.at != NULL ? w.body.at : "", w.body.len);
    out->failed = out->failed || w.failed || w.texts.failed || w.body.failed || w.steps.failed;
    hdx_buffer_free(&w.texts);
    hdx_buffer_free(&w.body);
    hdx_buffer_free(&w.steps);
    hdx_mem_put(NULL, (void *)w.list, w.capacity * sizeof *w.list);
    hdx_map_free(&w.known);
}

/* ---- reading ---- */

typedef struct taker {
    hdx_view     left;
    hdx_arena   *arena;
    const char **texts;
    uint64_t     count;
    bool         failed; /* every later take returns 0 */
} taker;

static uint64_t take(taker *t)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64 && !t->failed; shift += 7) {
        hdx_view byte;
        if (!hdx_cut(&t->left, 1, &byte) || (shift == 63 && byte.at[0] > 1))
            break;
        v |= (uint64_t)(byte.at[0] & 127) << shift;
        if (byte.at[0] < 128)
            return v;
    }
    t->failed = true;
    return 0;
}

static uint64_t take_up_to(taker *t, uint64_t most)
{
    const uint64_t v = take(t);
    t->failed |= v > most;
    return t->failed ? 0 : v;
}

/* Reads the count of a list whose elements take at least `least` bytes each, and allocates its elements. */
static void *take_list(taker *t, uint64_t least, uint64_t size, uint64_t *count)
{
    *count = take_up_to(t, t->left.len / least);
    void *at = hdx_arena_get(t->arena, *count * size); /* count <= bytes left, so the product cannot overflow */
    t->failed |= at == NULL;
    if (t->failed)
        *count = 0;
    return at;
}

static const char *take_text(taker *t)
{
    const uint64_t n = take_up_to(t, t->count);
    return n == 0 ? NULL : t->texts[n - 1];
}

static const char *take_word(taker *t) /* a required text */
{
    const char *text_of = take_text(t);
    t->failed |= text_of == NULL;
    return text_of != NULL ? text_of : "";
}

static void take_signature(taker *t, char out[41])
{
    const char  *s = take_word(t);
    const size_t len = strlen(s);
    t->failed |= len != 0 && len != 40;
    memset(out, 0, 41);
    if (!t->failed)
        memcpy(out, s, len);
}

static void take_texts(taker *t)
{
    uint64_t count;
    t->texts = take_list(t, 2, sizeof *t->texts, &count);
    for (uint64_t i = 0; i < count && !t->failed; i++) {
        hdx_view       bytes = { NULL, 0 };
        const uint64_t len = take_up_to(t, t->left.len);
        t->failed |= !hdx_cut(&t->left, len + 1, &bytes) || memchr(bytes.at, '\0', bytes.len) != bytes.at + len;
        t->texts[i] = t->failed ? NULL : (const char *)bytes.at;
    }
    t->count = t->failed ? 0 : count;
}

static void take_trace(taker *t, hdx_leak_trace *trace)
{
    trace->root_type = take_text(t);
    trace->address = take(t);
    trace->class_name = take_word(t);
    take_signature(t, trace->signature);
    trace->sized = take_up_to(t, 1) != 0;
    trace->retained_bytes = take(t);
    trace->retained_objects = take(t);
    trace->step_count = take(t);
    const uint64_t len = take_up_to(t, t->left.len);
    t->failed |=
        !hdx_cut(&t->left, len, &trace->packed) || trace->step_count == 0 || trace->step_count > len / STEP_LEAST;
}

static void take_leak(taker *t, hdx_leak *k)
{
    k->kind = (hdx_leak_kind)take_up_to(t, HDX_LEAK_UNREACHABLE);
    take_signature(t, k->signature);
    k->pattern = take_text(t);
    k->note = take_text(t);
    k->suspects = take_word(t);
    k->sized = take_up_to(t, 1) != 0;
    k->retained_bytes = take(t);
    k->retained_objects = take(t);
    hdx_leak_trace *traces = take_list(t, 18, sizeof *traces, &k->trace_count);
    for (uint64_t n = 0; n < k->trace_count && !t->failed; n++)
        take_trace(t, &traces[n]);
    t->failed |= k->trace_count == 0;
    k->traces = traces;
}

leak_answer *hdx_leak_decode(uint8_t *bytes, uint64_t size)
{
    leak_answer *a = size <= SIZE_MAX ? hdx_mem_get(NULL, sizeof *a) : NULL;
    if (a == NULL)
        return NULL;
    a->arena = hdx_arena_of(NULL);
    taker t = { .left = { bytes, (size_t)size }, .arena = &a->arena };
    take_texts(&t);
    a->out.watched = take(&t);
    a->out.watched_retained = take(&t);
    a->out.dangling = take(&t);
    const uint64_t facts = take_up_to(&t, t.left.len / 4), leaks = take_up_to(&t, t.left.len / 16);
    hdx_leak_fact *fact = hdx_arena_get(&a->arena, facts * sizeof *fact);
    hdx_leak      *leak = hdx_arena_get(&a->arena, leaks * sizeof *leak);
    t.failed |= fact == NULL || leak == NULL;
    for (uint64_t i = 0; i < facts && !t.failed; i++) {
        fact[i].name = take_word(&t);
        fact[i].text = take_word(&t);
        fact[i].kind = (hdx_leak_fact_kind)take_up_to(&t, HDX_LEAK_FACT_UNKNOWN);
        fact[i].number = take(&t);
    }
    for (uint64_t i = 0; i < leaks && !t.failed; i++)
        take_leak(&t, &leak[i]);
    a->out.metadata = fact;
    a->out.metadata_count = facts;
    a->out.leaks = leak;
    a->out.leak_count = leaks;
    a->texts = t.texts;
    a->text_count = t.count;
    if (t.failed || t.left.len > 0) {
        hdx_arena_free(&a->arena);
        hdx_mem_put(NULL, a, sizeof *a);
        return NULL;
    }
    a->bytes = bytes;
    a->size = size;
    return a;
}

/* ---- steps, decoded on demand ---- */

/* Appends notes. The array may move when it grows, so steps store indexes until all notes are read. */
static uint32_t take_notes(taker *t, hdx_leak_steps *out, uint64_t *used)
{
    const uint64_t count = take_up_to(t, t->left.len / 3);
    for (uint64_t i = 0; i < count && !t->failed; i++) {
        if (!hdx_mem_room(NULL, (void **)&out->notes, &out->note_capacity, *used, sizeof *out->notes)) {
            t->failed = true;
            break;
        }
        hdx_leak_note *n = &out->notes[(*used)++];
        n->code = take_word(t);
        n->text = take_word(t);
        n->means = (hdx_leak_status)take_up_to(t, HDX_LEAK_LEAKING);
    }
    t->failed |= count > UINT32_MAX;
    return (uint32_t)count;
}

static void take_step(taker *t, hdx_leak_step *s, hdx_leak_steps *out, uint64_t *used)
{
    const uint64_t flags = take_up_to(t, 127);
    *s = (hdx_leak_step){ .address = 0 };
    t->failed |= (flags & 3) > HDX_LEAK_IS_ARRAY || (flags >> 2 & 3) > HDX_LEAK_LEAKING;
    s->what = (hdx_leak_what)(flags & 3);
    s->status = (hdx_leak_status)(flags >> 2 & 3);
    s->sized = (flags & 16) != 0;
    s->last = (flags & 32) != 0;
    s->suspect = (flags & 64) != 0;
    s->address = take(t);
    s->class_name = take_word(t);
    s->conflict = take_text(t);
    s->inherited = take_text(t);
    s->retained_bytes = take(t);
    s->retained_objects = take(t);
    s->reason_count = take_notes(t, out, used);
    s->label_count = take_notes(t, out, used);
    if (s->last)
        return;
    s->ref_kind = (hdx_leak_ref_kind)take_up_to(t, HDX_LEAK_REF_LOCAL);
    s->ref_name = take_text(t);
    s->ref_key = take(t);
    s->ref_owner = take_word(t);
    s->ref_frame = take_text(t);
}

hdx_code hdx_leak_steps_read(const hdx_leaks *leaks, const hdx_leak_trace *trace, hdx_leak_steps *out, hdx_error *err)
{
    const leak_answer *a = (const leak_answer *)(const void *)leaks;
    taker              t = { .left = trace->packed, .texts = a->texts, .count = a->text_count };
    uint64_t           used = 0;
    out->count = 0;
    /* at most as many steps as bytes, checked when the answer was read */
    while (out->step_capacity < trace->step_count)
        if (!hdx_mem_room(NULL, (void **)&out->steps, &out->step_capacity, out->step_capacity, sizeof *out->steps))
            return hdx_no_memory(err, "a trace", trace->step_count * sizeof *out->steps);
    if (!hdx_mem_room(NULL, (void **)&out->notes, &out->note_capacity, 0,
                      sizeof *out->notes)) /* never NULL, because pointers into it are formed */
        return hdx_no_memory(err, "a trace", sizeof *out->notes);
    for (uint64_t s = 0; s < trace->step_count && !t.failed; s++) {
        take_step(&t, &out->steps[s], out, &used);
        t.failed |= out->steps[s].last != (s + 1 == trace->step_count);
    }
    if (t.failed || t.left.len > 0)
        return hdx_fail(err, HDX_DAMAGED, "leaks", HDX_NOWHERE, "invalid stored trace of %llu steps",
                        (unsigned long long)trace->step_count);
    used = 0;
    for (uint64_t s = 0; s < trace->step_count; s++) {
        out->steps[s].reasons = out->notes + used;
        used += out->steps[s].reason_count;
        out->steps[s].labels = out->notes + used;
        used += out->steps[s].label_count;
    }
    out->at = out->steps;
    out->count = trace->step_count;
    return HDX_OK;
}

void hdx_leak_steps_free(hdx_leak_steps *s)
{
    hdx_mem_put(NULL, s->steps, s->step_capacity * sizeof *s->steps);
    hdx_mem_put(NULL, s->notes, s->note_capacity * sizeof *s->notes);
    *s = (hdx_leak_steps){ .count = 0 };
}

/* ---- what an answer depends on ---- */

static uint64_t add_bytes(uint64_t h, const void *at, size_t len)
{
    return hdx_hash_bytes(hdx_mix64(h ^ len), at, len);
}
static uint64_t add_text(uint64_t h, const char *t) { return t == NULL ? hdx_mix64(h) : add_bytes(h, t, strlen(t)); }

uint64_t hdx_leak_key(const leak_rules *rules, const hdx_leaks_options *o)
{
    uint64_t h = RULES_VERSION;
    h = hdx_mix64(h ^ (uint64_t)o->finder << 1 ^ (uint64_t)o->retained);
    h = hdx_mix64(h ^ o->min_watch_ms);
    h = add_text(h, o->key);
    for (size_t i = 0; o->finder == HDX_LEAKS_CLASSES && i < o->class_count; i++)
        h = add_text(h, o->classes[i]);
    h = o->mapping.at != NULL ? add_bytes(h, o->mapping.at, o->mapping.len) : hdx_mix64(h);
    for (uint64_t i = 0; i < rules->matcher_count; i++) {
        const hdx_leak_matcher *m = &rules->matchers[i];
        h = hdx_mix64(h ^ ((uint64_t)m->kind << 40 | (uint64_t)m->ignored << 36 | (uint64_t)m->everywhere << 35 |
                           (uint64_t)m->sdk_min << 16 | m->sdk_max));
        h = add_text(add_text(add_text(add_text(add_text(h, m->class_name), m->member), m->manufacturer), m->build_id),
                     m->note);
    }
    for (uint64_t i = 0; i < rules->rule_count; i++) {
        const leak_rule *r = &rules->rules[i];
        h = hdx_mix64(h ^ ((uint64_t)r->op << 8 | (uint64_t)r->means << 4 | (uint64_t)r->subclasses));
        h = add_text(add_text(add_text(add_text(h, r->class_name), r->field), r->value), r->text);
    }
    return h < HDX_NOTE_KEYS ? h + HDX_NOTE_KEYS : h;
}
