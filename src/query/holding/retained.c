/*
 * retained.c - what becomes unreachable if some objects are removed (MAT 6.4), summed by class.
 *
 * One object: its subtree in the dominator tree, unless that is most of the heap. Several: the objects that the GC
 * roots no longer reach without entering these (mark.c), including the given objects, even if they are GC roots.
 * Unreachable objects retain nothing.
 */
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/sets/sets.h"
#include "query/query.h"

static const hdx_form form = { NULL, NULL, hdx_gone_columns, HDX_GONE_COLUMNS };

#define SOME 64u /* objects taken from the stack at once, so that their memory accesses overlap */
static hdx_code sum_subtree(hdx_ask *ask, hdx_id id, hdx_gone *s, hdx_error *err)
{
    hdx_ids  stack = hdx_ids_of(ask->q.mem);
    hdx_code code = hdx_ids_push(&stack, id, err);
    while (code == HDX_OK && stack.count > 0 && s->objects < hdx_graph_objects(ask->g)) { /* invariant 3 */
        hdx_id   some[SOME], child;
        unsigned n = 0;
        while (n < SOME && stack.count > 0)
            some[n++] = stack.at[--stack.count];
        for (unsigned i = 0; i < n && code == HDX_OK; i++) {
            hdx_refs refs;
            hdx_graph_ahead(ask->g, HDX_AHEAD_CLASS | HDX_AHEAD_LENGTH | HDX_AHEAD_OUTBOUND, some, n, i);
            hdx_gone_add(s, hdx_graph_class_of(ask->g, some[i]), hdx_graph_shallow(ask->g, some[i]));
            hdx_graph_dominated(ask->g, some[i], &refs);
            while (code == HDX_OK && hdx_refs_next(&refs, &child))
                code = hdx_ids_push(&stack, child, err);
            if (code == HDX_OK)
                code = hdx_ask_check_cancel(ask, err);
        }
    }
    hdx_ids_drop(&stack);
    return code;
}

static hdx_code retained_rows(const hdx_query *q, const hdx_set *set, hdx_rows **out, hdx_error *err)
{
    hdx_ask     ask;
    hdx_members m = { .bits = NULL };
    hdx_gone    s = { .at = NULL };
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code == HDX_OK && (code = hdx_members_open(&ask, set, &m, err)) == HDX_OK)
        code = hdx_gone_open(&ask, &s, err);
    /*
     * A large subtree is read in random order. If it is most of the heap, marking the rest, which is small, and then
     * scanning all objects in order is faster.
     */
    if (code == HDX_OK && m.live == 1 &&
        2 * hdx_graph_retained(q->graph, m.one) <= hdx_graph_summary_of(q->graph)->live_bytes)
        code = sum_subtree(&ask, m.one, &s, err);
    else if (code == HDX_OK && m.live > 0)
        code = hdx_gone_unreached(&ask, &(hdx_marking){ .without = m.bits }, &s, err);
    if (code == HDX_OK)
        code = hdx_gone_rows(&ask, &s, "Retained set", out, err);
    hdx_gone_close(&s);
    hdx_members_close(&m);
    return hdx_rows_explain_empty(code, out, err, "%s", hdx_members_empty_reason(&m, set));
}

hdx_code hdx_query_retained(const hdx_query *q, const hdx_id *ids, size_t count, hdx_rows **out, hdx_error *err)
{
    return retained_rows(q, &(hdx_set){ .ids = ids, .id_count = count }, out, err);
}

hdx_code hdx_query_retained_class(const hdx_query *q, const char *class_pattern, bool subclasses, hdx_rows **out,
                                  hdx_error *err)
{
    return retained_rows(q, &(hdx_set){ .patterns = &class_pattern, .pattern_count = 1, .subclasses = subclasses }, out,
                         err);
}

static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD | HDX_PARAMETER_EITHER,
      .value = "OBJECT",
      .sentence = "objects to remove" },
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
                           "class name, glob (* and ?) or /regular expression/; may be repeated"),
    { .name = "subclasses",
      .kind = HDX_PARAMETER_FLAG,
      .needs = "class",
      .sentence = "include instances of subclasses" },
};

static hdx_code open_retained(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_given_set given;
    *out = NULL;
    hdx_code code = hdx_given_set_open(q, a, &given, err);
    given.set.columns = hdx_gone_columns;
    given.set.column_count = HDX_GONE_COLUMNS;
    return code == HDX_OK ? retained_rows(q, &given.set, out, err) : code;
}

const hdx_question hdx_question_retained = {
    .declared = {
        .name = "retained",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_MEMBERS,
        .sentence = "objects and bytes that would be freed if a set of objects were removed",
        .more = "--class selects all live instances of the matching classes, but not the class objects, and "
                "subclasses only with --subclasses. Objects that are named in addition (- reads the addresses of "
                "another answer) are removed together with them. --where also accepts fields of these objects.",
        .examples = { "heapdex retained app.hprof '#1234' thread:main",
                      "heapdex retained app.hprof --class java.util.HashMap --where 'size > 100'" },
        .forms = &form,
        .form_count = 1,
        .document = hdx_gone_document,
        .document_count = HDX_COUNT(hdx_gone_document),
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_retained,
};
