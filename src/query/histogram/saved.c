/*
 * saved.c - saves retained sizes of classes, packages, loaders and superclasses next to the index after they were
 * computed (like MAT's I2RETAINED).
 *
 * In:  the kind of groups.
 * Out: bytes of each group, at the number of the class that represents it; HDX_RETAINED_UNKNOWN if not computed yet.
 * They are in a note of the index (graph.h): 8 bytes per class, little-endian, read and written as a whole. If the
 * folder is read-only, they are computed again next time.
 */
#include "graph/graph.h"
#include "query/histogram/histogram.h"
#include "query/query.h"

static hdx_note note_of(hdx_by by)
{
    switch (by) {
    case HDX_BY_PACKAGE: return HDX_NOTE_RETAINED_PACKAGE;
    case HDX_BY_LOADER: return HDX_NOTE_RETAINED_LOADER;
    case HDX_BY_SUPERCLASS: return HDX_NOTE_RETAINED_SUPERCLASS;
    default: return HDX_NOTE_RETAINED_CLASS;
    }
}

uint64_t *hdx_saved_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, uint32_t classes)
{
    uint64_t      *bytes = hdx_mem_array(mem, classes, sizeof *bytes);
    hdx_remembered r = { NULL, 0 };
    if (bytes == NULL)
        return NULL;
    r = hdx_graph_recall(g, note_of(by));
    for (uint32_t i = 0; i < classes; i++)
        bytes[i] = r.at != NULL && r.size == 8ull * classes ? hdx_le64(r.at + 8ull * i) : HDX_RETAINED_UNKNOWN;
    hdx_mem_put(NULL, r.at, r.size);
    return bytes;
}

void hdx_save_retained(hdx_mem *mem, hdx_graph *g, hdx_by by, const uint64_t *bytes, uint32_t classes)
{
    uint8_t *packed = hdx_mem_array(mem, classes, 8);
    if (packed == NULL)
        return;
    for (uint32_t i = 0; i < classes; i++)
        hdx_put64(packed + 8ull * i, bytes[i]);
    (void)hdx_graph_remember(g, note_of(by), packed, 8ull * classes);
    hdx_mem_put(mem, packed, 8ull * classes);
}
