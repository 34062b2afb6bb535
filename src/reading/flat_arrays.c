/*
 * flat_arrays.c - arrays of value objects, which the JVM of Valhalla writes as byte[] (HPROF 3.11).
 *
 * In:  the sub-records of FLAT_ARRAYS: address of an array, class of its elements. They follow the heap, so while the
 *      heap was read it was unknown which byte[] they refer to.
 * Out: scan.flats: the bytes of each of those arrays; then the number of arrays for each class. Ids that are not a
 *      byte[] of the chosen dump are ignored; if two classes claim an array, the first one counts.
 * Cost: dumps with such records are read once more; 16 to 32 bytes a flat array.
 */
#include "reading/reading.h"

#include <stdio.h>

static hdx_code no_memory(hdx_error *err) { return hdx_no_memory(err, "flat arrays", 0); }

static hdx_code group(const hdx_reading *in, hdx_error *err)
{
    hdx_scan_flats *f = &in->dump->scan.flats;
    hdx_mem        *mem = &in->w->mem;
    hdx_map         places = hdx_map_of(mem); /* of the element classes */
    hdx_code        code = HDX_OK;
    for (uint64_t i = 0; i < f->raw.count && code == HDX_OK; i++) {
        const hdx_raw_flat raw = f->raw.at[i];
        bool               fresh;
        uint64_t          *place = hdx_map_put(&places, raw.element_class, &fresh), *array;
        if (place == NULL || (fresh && !hdx_list_room(mem, HDX_LIST_REF(&f->classes)))) {
            code = no_memory(err);
            break;
        }
        if (fresh && f->classes.count == HDX_NO_CLASS)
            code = hdx_fail(err, HDX_LIMIT, "", HDX_NOWHERE, "flat arrays of more than %u classes", HDX_NO_CLASS - 1);
        else if (fresh) {
            *place = f->classes.count;
            f->classes.at[f->classes.count++] =
                (hdx_flat_class){ .element_class = raw.element_class, .class = HDX_NO_CLASS };
        }
        if (code == HDX_OK && (array = hdx_map_put(&f->arrays, raw.array, &fresh)) == NULL)
            code = no_memory(err);
        else if (code == HDX_OK && fresh)
            *array = *place << 32 | HDX_FLAT_NONE;
        else if (code == HDX_OK)
            f->unused += *array >> 32 != *place;
    }
    hdx_list_free(mem, HDX_LIST_REF(&f->raw));
    hdx_map_free(&places);
    return code;
}

static hdx_code on_stretch(void *context, unsigned worker, uint64_t stretch, hdx_error *err)
{
    (void)context, (void)worker, (void)stretch, (void)err;
    return HDX_OK;
}

static hdx_code on_events(void *context, unsigned worker, const hdx_event *events, size_t n, hdx_error *err)
{
    hdx_scan_result *r = context;
    (void)worker, (void)err;
    for (size_t i = 0; i < n; i++) {
        const hdx_event *e = &events[i];
        if (e->tag != HDX_SUB_PRIMITIVE_ARRAY || e->type != 8 || hdx_scan_skips(r, e->pos))
            continue;
        /* An array has one record, so two threads never set the same value. */
        uint64_t *array = (uint64_t *)hdx_map_get(&r->flats.arrays, e->addr);
        if (array != NULL && (uint32_t)*array == HDX_FLAT_NONE)
            *array = (*array >> 32) << 32 | e->count;
    }
    return HDX_OK;
}

hdx_code hdx_flat_arrays_find(const hdx_reading *in, hdx_error *err)
{
    const hdx_walk_visitor visitor = { &in->dump->scan, on_stretch, on_events, on_stretch };
    hdx_ticker             tick; /* for cancellation only; the step's own ticker has counted the bytes */
    /* Without ids, a second record of an array is not recognized, and the first one in the file must win. */
    const unsigned threads = in->dump->counting ? 1 : in->w->threads;
    hdx_code       code;
    if (in->dump->scan.flats.raw.count == 0)
        return HDX_OK;
    if ((code = group(in, err)) != HDX_OK)
        return code;
    hdx_ticker_init(&tick, in->w->tick.progress, 0);
    code = hdx_hprof_walk(in->dump->source, &in->dump->survey, threads, &visitor, NULL, &in->w->mem, &tick, err);
    hdx_ticker_free(&tick);
    return code;
}

void hdx_flat_arrays_count(const hdx_reading *in)
{
    hdx_scan_result *r = &in->dump->scan;
    hdx_scan_flats  *f = &r->flats;
    const uint32_t   id_size = in->dump->survey.head.id_size, alignment = in->t->sizing.alignment;
    const bool       sized = in->dump->counting || in->w->options->first_pass != NULL; /* as in the scan */
    uint64_t         unused = f->unused, all = f->unused;
    for (uint64_t i = 0; i <= f->arrays.capacity; i++) {
        uint64_t *array = hdx_flat_slot(&f->arrays, i);
        if (array == NULL)
            continue;
        all++;
        hdx_flat_class *c = &f->classes.at[*array >> 32];
        const uint32_t  bytes = (uint32_t)*array;
        if (bytes == HDX_FLAT_NONE || c->element_bytes == 0 || bytes % c->element_bytes != 0) {
            *array |= HDX_FLAT_NONE;
            unused++;
            continue;
        }
        c->arrays++;
        r->sizes.primitive_arrays[8]--;
        for (unsigned k = 0; k < 2 && sized; k++) {
            const hdx_sizing sizing = { id_size, 4u << k, alignment == 0 ? 8 : alignment, false, 0 };
            const uint64_t   size = hdx_primitive_array_size(&sizing, 8, bytes);
            c->array_bytes[k] += size;
            r->sizes.primitive_bytes[8][k] -= size;
        }
    }
    if (unused == 0)
        return;
    (void)snprintf(in->dump->flat_text, sizeof in->dump->flat_text,
                   "ignored %llu of %llu entries of FLAT_ARRAYS: unknown array or class, or a length that is not a "
                   "multiple of the element size; these arrays stay byte[]",
                   (unsigned long long)unused, (unsigned long long)all);
    hdx_warn(&in->dump->survey, in->dump->flat_text);
}
