/*
 * cli.h - the command line: words in, rows out, an exit code at the end. Answers, their parameters and columns come
 * from the library; here are words, help, pages and the console.
 *
 *     main.c       calls hdx_cli_main
 *     run.c        one call from its first word to its exit code
 *     table.c      every option, once; feeds all of:
 *       args.c       words -> cli_call            help.c      --help, --version
 *       complete.c   completions of bash, zsh and fish, list of examples
 *       offers.c     what may stand at a place of the line (offers.h)
 *     commands.c   the list of commands
 *     call.c       what a call asks for, once its words are parsed
 *     sql.c        the command sql (sql.h); shell.c its shell, words.c what may stand in a statement, line.c the keys;
 *                  statements.c what they share with oql.c, the command oql
 *     batch.c      the command batch
 *     names.c      objects named on standard input
 *     leaks.c, leaks_page.c  JUnit and exit code of the command leaks; its page
 *     check.c      exit code, page and reports of the command check (report.h: JUnit, SARIF, Markdown)
 *     finding.c    one finding of check in words
 *     path_page.c  paths to GC roots, a line a step
 *     page.c       what pages share; object_page.c, path_page.c, threads_page.c, suspects_page.c, leaks_page.c, about.c
 *                  are pages
 *     content.c    what one object holds, as it is
 *     about.c      the answer of info as a page
 *     look.c       a dump without a command: several answers in short, and what to ask next
 *     inputs.c     the files that a call reads, which none of its outputs may replace
 *     output.c     standard output, or a file that is whole or not there
 *     pager.c      a pager between standard output and a terminal
 *     console.c    standard error: errors, notices, the progress line; signals
 *
 * A new command is an answer of the library, a line in groups.c and a file in man/; the build or a test notices what
 * was forgotten.
 */
#ifndef HDX_CLI_CLI_H
#define HDX_CLI_CLI_H

#include "base/base.h"
#include "base/whole.h"
#include "render/render.h"
#include <heapdex/heapdex.h>
#include <heapdex/sql.h>

#include <sys/types.h>

/* ---- commands.c ---- */
size_t            cli_command_count(void);
const hdx_answer *cli_command_at(size_t i);            /* in the order in which a person meets them */
const hdx_answer *cli_command_named(const char *name); /* NULL: none */
/* It is asked in a language that orders, chooses and limits rows by itself. */
bool cli_has_language(const hdx_answer *command);

/* ---- table.c ---- */
typedef enum cli_option_id {
    CLI_OPT_ANSWER, /* a parameter of the answer, or of all answers */
    CLI_OPT_HELP,
    CLI_OPT_VERSION,
    CLI_OPT_SCHEMA,
    CLI_OPT_FORMAT,
    CLI_OPT_OUTPUT,
    CLI_OPT_UNITS,
    CLI_OPT_FULL_TEXT,
    CLI_OPT_TEXT,
    CLI_OPT_RAW,
    CLI_OPT_ENCODING,
    CLI_OPT_THREADS,
    CLI_OPT_MEMORY,
    CLI_OPT_MAX_UNCOMPRESSED,
    CLI_OPT_DUMP_NUMBER,
    CLI_OPT_INDEX_DIR,
    CLI_OPT_NO_BUILD,
    CLI_OPT_NO_WAIT,
    CLI_OPT_PROGRESS,
    CLI_OPT_COLOR,
    CLI_OPT_NO_PAGER,
    CLI_OPT_QUIET,
    CLI_OPT_VERBOSE,
    CLI_OPT_JUNIT,
    CLI_OPT_SARIF,
    CLI_OPT_MARKDOWN,
    CLI_OPT_FAIL_ON
} cli_option_id;

typedef struct cli_option {
    cli_option_id        id;
    char                 letter;     /* 0: none */
    bool                 everywhere; /* every command has it */
    const hdx_parameter *is;
} cli_option;

#define CLI_OPTIONS_MAX     64u
#define CLI_TABLE_ROWS      25
#define CLI_TABLE_ROWS_TEXT "25"
/* Options of a command, its own first; NULL: those of every command. */
size_t cli_options_of(const hdx_answer *answer, cli_option options[CLI_OPTIONS_MAX]);
/* By name or letter. */
bool cli_option_named(const hdx_answer *answer, const char *name, size_t len, cli_option *out);
bool cli_option_anywhere(const char *name, size_t len, cli_option *out); /* of any command */
/* The parameter that stands after the dump without its name; NULL: none. */
const hdx_parameter *cli_word_of(const hdx_answer *answer);
/* "DUMP OBJECT... --table TABLE" */
void cli_put_usage(hdx_buffer *out, const hdx_answer *answer);

/* ---- args.c ---- */
typedef enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER, CLI_AS_JSON } cli_when;
typedef enum cli_fail { CLI_FAIL_APPLICATION, CLI_FAIL_LIBRARY, CLI_FAIL_ANY, CLI_FAIL_NEVER } cli_fail;
typedef enum cli_wants {
    CLI_WANTS_ANSWER,
    CLI_WANTS_HELP,
    CLI_WANTS_VERSION,
    CLI_WANTS_SCHEMA,
    CLI_WANTS_LOOK
} cli_wants;
typedef struct cli_call { /* texts are borrowed from argv, arrays from the arena given to cli_parse */
    cli_wants         wants;
    const hdx_answer *answer;    /* NULL: none named (help of everything) */
    const char       *topic;     /* of `heapdex help`, where it is no command; NULL: none */
    hdx_argument     *arguments; /* with room for those that words and formats add */
    size_t            argument_count, argument_room;
    const char      **words; /* after DUMP */
    size_t            word_count;
    hdx_index_options index; /* dump and all */
    hdx_format        format;
    const char       *output;   /* NULL: standard output */
    bool              bytes;    /* --units bytes */
    bool              raw;      /* --raw */
    bool              parquet;  /* --format parquet: rows, and no text; `format` is that of rows alone */
    bool              sqlite;   /* --format sqlite: so, too */
    const char       *encoding; /* of parquet; NULL: not said */
    bool              full_text;
    bool              text; /* --text of object: what it holds, and no row */
    bool              no_pager;
    bool              quiet, verbose;
    cli_when          progress, color;
    const char       *junit, *sarif, *markdown;
    cli_fail          fail_on;
} cli_call;
hdx_code cli_parse(int argc, const char *const *argv, hdx_arena *arena, cli_call *call, hdx_error *err);
/* Whether --format json stands anywhere: an error is a document then, even where the words cannot be parsed. */
bool cli_asks_json(int argc, const char *const *argv);

/* ---- call.c ---- */
/* What was given for a parameter; NULL: nothing. */
const char *cli_given(const cli_call *call, const char *name);
uint64_t    cli_given_number(const cli_call *call, const char *name); /* 0: none was given */
bool        cli_is(const cli_call *call, const char *answer);
/* Are there several tables, for a folder? */
bool cli_is_folder(const cli_call *call);
/* How many reports of check go to standard output: then nothing else of check does. */
unsigned cli_reports_shown(const cli_call *call);
/* How its rows are shown, but for what a limit leaves out. */
hdx_render_options cli_render_options(const cli_call *call);

/* ---- help.c, complete.c: text for standard output ---- */
void        cli_help(hdx_buffer *out, const hdx_answer *answer); /* NULL: of everything */
void        cli_help_topic(hdx_buffer *out, const char *topic);
const char *cli_help_topic_name(size_t i); /* topics, then groups of commands; NULL: there are fewer */
#define CLI_HELP_COLUMN 17
void cli_put_help_line(hdx_buffer *out, const char *name, const char *sentence);
/* groups.c: the commands in groups */
void        cli_help_groups(hdx_buffer *out);
void        cli_help_group(hdx_buffer *out, size_t i);
const char *cli_group_name(size_t i); /* NULL: there are fewer */
const char *cli_group_title(size_t i);
/* The k-th command of a group, and when to take it. NULL: there are fewer. */
const char *cli_group_command(size_t i, size_t k, const char **when);
/* shell: "bash", "zsh", "fish", or "examples" (one a line, for the test that runs them); false: unknown. */
bool cli_complete(hdx_buffer *out, const char *shell);
/* What those scripts ask for, behind "heapdex __complete"; false: nothing of that. */
bool cli_offered(hdx_buffer *out, int argc, const char *const *argv);

/* ---- console.c: standard error and signals ---- */
typedef struct cli_console {
    bool            quiet, verbose;
    cli_when        progress;
    bool            terminal; /* standard error is one */
    bool            line;     /* a progress line stands there and must go before anything else is written */
    unsigned        step;     /* of the last report */
    uint64_t        began_ns, step_ns, shown_ns;
    bool            held;  /* an answer has the terminal: progress is not shown, notices come after it */
    hdx_buffer      later; /* those notices */
    hdx_buffer      below; /* lines that stand under the message of an error: a statement and its place at fault */
    pthread_mutex_t one;   /* notices and progress come from different threads */
} cli_console;
void         cli_console_open(cli_console *c, const cli_call *call); /* call NULL: before anything is known */
void         cli_console_close(cli_console *c);
hdx_progress cli_console_progress(cli_console *c);
/* "heapdex: LINE"; left out with --quiet. Control characters are shown as \xNN. */
void cli_notice(cli_console *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_console_erase(cli_console *c);
void cli_console_begin(cli_console *c);         /* another piece of work: progress is shown when it takes a while */
void cli_console_hold(cli_console *c, bool on); /* whether an answer, or a pager, has the terminal */
/* Writes the error, on standard error and as a document if asked; returns the exit code. */
int  cli_report(cli_console *c, hdx_code code, const hdx_error *err, bool json);
int  cli_exit_code(hdx_code code);
void cli_catch_signals(void);
/*
 * From here on a file of the session's graphs that becomes shorter is damage and not the end of the process; NULL:
 * none.
 */
void cli_guard(hdx_session *s);
int  cli_signal(void); /* the first SIGINT, SIGTERM or SIGHUP, or 0 */
/*
 * In a shell: from here on Ctrl-C ends a statement of that connection, or a line; NULL: the program. What it ended says
 * cli_asking_interrupted, once.
 */
void cli_asking(hdx_sql *sql);
bool cli_asking_interrupted(void);
bool cli_asking_wants_end(void); /* that, which stays said, or the end of the program */
/* A build is under way: a second Ctrl-C is answered by a line, a third ends it; elsewhere a second one does. */
void cli_building(bool on);
/*
 * Files that are removed if a signal ends the process at once. The path is borrowed until it is removed from the list
 * by the same pointer; the list has room for CLI_UNFINISHED_MAX.
 */
#define CLI_UNFINISHED_MAX 16u
void cli_unfinished_add(const char *path);
void cli_unfinished_remove(const char *path);
/* A pager has the terminal, and Ctrl-C waits for it before the process ends; 0: none has. */
void cli_paging(pid_t pid, int pipe_end);
bool cli_paging_left(int *status); /* true once: it has ended by itself while something else goes on */
int  cli_paging_status(void);      /* of such a one */
void cli_paging_ends(void);        /* the answer is whole: Ctrl-C means nothing but to the pager */
/* One progress line for people, without control characters; at most width - 1 columns. */
void cli_progress_line(char *to, size_t size, unsigned width, const hdx_progress_report *r, uint64_t elapsed_ns);
/* Appends text as a terminal may see it: control characters and invalid UTF-8 as \xNN. */
void     cli_put_plain(hdx_buffer *b, const char *text, size_t len);
bool     cli_ascii(int fd);          /* a terminal that shows nothing else */
unsigned cli_terminal_width(int fd); /* COLUMNS where fd is no terminal; 0: unknown */

/* ---- pager.c ---- */
typedef struct cli_pager {
    const char  *command;
    cli_console *console;
    bool         begun; /* or tried to */
    bool         by_shell;
    pid_t        pid; /* 0: none runs */
} cli_pager;
const char *cli_pager_command(void);       /* what the environment asks for; NULL: none */
int         cli_pager_begin(cli_pager *p); /* the end of a pipe to write to; -1: it could not be started */
/*
 * Waits until it has ended; the pipe is closed by now. done: nothing is computed any more. False: there was no such
 * program.
 */
bool cli_pager_end(cli_pager *p, bool done);

/* ---- inputs.c ---- */
typedef struct cli_inputs { /* the files that a call reads */
    const char **at;
    size_t       count;
} cli_inputs;
hdx_code cli_inputs_of(const cli_call *call, hdx_arena *arena, cli_inputs *out, hdx_error *err);
/*
 * HDX_USAGE if an output of the call must not be written (hdx_output_check), or if two outputs are one file. Each table
 * of a folder is an output. Nothing is created.
 */
hdx_code cli_check_outputs(const cli_call *call, const cli_inputs *inputs, hdx_arena *arena, hdx_error *err);

/* ---- output.c ---- */
typedef struct cli_output {
    int            fd;
    bool           opened;      /* fd is ours to close */
    bool           written;     /* something left the buffer */
    int            failed;      /* errno of the first failure */
    bool           interrupted; /* a signal came while writing */
    uint64_t       bytes;
    uint64_t       pushed, waited; /* of them on the way to disk; there */
    const char    *path;           /* of the answer; NULL: standard output */
    hdx_whole_file whole;          /* has not begun where a device or a pipe is written in place */
    cli_console   *console;        /* of standard output that is a terminal: nothing is drawn into the answer */
    cli_pager     *pager;          /* of standard output; NULL: none */
    size_t         first;          /* bytes that the pager was begun with and the buffer still has; 0: none */
    size_t         filled;
    char           buffer[65536];
} cli_output;
/*
 * path NULL or "-": standard output. HDX_USAGE where the file is one of the inputs, a heap dump or part of an index.
 * Who may read the inputs may read the output.
 */
hdx_code cli_output_open(cli_output *o, const char *path, const cli_inputs *inputs, hdx_error *err);
/* Where it is standard output and a terminal. Both are the caller's; a pager without a command is none. */
void     cli_output_show(cli_output *o, cli_console *console, cli_pager *pager);
hdx_sink cli_output_sink(cli_output *o);
bool     cli_output_write(cli_output *o, const char *bytes, size_t len);
bool     cli_output_is_file(const cli_output *o); /* a temporary file, o->whole.part, that commit renames */
/* Somebody else has written to its file: what is there goes to disk in stretches, too. */
void     cli_output_grown(cli_output *o);
hdx_code cli_output_commit(cli_output *o, hdx_error *err); /* everything out, synced, in place */
/* Waits for the pager, where there is one, and gives the code of the call: one that was left early is no failure. */
hdx_code cli_output_leave(cli_output *o, hdx_code code, hdx_error *err);
void     cli_output_drop(cli_output *o); /* what is still there goes; nothing: fine */

/* ---- one call ---- */
typedef struct cli_run {
    const cli_call *call;
    cli_console    *console;
    hdx_arena       arena;
    hdx_session    *session;
    cli_inputs      inputs;
    cli_output     *output;
    const char     *writing; /* the temporary file of strip or restore; NULL: none */
    const char    **names;   /* of the dumps beside the first (sql.c) */
    size_t          name_count;
    hdx_sql_file   *file;      /* of --format sqlite, while its tables are written */
    bool            condition; /* of --fail-on, or a broken rule: exit 1 */
} cli_run;

/* ---- sql.c ---- */
hdx_code cli_sql_attach(cli_run *run, hdx_error *err); /* adds the dumps of --attach to the session */
hdx_code cli_sql(cli_run *run, hdx_error *err);

/* ---- oql.c ---- */
hdx_code cli_oql(cli_run *run, hdx_error *err);

/* ---- batch.c ---- */
hdx_code cli_batch(cli_run *run, hdx_rows **rows, hdx_error *err);

/* ---- names.c ---- */
/* All that is there to read; `most` bytes, or HDX_LIMIT. */
hdx_code cli_read_all(int fd, const char *name, uint64_t most, hdx_buffer *in, hdx_error *err);
/* The words of the call as objects, "-" replaced by what standard input names: arguments of the name that is given. */
hdx_code cli_add_objects(cli_call *call, const char *name, hdx_arena *arena, hdx_error *err);
/* The name in one line of an earlier output; false: none there. The result lies in the line, which is changed. */
typedef struct cli_columns { /* where names stand; all zero before the first line */
    char     separator; /* ' ' of a table, ',' or '\t', '=' of pages; 0: no head was seen, the first word of a line */
    unsigned field, at; /* which field; in a table, characters before it */
} cli_columns;
bool cli_name_in_line(cli_columns *columns, char *line, char **name);
/* Whether a row of csv goes on behind the end of this line: it stands within quotes. */
bool cli_row_goes_on(const cli_columns *columns, const char *line);

/* ---- page.c ---- */
/* A key of an object, a cell of a row, an extra of rows; a null cell where there is none. */
const hdx_cell *cli_member(const hdx_cell *object, const char *key);
const hdx_cell *cli_cell_named(const hdx_column *columns, unsigned count, const hdx_cell *row, const char *name);
const hdx_cell *cli_extra(const hdx_rows *rows, const char *key);
/* A cell as text on a page. */
void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options);
/* Text in lines of at most `width` columns (0: 80), each behind `indent`; text[len] is a NUL. */
void cli_put_paragraph(hdx_buffer *out, const char *text, uint64_t len, const char *indent, unsigned width);
/* A word as a shell reads it back, with nothing in it that acts on a terminal. */
void cli_put_shell_word(hdx_buffer *out, const char *text, size_t len);
/* "heapdex COMMAND DUMP ARGUMENTS", with which heap of the dump; command: "COMMAND ARGUMENTS". */
void cli_put_command(hdx_buffer *out, const cli_call *c, hdx_text command);
/* A command to go on with, below what it is for as a comment of the shell. */
void cli_put_next(hdx_buffer *out, const cli_call *c, hdx_text says, hdx_text command, unsigned width);
void cli_put_nothing(hdx_buffer *out, hdx_rows *rows); /* why there are no rows, as a table says it */
struct cli_run;
void cli_tell_failures(struct cli_run *run, const hdx_rows *rows); /* --fail-on of answers that find it themselves */
bool cli_flush(hdx_buffer *out, const hdx_sink *sink);             /* empties it; false: the sink refused */
/* The code of a page: that of its rows, then whether memory or the sink failed. */
hdx_code cli_page_end(hdx_code code, bool good, bool memory, hdx_error *err);

/* ---- object_page.c ---- */
hdx_code cli_object_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- threads_page.c ---- */
hdx_code cli_threads_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- content.c ---- */
/* What the one object holds that the arguments name. */
hdx_code cli_put_content(const cli_run *run, const hdx_sink *sink, hdx_error *err);

/* ---- tables.c ---- */
/* Rows as a Parquet file. */
hdx_code cli_put_parquet(const cli_run *run, hdx_rows *rows, const hdx_sink *sink, hdx_error *err);
/* The i-th of several tables, from the arena; *name NULL: there are fewer. */
hdx_code cli_table_name(const char *tables, unsigned i, hdx_arena *arena, const char **name, hdx_error *err);
void     cli_take_table(cli_call *call, const char *name); /* from here on the call is about that table */
/* Is the output of several tables a folder, or missing? Then it can be made. The file of a table in it. */
hdx_code cli_check_folder(const cli_call *call, hdx_error *err);
hdx_code cli_make_folder(const cli_call *call, hdx_error *err);
hdx_code cli_table_path(const cli_call *call, const char *name, hdx_arena *arena, const char **path, hdx_error *err);

/* ---- path_page.c ---- */
hdx_code cli_path_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);
/* One path, from its document. */
hdx_code cli_put_path(const hdx_cell *path, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- suspects_page.c ---- */
hdx_code cli_suspects_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- about.c ---- */
/* The document "info" among the extras of rows, as a page. */
hdx_code cli_about(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink,
                   hdx_error *err);

/* Its head: what the dump is, what is in it, and under "ask next" what stands out; more to ask can go on there. */
hdx_code cli_about_head(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options,
                        const hdx_sink *sink, hdx_error *err);

/* ---- look.c ---- */
/* The page that a dump without a command gives: what it is, what is in it, what to ask next. */
hdx_code cli_look(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- leaks.c, leaks_page.c ---- */
/* What --junit and --fail-on ask for, of what the session found. */
hdx_code cli_leaks_after(cli_run *run, hdx_error *err);
hdx_code cli_leaks_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);
void     cli_put_trace(hdx_buffer *out, const hdx_leaks *leaks, const hdx_leak_trace *t, bool human);

/* ---- check.c ---- */
/* The reports that were asked for, and whether a rule is broken. */
hdx_code cli_check_after(cli_run *run, hdx_error *err);
hdx_code cli_check_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- run.c ---- */
int hdx_cli_main(int argc, const char *const *argv);

#endif
