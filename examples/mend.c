/*
 * mend.c - a program that outlives it when somebody shortens a file of the index under its hands, as this one does
 * itself.
 *
 *     $ mend bookshop.hprof.gz
 *     sum 0, then: damaged
 */
#define _POSIX_C_SOURCE 200809L
#include <heapdex/graph.h>
#include <heapdex/index.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static hdx_graph *graph;

// graph.h
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (!hdx_graph_handle_fault(graph, info->si_addr)) {
        signal(number, SIG_DFL);
        raise(number);
    }
}
// end

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof", .force = true };
    static hdx_index_report report;
    struct sigaction        action;
    char                    path[4128];
    uint64_t                sum = 0;
    hdx_error               err;
    if (hdx_index_build(&options, &report, &err) != HDX_OK ||
        hdx_graph_open(report.path, options.dump, &graph, &err) != HDX_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.message);
        return 1;
    }
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    snprintf(path, sizeof path, "%s/retained.hdx", report.path);
    if (sigaction(SIGBUS, &action, NULL) != 0 || truncate(path, 0) != 0)
        perror(path);
    for (hdx_id id = 0; id < hdx_graph_objects(graph); id++)
        sum += hdx_graph_retained(graph, id);
    printf("sum %" PRIu64 ", then: %s\n", sum, hdx_code_name(hdx_graph_check(graph, &err)));
    hdx_graph_close(graph);
    hdx_index_remove(&options, path, sizeof path, &err);
    return 0;
}
