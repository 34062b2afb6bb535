/*
 * properties.c - how the JVM was started: arguments, system properties and environment, if the heap contains them.
 *
 *     kind         key                value
 *     argument     -                  -Xmx512m
 *     system       java.version       21.0.8
 *     environment  HOME               /home/zoo
 *
 *   argument     VMManagementImpl.vmArgs, filled when the management bean was first queried
 *   system       java.lang.System.props
 *   default      the defaults of these Properties, and their defaults: what System.getProperty() returns for a name
 *                without a property. The nearest level that has a String decides (Properties.getProperty); on Android
 *                most properties are defaults
 *   saved        VM.savedProps, if the value differs from `system`: removed by the JVM, or changed later
 *   environment  ProcessEnvironment.theEnvironment, filled by the first System.getenv()
 *
 * Maps and lists are read by their layouts (contents.h), of JDK 5 to 25 and Android. Their contents are in the dump
 * only.
 */
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/common/contents.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULTS_MOST 16u /* Properties in a chain of defaults */

enum { KIND, KEY, VALUE, ADDRESS, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0, "argument, system, default, saved or environment"),
    [KEY] = HDX_COLUMN("key", TEXT, NONE, HDX_COLUMN_NULLABLE,
                       "name of the property or variable; null for arguments, which are in their order"),
    [VALUE] =
        HDX_COLUMN("value", TEXT, NONE, HDX_COLUMN_NULLABLE, "value of the property or variable, or the argument"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_WIDE, "address of the value"),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

typedef enum kind { ARGUMENT, SYSTEM, DEFAULT, SAVED, ENVIRONMENT, KINDS } kind;

typedef struct row {
    hdx_cell key, value; /* texts are in the arena */
    hdx_id   id;         /* of the value; HDX_NO_ID: none */
    uint64_t number;     /* order of arguments, and of the levels of defaults */
} row;

typedef struct properties {
    hdx_ask           ask;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    hdx_contents      contents;
    hdx_fields        fields; /* of the current object */
    hdx_arena         arena;
    row              *at;
    uint64_t          count, capacity;
    uint64_t          first[KINDS + 1]; /* rows of a kind are adjacent */
    bool              without_dump;     /* the dump is not available */
} properties;

/* ---- reading ---- */

static hdx_id object_at(const properties *p, const hdx_value *v)
{
    hdx_id id;
    return v->type == 2 && !v->absent && v->as.address != 0 && hdx_graph_find(p->ask.g, v->as.address, &id) ? id
                                                                                                            : HDX_NO_ID;
}

/* Returns the object in a static field of a class; HDX_NO_ID: none. */
static hdx_code static_of(properties *p, const char *class_name, const char *field, hdx_id *out, hdx_error *err)
{
    const hdx_code code = hdx_fields_statics(&p->fields, p->ask.g, class_name, err);
    *out = code == HDX_OK ? hdx_fields_ref(&p->fields, NULL, field) : HDX_NO_ID;
    return code;
}

static hdx_code field_of(properties *p, hdx_id id, const char *class_name, const char *field, hdx_id *out,
                         hdx_error *err)
{
    const hdx_code code = hdx_fields_read(&p->fields, p->ask.g, id, err);
    *out = code == HDX_OK ? hdx_fields_ref(&p->fields, class_name, field) : HDX_NO_ID;
    return code;
}

/* Returns the text of an object, or of the object that it wraps: variables of the environment have labels, too. */
static hdx_code text_of(properties *p, hdx_id id, hdx_cell *out, hdx_error *err)
{
    hdx_cell label = hdx_cell_null();
    *out = hdx_cell_null();
    if (id == HDX_NO_ID)
        return HDX_OK;
    const hdx_code code = hdx_label_cell(&p->ask.q, id, &p->arena, &label, err);
    if (code == HDX_OK && (label.kind == HDX_CELL_TEXT || label.kind == HDX_CELL_ABSENT))
        *out = label;
    return code;
}

static hdx_code add_property(properties *p, const hdx_entry *e, bool keyed, hdx_error *err)
{
    row r = { hdx_cell_null(), hdx_cell_null(), HDX_NO_ID, p->count };
    r.id = e->has_value ? object_at(p, &e->value) : HDX_NO_ID;
    hdx_code code = text_of(p, r.id, &r.value, err);
    if (code == HDX_OK && keyed && e->has_key)
        code = text_of(p, object_at(p, &e->key), &r.key, err);
    if (code == HDX_OK && !hdx_mem_room(p->ask.q.mem, (void **)&p->at, &p->capacity, p->count, sizeof *p->at))
        code = hdx_no_memory(err, "properties", p->count * sizeof *p->at);
    if (code == HDX_OK)
        p->at[p->count++] = r;
    return code;
}

/* Reports a collection that could not be read completely; its rows so far stay. */
static void report_incomplete(const properties *p, const char *what, hdx_collection_note note)
{
    char        line[160];
    const char *why = hdx_collection_note_name(note);
    if (why == NULL || p->ask.q.notice == NULL)
        return;
    (void)snprintf(line, sizeof line, "%s are incomplete: %s", what, why);
    p->ask.q.notice(p->ask.q.notice_context, line);
}

static hdx_code read_collection(properties *p, hdx_id id, bool keyed, const char *what, hdx_error *err)
{
    hdx_entry_walk walk = { 0 };
    hdx_entry      entry;
    bool           more = true;
    if (id == HDX_NO_ID)
        return HDX_OK;
    if (hdx_contents_layout(&p->contents, id) == NULL) {
        report_incomplete(p, what, HDX_NOTE_UNKNOWN);
        return HDX_OK;
    }
    hdx_code code = hdx_entry_walk_begin(&walk, &p->contents, id, hdx_contents_steps(p->ask.g), err);
    while (code == HDX_OK && (code = hdx_entry_walk_next(&walk, &entry, &more, err)) == HDX_OK && more)
        if ((code = add_property(p, &entry, keyed, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&p->ask, err);
    if (code == HDX_OK)
        report_incomplete(p, what, walk.note);
    hdx_entry_walk_end(&walk);
    return code;
}

static hdx_code read_arguments(properties *p, hdx_error *err)
{
    const hdx_class *c = hdx_graph_class_named(p->ask.g, "sun.management.VMManagementImpl");
    hdx_code         code = HDX_OK;
    hdx_refs         refs;
    hdx_id           id, list;
    if (c == NULL)
        return HDX_OK;
    hdx_graph_instances(p->ask.g, c->number, HDX_LIVE, &refs);
    if (hdx_refs_next(&refs, &id)) /* there is one instance */
        if ((code = field_of(p, id, "sun.management.VMManagementImpl", "vmArgs", &list, err)) == HDX_OK)
            code = read_collection(p, list, false, "arguments of the JVM", err);
    return code;
}

/* Reads Properties, then their defaults. */
static hdx_code read_system(properties *p, hdx_error *err)
{
    hdx_id   id = HDX_NO_ID, seen[DEFAULTS_MOST];
    hdx_code code = static_of(p, "java.lang.System", "props", &id, err);
    p->first[SYSTEM] = p->first[DEFAULT] = p->count;
    for (unsigned n = 0; code == HDX_OK && id != HDX_NO_ID && n < DEFAULTS_MOST; n++) {
        for (unsigned i = 0; i < n; i++)
            if (seen[i] == id)
                return HDX_OK;
        seen[n] = id;
        code = read_collection(p, id, true, "system properties", err);
        if (n == 0)
            p->first[DEFAULT] = p->count;
        if (code == HDX_OK)
            code = field_of(p, id, "java.util.Properties", "defaults", &id, err);
    }
    return code;
}

static int texts(const hdx_cell *x, const hdx_cell *y)
{
    if (x->kind != HDX_CELL_TEXT || y->kind != HDX_CELL_TEXT)
        return (x->kind == HDX_CELL_TEXT) - (y->kind == HDX_CELL_TEXT);
    return hdx_text_order(x->as.text, y->as.text);
}

static int by_key(const void *a, const void *b)
{
    const row *x = a, *y = b;
    const int  d = texts(&x->key, &y->key);
    return d != 0 ? d : (x->number > y->number) - (x->number < y->number);
}

static int has_same_key(const void *a, const void *b) { return texts(&((const row *)a)->key, &((const row *)b)->key); }

static void sort_rows(properties *p, uint64_t from, uint64_t end)
{
    if (end - from > 1)
        qsort(p->at + from, end - from, sizeof *p->at, by_key);
}

/* Properties.getProperty() ignores values that are not Strings, and uses the defaults then. */
static bool is_property(const properties *p, const row *r)
{
    const hdx_class *c = r->id == HDX_NO_ID ? NULL : hdx_graph_class(p->ask.g, hdx_graph_class_of(p->ask.g, r->id));
    return c != NULL && hdx_text_is(c->name, "java.lang.String") && r->key.kind == HDX_CELL_TEXT;
}

static bool is_set(const properties *p, uint64_t from, uint64_t end, const row *wanted)
{
    const row *at = end == from ? NULL : bsearch(wanted, p->at + from, end - from, sizeof *p->at, has_same_key);
    return at != NULL && is_property(p, at);
}

/*
 * For a name in several levels of defaults the nearest level counts, and none if the property is set. System properties
 * are sorted; so are the defaults after them: by key, nearer levels first.
 */
static void keep_found_defaults(properties *p)
{
    const uint64_t system = p->first[SYSTEM], from = p->first[DEFAULT];
    uint64_t       remaining = from;
    sort_rows(p, system, from);
    sort_rows(p, from, p->count);
    for (uint64_t i = from, end; i < p->count; i = end) {
        const bool set = is_set(p, system, from, &p->at[i]);
        bool       found = false;
        for (end = i; end < p->count && (end == i || texts(&p->at[end].key, &p->at[i].key) == 0); end++) {
            const bool property = is_property(p, &p->at[end]);
            if (!property || (!set && !found))
                p->at[remaining++] = p->at[end];
            found = found || property;
        }
    }
    p->count = remaining;
}

/* Adds saved properties that differ from the current ones, which few do. */
static hdx_code read_saved(properties *p, hdx_error *err)
{
    static const char *const classes[] = { "jdk.internal.misc.VM", "sun.misc.VM" };
    hdx_id                   id = HDX_NO_ID;
    hdx_code                 code = HDX_OK;
    keep_found_defaults(p);
    const uint64_t from = p->first[SAVED] = p->count, system = p->first[SYSTEM], end = p->first[DEFAULT];
    for (unsigned i = 0; code == HDX_OK && id == HDX_NO_ID && i < HDX_COUNT(classes); i++)
        code = static_of(p, classes[i], "savedProps", &id, err);
    if (code == HDX_OK)
        code = read_collection(p, id, true, "saved properties", err);
    if (code != HDX_OK)
        return code;
    uint64_t remaining = from;
    for (uint64_t i = from; i < p->count; i++) {
        const row *was =
            end == system ? NULL : bsearch(&p->at[i], p->at + system, end - system, sizeof *p->at, has_same_key);
        if (was == NULL || texts(&was->value, &p->at[i].value) != 0)
            p->at[remaining++] = p->at[i];
    }
    p->count = remaining;
    return HDX_OK;
}

static hdx_code read_all(properties *p, hdx_error *err)
{
    hdx_id      id = HDX_NO_ID;
    hdx_source *dump = NULL;
    hdx_error   mine;
    hdx_code    code = hdx_graph_dump(p->ask.g, &dump, &mine);
    p->without_dump = code != HDX_OK;
    if (code != HDX_OK)
        return hdx_label_allow_missing_dump(p->ask.g, code, &mine, err);
    code = read_arguments(p, err);
    if (code == HDX_OK && (code = read_system(p, err)) == HDX_OK)
        code = read_saved(p, err);
    p->first[ENVIRONMENT] = p->count;
    if (code == HDX_OK && (code = static_of(p, "java.lang.ProcessEnvironment", "theEnvironment", &id, err)) == HDX_OK)
        code = read_collection(p, id, true, "variables of the environment", err);
    p->first[KINDS] = p->count;
    if (code != HDX_OK) /* earlier properties are incomplete as well */
        return code;
    sort_rows(p, p->first[SAVED], p->first[ENVIRONMENT]);
    sort_rows(p, p->first[ENVIRONMENT], p->count);
    return HDX_OK;
}

/* ---- rows ---- */

static hdx_code add_rows(const properties *p, hdx_table *table, hdx_error *err)
{
    static const char *const kinds[KINDS] = { "argument", "system", "default", "saved", "environment" };
    hdx_code                 code = HDX_OK;
    for (unsigned k = 0; k < KINDS; k++)
        for (uint64_t i = p->first[k]; code == HDX_OK && i < p->first[k + 1]; i++) {
            hdx_cell cells[COLUMNS] = { [KIND] = hdx_cell_string(kinds[k]),
                                        [KEY] = p->at[i].key,
                                        [VALUE] = p->at[i].value,
                                        [ADDRESS] = hdx_id_cell(p->ask.g, p->at[i].id) };
            for (unsigned c = KEY; c <= VALUE; c++)
                if (cells[c].kind == HDX_CELL_TEXT)
                    cells[c] = hdx_text_cell(hdx_table_arena(table), cells[c].as.text);
            code = hdx_table_add(table, cells, err);
        }
    return code;
}

static hdx_code read_and_add(properties *p, hdx_table *table, hdx_error *err)
{
    hdx_code code = hdx_layouts_open(&p->layouts, NULL, NULL, p->ask.q.mem, err);
    if (code != HDX_OK || (code = hdx_layouts_bind(&p->layouts, &p->ask, &p->bound, err)) != HDX_OK ||
        (code = hdx_contents_open(&p->contents, p->ask.g, &p->bound, p->ask.q.mem, err)) != HDX_OK)
        return code;
    if ((code = read_all(p, err)) != HDX_OK)
        return code;
    if (p->arena.refused)
        return hdx_no_memory(err, "properties", p->arena.size);
    code = add_rows(p, table, err);
    return code == HDX_OK ? hdx_graph_check(p->ask.g, err) : code;
}

static hdx_code open_properties(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    properties p = { .layouts.mem = q->mem, .arena = hdx_arena_of(q->mem) };
    hdx_table *table = NULL;
    (void)a;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &p.ask, err);
    if (code != HDX_OK || (code = hdx_table_in(q->mem, columns, COLUMNS, &table, err)) != HDX_OK)
        return code;
    code = read_and_add(&p, table, err);
    hdx_fields_close(&p.fields);
    if (code != HDX_OK) {
        hdx_table_free(table);
        return code;
    }
    code = hdx_table_rows(table, out, err);
    return hdx_rows_explain_empty(
        code, out, err,
        hdx_graph_lacks_dump(q->graph)
            ? "texts are only in the dump, which is not available"
            : "the heap has no map of system properties that could be read, no environment and no arguments");
}

const hdx_question hdx_question_properties = {
    .declared = {
        .name = "properties",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "JVM arguments, system properties and environment, if they are in the heap",
        .more = "Arguments are in the heap if the program read them through the management bean, the environment if "
                "it called System.getenv(). Kind default: values that System.getProperty() returns for properties "
                "that are not set. Kind saved: properties at the start of the JVM that are not system properties or "
                "had another value.",
        .examples = { "heapdex properties app.hprof", "heapdex properties app.hprof --where 'kind = environment'" },
        .forms = &form,
        .form_count = 1,
    },
    .open = open_properties,
};
