/*
 * kinds.c - the table of kinds: the name of each, which is also the name of its file (NAME.hdx in the index folder).
 *
 * The number of a kind stands in the head of its file and seeds its sums: rows are only ever added at the end.
 */
#include "indexes/addresses/set.h"
#include "indexes/container/container.h"

static const char *const names[HDX_KINDS] = {
    [HDX_KIND_ADDRESS] = "address",       [HDX_KIND_POSITION] = "position",     [HDX_KIND_CLASS] = "class",
    [HDX_KIND_SIZE] = "size",             [HDX_KIND_HEAP] = "heap",             [HDX_KIND_OUTBOUND] = "outbound",
    [HDX_KIND_INBOUND] = "inbound",       [HDX_KIND_INSTANCES] = "instances",   [HDX_KIND_SPECIAL] = "special",
    [HDX_KIND_DOMINATOR] = "dominator",   [HDX_KIND_NEAREST] = "nearest",       [HDX_KIND_DOMINATORS] = "dominators",
    [HDX_KIND_DOMINATED] = "dominated",   [HDX_KIND_RETAINED] = "retained",
    [HDX_KIND_SEEK] = "seek",
};

const char *hdx_kind_name(hdx_kind kind)
{
    return (unsigned)kind < HDX_KINDS ? names[kind] : "unknown";
}

/* The handles of all other encodings begin with their container. */
static const hdx_container *container_of(const void *handle, hdx_kind kind)
{
    return kind == HDX_KIND_ADDRESS ? &((const hdx_addresses *)handle)->file : handle; /* in the others it is the first member */
}

void hdx_index_whole(const void *handle, hdx_kind kind) { hdx_container_whole(container_of(handle, kind)); }

bool hdx_index_mend(const void *handle, hdx_kind kind, const void *address) { return hdx_container_mend(container_of(handle, kind), address); }
