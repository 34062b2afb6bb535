/*
 * suspects.c - finds objects and groups of objects that retain so much that they are leak suspects (MAT 7).
 *
 * Suspects are at the top level of the dominator tree and retain more than a stated part of the live bytes: a single
 * object, or all remaining objects of one class together. The answer has for each: the accumulation point and its
 * content, the path that holds it, keywords, and a sentence. Suspects whose paths begin at one root are one problem.
 *
 * Paths use neither referents nor the chain of finalizers (MAT 7.5). They are those of the index, as in the question
 * `path`: one tree, so that they share steps. If such a path uses an excluded reference, another is searched; if there
 * is none, the path of the index is shown and the suspect states that.
 *
 * Cost: two passes over the top level of the dominator tree, and that of accumulation.c.
 */
#include "query/common/labels.h"
#include "query/holding/drop.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/suspects/suspects.h"

#include <stdio.h>
#include <stdlib.h>

#define THRESHOLD_PRESET "10" /* MAT 7.1 */
#define DROP_PRESET      "70"
#define SHARE_PRESET     "80"

/* ---- columns ---- */

enum {
    SUSPECT,
    PROBLEM,
    KIND,
    OBJECT,
    CLASS,
    OBJECTS,
    BYTES,
    PERCENT,
    POINT,
    POINT_CLASS,
    POINT_RETAINED,
    ACCUMULATED_CLASS,
    ACCUMULATED_OBJECTS,
    ACCUMULATED_BYTES,
    SENTENCE,
    COLUMNS
};

#define KIND_SENTENCE  "object: a single object; group: many objects of one class"
#define BYTES_SENTENCE "retained size: bytes that would be freed without the object; for a group, the sum"
#define SENTENCE_SENTENCE                                                                                              \
    "description for people: what it is, what it retains, what holds it, where to look; its wording may change"
static const hdx_column columns[COLUMNS] = {
    [SUSPECT] = HDX_COLUMN("suspect", UNSIGNED, NONE, 0, "number of the suspect, from 1; the first retains most"),
    [PROBLEM] = HDX_COLUMN("problem", UNSIGNED, NONE, 0,
                           "number of the problem; suspects whose paths begin at the same root share it"),
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0, KIND_SENTENCE),
    [OBJECT] = HDX_COLUMN("object", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the object; null for a group"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                         "class of the object; for a class object, the class that it represents"),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of objects: 1, or those of the group"),
    [BYTES] = HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, BYTES_SENTENCE),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, HDX_COLUMN_SHARE, "share of all live bytes, in percent"),
    [POINT] = HDX_COLUMN("accumulation_point", ADDRESS, NONE, HDX_COLUMN_NULLABLE,
                         "object below which the memory is spread over many small objects; null if there is none"),
    [POINT_CLASS] = HDX_COLUMN("accumulation_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                               "class of that object; for a class object, the class that it represents"),
    [POINT_RETAINED] =
        HDX_COLUMN("accumulation_retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "bytes that it retains"),
    [ACCUMULATED_CLASS] = HDX_COLUMN("accumulated_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                                     "class with the most bytes below that object; null if nothing is below it"),
    [ACCUMULATED_OBJECTS] =
        HDX_COLUMN("accumulated_objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "objects of that class below it"),
    [ACCUMULATED_BYTES] =
        HDX_COLUMN("accumulated_bytes", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, "bytes that these objects retain"),
    [SENTENCE] = HDX_COLUMN("sentence", TEXT, NONE, 0, SENTENCE_SENTENCE),
};
static const hdx_form form = { NULL, NULL, columns, HDX_COUNT(columns) };

static const hdx_column point_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object below which the memory is spread over many small objects"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the object; for a class object, the class that it represents"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "bytes that it retains"),
};
static const hdx_column accumulated_members[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class name"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects of the class that the accumulation point immediately dominates"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes that these objects retain"),
};
static const hdx_column keyword_item[] = { HDX_ITEM(TEXT, "search term, such as a class, class loader, method or "
                                                          "source line") };
static const hdx_column number_item[] = { HDX_ITEM(UNSIGNED, "number of a suspect") };
static const hdx_column address_item[] = { HDX_ITEM(ADDRESS, "object that all their paths share") };
static const hdx_column problem_members[] = {
    HDX_NESTED("suspects", LIST, 0, "numbers of the suspects", number_item),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, "bytes that they retain together"),
    HDX_COLUMN("percent", REAL, PERCENT, 0, "share of all live bytes, in percent"),
    HDX_NESTED("common_path", LIST, 0, "common part of their paths, from the root; empty without a path", address_item),
};
static const hdx_column suspect_members[] = {
    HDX_COLUMN("kind", TEXT, NONE, 0, KIND_SENTENCE),
    HDX_COLUMN("object", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the object; null for a group"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the object; for a class object, the class that it represents"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of objects: 1, or those of the group"),
    HDX_COLUMN("bytes", UNSIGNED, BYTES, 0, BYTES_SENTENCE),
    HDX_COLUMN("percent", REAL, PERCENT, 0, "share of all live bytes, in percent"),
    HDX_NESTED("accumulation_point", OBJECT, HDX_COLUMN_NULLABLE,
               "object below which the memory is spread over many small objects; null if there is none", point_members),
    HDX_NESTED("path", OBJECT, HDX_COLUMN_NULLABLE,
               "path to the accumulation point, or to an object without one; null for a group without one",
               hdx_path_members),
    HDX_NESTED("accumulated_classes", LIST, 0, "classes with the most bytes below the accumulation point",
               accumulated_members),
    HDX_NESTED("keywords", LIST, 0, "search terms for bug trackers and source code", keyword_item),
    HDX_COLUMN("sentence", TEXT, NONE, 0, SENTENCE_SENTENCE),
    HDX_COLUMN("problem", UNSIGNED, NONE, 0, "number of the problem"),
};
static const hdx_column document_keys[] = {
    HDX_NESTED("suspects", LIST, 0, "suspects, the largest first", suspect_members),
    HDX_NESTED("problems", LIST, 0, "problems: suspects whose paths begin at the same root", problem_members),
};

/* ---- selection ---- */

static hdx_suspect *add_suspect(hdx_suspects *s, hdx_error *err)
{
    if (!hdx_mem_room(s->ask.q.mem, (void **)&s->at, &s->capacity, s->count, sizeof *s->at)) {
        hdx_no_memory(err, "suspects", s->count * sizeof *s->at);
        return NULL;
    }
    hdx_suspect *one = &s->at[s->count++];
    *one = (hdx_suspect){ .object = HDX_NO_ID,
                          .point = HDX_NO_ID,
                          .path = HDX_NO_ID,
                          .chain = hdx_ids_of(s->ask.q.mem),
                          .members = hdx_ids_of(s->ask.q.mem) };
    return one;
}

static hdx_code add_object(hdx_suspects *s, hdx_id id, uint64_t bytes, hdx_error *err)
{
    hdx_suspect *one = add_suspect(s, err);
    if (one == NULL)
        return HDX_LIMIT;
    one->object = id;
    one->number = hdx_graph_class_of(s->ask.g, id);
    one->objects = 1;
    one->shallow = hdx_graph_shallow(s->ask.g, id);
    one->bytes = bytes;
    return HDX_OK;
}

/* A suspect retains strictly more than this (MAT 7.1). */
static uint64_t threshold_of(uint64_t total, uint64_t percent)
{
    return total / 100 * percent + total % 100 * percent / 100;
}

typedef struct of_class {
    uint64_t objects, shallow, bytes;
    uint64_t suspect; /* its index + 1; 0: none */
    uint64_t met;     /* members of that group so far */
} of_class;

/* Objects that exceed the threshold become suspects; all others are summed by class (MAT 7.2, 7.3). */
static hdx_code select_suspects(hdx_suspects *s, of_class *sums, hdx_error *err)
{
    const uint64_t objects = hdx_graph_objects(s->ask.g);
    hdx_code       code = HDX_OK;
    hdx_refs       refs;
    hdx_id         id;
    uint64_t       seen = 0;
    hdx_graph_dominated(s->ask.g, HDX_VIRTUAL_ROOT, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const uint64_t all = hdx_graph_retained(s->ask.g, id);
        const uint64_t bytes = all - (id == s->only.top ? hdx_least(s->only.bytes, all) : 0);
        const uint32_t c = hdx_graph_class_of(s->ask.g, id);
        if (++seen > objects)
            return hdx_fail(err, HDX_DAMAGED, "dominated", HDX_NOWHERE,
                            "GC roots dominate more objects than the heap has");
        if (bytes > s->threshold) {
            code = add_object(s, id, bytes, err);
        } else if (c < s->classes) {
            sums[c].objects++;
            sums[c].shallow += hdx_graph_shallow(s->ask.g, id);
            sums[c].bytes += bytes;
        }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&s->ask, err);
    }
    for (uint32_t c = 0; code == HDX_OK && c < s->classes; c++) {
        if (sums[c].bytes <= s->threshold)
            continue;
        hdx_suspect *one = add_suspect(s, err);
        if (one == NULL)
            return HDX_LIMIT;
        one->number = c;
        one->objects = sums[c].objects;
        one->shallow = sums[c].shallow;
        one->bytes = sums[c].bytes;
        sums[c].suspect = s->count;
    }
    return code;
}

/* Collects every n-th member of each group, at most HDX_SUSPECT_PATHS. */
static hdx_code collect_members(hdx_suspects *s, of_class *sums, hdx_error *err)
{
    hdx_code code = HDX_OK;
    hdx_refs refs;
    hdx_id   id;
    hdx_graph_dominated(s->ask.g, HDX_VIRTUAL_ROOT, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id)) {
        const uint32_t c = hdx_graph_class_of(s->ask.g, id);
        if (c >= s->classes || sums[c].suspect == 0 || hdx_graph_retained(s->ask.g, id) > s->threshold)
            continue;
        hdx_suspect   *one = &s->at[sums[c].suspect - 1];
        const uint64_t step = (one->objects + HDX_SUSPECT_PATHS - 1) / HDX_SUSPECT_PATHS;
        if (sums[c].met++ % step == 0)
            code = hdx_ids_push(&one->members, id, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&s->ask, err);
    }
    return code;
}

static hdx_code find_suspects(hdx_suspects *s, uint64_t percent, hdx_error *err)
{
    bool      groups = false;
    of_class *sums = hdx_mem_array(s->ask.q.mem, s->classes, sizeof *sums);
    if (sums == NULL)
        return hdx_no_memory(err, "groups", s->classes * sizeof *sums);
    s->threshold = threshold_of(s->total, percent);
    hdx_code code = select_suspects(s, sums, err);
    for (uint64_t i = 0; i < s->count; i++)
        groups = groups || s->at[i].object == HDX_NO_ID;
    if (code == HDX_OK && groups)
        code = collect_members(s, sums, err);
    hdx_mem_put(s->ask.q.mem, sums, s->classes * sizeof *sums);
    return code;
}

/* ---- order ---- */

static hdx_text class_name(const hdx_suspects *s, const hdx_suspect *of)
{
    static const hdx_text none = { "?", 1 };
    const hdx_class      *c;
    if (of->object != HDX_NO_ID)
        return hdx_suspect_class(s->ask.g, of->object);
    return (c = hdx_graph_class(s->ask.g, of->number)) != NULL ? c->name : none;
}

/*
 * By descending bytes; if equal, objects before groups, then the larger, then by name, then the higher address (MAT
 * 7.6).
 */
static bool precedes(const hdx_suspects *s, const hdx_suspect *a, const hdx_suspect *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    if ((a->object == HDX_NO_ID) != (b->object == HDX_NO_ID))
        return b->object == HDX_NO_ID;
    if (a->shallow != b->shallow)
        return a->shallow > b->shallow;
    const int d = hdx_text_order(class_name(s, a), class_name(s, b));
    return d != 0 ? d < 0 : a->object > b->object;
}

/* Insertion sort: the threshold leaves at most two hundred suspects. */
static void put_in_order(hdx_suspects *s)
{
    for (uint64_t i = 1; i < s->count; i++) {
        const hdx_suspect one = s->at[i];
        uint64_t          at = i;
        for (; at > 0 && precedes(s, &one, &s->at[at - 1]); at--)
            s->at[at] = s->at[at - 1];
        s->at[at] = one;
    }
}

/* ---- paths and problems ---- */

static hdx_id path_target(const hdx_suspect *of) { return of->point != HDX_NO_ID ? of->point : of->object; }

/* Replaces the index's path if there is one without the excluded references. */
static hdx_code search_path(hdx_suspects *s, hdx_suspect *of, hdx_error *err)
{
    const hdx_id   target = path_target(of);
    const hdx_code code = hdx_paths_find(&s->ask, &s->x, &target, 1, 1, &s->paths, err);
    if (code == HDX_OK && s->paths.at[s->paths.count - 1].count > 0)
        of->path = s->paths.count - 1;
    else
        of->only_weak = code == HDX_OK;
    return code;
}

static hdx_code uses_excluded(hdx_suspects *s, const hdx_path *p, bool *yes, hdx_error *err)
{
    const hdx_id *step = s->paths.steps.at + p->first;
    hdx_code      code = HDX_OK;
    *yes = false;
    for (uint64_t i = 1; code == HDX_OK && !*yes && i < p->count; i++)
        if ((code = hdx_excludes_edge(&s->x, step[i - 1], step[i], yes, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&s->ask, err);
    return code;
}

static hdx_code find_paths(hdx_suspects *s, hdx_error *err)
{
    const hdx_excludes all = { .g = s->ask.g, .mem = s->ask.q.mem };
    hdx_code           code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++) {
        bool         no = false;
        hdx_suspect *of = &s->at[i];
        const hdx_id target = path_target(of);
        if (target == HDX_NO_ID)
            continue;
        of->path = s->paths.count;
        if ((code = hdx_paths_find(&s->ask, &all, &target, 1, 1, &s->paths, err)) != HDX_OK)
            break;
        if (s->paths.at[of->path].count == 0)
            return hdx_ask_unsound(&s->ask, "nearest", "no path leads to a live object", err);
        code = uses_excluded(s, &s->paths.at[of->path], &no, err);
        if (code == HDX_OK && no)
            code = search_path(s, of, err);
    }
    return code == HDX_OK ? hdx_graph_check(s->ask.g, err) : code; /* sentences require a sound index */
}

static hdx_id root_of(const hdx_suspects *s, const hdx_suspect *of)
{
    const hdx_path *p = of->path == HDX_NO_ID ? NULL : &s->paths.at[of->path];
    return p == NULL || p->count == 0 ? HDX_NO_ID : s->paths.steps.at[p->first];
}

static unsigned number_problems(hdx_suspects *s)
{
    unsigned problems = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        hdx_suspect *of = &s->at[i];
        const hdx_id root = root_of(s, of);
        for (uint64_t k = 0; root != HDX_NO_ID && of->problem == 0 && k < i; k++)
            if (root_of(s, &s->at[k]) == root)
                of->problem = s->at[k].problem;
        if (of->problem == 0)
            of->problem = ++problems;
    }
    return problems;
}

/* ---- the document ---- */

typedef struct writer {
    hdx_suspects *s;
    hdx_arena    *arena;
    hdx_table    *table;
    hdx_cell      paths; /* documents, by index */
} writer;

static void *get(writer *w, uint64_t count, size_t size, hdx_code *code, hdx_error *err)
{
    void *at = *code != HDX_OK ? NULL : hdx_arena_get(w->arena, count * size);
    if (at == NULL && *code == HDX_OK)
        *code = hdx_no_memory(err, "suspects", count * size);
    return at;
}

static double percent(const writer *w, uint64_t bytes)
{
    return w->s->total > 0 ? 100.0 * (double)bytes / (double)w->s->total : 0.0;
}

static hdx_cell accumulated_cell(writer *w, const hdx_suspect *of, hdx_code *code, hdx_error *err)
{
    hdx_cell   *list = get(w, of->sum_count, sizeof *list, code, err);
    hdx_member *m = get(w, of->sum_count * 3ull, sizeof *m, code, err);
    if (*code != HDX_OK)
        return hdx_cell_null();
    for (unsigned i = 0; i < of->sum_count; i++, m += 3) {
        m[0] = (hdx_member){ "class", hdx_class_cell(w->s->ask.g, of->sums[i].number) };
        m[1] = (hdx_member){ "objects", hdx_cell_uint(of->sums[i].objects) };
        m[2] = (hdx_member){ "bytes", hdx_cell_uint(of->sums[i].bytes) };
        list[i] = hdx_cell_object(m, 3);
    }
    return hdx_cell_list(list, of->sum_count);
}

static hdx_cell point_cell(writer *w, const hdx_suspect *of, const hdx_cell *cells, hdx_code *code, hdx_error *err)
{
    hdx_member *m = of->point == HDX_NO_ID ? NULL : get(w, 3, sizeof *m, code, err);
    if (m == NULL)
        return hdx_cell_null();
    m[0] = (hdx_member){ "address", cells[POINT] };
    m[1] = (hdx_member){ "class", cells[POINT_CLASS] };
    m[2] = (hdx_member){ "retained", cells[POINT_RETAINED] };
    return hdx_cell_object(m, 3);
}

static void fill_cells(writer *w, const hdx_suspect *of, uint64_t number, hdx_cell *cells)
{
    hdx_graph *g = w->s->ask.g;
    cells[SUSPECT] = hdx_cell_uint(number);
    cells[PROBLEM] = hdx_cell_uint(of->problem);
    cells[KIND] = hdx_cell_string(of->object == HDX_NO_ID ? "group" : "object");
    cells[OBJECT] = hdx_id_cell(g, of->object);
    cells[CLASS] = hdx_cell_text(class_name(w->s, of));
    cells[OBJECTS] = hdx_cell_uint(of->objects);
    cells[BYTES] = hdx_cell_uint(of->bytes);
    cells[PERCENT] = hdx_cell_real(percent(w, of->bytes));
    cells[POINT] = hdx_id_cell(g, of->point);
    for (unsigned i = POINT_CLASS; i <= ACCUMULATED_BYTES; i++)
        cells[i] = hdx_cell_null();
    if (of->point != HDX_NO_ID) {
        cells[POINT_CLASS] = hdx_cell_text(hdx_suspect_class(g, of->point));
        cells[POINT_RETAINED] = hdx_cell_uint(hdx_graph_retained(g, of->point));
    }
    if (of->sum_count > 0) {
        cells[ACCUMULATED_CLASS] = hdx_class_cell(g, of->sums[0].number);
        cells[ACCUMULATED_OBJECTS] = hdx_cell_uint(of->sums[0].objects);
        cells[ACCUMULATED_BYTES] = hdx_cell_uint(of->sums[0].bytes);
    }
}

static hdx_code write_suspect(writer *w, const hdx_suspect *of, uint64_t number, hdx_cell *out, hdx_error *err)
{
    hdx_cell    cells[COLUMNS], keywords = hdx_cell_null();
    hdx_code    code = HDX_OK;
    hdx_member *m = get(w, 12, sizeof *m, &code, err);
    fill_cells(w, of, number, cells);
    const hdx_cell point = point_cell(w, of, cells, &code, err), sums = accumulated_cell(w, of, &code, err);
    if (code == HDX_OK)
        code = hdx_suspect_keywords(w->s, of, w->arena, &keywords, err);
    if (code == HDX_OK)
        code = hdx_suspect_sentence(w->s, of, w->arena, &cells[SENTENCE], err);
    if (code != HDX_OK)
        return code;
    m[0] = (hdx_member){ "kind", cells[KIND] };
    m[1] = (hdx_member){ "object", cells[OBJECT] };
    m[2] = (hdx_member){ "class", cells[CLASS] };
    m[3] = (hdx_member){ "objects", cells[OBJECTS] };
    m[4] = (hdx_member){ "bytes", cells[BYTES] };
    m[5] = (hdx_member){ "percent", cells[PERCENT] };
    m[6] = (hdx_member){ "accumulation_point", point };
    m[7] = (hdx_member){ "path", of->path == HDX_NO_ID ? hdx_cell_null() : w->paths.as.list.at[of->path] };
    m[8] = (hdx_member){ "accumulated_classes", sums };
    m[9] = (hdx_member){ "keywords", keywords };
    m[10] = (hdx_member){ "sentence", cells[SENTENCE] };
    m[11] = (hdx_member){ "problem", cells[PROBLEM] };
    *out = hdx_cell_object(m, 12);
    return hdx_table_add(w->table, cells, err);
}

#define COMMON_MOST 1000u /* steps of a common path that are shown */

static hdx_cell common_cell(writer *w, unsigned problem, hdx_code *code, hdx_error *err)
{
    const hdx_suspects *s = w->s;
    const hdx_path     *first = NULL;
    uint64_t            n = 0;
    for (uint64_t i = 0; i < s->count; i++) {
        if (s->at[i].problem != problem || s->at[i].path == HDX_NO_ID)
            continue;
        const hdx_path *p = &s->paths.at[s->at[i].path];
        if (first == NULL) {
            first = p;
            n = p->count < COMMON_MOST ? p->count : COMMON_MOST;
        }
        uint64_t k = 0;
        while (k < n && k < p->count && s->paths.steps.at[p->first + k] == s->paths.steps.at[first->first + k])
            k++;
        n = k;
    }
    hdx_cell *list = get(w, n, sizeof *list, code, err);
    for (uint64_t k = 0; *code == HDX_OK && k < n; k++)
        list[k] = hdx_id_cell(s->ask.g, s->paths.steps.at[first->first + k]);
    return *code == HDX_OK ? hdx_cell_list(list, n) : hdx_cell_null();
}

static hdx_code write_problem(writer *w, unsigned problem, hdx_cell *out, hdx_error *err)
{
    uint64_t    n = 0, bytes = 0;
    hdx_code    code = HDX_OK;
    hdx_cell   *numbers = get(w, w->s->count, sizeof *numbers, &code, err);
    hdx_member *m = get(w, 4, sizeof *m, &code, err);
    if (code != HDX_OK)
        return code;
    for (uint64_t i = 0; i < w->s->count; i++)
        if (w->s->at[i].problem == problem) {
            numbers[n++] = hdx_cell_uint(i + 1);
            bytes += w->s->at[i].bytes;
        }
    m[0] = (hdx_member){ "suspects", hdx_cell_list(numbers, n) };
    m[1] = (hdx_member){ "bytes", hdx_cell_uint(bytes) };
    m[2] = (hdx_member){ "percent", hdx_cell_real(percent(w, bytes)) };
    m[3] = (hdx_member){ "common_path", common_cell(w, problem, &code, err) };
    *out = hdx_cell_object(m, 4);
    return code;
}

static hdx_code write_problems(writer *w, unsigned problem_count, hdx_cell *suspects, hdx_cell *problems,
                               hdx_error *err)
{
    hdx_code  code = HDX_OK;
    hdx_cell *list = get(w, w->s->count, sizeof *list, &code, err);
    hdx_cell *grouped = get(w, problem_count, sizeof *grouped, &code, err);
    if (code == HDX_OK)
        code = hdx_paths_cells(&w->s->ask, &w->s->x, &w->s->paths, w->arena, &w->paths, err);
    for (uint64_t i = 0; code == HDX_OK && i < w->s->count; i++)
        code = write_suspect(w, &w->s->at[i], i + 1, &list[i], err);
    for (unsigned i = 0; code == HDX_OK && i < problem_count; i++)
        code = write_problem(w, i + 1, &grouped[i], err);
    if (code != HDX_OK)
        return code;
    *suspects = hdx_cell_list(list, w->s->count);
    *problems = hdx_cell_list(grouped, problem_count);
    return hdx_graph_check(w->s->ask.g, err);
}

/* ---- the answer ---- */

static void close_context(hdx_suspects *s)
{
    hdx_mem *mem = s->ask.q.mem;
    for (uint64_t i = 0; i < s->count; i++) {
        hdx_ids_drop(&s->at[i].chain);
        hdx_ids_drop(&s->at[i].members);
    }
    hdx_mem_put(mem, s->at, s->capacity * sizeof *s->at);
    hdx_mem_put(mem, s->sums, s->classes * sizeof *s->sums);
    hdx_mem_put(mem, s->used, s->classes * sizeof *s->used);
    hdx_paths_drop(&s->paths);
    hdx_excludes_close(&s->x);
    hdx_contents_close(&s->contents);
    hdx_layouts_unbind(&s->bound);
    hdx_layouts_free(&s->layouts);
}

static hdx_code begin_contents(hdx_suspects *s, hdx_error *err)
{
    hdx_mem *mem = s->ask.q.mem;
    hdx_code code = hdx_layouts_open(&s->layouts, NULL, NULL, mem, err);
    if (code != HDX_OK || (code = hdx_layouts_bind(&s->layouts, &s->ask, &s->bound, err)) != HDX_OK ||
        (code = hdx_contents_open(&s->contents, s->ask.g, &s->bound, mem, err)) != HDX_OK)
        return code;
    s->has_contents = true;
    return HDX_OK;
}

/*
 * An index without its dump lacks field names: no reference is excluded then, which the caller reports
 * (hdx_session_lacks).
 */
static hdx_code open_context(hdx_suspects *s, const hdx_query *q, hdx_error *err)
{
    hdx_source            *dump;
    hdx_error              mine;
    const hdx_path_options options = { .exclude = HDX_EXCLUDE_REFERENTS };
    hdx_code               code = hdx_ask_begin(q, &s->ask, err);
    if (code != HDX_OK)
        return code;
    (void)hdx_graph_classes(q->graph, &s->classes);
    s->paths.steps.mem = s->layouts.mem = q->mem;
    s->x = (hdx_excludes){ .g = q->graph, .mem = q->mem };
    s->only = hdx_dump_only_of(q->graph);
    s->total = hdx_graph_summary_of(q->graph)->live_bytes;
    s->total -= hdx_least(s->only.bytes, s->total);
    hdx_dump_only_report(q);
    s->sums = hdx_mem_array(q->mem, s->classes, sizeof *s->sums);
    s->used = hdx_mem_array(q->mem, s->classes, sizeof *s->used);
    if (s->sums == NULL || s->used == NULL)
        return hdx_no_memory(err, "suspects", s->classes * sizeof *s->sums);
    if ((code = hdx_graph_dump(q->graph, &dump, &mine)) == HDX_BAD_DUMP && hdx_graph_lacks_dump(q->graph))
        return HDX_OK;
    if ((code = hdx_label_allow_missing_dump(q->graph, code, &mine, err)) != HDX_OK)
        return code;
    code = hdx_excludes_open(q, &options, &s->x, err);
    return code == HDX_OK ? begin_contents(s, err) : code;
}

/* document: add the objects next to the rows. */
static hdx_code answer(hdx_suspects *s, uint64_t percent_of, bool document, hdx_rows **out, hdx_error *err)
{
    hdx_cell suspects = hdx_cell_null(), problems = hdx_cell_null();
    writer   w = { .s = s };
    hdx_code code = find_suspects(s, percent_of, err);
    for (uint64_t i = 0; code == HDX_OK && i < s->count; i++)
        if ((code = hdx_suspect_point(s, &s->at[i], err)) == HDX_OK)
            code = hdx_suspect_sums(s, &s->at[i], err);
    if (code == HDX_OK) {
        put_in_order(s);
        code = find_paths(s, err);
    }
    if (code != HDX_OK || (code = hdx_table_in(s->ask.q.mem, columns, COLUMNS, &w.table, err)) != HDX_OK)
        return code;
    w.arena = hdx_table_arena(w.table);
    if ((code = write_problems(&w, number_problems(s), &suspects, &problems, err)) != HDX_OK) {
        hdx_table_free(w.table);
        return code;
    }
    if ((code = hdx_table_rows(w.table, out, err)) == HDX_OK && document &&
        ((code = hdx_rows_add_extra(*out, "suspects", suspects, err)) != HDX_OK ||
         (code = hdx_rows_add_extra(*out, "problems", problems, err)) != HDX_OK)) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return code;
}

static hdx_code make_answer(const hdx_query *q, const hdx_suspect_options *options, bool document, hdx_rows **out,
                            hdx_error *err)
{
    static const hdx_suspect_options presets = { 0, 0, 0 };
    *out = NULL;
    if (options == NULL)
        options = &presets;
    const unsigned threshold = options->threshold == 0 ? 10 : options->threshold;
    hdx_suspects   s = { .drop = (double)(options->drop == 0 ? HDX_DROP_SHARE : options->drop) / 100.0,
                         .share = options->share == 0 ? 80 : options->share };
    hdx_code       code = open_context(&s, q, err);
    if (code == HDX_OK)
        code = answer(&s, threshold, document, out, err);
    close_context(&s);
    return hdx_rows_explain_empty(
        code, out, err, "no object, alone or together with its class, retains more than %u%% of the live bytes",
        threshold);
}

hdx_code hdx_query_suspects(const hdx_query *q, const hdx_suspect_options *options, hdx_rows **out, hdx_error *err)
{
    return make_answer(q, options, true, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "threshold",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = THRESHOLD_PRESET,
      .least = 1,
      .most = 100,
      .sentence = "percentage of the live bytes that a suspect must exceed; " THRESHOLD_PRESET " by default" },
    { .name = "drop",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = DROP_PRESET,
      .least = 1,
      .most = 100,
      .sentence =
          "accumulation point: no object below it retains this percentage of its bytes; " DROP_PRESET " by default" },
    { .name = "share",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = SHARE_PRESET,
      .least = 1,
      .most = 100,
      .sentence = "percentage of a group's paths that lead through its accumulation point; more than " SHARE_PRESET
                  " by default" },
};

static hdx_code open_suspects(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    const hdx_suspect_options options = { (unsigned)hdx_argument_number(a, "threshold"),
                                          (unsigned)hdx_argument_number(a, "drop"),
                                          (unsigned)hdx_argument_number(a, "share") };
    return hdx_query_suspects(q, &options, out, err);
}

const hdx_question hdx_question_suspects = {
    .declared = {
        .name = "suspects",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "leak suspects: objects and groups that retain most of the heap, with what holds them",
        .more = "A suspect is an object, or a group of all objects of a class, that only GC roots dominate and that "
                "retains more than --threshold percent of the live bytes. Below its accumulation point the memory is "
                "spread over many small objects. Paths do not use weak, soft, phantom and finalizer references.",
        .examples = { "heapdex suspects app.hprof", "heapdex suspects app.hprof --threshold 2 --format json" },
        .forms = &form,
        .form_count = 1,
        .document = document_keys,
        .document_count = HDX_COUNT(document_keys),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_suspects,
};

static hdx_code open_table(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    (void)a;
    return make_answer(q, NULL, false, out, err);
}

const hdx_question hdx_table_of_suspects = {
    .declared = { .name = "suspects",
                  .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
                  .sentence = "leak suspects, one row per suspect",
                  .more = "",
                  .forms = &form,
                  .form_count = 1 },
    .open = open_table,
};
