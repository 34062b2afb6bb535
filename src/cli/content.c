/*
 * content.c - `object --text`: only the content of one object, unchanged, for a file or another program.
 *
 * On a terminal, control characters other than line ends and tabs are shown as \xNN. Content that is not text is not
 * written to a terminal.
 */
#include "cli/cli.h"

#include <unistd.h>

typedef struct screen {
    hdx_sink   sink;
    hdx_buffer text;
    char       last;
} screen;

static bool screen_write(void *context, const char *bytes, size_t len)
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

static hdx_code put_content(const cli_run *run, hdx_put *to, void *context, hdx_content *what, hdx_error *err)
{
    const cli_call *c = run->call;
    return hdx_answer_content(run->session, c->arguments, c->argument_count, to, context, what, err);
}

static hdx_code put_on_terminal(const cli_run *run, const hdx_sink *sink, hdx_error *err)
{
    screen      s = { .sink = *sink, .text = hdx_buffer_of(NULL), .last = '\n' };
    hdx_content what;
    hdx_code    code = put_content(run, screen_write, &s, &what, err);
    if (code == HDX_OK && s.last != '\n')
        (void)sink->write(sink->context, "\n", 1);
    hdx_buffer_free(&s.text);
    return code;
}

hdx_code cli_put_content(const cli_run *run, const hdx_sink *sink, hdx_error *err)
{
    hdx_content what;
    hdx_code    code = put_content(run, NULL, NULL, &what, err);
    if (code != HDX_OK)
        return code;
    const bool terminal = run->output->path == NULL && isatty(STDOUT_FILENO) == 1;
    if (terminal && what != HDX_CONTENT_TEXT)
        return hdx_hint(err,
                        hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--text: %s cannot be written to a terminal",
                                 what == HDX_CONTENT_PICTURE ? "a picture" : "binary content"),
                        "-o FILE writes it to a file");
    return terminal ? put_on_terminal(run, sink, err) : put_content(run, sink->write, sink->context, &what, err);
}
