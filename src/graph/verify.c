/*
 * verify.c - checks an index: reads every file completely, and with `full` compares the files with each other.
 *
 * In:  an open graph.
 * Out: HDX_OK, or the first violation.
 * The meaning of each kind is in indexes/indexes.h; the invariants that follow are in INDEX 4.
 * Cost: one pass over each file, some hundred nanoseconds an object. `full` adds passes over all references and, at its
 *       peak, 24 bytes an object (verify_tree.c). A sample of the dump's records is read, in the order of the file.
 *
 * References in both directions are compared without transposing the lists: the sum, over all pairs, of a number that
 * is computed from the pair.
 */
#include "graph/verify.h"

#include <assert.h>
#include <stdlib.h>

#define RUN    1024u
#define SAMPLE (1u << 18) /* records to look up in the dump; smaller dumps are read completely */

/* ---- whole files ---- */

/* INDEX I1. */
static hdx_code addresses(hdx_verifier *v)
{
    hdx_graph *g = v->g;
    hdx_addr   part[RUN], last = 0;
    hdx_id     ids[RUN];
    if (hdx_graph_use(g, HDX_KIND_ADDRESS) == NULL)
        return HDX_OK;
    for (uint64_t first = 0; first < g->objects; first += RUN) {
        const uint32_t n = (uint32_t)hdx_least(g->objects - first, RUN);
        hdx_graph_read_addresses(g, first, n, part);
        hdx_graph_find_many(g, part, n, ids);
        for (uint32_t i = 0; i < n; i++) {
            if (ids[i] != first + i)
                return HDX_WRONG(v, "address", "object %llu has address 0x%llx, which maps to another object",
                                 (unsigned long long)(first + i), (unsigned long long)part[i]);
            if (first + i > 0 && part[i] <= last)
                return HDX_WRONG(v, "address", "object %llu is not after the previous one",
                                 (unsigned long long)(first + i));
            last = part[i];
        }
    }
    return HDX_OK;
}

static hdx_code ints(hdx_verifier *v, hdx_kind kind)
{
    const uint64_t  count = hdx_kind_keys(kind, &v->amounts);
    uint64_t        part[RUN];
    const hdx_ints *file = hdx_graph_use(v->g, kind);
    for (uint64_t first = 0; file != NULL && first < count; first += RUN)
        hdx_ints_read(file, first, (uint32_t)hdx_least(count - first, RUN), part);
    return HDX_OK;
}

static hdx_code ranks(hdx_verifier *v, hdx_kind kind)
{
    const hdx_ranks *file = hdx_graph_use(v->g, kind);
    uint64_t         members = 0, rank;
    for (uint64_t id = 0; file != NULL && id < v->g->objects; id++) {
        if (!hdx_ranks_find(file, id, &rank))
            continue;
        if (rank != members || hdx_ranks_at(file, rank) != id)
            return HDX_WRONG(v, hdx_kind_name(kind), "member %llu has rank %llu but is missing", (unsigned long long)id,
                             (unsigned long long)rank);
        members++;
    }
    return file == NULL || members == hdx_ranks_count(file)
               ? HDX_OK
               : HDX_WRONG(v, hdx_kind_name(kind), "%llu members found", (unsigned long long)members);
}

/* Reads every point and window; whether the dump matches them is checked when its records are looked up. */
static hdx_code seek(hdx_verifier *v)
{
    const hdx_seek *file = hdx_graph_use(v->g, HDX_KIND_SEEK);
    hdx_seek_cursor cursor = { 0 };
    hdx_seek_point  point;
    uint8_t         window[HDX_SEEK_WINDOW];
    while (file != NULL && hdx_seek_next(file, &cursor, &point))
        if (!hdx_seek_window(file, point.window_at, point.window_size, window))
            break;
    return hdx_graph_check(v->g, v->err);
}

typedef hdx_code visit_list(hdx_verifier *v, const uint64_t *values, uint32_t n, bool begins);

/* INDEX I4. */
static hdx_code lists(hdx_verifier *v, hdx_kind kind, visit_list *visit)
{
    const hdx_one_to_n *file = hdx_graph_use(v->g, kind);
    const uint64_t      keys = hdx_kind_keys(kind, &v->amounts);
    uint64_t            part[RUN], at = 0, first, length;
    if (file == NULL)
        return HDX_OK;
    for (uint64_t key = 0; key < keys; key++) {
        hdx_code code = HDX_OK;
        uint64_t last = 0;
        v->key = key;
        hdx_one_to_n_list(file, key, &first, &length);
        if (first != at || length > hdx_one_to_n_values(file) - at)
            return HDX_WRONG(v, hdx_kind_name(kind), "the list of %llu does not begin at the end of the previous one",
                             (unsigned long long)key);
        for (uint64_t done = 0; (done < length || done == 0) && code == HDX_OK; done += RUN) {
            const uint32_t n = (uint32_t)hdx_least(length - done, RUN);
            if (n > 0)
                hdx_one_to_n_read(file, key, first + done, n, part);
            for (uint32_t i = 0; i < n; i++) {
                if (done + i > 0 && part[i] <= last)
                    return HDX_WRONG(v, hdx_kind_name(kind), "the list of %llu is not ascending",
                                     (unsigned long long)key);
                last = part[i];
            }
            code = visit != NULL ? visit(v, part, n, done == 0) : HDX_OK;
            if (length == 0)
                break;
        }
        if (code != HDX_OK)
            return code;
        at += length;
    }
    return at == hdx_one_to_n_values(file) ? HDX_OK : HDX_WRONG(v, hdx_kind_name(kind), "values after the last list");
}

/* Verifying the index reads its files; verifying one of its views does not read them again. */
static bool is_read(const hdx_graph *g, hdx_kind kind) { return !hdx_graph_is_view(g) || hdx_kind_of_view(kind); }

/* The last completed step determines which files exist. */
static hdx_code all_there(hdx_verifier *v)
{
    const hdx_manifest *m = v->g->m;
    for (unsigned k = 0; k < HDX_KINDS; k++) {
        const bool named = m->files[k].name[0] != '\0',
                   there = hdx_kind_there((hdx_kind)k, m->step, &v->amounts, m->compression != HDX_PLAIN);
        if (!named && there && hdx_kind_of((hdx_kind)k)->when != HDX_IF_COMPRESSED)
            return HDX_WRONG(v, "catalog", "the index %s is not in the manifest", hdx_kind_name((hdx_kind)k));
        if (named && !there)
            return HDX_WRONG(v, "catalog", "the index %s is in the manifest but belongs to no step",
                             hdx_kind_name((hdx_kind)k));
        const void *file = named ? hdx_graph_use(v->g, (hdx_kind)k) : NULL;
        if (named && file == NULL)
            return hdx_graph_check(v->g, v->err);
        if (named && is_read(v->g, (hdx_kind)k)) /* also bytes that no key leads to: padding, gaps between sections */
            hdx_index_whole(file, (hdx_kind)k);
    }
    return hdx_graph_check(v->g, v->err);
}

/* Lists are not read here but together with their comparison in `compare`. */
static hdx_code read_kind(hdx_verifier *v, hdx_kind kind)
{
    switch (hdx_kind_of(kind)->encoding) {
    case HDX_ENCODING_ADDRESSES: return addresses(v);
    case HDX_ENCODING_INTS: return ints(v, kind);
    case HDX_ENCODING_RANKS: return ranks(v, kind);
    case HDX_ENCODING_SEEK: return seek(v);
    case HDX_ENCODING_ONE_TO_N: break;
    }
    return HDX_OK;
}

static hdx_code read_all(hdx_verifier *v)
{
    const hdx_graph *g = v->g;
    hdx_code         code;
    uint64_t         count;
    (void)hdx_graph_roots(v->g, &count);
    (void)hdx_graph_threads(v->g, &count);
    v->amounts = hdx_graph_amounts(v->g, true);
    v->t = hdx_graph_class_table(g);
    if ((code = hdx_graph_check(v->g, v->err)) != HDX_OK)
        return code;
    assert(v->t != NULL); /* otherwise hdx_graph_check has failed */
    code = all_there(v);
    for (unsigned k = 0; k < HDX_KINDS && code == HDX_OK; k++)
        if (is_read(g, (hdx_kind)k))
            code = read_kind(v, (hdx_kind)k);
    return code != HDX_OK ? code : hdx_graph_check(v->g, v->err);
}

/* ---- files compared with each other ---- */

static uint64_t pair(uint64_t from, uint64_t to)
{
    uint64_t z = from * 0x9e3779b97f4a7c15u + to; /* splitmix64 of both */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* INDEX I5, I8; with the next, I6. */
static hdx_code outbound(hdx_verifier *v, const uint64_t *to, uint32_t n, bool begins)
{
    bool live = v->live != NULL && hdx_bits_test(v->live, v->key);
    if (begins) {
        uint32_t number = hdx_graph_class_of(v->g, v->key);
        if (number == HDX_NO_CLASS)
            return HDX_WRONG(v, "class", "object %llu has no class", (unsigned long long)v->key);
        v->class = v->t->at[number].id;
        v->references += live;
        v->cut = hdx_graph_cut_of(v->g, v->key, false);
        if (live && !hdx_bits_test(v->live, v->class))
            return HDX_WRONG(v, "special", "object %llu is live but its class is not", (unsigned long long)v->key);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (to[i] == v->class)
            return HDX_WRONG(v, "outbound", "the list of %llu contains its class", (unsigned long long)v->key);
        const bool holds = !hdx_cut_has(&v->cut, to[i]);
        if (live && holds && !hdx_bits_test(v->live, to[i]))
            return HDX_WRONG(v, "special", "object %llu is live but refers to garbage", (unsigned long long)v->key);
        v->out_sum += pair(v->key, to[i]);
        v->references += live && holds;
    }
    return HDX_OK;
}

static hdx_code inbound(hdx_verifier *v, const uint64_t *from, uint32_t n, bool begins)
{
    (void)begins;
    for (uint32_t i = 0; i < n; i++)
        v->in_sum += pair(from[i], v->key);
    return HDX_OK;
}

static bool refers_to(const hdx_verifier *v, uint64_t from, uint64_t to)
{
    const hdx_one_to_n *file = hdx_graph_use(v->g, HDX_KIND_OUTBOUND);
    hdx_cut_list        list = { .lists = file, .key = from };
    uint64_t            length = 0;
    hdx_one_to_n_list(file, from, &list.at, &length);
    list.end = list.at + length;
    return hdx_cut_has(&list, to);
}

/* INDEX I19: references that a view excludes exist, and both directions agree. */
static hdx_code cut(hdx_verifier *v, const uint64_t *to, uint32_t n, bool begins)
{
    const uint64_t from = hdx_ranks_at(hdx_graph_use(v->g, HDX_KIND_CUT_FROM), v->key);
    (void)begins;
    for (uint32_t i = 0; i < n; i++) {
        if (!refers_to(v, from, to[i]))
            return HDX_WRONG(v, "cut", "object %llu has no reference to %llu, which the view excludes",
                             (unsigned long long)from, (unsigned long long)to[i]);
        v->cut_sum += pair(from, to[i]);
    }
    v->cuts += n;
    return HDX_OK;
}

static hdx_code cut_by(hdx_verifier *v, const uint64_t *from, uint32_t n, bool begins)
{
    const uint64_t to = hdx_ranks_at(hdx_graph_use(v->g, HDX_KIND_CUT_TO), v->key);
    (void)begins;
    for (uint32_t i = 0; i < n; i++)
        v->cut_by_sum += pair(from[i], to);
    return HDX_OK;
}

/* INDEX I7. */
static hdx_code instances(hdx_verifier *v, const uint64_t *ids, uint32_t n, bool begins)
{
    (void)begins;
    for (uint32_t i = 0; i < n; i++)
        if (hdx_graph_class_of(v->g, ids[i]) != v->key)
            return HDX_WRONG(v, "instances", "object %llu is listed under class %llu but has another class",
                             (unsigned long long)ids[i], (unsigned long long)v->key);
    return HDX_OK;
}

/* INDEX I14. */
static hdx_code dominated(hdx_verifier *v, const uint64_t *ids, uint32_t n, bool begins)
{
    const hdx_ranks *dominators = hdx_graph_use(v->g, HDX_KIND_DOMINATORS),
                    *special = hdx_graph_use(v->g, HDX_KIND_SPECIAL);
    hdx_id   above = v->key == 0 ? HDX_VIRTUAL_ROOT : hdx_ranks_at(dominators, v->key - 1);
    uint64_t rank;
    (void)begins;
    for (uint32_t i = 0; i < n; i++)
        if (!hdx_ranks_find(special, ids[i], &rank) || hdx_graph_dominator(v->g, ids[i]) != above)
            return HDX_WRONG(v, "dominated", "object %llu is listed under a wrong dominator",
                             (unsigned long long)ids[i]);
    v->dominated += n;
    return HDX_OK;
}

static hdx_code find_live(hdx_verifier *v)
{
    const hdx_graph *g = v->g;
    uint64_t         words = hdx_bits_words(g->objects);
    if ((v->live = hdx_mem_array(NULL, words, 8)) == NULL)
        return hdx_no_memory(v->err, "live objects", words * 8);
    for (uint64_t id = 0; id < g->objects; id += 64 * RUN)
        hdx_graph_read_live(g, id, (uint32_t)hdx_least(g->objects - id, 64 * RUN), v->live + id / 64);
    uint64_t n = hdx_bits_count(v->live, words);
    if (n != g->m->live_objects || g->objects - n != g->m->unreachable_objects)
        return HDX_WRONG(v, "special", "%llu live objects; the manifest has %llu", (unsigned long long)n,
                         (unsigned long long)g->m->live_objects);
    return HDX_OK;
}

typedef struct totals {
    uint64_t instances, live_instances, bytes, live_bytes;
} totals;

/* Counts and sizes by class, as the catalog has them (INDEX I3, I15). */
static hdx_code class_totals(hdx_verifier *v)
{
    hdx_graph *g = v->g;
    uint32_t   classes[RUN];
    uint64_t   sizes[RUN], bytes = 0, live_bytes = 0;
    hdx_code   code = HDX_OK;
    totals    *sum = hdx_mem_array(NULL, v->t->count, sizeof *sum);
    if (sum == NULL)
        return hdx_no_memory(v->err, "classes", v->t->count * sizeof *sum);
    for (uint64_t first = 0; first < g->objects && code == HDX_OK; first += RUN) {
        const uint32_t n = (uint32_t)hdx_least(g->objects - first, RUN);
        hdx_graph_read_classes(g, first, n, classes);
        hdx_graph_read_shallow(g, first, n, sizes);
        for (uint32_t i = 0; i < n; i++) {
            if (classes[i] == HDX_NO_CLASS) {
                code = HDX_WRONG(v, "class", "object %llu has no class", (unsigned long long)(first + i));
                break;
            }
            bool live = v->live == NULL || hdx_bits_test(v->live, first + i);
            sum[classes[i]].instances++;
            sum[classes[i]].bytes += sizes[i];
            sum[classes[i]].live_instances += live;
            sum[classes[i]].live_bytes += live ? sizes[i] : 0;
            bytes += sizes[i];
            live_bytes += live ? sizes[i] : 0;
        }
    }
    for (uint32_t n = 0; n < v->t->count && code == HDX_OK && v->live != NULL; n++) {
        const hdx_class *c = &v->t->at[n];
        if (c->instances != sum[n].instances || c->bytes != sum[n].bytes ||
            c->live_instances != sum[n].live_instances || c->live_bytes != sum[n].live_bytes)
            code =
                HDX_WRONG(v, "catalog", "class %u: %llu instances (%llu live) of %llu bytes; found %llu (%llu) of %llu",
                          n, (unsigned long long)c->instances, (unsigned long long)c->live_instances,
                          (unsigned long long)c->bytes, (unsigned long long)sum[n].instances,
                          (unsigned long long)sum[n].live_instances, (unsigned long long)sum[n].bytes);
    }
    if (code == HDX_OK && v->live != NULL &&
        (live_bytes != g->m->live_bytes || bytes - live_bytes != g->m->unreachable_bytes))
        code = HDX_WRONG(v, "catalog", "%llu live bytes; the manifest has %llu", (unsigned long long)live_bytes,
                         (unsigned long long)g->m->live_bytes);
    hdx_mem_put(NULL, sum, v->t->count * sizeof *sum);
    return code;
}

/* INDEX I9. */
static hdx_code check_roots(hdx_verifier *v)
{
    uint64_t        count = 0, distinct = 0;
    const hdx_root *roots = hdx_graph_roots(v->g, &count);
    hdx_id          last = HDX_NO_ID;
    for (uint64_t i = 0; i < count; i++) {
        hdx_id id = roots[i].object;
        if (id >= v->g->objects || (roots[i].thread != HDX_NO_ID && roots[i].thread >= v->g->objects))
            return HDX_WRONG(v, "catalog", "root %llu is not an object", (unsigned long long)i);
        if (roots[i].thread != HDX_NO_ID || id == last)
            continue;
        last = id;
        distinct++;
        if (v->live != NULL && (hdx_graph_nearest(v->g, id) != id || hdx_graph_dominator(v->g, id) != HDX_VIRTUAL_ROOT))
            return HDX_WRONG(v, "special", "object %llu is a GC root but has a parent", (unsigned long long)id);
    }
    if (v->live != NULL && distinct != v->g->m->gc_roots)
        return HDX_WRONG(v, "catalog", "%llu GC roots; the manifest has %llu", (unsigned long long)distinct,
                         (unsigned long long)v->g->m->gc_roots);
    return HDX_OK;
}

/* ---- records of the dump ---- */

typedef struct place {
    uint64_t pos;
    hdx_id   id;
} place;

static int by_position(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return hdx_order(x->pos, y->pos);
}

static hdx_code check_record(hdx_verifier *v, hdx_id id)
{
    hdx_record       r;
    bool             there;
    hdx_code         code = hdx_graph_record(v->g, id, &r, &there, v->err); /* compares the address */
    const hdx_class *c = hdx_graph_class(v->g, hdx_graph_class_of(v->g, id));
    if (code != HDX_OK || !there || c == NULL)
        return code;
    bool array = r.event.tag == HDX_SUB_OBJECT_ARRAY || r.event.tag == HDX_SUB_PRIMITIVE_ARRAY ||
                 r.event.tag == HDX_SUB_PRIMITIVE_ARRAY_NODATA;
    uint64_t stored = hdx_graph_stored_length(v->g, id);
    if (array && r.event.count != stored)
        return HDX_WRONG(v, "size", "object %llu has %llu elements; its record has %u", (unsigned long long)id,
                         (unsigned long long)stored, r.event.count);
    if ((c->flags & HDX_CLASS_FLAT) != 0 &&
        (r.event.tag != HDX_SUB_PRIMITIVE_ARRAY || r.event.type != 8 || stored % c->stated_size != 0))
        return HDX_WRONG(v, "class", "object %llu is not a flat array with elements of %u bytes",
                         (unsigned long long)id, c->stated_size);
    hdx_ints_read(hdx_graph_use(v->g, HDX_KIND_SIZE), id, 1, &stored);
    if ((stored >= HDX_LENGTH_ODD) != (r.event.tag == HDX_SUB_OBJECT_ARRAY && c->kind != HDX_OBJECT_ARRAY))
        return HDX_WRONG(v, "size", "object %llu and its class have different kinds", (unsigned long long)id);
    if ((r.event.tag == HDX_SUB_INSTANCE || r.event.tag == HDX_SUB_OBJECT_ARRAY) && r.event.class_addr != c->address &&
        (c->flags & HDX_CLASS_INVENTED) == 0) /* an invented class is used if its id belongs to another object (R14) */
        return HDX_WRONG(v, "class", "object %llu has class 0x%llx; its record has 0x%llx", (unsigned long long)id,
                         (unsigned long long)c->address, (unsigned long long)r.event.class_addr);
    return HDX_OK;
}

static hdx_code records(hdx_verifier *v)
{
    hdx_graph *g = v->g;
    uint64_t   step = g->objects / SAMPLE + 1, n = 0, room = g->objects / step + 1;
    hdx_code   code = HDX_OK;
    if (g->dump == NULL)
        return HDX_OK;
    place *at = hdx_mem_array(NULL, room, sizeof *at);
    if (at == NULL)
        return hdx_no_memory(v->err, "positions", room * sizeof *at);
    for (uint64_t id = 0; id < g->objects; id += step) {
        at[n].id = id;
        n += hdx_graph_position(g, id, &at[n].pos);
    }
    qsort(at, (size_t)n, sizeof *at, by_position);
    for (uint64_t i = 0; i < n && code == HDX_OK; i++)
        code = check_record(v, at[i].id);
    hdx_mem_put(NULL, at, room * sizeof *at);
    return code;
}

/* ---- all of it ---- */

static visit_list *const visits[HDX_KINDS] = {
    [HDX_KIND_OUTBOUND] = outbound,   [HDX_KIND_INBOUND] = inbound, [HDX_KIND_INSTANCES] = instances,
    [HDX_KIND_DOMINATED] = dominated, [HDX_KIND_CUT] = cut,         [HDX_KIND_CUT_BY] = cut_by,
};

static hdx_code compare(hdx_verifier *v, bool full)
{
    const hdx_manifest *m = v->g->m;
    hdx_code            code;
    uint64_t            objects = v->g->objects;
    if (full && v->g->summary.complete && (code = find_live(v)) != HDX_OK)
        return code;
    for (unsigned k = 0; k < HDX_KINDS; k++)
        if (hdx_kind_of((hdx_kind)k)->encoding == HDX_ENCODING_ONE_TO_N && (full || is_read(v->g, (hdx_kind)k)) &&
            (code = lists(v, (hdx_kind)k, full ? visits[k] : NULL)) != HDX_OK)
            return code;
    if ((code = hdx_graph_check(v->g, v->err)) != HDX_OK || !full)
        return code;
    const hdx_one_to_n *members = hdx_graph_use(v->g, HDX_KIND_INSTANCES);
    if (members != NULL && hdx_one_to_n_values(members) != objects)
        return HDX_WRONG(v, "instances", "the lists of all classes have %llu objects; the dump has %llu",
                         (unsigned long long)hdx_one_to_n_values(members), (unsigned long long)objects);
    if (hdx_graph_use(v->g, HDX_KIND_INBOUND) != NULL && v->in_sum != v->out_sum)
        return HDX_WRONG(v, "inbound", "it is not the transpose of the outbound lists");
    if (v->cut_sum != v->cut_by_sum || v->cuts != m->cut_references)
        return HDX_WRONG(v, "cut_by", "it is not the transpose of the excluded references");
    if (v->live != NULL && v->references != m->references)
        return HDX_WRONG(v, "outbound", "%llu references between live objects; the manifest has %llu",
                         (unsigned long long)v->references, (unsigned long long)m->references);
    if ((code = class_totals(v)) != HDX_OK || (code = check_roots(v)) != HDX_OK)
        return code;
    if (v->live != NULL && ((code = hdx_verify_dominators(v)) != HDX_OK || (code = hdx_verify_nearest(v)) != HDX_OK))
        return code;
    return records(v);
}

/* The room that saves them checks their content. */
static hdx_code notes(const hdx_graph *g, hdx_error *err)
{
    hdx_remembered note;
    const char    *name;
    uint64_t       bytes, key;
    hdx_code       code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && hdx_graph_saved(g, i, &name, &bytes); i++) {
        code = hdx_graph_saved_read(g, name, &key, &note, err);
        hdx_mem_put(NULL, note.at, note.size);
    }
    return code == HDX_DAMAGED ? hdx_hint(err, code, "it is safe to delete: %s/%s", g->folder, name) : code;
}

hdx_code hdx_graph_verify(hdx_graph *g, bool full, hdx_error *err)
{
    hdx_verifier v = { .g = g, .err = err };
    hdx_code     code = read_all(&v);
    if (code == HDX_OK)
        code = compare(&v, full);
    /* A damaged page is the cause of other violations, so it is reported first. */
    if (code != HDX_OK) {
        hdx_error e;
        hdx_code  noted = hdx_graph_check(g, &e);
        if (noted != HDX_OK && err != NULL)
            *err = e;
        code = noted != HDX_OK ? noted : code;
    } else if ((code = hdx_graph_check(g, err)) == HDX_OK) {
        code = notes(g, err);
    }
    hdx_mem_put(NULL, v.live, hdx_bits_words(g->objects) * 8);
    return code;
}
