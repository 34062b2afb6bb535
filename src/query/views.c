/*
 * views.c - the references and GC roots that a view omits (doc/index.md, "Views"): parses a spec, and finds the
 * references of a heap to which it applies.
 *
 * In:  "-roots:JAVA_FRAME,JNI_LOCAL -refs:weak,soft -field:CLASS#FIELD layout:compact"; the graph of the index.
 * Out: the spec in its canonical form; types of roots, pairs of objects, a layout.
 * The index has a reference once, even if several fields hold it: it is omitted only if every field, static, element or
 * local that holds it is. A local is a reference of its thread. Only the record of an object shows which field holds a
 * reference, so the records of threads and of instances of the named classes are read, and no others.
 * Cost: reads the class of each object and, of those to which rules apply, their list and, unless the class decides
 * alone (cut_fields.c), their record; 16 bytes per pair.
 */
#include "graph/graph.h"
#include "model/model.h"
#include "query/sets/exclude.h"
#include "query/views.h"
#include "query/sets/cut_fields.h"

#include <stdio.h>
#include <stdlib.h>

#define PIECE (256u * HDX_RUN) /* objects per work unit: their records are close to each other in the dump */

/* ---- the spec ---- */
/* HPROF's names of types, where they differ */
static const struct {
    const char   *name;
    hdx_root_type type;
} other_names[] = {
    { "JAVA_FRAME", HDX_ROOT_JAVA_LOCAL },     { "JNI_LOCAL", HDX_ROOT_NATIVE_LOCAL },
    { "JNI_GLOBAL", HDX_ROOT_NATIVE_STATIC },  { "STICKY_CLASS", HDX_ROOT_SYSTEM_CLASS },
    { "MONITOR_USED", HDX_ROOT_BUSY_MONITOR }, { "THREAD_OBJECT", HDX_ROOT_THREAD_OBJ },
    { "DEBUGGER_ROOT", HDX_ROOT_DEBUGGER },
};
static const char *const reference_words[] = { "weak", "soft", "phantom",
                                               "finalizer" }; /* HDX_EXCLUDE_..., one bit each */

static hdx_code wrong(hdx_error *err, const char *what, size_t len)
{
    return hdx_hint(
        err,
        hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%.*s' is not part of a view specification", (int)hdx_least(len, 80),
                 what),
        "-roots:JAVA_FRAME,JNI_LOCAL,...  -refs:weak,soft,phantom,finalizer  -field:CLASS#FIELD  layout:compact");
}

static bool take_root(hdx_view_spec *s, const char *word, size_t len)
{
    for (unsigned t = 0; t < HDX_ROOT_TYPES; t++) {
        const char *name = hdx_root_type_name((hdx_root_type)t);
        if (strlen(name) == len && memcmp(name, word, len) == 0) {
            s->roots |= 1u << t;
            return true;
        }
    }
    for (size_t i = 0; i < HDX_COUNT(other_names); i++)
        if (strlen(other_names[i].name) == len && memcmp(other_names[i].name, word, len) == 0) {
            s->roots |= 1u << other_names[i].type;
            return true;
        }
    return false;
}

static bool take_reference(hdx_view_spec *s, const char *word, size_t len)
{
    for (unsigned i = 0; i < HDX_COUNT(reference_words); i++)
        if (strlen(reference_words[i]) == len && memcmp(reference_words[i], word, len) == 0) {
            s->exclude |= 1u << i;
            return true;
        }
    return false;
}

static hdx_code take_list(hdx_view_spec *s, bool (*take)(hdx_view_spec *s, const char *word, size_t len),
                          const char *words, size_t len, hdx_error *err)
{
    for (size_t at = 0; at <= len;) {
        const char  *comma = memchr(words + at, ',', len - at);
        const size_t n = comma == NULL ? len - at : (size_t)(comma - (words + at));
        if (!take(s, words + at, n))
            return wrong(err, words + at, n);
        at += n + 1;
    }
    return HDX_OK;
}

/* The names of fields are stored in the spec, each with a terminating NUL, until its text is made. */
static hdx_code take_field(hdx_view_spec *s, const char *word, size_t len, hdx_error *err)
{
    const char *mark = memchr(word, '#', len);
    if (mark == NULL || mark == word || mark + 1 == word + len)
        return wrong(err, word, len);
    if (s->field_count == HDX_VIEW_FIELDS || s->used + len + 1 > sizeof s->names)
        return hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "view omits more than %u fields", HDX_VIEW_FIELDS);
    memcpy(s->names + s->used, word, len);
    s->names[s->used + len] = '\0';
    s->fields[s->field_count++] = s->names + s->used;
    s->used += len + 1;
    return HDX_OK;
}

static hdx_code take_layout(hdx_view_spec *s, const char *word, size_t len, hdx_error *err)
{
    for (unsigned l = HDX_LAYOUT_MAT + 1; l < HDX_LAYOUTS; l++)
        if (strlen(hdx_jvm_layout_name((hdx_jvm_layout)l)) == len &&
            memcmp(hdx_jvm_layout_name((hdx_jvm_layout)l), word, len) == 0) {
            s->layout = (hdx_jvm_layout)l;
            return HDX_OK;
        }
    return hdx_hint(err,
                    hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "'%.*s' is not a layout", (int)hdx_least(len, 80), word),
                    "layouts: " HDX_LAYOUT_NAMES);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Writes the canonical text: types and kinds in their order, fields sorted and without duplicates. */
static hdx_code write_text(hdx_view_spec *s, hdx_error *err)
{
    size_t n = 0, unique = 0;
    if (s->field_count > 0)
        qsort(s->fields, s->field_count, sizeof *s->fields, by_text);
    for (size_t i = 0; i < s->field_count; i++)
        if (i == 0 || strcmp(s->fields[i], s->fields[unique - 1]) != 0)
            s->fields[unique++] = s->fields[i];
    s->field_count = unique;
    s->text[0] = '\0';
    for (unsigned t = 0, any = 0; t < HDX_ROOT_TYPES && n < sizeof s->text; t++)
        if ((s->roots >> t & 1) != 0)
            n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%s%s", any++ == 0 ? "-roots:" : ",",
                                  hdx_root_type_name((hdx_root_type)t));
    for (unsigned i = 0, any = 0; i < HDX_COUNT(reference_words) && n < sizeof s->text; i++)
        if ((s->exclude >> i & 1) != 0)
            n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%s%s",
                                  any++ > 0 ? ","
                                  : n == 0  ? "-refs:"
                                            : " -refs:",
                                  reference_words[i]);
    for (size_t i = 0; i < s->field_count && n < sizeof s->text; i++)
        n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%s-field:%s", n == 0 ? "" : " ", s->fields[i]);
    if (s->layout != HDX_LAYOUT_MAT && n < sizeof s->text)
        n += (size_t)snprintf(s->text + n, sizeof s->text - n, "%slayout:%s", n == 0 ? "" : " ",
                              hdx_jvm_layout_name(s->layout));
    return n < sizeof s->text
               ? HDX_OK
               : hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "view specification exceeds %zu bytes", sizeof s->text - 1);
}

hdx_code hdx_view_spec_read(const char *text, hdx_view_spec *out, hdx_error *err)
{
    hdx_code code = HDX_OK;
    memset(out, 0, sizeof *out);
    while (code == HDX_OK && *(text += strspn(text, " ")) != '\0') {
        const size_t len = strcspn(text, " ");
        if (len > 7 && memcmp(text, "-roots:", 7) == 0)
            code = take_list(out, take_root, text + 7, len - 7, err);
        else if (len > 6 && memcmp(text, "-refs:", 6) == 0)
            code = take_list(out, take_reference, text + 6, len - 6, err);
        else if (len > 7 && memcmp(text, "-field:", 7) == 0)
            code = take_field(out, text + 7, len - 7, err);
        else if (len > 7 && memcmp(text, "layout:", 7) == 0)
            code = take_layout(out, text + 7, len - 7, err);
        else
            code = wrong(err, text, len);
        text += len;
    }
    if (code == HDX_OK && out->roots == 0 && out->exclude == 0 && out->field_count == 0 &&
        out->layout == HDX_LAYOUT_MAT)
        code = wrong(err, "", 0);
    return code != HDX_OK ? code : write_text(out, err);
}

/* ---- references ---- */
typedef struct held { /* a reference of the current object */
    hdx_id target;
    bool   remains;
} held;

typedef struct cut_search {
    const hdx_query *q;
    hdx_graph       *g;
    uint32_t         roots;
    hdx_excludes     rules;
    hdx_cut_fields   fields;
    /* pairs (thread, object) for which all roots that make the object a local of the thread are omitted; sorted */
    hdx_pair *locals;
    uint64_t  local_count, local_room;
    /* threads with such locals, class objects to which rules apply; sorted, without duplicates */
    hdx_ids          others;
    _Atomic uint64_t next;
    _Atomic uint64_t others_next;
    pthread_mutex_t  lock; /* guards the members below */
    hdx_pair        *found;
    uint64_t         count, capacity;
    hdx_first_error  fault;
} cut_search;

typedef struct cut_worker { /* one worker */
    cut_search *c;
    hdx_ask     ask;
    hdx_id      from;
    uint64_t    rules;
    held       *held;
    uint64_t    held_count, held_room;
    hdx_pair   *found; /* not yet in the common list */
    uint64_t    found_count, found_room;
    bool        refused;

    hdx_cut_reader reader; /* opened before the first object is read */
    hdx_id        *some;   /* objects to read together, at most HDX_RUN */
    size_t         some_count;
} cut_worker;

static int by_pair(const void *a, const void *b)
{
    const hdx_pair *x = a, *y = b;
    return x->first != y->first ? hdx_order(x->first, y->first) : hdx_order(x->second, y->second);
}

static bool is_cut_local(const cut_search *c, hdx_id thread, hdx_id object)
{
    const hdx_pair wanted = { thread, object };
    return c->local_count > 0 && bsearch(&wanted, c->locals, c->local_count, sizeof *c->locals, by_pair) != NULL;
}

static bool add_held(void *context, const hdx_named_ref *ref)
{
    cut_worker *k = context;
    if (ref->kind == HDX_REF_CLASS) /* every object has it */
        return true;
    const bool remains = ref->kind == HDX_REF_LOCAL ? !is_cut_local(k->c, k->from, ref->target)
                                                    : !hdx_excludes_ref(&k->c->rules, k->rules, ref);
    if (!hdx_mem_room(k->c->q->mem, (void **)&k->held, &k->held_room, k->held_count, sizeof *k->held)) {
        k->refused = true;
        return false;
    }
    k->held[k->held_count++] = (held){ ref->target, remains };
    return true;
}

static int by_target(const void *a, const void *b)
{
    const held *x = a, *y = b;
    return x->target != y->target ? hdx_order(x->target, y->target) : x->remains - y->remains;
}

static hdx_code push_cut(cut_worker *k, hdx_id from, hdx_id to, hdx_error *err)
{
    if (!hdx_mem_room(k->c->q->mem, (void **)&k->found, &k->found_room, k->found_count, sizeof *k->found))
        return hdx_no_memory(err, "omitted references", k->found_room * sizeof *k->found);
    k->found[k->found_count++] = (hdx_pair){ from, to };
    return HDX_OK;
}

/* Finds the targets in the index to which no remaining field refers. */
static hdx_code cut_object(cut_worker *k, hdx_id from, hdx_error *err)
{
    hdx_graph *g = k->c->g;
    hdx_refs   refs;
    hdx_id     to;
    uint64_t   at = 0;
    k->from = from;
    k->rules = hdx_excludes_rules(&k->c->rules, from);
    k->held_count = 0;
    hdx_code code = hdx_graph_named_refs(g, from, HDX_NO_ID, add_held, k, err);
    if (k->refused)
        return hdx_no_memory(err, "omitted references", k->held_room * sizeof *k->held);
    if (code != HDX_OK || k->held_count == 0)
        return code;
    qsort(k->held, k->held_count, sizeof *k->held, by_target);
    const hdx_class *class = hdx_graph_class(g, hdx_graph_class_of(g, from));
    hdx_graph_outbound(g, from, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &to)) {
        bool any = false, remains = false;
        if (class != NULL && to == class->id) /* the class is first, out of id order */
            continue;
        for (; at < k->held_count && k->held[at].target <= to; at++)
            if (k->held[at].target == to) {
                any = true;
                remains = remains || k->held[at].remains;
            }
        if (!any || remains)
            continue;
        if ((code = push_cut(k, from, to, err)) != HDX_OK)
            return code;
    }
    return HDX_OK;
}

/* Omits the references in the mask; bit 0 is the one after the reference to the class. */
static hdx_code cut_by_mask(cut_worker *k, hdx_id from, uint64_t mask, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_code code = HDX_OK;
    hdx_graph_outbound(k->c->g, from, HDX_ALL, &refs);
    (void)hdx_refs_next(&refs, &to);
    for (unsigned n = 0; code == HDX_OK && n < HDX_CUT_MOST && hdx_refs_next(&refs, &to); n++)
        if ((mask >> n & 1) != 0)
            code = push_cut(k, from, to, err);
    return code;
}

static hdx_code cut_some(cut_worker *k, hdx_error *err)
{
    uint64_t masks[HDX_RUN];
    hdx_code code = hdx_ask_stopped(k->c->q, err);
    if (code == HDX_OK && k->some_count > 0 && k->reader.c == NULL)
        code = hdx_cut_reader_open(&k->c->fields, &k->reader, err);
    if (code == HDX_OK && k->some_count > 0)
        code = hdx_cut_reader_read(&k->reader, k->some, k->some_count, masks, err);
    for (size_t i = 0; code == HDX_OK && i < k->some_count; i++)
        if (masks[i] != 0)
            code = cut_by_mask(k, k->some[i], masks[i], err);
    k->some_count = 0;
    return code;
}

static hdx_code cut_by_class(cut_worker *k, hdx_id id, uint32_t number, hdx_error *err)
{
    switch (k->c->fields.way[number]) {
    case HDX_CUT_NOTHING: return HDX_OK;
    case HDX_CUT_ALL: return cut_by_mask(k, id, UINT64_MAX, err);
    case HDX_CUT_SOME: k->some[k->some_count++] = id; return k->some_count < HDX_RUN ? HDX_OK : cut_some(k, err);
    default: return cut_object(k, id, err);
    }
}

static hdx_code cut_run(cut_worker *k, uint64_t first, uint32_t n, hdx_error *err)
{
    const cut_search *c = k->c;
    uint32_t          classes[HDX_RUN];
    hdx_code          code = hdx_ask_stopped(c->q, err);
    hdx_graph_read_classes(c->g, first, n, classes);
    for (uint32_t i = 0; i < n && code == HDX_OK; i++)
        if (classes[i] < c->rules.classes && c->rules.of_class[classes[i]] != 0 &&
            (code = hdx_ask_check_cancel(&k->ask, err)) == HDX_OK)
            code = cut_by_class(k, first + i, classes[i], err);
    return code;
}

static hdx_code cut_piece(cut_worker *k, uint64_t first, uint64_t end, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (; code == HDX_OK && first < end; first += HDX_RUN)
        code = cut_run(k, first, (uint32_t)hdx_least(end - first, HDX_RUN), err);
    return code == HDX_OK ? cut_some(k, err) : code;
}

/* Adds the pairs that a worker found to the common list. */
static hdx_code publish_found(cut_worker *k, hdx_error *err)
{
    cut_search *c = k->c;
    bool        room = true;
    (void)pthread_mutex_lock(&c->lock);
    for (uint64_t i = 0; i < k->found_count && room; i++)
        if ((room = hdx_mem_room(c->q->mem, (void **)&c->found, &c->capacity, c->count, sizeof *c->found)))
            c->found[c->count++] = k->found[i];
    (void)pthread_mutex_unlock(&c->lock);
    return room ? HDX_OK : hdx_no_memory(err, "omitted references", c->capacity * sizeof *c->found);
}

static void run_worker(void *context, unsigned worker)
{
    cut_search    *c = context;
    cut_worker     k = { .c = c, .ask = { .q = *c->q, .g = c->g } };
    const uint64_t objects = hdx_graph_objects(c->g);
    uint64_t       i;
    hdx_error      err = { 0 };
    hdx_code       code = HDX_OK;
    (void)worker;
    if ((k.some = hdx_mem_raw(c->q->mem, HDX_RUN, sizeof *k.some)) == NULL)
        code = hdx_no_memory(&err, "objects whose fields are read", HDX_RUN * sizeof *k.some);
    while (code == HDX_OK && !hdx_first_error_any(&c->fault) &&
           (i = atomic_fetch_add(&c->others_next, 1)) < c->others.count)
        code = cut_object(&k, c->others.at[i], &err);
    while (code == HDX_OK && c->rules.count > 0 && !hdx_first_error_any(&c->fault) &&
           (i = atomic_fetch_add(&c->next, PIECE)) < objects)
        code = cut_piece(&k, i, i + hdx_least(objects - i, PIECE), &err);
    if (code == HDX_OK)
        code = publish_found(&k, &err);
    hdx_first_error_put(&c->fault, code, &err);
    hdx_cut_reader_close(&k.reader);
    hdx_mem_put(c->q->mem, k.some, HDX_RUN * sizeof *k.some);
    hdx_mem_put(c->q->mem, k.held, k.held_room * sizeof *k.held);
    hdx_mem_put(c->q->mem, k.found, k.found_room * sizeof *k.found);
}

/* Finds locals whose roots are all of omitted types, by thread and object. */
static hdx_code find_locals(cut_search *c, hdx_error *err)
{
    uint64_t        count = 0, left = 0;
    const hdx_root *roots = c->roots != 0 ? hdx_graph_roots(c->g, &count) : NULL;
    if (roots == NULL)
        return c->roots != 0 ? hdx_graph_check(c->g, err) : HDX_OK;
    c->local_room = count;
    if ((c->locals = hdx_mem_array(c->q->mem, count, sizeof *c->locals)) == NULL)
        return hdx_no_memory(err, "locals", count * sizeof *c->locals);
    for (uint64_t i = 0; i < count; i++)
        if (roots[i].thread != HDX_NO_ID && (c->roots >> roots[i].type & 1) != 0)
            c->locals[c->local_count++] = (hdx_pair){ roots[i].thread, roots[i].object };
    hdx_sort_pairs(c->q->mem, c->locals, c->local_count);
    uint8_t *remains = hdx_mem_array(c->q->mem, c->local_count, 1);
    if (remains == NULL)
        return hdx_no_memory(err, "locals", c->local_count);
    for (uint64_t i = 0; i < count; i++) {
        const hdx_pair local = { roots[i].thread, roots[i].object };
        hdx_pair      *at = roots[i].thread == HDX_NO_ID || (c->roots >> roots[i].type & 1) != 0
                                ? NULL
                                : bsearch(&local, c->locals, c->local_count, sizeof local, by_pair);
        if (at != NULL)
            remains[at - c->locals] = 1;
    }
    for (uint64_t i = 0, end; i < c->local_count; i = end) { /* only one of several equal pairs was marked */
        bool any = false;
        for (end = i; end < c->local_count && by_pair(&c->locals[i], &c->locals[end]) == 0; end++)
            any = any || remains[end] != 0;
        if (!any)
            c->locals[left++] = c->locals[i];
    }
    hdx_mem_put(c->q->mem, remains, c->local_count);
    c->local_count = left;
    return HDX_OK;
}

static int by_id(const void *a, const void *b) { return hdx_order(*(const hdx_id *)a, *(const hdx_id *)b); }

/* Finds objects that the search by class does not: threads with omitted locals and class objects. */
static hdx_code find_others(cut_search *c, hdx_error *err)
{
    uint32_t         classes;
    const hdx_class *all = hdx_graph_classes(c->g, &classes);
    hdx_code         code = HDX_OK;
    uint64_t         unique = 0;
    for (uint64_t i = 0; i < c->local_count && code == HDX_OK; i++)
        if (i == 0 || c->locals[i].first != c->locals[i - 1].first)
            code = hdx_ids_push(&c->others, c->locals[i].first, err);
    for (uint32_t i = 0; i < c->rules.classes && i < classes && code == HDX_OK; i++)
        if (c->rules.of_class[i] != 0 && all[i].id < hdx_graph_objects(c->g))
            code = hdx_ids_push(&c->others, all[i].id, err);
    if (c->others.count > 0)
        qsort(c->others.at, c->others.count, sizeof *c->others.at, by_id);
    for (uint64_t i = 0; i < c->others.count && code == HDX_OK; i++) {
        const uint32_t of = hdx_graph_class_of(c->g, c->others.at[i]);
        if ((i == 0 || c->others.at[i] != c->others.at[i - 1]) &&
            (of >= c->rules.classes || c->rules.of_class[of] == 0))
            c->others.at[unique++] = c->others.at[i];
    }
    c->others.count = unique;
    return code;
}

hdx_code hdx_view_cuts(const hdx_query *q, const hdx_view_spec *spec, hdx_view_pairs *out, hdx_error *err)
{
    const hdx_path_options options = { .exclude = spec->exclude,
                                       .exclude_fields = (const char *const *)spec->fields,
                                       .exclude_field_count = spec->field_count };
    cut_search             c = { .q = q, .g = q->graph, .roots = spec->roots, .others = hdx_ids_of(q->mem) };
    hdx_ask                ask;
    *out = (hdx_view_pairs){ .mem = q->mem };
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK || (code = hdx_excludes_open(q, &options, &c.rules, err)) != HDX_OK)
        return code;
    (void)pthread_mutex_init(&c.lock, NULL);
    if ((code = hdx_cut_fields_open(&ask, &c.rules, &c.fields, err)) == HDX_OK &&
        (code = find_locals(&c, err)) == HDX_OK && (code = find_others(&c, err)) == HDX_OK) {
        hdx_workers_run(hdx_ask_threads(q), run_worker, &c);
        code = hdx_first_error_take(&c.fault, err);
    }
    if (code == HDX_BAD_DUMP && hdx_graph_lacks_dump(q->graph))
        code = hdx_hint(err, code, "fields of references are read from the dump");
    if (code == HDX_OK && (code = hdx_graph_check(q->graph, err)) == HDX_OK)
        hdx_sort_pairs(q->mem, c.found, c.count);
    out->at = c.found;
    out->count = c.count;
    out->capacity = c.capacity;
    if (code != HDX_OK)
        hdx_view_pairs_drop(out);
    hdx_ids_drop(&c.others);
    hdx_mem_put(q->mem, c.locals, c.local_room * sizeof *c.locals);
    hdx_cut_fields_close(&c.fields);
    hdx_excludes_close(&c.rules);
    (void)pthread_mutex_destroy(&c.lock);
    return code;
}

void hdx_view_pairs_drop(hdx_view_pairs *p)
{
    hdx_mem_put(p->mem, p->at, p->capacity * sizeof *p->at);
    *p = (hdx_view_pairs){ .mem = p->mem };
}
