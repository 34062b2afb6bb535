/*
 * held.c - small tables, whole in memory and in every order.
 */
#include "sql/sql.h"

void sql_heap_forget(sql_heap *heap) { (void)heap; }
