/*
 * suspect_words.c - describes a suspect in one sentence.
 *
 *     one HashMap in the static acme.Shop.sessions retains 1.9 MB (70%), 12,004 entries of acme.Session, held by
 *     thread "clerk"; look at acme.Desk.serve (Desk.java:42)
 *
 * The sentence names the object that a programmer knows: the accumulation point is often the array of a map or the node
 * of a list, and then the map or list above it is named. Its location is the nearest static field that refers to it, or
 * a local, or otherwise a field. All facts are read from the heap; those that need a missing dump are omitted.
 */
#include "graph/graph.h"
#include "query/common/frames.h"
#include "query/common/labels.h"
#include "query/holding/drop.h"
#include "query/paths/paths.h"
#include "query/sets/exclude.h"
#include "query/suspects/suspects.h"

#include <stdio.h>

#define TEXT_MOST      200u /* bytes of one name */
#define REFERRERS_MOST 256u /* referrers of an object that are searched for a static field */
#define OWNER_STEPS    8u
#define CLASSES_MOST   (1u << 20) /* of a loader */

/* ---- names ---- */

hdx_text hdx_suspect_own_class(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
    return c == NULL ? (hdx_text){ "?", 1 } : c->name;
}

hdx_text hdx_suspect_class(hdx_graph *g, hdx_id id)
{
    const hdx_class *c = hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? hdx_graph_class_object(g, id) : NULL;
    return c == NULL ? hdx_suspect_own_class(g, id) : c->name;
}

static bool ends(hdx_text name, const char *with)
{
    const size_t n = strlen(with);
    return name.len >= n && memcmp(name.at + name.len - n, with, n) == 0;
}

/* Returns whether a map or list has one such object per element. */
static bool is_entry(hdx_text name) { return ends(name, "Node") || ends(name, "Entry"); }
static bool is_inside(hdx_text name) { return is_entry(name) || ends(name, "[]"); }

static bool is_a(hdx_graph *g, hdx_id id, const char *class_name)
{
    const hdx_class *c = hdx_graph_class_named(g, class_name);
    return c != NULL && hdx_class_extends(g, hdx_graph_class_of(g, id), c->number);
}
static bool is_thread(hdx_graph *g, hdx_id id) { return is_a(g, id, "java.lang.Thread"); }

/* ---- the frame that holds it ---- */

static const hdx_thread *thread_of(const hdx_suspects *s, hdx_id id)
{
    return id == HDX_NO_ID ? NULL : hdx_graph_thread_of(s->ask.g, id);
}

const hdx_path *hdx_suspect_path(const hdx_suspects *s, const hdx_suspect *of)
{
    const hdx_path *p = of->path == HDX_NO_ID ? NULL : &s->paths.at[of->path];
    return p != NULL && p->count > 0 ? p : NULL;
}

/* Returns the frame of the thread whose locals retain most. */
static const hdx_frame *heaviest_frame(hdx_suspects *s, const hdx_thread *t)
{
    uint64_t         count = 0, most = 0;
    const hdx_root  *roots = t->frame_count == 0 ? NULL : hdx_graph_roots(s->ask.g, &count);
    const hdx_frame *best = NULL;
    for (uint64_t i = 0; roots != NULL && i < count; i++) {
        const hdx_root *r = &roots[i];
        if (r->thread != t->object || r->frame < 0 || (uint32_t)r->frame >= t->frame_count)
            continue;
        const uint64_t bytes = hdx_graph_retained(s->ask.g, r->object);
        if (best == NULL || bytes > most) {
            best = &t->frames[r->frame];
            most = bytes;
        }
    }
    return best;
}

/*
 * Returns the frame that holds the first object on the path; if the path ends at the thread, the frame whose locals
 * retain most.
 */
static const hdx_frame *frame_of(hdx_suspects *s, const hdx_suspect *of)
{
    const hdx_path   *p = hdx_suspect_path(s, of);
    const hdx_id     *step = p == NULL ? NULL : s->paths.steps.at + p->first;
    const hdx_thread *t = step == NULL ? NULL : thread_of(s, step[0]);
    if (t == NULL)
        return NULL;
    return p->count == 1 ? heaviest_frame(s, t) : hdx_frame_of_local(s->ask.g, step[0], step[1]);
}

/* ---- the sentence ---- */

typedef struct words {
    hdx_suspects      *s;
    const hdx_suspect *of;
    hdx_arena         *arena;
    hdx_buffer         b;
    const hdx_id      *line; /* objects on the way to the point: its dominators, or the path of a group */
    uint64_t           length;
    hdx_id             what;    /* the object that is named */
    uint64_t           at;      /* its index in `line` */
    hdx_id             holder;  /* the holder that was named with it */
    hdx_id             in;      /* the object whose field was named, if one was */
    bool               of_list; /* `what` is in a loader's list of classes, and is named instead of the list */
} words;

/* Appends a name from the dump, truncated between two characters. */
static void put_text(hdx_buffer *b, hdx_text text)
{
    uint32_t n = text.len;
    if (n > TEXT_MOST) {
        n = TEXT_MOST;
        while (n > 0 && ((uint8_t)text.at[n] & 0xc0) == 0x80)
            n--;
    }
    hdx_buffer_put(b, text.at, n);
    hdx_buffer_text(b, n < text.len ? "..." : "");
}

/* Classes of java.util are familiar without their package. */
static void put_class(hdx_buffer *b, hdx_text name)
{
    for (uint32_t i = name.len; hdx_is_of_jdk(name) && i-- > 0;)
        if (name.at[i] == '.') {
            put_text(b, (hdx_text){ name.at + i + 1, name.len - i - 1 });
            return;
        }
    put_text(b, name);
}

static void put_class_number(words *w, uint32_t number)
{
    const hdx_class *c = hdx_graph_class(w->s->ask.g, number);
    put_class(&w->b, c != NULL ? c->name : (hdx_text){ "?", 1 });
}

static void put_count(hdx_buffer *b, uint64_t n)
{
    char digits[32];
    int  len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++) {
        hdx_buffer_text(b, i > 0 && (len - i) % 3 == 0 ? "," : "");
        hdx_buffer_put(b, &digits[i], 1);
    }
}

static void put_size(words *w, uint64_t bytes)
{
    char human[16];
    hdx_human_size(bytes, human);
    hdx_buffer_format(&w->b, "%s (%.0f%%)", human, w->s->total > 0 ? 100.0 * (double)bytes / (double)w->s->total : 0.0);
}

static hdx_code put_thread(words *w, hdx_id id, hdx_error *err)
{
    hdx_cell       label = hdx_cell_null();
    const hdx_code code = hdx_label_cell(&w->s->ask.q, id, w->arena, &label, err);
    if (label.kind == HDX_CELL_TEXT) {
        hdx_buffer_text(&w->b, "thread \"");
        put_text(&w->b, label.as.text);
        hdx_buffer_text(&w->b, "\"");
    } else {
        hdx_buffer_format(&w->b, "thread 0x%llx", (unsigned long long)hdx_graph_address(w->s->ask.g, id));
    }
    return code;
}

static hdx_code put_object(words *w, hdx_id id, hdx_error *err)
{
    hdx_graph *g = w->s->ask.g;
    if (is_thread(g, id))
        return put_thread(w, id, err);
    hdx_buffer_text(&w->b, hdx_graph_kind(g, id) == HDX_CLASS_OBJECT ? "class " : "one ");
    put_class(&w->b, hdx_suspect_class(g, id));
    return HDX_OK;
}

/*
 * For a part of a collection (X$Index of X), returns the index in `line` of the collection, at most OWNER_STEPS above;
 * otherwise `at`.
 */
static uint64_t owner_of(const words *w, uint64_t at)
{
    hdx_graph     *g = w->s->ask.g;
    const hdx_text part = hdx_suspect_class(g, w->line[at]);
    for (uint64_t i = at, n = 0; i > 0 && n < OWNER_STEPS; i--, n++) {
        const hdx_text name = hdx_suspect_class(g, w->line[i - 1]);
        if (name.len < part.len && part.at[name.len] == '$' && memcmp(name.at, part.at, name.len) == 0 &&
            hdx_suspect_is_collection(w->s, w->line[i - 1]))
            return i - 1;
    }
    return at;
}

/*
 * A class loader has a list of all of its classes, in which the memory of their statics accumulates. The list is not
 * the cause, so the heaviest of the classes is named instead.
 */
static void find_heaviest_class(words *w)
{
    hdx_graph *g = w->s->ask.g;
    hdx_refs   refs;
    hdx_id     id, best = HDX_NO_ID;
    if (w->of->point == HDX_NO_ID || w->at == 0 || !is_a(g, w->line[w->at - 1], "java.lang.ClassLoader"))
        return;
    hdx_graph_dominated(g, w->of->point, &refs);
    for (unsigned n = 0; n < CLASSES_MOST && hdx_refs_next(&refs, &id); n++)
        if (hdx_graph_kind(g, id) == HDX_CLASS_OBJECT &&
            (best == HDX_NO_ID || hdx_graph_retained(g, id) > hdx_graph_retained(g, best)))
            best = id;
    w->of_list = best != HDX_NO_ID;
    w->what = best != HDX_NO_ID ? best : w->what;
}

/*
 * Goes up from the point, out of arrays, nodes and other parts of collections, or, without a point, out of the linked
 * list. An object directly below a class or thread is named itself.
 */
static void find_named_object(words *w)
{
    hdx_graph     *g = w->s->ask.g;
    const uint32_t last = hdx_graph_class_of(g, w->line[w->length - 1]);
    w->at = w->length - 1;
    while (w->at > 0 && hdx_graph_kind(g, w->line[w->at - 1]) != HDX_CLASS_OBJECT && !is_thread(g, w->line[w->at - 1]))
        if (is_inside(hdx_suspect_class(g, w->line[w->at])) ||
            (w->of->point == HDX_NO_ID && hdx_graph_class_of(g, w->line[w->at]) == last))
            w->at--;
        else
            break;
    w->at = owner_of(w, w->at);
    w->what = w->line[w->at];
    find_heaviest_class(w);
}

/* Finds the named reference from one object to the next; found is also false without the dump. */
static hdx_code named_reference(words *w, hdx_id from, hdx_id to, hdx_named_ref *ref, bool *found, hdx_error *err)
{
    const hdx_excludes all = { .g = w->s->ask.g, .mem = w->s->ask.q.mem };
    hdx_error          mine;
    const hdx_code     code = hdx_excludes_name(&all, from, to, ref, found, &mine);
    return hdx_label_allow_missing_dump(w->s->ask.g, code, &mine, err);
}

/*
 * A JVM uses the static fields of these classes to start a program and find its classes: all objects of the program are
 * below them, but they do not explain why an object is alive.
 */
static bool is_of_start(hdx_graph *g, hdx_id id)
{
    const hdx_text name = hdx_suspect_class(g, id);
    return hdx_text_is(name, "java.lang.ClassLoader") || hdx_text_is(name, "sun.launcher.LauncherHelper");
}

/* Finds a static field that refers to the object. */
static hdx_code find_static(words *w, hdx_id id, hdx_named_ref *ref, hdx_id *holder, bool *found, hdx_error *err)
{
    hdx_graph *g = w->s->ask.g;
    hdx_code   code = HDX_OK;
    hdx_refs   refs;
    hdx_id     from;
    *found = false;
    if (hdx_graph_kind(g, id) == HDX_CLASS_OBJECT)
        return HDX_OK;
    hdx_graph_inbound(g, id, HDX_LIVE, &refs);
    for (unsigned n = 0; code == HDX_OK && !*found && n < REFERRERS_MOST && hdx_refs_next(&refs, &from); n++) {
        if (hdx_graph_kind(g, from) != HDX_CLASS_OBJECT || is_of_start(g, from))
            continue;
        code = named_reference(w, from, id, ref, found, err);
        *found = *found && ref->kind == HDX_REF_STATIC;
        *holder = from;
    }
    return code;
}

/* below: the object to which the field refers; HDX_NO_ID: the named object itself. */
static void put_static(words *w, hdx_id below, hdx_id holder, const char *name)
{
    hdx_buffer_text(&w->b, below == HDX_NO_ID ? " in the static " : " below the ");
    if (below != HDX_NO_ID) {
        put_class(&w->b, hdx_suspect_class(w->s->ask.g, below));
        hdx_buffer_text(&w->b, " in the static ");
    }
    put_text(&w->b, hdx_suspect_class(w->s->ask.g, holder));
    hdx_buffer_text(&w->b, ".");
    put_text(&w->b, (hdx_text){ name, (uint32_t)strlen(name) });
    w->holder = holder;
}

/* " in the field sessions of one acme.Shop", and the static field that refers to that object; below: indirectly. */
static hdx_code put_field(words *w, hdx_id holder, const char *name, bool below, hdx_error *err)
{
    hdx_named_ref ref;
    hdx_id        above = HDX_NO_ID;
    bool          found = false;
    hdx_buffer_text(&w->b, below ? " below the field " : " in the field ");
    put_text(&w->b, (hdx_text){ name, (uint32_t)strlen(name) });
    hdx_buffer_text(&w->b, " of ");
    hdx_code code = put_object(w, w->holder = w->in = holder, err);
    if (code == HDX_OK && (code = find_static(w, holder, &ref, &above, &found, err)) == HDX_OK && found)
        put_static(w, HDX_NO_ID, above, ref.name);
    return code;
}

/* Names a static field that refers to the object, or to one above it if only objects of the JDK are in between. */
static hdx_code put_static_above(words *w, bool *found, hdx_error *err)
{
    hdx_graph    *g = w->s->ask.g;
    hdx_named_ref ref;
    hdx_id        holder = HDX_NO_ID;
    hdx_code      code = HDX_OK;
    *found = false;
    for (uint64_t i = w->at + 1; code == HDX_OK && !*found && i-- > 0;) {
        if (i < w->at && !hdx_is_of_jdk(hdx_suspect_class(g, w->line[i])))
            break;
        if ((code = find_static(w, w->line[i], &ref, &holder, found, err)) == HDX_OK && *found)
            put_static(w, i == w->at ? HDX_NO_ID : w->line[i], holder, ref.name);
    }
    return code;
}

/* Names one step of the path: a static field, a local, or a field of an object that is not of the JDK. */
static hdx_code put_step(words *w, const hdx_id *step, bool direct, bool *done, hdx_error *err)
{
    hdx_graph     *g = w->s->ask.g;
    hdx_named_ref  ref;
    bool           found;
    const hdx_code code = named_reference(w, step[0], step[1], &ref, &found, err);
    if (code != HDX_OK || !found) { /* an object of the program is a limit: steps above it are not named instead */
        *done = !hdx_is_of_jdk(hdx_suspect_class(g, step[0]));
        return code;
    }
    if (ref.kind == HDX_REF_STATIC && !is_of_start(g, step[0])) {
        *done = true;
        put_static(w, direct ? HDX_NO_ID : step[1], step[0], ref.name);
    } else if (ref.kind == HDX_REF_LOCAL) {
        *done = true;
        hdx_buffer_text(&w->b, direct ? " in a local of " : " below a local of ");
        return put_thread(w, w->holder = step[0], err);
    } else if (ref.kind == HDX_REF_FIELD && !hdx_is_of_jdk(hdx_suspect_class(g, step[0]))) {
        *done = true;
        return put_field(w, step[0], ref.name, !direct, err);
    }
    return HDX_OK;
}

/*
 * " in the static A.B": a static field that leads to the object without other objects of the program in between;
 * otherwise the last object of the program on the path, and its field; otherwise the field of the JDK.
 */
static hdx_code put_where(words *w, hdx_error *err)
{
    hdx_suspects   *s = w->s;
    const hdx_path *p = hdx_suspect_path(s, w->of);
    hdx_named_ref   ref;
    bool            done = false, found = false;
    hdx_code        code = put_static_above(w, &done, err);
    const hdx_id   *step = p == NULL ? NULL : s->paths.steps.at + p->first;
    uint64_t        place = p == NULL ? 0 : p->count;
    while (place > 0 && step[place - 1] != w->what)
        place--;
    for (uint64_t i = place, n = 0; code == HDX_OK && !done && i > 1 && n < HDX_DROP_STEPS; i--, n++)
        code = put_step(w, &step[i - 2], i == place, &done, err);
    if (code != HDX_OK || done || place < 2 ||
        (code = named_reference(w, step[place - 2], step[place - 1], &ref, &found, err)) != HDX_OK || !found ||
        ref.kind != HDX_REF_FIELD)
        return code;
    return put_field(w, step[place - 2], ref.name, false, err);
}

/* ", 64 B of it in one byte[] of 39 elements" */
static void put_array(words *w, hdx_id id)
{
    hdx_graph            *g = w->s->ask.g;
    const hdx_object_kind kind = hdx_graph_kind(g, id);
    char                  human[16];
    if (kind != HDX_OBJECT_ARRAY && kind != HDX_PRIMITIVE_ARRAY)
        return;
    hdx_buffer_text(&w->b, ",");
    if (id != w->what) {
        hdx_human_size(hdx_graph_retained(g, id), human);
        hdx_buffer_format(&w->b, " %s of it in one ", human);
        put_class(&w->b, hdx_suspect_class(g, id));
    }
    hdx_buffer_text(&w->b, id != w->what ? " of " : " an array of ");
    put_count(&w->b, hdx_graph_length(g, id));
    hdx_buffer_text(&w->b, " elements");
}

/* ", 12,004 entries of byte[]" */
static hdx_code put_elements(words *w, bool *known, hdx_error *err)
{
    hdx_suspect_values e;
    const hdx_code     code = hdx_suspect_elements(w->s, w->what, &e, err);
    *known = code == HDX_OK && e.known;
    if (!*known)
        return code;
    hdx_buffer_text(&w->b, ", ");
    put_count(&w->b, e.count);
    hdx_buffer_text(&w->b, e.count == 1 ? " entry" : " entries");
    if (e.value.objects > 0) {
        hdx_buffer_text(&w->b, " of ");
        put_class_number(w, e.value.number);
    }
    return HDX_OK;
}

/* ", 12,004 entries of byte[]", ", 1.1 MB of it in 35 Class" */
static hdx_code put_accumulated(words *w, hdx_error *err)
{
    const hdx_suspect   *of = w->of;
    hdx_graph           *g = w->s->ask.g;
    const hdx_class_sum *top = &of->sums[0];
    char                 human[16];
    bool                 known = false;
    if (w->of_list)
        return HDX_OK;
    if (of->point != HDX_NO_ID && of->sum_count == 0) {
        put_array(w, of->point);
        return HDX_OK;
    }
    if (w->what != HDX_NO_ID && hdx_suspect_is_collection(w->s, w->what)) {
        const hdx_code code = put_elements(w, &known, err);
        if (code != HDX_OK || known)
            return code;
    }
    if (of->object != HDX_NO_ID && of->point == HDX_NO_ID) {
        hdx_buffer_text(&w->b, ", a chain of more than ");
        put_count(&w->b, HDX_DROP_STEPS);
        hdx_buffer_text(&w->b, " objects, the last of class ");
        put_class(&w->b, hdx_suspect_class(g, w->line[w->length - 1]));
        return HDX_OK;
    }
    if (of->sum_count == 0 || top->bytes == 0)
        return HDX_OK;
    hdx_human_size(top->bytes, human);
    hdx_buffer_format(&w->b, ", %s of it in ", human);
    put_count(&w->b, top->objects);
    hdx_buffer_text(&w->b, " ");
    put_class_number(w, top->number);
    return HDX_OK;
}

static const char *root_words(hdx_root_type type)
{
    const char *name = hdx_root_type_name(type);
    return hdx_root_type_words(name, strlen(name));
}

/*
 * Returns whether the JVM itself holds it, which explains nothing: a loader of the JDK, the class that started the
 * program.
 */
static bool is_of_jvm(hdx_graph *g, hdx_id id)
{
    return hdx_graph_kind(g, id) == HDX_CLASS_OBJECT
               ? is_of_start(g, id)
               : is_a(g, id, "java.lang.ClassLoader") && hdx_is_of_jdk(hdx_suspect_class(g, id));
}

/* ---- objects that share it ---- */

#define SHARERS_MOST 4096u /* referrers that are examined */

/* Returns whether the object dominates it within some steps, because such an object may refer back. */
static bool is_below(hdx_graph *g, hdx_id id, hdx_id object)
{
    for (unsigned i = 0; i < OWNER_STEPS && id != HDX_NO_ID && id < hdx_graph_objects(g); i++)
        if ((id = hdx_graph_dominator(g, id)) == object)
            return true;
    return false;
}

typedef struct sharers {
    uint64_t count, of_class; /* of_class: those of the class of the first */
    hdx_id   first;
} sharers;

static hdx_code find_sharers(words *w, sharers *out, hdx_error *err)
{
    hdx_graph *g = w->s->ask.g;
    hdx_refs   refs;
    hdx_id     id;
    hdx_code   code = HDX_OK;
    *out = (sharers){ .first = HDX_NO_ID };
    hdx_graph_inbound(g, w->of->object, HDX_LIVE, &refs);
    for (unsigned n = 0; code == HDX_OK && n < SHARERS_MOST && hdx_refs_next(&refs, &id); n++) {
        if (is_a(g, id, "java.lang.ref.Reference") || is_below(g, id, w->of->object) || is_of_start(g, id))
            continue;
        out->first = out->first == HDX_NO_ID ? id : out->first;
        out->count++;
        out->of_class += hdx_text_same(hdx_suspect_class(g, id), hdx_suspect_class(g, out->first));
        code = hdx_ask_check_cancel(&w->s->ask, err);
    }
    return code;
}

/* ", shared by 12 threads of acme.Worker": it would remain alive without any single one of these. */
static hdx_code put_shared(words *w, bool *shared, hdx_error *err)
{
    sharers s;
    *shared = false;
    if (w->of->object == HDX_NO_ID || w->of_list || hdx_graph_kind(w->s->ask.g, w->of->object) == HDX_CLASS_OBJECT ||
        is_a(w->s->ask.g, w->of->object, "java.lang.ClassLoader")) /* all of its classes refer to it */
        return HDX_OK;
    const hdx_code code = find_sharers(w, &s, err);
    if (code != HDX_OK || s.count < 2 ||
        (s.count == 2 && s.of_class < 2)) /* the sentence names two already: the location and the holder */
        return code;
    *shared = true;
    hdx_buffer_text(&w->b, ", shared by ");
    put_count(&w->b, s.count);
    if (s.of_class == s.count) {
        hdx_buffer_text(&w->b, is_thread(w->s->ask.g, s.first) ? " threads of " : " objects of ");
        put_class(&w->b, hdx_suspect_class(w->s->ask.g, s.first));
    } else {
        hdx_buffer_text(&w->b, " objects, including ");
        return put_object(w, s.first, err);
    }
    return HDX_OK;
}

/* ", held by thread "clerk"": the root of its path, unless it is the suspect or already named. */
static hdx_code put_held(words *w, hdx_error *err)
{
    hdx_suspects   *s = w->s;
    const hdx_path *p = hdx_suspect_path(s, w->of);
    hdx_root        root;
    uint64_t        count = 0;
    if (p == NULL)
        return HDX_OK;
    const hdx_id id = s->paths.steps.at[p->first];
    if (w->of->only_weak) {
        hdx_buffer_text(&w->b, ", held only by weak, soft or phantom references");
        return HDX_OK;
    }
    if (id == w->holder || id == w->in || id == w->what || id == w->of->object) {
        if (id != w->what || is_thread(s->ask.g, id) || hdx_graph_kind(s->ask.g, id) == HDX_CLASS_OBJECT)
            return HDX_OK;
        const hdx_code code = hdx_graph_roots_of(s->ask.g, id, &root, 1, &count, err);
        if (code == HDX_OK && count > 0)
            hdx_buffer_format(&w->b, ", itself a GC root (%s)", root_words(root.type));
        return code;
    }
    if (is_of_jvm(s->ask.g, id))
        return HDX_OK;
    hdx_buffer_text(&w->b, ", held by ");
    return put_object(w, id, err);
}

static void put_look(words *w)
{
    const hdx_frame *f = frame_of(w->s, w->of);
    if (f == NULL)
        return;
    hdx_buffer_text(&w->b, "; look at ");
    put_text(&w->b, f->class_name);
    hdx_buffer_text(&w->b, ".");
    put_text(&w->b, f->method);
    if (f->source.len == 0)
        return;
    hdx_buffer_text(&w->b, " (");
    put_text(&w->b, f->source);
    if (f->line > 0)
        hdx_buffer_format(&w->b, ":%d", f->line);
    hdx_buffer_text(&w->b, ")");
}

/* " of the 2.1 MB of one acme.Shop"; for the same size, and an object of the program: ", below one acme.Shop," */
static hdx_code put_suspect(words *w, bool same_size, hdx_error *err)
{
    hdx_graph   *g = w->s->ask.g;
    const hdx_id id = w->of->object;
    char         human[16];
    const bool   named_before = id == w->holder || id == w->in;
    if (id == w->what || (same_size && (named_before || hdx_is_of_jdk(hdx_suspect_class(g, id)))) ||
        (!same_size && named_before && id != w->in))
        return HDX_OK;
    hdx_human_size(w->of->bytes, human);
    if (same_size)
        hdx_buffer_text(&w->b, ", below ");
    else
        hdx_buffer_format(&w->b, " of the %s of ", human);
    const hdx_code code = put_object(w, id, err);
    hdx_buffer_text(&w->b, same_size ? "," : "");
    return code;
}

static hdx_code describe_object(words *w, hdx_error *err)
{
    hdx_graph     *g = w->s->ask.g;
    const uint64_t bytes = hdx_graph_retained(g, w->what);
    char           all[16], human[16];
    hdx_code       code = put_object(w, w->what, err);
    hdx_human_size(bytes, all);
    hdx_human_size(w->of->bytes, human);
    const bool same_size = strcmp(all, human) == 0;
    if (code == HDX_OK && hdx_graph_kind(g, w->what) != HDX_CLASS_OBJECT && !is_thread(g, w->what))
        code = put_where(w, err);
    if (code == HDX_OK && same_size)
        code = put_suspect(w, true, err);
    if (code != HDX_OK)
        return code;
    hdx_buffer_text(&w->b, " retains ");
    put_size(w, bytes);
    if (!same_size)
        code = put_suspect(w, false, err);
    return code == HDX_OK ? put_accumulated(w, err) : code;
}

/* A group without a point has several causes; refers to the question that shows them. */
static void put_next(words *w)
{
    const hdx_class *c = hdx_graph_class(w->s->ask.g, w->of->number);
    hdx_buffer_text(&w->b, "; no single object holds most of them, see ");
    if (c != NULL && hdx_text_is(c->name, "java.lang.Class"))
        hdx_buffer_text(&w->b, "loaders");
    else if (c != NULL && hdx_text_is(c->name, "java.lang.ThreadLocal$ThreadLocalMap$Entry"))
        hdx_buffer_text(&w->b, "thread-locals");
    else
        hdx_buffer_text(&w->b, "path --merge");
}

static hdx_code describe_group(words *w, hdx_error *err)
{
    hdx_code code = HDX_OK;
    put_count(&w->b, w->of->objects);
    if (hdx_graph_class(w->s->ask.g, w->of->number) == hdx_graph_class_named(w->s->ask.g, "java.lang.Class")) {
        hdx_buffer_text(&w->b, w->of->objects == 1 ? " class" : " classes");
    } else {
        hdx_buffer_text(&w->b, w->of->objects == 1 ? " object of " : " objects of ");
        put_class_number(w, w->of->number);
    }
    hdx_buffer_text(&w->b, w->of->objects == 1 ? " retains " : " together retain ");
    put_size(w, w->of->bytes);
    if (w->of->point == HDX_NO_ID) {
        if ((code = put_accumulated(w, err)) == HDX_OK)
            put_next(w);
        return code;
    }
    hdx_buffer_text(&w->b, ", most of them through ");
    code = put_object(w, w->what, err);
    return code == HDX_OK ? put_where(w, err) : code;
}

hdx_code hdx_suspect_sentence(hdx_suspects *s, const hdx_suspect *of, hdx_arena *arena, hdx_cell *out, hdx_error *err)
{
    const hdx_path *p = hdx_suspect_path(s, of);
    words           w = { .s = s, .of = of, .arena = arena, .holder = HDX_NO_ID, .in = HDX_NO_ID };
    hdx_code        code = HDX_OK;
    bool            shared = false;
    w.b = hdx_buffer_of(s->ask.q.mem);
    w.what = HDX_NO_ID;
    w.line = of->object != HDX_NO_ID ? of->chain.at : p != NULL ? s->paths.steps.at + p->first : NULL;
    w.length = of->object != HDX_NO_ID ? of->chain.count : p != NULL ? p->count : 0;
    if (w.length > 0)
        find_named_object(&w);
    code = of->object != HDX_NO_ID ? describe_object(&w, err) : describe_group(&w, err);
    if (code == HDX_OK)
        code = put_shared(&w, &shared, err);
    if (code == HDX_OK && (!shared || of->only_weak))
        code = put_held(&w, err);
    if (code == HDX_OK)
        put_look(&w);
    char *text = code != HDX_OK || w.b.failed ? NULL : hdx_arena_copy(arena, w.b.at, w.b.len);
    if (code == HDX_OK && text == NULL)
        code = hdx_no_memory(err, "a sentence", w.b.len);
    else if (code == HDX_OK)
        *out = hdx_cell_text((hdx_text){ text, (uint32_t)w.b.len });
    hdx_buffer_free(&w.b);
    return code;
}
