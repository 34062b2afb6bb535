/* sql.h - shared by the command sql, its shell and the command oql. */
#ifndef HDX_CLI_SQL_H
#define HDX_CLI_SQL_H

#include "cli/cli.h"

/* ---- statements.c ---- */
typedef struct cli_sql_shape { /* how to write the rows of a statement */
    hdx_format  format;
    uint64_t    limit;       /* 0: all */
    uint64_t    patience_ms; /* for counting rows that the limit omits */
    const char *rest;        /* hint about these rows; NULL: none */
    bool        apart;       /* print an empty line first, because other rows precede */
} cli_sql_shape;

/* Writes the rows to the end. They remain owned by the caller, who closes *rows. */
hdx_code cli_sql_put(cli_run *run, hdx_rows **rows, const cli_sql_shape *shape, hdx_error *err);
hdx_code cli_sql_open(cli_run *run, hdx_sql **sql, hdx_error *err);
/* Reads a file completely; path NULL or "-": standard input. */
hdx_code cli_sql_read(const char *path, hdx_buffer *text, hdx_error *err);
/*
 * Adds the position to an error in a statement; `text` has the statement from byte `begin` on. name: source of the
 * text; NULL: the command line.
 */
void cli_sql_place(cli_run *run, const char *name, const char *text, size_t begin, hdx_error *err);
/* Checks that the indexes that were read are still valid. */
hdx_code cli_sql_check(cli_run *run, hdx_error *err);
/* Returns the graph of a schema, "main" or one of --attach; NULL: there is none. */
hdx_graph *cli_sql_graph(cli_run *run, const char *schema);

/* ---- shell.c ---- */
hdx_code cli_shell(cli_run *run, hdx_sql *sql, hdx_error *err);

/* ---- words.c: completion of statements ---- */
typedef struct cli_words {
    hdx_arena    arena;
    const char **at; /* sorted, each once; with the character that follows it: a quote, a parenthesis */
    size_t       count, room;
    const char  *wanted; /* the word at the cursor: the end of the text */
    size_t       len;
    bool         exact; /* class names match with their case, other names in any case */
    bool         lower; /* SQL keywords are offered in lower case, as the word at the cursor is */
} cli_words;

/* Finds the completions. text: the statement up to the cursor. */
void cli_words_at(cli_words *w, cli_run *run, hdx_sql *sql, const char *text);
/* Adds the words of a list, separated by blanks, that begin with the word at the cursor. */
void cli_words_among(cli_words *w, const char *text, const char *list);
/* Adds names of tables and views, with their schema unless it is main. */
void cli_words_tables(cli_words *w, hdx_sql *sql, const char *text);
void cli_words_free(cli_words *w);
/* Returns the length of their common beginning, ignoring case. */
size_t cli_words_common(const cli_words *w);
/* Appends them in columns for a page of this width. */
void cli_words_put(hdx_buffer *out, const char *const *at, size_t count, unsigned width);

/*
 * Passes the first column of each row as text, and the second; nothing if the statement fails. Both are valid until the
 * next row.
 */
typedef void cli_sql_take(void *context, const char *text, const char *more);
void         cli_sql_each(hdx_sql *sql, const char *statement, cli_sql_take *take, void *context);
/* Appends a name as in a statement: in double quotes, unless it is a plain word. */
void cli_put_name(hdx_buffer *out, const char *name);

#endif
