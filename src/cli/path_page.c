/*
 * path_page.c - paths to GC roots as pages: one line per step, from the root to the object.
 *
 *     GC root: thread
 *         224 B  Thread "clerk" <Java Local>                0xfed5a340
 *                in bookshop.Bookshop.serve (Bookshop.java:120)
 *        5.3 MB  acme.coll.P3$Node .next   (x 99,998)       0xf1ef7e08
 *        1.9 MB  bookshop.Bookshop$SessionCache             0xfeb18ea8
 *
 * A chain, which is a series of steps with the same class and reference, is one line with their number and the address
 * and size of the first. Rows that --columns, --sort or --where shape are shown as a table instead.
 *
 * In:  the rows of `path`, and their extra "paths", which has the roots.
 */
#include "cli/cli.h"

#define CHAIN  3u   /* least number of steps that become one line */
#define WIDEST 160u /* greatest width that the alignment of addresses considers */

typedef struct step {
    uint64_t          text, reference; /* offsets in `texts` */
    uint32_t          text_len, reference_len;
    hdx_render_object object;
    uint64_t          count; /* steps of the chain that begins here; 0: within a chain */
    hdx_cell          retained, address;
} step;

typedef struct page {
    const hdx_render_options *options;
    const hdx_sink           *sink;
    const hdx_cell           *paths;     /* the extra "paths"; NULL: none */
    const hdx_cell           *frame;     /* the method whose local variable is the second step; NULL or null: none */
    uint64_t                  looked_at; /* number of `paths` that were read */
    uint64_t                  number;
    hdx_buffer                texts, line;
    step                     *steps;
    uint64_t                  count, capacity;
    uint64_t                  next; /* number of the next step, unless steps are omitted */
} page;

enum { PATH, STEP, ADDRESS, CLASS, LABEL, REFERENCE, SHALLOW, RETAINED };

/* ---- the line of the root ---- */

/* Returns the next path with steps. Paths of unreachable objects have none, and no rows. */
static const hdx_cell *next_path(page *p)
{
    while (p->paths != NULL && p->looked_at < p->paths->as.list.count) {
        const hdx_cell *path = &p->paths->as.list.at[p->looked_at++], *steps = hdx_cell_member(path, "steps");
        if (steps->kind == HDX_CELL_LIST && steps->as.list.count > 0)
            return path;
    }
    return NULL;
}

static void put_root(page *p, const hdx_cell *path)
{
    p->frame = NULL;
    if (path == NULL)
        return;
    const hdx_cell *root = hdx_cell_member(path, "root"), *types = hdx_cell_member(root, "types"),
                   *steps = hdx_cell_member(path, "steps");
    if (steps->kind == HDX_CELL_LIST && steps->as.list.count > 0)
        p->frame = hdx_cell_member(hdx_cell_member(&steps->as.list.at[0], "reference"), "frame");
    hdx_buffer_text(&p->line, p->options->color ? "\x1b[1mGC root:\x1b[0m " : "GC root: ");
    for (uint64_t i = 0; types->kind == HDX_CELL_LIST && i < types->as.list.count; i++) {
        const hdx_text type = types->as.list.at[i].as.text;
        const char    *words = hdx_root_type_words(type.at, type.len);
        hdx_buffer_text(&p->line, i > 0 ? ", " : "");
        if (words != NULL)
            hdx_buffer_text(&p->line, words);
        else
            cli_put_plain(&p->line, type.at, type.len);
    }
    hdx_buffer_text(&p->line, "\n");
}

/* ---- steps ---- */

static bool same(hdx_text a, const char *at, uint32_t len) { return a.len == len && memcmp(a.at, at, len) == 0; }

/* Returns whether the class and reference of a row without a label are those of the step before. */
static bool repeats_step(const page *p, const hdx_cell *row)
{
    if (p->count == 0 || row[CLASS].kind != HDX_CELL_TEXT || row[LABEL].kind != HDX_CELL_NULL ||
        row[REFERENCE].kind != HDX_CELL_TEXT)
        return false;
    const step *s = &p->steps[p->count - 1];
    return s->text_len == s->object.name_len && same(row[CLASS].as.text, p->texts.at + s->text, s->text_len) &&
           same(row[REFERENCE].as.text, p->texts.at + s->reference, s->reference_len);
}

static hdx_code add_step(page *p, const hdx_cell *row, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&p->steps, &p->capacity, p->count, sizeof *p->steps))
        return hdx_no_memory(err, "a path", p->count * sizeof *p->steps);
    const bool more = repeats_step(p, row);
    step      *s = &p->steps[p->count++];
    p->next = row[STEP].as.natural + 1;
    *s = (step){ .count = 1, .retained = row[RETAINED], .address = row[ADDRESS] };
    s->text = p->texts.len;
    if (more) { /* shares the texts of the step before */
        const step *before = s - 1;
        s->text = before->text;
        s->reference = before->reference;
        s->text_len = before->text_len;
        s->reference_len = before->reference_len;
        s->object = before->object;
        return HDX_OK;
    }
    s->object = hdx_render_object_text(&p->texts, &row[CLASS], &row[LABEL], p->options);
    s->text_len = (uint32_t)(p->texts.len - s->text);
    s->reference = p->texts.len;
    if (row[REFERENCE].kind == HDX_CELL_TEXT)
        (void)hdx_render_text(&p->texts, row[REFERENCE].as.text.at, row[REFERENCE].as.text.len, p->options->ascii);
    s->reference_len = (uint32_t)(p->texts.len - s->reference);
    return p->texts.failed ? hdx_no_memory(err, "a path", p->texts.len) : HDX_OK;
}

/* Adds a line for omitted steps: the library returns only both ends of a long path. */
static hdx_code add_gap(page *p, uint64_t steps, hdx_error *err)
{
    if (!hdx_mem_room(NULL, (void **)&p->steps, &p->capacity, p->count, sizeof *p->steps))
        return hdx_no_memory(err, "a path", p->count * sizeof *p->steps);
    step *s = &p->steps[p->count++];
    *s = (step){ .count = 1, .text = p->texts.len };
    hdx_buffer_format(&p->texts, "(%llu more step%s)", (unsigned long long)steps, steps == 1 ? "" : "s");
    s->reference = p->texts.len;
    s->text_len = s->object.width = (uint32_t)(p->texts.len - s->text);
    return HDX_OK;
}

static void fold_chains(page *p)
{
    for (uint64_t i = 0, end; i < p->count; i = end) {
        for (end = i + 1; end < p->count && p->steps[end].text == p->steps[i].text &&
                          p->steps[end].reference == p->steps[i].reference && p->steps[end].text_len > 0;)
            end++;
        if (end - i < CHAIN)
            continue;
        p->steps[i].count = end - i;
        for (uint64_t k = i + 1; k < end; k++)
            p->steps[k].count = 0;
    }
}

/* Writes " .next   (x 99,998)" after the object. */
static uint32_t put_after(const page *p, const step *s, hdx_buffer *to)
{
    const uint64_t start = to->len;
    const char    *name = p->texts.at + s->reference;
    if (s->reference_len > 0)
        hdx_buffer_text(to, *name == '[' || *name == '<' ? " " : " .");
    hdx_buffer_put(to, name, s->reference_len);
    if (s->count > 1) {
        const hdx_cell           n = { .kind = HDX_CELL_UINT, .as.natural = s->count };
        const hdx_render_options counts = { .human_sizes = true };
        hdx_buffer_text(to, "   (x ");
        (void)hdx_render_cell(to, &n, HDX_UNIT_COUNT, &counts);
        hdx_buffer_text(to, ")");
    }
    return to->len == start ? 0 : hdx_render_columns(to->at + start, to->len - start);
}

#define SIZE      10u /* width of a size and two blanks */
#define GAP       2u
#define CUT_LEAST 24u /* least width of an object whose class name is cut */

/* Writes, below a thread, the method whose local variable holds the object of the next line. */
static void put_frame(page *p, hdx_buffer *text)
{
    if (p->frame == NULL || p->frame->kind != HDX_CELL_TEXT)
        return;
    hdx_buffer_clear(text);
    hdx_buffer_text(text, "in ");
    cli_put_plain(text, p->frame->as.text.at, p->frame->as.text.len);
    if (!text->failed)
        cli_put_paragraph(&p->line, text->at, text->len, "            ", p->options->width); /* SIZE + GAP */
}

static bool put_steps(page *p)
{
    hdx_buffer after = hdx_buffer_of(NULL), cell = hdx_buffer_of(NULL);
    uint32_t   widest = 0, least = 0, address = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        hdx_buffer_clear(&after);
        hdx_buffer_clear(&cell);
        const step    *s = &p->steps[i];
        const uint32_t at = hdx_render_cell(&cell, &s->address, HDX_UNIT_NONE, p->options);
        address = at > address ? at : address;
        if (s->count == 0)
            continue;
        const uint32_t rest = put_after(p, s, &after);
        const uint32_t narrow = hdx_render_object_least(p->texts.at + s->text, s->text_len, s->object) + rest;
        const uint32_t wide =
            (p->options->full_text || p->options->width == 0) && s->object.width > WIDEST ? WIDEST : s->object.width;
        widest = wide + rest > widest ? wide + rest : widest;
        least = narrow > least ? narrow : least;
    }
    const uint32_t other_columns = SIZE + 2 * GAP + address;
    const uint32_t room = p->options->width > other_columns ? p->options->width - other_columns : 0;
    const bool     cut =
        room >= CUT_LEAST && !p->options->full_text; /* class names are cut so that addresses do not wrap */
    if (p->options->width != 0 && widest > room)
        widest = room > least || cut ? room : least;
    bool good = true;
    for (uint64_t i = 0; good && i < p->count; i++) {
        const step *s = &p->steps[i];
        if (s->count == 0)
            continue;
        hdx_buffer_clear(&after);
        hdx_buffer_clear(&cell);
        const uint32_t size = hdx_render_cell(&cell, &s->retained, HDX_UNIT_BYTES, p->options);
        hdx_buffer_format(&p->line, "%*s%s  ", size < SIZE ? (int)(SIZE - size) : 0, "", cell.len > 0 ? cell.at : "");
        const uint32_t rest = put_after(p, s, &after);
        hdx_buffer_clear(&cell);
        const uint32_t shown = p->options->full_text    ? s->object.width
                               : p->options->width == 0 ? (s->object.width < WIDEST ? s->object.width : WIDEST)
                               : widest > rest          ? widest - rest
                                                        : 0;
        uint32_t       width =
            hdx_render_object_in(&cell, p->texts.at + s->text, s->text_len, s->object, shown, p->options->ascii) + rest;
        if (after.len > 0)
            hdx_buffer_put(&cell, after.at, after.len);
        if (cell.len > 0)
            width = hdx_render_cut(&p->line, cell.at, cell.len, cut ? widest : UINT32_MAX, p->options->ascii);
        hdx_buffer_format(&p->line, "%*s", (int)(GAP + (width < widest ? widest - width : 0)), "");
        hdx_buffer_text(&p->line, p->options->color ? "\x1b[2m" : "");
        (void)hdx_render_cell(&p->line, &s->address, HDX_UNIT_NONE, p->options);
        hdx_buffer_text(&p->line, p->options->color ? "\x1b[0m\n" : "\n");
        if (i == 0)
            put_frame(p, &after);
        if (p->line.failed || after.failed || cell.failed)
            break;
        good = p->sink->write(p->sink->context, p->line.at, (size_t)p->line.len);
        hdx_buffer_clear(&p->line);
    }
    p->line.failed = p->line.failed || after.failed || cell.failed;
    hdx_buffer_free(&after);
    hdx_buffer_free(&cell);
    return good;
}

/* Writes the collected steps of one path; false: the sink failed. */
static bool put_path(page *p)
{
    if (p->count == 0)
        return true;
    if (p->number > 1)
        hdx_buffer_text(&p->line, "\n");
    put_root(p, next_path(p));
    fold_chains(p);
    const bool good = put_steps(p);
    p->count = 0;
    hdx_buffer_clear(&p->texts);
    return good;
}

hdx_code cli_path_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    page            p = { .options = options, .sink = sink };
    const hdx_cell *row;
    hdx_code        code = HDX_OK;
    bool            good = true;
    if (hdx_rows_extra_cell(rows, "paths")->kind == HDX_CELL_LIST)
        p.paths = hdx_rows_extra_cell(rows, "paths");
    if (hdx_rows_title(rows) != NULL)
        hdx_buffer_format(&p.line, "%s\n\n", hdx_rows_title(rows));
    while (good && code == HDX_OK && hdx_rows_next(rows, &row)) {
        if (row[STEP].as.natural == 0) {
            good = put_path(&p);
            p.number++;
        }
        if (good && p.count > 0 && row[STEP].as.natural > p.next)
            code = add_gap(&p, row[STEP].as.natural - p.next, err);
        if (good && code == HDX_OK)
            code = add_step(&p, row, err);
    }
    if (good && code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK) {
        good = put_path(&p);
        if (good && p.number == 0) { /* as in a table */
            const char *why = hdx_rows_empty_reason(rows);
            hdx_buffer_format(&p.line, "(%s)\n", why != NULL ? why : "no rows");
            good = p.line.failed || sink->write(sink->context, p.line.at, (size_t)p.line.len);
        }
    }
    if (code == HDX_OK && (p.line.failed || p.texts.failed))
        code = hdx_no_memory(err, "a path", p.texts.len);
    hdx_mem_put(NULL, p.steps, p.capacity * sizeof *p.steps);
    hdx_buffer_free(&p.line);
    hdx_buffer_free(&p.texts);
    return code != HDX_OK ? code : good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

hdx_code cli_put_path(const hdx_cell *path, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    page            p = { .options = options, .sink = sink };
    const hdx_cell *steps = hdx_cell_member(path, "steps"), *cut = hdx_cell_member(path, "steps_cut");
    const uint64_t  count = steps->kind == HDX_CELL_LIST ? steps->as.list.count : 0;
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; code == HDX_OK && i < count; i++) {
        const hdx_cell *at = &steps->as.list.at[i];
        const hdx_cell  row[] = { [PATH] = { .kind = HDX_CELL_NULL },
                                  [STEP] = { .kind = HDX_CELL_UINT, .as.natural = i },
                                  [ADDRESS] = *hdx_cell_member(at, "address"),
                                  [CLASS] = *hdx_cell_member(at, "class"),
                                  [LABEL] = *hdx_cell_member(at, "label"),
                                  [REFERENCE] = *hdx_cell_member(hdx_cell_member(at, "reference"), "name"),
                                  [SHALLOW] = *hdx_cell_member(at, "shallow"),
                                  [RETAINED] = *hdx_cell_member(at, "retained") };
        if (cut->kind == HDX_CELL_UINT && i == count / 2) /* both ends have the same length */
            code = add_gap(&p, cut->as.natural, err);
        if (code == HDX_OK)
            code = add_step(&p, row, err);
    }
    bool good = true;
    if (code == HDX_OK && p.count > 0) {
        put_root(&p, path);
        fold_chains(&p);
        good = put_steps(&p);
    }
    if (code == HDX_OK && (p.line.failed || p.texts.failed))
        code = hdx_no_memory(err, "a path", p.texts.len);
    hdx_mem_put(NULL, p.steps, p.capacity * sizeof *p.steps);
    hdx_buffer_free(&p.line);
    hdx_buffer_free(&p.texts);
    return code != HDX_OK ? code : good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}
