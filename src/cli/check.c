/*
 * check.c - the command check: whether a rule is broken (exit 1), its page, and the requested reports. Reports contain
 * all findings of the session, independent of the columns and conditions of the answer.
 *
 *     max retained com.acme.* 50M: 61.2 MB by 812 objects of 4 classes, more than 50.0 MB; com.acme.Cache 0x7f3a10
 *         keeps 60.8 MB; thread: java.lang.Thread "main" <Java Local> -> com.acme.App .cache -> com.acme.Cache
 *     1 of 3 rules is broken
 *
 * Each finding is one line, however long, because people search the logs of builds line by line.
 */
#include "cli/report.h"

#include <stdio.h>

/* ---- the page ---- */

static void put(hdx_buffer *out, const char *text) { cli_put_plain(out, text, strlen(text)); }

static void put_line(hdx_buffer *out, const hdx_check_result *r, bool color)
{
    hdx_buffer_text(out, color ? "\x1b[1m" : "");
    if (r->name != NULL) {
        put(out, r->name);
        hdx_buffer_text(out, ": ");
    }
    put(out, r->rule);
    hdx_buffer_text(out, color ? "\x1b[0m: " : ": ");
    put(out, r->message);
    cli_put_found_object(out, r, "; ");
    if (r->path != NULL) {
        hdx_buffer_text(out, "; ");
        put(out, r->path);
    }
    if (r->reason != NULL) {
        hdx_buffer_text(out, " (because ");
        put(out, r->reason);
        hdx_buffer_text(out, ")");
    }
    hdx_buffer_text(out, "\n");
}

hdx_code cli_check_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    const hdx_check *check = hdx_session_check(run->session);
    hdx_buffer       out = hdx_buffer_of(NULL);
    for (uint64_t i = 0; i < check->result_count; i++)
        if (check->results[i].state == HDX_CHECK_BROKEN)
            put_line(&out, &check->results[i], options->color);
    for (uint64_t i = 0; i < check->result_count; i++) {
        const hdx_check_result *r = &check->results[i];
        if (r->note == NULL)
            continue;
        hdx_buffer_text(&out, "note: ");
        put(&out, r->rule);
        hdx_buffer_text(&out, ": ");
        put(&out, r->note);
        hdx_buffer_text(&out, "\n");
    }
    if (check->broken == 0 && check->rule_count == 1)
        hdx_buffer_text(&out, "the rule holds\n");
    else if (check->broken == 0)
        hdx_buffer_format(&out, "all %llu rules hold\n", (unsigned long long)check->rule_count);
    else
        hdx_buffer_format(&out, "%llu of %llu rule%s %s broken\n", (unsigned long long)check->broken,
                          (unsigned long long)check->rule_count, check->rule_count == 1 ? "" : "s",
                          check->broken == 1 ? "is" : "are");
    const bool memory = out.failed, good = cli_flush(&out, sink);
    hdx_buffer_free(&out);
    return cli_page_end(HDX_OK, good, memory, err);
}

/* ---- reports ---- */

void cli_check_junit(hdx_buffer *out, const hdx_check *check, const char *dump)
{
    hdx_buffer text = hdx_buffer_of(NULL), of = hdx_buffer_of(NULL);
    uint64_t   failures = 0;
    for (uint64_t i = 0; i < check->result_count; i++)
        failures += check->results[i].state == HDX_CHECK_BROKEN;
    cli_junit_begin(out);
    cli_junit_suite(out, 0, dump, check->result_count, failures);
    for (uint64_t i = 0; i < check->result_count; i++) {
        const hdx_check_result *r = &check->results[i];
        const bool              several = r->signature != NULL && strcmp(r->signature, r->rule) != 0;
        const uint64_t          alike = cli_check_alike(check, i);
        char                    ordinal[32] = "";
        const char *const name[] = { r->name != NULL ? r->name : r->rule, several ? r->signature : "", ordinal, NULL };
        if (alike > 0)
            (void)snprintf(ordinal, sizeof ordinal, "(%llu)", (unsigned long long)alike + 1);
        hdx_buffer_clear(&of);
        hdx_buffer_clear(&text);
        hdx_buffer_format(&of, "check.%s", r->kind);
        if (r->name != NULL)
            hdx_buffer_format(&text, "%s\n", r->rule);
        cli_put_finding(&text, r);
        if (of.at == NULL || text.at == NULL)
            continue;
        if (r->state == HDX_CHECK_BROKEN)
            cli_junit_failure(out, of.at, name, r->message, r->kind, text.at);
        else
            cli_junit_pass(out, of.at, name);
    }
    cli_junit_suite_end(out);
    cli_junit_end(out);
    out->failed |= text.failed || of.failed;
    hdx_buffer_free(&text);
    hdx_buffer_free(&of);
}

hdx_code cli_check_after(cli_run *run, hdx_error *err)
{
    const cli_call  *c = run->call;
    const hdx_check *check = hdx_session_check(run->session);
    hdx_buffer       out = hdx_buffer_of(NULL);
    hdx_code         code = HDX_OK;
    run->condition = check->broken > 0;
    if (c->junit != NULL) {
        cli_check_junit(&out, check, c->index.dump);
        code = cli_report_write(run, c->junit, &out, "the JUnit file", err);
    }
    if (code == HDX_OK && c->sarif != NULL) {
        code = cli_check_sarif(&out, check, c->index.dump, err);
        if (code == HDX_OK)
            code = cli_report_write(run, c->sarif, &out, "the SARIF file", err);
    }
    if (code == HDX_OK && c->markdown != NULL) {
        cli_check_markdown(&out, check, c->index.dump);
        code = cli_report_write(run, c->markdown, &out, "the Markdown file", err);
    }
    hdx_buffer_free(&out);
    return code;
}
