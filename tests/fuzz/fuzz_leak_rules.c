/*
 * fuzz_leak_rules.c - files of matchers (first byte even) and of rules of state (odd), read as a caller's: whatever
 * stands in them.
 */
#include "leaks/leaks.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    leak_rules        rules;
    hdx_error         err;
    hdx_leaks_options o = { .finder = HDX_LEAKS_WATCHED };
    if (size == 0)
        return 0;
    hdx_leak_file file = { "rules", (const char *)data + 1, size - 1 };
    if (data[0] % 2 == 0)
        o.matcher_file = file;
    else
        o.rule_file = file;
    if (hdx_leak_rules_read(&o, &rules, &err) == HDX_OK) {
        for (uint64_t i = 0; i < rules.matcher_count; i++) {
            hdx_buffer b = hdx_buffer_of(NULL);
            hdx_leak_pattern(&rules.matchers[i], &b);
            if (b.len == 0)
                abort();
            hdx_buffer_free(&b);
        }
        for (uint64_t i = 0; i < rules.rule_count; i++)
            if (rules.rules[i].class_name == NULL || rules.rules[i].text == NULL || rules.rules[i].op > 6)
                abort();
    } else if (err.code != HDX_USAGE && err.code != HDX_LIMIT)
        abort();
    hdx_leak_rules_free(&rules);
    return 0;
}
