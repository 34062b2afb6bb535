/*
 * test_added.c - the added columns one by one: texts of one letter, a dominator tree deeper than a path tells, values
 * that are null, memory that is refused.
 */
#include "fleet/written.h"
#include "support/faulty.h"
#include "graph/graph.h"

enum { DEEP = 70 };

/* A chain of nodes, each held by the one before it. */
static void make_chain(const char *path)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    object = dump_maker_class(m, "java.lang.Object", 0, "");
    uint64_t    node = dump_maker_class(m, "N", object, "next:L");
    uint64_t    next = 0;
    (void)dump_maker_class(m, "java.lang.Class", object, "");
    for (unsigned i = 0; i < DEEP; i++)
        next = dump_maker_instance(m, node, DUMP_VALUES(next));
    dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, next, 0, 0);
    dump_maker_save(m, path);
    dump_maker_free(m);
}

typedef struct added_test {
    fleet_test t;
    fleet_dump d;
    hdx_mem    mem;
} added_test;

static void begin(added_test *a, const char *dump)
{
    char path[128];
    *a = (added_test){ .mem = { .limit = 0 } };
    fleet_begin(&a->t, NULL);
    (void)snprintf(path, sizeof path, "%s/chain.hprof", a->t.folder);
    make_chain(path);
    fleet_open(&a->t, dump != NULL ? dump : path, "a");
    cr_assert(hdx_session_graph(a->t.s, 0, &a->d.g, &a->t.err) == HDX_OK, "%s", a->t.err.message);
    a->d.session = a->t.s;
    a->d.query = hdx_answer_query(a->t.s, &(hdx_arguments){ 0 }, a->d.g);
    a->d.query.mem = &a->mem;
    a->d.arena = hdx_arena_of(&a->mem);
    a->d.loaders = hdx_map_of(&a->mem);
}

static void end(added_test *a)
{
    hdx_arena_free(&a->d.arena);
    hdx_map_free(&a->d.loaders);
    fleet_end(&a->t);
}

/* Nodes of the chain from the root on: the addresses fall. */
static hdx_cell node_at(const added_test *a, unsigned depth)
{
    uint64_t top = 0, address;
    for (hdx_id id = 0; id < hdx_graph_summary_of(a->d.g)->live_objects; id++)
        if (hdx_graph_class_object(a->d.g, id) == NULL && (address = hdx_graph_address(a->d.g, id)) > top)
            top = address;
    for (unsigned i = 0; i < depth; i++) {
        hdx_id id;
        while (!hdx_graph_find(a->d.g, --top, &id))
            ;
    }
    return hdx_cell_address(top);
}

static void expect_path(added_test *a, unsigned depth, unsigned steps, const char *first)
{
    hdx_arena      arena = hdx_arena_of(NULL);
    hdx_buffer     want = hdx_buffer_of(NULL);
    hdx_cell       out = hdx_cell_null();
    const hdx_cell from = node_at(a, depth);
    hdx_buffer_text(&want, first);
    for (unsigned i = 0; i < steps; i++)
        hdx_buffer_text(&want, i == 0 ? "N" : " > N");
    cr_assert(hdx_fleet_class_path.make(&a->d, &from, &arena, &out, &a->t.err) == HDX_OK);
    cr_expect(out.kind == HDX_CELL_TEXT && hdx_text_is(out.as.text, want.at), "%u: %.*s", depth, (int)out.as.text.len,
              out.as.text.at);
    hdx_buffer_free(&want);
    hdx_arena_free(&arena);
}

Test(added, paths_tell_of_64_steps)
{
    added_test a;
    begin(&a, NULL);
    expect_path(&a, 0, 1, "");
    expect_path(&a, 1, 2, "");
    expect_path(&a, 62, 63, "");
    expect_path(&a, 63, 64, "");
    expect_path(&a, 64, 64, "... > ");
    expect_path(&a, DEEP - 1, 64, "... > ");
    end(&a);
}

static const fleet_added *const all[] = { &hdx_fleet_class_key, &hdx_fleet_loader_name, &hdx_fleet_pool,
                                          &hdx_fleet_owner, &hdx_fleet_class_path };

Test(added, nothing_comes_of_null_nor_of_an_address_where_no_object_is)
{
    added_test a;
    hdx_arena  arena = hdx_arena_of(NULL);
    begin(&a, NULL);
    for (size_t i = 0; i < HDX_COUNT(all); i++) {
        hdx_cell       out = hdx_cell_null();
        const hdx_cell null = hdx_cell_null(), nowhere = hdx_cell_address(1);
        cr_expect(all[i]->make(&a.d, &null, &arena, &out, &a.t.err) == HDX_OK && out.kind == HDX_CELL_NULL, "%zu", i);
        if (all[i] != &hdx_fleet_loader_name)
            cr_expect(all[i]->make(&a.d, &nowhere, &arena, &out, &a.t.err) == HDX_OK && out.kind == HDX_CELL_NULL,
                      "%zu", i);
    }
    hdx_arena_free(&arena);
    end(&a);
}

Test(added, digits_are_0_to_9)
{
    static const char *const names[][2] = { { "09", "#" },        { "a9", "a#" },    { "9a", "#a" },
                                            { "a/0:b", "a/#:b" }, { "1a2", "#a#" },  { "x1y22z", "x#y#z" },
                                            { "/:", "/:" },       { "99 9", "# #" }, { "a", "a" } };
    fleet_dump               d = { .arena = hdx_arena_of(NULL) };
    hdx_arena                arena = hdx_arena_of(NULL);
    for (size_t i = 0; i < HDX_COUNT(names); i++) {
        hdx_cell       out = hdx_cell_null();
        const hdx_cell from = hdx_cell_string(names[i][0]);
        cr_assert(hdx_fleet_pool.make(&d, &from, &arena, &out, NULL) == HDX_OK);
        cr_expect(hdx_text_is(out.as.text, names[i][1]), "%s: %.*s", names[i][0], (int)out.as.text.len, out.as.text.at);
    }
    hdx_arena_free(&arena);
}

/* Of whom each request for memory is refused once: it is told, and asked again the value is right. */
Test(added, memory_that_is_refused_is_told_and_changes_nothing)
{
    added_test a;
    uint64_t   loader = 0;
    begin(&a, HDX_TREE "/examples/bookshop.hprof.gz");
    for (uint32_t c = 0; loader == 0; c++)
        loader = hdx_graph_class(a.d.g, c)->loader;
    const hdx_cell from[] = { hdx_cell_string("A$$Lambda$1"), hdx_cell_address(loader), hdx_cell_string("p-1"),
                              hdx_cell_null(), hdx_cell_address(loader) };
    for (size_t i = 0; i < HDX_COUNT(all); i++) {
        unsigned refused = 0;
        bool     fired = true;
        for (unsigned n = 1; fired; n++) {
            hdx_arena  arena = hdx_arena_of(&a.mem);
            hdx_cell   out = hdx_cell_null(), again = hdx_cell_null();
            faulty_mem f;
            hdx_arena_free(&a.d.arena);
            hdx_map_free(&a.d.loaders);
            a.d.arena = hdx_arena_of(&a.mem);
            a.d.loaders = hdx_map_of(&a.mem);
            faulty_mem_init(&f, &a.mem, n);
            const hdx_code code = all[i]->make(&a.d, &from[i], &arena, &out, &a.t.err);
            fired = faulty_mem_fired(&f);
            a.mem.refuse = NULL;
            cr_expect(code == (fired ? HDX_LIMIT : HDX_OK), "%zu, request %u: %d", i, n, code);
            cr_expect(all[i]->make(&a.d, &from[i], &arena, &again, &a.t.err) == HDX_OK);
            if (code == HDX_OK && out.kind == HDX_CELL_TEXT)
                cr_expect(again.kind == HDX_CELL_TEXT && out.as.text.len == again.as.text.len && out.as.text.len > 0 &&
                          memcmp(out.as.text.at, again.as.text.at, out.as.text.len) == 0);
            refused += fired;
            hdx_arena_free(&arena);
        }
        cr_expect(refused > 0 || all[i] == &hdx_fleet_owner, "%zu", i);
    }
    end(&a);
}

Test(added, a_name_of_one_letter_is_its_key)
{
    added_test     a;
    hdx_arena      arena = hdx_arena_of(NULL);
    hdx_cell       out = hdx_cell_null();
    const hdx_cell from = hdx_cell_string("A");
    begin(&a, NULL);
    cr_assert(hdx_fleet_class_key.make(&a.d, &from, &arena, &out, NULL) == HDX_OK);
    cr_expect(hdx_text_is(out.as.text, "A"));
    hdx_arena_free(&arena);
    end(&a);
}
