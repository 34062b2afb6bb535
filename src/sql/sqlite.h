/*
 * sqlite.h - SQLite, called as a library, or through the table of functions that a program hands to an extension it
 * loads: the files of this room are compiled for both.
 */
#ifndef HDX_SQL_SQLITE_H
#define HDX_SQL_SQLITE_H

#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3 /* nothing where SQLITE_CORE is defined */

#endif
