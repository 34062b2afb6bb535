/*
 * test_jvm.c - sizes of instances as HotSpot lays them out: gaps that are filled, and those that are not.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "model/model.h"

/* Types of own fields, and the place of the super class. */
typedef struct kind {
    const char *name, *types;
    uint32_t    super;
} kind;

static void sizes_of(hdx_jvm_layout layout, unsigned references, bool fills, const kind *kinds, uint32_t count,
                     uint64_t *sizes)
{
    static hdx_field fields[8][16];
    hdx_class        classes[8] = { 0 };
    hdx_jvm          jvm = hdx_jvm_of(layout, references, 8, NULL, 0);
    jvm.fills = fills;
    for (uint32_t i = 0; i < count; i++) {
        classes[i].name = (hdx_text){ kinds[i].name, (uint32_t)strlen(kinds[i].name) };
        classes[i].super = kinds[i].super;
        classes[i].kind = HDX_INSTANCE;
        classes[i].fields = fields[i];
        for (const char *t = kinds[i].types; *t != '\0'; t++)
            fields[i][classes[i].field_count++].type = (uint8_t)(*t == 'L'   ? 2
                                                                 : *t == 'Z' ? 4
                                                                 : *t == 'C' ? 5
                                                                 : *t == 'I' ? 10
                                                                             : 11);
    }
    cr_assert(hdx_jvm_sizes(&jvm, classes, count, NULL, sizes));
}
#define OBJECT                                                                                                         \
    {                                                                                                                  \
        "java.lang.Object", "", HDX_NO_CLASS                                                                           \
    }

Test(jvm, fields_fill_gaps_of_super_classes_from_jdk_15_on)
{
    const kind kinds[] = { OBJECT,           { "A", "J", 0 }, { "B", "Z", 1 },
                           { "C", "ZC", 2 }, { "D", "I", 3 }, { "E", "ZZL", 0 } };
    uint64_t   is[6];
    sizes_of(HDX_LAYOUT_CLASS_POINTERS, 4, true, kinds, 6, is);
    /* 12 to 16 is free in A; B takes 12, C 13 and 14, D has to go behind; E: 12, 13, the reference at 16 */
    cr_expect(is[0] == 16 && is[1] == 24 && is[2] == 24 && is[3] == 24 && is[4] == 32 && is[5] == 24,
              "%d %d %d %d %d %d", (int)is[0], (int)is[1], (int)is[2], (int)is[3], (int)is[4], (int)is[5]);
    sizes_of(HDX_LAYOUT_CLASS_POINTERS, 4, false, kinds, 6, is);
    /* nothing goes back into A: B 24, C from 28 on, D from 32 on */
    cr_expect(is[0] == 16 && is[1] == 24 && is[2] == 32 && is[3] == 32 && is[4] == 40 && is[5] == 24,
              "%d %d %d %d %d %d", (int)is[0], (int)is[1], (int)is[2], (int)is[3], (int)is[4], (int)is[5]);
}

Test(jvm, headers_and_references_are_those_of_the_layout)
{
    const kind kinds[] = { OBJECT, { "A", "LI", 0 }, { "B", "JZ", 0 }, { "java.lang.ClassLoader", "L", 0 } };
    static const struct {
        hdx_jvm_layout layout;
        unsigned       references;
        uint64_t       is[4];
    } cases[] = {
        { HDX_LAYOUT_CLASS_POINTERS, 4, { 16, 24, 24, 24 } }, { HDX_LAYOUT_CLASS_POINTERS, 8, { 16, 24, 24, 32 } },
        { HDX_LAYOUT_64BIT, 8, { 16, 32, 32, 32 } },          { HDX_LAYOUT_32BIT, 8, { 8, 16, 24, 16 } },
        { HDX_LAYOUT_COMPACT, 4, { 8, 16, 24, 24 } },
    };
    uint64_t is[4];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sizes_of(cases[i].layout, cases[i].references, true, kinds, 4, is);
        for (unsigned k = 0; k < 4; k++)
            cr_expect(eq(u64, is[k], cases[i].is[k]), "%s %u: %s", hdx_jvm_layout_name(cases[i].layout),
                      cases[i].references, kinds[k].name);
    }
}

Test(jvm, references_come_first_in_classes_that_it_knew_before_jdk_15)
{
    const kind kinds[] = { OBJECT, { "java.lang.ClassLoader", "LLZ", 0 }, { "app.ClassLoader", "LLZJ", 0 } };
    uint64_t   is[3];
    sizes_of(HDX_LAYOUT_CLASS_POINTERS, 4, false, kinds, 3, is);
    cr_expect(is[1] == 40 && is[2] == 32, "%d %d", (int)is[1], (int)is[2]); /* 12 + 8, its word at 24, a byte at 32 */
}

Test(jvm, arrays_begin_where_their_elements_may_lie)
{
    hdx_jvm jvm = hdx_jvm_of(HDX_LAYOUT_COMPACT, 4, 8, NULL, 0);
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 8, 4), 16));
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 8, 5), 24));
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 11, 1), 24));
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 2, 3), 24));
    jvm = hdx_jvm_of(HDX_LAYOUT_64BIT, 8, 8, NULL, 0);
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 8, 1), 32));
    cr_expect(eq(u64, hdx_jvm_array_size(&jvm, 2, 0xFFFFFFFF), 24 + 8 * 0xFFFFFFFFull));
}

Test(jvm, a_layout_gives_all_sizes_of_its_own)
{
    static const hdx_field fields[] = { { .type = 2 }, { .type = 10 } }, statics[] = { { .type = 11 }, { .type = 2 } };
    hdx_class              classes[] = {
                     { .name = { "java.lang.Object", 16 }, .super = HDX_NO_CLASS, .kind = HDX_INSTANCE },
                     { .name = { "java.lang.Class", 15 }, .kind = HDX_INSTANCE, .field_count = 2, .fields = fields },
                     { .name = { "A", 1 }, .kind = HDX_INSTANCE, .static_count = 2, .statics = statics },
                     { .name = { "A[]", 3 }, .kind = HDX_OBJECT_ARRAY },
    };
    hdx_sizing sizing = { 8, 8, 8, false, 0 };
    cr_assert(hdx_model_lay_out(HDX_LAYOUT_MAT, &sizing, classes, 4, NULL));
    cr_expect(eq(u64, classes[0].instance_size, 0)); /* nothing was done */
    cr_assert(hdx_model_lay_out(HDX_LAYOUT_32BIT, &sizing, classes, 4, NULL));
    cr_expect(classes[0].instance_size == 8 && classes[1].instance_size == 16 && classes[2].instance_size == 8);
    cr_expect(eq(u64, classes[3].instance_size, 4));
    /* an instance of java.lang.Class, 24 bytes and three references that the JVM adds, a long and a reference */
    cr_expect(eq(u64, classes[2].class_shallow, 16 + 24 + 3 * 4 + 8 + 4));
    cr_expect(eq(u64, hdx_object_array_size(&sizing, 3), 24));        /* 12 + 3 * 4 */
    cr_expect(eq(u64, hdx_primitive_array_size(&sizing, 11, 1), 24)); /* a long lies at 16 */
}
