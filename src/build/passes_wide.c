/*
 * passes_wide.c - the order of the passes behind the first one.
 */
#include "build/passes.h"

#include <stdio.h>

static void free_passes(WIDE(hdx_pass) *p)
{
    hdx_build *b = p->b;
    hdx_mem   *mem = &b->mem;
    uint64_t   n = b->objects;
    if (p->spill_fd >= 0)
        (void)b->io->close(b->io, p->spill_fd);
    hdx_mem_put(mem, p->columns.positions, n * p->columns.position_width);
    hdx_mem_put(mem, p->columns.class_of, n * sizeof *p->columns.class_of);
    hdx_mem_put(mem, p->columns.length, n * sizeof *p->columns.length);
    hdx_mem_put(mem, p->columns.heap, n);
    hdx_mem_put(mem, p->spilled, p->spilled_count * sizeof *p->spilled);
    hdx_mem_put(mem, p->holds_locals, hdx_bits_words(n) * 8);
    hdx_mem_put(mem, p->outbound.to, b->manifest.outbound_values * sizeof(NID));
    hdx_mem_put(mem, p->outbound.at, (n + 1) * sizeof(NID));
    hdx_ints_close(p->class_file);
    hdx_ints_close(p->size_file);
}

static hdx_code run(WIDE(hdx_pass) *p, hdx_step until, hdx_error *err)
{
    hdx_build *b = p->b;
    hdx_code   code;
    const hdx_forecast_pass last = until <= HDX_STEP_OUTBOUND ? HDX_FORECAST_OUTBOUND : until == HDX_STEP_INBOUND ? HDX_FORECAST_INBOUND : HDX_FORECAST_RETAINED;
    /* what follows from objects alone is known now; references are counted by the second pass, and then asked again */
    if ((code = hdx_forecast_check(b, HDX_FORECAST_COLUMNS, last, HDX_WIDTH, err)) != HDX_OK)
        return code;
    hdx_manifest_step_begin(b, "columns", b->manifest.dump_size, "bytes");
    if ((code = WIDE(hdx_pass_columns)(p, err)) != HDX_OK)
        return code;
    hdx_manifest_step_end(b);
    hdx_manifest_step_begin(b, "objects", 5 * b->objects, "values");
    if ((code = WIDE(hdx_pass_write_objects)(p, err)) != HDX_OK || (code = WIDE(hdx_pass_instances)(p, err)) != HDX_OK)
        return code;
    hdx_addresses_close(b->ids); /* every reference is an id now */
    b->ids = NULL;
    hdx_manifest_step_end(b);
    for (uint64_t i = 0; i < p->spilled_count; i++)
        b->manifest.outbound_values += p->spilled[i].values;
    if ((code = hdx_forecast_check(b, HDX_FORECAST_OUTBOUND, last, HDX_WIDTH, err)) != HDX_OK)
        return code;
    hdx_manifest_step_begin(b, "outbound", b->manifest.outbound_values, "references");
    if ((code = WIDE(hdx_pass_outbound)(p, err)) != HDX_OK)
        return code;
    hdx_manifest_step_end(b);
    b->manifest.step = (uint32_t)until;
    if (until == HDX_STEP_OBJECTS)
        return HDX_OK;
    if (until == HDX_STEP_OUTBOUND)
        return WIDE(hdx_pass_write_lists)(p, HDX_KIND_OUTBOUND, &p->outbound, b->threads, err);
    return WIDE(hdx_pass_reach)(p, until == HDX_STEP_DOMINATORS, err);
}

hdx_code WIDE(hdx_passes)(hdx_build *b, hdx_error *err)
{
    WIDE(hdx_pass) p = { .b = b, .spill_fd = -1 };
    hdx_step         until = b->options->until == 0 ? HDX_STEP_DOMINATORS : b->options->until;
    hdx_code         code = run(&p, until, err);
    free_passes(&p);
    return code;
}
