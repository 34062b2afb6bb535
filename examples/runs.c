/*
 * runs.c - how many objects are Strings, told by looking at every object.
 *
 *     $ runs bookshop.hprof.gz
 *     3711 Strings
 */
#include <heapdex/heapdex.h>
#include <inttypes.h>
#include <stdio.h>

static int complain(const hdx_error *err)
{
    fprintf(stderr, "%s: %s\n", err->where, err->message);
    return 1;
}

int main(int argc, char **argv)
{
    const hdx_index_options options = { .dump = argc > 1 ? argv[1] : "" };
    hdx_session            *session = NULL;
    hdx_graph              *g = NULL;
    hdx_error               err;
    uint64_t                strings = 0;
    if (hdx_session_open(&options, &session, &err) != HDX_OK || hdx_session_graph(session, 0, &g, &err) != HDX_OK)
        return complain(&err);
    const uint64_t   objects = hdx_graph_objects(g);
    const hdx_class *string = hdx_graph_class_named(g, "java.lang.String");
    if (string == NULL)
        return 1;
    // graph.h
    uint32_t classes[HDX_RUN], n;
    for (hdx_id first = 0; first < objects; first += n) {
        n = (uint32_t)(objects - first < HDX_RUN ? objects - first : HDX_RUN);
        hdx_graph_read_classes(g, first, n, classes);
        for (uint32_t i = 0; i < n; i++)
            strings += classes[i] == string->number;
    }
    hdx_code code = hdx_graph_check(g, &err); // was every page sound?
    // end
    printf("%" PRIu64 " Strings\n", strings);
    hdx_session_close(session);
    return code == HDX_OK ? 0 : complain(&err);
}
