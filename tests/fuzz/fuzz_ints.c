/* fuzz_ints.c - files of numbers with any content and the right sums: every value read, none beyond its bound. */
#include "tests/fuzz/index_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    index_file f;
    uint64_t   count = index_file_number(&data, &size, 1000);
    uint64_t   counts[3] = { count, 0, 0 },
             sizes[2] = { (hdx_pages(count, HDX_SHAPE) + 1) * HDX_ENTRY, HDX_SECTION_OPEN };
    if (index_file_make(&f, HDX_KIND_CLASS, counts, sizes, 2, data, size))
        ask_ints(&f.place, &f.file, count, 1u << 20);
    index_file_free(&f);
    return 0;
}
