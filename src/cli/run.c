/*
 * run.c - one call from its first word to its exit code.
 *
 *     words -> output opened (nothing is built for an answer that has no place) -> index, graph -> question -> where, sort, limit,
 *     columns -> rendered -> index checked once more -> output in place
 *
 * A histogram of all objects is answered as soon as the first pass of a build is over; the build goes on behind it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Where a shell closed one of the three, the next file opened would take its place and get the answer written into it. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR); /* writing the answer must fail, not vanish */
}

/* Sizes and counts fall, names and addresses rise, unless the call says it. */
static hdx_code sort(hdx_rows **rows, const char *how, hdx_error *err)
{
    char              column[128];
    const char       *colon = strrchr(how, ':');
    size_t            len = colon != NULL ? (size_t)(colon - how) : strlen(how);
    unsigned          count;
    const hdx_column *columns = hdx_rows_columns(*rows, &count);
    if (len >= sizeof column)
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE, "--sort: there is no column of so long a name");
    memcpy(column, how, len);
    column[len] = '\0';
    bool descending = colon != NULL && strcmp(colon, ":desc") == 0;
    for (unsigned i = 0; colon == NULL && i < count; i++)
        if (strcmp(columns[i].name, column) == 0)
            descending = columns[i].unit != HDX_UNIT_NONE;
    return hdx_rows_sort(rows, column, descending, err);
}

static hdx_code shape(const cli_call *c, hdx_rows **rows, hdx_error *err)
{
    hdx_code code = HDX_OK;
    uint64_t limit = c->limited ? c->limit : c->format == HDX_FORMAT_TABLE && c->command->trims ? CLI_TABLE_ROWS : 0;
    for (size_t i = 0; code == HDX_OK && i < c->where_count; i++)
        code = hdx_rows_where(rows, c->where[i], err);
    if (code == HDX_OK && c->sort != NULL)
        code = sort(rows, c->sort, err);
    if (code == HDX_OK && limit > 0)
        code = hdx_rows_limit(rows, limit, err);
    if (code == HDX_OK && c->columns != NULL)
        code = hdx_rows_select(rows, c->columns, err);
    return code;
}

static bool colored(const cli_call *c)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    if (c->color != CLI_AUTO)
        return c->color == CLI_ALWAYS;
    return (none == NULL || *none == '\0') && term != NULL && strcmp(term, "dumb") != 0 && c->output == NULL && isatty(STDOUT_FILENO) == 1;
}

static const hdx_cell *value_of(const hdx_cell *object, const char *key)
{
    for (uint64_t i = 0; object->kind == HDX_CELL_OBJECT && i < object->as.object.count; i++)
        if (strcmp(object->as.object.at[i].key, key) == 0)
            return &object->as.object.at[i].value;
    return NULL;
}

/* A target without a path has no rows, and rows alone would not say so. */
static void tell_unreached(cli_session *s, const hdx_rows *rows)
{
    const cli_call   *c = s->call;
    const char       *without = c->exclude != 0 || c->exclude_field_count > 0 ? " without the excluded references" : "";
    const hdx_member *paths;
    const hdx_cell   *first = NULL;
    uint64_t          count = 0, all = 0;
    for (unsigned n = 0; (paths = hdx_rows_extra(rows, n))->key != NULL && strcmp(paths->key, "paths") != 0;)
        n++;
    if (paths->key != NULL && paths->value.kind == HDX_CELL_LIST)
        all = paths->value.as.list.count;
    for (uint64_t i = 0; i < all; i++) {
        const hdx_cell *target = value_of(&paths->value.as.list.at[i], "target");
        const hdx_cell *reachable = value_of(&paths->value.as.list.at[i], "reachable");
        if (target != NULL && target->kind == HDX_CELL_ADDRESS && reachable != NULL &&
            reachable->kind == HDX_CELL_BOOL && !reachable->as.boolean && count++ == 0)
            first = target;
    }
    if (count == 1)
        cli_notice(s->console, "%s: no GC root reaches 0x%llx%s", c->dump, (unsigned long long)first->as.address,
                   without);
    else if (count > 1)
        cli_notice(s->console, "%s: no GC root reaches %llu of the objects%s, first 0x%llx", c->dump,
                   (unsigned long long)count, without, (unsigned long long)first->as.address);
}

static hdx_code render(cli_session *s, hdx_rows *rows, cli_output *output, hdx_error *err)
{
    const cli_call    *c = s->call;
    hdx_render_options options = { .format = c->format, .human_sizes = !c->bytes, .color = colored(c),
                                   .width = c->output == NULL ? cli_terminal_width(STDOUT_FILENO) : 0 };
    hdx_sink           sink = cli_output_sink(output);
    uint64_t           more = 0;
    hdx_code           code;
    bool               cards = c->id == CLI_OBJECT || (c->id == CLI_THREADS && (c->stacks || c->locals));
    bool               shaped = c->limited || c->columns != NULL || c->sort != NULL || c->where_count > 0;
    if (c->format != HDX_FORMAT_TABLE)
        return hdx_render(rows, &options, s->head, sizeof s->head / sizeof *s->head, &sink, err);
    if (c->id == CLI_INFO && !shaped)
        return cli_about(s, rows, &options, &sink, err);
    if (c->id == CLI_LEAKS && c->columns == NULL && c->sort == NULL && c->where_count == 0)
        return cli_leaks_page(s, &sink, err);
    code = cards && c->columns == NULL ? cli_cards(rows, &options, &sink, err) : hdx_render(rows, &options, NULL, 0, &sink, err);
    if (code == HDX_OK && !c->limited && hdx_rows_cut_off(rows, &more)) { /* a table has said how many there are */
        static const char line[] = "(--limit 0 shows all)\n";
        if (!cli_output_write(output, line, sizeof line - 1))
            return hdx_fail(err, HDX_IO, "", HDX_NOWHERE, "cannot write");
    }
    return code;
}

/* With what the session has by now: graph, counts, or nothing (remove, estimate). */
static hdx_code put_answer(cli_session *s, cli_output *output, hdx_error *err)
{
    const cli_call *c = s->call;
    hdx_rows       *rows = NULL;
    hdx_code        code;
    if (c->format != HDX_FORMAT_JSON)
        cli_session_warn(s);
    code = c->command->ask(s, &rows, err);
    if (code == HDX_NOT_FOUND && c->format == HDX_FORMAT_JSON)
        cli_session_warn(s); /* no document will list the damage that may be the reason */
    if (code == HDX_OK && c->id == CLI_PATH && c->format != HDX_FORMAT_JSON)
        tell_unreached(s, rows);
    if (code == HDX_OK)
        code = cli_session_head(s, err);
    if (code == HDX_OK) {
        hdx_rows_heed(rows, &s->progress);
        code = shape(c, &rows, err);
    }
    cli_console_erase(s->console);
    if (code == HDX_OK)
        code = render(s, rows, output, err);
    if (code == HDX_OK && s->graph != NULL)
        code = hdx_graph_check(s->graph, err);
    hdx_rows_close(rows);
    /* A sink that refused says nothing of the reason; the output knows it. */
    if (code == HDX_OK || (code == HDX_IO && (output->failed != 0 || output->interrupted))) {
        hdx_code written = cli_output_commit(output, err);
        code = written != HDX_OK ? written : code;
    }
    return code;
}

/* A question that cannot be answered here (no such column, no such class) is put again to the index, and fails there. */
static void answer_early(void *context, const hdx_counts *counts)
{
    cli_session *s = context;
    hdx_error    err = { .offset = HDX_NOWHERE };
    s->counts = counts;
    s->answered = put_answer(s, s->output, &err) == HDX_OK;
    s->counts = NULL;
}

static hdx_code answer(cli_session *s, cli_output *output, hdx_error *err)
{
    const cli_call *c = s->call;
    const bool      counts_do = c->id == CLI_HISTOGRAM && c->scope == HDX_ALL && !c->retained && (c->by == HDX_BY_NONE || c->by == HDX_BY_CLASS ||
                                c->by == HDX_BY_PACKAGE || c->by == HDX_BY_SUPERCLASS);
    hdx_code        code = HDX_OK;
    s->output = output;
    if (!cli_needs_no_index(c->id) && (code = cli_session_open(s, counts_do ? answer_early : NULL, err)) != HDX_OK)
        return code;
    return s->answered ? HDX_OK : put_answer(s, output, err);
}

/* Text that needs no dump: help, version, completions. */
static hdx_code print(hdx_buffer *text, cli_output *output, hdx_error *err)
{
    hdx_code code = text->failed ? hdx_no_memory(err, "the text", text->len) : HDX_OK;
    if (code == HDX_OK) {
        (void)cli_output_write(output, text->at, (size_t)text->len);
        code = cli_output_commit(output, err);
    }
    hdx_buffer_free(text);
    return code;
}

/* A reader that left early (| head) is no failure of ours: end as other programs do, by the signal. */
static void leave_by_pipe(void)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t         set;
    (void)sigemptyset(&usual.sa_mask);
    (void)sigaction(SIGPIPE, &usual, NULL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(SIGPIPE);
}

int hdx_cli_main(int argc, const char *const *argv)
{
    static const char *const nothing[] = { "heapdex", NULL };
    hdx_error   err = { .offset = HDX_NOWHERE };
    cli_console console;
    cli_call    call;
    hdx_code    code;
    int         status = 0;
    if (argc < 1) {
        argc = 1;
        argv = nothing;
    }
    hold_standard_files();
    cli_catch_signals();
    cli_console_open(&console, NULL);
    cli_output  *output = hdx_mem_get(NULL, sizeof *output);
    cli_session *s = hdx_mem_get(NULL, sizeof *s);
    bool         json = cli_asks_json(argc, argv);
    if (output == NULL || s == NULL) {
        status = cli_report(&console, hdx_no_memory(&err, "a call", sizeof *output), &err, json);
        goto out;
    }
    s->arena = hdx_arena_of(NULL);
    (void)cli_output_open(output, NULL, NULL, NULL, 0, &err);
    if (argc == 3 && strcmp(argv[1], "__complete") == 0) {
        hdx_buffer text = hdx_buffer_of(NULL);
        if (cli_complete(&text, argv[2]))
            code = print(&text, output, &err);
        else
            code = hdx_fail(&err, HDX_USAGE, NULL, HDX_NOWHERE, "completions are there for bash and zsh, not for '%s'", argv[2]);
    } else if ((code = cli_parse(argc, argv, &s->arena, &call, &err)) == HDX_OK && call.wants != CLI_WANTS_ANSWER) {
        hdx_buffer text = hdx_buffer_of(NULL);
        if (call.wants == CLI_WANTS_VERSION)
            hdx_buffer_text(&text, "heapdex " HEAPDEX_VERSION "\n");
        else
            cli_help(&text, call.command);
        code = print(&text, output, &err);
    } else if (code == HDX_OK) {
        cli_console_close(&console);
        cli_console_open(&console, &call);
        s->call = &call;
        s->console = &console;
        s->progress = cli_console_progress(&console);
        /* -o of strip and restore names the dump they write; what they say goes to standard output */
        code = cli_output_open(output, call.id == CLI_STRIP || call.id == CLI_RESTORE ? NULL : call.output, call.dump, call.words,
                               call.id == CLI_LEAKS ? call.word_count : 0, &err);
        if (code == HDX_OK)
            code = answer(s, output, &err);
        if (code == HDX_OK && call.verbose && output->path != NULL)
            cli_notice(&console, "%s: %llu bytes written", output->path, (unsigned long long)output->bytes);
    }
    bool pipe = output->failed == EPIPE && output->path == NULL;
    if (code != HDX_OK && !pipe) /* a document that is half out cannot be followed by another */
        status = cli_report(&console, code, &err, json && !(output->written && output->path == NULL));
    else if (s->condition)
        status = 1;
    cli_session_close(s);
    cli_output_drop(output);
    if (pipe)
        leave_by_pipe();
out:
    cli_console_close(&console);
    hdx_mem_put(NULL, s, sizeof *s);
    hdx_mem_put(NULL, output, sizeof *output);
    return status;
}
