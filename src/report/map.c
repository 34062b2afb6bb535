/*
 * map.c - the dominator tree by class path as a treemap: a tile for each row, as large as what it retains, inside it
 * those below. Rests are tiles, so that tiles fill the picture; inside a tile, its own bytes stay empty.
 *
 * In:  the rows of dominators --merge.
 * Out: SVG of three levels. In a document twice: one for wide screens, one for narrow ones; or as a file of its own.
 *      Places and colours are attributes, so that the picture needs no style sheet.
 * Cost: rows that are kept and laid out; bounded by the least size that was asked for.
 *
 * Tiles are laid out as in "Squarified Treemaps" (Bruls, Huizing, van Wijk 2000): a row of tiles takes more of them as
 * long as the worst ratio of their sides falls.
 */
#include "report/page.h"

#include "base/list.h"

#include <stdlib.h>

#define GAP         3.0  /* between a tile and those inside */
#define HEAD        17.0 /* for the name of a tile with others inside */
#define LETTER      6.4  /* width of a letter at 11 px */
#define DEEP        3u   /* levels that are drawn */
#define TITLE       200u /* columns of the description of a tile */
#define WIDE        1000.0
#define WIDE_HEIGHT 560.0

typedef struct tile {
    char    *name, *size, *text;  /* text: the whole description */
    uint32_t class_at, class_end; /* in the name, without packages; both 0: the name is a phrase */
    uint64_t bytes;
    uint32_t parent; /* 0: none; otherwise index + 1 */
    unsigned depth;
    char     kind; /* class of its colour in the style sheet */
    bool     open; /* there are rows below it */
} tile;

typedef struct box {
    double x, y, w, h;
} box;

typedef struct map {
    page          *p;
    HDX_LIST(tile) tiles;
} map;

static const struct {
    char        kind;
    const char *fill, *words;
} kinds[] = { { 'a', "#9dc3e0", "application classes" },
              { 'p', "#b5d3b9", "JDK and platform" },
              { 'r', "#e3cd93", "arrays" },
              { 'j', "#cdbbe3", "classes, threads, class loaders" },
              { 'o', "#dcdad4", "everything smaller" } };

static const char *fill_of(char kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return kinds[i].fill;
    return kinds[0].fill;
}

static bool is_cell(const hdx_cell *c, const char *text)
{
    return c->kind == HDX_CELL_TEXT && hdx_text_is(c->as.text, text);
}

static char kind_of(const hdx_cell *origin, const hdx_cell *class_name)
{
    if (class_name->kind != HDX_CELL_TEXT)
        return 'o';
    if (is_cell(class_name, "java.lang.Class") || is_cell(class_name, "java.lang.Thread") ||
        is_cell(class_name, "jdk.internal.loader.ClassLoaders$AppClassLoader"))
        return 'j';
    return is_cell(origin, "platform") ? 'p' : is_cell(origin, "array") ? 'r' : 'a';
}

/* ---- rows ---- */

static char *copy(hdx_buffer *b)
{
    char *text = b->failed || b->len == 0 ? NULL : strndup(b->at, (size_t)b->len);
    hdx_buffer_clear(b);
    return text;
}

static hdx_text simple_name(hdx_text name)
{
    for (uint32_t i = name.len; i-- > 0;)
        if (name.at[i] == '.')
            return (hdx_text){ name.at + i + 1, name.len - i - 1 };
    return name;
}

static hdx_code add(map *m, const hdx_column *columns, unsigned count, const hdx_cell *row, hdx_error *err)
{
    const hdx_cell *name = hdx_cell_named(columns, count, row, "class"),
                   *label = hdx_cell_named(columns, count, row, "label"),
                   *objects = hdx_cell_named(columns, count, row, "objects"),
                   *bytes = hdx_cell_named(columns, count, row, "retained");
    const hdx_render_options human = { .human_sizes = true };
    hdx_buffer               b = hdx_buffer_of(NULL);
    if (!hdx_list_room(NULL, HDX_LIST_REF(&m->tiles)))
        return hdx_no_memory(err, "a treemap", m->tiles.count * sizeof *m->tiles.at);
    tile *t = &m->tiles.at[m->tiles.count++];
    *t = (tile){ .bytes = bytes->as.natural,
                 .parent = (uint32_t)hdx_cell_named(columns, count, row, "parent")->as.natural,
                 .depth = (unsigned)hdx_cell_named(columns, count, row, "depth")->as.natural,
                 .kind = kind_of(hdx_cell_named(columns, count, row, "origin"), name) };
    for (unsigned whole = 0; whole < 2; whole++) {
        if (name->kind == HDX_CELL_TEXT) {
            const hdx_text shown = whole ? name->as.text : simple_name(name->as.text);
            if (objects->as.natural > 1) {
                (void)hdx_render_cell(&b, objects, HDX_UNIT_COUNT, &human);
                hdx_buffer_text(&b, " × ");
            }
            const uint32_t at = (uint32_t)b.len;
            (void)hdx_render_text(&b, shown.at, shown.len, false);
            if (!whole) {
                t->class_at = at;
                t->class_end = (uint32_t)b.len;
            }
        }
        if (label->kind == HDX_CELL_TEXT) {
            hdx_buffer_text(&b, b.len > 0 ? " " : "");
            (void)hdx_render_text(&b, label->as.text.at, label->as.text.len, false);
        }
        if (whole) {
            hdx_buffer_text(&b, ": ");
            (void)hdx_render_cell(&b, bytes, HDX_UNIT_BYTES, &human);
            t->text = copy(&b);
        } else {
            t->name = copy(&b);
        }
    }
    (void)hdx_render_cell(&b, bytes, HDX_UNIT_BYTES, &human);
    t->size = copy(&b);
    hdx_buffer_free(&b);
    return t->name == NULL || t->size == NULL || t->text == NULL ? hdx_no_memory(err, "a treemap", 0) : HDX_OK;
}

/* ---- layout ---- */

/* The worst ratio of sides of tiles with these sums along a side of this length. */
static double worst(double sum, double least, double most, double side)
{
    const double s2 = sum * sum, w2 = side * side;
    const double x = w2 * most / s2, y = s2 / (w2 * least);
    return x > y ? x : y;
}

/* One row of tiles along the shorter side of what is left; *left becomes what is left after it. */
static uint64_t lay_row(const double *areas, uint64_t count, box *left, box *out)
{
    const double side = left->w < left->h ? left->w : left->h;
    double       sum = areas[0], ratio = worst(areas[0], areas[0], areas[0], side);
    uint64_t     n = 1;
    for (; n < count && areas[n] > 0; n++) {
        const double more = worst(sum + areas[n], areas[n], areas[0], side);
        if (more > ratio)
            break;
        ratio = more;
        sum += areas[n];
    }
    const double thick = side > 0 ? sum / side : 0;
    double       at = 0;
    for (uint64_t i = 0; i < n; i++) {
        const double length = thick > 0 ? areas[i] / thick : 0;
        out[i] = left->w < left->h ? (box){ left->x + at, left->y, length, thick }
                                   : (box){ left->x, left->y + at, thick, length };
        at += length;
    }
    if (left->w < left->h) {
        left->y += thick;
        left->h -= thick;
    } else {
        left->x += thick;
        left->w -= thick;
    }
    return n;
}

/* ---- drawing ---- */

static void put_words(map *m, double x, double y, const char *more, const char *at, size_t len)
{
    hdx_buffer_format(&m->p->out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\"%s>", x, y, more);
    hdx_doc_text(m->p, at, len);
    hdx_buffer_text(&m->p->out, "</text>");
}

/* Returns the length of the longest part of a phrase "> A > 3 x B" that ends before a ">" and fits. */
static size_t fit_phrase(const char *phrase, uint32_t columns)
{
    size_t fits = 0;
    for (const char *next = strstr(phrase, " > "); next != NULL; next = strstr(next + 1, " > ")) {
        if (hdx_render_columns(phrase, (size_t)(next - phrase)) > columns)
            break;
        fits = (size_t)(next - phrase);
    }
    return fits;
}

/*
 * Appends as much of a name as fits: without the end of its phrase, without the number of objects, without outer
 * classes. A class name is whole or absent, because a part of it is easily taken for another class.
 */
static void fit_name(hdx_buffer *line, const tile *t, unsigned letters)
{
    const char    *own = t->name + t->class_at, *end = t->name + t->class_end, *nested = own;
    const uint32_t counted = hdx_render_columns(t->name, t->class_end);
    for (const char *c = own; c + 1 < end; c++)
        nested = *c == '$' ? c + 1 : nested;
    if (hdx_render_columns(t->name, strlen(t->name)) <= letters) {
        hdx_buffer_text(line, t->name);
    } else if (end > own && counted + 4 <= letters) {
        hdx_buffer_put(line, t->name, t->class_end + fit_phrase(end, letters - counted - 4));
        hdx_buffer_text(line, " > …");
    } else if (end > own && counted <= letters) {
        hdx_buffer_put(line, t->name, t->class_end);
    } else if (end > own && hdx_render_columns(own, (size_t)(end - own)) <= letters) {
        hdx_buffer_put(line, own, (size_t)(end - own));
    } else if (end > own && hdx_render_columns(nested, (size_t)(end - nested)) <= letters) {
        hdx_buffer_put(line, nested, (size_t)(end - nested));
    }
}

/* The name, and behind it the size where there are tiles inside and it fits. Returns false if no name fits. */
static bool put_name(map *m, const tile *t, box b, unsigned letters, bool has_inside)
{
    hdx_buffer line = hdx_buffer_of(NULL);
    fit_name(&line, t, letters);
    const bool any = line.len > 0;
    if (any && has_inside && hdx_render_columns(line.at, (size_t)line.len) + strlen(t->size) + 2 <= letters)
        hdx_buffer_format(&line, "  %s", t->size);
    m->p->out.failed = m->p->out.failed || line.failed;
    if (any && !line.failed)
        put_words(m, b.x + 4, b.y + 12.5, has_inside ? " font-weight=\"600\"" : "", line.at, (size_t)line.len);
    hdx_buffer_free(&line);
    return any;
}

static void put_tile(map *m, const tile *t, box b, bool has_inside)
{
    hdx_buffer    *out = &m->p->out;
    const unsigned letters = b.w > 10 ? (unsigned)((b.w - 8) / LETTER) : 0;
    hdx_buffer_text(out, "<g><title>");
    hdx_doc_cut(m->p, t->text, strlen(t->text), TITLE);
    hdx_buffer_format(out,
                      "</title><rect class=\"%c\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                      "stroke=\"#fbfbf9\"/>",
                      t->kind, b.x, b.y, b.w, b.h, fill_of(t->kind));
    const bool named = letters >= 4 && b.h >= HEAD && put_name(m, t, b, letters, has_inside);
    if (named && !has_inside && letters >= strlen(t->size) && b.h >= 2 * HEAD)
        put_words(m, b.x + 4, b.y + 27, "", t->size, strlen(t->size));
    hdx_buffer_text(out, "</g>");
}

typedef struct waiting {
    uint32_t parent;
    unsigned depth;
    box      at;
} waiting;
typedef HDX_LIST(waiting) waiting_list;

typedef struct ranked {
    uint64_t bytes;
    uint32_t tile;
} ranked;

static int largest_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->tile > y->tile) - (x->tile < y->tile);
}

/* Draws the children of one tile, and notes where theirs go. */
static hdx_code draw_level(map *m, const waiting *w, waiting_list *list, hdx_error *err)
{
    const uint64_t count = m->tiles.count;
    double        *areas = hdx_mem_array(NULL, count, sizeof *areas);
    ranked        *which = hdx_mem_array(NULL, count, sizeof *which);
    box           *boxes = hdx_mem_array(NULL, count, sizeof *boxes), left = w->at;
    uint64_t       n = 0, bytes = 0;
    hdx_code code = areas == NULL || which == NULL || boxes == NULL ? hdx_no_memory(err, "a treemap", count) : HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++)
        if (m->tiles.at[i].parent == w->parent) {
            which[n++] = (ranked){ m->tiles.at[i].bytes, (uint32_t)i };
            bytes += m->tiles.at[i].bytes;
        }
    if (w->parent > 0 && m->tiles.at[w->parent - 1].bytes > bytes)
        bytes = m->tiles.at[w->parent - 1].bytes; /* what belongs to none of its children stays empty */
    if (code == HDX_OK && n > 0)
        qsort(which, n, sizeof *which, largest_first);
    for (uint64_t i = 0; code == HDX_OK && i < n; i++)
        areas[i] = bytes > 0 ? w->at.w * w->at.h * (double)which[i].bytes / (double)bytes : 0;
    for (uint64_t i = 0; code == HDX_OK && i < n && areas[i] > 0;)
        i += lay_row(areas + i, n - i, &left, boxes + i);
    for (uint64_t i = 0; code == HDX_OK && i < n && areas[i] > 0; i++) {
        const tile *t = &m->tiles.at[which[i].tile];
        const box   b = boxes[i], inner = { b.x + GAP, b.y + HEAD, b.w - 2 * GAP, b.h - HEAD - GAP };
        const bool  inside = t->open && w->depth + 1 < DEEP && inner.w > 40 && inner.h > 20;
        if (b.w >= 1 && b.h >= 1 && !hdx_doc_is_full(m->p))
            put_tile(m, t, b, inside);
        if (!inside)
            continue;
        if (!hdx_list_room(NULL, HDX_LIST_REF(list)))
            code = hdx_no_memory(err, "a treemap", list->count);
        else
            list->at[list->count++] = (waiting){ which[i].tile + 1, w->depth + 1, inner };
    }
    hdx_mem_put(NULL, areas, count * sizeof *areas);
    hdx_mem_put(NULL, which, count * sizeof *which);
    hdx_mem_put(NULL, boxes, count * sizeof *boxes);
    return code;
}

/* The tiles of all levels, in a rectangle at 0, 0. */
static hdx_code draw(map *m, double width, double height, hdx_error *err)
{
    waiting_list  list = { 0 };
    hdx_code      code = HDX_OK;
    const waiting whole = { 0, 0, { 0, 0, width, height } };
    code = draw_level(m, &whole, &list, err);
    for (uint64_t i = 0; code == HDX_OK && i < list.count; i++) {
        const waiting w = list.at[i];
        code = draw_level(m, &w, &list, err);
    }
    hdx_list_free(NULL, HDX_LIST_REF(&list));
    return code;
}

static hdx_code map_open(map *m, hdx_rows *rows, hdx_error *err)
{
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    const hdx_cell   *row;
    hdx_code          code = HDX_OK;
    while (code == HDX_OK && hdx_rows_next(rows, &row))
        code = add(m, columns, count, row, err);
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    for (uint64_t i = 0; i < m->tiles.count; i++)
        if (m->tiles.at[i].parent > 0 && m->tiles.at[i].parent <= m->tiles.count)
            m->tiles.at[m->tiles.at[i].parent - 1].open = true;
    return code;
}

static void map_close(map *m)
{
    for (uint64_t i = 0; i < m->tiles.count; i++) {
        free(m->tiles.at[i].name);
        free(m->tiles.at[i].size);
        free(m->tiles.at[i].text);
    }
    hdx_list_free(NULL, HDX_LIST_REF(&m->tiles));
}

static hdx_code draw_inline(map *m, double width, double height, bool small, hdx_error *err)
{
    hdx_buffer_format(
        &m->p->out,
        "<svg class=\"map%s\"%s viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"Map of the heap: the "
        "table below has the same rows\" font-family=\"sans-serif\" xmlns=\"http://www.w3.org/2000/svg\">",
        small ? " small" : "", small ? " display=none" : "", width, height);
    const hdx_code code = draw(m, width, height, err);
    hdx_buffer_text(&m->p->out, "</svg>\n");
    return code;
}

hdx_code hdx_doc_map(page *p, hdx_rows *rows, hdx_error *err)
{
    map      m = { .p = p };
    hdx_code code = map_open(&m, rows, err);
    if (code == HDX_OK)
        code = draw_inline(&m, WIDE, WIDE_HEIGHT, false, err);
    if (code == HDX_OK)
        code = draw_inline(&m, 400, 520, true, err);
    hdx_buffer_text(&p->out, "<ul class=key>");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        hdx_buffer_format(&p->out,
                          "<li><svg width=12 height=12 aria-hidden=true><rect class=%c width=12 height=12 "
                          "fill=\"%s\"/></svg> %s",
                          kinds[i].kind, kinds[i].fill, kinds[i].words);
    hdx_buffer_text(&p->out, "</ul>\n");
    map_close(&m);
    return code;
}

/* The meaning of colours, below the tiles. */
static void put_key(hdx_buffer *out)
{
    double x = 4;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        hdx_buffer_format(out,
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                          "<text x=\"%.1f\" y=\"%.1f\" font-size=\"11\">%s</text>\n",
                          x, WIDE_HEIGHT + 8, kinds[i].fill, x + 17, WIDE_HEIGHT + 18, kinds[i].words);
        x += 40 + LETTER * (double)strlen(kinds[i].words);
    }
}

hdx_code hdx_doc_map_file(hdx_rows *rows, const char *title, const hdx_sink *sink, hdx_error *err)
{
    static const hdx_report_options html = { .format = HDX_REPORT_HTML };
    page                            p = { .options = &html, .sink = sink, .out = hdx_buffer_of(NULL) };
    map                             m = { .p = &p };
    hdx_code                        code = map_open(&m, rows, err);
    hdx_buffer_format(&p.out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                      "viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"sans-serif\"><title>",
                      WIDE, WIDE_HEIGHT + 28, WIDE, WIDE_HEIGHT + 28);
    hdx_doc_string(&p, title);
    hdx_buffer_format(&p.out, "</title><rect width=\"%.0f\" height=\"%.0f\" fill=\"#fbfbf9\"/>\n", WIDE,
                      WIDE_HEIGHT + 28);
    if (code == HDX_OK)
        code = draw(&m, WIDE, WIDE_HEIGHT, err);
    put_key(&p.out);
    hdx_buffer_text(&p.out, "</svg>\n");
    map_close(&m);
    if (code != HDX_OK) {
        hdx_buffer_free(&p.out);
        return code;
    }
    return hdx_doc_finish(&p, err);
}
