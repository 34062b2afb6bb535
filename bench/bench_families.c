/*
 * bench_families.c - dumps made to cost more than they weigh (tests/making/families.h), of n records and of 4n: what a
 * build, verify --full and some questions take of each, in a process of its own.
 *
 *     bench_families FOLDER [N [FAMILY]]       N: 20000
 *
 * One row for each, the least CPU time of some rounds: bench,family,records,bytes,what,cpu_ms,peak_rss_mb. Where cost
 * follows bytes, the row of 4n has four times the numbers of that of n, beside what every process takes. No judgement
 * inside.
 */
#include "tests/support/questions.h"
#include "tests/making/families.h"
#include "tests/support/tables.h"
#include <heapdex/heapdex.h>

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS    5u     /* the shortest counts: other programs make it longer, */
#define ROUNDS_MS 1000.0 /* by little where it is long */

static char dump[4096], place[4096];

static hdx_code read_rows(hdx_code code, hdx_rows *const *of)
{
    const hdx_cell *cells;
    hdx_error       err;
    if (code != HDX_OK)
        return code;
    while (hdx_rows_next(*of, &cells))
        ;
    code = hdx_rows_end(*of, &err);
    hdx_rows_close(*of);
    return code;
}

/* From the last objects, of each many. */
static hdx_code ask_paths(const hdx_query *q, hdx_id last, hdx_rows **rows, hdx_error *err)
{
    const hdx_path_options options = { .paths = 100, .exclude = HDX_EXCLUDE_WEAK };
    hdx_id                 ids[10];
    size_t                 count = 0;
    for (; count < 10 && count <= last; count++)
        ids[count] = last - count;
    return hdx_query_path(q, ids, count, &options, rows, err);
}

static hdx_code ask(unsigned what)
{
    hdx_error  err;
    hdx_graph *g;
    hdx_rows  *rows = NULL;
    hdx_code   code;
    if (what == 0) {
        hdx_index_report        report;
        const hdx_index_options options = { .dump = dump, .index_dir = place, .threads = 1, .force = true };
        return hdx_index_build(&options, &report, &err);
    }
    if ((code = hdx_graph_open(place, dump, &g, &err)) != HDX_OK)
        return code;
    const hdx_query   q = { .graph = g, .scope = HDX_ALL, .threads = 1 };
    const hdx_id      last = hdx_graph_objects(g) - 1;
    hdx_leaks_options options = {
        .finder = HDX_LEAKS_WATCHED, .retained = true, .threads = 1, .no_memory_of_it = true
    };
    hdx_leaks  *leaks = NULL;
    const char *every = "*";
    switch (what) {
    case 1: code = hdx_graph_verify(g, true, &err); break;
    case 2:
        code = hdx_query_histogram(&q, HDX_BY_SUPERCLASS, NULL, false, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 3:
        code = hdx_query_objects(&q, "java.lang.Object", true, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 4:
        code = hdx_query_object(&q, &last, 1, 100, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 5:
        code = table_named(&q, "classes", &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 6:
        code = table_named(&q, "named_references", &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 7:
        code = hdx_query_threads(&q, true, true, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 8:
        code = ask_paths(&q, last, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 9:
        code = hdx_query_dominators(&q, HDX_BY_NONE, NULL, 1u << 20, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 10:
        code = hdx_query_dominators(&q, HDX_BY_CLASS, NULL, 1, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 11:
        code = hdx_query_histogram(&q, HDX_BY_LOADER, "/./", true, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 12:
        code = hdx_query_refs(&q, last, true, HDX_BY_NONE, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 13:
        code = hdx_query_roots(&q, HDX_BY_NONE, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 14:
        code = hdx_query_retained_class(&q, "*", true, &rows, &err);
        code = read_rows(code, &rows);
        break;
    case 15:
        code = table_named(&q, "references", &rows, &err);
        code = read_rows(code, &rows);
        break;
    default:
        if (what == 16) {
            options.finder = HDX_LEAKS_CLASSES;
            options.classes = &every;
            options.class_count = 1;
        }
        code = hdx_leaks_search(g, &options, &leaks, &err);
        hdx_leaks_free(leaks);
        break;
    }
    hdx_graph_close(g);
    return code;
}

static const char *const whats[] = { "build",
                                     "verify_full",
                                     "histogram_superclass",
                                     "objects_subclasses",
                                     "object",
                                     "classes",
                                     "named_references",
                                     "threads",
                                     "paths",
                                     "dominators_depth",
                                     "dominators_class",
                                     "histogram_loader",
                                     "refs_in",
                                     "roots",
                                     "retained_class",
                                     "references",
                                     "leaks_classes",
                                     "leaks" };

static void measure(unsigned which, uint64_t n)
{
    hdx_buffer bytes = { 0 };
    family_write(which, n, &bytes);
    FILE *file = fopen(dump, "wb");
    if (file == NULL || fwrite(bytes.at, 1, bytes.len, file) != bytes.len || fclose(file) != 0)
        exit(1);
    const uint64_t size = bytes.len;
    hdx_buffer_free(&bytes);
    for (unsigned what = 0; what < sizeof whats / sizeof *whats; what++) {
        double ms = 0, mb = 0;
        bool   failed = false;
        (void)fflush(stdout);
        for (unsigned round = 0; round < ROUNDS && ms < ROUNDS_MS; round++) {
            struct rusage used;
            int           status = 0;
            const pid_t   child = fork();
            if (child == 0)
                _exit(ask(what) == HDX_OK ? 0 : 1);
            if (child < 0 || wait4(child, &status, 0, &used) < 0)
                exit(1);
            const double took = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
                                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
            ms = round == 0 || took < ms ? took : ms;
            mb = (double)used.ru_maxrss / 1024;
            failed = failed || status != 0;
        }
        printf("families,%s,%llu,%llu,%s%s,%.1f,%.1f\n", families[which].name, (unsigned long long)n,
               (unsigned long long)size, whats[what], failed ? "_FAILED" : "", ms, mb);
    }
}

int main(int argc, char **argv)
{
    const uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
    if (argc < 2 || n == 0 || snprintf(dump, sizeof dump, "%s/family.hprof", argv[1]) >= (int)sizeof dump ||
        snprintf(place, sizeof place, "%s/family.hdx", argv[1]) >= (int)sizeof place) {
        fprintf(stderr, "usage: bench_families FOLDER [N [FAMILY]]\n");
        return 2;
    }
    puts("bench,family,records,bytes,what,cpu_ms,peak_rss_mb");
    for (unsigned which = 0; which < FAMILIES; which++)
        for (unsigned times = 1; times <= 4; times += 3)
            if (argc < 4 || strcmp(argv[3], families[which].name) == 0)
                measure(which, n * times);
    return 0;
}
