/* sql.h - what the command sql and its shell share. */
#ifndef HDX_CLI_SQL_H
#define HDX_CLI_SQL_H

#include "cli/cli.h"
#include <heapdex/sql.h>

typedef struct cli_sql_shape { /* of a statement's rows */
    hdx_format  format;
    uint64_t    limit; /* 0: all */
    const char *rest;  /* said of those that it leaves out; NULL: nothing */
    bool        apart; /* other rows stand above: an empty line comes between */
} cli_sql_shape;

/* Takes over and uses up the rows, which are the caller's to close. */
hdx_code cli_sql_put(cli_run *run, hdx_rows **rows, const cli_sql_shape *shape, hdx_error *err);
hdx_code cli_sql_open(cli_run *run, hdx_sql **sql, hdx_error *err);
/* Is what was read from the indexes still what they were? */
hdx_code cli_sql_check(cli_run *run, hdx_error *err);

#endif
