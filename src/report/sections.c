/*
 * sections.c - what is in a report: for each section the answer, how much of it, and what is said about it.
 *
 * In:  a session.
 * Out: the sections in the order in which somebody reads: what it is, what stands out, who holds the memory, details,
 *      and what the report does not contain.
 * Cost: that of the answers; those marked HDX_SECTION_SLOW take seconds on a large heap and are left out with `quick`.
 */
#include "report/sections.h"

#include <stdio.h>

static const section sections[] = {
    { .id = "classes",
      .title = "Classes",
      .command = "histogram --retained --sort retained",
      .answer = "histogram",
      .arguments = { { "retained", "true" }, { "sort", "retained" } },
      .columns = { { "class", "class" },
                   { "objects", "objects" },
                   { "shallow", "shallow" },
                   { "retained", "retained" },
                   { "percent", "% of heap" } },
      .rows = 100 },
    { .heading = "By package",
      .command = "histogram --by package",
      .answer = "histogram",
      .arguments = { { "by", "package" } },
      .columns = { { "package", "package" },
                   { "classes", "classes" },
                   { "objects", "objects" },
                   { "shallow", "shallow" },
                   { "percent", "% of heap" } },
      .rows = 30 },
    { .id = "objects",
      .title = "Biggest objects",
      .command = "dominators",
      .answer = "dominators",
      .columns = { { "class", "object" },
                   { "shallow", "shallow" },
                   { "retained", "retained" },
                   { "percent", "% of heap" },
                   { "address", "address" } },
      .rows = 50 },
    { .heading = "Held by static fields",
      .command = "statics --sort retained",
      .answer = "statics",
      .arguments = { { "sort", "retained" } },
      .columns = { { "static", "static field" },
                   { "class", "object" },
                   { "retained", "retained" },
                   { "address", "address" } },
      .rows = 25,
      .flags = HDX_SECTION_QUIET },
    { .id = "waste",
      .title = "Waste",
      .heading = "Equal Strings and arrays",
      .command = "duplicates",
      .answer = "duplicates",
      .columns = { { "class", "object" },
                   { "objects", "objects" },
                   { "length", "length" },
                   { "bytes", "bytes" },
                   { "wasted", "wasted" } },
      .rows = 25,
      .flags = HDX_SECTION_SLOW | HDX_SECTION_VALUES },
    { .heading = "Arrays that are constant or unused in part",
      .command = "arrays",
      .answer = "arrays",
      .columns = { { "class", "class" },
                   { "waste", "why" },
                   { "objects", "objects" },
                   { "shallow", "bytes" },
                   { "wasted", "wasted" } },
      .rows = 15,
      .flags = HDX_SECTION_SLOW | HDX_SECTION_QUIET | HDX_SECTION_VALUES },
    { .heading = "Collections, by the field that holds them",
      .command = "collections --by holder",
      .answer = "collections",
      .arguments = { { "by", "holder" } },
      .columns = { { "holder", "field" },
                   { "collections", "collections" },
                   { "empty", "empty" },
                   { "size", "elements" },
                   { "capacity", "capacity" },
                   { "waste", "wasted" } },
      .rows = 25,
      .flags = HDX_SECTION_SLOW | HDX_SECTION_QUIET | HDX_SECTION_VALUES },
    { .id = "loaders",
      .title = "Class loaders",
      .command = "loaders",
      .answer = "loaders",
      .columns = { { "class", "class loader" },
                   { "classes", "classes" },
                   { "instances", "instances" },
                   { "retained", "retained" },
                   { "address", "address" } },
      .rows = 30 },
    { .id = "offheap",
      .title = "Memory outside of the heap",
      .heading = "Direct buffers",
      .command = "direct-buffers",
      .answer = "direct-buffers",
      .columns = { { "class", "buffer" }, { "capacity", "capacity" }, { "kind", "kind" }, { "address", "address" } },
      .rows = 15,
      .flags = HDX_SECTION_QUIET | HDX_SECTION_VALUES },
    { .heading = "Open files and sockets",
      .command = "open-files",
      .answer = "open-files",
      .columns = { { "class", "object" }, { "kind", "kind" }, { "name", "name" }, { "address", "address" } },
      .rows = 20,
      .flags = HDX_SECTION_QUIET | HDX_SECTION_VALUES },
    { .id = "leaks",
      .title = "Leaks of watched objects",
      .command = "leaks",
      .answer = "leaks",
      .columns = { { "class", "class" },
                   { "kind", "kind" },
                   { "objects", "objects" },
                   { "retained", "retained" },
                   { "root", "GC root" },
                   { "suspects", "suspect references" } },
      .rows = 20,
      .flags = HDX_SECTION_QUIET | HDX_SECTION_VALUES },
    { .id = "properties",
      .title = "Start-up and system properties",
      .command = "properties",
      .answer = "properties",
      .columns = { { "kind", "kind" }, { "key", "key" }, { "value", "value" } },
      .rows = 200,
      .flags = HDX_SECTION_CONTENTS | HDX_SECTION_QUIET | HDX_SECTION_VALUES },
};

/* ---- answers ---- */

hdx_code hdx_section_tolerate(report *r, const char *command, hdx_code code, hdx_error *err)
{
    if (code == HDX_OK || code == HDX_CANCELLED || code == HDX_DAMAGED || code == HDX_IO || code == HDX_LIMIT)
        return code;
    if (r->failures < HDX_COUNT(r->failed)) {
        r->failed[r->failures] = command;
        (void)snprintf(r->why[r->failures], sizeof r->why[0], "%.150s", err->message);
        r->failures++;
    }
    return HDX_OK;
}

hdx_code hdx_section_run(hdx_session *s, const section *of, hdx_rows **rows, hdx_error *err)
{
    size_t count = 0;
    *rows = NULL;
    while (count < HDX_COUNT(of->arguments) && of->arguments[count].name != NULL)
        count++;
    return hdx_answer_run(s, of->answer, of->arguments, count, rows, err);
}

hdx_code hdx_section_info(hdx_session *s, hdx_rows **rows, const hdx_cell **info, hdx_error *err)
{
    static const section of = { .answer = "info" };
    const hdx_cell      *row;
    hdx_code             code = hdx_section_run(s, &of, rows, err);
    if (code != HDX_OK)
        return code;
    while (hdx_rows_next(*rows, &row))
        ;
    *info = hdx_rows_extra_cell(*rows, "info");
    return hdx_rows_end(*rows, err);
}

const hdx_cell *hdx_section_head(const hdx_rows *rows, const char *name)
{
    static const hdx_cell null = { .kind = HDX_CELL_NULL };
    const hdx_member     *m;
    for (unsigned i = 0; (m = hdx_rows_head(rows, i))->key != NULL; i++)
        if (strcmp(m->key, name) == 0)
            return &m->value;
    return &null;
}

/* ---- tables ---- */

static bool is_number(const hdx_column *c)
{
    return c->type != HDX_TYPE_LIST &&
           (c->unit != HDX_UNIT_NONE || c->type == HDX_TYPE_UNSIGNED || c->type == HDX_TYPE_REAL);
}

bool hdx_section_put_class(report *r, const hdx_cell *class_name, const hdx_cell *label)
{
    if (class_name->kind != HDX_CELL_TEXT || !hdx_text_is(class_name->as.text, "java.lang.Class") ||
        label->kind != HDX_CELL_TEXT || label->as.text.len <= 6 || memcmp(label->as.text.at, "class ", 6) != 0)
        return false; /* a String may begin with "class ", too */
    hdx_doc_string(&r->p, "class ");
    hdx_doc_class(&r->p, (hdx_text){ label->as.text.at + 6, label->as.text.len - 6 });
    return true;
}

/* A class with the text of the object, as tables have it; redacted: without the text. */
static void put_cell(report *r, const hdx_column *columns, unsigned count, const hdx_cell *row, const hdx_column *c)
{
    const hdx_cell *cell = hdx_cell_named(columns, count, row, c->name);
    const hdx_cell *label = hdx_cell_named(columns, count, row, "label");
    for (unsigned i = 0; i < count; i++)
        if ((columns[i].flags & HDX_COLUMN_PHRASE) != 0 && (c->flags & HDX_COLUMN_CLASS_NAME) != 0) {
            if (cell->kind == HDX_CELL_TEXT)
                hdx_doc_class(&r->p, cell->as.text);
            if (cell->kind == HDX_CELL_TEXT && row[i].kind == HDX_CELL_TEXT)
                hdx_doc_string(&r->p, " ");
            if (row[i].kind == HDX_CELL_TEXT)
                hdx_doc_text(&r->p, row[i].as.text.at, row[i].as.text.len);
            return;
        }
    if ((c->flags & HDX_COLUMN_CLASS_NAME) != 0 && cell->kind == HDX_CELL_TEXT) {
        const bool own = strcmp(c->name, "class") == 0 && label->kind == HDX_CELL_TEXT;
        if (own && hdx_section_put_class(r, cell, label))
            return;
        hdx_doc_class(&r->p, cell->as.text);
        if (own && !r->options->redact) {
            hdx_doc_string(&r->p, " ");
            hdx_doc_value(&r->p, label, HDX_UNIT_NONE);
        }
        return;
    }
    if (c->type == HDX_TYPE_LIST)
        hdx_doc_series(&r->p, cell);
    else if (strcmp(c->name, "root") == 0 && cell->kind == HDX_CELL_TEXT)
        hdx_doc_root_type(&r->p, cell->as.text);
    else
        hdx_doc_value(&r->p, cell, c->unit);
}

/* Texts that are neither classes nor codes of heapdex are contents of the heap. */
static bool is_content(const hdx_column *c)
{
    return strcmp(c->name, "name") == 0 || strcmp(c->name, "value") == 0 || (c->flags & HDX_COLUMN_LABEL) != 0;
}

hdx_code hdx_section_table(report *r, const section *s, hdx_rows *rows, const hdx_cell *row, hdx_error *err)
{
    const hdx_column *at[HDX_SECTION_COLUMNS];
    page_column       heads[HDX_SECTION_COLUMNS];
    unsigned          count, shown_count = 0;
    const hdx_column *columns = hdx_rows_columns(rows, &count);
    bool              more = true;
    for (unsigned i = 0; i < HDX_SECTION_COLUMNS && s->columns[i].column != NULL; i++)
        for (unsigned k = 0; k < count; k++)
            if (strcmp(columns[k].name, s->columns[i].column) == 0 &&
                !(r->options->redact && is_content(&columns[k]))) {
                at[shown_count] = &columns[k];
                heads[shown_count++] =
                    (page_column){ s->columns[i].title, is_number(&columns[k]), columns[k].sentence };
            }
    hdx_doc_table(&r->p, heads, shown_count);
    for (uint64_t n = 0; n < s->rows && more && !hdx_doc_is_full(&r->p); n++) {
        hdx_doc_row(&r->p);
        for (unsigned i = 0; i < shown_count; i++) {
            if (heads[i].number) {
                hdx_doc_number(&r->p, hdx_cell_named(columns, count, row, at[i]->name), at[i]->unit);
                continue;
            }
            hdx_doc_cell(&r->p, false);
            put_cell(r, columns, count, row, at[i]);
            hdx_doc_cell_end(&r->p);
        }
        hdx_doc_row_end(&r->p);
        hdx_doc_flush(&r->p);
        more = hdx_rows_next(rows, &row);
    }
    hdx_doc_table_end(&r->p, more ? "There are more rows; with --limit 0, this command shows all of them:" : NULL);
    return more ? HDX_OK : hdx_rows_end(rows, err);
}

/* `named`: the section whose title comes first; NULL: it has been written. */
static hdx_code put_section(report *r, const section *s, const section **named, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    if (((s->flags & HDX_SECTION_SLOW) != 0 && r->options->quick) ||
        ((s->flags & HDX_SECTION_CONTENTS) != 0 && r->options->redact) ||
        ((s->flags & HDX_SECTION_VALUES) != 0 && r->lacks_dump) || hdx_doc_is_full(&r->p))
        return HDX_OK;
    hdx_code   code = hdx_section_run(r->s, s, &rows, err);
    const bool any = code == HDX_OK && hdx_rows_next(rows, &row);
    if (code == HDX_OK && !any)
        code = hdx_rows_end(rows, err);
    if (code == HDX_OK && (any || (s->flags & HDX_SECTION_QUIET) == 0)) {
        if (*named != NULL)
            hdx_doc_section(&r->p, (*named)->id, (*named)->title);
        *named = NULL;
        if (s->heading != NULL)
            hdx_doc_heading(&r->p, s->heading);
        if (any)
            code = hdx_section_table(r, s, rows, row, err);
        else
            hdx_doc_paragraph(&r->p,
                              hdx_rows_empty_reason(rows) != NULL ? hdx_rows_empty_reason(rows) : "There are none.");
        hdx_doc_command(&r->p, s->command, r->dump);
    }
    hdx_rows_close(rows);
    return code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, s->command, code, err);
}

static hdx_code put_sections(report *r, hdx_error *err)
{
    const section *named = NULL;
    bool           open = false;
    hdx_code       code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < HDX_COUNT(sections); i++) {
        if (sections[i].title != NULL) {
            if (open)
                hdx_doc_section_end(&r->p);
            open = false;
            named = &sections[i];
        }
        code = put_section(r, &sections[i], &named, err);
        open = named == NULL;
    }
    if (open)
        hdx_doc_section_end(&r->p);
    return code;
}

/* ---- the map ---- */

static const section map_table = {
    .command = "dominators --merge --least 0.5% --depth 3",
    .answer = "dominators",
    .arguments = { { "merge", "true" }, { "least", "0.5%" }, { "depth", "3" } },
    .columns = { { "depth", "level" },
                 { "class", "classes" },
                 { "objects", "objects" },
                 { "shallow", "shallow" },
                 { "retained", "retained" },
                 { "percent", "% of heap" } },
    .rows = 200,
};

static hdx_code put_map(report *r, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *row;
    hdx_code        code = HDX_OK;
    hdx_doc_section(&r->p, "map", "Who holds the memory");
    hdx_doc_paragraph(&r->p,
                      "The dominator tree by class path: objects of one class that the same classes keep alive are one "
                      "tile, with a size in proportion to what they retain. Classes that only lead to one other class "
                      "share a tile. Colours say whose bytes they are.");
    if (r->options->format == HDX_REPORT_HTML) {
        code = hdx_section_run(r->s, &map_table, &rows, err);
        code = code == HDX_OK ? hdx_doc_map(&r->p, rows, err) : code;
        hdx_rows_close(rows);
        rows = NULL;
        hdx_doc_details(&r->p, "The same rows as a table");
    }
    if (code == HDX_OK)
        code = hdx_section_run(r->s, &map_table, &rows, err);
    if (code == HDX_OK && hdx_rows_next(rows, &row))
        code = hdx_section_table(r, &map_table, rows, row, err);
    hdx_rows_close(rows);
    if (r->options->format == HDX_REPORT_HTML)
        hdx_doc_details_end(&r->p);
    code = code == HDX_OK ? HDX_OK : hdx_section_tolerate(r, map_table.command, code, err);
    hdx_doc_command(&r->p, map_table.command, r->dump);
    hdx_doc_section_end(&r->p);
    return code;
}

/* ---- the report ---- */

static hdx_code write_json(report *r, hdx_error *err)
{
    const hdx_render_options json = { .format = HDX_FORMAT_JSON };
    static const section     first[] = {
            { .answer = "info", .command = "info" },
            { .answer = "suspects", .command = "suspects" },
            { .answer = "threads", .command = "threads", .arguments = { { "stacks", "true" } } }
    };
    const hdx_sink *sink = r->p.sink;
    const section  *all[HDX_COUNT(first) + 2 + HDX_COUNT(sections)], *growth = NULL;
    unsigned        count = 0, written = 0;
    hdx_code        code = HDX_OK;
    for (unsigned i = 0; i < HDX_COUNT(first); i++)
        all[count++] = &first[i];
    if (r->options->growth != NULL)
        growth = all[count++] = hdx_section_of_growth(r->options->dumps);
    all[count++] = &map_table;
    for (unsigned i = 0; i < HDX_COUNT(sections); i++)
        all[count++] = &sections[i];
    bool good = sink->write(sink->context, "{\n", 2);
    for (unsigned i = 0; code == HDX_OK && good && i < count; i++) {
        hdx_rows  *rows = NULL;
        hdx_buffer key = hdx_buffer_of(NULL);
        if ((all[i]->flags & HDX_SECTION_SLOW) != 0 && r->options->quick)
            continue;
        code = hdx_section_run(all[i] == growth ? r->options->growth : r->s, all[i], &rows, err);
        if (code != HDX_OK) {
            code = hdx_section_tolerate(r, all[i]->command, code, err);
            continue;
        }
        hdx_buffer_format(&key, "%s\"%s\": ", written++ > 0 ? "," : "", all[i]->command);
        good = !key.failed && sink->write(sink->context, key.at, (size_t)key.len);
        hdx_buffer_free(&key);
        if (good)
            code = hdx_render(rows, &json, sink, err);
        hdx_rows_close(rows);
    }
    good = good && sink->write(sink->context, "}\n", 2);
    return code != HDX_OK ? code : good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

hdx_code hdx_report_write(hdx_session *s, const hdx_report_options *options, const hdx_sink *sink, hdx_error *err)
{
    report      r = { .options = options, .s = s, .dump = hdx_session_dump(s, 0) };
    const char *slash = r.dump != NULL ? strrchr(r.dump, '/') : NULL;
    hdx_buffer  title = hdx_buffer_of(NULL);
    if (options->redact && options->format == HDX_REPORT_JSON)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "a redacted report cannot be written as JSON");
    r.dump = slash != NULL ? slash + 1 : r.dump;
    r.p = (page){ .options = options, .sink = sink, .out = hdx_buffer_of(NULL), .listed = true };
    if (options->format == HDX_REPORT_JSON)
        return write_json(&r, err);
    hdx_buffer_format(&title, "%s: heap report", r.dump);
    hdx_doc_begin(&r.p, title.at != NULL ? title.at : "Heap report");
    hdx_buffer_free(&title);
    hdx_code code = hdx_section_overview(&r, err);
    code = code == HDX_OK ? hdx_section_suspects(&r, err) : code;
    code = code == HDX_OK && options->growth != NULL ? hdx_section_growth(&r, err) : code;
    code = code == HDX_OK ? put_map(&r, err) : code;
    code = code == HDX_OK ? hdx_section_threads(&r, err) : code;
    code = code == HDX_OK ? put_sections(&r, err) : code;
    code = code == HDX_OK ? hdx_section_dump(&r, err) : code;
    const hdx_code ended = hdx_doc_end(&r.p, err);
    return code != HDX_OK ? code : ended;
}
