/*
 * report.h - writes the answers about a heap as one document that can be mailed: HTML without a script, Markdown, or
 * JSON.
 *
 * Example (examples/report.c):
 *     const hdx_report_options html = { .format = HDX_REPORT_HTML, .quick = true };
 *     const hdx_sink           sink = { put, file };
 *     code = hdx_session_open(&options, &session, &err);
 *     if (code == HDX_OK)
 *         code = hdx_report_write(session, &html, &sink, &err);
 *
 * The report says what the heap is, what stands out, who holds the memory, and what the dump cannot tell. Each section
 * names the command that gives the same rows. The rows of a single answer can be written as a page in the same style
 * (hdx_page_write), and those of some answers can be drawn by other programs (hdx_picture_write).
 */
#ifndef HEAPDEX_REPORT_H
#define HEAPDEX_REPORT_H

#include <heapdex/answer.h>
#include <heapdex/render.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hdx_report_format {
    HDX_REPORT_HTML,     /* one file of at most 1.5 MB, without scripts and without references to other files */
    HDX_REPORT_MARKDOWN, /* at most 64 KiB, for a comment on GitHub or GitLab */
    HDX_REPORT_JSON      /* an object: for each command of the report, the document that hdx_render writes */
} hdx_report_format;

typedef struct hdx_report_options {
    hdx_report_format format;
    bool              quick;  /* omits answers that take seconds on a large heap */
    bool              redact; /* omits texts of the heap: labels, Strings, properties, names of threads */
    hdx_session      *growth; /* session with several dumps, oldest first, for what grew; NULL: no growth */
    size_t            dumps;  /* number of dumps in that session */
} hdx_report_options;

/*
 * Writes the report about the first dump of the session. Builds the index if it is missing. The caller keeps *options,
 * both sessions and the sink, which receives UTF-8 in pieces; after a failure the pieces before it have been written.
 * One thread at a time may use the sessions; hdx_session_cancel ends the call.
 * Returns HDX_USAGE for a redacted report as JSON, HDX_IO if the sink failed, HDX_LIMIT if memory is short,
 * HDX_CANCELLED, and the errors of hdx_answer_run. Answers that a dump cannot give are named in the report and are not
 * errors. REQUIRES: no rows of the sessions are open.
 */
HDX_API hdx_code hdx_report_write(hdx_session *s, const hdx_report_options *options, const hdx_sink *sink,
                                  hdx_error *err);

/* ---- pages ---- */
#define HDX_PAGE_ROWS_MOST     100u     /* rows of a table on a page */
#define HDX_PAGE_HTML_MOST     1500000u /* bytes */
#define HDX_PAGE_MARKDOWN_MOST 65536u   /* bytes, so at most as many characters */

typedef struct hdx_page_options {
    hdx_report_format format; /* HDX_REPORT_HTML or HDX_REPORT_MARKDOWN */
    /* the call that gives the rows, without heapdex and --limit: "diff a.hprof b.hprof"; NULL: the page names none */
    const char *command;
    bool        bytes; /* sizes are written in bytes, not as 1.5 MB */
} hdx_page_options;

/*
 * Writes rows and their document as a page: the result, what is known about the dumps, the rows as a table with a line
 * for each list of numbers, and the lists of the document as tables. Leaks and findings of check are also described.
 * REQUIRES: no row was read yet; the answer was not run with the argument document = false.
 * All rows are read before the page is written. Its last section reports what was left out: rows beyond
 * HDX_PAGE_ROWS_MOST, and what exceeds the size of the page. The caller still owns the options and the sink, and
 * closes the rows. The sink receives UTF-8 in pieces. One thread at a time may use the rows.
 * Returns HDX_USAGE for HDX_REPORT_JSON, HDX_IO if the sink failed, HDX_LIMIT if memory is short, or the error that
 * ended the rows.
 */
HDX_API hdx_code hdx_page_write(hdx_rows *rows, const hdx_page_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- pictures ---- */
typedef enum hdx_picture_format {
    HDX_PICTURE_FOLDED,     /* a line for each class path with its own bytes, for flamegraph.pl */
    HDX_PICTURE_SPEEDSCOPE, /* a document of speedscope.app */
    HDX_PICTURE_PPROF,      /* a profile of pprof, in gzip */
    HDX_PICTURE_SVG,        /* a treemap of three levels */
    HDX_PICTURE_DOT         /* a graph for Graphviz */
} hdx_picture_format;

#define HDX_PICTURE_NODES_MOST 200u /* of a graph */

typedef struct hdx_picture_options {
    hdx_picture_format format;
    const char        *title;   /* of the whole picture, such as the name of the dump */
    hdx_rows          *subject; /* for rows of `refs`: the answer `object` about the same object; otherwise NULL */
    bool               inbound; /* for rows of refs: they lead to the object */
} hdx_picture_options;

/*
 * Writes rows as a file that other programs draw; all text is UTF-8, pprof is binary. REQUIRES: no row was read yet.
 * FOLDED, SPEEDSCOPE, PPROF and SVG need all rows of dominators --merge in their order; the weights of a profile add up
 * to the retained size of the tree, to the byte. DOT needs rows of path or refs. Returns HDX_USAGE for other rows, and
 * for a graph of more than HDX_PICTURE_NODES_MOST objects; HDX_IO if the sink failed; the error that ended the rows.
 * HDX_LIMIT: memory is short. The caller still owns the options and the sink, and closes the rows. One thread at a time
 * may use the rows.
 */
HDX_API hdx_code hdx_picture_write(hdx_rows *rows, const hdx_picture_options *options, const hdx_sink *sink,
                                   hdx_error *err);

#ifdef __cplusplus
}
#endif

#endif
