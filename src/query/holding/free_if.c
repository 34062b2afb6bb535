/*
 * free_if.c - what would be free without the references of some classes, fields, loaders, objects or types of GC roots,
 * all of them together, by class.
 *
 * The objects whose references are removed remain if something else leads to them; `retained` removes the objects
 * themselves. References that every object has always remain: that of an object to its class, those of a class to its
 * superclass and to its loader.
 *
 *   --class    instances of the classes, and their statics
 *   --field    only that field, instance or static; an object to which another field or element of the same
 *              holder refers remains reachable (names are read from the dump)
 *   --loader   the loader, and all of its classes as with --class
 *   --roots    roots of these types; an object that is also a root of another type, or a local to which a field of its
 *              thread also refers, remains
 *
 * Soft and weak references count like others here. The totals show their share: bytes that would be free and are only
 * softly or weakly reachable already, and bytes that only such references would keep alive.
 *
 * Exact: objects that the GC roots reach, and do not reach without these references (mark.c).
 * Cost: that search, twice, and that of strength.c. For --field: the fields of each object that has the field and keeps
 * other references (cut_fields.c), two bits per object and some bits for each of those. For locals and statics: a
 * record of the dump.
 */
#include "base/nearest.h"
#include "graph/graph.h"
#include "query/holding/holding.h"
#include "query/runtime/loaders.h"
#include "query/runtime/strength.h"
#include "query/sets/exclude.h"
#include "query/sets/cut_fields.h"

#include <stdio.h>
#include <stdlib.h>

/* names of hdx_root_type, in its order */
#define ROOT_TYPES                                                                                                     \
    "SYSTEM_CLASS NATIVE_LOCAL NATIVE_STATIC NATIVE_STACK THREAD_BLOCK THREAD_OBJ BUSY_MONITOR JAVA_LOCAL UNKNOWN "    \
    "INTERNED_STRING FINALIZING DEBUGGER REFERENCE_CLEANUP VM_INTERNAL JNI_MONITOR UNREACHABLE"
#define OF_LOCALS (1u << HDX_ROOT_NATIVE_LOCAL | 1u << HDX_ROOT_NATIVE_STACK | 1u << HDX_ROOT_JAVA_LOCAL)

typedef struct removal {
    hdx_ask      ask;
    uint32_t     classes;
    uint64_t     objects, words;
    uint64_t    *ignored_classes; /* bits by class number: references of their instances and statics are ignored */
    uint64_t    *ignored;         /* bits by id: objects whose references are ignored */
    uint64_t    *checked;         /* these, objects with a matching field, and threads with ignored locals */
    hdx_excludes fields;
    unsigned     no_roots; /* bit t: roots of that hdx_root_type are ignored */

    /* Live instances that lose some of their references (HDX_CUT_SOME), and which ones. */
    hdx_cut_fields   cuts;
    uint64_t        *masked; /* bits by id */
    uint64_t        *before; /* number of them before each GROUP of ids */
    uint64_t         groups;
    uint64_t        *masks; /* cuts.most bits for each of them, in id order; NULL: the search reads their records */
    uint64_t         mask_words;
    _Atomic uint64_t next; /* the next object for a worker */
    hdx_first_error  fault;
} removal;
#define GROUP 512u

/* ---- remaining references of an object ---- */

static hdx_code follow_ignored(const removal *t, hdx_id from, hdx_code (*reach)(void *, hdx_id), void *reached)
{
    const hdx_class *of = hdx_graph_class(t->ask.g, hdx_graph_class_of(t->ask.g, from));
    const hdx_class *own = hdx_graph_class_object(t->ask.g, from);
    hdx_code         code = HDX_OK;
    hdx_refs         refs;
    hdx_id           to;
    if (own == NULL)
        return of == NULL ? HDX_OK : reach(reached, of->id);
    hdx_graph_outbound(t->ask.g, from, HDX_ALL, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to)) {
        const hdx_addr address = hdx_graph_address(t->ask.g, to);
        if ((of != NULL && of->id == to) || address == own->super_address || address == own->loader)
            code = reach(reached, to);
    }
    return code;
}

/* Returns the index of an object among those that have a mask. */
static uint64_t rank(const removal *t, hdx_id id)
{
    uint64_t n = t->before[id / GROUP];
    for (uint64_t w = id / GROUP * (GROUP / 64); w < id / 64; w++)
        n += (uint64_t)__builtin_popcountll(t->masked[w]);
    return n + (uint64_t)__builtin_popcountll(t->masked[id / 64] & ((1ull << id % 64) - 1));
}

static uint64_t mask_of(const removal *t, hdx_id id)
{
    const uint64_t bit = rank(t, id) * t->cuts.most;
    const unsigned from = bit % 64, width = t->cuts.most;
    uint64_t       mask = t->masks[bit / 64] >> from;
    if (from + width > 64)
        mask |= t->masks[bit / 64 + 1] << (64 - from);
    return width == 64 ? mask : mask & ((1ull << width) - 1);
}

static hdx_code follow_masked(const removal *t, hdx_id from, hdx_code (*reach)(void *, hdx_id), void *reached)
{
    const uint64_t mask = mask_of(t, from);
    hdx_code       code = HDX_OK;
    hdx_refs       refs;
    hdx_id         to;
    hdx_graph_outbound(t->ask.g, from, HDX_ALL, &refs);
    if (hdx_refs_next(&refs, &to)) /* the class */
        code = reach(reached, to);
    for (unsigned k = 0; code == HDX_OK && hdx_refs_next(&refs, &to); k++)
        if (k >= t->cuts.most || (mask >> k & 1) == 0)
            code = reach(reached, to);
    return code;
}

typedef struct leaving {
    const removal *t;
    hdx_id         from;
    uint64_t       rules;
    hdx_code (*reach)(void *, hdx_id);
    void    *reached;
    hdx_code code;
} leaving;

/* Returns whether all roots by which the object is a local of the thread are ignored. */
static bool is_ignored_local(const removal *t, hdx_id object, hdx_id thread)
{
    uint64_t        count = 0, low = 0;
    const hdx_root *roots = hdx_graph_roots(t->ask.g, &count);
    for (uint64_t high = count; low < high;) { /* roots are sorted by object */
        const uint64_t middle = low + (high - low) / 2;
        if (roots[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count && roots[low].object == object; low++)
        if (roots[low].thread == thread && (t->no_roots >> roots[low].type & 1) == 0)
            return false;
    return true;
}

static bool add_class(void *context, const hdx_named_ref *ref)
{
    leaving *l = context;
    if (ref->kind == HDX_REF_SIGNERS || ref->kind == HDX_REF_DOMAIN) /* MAT has no such references (MAT 3.3) */
        return true;
    if (ref->kind != HDX_REF_CLASS && hdx_excludes_ref(&l->t->fields, l->rules, ref))
        return true;
    if (ref->kind == HDX_REF_LOCAL && (l->t->no_roots & OF_LOCALS) != 0 && is_ignored_local(l->t, ref->target, l->from))
        return true;
    l->code = l->reach(l->reached, ref->target);
    return l->code == HDX_OK;
}

static hdx_code follow_checked(void *context, hdx_id from, hdx_code (*reach)(void *, hdx_id), void *reached,
                               hdx_error *err)
{
    const removal *t = context;
    leaving        l = { t, from, 0, reach, reached, HDX_OK };
    if (hdx_bits_test(t->ignored, from))
        return follow_ignored(t, from, reach, reached);
    if (t->masked != NULL && hdx_bits_test(t->masked, from))
        return follow_masked(t, from, reach, reached);
    l.rules = hdx_excludes_rules(&t->fields, from);
    const hdx_code code = hdx_graph_named_refs(t->ask.g, from, HDX_NO_ID, add_class, &l, err);
    return code != HDX_OK ? code : l.code;
}

/* ---- ignored references ---- */

static hdx_code ignore_classes(removal *t, const hdx_arguments *a, hdx_arena *arena, hdx_error *err)
{
    const char *const *patterns;
    size_t             count = 0;
    hdx_code           code = hdx_argument_texts(a, "class", arena, &patterns, &count, err);
    for (size_t p = 0; code == HDX_OK && p < count; p++) {
        uint32_t *numbers = NULL;
        size_t    n = 0;
        code = hdx_query_classes_named(&t->ask.q, patterns[p], hdx_argument_flag(a, "subclasses"), &numbers, &n, err);
        for (size_t i = 0; code == HDX_OK && i < n; i++)
            hdx_bits_put(t->ignored_classes, numbers[i]);
        hdx_numbers_free(numbers);
    }
    return code;
}

static hdx_code ignore_objects(removal *t, const hdx_arguments *a, hdx_error *err)
{
    hdx_id  *ids = NULL;
    size_t   count = 0;
    hdx_code code = hdx_argument_objects(&t->ask.q, a, &ids, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++)
        hdx_bits_put(t->ignored, ids[i]);
    hdx_ids_free(ids);
    return code;
}

/* A misspelt field must be an error, because otherwise it would look like a field that keeps nothing alive. */
static hdx_code check_field(const removal *t, const char *text, hdx_error *err)
{
    const char *field = strrchr(text, '#') + 1;
    char        pattern[512], room[128] = "";
    uint32_t   *numbers = NULL;
    size_t      count = 0;
    hdx_nearest near = { .wanted = field };
    bool        known = strpbrk(field, "*?[<") != NULL;
    (void)snprintf(pattern, sizeof pattern, "%.*s", (int)(field - 1 - text), text);
    hdx_code code = hdx_query_classes_named(&t->ask.q, pattern, true, &numbers, &count, err);
    for (size_t i = 0; code == HDX_OK && !known && i < count; i++) {
        const hdx_class *c = hdx_graph_class(t->ask.g, numbers[i]);
        for (uint32_t steps = 0; !known && c != NULL && steps <= t->classes; steps++) {
            known = hdx_has_field(c, field, &near, room, sizeof room);
            c = c->super == HDX_NO_CLASS ? NULL : hdx_graph_class(t->ask.g, c->super);
        }
    }
    hdx_numbers_free(numbers);
    if (code != HDX_OK || known)
        return code;
    code = hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "%.100s does not have a field '%.60s'", pattern, field);
    return near.best == NULL ? code : hdx_hint(err, code, "did you mean %.100s#%.60s?", pattern, near.best);
}

static hdx_code take_fields(removal *t, const hdx_arguments *a, hdx_arena *arena, hdx_error *err)
{
    hdx_path_options options = { .exclude = 0 };
    hdx_code code = hdx_argument_texts(a, "field", arena, &options.exclude_fields, &options.exclude_field_count, err);
    for (size_t i = 0; code == HDX_OK && i < options.exclude_field_count; i++) {
        const char *mark = strrchr(options.exclude_fields[i], '#');
        if (mark == NULL || mark == options.exclude_fields[i] || mark[1] == '\0')
            code = hdx_fail(err, HDX_USAGE, "", HDX_NOWHERE, "%.100s does not have the form CLASS#FIELD",
                            options.exclude_fields[i]);
        else
            code = check_field(t, options.exclude_fields[i], err);
    }
    return code == HDX_OK ? hdx_excludes_open(&t->ask.q, &options, &t->fields, err) : code;
}

/* ---- loaders ---- */

/* Returns whether `wanted` is the loader's whole name, the part of it in quotes, or its class. */
static bool is_called(hdx_text name, const char *wanted)
{
    const size_t len = strlen(wanted);
    const char  *quote = memchr(name.at, '"', name.len);
    if (hdx_text_is(name, wanted))
        return true;
    if (quote == NULL) /* "CLASS 0x7f3a10", "boot loader" */
        return name.len > len + 3 && memcmp(name.at, wanted, len) == 0 && memcmp(name.at + len, " 0x", 3) == 0;
    const size_t before = (size_t)(quote - name.at), inner = name.len - before - 1;
    return (before == len + 1 && memcmp(name.at, wanted, len) == 0) ||
           (inner == len + 1 && memcmp(quote + 1, wanted, len) == 0);
}

static hdx_code ignore_loader(removal *t, hdx_addr address, bool *any, hdx_error *err)
{
    hdx_id           id;
    const hdx_class *all = hdx_graph_classes(t->ask.g, &(uint32_t){ 0 });
    for (uint32_t c = 0; c < t->classes; c++)
        if (all[c].loader == address) {
            hdx_bits_put(t->ignored_classes, c);
            *any = true;
        }
    if (*any && hdx_graph_find(t->ask.g, address, &id))
        hdx_bits_put(t->ignored, id);
    return hdx_ask_check_cancel(&t->ask, err);
}

static hdx_code loader_named(removal *t, const char *name, hdx_error *err)
{
    hdx_arena        arena = hdx_arena_of(t->ask.q.mem);
    hdx_map          known = hdx_map_of(t->ask.q.mem);
    hdx_nearest      near = { .wanted = name };
    const hdx_class *all = hdx_graph_classes(t->ask.g, &(uint32_t){ 0 });
    bool             any = false;
    hdx_code         code = HDX_OK;
    for (uint32_t c = 0; code == HDX_OK && c < t->classes; c++) {
        hdx_cell cell;
        bool     fresh = false;
        if (hdx_map_put(&known, all[c].loader, &fresh) == NULL)
            code = hdx_no_memory(err, "class loaders", known.count);
        if (!fresh || code != HDX_OK ||
            (code = hdx_loader_cell(&t->ask.q, all[c].loader, &arena, &cell, err)) != HDX_OK)
            continue;
        if (is_called(cell.as.text, name))
            code = ignore_loader(t, all[c].loader, &any, err);
        const char *copy = hdx_arena_copy(&arena, cell.as.text.at, cell.as.text.len);
        const char *quote = copy == NULL ? NULL : strchr(copy, '"');
        if (copy != NULL)
            hdx_nearest_offer(&near, copy);
        if (quote != NULL && quote[1] != '\0') {
            char *inner = hdx_arena_copy(&arena, quote + 1, strlen(quote) - 2);
            if (inner != NULL)
                hdx_nearest_offer(&near, inner);
        }
        if (code == HDX_OK && arena.refused)
            code = hdx_no_memory(err, "names of class loaders", arena.size);
    }
    if (code != HDX_OK || any)
        return code;
    code = hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "no class loader is called %.100s", name);
    return near.best != NULL ? hdx_hint(err, code, "did you mean %.150s?", near.best)
                             : hdx_hint(err, code, "heapdex histogram DUMP --by loader lists class loaders");
}

static hdx_code ignore_loaders(removal *t, const hdx_arguments *a, hdx_arena *arena, hdx_error *err)
{
    const char *const *names;
    size_t             count = 0;
    hdx_code           code = hdx_argument_texts(a, "loader", arena, &names, &count, err);
    for (size_t i = 0; code == HDX_OK && i < count; i++) {
        hdx_id   *ids = NULL;
        size_t    n = 0;
        bool      any = false;
        hdx_error mine;
        code = hdx_query_objects_named(&t->ask.q, &names[i], 1, &ids, &n, &mine);
        if (code == HDX_USAGE) { /* not an object: the name of a loader */
            code = loader_named(t, names[i], err);
        } else if (code != HDX_OK) {
            *err = mine;
        } else {
            for (size_t k = 0; code == HDX_OK && k < n; k++)
                code = ignore_loader(t, hdx_graph_address(t->ask.g, ids[k]), &any, err);
            if (code == HDX_OK && !any)
                code = hdx_fail(err, HDX_NOT_FOUND, "", HDX_NOWHERE, "class loader %.100s has not defined a class",
                                names[i]);
        }
        hdx_ids_free(ids);
    }
    return code;
}

/* ---- objects whose references are checked ---- */

/* Sets a bit for each object of these classes, and for their class objects. */
static hdx_code mark_checked(removal *t, hdx_error *err)
{
    const hdx_class *all = hdx_graph_classes(t->ask.g, &(uint32_t){ 0 });
    hdx_code         code = HDX_OK;
    for (uint32_t c = 0; c < t->classes; c++) {
        if (all[c].id >= t->objects)
            continue;
        if (hdx_bits_test(t->ignored_classes, c))
            hdx_bits_put(t->ignored, all[c].id);
        else if (t->fields.count > 0 && t->fields.of_class[c] != 0)
            hdx_bits_put(t->checked, all[c].id);
    }
    for (hdx_id first = 0; code == HDX_OK && first < t->objects; first += HDX_RUN) {
        uint32_t       classes[HDX_RUN];
        const uint32_t n = (uint32_t)(t->objects - first < HDX_RUN ? t->objects - first : HDX_RUN);
        hdx_graph_read_classes(t->ask.g, first, n, classes);
        for (uint32_t i = 0; i < n; i++) {
            if (classes[i] >= t->classes)
                continue;
            const unsigned way =
                t->fields.count > 0 && t->fields.of_class[classes[i]] != 0 ? t->cuts.way[classes[i]] : HDX_CUT_NOTHING;
            if (hdx_bits_test(t->ignored_classes, classes[i]) || way == HDX_CUT_ALL)
                hdx_bits_put(t->ignored, first + i);
            if (way != HDX_CUT_NOTHING)
                hdx_bits_put(t->checked, first + i);
        }
        if ((first / HDX_RUN & 255) == 255)
            code = hdx_ask_stopped(&t->ask.q, err);
    }
    for (uint64_t w = 0; w < t->words; w++)
        t->checked[w] |= t->ignored[w];
    return code;
}

/* ---- fields of many objects ---- */

static void put_mask(removal *t, uint64_t place, uint64_t mask)
{
    const uint64_t bit = place * t->cuts.most;
    const unsigned from = bit % 64;
    if (mask == 0)
        return;
    (void)__atomic_fetch_or(&t->masks[bit / 64], mask << from, __ATOMIC_RELAXED); /* workers share words */
    if (from + t->cuts.most > 64)
        (void)__atomic_fetch_or(&t->masks[bit / 64 + 1], mask >> (64 - from), __ATOMIC_RELAXED);
}

static hdx_code read_batch(removal *t, hdx_cut_reader *r, const hdx_id *ids, size_t n, hdx_error *err)
{
    uint64_t masks[HDX_RUN];
    hdx_code code = n == 0 ? HDX_OK : hdx_ask_stopped(&t->ask.q, err);
    if (code == HDX_OK && n > 0 && (code = hdx_cut_reader_read(r, ids, n, masks, err)) == HDX_OK)
        for (size_t i = 0, place = rank(t, ids[0]); i < n; i++) /* no other of them is in between */
            put_mask(t, place + i, masks[i]);
    return code;
}

#define PIECE (256u * HDX_RUN) /* a compressed dump is inflated once per piece */
static void read_pieces(void *context, unsigned worker)
{
    removal       *t = context;
    hdx_cut_reader r = { .c = NULL };
    hdx_id         ids[HDX_RUN];
    uint64_t       at;
    hdx_error      err = { .offset = HDX_NOWHERE };
    hdx_code       code = hdx_cut_reader_open(&t->cuts, &r, &err);
    (void)worker;
    while (code == HDX_OK && !hdx_first_error_any(&t->fault) && (at = atomic_fetch_add(&t->next, PIECE)) < t->objects) {
        size_t n = 0;
        for (uint64_t w = at / 64; code == HDX_OK && w < hdx_least(at + PIECE, t->words * 64) / 64; w++) {
            for (uint64_t bits = t->masked[w]; bits != 0; bits &= bits - 1)
                ids[n++] = w * 64 + (uint64_t)__builtin_ctzll(bits);
            if (n > HDX_RUN - 64) {
                code = read_batch(t, &r, ids, n, &err);
                n = 0;
            }
        }
        if (code == HDX_OK)
            code = read_batch(t, &r, ids, n, &err);
    }
    hdx_first_error_put(&t->fault, code, &err);
    hdx_cut_reader_close(&r);
}

static void drop_masks(removal *t)
{
    hdx_mem_put(t->ask.q.mem, t->masked, t->words * sizeof *t->masked);
    hdx_mem_put(t->ask.q.mem, t->before, t->groups * sizeof *t->before);
    hdx_mem_put(t->ask.q.mem, t->masks, t->mask_words * sizeof *t->masks);
    t->masked = t->before = t->masks = NULL;
}

/* Sets and counts the bits of those that are live. */
static hdx_code find_some(removal *t, uint64_t *count, hdx_error *err)
{
    hdx_code code = HDX_OK;
    *count = 0;
    for (hdx_id first = 0; code == HDX_OK && first < t->objects; first += HDX_RUN) {
        uint32_t       classes[HDX_RUN];
        uint64_t       live[HDX_RUN / 64];
        const uint32_t n = (uint32_t)hdx_least(t->objects - first, HDX_RUN);
        hdx_graph_read_classes(t->ask.g, first, n, classes);
        hdx_graph_read_live(t->ask.g, first, n, live);
        for (uint32_t i = 0; i < n; i++) {
            if ((first + i) % GROUP == 0)
                t->before[(first + i) / GROUP] = *count;
            if (classes[i] < t->classes && t->fields.of_class[classes[i]] != 0 &&
                t->cuts.way[classes[i]] == HDX_CUT_SOME && hdx_bits_test(live, i) &&
                !hdx_bits_test(t->ignored, first + i)) {
                hdx_bits_put(t->masked, first + i);
                ++*count;
            }
        }
        if ((first / HDX_RUN & 255) == 255)
            code = hdx_ask_stopped(&t->ask.q, err);
    }
    return code;
}

/*
 * Reads which references instances lose, in dump order before the search, because the search would read them in random
 * order. Without enough memory the search reads each record itself.
 */
static hdx_code read_masks(removal *t, hdx_error *err)
{
    uint64_t count, bits;
    if (t->fields.count == 0 || t->cuts.most == 0)
        return HDX_OK;
    t->groups = t->objects / GROUP + 1;
    t->masked = hdx_mem_array(t->ask.q.mem, t->words, sizeof *t->masked);
    t->before = hdx_mem_array(t->ask.q.mem, t->groups, sizeof *t->before);
    if (t->masked == NULL || t->before == NULL) {
        drop_masks(t);
        return HDX_OK;
    }
    hdx_code code = find_some(t, &count, err);
    if (code != HDX_OK || count == 0)
        return code;
    if (hdx_mul(count, t->cuts.most, &bits)) {
        t->mask_words = bits / 64 + 2;
        t->masks = hdx_mem_array(t->ask.q.mem, t->mask_words, sizeof *t->masks);
    }
    if (t->masks == NULL) {
        drop_masks(t);
        return HDX_OK;
    }
    hdx_workers_run(hdx_ask_threads(&t->ask.q), read_pieces, t);
    return hdx_first_error_take(&t->fault, err);
}

/* Ignores the roots of the given types; reports types that the dump does not have, because they change nothing. */
static void take_roots(removal *t, const hdx_arguments *a)
{
    uint64_t        count = 0, threads = 0;
    const hdx_root *roots = hdx_graph_roots(t->ask.g, &count);
    unsigned        there = 0;
    char            line[120];
    t->no_roots = hdx_argument_choices(a, "roots");
    for (uint64_t i = 0; roots != NULL && i < count; i++)
        there |= 1u << roots[i].type;
    for (unsigned type = 0; t->ask.q.notice != NULL && type < HDX_ROOT_TYPES; type++)
        if ((t->no_roots & ~there) >> type & 1) {
            (void)snprintf(line, sizeof line, "no GC root has the type %s", hdx_root_type_name((hdx_root_type)type));
            t->ask.q.notice(t->ask.q.notice_context, line);
        }
    const hdx_thread *at = hdx_graph_threads(t->ask.g, &threads);
    for (uint64_t i = 0; (t->no_roots & OF_LOCALS) != 0 && at != NULL && i < threads; i++)
        if (at[i].object < t->objects)
            hdx_bits_put(t->checked, at[i].object);
}

static hdx_code removal_open(const hdx_query *q, const hdx_arguments *a, removal *t, hdx_error *err)
{
    hdx_arena arena = hdx_arena_of(q->mem);
    hdx_code  code = hdx_ask_begin(q, &t->ask, err);
    if (code != HDX_OK)
        return code;
    (void)hdx_graph_classes(q->graph, &t->classes);
    t->objects = hdx_graph_objects(q->graph);
    t->words = hdx_bits_words(t->objects);
    t->ignored_classes = hdx_mem_array(q->mem, hdx_bits_words(t->classes), sizeof *t->ignored_classes);
    t->ignored = hdx_mem_array(q->mem, t->words, sizeof *t->ignored);
    t->checked = hdx_mem_array(q->mem, t->words, sizeof *t->checked);
    if (t->ignored_classes == NULL || t->ignored == NULL || t->checked == NULL)
        return hdx_no_memory(err, "ignored objects", 2 * t->words * sizeof *t->ignored);
    if ((code = ignore_classes(t, a, &arena, err)) == HDX_OK && (code = ignore_objects(t, a, err)) == HDX_OK &&
        (code = take_fields(t, a, &arena, err)) == HDX_OK && (code = ignore_loaders(t, a, &arena, err)) == HDX_OK) {
        take_roots(t, a);
        if ((t->fields.count == 0 || (code = hdx_cut_fields_open(&t->ask, &t->fields, &t->cuts, err)) == HDX_OK) &&
            (code = mark_checked(t, err)) == HDX_OK)
            code = read_masks(t, err);
    }
    return code;
}

/* ---- share of soft and weak references ---- */

/* Repeats the search with referents of soft and weak references ignored, too. */
typedef struct strongly {
    const removal       *t;
    const hdx_strengths *strengths;
    const uint64_t      *checked; /* of the first search */
} strongly;

typedef struct but_for {
    hdx_id referent;
    hdx_code (*reach)(void *, hdx_id);
    void *reached;
} but_for;

static hdx_code reach_others(void *context, hdx_id to)
{
    const but_for *b = context;
    return to == b->referent ? HDX_OK : b->reach(b->reached, to);
}

static bool is_weak(hdx_strength kind) { return kind == HDX_SOFT || kind == HDX_WEAK; }

static hdx_code follow_strong(void *context, hdx_id from, hdx_code (*reach)(void *, hdx_id), void *reached,
                              hdx_error *err)
{
    const strongly      *s = context;
    const uint64_t      *place = hdx_map_get(&s->strengths->places, from);
    const hdx_reference *r = place == NULL ? NULL : &s->strengths->at[*place];
    but_for              b = { r != NULL && is_weak(r->kind) && !r->also ? r->referent : HDX_NO_ID, reach, reached };
    hdx_code             code = HDX_OK;
    hdx_refs             refs;
    hdx_id               to;
    if (hdx_bits_test(s->checked, from))
        return follow_checked((void *)(uintptr_t)s->t, from, reach_others, &b, err);
    hdx_graph_outbound(s->t->ask.g, from, HDX_ALL, &refs);
    while (code == HDX_OK && hdx_refs_next(&refs, &to))
        code = reach_others(&b, to);
    return code;
}

/* seen: objects that remain reachable; then: those that remain so without soft and weak references. */
static hdx_code compare_reached(removal *t, const hdx_strengths *s, const uint64_t *seen, uint64_t *then,
                                hdx_gone *gone, hdx_error *err)
{
    hdx_code code = HDX_OK;
    /* only softly or weakly reachable today: not kept alive by them alone in the new state */
    for (uint64_t i = 0; i < s->weak.count; i++) {
        const hdx_id id = s->weak.at[i].id;
        if (is_weak(s->weak.at[i].strength) && !hdx_bits_test(seen, id))
            gone->weakly += hdx_graph_shallow(t->ask.g, id);
        hdx_bits_put(then, id);
    }
    for (uint64_t w = 0; code == HDX_OK && w < t->words; w++) {
        for (uint64_t bits = seen[w] & ~then[w]; bits != 0; bits &= bits - 1)
            gone->but_for_weak += hdx_graph_shallow(t->ask.g, w * 64 + (uint64_t)__builtin_ctzll(bits));
        if ((w & 0xffff) == 0)
            code = hdx_ask_stopped(&t->ask.q, err);
    }
    return code;
}

static hdx_code search_without_weak(removal *t, const uint64_t *seen, hdx_gone *gone, hdx_error *err)
{
    hdx_strengths s = { .count = 0 };
    hdx_code      code = hdx_strengths_open(&t->ask, &s, err);
    if (code != HDX_OK || (gone->of_weak = s.unknown == 0) == false || s.count == 0)
        return code;
    uint64_t *then = hdx_mem_array(t->ask.q.mem, t->words, sizeof *then),
             *checked = hdx_mem_array(t->ask.q.mem, t->words, sizeof *checked);
    const strongly how = { t, &s, t->checked };
    if (then == NULL || checked == NULL)
        return hdx_no_memory(err, "marking", 2 * t->words * sizeof *then);
    memcpy(checked, t->checked, t->words * sizeof *checked);
    for (uint64_t i = 0; i < s.count; i++)
        if (is_weak(s.at[i].kind) && s.at[i].referent != HDX_NO_ID)
            hdx_bits_put(checked, s.at[i].id);
    const hdx_marking marking = {
        .no_roots = t->no_roots, .checked = checked, .follow = follow_strong, .context = (void *)(uintptr_t)&how
    };
    code = hdx_mark_as(&t->ask.q, &marking, then, err);
    return code == HDX_OK ? compare_reached(t, &s, seen, then, gone, err) : code;
}

/* Does not mention less than a tenth of the answer. */
static void add_weak_note(const hdx_gone *s, char *line, size_t size)
{
    static const char view[] = "heapdex index DUMP --view strong='-refs:soft,weak', then --view strong:\nthe heap "
                               "without soft and weak references";
    char              weakly[16], kept[16];
    const bool        of = s->weakly > 0 && s->weakly >= s->bytes / 10, more = s->but_for_weak > s->bytes / 10;
    hdx_human_size(s->weakly, weakly);
    hdx_human_size(s->but_for_weak, kept);
    const size_t at = strlen(line);
    if (of || more)
        (void)snprintf(line + at, size - at, "%s%s%s%s%s\n%s", of ? "\nsoft or weak references alone hold " : "",
                       of ? weakly : "", of ? " of it already" : "",
                       more ? "\nsoft or weak references alone would still hold another " : "", more ? kept : "", view);
}

static hdx_code find_gone(removal *t, hdx_gone *s, hdx_error *err)
{
    uint64_t *seen = hdx_mem_array(t->ask.q.mem, t->words, sizeof *seen);
    hdx_code  code;
    if (seen == NULL)
        return hdx_no_memory(err, "marking", t->words * sizeof *seen);
    code = hdx_mark_as(
        &t->ask.q,
        &(hdx_marking){ .no_roots = t->no_roots, .checked = t->checked, .follow = follow_checked, .context = t }, seen,
        err);
    if (code == HDX_OK && (code = hdx_gone_not_in(&t->ask, seen, s, err)) == HDX_OK)
        code = search_without_weak(t, seen, s, err);
    return code;
}

static hdx_code open_free_if(const hdx_query *q, const hdx_arguments *a, hdx_rows **out, hdx_error *err)
{
    removal        t = { .classes = 0 };
    hdx_gone       s = { .at = NULL };
    char           title[400];
    const uint64_t live = hdx_graph_summary_of(q->graph)->live_bytes;
    hdx_error      own = { .offset = HDX_NOWHERE };
    err = err != NULL ? err : &own;
    *out = NULL;
    hdx_code code = removal_open(q, a, &t, err);
    if (code == HDX_OK && (code = hdx_gone_open(&t.ask, &s, err)) == HDX_OK)
        code = find_gone(&t, &s, err);
    (void)snprintf(title, sizeof title, "%.1f%% of the live heap would be free",
                   live == 0 ? 0 : 100.0 * (double)s.bytes / (double)live);
    add_weak_note(&s, title, sizeof title);
    if (code == HDX_OK)
        code = hdx_gone_rows(&t.ask, &s, title, out, err);
    return hdx_rows_explain_empty(code, out, err, "every reachable object would stay reachable");
}

static const hdx_form      form = { NULL, NULL, hdx_gone_columns, HDX_GONE_COLUMNS };
static const hdx_parameter parameters[] = {
    { .name = "object",
      .kind = HDX_PARAMETER_OBJECTS,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_WORD | HDX_PARAMETER_EITHER,
      .value = "OBJECT",
      .sentence = "objects whose references are ignored" },
    HDX_PARAMETER_OF_CLASS(HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
                           "class whose instances and statics are ignored: a name, glob (* and ?) or /regular "
                           "expression/"),
    { .name = "subclasses", .kind = HDX_PARAMETER_FLAG, .needs = "class", .sentence = "include subclasses" },
    { .name = "field",
      .kind = HDX_PARAMETER_FIELD,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
      .value = "CLASS#FIELD",
      .sentence = "static or instance field (of subclasses too) whose references are ignored" },
    { .name = "loader",
      .kind = HDX_PARAMETER_TEXT,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
      .value = "LOADER",
      .sentence = "class loader to ignore with all its classes: its name, its class or an OBJECT" },
    { .name = "roots",
      .kind = HDX_PARAMETER_CHOICES,
      .flags = HDX_PARAMETER_REPEATED | HDX_PARAMETER_EITHER,
      .value = "TYPES",
      .choices = ROOT_TYPES,
      .sentence = "types of GC roots to ignore, such as JAVA_LOCAL,NATIVE_STATIC" },
};

const hdx_question hdx_question_free_if = {
    .declared = {
        .name = "free-if",
        .flags = HDX_ANSWER_LONG | HDX_ANSWER_HEAP,
        .sentence = "bytes that would be freed if a field, class, class loader or type of root held nothing",
        .more = "The named fields, objects, classes and roots stay in the heap, but their references are ignored; "
                "objects that no GC root reaches then would be freed. All options can be repeated and apply together. "
                "The question retained shows what would be freed if the objects themselves were removed. If soft or "
                "weak references change the answer by a tenth or more, a notice reports it, with the view of the "
                "index that shows the heap without them.",
        .examples = { "heapdex free-if app.hprof --field 'java.util.HashMap#table'",
                      "heapdex free-if app.hprof --roots JAVA_LOCAL,JNI_MONITOR thread:main" },
        .forms = &form,
        .form_count = 1,
        .document = hdx_gone_document_weak,
        .document_count = 1,
        .parameters = parameters,
        .parameter_count = HDX_COUNT(parameters),
    },
    .open = open_free_if,
};
