/*
 * layouts.c - offsets of the fields of a class table in the instances of each of its classes.
 *
 * In:  the fields of the table, and classes one by one.
 * Out: the offset of each field in the instances of each class.
 * An instance has the fields of its class first, then those of the superclass, and so on. A class that declares none of
 * the table's fields therefore has the layout of its superclass, shifted by its own bytes: an "instanceof" table of ten
 * thousand classes has one layout, and ten thousand numbers.
 */
#include "sql/layouts.h"

#include <string.h>

static const sql_layout in_progress; /* marks a class whose layout is being computed */

/* ---- numbers of texts ---- */

static uint64_t text_hash(hdx_text text) { return hdx_hash_bytes(text.len, text.at, text.len); }

/* Returns the number (from 1) of a text that a field of the table has; 0: no field has it. */
static uint32_t find_text(const sql_layouts *l, hdx_text text)
{
    uint64_t        hash = text_hash(text);
    const uint64_t *at;
    while ((at = hdx_map_get(&l->texts, hash)) != NULL) {
        if (hdx_text_same(l->text_at[*at - 1], text))
            return (uint32_t)*at;
        hash = hdx_mix64(hash);
    }
    return 0;
}

static bool add_text(sql_layouts *l, hdx_text *all, hdx_text text)
{
    uint64_t hash = text_hash(text), *at;
    bool     fresh;
    while ((at = hdx_map_put(&l->texts, hash, &fresh)) != NULL && !fresh) {
        if (hdx_text_same(all[*at - 1], text))
            return true;
        hash = hdx_mix64(hash);
    }
    if (at == NULL)
        return false;
    all[l->text_count] = text;
    *at = ++l->text_count;
    return true;
}

/* Same, with a cache by address, so that long names that many classes share are read once. */
static bool number_of(sql_layouts *l, hdx_text text, uint32_t *number)
{
    bool      fresh;
    uint64_t *known = hdx_map_put(&l->known, hdx_mix64((uint64_t)(uintptr_t)text.at) ^ text.len, &fresh);
    if (known == NULL)
        return false;
    if (fresh)
        *known = find_text(l, text);
    *number = (uint32_t)*known;
    return true;
}

static uint64_t group_key(uint32_t owner, uint32_t name, uint8_t type)
{
    return (uint64_t)owner << 40 | (uint64_t)name << 8 | type;
}

/* ---- the fields of the table ---- */

static bool number_texts(sql_layouts *l)
{
    hdx_text *all = hdx_arena_get(&l->arena, 2ull * l->field_count * sizeof *all);
    bool      good = all != NULL;
    for (unsigned k = 0; good && k < l->field_count; k++)
        good = add_text(l, all, l->fields[k].owner) && add_text(l, all, l->fields[k].name);
    l->text_at = all;
    return good;
}

/* Groups fields of equal owner, name and type; each has its rank in the group. */
static bool group_fields(sql_layouts *l)
{
    for (unsigned k = 0; k < l->field_count; k++) {
        const sql_field *f = &l->fields[k];
        bool             fresh;
        uint64_t        *group =
            hdx_map_put(&l->groups, group_key(find_text(l, f->owner), find_text(l, f->name), f->type), &fresh);
        if (group == NULL)
            return false;
        if (fresh)
            *group = ++l->group_count;
        l->group_of[k] = (uint32_t)*group - 1;
        l->rank_of[k] = l->used[l->group_of[k]]++;
    }
    uint32_t at = 0;
    for (unsigned g = 0; g < l->group_count; g++) {
        l->first[g] = at;
        at += l->used[g];
    }
    l->first[l->group_count] = at;
    for (unsigned k = 0; k < l->field_count; k++)
        l->slots[l->first[l->group_of[k]] + l->rank_of[k]] = k;
    return true;
}

static uint32_t *no_places(sql_layouts *l)
{
    uint32_t *places = hdx_arena_get(&l->arena, (l->field_count + 1ull) * sizeof *places);
    for (unsigned k = 0; places != NULL && k < l->field_count; k++)
        places[k] = SQL_NO_PLACE;
    return places;
}

hdx_code hdx_sql_layouts_open(sql_layouts *l, sql_heap *heap, const sql_field *fields, unsigned count, uint64_t most,
                              hdx_error *err)
{
    hdx_mem *mem = heap->query.mem;
    *l = (sql_layouts){ .heap = heap,
                        .mem = mem,
                        .fields = fields,
                        .field_count = count,
                        .most = most,
                        .texts = hdx_map_of(mem),
                        .known = hdx_map_of(mem),
                        .groups = hdx_map_of(mem),
                        .arena = hdx_arena_of(mem) };
    (void)hdx_graph_classes(heap->g, &l->class_count);
    uint32_t **const arrays[] = { &l->group_of, &l->rank_of, &l->slots, &l->first, &l->used };
    bool             good = true;
    for (size_t i = 0; good && i < sizeof arrays / sizeof *arrays; i++)
        good = (*arrays[i] = hdx_arena_get(&l->arena, (count + 1ull) * sizeof **arrays[i])) != NULL;
    good = good && (l->none.places = no_places(l)) != NULL;
    good = good && (l->of = hdx_mem_array(mem, l->class_count + 1ull, sizeof *l->of)) != NULL;
    good = good && (l->chain = hdx_mem_array(mem, l->class_count + 1ull, sizeof *l->chain)) != NULL;
    if (good && number_texts(l) && group_fields(l))
        return HDX_OK;
    return hdx_no_memory(err, "places of fields", (l->class_count + 1ull) * sizeof *l->of);
}

void hdx_sql_layouts_close(sql_layouts *l)
{
    hdx_map_free(&l->texts);
    hdx_map_free(&l->known);
    hdx_map_free(&l->groups);
    hdx_mem_put(l->mem, l->of, (l->class_count + 1ull) * sizeof *l->of);
    hdx_mem_put(l->mem, l->chain, (l->class_count + 1ull) * sizeof *l->chain);
    hdx_arena_free(&l->arena);
    *l = (sql_layouts){ .heap = NULL };
}

/* ---- classes ---- */

typedef struct own_fields {
    uint64_t bytes;
    uint32_t places_count; /* number of own fields that are in the table */
} own_fields;

/* Writes the offsets of a class's own fields to `places` (NULL: only counts them). */
static hdx_code read_own(sql_layouts *l, const hdx_class *c, uint32_t *places, own_fields *own, hdx_error *err)
{
    const unsigned id_size = hdx_graph_summary_of(l->heap->g)->id_size;
    uint32_t       owner, name;
    hdx_code       code = HDX_OK;
    *own = (own_fields){ 0 };
    if (!number_of(l, c->name, &owner))
        return hdx_no_memory(err, "places of fields", 0);
    for (uint32_t i = 0; code == HDX_OK && i < c->field_count; i++) {
        const unsigned  size = hdx_type_size(c->fields[i].type, id_size);
        const uint64_t  at = own->bytes;
        const uint64_t *group = NULL;
        own->bytes += size;
        if (owner == 0 || at + size > l->most)
            continue;
        if (!number_of(l, c->fields[i].name, &name))
            return hdx_no_memory(err, "places of fields", 0);
        if (name != 0)
            group = hdx_map_get(&l->groups, group_key(owner, name, c->fields[i].type));
        if (group != NULL && places == NULL)
            own->places_count++;
        if (group != NULL && places != NULL) {
            const uint32_t slot = l->first[*group - 1] + l->used[*group - 1];
            if (slot < l->first[*group]) {
                places[l->slots[slot]] = (uint32_t)at;
                l->used[*group - 1]++;
                own->places_count++;
            }
        }
        code = sql_turn(l->heap->db, err);
    }
    return code;
}

/* Adds the fields of the superclass, which follow the class's own, to the places of each group that are still free. */
static void read_above(sql_layouts *l, const sql_layout_of *above, uint64_t own_bytes, uint32_t *places)
{
    const unsigned id_size = hdx_graph_summary_of(l->heap->g)->id_size;
    for (unsigned k = 0; k < l->field_count; k++) {
        const uint32_t group = l->group_of[k], slot = l->first[group] + l->used[group] + l->rank_of[k];
        const uint64_t at = above->layout->places[k] + above->shift + own_bytes;
        if (above->layout->places[k] != SQL_NO_PLACE && slot < l->first[group + 1] &&
            at + hdx_type_size(l->fields[k].type, id_size) <= l->most)
            places[l->slots[slot]] = (uint32_t)at;
    }
}

/* Computes the layout of a class whose superclass is done. */
static hdx_code lay_out(sql_layouts *l, const hdx_class *c, const sql_layout_of *above, sql_layout_of *out,
                        hdx_error *err)
{
    const unsigned id_size = hdx_graph_summary_of(l->heap->g)->id_size;
    own_fields     own;
    hdx_code       code = read_own(l, c, NULL, &own, err);
    if (code != HDX_OK)
        return code;
    *out = (sql_layout_of){ above->layout, above->shift + own.bytes };
    if (own.places_count == 0)
        return HDX_OK;
    sql_layout *made = hdx_arena_get(&l->arena, sizeof *made);
    if (made == NULL || (made->places = no_places(l)) == NULL)
        return hdx_no_memory(err, "places of fields", l->field_count * sizeof *made->places);
    memset(l->used, 0, l->group_count * sizeof *l->used);
    if ((code = read_own(l, c, made->places, &own, err)) != HDX_OK)
        return code;
    read_above(l, above, own.bytes, made->places);
    for (unsigned k = 0; k < l->field_count; k++) {
        const uint32_t end =
            made->places[k] == SQL_NO_PLACE ? 0 : made->places[k] + hdx_type_size(l->fields[k].type, id_size);
        made->end = end > made->end ? end : made->end;
    }
    *out = (sql_layout_of){ made, 0 };
    l->made++;
    return HDX_OK;
}

/* Returns the end of the fields that are within the bytes read. */
static uint64_t end_of(const sql_layouts *l, const sql_layout_of *of)
{
    const unsigned id_size = hdx_graph_summary_of(l->heap->g)->id_size;
    uint64_t       end = of->layout->end + of->shift;
    if (of->layout->end == 0 || end <= l->most)
        return of->layout->end == 0 ? 0 : end;
    end = 0;
    for (unsigned k = 0; k < l->field_count && of->shift < l->most; k++) {
        const uint64_t here = of->layout->places[k] + of->shift + hdx_type_size(l->fields[k].type, id_size);
        if (of->layout->places[k] != SQL_NO_PLACE && here <= l->most && here > end)
            end = here;
    }
    return end;
}

/*
 * Computes layouts from the first superclass whose layout is known down to this class; a cycle in a damaged index ends
 * where it began.
 */
hdx_code hdx_sql_layouts_add(sql_layouts *l, uint32_t number, hdx_error *err)
{
    const sql_layout_of root = { &l->none, 0 };
    uint32_t            n = 0, up = number;
    hdx_code            code = HDX_OK;
    for (; up < l->class_count && l->of[up].layout == NULL; up = hdx_graph_class(l->heap->g, up)->super) {
        l->of[up].layout = &in_progress;
        l->chain[n++] = up;
    }
    const sql_layout_of *above = up < l->class_count && l->of[up].layout != &in_progress ? &l->of[up] : &root;
    while (code == HDX_OK && n > 0) {
        sql_layout_of  out;
        const uint32_t at = l->chain[--n];
        if ((code = lay_out(l, hdx_graph_class(l->heap->g, at), above, &out, err)) == HDX_OK)
            l->of[at] = out;
        above = &l->of[at];
    }
    if (code != HDX_OK || number >= l->class_count)
        return code;
    const uint64_t end = end_of(l, &l->of[number]);
    l->width = end > l->width ? (uint32_t)end : l->width;
    return HDX_OK;
}
