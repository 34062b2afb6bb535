/*
 * report.c - a report of a heap as one HTML file.
 *
 *     $ report bookshop.hprof.gz heap.html
 *     heap.html is written
 */
#include <heapdex/report.h>

#include <stdio.h>

static bool put(void *to, const char *bytes, size_t len) { return fwrite(bytes, 1, len, to) == len; }

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "app.hprof" };
    const char             *path = argc > 2 ? argv[2] : "heap.html";
    FILE                   *file = fopen(path, "w");
    hdx_session            *session = NULL;
    hdx_error               err;
    hdx_code                code;
    if (file == NULL)
        return perror(path), 1;

    // report.h
    const hdx_report_options html = { .format = HDX_REPORT_HTML, .quick = true };
    const hdx_sink           sink = { put, file };
    code = hdx_session_open(&options, &session, &err);
    if (code == HDX_OK)
        code = hdx_report_write(session, &html, &sink, &err);
    // end

    hdx_session_close(session);
    if (code != HDX_OK)
        fprintf(stderr, "%s: %s\n", err.where, err.message);
    if (fclose(file) != 0)
        return perror(path), 1;
    if (code == HDX_OK)
        printf("%s is written\n", path);
    return code != HDX_OK;
}
