/* fuzz_leak_answer.c - a remembered answer of any content, its sum being right: refused, or every trace of it read. */
#include "leaks/leaks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t       *copy = hdx_mem_get(NULL, size);
    hdx_leak_steps steps = { .count = 0 };
    hdx_error      err;
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    leak_answer *a = leak_decode(copy, size);
    if (a == NULL) {
        hdx_mem_put(NULL, copy, size);
        return 0;
    }
    uint64_t sum = 0;
    for (uint64_t i = 0; i < a->out.leak_count; i++)
        for (uint64_t t = 0; t < a->out.leaks[i].trace_count; t++)
            if (hdx_leak_steps_read(&a->out, &a->out.leaks[i].traces[t], &steps, &err) == HDX_OK)
                for (uint64_t s = 0; s < steps.count; s++) {
                    sum += strlen(steps.at[s].class_name);
                    for (uint32_t n = 0; n < steps.at[s].reason_count; n++)
                        sum += strlen(steps.at[s].reasons[n].text);
                    for (uint32_t n = 0; n < steps.at[s].label_count; n++)
                        sum += strlen(steps.at[s].labels[n].code);
                }
    hdx_leak_steps_free(&steps);
    hdx_leaks_free(&a->out);
    return sum == UINT64_MAX;
}
