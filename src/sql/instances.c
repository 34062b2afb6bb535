/*
 * instances.c - a table for each class: "java.util.HashMap" has the instances of all classes with that name,
 * "instanceof java.util.AbstractMap" also those of their subclasses.
 *
 * In:  a name.
 * Out: columns this and class, one for each field, and hidden ones for values from the index.
 * Fields are those of the first class with the name (most instances) and of its superclasses; a field that another
 * class of the name, or a stripped instance, does not have is null. References are ids.
 * Cost: 0.3 to 0.5 us per row of a plain dump; fields are read in the order of the dump, some thousand rows at a time.
 *       Joins request one object, or the objects with one value of a field, again and again: records that were read one
 *       by one are cached, and a field that is searched a second time gets an index, while cursors of the table are
 *       open.
 */
#include "model/model.h"
#include "sql/batch.h"
#include "sql/layouts.h"
#include "sql/names.h"

#include <stdlib.h>
#include <strings.h>

#define MOST_FIELDS 1900u          /* SQLite allows 2,000 columns */
#define MOST_BYTES  (4u << 20)     /* of fields that are read at once */
enum { THIS, CLASS, FIRST_FIELD }; /* then the fields, or length of arrays; then the hidden columns: */
static const sql_column hidden[] = { SQL_ADDRESS, SQL_SHALLOW, SQL_RETAINED, SQL_LIVE };
#define HIDDEN (sizeof hidden / sizeof *hidden)

typedef struct field_index {
    unsigned  searches; /* number of searches for rows with one value */
    bool      made;
    hdx_pair *at; /* value, id; sorted */
    uint64_t  count, capacity;
} field_index;

#define CACHED_RECORDS 4096u
#define CACHED_BYTES   (4u << 20)

typedef struct cached_record {
    hdx_id   id;
    uint32_t have; /* bytes read of the record */
    bool     present;
} cached_record;

typedef struct table {
    sqlite3_vtab base;
    sql_db      *db;
    sql_heap    *heap;
    sql_classes  set;
    bool         arrays;
    sql_field   *fields;
    unsigned     field_count;
    sql_layouts  layouts; /* offsets of the fields in the instances of each class */
    uint32_t     width;   /* bytes of an instance that contain all fields */
    uint64_t     instances;
    unsigned     id_size;
    /* while cursors are open: */
    unsigned       cursors;
    field_index   *indexes; /* one per field */
    cached_record *cached;  /* by id; NULL: not allocated yet, or no memory */
    uint8_t       *cached_bytes;
    uint32_t       cached_count;
} table;

/* ---- names ---- */

typedef struct named_class {
    bool     heirs;
    uint32_t number;          /* HDX_NO_CLASS: no such class */
    bool     by_address_only; /* chosen by its address: only this class and no other of its name */
} named_class;

/*
 * Finds the class of "instanceof NAME", "class NAME" (a class that has the name of a built-in table), "NAME@0x7f3a10".
 */
static named_class find_class(sql_heap *heap, const char *name)
{
    uint32_t         count;
    const hdx_class *classes = hdx_graph_classes(heap->g, &count);
    named_class      found = { .number = HDX_NO_CLASS };
    if (strncasecmp(name, "instanceof ", 11) == 0) {
        found.heirs = true;
        name += 11;
    } else if (strncasecmp(name, "class ", 6) == 0) {
        name += 6;
    }
    const char        *at = strrchr(name, '@');
    char              *end;
    const size_t       len = strlen(name);
    unsigned long long address = at != NULL && at[1] == '0' && (at[2] | 32) == 'x' ? strtoull(at + 1, &end, 16) : 0;
    if (address != 0 && *end == '\0') {
        for (uint32_t i = 0; i < count; i++)
            if (classes[i].address == address && classes[i].name.len >= (size_t)(at - name) &&
                strncasecmp(classes[i].name.at, name, (size_t)(at - name)) == 0) {
                found.number = i;
                found.by_address_only = true;
                return found;
            }
    }
    for (uint32_t i = 0; i < count && found.number == HDX_NO_CLASS; i++) /* most instances first */
        if (classes[i].name.len == len && memchr(classes[i].name.at, 0, len) == NULL &&
            sqlite3_strnicmp(classes[i].name.at, name, (int)len) == 0)
            found.number = i;
    return found;
}

bool hdx_sql_is_class_table(sql_heap *heap, const char *name) { return find_class(heap, name).number != HDX_NO_CLASS; }

/* ---- fields and their offsets ---- */

/* Lists own fields, then those of superclasses; the chain is at most as long as there are classes. */
static hdx_code find_fields(table *t, uint32_t number, hdx_error *err)
{
    hdx_graph       *g = t->heap->g;
    uint64_t         capacity = 0, steps = 0;
    const hdx_class *c;
    for (uint32_t up = number; (c = hdx_graph_class(g, up)) != NULL && steps++ <= t->set.count; up = c->super)
        for (uint32_t i = 0; i < c->field_count && t->field_count < MOST_FIELDS; i++) {
            if (!hdx_mem_room(NULL, (void **)&t->fields, &capacity, t->field_count, sizeof *t->fields))
                return hdx_no_memory(err, "fields of a class", t->field_count * sizeof *t->fields);
            t->fields[t->field_count++] = (sql_field){ c->fields[i].name, c->name, c->fields[i].type };
        }
    return HDX_OK;
}

/* Computes the layouts of the classes in the set, and how many bytes contain all of their fields. */
static hdx_code lay_out(table *t, hdx_error *err)
{
    hdx_mem *mem = t->heap->query.mem;
    for (uint32_t i = 0; i < t->set.count; i++)
        t->instances += hdx_bits_test(t->set.bits, i) ? hdx_graph_class(t->heap->g, i)->instances : 0;
    t->indexes = calloc((size_t)t->field_count + 1, sizeof *t->indexes);
    if (t->indexes == NULL)
        return hdx_no_memory(err, "fields of a class", t->field_count * sizeof *t->indexes);
    hdx_code code = hdx_sql_layouts_open(&t->layouts, t->heap, t->fields, t->field_count, MOST_BYTES, err);
    for (uint32_t i = 0; code == HDX_OK && i < t->set.count; i++)
        if (hdx_bits_test(t->set.bits, i) && (code = hdx_sql_layouts_add(&t->layouts, i, err)) == HDX_OK)
            code = sql_turn(t->db, err);
    t->width = t->layouts.width;
    return code == HDX_LIMIT ? hdx_mem_explain(mem, code, err) : code;
}

/* ---- declaration ---- */

static void put_name(hdx_buffer *text, const char *at, size_t len)
{
    for (size_t i = 0; i < len && at[i] != '\0'; i++) {
        if (at[i] == '"')
            hdx_buffer_put(text, "\"", 1);
        hdx_buffer_put(text, at + i, 1);
    }
}

/* Chooses the column name of a field: its name, or "Owner.name", or "Owner.name#2". */
static hdx_code name_field(sql_names *names, const sql_field *f, hdx_buffer *stem, const char **out, hdx_error *err)
{
    bool taken = false;
    *out = NULL;
    hdx_buffer_clear(stem);
    hdx_buffer_put(stem, f->name.at, f->name.len);
    if (!stem->failed && strlen(stem->at) > 0)
        *out = hdx_sql_names_add_free(names, stem->at, &taken);
    if (*out != NULL || stem->failed || (!taken && strlen(stem->at) > 0))
        return *out != NULL ? HDX_OK : hdx_no_memory(err, "names of columns", stem->len);
    hdx_buffer_clear(stem);
    hdx_buffer_put(stem, f->owner.at, f->owner.len);
    hdx_buffer_text(stem, ".");
    hdx_buffer_put(stem, f->name.at, f->name.len);
    if (!stem->failed)
        *out = hdx_sql_names_add(names, stem->at, "#", 2);
    return *out != NULL ? HDX_OK : hdx_no_memory(err, "names of columns", stem->len);
}

static hdx_code put_fields(table *t, hdx_buffer *text, sql_names *names, hdx_error *err)
{
    const uint64_t most = (uint64_t)sqlite3_limit(t->db->db, SQLITE_LIMIT_SQL_LENGTH, -1);
    hdx_buffer     stem = hdx_buffer_of(names->mem);
    hdx_code       code = HDX_OK;
    for (unsigned i = 0; code == HDX_OK && i < t->field_count; i++) {
        const char *name;
        if ((code = name_field(names, &t->fields[i], &stem, &name, err)) != HDX_OK)
            break;
        hdx_buffer_text(text, ", \"");
        put_name(text, name, strlen(name));
        hdx_buffer_text(text, t->fields[i].type == 6 || t->fields[i].type == 7 ? "\" REAL" : "\" INTEGER");
        if (text->len > most)
            code = hdx_hint(
                err,
                hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE,
                         "the names of the %u fields of this class exceed %llu bytes, the limit of a statement",
                         t->field_count, (unsigned long long)most),
                "use field(id, 'NAME') for one field, fields(id) for all");
        else
            code = sql_turn(t->db, err);
    }
    hdx_buffer_free(&stem);
    return code;
}

static hdx_code declare_columns(table *t, int *rc, hdx_error *err)
{
    static const char *const fixed[] = { "this", "class", "@address", "@shallow", "@retained", "@live" };
    hdx_buffer               text = hdx_buffer_of(t->heap->query.mem);
    sql_names                names;
    hdx_code                 code = HDX_OK;
    *rc = SQLITE_OK;
    hdx_sql_names_open(&names, t->heap->query.mem, true);
    for (size_t i = 0; code == HDX_OK && i < sizeof fixed / sizeof *fixed; i++)
        if (hdx_sql_names_add(&names, fixed[i], "#", 2) == NULL)
            code = hdx_no_memory(err, "names of columns", 0);
    hdx_buffer_text(&text, "CREATE TABLE instances(this INTEGER, class TEXT");
    if (t->arrays)
        hdx_buffer_text(&text, ", length COUNT");
    if (code == HDX_OK)
        code = put_fields(t, &text, &names, err);
    hdx_buffer_text(&text, ", \"@address\" ADDRESS HIDDEN, \"@shallow\" SIZE HIDDEN, \"@retained\" SIZE HIDDEN, "
                           "\"@live\" INTEGER HIDDEN)");
    if (code == HDX_OK && text.failed)
        code = hdx_no_memory(err, "names of columns", text.len);
    if (code == HDX_OK)
        *rc = sqlite3_declare_vtab(t->db->db, text.at);
    hdx_buffer_free(&text);
    hdx_sql_names_close(&names);
    return code;
}

static int instances_disconnect(sqlite3_vtab *base)
{
    table *t = (table *)base;
    hdx_sql_classes_drop(&t->set);
    free(t->fields);
    hdx_sql_layouts_close(&t->layouts);
    free(t->indexes);
    sqlite3_free(t);
    return SQLITE_OK;
}

static hdx_code choose(table *t, named_class named, hdx_error *err)
{
    hdx_graph       *g = t->heap->g;
    const hdx_class *first = hdx_graph_class(g, named.number);
    hdx_code         code = hdx_sql_classes_all(t->heap, &t->set, err);
    if (code != HDX_OK)
        return code;
    hdx_sql_classes_clear(&t->set);
    for (uint32_t i = 0; i < t->set.count; i++) {
        const hdx_class *c = hdx_graph_class(g, i);
        if (named.by_address_only ? i == named.number : hdx_text_same(c->name, first->name))
            hdx_bits_put(t->set.bits, i);
    }
    t->arrays = first->kind != HDX_INSTANCE;
    if (named.heirs)
        code = hdx_sql_classes_with_heirs(t->heap, &t->set, err);
    if (code == HDX_OK && !t->arrays)
        code = find_fields(t, named.number, err);
    return code == HDX_OK ? lay_out(t, err) : code;
}

static int instances_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                             char **message)
{
    sql_heap *heap = argc < 3 ? NULL : hdx_sql_heap_of(aux, argv[1]);
    hdx_error err = { .code = HDX_OK };
    (void)db;
    *out = NULL;
    if (heap == NULL) {
        *message = sqlite3_mprintf("no dump has the schema %s", argc < 2 ? "" : argv[1]);
        return SQLITE_ERROR;
    }
    const named_class named = find_class(heap, argv[2]);
    table            *t = named.number == HDX_NO_CLASS ? NULL : sqlite3_malloc64(sizeof *t);
    if (t == NULL) {
        if (named.number == HDX_NO_CLASS)
            *message = sqlite3_mprintf("unknown class %s", argv[2]);
        return named.number == HDX_NO_CLASS ? SQLITE_ERROR : SQLITE_NOMEM;
    }
    *t = (table){ .db = aux, .heap = heap, .id_size = hdx_graph_summary_of(heap->g)->id_size };
    int      rc = SQLITE_OK;
    hdx_code code = choose(t, named, &err);
    if (code == HDX_OK)
        code = declare_columns(t, &rc, &err);
    if (code != HDX_OK) {
        rc = hdx_sql_status(code);
        hdx_sql_keep(t->db, &err);
        *message = sqlite3_mprintf("%s", err.message);
    }
    if (rc != SQLITE_OK) {
        instances_disconnect(&t->base);
        return rc;
    }
    *out = &t->base;
    return SQLITE_OK;
}

static int instances_create(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out,
                            char **message)
{
    return instances_connect(db, aux, argc, argv, out, message);
}

/* ---- planning ---- */

/* Maps a column to one of the table objects; SQL_COLUMNS: a field. */
static sql_column meaning(const table *t, int i)
{
    const unsigned own = FIRST_FIELD + (t->arrays ? 1 : t->field_count);
    if (i < 0 || i == THIS)
        return SQL_ID;
    if (i == CLASS)
        return SQL_CLASS;
    if ((unsigned)i >= own)
        return (unsigned)i - own < HIDDEN ? hidden[(unsigned)i - own] : SQL_COLUMNS;
    return t->arrays ? SQL_LENGTH : SQL_COLUMNS;
}

static const struct {
    int         op;
    const char *word;
} ops[] = { { SQLITE_INDEX_CONSTRAINT_EQ, "=" },
            { SQLITE_INDEX_CONSTRAINT_GT, ">" },
            { SQLITE_INDEX_CONSTRAINT_GE, ">=" },
            { SQLITE_INDEX_CONSTRAINT_LT, "<" },
            { SQLITE_INDEX_CONSTRAINT_LE, "<=" } };

static const char *const words[SQL_COLUMNS] = {
    [SQL_ID] = "this",          [SQL_LENGTH] = "length",      [SQL_ADDRESS] = "@address",
    [SQL_SHALLOW] = "@shallow", [SQL_RETAINED] = "@retained", [SQL_LIVE] = "@live",
};

/* How rows are found; the number of a plan is this value + 4 * index of the field. */
enum { ALL, ONE, WITH_VALUE };

/*
 * Chooses a field that is compared with one value, preferably a value from another table, because then the search is
 * repeated. Floating-point values are left to SQLite. -1: none.
 */
static int find_field(const table *t, sqlite3_index_info *info, bool *repeated)
{
    int found = -1;
    *repeated = false;
    for (int i = 0; i < info->nConstraint && !*repeated; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        sqlite3_value                         *value;
        if (!c->usable || c->op != SQLITE_INDEX_CONSTRAINT_EQ || meaning(t, c->iColumn) != SQL_COLUMNS)
            continue;
        const uint8_t type = t->fields[c->iColumn - FIRST_FIELD].type;
        if (type == 6 || type == 7)
            continue;
        *repeated = sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK;
        found = found < 0 || *repeated ? i : found;
    }
    return found;
}

/* Makes the plan "this=? @retained>? ..."; the value of a field comes last. */
static int instances_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    table     *t = (table *)base;
    hdx_buffer text = hdx_buffer_of(NULL);
    int        arguments = 0;
    double     rows = (double)t->instances + 1;
    info->idxNum = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        const sql_column                       of = meaning(t, c->iColumn);
        if (!c->usable || of == SQL_COLUMNS || of == SQL_CLASS)
            continue;
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (c->op == ops[k].op) {
                const bool one = of == SQL_ID && c->op == SQLITE_INDEX_CONSTRAINT_EQ;
                info->aConstraintUsage[i].argvIndex = ++arguments;
                info->aConstraintUsage[i].omit = 1;
                info->idxNum = one ? ONE : info->idxNum;
                rows = one ? 1 : rows > 4 ? rows / 4 : rows;
                hdx_buffer_format(&text, " %s%s?", words[of], ops[k].word);
            }
    }
    bool      repeated;
    const int given = info->idxNum == ONE ? -1 : find_field(t, info, &repeated);
    if (given >= 0) {
        const unsigned place = (unsigned)info->aConstraint[given].iColumn - FIRST_FIELD;
        info->aConstraintUsage[given].argvIndex = ++arguments;
        info->aConstraintUsage[given].omit = 1;
        info->idxNum = (int)(WITH_VALUE | place << 2);
        hdx_buffer_text(&text, " field:");
        put_name(&text, t->fields[place].name.at, t->fields[place].name.len);
        hdx_buffer_text(&text, "=?");
    }
    const bool first = given < 0 && info->nOrderBy == 1 && meaning(t, info->aOrderBy[0].iColumn) == SQL_ID &&
                       !info->aOrderBy[0].desc && hdx_bits_count(t->set.bits, hdx_bits_words(t->set.count)) == 1;
    info->orderByConsumed = first;
    /* the cost of an index is spread over the searches that may use it; ten rows is SQLite's own guess */
    info->estimatedCost = info->idxNum == ONE ? 4 : given >= 0 ? (repeated ? rows : rows * 4) + 10 : rows * 6 + 10;
    info->estimatedRows = (sqlite3_int64)(given < 0 ? rows : repeated && rows > 10 ? 10 : rows / 4 + 1);
    hdx_buffer_put(&text, "", 1);
    info->idxStr = text.failed ? NULL : sqlite3_mprintf("%s%s", info->idxNum == ONE ? "this" : "instances", text.at);
    info->needToFreeIdxStr = 1;
    hdx_buffer_free(&text);
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- searching ---- */

typedef struct cursor {
    sqlite3_vtab_cursor base;
    table              *t;
    sql_batch           batch;
    uint32_t            size;
    sql_range           ranges[SQL_COLUMNS];
    unsigned            ranged;
    unsigned            way;
    bool                end, in_class;
    uint32_t            class_at;
    unsigned            place; /* index of the field that is compared with one value */
    sql_range           value;
    uint64_t            found, found_end; /* range in the index of the field */
    bool                indexed;
    hdx_refs            refs;
    hdx_instances      *reader;
    uint8_t            *bytes; /* of fields of the batch */
    uint32_t           *have;
    uint64_t            bytes_capacity;
    bool                read;   /* bytes are valid */
    int64_t            *ids;    /* ids of the references of field `ids_of` in the batch; SQL_NULL: none */
    unsigned            ids_of; /* FIRST_FIELD + ...; 0: of no field */
    hdx_addr           *addresses;
} cursor;

static int instances_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    cursor *c = calloc(1, sizeof *c);
    if (c == NULL)
        return SQLITE_NOMEM;
    c->t = (table *)base;
    c->t->cursors++;
    hdx_sql_batch_open(&c->batch, c->t->heap);
    *out = &c->base;
    return SQLITE_OK;
}

static void free_cache(table *t)
{
    hdx_mem *mem = t->heap->query.mem;
    for (unsigned i = 0; i < t->field_count; i++) {
        hdx_mem_put(mem, t->indexes[i].at, t->indexes[i].capacity * sizeof *t->indexes[i].at);
        t->indexes[i] = (field_index){ 0 };
    }
    hdx_mem_put(mem, t->cached, t->cached_count * sizeof *t->cached);
    hdx_mem_put(mem, t->cached_bytes, (uint64_t)t->cached_count * t->width);
    t->cached = NULL;
    t->cached_bytes = NULL;
    t->cached_count = 0;
}

static int instances_close(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    hdx_instances_close(c->reader);
    hdx_sql_batch_close(&c->batch);
    free(c->bytes);
    free(c->have);
    free(c->ids);
    free(c->addresses);
    if (--c->t->cursors == 0)
        free_cache(c->t);
    free(c);
    return SQLITE_OK;
}

/* ---- values of fields ---- */

#define FEW 16u /* batches up to this size are read one by one and cached */

/* Allocates the cache of records; without memory records are read again. */
static void make_cache(table *t)
{
    hdx_mem *mem = t->heap->query.mem;
    uint32_t n = CACHED_RECORDS;
    while (n > 1 && (uint64_t)n * t->width > CACHED_BYTES)
        n /= 2;
    t->cached = hdx_mem_raw(mem, n, sizeof *t->cached);
    t->cached_bytes = t->cached == NULL ? NULL : hdx_mem_raw(mem, n, t->width);
    if (t->cached_bytes == NULL) {
        hdx_mem_put(mem, t->cached, n * sizeof *t->cached);
        t->cached = NULL;
        return;
    }
    t->cached_count = n;
    for (uint32_t i = 0; i < n; i++)
        t->cached[i].present = false;
}

static hdx_code read_cached(cursor *c, hdx_error *err)
{
    table         *t = c->t;
    const uint32_t width = t->width;
    hdx_code       code = HDX_OK;
    if (t->cached == NULL && width > 0)
        make_cache(t);
    for (uint32_t i = 0; code == HDX_OK && i < c->batch.count; i++) {
        const hdx_id   id = c->batch.ids[i];
        const uint64_t place = t->cached == NULL ? 0 : id % t->cached_count;
        cached_record *cached = t->cached == NULL ? NULL : &t->cached[place];
        uint8_t       *bytes = c->bytes + (size_t)i * width;
        if (cached != NULL && cached->present && cached->id == id) {
            memcpy(bytes, t->cached_bytes + place * width, width);
            c->have[i] = cached->have;
            continue;
        }
        code = hdx_instances_read(c->reader, &id, 1, width, bytes, &c->have[i], err);
        if (code == HDX_OK && cached != NULL) {
            *cached = (cached_record){ id, c->have[i], true };
            memcpy(t->cached_bytes + place * width, bytes, c->have[i]);
        }
    }
    return code;
}

static hdx_code read_fields(cursor *c, hdx_error *err)
{
    const uint32_t n = c->batch.count;
    hdx_code       code = HDX_OK;
    if (c->read)
        return HDX_OK;
    if (c->bytes_capacity < (uint64_t)n * c->t->width) {
        free(c->bytes);
        c->bytes_capacity = 0;
        if ((c->bytes = malloc((size_t)n * c->t->width)) == NULL)
            return hdx_no_memory(err, "fields of instances", (uint64_t)n * c->t->width);
        c->bytes_capacity = (uint64_t)n * c->t->width;
    }
    if (c->have == NULL && (c->have = malloc(SQL_BATCH * sizeof *c->have)) == NULL)
        return hdx_no_memory(err, "fields of instances", SQL_BATCH * sizeof *c->have);
    if (c->reader == NULL)
        code = hdx_instances_open(c->t->heap->g, &c->reader, err);
    if (code == HDX_OK && n < FEW)
        code = read_cached(c, err);
    else if (code == HDX_OK)
        code = hdx_instances_read(c->reader, c->batch.ids, n, c->t->width, c->bytes, c->have, err);
    c->read = code == HDX_OK;
    return code;
}

/* Returns the field in the row's instance; NULL: the instance does not have it. */
static const uint8_t *field_at(const cursor *c, unsigned place, uint32_t slot, uint32_t number)
{
    const table   *t = c->t;
    const unsigned size = hdx_type_size(t->fields[place].type, t->id_size);
    uint64_t       from;
    return !sql_layouts_place(&t->layouts, number, place, &from) || size == 0 || from + size > c->have[slot]
               ? NULL
               : c->bytes + (size_t)slot * t->width + from;
}

/* Looks up the references of one field for the whole batch, so that look-ups do not wait for each other. */
static hdx_code read_references(cursor *c, unsigned place, hdx_error *err)
{
    hdx_graph     *g = c->t->heap->g;
    const uint32_t n = c->batch.count;
    if (c->ids == NULL)
        c->ids = malloc(SQL_BATCH * sizeof *c->ids);
    if (c->addresses == NULL)
        c->addresses = malloc(SQL_BATCH * sizeof *c->addresses);
    if (c->ids == NULL || c->addresses == NULL)
        return hdx_no_memory(err, "references of instances", SQL_BATCH * sizeof *c->ids);
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *at = field_at(c, place, i, (uint32_t)sql_batch_value(&c->batch, SQL_CLASS_ID, i));
        c->addresses[i] = at == NULL ? 0 : hdx_graph_value_of(g, 2, at).as.address;
    }
    hdx_graph_find_many(g, c->addresses, n, (hdx_id *)c->ids);
    for (uint32_t i = 0; i < n; i++)
        if (c->addresses[i] == 0 || (hdx_id)c->ids[i] == HDX_NO_ID)
            c->ids[i] = SQL_NULL;
    c->ids_of = FIRST_FIELD + place;
    return HDX_OK;
}

static void result_of(sqlite3_context *context, const hdx_value *v)
{
    switch (v->type) {
    case 4: sqlite3_result_int(context, v->as.boolean); break;
    case 5: sqlite3_result_int(context, v->as.character); break;
    case 6: sqlite3_result_double(context, (double)v->as.single); break;
    case 7: sqlite3_result_double(context, v->as.real); break;
    default: sqlite3_result_int64(context, v->as.integer);
    }
}

/* Reads what the values of a field need, once per batch. */
static __attribute__((noinline)) hdx_code prepare(cursor *c, unsigned place, hdx_error *err)
{
    hdx_code code = read_fields(c, err);
    if (code == HDX_OK && c->t->fields[place].type == 2 && c->ids_of != FIRST_FIELD + place)
        code = read_references(c, place, err);
    return code;
}

/* Returns a prepared field as a number. False: it is null. */
static bool whole_number(cursor *c, unsigned place, uint32_t slot, int64_t *out)
{
    const uint8_t type = c->t->fields[place].type;
    if (type == 2) {
        *out = c->ids[slot];
        return *out != SQL_NULL;
    }
    const uint8_t *at = field_at(c, place, slot, (uint32_t)sql_batch_value(&c->batch, SQL_CLASS_ID, slot));
    if (at == NULL)
        return false;
    const hdx_value v = hdx_graph_value_of(c->t->heap->g, type, at);
    if (hdx_graph_wiped(c->t->heap->g, &v))
        return false;
    *out = type == 4 ? v.as.boolean : type == 5 ? v.as.character : v.as.integer;
    return true;
}

/* ---- filling batches ---- */

/* Fills the batch with the object that has this id, if it belongs to the table. */
static hdx_code fill_one(cursor *c, hdx_error *err)
{
    hdx_graph      *g = c->t->heap->g;
    const sql_range range = c->ranges[SQL_ID];
    const bool      there =
        !c->in_class && range.least == range.most && range.least >= 0 && (uint64_t)range.least < hdx_graph_objects(g);
    const uint32_t number = there ? hdx_graph_class_of(g, (hdx_id)range.least) : HDX_NO_CLASS;
    const bool     member = number < c->t->set.count && hdx_bits_test(c->t->set.bits, number);
    const hdx_code code = hdx_sql_batch_list(&c->batch, member, err);
    if (code == HDX_OK && member)
        c->batch.ids[0] = (hdx_id)range.least;
    c->in_class = true; /* at most once */
    return code;
}

static hdx_code fill_batch(cursor *c, hdx_error *err)
{
    uint32_t n = 0;
    hdx_code code = hdx_sql_batch_list(&c->batch, 0, err);
    while (code == HDX_OK && n < c->size) {
        if (!c->in_class) {
            while (c->class_at < c->t->set.count && !hdx_bits_test(c->t->set.bits, c->class_at))
                c->class_at++;
            if (c->class_at == c->t->set.count)
                break;
            hdx_graph_instances(c->t->heap->g, c->class_at++, c->t->heap->query.scope, &c->refs);
            c->in_class = true;
        }
        while (n < c->size && hdx_refs_next(&c->refs, &c->batch.ids[n]))
            n++;
        c->in_class = n == c->size;
    }
    return code == HDX_OK ? hdx_sql_batch_list(&c->batch, n, err) : code;
}

/* Fills the batch with objects from the index of the field that have the value. */
static hdx_code fill_found(cursor *c, hdx_error *err)
{
    const field_index *index = &c->t->indexes[c->place];
    const uint32_t     n = (uint32_t)hdx_least(c->found_end - c->found, c->size);
    const hdx_code     code = hdx_sql_batch_list(&c->batch, n, err);
    for (uint32_t i = 0; code == HDX_OK && i < n; i++)
        c->batch.ids[i] = index->at[c->found + i].second;
    c->found += n;
    return code;
}

static hdx_code index_value(cursor *c, hdx_error *err)
{
    uint32_t       k = 0;
    const hdx_code code = prepare(c, c->place, err);
    for (uint32_t i = 0; code == HDX_OK && i < c->batch.chosen_count; i++) {
        const uint16_t slot = c->batch.chosen[i];
        int64_t        value;
        c->batch.chosen[k] = slot;
        k += whole_number(c, c->place, slot, &value) && sql_in_range(c->value, value);
    }
    if (code == HDX_OK)
        hdx_sql_batch_leave(&c->batch, k);
    return code;
}

static hdx_code refill(cursor *c, hdx_error *err)
{
    const uint32_t most = c->t->width == 0 ? SQL_BATCH : MOST_BYTES / c->t->width;
    hdx_code       code = HDX_OK;
    while (code == HDX_OK) {
        code = c->way == ONE ? fill_one(c, err) : c->indexed ? fill_found(c, err) : fill_batch(c, err);
        c->read = false;
        c->ids_of = 0;
        if (code == HDX_OK && c->batch.count == 0) {
            c->end = true;
            return hdx_graph_check(c->t->heap->g, err);
        }
        for (unsigned left = c->ranged; code == HDX_OK && left != 0; left &= left - 1)
            hdx_sql_batch_keep_range(&c->batch, (sql_column)__builtin_ctz(left), c->ranges[__builtin_ctz(left)]);
        if (code == HDX_OK && c->way == ONE)
            hdx_sql_batch_keep_scope(&c->batch, c->t->heap->query.scope);
        if (code == HDX_OK && c->way == WITH_VALUE && !c->indexed && c->batch.chosen_count > 0)
            code = index_value(c, err);
        c->size = (uint32_t)hdx_least(hdx_least((uint64_t)c->size * 4, SQL_BATCH), most == 0 ? 1 : most);
        if (code != HDX_OK || c->batch.chosen_count > 0)
            return code;
        code = hdx_sql_stopped(c->t->db, err);
    }
    return code;
}

static void begin_search(cursor *c, unsigned way)
{
    c->way = way;
    c->end = c->in_class = c->indexed = false;
    c->class_at = 0;
    c->ranged = 0;
    c->size = c->t->width > MOST_BYTES / 64 ? 1 : 64;
}

/* ---- an index of a field ---- */

static hdx_code put_values(cursor *c, field_index *index, hdx_error *err)
{
    for (uint32_t i = 0; i < c->batch.chosen_count; i++) {
        const uint16_t slot = c->batch.chosen[i];
        int64_t        value;
        if (!whole_number(c, c->place, slot, &value))
            continue;
        if (!hdx_mem_room(c->t->heap->query.mem, (void **)&index->at, &index->capacity, index->count,
                          sizeof *index->at))
            return hdx_no_memory(err, "an index of a field", index->count * sizeof *index->at);
        index->at[index->count++] = (hdx_pair){ (uint64_t)value, sql_batch_id(&c->batch, slot) };
    }
    return HDX_OK;
}

/*
 * Makes the sorted list of value and id of every row. It is made when values are searched a second time, because one
 * search is a scan.
 */
static hdx_code make_index(table *t, unsigned place, hdx_error *err)
{
    field_index         *index = &t->indexes[place];
    sqlite3_vtab_cursor *base;
    hdx_code             code = HDX_OK;
    if (instances_open(&t->base, &base) != SQLITE_OK)
        return hdx_no_memory(err, "an index of a field", sizeof(cursor));
    cursor *c = (cursor *)base;
    begin_search(c, ALL);
    c->place = place;
    index->count = 0;
    while ((code = refill(c, err)) == HDX_OK && !c->end)
        if ((code = prepare(c, place, err)) != HDX_OK || (code = put_values(c, index, err)) != HDX_OK ||
            (code = hdx_sql_stopped(t->db, err)) != HDX_OK)
            break;
    if (code == HDX_OK)
        hdx_sort_pairs(t->heap->query.mem, index->at, index->count);
    index->made = code == HDX_OK;
    (void)instances_close(base);
    return code;
}

static hdx_code find_value(cursor *c, hdx_error *err)
{
    field_index *index = &c->t->indexes[c->place];
    hdx_code     code = HDX_OK;
    if (index->searches++ > 0 && !index->made)
        code = make_index(c->t, c->place, err);
    c->indexed = index->made;
    if (code != HDX_OK || !c->indexed)
        return code;
    const hdx_keys values = HDX_KEYS(index->at, c->value.least == c->value.most ? index->count : 0, first);
    c->found = hdx_lower_bound(values, (uint64_t)c->value.least);
    c->found_end = hdx_upper_bound(values, (uint64_t)c->value.least);
    return HDX_OK;
}

static int instances_filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count, sqlite3_value **values)
{
    cursor   *c = (cursor *)base;
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    int       at = 0;
    hdx_code  code = HDX_OK;
    begin_search(c, (unsigned)number & 3);
    if (c->way == WITH_VALUE && count > 0) {
        c->place = (unsigned)number >> 2;
        c->value = SQL_ANY;
        hdx_sql_range_cut(&c->value, SQLITE_INDEX_CONSTRAINT_EQ, values[--count]);
    }
    for (const char *word = strchr(plan, ' '); word != NULL && at < count; word = strchr(word + 1, ' ')) {
        const size_t len = strcspn(word + 1, "=<>");
        const char  *op = word + 1 + len;
        sql_column   of = SQL_ID;
        while (of < SQL_COLUMNS - 1 &&
               (words[of] == NULL || strncmp(words[of], word + 1, len) != 0 || words[of][len] != 0))
            of++;
        if ((c->ranged >> of & 1) == 0)
            c->ranges[of] = SQL_ANY;
        c->ranged |= 1u << of;
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            if (strcspn(op, "?") == strlen(ops[k].word) && strncmp(op, ops[k].word, strlen(ops[k].word)) == 0)
                hdx_sql_range_cut(&c->ranges[of], ops[k].op, values[at]);
        at++;
    }
    if (c->way == WITH_VALUE)
        code = find_value(c, &err);
    if (code == HDX_OK)
        code = refill(c, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(&c->t->base, c->t->db, &err);
}

static __attribute__((noinline)) int go_on(cursor *c)
{
    hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
    hdx_code  code = sql_turn(c->t->db, &err);
    if (code == HDX_OK)
        code = refill(c, &err);
    return code == HDX_OK ? SQLITE_OK : hdx_sql_table_failed(&c->t->base, c->t->db, &err);
}

static int instances_next(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    return ++c->batch.at < c->batch.chosen_count ? SQLITE_OK : go_on(c);
}

static int instances_eof(sqlite3_vtab_cursor *base) { return ((cursor *)base)->end; }

/* ---- results ---- */

static int field_result(cursor *c, unsigned place, uint32_t slot, sqlite3_context *context)
{
    const bool reference = c->t->fields[place].type == 2;
    if (!c->read || (reference && c->ids_of != FIRST_FIELD + place)) {
        hdx_error err = { .code = HDX_OK, .offset = HDX_NOWHERE };
        if (prepare(c, place, &err) != HDX_OK)
            return hdx_sql_table_failed(&c->t->base, c->t->db, &err);
    }
    if (reference) {
        if (c->ids[slot] != SQL_NULL)
            sqlite3_result_int64(context, c->ids[slot]);
        return SQLITE_OK;
    }
    const uint8_t *at = field_at(c, place, slot, (uint32_t)sql_batch_value(&c->batch, SQL_CLASS_ID, slot));
    if (at != NULL) {
        const hdx_value v = hdx_graph_value_of(c->t->heap->g, c->t->fields[place].type, at);
        if (!hdx_graph_wiped(c->t->heap->g, &v))
            result_of(context, &v);
    }
    return SQLITE_OK;
}

static int instances_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
    cursor          *c = (cursor *)base;
    const uint32_t   slot = c->batch.chosen[c->batch.at];
    const sql_column of = meaning(c->t, i);
    if (of == SQL_COLUMNS)
        return field_result(c, (unsigned)i - FIRST_FIELD, slot, context);
    hdx_sql_batch_result(&c->batch, of, slot, context);
    return SQLITE_OK;
}

static int instances_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    cursor *c = (cursor *)base;
    *out = (sqlite3_int64)sql_batch_id(&c->batch, c->batch.chosen[c->batch.at]);
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xCreate = instances_create,
    .xConnect = instances_connect,
    .xBestIndex = instances_best_index,
    .xDisconnect = instances_disconnect,
    .xDestroy = instances_disconnect,
    .xOpen = instances_open,
    .xClose = instances_close,
    .xFilter = instances_filter,
    .xNext = instances_next,
    .xEof = instances_eof,
    .xColumn = instances_column,
    .xRowid = instances_rowid,
};
const sql_module hdx_sql_class_tables = { "heapdex_class", &module, NULL };
