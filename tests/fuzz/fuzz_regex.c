/*
 * fuzz_regex.c - a pattern (up to the first NUL) and a text, both from anyone: an answer, or words, within the steps
 * that are allowed.
 */
#include "base/base.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = size == 0 ? NULL : memchr(data, 0, size);
    const size_t   len = nul == NULL ? size : (size_t)(nul - data);
    const hdx_text text = { nul == NULL ? NULL : (const char *)nul + 1, nul == NULL ? 0 : (uint32_t)(size - len - 1) };
    hdx_regex     *r;
    hdx_error      err = { .code = HDX_OK };
    bool           yes = false, again = false;
    hdx_code       code = hdx_regex_open((const char *)data, len, NULL, &r, &err);
    if (code != HDX_OK) {
        if ((code != HDX_USAGE && code != HDX_LIMIT) || err.code != code || err.message[0] == '\0' || r != NULL)
            abort();
        return 0;
    }
    code = hdx_regex_match(r, text, &yes, &err);
    if (code == HDX_OK && (hdx_regex_match(r, text, &again, &err) != HDX_OK ? err.code != HDX_USAGE : again != yes))
        abort();
    if (code != HDX_OK && (code != HDX_USAGE || yes))
        abort();
    if (hdx_regex_steps(r) > HDX_REGEX_STEPS + (2 * HDX_REGEX_STEPS_BYTE + 1) * (uint64_t)text.len + 64)
        abort();
    hdx_regex_close(r);
    return 0;
}
