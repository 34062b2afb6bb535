/*
 * report.h - the answers about a heap as one document that can be mailed: HTML without a script, Markdown, or JSON.
 *
 *   sections.c   which answers are in it, and what is said about each
 *   map.c        the dominator tree by class path as a picture (treemap)
 *   page.c       the document: headings, paragraphs, tables, paths; all text of a heap passes hdx_doc_text
 *   style.c      the style sheet of the HTML document
 *   picture.c    rows as a file for other programs: profile.c (folded, speedscope, pprof), map.c (SVG), dot.c (DOT)
 *
 * Nothing is computed here that an answer does not give: each section ends in the command that gives the same rows.
 */
#ifndef HDX_REPORT_REPORT_H
#define HDX_REPORT_REPORT_H

#include <heapdex/report.h>

typedef enum hdx_picture_format {
    HDX_PICTURE_FOLDED,     /* a line for each class path with its bytes, for flamegraph.pl */
    HDX_PICTURE_SPEEDSCOPE, /* a document of speedscope.app */
    HDX_PICTURE_PPROF,      /* a profile of pprof, in gzip */
    HDX_PICTURE_SVG,        /* a treemap of three levels */
    HDX_PICTURE_DOT         /* a graph for Graphviz */
} hdx_picture_format;

typedef struct hdx_picture_options {
    hdx_picture_format format;
    const char        *title;
    hdx_rows          *subject; /* for rows of refs: rows of `object` about the object; NULL: other rows */
    bool               inbound; /* for rows of refs: they lead to the object */
} hdx_picture_options;

/*
 * Writes rows as a file that other programs draw. REQUIRES: no row was read yet. FOLDED, SPEEDSCOPE, PPROF and SVG need
 * all rows of dominators --merge in their order; the weights of a profile add up to the retained size of the tree, to
 * the byte. DOT needs rows of path or refs. Returns HDX_USAGE for other rows, and for a graph of more than
 * HDX_PICTURE_NODES_MOST objects; HDX_IO if the sink failed; the error that ended the rows. The caller closes the rows.
 */
#define HDX_PICTURE_NODES_MOST 200u
hdx_code hdx_picture_write(hdx_rows *rows, const hdx_picture_options *options, const hdx_sink *sink, hdx_error *err);

#endif
