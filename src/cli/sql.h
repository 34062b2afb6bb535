/* sql.h - what the command sql, its shell and the command oql share. */
#ifndef HDX_CLI_SQL_H
#define HDX_CLI_SQL_H

#include "cli/cli.h"

/* ---- statements.c ---- */
typedef struct cli_sql_shape { /* of a statement's rows */
    hdx_format  format;
    uint64_t    limit;       /* 0: all */
    uint64_t    patience_ms; /* for counting those that it leaves out */
    const char *rest;        /* said of them; NULL: nothing */
    bool        apart;       /* other rows stand above: an empty line comes between */
} cli_sql_shape;

/* Takes over and uses up the rows, which are the caller's to close. */
hdx_code cli_sql_put(cli_run *run, hdx_rows **rows, const cli_sql_shape *shape, hdx_error *err);
hdx_code cli_sql_open(cli_run *run, hdx_sql **sql, hdx_error *err);
/* A file whole; path NULL or "-": standard input. */
hdx_code cli_sql_read(const char *path, hdx_buffer *text, hdx_error *err);
/*
 * A fault of the statement is told of with its place; `text` holds the statement from byte `begin` on. name: where the
 * text is from; NULL: the command line.
 */
void cli_sql_place(cli_run *run, const char *name, const char *text, size_t begin, hdx_error *err);
/* Is what was read from the indexes still what they were? */
hdx_code cli_sql_check(cli_run *run, hdx_error *err);
/* The graph behind a schema, "main" and those of --attach; NULL: there is none. */
hdx_graph *cli_sql_graph(cli_run *run, const char *schema);

/* ---- shell.c ---- */
hdx_code cli_shell(cli_run *run, hdx_sql *sql, hdx_error *err);

/* ---- words.c: what may stand in a statement ---- */
typedef struct cli_words {
    hdx_arena    arena;
    const char **at; /* in order, each once; with what stands behind it: a quote, a parenthesis */
    size_t       count, room;
    const char  *wanted; /* what stands at the cursor: the end of the text */
    size_t       len;
    bool         exact; /* names of classes are as they are, others whatever the case */
    bool         lower; /* words of SQL are as small as what is there */
} cli_words;

/* text: of the statement up to the cursor. */
void cli_words_at(cli_words *w, cli_run *run, hdx_sql *sql, const char *text);
/* Those of a list with blanks between that go on with what stands there. */
void cli_words_among(cli_words *w, const char *text, const char *list);
/* Names of tables and views, with their schema where it is not main. */
void cli_words_tables(cli_words *w, hdx_sql *sql, const char *text);
void cli_words_free(cli_words *w);
/* How much all of them begin with, whatever the case. */
size_t cli_words_common(const cli_words *w);
/* As columns of a page that is so wide. */
void cli_words_put(hdx_buffer *out, const char *const *at, size_t count, unsigned width);

/*
 * The first column of each row as text, and the second one; a statement that fails has none. Both live until the next.
 */
typedef void cli_sql_take(void *context, const char *text, const char *more);
void         cli_sql_each(hdx_sql *sql, const char *statement, cli_sql_take *take, void *context);
/* Appends a name as a statement has it: in double quotes, unless it is a plain word. */
void cli_put_name(hdx_buffer *out, const char *name);

#endif
