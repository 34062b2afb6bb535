/*
 * first_pass.c - reads the dump once and fills its tables (hdx_dump_tables).
 *
 * In:  the dump, open.
 * Out: the dump's survey and scan results; the tables, except for sizes of classes, which the second pass determines.
 */
#include "reading/reading.h"

#include <stdio.h>

/* Names Android heaps, in order of first use; a heap whose name is missing gets its number as name. */
static hdx_code name_heaps(const hdx_reading *in, hdx_error *err)
{
    hdx_dump_tables       *t = in->t;
    const hdx_scan_result *scan = &in->dump->scan;
    uint64_t               n = scan->heaps.count < HDX_HEAPS_MAX ? scan->heaps.count : HDX_HEAPS_MAX;
    if (n == 0)
        return HDX_OK;
    if ((t->heaps = hdx_mem_array(&in->w->mem, n, sizeof *t->heaps)) == NULL)
        return hdx_no_memory(err, "heaps", 0);
    t->heap_count = n;
    for (uint64_t i = 0; i < n; i++) {
        hdx_view bytes;
        char     text[24];
        t->heaps[i].number = scan->heaps.at[i].number;
        if (hdx_scan_string(in, scan->heaps.at[i].name, &bytes)) {
            if (!hdx_java_text(&t->texts, bytes, &t->heaps[i].name))
                return hdx_no_memory(err, "heaps", 0);
            continue;
        }
        int   len = snprintf(text, sizeof text, "%u", t->heaps[i].number);
        char *copy = hdx_arena_copy(&t->texts, text, (uint64_t)len);
        if (copy == NULL)
            return hdx_no_memory(err, "heaps", 0);
        t->heaps[i].name = (hdx_text){ copy, (uint32_t)len };
    }
    return HDX_OK;
}

hdx_code hdx_first_pass(const hdx_reading *in, hdx_error *err)
{
    const hdx_work *w = in->w;
    hdx_code        code;
    if ((code = hdx_seek_begin(w, in->dump, err)) != HDX_OK || (code = hdx_scan(in, err)) != HDX_OK)
        return code;
    if (!hdx_source_size(in->dump->source, &in->t->dump_size))
        return hdx_fail(err, HDX_BAD_DUMP, w->options->dump, HDX_NOWHERE, "its end was not reached");
    if ((code = hdx_report_stripping(in, err)) != HDX_OK || (code = hdx_classes_resolve(in, err)) != HDX_OK ||
        (code = hdx_roots_resolve(in, err)) != HDX_OK)
        return code;
    assert(in->t->class_objects.count == in->t->class_count); /* T5 */
    assert(hdx_addresses_at(in->t->lookup.ids, 0) == 0);      /* T1 */
    return name_heaps(in, err);
}
