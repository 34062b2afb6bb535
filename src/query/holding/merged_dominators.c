/*
 * merged_dominators.c - rows of the dominator tree merged by class path (dominators --merge).
 *
 * In:  the tree (class_paths.h), cut at the size that was asked for.
 * Out: a row for each node, with its classes down to the one below which objects scatter; a row for what was cut below
 *      a node. A row's retained size is its own, that of its children and that of its rest, to the byte.
 * Cost: that of the tree; a row is some bytes.
 */
#include "query/common/columns.h"
#include "query/common/origin.h"
#include "query/holding/class_paths.h"
#include "query/holding/merged_dominators.h"
#include "query/runtime/loaders.h"

#include <stdio.h>
#include <stdlib.h>

#define CHAIN_SHOWN 6u /* classes of a chain in its text; of a longer one the first and the last ones */

enum { NODE, PARENT, DEPTH, CLASS, LABEL, CHAIN, OBJECTS, SHALLOW, RETAINED, PERCENT, REST, ORIGIN };

static const hdx_column chain_members[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE, "class of the objects, or their package or class loader"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "number of these objects"),
};
const hdx_column hdx_merged_dominator_columns[HDX_MERGED_DOMINATOR_COLUMNS] = {
    [NODE] = HDX_COLUMN("node", UNSIGNED, NONE, HDX_COLUMN_WIDE, "number of the row, from 1"),
    [PARENT] = HDX_COLUMN("parent", UNSIGNED, NONE, HDX_COLUMN_WIDE, "node above; 0 for the first level"),
    [DEPTH] = HDX_COLUMN("depth", UNSIGNED, NONE, HDX_COLUMN_DEPTH, "levels above the row; 0 for the first level"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                         "class of the objects, or their package or class loader; null for a rest"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_PHRASE,
                         "the other classes of the chain as text; for a rest, what it sums up"),
    [CHAIN] = HDX_NESTED("chain", LIST, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                         "classes of the row, from the first to the one below which objects scatter", chain_members),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects of the first class of the row"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE,
                           "shallow size of all objects of the row; with --reverse, of those held by a GC root"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, 0,
                            "bytes that would be freed without these objects; with --reverse, bytes of the objects"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, 0, "share of the whole tree, in percent"),
    [REST] = HDX_COLUMN("rest", UNSIGNED, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE,
                        "number of nodes that a rest sums up; null for other rows"),
    [ORIGIN] = HDX_COLUMN("origin", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE | HDX_COLUMN_FEW,
                          "origin of the class: application, platform, generated or array; null for a rest"),
};

typedef struct line {
    uint64_t objects, shallow, retained;
    uint32_t first, nodes; /* of the chain; nodes 0: a rest */
    uint32_t parent, depth, rest;
} line;

typedef struct merged {
    hdx_ask        ask;
    hdx_by         by;
    bool           split;
    unsigned       depth; /* most levels; 0: all */
    hdx_class_tree tree;
    hdx_origins    origins;
    uint32_t      *end; /* of each node: one more than the last node below it */
    HDX_LIST(line) lines;
    uint64_t       next;
} merged;

static void merged_close(void *state)
{
    merged  *m = state;
    hdx_mem *mem = m->ask.q.mem;
    hdx_mem_put(mem, m->end, m->tree.nodes.count * sizeof *m->end);
    hdx_class_tree_free(&m->tree, mem);
    hdx_list_free(mem, HDX_LIST_REF(&m->lines));
    free(m);
}

/* ---- lines ---- */

typedef struct level { /* of nodes that are being written */
    uint64_t rest_objects, rest_retained;
    uint32_t line, end, rest; /* line: number of the one above; end: of its nodes */
} level;

static hdx_code add_line(merged *m, const line *l, hdx_error *err)
{
    if (!hdx_list_room(m->ask.q.mem, HDX_LIST_REF(&m->lines)))
        return hdx_no_memory(err, "class paths", m->lines.count * sizeof *m->lines.at);
    m->lines.at[m->lines.count++] = *l;
    return HDX_OK;
}

static hdx_code find_ends(merged *m, hdx_error *err)
{
    const uint64_t count = m->tree.nodes.count;
    m->end = hdx_mem_array(m->ask.q.mem, count, sizeof *m->end);
    if (m->end == NULL)
        return hdx_no_memory(err, "class paths", count * sizeof *m->end);
    for (uint64_t i = count; i-- > 0;) {
        const hdx_class_node *n = &m->tree.nodes.at[i];
        m->end[i] = m->end[i] == 0 ? (uint32_t)i + 1 : m->end[i];
        if (n->above != HDX_CLASS_PATH_TOP && m->end[n->above] < m->end[i])
            m->end[n->above] = m->end[i];
    }
    return HDX_OK;
}

/* Does a node only lead on: to one class, which has nearly all that is below it? */
static bool leads_on(const merged *m, uint32_t node)
{
    const hdx_class_node *n = &m->tree.nodes.at[node];
    return !m->split && node + 1 < m->end[node] && m->end[node + 1] == m->end[node] &&
           n->rest_retained <= n[1].retained / 9;
}

/* The line of a node and of those to which it only leads on; *below is filled for the last one's children. */
static line line_of(const merged *m, uint32_t node, level *below)
{
    const hdx_class_node *first = &m->tree.nodes.at[node];
    line                  l = { .first = node, .objects = first->objects, .retained = first->retained };
    *below = (level){ .end = m->end[node] };
    for (uint32_t i = node;; i++) {
        const hdx_class_node *n = &m->tree.nodes.at[i];
        l.nodes++;
        l.shallow += n->shallow;
        below->rest += n->rest_nodes;
        below->rest_objects += n->rest_objects;
        below->rest_retained += n->rest_retained;
        if (!leads_on(m, i))
            return l;
    }
}

static hdx_code add_rest(merged *m, const level *of, uint64_t depth, hdx_error *err)
{
    const line l = { .objects = of->rest_objects,
                     .retained = of->rest_retained,
                     .rest = of->rest,
                     .parent = of->line,
                     .depth = (uint32_t)depth };
    return of->rest > 0 ? add_line(m, &l, err) : HDX_OK;
}

/* Children that are too deep are part of the rest. */
static void cut_children(const merged *m, uint32_t from, level *l)
{
    for (uint32_t i = from; i < l->end; i = m->end[i]) {
        const hdx_class_node *n = &m->tree.nodes.at[i];
        l->rest++;
        l->rest_objects += n->objects;
        l->rest_retained += n->retained;
    }
}

static hdx_code make_lines(merged *m, hdx_error *err)
{
    HDX_LIST(level)       open = { 0 };
    const uint64_t        count = m->tree.nodes.count;
    const hdx_class_node *top = &m->tree.top;
    hdx_code              code = find_ends(m, err);
    uint32_t              i = 0;
    level                 below = { top->rest_objects, top->rest_retained, 0, (uint32_t)count, top->rest_nodes };
    while (code == HDX_OK) {
        if (!hdx_list_room(m->ask.q.mem, HDX_LIST_REF(&open))) {
            code = hdx_no_memory(err, "class paths", open.count * sizeof *open.at);
            break;
        }
        open.at[open.count++] = below;
        while (code == HDX_OK && open.count > 0 && open.at[open.count - 1].end == i) {
            open.count--;
            code = add_rest(m, &open.at[open.count], open.count, err);
        }
        if (code != HDX_OK || i == count)
            break;
        line l = line_of(m, i, &below);
        l.parent = open.at[open.count - 1].line;
        l.depth = (uint32_t)open.count - 1;
        below.line = (uint32_t)m->lines.count + 1;
        i += l.nodes;
        if (m->depth > 0 && open.count >= m->depth) {
            cut_children(m, i, &below);
            i = below.end;
        }
        code = add_line(m, &l, err);
    }
    hdx_list_free(m->ask.q.mem, HDX_LIST_REF(&open));
    return code;
}

/* ---- cells ---- */

static hdx_code key_cell(merged *m, uint32_t key, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_class *c = hdx_graph_class(m->ask.g, key);
    *out = hdx_cell_null();
    if (c == NULL)
        return HDX_OK;
    if (m->by == HDX_BY_LOADER)
        return hdx_loader_cell(&m->ask.q, c->loader, arena, out, err);
    *out = hdx_cell_text(m->by == HDX_BY_PACKAGE ? hdx_package_of(c->name) : c->name);
    return HDX_OK;
}

/* The class without its package. */
static hdx_text short_name(const merged *m, hdx_text name)
{
    for (uint32_t i = name.len; m->by == HDX_BY_CLASS && i-- > 0;)
        if (name.at[i] == '.')
            return (hdx_text){ name.at + i + 1, name.len - i - 1 };
    return name;
}

/* "> HashMap > HashMap$Node[] > 213 x HashMap$Node" */
static hdx_code chain_text(const merged *m, const line *l, const hdx_member *chain, hdx_arena *arena, hdx_cell *out,
                           hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    for (uint32_t i = 1; i < l->nodes; i++) {
        const hdx_member *at = &chain[2 * i];
        const uint64_t    objects = at[1].value.as.natural;
        if (l->nodes > CHAIN_SHOWN && i == CHAIN_SHOWN / 2) {
            i = l->nodes - CHAIN_SHOWN / 2 - 1;
            hdx_buffer_format(&text, " > (%u more)", i - CHAIN_SHOWN / 2 + 1);
            continue;
        }
        hdx_buffer_text(&text, i > 1 ? " > " : "> ");
        if (objects != at[-1].value.as.natural)
            hdx_buffer_format(&text, "%llu x ", (unsigned long long)objects);
        if (at[0].value.kind == HDX_CELL_TEXT) {
            const hdx_text name = short_name(m, at[0].value.as.text);
            hdx_buffer_put(&text, name.at, name.len);
        } else {
            hdx_buffer_text(&text, "(no class)");
        }
    }
    const char *copy = text.failed ? NULL : hdx_arena_copy(arena, text.len > 0 ? text.at : "", text.len);
    if (copy != NULL)
        *out = hdx_cell_text((hdx_text){ copy, (uint32_t)text.len });
    const hdx_code code = copy != NULL ? HDX_OK : hdx_no_memory(err, "class paths", text.len);
    hdx_buffer_free(&text);
    return code;
}

static hdx_code chain_cells(merged *m, const line *l, hdx_arena *arena, hdx_cell *cells, hdx_error *err)
{
    hdx_member *members = hdx_arena_get(arena, 2ull * l->nodes * sizeof *members);
    hdx_cell   *items = hdx_arena_get(arena, l->nodes * sizeof *items);
    if (members == NULL || items == NULL)
        return hdx_no_memory(err, "class paths", l->nodes * sizeof *items);
    for (uint32_t i = 0; i < l->nodes; i++) {
        const hdx_class_node *n = &m->tree.nodes.at[l->first + i];
        hdx_cell              name;
        const hdx_code        code = key_cell(m, n->key, arena, &name, err);
        if (code != HDX_OK)
            return code;
        members[2 * i] = (hdx_member){ "class", name };
        members[2 * i + 1] = (hdx_member){ "objects", hdx_cell_uint(n->objects) };
        items[i] = hdx_cell_object(&members[2 * i], 2);
    }
    cells[CLASS] = members[0].value;
    cells[CHAIN] = hdx_cell_list(items, l->nodes);
    const hdx_class *c = hdx_graph_class(m->ask.g, m->tree.nodes.at[l->first].key);
    if (c != NULL) {
        const char *origin = hdx_origin_name(hdx_origin_of(&m->origins, c));
        cells[ORIGIN] = hdx_cell_text((hdx_text){ origin, (uint32_t)strlen(origin) });
    }
    return l->nodes > 1 ? chain_text(m, l, members, arena, &cells[LABEL], err) : HDX_OK;
}

static hdx_code rest_label(const line *l, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    char        text[64];
    const int   len = snprintf(text, sizeof text, l->rest == 1 ? "(1 other)" : "(%u others)", l->rest);
    const char *copy = hdx_arena_copy(arena, text, (size_t)len);
    if (copy == NULL)
        return hdx_no_memory(err, "class paths", sizeof text);
    *out = hdx_cell_text((hdx_text){ copy, (uint32_t)len });
    return HDX_OK;
}

static hdx_code merged_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    merged  *m = state;
    hdx_code code = hdx_ask_check_cancel(&m->ask, err);
    if (code != HDX_OK)
        return code;
    if (m->next == m->lines.count)
        return hdx_ask_end(&m->ask, more, err);
    const line    *l = &m->lines.at[m->next++];
    const uint64_t whole = m->tree.top.retained;
    for (unsigned i = 0; i < HDX_MERGED_DOMINATOR_COLUMNS; i++)
        cells[i] = hdx_cell_null();
    cells[NODE] = hdx_cell_uint(m->next);
    cells[PARENT] = hdx_cell_uint(l->parent);
    cells[DEPTH] = hdx_cell_uint(l->depth);
    cells[OBJECTS] = hdx_cell_uint(l->objects);
    cells[SHALLOW] = hdx_cell_uint(l->shallow);
    cells[RETAINED] = hdx_cell_uint(l->retained);
    cells[PERCENT] = hdx_cell_real(whole > 0 ? 100.0 * (double)l->retained / (double)whole : 0.0);
    *more = true;
    if (l->nodes > 0)
        return chain_cells(m, l, arena, cells, err);
    cells[REST] = hdx_cell_uint(l->rest);
    return rest_label(l, arena, &cells[LABEL], err);
}

/* ---- the question ---- */

static hdx_code below_object(merged *m, hdx_id of, bool reverse, const hdx_arguments *a, hdx_error *err)
{
    hdx_class_paths p;
    uint64_t        size = 0;
    hdx_code        code = hdx_class_paths_open(&m->ask, m->by, of, &p, err);
    const uint64_t  whole = hdx_graph_retained(m->ask.g, of) - hdx_graph_shallow(m->ask.g, of);
    if (code == HDX_OK && (code = hdx_argument_share(a, "least", whole, &size, err)) == HDX_OK)
        code = hdx_class_tree_of(&p, reverse, size, HDX_CLASS_NODES_MOST, &m->ask, &m->tree, err);
    hdx_class_paths_close(&p);
    return code;
}

hdx_code hdx_merged_dominators(const hdx_query *q, const hdx_arguments *a, hdx_by by, hdx_id of, hdx_rows **out,
                               hdx_error *err)
{
    merged    *m = calloc(1, sizeof *m);
    const bool reverse = hdx_argument_flag(a, "reverse");
    uint64_t   size = 0;
    if (m == NULL)
        return hdx_no_memory(err, "class paths", sizeof *m);
    *m = (merged){ .by = by,
                   .split = hdx_argument_choice(a, "chains") == 1, /* of its choices */
                   .depth = (unsigned)hdx_argument_number(a, "depth") };
    hdx_code code = hdx_ask_begin(q, &m->ask, err);
    m->origins = hdx_origins_of(q->graph);
    if (code == HDX_OK)
        code = hdx_argument_share(a, "least", hdx_graph_summary_of(q->graph)->live_bytes, &size, err);
    if (code == HDX_OK)
        code = of == HDX_VIRTUAL_ROOT ? hdx_class_tree_of_heap(&m->ask, by, reverse, size, &m->tree, err)
                                      : below_object(m, of, reverse, a, err);
    if (code == HDX_OK)
        code = make_lines(m, err);
    if (code != HDX_OK) {
        merged_close(m);
        return code;
    }
    hdx_rows_maker maker = {
        hdx_merged_dominator_columns, HDX_MERGED_DOMINATOR_COLUMNS, m, merged_next, merged_close, m->lines.count
    };
    return hdx_rows_make_in(q->mem, &maker, out, err);
}
