/*
 * children.c - the first children of objects that immediately dominate very many, and their sums by class, saved next
 * to the index (children.h).
 *
 * In:  an object, or the virtual root.
 * Out: sums by class, and the first children of all classes or of one, from a note HDX_NOTE_CHILDREN + n of the index
 *      (graph.h). Note 0 is that of the virtual root; all other objects share the others, so that one replaces another.
 * Cost: a walk over the first children until they are many; if they are, one file of at most 300 KB and 40 bytes for
 *       each class. What is not saved is computed in one walk over all children, with memory for the first of each
 *       class only. A folder that cannot be written costs that walk each time.
 *
 *     offset size   little-endian
 *          0    8   version of this format
 *          8    8   the object; 2^64 - 2: the virtual root
 *         16    8   bound on the first children of a class (hdx_children_bounds.each)
 *         24    8   bound on those of all classes together (.all)
 *         32    8   number of classes
 *         40        for each class, in ascending order: number, objects, shallow, retained (8 bytes each)
 *                   ids of the first children of all classes, then those of each class (8 bytes each)
 *
 * The numbers of ids are not stored: they follow from the bounds and the sums.
 */
#include "query/holding/children.h"
#include "graph/graph.h"

#include <stdlib.h>

#define VERSION   1u
#define HEAD      40u
#define SUM_BYTES 32u

const hdx_children_bounds hdx_children_saved = { .from = 10000, .each = 1000, .all = 32768 };

/* ---- the layout ---- */

static uint64_t note_of(hdx_id of)
{
    return HDX_NOTE_CHILDREN + (of == HDX_VIRTUAL_ROOT ? 0 : 1 + of % (HDX_NOTE_CHILDREN_COUNT - 1));
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t ids_of(const hdx_children_sum *sums, uint64_t count, uint64_t each)
{
    uint64_t ids = 0;
    for (uint64_t i = 0; i < count; i++)
        ids += smaller(sums[i].objects, each); /* objects are counted, or were checked against the number of objects */
    return ids;
}

/* Returns how many first children of each class are stored: as many as the bounds allow, the same for all classes. */
static uint64_t of_each(const hdx_children_sum *sums, uint64_t count, const hdx_children_bounds *bounds)
{
    uint64_t low = 0, high = bounds->each;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (ids_of(sums, count, middle) <= bounds->all)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- computing ---- */

/* The first children so far: a heap with the last of them at the top. */
typedef struct firsts {
    hdx_child *at;
    uint64_t   count, capacity;
} firsts;

typedef struct counting {
    hdx_ask                   *ask;
    const hdx_children_bounds *bounds;
    uint32_t                   classes;
    hdx_children_sum          *sums; /* by class number */
    firsts                    *of;   /* by class number; behind them those of all classes */
} counting;

/* REQUIRES: count > 0 */
static void sift(hdx_child *at, uint64_t count, uint64_t i)
{
    const hdx_child c = at[i];
    for (uint64_t k; (k = 2 * i + 1) < count; i = k) {
        if (k + 1 < count && hdx_child_precedes(&at[k], &at[k + 1]))
            k++;
        if (!hdx_child_precedes(&c, &at[k]))
            break;
        at[i] = at[k];
    }
    at[i] = c;
}

void hdx_child_keep(hdx_child *at, uint64_t *count, uint64_t most, const hdx_child *c)
{
    if (*count < most) {
        uint64_t i = (*count)++;
        for (; i > 0 && hdx_child_precedes(&at[(i - 1) / 2], c); i = (i - 1) / 2)
            at[i] = at[(i - 1) / 2];
        at[i] = *c;
    } else if (*count > 0 && hdx_child_precedes(c, &at[0])) {
        at[0] = *c;
        sift(at, *count, 0);
    }
}

static hdx_code add_first(counting *s, firsts *f, const hdx_child *c, hdx_error *err)
{
    if (f->count < s->bounds->each &&
        !hdx_mem_room(s->ask->q.mem, (void **)&f->at, &f->capacity, f->count, sizeof *f->at))
        return hdx_no_memory(err, "dominated objects", f->count * sizeof *f->at);
    hdx_child_keep(f->at, &f->count, s->bounds->each, c);
    return HDX_OK;
}

/* Walks over all children. *sound is false if they are more than there are objects, or have no class. */
static hdx_code count_all(counting *s, hdx_id of, bool *sound, hdx_error *err)
{
    hdx_graph *g = s->ask->g;
    uint64_t   children = 0;
    hdx_refs   refs;
    hdx_id     id;
    hdx_code   code = HDX_OK;
    hdx_graph_dominated(g, of, &refs);
    *sound = true;
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const hdx_child c = { id, hdx_graph_retained(g, id) };
        const uint32_t  number = hdx_graph_class_of(g, id);
        if (++children > hdx_graph_objects(g) || number >= s->classes) {
            *sound = false;
            break;
        }
        s->sums[number].number = number;
        s->sums[number].objects++;
        s->sums[number].shallow += hdx_graph_shallow(g, id);
        s->sums[number].retained += c.retained;
        code = add_first(s, &s->of[number], &c, err);
        if (code == HDX_OK)
            code = add_first(s, &s->of[s->classes], &c, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(s->ask, err);
    }
    return code == HDX_OK ? hdx_graph_check(g, err) : code;
}

static int in_order(const void *a, const void *b) { return hdx_child_precedes(a, b) ? -1 : hdx_child_precedes(b, a); }

void hdx_children_sort(hdx_child *at, uint64_t count)
{
    if (count > 0)
        qsort(at, count, sizeof *at, in_order);
}

static uint8_t *put_firsts(uint8_t *at, firsts *f, uint64_t most)
{
    hdx_children_sort(f->at, f->count);
    for (uint64_t i = 0; i < f->count && i < most; i++, at += 8)
        hdx_put64(at, f->at[i].id);
    return at;
}

/* Writes the bytes of a note. *out belongs to the caller (hdx_mem_put(NULL, ...)). */
static hdx_code pack(counting *s, hdx_id of, hdx_remembered *out, hdx_error *err)
{
    uint64_t count = 0;
    for (uint32_t c = 0; c < s->classes; c++) /* sums of classes with children, without gaps; `of` stays by number */
        if (s->sums[c].objects > 0)
            s->sums[count++] = s->sums[c];
    const uint64_t each = of_each(s->sums, count, s->bounds);
    const uint64_t ids = s->of[s->classes].count + ids_of(s->sums, count, each);
    out->size = HEAD + count * SUM_BYTES + ids * 8;
    if ((out->at = hdx_mem_get(NULL, out->size)) == NULL)
        return hdx_no_memory(err, "dominated objects", out->size);
    const uint64_t numbers[] = { VERSION, of, s->bounds->each, s->bounds->all, count };
    uint8_t       *at = out->at;
    for (size_t i = 0; i < HDX_COUNT(numbers); i++, at += 8)
        hdx_put64(at, numbers[i]);
    for (uint64_t i = 0; i < count; i++, at += SUM_BYTES) {
        hdx_put64(at, s->sums[i].number);
        hdx_put64(at + 8, s->sums[i].objects);
        hdx_put64(at + 16, s->sums[i].shallow);
        hdx_put64(at + 24, s->sums[i].retained);
    }
    at = put_firsts(at, &s->of[s->classes], s->bounds->each);
    for (uint64_t i = 0; i < count; i++)
        at = put_firsts(at, &s->of[s->sums[i].number], each);
    return HDX_OK;
}

/* Computes the bytes of a note; none if the index is not sound, which the caller finds out by itself. */
static hdx_code compute(hdx_ask *ask, hdx_id of, const hdx_children_bounds *bounds, hdx_remembered *out, hdx_error *err)
{
    counting s = { .ask = ask, .bounds = bounds };
    hdx_code code = HDX_OK;
    bool     sound = false;
    *out = (hdx_remembered){ NULL, 0 };
    (void)hdx_graph_classes(ask->g, &s.classes);
    const uint64_t lists = (uint64_t)s.classes + 1;
    s.sums = hdx_mem_array(ask->q.mem, lists, sizeof *s.sums);
    s.of = hdx_mem_array(ask->q.mem, lists, sizeof *s.of);
    if (s.sums == NULL || s.of == NULL)
        code = hdx_no_memory(err, "dominated objects", lists * sizeof *s.of);
    if (code == HDX_OK)
        code = count_all(&s, of, &sound, err);
    if (code == HDX_OK && sound)
        code = pack(&s, of, out, err);
    for (uint64_t i = 0; s.of != NULL && i < lists; i++)
        hdx_mem_put(ask->q.mem, s.of[i].at, s.of[i].capacity * sizeof *s.of[i].at);
    hdx_mem_put(ask->q.mem, s.of, lists * sizeof *s.of);
    hdx_mem_put(ask->q.mem, s.sums, lists * sizeof *s.sums);
    return code;
}

/* ---- reading ---- */

/* Reads the sums. False: they cannot be those of the children of `of`. The bytes may be anything. */
static bool read_sums(hdx_ask *ask, hdx_id of, const uint8_t *at, hdx_children *out)
{
    const uint64_t objects = hdx_graph_objects(ask->g);
    const uint64_t whole = of == HDX_VIRTUAL_ROOT ? hdx_graph_summary_of(ask->g)->live_bytes
                                                  : hdx_graph_retained(ask->g, of) - hdx_graph_shallow(ask->g, of);
    uint32_t       classes;
    (void)hdx_graph_classes(ask->g, &classes);
    for (uint64_t i = 0; i < out->sum_count; i++, at += SUM_BYTES) {
        const uint64_t number = hdx_le64(at);
        out->sums[i] = (hdx_children_sum){ (uint32_t)number, hdx_le64(at + 8), hdx_le64(at + 16), hdx_le64(at + 24) };
        const hdx_children_sum *s = &out->sums[i];
        if (number >= classes || (i > 0 && number <= out->sums[i - 1].number) || s->objects == 0 ||
            s->objects > objects - out->objects || s->retained > whole - out->retained || s->shallow > s->retained)
            return false;
        out->objects += s->objects;
        out->retained += s->retained;
    }
    return out->retained == whole;
}

/* Reads `count` ids of children, of one class or of all. False: they are not the children of `of` in order. */
static bool read_ids(hdx_ask *ask, hdx_id of, const uint32_t *class, const uint8_t *at, uint64_t count, hdx_id *ids)
{
    hdx_child last = { 0, UINT64_MAX };
    for (uint64_t i = 0; i < count; i++, at += 8) {
        hdx_child c = { hdx_le64(at), 0 };
        if (c.id >= hdx_graph_objects(ask->g) || hdx_graph_dominator(ask->g, c.id) != of ||
            (class != NULL && hdx_graph_class_of(ask->g, c.id) != *class))
            return false;
        c.retained = hdx_graph_retained(ask->g, c.id);
        if (i > 0 && !hdx_child_precedes(&last, &c))
            return false;
        ids[i] = c.id;
        last = c;
    }
    return true;
}

/* Same for those of each class. */
static bool read_ids_of_each(hdx_ask *ask, hdx_id of, const uint8_t *at, hdx_children *out)
{
    uint64_t read = 0;
    for (uint64_t i = 0; i < out->sum_count; i++) {
        const uint64_t count = smaller(out->sums[i].objects, out->each);
        if (!read_ids(ask, of, &out->sums[i].number, at + 8 * read, count, out->first + read))
            return false;
        read += count;
    }
    return true;
}

/* Finds the ids that are asked for: those of all classes, of one, or of each. False: the size of the note is wrong. */
static bool find_ids(hdx_children *out, const uint32_t *class, const hdx_children_bounds *bounds, uint64_t bytes,
                     uint64_t *skipped)
{
    const uint64_t each = of_each(out->sums, out->sum_count, bounds), objects = out->objects;
    const bool     of_one = class != NULL && *class != HDX_CHILDREN_OF_EACH;
    uint64_t       ids = smaller(out->objects, bounds->each);
    out->count = ids;
    *skipped = 0;
    if (class != NULL && !of_one) {
        *skipped = ids;
        out->each = each;
        out->count = ids_of(out->sums, out->sum_count, each);
    }
    if (of_one)
        out->count = out->objects = out->retained = 0;
    for (uint64_t i = 0; i < out->sum_count; i++) {
        const hdx_children_sum *s = &out->sums[i];
        if (of_one && s->number == *class) {
            *skipped = ids;
            out->count = smaller(s->objects, each);
            out->objects = s->objects;
            out->retained = s->retained;
        }
        ids += smaller(s->objects, each);
    }
    out->others = objects - out->objects;
    return bytes == 8 * ids;
}

static hdx_code read_note(hdx_ask *ask, hdx_id of, const hdx_children_bounds *bounds, const uint32_t *class,
                          const hdx_remembered *r, hdx_children *out, hdx_error *err)
{
    const uint64_t numbers[] = { VERSION, of, bounds->each, bounds->all };
    uint64_t       skipped = 0;
    *out = (hdx_children){ .saved = false };
    if (r->at == NULL || r->size < HEAD)
        return HDX_OK;
    for (size_t i = 0; i < HDX_COUNT(numbers); i++)
        if (hdx_le64(r->at + 8 * i) != numbers[i])
            return HDX_OK;
    const uint64_t count = hdx_le64(r->at + 32);
    if (count > (r->size - HEAD) / SUM_BYTES)
        return HDX_OK;
    const uint8_t *ids = r->at + HEAD + count * SUM_BYTES;
    if ((out->sums = hdx_mem_array(ask->q.mem, count, sizeof *out->sums)) == NULL)
        return hdx_no_memory(err, "dominated objects", count * sizeof *out->sums);
    out->sum_count = count;
    if (!read_sums(ask, of, r->at + HEAD, out) ||
        !find_ids(out, class, bounds, r->size - HEAD - count * SUM_BYTES, &skipped))
        return HDX_OK;
    if ((out->first = hdx_mem_array(ask->q.mem, out->count, sizeof *out->first)) == NULL)
        return hdx_no_memory(err, "dominated objects", out->count * sizeof *out->first);
    ids += 8 * skipped;
    out->saved = class != NULL && *class == HDX_CHILDREN_OF_EACH
                     ? read_ids_of_each(ask, of, ids, out)
                     : read_ids(ask, of, class, ids, out->count, out->first);
    return hdx_graph_check(ask->g, err);
}

/* ---- opening ---- */

static bool has_many(hdx_ask *ask, hdx_id of, uint64_t many)
{
    uint64_t children = 0;
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_dominated(ask->g, of, &refs);
    while (children < many && hdx_refs_next(&refs, &id))
        children++;
    return children == many;
}

hdx_code hdx_children_open(hdx_ask *ask, hdx_id of, const hdx_children_bounds *bounds, const uint32_t *class,
                           hdx_children *out, hdx_error *err)
{
    *out = (hdx_children){ .saved = false };
    if (!has_many(ask, of, bounds->from))
        return HDX_OK;
    hdx_remembered r = hdx_graph_recall(ask->g, note_of(of));
    hdx_code       code = read_note(ask, of, bounds, class, &r, out, err);
    hdx_mem_put(NULL, r.at, r.size);
    if (code != HDX_OK || out->saved)
        return code;
    hdx_children_close(out, ask);
    if ((code = compute(ask, of, bounds, &r, err)) == HDX_OK &&
        (code = read_note(ask, of, bounds, class, &r, out, err)) == HDX_OK && out->saved)
        (void)hdx_graph_remember(ask->g, note_of(of), r.at, r.size);
    hdx_mem_put(NULL, r.at, r.size);
    return code;
}

void hdx_children_close(hdx_children *c, hdx_ask *ask)
{
    hdx_mem_put(ask->q.mem, c->sums, c->sum_count * sizeof *c->sums);
    hdx_mem_put(ask->q.mem, c->first, c->count * sizeof *c->first);
    *c = (hdx_children){ .saved = false };
}

/* ---- verifying ---- */

static bool same_bytes(const hdx_remembered *a, const hdx_remembered *b)
{
    return a->at != NULL && b->at != NULL && a->size == b->size && memcmp(a->at, b->at, (size_t)a->size) == 0;
}

/* Computes a note again with the bounds that it names. */
static hdx_code verify_note(hdx_ask *ask, uint64_t key, const hdx_remembered *was, hdx_error *err)
{
    hdx_remembered is = { NULL, 0 };
    hdx_code       code = HDX_OK;
    if (was->size >= HEAD) {
        const hdx_id              of = hdx_le64(was->at + 8);
        const hdx_children_bounds bounds = { 0, hdx_le64(was->at + 16), hdx_le64(was->at + 24) };
        if ((of == HDX_VIRTUAL_ROOT || of < hdx_graph_objects(ask->g)) && note_of(of) == key)
            code = compute(ask, of, &bounds, &is, err);
    }
    if (code == HDX_OK && !same_bytes(was, &is))
        code = hdx_hint(err,
                        hdx_fail(err, HDX_DAMAGED, hdx_graph_saved_name(key), HDX_NOWHERE,
                                 "stored children differ from those in the dominator tree"),
                        "it is safe to delete");
    hdx_mem_put(NULL, is.at, is.size);
    return code;
}

hdx_code hdx_children_verify(const hdx_query *q, hdx_error *err)
{
    hdx_ask  ask;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    for (uint64_t i = 0; code == HDX_OK && i < HDX_NOTE_CHILDREN_COUNT; i++) {
        hdx_remembered r = hdx_graph_recall(ask.g, HDX_NOTE_CHILDREN + i);
        if (r.at != NULL)
            code = verify_note(&ask, HDX_NOTE_CHILDREN + i, &r, err);
        hdx_mem_put(NULL, r.at, r.size);
    }
    return code;
}
