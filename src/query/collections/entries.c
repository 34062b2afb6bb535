/*
 * entries.c - the content of one collection, entry by entry.
 *
 * Entries are read in the order of the collection and returned in batches: classes and labels of a batch are made
 * together, in dump order. If reading ends early, because of damage or a cycle, that is reported once and the entries
 * so far are returned.
 */
#include "query/common/labels.h"
#include "query/common/contents_read.h"

#include "graph/graph.h"
#include <inttypes.h>
#include <stdio.h>

#define BATCH 256u

enum { INDEX, KEY, KEY_CLASS, KEY_LABEL, VALUE, ADDRESS, CLASS, LABEL, SHALLOW, RETAINED, COLUMNS };

static const hdx_column columns[COLUMNS] = {
    [INDEX] = HDX_COLUMN("index", UNSIGNED, NONE, 0, "number of the entry in the order of the collection, from 0"),
    [KEY] = HDX_COLUMN("key", ANY, NONE, HDX_COLUMN_NULLABLE,
                       "key of the entry: an address, or a number if the map has such keys; null for lists"),
    [KEY_CLASS] = HDX_COLUMN("key_class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "class of the key"),
    [KEY_LABEL] =
        HDX_COLUMN("key_label", TEXT, NONE, HDX_COLUMN_NULLABLE, "label of the key, such as its text or number"),
    [VALUE] = HDX_COLUMN("value", ANY, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
                         "value or element that is not an object of the dump: a number, a boolean; null if it is one"),
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "the value, if it is an object"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the value"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
                         "label of the value, such as its text or name; null if it has none"),
    [SHALLOW] =
        HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "shallow size of the value"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "retained size: bytes that would be freed without the value; null if it is unreachable"),
};
static const hdx_column collection_members[] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "address of the collection"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE, "class of the collection"),
    HDX_COLUMN("kind", TEXT, NONE, 0, "list, map, set, queue or array"),
    HDX_COLUMN("size", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE, "number of elements, or of entries of a map"),
};
static const hdx_column document[] = { HDX_NESTED("collection", OBJECT, 0, "the collection whose entries are listed",
                                                  collection_members) };
static const hdx_form   form = { NULL, NULL, columns, COLUMNS };

typedef struct entries {
    hdx_ask           ask;
    hdx_layouts       layouts;
    hdx_bound_layouts bound;
    hdx_contents      contents;
    hdx_entry_walk    walk;
    bool              ended, labels, sized, elsewhere;
    hdx_entry        *at; /* the batch */
    uint64_t          count, given, all;
    hdx_arena         arena; /* labels of the batch */
    hdx_cell         *label; /* of key and value of each */
} entries;

static hdx_id object_of(const entries *e, bool there, const hdx_value *v)
{
    hdx_id id;
    return there && v->type == 2 && !v->absent && v->as.address != 0 && hdx_graph_find(e->ask.g, v->as.address, &id)
               ? id
               : HDX_NO_ID;
}

static hdx_code make_labels(entries *e, hdx_error *err)
{
    hdx_id    ids[2 * BATCH];
    uint64_t  of[2 * BATCH];
    char     *texts[2 * BATCH];
    size_t    n = 0;
    hdx_error mine;
    hdx_arena_empty(&e->arena);
    for (uint64_t i = 0; i < 2 * e->count; i++) {
        const hdx_entry *x = &e->at[i / 2];
        const hdx_id     id = i % 2 == 0 ? object_of(e, x->has_key, &x->key) : object_of(e, x->has_value, &x->value);
        e->label[i] = hdx_cell_null();
        if (id != HDX_NO_ID) {
            of[n] = i;
            ids[n++] = id;
        }
    }
    if (!e->labels || n == 0)
        return HDX_OK;
    hdx_code code =
        hdx_label_allow_missing_dump(e->ask.g, hdx_graph_labels(e->ask.g, ids, n, texts, &mine), &mine, err);
    for (size_t i = 0; i < n; i++) {
        if (code == HDX_OK)
            code = hdx_label_of_text(e->ask.g, ids[i], texts[i], &e->arena, &e->label[of[i]], err);
        else
            hdx_text_free(texts[i]);
    }
    return code;
}

/* The size may be known although the elements are not, and elements may be in another collection without an error. */
static const char *reason_of(const entries *e)
{
    if (e->elsewhere)
        return hdx_collection_note_name(HDX_NOTE_UNKNOWN);
    return e->sized && e->all == 0 && e->walk.note == HDX_NOTE_UNKNOWN ? "unknown layout: only the size is known"
                                                                       : hdx_collection_note_name(e->walk.note);
}

static void report_incomplete(const entries *e)
{
    char        line[160];
    const char *why = reason_of(e);
    if (why == NULL || e->ask.q.notice == NULL)
        return;
    (void)snprintf(line, sizeof line, "incomplete: %s after %" PRIu64 " entries", why, e->all);
    e->ask.q.notice(e->ask.q.notice_context, line);
}

static hdx_code next_batch(entries *e, hdx_error *err)
{
    hdx_code code = HDX_OK;
    e->count = e->given = 0;
    struct hdx_near *near = hdx_graph_near_begin(e->ask.g);
    while (code == HDX_OK && !e->ended && e->count < BATCH) {
        bool more = false;
        if ((code = hdx_entry_walk_next(&e->walk, &e->at[e->count], &more, err)) == HDX_OK)
            code = hdx_ask_check_cancel(&e->ask, err);
        e->ended = !more;
        e->count += more;
    }
    hdx_graph_near_end(near);
    e->all += e->count;
    if (code == HDX_OK && e->ended)
        report_incomplete(e);
    return code == HDX_OK ? make_labels(e, err) : code;
}

static hdx_code entries_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    entries *e = state;
    hdx_code code = HDX_OK;
    if (e->given == e->count && !e->ended && (code = next_batch(e, err)) != HDX_OK)
        return code;
    if (e->given == e->count)
        return hdx_ask_end(&e->ask, more, err);
    const uint64_t   i = e->given++;
    const hdx_entry *x = &e->at[i];
    const hdx_id     key = object_of(e, x->has_key, &x->key), value = object_of(e, x->has_value, &x->value);
    for (unsigned c = 0; c < COLUMNS; c++)
        cells[c] = hdx_cell_null();
    cells[INDEX] = hdx_cell_uint(x->index);
    if (x->has_key)
        cells[KEY] = hdx_value_cell(arena, &x->key);
    if (key != HDX_NO_ID)
        cells[KEY_CLASS] = hdx_class_of_cell(e->ask.g, key);
    cells[KEY_LABEL] = e->label[2 * i];
    if (x->has_value && value == HDX_NO_ID)
        cells[VALUE] = hdx_value_cell(arena, &x->value);
    if (value != HDX_NO_ID) {
        cells[ADDRESS] = hdx_id_cell(e->ask.g, value);
        cells[CLASS] = hdx_class_of_cell(e->ask.g, value);
        cells[SHALLOW] = hdx_cell_uint(hdx_graph_shallow(e->ask.g, value));
        cells[RETAINED] = hdx_retained_cell(e->ask.g, value);
    }
    cells[LABEL] = e->label[2 * i + 1];
    *more = true;
    return HDX_OK;
}

/* {address, class, kind, size} */
static hdx_code add_collection(entries *e, hdx_id id, const hdx_collection_facts *f, hdx_rows *rows, hdx_error *err)
{
    hdx_member *m = hdx_arena_get(hdx_rows_arena(rows), 4 * sizeof *m);
    if (m == NULL)
        return hdx_no_memory(err, "a collection", 4 * sizeof *m);
    if (f->layout == NULL) /* an earlier look-up found one */
        return hdx_ask_unsound(&e->ask, "class", "class of an object differs from the one recorded", err);
    m[0] = (hdx_member){ "address", hdx_id_cell(e->ask.g, id) };
    m[1] = (hdx_member){ "class", hdx_class_of_cell(e->ask.g, id) };
    m[2] = (hdx_member){ "kind", hdx_cell_string(f->layout == &hdx_layout_of_arrays
                                                     ? "array"
                                                     : hdx_collection_kind_name(f->layout->kind)) };
    m[3] = (hdx_member){ "size", f->sized ? hdx_cell_uint(f->size) : hdx_cell_null() };
    return hdx_rows_add_extra(rows, "collection", hdx_cell_object(m, 4), err);
}

static hdx_code open_walk(entries *e, const hdx_arguments *a, hdx_id *id, hdx_collection_facts *facts, hdx_error *err)
{
    hdx_mem       *mem = e->ask.q.mem;
    const uint64_t most = hdx_contents_steps(e->ask.g);
    hdx_code       code = hdx_argument_object(&e->ask.q, a, id, err);
    if (code != HDX_OK ||
        (code = hdx_layouts_open(&e->layouts, hdx_argument_text(a, "layouts"), e->ask.q.progress, mem, err)) !=
            HDX_OK ||
        (code = hdx_layouts_bind(&e->layouts, &e->ask, &e->bound, err)) != HDX_OK ||
        (code = hdx_contents_open(&e->contents, e->ask.g, &e->bound, mem, err)) != HDX_OK)
        return code;
    e->at = hdx_mem_array(mem, BATCH, sizeof *e->at);
    e->label = hdx_mem_array(mem, (uint64_t)2 * BATCH, sizeof *e->label);
    if (e->at == NULL || e->label == NULL)
        return hdx_no_memory(err, "entries", BATCH * sizeof *e->at);
    if (hdx_contents_layout(&e->contents, *id) == NULL) {
        const hdx_class *c = hdx_graph_class(e->ask.g, hdx_graph_class_of(e->ask.g, *id));
        code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "0x%llx is not a known collection: it is a %.*s",
                        (unsigned long long)hdx_graph_address(e->ask.g, *id), c == NULL ? 1 : (int)c->name.len,
                        c == NULL ? "?" : c->name.at);
        return hdx_hint(err, code, "--layouts FILE describes where a class stores its elements");
    }
    if ((code = hdx_contents_facts(&e->contents, *id, false, most, facts, err)) != HDX_OK)
        return code;
    if ((code = hdx_entry_walk_begin(&e->walk, &e->contents, *id, most, err)) != HDX_OK || facts->sized ||
        e->walk.note != HDX_NOTE_NONE)
        return code;
    (void)hdx_contents_stored_elsewhere(&e->contents, e->walk.id, &e->elsewhere);
    return e->contents.code;
}

static hdx_code open_entries(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask              ask;
    hdx_id               id = HDX_NO_ID;
    hdx_collection_facts facts;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    entries *e = hdx_mem_get(q->mem, sizeof *e);
    if (e == NULL)
        return hdx_no_memory(err, "entries", sizeof *e);
    e->ask = ask;
    e->layouts.mem = q->mem;
    e->arena = hdx_arena_of(q->mem);
    e->labels = hdx_column_wanted(q, KEY_LABEL) || hdx_column_wanted(q, LABEL);
    if ((code = open_walk(e, a, &id, &facts, err)) != HDX_OK)
        return code;
    e->sized = facts.sized;
    const char    *why = reason_of(e);
    hdx_rows_maker maker = { columns, COLUMNS, e, entries_next, NULL, 0 };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    if (code == HDX_OK && (code = add_collection(e, id, &facts, *out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    return why == NULL ? hdx_rows_explain_empty(code, out, err, "the collection is empty")
                       : hdx_rows_explain_empty(code, out, err, "elements cannot be read: %s", why);
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REQUIRED | HDX_PARAMETER_WORD,
      .value = "OBJECT",
      .sentence = "the collection" },
    { .name = "layouts",
      .kind = HDX_PARAMETER_FILE,
      .value = "FILE",
      .sentence = "table of further layouts: where classes store size and elements" },
};

const hdx_question hdx_question_entries = {
    .declared = {
        .name = "entries",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "keys and values of one map, or elements of one list, set, queue or array",
        .more = "Entries are in the order of the collection. Wrappers and views show the entries of the collection "
                "that they wrap. The column address has the values, so the output can be the input of other questions.",
        .examples = { "heapdex entries app.hprof '#6746'", "heapdex entries app.hprof '#6746' --sort retained "
                                                            "--limit 5" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_entries,
};
