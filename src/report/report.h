/*
 * report.h - the answers about a heap as one document that can be mailed: HTML without a script, Markdown, or JSON.
 *
 *   sections.c   which answers are in it, and what is said about each; overview.c, stacks.c, growth.c and dump.c:
 *                those that are more than a table
 *   map.c        the dominator tree by class path as a picture (treemap)
 *   page.c       the document: headings, paragraphs, tables, paths; all text of a heap passes hdx_doc_text
 *   series.c     a list of numbers as a small line
 *   style.c      the style sheet of the HTML document
 *   answer_page.c  one answer as a page, from its declared columns; answer_cards.c: leaks and findings of check
 *   series.c     a list of numbers as a small line
 *   picture.c    rows as a file for other programs: profile.c (folded, speedscope, pprof), map.c (SVG), dot.c (DOT)
 *
 * Nothing is computed here that an answer does not give: each section ends in the command that gives the same rows.
 */
#ifndef HDX_REPORT_REPORT_H
#define HDX_REPORT_REPORT_H

#include <heapdex/report.h>

#endif
