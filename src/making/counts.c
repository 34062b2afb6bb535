/*
 * counts.c - objects and bytes by class after the first pass: an answer without an index, or before the index is
 * complete.
 *
 * In:  the table of classes, what instances and arrays showed about it (hdx_class_use), the divisor of all addresses.
 * Out: hdx_counts: a copy of the table with instances and bytes filled in.
 * Bytes of arrays are summed for references of 4 and of 8 bytes and an alignment of 8, since neither is known before
 * the pass is complete. A greater alignment needs another pass with the right one.
 * Cost: proportional to the number of classes; no object is read.
 */
#include "making/making.h"
#include <heapdex/counts.h>

#include <stdio.h>

struct hdx_counts {
    hdx_build        *build;   /* owns names and fields of the classes */
    bool              owned;   /* it is freed with the counts */
    hdx_class        *classes; /* a copy, with instances and bytes */
    uint32_t          count;
    hdx_graph_summary summary;
};

/* MAT 2.1 and 2.2. Invented classes have addresses too (MAT 1.6). */
static void find_sizing(hdx_build *b, uint32_t *alignment)
{
    uint64_t divisor = b->dump.scan.sizes.divisor;
    hdx_addr last = 0;
    for (uint32_t i = 0; i < b->tables.class_count; i++) {
        const hdx_class *c = &b->tables.classes[i];
        if (last != 0)
            (void)hdx_alignment_feed(&divisor, c->address > last ? c->address - last : last - c->address);
        last = c->address;
    }
    *alignment = hdx_alignment_of(divisor);
    b->tables.sizing.reference_size =
        b->tables.sizing.id_size == 8 && b->dump.scan.sizes.compressed ? 4 : b->tables.sizing.id_size;
    b->tables.sizing.alignment = *alignment;
}

/* Adds the bytes of all objects, including those without a record (object 0, invented classes). */
static void fill_bytes(hdx_counts *c)
{
    const hdx_build       *b = c->build;
    const hdx_scan_result *r = &b->dump.scan;
    const unsigned         wide = b->tables.sizing.reference_size == 8;
    for (uint32_t i = 0; i < c->count; i++)
        c->classes[b->tables.class_class].bytes += c->classes[i].class_shallow;
    c->classes[b->tables.loader_class].bytes += c->classes[b->tables.loader_class].instance_size; /* object 0 */
    for (uint64_t i = 0; i < r->uses.count; i++) {
        const hdx_class_use *u = &r->uses.at[i];
        const uint32_t       number = u->instances + u->arrays == 0 ? HDX_NO_CLASS : hdx_class_at(&b->tables, u->addr);
        if (number == HDX_NO_CLASS)
            continue;
        hdx_class     *k = &c->classes[number];
        const uint64_t each =
            k->kind == HDX_INSTANCE ? k->instance_size /* of an instance; objects of an array class have no elements */
            : k->kind == HDX_OBJECT_ARRAY ? hdx_object_array_size(&b->tables.sizing, 0)
                                          : hdx_primitive_array_size(&b->tables.sizing, k->element_type, 0);
        k->bytes += u->array_bytes[wide] + u->instances * each;
    }
    for (unsigned t = 0; t < 16; t++)
        if (r->sizes.primitive_arrays[t] > 0 && b->tables.lookup.primitive_class[t] != HDX_NO_CLASS)
            c->classes[b->tables.lookup.primitive_class[t]].bytes += r->sizes.primitive_bytes[t][wide];
}

static void summarize(hdx_counts *c)
{
    hdx_build          *b = c->build;
    const hdx_survey   *s = &b->dump.survey;
    const hdx_manifest *m = &b->manifest;
    c->summary = (hdx_graph_summary){ .version = s->head.version,
                                      .id_size = s->head.id_size,
                                      .reference_size = b->tables.sizing.reference_size,
                                      .alignment = b->tables.sizing.alignment,
                                      .compressed_oops = s->head.id_size == 8 && b->tables.sizing.reference_size == 4,
                                      .created_ms = s->head.time_ms + s->heap_time_us / 1000,
                                      .jvm = "",
                                      .records = s->objects,
                                      .classes = c->count,
                                      .dump_number = s->dump_number,
                                      .dumps_in_file = s->dumps_in_file,
                                      .dump_size = m->dump_size,
                                      .compression = (int)hdx_source_compression(b->dump.source),
                                      .dump_name = b->work.options->dump,
                                      .damage_count = m->damage_count,
                                      .damage_more = m->damage_more,
                                      .damage = m->damage,
                                      .warning_count = s->warning_count,
                                      .warnings = s->warnings,
                                      .top_records = s->top_records,
                                      .sub_records = s->sub_records };
}

/* REQUIRES: the first pass of b is complete and its sizing is known. */
static hdx_code make(hdx_build *b, hdx_counts **out, hdx_error *err)
{
    hdx_counts *c = hdx_mem_get(&b->work.mem, sizeof *c);
    if (c == NULL || (c->classes = hdx_mem_array(&b->work.mem, b->tables.class_count, sizeof *c->classes)) == NULL) {
        hdx_mem_put(&b->work.mem, c, sizeof *c);
        return hdx_no_memory(err, "a histogram", b->tables.class_count * sizeof *c->classes);
    }
    c->build = b;
    c->count = b->tables.class_count;
    memcpy(c->classes, b->tables.classes, c->count * sizeof *c->classes);
    for (uint32_t i = 0; i < c->count; i++) {
        c->classes[i].bytes = c->classes[i].live_bytes = c->classes[i].live_instances = 0;
        c->classes[i].id = HDX_NO_ID;
    }
    fill_bytes(c);
    summarize(c);
    *out = c;
    return HDX_OK;
}

static void unmake(hdx_counts *c)
{
    hdx_mem *mem = &c->build->work.mem;
    hdx_mem_put(mem, c->classes, c->count * sizeof *c->classes);
    hdx_mem_put(mem, c, sizeof *c);
}

/* ---- before an index is complete ---- */

static bool is_sound(const hdx_build *b)
{
    if (b->dump.survey.damage_count + b->dump.survey.damage_more + b->work.damage.count + b->work.damage.more > 0)
        return false;
    for (uint64_t i = 0; i < b->dump.scan.uses.count; i++)
        if (hdx_class_misfit(&b->tables, &b->dump.scan.uses.at[i]) != 0)
            return false;
    return true;
}

hdx_code hdx_counts_report(hdx_build *b, hdx_error *err)
{
    hdx_counts *c;
    uint32_t    alignment;
    hdx_code    code;
    if (b->work.options->first_pass == NULL || !is_sound(b))
        return HDX_OK;
    find_sizing(b, &alignment);
    if (alignment != 8)
        return HDX_OK;
    if ((code = hdx_classes_size(&b->work, &b->tables, err)) != HDX_OK || (code = make(b, &c, err)) != HDX_OK)
        return code;
    b->work.options->first_pass(b->work.options->first_pass_context, c);
    unmake(c);
    return HDX_OK;
}

/* ---- without an index ---- */

/* R17, as the second pass of a build reports it. */
static hdx_code report_misfits(hdx_build *b, hdx_error *err)
{
    hdx_code code = HDX_OK;
    for (uint64_t i = 0; i < b->dump.scan.uses.count && code == HDX_OK; i++) {
        const hdx_pos misfit = hdx_class_misfit(&b->tables, &b->dump.scan.uses.at[i]);
        if (misfit == 0)
            continue;
        const uint32_t number = hdx_class_at(&b->tables, b->dump.scan.uses.at[i].addr);
        const hdx_text name = b->tables.classes[number].name;
        code = hdx_work_damage(&b->work, HDX_DAMAGE_LAYOUT, misfit - 1, "INSTANCE_DUMP", 0, err,
                               "fields of %.*s need %llu bytes, but the record has another length",
                               (int)(name.len > 60 ? 60 : name.len), name.at,
                               (unsigned long long)b->tables.lookup.layouts[number].bytes);
    }
    return code;
}

static hdx_code one_pass(const hdx_index_options *options, uint32_t assumed, hdx_build **out, uint32_t *alignment,
                         hdx_error *err)
{
    const hdx_build_doors doors = { .io = hdx_io_system() };
    hdx_build            *b = hdx_build_open(&doors, options, HDX_FOR_COUNTS, err);
    hdx_code              code;
    if (b == NULL)
        return err->code;
    const hdx_reading in = hdx_reading_of(b);
    b->tables.sizing.alignment = assumed;
    hdx_manifest_step_begin(b, "scan", hdx_source_file_size(b->dump.source), "bytes");
    if ((code = hdx_scan(&in, err)) == HDX_OK && !hdx_source_size(b->dump.source, &b->tables.dump_size))
        code = hdx_fail(err, HDX_BAD_DUMP, options->dump, HDX_NOWHERE, "its end was not reached");
    b->manifest.dump_size = b->tables.dump_size;
    if (code == HDX_OK && (code = hdx_report_stripping(&in, err)) == HDX_OK &&
        (code = hdx_classes_resolve(&in, err)) == HDX_OK) {
        find_sizing(b, alignment);
        if ((code = hdx_classes_size(&b->work, &b->tables, err)) == HDX_OK && (code = report_misfits(b, err)) == HDX_OK)
            code = hdx_build_damage_gather(b, err);
    }
    hdx_manifest_step_end(b);
    if (code != HDX_OK) {
        if (err->where[0] == '\0')
            (void)snprintf(err->where, sizeof err->where, "%s", options->dump);
        hdx_build_damage_free(b);
        hdx_build_close(b);
        return code;
    }
    *out = b;
    return HDX_OK;
}

hdx_code hdx_counts_take(const hdx_index_options *options, hdx_counts **out, hdx_error *err)
{
    hdx_error  own = { 0 };
    hdx_build *b = NULL;
    uint32_t   alignment = 8;
    hdx_code   code;
    *out = NULL;
    if (err == NULL)
        err = &own;
    if ((code = one_pass(options, 8, &b, &alignment, err)) != HDX_OK)
        return code;
    if (alignment != 8) {
        const uint32_t found = alignment;
        hdx_build_damage_free(b);
        hdx_build_close(b);
        if ((code = one_pass(options, found, &b, &alignment, err)) != HDX_OK)
            return code;
    }
    if ((code = make(b, out, err)) != HDX_OK) {
        hdx_build_damage_free(b);
        hdx_build_close(b);
        return code;
    }
    (*out)->owned = true;
    return HDX_OK;
}

void hdx_counts_free(hdx_counts *c)
{
    if (c == NULL || !c->owned)
        return;
    hdx_build *b = c->build;
    unmake(c);
    hdx_build_damage_free(b);
    hdx_build_close(b);
}

const hdx_class *hdx_counts_classes(const hdx_counts *c, uint32_t *count)
{
    *count = c->count;
    return c->classes;
}

const hdx_graph_summary *hdx_counts_summary(const hdx_counts *c) { return &c->summary; }
