/*
 * history.h - the file that stores the lines of the shell between two calls. Available where libedit is.
 *
 * A file is heapdex's own if it is a regular file that begins as libedit's histories do, or is empty. Any other file
 * is neither read nor changed. A symbolic link stays, and the file that it leads to is replaced.
 */
#ifndef HDX_CLI_HISTORY_H
#define HDX_CLI_HISTORY_H

#ifdef HDX_EDIT
#include <histedit.h>

#define CLI_HISTORY_LINES 1000
#define CLI_HISTORY_BYTES (16u << 20) /* of a longer file the last lines are read */

/* Returns an empty history for CLI_HISTORY_LINES lines; NULL: no memory. */
History *cli_history_new(void);

/* Adds the lines of the file. Never waits for another process; a file that cannot be used is ignored. */
void cli_history_load(History *h, const char *path);

/*
 * Adds lines to the file, which other shells may have extended in the meantime. The file is replaced completely or left
 * unchanged. It is left unchanged if it belongs to another user or is read-only.
 */
void cli_history_add(History *lines, const char *path);
#endif

#endif
