/*
 * build.c - what every build needs before its first pass and after its last one: creates and frees memory, dump and
 * tables. Used by the conductor, by views, counts and forecasts.
 */
#include "making/checkpoint.h"
#include <heapdex/heapdex.h>

#include <stdio.h>
#include <stdlib.h>

#define STEPS  7u
#define WANTED (16ull << 20)
/*
 * Inflated pieces of a compressed dump. Workers read forward and share little, so a small cache suffices (forecast.c
 * relies on it).
 */
#define SLICES (16ull << 20)

/*
 * Uses a reader of its own: the build's reader stores the seek points of a compressed dump from the first byte that it
 * reads.
 */
static hdx_code recognise(hdx_build *b, hdx_error *err)
{
    const hdx_source_options options = { .max_uncompressed = b->work.options->max_uncompressed };
    hdx_source              *source;
    hdx_code code = hdx_source_open_mem(b->work.io, &b->work.mem, b->work.options->dump, &options, &source, err);
    if (code != HDX_OK)
        return code;
    code = hdx_strip_recognise(source, NULL, HDX_STRIP_WINDOW, &b->dump.stripping, err);
    hdx_source_close(source);
    return code;
}

/*
 * One thread reads names and tables, and one combines the results of the first pass. Meanwhile, until the other threads
 * have work (order.c), another one prepares memory, which all builds of such dumps need soon.
 */
static void prepare(hdx_build *b)
{
    const uint64_t size = hdx_source_file_size(b->dump.source) / 4;
    if (b->work.threads == 1 || b->work.mem.limit != 0)
        return;
    hdx_mem_want(&b->work.mem, size < WANTED ? size : WANTED);
    hdx_mem_prepare(&b->work.mem, size < HDX_BUILD_READY ? size : HDX_BUILD_READY);
}

hdx_build *hdx_build_blank(const hdx_build_doors *doors, const hdx_index_options *options, hdx_error *err)
{
    hdx_build *b = calloc(1, sizeof *b);
    if (b == NULL) {
        (void)hdx_no_memory(err, "a build", sizeof *b);
        return NULL;
    }
    b->work.options = options;
    b->work.io = doors->io;
    b->dump.windows.fd = -1;
    b->work.mem.limit = options->memory == 0                     ? 0
                        : options->memory > 2 * HDX_BUILD_BESIDE ? options->memory - HDX_BUILD_BESIDE
                                                                 : options->memory / 2 + 1;
    b->work.mem.refuse = doors->refuse;
    b->work.mem.context = doors->context;
    b->work.room = doors->room;
    b->saving.every_step = doors->every_step;
    b->work.mem.keep = true;
    b->work.threads = options->threads != 0 ? options->threads : hdx_workers_default();
    if (b->work.threads > HDX_WORKERS_MAX)
        b->work.threads = HDX_WORKERS_MAX;
    b->dump.scan.arena = hdx_arena_of(&b->work.mem);
    b->dump.scan.strings.places = hdx_map_of(&b->work.mem);
    b->dump.scan.by_class = hdx_map_of(&b->work.mem);
    b->dump.scan.flats.arrays = hdx_map_of(&b->work.mem);
    b->dump.scan.strings.long_names = b->dump.scan.strings.long_sums = hdx_map_of(&b->work.mem);
    b->dump.scan.stacks.frame_places = hdx_map_of(&b->work.mem);
    b->tables.texts = hdx_arena_of(&b->work.mem);
    b->tables.lookup.by_address = hdx_map_of(&b->work.mem);
    b->tables.lookup.flat_arrays = hdx_map_of(&b->work.mem);
    b->tables.class_objects = hdx_map_of(&b->work.mem);
    (void)pthread_mutex_init(&b->work.lock, NULL);
    hdx_ticker_init(&b->work.tick, &options->progress, STEPS);
    b->step_wall = hdx_now_ns();
    b->step_cpu = hdx_cpu_ns();
    b->saving.saved_at = b->step_wall;
    b->saving.begun_cpu = b->step_cpu;
    b->saving.of = &b->manifest;
    b->saving.version = hdx_checkpoint_version(options);
    (void)hdx_owner_boot(b->saving.boot);
    (void)snprintf(b->manifest.heapdex, sizeof b->manifest.heapdex, "%s", HEAPDEX_VERSION);
    return b;
}

hdx_build *hdx_build_open(const hdx_build_doors *doors, const hdx_index_options *options, hdx_build_purpose purpose,
                          hdx_error *err)
{
    hdx_source_options source_options = { .max_uncompressed = options->max_uncompressed,
                                          .threads = options->threads,
                                          .cache = SLICES };
    hdx_build         *b = hdx_build_blank(doors, options, err);
    if (b == NULL)
        return NULL;
    b->dump.counting = purpose == HDX_FOR_COUNTS;
    hdx_code code = hdx_source_open_mem(b->work.io, &b->work.mem, options->dump, &source_options, &b->dump.source, err);
    if (code == HDX_OK && purpose == HDX_FOR_INDEX)
        prepare(b);
    if (code == HDX_OK && (code = recognise(b, err)) == HDX_OK &&
        (code = hdx_strip_overlay_set(b->dump.source, b->dump.stripping.overlay, err)) == HDX_OK)
        return b;
    if (err != NULL && err->where[0] == '\0')
        (void)snprintf(err->where, sizeof err->where, "%s", options->dump);
    hdx_build_close(b);
    return NULL;
}

void hdx_build_close(hdx_build *b)
{
    hdx_mem *mem = &b->work.mem;
    hdx_catalog_abandon(b->catalog);
    hdx_scan_free(mem, &b->dump.scan);
    hdx_survey_free(&b->dump.survey);
    hdx_addresses_close(b->tables.lookup.ids);
    hdx_arena_free(&b->tables.texts);
    hdx_mem_put(mem, b->tables.classes, b->tables.class_count * sizeof *b->tables.classes);
    hdx_map_free(&b->tables.lookup.by_address);
    hdx_map_free(&b->tables.lookup.flat_arrays);
    hdx_map_free(&b->tables.class_objects);
    hdx_mem_put(mem, b->tables.lookup.layouts,
                b->tables.lookup.layouts == NULL ? 0 : b->tables.class_count * sizeof *b->tables.lookup.layouts);
    hdx_mem_put(mem, b->tables.lookup.offsets, b->tables.lookup.offset_count * sizeof *b->tables.lookup.offsets);
    hdx_mem_put(mem, b->tables.roots, b->tables.root_capacity * sizeof *b->tables.roots);
    hdx_mem_put(mem, b->tables.lookup.locals, b->tables.lookup.local_capacity * sizeof *b->tables.lookup.locals);
    hdx_mem_put(mem, b->tables.threads, b->tables.thread_count * sizeof *b->tables.threads);
    hdx_mem_put(mem, b->tables.heaps, b->tables.heap_count * sizeof *b->tables.heaps);
    hdx_mem_put(mem, b->work.damage.list, b->work.damage.capacity * sizeof *b->work.damage.list);
    if (b->resumed == NULL && b->index == NULL) /* otherwise it belongs to the catalog */
        hdx_build_damage_free(b);
    hdx_catalog_close(b->resumed);
    hdx_catalog_close(b->index);
    hdx_source_close(b->dump.source);
    hdx_seek_end(&b->dump);
    hdx_ticker_free(&b->work.tick);
    assert(atomic_load(&mem->used) == 0); /* M6 */
    hdx_mem_close(mem);
    (void)pthread_mutex_destroy(&b->work.lock);
    free(b);
}
