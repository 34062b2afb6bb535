/*
 * object_page.c - the answer of object as pages: the object, why it is alive, and its fields by declaring class or its
 * elements.
 *
 *     Thread "http-worker-0"  0xdcb12540  #353
 *       shallow 112 B, retained 2.9 MB; GC root: thread
 *       3 referrers, refers to 14 objects
 *       from java.lang.Thread
 *         name          "http-worker-0"                0xdcb401c8     56 B
 *         threadLocals  j.l.ThreadLocal$ThreadLocalMap 0xdcb40240   2.9 MB
 *         tid           18
 *
 * A reference shows its target with address and retained size, on a line of its own if the terminal is too narrow.
 * Consecutive null elements share one line. Elements of primitive types fill the lines. The parts of --with follow,
 * each below a line with its name.
 */
#include "cli/cli.h"

#include <stdio.h>

#define NAME_MOST  32u /* greatest width of field names */
#define NAME_LEAST 12u /* least width of field names on a narrow terminal */
#define VALUE_MOST 60u
#define SIZE       9u
#define ROOM       80u                    /* width of a page if that of the terminal is unknown */
#define AFTER      (2u + 12u + 2u + SIZE) /* width of address and size after an object */

typedef struct page {
    const hdx_render_options *options;
    const hdx_sink           *sink;
    const hdx_column         *columns;
    unsigned                  count;
    const hdx_cell           *row;
    hdx_buffer                out, object, fitted;
} page;

static const hdx_cell *cell(const page *p, const char *name)
{
    return hdx_cell_named(p->columns, p->count, p->row, name);
}

static bool is_text(const hdx_cell *c, const char *text)
{
    return c->kind == HDX_CELL_TEXT && hdx_text_is(c->as.text, text);
}

static uint32_t put_spaces(page *p, uint32_t from, uint32_t to)
{
    if (from < to)
        hdx_buffer_format(&p->out, "%*s", (int)(to - from), "");
    return from < to ? to : from;
}

static void put_value(page *p, const hdx_cell *c, hdx_unit unit) { cli_put_value(&p->out, c, unit, p->options); }

/* ---- the head ---- */

/* Writes class and label in at most `columns`; bare: without the class of a String. Returns the width. */
static uint32_t put_object(page *p, const hdx_cell *class_name, const hdx_cell *label, uint32_t columns, bool bare)
{
    hdx_buffer_clear(&p->object);
    hdx_buffer_clear(&p->fitted);
    hdx_render_object o = hdx_render_object_text(&p->object, class_name, label, p->options);
    const uint32_t    skip = bare && is_text(class_name, "java.lang.String") && label->kind == HDX_CELL_TEXT ? 7 : 0;
    if (skip > 0 && p->object.len > skip) { /* "text" needs no `String` before it */
        o.name_len = 0;
        o.width -= skip;
    }
    if (p->object.failed)
        return 0;
    const char    *at = p->object.at + skip;
    const size_t   len = p->object.len - skip;
    const uint32_t width =
        o.width <= columns ? o.width : hdx_render_object_in(&p->fitted, at, len, o, columns, p->options->ascii);
    if (o.width <= columns)
        hdx_buffer_put(&p->out, at, len);
    else if (p->fitted.len > 0)
        hdx_buffer_put(&p->out, p->fitted.at, p->fitted.len);
    return width;
}

static void put_root(page *p)
{
    const hdx_cell *roots = cell(p, "roots");
    for (uint64_t i = 0; roots->kind == HDX_CELL_LIST && i < roots->as.list.count; i++) {
        const hdx_text type = roots->as.list.at[i].as.text;
        const char    *words = hdx_root_type_words(type.at, type.len);
        hdx_buffer_text(&p->out, i == 0 ? "; GC root: " : ", ");
        if (words != NULL)
            hdx_buffer_text(&p->out, words);
        else
            put_value(p, &roots->as.list.at[i], HDX_UNIT_NONE);
    }
}

static void put_why_alive(page *p)
{
    const hdx_cell *reachable = cell(p, "reachable"), *dominator = cell(p, "dominator"), *heap = cell(p, "heap");
    if (reachable->kind == HDX_CELL_BOOL && !reachable->as.boolean) {
        hdx_buffer_text(&p->out, "; no GC root reaches it");
        if (cell(p, "reservation")->kind == HDX_CELL_TEXT) {
            hdx_buffer_text(&p->out, ", ");
            put_value(p, cell(p, "reservation"), HDX_UNIT_NONE);
        }
    }
    put_root(p);
    if (dominator->kind == HDX_CELL_ADDRESS) {
        hdx_buffer_text(&p->out, "; dominated by ");
        put_value(p, dominator, HDX_UNIT_NONE);
    }
    if (heap->kind == HDX_CELL_TEXT) {
        hdx_buffer_text(&p->out, "; heap ");
        put_value(p, heap, HDX_UNIT_NONE);
    }
}

static void put_number(page *p, const hdx_cell *n, const char *one, const char *several)
{
    put_value(p, n, HDX_UNIT_COUNT);
    hdx_buffer_text(&p->out, n->kind == HDX_CELL_UINT && n->as.natural == 1 ? one : several);
}

static void put_head(page *p)
{
    const hdx_cell *length = cell(p, "length"), *retained = cell(p, "retained");
    const uint32_t  after = 28, width = p->options->width;
    const uint32_t  room = width == 0 || p->options->full_text ? UINT32_MAX : width > after ? width - after : 0;
    (void)put_object(p, cell(p, "class"), cell(p, "label"), room, false);
    hdx_buffer_text(&p->out, "  ");
    put_value(p, cell(p, "address"), HDX_UNIT_NONE);
    hdx_buffer_text(&p->out, "  #");
    put_value(p, cell(p, "id"), HDX_UNIT_NONE);
    hdx_buffer_text(&p->out, "\n  shallow ");
    put_value(p, cell(p, "shallow"), HDX_UNIT_BYTES);
    if (retained->kind != HDX_CELL_NULL) {
        hdx_buffer_text(&p->out, ", retained ");
        put_value(p, retained, HDX_UNIT_BYTES);
    }
    if (length->kind == HDX_CELL_UINT) {
        hdx_buffer_text(&p->out, ", ");
        put_number(p, length, " element", " elements");
    }
    put_why_alive(p);
    hdx_buffer_text(&p->out, "\n  ");
    put_number(p, cell(p, "inbound"), " referrer, refers to ", " referrers, refers to ");
    put_number(p, cell(p, "outbound"), " object\n", " objects\n");
}

/* ---- values ---- */

/* Writes the object that a reference points to in `columns`, its address and its retained size. */
static void put_reference(page *p, const hdx_cell *target, const hdx_cell *address, uint32_t columns)
{
    const hdx_cell *class_name = hdx_cell_member(target, "class"), *retained = hdx_cell_member(target, "retained");
    uint32_t        at = class_name->kind == HDX_CELL_NULL
                             ? 0
                             : put_object(p, class_name, hdx_cell_member(target, "label"), columns, true);
    at = put_spaces(p, at, class_name->kind == HDX_CELL_NULL || columns == UINT32_MAX ? 0 : columns);
    hdx_buffer_text(&p->out, at > 0 ? "  " : "");
    hdx_buffer_text(&p->out, p->options->color ? "\x1b[2m" : "");
    const uint64_t start = p->out.len;
    put_value(p, address, HDX_UNIT_NONE);
    const uint32_t wide = (uint32_t)(p->out.len - start);
    hdx_buffer_text(&p->out, p->options->color ? "\x1b[0m" : "");
    if (retained->kind == HDX_CELL_UINT) {
        hdx_buffer_clear(&p->fitted);
        cli_put_value(&p->fitted, retained, HDX_UNIT_BYTES, p->options);
        put_spaces(p, wide + (uint32_t)p->fitted.len, wide + 2 + SIZE);
        if (p->fitted.len > 0)
            hdx_buffer_put(&p->out, p->fitted.at, p->fitted.len);
    }
}

/*
 * Returns the width for the objects of a list of references: that of the widest one, or the remaining columns if they
 * suffice to distinguish all objects. *before: columns before the objects, which is reduced to no less than `keep`.
 */
static uint32_t widest_object(page *p, const hdx_cell *list, uint32_t *before, uint32_t keep)
{
    const uint32_t room = p->options->width;
    uint32_t       widest = 0, least = 0;
    for (uint64_t i = 0; i < list->as.list.count; i++) {
        const hdx_cell *item = &list->as.list.at[i], *class_name = hdx_cell_member(item, "class");
        if (class_name->kind == HDX_CELL_NULL)
            continue;
        hdx_buffer_clear(&p->object);
        const hdx_render_object o =
            hdx_render_object_text(&p->object, class_name, hdx_cell_member(item, "label"), p->options);
        if (p->object.failed)
            return 0;
        const uint32_t narrow = hdx_render_object_least(p->object.at, p->object.len, o);
        widest = o.width > widest ? o.width : widest;
        least = narrow > least ? narrow : least;
    }
    if (p->options->full_text)
        return UINT32_MAX;
    widest = widest < VALUE_MOST ? widest : VALUE_MOST;
    if (room == 0 || *before + widest + AFTER <= room)
        return widest;
    if (*before + least + AFTER > room && keep < *before)
        *before = keep + least + AFTER < room ? room - least - AFTER : keep;
    return room > *before + AFTER + least ? room - *before - AFTER : least;
}

/* ---- fields ---- */

static uint32_t widest_name(page *p, const hdx_cell *fields)
{
    uint32_t widest = 0;
    for (uint64_t i = 0; i < fields->as.list.count; i++) {
        hdx_buffer_clear(&p->object);
        cli_put_value(&p->object, hdx_cell_member(&fields->as.list.at[i], "name"), HDX_UNIT_NONE, p->options);
        const uint32_t width = p->object.len == 0 ? 0 : hdx_render_columns(p->object.at, p->object.len);
        widest = width > widest ? width : widest;
    }
    return widest < NAME_MOST ? widest : NAME_MOST;
}

/* Writes a line: the name of a reference or field in `before` columns, and its value; objects have `object` columns. */
static bool put_line(page *p, const hdx_cell *of, const hdx_cell *value, uint32_t before, uint32_t object)
{
    const uint64_t start = p->out.len;
    hdx_buffer_text(&p->out, "    ");
    put_value(p, hdx_cell_member(of, "name"), HDX_UNIT_NONE);
    uint32_t at = p->out.failed ? 0 : hdx_render_columns(p->out.at + start, p->out.len - start) + 2;
    if (at > before && value->kind == HDX_CELL_ADDRESS && p->options->width != 0 &&
        at + object + AFTER > p->options->width) {
        hdx_buffer_text(&p->out, "\n");
        at = 0;
    } else {
        hdx_buffer_text(&p->out, "  ");
    }
    put_spaces(p, at, before);
    if (value->kind == HDX_CELL_ADDRESS)
        put_reference(p, of, value, object);
    else if (value->kind == HDX_CELL_NULL)
        hdx_buffer_text(&p->out, "null");
    else
        put_value(p, value, HDX_UNIT_NONE);
    hdx_buffer_text(&p->out, "\n");
    return cli_flush(&p->out, p->sink);
}

static bool put_fields(page *p, const hdx_cell *fields, const char *what)
{
    uint32_t        before = 4 + widest_name(p, fields) + 2;
    const uint32_t  object = widest_object(p, fields, &before, 4 + NAME_LEAST + 2);
    const hdx_cell *owner = NULL;
    bool            good = true;
    for (uint64_t i = 0; good && i < fields->as.list.count; i++) {
        const hdx_cell *f = &fields->as.list.at[i], *by = hdx_cell_member(f, "owner");
        if (by->kind == HDX_CELL_TEXT && (owner == NULL || by->as.text.len != owner->as.text.len ||
                                          memcmp(by->as.text.at, owner->as.text.at, by->as.text.len) != 0)) {
            hdx_buffer_format(&p->out, "  %s ", what);
            put_value(p, by, HDX_UNIT_NONE);
            hdx_buffer_text(&p->out, "\n");
            owner = by;
        }
        good = put_line(p, f, hdx_cell_member(f, "value"), before, object);
    }
    return good;
}

/* ---- elements ---- */

/* Formats "[7]" or "[7..9]". */
static uint32_t place_text(char text[64], uint64_t first, uint64_t last)
{
    const int n = first == last
                      ? snprintf(text, 64, "[%llu]", (unsigned long long)first)
                      : snprintf(text, 64, "[%llu..%llu]", (unsigned long long)first, (unsigned long long)last);
    return (uint32_t)n;
}

static void put_place(page *p, uint64_t first, uint64_t last, uint32_t width)
{
    char text[64];
    (void)place_text(text, first, last);
    hdx_buffer_format(&p->out, "    %-*s  ", (int)width, text);
}

/* Returns the index after the null elements that begin at i. */
static uint64_t end_of_nulls(const hdx_cell *objects, uint64_t i)
{
    const uint64_t n = objects->as.list.count;
    while (i < n && hdx_cell_member(&objects->as.list.at[i], "address")->kind == HDX_CELL_NULL)
        i++;
    return i;
}

static bool put_references(page *p, const hdx_cell *objects)
{
    const uint64_t n = objects->as.list.count;
    char           text[64];
    uint32_t       place = 0;
    bool           good = true;
    for (uint64_t i = 0, end; i < n; i = end) {
        end = end_of_nulls(objects, i);
        end = end > i ? end : i + 1;
        const uint32_t width = place_text(text, i, end - 1);
        place = width > place ? width : place;
    }
    uint32_t       before = 4 + place + 2;
    const uint32_t object = widest_object(p, objects, &before, before);
    for (uint64_t i = 0, end; good && i < n; i = end) {
        const hdx_cell *o = &objects->as.list.at[i], *address = hdx_cell_member(o, "address");
        end = address->kind == HDX_CELL_NULL ? end_of_nulls(objects, i) : i + 1;
        put_place(p, i, end - 1, place);
        if (address->kind == HDX_CELL_ADDRESS)
            put_reference(p, o, address, object);
        else if (address->kind == HDX_CELL_NULL)
            hdx_buffer_text(&p->out, "null");
        else
            put_value(p, address, HDX_UNIT_NONE);
        hdx_buffer_text(&p->out, "\n");
        good = cli_flush(&p->out, p->sink);
    }
    return good;
}

static bool put_numbers(page *p, const hdx_cell *elements)
{
    const uint64_t n = elements->as.list.count;
    const uint32_t room = p->options->width == 0 ? ROOM : p->options->width;
    char           last[64];
    const uint32_t place = place_text(last, n, n);
    bool           good = true;
    for (uint64_t i = 0; good && i < n;) {
        uint32_t at = 4 + place + 2;
        put_place(p, i, i, place);
        for (uint64_t first = i; i < n; i++) {
            hdx_buffer_clear(&p->object);
            cli_put_value(&p->object, &elements->as.list.at[i], HDX_UNIT_NONE, p->options);
            const uint32_t width = p->object.len == 0 ? 0 : hdx_render_columns(p->object.at, p->object.len);
            if (i > first && at + 1 + width > room)
                break;
            hdx_buffer_text(&p->out, i > first ? " " : "");
            if (p->object.len > 0)
                hdx_buffer_put(&p->out, p->object.at, p->object.len);
            at += width + 1;
        }
        hdx_buffer_text(&p->out, "\n");
        good = cli_flush(&p->out, p->sink);
    }
    return good;
}

static bool put_elements(page *p)
{
    const hdx_cell *elements = cell(p, "elements"), *objects = cell(p, "element_objects"), *length = cell(p, "length");
    if (elements->kind != HDX_CELL_LIST)
        return true;
    bool good = objects->kind == HDX_CELL_LIST ? put_references(p, objects) : put_numbers(p, elements);
    if (good && length->kind == HDX_CELL_UINT && length->as.natural > elements->as.list.count) {
        const hdx_cell more = { .kind = HDX_CELL_UINT, .as.natural = length->as.natural - elements->as.list.count };
        hdx_buffer_text(&p->out, p->options->ascii ? "    ... " : "    … ");
        put_value(p, &more, HDX_UNIT_COUNT);
        hdx_buffer_text(&p->out, " more (--elements N)\n");
        good = cli_flush(&p->out, p->sink);
    }
    return good;
}

/* ---- parts ---- */

static bool put_rest(page *p, const hdx_cell *part)
{
    const hdx_cell *rest = hdx_cell_member(part, "rest");
    if (rest->kind == HDX_CELL_UINT && rest->as.natural == 0)
        return true;
    hdx_buffer_text(&p->out, p->options->ascii ? "    ... " : "    … ");
    put_value(p, rest, HDX_UNIT_COUNT);
    hdx_buffer_text(&p->out, rest->kind == HDX_CELL_UINT ? " more (--limit N)\n" : "more (--limit N)\n");
    return cli_flush(&p->out, p->sink);
}

static bool put_referring(page *p, const hdx_cell *rows)
{
    uint32_t       before = 4 + widest_name(p, rows) + 2;
    const uint32_t object = widest_object(p, rows, &before, 4 + NAME_LEAST + 2);
    bool           good = true;
    for (uint64_t i = 0; good && i < rows->as.list.count; i++) {
        const hdx_cell *row = &rows->as.list.at[i];
        good = put_line(p, row, hdx_cell_member(row, "address"), before, object);
    }
    return good;
}

/* Writes "      2.9 MB  1,234 byte[]" for each class. */
static bool put_classes(page *p, const hdx_cell *rows)
{
    bool good = true;
    for (uint64_t i = 0; good && i < rows->as.list.count; i++) {
        const hdx_cell *row = &rows->as.list.at[i], none = { .kind = HDX_CELL_NULL };
        hdx_buffer_clear(&p->fitted);
        cli_put_value(&p->fitted, hdx_cell_member(row, "retained"), HDX_UNIT_BYTES, p->options);
        hdx_buffer_text(&p->out, "    ");
        put_spaces(p, (uint32_t)p->fitted.len, SIZE);
        if (p->fitted.len > 0)
            hdx_buffer_put(&p->out, p->fitted.at, p->fitted.len);
        const uint64_t start = p->out.len;
        hdx_buffer_text(&p->out, "  ");
        put_value(p, hdx_cell_member(row, "objects"), HDX_UNIT_COUNT);
        hdx_buffer_text(&p->out, " ");
        const uint32_t after = (uint32_t)(p->out.len - start) + 4 + SIZE, width = p->options->width;
        (void)put_object(p, hdx_cell_member(row, "class"), &none,
                         width == 0 || p->options->full_text ? UINT32_MAX
                         : width > after                     ? width - after
                                                             : 0,
                         false);
        hdx_buffer_text(&p->out, "\n");
        good = cli_flush(&p->out, p->sink);
    }
    return good;
}

static bool put_path_part(page *p, const hdx_cell *path, hdx_error *err, hdx_code *code)
{
    const hdx_cell *steps = hdx_cell_member(path, "steps");
    const bool      any = steps->kind == HDX_CELL_LIST && steps->as.list.count > 0;
    hdx_buffer_text(&p->out, any ? "  path\n" : "  path\n    none: no GC root reaches it\n");
    if (!cli_flush(&p->out, p->sink))
        return false;
    *code = any ? cli_put_path(path, p->options, p->sink, err) : HDX_OK;
    return *code == HDX_OK;
}

/* Writes the parts of --with; false: the sink failed, or *code is an error. */
static bool put_parts(page *p, hdx_error *err, hdx_code *code)
{
    static const struct {
        const char *name, *title;
    } parts[] = { { "in", "referrers" }, { "out", "references" }, { "keeps", "keeps, by class" } };
    const hdx_cell *path = cell(p, "path");
    bool            good = path->kind != HDX_CELL_OBJECT || put_path_part(p, path, err, code);
    for (unsigned i = 0; good && i < 3; i++) {
        const hdx_cell *part = cell(p, parts[i].name), *rows = hdx_cell_member(part, "rows");
        if (rows->kind != HDX_CELL_LIST)
            continue;
        hdx_buffer_format(&p->out, "  %s\n%s", parts[i].title, rows->as.list.count == 0 ? "    none\n" : "");
        good = cli_flush(&p->out, p->sink) && (i == 2 ? put_classes(p, rows) : put_referring(p, rows)) &&
               put_rest(p, part);
    }
    return good;
}

/* ---- pages ---- */

static bool put_content(page *p)
{
    static const char *const lists[] = { "fields", "statics", "elements" };
    bool                     good = true;
    for (unsigned i = 0; good && i < 3; i++) {
        const hdx_cell *list = cell(p, lists[i]);
        if (list->kind == HDX_CELL_ABSENT) {
            hdx_buffer_format(&p->out, "  %s are not in the dump\n", lists[i]);
            good = cli_flush(&p->out, p->sink);
        } else if (list->kind == HDX_CELL_LIST) {
            good = i == 2 ? put_elements(p) : put_fields(p, list, i == 0 ? "from" : "static fields of");
        }
    }
    return good;
}

hdx_code cli_object_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    page     p = { .options = options, .sink = sink };
    bool     good = true;
    uint64_t n = 0;
    hdx_code code = HDX_OK;
    p.out = p.object = p.fitted = hdx_buffer_of(NULL);
    p.columns = hdx_rows_columns(rows, &p.count);
    for (; good && hdx_rows_next(rows, &p.row); n++) {
        hdx_buffer_text(&p.out, n > 0 ? "\n" : "");
        put_head(&p);
        good = cli_flush(&p.out, sink) && put_content(&p) && put_parts(&p, err, &code);
    }
    if (code != HDX_OK) /* of a part */
        good = true;
    else if (good)
        code = hdx_rows_end(rows, err);
    if (good && code == HDX_OK && n == 0) {
        cli_put_empty_reason(&p.out, rows);
        good = cli_flush(&p.out, sink);
    }
    code = cli_page_end(code, good, p.out.failed || p.object.failed || p.fitted.failed, err);
    hdx_buffer_free(&p.out);
    hdx_buffer_free(&p.object);
    hdx_buffer_free(&p.fitted);
    return code;
}
