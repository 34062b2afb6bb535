/*
 * walks.c - tables of paths, trees, and reachable objects.
 *
 * In:  an object, or a set of objects.
 * Out: objects, one by one, in search order. Searches are breadth-first, and objects of equal distance are in the order
 *      of ids, so that reading their rows reads the index in order.
 * Cost: three bits per object for a search, however many it reaches; a path without exclusions follows the tree of
 *       nearest paths.
 */
#include "query/common/labels.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "rows/arguments.h"
#include "sql/made.h"

#include <stdlib.h>

static void result_number(sqlite3_context *context, uint64_t n) { sqlite3_result_int64(context, (sqlite3_int64)n); }

/* ---- a set from which the least member is removed ---- */

#define LEVELS 6u /* of 64 each: enough for all ids */

/* A bit at a level is set if the word below it is not zero. */
typedef struct id_set {
    uint64_t *level[LEVELS];
    unsigned  levels;
    uint64_t  count;
} id_set;

static uint64_t words_at(uint64_t objects, unsigned level)
{
    for (unsigned i = 0; i <= level; i++)
        objects = hdx_bits_words(objects);
    return objects;
}

static void id_set_drop(id_set *r, hdx_mem *mem, uint64_t objects)
{
    for (unsigned i = 0; i < r->levels; i++)
        hdx_mem_put(mem, r->level[i], words_at(objects, i) * 8);
    *r = (id_set){ .levels = 0 };
}

static bool id_set_make(id_set *r, hdx_mem *mem, uint64_t objects)
{
    while (r->levels == 0 || words_at(objects, r->levels - 1) > 1) {
        uint64_t *words = hdx_mem_array(mem, words_at(objects, r->levels), 8);
        if (words == NULL)
            return false;
        r->level[r->levels++] = words;
    }
    return true;
}

static void id_set_put(id_set *r, uint64_t i)
{
    bool was_zero = true;
    r->count += !hdx_bits_test(r->level[0], i);
    for (unsigned l = 0; l < r->levels && was_zero; l++, i >>= 6) {
        was_zero = r->level[l][i >> 6] == 0;
        hdx_bits_put(r->level[l], i);
    }
}

/* REQUIRES: the set is not empty. */
static uint64_t id_set_take(id_set *r)
{
    uint64_t at = 0;
    for (unsigned l = r->levels; l-- > 0;)
        at = at << 6 | (unsigned)__builtin_ctzll(r->level[l][at]);
    uint64_t i = at;
    for (unsigned l = 0; l < r->levels; l++, i >>= 6) {
        hdx_bits_clear(r->level[l], i);
        if (r->level[l][i >> 6] != 0)
            break;
    }
    r->count--;
    return at;
}

/* ---- searches ---- */

typedef struct search {
    id_set    now, then; /* of this distance, and of the next */
    uint64_t *seen;      /* NULL: the search is in a tree */
    uint64_t  step, left;
    hdx_id    id;
    bool      dirty; /* a search ended early and left bits set */
} search;

static void search_end(sql_call *c)
{
    search        *s = c->state;
    hdx_mem       *mem = c->heap->query.mem;
    const uint64_t n = hdx_graph_objects(c->heap->g);
    id_set_drop(&s->now, mem, n);
    id_set_drop(&s->then, mem, n);
    hdx_mem_put(mem, s->seen, hdx_bits_words(n) * 8);
    s->seen = NULL;
    s->dirty = false;
}

/* Clears what an earlier search left. */
static hdx_code search_begin(sql_call *c, hdx_id id, bool tree, hdx_error *err)
{
    search        *s = c->state;
    hdx_mem       *mem = c->heap->query.mem;
    const uint64_t n = hdx_graph_objects(c->heap->g);
    if (s->dirty && s->now.count + s->then.count > 0)
        search_end(c);
    if (s->now.levels == 0) {
        if (!id_set_make(&s->now, mem, n) || !id_set_make(&s->then, mem, n) ||
            (!tree && (s->seen = hdx_mem_array(mem, hdx_bits_words(n), 8)) == NULL)) {
            search_end(c);
            return hdx_no_memory(err, "a search", 3 * hdx_bits_words(n) * 8);
        }
    } else if (s->seen != NULL) {
        memset(s->seen, 0, hdx_bits_words(n) * 8);
    }
    if (s->seen != NULL)
        hdx_bits_put(s->seen, id);
    s->step = 0;
    s->left = n; /* in a damaged index a tree may have a cycle */
    s->id = id;
    s->dirty = true;
    return HDX_OK;
}

static hdx_code spread(sql_call *c, hdx_refs *refs, hdx_error *err)
{
    search  *s = c->state;
    hdx_code code = HDX_OK;
    hdx_id   to;
    while (code == HDX_OK && hdx_refs_next(refs, &to)) {
        if (to < hdx_graph_objects(c->heap->g) && (s->seen == NULL || hdx_bits_set(s->seen, to)))
            id_set_put(&s->then, to);
        code = sql_turn(c->heap->db, err);
    }
    return code;
}

static bool advance(search *s)
{
    if (s->now.count == 0) {
        const id_set empty = s->now;
        s->now = s->then;
        s->then = empty;
        s->step++;
    }
    if (s->now.count == 0 || s->left-- == 0)
        return false;
    s->id = id_set_take(&s->now);
    return true;
}

/* References of the current object are read when the next row is requested, so that a last row costs nothing. */
static hdx_code reach_next(sql_call *c, bool *more, hdx_error *err)
{
    search  *s = c->state;
    hdx_refs refs;
    hdx_graph_outbound(c->heap->g, s->id, c->heap->query.scope, &refs);
    const hdx_code code = spread(c, &refs, err);
    *more = code == HDX_OK && advance(s);
    return code;
}

static hdx_code reachable_by_next(sql_call *c, bool *more, hdx_error *err)
{
    search  *s = c->state;
    hdx_refs refs;
    hdx_graph_inbound(c->heap->g, s->id, c->heap->query.scope, &refs);
    const hdx_code code = spread(c, &refs, err);
    *more = code == HDX_OK && advance(s);
    return code;
}

static hdx_code reach_begin(sql_call *c, bool *more, hdx_error *err)
{
    hdx_id id;
    *more = sql_argument_id(c, 0, &id);
    return *more ? search_begin(c, id, false, err) : HDX_OK;
}

static hdx_code reach_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const search *s = c->state;
    (void)err;
    result_number(context, column == 0 ? s->id : s->step);
    return HDX_OK;
}

/* ---- the tree of dominators ---- */

static hdx_code subtree_begin(sql_call *c, bool *more, hdx_error *err)
{
    hdx_id id;
    *more = sql_argument_id(c, 0, &id) && hdx_graph_live(c->heap->g, id);
    return *more ? search_begin(c, id, true, err) : HDX_OK;
}

static hdx_code subtree_next(sql_call *c, bool *more, hdx_error *err)
{
    search  *s = c->state;
    hdx_refs refs;
    hdx_graph_dominated(c->heap->g, s->id, &refs);
    const hdx_code code = spread(c, &refs, err);
    *more = code == HDX_OK && advance(s);
    return code;
}

static hdx_code subtree_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    return reach_column(c, context, 1 - column, err);
}

typedef struct chain {
    hdx_id   id;
    hdx_refs refs;
} chain;

static hdx_code dominators_begin(sql_call *c, bool *more, hdx_error *err)
{
    chain *at = c->state;
    (void)err;
    *more = sql_argument_id(c, 0, &at->id) && hdx_graph_live(c->heap->g, at->id);
    return HDX_OK;
}

static hdx_code dominators_next(sql_call *c, bool *more, hdx_error *err)
{
    chain *at = c->state;
    (void)err;
    at->id = hdx_graph_dominator(c->heap->g, at->id);
    /* stops at cycles in a damaged index */
    *more = at->id < hdx_graph_objects(c->heap->g) && c->row < hdx_graph_objects(c->heap->g);
    return HDX_OK;
}

static hdx_code dominators_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const chain *at = c->state;
    (void)err;
    result_number(context, column == 0 ? c->row : at->id);
    return HDX_OK;
}

static hdx_code dominated_begin(sql_call *c, bool *more, hdx_error *err)
{
    chain *at = c->state;
    hdx_id id;
    (void)err;
    *more = sql_argument_id(c, 0, &id);
    if (*more) {
        hdx_graph_dominated(c->heap->g, id, &at->refs);
        *more = hdx_refs_next(&at->refs, &at->id);
    }
    return HDX_OK;
}

static hdx_code dominated_next(sql_call *c, bool *more, hdx_error *err)
{
    chain *at = c->state;
    (void)err;
    *more = hdx_refs_next(&at->refs, &at->id);
    return HDX_OK;
}

static hdx_code dominated_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    const chain *at = c->state;
    (void)err;
    result_number(context, column == 0 ? 1 : at->id);
    return HDX_OK;
}

/* ---- paths: from the object towards a root ---- */

#define WORDS 64u

typedef struct path_walk {
    hdx_id       id, before; /* the current object; the step before, nearer to the object */
    bool         excludes;   /* the path was searched with exclusions */
    hdx_excludes x;
    hdx_paths    paths;
    uint64_t     left; /* remaining steps of the searched path */
} path_walk;

static void path_walk_clear(sql_call *c)
{
    path_walk *w = c->state;
    if (w->excludes) {
        hdx_excludes_close(&w->x);
        hdx_paths_drop(&w->paths);
    }
    w->excludes = false;
}

/* Parses "weak,soft,CLASS#FIELD"; the texts are cut in place. */
static hdx_code read_excludes(char *text, const char **fields, hdx_path_options *options, hdx_error *err)
{
    static const char kinds[] = "weak soft phantom finalizer";
    options->exclude_fields = fields;
    for (char *word = text, *end; word != NULL; word = end) {
        if ((end = strchr(word, ',')) != NULL)
            *end++ = '\0';
        const int kind = hdx_word_place(kinds, word, strlen(word));
        if (kind >= 0)
            options->exclude |= 1u << kind;
        else if (strchr(word, '#') == NULL)
            return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "path can exclude %s or CLASS#FIELD, not %.60s", kinds,
                            word);
        else if (options->exclude_field_count == WORDS)
            return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "path can exclude at most %u fields", WORDS);
        else
            fields[options->exclude_field_count++] = word;
    }
    return HDX_OK;
}

static hdx_code search_way(sql_call *c, hdx_id id, hdx_error *err)
{
    path_walk       *w = c->state;
    const char      *fields[WORDS];
    hdx_path_options options = { .paths = 1 };
    hdx_ask          ask;
    char            *text = sqlite3_mprintf("%s", (const char *)sqlite3_value_text(c->arguments[1]));
    hdx_code         code = text == NULL ? hdx_no_memory(err, "a path", 0) : read_excludes(text, fields, &options, err);
    if (code == HDX_OK && (code = hdx_ask_begin(&c->heap->query, &ask, err)) == HDX_OK)
        code = hdx_excludes_open(&c->heap->query, &options, &w->x, err);
    if (code == HDX_OK) {
        w->excludes = true;
        w->paths = (hdx_paths){ .steps = hdx_ids_of(c->heap->query.mem) };
        code = hdx_paths_find(&ask, &w->x, &id, 1, 1, &w->paths, err);
    }
    sqlite3_free(text);
    return code;
}

static hdx_code path_begin(sql_call *c, bool *more, hdx_error *err)
{
    path_walk *w = c->state;
    path_walk_clear(c);
    w->before = HDX_NO_ID;
    *more = sql_argument_id(c, 0, &w->id) && hdx_graph_live(c->heap->g, w->id);
    if (!*more || c->arguments[1] == NULL || sqlite3_value_type(c->arguments[1]) == SQLITE_NULL)
        return HDX_OK;
    const hdx_code code = search_way(c, w->id, err);
    w->left = code == HDX_OK && w->paths.count > 0 ? w->paths.at[0].count : 0;
    *more = w->left > 0;
    return code;
}

static hdx_code path_next(sql_call *c, bool *more, hdx_error *err)
{
    path_walk *w = c->state;
    (void)err;
    w->before = w->id;
    if (w->excludes) {
        *more = --w->left > 0;
        if (*more)
            w->id = w->paths.steps.at[w->paths.at[0].first + w->left - 1];
        return HDX_OK;
    }
    w->id = hdx_graph_nearest(c->heap->g, w->id);
    *more = w->id != w->before && w->id < hdx_graph_objects(c->heap->g) && c->row < hdx_graph_objects(c->heap->g);
    return HDX_OK;
}

/* Names the reference from this object to the step before. */
static hdx_code path_name(sql_call *c, sqlite3_context *context, hdx_error *err)
{
    const path_walk   *w = c->state;
    const hdx_excludes none = { .g = c->heap->g, .mem = c->heap->query.mem };
    hdx_named_ref      ref;
    hdx_error          mine;
    bool               found = false;
    if (w->before == HDX_NO_ID)
        return HDX_OK;
    hdx_code code = hdx_excludes_name(w->excludes ? &w->x : &none, w->id, w->before, &ref, &found, &mine);
    code = hdx_label_allow_missing_dump(c->heap->g, code, &mine, err);
    if (code == HDX_OK && found)
        sqlite3_result_text(context, ref.name, -1, SQLITE_TRANSIENT);
    return code;
}

static hdx_code path_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    if (column == 2)
        return path_name(c, context, err);
    result_number(context, column == 0 ? c->row : ((const path_walk *)c->state)->id);
    return HDX_OK;
}

/* ---- retained sets ---- */

typedef struct retained {
    uint64_t *gone;
    uint64_t  words;
    hdx_id    id; /* all smaller ids were returned */
} retained;

static void retained_end(sql_call *c)
{
    retained *r = c->state;
    hdx_mem_put(c->heap->query.mem, r->gone, r->words * 8);
    r->gone = NULL;
}

/* Reads "[1, 2, null, 3]", or one id. */
static hdx_code read_ids(const char *text, sql_ids *ids, hdx_error *err)
{
    hdx_code    code = HDX_OK;
    const char *at = text + strspn(text, " \t\r\n[");
    while (code == HDX_OK && ((*at >= '0' && *at <= '9') || strncmp(at, "null", 4) == 0)) {
        char *after = (char *)(uintptr_t)at + 4;
        if (*at != 'n')
            code = hdx_sql_ids_add(ids, strtoull(at, &after, 10), err);
        at = after + strspn(after, " \t\r\n");
        at += *at == ',';
        at += strspn(at, " \t\r\n");
        if (code == HDX_OK)
            code = sql_turn(ids->heap->db, err);
    }
    at += strspn(at, " \t\r\n]");
    if (code == HDX_OK && *at != '\0')
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE,
                        "ids must be a JSON list or a result of group_ids; unexpected: %.40s", at);
    return code;
}

static hdx_code retained_set_of(sql_call *c, sql_ids *ids, hdx_error *err)
{
    retained *r = c->state;
    if (ids->heap != c->heap)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "these objects belong to another dump");
    r->words = ids->words;
    return hdx_sql_ids_retained(ids, &r->gone, err);
}

static hdx_code retained_next(sql_call *c, bool *more, hdx_error *err)
{
    retained *r = c->state;
    (void)err;
    *more = false;
    for (uint64_t w = r->id / 64; w < r->words && !*more; w++) {
        const uint64_t bits = w == r->id / 64 ? r->gone[w] & UINT64_MAX << r->id % 64 : r->gone[w];
        if (bits != 0) {
            r->id = w * 64 + (unsigned)__builtin_ctzll(bits) + 1;
            *more = true;
        }
    }
    return HDX_OK;
}

static hdx_code retained_begin(sql_call *c, bool *more, hdx_error *err)
{
    sqlite3_value *value = c->arguments[0];
    sql_ids       *ids = sqlite3_value_pointer(value, SQL_IDS), *read = NULL;
    retained      *r = c->state;
    hdx_code       code = HDX_OK;
    *more = false;
    retained_end(c);
    if (ids == NULL) {
        const char *text = (const char *)sqlite3_value_text(value);
        if (text == NULL)
            return HDX_OK;
        if ((ids = read = hdx_sql_ids_open(c->heap, err)) == NULL)
            return err->code;
        code = read_ids(text, ids, err);
    }
    if (code == HDX_OK)
        code = retained_set_of(c, ids, err);
    hdx_sql_ids_close(read);
    r->id = 0;
    return code == HDX_OK ? retained_next(c, more, err) : code;
}

static hdx_code retained_column(sql_call *c, sqlite3_context *context, unsigned column, hdx_error *err)
{
    (void)column;
    (void)err;
    result_number(context, ((const retained *)c->state)->id - 1);
    return HDX_OK;
}

/* ---- all tables ---- */

#define SEARCH(begin, next, column) sizeof(search), 0, begin, next, column, search_end, NULL
const sql_made_table hdx_sql_walks[] = {
    { "path",
      "path(id [, exclude])",
      "step INTEGER, id INTEGER, name TEXT",
      3,
      { "of", "exclude" },
      1,
      2,
      8,
      true,
      sizeof(path_walk),
      0,
      path_begin,
      path_next,
      path_column,
      path_walk_clear,
      NULL },
    { "dominators",
      "dominators(id)",
      "step INTEGER, id INTEGER",
      2,
      { "of" },
      1,
      1,
      6,
      true,
      sizeof(chain),
      0,
      dominators_begin,
      dominators_next,
      dominators_column,
      NULL,
      NULL },
    { "dominated",
      "dominated(id)",
      "step INTEGER, id INTEGER",
      2,
      { "of" },
      1,
      1,
      20,
      true,
      sizeof(chain),
      0,
      dominated_begin,
      dominated_next,
      dominated_column,
      NULL,
      NULL },
    { "subtree",
      "subtree(id)",
      "step INTEGER, id INTEGER",
      2,
      { "of" },
      1,
      1,
      1000,
      true,
      SEARCH(subtree_begin, subtree_next, subtree_column) },
    { "reach",
      "reach(id)",
      "id INTEGER, step INTEGER",
      2,
      { "of" },
      1,
      1,
      100000,
      false,
      SEARCH(reach_begin, reach_next, reach_column) },
    { "reachable_by",
      "reachable_by(id)",
      "id INTEGER, step INTEGER",
      2,
      { "of" },
      1,
      1,
      100000,
      false,
      SEARCH(reach_begin, reachable_by_next, reach_column) },
    { "retained_set",
      "retained_set(ids)",
      "id INTEGER",
      1,
      { "ids" },
      1,
      1,
      100000,
      true,
      sizeof(retained),
      0,
      retained_begin,
      retained_next,
      retained_column,
      retained_end,
      NULL },
    { .name = NULL },
};
