/*
 * source.c - bytes of a dump, compressed or not.
 *
 *     $ source bookshop.hprof.gz
 *     JAVA PROFILE 1.0.2
 */
#include <heapdex/source.h>

#include <inttypes.h>
#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "app.hprof";
    hdx_error   err;

    // source.h
    hdx_source *dump;
    char        bytes[18];
    size_t      got;
    if (hdx_source_open(path, NULL, &dump, &err) != HDX_OK)
        return complain(&err);
    hdx_code code = hdx_source_read_at(dump, 0, bytes, sizeof bytes, &got, &err); // any thread, any position
    if (code == HDX_OK)
        printf("%.*s\n", (int)got, bytes);
    hdx_source_close(dump);
    // end
    return code == HDX_OK ? 0 : complain(&err);
}
