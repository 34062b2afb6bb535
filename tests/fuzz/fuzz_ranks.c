/*
 * fuzz_ranks.c - sets with ranks with any content and the right sums: every member asked for, no rank or member beyond
 * the set.
 */
#include "tests/fuzz/index_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    index_file f;
    uint64_t   bits = index_file_number(&data, &size, 4000), members = index_file_number(&data, &size, 4000);
    uint64_t   counts[3] = { bits, members, 0 }, sizes[2] = { (bits + 447) / 448 * 64, (members + 511) / 512 * 8 };
    if (index_file_make(&f, HDX_KIND_SPECIAL, counts, sizes, 2, data, size))
        ask_ranks(&f.place, &f.file, bits);
    index_file_free(&f);
    return 0;
}
