/*
 * scan_resume.c - saves the results of the first pass for the heap when the build is interrupted, in the file scan.tmp
 * (resume.h), and restores them.
 *
 * In:  the workers' shares, and how far the survey has come.
 * Out: the same as one more share, for a build that resumes. Positions, classes and roots are trusted as little as
 *      those of a dump.
 */
#include "reading/scan.h"

#include <stddef.h>

typedef hdx_scan_worker worker;
typedef hdx_scanner     scanner;

static int by_place(const void *a, const void *b)
{
    hdx_pos x, y; /* the first member */
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static hdx_code put_classes(const scanner *s, hdx_resume_file *k, hdx_error *err)
{
    uint64_t count = 0;
    hdx_code code;
    for (unsigned i = 0; i < s->worker_count; i++)
        count += s->workers[i].classes.count;
    code = hdx_resume_put(k, &count, sizeof count, err);
    for (unsigned i = 0; i < s->worker_count; i++)
        for (uint64_t c = 0; c < s->workers[i].classes.count && code == HDX_OK; c++) {
            const hdx_raw_class *class = &s->workers[i].classes.at[c];
            const uint64_t head[] = { class->pos, class->addr, class->record.len };
            if ((code = hdx_resume_put(k, head, sizeof head, err)) == HDX_OK)
                code = hdx_resume_put(k, class->record.at, class->record.len, err);
        }
    return code;
}

static hdx_code put_roots(const scanner *s, hdx_resume_file *k, hdx_error *err)
{
    uint64_t count = 0;
    hdx_code code;
    for (unsigned i = 0; i < s->worker_count; i++)
        count += s->workers[i].roots.count;
    code = hdx_resume_put(k, &count, sizeof count, err);
    for (unsigned i = 0; i < s->worker_count && code == HDX_OK; i++)
        code = hdx_resume_put(k, s->workers[i].roots.at, s->workers[i].roots.count * sizeof(hdx_scan_root), err);
    return code;
}

static hdx_code put_uses(const scanner *s, hdx_resume_file *k, hdx_error *err)
{
    uint64_t count = 0;
    hdx_code code = HDX_OK;
    for (int round = 0; round < 2 && code == HDX_OK; round++) {
        if (round == 1)
            code = hdx_resume_put(k, &count, sizeof count, err);
        for (unsigned i = 0; i < s->worker_count; i++)
            for (uint64_t u = 0; u < s->workers[i].uses.count && code == HDX_OK; u++) {
                const hdx_class_use *use = &s->workers[i].uses.at[u];
                if (use->instances + use->arrays == 0)
                    continue;
                count += round == 0;
                if (round == 1)
                    code = hdx_resume_put(k, use, sizeof *use, err);
            }
    }
    return code;
}

static hdx_code put_heaps(const scanner *s, hdx_resume_file *k, hdx_error *err)
{
    uint64_t count = 0;
    hdx_code code;
    for (unsigned i = 0; i < s->worker_count; i++)
        count += s->workers[i].heaps.count;
    code = hdx_resume_put(k, &count, sizeof count, err);
    for (unsigned i = 0; i < s->worker_count && code == HDX_OK; i++)
        code = hdx_resume_put(k, s->workers[i].heaps.at, s->workers[i].heaps.count * sizeof(hdx_heap_name), err);
    return code;
}

/* Omits what only early counts need: a resumed build does not report any. */
hdx_code hdx_scan_save(scanner *s, hdx_error *err)
{
    const hdx_reading *in = s->in;
    hdx_resume_file   *k = NULL;
    uint64_t           primitive_arrays[16] = { 0 };
    hdx_code           code = hdx_resume_create(in->w, in->saving, HDX_RESUME_SCAN, &k, err);
    for (unsigned i = 0; i < s->worker_count; i++)
        for (unsigned t = 0; t < 16; t++)
            primitive_arrays[t] += s->workers[i].primitive_arrays[t];
    if (code == HDX_OK && (code = hdx_resume_put(k, &s->halt.at, sizeof s->halt.at, err)) == HDX_OK &&
        (code = hdx_resume_put(k, s->halt.counts, sizeof s->halt.counts, err)) == HDX_OK &&
        (code = hdx_resume_put_array(k, sizeof *s->halt.pieces, s->halt.pieces, s->halt.piece_count, err)) == HDX_OK &&
        (code = hdx_resume_put(k, primitive_arrays, sizeof primitive_arrays, err)) == HDX_OK &&
        (code = hdx_addresses_keep(in->t->lookup.ids, hdx_resume_put, k, err)) == HDX_OK &&
        (code = put_classes(s, k, err)) == HDX_OK && (code = put_roots(s, k, err)) == HDX_OK &&
        (code = put_uses(s, k, err)) == HDX_OK)
        code = put_heaps(s, k, err);
    if ((code = hdx_resume_end(k, code, &in->saving->scan_sum, err)) == HDX_OK) {
        in->saving->has_scan = true;
        hdx_seal_put(in->w, in->saving);
    }
    return code;
}

/* Reads records of the file; each must be in the set, none twice. */
static hdx_code get_classes(scanner *s, worker *w, uint32_t id_size, hdx_resume_file *k, hdx_error *err)
{
    const hdx_reading *in = s->in;
    uint64_t           count, head[3];
    hdx_map            seen = hdx_map_of(&in->w->mem);
    hdx_code           code = hdx_resume_get(k, &count, sizeof count, err);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        hdx_class_dump d;
        hdx_view       record;
        bool           fresh;
        if ((code = hdx_resume_get(k, head, sizeof head, err)) != HDX_OK || head[2] > k->end || head[2] > UINT32_MAX ||
            head[0] >= hdx_source_file_size(in->dump->source)) {
            code = hdx_resume_refuse(err);
            break;
        }
        char *bytes = hdx_arena_get(&w->arena, head[2]);
        if (bytes == NULL || !hdx_list_room(&in->w->mem, HDX_LIST_REF(&w->classes)) ||
            hdx_map_put(&seen, head[1], &fresh) == NULL)
            code = hdx_no_memory(err, "the first pass", 0);
        else if ((code = hdx_resume_get(k, bytes, head[2], err)) == HDX_OK) {
            record = (hdx_view){ (const uint8_t *)bytes, (size_t)head[2] };
            w->classes.at[w->classes.count++] = (hdx_raw_class){ head[0], head[1], record };
            w->class_bytes += head[2];
            if (!fresh || !hdx_class_dump_cut(record, id_size, &d) || d.addr != head[1] || d.size != head[2] ||
                !hdx_addresses_has(in->t->lookup.ids, head[1]))
                code = hdx_resume_refuse(err);
        }
    }
    hdx_map_free(&seen);
    if (code == HDX_OK)
        hdx_sort(&in->w->mem, w->classes.at, w->classes.count, sizeof *w->classes.at, offsetof(hdx_raw_class, pos),
                 by_place);
    return code;
}

static hdx_code get_roots(scanner *s, worker *w, hdx_resume_file *k, hdx_error *err)
{
    const hdx_reading *in = s->in;
    hdx_code           code = hdx_resume_array(k, sizeof *w->roots.at, (void **)&w->roots.at, &w->roots.count, err);
    w->roots.capacity = w->roots.count;
    for (uint64_t i = 0; i < w->roots.count && code == HDX_OK; i++)
        if (hdx_sub_name(w->roots.at[i].raw.tag) == NULL || hdx_scan_is_object(w->roots.at[i].raw.tag) ||
            w->roots.at[i].raw.pos >= hdx_source_file_size(in->dump->source))
            code = hdx_resume_refuse(err);
    if (code == HDX_OK)
        hdx_sort(&in->w->mem, w->roots.at, w->roots.count, sizeof *w->roots.at, offsetof(hdx_raw_root, pos), by_place);
    return code;
}

static hdx_code get_uses(scanner *s, worker *w, hdx_resume_file *k, hdx_error *err)
{
    const hdx_reading *in = s->in;
    hdx_class_use     *uses;
    uint64_t           count;
    bool               fresh;
    hdx_code           code = hdx_resume_array(k, sizeof *uses, (void **)&uses, &count, err);
    for (uint64_t i = 0; i < count && code == HDX_OK; i++) {
        uint64_t *place = hdx_map_put(&w->others, uses[i].addr, &fresh);
        if (place == NULL || !hdx_list_room(&in->w->mem, HDX_LIST_REF(&w->uses)))
            code = hdx_no_memory(err, "the first pass", 0);
        else if (fresh) {
            *place = w->uses.count;
            w->uses.at[w->uses.count++] = uses[i];
        } else
            hdx_scan_merge_use(&w->uses.at[*place], &uses[i]);
    }
    hdx_mem_put(&in->w->mem, uses, count * sizeof *uses);
    return code;
}

static hdx_code get_heaps(hdx_mem *mem, worker *w, hdx_resume_file *k, hdx_error *err)
{
    const hdx_code code = hdx_resume_array(k, sizeof *w->heaps.at, (void **)&w->heaps.at, &w->heaps.count, err);
    w->heaps.capacity = w->heaps.count;
    if (code == HDX_OK)
        hdx_sort(mem, w->heaps.at, w->heaps.count, sizeof *w->heaps.at, offsetof(hdx_heap_name, pos), by_place);
    return code;
}

/* Results of an earlier build become the share of one more worker. */
hdx_code hdx_scan_resume(scanner *s, hdx_error *err)
{
    const hdx_reading *in = s->in;
    worker            *w = &s->workers[s->worker_count++];
    hdx_resume_file   *k = NULL;
    hdx_hprof_head     head;
    hdx_code           code = hdx_head_read(in->dump->source, &head, err);
    w->arena = hdx_arena_of(&in->w->mem);
    w->others = hdx_map_of(&in->w->mem);
    w->heaps_met = hdx_map_of(&in->w->mem);
    if (code == HDX_OK &&
        hdx_source_compression(in->dump->source) != HDX_PLAIN) /* read with all rules, from its beginning */
        code = hdx_resume_refuse(err);
    if (code == HDX_OK &&
        (code = hdx_resume_open(in->w, in->saving, HDX_RESUME_SCAN, &k, &in->saving->scan_sum, err)) == HDX_OK &&
        (code = hdx_resume_get(k, &s->halt.at, sizeof s->halt.at, err)) == HDX_OK &&
        (code = hdx_resume_get(k, s->halt.counts, sizeof s->halt.counts, err)) == HDX_OK)
        code = hdx_resume_array(k, sizeof *s->halt.pieces, (void **)&s->halt.pieces, &s->halt.piece_count, err);
    s->halt.piece_capacity = s->halt.piece_count;
    s->halt.holds = true;
    if (code == HDX_OK && (code = hdx_resume_get(k, w->primitive_arrays, sizeof w->primitive_arrays, err)) == HDX_OK &&
        (code = hdx_addresses_restore(in->t->lookup.ids, hdx_resume_get, k, err)) == HDX_OK &&
        (code = get_classes(s, w, head.id_size, k, err)) == HDX_OK && (code = get_roots(s, w, k, err)) == HDX_OK &&
        (code = get_uses(s, w, k, err)) == HDX_OK)
        code = get_heaps(&in->w->mem, w, k, err);
    hdx_resume_close(k);
    return code;
}
