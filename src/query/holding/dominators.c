/*
 * dominators.c - the dominator tree from the top or from one object. dominator_groups.c groups its objects by class,
 * package or loader.
 *
 * Children are sorted by retained size, largest first (MAT 6.2; ties: by address). Rows stream in tree order: the stack
 * contains, for each depth, the children of one object, so that memory depends on the path and not on the tree. Labels
 * are made only for rows that are output.
 *
 * Three or more similar objects (one class, no retained size more than a tenth below the largest) may share one row,
 * that of the largest. Class objects never do, because each refers to something else.
 *
 * The roots of a large heap dominate millions of objects, of which most readers want the first 25: the first ones of
 * such a parent are saved next to the index (children.h), and the others are listed only when a reader continues past
 * them. They are a heap, which is sorted only if a reader takes more than a thousand of it.
 *
 * In a tree each object is the child of one other. An invalid index may violate that, and nine levels could produce
 * endless rows: as soon as more children were listed or counted than there are objects, the index is damaged.
 */
#include "query/holding/holding.h"
#include "query/holding/children.h"
#include "query/holding/dominator_groups.h"
#include "query/holding/drop.h"
#include "query/holding/inside.h"
#include "query/holding/merged_dominators.h"
#include "query/common/columns.h"
#include "query/query.h"

#include <limits.h>
#include <stdlib.h>

#define TAKEN_FROM_HEAP 1000u
#define FEWEST_LIKE     3u /* similar objects; fewer have their own rows */

/* ---- columns ---- */

#define CLASS    1u
#define LABEL    2u
#define RETAINED 4u
#define SIMILAR  7u
#define OBJECT(share, sum)                                                                                             \
    HDX_COLUMN("address", ADDRESS, NONE, sum, "address of the object"), HDX_CLASS_COLUMN(0), HDX_LABEL_COLUMN,         \
        HDX_SHALLOW_COLUMN(HDX_COLUMN_SPARE),                                                                          \
        HDX_COLUMN("retained", UNSIGNED, BYTES, sum, "retained size: bytes that would be freed without the object"),   \
        HDX_COLUMN("percent", REAL, PERCENT, share, "share of all live bytes, in percent"),                            \
        HDX_COLUMN("children", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "objects that it immediately dominates")
static const hdx_column columns[] = { OBJECT(HDX_COLUMN_SHARE, HDX_COLUMN_SUM) };
static const hdx_column folded_columns[] = {
    OBJECT(HDX_COLUMN_SHARE, HDX_COLUMN_SUM),
    HDX_COLUMN("similar", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL | HDX_COLUMN_SIMILAR,
               "other objects in the row, of the same class and similar size; only with --fold similar"),
    HDX_COLUMN("similar_retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL | HDX_COLUMN_SIMILAR,
               "total retained size of these other objects; only with --fold similar"),
    HDX_COLUMN("similar_percent", REAL, PERCENT,
               HDX_COLUMN_NULLABLE | HDX_COLUMN_OPTIONAL | HDX_COLUMN_SIMILAR | HDX_COLUMN_SHARE,
               "share of these other objects in all live bytes, in percent; only with --fold similar"),
};
static const hdx_column deep_columns[] = {
    OBJECT(0, 0), HDX_COLUMN("depth", UNSIGNED, COUNT, HDX_COLUMN_OPTIONAL,
                             "level in the tree, from 1 for the first row; only with --depth over 1")
};
static const hdx_form forms[] = {
    { "drop", "true", hdx_drop_columns, HDX_DROP_COLUMNS },
    { "merge", "true", hdx_merged_dominator_columns, HDX_MERGED_DOMINATOR_COLUMNS },
    { "by", "class", hdx_dominator_class_columns, HDX_DOMINATOR_GROUP_COLUMNS },
    { "by", "owner", hdx_dominator_owner_columns, HDX_DOMINATOR_OWNER_COLUMNS },
    { "by", "package", hdx_dominator_package_columns, HDX_DOMINATOR_GROUP_COLUMNS },
    { "by", "loader", hdx_dominator_loader_columns, HDX_DOMINATOR_GROUP_COLUMNS },
    { "by", "origin", hdx_dominator_origin_columns, HDX_DOMINATOR_GROUP_COLUMNS },
    { "fold", "similar", folded_columns, HDX_COUNT(folded_columns) },
    { NULL, NULL, deep_columns, HDX_COUNT(deep_columns) },
};

/* ---- the tree ---- */

typedef struct level {
    hdx_children first; /* the first children, if they are saved: `at` is listed only when all of these were taken */
    uint64_t     given; /* of these, those that were taken */
    hdx_id       of;
    hdx_child   *at;    /* a max-heap; once sorted, the largest last */
    uint64_t     count; /* children that were not taken yet, listed or not */
    uint64_t     capacity, taken;
    uint64_t     retained; /* sum over all children, also those that were taken */
    uint64_t     others;   /* children of other classes than the one that is requested, or smaller than requested */
    bool         sorted;
} level;

/*
 * A row that waits because others may join it. The first ones to join wait as well: if they remain few, each has its
 * own row.
 */
typedef struct waiting_row {
    hdx_child is;
    uint64_t  similar; /* objects that joined it */
    uint64_t  bytes;   /* retained size of these */
    uint64_t  joined[FEWEST_LIKE - 1];
    bool      folded; /* shown in the row of another */
} waiting_row;

typedef struct tree {
    hdx_ask  ask;
    unsigned depth; /* maximum number of levels */
    double   total; /* live bytes */
    level   *levels;
    uint64_t count, capacity;
    uint64_t listed, counted; /* children, in total */
    /* no row with a smaller retained size is requested, and objects below it retain even less */
    uint64_t least;
    uint32_t class;                           /* the only class that is requested, by number; HDX_NO_CLASS: all are */
    hdx_id                     open;          /* the last row, whose children may be next; HDX_NO_ID: none */
    uint64_t                   open_children; /* their number */
    const hdx_children_bounds *bounds;

    /* folding: rows from..to, as numbers of all rows so far, wait in a ring of `room` */
    bool         fold;
    waiting_row *ring;
    uint64_t     from, to, room;
    uint64_t    *last; /* per class: one more than the number of the row that its next object may join; 0: none */
    uint32_t     classes;
} tree;

static int ascending(const void *a, const void *b) { return hdx_child_precedes(b, a) ? -1 : hdx_child_precedes(a, b); }

static void sift_down(level *l, uint64_t i)
{
    const hdx_child c = l->at[i];
    for (uint64_t k; (k = 2 * i + 1) < l->count; i = k) {
        if (k + 1 < l->count && hdx_child_precedes(&l->at[k + 1], &l->at[k]))
            k++;
        if (!hdx_child_precedes(&l->at[k], &c))
            break;
        l->at[i] = l->at[k];
    }
    l->at[i] = c;
}

/* Counts one more child. */
static hdx_code count_child(hdx_graph *g, uint64_t *children, hdx_error *err)
{
    return ++*children <= hdx_graph_objects(g)
               ? HDX_OK
               : hdx_fail(err, HDX_DAMAGED, "dominated", HDX_NOWHERE, "object has more than one dominator");
}

static hdx_child saved_child(const tree *t, const level *l, uint64_t i)
{
    return (hdx_child){ l->first.first[i], hdx_graph_retained(t->ask.g, l->first.first[i]) };
}

/* Lists the children; if some were already taken, only those behind them. */
static hdx_code list_children(tree *t, level *l, hdx_error *err)
{
    hdx_ask        *ask = &t->ask;
    const hdx_child last = l->given > 0 ? saved_child(t, l, l->given - 1) : (hdx_child){ 0, UINT64_MAX };
    hdx_refs        refs;
    hdx_id          id;
    hdx_code        code;
    t->listed -= l->given;
    l->count = l->retained = l->others = 0;
    hdx_graph_dominated(ask->g, l->of, &refs);
    while (hdx_refs_next(&refs, &id)) {
        const hdx_child c = { id, hdx_graph_retained(ask->g, id) };
        const bool      asked = t->class == HDX_NO_CLASS || hdx_graph_class_of(ask->g, id) == t->class;
        const bool      large = c.retained >= t->least;
        l->retained += large && asked ? c.retained : 0;
        l->others += !large || !asked;
        if (large && asked && (l->given == 0 || hdx_child_precedes(&last, &c))) {
            if (!hdx_mem_room(t->ask.q.mem, (void **)&l->at, &l->capacity, l->count, sizeof *l->at))
                return hdx_no_memory(err, "dominated objects", l->count * sizeof *l->at);
            l->at[l->count++] = c;
        }
        if ((code = count_child(ask->g, &t->listed, err)) != HDX_OK ||
            (code = hdx_ask_check_cancel(ask, err)) != HDX_OK)
            return code;
    }
    for (uint64_t i = l->count / 2; i-- > 0;)
        sift_down(l, i);
    return HDX_OK;
}

static bool has_saved(const level *l) { return l->given < l->first.count; }

/* Lists the children if all that are saved were taken and others follow. */
static hdx_code find_next(tree *t, level *l, hdx_error *err)
{
    return l->first.saved && l->given == l->first.count && l->at == NULL && l->count > 0 ? list_children(t, l, err)
                                                                                         : HDX_OK;
}

/* REQUIRES: the level is not empty, and find_next was called. */
static hdx_child peek_child(const tree *t, const level *l)
{
    return has_saved(l) ? saved_child(t, l, l->given) : l->at[l->sorted ? l->count - 1 : 0];
}

/* Removes the next child. REQUIRES: as peek_child. */
static hdx_child take_child(tree *t, level *l)
{
    if (has_saved(l)) {
        const hdx_child first = saved_child(t, l, l->given++);
        t->listed++;
        l->count--;
        return first;
    }
    if (!l->sorted && l->taken++ == TAKEN_FROM_HEAP) {
        qsort(l->at, l->count, sizeof *l->at, ascending);
        l->sorted = true;
    }
    const hdx_child c = l->at[l->sorted ? l->count - 1 : 0];
    l->count--;
    if (!l->sorted && l->count > 0) {
        l->at[0] = l->at[l->count];
        sift_down(l, 0);
    }
    return c;
}

static void close_level(tree *t, level *l)
{
    hdx_children_close(&l->first, &t->ask);
    hdx_mem_put(t->ask.q.mem, l->at, l->capacity * sizeof *l->at);
}

static void tree_close(void *state)
{
    tree *t = state;
    for (uint64_t i = 0; i < t->count; i++)
        close_level(t, &t->levels[i]);
    hdx_mem_put(t->ask.q.mem, t->levels, t->capacity * sizeof *t->levels);
    hdx_mem_put(t->ask.q.mem, t->ring, t->room * sizeof *t->ring);
    hdx_mem_put(t->ask.q.mem, t->last, t->classes * sizeof *t->last);
    free(t);
}

/*
 * Adds the children of an object, of which there are at least `children`. Saved children are not used if some may be
 * too small to be listed, because what is saved includes the small ones.
 */
static hdx_code push_level(tree *t, hdx_id of, uint64_t children, hdx_error *err)
{
    if (!hdx_mem_room(t->ask.q.mem, (void **)&t->levels, &t->capacity, t->count, sizeof *t->levels))
        return hdx_no_memory(err, "the dominator tree", t->count * sizeof *t->levels);
    level *l = &t->levels[t->count++];
    *l = (level){ .of = of };
    if (t->least == 0 && children >= t->bounds->from) {
        const hdx_code code =
            hdx_children_open(&t->ask, of, t->bounds, t->class == HDX_NO_CLASS ? NULL : &t->class, &l->first, err);
        if (code != HDX_OK)
            return code;
    }
    if (!l->first.saved)
        return list_children(t, l, err);
    l->count = l->first.objects;
    l->retained = l->first.retained;
    l->others = l->first.others;
    return HDX_OK;
}

static hdx_code count_children(tree *t, hdx_id of, uint64_t *children, hdx_error *err)
{
    const uint64_t before = t->counted;
    hdx_refs       refs;
    hdx_id         id;
    hdx_code       code = HDX_OK;
    hdx_graph_dominated(t->ask.g, of, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id))
        if ((code = count_child(t->ask.g, &t->counted, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&t->ask, err);
    *children = t->counted - before;
    return code;
}

static bool last_level(const tree *t)
{
    return t->count >= t->depth || t->count > hdx_graph_objects(t->ask.g);
} /* invariant 3 */

static hdx_code put_child(tree *t, const hdx_child *c, hdx_cell *cells, hdx_error *err)
{
    uint64_t       children;
    const hdx_code code = count_children(t, c->id, &children, err);
    if (code != HDX_OK)
        return code;
    if (children > 0 && !last_level(t)) {
        t->open = c->id;
        t->open_children = children;
    }
    cells[0] = hdx_id_cell(t->ask.g, c->id);
    cells[1] = hdx_class_of_cell(t->ask.g, c->id);
    cells[LABEL] = hdx_cell_null();
    cells[3] = hdx_cell_uint(hdx_graph_shallow(t->ask.g, c->id));
    cells[4] = hdx_cell_uint(c->retained);
    cells[5] = hdx_dominated_percent(c->retained, t->total);
    cells[6] = hdx_cell_uint(children);
    return HDX_OK;
}

static hdx_code tree_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    tree    *t = state;
    hdx_code code = hdx_ask_check_cancel(&t->ask, err);
    (void)arena;
    if (code == HDX_OK && t->open != HDX_NO_ID) {
        code = push_level(t, t->open, t->open_children, err);
        t->open = HDX_NO_ID;
    }
    if (code != HDX_OK)
        return code;
    for (; t->count > 0; close_level(t, &t->levels[--t->count]))
        if ((code = find_next(t, &t->levels[t->count - 1], err)) != HDX_OK)
            return code;
        else if (t->levels[t->count - 1].count > 0)
            break;
    if (t->count == 0)
        return hdx_ask_end(&t->ask, more, err);
    const hdx_child c = take_child(t, &t->levels[t->count - 1]);
    if (t->depth > 1)
        cells[7] = hdx_cell_uint(t->count);
    *more = true;
    return put_child(t, &c, cells, err);
}

/* ---- folding ---- */

static waiting_row *waiting_row_at(const tree *t, uint64_t i) { return &t->ring[i & (t->room - 1)]; }

static bool ring_room(tree *t)
{
    if (t->to - t->from < t->room)
        return true;
    const uint64_t room = t->room == 0 ? 64 : 2 * t->room;
    waiting_row   *ring = hdx_mem_array(t->ask.q.mem, room, sizeof *ring);
    if (ring == NULL)
        return false;
    for (uint64_t i = t->from; i < t->to; i++)
        ring[i & (room - 1)] = *waiting_row_at(t, i);
    hdx_mem_put(t->ask.q.mem, t->ring, t->room * sizeof *t->ring);
    t->ring = ring;
    t->room = room;
    return true;
}

static bool about_as_large(uint64_t retained, uint64_t largest) { return retained >= largest - largest / 10; }

/* The next object joins a row that waits, or becomes one. */
static hdx_code wait_for_others(tree *t, hdx_error *err)
{
    const hdx_child c = take_child(t, &t->levels[0]);
    const uint32_t  number = hdx_graph_class_of(t->ask.g, c.id);
    const bool      alone = number >= t->classes || hdx_graph_kind(t->ask.g, c.id) == HDX_CLASS_OBJECT;
    if (!alone && t->last[number] > t->from &&
        about_as_large(c.retained, waiting_row_at(t, t->last[number] - 1)->is.retained)) {
        waiting_row *w = waiting_row_at(t, t->last[number] - 1);
        w->bytes += c.retained;
        if (++w->similar >= FEWEST_LIKE)
            return HDX_OK;
        w->joined[w->similar - 1] = t->to;
    } else if (!alone) {
        t->last[number] = t->to + 1;
    }
    if (!ring_room(t))
        return hdx_no_memory(err, "objects that resemble each other", t->room * sizeof *t->ring);
    *waiting_row_at(t, t->to++) = (waiting_row){ .is = c };
    return HDX_OK;
}

/* Returns the first waiting row, with all that joined it, when no remaining object can join it. */
static hdx_code folded_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    tree    *t = state;
    level   *l = &t->levels[0];
    hdx_code code = HDX_OK;
    (void)arena;
    for (;;) {
        if ((code = hdx_ask_check_cancel(&t->ask, err)) != HDX_OK || (code = find_next(t, l, err)) != HDX_OK)
            return code;
        const waiting_row *w = t->from < t->to ? waiting_row_at(t, t->from) : NULL;
        if (w == NULL && l->count == 0)
            return hdx_ask_end(&t->ask, more, err);
        if (w != NULL && w->folded)
            t->from++;
        else if (w != NULL && (l->count == 0 || !about_as_large(peek_child(t, l).retained, w->is.retained)))
            break;
        else if ((code = wait_for_others(t, err)) != HDX_OK)
            return code;
    }
    const waiting_row w = *waiting_row_at(t, t->from++);
    const bool        others = w.similar >= FEWEST_LIKE;
    for (unsigned i = 0; others && i + 1 < FEWEST_LIKE; i++)
        waiting_row_at(t, w.joined[i])->folded = true;
    cells[SIMILAR] = others ? hdx_cell_uint(w.similar) : hdx_cell_null();
    cells[SIMILAR + 1] = others ? hdx_cell_uint(w.bytes) : hdx_cell_null();
    cells[SIMILAR + 2] = others ? hdx_dominated_percent(w.bytes, t->total) : hdx_cell_null();
    *more = true;
    return put_child(t, &w.is, cells, err);
}

/* Returns the number of the only class with that name; HDX_NO_CLASS if there is none, or several. */
static uint32_t class_named(hdx_graph *g, const char *name)
{
    uint32_t         count, found = HDX_NO_CLASS;
    const hdx_class *classes = hdx_graph_classes(g, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!hdx_text_is(classes[i].name, name))
            continue;
        if (found != HDX_NO_CLASS)
            return HDX_NO_CLASS;
        found = i;
    }
    return found;
}

static hdx_code tree_rows(const hdx_ask *ask, hdx_id of, const hdx_dominators_options *options, double total,
                          hdx_rows **out, hdx_error *err)
{
    const bool fold = options->fold;
    tree      *t = calloc(1, sizeof *t);
    if (t == NULL)
        return hdx_no_memory(err, "the dominator tree", sizeof *t);
    t->ask = *ask;
    t->depth = options->depth == 0 ? 1 : options->depth;
    t->total = total;
    t->open = HDX_NO_ID;
    t->bounds = options->bounds;
    const hdx_bound *bound = hdx_column_bound(&ask->q, RETAINED), *class = hdx_column_bound(&ask->q, CLASS);
    t->least = bound != NULL && bound->text == NULL && !fold ? bound->least : 0; /* smaller ones may share a row */
    /* not with more levels, where objects of the class are below others, and not where others are counted as one row */
    if (class != NULL && class->text != NULL && t->depth == 1 && !fold)
        t->class = class_named(ask->g, class->text);
    else
        t->class = HDX_NO_CLASS;
    hdx_code code = push_level(t, of, UINT64_MAX, err);
    if (code == HDX_OK && fold) {
        (void)hdx_graph_classes(ask->g, &t->classes);
        if ((t->last = hdx_mem_array(ask->q.mem, t->classes, sizeof *t->last)) == NULL)
            code = hdx_no_memory(err, "objects that resemble each other", t->classes * sizeof *t->last);
    }
    if (code != HDX_OK) {
        tree_close(t);
        return code;
    }
    /* with more levels, the number of rows is unknown before the tree was read */
    hdx_rows_maker maker = { fold           ? folded_columns
                             : t->depth > 1 ? deep_columns
                                            : columns,
                             fold           ? HDX_COUNT(folded_columns)
                             : t->depth > 1 ? HDX_COUNT(deep_columns)
                                            : HDX_COUNT(columns),
                             t,
                             fold ? folded_next : tree_next,
                             tree_close,
                             t->depth > 1 || fold ? 0 : t->levels[0].count };
    code = hdx_rows_make_in(ask->q.mem, &maker, out, err);
    if (code == HDX_OK && t->depth == 1) {
        hdx_rows_set_sums(*out, t->levels[0].count, t->levels[0].retained);
        hdx_rows_set_left_out(*out, t->levels[0].others);
    }
    return code != HDX_OK || !hdx_column_wanted(&ask->q, LABEL) ? code : hdx_query_labels(&ask->q, false, out, err);
}

/* ---- the question ---- */

hdx_code hdx_dominators_bounded(const hdx_query *q, const hdx_id *of, const hdx_dominators_options *options,
                                hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    hdx_id  from = of == NULL ? HDX_VIRTUAL_ROOT : *of;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    if (of != NULL && from >= hdx_graph_objects(q->graph))
        return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu", (unsigned long long)from);
    double total = (double)hdx_graph_summary_of(q->graph)->live_bytes;
    switch (options->by) {
    case HDX_BY_NONE:
    case HDX_BY_OBJECT: code = tree_rows(&ask, from, options, total, out, err); break;
    case HDX_BY_CLASS:
    case HDX_BY_PACKAGE:
    case HDX_BY_LOADER:
    case HDX_BY_ORIGIN:
    case HDX_BY_OWNER: code = hdx_dominator_groups(&ask, from, options, total, out, err); break;
    default:
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "dominator keys are object, class, package, loader, owner and origin");
    }
    return hdx_rows_explain_empty(code, out, err, "%s",
                                  of == NULL ? "no object is reachable from a GC root"
                                  : hdx_graph_live(q->graph, from)
                                      ? "it dominates no object"
                                      : "it is unreachable and therefore dominates no object");
}

hdx_code hdx_query_dominators(const hdx_query *q, hdx_by by, const hdx_id *of, unsigned depth, hdx_rows **out,
                              hdx_error *err)
{
    const hdx_dominators_options options = { .by = by, .depth = depth, .bounds = &hdx_children_saved };
    return hdx_dominators_bounded(q, of, &options, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_WORD,
      .value = "OBJECT",
      .sentence = "show the objects that it immediately dominates; without it, the top of the tree" },
    { .name = "by",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "KEY",
      .choices = "object class package loader owner origin",
      .preset = "object",
      .sentence = "meaning of a row; object by default; owner: class, but class objects one by one" },
    { .name = "depth",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "N",
      .least = 1,
      .most = UINT_MAX,
      .sentence = "number of tree levels; 1 by default, all with --merge" },
    { .name = "inside",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "K",
      .least = 1,
      .most = HDX_INSIDE_MOST,
      .excludes = "drop merge",
      .needs = "by",
      .sentence = "add to each group its K largest objects, and by class what each of them keeps; not in tables" },
    { .name = "fold",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "WHICH",
      .choices = "none similar",
      .preset = "none",
      .sentence = "similar: objects of one class and similar size share a row (the preset for tables on a terminal)" },
    { .name = "merge",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "fold",
      .sentence = "merge the tree by class path: a row for all objects of a class below the same keepers" },
    { .name = "least",
      .kind = HDX_PARAMETER_TEXT,
      .value = "SHARE|SIZE",
      .preset = "1%",
      .needs = "merge",
      .sentence = "smallest row of a merged tree: a share such as 0.1% or a size; 1% by default" },
    { .name = "chains",
      .kind = HDX_PARAMETER_CHOICE,
      .value = "HOW",
      .choices = "join split",
      .preset = "join",
      .needs = "merge",
      .sentence = "join, split: split: a row for each class, also where one class only leads to the next" },
    { .name = "drop",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "by depth fold merge",
      .sentence = "go down while one child or class of children has 70% of its parent, to where the bytes scatter" },
    { .name = "reverse",
      .kind = HDX_PARAMETER_FLAG,
      .needs = "merge",
      .sentence = "begin with the classes of the objects themselves; below each, the classes that dominate them" },
};

static hdx_code open_dominators(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    /* choices of `by` */
    static const hdx_by keys[] = { HDX_BY_OBJECT, HDX_BY_CLASS, HDX_BY_PACKAGE,
                                   HDX_BY_LOADER, HDX_BY_OWNER, HDX_BY_ORIGIN };
    const int           by = hdx_argument_choice(a, "by");
    const bool          below = hdx_argument_text(a, "object") != NULL;
    hdx_id              id = HDX_NO_ID;
    hdx_code            code = below ? hdx_argument_object(q, a, &id, err) : HDX_OK;
    *out = NULL;
    if (code != HDX_OK)
        return code;
    if (hdx_argument_flag(a, "drop"))
        return hdx_rows_explain_empty(hdx_drop_rows(q, below ? id : HDX_VIRTUAL_ROOT, out, err), out, err, "%s",
                                      !below                         ? "the top of the dominator tree scatters"
                                      : hdx_graph_live(q->graph, id) ? "it dominates no object"
                                                                     : "it is unreachable and dominates no object");
    if (hdx_argument_flag(a, "merge")) {
        if (by >= 0 && (keys[by] == HDX_BY_OWNER || keys[by] == HDX_BY_ORIGIN))
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--merge works by class, package or loader");
        return hdx_rows_explain_empty(
            hdx_merged_dominators(q, a, by <= 0 ? HDX_BY_CLASS : keys[by], below ? id : HDX_VIRTUAL_ROOT, out, err),
            out, err, "%s", below ? "it dominates no object" : "no object is reachable from a GC root");
    }
    if (by > 0 && hdx_argument_number(a, "depth") > 1)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "--depth needs the tree of objects: omit --by %s, or name an object to begin at",
                        hdx_argument_text(a, "by"));
    const bool fold = hdx_argument_choice(a, "fold") == 1;
    if (fold && (by > 0 || hdx_argument_number(a, "depth") > 1))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--fold similar works with one level of objects: omit %s",
                        by > 0 ? "--by" : "--depth");
    const unsigned inside = (unsigned)hdx_argument_number(a, "inside");
    if (inside > 0 && by <= 0)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "--inside needs groups: --by class, package, loader, owner or origin");
    const hdx_dominators_options options = { .by = by < 0 ? HDX_BY_OBJECT : keys[by],
                                             .depth = (unsigned)hdx_argument_number(a, "depth"),
                                             .fold = fold,
                                             .inside = inside,
                                             .bounds = &hdx_children_saved };
    return hdx_dominators_bounded(q, below ? &id : NULL, &options, out, err);
}

const hdx_question hdx_question_dominators = {
    .declared = {
        .name = "dominators",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "which objects hold the most memory: the top of the dominator tree",
        .more = "An object dominates another if every path from a GC root to the other leads through it. Without "
                "OBJECT the top of the tree is shown, with OBJECT the objects that it immediately dominates. "
                "--merge shows the tree by class path: objects of one class below the same keepers are one row. "
                "--drop shows the steps from there to the next object, or class, below which the bytes scatter.",
        .examples = { "heapdex dominators app.hprof --limit 5", "heapdex dominators app.hprof --merge --least 0.5%" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .document = hdx_drop_document,
        .document_count = HDX_COUNT(hdx_drop_document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_dominators,
};
