/*
 * bench_gzip.c - random access to a compressed dump: what points cost to find and to keep, and what a read costs from
 * them.
 *
 *     bench_gzip DUMP.gz [READS [SPACING_KIB ...]]
 *
 * In:  a gzip file or zlib container; how many reads of 4 KiB at random places (400); distances of seek points to try
 *      (768: what heapdex uses).
 * Out: CSV: bench,file,spacing_kib,what,n,seconds,mean_ms,worst_ms,bytes. For each spacing:
 *        first_pass   one stream to the end, points noted on the way, on all processors; bytes: of the dump
 *        points       how many, and what their file takes (indexes/seek/README.md, without its sums)
 *        cold         reads with nothing inflated at hand; CPU time of the thread
 *        warm         the same places again and again from slices that are there
 *        many         25 times as many reads of 16 bytes in one hdx_source_read_many; wall time
 *        again        the whole dump from the points, on all processors; wall time
 */
#include "source/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define READ 4096u

static const char *file;
static unsigned    spacing_kib;

static double now(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void row(const char *what, uint64_t n, double seconds, double worst, uint64_t bytes)
{
    printf("gzip,%s,%u,%s,%llu,%.4f,%.4f,%.4f,%llu\n", file, spacing_kib, what, (unsigned long long)n, seconds,
           n > 0 ? 1000 * seconds / (double)n : 0.0, 1000 * worst, (unsigned long long)bytes);
    (void)fflush(stdout);
}

static uint64_t random_of(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static bool failed(hdx_code code, const hdx_error *err)
{
    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", file, err->message);
    return code != HDX_OK;
}

static bool first_pass(hdx_source *source, hdx_error *err)
{
    uint8_t    *part = malloc(1u << 18);
    hdx_stream *stream;
    size_t      got = 0;
    uint64_t    all = 0;
    double      from = now(CLOCK_MONOTONIC);
    hdx_code    code = part == NULL ? HDX_LIMIT : hdx_stream_open(source, 0, &stream, err);
    if (code == HDX_OK) {
        do {
            code = hdx_stream_read(stream, part, 1u << 18, &got, err);
            all += got;
        } while (code == HDX_OK && got > 0);
        hdx_stream_close(stream);
    }
    free(part);
    row("first_pass", 1, now(CLOCK_MONOTONIC) - from, 0, all);
    return !failed(code, err);
}

static bool reads(hdx_source *source, const char *what, uint64_t n, uint64_t size, bool cold, hdx_error *err)
{
    static uint8_t bytes[READ];
    uint64_t       state = 1;
    double         sum = 0, worst = 0;
    size_t         got;
    for (uint64_t i = 0; i < n; i++) {
        if (cold) {
            hdx_cache_free(source->cache);
            if ((source->cache = hdx_cache_new(source)) == NULL)
                return false;
        } else if (i % 100 == 0) { /* among places that fit in the cache */
            state = 1;
        }
        hdx_pos at = random_of(&state) % (cold || size < 8u << 20 ? size : 8u << 20);
        double  from = now(CLOCK_THREAD_CPUTIME_ID);
        if (failed(hdx_source_read_at(source, at, bytes, READ, &got, err), err))
            return false;
        double took = now(CLOCK_THREAD_CPUTIME_ID) - from;
        if (!cold && i < 100)
            continue; /* warms up */
        sum += took;
        worst = took > worst ? took : worst;
    }
    row(what, cold ? n : n - 100, sum, worst, READ);
    return true;
}

static bool many(hdx_source *source, uint64_t n, uint64_t size, hdx_error *err)
{
    hdx_read *list = calloc((size_t)n, sizeof *list);
    uint8_t  *bytes = calloc((size_t)n, 16);
    uint64_t  state = 2;
    hdx_code  code = list == NULL || bytes == NULL ? HDX_LIMIT : HDX_OK;
    for (uint64_t i = 0; i < n && code == HDX_OK; i++)
        list[i] = (hdx_read){ random_of(&state) % size, bytes + 16 * i, 16, 0 };
    double from = now(CLOCK_MONOTONIC);
    if (code == HDX_OK)
        code = hdx_source_read_many(source, list, (size_t)n, err);
    row("many", n, now(CLOCK_MONOTONIC) - from, 0, 16);
    free(list);
    free(bytes);
    return !failed(code, err);
}

typedef struct again {
    hdx_source      *source;
    uint64_t         size;
    _Atomic uint64_t next;
    atomic_bool      failed;
} again;

#define RUN (4u << 20)
static void take(void *context, unsigned n)
{
    again   *a = context;
    uint8_t *part = malloc(1u << 18);
    uint64_t at;
    (void)n;
    while (part != NULL && !atomic_load(&a->failed) && (at = atomic_fetch_add(&a->next, RUN)) < a->size)
        for (uint64_t end = a->size - at < RUN ? a->size : at + RUN; at < end; at += 1u << 18) {
            size_t got;
            if (hdx_source_read_at(a->source, at, part, end - at < 1u << 18 ? (size_t)(end - at) : 1u << 18, &got,
                                   NULL) != HDX_OK)
                atomic_store(&a->failed, true);
        }
    free(part);
}

static bool run(const char *path, uint64_t n, hdx_error *err)
{
    hdx_source *source;
    uint64_t    size = 0, points, windows, bytes;
    bool        good = false;
    if (failed(hdx_source_open(path, NULL, &source, err), err))
        return false;
    if (hdx_source_compression(source) == HDX_PLAIN) {
        fprintf(stderr, "%s: not compressed\n", path);
        goto out;
    }
    source->points.spacing = (uint64_t)spacing_kib << 10;
    if (!first_pass(source, err) || failed(hdx_source_points(source, &points, &windows, err), err) ||
        !hdx_source_size(source, &size) || size == 0)
        goto out;
    bytes = 20 * (points + windows) + source->points.bytes;
    row("points", points, 0, 0, bytes);
    if (!reads(source, "cold", n, size, true, err) || !reads(source, "warm", n + 100, size, false, err))
        goto out;
    hdx_cache_free(source->cache);
    if ((source->cache = hdx_cache_new(source)) == NULL || !many(source, 25 * n, size, err))
        goto out;
    again  a = { .source = source, .size = size };
    double from = now(CLOCK_MONOTONIC);
    hdx_workers_run(hdx_workers_default(), take, &a);
    row("again", 1, now(CLOCK_MONOTONIC) - from, 0, size);
    good = !atomic_load(&a.failed);
out:
    hdx_source_close(source);
    return good;
}

int main(int argc, char **argv)
{
    hdx_error err = { 0 };
    if (argc < 2) {
        fprintf(stderr, "usage: bench_gzip DUMP.gz [READS [SPACING_KIB ...]]\n");
        return 2;
    }
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
    file = strrchr(argv[1], '/') != NULL ? strrchr(argv[1], '/') + 1 : argv[1];
    printf("bench,file,spacing_kib,what,n,seconds,mean_ms,worst_ms,bytes\n");
    for (int i = 3; i < argc || i == 3; i++) {
        spacing_kib = argc > 3 ? (unsigned)strtoul(argv[i], NULL, 10) : 768;
        if (spacing_kib == 0 || !run(argv[1], n == 0 ? 1 : n, &err))
            return 1;
    }
    return 0;
}
