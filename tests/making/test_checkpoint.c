/*
 * test_checkpoint.c - builds that resume a .part folder which rotted, or whose state somebody changed: where checksums
 * do not match the build begins again, where they were made to match nothing is read outside of its file, and no name
 * in the folder leads to a file elsewhere.
 */
#include "making/resumed_build.h"

#include <fcntl.h>
#include <stddef.h>
#include <zlib.h>

TestSuite(checkpoint, .init = make, .fini = drop, .timeout = 250);

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
