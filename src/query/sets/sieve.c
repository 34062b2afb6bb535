/*
 * sieve.c - objects whose fields meet conditions: "size > 100", ".name ~ ^worker", "table = null", "length > 1M".
 *
 * In:  conditions as the user typed them (rows.h); values from the dump.
 * Out: yes or no for each object.
 * A field is the one that hdx_graph_field finds; an object whose class has no such field, or whose value the dump
 * lacks, meets no condition on it. The right side of a comparison determines how a reference is compared: with an
 * address or null, the reference itself is; with a text, the whole label of the object to which it refers. Arrays have
 * a length, as in Java.
 * Cost: a record of the dump for each object and condition.
 */
#include "base/nearest.h"
#include "query/common/labels.h"
#include "query/sets/exclude.h"
#include "query/sets/sets.h"
#include "query/query.h"

typedef struct clause {
    hdx_condition *is;
    char          *name; /* in the arena */
    bool           known;
} clause;

struct hdx_sieve {
    hdx_query q;
    clause   *at;
    size_t    count;
    hdx_arena arena;   /* the clauses */
    hdx_arena values;  /* emptied for each object */
    uint32_t *classes; /* classes that were offered, for suggestions of similar names */
    uint64_t  class_count, class_room;
};

hdx_code hdx_sieve_open(const hdx_query *q, hdx_sieve **out, hdx_error *err)
{
    *out = NULL;
    if (q->field_count == 0)
        return HDX_OK;
    hdx_sieve *s = hdx_mem_get(q->mem, sizeof *s);
    if (s == NULL)
        return hdx_no_memory(err, "conditions", sizeof *s);
    s->q = *q;
    s->q.whole = HDX_WHOLE_BYTES; /* conditions must not match truncated text */
    s->arena = s->values = hdx_arena_of(q->mem);
    s->at = hdx_arena_get(&s->arena, q->field_count * sizeof *s->at);
    hdx_code code = s->at == NULL ? hdx_no_memory(err, "conditions", q->field_count * sizeof *s->at) : HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < q->field_count; i++) {
        hdx_text name = { "", 0 };
        clause  *c = &s->at[i];
        *c = (clause){ .is = NULL };
        if ((code = hdx_condition_open(q->fields[i], q->progress, &c->is, err)) != HDX_OK)
            break;
        s->count++;
        (void)hdx_condition_name(q->fields[i], &name);
        if (name.len > 1 && name.at[0] == '.')
            name = (hdx_text){ name.at + 1, name.len - 1 };
        if ((c->name = hdx_arena_copy(&s->arena, name.at, name.len)) == NULL)
            code = hdx_no_memory(err, "conditions", name.len);
    }
    if (code != HDX_OK)
        hdx_sieve_close(s);
    else
        *out = s;
    return code;
}

void hdx_sieve_close(hdx_sieve *s)
{
    if (s == NULL)
        return;
    hdx_mem *mem = s->q.mem;
    for (size_t i = 0; i < s->count; i++)
        hdx_condition_close(s->at[i].is);
    hdx_arena_free(&s->arena);
    hdx_arena_free(&s->values);
    hdx_mem_put(mem, s->classes, s->class_room * sizeof *s->classes);
    hdx_mem_put(mem, s, sizeof *s);
}

/* ---- known fields ---- */

static bool is_array(const hdx_class *c) { return c->kind != HDX_INSTANCE; }

static bool has_field(hdx_graph *g, const hdx_class *c, const char *name)
{
    uint32_t count = 0;
    (void)hdx_graph_classes(g, &count);
    if (is_array(c))
        return strcmp(name, "length") == 0;
    for (uint32_t steps = 0; c != NULL && steps <= count; steps++) {
        for (uint32_t f = 0; f < c->field_count; f++)
            if (hdx_text_is(c->fields[f].name, name))
                return true;
        c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super);
    }
    return false;
}

void hdx_sieve_class(hdx_sieve *s, uint32_t number)
{
    const hdx_class *c = hdx_graph_class(s->q.graph, number);
    if (c == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        s->at[i].known = s->at[i].known || has_field(s->q.graph, c, s->at[i].name);
    if (hdx_mem_room(s->q.mem, (void **)&s->classes, &s->class_room, s->class_count, sizeof *s->classes))
        s->classes[s->class_count++] = number; /* otherwise one suggestion is missing */
}

static void offer_fields(const hdx_sieve *s, hdx_nearest *near, char *room, size_t size)
{
    uint32_t count = 0;
    (void)hdx_graph_classes(s->q.graph, &count);
    for (uint64_t i = 0; i < s->class_count; i++) {
        const hdx_class *c = hdx_graph_class(s->q.graph, s->classes[i]);
        for (uint32_t steps = 0; c != NULL && steps <= count; steps++) {
            (void)hdx_has_field(c, near->wanted, near, room, size);
            c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(s->q.graph, c->super);
        }
    }
}

hdx_code hdx_sieve_check(hdx_sieve *s, const hdx_column *columns, unsigned column_count, hdx_error *err)
{
    char room[128];
    for (size_t i = 0; s != NULL && i < s->count; i++) {
        if (s->at[i].known)
            continue;
        hdx_nearest near = { .wanted = s->at[i].name };
        for (unsigned c = 0; c < column_count; c++)
            hdx_nearest_offer(&near, columns[c].name);
        offer_fields(s, &near, room, sizeof room);
        hdx_code code =
            hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE,
                     column_count > 0 ? "no column has the name '%.60s', and no object of the set has such a field"
                                      : "no object of the set has a field '%.60s'",
                     s->at[i].name);
        return near.best != NULL ? hdx_hint(err, code, "did you mean %.120s?", near.best) : code;
    }
    return HDX_OK;
}

/* ---- decision ---- */

static hdx_code field_cell(hdx_sieve *s, const clause *c, hdx_id id, hdx_cell *out, bool *there, hdx_error *err)
{
    const hdx_class *of = hdx_graph_class(s->q.graph, hdx_graph_class_of(s->q.graph, id));
    hdx_value        v;
    hdx_id           to;
    *there = false;
    if (of != NULL && is_array(of) && strcmp(c->name, "length") == 0) {
        *there = true;
        *out = hdx_cell_uint(hdx_graph_length(s->q.graph, id));
        return HDX_OK;
    }
    hdx_code code = hdx_graph_field(s->q.graph, id, NULL, c->name, &v, there, err);
    if (code != HDX_OK || !*there)
        return code;
    if (v.absent) {
        *there = false;
        return HDX_OK;
    }
    *out = hdx_value_cell(&s->values, &v);
    if (v.type == 2 && v.as.address != 0 && hdx_condition_is_of_text(c->is) &&
        hdx_graph_find(s->q.graph, v.as.address, &to))
        code = hdx_label_cell(&s->q, to, &s->values, out, err);
    return code;
}

hdx_code hdx_sieve_matches(hdx_sieve *s, hdx_id id, bool *yes, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *yes = true;
    for (size_t i = 0; s != NULL && code == HDX_OK && *yes && i < s->count; i++) {
        hdx_cell cell = hdx_cell_null();
        if ((code = field_cell(s, &s->at[i], id, &cell, yes, err)) == HDX_OK && *yes)
            code = hdx_condition_holds(s->at[i].is, &cell, yes, err);
        hdx_arena_empty(&s->values);
    }
    return code;
}
