/*
 * fuzz_addresses.c - sets of addresses of both forms with any content and the right sums: ids asked for by address and
 * back.
 */
#include "tests/fuzz/index_file.h"
#include "indexes/addresses/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    index_file f;
    uint64_t   shape = index_file_number(&data, &size, 65536), count = index_file_number(&data, &size, 9000);
    uint64_t   chunks = shape >> 8 & 3, first = index_file_number(&data, &size, 65536), addresses[64];
    uint64_t   counts[3] = { count, (shape & 3) | (shape >> 2 & 3) << 8 | (shape >> 4 & 15) << 16, first };
    uint64_t   map[4] = { 16 * chunks, 4 * (shape >> 10 & 15), chunks * HDX_CHUNK_BYTES,
                          HDX_SAMPLE_BYTES * hdx_samples_of(count) },
             table[1] = { 8 * count };
    bool is_table = (shape & 3) == HDX_ADDRESSES_TABLE;
    for (unsigned i = 0; i < 64; i++) /* near the chunks the file may have, and far from them */
        addresses[i] = (first + i % 7) << (HDX_CHUNK_BITS + (shape >> 4 & 15)) | (i * 0x9e3779b9u) >> 12;
    if (index_file_make(&f, HDX_KIND_ADDRESS, counts, is_table ? table : map, is_table ? 1 : 4, data, size))
        ask_addresses(&f.place, &f.file, count, addresses, 64);
    index_file_free(&f);
    return 0;
}
