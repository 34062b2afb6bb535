/*
 * pattern.c - globs and regular expressions for names.
 *
 * Class names of a dump may be 64 KiB of arbitrary bytes: matching a glob is linear in practice and never worse than
 * pattern * text.
 */
#include "base/pattern.h"
#include "base/bytes.h"
#include "base/error.h"

static size_t character(const char *at, size_t left) /* bytes of the UTF-8 character at `at` */
{
    size_t n = 1;
    while (n < left && n < 4 && ((unsigned char)at[n] & 0xc0) == 0x80)
        n++;
    return n;
}

bool hdx_is_glob(hdx_text pattern)
{
    for (uint32_t i = 0; i < pattern.len; i++)
        if (pattern.at[i] == '*' || pattern.at[i] == '?')
            return true;
    return false;
}

bool hdx_glob_match(hdx_text pattern, hdx_text text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.len && pattern.at[p] == '?') {
            t += character(text.at + t, text.len - t);
            p++;
        } else if (p < pattern.len && pattern.at[p] == text.at[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) { /* only the last star must grow: earlier ones have the shortest match */
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

hdx_code hdx_pattern_open(hdx_pattern *p, const char *text, const hdx_progress *progress, hdx_mem *mem, hdx_error *err)
{
    const size_t n = strlen(text);
    *p = (hdx_pattern){ .text = { text, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n }, .known = hdx_map_of(mem) };
    if (n >= 3 && text[0] == '/' && text[n - 1] == '/')
        return hdx_regex_open(text + 1, n - 2, progress, &p->regex, err);
    p->glob = hdx_is_glob(p->text);
    return HDX_OK;
}

hdx_code hdx_pattern_look(const hdx_pattern *p, hdx_text name, bool *yes, hdx_error *err)
{
    if (p->regex != NULL)
        return hdx_regex_match(p->regex, name, yes, err);
    *yes = p->glob ? hdx_glob_match(p->text, name) : hdx_text_same(p->text, name);
    return HDX_OK;
}

hdx_code hdx_pattern_match(hdx_pattern *p, hdx_text name, bool *yes, hdx_error *err)
{
    bool fresh;
    if (name.len < HDX_LONG_PATTERNED)
        return hdx_pattern_look(p, name, yes, err);
    uint64_t *known = hdx_map_put(&p->known, (uint64_t)(uintptr_t)name.at, &fresh);
    if (known == NULL)
        return hdx_no_memory(err, "names of classes", sizeof(hdx_map_slot));
    const hdx_code code = fresh ? hdx_pattern_look(p, name, yes, err) : HDX_OK;
    if (code == HDX_OK && fresh)
        *known = *yes;
    *yes = code == HDX_OK && *known != 0;
    return code;
}

void hdx_pattern_close(hdx_pattern *p)
{
    hdx_regex_close(p->regex);
    hdx_map_free(&p->known);
}
