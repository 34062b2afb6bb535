/*
 * threads_page.c - the answer of threads with stacks as pages, in the format of jstack.
 *
 *     "http-worker-6" daemon prio=5 WAITING   retained 2.9 MB   0xdcb12bf0
 *         at j.u.c.locks.LockSupport.park(LockSupport.java:341)
 *              local ThreadPoolExecutor  560 B  0xdcb12940
 *
 * If a line is too long, the packages of the class before a method are shortened; otherwise it wraps.
 */
#include "cli/cli.h"

typedef struct page {
    const hdx_render_options *options;
    const hdx_column         *columns;
    unsigned                  count;
    const hdx_cell           *row;
    hdx_buffer                out, text;
} page;

static const hdx_cell *cell(const page *p, const char *name)
{
    return hdx_cell_named(p->columns, p->count, p->row, name);
}

static void put(page *p, const char *before, const hdx_cell *value, hdx_unit unit, const char *after)
{
    if (value->kind == HDX_CELL_NULL)
        return;
    hdx_buffer_text(&p->out, before);
    cli_put_value(&p->out, value, unit, p->options);
    hdx_buffer_text(&p->out, after);
}

static void put_address(page *p, const hdx_cell *address)
{
    put(p, p->options->color ? "\x1b[2m" : "", address, HDX_UNIT_NONE, p->options->color ? "\x1b[0m" : "");
}

static void put_thread(page *p)
{
    const hdx_cell *daemon = cell(p, "daemon"), *name = cell(p, "name"), *is_virtual = cell(p, "virtual");
    if (name->kind == HDX_CELL_TEXT)
        put(p, p->options->color ? "\x1b[1m\"" : "\"", name, HDX_UNIT_NONE, p->options->color ? "\"\x1b[0m" : "\"");
    else
        hdx_buffer_text(&p->out, "(its name is not in the dump)");
    if (is_virtual->kind == HDX_CELL_BOOL && is_virtual->as.boolean)
        hdx_buffer_text(&p->out, " virtual");
    else if (daemon->kind == HDX_CELL_BOOL && daemon->as.boolean) /* virtual threads always are daemons */
        hdx_buffer_text(&p->out, " daemon");
    put(p, " prio=", cell(p, "priority"), HDX_UNIT_NONE, "");
    put(p, " ", cell(p, "state"), HDX_UNIT_NONE, "");
    put(p, " on ", cell(p, "carrier"), HDX_UNIT_NONE, "");
    put(p, "   retained ", cell(p, "retained"), HDX_UNIT_BYTES, "");
    hdx_buffer_text(&p->out, "   ");
    put_address(p, cell(p, "address"));
    hdx_buffer_text(&p->out, "\n");
}

/* Writes "(LockSupport.java:341)", as Java does. */
static void put_source(hdx_buffer *to, const hdx_cell *frame, const hdx_render_options *options)
{
    const hdx_cell *source = hdx_cell_member(frame, "source"), *line = hdx_cell_member(frame, "line"),
                   *native = hdx_cell_member(frame, "native");
    hdx_buffer_text(to, "(");
    if (native->kind == HDX_CELL_BOOL && native->as.boolean)
        hdx_buffer_text(to, "Native Method");
    else if (source->kind == HDX_CELL_TEXT)
        cli_put_value(to, source, HDX_UNIT_NONE, options);
    else
        hdx_buffer_text(to, "Unknown Source");
    if (line->kind == HDX_CELL_INT && source->kind == HDX_CELL_TEXT) {
        hdx_buffer_text(to, ":");
        cli_put_value(to, line, HDX_UNIT_NONE, options);
    }
    hdx_buffer_text(to, ")");
}

/* Writes class and method without the signature; the class gets the remaining columns of the line. */
static void put_frame(page *p, const hdx_cell *frame)
{
    static const char at[] = "    at ";
    const hdx_cell   *method = hdx_cell_member(frame, "method");
    const hdx_text    text = method->kind == HDX_CELL_TEXT ? method->as.text : (hdx_text){ "?", 1 };
    uint32_t          name = 0, dot = 0;
    while (name < text.len && text.at[name] != '(')
        dot = text.at[name++] == '.' ? name : dot;
    hdx_buffer_clear(&p->text);
    (void)hdx_render_text(&p->text, text.at + dot, name - dot, p->options->ascii);
    put_source(&p->text, frame, p->options);
    hdx_buffer class_name = hdx_buffer_of(NULL);
    (void)hdx_render_text(&class_name, text.at, dot > 0 ? dot - 1 : 0, p->options->ascii);
    const uint32_t other_columns = sizeof at + (p->text.len > 0 ? hdx_render_columns(p->text.at, p->text.len) : 0);
    hdx_buffer_text(&p->out, at);
    if (class_name.len > 0) {
        (void)hdx_render_class(&p->out, class_name.at, class_name.len,
                               p->options->width == 0              ? UINT32_MAX
                               : p->options->width > other_columns ? p->options->width - other_columns
                                                                   : 0);
        hdx_buffer_text(&p->out, ".");
    }
    if (p->text.len > 0)
        hdx_buffer_put(&p->out, p->text.at, p->text.len);
    hdx_buffer_text(&p->out, "\n");
    p->out.failed = p->out.failed || class_name.failed;
    hdx_buffer_free(&class_name);
}

static void put_locals(page *p, const hdx_cell *locals)
{
    static const char before[] = "         local ";
    for (uint64_t i = 0; locals->kind == HDX_CELL_LIST && i < locals->as.list.count; i++) {
        const hdx_cell *o = &locals->as.list.at[i];
        const uint32_t  other_columns = sizeof before + 2 + 9 + 2 + 12;
        hdx_buffer_clear(&p->text);
        const hdx_render_object shown =
            hdx_render_object_text(&p->text, hdx_cell_member(o, "class"), hdx_cell_member(o, "label"), p->options);
        hdx_buffer_text(&p->out, before);
        if (p->text.len > 0 && p->options->width > 0)
            (void)hdx_render_object_in(&p->out, p->text.at, p->text.len, shown,
                                       p->options->width > other_columns ? p->options->width - other_columns : 0,
                                       p->options->ascii);
        else if (p->text.len > 0)
            hdx_buffer_put(&p->out, p->text.at, p->text.len);
        put(p, "  ", hdx_cell_member(o, "retained"), HDX_UNIT_BYTES, "");
        hdx_buffer_text(&p->out, "  ");
        put_address(p, hdx_cell_member(o, "address"));
        hdx_buffer_text(&p->out, "\n");
    }
}

hdx_code cli_threads_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err)
{
    page         p = { .options = options };
    bool         good = true;
    uint64_t     n = 0;
    hdx_rows_cut cut;
    p.out = p.text = hdx_buffer_of(NULL);
    p.columns = hdx_rows_columns(rows, &p.count);
    for (; good && hdx_rows_next(rows, &p.row); n++) {
        const hdx_cell *frames = cell(&p, "frames");
        hdx_buffer_text(&p.out, n > 0 ? "\n" : "");
        put_thread(&p);
        for (uint64_t i = 0; good && frames->kind == HDX_CELL_LIST && i < frames->as.list.count; i++) {
            put_frame(&p, &frames->as.list.at[i]);
            put_locals(&p, hdx_cell_member(&frames->as.list.at[i], "local_objects"));
            good = cli_flush(&p.out, sink);
        }
        if (frames->kind == HDX_CELL_LIST && frames->as.list.count == 0)
            hdx_buffer_text(&p.out, "    (no frames in the dump)\n");
    }
    hdx_code code = good ? hdx_rows_end(rows, err) : HDX_OK;
    if (good && code == HDX_OK && n == 0) {
        cli_put_empty_reason(&p.out, rows);
    } else if (good && code == HDX_OK && hdx_rows_cut_off(rows, &cut)) {
        const hdx_cell rest = { .kind = HDX_CELL_UINT, .as.natural = cut.rows };
        hdx_buffer_text(&p.out, options->ascii ? "\n... " : "\n… ");
        if (cut.rows > 0)
            put(&p, "", &rest, HDX_UNIT_COUNT, " ");
        hdx_buffer_format(&p.out, "more thread%s%s%s%s\n", cut.rows == 1 ? "" : "s", options->rest != NULL ? " (" : "",
                          options->rest != NULL ? options->rest : "", options->rest != NULL ? ")" : "");
    }
    good = good && cli_flush(&p.out, sink);
    code = cli_page_end(code, good, p.out.failed || p.text.failed, err);
    hdx_buffer_free(&p.out);
    hdx_buffer_free(&p.text);
    return code;
}
