/*
 * hint.c - the table or column that a misspelt one was probably meant to be.
 *
 * In:  what SQLite says of a statement, "no such table: objekts".
 * Out: a hint with the nearest name, where one is near enough. Classes are tables, so theirs are among the names.
 */
#include "base/nearest.h"
#include "sql/sql.h"

static void offer(sql_db *db, const char *statement, hdx_arena *arena, hdx_nearest *near)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->db, statement, -1, &stmt, NULL) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(stmt, 0);
            if (name != NULL && (name = hdx_arena_copy(arena, name, strlen(name))) != NULL)
                hdx_nearest_offer(near, name);
        }
    (void)sqlite3_finalize(stmt);
}

static void offer_classes(sql_db *db, hdx_arena *arena, hdx_nearest *near)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(db->heaps[0]->g, &count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = hdx_arena_copy(arena, classes[i].name.at, classes[i].name.len);
        if (name != NULL)
            hdx_nearest_offer(near, name);
    }
}

void hdx_sql_hint(sql_db *db, hdx_error *err)
{
    static const char table[] = "no such table: ", column[] = "no such column: ";
    const bool        tables = strncmp(err->message, table, sizeof table - 1) == 0;
    if (!tables && strncmp(err->message, column, sizeof column - 1) != 0)
        return;
    hdx_arena   arena = hdx_arena_of(NULL);
    const char *wanted = strchr(err->message, ':') + 2, *dot = tables ? NULL : strrchr(wanted, '.');
    hdx_nearest near = { .wanted = hdx_arena_copy(&arena, dot == NULL ? wanted : dot + 1,
                                                  strlen(dot == NULL ? wanted : dot + 1)) };
    if (near.wanted != NULL && tables) {
        offer(db, "SELECT name FROM sqlite_schema", &arena, &near);
        offer_classes(db, &arena, &near);
    } else if (near.wanted != NULL) {
        offer(db, "SELECT DISTINCT c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c", &arena, &near);
    }
    if (near.best != NULL)
        (void)hdx_hint(err, err->code, "did you mean %s?", near.best);
    hdx_arena_free(&arena);
}
