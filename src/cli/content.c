/*
 * content.c - `object --text`: what one object holds, as it is and nothing beside it, for a file or another program.
 *
 * On a terminal a text cannot drive it: control characters but ends of lines and tabs are shown as \xNN there. What is
 * no text goes to no terminal.
 */
#include "cli/cli.h"

#include <unistd.h>

typedef struct screen {
    hdx_sink   sink;
    hdx_buffer text;
    char       last;
} screen;

static bool show(void *context, const char *bytes, size_t len)
{
    screen *s = context;
    hdx_buffer_clear(&s->text);
    for (size_t i = 0; i < len;) {
        size_t n = 0;
        while (i + n < len && bytes[i + n] != '\n' && bytes[i + n] != '\t')
            n++;
        cli_put_plain(&s->text, bytes + i, n);
        if (i + n < len)
            hdx_buffer_put(&s->text, bytes + i + n, 1);
        i += n + 1;
    }
    if (len > 0)
        s->last = bytes[len - 1];
    return !s->text.failed && s->sink.write(s->sink.context, s->text.at, (size_t)s->text.len);
}

static hdx_code on_terminal(const hdx_query *q, hdx_id id, const hdx_sink *sink, hdx_error *err)
{
    screen      s = { .sink = *sink, .text = hdx_buffer_of(NULL), .last = '\n' };
    hdx_content what;
    hdx_code    code = hdx_query_content(q, id, show, &s, &what, err);
    if (code == HDX_OK && s.last != '\n')
        (void)sink->write(sink->context, "\n", 1);
    hdx_buffer_free(&s.text);
    return code;
}

/* The one object that the arguments name. */
static hdx_code object_of(const cli_run *run, const hdx_query *q, hdx_id *id, hdx_error *err)
{
    const cli_call *c = run->call;
    const char    **names = hdx_mem_array(NULL, c->argument_count, sizeof *names);
    size_t          count = 0, found = 0;
    hdx_id         *ids = NULL;
    if (names == NULL)
        return hdx_no_memory(err, "names", c->argument_count * sizeof *names);
    for (size_t i = 0; i < c->argument_count; i++)
        if (strcmp(c->arguments[i].name, "object") == 0)
            names[count++] = c->arguments[i].value;
    hdx_code code = hdx_query_objects_named(q, names, count, &ids, &found, err);
    if (code == HDX_OK && found != 1)
        code = hdx_hint(
            err, hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--text is of one object, and %zu are named", found),
            "several texts: --format jsonl, whose labels are whole");
    if (code == HDX_OK)
        *id = ids[0];
    hdx_ids_free(ids);
    hdx_mem_put(NULL, names, c->argument_count * sizeof *names);
    return code;
}

hdx_code cli_put_content(const cli_run *run, const hdx_query *q, const hdx_sink *sink, hdx_error *err)
{
    hdx_id      id = HDX_NO_ID;
    hdx_content what;
    hdx_code    code = object_of(run, q, &id, err);
    if (code != HDX_OK || (code = hdx_query_content(q, id, NULL, NULL, &what, err)) != HDX_OK)
        return code;
    const bool terminal = run->output->path == NULL && isatty(STDOUT_FILENO) == 1;
    if (terminal && what != HDX_CONTENT_TEXT)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--text: %s is nothing for a terminal",
                                 what == HDX_CONTENT_PICTURE ? "a picture" : "what the object holds"),
                        "-o FILE writes it to a file");
    return terminal ? on_terminal(q, id, sink, err) : hdx_query_content(q, id, sink->write, sink->context, &what, err);
}
