/*
 * cli.h - the command line: parses arguments, runs an answer, prints its rows and returns an exit code. The library
 * declares answers, their parameters and columns; this room has the options, help, pages and the console.
 *
 *     main.c       calls hdx_cli_main
 *     run.c        one call from its first word to its exit code
 *     table.c      every option, once; feeds all of:
 *       args.c       words -> cli_call            help.c      --help, --version
 *       complete.c   completions of bash, zsh and fish, list of examples
 *       offers.c     completions for a place of the line (offers.h)
 *     commands.c   the list of commands
 *     call.c       accessors of a parsed call
 *     sql.c        the command sql (sql.h); shell.c its shell, words.c completion of statements, line.c its keys;
 *                  statements.c shared with oql.c, the command oql
 *     batch.c      the command batch
 *     names.c      objects named on standard input
 *     leaks.c, leaks_page.c  JUnit and exit code of the command leaks; its page
 *     check.c      exit code, page and reports of the command check (report.h: JUnit, SARIF, Markdown)
 *     finding.c    a finding of check as text
 *     path_page.c  paths to GC roots, one line per step
 *     page.c       shared by pages; object_page.c, path_page.c, threads_page.c, suspects_page.c, leaks_page.c, about.c
 *                  are pages
 *     content.c    the content of an object as it is
 *     about.c      the answer of info as a page
 *     look.c       the page for a dump without a command: several short answers, and what to query next
 *     inputs.c     the files that a call reads, which none of its outputs may replace
 *     output.c     standard output, or a file that appears complete or not at all
 *     pager.c      a pager between standard output and a terminal
 *     console.c    standard error: errors, notices, the progress line; signals
 *
 * A new command needs an answer in the library, a line in groups.c and a file in man/; the build or a test reports what
 * is missing.
 */
#ifndef HDX_CLI_CLI_H
#define HDX_CLI_CLI_H

#include "base/base.h"
#include "base/whole.h"
#include "render/render.h"
#include "report/report.h"
#include <heapdex/heapdex.h>
#include <heapdex/sql.h>

#include <sys/types.h>

/* ---- commands.c ---- */
size_t            cli_command_count(void);
const hdx_answer *cli_command_at(size_t i);            /* in the order of the help text */
const hdx_answer *cli_command_named(const char *name); /* NULL: none */
/* Returns whether the command runs a query language that orders, selects and limits rows itself. */
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
    bool                 everywhere; /* accepted by every command */
    const hdx_parameter *is;
} cli_option;

#define CLI_OPTIONS_MAX     64u
#define CLI_TABLE_ROWS      25
#define CLI_TABLE_ROWS_TEXT "25"
/* Returns the options of a command, its own first; NULL: those of every command. */
size_t cli_options_of(const hdx_answer *answer, cli_option options[CLI_OPTIONS_MAX]);
/* Finds an option by name or letter. */
bool cli_option_named(const hdx_answer *answer, const char *name, size_t len, cli_option *out);
bool cli_option_anywhere(const char *name, size_t len, cli_option *out); /* of any command */
/* Returns the parameter that follows the dump without its name; NULL: none. */
const hdx_parameter *cli_word_of(const hdx_answer *answer);
/* Appends the synopsis: "DUMP OBJECT... --table TABLE". */
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
    cli_wants          wants;
    const hdx_answer  *answer;    /* NULL: none named (general help) */
    const char        *topic;     /* of `heapdex help`, if it is not a command; NULL: none */
    hdx_argument      *arguments; /* with room for those that words and formats add */
    size_t             argument_count, argument_room;
    const char       **words; /* after DUMP */
    size_t             word_count;
    hdx_index_options  index; /* also has the dump */
    hdx_format         format;
    const char        *output;   /* NULL: standard output */
    bool               bytes;    /* --units bytes */
    bool               raw;      /* --raw */
    bool               parquet;  /* --format parquet: rows without text; `format` is that of rows alone */
    bool               sqlite;   /* --format sqlite: likewise */
    const char        *encoding; /* of parquet; NULL: not given */
    bool               draws;    /* --format names a picture: likewise */
    hdx_picture_format picture;
    bool               page; /* --format html or md: a page with the document; likewise */
    hdx_report_format  page_format;
    bool               full_text;
    bool               text; /* --text of object: its content and no rows */
    bool               no_pager;
    bool               quiet, verbose;
    cli_when           progress, color;
    const char        *junit, *sarif, *markdown;
    cli_fail           fail_on;
} cli_call;
hdx_code cli_parse(int argc, const char *const *argv, hdx_arena *arena, cli_call *call, hdx_error *err);
/*
 * Returns whether --format json is among the arguments: errors are then documents, even if the arguments are invalid.
 */
bool cli_asks_json(int argc, const char *const *argv);

/* ---- draw.c ---- */
/* Returns whether --format names a picture, and which. */
bool cli_draw_named(const char *format, hdx_picture_format *out);
/* Checks that the options of a call suit its picture. HDX_OK if the format is none. */
hdx_code cli_draw_check(const cli_call *c, hdx_error *err);
/* Adds the arguments that a picture needs. */
void cli_draw_arguments(cli_call *c);
struct cli_run;
hdx_code cli_draw(struct cli_run *run, const cli_call *c, hdx_rows *rows, hdx_error *err);
/* Returns whether --format names a page, and which. */
bool cli_page_named(const char *format, hdx_report_format *out);
/* Writes rows as a page. REQUIRES: the arguments of the call are those of the user. */
hdx_code cli_put_page(struct cli_run *run, hdx_rows *rows, hdx_error *err);

/* ---- call.c ---- */
/* Returns the value of a parameter; NULL: not given. */
const char *cli_given(const cli_call *call, const char *name);
uint64_t    cli_given_number(const cli_call *call, const char *name); /* 0: not given */
bool        cli_is(const cli_call *call, const char *answer);
/* Returns whether the call writes several tables to a folder. */
bool cli_is_folder(const cli_call *call);
/* Returns how many reports of check go to standard output: if there are any, nothing else of check does. */
unsigned cli_reports_shown(const cli_call *call);
/* Returns how rows are rendered, without the hint about rows that a limit omitted. */
hdx_render_options cli_render_options(const cli_call *call);

/* ---- help.c, complete.c: text for standard output ---- */
void        cli_help(hdx_buffer *out, const hdx_answer *answer); /* NULL: general help */
void        cli_help_topic(hdx_buffer *out, const char *topic);  /* one of cli_help_topic_name */
const char *cli_help_topic_name(size_t i);                       /* topics, then groups; NULL after the last */
#define CLI_HELP_COLUMN 17
/* Appends a name and, from CLI_HELP_COLUMN on, a wrapped sentence. */
void cli_put_help_line(hdx_buffer *out, const char *name, const char *sentence);

/* ---- groups.c: the commands in groups ---- */
void        cli_help_groups(hdx_buffer *out); /* all groups, a line for each command */
void        cli_help_group(hdx_buffer *out, size_t i);
const char *cli_group_name(size_t i); /* NULL after the last */
const char *cli_group_title(size_t i);
/* The k-th command of a group and when to use it. NULL after the last. */
const char *cli_group_command(size_t i, size_t k, const char **when);

/* Appends a script. shell: "bash", "zsh", "fish", or "examples" (one per line, for their test); false: unknown. */
bool cli_complete(hdx_buffer *out, const char *shell);
/* Answers the queries of those scripts, after "heapdex __complete"; false: not such a query. */
bool cli_offered(hdx_buffer *out, int argc, const char *const *argv);

/* ---- console.c: standard error and signals ---- */
typedef struct cli_console {
    bool            quiet, verbose;
    cli_when        progress;
    bool            terminal; /* standard error is a terminal */
    bool            line;     /* a progress line is on the screen and must be erased before other output */
    unsigned        step;     /* of the last report */
    uint64_t        began_ns, step_ns, shown_ns;
    bool            held;  /* an answer is writing to the terminal: progress is hidden, and notices are deferred */
    hdx_buffer      later; /* deferred notices */
    hdx_buffer      below; /* lines to print after an error message: a statement and the position of its error */
    pthread_mutex_t one;   /* guards against notices and progress from different threads */
} cli_console;
void         cli_console_open(cli_console *c, const cli_call *call); /* call NULL: before the arguments are parsed */
void         cli_console_close(cli_console *c);
hdx_progress cli_console_progress(cli_console *c);
/* Writes "heapdex: LINE"; not with --quiet. Control characters are written as \xNN. */
void cli_notice(cli_console *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_console_erase(cli_console *c);
/* Starts another piece of work: progress is shown if it takes a while. */
void cli_console_begin(cli_console *c);
void cli_console_hold(cli_console *c, bool on); /* whether an answer, or a pager, is writing to the terminal */
/* Writes an error to standard error, and as a document if requested. Returns the exit code. */
int  cli_report(cli_console *c, hdx_code code, const hdx_error *err, bool json);
int  cli_exit_code(hdx_code code);
void cli_catch_signals(void);
/*
 * From now on, truncating an index file that a graph of the session maps is damage and no longer ends the process;
 * NULL: no session.
 */
void cli_guard(hdx_session *s);
int  cli_signal(void); /* the first SIGINT, SIGTERM or SIGHUP, or 0 */
/*
 * In a shell: from now on Ctrl-C ends a statement of this connection, or a line; NULL: the program.
 * cli_shell_interrupted returns once whether it did.
 */
void cli_set_shell_sql(hdx_sql *sql);
bool cli_shell_interrupted(void);
bool cli_shell_must_stop(void); /* the same without clearing it, or the program must end */
/*
 * While a build is running, a second Ctrl-C prints a line and a third one ends the process; otherwise the second one
 * does.
 */
void cli_building(bool on);
/*
 * Files that are removed if a signal ends the process at once. The list borrows the path until it is removed by the
 * same pointer; it has room for CLI_UNFINISHED_MAX.
 */
#define CLI_UNFINISHED_MAX 16u
void cli_unfinished_add(const char *path);
void cli_unfinished_remove(const char *path);
/* A pager has the terminal, and after Ctrl-C the process waits for it before it ends; pid 0: there is none. */
void cli_paging(pid_t pid, int pipe_end);
bool cli_paging_left(int *status); /* true once, if it ended by itself while other work continues */
int  cli_paging_status(void);      /* exit status of that pager */
void cli_paging_ends(void);        /* the answer is complete: Ctrl-C only affects the pager */
/* Formats one progress line without control characters, of at most width - 1 columns. */
void cli_progress_line(char *to, size_t size, unsigned width, const hdx_progress_report *r, uint64_t elapsed_ns);
/* Appends a text for a terminal: control characters and invalid UTF-8 as \xNN. */
void     cli_put_plain(hdx_buffer *b, const char *text, size_t len);
bool     cli_ascii(int fd);          /* the terminal only shows ASCII */
unsigned cli_terminal_width(int fd); /* COLUMNS if fd is not a terminal; 0: unknown */

/* ---- pager.c ---- */
typedef struct cli_pager {
    const char  *command;
    cli_console *console;
    bool         begun; /* started, or tried to */
    bool         by_shell;
    pid_t        pid; /* 0: not running */
} cli_pager;
const char *cli_pager_command(void);       /* from the environment; NULL: none */
int         cli_pager_begin(cli_pager *p); /* returns the write end of a pipe; -1: it could not be started */
/*
 * Waits until the pager ends. REQUIRES: the pipe is closed. done: all work is complete. False: the program does not
 * exist.
 */
bool cli_pager_end(cli_pager *p, bool done);

/* ---- inputs.c ---- */
typedef struct cli_inputs { /* the files that a call reads */
    const char **at;
    size_t       count;
} cli_inputs;
hdx_code cli_inputs_of(const cli_call *call, hdx_arena *arena, cli_inputs *out, hdx_error *err);
/*
 * Returns HDX_USAGE if an output of the call must not be written (hdx_output_check), or if two outputs are the same
 * file. Each table of a folder is an output. Nothing is created.
 */
hdx_code cli_check_outputs(const cli_call *call, const cli_inputs *inputs, hdx_arena *arena, hdx_error *err);

/* ---- output.c ---- */
typedef struct cli_output {
    int            fd;
    bool           opened;      /* whether to close fd */
    bool           written;     /* the buffer was flushed at least once */
    int            failed;      /* errno of the first failure */
    bool           interrupted; /* a signal arrived during a write */
    uint64_t       bytes;
    uint64_t       pushed, waited; /* bytes for which writing to disk was started; bytes that are on disk */
    const char    *path;           /* of the answer; NULL: standard output */
    hdx_whole_file whole;          /* not begun if a device or a pipe is written in place */
    cli_console   *console;        /* of a terminal on standard output: keeps progress out of the answer */
    cli_pager     *pager;          /* of standard output; NULL: none */
    /* bytes with which the pager was started and that are still in the buffer; 0: none */
    size_t first;
    size_t filled;
    char   buffer[65536];
} cli_output;
/*
 * Opens the output. path NULL or "-": standard output. The file is readable for users who may read the inputs. Returns
 * HDX_USAGE if the file is one of the inputs, a heap dump or part of an index.
 */
hdx_code cli_output_open(cli_output *o, const char *path, const cli_inputs *inputs, hdx_error *err);
/* Sets console and pager, if standard output is a terminal. Both are borrowed; a pager without a command is ignored. */
void     cli_output_show(cli_output *o, cli_console *console, cli_pager *pager);
hdx_sink cli_output_sink(cli_output *o);
bool     cli_output_write(cli_output *o, const char *bytes, size_t len);
bool     cli_output_is_file(const cli_output *o); /* a temporary file, o->whole.part, that commit renames */
/* Writes to disk what other code has appended to the file. */
void     cli_output_appended(cli_output *o);
hdx_code cli_output_commit(cli_output *o, hdx_error *err); /* flushes, syncs and renames */
/*
 * Waits for the pager, if there is one. Returns the code of the call: that a user quits the pager early is not an
 * error.
 */
hdx_code cli_output_leave(cli_output *o, hdx_code code, hdx_error *err);
void     cli_output_drop(cli_output *o); /* removes what was not committed; may be called at any time */

/* ---- one call ---- */
typedef struct cli_run {
    const cli_call *call;
    cli_console    *console;
    hdx_arena       arena;
    hdx_session    *session;
    cli_inputs      inputs;
    cli_output     *output;
    const char     *writing; /* the temporary file of strip or restore; NULL: none */
    const char    **names;   /* of all dumps but the first (sql.c) */
    size_t          name_count;
    hdx_sql_file   *file;      /* of --format sqlite, while its tables are written */
    bool            condition; /* of --fail-on, or a violated rule: exit 1 */
} cli_run;

/* ---- sql.c ---- */
hdx_code cli_sql_attach(cli_run *run, hdx_error *err); /* adds the dumps of --attach to the session */
hdx_code cli_sql(cli_run *run, hdx_error *err);

/* ---- oql.c ---- */
hdx_code cli_oql(cli_run *run, hdx_error *err);

/* ---- batch.c ---- */
hdx_code cli_batch(cli_run *run, hdx_rows **rows, hdx_error *err);

/* ---- names.c ---- */
/* Reads to the end of a file; more than `most` bytes are HDX_LIMIT. */
hdx_code cli_read_all(int fd, const char *name, uint64_t most, hdx_buffer *in, hdx_error *err);
/* Adds the words of the call as arguments of this name, with "-" replaced by the objects that standard input names. */
hdx_code cli_add_objects(cli_call *call, const char *name, hdx_arena *arena, hdx_error *err);
/*
 * Finds the name in one line of an earlier output; false: there is none. The result is in the line, which is modified.
 */
typedef struct cli_columns { /* position of names; all zero before the first line */
    /* ' ' of a table, ',' or '\t', '=' of pages; 0: no header line was seen, so the first word of a line */
    char     separator;
    unsigned field, at; /* index of the field; in a table, number of characters before it */
} cli_columns;
bool cli_name_in_line(cli_columns *columns, char *line, char **name);
/* Returns whether a csv row continues after this line, because it ends inside of quotes. */
bool cli_row_continues(const cli_columns *columns, const char *line);

/* ---- page.c ---- */
/* Appends a cell as text for a page. */
void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options);
/* Appends text in lines of at most `width` columns (0: 80), each after `indent`. REQUIRES: text[len] is a NUL. */
void cli_put_paragraph(hdx_buffer *out, const char *text, uint64_t len, const char *indent, unsigned width);
/* Appends a word quoted for a shell, without characters that affect a terminal. */
void cli_put_shell_word(hdx_buffer *out, const char *text, size_t len);
/* Appends "heapdex COMMAND DUMP ARGUMENTS", with the number of the heap in the dump. command: "COMMAND ARGUMENTS". */
void cli_put_command(hdx_buffer *out, const cli_call *c, hdx_text command);
/* Appends a command to run next, after its purpose as a comment of the shell. */
void cli_put_next(hdx_buffer *out, const cli_call *c, hdx_text says, hdx_text command, unsigned width);
void cli_put_empty_reason(hdx_buffer *out, hdx_rows *rows); /* why there are no rows, as in tables */
/* --fail-on of answers that evaluate it themselves */
void cli_report_failures(struct cli_run *run, const hdx_rows *rows);
bool cli_flush(hdx_buffer *out, const hdx_sink *sink); /* empties it; false: the sink failed */
/* Returns the code of a page: that of its rows, otherwise an error if memory or the sink failed. */
hdx_code cli_page_end(hdx_code code, bool good, bool memory, hdx_error *err);

/* ---- object_page.c ---- */
hdx_code cli_object_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- threads_page.c ---- */
hdx_code cli_threads_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- content.c ---- */
/* Writes the content of the object that the arguments name. */
hdx_code cli_put_content(const cli_run *run, const hdx_sink *sink, hdx_error *err);

/* ---- tables.c ---- */
/* Writes rows as a Parquet file. */
hdx_code cli_put_parquet(const cli_run *run, hdx_rows *rows, const hdx_sink *sink, hdx_error *err);
/* Returns the i-th of several tables, in the arena; *name NULL: there are fewer. */
hdx_code cli_table_name(const char *tables, unsigned i, hdx_arena *arena, const char **name, hdx_error *err);
void     cli_select_table(cli_call *call, const char *name); /* from now on the call is about that table */
/*
 * cli_check_folder checks that the output of several tables is a folder or missing, cli_make_folder creates it, and
 * cli_table_path returns the file of a table in it.
 */
hdx_code cli_check_folder(const cli_call *call, hdx_error *err);
hdx_code cli_make_folder(const cli_call *call, hdx_error *err);
hdx_code cli_table_path(const cli_call *call, const char *name, hdx_arena *arena, const char **path, hdx_error *err);

/* ---- path_page.c ---- */
hdx_code cli_path_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);
/* Writes one path from its document. */
hdx_code cli_put_path(const hdx_cell *path, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- suspects_page.c ---- */
hdx_code cli_suspects_page(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- about.c ---- */
/* Writes the document "info" among the extras of rows as a page. */
hdx_code cli_about(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink,
                   hdx_error *err);

/*
 * Writes its head: the kind of the dump, its content, and conspicuous facts under "ask next", to which further entries
 * may be added.
 */
hdx_code cli_about_head(const cli_run *run, const hdx_rows *rows, const hdx_render_options *options,
                        const hdx_sink *sink, hdx_error *err);

/* ---- look.c ---- */
/* Writes the page for a dump without a command: its kind, its content, and what to query next. */
hdx_code cli_look(cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- leaks.c, leaks_page.c ---- */
/* Handles --junit and --fail-on with the leaks of the session. */
hdx_code cli_leaks_after(cli_run *run, hdx_error *err);
hdx_code cli_leaks_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);
void     cli_put_trace(hdx_buffer *out, const hdx_leaks *leaks, const hdx_leak_trace *t, bool human);

/* ---- check.c ---- */
/* Writes the requested reports, and sets whether a rule is violated. */
hdx_code cli_check_after(cli_run *run, hdx_error *err);
hdx_code cli_check_page(const cli_run *run, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- run.c ---- */
int hdx_cli_main(int argc, const char *const *argv);

#endif
