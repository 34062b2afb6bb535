/*
 * report.c - report files of a call in addition to its answer, and the elements of JUnit XML.
 *
 * Names in a dump may contain any character. Control characters, invalid UTF-8 and the two noncharacters that XML 1.0
 * excludes are written as \xNN, others as entities if necessary.
 */
#include "cli/report.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

hdx_code cli_report_write(cli_run *run, const char *path, hdx_buffer *out, const char *what, hdx_error *err)
{
    cli_output *file = hdx_mem_get(NULL, sizeof *file);
    hdx_code    code = out->failed || file == NULL ? hdx_no_memory(err, what, out->len) : HDX_OK;
    if (file != NULL && code == HDX_OK)
        code = cli_output_open(file, path, &run->inputs, err);
    if (code == HDX_OK) {
        (void)cli_output_write(file, out->at, (size_t)out->len);
        code = cli_output_commit(file, err);
    }
    if (file != NULL)
        cli_output_drop(file);
    hdx_mem_put(NULL, file, sizeof *file);
    hdx_buffer_free(out);
    return code;
}

/* ---- XML ---- */

static void put_xml(hdx_buffer *out, const char *text, size_t len)
{
    hdx_buffer plain = hdx_buffer_of(NULL);
    cli_put_plain(&plain, text, len);
    for (uint64_t i = 0; i < plain.len; i++) {
        const char *at = plain.at + i, c = *at;
        if (c == '&')
            hdx_buffer_text(out, "&amp;");
        else if (c == '<')
            hdx_buffer_text(out, "&lt;");
        else if (c == '>')
            hdx_buffer_text(out, "&gt;");
        else if (c == '"')
            hdx_buffer_text(out, "&quot;");
        else if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0) {
            hdx_buffer_format(out, "\\xef\\xbf\\x%02x", (unsigned char)at[2]);
            i += 2;
        } else
            hdx_buffer_put(out, at, 1);
    }
    out->failed |= plain.failed;
    hdx_buffer_free(&plain);
}

/* Writes a text line by line, so that line ends are kept and other control characters are escaped. */
static void put_lines(hdx_buffer *out, const char *text)
{
    for (const char *p = text; *p != '\0';) {
        const size_t n = strcspn(p, "\n");
        put_xml(out, p, n);
        hdx_buffer_text(out, "\n");
        p += n + (p[n] == '\n');
    }
}

/* ---- JUnit ---- */

void cli_junit_begin(hdx_buffer *out)
{
    hdx_buffer_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
}

/* Writes the time in UTC without a zone, as the schema of JUnit requires. */
static void put_now(hdx_buffer *out)
{
    const time_t now = time(NULL);
    struct tm    tm;
    char         text[32] = "1970-01-01T00:00:00";
    if (gmtime_r(&now, &tm) != NULL)
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    hdx_buffer_text(out, text);
}

void cli_junit_suite(hdx_buffer *out, uint64_t id, const char *name, uint64_t tests, uint64_t failures)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        (void)snprintf(host, sizeof host, "localhost");
    hdx_buffer_format(out, "  <testsuite id=\"%llu\" name=\"", (unsigned long long)id);
    put_xml(out, name, strlen(name));
    hdx_buffer_format(out,
                      "\" package=\"heapdex\" tests=\"%llu\" failures=\"%llu\" errors=\"0\" time=\"0\" timestamp=\"",
                      (unsigned long long)tests, (unsigned long long)failures);
    put_now(out);
    hdx_buffer_text(out, "\" hostname=\"");
    put_xml(out, host, strlen(host));
    hdx_buffer_text(out, "\">\n    <properties>\n      <property name=\"heapdex\" value=\"" HEAPDEX_VERSION
                         "\"/>\n    </properties>\n");
}

static void put_case(hdx_buffer *out, const char *classname, const char *const *name)
{
    hdx_buffer_text(out, "    <testcase classname=\"");
    put_xml(out, classname, strlen(classname));
    hdx_buffer_text(out, "\" name=\"");
    for (size_t i = 0; name[i] != NULL; i++) {
        hdx_buffer_text(out, i > 0 && name[i][0] != '\0' ? " " : "");
        put_xml(out, name[i], strlen(name[i]));
    }
    hdx_buffer_text(out, "\" time=\"0\"");
}

void cli_junit_pass(hdx_buffer *out, const char *classname, const char *const *name)
{
    put_case(out, classname, name);
    hdx_buffer_text(out, "/>\n");
}

void cli_junit_failure(hdx_buffer *out, const char *classname, const char *const *name, const char *message,
                       const char *type, const char *text)
{
    put_case(out, classname, name);
    hdx_buffer_text(out, ">\n      <failure message=\"");
    put_xml(out, message, strlen(message));
    hdx_buffer_text(out, "\" type=\"");
    put_xml(out, type, strlen(type));
    hdx_buffer_text(out, "\">");
    put_lines(out, text);
    hdx_buffer_text(out, "      </failure>\n    </testcase>\n");
}

void cli_junit_suite_end(hdx_buffer *out)
{
    hdx_buffer_text(out, "    <system-out/>\n    <system-err/>\n  </testsuite>\n");
}
void cli_junit_end(hdx_buffer *out) { hdx_buffer_text(out, "</testsuites>\n"); }
