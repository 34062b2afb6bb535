/* manifest.c - facts about the whole index: files, steps, damage, counts; and the catalog that contains everything. */
#include "making/making.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void hdx_manifest_file_written(hdx_build *b, hdx_kind kind, const hdx_index_file *file)
{
    hdx_manifest_file *f = &b->manifest.files[kind]; /* one pass writes a kind: two threads never share an entry */
    (void)snprintf(f->name, sizeof f->name, "%s", hdx_kind_name(kind));
    assert(file->bytes > 0 && kind < HDX_KINDS); /* M4 */
    f->bytes = file->bytes;
    f->sum = file->sum;
}

hdx_amounts hdx_build_amounts(const hdx_build *b)
{
    const hdx_manifest *m = &b->manifest;
    return (hdx_amounts){ { [HDX_OF_OBJECTS] = b->tables.objects,
                            [HDX_OF_CLASSES] = b->tables.class_count,
                            [HDX_OF_HEAPS] = b->tables.heap_count,
                            [HDX_OF_SPECIALS] = m->specials,
                            [HDX_OF_DOMINATORS] = m->dominators,
                            [HDX_OF_DUMP_BYTES] = m->dump_size,
                            [HDX_OF_FILE_BYTES] = m->file_size,
                            [HDX_OF_LIVE_BYTES] = m->live_bytes,
                            [HDX_OF_CUT_FROM] = m->cut_from,
                            [HDX_OF_CUT_TO] = m->cut_to } };
}

hdx_code hdx_build_file_open(const hdx_build *b, hdx_kind kind, hdx_damage_note *note, void **out, hdx_error *err)
{
    assert(kind < HDX_KINDS); /* M4 */
    const hdx_index_file   file = { b->manifest.files[kind].bytes, b->manifest.files[kind].sum };
    const hdx_amounts      amounts = hdx_build_amounts(b);
    const hdx_index_place *place = b->index != NULL && !hdx_kind_of_view(kind) ? &b->index_place : &b->work.place;
    return hdx_index_open(place, kind, &file, &amounts, note, out, err);
}

static uint64_t written(const hdx_build *b)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < HDX_KINDS; i++)
        n += b->manifest.files[i].bytes;
    return n;
}

void hdx_manifest_step_begin(hdx_build *b, const char *name, uint64_t total, const char *unit)
{
    hdx_manifest_step *s = &b->manifest.steps[b->manifest.step_count];
    if (b->manifest.step_count >= HDX_STEPS_MAX)
        return;
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    s->wall_ns = hdx_now_ns();
    s->cpu_ns = hdx_cpu_ns();
    s->written_bytes = written(b);
    hdx_ticker_step(&b->work.tick, name, total, unit);
}

void hdx_manifest_step_end(hdx_build *b)
{
    hdx_manifest_step *s = &b->manifest.steps[b->manifest.step_count];
    if (b->manifest.step_count >= HDX_STEPS_MAX)
        return;
    assert(s->name[0] != '\0'); /* M1: a step has begun */
    s->wall_ns = hdx_now_ns() - s->wall_ns;
    s->cpu_ns = hdx_cpu_ns() - s->cpu_ns;
    s->written_bytes = written(b) - s->written_bytes;
    s->peak_bytes = hdx_peak_rss();
    b->manifest.step_count++;
}

_Static_assert(HDX_CATALOG_FORMAT >= HDX_INDEX_FORMAT,
               "an index of the previous format would pass for one of this format");

/*
 * Depends on the contents of the dump, not on its compression: the index of a gzip'd dump has the same bytes as the
 * plain one's.
 */
void hdx_build_identity(hdx_build *b)
{
    const hdx_survey *s = &b->dump.survey;
    uint64_t          low = HDX_CATALOG_FORMAT, high = HDX_INDEX_FORMAT;
    uint64_t          words[] = { s->head.id_size, s->head.time_ms, s->heap_time_us,  b->manifest.dump_size,
                                  s->dump_number,  s->objects,      b->tables.objects };
    low = hdx_hash_bytes(low, words, sizeof words);
    low = hdx_hash_bytes(low, s->sub_records, sizeof s->sub_records);
    high = hdx_hash_bytes(high ^ low, s->top_records, sizeof s->top_records);
    for (uint32_t i = 0; i < b->tables.class_count; i++)
        high = hdx_mix64(high ^ b->tables.classes[i].address) + b->tables.classes[i].instances;
    hdx_put64(b->manifest.identity, low);
    hdx_put64(b->manifest.identity + 8, high);
    memcpy(b->work.place.identity, b->manifest.identity, sizeof b->work.place.identity);
}

static int by_offset(const void *a, const void *b)
{
    const hdx_damage *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->expected, y->expected);
}

hdx_code hdx_build_damage_gather(hdx_build *b, hdx_error *err)
{
    hdx_manifest *m = &b->manifest;
    uint64_t      room = b->dump.survey.damage_count + b->work.damage.count;
    m->damage_more = b->dump.survey.damage_more + b->work.damage.more;
    if (room == 0)
        return HDX_OK;
    if ((m->damage = hdx_mem_array(&b->work.mem, room, sizeof *m->damage)) == NULL)
        return hdx_no_memory(err, "the list of damage", 0);
    m->damage_count = room;
    if (b->dump.survey.damage_count > 0)
        memcpy(m->damage, b->dump.survey.damage, b->dump.survey.damage_count * sizeof *m->damage);
    for (uint64_t i = 0; i < b->work.damage.count; i++) {
        m->damage[b->dump.survey.damage_count + i] = b->work.damage.list[i];
        m->damage[b->dump.survey.damage_count + i].kept_objects = b->dump.survey.objects - b->dump.scan.skipped.count;
    }
    qsort(m->damage, (size_t)room, sizeof *m->damage, by_offset);
    return HDX_OK;
}

void hdx_build_damage_free(hdx_build *b)
{
    hdx_mem_put(&b->work.mem, b->manifest.damage, b->manifest.damage_count * sizeof *b->manifest.damage);
    b->manifest.damage = NULL;
    b->manifest.damage_count = 0;
}

static int by_object(const void *a, const void *b)
{
    const hdx_root *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

hdx_code hdx_build_dump_read(hdx_build *b, hdx_error *err)
{
    hdx_manifest     *m = &b->manifest;
    const hdx_survey *s = &b->dump.survey;
    assert(b->tables.lookup.ids != NULL && b->dump.source != NULL); /* M1: once, after the step columns */
    m->format = HDX_CATALOG_FORMAT;
    (void)snprintf(m->version, sizeof m->version, "%s", s->head.version);
    m->id_size = s->head.id_size;
    m->created_ms = s->head.time_ms + s->heap_time_us / 1000;
    m->dump_number = s->dump_number;
    m->dumps_in_file = s->dumps_in_file;
    m->reference_size = b->tables.sizing.reference_size;
    m->alignment = b->tables.sizing.alignment;
    m->compressed_oops = b->tables.sizing.id_size == 8 && b->tables.sizing.reference_size == 4;
    m->stated_sizes = b->tables.sizing.stated;
    m->objects = b->tables.objects;
    m->records = s->objects - b->dump.scan.skipped.count;
    m->classes = b->tables.class_count;
    m->roots = b->tables.root_count;
    m->threads = b->tables.thread_count;
    m->dangling_roots = b->tables.dangling_roots;
    memcpy(m->record_counts[0], s->top_records, sizeof m->record_counts[0]);
    memcpy(m->record_counts[1], s->sub_records, sizeof m->record_counts[1]);
    m->file_count = HDX_KINDS - HDX_CUT_KINDS;
    m->warning_count = s->warning_count < HDX_WARNINGS_MAX ? s->warning_count : HDX_WARNINGS_MAX;
    for (uint32_t i = 0; i < m->warning_count; i++)
        (void)snprintf(m->warnings[i], sizeof m->warnings[i], "%s", s->warnings[i]);
    m->stripping = b->dump.stripping;
    m->stripping.bytes_read = 0;
    m->compression = (uint32_t)hdx_source_compression(b->dump.source);
    hdx_code code = hdx_build_damage_gather(b, err);
    if (code != HDX_OK)
        return code;
    hdx_scan_free(&b->work.mem, &b->dump.scan);
    hdx_map_free(&b->tables.lookup.by_address);
    hdx_map_free(&b->tables.lookup.flat_arrays);
    hdx_mem_put(&b->work.mem, b->tables.lookup.layouts, b->tables.class_count * sizeof *b->tables.lookup.layouts);
    hdx_mem_put(&b->work.mem, b->tables.lookup.offsets,
                b->tables.lookup.offset_count * sizeof *b->tables.lookup.offsets);
    hdx_mem_put(&b->work.mem, b->tables.lookup.locals,
                b->tables.lookup.local_capacity * sizeof *b->tables.lookup.locals);
    b->tables.lookup.layouts = NULL;
    b->tables.lookup.offsets = NULL;
    b->tables.lookup.locals = NULL;
    b->tables.lookup.offset_count = b->tables.lookup.local_count = b->tables.lookup.local_capacity = 0;
    hdx_addresses_close(b->tables.lookup.ids); /* all references are ids now */
    b->tables.lookup.ids = NULL;
    hdx_source_close(b->dump.source);
    b->dump.source = NULL;
    hdx_seek_end(&b->dump);
    hdx_work_measure(&b->work, b->tables.objects);
    return HDX_OK;
}

/* Includes the cost of earlier builds that this one resumed. */
static void fill_costs(hdx_build *b)
{
    hdx_manifest   *m = &b->manifest;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    m->built_at_ms = (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
    m->wall_ns = m->cpu_ns = 0;
    for (uint32_t i = 0; b->resumed != NULL && i < hdx_catalog_manifest(b->resumed)->step_count; i++) {
        m->wall_ns += m->steps[i].wall_ns;
        m->cpu_ns += m->steps[i].cpu_ns;
    }
    m->wall_ns += hdx_now_ns() - b->step_wall;
    m->cpu_ns += hdx_cpu_ns() - b->step_cpu;
    m->peak_rss = hdx_peak_rss();
}

void hdx_build_sort_roots(hdx_work *w, hdx_dump_tables *t)
{
    hdx_sort(&w->mem, t->roots, t->root_count, sizeof *t->roots, offsetof(hdx_root, object), by_object);
}

hdx_code hdx_build_catalog_begin(hdx_build *b, hdx_error *err)
{
    hdx_code code;
    hdx_build_sort_roots(&b->work, &b->tables); /* a build resumed from a checkpoint has not sorted them */
    assert(b->catalog == NULL);                 /* M2: once */
    if ((code = hdx_catalog_create(b->work.io, b->work.folder, &b->work.mem, &b->catalog, err)) != HDX_OK)
        return code;
    for (uint32_t i = 0; i < b->tables.class_count && code == HDX_OK; i++) {
        hdx_catalog_ahead(b->catalog, &b->tables.classes[i], b->tables.class_count - i);
        code = hdx_catalog_put_class(b->catalog, &b->tables.classes[i], err);
    }
    if (code == HDX_OK &&
        (code = hdx_catalog_put_roots(b->catalog, b->tables.roots, b->tables.root_count, err)) == HDX_OK &&
        (code = hdx_catalog_put_threads(b->catalog, b->tables.threads, b->tables.thread_count, err)) == HDX_OK)
        code = hdx_catalog_put_heaps(b->catalog, b->tables.heaps, b->tables.heap_count, err);
    return code;
}

hdx_code hdx_build_catalog(hdx_build *b, hdx_error *err)
{
    hdx_code code = b->catalog != NULL ? HDX_OK : hdx_build_catalog_begin(b, err);
    fill_costs(b);
    if (code != HDX_OK || (code = hdx_catalog_put_manifest(b->catalog, &b->manifest, err)) != HDX_OK)
        return code;
    code = hdx_catalog_commit(b->catalog, err);
    b->catalog = NULL;
    return code;
}
