/*
 * forecast.c - computes the memory of each pass before it starts: the limit that --memory guarantees.
 *
 * Counts are known by then (objects from the first pass, references from the second), and the size of every array of a
 * pass follows from them; exceptions are named below. The passes are those of objects.c, inbound_wide.c, search_wide.c
 * and later ones. For a pass that can work in ranges, the smallest form has sixteen of them.
 */
#include "making/making.h"

#define CATALOG_ROOT  64u /* bytes of a root or a class in the catalog while it is written */
#define CATALOG_CLASS 256u
#define RANGES        16u

static uint64_t highest(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Bits; a stack and a queue for a tenth of the objects, parents of a third of them. */
static uint64_t searching(uint64_t n, uint64_t id) { return 6 * n / 8 + n * 3 * id / 10 + n * id / 3 + n / 16 * id; }
/* Same when the number of parents is known. */
static uint64_t searched(uint64_t n, uint64_t parents, uint64_t id)
{
    return 6 * n / 8 + n / 16 * id + parents * id + n / 20 * id;
}
static uint64_t transposing(uint64_t n, uint64_t m, uint64_t id) { return (n + m) * id + 3 * n / 8; }

bool hdx_forecast_search_fits(const hdx_work *w, unsigned width, uint64_t bytes)
{
    const uint64_t room = hdx_work_room(w), search = searching(w->objects, width / 8);
    return search <= room && bytes <= room - search;
}

/*
 * CERTAIN: what a pass needs in any case, whatever the references are. LEAST: enough for any real heap, with the
 * largest number of ranges. WHOLE: in one range.
 */
typedef enum form { CERTAIN, LEAST, WHOLE } form;

static uint64_t resident(const hdx_work *w, const hdx_dump_tables *t, hdx_forecast_pass pass, unsigned width,
                         uint64_t references, form in)
{
    assert(width == 32 || width == 64); /* M5 */
    const uint64_t n = t->objects, id = width / 8, m = references, words = n / 8, parts = in != WHOLE ? RANGES : 1;
    const uint64_t pieces = HDX_PACKED_PIECE * (in != WHOLE ? 1u : 4u), batch = n < pieces ? n : pieces;
    const uint64_t base = HDX_BUILD_BESIDE + w->threads * HDX_BUILD_WORKER + w->tables_bytes +
                          CATALOG_ROOT * t->root_count + CATALOG_CLASS * (uint64_t)t->class_count;
    const uint64_t packed = hdx_packed_forecast(t, m) + n / 64 +
                            (n > HDX_PACKED_PIECE ? n / 2 : 0); /* the last huge page of a piece is half empty */
    switch (pass) {
    case HDX_FORECAST_SCAN: return base; /* tables grow; their growth is measured on a sample (estimate.c) */
    case HDX_FORECAST_COLUMNS: return base + w->threads * (2ull << 20) + n;
    case HDX_FORECAST_OBJECTS:
        return base + packed + highest(batch * (13u + (t->heap_count > 0)), n / parts * id) +
               n / 8;             /* some pages of class */
    case HDX_FORECAST_REFERENCES: /* one after the other, or both at the same time */
        return base + packed +
               (in == WHOLE ? searching(n, id) + transposing(n, m, id)
                            : highest(in == LEAST ? searching(n, id) : searched(n, 0, id),
                                      transposing(n, m, id) / parts + 3 * words));
    case HDX_FORECAST_DOMINATORS:
        /* Temporary files and numbers stay in memory next to the links if there is room, with sums of 4 bytes. */
        return base + 3 * words +
               (in == WHOLE
                    ? n * id + (n + m * 3 / 2) * id + highest((n + m * 4 / 3) * id, n * 2 * id + n * 4 + n / 2 * id)
                    : highest(n * id + (n + m * 4 / 3) * id / parts, n * 2 * id));
    default:
        return base + n * id + n * 4 + 4 * words +
               n / 4; /* sizes in units of 4 bytes; mapped pages of class and size */
    }
}

uint64_t hdx_forecast(const hdx_work *w, const hdx_dump_tables *t, hdx_forecast_pass pass, unsigned width,
                      uint64_t references, bool least)
{
    const uint64_t small = resident(w, t, pass, width, references, LEAST),
                   large = resident(w, t, pass, width, references, WHOLE);
    const uint64_t enough = HDX_BUILD_BESIDE + w->threads * HDX_BUILD_WORKER + w->tables_bytes + HDX_WORK_LEAST +
                            hdx_work_comfort(t->objects, width);
    return least || large < small ? small : large < enough ? large : highest(small, enough);
}

static const char *const names[] = { "scan", "columns", "objects", "references", "dominators", "retained" };

hdx_code hdx_forecast_check(const hdx_work *w, const hdx_dump_tables *t, uint64_t references, hdx_forecast_pass first,
                            hdx_step until, unsigned width, hdx_error *err)
{
    const hdx_forecast_pass last = until <= HDX_STEP_OUTBOUND  ? HDX_FORECAST_OBJECTS
                                   : until == HDX_STEP_INBOUND ? HDX_FORECAST_REFERENCES
                                                               : HDX_FORECAST_RETAINED;
    uint64_t                least = 0, need = 0; /* with certain references; with the most possible */
    int                     worst = (int)first;
    if (w->options->memory == 0)
        return HDX_OK;
    const uint64_t most = references != 0 || t->lookup.layouts == NULL
                              ? references
                              : hdx_classes_reference_bound(t); /* known after the second pass */
    for (int pass = (int)first; pass <= (int)last; pass++) {
        const uint64_t bytes = hdx_forecast(w, t, (hdx_forecast_pass)pass, width, most, true);
        least = highest(least, resident(w, t, (hdx_forecast_pass)pass, width, references, CERTAIN));
        if (bytes > need) {
            need = bytes;
            worst = pass;
        }
    }
    if (least <= w->options->memory)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, w->options->dump, HDX_NOWHERE,
                             "step %s needs %llu MB; the memory limit is %llu MB", names[worst],
                             (unsigned long long)((need >> 20) + 1), (unsigned long long)(w->options->memory >> 20)),
                    "--memory %lluM is enough", (unsigned long long)((need >> 20) + 1));
}

hdx_code hdx_forecast_search(const hdx_work *w, unsigned width, uint64_t parents, hdx_error *err)
{
    const uint64_t need = searched(w->objects, parents, width / 8), room = hdx_work_room(w);
    if (w->options->memory == 0 || need <= room)
        return HDX_OK;
    const uint64_t more = w->options->memory + (need - room);
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, w->options->dump, HDX_NOWHERE,
                             "step references needs %llu MB; the memory limit is %llu MB",
                             (unsigned long long)((more >> 20) + 1), (unsigned long long)(w->options->memory >> 20)),
                    "--memory %lluM is enough", (unsigned long long)((more >> 20) + 1));
}

hdx_code hdx_forecast_begin(const hdx_work *w, const hdx_dump_tables *t, hdx_error *err)
{
    const uint64_t need = resident(w, t, HDX_FORECAST_SCAN, 32, 0, LEAST);
    if (w->options->memory == 0 || need <= w->options->memory)
        return HDX_OK;
    return hdx_hint(err,
                    hdx_fail(err, HDX_LIMIT, w->options->dump, HDX_NOWHERE,
                             "reading the dump needs %llu MB plus its names; the memory limit is %llu MB",
                             (unsigned long long)((need >> 20) + 1), (unsigned long long)(w->options->memory >> 20)),
                    "heapdex estimate shows how much --memory is needed");
}
