/*
 * instances.c - tables of classes.
 */
#include "sql/sql.h"

static const sqlite3_module module = { 0 };
const sql_module            sql_class_tables = { "heapdex_class", &module, NULL };

bool sql_is_class_table(sql_heap *heap, const char *name)
{
    (void)heap;
    (void)name;
    return false;
}
