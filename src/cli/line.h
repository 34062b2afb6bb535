/*
 * line.h - reads lines from the terminal: with editing keys, history and completion if heapdex was built with libedit,
 * otherwise as the terminal provides them.
 */
#ifndef HDX_CLI_LINE_H
#define HDX_CLI_LINE_H

#include "cli/cli.h"

typedef enum cli_line_end {
    CLI_LINE_WHOLE,
    CLI_LINE_INTERRUPTED, /* Ctrl-C */
    CLI_LINE_OVER         /* Ctrl-D, or the end of the input */
} cli_line_end;

typedef struct cli_line cli_line;

/*
 * Completes the end of a line: *more says what to replace and by what. If there is a choice, the callback prints it.
 * False: no completion.
 */
typedef struct cli_line_more {
    size_t      drop;   /* number of characters before the cursor to replace */
    const char *insert; /* valid until the next call */
} cli_line_more;
typedef bool cli_line_complete(void *context, const char *before, size_t len, cli_line_more *more);

/* Opens a reader of lines. path: of the history; NULL: none. */
cli_line    *cli_line_open(const char *path, cli_line_complete *complete, void *context);
void         cli_line_close(cli_line *l);                                     /* saves the history; NULL is allowed */
cli_line_end cli_line_read(cli_line *l, const char *prompt, hdx_buffer *out); /* without the newline */
void         cli_line_remember(cli_line *l, const char *text);

#endif
