/*
 * forecast.c - what each pass will hold, before it begins: the promise behind --memory.
 *
 * Counts are known by then (objects from the first pass, references from the second), and every array of a pass follows from them; what
 * does not is named below. The stages are those of reach_wide.c.
 */
#include "build/build.h"

#define PROGRAM (40ull << 20) /* code, stacks, buffers of readers and writers, tables of names */
#define WORKER (12ull << 20)  /* a worker's slice of the dump and its share of references */

static uint64_t highest(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t hdx_forecast(const hdx_build *b, hdx_forecast_pass pass, unsigned width, uint64_t references)
{
    const uint64_t n = b->objects, id = width / 8, m = references;
    const uint64_t words = n / 8, lists = (n + m + 1) * id;
    const uint64_t base = PROGRAM + b->threads * WORKER + b->tables_bytes;
    uint64_t       held = 0; /* instances of classes that are no roots are predecessors of their class object */
    switch (pass) {
    case HDX_FORECAST_SCAN: return base; /* tables grow; what they need beside is measured on a sample (estimate.c) */
    case HDX_FORECAST_COLUMNS: return base + n * (5 + 4 + 4 + id + (b->heap_count > 0));
    case HDX_FORECAST_INSTANCES: return base + n * (4 + 2 * id);
    case HDX_FORECAST_OUTBOUND: return base + n * 4 + lists;
    case HDX_FORECAST_INBOUND: return base + n * 5 + 2 * lists + 4 * words; /* a byte an object: pages of class and size that are mapped */
    case HDX_FORECAST_DOMINATORS:
        for (uint32_t i = 0; i < b->class_count; i++)
            held += b->classes[i].loader == 0 ? 0 : b->classes[i].instances;
        return base + n + lists + 3 * n * id + held * id + n * id / 4 + 4 * words; /* a quarter: semidominators that are not the parent */
    default: return base + n + highest(2 * n * id + 8 * n, 3 * n * id + n * id) + 4 * words;
    }
}

static const char *const names[] = { "scan", "columns", "instances", "outbound", "inbound", "dominators", "retained" };

hdx_code hdx_forecast_check(const hdx_build *b, hdx_forecast_pass first, hdx_forecast_pass last, unsigned width, hdx_error *err)
{
    const uint64_t counted = b->manifest.outbound_values;
    uint64_t       least = 0, need = 0; /* with the references counted so far; with the most there can be */
    int            worst = (int)first;
    if (b->options->memory == 0)
        return HDX_OK;
    for (int pass = (int)first; pass <= (int)last; pass++) {
        least = highest(least, hdx_forecast(b, (hdx_forecast_pass)pass, width, counted));
        uint64_t bytes = hdx_forecast(b, (hdx_forecast_pass)pass, width, counted != 0 ? counted : hdx_classes_reference_bound(b));
        if (bytes > need) {
            need = bytes;
            worst = pass;
        }
    }
    if (least <= b->options->memory)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, b->options->dump, HDX_NOWHERE, "the step %s needs %llu MB, the budget is %llu MB", names[worst],
                             (unsigned long long)((need >> 20) + 1), (unsigned long long)(b->options->memory >> 20)),
                    "--memory %lluM would do", (unsigned long long)((need >> 20) + 1));
}
