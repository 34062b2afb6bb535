/*
 * look.c - a dump without a command: info in short, the classes and objects that weigh most, and what to ask next.
 *
 *     bookshop.hprof.gz: JAVA PROFILE 1.0.2, 4.3 MB, written 2026-11-21T17:07:13.645Z
 *     live         23875 objects of 632 classes, 2.7 MB; 584 GC roots, 8 threads
 *     unreachable  225 objects, 6.5 KB
 *     ...
 *     heapdex path bookshop.hprof.gz 0xfeb18ea8  # why that object is alive
 *
 * The lines at the end are commands that a shell takes as they stand: names out of the dump are quoted where they must
 * be.
 */
#include "cli/cli.h"

#include <stdio.h>

#define TOP "5"

void cli_put_shell_word(hdx_buffer *out, const char *text, size_t len)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:@%,";
    bool              quoted = len == 0;
    for (size_t i = 0; i < len; i++)
        quoted |= strchr(plain, text[i]) == NULL || text[i] == '\0';
    hdx_buffer_text(out, quoted ? "'" : "");
    for (size_t from = 0, i = 0; i <= len; i++)
        if (i == len || text[i] == '\'') {
            cli_put_plain(out, text + from, i - from);
            hdx_buffer_text(out, i < len ? "'\\''" : "");
            from = i + 1;
        }
    hdx_buffer_text(out, quoted ? "'" : "");
}

/* ---- the document info, in three lines ---- */

static const hdx_cell *member(const hdx_cell *object, const char *key)
{
    static const hdx_cell none = { .kind = HDX_CELL_NULL };
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    return &none;
}

static uint64_t number(const hdx_cell *info, const char *key)
{
    const hdx_cell *cell = member(info, key);
    return cell->kind == HDX_CELL_UINT ? cell->as.natural : 0;
}

static void put_count(hdx_buffer *out, const hdx_cell *info, const char *key, const char *one, const char *many)
{
    const uint64_t n = number(info, key);
    hdx_buffer_format(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

static void put_size(hdx_buffer *out, const hdx_cell *info, const char *key, const hdx_render_options *options)
{
    hdx_buffer_text(out, ", ");
    cli_put_value(out, member(info, key), HDX_UNIT_BYTES, options);
    if (!options->human_sizes)
        hdx_buffer_text(out, " bytes");
}

static void put_known(hdx_buffer *out, const char *before, const hdx_cell *cell)
{
    if (cell->kind != HDX_CELL_TEXT || hdx_text_is(cell->as.text, "none"))
        return;
    hdx_buffer_text(out, before);
    cli_put_plain(out, cell->as.text.at, cell->as.text.len);
}

static void put_info(hdx_buffer *out, const char *dump, const hdx_cell *info, const hdx_render_options *options)
{
    const hdx_cell *stripping = member(info, "stripping");
    cli_put_plain(out, dump, strlen(dump));
    put_known(out, ": JAVA PROFILE ", member(info, "version"));
    put_size(out, info, "dump_size", options);
    put_known(out, ", packed with ", member(info, "compression"));
    put_known(out, ", ", member(info, "jvm"));
    put_known(out, ", written ", member(info, "created"));
    put_known(out, ", stripped by ", member(stripping, "policy"));
    hdx_buffer_text(out, "\nlive         ");
    put_count(out, info, "live_objects", "object", "objects");
    hdx_buffer_text(out, " of ");
    put_count(out, info, "classes", "class", "classes");
    put_size(out, info, "live_bytes", options);
    hdx_buffer_text(out, "; ");
    put_count(out, info, "gc_roots", "GC root", "GC roots");
    hdx_buffer_text(out, ", ");
    put_count(out, info, "threads", "thread", "threads");
    hdx_buffer_text(out, "\nunreachable  ");
    put_count(out, info, "unreachable_objects", "object", "objects");
    put_size(out, info, "unreachable_bytes", options);
    hdx_buffer_text(out, "\n\n");
}

/* ---- the answers ---- */

/* In the order that answers have by themselves, heaviest first: to sort them anew would make every row of them. */
static hdx_code ask(cli_run *run, const char *name, const char *columns, hdx_rows **rows, hdx_error *err)
{
    hdx_argument arguments[3];
    size_t       n = 0;
    if (columns != NULL)
        arguments[n++] = (hdx_argument){ "columns", columns };
    if (columns != NULL) {
        arguments[n++] = (hdx_argument){ "limit", TOP };
        arguments[n++] = (hdx_argument){ "document", "false" };
    }
    return hdx_answer_run(run->session, name, arguments, n, rows, err);
}

static hdx_code render(cli_run *run, const char *name, const char *columns, const hdx_render_options *options,
                       const hdx_sink *sink, hdx_error *err)
{
    hdx_rows *rows = NULL;
    hdx_code  code = ask(run, name, columns, &rows, err);
    if (code == HDX_OK)
        code = hdx_render(rows, options, sink, err);
    hdx_rows_close(rows);
    return code;
}

/* The first text or address of the first row that is good enough, as a word of a shell; none: *out stays empty. */
static hdx_code first_word(cli_run *run, const char *name, const char *column, hdx_buffer *out, hdx_error *err)
{
    hdx_rows       *rows = NULL;
    const hdx_cell *cells;
    hdx_buffer      best = hdx_buffer_of(NULL);
    hdx_code        code = ask(run, name, column, &rows, err);
    bool            good = false;
    while (code == HDX_OK && !good && hdx_rows_next(rows, &cells)) {
        const hdx_cell *c = &cells[0];
        if (c->kind == HDX_CELL_ADDRESS) {
            hdx_buffer_format(&best, "0x%llx", (unsigned long long)c->as.address);
            good = true;
        } else if (c->kind == HDX_CELL_TEXT) { /* of a class of objects there is more to see than of an array */
            good = c->as.text.len < 2 || c->as.text.at[c->as.text.len - 1] != ']';
            if (best.len == 0 || good) {
                hdx_buffer_clear(&best);
                cli_put_shell_word(&best, c->as.text.at, c->as.text.len);
            }
        }
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

/* "heapdex COMMAND DUMP", and which heap of it. */
static void put_command(hdx_buffer *out, const cli_call *c, const char *command)
{
    hdx_buffer_format(out, "  heapdex %s ", command);
    if (*c->index.dump == '-')
        hdx_buffer_text(out, "./");
    cli_put_shell_word(out, c->index.dump, strlen(c->index.dump));
    if (c->index.dump_number != 1)
        hdx_buffer_format(out, " --dump-number %llu", (unsigned long long)c->index.dump_number);
    if (c->index.index_dir != NULL) {
        hdx_buffer_text(out, " --index-dir ");
        cli_put_shell_word(out, c->index.index_dir, strlen(c->index.index_dir));
    }
}

static bool put_next(hdx_buffer *out, const cli_call *c, const hdx_buffer *object, const hdx_buffer *class)
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
    uint64_t   widest = 0;
    bool       failed = false;
    for (unsigned i = 0; i < 3; i++) {
        at[i] = hdx_buffer_of(NULL);
        put_command(&at[i], c, lines[i].command);
        hdx_buffer_format(&at[i], "%s%s%s", lines[i].before, lines[i].word, lines[i].after);
        widest = at[i].len > widest ? at[i].len : widest;
    }
    hdx_buffer_text(out, "\nask next:\n");
    for (unsigned i = 0; i < 3; i++) {
        failed |= at[i].failed;
        if (!at[i].failed)
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

static hdx_code look(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_buffer *out,
                     hdx_error *err)
{
    hdx_rows  *rows = NULL;
    hdx_buffer object = hdx_buffer_of(NULL), class = hdx_buffer_of(NULL);
    hdx_code   code = ask(run, "info", NULL, &rows, err);
    if (code != HDX_OK)
        return code;
    const hdx_member *info;
    for (unsigned n = 0; (info = hdx_rows_extra(rows, n))->key != NULL && strcmp(info->key, "info") != 0;)
        n++;
    put_info(out, run->call->index.dump, &info->value, options);
    hdx_rows_close(rows);
    /* what can fail comes before the first byte */
    if ((code = first_word(run, "dominators", "address", &object, err)) == HDX_OK &&
        (code = first_word(run, "histogram", "class", &class, err)) == HDX_OK &&
        (code = flush(out, sink, err)) == HDX_OK &&
        (code = render(run, "histogram", "class,objects,shallow", options, sink, err)) == HDX_OK) {
        hdx_buffer_text(out, "\nObjects that keep most of it alive\n\n");
        if ((code = flush(out, sink, err)) == HDX_OK)
            code = render(run, "dominators", "address,class,label,retained,percent", options, sink, err);
    }
    if (code == HDX_OK && (object.failed || class.failed || !put_next(out, run->call, &object, &class)))
        code = hdx_no_memory(err, "a page of lines", out->len);
    if (code == HDX_OK)
        code = flush(out, sink, err);
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
