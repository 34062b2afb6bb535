/*
 * jvm.c - shallow sizes in HotSpot's own object layouts, as in class histograms of the JVM (jcmd, jmap).
 *
 * A dump does not contain the layout: neither object headers nor the order of fields, only types of fields. But there
 * are few rules, and fields are ordered by size, so that the total size follows.
 *
 * JDK 15 and later (fieldLayoutBuilder.cpp): the largest first, references last; each goes into the smallest gap that
 * is free anywhere, including those in superclasses.
 *
 * Before (classFileParser.cpp): 8 bytes, 4, 2, 1, references; a class begins where its superclass ended, rounded up to
 * a reference, and only the gap before its first field of 8 bytes is filled. In a few classes that the JVM knows,
 * references come first and nothing is filled.
 *
 * A gap is shorter than 8 bytes and its end is a multiple of 8, so it consists of at most one place each of 1, 2 and 4
 * bytes. To some classes the JVM adds fields that no dump contains (javaClasses.hpp): a word to those named below, and
 * about INJECTED bytes to a class object, which also contains its static fields. Padding by @Contended is unknown here.
 */
#include "model/model.h"

#define INJECTED  24u /* two words, two numbers; and three references, which are counted by their size */
#define REFERENCE 2u  /* type of a field (model.h) */

typedef struct shape { /* of a class including its superclasses */
    uint64_t end;      /* after the last field */
    uint8_t  gap[4];   /* free places of 1, 2 and 4 bytes; there are none of 8 */
    bool     done;
} shape;

typedef struct fields { /* of a class alone, by their size: 1, 2, 4, 8 */
    uint64_t of[4], references;
} fields;

static fields count_fields(const hdx_field *at, uint32_t count)
{
    fields f = { { 0 }, 0 };
    for (uint32_t i = 0; i < count; i++) {
        const unsigned size = hdx_type_size(at[i].type, 8);
        if (at[i].type == REFERENCE)
            f.references++;
        else if (size > 0)
            f.of[__builtin_ctz(size)]++;
    }
    return f;
}

/* A word that the JVM stores in each object of some classes, since JDK 8 or 9. */
static void add_injected(const hdx_jvm *jvm, const hdx_class *c, fields *f)
{
    static const char *const have[] = { "java.lang.ClassLoader", "java.lang.Module", "java.lang.invoke.MemberName",
                                        "java.lang.invoke.ResolvedMethodName" };
    for (size_t i = 0; i < sizeof have / sizeof *have; i++)
        if (hdx_text_is(c->name, have[i]))
            f->of[jvm->word == 4 ? 2 : 3]++;
}

/* ---- JDK 15 on ---- */

/* Uses the smallest place that is large enough; its remainder stays free. */
static bool fill_gap(shape *s, unsigned log)
{
    unsigned k = log;
    while (k < 3 && s->gap[k] == 0)
        k++;
    if (k >= 3)
        return false;
    for (s->gap[k]--; k > log; k--)
        s->gap[k - 1]++;
    return true;
}

static void place(shape *s, unsigned log, uint64_t count)
{
    while (count > 0 && fill_gap(s, log))
        count--;
    for (unsigned k = 0; count > 0 && k < log && k < sizeof s->gap; k++)
        if (s->end >> k & 1) {
            s->gap[k]++;
            s->end += 1u << k;
        }
    s->end += count << log;
}

static void lay_out(const hdx_jvm *jvm, shape *s, const fields *f)
{
    for (unsigned log = 4; log-- > 0;)
        place(s, log, f->of[log]);
    place(s, jvm->reference_size == 4 ? 2 : 3, f->references);
}

/* ---- before JDK 15 ---- */

static void take_some(uint64_t *count, uint64_t size, uint64_t *room)
{
    for (; *count > 0 && *room >= size; --*count)
        *room -= size;
}

static bool knows(const hdx_class *c)
{
    static const char *const known[] = { "AssertionStatusDirectives",
                                         "Class",
                                         "ClassLoader",
                                         "ref.Reference",
                                         "ref.SoftReference",
                                         "StackTraceElement",
                                         "String",
                                         "Throwable",
                                         "Boolean",
                                         "Character",
                                         "Float",
                                         "Double",
                                         "Byte",
                                         "Short",
                                         "Integer",
                                         "Long" };
    const hdx_text           name = c->name;
    bool                     is = false;
    if (c->loader != 0 || name.len < 10 || memcmp(name.at, "java.lang.", 10) != 0)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is |= hdx_text_is((hdx_text){ name.at + 10, name.len - 10 }, known[i]);
    return is;
}

static void lay_out_in_order(const hdx_jvm *jvm, const hdx_class *c, shape *s, const fields *f)
{
    const bool first = knows(c);
    fields     left = *f;
    s->end = hdx_round_up(s->end, jvm->reference_size);
    if (first) {
        s->end += left.references * jvm->reference_size;
        left.references = 0;
    }
    if (f->of[3] > 0 && first) {
        s->end = hdx_round_up(s->end, 8);
    } else if (f->of[3] > 0) {
        uint64_t room = hdx_round_up(s->end, 8) - s->end;
        s->end += room;
        for (unsigned log = 3; log-- > 0;)
            take_some(&left.of[log], 1u << log, &room);
        take_some(&left.references, jvm->reference_size, &room);
    }
    for (unsigned log = 4; log-- > 0;)
        s->end += left.of[log] << log;
    if (left.references > 0)
        s->end = hdx_round_up(s->end, jvm->reference_size) + left.references * jvm->reference_size;
}

/* ---- sizes ---- */

static const struct {
    const char *name;
    uint32_t    header, array_header;
} known_layouts[HDX_LAYOUTS] = {
    [HDX_LAYOUT_MAT] = { "mat", 0, 0 },          [HDX_LAYOUT_CLASS_POINTERS] = { "class-pointers", 12, 16 },
    [HDX_LAYOUT_64BIT] = { "64bit", 16, 24 },    [HDX_LAYOUT_32BIT] = { "32bit", 8, 12 },
    [HDX_LAYOUT_COMPACT] = { "compact", 8, 12 },
};

const char *hdx_jvm_layout_name(hdx_jvm_layout layout) { return known_layouts[layout].name; }

hdx_jvm hdx_jvm_of(hdx_jvm_layout layout, unsigned reference_size, unsigned alignment, const hdx_class *classes,
                   uint32_t count)
{
    const bool narrow = layout == HDX_LAYOUT_32BIT;
    hdx_jvm    jvm = { known_layouts[layout].header,
                       known_layouts[layout].array_header,
                    narrow ? 4 : reference_size,
                    narrow ? 4 : 8,
                       alignment,
                       false };
    assert(layout > HDX_LAYOUT_MAT && layout < HDX_LAYOUTS);
    for (uint32_t c = 0; c < count && !jvm.fills; c++)
        jvm.fills = hdx_text_is(classes[c].name, "jdk.internal.loader.NativeLibraries"); /* JDK 15 on, at once */
    return jvm;
}

bool hdx_jvm_sizes(const hdx_jvm *jvm, const hdx_class *classes, uint32_t count, hdx_mem *mem, uint64_t *sizes)
{
    shape     *shapes = hdx_mem_array(mem, count, sizeof *shapes);
    uint32_t  *path = hdx_mem_array(mem, count, sizeof *path);
    const bool ok = shapes != NULL && path != NULL;
    for (uint32_t first = 0; ok && first < count; first++) {
        uint32_t depth = 0;
        for (uint32_t c = first; c < count && !shapes[c].done; c = classes[c].super) {
            shapes[c].done = true;
            path[depth++] = c;
        }
        while (depth > 0) {
            const hdx_class *c = &classes[path[--depth]];
            fields           f = count_fields(c->fields, c->field_count);
            shape           *s = &shapes[c - classes];
            *s = c->super < count ? shapes[c->super] : (shape){ .end = jvm->header };
            s->done = true;
            add_injected(jvm, c, &f);
            if (jvm->fills)
                lay_out(jvm, s, &f);
            else
                lay_out_in_order(jvm, c, s, &f);
        }
    }
    for (uint32_t k = 0; ok && k < count; k++)
        sizes[k] = classes[k].kind == HDX_INSTANCE ? hdx_round_up(shapes[k].end, jvm->alignment) : 0;
    hdx_mem_put(mem, shapes, (uint64_t)count * sizeof *shapes);
    hdx_mem_put(mem, path, (uint64_t)count * sizeof *path);
    return ok;
}

uint64_t hdx_jvm_array_size(const hdx_jvm *jvm, uint8_t type, uint64_t elements)
{
    const hdx_sizing sizing = { .reference_size = jvm->reference_size,
                                .alignment = jvm->alignment,
                                .array_header = jvm->array_header };
    return type == REFERENCE ? hdx_object_array_size(&sizing, elements)
                             : hdx_primitive_array_size(&sizing, type, elements);
}

uint64_t hdx_jvm_class_object_size(const hdx_jvm *jvm, const hdx_class *c, uint64_t bare)
{
    uint64_t bytes = bare + INJECTED + 3 * jvm->reference_size;
    for (uint32_t i = 0; i < c->static_count; i++)
        bytes += hdx_type_size(c->statics[i].type, jvm->reference_size);
    return hdx_round_up(bytes, jvm->alignment);
}

hdx_sizing hdx_sizing_in(hdx_jvm_layout layout, hdx_sizing sizing)
{
    if (layout == HDX_LAYOUT_32BIT)
        sizing.reference_size = 4;
    sizing.array_header = known_layouts[layout].array_header;
    return sizing;
}

bool hdx_model_lay_out(hdx_jvm_layout layout, hdx_sizing *sizing, hdx_class *classes, uint32_t count, hdx_mem *mem)
{
    if (layout == HDX_LAYOUT_MAT)
        return true;
    const hdx_jvm jvm = hdx_jvm_of(layout, sizing->reference_size, sizing->alignment, classes, count);
    uint64_t     *sizes = hdx_mem_array(mem, count, sizeof *sizes), bare = 0;
    const bool    ok = sizes != NULL && hdx_jvm_sizes(&jvm, classes, count, mem, sizes);
    for (uint32_t c = count; ok && c-- > 0;) /* the first one with that name remains */
        bare = hdx_text_is(classes[c].name, "java.lang.Class") ? sizes[c] : bare;
    for (uint32_t c = 0; ok && c < count; c++) {
        classes[c].class_shallow = hdx_jvm_class_object_size(&jvm, &classes[c], bare);
        classes[c].instance_size = classes[c].kind == HDX_INSTANCE ? sizes[c] : jvm.reference_size;
    }
    *sizing = hdx_sizing_in(layout, *sizing);
    hdx_mem_put(mem, sizes, (uint64_t)count * sizeof *sizes);
    return ok;
}
