/*
 * check_growth.c - compares classes with those of another dump, by name: all classes of one name are added up. Classes
 * that are generated at run time are compared by hdx_class_key (query/histogram/hidden_names.c), because their names
 * differ in each run.
 *
 * A class that the other dump lacks grew from zero. Findings are sorted by growth, the greatest first.
 */
#include "query/histogram/histogram.h"
#include "answer/checking.h"

#include <stdlib.h>

typedef struct grown {
    const char *name; /* in `names` */
    uint64_t    was, is;
} grown;

typedef struct growing {
    hdx_mem  *mem;
    hdx_arena names;
    grown    *at;
    uint64_t  count, capacity;
    bool      old; /* true while the rows are from the other dump */
} growing;

static hdx_code take(void *context, const hdx_cell *cells, const uint32_t places[4], hdx_error *err)
{
    growing        *g = context;
    const hdx_cell *name = &cells[places[3]];
    const uint64_t  value = cells[places[0]].kind == HDX_CELL_UINT ? cells[places[0]].as.natural : 0;
    if (name->kind != HDX_CELL_TEXT || value == 0)
        return HDX_OK;
    hdx_buffer     text = hdx_buffer_of(g->mem);
    const hdx_text key = hdx_class_key(name->as.text, &text);
    const char    *copy = text.failed ? NULL : hdx_arena_copy(&g->names, key.at, key.len);
    hdx_buffer_free(&text);
    if (copy == NULL || !hdx_mem_room(g->mem, (void **)&g->at, &g->capacity, g->count, sizeof *g->at))
        return hdx_no_memory(err, "classes of two dumps", g->count * sizeof *g->at);
    g->at[g->count++] = (grown){ copy, g->old ? value : 0, g->old ? 0 : value };
    return HDX_OK;
}

/* Collects the classes of one dump. *note: set if no class matches, which may be a typo. */
static hdx_code collect(hdx_checking *c, const hdx_query *q, const hdx_rule *rule, growing *g, const char **note,
                        hdx_error *err)
{
    hdx_argument arguments[3] = { { "hidden", "fold" } };
    size_t       n = 1;
    hdx_error    own;
    if (rule->pattern != NULL)
        arguments[n++] = (hdx_argument){ "class", rule->pattern };
    if (rule->measure == HDX_MEASURE_RETAINED)
        arguments[n++] = (hdx_argument){ "retained", "true" };
    hdx_fold f = { .q = q,
                   .question = &hdx_question_histogram,
                   .arguments = arguments,
                   .argument_count = n,
                   .sum = hdx_measure_name(rule->measure),
                   .class_name = "class",
                   .row = take,
                   .context = g };
    hdx_code code = hdx_fold_rows(&f, c->arena, &own);
    if (code == HDX_NOT_FOUND) {
        *note = hdx_checking_format(c, "%s%s%s", own.message, own.hint[0] != '\0' ? ": " : "", own.hint);
        return HDX_OK;
    }
    if (code != HDX_OK && err != NULL)
        *err = own;
    return code;
}

/* ---- the other dump ---- */

static void notice(void *context, const char *line) { hdx_answer_notice(context, "the baseline: %s", line); }

/* Finds or builds the index of the baseline in a session of its own, because this session is about one dump. */
static hdx_code collect_old(hdx_checking *c, const hdx_rule *rule, growing *g, hdx_error *err)
{
    hdx_index_options options = c->s->options;
    hdx_graph        *graph = NULL;
    const char       *note = NULL;
    options.dump = c->baseline;
    options.index_dir = NULL;
    options.dump_number = 1;
    options.progress = c->s->progress;
    options.notice = notice;
    options.notice_context = c->s;
    hdx_session *own = NULL;
    hdx_code     code = hdx_session_open(&options, &own, err);
    if (code == HDX_OK) {
        c->s->baseline = own;
        code = hdx_session_graph(own, 0, &graph, err);
    }
    if (code == HDX_OK) {
        const hdx_arguments none = { &hdx_question_histogram.declared, NULL, 0 };
        hdx_query           q = hdx_answer_query(own, &none, graph);
        q.mem = &c->s->mem; /* one budget for both */
        g->old = true;
        code = collect(c, &q, rule, g, &note, err);
        g->old = false;
    }
    c->s->baseline = NULL;
    hdx_session_close(own);
    return code;
}

/* ---- together ---- */

static int by_name(const void *a, const void *b) { return strcmp(((const grown *)a)->name, ((const grown *)b)->name); }

static uint64_t growth_of(const grown *g) { return g->is > g->was ? g->is - g->was : 0; }

static int by_growth(const void *a, const void *b)
{
    const uint64_t x = growth_of(a), y = growth_of(b);
    return x != y ? (x < y) - (x > y) : by_name(a, b);
}

static void merge(growing *g)
{
    uint64_t merged = 0;
    if (g->count > 0)
        qsort(g->at, g->count, sizeof *g->at, by_name);
    for (uint64_t i = 0; i < g->count; i++)
        if (merged > 0 && by_name(&g->at[merged - 1], &g->at[i]) == 0) {
            g->at[merged - 1].was += g->at[i].was;
            g->at[merged - 1].is += g->at[i].is;
        } else {
            g->at[merged++] = g->at[i];
        }
    g->count = merged;
}

static double percent_of(const grown *g) /* 100 percent if the class is new */
{
    return g->was == 0 ? 100 : 100.0 * (double)growth_of(g) / (double)g->was;
}

static bool is_broken(const hdx_rule *rule, const grown *g)
{
    const uint64_t more = growth_of(g);
    if (more == 0 || g->is <= rule->floor)
        return false;
    return !rule->percent ? more > rule->limit : g->was == 0 || percent_of(g) > rule->share;
}

static hdx_code find(hdx_checking *c, const hdx_rule *rule, const grown *g, hdx_error *err)
{
    hdx_check_result     r = hdx_checking_result(c, rule);
    const hdx_check_unit unit = hdx_measure_is_bytes(rule->measure) ? HDX_CHECK_BYTES : HDX_CHECK_COUNT;
    uint32_t            *numbers = NULL;
    size_t               count = 0;
    hdx_id               id = HDX_NO_ID;
    r.state = HDX_CHECK_BROKEN;
    r.unit = rule->percent ? HDX_CHECK_PERCENT : unit;
    r.measured = rule->percent ? percent_of(g) : (double)growth_of(g);
    r.class_name = hdx_checking_format(c, "%s", g->name);
    r.signature = hdx_checking_format(c, "%s:%s", r.kind, g->name);
    const char *is = hdx_checking_number(c, unit, (double)g->is), *limit = hdx_checking_number(c, r.unit, r.limit),
               *more = hdx_checking_number(c, r.unit, r.measured);
    r.message = g->was == 0 ? hdx_checking_format(c, "%s: %s, none in the baseline", g->name, is)
                            : hdx_checking_format(c, "%s: %s, %s in the baseline; growth %s, allowed %s", g->name, is,
                                                  hdx_checking_number(c, unit, (double)g->was), more, limit);
    hdx_query q = c->q;
    q.notice = NULL;
    hdx_code code = hdx_query_classes_named(&q, g->name, false, &numbers, &count, err);
    if (code == HDX_OK)
        code = hdx_checking_heaviest(c, numbers, count, &id, err);
    hdx_numbers_free(numbers);
    if (code == HDX_OK)
        code = hdx_checking_describe(c, id, &r, err);
    return code == HDX_OK ? hdx_checking_add(c, &r, err) : code;
}

static hdx_code finish(hdx_checking *c, const hdx_rule *rule, uint64_t found, const char *note, hdx_error *err)
{
    hdx_check_result     r = hdx_checking_result(c, rule);
    const hdx_check_unit unit = hdx_measure_is_bytes(rule->measure) ? HDX_CHECK_BYTES : HDX_CHECK_COUNT;
    if (found > 0 && found <= HDX_FINDINGS_MOST)
        return HDX_OK;
    r.unit = rule->percent ? HDX_CHECK_PERCENT : unit;
    r.note = note;
    if (found > 0) {
        r.state = HDX_CHECK_BROKEN;
        r.message = hdx_checking_format(c, "%llu more classes", (unsigned long long)(found - HDX_FINDINGS_MOST));
        return hdx_checking_add(c, &r, err);
    }
    r.message =
        hdx_checking_format(c, "no class grew by more than %s%s", hdx_checking_number(c, r.unit, r.limit),
                            rule->floor == 0 ? ""
                                             : hdx_checking_format(c, ", of those above %s",
                                                                   hdx_checking_number(c, unit, (double)rule->floor)));
    return hdx_checking_add(c, &r, err);
}

hdx_code hdx_checking_growth(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    growing     g = { .mem = &c->s->mem, .names = hdx_arena_of(&c->s->mem) };
    uint64_t    found = 0;
    const char *note = NULL;
    hdx_code    code = collect(c, &c->q, rule, &g, &note, err);
    if (code == HDX_OK)
        code = collect_old(c, rule, &g, err);
    merge(&g);
    if (g.count > 0)
        qsort(g.at, g.count, sizeof *g.at, by_growth);
    for (uint64_t i = 0; code == HDX_OK && i < g.count; i++)
        if (is_broken(rule, &g.at[i]) && found++ < HDX_FINDINGS_MOST)
            code = find(c, rule, &g.at[i], err);
    hdx_mem_put(g.mem, g.at, g.capacity * sizeof *g.at);
    hdx_arena_free(&g.names);
    return code != HDX_OK ? code : finish(c, rule, found, note, err);
}
