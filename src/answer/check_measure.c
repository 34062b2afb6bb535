/*
 * check_measure.c - rules max and min: the number that a rule limits, and the object that contributes most to it.
 *
 * Numbers about classes are computed from the class table; all others are sums over the rows of another answer.
 */
#include "answer/checking.h"
#include "base/pattern.h"
#include "query/texts/copies.h"

#define RUN 64u /* objects whose retained sizes are prefetched together */

/* ---- rows of another answer ---- */

static uint32_t place_of(const hdx_form *form, const char *name)
{
    for (unsigned i = 0; name != NULL && i < form->column_count; i++)
        if (strcmp(form->columns[i].name, name) == 0)
            return i;
    assert(name == NULL && "a column of that answer");
    return UINT32_MAX;
}

static uint64_t natural_of(const hdx_cell *cell) { return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0; }

/* Adds one row to the sums, unless it does not match the pattern. */
static hdx_code take_row(hdx_fold *f, const hdx_pattern *pattern, const uint32_t places[5], const hdx_cell *cells,
                         hdx_arena *arena, hdx_error *err)
{
    enum { SUM, WEIGHT, ADDRESS, CLASS, MATCH };
    bool yes = true;
    if (f->pattern != NULL) {
        const hdx_cell *name = &cells[places[MATCH]];
        const hdx_code  code = name->kind != HDX_CELL_TEXT ? hdx_pattern_look(pattern, (hdx_text){ "", 0 }, &yes, err)
                                                           : hdx_pattern_look(pattern, name->as.text, &yes, err);
        if (code != HDX_OK)
            return code;
    }
    if (!yes)
        return HDX_OK;
    const uint64_t more = f->sum == NULL ? 1 : natural_of(&cells[places[SUM]]);
    f->total = f->total > UINT64_MAX - more ? UINT64_MAX : f->total + more;
    if (f->row != NULL)
        return f->row(f->context, cells, places, err);
    const uint64_t weight = f->weight == NULL ? 0 : natural_of(&cells[places[WEIGHT]]);
    if (f->weight == NULL || (weight <= f->best_weight && (f->best_address != 0 || f->best_class != NULL)))
        return HDX_OK;
    f->best_weight = weight;
    if (f->address != NULL && cells[places[ADDRESS]].kind == HDX_CELL_ADDRESS)
        f->best_address = cells[places[ADDRESS]].as.address;
    if (f->class_name != NULL && cells[places[CLASS]].kind == HDX_CELL_TEXT) {
        const hdx_text t = cells[places[CLASS]].as.text;
        if ((f->best_class = hdx_arena_copy(arena, t.at, t.len)) == NULL)
            return hdx_no_memory(err, "a class name", t.len);
    }
    return HDX_OK;
}

hdx_code hdx_fold_rows(hdx_fold *f, hdx_arena *arena, hdx_error *err)
{
    const hdx_arguments a = { &f->question->declared, f->arguments, f->argument_count };
    const hdx_form     *form = hdx_arguments_form(&a);
    const uint32_t      places[5] = { place_of(form, f->sum), place_of(form, f->weight), place_of(form, f->address),
                                      place_of(form, f->class_name), place_of(form, f->match) };
    hdx_query           q = *f->q;
    hdx_pattern         pattern = { .regex = NULL };
    hdx_rows           *rows = NULL;
    const hdx_cell     *cells;
    hdx_code code = f->pattern == NULL ? HDX_OK : hdx_pattern_open(&pattern, f->pattern, q.progress, q.mem, err);
    q.wanted = (hdx_wanted){ .columns = 0 };
    for (unsigned i = 0; i < HDX_COUNT(places); i++)
        q.wanted.columns |= places[i] < 64 ? 1ull << places[i] : 0;
    if (q.wanted.columns == 0)
        q.wanted.columns = 1;
    q.wanted.named = q.wanted.columns;
    if (code == HDX_OK)
        code = hdx_answer_question(f->question, &q, f->arguments, f->argument_count, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &cells))
        code = take_row(f, &pattern, places, cells, arena, err);
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    if (f->pattern != NULL)
        hdx_pattern_close(&pattern);
    return code;
}

/* ---- numbers ---- */

typedef struct measured {
    uint64_t    value;
    uint32_t   *numbers; /* of the measured classes; free with hdx_numbers_free */
    size_t      count;
    hdx_addr    address;    /* of the object that contributes most; 0: not known yet */
    const char *class_name; /* used if there is no object */
    const char *more;       /* for the message: "812 objects of 4 classes"; NULL */
    const char *note;
} measured;

hdx_code hdx_checking_heaviest(hdx_checking *c, const uint32_t *numbers, size_t count, hdx_id *out, hdx_error *err)
{
    hdx_ask  ask;
    uint64_t best = 0;
    hdx_code code = hdx_ask_begin(&c->q, &ask, err);
    *out = HDX_NO_ID;
    for (size_t k = 0; code == HDX_OK && k < count; k++) {
        hdx_refs refs;
        hdx_id   some[RUN];
        unsigned n;
        hdx_graph_instances(c->g, numbers[k], HDX_LIVE, &refs);
        do {
            for (n = 0; n < RUN && hdx_refs_next(&refs, &some[n]); n++)
                ;
            for (unsigned i = 0; code == HDX_OK && i < n; i++) {
                hdx_graph_ahead(c->g, HDX_AHEAD_RETAINED, some, n, i);
                const uint64_t retained = hdx_graph_retained(c->g, some[i]);
                if (*out == HDX_NO_ID || retained > best) {
                    *out = some[i];
                    best = retained;
                }
                code = hdx_ask_check_cancel(&ask, err);
            }
        } while (code == HDX_OK && n == RUN);
    }
    return code != HDX_OK ? code : hdx_graph_check(c->g, err);
}

static void note(void *context, const char *line)
{
    measured     *m = ((void **)context)[0];
    hdx_checking *c = ((void **)context)[1];
    m->note = hdx_arena_copy(c->arena, line, strlen(line));
}

/* Measures the instances of the classes of a pattern. An unknown class counts 0 and adds a note: it may be a typo. */
static hdx_code of_classes(hdx_checking *c, const hdx_rule *rule, measured *out, hdx_error *err)
{
    hdx_query q = c->q;
    void     *context[] = { out, c };
    uint64_t  objects = 0, bytes = 0;
    q.notice = note;
    q.notice_context = context;
    hdx_error    own;
    hdx_code     code = hdx_query_classes_named(&q, rule->pattern, rule->subclasses, &out->numbers, &out->count, &own);
    const size_t count = out->count;
    if (code == HDX_NOT_FOUND && strstr(own.message, "several") == NULL) {
        out->note = hdx_checking_format(c, "%s%s%s", own.message, own.hint[0] != '\0' ? ": " : "", own.hint);
        return HDX_OK;
    }
    if (code != HDX_OK) {
        if (err != NULL)
            *err = own;
        return code;
    }
    for (size_t i = 0; i < count; i++) {
        const hdx_class *k = hdx_graph_class(c->g, out->numbers[i]);
        objects += k != NULL ? k->live_instances : 0;
        bytes += k != NULL ? k->live_bytes : 0;
    }
    out->value = rule->measure == HDX_MEASURE_OBJECTS ? objects : bytes;
    if (rule->measure == HDX_MEASURE_RETAINED && objects > 0) {
        const hdx_argument arguments[] = { { "class", rule->pattern }, { "subclasses", "true" } };
        q.notice = NULL;
        hdx_fold f = { .q = &q,
                       .question = &hdx_question_retained,
                       .arguments = arguments,
                       .argument_count = rule->subclasses ? 2 : 1,
                       .sum = "shallow" };
        code = hdx_fold_rows(&f, c->arena, err);
        out->value = f.total;
    }
    if (rule->measure != HDX_MEASURE_OBJECTS && objects > 0)
        out->more = hdx_checking_format(c, "%s object%s%s", hdx_checking_number(c, HDX_CHECK_COUNT, (double)objects),
                                        objects == 1 ? "" : "s",
                                        count == 1 ? "" : hdx_checking_format(c, " of %zu classes", count));
    else if (count > 1)
        out->more = hdx_checking_format(c, "%zu classes", count);
    return code;
}

/* Finds the object with the largest retained size among those that only GC roots dominate. */
static hdx_code top(hdx_checking *c, hdx_id *out, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_ask  ask;
    uint64_t best = 0;
    hdx_code code = hdx_ask_begin(&c->q, &ask, err);
    hdx_graph_dominated(c->g, HDX_VIRTUAL_ROOT, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const uint64_t retained = hdx_graph_retained(c->g, id);
        if (*out == HDX_NO_ID || retained > best) {
            *out = id;
            best = retained;
        }
        code = hdx_ask_check_cancel(&ask, err);
    }
    return code != HDX_OK ? code : hdx_graph_check(c->g, err);
}

/* Measures the sum over the rows of another answer. */
static hdx_code of_rows(hdx_checking *c, const hdx_rule *rule, measured *out, hdx_error *err)
{
    static const hdx_argument by_value[] = { { "by", "value" } };
    static const struct {
        hdx_measure         measure;
        hdx_waste           waste;
        const hdx_question *question;
        bool                by_value;
        const char         *sum, *weight, *address, *class_name, *match;
    } of[] = {
        { HDX_MEASURE_THREADS, 0, &hdx_question_threads, false, NULL, "retained", "address", NULL, "name" },
        { HDX_MEASURE_DUPLICATE_CLASSES, 0, &hdx_question_duplicate_classes, false, NULL, "classes", NULL, "class",
          "class" },
        { HDX_MEASURE_OPEN_FILES, 0, &hdx_question_open_files, false, NULL, "retained", "address", "class", "kind" },
        { HDX_MEASURE_DIRECT_BUFFERS, 0, &hdx_question_direct_buffers, false, "capacity", "capacity", "address",
          "class", "kind" },
        { HDX_MEASURE_WASTE, HDX_WASTE_STRINGS, &hdx_question_strings, true, "wasted", "wasted", "address", NULL,
          NULL },
        { HDX_MEASURE_WASTE, HDX_WASTE_COLLECTIONS, &hdx_question_collections, false, "waste", "waste", "address", NULL,
          NULL },
        { HDX_MEASURE_WASTE, HDX_WASTE_ARRAYS, &hdx_question_arrays, false, "wasted", "wasted", NULL, "class", NULL },
    };
    for (size_t i = 0; i < HDX_COUNT(of); i++) {
        if (of[i].measure != rule->measure || (rule->measure == HDX_MEASURE_WASTE && of[i].waste != rule->waste))
            continue;
        hdx_fold       f = { .q = &c->q,
                             .question = of[i].question,
                             .arguments = by_value,
                             .argument_count = of[i].by_value,
                             .sum = of[i].sum,
                             .weight = of[i].weight,
                             .address = of[i].address,
                             .class_name = of[i].class_name,
                             .match = rule->pattern != NULL ? of[i].match : NULL,
                             .pattern = rule->pattern };
        const hdx_code code = hdx_fold_rows(&f, c->arena, err);
        out->value = f.total;
        out->address = f.best_address;
        out->class_name = f.best_class;
        return code;
    }
    assert(false && "every measure that is no other's");
    return HDX_OK;
}

/* Returns whether the measure reads field values from the dump. */
static bool needs_values(const hdx_rule *r)
{
    return r->measure == HDX_MEASURE_WASTE || r->measure == HDX_MEASURE_OPEN_FILES ||
           r->measure == HDX_MEASURE_DIRECT_BUFFERS || (r->measure == HDX_MEASURE_THREADS && r->pattern != NULL);
}

/*
 * Values that cannot be read would count 0 and the rule would hold: a missing dump is an error, a stripped one adds a
 * note.
 */
static hdx_code check_values(hdx_checking *c, const hdx_rule *rule, measured *out, hdx_error *err)
{
    hdx_source *dump;
    if (!needs_values(rule))
        return HDX_OK;
    const hdx_code code = hdx_graph_dump(c->g, &dump, err);
    if (code != HDX_OK)
        return code;
    if (c->sum->stripping != NULL && c->sum->stripping->policy != HDX_STRIP_NONE)
        out->note = "the dump is stripped: removed data is not counted";
    return HDX_OK;
}

static hdx_code measure(hdx_checking *c, const hdx_rule *rule, measured *out, hdx_error *err)
{
    const hdx_code code = check_values(c, rule, out, err);
    if (code != HDX_OK)
        return code;
    switch (rule->measure) {
    case HDX_MEASURE_OBJECTS:
    case HDX_MEASURE_SHALLOW:
    case HDX_MEASURE_RETAINED: return of_classes(c, rule, out, err);
    case HDX_MEASURE_LIVE: out->value = c->sum->live_bytes; return HDX_OK;
    case HDX_MEASURE_UNREACHABLE: out->value = c->sum->unreachable_bytes; return HDX_OK;
    case HDX_MEASURE_CLASSES: out->value = c->sum->live_classes; return HDX_OK;
    case HDX_MEASURE_LOADERS: out->value = c->sum->live_loaders; return HDX_OK;
    default: return of_rows(c, rule, out, err);
    }
}

/* Returns the number that is 100 percent for a measure. */
static uint64_t whole_of(const hdx_checking *c, hdx_measure m)
{
    return m == HDX_MEASURE_OBJECTS       ? c->sum->live_objects
           : m == HDX_MEASURE_UNREACHABLE ? c->sum->live_bytes + c->sum->unreachable_bytes
                                          : c->sum->live_bytes;
}

/* Adds the object that contributes most to a number that violates a limit. */
static hdx_code add_object(hdx_checking *c, const hdx_rule *rule, const measured *m, hdx_check_result *r,
                           hdx_error *err)
{
    hdx_id   id = HDX_NO_ID;
    hdx_code code = HDX_OK;
    r->class_name = m->class_name;
    if (m->count > 0)
        code = hdx_checking_heaviest(c, m->numbers, m->count, &id, err);
    else if (rule->measure == HDX_MEASURE_LIVE)
        code = top(c, &id, err);
    else if (m->address != 0 && !hdx_graph_find(c->g, m->address, &id))
        id = HDX_NO_ID;
    else if (rule->measure == HDX_MEASURE_WASTE && rule->waste == HDX_WASTE_STRINGS && m->address != 0)
        code = hdx_query_copy_of(&c->q, id, &id, err); /* the first copy may be a literal that all classes share */
    return code != HDX_OK ? code : hdx_checking_describe(c, id, r, err);
}

hdx_code hdx_checking_measure(hdx_checking *c, const hdx_rule *rule, hdx_error *err)
{
    measured             m = { .value = 0 };
    hdx_check_result     r = hdx_checking_result(c, rule);
    const bool           most = rule->verb == HDX_VERB_MAX;
    hdx_code             code = measure(c, rule, &m, err);
    const uint64_t       whole = whole_of(c, rule->measure);
    const double         share = whole == 0 ? 0 : 100.0 * (double)m.value / (double)whole;
    const hdx_check_unit unit = hdx_measure_is_bytes(rule->measure) ? HDX_CHECK_BYTES : HDX_CHECK_COUNT;
    const bool           broken = rule->percent ? (most ? share > rule->share : share < rule->share)
                                                : (most ? m.value > rule->limit : m.value < rule->limit);
    r.unit = rule->percent ? HDX_CHECK_PERCENT : unit;
    r.measured = rule->percent ? share : (double)m.value;
    r.limit = rule->percent ? rule->share : (double)rule->limit;
    r.state = broken ? HDX_CHECK_BROKEN : HDX_CHECK_HOLDS;
    r.note = m.note;
    const char *number = hdx_checking_number(c, unit, (double)m.value);
    if (rule->percent)
        number = hdx_checking_format(c, "%s (%s)", hdx_checking_number(c, HDX_CHECK_PERCENT, share), number);
    r.message =
        hdx_checking_format(c, "%s%s%s, %s %s", number, m.more != NULL ? " by " : "", m.more != NULL ? m.more : "",
                            broken ? (most ? "more than" : "less than") : (most ? "at most" : "at least"),
                            hdx_checking_number(c, r.unit, r.limit));
    if (code == HDX_OK && broken && most)
        code = add_object(c, rule, &m, &r, err);
    hdx_numbers_free(m.numbers);
    return code != HDX_OK ? code : hdx_checking_add(c, &r, err);
}
