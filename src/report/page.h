/*
 * page.h - writes a document as HTML or Markdown.
 *
 * A section is opened, filled and closed; a table gets its cells from left to right. Functions write into a buffer that
 * hdx_doc_flush gives to the sink. A failure (memory, sink) is sticky and is reported by hdx_doc_end.
 */
#ifndef HDX_REPORT_PAGE_H
#define HDX_REPORT_PAGE_H

#include "base/base.h"
#include "render/render.h"
#include "report/report.h"
#include "rows/rows.h"

#define HDX_DOC_SECTIONS 24u /* that the list of sections has room for */

typedef struct page {
    const hdx_report_options *options;
    const hdx_sink           *sink;
    hdx_buffer                out;
    uint64_t                  written; /* bytes */
    bool                      broken;  /* the sink failed */
    bool                      bytes;   /* sizes are written in bytes, not as 1.5 MB */
    bool                      listed;  /* HTML begins with a list of its sections, so it is held until hdx_doc_end */
    bool                      has_row_head;
    const char               *title; /* of the section, or the heading within it */
    unsigned                  section_count;
    const char               *ids[HDX_DOC_SECTIONS], *titles[HDX_DOC_SECTIONS];
} page;

void hdx_doc_begin(page *p, const char *title); /* titles and ids of sections must stay valid until hdx_doc_end */
/* Ends the document. Returns the first failure. */
hdx_code hdx_doc_end(page *p, hdx_error *err);
hdx_code hdx_doc_finish(page *p, hdx_error *err); /* the same for what is no whole document */
void     hdx_doc_flush(page *p);                  /* gives what was written to the sink, unless it is held */
/* True if the document has reached its limit (1.5 MB of HTML, 64 KiB of Markdown) but for the last section. */
bool hdx_doc_is_full(const page *p);

/* ---- text ---- */
/*
 * The only way by which text of a heap gets into the document: unprintable and direction characters become visible. The
 * middle of a very long text is cut.
 */
void hdx_doc_text(page *p, const char *at, size_t len);
void hdx_doc_string(page *p, const char *text); /* the same for our own words */
void hdx_doc_class(page *p, hdx_text name);     /* the package is less prominent */
/* The same for a text that may be too long to read: the middle of what exceeds `columns` is omitted. */
void hdx_doc_cut(page *p, const char *at, size_t len, uint32_t columns);
void hdx_doc_value(page *p, const hdx_cell *cell, hdx_unit unit);
void hdx_doc_root_type(page *p, hdx_text type); /* "JNI global" for "JNI_GLOBAL"; an unknown type as it is */

/* ---- blocks ---- */
void hdx_doc_section(page *p, const char *id, const char *title);
void hdx_doc_section_end(page *p);
void hdx_doc_heading(page *p, const char *title);
/* A heading, a paragraph, and important text within them, whose content the caller writes. */
void hdx_doc_heading_begin(page *p);
void hdx_doc_heading_end(page *p);
void hdx_doc_paragraph_begin(page *p);
void hdx_doc_paragraph_end(page *p);
void hdx_doc_strong_begin(page *p);
void hdx_doc_strong_end(page *p);
void hdx_doc_dim_begin(page *p); /* less prominent */
void hdx_doc_dim_end(page *p);
void hdx_doc_card_begin(page *p); /* a box around blocks */
void hdx_doc_card_end(page *p);
void hdx_doc_paragraph(page *p, const char *text);
/* A sentence that an answer gave: with a capital letter and a full stop. */
void hdx_doc_sentence(page *p, const hdx_cell *text);
void hdx_doc_facts(page *p);
void hdx_doc_fact(page *p, const char *name, const hdx_cell *value, hdx_unit unit);
void hdx_doc_facts_end(page *p);
/* "$ heapdex histogram app.hprof": the command that gives the rows of the section. */
void hdx_doc_command(page *p, const char *command, const char *dump);
void hdx_doc_commands(page *p, const char *command, const char *const *dumps, size_t count); /* about several */
/* The same within a paragraph. object: an address that follows the dump; NULL: none. */
void hdx_doc_code(page *p, hdx_text command, const char *dump, const hdx_cell *object);
/* The same for a whole call, quoted for a shell, and what follows it: "diff a.hprof b.hprof" and " --limit 0". */
void hdx_doc_call(page *p, const char *call, const char *more);
void hdx_doc_break(page *p);                        /* a new line within a paragraph, a step or a cell */
void hdx_doc_details(page *p, const char *summary); /* closed at first, where the format can do that */
void hdx_doc_details_end(page *p);

/* ---- tables ---- */
typedef struct page_column {
    const char *title;
    bool        number;
    const char *help; /* what the column contains, shown by HTML when a pointer is over the title; NULL: nothing */
} page_column;
void hdx_doc_table(page *p, const page_column *columns, unsigned count);
void hdx_doc_row(page *p);
void hdx_doc_cell(page *p, bool number); /* the first cell of a row that is no number is its head */
void hdx_doc_cell_end(page *p);
/* A whole cell. HTML shows the number of bytes when the pointer is on a size. */
void hdx_doc_number(page *p, const hdx_cell *value, hdx_unit unit);
void hdx_doc_row_end(page *p);
void hdx_doc_table_end(page *p, const char *rest); /* rest: a line about rows that are not shown; NULL: none */

/* ---- paths ---- */
void hdx_doc_path(page *p);
void hdx_doc_step(page *p, bool root, bool goal);
void hdx_doc_step_end(page *p);
void hdx_doc_path_end(page *p);

/* ---- series.c ---- */
/*
 * Draws a list of natural numbers: in HTML a line of at most HDX_SERIES_MOST points, in Markdown a block of matching
 * height for each. The values of a longer list are taken at equal distances, the first and the last included.
 */
#define HDX_SERIES_MOST 30u
void hdx_doc_series(page *p, const hdx_cell *list);

const char *hdx_doc_style(void);      /* of HTML documents */
const char *hdx_doc_style_hash(void); /* "sha256-..." in base64 */

/* ---- map.c ---- */
/* Draws the rows of dominators --merge; HTML only. */
hdx_code hdx_doc_map(page *p, hdx_rows *rows, hdx_error *err);
/* Same as an SVG file of its own, which says what its colours mean. */
hdx_code hdx_doc_map_file(hdx_rows *rows, const char *title, const hdx_sink *sink, hdx_error *err);

#endif
