/*
 * page.h - writes a document as HTML or Markdown.
 *
 * A section is opened, filled and closed; a table gets its cells from left to right. Functions write into a buffer that
 * page_flush gives to the sink. A failure (memory, sink) is sticky and is reported by page_end.
 */
#ifndef HDX_REPORT_PAGE_H
#define HDX_REPORT_PAGE_H

#include "base/base.h"
#include "render/render.h"
#include "report/report.h"
#include "rows/rows.h"

typedef struct page {
    const hdx_report_options *options;
    const hdx_sink           *sink;
    hdx_buffer                out;
    uint64_t                  written; /* bytes */
    unsigned                  columns; /* of the table that is open */
    bool                      broken;  /* the sink failed */
} page;

void page_begin(page *p, const char *title, const char *const *sections, unsigned count);
/* Ends the document. Returns the first failure. */
hdx_code page_end(page *p, hdx_error *err);
void     page_flush(page *p);
/* True if a document of limited size (Markdown for a comment) has no room for another section. */
bool page_is_full(const page *p);

/* ---- text ---- */
/* The only way by which text of a heap gets into the document: unprintable and direction characters become visible. */
void page_text(page *p, const char *at, size_t len);
void page_string(page *p, const char *text); /* the same for our own words */
void page_class(page *p, hdx_text name);     /* the package is less prominent */
void page_value(page *p, const hdx_cell *cell, hdx_unit unit);

/* ---- blocks ---- */
void page_section(page *p, const char *id, const char *title);
void page_section_end(page *p);
void page_heading(page *p, const char *title);
void page_say(page *p, const char *text);
void page_say_cell(page *p, const hdx_cell *text); /* a sentence that an answer gave */
void page_facts(page *p);
void page_fact(page *p, const char *name, const hdx_cell *value, hdx_unit unit);
void page_facts_end(page *p);
/* "$ heapdex histogram app.hprof": the command that gives the rows of the section. */
void page_command(page *p, const char *command, const char *dump);
void page_details(page *p, const char *summary); /* closed at first, where the format can do that */
void page_details_end(page *p);

/* ---- tables ---- */
typedef struct page_column {
    const char *title;
    bool        number;
} page_column;
void page_table(page *p, const page_column *columns, unsigned count);
void page_row(page *p);
void page_cell(page *p, bool number);
void page_cell_end(page *p);
void page_row_end(page *p);
void page_table_end(page *p, const char *rest); /* rest: a line about rows that are not shown; NULL: none */

/* ---- paths ---- */
void page_path(page *p);
void page_step(page *p, bool root, bool goal);
void page_step_end(page *p);
void page_path_end(page *p);

const char *page_style(void);      /* of HTML documents */
const char *page_style_hash(void); /* "sha256-..." in base64 */

/* ---- answers.c ---- */
const hdx_cell *page_member(const hdx_cell *object, const char *key); /* a null cell if there is none */
const hdx_cell *page_extra(const hdx_rows *rows, const char *key);
const hdx_cell *page_named(const hdx_column *columns, unsigned count, const hdx_cell *row, const char *name);

/* ---- map.c ---- */
/* Draws the rows of dominators --merge; HTML only. */
hdx_code page_map(page *p, hdx_rows *rows, hdx_error *err);

#endif
