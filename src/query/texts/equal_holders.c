/*
 * equal_holders.c - the column `holder` of groups of equal contents: the class that has most of the copies.
 *
 * In:  some groups, by the id of their first object.
 * Out: "com.acme.Order#currency", or "java.lang.Object[]" if most are elements of arrays.
 * Members of groups are not stored: the dump is read once more, sums of arrays identify the members of the requested
 * groups, and the index has their referrers. Members are counted by the class that refers to them, each once per class,
 * because only copies waste memory: 120,000 objects that share one literal waste nothing. The field is that of one
 * referrer: the one with the least id of the member with the least id.
 * Cost: one pass over the dump for each batch of rows, 48 bytes for each pair of a group and a class.
 */
#include "query/texts/array_contents.h"

#include <stdlib.h>

#define AT_ONCE 65536u /* groups */

typedef struct group_of {
    hdx_id   id;
    hdx_sum  sum;
    uint64_t kind;
} group_of;

typedef struct tally { /* of one worker */
    hdx_map count;     /* group << 32 | class -> members that it refers to */
    hdx_map least;     /* same key -> the least id of these, negated, because new entries are 0 */
    /* same key -> 1 + the member that was counted last, because a class may refer to it many times */
    hdx_map last;
    char    apart[HDX_APART];
} tally;

struct hdx_equal_holders {
    hdx_array_contents c;
    group_of          *groups; /* by id */
    uint64_t           count;
    hdx_map            wanted; /* first part of a sum and kind -> index among the current rows */
    group_of          *rows;   /* the current rows */
    tally             *tallies;
};

static int by_id(const void *a, const void *b)
{
    const group_of *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

hdx_code hdx_equal_holders_new(const hdx_array_contents *c, const hdx_equals *groups, hdx_equal_holders **out,
                               hdx_error *err)
{
    hdx_equal_holders *h = hdx_mem_get(c->ask.q.mem, sizeof *h);
    if (h == NULL)
        return hdx_no_memory(err, "holders", sizeof *h);
    if ((h->groups = hdx_mem_array(c->ask.q.mem, groups->count, sizeof *h->groups)) == NULL)
        return hdx_no_memory(err, "holders", groups->count * sizeof *h->groups);
    h->count = groups->count;
    for (uint64_t i = 0; i < h->count; i++)
        h->groups[i] = (group_of){ groups->at[i].id, groups->at[i].sum, groups->at[i].kind };
    if (h->count > 0)
        qsort(h->groups, (size_t)h->count, sizeof *h->groups, by_id);
    *out = h;
    return HDX_OK;
}

/* ---- members and their referrers ---- */

static uint64_t key_of(const hdx_sum *sum, unsigned kind) { return sum->at[0] ^ (uint64_t)kind << 61; }

static hdx_code count_referrers(hdx_equal_holders *h, unsigned n, uint64_t row, hdx_id member, hdx_error *err)
{
    tally   *t = &h->tallies[n];
    hdx_refs refs;
    hdx_id   from;
    hdx_graph_inbound(h->c.ask.g, member, h->c.ask.q.scope, &refs);
    while (hdx_refs_next(&refs, &from)) {
        const uint64_t key = row << 32 | hdx_graph_class_of(h->c.ask.g, from);
        bool           fresh;
        uint64_t      *last = hdx_map_put(&t->last, key, &fresh);
        if (last != NULL && *last == member + 1)
            continue;
        if (last != NULL)
            *last = member + 1;
        uint64_t *count = last == NULL ? NULL : hdx_map_put(&t->count, key, &fresh);
        if (count != NULL)
            ++*count;
        uint64_t *least = count == NULL ? NULL : hdx_map_put(&t->least, key, &fresh);
        if (least == NULL)
            return hdx_no_memory(err, "holders", t->count.count * sizeof(hdx_map_slot));
        if (~member > *least)
            *least = ~member;
    }
    return HDX_OK;
}

/* Counts the Strings that use an array: referrers with the array in their field `value`. */
static hdx_code count_strings(hdx_equal_holders *h, unsigned n, uint64_t row, hdx_id array, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   from;
    hdx_code code = HDX_OK;
    hdx_graph_inbound(h->c.ask.g, array, h->c.ask.q.scope, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &from)) {
        const hdx_class *class = hdx_graph_class(h->c.ask.g, hdx_graph_class_of(h->c.ask.g, from));
        if (class != NULL && hdx_class_of_strings(class))
            code = count_referrers(h, n, row, from, err);
    }
    return code;
}

static bool row_of(const hdx_equal_holders *h, const hdx_sum *sum, unsigned kind, uint64_t *row)
{
    const uint64_t *place = hdx_map_get(&h->wanted, key_of(sum, kind));
    if (place == NULL || h->rows[*place].sum.at[1] != sum->at[1])
        return false;
    *row = *place;
    return true;
}

static hdx_code see_array(void *context, unsigned n, hdx_id array, const hdx_sum *sum, hdx_error *err)
{
    hdx_equal_holders        *h = context;
    const hdx_array_contents *c = &h->c;
    uint64_t                  place, row;
    if (!hdx_array_contents_place(c, array, &place))
        return HDX_OK;
    if (c->strings[place] > 0) {
        const hdx_equal_kind kind = hdx_equal_kind_of(c->flags[place]);
        return row_of(h, sum, kind, &row) ? count_strings(h, n, row, array, err) : HDX_OK;
    }
    if ((c->flags[place] & HDX_ARRAY_PARTLY) != 0 || !hdx_ask_wants(&c->ask, array) ||
        !row_of(h, sum, HDX_EQUAL_ARRAYS, &row))
        return HDX_OK;
    return count_referrers(h, n, row, array, err);
}

static hdx_code count_all(hdx_equal_holders *h, hdx_error *err)
{
    uint64_t row;
    hdx_code code = hdx_array_contents_read(&h->c, true, see_array, h, err);
    for (uint64_t i = 0; i < h->c.part_count && code == HDX_OK; i++)
        if (row_of(h, &h->c.parts[i].sum, HDX_EQUAL_CHARS, &row))
            code = count_referrers(h, 0, row, h->c.parts[i].string, err);
    return code;
}

/* ---- the class with most members ---- */

typedef struct most_members {
    uint64_t count, least;
    uint32_t class;
} most_members;

static hdx_code add_tallies(hdx_equal_holders *h, hdx_error *err)
{
    tally *sum = &h->tallies[0];
    bool   fresh;
    for (unsigned i = 1; i < h->c.threads; i++) {
        const tally *t = &h->tallies[i];
        for (uint64_t k = 0; k < t->count.capacity; k++) {
            const hdx_map_slot *slot = &t->count.slots[k];
            if (slot->key == t->count.empty)
                continue;
            uint64_t *count = hdx_map_put(&sum->count, slot->key, &fresh);
            if (count != NULL)
                *count += slot->value;
            uint64_t       *least = count == NULL ? NULL : hdx_map_put(&sum->least, slot->key, &fresh);
            const uint64_t *other = hdx_map_get(&t->least, slot->key);
            if (least == NULL)
                return hdx_no_memory(err, "holders", sum->count.count * sizeof *slot);
            if (other != NULL && *other > *least)
                *least = *other;
        }
    }
    return HDX_OK;
}

/*
 * Finds the class with most members; of several, the first in the table of classes. No key equals the map's empty key.
 */
static void find_most(const hdx_equal_holders *h, most_members *rows, uint64_t count)
{
    const tally *t = &h->tallies[0];
    for (uint64_t k = 0; k < t->count.capacity; k++) {
        const hdx_map_slot *slot = &t->count.slots[k];
        if (slot->key == t->count.empty || slot->key >> 32 >= count)
            continue;
        most_members *m = &rows[slot->key >> 32];
        const uint32_t class = (uint32_t)slot->key;
        if (slot->value < m->count || (slot->value == m->count && class > m->class))
            continue;
        const uint64_t *least = hdx_map_get(&t->least, slot->key);
        *m = (most_members){ slot->value, least == NULL ? HDX_NO_ID : ~*least, class };
    }
}

typedef struct naming {
    hdx_graph    *g;
    bool          found;
    hdx_named_ref ref;
} naming;

static bool take_first(void *context, const hdx_named_ref *ref)
{
    naming *n = context;
    if (ref->kind != HDX_REF_CLASS) {
        n->ref = *ref;
        n->found = true;
    }
    return !n->found;
}

static hdx_code name_holder(hdx_equal_holders *h, const most_members *m, hdx_arena *arena, hdx_cell *cell,
                            hdx_error *err)
{
    hdx_graph *g = h->c.ask.g;
    naming     n = { .g = g };
    hdx_refs   refs;
    hdx_id     from;
    hdx_code   code = HDX_OK;
    const hdx_class *class = m->count == 0 ? NULL : hdx_graph_class(g, m->class);
    hdx_buffer text = hdx_buffer_of(h->c.ask.q.mem);
    *cell = hdx_cell_null();
    if (class == NULL)
        return HDX_OK;
    hdx_graph_inbound(g, m->least, h->c.ask.q.scope, &refs);
    while (class->kind == HDX_INSTANCE && hdx_refs_next(&refs, &from))
        if (hdx_graph_class_of(g, from) == m->class) {
            code = hdx_graph_named_refs(g, from, m->least, take_first, &n, err);
            break;
        }
    if (code != HDX_OK)
        return code;
    const hdx_class *owner = n.found && n.ref.owner != HDX_NO_CLASS ? hdx_graph_class(g, n.ref.owner) : class;
    owner = owner == NULL ? class : owner;
    hdx_buffer_put(&text, owner->name.at, owner->name.len);
    if (n.found)
        hdx_buffer_format(&text, "#%s", n.ref.name);
    *cell = text.failed ? hdx_cell_null() : hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len });
    code = text.failed ? hdx_no_memory(err, "holders", text.len) : HDX_OK;
    hdx_buffer_free(&text);
    return code;
}

/* ---- the column ---- */

static hdx_code choose_rows(hdx_equal_holders *h, const hdx_cell *keys, uint64_t count, hdx_error *err)
{
    h->wanted = hdx_map_of(h->c.ask.q.mem);
    for (uint64_t i = 0; i < count; i++) {
        hdx_id id;
        bool   fresh;
        if (keys[i].kind != HDX_CELL_ADDRESS || !hdx_graph_find(h->c.ask.g, keys[i].as.address, &id))
            continue;
        const uint64_t at = hdx_lower_bound(HDX_KEYS(h->groups, h->count, id), id);
        if (at == h->count || h->groups[at].id != id)
            continue;
        h->rows[i] = h->groups[at];
        uint64_t *place = hdx_map_put(&h->wanted, key_of(&h->rows[i].sum, (unsigned)h->rows[i].kind), &fresh);
        if (place == NULL)
            return hdx_no_memory(err, "holders", count * sizeof *h->rows);
        *place = i;
    }
    return HDX_OK;
}

/* Finds for each row the class with most members. */
static hdx_code find_rows(hdx_equal_holders *h, const hdx_cell *keys, uint64_t count, most_members *rows,
                          hdx_error *err)
{
    hdx_mem *mem = h->c.ask.q.mem;
    hdx_code code = HDX_OK;
    h->rows = hdx_mem_array(mem, count, sizeof *h->rows);
    h->tallies = hdx_mem_array(mem, h->c.threads, sizeof *h->tallies);
    if (h->rows == NULL || h->tallies == NULL)
        code = hdx_no_memory(err, "holders", count * sizeof *rows);
    for (unsigned i = 0; h->tallies != NULL && i < h->c.threads; i++)
        h->tallies[i].count = h->tallies[i].least = h->tallies[i].last = hdx_map_of(mem);
    if (code == HDX_OK)
        code = choose_rows(h, keys, count, err);
    if (code == HDX_OK && (code = count_all(h, err)) == HDX_OK && (code = add_tallies(h, err)) == HDX_OK)
        find_most(h, rows, count);
    for (unsigned i = 0; h->tallies != NULL && i < h->c.threads; i++) {
        hdx_map_free(&h->tallies[i].count);
        hdx_map_free(&h->tallies[i].least);
        hdx_map_free(&h->tallies[i].last);
    }
    hdx_map_free(&h->wanted);
    hdx_mem_put(mem, h->tallies, h->c.threads * sizeof *h->tallies);
    hdx_mem_put(mem, h->rows, count * sizeof *h->rows);
    return code;
}

static hdx_code fill_holders(void *context, const hdx_cell *keys, uint64_t count, hdx_arena *arena, hdx_cell *cells,
                             hdx_error *err)
{
    hdx_equal_holders *h = context;
    most_members      *rows = hdx_mem_array(h->c.ask.q.mem, count, sizeof *rows);
    hdx_code           code =
        rows == NULL ? hdx_no_memory(err, "holders", count * sizeof *rows) : find_rows(h, keys, count, rows, err);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++)
        code = name_holder(h, &rows[i], arena, &cells[i], err);
    hdx_mem_put(h->c.ask.q.mem, rows, count * sizeof *rows);
    return code;
}

hdx_code hdx_equal_holders_copy(hdx_equal_holders *h, hdx_array_contents *c, hdx_id group, hdx_id *out, hdx_error *err)
{
    most_members   row = { .count = 0 };
    const hdx_cell key = hdx_id_cell(c->ask.g, group);
    h->c = *c;
    *c = (hdx_array_contents){ .objects = 0 };
    const hdx_code code = find_rows(h, &key, 1, &row, err);
    hdx_array_contents_close(&h->c);
    *out = row.count > 0 ? row.least : group;
    return code;
}

hdx_code hdx_equal_holders_fill(hdx_equal_holders *h, hdx_array_contents *c, hdx_rows **rows, hdx_error *err)
{
    h->c = *c;
    *c = (hdx_array_contents){ .objects = 0 };
    const hdx_filler filler = { .fill = fill_holders, .context = h };
    return hdx_rows_fill(rows, "address", "holder", &filler, 0, AT_ONCE, err);
}
