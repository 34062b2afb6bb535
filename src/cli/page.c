/*
 * page.c - functions that pages share: values as text, paragraphs, commands to run next, and the line for an empty
 * answer.
 */
#include "cli/cli.h"

#define FAILURES_SHOWN 10u  /* on standard error; the document has more */
#define WIDTH          80u  /* columns of text if no width is given */
#define WIDEST         100u /* longer lines are hard to read */

void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options)
{
    if (cell->kind == HDX_CELL_ABSENT)
        hdx_buffer_text(out, "(not in the dump)");
    else
        (void)hdx_render_cell(out, cell, unit, options);
}

void cli_put_empty_reason(hdx_buffer *out, hdx_rows *rows)
{
    const char *why = hdx_rows_empty_reason(rows);
    hdx_buffer_format(out, "(%s)\n", why != NULL ? why : "no rows");
}

/* Returns whether the text continues with a digit, a blank and a unit. */
static bool is_unit(const char *at, const char *end)
{
    static const char *const units[] = { "%", "B", "KB", "MB", "GB", "TB", "PB", "EB" };
    if (*at < '0' || *at > '9')
        return false;
    at += 2;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i]);
        if ((size_t)(end - at) >= n && memcmp(at, units[i], n) == 0 &&
            ((size_t)(end - at) == n || strchr(" .,;:)", at[n]) != NULL))
            return true;
    }
    return false;
}

/* A word that is wider than a line is cut. */
void cli_put_paragraph(hdx_buffer *out, const char *text, uint64_t len, const char *indent, unsigned width)
{
    const unsigned wide = width == 0 ? WIDTH : width > WIDEST ? WIDEST : width;
    const uint32_t before = (uint32_t)strlen(indent), room = wide > 2 * before ? wide - before : before;
    uint32_t       column = 0;
    for (uint64_t i = 0; i < len;) {
        const char *word = text + i, *blank = memchr(word, ' ', len - i);
        if (blank != NULL && blank > text && is_unit(blank - 1, text + len)) /* "1.9 MB" is one word */
            blank = memchr(blank + 1, ' ', len - i - (uint64_t)(blank + 1 - word));
        size_t n = blank == NULL ? (size_t)(len - i) : (size_t)(blank - word);
        if (hdx_render_columns(word, n) > room)
            n = hdx_render_bytes(word, n, room, false);
        const uint32_t columns = hdx_render_columns(word, n);
        if (column == 0 || column + 1 + columns > room) {
            hdx_buffer_format(out, "%s%s", column == 0 ? "" : "\n", indent);
            column = 0;
        } else {
            hdx_buffer_text(out, " ");
            column++;
        }
        hdx_buffer_put(out, word, n);
        column += columns;
        i += n > 0 ? n : 1;
        while (i < len && text[i] == ' ')
            i++;
    }
    hdx_buffer_text(out, "\n");
}

void cli_put_shell_word(hdx_buffer *out, const char *text, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,";
    bool              quoted = len == 0;
    for (size_t i = 0; i < len; i++)
        quoted |= strchr(plain, text[i]) == NULL || text[i] == '\0';
    hdx_buffer_text(out, quoted ? "'" : "");
    for (size_t from = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '\'') {
            cli_put_plain(out, text + from, i - from);
            hdx_buffer_text(out, i < len ? "'\\''" : "");
            from = i + 1;
        }
    hdx_buffer_text(out, quoted ? "'" : "");
}

void cli_put_command(hdx_buffer *out, const cli_call *c, hdx_text command)
{
    const char  *blank = memchr(command.at, ' ', command.len);
    const size_t name = blank == NULL ? command.len : (size_t)(blank - command.at);
    hdx_buffer_format(out, "heapdex %.*s ", (int)name, command.at);
    if (*c->index.dump == '-')
        hdx_buffer_text(out, "./");
    cli_put_shell_word(out, c->index.dump, strlen(c->index.dump));
    if (c->index.dump_number != 1)
        hdx_buffer_format(out, " --dump-number %llu", (unsigned long long)c->index.dump_number);
    if (c->index.index_dir != NULL) {
        hdx_buffer_text(out, " --index-dir ");
        cli_put_shell_word(out, c->index.index_dir, strlen(c->index.index_dir));
    }
    cli_put_plain(out, command.at + name, command.len - name);
}

void cli_put_next(hdx_buffer *out, const cli_call *c, hdx_text says, hdx_text command, unsigned width)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    cli_put_plain(&text, says.at, says.len);
    if (!text.failed)
        cli_put_paragraph(out, text.at, text.len, "  # ", width);
    hdx_buffer_text(out, "  ");
    cli_put_command(out, c, command);
    hdx_buffer_text(out, "\n");
    out->failed = out->failed || text.failed;
    hdx_buffer_free(&text);
}

/* Reports the conditions of --fail-on that are true, for answers that evaluate them themselves. */
void cli_report_failures(cli_run *run, const hdx_rows *rows)
{
    static const char whole[] = "the whole heap";
    const hdx_cell   *count = hdx_rows_extra_cell(rows, "failed"), *failures = hdx_rows_extra_cell(rows, "failures");
    if (count->kind != HDX_CELL_UINT || count->as.natural == 0)
        return;
    run->condition = true;
    const uint64_t shown = failures->kind == HDX_CELL_LIST && failures->as.list.count < FAILURES_SHOWN
                               ? failures->as.list.count
                               : FAILURES_SHOWN;
    for (uint64_t i = 0; failures->kind == HDX_CELL_LIST && i < shown; i++) {
        const hdx_cell *condition = hdx_cell_member(&failures->as.list.at[i], "condition"),
                       *key = hdx_cell_member(&failures->as.list.at[i], "key");
        if (condition->kind == HDX_CELL_TEXT)
            cli_notice(run->console, "--fail-on '%.*s' is true for %.*s", (int)condition->as.text.len,
                       condition->as.text.at,
                       key->kind == HDX_CELL_TEXT ? (int)key->as.text.len : (int)sizeof whole - 1,
                       key->kind == HDX_CELL_TEXT ? key->as.text.at : whole);
    }
    if (count->as.natural > shown)
        cli_notice(run->console, "and %llu more", (unsigned long long)(count->as.natural - shown));
}

bool cli_flush(hdx_buffer *out, const hdx_sink *sink)
{
    const bool good = out->failed || out->len == 0 || sink->write(sink->context, out->at, (size_t)out->len);
    hdx_buffer_clear(out);
    return good;
}

hdx_code cli_page_end(hdx_code code, bool good, bool memory, hdx_error *err)
{
    if (code == HDX_OK && memory)
        code = hdx_no_memory(err, "a page of lines", 0);
    return code != HDX_OK || good ? code : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}
