/*
 * page.c - a document as HTML or Markdown.
 *
 * In:  headings, sentences, cells of answers.
 * Out: one file. HTML has no script and allows no style but its own; Markdown is what GitHub, GitLab and others read.
 *
 * Text of a heap may be anything. hdx_doc_text makes it visible (hdx_render_text shows control and direction characters
 * as \xe2\x80\xae) and then escapes what the format would read as a mark; nothing else writes text of a heap.
 */
#include "report/page.h"

#include <stdio.h>

#define MARKDOWN_MOST 65536u /* bytes of a comment on GitHub */
#define MARKDOWN_ROOM 4096u  /* kept for what must still follow */

static bool is_html(const page *p) { return p->options->format == HDX_REPORT_HTML; }

/* Our own marks. */
static void put(page *p, const char *text) { hdx_buffer_text(&p->out, text); }

static void put_for(page *p, const char *html, const char *markdown) { put(p, is_html(p) ? html : markdown); }

/* ---- text ---- */

static void escape(page *p, const char *at, size_t len)
{
    const char *marks = is_html(p) ? "&<>\"'" : "&<>|`*_[]\\~@#:!$\"'";
    for (size_t i = 0; i < len; i++) {
        if (strchr(marks, at[i]) == NULL || at[i] == '\0')
            hdx_buffer_put(&p->out, at + i, 1);
        else
            hdx_buffer_format(&p->out, "&#%d;%s", at[i], at[i] == '@' && !is_html(p) ? "&#8203;" : "");
    }
}

void hdx_doc_text(page *p, const char *at, size_t len)
{
    hdx_buffer shown = hdx_buffer_of(NULL);
    (void)hdx_render_text(&shown, at, len, false);
    if (shown.len > 0)
        escape(p, shown.at, shown.len);
    p->out.failed = p->out.failed || shown.failed;
    hdx_buffer_free(&shown);
}

void hdx_doc_string(page *p, const char *text) { hdx_doc_text(p, text, strlen(text)); }

void hdx_doc_class(page *p, hdx_text name)
{
    const char *dollar = memchr(name.at, '$', name.len);
    uint32_t    simple = dollar != NULL ? (uint32_t)(dollar - name.at) : name.len;
    while (simple > 0 && name.at[simple - 1] != '.')
        simple--;
    if (simple > 0 && is_html(p)) {
        put(p, "<span class=pkg>");
        hdx_doc_text(p, name.at, simple);
        put(p, "</span>");
        hdx_doc_text(p, name.at + simple, name.len - simple);
    } else {
        hdx_doc_text(p, name.at, name.len);
    }
}

void hdx_doc_value(page *p, const hdx_cell *cell, hdx_unit unit)
{
    const hdx_render_options options = { .human_sizes = true };
    hdx_buffer               shown = hdx_buffer_of(NULL);
    if (cell->kind == HDX_CELL_ABSENT)
        hdx_buffer_text(&shown, "(not in the dump)");
    else
        (void)hdx_render_cell(&shown, cell, unit, &options);
    if (shown.len > 0)
        escape(p, shown.at, shown.len); /* hdx_render_cell has made it visible */
    p->out.failed = p->out.failed || shown.failed;
    hdx_buffer_free(&shown);
}

/* ---- the document ---- */

void hdx_doc_begin(page *p, const char *title, const char *const *sections, unsigned count)
{
    if (!is_html(p)) {
        put(p, "# ");
        hdx_doc_string(p, title);
        put(p, "\n");
        return;
    }
    put(p, "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
           "<meta name=viewport content=\"width=device-width, initial-scale=1\">"
           "<meta name=color-scheme content=\"light dark\"><meta name=referrer content=no-referrer>"
           "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src '");
    put(p, hdx_doc_style_hash());
    put(p, "'; base-uri 'none'; form-action 'none'\"><title>");
    hdx_doc_string(p, title);
    put(p, "</title><style>");
    put(p, hdx_doc_style());
    put(p, "</style></head><body><main><h1>");
    hdx_doc_string(p, title);
    put(p, "</h1>\n<nav aria-label=Sections><ul>");
    for (unsigned i = 0; i + 1 < count; i += 2) {
        put(p, "<li><a href=\"#");
        put(p, sections[i]);
        put(p, "\">");
        hdx_doc_string(p, sections[i + 1]);
        put(p, "</a>");
    }
    put(p, "</ul></nav>\n");
}

void hdx_doc_flush(page *p)
{
    if (p->out.failed || p->out.len == 0)
        return;
    p->broken = p->broken || !p->sink->write(p->sink->context, p->out.at, (size_t)p->out.len);
    p->written += p->out.len;
    hdx_buffer_clear(&p->out);
}

bool hdx_doc_is_full(const page *p)
{
    return p->options->format == HDX_REPORT_MARKDOWN && p->written + p->out.len > MARKDOWN_MOST - MARKDOWN_ROOM;
}

hdx_code hdx_doc_end(page *p, hdx_error *err)
{
    if (is_html(p))
        put(p, "</main></body></html>\n");
    return hdx_doc_finish(p, err);
}

hdx_code hdx_doc_finish(page *p, hdx_error *err)
{
    hdx_doc_flush(p);
    const bool     failed = p->out.failed;
    const uint64_t len = p->out.len;
    hdx_buffer_free(&p->out);
    return failed      ? hdx_no_memory(err, "a report", len)
           : p->broken ? hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write")
                       : HDX_OK;
}

/* ---- blocks ---- */

void hdx_doc_section(page *p, const char *id, const char *title)
{
    if (is_html(p))
        hdx_buffer_format(&p->out, "<section id=%s><h2>", id);
    put_for(p, "", "\n## ");
    hdx_doc_string(p, title);
    put_for(p, "</h2>\n", "\n\n");
}

void hdx_doc_section_end(page *p)
{
    put_for(p, "</section>\n", "");
    hdx_doc_flush(p);
}

void hdx_doc_heading_begin(page *p) { put_for(p, "<h3>", "\n### "); }
void hdx_doc_heading_end(page *p) { put_for(p, "</h3>\n", "\n\n"); }
void hdx_doc_paragraph_begin(page *p) { put_for(p, "<p>", ""); }
void hdx_doc_paragraph_end(page *p) { put_for(p, "</p>\n", "\n\n"); }
void hdx_doc_strong_begin(page *p) { put_for(p, "<b>", "**"); }
void hdx_doc_strong_end(page *p) { put_for(p, "</b>", "**"); }
void hdx_doc_card_begin(page *p) { put_for(p, "<div class=card>", ""); }
void hdx_doc_card_end(page *p) { put_for(p, "</div>\n", "\n"); }

void hdx_doc_heading(page *p, const char *title)
{
    hdx_doc_heading_begin(p);
    hdx_doc_string(p, title);
    hdx_doc_heading_end(p);
}

void hdx_doc_say(page *p, const char *text)
{
    hdx_doc_paragraph_begin(p);
    hdx_doc_string(p, text);
    hdx_doc_paragraph_end(p);
}

void hdx_doc_say_cell(page *p, const hdx_cell *text)
{
    hdx_doc_paragraph_begin(p);
    if (text->kind == HDX_CELL_TEXT)
        hdx_doc_text(p, text->as.text.at, text->as.text.len);
    hdx_doc_paragraph_end(p);
}

void hdx_doc_facts(page *p) { put_for(p, "<dl>", "| | |\n| --- | --- |\n"); }

void hdx_doc_fact(page *p, const char *name, const hdx_cell *value, hdx_unit unit)
{
    put_for(p, "<div><dt>", "| ");
    hdx_doc_string(p, name);
    put_for(p, "</dt><dd>", " | ");
    hdx_doc_value(p, value, unit);
    put_for(p, "</dd></div>", " |\n");
}

void hdx_doc_facts_end(page *p) { put_for(p, "</dl>\n", "\n"); }

void hdx_doc_command(page *p, const char *command, const char *dump)
{
    put_for(p, "<pre>$ heapdex ", "<pre>$ heapdex ");
    hdx_doc_string(p, command);
    put(p, " ");
    hdx_doc_string(p, dump);
    put(p, "</pre>\n");
    put_for(p, "", "\n");
}

void hdx_doc_details(page *p, const char *summary)
{
    put(p, "<details><summary>");
    hdx_doc_string(p, summary);
    put_for(p, "</summary>", "</summary>\n\n");
}

void hdx_doc_details_end(page *p) { put_for(p, "</details>\n", "\n</details>\n\n"); }

/* ---- tables ---- */

void hdx_doc_table(page *p, const page_column *columns, unsigned count)
{
    p->columns = count;
    put_for(p, "<div class=scroll tabindex=0><table><thead><tr>", "|");
    for (unsigned i = 0; i < count; i++) {
        put_for(p, columns[i].number ? "<th scope=col class=n>" : "<th scope=col>", " ");
        hdx_doc_string(p, columns[i].title);
        put_for(p, "</th>", " |");
    }
    put_for(p, "</tr></thead><tbody>\n", "\n|");
    for (unsigned i = 0; i < count && !is_html(p); i++)
        put(p, columns[i].number ? " ---: |" : " --- |");
    put_for(p, "", "\n");
}

void hdx_doc_row(page *p) { put_for(p, "<tr>", "|"); }
void hdx_doc_cell(page *p, bool number) { put_for(p, number ? "<td class=n>" : "<td class=t>", " "); }
void hdx_doc_cell_end(page *p) { put_for(p, "</td>", " |"); }
void hdx_doc_row_end(page *p) { put_for(p, "</tr>\n", "\n"); }

void hdx_doc_table_end(page *p, const char *rest)
{
    put_for(p, "</tbody></table></div>\n", "\n");
    if (rest != NULL)
        hdx_doc_say(p, rest);
}

/* ---- paths ---- */

void hdx_doc_path(page *p) { put_for(p, "<ol class=path>", ""); }

void hdx_doc_step(page *p, bool root, bool goal)
{
    put_for(p, goal ? "<li class=goal>" : root ? "<li class=dim>" : "<li>", "- ");
}

void hdx_doc_step_end(page *p) { put_for(p, "</li>\n", "\n"); }
void hdx_doc_path_end(page *p) { put_for(p, "</ol>\n", "\n"); }
