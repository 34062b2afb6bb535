/*
 * prefer.c - of paths of similar length, chooses the one that explains why the program holds the object
 * (doc/mat.md 6.7).
 *
 * A JVM finds classes by sun.launcher.LauncherHelper.appClass, by fields of the JDK in a class loader (its list of
 * classes), from an object to its own class, and from a class to its superclass and to its loader. These references are
 * real, but they do not explain why an object is alive. Therefore paths have ranks:
 *
 *     BY_ROOT    none of these references, and the GC root is not a class of the JDK
 *     BY_STATIC  a static field of a class of the program is on the path
 *     BY_JDK     neither
 *
 * If the shortest path is BY_STATIC, one BY_ROOT of the same length replaces it; if it is BY_JDK, one of the others
 * that is longer by at most LONGER references does. A replacement begins at a thread, or at a class or an object of the
 * program, and uses neither the referent of a java.lang.ref.Reference nor a reference that a dump writer invented
 * (<resolved_references>). It is searched breadth first over inbound references as in search.c; the path above a class
 * of the program is that of the index.
 *
 * Cost: at most WORK_EACH referrers per target and WORK_ALL per question, and names of NAMED_ALL paths that were found;
 * after that, the shortest paths are not replaced.
 */
#include "graph/graph.h"
#include "query/common/labels.h"
#include "query/paths/paths.h"
#include "query/query.h"

#define LONGER    2u
#define LONGEST   1000u /* objects of a path that may be replaced */
#define WORK_EACH 100000u
#define WORK_ALL  1000000u
#define NAMED_ALL 1000u

typedef enum rank { BY_JDK, BY_STATIC, BY_ROOT } rank;

typedef struct queued {
    hdx_id   id;
    uint64_t towards; /* index in the queue of the object to which this one refers */
} queued;

typedef struct choice {
    hdx_ask            *ask;
    const hdx_excludes *x;
    hdx_paths          *out;
    /* classes java.lang.ClassLoader and java.lang.ref.Reference; NULL: missing */
    const hdx_class *loader, *reference;
    queued          *queue;
    uint64_t         count, capacity;
    hdx_map          seen;
    uint64_t         work, named;
    uint64_t         most;  /* number of references of a replacement */
    rank             least; /* rank of a replacement */
} choice;

static bool is_of_jdk(const hdx_class *c)
{
    return c == NULL || c->kind == HDX_PRIMITIVE_ARRAY || hdx_is_of_jdk(c->name);
}

static const hdx_class *class_at(hdx_graph *g, hdx_id id)
{
    return hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, id) : NULL;
}

static bool is_of_program(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = class_at(g, id);
    return hdx_graph_thread_of(g, id) != NULL ||
           !is_of_jdk(c != NULL ? c : hdx_graph_class(g, hdx_graph_class_of(g, id)));
}

static bool is_class_of_program(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = class_at(g, id);
    return c != NULL && !is_of_jdk(c);
}

static hdx_code name_of(choice *s, hdx_id from, hdx_id to, hdx_named_ref *ref, bool *found, hdx_error *err)
{
    const hdx_excludes all = { .g = s->ask->g, .mem = s->ask->q.mem };
    hdx_error          mine;
    const hdx_code     code = hdx_excludes_name(&all, from, to, ref, found, &mine);
    return hdx_label_allow_missing_dump(s->ask->g, code, &mine, err);
}

/* Without the dump, the field of a loader is unknown and counts as one of the JDK. */
static hdx_code is_list_of_loader(choice *s, hdx_id from, hdx_id to, bool *yes, hdx_error *err)
{
    hdx_graph     *g = s->ask->g;
    const uint32_t number = hdx_graph_class_of(g, from);
    hdx_named_ref  ref;
    bool           found = false;
    *yes = s->loader != NULL && hdx_class_extends(g, number, s->loader->number);
    if (!*yes || is_of_jdk(hdx_graph_class(g, number)))
        return HDX_OK;
    const hdx_code code = name_of(s, from, to, &ref, &found, err);
    *yes = !found || ref.kind != HDX_REF_FIELD || is_of_jdk(hdx_graph_class(g, ref.owner));
    return code;
}

/* Returns whether a JVM uses the reference to find classes. */
static hdx_code finds_classes(choice *s, hdx_id from, hdx_id to, bool *yes, hdx_error *err)
{
    hdx_graph       *g = s->ask->g;
    const hdx_class *above = class_at(g, to), *below = class_at(g, from);
    *yes = above != NULL && (hdx_graph_class_of(g, from) == above->number ||
                             (below != NULL && hdx_class_extends(g, below->number, above->number)));
    *yes = *yes || (below != NULL && hdx_graph_address(g, to) == below->loader);
    return *yes ? HDX_OK : is_list_of_loader(s, from, to, yes, err);
}

/* Returns whether it is a static field that the program declares. */
static hdx_code is_static(choice *s, hdx_id from, hdx_id to, bool *yes, hdx_error *err)
{
    hdx_named_ref ref;
    bool          found = false;
    *yes = false;
    if (!is_class_of_program(s->ask->g, from))
        return HDX_OK;
    const hdx_code code = name_of(s, from, to, &ref, &found, err);
    *yes = found && ref.kind == HDX_REF_STATIC && *ref.name != '<';
    return code;
}

static hdx_code rank_of(choice *s, const hdx_path *p, rank *out, hdx_error *err)
{
    const hdx_id *at = s->out->steps.at + p->first;
    hdx_graph    *g = s->ask->g;
    hdx_code      code = HDX_OK;
    bool          finds = p->count > 1 && class_at(g, at[0]) != NULL && !is_class_of_program(g, at[0]), yes = false;
    for (uint64_t i = 0; code == HDX_OK && !finds && i + 1 < p->count; i++)
        if ((code = hdx_ask_check_cancel(s->ask, err)) == HDX_OK)
            code = finds_classes(s, at[i], at[i + 1], &finds, err);
    for (uint64_t i = 0; code == HDX_OK && finds && !yes && i + 1 < p->count; i++)
        if ((code = hdx_ask_check_cancel(s->ask, err)) == HDX_OK)
            code = is_static(s, at[i], at[i + 1], &yes, err);
    *out = !finds ? BY_ROOT : yes ? BY_STATIC : BY_JDK;
    return code;
}

/* Returns whether no reference of the path is a referent or invented by a dump writer. */
static hdx_code is_sound(choice *s, const hdx_path *p, bool *yes, hdx_error *err)
{
    const hdx_id *at = s->out->steps.at + p->first;
    hdx_graph    *g = s->ask->g;
    hdx_code      code = HDX_OK;
    *yes = s->named++ < NAMED_ALL;
    for (uint64_t i = 0; code == HDX_OK && *yes && i + 1 < p->count; i++) {
        const bool refers =
            s->reference != NULL && hdx_class_extends(g, hdx_graph_class_of(g, at[i]), s->reference->number);
        hdx_named_ref ref;
        bool          found = false;
        if (!refers && class_at(g, at[i]) == NULL)
            continue;
        code = name_of(s, at[i], at[i + 1], &ref, &found, err);
        *yes = found && !(refers && strcmp(ref.name, "referent") == 0) &&
               !(!refers && ref.kind == HDX_REF_STATIC && *ref.name == '<');
    }
    return code;
}

/*
 * Appends the path to `above`, which is a root or a class of the program, and from there along the queue to the target.
 */
static hdx_code append_path(choice *s, hdx_id above, uint64_t place, hdx_error *err)
{
    hdx_code code = hdx_path_begin(s->out, s->queue[0].id, err);
    hdx_id   parent = hdx_graph_nearest(s->ask->g, above);
    for (hdx_id v = above; code == HDX_OK && (code = hdx_path_step(s->out, v, err)) == HDX_OK && parent != v;
         v = parent, parent = hdx_graph_nearest(s->ask->g, v))
        ;
    hdx_path_reverse(s->out);
    for (; code == HDX_OK; place = s->queue[place].towards)
        if ((code = hdx_path_step(s->out, s->queue[place].id, err)) == HDX_OK && place == 0)
            break;
    return code;
}

static hdx_code enqueue(choice *s, hdx_id id, uint64_t towards, hdx_error *err)
{
    bool fresh;
    if (hdx_map_put(&s->seen, id, &fresh) == NULL)
        return hdx_no_memory(err, "a search", s->seen.count * sizeof *s->seen.slots);
    if (!fresh)
        return HDX_OK;
    if (!hdx_mem_room(s->ask->q.mem, (void **)&s->queue, &s->capacity, s->count, sizeof *s->queue))
        return hdx_no_memory(err, "a search", s->count * sizeof *s->queue);
    s->queue[s->count++] = (queued){ id, towards };
    return HDX_OK;
}

static void drop_last(choice *s) { s->out->steps.count = s->out->at[--s->out->count].first; }

/* Counts references on the index's path to this object, up to `most`. */
static uint64_t length_above(const choice *s, hdx_id id, uint64_t most)
{
    uint64_t     n = 0;
    const hdx_id all = hdx_graph_objects(s->ask->g);
    for (hdx_id parent; n <= most && id < all && (parent = hdx_graph_nearest(s->ask->g, id)) != id; id = parent)
        n++;
    return id < all ? n : most + 1;
}

/* Appends the path through `from`, of at most s->most references, if it is a valid replacement. */
static hdx_code try_path(choice *s, hdx_id from, uint64_t place, bool *found, hdx_error *err)
{
    rank     is = BY_JDK;
    bool     sound = false;
    hdx_code code = append_path(s, from, place, err);
    if (code == HDX_OK && (code = rank_of(s, &s->out->at[s->out->count - 1], &is, err)) == HDX_OK && is >= s->least)
        code = is_sound(s, &s->out->at[s->out->count - 1], &sound, err);
    *found = code == HDX_OK && is >= s->least && sound;
    if (!*found)
        drop_last(s);
    return code;
}

/*
 * Paths do not pass through a GC root (MAT 6.7). Paths to this entry of the queue have `length` references including
 * the next.
 */
static hdx_code expand_object(choice *s, uint64_t place, uint64_t length, uint64_t limit, bool *found, hdx_error *err)
{
    const hdx_id id = s->queue[place].id;
    hdx_graph   *g = s->ask->g;
    hdx_code     code = HDX_OK;
    hdx_refs     refs;
    hdx_id       from;
    hdx_graph_inbound(g, id, HDX_LIVE, &refs);
    while (code == HDX_OK && !*found && s->work < limit && hdx_refs_next(&refs, &from)) {
        const bool root = hdx_graph_nearest(g, from) == from, end = root || is_class_of_program(g, from);
        bool       no = root && !is_of_program(g, from);
        s->work++;
        if ((code = hdx_ask_check_cancel(s->ask, err)) != HDX_OK || no ||
            (code = finds_classes(s, from, id, &no, err)) != HDX_OK || no ||
            (code = hdx_excludes_edge(s->x, from, id, &no, err)) != HDX_OK || no)
            continue;
        if (end && (root || (s->x->count == 0 && length + length_above(s, from, s->most) <= s->most)))
            code = try_path(s, from, place, found, err);
        if (!root && !*found && code == HDX_OK)
            code = enqueue(s, from, place, err);
    }
    return code;
}

/* Appends the first path that is good enough. */
static hdx_code search_replacement(choice *s, hdx_id target, bool *found, hdx_error *err)
{
    const uint64_t limit = s->work + WORK_EACH < WORK_ALL ? s->work + WORK_EACH : WORK_ALL;
    /* length of a path that ends at this level of the queue, and where the level ends */
    uint64_t length = 1, level = 1;
    hdx_code code;
    s->count = 0;
    s->seen = hdx_map_of(s->ask->q.mem);
    code = enqueue(s, target, 0, err);
    for (uint64_t i = 0; code == HDX_OK && !*found && i < s->count && length <= s->most && s->work < limit; i++) {
        code = expand_object(s, i, length, limit, found, err);
        if (i + 1 == level) {
            level = s->count;
            length++;
        }
    }
    hdx_map_free(&s->seen);
    return code;
}

/* Moves the most informative of the paths from..end of one target, sorted by length, to the front. */
static hdx_code prefer_path(choice *s, uint64_t from, uint64_t end, hdx_error *err)
{
    const uint64_t shortest = s->out->at[from].count;
    uint64_t       place = from;
    rank           first = BY_ROOT, is = BY_JDK;
    bool           found = false;
    hdx_code       code = shortest < 2 || shortest > LONGEST ? HDX_OK : rank_of(s, &s->out->at[from], &first, err);
    if (code != HDX_OK || first == BY_ROOT)
        return code;
    s->least = first + 1;
    s->most = shortest - 1 + (first == BY_JDK ? LONGER : 0);
    for (uint64_t i = from + 1; code == HDX_OK && !found && i < end && s->out->at[i].count <= s->most + 1; i++)
        if ((code = rank_of(s, &s->out->at[i], &is, err)) == HDX_OK && is >= s->least &&
            (is == BY_STATIC || is_of_program(s->ask->g, s->out->steps.at[s->out->at[i].first])) &&
            (code = is_sound(s, &s->out->at[i], &found, err)) == HDX_OK && found)
            place = i;
    if (code == HDX_OK && !found && (code = search_replacement(s, s->out->at[from].target, &found, err)) == HDX_OK &&
        found) {
        place = end - 1; /* replace the longest */
        s->out->at[place] = s->out->at[--s->out->count];
    }
    if (code == HDX_OK && found) {
        const hdx_path best = s->out->at[place];
        memmove(s->out->at + from + 1, s->out->at + from, (place - from) * sizeof best);
        s->out->at[from] = best;
    }
    return code;
}

hdx_code hdx_paths_prefer(hdx_ask *ask, const hdx_excludes *x, unsigned paths, hdx_paths *out, hdx_error *err)
{
    choice         s = { .ask = ask, .x = x, .out = out };
    const uint64_t count = out->count;
    hdx_code       code = HDX_OK;
    s.loader = hdx_graph_class_named(ask->g, "java.lang.ClassLoader");
    s.reference = hdx_graph_class_named(ask->g, "java.lang.ref.Reference");
    for (uint64_t from = 0, end; code == HDX_OK && from < count && s.work < WORK_ALL; from = end) {
        for (end = from + 1; end < count && end - from < paths && out->at[end].target == out->at[from].target;)
            end++;
        code = prefer_path(&s, from, end, err);
    }
    hdx_mem_put(ask->q.mem, s.queue, s.capacity * sizeof *s.queue);
    return code;
}
