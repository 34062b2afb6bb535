/*
 * run.c - runs one call, from its words to its exit code.
 *
 *     parse words -> open the output (before a build, which a wrong output would waste) -> run and shape the answer ->
 *     render it -> check the index again -> commit the output
 *
 * A histogram of all objects is written after the first pass of a build, and the build continues.
 */
#include "cli/cli.h"
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/*
 * If standard input, output or error is closed, the next file that is opened gets its number, and the answer would be
 * written into that file.
 */
static void occupy_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            /* read-only, so that writing the answer fails instead of losing it */
            (void)!open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/* ---- what to do about an error ---- */

/* The error knows only the allocation that failed: the hint states what a whole build needs, as a sample estimates it.
 */
static hdx_code advise_memory(cli_run *run, hdx_code code, hdx_error *err)
{
    hdx_index_options   options = run->call->index;
    hdx_index_forecast *forecast = hdx_arena_get(&run->arena, sizeof *forecast);
    hdx_error           ignored;
    options.memory = 0;
    if (cli_has_language(run->call->answer) && hdx_session_report(run->session, 0) != NULL) /* the index exists */
        return strstr(err->message, "memory") == NULL /* another limit of the statement */
                   ? code
                   : hdx_hint(err, code, "raise --memory: the statement needs more");
    if (forecast == NULL || hdx_index_estimate(&options, forecast, &ignored) != HDX_OK ||
        forecast->least < run->call->index.memory)
        return hdx_hint(err, code, "raise --memory: this command needs more");
    return hdx_hint(err, code, "--memory %lluM is enough", (unsigned long long)((forecast->least >> 20) + 1));
}

/* Adds hints that depend on the options of the call, which the failing code does not know. */
static hdx_code advise(cli_run *run, hdx_code code, hdx_error *err)
{
    if (code == HDX_LIMIT && run->call->index.memory != 0 && !cli_is(run->call, "leaks") &&
        (err->hint[0] == '\0' || strncmp(err->hint, "heapdex estimate ", 17) == 0))
        return advise_memory(run, code, err);
    if (err->hint[0] != '\0')
        return code;
    if (code == HDX_DAMAGED)
        return hdx_hint(err, code, "heapdex index --force %s rebuilds it", run->call->index.dump);
    /* messages of file errors contain the text of the system */
    if (code == HDX_IO && strstr(err->message, strerror(ENOSPC)) != NULL)
        return hdx_hint(err, code, "free space on that disk, or store the index elsewhere with --index-dir DIR");
    return code;
}

/* ---- callbacks while an answer is computed ---- */

static void notice(void *context, const char *line)
{
    cli_run *run = context;
    cli_notice(run->console, "%s: %s", run->call->index.dump, line);
}

static void warn(cli_run *run, size_t place)
{
    const hdx_graph_summary *sum = hdx_session_summary(run->session, place);
    const char              *dump = hdx_session_dump(run->session, place);
    if (sum == NULL)
        return;
    if (sum->damage_count > 0) {
        const hdx_damage  *d = &sum->damage[0];
        unsigned long long places = (unsigned long long)(sum->damage_count + sum->damage_more);
        cli_notice(run->console, "%s: warning: the dump is damaged in %llu place%s, first at offset 0x%llx: %s: %s",
                   dump, places, places == 1 ? "" : "s", (unsigned long long)d->offset, d->record, d->expected);
    }
    for (uint32_t i = 0; i < sum->warning_count; i++)
        cli_notice(run->console, "%s: warning: %s", dump, sum->warnings[i]);
    const char *lacks = hdx_session_lacks(run->session, place, run->call->answer);
    if (lacks != NULL)
        cli_notice(run->console, "%s: warning: %s", dump, lacks);
}

static void opening(void *context, size_t place)
{
    (void)context;
    (void)place;
    cli_building(true);
}

/* The temporary file of strip and restore (strip.h); NULL: it no longer exists. */
static void writing(void *context, const char *temporary)
{
    cli_run *run = context;
    if (run->writing != NULL)
        cli_unfinished_remove(run->writing);
    if (temporary != NULL)
        cli_unfinished_add(temporary);
    run->writing = temporary;
}

static void opened(void *context, size_t place)
{
    cli_run                *run = context;
    const hdx_index_report *r = hdx_session_report(run->session, place);
    const char             *dump = hdx_session_dump(run->session, place);
    char                    human[16];
    cli_building(false);
    cli_console_erase(run->console);
    if (run->call->verbose) {
        hdx_human_size(r->bytes, human);
        if (r->reused)
            cli_notice(run->console, "%s: index %s, %s", dump, r->path, human);
        else
            cli_notice(run->console, "%s: index %s, %s, built in %.3f s", dump, r->path, human,
                       (double)r->wall_ns / 1e9);
    }
    if (run->call->format != HDX_FORMAT_JSON)
        warn(run, place);
}

/* These pages have no title, so a line before them names the view. */
static void put_view(const cli_run *run, const hdx_sink *sink)
{
    const hdx_graph_summary *sum = hdx_session_summary(run->session, 0);
    hdx_buffer               line = hdx_buffer_of(NULL);
    if (sum != NULL && sum->view != NULL)
        hdx_buffer_format(&line, "View %s: %s\n\n", sum->view, sum->view_spec);
    (void)cli_flush(&line, sink); /* later writes report a closed pipe */
    hdx_buffer_free(&line);
}

/* Names the output in an error: the database is written to a temporary file. */
static hdx_code name_database(const cli_run *run, hdx_code code, hdx_error *err)
{
    if (code == HDX_IO && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", run->output->path);
    return code;
}

static hdx_code render(cli_run *run, hdx_rows *rows, hdx_error *err)
{
    const cli_call    *c = run->call;
    hdx_render_options options = cli_render_options(run->call);
    hdx_sink           sink = cli_output_sink(run->output);
    const bool         columns = cli_given(c, "columns") != NULL,
               ordered = cli_given(c, "sort") != NULL || cli_given(c, "where") != NULL;
    options.rest = cli_given(c, "limit") == NULL ? "--limit 0 shows all" : NULL;
    if (c->parquet)
        return cli_put_parquet(run, rows, &sink, err);
    if (c->page)
        return cli_put_page(run, rows, err);
    if (run->file != NULL)
        return name_database(run, hdx_sql_file_add(run->file, cli_given(c, "table"), rows, err), err);
    if (c->format != HDX_FORMAT_TABLE)
        return hdx_render(rows, &options, &sink, err);
    if (cli_is(c, "path") && cli_given(c, "merge") == NULL && !columns && !ordered)
        return cli_path_page(rows, &options, &sink, err);
    const bool about = cli_is(c, "info") && !columns && !ordered && cli_given(c, "limit") == NULL,
               suspects = cli_is(c, "suspects") && !columns && !ordered,
               check = cli_is(c, "check") && !columns && !ordered && cli_given(c, "limit") == NULL,
               object = cli_is(c, "object") && !columns,
               threads = cli_is(c, "threads") && !columns &&
                         (cli_given(c, "stacks") != NULL || cli_given(c, "locals") != NULL);
    if (about || suspects || check || object || threads)
        put_view(run, &sink);
    if (about)
        return cli_about(run, rows, &options, &sink, err);
    if (cli_is(c, "leaks") && !columns && !ordered)
        return cli_leaks_page(run, &options, &sink, err);
    if (check)
        return cli_check_page(run, &options, &sink, err);
    if (suspects)
        return cli_suspects_page(rows, &options, &sink, err);
    if (object)
        return cli_object_page(rows, &options, &sink, err);
    if (threads)
        return cli_threads_page(rows, &options, &sink, err);
    return hdx_render(rows, &options, &sink, err);
}

static hdx_code commit_output(cli_run *run, hdx_code code, hdx_error *err);

/* The page for a dump without a command. */
static hdx_code look(cli_run *run, hdx_error *err)
{
    const hdx_render_options options = cli_render_options(run->call); /* the format is always table */
    const hdx_sink           sink = cli_output_sink(run->output);
    hdx_code                 code = cli_look(run, &options, &sink, err);
    cli_building(false);
    return commit_output(run, code, err);
}

/* Commits the output. If the sink failed, the error is that of the output, which knows the reason. */
static hdx_code commit_output(cli_run *run, hdx_code code, hdx_error *err)
{
    if (code != HDX_OK && !(code == HDX_IO && (run->output->failed != 0 || run->output->interrupted)))
        return code;
    hdx_code written = cli_output_commit(run->output, err);
    return written != HDX_OK ? written : code;
}

/* Writes an answer after the first pass of a build. An error is ignored: it recurs when the index is complete. */
static bool put_early_answer(void *context, hdx_rows *rows)
{
    cli_run  *run = context;
    hdx_error err = { .offset = HDX_NOWHERE };
    if (run->call->format != HDX_FORMAT_JSON)
        warn(run, 0);
    cli_console_erase(run->console);
    return commit_output(run, render(run, rows, &err), &err) == HDX_OK;
}

/* ---- one call ---- */

/*
 * Returns whether similar objects share a row: only on a terminal, and without options that determine rows. Other
 * programs get every address.
 */
static bool folds(const cli_call *c, const cli_output *output)
{
    static const char *const says[] = { "fold", "by", "depth", "merge", "drop", "columns", "where", "sort", "after" };
    bool                     free = c->format == HDX_FORMAT_TABLE && output->path == NULL && isatty(STDOUT_FILENO) == 1;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        free = free && cli_given(c, says[i]) == NULL;
    return free && strcmp(c->answer->name, "dominators") == 0;
}

/* Returns whether the answer is a list in order of addresses, which is sorted by size for people. */
static bool lists_by_address(const cli_call *c)
{
    const hdx_form *form = hdx_answer_form(c->answer, c->arguments, c->argument_count);
    return c->format == HDX_FORMAT_TABLE && c->answer->order != NULL && cli_given(c, "sort") == NULL &&
           cli_given(c, "after") == NULL && form != NULL && form->parameter == NULL;
}

/* Adds arguments that follow from options of the command line, which the library does not know. */
static hdx_code add_arguments(cli_run *run, cli_call *c, hdx_error *err)
{
    const hdx_parameter *word = cli_word_of(c->answer);
    hdx_code             code = HDX_OK;
    if (word != NULL && word->kind == HDX_PARAMETER_OBJECTS)
        code = cli_add_objects(c, word->name, &run->arena, err);
    for (size_t i = 0; word != NULL && word->kind != HDX_PARAMETER_OBJECTS && i < c->word_count; i++)
        c->arguments[c->argument_count++] = (hdx_argument){ word->name, c->words[i] };
    if (code != HDX_OK)
        return code;
    if (c->format == HDX_FORMAT_TABLE && (c->answer->flags & HDX_ANSWER_LONG) && cli_given(c, "limit") == NULL)
        c->arguments[c->argument_count++] = (hdx_argument){ "limit", CLI_TABLE_ROWS_TEXT };
    if (lists_by_address(c))
        c->arguments[c->argument_count++] = (hdx_argument){ "sort", c->answer->order };
    if (c->format != HDX_FORMAT_JSON && !c->page)
        c->arguments[c->argument_count++] = (hdx_argument){ "document", "false" };
    if (c->full_text || c->format != HDX_FORMAT_TABLE)
        c->arguments[c->argument_count++] = (hdx_argument){ "texts", c->full_text ? "all" : "whole" };
    if (c->format == HDX_FORMAT_TABLE)
        c->arguments[c->argument_count++] = (hdx_argument){ "sizes", "true" };
    cli_draw_arguments(c);
    if (folds(c, run->output))
        c->arguments[c->argument_count++] = (hdx_argument){ "fold", "similar" };
    return HDX_OK;
}

/* Writes the content of one object. */
static hdx_code content(cli_run *run, hdx_error *err)
{
    const hdx_sink sink = cli_output_sink(run->output);
    hdx_graph     *g = NULL;
    hdx_code       code = hdx_session_graph(run->session, 0, &g, err);
    cli_building(false);
    cli_console_erase(run->console);
    if (code == HDX_OK)
        code = cli_put_content(run, &sink, err);
    return commit_output(run, code, err);
}

/* Returns the view that the answer reads; NULL: the whole index. */
static const char *viewed(const cli_call *c)
{
    return (c->answer->flags & HDX_ANSWER_HEAP) != 0 ? cli_given(c, "view") : NULL;
}

/* Writes an answer, or one of several tables, and commits the output unless it is a database of several tables. */
static hdx_code put_answer(cli_run *run, cli_call *c, size_t given, hdx_error *err)
{
    hdx_rows *rows = NULL;
    cli_call  shown = *c; /* with the options of the user only, without those that add_arguments added */
    hdx_code  code = hdx_answer_run(run->session, c->answer->name, c->arguments, c->argument_count, &rows, err);
    shown.argument_count = given;
    run->call = &shown;
    cli_building(false);
    cli_console_erase(run->console);
    if (hdx_session_report(run->session, 0) == NULL && c->format != HDX_FORMAT_JSON)
        warn(run, 0);
    if (code == HDX_NOT_FOUND && c->format == HDX_FORMAT_JSON)
        warn(run, 0); /* without a document nothing else lists damage, which may be the reason */
    if (code != HDX_OK || rows == NULL) {
        run->call = c;
        return code;
    }
    if (cli_is(c, "leaks"))
        code = cli_leaks_after(run, err);
    if (cli_is(c, "check"))
        code = cli_check_after(run, err);
    if (code == HDX_OK && c->draws)
        code = cli_draw(run, c, rows, err);
    else if (code == HDX_OK && (cli_reports_shown(c) == 0 || c->output != NULL))
        code = render(run, rows, err);
    if (code == HDX_OK)
        cli_report_failures(run, rows);
    hdx_graph *g = NULL;
    if (code == HDX_OK && hdx_session_report(run->session, 0) != NULL &&
        (code = hdx_session_view(run->session, 0, viewed(c), &g, err)) == HDX_OK)
        code = hdx_graph_check(g, err);
    hdx_rows_close(rows);
    if (run->file == NULL)
        code = commit_output(run, code, err);
    run->call = c;
    return code;
}

/* Writes several tables, each to a file of a folder that appears complete or not at all. */
static hdx_code put_folder(cli_run *run, cli_call *c, size_t given, hdx_error *err)
{
    cli_output *was = run->output, *to = hdx_mem_get(NULL, sizeof *to);
    const char *tables = cli_given(c, "table"), *name, *path;
    hdx_code    code = to == NULL ? hdx_no_memory(err, "a file", sizeof *to) : cli_make_folder(c, err);
    for (unsigned i = 0; code == HDX_OK; i++) {
        if ((code = cli_table_name(tables, i, &run->arena, &name, err)) != HDX_OK || name == NULL ||
            (code = cli_table_path(c, name, &run->arena, &path, err)) != HDX_OK)
            break;
        cli_select_table(c, name);
        run->output = to;
        if ((code = cli_output_open(to, path, &run->inputs, err)) == HDX_OK)
            code = put_answer(run, c, given, err);
        if (code == HDX_OK && c->verbose)
            cli_notice(run->console, "%s: %llu bytes written", path, (unsigned long long)to->bytes);
        cli_output_drop(to);
    }
    run->output = was;
    hdx_mem_put(NULL, to, sizeof *to);
    return code;
}

/* Returns whether to stop, and starts writing the database to disk, as cli_output_write does for other outputs. */
static bool database_stops(void *context)
{
    const cli_run *run = context;
    cli_output_appended(run->output);
    return cli_signal() != 0;
}

/* Writes tables to an SQLite file that appears complete or not at all. */
static hdx_code put_database(cli_run *run, cli_call *c, size_t given, hdx_error *err)
{
    const hdx_progress progress = { .context = run, .cancelled = database_stops };
    const char        *tables = cli_given(c, "table"), *name;
    hdx_code           code = HDX_OK;
    if (!cli_output_is_file(run->output))
        code =
            hdx_fail(err, HDX_USAGE, c->output, HDX_NOWHERE, "is not a regular file, which an SQLite database must be");
    if (code == HDX_OK)
        code = name_database(run, hdx_sql_file_open(run->output->whole.part, &progress, &run->file, err), err);
    for (unsigned i = 0; code == HDX_OK; i++) {
        if ((code = cli_table_name(tables, i, &run->arena, &name, err)) != HDX_OK || name == NULL)
            break;
        cli_select_table(c, name);
        code = put_answer(run, c, given, err);
    }
    if (code == HDX_OK)
        code = name_database(run, hdx_sql_file_end(run->file, err), err);
    hdx_sql_file_close(run->file);
    run->file = NULL;
    cli_output_appended(run->output);
    return commit_output(run, code, err);
}

/* Runs a batch and writes the result of each dump. */
static hdx_code put_batch(cli_run *run, hdx_error *err)
{
    hdx_rows *rows = NULL;
    hdx_code  code = cli_batch(run, &rows, err);
    if (code == HDX_OK)
        code = render(run, rows, err);
    hdx_rows_close(rows);
    return commit_output(run, code, err);
}

/* Writes a report about the last dump. A second session of all dumps computes what grew. */
static hdx_code put_report(cli_run *run, hdx_error *err)
{
    cli_call          *c = (cli_call *)run->call;
    const char        *format = cli_given(c, "format");
    const hdx_sink     sink = cli_output_sink(run->output);
    hdx_session       *all = NULL;
    hdx_code           code = c->word_count > 0 ? hdx_session_open(&c->index, &all, err) : HDX_OK;
    hdx_report_options options = { .format = format == NULL || strcmp(format, "html") == 0 ? HDX_REPORT_HTML
                                             : strcmp(format, "md") == 0                   ? HDX_REPORT_MARKDOWN
                                                                                           : HDX_REPORT_JSON,
                                   .quick = cli_given(c, "quick") != NULL,
                                   .redact = cli_given(c, "redact") != NULL };
    for (size_t i = 0; code == HDX_OK && i < c->word_count; i++)
        code = hdx_session_add(all, c->words[i], err);
    options.growth = all;
    options.dumps = c->word_count + 1;
    if (code == HDX_OK)
        code = hdx_report_write(run->session, &options, &sink, err);
    cli_building(false);
    cli_console_erase(run->console);
    hdx_session_close(all);
    return commit_output(run, code, err);
}

static hdx_code answer(cli_run *run, cli_call *c, hdx_error *err)
{
    const hdx_session_events events = { run, opening, opened, put_early_answer, writing };
    const size_t             given = c->argument_count;
    const bool               reports = cli_is(c, "report");
    hdx_index_options        index = c->index;
    if (reports && c->word_count > 0)
        index.dump = c->words[c->word_count - 1]; /* the report is about the last dump */
    hdx_code code = hdx_session_open(&index, &run->session, err);
    for (size_t i = 0; code == HDX_OK && !reports && (c->answer->flags & HDX_ANSWER_DUMPS) && i < c->word_count; i++)
        code = hdx_session_add(run->session, c->words[i], err);
    if (code == HDX_OK && cli_is(c, "sql"))
        code = cli_sql_attach(run, err);
    else if (code == HDX_OK && !cli_is(c, "oql") && !reports)
        code = add_arguments(run, c, err);
    if (code != HDX_OK)
        return code;
    hdx_session_listen(run->session, &events);
    hdx_session_limit(run->session, c->index.memory);
    cli_guard(run->session);
    if (c->wants == CLI_WANTS_LOOK)
        code = look(run, err);
    else if (cli_is(c, "sql"))
        code = commit_output(run, cli_sql(run, err), err);
    else if (cli_is(c, "oql"))
        code = commit_output(run, cli_oql(run, err), err);
    else if (cli_is(c, "batch"))
        code = put_batch(run, err);
    else if (reports)
        code = put_report(run, err);
    else if (c->text)
        code = content(run, err);
    else if (c->sqlite)
        code = put_database(run, c, given, err);
    else
        code = cli_is_folder(c) ? put_folder(run, c, given, err) : put_answer(run, c, given, err);
    return code == HDX_OK ? HDX_OK : advise(run, code, err);
}

/* Writes a text. */
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

/* A reader that ends early (| head) is not an error: the process ends by SIGPIPE, as other programs do. */
static void raise_sigpipe(void)
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

/* Writes a text that needs no dump: help, version, schemas, completions. */
static hdx_code print_text(const cli_call *c, const char *shell, cli_output *output, hdx_error *err)
{
    hdx_buffer text = hdx_buffer_of(NULL);
    hdx_code   code = HDX_OK;
    char      *schema;
    if (shell != NULL) {
        if (!cli_complete(&text, shell))
            return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                            "no completions for '%s'; supported shells: bash, zsh, fish", shell);
    } else if (c->wants == CLI_WANTS_VERSION) {
        hdx_buffer_text(&text, "heapdex " HEAPDEX_VERSION "\n");
    } else if (c->wants == CLI_WANTS_SCHEMA) {
        if ((code = hdx_answer_schema(c->answer, c->arguments, c->argument_count, &schema, err)) != HDX_OK)
            return code;
        hdx_buffer_text(&text, schema);
        hdx_text_free(schema);
    } else if (c->topic != NULL) {
        cli_help_topic(&text, c->topic);
    } else {
        cli_help(&text, c->answer);
    }
    return print(&text, output, err);
}

int hdx_cli_main(int argc, const char *const *argv)
{
    static const char *const nothing[] = { "heapdex", NULL };
    hdx_error                err = { .offset = HDX_NOWHERE };
    cli_console              console;
    cli_call                 call;
    cli_pager                pager = { .console = &console, .command = cli_pager_command() };
    cli_run                  run = { .console = &console, .arena = hdx_arena_of(NULL), .call = &call };
    hdx_code                 code;
    int                      status = 0;
    if (argc < 1) {
        argc = 1;
        argv = nothing;
    }
    occupy_standard_files();
    cli_catch_signals();
    cli_console_open(&console, NULL);
    cli_output *output = run.output = hdx_mem_get(NULL, sizeof *output);
    bool        json = cli_asks_json(argc, argv);
    if (output == NULL) {
        status = cli_report(&console, hdx_no_memory(&err, "a call", sizeof *output), &err, json);
        goto out;
    }
    (void)cli_output_open(output, NULL, &run.inputs, &err);
    if (argc >= 3 && strcmp(argv[1], "__complete") == 0) {
        hdx_buffer offers = hdx_buffer_of(NULL);
        code =
            cli_offered(&offers, argc, argv) ? print(&offers, output, &err) : print_text(NULL, argv[2], output, &err);
    } else if ((code = cli_parse(argc, argv, &run.arena, &call, &err)) == HDX_OK && call.wants != CLI_WANTS_ANSWER &&
               call.wants != CLI_WANTS_LOOK) {
        if (call.no_pager || call.wants == CLI_WANTS_VERSION)
            pager.command = NULL;
        cli_output_show(output, &console, &pager);
        code = print_text(&call, NULL, output, &err);
    } else if (code == HDX_OK) {
        cli_console_close(&console);
        cli_console_open(&console, &call);
        call.index.progress = cli_console_progress(&console);
        call.index.notice = notice;
        call.index.notice_context = &run;
        if ((code = cli_inputs_of(&call, &run.arena, &run.inputs, &err)) == HDX_OK &&
            (code = cli_check_outputs(&call, &run.inputs, &run.arena, &err)) == HDX_OK)
            code = cli_output_open(output, cli_is_folder(&call) ? NULL : call.output, &run.inputs, &err);
        if (call.no_pager)
            pager.command = NULL;
        cli_output_show(output, &console, &pager);
        if (code == HDX_OK)
            code = answer(&run, &call, &err);
        if (code == HDX_OK && call.verbose && output->path != NULL)
            cli_notice(&console, "%s: %llu bytes written", output->path, (unsigned long long)output->bytes);
    }
    code = cli_output_leave(output, code, &err);
    bool pipe = output->failed == EPIPE && output->path == NULL;
    if (code != HDX_OK && !pipe) /* an error document cannot follow an incomplete document */
        status = cli_report(&console, code, &err, json && !(output->written && output->path == NULL));
    else if (run.condition)
        status = 1;
    cli_guard(NULL);
    hdx_session_close(run.session);
    cli_output_drop(output);
    if (pipe)
        raise_sigpipe();
out:
    cli_console_close(&console);
    hdx_arena_free(&run.arena);
    hdx_mem_put(NULL, output, sizeof *output);
    return status;
}
