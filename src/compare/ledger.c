/*
 * ledger.c - things, identified by name and parent, and the numbers of each heap for them.
 *
 * Cost: a text is stored once, however many things have it as a name; a thing takes 24 bytes, and 24 for each heap that
 *       has it or a thing added later. Names come from dumps: they are hashed with a secret key of the process, so that
 *       no dump can make the map slow.
 */
#include "compare/compare.h"

#include <stdio.h>

hdx_code hdx_ledger_open(hdx_mem *mem, size_t columns, hdx_ledger **out, hdx_error *err)
{
    hdx_ledger *l = *out = hdx_mem_get(mem, sizeof *l);
    if (l == NULL)
        return hdx_no_memory(err, "a ledger", sizeof *l);
    *l = (hdx_ledger){ .mem = mem,
                       .arena = hdx_arena_of(mem),
                       .by_text = hdx_map_of(mem),
                       .by_name = hdx_map_of(mem),
                       .column_count = columns };
    hdx_sum_key_make(&l->key);
    l->columns = hdx_mem_array(mem, columns, sizeof *l->columns);
    return l->columns != NULL ? HDX_OK : hdx_no_memory(err, "a ledger", columns * sizeof *l->columns);
}

void hdx_ledger_close(hdx_ledger *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; l->columns != NULL && i < l->column_count; i++)
        hdx_mem_put(l->mem, l->columns[i].at, l->columns[i].capacity * sizeof *l->columns[i].at);
    hdx_mem_put(l->mem, l->columns, l->column_count * sizeof *l->columns);
    hdx_mem_put(l->mem, l->names, l->name_capacity * sizeof *l->names);
    hdx_mem_put(l->mem, l->things, l->capacity * sizeof *l->things);
    hdx_mem_put(l->mem, (void *)l->labels, l->label_capacity * sizeof *l->labels);
    hdx_map_free(&l->by_text);
    hdx_map_free(&l->by_name);
    hdx_arena_free(&l->arena);
    hdx_mem_put(l->mem, l, sizeof *l);
}

hdx_code hdx_ledger_refused(const hdx_ledger *l, hdx_error *err)
{
    return hdx_no_memory(err, "what is compared", (l->count + l->name_count) * sizeof(hdx_ledger_sum));
}

uint32_t hdx_ledger_name(hdx_ledger *l, hdx_text text)
{
    hdx_sum sum = { { 0, 0 } };
    bool    fresh;
    hdx_sum_add(&l->key, &sum, 4, (const uint8_t *)text.at, text.len);
    hdx_sum_number(&l->key, &sum, text.len);
    for (uint64_t key = sum.at[0];; key++) { /* a collision of two texts is practically impossible */
        uint64_t *at = hdx_map_put(&l->by_text, key, &fresh);
        if (at == NULL)
            return HDX_LEDGER_NONE;
        if (!fresh && hdx_text_same(l->names[*at], text))
            return (uint32_t)*at;
        if (!fresh)
            continue;
        const char *copy = hdx_arena_copy(&l->arena, text.at, text.len);
        *at = l->name_count;
        if (copy == NULL || l->name_count >= HDX_LEDGER_NONE ||
            !hdx_mem_room(l->mem, (void **)&l->names, &l->name_capacity, l->name_count, sizeof *l->names))
            return HDX_LEDGER_NONE;
        l->names[l->name_count] = (hdx_text){ copy, text.len };
        return (uint32_t)l->name_count++;
    }
}

uint32_t hdx_ledger_thing_of(hdx_ledger *l, uint32_t above, uint32_t name)
{
    bool      fresh;
    uint64_t *at;
    if (name == HDX_LEDGER_NONE || above == HDX_LEDGER_NONE ||
        (at = hdx_map_put(&l->by_name, (uint64_t)above << 32 | name, &fresh)) == NULL)
        return HDX_LEDGER_NONE;
    if (!fresh)
        return (uint32_t)*at;
    *at = l->count;
    if (l->count >= HDX_LEDGER_NONE ||
        !hdx_mem_room(l->mem, (void **)&l->things, &l->capacity, l->count, sizeof *l->things))
        return HDX_LEDGER_NONE;
    l->things[l->count] = (hdx_ledger_thing){ above, name };
    return (uint32_t)l->count++;
}

hdx_ledger_sum *hdx_ledger_sum_of(hdx_ledger *l, size_t column, uint32_t thing)
{
    hdx_ledger_column *c = &l->columns[column];
    if (thing == HDX_LEDGER_NONE)
        return NULL;
    if (thing >= c->capacity) {
        const uint64_t  more = l->capacity > thing ? l->capacity : (uint64_t)thing + 1;
        hdx_ledger_sum *at = hdx_mem_resize(l->mem, c->at, c->capacity * sizeof *at, more * sizeof *at);
        if (at == NULL)
            return NULL;
        c->at = at;
        c->capacity = more;
    }
    return &c->at[thing];
}

hdx_ledger_sum hdx_ledger_read(const hdx_ledger *l, size_t column, uint32_t thing)
{
    const hdx_ledger_column *c = &l->columns[column];
    return thing < c->capacity ? c->at[thing] : (hdx_ledger_sum){ 0, 0, 0 };
}

bool hdx_ledger_label(hdx_ledger *l, uint32_t name, const char *text)
{
    if (name == HDX_LEDGER_NONE)
        return false;
    while (name >= l->label_capacity)
        if (!hdx_mem_room(l->mem, (void **)&l->labels, &l->label_capacity, l->label_capacity, sizeof *l->labels))
            return false;
    if (l->labels[name] == NULL)
        l->labels[name] = hdx_arena_copy(&l->arena, text, strlen(text));
    return l->labels[name] != NULL;
}

const char *hdx_ledger_label_of(const hdx_ledger *l, uint32_t thing)
{
    const uint32_t name = l->things[thing].name;
    const char    *label = name < l->label_capacity ? l->labels[name] : NULL;
    return label != NULL ? label : "";
}

/* ---- keys ---- */

static unsigned depth_of(const hdx_ledger *l, uint32_t thing)
{
    unsigned n = 0;
    for (; thing != HDX_LEDGER_TOP; thing = l->things[thing].above) /* ends: invariant 1 */
        n++;
    return n;
}

static uint32_t next_up(const hdx_ledger *l, uint32_t thing, unsigned steps)
{
    for (; steps > 0; steps--)
        thing = l->things[thing].above;
    return thing;
}

bool hdx_ledger_key(const hdx_ledger *l, uint32_t thing, hdx_buffer *text, hdx_cell *out)
{
    hdx_buffer_clear(text);
    for (unsigned n = depth_of(l, thing), i = n; i-- > 0;) {
        const hdx_text name = l->names[l->things[next_up(l, thing, i)].name];
        if (i + 1 < n)
            hdx_buffer_text(text, " > ");
        hdx_buffer_put(text, name.at, name.len);
    }
    *out = hdx_cell_text((hdx_text){ text->len > 0 ? text->at : "", (uint32_t)text->len });
    return !text->failed;
}

/* Compares the names where the two paths part; an ancestor comes first. */
int hdx_ledger_compare(const hdx_ledger *l, uint32_t a, uint32_t b)
{
    const unsigned m = depth_of(l, a), n = depth_of(l, b);
    uint32_t       x = next_up(l, a, m > n ? m - n : 0), y = next_up(l, b, n > m ? n - m : 0);
    if (x == y)
        return (m > n) - (m < n);
    while (l->things[x].above != l->things[y].above) {
        x = l->things[x].above;
        y = l->things[y].above;
    }
    return hdx_text_order(l->names[l->things[x].name], l->names[l->things[y].name]);
}

/* ---- heads ---- */

static const hdx_column warning_members[] = { HDX_ITEM(TEXT, "in words") };
const hdx_column        hdx_ledger_head_members[HDX_LEDGER_HEAD_MEMBERS] = {
           HDX_COLUMN("path", TEXT, NONE, 0, "name, as given"),
           HDX_COLUMN("size", UNSIGNED, BYTES, 0, "uncompressed size"),
           HDX_COLUMN("format", TEXT, NONE, 0, "format in the header"),
           HDX_COLUMN("id_size", UNSIGNED, BYTES, 0, "size of an address"),
           HDX_COLUMN("number", UNSIGNED, NONE, 0, "number of the heap in the file, from 1"),
           HDX_COLUMN("created_ms", UNSIGNED, NONE, 0, "creation time, in milliseconds since 1970"),
           HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "all objects, classes included"),
           HDX_COLUMN("live_objects", UNSIGNED, COUNT, 0, "reachable objects"),
           HDX_COLUMN("live_bytes", UNSIGNED, BYTES, 0, "their size"),
           HDX_COLUMN("damage", UNSIGNED, COUNT, 0, "number of damaged places"),
           HDX_NESTED("warnings", LIST, 0, "warnings", warning_members),
};

hdx_code hdx_ledger_head(hdx_ledger *l, size_t column, const char *path, const hdx_graph_summary *of, hdx_error *err)
{
    hdx_ledger_column *c = &l->columns[column];
    char               format[64];
    (void)snprintf(format, sizeof format, "JAVA PROFILE %.40s", of->version);
    c->path = hdx_arena_copy(&l->arena, path, strlen(path));
    c->version = hdx_arena_copy(&l->arena, format, strlen(format));
    c->warnings = hdx_arena_get(&l->arena, (of->warning_count + 1ull) * sizeof *c->warnings);
    if (c->path == NULL || c->version == NULL || c->warnings == NULL)
        return hdx_ledger_refused(l, err);
    for (; c->warning_count < of->warning_count; c->warning_count++)
        if ((c->warnings[c->warning_count] = hdx_arena_copy(&l->arena, of->warnings[c->warning_count],
                                                            strlen(of->warnings[c->warning_count]))) == NULL)
            return hdx_ledger_refused(l, err);
    c->id_size = of->id_size;
    c->number = of->dump_number;
    c->size = of->dump_size;
    c->created_ms = of->created_ms;
    c->objects = of->objects;
    c->live_objects = of->live_objects;
    c->live_bytes = of->live_bytes;
    c->damage = of->damage_count + of->damage_more;
    return HDX_OK;
}

hdx_code hdx_ledger_heads(const hdx_ledger *l, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_cell *all = hdx_arena_get(arena, l->column_count * sizeof *all);
    for (size_t i = 0; all != NULL && i < l->column_count; i++) {
        const hdx_ledger_column *c = &l->columns[i];
        const hdx_cell           values[HDX_LEDGER_HEAD_MEMBERS - 1] = {
                      hdx_cell_copy(arena, c->path), hdx_cell_uint(c->size),         hdx_cell_copy(arena, c->version),
                      hdx_cell_uint(c->id_size),     hdx_cell_uint(c->number),       hdx_cell_uint(c->created_ms),
                      hdx_cell_uint(c->objects),     hdx_cell_uint(c->live_objects), hdx_cell_uint(c->live_bytes),
                      hdx_cell_uint(c->damage)
        };
        hdx_member *m = hdx_arena_get(arena, HDX_LEDGER_HEAD_MEMBERS * sizeof *m);
        hdx_cell   *w = hdx_arena_get(arena, (c->warning_count + 1ull) * sizeof *w);
        if (m == NULL || w == NULL)
            return hdx_ledger_refused(l, err);
        for (uint32_t k = 0; k < c->warning_count; k++)
            w[k] = hdx_cell_copy(arena, c->warnings[k]);
        for (unsigned k = 0; k < HDX_LEDGER_HEAD_MEMBERS; k++)
            m[k] = (hdx_member){ hdx_ledger_head_members[k].name,
                                 k + 1 < HDX_LEDGER_HEAD_MEMBERS ? values[k] : hdx_cell_list(w, c->warning_count) };
        all[i] = hdx_cell_object(m, HDX_LEDGER_HEAD_MEMBERS);
    }
    *out = hdx_cell_list(all, l->column_count);
    return all != NULL && !arena->refused ? HDX_OK : hdx_ledger_refused(l, err);
}
