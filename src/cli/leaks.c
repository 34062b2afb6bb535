/*
 * leaks.c - the command leaks: files of its options, one search per dump, JUnit, and whether the condition of --fail-on holds.
 *
 * Answers stay in the session: the page (leaks_page.c) and JUnit draw from them, rows borrow from them.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_MOST (1ull << 30) /* a mapping of R8 has some ten MB */

/* ---- files ---- */

static hdx_code read_file(cli_session *s, const char *path, hdx_leak_file *out, hdx_error *err)
{
    struct stat st;
    hdx_io     *io = hdx_io_system();
    if (path == NULL)
        return HDX_OK;
    int fd = io->open(io, path), rc = fd < 0 ? fd : io->stat(io, path, &st);
    if (rc >= 0 && (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > FILE_MOST))
        rc = -EINVAL;
    char *at = rc >= 0 ? hdx_arena_get(&s->arena, (uint64_t)st.st_size + 1) : NULL;
    int64_t got = at != NULL ? io->read_at(io, fd, at, (uint64_t)st.st_size, 0) : 0;
    if (fd >= 0)
        (void)io->close(io, fd);
    if (rc < 0 || got < 0)
        return hdx_fail(err, HDX_USAGE, path, HDX_NOWHERE, "cannot be read: %s", strerror(rc < 0 ? -rc : (int)-got));
    if (at == NULL)
        return hdx_no_memory(err, "a file of rules", (uint64_t)st.st_size);
    *out = (hdx_leak_file){ path, at, (size_t)got };
    return HDX_OK;
}

static hdx_code leak_options(cli_session *s, hdx_leaks_options *o, hdx_error *err)
{
    const cli_call *c = s->call;
    hdx_code        code;
    *o = (hdx_leaks_options){ .finder = c->finder, .classes = c->classes, .class_count = c->class_count, .retained = !c->no_retained, .key = c->key,
                              .min_watch_ms = c->min_watch * 1000, .threads = c->threads, .progress = &s->progress, .memory = c->memory };
    if ((code = read_file(s, c->matchers, &o->matcher_file, err)) != HDX_OK || (code = read_file(s, c->filters, &o->rule_file, err)) != HDX_OK)
        return code;
    return read_file(s, c->mapping, &o->mapping, err);
}

/* ---- dumps ---- */

/* A class that is not there is told as every command tells it. Names of a mapping only the search knows. */
static hdx_code not_found(cli_session *s, hdx_graph *g, const hdx_leaks_options *o, hdx_error *err)
{
    hdx_query q = { .graph = g, .scope = HDX_LIVE, .progress = &s->progress };
    hdx_error own;
    for (size_t i = 0; i < o->class_count && o->mapping.at == NULL; i++) {
        uint32_t *numbers = NULL;
        size_t    count = 0;
        hdx_code  code = hdx_query_classes_named(&q, o->classes[i], false, &numbers, &count, &own);
        hdx_numbers_free(numbers);
        if (code == HDX_OK)
            continue;
        *err = own;
        return code;
    }
    return HDX_NOT_FOUND;
}

static hdx_code search(cli_session *s, hdx_graph *g, const char *name, const hdx_leaks_options *o, size_t place, hdx_error *err)
{
    hdx_leaks *leaks;
    hdx_code   code = hdx_leaks_search(g, o, &leaks, err);
    cli_console_erase(s->console);
    if (code == HDX_NOT_FOUND && o->finder == HDX_LEAKS_CLASSES && s->call->word_count > 0)
        return code; /* a class that one of several dumps lacks is told with its name */
    if (code == HDX_NOT_FOUND && o->finder == HDX_LEAKS_CLASSES)
        return not_found(s, g, o, err);
    if (code != HDX_OK)
        return code;
    s->leaks[place] = leaks;
    s->leak_names[place] = name;
    s->leaks_count = place + 1;
    if (s->call->verbose)
        cli_notice(s->console, "%s: leaks %s", name, leaks->remembered ? "remembered beside the index" : "searched");
    return HDX_OK;
}

/* Another dump of the same call: an index and a graph of its own, for as long as its search lasts. */
static hdx_code search_other(cli_session *s, const char *dump, const hdx_leaks_options *o, size_t place, hdx_error *err)
{
    cli_call     call = *s->call;
    cli_session *other = hdx_mem_get(NULL, sizeof *other);
    if (other == NULL)
        return hdx_no_memory(err, "another dump", sizeof *other);
    call.dump = dump;
    call.index_dir = NULL;
    *other = (cli_session){ .call = &call, .console = s->console, .progress = s->progress, .arena = hdx_arena_of(NULL) };
    hdx_code code = cli_session_open(other, NULL, err);
    if (code == HDX_OK) {
        if (call.format != HDX_FORMAT_JSON)
            cli_session_warn(other);
        code = search(s, other->graph, dump, o, place, err);
    }
    cli_session_close(other);
    hdx_mem_put(NULL, other, sizeof *other);
    return code;
}

static bool fails(const cli_call *c, hdx_leak_kind kind)
{
    static const cli_fail of[] = { CLI_FAIL_APPLICATION, CLI_FAIL_LIBRARY, CLI_FAIL_ANY }; /* an unreachable object fails `any` alone */
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
static void put_case(cli_session *s, hdx_buffer *out, const hdx_leak *k, size_t dump)
{
    const hdx_leak_trace *t = &k->traces[0];
    const bool            failure = s->call->fail_on == CLI_FAIL_NEVER ? k->kind == HDX_LEAK_APPLICATION : fails(s->call, k->kind);
    hdx_buffer_format(out, "    <testcase classname=\"leaks.%s\" name=\"", hdx_leak_kind_name(k->kind));
    put_xml(out, t->class_name);
    hdx_buffer_format(out, " %s\"%s\n", k->signature, failure ? ">" : "/>");
    if (!failure)
        return;
    hdx_buffer_format(out, "      <failure message=\"%llu object%s leaked\" type=\"%s\">", (unsigned long long)k->trace_count, k->trace_count == 1 ? "" : "s",
                      hdx_leak_kind_name(k->kind));
    hdx_buffer drawn = hdx_buffer_of(NULL);
    hdx_buffer_format(&drawn, "%s\n", s->leak_names[dump]);
    cli_put_trace(&drawn, s->leaks[dump], t, false);
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

static hdx_code write_junit(cli_session *s, hdx_error *err)
{
    hdx_buffer  out = hdx_buffer_of(NULL);
    cli_output *file = hdx_mem_get(NULL, sizeof *file);
    hdx_code    code;
    if (file == NULL)
        return hdx_no_memory(err, "the JUnit file", sizeof *file);
    hdx_buffer_text(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (size_t d = 0; d < s->leaks_count; d++) {
        const hdx_leaks *l = s->leaks[d];
        uint64_t         failures = 0;
        for (uint64_t i = 0; i < l->leak_count; i++)
            failures += s->call->fail_on == CLI_FAIL_NEVER ? l->leaks[i].kind == HDX_LEAK_APPLICATION : fails(s->call, l->leaks[i].kind);
        hdx_buffer_text(&out, "  <testsuite name=\"");
        put_xml(&out, s->leak_names[d]);
        hdx_buffer_format(&out, "\" tests=\"%llu\" failures=\"%llu\">\n", (unsigned long long)(l->leak_count > 0 ? l->leak_count : 1), (unsigned long long)failures);
        if (l->leak_count == 0)
            hdx_buffer_text(&out, "    <testcase classname=\"leaks\" name=\"no leaks\"/>\n");
        for (uint64_t i = 0; i < l->leak_count; i++)
            put_case(s, &out, &l->leaks[i], d);
        hdx_buffer_text(&out, "  </testsuite>\n");
    }
    hdx_buffer_text(&out, "</testsuites>\n");
    code = out.failed ? hdx_no_memory(err, "the JUnit file", out.len) : cli_output_open(file, s->call->junit, s->call->dump, s->call->words, s->call->word_count, err);
    if (code == HDX_OK) {
        (void)cli_output_write(file, out.at, (size_t)out.len);
        code = cli_output_commit(file, err);
    }
    cli_output_drop(file);
    hdx_mem_put(NULL, file, sizeof *file);
    hdx_buffer_free(&out);
    return code;
}

/* ---- the command ---- */

hdx_code cli_ask_leaks(cli_session *s, hdx_rows **out, hdx_error *err)
{
    const cli_call   *c = s->call;
    const size_t      dumps = c->word_count + 1;
    hdx_leaks_options o;
    hdx_code          code = leak_options(s, &o, err);
    s->leaks = hdx_arena_get(&s->arena, dumps * sizeof *s->leaks);
    s->leak_names = hdx_arena_get(&s->arena, dumps * sizeof *s->leak_names);
    if (code == HDX_OK && (s->leaks == NULL || s->leak_names == NULL))
        code = hdx_no_memory(err, "dumps", dumps);
    if (code == HDX_OK)
        code = search(s, s->graph, c->dump, &o, 0, err);
    for (size_t i = 0; code == HDX_OK && i < c->word_count; i++)
        code = search_other(s, c->words[i], &o, i + 1, err);
    if (code == HDX_OK && c->junit != NULL)
        code = write_junit(s, err);
    for (size_t d = 0; code == HDX_OK && d < s->leaks_count; d++)
        for (uint64_t i = 0; i < s->leaks[d]->leak_count; i++)
            s->condition |= fails(c, s->leaks[d]->leaks[i].kind);
    if (code != HDX_OK)
        return code;
    return hdx_leaks_rows((const hdx_leaks *const *)s->leaks, s->leak_names, s->leaks_count, c->format == HDX_FORMAT_JSON, out, err);
}

void cli_leaks_close(cli_session *s)
{
    for (size_t d = 0; d < s->leaks_count; d++)
        hdx_leaks_free(s->leaks[d]);
    s->leaks_count = 0;
}
