/*
 * report.h - files for other programs that are written in addition to the answer. Both leaks and check use it.
 *
 *   report.c    writing one; XML and JUnit         finding.c    a finding of check as text
 *   sarif.c     what check found as SARIF 2.1.0    markdown.c   the same for a pull request
 */
#ifndef HDX_CLI_REPORT_H
#define HDX_CLI_REPORT_H

#include "cli/cli.h"

/* Writes it (- is standard output) and empties the buffer. `what`: "the JUnit file". */
hdx_code cli_report_write(cli_run *run, const char *path, hdx_buffer *out, const char *what, hdx_error *err);

/*
 * ---- JUnit ----
 * As the schema of Ant demands it, which is the strictest in use: every attribute is there, and a suite has properties,
 * system-out and system-err. Times of cases are 0, since rules and leaks are found together.
 */
void cli_junit_begin(hdx_buffer *out);
/* Starts a suite. id: 0 for the first, then 1 ... */
void cli_junit_suite(hdx_buffer *out, uint64_t id, const char *name, uint64_t tests, uint64_t failures);
/* Appends a passed case. name: parts to be joined by blanks, without empty ones; NULL after the last. */
void cli_junit_pass(hdx_buffer *out, const char *classname, const char *const *name);
/* Appends a failed case. text: lines. */
void cli_junit_failure(hdx_buffer *out, const char *classname, const char *const *name, const char *message,
                       const char *type, const char *text);
void cli_junit_suite_end(hdx_buffer *out);
void cli_junit_end(hdx_buffer *out);

/* ---- finding.c: what check found ---- */
/* Appends the object of a finding, in one line after `before`; nothing if there is none. */
void cli_put_found_object(hdx_buffer *out, const hdx_check_result *r, const char *before);
/* Appends the lines of a finding: message, object, one line for each step of the path. */
void cli_put_finding(hdx_buffer *out, const hdx_check_result *r);
/* The number of earlier results with the same name: results of one rule may have no class that distinguishes them. */
uint64_t cli_check_alike(const hdx_check *check, uint64_t at);

void     cli_check_junit(hdx_buffer *out, const hdx_check *check, const char *dump);
hdx_code cli_check_sarif(hdx_buffer *out, const hdx_check *check, const char *dump, hdx_error *err);
void     cli_check_markdown(hdx_buffer *out, const hdx_check *check, const char *dump);

#endif
