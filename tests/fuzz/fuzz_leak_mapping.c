/* fuzz_leak_mapping.c - a mapping file of any content: names are asked for that stand in it and that do not. */
#include "leaks/leaks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    leak_mapping *m;
    hdx_error     err;
    hdx_arena     arena = hdx_arena_of(NULL);
    uint64_t      sum = 0;
    if (hdx_leak_mapping_read((const char *)data, size, &m, &err) != HDX_OK)
        return 0;
    for (size_t from = 0; from < size && from < 4096; from += 1 + from % 7)
        for (uint32_t len = 0; len < 12 && from + len <= size; len += 1 + len % 3) {
            const hdx_text t = { (const char *)data + from, len },
                           f = { (const char *)data, (uint32_t)(size < 3 ? size : 3) };
            sum += hdx_leak_mapping_class(m, t, &arena).len + hdx_leak_mapping_field(m, t, f).len +
                   hdx_leak_mapping_method(m, f, t).len;
        }
    hdx_leak_mapping_free(m);
    hdx_arena_free(&arena);
    return sum == UINT64_MAX;
}
