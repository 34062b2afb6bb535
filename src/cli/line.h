/*
 * line.h - lines that a person writes on the terminal: with keys to move in them, a history and completion where
 * libedit was there when heapdex was built, and as the terminal gives them where it was not.
 */
#ifndef HDX_CLI_LINE_H
#define HDX_CLI_LINE_H

#include "cli/cli.h"

typedef enum cli_line_end {
    CLI_LINE_WHOLE,
    CLI_LINE_INTERRUPTED, /* Ctrl-C */
    CLI_LINE_OVER         /* Ctrl-D, or nobody is there */
} cli_line_end;

typedef struct cli_line cli_line;

/*
 * What may stand at the end of a line: what of it is left alone, what comes behind it, and, where there is a choice,
 * that choice, which has been shown. False: nothing.
 */
typedef struct cli_line_more {
    size_t      drop;   /* characters before the cursor that it replaces */
    const char *insert; /* lives until the next call */
} cli_line_more;
typedef bool cli_line_complete(void *context, const char *before, size_t len, cli_line_more *more);

/* path: of the history; NULL: none. */
cli_line    *cli_line_open(const char *path, cli_line_complete *complete, void *context);
void         cli_line_close(cli_line *l);                                     /* keeps the history; NULL: nothing */
cli_line_end cli_line_read(cli_line *l, const char *prompt, hdx_buffer *out); /* without the end of line */
void         cli_line_remember(cli_line *l, const char *text);

#endif
