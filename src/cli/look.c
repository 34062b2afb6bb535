/*
 * look.c - a dump without a command: info in short, what stands out, what to ask next, and the classes and objects that
 * weigh most.
 *
 *     bookshop.hprof: HPROF 1.0.2, 4.3 MB, compressed oops, 2026-11-21 17:07:13 UTC
 *     live         23,875 objects of 632 classes, 2.7 MB; 584 GC roots, 8 threads
 *     unreachable  225 objects, 6.5 KB
 *     ...
 *     heapdex path bookshop.hprof.gz 0xfeb18ea8  # why that object is alive
 *
 * The lines of "ask next" are commands that a shell takes as they stand: names out of the dump are quoted where they
 * must be.
 */
#include "cli/cli.h"

#include <stdio.h>

#define TOP    "5"
#define LOOKED "40" /* rows among which those are found that are worth a question */

/* ---- the answers ---- */

/* In the order that answers have by themselves, heaviest first: to sort them anew would make every row of them. */
static hdx_code ask(cli_run *run, const char *name, const char *columns, hdx_rows **rows, hdx_error *err)
{
    hdx_argument arguments[4] = { { "limit", columns != NULL ? LOOKED : TOP },
                                  { "document", "false" },
                                  { "sizes", "true" } };
    size_t       count = 3;
    if (columns != NULL)
        arguments[count++] = (hdx_argument){ "columns", columns };
    else if (strcmp(name, "dominators") == 0)
        arguments[count++] = (hdx_argument){ "fold", "similar" };
    return hdx_answer_run(run->session, name, arguments, count, rows, err);
}

static hdx_code render(cli_run *run, const char *name, const hdx_render_options *options, const hdx_sink *sink,
                       hdx_error *err)
{
    hdx_rows *rows = NULL;
    hdx_code  code = ask(run, name, NULL, &rows, err);
    if (code == HDX_OK)
        code = hdx_render(rows, options, sink, err);
    hdx_rows_close(rows);
    return code;
}

static bool begins(hdx_text text, const char *with)
{
    return text.len > strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

/* How much there is to see of a class, the most first: the program's own, the JDK's, arrays. */
typedef enum rank { OWN, OF_JDK, ARRAY, NONE } rank;
static rank rank_of(hdx_text class)
{
    static const char *const packages[] = { "java.", "javax.", "jdk.", "sun.", "com.sun." };
    if (class.len == 0 || class.at[class.len - 1] == ']')
        return ARRAY;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (begins(class, packages[i]))
            return OF_JDK;
    return OWN;
}

/*
 * The address, or else the class, of the first row of a class of the best rank, as a word of a shell. columns: class,
 * or class, label and address, where the label of a class object tells which class it is. Without rows *out stays
 * empty.
 */
static hdx_code first_word(cli_run *run, const char *name, const char *columns, hdx_buffer *out, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_buffer      best = hdx_buffer_of(NULL);
    hdx_code        code = ask(run, name, columns, &rows, err);
    const bool      objects = strchr(columns, ',') != NULL;
    rank            of_best = NONE;
    while (code == HDX_OK && of_best != OWN && hdx_rows_next(rows, &cells)) {
        hdx_text class = cells[0].kind == HDX_CELL_TEXT ? cells[0].as.text : (hdx_text){ "", 0 };
        if (objects && cells[1].kind == HDX_CELL_TEXT && begins(cells[1].as.text, "class "))
            class = (hdx_text){ cells[1].as.text.at + 6, cells[1].as.text.len - 6 };
        rank is = rank_of(class);
        is = objects && is == ARRAY ? OF_JDK : is; /* a large array may well be what keeps most */
        if (is >= of_best)
            continue;
        of_best = is;
        hdx_buffer_clear(&best);
        if (objects && cells[2].kind == HDX_CELL_ADDRESS)
            hdx_buffer_format(&best, "0x%llx", (unsigned long long)cells[2].as.address);
        else if (!objects)
            cli_put_shell_word(&best, class.at, class.len);
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    if (best.len > 0)
        hdx_buffer_put(out, best.at, best.len);
    out->failed = out->failed || best.failed;
    hdx_buffer_free(&best);
    return code;
}

/* ---- what to ask next ---- */

/* What each is for stands behind it, or above where the terminal is too narrow. */
static bool put_next(hdx_buffer *out, const cli_call *c, const hdx_buffer *object, const hdx_buffer *class,
                     unsigned width)
{
    const bool has_object = object->len > 0, has_class = class->len > 0;
    const struct {
        const char *command, *before, *word, *after, *says;
    } lines[3] = {
        { has_object ? "path" : "roots", " ", has_object ? object->at : "", "",
          has_object ? "why that object is alive" : "the GC roots" },
        { has_object ? "dominators" : "histogram", " ", has_object ? object->at : "--reachable all", "",
          has_object ? "what it keeps alive" : "what is there although no root reaches it" },
        { has_class ? "objects" : "threads", has_class ? " --class " : "", has_class ? class->at : "",
          has_class ? " --sort retained" : "", has_class ? "the heaviest of that class" : "the threads" },
    };
    hdx_buffer at[3];
    uint64_t   widest = 0, says = 0;
    bool       failed = false;
    for (unsigned i = 0; i < 3; i++) {
        at[i] = hdx_buffer_of(NULL);
        says = strlen(lines[i].says) > says ? strlen(lines[i].says) : says;
        hdx_buffer_text(&at[i], "  ");
        cli_put_command(&at[i], c, lines[i].command, strlen(lines[i].command));
        hdx_buffer_format(&at[i], "%s%s%s", lines[i].before, lines[i].word, lines[i].after);
        widest = at[i].len > widest ? at[i].len : widest;
    }
    const bool above = width != 0 && widest + 4 + says > width;
    hdx_buffer_text(out, "\nask next:\n");
    for (unsigned i = 0; i < 3; i++) {
        failed |= at[i].failed;
        if (!at[i].failed && above)
            hdx_buffer_format(out, "  # %s\n%s\n", lines[i].says, at[i].at);
        else if (!at[i].failed)
            hdx_buffer_format(out, "%s%*s  # %s\n", at[i].at, (int)(widest - at[i].len), "", lines[i].says);
        hdx_buffer_free(&at[i]);
    }
    return !failed;
}

static hdx_code flush(hdx_buffer *out, const hdx_sink *sink, hdx_error *err)
{
    const bool good = !out->failed && (out->len == 0 || sink->write(sink->context, out->at, (size_t)out->len));
    if (out->failed)
        return hdx_no_memory(err, "a page of lines", out->len);
    hdx_buffer_clear(out);
    return good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

/* Before the tables: on a terminal of 24 lines it is on the first page. */
static hdx_code ask_next(const cli_call *c, const hdx_buffer *object, const hdx_buffer *class,
                         const hdx_render_options *options, const hdx_sink *sink, hdx_buffer *out, hdx_error *err)
{
    if (object->failed || class->failed || !put_next(out, c, object, class, options->width))
        return hdx_no_memory(err, "a page of lines", out->len);
    return flush(out, sink, err);
}

static hdx_code put_about(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    hdx_rows *rows = NULL;
    hdx_code  code = hdx_answer_run(run->session, "info", NULL, 0, &rows, err);
    if (code == HDX_OK)
        code = cli_about_head(run, rows, options, sink, err);
    hdx_rows_close(rows);
    return code;
}

static hdx_code put_line(const char *text, const hdx_sink *sink, hdx_error *err)
{
    return sink->write(sink->context, text, strlen(text)) ? HDX_OK
                                                          : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

static hdx_code look(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_buffer *out,
                     hdx_error *err)
{
    hdx_buffer object = hdx_buffer_of(NULL), class = hdx_buffer_of(NULL);
    hdx_code   code;
    /* what can fail comes before the first byte */
    if ((code = first_word(run, "dominators", "class,label,address", &object, err)) == HDX_OK &&
        (code = first_word(run, "histogram", "class", &class, err)) == HDX_OK &&
        (code = put_about(run, options, sink, err)) == HDX_OK &&
        (code = ask_next(run->call, &object, &class, options, sink, out, err)) == HDX_OK &&
        (code = put_line("\nClasses that weigh most\n\n", sink, err)) == HDX_OK &&
        (code = render(run, "histogram", options, sink, err)) == HDX_OK &&
        (code = put_line("\nObjects that keep most of it alive\n\n", sink, err)) == HDX_OK)
        code = render(run, "dominators", options, sink, err);
    hdx_buffer_free(&object);
    hdx_buffer_free(&class);
    return code;
}

hdx_code cli_look(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    hdx_buffer out = hdx_buffer_of(NULL);
    hdx_code   code = look(run, options, sink, &out, err);
    hdx_graph *g = NULL;
    if (code == HDX_OK && (code = hdx_session_graph(run->session, 0, &g, err)) == HDX_OK)
        code = hdx_graph_check(g, err);
    hdx_buffer_free(&out);
    return code;
}
