/*
 * test_checkpoint.c - going on from a .part folder that rotted, or that somebody made on purpose: with sums that do not
 * hold the build begins anew, with sums made right nothing leads outside, and no name in the folder leads to a file
 * elsewhere.
 */
#include "making/partial_build.h"
#include "support/folder.h"
#include "tests/indexes/forged.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stddef.h>
#include <zlib.h>

static char          folder[TEST_FOLDER], dump[64], part[96], place[96];
static partial_build straight, left[PARTIAL_STEPS]; /* left[k]: behind k + 1 steps */
static bool          went_on;
static unsigned      width; /* of ids; 0: as the heap allows */

static void notice(void *context, const char *line)
{
    (void)context;
    went_on = went_on || strstr(line, "resuming an earlier build after its step") != NULL;
}

static hdx_index_options options_of(void)
{
    return (hdx_index_options){ .dump = dump, .threads = 1, .width = width, .notice = notice };
}

/* Builds the index of the dump in one go, and as far as each step. */
static void build_parts(dump_maker *m)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err;
    char              path[96];
    dump_maker_save(m, dump);
    dump_maker_free(m);
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    partial_read_folder(&straight, place);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        cr_assert(partial_stop(&options, k + 1, &err) == HDX_LIMIT, "step %u: %s", k, err.message);
        partial_read_folder(&left[k], part);
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    }
}

static void make(void)
{
    static heap_model h;
    test_folder_make_fast(folder, "partial"); /* hundreds of builds, each synced */
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(part, sizeof part, "%s", own_of_dump("part", dump));
    (void)snprintf(place, sizeof place, "%s.hdx", dump);
    build_parts(model_make(&h, 5, 380, 8));
}

static void free_parts(void)
{
    partial_free(&straight);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        partial_free(&left[k]);
}

static void drop(void)
{
    free_parts();
    test_folder_remove(folder);
}

TestSuite(checkpoint, .init = make, .fini = drop, .timeout = 250);

/* The folder is there already: the next build ends with the straight one's files and no others. */
static bool finish(const char *what)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    partial_build     now = { .count = 0 };
    char              path[96];
    went_on = false;
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    partial_read_folder(&now, place);
    cr_expect(now.count == straight.count, "%s: %u files, not %u", what, now.count, straight.count);
    for (unsigned i = 0; i < now.count; i++) {
        const partial_file *f = partial_find(&straight, now.files[i].name);
        cr_assert(f != NULL, "%s: %s in the index", what, now.files[i].name);
        if (strstr(f->name, ".hdx") != NULL)
            cr_expect(f->len == now.files[i].len && memcmp(f->at, now.files[i].at, f->len) == 0,
                      "%s: %s has other bytes", what, f->name);
    }
    cr_expect(access(part, F_OK) != 0, "%s: leftovers stay", what);
    partial_free(&now);
    cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK);
    return went_on;
}

/* Takes the copy. */
static bool finish_from(partial_build *p, const char *what)
{
    partial_write(p, part);
    partial_free(p);
    return finish(what);
}

Test(checkpoint, is_gone_on_from_behind_each_step)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        partial_build p = partial_copy(&left[k]);
        cr_expect(finish_from(&p, "as it was left"), "step %u", k);
    }
}

Test(checkpoint, leaves_nothing_of_a_killed_step_in_the_index)
{
    static const char *const names[] = { "references.tmp", "referrers.tmp",    "search.tmp",   "idoms.tmp",
                                         "semis.tmp",      "predecessors.tmp", "retained.hdx", "heap.hdx",
                                         "seek.hdx",       "view.tmp",         "catalog.mdb",  "checkpoint.new/state" };
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        partial_build p = partial_copy(&left[k]);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (partial_find(&p, names[i]) == NULL)
                (void)partial_put(&p, names[i], NULL, 100);
        cr_expect(finish_from(&p, "leftovers"), "step %u", k);
    }
}

Test(checkpoint, is_not_believed_where_a_file_rotted_or_is_missing)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        for (unsigned i = 0; i < left[k].count; i++)
            for (unsigned way = 0; way < 4; way++) {
                partial_build p = partial_copy(&left[k]);
                partial_file *f = &p.files[i];
                char          what[128];
                (void)snprintf(what, sizeof what, "step %u, %s, way %u", k, f->name, way);
                if (k + 1 < PARTIAL_STEPS && strstr(f->name, ".hdx") != NULL) { /* the last step has them all */
                    partial_free(&p);
                    break;
                }
                if (way == 3) {
                    free(f->at);
                    memmove(f, f + 1, (--p.count - i) * sizeof *f);
                } else if (way == 2)
                    (void)partial_put(&p, f->name, f->at, f->len + 1);
                else if (f->len == 0)
                    ;
                else if (way == 1)
                    f->len--;
                else
                    f->at[f->len / 2] ^= 0x10;
                const bool spare = strcmp(left[k].files[i].name, "seal") == 0 ||
                                   strcmp(left[k].files[i].name, "bits.tmp") == 0; /* the rest says the same */
                cr_expect(finish_from(&p, what) == spare || (way < 2 && left[k].files[i].len == 0), "%s: went on",
                          what);
            }
}

/* ---- names that lead elsewhere ---- */
static void make_victim(char *file, char *inner)
{
    FILE *f;
    (void)snprintf(file, 96, "%s/victim", folder);
    (void)mkdir(file, 0777);
    (void)snprintf(inner, 128, "%s/precious", file);
    f = fopen(inner, "w");
    cr_assert(f != NULL && fputs("kept", f) >= 0 && fclose(f) == 0);
}

static void expect_victim(const char *inner, const char *what)
{
    char  text[8] = "";
    FILE *f = fopen(inner, "r");
    cr_assert(f != NULL, "%s: the file is gone", what);
    cr_expect(fgets(text, sizeof text, f) != NULL && strcmp(text, "kept") == 0, "%s: the file was written to", what);
    (void)fclose(f);
}

Test(checkpoint, follows_no_link)
{
    static const char *const files[] = { "retained.hdx", "semis.tmp",        "catalog.mdb",
                                         "search.tmp",   "checkpoint/state", "special.hdx" };
    char                     victim[96], inner[128], name[192];
    make_victim(victim, inner);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            partial_write(&left[k], part);
            (void)snprintf(name, sizeof name, "%s/%s", part, files[i]);
            (void)unlink(name);
            cr_assert(symlink(inner, name) == 0);
            (void)finish(files[i]);
            expect_victim(inner, files[i]);
        }
        partial_write(&left[k], part);
        (void)snprintf(name, sizeof name, "%s/checkpoint.new", part);
        cr_assert(symlink(victim, name) == 0);
        (void)finish("checkpoint.new");
        expect_victim(inner, "checkpoint.new");
    }
    cr_assert(symlink(victim, part) == 0); /* the whole folder */
    (void)finish("a link for .part");
    expect_victim(inner, "a link for .part");
    cr_assert(symlink(victim, part) == 0);
    hdx_index_options options = options_of();
    (void)hdx_index_remove(&options, name, sizeof name, NULL);
    expect_victim(inner, "a link for .part, removed");
    cr_expect(access(part, F_OK) != 0);
}

Test(checkpoint, waits_for_no_pipe)
{
    static const char *const files[] = {
        "checkpoint/state", "checkpoint/catalog.mdb", "checkpoint/catalog.sum", "search.tmp", "class.hdx", "address.hdx"
    };
    char name[192];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        partial_write(&left[2], part);
        (void)snprintf(name, sizeof name, "%s/%s", part, files[i]);
        cr_assert(unlink(name) == 0 && mkfifo(name, 0666) == 0);
        cr_expect(!finish(files[i]), "%s", files[i]);
    }
}

/* The index goes elsewhere, and what is not heapdex's stays. */
Test(checkpoint, with_something_of_others_in_it_is_neither_used_nor_removed)
{
    static const char *const others[] = { "odd", "checkpoint/odd", "note.txt" };
    char                     name[192], cache[96];
    (void)snprintf(cache, sizeof cache, "%s/cache", folder);
    cr_assert(setenv("XDG_CACHE_HOME", cache, 1) == 0);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        hdx_index_options options = options_of();
        hdx_index_report  report;
        hdx_error         err;
        char              path[256];
        partial_write(&left[2], part);
        (void)snprintf(name, sizeof name, "%s/%s", part, others[i]);
        cr_assert(i < 2 ? mkdir(name, 0755) == 0 : mkfifo(name, 0600) == 0);
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", err.where, err.message);
        cr_expect_eq(strncmp(report.path, cache, strlen(cache)), 0, "%s", report.path);
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_OK, "%s", err.message); /* in the cache */
        cr_assert(hdx_index_remove(&options, path, sizeof path, &err) == HDX_USAGE, "%s", path);
        cr_expect(strstr(err.message, others[i]) != NULL, "%s", err.message);
        cr_expect(access(name, F_OK) == 0);
        (void)snprintf(path, sizeof path, "rm -rf %s %s", part, cache);
        cr_assert(system(path) == 0);
    }
}

/* ---- states that somebody made ---- */
Test(checkpoint, has_steps_in_their_order_alone)
{
    static const uint64_t steps[] = {
        0,         1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 19, 23, 27, 31, 32, 63, 127, 1ull << 63 | 15,
        UINT64_MAX
    };
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            partial_build p = partial_copy(&left[k]);
            const bool    right = partial_head(&p)->done == steps[i];
            partial_head(&p)->done = steps[i];
            partial_seal(&p, true);
            cr_expect(finish_from(&p, "steps") == right, "%u as %llx", k, (unsigned long long)steps[i]);
        }
}

Test(checkpoint, belongs_to_the_catalog_it_was_saved_with)
{
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        for (unsigned other = 0; other < PARTIAL_STEPS; other++) {
            partial_build       p = partial_copy(&left[k]);
            const partial_file *state = partial_find(&left[other], "checkpoint/state");
            (void)partial_put(&p, "checkpoint/state", state->at, state->len);
            cr_expect(finish_from(&p, "another state") == (k == other), "%u with the state of %u", k, other);
        }
}

static void tell_again(partial_build *p, const char *what)
{
    partial_seal(p, true);
    cr_expect(!finish_from(p, what), "%s", what);
}

Test(checkpoint, with_units_that_say_otherwise_than_their_records_is_left)
{
    partial_build p = partial_copy(&left[0]);
    uint8_t       odd = 2;
    memcpy(&partial_units(&p)->bare, &odd, 1);
    tell_again(&p, "neither true nor false");
    p = partial_copy(&left[0]);
    partial_units(&p)->objects = 0; /* such a unit is passed over */
    tell_again(&p, "no objects");
    p = partial_copy(&left[0]);
    partial_units(&p)->edges++;
    partial_head(&p)->spill_edges++;
    tell_again(&p, "edges");
    p = partial_copy(&left[0]);
    partial_units(&p)->last = UINT64_MAX - 1;
    tell_again(&p, "last id");
    p = partial_copy(&left[0]);
    partial_units(&p)[1] = partial_units(&p)[0];
    tell_again(&p, "a unit twice");
}

Test(checkpoint, with_referrers_twice_too_long_or_of_no_file_is_left)
{
    partial_build p = partial_copy(&left[2]);
    cr_assert(partial_head(&p)->chunks == 1);
    partial_head(&p)->referrer_bytes = 0; /* with chunks all the same */
    tell_again(&p, "no bytes");
    p = partial_copy(&left[2]);
    partial_head(&p)->chunk_longest = partial_chunks(&p)->bytes - 1; /* room for one is made by that */
    tell_again(&p, "a chunk longer than the longest");
    p = partial_copy(&left[2]);
    const partial_file *state = partial_find(&p, "checkpoint/state");
    const size_t        len = state->len;
    uint8_t            *longer = calloc(1, len + sizeof(hdx_referrer_chunk));
    memcpy(longer, state->at, len - 4);
    memcpy(longer + len - 4, partial_chunks(&p), sizeof(hdx_referrer_chunk));
    (void)partial_put(&p, "checkpoint/state", longer, len + sizeof(hdx_referrer_chunk));
    free(longer);
    partial_head(&p)->bytes += sizeof(hdx_referrer_chunk);
    partial_head(&p)->chunks++;
    partial_head(&p)->referrer_entries *= 2;
    tell_again(&p, "the same chunk twice");
}

/* Numbers of the head by the steps that have them: behind step `from` + 1, up to behind step `to` + 1. */
static const struct {
    size_t      at;
    unsigned    from, to;
    const char *what;
} head_numbers[] = {
    { offsetof(hdx_checkpoint_head, spill_bytes), 0, 0, "spill_bytes" },
    { offsetof(hdx_checkpoint_head, spill_longest), 0, 0, "spill_longest" },
    { offsetof(hdx_checkpoint_head, spill_edges), 0, 3, "spill_edges" },
    { offsetof(hdx_checkpoint_head, reached), 2, 3, "reached" },
    { offsetof(hdx_checkpoint_head, search_bytes), 2, 3, "search_bytes" },
    { offsetof(hdx_checkpoint_head, referrer_bytes), 2, 2, "referrer_bytes" },
    { offsetof(hdx_checkpoint_head, referrer_entries), 2, 2, "referrer_entries" },
    { offsetof(hdx_checkpoint_head, chunk_longest), 2, 2, "chunk_longest" },
    { offsetof(hdx_checkpoint_head, idoms_bytes), 3, 3, "idoms_bytes" },
    { offsetof(hdx_checkpoint_head, class_class), 0, 3, "class_class" },
    { offsetof(hdx_checkpoint_head, loader_class), 0, 3, "loader_class" },
    { offsetof(hdx_checkpoint_head, width), 0, 3, "width" },
};

/*
 * Others are nothing: the length of the longest chunk, kept from a step that was not done, once made room for 16 bytes
 * of a chunk of 12,716.
 */
Test(checkpoint, has_numbers_of_its_steps_alone)
{
    static const uint64_t odd[] = { UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 31, 1ull << 63, 1ull << 40, 1ull << 32 };
    for (unsigned k = 0; k < PARTIAL_STEPS; k++)
        for (size_t i = 0; i < sizeof head_numbers / sizeof *head_numbers; i++)
            for (size_t j = 0; j < sizeof odd / sizeof *odd; j++) {
                const bool    own = k >= head_numbers[i].from && k <= head_numbers[i].to;
                partial_build p = partial_copy(&left[k]);
                char          what[64];
                (void)snprintf(what, sizeof what, "step %u, %s %llx", k, head_numbers[i].what,
                               (unsigned long long)odd[j]);
                memcpy((uint8_t *)partial_head(&p) + head_numbers[i].at, &odd[j], 8);
                partial_seal(&p, true);
                cr_expect(finish_from(&p, what) == !own, "%s", what);
            }
}

static void unpack(const char *from, const char *to)
{
    static char piece[1u << 16];
    int         n;
    gzFile      in = gzopen(from, "rb");
    FILE       *out = fopen(to, "wb");
    cr_assert(in != NULL && out != NULL);
    while ((n = gzread(in, piece, sizeof piece)) > 0)
        cr_assert(fwrite(piece, 1, (size_t)n, out) == (size_t)n);
    cr_assert(n == 0 && gzclose(in) == Z_OK && fclose(out) == 0);
}

/* golden/hostile: sums made right as an attacker would. */
Test(checkpoint, of_the_reference_collection_overflows_nothing)
{
    static const char *const from = HDX_TREE "/../shared/golden";
    const struct timespec then[2] = { { .tv_sec = 1704067200 }, { .tv_sec = 1704067200 } }; /* 2024-01-01 00:00 UTC */
    char                  path[1024], leftover[96];
    partial_build         p = { .count = 0 };
    hdx_index_report      report;
    hdx_error             err = { .code = HDX_OK };
    hdx_graph            *g;
    (void)snprintf(path, sizeof path, "%s/hostile/checkpoint-overflow.part", from);
    if (access(path, R_OK) != 0)
        cr_skip("no %s", path);
    partial_read_folder(&p, path);
    (void)snprintf(path, sizeof path, "%s/dumps/leaky-jdk17-serial.hprof.gz", from);
    (void)snprintf(dump, sizeof dump, "%s/l.hprof", folder);
    (void)snprintf(leftover, sizeof leftover, "%s", own_of_dump("part", dump));
    unpack(path, dump);
    cr_assert(utimensat(AT_FDCWD, dump, then, 0) == 0);
    partial_write(&p, leftover);
    partial_free(&p);
    const hdx_index_options options = options_of();
    cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK && hdx_graph_verify(g, true, &err) == HDX_OK, "%s",
              err.message);
    hdx_graph_close(g);
}

Test(checkpoint, with_roots_that_no_catalog_can_hold_is_left)
{
    partial_build p = partial_copy(&left[0]);
    partial_roots(&p)->frame = -5;
    tell_again(&p, "frame");
    p = partial_copy(&left[0]);
    partial_roots(&p)->object = 1u << 30;
    tell_again(&p, "object");
}

/* The catalog of a checkpoint, or files of it, with other contents and right sums. */
static void change_catalog(unsigned k, void (*change)(forgery *f), const char *what, bool goes_on)
{
    partial_build p = { .count = 0 };
    partial_write(&left[k], part);
    forgery f = forge_begin(part, "checkpoint");
    change(&f);
    forge_end(&f);
    partial_read_folder(&p, part);
    partial_seal(&p, true);
    cr_expect(finish_from(&p, what) == goes_on, "%s", what);
}

/* The layouts that say how many references there may be are of the first pass, which is not made again. */
Test(checkpoint, is_gone_on_from_with_a_budget_and_no_references)
{
    hdx_index_options options = options_of();
    hdx_index_report  report;
    hdx_error         err = { .code = HDX_OK };
    options.until = HDX_STEP_OBJECTS;
    options.memory = 1ull << 30;
    cr_assert(partial_stop(&options, 1, &err) == HDX_LIMIT, "%s", err.message);
    went_on = false;
    cr_expect(hdx_index_build(&options, &report, &err) == HDX_OK, "%s", err.message);
    cr_expect(went_on);
}

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

/* ---- index files that somebody made, with right sums ---- */
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

static bool refuse_large(void *context, uint64_t bytes)
{
    (void)context;
    return bytes == (1u << 16); /* the piece that temporary files are looked at by */
}

Test(checkpoint, stays_when_there_is_no_memory_for_looking)
{
    const hdx_index_options options = options_of();
    hdx_build_doors         doors = { .io = hdx_io_system(), .refuse = refuse_large, .every_step = true };
    hdx_index_report        report;
    hdx_error               err;
    partial_write(&left[3], part);
    cr_assert(hdx_index_build_through(&doors, &options, &report, &err) == HDX_LIMIT, "%s", err.message);
    cr_assert(access(part, F_OK) == 0);
    cr_expect(finish("after a refusal"));
}

/* ---- heaps of which checkpoints are read in several pieces ---- */

/* More than 65 536 objects, lists of more than 1024, roots everywhere. */
static void make_large(void)
{
    enum { NODES = 70000, LONG = 3000 };
    static uint64_t refs[LONG];
    dump_maker     *m = dump_maker_new(8);
    const uint64_t  object = dump_maker_class(m, "java/lang/Object", 0, "");
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "left:L right:L"),
                   array = dump_maker_class(m, "[Lapp/Node;", object, "");
    uint64_t before[2] = { 0, 0 };
    for (unsigned i = 0; i < NODES; i++) {
        const uint64_t id = dump_maker_instance(m, node, DUMP_VALUES(before[0], i % 3 == 0 ? before[1] : 0));
        before[i % 2] = i % 1000 == 0 ? 0 : id;
        refs[i % LONG] = id;
        if (i % LONG == LONG - 1)
            (void)dump_maker_array(m, array, refs, i % 7 == 0 ? LONG : 1025);
        if (i % 50 == 7)
            dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, id, 0, 0);
    }
    for (unsigned i = 0; i < 5; i++) /* somebody with many referrers */
        (void)dump_maker_array(m, array, refs, LONG);
    free_parts();
    build_parts(m);
}

Test(checkpoint, of_a_large_heap_is_gone_on_from_behind_each_step)
{
    for (width = 32; width <= 64; width += 32) {
        make_large();
        for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
            partial_build p = partial_copy(&left[k]);
            cr_expect(finish_from(&p, "as it was left"), "step %u, ids of %u bits", k, width);
        }
    }
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

static struct bounds {
    uint64_t objects;
    uint32_t classes;
} bounds;
static void look(forgery *f) { bounds = (struct bounds){ f->m.objects, f->class_count }; }

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

/* ---- temporary files with other numbers, and right sums ---- */
static uint32_t *numbers_of(partial_build *p, const char *name)
{
    return (uint32_t *)(void *)partial_find(p, name)->at;
}

static uint64_t count_of(partial_build *p, const char *name) { return partial_find(p, name)->len / 8; }

/* Visits are pairs: who, and the number of its parent, or 0; each of them has the number of its place, from 1 on. */
static void spoil_visit(partial_build *p, uint64_t at, unsigned way)
{
    uint32_t      *v = numbers_of(p, "search.tmp");
    const uint64_t n = count_of(p, "search.tmp"), other = at == 0 ? 1 : at - 1;
    cr_assert_lt(at, n);
    if (way == 0)
        v[2 * at] = (uint32_t)bounds.objects;
    else if (way == 1)
        v[2 * at] = v[2 * other];
    else if (way == 2)
        v[2 * at + 1] = (uint32_t)at + 1;
    else if (v[2 * at + 1] == 0)
        v[2 * at + 1] = (uint32_t)at + (at == 0);
    else
        v[2 * at + 1] = 0;
}

Test(checkpoint, with_a_search_that_nobody_made_is_left)
{
    change_catalog(0, look, "as it is", true);
    for (unsigned k = 2; k < PARTIAL_STEPS; k++) {
        const uint64_t n = count_of(&left[k], "search.tmp"), places[] = { 0, 1, n / 2, n - 1 };
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            for (unsigned way = 0; way < 4; way++) {
                partial_build p = partial_copy(&left[k]);
                char          what[64];
                spoil_visit(&p, places[i], way);
                (void)snprintf(what, sizeof what, "step %u, visit %llu, way %u", k, (unsigned long long)places[i], way);
                tell_again(&p, what);
            }
    }
}

Test(checkpoint, of_a_large_search_is_read_to_its_end)
{
    static const uint64_t places[] = { 8192, 20000 };
    width = 32;
    make_large();
    change_catalog(0, look, "as it is", true);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (unsigned way = 1; way < 3; way++) {
            partial_build p = partial_copy(&left[2]);
            spoil_visit(&p, places[i], way);
            tell_again(&p, "a visit");
        }
}

/* Dominators are pairs: a number, and the lesser one of its dominator. */
Test(checkpoint, with_dominators_that_are_none_is_left)
{
    change_catalog(0, look, "as it is", true);
    const uint64_t n = count_of(&left[3], "idoms.tmp"), places[] = { 0, 1, n / 2, n - 1 };
    cr_assert_gt(n, 4);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (unsigned way = 0; way < 5; way++) {
            partial_build  p = partial_copy(&left[3]);
            uint32_t      *v = numbers_of(&p, "idoms.tmp");
            const uint64_t at = places[i];
            if (way == 0)
                v[2 * at] = at == 0 ? 0 : v[2 * at - 2];
            else if (way == 1)
                v[2 * n - 2] = (uint32_t)partial_head(&p)->reached + 1;
            else if (way == 2)
                v[2 * at + 1] = v[2 * at];
            else if (way == 3)
                v[2 * at + 1] = v[2 * at] + 1;
            else
                partial_find(&p, "idoms.tmp")->len = partial_head(&p)->idoms_bytes = 8 * at + 4;
            tell_again(&p, "dominators");
        }
}

/* ---- who refers to whom: nodes from one to the next, for each how many, and these ---- */
typedef enum role { NODE, COUNT, FIRST, NEXT } role;
typedef struct token {
    role     role;
    uint64_t value, node, source; /* as written; as it is meant */
} token;

static token   *tokens;
static unsigned token_count;

static void take_apart(partial_build *p)
{
    const hdx_referrer_chunk *c = partial_chunks(p);
    const uint8_t            *at = partial_find(p, "referrers.tmp")->at + c->at, *end = at + c->bytes;
    uint64_t                  node = c->node, n = 0, i = 0, source = 0;
    role                      next = NODE;
    bool                      first = true;
    tokens = calloc(c->bytes + 1, sizeof *tokens);
    for (token_count = 0; at < end; token_count++) {
        token *t = &tokens[token_count];
        cr_assert(hdx_packed_number(&at, end, &t->value));
        t->role = next;
        if (next == NODE)
            node += t->value + !first, first = false;
        else if (next == COUNT)
            n = t->value, i = 0;
        else
            source = next == FIRST ? node + (uint64_t)hdx_unzigzag(t->value) : source + 1 + t->value, i++;
        t->node = node;
        t->source = source;
        next = next == NODE ? COUNT : i == n ? NODE : i == 0 ? FIRST : NEXT;
    }
}

static void put_together(partial_build *p)
{
    hdx_referrer_chunk *c = partial_chunks(p);
    uint8_t            *bytes = calloc(token_count + 1, 10), *at = bytes;
    for (unsigned i = 0; i < token_count; i++)
        at = hdx_pack(at, tokens[i].value);
    const size_t len = (size_t)(at - bytes);
    cr_assert(partial_head(p)->chunks == 1 && c->at == 0);
    (void)partial_put(p, "referrers.tmp", bytes, len);
    c->bytes = partial_head(p)->referrer_bytes = partial_head(p)->chunk_longest = len;
    free(bytes);
    free(tokens);
}

/* The last token of a role. */
static token *last_of(role r)
{
    unsigned i = token_count;
    while (i > 0 && tokens[i - 1].role != r)
        i--;
    cr_assert_gt(i, 0);
    return &tokens[i - 1];
}

Test(checkpoint, with_referrers_that_nobody_made_is_left)
{
    static const char *const ways[] = { "as it was",
                                        "a node behind the last",
                                        "a node that wraps around",
                                        "a first referrer behind the last",
                                        "a first referrer before all",
                                        "a referrer behind the last",
                                        "one more than there are",
                                        "one less than there are",
                                        "more than there are bytes",
                                        "a node twice",
                                        "no number at the end" };
    change_catalog(0, look, "as it is", true);
    for (unsigned way = 0; way < sizeof ways / sizeof *ways; way++) {
        partial_build p = partial_copy(&left[2]);
        take_apart(&p);
        token *node = last_of(NODE), *first = last_of(FIRST), *next = last_of(NEXT), *n = last_of(COUNT);
        switch (way) {
        case 1: node->value += bounds.objects - node->node; break;
        case 2: node->value = UINT64_MAX; break;
        case 3: first->value = hdx_zigzag((int64_t)(bounds.objects - first->node)); break;
        case 4: first->value = hdx_zigzag(-(int64_t)first->node - 1); break;
        case 5: next->value += bounds.objects - next->source; break;
        case 6: n->value++; break;
        case 7: n->value--; break;
        case 8: n->value = 1u << 20; break;
        case 9: node->value = UINT64_MAX - 1; break; /* + 1 is one less, and then the one before again */
        case 10: token_count--; break;
        default: break;
        }
        put_together(&p);
        partial_seal(&p, true);
        cr_expect(finish_from(&p, ways[way]) == (way == 0), "%s", ways[way]);
    }
    for (int more = -1; more <= 1; more += 2) {
        partial_build p = partial_copy(&left[2]);
        partial_head(&p)->referrer_entries += (uint64_t)more;
        tell_again(&p, "entries");
    }
}

/* ---- files that bear a seal are not read, but what the state says of them is looked at ---- */
static void seal_folder(void)
{
    const hdx_build_doors   doors = { .io = hdx_io_system() };
    const hdx_index_options options = options_of();
    hdx_error               err;
    hdx_build              *b = hdx_build_blank(&doors, &options, &err);
    cr_assert(b != NULL);
    (void)snprintf(b->work.folder, sizeof b->work.folder, "%s", part);
    cr_assert(hdx_place_sample(hdx_io_system(), dump, &b->manifest, &err) == HDX_OK);
    hdx_seal_put(&b->work, &b->saving);
    hdx_build_close(b);
    char name[192];
    (void)snprintf(name, sizeof name, "%s/seal", part);
    cr_assert(access(name, F_OK) == 0);
}

/* Takes the copy. */
static bool finish_sealed(partial_build *p, const char *what)
{
    partial_seal(p, true);
    partial_write(p, part);
    partial_free(p);
    seal_folder();
    return finish(what);
}

Test(checkpoint, with_a_seal_is_held_to_what_its_state_says)
{
    change_catalog(0, look, "as it is", true);
    for (unsigned k = 0; k < PARTIAL_STEPS; k++) {
        partial_build p = partial_copy(&left[k]);
        cr_expect(finish_sealed(&p, "as it was left"), "step %u", k);
        for (size_t i = 0; i < sizeof head_numbers / sizeof *head_numbers; i++)
            for (int more = -1; more <= 1; more += 2) {
                const bool own = k >= head_numbers[i].from && k <= head_numbers[i].to;
                char       what[64];
                uint64_t   value;
                if (strcmp(head_numbers[i].what, "referrer_entries") == 0 ||
                    strcmp(head_numbers[i].what, "class_class") == 0 ||
                    strcmp(head_numbers[i].what, "loader_class") == 0 ||
                    (more == 1 && strstr(head_numbers[i].what, "longest") != NULL))
                    continue; /* room that is not used; what only reading tells */
                p = partial_copy(&left[k]);
                (void)snprintf(what, sizeof what, "step %u, %s, %d", k, head_numbers[i].what, more);
                memcpy(&value, (uint8_t *)partial_head(&p) + head_numbers[i].at, 8);
                value += (uint64_t)more;
                memcpy((uint8_t *)partial_head(&p) + head_numbers[i].at, &value, 8);
                cr_expect(finish_sealed(&p, what) == !own, "%s", what);
            }
    }
}

Test(checkpoint, with_a_seal_has_units_and_chunks_that_lie_in_their_files)
{
    change_catalog(0, look, "as it is", true);
    for (unsigned way = 0; way < 7; way++) {
        partial_build p = partial_copy(&left[0]);
        hdx_spilled  *u = &partial_units(&p)[partial_head(&p)->units - 1];
        switch (way) {
        case 1: u->last = bounds.objects; break;
        case 2: u->at++; break;
        case 3: u->at = UINT64_MAX; break;
        case 4: u->bytes = partial_head(&p)->spill_longest + 1, u->at = 0; break;
        case 5: u->objects++; break;
        case 6: u->edges++; break;
        default: break;
        }
        cr_expect(finish_sealed(&p, "a unit") == (way == 0), "unit, way %u", way);
    }
    for (unsigned way = 0; way < 6; way++) {
        partial_build       p = partial_copy(&left[2]);
        hdx_referrer_chunk *c = partial_chunks(&p);
        switch (way) {
        case 1: c->node = bounds.objects; break;
        case 2: c->at++; break;
        case 3: c->at = UINT64_MAX; break;
        case 4: partial_head(&p)->chunk_longest = c->bytes - 1; break;
        case 5: partial_head(&p)->chunk_longest = partial_head(&p)->referrer_bytes + 1; break;
        default: break;
        }
        cr_expect(finish_sealed(&p, "a chunk") == (way == 0), "chunk, way %u", way);
    }
}
