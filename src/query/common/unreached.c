/*
 * unreached.c - classifies unreachable objects that are most likely not garbage.
 *
 * Fillers: collectors write int[] over dead space, so that a heap can be scanned object by object (HotSpot:
 * CollectedHeap::fill_with_objects). Since JDK 19 their classes are jdk.internal.vm.FillerArray and FillerObject, but
 * dumps have the arrays as int[] (JDK-8372389, JDK-8391761). No object refers to one, not even garbage. An int[] of the
 * program that became garbage cannot be distinguished from a filler.
 *
 * Fields of java.lang.Class: HotSpot writes CLASS_DUMP for a class object, without the instance fields that
 * java.lang.Class declares (JDK-8136353). An object that only such a field references has no referrer in the dump,
 * even in a dump of live objects:
 *
 *     classValueMap          ClassValue$ClassValueMap
 *     reflectionData         SoftReference to Class$ReflectionData; in JDK 6 and 7 one to Field[], Method[] ...
 *     annotationData         Class$AnnotationData
 *     annotationType         AnnotationType
 *     genericInfo            ClassRepository
 *     enumConstants          an array of an enum
 *     enumConstantDirectory  a HashMap whose values are constants of an enum
 *     module, protectionDomain
 *
 * and classes of arrays, which the JVM keeps alive as long as the loader of their element class is alive.
 *
 * The archive of class data (CDS): the JVM maps strings, mirrors and the module graph into the heap and refers to them
 * from one Object[] (HotSpot: HeapShared::roots), which is a JNI global in its dumps. Dumps of the serviceability agent
 * lack JNI globals, so the array has no referrer there. It is recognized by its elements: the module graph, the boot
 * layer or the class loaders of the archive (JDK 12 and later).
 *
 * Unreachable objects that can be reached from objects of the last two kinds are classified with them.
 *
 * Cost: examines the unreachable instances of a few classes and all unreachable objects reachable from them; one bit
 * per object of the heap for each kind that occurs.
 */
#include "query/common/unreached.h"
#include "graph/graph.h"

#include <stdlib.h>

static const char *const names[HDX_UNREACHED_KINDS] = { "garbage", "filler", "class field", "archive" };

const char *hdx_unreached_name(hdx_unreached_kind kind) { return names[kind]; }

/* Only java.lang.Class refers to instances of these, so other referrers do not matter. */
static const char *const of_class_alone[] = { "java.lang.ClassValue$ClassValueMap", "java.lang.Class$ReflectionData",
                                              "java.lang.Class$AnnotationData",
                                              "sun.reflect.generics.repository.ClassRepository",
                                              "sun.reflect.annotation.AnnotationType" };
/* A class object refers to such an instance if no object in the dump does. */
static const char *const of_class_too[] = { "java.lang.Module", "java.security.ProtectionDomain" };
/* Classes of objects to which a SoftReference of java.lang.Class leads. */
static const char *const reflection[] = { "java.lang.Class$ReflectionData", "java.lang.reflect.Field[]",
                                          "java.lang.reflect.Method[]", "java.lang.reflect.Constructor[]",
                                          "java.lang.Class[]" };
/* The JVM refers to instances of these by one Object[], through which it maps its archive of class data (CDS). */
static const char *const archived[] = { "jdk.internal.module.ArchivedModuleGraph",
                                        "jdk.internal.module.ArchivedBootLayer",
                                        "jdk.internal.loader.ArchivedClassLoaders" };
static const char *const filler_classes[] = { "int[]", "jdk.internal.vm.FillerObject", "jdk.internal.vm.FillerArray",
                                              "jdk.internal.vm.FillerElement[]" };

typedef struct unreached_finder {
    hdx_ask         *ask;
    hdx_unreached   *out;
    const hdx_class *classes;
    uint32_t         count;
    uint64_t        *enums;    /* bits by class number: java.lang.Enum and its subclasses */
    hdx_map          of_enums; /* hash of the name of an enum -> class number */
    bool             archives; /* the dump has one of the classes in `archived` */
    hdx_ids          stack;
} unreached_finder;

static bool is_named(const hdx_class *c, const char *const *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (hdx_text_is(c->name, of[i]))
            return true;
    return false;
}

static bool has_no_referrer(hdx_graph *g, hdx_id id) { return hdx_graph_inbound_count(g, id, HDX_ALL) == 0; }

/* ---- marks ---- */

static hdx_code mark(unreached_finder *f, hdx_unreached_kind kind, hdx_id id, hdx_error *err)
{
    hdx_unreached *u = f->out;
    uint64_t     **bits = &u->bits[kind];
    if (hdx_unreached_kind_of(u, id) != HDX_UNREACHED_GARBAGE)
        return HDX_OK;
    if (*bits == NULL && (*bits = hdx_mem_array(u->mem, u->words, sizeof **bits)) == NULL)
        return hdx_no_memory(err, "unreachable objects", u->words * sizeof **bits);
    hdx_bits_put(*bits, id);
    u->objects[kind]++;
    u->bytes[kind] += hdx_graph_shallow(f->ask->g, id);
    return kind == HDX_UNREACHED_FILLER ? HDX_OK : hdx_ids_push(&f->stack, id, err);
}

static hdx_code mark_reached(unreached_finder *f, hdx_unreached_kind kind, hdx_error *err)
{
    hdx_code code = HDX_OK;
    while (code == HDX_OK && f->stack.count > 0) {
        hdx_refs refs;
        hdx_id   to;
        hdx_graph_outbound(f->ask->g, f->stack.at[--f->stack.count], HDX_GARBAGE, &refs);
        while (code == HDX_OK && hdx_refs_next(&refs, &to))
            code = mark(f, kind, to, err);
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
    }
    return code;
}

/* ---- objects to which a class object refers ---- */

static bool leads_to(unreached_finder *f, hdx_id id, bool (*is)(const unreached_finder *f, uint32_t number))
{
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(f->ask->g, id, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &to)) {
        const uint32_t number = hdx_graph_class_of(f->ask->g, to);
        if (number < f->count && is(f, number))
            return true;
    }
    return false;
}

static bool is_reflection(const unreached_finder *f, uint32_t number)
{
    return is_named(&f->classes[number], reflection, HDX_COUNT(reflection));
}

static bool is_archive_content(const unreached_finder *f, uint32_t number)
{
    return is_named(&f->classes[number], archived, HDX_COUNT(archived));
}

static bool is_enum(const unreached_finder *f, uint32_t number) { return hdx_bits_test(f->enums, number); }

/* Returns the first object of a class to which `id` refers, or HDX_NO_ID. */
static hdx_id first_of(unreached_finder *f, hdx_id id, const char *class_name)
{
    hdx_refs refs;
    hdx_id   to;
    hdx_graph_outbound(f->ask->g, id, HDX_ALL, &refs);
    while (hdx_refs_next(&refs, &to)) {
        const uint32_t number = hdx_graph_class_of(f->ask->g, to);
        if (number < f->count && hdx_text_is(f->classes[number].name, class_name))
            return to;
    }
    return HDX_NO_ID;
}

/* One entry is enough: the values of such a map are constants of one enum. */
static bool is_directory(unreached_finder *f, hdx_id map)
{
    const hdx_id table = first_of(f, map, "java.util.HashMap$Node[]");
    const hdx_id node = table == HDX_NO_ID ? table : first_of(f, table, "java.util.HashMap$Node");
    return node != HDX_NO_ID && leads_to(f, node, is_enum);
}

static bool is_of_enum(const unreached_finder *f, const hdx_class *c)
{
    if (c->kind != HDX_OBJECT_ARRAY || c->name.len < 3)
        return false;
    const uint64_t *number = hdx_map_get(&f->of_enums, hdx_hash_bytes(0, c->name.at, c->name.len - 2));
    return number != NULL && f->classes[*number].name.len == c->name.len - 2 &&
           memcmp(f->classes[*number].name.at, c->name.at, c->name.len - 2) == 0;
}

/* Selects instances of a class among the unreachable. */
typedef enum sought { NOTHING, ALL, ALONE, FIRST_ALONE, SOFT_REFERENCE, DIRECTORY, FILLER, ARCHIVE } sought;

static sought sought_of(const unreached_finder *f, const hdx_class *c)
{
    if (c->instances == c->live_instances)
        return NOTHING;
    if (is_named(c, filler_classes, HDX_COUNT(filler_classes)))
        return FILLER;
    if (is_of_enum(f, c)) /* a class object refers to one; the copies that values() returns are garbage */
        return FIRST_ALONE;
    if (c->loader != 0) /* the classes tested from here on are in the JDK */
        return NOTHING;
    if (is_named(c, of_class_alone, HDX_COUNT(of_class_alone)))
        return ALL;
    if (is_named(c, of_class_too, HDX_COUNT(of_class_too)))
        return ALONE;
    return hdx_text_is(c->name, "java.lang.ref.SoftReference") ? SOFT_REFERENCE
           : hdx_text_is(c->name, "java.util.HashMap")         ? DIRECTORY
           : hdx_text_is(c->name, "java.lang.Object[]")        ? ARCHIVE
                                                               : NOTHING;
}

static bool is_sought(unreached_finder *f, sought what, hdx_id id)
{
    switch (what) {
    case ALL: return true;
    case SOFT_REFERENCE: return has_no_referrer(f->ask->g, id) && leads_to(f, id, is_reflection);
    case DIRECTORY: return has_no_referrer(f->ask->g, id) && is_directory(f, id);
    case ARCHIVE: return has_no_referrer(f->ask->g, id) && leads_to(f, id, is_archive_content);
    default: return has_no_referrer(f->ask->g, id);
    }
}

static hdx_code mark_instances(unreached_finder *f, const hdx_class *c, sought what, hdx_error *err)
{
    const hdx_unreached_kind kind = what == FILLER    ? HDX_UNREACHED_FILLER
                                    : what == ARCHIVE ? HDX_UNREACHED_ARCHIVE
                                                      : HDX_UNREACHED_CLASS_FIELD;
    hdx_refs                 refs;
    hdx_id                   id;
    hdx_code                 code = HDX_OK;
    bool                     more = true;
    hdx_graph_instances(f->ask->g, c->number, HDX_GARBAGE, &refs);
    while (code == HDX_OK && more && hdx_refs_next(&refs, &id)) {
        const bool is = is_sought(f, what, id);
        if (is)
            code = mark(f, kind, id, err);
        more = !is || what != FIRST_ALONE;
        if (code == HDX_OK)
            code = hdx_ask_check_cancel(f->ask, err);
    }
    return code;
}

/* Returns whether the JVM keeps the class of an array alive because the loader of its element class is alive. */
static bool is_alive_by_loader(hdx_graph *g, const hdx_class *c)
{
    hdx_id loader;
    return c->kind != HDX_INSTANCE && c->address != 0 && c->id < hdx_graph_objects(g) && !hdx_graph_live(g, c->id) &&
           (c->loader == 0 || (hdx_graph_find(g, c->loader, &loader) && hdx_graph_live(g, loader)));
}

/* Collects enums by name, to recognize the classes of their arrays. */
static hdx_code find_enums(unreached_finder *f, hdx_error *err)
{
    const hdx_class *top = hdx_graph_class_named(f->ask->g, "java.lang.Enum");
    if ((f->enums = hdx_mem_array(f->out->mem, hdx_bits_words(f->count), sizeof *f->enums)) == NULL)
        return hdx_no_memory(err, "enums", f->count / 8);
    if (top != NULL)
        hdx_class_heirs(f->ask->g, top->number, f->enums);
    for (uint32_t c = 0; top != NULL && c < f->count; c++) {
        uint64_t *place =
            hdx_bits_test(f->enums, c)
                ? hdx_map_put(&f->of_enums, hdx_hash_bytes(0, f->classes[c].name.at, f->classes[c].name.len), NULL)
                : NULL;
        if (place != NULL)
            *place = c;
        else if (hdx_bits_test(f->enums, c))
            return hdx_no_memory(err, "enums", f->of_enums.count);
    }
    return HDX_OK;
}

/* Android writes the fields of java.lang.Class as static fields, and its collectors write no filler arrays. */
static bool is_of_jvm(const hdx_graph_summary *s) { return strcmp(s->version, "1.0.3") != 0; }

/* Marks objects of class fields before those of the archive, because the archive refers to most class objects. */
static hdx_code find_unreached(unreached_finder *f, hdx_error *err)
{
    const hdx_class *arrays = NULL;
    hdx_code         code = find_enums(f, err);
    for (uint32_t c = 0; code == HDX_OK && c < f->count; c++) {
        const sought what = sought_of(f, &f->classes[c]);
        f->archives |= is_archive_content(f, c);
        if (what == ARCHIVE)
            arrays = &f->classes[c];
        else if (what != NOTHING)
            code = mark_instances(f, &f->classes[c], what, err);
        if (code == HDX_OK && is_alive_by_loader(f->ask->g, &f->classes[c]))
            code = mark(f, HDX_UNREACHED_CLASS_FIELD, f->classes[c].id, err);
    }
    if (code == HDX_OK)
        code = mark_reached(f, HDX_UNREACHED_CLASS_FIELD, err);
    if (code == HDX_OK && f->archives && arrays != NULL)
        code = mark_instances(f, arrays, ARCHIVE, err);
    return code == HDX_OK ? mark_reached(f, HDX_UNREACHED_ARCHIVE, err) : code;
}

hdx_code hdx_unreached_open(hdx_ask *ask, hdx_unreached *out, hdx_error *err)
{
    const hdx_graph_summary *s = hdx_graph_summary_of(ask->g);
    hdx_mem                 *mem = ask->q.mem;
    unreached_finder         f = { .ask = ask, .out = out, .of_enums = hdx_map_of(mem), .stack = hdx_ids_of(mem) };
    hdx_code                 code = HDX_OK;
    *out = (hdx_unreached){ .words = hdx_bits_words(hdx_graph_objects(ask->g)), .mem = mem };
    if (s->unreachable_objects > 0 && is_of_jvm(s)) {
        f.classes = hdx_graph_classes(ask->g, &f.count);
        code = f.classes == NULL ? hdx_graph_check(ask->g, err) : find_unreached(&f, err);
    }
    out->objects[HDX_UNREACHED_GARBAGE] = s->unreachable_objects;
    out->bytes[HDX_UNREACHED_GARBAGE] = s->unreachable_bytes;
    for (unsigned k = HDX_UNREACHED_FILLER; k < HDX_UNREACHED_KINDS; k++) {
        out->objects[HDX_UNREACHED_GARBAGE] -= hdx_least(out->objects[k], out->objects[HDX_UNREACHED_GARBAGE]);
        out->bytes[HDX_UNREACHED_GARBAGE] -= hdx_least(out->bytes[k], out->bytes[HDX_UNREACHED_GARBAGE]);
    }
    hdx_mem_put(mem, f.enums, f.enums == NULL ? 0 : hdx_bits_words(f.count) * sizeof *f.enums);
    hdx_map_free(&f.of_enums);
    hdx_ids_drop(&f.stack);
    if (code != HDX_OK)
        hdx_unreached_close(out);
    return code;
}

void hdx_unreached_close(hdx_unreached *u)
{
    for (unsigned k = 0; k < HDX_UNREACHED_KINDS; k++) {
        hdx_mem_put(u->mem, u->bits[k], u->bits[k] == NULL ? 0 : u->words * sizeof *u->bits[k]);
        u->bits[k] = NULL;
    }
}

hdx_unreached_kind hdx_unreached_kind_of(const hdx_unreached *u, hdx_id id)
{
    for (unsigned k = HDX_UNREACHED_FILLER; k < HDX_UNREACHED_KINDS; k++)
        if (u->bits[k] != NULL && hdx_bits_test(u->bits[k], id))
            return (hdx_unreached_kind)k;
    return HDX_UNREACHED_GARBAGE;
}

/* ---- what the dump lacks ---- */

enum { STACK_FRAME = 0x04, JNI_GLOBAL = 0x01, JAVA_FRAME = 0x03, THREAD_OBJECT = 0x08 }; /* tags of HPROF */

bool hdx_lacks_locals(const hdx_graph_summary *s)
{
    return is_of_jvm(s) && s->top_records != NULL && s->sub_records != NULL && s->top_records[STACK_FRAME] > 0 &&
           s->sub_records[THREAD_OBJECT] > 0 && s->sub_records[JAVA_FRAME] == 0 && s->sub_records[JNI_GLOBAL] == 0;
}

const char *hdx_unreached_reservation(const hdx_graph_summary *s, hdx_unreached_kind kind)
{
    if (kind == HDX_UNREACHED_FILLER)
        return "most likely a filler: a collector filled a gap in the heap with it";
    if (kind == HDX_UNREACHED_CLASS_FIELD)
        return "most likely a class object holds it, through a field of java.lang.Class that HotSpot omits from dumps";
    if (kind == HDX_UNREACHED_ARCHIVE)
        return "most likely the JVM holds it for its archive of class data (CDS), through a root that the dump lacks";
    return hdx_lacks_locals(s) ? "the dump has stacks but lacks locals and JNI roots, which may hold it" : NULL;
}
