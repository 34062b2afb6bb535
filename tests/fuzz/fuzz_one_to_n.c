/* fuzz_one_to_n.c - files of lists with any content and the right sums: every list read, no value beyond its bound. */
#include "tests/fuzz/index_file.h"
#include "indexes/one_to_n/one_to_n.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    index_file f;
    uint64_t   keys = index_file_number(&data, &size, 600), values = index_file_number(&data, &size, 600);
    uint64_t   offsets = index_file_number(&data, &size, 3000), counts[3] = { keys, values, 0 };
    uint64_t   sizes[4] = { (hdx_pages(keys, HDX_LINES) + 1) * HDX_LINE, offsets,
                            (hdx_pages(values, HDX_SHAPE) + 1) * HDX_ENTRY, HDX_SECTION_OPEN };
    if (index_file_make(&f, HDX_KIND_OUTBOUND, counts, sizes, 4, data, size))
        ask_one_to_n(&f.place, &f.file, keys, 1u << 20);
    index_file_free(&f);
    return 0;
}
