/*
 * path.c - paths from the GC roots as documents ("paths") and as rows, or merged into one tree (merged.c).
 *
 * A linked list of ten million nodes is common, but a document of ten million steps is not useful: a path of more than
 * STEPS_WHOLE steps (and every path after STEPS_ALL steps were written) shows its first and last STEPS_ENDS, and
 * "steps_cut" is the number of omitted ones. `length` is exact. Objects deep in a list share nearly all steps of their
 * paths, so each step is read from the dump once.
 */
#include "query/common/frames.h"
#include "query/common/columns.h"
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/common/unreached.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/sets/sets.h"
#include "query/query.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_WHOLE (1u << 18)
#define STEPS_ALL   (1u << 20)
#define STEPS_ENDS  1000u

enum { PATH, STEP, ADDRESS, CLASS, LABEL, REFERENCE, SHALLOW, RETAINED, COLUMNS };

#define LABEL_SENTENCE    "label of the object, such as its text or name; null if it has none"
#define RETAINED_SENTENCE "retained size: bytes that would be freed without the object; null if it is unreachable"
static const hdx_column columns[COLUMNS] = {
    [PATH] = HDX_COLUMN("path", UNSIGNED, NONE, 0, "number of the path, from 1"),
    [STEP] = HDX_COLUMN("step", UNSIGNED, NONE, 0, "number of the step in its path; 0 is the GC root"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "object of the step"),
    [CLASS] = HDX_CLASS_COLUMN(0),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL, LABEL_SENTENCE),
    [REFERENCE] = HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE,
                             "name of the reference to the next step; null at the last step"),
    [SHALLOW] = HDX_SHALLOW_COLUMN(0),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, RETAINED_SENTENCE),
};
static const hdx_form forms[] = {
    { "merge", "true", hdx_merged_columns, HDX_MERGED_COLUMNS },
    { NULL, NULL, columns, HDX_COUNT(columns) },
};

static const hdx_column reference_members[] = {
    HDX_COLUMN("name", TEXT, NONE, 0,
               "field name, [i], <class> or <Java Local>; without the dump only the kind: <field>, <element>"),
    HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "field, static, element, class, super, loader or local; null if unknown"),
    HDX_COLUMN("owner", TEXT, NONE, HDX_COLUMN_NULLABLE, "class that declares the field; null for other references"),
    HDX_COLUMN("frame", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "innermost frame with the local that is outside of the JDK: CLASS.METHOD (SOURCE:LINE)"),
};
static const hdx_column step_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object of the step"),
    HDX_CLASS_COLUMN(0),
    HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL, LABEL_SENTENCE),
    HDX_SHALLOW_COLUMN(0),
    HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE, RETAINED_SENTENCE),
    HDX_NESTED("reference", OBJECT, HDX_COLUMN_NULLABLE, "reference to the next step; null at the last step",
               reference_members),
};
static const hdx_column type_item[] = { HDX_ITEM(TEXT, "type of GC root, such as THREAD_OBJ") };
static const hdx_column description_item[] = { HDX_ITEM(TEXT, "type of GC root in words, such as 'a running thread'") };
static const hdx_column root_members[] = {
    HDX_NESTED("types", LIST, 0, "GC root types of the first step", type_item),
    HDX_COLUMN("thread", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "first step, if it is a thread"),
    HDX_COLUMN("thread_name", TEXT, NONE, HDX_COLUMN_NULLABLE, "name of the thread"),
    HDX_NESTED("descriptions", LIST, 0, "these types in words, in the same order", description_item),
};
const hdx_column hdx_path_members[HDX_PATH_MEMBERS] = {
    HDX_COLUMN("target", ADDRESS, NONE, 0, "object at the end of the path"),
    HDX_COLUMN("reachable", BOOL, NONE, 0,
               "false if the object is unreachable or all its paths use excluded references"),
    HDX_COLUMN("length", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
               "number of references in the path; null if there is no path"),
    HDX_NESTED("root", OBJECT, HDX_COLUMN_NULLABLE, "GC root at the start of the path; null if there is no path",
               root_members),
    HDX_NESTED("steps", LIST, 0, "objects in the path, from the GC root to the target", step_members),
    HDX_COLUMN("steps_cut", UNSIGNED, COUNT, HDX_COLUMN_OPTIONAL,
               "number of steps omitted in the middle; only in very long paths"),
    HDX_COLUMN("reservation", TEXT, NONE, HDX_COLUMN_OPTIONAL,
               "what may hold the object although the dump does not show it; only if it is unreachable and this is "
               "known"),
};
static const hdx_column document[] = { HDX_NESTED(
    "paths", LIST, HDX_COLUMN_OPTIONAL,
    "paths of each object: the preferred path first, then by length; not with --merge for over 1,000 objects",
    hdx_path_members) };

/* Of so many objects a merged tree comes with the path of each; a document of millions of paths would be useless. */
#define DOCUMENTS_MOST 1000u

/* The cells of an object on the path to another. */
typedef struct step {
    hdx_id   next; /* HDX_NO_ID: the path ends here */
    hdx_cell cells[COLUMNS], document;
} step;

typedef struct writer {
    hdx_ask            *ask;
    const hdx_excludes *x;
    hdx_paths           found;
    hdx_table          *table;
    hdx_arena          *arena;
    uint64_t            written;       /* written so far */
    bool                merge;         /* no rows for single paths */
    bool                has_unreached; /* `unreached` is valid */
    hdx_unreached       unreached;
    hdx_map             steps_made; /* id -> the last step made for it */
} writer;

static hdx_member *object_of(writer *w, uint64_t members)
{
    return hdx_arena_get(w->arena, members * sizeof(hdx_member));
}

/*
 * {name, kind, owner, frame} of the reference to the next step; without the dump, only a reference to the class has a
 * name.
 */
static hdx_code reference_cell(writer *w, hdx_id from, hdx_id to, hdx_cell *out, hdx_cell *name, hdx_error *err)
{
    hdx_named_ref ref;
    hdx_error     mine;
    bool          found = false;
    hdx_member   *m = object_of(w, 4);
    if (m == NULL)
        return hdx_no_memory(err, "a step", 4 * sizeof *m);
    hdx_code code = hdx_excludes_name(w->x, from, to, &ref, &found, &mine);
    if (code != HDX_OK && !(code == HDX_BAD_DUMP && hdx_graph_lacks_dump(w->ask->g))) {
        if (err != NULL)
            *err = mine;
        return code;
    }
    if (code == HDX_OK && !found &&
        w->x->count > 0) { /* the path uses an excluded reference, because there is no other path */
        const hdx_excludes all = { .g = w->ask->g, .mem = w->ask->q.mem };
        if ((code = hdx_excludes_name(&all, from, to, &ref, &found, err)) != HDX_OK)
            return code;
    }
    if (found) {
        *name = hdx_cell_copy(w->arena, ref.name);
        m[1].value = hdx_cell_string(hdx_ref_kind_name(ref.kind));
        m[2].value = hdx_class_cell(w->ask->g, ref.owner);
    } else {
        hdx_ref_kind is;
        char         text[32];
        if ((code = hdx_reference_kind(w->ask->g, from, to, &is, err)) != HDX_OK)
            return code;
        const char *kind = hdx_ref_kind_name(is);
        (void)snprintf(text, sizeof text, "<%s>", kind);
        *name = hdx_cell_copy(w->arena, text);
        m[1].value = hdx_cell_string(kind);
        m[2].value = hdx_cell_null();
    }
    const hdx_frame *frame = found && ref.kind == HDX_REF_LOCAL ? hdx_frame_of_local(w->ask->g, from, to) : NULL;
    m[0] = (hdx_member){ "name", *name };
    m[1].key = "kind";
    m[2].key = "owner";
    m[3].key = "frame";
    *out = hdx_cell_object(m, 4);
    return hdx_frame_cell(w->arena, frame, &m[3].value, err);
}

static hdx_code make_step(writer *w, hdx_id id, hdx_id next, step *out, hdx_error *err)
{
    hdx_graph  *g = w->ask->g;
    hdx_cell   *cells = out->cells, reference = hdx_cell_null();
    hdx_member *m = object_of(w, 6);
    hdx_code    code = hdx_ask_check_cancel(w->ask, err);
    if (code == HDX_OK && m == NULL)
        code = hdx_no_memory(err, "a step", 6 * sizeof *m);
    if (code != HDX_OK)
        return code;
    out->next = next;
    cells[ADDRESS] = hdx_id_cell(g, id);
    cells[CLASS] = hdx_class_of_cell(g, id);
    cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(g, id));
    cells[RETAINED] = hdx_retained_cell(g, id);
    cells[REFERENCE] = hdx_cell_null();
    if ((code = hdx_label_cell(&w->ask->q, id, w->arena, &cells[LABEL], err)) != HDX_OK)
        return code;
    if (next != HDX_NO_ID && (code = reference_cell(w, id, next, &reference, &cells[REFERENCE], err)) != HDX_OK)
        return code;
    m[0] = (hdx_member){ "address", cells[ADDRESS] };
    m[1] = (hdx_member){ "class", cells[CLASS] };
    m[2] = (hdx_member){ "label", cells[LABEL] };
    m[3] = (hdx_member){ "shallow", cells[SHALLOW] };
    m[4] = (hdx_member){ "retained", cells[RETAINED] };
    m[5] = (hdx_member){ "reference", reference };
    out->document = hdx_cell_object(m, 6);
    return HDX_OK;
}

/* Returns the step from id to next, cached if possible. */
static hdx_code step_of(writer *w, hdx_id id, hdx_id next, const step **out, hdx_error *err)
{
    bool      fresh;
    uint64_t *place = hdx_map_put(&w->steps_made, id, &fresh);
    if (place == NULL)
        return hdx_no_memory(err, "steps", w->steps_made.count);
    if (!fresh && *place != 0 && (*out = (const step *)(uintptr_t)*place)->next == next)
        return HDX_OK;
    step *made = hdx_arena_get(w->arena, sizeof *made);
    if (made == NULL)
        return hdx_no_memory(err, "a step", sizeof *made);
    *out = made;
    *place = (uint64_t)(uintptr_t)made;
    return make_step(w, id, next, made, err);
}

static hdx_code write_step(writer *w, uint64_t number, uint64_t place, const hdx_path *p, hdx_cell *out, hdx_error *err)
{
    const hdx_id *at = &w->found.steps.at[p->first + place];
    const step   *made = NULL;
    hdx_cell      cells[COLUMNS];
    hdx_code      code = step_of(w, at[0], place + 1 < p->count ? at[1] : HDX_NO_ID, &made, err);
    if (code != HDX_OK)
        return code;
    *out = made->document;
    if (w->merge)
        return HDX_OK;
    memcpy(cells, made->cells, sizeof cells);
    cells[PATH] = hdx_cell_uint(number);
    cells[STEP] = hdx_cell_uint(place);
    return hdx_table_add(w->table, cells, err);
}

static hdx_code root_cell(writer *w, hdx_id id, hdx_cell *out, hdx_error *err)
{
    hdx_member *m = object_of(w, 4);
    if (m == NULL)
        return hdx_no_memory(err, "a root", 4 * sizeof *m);
    bool thread = hdx_graph_thread_of(w->ask->g, id) != NULL;
    m[0].key = "types";
    m[1] = (hdx_member){ "thread", thread ? hdx_id_cell(w->ask->g, id) : hdx_cell_null() };
    m[2] = (hdx_member){ "thread_name", hdx_cell_null() };
    m[3] = (hdx_member){ "descriptions", hdx_cell_null() };
    hdx_code code = hdx_root_types_cell(w->ask->g, id, false, w->arena, &m[0].value, err);
    if (code == HDX_OK && thread)
        code = hdx_label_cell(&w->ask->q, id, w->arena, &m[2].value, err);
    if (code == HDX_OK)
        code = hdx_root_descriptions_cell(w->arena, &m[0].value, &m[3].value, err);
    *out = hdx_cell_object(m, 4);
    return code;
}

/*
 * Returns the qualification of "no GC root reaches it" for this object; *out NULL: none, or the path is missing for
 * another reason.
 */
static hdx_code reservation_of(writer *w, hdx_id id, const char **out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *out = NULL;
    if (hdx_graph_live(w->ask->g, id))
        return HDX_OK;
    if (!w->has_unreached && (code = hdx_unreached_open(w->ask, &w->unreached, err)) == HDX_OK)
        w->has_unreached = true;
    if (code == HDX_OK)
        *out = hdx_unreached_reservation(hdx_graph_summary_of(w->ask->g), hdx_unreached_kind_of(&w->unreached, id));
    return code;
}

/* Writes the document of one path, and its rows. */
static hdx_code write_path(writer *w, uint64_t number, const hdx_path *p, hdx_cell *out, hdx_error *err)
{
    bool        whole = p->count <= 2 * STEPS_ENDS || (p->count <= STEPS_WHOLE && w->written < STEPS_ALL);
    uint64_t    shown = whole ? p->count : 2 * STEPS_ENDS;
    hdx_code    code = HDX_OK;
    const char *reservation = NULL;
    hdx_member *m = object_of(w, HDX_PATH_MEMBERS);
    hdx_cell   *steps = hdx_arena_get(w->arena, shown * sizeof *steps);
    if (m == NULL || steps == NULL)
        return hdx_no_memory(err, "a path", shown * sizeof *steps);
    for (uint64_t i = 0; code == HDX_OK && i < shown; i++) {
        uint64_t place = whole || i < STEPS_ENDS ? i : p->count - shown + i;
        hdx_graph_ahead(w->ask->g,
                        HDX_AHEAD_ADDRESS | HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH | HDX_AHEAD_POSITION |
                            HDX_AHEAD_RETAINED | HDX_AHEAD_LIVE,
                        w->found.steps.at + p->first, p->count, place);
        code = write_step(w, number, place, p, &steps[i], err);
    }
    w->written += shown;
    m[0] = (hdx_member){ "target", hdx_id_cell(w->ask->g, p->target) };
    m[1] = (hdx_member){ "reachable", hdx_cell_bool(p->count > 0) };
    m[2] = (hdx_member){ "length", p->count > 0 ? hdx_cell_uint(p->count - 1) : hdx_cell_null() };
    uint64_t members = 5;
    m[3] = (hdx_member){ "root", hdx_cell_null() };
    m[4] = (hdx_member){ "steps", hdx_cell_list(steps, shown) };
    if (!whole)
        m[members++] = (hdx_member){ "steps_cut", hdx_cell_uint(p->count - shown) };
    if (code == HDX_OK && p->count > 0)
        code = root_cell(w, w->found.steps.at[p->first], &m[3].value, err);
    else if (code == HDX_OK)
        code = reservation_of(w, p->target, &reservation, err);
    if (reservation != NULL)
        m[members++] = (hdx_member){ "reservation", hdx_cell_string(reservation) };
    *out = hdx_cell_object(m, members);
    return code;
}

/* ---- the answer ---- */

static hdx_code write_paths(writer *w, hdx_cell *paths, hdx_error *err)
{
    hdx_code  code = HDX_OK;
    hdx_cell *cells = hdx_arena_get(w->arena, w->found.count * sizeof *cells);
    if (cells == NULL)
        return hdx_no_memory(err, "paths", w->found.count * sizeof *cells);
    for (uint64_t i = 0; code == HDX_OK && i < w->found.count; i++)
        code = write_path(w, i + 1, &w->found.at[i], &cells[i], err);
    *paths = hdx_cell_list(cells, w->found.count);
    return code;
}

hdx_code hdx_paths_cells(hdx_ask *ask, const hdx_excludes *x, const hdx_paths *paths, hdx_arena *arena, hdx_cell *out,
                         hdx_error *err)
{
    writer w = {
        .ask = ask, .x = x, .found = *paths, .arena = arena, .merge = true, .steps_made = hdx_map_of(ask->q.mem)
    };
    const hdx_code code = write_paths(&w, out, err);
    hdx_map_free(&w.steps_made);
    hdx_unreached_close(&w.unreached);
    return code;
}

/* all 0: unknown. */
static hdx_code set_cut_title(hdx_rows *rows, uint64_t shown, uint64_t all, hdx_error *err)
{
    char line[96];
    if (all > 0)
        (void)snprintf(line, sizeof line, "%" PRIu64 " of %" PRIu64 " paths (--limit 0 shows all)", shown, all);
    else
        (void)snprintf(line, sizeof line, "%" PRIu64 " path%s of more (--limit 0 shows all)", shown,
                       shown == 1 ? "" : "s");
    return hdx_rows_set_title(rows, line, err);
}

/* Reports the targets without a path; documents have that information themselves. */
static hdx_code report_unreached(writer *w, const hdx_path_options *options, const hdx_id *ids,
                                 const hdx_path_tree *tree, hdx_error *err)
{
    const char *without =
        options->exclude != 0 || options->exclude_field_count > 0 ? " without the excluded references" : "";
    const uint64_t all = tree != NULL ? tree->end_count : w->found.count;
    const char    *reservation = NULL;
    uint64_t       count = 0;
    hdx_id         first = 0;
    char           line[256];
    for (uint64_t i = 0; i < all; i++)
        if ((tree != NULL ? tree->ends[i] == HDX_TREE_NONE : w->found.at[i].count == 0) && count++ == 0)
            first = tree != NULL ? ids[i] : w->found.at[i].target;
    if (count == 0 || w->ask->q.notice == NULL)
        return HDX_OK;
    const hdx_code           code = reservation_of(w, first, &reservation, err);
    const unsigned long long address = (unsigned long long)hdx_graph_address(w->ask->g, first);
    const char              *mark = reservation != NULL ? "; " : "";
    if (code != HDX_OK)
        return code;
    if (count == 1)
        (void)snprintf(line, sizeof line, "no GC root reaches 0x%llx%s%s%s", address, without, mark,
                       reservation != NULL ? reservation : "");
    else
        (void)snprintf(line, sizeof line, "no GC root reaches %" PRIu64 " of the objects%s, first 0x%llx%s%s", count,
                       without, address, mark, reservation != NULL ? reservation : "");
    w->ask->q.notice(w->ask->q.notice_context, line);
    return HDX_OK;
}

/* Finds individual paths, or the tree of them, with the individual paths if documents of them are wanted. */
static hdx_code find_paths(writer *w, const hdx_id *ids, size_t count, const hdx_path_options *options, bool documents,
                           hdx_path_tree *tree, hdx_error *err)
{
    const bool one_each = w->merge && options->paths <= 1;
    hdx_code   code;
    if (!one_each) {
        code = hdx_paths_find(w->ask, w->x, ids, count, options->paths, &w->found, err);
        return code == HDX_OK ? hdx_paths_prefer(w->ask, w->x, options->paths, &w->found, err) : code;
    }
    if ((code = hdx_path_tree_find(w->ask, w->x, ids, count, tree, err)) == HDX_OK && documents)
        code = hdx_path_tree_paths(w->ask, tree, ids, &w->found, err);
    return code;
}

hdx_code hdx_query_path(const hdx_query *q, const hdx_id *ids, size_t count, const hdx_path_options *options,
                        hdx_rows **out, hdx_error *err)
{
    static const hdx_path_options none = { .paths = 1 };
    hdx_ask                       ask;
    hdx_excludes                  x;
    hdx_cell                      paths = hdx_cell_null();
    hdx_path_tree                 tree = { .mem = q->mem };
    const char                   *reservation = NULL;
    *out = NULL;
    if (options == NULL)
        options = &none;
    const size_t targets = count;
    const bool   one_each = options->merge && options->paths <= 1;
    const bool   documents = !options->rows_only && count <= DOCUMENTS_MOST; /* of a merged tree */
    hdx_code     code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    for (size_t i = 0; i < count; i++)
        if (ids[i] >= hdx_graph_objects(q->graph))
            return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu",
                            (unsigned long long)ids[i]);
    if ((code = hdx_excludes_open(q, options, &x, err)) != HDX_OK)
        return code;
    if (options->limit > 0 && options->limit < count)
        count = (size_t)options->limit; /* each target has one row of paths at least, even if there is no path */
    writer w = { .ask = &ask, .x = &x, .merge = options->merge, .steps_made = hdx_map_of(q->mem) };
    w.found.steps.mem = q->mem;
    code = hdx_table_in(q->mem, options->merge ? hdx_merged_columns : columns,
                        options->merge ? HDX_MERGED_COLUMNS : COLUMNS, &w.table, err);
    if (code == HDX_OK) {
        w.arena = hdx_table_arena(w.table);
        code = find_paths(&w, ids, count, options, documents, &tree, err);
    }
    uint64_t found = one_each ? count : w.found.count;
    if (options->limit > 0 && options->limit < w.found.count)
        w.found.count = options->limit;
    const uint64_t shown = one_each ? count : w.found.count;
    if (code == HDX_OK && (!options->merge || documents))
        code = write_paths(&w, &paths, err);
    if (code == HDX_OK && options->merge && !one_each)
        code = hdx_path_tree_of(&ask, &w.found, &tree, err);
    if (code == HDX_OK && options->merge)
        code = hdx_merged_fill(&ask, &x, &tree, !one_each, options->least, w.table, err);
    if (code == HDX_OK)
        code = hdx_graph_check(q->graph, err);
    if (code == HDX_OK && (options->rows_only || (options->merge && !documents)))
        code = report_unreached(&w, options, ids, one_each ? &tree : NULL, err);
    if (code == HDX_OK && targets > 0)
        code = reservation_of(&w, ids[0], &reservation, err);
    if (count < targets)
        found = options->paths <= 1 ? targets : 0; /* the other paths were not searched */
    hdx_unreached_close(&w.unreached);
    hdx_map_free(&w.steps_made);
    hdx_paths_drop(&w.found);
    hdx_path_tree_drop(&tree);
    hdx_excludes_close(&x);
    if (code != HDX_OK) {
        hdx_table_free(w.table);
        return code;
    }
    if ((code = hdx_table_rows(w.table, out, err)) == HDX_OK &&
        ((paths.kind != HDX_CELL_NULL && (code = hdx_rows_add_extra(*out, "paths", paths, err)) != HDX_OK) ||
         (found != shown && (code = set_cut_title(*out, shown, found, err)) != HDX_OK))) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    if (code == HDX_OK && options->merge && hdx_column_wanted(q, HDX_MERGED_LABEL))
        code = hdx_query_labels(q, false, out, err);
    return hdx_rows_explain_empty(
        code, out, err, "no GC root reaches %s%s%s%s", targets == 1 ? "it" : "any of them",
        options->exclude != 0 || options->exclude_field_count > 0 ? " without the excluded references" : "",
        reservation != NULL ? "; " : "", reservation != NULL ? reservation : "");
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD | HDX_PARAMETER_EITHER,
      .value = "OBJECT",
      .sentence = "objects whose paths are shown" },
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
                           "all live instances: a class name, glob (* and ?) or /regular expression/; may be repeated"),
    { .name = "subclasses",
      .kind = HDX_PARAMETER_FLAG,
      .needs = "class",
      .sentence = "include instances of subclasses" },
    { .name = "exclude",
      .kind = HDX_PARAMETER_CHOICES,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "KINDS",
      .choices = "weak soft phantom finalizer",
      .sentence = "kinds of references that paths must not use, separated by commas" },
    { .name = "exclude-field",
      .kind = HDX_PARAMETER_FIELD,
      .flags = HDX_PARAMETER_REPEATED,
      .value = "CLASS#FIELD",
      .sentence = "field that paths must not use; may be repeated" },
    { .name = "paths",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .preset = "1",
      .least = 1,
      .most = UINT_MAX,
      .sentence = "number of paths per object, shortest first; 1 by default" },
    { .name = "limit",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .sentence = "number of paths to show, each with all its steps; 0 or no value shows all" },
    { .name = "merge",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "merge all paths into one tree by class and reference, branches with most objects first" },
    { .name = "least",
      .kind = HDX_PARAMETER_TEXT,
      .value = "SHARE|N",
      .preset = "0.1%",
      .needs = "merge",
      .sentence =
          "smallest branch of merged paths, as a share or number of the selected objects; 0.1% by default, 0: all" },
};

/* Lists the members of a set; named objects come first, in the given order. */
static hdx_code list_members(const hdx_query *q, const hdx_set *set, hdx_ids *ids, bool *sieved, hdx_error *err)
{
    hdx_ask     ask;
    hdx_members m = { .bits = NULL };
    hdx_code    code = hdx_ask_begin(q, &ask, err);
    if (code == HDX_OK)
        code = hdx_members_open(&ask, set, &m, err);
    for (size_t i = 0; code == HDX_OK && i < set->id_count; i++)
        if (hdx_bits_test(m.bits, set->ids[i])) {
            hdx_bits_clear(m.bits, set->ids[i]);
            code = hdx_ids_push(ids, set->ids[i], err);
        }
    for (uint64_t w = 0; code == HDX_OK && w < m.words; w++)
        for (uint64_t bits = m.bits[w]; code == HDX_OK && bits != 0; bits &= bits - 1)
            code = hdx_ids_push(ids, w * 64 + (uint64_t)__builtin_ctzll(bits), err);
    *sieved = m.described > 0 && m.named == 0;
    hdx_members_close(&m);
    return code;
}

static hdx_code open_path(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    _Static_assert(HDX_EXCLUDE_WEAK == 1 && HDX_EXCLUDE_SOFT == 2 && HDX_EXCLUDE_PHANTOM == 4 &&
                       HDX_EXCLUDE_FINALIZER == 8,
                   "bits are in the order of the choices of `exclude`");
    hdx_path_options options = { .exclude = hdx_argument_choices(a, "exclude"),
                                 .paths = (unsigned)hdx_argument_number(a, "paths"),
                                 .merge = hdx_argument_flag(a, "merge"),
                                 .limit = hdx_argument_number(a, "limit"),
                                 .rows_only = hdx_argument_plain(a) };
    const hdx_form  *form = hdx_arguments_form(a);
    hdx_given_set    given;
    hdx_ids          members = hdx_ids_of(q->mem);
    bool             sieved = false;
    *out = NULL;
    hdx_code code = hdx_given_set_open(q, a, &given, err);
    given.set.columns = form->columns;
    given.set.column_count = form->column_count;
    if (code == HDX_OK &&
        (code = hdx_argument_texts(a, "exclude-field", &given.arena, &options.exclude_fields,
                                   &options.exclude_field_count, err)) == HDX_OK &&
        (code = list_members(q, &given.set, &members, &sieved, err)) == HDX_OK &&
        (code = hdx_argument_share(a, "least", members.count, &options.least, err)) == HDX_OK)
        code = hdx_query_path(q, members.at, members.count, &options, out, err);
    return code == HDX_OK && sieved ? hdx_rows_explain_empty(code, out, err, HDX_NONE_MEETS) : code;
}

const hdx_question hdx_question_path = {
    .declared = {
        .name = "path",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_MEMBERS,
        .sentence = "why objects are alive: shortest paths from GC roots",
        .more = "Steps lead from the root to the object. --exclude accepts weak, soft, phantom and finalizer; paths "
                "then do not use such references. --merge shows the paths of many objects as one tree, with one line "
                "for all objects of a class at the same place; branches with fewer than 0.1% of the objects share a "
                "line (--least). For a single path, a path that is longer by at most "
                "two references is preferred if the shortest only shows how a JVM finds classes or leads only through "
                "static fields of the JDK. --class selects all live instances. --where also accepts fields of the "
                "selected objects.",
        .examples = { "heapdex path app.hprof '#1234' --exclude weak,soft,phantom,finalizer",
                      "heapdex path app.hprof --class java.util.HashMap --merge" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_path,
};
