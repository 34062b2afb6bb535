/*
 * cli.h - the command line: words in, rows out, an exit code at the end. Uses the public API and render; knows no heaps.
 *
 *     main.c       calls hdx_cli_main
 *     run.c        one call from its first word to its exit code
 *     table.c      every command and option, once; feeds all of:
 *       args.c       words -> cli_call            help.c      --help, --version
 *       nearest.c    "did you mean"               complete.c  completions of bash and zsh, list of examples
 *     session.c    dump -> index -> open graph, head of the JSON document, warnings
 *     strip.c      detect, strip, restore: questions that need no index
 *     commands.c   one function per command: a question put to the API
 *     names.c      objects named on standard input
 *     leaks.c, leaks_page.c  the command leaks: dumps, files, JUnit; its page
 *     card.c       one object as a page of lines, where a table has no room for it
 *     about.c      the answer of info as a page
 *     output.c     standard output, or a file that is whole or not there
 *     console.c    standard error: errors, notices, the progress line; signals
 *
 * A new command is a row in table.c, a function in commands.c, a section in heapdex.1; the tests notice what was forgotten.
 */
#ifndef HDX_CLI_CLI_H
#define HDX_CLI_CLI_H

#include "base/access.h"
#include "base/base.h"
#include "render/render.h"
#include <heapdex/heapdex.h>

/* ---- the table ---- */
typedef enum cli_command_id {
    CLI_INDEX, CLI_ESTIMATE, CLI_INFO, CLI_HISTOGRAM, CLI_DOMINATORS, CLI_OBJECT, CLI_OBJECTS, CLI_REFS, CLI_PATH, CLI_RETAINED, CLI_ROOTS, CLI_THREADS, CLI_LEAKS, CLI_EXPORT,
    CLI_VERIFY, CLI_REMOVE, CLI_DETECT, CLI_STRIP, CLI_RESTORE, CLI_COMMANDS
} cli_command_id;
#define CLI_IN(id) (1u << (id))
#define CLI_EVERY (CLI_IN(CLI_COMMANDS) - 1)

typedef enum cli_option_id {
    CLI_OPT_HELP, CLI_OPT_VERSION, CLI_OPT_FORMAT, CLI_OPT_OUTPUT, CLI_OPT_COLUMNS, CLI_OPT_SORT, CLI_OPT_LIMIT, CLI_OPT_WHERE, CLI_OPT_REACHABLE,
    CLI_OPT_UNITS, CLI_OPT_THREADS, CLI_OPT_MEMORY, CLI_OPT_MAX_UNCOMPRESSED, CLI_OPT_DUMP_NUMBER, CLI_OPT_INDEX_DIR, CLI_OPT_NO_BUILD,
    CLI_OPT_NO_WAIT, CLI_OPT_PROGRESS, CLI_OPT_COLOR, CLI_OPT_QUIET, CLI_OPT_VERBOSE, CLI_OPT_FORCE, CLI_OPT_UNTIL, CLI_OPT_BY, CLI_OPT_CLASS,
    CLI_OPT_RETAINED, CLI_OPT_SCAN, CLI_OPT_DEPTH, CLI_OPT_ELEMENTS, CLI_OPT_SUBCLASSES, CLI_OPT_OUT, CLI_OPT_IN, CLI_OPT_EXCLUDE, CLI_OPT_EXCLUDE_FIELD,
    CLI_OPT_PATHS, CLI_OPT_MERGE, CLI_OPT_STACKS, CLI_OPT_LOCALS, CLI_OPT_TABLE, CLI_OPT_FULL, CLI_OPT_FINDER, CLI_OPT_MATCHERS, CLI_OPT_MAPPING, CLI_OPT_NO_RETAINED,
    CLI_OPT_KEY, CLI_OPT_FILTERS, CLI_OPT_JUNIT, CLI_OPT_FAIL_ON, CLI_OPT_MIN_WATCH, CLI_OPT_POLICY, CLI_OPT_PLAIN, CLI_OPT_KEEP_BITMAPS,
    CLI_OPT_MAP_NAMES, CLI_OPT_KEEP_CLASS, CLI_OPT_DROP_CLASS, CLI_OPTIONS
} cli_option_id;

typedef struct cli_option {
    cli_option_id id;
    const char   *name;    /* without the dashes */
    char          letter;  /* 0: none */
    const char   *value;   /* what help calls the value; NULL: a flag */
    const char   *choices; /* allowed values, blank between them; NULL: any */
    unsigned      commands; /* CLI_IN bits; one name may have several rows for different commands, all with or all without a value */
    const char   *help;
} cli_option;

typedef struct cli_session cli_session;
typedef struct cli_call cli_call;
typedef struct cli_command {
    const char *name;
    const char *words;    /* "DUMP OBJECT..." */
    unsigned    min, max; /* words behind DUMP; max UINT_MAX: any number */
    bool        trims;    /* tables show 25 rows unless told */
    const char *help;     /* one line */
    const char *more;     /* a paragraph */
    const char *examples[2];
    hdx_code (*ask)(cli_session *session, hdx_rows **out, hdx_error *err);
} cli_command;

extern const cli_command cli_commands[CLI_COMMANDS];
extern const cli_option  cli_options[];
extern const size_t      cli_option_count;
#define CLI_TABLE_ROWS 25
/* The row of a name for a command; command CLI_COMMANDS: any row of that name. NULL: none. */
const cli_option *cli_option_named(const char *name, size_t len, unsigned command);
/* The word of `choices` that equals value, as its place; -1: none. */
int cli_choice(const char *choices, const char *value);

/* ---- nearest.c ---- */
/* Letters to insert, remove, change or swap. */
unsigned cli_distance(const char *a, const char *b);
/* Keeps the nearest of the candidates offered, if it is near enough to be meant. Start with best NULL. */
typedef struct cli_nearest {
    const char *wanted;
    const char *best;
    unsigned    distance;
} cli_nearest;
void cli_nearest_offer(cli_nearest *n, const char *candidate);

/* ---- args.c ---- */
typedef enum cli_when { CLI_AUTO, CLI_ALWAYS, CLI_NEVER, CLI_AS_JSON } cli_when;
typedef enum cli_fail { CLI_FAIL_NEVER, CLI_FAIL_APPLICATION, CLI_FAIL_LIBRARY, CLI_FAIL_ANY } cli_fail;
typedef enum cli_wants { CLI_WANTS_ANSWER, CLI_WANTS_HELP, CLI_WANTS_VERSION } cli_wants;
struct cli_call { /* texts are borrowed from argv, arrays from the arena given to cli_parse */
    cli_wants          wants;
    cli_command_id     id;      /* CLI_COMMANDS: none named (help of everything) */
    const cli_command *command; /* NULL: none named */
    const char        *dump;
    const char       **words;   /* behind DUMP */
    size_t             word_count;
    hdx_format         format;
    const char        *output;  /* NULL: standard output */
    const char        *columns, *sort;
    bool               descending;
    bool               limited;
    uint64_t           limit;   /* 0: all */
    const char       **where;
    size_t             where_count;
    hdx_refs_scope     scope;
    bool               bytes;   /* --units bytes */
    unsigned           threads;
    uint64_t           memory, max_uncompressed;
    uint32_t           dump_number;
    const char        *index_dir;
    bool               no_build, no_wait, quiet, verbose;
    cli_when           progress, color;
    bool               force;
    hdx_step           until;
    hdx_by             by;
    const char        *class_pattern;
    bool               retained, scan, subclasses, out, in, merge, stacks, locals, full;
    unsigned           depth;
    uint64_t           elements;
    unsigned           exclude;
    const char       **exclude_fields;
    size_t             exclude_field_count;
    unsigned           paths;
    const char        *table;
    hdx_leak_finder    finder;
    const char       **classes; /* --class of leaks, as often as it is given */
    size_t             class_count;
    const char        *matchers, *mapping, *filters, *junit, *key;
    bool               no_retained;
    cli_fail           fail_on;
    uint64_t           min_watch; /* seconds */
    hdx_strip_policy   policy;
    bool               plain, keep_bitmaps, map_names;
    const char       **keep_classes, **drop_classes;
    size_t             keep_class_count, drop_class_count;
};
hdx_code cli_parse(int argc, const char *const *argv, hdx_arena *arena, cli_call *call, hdx_error *err);
/* Whether --format json stands anywhere: an error is a document then, even where the words cannot be parsed. */
bool cli_asks_json(int argc, const char *const *argv);
/* "768M", "4G", "1048576"; suffixes are powers of 1024. */
bool cli_size(const char *text, uint64_t *bytes);

/* ---- help.c, complete.c: text for standard output ---- */
void cli_help(hdx_buffer *out, const cli_command *command); /* NULL: of everything */
/* shell: "bash", "zsh", or "examples" (one a line, for the test that runs them); false: unknown. */
bool cli_complete(hdx_buffer *out, const char *shell);

/* ---- console.c: standard error and signals ---- */
typedef struct cli_console {
    bool            quiet, verbose;
    cli_when        progress;
    bool            terminal; /* standard error is one */
    bool            line;     /* a progress line stands there and must go before anything else is written */
    unsigned        step;     /* of the last report */
    uint64_t        step_ns, shown_ns;
    pthread_mutex_t one;      /* notices and progress come from different threads */
} cli_console;
void         cli_console_open(cli_console *c, const cli_call *call); /* call NULL: before anything is known */
void         cli_console_close(cli_console *c);
hdx_progress cli_console_progress(cli_console *c);
/* "heapdex: LINE"; left out with --quiet. Control characters are shown as \xNN. */
void cli_notice(cli_console *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_console_erase(cli_console *c);
/* Writes the error, on standard error and as a document if asked; returns the exit code. */
int  cli_report(cli_console *c, hdx_code code, const hdx_error *err, bool json);
int  cli_exit_code(hdx_code code);
void cli_catch_signals(void);
/* From here on a file of g that becomes shorter is damage of g and not the end of the process; NULL: none. One at a time. */
void cli_guard(hdx_graph *g);
int  cli_signal(void); /* the first SIGINT, SIGTERM or SIGHUP, or 0 */
void cli_building(bool on); /* a build is under way: a second Ctrl-C is answered by a line, a third ends it; elsewhere a second one does */
void cli_unfinished(const char *path); /* to be removed where Ctrl-C ends the process at once; NULL: nothing */
/* One progress line for people, without control characters; at most width - 1 columns. */
void cli_progress_line(char *to, size_t size, unsigned width, const hdx_progress_report *r, uint64_t elapsed_ns);
/* Appends text as a terminal may see it: control characters and invalid UTF-8 as \xNN. */
void cli_put_plain(hdx_buffer *b, const char *text, size_t len);
unsigned cli_terminal_width(int fd); /* COLUMNS where fd is no terminal; 0: unknown */

/* ---- output.c ---- */
typedef struct cli_output {
    int         fd;
    bool        opened;      /* fd is ours to close */
    bool        written;     /* something left the buffer */
    int         failed;      /* errno of the first failure */
    bool        interrupted; /* a signal came while writing */
    uint64_t    bytes;
    uint64_t    pushed, waited; /* of them on the way to disk; there */
    const char *path;        /* of the answer; NULL: standard output */
    char       *final, *part; /* both NULL where the file is written in place (a device, a pipe) */
    hdx_access  access;      /* of the file, once it is whole */
    size_t      filled;
    char        buffer[65536];
} cli_output;
/* path NULL or "-": standard output. dump: a file that must not be overwritten; it and `more` say who may read the output. */
hdx_code cli_output_open(cli_output *o, const char *path, const char *dump, const char *const *more, size_t more_count, hdx_error *err);
hdx_sink cli_output_sink(cli_output *o);
bool     cli_output_write(cli_output *o, const char *bytes, size_t len);
hdx_code cli_output_commit(cli_output *o, hdx_error *err); /* everything out, synced, in place */
void     cli_output_drop(cli_output *o);                   /* what is still there goes; nothing: fine */

/* ---- session.c ---- */
struct cli_session {
    const cli_call  *call;
    cli_console     *console;
    hdx_progress     progress;
    hdx_arena        arena;
    hdx_index_report report;
    hdx_graph       *graph;
    hdx_query        query;
    const hdx_counts *counts;   /* instead of a graph: --scan (ours to free), or the first pass of a build (lent) */
    hdx_index_forecast *forecast; /* estimate: instead of a graph */
    cli_output      *output;
    bool             answered;  /* by the first pass, ahead of the index */
    const char      *dump_path; /* of the dump at hand; NULL: only the index is */
    hdx_leaks       **leaks;     /* answers of the command leaks, one a dump */
    const char      **leak_names;
    size_t            leaks_count;
    bool              condition; /* of --fail-on: exit 1 */
    hdx_member       head[5];
};
/* --scan: no graph, but counts. first_pass: see hdx_index_options; NULL where the question needs the index. */
hdx_code cli_session_open(cli_session *s, void (*first_pass)(void *session, const hdx_counts *counts), hdx_error *err);
void     cli_session_close(cli_session *s);
hdx_index_options cli_index_options(cli_session *s);
const hdx_graph_summary *cli_session_summary(const cli_session *s); /* NULL: neither graph nor counts */
/* heapdex, command, dump, damage, warnings. Without a graph: what is known without one. */
hdx_code cli_session_head(cli_session *s, hdx_error *err);
void     cli_session_warn(cli_session *s); /* damage and warnings as lines on standard error */

/* ---- names.c ---- */
/* The words of the call, "-" replaced by what standard input names. */
hdx_code cli_object_words(cli_session *s, const char *const **words, size_t *count, hdx_error *err);
/* The name in one line of an earlier output; false: none there. The result lies in the line, which is changed. */
bool cli_name_in_line(char *line, char **name);

/* ---- card.c ---- */
hdx_code cli_cards(hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);
/* A cell as text on a page. */
void cli_put_value(hdx_buffer *out, const hdx_cell *cell, hdx_unit unit, const hdx_render_options *options);

/* ---- about.c ---- */
/* The document "info" among the extras of rows, as a page. */
hdx_code cli_about(const cli_session *s, const hdx_rows *rows, const hdx_render_options *options, const hdx_sink *sink, hdx_error *err);

/* ---- leaks.c, leaks_page.c ---- */
hdx_code cli_ask_leaks(cli_session *s, hdx_rows **out, hdx_error *err);
void     cli_leaks_close(cli_session *s);
hdx_code cli_leaks_page(const cli_session *s, const hdx_sink *sink, hdx_error *err);
void     cli_put_trace(hdx_buffer *out, const hdx_leaks *leaks, const hdx_leak_trace *t, bool human);

/* ---- commands.c ---- */
hdx_code cli_ask_index(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_estimate(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_info(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_histogram(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_dominators(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_object(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_objects(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_refs(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_path(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_retained(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_roots(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_threads(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_export(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_verify(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_remove(cli_session *s, hdx_rows **out, hdx_error *err);

/* ---- strip.c ---- */
hdx_code cli_ask_detect(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_strip(cli_session *s, hdx_rows **out, hdx_error *err);
hdx_code cli_ask_restore(cli_session *s, hdx_rows **out, hdx_error *err);
/* Commands that read the dump alone: no index is looked for or built. */
static inline bool cli_needs_no_index(cli_command_id id)
{
    return id == CLI_REMOVE || id == CLI_ESTIMATE || id == CLI_DETECT || id == CLI_STRIP || id == CLI_RESTORE;
}

/* ---- run.c ---- */
int hdx_cli_main(int argc, const char *const *argv);

#endif
