/*
 * loader_explorer.c - class loaders: what each defined, instances of that outside of the loader, and what holds it.
 *
 *      outside  classes  retained  held by                        object
 *            0       12    3.1 MB  static app.Registry.listeners  app.PluginLoader "shop-1.2"
 *
 * A loader should become garbage with its plugin or application, when nothing else needs its classes. `outside` counts
 * instances of its classes that it does not dominate: other objects keep them alive, and with them the class and the
 * loader. It is not computed for the loaders of the JVM and of its application, which are permanent.
 *
 * The holder of a loader is the last step before it on a shortest path from a GC root (without referents of
 * java.lang.ref) that a programmer recognizes: a static field of a class that it did not define, a thread, or the GC
 * root.
 *
 * A loader with instances outside may still have a single holder: a thread local of a pool's thread, or a static list,
 * refers to an instance of one of its classes, and this leads to the class, the loader and everything else. Therefore
 * --unused also shows a loader if all instances outside are below the culprit that held_by names.
 *
 * The retained size of a removable loader is that of the loader, its classes and all their instances together
 * (MAT 6.5): that of the loader object alone is small, because each instance keeps all of it alive.
 *
 * Cost: a climb in the dominator tree for each instance of a removable loader, visiting each object once (4 bytes per
 * object of the dump if there is such a loader, and again with --unused); a search over the heap for the retained sets
 * (groups.c). Paths are those of the index; one search serves all loaders whose path there contains a weak reference.
 */
#include "graph/graph.h"
#include "query/common/fields.h"
#include "query/common/labels.h"
#include "query/histogram/histogram.h"
#include "query/paths/paths.h"
#include "query/runtime/loaders.h"
#include "query/sets/exclude.h"
#include "query/questions.h"

enum { ADDRESS, CLASS, LABEL, PARENT, OUTSIDE, CLASSES, INSTANCES, SHALLOW, RETAINED, HELD_BY, COLUMNS };
static const hdx_column columns[COLUMNS] = {
    [ADDRESS] = HDX_COLUMN("address", ADDRESS, NONE, 0, "the class loader; 0x0 is the boot loader"),
    [CLASS] = HDX_COLUMN("class", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_CLASS_NAME, "class of the loader"),
    [LABEL] = HDX_COLUMN("label", TEXT, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_LABEL,
                         "label of the class loader, its context path (Tomcat), its name, or its first URL or module"),
    [PARENT] = HDX_COLUMN("parent", ADDRESS, NONE, HDX_COLUMN_NULLABLE | HDX_COLUMN_SPARE, "parent class loader"),
    [OUTSIDE] =
        HDX_COLUMN("outside", UNSIGNED, COUNT, HDX_COLUMN_NULLABLE,
                   "instances that the class loader does not dominate; null for class loaders of the JVM and the "
                   "application"),
    [CLASSES] = HDX_COLUMN("classes", UNSIGNED, COUNT, 0, "live classes that it defined"),
    [INSTANCES] = HDX_COLUMN("instances", UNSIGNED, COUNT, HDX_COLUMN_SPARE, "live instances of those classes"),
    [SHALLOW] = HDX_COLUMN("shallow", UNSIGNED, BYTES, HDX_COLUMN_SPARE, "total shallow size of these instances"),
    [RETAINED] = HDX_COLUMN("retained", UNSIGNED, BYTES, HDX_COLUMN_NULLABLE,
                            "bytes that would be freed without the class loader, its classes and instances; if "
                            "permanent, without itself"),
    [HELD_BY] = HDX_COLUMN("held_by", TEXT, NONE, HDX_COLUMN_NULLABLE,
                           "nearest static field, thread or GC root on a shortest path to it; null for loaders of the "
                           "JVM and application"),
};
static const hdx_form form = { NULL, NULL, columns, COLUMNS };

#define UNKNOWN   0u
#define NO_ANCHOR UINT32_MAX

/* Finds, for any object, the nearest dominator among some objects, the anchors. */
typedef struct anchors {
    const hdx_id *at;
    uint64_t      count;
    uint32_t     *nearest; /* of each object: 1 + index of the nearest anchor that is or dominates it, or NO_ANCHOR */
} anchors;

typedef struct explorer {
    hdx_ask       ask;
    hdx_loaders   all;
    bool         *permanent; /* of each loader: it is permanent */
    uint64_t     *outside;   /* of each loader */
    hdx_pair     *order;     /* second: index of a loader that has a row */
    uint64_t      count, next;
    uint64_t     *retained; /* of each loader */
    hdx_id       *ids;      /* of each loader */
    anchors       loaders;  /* all of them */
    uint64_t      objects;
    hdx_excludes  excludes;
    hdx_path_tree indexed, searched; /* paths to removable loaders; `searched` has those without a path in `indexed` */
    uint64_t     *path;              /* of each loader: index among the ends of `indexed` */
    uint64_t     *search;            /* by that index: index among the ends of `searched`; HDX_TREE_NONE */
    hdx_id       *targets;
    uint64_t      target_count;
} explorer;

/* ---- permanent loaders ---- */

static bool begins(hdx_text name, const char *with)
{
    const size_t n = strlen(with);
    return name.len >= n && memcmp(name.at, with, n) == 0;
}

/* Loaders of JDK 5 to 8, JDK 9 and later, Android. */
static bool is_of_vm(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    hdx_pos          pos;
    if (!hdx_graph_position(g, id, &pos)) /* object 0 */
        return true;
    return c != NULL &&
           (begins(c->name, "sun.misc.Launcher$") || begins(c->name, "jdk.internal.loader.ClassLoaders$") ||
            hdx_text_is(c->name, "java.lang.BootClassLoader"));
}

/* Marks the result of ClassLoader.getSystemClassLoader(), of any class, and its parents as permanent. */
static hdx_code mark_permanent(explorer *e, const char *class_name, const char *field, hdx_error *err)
{
    hdx_fields statics = { 0 };
    hdx_code   code = hdx_fields_statics(&statics, e->ask.g, class_name, err);
    hdx_id     id = hdx_fields_ref(&statics, NULL, field);
    hdx_fields_close(&statics);
    for (uint64_t steps = 0; code == HDX_OK && id != HDX_NO_ID && steps < e->all.count; steps++) {
        const hdx_loader *l = hdx_loaders_find(&e->all, id);
        hdx_cell          parent;
        if (l == NULL)
            break;
        e->permanent[l - e->all.at] = true;
        code = hdx_loader_parent_cell(e->ask.g, id, &parent, err);
        if (code != HDX_OK || parent.kind != HDX_CELL_ADDRESS || !hdx_graph_find(e->ask.g, parent.as.address, &id))
            break;
    }
    return code;
}

static hdx_code find_permanent(explorer *e, hdx_error *err)
{
    for (uint64_t i = 0; i < e->all.count; i++)
        e->permanent[i] = is_of_vm(e->ask.g, e->all.at[i].id);
    const hdx_code code = mark_permanent(e, "java.lang.ClassLoader", "scl", err);
    return code != HDX_OK ? code : mark_permanent(e, "java.lang.ClassLoader$SystemClassLoader", "loader", err);
}

/* ---- instances outside ---- */

static hdx_code open_anchors(explorer *e, const hdx_id *at, uint64_t count, anchors *out, hdx_error *err)
{
    *out = (anchors){ .at = at, .count = count };
    if (count >= NO_ANCHOR)
        return hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "%llu class loaders", (unsigned long long)count);
    if ((out->nearest = hdx_mem_array(e->ask.q.mem, e->objects, sizeof *out->nearest)) == NULL)
        return hdx_no_memory(err, "loaders of objects", e->objects * sizeof *out->nearest);
    for (uint64_t i = 0; i < count; i++)
        out->nearest[at[i]] = (uint32_t)i + 1;
    return HDX_OK;
}

/* Finds the nearest anchor that is or dominates an object, and caches it for every object on the path. */
static hdx_code nearest_of(const explorer *e, anchors *a, hdx_id id, uint32_t *out, hdx_error *err)
{
    hdx_id   v = id;
    uint64_t steps = 0;
    for (; v < e->objects && a->nearest[v] == UNKNOWN; v = hdx_graph_dominator(e->ask.g, v))
        if (++steps > e->objects) /* invariant 3 */
            return hdx_fail(err, HDX_DAMAGED, "dominator", HDX_NOWHERE, "object #%llu dominates itself",
                            (unsigned long long)id);
    *out = v < e->objects ? a->nearest[v] : NO_ANCHOR;
    for (v = id; v < e->objects && a->nearest[v] == UNKNOWN; v = hdx_graph_dominator(e->ask.g, v))
        a->nearest[v] = *out;
    return HDX_OK;
}

/* Returns whether the object is the anchor or below it. One anchor may be below another. */
static hdx_code is_below(const explorer *e, anchors *a, hdx_id id, uint32_t anchor, bool *yes, hdx_error *err)
{
    uint32_t nearest = NO_ANCHOR;
    hdx_code code = nearest_of(e, a, id, &nearest, err);
    for (uint64_t steps = 0; code == HDX_OK && nearest != anchor && nearest != NO_ANCHOR && steps < a->count; steps++)
        code = nearest_of(e, a, hdx_graph_dominator(e->ask.g, a->at[nearest - 1]), &nearest, err);
    *yes = nearest == anchor;
    return code;
}

static hdx_code count_outside(explorer *e, const hdx_class *c, uint32_t loader, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    bool     inside;
    hdx_graph_instances(e->ask.g, c->number, HDX_LIVE, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &id))
        if ((code = is_below(e, &e->loaders, id, loader, &inside, err)) == HDX_OK) {
            e->outside[loader - 1] += !inside;
            code = hdx_ask_check_cancel(&e->ask, err);
        }
    return code;
}

static bool any_removable(const explorer *e)
{
    for (uint64_t i = 0; i < e->all.count; i++)
        if (!e->permanent[i])
            return true;
    return false;
}

/* Returns the loader of a class if it is removable, otherwise NULL. */
static const hdx_loader *removable_loader(const explorer *e, const hdx_class *c)
{
    hdx_id            id;
    const hdx_loader *l = hdx_graph_find(e->ask.g, c->loader, &id) ? hdx_loaders_find(&e->all, id) : NULL;
    return l == NULL || e->permanent[l - e->all.at] ? NULL : l;
}

static hdx_code find_outside(explorer *e, hdx_error *err)
{
    uint32_t         class_count = 0;
    const hdx_class *classes = hdx_graph_classes(e->ask.g, &class_count);
    bool             any = false;
    for (uint64_t i = 0; i < e->all.count; i++)
        any |= !e->permanent[i] && e->all.at[i].instances > 0;
    hdx_code code = any ? open_anchors(e, e->ids, e->all.count, &e->loaders, err) : HDX_OK;
    for (uint32_t i = 0; code == HDX_OK && any && i < class_count; i++) {
        const hdx_loader *l = classes[i].live_instances > 0 ? removable_loader(e, &classes[i]) : NULL;
        if (l != NULL)
            code = count_outside(e, &classes[i], (uint32_t)(l - e->all.at) + 1, err);
    }
    return code;
}

/* ---- retained sizes ---- */

/* Makes a set for each removable loader; set_of: its number, by index of the loader. */
static hdx_code retain_sets(explorer *e, const uint32_t *set_of, uint32_t count, hdx_error *err)
{
    hdx_mem         *mem = e->ask.q.mem;
    uint32_t         class_count = 0, used = 0;
    const hdx_class *classes = hdx_graph_classes(e->ask.g, &class_count);
    uint32_t        *at = hdx_mem_array(mem, (uint64_t)class_count + 1, sizeof *at);
    uint32_t        *set = hdx_mem_array(mem, class_count, sizeof *set);
    uint32_t        *more_set = hdx_mem_array(mem, count, sizeof *more_set);
    hdx_id          *more = hdx_mem_array(mem, count, sizeof *more);
    uint64_t        *bytes = hdx_mem_array(mem, count, sizeof *bytes);
    if (at == NULL || set == NULL || more_set == NULL || more == NULL || bytes == NULL)
        return hdx_no_memory(err, "retained sets", (uint64_t)class_count * 2 * sizeof *at);
    for (uint32_t i = 0; i < class_count; i++) {
        const hdx_loader *l = removable_loader(e, &classes[i]);
        if (l != NULL)
            set[used++] = set_of[l - e->all.at];
        at[classes[i].number + 1] = used;
    }
    for (uint64_t i = 0; i < e->all.count; i++)
        if (!e->permanent[i]) {
            more[set_of[i]] = e->all.at[i].id;
            more_set[set_of[i]] = set_of[i];
        }
    const hdx_class_sets sets = { .count = count,
                                  .classes = class_count,
                                  .at = at,
                                  .set = set,
                                  .more_count = count,
                                  .more = more,
                                  .more_set = more_set };
    const hdx_code       code = hdx_class_sets_retained(&e->ask.q, &sets, bytes, err);
    for (uint64_t i = 0; code == HDX_OK && i < e->all.count; i++)
        if (!e->permanent[i])
            e->retained[i] = bytes[set_of[i]];
    return code;
}

static hdx_code find_retained(explorer *e, hdx_error *err)
{
    uint32_t  count = 0;
    uint32_t *set_of = hdx_mem_array(e->ask.q.mem, e->all.count, sizeof *set_of);
    if (set_of == NULL)
        return hdx_no_memory(err, "retained sets", e->all.count * sizeof *set_of);
    for (uint64_t i = 0; i < e->all.count; i++) {
        e->retained[i] = hdx_graph_retained(e->ask.g, e->all.at[i].id);
        if (!e->permanent[i])
            set_of[i] = count++;
    }
    return count == 0 ? HDX_OK : retain_sets(e, set_of, count, err);
}

/* ---- holders ---- */

/* Excludes referents from paths, if the dump is available to identify them. */
static hdx_code open_excludes(explorer *e, hdx_error *err)
{
    const hdx_path_options options = { .exclude = HDX_EXCLUDE_REFERENTS };
    hdx_source            *dump = NULL;
    hdx_error              mine;
    const hdx_code         code = hdx_graph_dump(e->ask.g, &dump, &mine);
    e->excludes = (hdx_excludes){ .g = e->ask.g, .mem = e->ask.q.mem };
    if (code != HDX_OK)
        return hdx_label_allow_missing_dump(e->ask.g, code, &mine, err);
    return hdx_excludes_open(&e->ask.q, &options, &e->excludes, err);
}

static hdx_code find_paths(explorer *e, hdx_error *err)
{
    uint64_t missing = 0;
    hdx_code code = open_excludes(e, err);
    for (uint64_t i = 0; i < e->count; i++)
        if (!e->permanent[e->order[i].second]) {
            e->path[e->order[i].second] = e->target_count;
            e->targets[e->target_count++] = e->all.at[e->order[i].second].id;
        }
    if (code != HDX_OK || e->target_count == 0)
        return code;
    code = hdx_path_tree_climb(&e->ask, &e->excludes, e->targets, e->target_count, &e->indexed, err);
    for (uint64_t i = 0; code == HDX_OK && i < e->target_count; i++) {
        e->search[i] = HDX_TREE_NONE;
        if (e->indexed.ends[i] == HDX_TREE_NONE) {
            e->search[i] = missing;
            e->targets[missing++] = e->targets[i];
        }
    }
    return code != HDX_OK || missing == 0
               ? code
               : hdx_path_tree_find(&e->ask, &e->excludes, e->targets, missing, &e->searched, err);
}

/* "thread "main"", "thread 0x5000" */
static hdx_code put_thread(const explorer *e, hdx_id id, hdx_arena *arena, hdx_buffer *b, hdx_error *err)
{
    hdx_cell       label = hdx_cell_null();
    const hdx_code code = hdx_label_cell(&e->ask.q, id, arena, &label, err);
    if (label.kind == HDX_CELL_TEXT) {
        hdx_buffer_text(b, "thread \"");
        hdx_buffer_put(b, label.as.text.at, label.as.text.len);
        hdx_buffer_text(b, "\"");
    } else {
        hdx_buffer_format(b, "thread 0x%llx", (unsigned long long)hdx_graph_address(e->ask.g, id));
    }
    return code;
}

/* Writes "static app.Registry.listeners"; nothing if the class does not refer to `to` by a static field. */
static hdx_code put_static(const explorer *e, hdx_id from, const hdx_class *of, hdx_id to, hdx_buffer *b,
                           hdx_error *err)
{
    hdx_named_ref ref;
    hdx_error     mine;
    bool          found = false;
    hdx_code      code = hdx_excludes_name(&e->excludes, from, to, &ref, &found, &mine);
    const bool    untold = code == HDX_BAD_DUMP && hdx_graph_lacks_dump(e->ask.g);
    code = hdx_label_allow_missing_dump(e->ask.g, code, &mine, err);
    if (code == HDX_OK && untold)
        code = hdx_reference_kind(e->ask.g, from, to, &ref.kind, err);
    if (code != HDX_OK || !(untold || found) || ref.kind != HDX_REF_STATIC)
        return code;
    hdx_buffer_text(b, untold ? "a static of " : "static ");
    hdx_buffer_put(b, of->name.at, of->name.len);
    if (!untold) {
        hdx_buffer_text(b, ".");
        hdx_buffer_text(b, ref.name);
    }
    return HDX_OK;
}

/* Writes "GC root (JNI global) app.Node"; for the loader itself, without its class. */
static hdx_code put_root(const explorer *e, hdx_id id, bool itself, hdx_arena *arena, hdx_buffer *b, hdx_error *err)
{
    hdx_cell         types = hdx_cell_null();
    const hdx_class *c = hdx_graph_kind(e->ask.g, id) == HDX_CLASS_OBJECT
                             ? hdx_graph_class_object(e->ask.g, id)
                             : hdx_graph_class(e->ask.g, hdx_graph_class_of(e->ask.g, id));
    const hdx_code   code = hdx_root_types_cell(e->ask.g, id, false, arena, &types, err);
    hdx_buffer_text(b, "GC root");
    if (code == HDX_OK && types.kind == HDX_CELL_LIST && types.as.list.count > 0) {
        const hdx_text type = types.as.list.at[0].as.text;
        const char    *words = hdx_root_type_words(type.at, type.len);
        hdx_buffer_format(b, " (%s)", words != NULL ? words : "unknown kind");
    }
    if (!itself && c != NULL) {
        hdx_buffer_text(b, hdx_graph_kind(e->ask.g, id) == HDX_CLASS_OBJECT ? " class " : " ");
        hdx_buffer_put(b, c->name.at, c->name.len);
    }
    return code;
}

/* Goes from the loader towards the root. *culprit: the thread, the target of the static field, or the root. */
static hdx_code put_path(const explorer *e, const hdx_path_tree *t, uint64_t end, hdx_arena *arena, hdx_buffer *b,
                         hdx_id *culprit, hdx_error *err)
{
    hdx_graph *g = e->ask.g;
    hdx_code   code = HDX_OK;
    for (uint64_t place = end, below = HDX_TREE_NONE; code == HDX_OK && b->len == 0; place = t->at[place].parent) {
        const hdx_id     id = t->at[place].id;
        const hdx_class *c = hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, id) : NULL;
        *culprit = id;
        if (hdx_graph_thread_of(g, id) != NULL) {
            code = put_thread(e, id, arena, b, err);
        } else if (c != NULL &&
                   below != HDX_TREE_NONE) { /* a class of the loader itself refers to it as <classloader> */
            code = put_static(e, id, c, t->at[below].id, b, err);
            *culprit = b->len > 0 ? t->at[below].id : id;
        }
        if (code == HDX_OK && b->len == 0 && t->at[place].parent == HDX_TREE_NONE) {
            code = put_root(e, id, below == HDX_TREE_NONE, arena, b, err);
            break;
        }
        below = place;
    }
    return code;
}

/* *culprit HDX_NO_ID: only references of java.lang.ref lead to it. */
static hdx_code put_holder(const explorer *e, uint64_t place, hdx_arena *arena, hdx_buffer *text, hdx_id *culprit,
                           hdx_error *err)
{
    const uint64_t       n = e->path[place];
    const bool           again = e->indexed.ends[n] == HDX_TREE_NONE;
    const hdx_path_tree *t = again ? &e->searched : &e->indexed;
    const uint64_t       end = again ? t->ends[e->search[n]] : t->ends[n];
    hdx_code             code = HDX_OK;
    *culprit = HDX_NO_ID;
    if (end == HDX_TREE_NONE)
        hdx_buffer_text(text, "soft, weak or phantom references alone");
    else
        code = put_path(e, t, end, arena, text, culprit, err);
    return code == HDX_OK && text->failed ? hdx_no_memory(err, "holders of class loaders", text->len) : code;
}

static hdx_code held_cell(const explorer *e, uint64_t place, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    hdx_buffer     text = hdx_buffer_of(e->ask.q.mem);
    hdx_id         culprit;
    const hdx_code code = put_holder(e, place, arena, &text, &culprit, err);
    if (code == HDX_OK)
        *out = hdx_text_cell(arena, (hdx_text){ text.at, (uint32_t)text.len });
    hdx_buffer_free(&text);
    return code;
}

/* ---- loaders with a single culprit ---- */

/* Finds the culprits of loaders with instances outside: pairs (culprit, index of the loader), sorted. */
static hdx_code find_culprits(explorer *e, hdx_pair *out, uint64_t *count, hdx_error *err)
{
    hdx_arena arena = hdx_arena_of(e->ask.q.mem);
    hdx_code  code = HDX_OK;
    *count = 0;
    for (uint64_t i = 0; code == HDX_OK && i < e->count; i++) {
        const uint64_t place = e->order[i].second;
        hdx_buffer     text = hdx_buffer_of(e->ask.q.mem);
        hdx_id         culprit = HDX_NO_ID;
        if (e->outside[place] > 0)
            code = put_holder(e, place, &arena, &text, &culprit, err);
        if (code == HDX_OK && culprit < e->objects)
            out[(*count)++] = (hdx_pair){ culprit, place };
        hdx_buffer_free(&text);
        hdx_arena_empty(&arena);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&e->ask, err);
    }
    hdx_arena_free(&arena);
    hdx_sort_pairs(e->ask.q.mem, out, *count);
    return code;
}

/* Clears one_culprit of a loader if an instance of this class is neither inside it nor below its culprit. */
static hdx_code check_culprit(explorer *e, anchors *culprits, const hdx_class *c, uint64_t place, uint32_t anchor,
                              bool *one_culprit, hdx_error *err)
{
    hdx_refs refs;
    hdx_id   id;
    hdx_code code = HDX_OK;
    bool     inside = true;
    hdx_graph_instances(e->ask.g, c->number, HDX_LIVE, &refs);
    while (code == HDX_OK && one_culprit[place] && hdx_refs_next(&refs, &id)) {
        code = is_below(e, &e->loaders, id, (uint32_t)place + 1, &inside, err);
        if (code == HDX_OK && !inside)
            code = is_below(e, culprits, id, anchor, &one_culprit[place], err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(&e->ask, err);
    }
    return code;
}

/* Determines, for loaders with rows, whether all instances outside are below the culprit. */
static hdx_code find_one_culprit(explorer *e, bool *one_culprit, hdx_error *err)
{
    hdx_mem         *mem = e->ask.q.mem;
    uint32_t         class_count = 0;
    uint64_t         count = 0, different = 0;
    const hdx_class *classes = hdx_graph_classes(e->ask.g, &class_count);
    hdx_pair        *pairs = hdx_mem_array(mem, e->count, sizeof *pairs);
    hdx_id          *at = hdx_mem_array(mem, e->count, sizeof *at);
    uint32_t        *anchor = hdx_mem_array(mem, e->all.count, sizeof *anchor); /* of each loader; 0: none */
    anchors          culprits;
    if (pairs == NULL || at == NULL || anchor == NULL)
        return hdx_no_memory(err, "culprits", e->count * sizeof *pairs);
    hdx_code code = find_culprits(e, pairs, &count, err);
    for (uint64_t i = 0; i < count; i++) {
        if (i == 0 || pairs[i].first != pairs[i - 1].first)
            at[different++] = pairs[i].first;
        anchor[pairs[i].second] = (uint32_t)different;
        one_culprit[pairs[i].second] = true;
    }
    if (code != HDX_OK || count == 0 || (code = open_anchors(e, at, different, &culprits, err)) != HDX_OK)
        return code;
    for (uint32_t i = 0; code == HDX_OK && i < class_count; i++) {
        const hdx_loader *l = classes[i].live_instances > 0 ? removable_loader(e, &classes[i]) : NULL;
        if (l != NULL && one_culprit[l - e->all.at])
            code = check_culprit(e, &culprits, &classes[i], (uint64_t)(l - e->all.at), anchor[l - e->all.at],
                                 one_culprit, err);
    }
    return code;
}

/* ---- rows ---- */

static hdx_code explorer_next(void *state, hdx_arena *arena, hdx_cell *cells, bool *more, hdx_error *err)
{
    explorer *e = state;
    hdx_code  code = hdx_ask_check_cancel(&e->ask, err);
    if (code != HDX_OK)
        return code;
    if (e->next == e->count)
        return hdx_ask_end(&e->ask, more, err);
    const uint64_t    place = e->order[e->next++].second;
    const hdx_loader *l = &e->all.at[place];
    cells[ADDRESS] = hdx_cell_address(l->address);
    cells[CLASS] = hdx_class_of_cell(e->ask.g, l->id);
    if ((code = hdx_loader_name_cell(&e->ask.q, l, arena, &cells[LABEL], err)) != HDX_OK ||
        (code = hdx_loader_parent_cell(e->ask.g, l->id, &cells[PARENT], err)) != HDX_OK)
        return code;
    cells[CLASSES] = hdx_cell_uint(l->classes);
    cells[INSTANCES] = hdx_cell_uint(l->instances);
    cells[SHALLOW] = hdx_cell_uint(l->shallow);
    cells[RETAINED] = hdx_cell_uint(e->retained[place]);
    cells[OUTSIDE] = e->permanent[place] ? hdx_cell_null() : hdx_cell_uint(e->outside[place]);
    cells[HELD_BY] = hdx_cell_null();
    *more = true;
    return e->permanent[place] || !hdx_column_wanted(&e->ask.q, HELD_BY)
               ? HDX_OK
               : held_cell(e, place, arena, &cells[HELD_BY], err);
}

/* Sorts by retained size, largest first. */
static void choose(explorer *e, bool any_removable)
{
    for (uint64_t i = 0; i < e->all.count; i++)
        if (!any_removable || !e->permanent[i])
            e->order[e->count++] = (hdx_pair){ ~e->retained[i], i };
    hdx_sort_pairs(e->ask.q.mem, e->order, e->count);
}

/* --unused: only loaders without instances outside, other than those that the culprit holds. */
static hdx_code choose_unused(explorer *e, hdx_error *err)
{
    uint64_t left = 0;
    bool    *one_culprit = hdx_mem_array(e->ask.q.mem, e->all.count, sizeof *one_culprit);
    if (one_culprit == NULL)
        return hdx_no_memory(err, "culprits", e->all.count * sizeof *one_culprit);
    const hdx_code code = find_one_culprit(e, one_culprit, err);
    for (uint64_t i = 0; i < e->count; i++)
        if (e->outside[e->order[i].second] == 0 || one_culprit[e->order[i].second])
            e->order[left++] = e->order[i];
    e->count = left;
    return code;
}

static hdx_code explore(explorer *e, bool unused, hdx_error *err)
{
    hdx_mem *mem = e->ask.q.mem;
    hdx_code code = hdx_loaders_list(&e->ask, &e->all, err);
    if (code != HDX_OK)
        return code;
    const uint64_t n = e->all.count;
    e->objects = hdx_graph_objects(e->ask.g);
    e->permanent = hdx_mem_array(mem, n, sizeof *e->permanent);
    e->outside = hdx_mem_array(mem, n, sizeof *e->outside);
    e->retained = hdx_mem_array(mem, n, sizeof *e->retained);
    e->ids = hdx_mem_array(mem, n, sizeof *e->ids);
    e->order = hdx_mem_array(mem, n, sizeof *e->order);
    e->path = hdx_mem_array(mem, n, sizeof *e->path);
    e->search = hdx_mem_array(mem, n, sizeof *e->search);
    e->targets = hdx_mem_array(mem, n, sizeof *e->targets);
    if (e->permanent == NULL || e->outside == NULL || e->retained == NULL || e->ids == NULL || e->order == NULL ||
        e->path == NULL || e->search == NULL || e->targets == NULL)
        return hdx_no_memory(err, "loaders", n * 8 * sizeof *e->order);
    for (uint64_t i = 0; i < n; i++)
        e->ids[i] = e->all.at[i].id;
    if ((code = find_permanent(e, err)) != HDX_OK || (code = find_retained(e, err)) != HDX_OK ||
        ((unused || hdx_column_wanted(&e->ask.q, OUTSIDE)) && (code = find_outside(e, err)) != HDX_OK))
        return code;
    choose(e, unused);
    if (unused || hdx_column_wanted(&e->ask.q, HELD_BY))
        code = find_paths(e, err);
    return code == HDX_OK && unused ? choose_unused(e, err) : code;
}

static const hdx_parameter parameters[] = {
    { .name = "unused",
      .kind = HDX_PARAMETER_FLAG,
      .sentence = "only class loaders that should be gone: no instances outside, or only below the holder in held_by" },
};

static hdx_code open_loaders(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    hdx_ask ask;
    *out = NULL;
    hdx_code code = hdx_ask_begin(q, &ask, err);
    if (code != HDX_OK)
        return code;
    explorer *e = hdx_mem_get(q->mem, sizeof *e);
    if (e == NULL)
        return hdx_no_memory(err, "loaders", sizeof *e);
    e->ask = ask;
    if ((code = explore(e, hdx_argument_flag(a, "unused"), err)) != HDX_OK)
        return code;
    const bool     none = !any_removable(e);
    hdx_rows_maker maker = { columns, COLUMNS, e, explorer_next, NULL, e->count };
    code = hdx_rows_make_in(q->mem, &maker, out, err);
    return hdx_rows_explain_empty(code, out, err,
                                  none ? "the only class loaders are those of the JVM and the application"
                                       : "each class loader that can be unloaded has instances with another holder");
}

const hdx_question hdx_question_loaders = {
    .declared = {
        .name = "loaders",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP | HDX_ANSWER_VALUES,
        .sentence = "class loaders: what they defined, which of their instances others hold, and what holds them",
        .more = "A class loader whose plugin or application was removed should be gone. If outside is 0, only the "
                "class loader itself is still held, and held_by names its holder; otherwise other objects hold "
                "instances of its classes. --unused lists class loaders with outside 0, and those whose outside "
                "instances are all below the holder in held_by, such as a forgotten thread local or list. Both "
                "columns are null for class loaders of the JVM and the application.",
        .examples = { "heapdex loaders app.hprof", "heapdex loaders app.hprof --unused" },
        .forms = &form,
        .form_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_loaders,
};
