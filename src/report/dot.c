/*
 * dot.c - paths and references as a graph for Graphviz.
 *
 * In:  rows of path (each path is a chain of steps), of path --merge (lines with depths), or of refs (the objects at
 * the other ends of the references of one object). Out: a directed graph in the language DOT: an object is a node once,
 * a reference an arrow with its name. Cost: at most HDX_PICTURE_NODES_MOST nodes are held; more are refused, because no
 * reader could use the picture.
 *
 * Format: graphviz.org/doc/info/lang.html. Text of the heap stands in quotes, with backslash and quote escaped.
 */
#include "report/picture.h"

#include <stdio.h>

#define ARROWS_MOST (5u * HDX_PICTURE_NODES_MOST)
#define LABEL_WIDTH 60u /* columns of a line of a node */

typedef struct node {
    uint64_t address; /* 0: none, as of a line of several objects */
    bool     marked;  /* the object that was asked for */
    char    *label;
} node;

typedef struct arrow {
    unsigned from, to;
    char    *name; /* "": none */
} arrow;

typedef struct graph {
    picture  *p;
    hdx_rows *rows;
    hdx_arena arena;
    node      nodes[HDX_PICTURE_NODES_MOST];
    arrow     arrows[ARROWS_MOST];
    unsigned  node_count, arrow_count;
    bool      no_memory, full;
} graph;

/* ---- nodes and arrows ---- */

static char *saved(graph *g, hdx_buffer *text)
{
    char *copy = text->failed ? NULL : hdx_arena_copy(&g->arena, text->at != NULL ? text->at : "", text->len);
    g->no_memory = g->no_memory || copy == NULL;
    hdx_buffer_free(text);
    return copy;
}

/* Quotes and backslashes would end the text, or be read as commands of the format. */
static void put_line(hdx_buffer *out, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '"' || at[i] == '\\')
            hdx_buffer_text(out, "\\");
        hdx_buffer_put(out, at + i, 1);
    }
}

static void put_text_line(hdx_buffer *out, hdx_text text)
{
    hdx_buffer shown = hdx_buffer_of(NULL), cut = hdx_buffer_of(NULL);
    (void)hdx_render_text(&shown, text.at, text.len, false);
    if (shown.len > 0)
        (void)hdx_render_cut(&cut, shown.at, (size_t)shown.len, LABEL_WIDTH, false);
    if (cut.len > 0)
        put_line(out, cut.at, (size_t)cut.len);
    out->failed = out->failed || shown.failed || cut.failed;
    hdx_buffer_free(&shown);
    hdx_buffer_free(&cut);
}

static char *label_of(graph *g, hdx_rows *rows, const hdx_cell *row)
{
    const hdx_render_options human = { .human_sizes = true };
    const hdx_cell          *name = hdx_picture_cell(rows, row, "class"), *label = hdx_picture_cell(rows, row, "label"),
                   *address = hdx_picture_cell(rows, row, "address"),
                   *retained = hdx_picture_cell(rows, row, "retained");
    const uint64_t instances = hdx_picture_number(rows, row, "instances");
    hdx_buffer     text = hdx_buffer_of(NULL);
    if (instances > 1 && name->kind == HDX_CELL_TEXT)
        hdx_buffer_format(&text, "%llu x ", (unsigned long long)instances);
    if (name->kind == HDX_CELL_TEXT)
        put_text_line(&text, name->as.text);
    if (label->kind == HDX_CELL_TEXT) {
        hdx_buffer_text(&text, name->kind == HDX_CELL_TEXT ? "\\n" : "");
        put_text_line(&text, label->as.text);
    }
    if (address->kind == HDX_CELL_ADDRESS)
        hdx_buffer_format(&text, "\\n0x%llx", (unsigned long long)address->as.address);
    if (retained->kind == HDX_CELL_UINT) {
        hdx_buffer_text(&text, "\\nretains ");
        (void)hdx_render_cell(&text, retained, HDX_UNIT_BYTES, &human);
    }
    return saved(g, &text);
}

static unsigned add_node(graph *g, uint64_t address, char *label)
{
    for (unsigned i = 0; address != 0 && i < g->node_count; i++)
        if (g->nodes[i].address == address)
            return i;
    if (g->node_count == HDX_PICTURE_NODES_MOST) {
        g->full = true;
        return 0;
    }
    g->nodes[g->node_count] = (node){ .address = address, .label = label };
    return g->node_count++;
}

static unsigned add_object(graph *g, hdx_rows *rows, const hdx_cell *row)
{
    const hdx_cell *address = hdx_picture_cell(rows, row, "address");
    return add_node(g, address->kind == HDX_CELL_ADDRESS ? address->as.address : 0, label_of(g, rows, row));
}

static void add_arrow(graph *g, unsigned from, unsigned to, const char *name)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    put_text_line(&text, (hdx_text){ name, (uint32_t)strlen(name) });
    char *label = saved(g, &text);
    if (label == NULL || g->full)
        return;
    for (unsigned i = 0; i < g->arrow_count; i++)
        if (g->arrows[i].from == from && g->arrows[i].to == to && strcmp(g->arrows[i].name, label) == 0)
            return;
    if (g->arrow_count == ARROWS_MOST)
        g->full = true;
    else
        g->arrows[g->arrow_count++] = (arrow){ from, to, label };
}

/* ---- rows ---- */

typedef struct chain { /* from a GC root to the row that was read last */
    unsigned    node[HDX_PICTURE_NODES_MOST];
    const char *name[HDX_PICTURE_NODES_MOST]; /* of the reference to the next one; "": none */
} chain;

static const char *name_of(graph *g, const hdx_cell *name)
{
    const char *copy =
        name->kind == HDX_CELL_TEXT ? hdx_arena_copy(&g->arena, name->as.text.at, name->as.text.len) : "";
    g->no_memory = g->no_memory || copy == NULL;
    return copy;
}

/* A row at place n of a path, or of depth n of a merged tree, follows the last row of place n - 1. */
static void add_step(graph *g, const hdx_cell *row, bool merged, chain *c)
{
    const uint64_t  place = hdx_picture_number(g->rows, row, merged ? "depth" : "step");
    const hdx_cell *reference = hdx_picture_cell(g->rows, row, "reference");
    if (place >= HDX_PICTURE_NODES_MOST) {
        g->full = true;
        return;
    }
    const unsigned at = merged ? add_node(g, 0, label_of(g, g->rows, row)) : add_object(g, g->rows, row);
    if (place > 0 && c->name[place - 1] != NULL)
        add_arrow(g, c->node[place - 1], at, c->name[place - 1]);
    c->node[place] = at;
    c->name[place] = name_of(g, reference);
    g->nodes[at].marked = g->nodes[at].marked || reference->kind != HDX_CELL_TEXT;
}

static void read_paths(graph *g)
{
    const bool      merged = hdx_picture_has(g->rows, "depth");
    chain           c = { .name = { NULL } };
    const hdx_cell *row;
    while (!g->full && !g->no_memory && hdx_rows_next(g->rows, &row))
        add_step(g, row, merged, &c);
}

static hdx_code read_references(graph *g, hdx_error *err)
{
    const hdx_picture_options *o = g->p->options;
    const hdx_cell            *row;
    if (!hdx_rows_next(o->subject, &row))
        return hdx_rows_end(o->subject, err);
    const unsigned subject = add_object(g, o->subject, row);
    g->nodes[subject].marked = true;
    while (!g->full && !g->no_memory && hdx_rows_next(g->rows, &row)) {
        const unsigned other = add_object(g, g->rows, row);
        const char    *name = name_of(g, hdx_picture_cell(g->rows, row, "name"));
        if (name != NULL)
            add_arrow(g, o->inbound ? other : subject, o->inbound ? subject : other, name);
    }
    return HDX_OK;
}

/* ---- output ---- */

static void put_graph(const graph *g)
{
    hdx_buffer *out = &g->p->out;
    const char *title = g->p->options->title;
    hdx_buffer_text(out, "digraph heap {\n  label=\"");
    put_text_line(out, (hdx_text){ title, (uint32_t)strlen(title) });
    hdx_buffer_text(out, "\";\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
                         "  edge [fontname=\"sans-serif\", fontsize=9];\n");
    for (unsigned i = 0; i < g->node_count; i++)
        hdx_buffer_format(out, "  n%u [label=\"%s\"%s];\n", i, g->nodes[i].label,
                          g->nodes[i].marked ? ", style=bold" : "");
    for (unsigned i = 0; i < g->arrow_count; i++)
        hdx_buffer_format(out, "  n%u -> n%u [label=\"%s\"];\n", g->arrows[i].from, g->arrows[i].to, g->arrows[i].name);
    hdx_buffer_text(out, "}\n");
}

hdx_code hdx_picture_dot(picture *p, hdx_rows *rows, hdx_error *err)
{
    graph   *g = hdx_mem_get(NULL, sizeof *g);
    hdx_code code = HDX_OK;
    if (g == NULL)
        return hdx_no_memory(err, "a graph", sizeof *g);
    *g = (graph){ .p = p, .rows = rows, .arena = hdx_arena_of(NULL) };
    if (p->options->subject != NULL)
        code = read_references(g, err);
    else
        read_paths(g);
    if (code == HDX_OK && g->no_memory)
        code = hdx_no_memory(err, "a graph", sizeof *g);
    else if (code == HDX_OK && g->full)
        code = hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                                 "a graph of more than %u objects is too large to be legible", HDX_PICTURE_NODES_MOST),
                        "--limit %u draws the first ones", HDX_PICTURE_NODES_MOST - 1);
    else if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK)
        put_graph(g);
    hdx_arena_free(&g->arena);
    hdx_mem_put(NULL, g, sizeof *g);
    return code;
}
