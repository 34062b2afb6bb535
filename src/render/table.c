/*
 * table.c - rows as a table for people; the layout follows from the flags of the columns.
 *
 *     objects   shallow      %  class
 *       4,669    2.0 MB  74.9%  byte[]
 *       1,204   28.2 KB   1.0%  j.u.concurrent.ConcurrentHashMap$Node
 *      23,875    2.7 MB         total, 262 classes (2 shown)
 *
 * Numbers come before texts; the address is last. Class and label of an object are one column. A column without a value
 * in any row is omitted. If a row represents similar objects, their number is at the end of its line. Columns that the
 * caller selected (hdx_rows_select) are shown in the order of the selection.
 *
 * The first 1000 rows are buffered as text and determine the widths; later rows are written as they are read, in these
 * widths. If the table is wider than the terminal, columns are omitted (first those with HDX_COLUMN_SPARE, last the
 * percent), packages of class names are shortened and texts are cut. Numbers and addresses are never cut. The terminal
 * does not have to wrap a line as long as 16 columns remain for each text; only for that simple class names are cut.
 */
#include "render/out.h"
#include "rows/rows.h"

#include <limits.h>
#include <stdlib.h>

#define SAMPLE        1000u
#define LONGEST       160u /* greatest width of a text, also without a terminal; csv and json have the whole text */
#define LEAST         16u  /* a text column is not cut below this width */
#define LEAST_LABELED 20u  /* a column of objects with labels is not cut below this width */
#define OBJECT_ENOUGH 32u  /* columns of numbers are omitted until a column of objects has this width */
#define WIDE          100u /* terminals of at least this width have room for sentences */
#define GAP           2u
#define DEEPEST       40u  /* lines of a tree below this depth are not indented further */
#define BIG           10.0 /* rows of at least this percent are highlighted */
#define NONE          UINT_MAX

typedef struct shown { /* the text of a cell */
    const char       *at;
    uint32_t          len;
    bool              whole; /* a number or an address: never cut */
    hdx_render_object parts; /* name_len 0: a plain text, or a number */
} shown;

typedef struct drawn { /* a column of the table */
    unsigned    from;
    unsigned    label, depth, reference, times; /* other columns of the rows that it shows too; NONE: none */
    unsigned    others; /* size of similar objects, whose number is `from`; NONE: another column */
    const char *title;
    bool        number, object; /* right-aligned; a class name or an object */
    bool        has_value;      /* at least one row has a value */
    bool        hidden;
    uint32_t    width, least;
} drawn;

typedef struct layout {
    const hdx_render_options *options;
    const hdx_column         *columns; /* of the rows */
    drawn                    *at;
    unsigned                  count, percent, share; /* columns of the table; NONE: none */
    unsigned                  similar;               /* column of the rows: number of similar objects; NONE: none */
    unsigned                  similar_share;         /* column of the rows: percent of similar objects */
    unsigned                  first, last;           /* columns that are not hidden */
    double                    sum;                   /* sum of the share over the written rows */
    uint64_t                  others;                /* number of similar objects that the written rows represent */
    hdx_out                  *out;
    hdx_buffer                fitted;
} layout;

/* ---- which columns, in which order ---- */

static bool chosen(const hdx_column *c) { return (c->flags & HDX_COLUMN_CHOSEN) != 0; }

static unsigned find_flag(const hdx_column *columns, unsigned count, unsigned flag)
{
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & flag) != 0 && !chosen(&columns[i]))
            return i;
    return NONE;
}

static unsigned find_unit(const hdx_column *columns, unsigned count, unsigned flag, hdx_unit unit)
{
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & flag) != 0 && columns[i].unit == unit && !chosen(&columns[i]))
            return i;
    return NONE;
}

/* Shown as part of the object column, if there is one. */
static bool shown_with_object(const hdx_column *c)
{
    return !chosen(c) && (c->flags & (HDX_COLUMN_LABEL | HDX_COLUMN_DEPTH | HDX_COLUMN_REFERENCE | HDX_COLUMN_TIMES));
}

/* Order of columns: numbers, texts, the object, other addresses, the object's address, similar objects. */
enum { NUMBERS, TEXTS, OBJECT, ADDRESSES, ADDRESS, OTHERS, RANKS };

static unsigned rank(const hdx_column *c, bool is_object)
{
    if (!chosen(c) && (c->flags & HDX_COLUMN_SIMILAR) != 0)
        return OTHERS;
    if (chosen(c) || c->unit != HDX_UNIT_NONE)
        return NUMBERS;
    if (c->type == HDX_TYPE_ADDRESS)
        return strcmp(c->name, "address") == 0 ? ADDRESS : ADDRESSES;
    return is_object ? OBJECT : TEXTS;
}

static void choose_columns(layout *l, unsigned all)
{
    const unsigned class_name = find_flag(l->columns, all, HDX_COLUMN_CLASS_NAME),
                   label = find_flag(l->columns, all, HDX_COLUMN_LABEL);
    l->percent = l->share = NONE;
    l->similar = find_unit(l->columns, all, HDX_COLUMN_SIMILAR, HDX_UNIT_COUNT);
    l->similar_share = find_unit(l->columns, all, HDX_COLUMN_SIMILAR, HDX_UNIT_PERCENT);
    for (unsigned wanted = 0; wanted < RANKS; wanted++)
        for (unsigned i = 0; i < all; i++) {
            const hdx_column *c = &l->columns[i];
            const bool        pair = i == class_name && label != NONE;
            if ((c->flags & HDX_COLUMN_WIDE) != 0 || (class_name != NONE && shown_with_object(c)) ||
                rank(c, pair) != wanted || (wanted == OTHERS && i != l->similar))
                continue;
            const bool percent = c->unit == HDX_UNIT_PERCENT && strcmp(c->name, "percent") == 0;
            if (percent)
                l->percent = l->count;
            if ((c->flags & HDX_COLUMN_SHARE) != 0 && wanted != OTHERS)
                l->share = l->count;
            l->at[l->count++] =
                (drawn){ .from = i,
                         .label = pair ? label : NONE,
                         .depth = pair ? find_flag(l->columns, all, HDX_COLUMN_DEPTH) : NONE,
                         .reference = pair ? find_flag(l->columns, all, HDX_COLUMN_REFERENCE) : NONE,
                         .times = pair ? find_flag(l->columns, all, HDX_COLUMN_TIMES) : NONE,
                         .others =
                             wanted == OTHERS ? find_unit(l->columns, all, HDX_COLUMN_SIMILAR, HDX_UNIT_BYTES) : NONE,
                         .title = wanted == OTHERS        ? ""
                                  : pair                  ? "object"
                                  : percent && !chosen(c) ? "%"
                                                          : c->name,
                         .number = c->unit != HDX_UNIT_NONE && wanted != OTHERS,
                         .object = (c->flags & HDX_COLUMN_CLASS_NAME) != 0,
                         .has_value = (c->flags & HDX_COLUMN_NULLABLE) == 0 || chosen(c) };
        }
}

/* ---- one line ---- */

static void put_spaces(hdx_out *out, uint32_t n)
{
    for (; n > 0; n--)
        hdx_out_byte(out, ' ');
}

/* Writes the text of a cell, cut to the width of its column if it is too long. Returns the width. */
static uint32_t put_text(layout *l, const drawn *d, shown s)
{
    const bool bounded = l->options->width != 0 || d->width == LONGEST;
    if (s.parts.width <= d->width || d->number || s.whole || !bounded || l->options->full_text) {
        hdx_out_bytes(l->out, s.at, s.len);
        return s.parts.width;
    }
    hdx_buffer_clear(&l->fitted);
    const uint32_t width = s.parts.name_len == 0
                               ? hdx_render_cut(&l->fitted, s.at, s.len, d->width, l->options->ascii)
                               : hdx_render_object_cut(&l->fitted, s.at, s.len, s.parts, d->width, l->options->ascii);
    if (l->fitted.len > 0)
        hdx_out_bytes(l->out, l->fitted.at, l->fitted.len);
    return width;
}

/* `last`: the last column with text in this line, which needs no padding. */
static void put_aligned(layout *l, unsigned column, unsigned last, shown s, const char *color)
{
    const drawn *d = &l->at[column];
    if (column > l->first)
        put_spaces(l->out, GAP);
    if (d->number)
        put_spaces(l->out, s.parts.width < d->width ? d->width - s.parts.width : 0);
    if (color != NULL)
        hdx_out_string(l->out, color);
    const uint32_t width = put_text(l, d, s);
    if (color != NULL)
        hdx_out_string(l->out, "\x1b[0m");
    if (!d->number && column < last && width < d->width)
        put_spaces(l->out, d->width - width);
}

static void put_header(layout *l)
{
    unsigned last = l->last;
    while (last > l->first && (l->at[last].hidden || *l->at[last].title == '\0'))
        last--;
    for (unsigned i = l->first; i <= last; i++) {
        const uint32_t len = (uint32_t)strlen(l->at[i].title);
        if (!l->at[i].hidden)
            put_aligned(l, i, last, (shown){ .at = l->at[i].title, .len = len, .parts.width = len },
                        l->options->color ? "\x1b[1m" : NULL);
    }
    hdx_out_byte(l->out, '\n');
}

static double percent_of(const hdx_cell *c) { return c->kind == HDX_CELL_REAL ? c->as.real : 0; }

/* `percents`: the percent that decides whether the row is highlighted, and its share for the sum. */
static void put_line(layout *l, const shown *cells, const double percents[2])
{
    const bool big = l->percent != NONE && percents[0] >= BIG;
    unsigned   last = l->last;
    while (last > l->first && (l->at[last].hidden || cells[last].len == 0))
        last--;
    for (unsigned i = l->first; i <= last; i++) {
        const char *color = NULL;
        if (l->at[i].hidden)
            continue;
        if (l->options->color && rank(&l->columns[l->at[i].from], false) >= ADDRESSES)
            color = "\x1b[2m";
        else if (l->options->color && big && l->at[i].number && (i == l->percent || i + 1 == l->percent))
            color = "\x1b[1;33m";
        put_aligned(l, i, last, cells[i], color);
    }
    hdx_out_byte(l->out, '\n');
    l->sum += percents[1];
}

/* ---- widths ---- */

/* The column to omit next: a spare one or another. The others then need a different least width to keep it. */
typedef enum worth { SPARE_ONE, ANOTHER } worth;

/*
 * A spare column is omitted before a text is cut below OBJECT_ENOUGH columns. Any other column of numbers is kept as
 * long as an object column has OBJECT_ENOUGH columns, even if class names have to be cut.
 */
static uint32_t narrow_width(const layout *l, const drawn *d, worth than)
{
    const uint32_t enough = d->width < OBJECT_ENOUGH ? d->width : OBJECT_ENOUGH;
    const bool     text = !d->number && l->columns[d->from].type != HDX_TYPE_ADDRESS && d->others == NONE;
    if (than == ANOTHER)
        return d->object ? enough : d->least;
    return text && d->least < enough ? enough : d->least;
}

static uint64_t whole_width(const layout *l)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < l->count; i++)
        if (!l->at[i].hidden)
            total += l->at[i].width + (total > 0 ? GAP : 0);
    return total;
}

static uint64_t least_width(const layout *l, worth than)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < l->count; i++)
        if (!l->at[i].hidden)
            total += narrow_width(l, &l->at[i], than) + (total > 0 ? GAP : 0);
    return total;
}

/*
 * Returns the column that a narrow table omits next: spare columns from the last to the first, then counts, similar
 * objects, sizes except one, and the percent.
 */
static unsigned next_to_omit(const layout *l, worth *is)
{
    unsigned numbers = 0, spare = NONE, others = NONE, count = NONE, size = NONE, percent = NONE;
    for (unsigned i = l->count; i-- > 0;) {
        const hdx_column *c = &l->columns[l->at[i].from];
        if (l->at[i].hidden || chosen(c))
            continue;
        if (i == l->percent) {
            percent = i;
            continue;
        }
        numbers += l->at[i].number;
        if (l->at[i].others != NONE)
            others = i;
        else if (spare == NONE && (c->flags & HDX_COLUMN_SPARE) != 0)
            spare = i;
        if (count == NONE && l->at[i].number && c->unit != HDX_UNIT_BYTES)
            count = i;
        if (l->at[i].number && c->unit == HDX_UNIT_BYTES)
            size = i;
    }
    const unsigned number = numbers < 2 ? NONE : count != NONE || others != NONE ? count : size;
    *is = spare != NONE ? SPARE_ONE : ANOTHER;
    return spare != NONE ? spare : number != NONE ? number : others != NONE || numbers == 0 ? others : percent;
}

/* Narrows the widest column until the table fits, but no column below its `least`. */
static void narrow(layout *l, uint32_t (*least)(const drawn *d))
{
    for (uint64_t total = whole_width(l); total > l->options->width; total--) {
        unsigned widest = NONE;
        for (unsigned i = 0; i < l->count; i++)
            if (!l->at[i].hidden && l->at[i].width > least(&l->at[i]) &&
                (widest == NONE || l->at[i].width > l->at[widest].width))
                widest = i;
        if (widest == NONE)
            return;
        l->at[widest].width--;
    }
}

static uint32_t least_of(const drawn *d) { return d->least; }

/* The least width if class names may be cut; a label needs some columns as well. */
static uint32_t least_cut(const drawn *d)
{
    const uint32_t least = d->label == NONE ? LEAST : LEAST_LABELED;
    return d->object && d->least > least ? least : d->least;
}

/* Fits the columns to the terminal and appends the names of omitted columns to `omitted`. */
static void fit(layout *l, hdx_buffer *omitted)
{
    uint64_t cut = 0;
    if (l->options->width == 0)
        return;
    worth is;
    for (unsigned i; (i = next_to_omit(l, &is)) != NONE && least_width(l, is) > l->options->width;) {
        hdx_buffer_format(omitted, "%s%s", omitted->len > 0 ? ", " : "", l->columns[l->at[i].from].name);
        l->at[i].hidden = true;
    }
    narrow(l, least_of);
    for (unsigned i = 0; i < l->count; i++)
        if (!l->at[i].hidden)
            cut += least_cut(&l->at[i]) + (cut > 0 ? GAP : 0);
    if (cut <= l->options->width) /* otherwise the terminal wraps anyway and names remain whole */
        narrow(l, least_cut);
}

/* ---- rows as text ---- */

static const hdx_cell *optional_cell(const hdx_cell *row, unsigned column)
{
    return column == NONE ? NULL : &row[column];
}

/* Writes "  └ " before lines of a tree below the root, then the object, " .next" and " (17 objects)". */
static hdx_render_object put_object(const layout *l, const drawn *d, const hdx_cell *row, hdx_buffer *text)
{
    const hdx_cell *depth = optional_cell(row, d->depth), *times = optional_cell(row, d->times);
    const uint64_t  start = text->len;
    uint32_t        width = 0;
    if (d->label == NONE && row[d->from].kind == HDX_CELL_NULL) /* no object in this row: no class name, not "?" */
        return (hdx_render_object){ 0, 0, hdx_render_cell(text, &row[d->from], HDX_UNIT_NONE, l->options) };
    if (depth != NULL && depth->kind == HDX_CELL_UINT && depth->as.natural > 0) {
        width = depth->as.natural < DEEPEST ? (uint32_t)depth->as.natural : DEEPEST;
        hdx_buffer_format(text, "%*s%s", (int)(2 * width - 2), "", l->options->ascii ? "- " : "└ ");
        width *= 2;
    }
    const uint32_t before = (uint32_t)(text->len - start);
    const bool     phrase =
        d->label != NONE && ((l->columns[d->label].flags & HDX_COLUMN_PHRASE) != 0 ||
                             (row[d->from].kind == HDX_CELL_NULL && row[d->label].kind == HDX_CELL_TEXT));
    hdx_render_object o = phrase
                              ? hdx_render_phrase_text(text, &row[d->from], &row[d->label], l->options)
                              : hdx_render_object_text(text, &row[d->from], optional_cell(row, d->label), l->options);
    o.name_at += before;
    o.width += width + hdx_render_reference(text, optional_cell(row, d->reference), l->options);
    const bool objects = row[d->from].kind != HDX_CELL_NULL;
    if (objects && times != NULL && times->kind == HDX_CELL_UINT && times->as.natural > 1) {
        const hdx_render_options counts = { .human_sizes = true };
        const uint64_t           end = text->len;
        hdx_buffer_text(text, " (");
        (void)hdx_render_cell(text, times, HDX_UNIT_COUNT, &counts);
        hdx_buffer_text(text, " objects)");
        o.width += (uint32_t)(text->len - end);
    }
    return o;
}

/* Writes "(and 8 similar: 22.9 MB)", on a narrow terminal "(+ 8: 22.9 MB)". Returns the width. */
static uint32_t put_others(const layout *l, const drawn *d, const hdx_cell *row, hdx_buffer *text)
{
    const hdx_render_options counts = { .human_sizes = true };
    const uint64_t           start = text->len;
    if (row[d->from].kind != HDX_CELL_UINT)
        return 0;
    const bool narrow_terminal = l->options->width != 0 && l->options->width < WIDE;
    hdx_buffer_text(text, narrow_terminal ? "(+ " : "(and ");
    (void)hdx_render_cell(text, &row[d->from], HDX_UNIT_COUNT, &counts);
    hdx_buffer_text(text, narrow_terminal ? ": " : " similar: ");
    (void)hdx_render_cell(text, &row[d->others], HDX_UNIT_BYTES, l->options);
    hdx_buffer_text(text, ")");
    return (uint32_t)(text->len - start);
}

static bool is_whole(const hdx_cell *c)
{
    return c->kind == HDX_CELL_ADDRESS || c->kind == HDX_CELL_UINT || c->kind == HDX_CELL_INT ||
           c->kind == HDX_CELL_REAL;
}

/* Appends the texts of a row to `text`. place_row sets the pointers of the cells later, when `text` no longer moves. */
static void show_row(layout *l, const hdx_cell *row, hdx_buffer *text, shown *cells, double percents[2])
{
    for (unsigned i = 0; i < l->count; i++) {
        const drawn      *d = &l->at[i];
        const hdx_column *column = &l->columns[d->from];
        const uint64_t    start = text->len;
        cells[i].whole = is_whole(&row[d->from]);
        if (d->object)
            cells[i].parts = put_object(l, d, row, text);
        else if (d->others != NONE)
            cells[i].parts.width = put_others(l, d, row, text);
        else
            cells[i].parts =
                (hdx_render_object){ 0, 0, hdx_render_cell(text, &row[d->from], column->unit, l->options) };
        cells[i].len = (uint32_t)(text->len - start);
    }
    percents[0] = l->percent == NONE ? 0 : percent_of(&row[l->at[l->percent].from]);
    percents[1] = l->share == NONE ? 0 : percent_of(&row[l->at[l->share].from]);
    if (l->similar_share != NONE)
        percents[1] += percent_of(&row[l->similar_share]);
    if (l->similar != NONE && row[l->similar].kind == HDX_CELL_UINT)
        l->others += row[l->similar].as.natural;
}

static void place_row(const layout *l, const char **at, shown *cells)
{
    for (unsigned i = 0; i < l->count; i++) {
        cells[i].at = *at == NULL ? "" : *at;
        *at = *at == NULL ? NULL : *at + cells[i].len;
    }
}

/* ---- the sample: rows that determine the widths ---- */

typedef struct sample {
    shown *cells; /* row after row */
    double (*percents)[2];
    uint64_t count;
} sample;

static hdx_code read_sample(layout *l, hdx_rows *rows, const hdx_cell **row, sample *s, hdx_buffer *text,
                            hdx_error *err)
{
    bool more = *row != NULL;
    for (; more && s->count < SAMPLE; s->count++) {
        shown *line = s->cells + s->count * l->count;
        show_row(l, *row, text, line, s->percents[s->count]);
        for (unsigned i = 0; i < l->count; i++)
            l->at[i].has_value = l->at[i].has_value || (*row)[l->at[i].from].kind != HDX_CELL_NULL;
        more = hdx_rows_next(rows, row);
    }
    if (!more)
        *row = NULL;
    const hdx_code code = more ? HDX_OK : hdx_rows_end(rows, err);
    if (text->failed)
        return hdx_no_memory(err, "a table", text->len);
    const char *at = text->at;
    for (uint64_t i = 0; i < s->count; i++)
        place_row(l, &at, s->cells + i * l->count);
    return code;
}

/* Hides columns without a value and makes the others as wide as their widest cell. */
static void measure(layout *l, const sample *s)
{
    for (unsigned i = 0; i < l->count; i++) {
        drawn     *d = &l->at[i];
        const bool text = !d->number && l->columns[d->from].type != HDX_TYPE_ADDRESS;
        d->hidden = s->count > 0 && !d->has_value;
        d->width = d->least = (uint32_t)strlen(d->title);
        for (uint64_t k = 0; k < s->count; k++) {
            const shown *c = &s->cells[k * l->count + i];
            if (c->parts.width > d->width)
                d->width = c->parts.width > LONGEST && text ? LONGEST : c->parts.width;
            const uint32_t least = d->object  ? hdx_render_object_least(c->at, c->len, c->parts)
                                   : c->whole ? c->parts.width
                                              : 0;
            if (least > d->least)
                d->least = least < LONGEST ? least : LONGEST;
        }
        if (!text)
            d->least = d->width;
        else if (!d->object && d->least < LEAST)
            d->least = d->width < LEAST ? d->width : LEAST;
    }
}

/* ---- lines below the rows ---- */

/* Returns the total of a column; name NULL: of any column. A retained set names the sum of shallow sizes "bytes". */
static const hdx_cell *total_of(const hdx_rows *rows, const char *name)
{
    const hdx_member *extra;
    for (unsigned i = 0; (extra = hdx_rows_extra(rows, i))->key != NULL; i++)
        if (strcmp(extra->key, "total") == 0 && extra->value.kind == HDX_CELL_OBJECT)
            for (uint64_t k = 0; k < extra->value.as.object.count; k++) {
                const hdx_member *m = &extra->value.as.object.at[k];
                if (name == NULL || strcmp(m->key, name) == 0 ||
                    (strcmp(m->key, "bytes") == 0 && strcmp(name, "shallow") == 0))
                    return &m->value;
            }
    return NULL;
}

/* Writes a note from column `at` on. If it does not fit, its end in parentheses goes to a line of its own. */
static void put_note(layout *l, uint64_t at, const char *text)
{
    const char *last = strstr(text, " (");
    if (l->options->width == 0 || last == NULL || at + hdx_render_columns(text, strlen(text)) <= l->options->width) {
        hdx_out_string(l->out, text);
        return;
    }
    hdx_out_bytes(l->out, text, (size_t)(last - text));
    hdx_out_byte(l->out, '\n');
    hdx_out_string(l->out, last + 1);
}

/* Writes "(no room for children, shallow)", on several lines if necessary. */
static void put_omitted(layout *l, const char *names)
{
    uint64_t at = strlen("(no room for");
    hdx_out_string(l->out, "(no room for");
    for (const char *name = names; *name != '\0';) {
        size_t         n = strcspn(name, ",");
        const uint64_t columns =
            2 + hdx_render_columns(name, n); /* plus a blank before and a comma or parenthesis after */
        const bool next = l->options->width != 0 && at + columns > l->options->width;
        hdx_out_byte(l->out, next ? '\n' : ' ');
        at = columns + (next ? 0 : at);
        n += name[n] == ',';
        hdx_out_bytes(l->out, name, n);
        name += n + (name[n] == ' ');
    }
    hdx_out_string(l->out, ")\n");
}

/* Writes the totals of all rows under their columns; returns false if no total is known. */
static bool put_total(layout *l, const hdx_rows *rows, const char *text)
{
    bool     any = false;
    uint64_t at = 0;
    for (unsigned i = l->first; i <= l->last; i++)
        any = any || (!l->at[i].hidden && l->at[i].number && total_of(rows, l->columns[l->at[i].from].name) != NULL);
    if (!any || hdx_rows_filtered(rows))
        return false;
    for (unsigned i = l->first; i <= l->last; i++) {
        const hdx_column *c = &l->columns[l->at[i].from];
        const hdx_cell   *sum = l->at[i].number ? total_of(rows, c->name) : NULL;
        hdx_buffer        cell = hdx_buffer_of(NULL);
        if (l->at[i].hidden)
            continue;
        at += i > l->first ? GAP : 0;
        if (!l->at[i].number) {
            put_spaces(l->out, i > l->first ? GAP : 0);
            break;
        }
        at += l->at[i].width;
        shown s = { .at = "" };
        if (sum != NULL)
            s.parts.width = hdx_render_cell(&cell, sum, c->unit, l->options);
        if (cell.len > 0)
            s.at = cell.at;
        s.len = (uint32_t)cell.len;
        put_aligned(l, i, l->last, s, NULL);
        hdx_buffer_free(&cell);
    }
    put_note(l, at, text);
    return true;
}

/* Writes "total, 262 classes (5 shown; --limit 0 shows all)", or "3,306 more rows (those shown: 98.1%)". */
static hdx_code put_end(layout *l, hdx_rows *rows, uint64_t count, const hdx_buffer *omitted, hdx_error *err)
{
    static const char *const dots[] = { "… ", "... " };
    const hdx_render_options counts = { .human_sizes = l->options->human_sizes };
    hdx_buffer               text = hdx_buffer_of(NULL), about = hdx_buffer_of(NULL);
    hdx_rows_cut             behind;
    const bool               cut = hdx_rows_cut_off(rows, &behind);
    const uint64_t           more = l->similar == NONE ? behind.rows : behind.objects;
    const hdx_cell           all = { .kind = HDX_CELL_UINT, .as.natural = behind.before + count + more };
    const hdx_cell           rest = { .kind = HDX_CELL_UINT, .as.natural = more };
    const char              *what = l->columns[l->at[l->first].from].name;
    bool                     named = false;
    for (unsigned i = l->first; i <= l->last; i++) /* the object, or the first column that is not a number */
        if (!l->at[i].hidden && !l->at[i].number && (!named || l->at[i].label != NONE)) {
            what = l->at[i].title;
            named = true;
        }
    if (!cut && omitted->len == 0 && (hdx_rows_filtered(rows) || total_of(rows, NULL) == NULL))
        return HDX_OK;
    if (l->options->color)
        hdx_out_string(l->out, "\x1b[2m");
    hdx_buffer_text(&text, "total, ");
    (void)hdx_render_cell(&text, &all, HDX_UNIT_COUNT, &counts);
    if (what[strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_ ")] != '\0') /* an SQL expression */
        what = "row";
    const size_t name =
        strlen(what) > 5 && strcmp(what + strlen(what) - 5, "_name") == 0 ? strlen(what) - 5 : strlen(what);
    hdx_buffer_format(&text, " %.*s%s", (int)name, what, all.as.natural == 1 ? "" : what[name - 1] == 's' ? "es" : "s");
    if (behind.before + more > 0)
        hdx_buffer_format(&text, " (%llu shown%s%s)", (unsigned long long)count, l->options->rest != NULL ? "; " : "",
                          l->options->rest != NULL ? l->options->rest : "");
    if (text.len > 0 && (!cut || more > 0) && put_total(l, rows, text.at)) {
        hdx_out_byte(l->out, '\n');
    } else if (cut) {
        hdx_buffer_text(&about, dots[l->options->ascii]);
        if (more > 0)
            (void)hdx_render_cell(&about, &rest, HDX_UNIT_COUNT, &counts);
        hdx_buffer_format(&about, "%smore %s%s", more > 0 ? " " : "", l->similar == NONE ? "row" : "object",
                          more == 1 ? "" : "s");
        const bool share = l->share != NONE && !l->at[l->share].hidden && l->sum < 100.5;
        if (share || l->options->rest != NULL)
            hdx_buffer_text(&about, " (");
        if (share)
            hdx_buffer_format(&about, "those shown: %.1f%%%s", l->sum, l->options->rest != NULL ? "; " : "");
        hdx_buffer_text(&about, l->options->rest != NULL ? l->options->rest : "");
        hdx_buffer_text(&about, share || l->options->rest != NULL ? ")" : "");
        if (!about.failed)
            put_note(l, 0, about.at);
        hdx_out_byte(l->out, '\n');
    }
    if (omitted->len > 0 && !omitted->failed)
        put_omitted(l, omitted->at);
    if (l->options->color)
        hdx_out_string(l->out, "\x1b[0m");
    const bool failed = text.failed || about.failed;
    hdx_buffer_free(&text);
    hdx_buffer_free(&about);
    return failed ? hdx_no_memory(err, "a table", 0) : HDX_OK;
}

static void put_empty(hdx_rows *rows, hdx_out *out)
{
    const char *why = hdx_rows_empty_reason(rows);
    hdx_out_byte(out, '(');
    hdx_out_string(out, why != NULL ? why : "no rows");
    hdx_out_string(out, ")\n");
}

/* Writes a title of one or more lines. */
static void put_title(hdx_out *out, const char *title, hdx_buffer *text, bool ascii)
{
    const char *line = title;
    for (size_t len; line != NULL && *line != '\0'; line += len + (line[len] == '\n')) {
        len = strcspn(line, "\n");
        hdx_buffer_clear(text);
        if (hdx_render_text(text, line, len, ascii) > 0 && !text->failed)
            hdx_out_bytes(out, text->at, text->len);
        hdx_out_string(out, "\n");
    }
    if (line != title)
        hdx_out_string(out, "\n");
    hdx_buffer_clear(text);
}

/* ---- the table ---- */

static hdx_code put_rows(layout *l, hdx_rows *rows, const hdx_cell *row, sample *s, hdx_buffer *text, hdx_error *err)
{
    hdx_buffer   omitted = hdx_buffer_of(NULL);
    uint64_t     count = 0;
    double       percents[2];
    hdx_rows_cut cut;
    hdx_code     code = read_sample(l, rows, &row, s, text, err);
    if (code != HDX_OK)
        return code;
    measure(l, s);
    fit(l, &omitted);
    l->first = 0;
    l->last = l->count - 1;
    while (l->first < l->last && l->at[l->first].hidden)
        l->first++;
    while (l->last > l->first && l->at[l->last].hidden)
        l->last--;
    put_header(l);
    for (; count < s->count; count++)
        put_line(l, s->cells + count * l->count, s->percents[count]);
    for (bool more = row != NULL; more && !text->failed && !l->out->failed; more = hdx_rows_next(rows, &row), count++) {
        hdx_buffer_clear(text);
        show_row(l, row, text, s->cells, percents);
        const char *at = text->at;
        place_row(l, &at, s->cells);
        put_line(l, s->cells, percents);
    }
    if ((code = hdx_rows_end(rows, err)) == HDX_OK && (text->failed || omitted.failed || l->fitted.failed))
        code = hdx_no_memory(err, "a table", text->len);
    if (code == HDX_OK && count == 0)
        put_empty(rows, l->out);
    if (code == HDX_OK && (count > 0 || hdx_rows_cut_off(rows, &cut)))
        code = put_end(l, rows, count, &omitted, err);
    hdx_buffer_free(&omitted);
    return code;
}

hdx_code hdx_render_table(hdx_rows *rows, const hdx_cell *first, const hdx_render_options *options, hdx_out *out,
                          hdx_error *err)
{
    unsigned   all;
    layout     l = { .options = options, .columns = hdx_rows_columns(rows, &all), .out = out };
    hdx_arena  arena = hdx_arena_of(NULL);
    hdx_buffer text = hdx_buffer_of(NULL);
    sample     s = { 0 };
    hdx_code   code = HDX_OK;
    l.fitted = hdx_buffer_of(NULL);
    l.at = hdx_arena_get(&arena, all * sizeof *l.at);
    if (l.at != NULL)
        choose_columns(&l, all);
    s.cells = hdx_arena_get(&arena, (uint64_t)SAMPLE * l.count * sizeof *s.cells);
    s.percents = hdx_arena_get(&arena, SAMPLE * sizeof *s.percents);
    if (l.at == NULL || s.cells == NULL || s.percents == NULL) {
        code = hdx_no_memory(err, "a table", (uint64_t)SAMPLE * l.count * sizeof *s.cells);
        goto done;
    }
    put_title(out, hdx_rows_title(rows), &text, options->ascii);
    code = put_rows(&l, rows, first, &s, &text, err);
done:
    hdx_buffer_free(&l.fitted);
    hdx_buffer_free(&text);
    hdx_arena_free(&arena);
    return code;
}
