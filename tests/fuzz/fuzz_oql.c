/*
 * fuzz_oql.c - a query of OQL from anyone: one statement of SQL, or words. With classes known and without.
 */
#include "fuzz/folder.h"
#include "support/dump_maker.h"
#include "support/sql_text.h"
#include <heapdex/heapdex.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A heap with fields that are columns of their classes' tables, made once; NULL: it could not be. */
static hdx_graph *heap(void)
{
    static hdx_graph *g;
    static bool       tried;
    char              dump[FOLDER_PATH], index[FOLDER_PATH];
    hdx_index_report  report;
    if (tried)
        return g;
    tried = true;
    folder_path(dump, "a.hprof");
    folder_path(index, "a.hdx");
    dump_maker    *m = dump_maker_new(8);
    const uint64_t object = dump_maker_class(m, "java.lang.Object", 0, "");
    (void)dump_maker_class(m, "java.lang.String", object, "value:L count:I");
    const uint64_t map = dump_maker_class(m, "java.util.AbstractMap", object, "keySet:L");
    (void)dump_maker_class(m, "java.util.HashMap", map, "table:L size:I");
    (void)dump_maker_class(m, "x\"'; --", object, "f\"'; --:I select:I");
    dump_maker_root(m, HDX_SUB_ROOT_STICKY_CLASS, dump_maker_instance(m, map, NULL), 0, 0);
    dump_maker_save(m, dump);
    dump_maker_free(m);
    if (hdx_index_build(&(hdx_index_options){ .dump = dump, .index_dir = index, .threads = 1 }, &report, NULL) ==
        HDX_OK)
        (void)hdx_graph_open(index, dump, &g, NULL);
    return g;
}

static void translate(hdx_graph *g, const char *oql)
{
    char          *sql = NULL;
    hdx_error      err = { .code = HDX_OK };
    const hdx_code code = hdx_oql_translate(g, oql, &sql, &err);
    if (code == HDX_OK) {
        if (sql == NULL || !sql_is_one_statement(sql))
            abort();
    } else if (sql != NULL || err.code != code || err.message[0] == '\0' ||
               (code != HDX_USAGE && code != HDX_NOT_FOUND && code != HDX_LIMIT))
        abort();
    hdx_text_free(sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *oql = malloc(size + 1);
    if (oql == NULL)
        return 0;
    if (size > 0)
        memcpy(oql, data, size);
    oql[size] = '\0';
    translate(heap(), oql);
    translate(NULL, oql);
    free(oql);
    return 0;
}
