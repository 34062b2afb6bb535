/*
 * test_invented.c - classes that a dump has instances of and does not describe: fields that fill what instances have,
 * by their number of bytes; and classes that every index has.
 */
#include "making/built.h"
#include "making/making.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void put_be(uint8_t *at, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> 8 * (bytes - 1 - i));
}

/* An instance of a class that has a name and no more. */
static void put_instance(dump_maker *m, uint64_t id, uint64_t class_id, uint32_t bytes)
{
    uint8_t record[1 + 8 + 4 + 8 + 4 + 64] = { 0x21 };
    put_be(record + 1, id, 8);
    put_be(record + 13, class_id, 8);
    put_be(record + 21, bytes, 4);
    dump_maker_raw(m, record, 25 + bytes);
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, id, 0, 0);
}

Test(invented, fields_fill_the_bytes_that_instances_have)
{
    enum { MOST = 23 };
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app/Of%u", bytes);
        (void)dump_maker_load(m, 0x900000 + 16 * bytes, name);
        put_instance(m, 0x800000 + 64 * bytes, 0x900000 + 16 * bytes, bytes);
    }
    built b = built_open(m, "invented");
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        hdx_id id;
        cr_assert(hdx_graph_find(b.g, 0x800000 + 64 * bytes, &id));
        const hdx_class *c = hdx_graph_class(b.g, hdx_graph_class_of(b.g, id));
        char             types[32], want[32];
        char             name[32];
        (void)snprintf(name, sizeof name, "app.Of%u", bytes);
        cr_expect(strlen(name) == c->name.len && memcmp(name, c->name.at, c->name.len) == 0);
        cr_expect((c->flags & HDX_CLASS_INVENTED) != 0 && c->field_count < 30);
        for (uint32_t i = 0; i < c->field_count; i++) {
            (void)snprintf(name, sizeof name, "unknown-field-%u", i);
            cr_expect(strlen(name) == c->fields[i].name.len && memcmp(name, c->fields[i].name.at, strlen(name)) == 0);
            types[i] = c->fields[i].type == 10  ? 'I'
                       : c->fields[i].type == 9 ? 'S'
                       : c->fields[i].type == 8 ? 'B'
                                                : '?';
        }
        types[c->field_count] = '\0';
        (void)snprintf(want, sizeof want, "%.*s%s%s", (int)(bytes / 4), "IIIIIIIIII", bytes / 2 % 2 ? "S" : "",
                       bytes % 2 ? "B" : "");
        cr_expect_str_eq(types, want, "%u bytes: %s", bytes, types);
    }
    built_close(&b);
}

/* A dump has java.lang.Class and java.lang.ClassLoader, or they are made: with no fields, below java.lang.Object. */
Test(invented, classes_that_must_be_there_have_no_fields)
{
    static const char *const names[] = { "java.lang.Class", "java.lang.ClassLoader" };
    dump_maker              *m = dump_maker_new(8);
    const uint64_t           object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
    built            b = built_open(m, "invented");
    const hdx_class *root = hdx_graph_class_named(b.g, "java.lang.Object");
    for (size_t i = 0; i < 2; i++) {
        const hdx_class *c = hdx_graph_class_named(b.g, names[i]);
        cr_assert(c != NULL, "%s", names[i]);
        cr_expect((c->flags & HDX_CLASS_INVENTED) != 0 && c->field_count == 0 && c->static_count == 0, "%s", names[i]);
        cr_expect_eq(c->super, root->number);
        cr_expect_eq(c->instance_size, root->instance_size);
    }
    built_close(&b);
}
