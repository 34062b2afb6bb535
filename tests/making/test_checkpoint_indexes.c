/*
 * test_checkpoint_indexes.c - checkpoints whose catalog or index files have other contents, with right checksums: the
 * build resumes only those that it could have written itself.
 */
#include "making/resumed_build.h"

#include <stddef.h>

TestSuite(checkpoint, .init = make, .fini = drop, .timeout = 250);

/* ---- the catalog ---- */

static void no_id(forgery *f) { f->classes[f->class_count - 1].id = HDX_NO_ID; }
static void same_id(forgery *f) { f->classes[f->class_count - 1].id = f->classes[0].id; }
static void classes_of_arrays(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        if (hdx_text_is(f->classes[i].name, "java.lang.Class"))
            f->classes[i].kind = HDX_OBJECT_ARRAY;
}
static void many_objects(forgery *f) { f->m.objects = 1ull << 60; }
static void no_files(forgery *f) { memset(f->m.files, 0, sizeof f->m.files); }
static void a_file_more(forgery *f) { f->m.files[HDX_KIND_RETAINED] = f->m.files[HDX_KIND_ADDRESS]; }
static void first_file_less(forgery *f) { f->m.files[0].name[0] = '\0'; }
static void first_file_of_another_name(forgery *f) { f->m.files[0].name[0] = 'x'; }
static void last_file_less(forgery *f)
{
    unsigned kind = HDX_KINDS_MAX - 1;
    while (f->m.files[kind].name[0] == '\0')
        kind--;
    f->m.files[kind].name[0] = '\0';
}
static void another_dump(forgery *f) { f->m.dump_number++; }
static void odd_layout(forgery *f)
{
    f->m.alignment = 0;
    f->m.reference_size = 77;
}

Test(checkpoint, with_a_catalog_that_says_something_else_is_left)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        change_catalog(k, no_id, "a class without object", false);
        change_catalog(k, same_id, "two classes with the same object", false);
        change_catalog(k, classes_of_arrays, "java.lang.Class of arrays", false);
        change_catalog(k, another_dump, "another dump of the file", false);
        change_catalog(k, many_objects, "objects without bytes", false);
        change_catalog(k, no_files, "no files", false);
        change_catalog(k, first_file_less, "the first file is missing", false);
        change_catalog(k, first_file_of_another_name, "the first file has another name", false);
        change_catalog(k, last_file_less, "the last file is missing", false);
        change_catalog(k, a_file_more, "a file more", false);
        change_catalog(k, odd_layout, "layout", false);
    }
}

/* ---- index files ---- */

/* Number of the first value of a list of several. */
static uint64_t several(const forged_lists *f)
{
    uint64_t at = 0, v = 0;
    for (; f->degrees[v] < 2; v++)
        at += f->degrees[v];
    return at;
}

static void swap_two(forged_lists *f)
{
    const uint64_t at = several(f), value = f->values[at];
    f->values[at] = f->values[at + 1];
    f->values[at + 1] = value;
}
/* The last two of the longest. */
static void swap_last(forged_lists *f)
{
    uint64_t at = 0, end = 0, most = 0;
    for (uint64_t v = 0; v < f->keys; v++) {
        at += f->degrees[v];
        if (f->degrees[v] > most) {
            most = f->degrees[v];
            end = at;
        }
    }
    cr_assert(most > 2);
    const uint64_t value = f->values[end - 1];
    f->values[end - 1] = f->values[end - 2];
    f->values[end - 2] = value;
}
static void say_twice(forged_lists *f)
{
    const uint64_t at = several(f);
    f->values[at + 1] = f->values[at];
}
static void lead_outside(forged_lists *f) { f->values[f->count - 1] = f->keys; }
static void change_nothing(forged_lists *f) { (void)f; }

static void forge_lists(forgery *f, hdx_kind kind, void (*change)(forged_lists *l))
{
    forged_lists l = forge_lists_begin(f, kind, kind == HDX_KIND_INSTANCES ? f->m.classes : f->m.objects);
    change(&l);
    forge_lists_end(f, kind, &l);
}

static void falling(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, swap_two); }
static void falling_late(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, swap_last); }
static void falling_inbound(forgery *f) { forge_lists(f, HDX_KIND_INBOUND, swap_two); }
static void falling_inbound_late(forgery *f) { forge_lists(f, HDX_KIND_INBOUND, swap_last); }
static void twice(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, say_twice); }
static void outside(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, lead_outside); }
static void as_it_was(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, change_nothing); }

/* Lists are laid out from the file again, and what comes behind trusts them. */
Test(checkpoint, with_lists_that_no_build_writes_is_left)
{
    change_catalog(1, falling, "a list that falls", false);
    change_catalog(1, falling_late, "a list that falls at its end", false);
    for (unsigned k = 2; k < PARTIAL_STEPS; k++) {
        change_catalog(k, falling_inbound, "inbound that falls", false);
        change_catalog(k, falling_inbound_late, "inbound that falls at its end", false);
    }
    change_catalog(1, twice, "a target twice", false);
    change_catalog(1, outside, "a target that is no object", false);
    change_catalog(1, as_it_was, "written again as it was", true);
}

/* Two values of neighbouring lists change places: both lists still rise. */
static void exchange(forged_lists *f)
{
    uint64_t at = 0;
    for (uint64_t v = 0; v + 1 < f->keys; at += f->degrees[v++])
        if (f->degrees[v] == 1 && f->degrees[v + 1] == 1 && f->values[at] != f->values[at + 1]) {
            const uint64_t value = f->values[at];
            f->values[at] = f->values[at + 1];
            f->values[at + 1] = value;
            return;
        }
    cr_assert(false, "no such lists");
}
static void other_inbound(forgery *f) { forge_lists(f, HDX_KIND_INBOUND, exchange); }
static void other_outbound(forgery *f) { forge_lists(f, HDX_KIND_OUTBOUND, exchange); }
static void other_instances(forgery *f) { forge_lists(f, HDX_KIND_INSTANCES, exchange); }
static void same_inbound(forgery *f) { forge_lists(f, HDX_KIND_INBOUND, change_nothing); }

/* One value of a column is another. */
static uint64_t at_place, to_value;
static hdx_kind of_kind;

static void other_value(forgery *f)
{
    forged_ints c = forge_ints_begin(f, of_kind, of_kind == HDX_KIND_NEAREST ? f->m.specials : f->m.objects);
    uint64_t   *value = &c.values[at_place % c.count];
    *value = *value == to_value ? to_value + 1 : to_value;
    forge_ints_end(f, of_kind, &c);
}

Test(checkpoint, with_files_that_contradict_each_other_is_left)
{
    static const struct {
        hdx_kind    kind;
        uint64_t    at, to;
        const char *what;
    } values[] = {
        { HDX_KIND_CLASS, 40, 1, "another class than instances say" },
        { HDX_KIND_CLASS, 40, 1u << 20, "no class" },
        { HDX_KIND_POSITION, 17, 1ull << 40, "a position behind the dump" },
        { HDX_KIND_SIZE, 30, 1ull << 33, "a length of more than 32 bits" },
    };
    for (unsigned k = 1; k < PARTIAL_STEPS; k++) {
        change_catalog(k, other_instances, "instances", false);
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            of_kind = values[i].kind, at_place = values[i].at, to_value = values[i].to;
            change_catalog(k, other_value, values[i].what, false);
        }
    }
    for (unsigned k = 2; k < PARTIAL_STEPS; k++) {
        change_catalog(k, other_inbound, "inbound lists that are not outbound ones", false);
        change_catalog(k, other_outbound, "outbound lists that are not inbound ones", false);
        change_catalog(k, same_inbound, "inbound lists as they were", true);
        of_kind = HDX_KIND_NEAREST, at_place = 3, to_value = 1;
        change_catalog(k, other_value, "a root that is none", false);
        to_value = 0;
        change_catalog(k, other_value, "garbage that lives", false);
        to_value = 1ull << 31;
        change_catalog(k, other_value, "a parent that is no object", false);
    }
}

/* Reckoned again from the rest, so it does not matter what is said. */
static void odd_counts(forgery *f)
{
    hdx_manifest *m = &f->m;
    m->live_objects = m->live_bytes = m->unreachable_objects = m->unreachable_bytes = m->dominators = m->gc_roots =
        m->roots = m->threads = 1ull << 60;
    for (uint32_t i = 0; i < f->class_count; i++) {
        hdx_class *c = &f->classes[i];
        c->instances = c->live_instances = c->bytes = c->live_bytes = 1ull << 60;
        c->instance_size = c->class_shallow = ~0ull - i;
    }
}
static void more_references(forgery *f) { f->m.references++; }
static void more_values(forgery *f) { f->m.outbound_values++; }
static void no_such_kind(forgery *f) { f->classes[2].kind = HDX_CLASS_OBJECT; }
static void no_such_element(forgery *f)
{
    f->classes[2].kind = HDX_PRIMITIVE_ARRAY;
    f->classes[2].element_type = 77;
}

Test(checkpoint, with_counts_of_its_own_is_counted_again)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        change_catalog(k, odd_counts, "counts", true);
        change_catalog(k, no_such_kind, "objects of classes", false);
        change_catalog(k, no_such_element, "elements", false);
    }
    for (unsigned k = 2; k < PARTIAL_STEPS; k++)
        change_catalog(k, more_references, "references", false);
    for (unsigned k = 1; k < PARTIAL_STEPS; k++)
        change_catalog(k, more_values, "outbound values", false);
}

static uint64_t pair_place;
/* Two values that follow each other change places. */
static void swap_at(forged_lists *f)
{
    const uint64_t value = f->values[pair_place];
    f->values[pair_place] = f->values[pair_place + 1];
    f->values[pair_place + 1] = value;
}
static void same_instances(forgery *f) { forge_lists(f, HDX_KIND_INSTANCES, change_nothing); }
static void large_instances(forgery *f) { forge_lists(f, HDX_KIND_INSTANCES, swap_at); }

Test(checkpoint, of_a_large_heap_is_read_to_its_end)
{
    static const uint64_t places[] = { 1022, 1023, 1024, 2047, 65534, 65535, 65536, 69800 };
    make_large();
    change_catalog(1, same_instances, "instances as they were", true);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        pair_place = places[i] + 100; /* behind the class objects' */
        change_catalog(1, large_instances, "instances that fall", false);
        of_kind = HDX_KIND_CLASS, at_place = places[i], to_value = 1;
        change_catalog(1, other_value, "another class", false);
        of_kind = HDX_KIND_POSITION, at_place = places[i], to_value = 1ull << 40;
        change_catalog(1, other_value, "a position behind the dump", false);
    }
}

/* ---- bounds ---- */

static hdx_class *a_class(forgery *f) { return &f->classes[f->class_count - 1]; }
static void       class_behind(forgery *f) { a_class(f)->id = f->m.objects; }
static void       aligned_to_4(forgery *f) { f->m.alignment = 4; }
static void       aligned_to_512(forgery *f) { f->m.alignment = 512; }
static void       kind_behind(forgery *f) { a_class(f)->kind = HDX_PRIMITIVE_ARRAY + 1; }

/* The number behind the last one is none. */
Test(checkpoint, is_held_to_the_least_number_that_is_none)
{
    change_catalog(0, look, "as it is", true);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        change_catalog(k, class_behind, "a class behind the last object", false);
        change_catalog(k, aligned_to_4, "objects at any place of 4 bytes", false);
        change_catalog(k, aligned_to_512, "objects at any place of 512 bytes", false);
        change_catalog(k, kind_behind, "a class of no kind", false);
    }
    static const struct {
        const char *what;
        size_t      at;
        bool        classes;
    } roots[] = { { "a root behind the last object", offsetof(hdx_root, object), false },
                  { "a root of a thread behind the last object", offsetof(hdx_root, thread), false } };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        partial_build p = partial_copy(&left[0]);
        memcpy((uint8_t *)partial_roots(&p) + roots[i].at, &bounds.objects, 8);
        partial_seal(&p, true);
        cr_expect(!finish_from(&p, roots[i].what), "%s", roots[i].what);
    }
    partial_build p = partial_copy(&left[0]);
    partial_roots(&p)->type = HDX_ROOT_TYPES;
    partial_seal(&p, true);
    cr_expect(!finish_from(&p, "a root of no type"), "a root of no type");
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        for (unsigned field = 0; field < 3; field++) {
            p = partial_copy(&left[k]);
            hdx_checkpoint_head *head = partial_head(&p);
            if (field == 0)
                head->class_class = bounds.classes;
            else if (field == 1)
                head->loader_class = bounds.classes;
            else
                head->reached = bounds.objects + 1;
            partial_seal(&p, true);
            cr_expect(finish_from(&p, "a head") == (field == 2 && k < 2), "step %u, field %u", k, field);
        }
    p = partial_copy(&left[0]);
    partial_units(&p)->last = bounds.objects;
    partial_seal(&p, true);
    cr_expect(!finish_from(&p, "a unit"), "a unit with an object behind the last");
}
