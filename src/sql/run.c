/*
 * run.c - runs statements and returns their rows.
 *
 * In:  a text of SQL.
 * Out: rows, with a column of any type for each of the statement's; a column of a table declares whether it has
 *      addresses or sizes.
 */
#include "answer/answer.h"
#include "rows/rows.h"
#include "sql/names.h"
#include "sql/sql.h"

#include <stdlib.h>

#define MOST_NAME 64u /* of a schema */

/* ---- a connection ---- */

/* SQLite's messages when a statement exceeds a limit, which look like those of other errors. */
static const struct {
    const char *words;
    int         limit; /* -1: the message names the limit itself */
    const char *remedy;
} bounds[] = {
    { "too many terms in compound SELECT", SQLITE_LIMIT_COMPOUND_SELECT,
      "use VALUES or a temporary table for more rows" },
    { "Expression tree is too large", -1, "replace many conditions by IN (...) or a temporary table" },
    { "parser stack overflow", -1, "replace nested subqueries by a WITH clause" },
    { "too many columns", SQLITE_LIMIT_COLUMN, "use several statements, or a JSON value" },
    { "too many terms in", SQLITE_LIMIT_COLUMN, "move some of them to a subquery" },
    { "at most 64 tables in a join", -1, "join some of them first in a WITH clause or a temporary table" },
    { "too many arguments on function", SQLITE_LIMIT_FUNCTION_ARG, "nest a second call for some of them" },
    { "too many FROM clause terms", -1, "join some of them first in a WITH clause or a temporary table" },
};

static bool exceeds_bound(hdx_sql *sql, const char *said, hdx_error *err)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (strncmp(said, bounds[i].words, strlen(bounds[i].words)) != 0)
            continue;
        char most[40] = "";
        if (bounds[i].limit >= 0)
            (void)sqlite3_snprintf(sizeof most, most, "; the maximum is %d",
                                   sqlite3_limit(sql->db, bounds[i].limit, -1));
        (void)hdx_hint(err, hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%s%s", said, most), "%s", bounds[i].remedy);
        return true;
    }
    return false;
}

/* `said`: the text of sqlite3_errmsg. */
static hdx_code sqlite_said(hdx_sql *sql, int rc, const char *said, hdx_error *err)
{
    if (sql->heaps != NULL && sql->heaps->error.code != HDX_OK) {
        *err = sql->heaps->error;
        sql->heaps->error.code = HDX_OK;
        return err->code;
    }
    switch (rc) {
    case SQLITE_INTERRUPT: return hdx_fail(err, HDX_CANCELLED, "", HDX_NOWHERE, "cancelled");
    case SQLITE_NOMEM:
        return sql->heaps != NULL && sql->heaps->options.memory != 0
                   ? hdx_hint(err,
                              hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                                       "SQLite needs more memory for the statement than the limit of %llu bytes",
                                       (unsigned long long)sql->heaps->options.memory),
                              "raise the limit with --memory")
                   : hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "out of memory in SQLite");
    case SQLITE_TOOBIG:
        return hdx_hint(err,
                        hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                                 "a value exceeds the maximum of %d bytes, or the statement exceeds %d",
                                 sqlite3_limit(sql->db, SQLITE_LIMIT_LENGTH, -1),
                                 sqlite3_limit(sql->db, SQLITE_LIMIT_SQL_LENGTH, -1)),
                        "use substr(text, 1, N) or string(id, N) for the beginning of a long text");
    case SQLITE_FULL: return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%s", said);
    default: break;
    }
    if (exceeds_bound(sql, said, err))
        return HDX_LIMIT;
    (void)hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%s", said);
    if (sql->heaps != NULL && sql->heaps->heap_count > 0)
        hdx_sql_hint(sql->heaps, err);
    return HDX_USAGE;
}

static hdx_code sqlite_failed(hdx_sql *sql, int rc, hdx_error *err)
{
    return sqlite_said(sql, rc, sqlite3_errmsg(sql->db), err);
}

/* ---- names of dumps ---- */

static bool is_word(const char *name)
{
    size_t len = 0;
    for (; name[len] != '\0' && len <= MOST_NAME; len++)
        if (!(name[len] == '_' || (name[len] >= 'a' && name[len] <= 'z') || (name[len] >= 'A' && name[len] <= 'Z') ||
              (len > 0 && name[len] >= '0' && name[len] <= '9')))
            return false;
    return len > 0 && len <= MOST_NAME;
}

/* Attaches another dump in its own schema. */
static hdx_code attach(hdx_sql *sql, size_t place, const char *name, hdx_error *err)
{
    if (name == NULL || !is_word(name))
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "'%.64s' is not a valid dump name; use letters, digits and _, at most %u",
                        name != NULL ? name : "", MOST_NAME);
    if (sqlite3_stricmp(name, "temp") == 0 || hdx_sql_heap_of(sql->heaps, name) != NULL)
        return hdx_hint(err, hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%s' is a reserved name", name),
                        "main names the first dump and temp the temporary tables; choose an unused name");
    char *statement = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", name);
    int   rc = statement == NULL ? SQLITE_NOMEM : sqlite3_exec(sql->db, statement, NULL, NULL, NULL);
    sqlite3_free(statement);
    return rc != SQLITE_OK ? sqlite_failed(sql, rc, err) : hdx_sql_install_heap(sql->heaps, place, name, err);
}

hdx_code hdx_sql_open(hdx_session *s, const hdx_sql_options *options, hdx_sql **out, hdx_error *err)
{
    static const hdx_sql_options usual = { .scope = HDX_LIVE };
    hdx_sql                     *sql = *out = calloc(1, sizeof *sql);
    if (sql == NULL)
        return hdx_no_memory(err, "a connection", sizeof *sql);
    sql->session = s;
    atomic_init(&sql->uses, 1);
    if (options == NULL)
        options = &usual;
    hdx_sql_watch_memory();
    if (options->memory != 0)
        (void)sqlite3_hard_heap_limit64((sqlite3_int64)(options->memory < INT64_MAX ? options->memory : INT64_MAX));
    const int rc = sqlite3_open(":memory:", &sql->db);
    hdx_code  code =
        rc != SQLITE_OK ? sqlite_failed(sql, rc, err) : hdx_sql_install(sql->db, s, options, &sql->heaps, err);
    if (code == HDX_OK)
        code = hdx_sql_install_heap(sql->heaps, 0, "main", err);
    for (size_t i = 0; code == HDX_OK && i < options->name_count; i++)
        code = attach(sql, i + 1, options->names[i], err);
    if (code == HDX_OK) {
        hdx_sql_guard(sql->heaps);
        return HDX_OK;
    }
    hdx_sql_close(sql);
    *out = NULL;
    return code;
}

void hdx_sql_close(hdx_sql *sql)
{
    if (sql == NULL || atomic_fetch_sub(&sql->uses, 1) != 1)
        return;
    (void)pthread_mutex_lock(&sql->session->asking); /* another stream of the session may be running */
    (void)sqlite3_close(sql->db);
    (void)pthread_mutex_unlock(&sql->session->asking);
    free(sql);
}

void hdx_sql_interrupt(hdx_sql *sql)
{
    atomic_store(&sql->heaps->interrupted, true);
    sqlite3_interrupt(sql->db);
}

bool hdx_sql_complete(const char *text) { return sqlite3_complete(text) != 0; }

/* ---- rows of a statement ---- */

typedef struct statement {
    hdx_sql         *sql;
    sqlite3_stmt    *stmt;
    hdx_column      *columns;
    sql_names        names; /* of columns */
    unsigned         count;
    bool             first; /* the statement is already on its first row */
    uint64_t         given; /* number of rows returned */
    uint64_t         worked_ns;
    struct hdx_near *near;
} statement;

static void statement_close(void *state)
{
    statement *s = state;
    hdx_graph_near_end(s->near);
    (void)sqlite3_finalize(s->stmt);
    hdx_sql_names_close(&s->names);
    free(s->columns);
    free(s);
}

typedef struct work_time { /* of work for a statement */
    sql_db  *db, *before;
    uint64_t began;
} work_time;

/* Starts the statement's clock: the time between reads of its rows does not count. */
static work_time begin_work(sql_db *db, uint64_t worked_ns)
{
    const work_time s = { db, hdx_sql_watch(db), hdx_now_ns() };
    if (db->options.seconds != 0) {
        const uint64_t most_ms = db->options.seconds < UINT32_MAX ? db->options.seconds * 1000 : UINT32_MAX;
        db->deadline_ms = (s.began - worked_ns) / 1000000 + most_ms;
    }
    return s;
}

static void end_work(const work_time *s, uint64_t *worked_ns)
{
    (void)hdx_sql_watch(s->before);
    *worked_ns += hdx_now_ns() - s->began;
    s->db->deadline_ms = 0;
}

static int step(sql_db *db, sqlite3_stmt *stmt, uint64_t *worked_ns)
{
    const work_time s = begin_work(db, *worked_ns);
    const int       rc = sqlite3_step(stmt);
    end_work(&s, worked_ns);
    return rc;
}

static hdx_cell cell_of(const statement *s, int i, hdx_arena *arena)
{
    switch (sqlite3_column_type(s->stmt, i)) {
    case SQLITE_INTEGER: {
        const int64_t v = sqlite3_column_int64(s->stmt, i);
        if (s->columns[i].type == HDX_TYPE_ADDRESS)
            return hdx_cell_address((hdx_addr)v);
        return hdx_cell_int(v);
    }
    case SQLITE_FLOAT: return hdx_cell_real(sqlite3_column_double(s->stmt, i));
    case SQLITE_NULL: return hdx_cell_null();
    default: {
        const void *at = sqlite3_column_blob(s->stmt, i);
        const int   len = sqlite3_column_bytes(s->stmt, i);
        (void)arena; /* the text lives until the next step */
        return hdx_cell_text((hdx_text){ len == 0 ? "" : at, (uint32_t)len });
    }
    }
}

static hdx_code statement_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    statement     *s = state;
    sql_db        *db = s->sql->heaps;
    const uint64_t most = db->options.rows;
    const int      rc = s->first ? SQLITE_ROW : step(db, s->stmt, &s->worked_ns);
    s->first = false;
    *more = rc == SQLITE_ROW;
    if (*more && most != 0 && s->given == most) {
        *more = false;
        return hdx_hint(err,
                        hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                                 "the statement returns more than the maximum of %llu rows", (unsigned long long)most),
                        "raise the limit with --max-rows");
    }
    for (unsigned i = 0; *more && i < s->count; i++)
        cells[i] = cell_of(s, (int)i, arena);
    s->given++;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? HDX_OK : sqlite_failed(s->sql, rc, err);
}

/* Sets what the table's column declares. */
static void declared(hdx_column *c, const char *type)
{
    c->type = HDX_TYPE_ANY;
    c->flags = HDX_COLUMN_NULLABLE | HDX_COLUMN_CHOSEN;
    if (type == NULL)
        return;
    if (strcmp(type, "ADDRESS") == 0)
        c->type = HDX_TYPE_ADDRESS;
    else if (strcmp(type, "SIZE") == 0)
        c->unit = HDX_UNIT_BYTES;
    else if (strcmp(type, "COUNT") == 0)
        c->unit = HDX_UNIT_COUNT;
}

/*
 * Makes names unique, as keys of an object must be: of two columns "id" the second is "id:1", as in SQLite's
 * subqueries.
 */
static hdx_code name_columns(statement *s, hdx_error *err)
{
    hdx_code code = HDX_OK;
    s->count = (unsigned)sqlite3_column_count(s->stmt);
    s->columns = calloc(s->count, sizeof *s->columns);
    for (unsigned i = 0; code == HDX_OK && s->columns != NULL && i < s->count; i++) {
        const char *name = sqlite3_column_name(s->stmt, (int)i);
        if (name == NULL || (s->columns[i].name = hdx_sql_names_add(&s->names, name, ":", 1)) == NULL)
            return hdx_no_memory(err, "columns", 0);
        s->columns[i].sentence = "";
        declared(&s->columns[i], sqlite3_column_decltype(s->stmt, (int)i));
        code = hdx_sql_stopped(s->sql->heaps, err);
    }
    return s->columns == NULL ? hdx_no_memory(err, "columns", s->count * sizeof *s->columns) : code;
}

static hdx_code statement_rows(statement *s, hdx_rows **rows, hdx_error *err)
{
    sql_db  *db = s->sql->heaps;
    hdx_code code = name_columns(s, err);
    if (code != HDX_OK) {
        statement_close(s);
        return code;
    }
    const hdx_rows_maker maker = { s->columns, s->count, s, statement_next, statement_close, 0 };
    if ((code = hdx_rows_make_in(db->heaps[0]->query.mem, &maker, rows, err)) != HDX_OK)
        return code;
    hdx_rows_set_progress(*rows, &db->own);
    hdx_rows_set_judge(*rows, hdx_answer_judge, db->session);
    return hdx_answer_or_close(rows, hdx_answer_set_head(db->session, "sql", NULL, *rows, err));
}

static bool has_table(hdx_sql *sql, const char *schema, const char *name)
{
    return sqlite3_table_column_metadata(sql->db, schema, name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Creates the table of the class with this name, unless the schema already has it. */
static hdx_code make_class(hdx_sql *sql, const char *schema, const char *name, bool *made, hdx_error *err)
{
    *made = false;
    return has_table(sql, schema, name) ? HDX_OK : hdx_sql_install_class(sql->heaps, schema, name, made, err);
}

/* Handles "no such table: a.b", which may name a class whose table does not exist yet. */
static hdx_code make_missing(hdx_sql *sql, bool *made, hdx_error *err)
{
    static const char words[] = "no such table: ";
    const char       *message = sqlite3_errmsg(sql->db);
    *made = false;
    if (strncmp(message, words, sizeof words - 1) != 0)
        return HDX_OK;
    char    *name = sqlite3_mprintf("%s", message + sizeof words - 1);
    hdx_code code = name == NULL ? hdx_no_memory(err, "a name", 0) : make_class(sql, "main", name, made, err);
    for (unsigned i = 0; code == HDX_OK && !*made && i < sql->heaps->heap_count; i++) {
        const char  *schema = sql->heaps->heaps[i]->schema;
        const size_t len = strlen(schema);
        if (sqlite3_strnicmp(name, schema, (int)len) == 0 && name[len] == '.')
            code = make_class(sql, schema, name + len + 1, made, err);
    }
    sqlite3_free(name);
    return code;
}

/* ---- many tables of classes ---- */

/*
 * Reads a name in double quotes that begins at *at, and moves *at after it. From sqlite3_malloc; NULL: no closing
 * quote.
 */
static char *quoted_name(const char **at)
{
    sqlite3_str *name = sqlite3_str_new(NULL);
    const char  *p = *at + 1;
    for (; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
        sqlite3_str_append(name, p, 1);
        p += *p == '"';
    }
    char *text = sqlite3_str_finish(name);
    if (*p == '\0') {
        sqlite3_free(text);
        text = NULL;
    }
    *at = *p == '\0' ? p : p + 1;
    return text;
}

/* Returns the schema before a name: NAME."table". */
static const char *schema_before(hdx_sql *sql, const char *text, const char *at)
{
    if (at == text || at[-1] != '.')
        return "main";
    for (unsigned i = 0; i < sql->heaps->heap_count; i++) {
        const char  *schema = sql->heaps->heaps[i]->schema;
        const size_t len = strlen(schema);
        if ((size_t)(at - text) > len && sqlite3_strnicmp(at - 1 - len, schema, (int)len) == 0)
            return schema;
    }
    return "main";
}

/*
 * A statement is prepared again for each missing table, so one that names a thousand classes would be prepared a
 * thousand times. Therefore all names in double quotes that are classes get their tables at once.
 */
static hdx_code make_quoted(hdx_sql *sql, const char *text, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (const char *at = text; code == HDX_OK && *at != '\0' && *at != ';';) {
        const char *from = at;
        bool        made;
        if (*at == '\'') {
            at++;
            at += strcspn(at, "'");
            at += *at != '\0';
        } else if (*at == '"') {
            char *name = quoted_name(&at);
            if (name != NULL)
                code = make_class(sql, schema_before(sql, text, from), name, &made, err);
            sqlite3_free(name);
            if (code == HDX_USAGE) /* not a table; the error is reported when the name is used */
                code = HDX_OK;
            if (code == HDX_OK)
                code = hdx_sql_stopped(sql->heaps, err);
        } else {
            at++;
        }
    }
    return code;
}

/* Explains double quotes, with which other databases quote texts. */
static void hint_quotes(hdx_sql *sql, const char *text, size_t at, hdx_error *err)
{
    static const char no_column[] = "no such column: ";
    const size_t      len = strlen(text);
    if (at < len && text[at] == '"' && strncmp(err->message, no_column, sizeof no_column - 1) == 0)
        (void)hdx_hint(err, err->code, "put texts in single quotes: '%.160s'", err->message + sizeof no_column - 1);
    else if (at < len && strncmp(err->message, "near ", 5) == 0)
        hdx_sql_hint_unquoted(sql->heaps, text, at, err);
}

#define FEW 3u /* number of missing tables */

static hdx_code prepare(hdx_sql *sql, const char *text, sqlite3_stmt **stmt, const char **rest, hdx_error *err)
{
    for (unsigned missing = 0;; missing++) {
        bool      made;
        const int rc = sqlite3_prepare_v2(sql->db, text, -1, stmt, rest);
        if (rc == SQLITE_OK)
            return HDX_OK;
        const int at = rc == SQLITE_ERROR ? sqlite3_error_offset(sql->db) : -1;
        char      said[sizeof err->message];
        /* copied, because later calls replace the message */
        (void)sqlite3_snprintf(sizeof said, said, "%s", sqlite3_errmsg(sql->db));
        hdx_code code = make_missing(sql, &made, err);
        if (code == HDX_OK && made && missing == FEW)
            code = make_quoted(sql, text, err);
        if (code != HDX_OK)
            return code;
        if (made)
            continue;
        code = sqlite_said(sql, rc, said, err);
        if (code == HDX_USAGE && at >= 0 && err != NULL) {
            err->offset = (uint64_t)at;
            hint_quotes(sql, text, (size_t)at, err);
        }
        return code;
    }
}

hdx_code hdx_sql_prepare(hdx_sql *sql, const char *text, sqlite3_stmt **stmt, const char **rest, hdx_error *err)
{
    *stmt = NULL;
    *rest = text;
    sql->heaps->error.code = HDX_OK;
    sql->heaps->steps = 0;
    sql->heaps->prepared_ns = 0;
    atomic_store(&sql->heaps->interrupted, false);
    const work_time s = begin_work(sql->heaps, 0);
    hdx_code        code = hdx_sql_stopped(sql->heaps, err);
    if (code == HDX_OK)
        code = prepare(sql, text, stmt, rest, err);
    end_work(&s, &sql->heaps->prepared_ns);
    /* "no such table" may be due to damage */
    return code == HDX_OK ? code : hdx_answer_judge(sql->heaps->session, code, err);
}

hdx_code hdx_sql_begin(hdx_sql *sql, sqlite3_stmt *stmt, struct hdx_near *near, hdx_rows **rows, hdx_error *err)
{
    uint64_t   worked_ns = sql->heaps->prepared_ns;
    const int  rc = step(sql->heaps, stmt, &worked_ns); /* errors are found before the first row is written */
    statement *s = rc == SQLITE_ROW || rc == SQLITE_DONE ? calloc(1, sizeof *s) : NULL;
    *rows = NULL;
    if (s == NULL || sqlite3_column_count(stmt) == 0) {
        hdx_graph_near_end(near);
        hdx_code code = HDX_OK;
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
            code = hdx_answer_judge(sql->heaps->session, sqlite_failed(sql, rc, err), err);
        else if (s == NULL)
            code = hdx_no_memory(err, "a statement", sizeof *s);
        (void)sqlite3_finalize(stmt);
        free(s);
        return code;
    }
    *s = (statement){ .sql = sql, .stmt = stmt, .first = rc == SQLITE_ROW, .worked_ns = worked_ns, .near = near };
    hdx_sql_names_open(&s->names, sql->heaps->heaps[0]->query.mem, false);
    return statement_rows(s, rows, err);
}

hdx_code hdx_sql_run(hdx_sql *sql, const char *text, const char **rest, hdx_rows **rows, hdx_error *err)
{
    sqlite3_stmt *stmt;
    const char   *behind;
    *rows = NULL;
    const hdx_code code = hdx_sql_prepare(sql, text, &stmt, &behind, err);
    if (rest != NULL)
        *rest = behind;
    if (code != HDX_OK || stmt == NULL)
        return code;
    return hdx_sql_begin(sql, stmt, hdx_graph_near_begin(sql->heaps->heaps[0]->g), rows, err);
}
