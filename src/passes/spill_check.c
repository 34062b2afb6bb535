/*
 * spill_check.c - checks that a spill file is what a build writes.
 *
 * In:  a file that was in the folder, and its units.
 * Out: HDX_OK, or HDX_NOT_FOUND.
 * Every record is parsed once and all bounds are checked: checksums detect corruption, this detects everything else.
 */
#include "passes/spill.h"

#define RECORD_LEAST 2u /* least bytes of a record: its size and a class */

static hdx_code unusable(hdx_error *err)
{
    return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no usable checkpoint");
}

typedef struct spilled {
    hdx_work              *w;
    const hdx_dump_tables *t;
    const hdx_spill       *spill;
    uint64_t              *seen;
    uint64_t              *instances;      /* by class number */
    uint64_t               objects, edges; /* so far */
    uint8_t                widths[4];
} spilled;

/* No list contains the class of its object. */
static bool list_holds(spilled *s, uint64_t id, uint64_t class_object, unsigned width, const uint8_t *at,
                       const uint8_t *end)
{
    const uint64_t objects = s->t->objects;
    uint64_t       before = 0;
    if ((uint64_t)(end - at) % width != 0)
        return false;
    for (bool first = true; at < end; first = false, at += width, s->edges++) {
        const uint64_t target = id - hdx_spill_half(width) + (hdx_le64(at) & hdx_spill_mask(width));
        if (target >= objects || target == class_object || (!first && target <= before))
            return false;
        before = target;
    }
    return true;
}

static bool record_holds(spilled *s, const hdx_spilled *u, const uint8_t **at, const uint8_t *end, uint64_t *next_id,
                         hdx_pos *pos)
{
    const hdx_dump_tables *t = s->t;
    uint64_t               id = *next_id, value, all, head;
    if (!hdx_packed_number(at, end, &all) || all >> 1 > (uint64_t)(end - *at))
        return false;
    const uint8_t *here = *at, *stop = here + (all >> 1);
    *at = stop;
    if ((all & 1) != 0 && !hdx_packed_number(&here, stop, &value))
        return false;
    id += (all & 1) != 0 ? (uint64_t)hdx_unzigzag(value) : 0;
    if (id >= t->objects || id < u->first || id > u->last || !hdx_bits_set(s->seen, id))
        return false;
    *next_id = id + 1;
    if (!u->bare && (!hdx_packed_number(&here, stop, &value) || !hdx_add(*pos, value, pos) || *pos >= t->dump_size))
        return false;
    if (t->heap_count > 0 && (!hdx_packed_number(&here, stop, &value) || value > t->heap_count))
        return false;
    if (!hdx_packed_number(&here, stop, &head) || head >> 2 >= t->class_count ||
        (t->classes[head >> 2].kind != HDX_INSTANCE && (!hdx_packed_number(&here, stop, &value) || value > UINT32_MAX)))
        return false;
    s->objects++;
    s->instances[head >> 2]++;
    return list_holds(s, id, t->classes[head >> 2].id, s->widths[head & 3], here, stop);
}

static bool unit_holds(spilled *s, uint64_t i, uint8_t *bytes)
{
    const hdx_spilled *u = &s->spill->units[i];
    hdx_spill_reader   reader;
    const spilled      before = *s;
    hdx_error          err;
    uint64_t           end, next_id = 0;
    hdx_pos            pos = u->pos;
    uint8_t            bare;
    memcpy(&bare, &u->bare, sizeof bare); /* an invalid bool must not be read as one */
    if (bare > 1 || u->last >= s->t->objects || !hdx_add(u->at, u->bytes, &end) || end > s->spill->file.end ||
        u->bytes > s->spill->longest || hdx_spill_get(s->t, s->spill, i, bytes, &reader, &err) != HDX_OK)
        return false;
    for (const uint8_t *at = reader.at; at < reader.end;)
        if (!record_holds(s, u, &at, reader.end, &next_id, &pos))
            return false;
    return s->objects - before.objects == u->objects && s->edges - before.edges == u->edges;
}

static bool instances_hold(const spilled *s)
{
    const hdx_dump_tables *t = s->t;
    for (uint32_t i = 0; i < t->class_count; i++)
        if (s->instances[i] != t->classes[i].instances)
            return false;
    return true;
}

hdx_code hdx_spill_check(hdx_work *w, const hdx_dump_tables *t, const hdx_spill *spill, bool counted, hdx_error *err)
{
    spilled        s = { .w = w, .t = t, .spill = spill };
    const uint64_t room = spill->longest + HDX_PACKED_SLACK;
    uint8_t       *bytes;
    hdx_code       code = HDX_OK;
    if (spill->longest > spill->file.end || t->objects > spill->file.end / RECORD_LEAST)
        return unusable(err);
    hdx_spill_widths(t->objects, s.widths);
    s.seen = hdx_mem_array(&w->mem, hdx_bits_words(t->objects), 8);
    s.instances = hdx_mem_array(&w->mem, t->class_count, sizeof *s.instances);
    bytes = hdx_mem_get(&w->mem, room);
    if (s.seen == NULL || s.instances == NULL || bytes == NULL)
        code = hdx_no_memory(err, "a checkpoint", room);
    for (uint64_t i = 0; i < spill->count && code == HDX_OK; i++)
        code = unit_holds(&s, i, bytes) ? HDX_OK : unusable(err);
    if (code == HDX_OK && (s.objects != t->objects || s.edges != spill->edges || (counted && !instances_hold(&s))))
        code = unusable(err);
    hdx_mem_put(&w->mem, bytes, room);
    hdx_mem_put(&w->mem, s.instances, t->class_count * sizeof *s.instances);
    hdx_mem_put(&w->mem, s.seen, hdx_bits_words(t->objects) * 8);
    return code;
}
