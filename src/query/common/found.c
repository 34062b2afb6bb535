/* found.c - a growing array of entries of any type. */
#include "query/common/found.h"

#include <stdlib.h>

hdx_code hdx_found_add(hdx_found *f, const void *entry, hdx_error *err)
{
    if (!hdx_mem_room(f->ask.q.mem, &f->at, &f->capacity, f->count, f->entry))
        return hdx_no_memory(err, f->what, (f->count + 1) * f->entry);
    memcpy((char *)f->at + f->count++ * f->entry, entry, f->entry);
    return hdx_ask_check_cancel(&f->ask, err);
}

void hdx_found_sort(hdx_found *f, int (*order)(const void *entry, const void *other))
{
    if (f->count > 1)
        qsort(f->at, (size_t)f->count, (size_t)f->entry, order);
}
