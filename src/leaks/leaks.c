/*
 * leaks.c - one search from its options to its answer.
 *
 *     files read -> remembered? -> heap, watched objects -> leaking ids -> search -> traces -> bytes, saved -> answer
 *
 * An answer is always made from its bytes (answer.c), so a stored answer equals a fresh one.
 */
#include "algo/packed.h"
#include "leaks/leaks.h"

#include <stdio.h>

#define OVERHEAD (32ull << 20) /* code, stacks, tables of classes, pieces of the dump */

const char *hdx_leak_kind_name(hdx_leak_kind kind)
{
    return kind == HDX_LEAK_APPLICATION ? "application" : kind == HDX_LEAK_LIBRARY ? "library" : "unreachable";
}
const char *hdx_leak_status_name(hdx_leak_status status)
{
    return status == HDX_LEAK_LEAKING ? "leaking" : status == HDX_LEAK_NOT_LEAKING ? "not_leaking" : "unknown";
}
const char *hdx_leak_what_name(hdx_leak_what what)
{
    return what == HDX_LEAK_IS_CLASS ? "class" : what == HDX_LEAK_IS_INSTANCE ? "instance" : "array";
}
const char *hdx_leak_ref_kind_name(hdx_leak_ref_kind kind)
{
    static const char *const names[] = { "instance_field", "static_field", "array_entry", "local" };
    return names[kind <= HDX_LEAK_REF_LOCAL ? kind : HDX_LEAK_REF_LOCAL];
}

void hdx_leak_search_free(leak_search *s)
{
    hdx_map_free(&s->bytes);
    hdx_map_free(&s->counts);
    hdx_arena_free(&s->arena);
}

void hdx_leaks_free(hdx_leaks *leaks)
{
    leak_answer *a = (leak_answer *)(void *)leaks;
    if (a == NULL)
        return;
    hdx_arena_free(&a->arena);
    hdx_mem_put(NULL, a->bytes, a->size);
    hdx_mem_put(NULL, a, sizeof *a);
}

static leak_search new_search(leak_heap *h, const leak_rules *rules, const hdx_leaks_options *o, hdx_mem *mem,
                              hdx_ticker *tick)
{
    leak_search s = { .h = h,
                      .rules = rules,
                      .retained = o->retained,
                      .threads = o->threads != 0 ? o->threads : hdx_workers_default(),
                      .mem = mem,
                      .tick = tick };
    s.arena = hdx_arena_of(mem);
    s.bytes = hdx_map_of(mem);
    s.counts = hdx_map_of(mem);
    return s;
}

/* Runs the search with ids of 32 bits if they suffice, which is nearly always. */
static hdx_code run_search(leak_search *s, const hdx_leaks_options *o, hdx_error *err)
{
    if (o->width == 64)
        return hdx_leak_search_run_64(s, err);
    hdx_code code = hdx_leak_search_run_32(s, err);
    if (code == HDX_OK || !s->too_wide)
        return code;
    leak_search again = new_search(s->h, s->rules, o, s->mem, s->tick);
    again.holds = s->holds;
    again.leaking = s->leaking;
    again.leaking_count = s->leaking_count;
    again.apart = s->apart;
    hdx_leak_search_free(s);
    *s = again;
    return hdx_leak_search_run_64(s, err);
}

/* Returns the size of the mapped index files that the search reads; they count as its memory. */
static uint64_t mapped_bytes(const hdx_graph *g)
{
    static const char *const looked_at[] = { "address", "class", "size" };
    const char              *name;
    uint64_t                 bytes, all = 0;
    for (unsigned i = 0; hdx_graph_file(g, i, &name, &bytes); i++)
        for (unsigned n = 0; n < sizeof looked_at / sizeof *looked_at; n++)
            all += strcmp(name, looked_at[n]) == 0 ? bytes : 0;
    return all;
}

uint64_t hdx_leak_need(uint64_t n, uint64_t stated, bool by_dominators)
{
    const uint64_t id = n < UINT32_MAX / 2 ? 4 : 8;
    /* without references to classes, and with as many nulls */
    const uint64_t references = n + 2 * (stated > n ? stated - n : 0);
    return OVERHEAD + hdx_packed_bytes(n, references) + n * (2 * id + 2) +
           (by_dominators ? n * (10 * id) + references * 4 * id : 0);
}

/*
 * Returns an error that names a sufficient limit: for the whole search, estimated from the index; with dominators of
 * all objects if the search had got to them.
 */
static hdx_code refused(const leak_search *s, const hdx_leaks_options *o, hdx_error *err)
{
    const hdx_graph_summary *sum = hdx_graph_summary_of(s->h->g);
    uint64_t                 need =
        s->apart + hdx_leak_need(sum->objects, sum->references, s->by_dominators) + atomic_load(&s->mem->used) / 4;
    if (need < o->memory + o->memory / 4)
        need = o->memory + o->memory / 4;
    return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "the search for leaks exceeds --memory; --memory %lluM is enough",
                    (unsigned long long)(need >> 20) + 1);
}

static hdx_code answer(leak_inspector *i, const leak_rules *rules, const hdx_leaks_options *o, hdx_ticker *tick,
                       hdx_buffer *out, hdx_error *err)
{
    leak_heap  *h = i->h;
    hdx_mem     mem = { .keep = true };
    leak_search s = new_search(h, rules, o, &mem, tick);
    leak_made  *made = NULL;
    uint64_t    made_count = 0;
    leak_facts  facts = { NULL, 0, 0 };
    hdx_id     *leaking = NULL;
    uint64_t    room = 0;
    bool       *holds = NULL;
    s.apart = OVERHEAD + mapped_bytes(h->g);
    if (o->memory != 0)
        mem.limit = o->memory > s.apart ? o->memory - s.apart : 1;
    hdx_ticker_step(tick, "leaking objects", 0, "objects");
    hdx_code code =
        hdx_tick(tick, 0) ? hdx_tick_stop(err) : hdx_leak_find(i, o, &leaking, &s.leaking_count, &room, err);
    s.leaking = leaking;
    if (code == HDX_OK && s.leaking_count > 0 &&
        (code = hdx_leak_matchers_that_hold(h, rules, &holds, err)) == HDX_OK) {
        s.holds = holds;
        code = run_search(&s, o, err);
        if (code == HDX_LIMIT && o->memory != 0 && strstr(err->message, "is enough") == NULL)
            code = refused(&s, o, err);
    }
    if (code == HDX_OK && hdx_tick(tick, 0))
        code = hdx_tick_stop(err);
    if (code == HDX_OK) {
        hdx_ticker_step(tick, "traces", s.path_count, "paths");
        code = hdx_leak_traces(i, &s, &made, &made_count, err);
    }
    if (code == HDX_OK && (code = hdx_leak_metadata(i, &facts, err)) == HDX_OK) {
        hdx_leak_encode(i, rules, made, made_count, &facts, s.dangling, out);
        if (out->failed)
            code = hdx_no_memory(err, "the answer", out->len);
        else if (i->h->code != HDX_OK)
            code = (*err = i->h->err, i->h->code);
    }
    hdx_mem_put(NULL, made, (s.path_count + s.lost_count) * sizeof *made);
    hdx_mem_put(NULL, facts.at, facts.capacity * sizeof *facts.at);
    hdx_mem_put(NULL, holds, rules->matcher_count * sizeof *holds);
    hdx_mem_put(NULL, leaking, room * sizeof *leaking);
    hdx_leak_search_free(&s);
    hdx_mem_close(&mem);
    return code;
}

/* Opens the heap and lists its classes that are sticky roots, in the order of the dump. *sticky: root_count of them. */
static hdx_code open_heap(hdx_graph *g, const leak_mapping *mapping, leak_heap *h, uint32_t **sticky,
                          uint64_t *root_count, hdx_error *err)
{
    hdx_code code = hdx_leak_heap_open(g, mapping, h, err);
    if (code != HDX_OK)
        return code;
    const hdx_root *roots = hdx_graph_roots(g, root_count);
    if ((*sticky = hdx_mem_array(NULL, *root_count, sizeof **sticky)) == NULL)
        return hdx_no_memory(err, "roots", *root_count * sizeof **sticky);
    for (uint64_t n = 0; n < *root_count; n++) {
        const hdx_class *c = roots[n].type == HDX_ROOT_SYSTEM_CLASS ? hdx_graph_class_object(g, roots[n].object) : NULL;
        if (c != NULL)
            (*sticky)[h->sticky_count++] = c->number;
    }
    h->sticky = *sticky;
    return HDX_OK;
}

static hdx_code fresh_answer(hdx_graph *g, const leak_rules *rules, const hdx_leaks_options *o, hdx_buffer *out,
                             hdx_error *err)
{
    leak_mapping  *mapping = NULL;
    leak_heap      h = { .g = NULL };
    leak_inspector i = { .h = NULL };
    hdx_ticker     tick;
    uint32_t      *sticky = NULL;
    uint64_t       root_count = 0;
    hdx_code       code =
        o->mapping.at != NULL ? hdx_leak_mapping_read(o->mapping.at, o->mapping.len, &mapping, err) : HDX_OK;
    hdx_ticker_init(&tick, o->progress, o->retained ? 5 : 4);
    if (code == HDX_OK)
        code = open_heap(g, mapping, &h, &sticky, &root_count, err);
    if (code == HDX_OK && (code = hdx_leak_inspector_open(&h, rules, &i, err)) == HDX_OK)
        code = answer(&i, rules, o, &tick, out, err);
    if (code == HDX_OK)
        code = hdx_graph_check(g, err);
    hdx_leak_inspector_close(&i);
    hdx_leak_heap_close(&h);
    hdx_leak_mapping_free(mapping);
    hdx_mem_put(NULL, sticky, root_count * sizeof *sticky);
    hdx_ticker_free(&tick);
    return code;
}

/* ---- the tree of paths ---- */

static hdx_code grow(leak_search *s, const hdx_leaks_options *o, const hdx_leak_tree *to, hdx_error *err)
{
    hdx_code code = o->width == 64 ? hdx_leak_search_grow_64(s, to, err) : hdx_leak_search_grow_32(s, to, err);
    if (code != HDX_OK && o->width != 64 && s->too_wide) { /* found before any object was counted */
        leak_search again = new_search(s->h, s->rules, o, s->mem, s->tick);
        again.holds = s->holds;
        again.apart = s->apart;
        hdx_leak_search_free(s);
        *s = again;
        code = hdx_leak_search_grow_64(s, to, err);
    }
    return code;
}

hdx_code hdx_leaks_grow(hdx_graph *g, const hdx_leaks_options *o, const hdx_leak_tree *to, hdx_error *err)
{
    hdx_mem    mem = { .keep = true };
    leak_heap  h = { .g = NULL };
    leak_rules rules;
    hdx_ticker tick;
    uint32_t  *sticky = NULL;
    uint64_t   root_count = 0;
    bool      *holds = NULL;
    hdx_code   code = hdx_leak_rules_read(o, &rules, err);
    hdx_ticker_init(&tick, o->progress, 2);
    if (code == HDX_OK && (code = open_heap(g, NULL, &h, &sticky, &root_count, err)) == HDX_OK)
        code = hdx_leak_matchers_that_hold(&h, &rules, &holds, err);
    if (code == HDX_OK) {
        leak_search s = new_search(&h, &rules, o, &mem, &tick);
        s.holds = holds;
        s.apart = OVERHEAD + mapped_bytes(g);
        if (o->memory != 0)
            mem.limit = o->memory > s.apart ? o->memory - s.apart : 1;
        code = grow(&s, o, to, err);
        if (code == HDX_LIMIT && o->memory != 0 && strstr(err->message, "is enough") == NULL)
            code = refused(&s, o, err);
        hdx_leak_search_free(&s);
    }
    if (code == HDX_OK)
        code = hdx_graph_check(g, err);
    hdx_mem_put(NULL, holds, rules.matcher_count * sizeof *holds);
    hdx_leak_heap_close(&h);
    hdx_mem_put(NULL, sticky, root_count * sizeof *sticky);
    hdx_leak_rules_free(&rules);
    hdx_ticker_free(&tick);
    hdx_mem_close(&mem);
    return code;
}

/* ---- stored answers ---- */

static bool is_object(const hdx_graph *g, hdx_addr address)
{
    hdx_id id;
    return hdx_graph_find(g, address, &id);
}

/* The address and class of a trace are stored before its steps as well; both must agree. */
static hdx_code check_trace(hdx_graph *g, const leak_answer *a, const hdx_leak_trace *t, hdx_leak_steps *steps,
                            hdx_error *err)
{
    hdx_code code = hdx_leak_steps_read(&a->out, t, steps, err);
    for (uint64_t s = 0; code == HDX_OK && s < steps->count; s++)
        if (!is_object(g, steps->at[s].address) ||
            (!steps->at[s].last && steps->at[s].ref_name == NULL && !is_object(g, steps->at[s].ref_key)))
            code = hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE,
                            "step %llu of a stored trace names no object of the dump", (unsigned long long)s);
    if (code == HDX_OK && (steps->at[steps->count - 1].address != t->address ||
                           strcmp(steps->at[steps->count - 1].class_name, t->class_name) != 0))
        code = hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE, "a stored trace does not end at its object");
    return code;
}

/* Checks an answer except for its steps, which are checked when they are read. */
static bool fits(const hdx_graph *g, const leak_answer *a)
{
    for (uint64_t i = 0; i < a->out.leak_count; i++)
        for (uint64_t t = 0; t < a->out.leaks[i].trace_count; t++)
            if (!is_object(g, a->out.leaks[i].traces[t].address) ||
                (a->out.leaks[i].traces[t].root_type == NULL) != (a->out.leaks[i].kind == HDX_LEAK_UNREACHABLE))
                return false;
    return true;
}

static leak_answer *recall(hdx_graph *g, uint64_t key)
{
    hdx_remembered r = hdx_graph_recall(g, key);
    leak_answer   *a = r.at != NULL ? hdx_leak_decode(r.at, r.size) : NULL;
    if (a == NULL)
        hdx_mem_put(NULL, r.at, r.size);
    else if (!fits(g, a)) {
        hdx_leaks_free(&a->out);
        a = NULL;
    }
    return a;
}

hdx_code hdx_leaks_verify(hdx_graph *g, hdx_error *err)
{
    hdx_leak_steps steps = { .count = 0 };
    const char    *name;
    uint64_t       bytes, key;
    hdx_code       code = HDX_OK;
    for (unsigned n = 0; code == HDX_OK && hdx_graph_saved(g, n, &name, &bytes); n++) {
        hdx_remembered r;
        if ((code = hdx_graph_saved_read(g, name, &key, &r, err)) != HDX_OK)
            break;
        if (key < HDX_NOTE_KEYS) { /* belongs to another room */
            hdx_mem_put(NULL, r.at, r.size);
            continue;
        }
        leak_answer *a = hdx_leak_decode(r.at, r.size);
        if (a == NULL) {
            hdx_mem_put(NULL, r.at, r.size);
            code = hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE, "a stored answer is invalid");
        } else {
            if (!fits(g, a))
                code = hdx_fail(err, HDX_DAMAGED, "", HDX_NOWHERE, "a stored trace has an invalid object or root");
            for (uint64_t i = 0; code == HDX_OK && i < a->out.leak_count; i++)
                for (uint64_t t = 0; code == HDX_OK && t < a->out.leaks[i].trace_count; t++)
                    code = check_trace(g, a, &a->out.leaks[i].traces[t], &steps, err);
            hdx_leaks_free(&a->out);
        }
        if (code == HDX_DAMAGED && err != NULL) {
            (void)snprintf(err->where, sizeof err->where, "%s", name);
            (void)hdx_hint(err, code, "it is safe to delete");
        }
    }
    hdx_leak_steps_free(&steps);
    return code;
}

hdx_code hdx_leaks_search(hdx_graph *g, const hdx_leaks_options *o, hdx_leaks **out, hdx_error *err)
{
    leak_rules   rules;
    leak_answer *a = NULL;
    hdx_error    own = { .code = HDX_OK };
    hdx_error   *e = err != NULL ? err : &own;
    hdx_buffer   bytes = hdx_buffer_of(NULL);
    *out = NULL;
    if (o->finder == HDX_LEAKS_CLASSES && o->class_count == 0)
        return hdx_fail(e, HDX_USAGE, "", HDX_NOWHERE, "the finder classes needs a class");
    if (o->finder != HDX_LEAKS_WATCHED && o->key != NULL)
        return hdx_fail(e, HDX_USAGE, "", HDX_NOWHERE, "a key names a watched object and requires the finder watched");
    hdx_code code = hdx_leak_rules_read(o, &rules, e);
    if (code == HDX_OK) {
        const uint64_t key = hdx_leak_key(&rules, o);
        if (!o->no_memory_of_it && (a = recall(g, key)) != NULL)
            a->out.remembered = true;
        if (a == NULL && (code = fresh_answer(g, &rules, o, &bytes, e)) == HDX_OK) {
            uint8_t *copy = hdx_mem_get(NULL, bytes.len);
            if (copy != NULL)
                memcpy(copy, bytes.at, (size_t)bytes.len);
            if (copy == NULL || (a = hdx_leak_decode(copy, bytes.len)) == NULL) {
                hdx_mem_put(NULL, copy, bytes.len);
                code = hdx_no_memory(e, "the answer", bytes.len);
            } else if (!o->no_memory_of_it)
                (void)hdx_graph_remember(g, key, bytes.at, bytes.len);
        }
    }
    hdx_buffer_free(&bytes);
    hdx_leak_rules_free(&rules);
    if (a != NULL)
        *out = &a->out;
    return code;
}
