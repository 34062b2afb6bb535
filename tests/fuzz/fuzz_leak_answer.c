/*
 * fuzz_leak_answer.c - a kept answer of any content, its sums being right: refused, or printed to its end.
 *
 * Once without an index, so that whatever can be read is read; once as a file beside the index of a small dump, as a
 * search, a reader of rows and verify meet it there.
 */
#include "making/heap_model.h"
#include "fuzz/ask.h"
#include "fuzz/folder.h"
#include "leaks/leaks.h"

#define HEAD 48u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const       all[] = { "*" };
static const hdx_leaks_options options = {
    .finder = HDX_LEAKS_CLASSES, .classes = all, .class_count = 1, .threads = 1
};
static char       note[FOLDER_PATH];
static uint8_t    head[HEAD];
static hdx_graph *graph;

static void must(bool ok, const hdx_error *err)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s: %s\n", hdx_code_name(err->code), err->where, err->message);
    abort();
}

static void end(void) { hdx_graph_close(graph); }

static void prepare(void)
{
    static heap_model model;
    char              dump[FOLDER_PATH], index_path[FOLDER_PATH];
    const char       *name = NULL;
    uint64_t          bytes;
    size_t            len;
    hdx_index_report  report;
    hdx_leaks        *leaks;
    hdx_error         err = { .code = HDX_OK };
    folder_path(dump, "a.hprof");
    folder_path(index_path, "a.hdx");
    dump_maker    *m = model_make(&model, 11, 60, 8);
    const uint8_t *at = dump_maker_bytes(m, &len);
    folder_save(dump, at, len);
    dump_maker_free(m);
    const hdx_index_options build = { .dump = dump, .index_dir = index_path, .threads = 1 };
    must(hdx_index_build(&build, &report, &err) == HDX_OK && hdx_graph_open(index_path, dump, &graph, &err) == HDX_OK,
         &err);
    must(hdx_leaks_search(graph, &options, &leaks, &err) == HDX_OK, &err);
    hdx_leaks_free(leaks);
    must(hdx_graph_saved(graph, 0, &name, &bytes), &err);
    (void)snprintf(dump, sizeof dump, "a.hdx/%s", name);
    folder_path(note, dump);
    FILE *f = fopen(note, "rb");
    must(f != NULL && fread(head, 1, HEAD, f) == HEAD && fclose(f) == 0 && atexit(end) == 0, &err);
}

static void print(const hdx_leaks *leaks)
{
    hdx_rows *rows;
    hdx_error err;
    for (int documents = 0; documents < 2; documents++) {
        const hdx_code code = hdx_leaks_rows(&leaks, NULL, 1, documents != 0, &rows, &err);
        (void)ask_rows(code, &rows);
    }
}

static void beside_an_index(const uint8_t *data, size_t size)
{
    hdx_leaks *leaks;
    hdx_error  err = { .code = HDX_OK };
    uint8_t   *file = malloc(HEAD + size);
    if (file == NULL)
        abort();
    memcpy(file, head, HEAD);
    if (size > 0)
        memcpy(file + HEAD, data, size);
    hdx_put64(file + 32, size);
    hdx_put32(file + 40, hdx_crc32c(0, file + HEAD, size));
    hdx_put32(file + 44, hdx_crc32c(0, file, 44));
    folder_save(note, file, HEAD + size);
    free(file);
    must(hdx_graph_verify(graph, false, &err) == HDX_OK, &err);
    const hdx_code sound = hdx_leaks_verify(graph, &err);
    must(sound == HDX_OK || sound == HDX_DAMAGED, &err);
    must(hdx_leaks_search(graph, &options, &leaks, &err) == HDX_OK, &err);
    print(leaks);
    hdx_leaks_free(leaks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (graph == NULL)
        prepare();
    uint8_t *copy = hdx_mem_get(NULL, size);
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    leak_answer *a = hdx_leak_decode(copy, size);
    if (a == NULL) {
        hdx_mem_put(NULL, copy, size);
    } else {
        print(&a->out);
        hdx_leaks_free(&a->out);
    }
    beside_an_index(data, size);
    return 0;
}
