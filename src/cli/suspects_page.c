/*
 * suspects_page.c - leak suspects as a page: a sentence about each, what it accumulates, and the path from its GC root.
 *
 *     Suspect 1: 1.9 MB, 70.5 %
 *       one HashMap in the static acme.Shop.SESSIONS retains 1.9 MB (70%), 12,004 entries of acme.Session, held
 * by thread "clerk"; look at acme.Desk.serve (Desk.java:42) accumulates: 1.9 MB in 270 java.util.HashMap$Node
 *
 *     GC root: thread
 *         224 B  Thread "clerk" <Java Local>       0xfed5a340
 *       ...
 *
 * Rows that --columns, --sort or --where shape are shown as a table instead.
 *
 * In:  the rows of `suspects`, for their number, and their extra "suspects".
 */
#include "cli/cli.h"

#define SHOWN 3u /* accumulated classes */

typedef struct page {
    const hdx_render_options *options;
    const hdx_sink           *sink;
    hdx_buffer                text, line;
} page;

static void put_paragraph(page *p)
{
    cli_put_paragraph(&p->line, p->text.at, p->text.len, "  ", p->options->width);
    hdx_buffer_clear(&p->text);
}

static void put_cell(page *p, hdx_buffer *to, const hdx_cell *cell, hdx_unit unit)
{
    (void)hdx_render_cell(to, cell, unit, p->options);
}

/* Writes "accumulates: 1.9 MB in 270 java.util.HashMap$Node, 3.1 KB in 1 byte[]". */
static void put_accumulated(page *p, const hdx_cell *suspect)
{
    const hdx_cell          *list = hdx_cell_member(suspect, "accumulated_classes");
    const hdx_render_options counts = { .human_sizes = true };
    if (list->kind != HDX_CELL_LIST || list->as.list.count == 0 ||
        hdx_cell_member(&list->as.list.at[0], "bytes")->as.natural == 0)
        return;
    for (uint64_t i = 0; i < list->as.list.count && i < SHOWN; i++) {
        const hdx_cell *one = &list->as.list.at[i];
        hdx_buffer_text(&p->text, i == 0 ? "accumulates: " : ", ");
        put_cell(p, &p->text, hdx_cell_member(one, "bytes"), HDX_UNIT_BYTES);
        hdx_buffer_text(&p->text, " in ");
        (void)hdx_render_cell(&p->text, hdx_cell_member(one, "objects"), HDX_UNIT_COUNT, &counts);
        hdx_buffer_text(&p->text, " ");
        put_cell(p, &p->text, hdx_cell_member(one, "class"), HDX_UNIT_NONE);
    }
    hdx_buffer_text(&p->text, list->as.list.count > SHOWN ? ", ..." : "");
    put_paragraph(p);
}

/* Writes the numbers of earlier suspects that are part of the same problem. */
static void put_problem(page *p, const hdx_cell *suspects, uint64_t number)
{
    const hdx_cell *problem = hdx_cell_member(&suspects->as.list.at[number], "problem");
    bool            any = false;
    for (uint64_t i = 0; i < number; i++) {
        if (hdx_cell_member(&suspects->as.list.at[i], "problem")->as.natural != problem->as.natural)
            continue;
        hdx_buffer_format(&p->text, "%s%llu", any ? ", " : "reached from the same root as suspect ",
                          (unsigned long long)i + 1);
        any = true;
    }
    if (any)
        put_paragraph(p);
}

static hdx_code put_suspect(page *p, const hdx_cell *suspects, uint64_t number, hdx_error *err)
{
    const hdx_cell *suspect = &suspects->as.list.at[number], *sentence = hdx_cell_member(suspect, "sentence"),
                   *path = hdx_cell_member(suspect, "path");
    hdx_buffer_format(&p->line, "%sSuspect %llu: ", p->options->color ? "\x1b[1m" : "", (unsigned long long)number + 1);
    put_cell(p, &p->line, hdx_cell_member(suspect, "bytes"), HDX_UNIT_BYTES);
    hdx_buffer_text(&p->line, ", ");
    put_cell(p, &p->line, hdx_cell_member(suspect, "percent"), HDX_UNIT_PERCENT);
    hdx_buffer_text(&p->line, p->options->color ? "\x1b[0m\n" : "\n");
    if (sentence->kind == HDX_CELL_TEXT)
        (void)hdx_render_text(&p->text, sentence->as.text.at, sentence->as.text.len, p->options->ascii);
    put_paragraph(p);
    put_accumulated(p, suspect);
    put_problem(p, suspects, number);
    if (path->kind == HDX_CELL_OBJECT)
        hdx_buffer_text(&p->line, "\n");
    if (!cli_flush(&p->line, p->sink))
        return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
    return path->kind == HDX_CELL_OBJECT ? cli_put_path(path, p->options, p->sink, err) : HDX_OK;
}

hdx_code cli_suspects_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    page            p = { .options = options, .sink = sink };
    const hdx_cell *row, *suspects = hdx_rows_extra_cell(rows, "suspects");
    uint64_t        shown = 0;
    hdx_rows_cut    cut;
    hdx_code        code = HDX_OK;
    bool            good = true;
    while (code == HDX_OK && hdx_rows_next(rows, &row)) {
        const uint64_t number = row[0].as.natural - 1;
        if (suspects->kind != HDX_CELL_LIST || number >= suspects->as.list.count)
            continue;
        hdx_buffer_text(&p.line, shown++ > 0 ? "\n" : "");
        code = put_suspect(&p, suspects, number, err);
    }
    if (code == HDX_OK && (code = hdx_rows_end(rows, err)) == HDX_OK) {
        if (shown == 0)
            cli_put_empty_reason(&p.line, rows);
        else if (hdx_rows_cut_off(rows, &cut) && options->rest != NULL)
            hdx_buffer_format(&p.line, "\n(more suspects; %s)\n", options->rest);
        else if (hdx_rows_cut_off(rows, &cut))
            hdx_buffer_text(&p.line, "\n(more suspects)\n");
        good = cli_flush(&p.line, sink);
    }
    code = cli_page_end(code, good, p.line.failed || p.text.failed, err);
    hdx_buffer_free(&p.line);
    hdx_buffer_free(&p.text);
    return code;
}
