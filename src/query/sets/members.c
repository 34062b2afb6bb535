/*
 * members.c - the members of a set of objects: objects by name, all live instances of classes, and of these the ones
 * whose fields meet the conditions of the query (sieve.c).
 *
 * Named objects may be garbage; instances of a class are live ones.
 * Cost: one bit for each object of the heap.
 */
#include "graph/graph.h"
#include "query/sets/sets.h"
#include "query/query.h"

typedef struct collecting {
    hdx_ask     *ask;
    hdx_sieve   *sieve;
    hdx_members *m;
} collecting;

static hdx_code add_member(collecting *c, hdx_id id, hdx_error *err)
{
    bool     yes = true;
    hdx_code code = hdx_ask_check_cancel(c->ask, err);
    if (code != HDX_OK || id >= hdx_graph_objects(c->ask->g))
        return code;
    c->m->described++;
    if (hdx_bits_test(c->m->bits, id) || (code = hdx_sieve_matches(c->sieve, id, &yes, err)) != HDX_OK || !yes)
        return code;
    hdx_bits_put(c->m->bits, id);
    c->m->named++;
    if (hdx_graph_live(c->ask->g, id)) {
        c->m->live++;
        c->m->one = id;
    }
    return HDX_OK;
}

static hdx_code check_ids(hdx_ask *ask, const hdx_set *set, hdx_sieve *sieve, hdx_error *err)
{
    const uint64_t n = hdx_graph_objects(ask->g);
    for (size_t i = 0; i < set->id_count; i++) {
        if (set->ids[i] >= n)
            return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu",
                            (unsigned long long)set->ids[i]);
        if (sieve != NULL)
            hdx_sieve_class(sieve, hdx_graph_class_of(ask->g, set->ids[i]));
    }
    return HDX_OK;
}

/* Sets a bit for each class that matches one of the patterns. */
static hdx_code find_classes(hdx_ask *ask, const hdx_set *set, hdx_sieve *sieve, uint64_t *classes, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (size_t p = 0; code == HDX_OK && p < set->pattern_count; p++) {
        uint32_t *numbers = NULL;
        size_t    count = 0;
        code = hdx_query_classes_named(&ask->q, set->patterns[p], set->subclasses, &numbers, &count, err);
        for (size_t i = 0; code == HDX_OK && i < count; i++)
            if (hdx_bits_set(classes, numbers[i]) && sieve != NULL)
                hdx_sieve_class(sieve, numbers[i]);
        hdx_numbers_free(numbers);
    }
    return code;
}

static hdx_code add_all(collecting *c, const hdx_set *set, const uint64_t *classes, uint32_t count, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (size_t i = 0; code == HDX_OK && i < set->id_count; i++)
        code = add_member(c, set->ids[i], err);
    for (uint32_t n = 0; code == HDX_OK && n < count; n++) {
        hdx_refs refs;
        hdx_id   id;
        if (!hdx_bits_test(classes, n))
            continue;
        hdx_graph_instances(c->ask->g, n, HDX_LIVE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &id))
            code = add_member(c, id, err);
    }
    return code;
}

hdx_code hdx_members_open(hdx_ask *ask, const hdx_set *set, hdx_members *out, hdx_error *err)
{
    uint32_t   class_count = 0;
    hdx_sieve *sieve = NULL;
    (void)hdx_graph_classes(ask->g, &class_count);
    const uint64_t class_words = hdx_bits_words(class_count);
    *out = (hdx_members){ .mem = ask->q.mem, .words = hdx_bits_words(hdx_graph_objects(ask->g)), .one = HDX_NO_ID };
    uint64_t *classes = hdx_mem_array(out->mem, class_words, sizeof *classes);
    if (classes == NULL)
        return hdx_no_memory(err, "classes of a set", class_words * sizeof *classes);
    hdx_code code = hdx_sieve_open(&ask->q, &sieve, err);
    if (code == HDX_OK && (code = check_ids(ask, set, sieve, err)) == HDX_OK)
        code = find_classes(ask, set, sieve, classes, err);
    if (code == HDX_OK && (code = hdx_sieve_check(sieve, set->columns, set->column_count, err)) == HDX_OK &&
        (out->bits = hdx_mem_array(out->mem, out->words, sizeof *out->bits)) == NULL)
        code = hdx_no_memory(err, "a set of objects", out->words * sizeof *out->bits);
    if (code == HDX_OK) {
        struct hdx_near *near = sieve != NULL ? hdx_graph_near_begin(ask->g) : NULL;
        code = add_all(&(collecting){ ask, sieve, out }, set, classes, class_count, err);
        hdx_graph_near_end(near);
    }
    hdx_sieve_close(sieve);
    hdx_mem_put(out->mem, classes, class_words * sizeof *classes);
    if (code != HDX_OK)
        hdx_members_close(out);
    return code;
}

void hdx_members_close(hdx_members *m)
{
    hdx_mem_put(m->mem, m->bits, m->words * sizeof *m->bits);
    m->bits = NULL;
}

const char *hdx_members_empty_reason(const hdx_members *m, const hdx_set *set)
{
    if (m->described > 0 && m->named == 0)
        return HDX_NONE_MEETS;
    if (set->pattern_count == 0)
        return set->id_count == 1 ? "it is unreachable, so nothing more would be freed"
                                  : "all of them are unreachable, so nothing more would be freed";
    return set->subclasses ? "no instance is reachable"
                           : "no instance is reachable; --subclasses includes instances of subclasses";
}

/* ---- as arguments ---- */

hdx_code hdx_given_set_open(const hdx_query *q, const hdx_arguments *a, hdx_given_set *out, hdx_error *err)
{
    hdx_id *ids = NULL;
    *out = (hdx_given_set){ .arena = hdx_arena_of(q->mem) };
    hdx_code code = hdx_argument_texts(a, "class", &out->arena, &out->set.patterns, &out->set.pattern_count, err);
    if (code == HDX_OK && (code = hdx_argument_objects(q, a, &ids, &out->set.id_count, err)) == HDX_OK &&
        out->set.id_count == 0 && out->set.pattern_count == 0)
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%s' needs objects or --class PATTERN", a->answer->name);
    out->set.ids = ids;
    out->set.subclasses = hdx_argument_flag(a, "subclasses");
    return code;
}
