/*
 * test_hostile.c - index folders that somebody else hands over: one thing in them is a lie, and all sums are right.
 * Every question is asked, of what lives and of all, and the index is verified: answers may be nonsense or refused, but
 * they end, and touch nothing that is not theirs (the sanitizers' presets see that). Verify finds each lie.
 */
#include "making/partial_build.h"
#include "fuzz/ask.h"
#include "support/folder.h"
#include "support/gzip_maker.h"
#include "tests/indexes/forged.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#define MEMBER 4096u /* bytes of the dump in a gzip member: several seek points */

static char folder[TEST_FOLDER], dump[128], place[160];

/* ---- changing one file ---- */
static uint64_t count_of(const forgery *f, hdx_kind kind)
{
    return kind == HDX_KIND_DOMINATOR || kind == HDX_KIND_NEAREST ? f->m.specials
           : kind == HDX_KIND_INSTANCES                           ? f->m.classes
           : kind == HDX_KIND_DOMINATED                           ? f->m.dominators + 1
                                                                  : f->m.objects;
}

typedef uint64_t other(const forgery *f, uint64_t key, uint64_t value);

/* Each value of a column is what `other` says. */
static void each_int(forgery *f, hdx_kind kind, other *other)
{
    forged_ints c = forge_ints_begin(f, kind, count_of(f, kind));
    for (uint64_t i = 0; i < c.count; i++)
        c.values[i] = other(f, i, c.values[i]);
    forge_ints_end(f, kind, &c);
}

/* Each value of each list. */
static void each_value(forgery *f, hdx_kind kind, other *other)
{
    forged_lists l = forge_lists_begin(f, kind, count_of(f, kind));
    for (uint64_t i = 0; i < l.count; i++)
        l.values[i] = other(f, l.of[i], l.values[i]);
    forge_lists_end(f, kind, &l);
}

/* A set of ids with other members; the manifest says how many. */
static void other_set(forgery *f, hdx_kind kind, const uint64_t *words)
{
    const hdx_index_place place_of = forged_place(f);
    hdx_index_file        file;
    hdx_error             err = { .code = HDX_OK };
    forged_must(hdx_ranks_write(&place_of, kind, f->m.objects, words, &file, &err) == HDX_OK, hdx_kind_name(kind),
                &err);
    forged_written(f, kind, &file);
}

/* Bytes of a section, or numbers of the head (section HDX_SECTIONS), as `change` leaves them. */
static void raw(forgery *f, hdx_kind kind, unsigned section, void (*change)(uint8_t *at, size_t len))
{
    const hdx_index_place place_of = forged_place(f);
    hdx_view              sections[HDX_SECTIONS];
    hdx_index_file        file;
    uint64_t              counts[3];
    partial_build         p = { .count = 0 };
    char                  name[64];
    partial_read_folder(&p, f->folder);
    (void)snprintf(name, sizeof name, "%s.hdx", hdx_kind_name(kind));
    partial_file  *was = partial_find(&p, name);
    const unsigned n = hostile_sections(was->at, was->len, sections);
    for (unsigned i = 0; i < 3; i++)
        counts[i] = hdx_le64(was->at + 32 + 8 * i);
    if (section == HDX_SECTIONS)
        change((uint8_t *)counts, sizeof counts);
    else
        change(was->at + (sections[section].at - was->at), sections[section].len);
    cr_assert(hostile_write(&place_of, kind, counts, sections, n, &file) == HDX_OK);
    forged_written(f, kind, &file);
    partial_free(&p);
}

static void fill_ff(uint8_t *at, size_t len) { memset(at, 0xff, len); }
static void fill_zero(uint8_t *at, size_t len) { memset(at, 0, len); }
static void first_word_far(uint8_t *at, size_t len)
{
    (void)len;
    hdx_put64(at, 1ull << 40);
}
static void last_word_far(uint8_t *at, size_t len) { hdx_put64(at + len - 8, ~0ull >> 1); }
static void second_count_far(uint8_t *at, size_t len)
{
    (void)len;
    hdx_put64(at + 8, 1ull << 50);
}
static void turn_round(uint8_t *at, size_t len)
{
    for (size_t i = 0; i < len / 2; i++) {
        const uint8_t byte = at[i];
        at[i] = at[len - 1 - i];
        at[len - 1 - i] = byte;
    }
}
static void every_third_byte(uint8_t *at, size_t len)
{
    for (size_t i = 0; i < len; i += 3)
        at[i] = (uint8_t)(at[i] + i + 1);
}

/* ---- values ---- */
static uint64_t beyond(const forgery *f, uint64_t key, uint64_t value)
{
    return key % 3 == 1 ? f->m.objects + key : value;
}
static uint64_t far_beyond(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)f, key % 5 == 2 ? UINT64_MAX / 2 + key : value;
}
static uint64_t next_one(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)value, (key + 1) % f->m.objects;
}
static uint64_t last_of_all(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)key, (void)value, f->m.objects - 1;
}
static uint64_t zero(const forgery *f, uint64_t key, uint64_t value) { return (void)f, (void)key, (void)value, 0; }
static uint64_t itself(const forgery *f, uint64_t key, uint64_t value) { return (void)f, (void)value, key; }
static uint64_t one_more(const forgery *f, uint64_t key, uint64_t value) { return (void)f, (void)key, value + 1; }
static uint64_t class_after(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)key, (value + 1) % f->m.classes;
}
static uint64_t one_class(const forgery *f, uint64_t key, uint64_t value) { return (void)f, (void)key, (void)value, 0; }
static uint64_t inside_dump(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)value, key * 7919 % f->m.dump_size + 1;
}
static uint64_t longest(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)f, (void)key, (void)value, UINT32_MAX;
}
static uint64_t all_bytes(const forgery *f, uint64_t key, uint64_t value)
{
    return (void)key, (void)value, f->m.live_bytes;
}

/* Parents of special objects, in a circle: id + 2 of another special object. Every one of them is its neighbour's. */
static void circle(forgery *f, hdx_kind kind)
{
    const hdx_index_place place_of = forged_place(f);
    const hdx_index_file  file = forged_file(f, HDX_KIND_SPECIAL);
    hdx_damage_note       note = { 0 };
    hdx_ranks            *special;
    hdx_error             err = { .code = HDX_OK };
    forged_must(hdx_ranks_open(&place_of, HDX_KIND_SPECIAL, &file, f->m.objects, &note, &special, &err) == HDX_OK,
                "special", &err);
    forged_ints c = forge_ints_begin(f, kind, f->m.specials);
    for (uint64_t i = 0; i < c.count; i++)
        c.values[i] = c.values[i] == 0 ? 0 : hdx_ranks_at(special, (i + 1) % c.count) + 2;
    forge_ints_end(f, kind, &c);
    hdx_ranks_close(special);
}

/* Objects with one referrer whose parent is that: each is made the other's. */
static void circle_of_two(forgery *f)
{
    const hdx_index_place place_of = forged_place(f);
    const hdx_index_file  file = forged_file(f, HDX_KIND_SPECIAL);
    hdx_damage_note       note = { 0 };
    hdx_ranks            *special;
    hdx_error             err = { .code = HDX_OK };
    uint64_t              at = 0, before = HDX_NO_ID, before_at = 0, rank;
    forged_must(hdx_ranks_open(&place_of, HDX_KIND_SPECIAL, &file, f->m.objects, &note, &special, &err) == HDX_OK,
                "special", &err);
    forged_lists l = forge_lists_begin(f, HDX_KIND_INBOUND, f->m.objects);
    for (uint64_t id = 0; id < l.keys; at += l.degrees[id++]) {
        if (l.degrees[id] != 1 || hdx_ranks_find(special, id, &rank))
            continue;
        if (before != HDX_NO_ID) {
            l.values[at] = before;
            l.values[before_at] = id;
            before = HDX_NO_ID;
        } else {
            before = id;
            before_at = at;
        }
    }
    forge_lists_end(f, HDX_KIND_INBOUND, &l);
    hdx_ranks_close(special);
}

static void set_of(forgery *f, hdx_kind kind, uint64_t *count, uint64_t word)
{
    const uint64_t words = hdx_bits_words(f->m.objects);
    uint64_t      *bits = forged_copy(NULL, 0, 8 * (words + 1));
    for (uint64_t i = 0; i < words; i++)
        bits[i] = word;
    if (f->m.objects % 64 != 0)
        bits[words - 1] &= (1ull << f->m.objects % 64) - 1;
    *count = hdx_bits_count(bits, words);
    other_set(f, kind, bits);
    free(bits);
}

/* Columns by rank as long as the set is now. */
static void lengthen(forgery *f, hdx_kind kind, uint64_t was)
{
    const uint64_t now = f->m.specials;
    forged_ints    c = forge_ints_begin(f, kind, was), longer = { forged_copy(NULL, 0, 8 * (now + 1)), now };
    for (uint64_t i = 0; i < now; i++)
        longer.values[i] = was == 0 ? 1 : c.values[i % was];
    free(c.values);
    forge_ints_end(f, kind, &longer);
}

static void special_is(forgery *f, uint64_t word)
{
    const uint64_t was = f->m.specials;
    uint64_t       count;
    set_of(f, HDX_KIND_SPECIAL, &count, word);
    f->m.specials = count;
    lengthen(f, HDX_KIND_DOMINATOR, was);
    lengthen(f, HDX_KIND_NEAREST, was);
}

/* ---- the cases ---- */
static void address_order(forgery *f) { raw(f, HDX_KIND_ADDRESS, 0, turn_round); }
static void address_first(forgery *f) { raw(f, HDX_KIND_ADDRESS, 0, first_word_far); }
static void address_find(forgery *f) { raw(f, HDX_KIND_ADDRESS, 1, fill_zero); }
static void address_find_far(forgery *f) { raw(f, HDX_KIND_ADDRESS, 1, every_third_byte); }
static void address_chunks(forgery *f) { raw(f, HDX_KIND_ADDRESS, 2, every_third_byte); }
static void address_bits(forgery *f) { raw(f, HDX_KIND_ADDRESS, 2, fill_ff); }
static void address_samples(forgery *f) { raw(f, HDX_KIND_ADDRESS, 3, fill_ff); }
static void address_shape(forgery *f) { raw(f, HDX_KIND_ADDRESS, HDX_SECTIONS, second_count_far); }
static void position_anywhere(forgery *f) { each_int(f, HDX_KIND_POSITION, inside_dump); }
static void position_beyond(forgery *f) { each_int(f, HDX_KIND_POSITION, far_beyond); }
static void position_next(forgery *f) { each_int(f, HDX_KIND_POSITION, one_more); }
static void class_beyond(forgery *f) { each_int(f, HDX_KIND_CLASS, beyond); }
static void class_other(forgery *f) { each_int(f, HDX_KIND_CLASS, class_after); }
static void class_one(forgery *f) { each_int(f, HDX_KIND_CLASS, one_class); }
static void size_longest(forgery *f) { each_int(f, HDX_KIND_SIZE, longest); }
static void size_beyond(forgery *f) { each_int(f, HDX_KIND_SIZE, far_beyond); }
static void size_pages(forgery *f) { raw(f, HDX_KIND_SIZE, 0, every_third_byte); }
static void heap_of_nobody(forgery *f) { each_int(f, HDX_KIND_HEAP, one_more); }
static void outbound_beyond(forgery *f) { each_value(f, HDX_KIND_OUTBOUND, beyond); }
static void outbound_itself(forgery *f) { each_value(f, HDX_KIND_OUTBOUND, itself); }
static void outbound_last(forgery *f) { each_value(f, HDX_KIND_OUTBOUND, last_of_all); }
static void outbound_count(forgery *f) { raw(f, HDX_KIND_OUTBOUND, HDX_SECTIONS, second_count_far); }
static void outbound_lines(forgery *f) { raw(f, HDX_KIND_OUTBOUND, 0, every_third_byte); }
static void inbound_beyond(forgery *f) { each_value(f, HDX_KIND_INBOUND, beyond); }
static void inbound_next(forgery *f) { each_value(f, HDX_KIND_INBOUND, next_one); }
static void inbound_directory(forgery *f) { raw(f, HDX_KIND_INBOUND, 2, last_word_far); }
static void instances_beyond(forgery *f) { each_value(f, HDX_KIND_INSTANCES, beyond); }
static void instances_next(forgery *f) { each_value(f, HDX_KIND_INSTANCES, next_one); }
static void special_all(forgery *f) { special_is(f, ~0ull); }
static void special_none(forgery *f) { special_is(f, 0); }
static void special_lines(forgery *f) { raw(f, HDX_KIND_SPECIAL, 0, fill_ff); }
static void special_samples(forgery *f) { raw(f, HDX_KIND_SPECIAL, 1, fill_ff); }
static void dominator_circle(forgery *f) { circle(f, HDX_KIND_DOMINATOR); }
static void dominator_beyond(forgery *f) { each_int(f, HDX_KIND_DOMINATOR, beyond); }
static void dominator_zero(forgery *f) { each_int(f, HDX_KIND_DOMINATOR, zero); }
static void nearest_circle(forgery *f) { circle(f, HDX_KIND_NEAREST); }
static void nearest_beyond(forgery *f) { each_int(f, HDX_KIND_NEAREST, far_beyond); }
static void nearest_zero(forgery *f) { each_int(f, HDX_KIND_NEAREST, zero); }
static void dominators_other(forgery *f)
{
    uint64_t count;
    set_of(f, HDX_KIND_DOMINATORS, &count, 0x5555555555555555ull);
}
static void dominated_beyond(forgery *f) { each_value(f, HDX_KIND_DOMINATED, beyond); }
static void dominated_last(forgery *f) { each_value(f, HDX_KIND_DOMINATED, last_of_all); }
static void dominated_next(forgery *f) { each_value(f, HDX_KIND_DOMINATED, next_one); }
static void retained_all(forgery *f) { each_int(f, HDX_KIND_RETAINED, all_bytes); }
static void retained_beyond(forgery *f) { each_int(f, HDX_KIND_RETAINED, far_beyond); }
static void retained_zero(forgery *f) { each_int(f, HDX_KIND_RETAINED, zero); }
static void seek_points(forgery *f) { raw(f, HDX_KIND_SEEK, 0, every_third_byte); }
static void seek_far(forgery *f) { raw(f, HDX_KIND_SEEK, 0, last_word_far); }
static void seek_count(forgery *f) { raw(f, HDX_KIND_SEEK, HDX_SECTIONS, first_word_far); }
static void seek_round(forgery *f) { raw(f, HDX_KIND_SEEK, 0, turn_round); }
static void catalog_objects(forgery *f) { f->m.objects = 1ull << 60; }
static void catalog_fewer(forgery *f) { f->m.objects -= 2; }
static void catalog_classes(forgery *f) { f->m.classes--; }
static void catalog_specials(forgery *f) { f->m.specials++; }
static void catalog_dominators(forgery *f) { f->m.dominators = f->m.objects; }
static void catalog_live(forgery *f) { f->m.live_bytes = 1ull << 62; }
static void catalog_references(forgery *f) { f->m.references++; }
static void catalog_id_size(forgery *f) { f->m.id_size = 4; }
static void catalog_dump_size(forgery *f) { f->m.dump_size /= 2; }
static void catalog_alignment(forgery *f) { f->m.alignment = 0; }
static void catalog_layout(forgery *f) { f->m.alignment = 251, f->m.reference_size = 4; }
static void classes_of_one_object(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].id = f->m.objects - 1;
}
static void classes_without(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].id = HDX_NO_ID;
}
static void classes_kinds(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].kind = (hdx_object_kind)((f->classes[i].kind + 1) % 3), f->classes[i].element_type = 8;
}
static void classes_elements(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].kind = HDX_PRIMITIVE_ARRAY, f->classes[i].element_type = 250;
}
static void classes_supers(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].super = i + 1 < f->class_count ? i + 1 : HDX_NO_CLASS;
}
static void classes_circle(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].super = (i + 1) % f->class_count;
}
static void classes_sizes(forgery *f)
{
    for (uint32_t i = 0; i < f->class_count; i++)
        f->classes[i].instance_size = f->classes[i].class_shallow = UINT64_MAX - i;
}
static void classes_fields(forgery *f) /* all have those of the class with the most, of types that there are not */
{
    static hdx_field fields[64];
    for (unsigned i = 0; i < 64; i++)
        fields[i] = (hdx_field){ f->classes[0].name, (uint8_t)(i * 5) };
    for (uint32_t i = 0; i < f->class_count; i++) {
        f->classes[i].fields = f->classes[i].statics = fields;
        f->classes[i].field_count = f->classes[i].static_count = 64;
    }
}
static void roots_elsewhere(forgery *f)
{
    for (uint64_t i = 0; i < f->root_count; i++)
        f->roots[i].object = f->m.objects - f->root_count + i;
}
static void roots_of_threads(forgery *f)
{
    for (uint64_t i = 0; i < f->root_count; i++)
        f->roots[i].thread = f->roots[i].object, f->roots[i].frame = 1 << 30;
}
static void threads_of_anything(forgery *f)
{
    for (uint64_t i = 0; i < f->thread_count; i++)
        f->threads[i].object = i % 2 == 0 ? 0 : HDX_NO_ID;
}

static const struct hostile_case {
    const char *name;
    void (*change)(forgery *f);
    bool unseen; /* nothing that another file or the dump contradicts */
} cases[] = {
#define CASE(change)                                                                                                   \
    {                                                                                                                  \
#change, change, false                                                                                         \
    }
#define UNSEEN(change)                                                                                                 \
    {                                                                                                                  \
#change, change, true                                                                                          \
    }
    CASE(address_order),      CASE(address_first),
    CASE(address_find),       CASE(address_find_far),
    CASE(address_chunks),     CASE(address_bits),
    CASE(address_samples),    CASE(address_shape),
    CASE(position_anywhere),  CASE(position_beyond),
    CASE(position_next),      CASE(class_beyond),
    CASE(class_other),        CASE(class_one),
    CASE(size_longest),       CASE(size_beyond),
    CASE(size_pages),         UNSEEN(heap_of_nobody),
    CASE(outbound_beyond),    CASE(outbound_itself),
    CASE(outbound_last),      CASE(outbound_count),
    CASE(outbound_lines),     CASE(inbound_beyond),
    CASE(inbound_next),       CASE(circle_of_two),
    CASE(inbound_directory),  CASE(instances_beyond),
    CASE(instances_next),     CASE(special_all),
    CASE(special_none),       CASE(special_lines),
    CASE(special_samples),    CASE(dominator_circle),
    CASE(dominator_beyond),   CASE(dominator_zero),
    CASE(nearest_circle),     CASE(nearest_beyond),
    CASE(nearest_zero),       CASE(dominators_other),
    CASE(dominated_beyond),   CASE(dominated_last),
    CASE(dominated_next),     CASE(retained_all),
    CASE(retained_beyond),    CASE(retained_zero),
    CASE(seek_points),        CASE(seek_far),
    CASE(seek_count),         CASE(seek_round),
    CASE(catalog_objects),    CASE(catalog_fewer),
    CASE(catalog_classes),    CASE(catalog_specials),
    CASE(catalog_dominators), CASE(catalog_live),
    CASE(catalog_references), CASE(catalog_id_size),
    CASE(catalog_dump_size),  CASE(catalog_alignment),
    CASE(catalog_layout),     CASE(classes_of_one_object),
    CASE(classes_without),    CASE(classes_kinds),
    CASE(classes_elements),   UNSEEN(classes_supers),
    CASE(classes_circle),     CASE(classes_sizes),
    UNSEEN(classes_fields),   CASE(roots_elsewhere),
    CASE(roots_of_threads),   UNSEEN(threads_of_anything),
};

static void make(void)
{
    static heap_model h;
    gm_bytes          packed = { 0 }, plain = { 0 };
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    size_t            len;
    test_folder_make_fast(folder, "hostile");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof.gz", folder);
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    dump_maker    *m = model_make(&h, 23, 380, 8);
    const uint8_t *bytes = dump_maker_bytes(m, &len);
    gm_put(&plain, bytes, len);
    gm_jdk_put(&packed, &plain, MEMBER);
    FILE *f = fopen(dump, "wb");
    cr_assert(f != NULL && fwrite(packed.at, 1, packed.len, f) == packed.len && fclose(f) == 0);
    gm_free(&packed);
    gm_free(&plain);
    dump_maker_free(m);
    const hdx_index_options options = { .dump = dump, .threads = 1 };
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
}

static void drop(void) { test_folder_remove(folder); }

TestSuite(hostile, .init = make, .fini = drop, .timeout = 120);

static bool is_plain_answer(hdx_code code)
{
    return code == HDX_OK || code == HDX_DAMAGED || code == HDX_NOT_FOUND || code == HDX_LIMIT || code == HDX_BAD_DUMP;
}

static void ask_everything(const struct hostile_case *c)
{
    hdx_graph *g;
    hdx_error  err = { .code = HDX_OK };
    hdx_code   code = hdx_graph_open(place, dump, &g, &err);
    if (code != HDX_OK) {
        cr_expect(code == HDX_DAMAGED, "%s: %s", c->name, hdx_code_name(code));
        return;
    }
    code = hdx_graph_verify(g, true, &err); /* first: damage once met stays the answer */
    cr_expect(c->unseen ? code == HDX_OK || code == HDX_DAMAGED : code == HDX_DAMAGED || code == HDX_BAD_DUMP,
              "%s: verify says %s %s", c->name, hdx_code_name(code), err.message);
    hdx_graph_close(g);
    for (unsigned scope = 0; scope < 2; scope++)
        for (unsigned question = 0; question < ASK_QUESTIONS;
             question++) { /* each by a graph that has seen nothing yet */
            cr_assert(hdx_graph_open(place, dump, &g, &err) == HDX_OK, "%s", c->name);
            const answer a = ask(g, question, scope == 0 ? HDX_LIVE : HDX_ALL);
            cr_expect(is_plain_answer(a.code), "%s: question %u: %s", c->name, question, hdx_code_name(a.code));
            hdx_graph_close(g);
        }
}

/* By number: a test runs in a process of its own, where functions lie elsewhere. */
ParameterizedTestParameters(hostile, index_is_asked_and_ends)
{
    static unsigned numbers[sizeof cases / sizeof *cases];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        numbers[i] = i;
    return cr_make_param_array(unsigned, numbers, sizeof cases / sizeof *cases, NULL);
}

ParameterizedTest(unsigned *number, hostile, index_is_asked_and_ends)
{
    const struct hostile_case *c = &cases[*number];
    forgery                    f = forge_begin(place, "");
    c->change(&f);
    forge_end(&f);
    ask_everything(c);
}
