/*
 * test_invented.c - classes that a dump has instances of and does not describe: fields that fill what instances have,
 * by their number of bytes; and frames of threads before the first one.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    char             folder[TEST_FOLDER];
    hdx_index_report report;
    hdx_error        err;
    hdx_graph       *g;
    dump_maker      *m = dump_maker_new(8);
    uint64_t         object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        char name[32];
        (void)snprintf(name, sizeof name, "app/Of%u", bytes);
        (void)dump_maker_load(m, 0x900000 + 16 * bytes, name);
        put_instance(m, 0x800000 + 64 * bytes, 0x900000 + 16 * bytes, bytes);
    }
    test_folder_make_fast(folder, "invented");
    cr_assert(chdir(folder) == 0);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    const hdx_index_options options = { .dump = "a.hprof", .index_dir = "a.hdx", .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open("a.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
    for (uint32_t bytes = 0; bytes <= MOST; bytes++) {
        hdx_id id;
        cr_assert(hdx_graph_find(g, 0x800000 + 64 * bytes, &id));
        const hdx_class *c = hdx_graph_class(g, hdx_graph_class_of(g, id));
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
    hdx_graph_close(g);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}

/* A dump has java.lang.Class and java.lang.ClassLoader, or they are made: with no fields, below java.lang.Object. */
Test(invented, classes_that_must_be_there_have_no_fields)
{
    char                     folder[TEST_FOLDER];
    hdx_index_report         report;
    hdx_error                err;
    hdx_graph               *g;
    static const char *const names[] = { "java.lang.Class", "java.lang.ClassLoader" };
    dump_maker              *m = dump_maker_new(8);
    const uint64_t           object = dump_maker_class(m, "java.lang.Object", 0, "");
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, dump_maker_instance(m, object, NULL), 0, 0);
    test_folder_make_fast(folder, "invented");
    cr_assert(chdir(folder) == 0);
    dump_maker_save(m, "a.hprof");
    dump_maker_free(m);
    const hdx_index_options options = { .dump = "a.hprof", .index_dir = "a.hdx", .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open("a.hdx", "a.hprof", &g, &err) == HDX_OK, "%s", err.message);
    const hdx_class *root = hdx_graph_class_named(g, "java.lang.Object");
    for (size_t i = 0; i < 2; i++) {
        const hdx_class *c = hdx_graph_class_named(g, names[i]);
        cr_assert(c != NULL, "%s", names[i]);
        cr_expect((c->flags & HDX_CLASS_INVENTED) != 0 && c->field_count == 0 && c->static_count == 0, "%s", names[i]);
        cr_expect_eq(c->super, root->number);
        cr_expect_eq(c->instance_size, root->instance_size);
    }
    hdx_graph_close(g);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
