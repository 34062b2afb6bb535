/*
 * immediate.c - the immediate dominators of a set of objects, by class (MAT's immediate_dominators).
 *
 *     class            dominators  dominated
 *     bookshop.Desk             1        270
 *     <ROOT>                    1         12
 *
 * A dominator of a skipped class (java.* and others by default) is replaced by the first one above it that is not
 * skipped, or by <ROOT> if there is none. The class of a class object is java.lang.Class, as in MAT. A row is one
 * class: two classes of one name, with two loaders, are two rows.
 *
 * Cost: one bit per object of the heap, 16 bytes per object of the set and per dominator; steps up the dominator tree,
 * of which one in 64 skipped objects caches the end (chains of skipped objects may have millions).
 */
#include "query/common/extras.h"
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/sets/sets.h"
#include "query/query.h"

#include <stdio.h>
#include <stdlib.h>

#define SKIP_DEFAULT "java.*|javax.*|com.sun.*"
#define SAMPLE       63u

enum { CLASS, DOMINATORS, SHALLOW, RETAINED, DOMINATED, DOMINATED_SHALLOW, DOMINATED_RETAINED, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                         "class of the dominators; <ROOT> if only GC roots hold the objects"),
    [DOMINATORS] =
        HDX_COLUMN("dominators", UNSIGNED, COUNT, 0, "number of dominators of this class; <ROOT> counts as one"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_WIDE, "total shallow size of the dominators"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_SPARE,
                            "total retained size of the dominators, without those that another dominator of the row "
                            "dominates"),
    [DOMINATED] = HDX_COLUMN("dominated", UNSIGNED, COUNT, 0, "objects of the set that they dominate"),
    [DOMINATED_SHALLOW] = HDX_COLUMN("dominated_shallow", UNSIGNED, BYTES, 0, "total shallow size of these objects"),
    [DOMINATED_RETAINED] = HDX_COLUMN("dominated_retained", UNSIGNED, BYTES, HDX_COLUMN_WIDE,
                                      "total retained size of these objects, without those that another of them "
                                      "dominates"),
};
static const hdx_form   form = { NULL, NULL, columns, COLUMNS };
static const hdx_column total_members[] = {
    HDX_COLUMN("dominated", UNSIGNED, COUNT, 0, "live objects in the set"),
    HDX_COLUMN("dominated_shallow", UNSIGNED, BYTES, 0, "total shallow size of these objects"),
};
static const hdx_column document[] = { HDX_NESTED("total", OBJECT, 0, "totals of the set", total_members) };

typedef struct row {
    uint32_t number;
    uint64_t dominators, shallow, retained, dominated, dominated_shallow, dominated_retained;
} row;

typedef HDX_LIST(hdx_pair) pair_list;

typedef struct finder {
    hdx_ask  *ask;
    uint64_t  objects;
    uint32_t  classes; /* rows[classes] is <ROOT> */
    uint64_t *skipped; /* bits by class number, and one for objects without a class */
    uint64_t *known;   /* bits by id: dominators that were counted */
    uint64_t  words;
    hdx_map   ends; /* cached ends of chains of skipped objects */
    row      *rows;
    pair_list set, dominators; /* pairs of id and row */
    uint64_t  shallow;
} finder;

/* ---- which classes are skipped ---- */

static hdx_code skip_classes(finder *f, const char *pattern, const hdx_class *all, bool *any, hdx_error *err)
{
    hdx_pattern p;
    hdx_code    code = hdx_pattern_open(&p, pattern, f->ask->q.progress, f->ask->q.mem, err);
    for (uint32_t c = 0; code == HDX_OK && c < f->classes; c++) {
        bool yes = false;
        code = hdx_pattern_match(&p, all[c].name, &yes, err);
        if (yes)
            hdx_bits_put(f->skipped, c);
        *any = *any || yes;
    }
    hdx_pattern_close(&p);
    return code;
}

/*
 * Parses names and globs separated by |, or one /regular expression/. If a word matches no class, reports that, unless
 * the words are the default.
 */
static hdx_code parse_skip(finder *f, const char *words, bool preset, hdx_error *err)
{
    const hdx_class *all = hdx_graph_classes(f->ask->g, &(uint32_t){ 0 });
    hdx_arena        arena = hdx_arena_of(f->ask->q.mem);
    hdx_code         code = HDX_OK;
    while (code == HDX_OK && *words != '\0') {
        const size_t len = *words == '/' ? strlen(words) : strcspn(words, "|");
        char        *word = hdx_arena_copy(&arena, words, len);
        bool         any = false;
        char         line[160];
        if (word == NULL)
            code = hdx_no_memory(err, "classes to skip", len);
        else if (len > 0)
            code = skip_classes(f, word, all, &any, err);
        if (code == HDX_OK && len > 0 && !any && !preset && f->ask->q.notice != NULL) {
            (void)snprintf(line, sizeof line, "no class is called %.100s, so it skips nothing", word);
            f->ask->q.notice(f->ask->q.notice_context, line);
        }
        words += len;
        words += *words == '|';
    }
    return code;
}

/* ---- dominators ---- */

static bool is_skipped(const finder *f, hdx_id id)
{
    const uint32_t c = hdx_graph_class_of(f->ask->g, id);
    return c < f->classes && hdx_bits_test(f->skipped, c);
}

/* Caches the end of a long chain at its sampled objects. */
static hdx_code cache_end(finder *f, hdx_id from, hdx_id end, uint64_t steps, hdx_error *err)
{
    for (hdx_id at = from; steps > 0; steps--, at = hdx_graph_dominator(f->ask->g, at)) {
        bool      fresh;
        uint64_t *known = (hdx_mix64(at) & SAMPLE) == 0 ? hdx_map_put(&f->ends, at, &fresh) : &(uint64_t){ 0 };
        if (known == NULL)
            return hdx_no_memory(err, "dominators", f->ends.count);
        *known = end;
    }
    return HDX_OK;
}

/* Finds the first dominator that is not skipped. */
static hdx_code dominator_of(finder *f, hdx_id id, hdx_id *out, hdx_error *err)
{
    const hdx_id first = hdx_graph_dominator(f->ask->g, id);
    uint64_t     steps = 0;
    hdx_id       at = first;
    hdx_code     code = HDX_OK;
    while (code == HDX_OK && at < f->objects && is_skipped(f, at) && steps < f->objects) { /* invariant 3 */
        const uint64_t *end = (hdx_mix64(at) & SAMPLE) == 0 ? hdx_map_get(&f->ends, at) : NULL;
        if (end != NULL) {
            at = *end;
            break;
        }
        at = hdx_graph_dominator(f->ask->g, at);
        steps++;
        code = hdx_ask_check_cancel(f->ask, err);
    }
    *out = at < f->objects ? at : HDX_VIRTUAL_ROOT;
    return code == HDX_OK && steps > SAMPLE ? cache_end(f, first, *out, steps, err) : code;
}

static hdx_code add_pair(finder *f, pair_list *list, hdx_id id, uint64_t at, hdx_error *err)
{
    if (!hdx_list_room(f->ask->q.mem, HDX_LIST_REF(list)))
        return hdx_no_memory(err, "dominators", list->count * sizeof *list->at);
    list->at[list->count++] = (hdx_pair){ id, at };
    return HDX_OK;
}

static hdx_code count_dominator(finder *f, hdx_id id, hdx_error *err)
{
    hdx_id   by;
    hdx_code code = dominator_of(f, id, &by, err);
    if (code != HDX_OK)
        return code;
    const uint32_t c = by == HDX_VIRTUAL_ROOT ? f->classes : hdx_graph_class_of(f->ask->g, by);
    row           *r = &f->rows[c < f->classes ? c : f->classes];
    const uint64_t shallow = hdx_graph_shallow(f->ask->g, id);
    r->dominated++;
    r->dominated_shallow += shallow;
    f->shallow += shallow;
    if (by == HDX_VIRTUAL_ROOT) {
        r->dominators = 1;
    } else if (hdx_bits_set(f->known, by)) {
        r->dominators++;
        r->shallow += hdx_graph_shallow(f->ask->g, by);
        code = add_pair(f, &f->dominators, by, (uint64_t)(r - f->rows), err);
    }
    return code == HDX_OK ? add_pair(f, &f->set, id, (uint64_t)(r - f->rows), err) : code;
}

static hdx_code count_all(finder *f, const hdx_members *m, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t w = 0; code == HDX_OK && w < m->words; w++)
        for (uint64_t bits = m->bits[w]; code == HDX_OK && bits != 0; bits &= bits - 1) {
            const hdx_id id = w * 64 + (uint64_t)__builtin_ctzll(bits);
            if (hdx_graph_live(f->ask->g, id) && (code = count_dominator(f, id, err)) == HDX_OK)
                code = hdx_ask_check_cancel(f->ask, err);
        }
    return code;
}

static hdx_code retained(finder *f, bool of_set, hdx_error *err)
{
    const pair_list *list = of_set ? &f->set : &f->dominators;
    const uint64_t   groups = (uint64_t)f->classes + 1;
    uint64_t        *sums = hdx_mem_array(f->ask->q.mem, groups, sizeof *sums);
    if (sums == NULL)
        return hdx_no_memory(err, "sums", groups * sizeof *sums);
    if (list->count > 0)
        hdx_sort_pairs(f->ask->q.mem, list->at, list->count);
    const hdx_code code = hdx_groups_retained(f->ask, list->at, list->count, groups, sums, err);
    for (uint64_t i = 0; i < groups; i++)
        *(of_set ? &f->rows[i].dominated_retained : &f->rows[i].retained) = sums[i];
    return code;
}

/* ---- rows ---- */

static int by_dominated(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->dominated_shallow != y->dominated_shallow)
        return x->dominated_shallow > y->dominated_shallow ? -1 : 1;
    if (x->dominated != y->dominated)
        return x->dominated > y->dominated ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static hdx_code add_rows(finder *f, hdx_table *t, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint32_t used = 0;
    for (uint32_t c = 0; c <= f->classes; c++)
        if (f->rows[c].dominated > 0) {
            f->rows[used] = f->rows[c];
            f->rows[used++].number = c;
        }
    if (used > 0)
        qsort(f->rows, used, sizeof *f->rows, by_dominated);
    for (uint32_t i = 0; code == HDX_OK && i < used; i++) {
        const row *r = &f->rows[i];
        hdx_cell   cells[COLUMNS];
        cells[CLASS] = r->number == f->classes ? hdx_cell_string("<ROOT>") : hdx_class_cell(f->ask->g, r->number);
        cells[DOMINATORS] = hdx_cell_uint(r->dominators);
        cells[SHALLOW] = hdx_cell_uint(r->shallow);
        cells[RETAINED] = hdx_cell_uint(r->retained);
        cells[DOMINATED] = hdx_cell_uint(r->dominated);
        cells[DOMINATED_SHALLOW] = hdx_cell_uint(r->dominated_shallow);
        cells[DOMINATED_RETAINED] = hdx_cell_uint(r->dominated_retained);
        code = hdx_table_add(t, cells, err);
    }
    return code;
}

static hdx_code immediate_rows(finder *f, hdx_rows **out, hdx_error *err)
{
    hdx_table *t;
    hdx_code   code = hdx_table_in(f->ask->q.mem, columns, COLUMNS, &t, err);
    if (code != HDX_OK)
        return code;
    if ((code = add_rows(f, t, err)) == HDX_OK)
        code = hdx_graph_check(f->ask->g, err);
    if (code != HDX_OK) {
        hdx_table_free(t);
        return code;
    }
    const uint64_t numbers[] = { f->set.count, f->shallow };
    return hdx_extras_add_numbers(hdx_table_rows(t, out, err), out, "total", total_members, 2, numbers, err);
}

static hdx_code find(hdx_ask *ask, const hdx_members *m, const char *words, bool preset, hdx_rows **out, hdx_error *err)
{
    hdx_mem *mem = ask->q.mem;
    finder   f = { .ask = ask, .objects = hdx_graph_objects(ask->g), .words = m->words, .ends = hdx_map_of(mem) };
    hdx_code code;
    (void)hdx_graph_classes(ask->g, &f.classes);
    f.skipped = hdx_mem_array(mem, hdx_bits_words(f.classes), sizeof *f.skipped);
    f.known = hdx_mem_array(mem, f.words, sizeof *f.known);
    f.rows = hdx_mem_array(mem, (uint64_t)f.classes + 1, sizeof *f.rows);
    if (f.skipped == NULL || f.known == NULL || f.rows == NULL)
        return hdx_no_memory(err, "dominators", f.words * sizeof *f.known);
    if ((code = parse_skip(&f, words, preset, err)) != HDX_OK || (code = count_all(&f, m, err)) != HDX_OK ||
        (hdx_column_wanted(&ask->q, RETAINED) && (code = retained(&f, false, err)) != HDX_OK) ||
        (hdx_column_wanted(&ask->q, DOMINATED_RETAINED) && (code = retained(&f, true, err)) != HDX_OK))
        return code;
    return immediate_rows(&f, out, err);
}

static hdx_code open_immediate(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_given_set given;
    hdx_members   m = { .bits = NULL };
    hdx_ask       ask;
    const char   *words = hdx_argument_text(a, "skip");
    *out = NULL;
    hdx_code code = hdx_given_set_open(q, a, &given, err);
    given.set.columns = columns;
    given.set.column_count = COLUMNS;
    if (code == HDX_OK && (code = hdx_ask_begin(q, &ask, err)) == HDX_OK &&
        (code = hdx_members_open(&ask, &given.set, &m, err)) == HDX_OK)
        code = find(&ask, &m, words, strcmp(words, SKIP_DEFAULT) == 0, out, err);
    return hdx_rows_explain_empty(code, out, err, "%s", code == HDX_OK ? hdx_members_empty_reason(&m, &given.set) : "");
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD | HDX_PARAMETER_EITHER,
      .value = "OBJECT",
      .sentence = "objects whose dominators are listed" },
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
                           "class name, glob (* and ?) or /regular expression/; may be repeated"),
    { .name = "subclasses",
      .kind = HDX_PARAMETER_FLAG,
      .needs = "class",
      .sentence = "include instances of subclasses" },
    { .name = "skip",
      .kind = HDX_PARAMETER_TEXT,
      .value = "PATTERNS",
      .preset = SKIP_DEFAULT,
      .sentence = "classes to skip: names and globs separated by '|'; '' skips none; " SKIP_DEFAULT " by default" },
};

const hdx_question hdx_question_immediate_dominators = {
    .declared = {
        .name = "immediate-dominators",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_MEMBERS,
        .sentence = "classes of the objects that dominate a set of objects",
        .more = "Objects are selected as for retained. Without its dominator an object would be freed. If the class "
                "of the dominator matches --skip, the next dominator above it counts, so that the answer names "
                "classes of the application instead of its collections.",
        .examples = { "heapdex immediate-dominators app.hprof --class 'char[]'",
                      "heapdex immediate-dominators app.hprof --class 'byte[]' --skip 'java.*'" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_immediate,
};
