/*
 * fuzz_index.c - any bytes as a dump, all the way: indexed, verified in full, and asked every question. A dump may be
 * refused; the index of one that is accepted, however damaged, obeys every invariant and answers everything. The length
 * chooses the width of ids and whether garbage is asked about.
 */
#include "fuzz/ask.h"
#include "fuzz/folder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok, const char *what, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s: %s\n", what, hdx_code_name(err->code), err->where, err->message);
    abort();
}

static void ask_all(hdx_graph *g, hdx_refs_scope scope, hdx_error *err)
{
    for (unsigned question = 0; question < ASK_QUESTIONS; question++) {
        *err = (hdx_error){ .code = ask(g, question, scope).code };
        (void)snprintf(err->message, sizeof err->message, "question %u", question);
        must(err->code == HDX_OK || err->code == HDX_NOT_FOUND, "ask", err); /* no class or thread of a name */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char      dump[FOLDER_PATH], index[FOLDER_PATH];
    hdx_index_report report;
    hdx_graph       *g;
    hdx_error        err = { .code = HDX_OK };
    folder_path(dump, "a.hprof");
    folder_path(index, "a.hdx");
    folder_save(dump, data, size);
    hdx_index_options options = { .dump = dump,
                                  .index_dir = index,
                                  .threads = 1,
                                  .width = size % 2 == 0 ? 32 : 64,
                                  .force = true,
                                  .max_uncompressed = 16u << 20 };
    hdx_code          code = hdx_index_build(&options, &report, &err);
    must(code == HDX_OK || code == HDX_BAD_DUMP || code == HDX_LIMIT, "build", &err);
    if (code != HDX_OK)
        return 0;
    must(hdx_graph_open(index, dump, &g, &err) == HDX_OK, "open", &err);
    must(hdx_graph_verify(g, true, &err) == HDX_OK, "verify", &err);
    ask_all(g, size / 2 % 2 == 0 ? HDX_LIVE : HDX_ALL, &err);
    must(hdx_graph_check(g, &err) == HDX_OK, "check", &err);
    hdx_graph_close(g);
    return 0;
}
