/*
 * contents.c - finders of triage: maps with weak keys that are never removed, soft references to objects that are also
 * strongly reachable, waste.
 */
#include "query/triage/finders.h"

#include <inttypes.h>
#include <stdio.h>

#define REFERRERS_MOST 256u
#define ENTRIES_LOOKED 64u

/* ---- maps with weak keys to which their values refer ---- */

static bool refers_to(hdx_graph *g, hdx_id from, hdx_id to)
{
    hdx_refs refs;
    hdx_id   at;
    hdx_graph_outbound(g, from, HDX_LIVE, &refs);
    for (unsigned n = 0; n < REFERRERS_MOST && hdx_refs_next(&refs, &at); n++)
        if (at == to)
            return true;
    return false;
}

static hdx_code check_entry(hdx_triage *t, hdx_id entry, uint64_t *seen, uint64_t *pinned, hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&t->fields, t->g, entry, err);
    const hdx_id   key = hdx_fields_ref(&t->fields, "java.lang.ref.Reference", "referent"),
                 value = hdx_fields_ref(&t->fields, "java.util.WeakHashMap$Entry", "value");
    if (code != HDX_OK || key == HDX_NO_ID || value == HDX_NO_ID)
        return code;
    (*seen)++;
    *pinned += key == value || refers_to(t->g, value, key);
    return HDX_OK;
}

hdx_code hdx_triage_pinned(hdx_triage *t, hdx_error *err)
{
    hdx_ids   maps = hdx_ids_of(t->q.mem);
    hdx_id    worst = HDX_NO_ID;
    uint64_t  most = 0;
    hdx_error mine;
    hdx_code  code = hdx_instances_below(&t->ask, "java.util.WeakHashMap", &maps, err);
    for (uint64_t i = 0; code == HDX_OK && i < maps.count; i++) {
        uint64_t     seen = 0, pinned = 0;
        hdx_refs     entries;
        hdx_id       entry;
        const hdx_id map = maps.at[i];
        if (!hdx_triage_is_relevant(t, hdx_graph_retained(t->g, map)) || hdx_graph_retained(t->g, map) <= most ||
            hdx_fields_read(&t->fields, t->g, map, &mine) != HDX_OK)
            continue;
        const hdx_id table = hdx_fields_ref(&t->fields, "java.util.WeakHashMap", "table");
        if (table == HDX_NO_ID)
            continue;
        hdx_graph_outbound(t->g, table, HDX_LIVE, &entries);
        while (code == HDX_OK && seen < ENTRIES_LOOKED && hdx_refs_next(&entries, &entry))
            if (hdx_graph_kind(t->g, entry) == HDX_INSTANCE)
                code = check_entry(t, entry, &seen, &pinned, err);
        if (seen > 0 && pinned * 2 > seen) {
            worst = map;
            most = hdx_graph_retained(t->g, map);
        }
    }
    if (code != HDX_OK || worst == HDX_NO_ID)
        return code;
    hdx_buffer b = hdx_buffer_of(t->q.mem), next = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "values of a WeakHashMap refer to their own keys, so its entries are never removed; it "
                        "retains ");
    hdx_triage_put_share(t, &b, most);
    hdx_buffer_format(&next, "path 0x%" PRIx64, hdx_graph_address(t->g, worst));
    if (next.failed)
        return hdx_no_memory(err, "a command", next.len);
    return hdx_triage_report(t, "pinned-map", hdx_cell_uint(most), next.at, &b, err);
}

/* ---- soft references to objects that other references hold, too ---- */

#define SOFT_MANY 100u

/* Sums the retained sizes of the instances of a class. */
static hdx_code sum_retained(hdx_triage *t, const hdx_class *c, uint64_t *out, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    hdx_graph_instances(t->g, c->number, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        *out += hdx_graph_retained(t->g, id);
        code = hdx_ask_check_cancel(&t->ask, err);
    }
    return code;
}

/* A cache of soft references cannot release objects that other references also hold. */
hdx_code hdx_triage_soft(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument arguments[] = { { "kind", "soft" }, { "by", "class" } };
    static const char *const  columns[] = { "class", "referents", "only", NULL };
    hdx_asked                 a;
    uint64_t                  most = 0, bytes = 0;
    const hdx_class          *best = NULL;
    if (t->large)
        return HDX_OK;
    hdx_code code = hdx_triage_ask(t, &hdx_question_referents, arguments, 2, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a)) {
        const uint64_t n = hdx_triage_number(a.cells[1]), only = hdx_triage_number(a.cells[2]);
        char           name[256];
        uint64_t       sum = 0;
        if (a.cells[0]->kind != HDX_CELL_TEXT || n < SOFT_MANY || only > n / 10 || hdx_is_of_jdk(a.cells[0]->as.text) ||
            a.cells[0]->as.text.len >= sizeof name)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)a.cells[0]->as.text.len, a.cells[0]->as.text.at);
        const hdx_class *c = hdx_graph_class_named(t->g, name);
        if (c == NULL || (code = sum_retained(t, c, &sum, err)) != HDX_OK || sum <= bytes)
            continue;
        best = c;
        most = n;
        bytes = sum;
    }
    if ((code = hdx_triage_end(&a, code, err)) != HDX_OK || best == NULL || !hdx_triage_is_relevant(t, bytes))
        return code;
    const hdx_cell class = hdx_cell_text(best->name);
    hdx_buffer b = hdx_buffer_of(t->q.mem);
    hdx_buffer_text(&b, "soft references refer to ");
    hdx_triage_put_count(&b, most, "object of ", "objects of ");
    hdx_triage_put_text(&b, &class);
    hdx_buffer_text(&b, " that other references also hold, so clearing soft references cannot free them; they retain ");
    hdx_triage_put_share(t, &b, bytes);
    return hdx_triage_report(t, "pinned-soft", hdx_cell_uint(bytes), "referents --by class", &b, err);
}

/* ---- waste ---- */

static hdx_code total_of(hdx_triage *t, const hdx_question *question, const hdx_argument *arguments, size_t count,
                         const char *column, uint64_t *out, hdx_error *err)
{
    const char *const columns[] = { column, NULL };
    hdx_asked         a;
    hdx_code          code = hdx_triage_ask(t, question, arguments, count, columns, &a, err);
    while (code == HDX_OK && hdx_triage_next(&a))
        *out += hdx_triage_number(a.cells[0]);
    return hdx_triage_end(&a, code, err);
}

hdx_code hdx_triage_waste(hdx_triage *t, hdx_error *err)
{
    static const hdx_argument by_value[] = { { "by", "value" } };
    static const struct {
        const hdx_question *question;
        const hdx_argument *arguments;
        size_t              count;
        const char         *column, *says, *next;
    } of[] = {
        { &hdx_question_strings, by_value, 1, "wasted", "equal Strings waste ", "duplicates" },
        { &hdx_question_collections, NULL, 0, "waste", "empty slots of collections take ", "collections --sort waste" },
        { &hdx_question_arrays, NULL, 0, "wasted", "arrays with constant or unused elements waste ", "arrays" },
    };
    hdx_code code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && !t->large && i < HDX_COUNT(of); i++) {
        uint64_t   wasted = 0;
        hdx_buffer b = hdx_buffer_of(t->q.mem);
        if ((code = total_of(t, of[i].question, of[i].arguments, of[i].count, of[i].column, &wasted, err)) != HDX_OK ||
            !hdx_triage_is_relevant(t, wasted))
            continue;
        hdx_buffer_text(&b, of[i].says);
        hdx_triage_put_share(t, &b, wasted);
        code = hdx_triage_report(t, "waste", hdx_cell_uint(wasted), of[i].next, &b, err);
    }
    return code;
}
