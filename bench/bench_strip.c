/*
 * bench_strip.c - what each policy makes of a dump, and how fast.
 *
 *     bench_strip DUMP [FOLDER]          FOLDER for the results, which are removed again; /tmp by default
 *
 * CSV on standard output: form,bytes,gzip_bytes,seconds,cpu_seconds,mb_per_s. Rows: `copy` (reading and writing the
 * dump, nothing else: the limit), the policies, and what restoring gives. gzip_bytes is the same written as .gz (level
 * 6). Seconds include the sync to disk; mb_per_s is by the bytes of the input.
 */
#include "base/base.h"
#include <heapdex/heapdex.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char out[4096], packed[4096], back[4096];

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void row(const char *form, uint64_t bytes, uint64_t gzip_bytes, uint64_t ns, uint64_t cpu, uint64_t input)
{
    printf("%s,%llu,%llu,%.3f,%.3f,%.0f\n", form, (unsigned long long)bytes, (unsigned long long)gzip_bytes,
           (double)ns / 1e9, (double)cpu / 1e9, (double)input * 1e3 / (double)ns);
    (void)fflush(stdout);
}

static int fail(const char *what, const hdx_error *err)
{
    fprintf(stderr, "bench_strip: %s: %s\n", what, err->message);
    return 1;
}

/* Reads the source as it is unpacked and writes it: what no policy can do faster. */
static int copy(const char *dump, uint64_t *bytes, uint64_t *ns)
{
    static uint8_t buffer[256u << 10];
    hdx_source    *source;
    hdx_stream    *stream;
    hdx_error      err = { 0 };
    size_t         got = 0;
    const uint64_t begun = hdx_now_ns();
    const int      fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || hdx_source_open(dump, NULL, &source, &err) != HDX_OK ||
        hdx_stream_open(source, 0, &stream, &err) != HDX_OK)
        return fail(dump, &err);
    do {
        if (hdx_stream_read(stream, buffer, sizeof buffer, &got, &err) != HDX_OK ||
            write(fd, buffer, got) != (ssize_t)got)
            return fail(dump, &err);
        *bytes += got;
    } while (got == sizeof buffer);
    hdx_stream_close(stream);
    hdx_source_close(source);
    (void)fsync(fd);
    (void)close(fd);
    *ns = hdx_now_ns() - begun;
    return 0;
}

int main(int argc, char **argv)
{
    static const hdx_strip_policy policies[] = { HDX_STRIP_KOOM,   HDX_STRIP_SHARK,  HDX_STRIP_REDACTED,
                                                 HDX_STRIP_TAILOR, HDX_STRIP_TAILOR, HDX_STRIP_MATRIX };
    const char                   *folder = argc > 2 ? argv[2] : "/tmp";
    hdx_strip_report              report;
    hdx_error                     err = { 0 };
    uint64_t                      input = 0, ns = 0;
    if (argc < 2)
        return fprintf(stderr, "usage: bench_strip DUMP [FOLDER]\n"), 2;
    (void)snprintf(out, sizeof out, "%s/bench-strip-%ld.hprof", folder, (long)getpid());
    (void)snprintf(packed, sizeof packed, "%s/bench-strip-%ld.hprof.gz", folder, (long)getpid());
    (void)snprintf(back, sizeof back, "%s/bench-strip-%ld.back.hprof", folder, (long)getpid());
    printf("form,bytes,gzip_bytes,seconds,cpu_seconds,mb_per_s\n");
    uint64_t cpu = hdx_cpu_ns();
    if (copy(argv[1], &input, &ns) != 0)
        return 1;
    row("copy", input, 0, ns, hdx_cpu_ns() - cpu, input);
    for (unsigned k = 0; k < sizeof policies / sizeof *policies; k++) {
        const bool        raw = k == 3;
        hdx_strip_options o = { .dump = argv[1], .output = packed, .policy = policies[k], .plain = raw };
        char              name[64];
        (void)snprintf(name, sizeof name, "%s%s", hdx_strip_name(policies[k]),
                       raw                               ? " raw"
                       : policies[k] == HDX_STRIP_TAILOR ? " zlib"
                                                         : "");
        if (hdx_strip_write(&o, &report, &err) != HDX_OK) {
            (void)fail(name, &err); /* Tailor and ids of 8 bytes */
            continue;
        }
        const uint64_t gzip_bytes = size_of(packed);
        o.output = out;
        uint64_t begun = hdx_now_ns();
        cpu = hdx_cpu_ns();
        if (hdx_strip_write(&o, &report, &err) != HDX_OK)
            return fail(name, &err);
        row(name, size_of(out), gzip_bytes, hdx_now_ns() - begun, hdx_cpu_ns() - cpu, input);
        if (policies[k] == HDX_STRIP_KOOM || raw) {
            const hdx_strip_options r = { .dump = out, .output = back };
            const uint64_t          from = size_of(out);
            begun = hdx_now_ns();
            cpu = hdx_cpu_ns();
            if (hdx_strip_restore(&r, &report, &err) != HDX_OK)
                return fail(name, &err);
            (void)snprintf(name, sizeof name, "%s restored", hdx_strip_name(policies[k]));
            row(name, size_of(back), 0, hdx_now_ns() - begun, hdx_cpu_ns() - cpu, from);
            (void)unlink(back);
        }
    }
    (void)unlink(out);
    (void)unlink(packed);
    return 0;
}
