/*
 * test_kill.c - builds killed at random moments: afterwards the index is absent, the old one, or whole, and the next build leaves nothing behind.
 * HDX_KILLS sets how many (25 by default; the slow proof uses 200 and more).
 */
#include "build/heap_model.h"
#include <heapdex/heapdex.h>

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/hdx-kill-XXXXXX";

static void check_whole(const char *dump, const char *what)
{
    hdx_index_options ask = { .dump = dump, .no_build = true };
    hdx_index_report  report;
    hdx_graph        *g;
    hdx_error         err;
    if (hdx_index_build(&ask, &report, &err) != HDX_OK) {
        cr_assert(err.code == HDX_BAD_DUMP, "%s: %s: %s", what, err.where, err.message); /* absent: as if nothing had been tried */
        return;
    }
    cr_assert(hdx_graph_open(report.path, dump, &g, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    cr_assert(hdx_graph_verify(g, true, &err) == HDX_OK, "%s: %s: %s", what, err.where, err.message);
    hdx_graph_close(g);
}

Test(kill, leaves_no_index_or_a_whole_one)
{
    static heap_model h;
    const char       *wanted = getenv("HDX_KILLS");
    unsigned          kills = wanted == NULL ? 25 : (unsigned)strtoul(wanted, NULL, 10), whole = 0;
    char              dump[64], path[128], command[128];
    heap_model        dice = { .state = 20261121 };
    cr_assert(mkdtemp(folder) != NULL);
    (void)snprintf(dump, sizeof dump, "%s/a.hprof", folder);
    dump_maker *m = model_make(&h, 5, 380, 8);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    for (unsigned n = 0; n < kills; n++) {
        char what[64];
        pid_t child = fork();
        cr_assert(child >= 0);
        if (child == 0) {
            hdx_index_options options = { .dump = dump, .force = n % 2 == 1 };
            hdx_index_report  report;
            (void)hdx_index_build(&options, &report, NULL);
            _exit(0);
        }
        (void)usleep((useconds_t)model_random(&dice, 12000)); /* a build takes some 10 ms */
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
    (void)snprintf(path, sizeof path, "%s.hdx.part", dump);
    cr_expect(access(path, F_OK) != 0, "leftovers stay");
    cr_log_info("%u of %u builds were faster than the kill", whole, kills);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_expect(system(command) == 0);
}
