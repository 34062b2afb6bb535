/*
 * merged.c - the tree of the paths of many objects as rows, by class and reference.
 *
 *     objects  retained  object                                    address
 *          20    6.4 MB  class acme.plug.P2 .SHUTDOWN_HOOKS        0xdc6b5290
 *          20    1.1 KB  └ java.util.ArrayList .elementData        0xdc6b52a8
 *          20       8 B    └ java.lang.Object[] []                 0xdc6b52c0
 *          20     640 B      └ acme.plugin.Plugin (20 objects)
 *
 * A line combines the steps from objects of one class through references of one name. Each class object has its own
 * line; elements of arrays have one name, []. A further step to the same class through the same reference remains on
 * its line, so that a linked list of any length is one line. Branches with the most targets come first.
 *
 * Branches with fewer than `least` of the objects share one line below their parent, "(12 others)".
 *
 * No path enters a line twice, and only the object at which a path enters it counts, so the sum of their retained sizes
 * counts nothing twice.
 *
 * Cost: a record of the dump for each object in the tree that is not an array, read in dump order; 60 bytes for each
 * object in the tree.
 */
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define LINES_MAX (1u << 20)
#define NOWHERE   UINT64_MAX

enum { DEPTH, OBJECTS, ADDRESS, CLASS, LABEL, REFERENCE, INSTANCES, SHALLOW, RETAINED, REST, COLUMNS };
_Static_assert((int)COLUMNS == HDX_MERGED_COLUMNS && (int)LABEL == HDX_MERGED_LABEL, "as declared");
const hdx_column hdx_merged_columns[COLUMNS] = {
    [DEPTH] = HDX_COLUMN("depth", UNSIGNED, NONE, HDX_COLUMN_DEPTH, "distance from the GC root; 0 for the root"),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "selected objects whose paths lead through this line"),
    [ADDRESS] =
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "object of the line; null if there are several"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                         "class of these objects; null in the row of the branches that are too small"),
    [LABEL] = HDX_COLUMN(
        "label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
        "label, such as its text or name; null for several objects; (3 others): three branches that are too small"),
    [REFERENCE] = HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_REFERENCE,
                             "name of the reference to the next line, [] for elements; null at the end of paths"),
    [INSTANCES] = HDX_COLUMN("instances", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_TIMES,
                             "objects of the line; null, as all sizes, in the row of the branches that are too small"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                           "total shallow size of these objects"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                            "total retained size of these objects, without those that another of them dominates"),
    [REST] = HDX_COLUMN("rest", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                        "number of branches in this row, each of which is too small; null in other rows"),
};
typedef struct line {
    uint64_t parent; /* index of the line above; NOWHERE: none */
    uint64_t same;   /* the next line with the same hash; NOWHERE */
    hdx_id   object; /* a class object; HDX_NO_ID: instances of `number` */
    uint32_t number;
    uint32_t name;  /* index of the reference's name; 0: paths end here */
    uint64_t paths; /* at first those that end here, later all that lead through it */
    uint64_t instances, shallow, retained;
    hdx_id   one;   /* one of its objects */
    uint64_t place; /* the last node that was counted */
} line;

typedef struct merger {
    hdx_ask             *ask;
    const hdx_excludes  *x;
    const hdx_path_tree *t;
    uint64_t             least; /* objects of the smallest branch with a line of its own */
    uint64_t            *first; /* children of node n: kids[first[n]] .. kids[first[n + 1] - 1], by id */
    uint64_t            *kids;
    uint32_t            *name;    /* of the reference that leads to a node */
    uint64_t            *line;    /* the line above a node; NOWHERE: a root */
    bool                *ends;    /* it is a target */
    uint64_t            *rank;    /* number in preorder */
    uint64_t            *size;    /* nodes of its subtree, including itself */
    hdx_pair            *members; /* line and rank of each object that counts */
    uint64_t             member_count, member_capacity;
    hdx_arena            texts;
    const char         **names; /* from 1 */
    uint64_t             name_count, name_capacity;
    hdx_map              name_of, line_of; /* by hash */
    line                *lines;
    uint64_t             count, capacity;
    hdx_map              counted; /* objects of lines, if one may be in the tree several times */
    bool                 may_repeat, no_dump;
    /* the node whose references are being named, and the number of children without a name */
    uint64_t   node, left;
    hdx_code   code;
    hdx_error *err;
} merger;

/* ---- children ---- */

static int by_id(const void *a, const void *b)
{
    const hdx_pair *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x->second > y->second) - (x->second < y->second);
}

/* Assigns the nodes, sorted by id, to their parents. */
static hdx_code find_children(merger *m, hdx_error *err)
{
    const uint64_t n = m->t->count;
    hdx_pair      *by = hdx_mem_array(m->ask->q.mem, n, sizeof *by);
    if (by == NULL)
        return hdx_no_memory(err, "merged paths", n * sizeof *by);
    for (uint64_t i = 0; i < n; i++) {
        by[i] = (hdx_pair){ m->t->at[i].id, i };
        if (m->t->at[i].parent != HDX_TREE_NONE)
            m->first[m->t->at[i].parent + 1]++;
    }
    hdx_sort_pairs(m->ask->q.mem, by, n);
    for (uint64_t i = 0; i < n; i++)
        m->first[i + 1] += m->first[i];
    for (uint64_t i = n; i-- > 0;) { /* the last first, each into the last free place */
        const uint64_t parent = m->t->at[by[i].second].parent;
        if (parent != HDX_TREE_NONE)
            m->kids[--m->first[parent + 1]] = by[i].second;
    }
    memmove(m->first, m->first + 1, n * sizeof *m->first);
    m->first[n] = 0;
    for (uint64_t i = 0; i < n; i++)
        m->first[n] += m->t->at[i].parent != HDX_TREE_NONE;
    hdx_mem_put(m->ask->q.mem, by, n * sizeof *by);
    return HDX_OK;
}

/* ---- names of references ---- */

static hdx_code name_place(merger *m, const char *text, uint32_t *out, hdx_error *err)
{
    const size_t len = strlen(text);
    bool         fresh;
    for (uint64_t key = hdx_hash_bytes(0, text, len);; key++) { /* hash collision: try the next number */
        uint64_t *place = hdx_map_put(&m->name_of, key, &fresh);
        if (place == NULL)
            return hdx_no_memory(err, "names", m->name_of.count);
        if (fresh) {
            char *copy = hdx_arena_copy(&m->texts, text, len);
            if (copy == NULL || m->name_count >= UINT32_MAX ||
                !hdx_mem_room(m->ask->q.mem, (void **)&m->names, &m->name_capacity, m->name_count, sizeof *m->names))
                return hdx_no_memory(err, "names", len);
            m->names[m->name_count] = copy;
            *place = ++m->name_count;
        }
        if (strcmp(m->names[*place - 1], text) == 0) {
            *out = (uint32_t)*place;
            return HDX_OK;
        }
    }
}

static bool is_before(const void *in, uint64_t place, const void *wanted)
{
    const merger *m = in;
    return m->t->at[m->kids[place]].id < *(const hdx_id *)wanted;
}

static bool name_reference(void *context, const hdx_named_ref *ref)
{
    merger        *m = context;
    const uint64_t end = m->first[m->node + 1];
    const uint64_t at = hdx_partition(m, m->first[m->node], end, &ref->target, is_before);
    for (uint64_t i = at; i < end && m->t->at[m->kids[i]].id == ref->target; i++) {
        uint32_t *name = &m->name[m->kids[i]];
        if (*name != 0)
            continue;
        m->code = name_place(m, ref->kind == HDX_REF_ELEMENT ? "[]" : ref->name, name, m->err);
        if (m->code != HDX_OK || --m->left == 0)
            return false;
    }
    return true;
}

/* Without the dump: all elements have one name; the kind of any other reference is its name. */
static hdx_code name_by_kind(merger *m, uint64_t node, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = m->first[node]; code == HDX_OK && i < m->first[node + 1]; i++) {
        hdx_ref_kind kind;
        char         text[32] = "[]";
        if (m->name[m->kids[i]] != 0)
            continue;
        code = hdx_reference_kind(m->ask->g, m->t->at[node].id, m->t->at[m->kids[i]].id, &kind, err);
        if (code != HDX_OK)
            return code;
        if (kind != HDX_REF_ELEMENT)
            (void)snprintf(text, sizeof text, "<%s>", hdx_ref_kind_name(kind));
        code = name_place(m, text, &m->name[m->kids[i]], err);
    }
    return code;
}

static hdx_code name_children(merger *m, uint64_t node, hdx_error *err)
{
    const hdx_id   id = m->t->at[node].id;
    const uint64_t count = m->first[node + 1] - m->first[node];
    hdx_error      mine;
    if (!m->no_dump && hdx_graph_kind(m->ask->g, id) != HDX_OBJECT_ARRAY) {
        m->node = node;
        m->left = count;
        m->code = HDX_OK;
        m->err = err;
        const hdx_code code = hdx_excludes_visit(
            m->x, id, count == 1 ? m->t->at[m->kids[m->first[node]]].id : HDX_NO_ID, name_reference, m, &mine);
        if (m->code != HDX_OK)
            return m->code;
        m->no_dump = code == HDX_BAD_DUMP && hdx_graph_lacks_dump(m->ask->g);
        if (code != HDX_OK && !m->no_dump) {
            if (err != NULL)
                *err = mine;
            return code;
        }
    }
    return name_by_kind(m, node, err);
}

/* Names all references, in dump order. */
static hdx_code name_all(merger *m, hdx_error *err)
{
    const uint64_t n = m->t->count;
    uint64_t       inner = 0;
    hdx_code       code = HDX_OK;
    hdx_pair      *by = hdx_mem_array(m->ask->q.mem, n, sizeof *by);
    if (by == NULL)
        return hdx_no_memory(err, "merged paths", n * sizeof *by);
    for (uint64_t i = 0; i < n; i++)
        if (m->first[i + 1] > m->first[i]) {
            hdx_pos pos = 0; /* an object without a record has no named references */
            (void)hdx_graph_position(m->ask->g, m->t->at[i].id, &pos);
            by[inner++] = (hdx_pair){ pos, i };
        }
    hdx_sort(m->ask->q.mem, by, inner, sizeof *by, offsetof(hdx_pair, first), by_id);
    for (uint64_t i = 0; code == HDX_OK && i < inner; i++)
        if ((code = name_children(m, by[i].second, err)) == HDX_OK)
            code = hdx_ask_check_cancel(m->ask, err);
    hdx_mem_put(m->ask->q.mem, by, n * sizeof *by);
    return code;
}

/* ---- lines ---- */

/* Returns the line below `above` for objects of the same class whose next reference has this name. */
static hdx_code line_place(merger *m, uint64_t above, hdx_id id, uint32_t name, uint64_t *out, hdx_error *err)
{
    const bool     class_object = hdx_graph_class_object(m->ask->g, id) != NULL;
    const uint32_t number = hdx_graph_class_of(m->ask->g, id);
    const hdx_id   object = class_object ? id : HDX_NO_ID;
    bool           fresh;
    if (above != NOWHERE && name != 0 && m->lines[above].name == name && m->lines[above].number == number &&
        m->lines[above].object == object) { /* a linked list */
        *out = above;
        return HDX_OK;
    }
    const uint64_t key = hdx_mix64(above ^ hdx_mix64((class_object ? ~id : number) ^ hdx_mix64(name)));
    uint64_t      *first = hdx_map_put(&m->line_of, key, &fresh);
    if (first == NULL)
        return hdx_no_memory(err, "merged paths", m->line_of.count);
    for (uint64_t i = fresh ? NOWHERE : *first; i != NOWHERE; i = m->lines[i].same)
        if (m->lines[i].parent == above && m->lines[i].number == number && m->lines[i].object == object &&
            m->lines[i].name == name) {
            *out = i;
            return HDX_OK;
        }
    if (m->count >= LINES_MAX)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "merged paths exceed %u lines", LINES_MAX);
    if (!hdx_mem_room(m->ask->q.mem, (void **)&m->lines, &m->capacity, m->count, sizeof *m->lines))
        return hdx_no_memory(err, "merged paths", m->count * sizeof *m->lines);
    m->lines[m->count] = (line){ .parent = above,
                                 .same = fresh ? NOWHERE : *first,
                                 .object = object,
                                 .number = number,
                                 .name = name,
                                 .place = NOWHERE };
    *out = *first = m->count++;
    return HDX_OK;
}

/* Adds the object of a node to a line. */
static hdx_code count_object(merger *m, uint64_t node, uint64_t at, hdx_error *err)
{
    line        *l = &m->lines[at];
    const hdx_id id = m->t->at[node].id;
    bool         fresh = true;
    if (l->place == node)
        return HDX_OK;
    l->place = node;
    if (m->may_repeat && hdx_map_put(&m->counted, at * hdx_graph_objects(m->ask->g) + id, &fresh) == NULL)
        return hdx_no_memory(err, "merged paths", m->counted.count);
    if (!fresh)
        return HDX_OK;
    if (!hdx_mem_room(m->ask->q.mem, (void **)&m->members, &m->member_capacity, m->member_count, sizeof *m->members))
        return hdx_no_memory(err, "merged paths", m->member_count * sizeof *m->members);
    m->members[m->member_count++] = (hdx_pair){ at, m->rank[node] };
    l->instances++;
    l->one = id;
    l->shallow += hdx_graph_shallow(m->ask->g, id);
    return HDX_OK;
}

/* Orders nodes from the roots down, parents first, and computes their preorder numbers from subtree sizes. */
static uint64_t order_nodes(merger *m, uint64_t *queue)
{
    const uint64_t n = m->t->count;
    uint64_t       known = 0, next = 0;
    for (uint64_t i = 0; i < n; i++)
        if (m->t->at[i].parent == HDX_TREE_NONE) {
            m->line[i] = NOWHERE;
            queue[known++] = i;
        }
    const uint64_t roots = known;
    for (uint64_t done = 0; done < known; done++)
        for (uint64_t i = m->first[queue[done]]; i < m->first[queue[done] + 1]; i++)
            queue[known++] = m->kids[i];
    for (uint64_t i = known; i-- > 0;) {
        const uint64_t parent = m->t->at[queue[i]].parent;
        m->size[queue[i]]++;
        if (parent != HDX_TREE_NONE)
            m->size[parent] += m->size[queue[i]];
    }
    for (uint64_t i = 0; i < roots; next += m->size[queue[i]], i++)
        m->rank[queue[i]] = next;
    for (uint64_t done = 0; done < known; done++) {
        next = m->rank[queue[done]] + 1;
        for (uint64_t i = m->first[queue[done]]; i < m->first[queue[done] + 1]; next += m->size[m->kids[i]], i++)
            m->rank[m->kids[i]] = next;
    }
    return known;
}

/*
 * Sums the retained sizes of each line in preorder, skipping objects below one that was counted. `node`: scratch, by
 * rank.
 */
static void sum_retained(merger *m, uint64_t *node)
{
    uint64_t end = 0, of = NOWHERE;
    for (uint64_t i = 0; i < m->t->count; i++)
        node[m->rank[i]] = i;
    hdx_sort_pairs(m->ask->q.mem, m->members, m->member_count);
    for (uint64_t i = 0; i < m->member_count; i++) {
        const hdx_pair *p = &m->members[i];
        const uint64_t  at = node[p->second];
        if (p->first == of && p->second < end)
            continue;
        of = p->first;
        end = p->second + m->size[at];
        m->lines[of].retained += hdx_graph_retained(m->ask->g, m->t->at[at].id);
    }
}

/* Processes parents before their children, so that the line above is known. */
static hdx_code make_lines(merger *m, hdx_error *err)
{
    uint64_t  n = m->t->count;
    hdx_code  code = HDX_OK;
    uint64_t *queue = hdx_mem_array(m->ask->q.mem, n, sizeof *queue);
    if (queue == NULL)
        return hdx_no_memory(err, "merged paths", n * sizeof *queue);
    const uint64_t known = order_nodes(m, queue);
    for (uint64_t done = 0; code == HDX_OK && done < known; done++) {
        const uint64_t node = queue[done], above = m->line[node];
        uint64_t       at;
        if (m->ends[node] && (code = line_place(m, above, m->t->at[node].id, 0, &at, err)) == HDX_OK) {
            m->lines[at].paths++;
            code = count_object(m, node, at, err);
        }
        for (uint64_t i = m->first[node]; code == HDX_OK && i < m->first[node + 1]; i++) {
            const uint64_t kid = m->kids[i];
            if ((code = line_place(m, above, m->t->at[node].id, m->name[kid], &at, err)) != HDX_OK)
                break;
            m->line[kid] = at;
            code = count_object(m, node, at, err);
        }
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(m->ask, err);
    }
    if (code == HDX_OK)
        sum_retained(m, queue);
    hdx_mem_put(m->ask->q.mem, queue, n * sizeof *queue);
    for (uint64_t i = m->count; i-- > 0;) /* lines follow the one above them */
        if (m->lines[i].parent != NOWHERE)
            m->lines[m->lines[i].parent].paths += m->lines[i].paths;
    return code;
}

/* ---- rows ---- */

typedef struct branch {
    const merger *m;
    uint64_t      at;
} branch;

/* Groups lines by parent, the largest first. */
static int by_size(const void *a, const void *b)
{
    const branch *p = a, *q = b;
    const line   *x = &p->m->lines[p->at], *y = &q->m->lines[q->at];
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->paths != y->paths)
        return x->paths > y->paths ? -1 : 1;
    if (x->retained != y->retained)
        return x->retained > y->retained ? -1 : 1;
    return (x->one > y->one) - (x->one < y->one);
}

static hdx_code add_row(const merger *m, hdx_table *table, uint64_t at, uint64_t depth, hdx_error *err)
{
    const line *l = &m->lines[at];
    const bool  single = l->instances == 1;
    hdx_cell    cells[COLUMNS];
    cells[DEPTH] = hdx_cell_uint(depth);
    cells[OBJECTS] = hdx_cell_uint(l->paths);
    cells[ADDRESS] = single ? hdx_id_cell(m->ask->g, l->one) : hdx_cell_null();
    cells[CLASS] = hdx_class_cell(m->ask->g, l->number);
    cells[LABEL] = hdx_cell_null();
    cells[REFERENCE] = l->name == 0 ? hdx_cell_null() : hdx_cell_copy(hdx_table_arena(table), m->names[l->name - 1]);
    cells[INSTANCES] = hdx_cell_uint(l->instances);
    cells[SHALLOW] = hdx_cell_uint(l->shallow);
    cells[RETAINED] = hdx_cell_uint(l->retained);
    cells[REST] = hdx_cell_null();
    return hdx_table_add(table, cells, err);
}

/*
 * Adds the row of the branches from sorted[from] to the last one below the same line. It has no sizes: branches with
 * the same objects but other references would count them several times.
 */
static hdx_code add_rest(const merger *m, hdx_table *table, const branch *sorted, uint64_t from, uint64_t depth,
                         hdx_error *err)
{
    const uint64_t parent = m->lines[sorted[from].at].parent;
    uint64_t       at = from, paths = 0;
    char           text[40];
    hdx_cell       cells[COLUMNS];
    for (; at < m->count && m->lines[sorted[at].at].parent == parent; at++)
        paths += m->lines[sorted[at].at].paths;
    (void)snprintf(text, sizeof text, "(%" PRIu64 " other%s)", at - from, at - from == 1 ? "" : "s");
    for (unsigned i = 0; i < COLUMNS; i++)
        cells[i] = hdx_cell_null();
    cells[DEPTH] = hdx_cell_uint(depth);
    cells[OBJECTS] = hdx_cell_uint(paths);
    cells[LABEL] = hdx_cell_copy(hdx_table_arena(table), text);
    cells[REST] = hdx_cell_uint(at - from);
    return hdx_table_add(table, cells, err);
}

#define REST_AT (UINT64_C(1) << 63) /* in a stack: the number of the first branch that is too small, not a line */

/* Puts the branches of one line on the stack; the first one is then on top. */
static void push_branches(const merger *m, const branch *sorted, uint64_t from, uint64_t to, uint64_t depth,
                          hdx_pair *stack, uint64_t *waiting)
{
    uint64_t shown = from;
    while (shown < to && m->lines[sorted[shown].at].paths >= m->least)
        shown++;
    if (shown < to)
        stack[(*waiting)++] = (hdx_pair){ shown | REST_AT, depth };
    while (shown-- > from)
        stack[(*waiting)++] = (hdx_pair){ sorted[shown].at, depth };
}

/* Adds rows in preorder; the stack has the waiting lines, the next one on top. */
static hdx_code add_rows(const merger *m, hdx_table *table, hdx_error *err)
{
    const uint64_t n = m->count;
    hdx_code       code = HDX_OK;
    branch        *sorted = hdx_mem_array(m->ask->q.mem, n, sizeof *sorted);
    hdx_pair      *stack = hdx_mem_array(m->ask->q.mem, n, sizeof *stack); /* line, depth */
    uint64_t      *from = hdx_mem_array(m->ask->q.mem, n + 1, sizeof *from), waiting = 0, end = n;
    if (sorted == NULL || stack == NULL || from == NULL)
        code = hdx_no_memory(err, "merged paths", n * sizeof *sorted);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        sorted[i] = (branch){ m, i };
    if (code == HDX_OK && n > 0)
        qsort(sorted, n, sizeof *sorted, by_size);
    /* computes where the branches of each line begin; roots are last */
    for (uint64_t i = n; code == HDX_OK && i-- > 0;)
        if (m->lines[sorted[i].at].parent != NOWHERE)
            from[m->lines[sorted[i].at].parent] = i + 1;
        else
            end = i;
    if (code == HDX_OK)
        push_branches(m, sorted, end, n, 0, stack, &waiting);
    while (code == HDX_OK && waiting > 0) {
        const hdx_pair top = stack[--waiting];
        if ((top.first & REST_AT) != 0) {
            code = add_rest(m, table, sorted, top.first & ~REST_AT, top.second, err);
            continue;
        }
        uint64_t last = from[top.first];
        if ((code = add_row(m, table, top.first, top.second, err)) != HDX_OK || last == 0)
            continue;
        while (last < n && m->lines[sorted[last].at].parent == top.first)
            last++;
        push_branches(m, sorted, from[top.first] - 1, last, top.second + 1, stack, &waiting);
    }
    hdx_mem_put(m->ask->q.mem, from, (n + 1) * sizeof *from);
    hdx_mem_put(m->ask->q.mem, stack, n * sizeof *stack);
    hdx_mem_put(m->ask->q.mem, sorted, n * sizeof *sorted);
    return code;
}

static void merger_close(merger *m)
{
    hdx_mem       *mem = m->ask->q.mem;
    const uint64_t n = m->t->count;
    hdx_mem_put(mem, m->first, (n + 1) * sizeof *m->first);
    hdx_mem_put(mem, m->kids, n * sizeof *m->kids);
    hdx_mem_put(mem, m->name, n * sizeof *m->name);
    hdx_mem_put(mem, m->line, n * sizeof *m->line);
    hdx_mem_put(mem, m->ends, n * sizeof *m->ends);
    hdx_mem_put(mem, m->rank, n * sizeof *m->rank);
    hdx_mem_put(mem, m->size, n * sizeof *m->size);
    hdx_mem_put(mem, m->members, m->member_capacity * sizeof *m->members);
    hdx_mem_put(mem, m->names, m->name_capacity * sizeof *m->names);
    hdx_mem_put(mem, m->lines, m->capacity * sizeof *m->lines);
    hdx_map_free(&m->name_of);
    hdx_map_free(&m->line_of);
    hdx_map_free(&m->counted);
    hdx_arena_free(&m->texts);
}

static hdx_code merger_open(merger *m, hdx_error *err)
{
    hdx_mem       *mem = m->ask->q.mem;
    const uint64_t n = m->t->count;
    m->texts = hdx_arena_of(mem);
    m->name_of = m->line_of = m->counted = hdx_map_of(mem);
    m->first = hdx_mem_array(mem, n + 1, sizeof *m->first);
    m->kids = hdx_mem_array(mem, n, sizeof *m->kids);
    m->name = hdx_mem_array(mem, n, sizeof *m->name);
    m->line = hdx_mem_array(mem, n, sizeof *m->line);
    m->ends = hdx_mem_array(mem, n, sizeof *m->ends);
    m->rank = hdx_mem_array(mem, n, sizeof *m->rank);
    m->size = hdx_mem_array(mem, n, sizeof *m->size);
    if (m->first == NULL || m->kids == NULL || m->name == NULL || m->line == NULL || m->ends == NULL ||
        m->rank == NULL || m->size == NULL)
        return hdx_no_memory(err, "merged paths", n * sizeof *m->kids);
    for (size_t i = 0; i < m->t->end_count; i++)
        if (m->t->ends[i] != HDX_TREE_NONE)
            m->ends[m->t->ends[i]] = true;
    return HDX_OK;
}

hdx_code hdx_merged_fill(hdx_ask *ask, const hdx_excludes *x, const hdx_path_tree *t, bool may_repeat, uint64_t least,
                         hdx_table *out, hdx_error *err)
{
    merger   m = { .ask = ask, .x = x, .t = t, .least = least, .may_repeat = may_repeat };
    hdx_code code = merger_open(&m, err);
    if (code == HDX_OK && (code = find_children(&m, err)) == HDX_OK && (code = name_all(&m, err)) == HDX_OK &&
        (code = make_lines(&m, err)) == HDX_OK)
        code = add_rows(&m, out, err);
    merger_close(&m);
    return code;
}
