/*
 * refs.c - the objects to which an object refers, and its referrers.
 *
 * Outbound: its named references in MAT's order (MAT 3.6), with signers and domain. Inbound: every referrer in scope,
 * one row for each name by which it refers. Referrers stream, so that a class object with ten million instances costs
 * no more than the rows that are read. --by class: distinct objects summed by class.
 */
#include "query/objects.h"
#include "query/common/named.h"
#include "query/common/columns.h"
#include "query/common/found.h"
#include "query/common/grouped.h"

#include <inttypes.h>
#include <stdlib.h>

#define LABEL 2u
const hdx_column hdx_refs_columns[HDX_REFS_COLUMNS] = {
    HDX_COLUMN("address", ADDRESS, NONE, 0, "object at the other end of the reference"),
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the object; null if no object of the dump has the address"),
    HDX_LABEL_COLUMN,
    HDX_COLUMN("name", TEXT, NONE, HDX_COLUMN_NULLABLE,
               "name of the reference, such as a field, [i] or <class>; null if the dump is not available"),
    HDX_COLUMN("kind", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE,
               "field, static, element, class, super, loader, local, signers or domain"),
    HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "shallow size of the object"),
    HDX_RETAINED_IF_LIVE_COLUMN(0),
};
static const hdx_column class_columns[] = {
    HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME,
               "class of the objects at the other end"),
    HDX_COLUMN("objects", UNSIGNED, COUNT, HDX_COLUMN_SUM, "distinct objects of the class"),
    HDX_SHALLOWS_COLUMN,
    HDX_COLUMN("retained", UNSIGNED, BYTES, 0,
               "sum of their retained sizes; bytes that several of them retain count repeatedly"),
};
static const hdx_form forms[] = {
    { "by", "class", class_columns, HDX_COUNT(class_columns) },
    { NULL, NULL, hdx_refs_columns, HDX_REFS_COLUMNS },
};

typedef struct references {
    hdx_ask        ask;
    hdx_id         id;
    bool           inbound;
    hdx_refs       referrers; /* inbound */
    hdx_id         referrer;
    hdx_named_list names;
    uint64_t       at;      /* in names */
    bool           unnamed; /* inbound without the dump: each referrer has one row without a name */
} references;

static void references_close(void *state)
{
    references *r = state;
    hdx_named_drop(&r->names);
    free(r);
}

/* Finds the next referrer and its names. */
static hdx_code next_referrer(references *r, bool *found, hdx_error *err)
{
    hdx_error mine;
    *found = hdx_refs_next(&r->referrers, &r->referrer);
    r->at = 0;
    r->unnamed = false;
    if (!*found)
        return HDX_OK;
    hdx_code code = hdx_named_collect(&r->names, r->ask.g, r->referrer, r->id, &mine);
    if ((code == HDX_BAD_DUMP && hdx_graph_lacks_dump(r->ask.g)) || (code == HDX_OK && r->names.count == 0)) {
        r->unnamed = true;
        return HDX_OK;
    }
    if (code != HDX_OK && err != NULL)
        *err = mine;
    return code;
}

static hdx_code references_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    references *r = state;
    bool        found = true;
    hdx_code    code = hdx_ask_check_cancel(&r->ask, err);
    (void)arena;
    if (code == HDX_OK && r->inbound && (r->unnamed || r->at == r->names.count))
        code = next_referrer(r, &found, err);
    if (code != HDX_OK)
        return code;
    if (!found || (!r->inbound && r->at == r->names.count))
        return hdx_ask_end(&r->ask, more, err);
    const hdx_named *name = r->unnamed ? NULL : &r->names.at[r->at++];
    hdx_id           id = r->inbound ? r->referrer : name->target;
    bool             object = id != HDX_NO_ID;
    hdx_ref_kind     kind = name != NULL ? name->kind : HDX_REF_FIELD;
    if (name == NULL && (code = hdx_reference_kind(r->ask.g, id, r->id, &kind, err)) != HDX_OK)
        return code;
    cells[0] = object ? hdx_id_cell(r->ask.g, id) : hdx_cell_address(name->address);
    cells[1] = object ? hdx_class_of_cell(r->ask.g, id) : hdx_cell_null();
    cells[2] = hdx_cell_null();
    cells[3] = name == NULL ? hdx_cell_null() : hdx_cell_string(name->name);
    cells[4] = hdx_cell_string(hdx_ref_kind_name(kind));
    cells[5] = object ? hdx_cell_uint(hdx_graph_shallow(r->ask.g, id)) : hdx_cell_null();
    cells[6] = object ? hdx_retained_cell(r->ask.g, id) : hdx_cell_null();
    *more = true;
    return HDX_OK;
}

/* Without the dump the outbound set is known, but names are not, except for that of the class. */
static hdx_code outbound_without_names(references *r, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   target;
    hdx_code code = HDX_OK;
    bool     first = true;
    hdx_graph_outbound(r->ask.g, r->id, HDX_ALL, &refs);
    for (r->names.count = 0; code == HDX_OK && hdx_refs_next(&refs, &target); first = false) {
        if (!hdx_mem_room(r->ask.q.mem, (void **)&r->names.at, &r->names.capacity, r->names.count, sizeof *r->names.at))
            return hdx_no_memory(err, "references", r->names.count * sizeof *r->names.at);
        hdx_ref_kind kind;
        if ((code = hdx_reference_kind(r->ask.g, r->id, target, &kind, err)) != HDX_OK)
            return code;
        r->names.at[r->names.count++] =
            (hdx_named){ target, hdx_graph_address(r->ask.g, target), kind, HDX_NO_CLASS, first ? "<class>" : NULL };
        code = hdx_ask_check_cancel(&r->ask, err);
    }
    return code;
}

static hdx_code list_rows(const hdx_ask *ask, hdx_id id, bool inbound, hdx_rows **out, hdx_error *err)
{
    references *r = calloc(1, sizeof *r);
    if (r == NULL)
        return hdx_no_memory(err, "references", sizeof *r);
    *r = (references){ .ask = *ask, .id = id, .inbound = inbound, .names = { .names = hdx_arena_of(ask->q.mem) } };
    if (inbound) {
        hdx_graph_inbound(ask->g, id, ask->q.scope, &r->referrers);
    } else {
        hdx_error mine;
        hdx_code  code = hdx_named_collect(&r->names, ask->g, id, HDX_NO_ID, &mine);
        if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(ask->g))
            code = outbound_without_names(r, &mine);
        if (code != HDX_OK) {
            if (err != NULL)
                *err = mine;
            references_close(r);
            return code;
        }
    }
    hdx_rows_maker maker = { hdx_refs_columns, HDX_REFS_COLUMNS, r,
                             references_next,  references_close, inbound ? 0 : r->names.count };
    const hdx_code code = hdx_rows_make_in(ask->q.mem, &maker, out, err);
    return code != HDX_OK || !hdx_column_wanted(&ask->q, LABEL) ? code : hdx_query_labels(&ask->q, false, out, err);
}

/* ---- reasons for an empty answer ---- */

static hdx_code explain_empty(const hdx_ask *ask, hdx_id id, bool inbound, hdx_code code, hdx_rows **out,
                              hdx_error *err)
{
    hdx_ask  mine = *ask; /* for its own cancellation checks */
    hdx_refs refs;
    hdx_id   other;
    uint64_t others = 0;
    if (code != HDX_OK)
        return code;
    if (!inbound)
        return hdx_rows_explain_empty(code, out, err, "it does not refer to an object");
    hdx_graph_inbound(ask->g, id, ask->q.scope, &refs);
    if (hdx_refs_next(&refs, &other))
        return code;
    if (ask->q.scope != HDX_ALL)
        for (hdx_graph_inbound(ask->g, id, HDX_ALL, &refs); code == HDX_OK && hdx_refs_next(&refs, &other); others++)
            code = hdx_ask_check_cancel(&mine, err);
    if (code != HDX_OK) {
        hdx_rows_close(*out);
        *out = NULL;
        return code;
    }
    if (others > 0)
        return hdx_rows_explain_empty(code, out, err, "%" PRIu64 " %s referrer%s not shown; use --reachable all",
                                      others, ask->q.scope == HDX_LIVE ? "unreachable" : "reachable",
                                      others == 1 ? "" : "s");
    return hdx_rows_explain_empty(code, out, err, "%s",
                                  hdx_graph_live(ask->g, id) ? "no object refers to it; it is a GC root"
                                                             : "no object refers to it");
}

/* ---- by class ---- */

typedef struct counted {
    uint32_t class;
    uint64_t shallow, retained;
} counted;

HDX_ENTRY_NUMBER(class_of, counted, class)
HDX_ENTRY_NUMBER(shallow_of, counted, shallow)
HDX_ENTRY_NUMBER(retained_of, counted, retained)
static const hdx_sum      sums[] = { { 0 }, { .value = shallow_of }, { .value = retained_of } };
static const hdx_grouping of_class = { .key = class_of,
                                       .key_cells = hdx_class_key_cells,
                                       .keys = 1,
                                       .sums = sums,
                                       .sum_count = HDX_COUNT(sums),
                                       .most = 3,
                                       .then = 2 };

static hdx_code by_class(const hdx_ask *ask, hdx_id id, bool inbound, hdx_rows **out, hdx_error *err)
{
    hdx_grouped g = hdx_grouped_of(&of_class, ask, "references");
    hdx_graph  *graph = ask->g;
    hdx_code    code = HDX_OK;
    hdx_refs    refs;
    hdx_id      other;
    if (inbound)
        hdx_graph_inbound(graph, id, ask->q.scope, &refs);
    else
        hdx_graph_outbound(graph, id, HDX_ALL, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &other)) {
        const counted at = { hdx_graph_class_of(graph, other), hdx_graph_shallow(graph, other),
                             hdx_graph_retained(graph, other) };
        if (at.class != HDX_NO_CLASS)
            code = hdx_grouped_add(&g, &at, err);
    }
    if (code == HDX_OK)
        code = hdx_grouped_rows(&g, &forms[0], out, err);
    hdx_grouped_drop(&g);
    return code;
}

hdx_code hdx_query_refs(const hdx_query *q, hdx_id id, bool inbound, hdx_by by, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    if (id >= hdx_graph_objects(q->graph))
        return hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no object has the id %llu", (unsigned long long)id);
    if (by != HDX_BY_CLASS && by != HDX_BY_NONE && by != HDX_BY_OBJECT)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "reference keys are object and class");
    code = by == HDX_BY_CLASS ? by_class(&ask, id, inbound, out, err) : list_rows(&ask, id, inbound, out, err);
    return explain_empty(&ask, id, inbound, code, out, err);
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REQUIRED | HDX_PARAMETER_WORD,
      .value = "OBJECT",
      .sentence = "object whose references are listed" },
    { .name = "by", .kind = HDX_PARAMETER_CHOICE, .value = "KEY", .choices = "class", .sentence = "one row per class" },
    { .name = "out",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "in",
      .sentence = "list the objects that the object refers to (the default)" },
    { .name = "in",
      .kind = HDX_PARAMETER_FLAG,
      .excludes = "out",
      .sentence = "list the objects that refer to the object" },
};

static hdx_code open_refs(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_id   id = HDX_NO_ID;
    hdx_code code = hdx_argument_object(q, a, &id, err);
    *out = NULL;
    if (code != HDX_OK)
        return code;
    if (q->scope == HDX_GARBAGE && !hdx_argument_flag(a, "in"))
        return hdx_fail(err, HDX_USAGE, NULL, HDX_NOWHERE,
                        "outgoing references are always complete: --reachable garbage needs --in");
    return hdx_query_refs(q, id, hdx_argument_flag(a, "in"),
                          hdx_argument_choice(a, "by") == 0 ? HDX_BY_CLASS : HDX_BY_NONE, out, err);
}

const hdx_question hdx_question_refs = {
    .declared = {
        .name = "refs",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES | HDX_ANSWER_SCOPED,
        .sentence = "what an object refers to, or what refers to it",
        .more = "--out (the default) lists references by name and kind: field, static, element, class, super, loader, "
                "local, signers and domain.",
        .examples = { "heapdex refs app.hprof '#1234' --in", "heapdex refs app.hprof thread:main --out" },
        .forms = forms,
        .form_count = HDX_COUNT(forms),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_refs,
};
