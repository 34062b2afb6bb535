/*
 * leaks.c - behind the command leaks: JUnit, and whether the condition of --fail-on holds. The session keeps the
 * answers: the page (leaks_page.c) and JUnit draw from them.
 */
#include "cli/cli.h"

#include <stdio.h>

static bool fails(const cli_call *c, hdx_leak_kind kind)
{
    static const cli_fail of[] = { CLI_FAIL_APPLICATION, CLI_FAIL_LIBRARY,
                                   CLI_FAIL_ANY }; /* an unreachable object fails `any` alone */
    return c->fail_on == CLI_FAIL_ANY || c->fail_on == of[kind];
}

/* ---- JUnit ---- */

static void put_xml(hdx_buffer *out, const char *text)
{
    hdx_buffer plain = hdx_buffer_of(NULL);
    cli_put_plain(&plain, text, strlen(text));
    for (uint64_t i = 0; i < plain.len; i++) {
        const char c = plain.at[i];
        if (c == '&')
            hdx_buffer_text(out, "&amp;");
        else if (c == '<')
            hdx_buffer_text(out, "&lt;");
        else if (c == '>')
            hdx_buffer_text(out, "&gt;");
        else if (c == '"')
            hdx_buffer_text(out, "&quot;");
        else
            hdx_buffer_put(out, &c, 1);
    }
    out->failed |= plain.failed;
    hdx_buffer_free(&plain);
}

/* A case per leak; those that --fail-on names (application leaks without it) are failures. */
static void put_case(cli_run *run, hdx_buffer *out, const hdx_leak *k, size_t dump)
{
    const hdx_leak_trace *t = &k->traces[0];
    const bool            failure =
        run->call->fail_on == CLI_FAIL_NEVER ? k->kind == HDX_LEAK_APPLICATION : fails(run->call, k->kind);
    hdx_buffer_format(out, "    <testcase classname=\"leaks.%s\" name=\"", hdx_leak_kind_name(k->kind));
    put_xml(out, t->class_name);
    hdx_buffer_format(out, " %s\"%s\n", k->signature, failure ? ">" : "/>");
    if (!failure)
        return;
    hdx_buffer_format(out, "      <failure message=\"%llu object%s leaked\" type=\"%s\">",
                      (unsigned long long)k->trace_count, k->trace_count == 1 ? "" : "s", hdx_leak_kind_name(k->kind));
    hdx_buffer drawn = hdx_buffer_of(NULL);
    hdx_buffer_format(&drawn, "%s\n", hdx_session_dump(run->session, dump));
    cli_put_trace(&drawn, hdx_session_leaks(run->session, dump), t, false);
    hdx_buffer lines = hdx_buffer_of(NULL); /* line by line: the page has no control characters but line ends */
    for (const char *p = drawn.at != NULL ? drawn.at : ""; *p != '\0';) {
        const size_t n = strcspn(p, "\n");
        hdx_buffer_clear(&lines);
        hdx_buffer_put(&lines, p, n);
        put_xml(out, lines.at != NULL ? lines.at : "");
        hdx_buffer_text(out, "\n");
        p += n + (p[n] == '\n');
    }
    out->failed |= drawn.failed || lines.failed;
    hdx_buffer_free(&lines);
    hdx_buffer_free(&drawn);
    hdx_buffer_text(out, "      </failure>\n    </testcase>\n");
}

static hdx_code write_junit(cli_run *run, hdx_error *err)
{
    hdx_buffer  out = hdx_buffer_of(NULL);
    cli_output *file = hdx_mem_get(NULL, sizeof *file);
    hdx_code    code;
    if (file == NULL)
        return hdx_no_memory(err, "the JUnit file", sizeof *file);
    hdx_buffer_text(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t d = 0; d < run->call->word_count + 1; d++) {
        const hdx_leaks *l = hdx_session_leaks(run->session, d);
        uint64_t         failures = 0;
        for (uint64_t i = 0; i < l->leak_count; i++)
            failures += run->call->fail_on == CLI_FAIL_NEVER ? l->leaks[i].kind == HDX_LEAK_APPLICATION
                                                             : fails(run->call, l->leaks[i].kind);
        hdx_buffer_text(&out, "  <testsuite name=\"");
        put_xml(&out, hdx_session_dump(run->session, d));
        hdx_buffer_format(&out, "\" tests=\"%llu\" failures=\"%llu\">\n",
                          (unsigned long long)(l->leak_count > 0 ? l->leak_count : 1), (unsigned long long)failures);
        if (l->leak_count == 0)
            hdx_buffer_text(&out, "    <testcase classname=\"leaks\" name=\"no leaks\"/>\n");
        for (uint64_t i = 0; i < l->leak_count; i++)
            put_case(run, &out, &l->leaks[i], d);
        hdx_buffer_text(&out, "  </testsuite>\n");
    }
    hdx_buffer_text(&out, "</testsuites>\n");
    code = out.failed ? hdx_no_memory(err, "the JUnit file", out.len)
                      : cli_output_open(file, run->call->junit, run->call->index.dump, run->call->words,
                                        run->call->word_count, err);
    if (code == HDX_OK) {
        (void)cli_output_write(file, out.at, (size_t)out.len);
        code = cli_output_commit(file, err);
    }
    cli_output_drop(file);
    hdx_mem_put(NULL, file, sizeof *file);
    hdx_buffer_free(&out);
    return code;
}

/* ---- after the answer ---- */

hdx_code cli_leaks_after(cli_run *run, hdx_error *err)
{
    const cli_call *c = run->call;
    hdx_code        code = c->junit != NULL ? write_junit(run, err) : HDX_OK;
    for (size_t d = 0; code == HDX_OK && d <= c->word_count; d++) {
        const hdx_leaks *l = hdx_session_leaks(run->session, d);
        for (uint64_t i = 0; i < l->leak_count; i++)
            run->condition |= fails(c, l->leaks[i].kind);
        if (c->verbose)
            cli_notice(run->console, "%s: leaks %s", hdx_session_dump(run->session, d),
                       l->remembered ? "remembered beside the index" : "searched");
    }
    return code;
}
