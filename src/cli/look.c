/*
 * look.c - the page for a dump without a command: a short info, conspicuous facts, what to query next, and the largest
 * classes and objects.
 *
 *     bookshop.hprof: HPROF 1.0.2, 4.3 MB, compressed oops, 2026-11-21 17:07:13 UTC
 *     live         23,875 objects of 632 classes, 2.7 MB; 584 GC roots, 8 threads
 *     unreachable  225 objects, 6.5 KB
 *     ...
 *     ask next:
 *       # what keeps bookshop.Bookshop$SessionCache alive
 *       heapdex path bookshop.hprof.gz 0xfeb18ea8
 *
 * The lines of "ask next" are complete shell commands; names from the dump are quoted if necessary.
 */
#include "cli/cli.h"

#include <stdio.h>

#define TOP    "5"
#define LOOKED "40" /* number of rows in which classes and objects to query next are searched */

/* ---- the answers ---- */

/* Runs an answer in its own order, largest first. Sorting would compute every row. */
static hdx_code run_answer(cli_run *run, const char *name, const char *columns, hdx_rows **rows, hdx_error *err)
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
    hdx_code  code = run_answer(run, name, NULL, &rows, err);
    if (code == HDX_OK)
        code = hdx_render(rows, options, sink, err);
    hdx_rows_close(rows);
    return code;
}

static bool begins(hdx_text text, const char *with)
{
    return text.len > strlen(with) && memcmp(text.at, with, strlen(with)) == 0;
}

/* How interesting a class is, the most interesting first: classes of the program, of the JDK, arrays. */
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

/* Class and address of the first row with the best rank. Empty without rows. */
typedef struct found {
    hdx_buffer class, address;
} found;

/* columns: "class" or "class,label,address"; the label of a class object contains the name of its class. */
static hdx_code find_best(cli_run *run, const char *name, const char *columns, found *out, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_code        code = run_answer(run, name, columns, &rows, err);
    const bool      objects = strchr(columns, ',') != NULL;
    rank            of_best = NONE;
    while (code == HDX_OK && of_best != OWN && hdx_rows_next(rows, &cells)) {
        const hdx_text class = cells[0].kind == HDX_CELL_TEXT ? cells[0].as.text : (hdx_text){ "", 0 };
        const bool     itself = objects && cells[1].kind == HDX_CELL_TEXT && begins(cells[1].as.text, "class ");
        const hdx_text label = itself ? cells[1].as.text : class;
        rank           is = rank_of(itself ? (hdx_text){ label.at + 6, label.len - 6 } : class);
        is = objects && is == ARRAY ? OF_JDK : is; /* a large array may be the object that retains most */
        if (is >= of_best)
            continue;
        of_best = is;
        hdx_buffer_clear(&out->class);
        hdx_buffer_put(&out->class, label.at, label.len);
        hdx_buffer_clear(&out->address);
        if (objects && cells[2].kind == HDX_CELL_ADDRESS)
            hdx_buffer_format(&out->address, "0x%llx", (unsigned long long)cells[2].as.address);
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

/* ---- what to query next ---- */

static hdx_text text_of(const char *at, uint64_t len) { return (hdx_text){ len == 0 ? "" : at, (uint32_t)len }; }

/* Writes a command after its purpose, which is `before`, a name and `after`. */
static void put_next(hdx_buffer *out, const cli_call *c, const hdx_buffer *command, const char *before, hdx_text name,
                     const char *after, unsigned width)
{
    hdx_buffer says = hdx_buffer_of(NULL);
    hdx_buffer_text(&says, before);
    hdx_buffer_put(&says, name.at, name.len);
    hdx_buffer_text(&says, after);
    cli_put_next(out, c, text_of(says.at, says.len), text_of(command->at, command->len), width);
    out->failed = out->failed || says.failed || command->failed;
    hdx_buffer_free(&says);
}

static void put_of_object(hdx_buffer *out, const cli_call *c, const found *object, unsigned width)
{
    hdx_buffer command = hdx_buffer_of(NULL);
    hdx_buffer_format(&command, "path %s", object->address.at);
    put_next(out, c, &command, "what keeps ", text_of(object->class.at, object->class.len), " alive", width);
    hdx_buffer_clear(&command);
    hdx_buffer_format(&command, "dominators %s", object->address.at);
    put_next(out, c, &command, "what it keeps alive", text_of(NULL, 0), "", width);
    hdx_buffer_free(&command);
}

static void put_of_class(hdx_buffer *out, const cli_call *c, const found *class, unsigned width)
{
    hdx_buffer command = hdx_buffer_of(NULL);
    hdx_buffer_text(&command, "objects --class ");
    cli_put_shell_word(&command, class->class.at, (size_t) class->class.len);
    hdx_buffer_text(&command, " --sort retained");
    put_next(out, c, &command, "the largest objects of ", text_of(class->class.at, class->class.len), "", width);
    hdx_buffer_free(&command);
}

static void put_of_roots(hdx_buffer *out, const cli_call *c, unsigned width)
{
    static const char *const rows[][2] = {
        { "the GC roots", "roots" },
        { "objects that no GC root reaches", "histogram --reachable all" },
        { "the threads", "threads" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cli_put_next(out, c, text_of(rows[i][0], strlen(rows[i][0])), text_of(rows[i][1], strlen(rows[i][1])), width);
}

static hdx_code flush(hdx_buffer *out, const hdx_sink *sink, hdx_error *err)
{
    const bool good = !out->failed && (out->len == 0 || sink->write(sink->context, out->at, (size_t)out->len));
    if (out->failed)
        return hdx_no_memory(err, "a page of lines", out->len);
    hdx_buffer_clear(out);
    return good ? HDX_OK : hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
}

/* Comes before the tables, so that it begins on the first page of a terminal with 24 lines. */
static hdx_code put_next_commands(const cli_call *c, const found *object, const found *class,
                                  const hdx_render_options *options, const hdx_sink *sink, hdx_buffer *out,
                                  hdx_error *err)
{
    out->failed |= object->class.failed || object->address.failed || class->class.failed;
    if (object->address.len > 0)
        put_of_object(out, c, object, options->width);
    if (class->class.len > 0)
        put_of_class(out, c, class, options->width);
    if (object->address.len == 0 && class->class.len == 0)
        put_of_roots(out, c, options->width);
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
    found object = { hdx_buffer_of(NULL), hdx_buffer_of(NULL) }, class = { hdx_buffer_of(NULL), hdx_buffer_of(NULL) };
    hdx_code code;
    /* everything that can fail runs before the first byte is written */
    if ((code = find_best(run, "dominators", "class,label,address", &object, err)) == HDX_OK &&
        (code = find_best(run, "histogram", "class", &class, err)) == HDX_OK &&
        (code = put_about(run, options, sink, err)) == HDX_OK &&
        (code = put_next_commands(run->call, &object, &class, options, sink, out, err)) == HDX_OK &&
        (code = put_line("\nLargest classes\n\n", sink, err)) == HDX_OK &&
        (code = render(run, "histogram", options, sink, err)) == HDX_OK &&
        (code = put_line("\nObjects that retain the most\n\n", sink, err)) == HDX_OK)
        code = render(run, "dominators", options, sink, err);
    hdx_buffer_free(&object.class);
    hdx_buffer_free(&object.address);
    hdx_buffer_free(&class.class);
    hdx_buffer_free(&class.address);
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
