/*
 * exclude.c - references that a path must not use (MAT 6.8).
 *
 * A rule is a set of classes and a glob for the names of their references; subclasses inherit it, and it also applies
 * to the class objects of those classes (their statics). The rules for weak, soft and phantom references and finalizers
 * mean the field that java.lang.ref declares: a field with the same name in a subclass keeps its object alive and is
 * followed. A referrer is skipped if *all* its named references to the object are excluded.
 */
#include "base/nearest.h"
#include "query/sets/exclude.h"
#include "query/query.h"

#include <stdio.h>

static bool is_called(hdx_text field, const char *name, hdx_nearest *near, char *room, size_t size)
{
    char copy[128];
    if (hdx_text_is(field, name))
        return true;
    if (near == NULL || field.len >= sizeof copy || field.len >= size)
        return false;
    memcpy(copy, field.at, field.len);
    copy[field.len] = '\0';
    hdx_nearest_offer(near, copy);
    if (near->best == copy) /* `copy` is freed below */
        near->best = memcpy(room, copy, field.len + 1);
    return false;
}

bool hdx_has_field(const hdx_class *c, const char *name, hdx_nearest *near, char *room, size_t size)
{
    for (uint32_t i = 0; i < c->field_count; i++)
        if (is_called(c->fields[i].name, name, near, room, size))
            return true;
    for (uint32_t i = 0; i < c->static_count; i++)
        if (is_called(c->statics[i].name, name, near, room, size))
            return true;
    return false;
}

/*
 * A misspelt field would exclude nothing without an error, so it is reported. Patterns, elements and names such as
 * <class> may match nothing.
 */
static void report_unknown(const hdx_query *q, const char *text, const char *field, const uint32_t *numbers,
                           size_t count)
{
    uint32_t         classes;
    const hdx_class *all = hdx_graph_classes(q->graph, &classes);
    char             line[200];
    if (q->notice == NULL || strpbrk(field, "*?[<") != NULL)
        return;
    for (size_t i = 0; i < count; i++)
        for (uint32_t c = numbers[i], steps = 0; c < classes && steps < classes; c = all[c].super, steps++)
            if (hdx_has_field(&all[c], field, NULL, NULL, 0))
                return;
    (void)snprintf(line, sizeof line, "warning: no field %.120s found; it excludes nothing", text);
    q->notice(q->notice_context, line);
}

/*
 * field: REQUIRES that it lives as long as the rules; own: only the field that the class itself declares, not one with
 * the same name in a subclass; text: as the user typed it.
 */
static hdx_code add_rule(const hdx_query *q, hdx_excludes *x, const char *pattern, const char *field, bool own,
                         const char *text, hdx_error *err)
{
    uint32_t *numbers = NULL;
    size_t    count = 0;
    hdx_error mine;
    if (x->count == HDX_RULES_MAX)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "more than %u excluded fields", HDX_RULES_MAX);
    hdx_code code = hdx_query_classes_named(q, pattern, true, &numbers, &count, &mine);
    if (code == HDX_NOT_FOUND && own)
        return HDX_OK; /* a dump without soft references has nothing to exclude */
    if (code != HDX_OK) {
        if (err != NULL)
            *err = mine;
        return code;
    }
    if (!own)
        report_unknown(q, text, field, numbers, count);
    x->field[x->count] = field;
    x->own[x->count] = own ? pattern : NULL;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] < x->classes)
            x->of_class[numbers[i]] |= 1ull << x->count;
    x->count++;
    hdx_numbers_free(numbers);
    return HDX_OK;
}

static hdx_code add_field(const hdx_query *q, hdx_excludes *x, const char *text, hdx_error *err)
{
    const char *mark = strrchr(text, '#');
    if (mark == NULL || mark == text || mark[1] == '\0')
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%.100s does not have the form CLASS#FIELD", text);
    const char *name = hdx_arena_copy(&x->names, text, (uint64_t)(mark - text));
    const char *field = hdx_arena_copy(&x->names, mark + 1, strlen(mark + 1));
    return name == NULL || field == NULL ? hdx_no_memory(err, "excluded fields", strlen(text))
                                         : add_rule(q, x, name, field, false, text, err);
}

hdx_code hdx_excludes_open(const hdx_query *q, const hdx_path_options *options, hdx_excludes *out, hdx_error *err)
{
    static const struct {
        unsigned    kind;
        const char *name, *field;
    } known[] = {
        { HDX_EXCLUDE_WEAK, "java.lang.ref.WeakReference", "referent" },
        { HDX_EXCLUDE_SOFT, "java.lang.ref.SoftReference", "referent" },
        { HDX_EXCLUDE_PHANTOM, "java.lang.ref.PhantomReference", "referent" },
        { HDX_EXCLUDE_FINALIZER, "java.lang.ref.Finalizer", "referent" },
        { HDX_EXCLUDE_FINALIZER, "java.lang.ref.Finalizer", "unfinalized" },
        { HDX_EXCLUDE_FINALIZER, "java.lang.ref.FinalizerReference", "referent" }, /* Android */
        { HDX_EXCLUDE_FINALIZER, "java.lang.ref.FinalizerReference", "zombie" },
        { HDX_EXCLUDE_REFERENTS, "java.lang.ref.Reference", "referent" },
        { HDX_EXCLUDE_REFERENTS, "java.lang.ref.Finalizer", "unfinalized" },
        { HDX_EXCLUDE_REFERENTS, "java.lang.Runtime", "<Unfinalized>" },
    };
    hdx_code code = HDX_OK;
    *out = (hdx_excludes){ .g = q->graph, .mem = q->mem, .names = hdx_arena_of(q->mem) };
    (void)hdx_graph_classes(q->graph, &out->classes);
    out->of_class = hdx_mem_array(q->mem, out->classes, sizeof *out->of_class);
    if (out->of_class == NULL)
        return hdx_no_memory(err, "excluded classes", out->classes * sizeof *out->of_class);
    for (size_t i = 0; code == HDX_OK && i < sizeof known / sizeof known[0]; i++)
        if (options->exclude & known[i].kind)
            code = add_rule(q, out, known[i].name, known[i].field, true, NULL, err);
    for (size_t i = 0; code == HDX_OK && i < options->exclude_field_count; i++)
        code = add_field(q, out, options->exclude_fields[i], err);
    if (code != HDX_OK)
        hdx_excludes_close(out);
    return code;
}

void hdx_excludes_close(hdx_excludes *x)
{
    hdx_arena_free(&x->names);
    hdx_mem_put(x->mem, x->of_class, x->classes * sizeof *x->of_class);
    *x = (hdx_excludes){ .g = x->g, .mem = x->mem, .names = x->names };
}

uint64_t hdx_excludes_rules(const hdx_excludes *x, hdx_id from)
{
    uint32_t c = hdx_graph_class_of(x->g, from);
    uint64_t rules = c < x->classes ? x->of_class[c] : 0;
    if (hdx_graph_kind(x->g, from) == HDX_CLASS_OBJECT) {
        const hdx_class *own = hdx_graph_class_object(x->g, from);
        if (own != NULL && own->number < x->classes)
            rules |= x->of_class[own->number];
    }
    return rules;
}

static bool is_below(hdx_graph *g, uint32_t number, const char *class_name)
{
    const hdx_class *c = hdx_graph_class(g, number);
    while (c != NULL && (c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(g, c->super)) != NULL)
        if (hdx_text_is(c->name, class_name))
            return true;
    return false;
}

bool hdx_excludes_ref(const hdx_excludes *x, uint64_t rules, const hdx_named_ref *ref)
{
    hdx_text name = { ref->name, (uint32_t)strlen(ref->name) };
    for (; rules != 0; rules &= rules - 1) {
        unsigned    rule = (unsigned)__builtin_ctzll(rules);
        const char *field = x->field[rule];
        if (hdx_glob_match((hdx_text){ field, (uint32_t)strlen(field) }, name) &&
            (x->own[rule] == NULL || !is_below(x->g, ref->owner, x->own[rule])))
            return true;
    }
    return false;
}

typedef struct edge_names {
    const hdx_excludes *x;
    uint64_t            rules;
    bool                any;   /* a name was seen */
    bool                other; /* a name that no rule excludes was seen; it is copied to *keep */
    hdx_named_ref      *keep;
} edge_names;

static bool visit_name(void *context, const hdx_named_ref *ref)
{
    edge_names *e = context;
    e->any = true;
    if (hdx_excludes_ref(e->x, e->rules, ref))
        return true;
    e->other = true;
    if (e->keep != NULL)
        *e->keep = *ref;
    return false;
}

hdx_code hdx_excludes_edge(const hdx_excludes *x, hdx_id from, hdx_id to, bool *yes, hdx_error *err)
{
    *yes = false;
    if (x->count == 0)
        return HDX_OK;
    edge_names e = { .x = x, .rules = hdx_excludes_rules(x, from) };
    if (e.rules == 0)
        return HDX_OK;
    hdx_code code = hdx_graph_named_refs(x->g, from, to, visit_name, &e, err);
    *yes = code == HDX_OK && e.any && !e.other;
    return code;
}

typedef struct names_left {
    const hdx_excludes *x;
    uint64_t            rules;
    bool (*visit)(void *context, const hdx_named_ref *ref);
    void *context;
} names_left;

static bool visit_unless_excluded(void *context, const hdx_named_ref *ref)
{
    names_left *n = context;
    return hdx_excludes_ref(n->x, n->rules, ref) || n->visit(n->context, ref);
}

hdx_code hdx_excludes_visit(const hdx_excludes *x, hdx_id from, hdx_id only_target,
                            bool (*visit)(void *context, const hdx_named_ref *ref), void *context, hdx_error *err)
{
    names_left n = { x, x->count == 0 ? 0 : hdx_excludes_rules(x, from), visit, context };
    return n.rules == 0 ? hdx_graph_named_refs(x->g, from, only_target, visit, context, err)
                        : hdx_graph_named_refs(x->g, from, only_target, visit_unless_excluded, &n, err);
}

hdx_code hdx_excludes_name(const hdx_excludes *x, hdx_id from, hdx_id to, hdx_named_ref *out, bool *found,
                           hdx_error *err)
{
    edge_names e = { .x = x, .rules = x->count == 0 ? 0 : hdx_excludes_rules(x, from), .keep = out };
    hdx_code   code = hdx_graph_named_refs(x->g, from, to, visit_name, &e, err);
    *found = code == HDX_OK && e.other;
    return code;
}
