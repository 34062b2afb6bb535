/*
 * test_written.c - index files have the bytes that they had: of small heaps with everything a dump may have, of odd and
 * damaged dumps, with one and with several threads, within narrow budgets. written.txt has the checksums
 * (support/checksums.h).
 *
 *     model SEED OBJECTS IDS THREADS MEMORY WIDTH       a random heap (heap_model.h); memory 0: no bound
 *     corpus NAME THREADS MEMORY WIDTH                  a dump of tests/fuzz/corpus/dump
 *     odd - THREADS MEMORY WIDTH                        names and texts as long and wide as can be (cli/odd.h)
 *     bookshop - THREADS MEMORY WIDTH
 *     mutated SEED CHANGES UNTIL THREADS WIDTH          a random heap whose dump is damaged so often (mutate.h)
 *
 *     viewed SEED OBJECTS STEP ROOTS LAYOUT THREADS      and a view of it: without each STEP-th reference, and roots of
 *                                                        types 1 << ROOTS; sizes as LAYOUT has them
 *
 * Beside the bytes: what the index says of the dump, of its damage, its classes, roots, threads and heaps.
 */
#include "cli/odd.h"
#include "graph/graph.h"
#include "making/heap_model.h"
#include "making/making.h"
#include "making/mutate.h"
#include "support/checksums.h"
#include "support/folder.h"
#include <heapdex/heapdex.h>

#include <dirent.h>
#include <unistd.h>

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Each file of the folder but the catalog, whose pages have times, and those of folders within. */
static void put_files(hdx_buffer *b, const char *folder)
{
    char           names[64][64], path[512];
    unsigned       count = 0;
    DIR           *d = opendir(folder);
    struct dirent *e;
    cr_assert(d != NULL, "%s", folder);
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.' && strncmp(e->d_name, "catalog", 7) != 0) {
            cr_assert(count < 64);
            (void)snprintf(names[count++], sizeof names[0], "%.63s", e->d_name);
        }
    (void)closedir(d);
    qsort(names, count, sizeof names[0], by_name);
    for (unsigned i = 0; i < count; i++) {
        char bytes[4096];
        (void)snprintf(path, sizeof path, "%.440s/%.63s", folder, names[i]);
        FILE    *f = fopen(path, "rb");
        uint32_t crc = 0;
        uint64_t len = 0;
        cr_assert(f != NULL, "%s", path);
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0; len += n)
            crc = hdx_crc32c(crc, bytes, n);
        (void)fclose(f);
        hdx_buffer_format(b, "%s %llu %08x\n", names[i], (unsigned long long)len, crc);
    }
}

static void put_text(hdx_buffer *b, hdx_text text)
{
    hdx_buffer_put(b, text.at, text.len);
    hdx_buffer_text(b, "|");
}

static void put_summary(hdx_buffer *b, const hdx_graph_summary *s)
{
    const uint64_t numbers[] = { s->id_size,
                                 s->reference_size,
                                 s->alignment,
                                 s->compressed_oops,
                                 s->complete,
                                 s->step,
                                 s->created_ms,
                                 s->objects,
                                 s->records,
                                 s->live_objects,
                                 s->live_bytes,
                                 s->unreachable_objects,
                                 s->unreachable_bytes,
                                 s->references,
                                 s->classes,
                                 s->live_classes,
                                 s->live_loaders,
                                 s->gc_roots,
                                 s->roots,
                                 s->threads,
                                 s->dangling_references,
                                 s->dangling_roots,
                                 s->dump_number,
                                 s->dumps_in_file,
                                 s->dump_size,
                                 s->file_size,
                                 (uint64_t)s->compression,
                                 s->damage_count,
                                 s->damage_more,
                                 s->stripping->policy,
                                 s->stripping->confidence };
    hdx_buffer_format(b, "%s|%s|", s->version, s->jvm);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hdx_buffer_format(b, "%llu ", (unsigned long long)numbers[i]);
    for (unsigned i = 0; i < 256; i++)
        if (s->top_records[i] + s->sub_records[i] > 0)
            hdx_buffer_format(b, "%02x %llu %llu,", i, (unsigned long long)s->top_records[i],
                              (unsigned long long)s->sub_records[i]);
    for (uint64_t i = 0; i < s->damage_count; i++)
        hdx_buffer_format(b, "\n%s %llu %llu %llu %s: %s", hdx_damage_name(s->damage[i].kind),
                          (unsigned long long)s->damage[i].offset, (unsigned long long)s->damage[i].kept_objects,
                          (unsigned long long)s->damage[i].lost_bytes, s->damage[i].record, s->damage[i].expected);
    for (uint32_t i = 0; i < s->warning_count; i++)
        hdx_buffer_format(b, "\n%s", s->warnings[i]);
    hdx_buffer_text(b, "\n");
}

static void put_fields(hdx_buffer *b, const hdx_field *at, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        hdx_buffer_format(b, "%u ", at[i].type);
        put_text(b, at[i].name);
    }
}

static void put_class(hdx_buffer *b, const hdx_class *c)
{
    const uint64_t numbers[] = {
        c->address,        c->id,          c->number,        c->super,         c->super_address,
        c->loader,         c->signers,     c->domain,        c->kind,          c->element_type,
        c->flags,          c->stated_size, c->instance_size, c->class_shallow, c->instances,
        c->live_instances, c->bytes,       c->live_bytes
    };
    put_text(b, c->name);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        hdx_buffer_format(b, "%llx ", (unsigned long long)numbers[i]);
    put_fields(b, c->fields, c->field_count);
    put_fields(b, c->statics, c->static_count);
    hdx_buffer_text(b, "\n");
}

static void put_threads(hdx_buffer *b, hdx_graph *g)
{
    uint64_t          count = 0;
    const hdx_thread *threads = hdx_graph_threads(g, &count);
    for (uint64_t i = 0; threads != NULL && i < count; i++) {
        hdx_buffer_format(b, "%llx %u:", (unsigned long long)threads[i].object, threads[i].serial);
        for (uint32_t k = 0; k < threads[i].frame_count; k++) {
            const hdx_frame *f = &threads[i].frames[k];
            put_text(b, f->class_name);
            put_text(b, f->method);
            put_text(b, f->signature);
            put_text(b, f->source);
            hdx_buffer_format(b, "%d ", f->line);
        }
        hdx_buffer_text(b, "\n");
    }
}

static void put_index(hdx_buffer *b, const char *dump, const char *view)
{
    hdx_graph *g;
    hdx_error  err = { .offset = HDX_NOWHERE };
    uint32_t   classes = 0;
    uint64_t   roots = 0, heaps = 0;
    cr_assert(hdx_graph_open_view("made.hdx", view, dump, &g, &err) == HDX_OK, "%s", err.message);
    put_summary(b, hdx_graph_summary_of(g));
    const hdx_class *class = hdx_graph_classes(g, &classes);
    for (uint32_t i = 0; class != NULL && i < classes; i++)
        put_class(b, &class[i]);
    const hdx_root *root = hdx_graph_roots(g, &roots);
    for (uint64_t i = 0; root != NULL && i < roots; i++)
        hdx_buffer_format(b, "%llx %d %llx %d,", (unsigned long long)root[i].object, root[i].type,
                          (unsigned long long)root[i].thread, root[i].frame);
    put_threads(b, g);
    const hdx_heap_space *heap = hdx_graph_heaps(g, &heaps);
    for (uint64_t i = 0; heap != NULL && i < heaps; i++) {
        put_text(b, heap[i].name);
        hdx_buffer_format(b, "%u %llu %llu %llu %llu\n", heap[i].number, (unsigned long long)heap[i].objects,
                          (unsigned long long)heap[i].bytes, (unsigned long long)heap[i].live_objects,
                          (unsigned long long)heap[i].live_bytes);
    }
    hdx_graph_close(g);
}

static void put_view(hdx_buffer *b, const hdx_index_options *options, unsigned step, unsigned roots, unsigned layout)
{
    static hdx_index_report report;
    static hdx_pair         cuts[4096];
    hdx_view_wanted         want = {
                .name = "v", .spec = "-refs:some", .roots = roots < 32 ? 1u << roots : 0, .cuts = cuts, .layout = layout
    };
    hdx_catalog *c;
    hdx_graph   *g;
    hdx_error    err = { .offset = HDX_NOWHERE };
    unsigned     met = 0;
    cr_assert(hdx_catalog_open(hdx_io_system(), "made.hdx", &c, &err) == HDX_OK);
    memcpy(want.index, hdx_catalog_manifest(c)->identity, sizeof want.index);
    hdx_catalog_close(c);
    cr_assert(hdx_graph_open("made.hdx", NULL, &g, &err) == HDX_OK);
    for (hdx_id from = 0; from < hdx_graph_objects(g); from++) {
        const hdx_class *class = hdx_graph_class(g, hdx_graph_class_of(g, from));
        hdx_refs refs;
        hdx_id   to;
        hdx_graph_outbound(g, from, HDX_ALL, &refs);
        while (want.cut_count < 4096 && hdx_refs_next(&refs, &to))
            if (class != NULL && to != class->id && met++ % step == 0)
                cuts[want.cut_count++] = (hdx_pair){ from, to };
    }
    hdx_graph_close(g);
    const hdx_code code = hdx_view_build(options, &want, &report, &err);
    hdx_buffer_format(b, "view: %s %s\n", hdx_code_name(code), code != HDX_OK ? err.message : "");
    if (code != HDX_OK)
        return;
    put_files(b, "made.hdx/views/v");
    put_index(b, options->dump, "v");
}

/* A model's dump with some places changed. */
static void mutated_save(const char *path, uint64_t seed, unsigned changes)
{
    static heap_model    model;
    static mutate_places places;
    size_t               len;
    dump_maker          *m = model_make(&model, seed / 4, 20 + 10 * (unsigned)(seed % 16), seed % 2 == 0 ? 8 : 4);
    const uint8_t       *made = dump_maker_bytes(m, &len);
    uint8_t             *bytes = malloc(len);
    cr_assert(bytes != NULL);
    memcpy(bytes, made, len);
    mutate_find(&places, bytes, len);
    for (; changes > 0; changes--)
        mutate_once(&places, bytes, &seed);
    dump_maker_save_bytes(path, bytes, len);
    free(bytes);
    dump_maker_free(m);
}

static void notice(void *context, const char *line) { hdx_buffer_format(context, "%s\n", line); }

static uint64_t text_of(void *context, const char *ask, hdx_buffer *b)
{
    static hdx_index_report report;
    char                    kind[16], name[64], dump[256];
    unsigned objects = 0, ids = 0, threads = 0, width = 0, changes = 0, until = 0, step = 0, roots = 0, layout = 0;
    unsigned long long memory = 0, seed = 0;
    hdx_error          err = { .offset = HDX_NOWHERE };
    static heap_model  h;
    (void)context;
    (void)system("rm -rf a.hprof made.hdx .heapdex-part-made.hdx");
    if (sscanf(ask, "model %llu %u %u %u %llu %u", &seed, &objects, &ids, &threads, &memory, &width) == 6) {
        dump_maker *m = model_make(&h, seed, objects, ids);
        dump_maker_save(m, "a.hprof");
        dump_maker_free(m);
        (void)snprintf(dump, sizeof dump, "a.hprof");
    } else if (sscanf(ask, "viewed %llu %u %u %u %u %u", &seed, &objects, &step, &roots, &layout, &threads) == 6) {
        dump_maker *m = model_make(&h, seed, objects, 8);
        dump_maker_save(m, "a.hprof");
        dump_maker_free(m);
        (void)snprintf(dump, sizeof dump, "a.hprof");
    } else if (sscanf(ask, "mutated %llu %u %u %u %u", &seed, &changes, &until, &threads, &width) == 5) {
        mutated_save("a.hprof", seed, changes);
        (void)snprintf(dump, sizeof dump, "a.hprof");
    } else {
        cr_assert(sscanf(ask, "%15s %63s %u %llu %u", kind, name, &threads, &memory, &width) == 5, "%s", ask);
        if (strcmp(kind, "odd") == 0)
            odd_make("a.hprof");
        (void)snprintf(dump, sizeof dump, "%s%s",
                       strcmp(kind, "odd") == 0        ? "a.hprof"
                       : strcmp(kind, "bookshop") == 0 ? HDX_TREE "/examples/bookshop.hprof.gz"
                                                       : HDX_TREE "/tests/fuzz/corpus/dump/",
                       strcmp(kind, "corpus") == 0 ? name : "");
    }
    hdx_index_options options = { .dump = dump,
                                  .index_dir = "made.hdx",
                                  .threads = threads,
                                  .memory = memory,
                                  .width = width,
                                  .until = (hdx_step)until,
                                  .notice = notice,
                                  .notice_context = b };
    const hdx_code    code = hdx_index_build(&options, &report, &err);
    if (code != HDX_OK) {
        hdx_buffer_format(b, "%s %lld %s\n", hdx_code_name(code), (long long)err.offset, err.message);
        return 0;
    }
    hdx_buffer_format(b, "%llu %llu %llu\n", (unsigned long long)report.objects,
                      (unsigned long long)report.live_objects, (unsigned long long)report.references);
    put_files(b, "made.hdx");
    put_index(b, dump, NULL);
    if (step > 0)
        put_view(b, &options, step, roots, layout);
    return report.objects;
}

Test(written, files_have_the_bytes_that_they_had, .timeout = 120)
{
    char folder[TEST_FOLDER];
    test_folder_make_fast(folder, "written");
    cr_assert(chdir(folder) == 0);
    checksums_check(HDX_TREE "/tests/making/written.txt", text_of, NULL);
    cr_assert(chdir("/") == 0);
    test_folder_remove(folder);
}
