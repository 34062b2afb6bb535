/*
 * patterns.c - globs over names, and the package of a class name. Pure functions.
 *
 * Class names come out of a dump and may be 64 KiB of anything: the glob is linear in practice and never worse than
 * pattern * text.
 */
#include "query/query.h"

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
        } else if (star != SIZE_MAX) { /* only the last star need take more: earlier ones took the least that works */
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

hdx_text hdx_package_of(hdx_text name)
{
    /* what follows '+' or '/' in the name of a hidden class is an address, no package (HPROF 2.1) */
    uint32_t end = 0, dot = UINT32_MAX;
    while (end < name.len && name.at[end] != '+' && name.at[end] != '/')
        end++;
    for (uint32_t i = 0; i < end; i++)
        if (name.at[i] == '.')
            dot = i;
    return dot == UINT32_MAX || dot == 0 ? (hdx_text){ "(default package)", 17 } : (hdx_text){ name.at, dot };
}
