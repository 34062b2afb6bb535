/*
 * manifest.c - what an index says of itself: files, steps, damage, counts; and the catalog that holds it all.
 */
#include "build/build.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void hdx_manifest_file_written(hdx_build *b, hdx_kind kind, const hdx_index_file *file)
{
    hdx_manifest_file *f = &b->manifest.files[kind]; /* one pass writes a kind: no two threads come here for the same */
    (void)snprintf(f->name, sizeof f->name, "%s", hdx_kind_name(kind));
    f->bytes = file->bytes;
    f->sum = file->sum;
}

hdx_amounts hdx_build_amounts(const hdx_build *b)
{
    const hdx_manifest *m = &b->manifest;
    return (hdx_amounts){ { [HDX_OF_OBJECTS] = b->objects,
                            [HDX_OF_CLASSES] = b->class_count,
                            [HDX_OF_HEAPS] = b->heap_count,
                            [HDX_OF_SPECIALS] = m->specials,
                            [HDX_OF_DOMINATORS] = m->dominators,
                            [HDX_OF_DUMP_BYTES] = m->dump_size,
                            [HDX_OF_FILE_BYTES] = m->file_size,
                            [HDX_OF_LIVE_BYTES] = m->live_bytes } };
}

hdx_code hdx_build_file_open(const hdx_build *b, hdx_kind kind, hdx_damage_note *note, void **out, hdx_error *err)
{
    const hdx_index_file file = { b->manifest.files[kind].bytes, b->manifest.files[kind].sum };
    const hdx_amounts    amounts = hdx_build_amounts(b);
    return hdx_index_open(&b->place, kind, &file, &amounts, note, out, err);
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
    hdx_ticker_step(&b->tick, name, total, unit);
}

void hdx_manifest_step_end(hdx_build *b)
{
    hdx_manifest_step *s = &b->manifest.steps[b->manifest.step_count];
    if (b->manifest.step_count >= HDX_STEPS_MAX)
        return;
    s->wall_ns = hdx_now_ns() - s->wall_ns;
    s->cpu_ns = hdx_cpu_ns() - s->cpu_ns;
    s->written_bytes = written(b) - s->written_bytes;
    s->peak_bytes = hdx_peak_rss();
    b->manifest.step_count++;
}

hdx_code hdx_build_damage(hdx_build *b, hdx_damage_kind kind, hdx_pos pos, const char *record, uint64_t lost,
                          hdx_error *err, const char *format, ...)
{
    hdx_damage d = { .kind = kind, .offset = pos, .lost_bytes = lost };
    va_list    args;
    hdx_code   code = HDX_OK;
    (void)snprintf(d.record, sizeof d.record, "%s", record);
    va_start(args, format);
    (void)vsnprintf(d.expected, sizeof d.expected, format, args);
    va_end(args);
    (void)pthread_mutex_lock(&b->lock);
    if (b->damage_count >= HDX_DAMAGE_MAX)
        b->damage_more++;
    else if (!hdx_mem_room(&b->mem, (void **)&b->damage, &b->damage_capacity, b->damage_count, sizeof d))
        code = hdx_no_memory(err, "the list of damage", 0);
    else
        b->damage[b->damage_count++] = d;
    (void)pthread_mutex_unlock(&b->lock);
    return code;
}

_Static_assert(HDX_CATALOG_FORMAT >= HDX_INDEX_FORMAT, "an index of the format before would pass for one of this");

/*
 * Of what the dump says, not of how it lies on disk: the index of a gzip'd dump has the same bytes as the plain one's.
 */
void hdx_build_identity(hdx_build *b)
{
    const hdx_survey *s = &b->survey;
    uint64_t          low = HDX_CATALOG_FORMAT, high = HDX_INDEX_FORMAT;
    uint64_t          words[] = { s->head.id_size, s->head.time_ms, s->heap_time_us, b->manifest.dump_size,
                                  s->dump_number,  s->objects,      b->objects };
    low = hdx_hash_bytes(low, words, sizeof words);
    low = hdx_hash_bytes(low, s->sub_records, sizeof s->sub_records);
    high = hdx_hash_bytes(high ^ low, s->top_records, sizeof s->top_records);
    for (uint32_t i = 0; i < b->class_count; i++)
        high = hdx_mix64(high ^ b->classes[i].address) + b->classes[i].instances;
    hdx_put64(b->manifest.identity, low);
    hdx_put64(b->manifest.identity + 8, high);
    memcpy(b->place.identity, b->manifest.identity, sizeof b->place.identity);
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
    uint64_t      room = b->survey.damage_count + b->damage_count;
    m->damage_more = b->survey.damage_more + b->damage_more;
    if (room == 0)
        return HDX_OK;
    if ((m->damage = hdx_mem_array(&b->mem, room, sizeof *m->damage)) == NULL)
        return hdx_no_memory(err, "the list of damage", 0);
    m->damage_count = room;
    if (b->survey.damage_count > 0)
        memcpy(m->damage, b->survey.damage, b->survey.damage_count * sizeof *m->damage);
    for (uint64_t i = 0; i < b->damage_count; i++) {
        m->damage[b->survey.damage_count + i] = b->damage[i];
        m->damage[b->survey.damage_count + i].kept_objects = b->survey.objects - b->scan.skipped_count;
    }
    qsort(m->damage, (size_t)room, sizeof *m->damage, by_offset);
    return HDX_OK;
}

void hdx_build_damage_free(hdx_build *b)
{
    hdx_mem_put(&b->mem, b->manifest.damage, b->manifest.damage_count * sizeof *b->manifest.damage);
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
    const hdx_survey *s = &b->survey;
    m->format = HDX_CATALOG_FORMAT;
    (void)snprintf(m->version, sizeof m->version, "%s", s->head.version);
    m->id_size = s->head.id_size;
    m->created_ms = s->head.time_ms + s->heap_time_us / 1000;
    m->dump_number = s->dump_number;
    m->dumps_in_file = s->dumps_in_file;
    m->reference_size = b->sizing.reference_size;
    m->alignment = b->sizing.alignment;
    m->compressed_oops = b->sizing.id_size == 8 && b->sizing.reference_size == 4;
    m->stated_sizes = b->sizing.stated;
    m->objects = b->objects;
    m->records = s->objects - b->scan.skipped_count;
    m->classes = b->class_count;
    m->roots = b->root_count;
    m->threads = b->thread_count;
    m->dangling_references = atomic_load(&b->dangling_references);
    m->dangling_roots = b->dangling_roots;
    memcpy(m->record_counts[0], s->top_records, sizeof m->record_counts[0]);
    memcpy(m->record_counts[1], s->sub_records, sizeof m->record_counts[1]);
    m->file_count = HDX_KINDS;
    m->warning_count = s->warning_count < HDX_WARNINGS_MAX ? s->warning_count : HDX_WARNINGS_MAX;
    for (uint32_t i = 0; i < m->warning_count; i++)
        (void)snprintf(m->warnings[i], sizeof m->warnings[i], "%s", s->warnings[i]);
    m->stripping = b->stripping;
    m->stripping.bytes_read = 0;
    m->compression = (uint32_t)hdx_source_compression(b->source);
    hdx_code code = hdx_build_damage_gather(b, err);
    if (code != HDX_OK)
        return code;
    hdx_scan_free(b);
    hdx_map_free(&b->by_address);
    hdx_mem_put(&b->mem, b->layouts, b->class_count * sizeof *b->layouts);
    hdx_mem_put(&b->mem, b->offsets, b->offset_count * sizeof *b->offsets);
    hdx_mem_put(&b->mem, b->locals, b->local_capacity * sizeof *b->locals);
    b->layouts = NULL;
    b->offsets = NULL;
    b->locals = NULL;
    b->offset_count = b->local_count = b->local_capacity = 0;
    hdx_addresses_close(b->ids); /* every reference is an id now */
    b->ids = NULL;
    hdx_source_close(b->source);
    b->source = NULL;
    hdx_seek_end(b);
    b->tables_bytes = atomic_load(&b->mem.used);
    return HDX_OK;
}

/* Earlier builds that this one went on from count too. */
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

void hdx_build_sort_roots(hdx_build *b)
{
    hdx_sort(&b->mem, b->roots, b->root_count, sizeof *b->roots, offsetof(hdx_root, object), by_object);
}

hdx_code hdx_build_catalog_begin(hdx_build *b, hdx_error *err)
{
    hdx_code code;
    hdx_build_sort_roots(b); /* a build that goes on from a checkpoint has not, others have */
    if ((code = hdx_catalog_create(b->io, b->folder, &b->mem, &b->catalog, err)) != HDX_OK)
        return code;
    for (uint32_t i = 0; i < b->class_count && code == HDX_OK; i++) {
        hdx_catalog_ahead(b->catalog, &b->classes[i], b->class_count - i);
        code = hdx_catalog_put_class(b->catalog, &b->classes[i], err);
    }
    if (code == HDX_OK && (code = hdx_catalog_put_roots(b->catalog, b->roots, b->root_count, err)) == HDX_OK &&
        (code = hdx_catalog_put_threads(b->catalog, b->threads_found, b->thread_count, err)) == HDX_OK)
        code = hdx_catalog_put_heaps(b->catalog, b->heaps, b->heap_count, err);
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
