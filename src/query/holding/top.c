/*
 * top.c - what keeps most of the heap alive: the objects, classes, packages and loaders at the top of the dominator
 * tree that retain a stated part of it, and where the remaining bytes are.
 *
 *     retained      %  objects  kind     object
 *       1.9 MB  70.5%        1  object   bookshop.Bookshop$SessionCache  0xfeb18ea8
 *     815.2 KB  29.5%    5,684  others   (each below 1%)
 *       2.0 MB  71.8%      117  class    bookshop.Bookshop$SessionCache
 *       ...
 *
 * Nothing is counted twice within one kind: no other object dominates an object at the top of the tree. If the objects
 * explain less than half of the heap, most of it has several holders, and the holders that keep it alive together
 * (holders.c) are the last rows.
 *
 * The rows are the largest ones of the questions dominators and holders.
 */
#include "query/holding/holding.h"
#include "query/common/extras.h"
#include "query/questions.h"

#include <stdio.h>

#define LEAST_DEFAULT "1"
#define ENOUGH        50.0 /* if objects explain this percentage of the heap, holders are not searched */

enum { KIND, OBJECTS, RETAINED, PERCENT, ADDRESS, NAME, LABEL, REFERENCE, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [KIND] = HDX_COLUMN("kind", TEXT, NONE, 0,
                        "object, others (smaller objects), class, package, loader or holder (cumulative)"),
    [OBJECTS] = HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                           "objects at the top of the dominator tree; null for holders"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, 0,
                            "retained size; for a holder, bytes that would be freed without it and the holders before "
                            "it"),
    [PERCENT] = HDX_COLUMN("percent", REAL, PERCENT, 0, "share of all live bytes, in percent"),
    [ADDRESS] =
        HDX_COLUMN("address", ADDRESS, NONE, HDX_COLUMN_NULLABLE, "address of the object, class loader or holder"),
    [NAME] = HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
                        "class name, class of the object, or package"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL | HDX_COLUMN_LATE,
                         "label of the object, such as its text or name; null if it has none"),
    [REFERENCE] =
        HDX_COLUMN("reference", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_REFERENCE, "static field of a holder"),
};
static const hdx_form   form = { NULL, NULL, columns, HDX_COUNT(columns) };
static const hdx_column explained_members[] = {
    HDX_COLUMN("least", REAL, PERCENT, 0, "minimum share of the live heap of each row, in percent"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, 0, "objects at the top of the dominator tree with at least that share"),
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0, "total retained size of these objects"),
    HDX_COLUMN("percent", REAL, PERCENT, 0, "share of all live bytes, in percent"),
};
static const hdx_column document[] = { HDX_NESTED("explained", OBJECT, 0, "what single objects retain",
                                                  explained_members) };

typedef struct top {
    hdx_ask   *ask;
    hdx_table *table;
    double     least;
    uint64_t   total;             /* live bytes */
    uint64_t   objects, retained; /* of the rows of objects */
    unsigned   holders;           /* number of such rows */
    double     held;              /* percentage of the last row */
} top;

/* The same query with different columns: labels are made later, for the remaining rows. */
static hdx_query query_with(const top *t, unsigned label)
{
    hdx_query q = t->ask->q;
    q.wanted = (hdx_wanted){ .columns = ~(1ull << label) };
    q.notice = NULL;
    return q;
}

static double share(const top *t, uint64_t bytes)
{
    return t->total == 0 ? 0 : 100.0 * (double)bytes / (double)t->total;
}

static hdx_code add_row(top *t, const char *kind, hdx_cell objects, uint64_t retained, hdx_cell address,
                        const hdx_cell *name, const hdx_cell *reference, hdx_error *err)
{
    hdx_arena *arena = hdx_table_arena(t->table);
    hdx_cell   cells[COLUMNS];
    for (unsigned i = 0; i < COLUMNS; i++)
        cells[i] = hdx_cell_null();
    cells[KIND] = hdx_cell_string(kind);
    cells[OBJECTS] = objects;
    cells[RETAINED] = hdx_cell_uint(retained);
    cells[PERCENT] = hdx_cell_real(share(t, retained));
    cells[ADDRESS] = address;
    if (name->kind == HDX_CELL_TEXT)
        cells[NAME] = hdx_text_cell(arena, name->as.text);
    if (reference != NULL && reference->kind == HDX_CELL_TEXT)
        cells[REFERENCE] = hdx_text_cell(arena, reference->as.text);
    return hdx_table_add(t->table, cells, err);
}

/* ---- the sections ---- */

static hdx_code add_objects(top *t, hdx_error *err)
{
    const hdx_query q = query_with(t, 2); /* address, class, label, shallow, retained, ... */
    hdx_rows       *rows = NULL;
    const hdx_cell *c;
    hdx_code        code = hdx_query_dominators(&q, HDX_BY_OBJECT, NULL, 1, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &c) && share(t, c[4].as.natural) >= t->least) {
        t->objects++;
        t->retained += c[4].as.natural;
        code = add_row(t, "object", hdx_cell_uint(1), c[4].as.natural, c[0], &c[1], NULL, err);
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

/* Adds the groups that are large enough. */
static hdx_code add_groups(top *t, hdx_by by, const char *kind, hdx_error *err)
{
    const hdx_query q = query_with(t, 63);
    hdx_rows       *rows = NULL;
    const hdx_cell *c; /* class, package or loader; objects, shallow, retained, percent */
    hdx_code        code = hdx_query_dominators(&q, by, NULL, 1, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &c) && share(t, c[3].as.natural) >= t->least) { /* largest first */
        hdx_cell address = hdx_cell_null(), name = c[0];
        if (by == HDX_BY_LOADER) {
            hdx_id     id = HDX_NO_ID;
            const bool boot = c[0].kind != HDX_CELL_ADDRESS || c[0].as.address == 0 ||
                              !hdx_graph_find(t->ask->g, c[0].as.address, &id);
            address = boot ? hdx_cell_null() : c[0];
            name = boot ? hdx_cell_string("boot loader") : hdx_class_of_cell(t->ask->g, id);
        }
        code = add_row(t, kind, c[1], c[3].as.natural, address, &name, NULL, err);
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    return code;
}

enum { H_KIND, H_ALONE, H_TOGETHER, H_PERCENT, H_ADDRESS, H_CLASS, H_LABEL, H_REFERENCE, H_MEMBERS = 10 };

/* A row for several threads or roots has no address for a label: "12 threads http-worker-#". */
static hdx_code name_of_several(const hdx_cell *c, hdx_buffer *text, hdx_cell *out, hdx_error *err)
{
    const hdx_cell *name = c[H_LABEL].kind == HDX_CELL_TEXT ? &c[H_LABEL] : &c[H_CLASS];
    hdx_buffer_clear(text);
    hdx_buffer_format(text, "%llu %.*ss", (unsigned long long)c[H_MEMBERS].as.natural, (int)c[H_KIND].as.text.len,
                      c[H_KIND].as.text.at);
    if (name->kind == HDX_CELL_TEXT) {
        hdx_buffer_text(text, " ");
        hdx_buffer_put(text, name->as.text.at, name->as.text.len);
    }
    if (text->failed)
        return hdx_no_memory(err, "names of holders", text->len);
    *out = hdx_cell_text((hdx_text){ text->at, (uint32_t)text->len });
    return HDX_OK;
}

static hdx_code add_holders(top *t, hdx_error *err)
{
    const hdx_query     q = query_with(t, H_LABEL); /* labels of single ones are made later */
    const hdx_arguments none = { &hdx_question_holders.declared, NULL, 0 };
    hdx_buffer          text = hdx_buffer_of(t->ask->q.mem);
    hdx_rows           *rows = NULL;
    const hdx_cell     *c;
    hdx_code            code = hdx_question_open(&hdx_question_holders, &q, &none, &rows, err);
    while (code == HDX_OK && hdx_rows_next(rows, &c)) {
        hdx_cell name = c[H_CLASS];
        t->holders++;
        t->held = c[H_PERCENT].as.real;
        if (c[H_ADDRESS].kind != HDX_CELL_ADDRESS)
            code = name_of_several(c, &text, &name, err);
        if (code == HDX_OK)
            code = add_row(t, "holder", hdx_cell_null(), c[H_TOGETHER].as.natural, c[H_ADDRESS], &name, &c[H_REFERENCE],
                           err);
    }
    if (code == HDX_OK)
        code = hdx_rows_end(rows, err);
    hdx_rows_close(rows);
    hdx_buffer_free(&text);
    return code;
}

/* Adds one row for objects at the top of the tree that are too small. */
static hdx_code add_others(top *t, hdx_error *err)
{
    char     text[48];
    uint64_t count = 0;
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    hdx_graph_dominated(t->ask->g, HDX_VIRTUAL_ROOT, &refs);
    for (; code == HDX_OK && hdx_refs_next(&refs, &id); count++)
        code = hdx_ask_check_cancel(t->ask, err);
    (void)snprintf(text, sizeof text, "(each below %g%%)", t->least);
    const hdx_cell name = hdx_cell_string(text);
    return code != HDX_OK || count <= t->objects || t->total < t->retained
               ? code
               : add_row(t, "others", hdx_cell_uint(count - t->objects), t->total - t->retained, hdx_cell_null(), &name,
                         NULL, err);
}

static hdx_code sections(top *t, hdx_error *err)
{
    hdx_code code;
    if ((code = add_objects(t, err)) != HDX_OK || (code = add_others(t, err)) != HDX_OK ||
        (code = add_groups(t, HDX_BY_CLASS, "class", err)) != HDX_OK ||
        (code = add_groups(t, HDX_BY_PACKAGE, "package", err)) != HDX_OK ||
        (code = add_groups(t, HDX_BY_LOADER, "loader", err)) != HDX_OK)
        return code;
    return t->total == 0 || share(t, t->retained) >= ENOUGH ? HDX_OK : add_holders(t, err);
}

/* Sets the title: "3 objects retain 97.2% of the live heap", or the holders of it. */
static hdx_code set_title(const top *t, hdx_rows **out, hdx_error *err)
{
    char           line[200];
    const hdx_cell cells[] = { hdx_cell_real(t->least), hdx_cell_uint(t->objects), hdx_cell_uint(t->retained),
                               hdx_cell_real(share(t, t->retained)) };
    const char    *keep = t->objects == 1 ? " retains" : "s retain";
    int            n = snprintf(line, sizeof line, "No object retains %g%% of the live heap", t->least);
    if (t->objects > 0)
        n = snprintf(line, sizeof line, "%llu object%s %.1f%% of the live heap", (unsigned long long)t->objects, keep,
                     share(t, t->retained));
    if (t->holders > 0)
        (void)snprintf(line + n, sizeof line - (size_t)n, "; %u holder%s %.1f%% of it", t->holders,
                       t->holders == 1 ? " holds" : "s together hold", t->held);
    const hdx_code code =
        hdx_extras_add(HDX_OK, out, "explained", explained_members, HDX_COUNT(explained_members), cells, err);
    return code == HDX_OK && t->total > 0 ? hdx_rows_set_title(*out, line, err) : code;
}

static hdx_code find_rows(hdx_ask *ask, double least, hdx_rows **out, hdx_error *err)
{
    top      t = { .ask = ask, .least = least, .total = hdx_graph_summary_of(ask->g)->live_bytes };
    hdx_code code = hdx_table_in(ask->q.mem, columns, COLUMNS, &t.table, err);
    if (code != HDX_OK)
        return code;
    if ((code = sections(&t, err)) != HDX_OK || (code = hdx_graph_check(ask->g, err)) != HDX_OK) {
        hdx_table_free(t.table);
        return code;
    }
    if ((code = hdx_table_rows(t.table, out, err)) == HDX_OK && (code = set_title(&t, out, err)) != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
    }
    if (code == HDX_OK && hdx_column_wanted(&ask->q, LABEL))
        code = hdx_query_labels(&ask->q, false, out, err);
    return hdx_rows_explain_empty(code, out, err, "no object is reachable from a GC root");
}

static const hdx_parameter parameters[] = {
    { .name = "least",
      .kind = HDX_PARAMETER_NUMBER,
      .value = "PERCENT",
      .preset = LEAST_DEFAULT,
      .least = 1,
      .most = 100,
      .sentence = "minimum share of the live heap of a row, in percent; " LEAST_DEFAULT " by default" },
};

static hdx_code open_top(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    const hdx_code code = hdx_ask_begin(q, &ask, err);
    return code != HDX_OK ? code : find_rows(&ask, (double)hdx_argument_number(a, "least"), out, err);
}

const hdx_question hdx_question_top = {
    .declared = {
        .name = "top",
        .flags = HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "the objects, classes, packages and class loaders that retain most of the heap",
        .more = "Rows are objects at the top of the dominator tree, one by one and summed by class, package and class "
                "loader; each object counts once in each kind. If single objects explain less than half of the heap, "
                "rows of the holders that together hold it follow (see holders).",
        .examples = { "heapdex top app.hprof", "heapdex top app.hprof --least 5 --where 'kind = package'" },
        .forms = &form,
        .form_count = 1,
        .document = document,
        .document_count = HDX_COUNT(document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .saved = true,
    .open = open_top,
};
