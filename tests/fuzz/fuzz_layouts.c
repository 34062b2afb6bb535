/*
 * fuzz_layouts.c - lines of a user's table of collections, whatever stands in them: refused as a whole with the line
 * that is wrong, or each object of a small heap is read as they say, to its end. Read twice they say the same twice,
 * and all memory that the account has lent comes back.
 */
#include "support/questions.h"
#include "making/heap_model.h"
#include "fuzz/folder.h"
#include "fuzz/told.h"
#include "query/common/contents.h"

#define STEPS  2000u /* of one object */
#define MEMORY (64ull << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    size_t            len;
    hdx_index_report  report;
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
    must(atexit(end) == 0, &err);
}

/* Neither more entries than steps, nor any without an end. */
static void walk(hdx_contents *c, hdx_id id)
{
    hdx_collection_facts facts;
    hdx_entry_walk       w;
    hdx_entry            entry;
    hdx_error            err = { .code = HDX_OK };
    uint64_t             given = 0;
    bool                 more = true;
    must(hdx_contents_facts(c, id, true, STEPS, &facts, &err) == HDX_OK, &err);
    must(hdx_entry_walk_begin(&w, c, id, STEPS, &err) == HDX_OK, &err);
    while (more) {
        must(hdx_entry_walk_next(&w, &entry, &more, &err) == HDX_OK, &err);
        if (given++ > 4 * STEPS)
            abort();
    }
    hdx_entry_walk_end(&w);
}

static bool same_name(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }

static bool same_text(hdx_text a, hdx_text b) { return a.len == b.len && memcmp(a.at, b.at, a.len) == 0; }

/* Paths are numbers of names, which a second reading finds again. */
static void must_be_same(const hdx_layout *a, const hdx_layout *b)
{
    hdx_layout x = *a, y = *b;
    if (!same_text(x.class_name, y.class_name))
        abort();
    hdx_static_name *of_x[] = { &x.nothing, &x.null, &x.chain }, *of_y[] = { &y.nothing, &y.null, &y.chain };
    for (unsigned i = 0; i < 3; i++) {
        if (!same_name(of_x[i]->class_name, of_y[i]->class_name) ||
            (of_x[i]->class_name != NULL && !same_text(of_x[i]->field, of_y[i]->field)))
            abort();
        *of_x[i] = *of_y[i];
    }
    for (unsigned i = 0; i < x.unwrap_count && x.unwrap_count == y.unwrap_count; i++) {
        const hdx_unwrap *u = &x.unwrap[i], *v = &y.unwrap[i];
        if (!same_text(u->class_name, v->class_name) || u->field != v->field || u->reference != v->reference)
            abort();
        x.unwrap[i] = *v;
    }
    x.class_name = y.class_name;
    if (memcmp(&x, &y, sizeof x) != 0)
        abort();
}

static void read_again(const char *text, size_t size, hdx_layouts *l)
{
    const uint64_t lines = l->lines.count, names = l->names.count;
    hdx_error      err = { .code = HDX_OK };
    hdx_code       code = hdx_layouts_read(l, "lines", text, size, &err);
    if (code == HDX_LIMIT)
        return;
    must(code == HDX_OK && l->lines.count == 2 * lines && l->names.count == names, &err);
    for (uint64_t i = 0; i < lines; i++)
        must_be_same(&l->lines.at[i], &l->lines.at[lines + i]);
}

static void use(const hdx_layouts *layouts, hdx_ask *ask)
{
    hdx_bound_layouts bound;
    hdx_contents      contents;
    hdx_error         err = { .code = HDX_OK };
    must(hdx_layouts_bind(layouts, ask, &bound, &err) == HDX_OK, &err);
    must(hdx_contents_open(&contents, graph, &bound, NULL, &err) == HDX_OK, &err);
    for (hdx_id id = 1; id < hdx_graph_objects(graph); id++)
        if (hdx_graph_kind(graph, id) == HDX_INSTANCE && hdx_contents_layout(&contents, id) != NULL)
            walk(&contents, id);
    hdx_contents_close(&contents);
    hdx_layouts_unbind(&bound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hdx_query   asked = { .threads = 1 };
    hdx_ask     ask;
    hdx_mem     mem = { .limit = MEMORY };
    hdx_layouts layouts;
    hdx_error   err = { .code = HDX_OK };
    if (graph == NULL)
        prepare();
    asked.graph = graph;
    must(hdx_ask_begin(&asked, &ask, &err) == HDX_OK && hdx_layouts_begin(&layouts, &mem, &err) == HDX_OK, &err);
    const hdx_code code = hdx_layouts_read(&layouts, "lines", (const char *)data, size, &err);
    if (code == HDX_OK) {
        use(&layouts, &ask);
        read_again((const char *)data, size, &layouts);
    } else if (size > 1u << 20) {
        told_of_file(code, &err, "lines");
    } else {
        told_of_line(code, &err, "lines", (const char *)data, size);
    }
    hdx_layouts_free(&layouts);
    if (mem.used != 0)
        abort();
    hdx_mem_close(&mem);
    return 0;
}
