/* answer_page.h - what the files of a page about one answer share. */
#ifndef HDX_REPORT_ANSWER_PAGE_H
#define HDX_REPORT_ANSWER_PAGE_H

#include "report/page.h"

#define HDX_PAGE_SENTENCE 600u /* columns of a text in a sentence, which Markdown does not shorten as in cells */

/* What the page of an answer has in addition to a table of its rows. */
typedef struct hdx_page_special {
    const char *answer;
    const char *columns; /* of the table, separated by blanks */
    const char *cards;   /* title of the section with cards */
    unsigned    most;    /* number of cards */
    /* Writes the result in sentences. No row was read yet. */
    void (*put_result)(page *p, const hdx_rows *rows);
    /* Writes a card that describes a row; false: nothing was written, because this row has none. */
    bool (*card)(page *p, const hdx_rows *rows, const hdx_cell *row);
} hdx_page_special;

const hdx_page_special *hdx_page_special_of(const char *answer); /* NULL: none */

/* Writes a cell. A size has the number of bytes in HTML, shown when the pointer is on it. */
void hdx_page_value(page *p, const hdx_column *column, const hdx_cell *cell, hdx_unit unit);

#endif
