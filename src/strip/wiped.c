/*
 * wiped.c - detects what tools for dumps of JVMs remove while other contents stay (STRIP 5.7): contents of byte[] and
 * char[] only, everything after the first elements of arrays, values of primitive fields.
 *
 * In:  classes String and HashMap, their instances, the first WIPED_LOOK bytes of arrays.
 * Out: what is missing, as in hdx_stripping, and the evidence.
 * Texts of Strings are examined rather than all arrays: unused buffers contain zeros in every dump, but no text repeats
 * a single character, and none ends with zeros; nor do arrays of four different lengths all have zeros from the same
 * element on. A HashMap with a table has a load factor above 0.
 */
#include "strip/inside.h"

#include <stdio.h>

#define TEXTS_LEAST 8u         /* least Strings of two or more elements: fewer may be chance */
#define CUT_LEAST   3u         /* least texts that end with zeros, all at the same element */
#define MAPS_LEAST  3u         /* least HashMaps with a table */
#define PLACES_MOST (2u << 20) /* most arrays to record */
#define LARGEST_MAP 256u       /* most bytes of a HashMap to examine */

/*
 * About an array: bits, then its first element (16 bits), then the number of elements up to the last that is not 0 (32
 * bits).
 */
enum { NAMED = 1, SEEN = 2, SAME = 4, SLACK = 8, CHARS = 16 };
#define FIRST_SHIFT 8u
#define USED_SHIFT  32u

void hdx_strip_wiped_free(wiped *w) { hdx_map_free(&w->places); }

static hdx_code mark(wiped *w, uint64_t id, uint64_t bits, hdx_error *err)
{
    bool fresh;
    if (w->places.count >= PLACES_MOST && hdx_map_get(&w->places, id) == NULL)
        return HDX_OK;
    uint64_t *place = hdx_map_put(&w->places, id, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "texts of Strings", 2 * w->places.capacity * sizeof(hdx_map_slot));
    *place |= bits;
    return HDX_OK;
}

void hdx_strip_wiped_class(wiped *w, const hdx_class_dump *c, uint32_t id_size, bool string, uint64_t field)
{
    hdx_view fields = c->fields;
    uint64_t name;
    uint32_t at = 0;
    uint8_t  type;
    for (; hdx_class_field_next(&fields, id_size, &name, &type); at += hdx_type_size(type, id_size)) {
        const uint32_t size = hdx_type_size(type, id_size);
        if (string && type == 2 && name == field)
            w->text = (wiped_field){ true, at };
        else if (!string && type == 2 && name == field)
            w->table = (wiped_field){ true, at };
        else if (!string && type != 2 && w->number_count < WIPED_NUMBERS)
            w->numbers[w->number_count++] = (wiped_number){ at, size };
    }
}

hdx_code hdx_strip_wiped_string(wiped *w, reader *r, const entry *e, uint32_t id_size, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    hdx_code       code;
    if (!w->text.known || w->text.at > e->body || e->body - w->text.at < id_size ||
        !hdx_strip_reader_has(r, e->pos + e->head + w->text.at, id_size))
        return HDX_OK;
    code = hdx_strip_reader_at(r, e->pos + e->head + w->text.at, id_size, &at, &have, err);
    if (code != HDX_OK || have < id_size)
        return code;
    const uint64_t id = hdx_be_id(at, id_size);
    return id == 0 ? HDX_OK : mark(w, id, NAMED, err);
}

hdx_code hdx_strip_wiped_map(wiped *w, reader *r, const entry *e, uint32_t id_size, hdx_error *err)
{
    const uint8_t *at;
    size_t         have;
    const uint64_t size = e->body < LARGEST_MAP ? e->body : LARGEST_MAP;
    bool           zero = true;
    hdx_code       code;
    if (!w->table.known || w->number_count == 0 || w->table.at > size || size - w->table.at < id_size ||
        !hdx_strip_reader_has(r, e->pos + e->head, size))
        return HDX_OK;
    if ((code = hdx_strip_reader_at(r, e->pos + e->head, size, &at, &have, err)) != HDX_OK || have < size)
        return code;
    if (hdx_be_id(at + w->table.at, id_size) == 0)
        return HDX_OK;
    for (unsigned i = 0; i < w->number_count; i++)
        for (uint32_t k = 0; k < w->numbers[i].size && w->numbers[i].at + k < size; k++)
            zero = zero && at[w->numbers[i].at + k] == 0;
    w->maps++;
    w->zero_maps += zero;
    return HDX_OK;
}

static void remember_length(wiped *w, uint32_t length)
{
    for (unsigned i = 0; i < w->length_count; i++)
        if (w->lengths[i] == length)
            return;
    if (w->length_count < WIPED_LENGTHS)
        w->lengths[w->length_count++] = length;
}

hdx_code hdx_strip_wiped_array(wiped *w, const entry *e, const wiped_array *a, hdx_error *err)
{
    const unsigned group = e->type == 5 || e->type == 8 ? WIPED_TEXTS : WIPED_OTHERS;
    const bool     slack = e->count > a->used;
    if (a->used > w->longest[group]) {
        w->longest[group] = a->used;
        w->at_longest[group] = 0;
        w->length_count = group == WIPED_TEXTS ? 0 : w->length_count;
    }
    if (a->used == w->longest[group] && slack) {
        w->at_longest[group]++;
        if (group == WIPED_TEXTS)
            remember_length(w, e->count);
    }
    if (group != WIPED_TEXTS || e->count < 2)
        return HDX_OK;
    return mark(w, e->id,
                SEEN | (a->same ? SAME : 0u) | (slack ? SLACK : 0u) | (e->type == 5 ? CHARS : 0u) |
                    (a->first & 0xffff) << FIRST_SHIFT | (uint64_t)a->used << USED_SHIFT,
                err);
}

/* ---- judging ---- */

typedef struct texts { /* about Strings with two or more elements: in byte[] and in char[] */
    uint64_t all[2], same[2], cut;
    uint16_t value[2]; /* of which most of them consist */
} texts;

static bool is_text(const wiped *w, uint64_t i)
{
    const hdx_map_slot *s = &w->places.slots[i];
    return s->key != w->places.empty && (s->value & (NAMED | SEEN)) == (NAMED | SEEN);
}

/*
 * The only candidate for a value of which more than half of the texts consist is what remains when pairs of different
 * ones are removed.
 */
static texts count_texts(const wiped *w)
{
    texts    t = { .cut = 0 };
    uint64_t votes[2] = { 0, 0 };
    for (uint64_t i = 0; i < w->places.capacity; i++) {
        if (!is_text(w, i))
            continue;
        const uint64_t bits = w->places.slots[i].value;
        const unsigned c = (bits & CHARS) != 0;
        const uint16_t first = (uint16_t)(bits >> FIRST_SHIFT);
        t.all[c]++;
        t.cut += (bits & SLACK) != 0 && bits >> USED_SHIFT == w->longest[WIPED_TEXTS];
        if ((bits & SAME) == 0)
            continue;
        if (votes[c] == 0)
            t.value[c] = first;
        votes[c] += first == t.value[c] ? 1u : (uint64_t)-1;
    }
    for (uint64_t i = 0; i < w->places.capacity; i++) {
        const uint64_t bits = w->places.slots[i].value;
        const unsigned c = (bits & CHARS) != 0;
        t.same[c] += is_text(w, i) && (bits & SAME) != 0 && (uint16_t)(bits >> FIRST_SHIFT) == t.value[c];
    }
    return t;
}

/* Names of threads may be kept: three quarters of the texts must be one constant. */
static bool overwritten(const texts *t)
{
    return t->all[0] + t->all[1] >= TEXTS_LEAST && 4 * t->same[0] >= 3 * t->all[0] && 4 * t->same[1] >= 3 * t->all[1];
}

bool hdx_strip_wiped_texts(const wiped *w, hdx_stripping *out)
{
    const texts t = count_texts(w);
    if (!overwritten(&t))
        return false;
    const unsigned some = t.all[0] > 0 ? 0 : 1;
    for (unsigned c = 0; c < 2; c++)
        out->fill[c] = t.all[c] > 0 ? t.value[c] : t.value[some];
    (void)snprintf(out->evidence[out->evidence_count++], sizeof *out->evidence,
                   "%llu of %llu String texts are one constant (byte[]: 0x%02x, char[]: 0x%04x)",
                   (unsigned long long)(t.same[0] + t.same[1]), (unsigned long long)(t.all[0] + t.all[1]), out->fill[0],
                   out->fill[1]);
    return true;
}

bool hdx_strip_wiped_limits(const wiped *w, hdx_stripping *out)
{
    const texts t = count_texts(w);
    if (w->longest[WIPED_TEXTS] == 0 || (t.cut < CUT_LEAST && w->length_count < WIPED_LENGTHS))
        return false;
    out->limit[0] = w->longest[WIPED_TEXTS];
    out->limit[1] = w->at_longest[WIPED_OTHERS] > 0 ? w->longest[WIPED_OTHERS] : 0;
    (void)snprintf(out->evidence[out->evidence_count++], sizeof *out->evidence,
                   "byte[] and char[] have only their first %u elements, then zeros: %llu arrays, %llu of them texts",
                   out->limit[0], (unsigned long long)w->at_longest[WIPED_TEXTS], (unsigned long long)t.cut);
    if (out->limit[1] > 0)
        (void)snprintf(out->evidence[out->evidence_count++], sizeof *out->evidence,
                       "other primitive arrays have only their first %u elements, then zeros", out->limit[1]);
    return true;
}

bool hdx_strip_wiped_fields(const wiped *w, hdx_stripping *out)
{
    if (w->maps < MAPS_LEAST || w->zero_maps < w->maps)
        return false;
    (void)snprintf(out->evidence[out->evidence_count++], sizeof *out->evidence,
                   "every primitive field is 0 in all %llu HashMaps with a table, including load factor and size",
                   (unsigned long long)w->maps);
    return true;
}
