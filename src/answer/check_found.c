/*
 * check_found.c - rules about what a heap must not contain: leaks, suspects, damage. Each leak or suspect is a finding,
 * up to HDX_FINDINGS_MOST; further ones are only counted.
 */
#include "answer/checking.h"

/* Adds a finding, unless HDX_FINDINGS_MOST of them are listed already; add_last reports the number of the others. */
static hdx_code add(hdx_checking *c, const hdx_check_result *r, uint64_t nth, hdx_error *err)
{
    return nth < HDX_FINDINGS_MOST ? hdx_checking_add(c, r, err) : HDX_OK;
}

static hdx_code add_last(hdx_checking *c, const hdx_rule *rule, uint64_t found, const char *what, const char *holds,
                         const char *note, hdx_error *err)
{
    hdx_check_result r = hdx_checking_result(c, rule);
    r.measured = (double)found;
    if (found > 0 && found <= HDX_FINDINGS_MOST)
        return HDX_OK;
    r.state = found > 0 ? HDX_CHECK_BROKEN : HDX_CHECK_HOLDS;
    r.message = found > 0
                    ? hdx_checking_format(c, "%llu more %s", (unsigned long long)(found - HDX_FINDINGS_MOST), what)
                    : holds;
    r.note = note;
    return hdx_checking_add(c, &r, err);
}

/* ---- leaks ---- */

hdx_code hdx_checking_leaks(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    static const unsigned   bits[] = { [HDX_LEAK_APPLICATION] = HDX_RULE_APPLICATION,
                                       [HDX_LEAK_LIBRARY] = HDX_RULE_LIBRARY,
                                       [HDX_LEAK_UNREACHABLE] = HDX_RULE_UNREACHABLE };
    const hdx_leaks_options options = { .finder = rule->filters ? HDX_LEAKS_FILTERS : HDX_LEAKS_WATCHED,
                                        .retained = true,
                                        .threads = c->s->options.threads,
                                        .progress = &c->s->progress,
                                        .memory = c->s->options.memory };
    hdx_leaks              *leaks = NULL;
    uint64_t                found = 0;
    if (c->view != NULL)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                                 "'%.60s': leaks uses its own roots and references, which a view cannot change",
                                 rule->text),
                        "remove --view, or check leaks in a separate call");
    hdx_code code = hdx_leaks_search(c->g, &options, &leaks, err);
    for (uint64_t i = 0; code == HDX_OK && i < leaks->leak_count; i++) {
        const hdx_leak *k = &leaks->leaks[i];
        if ((rule->leaks & bits[k->kind]) == 0)
            continue;
        hdx_check_result r = hdx_checking_result(c, rule);
        r.state = HDX_CHECK_BROKEN;
        r.measured = (double)k->trace_count;
        if (found < HDX_FINDINGS_MOST && k->trace_count > 0) {
            code = hdx_checking_describe_trace(c, leaks, &k->traces[0], &r, err);
            r.retained = k->sized ? k->retained_bytes : 0;
            if (k->signature[0] != '\0')
                r.signature = hdx_checking_format(c, "%s:%s", r.kind, k->signature);
            r.message = hdx_checking_format(
                c, "%s leak: %s object%s of %s%s%s", hdx_leak_kind_name(k->kind),
                hdx_checking_number(c, HDX_CHECK_COUNT, (double)k->trace_count), k->trace_count == 1 ? "" : "s",
                k->traces[0].class_name,
                k->sized ? hdx_checking_format(c, ", %s retained",
                                               hdx_checking_number(c, HDX_CHECK_BYTES, (double)k->retained_bytes))
                         : "",
                k->suspects != NULL && k->suspects[0] != '\0' ? hdx_checking_format(c, ", by %s", k->suspects) : "");
        }
        if (code == HDX_OK)
            code = add(c, &r, found++, err);
    }
    if (code == HDX_OK)
        code = add_last(c, rule, found, "leaks", "no leaks",
                        !rule->filters && leaks->watched == 0
                            ? "the dump has no watched objects; the finder filters uses the state of objects instead"
                            : NULL,
                        err);
    hdx_leaks_free(leaks);
    return code;
}

/* ---- suspects ---- */

typedef struct suspecting {
    hdx_checking   *c;
    const hdx_rule *rule;
    uint64_t        found;
} suspecting;

static hdx_code suspect(void *context, const hdx_cell *cells, const uint32_t places[4], hdx_error *err)
{
    suspecting      *s = context;
    hdx_checking    *c = s->c;
    hdx_check_result r = hdx_checking_result(c, s->rule);
    hdx_id           id = HDX_NO_ID;
    const hdx_cell  *percent = &cells[places[1]], *object = &cells[places[2]], *sentence = &cells[places[3]];
    hdx_code         code = HDX_OK;
    if (percent->kind != HDX_CELL_REAL || !(percent->as.real > s->rule->share))
        return HDX_OK;
    r.state = HDX_CHECK_BROKEN;
    r.unit = HDX_CHECK_PERCENT;
    r.measured = percent->as.real;
    r.limit = s->rule->share;
    if (s->found < HDX_FINDINGS_MOST) {
        if (object->kind == HDX_CELL_ADDRESS && !hdx_graph_find(c->g, object->as.address, &id))
            id = HDX_NO_ID;
        r.message = sentence->kind == HDX_CELL_TEXT
                        ? hdx_checking_format(c, "%.*s", (int)sentence->as.text.len, sentence->as.text.at)
                        : hdx_checking_format(c, "keeps %s", hdx_checking_number(c, HDX_CHECK_PERCENT, r.measured));
        code = hdx_checking_describe(c, id, &r, err);
        r.signature = r.class_name == NULL ? r.signature : hdx_checking_format(c, "%s:%s", r.kind, r.class_name);
    }
    return code != HDX_OK ? code : add(c, &r, s->found++, err);
}

hdx_code hdx_checking_suspects(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    suspecting         s = { c, rule, 0 };
    const hdx_argument arguments[] = {
        { "threshold", hdx_checking_format(c, "%u", (unsigned)rule->share < 100 ? (unsigned)rule->share : 99) },
        { "document", "false" }
    };
    hdx_fold f = { .q = &c->q,
                   .question = &hdx_question_suspects,
                   .arguments = arguments,
                   .argument_count = HDX_COUNT(arguments),
                   .weight = "percent",
                   .address = "object",
                   .class_name = "sentence",
                   .row = suspect,
                   .context = &s };
    if (arguments[0].value == NULL)
        return hdx_no_memory(err, "a rule", 0);
    const hdx_code code = hdx_fold_rows(&f, c->arena, err);
    return code != HDX_OK ? code : add_last(c, rule, s.found, "suspects", "no suspects", NULL, err);
}

/* ---- damage ---- */

hdx_code hdx_checking_damage(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    hdx_check_result r = hdx_checking_result(c, rule);
    const uint64_t   places = c->sum->damage_count + c->sum->damage_more;
    r.measured = (double)places;
    r.message = "the dump is not damaged";
    if (places > 0) {
        r.state = HDX_CHECK_BROKEN;
        r.message = c->sum->damage_count == 0
                        ? hdx_checking_format(c, "the dump is damaged in %llu places", (unsigned long long)places)
                        : hdx_checking_format(c, "the dump is damaged in %llu place%s, first at offset 0x%llx: %s: %s",
                                              (unsigned long long)places, places == 1 ? "" : "s",
                                              (unsigned long long)c->sum->damage[0].offset, c->sum->damage[0].record,
                                              c->sum->damage[0].expected);
    }
    return hdx_checking_add(c, &r, err);
}
