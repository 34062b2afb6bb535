/* Manifests of a batch: the first byte chooses CSV or JSONL. Whatever they hold, rows are texts that end. */
#include "batch/batch.h"

static hdx_code take(void *context, const hdx_flat *row, uint64_t line, hdx_error *err)
{
    uint64_t *sum = context;
    (void)err;
    *sum += line;
    for (size_t i = 0; i < row->count; i++)
        *sum += strlen(row->at[i].key) + (row->at[i].value != NULL ? strlen(row->at[i].value) : 1);
    return HDX_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    hdx_arena arena = hdx_arena_of(NULL);
    hdx_error err;
    uint64_t  sum = 0;
    if (len == 0)
        return 0;
    (void)((bytes[0] & 1) != 0 ? hdx_batch_manifest_csv : hdx_batch_manifest_jsonl)("m", (const char *)bytes + 1,
                                                                                    len - 1, &arena, take, &sum, &err);
    hdx_arena_free(&arena);
    return 0;
}
