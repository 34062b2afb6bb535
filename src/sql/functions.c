/*
 * functions.c - functions of objects.
 *
 * In:  ids from the tables; names of fields, indexes of elements.
 * Out: values from the index or the dump; references are ids. The result is null if there is no object with this id, no
 *      such field, no reference, or if the text was stripped.
 * Functions of the heap accept the schema of another dump of the connection as an extra last argument, a text; without
 * it they use the first dump. Functions that read the dump can be called by statements only, not from within a schema.
 * Cost: some 50 ns from the index; a record of the dump for values and texts. Buffers and the compiled pattern of a
 *       statement are reused by later calls.
 */
#include "query/common/labels.h"
#include "sql/sql.h"

#include <stdlib.h>

#define HEIRS 16u /* number of cached sets of classes */

typedef struct heirs { /* subclasses of the classes with a name; heap NULL: unused */
    const sql_heap *heap;
    char           *name;
    uint32_t        len;
    sql_classes     set;
} heirs;

typedef struct function_tools { /* shared by all functions of a connection; freed with the last of them */
    sql_db    *db;
    unsigned   users;
    hdx_values values;
    hdx_buffer text;
    hdx_arena  arena;
    heirs      heirs[HEIRS];
    unsigned   next_heirs;
} function_tools;

static void heirs_free(heirs *h)
{
    hdx_sql_classes_drop(&h->set);
    free(h->name);
    *h = (heirs){ 0 };
}

static void tools_release(void *own)
{
    function_tools *t = own;
    if (--t->users > 0)
        return;
    hdx_values_free(&t->values);
    hdx_buffer_free(&t->text);
    hdx_arena_free(&t->arena);
    for (unsigned i = 0; i < HEIRS; i++)
        heirs_free(&t->heirs[i]);
    free(t);
}

/* ---- arguments ---- */

typedef struct call {
    sqlite3_context *context;
    sqlite3_value  **values;
    int              count; /* without the schema */
    function_tools  *t;
    sql_heap        *heap;
    hdx_error        err;
} call;

/*
 * Finds the dump: that of the last argument if it is one more than the function takes, or a text after the required
 * ones. False: the error is reported.
 */
static bool begin(call *c, sqlite3_context *context, int count, sqlite3_value **values, int least, int most)
{
    *c = (call){ .context = context, .values = values, .count = count, .t = sqlite3_user_data(context) };
    const char *schema = NULL;
    if (count > most || (count > least && sqlite3_value_type(values[count - 1]) == SQLITE_TEXT))
        schema = (const char *)sqlite3_value_text(values[--c->count]);
    c->heap = hdx_sql_heap_of(c->t->db, schema);
    if (c->heap != NULL)
        return true;
    (void)hdx_fail(&c->err, HDX_USAGE, "", HDX_NOWHERE, "no dump has the schema %.60s", schema == NULL ? "" : schema);
    hdx_sql_function_failed(context, c->t->db, &c->err);
    return false;
}

static void end(call *c, hdx_code code)
{
    if (code == HDX_OK)
        code = sql_turn(c->t->db, &c->err);
    if (code != HDX_OK)
        hdx_sql_function_failed(c->context, c->t->db, &c->err);
}

/* Reads a whole number below `end_of_all`; false: the result is null. */
static bool natural(call *c, int i, uint64_t end_of_all, uint64_t *out)
{
    if (sqlite3_value_numeric_type(c->values[i]) != SQLITE_INTEGER)
        return false;
    const sqlite3_int64 v = sqlite3_value_int64(c->values[i]);
    *out = (uint64_t)v;
    return v >= 0 && *out < end_of_all;
}

static bool id_of(call *c, hdx_id *id) { return natural(c, 0, hdx_graph_objects(c->heap->g), id); }

/* ---- values from the index ---- */

static void class_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    call   c;
    hdx_id id;
    if (!begin(&c, context, count, values, 1, 1) || !id_of(&c, &id))
        return;
    const hdx_class *k = hdx_graph_class(c.heap->g, hdx_graph_class_of(c.heap->g, id));
    if (k != NULL)
        sql_result_text(context, k->name);
}

static void shallow_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    call   c;
    hdx_id id;
    if (begin(&c, context, count, values, 1, 1) && id_of(&c, &id))
        sqlite3_result_int64(context, (sqlite3_int64)hdx_graph_shallow(c.heap->g, id));
}

static void retained_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    call   c;
    hdx_id id;
    if (begin(&c, context, count, values, 1, 1) && id_of(&c, &id) && hdx_graph_live(c.heap->g, id))
        sqlite3_result_int64(context, (sqlite3_int64)hdx_graph_retained(c.heap->g, id));
}

#define NEAR 64u /* superclasses: as deep as real programs have them */

/*
 * Returns the classes with the name and their subclasses, from the cache if possible. NULL: failed, and the error is
 * reported.
 */
static const heirs *heirs_of(call *c)
{
    function_tools *t = c->t;
    const char     *name = (const char *)sqlite3_value_text(c->values[1]);
    const uint32_t  len = name == NULL ? 0 : (uint32_t)sqlite3_value_bytes(c->values[1]);
    for (unsigned i = 0; name != NULL && i < HEIRS; i++)
        if (t->heirs[i].heap == c->heap && t->heirs[i].len == len && memcmp(t->heirs[i].name, name, len) == 0)
            return &t->heirs[i];
    heirs *h = &t->heirs[t->next_heirs++ % HEIRS];
    heirs_free(h);
    h->name = name == NULL ? NULL : malloc(len + 1ull);
    hdx_code code = h->name == NULL ? hdx_no_memory(&c->err, "the name of a class", len) : HDX_OK;
    if (code == HDX_OK) {
        memcpy(h->name, name, len);
        h->len = len;
        code = hdx_sql_classes_all(c->heap, &h->set, &c->err);
    }
    if (code == HDX_OK)
        code = hdx_sql_classes_heirs(c->heap, &h->set, c->values[1], &c->err);
    if (code != HDX_OK) {
        heirs_free(h);
        end(c, code);
        return NULL;
    }
    h->heap = c->heap;
    return h;
}

/* instanceof(class_id, 'name'): is it a class with that name, or a subclass of one? */
void hdx_sql_instanceof(sqlite3_context *context, int count, sqlite3_value **values)
{
    call     c;
    uint64_t number;
    uint32_t classes = 0, steps = 0;
    if (!begin(&c, context, count, values, 2, 2))
        return;
    const hdx_class *at = hdx_graph_classes(c.heap->g, &classes);
    if (!natural(&c, 0, classes, &number) || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    const uint64_t asked = number;
    bool           yes = false;
    for (; !yes && number < classes && steps < NEAR; number = at[number].super, steps++)
        yes = hdx_sql_text_is(values[1], at[number].name);
    if (!yes && number < classes) { /* a chain longer than in any real program, or a cycle in a damaged index */
        const heirs *h = heirs_of(&c);
        if (h == NULL)
            return;
        yes = hdx_bits_test(h->set.bits, asked);
    }
    sqlite3_result_int(context, yes);
    end(&c, HDX_OK);
}

/* ---- values from the dump ---- */

void hdx_sql_result_value(sqlite3_context *context, const sql_heap *heap, const hdx_value *v)
{
    hdx_id id;
    if (v->absent)
        return;
    switch (v->type) {
    case 2:
        if (v->as.address != 0 && hdx_graph_find(heap->g, v->as.address, &id))
            sql_result_id(context, id);
        break;
    case 4: sqlite3_result_int(context, v->as.boolean); break;
    case 5: sqlite3_result_int(context, v->as.character); break;
    case 6: sqlite3_result_double(context, (double)v->as.single); break;
    case 7: sqlite3_result_double(context, v->as.real); break;
    default: sqlite3_result_int64(context, v->as.integer);
    }
}

static void field(sqlite3_context *context, int count, sqlite3_value **values)
{
    call      c;
    hdx_id    id;
    hdx_value value = { .absent = true };
    bool      found = false;
    if (!begin(&c, context, count, values, 2, 2) || !id_of(&c, &id) || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    const char *name = (const char *)sqlite3_value_text(values[1]);
    hdx_code    code = name == NULL ? hdx_no_memory(&c.err, "the name of a field", 0) : HDX_OK;
    if (code == HDX_OK && hdx_graph_kind(c.heap->g, id) == HDX_CLASS_OBJECT) {
        hdx_values *v = &c.t->values;
        code = hdx_graph_statics(c.heap->g, id, v, &c.err);
        for (uint64_t i = 0; code == HDX_OK && !found && i < v->count; i++)
            if ((found = hdx_sql_text_is(values[1], v->at[i].name)))
                value = v->at[i].value;
    } else if (code == HDX_OK) {
        code = hdx_graph_field(c.heap->g, id, NULL, name, &value, &found, &c.err);
    }
    if (code == HDX_OK && found)
        hdx_sql_result_value(context, c.heap, &value);
    end(&c, code);
}

static void element(sqlite3_context *context, int count, sqlite3_value **values)
{
    call     c;
    hdx_id   id;
    uint64_t place;
    if (!begin(&c, context, count, values, 2, 2) || !id_of(&c, &id) || !natural(&c, 1, UINT64_MAX, &place))
        return;
    hdx_values    *v = &c.t->values;
    const hdx_code code = hdx_graph_elements(c.heap->g, id, place, 1, v, &c.err);
    if (code == HDX_OK && v->count > 0)
        hdx_sql_result_value(context, c.heap, &v->at[0].value);
    end(&c, code);
}

/* string(id [, most characters]) */
static void string(sqlite3_context *context, int count, sqlite3_value **values)
{
    call     c;
    hdx_id   id;
    uint64_t most = UINT64_MAX;
    bool     whole, is_string;
    if (!begin(&c, context, count, values, 1, 2) || !id_of(&c, &id) ||
        (c.count > 1 && !natural(&c, 1, UINT64_MAX, &most)))
        return;
    hdx_buffer *text = &c.t->text;
    hdx_buffer_clear(text);
    const hdx_code code = hdx_graph_put_string(c.heap->g, id, most, text, &whole, &is_string, &c.err);
    if (code == HDX_OK && is_string)
        sqlite3_result_text64(context, text->at, text->len, SQLITE_TRANSIENT, SQLITE_UTF8);
    end(&c, code);
}

static void label(sqlite3_context *context, int count, sqlite3_value **values)
{
    call     c;
    hdx_id   id;
    hdx_cell cell = hdx_cell_null();
    if (!begin(&c, context, count, values, 1, 1) || !id_of(&c, &id))
        return;
    hdx_arena_empty(&c.t->arena);
    const hdx_code code = hdx_label_cell(&c.heap->query, id, &c.t->arena, &cell, &c.err);
    if (code == HDX_OK)
        hdx_sql_result(context, &cell);
    end(&c, code);
}

/* ---- functions of values ---- */

/* addr(number or text): a number as 0x..., and a text 0x... as a number. */
static void addr(sqlite3_context *context, int count, sqlite3_value **values)
{
    char        text[24], *after = NULL;
    const char *given;
    (void)count;
    switch (sqlite3_value_type(values[0])) {
    case SQLITE_NULL: return;
    case SQLITE_INTEGER:
        sqlite3_snprintf(sizeof text, text, "0x%llx", sqlite3_value_int64(values[0]));
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
        return;
    default: break;
    }
    given = (const char *)sqlite3_value_text(values[0]);
    if (given != NULL && given[0] == '0' && (given[1] == 'x' || given[1] == 'X') && given[2] != '\0' &&
        strspn(given + 2, "0123456789abcdefABCDEF") <= 16) {
        const unsigned long long address = strtoull(given + 2, &after, 16);
        if (*after == '\0') {
            sqlite3_result_int64(context, (sqlite3_int64)address);
            return;
        }
    }
    sqlite3_result_error(context, "addr needs a number or an address such as '0x7f3a10'", -1);
}

/* bytes(text): '10M' is 10485760. */
static void bytes(sqlite3_context *context, int count, sqlite3_value **values)
{
    uint64_t n;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    const char *text = (const char *)sqlite3_value_text(values[0]);
    if (text != NULL && hdx_size_of(text, &n) && n <= INT64_MAX)
        sqlite3_result_int64(context, (sqlite3_int64)n);
    else
        sqlite3_result_error(context, "bytes needs a size such as '768M' or '4G'", -1);
}

static void regex_close(void *regex) { hdx_regex_close(regex); }

/* regexp(pattern, text), which SQLite calls for: text REGEXP pattern. */
static void regexp(sqlite3_context *context, int count, sqlite3_value **values)
{
    function_tools *t = sqlite3_user_data(context);
    hdx_regex      *cached = sqlite3_get_auxdata(context, 0), *regex = cached;
    hdx_error       err;
    hdx_code        code = HDX_OK;
    bool            yes = false;
    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || sqlite3_value_type(values[1]) == SQLITE_NULL)
        return;
    const char *pattern = (const char *)sqlite3_value_text(values[0]),
               *text = (const char *)sqlite3_value_text(values[1]);
    const size_t   pattern_len = (size_t)sqlite3_value_bytes(values[0]);
    const uint32_t len = (uint32_t)sqlite3_value_bytes(values[1]);
    if (pattern == NULL || text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (regex == NULL)
        code = hdx_sql_regex_open(t->db, pattern, pattern_len, &regex, &err);
    if (code == HDX_OK && (code = hdx_regex_match(regex, (hdx_text){ text, len }, &yes, &err)) == HDX_OK)
        sqlite3_result_int(context, yes);
    if (code == HDX_OK)
        code = sql_turn(t->db, &err);
    if (code != HDX_OK)
        hdx_sql_function_failed(context, t->db, &err);
    if (regex != NULL && regex != cached) /* SQLite may free it now */
        sqlite3_set_auxdata(context, 0, regex, regex_close);
}

/* ---- all functions ---- */

typedef struct function {
    const char *name;
    int         least, most; /* number of arguments, including a schema */
    int         flags;
    void (*call)(sqlite3_context *context, int count, sqlite3_value **values);
} function;

static const function functions[] = {
    { "class_of", 1, 2, SQLITE_INNOCUOUS, class_of },
    { "shallow_of", 1, 2, SQLITE_INNOCUOUS, shallow_of },
    { "retained_of", 1, 2, SQLITE_INNOCUOUS, retained_of },
    { "instanceof", 2, 3, SQLITE_INNOCUOUS, hdx_sql_instanceof },
    { "field", 2, 3, SQLITE_DIRECTONLY, field },
    { "element", 2, 3, SQLITE_DIRECTONLY, element },
    { "string", 1, 3, SQLITE_DIRECTONLY, string },
    { "label", 1, 2, SQLITE_DIRECTONLY, label },
    { "addr", 1, 1, SQLITE_INNOCUOUS, addr },
    { "bytes", 1, 1, SQLITE_INNOCUOUS, bytes },
    { "regexp", 2, 2, SQLITE_INNOCUOUS, regexp },
};

int hdx_sql_install_functions(sql_db *db)
{
    int             rc = hdx_sql_install_sums(db);
    function_tools *t = calloc(1, sizeof *t);
    if (t == NULL)
        return SQLITE_NOMEM;
    *t = (function_tools){ .db = db, .users = 1, .text = hdx_buffer_of(NULL), .arena = hdx_arena_of(NULL) };
    for (size_t i = 0; rc == SQLITE_OK && i < sizeof functions / sizeof *functions; i++)
        for (int n = functions[i].least; rc == SQLITE_OK && n <= functions[i].most; n++) {
            t->users++; /* SQLite calls the destructor even if it refuses the function */
            rc = sqlite3_create_function_v2(db->db, functions[i].name, n,
                                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | functions[i].flags, t,
                                            functions[i].call, NULL, NULL, tools_release);
        }
    db->tools = t; /* valid while the functions exist */
    tools_release(t);
    return rc;
}
