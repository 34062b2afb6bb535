/*
 * bench_index.c - builds the index of a dump and prints what each step took, as CSV.
 *
 *     bench_index DUMP [THREADS [INDEX_DIR]]
 *
 * One row a step:
 * bench,dump,threads,step,wall_s,cpu_s,wall_ns_per_object,cpu_ns_per_reference,peak_rss_mb,bytes_per_object. The row
 * `total` sums up; rows `file:NAME` give bytes of each index file. No judgement inside.
 */
#include <heapdex/heapdex.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double per(double n, uint64_t of) { return of == 0 ? 0 : n / (double)of; }

int main(int argc, char **argv)
{
    hdx_index_options options = { .force = true };
    hdx_index_report  report;
    hdx_error         err;
    hdx_graph        *graph;
    const char       *name;
    uint64_t          bytes, cpu = 0;
    if (argc < 2)
        return fprintf(stderr, "usage: bench_index DUMP [THREADS [INDEX_DIR]]\n"), 2;
    options.dump = argv[1];
    options.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    options.index_dir = argc > 3 ? argv[3] : NULL;
    if (hdx_index_build(&options, &report, &err) != HDX_OK || hdx_graph_open(report.path, NULL, &graph, &err) != HDX_OK)
        return fprintf(stderr, "bench_index: %s: %s\n", err.where, err.message), 1;
    const char *slash = strrchr(argv[1], '/'), *dump = slash == NULL ? argv[1] : slash + 1;
    printf(
        "bench,dump,threads,step,wall_s,cpu_s,wall_ns_per_object,cpu_ns_per_reference,peak_rss_mb,bytes_per_object\n");
    for (unsigned i = 0; i < report.step_count; i++) {
        const hdx_index_step_report *s = &report.steps[i];
        cpu += s->cpu_ns;
        printf("index,%s,%u,%s,%.3f,%.3f,%.1f,%.1f,%.0f,%.2f\n", dump, options.threads, s->name,
               (double)s->wall_ns / 1e9, (double)s->cpu_ns / 1e9, per((double)s->wall_ns, report.objects),
               per((double)s->cpu_ns, report.references), (double)s->peak_bytes / 1e6,
               per((double)s->written_bytes, report.objects));
    }
    printf("index,%s,%u,total,%.3f,%.3f,%.1f,%.1f,%.0f,%.2f\n", dump, options.threads, (double)report.wall_ns / 1e9,
           (double)cpu / 1e9, per((double)report.wall_ns, report.objects), per((double)cpu, report.references),
           (double)report.peak_rss / 1e6, per((double)report.bytes, report.objects));
    for (unsigned i = 0; hdx_graph_file(graph, i, &name, &bytes); i++)
        printf("index,%s,%u,file:%s,,,,,,%.3f\n", dump, options.threads, name, per((double)bytes, report.objects));
    hdx_graph_close(graph);
    return 0;
}
