/*
 * test_kill.c - builds killed at random moments, and at every call that writes, syncs, renames or removes: afterwards
 * the index is absent, the old one, or whole; the next build goes on from what is there, ends with the same bytes and
 * leaves nothing behind. HDX_KILLS sets how many random kills (25 by default; the slow proof, tests/making/kill_storm,
 * uses 200 and kills at every call).
 */
#include "making/making.h"
#include "making/heap_model.h"
#include "support/faulty.h"
#include "support/folder.h"
#include "support/own.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[TEST_FOLDER];

static void check_whole(const char *dump, const char *what)
{
    hdx_index_options ask = { .dump = dump, .no_build = true };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    if (hdx_index_build(&ask, &report, &err) != HDX_OK) {
        cr_assert(err.code == HDX_BAD_DUMP, "%s: %s: %s", what, err.where,
                  err.message); /* absent: as if nothing had been tried */
        return;
    }
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    cr_assert(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    hdx_graph_close(g);
}

static void make_dump(char *dump, size_t size)
{
    static heap_model h;
    test_folder_make(folder, "kill");
    (void)snprintf(dump, size, "%s/a.hprof", folder);
    dump_maker *m = model_make(&h, 5, 380, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
}

/* Every file of the index but the catalog, whose build times differ, has the bytes of one that was built in one go. */
static void expect_straight_bytes(const char *dump, const char *what)
{
    char command[512];
    (void)snprintf(command, sizeof command,
                   "for f in '%s'/straight.hdx/*.hdx; do cmp \"$f\" '%s.hdx'/\"${f##*/}\" || exit 1; done", folder,
                   dump);
    cr_assert(system(command) == 0, "%s: other bytes", what);
}

static void expect_nothing_left(const char *dump, const char *what)
{
    char path[160];
    (void)snprintf(path, sizeof path, "%s", own_of_dump("part", dump));
    cr_expect(access(path, F_OK) != 0, "%s: leftovers stay", what);
}

Test(kill, at_any_call_loses_no_finished_step_and_changes_no_byte)
{
    char             dump[64], path[160], straight[96], what[64];
    hdx_index_report report;
    hdx_error        err;
    const unsigned   step = getenv("HDX_KILLS") == NULL ? 5 : 1;
    unsigned         taken_up = 0;
    make_dump(dump, sizeof dump);
    (void)snprintf(straight, sizeof straight, "%s/straight.hdx", folder);
    hdx_index_options options = { .dump = dump, .threads = 2 },
                      alone = { .dump = dump, .index_dir = straight, .threads = 1 };
    cr_assert(hdx_index_build(&alone, &report, &err) == HDX_OK, "%s", err.message);
    for (unsigned n = 1;; n += step) {
        const pid_t child = fork();
        int         status;
        if (child == 0) {
            faulty_io       f;
            hdx_build_doors doors = { .io = &f.io, .every_step = true };
            faulty_io_init(&f, n, FAULTY_KILL, true);
            _exit(hdx_index_build_through(&doors, &options, &report, NULL) == HDX_OK ? 0 : 1);
        }
        cr_assert(child > 0 && waitpid(child, &status, 0) == child);
        (void)snprintf(what, sizeof what, "killed at call %u", n);
        check_whole(dump, what);
        (void)snprintf(path, sizeof path, "%s/checkpoint", own_of_dump("part", dump));
        taken_up += access(path, F_OK) == 0;
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK, "%s: %s", what, err.message);
        check_whole(dump, what);
        expect_straight_bytes(dump, what);
        cr_assert(hdx_index_build(&options, &report, &err) == HDX_OK && report.reused);
        expect_nothing_left(dump, what);
        (void)hdx_index_remove(&options, path, sizeof path, NULL);
        if (WIFEXITED(status)) {
            cr_assert(WEXITSTATUS(status) == 0 && n > 100);
            break;
        }
    }
    cr_expect(taken_up > 10, "%u builds had a step to go on from", taken_up);
    test_folder_remove(folder);
}

Test(kill, leaves_no_index_or_a_whole_one)
{
    const char *wanted = getenv("HDX_KILLS");
    unsigned    kills = wanted == NULL ? 25 : (unsigned)strtoul(wanted, NULL, 10), whole = 0;
    char        dump[64], path[128];
    heap_model  random_state = { .state = 20261121 };
    make_dump(dump, sizeof dump);
    for (unsigned n = 0; n < kills; n++) {
        char  what[64];
        pid_t child = fork();
        cr_assert(child >= 0);
        if (child == 0) {
            hdx_index_options options = { .dump = dump, .force = n % 2 == 1 };
            hdx_index_report  report;
            (void)hdx_index_build(&options, &report, NULL);
            _exit(0);
        }
        /* A random moment of the build, which takes some 10 ms. Each is right, also before it and after it. */
        (void)usleep((useconds_t)model_random(&random_state, 12000));
        (void)kill(child, SIGKILL);
        int status;
        cr_assert(waitpid(child, &status, 0) == child);
        whole += WIFEXITED(status);
        (void)snprintf(what, sizeof what, "kill %u", n);
        check_whole(dump, what);
        if (n % 5 == 4) { /* from nothing again */
            hdx_index_options remove = { .dump = dump };
            (void)hdx_index_remove(&remove, path, sizeof path, NULL);
        }
    }
    hdx_index_options options = { .dump = dump, .force = true };
    hdx_index_report  report;
    cr_assert(hdx_index_build(&options, &report, NULL) == HDX_OK);
    (void)snprintf(path, sizeof path, "%s", own_of_dump("part", dump));
    cr_expect(access(path, F_OK) != 0, "leftovers stay");
    cr_log_info("%u of %u builds were faster than the kill", whole, kills);
    test_folder_remove(folder);
}
