/*
 * hint.c - suggests the table or column that a misspelt name probably means, and explains errors with correctly spelt
 * names.
 *
 * In:  SQLite's message about a statement, "no such table: objekts".
 * Out: a hint with the nearest name, if one is near enough. Classes are tables, so their names are candidates. For a
 *      column of other tables: their names. For the name of a class without quotes: that it needs them.
 */
#include "base/nearest.h"
#include "sql/sql.h"

#include <stdio.h>

/* Offers names that differ from the wanted one in more than case. */
static void offer(sql_db *db, const char *statement, hdx_arena *arena, hdx_nearest *near)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db->db, statement, -1, &stmt, NULL) == SQLITE_OK)
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(stmt, 0);
            if (name != NULL && sqlite3_stricmp(name, near->wanted) != 0 &&
                (name = hdx_arena_copy(arena, name, strlen(name))) != NULL)
                hdx_nearest_offer(near, name);
        }
    (void)sqlite3_finalize(stmt);
}

#define SOME 3u /* number of tables in a hint */

/* Lists tables of the first dump that have the column: "objects, frames, statics and others"; "" if none has it. */
static void tables_with(sql_db *db, const char *column, char *out, size_t size)
{
    static const char text[] = "SELECT t.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c "
                               "WHERE c.name = ?1 COLLATE NOCASE AND c.hidden = 0 ORDER BY t.rowid";
    sqlite3_stmt     *stmt = NULL;
    size_t            len = 0;
    out[0] = '\0';
    if (sqlite3_prepare_v2(db->db, text, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_bind_text(stmt, 1, column, -1, SQLITE_STATIC) == SQLITE_OK)
        for (unsigned n = 0; n <= SOME && sqlite3_step(stmt) == SQLITE_ROW; n++) {
            const char *name = n == SOME ? "others" : (const char *)sqlite3_column_text(stmt, 0);
            const int   more = snprintf(out + len, size - len, "%s%.40s",
                                      n == 0      ? ""
                                        : n == SOME ? " and "
                                                    : ", ",
                                      name != NULL ? name : "");
            len += more > 0 && (size_t)more < size - len ? (size_t)more : 0;
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

#define QUOTE_IT "put class names in double quotes: %s\"%.150s\""

/* A class with this name was written without quotes: SQLite reads "svc.Order" as the table Order of a schema svc. */
static bool hint_class(sql_db *db, const char *name, hdx_error *err)
{
    bool found = hdx_sql_is_class_table(db->heaps[0], name);
    if (found)
        (void)hdx_hint(err, err->code, QUOTE_IT, "", name);
    for (unsigned i = 1; !found && i < db->heap_count; i++) {
        const char  *schema = db->heaps[i]->schema;
        const size_t len = strlen(schema);
        char         before[80];
        if (sqlite3_strnicmp(name, schema, (int)len) != 0 || name[len] != '.' ||
            !hdx_sql_is_class_table(db->heaps[i], name + len + 1))
            continue;
        found = true;
        (void)snprintf(before, sizeof before, "%.70s.", schema);
        (void)hdx_hint(err, err->code, QUOTE_IT, before, name + len + 1);
    }
    return found;
}

/* Tables of classes have full names: "HashMap" was probably meant to be java.util.HashMap. */
static bool hint_simple_name(sql_db *db, const char *name, hdx_error *err)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(db->heaps[0]->g, &count);
    const size_t     len = strlen(name);
    for (uint32_t i = 0; i < count && len > 0; i++) { /* sorted by falling number of instances */
        const hdx_text full = classes[i].name;
        if (full.len <= len || full.len > 150 || memcmp(full.at + (full.len - len), name, len) != 0 ||
            strchr(".$", full.at[full.len - len - 1]) == NULL)
            continue;
        (void)hdx_hint(err, err->code, "tables of classes have full names: \"%.*s\"", (int)full.len, full.at);
        return true;
    }
    return false;
}

/* The column is not misspelt: other tables have a column of that name. */
static bool hint_column(sql_db *db, const char *column, hdx_error *err)
{
    static const char *const own[] = { "address", "shallow", "retained", "live" };
    char                     tables[160];
    tables_with(db, column, tables, sizeof tables);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (sqlite3_stricmp(own[i], column) == 0) {
            (void)hdx_hint(err, err->code, "%s is a column of %s; tables of classes have \"@%s\"", own[i], tables,
                           own[i]);
            return true;
        }
    if (tables[0] != '\0')
        (void)hdx_hint(err, err->code, "%.40s is a column of %s; FROM does not name such a table, or renames it",
                       column, tables);
    return tables[0] != '\0';
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
    if (near.wanted == NULL ||
        (tables ? hint_class(db, wanted, err) || hint_simple_name(db, wanted, err) : hint_column(db, near.wanted, err)))
        near.best = NULL;
    const size_t len = near.wanted != NULL ? strlen(near.wanted) : 0;
    if (near.best != NULL && strncmp(near.best, near.wanted, len) == 0 && strncmp(near.best + len, "[]", 2) == 0)
        (void)hdx_hint(err, err->code, QUOTE_IT, "", near.best); /* brackets quote names, too */
    else if (near.best != NULL)
        (void)hdx_hint(err, err->code, "did you mean %s?", near.best);
    hdx_arena_free(&arena);
}

/* Returns whether the word before this offset is FROM or JOIN. */
static bool is_after_from(const char *text, size_t at)
{
    while (at > 0 && strchr(" \t\r\n", text[at - 1]) != NULL)
        at--;
    return at >= 4 &&
           (sqlite3_strnicmp(text + at - 4, "FROM", 4) == 0 || sqlite3_strnicmp(text + at - 4, "JOIN", 4) == 0);
}

/* Finds the unquoted class name around this offset: com.acme.Cart, or svc.Order. */
void hdx_sql_hint_unquoted(sql_db *db, const char *text, size_t place, hdx_error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
    size_t            from = place;
    while (from > 0 && strchr(letters, text[from - 1]) != NULL)
        from--;
    size_t len = strspn(text + from, letters);
    char   name[160];
    while (len > 0 && strncmp(text + from + len, "[]", 2) == 0)
        len += 2;
    if (len == 0 || len >= sizeof name || text[from] == '.' || text[from + len - 1] == '.' ||
        (text[from] >= '0' && text[from] <= '9'))
        return;
    memcpy(name, text + from, len);
    name[len] = '\0';
    const bool dotted = strchr(name, '.') != NULL, table = is_after_from(text, from);
    if ((dotted || table) && !hint_class(db, name, err) && dotted && table)
        (void)hdx_hint(err, err->code, QUOTE_IT, "", name);
}
