/*
 * markdown.c - the findings of check as a summary for a pull request, in GitHub's Markdown, which GitLab and others
 * also read.
 *
 * Names in a dump may contain any character. In text and tables every character that could be Markdown, HTML, a
 * formula, a link, an emoji or a mention is written as an entity, which none of these interpret. Paths are in fenced
 * blocks, which only a fence ends: each line in a block begins with a word, so none can be a fence.
 */
#include "cli/report.h"

/* code: the text is within <code>. Outside of it, @name would notify a user. */
static void put_text(hdx_buffer *out, const char *text, bool code)
{
    hdx_buffer plain = hdx_buffer_of(NULL);
    cli_put_plain(&plain, text, strlen(text));
    for (uint64_t i = 0; i < plain.len; i++) {
        const char c = plain.at[i];
        if (strchr("&<>|`*_[]\\~@#:!$\"'", c) != NULL)
            hdx_buffer_format(out, "&#%d;%s", c, c == '@' && !code ? "&#8203;" : "");
        else
            hdx_buffer_put(out, &c, 1);
    }
    out->failed |= plain.failed;
    hdx_buffer_free(&plain);
}

static void put_code(hdx_buffer *out, const char *text)
{
    hdx_buffer_text(out, "<code>");
    put_text(out, text, true);
    hdx_buffer_text(out, "</code>");
}

static void put_row(hdx_buffer *out, const hdx_check_result *r)
{
    hdx_buffer_text(out, r->state == HDX_CHECK_BROKEN ? "| :x: | " : "| :white_check_mark: | ");
    if (r->name != NULL) {
        put_text(out, r->name, false);
        hdx_buffer_text(out, ": ");
    }
    put_code(out, r->rule);
    hdx_buffer_text(out, " | ");
    put_text(out, r->message, false);
    if (r->note != NULL) {
        hdx_buffer_text(out, " (");
        put_text(out, r->note, false);
        hdx_buffer_text(out, ")");
    }
    hdx_buffer_text(out, " |\n");
}

static void put_details(hdx_buffer *out, const hdx_check_result *r)
{
    hdx_buffer lines = hdx_buffer_of(NULL);
    if (r->step_count == 0 && r->reason == NULL)
        return;
    hdx_buffer_text(out, "\n<details><summary>");
    put_code(out, r->rule);
    if (r->class_name != NULL) {
        hdx_buffer_text(out, ": ");
        put_code(out, r->class_name);
    }
    hdx_buffer_text(out, "</summary>\n\n");
    if (r->reason != NULL) {
        put_text(out, r->reason, false);
        hdx_buffer_text(out, "\n\n");
    }
    if (r->step_count > 0) {
        hdx_check_result path = *r;
        path.reason = NULL;
        hdx_buffer_text(out, "```text\n");
        path.message = "found:";
        cli_put_finding(&lines, &path);
        const char *from =
            lines.at != NULL ? strchr(lines.at, '\n') : NULL; /* without the message, which is already in the table */
        hdx_buffer_text(out, from != NULL ? from + 1 : "");
        hdx_buffer_text(out, "```\n");
        out->failed |= lines.failed;
        hdx_buffer_free(&lines);
    }
    hdx_buffer_text(out, "\n</details>\n");
}

void cli_check_markdown(hdx_buffer *out, const hdx_check *check, const char *dump)
{
    if (check->broken == 0 && check->rule_count == 1)
        hdx_buffer_text(out, "### Heap check: the rule holds\n\n");
    else if (check->broken == 0)
        hdx_buffer_format(out, "### Heap check: all %llu rules hold\n\n", (unsigned long long)check->rule_count);
    else
        hdx_buffer_format(out, "### Heap check: %llu of %llu rule%s broken\n\n", (unsigned long long)check->broken,
                          (unsigned long long)check->rule_count, check->rule_count == 1 ? "" : "s");
    put_code(out, dump);
    hdx_buffer_text(out, "\n\n| | rule | found |\n| --- | --- | --- |\n");
    for (unsigned state = 2; state-- > 0;)
        for (uint64_t i = 0; i < check->result_count; i++)
            if ((unsigned)check->results[i].state == state)
                put_row(out, &check->results[i]);
    for (uint64_t i = 0; i < check->result_count; i++)
        if (check->results[i].state == HDX_CHECK_BROKEN)
            put_details(out, &check->results[i]);
}
