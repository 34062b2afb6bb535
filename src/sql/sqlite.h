/*
 * sqlite.h - SQLite as a library, or through the table of functions that a program passes to an extension: the files of
 * this room are compiled for both.
 */
#ifndef HDX_SQL_SQLITE_H
#define HDX_SQL_SQLITE_H

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3 /* empty if SQLITE_CORE is defined */

#endif
