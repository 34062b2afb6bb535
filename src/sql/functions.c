/*
 * functions.c - functions of objects.
 */
#include "sql/sql.h"

int sql_install_functions(sql_db *db)
{
    (void)db;
    return SQLITE_OK;
}
