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

#define MARKDOWN_MOST 65536u   /* bytes of a comment on GitHub */
#define MARKDOWN_ROOM 12000u   /* for a row of longest names, and for what must still follow */
#define HTML_MOST     1500000u /* bytes that programs for mail still show */
#define HTML_ROOM     100000u  /* more than one row of longest names */
#define TEXT_MOST     600u     /* columns of a text of the heap in HTML, and of a sentence */
#define TEXT_SHORT    200u     /* in Markdown */

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

/* Writes and frees a text that the room render made visible. */
static void put_shown(page *p, hdx_buffer *shown, uint32_t columns)
{
    hdx_buffer cut = hdx_buffer_of(NULL);
    if (shown->len > 0)
        (void)hdx_render_cut(&cut, shown->at, (size_t)shown->len, columns, false);
    if (cut.len > 0)
        escape(p, cut.at, (size_t)cut.len);
    p->out.failed = p->out.failed || shown->failed || cut.failed;
    hdx_buffer_free(&cut);
    hdx_buffer_free(shown);
}

void hdx_doc_cut(page *p, const char *at, size_t len, uint32_t columns)
{
    hdx_buffer shown = hdx_buffer_of(NULL);
    (void)hdx_render_text(&shown, at, len, false);
    put_shown(p, &shown, columns);
}

static uint32_t text_most(const page *p) { return is_html(p) ? TEXT_MOST : TEXT_SHORT; }

void hdx_doc_text(page *p, const char *at, size_t len) { hdx_doc_cut(p, at, len, text_most(p)); }
/* Our own words are whole. */
void hdx_doc_string(page *p, const char *text) { hdx_doc_cut(p, text, strlen(text), TEXT_MOST); }

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
    const hdx_render_options options = { .human_sizes = !p->bytes };
    hdx_buffer               shown = hdx_buffer_of(NULL);
    if (cell->kind == HDX_CELL_ABSENT)
        hdx_buffer_text(&shown, "(not in the dump)");
    else
        (void)hdx_render_cell(&shown, cell, unit, &options);
    put_shown(p, &shown, text_most(p));
}

void hdx_doc_root_type(page *p, hdx_text type)
{
    const char *words = hdx_root_type_words(type.at, type.len);
    if (words != NULL)
        hdx_doc_string(p, words);
    else
        hdx_doc_text(p, type.at, type.len);
}

/* ---- the document ---- */

static void flush(page *p)
{
    if (p->out.failed || p->out.len == 0)
        return;
    p->broken = p->broken || !p->sink->write(p->sink->context, p->out.at, (size_t)p->out.len);
    p->written += p->out.len;
    hdx_buffer_clear(&p->out);
}

void hdx_doc_begin(page *p, const char *title)
{
    if (!is_html(p)) {
        put(p, "# ");
        hdx_doc_string(p, title);
        put(p, "\n\n");
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
    put(p, "</h1>\n");
    if (p->listed)
        flush(p);
}

void hdx_doc_flush(page *p)
{
    if (!p->listed || !is_html(p))
        flush(p);
}

bool hdx_doc_is_full(const page *p)
{
    return p->written + p->out.len > (is_html(p) ? HTML_MOST - HTML_ROOM : MARKDOWN_MOST - MARKDOWN_ROOM);
}

/* Writes the list of sections, then what is held. */
static void put_list(page *p)
{
    hdx_buffer body = p->out;
    p->out = hdx_buffer_of(NULL);
    put(p, "<nav aria-label=Sections><ul>");
    for (unsigned i = 0; i < p->section_count; i++) {
        hdx_buffer_format(&p->out, "<li><a href=\"#%s\">", p->ids[i]);
        hdx_doc_string(p, p->titles[i]);
        put(p, "</a></li>");
    }
    put(p, "</ul></nav>\n");
    body.failed = body.failed || p->out.failed;
    flush(p);
    hdx_buffer_free(&p->out);
    p->out = body;
}

hdx_code hdx_doc_end(page *p, hdx_error *err)
{
    if (is_html(p)) {
        put(p, "</main></body></html>\n");
        if (p->listed)
            put_list(p);
    }
    return hdx_doc_finish(p, err);
}

hdx_code hdx_doc_finish(page *p, hdx_error *err)
{
    flush(p);
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
    p->title = title;
    if (p->section_count < HDX_DOC_SECTIONS) {
        p->ids[p->section_count] = id;
        p->titles[p->section_count++] = title;
    }
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
void hdx_doc_dim_begin(page *p) { put_for(p, "<span class=dim>", ""); }
void hdx_doc_dim_end(page *p) { put_for(p, "</span>", ""); }
void hdx_doc_card_begin(page *p) { put_for(p, "<div class=card>", ""); }
void hdx_doc_card_end(page *p) { put_for(p, "</div>\n", "\n"); }

void hdx_doc_heading(page *p, const char *title)
{
    p->title = title;
    hdx_doc_heading_begin(p);
    hdx_doc_string(p, title);
    hdx_doc_heading_end(p);
}

void hdx_doc_paragraph(page *p, const char *text)
{
    hdx_doc_paragraph_begin(p);
    hdx_doc_string(p, text);
    hdx_doc_paragraph_end(p);
}

/* True if a text begins with an ordinary word, which is written with a capital letter; a class name stays as it is. */
static bool begins_with_word(hdx_text text)
{
    uint32_t i = 0;
    while (i < text.len && text.at[i] >= 'a' && text.at[i] <= 'z')
        i++;
    return i > 0 && i < text.len && text.at[i] == ' ';
}

void hdx_doc_sentence(page *p, const hdx_cell *text)
{
    hdx_buffer shown = hdx_buffer_of(NULL);
    if (text->kind == HDX_CELL_TEXT && text->as.text.len > 0)
        (void)hdx_render_text(&shown, text->as.text.at, text->as.text.len, false);
    if (shown.len > 0) {
        const bool ends = shown.at[shown.len - 1] == '.';
        if (begins_with_word(text->as.text))
            shown.at[0] = (char)(shown.at[0] - 'a' + 'A');
        put_shown(p, &shown, TEXT_MOST);
        put(p, ends ? "" : ".");
    }
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

/* A word of a command, in quotes if a shell would read something else. */
static void put_word(page *p, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-";
    hdx_buffer        quoted = hdx_buffer_of(NULL);
    if (word[0] != '\0' && word[0] != '-' && word[strspn(word, plain)] == '\0') {
        hdx_doc_string(p, word);
        return;
    }
    hdx_buffer_text(&quoted, "'");
    for (const char *c = word; *c != '\0'; c++)
        hdx_buffer_put(&quoted, *c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
    hdx_buffer_text(&quoted, "'");
    if (!quoted.failed)
        hdx_doc_string(p, quoted.at);
    p->out.failed = p->out.failed || quoted.failed;
    hdx_buffer_free(&quoted);
}

void hdx_doc_commands(page *p, const char *command, const char *const *dumps, size_t count)
{
    put_for(p, "<pre tabindex=0>$ heapdex ", "<pre>$ heapdex ");
    hdx_doc_string(p, command);
    for (size_t i = 0; i < count; i++) {
        put(p, " ");
        put_word(p, dumps[i]);
    }
    put_for(p, "</pre>\n", "</pre>\n\n");
}

void hdx_doc_command(page *p, const char *command, const char *dump) { hdx_doc_commands(p, command, &dump, 1); }

void hdx_doc_code(page *p, hdx_text command, const char *dump, const hdx_cell *object)
{
    put(p, "<code>heapdex ");
    hdx_doc_text(p, command.at, command.len);
    put(p, " ");
    put_word(p, dump);
    if (object != NULL) {
        put(p, " ");
        hdx_doc_value(p, object, HDX_UNIT_NONE);
    }
    put(p, "</code>");
}

void hdx_doc_call(page *p, const char *call, const char *more)
{
    put_for(p, "<pre tabindex=0>$ heapdex ", "<pre>$ heapdex ");
    while (*call != '\0') { /* only a single word may be cut */
        const size_t word = strcspn(call, " ") + 1, len = strnlen(call, word);
        hdx_doc_cut(p, call, len, TEXT_MOST);
        call += len;
    }
    hdx_doc_string(p, more);
    put_for(p, "</pre>\n", "</pre>\n\n");
}

void hdx_doc_break(page *p) { put(p, "<br>"); }

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
    if (is_html(p)) {
        put(p, "<div class=scroll role=region tabindex=0 aria-label=\"");
        hdx_doc_string(p, p->title != NULL ? p->title : "Table");
        put(p, "\"><table><thead><tr>");
    } else {
        put(p, "|");
    }
    for (unsigned i = 0; i < count; i++) {
        put_for(p, columns[i].number ? "<th scope=col class=n" : "<th scope=col", " ");
        if (columns[i].help != NULL && is_html(p)) {
            put(p, " title=\"");
            hdx_doc_string(p, columns[i].help);
            put(p, "\"");
        }
        put_for(p, ">", "");
        hdx_doc_string(p, columns[i].title);
        put_for(p, "</th>", " |");
    }
    put_for(p, "</tr></thead><tbody>\n", "\n|");
    for (unsigned i = 0; i < count && !is_html(p); i++)
        put(p, columns[i].number ? " ---: |" : " --- |");
    put_for(p, "", "\n");
}

void hdx_doc_row(page *p)
{
    p->has_row_head = false;
    put_for(p, "<tr>", "|");
}

void hdx_doc_cell(page *p, bool number)
{
    const bool head = !number && !p->has_row_head;
    p->has_row_head = p->has_row_head || head;
    put_for(p, number ? "<td class=n>" : head ? "<th scope=row class=t>" : "<td class=t>", " ");
}

void hdx_doc_cell_end(page *p) { put_for(p, "", " |"); } /* HTML needs no end of a cell */

void hdx_doc_number(page *p, const hdx_cell *value, hdx_unit unit)
{
    const hdx_render_options exact = { .human_sizes = false };
    if (is_html(p) && unit == HDX_UNIT_BYTES && (value->kind == HDX_CELL_UINT || value->kind == HDX_CELL_INT)) {
        put(p, "<td class=n title=\"");
        (void)hdx_render_cell(&p->out, value, unit, &exact);
        put(p, " bytes\">");
    } else {
        hdx_doc_cell(p, true);
    }
    hdx_doc_value(p, value, unit);
    hdx_doc_cell_end(p);
}

void hdx_doc_row_end(page *p) { put_for(p, "</tr>\n", "\n"); }

void hdx_doc_table_end(page *p, const char *rest)
{
    put_for(p, "</tbody></table></div>\n", "\n");
    if (rest != NULL)
        hdx_doc_paragraph(p, rest);
}

/* ---- paths ---- */

void hdx_doc_path(page *p) { put_for(p, "<ol class=path>", ""); }

void hdx_doc_step(page *p, bool root, bool goal)
{
    put_for(p, goal ? "<li class=goal>" : root ? "<li class=dim>" : "<li>", "- ");
}

void hdx_doc_step_end(page *p) { put_for(p, "</li>\n", "\n"); }
void hdx_doc_path_end(page *p) { put_for(p, "</ol>\n", "\n"); }
