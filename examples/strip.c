/*
 * strip.c - what a dump went through, and the same dump without the contents of its arrays.
 *
 *     $ strip bookshop.hprof.gz small.hprof
 *     JAVA PROFILE 1.0.2 none, 48549 records
 */
#include <heapdex/strip.h>

#include <inttypes.h>
#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const char *dump = argc > 1 ? argv[1] : "app.hprof", *small = argc > 2 ? argv[2] : "small.hprof";
    hdx_error   err;

    // strip.h
    hdx_detected            found; // found.what: the policy, with evidence; HDX_STRIP_NONE: an ordinary dump
    const hdx_strip_options options = { .dump = dump, .output = small, .policy = HDX_STRIP_SHARK };
    hdx_strip_report        report;
    if (hdx_strip_detect(dump, NULL, &found, &err) != HDX_OK || hdx_strip_write(&options, &report, &err) != HDX_OK)
        return complain(&err);
    printf("%s %s, %" PRIu64 " records\n", found.format, hdx_strip_name(found.what.policy), report.records_out);
    // end
    return 0;
}
