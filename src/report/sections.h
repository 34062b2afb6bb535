/*
 * sections.h - what the files that write sections of the report share: the report, an answer as a table, failures that
 * are reported at the end.
 */
#ifndef HDX_REPORT_SECTIONS_H
#define HDX_REPORT_SECTIONS_H

#include "report/page.h"

#define HDX_SECTION_COLUMNS  12u /* at most, of a table */
#define HDX_SECTION_FAILURES 32u /* that are reported */

typedef struct shown {
    const char *column, *title;
} shown;

/* CONTENTS: rows are texts of the heap; QUIET: left out if empty; VALUES: wrong or empty without the dump */
enum { HDX_SECTION_SLOW = 1, HDX_SECTION_CONTENTS = 2, HDX_SECTION_QUIET = 4, HDX_SECTION_VALUES = 8 };

/* A section, or one of the tables of a section (title NULL: of the section before). */
typedef struct section {
    const char  *id, *title, *heading;
    const char  *command; /* as it is shown: "histogram --retained" */
    const char  *answer;
    hdx_argument arguments[5];
    shown        columns[HDX_SECTION_COLUMNS];
    unsigned     rows, flags;
} section;

typedef struct report {
    page                      p;
    const hdx_report_options *options;
    hdx_session              *s;
    const char               *dump;                         /* as commands name it */
    const char               *failed[HDX_SECTION_FAILURES]; /* answers that this dump cannot give, and why */
    char                      why[HDX_SECTION_FAILURES][160];
    unsigned                  failures;
    bool                      lacks_dump; /* there is only the index; known after hdx_section_overview */
} report;

/* ---- answers ---- */
hdx_code hdx_section_run(hdx_session *s, const section *of, hdx_rows **rows, hdx_error *err);
/* Runs the answer `info` to its end. *info: its document, in the rows, which the caller closes in any case. */
hdx_code hdx_section_info(hdx_session *s, hdx_rows **rows, const hdx_cell **info, hdx_error *err);
/* A dump that lacks something is reported at the end; what stops everything stops the report. */
hdx_code hdx_section_tolerate(report *r, const char *command, hdx_code code, hdx_error *err);
/* Returns a key of the head of the document, such as "damage"; a null cell if there is none. */
const hdx_cell *hdx_section_head(const hdx_rows *rows, const char *name);
/* Writes "class com.acme.Cache" and returns true if an object, by its class and label, is a class. */
bool hdx_section_put_class(report *r, const hdx_cell *class_name, const hdx_cell *label);
/* Writes rows as a table. *row: the first row, which was read already. */
hdx_code hdx_section_table(report *r, const section *s, hdx_rows *rows, const hdx_cell *row, hdx_error *err);

/* ---- overview.c ---- */
hdx_code hdx_section_overview(report *r, hdx_error *err);
hdx_code hdx_section_suspects(report *r, hdx_error *err);
/* ---- dump.c ---- */
/* Heaps, damaged places, warnings and views, if there are any; then what the report does not contain. */
hdx_code hdx_section_dump(report *r, hdx_error *err);
bool     hdx_section_lacks_roots(const hdx_cell *info);
/* ---- stacks.c ---- */
hdx_code hdx_section_threads(report *r, hdx_error *err);
/* ---- growth.c ---- */
hdx_code       hdx_section_growth(report *r, hdx_error *err);
const section *hdx_section_of_growth(size_t dumps);

#endif
