/*
 * kinds.c - the table of kinds: name, encoding, what keys and values count, and the first step of a build that has it.
 *
 * All code that opens, checks or closes index files uses this table; a new kind is a row here, a line in README.md and
 * a pass that writes it. The number of a kind is in the head of its file and seeds its sums: rows are only ever added
 * at the end.
 */
#include "indexes/addresses/set.h"
#include "indexes/container/container.h"

#include <heapdex/index.h>

/*
 * kind, file; encoding; keys: a number plus a constant; bound of values; members of a set; first step that has it;
 * condition
 */
#define ROW(kind, name, encoding, keys, more, below, above, members, step, when)                                       \
    [HDX_KIND_##kind] = { name,                                                                                        \
                          HDX_ENCODING_##encoding,                                                                     \
                          { HDX_OF_##keys, more },                                                                     \
                          { HDX_OF_##below, above },                                                                   \
                          HDX_OF_##members,                                                                            \
                          HDX_STEP_##step,                                                                             \
                          when }
static const hdx_kind_row rows[HDX_KINDS] = {
    ROW(ADDRESS, "address", ADDRESSES, OBJECTS, 0, NOTHING, 0, OBJECTS, OBJECTS, HDX_ALWAYS),
    ROW(POSITION, "position", INTS, OBJECTS, 0, DUMP_BYTES, 1, NOTHING, OBJECTS, HDX_ALWAYS),
    ROW(CLASS, "class", INTS, OBJECTS, 0, CLASSES, 0, NOTHING, OBJECTS, HDX_ALWAYS),
    ROW(SIZE, "size", INTS, OBJECTS, 0, LENGTHS, 0, NOTHING, OBJECTS, HDX_ALWAYS),
    ROW(HEAP, "heap", INTS, OBJECTS, 0, HEAPS, 1, NOTHING, OBJECTS, HDX_WITH_HEAPS),
    ROW(OUTBOUND, "outbound", ONE_TO_N, OBJECTS, 0, OBJECTS, 0, NOTHING, OUTBOUND, HDX_ALWAYS),
    ROW(INBOUND, "inbound", ONE_TO_N, OBJECTS, 0, OBJECTS, 0, NOTHING, INBOUND, HDX_ALWAYS),
    ROW(INSTANCES, "instances", ONE_TO_N, CLASSES, 0, OBJECTS, 0, NOTHING, OBJECTS, HDX_ALWAYS),
    ROW(SPECIAL, "special", RANKS, OBJECTS, 0, NOTHING, 0, SPECIALS, DOMINATORS, HDX_ALWAYS),
    ROW(DOMINATOR, "dominator", INTS, SPECIALS, 0, OBJECTS, 2, NOTHING, DOMINATORS, HDX_ALWAYS),
    ROW(NEAREST, "nearest", INTS, SPECIALS, 0, OBJECTS, 2, NOTHING, DOMINATORS, HDX_ALWAYS),
    ROW(DOMINATORS, "dominators", RANKS, OBJECTS, 0, NOTHING, 0, DOMINATORS, DOMINATORS, HDX_ALWAYS),
    ROW(DOMINATED, "dominated", ONE_TO_N, DOMINATORS, 1, OBJECTS, 0, NOTHING, DOMINATORS, HDX_ALWAYS),
    ROW(RETAINED, "retained", INTS, OBJECTS, 0, LIVE_BYTES, 1, NOTHING, DOMINATORS, HDX_ALWAYS),
    ROW(SEEK, "seek", SEEK, NOTHING, 0, DUMP_BYTES, 0, NOTHING, OBJECTS, HDX_IF_COMPRESSED),
    ROW(CUT_FROM, "cut_from", RANKS, OBJECTS, 0, NOTHING, 0, CUT_FROM, DOMINATORS, HDX_IF_CUT),
    ROW(CUT, "cut", ONE_TO_N, CUT_FROM, 0, OBJECTS, 0, NOTHING, DOMINATORS, HDX_IF_CUT),
    ROW(CUT_TO, "cut_to", RANKS, OBJECTS, 0, NOTHING, 0, CUT_TO, DOMINATORS, HDX_IF_CUT),
    ROW(CUT_BY, "cut_by", ONE_TO_N, CUT_TO, 0, OBJECTS, 0, NOTHING, DOMINATORS, HDX_IF_CUT),
};

const hdx_kind_row *hdx_kind_of(hdx_kind kind) { return &rows[kind]; }

const char *hdx_kind_name(hdx_kind kind) { return (unsigned)kind < HDX_KINDS ? rows[kind].name : "unknown"; }

uint64_t hdx_measured(const hdx_amounts *amounts, hdx_measure m)
{
    return m.of == HDX_OF_LENGTHS ? 2 * HDX_LENGTH_ODD : amounts->of[m.of] + m.more;
}

uint64_t hdx_kind_keys(hdx_kind kind, const hdx_amounts *amounts) { return hdx_measured(amounts, rows[kind].keys); }

bool hdx_kind_there(hdx_kind kind, unsigned step, const hdx_amounts *amounts, bool compressed)
{
    const hdx_kind_row *row = &rows[kind];
    return step >= row->step && (row->when != HDX_WITH_HEAPS || amounts->of[HDX_OF_HEAPS] > 0) &&
           (row->when != HDX_IF_COMPRESSED || compressed) &&
           (row->when != HDX_IF_CUT || amounts->of[HDX_OF_CUT_FROM] > 0);
}

bool hdx_kind_of_view(hdx_kind kind) { return rows[kind].step == HDX_STEP_DOMINATORS; }

static hdx_code open_ranks(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file, uint64_t size,
                           uint64_t members, hdx_damage_note *note, void **out, hdx_error *err)
{
    hdx_ranks *ranks = NULL;
    hdx_code   code = hdx_ranks_open(place, kind, file, size, note, &ranks, err);
    if (code == HDX_OK && hdx_ranks_count(ranks) != members) {
        code = hdx_fail(err, HDX_DAMAGED, rows[kind].name, HDX_NOWHERE, "%llu members; the manifest has %llu",
                        (unsigned long long)hdx_ranks_count(ranks), (unsigned long long)members);
        hdx_ranks_close(ranks);
        ranks = NULL;
    }
    *out = ranks;
    return code;
}

hdx_code hdx_index_open(const hdx_index_place *place, hdx_kind kind, const hdx_index_file *file,
                        const hdx_amounts *amounts, hdx_damage_note *note, void **out, hdx_error *err)
{
    const hdx_kind_row *row = &rows[kind];
    const uint64_t      keys = hdx_measured(amounts, row->keys), below = hdx_measured(amounts, row->below);
    hdx_addresses      *set = NULL;
    hdx_ints           *ints = NULL;
    hdx_one_to_n       *lists = NULL;
    hdx_seek           *seek = NULL;
    hdx_code            code = HDX_OK;
    *out = NULL;
    switch (row->encoding) {
    case HDX_ENCODING_ADDRESSES:
        code = hdx_addresses_open(place, kind, file, keys, note, &set, err);
        *out = set;
        break;
    case HDX_ENCODING_INTS:
        code = hdx_ints_open(place, kind, file, keys, below, note, &ints, err);
        *out = ints;
        break;
    case HDX_ENCODING_ONE_TO_N:
        code = hdx_one_to_n_open(place, kind, file, keys, below, note, &lists, err);
        *out = lists;
        break;
    case HDX_ENCODING_RANKS:
        code = open_ranks(place, kind, file, keys, amounts->of[row->members], note, out, err);
        break;
    case HDX_ENCODING_SEEK:
        code = hdx_seek_open(place, file, below, amounts->of[HDX_OF_FILE_BYTES], note, &seek, err);
        *out = seek;
        break;
    }
    return code;
}

void hdx_index_close(hdx_kind kind, void *file)
{
    switch (file == NULL ? HDX_ENCODING_INTS : rows[kind].encoding) {
    case HDX_ENCODING_ADDRESSES: hdx_addresses_close(file); break;
    case HDX_ENCODING_INTS: hdx_ints_close(file); break;
    case HDX_ENCODING_ONE_TO_N: hdx_one_to_n_close(file); break;
    case HDX_ENCODING_RANKS: hdx_ranks_close(file); break;
    case HDX_ENCODING_SEEK: hdx_seek_close(file); break;
    }
}

/* The handles of all other encodings begin with their container. */
static const hdx_container *container_of(const void *handle, hdx_kind kind)
{
    return rows[kind].encoding == HDX_ENCODING_ADDRESSES ? &((const hdx_addresses *)handle)->file
                                                         : handle; /* for the others it is the first member */
}

void hdx_index_whole(const void *handle, hdx_kind kind) { hdx_container_whole(container_of(handle, kind)); }

bool hdx_index_handle_fault(const void *handle, hdx_kind kind, const void *address)
{
    return hdx_container_handle_fault(container_of(handle, kind), address);
}
