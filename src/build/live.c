/*
 * live.c - counts and bytes by class and heap, live and all, from the columns in the order of ids.
 */
#include "build/passes.h"

static void count_heap(hdx_heap_space *h, uint64_t shallow, bool live)
{
    h->objects++;
    h->bytes += shallow;
    h->live_objects += live;
    h->live_bytes += live ? shallow : 0;
}

static hdx_code open_heaps(hdx_pass *p, hdx_ints **heaps, hdx_error *err)
{
    hdx_build     *b = p->b;
    hdx_index_file file = { b->manifest.files[HDX_KIND_HEAP].bytes, b->manifest.files[HDX_KIND_HEAP].sum };
    *heaps = NULL;
    for (uint64_t i = 0; i < b->heap_count; i++)
        b->heaps[i].objects = b->heaps[i].bytes = b->heaps[i].live_objects = b->heaps[i].live_bytes = 0;
    return b->heap_count == 0 ? HDX_OK : hdx_ints_open(&b->place, HDX_KIND_HEAP, &file, b->objects, b->heap_count + 1, &p->note, heaps, err);
}

uint64_t hdx_pass_size_unit(const hdx_build *b)
{
    uint64_t sizes = b->sizing.alignment; /* of arrays */
    for (uint32_t i = 0; i < b->class_count; i++)
        sizes |= b->classes[i].instance_size | b->classes[i].class_shallow;
    return sizes == 0 ? 1 : sizes & (0 - sizes);
}

hdx_code hdx_pass_count_live(hdx_pass *p, hdx_error *err)
{
    hdx_build      *b = p->b;
    hdx_manifest   *m = &b->manifest;
    uint64_t        shallow[HDX_SHALLOWS], heap[HDX_SHALLOWS], all_bytes = 0, live_bytes = 0;
    uint32_t        classes[HDX_SHALLOWS];
    hdx_ints       *heaps;
    hdx_code        code = open_heaps(p, &heaps, err);
    if (code != HDX_OK)
        return code;
    for (uint32_t i = 0; i < b->class_count; i++) {
        b->classes[i].instances = b->classes[i].live_instances = 0;
        b->classes[i].bytes = b->classes[i].live_bytes = 0;
    }
    for (uint64_t first = 0; first < b->objects; first += HDX_SHALLOWS) {
        const uint32_t n = b->objects - first < HDX_SHALLOWS ? (uint32_t)(b->objects - first) : HDX_SHALLOWS;
        if (first % HDX_FORGET == 0)
            hdx_pass_forget_columns(p);
        hdx_pass_shallows(p, first, n, shallow, classes);
        if (heaps != NULL)
            hdx_ints_read(heaps, first, n, heap);
        if (p->sums != NULL && p->width == 64)
            hdx_pass_put_sums_64(p, first, n, shallow);
        else if (p->sums != NULL)
            hdx_pass_put_sums_32(p, first, n, shallow);
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t id = first + i;
            const bool     live = hdx_bits_test(p->live, id);
            hdx_class     *c = &b->classes[classes[i]];
            c->instances++;
            c->bytes += shallow[i];
            all_bytes += shallow[i];
            if (live) {
                c->live_instances++;
                c->live_bytes += shallow[i];
                live_bytes += shallow[i];
            }
            if (heaps != NULL && heap[i] != 0)
                count_heap(&b->heaps[heap[i] - 1], shallow[i], live);
        }
    }
    hdx_ints_close(heaps);
    hdx_pass_forget_columns(p);
    if (p->narrow && live_bytes / p->size_unit >= UINT32_MAX) /* some sum may not fit */
        hdx_pass_free_sums(p);
    m->live_objects = p->reached;
    m->live_bytes = live_bytes;
    m->unreachable_objects = b->objects - p->reached;
    m->unreachable_bytes = all_bytes - live_bytes;
    m->all_references = b->objects + m->outbound_values;
    m->classes = b->class_count;
    m->live_classes = m->live_loaders = 0;
    for (uint32_t i = 0; i < b->class_count; i++) {
        uint32_t up = i, steps = 0;
        m->live_classes += hdx_bits_test(p->live, b->classes[i].id);
        while (up != HDX_NO_CLASS && up != b->loader_class && steps++ < b->class_count)
            up = b->classes[up].super;
        if (up == b->loader_class)
            m->live_loaders += b->classes[i].live_instances;
    }
    return hdx_note_check(&p->note, err);
}
