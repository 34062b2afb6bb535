/*
 * test_stop.c - builds that are told to stop, over and over: each goes on where the one before it was, also with other
 * threads and another budget, and the bytes in the end are those of a build in one go. HDX_KILLS set: a stop at every
 * call that asks, not at each thirteenth.
 */
#include "making/making.h"
#include "support/dump_maker.h"
#include "support/folder.h"
#include "support/own.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECTS    60000u
#define LONG_ARRAY 200000u /* read in parts */

static char folder[TEST_FOLDER], dump[96], straight[96], parts[128];

typedef struct stop {
    _Atomic unsigned calls;
    unsigned         at; /* says stop from this call on; 0: never */
} stop;

static bool is_wanted(void *context)
{
    stop *s = context;
    return atomic_fetch_add(&s->calls, 1) + 1 >= s->at && s->at != 0;
}

/* Lists, arrays, locals, dangling references, classes that know each other; in one long record or in many. */
static void make_dump(bool whole)
{
    dump_maker *m = dump_maker_new(8);
    uint64_t    seed = 7, refs[64], *long_one = malloc(LONG_ARRAY * sizeof *long_one);
    m->whole = whole;
    if (whole)
        m->version = "1.0.1";
    m->next_id = 0x7f0000100000ull;
    const uint64_t object = dump_maker_class(m, "java/lang/Object", 0, ""), base = 0x7f0000200000ull;
    (void)dump_maker_class(m, "java/lang/Class", object, "");
    (void)dump_maker_class(m, "java/lang/ClassLoader", object, "");
    const uint64_t thread = dump_maker_class(m, "java/lang/Thread", object, "name:L");
    (void)dump_maker_class(m, "[B", object, "");
    const uint64_t array = dump_maker_class(m, "[Ljava/lang/Object;", object, "");
    const uint64_t node = dump_maker_class(m, "app/Node", object, "next:L other:L count:I");
    for (unsigned i = 0; i < OBJECTS; i++) {
        const uint64_t at = base + 64ull * (i * 40503ull % 65536);
        for (unsigned k = 0; k < 64; k++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            refs[k] = seed >> 60 == 0
                          ? 0
                          : base + 64 * (seed >> 33 & 65535); /* a tenth dangles: not all of the 64 Ki are there */
        }
        if (i == 500)
            (void)dump_maker_instance_at(m, at, thread, refs);
        else if (i == 1000) {
            for (unsigned k = 0; k < LONG_ARRAY; k++)
                long_one[k] = base + 64 * (k * 7919ull & 65535);
            (void)dump_maker_array_at(m, base + 64ull * 65536, array, long_one, LONG_ARRAY);
        } else if (i % 3 == 0)
            (void)dump_maker_array_at(m, at, array, refs, i % 61);
        else if (i % 3 == 1)
            (void)dump_maker_instance_at(m, at, node, DUMP_VALUES(refs[0], refs[1], i));
        else
            (void)dump_maker_primitives_at(m, at, 'B', NULL, i % 50);
        if (i % 900 == 899 && !whole)
            dump_maker_segment(m);
    }
    dump_maker_root(m, HDX_SUB_ROOT_THREAD_OBJECT, base + 64ull * (500 * 40503ull % 65536), 5, 2);
    for (unsigned k = 0; k < 40; k++) {
        dump_maker_root(m, HDX_SUB_ROOT_JAVA_FRAME, base + 64ull * (k * 3 * 40503ull % 65536), 5, 0);
        dump_maker_root(m, HDX_SUB_ROOT_JNI_GLOBAL, base + 64ull * (k * 40503ull % 65536), 0, 0);
    }
    dump_maker_save(m, dump);
    dump_maker_free(m);
    free(long_one);
}

static hdx_code build(unsigned threads, uint64_t memory, stop *s, hdx_error *err)
{
    hdx_build_doors         doors = { .io = hdx_io_system(), .every_step = true };
    const hdx_index_options options = {
        .dump = dump, .threads = threads, .memory = memory, .progress = { .context = s, .cancelled = is_wanted }
    };
    hdx_index_report report;
    return hdx_index_build_through(&doors, &options, &report, err);
}

static void begin(bool whole)
{
    hdx_index_options alone = { .dump = dump, .index_dir = straight, .threads = 1 };
    hdx_index_report  report;
    hdx_error         err;
    test_folder_make(folder, "stop");
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    (void)snprintf(straight, sizeof straight, "%s/straight.hdx", folder);
    (void)snprintf(parts, sizeof parts, "%s", own_of_dump("part", dump));
    make_dump(whole);
    cr_assert(hdx_index_build(&alone, &report, &err) == HDX_OK, "%s", err.message);
}

static void expect_straight_bytes(const char *what)
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   "for f in '%s'/*.hdx; do cmp \"$f\" '%s.hdx'/\"${f##*/}\" || exit 1; done; rm -r '%s.hdx'", straight,
                   dump, dump);
    cr_expect(access(parts, F_OK) != 0, "%s: leftovers stay", what);
    cr_assert(system(command) == 0, "%s: other bytes", what);
}

static void stop_at_every_call(bool whole)
{
    const unsigned step = getenv("HDX_KILLS") == NULL ? 13 : 1;
    unsigned       went_on = 0, stops = 0, lists = 0;
    hdx_error      err;
    char           what[64], kept[160];
    begin(whole);
    (void)snprintf(kept, sizeof kept, "%s/lists.tmp", parts);
    for (unsigned n = 1;; n += step, stops++) {
        stop           first = { .at = n }, never = { 0 };
        const hdx_code code = build(1 + n % 3, 0, &first, &err);
        (void)snprintf(what, sizeof what, "stopped at call %u", n);
        cr_assert(code == HDX_OK || code == HDX_CANCELLED, "%s: %s", what, err.message);
        went_on += access(parts, F_OK) == 0;
        lists += access(kept, F_OK) == 0;
        cr_assert(code == HDX_OK || build(1 + n % 2, n % 5 == 0 ? 400ull << 20 : 0, &never, &err) == HDX_OK, "%s: %s",
                  what, err.message);
        expect_straight_bytes(what);
        if (code == HDX_OK)
            break;
    }
    cr_expect(lists > 0 && lists < stops / 2, "%u of %u stops kept lists", lists, stops);
    cr_expect(stops > 300 / step && went_on > stops * 3 / 4, "%u of %u stops kept something", went_on, stops);
    test_folder_remove(folder);
}

Test(stop, at_any_call_loses_nothing_of_many_records) { stop_at_every_call(false); }

Test(stop, at_any_call_loses_nothing_of_one_long_record) { stop_at_every_call(true); }

/* Each build is stopped after so many calls: more than a step behind the readings has. */
static void stop_until_done(unsigned every, unsigned threads)
{
    hdx_error err;
    char      what[64];
    unsigned  stops = 0;
    hdx_code  code;
    do {
        stop s = { .at = every };
        code = build(threads == 0 ? 1 + stops % 3 : threads, 0, &s, &err);
        (void)snprintf(what, sizeof what, "every %u calls, stop %u", every, stops);
        cr_assert(code == HDX_OK || code == HDX_CANCELLED, "%s: %s", what, err.message);
        cr_assert(stops++ < 60, "%s: no end", what);
    } while (code != HDX_OK);
    cr_log_info("every %u calls: %u stops", every, stops);
    expect_straight_bytes(what);
}

Test(stop, again_and_again_ends_all_the_same)
{
    begin(false);
    for (unsigned threads = 0; threads < 3; threads++)
        for (unsigned every = 260; every < 280; every += 13)
            stop_until_done(every, threads);
    test_folder_remove(folder);
}

/* Fewer calls than a step has, and as many as the longest of its tasks: what is whole of a step is kept. */
Test(stop, within_a_step_keeps_its_tasks)
{
    begin(false);
    stop_until_done(170, 1);
    stop_until_done(185, 1);
    test_folder_remove(folder);
}

/* At any call, soon or late in any step, by any number of threads. */
Test(stop, at_random_calls_ends_all_the_same)
{
    const unsigned rounds = getenv("HDX_KILLS") == NULL ? 6 : 100;
    uint64_t       seed = 20;
    hdx_error      err;
    char           what[64];
    begin(false);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned stops = 0;
        hdx_code code;
        do {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            stop s = { .at = 1 + (unsigned)(seed >> 33) % 340 };
            code = build(1 + (unsigned)(seed >> 60) % 2, seed >> 61 == 0 ? 400ull << 20 : 0, &s, &err);
            (void)snprintf(what, sizeof what, "round %u, stop %u at call %u", round, stops, s.at);
            cr_assert(code == HDX_OK || code == HDX_CANCELLED, "%s: %s", what, err.message);
            cr_assert(stops++ < 40, "%s: no end", what);
        } while (code != HDX_OK);
        expect_straight_bytes(what);
    }
    test_folder_remove(folder);
}

static bool is_killed(void *context)
{
    if (is_wanted(context))
        (void)kill(getpid(), SIGKILL);
    return false;
}

/* Stopped inside a step, and killed inside the same one or later: what the stop has kept stands, or less of it. */
Test(stop, and_then_killed_goes_on_all_the_same)
{
    static const unsigned stops[] = { 95, 120, 150, 175, 200, 225, 250, 275, 300, 325 };
    hdx_error             err;
    char                  what[64];
    begin(false);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        for (unsigned later = 2; later <= 170; later += 56) {
            stop first = { .at = stops[i] }, never = { 0 };
            int  status;
            (void)snprintf(what, sizeof what, "stopped at call %u, killed at %u", stops[i], later);
            const hdx_code code = build(1, 0, &first, &err);
            cr_assert(code == HDX_CANCELLED, "%s: %s", what, err.message);
            const pid_t child = fork();
            cr_assert(child >= 0);
            if (child == 0) {
                hdx_build_doors         doors = { .io = hdx_io_system(), .every_step = true };
                stop                    then = { .at = later };
                const hdx_index_options options = { .dump = dump,
                                                    .threads = 1,
                                                    .progress = { .context = &then, .cancelled = is_killed } };
                hdx_index_report        report;
                _exit(hdx_index_build_through(&doors, &options, &report, &err) == HDX_OK ? 0 : 1);
            }
            cr_assert(waitpid(child, &status, 0) == child && (WIFSIGNALED(status) || WEXITSTATUS(status) == 0), "%s",
                      what);
            cr_assert(build(1, 0, &never, &err) == HDX_OK, "%s: %s", what, err.message);
            expect_straight_bytes(what);
        }
    test_folder_remove(folder);
}

/* A bit of the file changes at one of 16 places; false: there is no such file. */
static bool spoil(const char *name, unsigned place)
{
    char path[256];
    int  byte;
    (void)snprintf(path, sizeof path, "%s/%s", parts, name);
    FILE *f = fopen(path, "r+b");
    if (f == NULL)
        return false;
    cr_assert(fseek(f, 0, SEEK_END) == 0);
    const long at = (long)((uint64_t)ftell(f) * (2 * place + 1) / 32);
    cr_assert(fseek(f, at, SEEK_SET) == 0 && (byte = fgetc(f)) != EOF && fseek(f, at, SEEK_SET) == 0 &&
              fputc(byte ^ 1, f) != EOF);
    cr_assert(fclose(f) == 0);
    return true;
}

/* Sums are compared: most of these bits mean another object, root or class that is there as well. */
Test(stop, believes_nothing_that_changed_in_what_was_kept)
{
    static const char *const names[] = { "scan.tmp", "columns.tmp" };
    hdx_error                err;
    char                     what[64];
    begin(false);
    for (unsigned name = 0; name < 2; name++) {
        unsigned n = 14; /* the call at which it is kept is looked for once */
        for (unsigned place = 0; place < 16; place++) {
            for (bool spoilt = false; !spoilt; n += spoilt ? 0 : 13) {
                stop           first = { .at = n }, never = { 0 };
                const hdx_code code = build(2, 0, &first, &err);
                cr_assert(code == HDX_CANCELLED, "%s is never kept", names[name]);
                spoilt = spoil(names[name], place);
                (void)snprintf(what, sizeof what, "%s, place %u", names[name], place);
                cr_assert(build(2, 0, &never, &err) == HDX_OK, "%s: %s", what, err.message);
                expect_straight_bytes(what);
            }
        }
    }
    test_folder_remove(folder);
}
