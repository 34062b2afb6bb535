/*
 * refs.c - references between objects as tables: refs has pairs from the index, and named_refs has names from the dump.
 *
 * In:  the source of the references, or their target, or neither.
 * Out: in refs each pair once; in named_refs each reference, in the order of the record.
 * Both use lists of the index, in either direction, and never search.
 */
#include "sql/sql.h"

#include <stdlib.h>

enum { SRC, DST, NAME, KIND, OWNER };

typedef struct table {
    sqlite3_vtab base;
    sql_db      *db;
    sql_heap    *heap;
    bool         named;
} table;

static int connect(sqlite3 *db, sql_db *own, const char *schema, bool named, sqlite3_vtab **out, char **message)
{
    sql_heap *heap = hdx_sql_heap_of(own, schema);
    table    *t = heap == NULL ? NULL : sqlite3_malloc64(sizeof *t);
    int       rc = SQLITE_NOMEM;
    if (heap == NULL) {
        *message = sqlite3_mprintf("no dump has the schema %s", schema);
        return SQLITE_ERROR;
    }
    if (t != NULL)
        rc = sqlite3_declare_vtab(db, named ? "CREATE TABLE named_refs(src INTEGER, dst INTEGER, name TEXT, kind TEXT, "
                                              "owner INTEGER)"
                                            : "CREATE TABLE refs(src INTEGER NOT NULL, dst INTEGER NOT NULL, "
                                              "PRIMARY KEY(src, dst)) WITHOUT ROWID");
    if (rc != SQLITE_OK) {
        sqlite3_free(t);
        return rc;
    }
    *t = (table){ .db = own, .heap = heap, .named = named };
    *out = &t->base;
    return SQLITE_OK;
}

static int connect_refs(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return connect(db, aux, argc > 1 ? argv[1] : "", false, out, message);
}
static int create_refs(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return connect_refs(db, aux, argc, argv, out, message);
}
static int connect_named(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return connect(db, aux, argc > 1 ? argv[1] : "", true, out, message);
}
static int create_named(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
    return connect_named(db, aux, argc, argv, out, message);
}

static int refs_disconnect(sqlite3_vtab *base)
{
    sqlite3_free(base);
    return SQLITE_OK;
}

/* ---- planning ---- */

/*
 * Sets bit 0 if src is given, bit 1 if dst is; then the text says which comparisons of src and dst follow, "src=?",
 * "dst>?" ..., and whether rows are in the order of src: "order:src".
 */
static int refs_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    static const struct {
        int         op;
        const char *word;
    } ops[] = { { SQLITE_INDEX_CONSTRAINT_EQ, "=" },
                { SQLITE_INDEX_CONSTRAINT_GT, ">" },
                { SQLITE_INDEX_CONSTRAINT_GE, ">=" },
                { SQLITE_INDEX_CONSTRAINT_LT, "<" },
                { SQLITE_INDEX_CONSTRAINT_LE, "<=" } };
    table                   *t = (table *)base;
    const hdx_graph_summary *s = hdx_graph_summary_of(t->heap->g);
    hdx_buffer               text = hdx_buffer_of(NULL);
    int                      arguments = 0;
    bool                     given[2] = { false, false };
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (!c->usable || (c->iColumn != SRC && c->iColumn != DST))
            continue;
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (c->op == ops[k].op) {
                given[c->iColumn] = given[c->iColumn] || c->op == SQLITE_INDEX_CONSTRAINT_EQ;
                info->aConstraintUsage[i].argvIndex = ++arguments;
                info->aConstraintUsage[i].omit = 1;
                hdx_buffer_format(&text, " %s%s?", c->iColumn == SRC ? "src" : "dst", ops[k].word);
            }
    }
    const bool pair = given[SRC] && given[DST], one = given[SRC] || given[DST];
    if (info->nOrderBy == 1 && info->aOrderBy[0].iColumn == SRC && !info->aOrderBy[0].desc && !given[DST]) {
        hdx_buffer_text(&text, " order:src");
        info->orderByConsumed = 1;
    }
    const double all = (double)s->references + 1, each = (t->named ? 60 : 3) * (given[DST] && t->named ? 3 : 1);
    info->estimatedRows = pair ? 1 : one ? 4 : (sqlite3_int64)all;
    info->estimatedCost = one ? 8 * each : all * each;
    info->idxNum = (given[SRC] ? 1 : 0) | (given[DST] ? 2 : 0);
    info->idxStr = text.failed ? NULL
                               : sqlite3_mprintf("%s%s",
                                                 given[SRC]   ? "outbound-of"
                                                 : given[DST] ? "inbound-of"
                                                              : "all",
                                                 text.len == 0 ? "" : text.at);
    info->needToFreeIdxStr = 1;
    hdx_buffer_free(&text);
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- searching ---- */

typedef struct named { /* names are in `texts`, one after the other, each with its NUL */
    hdx_id       dst;
    hdx_ref_kind kind;
    uint32_t     owner;
    uint64_t     name;
} named;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    table              *t;
    hdx_graph          *g;
    hdx_refs_scope      scope;
    int                 way; /* bits of the plan */
    sql_range           src, dst;
    hdx_id              next, until; /* remaining sources, if neither is given */
    hdx_refs            sources;     /* of a target */
    hdx_refs            refs;        /* of a source */
    hdx_id              from, to;    /* the current row */
    bool                open, end;   /* refs or names belong to `from` */
    bool                stopped;     /* while names were read */
    int64_t             row;
    named              *names;
    uint64_t            name_count, name_capacity, name_at;
    hdx_buffer          texts;
} cursor;

static int refs_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->t = (table *)base;
    c->g = c->t->heap->g;
    c->scope = c->t->heap->query.scope;
    c->texts = hdx_buffer_of(c->t->heap->query.mem);
    *out = &c->base;
    return SQLITE_OK;
}

static int refs_close(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    hdx_mem_put(c->t->heap->query.mem, c->names, c->name_capacity * sizeof *c->names);
    hdx_buffer_free(&c->texts);
    free(c);
    return SQLITE_OK;
}

static bool in_scope(const cursor *c, hdx_id id)
{
    return c->scope == HDX_ALL || hdx_graph_live(c->g, id) == (c->scope == HDX_LIVE);
}

static bool store_name(void *context, const hdx_named_ref *ref)
{
    cursor *c = context;
    if (sql_turn(c->t->db, NULL) != HDX_OK) {
        c->stopped = true;
        return false;
    }
    if (!in_scope(c, ref->target) || !sql_in_range(c->dst, (int64_t)ref->target))
        return true;
    if (!hdx_mem_room(c->t->heap->query.mem, (void **)&c->names, &c->name_capacity, c->name_count, sizeof *c->names)) {
        c->texts.failed = true;
        return false;
    }
    c->names[c->name_count++] = (named){ ref->target, ref->kind, ref->owner, c->texts.len };
    hdx_buffer_put(&c->texts, ref->name, strlen(ref->name) + 1);
    return !c->texts.failed;
}

static hdx_code read_names(cursor *c, hdx_error *err)
{
    const bool one = c->dst.least == c->dst.most && c->dst.least >= 0;
    c->name_count = c->name_at = 0;
    c->stopped = false;
    hdx_buffer_clear(&c->texts);
    const hdx_code code =
        hdx_graph_named_refs(c->g, c->from, one ? (hdx_id)c->dst.least : HDX_NO_ID, store_name, c, err);
    if (code == HDX_OK && c->stopped)
        return hdx_sql_stopped(c->t->db, err);
    return code == HDX_OK && c->texts.failed ? hdx_no_memory(err, "names of references", c->texts.len) : code;
}

/* Returns the next object whose references are read. */
static bool next_source(cursor *c)
{
    if (c->way == 2) {
        while (hdx_refs_next(&c->sources, &c->from))
            if (sql_in_range(c->src, (int64_t)c->from))
                return true;
        return false;
    }
    while (c->next < c->until) {
        c->from = c->next++;
        if (in_scope(c, c->from))
            return true;
    }
    return false;
}

static hdx_code next_pair(cursor *c, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK) {
        if (c->way == 2) {
            c->end = !next_source(c);
            c->to = (hdx_id)c->dst.least;
            return HDX_OK;
        }
        while (c->open && hdx_refs_next(&c->refs, &c->to))
            if (sql_in_range(c->dst, (int64_t)c->to))
                return HDX_OK;
        if (!(c->open = next_source(c))) {
            c->end = true;
            return HDX_OK;
        }
        hdx_graph_outbound(c->g, c->from, c->scope, &c->refs);
        code = sql_turn(c->t->db, err);
    }
    return code;
}

static hdx_code next_named(cursor *c, hdx_error *err)
{
    hdx_code code = HDX_OK;
    c->name_at++;
    while (code == HDX_OK && c->name_at >= c->name_count) {
        if (!next_source(c)) {
            c->end = true;
            return HDX_OK;
        }
        if ((code = read_names(c, err)) == HDX_OK)
            code = sql_turn(c->t->db, err);
    }
    return code;
}

static __attribute__((noinline)) int go_on(cursor *c)
{
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    hdx_code  code = c->t->named ? next_named(c, &err) : next_pair(c, &err);
    if (code == HDX_OK && c->end)
        code = hdx_graph_check(c->g, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(&c->t->base, c->t->db, &err);
}

static int refs_next(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    c->row++;
    if (c->t->named && c->name_at + 1 < c->name_count) {
        c->name_at++;
        return SQLITE_OK;
    }
    if (!c->t->named && c->open && hdx_refs_next(&c->refs, &c->to) && sql_in_range(c->dst, (int64_t)c->to))
        return SQLITE_OK;
    return go_on(c);
}

static int op_of(const char *word)
{
    return word[0] == '='   ? SQLITE_INDEX_CONSTRAINT_EQ
           : word[0] == '<' ? (word[1] == '=' ? SQLITE_INDEX_CONSTRAINT_LE : SQLITE_INDEX_CONSTRAINT_LT)
                            : (word[1] == '=' ? SQLITE_INDEX_CONSTRAINT_GE : SQLITE_INDEX_CONSTRAINT_GT);
}

static int refs_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
    cursor        *c = (cursor *)base;
    const uint64_t objects = hdx_graph_objects(c->g);
    int            at = 0;
    c->way = number;
    c->src = c->dst = SQL_ANY;
    c->open = c->end = false;
    c->name_count = c->name_at = 0;
    c->row = 0;
    for (const char *word = strchr(plan, ' '); word != NULL && at < count; word = strchr(word + 1, ' '))
        if (word[1] != 'o') /* not the order */
            hdx_sql_range_cut(word[1] == 's' ? &c->src : &c->dst, op_of(word + 4), values[at++]);
    c->src.least = c->src.least < 0 ? 0 : c->src.least;
    c->next = hdx_least((uint64_t)c->src.least, objects);
    c->until = c->src.most < 0 ? 0 : hdx_least((uint64_t)c->src.most, objects - (objects > 0)) + (objects > 0);
    if (c->src.least > c->src.most || c->dst.least > c->dst.most ||
        ((c->way & 2) != 0 && (c->dst.least < 0 || (uint64_t)c->dst.least >= objects))) {
        c->end = true;
        return SQLITE_OK;
    }
    if (c->way == 2) {
        c->end = !in_scope(c, (hdx_id)c->dst.least);
        if (c->end)
            return SQLITE_OK;
        hdx_graph_inbound(c->g, (hdx_id)c->dst.least, c->scope, &c->sources);
    }
    const int rc = refs_next(base);
    c->row = 0;
    return rc;
}

static int refs_eof(sqlite3_vtab_cursor *base) { return ((cursor *)base)->end; }

static int refs_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
    cursor      *c = (cursor *)base;
    const named *n = c->t->named ? &c->names[c->name_at] : NULL;
    switch (i) {
    case SRC: sqlite3_result_int64(context, (sqlite3_int64)c->from); break;
    case DST: sqlite3_result_int64(context, (sqlite3_int64)(n != NULL ? n->dst : c->to)); break;
    case NAME: sqlite3_result_text(context, c->texts.at + n->name, -1, SQLITE_TRANSIENT); break;
    case KIND: sqlite3_result_text(context, hdx_ref_kind_name(n->kind), -1, SQLITE_STATIC); break;
    default:
        if (n->owner != HDX_NO_CLASS)
            sqlite3_result_int64(context, n->owner);
    }
    return SQLITE_OK;
}

static int refs_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = ((cursor *)base)->row;
    return SQLITE_OK;
}

#define METHODS                                                                                                        \
    .xBestIndex = refs_best_index, .xDisconnect = refs_disconnect, .xDestroy = refs_disconnect, .xOpen = refs_open,    \
    .xClose = refs_close, .xFilter = refs_filter, .xNext = refs_next, .xEof = refs_eof, .xColumn = refs_column,        \
    .xRowid = refs_rowid
static const sqlite3_module refs = { .xCreate = create_refs, .xConnect = connect_refs, METHODS };
static const sqlite3_module named_refs = { .xCreate = create_named, .xConnect = connect_named, METHODS };

static const char *const table_of_refs[] = { "refs", NULL };
static const char *const table_of_names[] = { "named_refs", NULL };
const sql_module         hdx_sql_refs = { "heapdex_refs", &refs, table_of_refs };
const sql_module         hdx_sql_named_refs = { "heapdex_named_refs", &named_refs, table_of_names };
