/*
 * leaks.c - the command leaks: the JUnit file, and whether the condition of --fail-on is true. The page (leaks_page.c)
 * and JUnit read the leaks from the session.
 */
#include "cli/report.h"

#include <stdio.h>

static bool fails(const cli_call *c, hdx_leak_kind kind)
{
    /* an unreachable object only fails `any` */
    static const cli_fail of[] = { CLI_FAIL_APPLICATION, CLI_FAIL_LIBRARY, CLI_FAIL_ANY };
    return c->fail_on == CLI_FAIL_ANY || c->fail_on == of[kind];
}

/* ---- JUnit ---- */

/* Returns whether JUnit reports a failure: for the leaks that --fail-on names, without it for application leaks. */
static bool is_failure(const cli_call *c, hdx_leak_kind kind)
{
    return c->fail_on == CLI_FAIL_NEVER ? kind == HDX_LEAK_APPLICATION : fails(c, kind);
}

/* Writes a test case for a leak. */
static void put_case(cli_run *run, hdx_buffer *out, const hdx_leak *k, size_t dump)
{
    const hdx_leak_trace *t = &k->traces[0];
    const char *const     name[] = { t->class_name, k->signature, NULL };
    char                  of[32], message[48];
    (void)snprintf(of, sizeof of, "leaks.%s", hdx_leak_kind_name(k->kind));
    if (!is_failure(run->call, k->kind)) {
        cli_junit_pass(out, of, name);
        return;
    }
    hdx_buffer drawn = hdx_buffer_of(NULL);
    (void)snprintf(message, sizeof message, "%llu object%s leaked", (unsigned long long)k->trace_count,
                   k->trace_count == 1 ? "" : "s");
    hdx_buffer_format(&drawn, "%s\n", hdx_session_dump(run->session, dump));
    cli_put_trace(&drawn, hdx_session_leaks(run->session, dump), t, false);
    cli_junit_failure(out, of, name, message, hdx_leak_kind_name(k->kind), drawn.at != NULL ? drawn.at : "");
    out->failed |= drawn.failed;
    hdx_buffer_free(&drawn);
}

static hdx_code write_junit(cli_run *run, hdx_error *err)
{
    static const char *const none[] = { "no leaks", NULL };
    hdx_buffer               out = hdx_buffer_of(NULL);
    cli_junit_begin(&out);
    for (size_t d = 0; d < run->call->word_count + 1; d++) {
        const hdx_leaks *l = hdx_session_leaks(run->session, d);
        uint64_t         failures = 0;
        for (uint64_t i = 0; i < l->leak_count; i++)
            failures += is_failure(run->call, l->leaks[i].kind);
        cli_junit_suite(&out, d, hdx_session_dump(run->session, d), l->leak_count > 0 ? l->leak_count : 1, failures);
        if (l->leak_count == 0)
            cli_junit_pass(&out, "leaks", none);
        for (uint64_t i = 0; i < l->leak_count; i++)
            put_case(run, &out, &l->leaks[i], d);
        cli_junit_suite_end(&out);
    }
    cli_junit_end(&out);
    return cli_report_write(run, run->call->junit, &out, "the JUnit file", err);
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
                       l->remembered ? "read from a stored answer" : "searched");
    }
    return code;
}
